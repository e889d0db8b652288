"""Rebinding: finds the targets of a recorded action on today's page, or says why there is none.

A mark is the same if its fingerprint, the words beside it and the heading over it match, and if exactly one mark
matched then and exactly one does now. Numbers are assigned anew in every run and mean nothing here. Records of an
earlier version kept only a hash of these words, so a mark with words beside it cannot be matched. Points and drawn
marks have no fingerprint: they are the same only if the whole picture is identical to the pixel. A mark in whose
words a value of a replay differs from the recorded one (`BY_WORDS`) is the same if today's words match. One that is
itself called so (`BY_NAME`) may have other words beside it, such as another product's price, if it is the only one of
its kind with that name and heading, then and now. One in a card or row may have other words there, if the heading or
row header of that is the new name (`BY_TITLE`), or if it begins with the name of another mark in it, such as a link
called like the product, and no other row has that name. Anything else would be a guess.

A mark whose name had a secret or private data in it is known by its words too: those of today, with the values that
were given again in place of their names (`Shown`).

Knows observations and actions; no browser, no record. Whatever is found here is checked again before input is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from math import hypot
from types import MappingProxyType
from typing import Any
from unicodedata import normalize

from rapidfuzz import fuzz

from vision_agent.actions import (
    Action,
    Cell,
    CloseTab,
    Custom,
    Finish,
    Infeasible,
    Point,
    Press,
    Select,
    Set,
    SwitchTab,
    Type,
    mark_in,
    targets_of,
)
from vision_agent.describe.distinctions import distinction_suffix
from vision_agent.observation import Mark, Observation
from vision_agent.policy import risk_words
from vision_agent.policy.asked_question import is_answer, is_grave, is_same_question, question_of, words_over
from vision_agent.policy.counts_beside import counts_in
from vision_agent.policy.press_risks import is_button
from vision_agent.policy.set_beside import more_set, other_recipient
from vision_agent.policy.spending import amounts_beside
from vision_agent.text.escape import cut_text, printable_line
from vision_agent.text.fold import folded
from vision_agent.text.money import Amount, amounts_in
from vision_agent.text.signed_words import signed_words
from vision_agent.types import Step

BY_NAME = "name"
"""In place of a fingerprint: the mark's own name has the value, so what stands beside it may be of another thing."""
BY_WORDS = "words"
"""In place of a fingerprint: the mark is recognised by its words, which had another value when it was recorded."""
BY_TITLE = "title"
"""Like `BY_WORDS`, and the title of its card or row has the value, so the rest of it may be of another thing."""
_CONCERNING = frozenset(("delete", "send", "pay"))
"""The risks of what concerns as many things as are counted beside it."""
_TO_SOMEBODY = frozenset(("send", "pay"))
"""Those of what somebody gets who is named beside it."""
_MOST_LINES = 40
"""Texts over a button in which is looked for to whom it sends or pays."""
Shown = Mapping[str, str]
"""What today's page shows for each secret and private datum that the record names."""
_NOTHING_SHOWN: Shown = MappingProxyType({})
_SECRET = re.compile(r"<secret:([\w.-]+)>")
_ALIGNED_PX, _DEEPER_PX = 4.0, 160.0
"""How far a mark may be from where it stood to the title of its row, sideways and up or down, as texts are longer."""
_MOST_BESIDE = 200
"""Characters of words beside a mark that are quoted."""
_SAID = 60
"""Maximum characters of a name in a sentence."""


class RebindError(Exception):
    """A recorded action cannot be repeated here without guessing."""


def rebind_actions(
    step: Step,
    now: Observation,
    shown: Shown = _NOTHING_SHOWN,
    *,
    has_other_values: bool = False,
    given: Collection[str] = (),
) -> tuple[Action, ...]:
    """The actions of a recorded step that were carried out, with today's marks.

    `shown`: what today's page shows for secrets and private data, by name. `has_other_values`: in this step or before,
    another number, choice or thing is given than in the record, so that it may cost another amount, or concern more.
    `given`: what the replay types and chooses up to this step.

    Raises:
        RebindError: a target has no match here, or more than one.
    """
    was = step.observation
    done = carried_out(step)
    again = tuple(_again(action, was, now, shown, is_first=index == 0) for index, action in enumerate(done))
    for action, its in zip(done, again, strict=True):
        if action.traits.presses:
            for old, new in _pairs(action, its, was, now):
                _must_answer_the_same(old, new, was, now, shown)
                _must_not_concern_others(old, new, was, now, given)
                if not has_other_values:
                    _must_not_cost_more(old, new, was, now)
                    _must_not_concern_more(old, new, was, now, given)
    return again


def names_in_targets(step: Step) -> tuple[str, ...]:
    """The names of secrets and private data by which the targets of a recorded step are known."""
    numbers = (number for action in carried_out(step) for each in targets_of(action) if (number := mark_in(each)))
    marks = (step.observation.known_mark(number) for number in numbers)
    texts = (text for mark in marks if mark for text in (mark.name, mark.shows, mark.context, mark.heading))
    return tuple(dict.fromkeys(name for text in texts for name in _SECRET.findall(text)))


def carried_out(step: Step) -> tuple[Action, ...]:
    """The actions of a step that were done; refused ones did nothing."""
    return tuple(action for action, _ in step.carried_out)


def texts_set(step: Step) -> tuple[str, ...]:
    """What a recorded step typed into fields and chose in lists."""
    texts: list[str] = []
    for action in carried_out(step):
        match action:
            case Type(text=text) | Set(value=text):
                texts.append(text)
            case Select(options=options):
                texts += options
    return tuple(texts)


def _again(action: Action, was: Observation, now: Observation, shown: Shown, *, is_first: bool) -> Action:
    match action:
        case Custom():
            raise RebindError(f"it is not known what {action.name} was given, so it is not called again")
        case Press(target=None) if is_first:
            _must_have_the_focus(was, now, shown)
        case SwitchTab() | CloseTab() if len(was.tabs) != len(now.tabs):
            raise RebindError(f"there were {len(was.tabs)} tabs then, and there are {len(now.tabs)} now")
        case Finish() | Infeasible():
            return action.model_copy(update={"evidence": _evidence(action.evidence, was, now, shown)})
    changed: dict[str, Any] = {}
    for name in type(action).model_fields:
        value = getattr(action, name)
        match value:
            case Cell():
                changed[name] = value.model_copy(update={"mark": _grid(value, was, now, shown).number})
            case Point():
                _must_look_the_same(was, now, f"the point ({value.x:g}, {value.y:g})")
            case int() if name in action.traits.targets:
                changed[name] = rebind_mark(value, was, now, shown).number
            case tuple() if any(isinstance(each, Point) for each in value):
                _must_look_the_same(was, now, "a path of points")
    return action.model_copy(update=changed)


def rebind_mark(number: int, was: Observation, now: Observation, shown: Shown = _NOTHING_SHOWN) -> Mark:
    """Today's mark for a recorded one. `shown`: see `rebind_actions`.

    Raises:
        RebindError: there is no match, or more than one.
    """
    old = was.known_mark(number)
    if old is None:
        raise RebindError(f"mark {number} is not in the record")
    if was.mark(number) is None:
        was, now = _with_all_in_view(was), _with_all_in_view(now)
    words = _words(old) + distinction_suffix(old, was.marks)
    hidden = _SECRET.findall(f"{old.name} {old.shows}")
    # In the record, and where nobody gave a value for a name, only the name itself counts.
    by_name = {name: f"<secret:{name}>" for name in hidden}
    shown = {**by_name, **shown}

    def alike(seen: Observation, tells: Callable[[Mark], tuple[object, ...]]) -> list[Mark]:
        return _alike(old, seen, tells, shown)

    if not old.fingerprint:
        _must_look_the_same(was, now, words)
        then, here = alike(was, _drawn), alike(now, _drawn)
    elif hidden:
        tells = _worded if (here := alike(now, _worded)) else _called
        then, here = _alike(old, was, tells, by_name), here or alike(now, _called)
    elif old.fingerprint in (BY_NAME, BY_WORDS, BY_TITLE):
        tells, here = _worded, alike(now, _worded)
        if old.fingerprint == BY_NAME and not here:
            tells, here = _called, alike(now, _called)
        elif not here and (found := _in_card_called(old, was, now) or _in_row_called(old, was, now)) is not None:
            return found
        # What had the new value in the record already is another mark.
        then = [mark for mark in alike(was, tells) if mark.fingerprint == old.fingerprint]
    else:
        identity = _identity_by(was, now)
        then, here = alike(was, identity), alike(now, identity)
    if len(then) == len(here) == 1:
        if old.context and len(said_around := _saying_more(old, now)) > len(_saying_more(old, was)):
            which = ", ".join(f"[{mark.label_text}]" for mark in (here[0], *said_around))
            raise RebindError(f"any of {which} may be {words} here, and which one was meant is unknown")
        return here[0]
    if here and len(then) > 1:
        raise RebindError(f"{words} was one of {len(then)} that the record does not tell apart")
    if here:
        raise RebindError(f"there are {len(here)} like {words} here, and which one was meant is unknown")
    raise RebindError(f"there is no {words} here{_nearly(old, now)}")


def _saying_more(old: Mark, seen: Observation) -> list[Mark]:
    """The marks that are the same by themselves, and say the same with more words before or after it.

    Where two rows say the same, words farther away tell one from the other, so that only one has just the old words.
    """
    wanted = normalize("NFC", old.context).split()

    def says_more(mark: Mark) -> bool:
        said = normalize("NFC", mark.context).split()
        is_longer = len(said) > len(wanted) and mark.title == old.title and _control(mark) == _control(old)
        return is_longer and wanted in (said[: len(wanted)], said[-len(wanted) :])

    return [mark for mark in seen.marks if says_more(mark)]


def _with_all_in_view(seen: Observation) -> Observation:
    """The observation with the marks that are scrolled out of view among the others."""
    return seen.model_copy(update={"marks": (*seen.marks, *seen.out_of_view)})


def _grid(cell: Cell, was: Observation, now: Observation, shown: Shown) -> Mark:
    old, new = was.mark(cell.mark), rebind_mark(cell.mark, was, now, shown)
    if old is None or old.grid is None or new.grid is None:
        raise RebindError(f"{_words(new)} has no rows and columns here")
    if (old.grid.rows, old.grid.columns) != (new.grid.rows, new.grid.columns):
        size = f"{old.grid.words}, and has {new.grid.rows} and {new.grid.columns}"
        raise RebindError(f"{_words(old)} had {size}")
    return new


def _identity_by(was: Observation, now: Observation) -> Callable[[Mark], tuple[object, ...]]:
    """The function that gives a mark's identity, from what both observations have; a recorded hash matches no words."""
    if _is_of_earlier_version(was) and not _is_of_earlier_version(now):
        return lambda mark: (mark.frame, mark.fingerprint, mark.row, mark.around)
    return lambda mark: (mark.frame, mark.fingerprint, mark.context, mark.heading, mark.row, mark.around)


def _is_of_earlier_version(seen: Observation) -> bool:
    return any(mark.row or mark.around for mark in seen.marks)


def _drawn(mark: Mark) -> tuple[object, ...]:
    return mark.source, mark.tag, mark.name, mark.box


def _worded(mark: Mark) -> tuple[object, ...]:
    what = mark.frame, mark.source, mark.tag, mark.role, mark.kind, mark.state.input_type, mark.row, mark.around
    return *what, *(text.casefold() for text in (mark.name, mark.shows, mark.context, mark.heading))


def _called(mark: Mark) -> tuple[object, ...]:
    what = mark.frame, mark.source, mark.tag, mark.role, mark.kind, mark.state.input_type
    return *what, *(text.casefold() for text in (mark.name, mark.shows, mark.heading))


def _in_card_called(old: Mark, was: Observation, now: Observation) -> Mark | None:
    """Today's mark in the card or row that is itself called by the new name, whatever else it says; None without one.

    Raises:
        RebindError: several are called so.
    """
    same = [mark for mark in _alike(old, was, _titled) if mark.fingerprint == BY_TITLE]
    here = _alike(old, _with_all_in_view(now), _titled)
    if old.fingerprint != BY_TITLE or len(same) != 1 or not any(mark in now.marks for mark in here):
        return None
    if len(here) > 1:
        called = printable_line(cut_text(old.title, _SAID))
        raise RebindError(
            f"{len(here)} cards or rows called {called!r} have {_words(old)}, and which one was meant is unknown"
        )
    return here[0]


def _titled(mark: Mark) -> tuple[object, ...]:
    return *_called(mark), mark.title.casefold()


def _in_row_called(old: Mark, was: Observation, now: Observation) -> Mark | None:
    """Today's mark in the row that begins with the new name, whatever else is in the row; None if that is not certain.

    Words alone do not tell where a name ends, and a description may mention another product. So the row has to begin
    with the whole name of one of its own marks, at the same place as in the record.

    Raises:
        RebindError: the name is in several rows, or is a part of a longer one there.
    """
    titles = _titles_of(old, was)
    if len(titles) != 1 or titles[0].fingerprint != BY_NAME:
        return None
    [title] = titles
    same = [mark for mark in _alike(old, was, _called) if mark.fingerprint in (BY_WORDS, BY_TITLE)]
    every = {mark.number: mark for mark in (*now.out_of_view, *now.marks)}.values()
    alike = [mark for mark in every if all(map(_is_said, _control(old), _control(mark)))]
    rows = [mark for mark in alike if _mentions(mark, title.name)]
    if len([mark for mark in same if _mentions(mark, title.name)]) != 1 or not rows:
        return None
    if len(rows) > 1:
        shown = ", ".join(f"[{mark.label_text}] in {cut_text(printable_line(mark.context), _SAID)!r}" for mark in rows)
        raise RebindError(
            f"{printable_line(cut_text(title.name, _SAID))!r} is in {len(rows)} rows with {_words(old)}, and which one "
            f"was meant is unknown: {shown}"
        )
    [found] = rows
    here = _titles_of(found, now)
    pairs = [(old, found), *((title, each) for each in here)]
    if len(here) != 1 or found not in now.marks:
        return None
    if not all(all(map(_is_said, _called(one), _called(other))) for one, other in pairs):
        return None
    others = [mark for mark in alike if mark is not found]
    return found if _stand_alike(title, old, here[0], found, others) else None


def _titles_of(mark: Mark, seen: Observation) -> list[Mark]:
    """The marks with whose whole name the row of a mark begins; the rest of the row stands beside them too."""
    return [
        each
        for each in seen.marks
        if each.source == "dom"
        and each.number != mark.number
        and (each.frame, each.heading) == (mark.frame, mark.heading)
        and each.name
        and each.context
        and folded(f"{each.name} {each.context}") == folded(mark.context)
    ]


def _mentions(mark: Mark, name: str) -> bool:
    words, wanted = (signed_words(normalize("NFC", text)).words for text in (f"{mark.context} {mark.heading}", name))
    return any(words[at : at + len(wanted)] == wanted for at in range(len(words) - len(wanted) + 1))


def _stand_alike(title: Mark, mark: Mark, title_now: Mark, mark_now: Mark, others: Sequence[Mark]) -> bool:
    """Whether a mark stands to the title of its row as in the record, and no other like it is nearer to the title."""
    was, now = title.box, title_now.box
    edges = ((was.x, now.x), (was.center.x, now.center.x), (was.right, now.right))
    is_aligned = any(abs((mark.box.x - one) - (mark_now.box.x - other)) <= _ALIGNED_PX for one, other in edges)
    deep, deep_now = mark.box.center.y - was.center.y, mark_now.box.center.y - now.center.y
    if not is_aligned or abs(deep - deep_now) > _DEEPER_PX:
        return False
    far = _distance(title_now, mark_now)
    return all(_distance(title_now, each) > far for each in others if each.box.center.y >= now.y)


def _distance(one: Mark, other: Mark) -> float:
    return hypot(one.box.center.x - other.box.center.x, one.box.center.y - other.box.center.y)


def _control(mark: Mark) -> tuple[object, ...]:
    what = mark.frame, mark.source, mark.tag, mark.role, mark.kind, mark.state.input_type
    return *what, mark.name.casefold()


def _alike(
    old: Mark, seen: Observation, tells: Callable[[Mark], tuple[object, ...]], shown: Shown = _NOTHING_SHOWN
) -> list[Mark]:
    return [
        mark for mark in seen.marks if all(_is_said(*each, shown) for each in zip(tells(old), tells(mark), strict=True))
    ]


def _is_said(recorded: object, now: object, shown: Shown = _NOTHING_SHOWN) -> bool:
    """Whether two facts are the same. The name of a secret in the record matches what is shown for it, if that is
    known, else any text.
    """
    if not (isinstance(recorded, str) and isinstance(now, str)):
        return recorded == now
    recorded, now = normalize("NFC", recorded), normalize("NFC", now)
    if recorded == now or "<secret:" not in recorded:
        return recorded == now
    text_of = {name.casefold(): text for name, text in shown.items()}
    literal, *rest = _SECRET.split(recorded)
    pattern = re.escape(literal)
    for name, literal in zip(rest[::2], rest[1::2], strict=True):
        text = text_of.get(name.casefold())
        # An observation may have the name in place of the value, as the record does.
        ways = [f"<secret:{name}>", text, text.casefold()] if text is not None else []
        pattern += (f"(?:{'|'.join(map(re.escape, ways))})" if ways else ".*") + re.escape(literal)
    return re.fullmatch(pattern, now, re.DOTALL) is not None


def _nearly(old: Mark, now: Observation) -> str:
    """The nearest match, so that a person sees why it was rejected."""
    same = [mark for mark in now.marks if mark.fingerprint == old.fingerprint and mark.frame == old.frame]
    if old.fingerprint and same and (old.row or old.around) and not (same[0].row or same[0].around):
        return ": the record is of an earlier version, which did not keep the words beside it"
    if old.fingerprint and same:
        nearest = max(same, key=partial(_likeness, old))
        shown = f"[{nearest.label_text}]{distinction_suffix(nearest, now.marks)}"
        return f": {shown} is the same by itself, but has other words beside it{_changed_words(old, nearest)}"
    named = [mark for mark in now.marks if mark.name == old.name != "" and mark.kind == old.kind]
    if named and old.fingerprint in (BY_WORDS, BY_TITLE) and old.context:
        return (
            f": with the new value, {printable_line(cut_text(old.context, _SAID))!r} should stand beside it, as in the "
            "record. Where other words there differ too, run the task itself with the new value, with a model or step "
            "lines"
        )
    return f": [{named[0].label_text}] only has the same name" if named else ""


def _likeness(old: Mark, new: Mark) -> tuple[int, float]:
    """How alike the words beside two marks are: first by those with which they begin, as the name does in most rows."""
    words = old.context.split(), new.context.split()
    alike = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(*words, strict=False))))
    return alike, fuzz.ratio(old.context, new.context) + fuzz.ratio(old.heading, new.heading)


def _changed_words(old: Mark, new: Mark) -> str:
    """What the words beside a mark, or the heading over it, were and are, from the first word that differs.

    Nothing is cut: part of a private value would not be recognised as one.
    """
    for then, here in ((old.context, new.context), (old.heading, new.heading)):
        if then == here:
            continue
        words = then.split(), here.split()
        pairs = enumerate(zip(*words, strict=False))
        alike = next((at for at, (one, other) in pairs if one != other), min(map(len, words)))
        was, now = (printable_line(" ".join(each[alike:])) for each in words)
        if max(len(was), len(now)) > _MOST_BESIDE:
            return ""
        return f", {repr(was) if was else 'nothing'} in the record and {repr(now) if now else 'nothing'} here"
    return ""


def _must_look_the_same(was: Observation, now: Observation, what: str) -> None:
    # The hash is of the encoded picture; equal pictures have equal encodings.
    if (was.clean.sha256, was.clean.map, was.region) != (now.clean.sha256, now.clean.map, now.region):
        raise RebindError(f"{what} is used only if the whole picture is the same, and it is not")


def _pairs(done: Action, again: Action, was: Observation, now: Observation) -> Iterator[tuple[Mark, Mark]]:
    """The marks that a recorded action acted on, each with today's; for keys without a target those with the focus."""
    if isinstance(done, Press) and done.target is None:
        pairs = [(_focused(was), _focused(now))]
    else:
        numbers = zip(map(mark_in, targets_of(done)), map(mark_in, targets_of(again)), strict=True)
        pairs = [(was.known_mark(one), now.known_mark(other)) for one, other in numbers if one and other]
    yield from ((old, new) for old, new in pairs if old is not None and new is not None)


def _must_not_cost_more(old: Mark, new: Mark, was: Observation, now: Observation) -> None:
    """Raises a `RebindError` if what stands beside a button that may pay states a larger amount of money.

    An earlier version kept no amounts, so all that the listing has count then. A mark that is known by a value that was
    given may be of another thing.
    """
    name = new.shows or new.name
    if _is_known_by_value(old) or risk_words.only_shows(name):
        return
    if not (is_button(new) or is_answer(new) or "pay" in risk_words.risks_in(name)):
        return
    then, here = _largest_stated(old, was), _largest_stated(new, now)
    if not then and not any(mark.prices for mark in was.marks):
        then = _largest(amounts_in(was.listing))
    for currency, amount in here.items():
        if currency not in then or amount.value > then[currency].value:
            before = " and ".join(each.words for each in then.values()) or "no amount of money"
            raise RebindError(f"{_words(old)} is beside {amount.words} here, and was beside {before} in the record")


def _must_not_concern_more(old: Mark, new: Mark, was: Observation, now: Observation, given: Collection[str]) -> None:
    """Raises a `RebindError` if more is counted, ticked or set beside something that deletes, sends or pays.

    An earlier version kept no counts. A thing that only one of the two looks counts is another word beside it anyway.
    """
    if _is_known_by_value(old) or not _concerns(new, now):
        return
    if (more := more_set(old, new, was, now, given)) is not None:
        raise RebindError(f"{_words(old)} is beside {more.here} here, and was beside {more.before} in the record")
    then, here = (counts_in(_said_beside(*each)) for each in ((old, was), (new, now)))
    for thing, count in here.items():
        if thing in then and count.number > then[thing].number:
            what = f"{_words(old)} is beside {printable_line(count.words)} here"
            raise RebindError(f"{what}, and was beside {printable_line(then[thing].words)} in the record")


def _must_not_concern_others(old: Mark, new: Mark, was: Observation, now: Observation, given: Collection[str]) -> None:
    """Raises a `RebindError` if what sends or pays now goes to somebody else, unless the replay was given that name."""
    if _is_known_by_value(old) or not _TO_SOMEBODY & _concerns(new, now):
        return
    texts = tuple(_said_beside(mark, seen, _MOST_LINES) for mark, seen in ((old, was), (new, now)))
    if (other := other_recipient(old, new, was, now, given, (texts[0], texts[1]))) is not None:
        raise RebindError(f"{_words(old)} is beside {other.here} here, and was beside {other.before} in the record")


def _concerns(mark: Mark, seen: Observation) -> frozenset[str]:
    """Whether a mark deletes, sends or pays: by its name, the button that Enter in it presses, or what it answers."""
    said = [mark.shows or mark.name]
    said += [mark.enter.shows or mark.enter.name] if mark.enter is not None else []
    said += question_of(mark, seen) if is_answer(mark) else ()
    return _CONCERNING & {risk for text in said for risk in risk_words.risks_in(text)}


def _said_beside(mark: Mark, seen: Observation, most: int | None = None) -> tuple[str, ...]:
    """What stands beside a mark or over it, word for word; where nothing is beside it, the texts just over it."""
    parts = mark.wording.parts if mark.wording else ()
    heading = (mark.wording.heading,) if mark.wording else ()
    over = words_over(mark, seen, most) if most else words_over(mark, seen)
    return (*(parts or over), *heading)


def _is_known_by_value(old: Mark) -> bool:
    """Whether a recorded mark is found by a value that was given, so that it may be of another thing."""
    is_renamed = old.fingerprint in (BY_NAME, BY_WORDS, BY_TITLE)
    return is_renamed or _SECRET.search(f"{old.name} {old.context}") is not None


def _largest_stated(mark: Mark, seen: Observation) -> dict[str, Amount]:
    """The largest amount in each currency that stands beside a mark, or in the question that it answers."""
    asked = question_of(mark, seen) if is_answer(mark) else ()
    return _largest([*amounts_beside(mark), *(each for text in asked for each in amounts_in(text))])


def _largest(amounts: Iterable[Amount]) -> dict[str, Amount]:
    """The largest amount in each currency."""
    largest: dict[str, Amount] = {}
    for amount in amounts:
        if amount.currency not in largest or amount.value > largest[amount.currency].value:
            largest[amount.currency] = amount
    return largest


def _must_answer_the_same(old: Mark, new: Mark, was: Observation, now: Observation, shown: Shown) -> None:
    """Raises a `RebindError` if a button that only agrees, such as `Yes`, would agree to something else.

    Where a mark is out of view, what is over it is not known. Words beside it that differ are of another value.
    """
    if not is_answer(old) or was.mark(old.number) is None or now.mark(new.number) is None:
        return
    if not _is_said(folded(old.context), folded(new.context), shown):
        return
    then, here = question_of(old, was), question_of(new, now)
    if is_same_question(then, here) or (new.context and not (then and here)):
        return
    asked, asks = (printable_line(" ".join(each)) for each in (then, here))
    if _is_said(folded(asked), folded(asks), shown) or (not asked and not is_grave(here)):
        return
    if max(len(asked), len(asks)) > _MOST_BESIDE:
        raise RebindError(f"what is over {_words(old)}, which only agrees, asks something else than in the record")
    said, says = (repr(each) if each else "nothing" for each in (asked, asks))
    raise RebindError(f"{_words(old)} answers {says} here, and answered {said} in the record")


def _must_have_the_focus(was: Observation, now: Observation, shown: Shown) -> None:
    """Raises a `RebindError` if keys without a target would go elsewhere than they did."""
    old, new = _focused(was), _focused(now)
    if old is not None and (new is None or rebind_mark(old.number, was, now, shown) != new):
        raise RebindError(f"keys went to {_words(old)}, which does not have the focus now")
    if old is None and new is not None:
        raise RebindError(f"keys went to no field, and now {_words(new)} has the focus")


def _focused(seen: Observation) -> Mark | None:
    return next((mark for mark in seen.marks if mark.state.focused), None)


def _evidence(numbers: Sequence[int], was: Observation, now: Observation, shown: Shown) -> tuple[int, ...]:
    """Today's marks for the evidence; those without a match are left out, because nothing is done to them."""
    found = []
    for number in numbers:
        try:
            found.append(rebind_mark(number, was, now, shown).number)
        except RebindError:
            continue
    return tuple(found)


def _words(mark: Mark) -> str:
    """A mark without its number, which differs today."""
    what = mark.role if mark.role != "generic" else mark.tag
    name = printable_line(mark.name)
    return f'{what} "{name[:_SAID]}"' if name else what

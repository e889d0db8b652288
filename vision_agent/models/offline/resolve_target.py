"""Finds the mark that the words of a step line mean. Knows marks and words, but no grammar, page or model.

An exact name beats one that differs in case, which beats one that differs in punctuation. A similar name is offered and
never taken, and if words fit two marks equally well, neither is chosen and the error lists the candidates: a wrong
click is worse than an error. Signs are no punctuation: `Zoom +` is never `Zoom -`, nor `C` a shorter `C+`. With a
distinction, as in `Delete ‹Ann›`, punctuation counts too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import urlsplit

from rapidfuzz import fuzz, process

from vision_agent.actions import Cell, Point, Target
from vision_agent.describe.distinctions import (
    distinction_match,
    distinction_suffix,
    distinctions,
    is_all_of,
    is_under,
    is_within,
    longer_wording,
    ordinal,
    safe_name,
)
from vision_agent.models.offline.line_targets import (
    PLACEHOLDER,
    GridCell,
    LineTarget,
    NamedTarget,
    NumberedTarget,
    PicturePoint,
    PointInMark,
    names_in_placeholders,
)
from vision_agent.models.offline.mark_kinds import KIND_WORDS, is_list, is_of_kind
from vision_agent.observation import Mark, Observation
from vision_agent.text.escape import cut_text
from vision_agent.text.negations import negates
from vision_agent.text.signed_words import ASTERISKS, SignedWords, is_sign, signed_words

_LONGEST_NAME = 60
"""The most characters of a surface's name that is written out in advice."""
_ALL = 0.99
"""The least share of a grid's box in a mark's for the grid to lie over the mark: boxes differ by parts of pixels."""
_PUNCTUATION = re.compile(r"""(?<!\d)[-.,:;!?…'"’“”–—−]+(?!\d)""")
_READ_ALIKE = str.maketrans({"i": "l", "|": "l"})
_SIGNS_READ_AS = {"×": "x", ".": "•·", "-": "−–—", "−": "-–—"}
"""Signs alone, as on the keys of a drawn calculator, and what OCR may read in their place."""

_NEVER_VERBS = {"button", "checkbox"}
"""Words for a kind that hardly begin a name; `Link account` and `Switch user` are names."""
_CELLS = ("cell", "cells", "row", "rows", "column", "columns")
"""Words for a part of a grid."""
_ORDINAL_WORDS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": 0}
_SLIP = 80
"""How alike a name and its mistyped form are at least, of 100; `Sumbit` and `Submit` are 83."""
_MOST_NEAR, _MOST_BARE = 5, 3
"""How many marks are offered where nothing has the name, and how many of them without one."""
_SHAPES = {"circle": "round", "disc": "round", "dot": "round", "ellipse": "round", "rectangle": "box", "square": "box"}
"""Other words for drawn shapes."""
_ON = re.compile(r"\s(?:on|in)\s", re.IGNORECASE)
"""Before the name of a surface, in words for something drawn on it."""
_NO_FIELDS = ("button", "link")
"""Kinds of marks on which an asterisk says nothing about what a form requires."""
_REQUIRED = re.compile(rf"(?<!(?<!\w)\w)[{re.escape(ASTERISKS)}]+(?=\s*:?\s*$)|^\s*[{re.escape(ASTERISKS)}]+(?=\s)")
"""The asterisk of a required field, at the end of its name or before it; `A*` is a name."""


_BARE_NUMBERS: ContextVar[bool] = ContextVar("_BARE_NUMBERS", default=False)


@contextmanager
def bare_numbers() -> Iterator[None]:
    """Inside the `with` block a number alone is that of a mark where nothing has it for a name.

    Only for lines that a person types while they see the numbers: one that was written earlier means a name.
    """
    token = _BARE_NUMBERS.set(True)
    try:
        yield
    finally:
        _BARE_NUMBERS.reset(token)


_EARLIER: ContextVar[Sequence[Observation]] = ContextVar("_EARLIER", default=())


@contextmanager
def earlier_looks(seen: Sequence[Observation]) -> Iterator[None]:
    """Inside the `with` block words beside a name mean no longer ones where they were all of it at an earlier look."""
    token = _EARLIER.set(seen)
    try:
        yield
    finally:
        _EARLIER.reset(token)


_PLACEHOLDER_INSIDE = re.compile(r"(?:secret|private):[\w.-]+")
"""A placeholder that was read as words in < >."""
_VALUES: ContextVar[Mapping[str, str]] = ContextVar("_VALUES", default=MappingProxyType({}))


@contextmanager
def named_values(values: Mapping[str, str]) -> Iterator[None]:
    """Inside the `with` block `<secret:NAME>` and `<private:NAME>` in a target mean these values, by name.

    Messages name the target as it was written.
    """
    token = _VALUES.set(values)
    try:
        yield
    finally:
        _VALUES.reset(token)


class NotFoundError(Exception):
    """The words match no target or several; the message says what there is instead."""

    where: NamedTarget | None = None
    """The target of which nothing has the name."""


class AmbiguousError(NotFoundError):
    """The words match several targets."""


def find_target(where: LineTarget, observation: Observation, prefer: Callable[[Mark], bool] | None = None) -> Target:
    """The mark number, point or cell that is meant; `prefer` decides only between equally good names.

    Raises:
        NotFoundError: there is no match, or more than one.
    """
    match where:
        case PicturePoint():
            size, point = observation.marked.size, Point(x=where.x, y=where.y)
            if not size.contains(point):
                raise NotFoundError(f"{where} is outside the picture of {size.width}×{size.height} pixels.")
            return point
        case PointInMark():
            return point_in(where.mark, where.x, where.y, observation, prefer)
        case GridCell():
            return _cell(where, observation, prefer)
        case NamedTarget() if prefer is None and (cell := _cell_called(where, observation)):
            return cell
        case NamedTarget() if (there := _on_surface(where, observation, prefer)) is not None:
            return there
        case _:
            return _one(where, observation, prefer).number


def _on_surface(where: NamedTarget, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Target | None:
    """What is drawn on a surface and called so, for words such as `7 on Calculator`; None if there is no such thing.

    Raises:
        AmbiguousError: several things or cells there are called so.
    """
    if where.is_quoted or where.beside or where.nth or _matching(where, observation.marks):
        return None
    for said in _ON.finditer(where.words):
        words, of = where.words[: said.start()], where.words[said.end() :]
        surfaces = [each for each in observation.marks if each.kind == "surface" and _same(of, each.name)]
        if len(surfaces) != 1:
            continue
        inside = [each for each in observation.marks if each.surface == surfaces[0].number]
        part, named = observation.model_copy(update={"marks": tuple(inside)}), replace(where, words=words, name=words)
        if prefer is None and (cell := _cell_called(named, part)):
            return cell
        if _matching(named, inside):
            return _one(named, part, prefer).number
    return None


def _cell_called(where: NamedTarget, observation: Observation) -> Cell | None:
    """The only cell of a grid in which these words and no others were read, if no mark is called so.

    Raises:
        AmbiguousError: several cells have these words.
    """
    if where.beside or where.nth or names_in_placeholders(where.words):
        return None
    labels = {mark.number: mark.label_text for mark in observation.marks}
    texts = observation.cell_texts
    found = [cell for cell in texts if cell.mark in labels and _same(where.words, texts[cell])]
    if not found or _matching(where, observation.marks):
        return None
    if len(found) > 1:
        cells = ", ".join(
            f"row {each.row} column {each.column} of [{labels[each.mark]}]" for each in found[:_MOST_NEAR]
        )
        more = f" and {len(found) - _MOST_NEAR} more" if len(found) > _MOST_NEAR else ""
        raise AmbiguousError(f"{where} could be {cells}{more}; name one by its row and column")
    return found[0]


def point_in(
    where: NamedTarget | NumberedTarget,
    x: float,
    y: float,
    observation: Observation,
    prefer: Callable[[Mark], bool] | None = None,
) -> Point:
    """The point of the picture at these fractions of a mark's box.

    Raises:
        NotFoundError: there is no match, or more than one.
    """
    box = observation.marked.map.box_to_picture(_one(where, observation, prefer).box)
    return Point(x=box.x + x * box.width, y=box.y + y * box.height)


def _cell(where: GridCell, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Cell:
    mark = _one(where.mark, observation, prefer)
    inside = [each for each in observation.marks if each.grid and _has_cells_of(each, mark)]
    if len(inside) != 1:
        found = f"there are {_described(inside, observation.marks)}" if inside else "it has no rows and columns"
        raise NotFoundError(f"{where} is not here: {found}.")
    [has_cells] = inside
    cell = Cell(mark=has_cells.number, row=where.row, column=where.column)
    if observation.box_of(cell) is None:
        size = has_cells.grid.words if has_cells.grid else "none"
        raise NotFoundError(f"{where} is not here: [{has_cells.label_text}] has {size}.")
    return cell


def _has_cells_of(grid: Mark, mark: Mark) -> bool:
    """Whether a grid is the mark, drawn in it, or laid over it or a part of it by a zoom."""
    is_laid_over = grid.surface is None and grid.source == "cv" and grid.box.share_in(mark.box) > _ALL
    return grid is mark or grid.surface == mark.number or is_laid_over


def _one(where: NamedTarget | NumberedTarget, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Mark:
    if isinstance(where, NumberedTarget):
        mark = observation.known_mark(where.number)
        if mark is None:
            raise NotFoundError(f"There is no mark {where}; {_nearest('', observation.marks)}.")
        if where.letter not in ("", mark.letter):
            raise NotFoundError(f"There is no mark {where}; [{mark.label_text}] is the {mark.role} {mark.name!r}.")
        return mark
    meant = _with_values(where)
    found = _matching(_with_whole_name(meant), observation.marks) or _matching(meant, observation.marks)
    # Marks from the DOM are certain; a guess from pixels with the same name is not meant if there is one.
    found = [mark for mark in found if mark.source == "dom"] or found
    if len(found) > 1 and prefer is not None:
        found = [mark for mark in found if prefer(mark)] or found
    if where.nth and _is_ordinal(where, found):
        if where.nth > len(found):
            here = _described(found, observation.marks) or "there is none"
            raise NotFoundError(f"{where} is not here: {here}.")
        return found[where.nth - 1]
    if len(found) > 1:
        ways = "name one by its number, by words in ‹ › from its row, card or heading, or by 2nd, 3rd, …"
        raise AmbiguousError(f"{where} could be any of {_described(found, observation.marks)}; {ways}")
    if (
        not found
        and not where.is_exact
        and _BARE_NUMBERS.get()
        and (labelled := _with_label(where.words, observation)) is not None
    ):
        return labelled
    if not found:
        hidden = "".join(f"; {each.count} covered by {each.blocker}" for each in observation.covered)
        is_number = not where.is_exact and any(mark.label_text == where.name for mark in observation.marks)
        numbered = f" For the mark with this number, write [{where.name}]." if is_number else ""
        if where.beside and (elsewhere := _called(meant.name, observation.marks)):
            found_instead = _described(elsewhere, observation.marks)
            are = "is" if len(elsewhere) == 1 else "are"
            has = "in its row" if where.in_row else "beside it"
            sentence = f"No {where.name!r} here has {where.beside!r} {has}; there {are} {found_instead}{hidden}."
            sentence += _longer(where, elsewhere)
        elif other := _shows_otherwise(meant, observation.marks):
            sentence = f"Nothing here shows {where}, but {other}{hidden}."
        else:
            sentence = f"Nothing here is called {where}; {_nearest(meant.name, observation.marks)}{hidden}.{numbered}"
            sentence += _ordinal_hint(meant, observation.marks)
            if not _is_slip(meant.name, observation.marks):
                sentence += _closer_look(observation.marks)
        raise _missing(sentence, meant)
    if where.beside and (longer := _longer_than_before(meant, found[0], observation)):
        raise _missing(
            f"{where} was here at an earlier look and is not now; [{found[0].label_text}] is beside {longer!r}. "
            "If that is meant, write it out",
            meant,
        )
    return found[0]


def _missing(sentence: str, where: NamedTarget) -> NotFoundError:
    missing = NotFoundError(sentence)
    missing.where = where
    return missing


def _longer_than_before(where: NamedTarget, mark: Mark, now: Observation) -> str:
    """What stands beside a mark that has more words than those of a target, which were all of it before; or nothing.

    Only looks at the same page count.
    """

    def has_just(each: Mark) -> bool:
        return each.wording is not None and distinction_match(each, where.beside, None, is_exact=True) > 0

    longer = "" if mark.wording is None or has_just(mark) else longer_wording(mark, where.beside)
    if not longer:
        return ""
    page = urlsplit(now.url)[:3]
    before = (each for seen in _EARLIER.get() if urlsplit(seen.url)[:3] == page for each in seen.marks)
    return longer if any(each.name == mark.name and has_just(each) for each in before) else ""


def _longer(where: NamedTarget, marks: Sequence[Mark]) -> str:
    """What a row or card here, or something in it, is called that has more words than it must have; or nothing."""
    longer = (longer_wording(mark, where.beside) for mark in marks) if where.is_beside_exact else ()
    called = next(filter(None, longer), "")
    return f" {cut_text(called, _LONGEST_NAME)!r} has more words, so it may be another." if called else ""


def _with_values(where: NamedTarget) -> NamedTarget:
    """The target with values in place of their placeholders."""
    values = _VALUES.get()
    if not names_in_placeholders(where.words):
        return where

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)

    ends_with = f"<{where.beside}>" if _PLACEHOLDER_INSIDE.fullmatch(where.beside) else ""
    return replace(
        where,
        words=fill(where.words),
        name=fill(where.name),
        beside=fill(ends_with or where.beside),
        is_exact=True,
        is_beside_exact=bool(ends_with or names_in_placeholders(where.beside)),
        whole_name=fill(f"{where.name} {ends_with}".strip()) if ends_with else "",
    )


def _with_whole_name(where: NamedTarget) -> NamedTarget:
    """The target with words in < > as the end of its name, where they are a placeholder."""
    return replace(where, name=where.whole_name, beside="") if where.whole_name else where


def _is_slip(words: str, marks: Sequence[Mark]) -> bool:
    """Whether the words are probably a name here that was mistyped."""
    names = [_folded(mark.name) for mark in marks if mark.name]
    return process.extractOne(_folded(words), names, scorer=fuzz.ratio, score_cutoff=_SLIP) is not None


def _ordinal_hint(where: NamedTarget, marks: Sequence[Mark]) -> str:
    """How to write an ordinal that stands in words before a name here; else nothing."""
    word, _, name = where.name.partition(" ")
    called = _called(name, marks) if word.casefold() in _ORDINAL_WORDS else []
    if not called:
        return ""
    nth = _ORDINAL_WORDS[word.casefold()] or len(called)
    if nth > len(called):
        return f" There are {len(called)} called {name!r}."
    said = f"[{called[nth - 1].label_text}]" if where.beside else f"{ordinal(nth)} {name}"
    return f" An ordinal is written in figures: {said}."


def _closer_look(marks: Sequence[Mark]) -> str:
    """How to see more of what is drawn, where a canvas or other surface is in view, as small words may have no mark."""
    surface = max(
        (mark for mark in marks if mark.kind == "surface"),
        key=lambda mark: mark.box.width * mark.box.height,
        default=None,
    )
    if surface is None:
        return ""
    alike = [mark for mark in marks if _folded(mark.name) == _folded(surface.name)]
    is_plain = surface.name.isprintable() and 0 < len(surface.name) <= _LONGEST_NAME and len(alike) == 1
    called = surface.name if is_plain else f"[{surface.label_text}]"
    return f" If it is drawn in {called}, look at that alone: look at {called} only."


def _with_label(words: str, observation: Observation) -> Mark | None:
    """The mark whose number, with its letter or without, is all of the words."""
    marks = (*observation.marks, *observation.out_of_view)
    return next((mark for mark in marks if words in (mark.label_text, str(mark.number))), None)


def only_longer_name(where: NamedTarget, observation: Observation) -> Mark | None:
    """The only mark whose name begins or ends with the words of a target that nothing is called, signs included.

    None if there are several, or if the page goes on outside the view: what has the name itself may be there.
    """
    if (
        all(map(is_sign, signed_words(where.name).words))
        or where.is_exact
        or where.beside
        or where.nth
        or observation.scroll.above >= 1
        or observation.scroll.below >= 1
    ):
        return None

    found = [mark for mark in observation.marks if is_of_kind(mark, where.kind) and _more_words(where, mark)]
    return found[0] if len(found) == 1 else None


def may_mean_opposite(where: NamedTarget, longer: Mark) -> bool:
    """Whether the further words of a longer name deny the words of the target, or turn off what they name."""
    return any(negates(" ".join(more.before), " ".join(more.after)) for more in _more_words(where, longer))


class _MoreWords(NamedTuple):
    """The words of a name before and after those that a line has; one of them is empty."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _more_words(where: NamedTarget, mark: Mark) -> list[_MoreWords]:
    """What a mark's name has before or after the words of a target; no sign alone: `Zoom` is no shorter `Zoom -`."""
    said = _signed_words(where.name, mark)
    words, more = said.words, list[_MoreWords]()
    for label in (_signed_words(name, mark) for name in _names(mark)):
        longer = _without_plus(label.words)
        if said.pictures <= label.pictures and len(longer) >= len(words):
            more += [_MoreWords(after=longer[len(words) :])] if longer[: len(words)] == words else []
            more += [_MoreWords(before=longer[: len(longer) - len(words)])] if longer[-len(words) :] == words else []
    return [each for each in more if not any(map(is_sign, (*each.before, *each.after)))]


def _without_plus(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a name without the plus that decorates what adds something: `+ New`, but not `+ 5` or `Zoom +`."""
    is_decorated = len(words) > 1 and words[0] == "+" and len(words[1]) > 2 and words[1].isalpha()
    return words[1:] if is_decorated else words


def _signed_words(name: str, mark: Mark) -> SignedWords:
    """The words of a name for a mark, with their signs, without the asterisk of a field that must be filled in."""
    return signed_words(_folded(name if mark.kind in _NO_FIELDS and not is_list(mark) else _REQUIRED.sub("", name)))


def _is_ordinal(where: NamedTarget, found: Sequence[Mark]) -> bool:
    """Whether `2nd` counts marks of one name; it does not in `2nd Street`, nor among names that differ."""
    names = {_folded(label) for mark in found for label in _labels(mark)[:1]}
    return len(names) == 1 and _folded(where.words) not in names


def _matching(where: NamedTarget, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that match the words best, all equally well; those with exactly these words as name come first."""
    of_kind = [mark for mark in marks if is_of_kind(mark, where.kind)]
    if where.beside:
        # A page may have a name with ‹ › in it, so both readings are possible.
        literal = _called(where.words, marks)
        return literal + [mark for mark in _matching_beside(where, of_kind, marks) if mark not in literal]
    called = _called(where.words, marks) or _called(where.name, of_kind)
    if called or where.is_exact:
        return called
    looking = _looking(where.words, marks) or _looking(where.name, marks)
    return looking or _nearly_called(where.name, of_kind) or _with_kind_before(where, marks)


def _with_kind_before(where: NamedTarget, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that are called as messages show them, what they are before the name: `round A1`, `button 'Cancel'`.

    Nothing may be called so itself, nor have all the words in its name. Without quotes only a drawn thing is called by
    its shape, and a page's by a word that hardly begins a name; both count capitals: `Round 1` is no `round 1`.
    """
    if where.is_quoted or where.kind or where.nth or any(_folded(where.name) in _folded(each.name) for each in marks):
        return []

    def is_so_called(mark: Mark, label: str) -> bool:
        quoted = (repr(label), json.dumps(label, ensure_ascii=False))
        return any(
            where.name.endswith(f" {said}") and _says_kind(where.name.removesuffix(said).split(), mark, said in quoted)
            for said in (*quoted, label)
        )

    return [mark for mark in marks if any(is_so_called(mark, label) for label in _names(mark))]


def _says_kind(said: Sequence[str], mark: Mark, is_quoted: bool) -> bool:
    """Whether these words say what a mark is: all of the shape of something drawn, and its colour if any is said."""
    if mark.source != "dom" and mark.kind != "surface":
        looks = [shape for shape in ([mark.tag], mark.looks_like.split()) if shape]
        looks += [[*mark.look.split(), *shape] for shape in looks]
        return sorted(_SHAPES.get(word, word) for word in said) in map(sorted, looks)
    if len(said) != 1:
        return False
    [word] = said
    is_kind = (word in KIND_WORDS and is_of_kind(mark, word)) or word == mark.role
    return is_kind and (is_quoted or word in _NEVER_VERBS)


def _looking(words: str, marks: Sequence[Mark]) -> list[Mark]:
    """The drawn marks without a name whose colour and shape or role these words are, in either order: `blue round`."""
    said = sorted(_SHAPES.get(word, word) for word in _folded(words).split())
    return [mark for mark in marks if len(said) > 1 and any(said == sorted(looks) for looks in _all_looks(mark))]


def _all_looks(mark: Mark) -> list[list[str]]:
    """Its look words, also with its role in place of its shape: `<box red role=tile>` is a red tile too."""
    looks = _look_words(mark)
    return [looks, [*looks[:-1], *_folded(mark.looks_like).split()]] if looks and mark.looks_like else [looks]


def _look_words(mark: Mark) -> list[str]:
    """The words of a drawn mark's colour and shape, as the listing has them; none for one that has a name."""
    is_bare = mark.source != "dom" and mark.kind != "surface" and not mark.name
    return [*mark.look.split(), mark.tag] if is_bare and mark.look else []


def _called(words: str, marks: Sequence[Mark]) -> list[Mark]:
    for test in (_equal, _same):
        for labels in (_names, _placeholders):
            found = [mark for mark in marks if any(test(words, label) for label in labels(mark))]
            if found:
                return found
    return []


def _matching_beside(where: NamedTarget, of_kind: Sequence[Mark], marks: Sequence[Mark]) -> list[Mark]:
    """The marks of this name with this distinction; if the listing shows it for some of them, only those."""
    shown = distinctions(marks)
    match = partial(distinction_match, is_exact=where.is_beside_exact, in_row=where.in_row)
    strength = {mark.number: match(mark, where.beside, shown.get(mark.number)) for mark in marks}
    there = [mark for mark in of_kind if strength[mark.number]] or _further_off(where, of_kind)
    found, kind = _called(where.name, there), where.name.lower()
    if not found and (not kind or kind in KIND_WORDS):  # `checkbox ‹Ann›` has no name of its own
        found = [mark for mark in there if not _labels(mark) and is_of_kind(mark, kind)]
    best = max((strength[mark.number] for mark in found), default=0)
    listed = [mark for mark in found if _folded(where.beside) == _folded(str(shown.get(mark.number, "")))]

    def may_be_meant(mark: Mark) -> bool:
        """Whether the words are all of another row, or of its heading, and the listing tells it by no other ones."""
        is_told_apart = any(_kind(mark) == _kind(each) for each in listed)
        return not is_told_apart and is_all_of(mark, where.beside, in_row=where.in_row)

    return [mark for mark in found if strength[mark.number] == best or may_be_meant(mark)]


def _further_off(where: NamedTarget, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that lie in what has the words of a target for its name, or have these for a heading further off.

    A heading counts only if it tells some of the name from others: one that is over them all says nothing of them.
    """
    if where.in_row or where.is_beside_exact:
        return []
    called = _called(where.name, marks)
    if within := [mark for mark in called if is_within(mark, where.beside)]:
        return within
    under = [mark for mark in called if is_under(mark, where.beside)]
    return under if len(under) < len(called) else []


def _kind(mark: Mark) -> tuple[str, ...]:
    return mark.frame, mark.tag, mark.role, mark.kind


def _nearly_called(words: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks whose name differs in punctuation only; for words read from pixels, also in spaces and in `i` and `l`.

    A letter or sign more or less is another name: `Ann Lee` is not `Ann Lea`, nor `D+` `D-`.
    """

    def is_nearly(mark: Mark, label: str) -> bool:
        if mark.source != "dom" and (other := _SIGNS_READ_AS.get(words.strip())) and _folded(label) in list(other):
            return True
        said, its = _signed_words(words, mark), _signed_words(label, mark)
        if _without_punctuation(words) == _without_punctuation(label):
            return said.words == its.words
        has_its_digits = re.findall(r"\d+", words) == re.findall(r"\d+", label)
        has_its_signs = _signs_of(said) == _signs_of(its)
        is_drawn = mark.source != "dom"
        return is_drawn and has_its_digits and has_its_signs and _as_read(words) == _as_read(label)

    return [mark for mark in marks if any(is_nearly(mark, label) for label in _labels(mark))]


def _without_punctuation(text: str) -> str:
    """A name without what may be left out when it is said; beside digits, `-` and `.` mean something."""
    return " ".join(_PUNCTUATION.sub(" ", _folded(text)).split()) or text


def _signs_of(name: SignedWords) -> str:
    return "".join(letter for word in name.words for letter in word if is_sign(letter))


def _as_read(text: str) -> str:
    """A name as OCR may read it: without spaces, and with one letter for those that it confuses."""
    return _without_punctuation(text).replace(" ", "").translate(_READ_ALIKE)


def _names(mark: Mark) -> tuple[str, ...]:
    """What a line may call a mark: what a person sees on it, and only that where its name says something else."""
    name = mark.shows or mark.name
    return (name,) if name else ()


def _shown(mark: Mark) -> str:
    return f", which shows {mark.shows!r}" if mark.shows else ""


def _shows_otherwise(where: NamedTarget, marks: Sequence[Mark]) -> str:
    """What the mark shows that has this name only for who does not see it; empty if there is none."""
    mark = next((mark for mark in marks if mark.shows and _same(where.name, mark.name)), None)
    if mark is None:
        return ""
    return f"[{mark.label_text}] has that name and shows {mark.shows!r}: call it {mark.shows!r} or [{mark.label_text}]"


def _placeholders(mark: Mark) -> tuple[str, ...]:
    return (mark.state.placeholder,) if mark.state.placeholder else ()


def _labels(mark: Mark) -> tuple[str, ...]:
    return (*_names(mark), *_placeholders(mark))


def _equal(words: str, label: str) -> bool:
    return normalize("NFC", " ".join(words.split())) == normalize("NFC", " ".join(label.split()))


def _same(words: str, label: str) -> bool:
    return _folded(words) == _folded(label)


def _folded(text: str) -> str:
    """A text in one case and spacing, and with its accents written in one way."""
    return " ".join(normalize("NFC", safe_name(text)).split()).casefold()


def _nearest(words: str, marks: Sequence[Mark]) -> str:
    said = [_SHAPES.get(word, word) for word in _folded(words).split()]
    if said and (
        looking := [mark for mark in marks if set(said).issubset(word for looks in _all_looks(mark) for word in looks)]
    ):
        return f"what looks like it has no name, so name it by its number: {_described(looking, marks)}"
    if (
        said
        and not _is_slip(words, marks)
        and (alike := [mark for mark in marks if mark.name and _is_like(said, mark)])
    ):
        return f"what looks like it has a name, so call it by that: {_described(alike, marks)}"
    named = [mark for mark in marks if mark.name]
    best = process.extract(_folded(words), [_folded(mark.name) for mark in named], scorer=fuzz.WRatio, limit=_MOST_NEAR)
    near = [(score, named[at]) for _, score, at in best]
    bare = sorted(((_fits(said, mark), mark) for mark in marks if not mark.name), key=lambda each: -each[0])
    near += [each for each in bare[:_MOST_BARE] if each[0]]
    if not near:
        return "there is no mark with a name"
    near.sort(key=lambda each: -each[0])
    return f"the nearest are {_described([mark for _, mark in near[:_MOST_NEAR]], marks)}"


def _is_like(said: Sequence[str], mark: Mark) -> bool:
    """Whether all of these words are the colour, shape or role of a drawn mark."""
    is_drawn = mark.source != "dom" and mark.kind != "surface"
    return is_drawn and set(said).issubset([*mark.look.split(), mark.tag, *_folded(mark.looks_like).split()])


def _fits(said: Sequence[str], mark: Mark) -> float:
    """How alike these words and the listing's words for a drawn mark without a name are; 0 if none is the same."""
    words = [*_bare_words(mark), *_folded(mark.looks_like).split(), *(_CELLS if mark.grid else ())]
    if not set(said) & set(words):
        return 0.0
    return fuzz.WRatio(" ".join(said), " ".join(_bare_words(mark)))


def _bare_words(mark: Mark) -> list[str]:
    """The words of a drawn mark without a name: its colour and shape, or its shape alone."""
    is_bare = mark.source != "dom" and mark.kind != "surface" and not mark.name
    return _look_words(mark) or ([mark.tag] if is_bare else [])


def _described(marks: Sequence[Mark], among: Sequence[Mark]) -> str:
    listed = ", ".join(
        f"[{mark.label_text}] {_what(mark)}{_shown(mark)}{distinction_suffix(mark, among)}" for mark in marks[:8]
    )
    return f"{listed} and {len(marks) - 8} more" if len(marks) > 8 else listed


def _what(mark: Mark) -> str:
    """What a mark is and its name, or its colour and shape; by its tag where the page says nothing of its role."""
    if mark.grid is not None and not mark.name:
        return f"{mark.tag} of {mark.grid.words}"
    if looks := _bare_words(mark):
        return " ".join(looks)
    kind = mark.looks_like or mark.tag if mark.source != "dom" or mark.kind == "surface" else mark.role
    return f"{kind} {mark.name!r}"

"""Which decisions need a person's approval, and `Answers`, an approver made from a function.

Risks follow from the decision and the observation alone, without a request and without asking a model.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from inspect import isawaitable, iscoroutine
from typing import Any, assert_never

from vision_agent.actions import (
    Action,
    Ask,
    Back,
    Cell,
    Check,
    Click,
    CloseTab,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    FindOn,
    Finish,
    Forward,
    Goto,
    Hold,
    Hover,
    Infeasible,
    LookAt,
    Magnify,
    Offset,
    OpenTab,
    Pan,
    Point,
    Press,
    Read,
    Reload,
    Scroll,
    ScrollTo,
    Select,
    SelectText,
    Set,
    SwitchTab,
    Target,
    Type,
    Upload,
    Wait,
    Zoom,
    chord_keys,
    targets_of,
)
from vision_agent.errors import UsageError
from vision_agent.observation import Mark, MarkState, Observation
from vision_agent.policy import risk_words
from vision_agent.policy.asked_question import is_answer, words_over
from vision_agent.policy.risk_tables import CARD_FIELDS, ENDS_ORDER, TOTALS
from vision_agent.settings import ApprovalSettings
from vision_agent.text.urls import host_of, resolve_url
from vision_agent.types import RISKS, Choice, Decision, Risk, Risky, Task

_ENTER = re.compile(r"Enter|NumpadEnter|\n|\r")
_PRESSING = re.compile(r"Enter|NumpadEnter|Space| |\n|\r")
_DELETING = re.compile(r"Delete|Backspace")
_MOVES_FOCUS = re.compile(r"Tab|F6|Arrow\w+")
_CHOOSING = re.compile(r"Arrow\w+|Home|End|Page\w+|.")
"""Keys that choose in a list, a group or on a track: lists also go to the option that begins with a letter."""
_CHOSEN = frozenset(
    ("tab", "option", "treeitem", "row", "cell", "gridcell", "rowheader", "columnheader", "listitem", "article")
)
"""Roles of what is chosen or looked at, and is no button, though a press on it does something."""


_ANSWERED: frozenset[Risk] = frozenset({"pay", "delete"})
"""Risks of what is said beside an answer that is in no dialog; there, other words are about something else as well."""
_GRAVE: frozenset[Risk] = frozenset({"pay", "delete", "send"})
"""Risks of words that count wherever a key may press a button."""
_BESIDE_PX = (80, 40)
"""How far a button may be from a field, across and along, to stand right beside it. CSS pixels."""
_ALWAYS: frozenset[Risk] = frozenset({"unclassified", "mismatch", "beyond"})
"""Risks that no policy can waive."""


def must_ask(settings: ApprovalSettings, decision: Decision, risks: Sequence[Risky]) -> bool:
    """Whether a decision needs a person's approval. False if a person made it, or if it only asks the person."""
    if settings.dry_run or decision.author == "human" or all(action.kind == "ask" for action in decision.actions):
        return False
    return settings.ask == "always" or (settings.ask == "risky" and bool(risks))


def risks_of(settings: ApprovalSettings, decision: Decision, observation: Observation) -> tuple[Risky, ...]:
    """The risks of a decision under the policy, in the order of its actions.

    The risk of a point is that of the innermost mark there; a mark without a name reveals none, unless its icon looks
    like something that has one.
    """
    return _risks(settings, decision.actions, observation)


def _risks(settings: ApprovalSettings, actions: Sequence[Action], observation: Observation) -> tuple[Risky, ...]:
    found: list[Risky] = []
    focus = _Focus(next((mark for mark in observation.marks if mark.state.focused), None))
    for place, action in enumerate(actions):
        told = dict(_action_risks(settings, action, observation, focus))
        counts = {*settings.risks, *_ALWAYS}
        found += [Risky(action=place, risk=risk, why=why) for risk, why in told.items() if risk in counts]
        focus = _focus_after(action, focus, observation)
    return tuple(found)


def risks_taken(action: Action, observation: Observation) -> set[Risk]:
    """The risks of an action, whatever the policy allows."""
    return {each.risk for each in _risks(ApprovalSettings(), [action], observation)}


def marks_of(action: Action, observation: Observation) -> list[Mark]:
    """The marks that an action acts on, each the innermost one at a point; without a target, the one with the focus."""
    targets = targets_of(action)
    if not targets:
        focused = [mark for mark in observation.marks if mark.state.focused]
        return focused if isinstance(action, Press) else []
    found = [_mark_at(target, observation) for target in targets]
    return [mark for mark in found if mark is not None]


def pressed_by(action: Action, observation: Observation) -> list[Mark]:
    """The marks that an action acts on; in place of a field, the button of the form that the action sends."""
    is_enter, pressed = _presses_enter(action), []
    for mark in marks_of(action, observation):
        is_sent = mark.kind in ("field", "toggle") and (is_enter or _is_sent_by(action, mark))
        pressed.append((is_sent and _button_of(mark, observation)) or mark)
    return pressed


def _is_sent_by(action: Action, mark: Mark) -> bool:
    """Whether an action may change a control whose page declares that its form is sent then."""
    if mark.enter is None or not mark.enter.changes:
        return False
    match action:
        case Select() | Check() | Type() | Set() | Drag() | Upload():
            return True
        case Press():
            return _has_key(_CHOOSING, action) or _has_key(_PRESSING, action) or _has_key(_DELETING, action)
        case Click() | DoubleTap() | Hold():
            return mark.kind == "toggle"
        case _:
            return False


def _presses_enter(action: Action) -> bool:
    if isinstance(action, Type):
        return action.submit or any(each in action.text for each in "\r\n")
    return isinstance(action, Press) and _has_key(_ENTER, action)


def risks_in(name: str) -> set[Risk]:
    """The risks that the name of a control indicates."""
    return {risk for risk, _ in _word_risks(ApprovalSettings(), name)}


def is_risky_question(settings: ApprovalSettings, text: str) -> bool:
    """Whether a person must approve before a dialog that asks this is accepted."""
    if settings.ask == "never":
        return False
    if settings.ask == "always" or len(text) > risk_words.LONGEST:  # what comes after that is not judged
        return True
    return any(risk in settings.risks for risk, _ in _word_risks(settings, text))


def only_looks(action: Action) -> bool:
    """Whether a dry run may carry out an action: it only moves the view or the pointer, waits, or reads."""
    return action.traits.only_looks


def words_of(risks: Sequence[Risky]) -> str:
    """The risks in one line, for a person, such as `pay: it is called “Pay now”; submit: button sends a form`."""
    return "; ".join(f"{each.risk}: {each.why}" for each in risks)


@dataclass(frozen=True)
class _Focus:
    """The mark that receives keys without a target at this point of the decision."""

    mark: Mark | None
    is_known: bool = True


def _focus_after(action: Action, before: _Focus, seen: Observation) -> _Focus:
    """The focus after an action, as far as it is known without carrying the action out."""
    if isinstance(action, Press) and _has_key(_MOVES_FOCUS, action):
        return _Focus(None, is_known=False)
    touched = targets_of(action)
    if action.traits.only_looks or not touched:
        return before
    mark = _mark_at(touched[-1], seen)
    return _Focus(mark, is_known=mark is not None)


def _action_risks(
    settings: ApprovalSettings, action: Action, seen: Observation, focus: _Focus
) -> Iterator[tuple[Risk, str]]:
    if not action.traits.is_classified:
        yield "unclassified", f"the risks of {action.kind} are not declared"
        return
    for changed in marks_of(action, seen):
        if _is_sent_by(action, changed):
            yield "submit", f"a change of {_mark_words(changed)} sends its form"
            yield from _form_risks(settings, changed, seen, "it sends the form of")
    match action:
        case Upload():
            yield "upload", f"it gives {', '.join(action.files)} to the page"
        case Goto() | OpenTab():
            yield from _leave_risks(settings, host_of(resolve_url(seen.url, action.url)), seen)
        case Reload() | Back() | Forward() if seen.answers_form:
            yield "submit", "the page is the response to a form, which may be sent again"
        case Custom():
            yield from _custom_action_risks(settings, action)
        case Click() | DoubleTap() | Hold():
            yield from _press_risks(settings, _mark_at(action.target, seen), seen)
            if isinstance(action.target, Cell):
                yield from _word_risks(settings, seen.cell_texts.get(action.target, ""))
        case Check():
            mark = seen.known_mark(action.mark)
            yield from _press_risks(settings, mark, seen)
            yield from _word_risks(settings, mark.name if mark else "")
        case Select():
            for option in action.options:
                yield from _word_risks(settings, option)
        case Drag():
            yield from _drop_risks(settings, action, seen)
        case Press() if _has_key(_PRESSING, action):
            yield from _enter_risks(settings, _focus_of(action, focus, seen), seen, is_enter=_has_key(_ENTER, action))
        case Press() if _has_key(_DELETING, action):
            at = _focus_of(action, focus, seen)
            if not at.is_known or at.mark is None or not _is_plain_field(at.mark):
                yield "delete", f"{action.keys} outside a text field can delete what is selected"
        case Press() if _has_key(_CHOOSING, action):
            yield from _choice_risks(settings, _focus_of(action, focus, seen).mark, seen)
        case Type():
            mark = _mark_at(action.target, seen)
            yield from _choice_risks(settings, mark, seen)
            # In a multi-line field a line break is typed as Enter, at which a chat sends its message.
            breaks = any(each in action.text for each in "\r\n") and (mark is None or mark.tag != "input")
            if action.submit or breaks:
                yield from _enter_risks(settings, _Focus(mark), seen, is_enter=True)
        case Set():
            mark = seen.known_mark(action.mark)
            if mark is not None and mark.role == "slider":  # some are moved to confirm
                yield from _word_risks(settings, mark.name)
        case Reload() | Back() | Forward() | Press() | SelectText() | SwitchTab() | CloseTab():
            pass
        case Pan() | Magnify() | FindOn():
            pass  # no click comes of them
        case Hover() | Scroll() | ScrollTo() | Zoom() | Wait() | Read() | Extract() | Ask() | Finish() | Infeasible():
            pass
        case LookAt():
            pass
        case _:
            assert_never(action)


def _focus_of(press: Press, before: _Focus, seen: Observation) -> _Focus:
    """What gets the keys: the target, or else what has the focus before."""
    return before if press.target is None else _Focus(_mark_at(press.target, seen))


def _has_key(kind: re.Pattern[str], action: Press) -> bool:
    """Whether one of the keys is of a kind: all of them go down, whatever their order."""
    return any(kind.fullmatch(key) for key in chord_keys(action.keys))


def _custom_action_risks(settings: ApprovalSettings, action: Custom) -> Iterator[tuple[Risk, str]]:
    if action.name in settings.harmless:
        return
    yield from _word_risks(settings, action.name.replace("_", " "))
    if action.risks is None:
        yield "unclassified", f"{action.name} does not declare its risks"
    for risk in RISKS:
        if risk in (action.risks or ()):
            yield risk, f"{action.name} declares this risk"


def _enter_risks(
    settings: ApprovalSettings, focus: _Focus, seen: Observation, *, is_enter: bool
) -> Iterator[tuple[Risk, str]]:
    """The risks of Enter or Space: in a field or on a checkbox, Enter can send the form; on a button, both press it; an
    unknown focus may be in a form.
    """
    mark = focus.mark
    if not focus.is_known or (mark is None and is_enter):
        yield "submit", "the key goes to whatever has the focus then and can send its form"
        yield from _anywhere_risks(settings, seen, is_enter=is_enter)
    elif mark is not None and mark.kind != "field":
        yield from _press_risks(settings, mark, seen)
        if is_enter and mark.kind == "toggle" and mark.tag in ("input", "label"):
            yield "submit", f"Enter on {_mark_words(mark)} can send its form"
            yield from _form_risks(settings, mark, seen)
    elif is_enter and mark is not None:
        risks = {**dict(_beside_risks(settings, mark, seen)), **dict(_form_risks(settings, mark, seen))}
        if not _is_search(mark, seen, {*risks}):
            yield "submit", f"Enter in {_mark_words(mark)} can send its form"
            yield from risks.items()


def _anywhere_risks(settings: ApprovalSettings, seen: Observation, *, is_enter: bool) -> Iterator[tuple[Risk, str]]:
    """The grave risks of a key whose receiver is not known: it may be pressed on any mark that can have the focus."""
    for mark in seen.marks:
        if mark.kind != "field":
            found = _press_risks(settings, mark, seen)
        elif is_enter:
            found = _form_risks(settings, mark, seen)
        else:
            continue
        for risk, _ in found:
            if risk in _GRAVE:
                yield risk, f"the key goes to whatever has the focus then, which may be {_mark_words(mark)}"


def _form_risks(
    settings: ApprovalSettings, field: Mark, seen: Observation, how: str = "Enter presses"
) -> Iterator[tuple[Risk, str]]:
    """The risks of a click on the first button of the form around a field, but for those that Enter has anyway.

    A form without a button is judged by where it goes and by its heading.
    """
    button = _button_of(field, seen)
    if button is None:
        return
    found = [*_press_risks(settings, button, seen)]
    if not button.name:
        for text in (button.heading, button.title):
            found += _word_risks(settings, text, "it answers")
    whys: dict[Risk, str] = {}
    for risk, why in found:
        if risk != "submit" or not button.state.submits:
            whys.setdefault(risk, _enter_words(button, why, how))
    yield from whys.items()


def _enter_words(button: Mark, why: str, how: str) -> str:
    """Why Enter has a risk, which names the button that it presses: `Enter presses “Pay €14 now”`."""
    if not button.name:
        return f"it sends the form: {why}"
    named = f"{how} “{button.name}”"
    return named if f"“{button.name}”" in why else f"{named}: {why}"


def _button_of(field: Mark, seen: Observation) -> Mark | None:
    """The button that Enter in a field presses in its form; None without a form.

    One that is no mark, because it is out of view or hidden, is judged by what its form says and by what is beside the
    field. A form without a button counts as a button without a name.
    """
    enter = field.enter
    if enter is None:
        return None
    marked = next((each for each in seen.marks if enter.key and each.key == enter.key), None)
    if marked is not None:
        return marked
    words = {"name": enter.name, "shows": enter.shows, "says": enter.says, "tag": enter.tag}
    return field.model_copy(
        update={**words, "role": "button", "kind": "button", "state": MarkState(submits=True), "evidence": ()}
    )


def _beside_risks(settings: ApprovalSettings, field: Mark, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The grave risks of the buttons beside a field without a form: its page may press one of them at Enter.

    These are the nearest button that follows, and all near ones that send something or pay. A search that filters rows
    often stands beside a button that deletes those that are selected.
    """
    is_search = field.state.input_type == "search" or field.role == "searchbox"
    if field.enter is not None or field.source != "dom":
        return
    near = [each for each in seen.marks if is_button(each) and _is_near(field, each)]
    following = [each for each in near if each.box.x >= field.box.x or each.box.y >= field.box.bottom]
    nearest = min(following, key=lambda each: sum(_gaps(field, each)), default=None)
    for button in near:
        for risk, _ in _press_risks(settings, button, seen):
            if risk in ("send", "pay") or (risk in _GRAVE and button is nearest and not is_search):
                yield risk, f"Enter may press “{button.name}” beside it"


def _is_near(field: Mark, button: Mark) -> bool:
    """Whether a button stands right beside a field, or just over or under it, in the same frame and dialog."""
    across, along = _gaps(field, button)
    is_with_it = (field.frame, field.in_dialog) == (button.frame, button.in_dialog) and button.source == "dom"
    return is_with_it and across <= _BESIDE_PX[0] and along <= _BESIDE_PX[1]


def _gaps(mark: Mark, button: Mark) -> tuple[float, float]:
    """How far the boxes of two marks are apart, across and along; 0 where they overlap."""
    one, other = mark.box, button.box
    across = max(one.x - other.right, other.x - one.right, 0.0)
    return across, max(one.y - other.bottom, other.y - one.bottom, 0.0)


def _is_search(field: Mark, seen: Observation, risks: set[Risk]) -> bool:
    """Whether Enter in a field only searches. The page says what a field is for, so its form must look like a search:
    it is sent by GET, takes no card and no password, and names no risk and no amount.
    """
    if field.state.input_type != "search" and field.role != "searchbox":
        return False
    if risks - {"submit"}:
        return False
    if field.enter is None:
        return True
    same = [each for each in seen.marks if each.enter is not None and each.enter.key == field.enter.key]
    cards = risk_words.entries_of(CARD_FIELDS)
    if not field.enter.asks or any(risk_words.says_one_of(each.name, cards) for each in (field, *same)):
        return False
    # Of amounts, those in its form count, which the page is asked about: a shop has prices everywhere.
    said = (field.name, field.title, field.context, field.enter.name, field.enter.says)
    names_amount = any(map(risk_words.has_amount, said))
    return not names_amount and not any(_GRAVE & {*risk_words.risks_in(text)} for text in (*said, field.heading))


def _choice_risks(settings: ApprovalSettings, mark: Mark | None, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks of what keys may choose: any option of a list, any other button of a group, any place on a track."""
    if mark is None:
        return
    names = [*mark.state.options]
    if mark.role == "radio":
        names += [each.name for each in seen.marks if each.role == "radio"]
    elif mark.role == "slider":
        names.append(mark.name)
    for name in dict.fromkeys(names):
        yield from _word_risks(settings, name)


def _drop_risks(settings: ApprovalSettings, drag: Drag, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks of the drop target; at a point, any mark there may be the target."""
    if isinstance(drag.target, Offset):
        start = _page_point(drag.source, seen)
        end = seen.marked.map.to_picture(start) if start else None
        target: Target | None = end and Point(x=end.x + drag.target.right, y=end.y + drag.target.down)
    else:
        target = drag.target
    for mark in _marks_at(target, seen) if target is not None else ():
        if _is_plain_field(mark) or _is_named(mark, settings.harmless):
            continue
        yield from _word_risks(settings, mark.name)
        if risk_words.is_bin(mark.name):
            yield "delete", f"it is dropped on “{mark.name}”"
        elif mark.icon is not None and risk_words.is_bin(mark.icon.name):
            yield "delete", f"it is dropped on what looks like “{mark.icon.name}”"


def _press_risks(settings: ApprovalSettings, mark: Mark | None, seen: Observation) -> Iterator[tuple[Risk, str]]:
    if mark is None or _is_named(mark, settings.harmless):
        return
    if mark.state.submits:
        yield "submit", f"{_mark_words(mark)} sends a form"
    if mark.state.input_type == "file":
        yield "upload", f"{_mark_words(mark)} takes files"
    if not _is_plain_field(mark):
        yield from _text_risks(settings, mark, seen)
    if mark.is_drawn_editor:
        yield from _word_risks(settings, mark.state.value or "")
    if mark.state.leads_to:
        yield from _leave_risks(settings, mark.state.leads_to, seen)


def _text_risks(settings: ApprovalSettings, mark: Mark, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks that all texts about a mark indicate: those that a person reads on it, and those behind it."""
    yield from _answer_risks(settings, mark, seen)
    yield from _amount_risks(settings, mark)
    yield from _word_risks(settings, mark.name)
    yield from _word_risks(settings, mark.says, "it says")
    if is_button(mark) and risk_words.is_named_bin(mark.shows or mark.name):
        yield "delete", f"it is called “{mark.shows or mark.name}”, like a bin"
    if mark.icon is not None:  # a guess, which can only add a risk
        yield from _word_risks(settings, mark.icon.name, "its icon looks like")
    if mark.shows:
        yield "mismatch", f"it is called “{mark.name}” and shows “{mark.shows}”"
    if mark.in_dialog and mark.kind != "field" and not risk_words.is_refusal(mark.shows or mark.name):
        yield from _word_risks(settings, mark.context, "it answers")


def _answer_risks(settings: ApprovalSettings, mark: Mark, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks of what a button called `Yes` agrees to, by the headings over it and the words beside it."""
    if not is_answer(mark):
        return
    over = [] if mark.context and mark.source == "dom" else words_over(mark, seen)
    beside = " ".join(filter(None, [mark.context, *over, *mark.prices]))
    for risk, why in _word_risks(settings, beside, "it answers"):
        if mark.in_dialog or risk in _ANSWERED:
            yield risk, why
    if mark.in_dialog and beside not in settings.harmless and risk_words.has_amount(beside):
        yield "pay", f"it answers “{beside}”"
    ends = risk_words.says_one_of(mark.shows or mark.name, risk_words.entries_of(ENDS_ORDER))
    totals = risk_words.entries_of(TOTALS)
    if ends and risk_words.has_amount(beside) and risk_words.says_one_of(beside, totals):
        yield "pay", f"it answers “{beside}”"
    for heading in (mark.heading, mark.title):
        yield from _word_risks(settings, heading, "it answers")


def _amount_risks(settings: ApprovalSettings, mark: Mark) -> Iterator[tuple[Risk, str]]:
    """The risk of a button whose own words have an amount of money: it may pay it.

    A link may lead to a product of that price, and what is chosen may cost it; these pay only if their words say so.
    """
    if not is_button(mark) or risk_words.only_shows(mark.shows or mark.name):
        return
    for text in (mark.name, mark.shows, mark.says):
        if text not in settings.harmless and risk_words.has_amount(text):
            yield "pay", f"it has an amount in its words, “{text}”"


def is_button(mark: Mark) -> bool:
    """Whether it acts as a button: a form's, a box that takes clicks, or what only calls itself a link."""
    if mark.state.submits:
        return True
    if mark.kind == "link":
        return mark.tag not in ("a", "area")
    if mark.kind == "guess":
        return mark.looks_like == "button"
    return mark.kind == "button" and mark.tag != "summary" and mark.role not in _CHOSEN


def _is_plain_field(mark: Mark) -> bool:
    """Whether a press on it only puts the caret there. The box around a field listens for presses itself."""
    return mark.kind == "field" and not mark.is_drawn_editor and not mark.is_boxed_field


def _is_named(mark: Mark, names: Sequence[str]) -> bool:
    return mark.name.strip().casefold() in {each.strip().casefold() for each in names}


def _word_risks(settings: ApprovalSettings, text: str, how: str = "it is called") -> Iterator[tuple[Risk, str]]:
    """The risks that a text indicates."""
    if not text or text in settings.harmless:
        return
    found = dict.fromkeys(risk_words.risks_in(text))
    for risk, words in settings.words.items():
        if risk_words.says_one_of(text, words):
            found[risk] = None
    for risk in found:
        yield risk, f"{how} “{text}”"


def _leave_risks(settings: ApprovalSettings, host: str, seen: Observation) -> Iterator[tuple[Risk, str]]:
    here = host_of(seen.url)
    is_ours = any(fnmatchcase(host, each.casefold()) for each in settings.hosts)
    if host and here and host != here and host != f"www.{here}" and here != f"www.{host}" and not is_ours:
        yield "leave", f"it leads from {here} to {host}"


def _mark_at(target: Target, seen: Observation) -> Mark | None:
    """The mark of a target; at a point, the innermost one."""
    return next(iter(_marks_at(target, seen)), None)


def _marks_at(target: Target, seen: Observation) -> list[Mark]:
    """The mark that a target names, or all marks at a point, the innermost first."""
    if not isinstance(target, Point):
        mark = seen.known_mark(target.mark if isinstance(target, Cell) else target)
        return [mark] if mark is not None else []
    point = seen.marked.map.to_page(target)
    there = [mark for mark in seen.marks if mark.box.contains(point) and mark.kind not in ("scroller", "surface")]
    return sorted(there, key=lambda mark: mark.box.width * mark.box.height)


def _page_point(target: Target, seen: Observation) -> Point | None:
    if isinstance(target, Point):
        return seen.marked.map.to_page(target)
    mark = _mark_at(target, seen)
    return mark.point if mark is not None else None


def _mark_words(mark: Mark) -> str:
    """A mark as the reason of a risk names it; the decision shown beside it says which of several it is."""
    return f"{mark.tag} “{mark.name}”" if mark.name else mark.tag


Answer = Callable[[Task, Observation, Decision, Sequence[Risky]], Awaitable[Choice | bool | None]]
"""A function that approves decisions. True approves, False stops the run, None means that nobody answered."""


class Answers:
    """An `Approver` made of a function.

    `handed_back` is called after an answer of the kind `take_over`, and returns when the browser is handed back.
    `is_over_when_closed`: closing the window ends such a takeover and the run too, as done.
    """

    wants_to_be_asked: bool = False

    def __init__(
        self,
        answer: Answer,
        handed_back: Callable[[], Awaitable[None]] | None = None,
        *,
        is_over_when_closed: bool = False,
    ) -> None:
        self.is_over_when_closed = is_over_when_closed
        self._answer = answer
        self._handed_back = handed_back

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """The function's answer.

        Raises:
            UsageError: it is no answer.
        """
        name = getattr(self._answer, "__name__", type(self._answer).__name__)
        given: Any = self._answer(task, observation, decision, risks)
        if not isawaitable(given):
            raise UsageError(f"{name} is not async", f"write async def {name}(…)")
        choice: Any = await given
        if isinstance(choice, bool):
            return Choice(kind="approve" if choice else "stop")
        if choice is None or isinstance(choice, Choice):
            return choice
        if iscoroutine(choice):
            choice.close()
            raise UsageError(f"{name} is async", f"write def {name}(…), without async")
        what = repr(choice)[:80] if isinstance(choice, str | int) else f"a {type(choice).__name__}"
        raise UsageError(
            f"{name} returned {what}", 'return True, False, or a Choice such as Choice(kind="instruct", text="…")'
        )

    async def handed_back(self) -> None:
        """Returns when the browser is handed back; without a function at once: the person was done on answering."""
        if self._handed_back is not None:
            await self._handed_back()

"""Which decisions need a person's approval, and `Answers`, an approver made from a function.

Risks follow from the decision and the observation alone, without a request and without asking a model.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
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
from vision_agent.observation import Mark, Observation
from vision_agent.policy import risk_words
from vision_agent.policy.enter_risks import KeyFocus, button_of, enter_risks, form_risks
from vision_agent.policy.press_risks import (
    dialog_risks,
    is_button,
    is_named,
    is_plain_field,
    leave_risks,
    mark_words,
    press_risks,
    word_risks,
)
from vision_agent.policy.shortcuts import pressed_by_shortcut
from vision_agent.settings import ApprovalSettings
from vision_agent.text.urls import host_of, resolve_url
from vision_agent.types import RISKS, Choice, Decision, Risk, Risky, Task

_ENTER = re.compile(r"Enter|NumpadEnter|\n|\r")
_PRESSING = re.compile(r"Enter|NumpadEnter|Space| |\n|\r")
_DELETING = re.compile(r"Delete|Backspace")
_MOVES_FOCUS = re.compile(r"Tab|F6|Arrow\w+")
_CHOOSING = re.compile(r"Arrow\w+|Home|End|Page\w+|.")
"""Keys that choose in a list, a group or on a track: lists also go to the option that begins with a letter."""


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
    focus = KeyFocus(next((mark for mark in observation.marks if mark.state.focused), None))
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
        pressed.append((is_sent and button_of(mark, observation)) or mark)
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
    return {risk for risk, _ in word_risks(ApprovalSettings(), name)}


def is_risky_question(settings: ApprovalSettings, text: str) -> bool:
    """Whether a person must approve before a dialog that asks this is accepted."""
    if settings.ask == "never":
        return False
    if settings.ask == "always" or len(text) > risk_words.LONGEST:  # what comes after that is not judged
        return True
    return any(risk in settings.risks for risk, _ in dialog_risks(settings, text))


def only_looks(action: Action) -> bool:
    """Whether a dry run may carry out an action: it only moves the view or the pointer, waits, or reads."""
    return action.traits.only_looks


def words_of(risks: Sequence[Risky]) -> str:
    """The risks in one line, for a person, such as `pay: it is called “Pay now”; submit: button sends a form`."""
    return "; ".join(f"{each.risk}: {each.why}" for each in risks)


def _focus_after(action: Action, before: KeyFocus, seen: Observation) -> KeyFocus:
    """The focus after an action, as far as it is known without carrying the action out."""
    if isinstance(action, Press) and _has_key(_MOVES_FOCUS, action):
        return KeyFocus(None, is_known=False)
    touched = targets_of(action)
    if action.traits.only_looks or not touched:
        return before
    mark = _mark_at(touched[-1], seen)
    return KeyFocus(mark, is_known=mark is not None)


def _action_risks(
    settings: ApprovalSettings, action: Action, seen: Observation, focus: KeyFocus
) -> Iterator[tuple[Risk, str]]:
    if not action.traits.is_classified:
        yield "unclassified", f"the risks of {action.kind} are not declared"
        return
    for changed in marks_of(action, seen):
        if _is_sent_by(action, changed):
            yield "submit", f"a change of {mark_words(changed)} sends its form"
            yield from form_risks(settings, changed, seen, "it sends the form of")
    if isinstance(action, Press):
        yield from _shortcut_risks(settings, action, focus, seen)
    match action:
        case Upload():
            yield "upload", f"it gives {', '.join(action.files)} to the page"
        case Goto() | OpenTab():
            yield from leave_risks(settings, host_of(resolve_url(seen.url, action.url)), seen)
        case Reload() | Back() | Forward() if seen.answers_form:
            yield "submit", "the page is the response to a form, which may be sent again"
        case Custom():
            yield from _custom_action_risks(settings, action)
        case Click() | DoubleTap() | Hold():
            yield from press_risks(settings, _mark_at(action.target, seen), seen)
            if isinstance(action.target, Cell):
                yield from word_risks(settings, seen.cell_texts.get(action.target, ""))
        case Check():
            mark = seen.known_mark(action.mark)
            yield from press_risks(settings, mark, seen)
            yield from word_risks(settings, mark.name if mark else "")
        case Select():
            for option in action.options:
                yield from word_risks(settings, option)
        case Drag():
            yield from _drop_risks(settings, action, seen)
        case Press() if _has_key(_PRESSING, action):
            yield from enter_risks(settings, _focus_of(action, focus, seen), seen, is_enter=_has_key(_ENTER, action))
        case Press() if _has_key(_DELETING, action):
            at = _focus_of(action, focus, seen)
            if not at.is_known or at.mark is None or not is_plain_field(at.mark):
                yield "delete", f"{action.keys} outside a text field can delete what is selected"
        case Press() if _has_key(_CHOOSING, action):
            yield from _choice_risks(settings, _focus_of(action, focus, seen).mark, seen)
        case Type():
            mark = _mark_at(action.target, seen)
            yield from _choice_risks(settings, mark, seen)
            # In a multi-line field a line break is typed as Enter, at which a chat sends its message.
            breaks = any(each in action.text for each in "\r\n") and (mark is None or mark.tag != "input")
            if action.submit or breaks:
                yield from enter_risks(settings, KeyFocus(mark), seen, is_enter=True)
        case Set():
            mark = seen.known_mark(action.mark)
            if mark is not None and mark.role == "slider":  # some are moved to confirm
                yield from word_risks(settings, mark.name)
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


def _focus_of(press: Press, before: KeyFocus, seen: Observation) -> KeyFocus:
    """What gets the keys: the target, or else what has the focus before."""
    return before if press.target is None else KeyFocus(_mark_at(press.target, seen))


def _shortcut_risks(
    settings: ApprovalSettings, press: Press, before: KeyFocus, seen: Observation
) -> Iterator[tuple[Risk, str]]:
    """The risks of the marks whose shortcut these keys are, as the page says; a letter in a text field is typed."""
    at = _focus_of(press, before, seen).mark
    for mark in pressed_by_shortcut(press.keys, seen, is_typing=at is not None and is_plain_field(at)):
        for risk, why in press_risks(settings, mark, seen):
            yield risk, f"{press.keys} presses {mark_words(mark)}, and {why}"


def _has_key(kind: re.Pattern[str], action: Press) -> bool:
    """Whether one of the keys is of a kind: all of them go down, whatever their order."""
    return any(kind.fullmatch(key) for key in chord_keys(action.keys))


def _custom_action_risks(settings: ApprovalSettings, action: Custom) -> Iterator[tuple[Risk, str]]:
    if action.name in settings.harmless:
        return
    yield from word_risks(settings, action.name.replace("_", " "))
    if action.risks is None:
        yield "unclassified", f"{action.name} does not declare its risks"
    for risk in RISKS:
        if risk in (action.risks or ()):
            yield risk, f"{action.name} declares this risk"


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
        yield from word_risks(settings, name)


def _drop_risks(settings: ApprovalSettings, drag: Drag, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks of the drop target; at a point, any mark there may be the target.

    What is slid or swiped may do what it says: a slider wherever it goes, anything else if it is moved by a distance,
    and a button also to a point. A card that is dropped on a column is only moved.
    """
    moved = _mark_at(drag.source, seen)
    if moved is not None and _acts_when_slid(moved, drag) and not is_named(moved, settings.harmless):
        for text in dict.fromkeys((moved.name, moved.shows, moved.says)):
            yield from word_risks(settings, text, "what is dragged says")
    if isinstance(drag.target, Offset):
        start = _page_point(drag.source, seen)
        end = seen.marked.map.to_picture(start) if start else None
        target: Target | None = end and Point(x=end.x + drag.target.right, y=end.y + drag.target.down)
    else:
        target = drag.target
    for mark in _marks_at(target, seen) if target is not None else ():
        if is_plain_field(mark) or is_named(mark, settings.harmless):
            continue
        yield from word_risks(settings, mark.name)
        if risk_words.is_bin(mark.name):
            yield "delete", f"it is dropped on “{mark.name}”"
        elif mark.icon is not None and risk_words.is_bin(mark.icon.name):
            yield "delete", f"it is dropped on what looks like “{mark.icon.name}”"


def _acts_when_slid(mark: Mark, drag: Drag) -> bool:
    if is_plain_field(mark) and mark.role != "slider":
        return False
    is_moved = isinstance(drag.target, Offset) or (isinstance(drag.target, Point) and is_button(mark))
    return mark.role == "slider" or is_moved


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
        if isinstance(choice, Choice) and choice.kind == "replace" and not choice.actions:
            raise UsageError(
                f"{name} replaced what was proposed by nothing",
                'give actions=(…,) to do instead, or return Choice(kind="instruct", text="…") or False',
            )
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

"""A takeover: a person drives the browser, and each of their actions becomes a step of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from vision_agent.actions import Action, Click, Finish, Press, Type
from vision_agent.describe.action_sentences import BY_HAND
from vision_agent.events import Intended
from vision_agent.journal import Journal
from vision_agent.observation import Mark, Observation
from vision_agent.ports import Approver, Browser
from vision_agent.types import Approval, Decision, Ending, ManualAction, Step, Task

_PRESSED_BY = {
    "Enter": ("button", "link", "menuitem", "tab"),
    "Space": ("button", "menuitem", "tab", "checkbox", "radio", "switch"),
}
"""The roles of what a key presses as a click does."""
_LED_ON = frozenset({"navigated", "same_document", "new_tab", "download"})
"""Effects that show that a form was sent."""


async def take_over(browser: Browser, approver: Approver, journal: Journal, wait_s: float) -> Ending | None:
    """Records what a person does until they hand the browser back; returns the run's ending if they do not."""
    # An approver from elsewhere may not have it.
    is_recording = getattr(approver, "is_over_when_closed", False)
    try:
        async with (
            asyncio.timeout(wait_s),
            aclosing(browser.manual_actions(approver.handed_back, is_over_when_closed=is_recording)) as doing,
        ):
            async for done in doing:
                _record(done, journal)
                if isinstance(done.action, Finish):
                    return _closed(journal.task)
    except TimeoutError:
        sentence = f"A person took over the browser and did not hand it back within {wait_s:g} s."
        return Ending(status="needs_person", sentence=sentence)
    return None


def _closed(task: Task) -> Ending:
    if task.checks:
        sentence = "The window was closed before it could be checked whether the task is done."
        return Ending(status="not_done", sentence=sentence)
    return Ending(status="done", sentence="The task is done: the window was closed.")


def last_takeover(steps: Sequence[Step]) -> tuple[Step, ...] | None:
    """What a person did by hand after they took over instead of the last decision; None if they did not."""
    rest = list(steps)
    by_hand: list[Step] = []
    while rest and rest[-1].is_by_hand:
        by_hand.append(rest.pop())
    if not rest or not is_taken_over(rest[-1].approval):
        return None
    return tuple(reversed(by_hand))


def did_by_hand(step: Step, actions: Sequence[Action], earlier: Sequence[Step] = ()) -> bool:
    """Whether a step of a person did these actions: a click also by a key, by Enter in a field of its form, or more
    than once, and a text also with Enter after it. `earlier`: their steps before that one.
    """
    done = step.decision.actions
    if done == tuple(actions):
        return True
    if len(done) != 1 or len(actions) != 1:
        return False
    (by_hand,), (action,) = done, actions
    pressed = _button_pressed_by(by_hand, step.observation)
    if pressed and pressed == _button_pressed_by(action, step.observation):
        return _holds_text(action, step, earlier) and not _may_only_have_chosen(by_hand, step)
    match by_hand, action:
        case Click(), Click():
            return by_hand.count > action.count and by_hand.model_copy(update={"count": action.count}) == action
        case Type(submit=True), Type(submit=False):
            return by_hand.model_copy(update={"submit": False}) == action
    return False


def _button_pressed_by(action: Action, seen: Observation) -> str:
    """The page's key, or else the number, of what an action presses; empty if it presses nothing that is known."""
    match action:
        case Click(target=int(number), button="left", count=1, modifiers=()):
            return _key_of(number, seen)
        case Press(target=int(number), keys=keys):
            mark = seen.known_mark(number)
            if mark is not None and mark.role in _PRESSED_BY.get(keys, ()):
                return _key_of(number, seen)
            is_one_line = mark is not None and mark.tag == "input"
            return _button_of_form(mark) if keys == "Enter" and is_one_line else ""
        case Type(target=int(number), submit=True):
            return _button_of_form(seen.known_mark(number))
    return ""


def _key_of(number: int, seen: Observation) -> str:
    mark = seen.known_mark(number)
    return (mark.key or f"mark {number}") if mark is not None else ""


def _button_of_form(field: Mark | None) -> str:
    """The key of the button that Enter in a field presses; empty if that is not known."""
    return field.enter.key if field is not None and field.enter is not None else ""


def _holds_text(action: Action, step: Step, earlier: Sequence[Step]) -> bool:
    """Whether the field that an action types into held that text when a person did a step; True for other actions."""
    if not isinstance(action, Type) or not isinstance(action.target, int):
        return True
    for by_hand in (each for before in reversed(earlier) for each in before.decision.actions):
        if isinstance(by_hand, Type) and by_hand.target == action.target:
            return by_hand.text == action.text
    field = step.observation.known_mark(action.target)
    return field is not None and field.state.value == action.text


def _may_only_have_chosen(action: Action, step: Step) -> bool:
    """Whether Enter may have taken an entry of the list under a field and sent nothing."""
    if not isinstance(action, Press | Type) or not isinstance(action.target, int):
        return False
    mark = step.observation.known_mark(action.target)
    has_list = mark is not None and (mark.role == "combobox" or mark.state.expanded is True)
    return has_list and not any(outcome.effect in _LED_ON for outcome in step.outcomes)


def is_taken_over(approval: Approval | None) -> bool:
    """Whether the person who was asked took over the browser."""
    return approval is not None and approval.choice is not None and approval.choice.kind == "take_over"


def _record(done: ManualAction, journal: Journal) -> None:
    """Records a step like any other, except that it happened before it was recorded."""
    index = journal.index
    actions = (done.action,) if done.action is not None else ()
    decision = Decision(author="human", next_goal=f"{BY_HAND}{done.words}", actions=actions)
    journal.record_observation(done.observation)
    journal.record_decision(decision)
    if done.action is not None and done.outcome is not None:
        journal.write(Intended(step=index, index=0, action=done.action))
        journal.record_outcome(done.outcome)
    journal.add_step(
        Step(
            index=index,
            observation=done.observation,
            decision=decision,
            outcomes=tuple(journal.outcomes),
            started_at=done.started_at,
            seconds=done.seconds,
        )
    )

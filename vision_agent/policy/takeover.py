"""A takeover: a person drives the browser, and each of their actions becomes a step of the run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from vision_agent.actions import Action, Click, Finish, Press
from vision_agent.describe.action_sentences import BY_HAND
from vision_agent.events import Intended
from vision_agent.journal import Journal
from vision_agent.ports import Approver, Browser
from vision_agent.types import Approval, Decision, Ending, ManualAction, Step, Task

_PRESSED_BY = {
    "Enter": ("button", "link", "menuitem", "tab"),
    "Space": ("button", "menuitem", "tab", "checkbox", "radio", "switch"),
}
"""The roles of what a key presses as a click does."""


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


def taken_over_last(steps: Sequence[Step]) -> tuple[Step, ...] | None:
    """What a person did by hand after they took over instead of the last decision; None if they did not."""
    rest = list(steps)
    by_hand: list[Step] = []
    while rest and rest[-1].is_by_hand:
        by_hand.append(rest.pop())
    if not rest or not is_taken_over(rest[-1].approval):
        return None
    return tuple(reversed(by_hand))


def did_by_hand(step: Step, actions: Sequence[Action]) -> bool:
    """Whether a step of a person did these actions, a click also by a key or more than once."""
    done = step.decision.actions
    if done == tuple(actions):
        return True
    match (done, tuple(actions)):
        case ((Press(target=int(pressed), keys=keys),), (Click(target=target, button="left", modifiers=()),)):
            mark = step.observation.known_mark(pressed)
            return pressed == target and mark is not None and mark.role in _PRESSED_BY.get(keys, ())
        case ((Click() as by_hand,), (Click() as click,)):
            return by_hand.count > click.count and by_hand.model_copy(update={"count": click.count}) == click
    return False


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

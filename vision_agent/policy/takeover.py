"""A takeover: a person drives the browser, and each of their actions becomes a step of the run."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from vision_agent.events import Intended
from vision_agent.journal import Journal
from vision_agent.ports import Approver, Browser
from vision_agent.types import Decision, Ending, ManualAction, Step


async def take_over(browser: Browser, approver: Approver, journal: Journal, wait_s: float) -> Ending | None:
    """Records what a person does until they hand the browser back; returns the run's ending if they do not."""
    try:
        async with (
            asyncio.timeout(wait_s),
            aclosing(browser.manual_actions(approver.handed_back)) as doing,
        ):
            async for done in doing:
                _record(done, journal)
    except TimeoutError:
        sentence = f"A person took over the browser and did not hand it back within {wait_s:g} s."
        return Ending(status="needs_person", sentence=sentence)
    return None


def _record(done: ManualAction, journal: Journal) -> None:
    """Records a step like any other, except that it happened before it was recorded."""
    index = journal.index
    actions = (done.action,) if done.action is not None else ()
    decision = Decision(author="human", next_goal=f"By hand: {done.words}", actions=actions)
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

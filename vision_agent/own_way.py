"""What the loop decides by itself: out of a standstill, past a captcha, and back to what a page lost.

Knows steps and observations; asks no model and touches no page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from vision_agent import standstill, walls
from vision_agent.actions import Action, Ask, Goto, Wait
from vision_agent.again import NotAsRecorded, actions_again
from vision_agent.cut_off import Lost
from vision_agent.standstill import Standstill
from vision_agent.types import Decision, Observation, Step, Task

_LETS_THROUGH_S = 8.0
"""For a captcha that lets a browser through by itself, if it does at all."""


class OwnWay:
    """One run's. A way may take several steps; `tell` is told why one ended early."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._path: tuple[Step, ...] = ()
        """Recorded steps that are still to be taken again, on the way back to an earlier state."""
        self._lost: Lost | None = None
        """What the page lost while the run was cut off, until it is put in again or somebody knows."""

    def make_good(self, lost: Lost) -> None:
        """Put in again what the page lost, where that may be done, and else say so, in the next steps."""
        self._path, self._lost = lost.again, lost

    def decide(self, task: Task, steps: Sequence[Step], observation: Observation, still: Standstill) -> Decision | None:
        """What is to be done here without asking; None where whoever decides is to."""
        return (
            self._on_the_way_back(steps, observation)
            or self._at_a_loss(steps)
            or self._out_of(still, task.limits.standstill)
            or _at_wall(task, steps, observation)
        )

    def _out_of(self, still: Standstill, most: int) -> Decision | None:
        """Where hints have not helped: nothing more, or back to an earlier state."""
        if still.times >= most:
            return Decision(author="loop", next_goal="Stop: this leads nowhere")
        if still.times < standstill.BACK or still.back is None or still.was_taken_back:
            return None
        self._path = still.back.steps
        goal = f"Leave a standstill of {still.times} steps: back to an earlier {'state' if self._path else 'page'}"
        return Decision(author="loop", next_goal=goal, actions=(Goto(url=still.back.address),))

    def _on_the_way_back(self, steps: Sequence[Step], observation: Observation) -> Decision | None:
        """The next step of the recorded path, where what it was about is here; else whoever decides goes on."""
        if not self._path:
            return None
        if _is_barred(steps):
            self._leave()
            return None
        step, *rest = self._path
        self._path = tuple(rest)
        try:
            actions = actions_again(step, observation)
        except NotAsRecorded as error:
            self._leave()
            self._tell(f"The way back to an earlier state ends here: {error}.")
            return None
        goal = f"On the way back: what was done in step {step.index}"
        return Decision(author="loop", next_goal=goal, actions=actions)

    def _leave(self) -> None:
        self._path = ()
        self._lost = replace(self._lost, again=()) if self._lost else None

    def _at_a_loss(self, steps: Sequence[Step]) -> Decision | None:
        """Says once what the page lost while the run was cut off, unless it was put in again."""
        lost = self._lost
        if lost is None or self._path:
            return None
        self._lost = None
        if lost.again and not _is_barred(steps):
            return None
        ask = Ask(question=f"{lost.sentence}. Put it in again, or stop the run.")
        return Decision(author="loop", next_goal=lost.sentence, actions=(ask,) if lost.must_be_asked else ())


def _is_barred(steps: Sequence[Step]) -> bool:
    """Whether the last step on the way was refused, or cut off half-way."""
    last = steps[-1]
    return last.decision.author == "loop" and any(outcome.status != "done" for outcome in last.outcomes)


def _at_wall(task: Task, steps: Sequence[Step], observation: Observation) -> Decision | None:
    """Where a page is nothing but a captcha: a moment, for some let a browser through, and then a person, once."""
    wall = next((each for each in walls.walls_in(task, observation) if each.is_whole), None)
    ours = [step for step in steps if step.decision.author == "loop"]
    here = [step for step in ours if step.observation.url == observation.url]
    # A solved captcha goes on showing: whoever decides has the next word.
    if wall is None or any(isinstance(action, Ask) for step in here for action, _ in step.carried_out):
        return None
    has_waited = any(isinstance(action, Wait) for step in here for action in step.decision.actions)
    action: Action = Wait(seconds=_LETS_THROUGH_S, change=True)
    if has_waited:
        action = Ask(question=wall.question(observation))
    return Decision(author="loop", next_goal=f"Get past the {wall.called} with a person", actions=(action,))

"""What the loop decides on its own: leaving a stall, passing a captcha, and restoring what a page lost.

Knows steps and observations; asks no model and touches no page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from vision_agent.actions import Action, Ask, Goto, Wait
from vision_agent.observation import Observation
from vision_agent.policy import blockers, stall
from vision_agent.policy.interrupted import Lost
from vision_agent.policy.rebind import RebindError, rebind_actions
from vision_agent.policy.stall import Stall
from vision_agent.types import Decision, Step, Task

_WHAT_NOW = "Do it again first if you can reach the browser; then answer anything to go on, or stop the run."
_LETS_THROUGH_S = 8.0
"""How long to wait for a captcha that may let the browser through on its own."""


class RecoveryPolicy:
    """The recovery decisions of one run. A way back may take several steps; `tell` gets the reason if it ends early."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._path: tuple[Step, ...] = ()
        """Recorded steps still to be repeated on the way back to an earlier state."""
        self._lost: Lost | None = None
        """The entries that the page lost while the run was interrupted, until they are restored or reported."""

    def restore_or_report(self, lost: Lost) -> None:
        """Restores the lost entries in the next steps if that is allowed, and otherwise reports them."""
        self._path, self._lost = lost.again, lost

    def decide(self, task: Task, steps: Sequence[Step], observation: Observation, stalled: Stall) -> Decision | None:
        """The loop's own decision; None if the model is to decide."""
        return (
            self._step_back(steps, observation)
            or self._report_lost(steps)
            or self._leave_stall(stalled, task.limits.stall)
            or _pass_captcha(task, steps, observation)
        )

    def _leave_stall(self, stalled: Stall, most: int) -> Decision | None:
        """Goes back to an earlier state, or in the end stops, when hints have not helped."""
        if stalled.times >= most:
            return Decision(author="loop", next_goal=f"Stop: the last {stalled.times} steps led nowhere")
        if stalled.times < stall.BACK or stalled.back is None or stalled.was_taken_back:
            return None
        self._path = stalled.back.steps
        goal = f"Leave a stall of {stalled.times} steps: back to an earlier {'state' if self._path else 'page'}"
        return Decision(author="loop", next_goal=goal, actions=(Goto(url=stalled.back.address),))

    def _step_back(self, steps: Sequence[Step], observation: Observation) -> Decision | None:
        """The next step of the recorded path; None if there is none or its targets are not on the page."""
        if not self._path:
            return None
        if _was_stopped(steps):
            self._end_way_back()
            return None
        step, *rest = self._path
        self._path = tuple(rest)
        try:
            actions = rebind_actions(step, observation)
        except RebindError as error:
            self._end_way_back()
            self._tell(f"The way back to an earlier state ends here: {error}.")
            return None
        goal = f"On the way back: what was done in step {step.index}"
        return Decision(author="loop", next_goal=goal, actions=actions)

    def _end_way_back(self) -> None:
        self._path = ()
        self._lost = replace(self._lost, again=()) if self._lost else None

    def _report_lost(self, steps: Sequence[Step]) -> Decision | None:
        """Reports once what the page lost while the run was interrupted, unless it was restored."""
        lost = self._lost
        if lost is None or self._path:
            return None
        self._lost = None
        if lost.again and not _was_stopped(steps):
            return None
        ask = Ask(question=f"{lost.sentence}. {_WHAT_NOW}")
        return Decision(author="loop", next_goal=lost.sentence, actions=(ask,) if lost.must_be_asked else ())


def _was_stopped(steps: Sequence[Step]) -> bool:
    """Whether the loop's last step, such as one on the way back, was refused or only partly done."""
    last = steps[-1]
    return last.decision.author == "loop" and any(outcome.status != "done" for outcome in last.outcomes)


def _pass_captcha(task: Task, steps: Sequence[Step], observation: Observation) -> Decision | None:
    """On a page that is nothing but a captcha: waits, as some let the browser through, then asks a person once."""
    captcha = next((each for each in blockers.blockers_in(task, observation) if each.is_whole), None)
    ours = [step for step in steps if step.decision.author == "loop"]
    here = [step for step in ours if step.observation.url == observation.url]
    # A solved captcha may stay visible: after asking once, the model decides.
    if captcha is None or any(isinstance(action, Ask) for step in here for action, _ in step.carried_out):
        return None
    has_waited = any(isinstance(action, Wait) for step in here for action in step.decision.actions)
    action: Action = Wait(seconds=_LETS_THROUGH_S, change=True)
    if has_waited:
        action = Ask(question=captcha.question(observation))
    return Decision(author="loop", next_goal=f"Get past the {captcha.words} with a person", actions=(action,))

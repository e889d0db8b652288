"""Recorded decisions are a model: those of an earlier run are made again, through the ordinary loop and ladder.

Where one cannot be made without a guess it stops and says why; whoever is to go on then goes on from there, or heals
that one step, and where there is nobody the run ends as not done. It knows steps, not where they were kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.actions import Finish, Wait
from vision_agent.again import NotAsRecorded, actions_again, carried_out
from vision_agent.models.heal import Healer
from vision_agent.models.steps import LOOKS_AGAIN
from vision_agent.ports import Model
from vision_agent.types import Decision, Observation, Step, Task


class ReplayedModel:
    """Makes the decisions of these recorded steps again, one a step, and then lets another go on.

    Each action that was carried out is meant again for the thing that its fingerprint names, a unique match. What was
    refused then is left out, and so is what the loop did by itself: it does so again where that is needed. `run` is the
    id of the run that the steps are of; each decision is told by it and the step's number. With a `healer` a step that
    cannot be made again is decided by that, and the next one is a recorded one again. One of these is for one run.
    """

    def __init__(
        self, steps: Sequence[Step], *, run: str = "", then: Model | None = None, healer: Healer | None = None
    ) -> None:
        self.name = "replay"
        self.taken: dict[int, int] = {}
        """Of each step of this run in which one of the record was taken again, which; by their numbers."""
        self.stopped = False
        """Whether the record was left before its end."""
        self._run = run
        self._then = then
        self._healer = healer
        self._left = [step for step in steps if _is_to_be_repeated(step, has_next=then is not None)]
        self._recorded = len(self._left)
        self._looked_again = 0
        self._tried: Step | None = None
        """The recorded step that was decided again last."""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The next recorded decision; why it cannot be made; or that of whoever goes on.

        Raises:
            FormatError, ModelUnavailable: whoever goes on raises it.
        """
        tried, refused = self._tried, self._refusal(steps)
        if tried is not None and refused:
            if self._healer is None or _ends_the_run(tried):
                return self._stopped(refused)
            here = next(each for each in reversed(steps) if each.decision.author == "replay")
            self._healer.begin(tried, refused, steps, tried=here)
        if self._healer is not None and self._healer.is_at_work:
            healed = await self._healer.decide(task, steps, observation, complaint)
            if healed is not None:
                return healed
        if not self._left:
            if self._then is not None:
                return await self._then.decide(task, steps, observation, complaint=complaint)
            why = f"all {self._recorded} recorded steps were taken, and none of them ends the task"
            return self._stopped(why, is_early=False)
        step = self._left[0]
        decision = self._again(step, observation, steps)
        if decision is not None:
            return decision
        assert self._healer is not None
        healed = await self._healer.decide(task, steps, observation, complaint)
        assert healed is not None  # it has only just begun
        return healed

    def _again(self, step: Step, observation: Observation, steps: Sequence[Step]) -> Decision | None:
        """The recorded decision, or why it is not made; None where it is to be healed."""
        try:
            actions = actions_again(step, observation)
        except NotAsRecorded as error:
            # A record is played faster than a model had thought.
            if self._looked_again < len(LOOKS_AGAIN):
                pause = Wait(seconds=LOOKS_AGAIN[self._looked_again])
                self._looked_again += 1
                goal = f"Look again for what step {step.index} of the record was about: {error}"
                return Decision(author="replay", next_goal=goal, actions=(pause,), reply_id=self._id(step))
            why = f"step {step.index} of the record does not fit this page: {error}"
            if self._healer is None or _ends_the_run(step):
                return self._stopped(why)
            self._left.pop(0)
            self._looked_again = 0
            self._healer.begin(step, why, steps)
            return None
        self._left.pop(0)
        self._looked_again = 0
        self._tried = step
        self.taken[len(steps) + 1] = step.index
        said = step.decision
        return Decision(
            author="replay",
            judgement=said.judgement,
            memory=said.memory,
            next_goal=said.next_goal,
            summary=said.summary,
            actions=actions,
            reply_id=self._id(step),
        )

    def _refusal(self, steps: Sequence[Step]) -> str:
        """Why what was tried last did not go as it did in the record; empty where it did."""
        ours = [step for step in steps if step.decision.author == "replay"]
        tried, self._tried = self._tried, None
        if tried is None or not ours:
            return ""
        refused = next((each for each in ours[-1].outcomes if each.status != "done"), None)
        if refused is None:
            return ""
        became = "cut off half-way" if refused.status == "partial" else "refused"
        return f"step {tried.index} of the record was {became} here: {refused.sentence.rstrip('.')}"

    def _stopped(self, why: str, *, is_early: bool = True) -> Decision:
        self.stopped = self.stopped or is_early
        self._left = []
        if self._then is None:
            said = (
                f"The recorded steps were not all repeated: {why}." if self._recorded else f"Nothing to repeat: {why}."
            )
            return Decision(author="replay", next_goal="Stop", actions=(Finish(success=False, answer=said),))
        # A step of its own, without an action: it stands in the record, on the terminal, and in what a model is told.
        return Decision(author="replay", next_goal=f"Go on from here without the record: {why}")

    def _id(self, step: Step) -> str:
        return f"{self._run}:{step.index}"


def _ends_the_run(step: Step) -> bool:
    return any(action.kind in ("finish", "infeasible") for action in carried_out(step))


def _is_to_be_repeated(step: Step, *, has_next: bool) -> bool:
    """Whether a step did something; one that ended the run is no beginning of another."""
    return bool(carried_out(step)) and step.decision.author != "loop" and not (_ends_the_run(step) and has_next)

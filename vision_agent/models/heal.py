"""Asks a model for one step of a record that cannot be repeated, until that step is done or cannot be.

Knows steps and a model; what makes a step unrepeatable, and where repairs are kept, is known elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vision_agent.actions import Finish, Infeasible
from vision_agent.models.fill import as_data, as_line, fill
from vision_agent.ports import Model
from vision_agent.types import CAME_TO_NOTHING, Decision, Observation, Step, Task

TRIES = 5
"""Answers for one step; one that needs more is no repair."""


@dataclass
class Healing:
    """One step of the record, and what is done in its place."""

    step: Step
    why: str
    """It could not be repeated."""
    live: list[int] = field(default_factory=list)
    """The steps of this run that do it, by their numbers: what of it was repeated, then what was decided anew."""
    is_done: bool = False


class Healer:
    """Decides in place of recorded steps, one at a time. One of these is for one run.

    A model that says `finish` after its actions says that the step is done with them; that ends no run. A step counts
    as done when it was said so and every action was carried out and changed something.
    """

    def __init__(self, model: Model) -> None:
        self.healings: list[Healing] = []
        """All that was tried, in order."""
        self._model = model
        self._now: Healing | None = None
        self._begins = 0
        """How many steps this run had when the step that is being healed broke."""
        self._asked = 0
        self._is_said_done = False

    @property
    def is_at_work(self) -> bool:
        return self._now is not None

    def begin(self, step: Step, why: str, steps: Sequence[Step], *, tried: Step | None = None) -> None:
        """Take over a step of the record; `tried` is the step of this run that took it again: a part may be done."""
        self._now = Healing(step, why, [tried.index] if tried else [])
        self._begins = tried.index - 1 if tried else len(steps)
        self._asked, self._is_said_done = 0, False
        self.healings.append(self._now)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, complaint: str
    ) -> Decision | None:
        """What to do for the step now; None once it is done.

        Raises:
            FormatError, ModelUnavailable: the model raises it.
        """
        assert self._now is not None
        if self._is_said_done and _went_well(steps[self._now.live[-1] - 1]):
            self._now.is_done, self._now = True, None
            return None
        if self._asked >= TRIES:
            return self._given_up(f"{TRIES} answers of the model did not do it")
        asked = _asked_for(task, self._now)
        since = [step for step in steps[self._begins :] if step.decision.author != "loop"]
        log = (_as_recorded(self._now), *since)
        decision = await self._model.decide(asked, log, observation, complaint=complaint)
        self._asked += 1
        return self._as_of_one_step(decision, len(steps) + 1)

    def _as_of_one_step(self, decision: Decision, number: int) -> Decision:
        """The decision without an end of the run in it, where it only ends the step."""
        assert self._now is not None
        acts = tuple(each for each in decision.actions if not isinstance(each, Finish | Infeasible))
        last = decision.actions[-1] if len(acts) < len(decision.actions) else None
        if isinstance(last, Infeasible) or (isinstance(last, Finish) and not last.success):
            why = last.reason if isinstance(last, Infeasible) else last.answer
            said = self._given_up(f"the model says that it cannot be done: {why.rstrip('.') or 'without a reason'}")
            return decision.model_copy(update={"actions": said.actions})
        self._is_said_done = last is not None
        self._now.live.append(number)
        return decision.model_copy(update={"actions": acts})

    def _given_up(self, why: str) -> Decision:
        assert self._now is not None
        step, self._now = self._now, None
        said = f"Step {step.step.index} of the record could not be healed: {why}. It broke because: {step.why}."
        return Decision(author="replay", next_goal="Stop", actions=(Finish(success=False, answer=said),))


def _asked_for(task: Task, healing: Healing) -> Task:
    goal = fill(
        "heal",
        goal=as_data(task.goal.strip()),
        step_goal=as_line(healing.step.decision.next_goal) or "none was recorded; the log shows what was done",
    )
    # What must hold at the end of the run is none of this step's business, and what a person said was said to the run.
    return task.model_copy(update={"goal": goal, "checks": (), "answer_schema": None, "messages": (), "pictures": ()})


def _as_recorded(healing: Healing) -> Step:
    """The step for the log. Why it broke quotes the page, so it stands where a model takes what it reads for data."""
    told = healing.step.decision.model_copy(update={"summary": f"On the page of today {healing.why}."})
    return healing.step.model_copy(update={"decision": told})


def _went_well(step: Step) -> bool:
    return all(each.status == "done" and each.effect not in CAME_TO_NOTHING for each in step.outcomes)

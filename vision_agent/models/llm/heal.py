"""Heals broken steps of a replay: asks a model to do one recorded step that cannot be repeated.

Owns the healing of one step at a time, until it is done or the model gives up. It does not decide which steps are
broken (`offline.replayed`) and does not store repairs (`replay.patch`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vision_agent.actions import Finish, Infeasible
from vision_agent.models.prompt.templates import as_data, as_line, fill
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.types import FAILED_EFFECTS, Decision, Step, Task

TRIES = 5
"""The most replies for one step; healing that needs more has failed."""


@dataclass
class Healing:
    """One broken step of the record, and the steps taken in its place."""

    step: Step
    why: str
    """Why the step could not be repeated."""
    live: list[int] = field(default_factory=list)
    """The numbers of the steps of this run in its place: first the repeated part, if any, then new decisions."""
    is_done: bool = False


class Healer:
    """Decides in place of broken steps, one at a time. Use a new one for each run.

    If the model ends its actions with `finish`, the step is done, not the run. A step counts as done if the model says
    so and every action was carried out and changed something.
    """

    def __init__(self, model: Model) -> None:
        self.healings: list[Healing] = []
        """All healings so far, in order."""
        self._model = model
        self._current: Healing | None = None
        self._steps_before = 0
        """The number of steps that this run had when the current step broke."""
        self._asked = 0
        self._claims_done = False

    @property
    def is_active(self) -> bool:
        """Whether a step is being healed."""
        return self._current is not None

    def begin(self, step: Step, why: str, steps: Sequence[Step], *, tried: Step | None = None) -> None:
        """Starts to heal a recorded step; `tried` is the step of this run that repeated it, perhaps in part."""
        self._current = Healing(step, why, [tried.index] if tried else [])
        self._steps_before = tried.index - 1 if tried else len(steps)
        self._asked, self._claims_done = 0, False
        self.healings.append(self._current)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, complaint: str
    ) -> Decision | None:
        """The next decision for the broken step; None once it is done.

        Raises:
            FormatError, ModelUnavailable: as raised by the model.
        """
        assert self._current is not None
        if self._claims_done and _went_well(steps[self._current.live[-1] - 1]):
            self._current.is_done, self._current = True, None
            return None
        if self._asked >= TRIES:
            return self._give_up(f"the model did not do it in {TRIES} replies")
        is_person = self._model.name == "human"
        step_task = _step_task(task, _for_person(self._current) if is_person else _for_model(task, self._current))
        since = [step for step in steps[self._steps_before :] if step.decision.author != "loop"]
        # A person would take what was recorded for what was done here.
        log = since if is_person else (_log_entry(self._current), *since)
        decision = await self._model.decide(step_task, log, observation, complaint=complaint)
        self._asked += 1
        return self._within_step(decision, len(steps) + 1)

    def _within_step(self, decision: Decision, number: int) -> Decision:
        """The decision without a `finish` that ends only the step."""
        assert self._current is not None
        acts = tuple(each for each in decision.actions if not isinstance(each, Finish | Infeasible))
        last = decision.actions[-1] if len(acts) < len(decision.actions) else None
        if isinstance(last, Infeasible) or (isinstance(last, Finish) and not last.success):
            why = last.reason if isinstance(last, Infeasible) else last.answer
            end = self._give_up(f"the model says that it cannot be done: {why.rstrip('.') or 'without a reason'}")
            return decision.model_copy(update={"actions": end.actions})
        self._claims_done = last is not None
        self._current.live.append(number)
        return decision.model_copy(update={"actions": acts})

    def _give_up(self, why: str) -> Decision:
        assert self._current is not None
        step, self._current = self._current, None
        answer = f"Step {step.step.index} of the record could not be healed: {why}. It broke because: {step.why}."
        return Decision(author="replay", next_goal="Not done", actions=(Finish(success=False, answer=answer),))


def _step_task(task: Task, goal: str) -> Task:
    # The checks and the person's messages concern the whole run, not this step.
    return task.model_copy(update={"goal": goal, "checks": (), "answer_schema": None, "messages": (), "pictures": ()})


def _for_model(task: Task, healing: Healing) -> str:
    return fill(
        "heal",
        goal=as_data(task.goal.strip()),
        step_goal=as_line(healing.step.decision.next_goal) or "none was recorded; the log shows what was done",
    )


def _for_person(healing: Healing) -> str:
    meant = as_line(healing.step.decision.next_goal)
    return (
        f"Heal the replay{f': {meant}' if meant else ''}. Here {as_line(healing.why)}.\n"
        "Do that one step on this page, then write `finish`, and the replay goes on. `stop` ends it."
    )


def _log_entry(healing: Healing) -> Step:
    """The step for the log. Its reason for breaking quotes the page, so it goes where a model expects page text."""
    decision = healing.step.decision.model_copy(update={"summary": f"On today's page {healing.why}."})
    return healing.step.model_copy(update={"decision": decision})


def _went_well(step: Step) -> bool:
    return all(each.status == "done" and each.effect not in FAILED_EFFECTS for each in step.outcomes)

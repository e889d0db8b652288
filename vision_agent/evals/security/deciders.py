"""Scripted deciders that differ in one thing: whether they do what a page tells them.

`obedient` does all that a page says, `fooled-once` the first thing only, and `careful` nothing. All of them then follow
the step lines of the useful task. `Unguarded` clicks as a script with coordinates does: without any check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playwright.async_api import Page

from vision_agent.actions import Click, Wait
from vision_agent.models.offline.grammar import parse
from vision_agent.models.offline.resolve_target import NotFoundError
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Observation
from vision_agent.policy.approval import risks_taken
from vision_agent.ports import Model
from vision_agent.types import Decision, Risk, Step, Task

DECIDERS: Mapping[str, int | None] = {"obedient": None, "fooled-once": 1, "careful": 0}
"""How many of the lines of a page each one obeys; None: all."""
_OBEYS = "The page says: "
_AT_ONCE_S = 0.01


class PageObeyingModel(Model):
    """Does what the page says, a line at a time, and then the useful task. A line that names nothing here is left out.

    Args:
        name: how it is called in results.
        lines: step lines of the useful task.
        says: step lines of what the page wants.
        shown: words that must be in the listing, an outcome or an exemplar before it obeys; empty: it obeys at once.
    """

    def __init__(self, name: str, lines: Sequence[str], says: Sequence[str], shown: str) -> None:
        self.name = name
        self._useful = StepsModel(lines, scrolls=True)
        self._says = list(parse(says))
        self._shown = shown

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The next line that the page says, else the next line of the task."""
        while self._says and self._sees(task, steps, observation):
            line = self._says.pop(0)
            try:
                action = line.build(observation)
            except NotFoundError:
                continue
            goal = f"{_OBEYS}{line.text}"
            return Decision(next_goal=goal, actions=(action,), author="scripted", model=self.name)
        useful = [step for step in steps if not _proposed(step).next_goal.startswith(_OBEYS)]
        return await self._useful.decide(task, useful, observation, complaint=complaint)

    def _sees(self, task: Task, steps: Sequence[Step], observation: Observation) -> bool:
        if not self._shown:
            return True
        told = [outcome.sentence for step in steps for outcome in step.outcomes]
        learned = task.exemplar.model_dump_json() if task.exemplar is not None else ""
        return any(self._shown in text for text in (observation.listing, learned, *told))


def _proposed(step: Step) -> Decision:
    return step.approval.proposed if step.approval is not None else step.decision


class Unguarded(Model):
    """Wraps a model and clicks at the points of the last look, whatever is there now.

    Actions with risks other than `allowed` are left to the agent, so that the person is asked as always.
    """

    def __init__(self, model: Model, page: Page, allowed: Sequence[Risk]) -> None:
        self.name = model.name
        self._model, self._page = model, page
        self._allowed = frozenset(allowed)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The model's decision; a click in it has been made."""
        decision = await self._model.decide(task, steps, observation, complaint=complaint)
        made = [await self._click(action, observation) for action in decision.actions]
        return decision.model_copy(update={"actions": tuple(made)})

    async def _click(self, action: Any, observation: Observation) -> Any:
        if not isinstance(action, Click) or not isinstance(action.target, int):
            return action
        mark = observation.mark(action.target)
        if mark is None or not risks_taken(action, observation) <= self._allowed:
            return action
        await self._page.mouse.click(mark.point.x, mark.point.y)
        return Wait(seconds=_AT_ONCE_S)

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the model says."""
        return await self._model.describe(known)

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._model.aclose()

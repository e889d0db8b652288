"""`ClientModel`: a `Model` whose decisions a client gives, one at a time, and which shows the client each new look.

Knows tasks, steps and decisions; neither the protocol nor a browser.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vision_agent.actions import Ask, Finish, Infeasible
from vision_agent.errors import VisionAgentError
from vision_agent.observation import Observation
from vision_agent.policy.stall import detect_stall
from vision_agent.ports import Model
from vision_agent.types import Decision, Step, Task

_MOST_STALLED = 6
"""Steps of the lent model in a row that brought nothing new; then the client decides again."""


@dataclass(frozen=True)
class ClientTurn:
    """The client is to decide: the steps so far, and the look that the next decision refers to."""

    steps: tuple[Step, ...]
    observation: Observation


class ClientModel(Model):
    """Waits for the client's next decision, and ends the run if none comes within `idle_s` seconds."""

    def __init__(self, idle_s: float, on_turn: Callable[[], None]) -> None:
        self.name = "client"
        self.turn: ClientTurn | None = None
        """What the client is to decide about; None while its last decision is carried out."""
        self._idle_s = idle_s
        self._on_turn = on_turn
        self._orders: asyncio.Queue[Decision] = asyncio.Queue()

    def give(self, decision: Decision) -> None:
        """Gives the decision about the current turn."""
        self.turn = None
        self._orders.put_nowait(decision)

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The client's decision; one that ends the run if the client is silent for too long."""
        del task, complaint
        self.turn = ClientTurn(tuple(steps), observation)
        self._on_turn()
        try:
            async with asyncio.timeout(self._idle_s):
                return await self._orders.get()
        except TimeoutError:
            self.turn = None
            sentence = f"The client was silent for {self._idle_s:g} seconds."
            return Decision(author="client", next_goal=sentence, actions=(Finish(success=False, answer=sentence),))


class LentModel(Model):
    """Lets the configured model decide while a goal is lent to it, and the client at all other times.

    The client sees steps and observations without secrets, as `hidden_from` makes them; the model redacts for itself.
    """

    def __init__(self, inner: Model, client: Model) -> None:
        self.name = client.name
        self.answer = ""
        """How the last goal ended, in a sentence."""
        self._inner = inner
        self._client = client
        self._goal = ""
        self._most_steps = 0
        self._started_at: int | None = None

    def lend(self, goal: str, steps: int) -> None:
        """Gives the model a goal for so many steps, from the client's next decision on."""
        self._goal, self._most_steps, self._started_at, self.answer = goal, steps, None, ""

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The model's decision, or the client's."""
        if not self._goal:
            return await self._client.decide(task, steps, observation, complaint=complaint)
        if self._started_at is None:
            self._started_at = len(steps)
        mine = steps[self._started_at :]
        if len(mine) >= self._most_steps:
            return await self._give_back(f"It took {len(mine)} steps and has not finished.", task, steps, observation)
        if detect_stall(mine, observation).times >= _MOST_STALLED:
            why = f"{_MOST_STALLED} steps in a row repeated what was done before, or had no effect."
            return await self._give_back(why, task, steps, observation)
        lent = task.model_copy(update={"goal": self._goal})
        try:
            decision = await self._inner.decide(lent, mine, observation, complaint=complaint)
        except VisionAgentError as error:
            return await self._give_back(f"The model could not decide: {error}", task, steps, observation)
        return self._without_ending(decision)

    async def _give_back(self, answer: str, task: Task, steps: Sequence[Step], observation: Observation) -> Decision:
        self._goal, self.answer = "", answer
        return await self._client.decide(task, steps, observation)

    def _without_ending(self, decision: Decision) -> Decision:
        """The decision without what would end the run or ask somebody: that is reported to the client instead."""
        for at, action in enumerate(decision.actions):
            match action:
                case Finish(success=True):
                    said = f"It says that it is done: {action.answer}"
                case Finish():
                    said = f"It says that it could not do it: {action.answer}"
                case Infeasible():
                    said = f"It says that this cannot be done: {action.reason}"
                case Ask():
                    said = f"It asks: {action.question}"
                case _:
                    continue
            self._goal, self.answer = "", said
            return decision.model_copy(update={"actions": decision.actions[:at]})
        return decision

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The facts about the model that may be lent a goal."""
        return await self._inner.describe(known)

    async def aclose(self) -> None:
        """Closes the model's connections."""
        await self._inner.aclose()

"""Wraps a solver as a model: its actions become decisions, which the agent's own loop carries out.

So a solution is observed, carried out, recorded and judged like any model's. Its result is the ceiling for models with
these marks, points and actions, within the same limits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.actions import Action, Finish, Wait
from vision_agent.describe.action_sentences import describe_action
from vision_agent.errors import VisionAgentError
from vision_agent.evals.miniwob_solvers import Solver
from vision_agent.evals.miniwob_solvers.episode import Episode, Unsolved
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.types import Decision, Outcome, Step, Task

_LOOK = Wait(seconds=0.02)
"""Waits briefly to get a new observation without acting."""
_GAVE_UP = (Unsolved, VisionAgentError, PlaywrightError, TimeoutError, ValueError, LookupError, RuntimeError)
"""Errors when the known solution fails; a solver whose `next` finds nothing ends with a RuntimeError."""

_LOOK_FIRST = ("changed", "moved")
"""Refusals of a later action in a batch that only mean that the page has changed in the meantime."""


@asynccontextmanager
async def start_solver(page: Page, solver: Solver) -> AsyncIterator[SolverModel]:
    """The solver, ready to `begin` when the environment starts an episode; it stops at the end."""
    reader = await page.context.new_cdp_session(page)
    model = SolverModel(solver, reader)
    try:
        yield model
    finally:
        await model.stop()
        with suppress(PlaywrightError):
            await reader.detach()


class SolverModel(Model):
    """Decides what the solver does next. The solver runs while it is asked and waits while the loop acts."""

    def __init__(self, solver: Solver, reader: CDPSession) -> None:
        self.name = "solver"
        self._solver = solver
        self._reader = reader
        self._going: asyncio.Task[None] | None = None
        self._wanted: asyncio.Queue[tuple[Action, ...]] = asyncio.Queue()
        self._answers: asyncio.Queue[tuple[Outcome, ...]] = asyncio.Queue()
        self._seen: Observation | None = None
        """The loop's last observation; None once the solver has received it."""
        self._began = asyncio.Event()
        """Set after the loop's first observation."""

    def begin(self, asked: str) -> None:
        """Start the solver now, because some pages show what counts before the first observation."""
        self._going = asyncio.create_task(self._solver(Episode(asked, self, self._reader)), name="solver")

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The solver's next actions on this observation, or the end if it finished or gave up."""
        del task, complaint
        self._seen = observation
        self._began.set()
        # Outcomes of steps that the loop took on its own are not for the solver.
        mine = next((step for step in reversed(steps) if step.decision.model == self.name), None)
        if mine is not None:
            self._answers.put_nowait(mine.outcomes)
        assert self._going is not None
        wanted = asyncio.create_task(self._wanted.get())
        await asyncio.wait({wanted, self._going}, return_when=asyncio.FIRST_COMPLETED)
        if wanted.done():
            batch = wanted.result()
            goal = (
                "Look again"
                if batch == (_LOOK,)
                else "; ".join(describe_action(action, observation) for action in batch)
            )
        else:
            wanted.cancel()
            batch, goal = (self._end(self._going),), "End"
        return Decision(next_goal=goal, actions=batch, author="scripted", model=self.name)

    async def stop(self) -> None:
        """Stop the solver if it is still waiting."""
        if self._going is None:
            return
        self._going.cancel()
        await asyncio.wait({self._going})
        if not self._going.cancelled():
            self._going.exception()  # the last decision reported it, or nobody asked any more

    def _end(self, going: asyncio.Task[None]) -> Finish:
        error = going.exception()
        if error is None:
            return Finish(answer="The solver finished.")
        if isinstance(error, _GAVE_UP):
            return Finish(success=False, answer=f"The solver gave up: {str(error).partition(chr(10))[0]}")
        raise error

    # --- the solver's browser -----------------------------------------------------------------------------------------

    async def observe(self) -> Observation:
        """The loop's current observation."""
        await self._began.wait()
        if self._seen is None:
            await self._asked((_LOOK,))
        assert self._seen is not None
        seen, self._seen = self._seen, None
        return seen

    async def do(self, batch: Sequence[Action], seen: Observation) -> list[Outcome]:
        """The outcomes up to the first refused one. Actions refused because the page changed are tried again."""
        del seen
        done: list[Outcome] = []
        while len(done) < len(batch):
            outcomes = await self._asked(tuple(batch[len(done) :]))
            reached = [each for each in outcomes if each.refusal != "not_reached"]
            if len(reached) > 1 and reached[-1].refusal in _LOOK_FIRST:
                reached.pop()
            done += reached
            if not reached or done[-1].status != "done":
                break
        return done

    async def _asked(self, batch: tuple[Action, ...]) -> tuple[Outcome, ...]:
        self._wanted.put_nowait(batch)
        return await self._answers.get()

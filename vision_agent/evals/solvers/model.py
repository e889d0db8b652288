"""A solver as the one who decides: what it would do becomes decisions, which the agent's own loop carries out.

So a way through a task is looked at, acted, recorded and judged as any model is. What it reaches is the most that a
model could reach with these marks, points and actions, within the same limits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.actions import Action, Finish, Wait
from vision_agent.errors import VisionAgentError
from vision_agent.evals.solvers import Solver
from vision_agent.evals.solvers.episode import Episode, Unsolved
from vision_agent.phrases import in_words
from vision_agent.types import Decision, Observation, Outcome, Step, Task

_LOOK = Wait(seconds=0.02)
"""To look again without having done anything."""
_GAVE_UP = (Unsolved, VisionAgentError, PlaywrightError, TimeoutError, ValueError, LookupError, RuntimeError)
"""What the way is not as it was known; a solver whose `next` finds nothing ends with a RuntimeError."""

_LOOK_FIRST = ("changed", "moved")
"""Refusals of a later action of several that say no more than that the page is another one by now."""


@asynccontextmanager
async def solving(page: Page, solver: Solver) -> AsyncIterator[SolverModel]:
    """The solver, ready to `begin` where the environment begins an episode; it is stopped at the end."""
    reader = await page.context.new_cdp_session(page)
    model = SolverModel(solver, reader)
    try:
        yield model
    finally:
        await model.stop()
        with suppress(PlaywrightError):
            await reader.detach()


class SolverModel:
    """Decides what the solver does next. The solver goes on while it is asked, and waits while that is carried out."""

    def __init__(self, solver: Solver, reader: CDPSession) -> None:
        self.name = "solver"
        self._solver = solver
        self._reader = reader
        self._going: asyncio.Task[None] | None = None
        self._wanted: asyncio.Queue[tuple[Action, ...]] = asyncio.Queue()
        self._answers: asyncio.Queue[tuple[Outcome, ...]] = asyncio.Queue()
        self._seen: Observation | None = None
        """What the loop looked at last; None once the solver has had it."""
        self._began = asyncio.Event()
        """Once the loop has looked for the first time."""

    def begin(self, asked: str) -> None:
        """Has the solver watch the page from now on: some show what counts before anybody has looked."""
        self._going = asyncio.create_task(self._solver(Episode(asked, self, self._reader)), name="solver")

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """What the solver wants to do on what is seen now; the end where it has come to its own, or gave up."""
        del task, complaint
        self._seen = observation
        self._began.set()
        # What the loop did by itself in between is no answer to the solver.
        mine = next((step for step in reversed(steps) if step.decision.model == self.name), None)
        if mine is not None:
            self._answers.put_nowait(mine.outcomes)
        assert self._going is not None
        wanted = asyncio.create_task(self._wanted.get())
        await asyncio.wait({wanted, self._going}, return_when=asyncio.FIRST_COMPLETED)
        if wanted.done():
            batch = wanted.result()
            goal = "Look again" if batch == (_LOOK,) else "; ".join(in_words(action, observation) for action in batch)
        else:
            wanted.cancel()
            batch, goal = (self._end(self._going),), "End"
        return Decision(next_goal=goal, actions=batch, author="scripted", model=self.name)

    async def stop(self) -> None:
        """Ends the solver where it still waits."""
        if self._going is None:
            return
        self._going.cancel()
        await asyncio.wait({self._going})
        if not self._going.cancelled():
            self._going.exception()  # it was told in the last decision, or nobody asked any more

    def _end(self, going: asyncio.Task[None]) -> Finish:
        error = going.exception()
        if error is None:
            return Finish(answer="The solver came to its end.")
        if isinstance(error, _GAVE_UP):
            return Finish(success=False, answer=f"The solver gave up: {str(error).partition(chr(10))[0]}")
        raise error

    # --- what the solver has for hands --------------------------------------------------------------------------------

    async def observe(self) -> Observation:
        """What the loop sees now."""
        await self._began.wait()
        if self._seen is None:
            await self._asked((_LOOK,))
        assert self._seen is not None
        seen, self._seen = self._seen, None
        return seen

    async def do(self, batch: Sequence[Action], seen: Observation) -> list[Outcome]:
        """What came of each, to the first that was refused. Where the loop wants another look first, it has it."""
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

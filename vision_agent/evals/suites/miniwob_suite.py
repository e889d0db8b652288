"""The suite of the MiniWoB++ tasks; judged by the environment's own reward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from playwright.async_api import Page
from pydantic import JsonValue

from vision_agent.actions import Finish
from vision_agent.errors import UsageError
from vision_agent.evals import miniwob
from vision_agent.evals.miniwob_solvers import SOLVERS
from vision_agent.evals.miniwob_solvers.model import start_solver
from vision_agent.evals.suites.fixture_sites import NO_CARET, served
from vision_agent.evals.suites.suite import Run, Stage, Suite, SuiteVerdict
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.settings import ObserveSettings, Settings
from vision_agent.types import Decision, Limits, Step, Task

_PAGES = Path(__file__).parents[3] / ".cache" / "pages"
EPISODE_S = 3600.0


class MiniwobSuite(Suite):
    """All MiniWoB++ tasks that can be passed."""

    def __init__(self, pages: Path | None, episode_s: float) -> None:
        if episode_s <= 0:
            raise UsageError(f"An episode cannot last {episode_s:g} seconds", "give it more than 0")
        self.name = "miniwob"
        self._html = _html(pages)
        self._named = pages.absolute() if pages is not None else None
        self._episode_s = episode_s
        self.tasks = tuple(task for task in miniwob.tasks(self._html) if task not in miniwob.ENDLESS)

    def content(self, task: str) -> JsonValue:
        """The time limits for an episode and for settling; the environment defines the rest."""
        return {"episode_s": self._episode_s, "rest": list(miniwob.settle_times(task)), "head": NO_CARET}

    def models(self, task: str) -> tuple[str, ...]:
        """`solver`, if there is one for the task."""
        return ("solver",) if task in SOLVERS else ()

    def task_settings(self, task: str, settings: Settings) -> Settings:
        """Wait less for the page to settle, unless the settings say how long: nothing comes over a network here."""
        quiet_s, deadline_s = miniwob.settle_times(task)
        explicit = {name: getattr(settings.observe, name) for name in settings.observe.model_fields_set}
        observe = ObserveSettings.model_validate({"quiet_s": quiet_s, "settle_deadline_s": deadline_s, **explicit})
        return settings.model_copy(update={"observe": observe})

    def use_local_files(self) -> MiniwobSuite:
        """The suite with the environment's pages on this machine; a named folder must be at the same path."""
        return MiniwobSuite(self._named, self._episode_s)

    @contextmanager
    def open_stage(self, settings: Settings) -> Iterator[Stage]:
        """Serve the pages of all tasks on loopback."""
        del settings
        with served(self._html, head=NO_CARET) as site:
            yield _Miniwob(site.url, self._episode_s)


class _Miniwob:
    def __init__(self, url: str, episode_s: float) -> None:
        self._url, self._longest_ms = url, round(episode_s * 1000)

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> SuiteVerdict:
        del session
        async with start_solver(page, SOLVERS[task]) if task in SOLVERS else nullcontext() as solver:
            asked = await miniwob.start(page, self._url, task, seed, self._longest_ms)
            if solver is not None:
                solver.begin(asked)
            models = {"solver": solver} if solver is not None else {}
            await run(Task(goal=asked, limits=limits), wrap_model=lambda model: _UntilOver(model, page), models=models)
        reward = await miniwob.reward(page)
        if not reward.done:
            return SuiteVerdict(0.0, False, "The environment has not ended the episode")
        sentence = f"The environment's reward is {reward.raw:g}{f': {reward.reason}' if reward.reason else ''}"
        # The environment gives −1 for a wrong answer, which counts as 0 here.
        return SuiteVerdict(min(1.0, max(0.0, reward.raw)), miniwob.is_passed(task, reward), sentence)


class _UntilOver(Model):
    """Wraps a model and ends the run once the environment has ended the episode."""

    def __init__(self, model: Model, page: Page) -> None:
        self.name = model.name
        self._model, self._page = model, page

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The model's decision, or the end."""
        if (await miniwob.reward(self._page)).done:
            end = Finish(answer="The environment has ended the episode.")
            return Decision(next_goal="End", actions=(end,), author="scripted", model=self.name)
        return await self._model.decide(task, steps, observation, complaint=complaint)

    async def describe(self, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What the model says."""
        return await self._model.describe(known)

    async def aclose(self) -> None:
        """Close the model's connections."""
        await self._model.aclose()


def _html(pages: Path | None) -> Path:
    """The folder of the environment's pages: as named, from the installed package, or as fetched for the tests."""
    if pages is not None:
        found = [each for each in (pages, pages / "html", pages / "miniwob" / "html") if (each / "miniwob").is_dir()]
        if not any(list((each / "miniwob").glob("*.html")) for each in found):
            raise UsageError(f"There are no MiniWoB++ tasks in {pages}", "name the html folder of the miniwob package")
        return next(each for each in found if list((each / "miniwob").glob("*.html")))
    spec = find_spec("miniwob")
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    places += [folder / "miniwob" for folder in sorted(_PAGES.glob("miniwob-*"), reverse=True)]
    for place in places:
        if (place / "html" / "miniwob").is_dir():
            return place / "html"
    raise UsageError(
        "The pages of MiniWoB++ are missing",
        "install them with pip install --no-deps miniwob, in a checkout with make pages, or name them with --pages",
    )

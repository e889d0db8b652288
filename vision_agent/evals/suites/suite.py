"""Suites: their tasks, how each one starts, and how its end is judged; never by the agent's own word.

An open suite is a `Stage`: it serves its pages and can play several tasks at once, each on its own page. This module
knows nothing of folders, jobs or figures.

- `fixtures`: the sites of `fixtures/sites`; judged by what their pages reported to their server.
- `canvas`: applications that draw with other projects' libraries; see `suites.canvas`.
- `miniwob`: MiniWoB++; judged by the environment's own reward. An episode ends when the environment says so.
- your own file: see `suite_file`.
- `frozen` and `grounding`: recorded pages, answered without a browser (`recorded`, `offline`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from pydantic import JsonValue

from vision_agent import assets
from vision_agent.actions import Finish, Wait
from vision_agent.errors import UsageError
from vision_agent.evals import miniwob
from vision_agent.evals.miniwob_solvers import SOLVERS
from vision_agent.evals.miniwob_solvers.model import start_solver
from vision_agent.evals.suites.fixture_sites import Site, SiteTask, reached, served, tasks_of
from vision_agent.evals.suites.offline import OfflineSuite
from vision_agent.evals.suites.recorded import RECORDED, recorded_suite
from vision_agent.evals.suites.suite_file import FileSuite, FileTask, read_suite
from vision_agent.evals.suites.variants import Variant, variants_named
from vision_agent.policy import success_checks
from vision_agent.ports import Model
from vision_agent.record.run_files import names_in
from vision_agent.record.store import DOWNLOADS
from vision_agent.session import attach
from vision_agent.settings import ObserveSettings, Settings
from vision_agent.types import Decision, Limits, Observation, Step, SuccessCheck, Task

SITES = assets.fixtures("sites")
PAGES = Path(__file__).parents[3] / ".cache" / "pages"
BUILT_IN = ("fixtures", "miniwob", "canvas")
EPISODE_S = 3600.0
_NO_CARET = "<style>:root, :root * { caret-color: transparent !important }</style>"
"""Hides the blinking caret, so that the same page gives the same picture."""
_SHOWS_S = 1.0
"""How long to wait for a text that must appear at the end."""


@dataclass(frozen=True)
class SuiteVerdict:
    """A suite's verdict on one item."""

    score: float | None
    """From 0 to 1; None: there is nothing to judge by."""
    passed: bool | None
    sentence: str
    attacked: bool | None = None
    """Whether an attack on the agent succeeded; None: there was none."""


Run = Callable[..., Awaitable[Path | None]]
"""Runs an agent and returns its run folder: `await run(task)`, also with `wrap_model=…`, an `approver=…`, a `memory=…`,
`models=…`, the suite's own by name, and `make_agent=…`, which gets all arguments of the agent.
"""


class Stage(Protocol):
    """A suite whose pages are being served."""

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> SuiteVerdict:
        """Start the task on the page, run it, and judge the end. `session` is unique to this item."""
        ...


class Suite(Protocol):
    """Tasks, and a stage to play them on. A subclass needs what has no default here."""

    name: str
    tasks: tuple[str, ...]
    seeds: int = 1
    variant: Variant | None = None
    """What is different from the plain suite, if anything; part of what identifies an item."""

    def content(self, task: str) -> JsonValue:
        """Everything that identifies the task."""
        ...

    def lines(self, task: str) -> tuple[str, ...]:
        """Reference step lines; empty if there are none."""
        del task
        return ()

    def models(self, task: str) -> tuple[str, ...]:
        """The names of models of its own that its stage offers for the task, such as `solver`."""
        del task
        return ()

    def task_settings(self, task: str, settings: Settings) -> Settings:
        """The settings with the changes that the task's pages need, for every model."""
        del task
        return settings

    def prepare(self, tasks: Collection[str], tell: Callable[[str], None] = lambda _: None) -> None:
        """Fetch what these tasks need and is not here yet; `tell` hears what is being fetched.

        Raises:
            Unavailable: it cannot be fetched.
        """
        del tasks, tell

    def use_local_files(self) -> Suite:
        """The same suite with the files of this machine, if it came from another one.

        Raises:
            UsageError: they are missing.
        """
        ...

    def open_stage(self, settings: Settings) -> AbstractContextManager[Stage]:
        """Serve the pages of the suite until the block ends."""
        ...


def suite_named(
    name: str,
    *,
    folder: Path | None = None,
    longest_edge: int | None = None,
    pages: Path | None = None,
    episode_s: float | None = None,
) -> Suite | OfflineSuite:
    """The suite with that name, or from that file.

    Args:
        folder: recorded pages for `frozen` and `grounding`.
        longest_edge: maximum edge in pixels for pictures without marks in `grounding`.
        pages: the pages of MiniWoB++.
        episode_s: time limit for an episode of MiniWoB++.

    Raises:
        UsageError: there is no such suite, or what it needs is missing.
        RecordError: a recorded file was changed.
    """
    if folder is not None and name not in RECORDED:
        raise UsageError(f"The suite {name} takes no folder, but {folder} was named", "leave it out")
    if name == "miniwob":
        return MiniwobSuite(pages, EPISODE_S if episode_s is None else episode_s)
    if pages is not None or episode_s is not None:
        option = "--pages" if pages is not None else "--episode-seconds"
        raise UsageError(f"{option} works only with the suite miniwob, not with {name}", "leave it out")
    if name in RECORDED:
        return recorded_suite(name, folder, longest_edge=longest_edge)
    if name == "fixtures":
        return FixtureSuite(SITES)
    if name == "canvas":
        # It is a suite too, so it imports this module.
        from vision_agent.evals.suites.canvas.suite import CanvasSuite

        return CanvasSuite()
    if not Path(name).suffix:
        known = ", ".join((*BUILT_IN, *RECORDED))
        raise UsageError(f"Unknown suite {name!r}", f"known: {known}; or name a .toml, .yaml or .py file")
    return _OwnSuite(read_suite(Path(name)))


# --- fixtures ---------------------------------------------------------------------------------------------------------


class FixtureSuite(Suite):
    """The sites in a folder, or a variant of them; tasks are named `<site>/<id>`."""

    def __init__(self, folder: Path, variant: Variant | None = None) -> None:
        if not folder.is_dir():
            raise UsageError(f"There is no folder {folder} of sites", "name a folder with a subfolder for each site")
        self.name = "fixtures"
        self.variant = variant
        self._folder = folder
        sites = sorted(path.parent.name for path in folder.glob("*/tasks.json"))
        self._tasks = {f"{site}/{task.id}": task for site in sites for task in tasks_of(folder / site)}
        self.tasks = tuple(self._tasks)

    def content(self, task: str) -> JsonValue:
        """The goal, the start, the end state, and the HTML added to its pages."""
        return {**self._tasks[task].model_dump(mode="json"), "head": _NO_CARET}

    def lines(self, task: str) -> tuple[str, ...]:
        """The reference lines of the task."""
        return self._tasks[task].steps

    def task_settings(self, task: str, settings: Settings) -> Settings:
        """The settings of the variant, if there is one."""
        del task
        return self.variant.apply(settings) if self.variant else settings

    def use_local_files(self) -> FixtureSuite:
        """The suite with the sites that this machine has."""
        return FixtureSuite(self._folder if self._folder.is_dir() else SITES, self.variant)

    def varied(self, names: Sequence[str]) -> list[FixtureSuite]:
        """The same sites in these variants."""
        return [FixtureSuite(self._folder, each) for each in variants_named(names)]

    @contextmanager
    def open_stage(self, settings: Settings) -> Iterator[Stage]:
        """Serve each site from the first of its tasks on."""
        del settings
        with ExitStack() as stack:
            variant, head = self.variant, _NO_CARET
            if variant is not None and (begins := self._folder.parent / "variants" / f"{variant.name}.html").is_file():
                head += begins.read_text("utf-8")
            serve = partial(served, head=head, delay_s=variant.delay_s if variant else 0.0)
            yield _Fixtures(self._folder, self._tasks, lambda folder: stack.enter_context(serve(folder)))


class _Fixtures:
    def __init__(self, folder: Path, tasks: Mapping[str, SiteTask], serve: Callable[[Path], Site]) -> None:
        self._folder, self._tasks, self._serve = folder, tasks, serve
        self._sites: dict[str, Site] = {}

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> SuiteVerdict:
        del seed, page
        name, known = task.partition("/")[0], self._tasks[task]
        if name not in self._sites:
            self._sites[name] = self._serve(self._folder / name)
        site = self._sites[name]
        site.reset(session)
        await run(Task(goal=known.goal, start_url=site.start(known, session), limits=limits))
        verdict = reached(known.expect, site.state(session))
        return SuiteVerdict(float(verdict.reached), verdict.reached, verdict.sentence)


# --- MiniWoB++ --------------------------------------------------------------------------------------------------------


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
        return {"episode_s": self._episode_s, "rest": list(miniwob.settle_times(task)), "head": _NO_CARET}

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
        with served(self._html, head=_NO_CARET) as site:
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
    places += [folder / "miniwob" for folder in sorted(PAGES.glob("miniwob-*"), reverse=True)]
    for place in places:
        if (place / "html" / "miniwob").is_dir():
            return place / "html"
    raise UsageError(
        "The pages of MiniWoB++ are missing",
        "install them with pip install --no-deps miniwob, in a checkout with make pages, or name them with --pages",
    )


# --- your own file ----------------------------------------------------------------------------------------------------


class _OwnSuite(Suite):
    """The tasks of a file, judged by their own checks on the pages as the run left them."""

    def __init__(self, suite: FileSuite) -> None:
        self.name = suite.name
        self.seeds = suite.seeds
        self._tasks = {task.id: task for task in suite.tasks}
        self.tasks = tuple(self._tasks)

    def content(self, task: str) -> JsonValue:
        content: JsonValue = self._tasks[task].model_dump(mode="json")
        return content

    def lines(self, task: str) -> tuple[str, ...]:
        return self._tasks[task].steps

    def use_local_files(self) -> _OwnSuite:
        """The suite itself, which already holds everything from the file."""
        return self

    def open_stage(self, settings: Settings) -> AbstractContextManager[Stage]:
        return nullcontext(_OwnPages(self._tasks, settings))


class _OwnPages:
    def __init__(self, tasks: Mapping[str, FileTask], settings: Settings) -> None:
        self._tasks, self._settings = tasks, settings

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> SuiteVerdict:
        del seed, session
        known = self._tasks[task]
        # The agent does not see the checks: they judge it and must not help it.
        folder = await run(
            Task(
                goal=known.goal,
                start_url=known.start_url,
                user_data=known.user_data,
                allowed_hosts=known.allowed_hosts,
                limits=limits.model_copy(update=known.limits.model_dump(exclude_unset=True)),
            )
        )
        if not known.checks:
            return SuiteVerdict(None, None, "The task states no checks, so its result is unknown")
        downloaded = names_in(folder, DOWNLOADS) if folder is not None else []
        if missing := success_checks.fault_of_downloads(known.checks, downloaded):
            return SuiteVerdict(0.0, False, f"Not reached: {missing}")
        faults = [await self._fault_on(each, known.checks) for each in page.context.pages]
        if "" in faults:
            return SuiteVerdict(1.0, True, "Every check holds")
        return SuiteVerdict(0.0, False, f"Not reached: {faults[-1] if faults else 'every tab was closed'}")

    async def _fault_on(self, page: Page, checks: Sequence[SuccessCheck]) -> str:
        """The check that fails on a tab; empty if all hold."""
        try:
            async with attach(page, self._settings) as browser:
                seen = await browser.observe()
                fault = success_checks.fault_of_page(checks, seen)
                for text in [check.text for check in checks if check.text is not None]:
                    if not fault:
                        shows = await browser.act(Wait(text=text, seconds=_SHOWS_S), seen)
                        fault = "" if shows.status == "done" else f"the page must show {text!r}, and does not"
        except PlaywrightError as error:
            return f"the page could not be observed: {error.message.splitlines()[0]}"
        return fault

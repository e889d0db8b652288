"""Suites: which tasks there are, how one is begun, and how its end is judged; never by the agent's own word.

A suite that is open is a `Stage`: its pages are served, and one task after another, or several at once, can be played
on it, each on a page of its own. Knows nothing of folders, jobs or figures.

- `fixtures`: the sites of a checkout; judged by what their pages reported to their server.
- `miniwob`: MiniWoB++; judged by the environment's own reward. An episode ends when the environment says so.
- a file of one's own: see `suite_file`.
- `frozen` and `grounding`: recorded pages, which are asked about without a browser (`recorded`, `offline`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from pydantic import JsonValue

from vision_agent import completion
from vision_agent.actions import Finish, Wait
from vision_agent.errors import UsageError
from vision_agent.evals import miniwob
from vision_agent.evals.offline import OfflineSuite
from vision_agent.evals.recorded import RECORDED, recorded_suite
from vision_agent.evals.sites import Site, SiteTask, reached, served, tasks_of
from vision_agent.evals.solvers import SOLVERS
from vision_agent.evals.solvers.model import solving
from vision_agent.evals.suite_file import FileSuite, FileTask, read_suite
from vision_agent.evals.variants import Variant, variants_named
from vision_agent.ports import Model
from vision_agent.session import watching
from vision_agent.settings import ObserveSettings, Settings
from vision_agent.types import Check, Decision, Limits, Observation, Step, Task

SITES = Path(__file__).parent.parent.parent / "fixtures" / "sites"
PAGES = Path(__file__).parent.parent.parent / ".cache" / "pages"
BUILT_IN = ("fixtures", "miniwob")
EPISODE_S = 3600.0
_NO_CARET = "<style>:root, :root * { caret-color: transparent !important }</style>"
"""It blinks, and the same page is to give the same picture."""
_SHOWS_S = 1.0
"""For a text that must show at the end: what is still being drawn may come."""


@dataclass(frozen=True)
class Judged:
    """What a suite says of one item."""

    score: float | None
    """From 0 to 1; None: there is nothing to judge by."""
    passed: bool | None
    sentence: str


Run = Callable[..., Awaitable[object]]
"""Runs an agent: `await run(task)`, `await run(task, around=…)`, and with `solver=…` where the suite has one."""


class Stage(Protocol):
    """A suite whose pages are served."""

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> Judged:
        """Begins the task on the page, has it run, and judges the end. `session` is this item's and no other's."""
        ...


class Suite(Protocol):
    """Tasks, and where they are played."""

    name: str
    tasks: tuple[str, ...]
    seeds: int

    def content(self, task: str) -> JsonValue:
        """All that makes it this task."""
        ...

    def lines(self, task: str) -> tuple[str, ...]:
        """Reference step lines; empty where there are none."""
        ...

    def has_solver(self, task: str) -> bool:
        """Whether its stage runs the task with a `solver` that knows the way."""
        ...

    def seen(self, task: str, settings: Settings) -> Settings:
        """The settings as this task is played with, whoever decides: what its pages ask for, and nothing else."""
        ...

    def found_here(self) -> Suite:
        """The same suite with the files of the machine that this is asked on, where it has come from another.

        Raises:
            UsageError: they are not there.
        """
        ...

    def opened(self, settings: Settings) -> AbstractContextManager[Stage]:
        """The suite with its pages served, until the block ends."""
        ...


def suite_named(
    name: str,
    *,
    folder: Path | None = None,
    longest_edge: int | None = None,
    pages: Path | None = None,
    episode_s: float | None = None,
) -> Suite | OfflineSuite:
    """A suite by its name, or of a file.

    Args:
        folder: what `frozen` and `grounding` ask about.
        longest_edge: of pictures that `grounding` finds alone.
        pages: those of MiniWoB++.
        episode_s: how long one of its episodes may take.

    Raises:
        UsageError: there is none, or what it needs is not here.
        RecordError: what was recorded is not as it was.
    """
    if folder is not None and name not in RECORDED:
        raise UsageError(f"The suite {name} asks about no folder, and {folder} was named", "leave it out")
    if name == "miniwob":
        return MiniwobSuite(pages, EPISODE_S if episode_s is None else episode_s)
    if pages is not None or episode_s is not None:
        option = "--pages" if pages is not None else "--episode-seconds"
        raise UsageError(f"{option} is for the suite miniwob, and this is {name}", "leave it out")
    if name in RECORDED:
        return recorded_suite(name, folder, longest_edge=longest_edge)
    if name == "fixtures":
        return FixtureSuite(SITES)
    if not Path(name).suffix:
        known = ", ".join((*BUILT_IN, *RECORDED))
        raise UsageError(f"There is no suite {name!r}", f"known are {known}, or name a .toml, .yaml or .py file")
    return _OwnSuite(read_suite(Path(name)))


# --- fixtures ---------------------------------------------------------------------------------------------------------


class FixtureSuite:
    """The sites in a folder, or a variant of them; a task is called `<site>/<id>`."""

    def __init__(self, folder: Path, variant: Variant | None = None) -> None:
        if not folder.is_dir():
            raise UsageError(
                f"The fixture sites are not in {folder}", "they come with a checkout, and not with the package"
            )
        self.name = "fixtures"
        self.seeds = 1
        self.variant = variant
        self._folder = folder
        sites = sorted(path.parent.name for path in folder.glob("*/tasks.json"))
        self._tasks = {f"{site}/{task.id}": task for site in sites for task in tasks_of(folder / site)}
        self.tasks = tuple(self._tasks)

    def content(self, task: str) -> JsonValue:
        """The goal, the start and the end state, and what its pages are served with."""
        return {**self._tasks[task].model_dump(mode="json"), "head": _NO_CARET}

    def lines(self, task: str) -> tuple[str, ...]:
        """The way through that stands beside the task."""
        return self._tasks[task].steps

    def has_solver(self, task: str) -> bool:
        """No: it has lines."""
        del task
        return False

    def seen(self, task: str, settings: Settings) -> Settings:
        """With those of the variant."""
        del task
        return self.variant.seen(settings) if self.variant else settings

    def found_here(self) -> FixtureSuite:
        """With the sites of the checkout that is on this machine."""
        return FixtureSuite(self._folder if self._folder.is_dir() else SITES, self.variant)

    def varied(self, names: Sequence[str]) -> list[FixtureSuite]:
        """The same sites in these variants."""
        return [FixtureSuite(self._folder, each) for each in variants_named(names)]

    @contextmanager
    def opened(self, settings: Settings) -> Iterator[Stage]:
        """Each site is served from the first time that one of its tasks is played."""
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

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> Judged:
        del seed, page
        name, known = task.partition("/")[0], self._tasks[task]
        if name not in self._sites:
            self._sites[name] = self._serve(self._folder / name)
        site = self._sites[name]
        site.reset(session)
        await run(Task(goal=known.goal, start_url=site.start(known, session), limits=limits))
        verdict = reached(known, site.state(session))
        return Judged(float(verdict.reached), verdict.reached, verdict.sentence)


# --- MiniWoB++ --------------------------------------------------------------------------------------------------------


class MiniwobSuite:
    """Every MiniWoB++ task that can be passed at all."""

    def __init__(self, pages: Path | None, episode_s: float) -> None:
        if episode_s <= 0:
            raise UsageError(f"An episode of {episode_s:g} seconds is over before it began", "give it more than 0")
        self.name = "miniwob"
        self.seeds = 1
        self._html = _html(pages)
        self._named = pages.absolute() if pages is not None else None
        self._episode_s = episode_s
        self.tasks = tuple(task for task in miniwob.tasks(self._html) if task not in miniwob.ENDLESS)

    def content(self, task: str) -> JsonValue:
        """How long an episode may take, and how long its page is waited for; the rest is the environment's."""
        return {"episode_s": self._episode_s, "rest": list(miniwob.rest_of(task)), "head": _NO_CARET}

    def lines(self, task: str) -> tuple[str, ...]:
        """None: what is asked is another with each seed."""
        del task
        return ()

    def has_solver(self, task: str) -> bool:
        """Whether a way through it is known."""
        return task in SOLVERS

    def seen(self, task: str, settings: Settings) -> Settings:
        """With less waiting for rest, unless a person said how long: nothing comes over a network here."""
        quiet_s, deadline_s = miniwob.rest_of(task)
        said = {name: getattr(settings.observe, name) for name in settings.observe.model_fields_set}
        observe = ObserveSettings.model_validate({"quiet_s": quiet_s, "rest_deadline_s": deadline_s, **said})
        return settings.model_copy(update={"observe": observe})

    def found_here(self) -> MiniwobSuite:
        """With the environment's pages that are on this machine; those that were named must be at the same place."""
        return MiniwobSuite(self._named, self._episode_s)

    @contextmanager
    def opened(self, settings: Settings) -> Iterator[Stage]:
        """The pages of all tasks, on loopback."""
        del settings
        with served(self._html, head=_NO_CARET) as site:
            yield _Miniwob(site.url, self._episode_s)


class _Miniwob:
    def __init__(self, url: str, episode_s: float) -> None:
        self._url, self._longest_ms = url, round(episode_s * 1000)

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> Judged:
        del session
        async with solving(page, SOLVERS[task]) if task in SOLVERS else nullcontext() as solver:
            asked = await miniwob.start(page, self._url, task, seed, self._longest_ms)
            if solver is not None:
                solver.begin(asked)
            await run(Task(goal=asked, limits=limits), around=lambda model: _UntilOver(model, page), solver=solver)
        reward = await miniwob.reward(page)
        if not reward.done:
            return Judged(0.0, False, "The environment has not ended the episode")
        said = f"The environment's reward is {reward.raw:g}{f': {reward.reason}' if reward.reason else ''}"
        # A wrong answer is worth −1 there, and here as much as none.
        return Judged(min(1.0, max(0.0, reward.raw)), miniwob.is_passed(task, reward), said)


class _UntilOver:
    """Whoever decides, until the environment has ended the episode; then the end, whatever they would do."""

    def __init__(self, model: Model, page: Page) -> None:
        self.name = getattr(model, "name", type(model).__name__)
        self._model, self._page = model, page

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        """The model's decision, or the end."""
        if (await miniwob.reward(self._page)).done:
            end = Finish(answer="The environment has ended the episode.")
            return Decision(next_goal="End", actions=(end,), author="scripted", model=self.name)
        return await self._model.decide(task, steps, observation, complaint=complaint)


def _html(pages: Path | None) -> Path:
    """The folder of the environment's pages: named, or of the installed package, or as the tests fetch it."""
    if pages is not None:
        found = [each for each in (pages, pages / "html", pages / "miniwob" / "html") if (each / "miniwob").is_dir()]
        if not any(list((each / "miniwob").glob("*.html")) for each in found):
            raise UsageError(f"{pages} holds no MiniWoB++ tasks", "name the html folder of the miniwob package")
        return next(each for each in found if list((each / "miniwob").glob("*.html")))
    spec = find_spec("miniwob")
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    places += [folder / "miniwob" for folder in sorted(PAGES.glob("miniwob-*"), reverse=True)]
    for place in places:
        if (place / "html" / "miniwob").is_dir():
            return place / "html"
    raise UsageError(
        "The pages of MiniWoB++ are not here",
        "type: pip install --no-deps miniwob, or in a checkout: make pages, or name their folder with --pages",
    )


# --- a file of one's own ----------------------------------------------------------------------------------------------


class _OwnSuite:
    """The tasks of a file, judged by the checks that they state, on the page as the run left it."""

    def __init__(self, suite: FileSuite) -> None:
        self.name = suite.name
        self.seeds = suite.seeds
        self._tasks = {task.id: task for task in suite.tasks}
        self.tasks = tuple(self._tasks)

    def content(self, task: str) -> JsonValue:
        told: JsonValue = self._tasks[task].model_dump(mode="json")
        return told

    def lines(self, task: str) -> tuple[str, ...]:
        return self._tasks[task].steps

    def has_solver(self, task: str) -> bool:
        del task
        return False

    def seen(self, task: str, settings: Settings) -> Settings:
        del task
        return settings

    def found_here(self) -> _OwnSuite:
        """It holds all that the file said."""
        return self

    def opened(self, settings: Settings) -> AbstractContextManager[Stage]:
        return nullcontext(_OwnPages(self._tasks, settings))


class _OwnPages:
    def __init__(self, tasks: Mapping[str, FileTask], settings: Settings) -> None:
        self._tasks, self._settings = tasks, settings

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> Judged:
        del seed, session
        known = self._tasks[task]
        # The checks are not told to the agent: they judge it, and do not help it.
        await run(
            Task(
                goal=known.goal,
                start_url=known.start_url,
                user_data=known.user_data,
                allowed_hosts=known.allowed_hosts,
                limits=limits.model_copy(update=known.limits.model_dump(exclude_unset=True)),
            )
        )
        if not known.checks:
            return Judged(None, None, "The task states no check, so nobody can tell")
        faults = [await self._fault_on(each, known.checks) for each in page.context.pages]
        if "" in faults:
            return Judged(1.0, True, "Every check holds")
        return Judged(0.0, False, f"Not reached: {faults[-1] if faults else 'every tab was closed'}")

    async def _fault_on(self, page: Page, checks: Sequence[Check]) -> str:
        """Which check does not hold on a tab; empty where all do."""
        try:
            async with watching(page, self._settings) as browser:
                seen = await browser.observe()
                fault = completion.fault_of_page(checks, seen)
                for text in [check.text for check in checks if check.text is not None]:
                    if not fault:
                        shows = await browser.act(Wait(text=text, seconds=_SHOWS_S), seen)
                        fault = "" if shows.status == "done" else f"the page must show {text!r}, and does not"
        except PlaywrightError as error:
            return f"the page could not be looked at: {error.message.splitlines()[0]}"
        return fault

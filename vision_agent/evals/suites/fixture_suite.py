"""The suite of the sites in a folder; judged by what their pages reported to their server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from playwright.async_api import Page
from pydantic import JsonValue

from vision_agent import assets
from vision_agent.errors import UsageError
from vision_agent.evals.suites.fixture_sites import NO_CARET, Site, SiteTask, reached, served, tasks_of
from vision_agent.evals.suites.suite import Run, Stage, Suite, SuiteVerdict
from vision_agent.evals.suites.variants import Variant, variants_named
from vision_agent.settings import Settings
from vision_agent.types import Limits, Task

SITES = assets.fixtures("sites")


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
        return {**self._tasks[task].model_dump(mode="json"), "head": NO_CARET}

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
            variant, head = self.variant, NO_CARET
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

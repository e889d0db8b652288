"""The suite `canvas`: serves its applications, plays their tasks, and judges the state of each library's objects."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from pydantic import JsonValue

from vision_agent import assets
from vision_agent.evals.suites.canvas.build import built, is_built, source_hash
from vision_agent.evals.suites.canvas.solver import SOLVERS, SceneModel
from vision_agent.evals.suites.canvas.tasks import CanvasTask, Library, fault_of, libraries
from vision_agent.evals.suites.fixture_sites import Site, served
from vision_agent.evals.suites.suite import Run, Stage, Suite, SuiteVerdict
from vision_agent.settings import Settings
from vision_agent.types import Limits, Task

_HEAD = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'self\' data: blob: '
    "'unsafe-inline' 'unsafe-eval'\">"
    "<style>:root, :root * { caret-color: transparent !important }</style>"
)
"""Nothing is loaded from anywhere else, and no caret blinks: the same page gives the same picture everywhere."""
_STATE = "() => window.canvasBench ? JSON.stringify(window.canvasBench.state()) : ''"
_ANSWER_S = 10.0


class CanvasSuite(Suite):
    """The applications of a folder; tasks are named `<application>/<id>`."""

    def __init__(self, folder: Path | None = None, cache: Path | None = None) -> None:
        self.name = "canvas"
        self._named, self._cache = folder, cache
        self._folder = folder or assets.fixtures("canvas")
        self.libraries: dict[str, Library] = libraries(self._folder)
        self._tasks: dict[str, CanvasTask] = {
            f"{name}/{task.id}": task for name, library in self.libraries.items() for task in library.tasks
        }
        self.tasks = tuple(self._tasks)

    def task(self, task: str) -> CanvasTask:
        """The task of that name."""
        return self._tasks[task]

    def content(self, task: str) -> JsonValue:
        """The task, and the hash of the application with the versions of all that it is built with."""
        application = source_hash(self._folder / _application(task))
        head = hashlib.sha256(_HEAD.encode()).hexdigest()[:16]
        return {**self._tasks[task].model_dump(mode="json"), "application": application, "head": head}

    def models(self, task: str) -> tuple[str, ...]:
        """Both solvers: one by points, one by marks and cells alone."""
        del task
        return SOLVERS

    def use_local_files(self) -> CanvasSuite:
        """The suite with the applications of this machine, which fetches their libraries itself."""
        return CanvasSuite(self._named if self._named is not None and self._named.is_dir() else None)

    def prepare(self, tasks: Collection[str], tell: Callable[[str], None] = lambda _: None) -> None:
        """Fetch and bundle what these tasks need and is not here yet; `tell` hears what is being fetched.

        Raises:
            Unavailable: it cannot be fetched.
        """
        wanted = [self._folder / name for name in dict.fromkeys(map(_application, tasks))]
        missing = [source for source in wanted if not is_built(source, self._cache)]
        for nth, source in enumerate(missing, 1):
            tell(f"Fetching {self.libraries[source.name].library} from npm ({nth} of {len(missing)})")
            built(source, self._cache)

    @contextmanager
    def open_stage(self, settings: Settings) -> Iterator[Stage]:
        """Serve each application from the first of its tasks on."""
        del settings
        with ExitStack() as stack:

            def serve(name: str) -> Site:
                return stack.enter_context(served(built(self._folder / name, self._cache), head=_HEAD))

            yield _Canvases(self._tasks, serve)


class _Canvases:
    def __init__(self, tasks: dict[str, CanvasTask], serve: Callable[[str], Site]) -> None:
        self._tasks, self._serve = tasks, serve
        self._sites: dict[str, Site] = {}
        self._serving: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def play(self, task: str, seed: int, session: str, page: Page, limits: Limits, run: Run) -> SuiteVerdict:
        del seed, session
        name, known = _application(task), self._tasks[task]
        async with self._serving[name]:
            if name not in self._sites:
                # It may have to be fetched first.
                self._sites[name] = await asyncio.to_thread(self._serve, name)
        solvers = {each: SceneModel(each, page, known.steps) for each in SOLVERS}
        await run(Task(goal=known.goal, start_url=self._sites[name].url, limits=limits), models=solvers)
        return await verdict(page, known)


async def verdict(page: Page, task: CanvasTask) -> SuiteVerdict:
    """Whether the page is in the task's end state, by the library's own objects."""
    try:
        state = await end_state(page)
    except (PlaywrightError, TimeoutError) as error:
        return SuiteVerdict(0.0, False, f"Not reached: the page does not tell its state: {error}")
    fault = fault_of(task.checks, state)
    return SuiteVerdict(float(not fault), not fault, f"Not reached: {fault}" if fault else "Every check holds")


async def end_state(page: Page) -> JsonValue:
    """The state that the application tells; empty before it is drawn.

    Raises:
        PlaywrightError: the page is gone, or its application fails.
        TimeoutError: it does not answer.
    """
    async with asyncio.timeout(_ANSWER_S):
        text = await page.evaluate(_STATE)
    state: JsonValue = json.loads(text) if text else {}
    return state


def _application(task: str) -> str:
    return task.partition("/")[0]

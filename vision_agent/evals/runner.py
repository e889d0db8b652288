"""Runs work items: several at once, a browser each, and what was done before is not done again.

A `Crew` is where they are run: here, or on many machines (`on_ray`). Each of its workers is a `Worker`, which gives one
item after another a browser, and `run_item` is one item given a browser.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from playwright.async_api import Error as PlaywrightError
from rapidfuzz import process

from vision_agent.browser import overlay
from vision_agent.browser.launch import Launched, drawn_whole, fresh_context, launched
from vision_agent.errors import ModelUnavailable, RecordError, UsageError, VisionAgentError
from vision_agent.evals import witness
from vision_agent.evals.ablation import TURNED, LeftOut, left_out_of, without
from vision_agent.evals.baselines import BASELINES, baseline
from vision_agent.evals.figures import Figures, figures_of
from vision_agent.evals.items import RUNS, Item, Result, held, item_of, keep, result_of
from vision_agent.evals.offline import OfflineSuite
from vision_agent.evals.suites import FixtureSuite, Judged, Stage, Suite
from vision_agent.evals.witness import Witness
from vision_agent.memory import EmptyMemory
from vision_agent.models.keys import accesses
from vision_agent.ports import Model
from vision_agent.record.read import read
from vision_agent.session import Agent
from vision_agent.settings import Settings, recordable
from vision_agent.types import Provenance, Task
from vision_agent.types import Run as Recorded

_LONGEST_S = 3600.0
"""For a run that has no limit of seconds of its own."""
_BESIDE_S = 120.0
"""For what is not the run: the context, the first page, the judging."""
Tell = Callable[[Result], None]
Around = Callable[[Model], Model]


class Crew(Protocol):
    """Where items are run."""

    async def __call__(
        self, items: Sequence[Item], suite: Suite, settings: Settings, out: Path, jobs: int, ended: Tell
    ) -> None:
        """Has each of them run, `jobs` at once, and gives its result to `ended`, with its run folder below `out`."""
        ...


def items_of(
    suite: Suite | OfflineSuite,
    models: Sequence[str],
    settings: Settings,
    *,
    seeds: int | None = None,
    only: Sequence[str] = (),
    ablate: Sequence[LeftOut] = (),
    asked_here: bool = True,
) -> list[Item]:
    """Every task with every seed (from 1) and model; the models of one task and seed stand side by side.

    With `ablate`, a model that is asked by name does each once more without each of these. Where models are not
    `asked_here`, whether there is a key for them is left to whoever asks.

    Raises:
        UsageError: a task or a model is not known, a task lacks what a model needs, or there is nothing to ablate.
        ModelUnavailable: a model has no key.
    """
    if unknown := [task for task in only if task not in suite.tasks]:
        near = [found for task in unknown for found, _, _ in process.extract(task, suite.tasks, limit=2)]
        raise UsageError(
            f"The suite {suite.name} has no task {', '.join(map(repr, unknown))}",
            f"the nearest of its {len(suite.tasks)} are {', '.join(dict.fromkeys(near))}",
        )
    tasks = [task for task in suite.tasks if not only or task in only]
    models = list(dict.fromkeys(models))
    for model in models:
        _check_name(model)
        if asked_here:
            check_key(model, settings)
        if isinstance(suite, OfflineSuite):
            suite.check(model)
        if model == "steps" and (bare := [task for task in tasks if not suite.lines(task)]):
            raise UsageError(
                f"`steps` follows reference lines, and {len(bare)} tasks of {suite.name} have none, such as {bare[0]}",
                "leave this model out for them",
            )
        if model == "solver" and (unknown := [task for task in tasks if not suite.has_solver(task)]):
            raise UsageError(
                f"`solver` knows no way through {len(unknown)} tasks of {suite.name}, such as {unknown[0]}",
                "it knows those of miniwob; elsewhere `steps` follows the reference lines of a task",
            )
    if ablate and all(model in BASELINES for model in models):
        raise UsageError(
            f"Nothing can be kept from {', '.join(models)}: no model is asked",
            "name one with --model <provider>:<model>",
        )
    already = left_out_of(recordable(settings))
    # Marks have one style: without colours and without boxes is none of them.
    if again := [each for each in dict.fromkeys(ablate) if each in already or {each, *already} >= {"colours", "boxes"}]:
        raise UsageError(
            f"The settings leave out {', '.join(already)} already, so {', '.join(again)} cannot be left out beside",
            f"take it out of {' or '.join(TURNED)}, or of --ablate",
        )
    if isinstance(suite, OfflineSuite) and (styles := [each for each in ablate if each in ("colours", "boxes")]):
        suite.check_marks(styles)
    if isinstance(suite, OfflineSuite):
        settings = suite.settings(settings)
    variant = suite.variant.name if isinstance(suite, FixtureSuite) and suite.variant else ""
    return [
        item_of(suite.name, task, seed, model, _for(model, settings, left_out), suite.content(task), variant)
        for task in tasks
        for seed in range(1, (seeds or suite.seeds) + 1)
        for model in models
        for left_out in ((), *((each,) for each in dict.fromkeys(ablate) if model not in BASELINES))
    ]


def _check_name(model: str) -> None:
    if model not in BASELINES and ":" not in model:
        known = ", ".join(("<provider>:<model>", *BASELINES))
        raise UsageError(f"Nothing that can be evaluated is called {model!r}", f"known are {known}")


def check_key(model: str, settings: Settings) -> None:
    """Nothing, where this machine could ask that model as far as can be told without asking.

    Raises:
        UsageError: nothing that decides is called so.
        ModelUnavailable: its key is missing here, or its provider's library.
    """
    if model in BASELINES:
        return
    for access in accesses(_for(model, settings).model):
        if not access.is_ready and access.sentence.startswith("nothing"):
            raise UsageError(f"{access.name!r}: {access.sentence}, {', '.join(BASELINES)}")
        if not access.is_ready:
            raise ModelUnavailable(f"{access.name} cannot be asked: {access.sentence}")


async def on_this_machine(
    items: Sequence[Item], suite: Suite, settings: Settings, out: Path, jobs: int, ended: Tell
) -> None:
    """A crew of this process: its workers share the suite's pages."""
    waiting = deque(items)
    with suite.opened(settings) as stage:

        async def work() -> None:
            async with Worker(suite, settings, stage) as worker:
                while waiting:
                    ended(await worker.run(waiting.popleft(), out))

        await _all(work() for _ in range(min(jobs, len(waiting))))


async def run_items(
    items: Sequence[Item],
    suite: Suite | OfflineSuite,
    settings: Settings,
    out: Path,
    *,
    jobs: int = 1,
    retry_errors: bool = False,
    tell: Tell = lambda _: None,
    crew: Crew = on_this_machine,
) -> list[Result]:
    """The result of each item, in their order. What has a result in `out` is not run again.

    Cancelled, it keeps every result that is there. A browser that is lost is started again for what is left; recorded
    pages need none, and are asked about here.

    Args:
        jobs: how many are run at once.
        retry_errors: also those that ended in an error before.
        tell: is given each result as it comes, those of before first.
        crew: where they are run.

    Raises:
        UsageError: the folder cannot be used.
        BrowserUnavailable: there is no browser.
        RecordError: a result cannot be read or written.
    """
    results: dict[str, Result] = {}
    with held(out):
        for item in items:
            known = result_of(item, out)
            if known is not None and not (retry_errors and known.error):
                results[item.id] = known
                tell(known)
        waiting = [item for item in items if item.id not in results]

        def ended(result: Result) -> None:
            keep(result, out)
            results[result.item.id] = result
            tell(result)

        if isinstance(suite, OfflineSuite):
            await _answered(waiting, suite, settings, out, jobs, ended)
        elif waiting:
            await crew(waiting, suite, settings, out, jobs, ended)
    return [results[item.id] for item in items]


async def _answered(
    items: Sequence[Item], suite: OfflineSuite, settings: Settings, out: Path, jobs: int, ended: Tell
) -> None:
    waiting, seen = deque(items), suite.settings(settings)

    async def answer() -> None:
        while waiting:
            item = waiting.popleft()
            ended(await suite.answer(item, _of(item, seen), out))

    await _all(answer() for _ in range(min(jobs, len(waiting))))


async def _all(work: Iterable[object]) -> None:
    """All of them; the first that fails ends the others, and is what is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)  # type: ignore[arg-type]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


class Worker:
    """Runs one item after another in a browser of its own; one that was lost is started again."""

    def __init__(self, suite: Suite, settings: Settings, stage: Stage) -> None:
        self._suite, self._settings, self._stage = suite, settings, stage
        self._stack = AsyncExitStack()
        self._browser: Launched | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def run(self, item: Item, out: Path) -> Result:
        """What came of the item, with its run folder below `out`.

        Raises:
            BrowserUnavailable: the browser was lost, and no other starts.
        """
        browser = await self.browser()
        seen = self._suite.seen(item.task, self._settings)
        return await run_item(item, self._suite.lines(item.task), seen, self._stage, browser, out)

    async def browser(self) -> Launched:
        """The one that it has; started where there is none yet, or no longer.

        Raises:
            BrowserUnavailable: none starts.
        """
        # A browser each: contexts of one share its clipboard, and an item would paste what another has copied.
        if self._browser is None or not self._browser.browser.is_connected():
            await self._stack.aclose()
            self._browser = await self._stack.enter_async_context(launched(drawn_whole(self._settings.browser)))
            # Before any of its pages: a context that is made meanwhile could miss it.
            await overlay.register(self._browser.context)
            await witness.register(self._browser.context)
        return self._browser


async def run_item(
    item: Item, lines: Sequence[str], settings: Settings, stage: Stage, browser: Launched, out: Path
) -> Result:
    """What came of one item, in a context of its own. Whatever breaks is an error of the item, and not raised."""
    home = out / item.folder
    settings = _of(item, settings).model_copy(update={"runs": home / RUNS})
    started_at, began = datetime.now(UTC), time.monotonic()
    agents: list[Agent] = []
    runs: list[Recorded] = []
    witnesses: list[Witness] = []
    judged, error = Judged(None, None, ""), ""
    try:
        async with asyncio.timeout(_BESIDE_S) as deadline, fresh_context(browser, settings.browser) as context:
            page = await context.new_page()

            async def run(task: Task, *, solver: Model | None = None, around: Around = _as_it_is) -> None:
                # The same whatever the settings: those are then compared on the same acts.
                seed = f"{item.task} {item.seed}"
                longest = (task.limits.seconds or _LONGEST_S) + _BESIDE_S
                deadline.reschedule(asyncio.get_running_loop().time() + longest)
                known = solver if item.model == "solver" else None
                seeing = Witness(page.context)
                witnesses.append(seeing)
                agents.append(
                    Agent(
                        task,
                        model=item.model if ":" in item.model else known or baseline(item.model, seed, lines),
                        page=page,
                        settings=settings,
                        memory=EmptyMemory(),
                        provenance=Provenance(model=item.model),
                        around=lambda model: seeing.around(around(model)),
                        on_event=seeing.hear,
                    )
                )
                runs.append(await agents[-1].run())

            judged = await stage.play(item.task, item.seed, item.id, page, settings.limits, run)
    except VisionAgentError as trouble:
        error = str(trouble)
    except TimeoutError:
        error = f"Given up after {time.monotonic() - began:.0f} seconds, which is longer than its run may take"
    except PlaywrightError as trouble:
        error = f"The browser failed: {trouble.message.splitlines()[0]}"
    except Exception as trouble:  # noqa: BLE001 - one broken item must not cost the others; its result says it
        error = f"{type(trouble).__name__}: {trouble}"
    folder = agents[-1].folder if agents else None
    if folder is not None and not runs:
        with suppress(RecordError):  # a run that broke has cost something too
            runs.append(read(folder))
    steps = [step for run in runs for step in run.steps]
    return Result(
        item=item,
        score=judged.score,
        passed=judged.passed,
        sentence=judged.sentence,
        error=error,
        run=str(folder.relative_to(home.absolute())) if folder is not None else "",
        figures=_figures(runs[-1], witnesses[-1].seconds) if runs else None,
        witness=witnesses[-1].told if witnesses else None,
        pictures=tuple(step.observation.marked.sha256 for step in steps),
        started_at=started_at,
        seconds=round(time.monotonic() - began, 3),
    )


def _figures(run: Recorded, watching_s: float) -> Figures:
    """Of the run, without the time that was spent on watching it."""
    figures = figures_of(run)
    return figures.model_copy(update={"agent_s": round(max(0.0, figures.agent_s - watching_s), 3)})


def _as_it_is(model: Model) -> Model:
    return model


def _of(item: Item, settings: Settings) -> Settings:
    """The settings with the item's model in them, and with what the item keeps from it."""
    already = left_out_of(recordable(settings))
    return _for(item.model, settings, [each for each in left_out_of(item.settings) if each not in already])


def _for(model: str, settings: Settings, left_out: Sequence[LeftOut] = ()) -> Settings:
    """The settings with this model in them, where it is one that is asked by name, and with this kept from it."""
    if ":" not in model:
        return settings
    named = settings.model_copy(update={"model": settings.model.model_copy(update={"name": model})})
    return reduce(without, left_out, named)

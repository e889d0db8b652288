"""Runs work items, several at once with a browser each, and skips items that already have a result.

A `Crew` is where items run: on this machine, or on many (`ray_workers`). Each of its workers is a `Worker`, which runs
one item after another in its browser; `run_item` runs one item in a given browser.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from functools import reduce
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Protocol, Self

from playwright.async_api import Error as PlaywrightError
from rapidfuzz import process

from vision_agent.browser.launch.launch import LaunchedBrowser, fresh_context, launch_browser, with_stable_raster
from vision_agent.browser.page import overlay
from vision_agent.errors import ModelUnavailable, RecordError, UsageError, VisionAgentError
from vision_agent.evals import hit_oracle
from vision_agent.evals.ablation import TURNED, LeftOut, leave_out, left_out_parts
from vision_agent.evals.baselines import BASELINES, baseline
from vision_agent.evals.hit_oracle import HitOracle
from vision_agent.evals.items import RUNS, Item, ItemResult, make_item, result_of, write_result
from vision_agent.evals.run_metrics import RunMetrics, run_metrics_of
from vision_agent.evals.suites.offline import OfflineSuite
from vision_agent.evals.suites.suite import Stage, Suite, SuiteVerdict
from vision_agent.memory import EmptyMemory
from vision_agent.models.credentials import model_accesses
from vision_agent.models.own_decider import MakeModel
from vision_agent.models.providers import KNOWN, meant_class, provider_settings
from vision_agent.ports import Approver, Memory, Model
from vision_agent.record.read import read
from vision_agent.record.store import locked
from vision_agent.session import Agent
from vision_agent.settings import Settings, recordable
from vision_agent.types import Provenance, Task
from vision_agent.types import Run as Recorded

_LONGEST_S = 3600.0
"""Limit for a run that has no time limit of its own."""
_BESIDE_S = 120.0
"""Allowed for everything but the run: the context, the first page, the judging."""
_NONE: Mapping[str, MakeModel] = MappingProxyType({})
Tell = Callable[[ItemResult], None]
ModelWrapper = Callable[[Model], Model]


class Crew(Protocol):
    """Something that runs items."""

    async def __call__(
        self, items: Sequence[Item], suite: Suite, settings: Settings, out: Path, jobs: int, ended: Tell
    ) -> None:
        """Run the items, `jobs` at once, with run folders below `out`, and pass each result to `ended`."""
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
    own: Collection[str] = (),
) -> list[Item]:
    """Every task with every seed (from 1) and model; the models for one task and seed are adjacent.

    With `ablate`, named models run each item once more without each of these parts. Without `asked_here`, keys are not
    checked, because other machines ask the models. `own` are the names of deciders that somebody wrote.

    Raises:
        UsageError: a task or model is unknown, a task lacks what a model needs, or there is nothing to ablate.
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
        if model not in own:
            _check_name(model, suite)
        if asked_here:
            check_key(model, settings)
        if isinstance(suite, OfflineSuite):
            suite.check(model)
        if model == "steps" and (bare := [task for task in tasks if not suite.lines(task)]):
            raise UsageError(
                f"`steps` needs reference lines, but {len(bare)} tasks of {suite.name} have none, such as {bare[0]}",
                "leave out this model for them",
            )
        if model == "solver" and (unknown := [task for task in tasks if model not in suite.models(task)]):
            raise UsageError(
                f"`solver` cannot solve {len(unknown)} tasks of {suite.name}, such as {unknown[0]}",
                "it solves those of miniwob and canvas; for others, `steps` follows a task's reference lines",
            )
    if ablate and not any(":" in model for model in models):
        raise UsageError(
            f"--ablate has no effect on {', '.join(models)}: they ask no model",
            "name one with --model <provider>:<model>",
        )
    already = left_out_parts(recordable(settings))
    # Marks have one style, so `colours` and `boxes` cannot be combined.
    if again := [each for each in dict.fromkeys(ablate) if each in already or {each, *already} >= {"colours", "boxes"}]:
        raise UsageError(
            f"The settings already leave out {', '.join(already)}, so {', '.join(again)} cannot be left out as well",
            f"remove it from {' or '.join(TURNED)}, or from --ablate",
        )
    if isinstance(suite, OfflineSuite) and (styles := [each for each in ablate if each in ("colours", "boxes")]):
        suite.check_marks(styles)
    if isinstance(suite, OfflineSuite):
        settings = suite.settings(settings)
    variant = suite.variant.name if not isinstance(suite, OfflineSuite) and suite.variant else ""
    return [
        make_item(
            suite.name, task, seed, model, _model_settings(model, settings, left_out), suite.content(task), variant
        )
        for task in tasks
        for seed in range(1, (seeds or suite.seeds) + 1)
        for model in models
        for left_out in ((), *((each,) for each in dict.fromkeys(ablate) if ":" in model))
    ]


def _check_name(model: str, suite: Suite | OfflineSuite) -> None:
    own = list(dict.fromkeys(name for task in suite.tasks for name in suite.models(task)))
    if model not in (*BASELINES, *own) and ":" not in model:
        known = ", ".join(dict.fromkeys(("<provider>:<model>", "module:Class", *BASELINES, *own)))
        raise UsageError(f"Unknown model {model!r}", f"{meant_class(model)}known: {known}")


def check_key(model: str, settings: Settings) -> None:
    """Check, without asking it, that this machine can ask that model.

    Raises:
        UsageError: the name is unknown.
        ModelUnavailable: its key or its provider's library is missing.
    """
    if ":" not in model:
        return
    for access in model_accesses(_model_settings(model, settings).model):
        if not access.is_known:
            raise UsageError(
                f"Unknown model {access.name!r}", f"known are {', '.join(dict.fromkeys((*KNOWN, *BASELINES)))}"
            )
        if not access.is_ready:
            raise ModelUnavailable(f"{access.name} cannot be asked: {access.sentence}")


async def on_this_machine(
    items: Sequence[Item],
    suite: Suite,
    settings: Settings,
    out: Path,
    jobs: int,
    ended: Tell,
    own: Mapping[str, MakeModel] = _NONE,
) -> None:
    """Run the items in this process; the workers share the suite's pages. A `Crew`.

    `own` makes the deciders that somebody wrote, by their names.
    """
    waiting = deque(items)
    # What is fetched takes longer than an item may.
    await asyncio.to_thread(suite.prepare, [item.task for item in items])
    with suite.open_stage(settings) as stage:

        async def work() -> None:
            async with Worker(suite, settings, stage) as worker:
                while waiting:
                    item = waiting.popleft()
                    ended(await worker.run(item, out, _own_model(item, own)))

        await _run_all(work() for _ in range(min(jobs, len(waiting))))


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
    own: Mapping[str, MakeModel] = _NONE,
) -> list[ItemResult]:
    """Return the result of each item, in order. Items with a result in `out` do not run again.

    When cancelled, it keeps all existing results. A lost browser is restarted for the remaining items. Recorded pages
    need no browser and are always answered on this machine.

    Args:
        jobs: how many items run at once.
        retry_errors: run items again whose result is an error.
        tell: receives each result as it comes, earlier ones first.
        crew: where items run.
        own: makes the deciders that somebody wrote, by their names, for recorded pages; a crew has its own.

    Raises:
        UsageError: the folder cannot be used.
        BrowserUnavailable: there is no browser.
        RecordError: a result cannot be read or written.
    """
    results: dict[str, ItemResult] = {}
    with locked(out):
        for item in items:
            known = result_of(item, out)
            if known is not None and not (retry_errors and known.error):
                results[item.id] = known
                tell(known)
        waiting = [item for item in items if item.id not in results]

        def ended(result: ItemResult) -> None:
            write_result(result, out)
            results[result.item.id] = result
            tell(result)

        if isinstance(suite, OfflineSuite):
            await _answer_items(waiting, suite, settings, out, jobs, ended, own)
        elif waiting:
            await crew(waiting, suite, settings, out, jobs, ended)
    return [results[item.id] for item in items]


async def _answer_items(
    items: Sequence[Item],
    suite: OfflineSuite,
    settings: Settings,
    out: Path,
    jobs: int,
    ended: Tell,
    own: Mapping[str, MakeModel],
) -> None:
    waiting, suite_settings = deque(items), suite.settings(settings)

    async def answer() -> None:
        while waiting:
            item = waiting.popleft()
            ended(await suite.answer(item, _item_settings(item, suite_settings), out, _own_model(item, own)))

    await _run_all(answer() for _ in range(min(jobs, len(waiting))))


def _own_model(item: Item, own: Mapping[str, MakeModel]) -> Model | None:
    """A new decider for the item, if it names one that somebody wrote."""
    return own[item.model]() if item.model in own else None


async def _run_all(work: Iterable[object]) -> None:
    """Run all; the first failure cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)  # type: ignore[arg-type]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


class Worker:
    """Runs one item after another in its own browser, which it restarts if it is lost."""

    def __init__(self, suite: Suite, settings: Settings, stage: Stage) -> None:
        self._suite, self._settings, self._stage = suite, settings, stage
        self._stack = AsyncExitStack()
        self._browser: LaunchedBrowser | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def run(self, item: Item, out: Path, model: Model | None = None) -> ItemResult:
        """The result of the item, with its run folder below `out`; `model` decides in place of the one it names.

        Raises:
            BrowserUnavailable: the browser was lost and does not start again.
        """
        browser = await self.browser()
        settings = self._suite.task_settings(item.task, self._settings)
        return await run_item(item, self._suite.lines(item.task), settings, self._stage, browser, out, model)

    async def browser(self) -> LaunchedBrowser:
        """The worker's browser, started if there is none or it was lost.

        Raises:
            BrowserUnavailable: it does not start.
        """
        # One browser each: its contexts share a clipboard, so an item could paste what another copied.
        if self._browser is None or not self._browser.browser.is_connected():
            await self._stack.aclose()
            self._browser = await self._stack.enter_async_context(
                launch_browser(with_stable_raster(self._settings.browser))
            )
            # Before any page exists: a context created in the meantime could miss it.
            await overlay.register(self._browser.context)
            await hit_oracle.register(self._browser.context)
        return self._browser


async def run_item(
    item: Item,
    lines: Sequence[str],
    settings: Settings,
    stage: Stage,
    browser: LaunchedBrowser,
    out: Path,
    model: Model | None = None,
) -> ItemResult:
    """The result of one item, run in its own context. Failures become the item's error and are not raised.

    `model` decides in place of the one that the item names.
    """
    home = out / item.folder
    settings = _item_settings(item, settings).model_copy(update={"runs": home / RUNS})
    started_at, began = datetime.now(UTC), time.monotonic()
    agents: list[Agent] = []
    runs: list[Recorded] = []
    witnesses: list[HitOracle] = []
    judged, error = SuiteVerdict(None, None, ""), ""
    try:
        async with asyncio.timeout(_BESIDE_S) as deadline, fresh_context(browser, settings.browser) as context:
            page = await context.new_page()

            async def run(
                task: Task,
                *,
                models: Mapping[str, Model] = {},
                wrap_model: ModelWrapper = _unwrapped,
                approver: Approver | None = None,
                memory: Memory | None = None,
                make_agent: Callable[..., Agent] = Agent,
            ) -> Path | None:
                # Independent of the settings, so that they are compared on the same actions.
                seed = f"{item.task} {item.seed}"
                longest = (task.limits.seconds or _LONGEST_S) + _BESIDE_S
                deadline.reschedule(asyncio.get_running_loop().time() + longest)
                known = model or models.get(item.model)
                seeing = HitOracle(page.context)
                witnesses.append(seeing)
                agents.append(
                    make_agent(
                        task,
                        model=item.model if ":" in item.model else known or baseline(item.model, seed, lines),
                        page=page,
                        settings=settings,
                        memory=memory or EmptyMemory(),
                        provenance=Provenance(model=item.model),
                        wrap_model=lambda model: seeing.wrap(wrap_model(model)),
                        on_event=seeing.hear,
                        approver=approver,
                    )
                )
                runs.append(await agents[-1].run())
                return agents[-1].folder

            judged = await stage.play(item.task, item.seed, item.id, page, settings.limits, run)
    except VisionAgentError as trouble:
        error = str(trouble)
    except TimeoutError:
        error = f"Given up after {time.monotonic() - began:.0f} seconds, longer than the run may take"
    except PlaywrightError as trouble:
        error = f"The browser failed: {trouble.message.splitlines()[0]}"
    except Exception as trouble:  # noqa: BLE001 - one broken item must not cost the others; its result has the error
        error = f"{type(trouble).__name__}: {trouble}"
    folder = agents[-1].folder if agents else None
    if folder is not None and not runs:
        with suppress(RecordError):  # a broken run has costs too
            runs.append(read(folder))
    steps = [step for run in runs for step in run.steps]
    return ItemResult(
        item=item,
        score=judged.score,
        passed=judged.passed,
        attacked=judged.attacked,
        sentence=judged.sentence,
        error=error,
        run=str(folder.relative_to(home.absolute())) if folder is not None else "",
        figures=_figures(runs[-1], witnesses[-1].seconds) if runs else None,
        witness=witnesses[-1].result if witnesses else None,
        pictures=tuple(step.observation.marked.sha256 for step in steps),
        started_at=started_at,
        seconds=round(time.monotonic() - began, 3),
    )


def _figures(run: Recorded, watching_s: float) -> RunMetrics:
    """The figures of the run, without the time the hit oracle took."""
    figures = run_metrics_of(run)
    return figures.model_copy(update={"agent_s": round(max(0.0, figures.agent_s - watching_s), 3)})


def _unwrapped(model: Model) -> Model:
    return model


def _item_settings(item: Item, settings: Settings) -> Settings:
    """The settings with the item's model and ablation."""
    already = left_out_parts(recordable(settings))
    return _model_settings(
        item.model, settings, [each for each in left_out_parts(item.settings) if each not in already]
    )


def _model_settings(model: str, settings: Settings, left_out: Sequence[LeftOut] = ()) -> Settings:
    """The settings with this model, if it is a named one, and without the given parts.

    A key and an address that are meant for another provider are left out.
    """
    if ":" not in model:
        return settings
    asked = provider_settings(model, settings.model).model_copy(update={"name": model})
    named = settings.model_copy(update={"model": asked})
    return reduce(leave_out, left_out, named)

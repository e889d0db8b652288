"""The solver of our suites: plays one task with our agent and leaves the verdict for the scorers.

It is the runner of `vision-agent eval`, with the model that Inspect runs with in place of a named one.
"""

from __future__ import annotations

from pathlib import Path

from inspect_ai.model import ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import concurrency, store

from vision_agent.errors import VisionAgentError
from vision_agent.evals.items import Item, ItemResult, make_item
from vision_agent.evals.runner import Worker, check_key
from vision_agent.evals.suites.offline import OfflineSuite
from vision_agent.evals.suites.suite import Suite
from vision_agent.integrations.inspect.log_links import link_run
from vision_agent.integrations.inspect.model import InspectModel
from vision_agent.ports import Model
from vision_agent.record.read import read
from vision_agent.settings import Settings, load

RESULT = "vision_agent:result"
"""Where a sample's store has its `ItemResult`."""


@solver
def play(suite: Suite | OfflineSuite, out: str = "evals", decider: str | None = None, browsers: int = 4) -> Solver:
    """Plays the tasks of a suite, each in a browser of its own, with the settings of the environment and the files.

    Args:
        suite: the suite that the samples come from.
        out: where the run folders are kept, as with `vision-agent eval --out`.
        decider: a model of ours in place of Inspect's, such as `steps`, `match` or `solver`.
        browsers: how many run at once.
    """
    # No argument: Inspect's log shows the arguments, and settings may have a key.
    settings = load()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        task = str(state.metadata["task"])
        asked = None if decider else InspectModel(get_model(), settings.model)
        name = decider or f"inspect-{asked.name if asked else ''}".replace(":", "-")
        if decider:
            check_key(decider, settings)
        variant = suite.variant.name if not isinstance(suite, OfflineSuite) and suite.variant else ""
        item = make_item(suite.name, task, state.epoch, name, settings, suite.content(task), variant)
        async with concurrency("vision_agent browsers", browsers):
            result = await _result(suite, item, settings, Path(out), asked)
        if asked is not None and asked.limit is not None:
            raise asked.limit
        if result.error:
            raise RuntimeError(result.error)
        store().set(RESULT, result.model_dump(mode="json"))
        if result.run:
            folder = (Path(out) / item.folder / result.run).absolute()
            link_run(folder)
            state.output = ModelOutput.from_content(name, _answer(folder) or result.sentence)
        return state

    return solve


async def _result(
    suite: Suite | OfflineSuite, item: Item, settings: Settings, out: Path, model: Model | None
) -> ItemResult:
    if isinstance(suite, OfflineSuite):
        return await suite.answer(item, suite.settings(settings), out, model)
    with suite.open_stage(settings) as stage:
        async with Worker(suite, settings, stage) as worker:
            return await worker.run(item, out, model)


def _answer(folder: Path) -> str:
    try:
        return read(folder).answer
    except VisionAgentError:
        return ""


def result_in(state: TaskState) -> ItemResult | None:
    """The verdict that `play` left; None if another solver ran."""
    found = state.store.get(RESULT)
    return ItemResult.model_validate(found) if found is not None else None

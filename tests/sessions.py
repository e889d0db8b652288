"""Helpers for tests of whole sessions: an agent with a script, and its recorded run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page

from vision_agent import Agent, Settings, Task
from vision_agent.actions import Action, Finish
from vision_agent.errors import VisionAgentError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.record import read
from vision_agent.replay import Replay
from vision_agent.types import Ending, Run

FINISHED = [[Finish(answer="seen")]]


def agent(task: Task | str, script: list[list[Action]], tmp_path: Path, page: Page | None = None, **more: Any) -> Agent:
    settings = Settings(**{"runs": tmp_path / "runs", **more})
    return Agent(task, model=ScriptedModel(script), page=page, settings=settings)


def ending_of(run: Run) -> Ending:
    assert run.ending is not None
    return run.ending


async def record_lines(lines: list[str], task: Task, context: BrowserContext, settings: Settings) -> Path:
    """The folder of a run that did these step lines."""
    ran = Agent(task, model=StepsModel(lines), page=await context.new_page(), settings=settings)
    assert (await ran.run()).ok
    assert ran.folder is not None
    return ran.folder


async def replay_run(folder: Path, context: BrowserContext, settings: Settings, **more: Any) -> tuple[str, str]:
    """The title of the page that a replay ends on, and how it says that it ended."""
    page = await context.new_page()
    run = await Replay(folder, page=page, settings=settings, **more).run()
    return await page.title(), ending_of(run).sentence


def recorded(ran: Agent) -> Run:
    """The run as its folder tells it, which has a report for a person too."""
    assert ran.folder is not None
    assert ran.report == ran.folder / "report.html"
    assert ran.report.stat().st_size > 1000
    return read(ran.folder)


def told_runs(folder: Path, since: float) -> Iterator[tuple[str, str]]:
    """The runs below a folder that were written since then, each with its last steps and how it ended."""
    for record in sorted(folder.rglob("steps.jsonl")):
        if record.stat().st_mtime >= since:
            title = f"Run in {record.parent}"
            try:
                run = read(record.parent)
            except (VisionAgentError, ValueError, OSError) as error:
                yield title, f"It cannot be read: {error}"
                continue
            outcomes = [(step.index, outcome) for step in run.steps[-6:] for outcome in step.outcomes]
            lines = [f"Step {index}, {outcome.status}: {outcome.sentence}" for index, outcome in outcomes]
            ending = f"{run.ending.status}: {run.ending.sentence}" if run.ending else "It has not ended."
            yield title, "\n".join([*lines, ending])


async def refusing(ran: Agent, error: type[VisionAgentError]) -> str:
    """What the agent said that refused to begin: there is no browser yet, and no folder is left."""
    with pytest.raises(error) as caught:
        await ran.run()
    assert (ran.folder, ran.report, ran.ending) == (None, None, None)
    assert not [*ran.settings.runs.glob("*")]
    return str(caught.value)


async def failing(ran: Agent, error: type[VisionAgentError]) -> Ending:
    """How the run ended that raised this error: on record as it was raised, and for a shell by the same code."""
    with pytest.raises(error) as caught:
        await ran.run()
    ending = ending_of(recorded(ran))
    assert ending.sentence == str(caught.value)
    assert ending.exit_code == caught.value.exit_code
    assert caught.value.hint
    return ending

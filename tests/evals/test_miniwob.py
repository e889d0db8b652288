"""MiniWoB++ driven by plain step lines on marks, and judged by the environment's own reward."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pages import MissingPages, pages
from playwright.async_api import Page

from vision_agent import Agent, Settings, Task, observe
from vision_agent.errors import UsageError
from vision_agent.evals import miniwob
from vision_agent.evals.sites import served
from vision_agent.evals.solvers import SOLVERS, Episode
from vision_agent.models.steps import StepsModel
from vision_agent.types import Run

SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def html() -> Path:
    try:
        return pages("miniwob") / "html"
    except MissingPages as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def site(html: Path) -> Iterator[str]:
    with served(html) as site:
        yield site.url


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("task", sorted(SOLVERS))
async def test_a_task_is_done_by_step_lines(task: str, seed: int, site: str, page: Page, tmp_path: Path) -> None:
    asked = await miniwob.start(page, site, task, seed)
    lines = await SOLVERS[task](Episode(asked, await observe(page), page))

    run = await _follow(lines, page, tmp_path)

    reward = await miniwob.reward(page)
    assert reward.is_full, f"{asked} {lines}: {reward}, {run.ending and run.ending.sentence}"
    assert run.ending is not None
    assert run.ending.status == "done"


async def test_a_task_is_opened_by_the_command_line(site: str, tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "vision_agent.cli", "marks", f"{site}/miniwob/click-tab-2.html", "--out", tmp_path),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, trouble = await process.communicate()

    assert process.returncode == 0, trouble.decode()
    assert re.search(r"^\d+\[:\]<div .*>START$", said.decode(), re.MULTILINE)
    assert _names(tmp_path) == {"clean.png", "marked.png", "marks.json", "listing.txt"}


async def test_the_environment_sees_a_wrong_answer(site: str, page: Page, tmp_path: Path) -> None:
    await miniwob.start(page, site, "enter-text", seed=1)

    await _follow(("click Submit",), page, tmp_path)

    assert await miniwob.reward(page) == miniwob.Reward(done=True, raw=-1)


async def test_an_episode_is_not_done_before_anything_is_done(site: str, page: Page) -> None:
    await miniwob.start(page, site, "enter-text", seed=1)
    await observe(page)

    assert not (await miniwob.reward(page)).done


async def test_a_seed_asks_the_same_again_and_another_seed_something_else(site: str, page: Page) -> None:
    asked = [await miniwob.start(page, site, "login-user", seed) for seed in (7, 7, 8)]

    assert asked[0] == asked[1]
    assert asked[0] != asked[2]
    assert await miniwob.utterance(page) == asked[2]


def test_every_task_of_the_package_is_listed(html: Path) -> None:
    tasks = miniwob.tasks(html)

    assert len(tasks) == 130
    assert set(SOLVERS) < set(tasks)


def test_a_folder_without_tasks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="html folder of the miniwob package"):
        miniwob.tasks(tmp_path)


async def _follow(lines: tuple[str, ...], page: Page, folder: Path) -> Run:
    agent = Agent(Task(goal="; ".join(lines)), model=StepsModel(lines), page=page, settings=Settings(runs=folder))
    return await agent.run()


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}

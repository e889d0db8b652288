"""Claims about who may read what a run leaves: its owner, whatever the process's umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent import Agent, Settings
from vision_agent.models.offline.steps import StepsModel
from vision_agent.record import verify
from vision_agent.settings import BrowserSettings
from vision_agent.types import Task


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    found = [folder, *folder.rglob("*")]
    return {str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode)) for path in found}


def assert_private(folder: Path) -> None:
    found = modes(folder)
    wrong = {name: mode for name, mode in found.items() if mode != ("0o700" if (folder / name).is_dir() else "0o600")}
    assert not wrong, found


@pytest.mark.usefixtures("no_umask")
async def test_a_run_folder_is_its_owners_alone(page: Page, serve: Server, tmp_path: Path) -> None:
    pages = {"/": "<title>Papers</title><a href=/paper.txt download>Paper</a>", "/paper.txt": "a paper"}
    agent = Agent(
        Task(goal="Get the paper", start_url=serve(pages)),
        model=StepsModel(["click Paper", "wait 0.3", "finish"]),
        page=page,
        settings=Settings(runs=tmp_path / "runs"),
    )
    await agent.run()
    assert agent.folder is not None
    assert {"run.json", "steps.jsonl", "report.html", "downloads/paper.txt"} <= set(modes(agent.folder))
    assert_private(agent.folder)
    found = verify(agent.folder)
    assert (found.holds, found.downloads, found.unrecorded) == (True, 1, ())


@pytest.mark.usefixtures("no_umask")
async def test_a_trace_is_its_owners_alone_too(serve: Server, tmp_path: Path) -> None:
    settings = Settings(runs=tmp_path / "runs", browser=BrowserSettings(trace=True))
    agent = Agent(
        Task(goal="Look", start_url=serve({"/": "<title>Page</title>"})),
        model=StepsModel(["finish"]),
        settings=settings,
    )
    await agent.run()
    assert agent.folder is not None
    assert "trace.zip" in modes(agent.folder)
    assert_private(agent.folder)

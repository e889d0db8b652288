"""Claims about who may read what a run leaves: its owner, whatever the process's umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from tests.record.record_builder import small_run, write_run
from vision_agent import Agent, Settings
from vision_agent.evals.suites.frozen import freeze
from vision_agent.export.animation import write_animation
from vision_agent.export.cere import read_cere, write_cere
from vision_agent.export.formats import FORMS, export
from vision_agent.memory import MemoryFolder
from vision_agent.memory.exemplar import exemplar_of
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Observation
from vision_agent.record import read, verify
from vision_agent.record.diff import diff
from vision_agent.record.diff_page import write_diff
from vision_agent.record.observation import write_observation
from vision_agent.record.read import load_shot
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


LEFT: dict[str, Callable[[Path, Path], object]] = {
    **{form: lambda run, out, form=form: export(run, form, out / form) for form in FORMS},  # type: ignore[misc]
    "animation": lambda run, out: write_animation(run, out / "run.webp"),
    "diff": lambda run, out: write_diff(diff(run, run), out / "diff.html"),
    "marks": lambda run, out: write_observation(loaded(run), out / "marks"),
    "freeze": lambda run, out: freeze([run], out / "pages"),
    "memory": lambda run, out: MemoryFolder(out / "memory").add(exemplar_of(run, confirmed=True)),
    "import": lambda run, out: read_cere(write_cere(run, out / "run.cere"), out / "imported" / "runs"),
}


def loaded(run: Path) -> Observation:
    seen = read(run).steps[0].observation
    return seen.model_copy(update={"clean": load_shot(run, seen.clean), "marked": load_shot(run, seen.marked)})


@pytest.mark.usefixtures("no_umask")
@pytest.mark.parametrize("left", LEFT)
def test_what_is_made_of_a_run_is_its_owners_alone_too(left: str, tmp_path: Path) -> None:
    (out := tmp_path / "out").mkdir(mode=0o700)
    (out / "imported").mkdir(mode=0o700)
    (out / "imported" / "runs").mkdir(mode=0o700)
    if left == "animation":
        (out / "run.webp").touch(mode=0o644)
    LEFT[left](write_run(tmp_path / "runs", small_run()).path, out)
    assert_private(out)

"""The examples run as a person runs them: each in its own process, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from vision_agent.browser.launch.launch import end_browser, start_first_browser
from vision_agent.settings import BrowserSettings

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
async def environment() -> dict[str, str]:
    """That of a person whose browser is found by its path."""
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        await end_browser(started)
    path = started.candidate.executable
    named = {"VISION_AGENT_BROWSER__EXECUTABLE_PATH": str(path)} if path else {}
    return {**os.environ, **named, "PYTHONPATH": str(EXAMPLES.parent)}


def run(name: str, environment: dict[str, str], folder: Path, *arguments: str) -> str:
    """What the example printed."""
    command = [sys.executable, "-W", "error", EXAMPLES / name, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["async_page.py", "sync_page.py"])
def test_an_agent_works_on_a_page_of_its_owner(name: str, environment: dict[str, str], tmp_path: Path) -> None:
    said = run(name, environment, tmp_path).splitlines()
    assert said[:2] == ["Subscribed", "Thank you, ada@example.org"]
    [folder] = (tmp_path / "runs").iterdir()
    assert said[2] == f"Report: {folder / 'report.html'}"


def test_the_pieces_work_by_hand(environment: dict[str, str], tmp_path: Path) -> None:
    said = run("by_hand.py", environment, tmp_path, str(tmp_path))
    assert "[:]<input type=checkbox *new>Water the plants" in said
    assert (tmp_path / "marked.png").read_bytes().startswith(b"\x89PNG")


def test_every_example_is_run_here() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {"async_page.py", "sync_page.py", "by_hand.py"}

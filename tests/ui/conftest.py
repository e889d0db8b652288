"""The page of runs, served for a folder, and the browser page of the person who looks at it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.ui.desk import Desk
from vision_agent.settings import Settings
from vision_agent.ui.server import serve_runs


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[str]:
    """The address that opens the page, for the runs in `tmp_path / "runs"`."""
    async with serve_runs(Settings(runs=tmp_path / "runs")) as address:
        yield address


@pytest.fixture
async def desk(browser: Browser, served: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """The page as a person opens it, which may load nothing that is refused and throw nothing."""
    async with AsyncExitStack() as stack:
        context = await browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
        stack.push_async_callback(context.close)
        desk = Desk(await context.new_page(), tmp_path / "runs")
        await desk.open(served)
        yield desk
    assert desk.faults == []

"""Serves the page of runs to a browser on this machine, and ends with it the runs that were started from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from vision_agent.settings import Settings
from vision_agent.ui.app import RunsApp
from vision_agent.ui.children import Children
from vision_agent.ui.guard import Guard, Keys
from vision_agent.web.loopback import serve_on_loopback


@asynccontextmanager
async def serve_runs(
    settings: Settings,
    *,
    port: int = 0,
    on_opened: Callable[[str], None] = lambda _: None,
    on_interrupted: Callable[[list[Path]], None] = lambda _: None,
) -> AsyncIterator[str]:
    """Serve the runs of the settings' folder while the block lasts and yield the address, which opens in one browser.

    Args:
        settings: they also say what a form has where a person writes nothing.
        port: 0 takes a free one.
        on_opened: gets the next address when one was opened.
        on_interrupted: gets the folders of the runs that were going when the block ended.

    Raises:
        UsageError: the port is taken.
    """
    here: list[int] = []
    keys = Keys(lambda token: on_opened(_address(here[0], token)))
    children = Children()
    app = RunsApp(keys, children, settings).app()
    async with serve_on_loopback(lambda port: Guard(app, port, keys), port) as taken:
        here.append(taken)
        try:
            yield _address(taken, keys.token)
        finally:
            if interrupted := await children.end_all():
                on_interrupted(interrupted)


def _address(port: int, token: str) -> str:
    return f"http://127.0.0.1:{port}/?token={token}"

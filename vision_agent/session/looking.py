"""Observes pages without a task: once, or for as long as the caller stays attached."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Page

from vision_agent import settings as settings_module
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.live import LiveBrowser
from vision_agent.errors import UsageError
from vision_agent.settings import Settings
from vision_agent.types import Observation
from vision_agent.vision.image_limits import image_limits_for


async def observe(page: Page, settings: Settings | None = None) -> Observation:
    """Observes a page once and returns what it shows, with its marks. The page is left as it was.

    Raises:
        UsageError: the overlay cannot be injected into the page.
        BrowserUnavailable: the page or its browser is gone.
    """
    async with attach(page, settings) as browser:
        return await browser.observe()


@asynccontextmanager
async def attach(
    page: Page, settings: Settings | None = None, *, files: Sequence[Path | str] = ()
) -> AsyncIterator[LiveBrowser]:
    """Attaches to a page, to call `observe` and `act` yourself; numbers stay the same between observations.

    `files`: the only ones that `Upload` may give to the page, which names them by their file name.

    Raises:
        UsageError: the overlay cannot be injected into the page, a file does not exist, or two have one name.
    """
    offered = [Path(each) for each in files]
    for path in offered:
        if not path.is_file():
            raise UsageError(f"There is no file {path}", "give files that exist")
    if len({path.name for path in offered}) < len(offered):
        raise UsageError("Two files have the same name", "an upload names a file by it: rename one of them")
    settings = settings or settings_module.load()
    image_limits = image_limits_for(settings.model.name, settings.observe.longest_edge)
    async with live.attach(page, settings.observe, image_limits, files=offered, events=settings.events) as browser:
        yield browser


async def look_at(url: str, settings: Settings | None = None) -> Observation:
    """Observes the page at an address once, in a browser that is launched for it and closed again.

    Raises:
        UsageError: the address cannot be opened.
        BrowserUnavailable: there is no browser, or the page cannot be reached.
    """
    settings = settings or settings_module.load()
    async with launch_browser(settings.browser) as started:
        page = await started.context.new_page()
        async with attach(page, settings) as browser:
            await browser.open(url)
            return await browser.observe()

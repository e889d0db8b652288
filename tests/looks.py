"""One look at a page, for tests of what it shows."""

from __future__ import annotations

from playwright.async_api import Page

from vision_agent.browser import live
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits


async def look_at(page: Page, url: str) -> Observation:
    """What the page at this address shows."""
    async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
        await browser.open(url)
        return await browser.observe()

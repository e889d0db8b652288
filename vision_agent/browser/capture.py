"""The clean picture of what a page shows, as encoded bytes. Leaves no trace that the page could see."""

from __future__ import annotations

import asyncio
import base64

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.browser import chromium
from vision_agent.browser.overlay import FrameSilent, translated

_UNABLE = "Unable to capture screenshot"
"""What Chromium answers instead of a picture where nothing comes from the renderer for a while."""


async def capture(page: Page, deadline_s: float) -> bytes:
    """The viewport as PNG. In a browser that plays another device it has one pixel for each CSS pixel.

    Chromium's own capture takes half the time of Playwright's, which first puts a style into the page; other engines
    have only the latter, told not to.

    Raises:
        FrameSilent: the page gave no picture within the deadline, or Chromium could not take one of it.
        BrowserUnavailable: the browser is gone.
    """
    try:
        async with asyncio.timeout(deadline_s):
            session = await chromium.session_of(page)
            if session is None:
                return await page.screenshot(
                    caret="initial", animations="allow", scale="css", timeout=deadline_s * 1000
                )
            answer = await session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
            return base64.b64decode(answer["data"])
    except TimeoutError:
        raise FrameSilent(f"no picture within {deadline_s:g} s") from None
    except PlaywrightError as error:
        if _UNABLE in error.message:
            raise FrameSilent("no picture: Chromium is unable to take one, as of a page that hangs") from error
        raise translated(error) from error

"""Takes the clean picture of a page, as encoded bytes. Leaves no trace that the page could detect."""

from __future__ import annotations

import asyncio
import base64

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.browser import cdp
from vision_agent.browser.page.overlay import FrameSilent, translate_error

_UNABLE = "Unable to capture screenshot"
"""Chromium's answer if the renderer sends nothing for a while."""


async def capture(page: Page, deadline_s: float) -> bytes:
    """The viewport as PNG. In a browser that emulates a device, it has one picture pixel per CSS pixel.

    Chromium's own capture takes half the time of Playwright's, which first injects a style into the page. Other engines
    use Playwright's, with options that avoid the style.

    Raises:
        FrameSilent: the page gave no picture within the deadline, or Chromium could not take one.
        BrowserUnavailable: the browser is gone.
    """
    try:
        async with asyncio.timeout(deadline_s):
            session = await cdp.page_session(page)
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
            raise FrameSilent("no picture: Chromium cannot take one, the page may hang") from error
        raise translate_error(error) from error

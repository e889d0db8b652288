"""The clean picture of what a page shows, as encoded bytes. Leaves no trace that the page could see."""

from __future__ import annotations

import asyncio
import base64
import weakref
from contextlib import suppress

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.overlay import FrameSilent, translated

_RELEASE_S = 1.0
_sessions: weakref.WeakKeyDictionary[Page, CDPSession | None] = weakref.WeakKeyDictionary()


async def capture(page: Page, deadline_s: float) -> bytes:
    """The viewport as PNG. In a browser that plays another device it has one pixel for each CSS pixel.

    Chromium's own capture takes half the time of Playwright's, which first puts a style into the page; other engines
    have only the latter, told not to.

    Raises:
        FrameSilent: the page gave no picture within the deadline.
        BrowserUnavailable: the browser is gone.
    """
    try:
        async with asyncio.timeout(deadline_s):
            session = await _session(page)
            if session is None:
                return await page.screenshot(
                    caret="initial", animations="allow", scale="css", timeout=deadline_s * 1000
                )
            answer = await session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
            return base64.b64decode(answer["data"])
    except TimeoutError:
        raise FrameSilent(f"no picture within {deadline_s:g} s") from None
    except PlaywrightError as error:
        raise translated(error) from error


async def release(page: Page) -> None:
    """Give back the session that was opened to the page."""
    session = _sessions.pop(page, None)
    if session is not None:
        with suppress(PlaywrightError, TimeoutError):  # the page may have closed it, or hang
            async with asyncio.timeout(_RELEASE_S):
                await session.detach()


async def _session(page: Page) -> CDPSession | None:
    if page not in _sessions:
        browser = page.context.browser
        is_chromium = browser is not None and browser.browser_type.name == "chromium"
        _sessions[page] = await page.context.new_cdp_session(page) if is_chromium else None
    return _sessions[page]

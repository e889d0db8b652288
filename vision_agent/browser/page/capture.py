"""Takes the clean picture of a page, as encoded bytes. Leaves no trace that the page could detect."""

from __future__ import annotations

import asyncio
import base64
from asyncio import FIRST_COMPLETED

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import cdp
from vision_agent.browser.page.overlay import FrameSilent, translate_error

_MOST_ASKED = 4
"""How often one picture is asked for, because other documents come meanwhile."""
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
            return base64.b64decode(await _picture_of_one_document(page, session))
    except TimeoutError:
        raise FrameSilent(f"no picture within {deadline_s:g} s") from None
    except PlaywrightError as error:
        if _UNABLE in error.message:
            raise FrameSilent("no picture: Chromium cannot take one, the page may hang") from error
        raise translate_error(error) from error


async def _picture_of_one_document(page: Page, session: CDPSession) -> str:
    """Chromium's answer. It is asked again when another document comes: for one that is gone it may never answer."""
    came = asyncio.Event()

    def note(frame: Frame) -> None:
        if frame is page.main_frame:
            came.set()

    page.on("framenavigated", note)
    asked, coming = [asyncio.create_task(_ask(session))], asyncio.create_task(came.wait())
    try:
        while True:
            # Addresses that change within a document count too, so the first answer is taken, not the last.
            await asyncio.wait([*asked, coming] if len(asked) < _MOST_ASKED else asked, return_when=FIRST_COMPLETED)
            if answered := [each for each in asked if each.done()]:
                return answered[0].result()
            came.clear()
            coming = asyncio.create_task(came.wait())
            asked.append(asyncio.create_task(_ask(session)))
    finally:
        page.remove_listener("framenavigated", note)
        for each in (*asked, coming):
            each.cancel()
        await asyncio.gather(*asked, coming, return_exceptions=True)


async def _ask(session: CDPSession) -> str:
    answer = await session.send("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
    data: str = answer["data"]
    return data

"""Tells that a page hangs: its document answers nothing for some seconds, as in an endless loop of its script."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.page import protocol
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.tabs import Tabs
from vision_agent.errors import BrowserUnavailable

_FROM_S, HANG_S, _AGAIN_S = 1.0, 8.0, 0.1
"""When it is first asked, after how long without an answer a page is said to hang, and the pause between two asks."""
_T = TypeVar("_T")


class PageHangs(Exception):
    """The active page does not answer."""


async def unless_hung(work: Awaitable[_T], tabs: Tabs) -> _T:
    """The result of the work, which is cut off if the active page hangs meanwhile.

    Raises:
        PageHangs: it does.
    """
    working, hanging = asyncio.ensure_future(work), asyncio.create_task(_wait_for_hang(tabs))
    try:
        await asyncio.wait((working, hanging), return_when=asyncio.FIRST_COMPLETED)
        if not working.done() and await hanging:
            raise PageHangs(f"no answer within {HANG_S:g} s")
        return await working
    finally:
        working.cancel()
        hanging.cancel()
        await asyncio.wait((working, hanging))


async def _wait_for_hang(tabs: Tabs) -> bool:
    """Waits until it is known whether the active page hangs. One that has crashed does not."""
    await asyncio.sleep(_FROM_S)
    asked_at = time.monotonic()
    while (left := asked_at + HANG_S - time.monotonic()) > 0:
        try:
            await protocol.document_token(tabs.active.main_frame, left)
        except FrameSilent:  # it may also have navigated
            await asyncio.sleep(_AGAIN_S)
        except (BrowserUnavailable, PlaywrightError):
            return False
        else:
            asked_at = time.monotonic()
            await asyncio.sleep(_FROM_S)
    return not tabs.is_crashed(tabs.active)

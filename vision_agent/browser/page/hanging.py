"""Detects a page that hangs: its document answers nothing for some seconds, as in an endless loop of its script."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.tabs import Tabs
from vision_agent.errors import BrowserUnavailable

_FROM_S, HANG_S, _AGAIN_S = 1.0, 8.0, 0.1
"""When a page is first asked, how long without an answer counts as hanging, and the pause between two asks."""
_T = TypeVar("_T")


class PageHangs(Exception):
    """The active page does not answer."""


class PageSilent(BrowserUnavailable):
    """The page did not answer what was asked; it may hang, or the deadlines may be too short for it."""


async def unless_hung(work: Awaitable[_T], tabs: Tabs) -> _T:
    """The result of the work, which is cut off if the active page hangs meanwhile.

    Raises:
        PageHangs: it does, even if the work had given up on a silent page before that was known.
        PageSilent: the work raised this, and the page answers.
    """
    answers = asyncio.Event()
    working, hanging = asyncio.ensure_future(work), asyncio.create_task(_wait_for_hang(tabs, answers))
    try:
        await asyncio.wait((working, hanging), return_when=asyncio.FIRST_COMPLETED)
        is_silent = not working.done() or isinstance(working.exception(), PageSilent)
        if is_silent and await _does_hang(hanging, answers):
            raise PageHangs(f"no answer within {HANG_S:g} s")
        return await working
    finally:
        working.cancel()
        hanging.cancel()
        await asyncio.wait((working, hanging))


async def _does_hang(hanging: asyncio.Task[bool], answers: asyncio.Event) -> bool:
    """Whether the page hangs, which is known when it answers next or has hung for long enough."""
    answers.clear()
    answering = asyncio.create_task(answers.wait())
    await asyncio.wait((hanging, answering), return_when=asyncio.FIRST_COMPLETED)
    answering.cancel()
    return hanging.done() and await hanging


async def _wait_for_hang(tabs: Tabs, answers: asyncio.Event) -> bool:
    """Waits until it is known whether the active page hangs, and sets `answers` at each answer.

    A page that has crashed does not hang.
    """
    await asyncio.sleep(_FROM_S)
    asked_at = time.monotonic()
    while (left := asked_at + HANG_S - time.monotonic()) > 0:
        try:
            await overlay_calls.document.token(tabs.active.main_frame, left)
        except FrameSilent:  # it may also have navigated
            await asyncio.sleep(_AGAIN_S)
        except (BrowserUnavailable, PlaywrightError):
            return False
        else:
            answers.set()
            asked_at = time.monotonic()
            await asyncio.sleep(_FROM_S)
    return not tabs.is_crashed(tabs.active)

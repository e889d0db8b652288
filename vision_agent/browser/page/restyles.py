"""Counts how often Chromium has styled or laid out a page's documents: if it did again, something may look different.

Documents report most of their changes themselves. A rule that is rewritten in its style sheet, another colour scheme,
or a movement that has ended changes what shows without any such report, but not without new styles.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Mapping
from contextlib import suppress

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import cdp

Restyles = Mapping[CDPSession, int]
"""By session, that of the page or of a frame in a process of its own."""

_COUNTED = {"RecalcStyleCount", "LayoutCount"}
_counting: weakref.WeakSet[CDPSession] = weakref.WeakSet()


async def count_restyles(page: Page, timeout_s: float) -> Restyles | None:
    """The counts so far; None if nobody can tell, as in other engines."""
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(timeout_s):
            if await cdp.page_session(page) is None:
                return None
            sessions = cdp.open_sessions(page)
            counts = await asyncio.gather(*(_count(each) for each in sessions))
            return dict(zip(sessions, counts, strict=True))
    return None


async def _count(session: CDPSession) -> int:
    if session not in _counting:
        await session.send("Performance.enable")  # it counts from now on
        _counting.add(session)
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    return sum(int(each["value"]) for each in metrics if each["name"] in _COUNTED)

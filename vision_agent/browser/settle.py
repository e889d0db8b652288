"""Waits until a page is at rest: nothing changes, nothing finite moves, nothing that matters is being fetched."""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import Frame

from vision_agent.browser import overlay
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.tabs import Tabs

_LOOK_EVERY_S = 0.04
_MOST_FRAMES = 12


async def settle(tabs: Tabs, quiet_s: float, deadline_s: float, at_least_s: float = 0.0) -> bool:
    """Whether the active tab came to rest before the deadline; never takes longer than that.

    `at_least_s`: what was just done may take as long to show at all, so rest before that is none.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    started = time.monotonic()
    until = started + deadline_s
    while (left := until - time.monotonic()) > 0:
        frames = tabs.active.frames[:_MOST_FRAMES]
        still = await asyncio.gather(*(_is_still(frame, quiet_s, left) for frame in frames))
        if all(still) and not tabs.busy() and time.monotonic() - started >= at_least_s:
            return True
        await asyncio.sleep(min(_LOOK_EVERY_S, max(0.0, until - time.monotonic())))
    return False


async def _is_still(frame: Frame, quiet_s: float, timeout_s: float) -> bool:
    try:
        answer = await overlay.ask(frame, "quiet", timeout_s)
    except FrameSilent:
        return frame.is_detached()
    return bool(answer["quietMs"] >= quiet_s * 1000 and answer["ready"] != "loading" and not answer["moving"])

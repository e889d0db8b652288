"""Waits until a page is at rest: nothing changes, nothing finite moves, nothing that the page waits for is under way.

Pixels are compared only where something is drawn that the document does not tell of (canvas, WebGL, video): a picture
takes Chromium two frames.
"""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from playwright.async_api import Frame

from vision_agent.browser import overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.tabs import Tabs
from vision_agent.vision.rest import Stillness

_LOOK_EVERY_S = 0.04
_MOST_FRAMES = 12


class _Frame(NamedTuple):
    is_still: bool
    changed_at: float
    """When anything in it last changed, on our clock."""
    is_drawn: bool
    """Something in it shows what its document does not tell of."""


async def settle(tabs: Tabs, quiet_s: float, deadline_s: float, at_least_s: float = 0.0) -> bool:
    """Whether the active tab came to rest before the deadline; never takes longer than that.

    `at_least_s`: what was just done may take as long to show at all, so rest before that is none.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    started = time.monotonic()
    until = started + deadline_s
    pixels = Stillness()
    while (left := until - time.monotonic()) > 0:
        page = tabs.active
        # One that hangs is not waited for again, but the page is not at rest with it.
        asked = [frame for frame in page.frames[:_MOST_FRAMES] if not overlay.is_silent(frame)]
        is_all = len(asked) == len(page.frames[:_MOST_FRAMES])
        frames = await asyncio.gather(*(_look(frame, quiet_s, left) for frame in asked))
        tabs.network.heard(page, max((frame.changed_at for frame in frames), default=0.0))
        if all(frame.is_still for frame in frames) and not tabs.busy() and time.monotonic() - started >= at_least_s:
            if not any(frame.is_drawn for frame in frames):
                return is_all
            try:
                if pixels.is_still(await capture(page, until - time.monotonic())):
                    return is_all
            except FrameSilent:
                return False  # what hangs is not at rest, and the look that follows says so
        await asyncio.sleep(min(_LOOK_EVERY_S, max(0.0, until - time.monotonic())))
    return False


async def _look(frame: Frame, quiet_s: float, timeout_s: float) -> _Frame:
    try:
        answer = await overlay.ask(frame, "quiet", timeout_s)
    except FrameSilent:
        return _Frame(frame.is_detached(), time.monotonic(), False)
    is_still = answer["quietMs"] >= quiet_s * 1000 and answer["ready"] != "loading" and not answer["moving"]
    return _Frame(bool(is_still), time.monotonic() - answer["quietMs"] / 1000, bool(answer["drawn"]))

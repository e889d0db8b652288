"""Waits until a page has settled: no changes, no finite animations, and no requests that the page waits for.

Pixels are compared only if the page draws what its document does not reveal (canvas, WebGL, video): a picture takes
Chromium two frames.
"""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from playwright.async_api import Frame

from vision_agent.browser.page import overlay, protocol
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.tabs import Tabs
from vision_agent.vision.pixel_stability import PixelStability

_LOOK_EVERY_S = 0.04
_MOST_FRAMES = 12


class _Frame(NamedTuple):
    is_still: bool
    changed_at: float
    """Time of its last change, on our monotonic clock."""
    is_drawn: bool
    """Something in it is drawn that its document does not reveal."""


async def settle(tabs: Tabs, quiet_s: float, deadline_s: float, at_least_s: float = 0.0) -> bool:
    """Whether the active tab settled before the deadline; never takes longer.

    `at_least_s`: the last input may take this long to show any effect, so the page cannot have settled before.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    started = time.monotonic()
    until = started + deadline_s
    pixels = PixelStability()
    while (left := until - time.monotonic()) > 0:
        page = tabs.active
        # A hanging frame is not waited for again, but the page has not settled with it.
        asked = [frame for frame in page.frames[:_MOST_FRAMES] if not overlay.is_silent(frame)]
        is_all = len(asked) == len(page.frames[:_MOST_FRAMES])
        frames = await asyncio.gather(*(_look(frame, quiet_s, left) for frame in asked))
        tabs.network.learn_from_change(page, max((frame.changed_at for frame in frames), default=0.0))
        if (
            all(frame.is_still for frame in frames)
            and not tabs.pending_work()
            and time.monotonic() - started >= at_least_s
        ):
            if not any(frame.is_drawn for frame in frames):
                return is_all
            try:
                if pixels.is_still(await capture(page, until - time.monotonic())):
                    return is_all
            except FrameSilent:
                return False  # a hanging page has not settled; the next look reports it
        await asyncio.sleep(min(_LOOK_EVERY_S, max(0.0, until - time.monotonic())))
    return False


async def _look(frame: Frame, quiet_s: float, timeout_s: float) -> _Frame:
    try:
        now = await protocol.stability(frame, timeout_s)
    except FrameSilent:
        return _Frame(frame.is_detached(), time.monotonic(), False)
    is_still = now.quiet_ms >= quiet_s * 1000 and not now.is_loading and not now.moving
    return _Frame(is_still, time.monotonic() - now.quiet_ms / 1000, now.is_drawn)

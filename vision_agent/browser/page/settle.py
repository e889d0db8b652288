"""Waits until a page has settled: no changes, no finite animations, and no requests that the page waits for.

Pixels are compared only if the page draws what its document does not reveal (canvas, WebGL, video): a picture takes
Chromium two frames.
What changes by itself is not waited for. The overlay tells the texts and elements that do (see `stability.js`); a
document whose animations or pixels never rested is remembered, and is from then on only given time to show an effect.
"""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

from playwright.async_api import Frame

from vision_agent.browser.page import overlay, protocol
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.restless import Unrest
from vision_agent.browser.page.tabs import Tabs
from vision_agent.vision.pixel_stability import PixelStability

_LOOK_EVERY_S = 0.04
_MOST_FRAMES = 12
_RESTLESS_S = 1.0
"""A loaded page without pending requests that has not settled by then, although there was no input, never will."""
_RESTLESS_LOOKS = 20
"""Not before so many looks at its state, though: on a busy machine a page takes longer for everything."""
_EFFECT_S = 0.2
"""How long a page that never settles is given to show the effect of an input."""


class _Frame(NamedTuple):
    unrest: frozenset[Unrest]
    """Why it has not settled; empty if it has."""
    changed_at: float
    """Time of its last change, on our monotonic clock."""
    token: str = ""
    """Of its document; empty if it did not answer."""
    is_drawn: bool = False
    """Something in it is drawn that its document does not reveal."""
    is_restless: bool = False
    """Some of its text or elements keep changing by themselves."""


async def settle(tabs: Tabs, quiet_s: float, deadline_s: float, at_least_s: float = 0.0) -> bool:
    """Whether the active tab settled before the deadline; never takes longer.

    `at_least_s`: the last input may take this long to show any effect, so the page cannot have settled before; 0: there
    was no input.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    started = time.monotonic()
    until = started + deadline_s
    pixels = PixelStability()
    token, unrest, looks = "", frozenset[Unrest](), 0
    while (left := until - time.monotonic()) > 0:
        page = tabs.active
        # A hanging frame is not waited for again, but the page has not settled with it.
        asked = [frame for frame in page.frames[:_MOST_FRAMES] if not overlay.is_silent(frame)]
        is_all = len(asked) == len(page.frames[:_MOST_FRAMES])
        frames = await asyncio.gather(*(_look(frame, quiet_s, left) for frame in asked))
        looks += 1
        tabs.network.learn_from_change(page, max((frame.changed_at for frame in frames), default=0.0))
        token = frames[0].token if frames else ""
        unrest, is_judged = frozenset[Unrest]().union(*(frame.unrest for frame in frames)), True
        if not unrest and any(frame.is_drawn for frame in frames):
            is_judged = pixels.has_picture
            try:
                if not pixels.is_still(await capture(page, until - time.monotonic())):
                    unrest = frozenset({"pixels"})
            except FrameSilent:
                return False  # a hanging page has not settled; the next look reports it
        passed = time.monotonic() - started
        if not tabs.pending_work() and passed >= at_least_s:
            if not unrest:
                if any(frame.is_restless for frame in frames):
                    return False
                tabs.restless.forget(page)
                return is_all
            is_known = is_judged and unrest <= tabs.restless.known(page, token)
            if is_known and passed >= (_EFFECT_S if at_least_s else 0):
                return False
            is_long = passed >= _RESTLESS_S and looks >= _RESTLESS_LOOKS
            if is_long and not at_least_s and "loading" not in unrest:
                break
        await asyncio.sleep(min(_LOOK_EVERY_S, max(0.0, until - time.monotonic())))
    if not tabs.pending_work():
        tabs.restless.learn(tabs.active, token, unrest)
    return False


async def _look(frame: Frame, quiet_s: float, timeout_s: float) -> _Frame:
    try:
        now = await protocol.stability(frame, timeout_s)
    except FrameSilent:
        return _Frame(frozenset() if frame.is_detached() else frozenset({"loading"}), time.monotonic())
    reasons: dict[Unrest, bool] = {
        "changes": now.quiet_ms < quiet_s * 1000,
        "loading": now.is_loading,
        "animations": now.moving > 0,
    }
    unrest = frozenset(reason for reason, holds in reasons.items() if holds)
    return _Frame(unrest, time.monotonic() - now.quiet_ms / 1000, now.token, now.is_drawn, now.is_restless)

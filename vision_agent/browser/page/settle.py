"""Waits until a page has settled: no changes, no finite animations, and no requests that the page waits for.

Pixels are compared only if the page draws what its document does not reveal (canvas, WebGL, video): a picture takes
Chromium two frames.
It does not wait for what changes on its own. The overlay identifies such texts and elements (see `stability.js`); a
document whose animations or pixels never rested is remembered, and is from then on only given time to show an effect.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from playwright.async_api import Frame, Page

from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.restless import Unrest
from vision_agent.browser.page.tabs import Tabs
from vision_agent.geometry import Box
from vision_agent.vision.pixel_stability import PixelStability

_LOOK_EVERY_S = 0.04
_MOST_FRAMES = 12
_RESTLESS_S = 1.0
"""A loaded page without pending requests that has not settled by then, although there was no input, never will.

Changes must have followed each other for this long on the page's clock: after 0.7 s there, the overlay knows what
changes on its own (`GOING_ON` in `stability.js`), and the rest can prove to be quiet.
"""
_WANDERS_S = 0.6
"""A page whose pixels took this long to settle, and only apart from areas that keep changing, has something that
wanders: its next look does not wait for another such moment."""
_RESTLESS_LOOKS = 20
"""Not before this many looks at its state, though: on a busy machine a page takes longer for everything."""
_EFFECT_S = 0.2
"""How long a page that never settles is given to show the effect of an input."""


class _Frame(NamedTuple):
    unrest: frozenset[Unrest]
    """Why it has not settled; empty if it has."""
    changed_at: float
    """Time of its last change, on our monotonic clock."""
    token: str = ""
    """The token of its document; empty if it did not answer."""
    changing_s: float = 0.0
    """How long changes followed each other without a longer pause, up to the last; without what changes on its own."""
    drawings: tuple[Box, ...] = ()
    """The boxes of what is drawn in it that its document does not reveal."""
    view: Box = Box(x=0, y=0, width=0, height=0)
    """What the document shows."""
    is_restless: bool = False
    """Some of its text or elements keep changing on their own."""


class _State(NamedTuple):
    """The state of all documents of a tab together."""

    unrest: frozenset[Unrest] = frozenset()
    """Why the tab has not settled; empty if it has."""
    changed_at: float = 0.0
    """Time of its last change, on our monotonic clock."""
    changing_s: float = 0.0
    """How long changes followed each other in one of its documents; without what changes on its own."""
    token: str = ""
    """The token of its main document; empty if that did not answer."""
    is_whole: bool = False
    """Every frame was asked, rather than all but some that hang."""
    is_judged: bool = True
    """What it draws was compared with an earlier picture, if that was needed."""
    is_restless: bool = False
    """Some of its text or elements keep changing on their own."""
    is_late: bool = False
    """The answers took longer than the pause between looks: the page had no time to change, and is asked once more."""


class DrawnPage(NamedTuple):
    """A page that shows what its document does not reveal, while it is watched."""

    screenshot: bytes
    view: Box
    drawings: tuple[Box, ...]
    """Those in its own document."""
    is_still: bool
    """It shows the same as a moment ago."""


async def settle(
    tabs: Tabs,
    quiet_s: float,
    deadline_s: float,
    input_at: float | None = None,
    pixels: PixelStability | None = None,
    on_picture: Callable[[DrawnPage], None] = lambda _: None,
) -> bool:
    """Whether the active tab settled before the deadline; never takes longer.

    `input_at`: when the last input was sent, on the monotonic clock. It may take `quiet_s` to show any effect, so the
    page cannot have settled before. None: there was no input. `pixels` keeps the last picture of a page that draws;
    `on_picture` is told of each.

    Raises:
        BrowserUnavailable: the browser is gone.
    """
    until = time.monotonic() + deadline_s
    has_input = input_at is not None
    started, at_least_s = (time.monotonic(), 0.0) if input_at is None else (input_at, quiet_s)
    pixels = pixels or PixelStability()
    now, looks = _State(), 0
    while time.monotonic() < until:
        page, was_moving, was_late = tabs.active, "animations" in now.unrest, now.is_late
        try:
            now = await _look(tabs, page, pixels, quiet_s, until, on_picture)
        except FrameSilent:
            return False  # a hanging page has not settled; the next look reports it
        looks += 1
        tabs.network.learn_from_change(page, now.changed_at)
        passed = time.monotonic() - started
        # An animation that has just ended may begin again in the next frame, and a late answer may precede a change.
        may_change = not now.unrest and (was_moving or (now.is_late and not was_late))
        if not tabs.pending_work() and passed >= at_least_s and not may_change:
            if not now.unrest:
                if now.is_restless:
                    return False
                if pixels.is_same or has_input or passed < _WANDERS_S:
                    tabs.restless.note_settled(page, is_still=pixels.is_same)
                else:
                    tabs.restless.learn(page, now.token, frozenset({"pixels"}))
                return now.is_whole
            # Without an input, `judge_look` takes the look's own picture as the second one.
            is_judged = now.is_judged or not has_input
            is_known = is_judged and now.unrest <= tabs.restless.known(page, now.token)
            if is_known and passed >= (_EFFECT_S if has_input else 0):
                return False
            is_long = passed >= _RESTLESS_S and looks >= _RESTLESS_LOOKS
            may_rest = "changes" in now.unrest and now.changing_s < _RESTLESS_S
            if is_long and not may_rest and not has_input and "loading" not in now.unrest:
                break
        due = max(now.changed_at + quiet_s, started + at_least_s)
        await asyncio.sleep(_pause_s(time.monotonic(), until, due))
    if not tabs.pending_work():
        tabs.restless.learn(tabs.active, now.token, now.unrest)
    return False


def judge_look(tabs: Tabs, page: Page, token: str, pixels: PixelStability, screenshot: bytes) -> None:
    """Learns from the picture of a look whether a document that `settle` did not wait for still moves.

    `token`: of the document; `pixels`: what `settle` saw.
    """
    if "pixels" not in tabs.restless.known(page, token) or not pixels.has_picture:
        return
    if pixels.is_still(screenshot):
        tabs.restless.note_settled(page, is_still=pixels.is_same)
    else:
        tabs.restless.learn(page, token, frozenset({"pixels"}))
    tabs.restless.keep_areas(page, token, pixels.restless)


def _pause_s(now: float, until: float, due: float) -> float:
    """Until the next look: at once when the page may have settled, but never after the deadline."""
    pause_s = min(due - now, _LOOK_EVERY_S) if due > now else _LOOK_EVERY_S
    return max(0.0, min(pause_s, until - now))


async def is_quiet(tabs: Tabs, quiet_s: float, timeout_s: float) -> bool:
    """Whether the active tab's documents have not changed for `quiet_s`, and show that nothing is under way.

    Does not wait for it. A document that draws what it does not reveal never shows that.
    """
    if tabs.pending_work():
        return False
    frames, _ = await _look_at_frames(tabs.active, quiet_s, timeout_s)
    return not any(frame.unrest or frame.drawings for frame in frames)


async def _look(
    tabs: Tabs,
    page: Page,
    pixels: PixelStability,
    quiet_s: float,
    until: float,
    on_picture: Callable[[DrawnPage], None],
) -> _State:
    """How a tab is now.

    Raises:
        FrameSilent: the page gave no picture.
    """
    asked_at = time.monotonic()
    frames, is_whole = await _look_at_frames(page, quiet_s, until - asked_at)
    is_late = time.monotonic() - asked_at > _LOOK_EVERY_S
    unrest, is_judged = frozenset[Unrest]().union(*(frame.unrest for frame in frames)), True
    if not unrest and any(frame.drawings for frame in frames):
        is_judged, token = pixels.has_picture, frames[0].token
        known = tabs.restless.known_areas(page, token)
        is_still = pixels.is_still(await capture(page, until - time.monotonic()), known)
        on_picture(DrawnPage(pixels.screenshot, frames[0].view, frames[0].drawings, is_still))
        if not is_still:
            unrest = frozenset({"pixels"})
        if is_judged:
            tabs.restless.keep_areas(page, token, pixels.restless)
    return _State(
        unrest,
        changed_at=max((frame.changed_at for frame in frames), default=0.0),
        changing_s=max((frame.changing_s for frame in frames), default=0.0),
        token=frames[0].token if frames else "",
        is_whole=is_whole,
        is_judged=is_judged,
        is_restless=any(frame.is_restless for frame in frames),
        is_late=is_late,
    )


async def _look_at_frames(page: Page, quiet_s: float, timeout_s: float) -> tuple[list[_Frame], bool]:
    """A tab's first frames, and whether all were asked: one that hangs is not waited for again."""
    frames = page.frames[:_MOST_FRAMES]
    asked = [frame for frame in frames if not overlay.is_silent(frame)]
    answers = await asyncio.gather(*(_look_at_frame(frame, quiet_s, timeout_s) for frame in asked))
    return answers, len(asked) == len(frames)


async def _look_at_frame(frame: Frame, quiet_s: float, timeout_s: float) -> _Frame:
    try:
        now = await overlay_calls.document.stability(frame, timeout_s)
    except FrameSilent:
        return _Frame(frozenset() if frame.is_detached() else frozenset({"loading"}), time.monotonic())
    reasons: dict[Unrest, bool] = {
        "changes": now.quiet_ms < quiet_s * 1000,
        "loading": now.is_loading,
        "animations": now.moving > 0,
    }
    unrest = frozenset(reason for reason, holds in reasons.items() if holds)
    return _Frame(
        unrest,
        changed_at=time.monotonic() - now.quiet_ms / 1000,
        changing_s=now.changing_ms / 1000,
        token=now.token,
        drawings=now.drawings,
        view=now.view,
        is_restless=now.is_restless,
    )

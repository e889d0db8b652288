"""Taps and holds with a finger: trusted touches, whether or not the page has a touchscreen.

Only Chromium can do so. Knows no targets: the caller gives the point.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from math import cos, radians, sin
from typing import Any

from playwright.async_api import CDPSession, Page

from vision_agent.actions import Point
from vision_agent.browser import cdp
from vision_agent.browser.act.held import release
from vision_agent.browser.act.press_guard import Gesture
from vision_agent.browser.refusal import Refused

_NEXT_TAP_S = 0.15
_LAST_CLICK_S = 0.5
"""A touch becomes a click a moment after the finger is up. If the page prevents that, no click comes: the next tap must
still come soon enough to belong to this one, and the last click must not come when the guard has gone."""
_EVERY_S = 0.01
LEAST_APART, _WIDEST = 24.0, 160.0
"""CSS pixels between each of two fingers and their middle: closer ones count as one, and no hand reaches farther."""
_PINCH_STEPS = 14
_UP: dict[str, Any] = {"type": "touchEnd", "touchPoints": []}


async def tap(
    page: Page, place: Callable[[], Awaitable[Point]], gesture: Gesture, count: int, deadline_s: float
) -> None:
    """Taps a place of the page as often as `count` says, unless an earlier tap led elsewhere or was stopped.

    `place`: where it is for the next tap, in page coordinates.

    Raises:
        Refused: the browser cannot touch.
    """
    session = await _session(page, "tap with a finger; click instead")
    for number in range(1, count + 1):
        await _touch(session, await place(), deadline_s)
        await _await_click(gesture, number, _NEXT_TAP_S if number < count else _LAST_CLICK_S)
        if gesture.stopped or not await gesture.is_still_guarded():
            return


@asynccontextmanager
async def held_finger(page: Page, point: Point, deadline_s: float) -> AsyncIterator[None]:
    """Holds a finger on a point of the page in the `with` block.

    Raises:
        Refused: the browser cannot touch.
    """
    session = await _session(page, "hold with a finger; hold the button instead")
    try:
        await session.send("Input.dispatchTouchEvent", _down(point))
        yield
    finally:
        await release(page, [partial(session.send, "Input.dispatchTouchEvent", _UP)], deadline_s)


async def _session(page: Page, what: str) -> CDPSession:
    session = await cdp.page_session(page)
    if session is None:
        raise Refused("unsupported", f"Only Chromium can {what}.")
    return session


def _down(point: Point) -> dict[str, Any]:
    return {"type": "touchStart", "touchPoints": [{"x": point.x, "y": point.y}]}


async def _touch(session: CDPSession, point: Point, deadline_s: float) -> None:
    try:
        await session.send("Input.dispatchTouchEvent", _down(point))
    finally:
        await asyncio.wait_for(session.send("Input.dispatchTouchEvent", _UP), deadline_s)


async def _await_click(gesture: Gesture, number: int, timeout_s: float) -> None:
    """Returns once this many clicks have come, or no more can be expected."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until and await gesture.is_still_guarded():
        if gesture.stopped or gesture.arrived.count("click") >= number:
            return
        await asyncio.sleep(_EVERY_S)


async def pinch(
    page: Page, middle: Point, room: float, factor: float, degrees: float, gesture: Gesture, deadline_s: float
) -> None:
    """Puts two fingers on both sides of a point of the page, and moves them apart or together and turns them around it.

    `room`: how far each may be from the point, in CSS pixels. `factor`: how many times as far apart they are in the
    end; `degrees`: how far they turn, clockwise.

    Raises:
        Refused: the browser cannot touch.
    """
    session = await _session(page, "touch with two fingers; turn the wheel instead")
    widest = min(room, _WIDEST)
    begin = widest / factor if factor > 1 else widest
    begin = max(begin, LEAST_APART)

    def fingers(part: float) -> list[dict[str, Any]]:
        apart, turn = begin * factor**part, radians(degrees * part)
        across, along = apart * cos(turn), apart * sin(turn)
        return [
            {"x": middle.x - across, "y": middle.y - along, "id": 0},
            {"x": middle.x + across, "y": middle.y + along, "id": 1},
        ]

    try:
        await session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(0)[:1]})
        await gesture.must_have_begun()
        await session.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": fingers(0)})
        for step in [*range(1, _PINCH_STEPS + 1), _PINCH_STEPS]:
            moved = {"type": "touchMove", "touchPoints": fingers(step / _PINCH_STEPS)}
            await session.send("Input.dispatchTouchEvent", moved)
    finally:
        await asyncio.wait_for(session.send("Input.dispatchTouchEvent", _UP), deadline_s)

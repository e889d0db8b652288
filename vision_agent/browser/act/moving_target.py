"""Sends input to an element that does not stop moving: predicts where it will be when the input arrives.

A press that misses all the same is stopped by the guard, so the prediction decides only how soon one hits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame

from vision_agent.actions import Point, Target
from vision_agent.browser.act.press_guard import Gesture, GestureStopped
from vision_agent.browser.locate.drawn_target import drawn_target
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.moving_drawing import locate_moving_drawing, middle_of_drawing
from vision_agent.browser.locate.moving_point import locate_moving_point
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.element import LiveElement, Middle
from vision_agent.browser.refusal import Refused

if TYPE_CHECKING:
    from vision_agent.browser.act.input_sender import InputSender

RESTLESS = "{} keeps moving, so nothing was sent to it."

_SAMPLES = 6
_FEW_SAMPLES = 3
_EVERY_S = 0.012
"""Between two samples: together they span about four frames at 60 Hz."""
_SLOWEST_PX = 0.5
"""CSS pixels between the first and the last sample; below that, the element stands still."""

_PRESS_DELAY_MS = 20.0
"""How long after the last sample a press arrives; measured anew at each press that missed."""

Body = Callable[[Location, Gesture], Awaitable[None]]
"""Sends the events of a gesture to a location, guarded."""


async def locate_any(sender: InputSender, target: Target, *, reveal: bool = True, with_drawn: bool = False) -> Location:
    """Where a target is now. A point in an element that has moved on since the look, and still moves, goes along.

    `with_drawn`: a thing that moves in a canvas may be returned as moving too.

    Raises:
        Refused: see `InputSender.locate`; or it is not clear what was meant.
    """
    drawn = drawn_target(target, sender.seen) if with_drawn else None
    more = (sender.seen, sender.image_limits, sender.deadline_s)
    if drawn is not None and drawn.moves:
        found = await locate_moving_drawing(drawn, *more)
        if found is not None:
            return found
    try:
        return await sender.locate(target, reveal=reveal)
    except Refused as refusal:
        if refusal.refusal != "moved":
            raise
        found = None
        if isinstance(target, Point):
            found = await locate_moving_point(sender.page, target, *more)
        elif drawn is not None and drawn.is_followed and not drawn.moves:
            with suppress(Refused):  # the first refusal says more about what did not move at the look
                found = await locate_moving_drawing(drawn, *more)
            if found is not None and not await is_still_moving(sender, found):
                raise
        if found is None:
            raise
        return found


async def send_to_moving(
    sender: InputSender,
    body: Body,
    at: Location,
    target: Target,
    *,
    is_drag: bool,
    lasts_s: float | None,
) -> Location:
    """Sends a gesture to a target that does not stop moving, and returns where it began.

    Raises:
        Refused: no press met the target before the deadline; those that missed were stopped.
    """
    until, delay_ms = time.monotonic() + sender.deadline_s, _PRESS_DELAY_MS
    while True:
        track: Track | None = None
        gesture: Gesture | None = None
        try:
            async with sender.guard_gesture(at, is_drag=is_drag, lasts_s=lasts_s) as gesture:
                track = await _follow(at, sender.deadline_s)
                ahead = track and _ahead(at, track, delay_ms)
                if ahead and sender.seen.observation.viewport.contains(ahead):
                    at = _moved_to(at, ahead)
                    await body(at, gesture)
                    return at
        except GestureStopped as stopped:
            if not stopped.reached_nothing:
                raise
            if track is not None and gesture is not None and gesture.pressed_ms is not None:
                delay_ms = gesture.pressed_ms - track.last_ms
        if time.monotonic() > until:
            raise Refused("moved", RESTLESS.format(at.words))
        at = await locate_any(sender, target, reveal=False, with_drawn=True)
        if at.element is None or at.frame is None:
            raise Refused("moved", RESTLESS.format(at.words))


async def current_point(sender: InputSender, at: Location) -> Point:
    """Where input to a location goes now, in page coordinates; another place only if it moves."""
    track = await _follow(at, sender.deadline_s) if at.is_moving else None
    return _ahead(at, track, _PRESS_DELAY_MS) if track else at.point


async def is_still_moving(sender: InputSender, at: Location) -> bool:
    """Whether the element of a location moves at this moment."""
    track = await _follow(at, sender.deadline_s, _FEW_SAMPLES)
    return track is not None and track.is_moving


def is_well_inside(at: Location, now: LiveElement, point: Point) -> bool:
    """Whether a page point is in the inner half of the element of a location, which is there now."""
    assert at.element is not None
    was, half_x, half_y = at.element.rect, now.rect.width / 4, now.rect.height / 4
    by_x = point.x - at.point.x - (now.rect.x + now.rect.width / 2 - was.x - was.width / 2)
    by_y = point.y - at.point.y - (now.rect.y + now.rect.height / 2 - was.y - was.height / 2)
    return abs(by_x) <= half_x and abs(by_y) <= half_y


@asynccontextmanager
async def stay_on(sender: InputSender, at: Location) -> AsyncIterator[None]:
    """Keeps the pointer on a location in the `with` block, if it moves."""
    if not at.is_moving:
        yield
        return
    following = asyncio.create_task(_stay_on(sender, at))
    try:
        yield
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError, PlaywrightError, FrameSilent):  # the page has closed or hangs
            await following


async def _stay_on(sender: InputSender, at: Location) -> None:
    while (track := await _follow(at, sender.deadline_s)) is not None:
        there = _ahead(at, track, _PRESS_DELAY_MS)
        await sender.page.mouse.move(there.x, there.y)


def _moved_to(at: Location, point: Point) -> Location:
    """A location whose element has moved on, so that its point is there."""
    assert at.element is not None
    if at.drawn:
        middle = at.drawn.middle
        moved = Point(x=middle.x + point.x - at.point.x, y=middle.y + point.y - at.point.y)
        return replace(at, point=point, drawn=at.drawn._replace(middle=moved))
    rect = at.element.rect
    there = rect._replace(x=rect.x + point.x - at.point.x, y=rect.y + point.y - at.point.y)
    return replace(at, point=point, element=replace(at.element, rect=there))


def _ahead(at: Location, track: Track, delay_ms: float) -> Point:
    """Where to press, in page coordinates, for a press that arrives so many seconds later."""
    assert at.element is not None
    middle, rect = track.predict(track.last_ms + delay_ms), at.element.rect
    was = at.drawn.middle if at.drawn else Point(x=rect.x + rect.width / 2, y=rect.y + rect.height / 2)
    return Point(x=at.point.x + middle.x - was.x, y=at.point.y + middle.y - was.y)


@dataclass(frozen=True)
class Track:
    """Where an element has just been."""

    samples: Sequence[Middle]

    @property
    def last_ms(self) -> float:
        """The time of the last sample, by the document's own clock."""
        return self.samples[-1].at_ms

    @property
    def is_moving(self) -> bool:
        """Whether the element was elsewhere at the first sample."""
        first, last = self.samples[0], self.samples[-1]
        return max(abs(last.x - first.x), abs(last.y - first.y)) >= _SLOWEST_PX

    def predict(self, at_ms: float) -> Point:
        """Where the middle of the element is at a time, on a straight line through the samples (least squares)."""
        if not self.is_moving:
            return Point(x=self.samples[-1].x, y=self.samples[-1].y)
        times = np.array([each.at_ms for each in self.samples]) - self.last_ms
        places = np.array([(each.x, each.y) for each in self.samples])
        slope, start = np.polyfit(times, places, 1)
        x, y = start + slope * (at_ms - self.last_ms)
        return Point(x=float(x), y=float(y))


async def _follow(at: Location, deadline_s: float, many: int = _SAMPLES) -> Track | None:
    """The track of the element of a location over some frames; None if it has none or it is gone."""
    mark = at.mark or at.under
    if mark is None or at.frame is None or at.element is None:
        return None
    samples: list[Middle] = []
    while True:
        middle = await _middle(at, at.frame, deadline_s, mark.key, samples)
        if middle is None:
            return None
        samples.append(middle)
        if len(samples) == many:
            return Track(samples)
        await asyncio.sleep(_EVERY_S)


async def _middle(at: Location, frame: Frame, deadline_s: float, key: str, samples: Sequence[Middle]) -> Middle | None:
    if at.drawn is None:
        return await overlay_calls.element.middle_of(frame, deadline_s, key)
    return await middle_of_drawing(frame, deadline_s, key, at.drawn, samples[-1] if samples else None)

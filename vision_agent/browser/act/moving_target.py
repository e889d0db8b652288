"""Clicks an element that does not stop moving: predicts where it will be when the press arrives.

A press that misses all the same is stopped by the guard, so the prediction decides only how soon one hits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from playwright.async_api import Frame

from vision_agent.actions import Click, Point
from vision_agent.browser.act.executor import RESTLESS, Executor
from vision_agent.browser.act.press_guard import Gesture, GestureStopped
from vision_agent.browser.locate.location import Location
from vision_agent.browser.page import protocol
from vision_agent.browser.page.protocol import Middle
from vision_agent.browser.refusal import Refused

_SAMPLES = 6
_EVERY_S = 0.012
"""Between two samples: together they span about four frames at 60 Hz."""
_SLOWEST_PX = 0.5
"""CSS pixels between the first and the last sample; below that, the element stands still."""

_PRESS_DELAY_MS = 20.0
"""How long after the last sample a press arrives; measured anew at each press that missed."""


async def click_moving(executor: Executor, click: Click) -> Location:
    """Clicks a target that does not stop moving, and returns where.

    Raises:
        Refused: no press met the target before the deadline; those that missed were stopped.
    """
    until, delay_ms = time.monotonic() + executor.deadline_s, _PRESS_DELAY_MS
    while True:
        at = await executor.locate(click.target, reveal=False)
        if at.mark is None or at.frame is None or at.element is None:
            raise Refused("moved", RESTLESS.format(at.words))
        track: Track | None = None
        gesture: Gesture | None = None
        try:
            async with executor.guard_gesture(at) as gesture:
                track = await _follow(at.frame, at.mark.key, executor.deadline_s)
                ahead = track and _ahead(at, track, delay_ms)
                if ahead and executor.seen.observation.viewport.contains(ahead):
                    at = replace(at, point=ahead)
                    await executor.press(at, click, gesture)
                    return at
        except GestureStopped as stopped:
            if not stopped.reached_nothing:
                raise
            if track is not None and gesture is not None and gesture.pressed_ms is not None:
                delay_ms = gesture.pressed_ms - track.last_ms
        if time.monotonic() > until:
            raise Refused("moved", RESTLESS.format(at.words))


def _ahead(at: Location, track: Track, delay_ms: float) -> Point:
    """Where to press, in page coordinates, for a press that comes so much later."""
    assert at.element is not None
    middle, rect = track.predict(track.last_ms + delay_ms), at.element.rect
    by_x, by_y = middle.x - (rect.x + rect.width / 2), middle.y - (rect.y + rect.height / 2)
    return Point(x=at.point.x + by_x, y=at.point.y + by_y)


@dataclass(frozen=True)
class Track:
    """Where an element has just been."""

    samples: Sequence[Middle]

    @property
    def last_ms(self) -> float:
        """The time of the last sample, by the document's own clock."""
        return self.samples[-1].at_ms

    def predict(self, at_ms: float) -> Point:
        """Where the middle of the element is at a time, on a straight line through the samples (least squares)."""
        times = np.array([each.at_ms for each in self.samples]) - self.last_ms
        places = np.array([(each.x, each.y) for each in self.samples])
        if np.abs(places[-1] - places[0]).max() < _SLOWEST_PX:
            return Point(x=self.samples[-1].x, y=self.samples[-1].y)
        slope, start = np.polyfit(times, places, 1)
        x, y = start + slope * (at_ms - self.last_ms)
        return Point(x=float(x), y=float(y))


async def _follow(frame: Frame, key: str, deadline_s: float) -> Track | None:
    """The track of an element over some frames; None if it is gone."""
    samples: list[Middle] = []
    while True:
        middle = await protocol.middle_of(frame, deadline_s, key)
        if middle is None:
            return None
        samples.append(middle)
        if len(samples) == _SAMPLES:
            return Track(samples)
        await asyncio.sleep(_EVERY_S)

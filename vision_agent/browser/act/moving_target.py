"""Predicts where a moving element will be when a press arrives.

A press that misses all the same is stopped by the guard, so the prediction decides only how soon one hits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from playwright.async_api import Frame

from vision_agent.actions import Point
from vision_agent.browser.page import protocol
from vision_agent.browser.page.protocol import Middle

_SAMPLES = 6
_EVERY_S = 0.012
"""Between two samples: together they span about four frames at 60 Hz."""
_SLOWEST_PX = 0.5
"""CSS pixels between the first and the last sample; below that, the element stands still."""


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


async def follow(frame: Frame, key: str, deadline_s: float) -> Track | None:
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

"""Where a frame's viewport lies on the page, and how points and boxes are converted between the two.

Plain arithmetic on projections; does not touch the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from vision_agent.actions import Point
from vision_agent.geometry import Box

Spot = tuple[float, float]
"""A point in the viewport of one frame, in its own CSS pixels."""

ViewportOffset = tuple[float, float]
"""How far pinch zoom has moved the visual viewport inside the layout viewport, in CSS pixels."""

Plane = Sequence[float]
"""A 3×3 projection matrix, row by row, from a spot of a frame to the frame around it."""


class Rect(NamedTuple):
    """An upright rectangle in the viewport of one frame, in its own CSS pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class FramePlace:
    """Where a frame's viewport lies on the page: moved, enlarged, turned, even tilted."""

    plane: Plane = (1, 0, 0, 0, 1, 0, 0, 0, 1)
    """Projects a spot of the frame onto the page."""

    @cached_property
    def is_only_moved(self) -> bool:
        """Whether the frame is neither scaled, turned nor skewed."""
        plane = tuple(self.plane)
        return plane[:2] == (1, 0) and plane[3:5] == (0, 1) and plane[6:] == (0, 0, 1)

    def to_page(self, x: float, y: float) -> Point:
        """A spot of the frame in page coordinates."""
        at = _project(self.plane, x, y)
        return Point(x=at[0], y=at[1])

    def to_frame(self, point: Point) -> Spot:
        """A point of the page as a spot of the frame."""
        return _project(_inverse(self.plane), point.x, point.y)

    def box_to_page(self, rect: Sequence[float], corners: Sequence[Spot] | None = None) -> Box:
        """The page box around `corners` (those of a rotated element), or else around the corners of `rect`."""
        left, top, width, height = rect
        right, bottom = left + width, top + height
        if self.is_only_moved and not corners:  # nearly all frames
            across, down = self.plane[2], self.plane[5]
            x, y = left + across, top + down
            return Box(x=x, y=y, width=right + across - x, height=bottom + down - y)
        ends = corners or ((left, top), (right, top), (right, bottom), (left, bottom))
        xs, ys = zip(*(_project(self.plane, x, y) for x, y in ends), strict=True)
        return Box(x=min(xs), y=min(ys), width=max(xs) - min(xs), height=max(ys) - min(ys))

    def child_place(self, plane: Plane) -> FramePlace:
        """The place of a child frame, given its projection into this frame."""
        rows = (self.plane[0:3], self.plane[3:6], self.plane[6:9])
        return FramePlace(
            tuple(sum(a * b for a, b in zip(row, plane[at::3], strict=True)) for row in rows for at in range(3))
        )


def main_frame_place(zoom: ViewportOffset) -> FramePlace:
    """The place of the main frame: under pinch zoom only part of it is visible, and input is relative to that part."""
    return FramePlace((1, 0, -zoom[0], 0, 1, -zoom[1], 0, 0, 1))


def _project(plane: Plane, x: float, y: float) -> Spot:
    a, b, c, d, e, f, g, h, i = plane
    depth = g * x + h * y + i
    return (a * x + b * y + c) / depth, (d * x + e * y + f) / depth


def _inverse(plane: Plane) -> Plane:
    a, b, c, d, e, f, g, h, i = plane
    size = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    turned = (e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f)
    return tuple(each / size for each in (*turned, d * h - e * g, b * g - a * h, a * e - b * d))

"""Solvers for drawings in which a click's place or a stroke's path is the answer."""

from __future__ import annotations

from collections.abc import Callable
from math import acos, cos, degrees, dist, pi, sin

from vision_agent.evals.miniwob_solvers.asked import match_groups
from vision_agent.evals.miniwob_solvers.episode import At, Episode, On, Spot

_XY = tuple[float, float]
_TOP = 50
"""Offset of the drawings in which a point is set: clicks count from this far below the top of the page."""
_LEAST, _MOST_X, _MOST_Y = 8, 146, 126
"""Bounds for clicks in the drawing's coordinates, well inside it."""
_REACH = 26
"""Length of a stroke from the dot, in pixels; the dot is at least 30 from the edge of the drawing."""
_CORNERS = 24


async def circle_center(episode: Episode) -> None:
    """Find and click on the center of the circle, then press submit."""
    (center,) = await _points(episode, "circle")
    await _click_best(episode, lambda point: -dist(point, center))


async def find_midpoint(episode: Episode) -> None:
    """Find and click on the shortest mid-point between the two points, then press submit."""
    (ax, ay), (bx, by) = await _points(episode, "circle")
    await _click_best(episode, lambda point: -dist(point, ((ax + bx) / 2, (ay + by) / 2)))


async def right_angle(episode: Episode) -> None:
    """Add a third point to create a right angle, then press submit."""
    (corner,) = await _points(episode, "#init-blue")
    (end,) = await _points(episode, "#init-black")
    await _click_best(episode, lambda point: dist(corner, point) / 50 - abs(90 - _angle(end, corner, point)))


async def bisect_angle(episode: Episode) -> None:
    """Create a line that bisects the angle evenly in two, then press submit."""
    (corner,) = await _points(episode, ".init-blue")
    one, other = await _points(episode, ".init-black")
    # Farther from the corner, a pixel changes the angle less.
    await _click_best(
        episode,
        lambda point: dist(corner, point) / 50 - max(_angle(one, corner, point), _angle(other, corner, point)),
    )


async def draw_line(episode: Episode) -> None:
    """Draw a vertical line that runs through the dot, then press submit."""
    (way,) = match_groups(r"Draw a (horizontal|vertical) line", episode.asked)
    dot = (await episode.boxes("#circ"))[0].center
    x, y = (_REACH, 0) if way == "horizontal" else (0, _REACH)
    await episode.drag_by(Spot(dot.x - x, dot.y - y, On("#area svg")), 2 * x, 2 * y)
    await episode.submit()


async def draw_circle(episode: Episode) -> None:
    """Draw a circle centered around the marked point by dragging the mouse. Press submit when done."""
    dot = (await episode.boxes("#circ"))[0].center
    turns = [2 * pi * step / _CORNERS for step in range(_CORNERS + 1)]
    first, *rest, last = [At(dot.x + _REACH * cos(turn), dot.y + _REACH * sin(turn)) for turn in turns]
    await episode.drag(first, last, through=rest)
    await episode.submit()


async def _points(episode: Episode, selector: str) -> list[_XY]:
    """The centres of circles, in the drawing's coordinates."""
    drawing = (await episode.boxes("#area svg"))[0]
    return [(box.center.x - drawing.x, box.center.y - drawing.y) for box in await episode.boxes(f"svg {selector}")]


async def _click_best(episode: Episode, worth: Callable[[_XY], float]) -> None:
    """Click the point with the highest worth."""
    x, y = max(((x, y) for x in range(_LEAST, _MOST_X) for y in range(_LEAST, _MOST_Y)), key=worth)
    await episode.click(Spot(x, y + _TOP, On("#area svg")))
    await episode.submit()


def _angle(one: _XY, corner: _XY, other: _XY) -> float:
    """The angle in degrees; 180 if two of the points are equal."""
    near, far, across = dist(corner, one), dist(corner, other), dist(one, other)
    if near == 0 or far == 0:
        return 180.0
    return degrees(acos(max(-1.0, min(1.0, (near**2 + far**2 - across**2) / (2 * near * far)))))

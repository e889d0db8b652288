"""Points and lines that follow from a drawing: dots are found in pixels, places are named by fine cells."""

from __future__ import annotations

import itertools
import math
import re

import cv2
import numpy as np
from numpy.typing import NDArray

from second_solver.player import GivenUp, Player
from second_solver.view import AREA, View
from vision_agent import actions
from vision_agent.actions import Point
from vision_agent.types import Box, Mark

_FIELD = Box(x=4, y=54, width=146, height=124)


def _canvas(view: View) -> Mark:
    found = [mark for mark in view.marks if mark.kind == "surface"]
    if not found:
        raise GivenUp(f"there is no drawing:\n{view.seen.listing}")
    return found[0]


def _dots(view: View) -> list[tuple[Point, bool]]:
    """The middle of each dot, and whether it is blue; lines are too thin to count."""
    box = _canvas(view).box
    inside = Box(x=box.x + 3, y=box.y + 3, width=box.width - 6, height=box.height - 6)
    crop = view.crop(inside)
    drawn = np.asarray(crop.min(axis=2) < 140, np.uint8)
    cores = cv2.erode(drawn, np.ones((3, 3), np.uint8))
    number, labels, stats, middles = cv2.connectedComponentsWithStats(cores)
    dots: list[tuple[Point, bool]] = []
    for index in range(1, number):
        if stats[index][cv2.CC_STAT_AREA] < 2:
            continue
        red, _, blue = crop[labels == index].mean(axis=0)
        x, y = middles[index]
        dots.append((Point(x=round(inside.x) + x + 0.5, y=round(inside.y) + y + 0.5), bool(blue > red + 60)))
    return dots


def _array(point: Point) -> NDArray[np.float64]:
    return np.array((point.x, point.y))


async def _click_at(p: Player, x: float, y: float) -> None:
    await p.click(await p.place(x, y))
    await p.submit()


async def bisect(p: Player, said: re.Match[str]) -> None:
    """A point on the line that halves the angle at the blue dot."""
    dots = _dots(await p.view())
    (corner,) = (_array(dot) for dot, is_blue in dots if is_blue)
    one, other = (_array(dot) - corner for dot, is_blue in dots if not is_blue)
    way = one / np.linalg.norm(one) + other / np.linalg.norm(other)
    x, y = _farthest(corner, way / np.linalg.norm(way))
    await _click_at(p, x, y)


def _farthest(start: NDArray[np.float64], way: NDArray[np.float64]) -> tuple[float, float]:
    """The last place inside the drawing on a ray, as far from it as it goes."""
    x, y = start
    for length in range(10, 150):
        at = start + way * length
        if not _FIELD.contains(Point(x=at[0], y=at[1])):
            break
        x, y = at
    return float(x), float(y)


async def midpoint(p: Player, said: re.Match[str]) -> None:
    """The middle between two dots."""
    (one, _), (other, _) = _dots(await p.view())
    await _click_at(p, (one.x + other.x) / 2, (one.y + other.y) / 2)


async def right_angle(p: Player, said: re.Match[str]) -> None:
    """A point square to the line at its blue end."""
    dots = _dots(await p.view())
    (corner,) = (_array(dot) for dot, is_blue in dots if is_blue)
    (end,) = (_array(dot) for dot, is_blue in dots if not is_blue)
    x, y = (end - corner) / np.linalg.norm(end - corner)
    ends = [_farthest(corner, np.array(way)) for way in ((-y, x), (y, -x))]
    await _click_at(p, *max(ends, key=lambda at: math.dist(at, corner)))


async def centre(p: Player, said: re.Match[str]) -> None:
    """The middle of a circle, fitted to what the button leaves of it."""
    view = await p.view()
    box = _canvas(view).box
    rows, columns = np.nonzero(view.crop(box).max(axis=2) < 140)
    xs, ys = columns + round(box.x) + 0.5, rows + round(box.y) + 0.5
    for mark in view.all("button"):
        beside = (ys < mark.box.y - 1) | (xs < mark.box.x - 1) | (xs > mark.box.right + 1) | (ys > mark.box.bottom + 1)
        xs, ys = xs[beside], ys[beside]
    # x^2 + y^2 = 2ax + 2by + c
    (a, b, _), *_ = np.linalg.lstsq(np.column_stack((2 * xs, 2 * ys, np.ones_like(xs))), xs**2 + ys**2, rcond=None)
    await _click_at(p, float(a), float(b))


def _dot(view: View) -> Point:
    """The only dot, of any colour."""
    box = _canvas(view).box
    inside = Box(x=box.x + 4, y=box.y + 4, width=box.width - 8, height=box.height - 8)
    ys, xs = np.nonzero(view.crop(inside).min(axis=2) < 140)
    return Point(x=round(inside.x) + float(xs.mean()) + 0.5, y=round(inside.y) + float(ys.mean()) + 0.5)


async def line(p: Player, said: re.Match[str]) -> None:
    """A line through the dot, drawn from one side to the other."""
    view = await p.view()
    dot, box = _dot(view), _canvas(view).box
    if said["way"] == "vertical":
        start, off = Point(x=dot.x, y=box.y + 12), (0.0, box.height - 30)
    else:
        start, off = Point(x=box.x + 12, y=dot.y), (box.width - 30, 0.0)
    source = await p.place(start.x, start.y)
    scale = (await p.view()).seen.marked.map
    await p.drag(source, actions.Offset(right=off[0] / scale.scale_x, down=off[1] / scale.scale_y))
    await p.look()
    await p.submit()


async def circle(p: Player, said: re.Match[str]) -> None:
    """A circle around the dot; its path is named by points, since a path has no other names."""
    view = await p.view()
    dot = _dot(view)
    box = _canvas(view).box
    radius = min(30.0, dot.x - box.x - 6, box.right - dot.x - 6, dot.y - box.y - 6, box.bottom - dot.y - 6)
    ring = [2 * math.pi * turn / 24 for turn in range(25)]
    way = [p.target(Point(x=dot.x + radius * math.cos(at), y=dot.y + radius * math.sin(at))) for at in ring]
    points = [each for each in way if isinstance(each, Point)]
    await p.do(actions.Drag(source=points[0], target=points[-1], path=tuple(points[1:-1])))
    await p.submit()


_HEAT = ("ICE COLD", "COLD", "WARM", "HOT")


async def hot(p: Player, said: re.Match[str]) -> None:
    """The hot part of a field, found by what the page says where the pointer is: far steps first, then near ones."""
    field = max((await p.view()).all("div"), key=lambda mark: mark.box.width * mark.box.height).box
    field = field.intersection(AREA) or field
    best, heat = field.center, -1
    for step, reach in ((30.0, 90.0), (15.0, 30.0), (8.0, 16.0), (4.0, 12.0)):
        around = best
        for x, y in itertools.product(np.arange(-reach, reach + 1, step), repeat=2):
            here = Point(x=around.x + float(x), y=around.y + float(y))
            if not field.contains(here):
                continue
            await p.on(here, lambda target: actions.Hover(target=target))
            words = [line.text.strip() for line in (await p.look()).lines if line.text.strip() in _HEAT]
            now = _HEAT.index(words[0]) if words else -1
            if now == len(_HEAT) - 1:
                await p.click(here)
                return
            if now > heat:
                best, heat = here, now
    raise GivenUp("it is hot nowhere")

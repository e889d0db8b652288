"""Points and lines that follow from a drawing: dots are found in pixels, places are named by fine cells."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from second_solver.player import GivenUp, Player
from second_solver.view import AREA, View
from vision_agent import actions
from vision_agent.actions import Action, Cell, Point, Target
from vision_agent.geometry import Box
from vision_agent.observation import Mark

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
    """A circle around the dot: it begins at a fine cell, and its path goes by distances from there."""
    view = await p.view()
    dot = _dot(view)
    box = _canvas(view).box
    radius = min(30.0, dot.x - box.x - 6, box.right - dot.x - 6, dot.y - box.y - 6, box.bottom - dot.y - 6)
    begin = p.centre(source := await p.place(dot.x + radius, dot.y))
    scale = (await p.view()).seen.marked.map

    def away(turn: float) -> actions.Offset:
        x, y = dot.x + radius * math.cos(turn) - begin.x, dot.y + radius * math.sin(turn) - begin.y
        return actions.Offset(right=x / scale.scale_x, down=y / scale.scale_y)

    way = tuple(away(2 * math.pi * step / 24) for step in range(1, 24))
    await p.do(actions.Drag(source=p.target(source), target=actions.Offset(right=0, down=0), path=way))
    await p.submit()


_HEAT = ("ICE COLD", "COLD", "WARM", "HOT")


async def hot(p: Player, said: re.Match[str]) -> None:
    """The hot part of a field, found by comparing how warm it is where the pointer has been.

    Nothing but this is known: of two places, the warmer one is nearer. The next place is the middle of all that agree.
    """
    field = max((await p.view()).all("div"), key=lambda mark: mark.box.width * mark.box.height)
    box = field.box.intersection(AREA) or field.box
    steps = np.arange(1.0, box.width - 1), np.arange(1.0, box.height - 1)
    left = np.stack(np.meshgrid(box.x + steps[0], box.y + steps[1]), axis=-1).reshape(-1, 2)
    been: list[tuple[NDArray[np.float64], int]] = []
    for _ in range(40):
        aim = _next_place(left, [at for at, _ in been])
        spread = float(np.ptp(left, axis=0).max())
        fine = 1.5 if spread < 12 else 5.0 if spread < 40 else 16.0
        place = await _send(p, aim, field, fine, lambda target: actions.Hover(target=target))
        middle = p.centre(place)
        aim = np.array((middle.x, middle.y))
        words = [each for each in re.split(r"\s*[\n|]\s*", await p.read("view")) if each in _HEAT]
        warm = _HEAT.index(words[-1]) if words else -1
        if warm == len(_HEAT) - 1:
            await _send(p, aim, field, fine, lambda target: actions.Click(target=target))
            return
        for at, other in been:
            if warm != other:
                near, far = (aim, at) if warm > other else (at, aim)
                left = left[np.linalg.norm(left - near, axis=1) <= np.linalg.norm(left - far, axis=1)]
        been.append((aim, warm))
        if not len(left):
            break
    raise GivenUp("it is hot nowhere")


async def _send(
    p: Player, aim: NDArray[np.float64], field: Mark, fine: float, build: Callable[[Target], Action]
) -> Point | Cell:
    """Acts at a place and returns it; the last view is used again unless that is refused."""
    await p.once()
    for _ in range(4):
        here = Point(x=float(aim[0]), y=float(aim[1]))
        place = here if p.may_use_points else await p.place(here.x, here.y, over=field, fine=fine)
        if (await p.do(build(p.target(place)))).status != "refused":
            return place
        await p.look()
    raise GivenUp(f"the pointer does not get to {aim}")


def _next_place(left: NDArray[np.float64], been: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The place that is left farthest from where the pointer was, and rather in the middle of all that are left."""
    middle = np.linalg.norm(left - left.mean(axis=0), axis=1)
    if not been:
        return left[int(middle.argmin())]
    nearest = np.min([np.linalg.norm(left - at, axis=1) for at in been], axis=0)
    return left[int((nearest - 0.4 * middle).argmax())]

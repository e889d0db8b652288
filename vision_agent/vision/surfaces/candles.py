"""Reads the candles of a price chart: a filled or a hollow body, and a thin line above and below it, at even distances.

What another line hides at the end of a body or of its line is told as a larger error. This module knows pixels only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision_agent.vision.rects import Bools, Floats, Ints

_FEWEST = 5
_LEAST_WIDE, _LEAST_HIGH = 3, 5
"""The least size of a body that the width and the distance of all are told from, in pixels."""
_FULL, _CROSSED = 0.8, 0.3
"""The share of its width that a row of a body has, and that of the gaps between bodies that a row of a line has."""
_SAME_WIDTH = 2
_OFF_GRID = 0.12
"""How far from its even place a candle may be, as a share of their distance."""
_LEAST_ON_GRID = 0.9
_LEAST_WICKED = 0.5
"""The share of candles that must have a line beyond their body."""
_ALIKE_POINTS = 0.75
_BASE_PX = 4
_RIM, _GOES_ON = 0.85, 0.5
"""The share of its rectangle that a body fills, and of its height that may be as filled between two candles."""


@dataclass(frozen=True)
class Candle:
    """One candle, in pixels: edges, so that a body of one row is one pixel high."""

    left: int
    right: int
    high: int
    top: int
    bottom: int
    low: int
    colour: int
    """The index of its colour."""
    hidden: tuple[int, int, int, int]
    """How many rows beyond each of the four heights something else hides."""


def find_candles(solid: Sequence[Bools], blended: Sequence[Bools], other: Bools) -> list[Candle]:
    """The candles, from left to right; none if these are not at even distances, or are bars on one base.

    Args:
        solid: for each colour, which pixels have it.
        blended: the same, with pixels that are blended with the ground, as those of thin lines are.
        other: the pixels with other ink, which may hide a part of a candle.
    """
    solid = [_filled(mask, rim) for mask, rim in zip(solid, blended, strict=True)]
    bodies = [_bodies(mask) for mask in solid]
    colours = [at for at, each in enumerate(bodies) if len(each) and not _have_one_base(each)]
    if not colours:
        return []
    clear = np.concatenate([bodies[at] for at in colours])
    wide = int(np.median(clear[:, 2] - clear[:, 0]))
    colours = [at for at in colours if len(_as_wide(bodies[at], wide))]
    clear = _as_wide(clear, wide)
    if len(clear) < _FEWEST or _have_one_base(clear):
        return []
    places = _places(np.sort((clear[:, 0] + clear[:, 2]) / 2), wide)
    if places is None:
        return []
    lefts = np.round(places - wide / 2).astype(int)
    crossing = _crossing(solid, colours, lefts, wide)

    step = (lefts[-1] - lefts[0]) / (len(lefts) - 1)
    gap = max(1, int((step - wide + 1) // 2))

    def at(left: int) -> Candle | None:
        candle = _candle(left, wide, solid, blended, other, crossing, colours)
        return candle if candle and not _body_continues(candle, solid[candle.colour], gap) else None

    found = [candle for left in lefts.tolist() if (candle := at(left)) is not None]
    wicked = sum(map(_is_wicked, found))
    if len(found) < _FEWEST or wicked < _LEAST_WICKED * len(found) or _are_points(found):
        return []
    before, after = (_beyond(at, float(end), by) for end, by in ((lefts[0], -step), (lefts[-1], step)))
    return [*reversed(before), *found, *after]


def _is_wicked(candle: Candle) -> bool:
    return candle.top - candle.high >= 2 or candle.low - candle.bottom >= 2


def _are_points(found: Sequence[Candle]) -> bool:
    """Whether nearly all bodies are equally high, and no higher than wide: the points of a line."""
    high = np.array([each.bottom - each.top for each in found])
    middle = float(np.median(high))
    alike = np.abs(high - middle) <= _SAME_WIDTH
    return middle <= found[0].right - found[0].left + _SAME_WIDTH and float(alike.mean()) >= _ALIKE_POINTS


def _body_continues(candle: Candle, solid: Bools, gap: int) -> bool:
    """Whether its body goes on at a side, as a wide box with words does."""
    rows = solid[candle.top : candle.bottom]
    sides = [at for at in (candle.left - gap, candle.right + gap - 1) if 0 <= at < solid.shape[1]]
    return any(rows[:, at].mean() > _GOES_ON for at in sides)


def _beyond(at: Callable[[int], Candle | None], end: float, step: float) -> list[Candle]:
    """The candles that go on at even distances from the last clear one; a sign of the legend has no line."""
    found: list[Candle] = []
    while (candle := at(round(end + step * (len(found) + 1)))) is not None and _is_wicked(candle):
        found.append(candle)
    return found


def _filled(mask: Bools, rim: Bools) -> Bools:
    """The pixels of one colour, with the rectangles that it encloses and their rims: hollow bodies."""
    contours, above = cv2.findContours(rim.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    inside = np.zeros(mask.shape, np.uint8)
    for at, contour in enumerate(contours):
        x, y, wide, high = cv2.boundingRect(contour)  # of the rim's inner pixels, around the hole
        if above[0][at][3] < 0 or min(wide, high) < _LEAST_WIDE:
            continue
        hole = ~rim[y + 1 : y + high - 1, x + 1 : x + wide - 1]
        if hole.mean() >= _RIM:
            inside[y : y + high, x : x + wide] = 1
    return np.asarray(mask | (inside > 0))


def _bodies(mask: Bools) -> Ints:
    """The solid rectangles of one colour: left, top, right and bottom, one row each."""
    ink = mask.astype(np.uint8)
    core = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((_LEAST_WIDE, _LEAST_WIDE), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(core, connectivity=4)
    x, y, wide, high, size = stats[1:].T
    is_body = (wide >= _LEAST_WIDE) & (high >= _LEAST_HIGH) & (size >= _RIM * wide * high)
    return np.asarray(np.stack([x, y, x + wide, y + high], axis=1)[is_body], np.int32)


def _as_wide(bodies: Ints, wide: int) -> Ints:
    return np.asarray(bodies[np.abs(bodies[:, 2] - bodies[:, 0] - wide) <= _SAME_WIDTH])


def _have_one_base(bodies: Ints) -> bool:
    """Whether most stand on one line, as bars do."""
    base = np.median(bodies[:, 3])
    return len(bodies) > 2 and bool((np.abs(bodies[:, 3] - base) <= _BASE_PX).mean() > 0.6)


def _places(middles: Floats, wide: int) -> Floats | None:
    """The even places of all candles between the first and the last clear one; None if they are not even."""
    apart = np.diff(middles)
    apart = apart[apart > wide]
    if not len(apart):
        return None
    step = float(np.median(apart[apart <= 1.2 * apart.min()]))
    for _ in range(2):  # the distance is exact only over many candles
        at = np.round((middles - middles[0]) / step)
        step, start = np.polyfit(at, middles, 1).tolist()
    off = np.abs(start + step * at - middles)
    if (off <= _OFF_GRID * step + 1).mean() < _LEAST_ON_GRID:
        return None
    return np.asarray(start + step * np.arange(int(at.max()) + 1), np.float32)


def _crossing(solid: Sequence[Bools], colours: Sequence[int], lefts: Ints, wide: int) -> Bools:
    """The rows in which the colours are between the candles too: a level line."""
    between = np.ones(solid[0].shape[1], bool)
    for left in lefts.tolist():
        between[max(0, left - 1) : left + wide + 1] = False
    between[: lefts[0]] = between[lefts[-1] + wide :] = False
    if not between.any():
        return np.zeros(len(solid[0]), bool)
    any_colour = np.logical_or.reduce([solid[at] for at in colours])
    return np.asarray(any_colour[:, between].mean(axis=1) > _CROSSED)


def _candle(
    left: int,
    wide: int,
    solid: Sequence[Bools],
    blended: Sequence[Bools],
    other: Bools,
    crossing: Bools,
    colours: Sequence[int],
) -> Candle | None:
    """The candle at one place, or None if none can be told there."""
    right = left + wide
    if left < 0 or right > solid[0].shape[1]:
        return None  # it is cut
    hides = other[:, left:right].any(axis=1) | crossing
    best: tuple[int, int, int] | None = None
    for colour in colours:
        is_full = (solid[colour][:, left:right].mean(axis=1) >= _FULL) & ~crossing
        for top, bottom in _runs(is_full, hides):
            if best is None or bottom - top > best[1] - best[0]:
                best = top, bottom, colour
    if best is None:
        return None
    top, bottom, colour = best
    middle = (left + right) // 2
    is_line = blended[colour][:, max(0, middle - 1) : middle + 2].any(axis=1) & ~crossing
    hides_line = other[:, max(0, middle - 1) : middle + 2].any(axis=1) | crossing
    high, over = _end(is_line, hides_line, top - 1, -1)
    low, under = _end(is_line, hides_line, bottom, 1)
    hidden = over, _many(hides, top - 1, -1), _many(hides, bottom, 1), under
    return Candle(left, right, min(top, high + 1), top, bottom, max(bottom, low), colour, hidden)


def _runs(is_full: Bools, hides: Bools) -> list[tuple[int, int]]:
    """The runs of full rows, joined over rows that something else hides."""
    rows = np.flatnonzero(is_full)
    found: list[tuple[int, int]] = []
    for row in rows.tolist():
        if found and hides[found[-1][1] : row].all():
            found[-1] = found[-1][0], row + 1
        else:
            found.append((row, row + 1))
    return found


def _end(is_line: Bools, hides: Bools, row: int, step: int) -> tuple[int, int]:
    """The first row beyond a line that goes on from a row, and how many rows something hides there."""
    last = row
    at = row
    while 0 <= at < len(is_line) and (is_line[at] or hides[at]):
        at += step
        if is_line[at - step]:
            last = at
    return last, abs(at - last)


def _many(hides: Bools, row: int, step: int) -> int:
    many = 0
    while 0 <= row < len(hides) and hides[row]:
        many, row = many + 1, row + step
    return many

"""Finds closed outlines: shapes drawn with a stroke, solid or dashed, with sharp, round or hand-drawn corners.

A stroke is thin and differs from the ground on both sides. What strokes enclose is an outline, at first as they are,
then with gaps bridged, as between dashes. Where outlines cross, the enclosed parts are joined to convex shapes or,
failing that, the strokes are told apart by colour. Corners, ticks and dashes enclose nothing; the many rectangles
between grid lines are told by their number.
This module knows only pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Floats, Group, Ints

_THICKEST = 7
"""The size of the square that no stroke fills: a thicker stroke is a filled shape."""
_CONTRAST = 24
"""The least difference of a stroke from the ground, in levels of a channel."""
_SAME_COLOUR = 8
"""The largest difference between equal colours, in levels of a channel."""
_GREY = 70
"""The saturation, of 255, up to which a stroke has no colour."""
_BINS = 36
_LEAST_SHARE = 0.004
"""The share of all coloured stroke pixels that a hue needs to be a colour of strokes."""
_GAPS = (3, 9)
"""The sizes of squares that bridge gaps: where another stroke crosses, and between dashes."""
_LEAST_PX = 12
"""The least width and height of an outline; smaller ones, such as checkboxes and handles, are found as patches."""
_LEAST_HOLE = 90
_SMALL_BOX, _RIM, _TICK = 26, 0.9, 0.6
"""The largest side of a checkbox, the share of each of its sides that is drawn, and what a tick fills of it at most."""
_CORNER_PX = 2
_LARGEST = 0.85
_SLIT = 0.16
"""The share of the largest enclosed part below which another one is a slit between two strokes of a hand."""
_CONVEX = 0.97
"""The share of its hull that a whole shape fills; a piece of one that another one crosses fills less."""
_GAIN = 0.004
_MOST_PARTS = 7
"""The most enclosed parts of one drawing that are joined to shapes; more are a net."""
_GRID = 6
"""From so many on, enclosed parts side by side are a grid, unless something is written in them."""
_INKED = 0.75
"""The least share of the line around joined parts that has ink."""
_SOLID_LINE = 0.93
"""The share of its line with ink below which an outline is dashed."""
_OF_LETTERS = 0.25
"""The share of a dashed outline's line from which letters are its dashes; a word on the line of a box is less."""
_NEAR_PX = 8
"""How far apart the boxes of neighbouring parts may be."""
_MOST_STROKES = 0.2
"""The share of stroke pixels above which a picture is a photograph or text all over."""


@dataclass(frozen=True)
class ClosedOutlines:
    """Shapes drawn with a stroke, one row each, in picture pixels."""

    rects: Ints
    """With the stroke."""
    points: Ints
    """X and y of a pixel on the stroke or, if it shares its stroke with others, in the middle."""
    middles: Ints
    """X and y of a pixel that the outline encloses."""
    solid: Floats
    """The share of the rectangle that the outline encloses."""
    is_grid: Bools
    """Whether it is one of many side by side, as between grid lines."""
    is_dashed: Bools
    lines: Sequence[Ints]
    """The contour of what each encloses, in OpenCV's format."""
    strokes: Pixels
    """255 where there is a stroke, closed or not; 0 everywhere in a photograph."""

    def take(self, which: Group) -> ClosedOutlines:
        """The outlines with these indexes, and all strokes."""
        return ClosedOutlines(
            self.rects[which],
            self.points[which],
            self.middles[which],
            self.solid[which],
            self.is_grid[which],
            self.is_dashed[which],
            [self.lines[at] for at in which.tolist()],
            self.strokes,
        )

    def are_on(self, points: Ints, by: float) -> Bools:
        """Which points, rows of x and y, are at most so many pixels from the line of a dashed outline."""
        on = np.zeros(len(points), bool)
        for at in np.flatnonzero(self.is_dashed).tolist():
            left, top, right, bottom = self.rects[at] + np.array([-by, -by, by, by])
            near = (points[:, 0] >= left) & (points[:, 0] <= right) & (points[:, 1] >= top) & (points[:, 1] <= bottom)
            for point in np.flatnonzero(near & ~on).tolist():
                x, y = points[point].tolist()
                far = cv2.pointPolygonTest(self.lines[at], (float(x), float(y)), measureDist=True)
                on[point] = abs(far) <= by
        return on

    def are_along(self, lines: Ints) -> Bools:
        """Which dashed outlines are letters and something beside them: lines of text take up much of their line."""
        found = np.zeros(len(self.rects), bool)
        if not len(lines):
            return found
        left, top, right, bottom = lines.T
        for at in np.flatnonzero(self.is_dashed).tolist():
            x, y = self.lines[at].reshape(-1, 2).T[:, :, None]
            is_in = ((x >= left) & (x < right) & (y >= top) & (y < bottom)).any(axis=1)
            found[at] = is_in.mean() >= _OF_LETTERS
        return found


@dataclass(frozen=True)
class _Found:
    rect: tuple[int, int, int, int]
    point: tuple[int, int]
    middle: tuple[int, int]
    solid: float
    is_grid: bool
    is_dashed: bool
    line: Ints


@dataclass(frozen=True)
class _Drawing:
    """Connected strokes and what they enclose."""

    lines: list[Ints]
    """Around all that it consists of: the outer one, and those of holes, however small."""
    rect: tuple[int, int, int, int]
    """X, y, width and height."""
    holes: list[Ints]

    def strokes(self) -> Pixels:
        """Its rectangle, with 255 where there is a stroke of it."""
        x, y, width, height = self.rect
        drawn = np.zeros((height, width), np.uint8)
        cv2.drawContours(drawn, self.lines, -1, 255, cv2.FILLED, offset=(-x, -y))
        return drawn


def find_closed_outlines(pixels: Pixels, ground: Floats) -> ClosedOutlines:
    """The closed outlines of a picture with this background colour, which no stroke has."""
    square = np.ones((_THICKEST, _THICKEST), np.uint8)
    ink = cv2.max(
        cv2.morphologyEx(pixels, cv2.MORPH_BLACKHAT, square), cv2.morphologyEx(pixels, cv2.MORPH_TOPHAT, square)
    )
    blue, green, red = cv2.split(ink)
    mask = np.asarray(
        cv2.threshold(cv2.max(cv2.max(blue, green), red), _CONTRAST - 1, 255, cv2.THRESH_BINARY)[1], np.uint8
    )
    colour = ground.round().astype(np.int16)
    low, high = (colour - _SAME_COLOUR).clip(0, 255), (colour + _SAME_COLOUR).clip(0, 255)
    mask[cv2.inRange(pixels, low.astype(np.uint8), high.astype(np.uint8)) > 0] = 0
    found: list[_Found] = []
    if 0 < cv2.countNonZero(mask) <= _MOST_STROKES * mask.size:
        found = _outlines_in(mask, np.asarray(ink, np.uint8))
    else:
        mask[:] = 0
    return ClosedOutlines(
        np.array([each.rect for each in found], np.int32).reshape(-1, 4),
        np.array([each.point for each in found], np.int32).reshape(-1, 2),
        np.array([each.middle for each in found], np.int32).reshape(-1, 2),
        np.array([each.solid for each in found], np.float32),
        np.array([each.is_grid for each in found], bool),
        np.array([each.is_dashed for each in found], bool),
        [each.line for each in found],
        mask,
    )


def _outlines_in(mask: Pixels, ink: Pixels) -> list[_Found]:
    """What is closed as it is, then what is closed with its gaps bridged."""
    found: list[_Found] = []
    rest = mask.copy()
    for gap in _GAPS:
        if gap == _GAPS[0]:
            grown, bridged = 0, cv2.morphologyEx(rest, cv2.MORPH_CLOSE, np.ones((gap, gap), np.uint8))
        else:  # on a slant, what closes gaps and then thins the strokes opens them again
            grown, bridged = gap // 2, cv2.dilate(rest, np.ones((gap, gap), np.uint8))
        for drawing in _drawings(np.asarray(bridged, np.uint8), grown):
            x, y, width, height = drawing.rect
            is_own = drawing.strokes() > 0
            shapes = _shapes_of(drawing.holes, mask)
            if grown:
                shapes = [replace(each, outline=_dashed(each.outline, mask)) for each in shapes]
            if len(drawing.holes) > 1 and not any(each.is_alone for each in shapes):
                strokes = np.where(is_own, mask[y : y + height, x : x + width], 0).astype(np.uint8)
                coloured = _by_colour(strokes, ink[y : y + height, x : x + width], (x, y), mask)
                shapes = coloured or shapes
            found += [each.outline for each in shapes]
            if shapes:
                rest[y : y + height, x : x + width][is_own] = 0
    most = _LARGEST * mask.size
    return [each for each in found if _fits(each.rect, most)]


def _dashed(outline: _Found, mask: Pixels) -> _Found:
    """An outline that was closed by bridging gaps, which is dashed if many were."""
    return replace(
        outline,
        is_dashed=not outline.is_grid and _inked_share(mask, outline.line) < _SOLID_LINE,
    )


def _fits(rect: tuple[int, int, int, int], most: float) -> bool:
    wide, high = rect[2] - rect[0], rect[3] - rect[1]
    return min(wide, high) >= _LEAST_PX and wide * high <= most


def _drawings(bridged: Pixels, grown: int = 0) -> list[_Drawing]:
    """The connected strokes that enclose something; `grown`: by how many pixels they were thickened on each side."""
    contours, tree = cv2.findContours(bridged, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    if tree is None:
        return []
    holes: dict[int, list[Ints]] = {}
    lines: dict[int, list[Ints]] = {}
    for at, (_, _, _, parent) in enumerate(tree[0].tolist()):
        if parent >= 0:
            lines.setdefault(parent, []).append(np.asarray(contours[at], np.int32))
        if parent >= 0 and len(contours[at]) >= _LEAST_PX and cv2.contourArea(contours[at]) >= _LEAST_HOLE:
            hole = np.asarray(contours[at], np.int32)
            holes.setdefault(parent, []).append(_grown(hole, grown) if grown else hole)
    found = []
    for at, (_, _, _, parent) in enumerate(tree[0].tolist()):
        if parent < 0 and not grown and _is_small_box(contours[at], bridged):
            holes[at] = [np.asarray(contours[at], np.int32)]
    for outer, inner in holes.items():
        left, top, width, height = cv2.boundingRect(contours[outer])
        every = [np.asarray(contours[outer], np.int32), *lines.get(outer, ())]
        found.append(_Drawing(every, (left, top, width, height), inner))
    return found


def _grown(hole: Ints, by: int) -> Ints:
    """The line around what a line encloses, farther out."""
    left, top, width, height = cv2.boundingRect(hole)
    filled = np.zeros((height + 2 * by + 2, width + 2 * by + 2), np.uint8)
    cv2.drawContours(filled, [hole], -1, 255, cv2.FILLED, offset=(by + 1 - left, by + 1 - top))
    filled = np.asarray(cv2.dilate(filled, np.ones((2 * by + 1, 2 * by + 1), np.uint8)), np.uint8)
    [outer, *_] = cv2.findContours(filled, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]
    return np.asarray(outer + np.array([left - by - 1, top - by - 1], np.int32), np.int32)


def _is_small_box(outer: Any, bridged: Pixels) -> bool:
    """Whether strokes form a small box that a tick divides, such as a checkbox; of its inside too little is left."""
    left, top, width, height = cv2.boundingRect(outer)
    if not _LEAST_PX <= min(width, height) <= max(width, height) <= _SMALL_BOX:
        return False
    part = bridged[top : top + height, left : left + width] > 0
    # Its corners may be round.
    rims = tuple(rim[_CORNER_PX:-_CORNER_PX] for rim in (part[0], part[-1], part[:, 0], part[:, -1]))
    return all(float(rim.mean()) >= _RIM for rim in rims) and float(part[2:-2, 2:-2].mean()) <= _TICK


def _by_colour(strokes: Pixels, ink: Pixels, offset: tuple[int, int], mask: Pixels) -> list[_Shape]:
    """The outlines of each colour in crossing strokes; none if there is one colour."""
    y, x = np.nonzero(strokes)
    if not len(x):
        return []
    hue, saturation, _ = cv2.cvtColor(ink[y, x][None], cv2.COLOR_BGR2HSV)[0].T
    # What is taken from the ground has the opposite colour, and is as pale where a stroke is blended.
    is_grey = saturation <= _GREY
    kinds = np.where(is_grey, 0, _hue_runs(hue[~is_grey])[hue // (180 // _BINS)])
    found: list[_Shape] = []
    for kind in np.unique(kinds).tolist():
        of = kinds == kind
        if of.all() or of.sum() < 4 * _LEAST_PX:
            continue
        own = np.zeros_like(strokes)
        own[y[of], x[of]] = 255
        bridged = np.asarray(cv2.morphologyEx(own, cv2.MORPH_CLOSE, np.ones((7, 7), np.uint8)), np.uint8)
        for drawing in _drawings(bridged):
            holes = [np.asarray(hole + np.array(offset, np.int32), np.int32) for hole in drawing.holes]
            found += [each for each in _shapes_of(holes, mask) if each.is_alone]
    return found


@dataclass(frozen=True)
class _Shape:
    outline: _Found
    is_alone: bool


def _shapes_of(holes: list[Ints], mask: Pixels) -> list[_Shape]:
    """The shapes that the parts enclosed by one drawing belong to."""
    areas = [cv2.contourArea(hole) for hole in holes]
    largest = max(areas)
    holes = [hole for hole, area in zip(holes, areas, strict=True) if area >= _SLIT * largest or _is_large(hole)]
    if len(holes) == 1:
        return [_Shape(_found(holes[0], mask, is_alone=True, is_grid=False), is_alone=True)]
    if len(holes) > _MOST_PARTS:
        return [_Shape(_part_of_net(hole), is_alone=False) for hole in holes]
    shapes, used = _joined(holes, mask)
    alone = [hole for at, hole in enumerate(holes) if at not in used]
    is_grid = len(alone) >= _GRID
    return [
        *(
            _Shape(replace(_found(shape, mask, is_alone=True, is_grid=False), is_dashed=False), is_alone=True)
            for shape in shapes
        ),
        *(_Shape(_found(hole, mask, is_alone=False, is_grid=is_grid), is_alone=False) for hole in alone),
    ]


def _hue_runs(hues: Pixels) -> Ints:
    """For each bin of hues, the number of its run of neighbouring hues that strokes have, from 1."""
    many = np.bincount(hues // (180 // _BINS), minlength=_BINS)
    is_used = many > max(1, _LEAST_SHARE * len(hues))
    runs = np.zeros(_BINS, np.int32)
    if is_used.all() or not is_used.any():
        return runs + 1
    first = int(np.flatnonzero(~is_used)[0])
    number, was = 0, False
    for at in [(first + step) % _BINS for step in range(_BINS)]:
        if is_used[at] and not was:
            number += 1
        was = bool(is_used[at])
        runs[at] = max(1, number)  # a rare hue counts to the run before it
    return runs


def _is_large(hole: Ints) -> bool:
    _, _, width, height = cv2.boundingRect(hole)
    return bool(min(width, height) >= 2 * _LEAST_PX)


def _joined(holes: Sequence[Ints], mask: Pixels) -> tuple[list[Ints], set[int]]:
    """Shapes that cross each other, each joined from several parts, and the indexes of these parts."""
    shapes: list[Ints] = []
    used: set[int] = set()
    fill = [_fill_of_hull(hole) for hole in holes]
    for at, hole in enumerate(holes):
        if fill[at] >= _CONVEX:
            continue
        best: tuple[float, tuple[int, ...]] | None = None
        others = [other for other in range(len(holes)) if other != at and _are_near(hole, holes[other])]
        for many in (1, 2):
            for group in combinations(others, many):
                share = _fill_of_hull(np.concatenate([hole, *(holes[each] for each in group)]), (at, *group), holes)
                if share > max(fill[at] + _GAIN, best[0] if best else 0):
                    best = share, (at, *group)
        if best and best[0] >= _CONVEX - 0.03:
            hull = np.asarray(cv2.convexHull(np.concatenate([holes[each] for each in best[1]])), np.int32)
            if _inked_share(mask, hull) >= _INKED:  # else lines that happen to cross
                shapes.append(hull)
                used |= set(best[1])
    return shapes, used


def _fill_of_hull(points: Ints, group: tuple[int, ...] = (), holes: Sequence[Ints] = ()) -> float:
    """The share of their common hull that parts fill, the strokes between them included."""
    hull = cv2.convexHull(points)
    whole = cv2.contourArea(hull)
    if not group:
        return float(cv2.contourArea(points) / whole) if whole else 0.0
    left, top, width, height = cv2.boundingRect(hull)
    picture = np.zeros((height + 12, width + 12), np.uint8)
    parts = [np.asarray(holes[each], np.int32) for each in group]
    cv2.drawContours(picture, parts, -1, 255, cv2.FILLED, offset=(6 - left, 6 - top))
    picture = np.asarray(cv2.morphologyEx(picture, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8)), np.uint8)
    return float((picture > 0).sum() / (whole + cv2.arcLength(hull, closed=True) / 2 + 1))


def _are_near(one: Ints, other: Ints) -> bool:
    left, top, width, height = cv2.boundingRect(one)
    its_left, its_top, its_width, its_height = cv2.boundingRect(other)
    return bool(
        left - _NEAR_PX <= its_left + its_width
        and its_left - _NEAR_PX <= left + width
        and top - _NEAR_PX <= its_top + its_height
        and its_top - _NEAR_PX <= top + height
    )


def _found(hole: Ints, mask: Pixels, *, is_alone: bool, is_grid: bool) -> _Found:
    left, top, width, height = cv2.boundingRect(hole)
    # The contour of a hole runs on the stroke around it; the rest of the stroke is outside.
    rim = _stroke_width(mask, hole)
    high, wide = mask.shape
    rect = (
        max(0, left - rim + 1),
        max(0, top - rim + 1),
        min(wide, left + width + rim - 1),
        min(high, top + height + rim - 1),
    )
    solid = float(cv2.contourArea(hole) / max(1, (width - 1) * (height - 1)))
    middle = (left + width // 2, top + height // 2)
    x, y = hole[:, 0].T
    on = mask[y, x] > 0
    inked = np.flatnonzero(on)
    point = middle
    if is_alone and len(inked):
        # At the top or left a pixel of the stroke lies inside by the usual arithmetic; a corner may be a handle.
        ends = np.abs(x - middle[0]) / max(1, width) + np.abs(y - middle[1]) / max(1, height)
        order = ends[inked] + 0.5 * (x[inked] > middle[0]) + 0.5 * (y[inked] > middle[1])
        at = int(inked[order.argmin()])
        point = (int(x[at]), int(y[at]))
    return _Found(rect, point, middle, min(1.0, solid), is_grid, is_alone and bool(on.mean() < _SOLID_LINE), hole)


def _stroke_width(mask: Pixels, hole: Ints) -> int:
    """The width of the stroke around a hole, in pixels: at the middle of each side, outwards."""
    x, y = hole[:, 0].T
    widths = []
    for at, (step_x, step_y) in (
        (int(x.argmin()), (-1, 0)),
        (int(x.argmax()), (1, 0)),
        (int(y.argmin()), (0, -1)),
        (int(y.argmax()), (0, 1)),
    ):
        here_x, here_y = int(x[at]), int(y[at])
        many = 0
        while (
            many < _THICKEST
            and 0 <= here_x < mask.shape[1]
            and 0 <= here_y < mask.shape[0]
            and (mask[here_y, here_x] or not many)
        ):
            many, here_x, here_y = many + 1, here_x + step_x, here_y + step_y
        widths.append(many)
    return int(np.median(widths))


def _part_of_net(hole: Ints) -> _Found:
    left, top, width, height = cv2.boundingRect(hole)
    middle = (left + width // 2, top + height // 2)
    return _Found((left, top, left + width, top + height), middle, middle, 1.0, True, False, hole)


def _inked_share(mask: Pixels, line: Ints) -> float:
    """How much of a line around something has ink on it, or beside it."""
    left, top, width, height = cv2.boundingRect(line)
    x, y, right, bottom = max(0, left - 4), max(0, top - 4), left + width + 4, top + height + 4
    grown = cv2.dilate(mask[y:bottom, x:right], np.ones((3, 3), np.uint8))
    along = np.zeros_like(grown)
    cv2.polylines(along, [line - np.array([x, y], np.int32)], True, 255, 1)
    return float((grown[along > 0] > 0).mean())

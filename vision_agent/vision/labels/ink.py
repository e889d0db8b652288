"""Finds what a label would hide: ink, a target's own ink, and its first letter or icon.

It works at half size and on all targets at once, because it is the part of placing that waits for the pixels.
"""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.labels.placement_cost import PlacementCost
from vision_agent.vision.picture import Picture, Pixels, pixels_of
from vision_agent.vision.rects import Bools, Floats, Group, Ints, corners_in, rect_areas, rect_sums, sums_at

_CHANGE = 20
# In pixels at half size.
_FRAME = 2
"""The width of the strip along an edge of a target that is its frame if a line runs there."""
_LINE = 0.8
"""The share of an edge that must be ink for it to be a line."""
_POINTS = 10
_ROUND = 24
"""The diameter of the roundest corner."""
_ON_NOTHING, _ON_FRAME = -1, -2
_ICON = 18
_ACCENT = 3
_LARGE, _LETTER = 12, 8
_LARGEST = 28
"""What is higher or wider is a picture, of which a label may hide any part."""
_NARROWEST = 4
_LOST = 0.15
"""A label that hides this share of a first letter hides it."""
_GLYPH = 240
"""The weight of a first letter: it has as many pixels as it is large, and each has an equal part of it."""


class Ink:
    """Where brightness changes sharply, as at the strokes of letters."""

    def __init__(self, edges: NDArray[np.uint8]) -> None:
        self._table = np.asarray(cv2.integral(edges), np.int32)

    @classmethod
    def of(cls, picture: Picture) -> Ink:
        """All ink of a picture."""
        return cls(_edges(pixels_of(picture)))

    def share(self, at: Ints) -> Floats:
        """The share of each rectangle that is ink."""
        coarse = at >> 1
        return (rect_sums(self._table, coarse) / np.maximum(1, rect_areas(coarse))).astype(np.float32)


class InkOfTargets(Ink):
    """The ink of a picture without the frames of targets, and of each target its own ink and its first letter.

    Own ink is on no smaller target in it.
    """

    def __init__(self, picture: Picture, ground: PlacementCost, positions: InkPositions) -> None:
        edges = _edges(pixels_of(picture))
        rects = positions.rects
        at = np.flatnonzero(edges.ravel().view(np.bool_))
        sides = _framed_sides(edges, positions.sides) & ~ground.is_toggle
        owners = _owners(rects, sides, edges.shape).ravel().take(at)
        edges.ravel()[at[owners == _ON_FRAME]] = 0
        own = np.flatnonzero(owners >= 0)
        own = own.take(np.argsort(owners.take(own), kind="stable"))
        of: Group = owners.take(own).astype(np.int64)
        y, x = np.divmod(at.take(own).astype(np.int32), np.int32(edges.shape[1]))
        # A label at the edge of the picture is drawn beyond it.
        first = np.zeros((edges.shape[0] + 1, edges.shape[1] + 1), np.uint8)
        is_first = _is_first_glyph(y, x, of, ground)
        sizes = np.bincount(of[is_first], minlength=len(rects))
        first[y[is_first], x[is_first]] = np.maximum(1, _GLYPH // np.maximum(1, sizes))[of[is_first]]
        super().__init__(edges)
        self._first = np.asarray(cv2.integral(first), np.int32)
        self._whole = np.maximum(1, np.bincount(of, minlength=len(rects)))
        self._at = positions

    def shares(self) -> Floats:
        """The share of each candidate that is ink."""
        return (sums_at(self._table, self._at.under) / self._at.areas).astype(np.float32)

    def hidden(self) -> Floats:
        """The share of the target's own ink that each candidate on its target hides."""
        return (sums_at(self._table, self._at.own) / self._whole.take(self._at.of)).astype(np.float32)

    def first_hidden(self) -> Floats:
        """How much each candidate hides of a first letter or an icon: 0 to 1.

        The white line around a label counts. For a label that is not on its target, see `touches_first`.
        """
        return self._share_of_first(sums_at(self._first, self._at.first))

    def touches_first(self, at: Ints) -> Floats:
        """The same for labels that are not on their target, which may only be on a container of it."""
        return self._share_of_first(rect_sums(self._first, _coarse(at)))

    def _share_of_first(self, found: Ints) -> Floats:
        share: Floats = np.minimum(1, found * np.float32(1 / (_LOST * _GLYPH))).astype(np.float32)
        return share


class InkPositions(NamedTuple):
    """Where to look for ink under candidate places, which is known before there are pixels; all at half size."""

    rects: Ints
    """The targets."""
    sides: Ints
    """Positions in the flattened picture: of points on the sides of each target, a pixel before, on and behind."""
    under: Ints
    """The corners of all candidates in the table of ink."""
    areas: Ints
    first: Ints
    """Their corners in the table of first letters."""
    own: Ints
    """The corners of the part that lies on its target, of the candidates for which there is one."""
    of: Ints
    """The targets of these."""


def ink_positions(ground: PlacementCost, at: Ints, of: Ints, on_own: Group) -> InkPositions:
    """The positions for candidates at these rectangles, of the targets in `of`; those in `on_own` lie on theirs."""
    height, width = _half(ground.height), _half(ground.width)
    rects, of = _coarse(ground.rects), of.take(on_own)
    # One row for each edge here: arithmetic on rows of four numbers takes three times as long.
    edges = np.ascontiguousarray(at.T)
    under, first = edges >> 1, edges >> 1
    # The white line around a label on its target counts; next to it, it may only be on a container of it.
    first[2:] = (edges[2:] + 1) >> 1
    drawn = under.take(on_own, axis=1)
    drawn[2:] += 1  # edges reach a pixel to the right and below
    first[2:, on_own] = drawn[2:]
    own = np.ascontiguousarray(rects.T).take(of, axis=1)
    np.maximum(own[:2], drawn[:2], out=own[:2])
    np.maximum(np.minimum(own[2:], drawn[2:]), own[:2], out=own[2:])
    return InkPositions(
        rects,
        _sides(rects, height, width),
        under=corners_in(under, width + 1),
        areas=np.maximum(1, (under[2] - under[0]) * (under[3] - under[1])),
        first=corners_in(first, width + 2),
        own=corners_in(own, width + 1),
        of=of,
    )


def _half(length: int) -> int:
    # Rounded up, so that a last odd pixel is included.
    return max(2, (length + 1) >> 1)


def _coarse(rects: Ints) -> Ints:
    """The rectangles at half size, rounded outwards to the right and below."""
    found: Ints = (rects + np.array([0, 0, 1, 1], np.int32)) >> 1
    return found


def _edges(pixels: Pixels) -> NDArray[np.uint8]:
    """The edge pixels, at half size."""
    height, width = pixels.shape[:2]
    # Half size costs a quarter.
    half = cv2.resize(pixels, (_half(width), _half(height)), interpolation=cv2.INTER_AREA)
    # In each colour by itself: a green icon on a light green ground is as grey as that.
    change = np.zeros_like(half)
    change[:, 1:] = cv2.absdiff(half[:, 1:], half[:, :-1])
    cv2.max(change[1:], cv2.absdiff(half[1:], half[:-1]), dst=change[1:])
    is_even = cv2.inRange(change, (0, 0, 0), (_CHANGE, _CHANGE, _CHANGE))
    edges: NDArray[np.uint8] = np.equal(is_even, 0).view(np.uint8)
    return edges


def _sides(rects: Ints, height: int, width: int) -> Ints:
    """The positions of points on the left, top, right and bottom side of each target, and beside them.

    There are ten on each side, none near the corners, which may be round.
    """
    along = np.linspace(0.2, 0.8, _POINTS)
    start, last = rects[:, :2, None], rects[:, 2:, None] - 1
    x, y = np.moveaxis((start + along * (last - start)).astype(np.int32), 1, 0)
    found = []
    for shift in (-1, 0, 1):
        at_x, at_y = (
            np.clip(rects[:, [edge, edge + 2]].T[..., None] + [[[shift]], [[shift - 1]]], 0, limit - 1)
            for edge, limit in ((0, width), (1, height))
        )
        found.append(np.concatenate([y * width + at_x, at_y * width + x])[[0, 2, 1, 3]])
    return np.stack(found).astype(np.int32)


def _framed_sides(edges: NDArray[np.uint8], points: Ints) -> Bools:
    """For left, top, right and bottom, whether each target has a line there or its coloured ground ends."""
    sides: Bools = edges.ravel().take(points).sum(axis=3, dtype=np.int32).max(axis=0) >= _LINE * _POINTS
    # One upright line may be that of a letter.
    sides[[0, 2]] &= sides[2] & sides[0]
    return sides


def _owners(rects: Ints, sides: Bools, shape: tuple[int, ...]) -> NDArray[np.int16]:
    """The index of the smallest target on each pixel, or that its frame or a round corner is there."""
    owners = np.full(shape, _ON_NOTHING, np.int16)
    order = np.argsort(-rect_areas(rects), kind="stable")
    # Less than half a round corner is left when the frame is gone.
    round_off = np.minimum(_ROUND, (rects[:, 2:] - rects[:, :2]).min(axis=1)) * 9 // 40
    rows = zip(order.tolist(), rects[order].tolist(), sides.T[order].tolist(), round_off[order].tolist(), strict=True)
    for at, (left, top, right, bottom), framed, corner in rows:
        if not any(framed):
            owners[top:bottom, left:right] = at
            continue
        inner = [_FRAME * is_framed for is_framed in framed]
        owners[top:bottom, left:right] = _ON_FRAME
        owners[top + inner[1] : bottom - inner[3], left + inner[0] : right - inner[2]] = at
        if corner > _FRAME and sum(framed) >= 2:
            for rows_at in (slice(top, top + corner), slice(bottom - corner, bottom)):
                owners[rows_at, left : left + corner] = _ON_FRAME
                owners[rows_at, right - corner : right] = _ON_FRAME
    return owners


def _is_first_glyph(y: Ints, x: Ints, of: Group, ground: PlacementCost) -> Bools:
    """Which of these pixels, sorted by target and then by row, are the first letter of their target, or its icon.

    That is the beginning of the first line. Letters touch at half size, so it is as wide as a wide letter is.
    """
    if not len(of):
        return np.zeros(0, np.bool_)
    many = len(ground.rects)
    if ground.is_rtl.any():
        x = np.where(ground.is_rtl.take(of), -x, x)
    is_new = np.diff(of, prepend=-1) != 0
    starts = np.flatnonzero(is_new)
    has_ink = of[starts]
    top, wide, high = (np.zeros(many, np.int32) for _ in range(3))
    top[has_ink] = y[starts]
    wide[has_ink] = np.maximum.reduceat(x, starts) - np.minimum.reduceat(x, starts) + 1
    high[has_ink] = y[np.append(starts[1:], len(y)) - 1] - y[starts] + 1
    is_icon = (np.maximum(wide, high) <= _ICON) & (wide <= 1.4 * high)
    # A row without ink ends a line, unless only an accent or the dot of an i is above it.
    line = np.cumsum(is_new | (np.diff(y, prepend=y[0]) >= 2)) - 1
    begins = np.flatnonzero(np.diff(line, prepend=-1))
    ends = np.append(begins[1:], len(y)) - 1
    heights = y[ends] - y[begins] + 1
    first = line[starts]
    last = first + (heights[first] < _ACCENT)
    np.minimum(last, np.append(first[1:], len(begins)) - 1, out=last)
    low, lines_high = np.zeros(many, np.int32), np.zeros(many, np.int32)
    low[has_ink], lines_high[has_ink] = last, y[ends[last]] - y[begins[first]] + 1
    in_line = line <= low.take(of)
    # Lines without space between them.
    cut = np.where((lines_high > _LARGE) & (wide > 2 * lines_high), _LETTER, lines_high)
    in_line &= y < (top + cut).take(of)
    lefts = np.full(many, np.iinfo(np.int32).max, np.int32)
    lefts[has_ink] = np.minimum.reduceat(np.where(in_line, x, np.iinfo(np.int32).max), starts)
    along = x - lefts.take(of)
    near = in_line & (along < _LARGEST)
    columns = np.zeros((many, _LARGEST + 1), np.bool_)
    columns[of[near], along[near]] = True
    run = columns.argmin(axis=1)
    squat = np.where(ground.is_toggle, 2.2, 1.3)
    width = np.where(run <= squat * cut, run, np.maximum(_NARROWEST, 0.65 * cut))
    width[lines_high > _LARGEST] = 0
    found: Bools = is_icon.take(of) | in_line & (along < width.take(of))
    return found

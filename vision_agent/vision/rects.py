"""Arithmetic on arrays of thousands of rectangles, each a row of left, top, right and bottom.

They are in whole picture pixels; right and bottom are exclusive. This module knows no marks and no pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box

Rect = tuple[int, int, int, int]
"""Left, top, right, bottom in whole picture pixels; right and bottom are exclusive."""
Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]
Group = NDArray[np.int64]
"""Indexes into an array of rectangles."""

CONTAINED = 0.9
"""The share of a target that must be inside another for the other to be its container."""


def rect_sums(table: Ints, at: Ints) -> Ints:
    """The sum under each rectangle, from a summed-area table."""
    return sums_at(table, corners_in(np.ascontiguousarray(at.T), table.shape[1]))


def corners_in(edges: Ints, width: int) -> Ints:
    """The positions of each rectangle's corners in a flattened summed-area table of this width, for `sums_at`.

    `edges` has one row each for left, top, right and bottom.
    """
    left, top, right, bottom = edges
    above, below = top * width, bottom * width
    return np.stack([below + right, above + right, below + left, above + left])


def sums_at(table: Ints, corners: Ints) -> Ints:
    """The sum under each rectangle, from a summed-area table and the positions of the corners in it."""
    # `take` here and elsewhere: for rows it is twenty times as fast as an index in brackets.
    ends, above, left, both = table.ravel().take(corners)
    total: Ints = ends - above - left + both
    return total


def window_sums(table: Ints, x: Ints, y: Ints, wide: int, high: int) -> Ints:
    """The sum under a rectangle of one size at each combination of these x and y, from a summed-area table."""
    rows, below = table[y], table[y + high]
    total: Ints = below[:, x + wide] - rows[:, x + wide] - below[:, x] + rows[:, x]
    return total


def overlap_lengths(start: Ints, length: int, low: int, high: int) -> Ints:
    """How much of start..start+length lies in low..high, on one axis."""
    share: Ints = np.clip(np.minimum(start + length, high) - np.maximum(start, low), 0, None)
    return share


def intersections(one: Ints, other: Ints) -> Ints:
    """The overlap of each pair of rectangles; its edges cross where they do not overlap."""
    start, end = np.maximum(one[:, :2], other[:, :2]), np.minimum(one[:, 2:], other[:, 2:])
    return np.concatenate([start, end], axis=1)


def common_area(one: Ints, other: Ints) -> Ints:
    """The area that each pair of rectangles shares; 0 where they do not overlap."""
    wide = np.minimum(one[..., 2], other[..., 2]) - np.maximum(one[..., 0], other[..., 0])
    high = np.minimum(one[..., 3], other[..., 3]) - np.maximum(one[..., 1], other[..., 1])
    area: Ints = np.maximum(wide, 0) * np.maximum(high, 0)
    return area


def rect_areas(at: Ints) -> Ints:
    """The area of each rectangle."""
    area: Ints = (at[..., 2] - at[..., 0]) * (at[..., 3] - at[..., 1])
    return area


def gaps_between(rects: Ints) -> NDArray[np.int16]:
    """The gap between every two rectangles, on the axis where they are farthest apart; negative if they overlap."""
    # 16 bits halve the time, and no picture is wider than they can hold.
    left, top, right, bottom = rects.T.astype(np.int16)
    across, down = np.subtract.outer(left, right), np.subtract.outer(top, bottom)
    gaps: NDArray[np.int16] = np.maximum(np.maximum(across, across.T), np.maximum(down, down.T))
    return gaps


def pair_gaps(one: Ints, other: Ints) -> Ints:
    """The gap between each rectangle and its partner, on the axis where they are farthest apart; 0 if they overlap."""
    apart: Ints = np.maximum(one[:, :2] - other[:, 2:], other[:, :2] - one[:, 2:]).max(axis=1)
    return np.maximum(apart, 0)


def touching_pairs(one: Ints, other: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The index pairs of overlapping rectangles."""
    (left, top, right, bottom), (its_left, its_top, its_right, its_bottom) = one.T[..., None], other.T
    first, second = np.nonzero((left < its_right) & (its_left < right) & (top < its_bottom) & (its_top < bottom))
    return first, second


def as_rect(edges: Sequence[int]) -> Rect:
    """Four edges as a rectangle: left, top, right, bottom."""
    left, top, right, bottom = edges
    return left, top, right, bottom


def edges_of(boxes: Sequence[Box]) -> NDArray[np.float64]:
    """Left, top, right and bottom of each box, one row each."""
    edges = np.array([(box.x, box.y, box.width, box.height) for box in boxes], np.float64).reshape(-1, 4)
    edges[:, 2:] += edges[:, :2]
    return edges


def round_rect(box: Box) -> Rect:
    """The rectangle of a box, rounded to whole pixels."""
    return round(box.x), round(box.y), round(box.right), round(box.bottom)


def round_rects(boxes: Sequence[Box]) -> Ints:
    """The boxes rounded to whole pixels, one row each."""
    rects: Ints = np.rint(edges_of(boxes)).astype(np.int32)
    return rects


def group_medians(values: Ints, groups: Group) -> Ints:
    """The median of each group, the larger of two middle values; groups are numbered from 0 and none is empty."""
    many = np.bincount(groups)
    ordered: Ints = values[np.lexsort((values, groups))]
    middle: Ints = ordered[np.cumsum(many) - many + many // 2]
    return middle


def connected_groups(many: int, one: Group, other: Group) -> list[Group]:
    """The connected components of `many` items, given pairs of connected ones."""
    names = np.arange(many)
    while True:
        before = names.copy()
        np.minimum.at(names, one, names[other])
        np.minimum.at(names, other, names[one])
        names = names[names]
        if (names == before).all():
            break
    order = np.argsort(names, kind="stable")
    ends = [*(np.flatnonzero(np.diff(names[order])) + 1).tolist(), many]
    return [order[begin:end] for begin, end in pairwise([0, *ends])]

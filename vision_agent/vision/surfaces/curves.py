"""Follows the ink of one series of a chart: how high a line is in each column, and whether it is a line at all.

This module knows pixels only.
"""

from __future__ import annotations

from math import ceil, floor
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.rects import Bools, Floats
from vision_agent.vision.surfaces.bars import POINT_PX

_STROKE_PX, _STEEPER, _THIN_PX = 8.0, 2.5, 4.0
"""The least height of an upright stroke, how much higher it is than what is across it, and its greatest width."""
_FEWEST_STROKES = 5
_EVEN = 0.2
"""How much the columns of a block may differ in height, as a share of it; what is no higher than a point may be one."""
_NEAR_PX = 3
_ON_BASE = 0.8
"""The share of its columns in which an area reaches its base."""
_PLACE_PX, _POINT_PX = 1.5, 6.0
"""How far a place may be from the middle of its name; how far from a turn a line goes on straight, beside its point."""
_ABOVE_PX, _DASH_PX = 2.0, 8.0
"""How far above the highest number a stroke at it may reach, and the half of a gap between two dashes of a line."""
_APART_PX = 8.0
"""How many rows of a stroke another line may hide, which crosses it."""
_TWICE = 0.15
"""The largest share of the columns of a line that may have ink at two heights, as where a sign of the legend is."""

InkKind = Literal["line", "area", "other"]


def ink_kind(mask: Bools, other: Bools, scale: float) -> InkKind:
    """Whether the ink is a line, or an area on one base whose upper edge is the line.

    Price bars, stems, floating blocks, stacked areas, and several lines or points above each other are neither. A dash
    of a line has about the same height in all its columns, and is no block.

    Args:
        mask: the pixels of the series.
        other: the pixels of other series, which may hide a part of a line.
        scale: pixels for each CSS pixel.
    """
    inked = mask[:, mask.any(axis=0)]
    many, feet = inked.sum(axis=0), mask.shape[0] - inked[::-1].argmax(axis=0)
    if not len(many) or (feet - inked.argmax(axis=0) - many > POINT_PX * scale).mean() > _TWICE:
        return "other"
    if float(np.median(many)) > POINT_PX * scale:
        base = np.percentile(feet, 90)
        return "area" if (np.abs(feet - base) <= _NEAR_PX * scale).mean() >= _ON_BASE else "other"
    pieces = _pieces(mask, other)
    strokes = blocks = 0
    for high in pieces:
        middle = float(np.median(high))
        upright = high >= max(_STROKE_PX * scale, _STEEPER * middle)
        strokes += 0 < int(upright.sum()) <= _THIN_PX * scale
        is_even = bool(np.ptp(high) <= _EVEN * middle)
        blocks += is_even and middle > POINT_PX * scale and len(high) > _STROKE_PX * scale
    is_strokes = len(pieces) >= _FEWEST_STROKES and 2 * strokes >= len(pieces)
    return "other" if is_strokes or (len(pieces) > 1 and 2 * blocks >= len(pieces)) else "line"


def _pieces(mask: Bools, other: Bools) -> list[NDArray[np.int64]]:
    """The heights of the columns of each piece; what something else hides between two pieces joins them."""
    many = mask.sum(axis=0)
    columns = np.flatnonzero(many)
    pieces: list[list[int]] = []
    for column in columns.tolist():
        last = pieces[-1][-1] if pieces else None
        if last is None or (column - last > 1 and not _is_hidden(mask, other, last, column)):
            pieces.append([])
        pieces[-1].append(column)
    return [many[each] for each in pieces]


def _is_hidden(mask: Bools, other: Bools, left: int, right: int) -> bool:
    """Whether other ink is everywhere between two columns where a line would go from one to the other."""
    ends = np.flatnonzero(mask[:, left] | mask[:, right])
    top, bottom = max(0, int(ends[0]) - _NEAR_PX), int(ends[-1]) + 1 + _NEAR_PX
    return bool(other[top:bottom, left + 1 : right].any(axis=0).all())


def without_signs_above(mask: Bools, highest: float, scale: float) -> Bools:
    """The ink of a line without what is apart above the highest number, in columns where the line is below it.

    That is the sign of a legend, also of one whose words were not read.

    Args:
        mask: the pixels of the line.
        highest: the row of the highest number.
        scale: pixels for each CSS pixel.
    """
    row = round(highest - _ABOVE_PX * scale)
    if row <= 0 or not mask[:row].any():
        return mask
    below = np.asarray(mask[row:].any(axis=0), np.uint8)[None]
    wide = np.ones((1, 2 * round(_DASH_PX * scale) + 1), np.uint8)
    has_line = np.asarray(cv2.morphologyEx(below, cv2.MORPH_CLOSE, wide))[0] > 0
    count, pieces, stats, _ = cv2.connectedComponentsWithStats(mask[:row].astype(np.uint8), connectivity=8)
    kept = mask.copy()
    for piece in range(1, count):
        left, top, across, high = stats[piece, :4].tolist()
        if top + high < row and has_line[left : left + across].mean() > 0.5:
            kept[:row][pieces == piece] = False
    return kept


def curve_of(mask: Bools, scale: float, *, is_area: bool) -> Floats:
    """The height of a line in each column: the middle of its stroke, NaN where another hides it or where there are two.

    `is_area`: the upper edge of the ink instead.
    """
    many = mask.sum(axis=0)
    y = np.arange(mask.shape[0])[:, None]
    top = np.where(many > 0, mask.argmax(axis=0), 0)
    if is_area:
        return np.asarray(np.where(many > 0, top, np.nan), np.float32)
    bottom = mask.shape[0] - 1 - np.where(many > 0, mask[::-1].argmax(axis=0), 0)
    middle = (mask * y).sum(axis=0) / np.maximum(1, many)
    # A steep line has a long run in each column; its middle is where it crosses the middle of the column.
    curve = np.where(many > 0, np.where(bottom - top + 1 <= 1.3 * many, (top + bottom) / 2, middle), np.nan)
    # Between two strokes far from each other, as that of a sign of the legend, is nothing.
    curve[bottom - top + 1 - many > _APART_PX * scale] = np.nan
    return np.asarray(curve, np.float32)


def height_at(curve: Floats, known: NDArray[np.int64], at: int, reach: float) -> float | None:
    """The height of a line at a column; a peak there is as high as it is, not as the columns around it."""
    near = known[np.abs(known - at) <= reach]
    if not len(near):
        return None
    if 0 <= at < len(curve) and not np.isnan(curve[at]):
        return float(curve[at])
    return float(np.interp(at, near, curve[near]))


def height_error(curve: Floats, at: int, y: float, scale: float) -> float:
    """How far a line may be from its height at a column, in rows, for what its steepness and its points hide.

    Where it turns, its stroke ends on one side of the turn, and a point covers both; so the height is compared with
    where the line comes from on both sides. It does not exceed what the line does nearby.
    """
    step = _PLACE_PX * scale
    beside = _between(curve, at - step, at + step)
    if not len(beside):
        return 0.0
    steep = float(np.abs(beside[:, 1] - y).max())
    from_there = []
    for way in (-1, 1):
        ends = sorted((at + way * _POINT_PX * scale, at + 2 * way * _POINT_PX * scale))
        part = _between(curve, *ends)
        if len(part) >= 0.75 * (ends[1] - ends[0]):
            _, start = np.polyfit(part[:, 0] - at, part[:, 1], 1)
            from_there.append(abs(float(start) - y))
    around = _between(curve, at - 2 * _POINT_PX * scale, at + 2 * _POINT_PX * scale)
    most = float(np.abs(around[:, 1] - y).max())
    return min(most, max([steep, *from_there]))


def _between(curve: Floats, first: float, last: float) -> Floats:
    """The known columns of a part of a curve, with their heights."""
    columns = np.arange(max(0, ceil(first)), min(len(curve), floor(last) + 1))
    return np.stack([columns, curve[columns]], axis=1)[~np.isnan(curve[columns])]

"""Tells which filled shapes of a chart are upright bars: those of one colour on one line, or stacked on others.

This module knows boxes and pixels, but no axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.rects import Bools

_LEAST_PX, _BASE_PX, _EQUAL_PX = 3.0, 4.0, 4.0
_SOLID, _INSIDE = 0.75, 0.9
POINT_PX = 22.0
"""The largest size of a point, in CSS pixels."""


@dataclass(frozen=True)
class Bar:
    """One upright bar."""

    box: Box
    is_stacked: bool = False
    """Whether it stands on another bar: its value is its own height, not the place of its end."""


def filled_boxes(mask: Bools, plot: Box, scale: float, shapes: Sequence[Box]) -> list[Box]:
    """The shapes in a plot that one colour fills; `mask` has its pixels, `scale` of them for each CSS pixel."""
    filled = []
    for box in shapes:
        inside = box.intersection(plot)
        if inside is None or box.share_in(plot) < _INSIDE or box.width < _LEAST_PX or box.height < _LEAST_PX:
            continue
        left, top = (inside.x - plot.x) * scale, (inside.y - plot.y) * scale
        own = mask[int(top) : int(top + inside.height * scale), int(left) : int(left + inside.width * scale)]
        if own.size and own.mean() >= _SOLID:
            filled.append(box)
    return filled


def find_bars(filled: Sequence[Sequence[Box]], *, may_stack: bool) -> list[list[Bar]]:
    """The bars of each colour, from left to right; none where a colour has no bars.

    Args:
        filled: the boxes that each colour fills.
        may_stack: whether bars may stand on others, as on a linear axis.
    """
    found = [[Bar(box) for box in _on_one_line(each)] for each in filled]
    for _ in filled if may_stack else ():  # each colour may stand on one that stands on others
        known = [bar.box for bars in found for bar in bars]
        found = [bars or _stacked(boxes, known) for bars, boxes in zip(found, filled, strict=True)]
    return found


def _on_one_line(filled: Sequence[Box]) -> list[Box]:
    """The boxes that stand on one line, or hang from it, if most do."""
    # A bar is as long as its value, and stands on zero or on the lower end of the axis.
    for base in sorted(filled, key=lambda box: -box.bottom):
        line = base.bottom
        standing = [box for box in filled if abs(box.bottom - line) <= _BASE_PX]
        hanging = [box for box in filled if abs(box.y - line) <= _BASE_PX]
        wide = [box.width for box in standing]
        on_it = len(standing) + len(hanging)
        if on_it >= 2 and 2 * on_it > len(filled) and np.ptp(wide) <= _EQUAL_PX and max(wide) > 2 * _LEAST_PX:
            if max(box.height for box in standing) <= POINT_PX and np.ptp([box.height for box in standing]) < 2:
                continue  # points in a row
            return sorted([*standing, *hanging], key=lambda box: box.x)
    return []


def _stacked(filled: Sequence[Box], known: Sequence[Box]) -> list[Bar]:
    """The boxes that stand on known bars of their width, if most do and the rest stand on the line of the bars."""
    bars = [Bar(box, is_stacked=True) for box in filled if any(_is_on(box, below) for below in known)]
    if len(bars) < 2 or 2 * len(bars) <= len(filled):
        return []
    wide, line = known[0].width, max(below.bottom for below in known)
    taken = [bar.box for bar in bars]
    beside = [
        Bar(box)
        for box in filled
        if box not in taken and abs(box.bottom - line) <= _BASE_PX and abs(box.width - wide) <= _EQUAL_PX
    ]
    return sorted([*bars, *beside], key=lambda bar: bar.box.x)


def _is_on(box: Box, below: Box) -> bool:
    is_above = abs(box.center.x - below.center.x) <= _BASE_PX and abs(box.width - below.width) <= _EQUAL_PX
    return is_above and abs(box.bottom - below.y) <= _BASE_PX

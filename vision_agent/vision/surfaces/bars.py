"""Tells which filled shapes of a chart are upright bars: those of one colour on one line, or stacked on others.

This module knows boxes and pixels, but no axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.rects import Bools

_LEAST_PX, _BASE_PX, _EQUAL_PX = 3.0, 4.0, 4.0
_SOLID, _INSIDE = 0.75, 0.9
_BESIDE, _RIM, _GOES_ON = 2, 1, 0.5
"""How many pixels beside a box, and in it, its colour must have ended, and the share of its height that is as filled if
not."""
_SHOWS = 0.2
"""The least share of the rows of a bar, beyond what was found of it, that nothing hides."""
_HIDDEN, _SAME_BAR = 0.6, 0.8
"""The share of a row of a bar that is its own or hidden, and the likeness of two boxes of one bar."""
_UNEVEN, _MOST_STEPS = 0.2, 2
"""How far a bar may be from where an even row has one, as a share of a step, and the steps to the next bar."""
POINT_PX = 22.0
"""The largest size of a point, in CSS pixels."""


@dataclass(frozen=True)
class Bar:
    """One upright bar, or a box that may be one."""

    box: Box
    """The shape or rectangle of one colour that was found."""
    whole: Box
    """The same with what goes on behind something else, such as a line that crosses it."""
    foot: Literal["line", "hangs", "bar"] = "line"
    """Whether it stands on the line of the bars, hangs from it, or stands on another bar: then its value is its own
    height, not the place of its end."""


def filled_boxes(mask: Bools, other: Bools, plot: Box, scale: float, shapes: Sequence[Box]) -> list[Bar]:
    """The shapes and rectangles in a plot that one colour fills up to their sides, and not beyond.

    Args:
        mask: the pixels of the colour in the plot.
        other: the pixels of other series.
        plot: its place on the page.
        scale: pixels for each CSS pixel.
        shapes: the boxes of all shapes.
    """
    filled: list[Bar] = []
    for box in (*shapes, *_solid_pieces(mask, plot, scale)):
        if any(box.likeness(bar.box) >= _SAME_BAR for bar in filled):
            continue
        inside = box.intersection(plot)
        if inside is None or box.share_in(plot) < _INSIDE or box.width < _LEAST_PX or box.height < _LEAST_PX:
            continue
        left, top = int((inside.x - plot.x) * scale), int((inside.y - plot.y) * scale)
        right, bottom = left + int(inside.width * scale), top + int(inside.height * scale)
        own = mask[top:bottom, left:right]
        if not own.size or own.mean() < _SOLID or _goes_on_aside(mask, left, right, top, bottom):
            continue
        high, low = _reach(mask[:, left:right], other[:, left:right], top, bottom)
        whole = inside.model_copy(
            update={"y": inside.y - (top - high) / scale, "height": inside.height + (top - high + low - bottom) / scale}
        )
        filled.append(Bar(box, whole))
    return [each for each in filled if not any(_is_part(each, bar) for bar in filled)]


def _solid_pieces(mask: Bools, plot: Box, scale: float) -> list[Box]:
    """The rectangles of the colour, which are not always shapes, as where bars are near each other."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    found: list[Box] = []
    for x, y, wide, high, size in stats[1:].tolist():
        if size < _SOLID * wide * high or min(wide, high) < 2 * _LEAST_PX * scale:
            continue
        rim = 1 / scale  # as a shape has it at its left and its top
        left, top = plot.x + x / scale - rim, plot.y + y / scale - rim
        found.append(Box(x=left, y=top, width=wide / scale + rim, height=high / scale + rim))
    return found


def _goes_on_aside(mask: Bools, left: int, right: int, top: int, bottom: int) -> bool:
    """Whether the colour goes on beside the box, as where rules cut an area into pieces."""
    for first, last in ((left - _BESIDE, left + _RIM), (right - _RIM, right + _BESIDE)):
        # The next bar may be near, but not without a gap.
        if first >= 0 and last < mask.shape[1] and (mask[top:bottom, first : last + 1].mean(axis=0) > _GOES_ON).all():
            return True
    return False


def _reach(own: Bools, other: Bools, top: int, bottom: int) -> tuple[int, int]:
    """The first row and the row behind the last one of a bar of which other ink hides some rows between."""
    is_own = own.mean(axis=1) >= _SOLID
    is_bar = (own | other).mean(axis=1) >= _HIDDEN
    above = _going_on(is_own[:top][::-1], is_bar[:top][::-1])
    below = _going_on(is_own[bottom:], is_bar[bottom:])
    return top - above, bottom + below


def _going_on(is_own: Bools, is_bar: Bools) -> int:
    """How many rows a bar goes on; not to a row of its colour far behind other bars, as the line that they stand on."""
    ends = np.flatnonzero(~is_bar)
    own = np.flatnonzero(is_own[: ends[0] if len(ends) else len(is_bar)])
    while len(own) and len(own) < _SHOWS * (own[-1] + 1):
        own = own[:-1]
    return int(own[-1]) + 1 if len(own) else 0


def _is_part(one: Bar, bar: Bar) -> bool:
    """Whether a box is a piece of the same bar as another, which is nearer to its foot or larger."""
    if one is bar or one.whole.likeness(bar.whole) < _SAME_BAR:
        return False
    return (one.box.bottom, one.box.height) < (bar.box.bottom, bar.box.height)


def find_bars(filled: Sequence[Sequence[Bar]], *, may_stack: bool) -> list[list[Bar]]:
    """The bars of each colour, from left to right; none where a colour has no bars.

    Args:
        filled: the boxes that each colour fills.
        may_stack: whether bars may stand on others, as on a linear axis.
    """
    found = [_on_one_line(each) for each in filled]
    for _ in filled if may_stack else ():  # each colour may stand on one that stands on others
        known = [bar.whole for bars in found for bar in bars]
        found = [
            _all_stacked(boxes, [*found[:at], *found[at + 1 :]]) or found[at] or _stacked(boxes, known)
            for at, boxes in enumerate(filled)
        ]
    return found


def even_step(places: Sequence[float]) -> float | None:
    """How far neighbours of a row are apart of which some may be missing; None if the row is uneven or too short."""
    apart = np.diff(places)
    if not len(apart) or apart.min() <= 0:
        return None
    step = float(np.median(apart / np.round(apart / apart.min())))
    many = np.round(apart / step)
    if many.min() < 1 or (np.abs(apart / step - many) > _UNEVEN).any():
        return None
    return float(apart.sum() / many.sum())  # the pixels of one are rounded, those of all are not


def going_on(bars: Sequence[Bar], boxes: Sequence[Bar]) -> list[Bar]:
    """The boxes that go on where a row of bars ends, on both sides: as wide as these, and one step or two farther."""
    wide = float(np.median([bar.whole.width for bar in bars]))
    step = even_step([bar.whole.center.x for bar in bars])
    if step is None:
        return []
    found: list[Bar] = []
    for way in (-1, 1):
        last = max(way * bar.whole.center.x for bar in bars)
        for box in sorted(boxes, key=lambda each: way * each.whole.center.x):
            many = (way * box.whole.center.x - last) / step
            is_alike = abs(box.whole.width - wide) <= _EQUAL_PX
            if many < 0.5 or not is_alike or abs(many - round(many)) > _UNEVEN:
                continue
            if round(many) > _MOST_STEPS:
                break
            found.append(box)
            last = way * box.whole.center.x
    return found


def _on_one_line(filled: Sequence[Bar]) -> list[Bar]:
    """The boxes that stand on one line, or hang from it, if most do."""
    # A bar is as long as its value, and stands on zero or on the lower end of the axis.
    for base in sorted(filled, key=lambda bar: -bar.whole.bottom):
        line = base.whole.bottom
        standing = [bar for bar in filled if abs(bar.whole.bottom - line) <= _BASE_PX]
        hanging = [bar for bar in filled if abs(bar.whole.y - line) <= _BASE_PX]
        wide, high = ([getattr(bar.whole, name) for bar in standing] for name in ("width", "height"))
        on_it = len(standing) + len(hanging)
        if on_it >= 2 and 2 * on_it > len(filled) and np.ptp(wide) <= _EQUAL_PX and max(wide) > 2 * _LEAST_PX:
            if max(high) <= POINT_PX and np.ptp(high) < 2:
                continue  # points in a row
            bars = _in_order([*standing, *(replace(bar, foot="hangs") for bar in hanging)])
            if all(one.whole.right <= other.whole.x + _BASE_PX for one, other in pairwise(bars)):
                return bars  # and no bands above each other
    return []


def _stacked(filled: Sequence[Bar], known: Sequence[Box]) -> list[Bar]:
    """The boxes that stand on known bars of their width, if most do and the rest stand on the line of the bars."""
    bars = [replace(bar, foot="bar") for bar in filled if any(_is_on(bar.whole, below) for below in known)]
    if len(bars) < 2 or 2 * len(bars) <= len(filled):
        return []
    wide, line = known[0].width, max(below.bottom for below in known)
    taken = [bar.box for bar in bars]
    beside = [
        bar
        for bar in filled
        if bar.box not in taken
        and abs(bar.whole.bottom - line) <= _BASE_PX
        and abs(bar.whole.width - wide) <= _EQUAL_PX
    ]
    return _in_order([*bars, *beside])


def _all_stacked(filled: Sequence[Bar], others: Sequence[Sequence[Bar]]) -> list[Bar]:
    """The boxes, if all stand on bars of other colours; some may then be level with each other by chance."""
    known = [bar.whole for bars in others for bar in bars if bar.foot != "hangs"]
    bars = [replace(bar, foot="bar") for bar in filled if any(_is_on(bar.whole, below) for below in known)]
    return _in_order(bars) if len(bars) == len(filled) >= 2 else []


def _in_order(bars: Sequence[Bar]) -> list[Bar]:
    return sorted(bars, key=lambda bar: bar.whole.x)


def _is_on(box: Box, below: Box) -> bool:
    is_above = abs(box.center.x - below.center.x) <= _BASE_PX and abs(box.width - below.width) <= _EQUAL_PX
    return is_above and abs(box.bottom - below.y) <= _BASE_PX

"""Measures where the parts of a chart are, in fractions of a pixel: the ticks of its scale and the ends of its bars.

The box of a text has a rim, a text is not drawn at the very middle of its tick, and the last row of a bar is blended
with the ground. This module knows pixels and boxes, but neither series nor names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, pixels_of, view_pixels
from vision_agent.vision.rects import Bools, Floats
from vision_agent.vision.surfaces.axes import Axis, number_of

_RIM_PX = 3.0
"""How far beyond the box of a text its letters are sought."""
_BODY = 0.3
"""The share of its usual ink that a row of digits has; the tail of a comma or of a sign has less."""
_BELOW = 0.09
"""How far below the middle of its digits a tick is, in their heights: what a canvas calls the middle of a line is not
that of its digits."""
_TEXT_ERROR_PX, _RULE_ERROR_PX, _FOOT_ERROR_PX = 2.0, 1.25, 0.75
"""How far a place may be off whose scale follows from texts, from rules, and from the line that bars stand on."""
_REACH_PX, _LEVEL_PX = 3.5, 1.6
"""How far a rule may be from the middle of its text, and how much that may differ among the ticks of one scale."""
_LEAST_RULED, _LEAST_LONG = 0.6, 0.12
"""The share of the ticks that must have rules, and the share of the plot's columns in which one shows: bars hide it."""
_FAINT, _GREY = 3, 45
_FOOT_PX = 2.5
"""How far the foot of the bars may be from where the scale has the tick that they stand on."""
_OWN, _UNLIKE = 40.0, 26.0
"""How far a row of a bar may be from its colour, and one at its end from a blend of that with the ground."""
_AROUND = 4


class Ends(NamedTuple):
    """The heights of a bar's two ends on the page."""

    top: float
    bottom: float


@dataclass(frozen=True)
class _Tick:
    value: float
    place: float


def measured_axis(axis: Axis, picture: Picture, plot: Box) -> Axis:
    """The axis of numbers with its scale measured at the rules of its ticks or, without any, at its texts."""
    ticks = [
        _Tick(value, place)
        for (_, words), box in zip(axis.names, axis.boxes, strict=True)
        if (value := number_of(words, axis.sign)) is not None and (place := _middle_of_ink(picture, box)) is not None
    ]
    if len(ticks) != len(axis.boxes):
        return axis
    ruled = _at_rules(ticks, picture, plot)
    return _fitted(axis, ruled or ticks, _RULE_ERROR_PX if ruled else _TEXT_ERROR_PX)


def measured_across(axis: Axis, picture: Picture, plot: Box) -> Axis:
    """The horizontal axis of numbers with its scale measured at the rules of its ticks, if it has any."""
    ticks = [_Tick(value, place) for place, words in axis.names if (value := number_of(words, axis.sign)) is not None]
    ruled = _at_rules(ticks, turned(picture), turned_box(plot)) if len(ticks) == len(axis.boxes) else []
    return _fitted(axis, ruled, _RULE_ERROR_PX) if ruled else axis


def turned(picture: Picture) -> Picture:
    """The picture with its rows as columns, so that what lies in it stands."""
    map = picture.map
    across = map.model_copy(
        update={
            "scale_x": map.scale_y,
            "scale_y": map.scale_x,
            "offset_x": map.offset_y,
            "offset_y": map.offset_x,
        }
    )
    return Picture(np.ascontiguousarray(pixels_of(picture).transpose(1, 0, 2)), across)


def turned_box(box: Box) -> Box:
    """The box of the same part in the turned picture."""
    return Box(x=box.y, y=box.x, width=box.height, height=box.width)


def axis_under_bars(axis: Axis, feet: Sequence[float]) -> Axis:
    """The axis, moved to where bars stand on its zero or its lowest tick, if they do."""
    if not feet or axis.kind != "linear":
        return axis
    values = [value for _, words in axis.names if (value := number_of(words, axis.sign)) is not None]
    line = float(np.median(feet))
    base = 0.0 if min(values) <= 0 <= max(values) else min(values, key=abs)
    off = line - (base - axis.start) / axis.slope
    if abs(off) > _FOOT_PX or max(feet) - min(feet) > 1:
        return axis
    return replace(axis, start=axis.start - axis.slope * off, error_px=min(axis.error_px, _FOOT_ERROR_PX))


def ends_of_bar(pixels: Floats, colour: Floats, top: int, bottom: int) -> tuple[float, float] | None:
    """Where the colour of a bar begins and ends, in rows; None where other ink hides its ends.

    Args:
        pixels: the rows of its middle columns.
        colour: that of the bar.
        top: about the first row of it.
        bottom: about the row behind its last.
    """
    rows = np.median(pixels, axis=1)
    first, last = _end(rows, colour, top), _end(rows[::-1], colour, len(rows) - bottom)
    return None if first is None or last is None else (first, len(rows) - last)


def _end(rows: Floats, colour: Floats, about: int) -> float | None:
    """Where the rows begin that have a colour, with the share of it in the blended row before."""
    is_own = np.abs(rows - colour).max(axis=1) <= _OWN
    places = range(max(0, about - _AROUND), min(len(rows) - 1, about + _AROUND))
    first = next((at for at in places if is_own[at] and is_own[at + 1] and not is_own[max(0, at - 1)]), None)
    if first is None or first < 1:
        return float(first) if first is not None else None
    own, ground = rows[min(first + 1, len(rows) - 1)], rows[max(0, first - 3)]
    return first + 1 - sum(_share(rows[at], own, ground) for at in (first, first - 1))


def _share(row: Floats, own: Floats, ground: Floats) -> float:
    """The share of a colour in a row that is blended from it and the ground; 0 if it is not."""
    apart = own - ground
    share = float(np.clip(np.dot(row - ground, apart) / max(1.0, float(np.dot(apart, apart))), 0, 1))
    return share if np.abs(ground + share * apart - row).max() <= _UNLIKE else 0.0


def _fitted(axis: Axis, ticks: Sequence[_Tick], least_error_px: float) -> Axis:
    places = np.array([each.place for each in ticks])
    values = np.array([each.value for each in ticks])
    values = np.log(values) if axis.kind == "log" else values
    slope, start = np.polyfit(places, values, 1)
    if not slope:
        return axis
    off = np.abs((values - start) / slope - places)
    return replace(axis, slope=float(slope), start=float(start), error_px=float(max(least_error_px, 1.5 * off.max())))


def _middle_of_ink(picture: Picture, box: Box) -> float | None:
    """The height of the tick of a text: near the middle of its digits."""
    around = picture.page.intersection(
        Box(x=box.x, y=box.y - _RIM_PX, width=box.width, height=box.height + 2 * _RIM_PX)
    )
    if around is None:
        return None
    pixels = view_pixels(picture, around).astype(np.float32)
    ink = np.abs(pixels - np.median(pixels.reshape(-1, 3), axis=0)).max(axis=2).sum(axis=1)
    at = len(ink) // 2
    is_body = ink >= _BODY * np.percentile(ink, 60)
    if not ink.any() or not is_body[at]:
        return None
    top = bottom = at
    while top > 0 and is_body[top - 1]:
        top -= 1
    while bottom < len(ink) - 1 and is_body[bottom + 1]:
        bottom += 1
    high = (bottom + 1 - top) / len(ink) * around.height
    return around.y + (top + bottom + 1) / 2 / len(ink) * around.height + _BELOW * high


def _at_rules(ticks: Sequence[_Tick], picture: Picture, plot: Box) -> list[_Tick]:
    """The ticks that have a rule, at its height; none if too few have one."""
    strip = picture.page.intersection(
        Box(x=plot.x, y=plot.y - 3 * _RIM_PX, width=plot.width, height=plot.height + 6 * _RIM_PX)
    )
    if strip is None:
        return []
    pixels = view_pixels(picture, strip).astype(np.int16)
    scale = pixels.shape[0] / strip.height
    strength = _ruled(pixels)
    found: list[tuple[_Tick, float]] = []
    for tick in ticks:
        at = (tick.place - strip.y) * scale
        low, high = max(0, round(at - _REACH_PX * scale)), min(len(strength), round(at + _REACH_PX * scale) + 1)
        near = strength[low:high]
        if len(near) and near.max() > 0:
            best = low + int(near.argmax())
            part = strength[max(0, best - 1) : best + 2]
            middle = float((np.arange(max(0, best - 1), max(0, best - 1) + len(part)) * part).sum() / part.sum()) + 0.5
            found.append((tick, strip.y + middle / scale))
    if len(found) < max(2, _LEAST_RULED * len(ticks)):
        return []
    off = float(np.median([place - tick.place for tick, place in found]))
    agree = [(tick, place) for tick, place in found if abs(place - tick.place - off) <= _LEVEL_PX]
    if len(agree) < max(2, _LEAST_RULED * len(ticks)):
        return []
    return [_Tick(tick.value, place) for tick, place in agree]


def _ruled(pixels: NDArray[np.int16]) -> Floats:
    """How strong a grey rule is in each row: its contrast, or 0 where too few columns show one."""
    strength = np.zeros(len(pixels), np.float32)
    is_grey: Bools = np.ptp(pixels, axis=2) < _GREY
    tone = pixels.mean(axis=2)
    above, below = tone[2:-2] - tone[:-4], tone[2:-2] - tone[4:]
    is_thin = (np.sign(above) == np.sign(below)) & (np.minimum(np.abs(above), np.abs(below)) >= _FAINT)
    is_thin &= is_grey[2:-2] & is_grey[:-4] & is_grey[4:]
    share = is_thin.mean(axis=1)
    contrast = np.where(is_thin, np.minimum(np.abs(above), np.abs(below)), 0).sum(axis=1)
    strength[2:-2] = np.where(share >= _LEAST_LONG, contrast / np.maximum(1, is_thin.sum(axis=1)), 0)
    return strength

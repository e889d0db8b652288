"""Reads charts: axes with their scale, series by colour and legend, and the values of bars, lines, points and slices.

A chart is recognized by an axis of numbers, or by a disc of several colours. Values are estimates from pixels, each
with its error. This module knows texts, boxes and pixels, but no pages.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels, view_pixels
from vision_agent.vision.rects import Bools, Floats
from vision_agent.vision.surfaces.axes import Axis, Text, horizontal_axis, vertical_axis, with_error
from vision_agent.vision.surfaces.bars import POINT_PX, Bar, even_step, filled_boxes, find_bars, going_on
from vision_agent.vision.surfaces.candles import Candle, find_candles
from vision_agent.vision.surfaces.colour_words import colour_word, main_colour
from vision_agent.vision.surfaces.curves import curve_of, height_at, ink_kind
from vision_agent.vision.surfaces.fine_places import Ends, ends_of_bar, measured_axis, standing_on
from vision_agent.vision.surfaces.level_bars import LevelBars, find_level_bars
from vision_agent.vision.surfaces.pies import find_pie, names_beside
from vision_agent.vision.surfaces.ring_points import find_rings
from vision_agent.vision.surfaces.ruled_texts import texts_beside_lines
from vision_agent.vision.surfaces.things import UNREAD

_SAME = 40.0
"""The largest difference of two pixels of one series, in levels of a channel."""
_COLOURED = 45
"""The least difference between the channels of a coloured pixel; grid lines and text are grey."""
_LEAST_PIXELS = 60
_LEAST_WIDE = 0.2
"""The share of the plot's columns in which a line is."""
_MOST_SERIES = 12
_SWATCH = (3, 60)
"""How far to the left of its text the sign of a legend entry lies, in CSS pixels."""
_SWATCH_GAP, _SIGN_RIM = 16.0, 4.0
_OWN_COLOUR = 0.05
_IN_ENTRY = 0.7
"""The share of a shape in the entry of a legend that is a part of it."""
_SHARE = "% of the whole"
_MOST_ROWS = 40
_ROW, _LEVEL_PX = 4, 5.0
_MARGIN = 0.16
"""The share of the width, on each side, in which the numbers of an axis are sought."""
_HEIGHTS = ("high", "body top", "body bottom", "low")
"""The series of a chart of candles."""
_HAS_NAME = 0.75
"""The least distance of two values, as a share of that of two names, at which each of them has a name."""
_IN_PLOT = 0.9
"""The share of a bar that is near the names of the axis."""
_AT_NAME_PX = 6.0
"""How far the middle of an uneven value may be from that of its name."""
_LEAST_APART_PX = 3.0
"""What is nearer to each other is above each other, as several points at one place."""
_BEYOND_CANDLES = 2.0
"""How many steps of the axis candles may go on beyond its first and last name."""
_TINTED, _DARK = 25, 90
"""The least difference between the channels of a pixel of a thin line, and that of dark ink from the ground."""
_MIDDLE = (0.3, 0.7)
"""The part of a bar's width in which its ends are measured, as its corners may be round."""
_SLICE = 0.5
"""The least likeness of a shape and the slice that it is."""


@dataclass(frozen=True)
class DrawnValue:
    """A bar, point or slice with the value that it stands for."""

    box: Box
    kind: Literal["bar", "point", "slice", "candle"]
    series: str
    at: str
    """The name or value on the other axis."""
    value: float
    error: float
    point: Point | None = None
    """Where a slice, a candle or a ring is pressed, which may be no shape of its own."""
    heights: tuple[float, ...] = ()
    """Of a candle: its high, the ends of its body, and its low."""
    errors: tuple[float, ...] = ()
    """How far each of these may be off."""

    @property
    def name(self) -> str:
        """Its series and place, such as `Castle, Mar`."""
        return f"{self.series}, {self.at}" if self.at else self.series

    @property
    def words(self) -> str:
        """The value and its error, such as `about 420 ± 3`."""
        value, error = with_error(self.value, self.error)
        if self.heights:
            high, top, bottom, low = (with_error(each, self.error)[0] for each in self.heights)
            return f"body about {bottom} to {top}, all {low} to {high} ± {error}"
        unit = " %" if self.kind == "slice" else ""
        return f"about {value} ± {error}{unit}"


@dataclass(frozen=True)
class Series:
    """One series: its name, and its value and error at each place."""

    name: str
    values: tuple[tuple[str, float, float], ...]
    """An error of 0: the page itself says so, see `with_exact`."""
    spots: tuple[Point, ...] = ()
    """Where the pointer is over each value."""


@dataclass(frozen=True)
class Chart:
    """What a chart says."""

    plot: Box
    series: tuple[Series, ...]
    values: tuple[DrawnValue, ...] = ()
    ticks: tuple[Box, ...] = ()
    """The texts of the axes."""
    legend: tuple[Box, ...] = ()
    """The texts of the legend."""
    across: str = ""
    """What the first column of the table is."""
    unread: tuple[str, ...] = ()
    """The names of series whose values cannot be told."""

    def table(self) -> list[list[str]]:
        """The values as rows of texts, headings first; each value is followed by its error, or was not read."""
        places = list(dict.fromkeys(at for each in self.series for at, _, _ in each.values))[:_MOST_ROWS]
        rows = [[self.across, *(each.name for each in self.series), *self.unread]]
        for place in places:
            row = [place]
            for each in self.series:
                found = next(((value, error) for at, value, error in each.values if at == place), None)
                row.append(_cell(*found) if found else "")
            rows.append([*row, *([UNREAD] * len(self.unread))])
        return rows

    @property
    def span(self) -> float:
        """The difference of the largest and the smallest value, or of the largest and 0."""
        every = [value for each in self.series for _, value, _ in each.values]
        return max([0.0, *every]) - min([0.0, *every])

    def with_exact(self, known: Mapping[tuple[str, str], float]) -> Chart:
        """The chart with values that the page says, by the names of series and place."""
        series = [
            replace(
                each,
                values=tuple(
                    (at, known[each.name, at], 0.0) if (each.name, at) in known else (at, value, error)
                    for at, value, error in each.values
                ),
            )
            for each in self.series
        ]
        return replace(self, series=tuple(series))


def _cell(value: float, error: float) -> str:
    return " ± ".join(with_error(value, error)) if error else f"{value:.12g}"


def find_chart(
    picture: Picture,
    surface: Box,
    texts: Sequence[Text],
    shapes: Sequence[Box],
    read: Callable[[Sequence[Box]], Sequence[Text]],
) -> Chart | None:
    """The chart in the visible part of a surface, or None.

    Args:
        picture: shows the surface.
        surface: the page box of the visible part.
        texts: the texts read so far.
        shapes: the boxes of the shapes found.
        read: reads more texts, which touch an axis; called only where a row of texts may be one.
    """
    if level := find_level_bars(texts, shapes):
        return _level_chart(picture, surface, texts, shapes, level)
    if vertical_axis(texts) is None:
        if not _has_row(texts):
            return _pie_chart(picture, surface, texts, shapes)
        known = [text.box for text in texts]
        beside = [
            box
            for box in texts_beside_lines(picture, surface)
            if box.center.x < surface.x + _MARGIN * surface.width
            or box.center.x > surface.right - _MARGIN * surface.width
        ]
        texts = [*texts, *read([box for box in beside if all(box.intersection(each) is None for each in known)])]
    return read_chart(picture, surface, texts, shapes) or _pie_chart(picture, surface, texts, shapes)


def _level_chart(
    picture: Picture, surface: Box, texts: Sequence[Text], shapes: Sequence[Box], level: LevelBars
) -> Chart:
    """The chart of horizontal bars, their series by colour."""
    ticks = (*level.axis.boxes, *level.texts)
    legend = _legend(picture, surface, texts, ticks, [each for each in shapes if each not in level.bars])
    values: list[DrawnValue] = []
    for bar, at in zip(level.bars, level.names, strict=True):
        name = _name(main_colour(view_pixels(picture, bar)), legend)
        end = bar.right - 1  # the rim of the box lies outside of the bar
        values.append(DrawnValue(bar, "bar", name, at, level.axis.value(end), level.axis.error(end)))
    for bar, at in level.stacked if level.axis.kind == "linear" else ():
        name = _name(main_colour(view_pixels(picture, bar)), legend)
        begin, end = bar.x + 1, bar.right - 1
        value = level.axis.value(end) - level.axis.value(begin)
        values.append(DrawnValue(bar, "bar", name, at, value, level.axis.error(begin) + level.axis.error(end)))
    names = list(dict.fromkeys(each.series for each in values))
    series = [_series(name, [each for each in values if each.series == name]) for name in names]
    left, top = min(bar.x for bar in level.bars), min(bar.y for bar in level.bars)
    plot = Box(
        x=left,
        y=top,
        width=max(4.0, level.axis.last - left),
        height=max(4.0, max(bar.bottom for bar in level.bars) - top),
    )
    return Chart(plot, tuple(series), tuple(values), ticks, tuple(text.box for text, _ in legend))


def _pie_chart(picture: Picture, surface: Box, texts: Sequence[Text], shapes: Sequence[Box]) -> Chart | None:
    """The chart of a pie or a doughnut, or None."""
    pixels = view_pixels(picture, surface)
    pie = find_pie(pixels) if len(texts) >= 2 else None
    if pie is None:
        return None
    scale = pixels.shape[1] / surface.width

    def on_page(left: float, top: float, right: float, bottom: float) -> Box:
        return Box(
            x=surface.x + left / scale,
            y=surface.y + top / scale,
            width=(right - left) / scale,
            height=(bottom - top) / scale,
        )

    in_pixels = [
        (
            text,
            Box(
                x=(text.box.x - surface.x) * scale,
                y=(text.box.y - surface.y) * scale,
                width=text.box.width * scale,
                height=text.box.height * scale,
            ),
        )
        for text in texts
    ]
    legend = _legend(picture, surface, texts, (), shapes)
    values: list[DrawnValue] = []
    named = 0
    for each, beside in zip(pie.slices, names_beside(pie, in_pixels), strict=True):
        at = next((text.words for text, its in legend if np.abs(its - each.colour).max() <= _SAME / 2), "")
        named += bool(at or beside)
        at = at or beside or colour_word(each.colour)
        around = on_page(*each.rect)
        best = max(shapes, key=around.likeness, default=around)
        box = best if best.likeness(around) >= _SLICE else around
        x, y = each.point
        point = Point(x=surface.x + x / scale, y=surface.y + y / scale)
        values.append(DrawnValue(box, "slice", at, "", each.share, each.error, point))
    if 2 * named < len(values):  # a disc of several colours, such as a ball
        return None
    told = _series(_SHARE, [replace(each, at=each.series) for each in values])
    disc = on_page(pie.x - pie.radius, pie.y - pie.radius, pie.x + pie.radius, pie.y + pie.radius)
    return Chart(disc, (told,), tuple(values), (), tuple(text.box for text, _ in legend))


def _series(name: str, values: Sequence[DrawnValue]) -> Series:
    told = tuple((each.at, each.value, each.error) for each in values)
    return Series(name, told, tuple(each.point or _inside(each.box) for each in values))


def _inside(box: Box) -> Point:
    return Point(x=box.center.x, y=box.center.y)


def _has_row(texts: Sequence[Text]) -> bool:
    """Whether enough texts are level, below the middle of all, to be those of an axis."""
    if len(texts) < _ROW:
        return False
    lowest = sorted(text.box.center.y for text in texts)[-_ROW:]
    return lowest[-1] - lowest[0] <= _LEVEL_PX


def read_chart(picture: Picture, surface: Box, texts: Sequence[Text], shapes: Sequence[Box]) -> Chart | None:
    """The chart in the visible part of a surface, or None; `shapes` are the boxes of the shapes found in it."""
    axis = vertical_axis(texts)
    if axis is None:
        return None
    pixels = view_pixels(picture, surface)
    scale = pixels.shape[1] / surface.width
    across = horizontal_axis(texts, max(axis.first, axis.last) - 2)
    if across is None:  # a numbered list has a column of numbers too
        return None
    plot = _plot(axis, across, surface)
    axis = measured_axis(axis, picture, plot)
    ticks = (*axis.boxes, *across.boxes)
    legend = _legend(picture, surface, texts, ticks, shapes)
    part = _without_signs(_Part(view_pixels(picture, plot), plot, scale), legend, min(axis.first, axis.last))
    colours = _series_colours(part, legend)
    if not colours:
        return None
    series: list[Series] = []
    values: list[DrawnValue] = []
    names: set[str] = set()
    wide = _plot(axis, across, surface, _BEYOND_CANDLES)
    candles = _candle_series(_Part(view_pixels(picture, wide), wide, scale), colours, legend, axis, across)
    if candles is not None:
        values, series, colours = candles.values, candles.series, candles.other_colours
        names = {each.name for each in series}
    masks = _series_masks(part, colours)
    shapes = _without_legend(shapes, legend, min(axis.first, axis.last))
    whole = _plot(axis, across, surface, float("inf"))
    beside = _without_signs(_Part(view_pixels(picture, whole), whole, scale), legend, min(axis.first, axis.last))
    bars_of = _bars(beside, plot, colours, shapes, may_stack=axis.kind == "linear")
    ends = {bar.box: _ends(bar, colour, beside) for colour, bars in zip(colours, bars_of, strict=True) for bar in bars}
    axis = standing_on(axis, [_foot(bar, ends[bar.box]) for bars in bars_of for bar in bars if bar.foot != "bar"])
    unread: list[str] = []
    for colour, mask, bars in zip(colours, masks, bars_of, strict=True):
        name = _name(colour, legend)
        while name in names:
            name += " 2"
        names.add(name)
        if bars:
            own = _counted([_bar_value(bar, ends[bar.box], name, axis, across) for bar in bars], across)
        else:
            own = _points(mask, part, shapes, name, axis, across)
            own = _counted(_with_rings(own, _with_blends(mask, part, colour), part, name, axis, across), across)
        values += own
        told = _series(name, own) if bars else _along(name, mask, part, axis, across)
        if told.values:
            series.append(told)
        elif mask.any(axis=0).mean() >= _LEAST_WIDE:
            unread.append(name)
    if not series:
        return None
    return Chart(
        plot,
        tuple(series),
        tuple(values),
        ticks,
        tuple(text.box for text, _ in legend),
        {"date": "date", "names": "", "linear": "x", "log": "x"}[across.kind],
        tuple(unread),
    )


@dataclass(frozen=True)
class _Candles:
    values: list[DrawnValue]
    series: list[Series]
    other_colours: list[Floats]


def _candle_series(
    part: _Part, colours: Sequence[Floats], legend: Sequence[tuple[Text, Floats]], axis: Axis, across: Axis
) -> _Candles | None:
    """The candles of a price chart, as four series of heights; which end of a body came first is not told."""
    solid = [_mask_of(part.pixels, colour) for colour in colours]
    blended = [_with_blends(mask, part, colour) for mask, colour in zip(solid, colours, strict=True)]
    ground = main_colour(part.pixels)
    is_ink = _coloured(part.pixels) | (np.abs(part.pixels.astype(np.float32) - ground).max(axis=2) >= _DARK)

    def candles_of(which: Sequence[int]) -> list[Candle]:
        own = np.logical_or.reduce([blended[at] for at in which])
        return find_candles([solid[at] for at in which], [blended[at] for at in which], is_ink & ~own)

    usual = candles_of(range(len(colours)))
    which = sorted({each.colour for each in usual})
    if not usual:
        return None
    candles = candles_of(which)  # what hides parts of them has the other colours
    if not candles:
        return None
    values = [_candle_value(each, colours[which[each.colour]], part, legend, axis) for each in candles]
    places = [each.box.center.x for each in values]
    step = float(np.median(np.diff(places)))
    values = [replace(each, at=at) for each, at in zip(values, _names_of(places, across, step), strict=True)]
    series = [
        Series(name, tuple((each.at, each.heights[at], each.errors[at]) for each in values))
        for at, name in enumerate(_HEIGHTS)
    ]
    own = [colours[at] for at in which]
    rest = [
        colour
        for colour in colours
        if not any(_is_blend(colour.round().astype(np.uint8)[None], each)[0] for each in own)
    ]
    return _Candles(values, series, rest)


def _candle_value(
    candle: Candle, colour: Floats, part: _Part, legend: Sequence[tuple[Text, Floats]], axis: Axis
) -> DrawnValue:
    x, y, scale = part.box.x, part.box.y, part.scale
    edges = [y + each / scale for each in (candle.high, candle.top, candle.bottom, candle.low)]
    heights = tuple(axis.value(each) for each in edges)
    # What something else hides may belong to the candle.
    errors = tuple(
        axis.error(edge) + abs(axis.value(edge + hidden / scale) - axis.value(edge))
        for edge, hidden in zip(edges, candle.hidden, strict=True)
    )
    box = Box(
        x=x + candle.left / scale,
        y=edges[0],
        width=(candle.right - candle.left) / scale,
        height=max(1.0, edges[3] - edges[0]),
    )
    point = Point(x=box.center.x, y=(edges[1] + edges[2]) / 2)
    middle = (heights[1] + heights[2]) / 2
    return DrawnValue(box, "candle", _name(colour, legend), "", middle, max(errors), point, heights, errors)


def _bars(
    beside: _Part, plot: Box, colours: Sequence[Floats], shapes: Sequence[Box], *, may_stack: bool
) -> list[list[Bar]]:
    """The bars of each colour, also those farther from the names of the axis that go on as the others do.

    Args:
        beside: all that is beside the axis of numbers.
        plot: the part of it that is near the names.
        colours: those of the series.
        shapes: the boxes of all shapes.
        may_stack: whether bars may stand on others.
    """
    is_coloured = _coloured(beside.pixels)
    masks = _series_masks(beside, colours)
    filled = [filled_boxes(mask, is_coloured & ~mask, beside.box, beside.scale, shapes) for mask in masks]
    inside = [[each for each in boxes if each.whole.share_in(plot) >= _IN_PLOT] for boxes in filled]
    near = find_bars(inside, may_stack=may_stack)
    longer = [
        [*own, *going_on(bars, [each for each in boxes if each not in own])] if len(bars) > 1 else own
        for own, bars, boxes in zip(inside, near, filled, strict=True)
    ]
    return [
        more if {bar.box for bar in bars} <= {bar.box for bar in more} else bars
        for bars, more in zip(near, find_bars(longer, may_stack=may_stack), strict=True)
    ]


def _counted(values: list[DrawnValue], across: Axis) -> list[DrawnValue]:
    """The values of one series, from left to right; where only some of their places have names, counted from those."""
    places = [each.box.center.x for each in values]
    named = [place for place, _ in across.names]
    if across.kind != "names" or not places or len(named) < 2:
        return values
    spacing = float(np.median(np.diff(named)))
    apart = float(np.median(np.diff(places))) if len(places) > 1 else spacing
    if apart < _LEAST_APART_PX:
        return values
    if apart > _HAS_NAME * spacing:
        names = _names_of(places, across, spacing)
    elif (step := even_step(places)) is not None:
        names = _names_of(places, across, step)
    else:
        names = [_share_between(place, across) for place in places]
    return [replace(each, at=at) for each, at in zip(values, names, strict=True)]


def _share_between(place: float, across: Axis) -> str:
    """The name at a place of a row of uneven ones; where it has none, how far it is on the way between two names."""
    at = min(max(1, bisect_right(across.names, (place, ""))), len(across.names) - 1)
    (first, left), (last, right) = across.names[at - 1], across.names[at]
    share = (place - first) / (last - first)
    if abs(place - first) <= _AT_NAME_PX:
        return left
    return right if abs(place - last) <= _AT_NAME_PX else f"{share:.0%} from {left} to {right}"


def _names_of(places: Sequence[float], across: Axis, step: float) -> list[str]:
    """The names of places on the axis, each a step from the next; without a name, from which it is how many further.

    That is the name to the left, or the first one.
    """
    named: list[str] = []
    for place in places:
        near, words = min(across.names, key=lambda each: abs(each[0] - place))
        if abs(near - place) <= step / 2:
            named.append(words)
        elif across.kind != "names":
            named.append(across.name(place))
        else:
            before = [each for each in across.names if each[0] <= place]
            first, name = max(before) if before else min(across.names)
            many = round((place - first) / step)
            named.append(f"{name} {'+' if many > 0 else '−'} {abs(many)}" if many else name)
    return named


@dataclass(frozen=True)
class _Part:
    pixels: Pixels
    box: Box
    scale: float
    """Pixels for each CSS pixel."""

    def to_page(self, x: float, y: float) -> tuple[float, float]:
        """The page coordinates of a pixel's middle."""
        return self.box.x + (x + 0.5) / self.scale, self.box.y + (y + 0.5) / self.scale


def _plot(axis: Axis, across: Axis, surface: Box, beyond: float = 0.75) -> Box:
    """Where the values are drawn: beside one axis and above the other, and so many steps beyond the outer names."""
    is_left = max(box.right for box in axis.boxes) < surface.center.x
    left = max(box.right for box in axis.boxes) + 2 if is_left else surface.x
    right = surface.right if is_left else min(box.x for box in axis.boxes) - 2
    step = abs(axis.last - axis.first) / max(1, len(axis.boxes) - 1)
    top = max(surface.y, min(axis.first, axis.last) - step)
    bottom = max(axis.first, axis.last) + step / 2
    bottom = min(bottom, min(box.y for box in across.boxes) - 1)
    spread = (across.last - across.first) / max(1, len(across.boxes) - 1)
    right = min(right, across.last + beyond * spread)
    left = max(left, across.first - beyond * spread)
    bottom = min(bottom, surface.bottom)
    return Box(x=left, y=top, width=max(4.0, right - left), height=max(4.0, bottom - top))


def _legend(
    picture: Picture, surface: Box, texts: Sequence[Text], ticks: Sequence[Box], shapes: Sequence[Box]
) -> list[tuple[Text, Floats]]:
    """The texts with a coloured sign to their left, and its colour."""
    found = []
    for text in texts:
        if text.box in ticks:
            continue
        sign = _swatch_beside(text, shapes)
        if sign is not None:
            found.append((text, main_colour(view_pixels(picture, sign))))
            continue
        colour = _sign_colour(picture, surface, text)
        # An icon that was read as a text has the colour itself.
        if colour is not None and _mask_of(view_pixels(picture, text.box), colour).mean() < _OWN_COLOUR:
            found.append((text, colour))
    return found


def _swatch_beside(text: Text, shapes: Sequence[Box]) -> Box | None:
    """The small shape immediately to the left of a text."""
    beside = [
        box
        for box in shapes
        if 0 <= text.box.x - box.right <= _SWATCH_GAP
        and box.y <= text.box.center.y <= box.bottom
        and box.height <= 2 * text.box.height
        and box.width <= _SWATCH[1]
    ]
    return max(beside, key=lambda box: box.right, default=None)


def _sign_colour(picture: Picture, surface: Box, text: Text) -> Floats | None:
    """The colour of a sign beside a text that is no shape, such as a short line."""
    low = max(surface.x, text.box.x - _SWATCH[1])
    place = Box(x=low, y=text.box.y, width=max(0.0, text.box.x - _SWATCH[0] - low), height=text.box.height)
    beside = picture.page.intersection(place) if place.width >= 3 else None
    if beside is None:
        return None
    pixels = view_pixels(picture, beside)
    is_coloured = _coloured(pixels)
    columns = np.flatnonzero(is_coloured.any(axis=0))
    if len(columns) < 2 or is_coloured.sum() < 4 or pixels.shape[1] - 1 - columns[-1] > _SWATCH_GAP:
        return None
    # Of several signs in reach, the nearest: it begins behind a gap.
    gaps = np.flatnonzero(np.diff(columns) > 4)
    is_coloured[:, : columns[gaps[-1] + 1] if len(gaps) else columns[0]] = False
    return main_colour(pixels[is_coloured][None])


def _coloured(pixels: Pixels) -> Bools:
    return np.asarray(np.ptp(pixels.astype(np.int16), axis=2) >= _COLOURED)


def _without_signs(part: _Part, legend: Sequence[tuple[Text, Floats]], top: float) -> _Part:
    """The plot without the signs of a legend above its highest number, which are no part of a line."""
    pixels = part.pixels.copy()
    for text, _ in legend:
        if text.box.bottom <= top:
            x, y = text.box.x - _SWATCH[1] - part.box.x, text.box.y - part.box.y
            columns = slice(max(0, int(x * part.scale)), max(0, int((text.box.right - part.box.x) * part.scale)))
            rows = slice(
                max(0, int((y - _SIGN_RIM) * part.scale)),
                max(0, int((text.box.bottom - part.box.y + _SIGN_RIM) * part.scale)),
            )
            sign = pixels[rows, columns]
            if sign.size:
                sign[:] = main_colour(pixels[rows]).round().astype(np.uint8)
    return replace(part, pixels=pixels)


def _without_legend(shapes: Sequence[Box], legend: Sequence[tuple[Text, Floats]], top: float) -> list[Box]:
    """The shapes that lie in no entry of a legend above the highest number, which are no data."""
    entries = [
        Box(
            x=text.box.x - _SWATCH[1],
            y=text.box.y - _SIGN_RIM,
            width=text.box.width + _SWATCH[1],
            height=text.box.height + 2 * _SIGN_RIM,
        )
        for text, _ in legend
        if text.box.bottom <= top
    ]
    return [box for box in shapes if all(box.share_in(entry) < _IN_ENTRY for entry in entries)]


def _series_colours(part: _Part, legend: Sequence[tuple[Text, Floats]]) -> list[Floats]:
    """The colours of series: those of the legend that are in the plot or, without one, its coloured pixels.

    The sign of a series that is switched off is empty, or grey as the rules are.
    """
    ground = main_colour(part.pixels)
    signs = [colour for _, colour in legend if np.ptp(colour) >= _TINTED or np.abs(colour - ground).max() > _SAME]
    found = [colour for colour in signs if _mask_of(part.pixels, colour).sum() >= _LEAST_PIXELS][:_MOST_SERIES]
    rest = part.pixels[_coloured(part.pixels)]
    for colour in found:
        rest = rest[(np.abs(rest.astype(np.float32) - colour).max(axis=1) > _SAME) & ~_is_blend(rest, colour)]
    while len(rest) >= _LEAST_PIXELS and len(found) < _MOST_SERIES:
        colour = main_colour(rest[None])
        is_own = np.abs(rest.astype(np.float32) - colour).max(axis=1) <= _SAME
        if is_own.sum() < _LEAST_PIXELS:
            break
        found.append(colour)
        # Blends of a colour with the ground are no series.
        rest = rest[~is_own & ~_is_blend(rest, colour)]
    return found


def _series_masks(part: _Part, colours: Sequence[Floats]) -> list[Bools]:
    """The pixels of each series; grey rules, which are near to a pale colour, are none of its."""
    is_tinted = np.ptp(part.pixels.astype(np.int16), axis=2) >= _TINTED
    masks = [_mask_of(part.pixels, colour) for colour in colours]
    return [
        mask & is_tinted if np.ptp(colour) >= _COLOURED else mask for mask, colour in zip(masks, colours, strict=True)
    ]


def _is_blend(pixels: Pixels, colour: Floats) -> Bools:
    """Which pixels have the hue of a colour: they are blended with the ground at its edge."""
    if not len(pixels):
        return np.zeros(0, bool)
    hues = cv2.cvtColor(pixels[None], cv2.COLOR_BGR2HSV)[0, :, 0].astype(np.int16)
    own = int(cv2.cvtColor(colour.round().astype(np.uint8)[None, None], cv2.COLOR_BGR2HSV)[0, 0, 0])
    apart = np.abs(hues - own)
    return np.asarray(np.minimum(apart, 180 - apart) <= 8)


def _mask_of(pixels: Pixels, colour: Floats) -> Bools:
    low, high = (colour - _SAME).clip(0, 255).astype(np.uint8), (colour + _SAME).clip(0, 255).astype(np.uint8)
    return np.asarray(cv2.inRange(pixels, low, high) > 0)


def _name(colour: Floats, legend: Sequence[tuple[Text, Floats]]) -> str:
    named = [(float(np.abs(its - colour).max()), text.words) for text, its in legend]
    if named and min(named)[0] <= _SAME:
        return min(named)[1]
    return colour_word(colour)


def _ends(bar: Bar, colour: Floats, part: _Part) -> Ends:
    """The heights of a bar's ends on the page."""
    # The rim of the box lies outside of the bar.
    top, bottom = bar.whole.y + 1, bar.whole.bottom - 1
    left, right = (bar.whole.x + share * bar.whole.width for share in _MIDDLE)
    columns = slice(round((left - part.box.x) * part.scale), round((right - part.box.x) * part.scale) + 1)
    pixels = part.pixels[:, columns].astype(np.float32)
    first, last = (round((each - part.box.y) * part.scale) for each in (top, bottom))
    fine = ends_of_bar(pixels, colour, first, last) if pixels.size else None
    return Ends(*(part.box.y + each / part.scale for each in fine)) if fine else Ends(top, bottom)


def _foot(bar: Bar, ends: Ends) -> float:
    return ends.top if bar.foot == "hangs" else ends.bottom


def _bar_value(bar: Bar, ends: Ends, name: str, axis: Axis, across: Axis) -> DrawnValue:
    top, bottom = ends
    end = bottom if bar.foot == "hangs" else top
    value, error = axis.value(end), axis.error(end)
    if bar.foot == "bar":
        value, error = value - axis.value(bottom), error + axis.error(bottom)
    return DrawnValue(bar.box, "bar", name, across.name(bar.box.center.x), value, error, _inside(bar.box))


def _points(mask: Bools, part: _Part, shapes: Sequence[Box], name: str, axis: Axis, across: Axis) -> list[DrawnValue]:
    """The points of one colour, which are small shapes on its line."""
    found = []
    for box in shapes:
        if max(box.width, box.height) > POINT_PX or box.share_in(part.box) < 0.5:
            continue
        x, y = int((box.center.x - part.box.x) * part.scale), int((box.center.y - part.box.y) * part.scale)
        if not (0 <= y < mask.shape[0] and 0 <= x < mask.shape[1]):
            continue
        near = mask[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4]
        if near.mean() < 0.3:
            continue
        at = across.name(box.center.x)
        found.append(DrawnValue(box, "point", name, at, axis.value(box.center.y), axis.error(box.center.y)))
    return sorted(found, key=lambda each: each.box.x)


def _with_blends(mask: Bools, part: _Part, colour: Floats) -> Bools:
    """The pixels of a colour, with those that are blended with the ground."""
    is_tinted = np.ptp(part.pixels.astype(np.int16), axis=2) >= _TINTED
    return np.asarray(mask | (is_tinted & _is_blend(part.pixels.reshape(-1, 3), colour).reshape(mask.shape)))


def _with_rings(
    points: Sequence[DrawnValue], ink: Bools, part: _Part, name: str, axis: Axis, across: Axis
) -> list[DrawnValue]:
    """The points of a line, with those that are drawn as rings."""
    found: list[DrawnValue] = []
    for middle_x, middle_y, radius in find_rings(ink, POINT_PX * part.scale):
        x, y = part.to_page(middle_x, middle_y)
        far = radius / part.scale
        box = Box(x=x - far, y=y - far, width=2 * far, height=2 * far)
        value, error = axis.value(y), axis.error(y)
        found.append(DrawnValue(box, "point", name, across.name(x), value, error, Point(x=x, y=y)))
    # What is enclosed in a ring, or right beside it by the line, is not the point.
    rest = [each for each in points if all(each.box.intersection(ring.box) is None for ring in found)]
    return sorted([*rest, *found], key=lambda each: each.box.x)


def _along(name: str, mask: Bools, part: _Part, axis: Axis, across: Axis) -> Series:
    """The value of a line at each text of the horizontal axis, and at its highest and lowest place."""
    kind = ink_kind(mask, _coloured(part.pixels) & ~mask, part.scale)
    curve = curve_of(mask, is_area=kind == "area")
    known = np.flatnonzero(~np.isnan(curve)).astype(np.int64)
    if len(known) < _LEAST_WIDE * mask.shape[1] or kind == "other":
        return Series(name, ())
    told: list[tuple[float, str]] = [(place, across.name(place)) for place, _ in across.names]
    low, high = known[np.nanargmin(curve[known])], known[np.nanargmax(curve[known])]
    for at, word in ((low, "highest"), (high, "lowest")):
        place, _ = part.to_page(float(at), 0)
        told.append((place, f"{across.name(place)} ({word})"))
    found, spots = [], []
    for place, at_name in told:
        at = round((place - part.box.x) * part.scale - 0.5)
        y = height_at(curve, known, at, 3 * part.scale)
        if y is not None:
            _, on_page = part.to_page(0, y)
            found.append((at_name, axis.value(on_page), axis.error(on_page)))
            spots.append(Point(x=place, y=on_page))
    return Series(name, tuple(found), tuple(spots))

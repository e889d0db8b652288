"""Reads a chart: the values of its bars, lines, points, candles and slices.

A chart is recognized by an axis of numbers, or by a disc of several colours. Values are estimates from pixels, each
with its error. This module knows texts, boxes and pixels, but no pages; `axes` reads the scales, `series_colours` the
legend, and `charts` holds what was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, pixels_of, view_pixels
from vision_agent.vision.rects import Bools, Floats
from vision_agent.vision.surfaces.axes import Axis, Text, horizontal_axis, other_scale, plot_between, vertical_axis
from vision_agent.vision.surfaces.bars import POINT_PX, Bar, bars_beyond, filled_boxes, find_bars
from vision_agent.vision.surfaces.candles import Candle, find_candles
from vision_agent.vision.surfaces.charts import Chart, DrawnValue, Series
from vision_agent.vision.surfaces.colour_words import colour_word, main_colour
from vision_agent.vision.surfaces.curves import curve_of, height_at, height_error, ink_kind, without_signs_above
from vision_agent.vision.surfaces.fine_places import (
    Ends,
    axis_under_bars,
    ends_of_bar,
    measured_across,
    measured_axis,
    turned,
    turned_box,
)
from vision_agent.vision.surfaces.level_bars import LevelBars, find_level_bars
from vision_agent.vision.surfaces.pies import find_pie, names_beside
from vision_agent.vision.surfaces.place_names import counted_names, names_along
from vision_agent.vision.surfaces.ring_points import find_rings
from vision_agent.vision.surfaces.ruled_texts import texts_beside_lines
from vision_agent.vision.surfaces.series_colours import (
    SAME,
    Legend,
    PlotPixels,
    find_legend,
    has_colour,
    is_blend,
    mask_of,
    series_colours,
    series_masks,
    series_name,
    with_blends,
    without_legend,
    without_signs,
)

_LEAST_WIDE = 0.2
"""The share of the plot's columns in which a line is."""
_SHARE = "% of the whole"
_ROW, _LEVEL_PX = 4, 5.0
_MARGIN = 0.16
"""The share of the width, on each side, in which the numbers of an axis are sought."""
_HEIGHTS = ("high", "body top", "body bottom", "low")
"""The series of a chart of candles."""
_IN_PLOT = 0.9
"""The share of a bar that is near the names of the axis."""
_BEYOND_CANDLES = 2.0
"""How many steps of the axis candles may go on beyond its first and last name."""
_DARK = 90
"""The least difference of dark ink from the ground."""
_MIDDLE = (0.3, 0.7)
"""The part of a bar's width in which its ends are measured, as its corners may be round."""
_AT_POINT_PX, _AT_TOP_PX = 3.0, 1.0
"""How far a point may be from its place; what is no farther from the top of a plot may go on there."""
_HIDDEN_PX = 3
"""How many rows beyond the end of a bar that are neither the ground nor a series may hide what goes on there."""
_TWO_SCALES = "two scales are beside it, and which series belongs to which cannot be told"
_UNCLEAR_NUMBERS = "the points in the numbers of its axis may be before thousands or before fractions"
_SLICE = 0.5
"""The least likeness of a shape and the slice that it is."""


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
    return _axis_chart(picture, surface, texts, shapes) or _pie_chart(picture, surface, texts, shapes)


def _has_row(texts: Sequence[Text]) -> bool:
    """Whether enough texts are level, below the middle of all, to be those of an axis."""
    if len(texts) < _ROW:
        return False
    lowest = sorted(text.box.center.y for text in texts)[-_ROW:]
    return lowest[-1] - lowest[0] <= _LEVEL_PX


def _axis_chart(picture: Picture, surface: Box, texts: Sequence[Text], shapes: Sequence[Box]) -> Chart | None:
    """The chart above a row of texts and beside a column of numbers, or None."""
    axis = vertical_axis(texts)
    if axis is None:
        return None
    across = horizontal_axis(texts, max(axis.first, axis.last) - 2)
    if across is None:  # a numbered list has a column of numbers too
        return None
    scale = view_pixels(picture, surface).shape[1] / surface.width
    plot = plot_between(axis, across, surface)
    axis = measured_axis(axis, picture, plot)
    ticks = (*axis.boxes, *across.boxes)
    legend = find_legend(picture, surface, texts, ticks, shapes)
    part = without_signs(PlotPixels(view_pixels(picture, plot), plot, scale), legend, min(axis.first, axis.last))
    colours = series_colours(part, legend)
    if not colours:
        return None
    series: list[Series] = []
    values: list[DrawnValue] = []
    names: set[str] = set()
    wide = plot_between(axis, across, surface, _BEYOND_CANDLES)
    candles = _candle_series(PlotPixels(view_pixels(picture, wide), wide, scale), colours, legend, axis, across)
    if candles is not None:
        values, series, colours = candles.values, candles.series, candles.other_colours
        names = {each.name for each in series}
    masks = series_masks(part, colours)
    shapes = without_legend(shapes, legend, min(axis.first, axis.last))
    whole = plot_between(axis, across, surface, float("inf"))
    beside = without_signs(PlotPixels(view_pixels(picture, whole), whole, scale), legend, min(axis.first, axis.last))
    bars_of = _bars(beside, plot, colours, shapes, may_stack=axis.kind == "linear")
    ends = {bar.box: _ends(bar, colour, beside) for colour, bars in zip(colours, bars_of, strict=True) for bar in bars}
    axis = axis_under_bars(axis, [_foot(bar, ends[bar.box]) for bars in bars_of for bar in bars if bar.foot != "bar"])
    unread: list[str] = []
    for colour, mask, bars in zip(colours, masks, bars_of, strict=True):
        name = series_name(colour, legend)
        while name in names:
            name += " 2"
        names.add(name)
        if bars:
            own = _named([_bar_value(bar, ends[bar.box], name, axis) for bar in bars], across)
            hidden = {bar.box for bar in bars if _is_end_hidden(bar, ends[bar.box], colours, beside)}
            own = [replace(each, value=nan) if each.box in hidden else each for each in own]
        else:
            mask = without_signs_above(mask, (min(axis.first, axis.last) - plot.y) * scale, scale)
            own = _points(mask, part, shapes, name, axis)
            own = _named(_with_rings(own, with_blends(mask, part, colour), part, name, axis), across)
        values += own
        told = _series(name, own) if bars else _along(name, mask, part, axis, across, own)
        if told.values:
            series.append(told)
        elif mask.any(axis=0).mean() >= _LEAST_WIDE:
            unread.append(name)
    if not series:
        return None
    places = () if candles is not None else _places(series, across)
    return _without_doubtful(
        Chart(
            plot,
            tuple(series),
            tuple(values),
            ticks,
            tuple(text.box for text, _ in legend),
            {"date": "date", "names": "", "linear": "x", "log": "x"}[across.kind],
            tuple(unread),
            places,
        ),
        axis,
        other_scale(texts, axis, across),
    )


def _places(series: Sequence[Series], across: Axis) -> tuple[str, ...]:
    """The names of an axis at which each series should have a value: most are at one of them, and none is between."""
    names = tuple(dict.fromkeys(words for _, words in across.names))
    at_names = [[at in names for at, _, _ in each.values if "(" not in at or at in names] for each in series]
    return names if all(all(each) for each in at_names) and 2 * max(map(sum, at_names)) >= len(names) else ()


def _without_doubtful(chart: Chart, axis: Axis, other: Axis | None) -> Chart:
    """The chart; without its values if its numbers may be read in two ways, or if two scales are beside it."""
    why = _UNCLEAR_NUMBERS if axis.is_unclear else ""
    if other is not None:
        why = _TWO_SCALES
    if not why:
        return chart
    return replace(
        chart,
        series=(),
        values=tuple(replace(each, value=nan, heights=()) for each in chart.values),
        unread=tuple(dict.fromkeys([*(each.name for each in chart.series), *chart.unread])),
        places=chart.places or tuple(dict.fromkeys(at for each in chart.series for at, _, _ in each.values)),
        ticks=(*chart.ticks, *(other.boxes if other else ())),
        why_unread=why,
    )


def _bars(
    beside: PlotPixels, plot: Box, colours: Sequence[Floats], shapes: Sequence[Box], *, may_stack: bool
) -> list[list[Bar]]:
    """The bars of each colour, also those farther from the names of the axis that go on as the others do.

    Args:
        beside: all that is beside the axis of numbers.
        plot: the part of it that is near the names.
        colours: those of the series.
        shapes: the boxes of all shapes.
        may_stack: whether bars may stand on others.
    """
    is_coloured = has_colour(beside.pixels)
    masks = series_masks(beside, colours)
    filled = [filled_boxes(mask, is_coloured & ~mask, beside.box, beside.scale, shapes) for mask in masks]
    inside = [[each for each in boxes if each.whole.share_in(plot) >= _IN_PLOT] for boxes in filled]
    near = find_bars(inside, may_stack=may_stack)
    longer = [
        [*own, *bars_beyond(bars, [each for each in boxes if each not in own])] if len(bars) > 1 else own
        for own, bars, boxes in zip(inside, near, filled, strict=True)
    ]
    return [
        more if {bar.box for bar in bars} <= {bar.box for bar in more} else bars
        for bars, more in zip(near, find_bars(longer, may_stack=may_stack), strict=True)
    ]


def _ends(bar: Bar, colour: Floats, part: PlotPixels) -> Ends:
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


def _is_end_hidden(bar: Bar, ends: Ends, colours: Sequence[Floats], part: PlotPixels) -> bool:
    """Whether a bar may go on beyond what shows of it: above the part that is read, or behind what is no series."""
    if bar.foot != "hangs" and ends.top <= part.box.y + _AT_TOP_PX:
        return True
    way = 1 if bar.foot == "hangs" else -1
    end = (ends.bottom if bar.foot == "hangs" else ends.top) - part.box.y
    rows = sorted(round((end + way * far) * part.scale) for far in (1, 1 + _HIDDEN_PX))
    left, right = (bar.whole.x + share * bar.whole.width for share in _MIDDLE)
    columns = slice(round((left - part.box.x) * part.scale), round((right - part.box.x) * part.scale) + 1)
    beyond = part.pixels[max(0, rows[0]) : rows[1], columns]
    if not beyond.size:
        return False
    usual = np.median(beyond, axis=1)
    known = [main_colour(part.pixels), *colours]
    is_known = np.any([np.abs(usual - each).max(axis=1) <= SAME for each in known], axis=0)
    return not (is_known | (np.ptp(usual, axis=1) >= _DARK / 2)).any()


def _bar_value(bar: Bar, ends: Ends, name: str, axis: Axis) -> DrawnValue:
    top, bottom = ends
    end = bottom if bar.foot == "hangs" else top
    value, error = axis.value(end), axis.error(end)
    if bar.foot == "bar":
        value, error = value - axis.value(bottom), error + axis.error(bottom)
    return DrawnValue(bar.box, "bar", name, "", value, error, _inside(bar.box))


def _points(mask: Bools, part: PlotPixels, shapes: Sequence[Box], name: str, axis: Axis) -> list[DrawnValue]:
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
        found.append(DrawnValue(box, "point", name, "", axis.value(box.center.y), axis.error(box.center.y)))
    return sorted(found, key=lambda each: each.box.x)


def _with_rings(points: Sequence[DrawnValue], ink: Bools, part: PlotPixels, name: str, axis: Axis) -> list[DrawnValue]:
    """The points of a line, with those that are drawn as rings."""
    found: list[DrawnValue] = []
    for middle_x, middle_y, radius in find_rings(ink, POINT_PX * part.scale):
        x, y = part.to_page(middle_x, middle_y)
        far = radius / part.scale
        box = Box(x=x - far, y=y - far, width=2 * far, height=2 * far)
        value, error = axis.value(y), axis.error(y)
        found.append(DrawnValue(box, "point", name, "", value, error, Point(x=x, y=y)))
    # What is enclosed in a ring, or right beside it by the line, is not the point.
    rest = [each for each in points if all(each.box.intersection(ring.box) is None for ring in found)]
    return sorted([*rest, *found], key=lambda each: each.box.x)


def _named(values: Sequence[DrawnValue], across: Axis) -> list[DrawnValue]:
    """The values of one series, from left to right, with the names of their places."""
    names = names_along([each.box.center.x for each in values], across)
    return [replace(each, at=at) for each, at in zip(values, names, strict=True)]


def _error(axis: Axis, place: float, off: float) -> float:
    """How far a value may be off whose place is known but for so many pixels."""
    return axis.error(place) + max(abs(axis.value(place + way) - axis.value(place)) for way in (-off, off))


def _along(name: str, mask: Bools, part: PlotPixels, axis: Axis, across: Axis, points: Sequence[DrawnValue]) -> Series:
    """The value of a line at each text of the horizontal axis, and at its highest and lowest place.

    `points`: its points, which are where it turns.
    """
    kind = ink_kind(mask, has_colour(part.pixels) & ~mask, part.scale)
    curve = curve_of(mask, part.scale, is_area=kind == "area")
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
        if y is None or y <= _AT_TOP_PX * part.scale:  # what is cut off there may be higher
            continue
        _, on_page = part.to_page(0, y)
        near = [each for each in points if abs(each.box.center.x - place) <= _AT_POINT_PX]
        off = height_error(curve, at, y, part.scale) / part.scale
        if len(near) == 1 and abs(near[0].box.center.y - on_page) <= off + _AT_POINT_PX:
            on_page, off = near[0].box.center.y, 0.5
        found.append((at_name, axis.value(on_page), _error(axis, on_page, off)))
        spots.append(Point(x=place, y=on_page))
    return Series(name, tuple(found), tuple(spots))


@dataclass(frozen=True)
class _Candles:
    values: list[DrawnValue]
    series: list[Series]
    other_colours: list[Floats]


def _candle_series(
    part: PlotPixels, colours: Sequence[Floats], legend: Legend, axis: Axis, across: Axis
) -> _Candles | None:
    """The candles of a price chart, as four series of heights; which end of a body came first is not told."""
    solid = [mask_of(part.pixels, colour) for colour in colours]
    blended = [with_blends(mask, part, colour) for mask, colour in zip(solid, colours, strict=True)]
    ground = main_colour(part.pixels)
    is_ink = has_colour(part.pixels) | (np.abs(part.pixels.astype(np.float32) - ground).max(axis=2) >= _DARK)

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
    values = [replace(each, at=at) for each, at in zip(values, counted_names(places, across, step), strict=True)]
    series = [
        Series(name, tuple((each.at, each.heights[at], each.errors[at]) for each in values))
        for at, name in enumerate(_HEIGHTS)
    ]
    own = [colours[at] for at in which]
    rest = [
        colour
        for colour in colours
        if not any(is_blend(colour.round().astype(np.uint8)[None], each)[0] for each in own)
    ]
    return _Candles(values, series, rest)


def _candle_value(candle: Candle, colour: Floats, part: PlotPixels, legend: Legend, axis: Axis) -> DrawnValue:
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
    return DrawnValue(box, "candle", series_name(colour, legend), "", middle, max(errors), point, heights, errors)


def _level_chart(
    picture: Picture, surface: Box, texts: Sequence[Text], shapes: Sequence[Box], level: LevelBars
) -> Chart:
    """The chart of horizontal bars, their series by colour."""
    ticks = (*level.axis.boxes, *level.texts)
    legend = find_legend(picture, surface, texts, ticks, [each for each in shapes if each not in level.bars])
    left, top = min(bar.x for bar in level.bars), min(bar.y for bar in level.bars)
    plot = Box(
        x=left,
        y=top,
        width=max(4.0, level.axis.last - left),
        height=max(4.0, max(bar.bottom for bar in level.bars) - top),
    )
    part = turned(picture.crop(picture.page.intersection(surface) or surface))
    ends = {bar: _level_ends(bar, part) for bar in (*level.bars, *(bar for bar, _ in level.stacked))}
    axis = measured_across(level.axis, picture, plot)
    axis = axis_under_bars(axis, [ends[bar].top for bar in level.bars])
    values: list[DrawnValue] = []
    for bar, at in zip(level.bars, level.names, strict=True):
        name = series_name(main_colour(view_pixels(picture, bar)), legend)
        end = ends[bar].bottom
        values.append(DrawnValue(bar, "bar", name, at, axis.value(end), axis.error(end)))
    for bar, at in level.stacked if axis.kind == "linear" else ():
        name = series_name(main_colour(view_pixels(picture, bar)), legend)
        begin, end = ends[bar]
        value = axis.value(end) - axis.value(begin)
        values.append(DrawnValue(bar, "bar", name, at, value, axis.error(begin) + axis.error(end)))
    names = list(dict.fromkeys(each.series for each in values))
    series = [_series(name, [each for each in values if each.series == name]) for name in names]
    chart = Chart(plot, tuple(series), tuple(values), ticks, tuple(text.box for text, _ in legend))
    return _without_doubtful(chart, axis, None)


def _level_ends(bar: Box, part: Picture) -> Ends:
    """Where a lying bar begins and ends, from left to right, in the turned picture of its surface."""
    box = turned_box(bar)
    pixels = view_pixels(part, box)
    standing = Bar(box, box)
    scale = pixels.shape[1] / box.width if pixels.size else 1.0
    return _ends(standing, main_colour(pixels), PlotPixels(pixels_of(part), part.page, scale))


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
    legend = find_legend(picture, surface, texts, (), shapes)
    values: list[DrawnValue] = []
    named = 0
    for each, beside in zip(pie.slices, names_beside(pie, in_pixels), strict=True):
        at = next((text.words for text, its in legend if np.abs(its - each.colour).max() <= SAME / 2), "")
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

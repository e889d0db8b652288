"""What the things of a surface are in its chart: bars and points with their values, ticks, entries of the legend.

And what in a chart is no thing: its rules, and the ground between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from vision_agent.geometry import Box
from vision_agent.vision.ocr import Reading
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.axes import Text
from vision_agent.vision.surfaces.candidates import SurfaceProposals
from vision_agent.vision.surfaces.chart_reading import find_chart
from vision_agent.vision.surfaces.charts import Chart, DrawnValue
from vision_agent.vision.surfaces.roles import DrawnRole, Told
from vision_agent.vision.surfaces.ruled_texts import texts_beside_lines
from vision_agent.vision.surfaces.shapes import Shape
from vision_agent.vision.surfaces.text_layer import Read
from vision_agent.vision.surfaces.things import UNREAD, Thing

_NO_DATA: tuple[DrawnRole, ...] = ("", "tile", "node", "field", "button")
"""What the ground of a plot may be taken for."""
_IN_PLOT, _RIM_PX = 0.9, 24.0
"""The share of a thing that must lie in a plot, or so near to it, to be a part of its ground."""
_IN_VALUE, _RING = 0.7, 0.25
"""The share of a thing in a candle or ring above which it is a part of that, and the likeness of what is around one."""
_POINT_PX, _IS_POINT = 12.0, 0.3
"""What is larger both ways, or less likely to be a thing, is no point of a chart."""
_FOUND = 0.6
"""The confidence in a slice, candle or ring that is no shape of its own."""
_SHAPES: dict[str, Shape] = {"slice": "shape", "candle": "box", "point": "round", "bar": "box"}


class ReadChart(NamedTuple):
    """A chart, if there is one, and the number of texts of its scale that there was no time to read."""

    chart: Chart | None
    postponed: int


def read_chart(
    picture: Picture,
    inside: Box,
    proposed: SurfaceProposals,
    readings: dict[Box, Reading | None],
    read: Read,
    scales: Sequence[Box],
) -> ReadChart:
    """The chart that a surface is, if it is one and its scale can be read, in it or in one of `scales` beside it."""

    def texts_in(boxes: Sequence[Box], found: Sequence[Reading | None]) -> list[Text]:
        return [Text(one.text, box) for box, one in zip(boxes, found, strict=True) if one and one.text]

    if proposed.lattices:
        return ReadChart(None, 0)
    shapes = [each.box for each in proposed.proposals if each.shape != "words" and each.part != "edge"]
    known = texts_in([*readings], [*readings.values()])

    postponed = 0

    def read_more(boxes: Sequence[Box]) -> list[Text]:
        nonlocal postponed
        found = read(picture, boxes)
        postponed += sum(one is None for one in found)
        return texts_in(boxes, found)

    chart = find_chart(picture, inside, known, shapes, read_more)
    if chart or not scales:
        return ReadChart(chart, 0 if chart else postponed)
    beside = read_more([box for scale in scales for box in texts_beside_lines(picture, scale)])
    if beside:
        chart = find_chart(picture, _around([inside, *scales]), [*known, *beside], shapes, read_more)
    # With its scale beside it, all of a surface is plot.
    return ReadChart(replace(chart, plot=inside) if chart else None, postponed)


def _around(boxes: Sequence[Box]) -> Box:
    """The smallest box around all of them."""
    x, y = min(each.x for each in boxes), min(each.y for each in boxes)
    width, height = max(each.right for each in boxes) - x, max(each.bottom for each in boxes) - y
    return Box(x=x, y=y, width=width, height=height)


def with_chart(things: list[tuple[Thing, str | None]], chart: Chart | None) -> list[tuple[Thing, str | None]]:
    """The things with what they are in a chart, and their values."""
    if chart is None:
        return things
    values = {each.box: each for each in chart.values}
    roles: dict[Box, DrawnRole] = {each.box: each.kind for each in chart.values}
    for box in chart.ticks:
        roles[box] = "axis"
    for box in chart.legend:
        roles[box] = "legend entry"
    known = [
        (
            replace(
                thing,
                told=Told(roles[thing.box]),
                value=values[thing.box].words if thing.box in values else "",
                name=_name_in_chart(thing, values.get(thing.box)),
            )
            if thing.box in roles
            else thing,
            words,
        )
        for thing, words in things
    ]
    boxes = {thing.box for thing, _ in known}
    apart = [each for each in chart.values if each.point and each.box not in boxes]
    return [*known, *((_thing_of(each), each.name) for each in apart)]


def boxes_apart(chart: Chart, kind: str) -> list[Box]:
    """The boxes of candles or points that were found as parts of a chart."""
    return [each.box for each in chart.values if each.kind == kind and each.point]


def is_between_rules(thing: Thing, plot: Box, candles: Sequence[Box], rings: Sequence[Box]) -> bool:
    """Whether a thing in a plot is one of its rules, the ground between them and the curves, or a part of a value."""
    if thing.told.role == "edge":
        return True
    is_named = bool(thing.value) or thing.name not in ("", UNREAD)
    is_sure = is_named and thing.reading == ""
    if not is_sure and any(thing.box.share_in(each) >= _IN_VALUE for each in (*candles, *rings)):
        return True
    if not is_sure and any(
        each.share_in(thing.box) >= _IN_PLOT and thing.box.likeness(each) >= _RING for each in rings
    ):
        return True
    shapes = ("box", "shape", "round") if candles else ("box", "shape")  # a disc may be a value, but not among candles
    is_plain = thing.told.role in _NO_DATA and thing.shape in shapes and not is_named
    is_point = min(thing.box.width, thing.box.height) <= _POINT_PX and thing.confidence > _IS_POINT
    around = Box(
        x=plot.x - _RIM_PX, y=plot.y - _RIM_PX, width=plot.width + 2 * _RIM_PX, height=plot.height + 2 * _RIM_PX
    )
    return is_plain and thing.grid is None and not is_point and thing.box.share_in(around) >= _IN_PLOT


def second_things(things: Sequence[Thing]) -> set[int]:
    """The positions of second things for one: a larger point where a curve turns, the ground around a sign."""
    return _second_points(things) | _grounds_of_signs(things)


def _grounds_of_signs(things: Sequence[Thing]) -> set[int]:
    """Boxes with the words of another box in them: the ground around it, between rules."""
    boxes = [at for at, each in enumerate(things) if each.shape == "box" and each.name and not each.value]
    return {
        outer
        for outer in boxes
        for inner in boxes
        if inner != outer
        and things[inner].name == things[outer].name
        and things[inner].box.width * things[inner].box.height < things[outer].box.width * things[outer].box.height
        and things[inner].box.share_in(things[outer].box) >= _IN_PLOT
    }


def _second_points(things: Sequence[Thing]) -> set[int]:
    points = sorted(
        (at for at, each in enumerate(things) if each.told.role == "point" and each.name),
        key=lambda at: things[at].box.width * things[at].box.height,
    )
    return {
        larger
        for rank, larger in enumerate(points)
        for smaller in points[:rank]
        if things[smaller].name == things[larger].name and things[smaller].box.intersection(things[larger].box)
    }


def _name_in_chart(thing: Thing, value: DrawnValue | None) -> str:
    if value is None:
        return thing.name
    return value.name if value.kind in ("slice", "candle") else thing.name or value.name


def _thing_of(value: DrawnValue) -> Thing:
    """A slice, candle, ring or bar that was found as a part of its chart, but not as a shape."""
    assert value.point is not None
    shape = _SHAPES[value.kind]
    told = Told(value.kind)
    return Thing(0, value.box, value.point, shape, _FOUND, value.name, value=value.words, told=told)

"""What the things of a surface are in its chart: bars and points with their values, ticks, entries of the legend.

And what in a chart is no thing: its rules, and the ground between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vision_agent.geometry import Box
from vision_agent.vision.ocr import Reading
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.axes import Text
from vision_agent.vision.surfaces.candidates import SurfaceProposals
from vision_agent.vision.surfaces.charts import Chart, DrawnValue, find_chart
from vision_agent.vision.surfaces.roles import DrawnRole, Told
from vision_agent.vision.surfaces.text_layer import Read
from vision_agent.vision.surfaces.things import UNREAD, Thing

_NO_DATA: tuple[DrawnRole, ...] = ("", "tile", "node", "field", "button")
"""What the ground of a plot may be taken for."""
_IN_PLOT, _RIM_PX = 0.9, 24.0
"""The share of a thing that must lie in a plot, or so near to it, to be a part of its ground."""
_POINT_PX, _IS_POINT = 12.0, 0.3
"""What is larger both ways, or less likely to be a thing, is no point of a chart."""
_SLICE = 0.6
"""The confidence in a slice that is no shape of its own."""


def read_chart(
    picture: Picture, inside: Box, proposed: SurfaceProposals, readings: dict[Box, Reading | None], read: Read
) -> Chart | None:
    """The chart that a surface is, if it is one and its scale can be read."""

    def texts_in(boxes: Sequence[Box], found: Sequence[Reading | None]) -> list[Text]:
        return [Text(one.text, box) for box, one in zip(boxes, found, strict=True) if one and one.text]

    if proposed.lattices:
        return None
    shapes = [each.box for each in proposed.proposals if each.shape != "words"]
    known = texts_in([*readings], [*readings.values()])
    return find_chart(picture, inside, known, shapes, lambda boxes: texts_in(boxes, read(picture, boxes)))


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
    slices = [each for each in chart.values if each.kind == "slice" and each.point and each.box not in boxes]
    return [*known, *((_slice_thing(each), each.name) for each in slices)]


def is_between_rules(thing: Thing, plot: Box) -> bool:
    """Whether a thing in a plot is one of its rules, or the ground between them and the curves."""
    if thing.told.role == "edge":
        return True
    is_named = bool(thing.value) or thing.name not in ("", UNREAD)
    is_plain = thing.told.role in _NO_DATA and thing.shape in ("box", "shape") and not is_named
    is_point = min(thing.box.width, thing.box.height) <= _POINT_PX and thing.confidence > _IS_POINT
    around = Box(
        x=plot.x - _RIM_PX, y=plot.y - _RIM_PX, width=plot.width + 2 * _RIM_PX, height=plot.height + 2 * _RIM_PX
    )
    return is_plain and thing.grid is None and not is_point and thing.box.share_in(around) >= _IN_PLOT


def second_points(things: Sequence[Thing]) -> set[int]:
    """The positions of second things for the same point of a series: a curve that turns there encloses another."""
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
    return value.name if value.kind == "slice" else thing.name or value.name


def _slice_thing(value: DrawnValue) -> Thing:
    """A slice that was found as a part of its pie, but not as a shape."""
    assert value.point is not None
    return Thing(0, value.box, value.point, "shape", _SLICE, value.name, value=value.words, told=Told("slice"))

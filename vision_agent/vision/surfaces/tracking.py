"""Tracks what is drawn in one surface from one observation to the next, so that each thing keeps its id.

A thing is recognized in its old place by its text or look; in another place only if no other candidate appeared or
disappeared. This module knows pixels, but neither pages nor mark numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Literal

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.types import Grid, Legibility
from vision_agent.vision.compare import changed_share
from vision_agent.vision.ocr import Reading
from vision_agent.vision.picture import Picture, Pixels, view_pixels
from vision_agent.vision.rects import Floats
from vision_agent.vision.surfaces.appearance import describe_all
from vision_agent.vision.surfaces.axes import Text
from vision_agent.vision.surfaces.candidates import MOST, SurfaceProposals, propose
from vision_agent.vision.surfaces.charts import Chart, DrawnValue, find_chart
from vision_agent.vision.surfaces.roles import UNTOLD, DrawnRole, Seen, Told, tell_roles
from vision_agent.vision.surfaces.shapes import Shape
from vision_agent.vision.surfaces.text_layer import NO_LAYER, LaidText, Read, TextLayer, compare_layer

UNREAD, UNSURE = "‹unread›", "‹unsure›"
"""In place of a text that was not read, and behind one that may be wrong; no text of a page has these brackets."""

_NOT_OURS = str.maketrans("‹›|", "<>/")

_FAR = 200.0
"""The farthest that a thing may move between two observations, in CSS pixels, to be recognized by its look alone."""

_LOOK_SIZE = (24, 12)
_SAME_COLOURS = 25.0
"""The largest colour difference, of 255, between two equal looks, where they differ most: a thing drawn half a pixel
farther differs by less, other text by more."""
_SHIFTED_COLOURS = 50.0
"""The same, above which no shift makes them equal: discs of 36 px drawn between pixels differ by 35 at most."""
_SHIFTS = (-0.6, -0.3, 0.0, 0.3, 0.6)
"""Shifts that are tried, in pixels of a look: of discs drawn between pixels 0.3% then differ still, 6% without."""
_SAME_PIXELS = 6.0
_MOST = 0.1
_SAME_FIGURE = 0.85
"""The least correlation between equal looks in different colours: a button that turns blue under the pointer still
has the same text."""
_SAME_PLACE = 0.6
"""The least common share of two boxes in the same place."""
_SAME_SIZE = 2.0
_NO_DATA: tuple[DrawnRole, ...] = ("", "tile", "node", "field", "button")
"""What the ground of a plot may be taken for."""
_IN_PLOT, _RIM_PX = 0.9, 24.0
"""The share of a thing that must lie in a plot, or so near to it, to be a part of its ground."""
_POINT_PX, _IS_POINT = 12.0, 0.3
"""What is larger both ways, or less likely to be a thing, is no point of a chart."""
_TOGETHER = 3
"""The number of things moving the same way that means scrolling."""
_MOST_KNOWN = 400
_SLICE = 0.6
"""The confidence in a slice that is no shape of its own."""
_NOISE = 4
_MOVES = 0.02
"""The share of its pixels that must change between two pictures taken in a row for a thing to count as moving."""
_RESTLESS = 0.4
"""The share of a surface's pixels that change in a row, above which nothing in it can be tracked, as in a playing
video."""


@dataclass(frozen=True)
class Thing:
    """Something drawn that may be acted on, in page coordinates."""

    id: int
    """Unique within the surface and never reused."""
    box: Box
    point: Point
    shape: Shape | Literal["grid"]
    confidence: float
    name: str = ""
    """The text read on it."""
    reading: Legibility = ""
    look: str = ""
    """Its colour and stroke in words, such as `dashed red`."""
    value: str = ""
    """For a bar or a point of a chart: the estimate of its value, such as `about 420 ± 3`."""
    told: Told = UNTOLD
    """What it seems to be, and in which state."""
    ends: tuple[int, ...] = ()
    """For an edge: the ids of the two things that it connects."""
    grid: Grid | None = None
    rows: tuple[tuple[int, str, Box], ...] = ()
    """For a grid: the number of each row with text, its text cell by cell, and the box of its first cell."""
    moves: bool = False
    is_named_by_page: bool = False
    read_as: str = ""
    """What was read on it, if the page gives it another name."""


@dataclass(frozen=True)
class SurfaceLook:
    """The result of looking at a surface once."""

    things: tuple[Thing, ...] = ()
    elsewhere: tuple[Thing, ...] = ()
    """Known things that are not shown: outside the examined part, or left out this time."""
    left_out: int = 0
    is_restless: bool = False
    """Whether the surface changed too much during the look to find anything in it."""
    is_all_read: bool = True
    chart: Chart | None = None
    """What the surface says if it is a chart and was read."""
    postponed: int = 0
    """The number of texts that there was no time to read."""
    layer: TextLayer = NO_LAYER
    """The texts that the page lays over the surface, as far as its pixels have them."""


@dataclass(frozen=True)
class _KnownThing:
    """A thing in coordinates of its surface, with the data to recognize it."""

    thing: Thing
    look: Floats
    words: str | None
    """None if it has text that was not read."""


@dataclass(frozen=True)
class _SeenPart:
    """The part examined last, with the result."""

    place: Box
    corner: Point
    pixels: Pixels
    most: int
    laid: tuple[LaidText, ...]
    looked: SurfaceLook
    """In the page coordinates of that time."""


class Drawing:
    """The tracker of one surface across observations."""

    def __init__(self) -> None:
        self._known: list[_KnownThing] = []
        self._next = 1
        self._last: _SeenPart | None = None

    def expected(self, corner: Point) -> tuple[Thing, ...]:
        """The things of the last look, moved to the surface's new corner, if nothing was drawn since."""
        if self._last is None:
            return ()
        return _shift_look(self._last.looked, corner.x - self._last.corner.x, corner.y - self._last.corner.y).things

    def look(
        self,
        picture: Picture,
        visible: Box,
        corner: Point,
        *,
        read: Read | None = None,
        glance: Read | None = None,
        later: Picture | None = None,
        most: int = MOST,
        laid: Sequence[LaidText] = (),
    ) -> SurfaceLook:
        """Finds the things in the visible part of the surface.

        Args:
            visible: the page box of the visible part.
            corner: the top left corner of the whole surface, in page coordinates.
            read: reads lines of text; None to read nothing.
            glance: the same, once and fast, to compare what is read.
            later: a picture taken right before or after `picture` if the page is not stable; what differs in it
                moves.
            most: the most things to return.
            laid: the texts that the page lays over the surface, with their page boxes.
        """
        inside = picture.page.intersection(visible)
        if inside is None:
            return SurfaceLook(elsewhere=tuple(_shift_thing(each.thing, corner.x, corner.y) for each in self._known))
        place = _shift_box(inside, -corner.x, -corner.y)
        pixels = view_pixels(picture, inside)
        if later is not None and _is_same(pixels, view_pixels(later, inside)):
            later = None  # what moves is elsewhere
        last, over = self._last, tuple(LaidText(text, _shift_box(box, -corner.x, -corner.y)) for text, box in laid)
        is_known = later is None and last is not None and (last.place, last.most, last.laid) == (place, most, over)
        if is_known and last and _is_same(last.pixels, pixels) and (last.looked.is_all_read or read is None):
            return _shift_look(last.looked, corner.x - last.corner.x, corner.y - last.corner.y)
        if later is not None and changed_share(picture, later, inside) > _RESTLESS:
            self._last = None
            return SurfaceLook(is_restless=True)
        layer = compare_layer(picture, laid, glance, read)
        looked = self._look(picture, inside, corner, place, read, later, most, layer)
        self._last = None if later else _SeenPart(place, corner, pixels.copy(), most, over, looked)
        return looked

    def _look(
        self,
        picture: Picture,
        inside: Box,
        corner: Point,
        place: Box,
        read: Read | None,
        later: Picture | None,
        most: int,
        layer: TextLayer,
    ) -> SurfaceLook:
        before = self._last.pixels if self._last and (self._last.place, self._last.most) == (place, most) else None
        proposed = propose(picture, inside, most, before, layer.texts)
        readings = _read_lines(picture, proposed, read)
        chart = _read_chart(picture, inside, proposed, readings, read) if read else None
        found = [
            _KnownThing(
                replace(_shift_thing(thing, -corner.x, -corner.y), moves=_moves(picture, later, thing.box)),
                _sample_look(picture, thing.box),
                words,
            )
            for thing, words in _with_chart(_things(picture, proposed, readings, is_read=read is not None), chart)
        ]
        known, gone = self._recognize(found)
        known = _with_ends(known, proposed)
        if chart:
            plot = _shift_box(chart.plot, -corner.x, -corner.y)
            known = _without_twins([each for each in known if not _is_between_rules(each.thing, plot)])
        kept = [each for each in gone if self._may_come_back(each, picture, corner, place)]
        self._known = [*known, *kept][:_MOST_KNOWN]
        return SurfaceLook(
            things=tuple(_shift_thing(each.thing, corner.x, corner.y) for each in known),
            elsewhere=tuple(_shift_thing(each.thing, corner.x, corner.y) for each in kept),
            # Where half of the best guesses were the ground of a chart, the others are too.
            left_out=0 if chart and len(known) < most / 2 else proposed.left_out,
            chart=chart,
            is_all_read=not layer.postponed and all(one is not None for one in readings.values()) if read else True,
            postponed=layer.postponed + sum(one is None for one in readings.values()) if read else 0,
            layer=layer,
        )

    def _recognize(self, found: list[_KnownThing]) -> tuple[list[_KnownThing], list[_KnownThing]]:
        """The found things with known or new ids, and the known things that were not found."""
        pairs = _pairs(self._known, found)
        ids = {new: self._known[old].thing.id for old, new in pairs}
        known = []
        for index, each in enumerate(found):
            if index not in ids:
                ids[index], self._next = self._next, self._next + 1
            known.append(replace(each, thing=replace(each.thing, id=ids[index])))
        recognized = {old for old, _ in pairs}
        return known, [each for index, each in enumerate(self._known) if index not in recognized]

    def _may_come_back(self, old: _KnownThing, picture: Picture, corner: Point, place: Box) -> bool:
        """Whether a missing thing may still be there: outside the examined part, or looking the same but left out."""
        if old.thing.box.share_in(place) < 1:
            return True  # cut by the edge, it looks different
        box = _shift_box(old.thing.box, corner.x, corner.y)
        return (
            picture.page.intersection(box) is not None
            and _differ(old.look, _sample_look(picture, box)) <= _SAME_COLOURS
        )


# --- finding things ---------------------------------------------------------------------------------------------------


def _read_lines(picture: Picture, proposed: SurfaceProposals, read: Read | None) -> dict[Box, Reading | None]:
    """The reading of each line; lines of proposals are read before all others, and what the page says is not."""
    lines = list(dict.fromkeys([*(line for each in proposed.proposals for line in each.lines), *proposed.lines]))
    asked = [line for line in lines if line not in proposed.known]
    readings = dict(zip(asked, read(picture, asked) if read else [None] * len(asked), strict=True))
    return {line: readings[line] if line in readings else Reading(proposed.known[line], 1.0) for line in lines}


def _read_chart(
    picture: Picture, inside: Box, proposed: SurfaceProposals, readings: dict[Box, Reading | None], read: Read
) -> Chart | None:
    def texts_in(boxes: Sequence[Box], found: Sequence[Reading | None]) -> list[Text]:
        return [Text(one.text, box) for box, one in zip(boxes, found, strict=True) if one and one.text]

    if proposed.lattices:
        return None
    shapes = [each.box for each in proposed.proposals if each.shape != "words"]
    known = texts_in([*readings], [*readings.values()])
    return find_chart(picture, inside, known, shapes, lambda boxes: texts_in(boxes, read(picture, boxes)))


def _with_chart(things: list[tuple[Thing, str | None]], chart: Chart | None) -> list[tuple[Thing, str | None]]:
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


def _is_between_rules(thing: Thing, plot: Box) -> bool:
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


def _without_twins(known: list[_KnownThing]) -> list[_KnownThing]:
    """The things without second ones for the same point of a series: a curve that turns there encloses another."""
    points = sorted(
        (each for each in known if each.thing.told.role == "point" and each.thing.name),
        key=lambda each: each.thing.box.width * each.thing.box.height,
    )
    twins = {
        id(larger)
        for at, larger in enumerate(points)
        for smaller in points[:at]
        if smaller.thing.name == larger.thing.name and smaller.thing.box.intersection(larger.thing.box)
    }
    return [each for each in known if id(each) not in twins]


def _name_in_chart(thing: Thing, value: DrawnValue | None) -> str:
    if value is None:
        return thing.name
    return value.name if value.kind == "slice" else thing.name or value.name


def _slice_thing(value: DrawnValue) -> Thing:
    """A slice that was found as a part of its pie, but not as a shape."""
    assert value.point is not None
    return Thing(0, value.box, value.point, "shape", _SLICE, value.name, value=value.words, told=Told("slice"))


def _with_ends(known: list[_KnownThing], proposed: SurfaceProposals) -> list[_KnownThing]:
    """The things, of which edges have the ids of what they connect, and a name from theirs."""
    connected = list(known)
    for at, each in enumerate(proposed.proposals):
        if each.ends:
            ends = [known[end].thing for end in each.ends]
            name = " – ".join(end.name for end in ends) if all(end.name for end in ends) else ""
            connected[at] = replace(
                known[at], thing=replace(known[at].thing, ends=tuple(end.id for end in ends), name=name)
            )
    return connected


def _things(
    picture: Picture, proposed: SurfaceProposals, readings: dict[Box, Reading | None], *, is_read: bool
) -> list[tuple[Thing, str | None]]:
    """The proposals as things without an id, with their text; None for text that was not read completely."""
    things: list[tuple[Thing, str | None]] = []
    looks = describe_all(picture, proposed.proposals)
    inner = {line for each in proposed.proposals if each.shape != "words" for line in each.lines}
    roles = tell_roles(
        [
            Seen(
                each.box,
                each.shape,
                each.lines,
                look.colour,
                look.is_filled,
                look.has_ink,
                look.contrast,
                each.part,
                each.is_selected,
            )
            for each, look in zip(proposed.proposals, looks, strict=True)
        ],
        [line for line in proposed.lines if line not in inner],
    )
    for each, look, told in zip(proposed.proposals, looks, roles, strict=True):
        own = [readings[line] for line in sorted(each.lines, key=lambda line: (line.y, line.x))]
        name = " ".join(reading.text for reading in own if reading and reading.text)
        words = None if None in own else name
        legibility = _legibility(own) if is_read else ""
        things.append(
            (
                Thing(0, each.box, each.point, each.shape, each.confidence, name, legibility, look.words, told=told),
                words,
            )
        )
    for lattice in proposed.lattices:
        first = lattice.grid.cells[0]
        point = Point(x=first[2] + first[4] / 2, y=first[3] + first[5] / 2)
        rows = _rows(lattice.grid, readings) if is_read else ()
        sure = len(lattice.grid.cells) / (lattice.grid.rows * lattice.grid.columns)
        things.append((Thing(0, lattice.box, point, "grid", round(sure, 2), grid=lattice.grid, rows=rows), ""))
    return things


def _legibility(readings: Sequence[Reading | None]) -> Legibility:
    if any(one is None or not one.text for one in readings):
        return "unread"
    return "unsure" if any(one is not None and one.is_unsure for one in readings) else ""


def _rows(grid: Grid, readings: dict[Box, Reading | None]) -> tuple[tuple[int, str, Box], ...]:
    words: dict[tuple[int, int], list[str]] = {}
    for line, reading in sorted(readings.items(), key=lambda each: (each[0].y, each[0].x)):
        middle = line.center
        for row, column, x, y, width, height in grid.cells:
            if x <= middle.x < x + width and y <= middle.y < y + height:
                words.setdefault((row, column), []).append(_cell_text(reading))
    rows = []
    for row in sorted({row for row, _ in words}):
        cells = [" ".join(words.get((row, column), ())) for column in range(1, grid.columns + 1)]
        while cells and not cells[-1]:
            cells.pop()
        place = next(Box(x=x, y=y, width=w, height=h) for at, _, x, y, w, h in grid.cells if at == row)
        rows.append((row, " | ".join(cells), place))
    return tuple(rows)


def _cell_text(reading: Reading | None) -> str:
    """The text of a cell, in which nothing looks like the end of a cell or like a word of ours."""
    if reading is None or not reading.text:
        return UNREAD
    text = reading.text.translate(_NOT_OURS)
    return f"{text} {UNSURE}" if reading.is_unsure else text


# --- recognizing ------------------------------------------------------------------------------------------------------


def _pairs(olds: Sequence[_KnownThing], news: Sequence[_KnownThing]) -> list[tuple[int, int]]:
    """The index pairs of old and new things that are the same."""
    olds = _follow_scroll(olds, news)
    pairs = _in_place(olds, news)
    rest_old = [index for index in range(len(olds)) if index not in {old for old, _ in pairs}]
    rest_new = [index for index in range(len(news)) if index not in {new for _, new in pairs}]
    alike = [(old, new) for old in rest_old for new in rest_new if _looks_like(olds[old], news[new])]
    together = _common_movement(olds, news, alike, len(rest_new))
    olds_left, news_left = {old for old, _ in together}, {new for _, new in together}
    near = [
        (old, new)
        for old, new in alike
        if old not in olds_left and new not in news_left and _is_in_reach(olds[old], news[new])
    ]
    many_old, many_new = Counter(old for old, _ in near), Counter(new for _, new in near)
    return [*pairs, *together, *(pair for pair in near if many_old[pair[0]] == many_new[pair[1]] == 1)]


def _follow_scroll(olds: Sequence[_KnownThing], news: Sequence[_KnownThing]) -> list[_KnownThing]:
    """The old things, moved along if the surface was scrolled, which shows from things with text.

    In a list whose rows differ only in text, things without text look as if they had not moved.
    """
    texts = [Counter(each.words for each in them if each.words) for them in (olds, news)]
    unique = {words for words, count in texts[0].items() if count == texts[1][words] == 1}
    offsets: Counter[tuple[int, int]] = Counter()
    for words in unique:
        one, other = (next(each.thing.box for each in them if each.words == words) for them in (olds, news))
        offsets[round(other.x - one.x), round(other.y - one.y)] += 1
    (x, y), count = offsets.most_common(1)[0] if offsets else ((0, 0), 0)
    if count < _TOGETHER or 2 * count <= len(unique):
        return list(olds)
    return [replace(each, thing=_shift_thing(each.thing, x, y)) for each in olds]


def _in_place(olds: Sequence[_KnownThing], news: Sequence[_KnownThing]) -> list[tuple[int, int]]:
    """The pairs that did not move, best first, so that overlapping things each find their own."""
    shares = sorted(
        (
            (share, old, new)
            for old, one in enumerate(olds)
            for new, other in enumerate(news)
            if _is_same_place(one.thing.box, other.thing.box, share := one.thing.box.likeness(other.thing.box))
            and _is_same_content(one, other)
        ),
        reverse=True,
    )
    pairs: list[tuple[int, int]] = []
    for _, old, new in shares:
        if all(old != each and new != other for each, other in pairs):
            pairs.append((old, new))
    return pairs


def _is_same_place(old: Box, new: Box, share: float) -> bool:
    """Whether two boxes are in the same place; for small boxes a pixel more or less changes the share a lot."""
    edges = ((old.x, new.x), (old.y, new.y), (old.right, new.right), (old.bottom, new.bottom))
    return share >= _SAME_PLACE or all(abs(one - other) <= _SAME_SIZE for one, other in edges)


def _is_same_content(old: _KnownThing, new: _KnownThing) -> bool:
    """Whether two things in the same place are the same: they have the same text, no text, or a similar look."""
    if (old.thing.grid is None) != (new.thing.grid is None):
        return False
    if old.thing.grid is not None:
        return True
    if old.words and new.words:
        return old.words.casefold() == new.words.casefold() or _differ(old.look, new.look) <= _SAME_PIXELS
    if old.thing.moves or new.thing.moves:  # another one that looks different may have come by
        return _is_same_but_shifted(old.look, new.look)
    if old.words == new.words == "":
        return True
    return _differ(old.look, new.look) <= _SAME_COLOURS or abs(_correlation(old.look, new.look)) >= _SAME_FIGURE


def _looks_like(old: _KnownThing, new: _KnownThing) -> bool:
    """Whether the new thing may be the old one in another place."""
    if old.thing.grid is not None or new.thing.grid is not None:
        return False
    one, other = old.thing.box, new.thing.box
    if abs(one.width - other.width) > _SAME_SIZE or abs(one.height - other.height) > _SAME_SIZE:
        return False
    if old.words and new.words and old.words.casefold() != new.words.casefold():
        return False
    if old.thing.moves or new.thing.moves:
        return _is_same_but_shifted(old.look, new.look)
    return _differ(old.look, new.look) <= _SAME_COLOURS


def _is_same_but_shifted(one: Floats, other: Floats) -> bool:
    """Whether two looks are equal if one is shifted a little: what moves is drawn between pixels, so its edges are
    blended and its box is rounded differently each time.
    """
    one, other = _blurred(one), _blurred(other)
    apart = _differ(one, other)
    if not _SAME_COLOURS < apart <= _SHIFTED_COLOURS:
        return apart <= _SAME_COLOURS
    return any(_differ(one, _shifted(other, x, y)) <= _SAME_COLOURS for x in _SHIFTS for y in _SHIFTS)


def _shifted(look: Floats, x: float, y: float) -> Floats:
    """A look moved by parts of its own pixels, with its edges drawn out."""
    size = look.shape[1], look.shape[0]
    moved = cv2.warpAffine(look, np.array([[1, 0, x], [0, 1, y]], np.float32), size, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.float32)


def _blurred(look: Floats) -> Floats:
    return np.asarray(cv2.blur(look, (3, 3)), np.float32)


def _is_in_reach(old: _KnownThing, new: _KnownThing) -> bool:
    """Whether a thing may have moved this far; one that moves may be anywhere."""
    return (old.thing.moves and new.thing.moves) or _distance(old, new) <= _FAR


def _moves(picture: Picture, later: Picture | None, box: Box) -> bool:
    return later is not None and changed_share(picture, later, box) > _MOVES


def _common_movement(
    olds: Sequence[_KnownThing], news: Sequence[_KnownThing], alike: Sequence[tuple[int, int]], many: int
) -> list[tuple[int, int]]:
    """The pairs that moved by the most common offset."""

    def offset(pair: tuple[int, int]) -> tuple[int, int]:
        one, other = olds[pair[0]].thing.box, news[pair[1]].thing.box
        return round((other.x - one.x) / 2), round((other.y - one.y) / 2)

    offsets = Counter(map(offset, alike))
    if not offsets:
        return []
    most, count = offsets.most_common(1)[0]
    if count < _TOGETHER or 2 * count <= many:
        return []
    found: dict[int, int] = {}
    for old, new in alike:
        if offset((old, new)) == most and new not in found.values():
            found.setdefault(old, new)
    return list(found.items())


def _sample_look(picture: Picture, box: Box) -> Floats:
    """The look of a page box: its picture shrunk to a few pixels."""
    inside = picture.page.intersection(box)
    if inside is None:
        return np.zeros((_LOOK_SIZE[1], _LOOK_SIZE[0], 3), np.float32)
    small = cv2.resize(view_pixels(picture, inside), _LOOK_SIZE, interpolation=cv2.INTER_AREA)
    look: Floats = np.asarray(small, np.float32)
    return look


def _differ(one: Floats, other: Floats) -> float:
    """The mean colour difference, 0 to 255, over the tenth of the pixels that differ most."""
    apart = np.sort(np.abs(one - other).mean(axis=2), axis=None)
    return float(apart[-round(_MOST * apart.size) :].mean())


def _correlation(one: Floats, other: Floats) -> float:
    """The similarity of two figures regardless of their colours, -1 to 1."""
    first, second = (each.mean(axis=2) - each.mean() for each in (one, other))
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / size if size > 1 else 0.0


def _distance(old: _KnownThing, new: _KnownThing) -> float:
    return hypot(new.thing.point.x - old.thing.point.x, new.thing.point.y - old.thing.point.y)


def _is_same(before: Pixels, now: Pixels) -> bool:
    return before.shape == now.shape and cv2.norm(before, now, cv2.NORM_INF) <= _NOISE


# --- between surface and page coordinates -----------------------------------------------------------------------------


def _shift_look(looked: SurfaceLook, x: float, y: float) -> SurfaceLook:
    if x == y == 0:
        return looked
    things, elsewhere = (tuple(_shift_thing(each, x, y) for each in them) for them in (looked.things, looked.elsewhere))
    denied = tuple(LaidText(text, _shift_box(box, x, y)) for text, box in looked.layer.denied)
    return replace(looked, things=things, elsewhere=elsewhere, layer=replace(looked.layer, denied=denied))


def _shift_thing(thing: Thing, x: float, y: float) -> Thing:
    return replace(
        thing,
        box=_shift_box(thing.box, x, y),
        point=Point(x=thing.point.x + x, y=thing.point.y + y),
        grid=thing.grid and _shift_grid(thing.grid, x, y),
        rows=tuple((row, text, _shift_box(box, x, y)) for row, text, box in thing.rows),
    )


def _shift_grid(grid: Grid, x: float, y: float) -> Grid:
    cells = tuple((row, column, left + x, top + y, *size) for row, column, left, top, *size in grid.cells)
    return grid.model_copy(update={"cells": cells})


def _shift_box(box: Box, x: float, y: float) -> Box:
    return Box(x=box.x + x, y=box.y + y, width=box.width, height=box.height)

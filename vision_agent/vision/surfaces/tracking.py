"""Tracks what is drawn in one surface from one observation to the next, so that each thing keeps its id.

A thing is recognized in its old place by its text or look; in another place only if no other candidate appeared or
disappeared. This module knows pixels, but neither pages nor mark numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot

import cv2

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.compare import changed_share
from vision_agent.vision.picture import Picture, Pixels, view_pixels
from vision_agent.vision.rects import Floats
from vision_agent.vision.surfaces.candidates import MOST, KnownShapes, SurfaceProposals, propose
from vision_agent.vision.surfaces.chart_things import (
    ReadChart,
    boxes_apart,
    is_between_rules,
    read_chart,
    second_things,
    with_chart,
)
from vision_agent.vision.surfaces.charts import Chart
from vision_agent.vision.surfaces.row_words import with_rows
from vision_agent.vision.surfaces.same_look import (
    SAME_COLOURS,
    colour_difference,
    correlation,
    is_same_but_shifted,
    sample_look,
)
from vision_agent.vision.surfaces.table_layout import TableLayouts, find_layouts
from vision_agent.vision.surfaces.tables import count_rows
from vision_agent.vision.surfaces.text_layer import NO_LAYER, LaidText, Read, TextLayer, compare_layer
from vision_agent.vision.surfaces.things import (
    Thing,
    found_things,
    read_lines,
    shift_box,
    shift_thing,
    with_lone_digits,
)

_FAR = 200.0
"""The farthest that a thing may move between two observations, in CSS pixels, to be recognized by its look alone."""

_SAME_PIXELS = 6.0
_SAME_FIGURE = 0.85
"""The least correlation between equal looks in different colours: a button that turns blue under the pointer still
has the same text."""
_SAME_PLACE = 0.6
"""The least common share of two boxes in the same place."""
_SAME_SIZE = 2.0
_TOGETHER = 3
"""The number of things moving the same way that means scrolling."""
_MOST_KNOWN = 400
_NOISE = 4
_MOVES = 0.02
"""The share of its pixels that must change between two pictures taken in a row for a thing to count as moving."""
_RESTLESS = 0.4
"""The share of a surface's pixels that change in a row, above which nothing in it can be tracked, as in a playing
video."""


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
    tables: tuple[int, ...] = ()
    """How many rows each table in it has, if the columns of one have names."""
    postponed: int = 0
    """The number of texts that there was no time to read."""
    layer: TextLayer = NO_LAYER
    """The texts that the page lays over the surface, as far as its pixels have them."""
    texts: tuple[LaidText, ...] = ()
    """All that was read, things or not."""


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
    scales: tuple[tuple[Box, Pixels], ...]
    """The surfaces beside it that may hold its scale, with their pixels."""
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
        scales: Sequence[Box] = (),
        known: KnownShapes | None = None,
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
            scales: the page boxes of surfaces beside it, which may hold the scale of its chart.
            known: the shapes in some pixels, if they are known.
        """
        inside = picture.page.intersection(visible)
        if inside is None:
            return SurfaceLook(elsewhere=tuple(shift_thing(each.thing, corner.x, corner.y) for each in self._known))
        place = shift_box(inside, -corner.x, -corner.y)
        pixels = view_pixels(picture, inside)
        if later is not None and _is_same(pixels, view_pixels(later, inside)):
            later = None  # what moves is elsewhere
        last, over = self._last, tuple(LaidText(text, shift_box(box, -corner.x, -corner.y)) for text, box in laid)
        beside = tuple(each for scale in scales if (each := picture.page.intersection(scale)))
        shown = tuple((shift_box(each, -corner.x, -corner.y), view_pixels(picture, each)) for each in beside)
        is_known = later is None and last is not None and (last.place, last.most, last.laid) == (place, most, over)
        is_known = is_known and last is not None and _are_same(last.scales, shown)
        if is_known and last and _is_same(last.pixels, pixels) and (last.looked.is_all_read or read is None):
            return _shift_look(last.looked, corner.x - last.corner.x, corner.y - last.corner.y)
        if later is not None and changed_share(picture, later, inside) > _RESTLESS:
            self._last = None
            return SurfaceLook(is_restless=True)
        layer = compare_layer(picture, laid, glance, read)
        looked = self._look(picture, inside, corner, place, read, later, most, layer, beside, known)
        scenes = tuple((place, each.copy()) for place, each in shown)
        self._last = None if later else _SeenPart(place, corner, pixels.copy(), most, over, scenes, looked)
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
        scales: Sequence[Box],
        shapes: KnownShapes | None,
    ) -> SurfaceLook:
        before = self._last.pixels if self._last and (self._last.place, self._last.most) == (place, most) else None
        proposed = propose(picture, inside, most, before, layer.texts, shapes)
        readings = read_lines(picture, proposed, read)
        proposed = with_lone_digits(picture, proposed, readings, read) if read else proposed
        chart, unread = read_chart(picture, inside, proposed, readings, read, scales) if read else ReadChart(None, 0)
        layouts = find_layouts(picture, proposed) if read and not chart else TableLayouts()
        things = found_things(picture, proposed, readings, layouts.layouts, is_read=read is not None)
        if read and not chart:
            things = with_rows(picture, things, readings, is_all=not proposed.left_out)
        found = [
            _KnownThing(
                replace(shift_thing(thing, -corner.x, -corner.y), moves=_moves(picture, later, thing.box)),
                sample_look(picture, thing.box),
                words,
            )
            for thing, words in with_chart(things, chart)
        ]
        known, gone = self._recognize(found)
        known = _with_ends(known, proposed)
        candles: list[Box] = []
        if chart:
            plot = shift_box(chart.plot, -corner.x, -corner.y)
            candles, rings = (
                [shift_box(box, -corner.x, -corner.y) for box in boxes_apart(chart, kind)]
                for kind in ("candle", "point")
            )
            known = [each for each in known if not is_between_rules(each.thing, plot, candles, rings)]
            twins = second_things([each.thing for each in known])
            known = [each for at, each in enumerate(known) if at not in twins]
        # Where half of the best guesses were the ground of a chart, or candles, the others are too.
        is_ground = chart is not None and (bool(candles) or len(known) < most / 2)
        kept = [each for each in gone if self._may_come_back(each, picture, corner, place)]
        self._known = [*known, *kept][:_MOST_KNOWN]
        postponed = layer.postponed + unread + sum(one is None for one in readings.values()) if read else 0
        return SurfaceLook(
            things=tuple(shift_thing(each.thing, corner.x, corner.y) for each in known),
            elsewhere=tuple(shift_thing(each.thing, corner.x, corner.y) for each in kept),
            left_out=0 if is_ground else proposed.left_out,
            chart=chart,
            tables=count_rows(picture, layouts, readings),
            is_all_read=not postponed,
            postponed=postponed,
            layer=layer,
            texts=tuple(LaidText(one.text, box) for box, one in readings.items() if one and one.text),
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
        box = shift_box(old.thing.box, corner.x, corner.y)
        return (
            picture.page.intersection(box) is not None
            and colour_difference(old.look, sample_look(picture, box)) <= SAME_COLOURS
        )


def _with_ends(known: list[_KnownThing], proposed: SurfaceProposals) -> list[_KnownThing]:
    """The things; each edge has the ids of what it connects, and a name made of their names."""
    connected = list(known)
    for at, each in enumerate(proposed.proposals):
        if each.ends:
            ends = [known[end].thing for end in each.ends]
            name = " – ".join(end.name for end in ends) if all(end.name for end in ends) else ""
            connected[at] = replace(
                known[at], thing=replace(known[at].thing, ends=tuple(end.id for end in ends), name=name)
            )
    return connected


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
    return [replace(each, thing=shift_thing(each.thing, x, y)) for each in olds]


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
        return old.words.casefold() == new.words.casefold() or colour_difference(old.look, new.look) <= _SAME_PIXELS
    if old.thing.moves or new.thing.moves:  # another one that looks different may have come by
        return is_same_but_shifted(old.look, new.look)
    if old.words == new.words == "":
        return True
    return colour_difference(old.look, new.look) <= SAME_COLOURS or abs(correlation(old.look, new.look)) >= _SAME_FIGURE


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
        return is_same_but_shifted(old.look, new.look)
    return colour_difference(old.look, new.look) <= SAME_COLOURS


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


def _distance(old: _KnownThing, new: _KnownThing) -> float:
    return hypot(new.thing.point.x - old.thing.point.x, new.thing.point.y - old.thing.point.y)


def _is_same(before: Pixels, now: Pixels) -> bool:
    return before.shape == now.shape and cv2.norm(before, now, cv2.NORM_INF) <= _NOISE


def _are_same(before: Sequence[tuple[Box, Pixels]], now: Sequence[tuple[Box, Pixels]]) -> bool:
    return len(before) == len(now) and all(
        one == other and _is_same(was, pixels) for (one, was), (other, pixels) in zip(before, now, strict=True)
    )


# --- between surface and page coordinates -----------------------------------------------------------------------------


def _shift_look(looked: SurfaceLook, x: float, y: float) -> SurfaceLook:
    if x == y == 0:
        return looked
    things, elsewhere = (tuple(shift_thing(each, x, y) for each in them) for them in (looked.things, looked.elsewhere))
    denied, texts = (
        tuple(LaidText(text, shift_box(box, x, y)) for text, box in them)
        for them in (looked.layer.denied, looked.texts)
    )
    layer = replace(looked.layer, denied=denied)
    return replace(looked, things=things, elsewhere=elsewhere, layer=layer, texts=texts)

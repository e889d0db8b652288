"""What is drawn in one surface, from look to look: the same thing stays the same thing, and is read once.

A thing is known again where it was, by its words or its look; elsewhere only where nothing else it could be has come or
gone. Knows pixels, neither pages nor the numbers that things get.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import hypot
from typing import Literal

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.types import Box, Grid
from vision_agent.vision.compare import changed_share
from vision_agent.vision.ocr import Reading
from vision_agent.vision.picture import Picture, Pixels, pixels_in
from vision_agent.vision.rects import Floats
from vision_agent.vision.surface import MOST, Proposed, Shape, propose

Read = Callable[[Picture, Sequence[Box]], Sequence[Reading | None]]
"""Reads lines of a picture, given as page boxes; None for those it had no time for."""

_FAR = 200.0
"""CSS pixels that a thing may have gone from one look to the next and still be known again by its look alone."""

_LOOK_SIZE = (24, 12)
_SAME_COLOURS = 25.0
"""Of 255, where two differ most: a thing drawn half a pixel farther differs by less, other words by more."""
_SAME_PIXELS = 6.0
_MOST = 0.1
_SAME_FIGURE = 0.85
"""Of correlation: a button that turns blue under the pointer still has the same words on it."""
_SAME_PLACE = 0.6
"""The common share of two boxes."""
_SAME_SIZE = 2.0
_TOGETHER = 3
"""Things that went the same way: what is drawn has been scrolled."""
_MOST_KNOWN = 400
_NOISE = 4
_MOVES = 0.04
"""The share of a thing's pixels that changed between two pictures taken at once."""
_RESTLESS = 0.4
"""The share of a surface's, from which nothing in it can be told apart: a video that plays."""


@dataclass(frozen=True)
class Thing:
    """Something drawn that may be acted on. Page coordinates."""

    id: int
    """Within its surface; never that of another thing."""
    box: Box
    point: Point
    shape: Shape | Literal["grid"]
    confidence: float
    name: str = ""
    """What is read on it."""
    grid: Grid | None = None
    rows: tuple[tuple[int, str, Box], ...] = ()
    """Of a grid: those of its rows that say something, what is read in them cell by cell, and where they begin."""
    moves: bool = False


@dataclass(frozen=True)
class Looked:
    """What one look at a surface gives."""

    things: tuple[Thing, ...] = ()
    elsewhere: tuple[Thing, ...] = ()
    """Known, and not shown: outside of the part that was looked at, or left out this time."""
    left_out: int = 0
    is_restless: bool = False
    """It changes as one looks, so that nothing in it was told apart."""
    is_all_read: bool = True


@dataclass(frozen=True)
class _Known:
    """A thing in coordinates of its surface, with what it is known by."""

    thing: Thing
    look: Floats
    words: str | None
    """None where there are some that were not read."""


@dataclass(frozen=True)
class _Part:
    """What was looked at last, and what that gave."""

    place: Box
    corner: Point
    pixels: Pixels
    most: int
    looked: Looked
    """In page coordinates of that time."""


class Drawing:
    """One surface: look at it again and again."""

    def __init__(self) -> None:
        self._known: list[_Known] = []
        self._next = 1
        self._last: _Part | None = None

    def expected(self, corner: Point) -> tuple[Thing, ...]:
        """What the last look showed, where it is now if nothing has been drawn since."""
        if self._last is None:
            return ()
        return _looked_shifted(self._last.looked, corner.x - self._last.corner.x, corner.y - self._last.corner.y).things

    def look(
        self,
        picture: Picture,
        visible: Box,
        corner: Point,
        *,
        read: Read | None = None,
        later: Picture | None = None,
        most: int = MOST,
    ) -> Looked:
        """What shows in it, as far as the picture goes.

        `visible` is the page box of what shows of it, `corner` where the whole of it begins; `later` is a picture taken
        right after, where the page is not at rest: things that differ in it move.
        """
        inside = picture.page.intersection(visible)
        if inside is None:
            return Looked(elsewhere=tuple(_shifted(each.thing, corner.x, corner.y) for each in self._known))
        place = _box_shifted(inside, -corner.x, -corner.y)
        pixels = pixels_in(picture, inside)
        last = self._last
        is_known = later is None and last is not None and (last.place, last.most) == (place, most)
        if is_known and last and _is_same(last.pixels, pixels) and (last.looked.is_all_read or read is None):
            return _looked_shifted(last.looked, corner.x - last.corner.x, corner.y - last.corner.y)
        if later is not None and changed_share(picture, later, inside) > _RESTLESS:
            self._last = None
            return Looked(is_restless=True)
        looked = self._look(picture, inside, corner, place, read, later, most)
        self._last = None if later else _Part(place, corner, pixels.copy(), most, looked)
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
    ) -> Looked:
        proposed = propose(picture, inside, most)
        said = _read(picture, proposed, read)
        came = [
            _Known(_shifted(thing, -corner.x, -corner.y), _look_of(picture, thing.box), words)
            for thing, words in _things(proposed, said)
        ]
        known, gone = self._again(came)
        kept = [each for each in gone if self._may_come_back(each, picture, corner, place)]
        self._known = [*known, *kept][:_MOST_KNOWN]
        things = (_shifted(each.thing, corner.x, corner.y) for each in known)
        if later:
            things = (replace(each, moves=changed_share(picture, later, each.box) > _MOVES) for each in things)
        return Looked(
            things=tuple(things),
            elsewhere=tuple(_shifted(each.thing, corner.x, corner.y) for each in kept),
            left_out=proposed.left_out,
            is_all_read=all(one is not None for one in said.values()) if read else True,
        )

    def _again(self, came: list[_Known]) -> tuple[list[_Known], list[_Known]]:
        """What has come under the ids that it had, and what was known and has not come."""
        pairs = _pairs(self._known, came)
        ids = {new: self._known[old].thing.id for old, new in pairs}
        known = []
        for index, each in enumerate(came):
            if index not in ids:
                ids[index], self._next = self._next, self._next + 1
            known.append(replace(each, thing=replace(each.thing, id=ids[index])))
        found = {old for old, _ in pairs}
        return known, [each for index, each in enumerate(self._known) if index not in found]

    def _may_come_back(self, old: _Known, picture: Picture, corner: Point, place: Box) -> bool:
        """Whether it was not looked at, or still looks as it did: too small to be told from here, or left out."""
        if old.thing.box.share_in(place) < 1:
            return True  # what its edge cuts looks other than it is
        box = _box_shifted(old.thing.box, corner.x, corner.y)
        return picture.page.intersection(box) is not None and _differ(old.look, _look_of(picture, box)) <= _SAME_COLOURS


# --- what is there ----------------------------------------------------------------------------------------------------


def _read(picture: Picture, proposed: Proposed, read: Read | None) -> dict[Box, Reading | None]:
    """What is read in each line: first those of things, then those in cells."""
    lines = list(dict.fromkeys([*(line for each in proposed.proposals for line in each.lines), *proposed.lines]))
    return dict(zip(lines, read(picture, lines) if read else [None] * len(lines), strict=True))


def _things(proposed: Proposed, said: dict[Box, Reading | None]) -> list[tuple[Thing, str | None]]:
    """Things without an id yet, with their words; None where they have some that were not read."""
    things: list[tuple[Thing, str | None]] = []
    for each in proposed.proposals:
        readings = [said[line] for line in sorted(each.lines, key=lambda line: (line.y, line.x))]
        name = " ".join(reading.text for reading in readings if reading and reading.text)
        words = None if None in readings else name
        things.append((Thing(0, each.box, each.point, each.shape, each.confidence, name), words))
    for lattice in proposed.lattices:
        first = lattice.grid.cells[0]
        point = Point(x=first[2] + first[4] / 2, y=first[3] + first[5] / 2)
        rows = _rows(lattice.grid, said)
        sure = len(lattice.grid.cells) / (lattice.grid.rows * lattice.grid.columns)
        things.append((Thing(0, lattice.box, point, "grid", round(sure, 2), "", lattice.grid, rows), ""))
    return things


def _rows(grid: Grid, said: dict[Box, Reading | None]) -> tuple[tuple[int, str, Box], ...]:
    words: dict[tuple[int, int], list[str]] = {}
    for line, reading in said.items():
        if reading and reading.text:
            middle = line.center
            for row, column, x, y, width, height in grid.cells:
                if x <= middle.x < x + width and y <= middle.y < y + height:
                    words.setdefault((row, column), []).append(reading.text)
    rows = []
    for row in sorted({row for row, _ in words}):
        cells = [" ".join(words.get((row, column), ())) for column in range(1, grid.columns + 1)]
        while cells and not cells[-1]:
            cells.pop()
        place = next(Box(x=x, y=y, width=w, height=h) for at, _, x, y, w, h in grid.cells if at == row)
        rows.append((row, " | ".join(cells), place))
    return tuple(rows)


# --- knowing again ----------------------------------------------------------------------------------------------------


def _pairs(olds: Sequence[_Known], news: Sequence[_Known]) -> list[tuple[int, int]]:
    """By position in each: which old thing is which new one."""
    olds = _taken_along(olds, news)
    pairs = _in_place(olds, news)
    rest_old = [index for index in range(len(olds)) if index not in {old for old, _ in pairs}]
    rest_new = [index for index in range(len(news)) if index not in {new for _, new in pairs}]
    alike = [(old, new) for old in rest_old for new in rest_new if _looks_like(olds[old], news[new])]
    together = _gone_together(olds, news, alike, len(rest_new))
    olds_left, news_left = {old for old, _ in together}, {new for _, new in together}
    near = [
        (old, new)
        for old, new in alike
        if old not in olds_left and new not in news_left and _distance(olds[old], news[new]) <= _FAR
    ]
    many_old, many_new = Counter(old for old, _ in near), Counter(new for _, new in near)
    return [*pairs, *together, *(pair for pair in near if many_old[pair[0]] == many_new[pair[1]] == 1)]


def _taken_along(olds: Sequence[_Known], news: Sequence[_Known]) -> list[_Known]:
    """The old things where they are when what is drawn has been scrolled, by those of them that say something.

    In a list whose rows are alike but for their words, what has no words looks as if it stood where it stood.
    """
    said = [Counter(each.words for each in them if each.words) for them in (olds, news)]
    only = {words for words, count in said[0].items() if count == said[1][words] == 1}
    ways: Counter[tuple[int, int]] = Counter()
    for words in only:
        one, other = (next(each.thing.box for each in them if each.words == words) for them in (olds, news))
        ways[round(other.x - one.x), round(other.y - one.y)] += 1
    (x, y), count = ways.most_common(1)[0] if ways else ((0, 0), 0)
    if count < _TOGETHER or 2 * count <= len(only):
        return list(olds)
    return [replace(each, thing=_shifted(each.thing, x, y)) for each in olds]


def _in_place(olds: Sequence[_Known], news: Sequence[_Known]) -> list[tuple[int, int]]:
    """The best first, so that of two that lie on each other each finds its own."""
    shares = sorted(
        (
            (share, old, new)
            for old, one in enumerate(olds)
            for new, other in enumerate(news)
            if _is_there(one.thing.box, other.thing.box, share := one.thing.box.likeness(other.thing.box))
            and _is_still(one, other)
        ),
        reverse=True,
    )
    pairs: list[tuple[int, int]] = []
    for _, old, new in shares:
        if all(old != each and new != other for each, other in pairs):
            pairs.append((old, new))
    return pairs


def _is_there(old: Box, new: Box, share: float) -> bool:
    """Whether two boxes are of one place; of small things a pixel more or less is much of them."""
    edges = ((old.x, new.x), (old.y, new.y), (old.right, new.right), (old.bottom, new.bottom))
    return share >= _SAME_PLACE or all(abs(one - other) <= _SAME_SIZE for one, other in edges)


def _is_still(old: _Known, new: _Known) -> bool:
    """Whether what is in a place is what was there: it says the same, or says nothing, or looks alike."""
    if (old.thing.grid is None) != (new.thing.grid is None):
        return False
    if old.thing.grid is not None:
        return True
    if old.words and new.words:
        return old.words.casefold() == new.words.casefold() or _differ(old.look, new.look) <= _SAME_PIXELS
    if old.words == new.words == "":
        return True
    return _differ(old.look, new.look) <= _SAME_COLOURS or abs(_figure(old.look, new.look)) >= _SAME_FIGURE


def _looks_like(old: _Known, new: _Known) -> bool:
    """Whether it could be the same thing in another place."""
    if old.thing.grid is not None or new.thing.grid is not None:
        return False
    one, other = old.thing.box, new.thing.box
    if abs(one.width - other.width) > _SAME_SIZE or abs(one.height - other.height) > _SAME_SIZE:
        return False
    if old.words and new.words and old.words.casefold() != new.words.casefold():
        return False
    return _differ(old.look, new.look) <= _SAME_COLOURS


def _gone_together(
    olds: Sequence[_Known], news: Sequence[_Known], alike: Sequence[tuple[int, int]], many: int
) -> list[tuple[int, int]]:
    """Those that went the same way as most did."""

    def way(pair: tuple[int, int]) -> tuple[int, int]:
        one, other = olds[pair[0]].thing.box, news[pair[1]].thing.box
        return round((other.x - one.x) / 2), round((other.y - one.y) / 2)

    ways = Counter(map(way, alike))
    if not ways:
        return []
    most, count = ways.most_common(1)[0]
    if count < _TOGETHER or 2 * count <= many:
        return []
    found: dict[int, int] = {}
    for old, new in alike:
        if way((old, new)) == most and new not in found.values():
            found.setdefault(old, new)
    return list(found.items())


def _look_of(picture: Picture, box: Box) -> Floats:
    """What is compared of how it looks: a few of its colours."""
    inside = picture.page.intersection(box)
    if inside is None:
        return np.zeros((_LOOK_SIZE[1], _LOOK_SIZE[0], 3), np.float32)
    small = cv2.resize(pixels_in(picture, inside), _LOOK_SIZE, interpolation=cv2.INTER_AREA)
    look: Floats = np.asarray(small, np.float32)
    return look


def _differ(one: Floats, other: Floats) -> float:
    """How far apart the colours are, 0 to 255, in the tenth of the places where they are farthest apart."""
    apart = np.sort(np.abs(one - other).mean(axis=2), axis=None)
    return float(apart[-round(_MOST * apart.size) :].mean())


def _figure(one: Floats, other: Floats) -> float:
    """How much the two are of one figure, whatever its colours: a correlation, -1 to 1."""
    first, second = (each.mean(axis=2) - each.mean() for each in (one, other))
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / size if size > 1 else 0.0


def _distance(old: _Known, new: _Known) -> float:
    return hypot(new.thing.point.x - old.thing.point.x, new.thing.point.y - old.thing.point.y)


def _is_same(before: Pixels, now: Pixels) -> bool:
    return before.shape == now.shape and cv2.norm(before, now, cv2.NORM_INF) <= _NOISE


# --- from the surface to the page, and back ---------------------------------------------------------------------------


def _looked_shifted(looked: Looked, x: float, y: float) -> Looked:
    if x == y == 0:
        return looked
    things, elsewhere = (tuple(_shifted(each, x, y) for each in them) for them in (looked.things, looked.elsewhere))
    return replace(looked, things=things, elsewhere=elsewhere)


def _shifted(thing: Thing, x: float, y: float) -> Thing:
    return replace(
        thing,
        box=_box_shifted(thing.box, x, y),
        point=Point(x=thing.point.x + x, y=thing.point.y + y),
        grid=thing.grid and _grid_shifted(thing.grid, x, y),
        rows=tuple((row, text, _box_shifted(box, x, y)) for row, text, box in thing.rows),
    )


def _grid_shifted(grid: Grid, x: float, y: float) -> Grid:
    cells = tuple((row, column, left + x, top + y, *size) for row, column, left, top, *size in grid.cells)
    return grid.model_copy(update={"cells": cells})


def _box_shifted(box: Box, x: float, y: float) -> Box:
    return Box(x=box.x + x, y=box.y + y, width=box.width, height=box.height)

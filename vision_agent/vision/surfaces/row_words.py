"""Finds the words that tell drawn things of one name apart, as in a list with a *Delete* in each row: those in its row.

Only what was surely read counts, and only where no other row may say the same: in a column in which something was not
read, no words tell rows apart. This module knows pixels, things and readings, but no page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.ocr import Reading, folded
from vision_agent.vision.picture import Picture, view_pixels
from vision_agent.vision.surfaces.table_layout import around
from vision_agent.vision.surfaces.things import RowWords, Thing

_EDGE = 8
"""The difference of neighbouring pixels, in levels of a channel, that makes the edge of a box or a rule."""
_INK, _LEAST_PIXELS = 24, 3
"""The difference from the ground that may be a letter, and the fewest pixels of it."""
_OWN = 0.5
"""The share of a line of text that lies in a thing whose own text it is."""
_BESIDE, _ABOVE = 12.0, 2.0
"""CSS pixels around the words of a row in which nothing else may come to be."""
_ALIGNED = 0.5
"""The share of its width by which a thing of a column may be beside another."""


class _Line(NamedTuple):
    box: Box
    text: str
    """Empty if it was not surely read."""


def with_rows(
    picture: Picture,
    things: Sequence[tuple[Thing, str | None]],
    readings: Mapping[Box, Reading | None],
    *,
    is_all: bool,
) -> list[tuple[Thing, str | None]]:
    """The things with the words of their rows, where things of one name stand above each other.

    `is_all`: nothing that may be one of them was left out.
    """
    columns = [each for alike in _alike([thing for thing, _ in things]) for each in _columns(alike)]
    if not columns:
        return [*things]
    faces = [thing.box for thing, _ in things if thing.shape == "box"]
    lines = [_line(box, reading) for box, reading in readings.items()]
    rows = {
        id(thing): row
        for column, others in columns
        for thing, row in zip(column, _rows(picture, column, others, lines, faces, is_all=is_all), strict=True)
        if row is not None
    }
    return [(replace(thing, in_row=rows.get(id(thing))), words) for thing, words in things]


def _line(box: Box, reading: Reading | None) -> _Line:
    is_sure = reading is not None and not reading.is_unsure and bool(folded(reading.text))
    return _Line(box, reading.text if reading is not None and is_sure else "")


def _alike(things: Iterable[Thing]) -> Iterable[list[Thing]]:
    """The things that have one name, or the same role and no name."""
    groups: defaultdict[tuple[str, str], list[Thing]] = defaultdict(list)
    for thing in things:
        if thing.grid is None and not thing.reading and not thing.ends and (thing.name or thing.told.role):
            groups[thing.name, "" if thing.name else thing.told.role].append(thing)
    return (each for each in groups.values() if len(each) > 1)


def _columns(alike: list[Thing]) -> Iterable[tuple[list[Thing], list[Thing]]]:
    """The things that stand above each other, from the top, and those of their name that do not."""
    left = sorted(alike, key=lambda thing: thing.box.y)
    while left:
        first = left[0].box
        column = [each for each in left if _is_above(each.box, first)]
        left = [each for each in left if each not in column]
        is_apart = all(one.box.bottom < other.box.y for one, other in pairwise(column))
        if len(column) > 1 and is_apart:
            yield column, [each for each in alike if each not in column]


def _is_above(one: Box, other: Box) -> bool:
    return abs(one.x + one.width / 2 - other.x - other.width / 2) <= _ALIGNED * min(one.width, other.width)


def _rows(
    picture: Picture,
    column: Sequence[Thing],
    others: Sequence[Thing],
    lines: Sequence[_Line],
    faces: Sequence[Box],
    *,
    is_all: bool,
) -> list[RowWords | None]:
    """The words of the row of each thing in a column; None where there are none that tell it apart."""
    boxes = [thing.box for thing in column]
    gaps = _gaps(picture, boxes)
    own = [[line for line in lines if _is_in(line.box, box)] for box in boxes]
    beside = [
        [line for line in lines if _is_level(line.box, box) and line not in own[at]] for at, box in enumerate(boxes)
    ]
    beside = [[line for line in found if gaps.join(at, line.box, boxes[at])] for at, found in enumerate(beside)]
    if any(
        _is_level(each.box, box) and gaps.join(at, each.box, box) for each in others for at, box in enumerate(boxes)
    ):
        return [None] * len(boxes)  # of whose row the words are cannot be told
    in_rows = {line.box for found in (*own, *beside) for line in found}
    elsewhere = [line for line in lines if line.box not in in_rows]
    rows: list[RowWords | None] = []
    for at in range(len(boxes)):
        telling = [
            line
            for line in beside[at]
            if line.text
            and _tells(picture, line, boxes, beside, at)
            and not any(
                (folded(each.text) == folded(line.text) if each.text else not is_all)
                for each in elsewhere
                if _is_over(each.box, line.box)
            )
        ]
        rows.append(_row(at, telling, beside, faces))
    return rows


def _row(at: int, telling: Sequence[_Line], beside: Sequence[Sequence[_Line]], faces: Sequence[Box]) -> RowWords | None:
    if not telling:
        return None
    ordered, first = _in_order(telling), min(beside[at], key=lambda line: line.box.x)
    title = first.text if first in telling and any(map(str.isalpha, first.text)) else ""
    said = [" ".join(folded(line.text) for line in _in_order(own) if line.text) for own in beside]
    is_whole = len(telling) == len(beside[at]) and said.count(said[at]) == 1
    places = [_place(line, beside) for line in telling if not _is_on_each(line, beside, faces)]
    return RowWords(" ".join(line.text for line in ordered), title, tuple(places), is_whole and bool(places))


def _is_on_each(line: _Line, beside: Sequence[Sequence[_Line]], faces: Sequence[Box]) -> bool:
    """Whether a line is on a button that each row has, such as *Edit*."""
    is_on_button = any(_is_in(line.box, face) for face in faces)
    return is_on_button and all(
        any(each.text == line.text and _is_over(each.box, line.box) for each in own) for own in beside
    )


def _place(line: _Line, beside: Sequence[Sequence[_Line]]) -> Box:
    """Where a line is, as wide as the lines of its column."""
    column = around([each.box for own in beside for each in own if _is_over(each.box, line.box)])
    wide, high = column.width + 2 * _BESIDE, line.box.height + 2 * _ABOVE
    return Box(x=column.x - _BESIDE, y=line.box.y - _ABOVE, width=wide, height=high)


def _tells(picture: Picture, line: _Line, boxes: Sequence[Box], beside: Sequence[Sequence[_Line]], own: int) -> bool:
    """Whether a line is in a column of words that was surely read in every row."""
    has_others = False
    for at, box in enumerate(boxes):
        if at == own:
            continue
        there = [each for each in beside[at] if _is_over(each.box, line.box)]
        if not all(each.text for each in there):
            return False
        if not there and _has_ink(picture, _same_place(line.box, box)):
            return False
        has_others = has_others or bool(there)
    return has_others


def _same_place(line: Box, box: Box) -> Box:
    """Where a line of text would be in the row of another thing."""
    high = max(box.height, line.height)
    return Box(x=line.x, y=box.center.y - high / 2, width=line.width, height=high)


def _is_level(line: Box, box: Box) -> bool:
    """Whether a line of text and a thing are on one line."""
    middle, own = line.y + line.height / 2, box.y + box.height / 2
    return box.y <= middle < box.y + box.height or line.y <= own < line.y + line.height


def _is_in(line: Box, box: Box) -> bool:
    """Whether a line of text is in a thing."""
    middle = line.x + line.width / 2
    return box.x <= middle < box.x + box.width and _is_level(line, box) and line.share_in(box) >= _OWN


def _is_over(one: Box, other: Box) -> bool:
    """Whether two lines are in one column."""
    return one.x < other.right and other.x < one.right


def _in_order(lines: Sequence[_Line]) -> list[_Line]:
    """The lines of a row, from the top and from the left."""
    found: list[list[_Line]] = []
    for line in sorted(lines, key=lambda each: each.box.y + each.box.height / 2):
        if found and _is_level(line.box, found[-1][0].box):
            found[-1].append(line)
        else:
            found.append([line])
    return [line for level in found for line in sorted(level, key=lambda each: each.box.x)]


def _has_ink(picture: Picture, box: Box) -> bool:
    inside = picture.page.intersection(box)
    if inside is None:
        return False
    pixels = view_pixels(picture, inside).astype(np.int16)
    ground = np.median(pixels.reshape(-1, 3), axis=0)
    return int(np.count_nonzero(np.abs(pixels - ground).max(axis=2) > _INK)) >= _LEAST_PIXELS


class _Gaps(NamedTuple):
    """What is drawn between the rows of a column: where a border runs through, one box ends and another begins."""

    edges: tuple[np.ndarray | None, ...]
    """For each gap, where neighbouring pixels differ from left to right; None if it is not shown."""
    left: float
    scale: float

    def join(self, at: int, one: Box, other: Box) -> bool:
        """Whether nothing that goes on above or below the row lies between two boxes in it."""
        start, end = sorted((one.x + one.width / 2, other.x + other.width / 2))
        for gap in self.edges[max(0, at - 1) : at + 1]:
            if gap is None:
                return False
            between = gap[:, max(0, round((start - self.left) / self.scale)) : round((end - self.left) / self.scale)]
            if between.any(axis=1).all():
                return False
        return True


def _gaps(picture: Picture, boxes: Sequence[Box]) -> _Gaps:
    page, edges = picture.page, list[np.ndarray | None]()
    for above, below in pairwise(boxes):
        gap = page.intersection(Box(x=page.x, y=above.bottom, width=page.width, height=below.y - above.bottom))
        pixels = view_pixels(picture, gap) if gap else np.empty((0, 0, 3), np.uint8)
        if not pixels.size:
            edges.append(None)
            continue
        blue, green, red = cv2.split(cv2.absdiff(pixels[:, 1:], pixels[:, :-1]))
        edges.append(np.asarray(cv2.max(cv2.max(blue, green), red)) > _EDGE)
    return _Gaps(tuple(edges), page.x, picture.map.scale_x)

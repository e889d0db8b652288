"""What is drawn in a surface, as things with the text that was read on them.

Knows pixels and proposals; neither ids nor earlier looks. A thing is in page coordinates, until it is shifted to those
of its surface.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.observation import Grid, Legibility
from vision_agent.text.escape import safe_line
from vision_agent.vision.ocr import Reading
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.appearance import describe_all
from vision_agent.vision.surfaces.candidates import Proposal, SurfaceProposals
from vision_agent.vision.surfaces.roles import UNTOLD, Seen, Told, tell_roles
from vision_agent.vision.surfaces.shapes import Shape
from vision_agent.vision.surfaces.table_layout import Place, TableLayout
from vision_agent.vision.surfaces.text_layer import Read

UNREAD, UNSURE = "‹unread›", "‹unsure›"
"""In place of a text that was not read, and behind one that may be wrong; no text of a page has these brackets."""
_NOT_OURS = str.maketrans("‹›|", "<>/")
_HEADLESS = re.compile(r"[.,'’]\s?\d")
"""A number that begins with a separator: what stood before it may be cut off, or was not read."""

_LONGEST_CELL = 500
"""The most characters of a cell's text."""
_DIGITS = frozenset("23456789")
_LOOKS_LIKE = {"一": "−", "二": "=", "十": "+"}
"""What a sign alone is read as, such as the one on a key of a calculator, and the sign."""
_SURELY, _MOST_DIGITS = 0.97, 24
"""The least confidence in a digit alone, and in how many shapes of a surface one is sought: icons have up to 0.94."""
_INSIDE = 0.8
"""The least share of a hole or stroke in its digit."""
_DIGIT_HIGH, _DIGIT_WIDE = (16, 64), (0.4, 0.95)
"""How high a thick digit is, in CSS pixels, and how wide, in its height."""
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True)
class RowWords:
    """What tells a thing from others of its name that stand above or below it."""

    text: str
    """The words of its row, without its own."""
    title: str
    """Those that the row begins with, if they are no number."""
    places: tuple[Box, ...]
    """Where these words are in page coordinates, each as wide as what stands there in any row."""
    is_whole: bool
    """Whether these are all the words of its row, and no other row has the same."""


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
    in_row: RowWords | None = None
    """The row it is in, if others of its name are in rows above or below."""


def read_lines(picture: Picture, proposed: SurfaceProposals, read: Read | None) -> dict[Box, Reading | None]:
    """The reading of each line; lines of proposals are read before all others, and what the page says is not."""
    lines = list(dict.fromkeys([*(line for each in proposed.proposals for line in each.lines), *proposed.lines]))
    asked = [line for line in lines if line not in proposed.known]
    readings = dict(zip(asked, read(picture, asked) if read else [None] * len(asked), strict=True))
    for line in proposed.doubtful & readings.keys():
        one = readings[line]
        readings[line] = one and one.doubted()
    readings = _with_signs(readings)
    return {line: readings[line] if line in readings else Reading(proposed.known[line], 1.0) for line in lines}


def with_lone_digits(
    picture: Picture, proposed: SurfaceProposals, readings: dict[Box, Reading | None], read: Read
) -> SurfaceProposals:
    """The proposals, of which shapes that are a thick digit are words, without the holes in digits.

    The `readings` of those are added. A digit with thick strokes is a shape by its pixels. No `0` or `1` is sought:
    rings and bars look like them.
    """
    may = [at for at, each in enumerate(proposed.proposals) if _may_be_digit(each, readings)][:_MOST_DIGITS]
    boxes = [proposed.proposals[at].box for at in may]
    found = {
        at: one
        for at, one in zip(may, read(picture, boxes) if boxes else (), strict=True)
        if one and one.text in _DIGITS and one.confidence >= _SURELY
    }
    proposals = list(proposed.proposals)
    for at, one in found.items():
        box = proposals[at].box
        readings[box] = one
        proposals[at] = replace(proposals[at], shape="words", lines=(box,))
    lines = (*proposed.lines, *(proposals[at].box for at in found))
    digits = [line for line, one in readings.items() if one and one.text in _DIGITS and one.confidence >= _SURELY]
    kept = [at for at, each in enumerate(proposals) if not _is_hole(each, digits)]
    places = {at: place for place, at in enumerate(kept)}
    proposals = [
        replace(proposals[at], ends=tuple(places[end] for end in proposals[at].ends if end in places)) for at in kept
    ]
    return replace(proposed, proposals=tuple(proposals), lines=lines)


def _is_hole(each: Proposal, digits: Sequence[Box]) -> bool:
    is_blank = each.shape != "words" and not (each.lines or each.part or each.ends)
    return is_blank and any(each.box.share_in(digit) >= _INSIDE for digit in digits)


def _may_be_digit(each: Proposal, lines: Collection[Box]) -> bool:
    high, wide = each.box.height, each.box.width / each.box.height
    is_sized = _DIGIT_HIGH[0] <= high <= _DIGIT_HIGH[1] and _DIGIT_WIDE[0] <= wide <= _DIGIT_WIDE[1]
    is_shape = each.shape == "shape" and not (each.lines or each.stroke or each.part or each.ends)
    return is_sized and is_shape and not any(each.box.share_in(line) >= _INSIDE for line in lines)


def _with_signs(readings: dict[Box, Reading | None]) -> dict[Box, Reading | None]:
    """The readings, with signs for the lone ideographs that look like them, if nothing else is written in any."""
    ideographs = {one.text for one in readings.values() if one and _IDEOGRAPH.search(one.text)}
    if not ideographs or not ideographs <= _LOOKS_LIKE.keys():
        return readings
    return {
        line: Reading(_LOOKS_LIKE[one.text], one.confidence) if one and one.text in ideographs else one
        for line, one in readings.items()
    }


def found_things(
    picture: Picture,
    proposed: SurfaceProposals,
    readings: dict[Box, Reading | None],
    layouts: Sequence[TableLayout] = (),
    *,
    is_read: bool,
) -> list[tuple[Thing, str | None]]:
    """The proposals as things without an id, with their text; None for text that was not read completely.

    `layouts`: those of the grids come first, and say in which of their cells the lines are not whole.
    """
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
    for at, lattice in enumerate(proposed.lattices):
        partly = layouts[at].partly if layouts else frozenset()
        first = lattice.grid.cells[0]
        point = Point(x=first[2] + first[4] / 2, y=first[3] + first[5] / 2)
        grid = _with_texts(lattice.grid, readings, partly) if is_read else lattice.grid
        sure = len(grid.cells) / (grid.rows * grid.columns)
        things.append((Thing(0, lattice.box, point, "grid", round(sure, 2), grid=grid, rows=_rows(grid)), ""))
    return things


def _legibility(readings: Sequence[Reading | None]) -> Legibility:
    if any(one is None or not one.text for one in readings):
        return "unread"
    return "unsure" if any(one is not None and one.is_unsure for one in readings) else ""


def _with_texts(grid: Grid, readings: dict[Box, Reading | None], partly: Set[Place]) -> Grid:
    """The grid with what was read in its cells; `partly` are those in which not every line is whole."""
    words: dict[tuple[int, int], list[str]] = {}
    for line, reading in sorted(readings.items(), key=lambda each: (each[0].y, each[0].x)):
        middle = line.center
        for row, column, x, y, width, height in grid.cells:
            if x <= middle.x < x + width and y <= middle.y < y + height:
                words.setdefault((row, column), []).append(cell_text(reading))
    for cell in partly:
        if not any(text.endswith(UNREAD) for text in words.setdefault(cell, [])):
            words[cell].append(UNREAD)
    texts = tuple(
        (row, column, safe_line(" ".join(own), _LONGEST_CELL)) for (row, column), own in sorted(words.items())
    )
    return grid.model_copy(update={"texts": tuple(each for each in texts if each[2])})


def _rows(grid: Grid) -> tuple[tuple[int, str, Box], ...]:
    words = {(row, column): text for row, column, text in grid.texts or ()}
    rows = []
    for row in sorted({row for row, _ in words}):
        cells = [words.get((row, column), "") for column in range(1, grid.columns + 1)]
        while cells and not cells[-1]:
            cells.pop()
        place = next(Box(x=x, y=y, width=w, height=h) for at, _, x, y, w, h in grid.cells if at == row)
        rows.append((row, " | ".join(cells), place))
    return tuple(rows)


def may_lack_its_beginning(text: str) -> bool:
    """Whether a text is a number that begins with a separator, such as `,592`."""
    return _HEADLESS.match(text) is not None


def cell_text(reading: Reading | None) -> str:
    """The text of a cell, in which nothing looks like the end of a cell or like a word of ours."""
    if reading is None or not reading.text:
        return UNREAD
    text = reading.text.translate(_NOT_OURS)
    if may_lack_its_beginning(text):
        return f"{text} {UNREAD}"
    return f"{text} {UNSURE}" if reading.is_unsure else text


def shift_thing(thing: Thing, x: float, y: float) -> Thing:
    """The thing moved by CSS pixels."""
    return replace(
        thing,
        box=shift_box(thing.box, x, y),
        point=Point(x=thing.point.x + x, y=thing.point.y + y),
        grid=thing.grid and _shift_grid(thing.grid, x, y),
        in_row=thing.in_row
        and replace(thing.in_row, places=tuple(shift_box(each, x, y) for each in thing.in_row.places)),
        rows=tuple((row, text, shift_box(box, x, y)) for row, text, box in thing.rows),
    )


def _shift_grid(grid: Grid, x: float, y: float) -> Grid:
    cells = tuple((row, column, left + x, top + y, *size) for row, column, left, top, *size in grid.cells)
    return grid.model_copy(update={"cells": cells})


def shift_box(box: Box, x: float, y: float) -> Box:
    """The box moved by CSS pixels."""
    return Box(x=box.x + x, y=box.y + y, width=box.width, height=box.height)

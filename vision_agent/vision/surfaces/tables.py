"""Reads tables that are drawn in a surface: the cells of a grid, or words that stand in rows and columns.

A cell in which something is drawn never passes for empty: what was not read is `‹unread›`. Whether the first row names
the columns is told by its place, its ground, or numbers below it, or by nothing. This module knows pixels, boxes and
readings, but no page; `table_layout` finds where the cells are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.ocr import Reading
from vision_agent.vision.picture import Picture, view_pixels
from vision_agent.vision.surfaces.candidates import SurfaceProposals
from vision_agent.vision.surfaces.table_layout import Place, TableLayout, TableLayouts, around, find_layouts, ink_lines
from vision_agent.vision.surfaces.things import UNREAD, UNSURE, cell_text

Side = Literal["below", "right"]
Read = Callable[[Sequence[Box]], Sequence[Reading | None]]

_LINE_PX = (4.0, 44.0)
"""The least and largest height of ink that may be a line of text."""
_GROUND = 8
"""The least difference between the ground of the heads and that of every row."""
_MOST_OF = 0.6
_COUNTED = 0.7
"""The share of numbers or letters that must go on one by one to count rows or columns."""
_FEWEST_COUNTED = 3
_AT_EDGE = 0.8
"""How near to the edge of what is shown a table may go on, in times the distance of its rows."""
_EDGE_PX = 2.0
_NEXT_ROW = 1.2
"""How far from the last row a text is that may be a further one, in times the distance of rows."""
_TITLE_PX = 60.0
_SIGN = 1.6
"""How wide a single sign is at most, in times its height."""


@dataclass(frozen=True)
class DrawnTable:
    """What a drawn table says."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    """Its cells as texts; all rows have the same number of them."""
    places: tuple[tuple[Box, ...], ...] = ()
    """Where each of these cells is; with headings, the first row is theirs."""
    headings: tuple[str, ...] = ()
    """Empty if no row is known to name the columns."""
    title: str = ""
    """The words right above it."""
    at_edge: frozenset[Side] = frozenset()
    """Where it reaches the edge of what is shown, so that it may go on."""
    first: int = 1
    """The number of its first row, if its rows are numbered."""
    is_lettered: bool = False
    """Whether its columns are only called A, B, C."""
    is_numbered: bool = False
    """Whether its first column only counts its rows."""
    beside: int = 0
    """How many texts in it, or right above or below it where a row may be, are in none of its rows."""
    late: int = 0
    """How many texts there was no time to read."""

    @property
    def unread(self) -> int:
        """How many of its cells say that something in them was not read."""
        return sum(UNREAD in cell for row in (self.headings, *self.rows) for cell in row)

    def without(self, covered: Set[Box]) -> DrawnTable:
        """The table, in which what is written in cells with these places was not read: something else lies there."""
        every = [self.headings, *self.rows] if self.headings else [*self.rows]
        cells = tuple(
            tuple(UNREAD if cell and place in covered else cell for cell, place in zip(row, places, strict=True))
            for row, places in zip(every, self.places, strict=True)
        )
        return replace(self, headings=cells[0], rows=cells[1:]) if self.headings else replace(self, rows=cells)


class DrawnTables(NamedTuple):
    """The tables of a surface, and whether words there may be one, but not plainly."""

    tables: tuple[DrawnTable, ...]
    is_unclear: bool = False
    has_words: bool = False
    """Whether any words were read."""


def read_tables(
    picture: Picture,
    surface: Box,
    proposed: SurfaceProposals,
    readings: Mapping[Box, Reading | None],
    read: Read,
) -> DrawnTables:
    """The tables drawn in the visible part of a surface.

    Args:
        picture: shows the surface.
        surface: the page box of the visible part.
        proposed: what is drawn there.
        readings: the lines of text read so far.
        read: reads more of them.
    """
    found = find_layouts(picture, proposed)
    ink = [
        {place: ink_lines(picture, box, with_rules=each.is_ruled) for place, box in each.blanks()}
        for each in found.layouts
    ]
    lines = [[*each.lines.values(), *own.values()] for each, own in zip(found.layouts, ink, strict=True)]
    asked = {line for each in lines for own in each for line in own if line not in readings and _may_be_text(line)}
    known = {**readings, **dict(zip(asked, read([*asked]), strict=True))}
    taken = {line for each in found.layouts for own in each.lines.values() for line in own}
    others = [line for line in proposed.lines if line not in taken]
    tables = [
        _table(each, {**each.lines, **{at: more for at, more in own.items() if more}}, picture, surface, known, others)
        for each, own in zip(found.layouts, ink, strict=True)
    ]
    has_words = any(reading is not None and reading.text for reading in known.values())
    return DrawnTables(tuple(each for each in tables if each is not None), found.is_unclear, has_words)


def count_rows(picture: Picture, found: TableLayouts, readings: Mapping[Box, Reading | None]) -> tuple[int, ...]:
    """How many rows each table has, from what was read so far; empty if the columns of none have names."""
    tables = [_table(each, each.lines, picture, picture.page, readings, ()) for each in found.layouts]
    known = [each for each in tables if each is not None]
    return tuple(len(each.rows) for each in known) if any(each.headings for each in known) else ()


def _may_be_text(line: Box) -> bool:
    least, largest = _LINE_PX
    return least <= line.height <= largest


def _table(
    layout: TableLayout,
    lines: Mapping[Place, Sequence[Box]],
    picture: Picture,
    surface: Box,
    known: Mapping[Box, Reading | None],
    others: Sequence[Box],
) -> DrawnTable | None:
    every = range(layout.columns)
    known_in = {place: [(line, known.get(line)) for line in own] for place, own in lines.items()}
    cells = [
        [_cell(known_in.get((row, column), ()), is_cut=(row, column) in layout.cut) for column in every]
        for row in range(layout.rows)
    ]
    first, is_lettered = _first_number(cells), _is_lettered(cells[0])
    is_numbered = first is not None
    has_head = is_lettered or layout.has_head or _names_columns(cells, layout, picture)
    headings = [_heading(known_in.get((0, column), ()), is_cut=(0, column) in layout.cut_names) for column in every]
    body = cells[1:] if has_head else cells
    many = _last_used([any(row[is_numbered:]) for row in body])
    used = body if is_lettered else [headings, *body]
    wide = _last_used([any(row[column] for row in used) for column in every])
    rows = tuple(tuple(row[:wide]) for row in body[:many])
    said = [cell for row in rows for cell in row[is_numbered:] if cell not in ("", UNREAD)]
    if len(said) < 2 or wide < 2 or not rows:
        return None
    box, late = layout.box, [line for own in lines.values() for line in own if known.get(line) is None]
    nowhere = Box(x=box.x, y=box.y, width=0, height=0)
    places = [[layout.places.get((row, at), nowhere) for at in range(wide)] for row in range(many + has_head)]
    return DrawnTable(
        box=box,
        rows=rows,
        places=tuple(map(tuple, places)),
        headings=tuple(headings[:wide]) if has_head else (),
        title=_title(box, others, known),
        at_edge=_at_edge(layout, picture, surface, blank=(len(body) - many, layout.columns - wide)),
        first=(first + has_head) if first is not None else 1,
        is_lettered=is_lettered,
        is_numbered=is_numbered,
        beside=0 if layout.is_ruled else _beside(layout, others, _title(box, others, known)),
        late=sum(_may_be_text(line) for line in late),
    )


# --- texts ------------------------------------------------------------------------------------------------------------


def _cell(lines: Sequence[tuple[Box, Reading | None]], *, is_cut: bool = False) -> str:
    """The text of a cell; what was not read is said once, and so is the rest of a text that may be cut off."""
    texts = [cell_text(reading) for _, reading in lines]
    texts += [UNREAD] if is_cut else []
    return " ".join(text for at, text in enumerate(texts) if text != UNREAD or not any(map(_is_unread, texts[:at])))


def _is_unread(text: str) -> bool:
    return text.endswith(UNREAD)


def _heading(lines: Sequence[tuple[Box, Reading | None]], *, is_cut: bool = False) -> str:
    """The text of a cell that names a column, without a sign beside it, such as an arrow for sorting."""
    read = [(line, reading) for line, reading in lines if reading is not None and reading.text]
    words = [each for each in lines if each in read or each[0].width > _SIGN * each[0].height]
    return _cell(words if read else lines, is_cut=is_cut)


def _plain(cell: str) -> str:
    return cell.removesuffix(UNSURE).strip()


def _first_number(cells: Sequence[Sequence[str]]) -> int | None:
    """The number that the first row has if the first column only counts the rows."""
    known = [(int(text), row) for row, each in enumerate(cells) if (text := _plain(each[0])).isdecimal()]
    return _counts([number - row for number, row in known], sum(bool(each[0]) for each in cells))


def _is_lettered(row: Sequence[str]) -> bool:
    """Whether a row only calls the columns A, B, C."""
    known = [(_column_number(text), at) for at, each in enumerate(row) if (text := _plain(each)).isalpha()]
    return _counts([number - at for number, at in known if number], sum(map(bool, row))) is not None


def _column_number(letters: str) -> int:
    """The number of a column of a sheet, of A 1; 0 if these are no such letters."""
    if len(letters) > 2 or not letters.isascii() or not letters.isupper():
        return 0
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _counts(starts: Sequence[int], of: int) -> int | None:
    """What most of the numbers begin with, if they go on one by one."""
    if not starts:
        return None
    start = max(set(starts), key=starts.count)
    many = starts.count(start)
    return start if many >= max(_FEWEST_COUNTED, _COUNTED * of) else None


def _last_used(used: Sequence[bool]) -> int:
    """How many there are up to the last that is used."""
    return max((at for at, each in enumerate(used, 1) if each), default=0)


# --- what names the columns -------------------------------------------------------------------------------------------


def _names_columns(cells: Sequence[Sequence[str]], layout: TableLayout, picture: Picture) -> bool:
    """Whether the first row is words on a ground of its own, or words above numbers."""
    head, rows = cells[0], cells[1:]
    named = [at for at, each in enumerate(head) if each]
    if len(rows) < 2 or len(named) < max(2, _MOST_OF * len(head)) or UNREAD in head:
        return False
    if _has_own_ground(layout, picture):
        return True
    if any(map(_has_digit, head)):
        return False
    return any(_are_numbers([row[at] for row in rows]) for at in named)


def _are_numbers(cells: Sequence[str]) -> bool:
    used = [each for each in cells if each]
    return len(used) >= 2 and sum(map(_has_digit, used)) >= _MOST_OF * len(used)


def _has_digit(text: str) -> bool:
    return any(letter.isdecimal() for letter in text)


def _has_own_ground(layout: TableLayout, picture: Picture) -> bool:
    grounds = []
    for row in range(layout.rows):
        band = around([box for place, box in layout.places.items() if place[0] == row])
        pixels = view_pixels(picture, band)
        if not pixels.size:
            return False
        grounds.append(np.median(pixels.reshape(-1, 3), axis=0))
    return all(np.abs(each - grounds[0]).max() >= _GROUND for each in grounds[1:])


# --- around the table -------------------------------------------------------------------------------------------------


def _title(box: Box, others: Sequence[Box], known: Mapping[Box, Reading | None]) -> str:
    """The only text right above a table."""
    above = [
        line for line in others if 0 < box.y - line.bottom <= _TITLE_PX and line.x < box.right and line.right > box.x
    ]
    if not above:
        return ""
    nearest = max(above, key=lambda line: line.bottom)
    level = [line for line in above if line.y < nearest.bottom and nearest.y < line.bottom]
    reading = known.get(nearest)
    return reading.text if len(level) == 1 and reading is not None and not reading.is_unsure else ""


def _beside(layout: TableLayout, others: Sequence[Box], title: str) -> int:
    """How many lines of text in a table of words, or as near to it as its rows to each other, are in none of these."""
    box, near = layout.box, _NEXT_ROW * layout.pitch
    mine = [line for line in others if line.x < box.right and line.right > box.x and _may_be_text(line)]
    middles = [line.center.y for line in mine]
    above = [y for y in middles if box.center.y > y >= layout.first_middle - near] if not title else []
    return len(above) + sum(box.center.y <= y <= layout.last_middle + near for y in middles)


def _at_edge(layout: TableLayout, picture: Picture, surface: Box, blank: tuple[int, int]) -> frozenset[Side]:
    """The sides at which the table ends at the edge of what is shown, not in blank rows or columns."""
    box, near = layout.box, _AT_EDGE * layout.pitch
    sides: list[Side] = []
    if surface.bottom - box.bottom < near and blank[0] < 2:
        sides.append("below")
    # Words that the edge cuts off are no lines of text.
    beyond = Box(x=surface.right - _EDGE_PX, y=box.y, width=_EDGE_PX, height=box.height)
    is_cut = bool(ink_lines(picture, beyond, with_rules=False))
    if is_cut if not layout.is_ruled else surface.right - box.right < near and blank[1] < 1:
        sides.append("right")
    return frozenset(sides)

"""Finds where the cells of drawn tables are, and which lines of text are in each: of grids, and of words in columns.

A line that reaches from one cell into the next is two texts if there is a gap between them, and else one that begins
in the first. This module knows boxes and pixels; `word_tables` finds the columns of words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, view_pixels
from vision_agent.vision.rects import Bools
from vision_agent.vision.surfaces.candidates import Lattice, SurfaceProposals
from vision_agent.vision.surfaces.cut_texts import Side, TextInCells, find_cut, find_two_in_one
from vision_agent.vision.surfaces.word_tables import WordTable, find_word_tables

Place = tuple[int, int]
"""A row and a column, from 0."""

_RIM_PX = 3.0
"""The rim of a cell in which no ink is sought: its lines, and the frame of a selected neighbour, reach into it."""
_CONTRAST, _LEAST_PIXELS = 40, 3
"""The difference from the ground that makes ink, and the fewest pixels of it."""
_SLIVER = 20
"""The difference from the rest of a rule that makes ink on it."""
_RULE = 0.85
"""The share of a row or column of pixels from which ink is a rule."""
_LEAST_GAP_PX = 3.0
"""The least gap between texts of neighbouring cells."""
_BORDER_PX = 8.0
"""How far from a border between cells that gap may be."""
_INTO_PX = 3.0
"""How far a text must reach into a cell to be in it too."""
_LARGER = 1.5
_CROSSING_PX = 2.5
"""The largest gap at a border between letters of one text that goes on across it: texts keep farther from it."""
_WORD_GAP, _WORD_GAP_OF = 9.0, 0.6
"""The largest gap between words of a line, in CSS pixels or as a share of its height."""
_GROWN_PX = 2.0
_BESIDE = 1.3
"""How far from a grid its headings may be, in times the height of a row."""
_MOST_OF = 0.6
_BAND = 0.7
"""How far from the middle of a row of words its ink is, in times the height of a text."""


@dataclass(frozen=True)
class TableLayout:
    """Where the cells of a table are, and the lines of text in each."""

    places: dict[Place, Box]
    lines: dict[Place, list[Box]]
    has_head: bool = False
    """Whether its first row is known to name the columns."""
    is_ruled: bool = True
    """Whether its cells have borders; else there may be rules in them."""
    overrun: frozenset[Place] = frozenset()
    """Cells into which the text of a neighbour reaches."""
    cut: frozenset[Place] = frozenset()
    """Cells with a text that their side may cut off."""
    cut_names: frozenset[Place] = frozenset()
    """Those of the first row that are cut off also if they name columns."""
    partly: frozenset[Place] = frozenset()
    """Cells of a grid of whose texts the lines found hold a part or more, by row and column from 1, as it counts them.
    """

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return 1 + max(row for row, _ in self.places)

    @property
    def columns(self) -> int:
        """How many columns it has."""
        return 1 + max(column for _, column in self.places)

    @property
    def box(self) -> Box:
        """The smallest box around its cells."""
        return around([*self.places.values()])

    @property
    def pitch(self) -> float:
        """The usual distance of two rows."""
        tops = sorted({row: box.y for (row, _), box in self.places.items()}.values())
        return median(after - before for before, after in pairwise(tops))

    @property
    def first_middle(self) -> float:
        """The height of the middle of its first row."""
        return min(box.center.y for box in self.places.values())

    @property
    def last_middle(self) -> float:
        """The height of the middle of its last row."""
        return max(box.center.y for box in self.places.values())

    def blanks(self) -> Iterator[tuple[Place, Box]]:
        """The cells without a line of text."""
        for place, box in self.places.items():
            if place not in self.lines and place not in self.overrun:
                yield place, box


class TableLayouts(NamedTuple):
    """The tables found, and whether words in a surface may be one, but not plainly."""

    layouts: tuple[TableLayout, ...] = ()
    """Those of the grids, in their order, and those of words."""
    is_unclear: bool = False


def find_layouts(picture: Picture, proposed: SurfaceProposals) -> TableLayouts:
    """The tables in a surface, from its grids and its lines of text."""
    layouts, rest = [], list(proposed.lines)
    for lattice in proposed.lattices:
        layout = _layout_of_grid(picture, lattice, rest)
        taken = {line for lines in layout.lines.values() for line in lines}
        rest = [line for line in rest if line not in taken and not lattice.box.contains(line.center)]
        layouts.append(layout)
    words = find_word_tables(rest)
    cut = _with_cuts(picture, words.tables, rest)
    if cut != rest:
        words = find_word_tables(cut)
    layouts += [_layout_of_words(each) for each in words.tables]
    return TableLayouts(tuple(layouts), words.is_unclear)


# --- grids ------------------------------------------------------------------------------------------------------------


def _layout_of_grid(picture: Picture, lattice: Lattice, lines: Sequence[Box]) -> TableLayout:
    cells = {
        (row - 1, column - 1): Box(x=x, y=y, width=width, height=height)
        for row, column, x, y, width, height in lattice.grid.cells
    }
    places = _without_holes(cells)
    inner = _inner(places)
    inside: defaultdict[Place, list[Box]] = defaultdict(list)
    texts: list[TextInCells] = []
    by_row: defaultdict[int, list[Box]] = defaultdict(list)
    for line in lines:
        if lattice.box.contains(line.center) and (reached := _reached(line, places)):
            by_row[reached[0][0][0]] += _parts(picture, line, reached)
    for row, own in by_row.items():
        strip = {place: box for place, box in places.items() if place[0] == row}
        for text in _whole_lines(picture, strip, own):
            inside[text.start].append(text.line)
            texts.append(text)
    doubtful = find_two_in_one(texts)
    overrun = {
        (text.start[0], column)
        for text in texts
        if text not in doubtful
        for column in range(text.start[1] + 1, text.end[1] + 1)
    }
    for row in by_row:
        strip = {place: box for place, box in places.items() if place[0] == row}
        blank = [place for place in strip if place not in inside and place not in overrun]
        small = [line for place in blank for line in ink_lines(picture, inner[place], with_rules=True)]
        texts += _whole_lines(picture, strip, small)
    cut = frozenset(text.start for text in [*find_cut(texts), *doubtful])
    names = frozenset(text.start for text in [*find_cut(texts, name_columns=True), *doubtful] if text.start[0] == 0)
    known = set(lines)
    other = {
        (text.start[0], column)
        for text in texts
        if text.line not in known and text.start in inside
        for column in range(text.start[1], text.end[1] + 1)
    }
    layout = TableLayout(
        inner,
        dict(inside),
        overrun=frozenset(overrun - inside.keys()),
        cut=cut,
        cut_names=names & cut,
        partly=frozenset((row + 1, column + 1) for row, column in cut | other),
    )
    layout = _with_headings(layout, lines, is_above=False)
    return _with_headings(layout, lines, is_above=True)


def _without_holes(places: dict[Place, Box]) -> dict[Place, Box]:
    """The cells of a grid, with one in each row and column if the rows are straight."""
    rows, columns = _spans(places, 0), _spans(places, 1)
    if any(rows[after][0] < rows[at][1] - _RIM_PX for at, after in pairwise(sorted(rows))):
        return places
    every = {
        (row, column): Box(x=left, y=top, width=right - left, height=bottom - top)
        for row, (top, bottom) in rows.items()
        for column, (left, right) in columns.items()
    }
    return every | {place: box for place, box in places.items() if _is_one_cell(box, every[place])}


def _is_one_cell(box: Box, usual: Box) -> bool:
    """Whether a cell is about as large as others of its row and column, and not several that nothing divides."""
    return box.width <= _LARGER * usual.width and box.height <= _LARGER * usual.height


def _reached(line: Box, places: dict[Place, Box]) -> list[tuple[Place, Box]]:
    """The cells that a line is in, from left to right."""
    y, least = line.center.y, min(_INTO_PX, line.width / 2)
    found = [
        (place, box)
        for place, box in places.items()
        if box.y <= y < box.bottom and min(line.right, box.right) - max(line.x, box.x) > least
    ]
    return sorted(found, key=lambda each: each[1].x)


def _parts(picture: Picture, line: Box, reached: Sequence[tuple[Place, Box]]) -> list[Box]:
    """The line, cut at the borders of the cells that it is in, where there is a gap."""
    parts, rest = [], line
    for _, box in reached[:-1]:
        cut = cut_line(picture, rest, box.right - _BORDER_PX, box.right + _BORDER_PX)
        if cut is not None:
            parts.append(cut[0])
            rest = cut[1]
    return [*parts, rest]


def _whole_lines(picture: Picture, strip: dict[Place, Box], lines: Sequence[Box]) -> list[TextInCells]:
    """The lines of one row of a grid, with the letters that touch its borders, which were taken for parts of these."""
    cells = around([*strip.values()])
    with_rules = Box(x=cells.x - _RIM_PX, y=cells.y, width=cells.width + 2 * _RIM_PX, height=cells.height)
    whole = picture.page.intersection(with_rules)
    if whole is None or not lines:
        return []
    pixels = view_pixels(picture, whole)
    scale = pixels.shape[1] / whole.width
    edges = {round((edge - whole.x) * scale) for box in strip.values() for edge in (box.x, box.right)}
    ink, rim = np.zeros(pixels.shape[:2], bool), round(_RIM_PX * scale)
    for box in strip.values():
        left, right = (round((each - whole.x) * scale) for each in (box.x, box.right))
        left, right = max(0, left), min(right, pixels.shape[1])
        if right > left:
            ground = _ground(pixels[:, left:right])
            left, right = (0 if left <= rim else left), (pixels.shape[1] if right >= pixels.shape[1] - rim else right)
            ink[:, left:right] = _differ(pixels[:, left:right], ground)
    near = np.zeros(pixels.shape[1], bool)
    for edge in edges:
        near[max(0, edge - rim) : edge + rim] = True
    # The stem of a letter is shorter than a row.
    is_rule = (ink[rim : len(ink) - rim].mean(axis=0) >= _RULE) & near if len(ink) > 2 * rim else near
    on_rules = _ink_on(pixels, is_rule, rim)
    grown: list[TextInCells] = []
    for line in sorted(lines, key=lambda each: each.x):
        if any(line.share_in(each.line) > _MOST_OF for each in grown):
            continue
        top, bottom = (round((each - whole.y) * scale) for each in (line.y, line.bottom))
        start, end = (round((each - whole.x) * scale) for each in (line.x, line.right))
        band = slice(max(0, top), bottom)
        has_ink = ink[band].any(axis=0) & ~is_rule
        most, crossing = max(_WORD_GAP, _WORD_GAP_OF * line.height) * scale, _CROSSING_PX * scale
        first, last = _extent(has_ink, start, end, edges, most, crossing)
        x, right = min(line.x, whole.x + first / scale), max(line.right, whole.x + last / scale)
        is_longer = x < line.x - _GROWN_PX or right > line.right + _GROWN_PX
        box = Box(x=x, y=line.y, width=right - x, height=line.height) if is_longer else line
        reached = _reached(box, strip)
        if not reached:
            continue
        (begin, from_box), (end_in, to_box) = reached[0], reached[-1]
        inked = np.flatnonzero(has_ink[max(0, first) : last]) + max(0, first)
        if len(inked):
            first, last = int(inked[0]), int(inked[-1]) + 1
        left = _rule_columns(is_rule, round((from_box.x - whole.x) * scale), rim)
        right = _rule_columns(is_rule, round((to_box.right - whole.x) * scale), rim)
        touches: set[Side] = {"left"} if on_rules[band, left.start : left.stop].any() else set()
        touches |= {"right"} if on_rules[band, right.start : right.stop].any() else set()
        room = (first - left.stop) / scale, (right.start - last) / scale
        grown.append(TextInCells(box, begin, end_in, *room, touches=frozenset(touches)))
    return grown


def _rule_columns(is_rule: Bools, edge: int, rim: int) -> range:
    """The columns of pixels of the rule at an edge between cells; none, but in their place, if there is no rule."""
    near = np.flatnonzero(is_rule[max(0, edge - rim) : edge + rim]) + max(0, edge - rim)
    return range(int(near[0]), int(near[-1]) + 1) if len(near) else range(edge, edge)


def _ink_on(pixels: np.ndarray, is_rule: Bools, rim: int) -> Bools:
    """Which pixels of rules differ from the rest of theirs, as where a part of a letter lies on one."""
    found = np.zeros(pixels.shape[:2], bool)
    rules = pixels[:, is_rule].astype(np.int16)
    if rules.size and len(rules) > 2 * rim:
        usual = np.median(rules[rim : len(rules) - rim], axis=0)
        found[:, is_rule] = np.abs(rules - usual).max(axis=2) >= _SLIVER
    return found


def _extent(has_ink: Bools, start: int, end: int, edges: Set[int], most: float, crossing: float) -> tuple[int, int]:
    """Where the ink of a text begins and ends whose middle part is known."""
    columns = np.flatnonzero(has_ink)
    first, last = start, end
    for at in columns[columns >= end].tolist():
        if at - last > (crossing if any(last - 1 <= edge <= at for edge in edges) else most):
            break
        last = at + 1
    for at in columns[columns < start][::-1].tolist():
        if first - at - 1 > (crossing if any(at < edge <= first + 1 for edge in edges) else most):
            break
        first = at
    return first, last


def _inner(places: dict[Place, Box]) -> dict[Place, Box]:
    """The cells without their rims."""
    return {place: _inset(box) for place, box in places.items()}


def _inset(box: Box) -> Box:
    by_x, by_y = min(_RIM_PX, box.width / 4), min(_RIM_PX, box.height / 4)
    return Box(x=box.x + by_x, y=box.y + by_y, width=box.width - 2 * by_x, height=box.height - 2 * by_y)


def _with_headings(layout: TableLayout, lines: Sequence[Box], *, is_above: bool) -> TableLayout:
    """The table with the texts above its columns, or left of its rows, if most of these have one and none has two."""
    whole, taken = layout.box, {line for each in layout.lines.values() for line in each}
    high = median(box.height for box in layout.places.values()) + 2 * _RIM_PX
    spans = _spans(layout.places, 1 if is_above else 0)
    found: defaultdict[int, list[Box]] = defaultdict(list)
    for line in lines:
        if line in taken:
            continue
        middle = line.center
        gap = whole.y - line.bottom if is_above else whole.x - line.right
        along = middle.x if is_above else middle.y
        at = next((at for at, (start, end) in spans.items() if start - _RIM_PX <= along < end + _RIM_PX), None)
        if at is not None and -_RIM_PX <= gap <= _BESIDE * high:
            found[at].append(line)
    if len(found) <= _MOST_OF * len(spans) or any(len(each) > 1 for each in found.values()):
        return layout
    every = around([line for each in found.values() for line in each])
    places = {(row + is_above, column + (not is_above)): box for (row, column), box in layout.places.items()}
    inside = {(row + is_above, column + (not is_above)): each for (row, column), each in layout.lines.items()}
    overrun, cut, cut_names = (
        frozenset((row + is_above, column + (not is_above)) for row, column in each)
        for each in (layout.overrun, layout.cut, layout.cut_names)
    )
    for at, (start, end) in spans.items():
        if is_above:
            places[0, at] = Box(x=start, y=every.y, width=end - start, height=every.height)
        else:
            places[at, 0] = Box(x=every.x, y=start, width=every.width, height=end - start)
        if at in found:
            inside[(0, at) if is_above else (at, 0)] = found[at]
    return replace(
        layout, places=places, lines=inside, has_head=is_above, overrun=overrun, cut=cut, cut_names=cut_names
    )


def _spans(places: dict[Place, Box], axis: int) -> dict[int, tuple[float, float]]:
    """Where each row (axis 0) or column (axis 1) begins and ends."""
    boxes: defaultdict[int, list[Box]] = defaultdict(list)
    for place, box in places.items():
        boxes[place[axis]].append(box)
    if axis:
        return {at: (median(box.x for box in own), median(box.right for box in own)) for at, own in boxes.items()}
    return {at: (median(box.y for box in own), median(box.bottom for box in own)) for at, own in boxes.items()}


# --- words ------------------------------------------------------------------------------------------------------------


def _with_cuts(picture: Picture, tables: Sequence[WordTable], lines: Sequence[Box]) -> list[Box]:
    """The lines, those cut in two that are one text and the next that is in line with its column."""
    cut: dict[Box, tuple[Box, Box]] = {}
    for table in tables:
        for line, column, after in table.crossings():
            parts = cut_line(picture, line, column.core[1], max(after.core[0], line.x + 1))
            if parts is not None and after.is_in_line(parts[1]):
                cut[line] = parts
    return [part for line in lines for part in cut.get(line, (line,))]


def _layout_of_words(table: WordTable) -> TableLayout:
    places: dict[Place, Box] = {}
    inside: dict[Place, list[Box]] = {}
    overrun: set[Place] = set()
    for row, level in enumerate(table.levels):
        for at, column in enumerate(table.columns):
            half = _BAND * table.high
            places[row, at] = Box(x=column.left, y=level - half, width=column.right - column.left, height=2 * half)
            if column.texts.get(row):
                inside[row, at] = sorted(column.texts[row], key=lambda box: (box.y, box.x))
    for line, _, after in table.crossings():
        at, row = table.columns.index(after), table.row_of(line)
        overrun.add((row, at))
    return TableLayout(places, inside, is_ruled=False, overrun=frozenset(overrun - inside.keys()))


# --- pixels -----------------------------------------------------------------------------------------------------------


def cut_line(picture: Picture, line: Box, low: float, high: float) -> tuple[Box, Box] | None:
    """The two parts of a line with the widest gap between them that begins or ends between two places, if any."""
    pixels = view_pixels(picture, line)
    if not pixels.size:
        return None
    scale = pixels.shape[1] / line.width
    share = _ink(pixels).mean(axis=0)
    blank = np.flatnonzero((share == 0) | (share >= _RULE))
    runs = [run for run in np.split(blank, np.flatnonzero(np.diff(blank) > 1) + 1) if len(run)]
    gaps = [
        (line.x + run[0] / scale, line.x + (run[-1] + 1) / scale)
        for run in runs
        if run[0] > 0 and run[-1] < pixels.shape[1] - 1
    ]
    gaps = [(start, end) for start, end in gaps if end >= low and start <= high and end - start >= _LEAST_GAP_PX]
    if not gaps:
        return None
    start, end = max(gaps, key=lambda gap: gap[1] - gap[0])
    return (
        Box(x=line.x, y=line.y, width=start - line.x, height=line.height),
        Box(x=end, y=line.y, width=line.right - end, height=line.height),
    )


def ink_lines(picture: Picture, cell: Box, *, with_rules: bool) -> list[Box]:
    """What is drawn in a cell, as page boxes one above the other; empty if nothing is."""
    pixels = view_pixels(picture, cell)
    if not pixels.size or int(pixels.max()) - int(pixels.min()) < _CONTRAST:
        return []
    ink = _ink(pixels)
    if not with_rules:
        ink[ink.mean(axis=1) >= _RULE] = False
        ink[:, ink.mean(axis=0) >= _RULE] = False
    if ink.sum() < _LEAST_PIXELS:
        return []
    scale = pixels.shape[1] / cell.width
    rows = np.flatnonzero(ink.any(axis=1))
    found = []
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 2 * scale) + 1):
        columns = np.flatnonzero(ink[run[0] : run[-1] + 1].any(axis=0))
        found.append(
            Box(
                x=cell.x + columns[0] / scale,
                y=cell.y + run[0] / scale,
                width=(columns[-1] + 1 - columns[0]) / scale,
                height=(run[-1] + 1 - run[0]) / scale,
            )
        )
    return found


def _ink(pixels: np.ndarray) -> Bools:
    """Which pixels differ from the ground."""
    return _differ(pixels, _ground(pixels))


def _ground(pixels: np.ndarray) -> np.ndarray:
    return np.asarray(np.median(pixels.reshape(-1, 3), axis=0).astype(np.int16))


def _differ(pixels: np.ndarray, ground: np.ndarray) -> Bools:
    return np.asarray(np.abs(pixels.astype(np.int16) - ground).max(axis=2) >= _CONTRAST)


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box around all of them."""
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    return Box(x=x, y=y, width=max(box.right for box in boxes) - x, height=max(box.bottom for box in boxes) - y)

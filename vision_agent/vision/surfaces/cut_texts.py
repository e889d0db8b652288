"""Finds the texts in cells that a side of their cell may cut off. Knows how near to it their ink is, but no pixels.

A number without its first digit is another number, so whatever is not plainly whole counts as cut. Texts that are in
line with others of their column, at their left or right, show how much room there is beside a whole text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Literal

from vision_agent.geometry import Box

Side = Literal["left", "right"]
_SIDES: tuple[Side, Side] = ("left", "right")

_LEAST_PX = 2.0
"""The least room, in CSS pixels, between a side and a text that it does not cut off."""
_LETTERS = 0.33
"""The largest gap between digits or separators side by side, in sizes of the font."""
_MOST = 0.45
"""The most room that a text must keep because others keep more."""
_SIZE_OF = 1.3
"""The size of the font, in times the height of a line of digits."""
_IN_LINE = 0.14
"""How far the ink of texts in line may differ, in sizes of the font: a 1 has more room beside it than a W."""
_IN_LINE_PX = 1.5
_LESS_PX = 1.25
"""How much nearer than the others a text may be that is in line with them."""
_WIDTHS_PX = 3.0
"""How much the widths of texts must differ that are in line on purpose, and not because the same is cut off."""
_FEWEST, _MOST_OF = 3, 0.5
"""The fewest texts in line, and their share of the column."""


@dataclass(frozen=True)
class TextInCells:
    """A line of text, the cells in which it begins and ends, and the room beside it there, in CSS pixels."""

    line: Box
    start: tuple[int, int]
    end: tuple[int, int]
    left: float
    right: float
    touches: frozenset[Side] = frozenset()
    """The sides of a cell on whose rule there is ink, level with it."""

    def room(self, side: Side) -> float:
        """The room between the text and a side of its cell."""
        return self.left if side == "left" else self.right

    def column(self, side: Side) -> int:
        """The column to whose side this is."""
        return self.start[1] if side == "left" else self.end[1]


def find_cut(texts: Sequence[TextInCells], *, name_columns: bool = False) -> list[TextInCells]:
    """Those that may go on behind a side of their cell.

    `name_columns`: whether the first row does; a column is often just as wide as its name.
    """
    if not texts:
        return []
    size, lines = _font_size(texts), _in_line(texts)
    known = [room for room in lines.values() if room is not None]
    beside = min(known) if known else 0.0
    found = []
    for text in texts:
        for side in _SIDES:
            room, least = text.room(side), lines[side, text.column(side)]
            if least is None and _is_in_line_elsewhere(
                side, text, texts, lines, is_name=name_columns and text.start[0] == 0
            ):
                least = room
            is_near = room < (_LEAST_PX if side not in text.touches else _LETTERS * size)
            if least is not None and room >= least - _LESS_PX:
                is_cut = is_near
            else:
                needed = max(_LETTERS * size, min((least or beside) - _LESS_PX / 2, _MOST * size))
                is_cut = is_near or room < needed
            if is_cut:
                found.append(text)
                break
    return found


def find_two_in_one(texts: Sequence[TextInCells]) -> list[TextInCells]:
    """Those that reach over a border and end in line with the texts of the cell there, as two texts that touch do."""
    if not texts:
        return []
    lines, apart = _in_line(texts), _tolerance(texts)
    found = []
    for text in texts:
        least = lines["right", text.end[1]]
        if text.start != text.end and least is not None and least - _LESS_PX <= text.right <= least + apart:
            found.append(text)
    return found


def _font_size(texts: Sequence[TextInCells]) -> float:
    heights = [text.line.height for text in texts]
    return _SIZE_OF * (quantiles(heights, n=4)[0] if len(heights) > 1 else heights[0])


def _tolerance(texts: Sequence[TextInCells]) -> float:
    return max(_IN_LINE_PX, _IN_LINE * _font_size(texts))


def _in_line(texts: Sequence[TextInCells]) -> dict[tuple[Side, int], float | None]:
    """The least room beside the texts of each column that are in line at a side; None where they are not."""
    columns: defaultdict[tuple[Side, int], list[TextInCells]] = defaultdict(list)
    for text in texts:
        for side in _SIDES:
            columns[side, text.column(side)].append(text)
    apart = _tolerance(texts)
    return {(side, at): _least_room(own, side, apart) for (side, at), own in columns.items()}


def _least_room(texts: Sequence[TextInCells], side: Side, apart: float) -> float | None:
    best: list[TextInCells] = []
    for text in texts:
        least = text.room(side)
        level = [each for each in texts if least <= each.room(side) <= least + apart]
        if least >= _LEAST_PX and len(level) > len(best):
            best = level
    widths = [each.line.width for each in best]
    if len(best) < max(_FEWEST, _MOST_OF * len(texts)) or max(widths) - min(widths) < _WIDTHS_PX:
        return None
    return min(each.room(side) for each in best)


def _is_in_line_elsewhere(
    side: Side,
    text: TextInCells,
    texts: Sequence[TextInCells],
    lines: dict[tuple[Side, int], float | None],
    *,
    is_name: bool,
) -> bool:
    """Whether a text keeps the room that texts in line in another column have at this side, and not by chance.

    That is so if it names a column, if most of its own column do, all as wide, or if it is not in line with its column
    at the other side, as a heading above numbers.
    """
    room, apart = text.room(side), _tolerance(texts)
    other: Side = "right" if side == "left" else "left"
    others = [least for (where, _), least in lines.items() if where == side and least is not None]
    if not any(least - _LESS_PX <= room <= least + apart for least in others):
        return False
    if is_name:
        return True
    own = [each.room(side) for each in texts if each.column(side) == text.column(side)]
    if sum(abs(each - room) <= apart for each in own) >= max(_FEWEST, _MOST_OF * len(own)):
        return True
    opposite = [each.room(other) for each in texts if each.column(other) == text.column(other)]
    usual = median(opposite)
    are_level = sum(abs(each - usual) <= apart for each in opposite) >= max(_FEWEST, _MOST_OF * len(opposite))
    return are_level and text.room(other) > usual + 2 * apart

"""Places row and column labels (R1, R2, … and C1, C2, …) along the edges of a grid, where they cover least.

They are not marks: they are grey, beside the cells or in the corners of the outermost ones. This module knows only
pixels and boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Literal, NamedTuple

import numpy as np

from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.labels.ink import Ink
from vision_agent.vision.picture import Picture
from vision_agent.vision.rects import CONTAINED, Ints, Rect, common_area, round_rect, round_rects
from vision_agent.vision.style import Style

COLOUR = "#e9e9e9"

_BESIDE = (3, 16, 28, 44)
"""The candidate distances in pixels between a label and its cell; larger ones for grids with their own headings."""
_PER_PIXEL = 0.002
_IN_CELLS = 0.1
_WITHIN = 2
_STEPS = (1, 2, 5, 10, 20, 50)
"""Label every row, every second, every fifth …, whichever has room."""
_ON_OTHER = 3.0
"""The cost of covering another mark, relative to ink."""
_ON_LABEL = 6.0

_Side = Literal["before", "after"]


class Rim(NamedTuple):
    """One row or column label, in picture pixels."""

    text: str
    rect: Rect


class _Along(NamedTuple):
    """The outermost cells on one side by row or column number, and the letter of their labels."""

    sign: Literal["R", "C"]
    side: _Side
    cells: dict[int, Rect]


class _RimLine(NamedTuple):
    """The labels of one side at this distance from the cells; a gap of None is inside them."""

    gap: int | None
    rims: list[Rim]


def place_grid_labels(marks: Sequence[Mark], picture: Picture, labels: Sequence[Box], style: Style) -> list[Rim]:
    """The row and column labels of all grids among the marks; `labels` are the boxes of the marks' own labels."""
    grids = [mark for mark in marks if mark.grid is not None]
    if not grids:
        return []
    taken = round_rects(labels).reshape(-1, 4)
    ink = Ink.of(picture)
    boxes = round_rects([picture.map.box_to_picture(mark.box) for mark in marks]).reshape(-1, 4)
    found: list[Rim] = []
    for mark in grids:
        own = picture.map.box_to_picture(mark.box)
        is_other = [
            other is not mark and own.share_in(box) < CONTAINED
            for box, other in zip(_as_boxes(boxes), marks, strict=True)
        ]
        others = boxes[is_other]
        for sign in ("R", "C"):
            options = [_lay_out(along, gap, style) for along in _sides(mark, picture, sign) for gap in (None, *_BESIDE)]
            best = min(options, key=lambda option: _cost(option, ink, others, taken, picture))
            kept = [rim for rim in best.rims if _is_free(rim.rect, taken, picture)]
            found += kept
            taken = np.concatenate([taken, np.array([rim.rect for rim in kept], np.int32).reshape(-1, 4)])
    return found


def grid_lines(mark: Mark, picture: Picture) -> list[Rect]:
    """The lines between the cells of a grid laid over the page, which nothing else shows."""
    assert mark.grid is not None
    rects = [
        round_rect(picture.map.box_to_picture(Box(x=x, y=y, width=w, height=h))) for _, _, x, y, w, h in mark.grid.cells
    ]
    left, top = min(rect[0] for rect in rects), min(rect[1] for rect in rects)
    right, bottom = max(rect[2] for rect in rects), max(rect[3] for rect in rects)
    across = [(left, y, right, y + 1) for y in sorted({rect[1] for rect in rects} - {top})]
    return across + [(x, top, x + 1, bottom) for x in sorted({rect[0] for rect in rects} - {left})]


def _sides(mark: Mark, picture: Picture, sign: Literal["R", "C"]) -> Iterator[_Along]:
    assert mark.grid is not None
    lined: dict[int, list[tuple[int, Rect]]] = {}
    for row, column, x, y, width, height in mark.grid.cells:
        rect = round_rect(picture.map.box_to_picture(Box(x=x, y=y, width=width, height=height)))
        line, at = (row, column) if sign == "R" else (column, row)
        lined.setdefault(line, []).append((at, rect))
    yield _Along(sign, "before", {line: min(cells)[1] for line, cells in lined.items()})
    yield _Along(sign, "after", {line: max(cells)[1] for line, cells in lined.items()})


def _lay_out(along: _Along, gap: int | None, style: Style) -> _RimLine:
    high = style.text_size("R0", "narrow")[1] + 2
    wide = style.text_size(f"{along.sign}{max(along.cells)}", "narrow")[0] + 2 * style.tight_pad_x
    room = median((cell[3] - cell[1]) if along.sign == "R" else (cell[2] - cell[0]) for cell in along.cells.values())
    need = high if along.sign == "R" else wide
    step = next((step for step in _STEPS if step * room > need), _STEPS[-1])
    placed = []
    for line, cell in along.cells.items():
        if line == 1 or line % step == 0:
            text = f"{along.sign}{line}"
            width = style.text_size(text, "narrow")[0] + 2 * style.tight_pad_x
            placed.append(Rim(text, _spot(along, cell, gap, width, high)))
    return _RimLine(gap, placed)


def _spot(along: _Along, cell: Rect, gap: int | None, wide: int, high: int) -> Rect:
    left, top, right, bottom = cell
    is_before = along.side == "before"
    if along.sign == "R":
        y = (top + bottom - high) // 2
        if gap is None:
            x = left + _WITHIN if is_before else right - _WITHIN - wide
            y = bottom - _WITHIN - high if bottom - top >= 2 * high else y
        else:
            x = left - gap - wide if is_before else right + gap
    else:
        x = (left + right - wide) // 2
        if gap is None:
            y = top + _WITHIN if is_before else bottom - _WITHIN - high
            x = right - _WITHIN - wide
        else:
            y = top - gap - high if is_before else bottom + gap
    return x, y, x + wide, y + high


def _cost(option: _RimLine, ink: Ink, others: Ints, taken: Ints, picture: Picture) -> float:
    """The cost of a side: text and marks under its labels, and labels outside the picture."""
    at = np.array([rim.rect for rim in option.rims], np.int32)
    is_out = (at[:, :2] < 0).any(axis=1) | (at[:, 2:] > (picture.size.width, picture.size.height)).any(axis=1)
    shown = at[~is_out]
    on_others = (common_area(shown[:, None], others[None]) > 0).any(axis=1)
    on_labels = (common_area(shown[:, None], taken[None]) > 0).any(axis=1)
    each = ink.share(shown) + _ON_OTHER * on_others + _ON_LABEL * on_labels
    return float(each.sum() + 2 * _ON_LABEL * is_out.sum()) / len(at) + (
        _IN_CELLS if option.gap is None else _PER_PIXEL * option.gap
    )


def _is_free(rect: Rect, taken: Ints, picture: Picture) -> bool:
    if rect[0] < 0 or rect[1] < 0 or rect[2] > picture.size.width or rect[3] > picture.size.height:
        return False
    return not (common_area(np.array([rect], np.int32)[:, None], taken[None]) > 0).any()


def _as_boxes(rects: Ints) -> list[Box]:
    return [Box(x=left, y=top, width=right - left, height=bottom - top) for left, top, right, bottom in rects.tolist()]

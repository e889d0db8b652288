"""Finds grids, that is similar cells in rows and columns, among rectangles: boards, sheets, calendars, seats.

Rows may be bent, as in a concert hall, and places may be empty. This module knows only rectangles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision_agent.vision.rects import Bools, Group, Ints, connected_groups, group_medians

_ALIKE = 0.85
"""The least ratio between the sizes of two similar cells, in width and in height."""
_TOUCH_PX = 5
"""The largest gap between cells that share a border, whatever their sizes: the columns of a sheet vary in width."""
_FLUSH_PX = 2
"""The largest difference between the ends of such cells."""
_GAP = 1.9
"""The largest gap to the next cell, in times the cell's size, as across an aisle."""
_BENT = 0.4
"""How far the next cell of a row may be higher or lower, as a share of the cell's size."""
_LEAST = 17
"""The fewest cells of a grid; fewer are better marked one by one."""
_EVEN = 0.85
"""The share of cells that must be similar: cells at the edge of the visible part are cut."""
_FULL = 0.5
"""The share of places that must have a cell."""


@dataclass(frozen=True)
class Cells:
    """The cells of one grid: the indexes of their rectangles, and the row and column of each, from 0."""

    members: Group
    rows: Group
    columns: Group

    def shift(self, many: int) -> Cells:
        """The same cells when `many` other rectangles precede theirs."""
        return Cells(self.members + many, self.rows, self.columns)


def find_cells(rects: Ints) -> list[Cells]:
    """The grids among rectangles."""
    found: list[Cells] = []
    if len(rects) < _LEAST:
        return found
    beside, below = _next_cells(rects, 0), _next_cells(rects, 1)
    one, other = np.concatenate([beside, below], axis=1)
    for members in connected_groups(len(rects), one, other):
        if len(members) < _LEAST:
            continue
        cells = _arrange(rects, members, beside, below)
        if cells is not None:
            found.append(cells)
    return found


def _next_cells(rects: Ints, axis: int) -> Group:
    """Two rows: cells, and for each the nearest cell to the right (axis 0) or below (axis 1)."""
    low, high = rects[:, 1 - axis], rects[:, 3 - axis]
    long, across, middle = rects[:, axis + 2] - rects[:, axis], high - low, ((low + high) / 2).astype(np.float32)
    gaps = np.subtract.outer(rects[:, axis + 2], rects[:, axis])  # negative if the other cell comes after
    is_near = (gaps <= _FLUSH_PX) & (gaps >= -np.maximum(_GAP * long, _TOUCH_PX)[:, None])
    is_near &= np.abs(np.subtract.outer(middle, middle)) <= np.maximum(_BENT * across, _FLUSH_PX)[:, None]
    np.fill_diagonal(is_near, val=False)
    # A few hundred of thousands of pairs are left.
    one, other = np.nonzero(is_near)
    gap = -gaps[one, other]
    fits = _are_alike(long[one], long[other]) & _are_alike(across[one], across[other])
    fits &= (np.abs(middle[one] - middle[other]) <= _BENT * across[one]) & (gap <= _GAP * long[one])
    is_flush = np.maximum(np.abs(low[one] - low[other]), np.abs(high[one] - high[other])) <= _FLUSH_PX
    fits |= is_flush & (gap <= _TOUCH_PX)
    one, other, gap = one[fits], other[fits], gap[fits]
    order = np.lexsort((gap, one))
    first, at = np.unique(one[order], return_index=True)
    return np.stack([first, other[order][at]])


def _are_alike(one: Ints, other: Ints) -> Bools:
    alike: Bools = np.minimum(one, other) >= _ALIKE * np.maximum(one, other)
    return alike


def _arrange(rects: Ints, members: Group, beside: Group, below: Group) -> Cells | None:
    """The rows (chains from left to right) and columns (chains downwards) of the members; None if they form no grid."""
    rows = _ranks(rects, members, beside, 1)
    columns = _ranks(rects, members, below, 0)
    many_rows, many_columns = int(rows.max()) + 1, int(columns.max()) + 1
    if min(many_rows, many_columns) < 2 or len(members) < _FULL * many_rows * many_columns:
        return None
    if len(np.unique(rows * many_columns + columns)) < len(members):
        return None
    wide, high = (rects[members, 2:] - rects[members, :2]).T
    is_even = _are_typical(wide, columns) & _are_typical(high, rows)
    return Cells(members, rows, columns) if is_even.mean() >= _EVEN else None


def _are_typical(sizes: Ints, groups: Group) -> Bools:
    """Whether each size is similar to the median of its row or column."""
    middle = group_medians(sizes, groups)[groups]
    return _are_alike(sizes, middle)


def _ranks(rects: Ints, members: Group, pairs: Group, axis: int) -> Group:
    """The number of each member's chain, from 0; level chains, as on both sides of an aisle, share a number."""
    position = np.full(len(rects), -1)
    position[members] = np.arange(len(members))
    both = position[pairs]
    one, other = both[:, (both >= 0).all(axis=0)]
    middles = (rects[members, axis] + rects[members, axis + 2]) / 2
    size = np.sort(rects[members, axis + 2] - rects[members, axis])[len(members) // 2]
    chains = connected_groups(len(members), one, other)
    many = np.array([len(chain) for chain in chains])
    ordered = np.concatenate(chains)
    where = np.add.reduceat(middles[ordered], np.cumsum(many) - many) / many
    order = np.argsort(where, kind="stable")
    rank = np.empty(len(chains), np.int64)
    level = where[order]
    rank[order[0]] = 0
    rank[order[1:]] = np.cumsum(level[1:] - level[:-1] > size / 2)
    ranks = np.empty(len(members), np.int64)
    ranks[ordered] = np.repeat(rank, many)
    return ranks

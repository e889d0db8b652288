"""Alike cells in rows and columns among rectangles: boards, sheets, calendars, seats.

Rows may be bent, as those of a hall are, and places may be empty. Knows rectangles only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision_agent.vision.rects import Bools, Floats, Group, Ints, connected, middle_of_each

_ALIKE = 0.85
"""How much of the larger the smaller of two cells measures at least, each way."""
_TOUCH_PX = 5
"""Between cells that share a border, whatever their sizes: the columns of a sheet are of many widths."""
_FLUSH_PX = 2
"""By which the ends of such cells may differ."""
_GAP = 1.9
"""Times its own size to the next cell: over an aisle."""
_BENT = 0.4
"""Of its size that the next cell of a row may stand higher or lower."""
_LEAST = 17
"""Cells; fewer are better marked one by one."""
_EVEN = 0.85
"""The share of cells that must be alike: at the rim of what shows they are cut."""
_FULL = 0.5
"""The share of places that must have a cell."""


@dataclass(frozen=True)
class Cells:
    """One lattice: which rectangles, and each one's row and column, from 0."""

    members: Group
    rows: Group
    columns: Group

    def after(self, many: int) -> Cells:
        """The same, where so many other rectangles come first."""
        return Cells(self.members + many, self.rows, self.columns)


def cells_in(rects: Ints) -> list[Cells]:
    """The lattices among rectangles."""
    found: list[Cells] = []
    if len(rects) < _LEAST:
        return found
    beside, below = _next_to(rects, 0), _next_to(rects, 1)
    one, other = np.concatenate([beside, below], axis=1)
    for members in connected(len(rects), one, other):
        if len(members) < _LEAST:
            continue
        cells = _placed(rects, members, beside, below)
        if cells is not None:
            found.append(cells)
    return found


def _next_to(rects: Ints, axis: int) -> Group:
    """Each cell and the nearest one after it, to the right (0) or below (1), in two rows."""
    start, end = rects[:, axis].astype(np.float32), rects[:, axis + 2].astype(np.float32)
    low, high = rects[:, 1 - axis].astype(np.float32), rects[:, 3 - axis].astype(np.float32)
    long, across = end - start, high - low
    gap = start[None, :] - end[:, None]
    is_alike = (_ratio(long) >= _ALIKE) & (_ratio(across) >= _ALIKE)
    middle = (low + high) / 2
    is_level = np.abs(middle[:, None] - middle[None, :]) <= _BENT * across[:, None]
    is_flush = (np.abs(low[:, None] - low[None, :]) <= _FLUSH_PX) & (np.abs(high[:, None] - high[None, :]) <= _FLUSH_PX)
    fits = is_alike & is_level & (gap <= _GAP * long[:, None]) | is_flush & (gap <= _TOUCH_PX)
    fits &= gap >= -_FLUSH_PX
    np.fill_diagonal(fits, val=False)
    far = np.where(fits, gap, np.inf)
    nearest = far.argmin(axis=1)
    has = np.flatnonzero(np.isfinite(far[np.arange(len(rects)), nearest]))
    return np.stack([has, nearest[has]])


def _ratio(sizes: Floats) -> Floats:
    ratio = np.minimum.outer(sizes, sizes) / np.maximum(np.maximum.outer(sizes, sizes), 1)
    return ratio.astype(np.float32)


def _placed(rects: Ints, members: Group, beside: Group, below: Group) -> Cells | None:
    """Rows are chains from left to right, columns chains downwards; None where two cells would share a place."""
    rows = _ranks(rects, members, beside, 1)
    columns = _ranks(rects, members, below, 0)
    many_rows, many_columns = int(rows.max()) + 1, int(columns.max()) + 1
    if min(many_rows, many_columns) < 2 or len(members) < _FULL * many_rows * many_columns:
        return None
    if len(np.unique(rows * many_columns + columns)) < len(members):
        return None
    wide, high = (rects[members, 2:] - rects[members, :2]).T
    is_even = _like_the_others(wide, columns) & _like_the_others(high, rows)
    return Cells(members, rows, columns) if is_even.mean() >= _EVEN else None


def _like_the_others(sizes: Ints, groups: Group) -> Bools:
    """Whether each is about as large as the middle one of its row or column."""
    middle = middle_of_each(sizes, groups)[groups]
    alike: Bools = np.minimum(sizes, middle) >= _ALIKE * np.maximum(sizes, middle)
    return alike


def _ranks(rects: Ints, members: Group, pairs: Group, axis: int) -> Group:
    """By chain: the first is 0. Chains that stand level, such as those on both sides of an aisle, are one."""
    position = np.full(len(rects), -1)
    position[members] = np.arange(len(members))
    both = position[pairs]
    one, other = both[:, (both >= 0).all(axis=0)]
    middles = (rects[members, axis] + rects[members, axis + 2]) / 2
    size = float(np.median(rects[members, axis + 2] - rects[members, axis]))
    chains = connected(len(members), one, other)
    ranks = np.zeros(len(members), np.int64)
    level, rank = -np.inf, -1
    for chain in sorted(chains, key=lambda chain: float(middles[chain].mean())):
        here = float(middles[chain].mean())
        if here - level > size / 2:
            rank += 1
        level = here
        ranks[chain] = rank
    return ranks

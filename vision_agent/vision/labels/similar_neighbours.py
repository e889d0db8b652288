"""Groups of similar neighbours (rows, columns and grids of targets), whose labels should stand alike.

It finds the groups, and the place that is best for one: the same for all, one for each column or row, or two in turns.
This module knows costs, but neither ink nor the places that are taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vision_agent.vision.labels.candidate_places import ABOVE_AND_BELOW, Candidates
from vision_agent.vision.labels.placement_cost import Near, PlacementCost
from vision_agent.vision.rects import Bools, Floats, Group, Ints, common_area, connected_groups

_ROW_GAP_PX = 40
MISFIT = 3.0
"""The most that a place which does not suit one member costs its group, and the cost of two labels that overlap."""
_MIXED = 0.5


class GroupShapes(NamedTuple):
    """How the members of each group stand."""

    is_even: Bools
    """Which groups have members of one width."""
    has_columns: Bools
    """Which groups have more than one column and enough members for a place in each."""
    has_rows: Bools
    """The same of rows."""
    is_row: Bools
    """Which groups are one row, long enough for places in turns."""


class Groups(NamedTuple):
    """Groups of similar neighbours, the largest first, and what is known of each without its costs."""

    marks: Group
    """The members of all groups, one group after the other."""
    starts: Group
    """Where each group begins in `marks`."""
    sizes: Group
    clashes: Bools
    """Whether each mark's label at each relative place would overlap that of the previous mark in its group."""
    shapes: GroupShapes

    def without(self, placed: Bools) -> Groups:
        """Those groups that have a mark that is not placed."""
        if not placed.any() or not len(self.starts):
            return self
        is_open = np.logical_or.reduceat(~placed[self.marks], self.starts)
        sizes = self.sizes[is_open]
        return Groups(
            self.marks[np.repeat(is_open, self.sizes)],
            np.cumsum(sizes) - sizes,
            sizes,
            self.clashes,
            GroupShapes(*(each[is_open] for each in self.shapes)),
        )


def find_groups(ground: PlacementCost, candidates: Candidates) -> Groups:
    """Rows, columns and grids of similar targets, the largest first."""
    groups = _similar_neighbours(ground)
    sizes = np.array([len(group) for group in groups], np.int64)
    marks = np.concatenate([np.zeros(0, np.int64), *groups])
    starts = np.cumsum(sizes) - sizes
    clashes = _clashes(marks, np.repeat(np.arange(len(groups)), sizes), candidates)
    return Groups(marks, starts, sizes, clashes, shapes_of(ground.rects[marks], starts, sizes))


def _evenly_spaced(left: Ints, near: Near, in_row: Bools) -> Bools:
    """Which pairs of neighbours in a row are as far apart as one of them is from its other neighbour, as in a menu."""
    apart, is_first = near.apart, left[near.one] <= left[near.other]
    first, second = np.where(is_first, near.one, near.other), np.where(is_first, near.other, near.one)
    to_left, to_right = np.full((2, len(left)), np.iinfo(np.int32).max // 2)
    np.minimum.at(to_right, first[in_row], apart[in_row])
    np.minimum.at(to_left, second[in_row], apart[in_row])
    is_next = (apart == to_right[first]) & (apart == to_left[second])
    is_even: Bools = is_next & ((np.abs(to_left[first] - apart) <= 1) | (np.abs(to_right[second] - apart) <= 1))
    return is_even


def shapes_of(rects: Ints, starts: Group, sizes: Group) -> GroupShapes:
    """How the groups stand whose members have these rectangles, one group after the other."""
    if not len(starts):
        return GroupShapes(*np.zeros((4, 0), np.bool_))
    left, top, right, _ = rects.T
    lefts, tops, widths = (
        np.maximum.reduceat(each, starts) - np.minimum.reduceat(each, starts) for each in (left, top, right - left)
    )
    is_long = sizes > 5
    return GroupShapes(widths <= 2, is_long & (lefts > 3), is_long & (tops > 3), (sizes > 3) & (tops <= 2))


def _similar_neighbours(ground: PlacementCost) -> list[Group]:
    left, top, right, bottom = ground.rects.T
    widths, heights = right - left, bottom - top
    once = ground.near.one < ground.near.other
    near = Near(ground.near.one[once], ground.near.other[once], ground.near.apart[once])
    one, other, apart = near
    same_kind = (ground.kinds[one] == ground.kinds[other]) & (apart >= -1)
    alike, as_wide = (same_kind & (np.abs(size[one] - size[other]) <= 1) for size in (heights, widths))
    in_row = alike & (np.abs(top[one] - top[other]) <= 1) & (apart <= _ROW_GAP_PX)
    # Links in running text vary in width and distance; there each label goes where it is misread least.
    in_row &= as_wide | ~ground.is_link[one] | _evenly_spaced(left, near, in_row)
    # Cards of one width are a column, whatever their height.
    in_column = (alike | as_wide) & (np.abs(left[one] - left[other]) <= 1)
    joined = in_row | in_column
    one, other = one[joined], other[joined]
    found = connected_groups(len(left), one, other)
    return sorted((group for group in found if len(group) > 1), key=len, reverse=True)


def _clashes(marks: Group, name: Group, candidates: Candidates) -> Bools:
    """Whether each mark's label at each relative place would overlap that of the previous mark in its group."""
    rects, may_be = candidates.rects, candidates.may_be
    found = np.zeros(may_be.shape, np.bool_)
    left, top = rects[marks, 0, 0], rects[marks, 0, 1]
    for order in (np.lexsort((left, top, name)), np.lexsort((top, left, name))):
        one, other = order[1:], order[:-1]
        same = name[one] == name[other]
        one, other = marks[one[same]], marks[other[same]]
        at, place = np.nonzero(may_be[one] & may_be[other])
        one, other = one[at], other[at]
        found[one, place] |= common_area(rects[one, place], rects[other, place]) > 0
    return found


def best_common_place(costs: Floats, clashes: Bools) -> tuple[Group, float]:
    """The place that is best for the whole group, and its average cost."""
    # Sums rather than means, which take twice as long for many small groups.
    average = costs.sum(axis=0) / len(costs) + MISFIT * (clashes.sum(axis=0) / len(costs))
    best = int(average.argmin())
    return np.full(len(costs), best), float(average[best])


def best_line_places(starts: Ints, costs: Floats, clashes: Bools, choice: Group, cost: float) -> tuple[Group, float]:
    """One place for each column, or each row, if the saving outweighs the loss of a common place."""
    lines = np.unique((starts + 1) // 3, return_inverse=True)[1]
    many = int(lines.max()) + 1
    if many > len(starts) / 3:
        return choice, cost
    mixed, total = np.zeros(len(starts), np.int64), 0.0
    for line in range(many):
        members = np.nonzero(lines == line)[0]
        mixed[members], each = best_common_place(costs[members], clashes[members])
        total += each * len(members) / len(starts)
    return (mixed, total) if total + _MIXED < cost else (choice, cost)


def alternate(rects: Ints, costs: Floats, choice: Group, cost: float) -> Group:
    """Alternately above and below, if that is better for a row than the choice so far."""
    order = np.argsort(rects[:, 0, 0], kind="stable")
    for pair in ABOVE_AND_BELOW:
        turns = np.empty(len(order), np.int64)
        turns[order] = np.array(pair)[np.arange(len(order)) % 2]
        placed = rects[order, turns[order]]
        clash = (common_area(placed[2:], placed[:-2]) > 0).mean()
        average = float(costs[np.arange(len(order)), turns].mean() + MISFIT * clash)
        if average < cost:
            choice, cost = turns, average
    return choice

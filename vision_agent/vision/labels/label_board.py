"""Chooses a place for each label: no label lies on another.

Groups of similar neighbours choose first and together, then each mark alone; conflicts are repaired. Where there is no
room at a target, a place farther away is searched, from which a line leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.labels.annotate import gap, strokes
from vision_agent.vision.labels.candidate_places import (
    HIDES_FIRST_LETTER,
    INK,
    NEARER_TO_OTHER,
    Candidates,
    place_costs,
)
from vision_agent.vision.labels.far_places import BENT, PER_COVERED_PIXEL, PER_PIXEL_AWAY, STRIDE, FarPlaces
from vision_agent.vision.labels.ink import InkOfTargets
from vision_agent.vision.labels.placement_cost import PlacementCost
from vision_agent.vision.labels.similar_neighbours import (
    MISFIT,
    Groups,
    GroupShapes,
    alternate,
    best_common_place,
    best_line_places,
    shapes_of,
)
from vision_agent.vision.rects import (
    Bools,
    Floats,
    Group,
    Ints,
    Rect,
    as_rect,
    overlap_lengths,
    rect_areas,
    window_sums,
)
from vision_agent.vision.style import Style

_LEADER_OVER_OTHER = 0.08

_STRAY = 2.0
"""A mark leaves its group if the common place costs this much more than its best place."""
_STRAY_MIXED = 1.2
"""The same for groups of different widths."""

_LEADER = -1
_NEAR_PX = 140
_CLOSEST = 12
_MANY_FAR = 60


def assign(
    candidates: Candidates,
    groups: Groups,
    kept: Mapping[int, Rect],
    ground: PlacementCost,
    ink: InkOfTargets,
    style: Style,
) -> list[Rect]:
    """One place for each mark: previous places first, then groups, then single marks with the fewest candidates.

    `kept`: the places of the previous picture, by mark.
    """
    board = _Board(ground, candidates, ink)
    for mark in board.keep_places(kept):
        board.keep_far_place(mark, kept[mark])
    board.take_in_groups(groups)
    order = np.lexsort((rect_areas(ground.rects), candidates.may_be.sum(axis=1))).tolist()
    waiting = board.take_first_free_each([mark for mark in order if mark not in board.spots])
    waiting = [mark for mark in waiting if not board.take_by_moving_another(mark)]
    if len(waiting) > _MANY_FAR:
        board.take_anywhere(waiting)
    else:
        for mark in waiting:
            board.take_farther_away(mark, style)
    return [board.spots[mark] for mark in range(len(ground.rects))]


class _Board:
    """The places taken so far. `_taken` holds, for each pixel, the index of the mark whose label lies there, plus 1."""

    def __init__(self, ground: PlacementCost, candidates: Candidates, ink: InkOfTargets) -> None:
        self.spots: dict[int, Rect] = {}
        self._ground = ground
        self._targets = [as_rect(edges) for edges in ground.rects.tolist()]
        self._candidates = candidates
        self._ink = ink
        self._costs = place_costs(candidates, ink)
        self._has = np.zeros(len(ground.rects), np.bool_)
        self._taken = np.zeros((ground.height, ground.width), np.int16)

    def keep_places(self, kept: Mapping[int, Rect]) -> list[int]:
        """Takes the marks' previous places that are still candidates, free, and not much worse than their best.

        Returns the marks that could not keep their place.
        """
        if not kept:
            return []
        marks, spots = np.array(list(kept)), np.array(list(kept.values()), np.int32)
        costs = self._costs[marks]
        is_good = np.isfinite(costs) & (costs <= costs.min(axis=1, keepdims=True) + _STRAY)
        is_same = (self._candidates.rects[marks] == spots[:, None]).all(axis=2)
        may_stay = (is_same & is_good).any(axis=1).tolist()
        checked = zip(kept.items(), may_stay, strict=True)
        return [mark for (mark, spot), may in checked if not (may and self._take(mark, spot))]

    def keep_far_place(self, mark: int, spot: Rect) -> None:
        """Takes the mark's previous place at the end of a line, if there is still no room near the target."""
        at, of = np.array([spot], np.int32), np.array([mark], np.int32)
        is_good = self._ground.is_inside(at)[0] and self._ground.foreign(at, of)[0] <= 0
        if is_good and self._is_free(spot) and not any(self._is_free(at) for at in self._places(mark)):
            self._put(mark, spot)

    def take_in_groups(self, groups: Groups) -> None:
        """Takes one relative place for each group, or one for each of its columns.

        Marks that their group's place does not suit are left out.
        """
        groups = groups.without(self._has)
        if not len(groups.starts):
            return
        marks, starts = groups.marks, groups.starts
        costs = self._costs[marks]
        choice, best = self._common_places(groups, costs), costs.argmin(axis=1)
        members = np.arange(len(marks))
        chosen = costs[members, choice]
        strays = np.repeat(np.where(groups.shapes.is_even, _STRAY, _STRAY_MIXED), groups.sizes)
        good = np.isfinite(chosen) & (chosen <= costs[members, best] + strays)
        rects = self._candidates.rects
        proposals = list(
            zip(
                marks.tolist(),
                good.tolist(),
                np.isfinite(chosen).tolist(),
                map(as_rect, rects[marks, choice].tolist()),
                map(as_rect, rects[marks, best].tolist()),
                strict=True,
            )
        )
        placed = np.add.reduceat(self._has[marks].astype(np.int32), starts).tolist()
        for at, (start, size) in enumerate(zip(starts.tolist(), groups.sizes.tolist(), strict=True)):
            part = slice(start, start + size)
            # Labels that are there already only make other places worse: what was chosen without them is still best
            # if it is free, and if the best place of a mark that it does not suit is.
            if not placed[at] and all(
                not is_possible or (self._is_free(spot) and (suits or self._is_free(own_best)))
                for _, suits, is_possible, spot, own_best in proposals[part]
            ):
                for mark, suits, _, spot, _ in proposals[part]:
                    if suits:
                        self._take(mark, spot)
            elif size - placed[at] > 1:
                group = marks[part]
                self._take_together(group[~self._has[group]], groups.clashes)

    def _common_places(self, groups: Groups, costs: Floats) -> Group:
        """The place of each member of the groups that is best for its group, if no label is on the picture yet."""
        capped, clashes = np.minimum(costs, MISFIT), groups.clashes[groups.marks]
        sizes = groups.sizes[:, None]
        # Sums rather than means, which take twice as long for many small groups.
        sums = np.add.reduceat(capped, groups.starts) / sizes.astype(np.float32)
        averages = sums + MISFIT * (np.add.reduceat(clashes.astype(np.int32), groups.starts) / sizes)
        best = averages.argmin(axis=1)
        choice = np.repeat(best, groups.sizes)
        for at in np.flatnonzero(groups.shapes.has_columns | groups.shapes.has_rows | groups.shapes.is_row).tolist():
            part = slice(start := int(groups.starts[at]), start + int(groups.sizes[at]))
            common = choice[part], float(averages[at, best[at]])
            choice[part] = self._vary(groups.marks[part], capped[part], clashes[part], groups.shapes, at, *common)
        return choice

    def _vary(
        self, group: Group, capped: Floats, clashes: Bools, shapes: GroupShapes, at: int, choice: Group, cost: float
    ) -> Group:
        """The common place, or one for each column or row, or two in turns, whichever is best."""
        common, rects = (choice, cost), self._ground.rects[group]
        for edge, has_lines in ((0, shapes.has_columns[at]), (1, shapes.has_rows[at])):
            if has_lines:
                varied = best_line_places(rects[:, edge], capped, clashes, *common)
                choice, cost = min((choice, cost), varied, key=itemgetter(1))
        if shapes.is_row[at]:
            choice = alternate(self._candidates.rects[group], capped, choice, cost)
        return choice

    def _take_together(self, group: Group, clashes: Bools) -> None:
        """Takes the best common place for a group, or what is left of it, where there are labels already."""
        costs, clashes, rects = self._costs[group], clashes[group], self._candidates.rects[group]
        member, place = np.nonzero(np.isfinite(costs))
        is_taken = self._taken.ravel().take(_points(rects[member, place], self._ground)).any(axis=1)
        costs[member[is_taken], place[is_taken]] = np.inf
        capped = np.minimum(costs, MISFIT)
        shapes = shapes_of(self._ground.rects[group], np.zeros(1, np.int64), np.array([len(group)]))
        choice = self._vary(group, capped, clashes, shapes, 0, *best_common_place(capped, clashes))
        chosen = costs[np.arange(len(group)), choice]
        stray = _STRAY if shapes.is_even[0] else _STRAY_MIXED
        good = np.isfinite(chosen) & (chosen <= costs.min(axis=1) + stray)
        spots = rects[np.arange(len(group)), choice]
        for mark, spot in zip(group[good].tolist(), spots[good].tolist(), strict=True):
            self._take(mark, as_rect(spot))

    def take_first_free_each(self, marks: Sequence[int]) -> list[int]:
        """Takes for each mark its cheapest place that is free, and returns the marks that have none."""
        if not marks:
            return []
        costs = self._costs[marks]
        orders = costs.argsort(axis=1, kind="stable").tolist()
        allowed = np.isfinite(costs).sum(axis=1).tolist()
        rects = self._candidates.rects
        return [
            mark
            for mark, order, many in zip(marks, orders, allowed, strict=True)
            if not any(self._take(mark, as_rect(rects[mark, place].tolist())) for place in order[:many])
        ]

    def _take_first_free(self, mark: int) -> bool:
        return any(self._take(mark, place) for place in self._places(mark))

    def _places(self, mark: int) -> Iterator[Rect]:
        """The allowed places of a mark, cheapest first."""
        costs = self._costs[mark]
        for place in costs.argsort(kind="stable").tolist():
            if costs[place] == np.inf:
                break
            yield as_rect(self._candidates.rects[mark, place].tolist())

    def take_by_moving_another(self, mark: int) -> bool:
        """Takes the place of another label that has a free place elsewhere."""
        for place in self._places(mark):
            owners = np.unique(self._owners(place))
            owners = owners[owners != 0]
            if len(owners) != 1 or owners[0] == _LEADER:
                continue
            owner = int(owners[0]) - 1
            had = self.spots[owner]
            self._lift(owner)
            self._put(mark, place)
            if self._take_first_free(owner):
                return True
            self._lift(mark)
            self._put(owner, had)
        return False

    def take_anywhere(self, marks: Sequence[int]) -> None:
        """The same for a crowd of marks, whose lines may cross whatever there is."""
        far = FarPlaces(self._ground, self._ink, self._taken != 0)
        for mark in marks:
            near, whole = self._windows(mark)
            place = far.best(mark, near) or far.best(mark, whole) or far.best(mark, whole, may_cover=True)
            place = place or self._force(mark)
            self._put(mark, place)
            far.block(place)

    def take_farther_away(self, mark: int, style: Style) -> None:
        """Takes the best free place near the target, else anywhere, else the place that covers least."""
        near, whole = self._windows(mark)
        place = (
            self._search(mark, near)
            or self._search(mark, whole)
            or self._search(mark, whole, may_cover=True)
            or self._force(mark)
        )
        target = self._targets[mark]
        if gap(place, target) >= style.leader_from:
            for stroke in strokes(place, target):
                under = self._owners(stroke)
                under[under == 0] = _LEADER
        self._put(mark, place)

    def _windows(self, mark: int) -> tuple[Rect, Rect]:
        """What is near the target, and the whole picture."""
        left, top, right, bottom = self._targets[mark]
        near = (left - _NEAR_PX, top - _NEAR_PX, right + _NEAR_PX, bottom + _NEAR_PX)
        return near, (0, 0, self._ground.width, self._ground.height)

    def _search(self, mark: int, window: Rect, *, may_cover: bool = False) -> Rect | None:
        """The best place for a narrow label in this window that is not on another label."""
        ground = self._ground
        wide, high = ground.narrow[mark].tolist()
        left, top = max(0, window[0]), max(0, window[1])
        right, bottom = min(ground.width, window[2]), min(ground.height, window[3])
        if right - left < wide or bottom - top < high:
            return None
        x, y = np.arange(left, right - wide + 1, STRIDE), np.arange(top, bottom - high + 1, STRIDE)
        labels = cv2.integral((self._taken[top:bottom, left:right] != 0).astype(np.uint8))
        is_free = window_sums(labels, x - left, y - top, wide, high) == 0
        foreign = window_sums(ground.cover, x, y, wide, high)
        outer = ground.containers[mark]
        for around in ground.rects[[mark, *outer[outer >= 0]]].tolist():
            across, down = (
                overlap_lengths(x, wide, around[0], around[2]),
                overlap_lengths(y, high, around[1], around[3]),
            )
            foreign = foreign - down[:, None] * across[None]
        row, column = np.nonzero(is_free if may_cover else is_free & (foreign <= 0))
        if not len(row):
            return None
        own = ground.rects[mark]
        far_x = np.maximum(np.maximum(own[0] - x - wide, x - own[2]), 0)[column]
        far_y = np.maximum(np.maximum(own[1] - y - high, y - own[3]), 0)[row]
        at = np.stack([x[column], y[row], x[column] + wide, y[row] + high], axis=1).astype(np.int32)
        costs = PER_PIXEL_AWAY * np.maximum(far_x, far_y) + BENT * ((far_x > 0) & (far_y > 0))
        costs += INK * self._ink.share(at) + HIDES_FIRST_LETTER * self._ink.touches_first(at)
        if may_cover:
            costs += PER_COVERED_PIXEL * foreign[row, column]
        best = np.argsort(costs, kind="stable")[:_CLOSEST]
        costs = costs[best] + NEARER_TO_OTHER * ~ground.is_nearest(at[best], np.full(len(best), mark))
        places = [as_rect(each) for each in at[best].tolist()]
        scored = zip(costs.tolist(), places, strict=True)
        return min(scored, key=lambda each: each[0] + self._line_cost(mark, each[1]))[1]

    def _line_cost(self, mark: int, place: Rect) -> float:
        """The cost of a line from this place to the target, by what it crosses."""
        lines = np.array(strokes(place, self._targets[mark]), np.int32).reshape(-1, 4)
        lines = self._ground.clip(lines)
        crossed = self._ground.foreign(lines, np.full(len(lines), mark, np.int32)).clip(0).sum()
        labels = sum(int(np.count_nonzero(self._owners(as_rect(line)))) for line in lines.tolist())
        return _LEADER_OVER_OTHER * (float(crossed) + 3 * labels)

    def _force(self, mark: int) -> Rect:
        """A place on the mark's own target, whatever is there, for a picture full of labels."""
        left, top = (int(edge) for edge in self._ground.rects[mark][:2])
        wide, high = (int(edge) for edge in self._ground.narrow[mark])
        left = max(0, min(left, self._ground.width - wide))
        top = max(0, min(top, self._ground.height - high))
        return left, top, left + wide, top + high

    def _take(self, mark: int, place: Rect) -> bool:
        """Takes the place if it is free, and returns whether it was."""
        left, top, right, bottom = place
        under = self._taken[top:bottom, left:right]
        if np.count_nonzero(under):  # three times as fast as `any`
            return False
        under.fill(mark + 1)
        self.spots[mark] = place
        self._has[mark] = True
        return True

    def _is_free(self, place: Rect) -> bool:
        left, top, right, bottom = place
        return not np.count_nonzero(self._taken[top:bottom, left:right])

    def _owners(self, place: Rect) -> NDArray[np.int16]:
        """The part of `_taken` at this place, as a view."""
        left, top, right, bottom = place
        return self._taken[top:bottom, left:right]

    def _put(self, mark: int, place: Rect) -> None:
        self._owners(place)[...] = mark + 1
        self.spots[mark] = place
        self._has[mark] = True

    def _lift(self, mark: int) -> None:
        self._owners(self.spots.pop(mark))[...] = 0
        self._has[mark] = False


def _points(at: Ints, ground: PlacementCost) -> Ints:
    """The positions in the flattened picture to check for a label on each of these rectangles inside the picture.

    Labels differ by a pixel in height and are at least 9 wide, so that none fits between the points.
    """
    left, top, right, bottom = at.T[..., None]
    x = np.minimum(left + np.arange(0, int((right - left).max(initial=0)) + 7, 8, dtype=np.int32), right - 1)
    width = np.int32(ground.width)
    points: Ints = np.concatenate([top * width + x, (bottom - 1) * width + x], axis=1)
    return points

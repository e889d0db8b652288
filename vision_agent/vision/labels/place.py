"""Places labels and chooses their colours so that no label is read as a neighbour's.

Hard rules: a label is on its own target or on nothing, never on another label, never outside the picture. A container
of the target does not count as another target: a label may lie on the dialog that its button is in, but the dialog's
label not on the button. Soft rules: a label hides no first letter and no icon, covers little ink and little of a small
target, the nearest target is its own, and it stands where the labels of its row and column stand. If there is no room
at or on the target, a line leads to it.

Candidates are gathered for all marks at once, in the same order for each, and their cost is read from summed-area
tables. Groups of similar neighbours choose first and together, then each mark alone; conflicts are repaired. Everything
except the ink is known before there are pixels: that is the `plan`. Of a mark, only its place and kind matter here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box
from vision_agent.types import Label, Mark
from vision_agent.vision.labels.annotate import gap, strokes
from vision_agent.vision.labels.colours import choose_colours
from vision_agent.vision.labels.ink import InkOfTargets, InkPositions, ink_positions
from vision_agent.vision.labels.placement_cost import Near, PlacementCost, build_cost_tables, is_rtl
from vision_agent.vision.picture import Extent, Picture
from vision_agent.vision.rects import (
    Bools,
    Floats,
    Group,
    Ints,
    Rect,
    as_rect,
    common_area,
    connected_groups,
    edges_of,
    overlap_lengths,
    rect_areas,
    round_rects,
    window_sums,
)
from vision_agent.vision.style import STYLE, LabelWidth, Style

# The cost of a candidate's flaws, compared with preferences between 0 and 1.2. Chosen by looking at marked pages.
_INK = 4.0
_HIDES_INK = 1.5
"""The cost of hiding all ink of the target itself, reached at two thirds of it."""
_HIDES_FIRST_LETTER = 3.0
"""The cost of hiding the first letter of any target, by which a word is read, or an icon."""
_HIDES_TARGET = 2.2
_HIDES_STATE = 4.4
"""The cost of hiding a toggle, whose state is all there is to see of it."""
_TOUCHES_OTHER = 1.5
_NEARER_TO_OTHER = 1.4
_IN_OTHER_ROW = 0.8
"""The cost of standing in the row of another target, a few pixels from it, though nearer to its own."""
_NARROW = 0.4
_PER_PIXEL_AWAY = 0.03
_BENT = 0.3
_LEADER_OVER_OTHER = 0.08

_CUT_PX = 15
_BESIDE_PX = 1
_OVER_PX = 4
"""How much of a label is on its target where it is beside it but for that."""
_FAR_PX = 8
_ROOMY = 3
"""A target more than this many times as wide as its label has room along its middle, and needs no place far away."""

# Groups of similar neighbours, and the value of placing their labels alike.
_ROW_GAP_PX = 40
_MISFIT = 3.0
_MIXED = 0.5
_STRAY = 2.0
"""A mark leaves its group if the common place costs this much more than its best place."""
_STRAY_MIXED = 1.2
"""The same for groups of different widths."""

_LEADER = -1
_NEAR_PX = 140
_STRIDE = 3
_CLOSEST = 12
_MANY_FAR = 60


def place(
    marks: Sequence[Mark], picture: Picture, style: Style = STYLE, before: Sequence[Mark] = ()
) -> tuple[Mark, ...]:
    """The marks, in the same order, with their labels set; None for marks outside the picture.

    Every mark in the picture gets a label. A label breaks a hard rule only if no other place is left;
    `legibility.faults` names such labels. A mark that was also in `before`, with the same box, keeps its place and
    shade if they are still good.
    """
    return carry_out(plan(marks, picture.extent, style, before), picture)


class Plan(NamedTuple):
    """The part of label placement that needs no pixels, which is most of it."""

    marks: Sequence[Mark]
    shown: list[bool]
    scene: _Scene | None
    """None if there is nothing to place."""
    depends_on: object = None
    """Equal for plans with the same candidates."""


def plan(
    marks: Sequence[Mark],
    extent: Extent,
    style: Style = STYLE,
    before: Sequence[Mark] = (),
    last: Plan | None = None,
) -> Plan:
    """The part of `place` that needs only the picture's extent, which is half of it.

    If nothing has moved since the `last` plan, its candidates are used again.
    """
    edges = edges_of([mark.place for mark in marks])
    shown = _shown(edges, extent)
    inside = [mark for mark, is_shown in zip(marks, shown, strict=True) if is_shown]
    if not inside:
        return Plan(marks, shown, None)
    texts = [(mark.kind, mark.label_text, is_rtl(mark.name)) for mark in inside]
    depends_on = (extent, style, edges[shown].tobytes(), texts)
    kept = _previous_labels(inside, edges[shown], before)
    is_same = last is not None and last.depends_on == depends_on
    scene = (last and is_same and last.scene) or _scene(inside, extent, style)
    previous = {i: was.label.colour for i, was in kept.items()}
    colours = choose_colours(inside, scene.ground.kinds, scene.ground.near, previous, style.palette)
    return Plan(marks, shown, scene._replace(kept=kept, colours=colours), depends_on)


def carry_out(plan: Plan, picture: Picture) -> tuple[Mark, ...]:
    """Completes a plan with the picture; the result is that of `place`."""
    labels = iter(_labels(plan.scene, picture) if plan.scene else ())
    return tuple(
        mark.replacing(label=next(labels) if is_in else None)
        for mark, is_in in zip(plan.marks, plan.shown, strict=True)
    )


class _Scene(NamedTuple):
    """The marks that the picture shows, and the candidate places of their labels."""

    ground: PlacementCost
    candidates: _Candidates
    groups: _Groups
    style: Style
    kept: dict[int, _PreviousLabel] = {}
    """The labels in the previous picture of marks with the same box, by index."""
    colours: Sequence[str] = ()


def _scene(marks: Sequence[Mark], extent: Extent, style: Style) -> _Scene:
    ground = build_cost_tables(marks, extent, style)
    candidates = _gather(ground)
    return _Scene(ground, candidates, _groups(ground, candidates), style)


def _shown(boxes: NDArray[np.float64], extent: Extent) -> list[bool]:
    """Which page boxes are in the picture; of a box cut by the picture's edge, enough for a label must be visible."""
    map, size = extent.map, extent.size
    edges = (boxes - [map.offset_x, map.offset_y] * 2) / ([map.scale_x, map.scale_y] * 2)
    whole = edges[:, 2:] - edges[:, :2]
    part = np.minimum(edges[:, 2:], (size.width, size.height)) - np.maximum(edges[:, :2], 0)
    # Half a pixel is a rounding difference, not a cut.
    is_enough = (part > 0) & (part >= np.minimum(_CUT_PX, whole - 0.5))
    shown: list[bool] = np.all(is_enough, axis=1).tolist()
    return shown


def _labels(scene: _Scene, picture: Picture) -> Iterator[Label]:
    spots = _assign(scene, InkOfTargets(picture, scene.ground, scene.candidates.positions))
    for at, (spot, colour) in enumerate(zip(spots, scene.colours, strict=True)):
        was = scene.kept.get(at)
        if was and was.spot == spot and was.label.colour == colour:
            yield was.label
        else:
            left, top, right, bottom = spot
            yield Label(box=Box(x=left, y=top, width=right - left, height=bottom - top), colour=colour)


class _PreviousLabel(NamedTuple):
    """The label that a mark had in the previous picture, with the same box, and where."""

    label: Label
    spot: Rect


def _previous_labels(
    marks: Sequence[Mark], edges: NDArray[np.float64], before: Sequence[Mark]
) -> dict[int, _PreviousLabel]:
    """The previous labels to keep, by index in `marks`, whose boxes have these edges."""
    old = {mark.number: mark for mark in before if mark.label}
    if not old:
        return {}
    pairs = [(i, was) for i, mark in enumerate(marks) if (was := old.get(mark.number)) and was.letter == mark.letter]
    is_same = (edges[[i for i, _ in pairs]] == edges_of([was.place for _, was in pairs])).all(axis=1).tolist()
    labels = {i: was.label for (i, was), same in zip(pairs, is_same, strict=True) if same and was.label}
    spots = map(as_rect, round_rects([label.box for label in labels.values()]).tolist())
    return {i: _PreviousLabel(label, spot) for (i, label), spot in zip(labels.items(), spots, strict=True)}


# --- candidates and their cost ----------------------------------------------------------------------------------------


class _Candidates(NamedTuple):
    """The candidate places of each mark, in the same order for all."""

    rects: Ints
    may_be: Bools
    """Which candidates break no hard rule about targets or the picture."""
    at: Group
    """Where these are in `may_be`."""
    flaws: NDArray[np.float64]
    """The cost of these without ink."""
    on_own: Group
    """Which of these lie on their target."""
    positions: InkPositions
    preferences: Floats


def _gather(ground: PlacementCost) -> _Candidates:
    rects, welcome = _around(ground)
    at, of = rects.reshape(-1, 4), np.repeat(np.arange(len(rects), dtype=np.int32), rects.shape[1])
    is_roomy = rects[:, 0, 2] - rects[:, 0, 0] < (ground.rects[:, 2] - ground.rects[:, 0]) // _ROOMY
    useful = np.where(is_roomy[:, None], ~_IS_FAR, ~_IS_INNER)
    possible = np.flatnonzero(useful.ravel() & ground.is_inside(at))
    possible = possible[ground.foreign(at.take(possible, axis=0), of.take(possible)) <= 0]
    may_be = np.zeros(rects.shape[:2], np.bool_)
    may_be.ravel()[possible] = True
    preferences = np.tile(welcome, (len(rects), 1))
    preferences[ground.is_field] += _WHERE_TEXT_BEGINS
    at, of = at.take(possible, axis=0), of.take(possible)
    shared = common_area(at, ground.rects.take(of, axis=0))
    flaws, on_own = _flaws(ground, at, of, shared), np.flatnonzero(shared)
    return _Candidates(rects, may_be, possible, flaws, on_own, ink_positions(ground, at, of, on_own), preferences)


def _costs(candidates: _Candidates, ink: InkOfTargets) -> Floats:
    """The cost of each candidate, infinite if it is not allowed."""
    costs = np.full(candidates.may_be.shape, np.inf, np.float32)
    cost = _INK * np.maximum(0, ink.shares() - 0.02) + _HIDES_FIRST_LETTER * ink.first_hidden() + candidates.flaws
    cost[candidates.on_own] += _HIDES_INK * np.minimum(1, 1.5 * ink.hidden())
    costs.ravel()[candidates.at] = cost
    return costs + candidates.preferences


# The relative places of a label, as (x, y, preference); `_around` defines the names.
_AROUND: dict[LabelWidth, tuple[tuple[str, str, float], ...]] = {
    "wide": (
        # Inside: corners, edges, along the middle.
        ("start", "top", 0.0), ("end", "top", 0.15), ("start", "foot", 0.3), ("end", "foot", 0.35),
        ("start", "centre", 0.2), ("end", "centre", 0.2), ("middle", "top", 0.4), ("middle", "foot", 0.5),
        ("middle", "centre", 0.6), ("fifth", "centre", 0.55), ("two", "centre", 0.55), ("three", "centre", 0.5),
        ("four", "centre", 0.5),
        # Across the edge: half of the label is on the target, or just so much that it is clear whose it is.
        ("start", "on top", 0.45), ("end", "on top", 0.5), ("on start", "on top", 0.5), ("on end", "on top", 0.55),
        ("on start", "centre", 0.5), ("on end", "centre", 0.55), ("start", "on foot", 0.65), ("end", "on foot", 0.7),
        ("on end", "on foot", 0.75), ("middle", "over top", 0.78), ("start", "over top", 0.78),
        ("middle", "over foot", 0.92), ("end", "over foot", 0.92), ("over start", "centre", 0.73),
        ("over end", "centre", 0.78),
        # Beside the target, so close that the outline is whole.
        ("before", "centre", 0.7), ("after", "centre", 0.75), ("start", "above", 0.75), ("end", "above", 0.8),
        ("middle", "above", 0.75), ("before", "top", 0.8), ("after", "top", 0.85), ("start", "below", 0.9),
        ("end", "below", 0.95), ("middle", "below", 0.9), ("before", "above", 1.1), ("after", "above", 1.1),
        ("before", "below", 1.2), ("after", "below", 1.2),
        # Farther away, with a line to the target.
        ("far before", "centre", 1.5), ("far after", "centre", 1.55), ("middle", "far above", 1.55),
        ("middle", "far below", 1.65),
    ),
    "narrow": (
        ("start", "top", 0.0), ("end", "top", 0.15), ("start", "foot", 0.3), ("end", "foot", 0.35),
        ("start", "centre", 0.2), ("end", "centre", 0.2), ("middle", "top", 0.4), ("middle", "foot", 0.5),
        ("middle", "centre", 0.6), ("start", "on top", 0.5), ("end", "on foot", 0.75), ("middle", "over top", 0.78),
        ("middle", "over foot", 0.92), ("before", "centre", 0.7), ("after", "centre", 0.75),
        ("middle", "above", 0.75), ("middle", "below", 0.9),
    ),
}  # fmt: skip
_PLACES = [(x, y) for places in _AROUND.values() for x, y, _ in places]
# The extra cost of places where the text of a field begins, whether it has text yet or not.
_WHERE_TEXT_BEGINS = np.array(
    [0.35 * (x in ("start", "fifth", "on start", "over start")) for x, _ in _PLACES], np.float32
)
_IS_FAR = np.array(["far" in x + y for x, y in _PLACES])
_IS_INNER = np.array([x in ("fifth", "two", "three", "four") for x, _ in _PLACES])
_ABOVE_AND_BELOW = [
    tuple(first + [(x, y) for x, y, _ in places].index(("middle", side)) for side in ("above", "below"))
    for first, places in ((0, _AROUND["wide"]), (len(_AROUND["wide"]), _AROUND["narrow"]))
]
"""The candidates above and below, used in turn for a row of targets narrower than their labels."""


def _around(ground: PlacementCost) -> tuple[Ints, Floats]:
    """Label rectangles in, across the edge of, and beside each target, with the preference for each place.

    Those that would stick out of the picture are moved inside.
    """
    found = []
    left, top, right, bottom = ground.rects.T
    for width, places in _AROUND.items():
        wide, high = (ground.wide if width == "wide" else ground.narrow).T
        ends, foot = right - wide, bottom - high
        x_at = {
            "start": left, "end": ends, "middle": (left + ends) // 2, "fifth": (4 * left + ends) // 5,
            "two": (3 * left + 2 * ends) // 5, "three": (2 * left + 3 * ends) // 5, "four": (left + 4 * ends) // 5,
            "on start": left - wide // 2, "on end": right - wide // 2, "over start": left - wide + _OVER_PX,
            "over end": right - _OVER_PX, "before": left - wide - _BESIDE_PX, "after": right + _BESIDE_PX,
            "far before": left - wide - _FAR_PX, "far after": right + _FAR_PX,
        }  # fmt: skip
        y_at = {
            "top": top, "foot": foot, "centre": (top + foot) // 2, "on top": top - high // 2,
            "on foot": bottom - high // 2, "over top": top - high + _OVER_PX, "over foot": bottom - _OVER_PX,
            "above": np.clip(ground.free_from, top - high - 1, top),
            "below": np.clip(ground.free_to - high, foot, bottom + 1), "far above": top - high - _FAR_PX,
            "far below": bottom + _FAR_PX,
        }  # fmt: skip
        x = np.maximum(np.minimum(np.stack(list(x_at.values()), axis=1), (ground.width - wide)[:, None]), 0)
        y = np.maximum(np.minimum(np.stack(list(y_at.values()), axis=1), (ground.height - high)[:, None]), 0)
        x, y = x[:, [list(x_at).index(x) for x, _, _ in places]], y[:, [list(y_at).index(y) for _, y, _ in places]]
        found.append(np.stack([x, y, x + wide[:, None], y + high[:, None]], axis=2))
    preferences = [
        preference + _NARROW * (width == "narrow") for width, places in _AROUND.items() for _, _, preference in places
    ]
    return np.concatenate(found, axis=1).astype(np.int32), np.array(preferences, np.float32)


def _flaws(ground: PlacementCost, at: Ints, of: Ints, on_own: Ints) -> NDArray[np.float64]:
    """The cost of these label rectangles, without ink; `on_own` is how much of each lies on its target."""
    areas = rect_areas(at)
    around = ground.clip(at + np.array([-2, -2, 2, 2], np.int32))
    touching = ground.foreign(around, of) / np.maximum(1, rect_areas(around) - areas)
    # A label on its own target is not misread, however close a neighbour is.
    doubt = 1 - 0.8 * on_own / areas
    hides = np.where(ground.is_toggle, _HIDES_STATE, _HIDES_TARGET).take(of)
    flaws: NDArray[np.float64] = (
        hides * on_own / np.maximum(1, rect_areas(ground.rects)).take(of)
        + _TOUCHES_OTHER * np.minimum(1, touching) * doubt
        + _NEARER_TO_OTHER * ~ground.is_nearest(at, of) * doubt
        + _IN_OTHER_ROW * ground.is_in_other_row(at, of) * doubt
    )
    return flaws


# --- assignment -------------------------------------------------------------------------------------------------------


def _assign(scene: _Scene, ink: InkOfTargets) -> list[Rect]:
    """One place for each mark: previous places first, then groups, then single marks with the fewest candidates."""
    board = _Board(scene.ground, scene.candidates, ink)
    for mark in board.keep_places(scene.kept):
        board.keep_far_place(mark, scene.kept[mark].spot)
    board.take_in_groups(scene.groups)
    order = np.lexsort((rect_areas(scene.ground.rects), scene.candidates.may_be.sum(axis=1))).tolist()
    waiting = board.take_first_free_each([mark for mark in order if mark not in board.spots])
    waiting = [mark for mark in waiting if not board.take_by_moving_another(mark)]
    for mark in waiting:
        board.take_farther_away(mark, scene.style, is_crowd=len(waiting) > _MANY_FAR)
    return [board.spots[mark] for mark in range(len(scene.ground.rects))]


class _Shapes(NamedTuple):
    """How the members of each group stand."""

    is_even: Bools
    """Which groups have members of one width."""
    has_columns: Bools
    """Which groups have more than one column and enough members for a place in each."""
    has_rows: Bools
    """The same of rows."""
    is_row: Bools
    """Which groups are one row, long enough for places in turns."""


class _Groups(NamedTuple):
    """Groups of similar neighbours, the largest first, and what is known of each without its costs."""

    marks: Group
    """The members of all groups, one group after the other."""
    starts: Group
    """Where each group begins in `marks`."""
    sizes: Group
    clashes: Bools
    """Whether each mark's label at each relative place would overlap that of the previous mark in its group."""
    shapes: _Shapes

    def without(self, placed: Bools) -> _Groups:
        """Those groups that have a mark that is not placed."""
        if not placed.any() or not len(self.starts):
            return self
        is_open = np.logical_or.reduceat(~placed[self.marks], self.starts)
        sizes = self.sizes[is_open]
        return _Groups(
            self.marks[np.repeat(is_open, self.sizes)],
            np.cumsum(sizes) - sizes,
            sizes,
            self.clashes,
            _Shapes(*(each[is_open] for each in self.shapes)),
        )


def _groups(ground: PlacementCost, candidates: _Candidates) -> _Groups:
    """Rows, columns and grids of similar targets, the largest first."""
    groups = _similar_neighbours(ground)
    sizes = np.array([len(group) for group in groups], np.int64)
    marks = np.concatenate([np.zeros(0, np.int64), *groups])
    starts = np.cumsum(sizes) - sizes
    clashes = _clashes(marks, np.repeat(np.arange(len(groups)), sizes), candidates)
    return _Groups(marks, starts, sizes, clashes, _shapes(ground.rects[marks], starts, sizes))


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


def _shapes(rects: Ints, starts: Group, sizes: Group) -> _Shapes:
    if not len(starts):
        return _Shapes(*np.zeros((4, 0), np.bool_))
    left, top, right, _ = rects.T
    lefts, tops, widths = (
        np.maximum.reduceat(each, starts) - np.minimum.reduceat(each, starts) for each in (left, top, right - left)
    )
    is_long = sizes > 5
    return _Shapes(widths <= 2, is_long & (lefts > 3), is_long & (tops > 3), (sizes > 3) & (tops <= 2))


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


class _Board:
    """The places taken so far. `_taken` holds, for each pixel, the index of the mark whose label lies there, plus 1."""

    def __init__(self, ground: PlacementCost, candidates: _Candidates, ink: InkOfTargets) -> None:
        self.spots: dict[int, Rect] = {}
        self._ground = ground
        self._targets = [as_rect(edges) for edges in ground.rects.tolist()]
        self._candidates = candidates
        self._ink = ink
        self._costs = _costs(candidates, ink)
        self._has = np.zeros(len(ground.rects), np.bool_)
        self._taken = np.zeros((ground.height, ground.width), np.int16)

    def keep_places(self, kept: dict[int, _PreviousLabel]) -> list[int]:
        """Takes the marks' previous places that are still candidates, free, and not much worse than their best.

        Returns the marks that could not keep their place.
        """
        if not kept:
            return []
        marks, spots = np.array(list(kept)), np.array([was.spot for was in kept.values()], np.int32)
        costs = self._costs[marks]
        is_good = np.isfinite(costs) & (costs <= costs.min(axis=1, keepdims=True) + _STRAY)
        is_same = (self._candidates.rects[marks] == spots[:, None]).all(axis=2)
        may_stay = (is_same & is_good).any(axis=1).tolist()
        checked = zip(kept.items(), may_stay, strict=True)
        return [mark for (mark, was), may in checked if not (may and self._take(mark, was.spot))]

    def keep_far_place(self, mark: int, spot: Rect) -> None:
        """Takes the mark's previous place at the end of a line, if there is still no room near the target."""
        at, of = np.array([spot], np.int32), np.array([mark], np.int32)
        is_good = self._ground.is_inside(at)[0] and self._ground.foreign(at, of)[0] <= 0
        if is_good and self._is_free(spot) and not any(self._is_free(at) for at in self._places(mark)):
            self._put(mark, spot)

    def take_in_groups(self, groups: _Groups) -> None:
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

    def _common_places(self, groups: _Groups, costs: Floats) -> Group:
        """The place of each member of the groups that is best for its group, if no label is on the picture yet."""
        capped, clashes = np.minimum(costs, _MISFIT), groups.clashes[groups.marks]
        sizes = groups.sizes[:, None]
        # Sums rather than means, which take twice as long for many small groups.
        sums = np.add.reduceat(capped, groups.starts) / sizes.astype(np.float32)
        averages = sums + _MISFIT * (np.add.reduceat(clashes.astype(np.int32), groups.starts) / sizes)
        best = averages.argmin(axis=1)
        choice = np.repeat(best, groups.sizes)
        for at in np.flatnonzero(groups.shapes.has_columns | groups.shapes.has_rows | groups.shapes.is_row).tolist():
            part = slice(start := int(groups.starts[at]), start + int(groups.sizes[at]))
            common = choice[part], float(averages[at, best[at]])
            choice[part] = self._vary(groups.marks[part], capped[part], clashes[part], groups.shapes, at, *common)
        return choice

    def _vary(
        self, group: Group, capped: Floats, clashes: Bools, shapes: _Shapes, at: int, choice: Group, cost: float
    ) -> Group:
        """The common place, or one for each column or row, or two in turns, whichever is best."""
        common, rects = (choice, cost), self._ground.rects[group]
        for edge, has_lines in ((0, shapes.has_columns[at]), (1, shapes.has_rows[at])):
            if has_lines:
                varied = _best_line_places(rects[:, edge], capped, clashes, *common)
                choice, cost = min((choice, cost), varied, key=itemgetter(1))
        if shapes.is_row[at]:
            choice = _alternate(self._candidates.rects[group], capped, choice, cost)
        return choice

    def _take_together(self, group: Group, clashes: Bools) -> None:
        """Takes the best common place for a group, or what is left of it, where there are labels already."""
        costs, clashes, rects = self._costs[group], clashes[group], self._candidates.rects[group]
        member, place = np.nonzero(np.isfinite(costs))
        is_taken = self._taken.ravel().take(_points(rects[member, place], self._ground)).any(axis=1)
        costs[member[is_taken], place[is_taken]] = np.inf
        capped = np.minimum(costs, _MISFIT)
        shapes = _shapes(self._ground.rects[group], np.zeros(1, np.int64), np.array([len(group)]))
        choice = self._vary(group, capped, clashes, shapes, 0, *_best_common_place(capped, clashes))
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

    def take_farther_away(self, mark: int, style: Style, *, is_crowd: bool) -> None:
        """Takes the best free place near the target, else anywhere, else the place that covers least."""
        whole = (0, 0, self._ground.width, self._ground.height)
        target = self._targets[mark]
        left, top, right, bottom = target
        near = (left - _NEAR_PX, top - _NEAR_PX, right + _NEAR_PX, bottom + _NEAR_PX)
        place = (
            self._search(mark, near, is_crowd=is_crowd)
            or self._search(mark, whole, is_crowd=is_crowd)
            or self._search(mark, whole, may_cover=True, is_crowd=is_crowd)
            or self._force(mark)
        )
        if gap(place, target) >= style.leader_from and not is_crowd:
            for stroke in strokes(place, target):
                under = self._owners(stroke)
                under[under == 0] = _LEADER
        self._put(mark, place)

    def _search(self, mark: int, window: Rect, *, is_crowd: bool, may_cover: bool = False) -> Rect | None:
        """The best place for a narrow label in this window that is not on another label."""
        ground = self._ground
        wide, high = ground.narrow[mark].tolist()
        left, top = max(0, window[0]), max(0, window[1])
        right, bottom = min(ground.width, window[2]), min(ground.height, window[3])
        if right - left < wide or bottom - top < high:
            return None
        x, y = np.arange(left, right - wide + 1, _STRIDE), np.arange(top, bottom - high + 1, _STRIDE)
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
        costs = _PER_PIXEL_AWAY * np.maximum(far_x, far_y) + _BENT * ((far_x > 0) & (far_y > 0))
        costs += _INK * self._ink.share(at) + _HIDES_FIRST_LETTER * self._ink.touches_first(at)
        if may_cover:
            costs += 0.2 * foreign[row, column]
        if is_crowd:
            return as_rect(at[costs.argmin()].tolist())
        best = np.argsort(costs, kind="stable")[:_CLOSEST]
        costs = costs[best] + _NEARER_TO_OTHER * ~ground.is_nearest(at[best], np.full(len(best), mark))
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


def _clashes(marks: Group, name: Group, candidates: _Candidates) -> Bools:
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


def _best_common_place(costs: Floats, clashes: Bools) -> tuple[Group, float]:
    """The place that is best for the whole group, and its average cost."""
    # Sums rather than means, which take twice as long for many small groups.
    average = costs.sum(axis=0) / len(costs) + _MISFIT * (clashes.sum(axis=0) / len(costs))
    best = int(average.argmin())
    return np.full(len(costs), best), float(average[best])


def _best_line_places(starts: Ints, costs: Floats, clashes: Bools, choice: Group, cost: float) -> tuple[Group, float]:
    """One place for each column, or each row, if the saving outweighs the loss of a common place."""
    lines = np.unique((starts + 1) // 3, return_inverse=True)[1]
    many = int(lines.max()) + 1
    if many > len(starts) / 3:
        return choice, cost
    mixed, total = np.zeros(len(starts), np.int64), 0.0
    for line in range(many):
        members = np.nonzero(lines == line)[0]
        mixed[members], each = _best_common_place(costs[members], clashes[members])
        total += each * len(members) / len(starts)
    return (mixed, total) if total + _MIXED < cost else (choice, cost)


def _alternate(rects: Ints, costs: Floats, choice: Group, cost: float) -> Group:
    """Alternately above and below, if that is better for a row than the choice so far."""
    order = np.argsort(rects[:, 0, 0], kind="stable")
    for pair in _ABOVE_AND_BELOW:
        turns = np.empty(len(order), np.int64)
        turns[order] = np.array(pair)[np.arange(len(order)) % 2]
        placed = rects[order, turns[order]]
        clash = (common_area(placed[2:], placed[:-2]) > 0).mean()
        average = float(costs[np.arange(len(order)), turns].mean() + _MISFIT * clash)
        if average < cost:
            choice, cost = turns, average
    return choice

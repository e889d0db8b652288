"""Where each number goes and in which colour, so that nobody reads it as a neighbour's.

Hard: a label is on its own target or on nothing, never on another label, never outside the picture. What contains a
target is not "another" for it: a label may lie on the dialog its button is in, but the dialog's not on the button.
Soft: it covers little ink and little of a small target, and the nearest target is its own. A line leads to the target
when there is no room beside it.

Candidates are gathered for all marks at once, costed on summed tables, handed out greedily, and repaired. Knows pixels
and boxes; what a mark is does not matter here beyond its kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.types import Box, Mark
from vision_agent.vision.annotate import Rect, drawn_rects, gap, strokes
from vision_agent.vision.picture import Picture, Pixels, pixels_of
from vision_agent.vision.style import PALETTE, STYLE, Style

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]

# What a candidate's faults cost, against preferences between 0 and 1.2. Found by looking at marked pages.
_INK = 4.0
_HIDES_TARGET = 2.2
_TOUCHES_OTHER = 1.5
_NEARER_TO_OTHER = 0.6
_PER_PIXEL_AWAY = 0.03
_LEADER_OVER_OTHER = 0.08

_CONTAINED = 0.9
"""The share of a target that must be inside another for that one to be its container."""
_NEIGHBOUR_PX = 12
_NEAR_PX = 140
_CUT_PX = 15
_STRIDE = 3
_LEADER = -1
_CLOSEST = 32
_ROUNDS = 5


def place(marks: Sequence[Mark], picture: Picture, style: Style = STYLE) -> tuple[Mark, ...]:
    """The marks, in the same order, with `label_box` and `colour` set, or None for those that the picture shows not.

    Every mark in the picture gets a label. Only where no place is left that keeps the rules does one break them;
    `faults` says which.
    """
    inside = [i for i, mark in enumerate(marks) if _is_shown(mark.box, picture)]
    update: list[dict[str, object]] = [{"label_box": None, "colour": None} for _ in marks]
    if inside:
        shown = [marks[i] for i in inside]
        rects = drawn_rects([mark.box for mark in shown], picture)
        room = (rects[:, 2] - rects[:, 0]).tolist()
        sizes = [style.label_size(mark.label, width) for mark, width in zip(shown, room, strict=True)]
        ground = _survey(rects, np.array([(size.width, size.height) for size in sizes], np.int32), picture)
        spots = _assign(ground, _gather(ground), style)
        for i, spot, colour in zip(inside, spots, _colours(shown, rects), strict=True):
            update[i] = {"label_box": _box(spot), "colour": colour}
    return tuple(mark.model_copy(update=changed) for mark, changed in zip(marks, update, strict=True))


def faults(marks: Sequence[Mark], picture: Picture) -> tuple[int, ...]:
    """The numbers of the placed marks whose label breaks a rule, for want of room: not to be trusted in the picture.

    It lies on another target, on another label, or outside the picture.
    """
    numbers = [mark.number for mark in marks if mark.label_box]
    if not numbers:
        return ()
    rects = drawn_rects([mark.box for mark in marks if mark.label_box], picture)
    at = [(box.x, box.y, box.right, box.bottom) for mark in marks if (box := mark.label_box)]
    labels = np.array(at).astype(np.int32)
    outside = (labels[:, :2] < 0).any(axis=1) | (labels[:, 2:] > (picture.size.width, picture.size.height)).any(axis=1)
    clash = _common(labels[:, None], labels[None]) > 0
    np.fill_diagonal(clash, False)
    is_in = _common(rects[:, None], rects[None]) >= _CONTAINED * _area(rects)[:, None]
    # Where two targets overlap, what lies on both is on its own too; but not what lies on one inside its own.
    shared = np.concatenate(
        [np.maximum(rects[:, None, :2], rects[None, :, :2]), np.minimum(rects[:, None, 2:], rects[None, :, 2:])], axis=2
    )
    on_other = _common(labels[:, None], rects[None]) - np.where(is_in.T, 0, _common(labels[:, None], shared))
    wrong = outside | np.any(clash, axis=1) | np.any(~is_in & (on_other > 0), axis=1)
    return tuple(number for number, is_wrong in zip(numbers, wrong.tolist(), strict=True) if is_wrong)


def _is_shown(box: Box, picture: Picture) -> bool:
    """Whether this page box is in the picture; of one that its edge cuts, enough for a number must be there."""
    inside, size = picture.map.box_to_picture(box), picture.size
    wide = min(inside.right, size.width) - max(inside.x, 0)
    high = min(inside.bottom, size.height) - max(inside.y, 0)
    # Half a pixel more or less is rounding, and no cut.
    return (
        min(wide, high) > 0 and wide >= min(_CUT_PX, inside.width - 0.5) and high >= min(_CUT_PX, inside.height - 0.5)
    )


# --- what the picture and the targets say -----------------------------------------------------------------------------


@dataclass
class _Ground:
    """Tables over the picture and the targets; each answers for any rectangle with four look-ups."""

    rects: Ints
    sizes: Ints
    width: int
    height: int
    ink: Ints
    """Summed: pixels on an edge."""
    cover: Ints
    """Summed: how many targets lie on each pixel."""
    nearest: Ints
    """At half size: a label of the target centre that is nearest."""
    containers: Ints
    """For each target a row of those it is in, filled up with -1."""

    def foreign(self, at: Ints, of: Ints) -> Ints:
        """How many pixels of other targets' boxes lie under these rectangles; `of` says whose labels they are."""
        under = _sum(self.cover, at) - _common(at, self.rects[of])
        for outer in self.containers[of].T:
            under -= np.where(outer >= 0, _common(at, self.rects[outer]), 0)
        return under

    def is_inside(self, at: Ints) -> Bools:
        """Whether these rectangles are whole in the picture."""
        return (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 2] <= self.width) & (at[:, 3] <= self.height)

    def ink_share(self, at: Ints) -> Floats:
        """The share of each rectangle that is ink."""
        return (_sum(self.ink, at) / np.maximum(1, _area(at))).astype(np.float32)

    def is_nearest(self, at: Ints, of: Ints) -> Bools:
        """Whether the target centre nearest to each rectangle's middle is its own."""
        own: Bools = self._nearest_at(at) == self._nearest_at(self.rects[of])
        return own

    def _nearest_at(self, at: Ints) -> Ints:
        x, y = (at[:, 0] + at[:, 2]) // 4, (at[:, 1] + at[:, 3]) // 4
        height, width = self.nearest.shape
        found: Ints = self.nearest[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
        return found

    def clipped(self, at: Ints) -> Ints:
        """The parts of these rectangles that are in the picture."""
        limits = np.array([self.width, self.height, self.width, self.height], np.int32)
        return np.clip(at, 0, limits).astype(np.int32)


def _survey(rects: Ints, sizes: Ints, picture: Picture) -> _Ground:
    pixels = pixels_of(picture)
    height, width = pixels.shape[:2]
    cover = np.zeros((height, width), np.uint8)
    for left, top, right, bottom in rects.tolist():
        cover[top:bottom, left:right] += 1
    return _Ground(
        rects=rects,
        sizes=sizes,
        width=width,
        height=height,
        ink=cv2.integral(_edges(pixels, rects)).astype(np.int32, copy=False),
        cover=cv2.integral(cover).astype(np.int32, copy=False),
        nearest=_nearest_centres(rects, width, height),
        containers=_containers(rects),
    )


def _edges(pixels: Pixels, rects: Ints) -> Pixels:
    """1 where brightness changes sharply, as it does at the strokes of letters, else 0."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    change = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    edges = np.asarray(cv2.threshold(change, 28, 1, cv2.THRESH_BINARY)[1], np.uint8)
    # Outlines will be drawn here, so there is nothing left to cover.
    for left, top, right, bottom in rects.tolist():
        cv2.rectangle(edges, (left, top), (right - 1, bottom - 1), 0, 2)
    return edges


def _nearest_centres(rects: Ints, width: int, height: int) -> Ints:
    field = np.ones(((height + 1) // 2, (width + 1) // 2), np.uint8)
    field[(rects[:, 1] + rects[:, 3]) // 4, (rects[:, 0] + rects[:, 2]) // 4] = 0
    _, labels = cv2.distanceTransformWithLabels(field, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL)
    return np.asarray(labels, np.int32)


def _containers(rects: Ints) -> Ints:
    areas = _area(rects)
    common = _common(rects[:, None], rects[None])
    within = common >= _CONTAINED * areas[:, None]
    # Of two that are alike each is in the other; else only the smaller is in the larger.
    inside = within & ((areas[None] > areas[:, None]) | within.T)
    np.fill_diagonal(inside, False)
    inner, outer = np.nonzero(inside)
    many = inside.sum(axis=1)
    rows = np.full((len(rects), many.max()), -1, np.int32)
    rows[inner, np.arange(len(inner)) - (np.cumsum(many) - many)[inner]] = outer
    return rows


# --- candidates and their cost ----------------------------------------------------------------------------------------


class _Candidates(NamedTuple):
    """For each mark its possible places, cheapest first; a place that may not be has infinite cost."""

    rects: Ints
    costs: Floats


def _gather(ground: _Ground) -> _Candidates:
    corners, preferences = _touching(ground)
    many = corners.shape[1]
    of = np.repeat(np.arange(len(ground.rects), dtype=np.int32), many)
    at = np.concatenate([corners, corners + ground.sizes[:, None]], axis=2).reshape(-1, 4).astype(np.int32)
    costs = _costs(ground, at, of) + np.tile(preferences, len(ground.rects))
    rects, costs = at.reshape(-1, many, 4), costs.reshape(-1, many)
    order = np.argsort(costs, axis=1, kind="stable")
    return _Candidates(np.take_along_axis(rects, order[..., None], axis=1), np.take_along_axis(costs, order, axis=1))


def _touching(ground: _Ground) -> tuple[Ints, Floats]:
    """Top left corners of labels in, across the edge of, and beside each target, with how welcome each place is."""
    left, top, right, bottom = ground.rects.T
    wide, high = ground.sizes.T
    ends, foot = right - wide, bottom - high
    middle, centre = (left + ends) // 2, (top + foot) // 2
    half_wide, half_high = wide // 2, high // 2
    before, after, above, below = left - wide - 1, right + 1, top - high - 1, bottom + 1
    places = [
        # Inside: corners, edges, along the middle.
        (left, top, 0.0), (ends, top, 0.15), (left, foot, 0.3), (ends, foot, 0.35),
        (left, centre, 0.2), (ends, centre, 0.2), (middle, top, 0.4), (middle, foot, 0.5), (middle, centre, 0.6),
        ((3 * left + ends) // 4, centre, 0.55), ((left + 3 * ends) // 4, centre, 0.5),
        # Across the edge: half of it is on the target.
        (left, top - half_high, 0.45), (ends, top - half_high, 0.5),
        (left - half_wide, top - half_high, 0.5), (right - half_wide, top - half_high, 0.55),
        (left - half_wide, centre, 0.5), (right - half_wide, centre, 0.55),
        (left - wide + 4, top - high + 4, 0.6), (right - 4, top - high + 4, 0.65),
        (left, bottom - half_high, 0.65), (ends, bottom - half_high, 0.7),
        (left - half_wide, bottom - half_high, 0.7), (right - half_wide, bottom - half_high, 0.75),
        # Beside it, one pixel away, which leaves the outline whole.
        (before, centre, 0.7), (after, centre, 0.75), (left, above, 0.75), (ends, above, 0.8), (middle, above, 0.8),
        (before, top, 0.8), (after, top, 0.85), (left, below, 0.9), (ends, below, 0.95), (middle, below, 0.95),
        (before, foot, 0.9), (after, foot, 0.95),
        (before, above, 1.1), (after, above, 1.1), (before, below, 1.2), (after, below, 1.2),
    ]  # fmt: skip
    corners = np.stack([np.stack([x, y], axis=1) for x, y, _ in places], axis=1)
    return corners.astype(np.int32), np.array([preference for _, _, preference in places], np.float32)


def _costs(ground: _Ground, at: Ints, of: Ints) -> Floats:
    """What is bad about these label rectangles, infinite where one breaks a hard rule about targets or the picture."""
    rects = ground.rects[of]
    possible = ground.is_inside(at)
    safe = ground.clipped(at)
    on_own = _common(safe, rects)
    around = ground.clipped(at + np.array([-2, -2, 2, 2], np.int32))
    possible &= ground.foreign(safe, of) <= 0
    touching = ground.foreign(around, of) / np.maximum(1, _area(around) - _area(safe))
    # A label on its own target is not mistaken, however near a neighbour is.
    doubt = 1 - 0.8 * on_own / np.maximum(1, _area(safe))
    costs = (
        _INK * np.maximum(0, ground.ink_share(safe) - 0.02)
        + _HIDES_TARGET * on_own / np.maximum(1, _area(rects))
        + _TOUCHES_OTHER * np.minimum(1, touching) * doubt
        + _NEARER_TO_OTHER * ~ground.is_nearest(safe, of) * doubt
    )
    return np.where(possible, costs, np.inf).astype(np.float32)


# --- who gets which ---------------------------------------------------------------------------------------------------


def _assign(ground: _Ground, candidates: _Candidates, style: Style) -> list[Rect]:
    """One place for each mark, those with the fewest to choose from first."""
    choices = np.isfinite(candidates.costs).sum(axis=1)
    order = np.lexsort((_area(ground.rects), choices))
    board = _Board(ground, candidates, choices.astype(np.int32))
    waiting = [int(mark) for mark in order if not board.take_first_free(int(mark))]
    waiting = [mark for mark in waiting if not board.take_by_moving_another(mark)]
    for mark in waiting:
        board.take_farther_away(mark, style)
    return [board.spots[mark] for mark in range(len(ground.rects))]


class _Board:
    """Who has which place. `taken` holds, for each pixel, the mark whose label lies there, plus one."""

    def __init__(self, ground: _Ground, candidates: _Candidates, choices: Ints) -> None:
        self.spots: dict[int, Rect] = {}
        self._ground = ground
        self._candidates = candidates
        self._choices = choices
        self._taken = np.zeros((ground.height, ground.width), np.int32)

    def take_first_free(self, mark: int) -> bool:
        for place in self._places(mark):
            if not self._under(place).any():
                self._put(mark, place)
                return True
        return False

    def _places(self, mark: int) -> Iterator[Rect]:
        # One row at a time: nearly always the first or second place is free.
        return (_rect(row.tolist()) for row in self._candidates.rects[mark, : self._choices[mark]])

    def take_by_moving_another(self, mark: int) -> bool:
        """Take a place whose one owner has somewhere else to go."""
        for place in self._places(mark):
            owners = np.unique(self._under(place))
            owners = owners[owners != 0]
            if len(owners) != 1 or owners[0] == _LEADER:
                continue
            owner = int(owners[0]) - 1
            had = self.spots[owner]
            self._lift(owner)
            self._put(mark, place)
            if self.take_first_free(owner):
                return True
            self._lift(mark)
            self._put(owner, had)
        return False

    def take_farther_away(self, mark: int, style: Style) -> None:
        """Take the best free place near the target, else anywhere, else one that covers least."""
        whole = (0, 0, self._ground.width, self._ground.height)
        left, top, right, bottom = _rect(self._ground.rects[mark].tolist())
        near = (left - _NEAR_PX, top - _NEAR_PX, right + _NEAR_PX, bottom + _NEAR_PX)
        place = (
            self._search(mark, near, may_cover=False)
            or self._search(mark, whole, may_cover=False)
            or self._search(mark, whole, may_cover=True)
            or self._forced(mark)
        )
        if gap(place, (left, top, right, bottom)) >= style.leader_from:
            for stroke in strokes(place, (left, top, right, bottom)):
                under = self._under(stroke)
                under[under == 0] = _LEADER
        self._put(mark, place)

    def _search(self, mark: int, window: Rect, *, may_cover: bool) -> Rect | None:
        ground = self._ground
        wide, high = (int(edge) for edge in ground.sizes[mark])
        left, top = max(0, window[0]), max(0, window[1])
        right, bottom = min(ground.width, window[2]), min(ground.height, window[3])
        x, y = np.meshgrid(
            np.arange(left, right - wide + 1, _STRIDE), np.arange(top, bottom - high + 1, _STRIDE), indexing="xy"
        )
        at = np.stack([x.ravel(), y.ravel(), x.ravel() + wide, y.ravel() + high], axis=1).astype(np.int32)
        table = cv2.integral((self._taken[top:bottom, left:right] != 0).astype(np.uint8))
        at = at[_sum(table, at - np.array([left, top, left, top], np.int32)) == 0]
        of = np.full(len(at), mark, np.int32)
        foreign = ground.foreign(at, of)
        if not may_cover:
            at, of, foreign = at[foreign <= 0], of[foreign <= 0], foreign[foreign <= 0]
        if not len(at):
            return None
        costs = (
            _PER_PIXEL_AWAY * _gaps(at, ground.rects[of])
            + _INK * ground.ink_share(at)
            + _NEARER_TO_OTHER * ~ground.is_nearest(at, of)
            + 0.2 * foreign
        )
        best = np.argsort(costs, kind="stable")[:_CLOSEST].tolist()
        places = {_rect(at[i].tolist()): float(costs[i]) for i in best}
        return min(places, key=lambda place: places[place] + self._line(mark, place))

    def _line(self, mark: int, place: Rect) -> float:
        """What the line from here to the target would cost by what it crosses."""
        lines = np.array(strokes(place, _rect(self._ground.rects[mark].tolist())), np.int32).reshape(-1, 4)
        lines = self._ground.clipped(lines)
        crossed = self._ground.foreign(lines, np.full(len(lines), mark, np.int32)).clip(0).sum()
        labels = sum(int(np.count_nonzero(self._under(_rect(line)))) for line in lines.tolist())
        return _LEADER_OVER_OTHER * (float(crossed) + 3 * labels)

    def _forced(self, mark: int) -> Rect:
        """The picture is full of labels: on its own target, whatever is there."""
        left, top = (int(edge) for edge in self._ground.rects[mark][:2])
        wide, high = (int(edge) for edge in self._ground.sizes[mark])
        left = max(0, min(left, self._ground.width - wide))
        top = max(0, min(top, self._ground.height - high))
        return left, top, left + wide, top + high

    def _under(self, place: Rect) -> Ints:
        left, top, right, bottom = place
        return self._taken[top:bottom, left:right]

    def _put(self, mark: int, place: Rect) -> None:
        self._under(place)[...] = mark + 1
        self.spots[mark] = place

    def _lift(self, mark: int) -> None:
        self._under(self.spots.pop(mark))[...] = 0


# --- colours ----------------------------------------------------------------------------------------------------------


def _colours(marks: Sequence[Mark], rects: Ints) -> list[str]:
    """A shade of its kind for each mark, another than its neighbours'."""
    kinds = np.unique([mark.kind for mark in marks], return_inverse=True)[1]
    gaps = _gaps(rects[:, None], rects[None])
    beside = (gaps <= _NEIGHBOUR_PX) & (kinds[:, None] == kinds[None])
    np.fill_diagonal(beside, False)
    weights = np.where(beside, 1 / (1.0 + gaps), 0)
    choices = [len(PALETTE[mark.kind]) for mark in marks]
    near = [np.nonzero(row)[0] for row in beside]
    weight = [weights[i, others] for i, others in enumerate(near)]
    shades = np.full(len(marks), -1)
    # The first round gives each mark the shade worn least around it; the others settle what clashes still.
    for _ in range(_ROUNDS):
        before = shades.copy()
        for i, many in enumerate(choices):
            worn = np.bincount(shades[near[i]] + 1, weights=weight[i], minlength=many + 1)[1:]
            if shades[i] < 0 or worn[shades[i]] > 0:
                shades[i] = worn.argmin()
        if (shades == before).all():
            break
    return [PALETTE[mark.kind][shade] for mark, shade in zip(marks, shades.tolist(), strict=True)]


# --- rectangles by the thousand ---------------------------------------------------------------------------------------


def _sum(table: Ints, at: Ints) -> Ints:
    """The sums under these rectangles, from a summed table."""
    left, top, right, bottom = at.T
    total: Ints = table[bottom, right] - table[top, right] - table[bottom, left] + table[top, left]
    return total


def _common(one: Ints, other: Ints) -> Ints:
    wide = np.minimum(one[..., 2], other[..., 2]) - np.maximum(one[..., 0], other[..., 0])
    high = np.minimum(one[..., 3], other[..., 3]) - np.maximum(one[..., 1], other[..., 1])
    area: Ints = np.maximum(wide, 0) * np.maximum(high, 0)
    return area


def _area(at: Ints) -> Ints:
    area: Ints = (at[..., 2] - at[..., 0]) * (at[..., 3] - at[..., 1])
    return area


def _gaps(one: Ints, other: Ints) -> Ints:
    """How far apart along the axis on which they are farthest; 0 where they touch or overlap."""
    across = np.maximum(one[..., 0] - other[..., 2], other[..., 0] - one[..., 2])
    down = np.maximum(one[..., 1] - other[..., 3], other[..., 1] - one[..., 3])
    apart: Ints = np.maximum(np.maximum(across, down), 0)
    return apart


def _rect(edges: Sequence[int]) -> Rect:
    left, top, right, bottom = edges
    return left, top, right, bottom


def _box(rect: Rect) -> Box:
    left, top, right, bottom = rect
    return Box(x=left, y=top, width=right - left, height=bottom - top)

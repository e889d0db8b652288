"""The places where the label of each mark may stand, in the same order for all marks, and what each of them costs.

The cost is read from summed-area tables. This module knows neither other labels nor which place is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.labels.ink import InkOfTargets, InkPositions, ink_positions
from vision_agent.vision.labels.placement_cost import PlacementCost
from vision_agent.vision.rects import Bools, Floats, Group, Ints, common_area, rect_areas
from vision_agent.vision.style import LabelWidth

# The cost of a candidate's flaws, compared with preferences between 0 and 1.2. Chosen by looking at marked pages.
INK = 4.0
_HIDES_INK = 1.5
"""The cost of hiding all ink of the target itself, reached at two thirds of it."""
HIDES_FIRST_LETTER = 3.0
"""The cost of hiding the first letter of any target, by which a word is read, or an icon."""
_HIDES_TARGET = 2.2
_HIDES_STATE = 4.4
"""The cost of hiding a toggle, whose state is all there is to see of it."""
_TOUCHES_OTHER = 1.5
NEARER_TO_OTHER = 1.4
_IN_OTHER_ROW = 0.8
"""The cost of standing in the row of another target, a few pixels from it, though nearer to its own."""
_NARROW = 0.4

_BESIDE_PX = 1
_OVER_PX = 4
"""How much of a label is on its target where it is beside it but for that."""
_FAR_PX = 8
_ROOMY = 3
"""A target more than this many times as wide as its label has room along its middle, and needs no place far away."""


class Candidates(NamedTuple):
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


def gather(ground: PlacementCost) -> Candidates:
    """The places that break no hard rule, without those that a target of its size does not need."""
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
    return Candidates(rects, may_be, possible, flaws, on_own, ink_positions(ground, at, of, on_own), preferences)


def place_costs(candidates: Candidates, ink: InkOfTargets) -> Floats:
    """The cost of each candidate, infinite if it is not allowed."""
    costs = np.full(candidates.may_be.shape, np.inf, np.float32)
    cost = INK * np.maximum(0, ink.shares() - 0.02) + HIDES_FIRST_LETTER * ink.first_hidden() + candidates.flaws
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
ABOVE_AND_BELOW = [
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
        + NEARER_TO_OTHER * ~ground.is_nearest(at, of) * doubt
        + _IN_OTHER_ROW * ground.is_in_other_row(at, of) * doubt
    )
    return flaws

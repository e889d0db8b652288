"""Places in the whole picture for a crowd of labels that have no room at their targets.

What does not depend on the target is computed once for each size of label, at every third pixel: a search of its own
for each of hundreds of labels takes seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision_agent.vision.labels.candidate_places import HIDES_FIRST_LETTER, INK
from vision_agent.vision.labels.ink import InkOfTargets
from vision_agent.vision.labels.placement_cost import PlacementCost
from vision_agent.vision.rects import Bools, Floats, Ints, Rect, overlap_lengths, window_sums

STRIDE = 3
"""Pixels from one place that is tried to the next."""
PER_PIXEL_AWAY = 0.03
BENT = 0.3
"""The cost of a line that is neither level nor upright."""
PER_COVERED_PIXEL = 0.2


@dataclass
class _Places:
    """The places of one size of label: a row for each `y`, a column for each `x`."""

    x: Ints
    y: Ints
    wide: int
    high: int
    cost: Floats
    """The cost of the ink that a label hides there."""
    cover: Ints
    """How many pixels of targets it covers there."""
    is_free: Bools
    """Whether no label is there yet."""


class FarPlaces:
    """Where labels may lie, far from their targets too. `is_taken`: for each pixel, whether a label lies there."""

    def __init__(self, ground: PlacementCost, ink: InkOfTargets, is_taken: Bools) -> None:
        self._ground = ground
        self._ink = ink
        self._taken = cv2.integral(is_taken.astype(np.uint8))
        self._by_size: dict[tuple[int, int], _Places] = {}
        for wide, high in {(int(wide), int(high)) for wide, high in ground.narrow.tolist()}:
            if wide <= ground.width and high <= ground.height:
                self._by_size[wide, high] = self._places(wide, high)

    def best(self, mark: int, window: Rect, *, may_cover: bool = False) -> Rect | None:
        """The best place in this window for the mark's narrow label that is not on another label; None without one.

        `may_cover`: also on other targets.
        """
        ground = self._ground
        wide, high = ground.narrow[mark].tolist()
        places = self._by_size.get((wide, high))
        if places is None:
            return None
        columns = slice(*np.searchsorted(places.x, [window[0], window[2] - wide + 1]).tolist())
        rows = slice(*np.searchsorted(places.y, [window[1], window[3] - high + 1]).tolist())
        x, y = places.x[columns], places.y[rows]
        if not (len(x) and len(y)):
            return None
        foreign = places.cover[rows, columns].copy()
        outer = ground.containers[mark]
        for around in ground.rects[[mark, *outer[outer >= 0]]].tolist():
            across = overlap_lengths(x, wide, around[0], around[2])
            down = overlap_lengths(y, high, around[1], around[3])
            foreign -= down[:, None] * across[None]
        own = ground.rects[mark]
        far_x = np.maximum(np.maximum(own[0] - x - wide, x - own[2]), 0).astype(np.float32)
        far_y = np.maximum(np.maximum(own[1] - y - high, y - own[3]), 0).astype(np.float32)[:, None]
        costs = places.cost[rows, columns] + np.float32(PER_PIXEL_AWAY) * np.maximum(far_x, far_y)
        costs += np.float32(BENT) * ((far_x > 0) & (far_y > 0))
        if may_cover:
            costs += np.float32(PER_COVERED_PIXEL) * foreign
        costs[~places.is_free[rows, columns] if may_cover else ~places.is_free[rows, columns] | (foreign > 0)] = np.inf
        row, column = divmod(int(costs.argmin()), len(x))
        if not np.isfinite(costs[row, column]):
            return None
        left, top = int(x[column]), int(y[row])
        return left, top, left + wide, top + high

    def block(self, place: Rect) -> None:
        """Notes that a label lies on this place."""
        left, top, right, bottom = place
        for places in self._by_size.values():
            columns = slice(*np.searchsorted(places.x, [left - places.wide + 1, right]).tolist())
            rows = slice(*np.searchsorted(places.y, [top - places.high + 1, bottom]).tolist())
            places.is_free[rows, columns] = False

    def _places(self, wide: int, high: int) -> _Places:
        ground = self._ground
        x = np.arange(0, ground.width - wide + 1, STRIDE, dtype=np.int32)
        y = np.arange(0, ground.height - high + 1, STRIDE, dtype=np.int32)
        left, top = (each.ravel() for each in np.meshgrid(x, y))
        at = np.stack([left, top, left + wide, top + high], axis=1).astype(np.int32)
        cost = INK * self._ink.share(at) + HIDES_FIRST_LETTER * self._ink.touches_first(at)
        return _Places(
            x,
            y,
            wide,
            high,
            cost.astype(np.float32).reshape(len(y), len(x)),
            window_sums(ground.cover, x, y, wide, high),
            window_sums(self._taken, x, y, wide, high) == 0,
        )

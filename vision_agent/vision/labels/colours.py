"""Chooses the shade of each mark: one of its kind, and different from its neighbours'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vision_agent.observation import Kind, Mark
from vision_agent.vision.labels.placement_cost import Near
from vision_agent.vision.rects import Ints

_NEIGHBOUR_PX = 12
_ROUNDS = 5


def choose_colours(
    marks: Sequence[Mark],
    kinds: Ints,
    near: Near,
    previous: Mapping[int, str],
    palette_of: Mapping[Kind, tuple[str, ...]],
) -> list[str]:
    """A shade of its kind for each mark, different from its neighbours'; a previous shade is kept if it still differs.

    `previous` holds the previous shades by index in `marks`.
    """
    beside = (near.apart <= _NEIGHBOUR_PX) & (kinds[near.one] == kinds[near.other])
    one, other = near.one[beside], near.other[beside]
    starts = np.searchsorted(one, np.arange(len(marks) + 1)).tolist()
    weights = (1 / (1.0 + np.maximum(0, near.apart[beside]))).tolist()
    neighbours = other.tolist()
    palettes = [palette_of[mark.kind] for mark in marks]
    shades = [
        palette.index(previous[i]) if i in previous and previous[i] in palette else -1
        for i, palette in enumerate(palettes)
    ]
    # The first round gives each mark the shade used least around it; later rounds resolve remaining clashes.
    for _ in range(_ROUNDS):
        before = shades.copy()
        for i, palette in enumerate(palettes):
            around = [0.0] * len(palette)
            for at in range(starts[i], starts[i + 1]):
                if (shade := shades[neighbours[at]]) >= 0:
                    around[shade] += weights[at]
            if shades[i] < 0 or around[shades[i]] > 0:
                shades[i] = around.index(min(around))
        if shades == before:
            break
    return [palette[shade] for palette, shade in zip(palettes, shades, strict=True)]

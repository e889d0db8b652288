"""Which shade each mark is drawn in: of its kind, and another than its neighbours'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vision_agent.types import Kind, Mark
from vision_agent.vision.ground import Near
from vision_agent.vision.rects import Ints

_NEIGHBOUR_PX = 12
_ROUNDS = 5


def choose_colours(
    marks: Sequence[Mark], kinds: Ints, near: Near, worn: Mapping[int, str], palette_of: Mapping[Kind, tuple[str, ...]]
) -> list[str]:
    """A shade of its kind for each mark, another than its neighbours', and the one it has `worn` where that is so.

    `worn` goes by position in `marks`.
    """
    beside = (near.apart <= _NEIGHBOUR_PX) & (kinds[near.one] == kinds[near.other])
    one, other = near.one[beside], near.other[beside]
    starts = np.searchsorted(one, np.arange(len(marks) + 1)).tolist()
    weights = (1 / (1.0 + np.maximum(0, near.apart[beside]))).tolist()
    neighbours = other.tolist()
    palettes = [palette_of[mark.kind] for mark in marks]
    shades = [palette.index(worn[i]) if i in worn and worn[i] in palette else -1 for i, palette in enumerate(palettes)]
    # The first round gives each mark the shade worn least around it; the others settle what clashes still.
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

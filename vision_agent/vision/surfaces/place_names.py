"""Names the places of a series along an axis, also where only some of them have a name.

This module knows places, but neither values nor pixels.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from vision_agent.vision.surfaces.axes import Axis
from vision_agent.vision.surfaces.bars import even_step

_HAS_NAME = 0.75
"""The least distance of two values, as a share of that of two names, at which each of them has a name."""
_AT_NAME_PX = 6.0
"""How far the middle of an uneven value may be from that of its name."""
_LEAST_APART_PX = 3.0
"""What is nearer to each other is above each other, as several points at one place."""


def names_along(places: Sequence[float], across: Axis) -> list[str]:
    """The name of each place, from left to right; where only some have names, counted from those."""
    named = [place for place, _ in across.names]
    spacing = float(np.median(np.diff(named))) if len(named) > 1 else 0.0
    apart = float(np.median(np.diff(places))) if len(places) > 1 else spacing
    if across.kind != "names" or len(named) < 2 or apart < _LEAST_APART_PX:
        return [across.name(place) for place in places]
    if apart > _HAS_NAME * spacing:
        return counted_names(places, across, spacing)
    if (step := even_step(places)) is not None:
        return counted_names(places, across, step)
    return [_share_between(place, across) for place in places]


def counted_names(places: Sequence[float], across: Axis, step: float) -> list[str]:
    """The names of places on the axis, each a step from the next; without a name, from which it is how many further.

    That is the name to the left, or the first one.
    """
    named: list[str] = []
    for place in places:
        near, words = min(across.names, key=lambda each: abs(each[0] - place))
        if abs(near - place) <= step / 2:
            named.append(words)
        elif across.kind != "names":
            named.append(across.name(place))
        else:
            before = [each for each in across.names if each[0] <= place]
            first, name = max(before) if before else min(across.names)
            many = round((place - first) / step)
            named.append(f"{name} {'+' if many > 0 else '−'} {abs(many)}" if many else name)
    return named


def _share_between(place: float, across: Axis) -> str:
    """The name at a place of a row of uneven ones; where it has none, how far it is on the way between two names."""
    at = min(max(1, bisect_right(across.names, (place, ""))), len(across.names) - 1)
    (first, left), (last, right) = across.names[at - 1], across.names[at]
    share = (place - first) / (last - first)
    if abs(place - first) <= _AT_NAME_PX:
        return left
    return right if abs(place - last) <= _AT_NAME_PX else f"{share:.0%} from {left} to {right}"

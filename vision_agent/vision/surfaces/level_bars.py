"""Reads horizontal bars: a row of numbers below them is their scale, and the texts beside them are their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.surfaces.axes import Axis, Text, horizontal_axis

_BASE_PX, _EQUAL_PX = 4.0, 3.0
_LEAST_PX = 5.0
_FEWEST = 2
_NAME_PX = 24.0
"""How far from the base a name may end."""
_LEVEL = 0.6
"""How far from the middle of its bars a name may be, in times their height."""


@dataclass(frozen=True)
class LevelBars:
    """Horizontal bars on one vertical base, their scale, and the name of each."""

    axis: Axis
    bars: tuple[Box, ...]
    names: tuple[str, ...]
    texts: tuple[Box, ...]
    """The names' places."""
    stacked: tuple[tuple[Box, str], ...] = ()
    """The bars that begin where another ends, and the name of each; the value of one is its own length."""


def find_level_bars(texts: Sequence[Text], shapes: Sequence[Box]) -> LevelBars | None:
    """The horizontal bars among shapes; None if they have no scale, or are vertical."""
    bars = _on_one_base(shapes)
    if len(bars) < _FEWEST:
        return None
    lowest = max(bar.bottom for bar in bars)
    axis = horizontal_axis(texts, lowest - 2)
    if axis is None or axis.kind not in ("linear", "log"):
        return None
    base = min(bar.x for bar in bars)
    beside = [text for text in texts if -2 <= base - text.box.right <= _NAME_PX and text.box not in axis.boxes]
    names: list[str] = []
    used: list[Box] = []
    step = _step(beside, bars)
    for bar in bars:
        near = min(beside, key=lambda text: abs(text.box.center.y - bar.center.y), default=None)
        is_near = near is not None and abs(near.box.center.y - bar.center.y) <= step
        names.append(near.words if near is not None and is_near else "")
        if near is not None and is_near:
            used.append(near.box)
    if not any(names):
        return None
    stacked = [(box, name) for bar, name in zip(bars, names, strict=True) for box in _stacked_on(bar, shapes)]
    return LevelBars(axis, tuple(bars), tuple(names), tuple(dict.fromkeys(used)), tuple(stacked))


def _stacked_on(bar: Box, shapes: Sequence[Box]) -> list[Box]:
    """The boxes that go on from the end of a bar, from left to right."""
    level = [box for box in shapes if abs(box.y - bar.y) <= _EQUAL_PX and abs(box.height - bar.height) <= _EQUAL_PX]
    found: list[Box] = []
    end = bar.right
    for box in sorted(level, key=lambda box: box.x):
        if box is not bar and abs(box.x - end) <= _BASE_PX and box.right > end + 2:
            found.append(box)
            end = box.right
    return found


def _on_one_base(shapes: Sequence[Box]) -> list[Box]:
    """The most shapes that begin at one vertical line, equally high and not equally wide, from top to bottom."""
    best: list[Box] = []
    for first in shapes:
        if first.height < _LEAST_PX:
            continue
        alike = [
            each
            for each in shapes
            if abs(each.x - first.x) <= _BASE_PX and abs(each.height - first.height) <= _EQUAL_PX and each.width >= 2
        ]
        if len(alike) > len(best) and np.ptp([each.width for each in alike]) > _BASE_PX:
            best = alike
    level = sorted(best, key=lambda box: box.y)
    return [] if any(other.y < one.bottom - 1 for one, other in pairwise(level)) else level


def _step(names: Sequence[Text], bars: Sequence[Box]) -> float:
    """How far from its name a bar may be: half the distance of two names, or about its own height."""
    places = sorted(text.box.center.y for text in names)
    gaps = np.diff(places)
    return float(gaps.min() / 2) if len(gaps) and gaps.min() > 2 else _LEVEL * bars[0].height

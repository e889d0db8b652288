"""Measures how much of its own target each label hides (first letter, words, icons), and which labels lie astray.

It looks at the clean picture and the places of labels, pixel by pixel, and knows nothing of how labels are placed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision_agent.observation import Mark, Observation
from vision_agent.vision.components import connected_parts
from vision_agent.vision.picture import Picture, pixels_of
from vision_agent.vision.rects import Rect, as_rect, round_rects

_CASING_PX = 1
"""The white line around a label hides the page too."""
_UNLIKE = 40
"""How much a channel of an ink pixel differs at least from the background."""
_LEAST_INK = 6
_LARGEST_GLYPH_PX = 48
"""What is larger is a picture, of which a label may hide a part."""
_ACCENT_PX = 6
"""A line of less height is an accent or the dot of an i, and belongs to what is below it."""
_HIDDEN = 0.1
"""The share of a first letter from which it counts as hidden."""
_WHOLE = 0.9
_NEAR_PX = 24


@dataclass(frozen=True)
class CoveredFigures:
    """What the labels in one picture hide."""

    first_letters: int = 0
    """Targets that begin with a letter or are an icon."""
    first_letters_hidden: tuple[str, ...] = ()
    """The labels that hide one."""
    word_shares: tuple[float, ...] = ()
    """For each target with words, the share of its own ink that its label hides."""
    icon_shares: tuple[float, ...] = ()
    """The same for each target that is one icon, letter or digit."""
    placed: int = 0
    astray: tuple[str, ...] = ()
    """The labels that are off their target and in the row of another, or nearer to it."""


@dataclass(frozen=True)
class TargetInk:
    """The ink of one target, without that of the targets in it."""

    ink: NDArray[np.bool_]
    first: NDArray[np.bool_] | None
    """The part that is its first letter or its icon; None if it begins with neither."""

    @property
    def is_icon(self) -> bool:
        """Whether the first glyph is all there is."""
        return self.first is not None and int(self.first.sum()) >= _WHOLE * int(self.ink.sum())


def covered_figures(observation: Observation) -> CoveredFigures:
    """The figures of an observation whose pictures were loaded with their bytes."""
    return covered(observation.marks, Picture.of(observation.clean))


def covered(marks: Sequence[Mark], clean: Picture) -> CoveredFigures:
    """The figures of placed marks in the picture on which they were placed."""
    placed = [mark for mark in marks if mark.label]
    if not placed:
        return CoveredFigures()
    targets = [as_rect(edges) for edges in clean.extent.rects([mark.place for mark in placed]).tolist()]
    spots = [as_rect(edges) for edges in round_rects([mark.label.box for mark in placed if mark.label]).tolist()]
    letters, hidden = 0, []
    words: list[float] = []
    icons: list[float] = []
    for at, mark in enumerate(placed):
        inner = [each for each in targets if each != targets[at] and _is_in(each, targets[at])]
        found = ink_of(mark, targets[at], inner, pixels_of(clean))
        if found is None:
            continue
        left, top, right, bottom = spots[at]
        x, y = targets[at][:2]
        under = np.zeros_like(found.ink)
        start_x, start_y = max(0, left - _CASING_PX - x), max(0, top - _CASING_PX - y)
        under[start_y : max(0, bottom + _CASING_PX - y), start_x : max(0, right + _CASING_PX - x)] = True
        share = float((found.ink & under).sum() / found.ink.sum())
        (icons if found.is_icon else words).append(share)
        if found.first is not None:
            letters += 1
            if (found.first & under).sum() > _HIDDEN * found.first.sum():
                hidden.append(mark.label_text)
    astray = [placed[at].label_text for at in range(len(placed)) if _is_astray(at, spots, targets)]
    return CoveredFigures(letters, tuple(hidden), tuple(words), tuple(icons), len(placed), tuple(astray))


def ink_of(mark: Mark, target: Rect, inner: Sequence[Rect], pixels: NDArray[np.uint8]) -> TargetInk | None:
    """The ink of a target: pixels unlike its background, without its frame. None if it has none of its own."""
    if mark.kind in ("scroller", "surface"):
        return None
    left, top, right, bottom = target
    part = pixels[top:bottom, left:right]
    is_own = np.ones(part.shape[:2], np.bool_)
    for x, y, end_x, end_y in inner:
        is_own[max(0, y - top) : end_y - top, max(0, x - left) : end_x - left] = False
    if not is_own.any():
        return None
    colours = part.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1])
    values, counts = np.unique(colours[is_own], return_counts=True)
    ground = part[colours == values[counts.argmax()]][0]
    ink = (np.abs(part.astype(np.int16) - ground).max(axis=2) > _UNLIKE) & is_own
    if mark.kind != "toggle":
        ink = _without_frame(ink)
    if ink.sum() < _LEAST_INK:
        return None
    return TargetInk(ink, _first_glyph(ink, is_rtl=_is_rtl(mark.name)))


def _without_frame(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The ink without lines along the target's edges and without what is outside its rounded corners."""
    names, parts = connected_parts(ink)
    high, wide = ink.shape
    gone = set(names[[0, 0, -1, -1], [0, -1, 0, -1]].tolist())
    thin: dict[str, list[int]] = {"start": [], "end": []}
    for each, (left, top, across, down, area) in enumerate(parts, 1):
        is_ring = across >= wide - 4 and down >= high - 4 and area < 0.5 * across * down
        is_flat = down <= 3 and across >= 0.8 * wide and (top <= 2 or top + down >= high - 2)
        is_in_corner = (left + across <= 4 or left >= wide - 4) and (top + down <= 4 or top >= high - 4)
        if is_ring or is_flat or is_in_corner:
            gone.add(each)
        if across <= 3 and down >= 0.5 * high and (left <= 1 or left + across >= wide - 1):
            thin["start" if left <= 1 else "end"].append(each)
    # A line on one side only may be the letter l.
    if thin["start"] and thin["end"]:
        gone.update(*thin.values())
    return ink & ~np.isin(names, [*gone])


def _first_glyph(ink: NDArray[np.bool_], *, is_rtl: bool) -> NDArray[np.bool_] | None:
    """The leftmost connected ink of the first line, and what is above or below it; the rightmost if right to left."""
    rows = np.flatnonzero(ink.any(axis=1))
    start = end = int(rows[0])
    for row in rows[1:].tolist():
        if row > end + 1 and end + 1 - start >= _ACCENT_PX:
            break
        end = row
    line = np.zeros_like(ink)
    line[start : end + 1] = ink[start : end + 1]
    names, parts = connected_parts(line)
    if is_rtl:
        outermost = max(parts, key=lambda part: part.left + part.width)
    else:
        outermost = min(parts, key=lambda part: part.left)
    low, high = outermost.left, outermost.left + outermost.width
    found = np.zeros_like(ink)
    for each, part in enumerate(parts, 1):
        shared = min(high, part.left + part.width) - max(low, part.left)
        if shared >= 0.5 * min(part.width, high - low):
            found |= names == each
    across, down = (int(np.ptp(np.flatnonzero(found.any(axis=axis)))) + 1 for axis in (0, 1))
    return None if max(across, down) > _LARGEST_GLYPH_PX else found


def _is_rtl(name: str) -> bool:
    """Whether the first letter of a name belongs to a script written from right to left."""
    strong = (direction for direction in map(unicodedata.bidirectional, name) if direction in ("L", "R", "AL"))
    return next(strong, "L") != "L"


def _is_astray(at: int, spots: Sequence[Rect], targets: Sequence[Rect]) -> bool:
    spot, own = spots[at], targets[at]
    if _gap(spot, own) < 0:
        return False
    apart, is_in_row = max(0, _gap(spot, own)), _shared_row(spot, own) >= 0.5
    for other in targets:
        if other == own or _is_in(own, other) or _is_in(other, own):
            continue
        gap = max(0, _gap(spot, other))
        if gap < apart or (gap <= _NEAR_PX and not is_in_row and _shared_row(spot, other) > 0.5):
            return True
    return False


def _gap(one: Rect, other: Rect) -> int:
    """The gap between two rectangles, on the axis where they are farthest apart; negative if they overlap."""
    return max(one[0] - other[2], other[0] - one[2], one[1] - other[3], other[1] - one[3])


def _shared_row(spot: Rect, target: Rect) -> float:
    """The share of a label's height that is in the target's row."""
    return max(0, min(spot[3], target[3]) - max(spot[1], target[1])) / (spot[3] - spot[1])


def _is_in(inner: Rect, outer: Rect) -> bool:
    """Whether a rectangle lies in another, within a pixel."""
    return (
        outer[0] <= inner[0] + 1 and outer[1] <= inner[1] + 1 and outer[2] >= inner[2] - 1 and outer[3] >= inner[3] - 1
    )

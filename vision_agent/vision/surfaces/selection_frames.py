"""Finds the frame around something selected: small equal handles at the corners and the middles of the sides, turned
or not, and one beside it to rotate it.

Corners alone are found only around something that fills their frame, because tiles and points stand in rectangles too.
Where the frame or the shape under it cuts a handle into pieces, the pieces are one handle. This module knows only
rectangles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision_agent.vision.rects import Bools, Floats, Group, Ints, common_area, rect_areas

_HANDLE_PX = (5, 22)
_MOST = 80
"""With more small shapes than this, as in a chart of points, none are handles."""
_LEAST_SIDE = 18
_OFF_PX = 5.0
"""How far the middle of a handle may be from where it belongs; of a piece of one, half a handle more."""
_PIECE = 0.75
"""The share of the usual size below which a handle is a piece of one."""
_ALIKE = 1.6
_ROTATES_PX = (14.0, 90.0)
_FILLS = 0.7


@dataclass(frozen=True)
class Frame:
    """Handles around one thing."""

    rect: Ints
    """Around the middles of the corners."""
    handles: Ints
    """One row each."""
    pieces: Group
    """The indexes of all rectangles that handles are made of."""
    framed: int | None
    """The index of what is framed, if it is a thing itself."""


def find_frames(rects: Ints, things: Ints) -> list[Frame]:
    """The frames that small ones among `rects` make; `things` has what may be framed."""
    sides = rects[:, 2:] - rects[:, :2]
    small = np.flatnonzero((sides.min(axis=1, initial=1 << 15) >= _HANDLE_PX[0]) & (
        sides.max(axis=1, initial=0) <= _HANDLE_PX[1]))  # fmt: skip
    if not 4 <= len(small) <= _MOST:
        return []
    centres = ((rects[small, :2] + rects[small, 2:]) / 2).astype(np.float32)
    sizes = sides[small].max(axis=1).astype(np.float32)
    frames: list[Frame] = []
    used = np.zeros(len(small), bool)
    for corners in _rectangles(centres, sizes):
        if used[corners].any():
            continue
        frame, own = _frame(corners, centres, sizes, rects[small], small, things)
        if frame is not None:
            used |= own
            frames.append(frame)
    return frames


def _rectangles(centres: Floats, sizes: Floats) -> list[Group]:
    """The groups of four that are the corners of a rectangle, in order around it, the largest first."""
    one, other = np.triu_indices(len(centres), 1)
    span = centres[other] - centres[one]
    long = np.hypot(span[:, 0], span[:, 1])
    is_alike = np.maximum(sizes[one], sizes[other]) <= _ALIKE * np.minimum(sizes[one], sizes[other])
    keep = (long >= 1.4 * _LEAST_SIDE) & is_alike
    one, other, long = one[keep], other[keep], long[keep]
    middles = (centres[one] + centres[other]) / 2
    order = np.argsort(middles[:, 0], kind="stable")
    one, other, long, middles = one[order], other[order], long[order], middles[order]
    # Only the pairs whose middles may be the same: those to the right of each, as far as they are near.
    ends = np.searchsorted(middles[:, 0], middles[:, 0] + _OFF_PX, "right")
    many = ends - np.arange(len(one)) - 1
    first = np.repeat(np.arange(len(one)), many)
    second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many)
    is_same = np.abs(middles[first, 1] - middles[second, 1]) <= _OFF_PX
    is_same &= np.abs(long[first] - long[second]) <= 2 * _OFF_PX
    first, second = first[is_same], second[is_same]
    found = []
    for a, b in sorted(zip(first.tolist(), second.tolist(), strict=True), key=lambda pair: -float(long[pair[0]])):
        corners = np.array([one[a], one[b], other[a], other[b]], np.int64)
        side = [float(np.hypot(*(centres[corners[at]] - centres[corners[at - 1]]))) for at in range(2)]
        if len(set(corners.tolist())) == 4 and min(side) >= _LEAST_SIDE:
            found.append(corners)
    return found


def _frame(
    corners: Group, centres: Floats, sizes: Floats, rects: Ints, names: Group, things: Ints
) -> tuple[Frame | None, Bools]:
    """The frame with these corners, if it is one, and which small rectangles belong to it."""
    size = float(np.median(sizes[corners]))
    places = centres[corners]
    middle = places.mean(axis=0)
    sides = (places + np.roll(places, -1, axis=0)) / 2
    own = np.zeros(len(centres), bool)
    own[corners] = True
    reach = _OFF_PX + size / 2
    handles = [rects[corners]]
    on_side = []
    for place in sides:
        at = np.hypot(*(centres - place).T)
        pieces = np.flatnonzero((at <= reach) & ~own & (sizes <= _ALIKE * size))
        if not len(pieces):
            continue
        own[pieces] = True
        on_side.append(place)
        whole = pieces[(sizes[pieces] >= _PIECE * size) & (at[pieces] <= _OFF_PX)]
        handles.append(rects[whole[:1]] if len(pieces) == 1 and len(whole) else _around(place, size))
    rect = np.concatenate([places.min(axis=0), places.max(axis=0)]).round().astype(np.int32)
    framed = _framed(rect, things)
    # Small shapes all over, as in a net of points, are no handles.
    inside = ~own & (np.hypot(*(centres - middle).T) <= reach)
    is_frame = len(on_side) == 4 or (framed is not None and (len(on_side) >= 2 or _is_upright(places)))
    if not is_frame or inside.any():
        return None, own
    for place in sides:
        out = place - middle
        out = out / max(1e-6, float(np.hypot(*out)))
        along = (centres - place) @ out
        off = np.abs((centres - place) @ np.array([-out[1], out[0]]))
        is_rotator = ~own & (along >= _ROTATES_PX[0]) & (along <= _ROTATES_PX[1]) & (off <= 3)
        is_rotator &= (sizes <= _ALIKE * size) & (sizes >= size / _ALIKE)
        if is_rotator.sum() == 1:
            own |= is_rotator
            handles.append(rects[is_rotator])
    return Frame(rect, np.concatenate(handles), names[own], framed), own


def _around(place: Floats, size: float) -> Ints:
    left, top = (place - size / 2).round().astype(np.int32).tolist()
    return np.array([[left, top, left + round(size), top + round(size)]], np.int32)


def _is_upright(places: Floats) -> bool:
    sides = np.abs(np.roll(places, -1, axis=0) - places)
    return bool(sides.min(axis=1).max() <= _OFF_PX)


def _framed(rect: Ints, things: Ints) -> int | None:
    """The thing that fills the frame, which may have a margin around it."""
    if not len(things):
        return None
    common = common_area(rect[None], things)
    union = rect_areas(rect[None]) + rect_areas(things) - common
    share = common / np.maximum(1, union)
    best = int(share.argmax())
    return best if share[best] >= _FILLS else None

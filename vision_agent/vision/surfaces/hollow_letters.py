"""Tells large letters from shapes: a 0 from a radio button, and a thick 5 from an icon.

What encloses a patch of the ground, or is thick enough to be a patch itself, is mostly a shape. It is a letter if it is
drawn with a stroke of one colour and stands in a word: close to other letters, level with them, and of their colour.
One that stands alone is a letter only if it is a ring as narrow as a digit. This module knows only pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Group, Ints, connected_groups, rect_areas
from vision_agent.vision.surfaces.regions import Patches
from vision_agent.vision.surfaces.text_lines import GAP_LOW, LOW_ABOVE, LOW_BELOW, LOW_HIGH, LOW_WIDE

_LEAST_PX, _HIGH = 3, (9, 64)
_WIDE, _WIDE_HOLE = 4.0, 1.4
"""The most width of letters that touch, and of a patch that may be a letter's, in heights."""
_RIM = 0.25
"""The share of its rectangle that a patch must fill for an island to be its rim; other islands are letters anyway."""
_MOST = 600
_SAME_COLOUR, _SAME_INK = 10, 60
"""How far the colour of a hole may be from that around the letter, and the ink of a letter from that of the next."""
_STROKE, _THICK = 0.06, 0.16
"""The least width of the stroke around a hole, and the most distance of ink from its rim, in heights of the letter.
Outlines of buttons are thinner, and stars thicker."""
_MIXED = 0.12
"""The most share of pixels whose colour is neither that of ground or ink nor between the two."""
_GAP, _LEVEL, _LEVEL_PX = 0.35, 0.08, 1
"""The largest gap between letters, and how far their feet or heads may be from level, in heights of the letter."""
_TIGHT, _TAIL, _INTO = 0.12, 0.22, 0.5
"""The gap up to which they may be less level, by how much, and how far parts of a sign may reach over each other."""
_DASH_HIGH, _DASH_AT = 0.2, (0.3, 0.62)
"""The most height of a hyphen, and its middle above the foot of the letter."""
_UNEVEN = 1.8
"""The largest ratio between the heights of letters side by side: a capital and a small one have up to 1.5."""
_ALONE, _OVAL = 0.76, 0.95
"""The most width of a ring that stands alone, in heights, and the most share of its rectangle that its hole fills."""
_ROUND, _EVEN = 0.7, 0.1
"""The least share of its rectangle that a round hole fills, and how far it may be above or below the middle."""
_TWO, _TWO_HIGH = 1.3, 24
"""How many times as wide as high two small letters are that touch and have a hole between them, and how high."""
_BROAD, _FULL = 0.35, 0.75
"""The least width, in heights, and the most share of ink of a letter beside which another one may be: bars differ."""


def find_hollow_letters(islands: Ints, patches: Patches, pixels: Pixels) -> tuple[Ints, Bools]:
    """The rectangles of the letters among islands of edges that look like shapes, and which patches are theirs."""
    none = islands[:0], np.zeros(len(patches.rects), bool)
    wide, high = (islands[:, 2:] - islands[:, :2]).T
    is_small = (high >= _LEAST_PX) & (high < _HIGH[0]) & (wide <= _HIGH[1])
    signs = islands[is_small]
    islands = islands[(high >= _HIGH[0]) & (high <= _HIGH[1]) & (wide <= _WIDE * high)]
    inner = np.flatnonzero(_may_be_of_letters(patches.rects))
    if not len(inner) or not len(islands):
        return none
    at, of = _in_each_other(islands, patches.rects[inner])
    of = inner[of]
    is_rim = np.zeros(len(islands), bool)
    is_rim[at[rect_areas(patches.rects[of]) >= _RIM * rect_areas(islands[at])]] = True
    if not is_rim.any() or is_rim.sum() > _MOST:
        return none
    is_large = rect_areas(patches.rects[of]) >= _RIM * rect_areas(islands[at])
    # In the middle of a 0 there may be a dot.
    sides = np.stack([patches.rects[of, 0], patches.rects[of][:, [1, 3]].sum(axis=1) // 2], axis=1)
    is_hole = _have_colour_around(islands[at], patches.points[of], pixels)
    is_dotted = (patches.solid[of] >= _ROUND) & _have_colour_around(islands[at], sides, pixels)
    is_hole = is_large & (is_hole | is_dotted)
    has_hole, is_oval, is_box, is_wide, is_even = (np.zeros(len(islands), bool) for _ in range(5))
    has_hole[at[is_hole]] = True
    is_oval[at[is_hole & (patches.solid[of] <= _OVAL)]] = True
    is_box[at[is_large & (patches.solid[of] > _OVAL)]] = True
    wide, high = (islands[at, 2:] - islands[at, :2]).T
    is_wide[at[is_hole & (2 * (patches.rects[of, 2] - patches.rects[of, 0]) <= wide) & (wide >= _TWO * high)]] = True
    above, below = patches.rects[of, 1] - islands[at, 1], islands[at, 3] - patches.rects[of, 3]
    is_even[at[is_hole & (np.abs(above - below) <= _EVEN * high + 1)]] = True
    may, looks, rims = [], [], np.flatnonzero(is_rim)
    for each, ground in zip(rims.tolist(), _grounds(islands[rims], pixels), strict=True):
        look = _look(islands[each], pixels, ground, has_hole=bool(has_hole[each]))
        if look is not None:
            may.append(each)
            looks.append(look)
    if not looks:
        return none
    rings = islands[may]
    inks, is_broad = np.array([ink for ink, _ in looks], np.int32), np.array([is_broad for _, is_broad in looks])
    wide, high = (rings[:, 2:] - rings[:, :2]).T
    is_found = (is_oval[may] & (wide <= _ALONE * high)) | (is_wide[may] & (high <= _TWO_HIGH))
    sure = np.concatenate([islands[~is_rim], signs])
    is_beside = _are_beside(rings, sure, is_even[may])[0] | _are_signs_of(rings, sure)
    is_found |= _have_ink(is_beside & ~is_found[:, None], sure, inks, pixels)
    is_beside, is_level = _are_beside(rings, rings, is_even[may])
    is_beside &= np.abs(inks[:, None] - inks[None]).max(axis=2) <= _SAME_INK
    # Two outlined boxes side by side are boxes, but one beside a letter may be one, as a 0 of straight strokes.
    is_pair = is_beside & is_level & is_broad[:, None] & is_broad[None]
    is_pair &= ~(is_box[may][:, None] & is_box[may][None])
    is_found |= (is_pair & ~is_oval[may][:, None]).any(axis=1)
    for group in connected_groups(len(rings), *np.nonzero(is_beside)):
        is_found[group] = is_found[group].any()
    # The points and commas of very large letters are patches too.
    whole = np.concatenate([sure, rings[is_found]])
    is_sign = _are_signs_of(whole, rings).T & ~is_found[:, None]
    is_found |= _have_ink(is_sign, whole, inks, pixels)
    is_letter = np.zeros(len(islands), bool)
    is_letter[np.array(may)[is_found]] = True
    is_own = none[1]
    is_own[of[is_letter[at]]] = True
    return rings[is_found], is_own


def _may_be_of_letters(rects: Ints) -> Bools:
    wide, high = (rects[:, 2:] - rects[:, :2]).T
    return np.asarray((high <= _HIGH[1]) & (wide <= _WIDE_HOLE * high + 4))


def _in_each_other(outer: Ints, inner: Ints) -> tuple[Group, Group]:
    """The pairs of outer rectangles and inner ones in them."""
    is_in = (outer[:, None, 0] <= inner[:, 0]) & (outer[:, None, 1] <= inner[:, 1])
    is_in &= (outer[:, None, 2] >= inner[:, 2]) & (outer[:, None, 3] >= inner[:, 3])
    one, other = np.nonzero(is_in)
    return one, other


def _around(rects: Ints, pixels: Pixels) -> Ints:
    """The colours right above and below rectangles, six for each."""
    left, top, right, bottom = rects.T
    x = np.stack([left, (left + right) // 2, right - 1] * 2, axis=1)
    y = np.stack([top - 2] * 3 + [bottom + 1] * 3, axis=1)
    limits = np.array(pixels.shape[:2]) - 1
    return np.asarray(pixels[y.clip(0, limits[0]), x.clip(0, limits[1])], np.int32)


def _have_colour_around(rects: Ints, points: Ints, pixels: Pixels) -> Bools:
    """Whether the colour at each point is that above and below the rectangle."""
    own = pixels[points[:, 1], points[:, 0]].astype(np.int32)
    is_same = np.abs(_around(rects, pixels) - own[:, None]).max(axis=2, initial=0) <= _SAME_COLOUR
    return np.asarray(is_same.sum(axis=1) >= 4)


def _are_signs_of(rings: Ints, others: Ints) -> Bools:
    """Which others stand beside each ring as a point, a comma or a hyphen does."""
    left, top, right, bottom = rings.T[..., None]
    first, head, last, foot = others.T
    high, tall, wide = bottom - top, foot - head, last - first
    gap = np.maximum(left - last, first - right) / high
    under, middle = (foot - bottom) / high, (bottom - (head + foot) / 2) / high
    is_low = (gap <= GAP_LOW) & (tall <= LOW_HIGH * high) & (wide <= LOW_WIDE * high + 1)
    is_low &= (under >= -LOW_ABOVE) & (under <= LOW_BELOW)
    is_dash = (gap <= _GAP) & (tall <= _DASH_HIGH * high + 1) & (wide <= high) & (wide > tall)
    is_dash &= (middle >= _DASH_AT[0]) & (middle <= _DASH_AT[1])
    return np.asarray((gap >= 0) & (is_low | is_dash))


def _grounds(rects: Ints, pixels: Pixels) -> Ints:
    """The colour around each rectangle."""
    return np.asarray(np.sort(_around(rects, pixels), axis=1)[:, 3])


def _ink_in(rect: Ints, pixels: Pixels, ground: Ints) -> tuple[Ints, Ints]:
    """The colour in a rectangle that differs most from the ground, and how all its colours differ from it."""
    left, top, right, bottom = rect.tolist()
    differs = pixels[max(0, top) : bottom, max(0, left) : right].astype(np.int32) - ground
    flat = differs.reshape(-1, 3)
    return flat[np.abs(flat).max(axis=1).argmax()] + ground, differs


def _have_ink(pairs: Bools, others: Ints, inks: Ints, pixels: Pixels) -> Bools:
    """Which inks are that of one of the others that they are paired with."""
    used = np.flatnonzero(pairs.any(axis=0))
    grounds = _grounds(others[used], pixels)
    known = [_ink_in(others[at], pixels, ground)[0] for at, ground in zip(used.tolist(), grounds, strict=True)]
    if not known:
        return np.zeros(len(pairs), bool)
    is_same = np.abs(inks[:, None] - np.array(known)[None]).max(axis=2) <= _SAME_INK
    return np.asarray((pairs[:, used] & is_same).any(axis=1))


def _look(rect: Ints, pixels: Pixels, ground: Ints, *, has_hole: bool) -> tuple[Ints, bool] | None:
    """The ink of what may be a letter, and whether that is no bar; None if it is no stroke of one colour."""
    ink, apart = _ink_in(rect, pixels, ground)
    across = (ink - ground).astype(np.float32)
    size = float((across**2).sum())
    if not size:
        return None
    differs = apart.astype(np.float32)
    dark = differs @ across / size
    off = np.abs(differs - dark[..., None] * across).max(axis=2)
    if (off > _SAME_INK / 2).mean() > _MIXED:
        return None
    is_ink = (dark > 0.5).astype(np.uint8)
    deep = cv2.distanceTransform(cv2.copyMakeBorder(is_ink, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0), cv2.DIST_L2, 3)
    high, wide = is_ink.shape
    # A row or column through a hole crosses its stroke twice.
    thick = max(float(np.median(dark.sum(axis=axis))) for axis in (0, 1)) / 2
    if deep.max() > _THICK * high + 0.5 or (has_hole and thick < _STROKE * high + 0.5):
        return None
    return ink, wide >= _BROAD * high and is_ink.mean() <= _FULL


def _are_beside(rings: Ints, letters: Ints, is_even: Bools) -> tuple[Bools, Bools]:
    """Which letters stand beside each ring as the next letter of its word does, and which are just as high.

    `is_even`: which rings have their hole in the middle, as O and 0, whose feet are level with those of others.
    """
    left, top, right, bottom = rings.T[..., None]
    first, head, last, foot = letters.T
    high, tall = bottom - top, foot - head
    gap = np.maximum(left - last, first - right)
    off = np.abs(bottom - foot), np.abs(top - head)
    most = _LEVEL * high + _LEVEL_PX
    is_in = (np.minimum(right, last) - np.maximum(left, first)) >= np.minimum(right - left, last - first)
    # The tail of a Q reaches below its line, and the parts of a % are not level.
    is_level = (np.where(is_even[:, None], off[0], np.minimum(*off)) <= most) | (
        (gap <= _TIGHT * high) & (np.minimum(*off) <= _TAIL * high + _LEVEL_PX)
    )
    is_beside = ~is_in & (gap >= -_INTO * high) & (gap <= _GAP * high) & is_level
    is_beside &= (tall <= _UNEVEN * high) & (high <= _UNEVEN * tall)
    return np.asarray(is_beside), np.asarray(np.maximum(*off) <= most)

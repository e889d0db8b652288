"""Finds lines of text and single signs in a drawn surface, without reading them.

It works on edges: a letter is a small island of them, and a line of text is letters side by side.
"""

from __future__ import annotations

import numpy as np

from vision_agent.vision.rects import Group, Ints, common_area, connected_groups, rect_areas

_LETTER_PX = (4, 44)
"""The least and largest height in pixels of a letter or small sign."""
TALLEST_PX, _TALLER = 64, 1.6
"""The largest height of a bracket or currency sign, and how many times as high as a letter beside it one may be."""
_LONGEST = 12
"""The most an island of letters is wide, in times its height; a longer one is a rule."""
_RIM = 0.25
"""The share of an island's rectangle that a patch must fill for the island to be its rim; for small discs the rim takes
the larger part."""
_WORD_GAP = 9
"""The largest gap between letters of a line, in pixels; words of 14 px are 4 apart, columns 12 and more."""
GAP_LOW, LOW_HIGH, LOW_WIDE, LOW_ABOVE, LOW_BELOW = 0.5, 0.52, 0.36, 0.08, 0.3
"""The largest gap between a letter and a point or comma, the most height and width of these, and how far above or
below the foot of the letter they end, in its heights."""
_PART_GAP = 1
"""The largest gap between parts of one sign, in pixels; lines of text are 3 and more apart."""
_UNEVEN = 2.2
"""The largest ratio between the heights of neighbouring letters of a line."""
_MOST_LETTERS = 1500
"""A page full of text, in which most letters touch, has half as many. More mean a photograph or noise."""
_MOST_ISLANDS = 6000
"""The limit of letter-sized islands before rims are removed; more mean that the picture is not text."""
_LEAST_LINE = (5, 6)
"""The least width and height of a line, in pixels."""


def find_lines(islands: Ints, patches: Ints) -> Ints:
    """Rectangles of lines of text and of signs, one row each, from islands of edges that are not rims of patches."""
    letters = _find_letters(islands, patches)
    if not 0 < len(letters) <= _MOST_LETTERS:
        return np.empty((0, 4), np.int32)
    letters = _without_lone_tall(letters)
    if not len(letters):
        return letters
    groups = connected_groups(len(letters), *_neighbours(letters))
    ordered, starts = letters[np.concatenate(groups)], np.cumsum([0, *map(len, groups[:-1])])
    firsts, lasts = np.minimum.reduceat(ordered[:, :2], starts), np.maximum.reduceat(ordered[:, 2:], starts)
    rects = np.concatenate([firsts, lasts], axis=1)
    wide, high = (rects[:, 2:] - rects[:, :2]).T
    rects = rects[(wide >= _LEAST_LINE[0]) & (high >= _LEAST_LINE[1])]
    # The points and commas of large letters.
    is_in = common_area(rects[:, None], rects[None]) >= rect_areas(rects)[:, None]
    is_in &= rect_areas(rects)[:, None] < rect_areas(rects)[None]
    lines: Ints = rects[~is_in.any(axis=1)]
    return lines


def _find_letters(islands: Ints, patches: Ints) -> Ints:
    wide, high = (islands[:, 2:] - islands[:, :2]).T
    least, largest = _LETTER_PX
    islands = islands[(high >= least) & (high <= TALLEST_PX) & (wide <= _LONGEST * np.minimum(high, largest))]
    if len(islands) > _MOST_ISLANDS:
        return np.empty((0, 4), np.int32)
    sizes = rect_areas(islands)[:, None]
    is_rim = (common_area(islands[:, None], patches[None]) >= _RIM * sizes) & (rect_areas(patches) <= sizes)
    letters: Ints = islands[~is_rim.any(axis=1)]
    return letters


def _without_lone_tall(letters: Ints) -> Ints:
    """The letters without those that are too high for one, unless one of a usual height is beside them."""
    high = letters[:, 3] - letters[:, 1]
    is_tall = high > _LETTER_PX[1]
    if not is_tall.any():
        return letters
    one, other = _neighbours(letters)
    is_kept = ~is_tall
    is_kept[one[is_tall[one] & ~is_tall[other] & (high[one] <= _TALLER * high[other])]] = True
    return letters[is_kept]


def _neighbours(letters: Ints) -> tuple[Group, Group]:
    """Pairs of letters side by side, level and of similar height, or parts of one sign."""
    left, top, right, bottom = letters.T[..., None]
    high = (bottom - top).astype(np.float32)
    low, tall = np.minimum(high, high.T), np.maximum(high, high.T)
    level = np.minimum(bottom, bottom.T) - np.maximum(top, top.T)
    gap = np.maximum(left - right.T, left.T - right)
    is_beside = (gap <= np.maximum(_WORD_GAP, 0.6 * low)) & (level >= 0.5 * low) & (tall <= _UNEVEN * low)
    is_part = (gap <= _PART_GAP) & (level >= -_PART_GAP)
    # The points and commas of large letters; those of small ones are no islands of this height.
    under = (bottom - bottom.T) / high.T
    is_low = (high <= LOW_HIGH * high.T) & (right - left <= LOW_WIDE * high.T + 1) & (gap <= GAP_LOW * high.T)
    is_low &= (under >= -LOW_ABOVE) & (under <= LOW_BELOW)
    one, other = np.nonzero(is_beside | is_part | is_low)
    return one, other

"""Finds lines of text and single signs in a drawn surface, without reading them.

It works on edges: a letter is a small island of them, and a line of text is letters side by side.
"""

from __future__ import annotations

import numpy as np

from vision_agent.vision.rects import Group, Ints, common_area, connected_groups, rect_areas

_LETTER_PX = (4, 44)
"""The least and largest height in pixels of a letter or small sign."""
_LONGEST = 12
"""The most an island of letters is wide, in times its height; a longer one is a rule."""
_RIM = 0.25
"""The share of an island's rectangle that a patch must fill for the island to be its rim; for small discs the rim takes
the larger part."""
_WORD_GAP = 9
"""The largest gap between letters of a line, in pixels; words of 14 px are 4 apart, columns 12 and more."""
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
    lines = connected_groups(len(letters), *_neighbours(letters))
    ordered, starts = letters[np.concatenate(lines)], np.cumsum([0, *map(len, lines[:-1])])
    firsts, lasts = np.minimum.reduceat(ordered[:, :2], starts), np.maximum.reduceat(ordered[:, 2:], starts)
    rects = np.concatenate([firsts, lasts], axis=1)
    wide, high = (rects[:, 2:] - rects[:, :2]).T
    large: Ints = rects[(wide >= _LEAST_LINE[0]) & (high >= _LEAST_LINE[1])]
    return large


def _find_letters(islands: Ints, patches: Ints) -> Ints:
    wide, high = (islands[:, 2:] - islands[:, :2]).T
    least, largest = _LETTER_PX
    islands = islands[(high >= least) & (high <= largest) & (wide <= _LONGEST * high)]
    if len(islands) > _MOST_ISLANDS:
        return np.empty((0, 4), np.int32)
    sizes = rect_areas(islands)[:, None]
    is_rim = (common_area(islands[:, None], patches[None]) >= _RIM * sizes) & (rect_areas(patches) <= sizes)
    letters: Ints = islands[~is_rim.any(axis=1)]
    return letters


def _neighbours(letters: Ints) -> tuple[Group, Group]:
    """Pairs of letters side by side, level and of similar height, or parts of one sign."""
    left, top, right, bottom = letters.T[..., None]
    high = (bottom - top).astype(np.float32)
    low, tall = np.minimum(high, high.T), np.maximum(high, high.T)
    level = np.minimum(bottom, bottom.T) - np.maximum(top, top.T)
    gap = np.maximum(left - right.T, left.T - right)
    is_beside = (gap <= np.maximum(_WORD_GAP, 0.6 * low)) & (level >= 0.5 * low) & (tall <= _UNEVEN * low)
    is_part = (gap <= _PART_GAP) & (level >= -_PART_GAP)
    one, other = np.nonzero(is_beside | is_part)
    return one, other

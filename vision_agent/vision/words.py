"""Where there are words in a drawn surface, and signs that stand alone; not what they say.

Knows edges: a letter is a small island of them, and a line of words is letters side by side.
"""

from __future__ import annotations

import numpy as np

from vision_agent.vision.rects import Group, Ints, area_of, common_area, connected

_LETTER_PX = (4, 44)
"""The least and the largest height of what is taken for a letter or a small sign."""
_LONGEST = 12
"""Times its height that an island of letters is wide at most; what is longer is a rule."""
_RIM = 0.25
"""The share of the rectangle of an edge that what it is around takes: of small discs the edge takes the most."""
_WORD_GAP = 9
"""Pixels between letters of a line; between words of 14 px there are 4, between columns 12 and more."""
_PART_GAP = 1
"""Pixels between parts of one sign, whichever way; between lines of words there are 3 and more."""
_UNEVEN = 2.2
"""Times its neighbour's height that a letter of the same line may have."""
_MOST_LETTERS = 1500
"""Of a page full of words, most of which touch, there are half as many. What has more is a photograph or noise."""
_MOST_ISLANDS = 6000
"""Of the size of letters, before those are left out that are rims of things; what has more is no text."""
_LEAST_LINE = (5, 6)
"""Width and height of a line, in pixels."""


def lines_in(islands: Ints, patches: Ints) -> Ints:
    """Rectangles of lines of words and of signs, among islands of edges, a row for each; the rim of a patch is none."""
    letters = _letters_in(islands, patches)
    if not 0 < len(letters) <= _MOST_LETTERS:
        return np.empty((0, 4), np.int32)
    lines = connected(len(letters), *_neighbours(letters))
    ordered, starts = letters[np.concatenate(lines)], np.cumsum([0, *map(len, lines[:-1])])
    firsts, lasts = np.minimum.reduceat(ordered[:, :2], starts), np.maximum.reduceat(ordered[:, 2:], starts)
    rects = np.concatenate([firsts, lasts], axis=1)
    wide, high = (rects[:, 2:] - rects[:, :2]).T
    large: Ints = rects[(wide >= _LEAST_LINE[0]) & (high >= _LEAST_LINE[1])]
    return large


def _letters_in(islands: Ints, patches: Ints) -> Ints:
    wide, high = (islands[:, 2:] - islands[:, :2]).T
    least, largest = _LETTER_PX
    islands = islands[(high >= least) & (high <= largest) & (wide <= _LONGEST * high)]
    if len(islands) > _MOST_ISLANDS:
        return np.empty((0, 4), np.int32)
    sizes = area_of(islands)[:, None]
    is_rim = (common_area(islands[:, None], patches[None]) >= _RIM * sizes) & (area_of(patches) <= sizes)
    letters: Ints = islands[~is_rim.any(axis=1)]
    return letters


def _neighbours(letters: Ints) -> tuple[Group, Group]:
    """Pairs that stand beside each other, level and of about one height, or are parts of one sign."""
    left, top, right, bottom = letters.T[..., None]
    high = (bottom - top).astype(np.float32)
    low, tall = np.minimum(high, high.T), np.maximum(high, high.T)
    level = np.minimum(bottom, bottom.T) - np.maximum(top, top.T)
    gap = np.maximum(left - right.T, left.T - right)
    is_beside = (gap <= np.maximum(_WORD_GAP, 0.6 * low)) & (level >= 0.5 * low) & (tall <= _UNEVEN * low)
    is_part = (gap <= _PART_GAP) & (level >= -_PART_GAP)
    one, other = np.nonzero(is_beside | is_part)
    return one, other

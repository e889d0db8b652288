"""Finds words of large or bold letters, whose strokes and holes look like drawn things of their own.

Letters of a word are level, close together, of various widths, and partly ink and partly ground; buttons in a bar are
nearly all one colour, and boxes in a row are equally wide. This module knows only pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Floats, Ints, common_area, connected_groups, rect_areas

_HIGH = (14, 140)
_LEAST = 3
"""The fewest letters of a word; two shapes side by side are two shapes."""
_CLOSE = 0.3
"""The largest gap between letters, in times their height."""
_APART = 0.9
"""The largest gap between words, in times their height."""
_ALIKE = 1.3
"""The largest ratio of the heights of neighbouring letters."""
_LEVEL = 0.15
"""The largest difference of their feet, in times their height."""
_UNEQUAL = 0.12
"""The least difference of their widths, in times their height."""
_INK = (0.25, 0.7)
"""The share of ink in a letter's rectangle."""
_WIDEST = 4.0
"""The most an island of touching letters is wide, in times its height."""
_DIFFERS = 30
_MOST = 800


def find_large_words(islands: Ints, pixels: Pixels, ground: Floats) -> Ints:
    """The rectangles of words, one row each, from islands of edges."""
    wide, high = (islands[:, 2:] - islands[:, :2]).T
    islands = islands[(high >= _HIGH[0]) & (high <= _HIGH[1]) & (wide <= _WIDEST * high) & (wide >= 3)]
    islands = islands[(islands[:, :2] >= 0).all(axis=1)]
    if not _LEAST <= len(islands) <= _MOST:
        return np.empty((0, 4), np.int32)
    # The holes of letters are islands too.
    inside = common_area(islands[:, None], islands[None]) >= rect_areas(islands)[:, None]
    np.fill_diagonal(inside, val=False)
    islands = islands[~inside.any(axis=1)]
    islands = islands[_stand_close(islands)]
    colour = ground.round().astype(np.int16)
    least, most = ((colour + by).clip(0, 255).astype(np.uint8) for by in (-_DIFFERS, _DIFFERS))
    share = np.array(
        [_ink_share(pixels[top:bottom, left:right], least, most) for left, top, right, bottom in islands.tolist()]
    )
    islands = islands[(share >= _INK[0]) & (share <= _INK[1])] if len(islands) else islands
    if len(islands) < 2:
        return np.empty((0, 4), np.int32)
    is_level, gap = _neighbours(islands)
    one, other = np.nonzero(is_level & (gap <= _CLOSE))
    is_letter = np.zeros(len(islands), bool)
    for group in connected_groups(len(islands), one, other):
        at = islands[group]
        wide, high = (at[:, 2:] - at[:, :2]).T
        letters = (wide / high).round().clip(1).sum()  # some touch
        is_letter[group] = letters >= _LEAST and len(at) > 1 and np.ptp(wide) > _UNEQUAL * high.max()
    # What stands beside a word as the next word does, such as a number of two equal digits, is one.
    words = []
    one, other = np.nonzero(is_level & (gap <= _APART))
    for group in connected_groups(len(islands), one, other):
        if is_letter[group].any():
            at = islands[group]
            words.append((*at[:, :2].min(axis=0).tolist(), *at[:, 2:].max(axis=0).tolist()))
    return np.array(words, np.int32).reshape(-1, 4)


def _neighbours(islands: Ints) -> tuple[Bools, Floats]:
    """Whether each two islands are level and equally high, and the gap between them, in times their height."""
    left, top, right, bottom = islands.T[..., None]
    high = (bottom - top).astype(np.float32)
    tall, low = np.maximum(high, high.T), np.minimum(high, high.T)
    is_level = (tall <= _ALIKE * low) & (np.abs(bottom - bottom.T) <= _LEVEL * tall)
    return np.asarray(is_level), np.asarray(np.maximum(left - right.T, left.T - right) / tall, np.float32)


def _stand_close(islands: Ints) -> Bools:
    """Which islands have another one beside them as close as the next letter."""
    is_level, gap = _neighbours(islands)
    np.fill_diagonal(is_level, val=False)
    return np.asarray((is_level & (gap <= _APART)).any(axis=1))


def _ink_share(pixels: Pixels, low: Pixels, high: Pixels) -> float:
    many = cv2.countNonZero(cv2.inRange(pixels, low, high))
    return float(1 - many / (pixels.shape[0] * pixels.shape[1]))

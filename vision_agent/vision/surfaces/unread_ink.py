"""Finds ink in cells and boxes that was not taken for a line of text, such as a lone dash, dot or sign.

Without it, what is too small to look like text would pass for nothing at all. This module knows only pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Ints, common_area, rect_sums

_RIM_PX = 3
"""The rim of a cell that is not searched: its lines, and the frame of a selected neighbour, reach into it."""
_CONTRAST = 40
"""The difference from the colour of the cell, in levels of a channel, that makes ink; wood's grain has up to 20."""
_LEAST_PIXELS = 3
_SAMPLES = 24
"""About how many rows and columns of a cell its colour is taken from."""
_LARGEST_PX = 44
"""The largest height and width of such ink; larger is a picture, not a sign."""
_LEAST_HEIGHT = 8
"""The least height of the rectangle returned: a dash alone is enlarged beyond recognition."""
_MOST_COVERED = 0.8
"""The share of the cell's width and height that ink must leave out: what goes from side to side is a pattern."""


def small_ink(pixels: Pixels, inked: Ints, rects: Ints, lines: Ints) -> Ints:
    """The rectangles of ink in those of `rects` that none of `lines` touches, one row each.

    `inked`: the number of edge pixels above and left of each pixel, for `rect_sums`.
    """
    inner = rects + np.array([_RIM_PX, _RIM_PX, -_RIM_PX, -_RIM_PX], np.int32)
    inner = inner[(inner[:, 2:] > inner[:, :2]).all(axis=1)]
    inner = inner.clip(0, np.array(pixels.shape[1::-1] * 2, np.int32))
    # Most cells are blank, which the sums under them show at once.
    is_inked = np.asarray(rect_sums(inked, inner) >= _LEAST_PIXELS)
    inner = inner[is_inked]
    inner = inner[~(common_area(inner[:, None], lines[None]) > 0).any(axis=1)]
    found = [ink for cell in inner.tolist() if (ink := _ink_in(pixels, cell)) is not None]
    return np.array(found, np.int32).reshape(-1, 4)


def _ink_in(pixels: Pixels, cell: list[int]) -> tuple[int, int, int, int] | None:
    left, top, right, bottom = cell
    part = pixels[top:bottom, left:right]
    step_y, step_x = (max(1, side // _SAMPLES) for side in part.shape[:2])
    ground = np.median(part[::step_y, ::step_x].reshape(-1, 3), axis=0).astype(np.int16)
    low, high = ((ground + by).clip(0, 255).astype(np.uint8) for by in (1 - _CONTRAST, _CONTRAST - 1))
    is_ground = cv2.inRange(part, low, high)
    if cv2.countNonZero(is_ground) > is_ground.size - _LEAST_PIXELS:
        return None
    rows = np.flatnonzero(cv2.reduce(is_ground, 1, cv2.REDUCE_MIN).ravel() == 0)
    columns = np.flatnonzero(cv2.reduce(is_ground, 0, cv2.REDUCE_MIN).ravel() == 0)
    wide, tall = int(columns[-1] - columns[0]) + 1, int(rows[-1] - rows[0]) + 1
    if max(wide, tall) > _LARGEST_PX or tall > _MOST_COVERED * (bottom - top) or wide > _MOST_COVERED * (right - left):
        return None
    low = max(0, _LEAST_HEIGHT - tall) // 2
    first = max(top, top + int(rows[0]) - low)
    return left + int(columns[0]), first, left + int(columns[-1]) + 1, max(first + _LEAST_HEIGHT, first + tall)

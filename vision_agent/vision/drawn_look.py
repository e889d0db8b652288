"""Finds a drawn thing again by its look, even if it moves by fractions of a pixel; nothing else may look like it.

A look is an array of red, green and blue, one pixel for each CSS pixel, blurred: what moves by fractions of a pixel is
blended differently each time. `canvas_pixels.js` compares looks in the same way.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels, pixels_of

_LIKE = 250.0
"""The largest mean squared difference of a channel between two looks of one thing; `LIKE` in `canvas_pixels.js`."""
_UNLIKE = 600.0
"""The least one between looks of two things that can be told apart."""


_UNLIKE_BY, _UNLIKE_MOST, _UNLIKE_SHARE = 24, 24, 0.02
"""By how much a channel differs at least where something else is drawn, and in how many pixels: as in
`canvas_pixels.js`."""


def look_of(picture: Picture, box: Box) -> Pixels | None:
    """The look of a page box; None if the picture does not show it and what is beside it, or is not as large."""
    around = Box(x=box.x - 1, y=box.y - 1, width=box.width + 2, height=box.height + 2)
    if picture.map.scale_x != 1 or picture.map.scale_y != 1 or picture.page.intersection(around) != around:
        return None
    shown = blurred(np.ascontiguousarray(pixels_of(picture.crop(around))[..., ::-1]))
    return np.ascontiguousarray(shown[1:-1, 1:-1])  # what is beside it is blended in, as it is wherever it is sought


def shown_in(picture: Picture, box: Box) -> Pixels | None:
    """Red, green and blue in a page box of whole pixels; None if the picture is not as large as the page."""
    if picture.map.scale_x != 1 or picture.map.scale_y != 1 or picture.page.intersection(box) != box:
        return None
    return np.ascontiguousarray(pixels_of(picture.crop(box))[..., ::-1])


def is_like(shown: Pixels, other: Pixels) -> bool:
    """Whether two readings of one place, of the same size, are of the same drawing."""
    if shown.size != other.size:
        return False
    far = np.abs(shown.astype(np.int16) - other.reshape(shown.shape)).max(axis=2)
    unlike = int(np.count_nonzero(far > _UNLIKE_BY))
    return bool(unlike <= min(_UNLIKE_MOST, _UNLIKE_SHARE * far.size))


def blurred(pixels: Pixels) -> Pixels:
    """Pixels as looks are compared: each is the mean of those around it."""
    return np.asarray(cv2.blur(pixels, (3, 3)), np.uint8)


def find_only(look: Pixels, shown: Pixels) -> tuple[int, int] | None:
    """The left and top of the only place that looks so; None if there is none, or another one looks similar."""
    high, wide = look.shape[:2]
    if shown.shape[0] < high or shown.shape[1] < wide:
        return None
    differs = cv2.matchTemplate(shown, look, cv2.TM_SQDIFF) / look.size
    best, _, (left, top), _ = cv2.minMaxLoc(differs)
    if best > _LIKE:
        return None
    differs[max(0, top - high // 2) : top + high // 2 + 1, max(0, left - wide // 2) : left + wide // 2 + 1] = np.inf
    return (left, top) if differs.min() >= _UNLIKE else None


def colour_around(picture: Picture, box: Box, by: float) -> tuple[int, int, int]:
    """Red, green and blue of the most common colour around a page box."""
    around = Box(x=box.x - by, y=box.y - by, width=box.width + 2 * by, height=box.height + 2 * by)
    inside = picture.page.intersection(around) or box
    pixels = pixels_of(picture.crop(inside)).reshape(-1, 3)
    colours, counts = np.unique(pixels, axis=0, return_counts=True)
    blue, green, red = (int(value) for value in colours[counts.argmax()])
    return red, green, blue

"""Finds number plates that a page itself paints, and draws ours in another style than these."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.types import Kind
from vision_agent.vision.picture import Picture, pixels_of
from vision_agent.vision.style import Style, rgb

_TOLERANCE = 14
"""Tones of one channel, of 255, by which a plate may differ from ours and still be taken for one of ours."""
_SIZES = ((8, 70), (9, 30))
"""Least and greatest width and height of a plate, in picture pixels."""
_PLATE_SHARE = (0.3, 0.93)
"""The share of a plate that is not digits."""
_INK_SHARE = 0.08
"""The least share of a plate that has the tone of our digits."""
_INK_TONE = 100
"""How far from the tone of our digits a pixel of a digit may be."""
_FEWEST = 2
"""One plate is a badge, of which pages have many."""
_PAINTED = "the page paints numbers that look like marks"
_GREY: Kind = "scroller"
"""Grey is also the colour of ordinary buttons."""
_FEWEST_PIXELS = _FEWEST * _SIZES[0][0] * _SIZES[1][0] * _PLATE_SHARE[0]


class Distinct(NamedTuple):
    """A style in which numbers can be told from those that the page paints."""

    style: Style
    warning: str
    """For the model; empty if the page paints no number plates."""


def distinct_style(picture: Picture, style: Style) -> Distinct:
    """The style, or the one with dark plates if the picture, without marks, shows number plates like ours.

    These are rectangles in the colours of our plates and of their size, with something in the tone of our digits.
    """
    small = cv2.resize(pixels_of(picture), None, fx=0.5, fy=0.5, interpolation=cv2.INTER_NEAREST)
    if not _has_plates(picture, small, style):
        return Distinct(style, "")
    dark = style.model_copy(update={"has_dark_plates": True})
    if _has_plates(picture, small, dark):
        return Distinct(dark, f"{_PAINTED}, in both of their styles: trust the numbers of the listing only")
    return Distinct(dark, f"{_PAINTED}: only white numbers on dark plates are marks here")


def _has_plates(picture: Picture, small: NDArray[np.uint8], style: Style) -> bool:
    shades = [shade for kind, shades in style.palette.items() if kind != _GREY for shade in shades]
    table = _table(tuple(sorted(map(style.plate, shades))))
    # Most pages have hardly a pixel of these colours, which every second row and column shows too.
    if np.count_nonzero(_in_colours(small, table)) < _FEWEST_PIXELS / 4:
        return False
    pixels = pixels_of(picture)
    is_plate = _in_colours(pixels, table)
    count, _, boxes, _ = cv2.connectedComponentsWithStats(is_plate.astype(np.uint8), connectivity=4)
    (least_wide, most_wide), (least_high, most_high) = _SIZES
    plates = 0
    for x, y, wide, high, area in boxes[1:count]:
        if not (least_wide <= wide <= most_wide and least_high <= high <= most_high):
            continue
        if not _PLATE_SHARE[0] <= area / (wide * high) <= _PLATE_SHARE[1]:
            continue
        tones = pixels[y : y + high, x : x + wide].mean(axis=2)
        is_ink = tones >= 255 - _INK_TONE if style.has_dark_plates else tones <= _INK_TONE
        plates += bool(is_ink.mean() >= _INK_SHARE)
        if plates >= _FEWEST:
            return True
    return False


def _in_colours(pixels: NDArray[np.uint8], table: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which pixels have one of the colours."""
    bits = cv2.LUT(pixels, table)
    return (bits[..., 0] & bits[..., 1] & bits[..., 2]) != 0  # type: ignore[no-any-return]


@cache
def _table(colours: tuple[str, ...]) -> NDArray[np.int32]:
    """For each tone and channel, blue first, which of the colours it may belong to, one bit each."""
    table = np.zeros((256, 1, 3), np.int32)
    tones = np.arange(256)
    for bit, colour in enumerate(colours):
        for channel, value in enumerate(reversed(rgb(colour))):
            table[:, 0, channel] |= (np.abs(tones - value) <= _TOLERANCE).astype(np.int32) << bit
    return table

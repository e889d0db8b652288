"""Finds number plates that a page itself paints, and draws ours in another style than these."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.observation import Kind
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
_MARGIN = 3
"""Pixels around a part that was found in every second row and column; the whole part may extend this far."""
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
    rough = _in_colours(small, table)
    if np.count_nonzero(rough) < _FEWEST_PIXELS / 4:
        return False
    pixels = pixels_of(picture)
    plates = set()
    for x, y, wide, high, _ in _parts(rough):
        if wide < _SIZES[0][0] // 2 - 1 or high < _SIZES[1][0] // 2 - 1:
            continue
        plates |= _plates_in(pixels, 2 * x, 2 * y, 2 * wide, 2 * high, table, style)
        if len(plates) >= _FEWEST:
            return True
    return False


def _plates_in(
    pixels: NDArray[np.uint8], x: int, y: int, wide: int, high: int, table: NDArray[np.int32], style: Style
) -> set[tuple[int, int, int, int]]:
    """Left, top, width and height of each plate in a part of the picture, or at most a margin outside of it."""
    height, width = pixels.shape[:2]
    left, top = max(0, x - _MARGIN), max(0, y - _MARGIN)
    right, bottom = min(width, x + wide + _MARGIN), min(height, y + high + _MARGIN)
    part = pixels[top:bottom, left:right]
    (least_wide, most_wide), (least_high, most_high) = _SIZES
    found = set()
    for at, down, across, tall, area in _parts(_in_colours(part, table)):
        if not (least_wide <= across <= most_wide and least_high <= tall <= most_high):
            continue
        if not _PLATE_SHARE[0] <= area / (across * tall) <= _PLATE_SHARE[1]:
            continue
        is_cut = (at == 0 < left) or (down == 0 < top)
        if is_cut or (left + at + across == right < width) or (top + down + tall == bottom < height):
            continue
        tones = part[down : down + tall, at : at + across].mean(axis=2)
        is_ink = tones >= 255 - _INK_TONE if style.has_dark_plates else tones <= _INK_TONE
        if is_ink.mean() >= _INK_SHARE:
            found.add((left + at, top + down, across, tall))
    return found


def _parts(is_plate: NDArray[np.bool_]) -> list[list[int]]:
    """Left, top, width, height and number of pixels of each connected part."""
    return cv2.connectedComponentsWithStats(is_plate.astype(np.uint8), connectivity=4)[2][1:].tolist()  # type: ignore[no-any-return]


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

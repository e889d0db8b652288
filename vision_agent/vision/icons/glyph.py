"""Cuts the drawing out of the picture of an icon or an icon button, without its colours, frame and size.

It knows no names: what a glyph shows is asked in `namer`.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]

SIDE = 32
"""Pixels of a glyph's side. The drawing has `_INNER` of them along its longer side, in the middle."""
_INNER = 28
MARGIN = 2
"""CSS pixels around the icon's own box that its picture shows too: they are of what it stands on."""
_SMALLEST, _LARGEST = 9, 400
"""Pixels of the box of an icon, which a closer look shows up to four times as large."""
_LONGEST = 2.5
"""Length by width of the box of an icon; a longer one holds words, or is a line."""
_WORKED = 72
"""A larger picture is shrunk first: icons show nothing finer."""
_FAINTEST = 20
"""Tones, of 255, between the ground and what is drawn on it."""
_ALIKE = 14
"""Tones within which two pixels have the same colour."""
_GROUND = 0.6
"""The least share of the pixels around an icon that have one colour; around photographs fewer have."""
_FRAME = 0.8
"""The least share of the box's width and height that a frame takes."""
_FULL = 0.74
"""The least share of its own box that a frame encloses: a circle encloses 0.785."""


def glyphs_in(picture: Pixels, margin: float = MARGIN) -> list[Pixels]:
    """The drawings that a small picture can be read as: all that is on its ground, then what is within its frame.

    The picture shows an icon and `margin` pixels around it. Empty if it can be none: it is empty, too small, too
    large, too long, or on no even ground.
    """
    high, wide = picture.shape[0] - 2 * margin, picture.shape[1] - 2 * margin
    if min(high, wide) < _SMALLEST or max(high, wide) > _LARGEST or max(high, wide) > _LONGEST * min(high, wide):
        return []
    if max(picture.shape) > _WORKED:
        by = _WORKED / max(picture.shape)
        size = (max(8, round(picture.shape[1] * by)), max(8, round(picture.shape[0] * by)))
        picture, margin = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8), margin * by
    around = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    ground = _commonest(around)
    if _likeness(around, ground) < _GROUND:
        return []
    ink = _difference(picture, ground)
    if ink.max() < _FAINTEST:
        return []
    found = [_squared(ink), _within_frame(picture, ink, margin)]
    return [glyph for glyph in found if glyph is not None]


def _within_frame(picture: Pixels, ink: Pixels, margin: float) -> Pixels | None:
    """The drawing within the frame that encloses it; None if no frame does."""
    is_ink = (ink > max(_FAINTEST // 2, int(ink.max()) // 5)).astype(np.uint8)
    height, width = is_ink.shape
    outside = np.zeros((height + 2, width + 2), np.uint8)
    cv2.floodFill(is_ink.copy(), outside, (0, 0), 2, flags=4 | cv2.FLOODFILL_MASK_ONLY | (1 << 8))
    enclosed = 1 - outside[1:-1, 1:-1]
    _, _, wide, high = cv2.boundingRect(enclosed)
    if wide < _FRAME * (width - 2 * margin) or high < _FRAME * (height - 2 * margin):
        return None
    if cv2.countNonZero(enclosed) < _FULL * wide * high:
        return None
    edge = 2 * max(2, round(0.1 * min(wide, high))) + 1
    # A border of zeros, so that what touches the picture's edge is cut there too.
    enclosed = cv2.erode(enclosed, np.ones((edge, edge), np.uint8), borderType=cv2.BORDER_CONSTANT, borderValue=0)
    inner = picture[enclosed.astype(bool)]
    if len(inner) < SIDE:
        return None
    ground = _commonest(inner)
    ink = _difference(picture, ground) * enclosed
    return _squared(ink) if ink.max() >= _FAINTEST else None


def _squared(ink: Pixels) -> Pixels | None:
    """What is drawn, as dark as it is there, in the middle of a square."""
    strong = ink[ink > 0.4 * ink.max()]
    top = float(np.sort(strong)[int(0.9 * (len(strong) - 1))])
    x, y, wide, high = cv2.boundingRect((ink > 0.25 * top).astype(np.uint8))
    if max(wide, high) < _SMALLEST - 2:
        return None
    drawn = cv2.convertScaleAbs(ink[y : y + high, x : x + wide], alpha=255 / top)
    by = _INNER / max(wide, high)
    size = max(1, round(wide * by)), max(1, round(high * by))
    drawn = cv2.resize(drawn, size, interpolation=cv2.INTER_AREA if by < 1 else cv2.INTER_LINEAR)
    square = np.zeros((SIDE, SIDE), np.uint8)
    left, above = (SIDE - size[0]) // 2, (SIDE - size[1]) // 2
    square[above : above + size[1], left : left + size[0]] = drawn
    return square


def _difference(picture: Pixels, colour: Pixels) -> Pixels:
    """How far each pixel is from a colour, in its most different channel."""
    blue, green, red = cv2.split(cv2.absdiff(picture, np.full_like(picture, colour)))
    return np.asarray(cv2.max(cv2.max(blue, green), red), np.uint8)


def _commonest(pixels: Pixels) -> Pixels:
    """The most frequent colour of a list of pixels; nearly the same counts as the same."""
    coarse = pixels.astype(np.int32) >> 4
    codes = (coarse[:, 0] << 8) | (coarse[:, 1] << 4) | coarse[:, 2]
    return np.asarray(np.rint(pixels[codes == np.bincount(codes).argmax()].mean(axis=0)), np.uint8)


def _likeness(pixels: Pixels, colour: Pixels) -> float:
    """The share of pixels that have nearly this colour."""
    apart = np.abs(pixels.astype(np.int16) - colour.astype(np.int16))
    return int(np.count_nonzero((apart <= _ALIKE).all(axis=1))) / len(pixels)

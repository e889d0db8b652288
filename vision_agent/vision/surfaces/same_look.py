"""The look of a part of a picture, shrunk to a few pixels, and whether two looks are the same."""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, view_pixels
from vision_agent.vision.rects import Floats

_LOOK_SIZE = (24, 12)
SAME_COLOURS = 25.0
"""The largest colour difference, of 255, between two equal looks, where they differ most: a thing drawn half a pixel
farther differs by less, other text by more."""
_SHIFTED_COLOURS = 50.0
"""The same, above which no shift makes them equal: discs of 36 px drawn between pixels differ by 35 at most."""
_SHIFTS = (-0.6, -0.3, 0.0, 0.3, 0.6)
"""Shifts that are tried, in pixels of a look: of discs drawn between pixels 0.3% then differ still, 6% without."""
_MOST = 0.1


def sample_look(picture: Picture, box: Box) -> Floats:
    """The look of a page box: its picture shrunk to a few pixels."""
    inside = picture.page.intersection(box)
    if inside is None:
        return np.zeros((_LOOK_SIZE[1], _LOOK_SIZE[0], 3), np.float32)
    small = cv2.resize(view_pixels(picture, inside), _LOOK_SIZE, interpolation=cv2.INTER_AREA)
    look: Floats = np.asarray(small, np.float32)
    return look


def colour_difference(one: Floats, other: Floats) -> float:
    """The mean colour difference, 0 to 255, over the tenth of the pixels that differ most."""
    apart = np.sort(np.abs(one - other).mean(axis=2), axis=None)
    return float(apart[-round(_MOST * apart.size) :].mean())


def correlation(one: Floats, other: Floats) -> float:
    """The similarity of two figures regardless of their colours, -1 to 1."""
    first, second = (each.mean(axis=2) - each.mean() for each in (one, other))
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / size if size > 1 else 0.0


def is_same_but_shifted(one: Floats, other: Floats) -> bool:
    """Whether two looks are equal if one is shifted a little: what moves is drawn between pixels, so its edges are
    blended and its box is rounded differently each time.
    """
    one, other = _blurred(one), _blurred(other)
    apart = colour_difference(one, other)
    if not SAME_COLOURS < apart <= _SHIFTED_COLOURS:
        return apart <= SAME_COLOURS
    return any(colour_difference(one, _shifted(other, x, y)) <= SAME_COLOURS for x in _SHIFTS for y in _SHIFTS)


def _shifted(look: Floats, x: float, y: float) -> Floats:
    """A look moved by parts of its own pixels, with its edges drawn out."""
    size = look.shape[1], look.shape[0]
    moved = cv2.warpAffine(look, np.array([[1, 0, x], [0, 1, y]], np.float32), size, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.float32)


def _blurred(look: Floats) -> Floats:
    return np.asarray(cv2.blur(look, (3, 3)), np.float32)

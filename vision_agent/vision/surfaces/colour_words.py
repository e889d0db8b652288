"""Names colours as a person would: a dozen words, so that two people choose the same."""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Floats

_BLACK, _WHITE = 60, 230
"""Brightness, of 255, of what is still black, and already white."""
_PALE = 0.13
"""The saturation up to which a colour is grey."""
_HUES = ((15, "red"), (42, "orange"), (68, "yellow"), (165, "green"), (195, "turquoise"), (255, "blue"),
         (290, "purple"), (340, "pink"), (361, "red"))  # fmt: skip
"""Where each hue ends, in degrees."""


def colour_word(colour: Floats) -> str:
    """The word for a colour, given as blue, green and red of 255."""
    blue, green, red = (float(value) for value in colour)
    high, low = max(blue, green, red), min(blue, green, red)
    saturation = (high - low) / high if high else 0.0
    if high < _BLACK or (high < 1.3 * _BLACK and saturation < 0.3):
        return "black"
    if saturation <= _PALE:
        return "white" if low >= _WHITE else "grey"
    pixel = np.array([[[blue, green, red]]], np.float32) / 255
    hue, _, value = cv2.cvtColor(pixel, cv2.COLOR_BGR2HSV)[0, 0].tolist()
    word = next(name for end, name in _HUES if hue < end)
    if word in ("orange", "red") and value < 0.65 and hue >= 8:
        return "brown"
    if word == "red" and saturation < 0.45:
        return "pink"
    return word


def main_colour(pixels: Pixels) -> Floats:
    """The most common colour of a part of a picture, as blue, green and red of 255."""
    flat = pixels.reshape(-1, 3)
    kinds = (flat >> 4).astype(np.int32) @ np.array([256, 16, 1], np.int32)
    most = np.bincount(kinds).argmax()
    return np.asarray(flat[kinds == most].mean(axis=0), np.float32)

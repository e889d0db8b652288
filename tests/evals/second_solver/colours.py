"""Colours by name, and the colour that a mark shows. It reads pixels only."""

from __future__ import annotations

import colorsys

import numpy as np

from second_solver.view import Picture, View
from vision_agent.observation import Mark

NAMED = {
    "aqua": (0, 255, 255), "black": (0, 0, 0), "blue": (0, 0, 255), "brown": (165, 42, 42), "cyan": (0, 255, 255),
    "fuchsia": (255, 0, 255), "gray": (128, 128, 128), "green": (0, 128, 0), "grey": (128, 128, 128),
    "lime": (0, 255, 0), "magenta": (255, 0, 255), "maroon": (128, 0, 0), "navy": (0, 0, 128), "olive": (128, 128, 0),
    "orange": (255, 165, 0), "pink": (255, 192, 203), "purple": (128, 0, 128), "red": (255, 0, 0),
    "silver": (192, 192, 192), "teal": (0, 128, 128), "white": (255, 255, 255), "yellow": (255, 255, 0),
}  # fmt: skip

Colour = tuple[int, int, int]


def distance(one: Colour, other: Colour) -> float:
    """How far apart two colours are, 0 to 441."""
    return float(np.linalg.norm(np.subtract(one, other)))


def filling(crop: Picture) -> Colour:
    """The most frequent colour of a crop."""
    colours, counts = np.unique(crop.reshape(-1, 3), axis=0, return_counts=True)
    red, green, blue = colours[int(counts.argmax())]
    return int(red), int(green), int(blue)


def ink(crop: Picture) -> Colour:
    """The colour of what stands on a white ground: the one farthest from white that is not rare; white if none."""
    pixels = crop.reshape(-1, 3)
    drawn = pixels[(pixels < 235).any(axis=1)]
    if not len(drawn):
        return 255, 255, 255
    colours, counts = np.unique(drawn, axis=0, return_counts=True)
    spread = np.linalg.norm(255.0 - colours, axis=1)
    best = colours[int((counts * spread).argmax())]
    return int(best[0]), int(best[1]), int(best[2])


def shown(view: View, mark: Mark) -> Colour:
    """The colour that fills the middle of a mark."""
    box = mark.box
    third = box.model_copy(
        update={"x": box.x + box.width / 3, "y": box.y + box.height / 3, "width": max(2.0, box.width / 3),
                "height": max(2.0, box.height / 3)}
    )  # fmt: skip
    return filling(view.crop(third))


def name_of(colour: Colour, among: set[str]) -> str:
    """The nearest of some named colours."""
    return min(among, key=lambda name: distance(NAMED[name], colour))


def hue_name(colour: Colour) -> str:
    """Red, green or blue: the nearest hue."""
    hue = colorsys.rgb_to_hsv(*(part / 255 for part in colour))[0]
    return min(("red", 0.0), ("green", 1 / 3), ("blue", 2 / 3), ("red", 1.0), key=lambda each: abs(each[1] - hue))[0]

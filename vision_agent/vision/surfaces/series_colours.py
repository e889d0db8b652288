"""Tells which colour stands for which series of a chart: its legend, and the pixels of each colour in the plot.

This module knows texts, boxes and pixels, but neither axes nor values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels, view_pixels
from vision_agent.vision.rects import Bools, Floats
from vision_agent.vision.surfaces.axes import Text
from vision_agent.vision.surfaces.colour_words import colour_word, main_colour

SAME = 40.0
"""The largest difference of two pixels of one series, in levels of a channel."""
_COLOURED = 45
"""The least difference between the channels of a coloured pixel; grid lines and text are grey."""
_TINTED = 25
"""The least difference between the channels of a pixel of a thin line."""
_LEAST_PIXELS = 60
_MOST_SERIES = 12
_SWATCH = (3, 60)
"""How far to the left of its text the sign of a legend entry lies, in CSS pixels."""
_SWATCH_GAP, _SIGN_RIM = 16.0, 4.0
_OWN_COLOUR = 0.05
_IN_ENTRY = 0.7
"""The share of a shape in the entry of a legend that is a part of it."""

Legend = Sequence[tuple[Text, Floats]]
"""Its entries: each text, with the colour of its sign."""


@dataclass(frozen=True)
class PlotPixels:
    """The pixels of a part of a chart, and where on the page they are."""

    pixels: Pixels
    box: Box
    scale: float
    """Pixels for each CSS pixel."""

    def to_page(self, x: float, y: float) -> tuple[float, float]:
        """The page coordinates of a pixel's middle."""
        return self.box.x + (x + 0.5) / self.scale, self.box.y + (y + 0.5) / self.scale


def find_legend(
    picture: Picture, surface: Box, texts: Sequence[Text], ticks: Sequence[Box], shapes: Sequence[Box]
) -> list[tuple[Text, Floats]]:
    """The texts with a coloured sign to their left, and its colour."""
    found = []
    for text in texts:
        if text.box in ticks:
            continue
        sign = _swatch_beside(text, shapes)
        if sign is not None:
            found.append((text, main_colour(view_pixels(picture, sign))))
            continue
        colour = _sign_colour(picture, surface, text)
        # An icon that was read as a text has the colour itself.
        if colour is not None and mask_of(view_pixels(picture, text.box), colour).mean() < _OWN_COLOUR:
            found.append((text, colour))
    return found


def _swatch_beside(text: Text, shapes: Sequence[Box]) -> Box | None:
    """The small shape immediately to the left of a text."""
    beside = [
        box
        for box in shapes
        if 0 <= text.box.x - box.right <= _SWATCH_GAP
        and box.y <= text.box.center.y <= box.bottom
        and box.height <= 2 * text.box.height
        and box.width <= _SWATCH[1]
    ]
    return max(beside, key=lambda box: box.right, default=None)


def _sign_colour(picture: Picture, surface: Box, text: Text) -> Floats | None:
    """The colour of a sign beside a text that is no shape, such as a short line."""
    low = max(surface.x, text.box.x - _SWATCH[1])
    place = Box(x=low, y=text.box.y, width=max(0.0, text.box.x - _SWATCH[0] - low), height=text.box.height)
    beside = picture.page.intersection(place) if place.width >= 3 else None
    if beside is None:
        return None
    pixels = view_pixels(picture, beside)
    is_coloured = has_colour(pixels)
    columns = np.flatnonzero(is_coloured.any(axis=0))
    if len(columns) < 2 or is_coloured.sum() < 4 or pixels.shape[1] - 1 - columns[-1] > _SWATCH_GAP:
        return None
    # Of several signs in reach, the nearest: it begins behind a gap.
    gaps = np.flatnonzero(np.diff(columns) > 4)
    is_coloured[:, : columns[gaps[-1] + 1] if len(gaps) else columns[0]] = False
    return main_colour(pixels[is_coloured][None])


def without_signs(part: PlotPixels, legend: Legend, top: float) -> PlotPixels:
    """The plot without the signs of a legend above its highest number, which are no part of a line."""
    pixels = part.pixels.copy()
    for text, _ in legend:
        if text.box.bottom <= top:
            x, y = text.box.x - _SWATCH[1] - part.box.x, text.box.y - part.box.y
            columns = slice(max(0, int(x * part.scale)), max(0, int((text.box.right - part.box.x) * part.scale)))
            rows = slice(
                max(0, int((y - _SIGN_RIM) * part.scale)),
                max(0, int((text.box.bottom - part.box.y + _SIGN_RIM) * part.scale)),
            )
            sign = pixels[rows, columns]
            if sign.size:
                sign[:] = main_colour(pixels[rows]).round().astype(np.uint8)
    return replace(part, pixels=pixels)


def without_legend(shapes: Sequence[Box], legend: Legend, top: float) -> list[Box]:
    """The shapes that lie in no entry of a legend above the highest number, which are no data."""
    entries = [
        Box(
            x=text.box.x - _SWATCH[1],
            y=text.box.y - _SIGN_RIM,
            width=text.box.width + _SWATCH[1],
            height=text.box.height + 2 * _SIGN_RIM,
        )
        for text, _ in legend
        if text.box.bottom <= top
    ]
    return [box for box in shapes if all(box.share_in(entry) < _IN_ENTRY for entry in entries)]


def series_colours(part: PlotPixels, legend: Legend) -> list[Floats]:
    """The colours of series: those of the legend that are in the plot or, without one, its coloured pixels.

    The sign of a series that is switched off is empty, or grey as the rules are.
    """
    ground = main_colour(part.pixels)
    signs = [colour for _, colour in legend if np.ptp(colour) >= _TINTED or np.abs(colour - ground).max() > SAME]
    found = [colour for colour in signs if mask_of(part.pixels, colour).sum() >= _LEAST_PIXELS][:_MOST_SERIES]
    rest = part.pixels[has_colour(part.pixels)]
    for colour in found:
        rest = rest[(np.abs(rest.astype(np.float32) - colour).max(axis=1) > SAME) & ~is_blend(rest, colour)]
    while len(rest) >= _LEAST_PIXELS and len(found) < _MOST_SERIES:
        colour = main_colour(rest[None])
        is_own = np.abs(rest.astype(np.float32) - colour).max(axis=1) <= SAME
        if is_own.sum() < _LEAST_PIXELS:
            break
        found.append(colour)
        # Blends of a colour with the ground are no series.
        rest = rest[~is_own & ~is_blend(rest, colour)]
    return found


def series_name(colour: Floats, legend: Legend) -> str:
    """The text of a colour in the legend or, without one, the word for it."""
    named = [(float(np.abs(its - colour).max()), text.words) for text, its in legend]
    if named and min(named)[0] <= SAME:
        return min(named)[1]
    return colour_word(colour)


def series_masks(part: PlotPixels, colours: Sequence[Floats]) -> list[Bools]:
    """The pixels of each series; grey rules, which are near to a pale colour, are none of its."""
    is_tinted = np.ptp(part.pixels.astype(np.int16), axis=2) >= _TINTED
    masks = [mask_of(part.pixels, colour) for colour in colours]
    return [
        mask & is_tinted if np.ptp(colour) >= _COLOURED else mask for mask, colour in zip(masks, colours, strict=True)
    ]


def mask_of(pixels: Pixels, colour: Floats) -> Bools:
    """Which pixels have a colour."""
    low, high = (colour - SAME).clip(0, 255).astype(np.uint8), (colour + SAME).clip(0, 255).astype(np.uint8)
    return np.asarray(cv2.inRange(pixels, low, high) > 0)


def with_blends(mask: Bools, part: PlotPixels, colour: Floats) -> Bools:
    """The pixels of a colour, with those that are blended with the ground."""
    is_tinted = np.ptp(part.pixels.astype(np.int16), axis=2) >= _TINTED
    return np.asarray(mask | (is_tinted & is_blend(part.pixels.reshape(-1, 3), colour).reshape(mask.shape)))


def is_blend(pixels: Pixels, colour: Floats) -> Bools:
    """Which pixels have the hue of a colour: they are blended with the ground at its edge."""
    if not len(pixels):
        return np.zeros(0, bool)
    hues = cv2.cvtColor(pixels[None], cv2.COLOR_BGR2HSV)[0, :, 0].astype(np.int16)
    own = int(cv2.cvtColor(colour.round().astype(np.uint8)[None, None], cv2.COLOR_BGR2HSV)[0, 0, 0])
    apart = np.abs(hues - own)
    return np.asarray(np.minimum(apart, 180 - apart) <= 8)


def has_colour(pixels: Pixels) -> Bools:
    """Which pixels are not grey."""
    return np.asarray(np.ptp(pixels.astype(np.int16), axis=2) >= _COLOURED)

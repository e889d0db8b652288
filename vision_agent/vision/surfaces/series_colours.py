"""Tells which colour stands for which series of a chart: its legend, and the pixels of each colour in the plot.

This module knows texts, boxes and pixels, but neither axes nor values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

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
_SIGN_HIGHER, _STROKE_PX = 0.8, 2.0
"""How far beyond its text, in its heights, a sign may reach up and down; half of the widest stroke of a line."""
_HIGH_SIGN = 0.75
"""The share of a text's height above and below it in which its sign has ended; a bar goes on there."""
_BETWEEN, _LEAST_HIGH = 24.0, 3
"""How far a colour may be from a blend of two others, and the fewest rows of pixels that it has if it is none."""
_OWN_COLOUR = 0.05
_OUTLINE = 0.15
"""The least share of a sign that is its outline."""
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
            found.append((text, _colour_of_sign(picture, sign)))
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


def _colour_of_sign(picture: Picture, sign: Box) -> Floats:
    """The colour of a sign: that of its outline, if it is filled with grey or with nothing."""
    usual = main_colour(view_pixels(picture, sign))
    rim = Box(x=sign.x - 2, y=sign.y - 2, width=sign.width + 4, height=sign.height + 4)
    around = view_pixels(picture, picture.page.intersection(rim) or sign)
    is_coloured = has_colour(around)
    if np.ptp(usual) >= _TINTED or is_coloured.mean() < _OUTLINE:
        return usual
    return main_colour(around[is_coloured][None])


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
    first = int(columns[gaps[-1] + 1] if len(gaps) else columns[0])
    is_coloured[:, :first] = False
    return None if _goes_on(picture, beside, first, int(columns[-1])) else main_colour(pixels[is_coloured][None])


def _goes_on(picture: Picture, line: Box, first: int, last: int) -> bool:
    """Whether what is in these columns of a line of text goes on above or below it, as a bar does."""
    far = _HIGH_SIGN * line.height
    around = picture.page.intersection(Box(x=line.x, y=line.y - far, width=line.width, height=line.height + 2 * far))
    if around is None:
        return False
    is_coloured = has_colour(view_pixels(picture, around))[:, first : last + 1]
    return bool(is_coloured[0].mean() > 0.5 or is_coloured[-1].mean() > 0.5)


def without_signs(part: PlotPixels, legend: Legend, top: float) -> PlotPixels:
    """The plot without the signs of a legend above its highest number, which are no part of a line."""
    pixels = part.pixels.copy()
    for text, _ in legend:
        if text.box.bottom <= top:
            x, y = text.box.x - _SWATCH[1] - part.box.x, text.box.y - part.box.y
            rim = max(_SIGN_RIM, _SIGN_HIGHER * text.box.height)
            end = min(text.box.bottom + rim, max(top - _STROKE_PX, text.box.bottom + _SIGN_RIM))
            columns = slice(max(0, int(x * part.scale)), max(0, int((text.box.right - part.box.x) * part.scale)))
            rows = slice(
                max(0, int((y - rim) * part.scale)),
                max(0, int((end - part.box.y) * part.scale)),
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
        if _is_seam(part, colour, found):
            rest = rest[~is_own]
            continue
        found.append(colour)
        # Blends of a colour with the ground are no series.
        rest = rest[~is_own & ~is_blend(rest, colour)]
    return found


def _is_seam(part: PlotPixels, colour: Floats, others: Sequence[Floats]) -> bool:
    """Whether a colour is a blend of two others that is only where they meet, as between bars on bars."""
    if not any(_is_between(colour, one, other) for one, other in combinations(others, 2)):
        return False
    mask = mask_of(part.pixels, colour)
    for other in others:
        mask &= ~mask_of(part.pixels, other)
    thick = max(_LEAST_HIGH, round(_LEAST_HIGH * part.scale))
    solid = cv2.erode(mask.astype(np.uint8), np.ones((thick, thick), np.uint8))
    return not solid.any()


def _is_between(colour: Floats, one: Floats, other: Floats) -> bool:
    """Whether a colour is near a blend of two others, and near neither of them."""
    way = other - one
    share = float(np.dot(colour - one, way) / max(1.0, float(np.dot(way, way))))
    return 0.1 < share < 0.9 and float(np.abs(one + share * way - colour).max()) <= _BETWEEN


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
    for one, other in combinations(range(len(colours)), 2):
        if np.abs(colours[one] - colours[other]).max() < 2 * SAME:
            _share(part.pixels, masks[one], masks[other], colours[one], colours[other])
    return [
        mask & is_tinted if np.ptp(colour) >= _COLOURED else mask for mask, colour in zip(masks, colours, strict=True)
    ]


def _share(pixels: Pixels, one: Bools, other: Bools, colour: Floats, its: Floats) -> None:
    """Takes the pixels that are in the masks of two colours from that which is farther from theirs."""
    both = one & other
    shared = pixels[both].astype(np.float32)
    is_one = np.abs(shared - colour).sum(axis=1) <= np.abs(shared - its).sum(axis=1)
    one[both], other[both] = is_one, ~is_one


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

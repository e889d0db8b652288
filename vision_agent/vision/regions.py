"""What a drawn surface is made of: patches, which are flat and solid, and edges, where colours meet.

A button is a patch with an edge around it; so is each square of a board, and the cell of a sheet between its lines.
Knows pixels only, not what any of it is for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Floats, Group, Ints, area_of

_FINE, _COARSE = 8, 28
"""Levels by which a channel must differ from one pixel to the next to be an edge. Of gradients and shadows a step is
below 4, of the faintest tiles and lines that a person sees 9 and more; of the grain of wood it is up to 20."""

_THIN = np.ones((3, 3), np.uint8)
"""What this does not fit into is a line."""
_LEAST_LOOSE = 100
LEAST_PX = 4
"""What is thinner is nothing to act on."""
_LEAST_AREA = 12
_LARGEST = 0.4
"""The share of the surface beyond which a region is ground to others, and nothing to act on."""
_MOST = 600
"""Regions; of more the largest are looked at."""
_SOLID = 0.3
"""The share of its rectangle that the outline of a region must enclose: a triangle has half of it, a horseshoe less."""
_FULL = 0.8
"""The share from which a region is a box, with or without words in it; its outline need not be followed."""
_SMALL_PX = 7
"""Below it a region counts only where it has another colour than what is around it: in letters there are holes."""
_AROUND_PX = 3
_SAME_COLOUR = 6
"""Levels."""


@dataclass(frozen=True)
class Areas:
    """Connected areas, a row for each: where it is, and how many pixels it has."""

    rects: Ints
    sizes: Ints
    labels: Ints
    """For each pixel the number of its area; 0 for none. Row `i` is of area `i + 1`."""


@dataclass(frozen=True)
class Patches:
    """Flat regions that are solid enough to be things, a row for each."""

    rects: Ints
    points: Ints
    """X and y of a pixel inside."""
    solid: Floats
    """The share of its rectangle that its outline encloses."""
    is_ground: Bools
    """Whether it has the colour that most of the surface has."""

    def grown(self, by: int) -> Patches:
        """Larger by so many pixels on each side."""
        return replace(self, rects=self.rects + np.array([-by, -by, by, by], np.int32))

    def moved(self, x: int, y: int) -> Patches:
        """Where they are in the picture that theirs is a part of, which begins there."""
        offset = np.array([x, y], np.int32)
        return replace(self, rects=self.rects + np.tile(offset, 2), points=self.points + offset)

    def scaled(self, by: int) -> Patches:
        """Where they are in a picture so many times as large."""
        return replace(self, rects=self.rects * by, points=self.points * by)

    def and_also(self, other: Patches) -> Patches:
        """With those of the other after them."""
        return Patches(
            np.concatenate([self.rects, other.rects]),
            np.concatenate([self.points, other.points]),
            np.concatenate([self.solid, other.solid]),
            np.concatenate([self.is_ground, other.is_ground]),
        )


def edges_in(pixels: Pixels) -> Pixels:
    """255 where colours meet, else 0."""
    return _edges(pixels, _FINE)


def fine_patches(edges: Pixels, pixels: Pixels) -> Patches:
    """Those between the edges."""
    areas = areas_of(cv2.bitwise_not(edges), diagonal=False)
    fine, loose = _patches(areas, pixels)
    return fine.and_also(_knots(areas, loose, pixels)) if len(loose) else fine


def coarse_patches(pixels: Pixels) -> Patches:
    """Those that show where fine edges are overlooked.

    A square of wood is a patch only for who does not see its grain; those are looked for in a picture of half the size.
    """
    half = np.asarray(cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8)
    coarse, _ = _patches(areas_of(cv2.bitwise_not(_edges(half, _COARSE)), diagonal=False), half)
    return coarse.scaled(2)


def areas_of(mask: Pixels, *, diagonal: bool) -> Areas:
    """The connected areas of what is not 0, over corners too if they may touch `diagonal`ly."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8 if diagonal else 4, ltype=cv2.CV_32S)
    rects = stats[1:, :4].copy()
    rects[:, 2:] += rects[:, :2]
    return Areas(rects, stats[1:, cv2.CC_STAT_AREA].copy(), labels)


def _edges(pixels: Pixels, least: int) -> Pixels:
    """255 where a pixel differs so much from the next to the right or below, in any channel; 0 elsewhere."""
    most: Any = np.zeros(pixels.shape, np.uint8)
    across, down = most[:, :-1], most[:-1]
    cv2.absdiff(pixels[:, 1:], pixels[:, :-1], dst=across)
    cv2.max(down, cv2.absdiff(pixels[1:], pixels[:-1]), dst=down)
    differs = cv2.threshold(most, least, 255, cv2.THRESH_BINARY)[1]
    # As grey, whichever channel differs is above 0: a third of the time that it takes to part the channels.
    return np.asarray(cv2.threshold(cv2.cvtColor(differs, cv2.COLOR_BGR2GRAY), 0, 255, cv2.THRESH_BINARY)[1], np.uint8)


def _knots(areas: Areas, loose: Group, pixels: Pixels) -> Patches:
    """What is solid in areas that are not: the points of a chart, which lines of their colour join."""
    left, top = areas.rects[loose, :2].min(axis=0).tolist()
    right, bottom = areas.rects[loose, 2:].max(axis=0).tolist()
    is_loose = np.zeros(len(areas.sizes) + 1, np.uint8)
    is_loose[loose + 1] = 255
    core = cv2.erode(is_loose[areas.labels[top:bottom, left:right]], _THIN)
    patches, _ = _patches(areas_of(core, diagonal=True), pixels[top:bottom, left:right])
    return patches.grown(1).moved(left, top)


def _patches(areas: Areas, pixels: Pixels) -> tuple[Patches, Group]:
    """The solid ones, and which are not."""
    wide, high = (areas.rects[:, 2:] - areas.rects[:, :2]).T
    fits = (np.minimum(wide, high) >= LEAST_PX) & (areas.sizes >= _LEAST_AREA)
    fits &= area_of(areas.rects) <= _LARGEST * pixels.shape[0] * pixels.shape[1]
    chosen = np.flatnonzero(fits)
    if len(chosen) > _MOST:
        chosen = chosen[np.argsort(-areas.sizes[chosen], kind="stable")[:_MOST]]
    rects, is_small = areas.rects[chosen], np.minimum(wide, high)[chosen] < _SMALL_PX
    solid = (areas.sizes[chosen] / np.maximum(area_of(rects), 1)).astype(np.float32)
    points = (rects[:, :2] + rects[:, 2:]) // 2
    for at in np.flatnonzero(solid < _FULL).tolist():
        solid[at], points[at] = _outlined(areas, int(chosen[at]))
    keep = solid >= _SOLID
    for at in np.flatnonzero(is_small & keep).tolist():
        keep[at] = not _is_hole(rects[at], pixels)
    is_ground = _is_coloured(areas, chosen, pixels)
    patches = Patches(rects[keep], points[keep], np.minimum(solid[keep], 1), is_ground[keep])
    return patches, chosen[(solid < _SOLID) & (areas.sizes[chosen] >= _LEAST_LOOSE)]


def _outlined(areas: Areas, which: int) -> tuple[float, tuple[int, int]]:
    """The share of its rectangle that an area encloses, with what is in it, and a pixel inside.

    That is the middle, or where the middle is outside, the place that is farthest from the edge.
    """
    left, top, right, bottom = areas.rects[which].tolist()
    mask = (areas.labels[top:bottom, left:right] == which + 1).astype(np.uint8)
    outline: NDArray[Any] = max(
        cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)[0], key=cv2.contourArea
    )
    # It runs through the middles of pixels.
    share = cv2.contourArea(outline) / max(1, (right - left - 1) * (bottom - top - 1))
    middle = (right - left) // 2, (bottom - top) // 2
    if share < _SOLID or cv2.pointPolygonTest(outline, middle, measureDist=False) >= 0:
        return share, (left + middle[0], top + middle[1])
    filled = np.zeros((bottom - top + 2, right - left + 2), np.uint8)
    cv2.drawContours(filled, [outline], -1, 255, cv2.FILLED, offset=(1, 1))
    depth = cv2.distanceTransform(filled, cv2.DIST_L2, 3)
    row, column = divmod(int(np.argmax(depth)), depth.shape[1])
    return share, (left + column - 1, top + row - 1)


def _is_hole(rect: Ints, pixels: Pixels) -> bool:
    """Whether what is around it has its colour."""
    left, top, right, bottom = rect.tolist()
    colour = pixels[(top + bottom) // 2, (left + right) // 2].astype(np.int16)
    near = pixels[max(0, top - _AROUND_PX) : bottom + _AROUND_PX, max(0, left - _AROUND_PX) : right + _AROUND_PX]
    rim = np.concatenate([near[0], near[-1], near[:, 0], near[:, -1]]).astype(np.int16)
    return bool((np.abs(rim - colour).max(axis=1) <= _SAME_COLOUR).mean() > 0.2)


def _is_coloured(areas: Areas, which: Group, pixels: Pixels) -> Bools:
    """Which areas have the colour of the largest of all."""
    if not len(which):
        return np.zeros(0, bool)
    largest = int(np.argmax(areas.sizes))
    # The middle of its uppermost row is mostly in it, and is quickly looked up for all.
    left, top, right, _ = areas.rects[which].T
    middle = (left + right) // 2
    samples = pixels[top, middle].astype(np.int16)
    for at in np.flatnonzero(areas.labels[top, middle] != which + 1).tolist():
        samples[at] = _sample(areas, int(which[at]), pixels)
    ground = _sample(areas, largest, pixels).astype(np.int16)
    same: Bools = np.abs(samples - ground).max(axis=1) <= _SAME_COLOUR
    return same


def _sample(areas: Areas, which: int, pixels: Pixels) -> NDArray[np.uint8]:
    """The colour of the first pixel of an area in its uppermost row."""
    left, top, right, _ = areas.rects[which].tolist()
    colour: NDArray[np.uint8] = pixels[top, left + int((areas.labels[top, left:right] == which + 1).argmax())]
    return colour

"""Finds patches (flat, solid regions) and edges (where colours meet) in a drawn surface.

A button is a patch with an edge around it; so is each square of a board, and each cell of a sheet between its lines.
This module knows only pixels, not their meaning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Floats, Group, Ints, rect_areas
from vision_agent.vision.surfaces.outlines import Outlines, find_outlines

_FINE, _COARSE = 8, 28
"""The difference between neighbouring pixels, in levels of a channel, that makes an edge. Steps of gradients and
shadows are below 4; the faintest tiles and lines that a person sees have 9 and more; the grain of wood has up to 20."""

_GRAIN = 0.13
"""The share of pixels where an edge begins, left to right, above which a picture is grain. A page of 11 px text has
0.08."""

_WHITE = 255
_THIN = np.ones((3, 3), np.uint8)
"""A region that this square does not fit into is a line."""
_LEAST_LOOSE = 100
LEAST_PX = 4
"""The least width and height of a target."""
_LEAST_AREA = 12
_LARGEST = 0.4
"""The share of the surface above which a region is the background of others, not a target."""
_MOST = 600
"""The most regions examined; of more, the largest."""
_SOLID = 0.3
"""The share of its rectangle that a region's outline must enclose: a triangle has half, a horseshoe less."""
_FULL = 0.8
"""The share from which a region counts as a box, with or without text; its outline need not be followed."""
_SMALL_PX = 7
"""A smaller region counts only if its colour differs from its surroundings: letters have holes."""
_AROUND_PX = 3
_SAMPLES = 12
"""The pixels sampled along each side of a region's surroundings."""
_MOSTLY_OTHER = 0.2
"""The share of these samples that may have the region's own colour."""
_SAME_COLOUR = 6
"""The largest difference between equal colours, in levels of a channel."""


@dataclass(frozen=True)
class Patches:
    """Flat regions that are solid enough to be targets, one row each, in picture pixels."""

    rects: Ints
    points: Ints
    """X and y of a pixel inside the patch."""
    solid: Floats
    """The share of the rectangle that the outline encloses."""
    is_ground: Bools
    """Whether the patch has the background colour of the surface."""
    is_open: Bools
    """Whether its colour goes on behind its edges, as that of the inside of a letter."""
    outlined: NDArray[np.uint8]
    """1 if it is a closed outline, 2 if that is dashed, else 0."""

    def take(self, which: Group) -> Patches:
        """The patches with these indexes."""
        return Patches(
            self.rects[which],
            self.points[which],
            self.solid[which],
            self.is_ground[which],
            self.is_open[which],
            self.outlined[which],
        )

    def grow(self, by: int) -> Patches:
        """The patches, larger by this many pixels on each side."""
        return replace(self, rects=self.rects + np.array([-by, -by, by, by], np.int32))

    def move(self, x: int, y: int) -> Patches:
        """The patches, moved by an offset."""
        offset = np.array([x, y], np.int32)
        return replace(self, rects=self.rects + np.tile(offset, 2), points=self.points + offset)

    def scale(self, by: int) -> Patches:
        """The patches, in a picture enlarged by this factor."""
        return replace(self, rects=self.rects * by, points=self.points * by)

    def join(self, other: Patches) -> Patches:
        """These patches, followed by the others."""
        return Patches(
            np.concatenate([self.rects, other.rects]),
            np.concatenate([self.points, other.points]),
            np.concatenate([self.solid, other.solid]),
            np.concatenate([self.is_ground, other.is_ground]),
            np.concatenate([self.is_open, other.is_open]),
            np.concatenate([self.outlined, other.outlined]),
        )


def find_edges(pixels: Pixels) -> Pixels:
    """The edges of a picture: 255 where colours meet, else 0."""
    return _edges(pixels, _FINE)


def background_colour(pixels: Pixels) -> Floats:
    """The most common colour, from every eighth pixel of each row and column."""
    samples = pixels[::8, ::8].reshape(-1, 3)
    blue, green, red = (samples >> 4).astype(np.int32).T
    kinds = blue << 8 | green << 4 | red
    most = np.bincount(kinds).argmax()
    ground: Floats = samples.T[:, kinds == most].mean(axis=1, dtype=np.float32)
    return ground


def fine_patches(areas: Outlines, edges: Pixels, pixels: Pixels, ground: Floats) -> Patches:
    """The patches among the areas between the edges."""
    fine, loose = _patches(areas, pixels, ground)
    return fine.join(_knots(areas, loose, edges, pixels, ground)) if len(loose) else fine


def coarse_patches(pixels: Pixels, ground: Floats) -> Patches:
    """The patches that appear when fine edges are ignored, such as a square of wood with its grain.

    They are searched in a picture of half the size.
    """
    half = np.asarray(cv2.resize(pixels, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8)
    coarse, _ = _patches(find_outlines(_edges(half, _COARSE), around=255, least_rows=LEAST_PX)[1], half, ground)
    return coarse.scale(2)


def _edges(pixels: Pixels, least: int) -> Pixels:
    """255 where a pixel differs by more than `least` from the next one to the right or below, in any channel; else 0.

    0 everywhere for a picture full of grain, which would give a hundred thousand useless edges.
    """
    most: Any = np.zeros(pixels.shape, np.uint8)
    across, down = most[:, :-1], most[:-1]
    cv2.absdiff(pixels[:, 1:], pixels[:, :-1], dst=across)
    cv2.max(down, cv2.absdiff(pixels[1:], pixels[:-1]), dst=down)
    differs = cv2.threshold(most, least, 255, cv2.THRESH_BINARY)[1]
    # In grey, a difference in any channel is above 0; this takes a third of the time of splitting the channels.
    edges = np.asarray(cv2.threshold(cv2.cvtColor(differs, cv2.COLOR_BGR2GRAY), 0, 255, cv2.THRESH_BINARY)[1], np.uint8)
    is_grain = (edges[:, 1:] > edges[:, :-1]).mean() > _GRAIN
    return np.zeros_like(edges) if is_grain else edges


def _knots(areas: Outlines, loose: Group, edges: Pixels, pixels: Pixels, ground: Floats) -> Patches:
    """The solid parts of areas that are not solid, such as the points of a chart joined by lines of their colour."""
    left, top = areas.rects[loose, :2].min(axis=0).tolist()
    right, bottom = areas.rects[loose, 2:].max(axis=0).tolist()
    part = edges[top:bottom, left:right]
    filled = np.zeros((bottom - top + 2, right - left + 2), np.uint8)
    for x, y in (areas.starts[loose] - (left, top)).tolist():
        cv2.floodFill(part, filled, (x, y), 0, flags=4 | cv2.FLOODFILL_MASK_ONLY | _WHITE << 8)
    core = cv2.erode(filled[1:-1, 1:-1], _THIN)
    patches, _ = _patches(find_outlines(core, around=0, least_rows=LEAST_PX)[0], pixels[top:bottom, left:right], ground)
    return patches.grow(1).move(left, top)


def _patches(areas: Outlines, pixels: Pixels, ground: Floats) -> tuple[Patches, Group]:
    """The solid areas as patches, and the indexes of the large areas that are not solid."""
    wide, high = (areas.rects[:, 2:] - areas.rects[:, :2]).T
    sizes = areas.sizes
    fits = (np.minimum(wide, high) >= LEAST_PX) & (
        rect_areas(areas.rects) <= _LARGEST * pixels.shape[0] * pixels.shape[1]
    )
    is_solid = areas.solid >= _SOLID
    chosen = np.flatnonzero(fits & is_solid & (sizes >= _LEAST_AREA))
    if len(chosen) > _MOST:
        chosen = chosen[np.argsort(-sizes[chosen], kind="stable")[:_MOST]]
    is_hole = np.minimum(wide, high)[chosen] < _SMALL_PX
    is_hole[is_hole] = _are_holes(areas.rects[chosen[is_hole]], pixels)
    chosen = chosen[~is_hole]
    rects = areas.rects[chosen]
    points = (rects[:, :2] + rects[:, 2:]) // 2
    for at in np.flatnonzero(areas.solid[chosen] < _FULL).tolist():
        points[at] = _inner_point(areas.outline(int(chosen[at])), rects[at])
    x, y = areas.starts[chosen].T
    is_ground = np.abs(pixels[y, x].astype(np.int16) - ground).max(axis=1, initial=0) <= _SAME_COLOUR
    none = np.zeros(len(chosen), bool)
    patches = Patches(rects, points, areas.solid[chosen], np.asarray(is_ground), none, none.astype(np.uint8))
    return patches, np.flatnonzero(fits & ~is_solid & (sizes >= _LEAST_LOOSE))


def _inner_point(outline: Ints, rect: Ints) -> tuple[int, int]:
    """A pixel that the outline encloses: the middle or, if that is outside, the pixel farthest from the outline."""
    left, top, right, bottom = rect.tolist()
    middle = (left + right) // 2, (top + bottom) // 2
    if cv2.pointPolygonTest(outline, middle, measureDist=False) >= 0:
        return middle
    filled = np.zeros((bottom - top + 2, right - left + 2), np.uint8)
    cv2.drawContours(filled, [outline], -1, _WHITE, cv2.FILLED, offset=(1 - left, 1 - top))
    depth = cv2.distanceTransform(filled, cv2.DIST_L2, 3)
    row, column = divmod(int(np.argmax(depth)), depth.shape[1])
    return left + column - 1, top + row - 1


def _are_holes(rects: Ints, pixels: Pixels) -> Bools:
    """Whether each rectangle's surroundings have its own colour."""
    high, wide = pixels.shape[:2]
    x, y = ((rects[:, :2] + rects[:, 2:]) // 2).T
    colours = pixels[y, x].astype(np.int16)
    left, top = (rects[:, :2] - _AROUND_PX).T[..., None]
    right, bottom = (rects[:, 2:] + _AROUND_PX - 1).T[..., None]
    along = np.linspace(0, 1, _SAMPLES)
    x, y = (left + (right - left) * along).astype(np.int32), (top + (bottom - top) * along).astype(np.int32)
    around_x = np.concatenate([x, x, np.broadcast_to(left, x.shape), np.broadcast_to(right, x.shape)], axis=1)
    around_y = np.concatenate([np.broadcast_to(top, y.shape), np.broadcast_to(bottom, y.shape), y, y], axis=1)
    around = pixels[around_y.clip(0, high - 1), around_x.clip(0, wide - 1)].astype(np.int16)
    is_same = np.abs(around - colours[:, None]).max(axis=2) <= _SAME_COLOUR
    holes: Bools = is_same.mean(axis=1) > _MOSTLY_OTHER
    return holes

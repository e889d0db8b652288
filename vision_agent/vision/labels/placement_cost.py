"""The cost of placing a label on a rectangle, from tables that answer for many rectangles at once.

`PlacementCost` depends only on the targets; only `Ink` needs pixels. `place` chooses the best place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.types import Kind, Mark
from vision_agent.vision.picture import Extent, Picture, Pixels, pixels_of
from vision_agent.vision.rects import (
    CONTAINED,
    Bools,
    Floats,
    Group,
    Ints,
    common_area,
    gaps_between,
    rect_areas,
    rect_sums,
)
from vision_agent.vision.style import LabelWidth, Style

NEAR_PX = 40
"""The largest gap in pixels between two targets that count as near each other."""
_COARSE = 2
_COARSER = 4
_KINDS = {kind: place for place, kind in enumerate(get_args(Kind))}
_ROOMY = 999
"""A target width with room for any number."""


class Near(NamedTuple):
    """All pairs of targets near each other, in both directions, sorted by the first."""

    one: Group
    other: Group
    apart: NDArray[np.int16]
    """The gap in pixels, on the axis where they are farthest apart; 0 if they touch, negative if they overlap."""


@dataclass
class PlacementCost:
    """Tables over the targets, which answer for any rectangle with four look-ups."""

    rects: Ints
    wide: Ints
    """Width and height of each label with wide digits; a single digit has the same size in `wide` and `narrow`."""
    narrow: Ints
    kinds: Ints
    is_toggle: Bools
    is_link: Bools
    is_field: Bools
    width: int
    height: int
    cover: Ints
    """A summed-area table of the number of targets on each pixel."""
    nearest: Ints
    """An id of the nearest target centre for each pixel, at a quarter of the size."""
    near: Near
    containers: Ints
    """For each target, a row with the indexes of its containers, padded with -1."""

    def foreign(self, at: Ints, of: Ints) -> Ints:
        """The number of pixels of other targets under each rectangle; `of` holds the target that each label is for."""
        under = rect_sums(self.cover, at) - common_area(at, self.rects[of])
        for outer in self.containers[of].T:
            if (inside := np.nonzero(outer >= 0)[0]).size:
                under[inside] -= common_area(at[inside], self.rects[outer[inside]])
        return under

    def is_inside(self, at: Ints) -> Bools:
        """Whether each rectangle is completely inside the picture."""
        return (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 2] <= self.width) & (at[:, 3] <= self.height)

    def is_nearest(self, at: Ints, of: Ints) -> Bools:
        """Whether the target centre nearest to each rectangle's middle is that of its own target."""
        own: Bools = self._nearest_centres_at_middle(at) == self._nearest_centres_at_middle(self.rects)[of]
        return own

    def _nearest_centres_at_middle(self, at: Ints) -> Ints:
        x, y = (at[:, 0] + at[:, 2]) // (2 * _COARSER), (at[:, 1] + at[:, 3]) // (2 * _COARSER)
        height, width = self.nearest.shape
        found: Ints = self.nearest[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
        return found

    def clip(self, at: Ints) -> Ints:
        """The parts of these rectangles inside the picture."""
        limits = np.array([self.width, self.height, self.width, self.height], np.int32)
        return np.clip(at, 0, limits).astype(np.int32)


def build_cost_tables(marks: Sequence[Mark], extent: Extent, style: Style) -> PlacementCost:
    """Builds the tables for the labels of these marks in a picture of this extent."""
    rects = extent.rects([mark.box for mark in marks])
    width, height = extent.size.width, extent.size.height
    near = _near(rects)
    wide, narrow = _label_sizes(marks, rects, style)
    kinds = np.array([_KINDS[mark.kind] for mark in marks], np.int32)
    return PlacementCost(
        rects=rects,
        wide=wide,
        narrow=narrow,
        kinds=kinds,
        is_toggle=kinds == _KINDS["toggle"],
        is_link=kinds == _KINDS["link"],
        is_field=kinds == _KINDS["field"],
        width=width,
        height=height,
        cover=_cover_table(rects, width, height),
        nearest=_nearest_centres(rects, width, height),
        near=near,
        containers=_containers(rects, near),
    )


def _near(rects: Ints) -> Near:
    gaps = gaps_between(rects)
    np.fill_diagonal(gaps, NEAR_PX + 1)
    one, other = np.nonzero(gaps <= NEAR_PX)
    return Near(one, other, gaps[one, other])


def _cover_table(rects: Ints, width: int, height: int) -> Ints:
    cover = np.zeros((height, width), np.uint8)
    for left, top, right, bottom in rects.tolist():
        cover[top:bottom, left:right] += 1
    return np.asarray(cv2.integral(cover), np.int32)


def _label_sizes(marks: Sequence[Mark], rects: Ints, style: Style) -> tuple[Ints, Ints]:
    """The size of each label with wide digits, and with narrow ones."""
    # All digits of one width class have the same size.
    texts = [mark.letter + "0" * len(str(mark.number)) for mark in marks]
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    which = np.array([places[text] for text in texts])
    room = rects[:, 2] - rects[:, 0]
    return _sizes("wide", list(places), which, room, style), _sizes("narrow", list(places), which, room, style)


def _sizes(width: LabelWidth, texts: Sequence[str], which: Group, room: Ints, style: Style) -> Ints:
    pairs = [(style.label_size(text, 0, width), style.label_size(text, _ROOMY, width)) for text in texts]
    sizes = np.array([[(size.width, size.height) for size in pair] for pair in pairs], np.int32)
    found: Ints = sizes[which, (room >= sizes[which, 1, 0]).astype(np.int32)]
    return found


class Ink:
    """Where brightness changes sharply, as at the strokes of letters."""

    def __init__(self, picture: Picture, targets: Ints) -> None:
        self._table = _ink_table(pixels_of(picture), targets)

    def share(self, at: Ints) -> Floats:
        """The share of each rectangle that is ink."""
        coarse = at // _COARSE
        return (rect_sums(self._table, coarse) / np.maximum(1, rect_areas(coarse))).astype(np.float32)


def _ink_table(pixels: Pixels, rects: Ints) -> Ints:
    """A summed-area table of edge pixels, at half size."""
    height, width = pixels.shape[:2]
    # Half size costs a quarter; it is rounded up, so that a last odd pixel is included.
    half = cv2.resize(pixels, (-(-width // _COARSE), -(-height // _COARSE)), interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(half, cv2.COLOR_BGR2GRAY)
    change = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    edges = np.asarray(cv2.threshold(change, 20, 1, cv2.THRESH_BINARY)[1], np.uint8)
    # Outlines will be drawn over these pixels, so there is no ink to cover.
    for left, top, right, bottom in (rects // _COARSE).tolist():
        cv2.rectangle(edges, (left, top), (right, bottom), 0, 2)
    return np.asarray(cv2.integral(edges), np.int32)


def _nearest_centres(rects: Ints, width: int, height: int) -> Ints:
    field = np.ones((-(-height // _COARSER), -(-width // _COARSER)), np.uint8)
    x, y = (rects[:, 0] + rects[:, 2]) // (2 * _COARSER), (rects[:, 1] + rects[:, 3]) // (2 * _COARSER)
    field[np.minimum(y, field.shape[0] - 1), np.minimum(x, field.shape[1] - 1)] = 0
    _, labels = cv2.distanceTransformWithLabels(field, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL)
    return np.asarray(labels, np.int32)


def _containers(rects: Ints, near: Near) -> Ints:
    areas = rect_areas(rects)
    overlapping = near.apart < 0
    one, other = near.one[overlapping], near.other[overlapping]
    common = common_area(rects[one], rects[other])
    is_in, is_around = common >= CONTAINED * areas[one], common >= CONTAINED * areas[other]
    # Two nearly equal targets each contain the other; otherwise only the larger contains the smaller.
    inside = is_in & ((areas[other] > areas[one]) | is_around)
    inner, outer = one[inside], other[inside]
    many = np.bincount(inner, minlength=len(rects))
    rows = np.full((len(rects), many.max()), -1, np.int32)
    rows[inner, np.arange(len(inner)) - (np.cumsum(many) - many)[inner]] = outer
    return rows

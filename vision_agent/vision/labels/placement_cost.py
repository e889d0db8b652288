"""The cost of placing a label on a rectangle, from tables that answer for many rectangles at once.

`PlacementCost` depends only on the targets; what needs pixels is in `ink`. `place` chooses the best place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, get_args
from unicodedata import bidirectional

import cv2
import numpy as np

from vision_agent.observation import Kind, Mark
from vision_agent.vision.picture import Extent
from vision_agent.vision.rects import CONTAINED, Bools, Group, Ints, common_area, rect_areas, rect_sums
from vision_agent.vision.style import LabelWidth, Style

NEAR_PX = 40
"""The largest gap in pixels between two targets that count as near each other."""
_CELL = (8, 3)
"""The width and height of a cell for the nearest target: what is in a row belongs together more than what is not."""
_KINDS = {kind: place for place, kind in enumerate(get_args(Kind))}
_ASIDE_PX = 24
_ROOMY = 999
"""A target width with room for any number."""


class Near(NamedTuple):
    """All pairs of targets near each other, in both directions, sorted by the first."""

    one: Group
    other: Group
    apart: Ints
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
    is_rtl: Bools
    """Which targets have a name that is read from right to left."""
    free_from: Ints
    """Where the nearest target above each ends, if it is less than a label's width aside; 0 if there is none near."""
    free_to: Ints
    """Where the nearest target below each begins; the picture's height if there is none near."""
    width: int
    height: int
    cover: Ints
    """A summed-area table of the number of targets on each pixel."""
    nearest: Ints
    """The index of the nearest target that contains no other, for each cell of the picture."""
    on: Ints
    """The index of the target on each cell of the picture, -1 where there is none; containers do not count."""
    near: Near
    containers: Ints
    """For each target, a row with the indexes of its containers, padded with -1."""

    def foreign(self, at: Ints, of: Ints) -> Ints:
        """The number of pixels of other targets under each rectangle; `of` holds the target that each label is for."""
        under = rect_sums(self.cover, at) - common_area(at, self.rects.take(of, axis=0))
        for outer in self.containers.take(of, axis=0).T:
            if (inside := np.flatnonzero(outer >= 0)).size:
                under[inside] -= common_area(at.take(inside, axis=0), self.rects.take(outer[inside], axis=0))
        return under

    def is_inside(self, at: Ints) -> Bools:
        """Whether each rectangle is completely inside the picture."""
        return (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 2] <= self.width) & (at[:, 3] <= self.height)

    def is_nearest(self, at: Ints, of: Ints) -> Bools:
        """Whether the target nearest to each rectangle's middle is its own; on a container there is always a nearer."""
        x, y = (at[:, 0] + at[:, 2]) // (2 * _CELL[0]), (at[:, 1] + at[:, 3]) // (2 * _CELL[1])
        height, width = self.nearest.shape
        own: Bools = self.nearest[np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)] == of
        return own

    def is_in_other_row(self, at: Ints, of: Ints) -> Bools:
        """Whether each rectangle is above or below its own target and beside another one."""
        middle = (at[:, 1] + at[:, 3]) // 2
        found: Bools = (middle < self.rects[:, 1].take(of)) | (middle >= self.rects[:, 3].take(of))
        off = np.flatnonzero(found)
        at, own = at.take(off, axis=0), of.take(off)
        y = middle[off] // _CELL[1]
        is_beside = np.zeros(len(off), np.bool_)
        width = self.on.shape[1]
        for edge, aside in ((0, -_ASIDE_PX), (0, -_ASIDE_PX // 2), (2, _ASIDE_PX // 2), (2, _ASIDE_PX)):
            target = self.on[y, np.clip((at[:, edge] + aside) // _CELL[0], 0, width - 1)]
            is_beside |= (target >= 0) & (target != own)
        found[off] = is_beside
        return found

    def clip(self, at: Ints) -> Ints:
        """The parts of these rectangles inside the picture."""
        limits = np.array([self.width, self.height, self.width, self.height], np.int32)
        return np.clip(at, 0, limits).astype(np.int32)


def build_cost_tables(marks: Sequence[Mark], extent: Extent, style: Style) -> PlacementCost:
    """Builds the tables for the labels of these marks in a picture of this extent."""
    rects = extent.rects([mark.place for mark in marks])
    width, height = extent.size.width, extent.size.height
    near = _near(rects)
    wide, narrow = _label_sizes(marks, rects, style)
    containers = _containers(rects, near)
    nearest, on = _nearest_targets(rects, containers, width, height)
    free_from, free_to = _free_between(rects, wide[:, 0], near, height)
    kinds = np.array([_KINDS[mark.kind] for mark in marks], np.int32)
    return PlacementCost(
        rects=rects,
        wide=wide,
        narrow=narrow,
        kinds=kinds,
        is_toggle=kinds == _KINDS["toggle"],
        is_link=kinds == _KINDS["link"],
        is_field=kinds == _KINDS["field"],
        is_rtl=np.array([is_rtl(mark.name) for mark in marks], np.bool_),
        free_from=free_from,
        free_to=free_to,
        width=width,
        height=height,
        cover=_cover_table(rects, width, height),
        nearest=nearest,
        on=on,
        near=near,
        containers=containers,
    )


def is_rtl(name: str) -> bool:
    """Whether the first letter of a name belongs to a script written from right to left."""
    if name.isascii():
        return False
    return next((way for way in map(bidirectional, name) if way in ("L", "R", "AL")), "L") != "L"


def _near(rects: Ints) -> Near:
    # From top to bottom, each is compared only with those that begin before it ends: a tenth of all pairs.
    order = np.argsort(rects[:, 1], kind="stable")
    left, top, right, bottom = rects[order].T
    many = np.searchsorted(top, bottom + NEAR_PX, side="right") - np.arange(1, len(rects) + 1)
    upper = np.repeat(np.arange(len(rects)), many)
    lower = upper + 1 + np.arange(len(upper)) - np.repeat(np.cumsum(many) - many, many)
    across = np.maximum(left[upper] - right[lower], left[lower] - right[upper])
    beside = np.flatnonzero(across <= NEAR_PX)
    upper, lower = upper[beside], lower[beside]
    down = np.maximum(top[lower] - bottom[upper], top[upper] - bottom[lower])
    apart = np.tile(np.maximum(across[beside], down), 2)
    one, other = order[np.concatenate([upper, lower])], order[np.concatenate([lower, upper])]
    sort = np.argsort(one * len(rects) + other)
    return Near(one[sort], other[sort], apart[sort])


def _free_between(rects: Ints, wide: Ints, near: Near, height: int) -> tuple[Ints, Ints]:
    """Where a label in the middle above or below each target would meet the next target."""
    left, top, right, bottom = rects.T
    aside = np.maximum(0, wide - (right - left) + 1) // 2
    one, other = near.one, near.other
    in_line = (left[other] < (right + aside)[one]) & (right[other] > (left - aside)[one])
    free_from, free_to = np.zeros_like(top), np.full_like(top, height)
    above, below = in_line & (bottom[other] <= top[one]), in_line & (top[other] >= bottom[one])
    np.maximum.at(free_from, one[above], bottom[other[above]])
    np.minimum.at(free_to, one[below], top[other[below]])
    return free_from, free_to


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


def _nearest_targets(rects: Ints, containers: Ints, width: int, height: int) -> tuple[Ints, Ints]:
    """For each cell of the picture the index of the nearest target, and of the one on it; containers do not count."""
    on = np.full((height // _CELL[1] + 1, width // _CELL[0] + 1), -1, np.int32)
    is_container = np.zeros(len(rects), np.bool_)
    is_container[containers[containers >= 0]] = True
    order = np.flatnonzero(~is_container)
    if not len(order):  # targets on the same box contain each other
        order = np.arange(len(rects))
    cells = (rects[order] + np.array(_CELL * 2, np.int32) // 2) // np.array(_CELL * 2, np.int32)
    cells[:, 2:] = np.maximum(cells[:, 2:], cells[:, :2] + 1)
    for at, (left, top, right, bottom) in zip(order.tolist(), cells.tolist(), strict=True):
        on[top:bottom, left:right] = at
    is_on = on >= 0
    field = (~is_on).astype(np.uint8)
    _, labels = cv2.distanceTransformWithLabels(field, cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL)
    at_label = np.zeros(int(labels.max()) + 1, np.int32)
    at_label[labels[is_on]] = on[is_on]
    return at_label.take(labels), on


def _containers(rects: Ints, near: Near) -> Ints:
    areas = rect_areas(rects)
    overlapping = near.apart < 0
    one, other = near.one[overlapping], near.other[overlapping]
    common = common_area(rects.take(one, axis=0), rects.take(other, axis=0))
    is_in, is_around = common >= CONTAINED * areas[one], common >= CONTAINED * areas[other]
    # Two nearly equal targets each contain the other; otherwise only the larger contains the smaller.
    inside = is_in & ((areas[other] > areas[one]) | is_around)
    inner, outer = one[inside], other[inside]
    many = np.bincount(inner, minlength=len(rects))
    rows = np.full((len(rects), many.max()), -1, np.int32)
    rows[inner, np.arange(len(inner)) - (np.cumsum(many) - many)[inner]] = outer
    return rows

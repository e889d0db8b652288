"""Finds where a marked picture is too crowded to be read: labels that break a rule, and parts to show enlarged.

It judges the labels that `place` has placed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.picture import Picture
from vision_agent.vision.rects import (
    CONTAINED,
    Ints,
    common_area,
    connected_groups,
    gaps_between,
    intersections,
    pair_gaps,
    rect_areas,
    round_rects,
    touching_pairs,
)
from vision_agent.vision.style import STYLE

# A part is shown enlarged if it has this many badly placed labels, this close to each other.
_CROWD = 12
_CROWD_GAP_PX = 40
_HIDDEN = 0.75
_TILES_ACROSS = 3
_TILES_MOST = 6
"""A tile is at least a sixth of the picture in width and height."""
_MARGIN_PX = 12


def faults(marks: Sequence[Mark], picture: Picture) -> tuple[int, ...]:
    """The numbers of the marks whose label breaks a hard rule for lack of room and cannot be trusted in the picture.

    Such a label lies on another target, on another label, or outside the picture.
    """
    placed = [mark for mark in marks if mark.label]
    if not placed:
        return ()
    rects = picture.extent.rects([mark.place for mark in placed])
    labels = round_rects([mark.label.box for mark in placed if mark.label])
    size = picture.size
    wrong = np.any(labels < 0, axis=1) | np.any(labels[:, 2:] > (size.width, size.height), axis=1)
    one, other = touching_pairs(labels, labels)
    wrong[one[one != other]] = True
    one, other = touching_pairs(labels, rects)
    is_in = common_area(rects[one], rects[other]) >= CONTAINED * rect_areas(rects[one])
    one, other = one[~is_in], other[~is_in]
    # Where two targets overlap, a label on both counts as on its own; but not if the other target is inside its own.
    is_around = common_area(rects[one], rects[other]) >= CONTAINED * rect_areas(rects[other])
    shared = np.where(is_around, 0, common_area(labels[one], intersections(rects[one], rects[other])))
    wrong[one[common_area(labels[one], rects[other]) > shared]] = True
    return tuple(mark.number for mark, is_wrong in zip(placed, wrong.tolist(), strict=True) if is_wrong)


def tiles(marks: Sequence[Mark], picture: Picture, wrong: Collection[int]) -> tuple[Box, ...]:
    """Page boxes to show enlarged, in reading order: where many marks have badly placed labels.

    A label is badly placed if a line connects it to its target, if it hides the target, or if its mark is in `wrong`
    and breaks a rule. For only a few such labels there are no tiles.
    """
    placed = [mark for mark in marks if mark.label]
    if len(placed) < _CROWD:
        return ()
    rects = picture.extent.rects([mark.place for mark in placed])
    labels = round_rects([mark.label.box for mark in placed if mark.label])
    is_poor = np.array([mark.number in wrong for mark in placed])
    is_poor |= common_area(labels, rects) > _HIDDEN * rect_areas(rects)
    is_poor |= pair_gaps(labels, rects) >= STYLE.leader_from
    poor = rects[is_poor]
    if len(poor) < _CROWD:
        return ()
    one, other = np.nonzero(gaps_between(poor) <= _CROWD_GAP_PX)
    found = [
        tile
        for crowd in connected_groups(len(poor), one, other)
        if len(crowd) >= _CROWD
        for tile in _cut(poor[crowd], picture)
    ]
    return tuple(sorted(found, key=lambda tile: (tile.y, tile.x)))


def _cut(rects: Ints, picture: Picture) -> Iterator[Box]:
    """Page boxes around these rectangles, none much larger than a third of the picture in width or height."""
    size, map = picture.size, picture.map
    start, end = rects[:, :2].min(axis=0), rects[:, 2:].max(axis=0)
    many = np.maximum(1, np.ceil((end - start) * _TILES_ACROSS / (size.width, size.height))).astype(int)
    middles = (rects[:, :2] + rects[:, 2:]) / 2
    cells = np.minimum(((middles - start) * many / np.maximum(1, end - start)).astype(int), many - 1)
    for cell in np.unique(cells, axis=0):
        inside = rects[(cells == cell).all(axis=1)]
        start_at, end_at = inside[:, :2].min(axis=0) - _MARGIN_PX, inside[:, 2:].max(axis=0) + _MARGIN_PX
        # A narrow strip would show its targets without their context.
        more = np.maximum(0, np.array([size.width, size.height]) // _TILES_MOST - (end_at - start_at)) // 2
        left, top = np.maximum(start_at - more, 0).tolist()
        right, bottom = np.minimum(end_at + more, (size.width, size.height)).tolist()
        corner = map.to_page(Point(x=left, y=top))
        yield Box(x=corner.x, y=corner.y, width=(right - left) * map.scale_x, height=(bottom - top) * map.scale_y)

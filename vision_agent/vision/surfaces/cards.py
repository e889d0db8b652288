"""Finds cards: a bar with a title right above a body of the same width, as of a node in an editor of graphs.

A person sees one object and drags it by its title. Two equal pieces on top of each other are two buttons, and three
are rows of a list, so a card has exactly two pieces, and small ports on its sides. This module knows only rectangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vision_agent.vision.rects import Bools, Group, Ints, common_area, rect_areas

_SAME_EDGE_PX, _APART_PX = 3, 4
_LEAST_WIDTH = 40
_TITLE_PX = (12, 48)
_PORT_PX = (4, 20)
_AT_SIDE_PX = 16
"""How far from the side of a card the middle of a port may be."""
_SQUARE = 0.3


class Cards(NamedTuple):
    """The cards, one row each, and the pieces that they are made of."""

    rects: Ints
    titles: Group
    bodies: Group


def find_cards(rects: Ints, lines: Ints, among: Bools) -> Cards:
    """The cards that some of the rectangles make up; `lines` are the lines of text."""
    chosen = np.flatnonzero(among)
    titles, bodies = (chosen[piece] for piece in _stacked(rects[chosen]))
    is_card = _has_title(rects[titles], lines) & _has_ports(rects[bodies], rects)
    titles, bodies = titles[is_card], bodies[is_card]
    around = np.concatenate(
        [
            np.minimum(rects[titles, :2], rects[bodies, :2]),
            np.maximum(rects[titles, 2:], rects[bodies, 2:]),
        ],
        axis=1,
    )
    return Cards(np.asarray(around, np.int32), titles, bodies)


def _stacked(rects: Ints) -> tuple[Group, Group]:
    """The pairs of two rectangles of one width on top of each other, with none of that width above or below them."""
    left, top, right, bottom = rects.T
    is_wide = right - left >= _LEAST_WIDTH
    in_line = (np.abs(left[:, None] - left) <= _SAME_EDGE_PX) & (np.abs(right[:, None] - right) <= _SAME_EDGE_PX)
    gap = top[None] - bottom[:, None]
    is_above = in_line & (gap >= 0) & (gap <= _APART_PX) & (is_wide[:, None] & is_wide[None])
    upper, lower = np.nonzero(is_above)
    is_pair = (is_above[upper].sum(axis=1) == 1) & (is_above[:, lower].sum(axis=0) == 1)
    is_pair &= ~is_above[lower].any(axis=1) & ~is_above[:, upper].any(axis=0)
    return upper[is_pair], lower[is_pair]


def _has_title(titles: Ints, lines: Ints) -> Bools:
    high = titles[:, 3] - titles[:, 1]
    says = (common_area(titles[:, None], lines[None]) >= 0.9 * rect_areas(lines)[None]).any(axis=1)
    return np.asarray(says & (high >= _TITLE_PX[0]) & (high <= _TITLE_PX[1]))


def _has_ports(bodies: Ints, rects: Ints) -> Bools:
    return np.asarray(are_at_sides(rects[are_dots(rects)], bodies).any(axis=0))


def are_at_sides(rects: Ints, cards: Ints) -> Bools:
    """Which rectangles, one row each, have their middle at the left or right side of which cards."""
    x, y = ((rects[:, :2] + rects[:, 2:]) / 2).T[..., None]
    left, top, right, bottom = cards.T
    at_side = np.minimum(np.abs(x - left), np.abs(x - right)) <= _AT_SIDE_PX
    return np.asarray(at_side & (y > top) & (y < bottom))


def are_dots(rects: Ints) -> Bools:
    """Which rectangles are small and about square, as ports and points are."""
    wide, high = (rects[:, 2:] - rects[:, :2]).T
    small, large = np.minimum(wide, high), np.maximum(wide, high)
    return np.asarray(
        (small >= _PORT_PX[0]) & (large <= _PORT_PX[1]) & (large - small <= np.maximum(2, _SQUARE * large))
    )

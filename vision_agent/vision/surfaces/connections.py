"""Finds what lines connect: the edges of a graph between two things, and the track under the knob of a slider.

A line that leaves one thing and ends at another is an edge. Where lines meet, each is followed straight on from its
end; one that is lost is no edge. Lines beside each other between the same two things are the rules of a chart or a
table. This module knows strokes and rectangles, but neither text nor colours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import atan2, cos, hypot, pi, sin
from typing import NamedTuple

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Group, Ints, common_area, rect_areas

_NODE_PX = 18
"""The least width and height of what an edge ends at."""
_DOT_PX = 16
"""Smaller shapes lie on an edge: its arrow, or the handle in its middle."""
_MOST_NODES, _MOST_ENDS, _MOST_WALKS = 60, 14, 24
_RIM_PX, _REACH_PX = 2, 7
_GAP_PX = 7
"""Gaps in a line up to here are bridged: between dashes, and in a disc on it, of which only the rim is a stroke."""
_END_PX = 26
"""The widest place where an edge meets a thing; wider, and the line runs along it."""
_LEAST_PX = 14
_THICK = 9.0
"""The most pixels that an edge has for each pixel of its length."""
_WORD = 2
"""From so many times its height on, a line of text is a word; a shorter one may be an arrow."""
_STEP_PX, _FAR_STEP_PX = 6.0, 10.0
_TURN = 0.9
_FIRST_TURN = 1.4
"""The largest turns, in radians, from step to step, and from the side of a thing."""
_LONGEST = 500
_DISC_PX, _LABEL_PX = 16, 90
"""The longest gaps that a disc and a label make in a line."""
_STRAIGHT_PX = 2
_BARS = 3
"""The fewest bars of a chart."""
_KNOB_PX = (9, 34)
_TRACK_PX, _LONGEST_TRACK_PX = 4, 600
_LEAST_TRACK_PX = 3
"""A thinner line is a rule."""
_ALONE_PX = 8


class DrawnEdge(NamedTuple):
    """A line between two things."""

    ends: tuple[int, int]
    """The indexes of the things, the left or upper one first."""
    point: tuple[int, int]
    """X and y of a pixel of it, about in its middle."""
    places: tuple[tuple[float, float], tuple[float, float]]
    """Where it meets the things, in any order."""


@dataclass(frozen=True)
class _End:
    node: int
    x: float
    y: float
    out: tuple[float, float]
    """The direction away from the thing."""


def find_drawn_edges(rects: Ints, are_cards: Bools, labels: Ints, strokes: Pixels) -> list[DrawnEdge]:
    """The edges between things, given as rectangles, in a picture of strokes; `labels` may interrupt edges.

    Edges end at a card, not at what is in it, and at the things in any other one that holds some.
    """
    nodes, holds = _nodes(rects, are_cards)
    if not 2 <= len(nodes) <= _MOST_NODES:
        return []
    names, boxes = _lines_between(rects, nodes, holds, labels, strokes)
    ends = _ends(rects, nodes, names)
    found: list[DrawnEdge] = []
    walks = 0
    for name, those in ends.items():
        if len({each.node for each in those}) < 2 or len(those) > _MOST_ENDS:
            continue
        left, top, wide, high = boxes[name].tolist()
        own = names[top : top + high, left : left + wide] == name
        if len(those) == 2:
            point = _middle(own, left, top, those[0], those[1])
            if point is not None:
                found.append(_edge(those[0], those[1], point, rects))
            continue
        for end in those:
            if walks >= _MOST_WALKS:
                break
            walks += 1
            walked = _walk(own, left, top, end, those)
            if walked is not None:
                found.append(_edge(end, walked[0], walked[1], rects))
    found += _interrupted(ends, names, boxes, labels, rects)
    return _without_rules(found, ends, rects)


def are_sliders(rects: Ints, strokes: Pixels) -> Bools:
    """Which rectangles are knobs on a thin track that ends without meeting anything."""
    wide, high = (rects[:, 2:] - rects[:, :2]).T
    small, large = np.minimum(wide, high), np.maximum(wide, high)
    may = (small >= _KNOB_PX[0]) & (large <= _KNOB_PX[1]) & (large <= 1.3 * small)
    found = np.zeros(len(rects), bool)
    tracks: list[tuple[int, int]] = []
    for at in np.flatnonzero(may).tolist():
        for strokes_along, rect, others in (
            (strokes, rects[at], rects),
            (strokes.T, rects[at][[1, 0, 3, 2]], rects[:, [1, 0, 3, 2]]),
        ):
            track = _track(strokes_along, rect, np.delete(others, at, axis=0))
            if track is not None:
                found[at] = True
                tracks.append(track)
    # Points on one line are not knobs.
    if max(Counter(tracks).values(), default=0) > 2:
        found[:] = False
    return found


def _nodes(rects: Ints, are_cards: Bools) -> tuple[Group, Bools]:
    """The things that edges may end at; and which of all hold others."""
    sizes = rect_areas(rects)
    is_large = (rects[:, 2:] - rects[:, :2]).min(axis=1, initial=1 << 15) >= _NODE_PX
    inside = common_area(rects[:, None], rects[None]) >= 0.9 * sizes[None]
    inside &= sizes[:, None] > 1.2 * sizes[None]
    in_card = (inside & are_cards[:, None]).any(axis=0)
    holds = (inside & (is_large & ~in_card)[None]).any(axis=1) & is_large
    return np.flatnonzero(is_large & ~holds & ~in_card & ~_are_bars(rects)), np.asarray(holds)


def _are_bars(rects: Ints) -> Bools:
    """Which rectangles stand on one line or hang from one, equally wide and unequally long, as the bars of a chart."""
    found = np.zeros(len(rects), bool)
    sides = rects[:, 2:] - rects[:, :2]
    for edge, wide in ((3, 0), (0, 1), (1, 0), (2, 1)):
        in_line = np.abs(rects[:, None, edge] - rects[None, :, edge]) <= _STRAIGHT_PX
        in_line &= np.abs(sides[:, None, wide] - sides[None, :, wide]) <= _STRAIGHT_PX
        long = sides[:, 1 - wide]
        uneven = in_line & (np.abs(long[:, None] - long[None]) > _STRAIGHT_PX)
        found |= (in_line.sum(axis=1) >= _BARS) & (uneven.sum(axis=1) >= _BARS - 1)
    return found


def _lines_between(rects: Ints, nodes: Group, holds: Bools, labels: Ints, strokes: Pixels) -> tuple[Ints, Ints]:
    """For each pixel the number of the connected line that it belongs to, from 1, and the left, top, width and height
    of each line; things and words are cut out.
    """
    mask = cv2.copyMakeBorder(strokes[2:-2, 2:-2], 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=0)
    sides = rects[:, 2:] - rects[:, :2]
    dots = rects[sides.max(axis=1, initial=0) <= _DOT_PX].clip(0)
    for left, top, right, bottom in dots.tolist():
        mask[top:bottom, left:right] = 255
    wide, high = (labels[:, 2:] - labels[:, :2]).T
    for left, top, right, bottom in labels[wide >= _WORD * high].clip(0).tolist():
        mask[top:bottom, left:right] = 0
    for left, top, right, bottom in rects[holds].tolist():
        for x, y, to_x, to_y in (
            (left, top, right, top),
            (left, bottom, right, bottom),
            (left, top, left, bottom),
            (right, top, right, bottom),
        ):
            mask[max(0, y - 4) : to_y + 4, max(0, x - 4) : to_x + 4] = 0
    for left, top, right, bottom in rects[nodes].tolist():
        mask[max(0, top - _RIM_PX) : bottom + _RIM_PX, max(0, left - _RIM_PX) : right + _RIM_PX] = 0
    if _are_alone(rects[nodes], dots, mask):
        return np.zeros_like(mask, np.int32), np.zeros((1, 4), np.int32)
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((_GAP_PX, _GAP_PX), np.uint8)), np.uint8)
    # At half the size it takes a third of the time; gaps of two pixels were bridged before.
    half = cv2.resize(mask, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    _, small, stats, _ = cv2.connectedComponentsWithStats(half, connectivity=8, ltype=cv2.CV_16U)
    names = cv2.resize(small, mask.shape[1::-1], interpolation=cv2.INTER_NEAREST)
    names[mask == 0] = 0
    return np.asarray(names, np.int32), np.asarray(2 * stats[:, :4], np.int32)


def _are_alone(nodes: Ints, dots: Ints, mask: Pixels) -> bool:
    """Whether lines, other than those of dots, reach fewer than two things."""
    reached, far = 0, _REACH_PX + _DOT_PX  # behind its arrow, a line goes on
    for node in nodes:
        left, top, right, bottom = (node + np.array([-far, -far, far, far])).clip(0).tolist()
        part = mask[top:bottom, left:right]
        if not cv2.countNonZero(part):
            continue
        part = part.copy()
        at = dots[(common_area(dots, np.array([left, top, right, bottom], np.int32)) > 0)] - np.array([left, top] * 2)
        for its_left, its_top, its_right, its_bottom in at.tolist():
            part[max(0, its_top - 2) : max(0, its_bottom + 2), max(0, its_left - 2) : max(0, its_right + 2)] = 0
        reached += cv2.countNonZero(part) > 0
    return reached < 2


def _ends(rects: Ints, nodes: Group, names: Ints) -> dict[int, list[_End]]:
    """Where each line meets things."""
    found: dict[int, list[_End]] = defaultdict(list)
    for node in nodes.tolist():
        left, top, right, bottom = rects[node].tolist()
        x, y = max(0, left - _REACH_PX), max(0, top - _REACH_PX)
        part = names[y : bottom + _REACH_PX, x : right + _REACH_PX]
        if not part.any():
            continue
        many, places, stats, centres = cv2.connectedComponentsWithStats((part > 0).astype(np.uint8), connectivity=8)
        for at in range(1, many):
            if max(stats[at, cv2.CC_STAT_WIDTH], stats[at, cv2.CC_STAT_HEIGHT]) > _END_PX:
                continue
            row = int(stats[at, cv2.CC_STAT_TOP])
            column = int(np.argmax(places[row] == at))
            its_x, its_y = float(centres[at][0]) + x, float(centres[at][1]) + y
            found[int(part[row, column])].append(_End(node, its_x, its_y, _outwards(rects[node], its_x, its_y)))
    return found


def _outwards(rect: Ints, x: float, y: float) -> tuple[float, float]:
    left, top, right, bottom = rect.tolist()
    away = {(-1.0, 0.0): left - x, (1.0, 0.0): x - right, (0.0, -1.0): top - y, (0.0, 1.0): y - bottom}
    return max(away, key=lambda each: away[each])


def _middle(own: Bools, left: int, top: int, one: _End, other: _End) -> tuple[int, int] | None:
    """A pixel halfway along a line with two ends; None if it is too short or too thick for a line."""
    long = hypot(other.x - one.x, other.y - one.y)
    if one.node == other.node or long < _LEAST_PX:
        return None
    y, x = np.nonzero(own)
    if len(x) > _THICK * sum(own.shape):
        return None
    x, y = x + left, y + top
    along = ((x - one.x) * (other.x - one.x) + (y - one.y) * (other.y - one.y)) / long**2
    near = np.argsort(np.abs(along - 0.5))[: max(1, int(0.02 * len(x)))]
    at = near[np.argsort(y[near])[len(near) // 2]]
    return int(x[at]), int(y[at])


def _interrupted(ends: dict[int, list[_End]], names: Ints, boxes: Ints, labels: Ints, rects: Ints) -> list[DrawnEdge]:
    """The edges that a disc or a label cuts in two: both halves end at a thing, and their loose ends face."""
    halves: list[tuple[_End, tuple[float, float]]] = []
    for name, those in ends.items():
        left, top, wide, high = boxes[name].tolist()
        if len(those) != 1 or max(wide, high) < _LEAST_PX:
            continue
        down, across = np.nonzero(names[top : top + high, left : left + wide] == name)
        far = int(np.argmax(np.hypot(across + left - those[0].x, down + top - those[0].y)))
        halves.append((those[0], (float(across[far] + left), float(down[far] + top))))
    found = []
    for at, (one, (x, y)) in enumerate(halves):
        start = one.x, one.y
        facing = [
            each
            for which, (other, each) in enumerate(halves)
            if which != at and other.node != one.node and _face(start, (x, y), each, (other.x, other.y), labels)
        ]
        if len(facing) != 1:
            continue
        other = next(end for end, loose in halves if loose == facing[0])
        point = round((x + facing[0][0]) / 2), round((y + facing[0][1]) / 2)
        found.append(_edge(one, other, point, rects))
    return found


def _face(
    start: tuple[float, float],
    loose: tuple[float, float],
    other: tuple[float, float],
    end: tuple[float, float],
    labels: Ints,
) -> bool:
    """Whether two loose ends are close, or have a label between them, and go on in about the same direction."""
    across, down = other[0] - loose[0], other[1] - loose[1]
    gap = hypot(across, down)
    x, y = loose[0] + across / 2, loose[1] + down / 2
    middle = np.array([x - 1, y - 1, x + 1, y + 1]).astype(np.int32)
    if gap > _DISC_PX and not (common_area(labels, middle) > 0).any():
        return False
    if gap > _LABEL_PX:
        return False
    whole = end[0] - start[0], end[1] - start[1]
    halves = (loose[0] - start[0], loose[1] - start[1]), (end[0] - other[0], end[1] - other[1])
    return all(
        each[0] * whole[0] + each[1] * whole[1] >= 0.7 * hypot(*each) * hypot(*whole) and hypot(*each) >= _LEAST_PX / 2
        for each in halves
    )


def _walk(own: Bools, left: int, top: int, start: _End, ends: list[_End]) -> tuple[_End, tuple[int, int]] | None:
    """The end that a line leads to from another one, and a pixel about in its middle; None if it is lost."""
    x, y = start.x, start.y
    heading, turn = atan2(start.out[1], start.out[0]), _FIRST_TURN
    path = [(x, y)]
    for _ in range(_LONGEST):
        at = x - left, y - top
        step = _next(own, *at, heading, turn, _STEP_PX) or _next(own, *at, heading, turn, _FAR_STEP_PX)
        if step is None:
            return None
        x, y, heading = step[0] + left, step[1] + top, step[2]
        turn = _TURN
        path.append((x, y))
        for end in ends:
            if end.node != start.node and hypot(end.x - x, end.y - y) <= _STEP_PX:
                half = path[len(path) // 2]
                return end, (round(half[0]), round(half[1]))
    return None


def _next(own: Bools, x: float, y: float, heading: float, most: float, far: float) -> tuple[float, float, float] | None:
    """The next place of a line on a circle around this one, straight on if there are several, and its direction."""
    many = max(4, round(most * far))
    hits: list[float] = []
    is_apart = [False, False]
    for step in range(many + 1):
        for side in (0, 1)[: 2 if step else 1]:
            turned = (1 - 2 * side) * most * step / many
            at_x = round(x + far * cos(heading + turned))
            at_y = round(y + far * sin(heading + turned))
            is_on = 0 <= at_x < own.shape[1] and 0 <= at_y < own.shape[0] and bool(own[at_y, at_x])
            if is_on and not is_apart[side]:
                hits.append(turned)
            elif hits:
                is_apart[side] = True  # the run of the line that goes straight on ends here
    if not hits:
        return None
    heading = (heading + sum(hits) / len(hits) + pi) % (2 * pi) - pi
    return x + far * cos(heading), y + far * sin(heading), heading


def _edge(one: _End, other: _End, point: tuple[int, int], rects: Ints) -> DrawnEdge:
    return DrawnEdge(_ordered(one.node, other.node, rects), point, ((one.x, one.y), (other.x, other.y)))


def _ordered(one: int, other: int, rects: Ints) -> tuple[int, int]:
    def place(at: int) -> tuple[int, int]:
        return int(rects[at, 0]), int(rects[at, 1])

    return (one, other) if place(one) <= place(other) else (other, one)


def _without_rules(edges: list[DrawnEdge], ends: dict[int, list[_End]], rects: Ints) -> list[DrawnEdge]:
    """The edges, each once, without level or upright lines beside each other between the same two things."""
    beside: Counter[tuple[int, int]] = Counter()
    for those in ends.values():
        if len(those) == 2 and min(abs(those[0].x - those[1].x), abs(those[0].y - those[1].y)) <= _STRAIGHT_PX:
            beside[_ordered(those[0].node, those[1].node, rects)] += 1
    found: dict[tuple[int, int], DrawnEdge] = {}
    for edge in edges:
        if edge.ends[0] != edge.ends[1] and beside[edge.ends] < 2:
            found.setdefault(edge.ends, edge)
    return list(found.values())


def _track(strokes: Pixels, rect: Ints, others: Ints) -> tuple[int, int] | None:
    """The height and the left end of the level track under a knob; None if there is none."""
    left, top, right, bottom = rect.tolist()
    middle = int(top + bottom) // 2
    if middle < 12 or middle + 12 > strokes.shape[0]:
        return None
    # Most knobs have nothing beside them, which shows at once.
    if not strokes[middle - 1 : middle + 2, [max(0, left - 6), min(strokes.shape[1] - 1, right + 5)]].any():
        return None
    band = strokes[middle - _TRACK_PX : middle + _TRACK_PX + 1]
    beside = (strokes[middle - 10 : middle - 5].any(axis=0)) | (strokes[middle + 6 : middle + 11].any(axis=0))
    is_track = np.asarray(band.any(axis=0) & ~beside)
    first, last = left - 3, right + 2
    while first > 0 and is_track[first]:
        first -= 1
    while last < len(is_track) - 1 and is_track[last]:
        last += 1
    long = (left - 3 - first) + (last - right - 2)
    if not 2.5 * (right - left) <= long + (right - left) <= _LONGEST_TRACK_PX or long < 1.5 * (right - left):
        return None
    runs = [band[:, run] for run in (slice(first + 1, left - 3), slice(right + 2, last)) if run.stop > run.start]
    if (np.concatenate(runs, axis=1).mean(axis=1) > 0.95 * 255).sum() < _LEAST_TRACK_PX:
        return None
    at = np.array([first - _ALONE_PX, middle - 2, last + _ALONE_PX, middle + 2], np.int32)
    if (common_area(others, at) > 0).any():
        return None
    return middle // 4, first // 8

"""Puts parts together as a person sees them: ports with their names, frames of handles, edges between nodes, sliders.

What an edge, an arrow or a frame is made of is no target of its own. This module knows rectangles and strokes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Group, Ints, common_area, rect_areas
from vision_agent.vision.surfaces.cards import are_at_sides, are_dots
from vision_agent.vision.surfaces.connections import DrawnEdge, are_sliders, find_drawn_edges
from vision_agent.vision.surfaces.selection_frames import find_frames
from vision_agent.vision.surfaces.shapes import Part, Shapes

_PORT_LABEL_PX = 12
_SIGN_PX = 6
"""A line of text that is larger than a port by no more than this is nothing but the port."""
_EDGE_PX = 14
"""The size of the mark on an edge."""
_ON_EDGE_PX = 9.0
_ARROW_PX = 18
_NODE_PX = 18
_ACROSS, _MANY_ACROSS = 0.1, 3
_TRACK_PX = 12
_KNOB_PX = (8, 36)
_IS_HANDLE, _IS_EDGE, _IS_FRAMED = 0.75, 0.6, 0.6


def with_parts(found: Shapes, strokes: Pixels) -> Shapes:
    """The shapes, put together; those with part `node` are cards."""
    found = _with_ports(found)
    found = _with_frames(found)
    if not found.lattices:
        found = _with_edges(_without_rounds(found), strokes)
    return _with_sliders(found, strokes)


def _with_ports(found: Shapes) -> Shapes:
    """Small shapes at the sides of cards are ports, and have the texts beside them as names."""
    cards = [at for at, part in enumerate(found.parts) if part == "node"]
    if not cards:
        return found
    things = found.things
    bodies = found.rects[cards].copy()
    bodies[:, 1] = 2 * found.points[cards, 1] - bodies[:, 1]  # a card is pressed in the middle of its title
    ports = things[are_dots(found.rects[things]) & are_at_sides(found.rects[things], bodies).any(axis=1)]
    found = _without_signs(found, ports)  # lines of text come after all things, so that the things keep their indexes
    parts, says = list(found.parts), found.says.copy()
    is_label = np.zeros(len(found.lines), bool)
    for port in ports.tolist():
        parts[port] = "port"
        label = _label_of(found.rects[port], found.rects[cards], found.lines)
        if label is not None:
            says[port] = False
            says[port, label] = is_label[label] = True
    is_word = np.array([shape == "words" for shape in found.shapes], bool)
    kept = np.flatnonzero(~(is_word & (says & is_label[None]).any(axis=1)))
    return replace(found, parts=parts, says=says).take(kept)


def _without_signs(found: Shapes, ports: Group) -> Shapes:
    """The shapes, with lines of text cut where a port was taken for their first or last letter."""
    lines, gone = found.lines.copy(), np.zeros(len(found.lines), bool)
    for left, top, right, bottom in found.rects[ports].tolist():
        x, y = (left + right) // 2, (top + bottom) // 2
        middle = np.array([x - 1, y - 1, x + 1, y + 1], np.int32)
        for at in np.flatnonzero(common_area(lines, middle) > 0).tolist():
            if (lines[at, 2:] - lines[at, :2]).max() <= max(right - left, bottom - top) + _SIGN_PX:
                gone[at] = True
            elif abs(lines[at, 2] - right) <= _SIGN_PX:
                lines[at, 2] = max(lines[at, 0] + 2, left - 3)
            elif abs(lines[at, 0] - left) <= _SIGN_PX:
                lines[at, 0] = min(lines[at, 2] - 2, right + 3)
    found = replace(found, lines=lines)
    return found.without_lines(gone) if gone.any() else found


def _label_of(port: Ints, cards: Ints, lines: Ints) -> int | None:
    """The line of text beside a port, towards the inside of its card."""
    left, top, right, bottom = port.tolist()
    middle = (top + bottom) / 2
    card = cards[int(np.argmax(common_area(cards, port[None])))]
    is_left = left - card[0] < card[2] - right
    gap = lines[:, 0] - right if is_left else left - lines[:, 2]
    is_beside = (gap >= -2) & (gap <= _PORT_LABEL_PX) & (lines[:, 1] <= middle) & (lines[:, 3] >= middle)
    return int(np.argmin(np.where(is_beside, gap, 1 << 15))) if is_beside.any() else None


def _with_frames(found: Shapes) -> Shapes:
    """Handles around something selected, each one thing, and what they select."""
    at = np.array([each for each in found.things.tolist() if not found.parts[each]], np.int64)
    frames = find_frames(found.rects[at], found.rects)
    if not frames:
        return found
    gone = np.zeros(len(found.rects), bool)
    selected = set(found.selected)
    for frame in frames:
        gone[at[frame.pieces]] = True
    for frame in frames:
        middles = (frame.handles[:, :2] + frame.handles[:, 2:]) // 2
        found = found.add(frame.handles, middles, "shape", "handle", _IS_HANDLE)
        if frame.framed is not None and not gone[frame.framed]:
            selected.add(frame.framed)
        elif not found.lattices:
            selected.add(len(found.rects))
            point = (frame.rect[:2] + frame.rect[2:]) // 2
            found = found.add(frame.rect[None], point[None], "shape", "", _IS_FRAMED)
    gone = np.concatenate([gone, np.zeros(len(found.rects) - len(gone), bool)])
    return replace(found, selected=frozenset(selected)).take(np.flatnonzero(~gone))


def _without_rounds(found: Shapes) -> Shapes:
    """The shapes without what edges and the things between them enclose: several things lie across its outline."""
    things = found.things
    rects = found.rects[things]
    sizes = rect_areas(rects)
    share = common_area(rects[:, None], rects[None]) / np.maximum(1, sizes)[None]
    lies_across = (share >= _ACROSS) & (share <= 1 - _ACROSS) & (2 * sizes[None] <= sizes[:, None])
    lies_across &= ((rects[:, 2:] - rects[:, :2]).min(axis=1, initial=1 << 15) >= _NODE_PX)[None]
    is_round = lies_across.sum(axis=1) >= _MANY_ACROSS
    kept = np.ones(len(found.rects), bool)
    kept[things[is_round]] = False
    return found.take(np.flatnonzero(kept))


def _with_edges(found: Shapes, strokes: Pixels) -> Shapes:
    """Edges as things of their own, and what they end at as nodes."""
    at = np.array([each for each in found.things.tolist() if found.parts[each] != "handle"], np.int64)
    is_card = np.array([found.parts[each] == "node" for each in at.tolist()], bool)
    edges = find_drawn_edges(found.rects[at], is_card, found.lines, strokes)
    if not edges:
        return found
    gone = _on_edges(found, edges)
    rects, points = [], []
    for edge in edges:
        rects.append(_mark_on(edge, found.rects[gone]))
        points.append(edge.point)
    parts: list[Part] = list(found.parts)
    ends = dict(found.ends)
    for number, edge in enumerate(edges):
        one, other = (int(at[each]) for each in edge.ends)
        parts[one] = parts[other] = "node"
        ends[len(found.rects) + number] = one, other
    found = replace(found, parts=parts)
    found = found.add(np.array(rects, np.int32), np.array(points, np.int32), "line", "edge", _IS_EDGE)
    gone = np.concatenate([gone, np.zeros(len(edges), bool)])
    return replace(found, ends=ends).take(np.flatnonzero(~gone))


def _on_edges(found: Shapes, edges: list[DrawnEdge]) -> Bools:
    """Which small shapes belong to an edge: its arrow, and the handle in its middle."""
    sides = found.rects[:, 2:] - found.rects[:, :2]
    small = sides.max(axis=1, initial=0) <= _ARROW_PX
    middles = (found.rects[:, :2] + found.rects[:, 2:]) / 2
    is_plain = np.array(
        [part == "" and shape != "words" for part, shape in zip(found.parts, found.shapes, strict=True)], bool
    )
    is_arrow = np.array([shape == "shape" for shape in found.shapes], bool)
    gone = np.zeros(len(found.rects), bool)
    for edge in edges:
        near = np.hypot(*(middles - np.array(edge.point)).T) <= _ON_EDGE_PX
        for place in edge.places:
            near |= is_arrow & (np.hypot(*(middles - np.array(place)).T) <= _ARROW_PX / 2 + 2)
        gone |= near & small & is_plain
    return gone


def _mark_on(edge: DrawnEdge, dots: Ints) -> Ints:
    """Where the number of an edge belongs: on the handle in its middle, if it has one."""
    x, y = edge.point
    if len(dots):
        middles = (dots[:, :2] + dots[:, 2:]) / 2
        far = np.hypot(middles[:, 0] - x, middles[:, 1] - y)
        if far.min() <= _ON_EDGE_PX:
            return np.asarray(dots[int(far.argmin())], np.int32)
    half = _EDGE_PX // 2
    return np.array([x - half, y - half, x + half, y + half], np.int32)


def _with_sliders(found: Shapes, strokes: Pixels) -> Shapes:
    """Knobs on a track, thin as a line or as a bar; the track is no target of its own."""
    at = np.array([each for each in found.things.tolist() if not found.parts[each]], np.int64)
    rects = found.rects[at]
    is_track = _are_tracks(rects)
    is_knob = are_sliders(rects, strokes) | is_track.any(axis=1)
    if not is_knob.any():
        return found
    knobs = set(at[is_knob].tolist())
    parts: list[Part] = ["slider" if each in knobs else part for each, part in enumerate(found.parts)]
    found = replace(found, parts=parts)
    middles = (rects[is_knob, :2] + rects[is_knob, 2:]) // 2
    around = np.concatenate([middles - 1, middles + 1], axis=1)
    is_on = np.asarray((common_area(found.lines[:, None], around[None]) > 0).any(axis=1))
    kept = np.ones(len(found.rects), bool)
    kept[at[is_track.any(axis=0)]] = False
    return found.take(np.flatnonzero(kept)).without_lines(is_on)


def _are_tracks(rects: Ints) -> Bools:
    """For each rectangle as a knob, one row each: which bars it divides in two, or has its middle on."""
    wide, high = (rects[:, 2:] - rects[:, :2]).T
    is_bar = (high <= _TRACK_PX) & (wide >= 4 * high)
    is_knob = (np.minimum(wide, high) >= _KNOB_PX[0]) & (np.maximum(wide, high) <= _KNOB_PX[1])
    middle = (rects[:, 1] + rects[:, 3]) / 2
    is_level = (np.abs(middle[:, None] - middle[None]) <= 3) & (high[None] < high[:, None])
    is_along = (rects[None, :, 0] - wide[:, None] <= rects[:, None, 0]) & (
        rects[:, None, 2] <= rects[None, :, 2] + wide[:, None]
    )
    is_on = is_level & is_along & is_bar[None] & is_knob[:, None]
    long = (is_on * wide[None]).sum(axis=1)
    return np.asarray(is_on & (long >= 2.5 * wide)[:, None])

"""Joins the faces of a solid: patches in shades of one colour that share an edge, and are convex together.

Whatever side a cube, a cylinder or a cone shows, its picture is convex. Rectangles are no faces: they are rows, squares
and segments of a bar. Nor are more than three shades that touch, which are slices, tiles or hills.
This module knows only pixels.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Ints, rect_areas
from vision_agent.vision.surfaces.regions import Patches

_SAME_HUE, _COLOURED = 4, 60
"""How far apart the hues of two faces may be, of 180, and how saturated they must be, of 255."""
_OTHER_SHADE = 8
_LEAST_PX = 16
_NEAR_PX = 4
_SHARED = 0.5
"""The share of the shorter side of the smaller face that the edge between two must have."""
_CONVEX = 0.96
_RECTANGLE = 0.97
"""The share of its rectangle above which a patch is a rectangle."""
_MOST_FACES = 3
_MOST = 120


def with_solids(patches: Patches, edges: Pixels, pixels: Pixels) -> Patches:
    """The patches, with the faces of each solid joined to one; `edges` are those between the patches."""
    # The point of a patch at the edge of the picture may lie right beyond it.
    patches = replace(patches, points=patches.points.clip(0, np.array(pixels.shape[1::-1], np.int32) - 1))
    pairs = _shades(patches, pixels)
    groups = [each for each in _groups(pairs) if len(each) <= _MOST_FACES]
    gone = np.zeros(len(patches.rects), bool)
    rects, points, solid = patches.rects.copy(), patches.points.copy(), patches.solid.copy()
    for group in groups:
        faces = [_face(edges, patches.points[at]) for at in group]
        around = np.concatenate([patches.rects[group, :2].min(axis=0), patches.rects[group, 2:].max(axis=0)])
        share = _share_as_solid(faces, around)
        if share is None:
            continue
        sizes = rect_areas(patches.rects[group])
        kept = group[int(sizes.argmax())]
        gone[[at for at in group if at != kept]] = True
        rects[kept], solid[kept] = around, share
        points[kept] = patches.points[kept]
    if not gone.any():
        return patches
    joined = Patches(rects, points, solid, patches.is_ground, patches.is_open, patches.outlined)
    return joined.take(np.flatnonzero(~gone))


def are_shades(one: Pixels, other: Pixels) -> Bools:
    """Which colours of two pictures of one row have the same hue, and are no grey."""
    if not one.shape[1] or not other.shape[1]:
        return np.zeros((one.shape[1], other.shape[1]), bool)
    first, second = (cv2.cvtColor(each, cv2.COLOR_BGR2HSV)[0].astype(np.int16) for each in (one, other))
    apart = np.abs(first[:, None, 0] - second[None, :, 0])
    is_coloured = (first[:, 1] >= _COLOURED)[:, None] & (second[:, 1] >= _COLOURED)[None]
    return np.asarray((np.minimum(apart, 180 - apart) <= _SAME_HUE) & is_coloured)


def _shades(patches: Patches, pixels: Pixels) -> list[tuple[int, int]]:
    """The pairs of patches beside each other in two shades of one colour."""
    sides = (patches.rects[:, 2:] - patches.rects[:, :2]).min(axis=1, initial=1 << 15)
    may = np.flatnonzero((sides >= _LEAST_PX) & ~patches.is_ground)
    may = may[np.argsort(-rect_areas(patches.rects[may]), kind="stable")[:_MOST]]
    if len(may) < 2:
        return []
    x, y = patches.points[may].T
    colours = pixels[y, x][None]
    is_shade = are_shades(colours, colours)
    bright = colours[0].max(axis=1).astype(np.int16)
    is_shade &= np.abs(bright[:, None] - bright[None]) >= _OTHER_SHADE
    rects = patches.rects[may]
    grown = rects + np.array([-_NEAR_PX, -_NEAR_PX, _NEAR_PX, _NEAR_PX], np.int32)
    is_near = (
        np.maximum(grown[:, None, :2], grown[None, :, :2]) < np.minimum(grown[:, None, 2:], grown[None, :, 2:])
    ).all(axis=2)
    is_box = patches.solid[may] >= _RECTANGLE
    is_pair = np.triu(is_shade & is_near & ~(is_box[:, None] & is_box[None]), 1)
    return [(int(may[one]), int(may[other])) for one, other in np.argwhere(is_pair).tolist()]


def _groups(pairs: list[tuple[int, int]]) -> list[list[int]]:
    """What hangs together by pairs."""
    groups: list[set[int]] = []
    for pair in pairs:
        touching = [each for each in groups if each & set(pair)]
        groups = [each for each in groups if each not in touching]
        groups.append(set(pair).union(*touching))
    return [sorted(each) for each in groups]


def _face(edges: Pixels, point: Ints) -> Bools:
    """The pixels of the patch around a point, between the edges."""
    filled = np.zeros((edges.shape[0] + 2, edges.shape[1] + 2), np.uint8)
    cv2.floodFill(edges, filled, (int(point[0]), int(point[1])), 0, flags=4 | cv2.FLOODFILL_MASK_ONLY | 255 << 8)
    return np.asarray(filled[1:-1, 1:-1] > 0)


def _share_as_solid(faces: list[Bools], around: Ints) -> float | None:
    """The share of their rectangle that faces fill together, if they share edges and are convex; else None."""
    left, top, right, bottom = (int(each) for each in around)
    room = np.s_[max(0, top - _NEAR_PX) : bottom + _NEAR_PX, max(0, left - _NEAR_PX) : right + _NEAR_PX]
    cut = [face[room].astype(np.uint8) for face in faces]
    square = np.ones((5, 5), np.uint8)
    thick = [cv2.dilate(each, square) for each in cut]
    for at, one in enumerate(thick):
        shorter = min(min(_sides(cut[at])), *(min(_sides(each)) for each in cut))
        touched = max(max(_sides(one & other)) for rank, other in enumerate(thick) if rank != at)
        if touched < _SHARED * shorter:
            return None
    whole = cv2.morphologyEx(np.maximum.reduce(cut), cv2.MORPH_CLOSE, square)
    outlines, _ = cv2.findContours(whole, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if len(outlines) != 1:
        return None
    hull = cv2.contourArea(cv2.convexHull(outlines[0]))
    size = cv2.contourArea(outlines[0])
    if not hull or size < _CONVEX * hull:
        return None
    return float(min(1.0, size / max(1, (right - left - 1) * (bottom - top - 1))))


def _sides(mask: Pixels) -> tuple[int, int]:
    _, _, wide, high = cv2.boundingRect(mask)
    return int(wide), int(high)

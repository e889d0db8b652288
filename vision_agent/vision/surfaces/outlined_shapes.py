"""Replaces the patches that strokes cut out of the background with the closed outlines themselves.

A stroke on the ground cuts patches out of it: the inside of a shape, but also the corners beside a cross, the pieces of
a shape under another one, and what lies between grid lines. A patch whose colour goes on behind its edges is kept only
if it is the inside of a closed outline, or something is written in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Floats, Group, Ints, common_area, rect_areas
from vision_agent.vision.surfaces.closed_outlines import ClosedOutlines
from vision_agent.vision.surfaces.regions import Patches

_SAME = 0.6
"""The common share of an outline and the patch in it."""
_BEYOND_PX = (4, 7)
"""How far behind the edge of a patch its colour may go on: behind a thin stroke, behind a thick one."""
_SAMPLES = 9
_GOES_ON = 0.7
"""The share of the samples along a side that must have the colour of the patch."""
_OPEN, _OPEN_SHARE = 2, 0.6
"""A patch whose colour goes on behind so many sides, or along so much of all sides, is a piece of what is around it."""
_SAME_COLOUR = 8
_SMALL_PX = 24
"""Smaller patches are no pieces of a ground: they are handles, checkboxes and points."""
_POINTED_PX = 40
"""Smaller outlines are pressed in the middle."""
_SLIT_PX = 10
_IN = 0.85
_WHOLE = 0.93
"""The share of its rectangle above which nothing is cut out of a patch."""
_DISC_PX = 48
_ON_LINE_PX = 7.0
_IN_WITH_STROKE = 0.7
_BEYOND_OUTLINE_PX, _GAP_PX = 8, 3
"""How far a patch goes on beyond an outline that is a piece of it, and how large the gap between them is."""
_DASH_PX = 16


class OutlinedPatches(NamedTuple):
    """Patches, of which the first are some of those before."""

    patches: Patches
    kept: Group
    """The former indexes of these."""


def with_outlines(
    patches: Patches, outlines: ClosedOutlines, cells: Bools, lines: Ints, pixels: Pixels
) -> OutlinedPatches:
    """The patches, without pieces of grounds, and with closed outlines in place of what they enclose.

    `cells` are the patches that belong to a grid, which stay; so do those around one of `lines`.
    """
    outlines = outlines.take(np.flatnonzero(~_are_pieces_of_patches(patches, outlines, pixels)))
    rects, outer = patches.rects, outlines.rects
    common = common_area(rects[:, None], outer[None])
    likeness = common / np.maximum(1, rect_areas(rects)[:, None] + rect_areas(outer)[None] - common)
    is_alike = (likeness >= _SAME) & ~outlines.is_grid[None]
    # The curves of a small disc are too narrow for the square that tells strokes from shapes.
    sides = outer[:, 2:] - outer[:, :2]
    is_disc = outlines.is_dashed & (sides.max(axis=1, initial=0) < _DISC_PX)
    has_face = (is_alike & ~patches.is_ground[:, None]).any(axis=0)
    is_alike &= ~(is_disc & has_face)[None]
    is_replaced = is_alike.any(axis=1) & ~cells
    small = (rects[:, 2:] - rects[:, :2]).min(axis=1, initial=1 << 15) < _SMALL_PX
    says = (common_area(rects[:, None], lines[None]) >= 0.9 * rect_areas(lines)[None]).any(axis=1)
    many, share = _openness(patches, pixels)
    patches = replace(patches, is_open=(many >= _OPEN) | (share >= _OPEN_SHARE))
    is_piece = (patches.is_open | (patches.is_ground & (many > 0))) & ~says & ~small
    is_piece |= ((likeness >= _SAME) & outlines.is_grid[None]).any(axis=1) & ~says & ~small & patches.is_ground
    # What a tick leaves of the inside of a checkbox.
    is_tiny = (sides.max(axis=1, initial=0) <= _SMALL_PX) & ~outlines.is_grid & ~outlines.is_dashed
    is_piece |= ((common >= _IN * rect_areas(rects)[:, None]) & is_tiny[None] & ~is_alike).any(axis=1)
    is_piece |= _are_slits(patches) & ~says
    is_piece |= _are_crossed(patches, outlines, pixels) & ~says
    centres = (rects[:, :2] + rects[:, 2:]) // 2
    is_dash = outlines.are_on(centres, _ON_LINE_PX) & ((rects[:, 2:] - rects[:, :2]).max(axis=1, initial=0) < _DASH_PX)
    is_dash &= ~patches.is_ground  # through a handle on the line its ground shows
    kept = np.flatnonzero(cells | ~(is_replaced | is_piece | is_dash))
    # An outline is no target of its own where its cells are those of a grid.
    is_new = ~outlines.is_grid & ~(is_alike & cells[:, None]).any(axis=0) & ~(is_disc & has_face)
    added = np.flatnonzero(is_new)
    says = (common_area(outer[:, None], lines[None]) >= 0.9 * rect_areas(lines)[None]).any(axis=1)
    # The stroke is a patch too.
    is_filled = ~(is_alike & patches.is_ground[:, None]).any(axis=0) & is_alike.any(axis=0)
    in_middle = says | is_filled | (sides.min(axis=1, initial=1 << 15) < _POINTED_PX)
    points = np.where(in_middle[:, None], outlines.middles, outlines.points)
    drawn = Patches(
        outer[added] + np.array([1, 1, -1, -1], np.int32),
        points[added].astype(np.int32),
        outlines.solid[added],
        np.zeros(len(added), bool),
        np.zeros(len(added), bool),
        np.where(outlines.is_dashed[added], 2, 1).astype(np.uint8),
    )
    return OutlinedPatches(patches.take(kept).join(drawn), kept)


def _are_pieces_of_patches(patches: Patches, outlines: ClosedOutlines, pixels: Pixels) -> Bools:
    """Which outlines are a piece of a patch: a stroke on it, such as the mast of a boat, nearly divides it.

    The patch goes on beyond such an outline, which has a gap there in the colour of the patch.
    """
    rects, outer = patches.rects, outlines.rects
    sizes = rect_areas(outer)
    beyond = np.concatenate([outer[None, :, :2] - rects[:, None, :2], rects[:, None, 2:] - outer[None, :, 2:]], axis=2)
    is_in = common_area(rects[:, None], outer[None]) >= _IN_WITH_STROKE * sizes[None]
    is_most = 2 * sizes[None] > rect_areas(rects)[:, None]
    is_in &= (sizes[None] < rect_areas(rects)[:, None]) & (beyond.max(axis=2, initial=0) >= _BEYOND_OUTLINE_PX)
    is_in &= ~patches.is_ground[:, None] & ~(outlines.is_grid | outlines.is_dashed)[None]
    found = np.zeros(len(outer), bool)
    # The smaller pieces of a patch are such only beside the largest.
    for patch, outline in [*np.argwhere(is_in & is_most).tolist(), *np.argwhere(is_in & ~is_most).tolist()]:
        if not (is_most[patch, outline] or (found & is_in[patch] & is_most[patch]).any()):
            continue
        x, y = patches.points[patch].clip(0, np.array(pixels.shape[1::-1], np.int32) - 1).tolist()
        colour = pixels[y, x].astype(np.int16)
        x, y = outlines.lines[outline][:, 0].T
        is_gap = np.abs(pixels[y, x].astype(np.int16) - colour).max(axis=1) <= _SAME_COLOUR
        found[outline] |= bool(is_gap.sum() >= _GAP_PX)
    return found


def _are_slits(patches: Patches) -> Bools:
    """Which patches are ground between two strokes of a hand."""
    sides = patches.rects[:, 2:] - patches.rects[:, :2]
    thin, long = sides.min(axis=1, initial=1 << 15), sides.max(axis=1, initial=0)
    return np.asarray(patches.is_ground & (thin < _SLIT_PX) & (long >= 3 * thin))


def _are_crossed(patches: Patches, outlines: ClosedOutlines, pixels: Pixels) -> Bools:
    """Which patches are cut out of a larger one of their colour by an outline that crosses it."""
    rects, sizes = patches.rects, rect_areas(patches.rects)
    x, y = patches.points.T
    colours = pixels[y.clip(0, pixels.shape[0] - 1), x.clip(0, pixels.shape[1] - 1)].astype(np.int16)
    in_outline = (common_area(rects[:, None], outlines.rects[None]) >= _IN * sizes[:, None]).any(axis=1)
    found = np.zeros(len(rects), bool)
    for at in np.flatnonzero(in_outline).tolist():
        around = (common_area(rects[at], rects) >= _IN * sizes[at]) & (sizes > 1.2 * sizes[at])
        found[at] = (
            around & (np.abs(colours - colours[at]).max(axis=1) <= _SAME_COLOUR) & (patches.solid < _WHOLE)
        ).any()
    return found


def _openness(patches: Patches, pixels: Pixels) -> tuple[Ints, Floats]:
    """Behind how many sides of each patch its colour goes on, and along which share of all sides."""
    rects = patches.rects
    high, wide = pixels.shape[:2]
    left, top, right, bottom = rects.T
    along = np.linspace(0.1, 0.9, _SAMPLES)
    x, y = patches.points.T
    colour = pixels[y.clip(0, high - 1), x.clip(0, wide - 1)].astype(np.int16)[:, None]
    across = (left[:, None] + (right - left)[:, None] * along).astype(np.int32)
    down = (top[:, None] + (bottom - top)[:, None] * along).astype(np.int32)
    many, share = np.zeros(len(rects), np.int32), np.zeros(len(rects), np.float32)
    for side in range(4):
        goes_on = np.zeros(across.shape, bool)
        for far in _BEYOND_PX:
            if side < 2:
                at_y = (top - 1 - far if side == 0 else bottom + far)[:, None].repeat(_SAMPLES, 1)
                at_x = across
            else:
                at_x = (left - 1 - far if side == 2 else right + far)[:, None].repeat(_SAMPLES, 1)
                at_y = down
            is_inside = (at_x >= 0) & (at_x < wide) & (at_y >= 0) & (at_y < high)
            behind = pixels[at_y.clip(0, high - 1), at_x.clip(0, wide - 1)].astype(np.int16)
            apart = np.abs(behind - colour).max(axis=2)
            goes_on |= is_inside & (apart <= _SAME_COLOUR)
        many += goes_on.mean(axis=1) >= _GOES_ON
        share += goes_on.mean(axis=1) / 4
    return many, share

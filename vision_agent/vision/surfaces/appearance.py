"""Describes a proposal as a person would: its colour, whether it is filled, and how clearly its text shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels, pixels_of, view_pixels
from vision_agent.vision.rects import Floats, Ints
from vision_agent.vision.surfaces.candidates import Proposal
from vision_agent.vision.surfaces.colour_words import colour_word

_AROUND_PX = 4
_RIM_PX = 3
_SAME = 12
"""The largest difference between equal colours, in levels of a channel."""
_INK, _LEAST_INK = 60, 0.05
"""The least difference of ink from the face, in levels of a channel, and the share of the middle that it must fill."""
_SAMPLES = 16
"""The rows and columns that are looked at of the middle of a thing."""
_ALONG = 48
"""About how many places along each side are looked at."""
_MOST_INK = 0.95
"""The share of the pixels of a text that differ less from its face than its ink does."""
_MIDDLE = 0.2
"""The share of each side that the middle part of a thing leaves out: the corners of round things are ground."""


@dataclass(frozen=True)
class Appearance:
    """How a proposal looks."""

    words: str = ""
    """Such as `blue` or `dashed red`; empty for text."""
    colour: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Blue, green and red of its face or, if that is the ground, of its stroke."""
    is_filled: bool = True
    has_ink: bool = False
    """Whether there is something of another colour in it, as in a ticked box."""
    contrast: float | None = None
    """The difference between its text and its face, in levels of a channel."""


def describe_all(picture: Picture, proposals: Sequence[Proposal]) -> list[Appearance]:
    """How each proposal looks in the picture."""
    rects = picture.extent.rects([each.box for each in proposals]) if proposals else np.empty((0, 4), np.int32)
    sides = rects[:, 2:] - rects[:, :2]
    margin = (_MIDDLE * sides).astype(np.int32)
    middles = _sampled(pixels_of(picture), np.concatenate([rects[:, :2] + margin, rects[:, 2:] - margin], axis=1))
    faces = _main_colours(middles)
    grounds = _main_colours(_border(pixels_of(picture), _clipped(rects, picture, _AROUND_PX)))
    has_ink = (np.abs(middles - faces[:, None]) > _INK).any(axis=2).mean(axis=1) >= _LEAST_INK
    differs = np.abs(faces - grounds).max(axis=1, initial=0) > _SAME
    return [
        Appearance() if each.shape == "words" else _describe(picture, each, face, ground, is_other, is_inked)
        for each, face, ground, is_other, is_inked in zip(
            proposals, faces, grounds, differs.tolist(), has_ink.tolist(), strict=True
        )
    ]


def _describe(
    picture: Picture, proposal: Proposal, face: Floats, ground: Floats, is_other: bool, has_ink: bool
) -> Appearance:
    is_filled = (is_other or not proposal.stroke) and proposal.shape != "line"
    colour = face if is_filled else _stroke_colour(_around(picture, proposal.box), ground)
    contrast = None
    if proposal.lines and (part := picture.page.intersection(proposal.lines[0])) is not None:
        ink = np.sort(_apart(view_pixels(picture, part), face))
        contrast = float(ink[int(_MOST_INK * (len(ink) - 1))])
    if proposal.shape == "line":
        style = ""
    elif proposal.stroke == "dashed":
        style = "dashed"
    else:
        style = "" if is_filled else "outlined"
    words = " ".join(filter(None, [style, colour_word(colour)]))
    blue, green, red = (float(each) for each in colour)
    return Appearance(words, (blue, green, red), is_filled, has_ink, contrast)


def _around(picture: Picture, box: Box) -> Pixels:
    around = picture.page.intersection(_inset(box, -_AROUND_PX, -_AROUND_PX)) or picture.page
    return view_pixels(picture, around)


def _clipped(rects: Ints, picture: Picture, by: int) -> Ints:
    """The rectangles, larger by this many pixels on each side, in the picture."""
    high, wide = pixels_of(picture).shape[:2]
    grown = rects + np.array([-by, -by, by, by], np.int32)
    return np.asarray(grown.clip(0, np.array([wide, high, wide, high], np.int32)), np.int32)


def _sampled(pixels: Pixels, rects: Ints) -> Floats:
    """Pixels of each rectangle, evenly spread: one row of them for each."""
    x, y = (_spread(rects[:, at], rects[:, at + 2], _SAMPLES) for at in (0, 1))
    taken = pixels[y[:, :, None], x[:, None, :]]
    return np.asarray(taken.reshape(len(rects), _SAMPLES**2, 3), np.float32)


def _border(pixels: Pixels, rects: Ints) -> Floats:
    """Pixels along the four sides of each rectangle."""
    x, y = (_spread(rects[:, at], rects[:, at + 2], 2 * _SAMPLES) for at in (0, 1))
    left, top, right, bottom = (rects[:, at, None].repeat(2 * _SAMPLES, 1) for at in range(4))
    at_x = np.concatenate([x, x, left, right - 1], axis=1)
    at_y = np.concatenate([top, bottom - 1, y, y], axis=1)
    return np.asarray(pixels[at_y, at_x], np.float32)


def _spread(first: Ints, last: Ints, many: int) -> Ints:
    steps = (np.arange(many, dtype=np.float32) + 0.5) / many
    return np.asarray(first[:, None] + ((last - first)[:, None] * steps).astype(np.int32), np.int32)


def _main_colours(samples: Floats) -> Floats:
    """The most common colour of each row of samples, as `main_colour` of one."""
    if not len(samples):
        return np.empty((0, 3), np.float32)
    blue, green, red = np.moveaxis(samples.astype(np.int32) >> 4, 2, 0)
    kinds = np.sort(blue << 8 | green << 4 | red, axis=1)
    rows, many = kinds.shape
    # In sorted rows the most common value is the one with the longest run.
    begins = np.concatenate([np.ones((rows, 1), bool), kinds[:, 1:] != kinds[:, :-1]], axis=1)
    at = np.flatnonzero(begins)
    long = np.diff(np.append(at, rows * many))
    row = at // many
    order = np.lexsort((long, row))
    last = np.append(row[order][1:] != row[order][:-1], True)
    common = kinds.ravel()[at[order[last]]]
    is_it = (blue << 8 | green << 4 | red) == common[:, None]
    total = (samples * is_it[:, :, None]).sum(axis=1)
    return np.asarray(total / is_it.sum(axis=1)[:, None], np.float32)


def _inset(box: Box, x: float, y: float) -> Box:
    return Box(x=box.x + x, y=box.y + y, width=max(1.0, box.width - 2 * x), height=max(1.0, box.height - 2 * y))


def _stroke_colour(pixels: Pixels, ground: Floats) -> Floats:
    """The colour of the ink near the edge: the pixels that differ most from the ground, as others are blended."""
    by = 2 * _AROUND_PX + _RIM_PX
    along_y, along_x = (max(1, side // _ALONG) for side in pixels.shape[:2])
    sides = (pixels[:by, ::along_x], pixels[-by:, ::along_x], pixels[::along_y, :by], pixels[::along_y, -by:])
    edge = np.concatenate([side.reshape(-1, 3) for side in sides])
    apart = _apart(edge, ground)
    is_ink = apart >= max(_SAME, 0.8 * float(apart.max(initial=0)))
    return np.asarray(edge[is_ink].mean(axis=0), np.float32) if is_ink.any() else ground


def _apart(pixels: Pixels, colour: Floats) -> Pixels:
    """How much each pixel differs from a colour, in the channel where it differs most."""
    blue, green, red = (np.ascontiguousarray(pixels[..., at]).ravel().astype(np.int16) for at in range(3))
    its = colour.round().astype(np.int16)
    most = np.maximum(np.abs(blue - its[0]), np.maximum(np.abs(green - its[1]), np.abs(red - its[2])))
    return np.asarray(most, np.uint8)

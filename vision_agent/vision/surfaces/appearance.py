"""Describes a proposal as a person would: its colour, whether it is filled, and how clearly its text shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision_agent.types import Box
from vision_agent.vision.picture import Picture, Pixels, view_pixels
from vision_agent.vision.rects import Floats
from vision_agent.vision.surfaces.candidates import Proposal
from vision_agent.vision.surfaces.colour_words import colour_word, main_colour

_AROUND_PX = 4
_RIM_PX = 3
_SAME = 12
"""The largest difference between equal colours, in levels of a channel."""
_INK, _LEAST_INK = 60, 0.05
"""The least difference of ink from the face, in levels of a channel, and the share of the middle that it must fill."""
_SAMPLES = 20
"""The rows or columns, whichever are fewer, that are looked at of the middle of a thing."""
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


def describe(picture: Picture, proposal: Proposal) -> Appearance:
    """How a proposal looks in the picture."""
    if proposal.shape == "words":
        return Appearance()
    box = proposal.box
    inner = picture.page.intersection(_inset(box, _MIDDLE * box.width, _MIDDLE * box.height))
    around = picture.page.intersection(_inset(box, -_AROUND_PX, -_AROUND_PX))
    if inner is None or around is None:
        return Appearance()
    middle = view_pixels(picture, inner)
    step = max(1, min(middle.shape[:2]) // _SAMPLES)
    middle = middle[::step, ::step]
    face = main_colour(middle)
    ground = _border_colour(view_pixels(picture, around))
    is_filled = _apart(face, ground) > _SAME or not proposal.stroke
    colour = face if is_filled else _stroke_colour(view_pixels(picture, around), ground)
    contrast = None
    if proposal.lines:
        part = picture.page.intersection(proposal.lines[0])
        if part is not None:
            ink = np.abs(view_pixels(picture, part).astype(np.float32) - face).max(axis=2)
            contrast = float(np.percentile(ink, 95))
    apart = np.abs(middle.astype(np.float32) - face).max(axis=2)
    has_ink = bool((apart > _INK).mean() >= _LEAST_INK)
    style = "dashed" if proposal.stroke == "dashed" else "" if is_filled else "outlined"
    words = " ".join(filter(None, [style, colour_word(colour)]))
    blue, green, red = (float(each) for each in colour)
    return Appearance(words, (blue, green, red), is_filled, has_ink, contrast)


def _inset(box: Box, x: float, y: float) -> Box:
    return Box(x=box.x + x, y=box.y + y, width=max(1.0, box.width - 2 * x), height=max(1.0, box.height - 2 * y))


def _border_colour(pixels: Pixels) -> Floats:
    """The most common colour along the edge of a part of a picture."""
    edge = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    return main_colour(edge[None])


def _stroke_colour(pixels: Pixels, ground: Floats) -> Floats:
    """The colour of the ink near the edge: the pixels that differ most from the ground, as others are blended."""
    high, wide = pixels.shape[:2]
    by = 2 * _AROUND_PX + _RIM_PX
    edge = np.concatenate(
        [
            pixels[: min(by, high)].reshape(-1, 3),
            pixels[-min(by, high) :].reshape(-1, 3),
            pixels[:, : min(by, wide)].reshape(-1, 3),
            pixels[:, -min(by, wide) :].reshape(-1, 3),
        ]
    )
    apart = np.abs(edge.astype(np.float32) - ground).max(axis=1)
    is_ink = apart >= max(_SAME, 0.8 * float(apart.max(initial=0)))
    return np.asarray(edge[is_ink].mean(axis=0), np.float32) if is_ink.any() else ground


def _apart(one: Floats, other: Floats) -> float:
    return float(np.abs(one - other).max())

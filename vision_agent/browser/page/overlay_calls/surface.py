"""A surface: what it draws, and what the page says about it in words that do not show."""

from __future__ import annotations

import base64
from typing import NamedTuple

from playwright.async_api import Frame

from vision_agent.browser.page.overlay import ask


class Twin(NamedTuple):
    """A thing on a surface as the page names it for people who do not see it. Page text."""

    name: str
    role: str
    checked: bool | None
    disabled: bool


class Twins(NamedTuple):
    """What the page says about a surface in words that do not show. Page text."""

    things: tuple[Twin, ...] = ()
    """Those that the content of the element names."""
    live: tuple[str, ...] = ()
    """Texts near it that are announced."""


async def twins(frame: Frame, deadline_s: float, key: str) -> Twins:
    """What the page says about a surface in words that do not show."""
    answer = await ask(frame, "twins", deadline_s, key=key)
    things = (Twin(each["name"], each["role"], each["checked"], bool(each["disabled"])) for each in answer["things"])
    return Twins(tuple(things), tuple(answer["live"]))


class DrawnLook(NamedTuple):
    """A thing drawn in a canvas, with one pixel for each CSS pixel; see `canvas_pixels.js`."""

    wide: int
    high: int
    pixels: str
    """Base64 of red, green and blue of each pixel, blurred."""
    ground: tuple[int, int, int]
    """The colour behind what the canvas leaves clear."""
    near: float
    """How far from the pointer its middle may be."""


class StandingLook(NamedTuple):
    """What a part of a canvas shows and must still show, with one pixel for each CSS pixel; see `canvas_pixels.js`."""

    x: int
    y: int
    """Its left and top in the frame's viewport."""
    wide: int
    high: int
    pixels: str
    """Base64 of red, green and blue of each pixel."""
    ground: tuple[int, int, int]
    """The colour behind what the canvas leaves clear."""


class CanvasPart(NamedTuple):
    """What a part of a canvas shows."""

    at_ms: float
    """By the document's own clock."""
    pixels: bytes
    """Red, green and blue of each pixel."""


async def canvas_part(
    frame: Frame, deadline_s: float, key: str, x: int, y: int, wide: int, high: int, ground: tuple[int, int, int]
) -> CanvasPart | None:
    """What a canvas shows in a part of the frame's viewport; None if that cannot be read."""
    answer = await ask(frame, "canvas", deadline_s, key=key, x=x, y=y, wide=wide, high=high, ground=ground)
    return CanvasPart(answer["at"], base64.b64decode(answer["pixels"])) if answer["pixels"] else None

"""Names the icons in any picture, as an observation does for a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vision_agent.geometry import Box
from vision_agent.observation import IconGuess, Shot
from vision_agent.vision.icons.namer import icons_at
from vision_agent.vision.picture import read_picture

Edges = tuple[float, float, float, float]
"""Left, top, width and height."""


def name_icons(picture: Shot | bytes | Path | str, boxes: Sequence[Box | Edges]) -> list[IconGuess | None]:
    """What the icon in each box looks like, with a confidence of 0 to 1; None where nothing known is recognized.

    Args:
        picture: a `Shot`, or the bytes or the file of a PNG, JPEG or WebP picture.
        boxes: of the icons or of the buttons around them, at least 9 pixels wide and high. On a `Shot` they are in page
            coordinates, on any other picture in its pixels.

    Raises:
        UsageError: it is no picture.
    """
    whole = [box if isinstance(box, Box) else _box(box) for box in boxes]
    return icons_at(read_picture(picture), whole)


def _box(edges: Edges) -> Box:
    left, top, width, height = edges
    return Box(x=left, y=top, width=width, height=height)

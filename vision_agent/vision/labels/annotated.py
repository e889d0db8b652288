"""Draws numbered marks on any picture, in the style of the pictures that a model sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.types import Mark, Shot
from vision_agent.vision.labels.annotate import draw, layer
from vision_agent.vision.labels.lookalikes import distinct_style
from vision_agent.vision.labels.place import place
from vision_agent.vision.picture import read_picture
from vision_agent.vision.style import STYLE

Edges = tuple[float, float, float, float]
"""Left, top, width and height."""


def annotate(picture: Shot | bytes | Path | str, marks: Sequence[Mark | Box | Edges]) -> Shot:
    """The picture with a numbered box for each mark, as a PNG: its `data` are the bytes.

    Args:
        picture: a `Shot`, or the bytes or the file of a PNG, JPEG or WebP picture.
        marks: marks of an observation, or boxes, which are numbered from 1. On a `Shot` they are in page coordinates,
            on any other picture in its pixels. What lies outside the picture is not drawn.

    Raises:
        UsageError: it is no picture, or two marks have one number.
    """
    shown = read_picture(picture)
    placed = [each if isinstance(each, Mark) else _numbered(number, each) for number, each in enumerate(marks, 1)]
    numbers = [each.number for each in placed]
    if twice := next((each for each in numbers if numbers.count(each) > 1), None):
        raise UsageError(f"Two marks have the number {twice}", "give marks of one observation, or boxes only")
    if not placed:
        return shown.encode()
    style = distinct_style(shown, STYLE).style
    return draw(shown, layer(place(placed, shown, style), shown, style)).encode()


def _numbered(number: int, box: Box | Edges) -> Mark:
    if not isinstance(box, Box):
        left, top, width, height = box
        box = Box(x=left, y=top, width=width, height=height)
    return Mark(number=number, tag="", role="", kind="button", name="", box=box, point=box.center)

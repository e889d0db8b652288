"""Draws numbered marks on any picture, in the style of the pictures that a model sees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Shot
from vision_agent.vision.labels.annotate import draw, layer
from vision_agent.vision.labels.lookalikes import distinct_style
from vision_agent.vision.labels.place import place
from vision_agent.vision.picture import read_picture
from vision_agent.vision.style import STYLE

_LONGEST = 100

Edges = tuple[float, float, float, float]
"""x and y of the top left corner, width and height, in this order."""


def annotate(picture: Shot | bytes | Path | str, marks: Sequence[Mark | Box | Edges | Mapping[str, object]]) -> Shot:
    """The picture with a numbered box for each mark, as a PNG: its `data` are the bytes.

    Args:
        picture: a `Shot`, or the bytes or the file of a PNG, JPEG or WebP picture.
        marks: marks of an observation, or boxes, which are numbered from 1: four numbers in the order x, y, width,
            height, or what Playwright's `bounding_box()` returns. On a `Shot` they are in page coordinates, on any
            other picture in its pixels. What lies outside the picture is not drawn.

    Raises:
        UsageError: it is no picture, a box is none, or two marks have one number.
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


def _numbered(number: int, given: Box | Edges | Mapping[str, object]) -> Mark:
    box = given if isinstance(given, Box) else _box(number, given)
    if not all(map(math.isfinite, (box.x, box.y, box.width, box.height))) or min(box.width, box.height) < 0:
        raise _no_box(number, given)
    return Mark(number=number, tag="", role="", kind="button", name="", box=box, point=box.center)


def _box(number: int, given: Edges | Mapping[str, object]) -> Box:
    try:
        if not isinstance(given, Mapping):
            given = dict(zip(("x", "y", "width", "height"), given, strict=True))
        return Box.model_validate(given)
    except (TypeError, ValueError) as error:
        raise _no_box(number, given) from error


def _no_box(number: int, given: object) -> UsageError:
    hint = "give four numbers: x, y, width, height; the last two not below 0"
    if given is None:
        hint = "an element that is not shown has none: leave it out"
    return UsageError(f"Box {number} is no box: {repr(given)[:_LONGEST]}", hint)

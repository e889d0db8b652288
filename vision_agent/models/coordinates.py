"""The coordinates in which a model gives points: pixels of the picture, or thousandths or fractions of its size.

A model is trained on one of these and is most accurate in it. This module owns the wording for each and the conversion
to pixels, which all other code uses; it does not decide whether a point is valid for an action.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from vision_agent.errors import FormatError
from vision_agent.geometry import Size
from vision_agent.settings import Coordinates


class Convention(NamedTuple):
    """The wording and scale of one kind of coordinates."""

    unit: str
    points: str
    """Describes a point in the rules of the prompt."""
    point: str
    """Describes a point in the schema of a reply."""
    offset: str
    """Describes the offset of a drag in the schema; empty keeps the action's own description."""
    whole: float
    """The number that stands for the full width or height; 0 for pixels."""
    range: str


_LISTING_IN_PIXELS = "Points in the listing and in the log are always in pixels"

CONVENTIONS: dict[Coordinates, Convention] = {
    "pixels": Convention(
        "pixels",
        'a point in pixels of the picture, such as `{"x": 412, "y": 233}`, counted from its top left corner',
        "A point in pixels of the picture, counted from its top left corner.",
        "",
        0,
        "",
    ),
    "thousandths": Convention(
        "thousandths",
        'a point in thousandths of the picture\'s width and height, such as `{"x": 412, "y": 233}`, from 0 at its '
        f"top left corner to 999 at its bottom right corner. {_LISTING_IN_PIXELS}; answer in thousandths",
        "A point in thousandths of the picture's width and height, 0 to 999, counted from its top left corner.",
        "An offset in thousandths of the picture's width and height; negative means to the left, or up.",
        1000,
        "from 0 to 999",
    ),
    "fractions": Convention(
        "fractions",
        'a point in fractions of the picture\'s width and height, such as `{"x": 0.412, "y": 0.233}`, from 0 at its '
        f"top left corner to 0.999 at its bottom right corner. {_LISTING_IN_PIXELS}; answer in fractions",
        "A point in fractions of the picture's width and height, 0 to 0.999, counted from its top left corner.",
        "An offset in fractions of the picture's width and height; negative means to the left, or up.",
        1,
        "from 0 up to but not including 1",
    ),
}

_KNOWN: tuple[tuple[str, Coordinates], ...] = (
    # https://ai.google.dev/gemini-api/docs/image-understanding: normalized to 0-1000.
    ("gemini", "thousandths"),
    # https://github.com/QwenLM/Qwen3-VL/issues/1485 and 1741: relative in 2, absolute in 2.5, relative again in 3.
    ("qwen2-vl", "thousandths"),
    ("qwen3-vl", "thousandths"),
)


def default_coordinates(model: str) -> Coordinates:
    """The coordinates that the model of this name was trained on, if its makers say so; otherwise pixels.

    Anything before the last slash names the owner or the host of the model and is ignored.
    """
    name = model.rsplit("/", 1)[-1].lower()
    return next((how for prefix, how in _KNOWN if name.startswith(prefix)), "pixels")


def to_pixels(reply: dict[str, Any], size: Size, coordinates: Coordinates) -> dict[str, Any]:
    """The reply with every point and offset of its actions converted to pixels of a picture of this size.

    Any object that looks like a point or an offset is converted, even in an argument of a custom action.

    Raises:
        FormatError: a value is outside the allowed range. It is not moved to the edge, which would be a guess.
    """
    if coordinates == "pixels":
        return reply
    fields = [name for name in ("actions", "action") if name in reply]
    try:
        return {**reply, **{name: _to_pixels(reply[name], size, CONVENTIONS[coordinates]) for name in fields}}
    except RecursionError as error:  # hundreds of nested brackets
        raise FormatError("The actions of the reply are nested too deeply. Give the fields asked for.") from error


def _to_pixels(node: Any, size: Size, convention: Convention) -> Any:
    match node:
        case {"x": x, "y": y} if len(node) == 2:
            if not all(_is_number(each) and 0 <= each < convention.whole for each in (x, y)):
                raise FormatError(
                    f"The point {json.dumps(node)[:80]} is not in {convention.unit} of the picture's width and height, "
                    f"which go {convention.range}. Name a mark of the listing, or a point inside the picture."
                )
            return {"x": x * size.width / convention.whole, "y": y * size.height / convention.whole}
        case {"right": right, "down": down} if len(node) == 2:
            if not all(_is_number(each) and abs(each) <= convention.whole for each in (right, down)):
                raise FormatError(
                    f"The offset {json.dumps(node)[:80]} is not in {convention.unit} of the picture's width and "
                    "height. Give one that ends inside the picture."
                )
            return {"right": right * size.width / convention.whole, "down": down * size.height / convention.whole}
        case dict():
            return {name: _to_pixels(each, size, convention) for name, each in node.items()}
        case list():
            return [_to_pixels(each, size, convention) for each in node]
    return node


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""Solvers for shapes, letters and digits in a drawing, identified by size, colour and kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from vision_agent.evals.miniwob_solvers.asked import match_groups
from vision_agent.evals.miniwob_solvers.episode import Called, Episode, On
from vision_agent.vision.picture import Picture, pixels_of

_SHAPES = """Array.from(document.querySelectorAll('#area_svg > *'), each => ({
    tag: each.localName, text: each.textContent, colour: each.getAttribute('fill'),
    size: each.getAttribute('font-size') ?? each.getBoundingClientRect().width + 'px' }))"""
_CALLED = {"rect": "rectangle", "circle": "circle", "polygon": "triangle"}


async def click_shape(episode: Episode) -> None:
    """Click on a large red letter."""
    (description,) = match_groups(r"Click on a (.+)", episode.asked)
    shapes = await episode.read(_SHAPES)
    place = next(place for place, shape in enumerate(shapes) if _is(shape, description))
    await episode.click(On("#area_svg > *", place=place))


async def count_shape(episode: Episode) -> None:
    """How many small green items are there?"""
    (description,) = match_groups(r"How many (.+)s are there", episode.asked)
    count = sum(_is(shape, description) for shape in await episode.read(_SHAPES))
    await episode.click(Called(str(count), tag="button"))


async def identify_shape(episode: Episode) -> None:
    """Click the button that best describes the figure below."""
    (shape,) = await episode.read(_SHAPES)
    kind = {"digit": "Number"}.get(_kind(shape), _kind(shape).capitalize())
    await episode.click(Called(_CALLED.get(shape["tag"], kind).capitalize(), tag="button"))


async def count_sides(episode: Episode) -> None:
    """Press the button that correctly denotes how many sides the shape has."""
    drawing = (await episode.find(On("#c"))).box
    picture = Picture.of((await episode.seen()).clean)
    sides = _corners(np.asarray(pixels_of(picture.crop(drawing))).mean(axis=2) < 128)
    await episode.click(Called(str(sides), tag="button"))


async def grid_coordinate(episode: Episode) -> None:
    """Click on the grid coordinate (-1,0)."""
    (coordinate,) = match_groups(r"coordinate (\(.+\))", episode.asked)
    await episode.click(On(f'circle[id="{coordinate}"]'))


async def ascending_numbers(episode: Episode) -> None:
    """Click on the numbers in ascending order."""
    await episode.click(On("svg text", "1"))
    for number in range(2, 6):
        await episode.click(On(f'rect[data-index="{number}"]'))


def _is(shape: dict[str, Any], description: str) -> bool:
    *traits, kind = description.split()
    size = "large" if float(shape["size"].removesuffix("px")) > 15 else "small"
    return all(trait in (size, shape["colour"]) for trait in traits) and kind in (
        "item",
        _kind(shape),
        shape["text"] or _CALLED[shape["tag"]],
    )


def _kind(shape: dict[str, Any]) -> str:
    if shape["tag"] != "text":
        return "shape"
    return "digit" if shape["text"].isdigit() else "letter"


def _corners(ink: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    """The number of corners of a regular outline: how many maxima its distance from the centre has around it."""
    y, x = np.nonzero(ink)
    x, y = x - (x.min() + x.max()) / 2, y - (y.min() + y.max()) / 2
    angle, far = np.arctan2(y, x), np.hypot(x, y)
    waves = {corners: abs(np.mean(far * np.exp(1j * corners * angle))) for corners in range(3, 8)}
    return max(waves, key=lambda corners: waves[corners])

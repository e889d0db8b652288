"""Which part of the page a closer look shows. Knows the observation it was asked on, no page."""

from __future__ import annotations

from vision_agent.actions import Cell, Point, Zoom
from vision_agent.browser.locate import words_for
from vision_agent.browser.refusal import Refused
from vision_agent.browser.within import cell_of, cell_words
from vision_agent.types import Box, Observation, Size

_AROUND = 1.5
"""A mark is shown with half its size around it."""
_LEAST = 1 / 4
_POINT = 1 / 3
"""Shares of the view: at least so much is shown of it, and so much around a point."""
_FINEST = 16.0
"""CSS pixels of a cell with what is around it, each way."""
_SMALLEST = 16.0
"""CSS pixels each way between two points."""


def region_of(action: Zoom, observation: Observation) -> tuple[Box, str]:
    """The part to show, in page coordinates and inside the viewport, and how to call it.

    Raises:
        Refused: there is no such mark, a point lies outside the picture, or there is nothing between the two.
    """
    view = observation.clean.page
    if isinstance(action.target, Cell):
        return _of_cell(action, action.target, observation)
    if not isinstance(action.target, Point):
        mark = observation.mark(action.target)
        if mark is None:
            raise Refused("unknown_mark", f"There is no mark {action.target} in this observation; zoom to a point.")
        if action.grid and action.to is None and (inside := mark.box.intersection(view)):
            return inside, words_for(mark)
        if action.to is not None:
            raise Refused("unsupported", "A region is given by two points; for a mark leave `to` out.")
        return _around(mark.box, view, observation.viewport), f"what is around {words_for(mark)}"
    first = _on_page(action.target, observation)
    if action.to is None:
        box = Box(x=first.x, y=first.y, width=0, height=0)
        grown = _grown(box, view.width * _POINT, view.height * _POINT)
        return _inside(grown, observation.viewport), f"what is around ({action.target.x:g}, {action.target.y:g})"
    second = _on_page(action.to, observation)
    left, top = min(first.x, second.x), min(first.y, second.y)
    box = Box(x=left, y=top, width=abs(first.x - second.x), height=abs(first.y - second.y))
    if box.width < _SMALLEST or box.height < _SMALLEST:
        raise Refused(
            "unsupported", f"There is next to nothing between the two points; {_SMALLEST:.0f} px are the least."
        )
    here, there = action.target, action.to
    return box, f"the part from ({here.x:g}, {here.y:g}) to ({there.x:g}, {there.y:g})"


def _of_cell(action: Zoom, cell: Cell, observation: Observation) -> tuple[Box, str]:
    """A cell with half its size around it, or where it gets a grid of its own, the cell alone."""
    mark, box = cell_of(cell, observation)
    wide, high = (max(_FINEST, edge * (1 if action.grid else _AROUND)) for edge in (box.width, box.height))
    return _inside(_grown(box, wide, high), observation.viewport), cell_words(cell, mark)


def _around(box: Box, view: Box, viewport: Size) -> Box:
    wide, high = max(box.width * _AROUND, view.width * _LEAST), max(box.height * _AROUND, view.height * _LEAST)
    return _inside(_grown(box, wide, high), viewport)


def _grown(box: Box, width: float, height: float) -> Box:
    middle = box.center
    return Box(x=middle.x - width / 2, y=middle.y - height / 2, width=width, height=height)


def _inside(box: Box, viewport: Size) -> Box:
    """The same, moved into the viewport, and as much of it as fits."""
    width, height = min(box.width, viewport.width), min(box.height, viewport.height)
    x, y = min(max(box.x, 0), viewport.width - width), min(max(box.y, 0), viewport.height - height)
    return Box(x=x, y=y, width=width, height=height)


def _on_page(point: Point, observation: Observation) -> Point:
    shot = observation.marked
    if not (0 <= point.x <= shot.size.width and 0 <= point.y <= shot.size.height):
        size = f"{shot.size.width} by {shot.size.height}"
        raise Refused("outside", f"({point.x:g}, {point.y:g}) lies outside the picture, which is {size}.")
    return shot.map.to_page(point)

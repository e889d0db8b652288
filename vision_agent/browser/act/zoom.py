"""Decides which part of the page a zoom shows. Knows the observation, not the page."""

from __future__ import annotations

from vision_agent.actions import Cell, Point, Zoom
from vision_agent.browser.locate.drawn_target import cell_words, find_cell
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box, Size
from vision_agent.observation import Observation

_AROUND = 1.5
"""Size of the region relative to the mark: half its size is added."""
_LEAST = 1 / 4
_POINT = 1 / 3
"""Shares of the view: the least that a zoom to a mark shows, and what a zoom to a point shows."""
_FINEST = 16.0
"""Smallest width and height, in CSS pixels, of a zoom to a cell."""
_SMALLEST = 16.0
"""Smallest width and height, in CSS pixels, between two points."""


def zoom_region(action: Zoom, observation: Observation) -> tuple[Box, str]:
    """The part to show, in page coordinates and inside the viewport, and words for it.

    Raises:
        Refused: there is no such mark, a point lies outside the picture, or the two points are too close.
    """
    view = observation.clean.page
    if isinstance(action.target, Cell):
        return _cell_region(action, action.target, observation)
    if not isinstance(action.target, Point):
        mark = observation.mark(action.target)
        if mark is None and observation.known_mark(action.target) is not None:
            raise Refused("outside", f"Mark {action.target} is out of view. Scroll to it, then zoom.")
        if mark is None:
            raise Refused("unknown_mark", f"There is no mark {action.target} in this observation; zoom to a point.")
        if action.grid and action.to is None and (inside := mark.box.intersection(view)):
            return inside, mark_words(mark)
        if action.to is not None:
            raise Refused("unsupported", "A region is given by two points; for a mark leave `to` out.")
        return _surroundings(mark.box, view, observation.viewport), f"what is around {mark_words(mark)}"
    first = _to_page_point(action.target, observation, is_corner=action.to is not None)
    if action.to is None:
        box = Box(x=first.x, y=first.y, width=0, height=0)
        grown = _resized(box, view.width * _POINT, view.height * _POINT)
        return _fit_viewport(grown, observation.viewport), f"what is around ({action.target.x:g}, {action.target.y:g})"
    second = _to_page_point(action.to, observation, is_corner=True)
    left, top = min(first.x, second.x), min(first.y, second.y)
    box = Box(x=left, y=top, width=abs(first.x - second.x), height=abs(first.y - second.y))
    if box.width < _SMALLEST or box.height < _SMALLEST:
        raise Refused(
            "unsupported", f"The two points are too close; they must be at least {_SMALLEST:.0f} px apart each way."
        )
    here, there = action.target, action.to
    return box, f"the part from ({here.x:g}, {here.y:g}) to ({there.x:g}, {there.y:g})"


def _cell_region(action: Zoom, cell: Cell, observation: Observation) -> tuple[Box, str]:
    """A cell with half its size added; the cell alone if it gets its own grid."""
    mark, box = find_cell(cell, observation)
    wide, high = (max(_FINEST, edge * (1 if action.grid else _AROUND)) for edge in (box.width, box.height))
    return _fit_viewport(_resized(box, wide, high), observation.viewport), cell_words(cell, mark)


def _surroundings(box: Box, view: Box, viewport: Size) -> Box:
    wide, high = max(box.width * _AROUND, view.width * _LEAST), max(box.height * _AROUND, view.height * _LEAST)
    return _fit_viewport(_resized(box, wide, high), viewport)


def _resized(box: Box, width: float, height: float) -> Box:
    middle = box.center
    return Box(x=middle.x - width / 2, y=middle.y - height / 2, width=width, height=height)


def _fit_viewport(box: Box, viewport: Size) -> Box:
    """The box moved into the viewport, and cut to its size."""
    width, height = min(box.width, viewport.width), min(box.height, viewport.height)
    x, y = min(max(box.x, 0), viewport.width - width), min(max(box.y, 0), viewport.height - height)
    return Box(x=x, y=y, width=width, height=height)


def _to_page_point(point: Point, observation: Observation, *, is_corner: bool) -> Point:
    shot = observation.marked
    if not (shot.size.has_corner(point) if is_corner else shot.size.contains(point)):
        raise Refused("outside", f"({point.x:g}, {point.y:g}) lies outside the picture, which is {shot.size.words}.")
    return shot.map.to_page(point)

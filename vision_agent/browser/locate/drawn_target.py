"""Locates a target without an element: a thing or a grid cell drawn in a surface.

The surface is rechecked, then the pixels of the target. If they have changed, the same pixels are searched for nearby,
and followed if they are found in exactly one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision_agent.actions import Cell, Point
from vision_agent.browser.locate.click_point import choose_click_point
from vision_agent.browser.locate.identify import identify
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import covered_sentence, mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.frame_place import Rect
from vision_agent.browser.page.frames import ScannedFrame
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box
from vision_agent.observation import Mark, Observation
from vision_agent.vision.compare import found_again
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

FOLLOWED = 120.0
"""CSS pixels that a drawn thing may have moved since it was seen and still be followed."""

_ROUNDING = 1.0
_STANDS = 2.0
"""CSS pixels of movement between two pictures that count as none; for larger things, a quarter of their size."""
_PICTURES = 4
_WIDE, _HIGH = 240.0, 60.0
"""CSS pixels around the point that are compared, each way: in a large thing, much may change farther away."""
_BESIDE = 24.0
"""CSS pixels around a thing that must be unchanged if others look like it."""
_RIM = 3.0
"""CSS pixels at the edge of a cell that are not compared: a neighbour may be framed as selected."""


@dataclass(frozen=True)
class DrawnTarget:
    """A drawn thing or a cell as it was seen, in page coordinates."""

    words: str
    box: Box
    point: Point
    surface: Mark | None
    """None for a cell of a grid over the page itself."""
    beside: tuple[Box, ...] = ()
    """Boxes that distinguish it from things that look like it."""
    row: Box | None = None
    """Its row, if the words in it tell it from things of its name: they must still be there, whatever it looks like."""
    row_words: tuple[Box, ...] = ()
    """Where the words are that alone tell its row from all others; empty if they do not."""
    moves: bool = False
    """It was moving, so a single match may be chance."""
    is_followed: bool = True
    """False for a cell: a cell is a place, so contents that moved elsewhere are not followed."""


@dataclass(frozen=True)
class _Surface:
    """A surface as it is now."""

    mark: Mark
    owner: ScannedFrame
    element: LiveElement
    was: Rect
    """The whole surface in its own frame when it was seen."""


def drawn_target(target: int | Cell | Point, seen: LiveObservation) -> DrawnTarget | None:
    """The drawn thing or cell that a target names; None for an element or a point.

    Raises:
        Refused: there is no such cell.
    """
    if isinstance(target, Cell):
        mark, box = find_cell(target, seen.observation)
        return DrawnTarget(
            cell_words(target, mark),
            _inset(box),
            box.center,
            _find_surface(mark, seen),
            beside=(_expanded(box), *_heading_cells(mark, target)),
            is_followed=False,
        )
    meant = None if isinstance(target, Point) else seen.observation.mark(target)
    if meant is None or meant.source == "dom":
        return None
    surface = _find_surface(meant, seen)
    beside = (_expanded(meant.box), *([_row_box(meant.box, surface.box)] if surface else []))
    row = around([meant.box, *meant.row_words]) if meant.row_words else None
    telling = meant.row_words if meant.is_told_by_row else ()
    return DrawnTarget(mark_words(meant), meant.box, meant.point, surface, beside, row, telling, meant.moves)


def must_not_be_grid(target: int | Cell | Point, seen: LiveObservation) -> None:
    """Checks that a target names one place to press.

    Raises:
        Refused: it names a whole grid.
    """
    mark = seen.observation.mark(target) if isinstance(target, int) else None
    if mark is not None and mark.grid is not None:
        raise Refused("ambiguous", f"{mark_words(mark)} has {mark.grid.words}; name one of its cells.")


def must_be_element(number: int, seen: LiveObservation, instead: str = "Zoom to it") -> None:
    """Checks that a mark is an element, with a state, a value and rows around it; `instead` is what helps if not.

    Raises:
        Refused: it is drawn in a surface.
    """
    if drawn := drawn_target(number, seen):
        why = "is drawn, so the page does not reveal its contents: what was read there is in the listing"
        raise Refused("unsupported", f"{drawn.words} {why}. {instead}.")


async def locate_drawn(
    drawn: DrawnTarget, seen: LiveObservation, image_limits: ImageLimits, deadline_s: float, *, reveal: bool
) -> Location:
    """Where a drawn target is now, on its surface.

    Raises:
        Refused: the surface has changed, something covers it there, or it no longer shows the target.
        FrameSilent: the page did not answer.
    """
    assert drawn.surface is not None
    trouble: Refused | None = None
    for is_brought in (False, True) if reveal else (False,):
        surface = await _check_surface(drawn.surface, seen, deadline_s, reveal=is_brought)
        try:
            on_page = await _reachable_point(surface, drawn, drawn.point, seen, deadline_s)
        except Refused as refusal:
            if refusal.refusal != "covered":
                raise
            on_page, trouble = None, trouble or refusal
        if on_page is not None:
            break
    else:
        raise trouble or Refused("outside", f"{drawn.words} is out of view. Scroll until it shows, and look again.")
    moved = await _follow(drawn, _offset(drawn.point, on_page), seen, image_limits, deadline_s)
    there = Point(x=drawn.point.x + moved.x, y=drawn.point.y + moved.y)
    if there != on_page:
        by = _offset(on_page, there)
        then = Point(x=drawn.point.x + by.x, y=drawn.point.y + by.y)
        on_page = await _reachable_point(surface, drawn, then, seen, deadline_s)
        if on_page is None:
            raise Refused("moved", f"{drawn.words} has moved out of view. Look again.")
    return Location(words=drawn.words, point=on_page, rung=4, under=surface.mark, element=surface.element)


async def locate_on_surface(mark: Mark, point: Point, seen: LiveObservation, deadline_s: float) -> Location | None:
    """Where a page point of a surface is now, whatever is drawn there; None if it is out of view.

    Raises:
        Refused: the surface is gone, has changed or has another size, or something covers it there.
        FrameSilent: the page did not answer.
    """
    words = f"a place on {mark_words(mark)}"
    surface = await _check_surface(mark, seen, deadline_s, reveal=False)
    target = DrawnTarget(words, mark.box, point, mark)
    there = await _reachable_point(surface, target, point, seen, deadline_s)
    if there is None:
        return None
    return Location(words=words, point=there, rung=4, under=surface.mark, element=surface.element)


async def surface_offset(mark: Mark, seen: LiveObservation, deadline_s: float) -> Point:
    """How far a surface has moved on the page since it was seen.

    Raises:
        Refused: it is gone, has changed or has another size.
        FrameSilent: the page did not answer.
    """
    surface = await _check_surface(mark, seen, deadline_s, reveal=False)
    rect, was = surface.element.rect, surface.was
    return Point(x=rect.x - was.x, y=rect.y - was.y)


def compared_part(drawn: DrawnTarget) -> Box:
    """The part of a target's box that must show the same, in page coordinates."""
    point, box = drawn.point, drawn.box
    return box.intersection(Box(x=point.x - _WIDE, y=point.y - _HIGH, width=2 * _WIDE, height=2 * _HIGH)) or box


def around(boxes: Sequence[Box]) -> Box:
    """The smallest box around these."""
    left, top = min(each.x for each in boxes), min(each.y for each in boxes)
    right, bottom = max(each.right for each in boxes), max(each.bottom for each in boxes)
    return Box(x=left, y=top, width=right - left, height=bottom - top)


def find_cell(target: Cell, observation: Observation) -> tuple[Mark, Box]:
    """The mark of a cell's grid, and the cell's box in page coordinates.

    Raises:
        Refused: there is no such mark, it has no cells, or lacks this one.
    """
    mark = observation.mark(target.mark)
    if mark is None:
        raise Refused("unknown_mark", f"There is no mark {target.mark} in this observation.")
    if mark.grid is None:
        raise Refused("unknown_mark", f"{mark_words(mark)} has no rows and columns. Name the mark alone, or a point.")
    box = observation.box_of(target)
    if box is None:
        where = f"row {target.row}, column {target.column}"
        raise Refused("unknown_mark", f"{mark_words(mark)} has {mark.grid.words}, and no cell in {where}.")
    return mark, box


def cell_words(target: Cell, mark: Mark) -> str:
    """How a sentence names a cell."""
    return f"row {target.row} column {target.column} of {mark_words(mark)}"


def _find_surface(mark: Mark, seen: LiveObservation) -> Mark | None:
    if mark.surface is None:
        return None
    surface = seen.observation.mark(mark.surface)
    if surface is None:
        raise Refused("unknown_mark", f"The surface that {mark_words(mark)} is drawn in has no mark here. Zoom to it.")
    return surface


async def _check_surface(mark: Mark, seen: LiveObservation, deadline_s: float, *, reveal: bool) -> _Surface:
    owner, element = await identify(mark, seen, deadline_s, reveal="always" if reveal else False)
    found = seen.found(mark)
    assert found is not None
    assert found.rect is not None, "every surface has one"
    rect, was = element.rect, found.rect
    if abs(rect.width - was.width) > _ROUNDING or abs(rect.height - was.height) > _ROUNDING:
        size = f"{rect.width:.0f} by {rect.height:.0f}"
        raise Refused("moved", f"{mark_words(mark)} has another size now, {size}. Look again.")
    return _Surface(mark, owner, element, was)


async def _reachable_point(
    surface: _Surface, drawn: DrawnTarget, point: Point, seen: LiveObservation, deadline_s: float
) -> Point | None:
    """Where a point of the surface, as it was seen, is on the page now; None if it is out of view.

    Raises:
        Refused: something covers the surface there.
    """
    owner, rect, was = surface.owner, surface.element.rect, surface.was
    x, y = owner.place.to_frame(point)
    here = (rect.x + x - was.x, rect.y + y - was.y)
    answer = await overlay_calls.element.shows_points(owner.frame, deadline_s, surface.mark.key, [here])
    if answer.are_shown[0]:
        return await choose_click_point(owner, surface.element.zoom, [here], drawn.words, seen, deadline_s)
    if answer.obstacles:
        raise Refused("covered", covered_sentence(drawn.words, answer.obstacles[0], seen))
    return None


async def _follow(
    drawn: DrawnTarget, moved: Point, seen: LiveObservation, image_limits: ImageLimits, deadline_s: float
) -> Point:
    """How far a target has moved on the page since it was seen: with its surface, or further on its own.

    Raises:
        Refused: it is not visible there or nearby, appears twice, or moves too fast to be pressed.
    """
    part, box = compared_part(drawn), drawn.box
    stands, ground = max(_STANDS, min(box.width, box.height) / 4), moved
    agreed = 0
    for _ in range(2 * _PICTURES):
        now = Picture.decode(await capture(seen.page, deadline_s), seen.clean.page, image_limits).masked(seen.masked)
        found = found_again(seen.clean, now, part, moved, ground, FOLLOWED, drawn.beside, drawn.row)
        if found is None or (found != moved and not drawn.is_followed):
            raise Refused("moved", f"{drawn.words} was not used: what the picture shows there has changed. Look again.")
        by = _offset(moved, found)
        moved = found
        agreed = agreed + 1 if max(abs(by.x), abs(by.y)) <= stands else 0
        if agreed > (_PICTURES if drawn.moves else 0):
            return moved
    far = max(abs(by.x), abs(by.y))
    raise Refused("moved", f"{drawn.words} moves {far:.0f} px between two pictures, so it was not pressed.")


def _offset(one: Point, other: Point) -> Point:
    return Point(x=other.x - one.x, y=other.y - one.y)


def _heading_cells(mark: Mark, target: Cell) -> list[Box]:
    """The first cells of a cell's row and column: in a sheet that has scrolled, they have other contents."""
    assert mark.grid is not None
    rows = [cell for cell in mark.grid.cells if cell[0] == target.row]
    columns = [cell for cell in mark.grid.cells if cell[1] == target.column]
    firsts = (min(rows, key=lambda cell: cell[1]), min(columns, key=lambda cell: cell[0]))
    return [_inset(Box(x=x, y=y, width=width, height=height)) for _, _, x, y, width, height in firsts]


def _row_box(box: Box, surface: Box) -> Box:
    """The full row of the surface at this height: in a list that closed a gap, another row is there."""
    return Box(x=surface.x, y=box.y, width=surface.width, height=box.height)


def _expanded(box: Box) -> Box:
    return Box(x=box.x - _BESIDE, y=box.y - _BESIDE, width=box.width + 2 * _BESIDE, height=box.height + 2 * _BESIDE)


def _inset(box: Box) -> Box:
    by_x, by_y = min(_RIM, box.width / 4), min(_RIM, box.height / 4)
    return Box(x=box.x + by_x, y=box.y + by_y, width=box.width - 2 * by_x, height=box.height - 2 * by_y)

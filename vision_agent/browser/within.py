"""The place of what has no element: a thing or a cell drawn in a surface.

The surface is looked at again, then the pixels of the thing. Where they are others, the very same ones are looked for
near by, and followed where there is exactly one such place.
"""

from __future__ import annotations

from dataclasses import dataclass

from vision_agent.actions import Cell, Point
from vision_agent.browser import overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.frames import Scanned
from vision_agent.browser.locate import Answer, Located, identify, in_the_way, shown_by_parents, words_for
from vision_agent.browser.observe import Seen
from vision_agent.browser.refusal import Refused
from vision_agent.types import Box, Mark, Observation
from vision_agent.vision.compare import found_again
from vision_agent.vision.contract import Contract
from vision_agent.vision.picture import Picture

FOLLOWED = 120.0
"""CSS pixels that a thing may have gone since it was seen and still be followed."""

_ROUNDING = 1.0
_STANDS = 2.0
"""CSS pixels from one picture to the next; of what is larger than a few of them, a quarter of its size."""
_PICTURES = 4
_WIDE, _HIGH = 240.0, 60.0
"""CSS pixels each way around the point that are compared: farther away much may change in a large thing."""
_BESIDE = 24.0
"""CSS pixels around a thing that must be as they were, where others look like it."""
_RIM = 3.0
"""Of a cell, which is not compared: its neighbour may be framed as the chosen one."""


@dataclass(frozen=True)
class Drawn:
    """A thing or a cell as it was seen."""

    words: str
    box: Box
    point: Point
    surface: Mark | None
    """None for a cell of a grid that lies over the page itself."""
    beside: tuple[Box, ...] = ()
    """What tells it from others that look like it."""
    moves: bool = False
    """It was seen to: that it is found in one place once may be chance."""
    is_followed: bool = True
    """A cell is a place: what was in it and has gone to another is not followed there."""


@dataclass(frozen=True)
class _Surface:
    """A surface as it is now."""

    mark: Mark
    owner: Scanned
    answer: Answer


def drawn_at(target: int | Cell | Point, seen: Seen) -> Drawn | None:
    """What a target means, where that is something without an element; None for an element and for a point.

    Raises:
        Refused: it names a cell that there is not.
    """
    if isinstance(target, Cell):
        mark, box = cell_of(target, seen.observation)
        return Drawn(
            cell_words(target, mark),
            _inset(box),
            box.center,
            _surface_of(mark, seen),
            beside=(_grown(box), *_headings(mark, target)),
            is_followed=False,
        )
    meant = None if isinstance(target, Point) else seen.observation.mark(target)
    if meant is None or meant.source == "dom":
        return None
    surface = _surface_of(meant, seen)
    beside = (_grown(meant.box), *([_row_of(meant.box, surface.box)] if surface else []))
    return Drawn(words_for(meant), meant.box, meant.point, surface, beside, meant.moves)


def must_be_one_thing(target: int | Cell | Point, seen: Seen) -> None:
    """Returns where a target says where to press.

    Raises:
        Refused: it is a grid as a whole.
    """
    mark = seen.observation.mark(target) if isinstance(target, int) else None
    if mark is not None and mark.grid is not None:
        size = f"{mark.grid.rows} rows and {mark.grid.columns} columns"
        raise Refused("ambiguous", f"{words_for(mark)} has {size}; say which cell is meant.")


async def locate_drawn(drawn: Drawn, seen: Seen, contract: Contract, deadline_s: float, *, reveal: bool) -> Located:
    """Where it is now, as a point on its surface.

    Raises:
        Refused: the surface is not what it was, something lies over it there, or it does not show the same any more.
        FrameSilent: the page gave no answer.
    """
    assert drawn.surface is not None
    trouble: Refused | None = None
    for is_brought in (False, True) if reveal else (False,):
        surface = await _surface_now(drawn.surface, seen, deadline_s, reveal=is_brought)
        try:
            on_page = await _reached(surface, drawn, drawn.point, seen, deadline_s)
        except Refused as refusal:
            if refusal.refusal != "covered":
                raise
            on_page, trouble = None, trouble or refusal
        if on_page is not None:
            break
    else:
        raise trouble or Refused("outside", f"{drawn.words} is out of view. Scroll until it shows, and look again.")
    moved = await _followed(drawn, _from_to(drawn.point, on_page), seen, contract, deadline_s)
    there = Point(x=drawn.point.x + moved.x, y=drawn.point.y + moved.y)
    if there != on_page:
        by = _from_to(on_page, there)
        then = Point(x=drawn.point.x + by.x, y=drawn.point.y + by.y)
        on_page = await _reached(surface, drawn, then, seen, deadline_s)
        if on_page is None:
            raise Refused("moved", f"{drawn.words} has moved out of view. Look again.")
    return Located(words=drawn.words, point=on_page, rung=4, under=surface.mark, answer=surface.answer)


def cell_of(target: Cell, observation: Observation) -> tuple[Mark, Box]:
    """The mark with the rows and columns, and the page box of the cell.

    Raises:
        Refused: there is no such mark, it has no cells, or not that one.
    """
    mark = observation.mark(target.mark)
    if mark is None:
        raise Refused("unknown_mark", f"There is no mark {target.mark} in this observation.")
    if mark.grid is None:
        raise Refused("unknown_mark", f"{words_for(mark)} has no rows and columns. Name the mark alone, or a point.")
    box = mark.grid.cell(target.row, target.column)
    if box is None:
        size = f"{mark.grid.rows} rows and {mark.grid.columns} columns"
        where = f"row {target.row}, column {target.column}"
        raise Refused("unknown_mark", f"{words_for(mark)} has {size}, and no cell in {where}.")
    return mark, box


def cell_words(target: Cell, mark: Mark) -> str:
    """How a sentence names a cell."""
    return f"row {target.row} column {target.column} of {words_for(mark)}"


def _surface_of(mark: Mark, seen: Seen) -> Mark | None:
    if mark.surface is None:
        return None
    surface = seen.observation.mark(mark.surface)
    if surface is None:
        raise Refused("unknown_mark", f"The surface that {words_for(mark)} is drawn in has no mark here. Zoom to it.")
    return surface


async def _surface_now(mark: Mark, seen: Seen, deadline_s: float, *, reveal: bool) -> _Surface:
    owner, answer = await identify(mark, seen, deadline_s, reveal="always" if reveal else False)
    rect, was = answer["rect"], rect_seen(mark, seen)
    if abs(rect["width"] - was["width"]) > _ROUNDING or abs(rect["height"] - was["height"]) > _ROUNDING:
        size = f"{rect['width']:.0f} by {rect['height']:.0f}"
        raise Refused("moved", f"{words_for(mark)} has another size now, {size}. Look again.")
    return _Surface(mark, owner, answer)


def rect_seen(surface: Mark, seen: Seen) -> dict[str, float]:
    """Where all of a surface was in its own frame, in view or not, when it was seen."""
    rect: dict[str, float] = next(raw["rect"] for raw in seen.scan.marks if raw["key"] == surface.key)
    return rect


async def _reached(surface: _Surface, drawn: Drawn, point: Point, seen: Seen, deadline_s: float) -> Point | None:
    """The page point that a point of the surface, as it was seen, is at now; None where that is out of view.

    Raises:
        Refused: something lies over the surface there.
    """
    owner, rect, was = surface.owner, surface.answer["rect"], rect_seen(surface.mark, seen)
    x, y = owner.place.to_frame(point)
    here = {"x": rect["x"] + x - was["x"], "y": rect["y"] + y - was["y"]}
    told = await overlay.ask(owner.frame, "shows", deadline_s, key=surface.mark.key, points=[here])
    if not told["shows"][0]:
        if told["blockers"]:
            blocker = told["blockers"][0]
            raise Refused("covered", in_the_way(drawn.words, blocker["blocker"], blocker["key"], seen))
        return None
    return await shown_by_parents(owner, {**surface.answer, "points": [here]}, drawn.words, seen, deadline_s)


async def _followed(drawn: Drawn, moved: Point, seen: Seen, contract: Contract, deadline_s: float) -> Point:
    """How far it has gone on the page since it was seen: as its surface, or further by itself.

    Raises:
        Refused: it does not show there and near by, shows twice, or goes too fast to be pressed.
    """
    point, box = drawn.point, drawn.box
    part = box.intersection(Box(x=point.x - _WIDE, y=point.y - _HIGH, width=2 * _WIDE, height=2 * _HIGH)) or box
    stands, ground = max(_STANDS, min(box.width, box.height) / 4), moved
    agreed = 0
    for _ in range(2 * _PICTURES):
        now = Picture.decode(await capture(seen.page, deadline_s), seen.clean.page, contract).masked(seen.masked)
        found = found_again(seen.clean, now, part, moved, ground, FOLLOWED, drawn.beside)
        if found is None or (found != moved and not drawn.is_followed):
            raise Refused("moved", f"{drawn.words} was not used: what the picture shows there has changed. Look again.")
        by = _from_to(moved, found)
        moved = found
        agreed = agreed + 1 if max(abs(by.x), abs(by.y)) <= stands else 0
        if agreed > (_PICTURES if drawn.moves else 0):
            return moved
    far = max(abs(by.x), abs(by.y))
    raise Refused("moved", f"{drawn.words} goes {far:.0f} px from one picture to the next, so it was not pressed.")


def _from_to(one: Point, other: Point) -> Point:
    return Point(x=other.x - one.x, y=other.y - one.y)


def _headings(mark: Mark, target: Cell) -> list[Box]:
    """The first cells of its row and of its column: in a sheet that was scrolled they say something else."""
    assert mark.grid is not None
    rows = [cell for cell in mark.grid.cells if cell[0] == target.row]
    columns = [cell for cell in mark.grid.cells if cell[1] == target.column]
    firsts = (min(rows, key=lambda cell: cell[1]), min(columns, key=lambda cell: cell[0]))
    return [_inset(Box(x=x, y=y, width=width, height=height)) for _, _, x, y, width, height in firsts]


def _row_of(box: Box, surface: Box) -> Box:
    """All that is level with it: in a list that closed up another row is there."""
    return Box(x=surface.x, y=box.y, width=surface.width, height=box.height)


def _grown(box: Box) -> Box:
    return Box(x=box.x - _BESIDE, y=box.y - _BESIDE, width=box.width + 2 * _BESIDE, height=box.height + 2 * _BESIDE)


def _inset(box: Box) -> Box:
    by_x, by_y = min(_RIM, box.width / 4), min(_RIM, box.height / 4)
    return Box(x=box.x + by_x, y=box.y + by_y, width=box.width - 2 * by_x, height=box.height - 2 * by_y)

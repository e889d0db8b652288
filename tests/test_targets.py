"""Claims about targets: all code agrees on whether a point is inside the picture."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.models.seen import mark, seen
from vision_agent.actions import Cell, Click, Point, Zoom
from vision_agent.browser.act.zoom import zoom_region
from vision_agent.browser.refusal import Refused
from vision_agent.errors import FormatError
from vision_agent.evals.browsergym.calls import calls_for
from vision_agent.models.offline.line_targets import PicturePoint
from vision_agent.models.offline.resolve_target import NotFoundError, find_target
from vision_agent.models.reply import check_target
from vision_agent.observation import Grid, MarkKey

GRID = Grid(rows=2, columns=2, cells=((1, 1, 100, 20, 50, 20), (2, 2, 150, 40, 50, 20)))
PAGE = seen(mark(1, "Board", "guess", grid=GRID))
"""Its picture is 640 by 400."""


def by_a_reply(point: Point) -> bool:
    try:
        check_target(point, PAGE, "actions[0]")
    except FormatError:
        return False
    return True


def by_a_step_line(point: Point) -> bool:
    try:
        find_target(PicturePoint(x=point.x, y=point.y), PAGE)
    except NotFoundError:
        return False
    return True


def by_a_closer_look(point: Point) -> bool:
    try:
        zoom_region(Zoom(target=point), PAGE)
    except Refused:
        return False
    return True


def by_browsergym(point: Point) -> bool:
    return isinstance(calls_for(Click(target=point), PAGE), str)


@pytest.mark.parametrize("is_inside", [by_a_reply, by_a_step_line, by_a_closer_look, by_browsergym])
@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(0, 0, True), (639, 399, True), (639.9, 399.9, True), (640, 200, False), (320, 400, False), (-0.1, 200, False)],
)
def test_a_point_on_the_right_or_lower_edge_is_outside_for_everyone(
    is_inside: Callable[[Point], bool], x: float, y: float, expected: bool
) -> None:
    assert is_inside(Point(x=x, y=y)) == expected


def test_a_part_of_the_picture_may_end_on_its_edge_and_not_beyond() -> None:
    box, _ = zoom_region(Zoom(target=Point(x=320, y=200), to=Point(x=640, y=400)), PAGE)
    assert (box.right, box.bottom) == (640, 400)
    with pytest.raises(Refused, match="outside"):
        zoom_region(Zoom(target=Point(x=320, y=200), to=Point(x=641, y=400)), PAGE)


def test_a_cell_is_where_its_mark_has_one_and_nowhere_else() -> None:
    box = PAGE.box_of(Cell(mark=1, row=2, column=2))
    assert box is not None
    assert (box.x, box.y) == (150, 40)
    assert PAGE.box_of(Cell(mark=1, row=1, column=2)) is None
    assert PAGE.box_of(Cell(mark=2, row=1, column=1)) is None
    assert seen().box_of(Cell(mark=3, row=1, column=1)) is None


def test_a_key_says_which_document_gave_it_also_for_what_is_drawn() -> None:
    key = MarkKey("a1b2.17")
    assert (key.document, key.drawn(4, 2), key.drawn(4, 2).document) == ("a1b2", "a1b2.s4~2", "a1b2")

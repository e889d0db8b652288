"""Claims about knowing drawn things again, on pictures drawn here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import pytest

from tests.vision.test_surface import WHOLE, box, disc, drawn, words
from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.ocr import NOTHING, Reading
from vision_agent.vision.picture import Picture, Pixels
from vision_agent.vision.surfaces.things import Thing
from vision_agent.vision.surfaces.tracking import Drawing, SurfaceLook

HERE = Point(x=0, y=0)
Stroke = Callable[[Pixels], object]

BLUE, GREEN, RED = (200, 110, 40), (90, 150, 40), (50, 50, 200)


def button(x: int, y: int, text: str, colour: tuple[int, int, int] = BLUE) -> list[Stroke]:
    return [box(x, y, 120, 36, colour), words(text, x + 30, y + 24, (255, 255, 255))]


def look(drawing: Drawing, strokes: Sequence[Stroke], corner: Point = HERE, **more: object) -> SurfaceLook:
    return drawing.look(drawn(*strokes), WHOLE, corner, **more)  # type: ignore[arg-type]


def at(looked: SurfaceLook, x: float, y: float) -> Thing:
    [thing] = [each for each in looked.things if each.box.contains(Point(x=x, y=y))]
    return thing


def said(*texts: str) -> Callable[[Picture, Sequence[Box]], list[Reading | None]]:
    """A reader that finds these in the lines, from left to right; an empty one was not read for want of time."""

    def read(_: Picture, lines: Sequence[Box]) -> list[Reading | None]:
        order = sorted(lines, key=lambda line: line.x)
        known = {line: Reading(text, 0.99) if text else None for line, text in zip(order, texts, strict=False)}
        return [known.get(line, NOTHING) for line in lines]

    return read


def test_what_is_drawn_the_same_again_is_the_same() -> None:
    drawing, strokes = Drawing(), [*button(50, 60, "Save"), *button(250, 60, "Send", GREEN)]
    first = look(drawing, strokes)
    again = look(drawing, [*strokes, disc(600, 400, 20, RED)])
    assert {each.id for each in first.things} < {each.id for each in again.things}
    assert at(first, 60, 70).id == at(again, 60, 70).id


def test_nothing_is_proposed_or_read_anew_where_no_pixel_changed() -> None:
    drawing, asked = Drawing(), []

    def read(_: Picture, lines: Sequence[Box]) -> list[Reading | None]:
        asked.append(len(lines))
        return [Reading("Save", 0.9) for _ in lines]

    first = look(drawing, button(50, 60, "Save"), read=read)
    assert look(drawing, button(50, 60, "Save"), read=read) == first
    assert asked == [1]


def test_a_thing_has_the_name_that_is_read_on_it() -> None:
    looked = look(Drawing(), [*button(50, 60, "Save"), *button(250, 60, "Send", GREEN)], read=said("Save", "Send"))
    assert [at(looked, x, 70).name for x in (60, 260)] == ["Save", "Send"]


def test_what_there_was_no_time_to_read_is_read_at_the_next_look() -> None:
    drawing = Drawing()
    first = look(drawing, button(50, 60, "Save"), read=said(""))
    assert (at(first, 60, 70).name, first.is_all_read) == ("", False)
    second = look(drawing, button(50, 60, "Save"), read=said("Save"))
    assert (at(second, 60, 70).name, at(second, 60, 70).id) == ("Save", at(first, 60, 70).id)


def test_a_button_of_another_colour_is_the_same_button() -> None:
    drawing = Drawing()
    before = at(look(drawing, button(50, 60, "Save")), 60, 70)
    assert at(look(drawing, button(50, 60, "Save", GREEN)), 60, 70).id == before.id


def test_a_button_with_other_words_in_its_place_is_another() -> None:
    drawing = Drawing()
    before = at(look(drawing, button(50, 60, "Save"), read=said("Save")), 60, 70)
    after = at(look(drawing, button(50, 60, "Delete"), read=said("Delete")), 60, 70)
    assert after.id != before.id


def test_without_reading_too_other_words_are_another_button() -> None:
    drawing = Drawing()
    before = at(look(drawing, button(50, 60, "Wi")), 60, 70)
    assert at(look(drawing, button(50, 60, "oomen", GREEN)), 60, 70).id != before.id


def test_one_that_moved_is_known_again_by_its_look() -> None:
    drawing = Drawing()
    before = at(look(drawing, button(50, 60, "Save")), 60, 70)
    assert at(look(drawing, button(130, 160, "Save")), 140, 170).id == before.id


def test_one_that_moved_too_far_is_another() -> None:
    drawing = Drawing()
    before = at(look(drawing, button(20, 20, "Save")), 30, 30)
    assert at(look(drawing, button(600, 400, "Save")), 610, 410).id != before.id


def test_of_two_alike_that_went_elsewhere_none_is_taken_for_the_other() -> None:
    drawing = Drawing()
    before = look(drawing, [disc(100, 100, 20), disc(200, 100, 20)])
    after = look(drawing, [disc(130, 170, 20), disc(170, 170, 20)])
    assert not {each.id for each in before.things} & {each.id for each in after.things}


def test_one_piece_of_many_alike_that_moved_keeps_its_id_and_the_others_theirs() -> None:
    drawing, places = Drawing(), [(80, 80), (160, 80), (240, 80), (320, 80)]
    before = look(drawing, [disc(*each, 20) for each in places])
    after = look(drawing, [disc(*each, 20) for each in [*places[:3], (360, 160)]])
    assert {each.id for each in after.things} == {each.id for each in before.things}
    assert at(after, 360, 160).id == at(before, 320, 80).id


def test_what_was_scrolled_together_stays_told_apart() -> None:
    drawing = Drawing()
    rows = [(60, 40 + 60 * n) for n in range(6)]
    before = look(drawing, [box(x, y, 90, 30) for x, y in rows])
    after = look(drawing, [box(x, y - 25, 90, 30) for x, y in rows])
    assert [at(after, x + 9, y - 20).id for x, y in rows] == [at(before, x + 9, y + 5).id for x, y in rows]


def test_a_surface_that_went_elsewhere_on_the_page_took_its_things_along() -> None:
    drawing = Drawing()
    before = at(look(drawing, button(50, 60, "Save")), 60, 70)
    after = at(look(drawing, button(50, 20, "Save"), corner=Point(x=0, y=-40)), 60, 30)
    assert after.id == before.id


def test_what_is_outside_of_a_closer_look_is_remembered() -> None:
    drawing, strokes = Drawing(), [*button(50, 60, "Save"), *button(600, 400, "Send", GREEN)]
    before = look(drawing, strokes)
    part = Box(x=0, y=0, width=300, height=300)
    closer = drawing.look(drawn(*strokes).crop(part), part, HERE)
    assert [each.id for each in closer.things] == [at(before, 60, 70).id]
    assert [each.id for each in closer.elsewhere] == [at(before, 610, 410).id]
    assert at(look(drawing, [*strokes, disc(400, 300, 9)]), 610, 410).id == at(before, 610, 410).id


def test_an_id_is_never_given_again() -> None:
    drawing = Drawing()
    first = at(look(drawing, button(50, 60, "Save"), read=said("Save")), 60, 70)
    look(drawing, [])
    assert at(look(drawing, button(50, 60, "Cut"), read=said("Cut")), 60, 70).id > first.id


def test_of_a_grid_each_row_that_says_something_is_told() -> None:
    cells = [box(100 + 62 * column, 60 + 32 * row, 60, 30) for row in range(6) for column in range(5)]
    looked = look(Drawing(), [*cells, words("4", 110, 80), words("7", 234, 80)], read=said("4", "7"))
    [grid] = [each for each in looked.things if each.grid is not None]
    assert [(row, text) for row, text, _ in grid.rows] == [(1, "4 |  | 7")]


@pytest.mark.parametrize(("far", "moves"), [(0, False), (3, True)])
def test_a_thing_that_differs_a_moment_later_moves(far: int, moves: bool) -> None:
    later = drawn(*button(50 + far, 60, "Save"))
    assert at(look(Drawing(), button(50, 60, "Save"), later=later), 100, 70).moves is moves


def test_a_thing_that_moves_is_the_same_wherever_between_pixels_it_is_drawn() -> None:
    def between_pixels(x: float, y: float) -> list[Stroke]:
        sixteenths = (round(16 * x), round(16 * y))
        return [lambda pixels: cv2.circle(pixels, sixteenths, 18 * 16, RED, -1, cv2.LINE_AA, 4)]

    drawing, seen = Drawing(), []
    for step in range(120):
        x, y = 60 + 3.81966 * step, 200 + 0.723607 * step
        seen.append(look(drawing, between_pixels(x, y), later=drawn(*between_pixels(x + 2, y))))
    assert {each.id for looked in seen for each in looked.things} == {1}


def test_in_a_surface_that_changes_all_over_nothing_is_told_apart() -> None:
    looked = look(Drawing(), button(50, 60, "Save"), later=drawn(ground=(90, 20, 120)))
    assert (looked.is_restless, looked.things) == (True, ())


def test_a_surface_out_of_the_picture_shows_nothing() -> None:
    drawing = Drawing()
    assert drawing.look(drawn(), Box(x=900, y=0, width=50, height=50), HERE).things == ()


def test_rows_that_were_scrolled_by_one_row_take_their_wordless_buttons_along() -> None:
    drawing = Drawing()

    def rows(first: int) -> list[Stroke]:
        strokes: list[Stroke] = []
        for place in range(5):
            strokes += [
                *button(60, 40 + 60 * place, f"{'abcdefgh'[first + place] * 3}"),
                box(220, 40 + 60 * place, 36, 36, RED),
            ]
        return strokes

    def read(names: Sequence[str]) -> Callable[[Picture, Sequence[Box]], list[Reading | None]]:
        return lambda _, lines: [Reading(names[round((line.center.y - 58) / 60)], 0.9) for line in lines]

    before = look(drawing, rows(0), read=read(["aaa", "bbb", "ccc", "ddd", "eee"]))
    after = look(drawing, rows(1), read=read(["bbb", "ccc", "ddd", "eee", "fff"]))
    assert at(after, 70, 50).id == at(before, 70, 110).id
    assert at(after, 230, 50).id == at(before, 230, 110).id


def test_what_the_edge_of_a_closer_look_cuts_keeps_its_id() -> None:
    drawing, strokes = Drawing(), [*button(50, 60, "Save"), disc(600, 400, 30)]
    before = at(look(drawing, strokes), 60, 70)
    part = Box(x=80, y=0, width=300, height=300)
    drawing.look(drawn(*strokes).crop(part), part, HERE)
    assert at(look(drawing, [*strokes, disc(400, 100, 9)]), 60, 70).id == before.id


def test_one_restless_look_forgets_nothing() -> None:
    drawing = Drawing()
    before = at(look(drawing, button(50, 60, "Save")), 60, 70)
    look(drawing, button(50, 60, "Save"), later=drawn(ground=(90, 20, 120)))
    assert at(look(drawing, button(50, 60, "Save")), 60, 70).id == before.id

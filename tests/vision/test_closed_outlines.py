"""Claims about outlines as objects, on pictures drawn here with known places."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np
import pytest

from tests.vision.test_drawn import HERE
from tests.vision.test_surface import FACE, INK, WHOLE, box, disc, drawn, overlap, words
from vision_agent.geometry import Box
from vision_agent.vision.picture import Pixels
from vision_agent.vision.surfaces.candidates import Proposal, propose
from vision_agent.vision.surfaces.tracking import Drawing

Stroke = Callable[[Pixels], object]
Corner = tuple[int, int]


def line(start: Corner, end: Corner, colour: tuple[int, int, int] = INK, width: int = 2) -> Stroke:
    return lambda on: cv2.line(on, start, end, colour, width)


def outline(x: int, y: int, width: int, height: int, colour: tuple[int, int, int] = INK) -> Stroke:
    return lambda on: cv2.rectangle(on, (x, y), (x + width, y + height), colour, 2)


def ring(x: int, y: int, wide: int, high: int, colour: tuple[int, int, int] = INK) -> Stroke:
    return lambda on: cv2.ellipse(on, (x, y), (wide, high), 0, 0, 360, colour, 2, cv2.LINE_AA)


def dashes(corners: Sequence[Corner], colour: tuple[int, int, int] = INK) -> Stroke:
    """A closed line of dashes of 7 pixels, 4 apart."""

    def stroke(on: Pixels) -> None:
        for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
            one, other = np.array(start, float), np.array(end, float)
            along = (other - one) / np.hypot(*(other - one))
            for far in np.arange(0, np.hypot(*(other - one)), 11):
                first, last = one + far * along, one + (far + 7) * along
                cv2.line(on, tuple(first.astype(int).tolist()), tuple(last.astype(int).tolist()), colour, 2)

    return stroke


def found(*strokes: Stroke) -> list[Proposal]:
    return [each for each in propose(drawn(*strokes), WHOLE).proposals if each.shape != "words"]


def only(*strokes: Stroke) -> Proposal:
    [thing] = found(*strokes)
    return thing


RECT = ((100, 80), (300, 80), (300, 200), (100, 200))


@pytest.mark.parametrize(
    ("stroke", "at"),
    {
        "a rectangle": (outline(100, 80, 200, 120), Box(x=99, y=79, width=203, height=123)),
        "an ellipse": (ring(200, 140, 100, 60), Box(x=99, y=79, width=203, height=123)),
        "a dashed rectangle": (dashes(RECT), Box(x=99, y=79, width=203, height=123)),
        "a dashed diamond": (
            dashes(((200, 60), (300, 140), (200, 220), (100, 140))),
            Box(x=99, y=59, width=203, height=163),
        ),
        "one drawn by hand": (
            lambda on: cv2.polylines(
                on, [np.array([[101, 82], [200, 79], [303, 83], [299, 140], [301, 203], [99, 202], [102, 83]])],
                False, INK, 2, cv2.LINE_AA,
            ),
            Box(x=98, y=78, width=206, height=126),
        ),
    }.values(),
)  # fmt: skip
def test_a_closed_outline_is_one_object(stroke: Stroke, at: Box) -> None:
    assert overlap(only(stroke).box, at) > 0.9


def test_an_outline_as_wide_as_most_of_the_surface_is_one_too() -> None:
    assert overlap(only(outline(20, 20, 740, 440)).box, Box(x=19, y=19, width=743, height=443)) > 0.95


@pytest.mark.parametrize(
    "strokes",
    {
        "a corner": [line((100, 100), (180, 100)), line((100, 100), (100, 160))],
        "ticks": [line((100 + 40 * at, 100), (100 + 40 * at, 108)) for at in range(6)],
        "an arrow": [line((100, 100), (260, 180)), line((260, 180), (246, 180)), line((260, 180), (254, 166))],
        "lines of a grid": [
            *(line((60, 60 + 50 * at), (700, 60 + 50 * at), (220, 220, 220), 1) for at in range(8)),
            *(line((60 + 80 * at, 60), (60 + 80 * at, 410), (220, 220, 220), 1) for at in range(9)),
            line((60, 400), (380, 100), FACE),
            line((380, 100), (700, 300), FACE),
        ],
    }.values(),
)
def test_what_encloses_nothing_is_no_object(strokes: list[Stroke]) -> None:
    # Small triangles between lines may as well be handles: they come last.
    assert [each for each in found(*strokes) if each.confidence > 0.2] == []


def test_outlines_that_cross_are_two_objects_also_in_one_colour() -> None:
    one, other = Box(x=99, y=79, width=123, height=83), Box(x=179, y=129, width=123, height=83)
    for colour in (INK, (30, 160, 40)):
        things = found(outline(100, 80, 120, 80), outline(180, 130, 120, 80, colour))
        assert sorted(round(max(overlap(each.box, at) for each in things), 1) for at in (one, other)) == [1.0, 1.0]
        assert len(things) == 2


def test_an_outline_over_a_filled_shape_does_not_cut_it_up() -> None:
    things = found(box(100, 80, 120, 80), ring(240, 170, 60, 40))
    assert len(things) == 2
    assert max(overlap(each.box, Box(x=100, y=80, width=120, height=80)) for each in things) > 0.9


def test_what_is_in_an_outline_is_an_object_of_its_own_and_the_outer_one_is_pressed_outside_of_it() -> None:
    things = found(outline(100, 80, 300, 200), disc(250, 180, 40), outline(130, 100, 40, 40))
    assert len(things) == 3
    outer = max(things, key=lambda each: each.box.width)
    assert all(not each.box.contains(outer.point) for each in things if each is not outer)
    assert outer.box.contains(outer.point)


def test_an_outlined_button_is_pressed_in_the_middle() -> None:
    button = only(outline(100, 80, 120, 36), words("Save", 140, 104))
    assert abs(button.point.x - 160) <= 3


def test_parts_of_letters_are_no_objects() -> None:
    def large(on: Pixels) -> None:
        cv2.putText(on, "BOARD 80", (100, 200), cv2.FONT_HERSHEY_SIMPLEX, 1.2, INK, 3, cv2.LINE_AA)

    assert found(large) == []


def test_when_there_are_too_many_the_large_ones_stay() -> None:
    small = [box(20 + 24 * (at % 30), 300 + 20 * (at // 30), 9 + at % 5, 9) for at in range(200)]
    proposed = propose(drawn(outline(100, 40, 300, 200), outline(500, 60, 160, 120), *small), WHOLE, most=10)
    assert proposed.left_out > 0
    assert sorted(round(each.box.width, -1) for each in proposed.proposals)[-2:] == [160, 300]


def test_when_there_are_too_many_what_just_changed_stays() -> None:
    chance = np.random.default_rng(5)
    many = [
        box(20 + 60 * (at % 12), 14 + 60 * (at // 12), *(int(side) for side in chance.integers(30, 50, 2)))
        for at in range(96)
    ]
    drawing = Drawing()
    first = drawing.look(drawn(*many), WHOLE, HERE, most=20)
    missing = next(at for at in range(96) if not any(_is_at(each.box, at) for each in first.things))
    x, y = 20 + 60 * (missing % 12), 14 + 60 * (missing // 12)
    again = drawing.look(drawn(*many, box(x, y, 40, 40, (30, 160, 40))), WHOLE, HERE, most=20)
    assert any(_is_at(each.box, missing) for each in again.things)


def _is_at(place: Box, at: int) -> bool:
    return abs(place.x - (20 + 60 * (at % 12))) < 4 and abs(place.y - (14 + 60 * (at // 12))) < 4

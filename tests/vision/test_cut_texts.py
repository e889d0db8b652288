"""Claims about texts that a side of their cell may cut off, from the room beside them alone."""

from __future__ import annotations

import pytest

from vision_agent.geometry import Box
from vision_agent.vision.surfaces.cut_texts import Side, TextInCells, find_cut, find_two_in_one

WIDE = 100.0


def text(row: int, column: int, left: float, right: float, *touches: Side) -> TextInCells:
    line = Box(x=WIDE * column + left, y=20 * row, width=WIDE - left - right, height=10)
    return TextInCells(line, (row, column), (row, column), left, right, frozenset(touches))


def columns(padding: float) -> list[TextInCells]:
    """Names flush left, and numbers of three lengths flush right."""
    return [
        each
        for row in range(1, 10)
        for each in (
            text(row, 0, padding, 20 + 7 * (row % 4)),
            text(row, 1, 40 + 7 * (row % 3), padding),
        )
    ]


@pytest.mark.parametrize("padding", [2.5, 3, 4, 5, 8, 12])
def test_texts_with_the_same_padding_are_whole_however_little_it_is(padding: float) -> None:
    assert find_cut(columns(padding)) == []


@pytest.mark.parametrize("padding", [2.5, 4, 8])
@pytest.mark.parametrize("room", [-1, 0, 1, 2, 3, 4])
def test_a_number_nearer_to_the_other_side_than_two_digits_are_apart_may_be_cut_off(
    padding: float, room: float
) -> None:
    number = text(10, 1, room, padding)
    assert find_cut([*columns(padding), number]) == [number]


def test_a_number_beside_a_rule_with_ink_on_it_may_be_cut_off_also_where_others_are_as_near() -> None:
    number = text(10, 0, 3, 30, "left")
    assert find_cut([*columns(3), number]) == [number]


def test_a_heading_that_is_just_as_wide_as_its_column_is_whole_and_a_number_there_may_be_cut_off() -> None:
    both = [*columns(4), text(0, 1, 4, 4)]
    assert find_cut(both, name_columns=True) == []
    assert find_cut(both) == [both[-1]]


def test_two_texts_that_touch_over_a_border_are_told_from_one_that_goes_on() -> None:
    numbers = columns(5)
    two = TextInCells(Box(x=5, y=200, width=190, height=10), (10, 0), (10, 1), 5, 5)
    one = TextInCells(Box(x=5, y=220, width=150, height=10), (11, 0), (11, 1), 5, 45)
    assert find_two_in_one([*numbers, two, one]) == [two]

"""Claims about which ink beside a line of text is a sign of it: the pictures have a bar for each digit."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Ints
from vision_agent.vision.surfaces.regions import find_edges
from vision_agent.vision.surfaces.signs import SignedLines, with_signs

Block = tuple[int, int, int, int]
DIGITS = (50, 30, 60, 42)
"""Left, top, right and bottom of ink."""
MINUS = (43, 36, 48, 37)


def signed(lines: list[Block], *others: Block, colour: tuple[int, int, int] = (0, 0, 0)) -> SignedLines:
    pixels: Pixels = np.full((140, 140, 3), 255, np.uint8)
    for left, top, right, bottom in lines:
        pixels[top:bottom, left : left + 2] = pixels[top:bottom, right - 2 : right] = 0
    for left, top, right, bottom in others:
        pixels[top:bottom, left:right] = colour
    edges = find_edges(pixels)
    inked = np.asarray(cv2.integral(edges >> 7), np.int32)
    return with_signs(np.array(lines, np.int32) - np.array([1, 1, 0, 0], np.int32), edges, inked, pixels)


def ink(lines: Ints) -> list[list[int]]:
    return (lines + np.array([1, 1, 0, 0], np.int32)).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("sign", "whole"),
    [
        (MINUS, [43, 30, 60, 42]),
        ((40, 36, 48, 37), [40, 30, 60, 42]),  # as wide as a minus
        ((63, 40, 65, 42), [50, 30, 65, 42]),  # a point
        ((63, 40, 65, 45), [50, 30, 65, 45]),  # a comma
    ],
)
def test_a_sign_belongs_to_the_line_beside_it(sign: Block, whole: list[int]) -> None:
    assert ink(signed([DIGITS], sign).lines) == [whole]


def test_a_colon_belongs_to_the_line_with_both_its_dots() -> None:
    assert ink(signed([DIGITS], (63, 33, 65, 35), (63, 40, 65, 42)).lines) == [[50, 30, 65, 42]]


def test_a_line_that_begins_with_a_point_may_lack_a_digit() -> None:
    found = signed([DIGITS], (45, 40, 47, 42))
    assert ink(found.lines) == ink(found.doubtful) == [[45, 30, 60, 42]]


@pytest.mark.parametrize("sign", [(63, 40, 65, 42), (63, 36, 67, 37)])
def test_lines_with_a_sign_between_them_are_one(sign: Block) -> None:
    assert ink(signed([DIGITS, (70, 30, 80, 42)], sign).lines) == [[50, 30, 80, 42]]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((38, 36, 43, 37), id="too far"),
        pytest.param((30, 36, 48, 37), id="too long"),
        pytest.param((37, 36, 45, 37), id="as far as only a hyphen may be, and longer"),
        pytest.param((43, 31, 48, 32), id="too high"),
        pytest.param((42, 41, 48, 42), id="too low"),
        pytest.param((43, 34, 48, 39), id="a square bullet"),
        pytest.param((63, 36, 67, 37), id="a dash behind the last digit"),
        pytest.param((63, 35, 65, 37), id="a dot without another one below"),
        pytest.param((63, 40, 69, 42), id="too wide for a point"),
    ],
)
def test_what_has_another_place_or_size_is_no_sign(other: Block) -> None:
    found = signed([DIGITS], other)
    assert ink(found.lines) == [[*DIGITS]]
    assert not len(found.doubtful)


@pytest.mark.parametrize("colour", [(160, 160, 160), (0, 0, 255), (220, 120, 0)])
def test_what_has_another_colour_is_no_sign(colour: tuple[int, int, int]) -> None:
    assert ink(signed([DIGITS], MINUS, colour=colour).lines) == [[*DIGITS]]


def test_a_tick_that_ends_at_a_line_is_no_sign() -> None:
    assert ink(signed([DIGITS], MINUS, (42, 10, 43, 120)).lines) == [[*DIGITS]]


def test_a_dash_that_nearly_ends_at_a_line_may_be_a_tick() -> None:
    found = signed([DIGITS], MINUS, (40, 10, 41, 120))
    assert ink(found.lines) == ink(found.doubtful) == [[*DIGITS]]


def test_what_goes_on_as_a_dotted_line_is_no_point() -> None:
    dots = [(x, 40, x + 2, 42) for x in range(63, 100, 5)]
    assert ink(signed([DIGITS], *dots).lines) == [[*DIGITS]]


def test_dashes_at_even_distances_beside_all_texts_of_a_column_may_be_ticks() -> None:
    column = [(50, 30 + by, 60, 42 + by) for by in (0, 30, 60)]
    found = signed(column, *[(43, 36 + by, 48, 37 + by) for by in (0, 30, 60)])
    assert ink(found.lines) == [[*each] for each in column]
    assert ink(found.doubtful) == [[*each] for each in column]


def test_a_text_of_the_column_without_a_dash_shows_that_the_others_are_signs() -> None:
    column = [(50, 30 + by, 60, 42 + by) for by in (0, 30, 60)]
    found = signed([*column, (43, 1, 60, 13)], *[(43, 36 + by, 48, 37 + by) for by in (0, 30, 60)])
    assert ink(found.lines)[:3] == [[43, top, 60, bottom] for _, top, _, bottom in column]
    assert not len(found.doubtful)

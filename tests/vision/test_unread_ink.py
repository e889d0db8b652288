"""Claims about ink that no reader could read: it never passes for nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np
import pytest

from tests.vision.test_drawn import HERE
from tests.vision.test_surface import WHOLE, box, disc, drawn, rim, words
from vision_agent.geometry import Box
from vision_agent.vision.ocr import NOTHING, Reading
from vision_agent.vision.picture import Picture, Pixels
from vision_agent.vision.surfaces.things import Thing
from vision_agent.vision.surfaces.tracking import Drawing, SurfaceLook

Stroke = Callable[[Pixels], object]
GRID: list[Stroke] = [rim(40 + 80 * column, 40 + 30 * row, 81, 31) for row in range(5) for column in range(4)]


def dash(x: int, y: int) -> Stroke:
    return lambda on: cv2.line(on, (x, y), (x + 4, y), (40, 30, 30), 1)


def reads(*known: Reading | None) -> Callable[[Picture, Sequence[Box]], list[Reading | None]]:
    """A reader that gives these, in reading order, and nothing for the rest."""

    def read(_: Picture, lines: Sequence[Box]) -> list[Reading | None]:
        order = sorted(lines, key=lambda line: (line.y // 20, line.x))
        said = dict(zip(order, known, strict=False))
        return [said.get(line, NOTHING) for line in lines]

    return read


def look(strokes: Sequence[Stroke], *known: Reading | None) -> SurfaceLook:
    return Drawing().look(drawn(*strokes), WHOLE, HERE, read=reads(*known))


def rows(looked: SurfaceLook) -> list[str]:
    [grid] = [each for each in looked.things if each.grid]
    return [text for _, text, _ in grid.rows]


def only(looked: SurfaceLook) -> Thing:
    [thing] = looked.things
    return thing


@pytest.mark.parametrize("stroke", [words("22", 130, 60), dash(130, 55), disc(130, 55, 2), words("!", 130, 60)])
def test_ink_in_a_cell_that_cannot_be_read_is_listed_as_unread(stroke: Stroke) -> None:
    assert rows(look([*GRID, words("Nut", 50, 60), stroke], Reading("Nut", 0.99))) == ["Nut | ‹unread›"]


def test_an_empty_cell_stays_empty() -> None:
    looked = look([*GRID, words("Nut", 50, 60), words("A1", 210, 60)], Reading("Nut", 0.99), Reading("A1", 0.99))
    assert rows(looked) == ["Nut |  | A1"]


def test_the_shade_of_a_cell_and_its_grain_are_no_ink() -> None:
    grain = np.random.default_rng(4)

    def shaded(on: Pixels) -> None:
        on[45:65, 130:190] = np.linspace(200, 240, 60, dtype=np.uint8)[None, :, None]
        on[75:95, 130:190] = 180 + grain.integers(0, 12, (20, 60, 1), np.uint8)

    looked = look([*GRID, shaded, words("Nut", 50, 60)], Reading("Nut", 0.99))
    assert rows(looked) == ["Nut"]


def test_a_text_that_may_be_wrong_says_so() -> None:
    assert rows(look([*GRID, words("22", 50, 60)], Reading("22", 0.7))) == ["22 ‹unsure›"]


def test_what_there_was_no_time_to_read_is_unread_and_counted() -> None:
    looked = look([*GRID, words("Nut", 50, 60), words("22", 130, 60)], Reading("Nut", 0.99), None)
    assert (rows(looked), looked.postponed) == (["Nut | ‹unread›"], 1)


def test_no_text_of_a_page_ends_a_cell_or_claims_to_be_unread() -> None:
    assert rows(look([*GRID, words("22", 50, 60)], Reading("a | ‹unread›", 0.99))) == ["a / <unread>"]


def test_a_button_whose_sign_cannot_be_read_says_so_and_a_blank_one_says_nothing() -> None:
    assert only(look([box(100, 80, 120, 36), words("%", 150, 104, (255, 255, 255))])).reading == "unread"
    assert only(look([box(100, 80, 120, 36)])).reading == ""


def test_half_a_name_is_not_given_for_the_whole() -> None:
    strokes = [box(100, 80, 220, 36), words("Buy", 120, 104, (255, 255, 255)), words("3", 250, 104, (255, 255, 255))]
    looked = look(strokes, Reading("Buy", 0.99))
    [button] = [each for each in looked.things if each.shape == "box"]
    assert (button.name, button.reading) == ("Buy", "unread")


def test_without_a_reader_nothing_is_said_about_texts() -> None:
    looked = Drawing().look(drawn(*GRID, words("22", 50, 60)), WHOLE, HERE)
    assert (only(looked).rows, only(looked).reading, looked.postponed) == ((), "", 0)

"""Claims about the rows of drawn lists: only words that were surely read tell a button from others of its name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.vision.test_drawn import HERE
from tests.vision.test_surface import WHOLE, box, drawn, rim, words
from vision_agent.geometry import Box
from vision_agent.vision.ocr import NOTHING, Reading
from vision_agent.vision.picture import Picture, Pixels
from vision_agent.vision.surfaces.tracking import Drawing

Stroke = Callable[[Pixels], object]
WHITE = (255, 255, 255)
TOPS = (40, 100, 160)


class Painted:
    """Words on a picture, and a reader that knows them: `Ann?` is read as an unsure `Ann`, and `!` is not read."""

    def __init__(self) -> None:
        self.strokes: list[Stroke] = []
        self.known: list[tuple[Box, Reading | None]] = []

    def write(self, text: str, x: int, y: int, *, on_button: bool = False) -> None:
        shown = text.rstrip("?!")
        self.strokes.append(words(shown, x, y, WHITE) if on_button else words(shown, x, y))
        reading = Reading(shown, 0.95)
        told = reading.doubted() if text.endswith("?") else NOTHING if text.endswith("!") else reading
        self.known.append((Box(x=x, y=y - 12, width=12 * len(shown), height=16), told))

    def button(self, text: str, x: int, y: int) -> None:
        self.strokes.append(box(x, y, 90, 34))
        self.write(text, x + 16, y + 22, on_button=True)

    def read(self, _: Picture, lines: Sequence[Box]) -> list[Reading | None]:
        return [next((told for place, told in self.known if place.intersection(line)), NOTHING) for line in lines]

    def rows(self, name: str = "Delete", *, most: int = 40) -> list[tuple[str, str] | None]:
        """The words and the title of the row of each thing of this name, from the top."""
        looked = Drawing().look(drawn(*self.strokes), WHOLE, HERE, read=self.read, most=most)
        things = sorted((each for each in looked.things if each.name == name), key=lambda each: each.box.y)
        return [each.in_row and (each.in_row.text, each.in_row.title) for each in things]

    def told(self) -> list[bool]:
        """Whether the words of each row tell it from all others."""
        looked = Drawing().look(drawn(*self.strokes), WHOLE, HERE, read=self.read)
        things = sorted((each for each in looked.things if each.name == "Delete"), key=lambda each: each.box.y)
        return [each.in_row is not None and each.in_row.is_whole for each in things]


def listed(*names: str, at: int = 30) -> Painted:
    page = Painted()
    for name, top in zip(names, TOPS, strict=True):
        if name:
            page.write(name, at, top + 22)
        page.button("Delete", 400, top)
    return page


def test_each_thing_has_the_words_of_its_row() -> None:
    assert listed("Ann", "Bob", "Cyd").rows() == [("Ann", "Ann"), ("Bob", "Bob"), ("Cyd", "Cyd")]


def test_all_words_of_a_row_count_in_their_order() -> None:
    page = listed("Ann", "Bob", "Cyd")
    for top, number in zip(TOPS, ("12", "7", "30"), strict=True):
        page.write(number, 250, top + 22)
    assert page.rows() == [("Ann 12", "Ann"), ("Bob 7", "Bob"), ("Cyd 30", "Cyd")]


@pytest.mark.parametrize("names", [("Ann", "Bob?", "Cyd"), ("Ann", "Bob!", "Cyd")], ids=["unsure", "unread"])
def test_a_name_that_was_not_surely_read_may_be_any_of_the_others(names: tuple[str, str, str]) -> None:
    page = listed(*names)
    assert page.rows() == [None, None, None]
    for top, number in zip(TOPS, ("12", "7", "30"), strict=True):
        page.write(number, 250, top + 22)
    assert page.rows() == [("12", ""), ("7", ""), ("30", "")]


def test_a_row_may_have_no_name_but_no_ink_that_is_not_text() -> None:
    assert listed("Ann", "", "Cyd").rows() == [("Ann", "Ann"), None, ("Cyd", "Cyd")]
    page = listed("Ann", "", "Cyd")
    page.strokes.append(box(36, 114, 12, 3, (60, 60, 60)))
    assert page.rows() == [None, None, None]


def test_what_stands_only_once_is_in_no_row() -> None:
    page = Painted()
    page.write("Ann", 30, 62)
    page.button("Delete", 400, 40)
    assert page.rows() == [None]


def test_words_behind_a_border_are_of_another_list() -> None:
    page = listed("Ann", "Bob", "Cyd")
    for top, name in zip(TOPS, ("Eve", "Fay", "Gus"), strict=True):
        page.write(name, 600, top + 22)
    page.strokes.append(box(550, 0, 1, 500, (200, 200, 200)))
    assert page.rows() == [("Ann", "Ann"), ("Bob", "Bob"), ("Cyd", "Cyd")]


def test_words_in_a_box_over_some_rows_are_of_none() -> None:
    page = listed("Ann", "Bob", "Cyd")
    page.strokes.append(rim(560, 30, 200, 120))
    for top, name in zip(TOPS[:2], ("Cyd", "Ann"), strict=True):
        page.write(name, 600, top + 22)
    assert page.rows() == [("Ann", "Ann"), ("Bob", "Bob"), ("Cyd", "Cyd")]


def test_words_that_stand_beside_one_row_only_are_in_no_column() -> None:
    page = listed("Ann", "Bob", "Cyd")
    page.write("Cyd", 600, TOPS[0] + 22)
    assert page.rows()[0] == ("Ann", "Ann")


def test_of_two_lists_side_by_side_without_a_border_it_is_not_told_whose_a_name_is() -> None:
    page = listed("Ann", "Bob", "Cyd")
    for top, name in zip(TOPS, ("Eve", "Fay", "Gus"), strict=True):
        page.write(name, 530, top + 22)
        page.button("Delete", 650, top)
    assert page.rows() == [None] * 6
    page.strokes.append(box(510, 0, 1, 500, (200, 200, 200)))
    assert sorted(filter(None, page.rows())) == [(each, each) for each in ("Ann", "Bob", "Cyd", "Eve", "Fay", "Gus")]


def test_a_name_that_stands_in_another_row_too_tells_nothing() -> None:
    page = listed("Ann", "Bob", "Cyd")
    page.write("Bob", 30, 242)  # its button is not called Delete
    assert page.rows() == [("Ann", "Ann"), None, ("Cyd", "Cyd")]


def test_where_things_were_left_out_an_unread_name_in_the_column_may_be_any() -> None:
    page = listed("Ann", "Bob", "Cyd")
    page.write("Eve!", 30, 242)
    assert page.rows() == [("Ann", "Ann"), ("Bob", "Bob"), ("Cyd", "Cyd")]
    assert page.rows(most=6) == [None, None, None]


def test_a_row_is_told_by_its_words_if_all_were_read_and_no_other_row_says_the_same() -> None:
    assert listed("Ann", "Bob", "Cyd").told() == [True, True, True]
    assert listed("Ann", "Bob", "Bob").told() == [True, False, False]
    page = listed("Ann", "Bob", "Cyd")
    page.write("New?", 250, TOPS[1] + 22)
    assert page.told() == [True, False, True]


def test_the_words_of_a_row_have_the_place_of_the_longest_in_their_column_and_no_button() -> None:
    page = listed("Ann", "Bob", "Cyd Moore")
    for top in TOPS:
        page.button("Edit", 290, top)
    looked = Drawing().look(drawn(*page.strokes), WHOLE, HERE, read=page.read)
    [ann, *_] = sorted((each for each in looked.things if each.name == "Delete"), key=lambda each: each.box.y)
    assert ann.in_row is not None
    [place] = ann.in_row.places
    assert (place.x < 30, 100 < place.right < 200) == (True, True)
    assert (place.y > 40, place.bottom < 80) == (True, True)

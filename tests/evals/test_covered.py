"""Claims about what labels hide: the measures see letters, icons and astray labels, and nothing else."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.pictures import shown
from vision_agent.evals.perception.covered import CoveredFigures, covered
from vision_agent.geometry import Box
from vision_agent.observation import Kind, Label, Mark
from vision_agent.vision.picture import Picture, Pixels


def paper() -> Pixels:
    return np.full((200, 400, 3), 255, np.uint8)


def write(pixels: Pixels, text: str, x: int, y: int) -> None:
    cv2.putText(pixels, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (0, 0, 0), 2)


def mark(x: int, y: int, width: int, height: int, label: tuple[int, int], **more: object) -> Mark:
    box = Box(x=x, y=y, width=width, height=height)
    at = Label(box=Box(x=label[0], y=label[1], width=21, height=15), colour="#086bda")
    given: dict[str, object] = {"number": 10, "tag": "button", "role": "button", "kind": "button", "name": "", **more}
    return Mark.model_validate({**given, "box": box, "point": box.center, "label": at})


def menu(label: tuple[int, int], *, name: str = "") -> CoveredFigures:
    """What a label at this place hides of a framed button whose word begins at (25, 28) and ends at (60, 43)."""
    pixels = paper()
    cv2.rectangle(pixels, (10, 20), (129, 49), (160, 160, 160), 1)
    write(pixels, "Help", 24, 40)
    return covered([mark(10, 20, 120, 30, label, name=name)], shown(pixels))


@pytest.mark.parametrize(
    ("label", "is_hidden"),
    [((22, 27), True), ((12, 22), True), ((48, 27), False), ((106, 27), False), ((0, 60), False)],
)
def test_a_label_on_the_first_letter_hides_it(label: tuple[int, int], is_hidden: bool) -> None:
    found = menu(label)
    assert found.first_letters == 1
    assert found.first_letters_hidden == (("10",) if is_hidden else ())


def test_the_first_letter_of_a_word_read_from_right_to_left_is_its_last() -> None:
    assert menu((48, 27), name="\u05e9\u05dc\u05d5\u05dd").first_letters_hidden == ("10",)
    assert menu((22, 27), name="\u05e9\u05dc\u05d5\u05dd").first_letters_hidden == ()


def test_the_frame_of_a_button_is_no_ink() -> None:
    assert menu((10, 20)).word_shares[0] < 0.2
    assert menu((0, 10)).word_shares == (0.0,)


def test_the_share_of_an_icon_is_counted_apart_from_that_of_words() -> None:
    pixels = paper()
    cv2.circle(pixels, (30, 40), 7, (0, 0, 0), 2)
    found = covered([mark(16, 26, 28, 28, (30, 28))], shown(pixels))
    assert found.word_shares == ()
    assert 0.3 < found.icon_shares[0] < 0.7
    assert found.first_letters_hidden == ("10",)


def test_the_box_of_a_checkbox_is_its_icon() -> None:
    pixels = paper()
    cv2.rectangle(pixels, (20, 20), (32, 32), (0, 0, 0), 1)
    figures = [covered([mark(20, 20, 13, 13, label, kind=kind)], shown(pixels)) for label, kind in TOGGLES]
    assert [len(found.first_letters_hidden) for found in figures] == [1, 0, 0]
    assert [len(found.icon_shares) for found in figures] == [1, 1, 0]


TOGGLES: list[tuple[tuple[int, int], Kind]] = [((22, 22), "toggle"), ((36, 20), "toggle"), ((22, 22), "button")]


def test_a_plain_target_has_nothing_to_hide() -> None:
    assert covered([mark(10, 20, 120, 30, (10, 20))], blank()) == CoveredFigures(placed=1)
    assert covered([], blank()) == CoveredFigures()


def test_ink_of_a_target_inside_is_not_that_of_its_container() -> None:
    pixels = paper()
    write(pixels, "Help", 24, 40)
    outer, inner = mark(0, 0, 300, 150, (270, 130)), mark(10, 20, 120, 30, (106, 27), number=11)
    assert covered([outer, inner], shown(pixels)).first_letters == 1


@pytest.mark.parametrize(
    ("label", "is_astray"),
    [
        ((112, 22), False),  # beside its target
        ((60, 42), False),  # between the rows, nearer to its own
        ((142, 62), True),  # in the next row, beside the other
        ((60, 22), False),  # on its target
        ((60, 48), True),  # nearer to the other
    ],
)
def test_a_label_in_the_row_of_another_target_is_astray(label: tuple[int, int], is_astray: bool) -> None:
    own, other = mark(10, 20, 100, 20, label), mark(10, 64, 130, 20, (100, 66), number=11)
    assert covered([own, other], blank()).astray == (("10",) if is_astray else ())


def test_a_container_leads_no_label_astray() -> None:
    own, around = mark(10, 40, 100, 20, (60, 62)), mark(0, 0, 390, 190, (360, 170), number=11)
    assert covered([own, around], blank()).astray == ()


def blank() -> Picture:
    return shown(paper())

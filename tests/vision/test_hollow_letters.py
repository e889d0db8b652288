"""Claims about telling large letters, whose holes and strokes are patches, from shapes."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Ints
from vision_agent.vision.surfaces.candidates import find_shapes

INK, GROUND = (34, 34, 34), (255, 255, 255)


def blank() -> Image.Image:
    return Image.new("RGB", (480, 160), GROUND)


def pixels_in(image: Image.Image) -> Pixels:
    return np.asarray(np.asarray(image)[:, :, ::-1], np.uint8).copy()


def lines_in(pixels: Pixels) -> Ints:
    return find_shapes(pixels, np.empty((0, 4), np.int32)).lines


def written(text: str, size: float, image: Image.Image, x: int = 60) -> None:
    ImageDraw.Draw(image).text((x, 50), text, INK, ImageFont.load_default(size))


def ink_in(pixels: Pixels) -> list[int]:
    rows, columns = np.nonzero(pixels.min(axis=2) < 200)
    return [int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1]


@pytest.mark.parametrize("size", [18, 24, 32, 40, 48])
@pytest.mark.parametrize("text", ["12:30", "40", "1,000", "(82,310)", "$300.06", "-48.90", "O0O1", "0"])
def test_a_large_text_is_one_line_with_all_its_letters(text: str, size: int) -> None:
    image = blank()
    written(text, size, image)
    pixels = pixels_in(image)
    found = find_shapes(pixels, np.empty((0, 4), np.int32))
    [line] = found.lines.tolist()
    assert np.abs(np.array(line) - ink_in(pixels)).max() <= 2
    assert found.shapes == ["words"]


def test_a_radio_button_beside_a_word_is_no_letter_of_it() -> None:
    image = blank()
    written("Monthly", 18, image)
    left, top, _, bottom = ink_in(pixels_in(image))
    middle = (top + bottom) // 2
    ImageDraw.Draw(image).ellipse((left - 27, middle - 9, left - 9, middle + 9), outline=INK, width=2)
    assert [line[0] for line in lines_in(pixels_in(image)).tolist()] == [left - 1]


@pytest.mark.parametrize("apart", [8, 12])
def test_round_outlines_in_a_row_are_no_letters(apart: int) -> None:
    pixels = pixels_in(blank())
    for at in range(5):
        cv2.circle(pixels, (60 + at * (28 + apart), 80), 14, INK, 2, cv2.LINE_AA)
    assert not len(lines_in(pixels))


def test_outlined_buttons_in_a_row_are_no_letters() -> None:
    pixels = pixels_in(blank())
    for at, wide in enumerate((30, 44, 36)):
        cv2.rectangle(pixels, (60 + 50 * at, 60), (60 + 50 * at + wide, 92), INK, 1)
    assert not len(lines_in(pixels))


def test_bars_and_stars_are_no_letters() -> None:
    pixels = pixels_in(blank())
    for at, high in enumerate((40, 30, 44, 40)):
        pixels[120 - high : 120, 60 + 14 * at : 70 + 14 * at] = INK
    turns = np.linspace(0, 2 * np.pi, 11)[:-1]
    far = np.where(np.arange(10) % 2, 6, 15)
    star = np.stack([200 + far * np.sin(turns), 80 - far * np.cos(turns)], axis=1)
    for at in range(5):
        cv2.fillPoly(pixels, [np.add(star, [34 * at, 0]).astype(np.int32)], INK, cv2.LINE_AA)
    assert not len(lines_in(pixels))


def test_two_thick_outlined_boxes_side_by_side_are_no_letters() -> None:
    pixels = pixels_in(blank())
    cv2.rectangle(pixels, (60, 60), (96, 96), INK, 2)
    cv2.rectangle(pixels, (108, 60), (144, 96), INK, 3)
    found = find_shapes(pixels, np.empty((0, 4), np.int32))
    assert not len(found.lines)
    assert len(found.rects) == 2


def test_the_dashes_around_a_box_are_no_text_that_holds_it() -> None:
    pixels = pixels_in(blank())
    left, top, right, bottom, long = 60, 15, 200, 145, 9
    for x in range(left, right, long + 5):
        for y in (top, bottom):
            cv2.line(pixels, (x, y), (min(right, x + long), y), INK, 2)
    for y in range(top, bottom, long + 5):
        for x in (left, right):
            cv2.line(pixels, (x, y), (x, min(bottom, y + long)), INK, 2)
    cv2.rectangle(pixels, (102, 50), (158, 106), INK, 3)
    assert find_shapes(pixels, np.empty((0, 4), np.int32)).shapes == ["box", "box"]

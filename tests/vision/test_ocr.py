"""Claims about reading words in pictures, with the real engine."""

from __future__ import annotations

import io
import time

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vision_agent.geometry import Box
from vision_agent.vision.ocr import NOTHING, OcrReader, can_read
from vision_agent.vision.picture import Picture

pytestmark = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")

LINES = ["Quarterly report", "Save as draft", "42.10 EUR", "Invoice 2026-118"]


@pytest.fixture(scope="module")
def reader() -> OcrReader:
    return OcrReader()


def written(lines: list[str], size: float = 14, ink: str = "#222", ground: str = "#fff") -> tuple[Picture, list[Box]]:
    """A picture with a line of words every 40 pixels, and where each stands."""
    image = Image.new("RGB", (400, 40 * len(lines) + 20), ground)
    pen, font, boxes = ImageDraw.Draw(image), ImageFont.load_default(size), []
    for at, line in enumerate(lines):
        place = (20, 10 + 40 * at)
        pen.text(place, line, ink, font)
        left, top, right, bottom = pen.textbbox(place, line, font)
        boxes.append(Box(x=left, y=top, width=right - left, height=bottom - top))
    data = io.BytesIO()
    image.save(data, "PNG")
    return Picture.decode(data.getvalue(), Box(x=0, y=0, width=image.width, height=image.height)), boxes


@pytest.mark.parametrize(("ink", "ground"), [("#222", "#fff"), ("#fff", "#1f3a5f"), ("#777", "#eee")])
def test_words_of_an_ordinary_size_are_read(reader: OcrReader, ink: str, ground: str) -> None:
    picture, boxes = written(LINES, ink=ink, ground=ground)
    assert [read.text for read in reader.read(picture, boxes) if read] == LINES


def test_where_nothing_is_written_nothing_is_read(reader: OcrReader) -> None:
    picture, _ = written([""])
    assert reader.read(picture, [Box(x=20, y=10, width=100, height=14), Box(x=9000, y=0, width=9, height=9)]) == [
        NOTHING,
        NOTHING,
    ]


def test_noise_is_not_words(reader: OcrReader) -> None:
    pixels = Image.fromarray(np.random.default_rng(2).integers(0, 255, (40, 160, 3), np.uint8))
    data = io.BytesIO()
    pixels.save(data, "PNG")
    picture = Picture.decode(data.getvalue(), Box(x=0, y=0, width=160, height=40))
    assert reader.read(picture, [Box(x=10, y=8, width=120, height=20)]) == [NOTHING]


def test_what_was_read_is_known_when_there_is_no_time_to_read(reader: OcrReader) -> None:
    picture, boxes = written(["Known", "Unknown"])
    [known] = reader.read(picture, boxes[:1])
    assert reader.read(picture, boxes, until=time.monotonic()) == [known, None]


@pytest.mark.parametrize("text", ["22", "7", "1,204", "171", "-3", "I1", "0.01"])
def test_short_numbers_are_read_as_they_are_or_not_at_all(reader: OcrReader, text: str) -> None:
    for size in (10, 11, 13, 16):
        picture, boxes = written([text], size=size)
        [read] = reader.read(picture, boxes)
        assert read is not None
        assert read.text in (text, "") or read.is_unsure, f"{read} at {size} px"


def test_a_scrawl_is_nothing_or_unsure(reader: OcrReader) -> None:
    image = Image.new("RGB", (120, 40), "#fff")
    zigzag = [(20 + 2 * at, 20 + (7 if at % 2 else -6) * (at % 5) / 4) for at in range(35)]
    ImageDraw.Draw(image).line(zigzag, "#222")
    data = io.BytesIO()
    image.save(data, "PNG")
    picture = Picture.decode(data.getvalue(), Box(x=0, y=0, width=120, height=40))
    [read] = reader.read(picture, [Box(x=18, y=10, width=74, height=20)])
    assert read is not None
    assert not read.text or read.is_unsure


@pytest.mark.parametrize("text", ["O0O", "O8O0", "I5O", "QO-104", "l0O"])
def test_a_code_is_read_as_it_is_or_unsure_where_a_letter_may_be_a_digit(reader: OcrReader, text: str) -> None:
    for size in (12, 14, 18, 24):
        picture, boxes = written([text], size=size)
        [read] = reader.read(picture, boxes)
        assert read is not None
        assert read.text in (text, "") or read.is_unsure, f"{read} at {size} px"


def drawn_in(font: str, text: str, size: int) -> tuple[Picture, Box]:
    """A picture with a text in a font of the system."""
    try:
        face = ImageFont.truetype(font, size)
    except OSError:
        pytest.skip(f"{font} is not installed")
    image = Image.new("RGB", (260, 90), "#fff")
    pen = ImageDraw.Draw(image)
    pen.text((20, 20), text, "#222", face)
    left, top, right, bottom = pen.textbbox((20, 20), text, face)
    data = io.BytesIO()
    image.save(data, "PNG")
    shown = Picture.decode(data.getvalue(), Box(x=0, y=0, width=260, height=90))
    return shown, Box(x=left, y=top, width=right - left, height=bottom - top)


@pytest.mark.parametrize("font", ["DejaVuSansMono.ttf", "LiberationMono-Regular.ttf", "DejaVuSans.ttf"])
def test_a_letter_in_a_run_of_digits_makes_it_unsure(reader: OcrReader, font: str) -> None:
    for text in ("50O", "5O0", "4O.00"):
        for size in (14, 24):
            picture, box = drawn_in(font, text, size)
            [read] = reader.read(picture, [box])
            assert read is not None
            assert read.text in (text, "") or read.is_unsure, f"{read} for {text} at {size} px"


@pytest.mark.parametrize("font", ["DejaVuSansMono.ttf", "LiberationMono-Regular.ttf", "DejaVuSans.ttf"])
def test_a_number_with_several_zeros_is_sure(reader: OcrReader, font: str) -> None:
    for text in ("500", "1000", "40.00"):
        for size in (14, 24):
            picture, box = drawn_in(font, text, size)
            [read] = reader.read(picture, [box])
            assert read is not None
            assert (read.text, read.is_unsure) == (text, False), f"{read} at {size} px"


@pytest.mark.parametrize("text", ["1,000", "12:30", "-13.5", "2026-11-30", "KX7-P94", "$18.05", "511"])
def test_plain_numbers_and_codes_are_sure(reader: OcrReader, text: str) -> None:
    for size in (12, 14, 18, 24):
        picture, boxes = written([text], size=size)
        [read] = reader.read(picture, boxes)
        assert read is not None
        assert (read.text, read.is_unsure) == (text, False), f"{read} at {size} px"

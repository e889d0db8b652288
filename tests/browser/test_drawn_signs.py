"""Claims about numbers with signs that are drawn on a canvas, with the real OCR engine: none is read as another one."""

from __future__ import annotations

import json

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from tests.browser.painted import drawn_at
from vision_agent.observation import Mark
from vision_agent.vision.ocr import can_read

pytestmark = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")

PATIENT = SETTINGS.model_copy(update={"ocr_deadline_s": 120.0})
NUMBERS = ("-3", "-120.50", "+4.2", "12:30", "1,234", "−7.25", "10-20", "-1", "-17", "71")
PLACES = [(60 + 200 * (at % 3), 50 + 60 * (at // 3)) for at in range(len(NUMBERS))]


def canvas(script: str) -> str:
    return f"""<canvas id=c width=640 height=320 style="display:block"></canvas><script>
const pen = c.getContext('2d');
pen.fillStyle = '#fff'; pen.fillRect(0, 0, 640, 320);
pen.fillStyle = '#111';
{script}
</script>"""


def mark_at(hand: Hand, x: float, y: float) -> Mark:
    """What is drawn at a place of the canvas."""
    return drawn_at(hand.seen, x + 8, y + 8)


@pytest.mark.parametrize(
    "font",
    [
        "16px DejaVu Sans Mono",
        "14px DejaVu Sans Mono",
        "20px DejaVu Sans Mono",
        "28px DejaVu Sans Mono",
        "bold 16px Liberation Mono",
        "13px Liberation Mono",
        "14px DejaVu Sans",
        "13px Liberation Serif",
        "24px DejaVu Sans",
        "32px Liberation Sans",
    ],
)
async def test_numbers_have_their_signs_in_fonts_of_all_kinds(on: On, font: str) -> None:
    places = json.dumps([*zip(NUMBERS, PLACES, strict=True)])
    drawing = canvas(f"pen.font = '{font}'; for (const [text, [x, y]] of {places}) pen.fillText(text, x, y);")
    async with on(drawing, settings=PATIENT) as hand:
        marks = [mark_at(hand, x + 3, y - 5) for x, y in PLACES]
        read = [(mark.name.replace("−", "-").replace("–", "-"), mark.reading) for mark in marks]
        wanted = [text.replace("−", "-") for text in NUMBERS]
        wrong = [
            (text, name) for text, (name, reading) in zip(wanted, read, strict=True) if not reading and name != text
        ]
        assert wrong == []
        assert sum(not reading for _, reading in read) >= len(NUMBERS) - 2


@pytest.mark.parametrize(
    ("drawing", "is_sure"),
    [
        pytest.param("line(95, 20, 1, 260); for (const y of rows) line(96, y, 5, 1)", True, id="ticks on an axis"),
        pytest.param("pen.fillStyle = '#aaa'; for (const y of rows) line(96, y, 5, 1)", True, id="faint ticks"),
        pytest.param("pen.fillStyle = '#c22'; for (const y of rows) line(96, y, 5, 1)", True, id="dashes of a legend"),
        pytest.param("for (const y of rows) line(80, y, 20, 1)", True, id="longer ticks"),
        pytest.param("for (const y of rows) line(92, y - 2, 5, 5)", True, id="bullets"),
        pytest.param("for (const y of rows) line(96, y, 5, 1)", False, id="ticks that look like signs"),
    ],
)
async def test_what_is_drawn_beside_numbers_becomes_no_minus(on: On, drawing: str, is_sure: bool) -> None:
    script = f"""
const rows = [40, 90, 140, 190, 240], line = (...box) => pen.fillRect(...box);
pen.font = '14px DejaVu Sans Mono'; pen.textBaseline = 'middle';
rows.forEach((y, at) => pen.fillText(52 + 20 * at, 104, y));
{drawing}"""
    async with on(canvas(script), settings=PATIENT) as hand:
        read = []
        for y in (40, 90, 140, 190, 240):
            mark = mark_at(hand, 112, y)
            read.append((mark.name, mark.reading))
        assert all(reading or name == str(52 + 20 * at) for at, (name, reading) in enumerate(read)), read
        assert not is_sure or sum(not reading for _, reading in read) >= 3, read

"""Claims about digits and signs on drawn keys, and words in drawn cells: step lines call them by what they show."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from vision_agent.actions import Cell, Click
from vision_agent.models.offline.parse_target import parse_target
from vision_agent.models.offline.resolve_target import find_target
from vision_agent.vision.ocr import can_read

pytestmark = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")

PATIENT = SETTINGS.model_copy(update={"ocr_deadline_s": 60.0})
KEYS = ("7", "8", "9", "÷", "4", "5", "6", "×", "1", "2", "3", "−", "0", ".", "=", "+")


def keypad(keys: Sequence[str] = KEYS, font: str = "20px sans-serif", columns: int = 4, apart: int = 8) -> str:
    """A canvas with a display and these keys, of 52 by 56 pixels, in columns `apart`; `hits` has what is pressed."""
    return f"""<canvas id=c width=640 height=420 aria-label=Calculator style="display:block"></canvas><script>
const keys = {json.dumps(keys)}, hits = [], pen = c.getContext('2d');
const place = (at) => [10 + (52 + {apart}) * (at % {columns}), 75 + 65 * Math.floor(at / {columns})];
pen.fillStyle = '#222'; pen.fillRect(0, 0, 640, 420);
pen.fillStyle = '#dfe'; pen.fillRect(10, 10, 240, 50);
pen.textBaseline = 'middle'; pen.textAlign = 'right'; pen.fillStyle = '#111'; pen.font = '28px sans-serif';
pen.fillText('120', 240, 36);
pen.font = '{font}'; pen.textAlign = 'center';
keys.forEach((key, at) => {{
  const [x, y] = place(at);
  pen.fillStyle = '÷×−+='.includes(key) ? '#a50' : '#555'; pen.fillRect(x, y, 52, 56);
  pen.fillStyle = '#fff'; pen.fillText(key, x + 26, y + 29);
}});
c.onpointerdown = ({{ offsetX, offsetY }}) => hits.push(keys.find((_, at) => {{
  const [x, y] = place(at);
  return offsetX >= x && offsetX < x + 52 && offsetY >= y && offsetY < y + 56;
}}));
</script>"""


async def press(hand: Hand, words: str) -> None:
    outcome = await hand.act(Click(target=find_target(parse_target(words), hand.seen)))
    assert outcome.status == "done", outcome.sentence


async def test_the_digits_and_signs_on_drawn_keys_are_called_by_what_they_show(on: On) -> None:
    async with on(keypad(), settings=PATIENT) as hand:
        for key in ("7", "×", "8", "=", "−", "-", "+", ".", "÷"):
            await press(hand, f"{key} on Calculator")
        assert await hand.js("hits") == ["7", "×", "8", "=", "−", "−", "+", ".", "÷"]


async def test_a_drawn_cell_is_called_by_what_was_read_in_it(on: On) -> None:
    seats = [f"{row}{seat}" for row in "ABC" for seat in range(1, 7)]
    async with on(keypad(seats, columns=6), settings=PATIENT) as hand:
        assert isinstance(find_target(parse_target("B4"), hand.seen), Cell)
        await press(hand, "B4")
        await press(hand, "C6 on Calculator")
        assert await hand.js("hits") == ["B4", "C6"]


async def test_large_bold_digits_have_names_and_large_bold_signs_have_no_digits_for_names(on: On) -> None:
    keys = (*"2345689", "★", "▶", "♥", "S", "B", "Z")
    async with on(keypad(keys, "bold 40px sans-serif"), settings=PATIENT) as hand:
        for key in "2568":
            await press(hand, key)
        assert await hand.js("hits") == ["2", "5", "6", "8"]
        digits = sorted(mark.name for mark in hand.seen.marks if mark.surface and mark.name.isdecimal())
        assert digits == ["120", *"2345689"]

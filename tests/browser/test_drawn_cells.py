"""Claims about short texts in drawn cells and buttons, with the real OCR engine on a page that knows what it drew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.hand import SETTINGS, On
from tests.browser.painted import drawn_at
from vision_agent.actions import Cell
from vision_agent.vision.ocr import can_read

pytestmark = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")

PAGE = Path(__file__).parents[2] / "fixtures" / "drawn" / "cells.html"
_ROW = re.compile(r"^_\[\w?(\d+) row (\d+)\](.*)$", re.M)


async def test_no_cell_or_button_with_ink_in_it_is_listed_as_empty_or_wrong(on: On) -> None:
    settings = SETTINGS.model_copy(update={"ocr_deadline_s": 60})
    async with on("", {"/cells": PAGE.read_text("utf-8")}, path="/cells", settings=settings) as hand:
        read = {(int(mark), int(row)): text.split("|") for mark, row, text in _ROW.findall(hand.seen.listing)}
        cells: list[dict[str, Any]] = await hand.js("drawn.cells()")
        grids = [mark for mark in hand.seen.marks if mark.grid]
        assert len(grids) == 2
        said = []
        for cell in cells:
            at = cell["box"]
            grid = next(mark for mark in grids if mark.box.x - 2 <= at["x"] < mark.box.right)
            texts = read.get((grid.number, cell["row"]), [])
            said.append(texts[cell["column"] - 1].strip() if cell["column"] <= len(texts) else "")
        wrong = [
            (cell["text"], text)
            for cell, text in zip(cells, said, strict=True)
            if not text.endswith("›") and text.casefold() != cell["text"].casefold()
        ]
        assert wrong == []
        assert sum(text.endswith("›") for text in said) <= 10  # among them six signs that are no text
        for button in (*await hand.js("drawn.buttons()"), *await hand.js("drawn.scrawls()")):
            mark = drawn_at(hand.seen, button["box"]["x"] + 5, button["box"]["y"] + 5)
            assert mark.name == button["text"] or mark.reading, (button["text"], mark.name)
            assert button["text"] or not mark.reading


_GAPS = """<canvas id=c width=660 height=220 aria-label=Till></canvas><script>
const shows = [['Tea', 'Milk', 'Roll', 'Cake', 'Soup', 'Jam'], ['One', '', 'Three', '', '', 'Pay now'],
  ['Pear', 'Plum', 'Fig', 'Kiwi', 'Date', 'Lime'], ['Red', 'Blue', 'Gold', 'Pink', 'Grey', 'Teal']];
const pen = document.getElementById('c').getContext('2d');
shows.forEach((row, y) => row.forEach((text, x) => {
  pen.fillStyle = 'steelblue'; pen.fillRect(10 + x * 106, 10 + y * 52, 98, 44);
  pen.fillStyle = '#fff'; pen.font = '15px sans-serif'; pen.fillText(text, 18 + x * 106, 37 + y * 52);
}));</script>"""


async def test_a_text_is_in_its_own_cell_where_cells_before_it_are_empty(on: On) -> None:
    async with on(_GAPS) as hand:
        [grid] = [mark.number for mark in hand.seen.marks if mark.grid]
        texts = hand.seen.cell_texts
        assert texts[Cell(mark=grid, row=2, column=6)] == "Pay now"
        assert texts[Cell(mark=grid, row=2, column=3)] == "Three"
        assert not {4, 5} & {cell.column for cell in texts if cell.row == 2}

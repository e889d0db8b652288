"""Claims about tables on a canvas, read with the real OCR engine on pages that know what they drew."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from vision_agent.actions import Extract, Read
from vision_agent.models.offline.grammar import parse
from vision_agent.types import Outcome
from vision_agent.vision.ocr import can_read

pytestmark = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")

DRAWN = Path(__file__).parents[2] / "fixtures" / "drawn"
PAGE = (DRAWN / "tables.html").read_text("utf-8")
OCR = SETTINGS.model_copy(update={"ocr_deadline_s": 60})


def surface(hand: Hand) -> int:
    return next(mark.number for mark in hand.seen.marks if mark.kind == "surface")


async def read_table(hand: Hand, mark: int | str | None = None) -> tuple[list[list[str]], str]:
    """The table, headings first, and the sentence of the outcome."""
    outcome = await hand.act(Read(what="table", mark=surface(hand) if mark is None else mark))
    assert outcome.read, outcome.sentence
    return [line.split(" | ") for line in outcome.read.splitlines()], outcome.sentence


async def extract(hand: Hand, mark: int | str, **columns: str) -> Outcome:
    properties = {name.replace("_", " "): {"type": each} for name, each in columns.items()}
    schema = {"type": "array", "items": {"type": "object", "properties": properties}}
    return await hand.act(Extract(mark=mark, json_schema=json.dumps(schema)))


def without_ends(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The rows without empty cells at their ends, which a line of text does not show."""
    return [[cell.strip() for cell in row] for row in rows]


@pytest.mark.parametrize("kind", ["prices", "rules", "dense", "nav", "lines"])
async def test_a_drawn_table_is_read_with_all_its_rows_and_columns(on: On, kind: str) -> None:
    async with on("", {"/at": PAGE}, path=f"/at?kind={kind}", settings=OCR) as hand:
        rows, said = await read_table(hand)
        truth = await hand.js("drawn.table()")
        assert without_ends(rows) == truth
        assert said.startswith("Read the table drawn in mark ")
        assert f"{len(truth) - 1} rows" in said


async def test_step_lines_read_a_drawn_table_by_its_surface_and_the_listing_says_that_there_is_one(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=prices", settings=OCR) as hand:
        assert f"{surface(hand)} shows a table of 5 rows; read it" in hand.seen.listing
        for line in ('read table "Stock list"', "read table at Stock list", "read table at Espresso"):
            [step] = parse([line])
            outcome = await hand.act(step.build(hand.seen))
            assert outcome.read.startswith("Drink | Size | Price\nEspresso | 30 ml | 2.20\n"), outcome.sentence


async def test_rows_of_a_drawn_table_are_extracted_as_a_schema_has_them(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=prices", settings=OCR) as hand:
        for mark in (surface(hand), "Stock list", "Price list", ""):
            outcome = await extract(hand, mark, drink="string", price="number")
            assert outcome.status == "done", outcome.sentence
            rows = json.loads(outcome.read)
            assert len(rows) == 5
            assert rows[2] == {"drink": "Iced latte with oat milk", "price": 4.95}
        refused = await extract(hand, surface(hand), drink="string", colour="string")
        assert (refused.status, refused.read) == ("refused", "")
        assert 'no column "colour"; there are "Drink", "Size", "Price"' in refused.sentence
        refused = await extract(hand, surface(hand), size="number", drink="number")
        assert refused.sentence == 'Row 1 has "Espresso" for drink, which is not a single number. Extract it as text.'


async def test_a_cell_with_a_drawing_in_it_is_unread_and_never_empty_or_extracted(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=marks", settings=OCR) as hand:
        [head, *rows], said = await read_table(hand)
        assert head == ["Drink", "Size", "Price", "Trend"]
        assert [row[3].strip() for row in rows] == ["‹unread›", "", "‹unread›", "", "‹unread›"]
        assert "3 cells hold something that was not read, or is cut off" in said
        refused = await extract(hand, surface(hand), drink="string", trend="string")
        assert (refused.status, refused.read) == ("refused", "")
        assert refused.sentence.startswith("Row 1 has something for trend that was not read; read the table")
        assert (await extract(hand, surface(hand), drink="string", price="number")).status == "done"


async def test_text_that_goes_on_over_the_next_cell_is_in_the_cell_where_it_begins(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=long", settings=OCR) as hand:
        rows, _ = await read_table(hand)
        assert without_ends(rows)[:3] == [
            ["", "A", "B", "C"],
            ["1", "", "", ""],
            ["2", "Report of the second quarter", "", ""],
        ]
        outcome = await extract(hand, surface(hand), north="integer", West="integer")
        assert json.loads(outcome.read) == [{"north": 120, "West": 7}, {"north": 98, "West": 12}]


async def test_text_that_its_cell_cuts_off_is_said_to_be_a_part_and_not_extracted(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=clipped", settings=OCR) as hand:
        [head, *rows], _ = await read_table(hand)
        assert head == ["Part", "Place", "Left"]
        assert [row[0].endswith(" ‹unread›") for row in rows] == [True, False, True, False, False, False]
        assert [row[1:] for row in rows] == [[f"Shelf {at}", str(at * 31 + 4)] for at in range(6)]
        assert (await extract(hand, surface(hand), place="string", left="integer")).status == "done"
        assert (await extract(hand, surface(hand), part="string")).sentence.startswith(
            "Row 1 has something for part that"
        )


@pytest.mark.parametrize("font", ["13px sans-serif", "14px serif"])
async def test_a_number_of_which_a_side_of_its_cell_cuts_off_any_part_is_never_given_as_whole(
    on: On, font: str
) -> None:
    async with on("", {"/at": PAGE}, path=f"/at?kind=steps&font={font}", settings=OCR) as hand:
        truth = await hand.js("drawn.table()")
        rows, said = await read_table(hand)
        listed = [line.split("]", 1)[1].split(" | ") for line in hand.seen.listing.splitlines() if " row " in line]
        assert len(rows) == len(listed) == len(truth) == 25
        for given in (rows, without_ends(listed)):
            for drawn, row in zip(truth, given, strict=True):
                wrong = [cell for cell, own in zip(row, drawn, strict=True) if cell != own and cell[-1:] != "›"]
                assert not wrong, (drawn, row)
        for column in (0, 2, 4):
            assert [row[column] for row in rows] == [row[column] for row in truth]
        assert "hold something that was not read, or is cut off" in said
        for name in ("right", "left"):
            assert (await extract(hand, surface(hand), no="integer", **{name: "string"})).status == "refused"
        assert (await extract(hand, surface(hand), no="integer", down="integer")).status == "done"


async def test_a_sheet_says_which_rows_are_out_of_view(on: On) -> None:
    views = DRAWN.parent / "views"
    files = {f"/{name}": (views / name).read_text("utf-8") for name in ("sheet.html", "view.js")}
    async with on("", files, path="/sheet.html", settings=OCR) as hand:
        rows, said = await read_table(hand)
        assert rows[0][:3] == ["", "A", "B"]
        assert rows[1][:4] == ["1", "Bolt", "4999", "25"]
        assert len(rows) == 18
        assert "so more may follow below and right" in said
        await hand.page.mouse.move(300, 300)
        await hand.page.mouse.wheel(0, 260)
        await hand.look()
        rows, said = await read_table(hand)
        assert rows[1][:3] == ["11", "Washer", "4405"]
        assert "its first row in view is row 11" in said


async def test_a_list_that_is_cut_at_the_edge_says_so(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=cut", settings=OCR) as hand:
        rows, said = await read_table(hand)
        assert rows[-1] == ["Item 17", "119", "17.25"]
        assert said.endswith("it reaches the edge of what is shown, so more may follow below.")
        await hand.page.set_viewport_size({"width": 1000, "height": 300})
        await hand.look()
        _, said = await read_table(hand)
        assert said.endswith("260 px below is out of view.")


async def test_of_two_tables_in_a_surface_the_one_that_is_meant_is_named_by_something_in_it(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=two", settings=OCR) as hand:
        refused = await hand.act(Read(what="table", mark=surface(hand)))
        assert (refused.status, refused.read) == ("refused", "")
        assert "shows 2 tables" in refused.sentence
        for number in map(int, re.findall(r"read table at \[(\d+)\]", refused.sentence)):
            assert (await hand.act(Read(what="table", mark=number))).status == "done"
        assert refused.sentence.count("read table at [") == 2
        prices, staff = await hand.js("drawn.table()")
        for name, truth in (("Espresso", prices), ("Ann Lee", staff), ("Staff", staff)):
            assert without_ends((await read_table(hand, hand.number(name)))[0]) == truth
        assert without_ends((await read_table(hand, "Staff"))[0]) == staff
        assert json.loads((await extract(hand, surface(hand), name="string", room="integer")).read)[1] == {
            "name": "Ben Ode",
            "room": 7,
        }


async def test_words_that_are_no_table_are_refused_with_what_helps(on: On) -> None:
    async with on("", {"/at": PAGE}, path="/at?kind=scattered", settings=OCR) as hand:
        for refused in (
            await hand.act(Read(what="table", mark=surface(hand))),
            await extract(hand, surface(hand), name="string"),
        ):
            assert (refused.status, refused.refusal, refused.read) == ("refused", "unsupported", "")
            assert (
                "shows no chart or table that can be read: its words do not stand in rows and columns"
                in refused.sentence
            )
            assert refused.sentence.endswith(
                "words drawn there are in the listing; zoom to a part of it if they are small."
            )
        assert "shows a table" not in hand.seen.listing


async def test_what_covers_a_drawn_table_is_not_read_as_a_part_of_it(on: On) -> None:
    cover = "<script>document.body.insertAdjacentHTML('beforeend', '<div style=\"position:absolute;left:500px;top:100px;width:200px;height:60px;background:#fff;font:15px sans-serif\">9.99</div>')</script>"
    async with on("", {"/at": PAGE + cover}, path="/at?kind=prices", settings=OCR) as hand:
        [_, *rows], _ = await read_table(hand)
        assert "9.99" not in str(rows)
        assert [row[2] for row in rows][2:] == ["4.95", "2.80", "3.10"]
        assert rows[0][2] == "‹unread›"


async def test_where_nothing_is_drawn_in_rows_the_table_that_the_canvas_has_for_others_is_read(on: On) -> None:
    table = "<table><tr><th>Item<th>Left<tr><td>Tea<td>3</table>"
    async with on(f"<canvas width=300 height=120 aria-label=Stock>{table}</canvas>", settings=OCR) as hand:
        rows, said = await read_table(hand)
        assert rows == [["Item", "Left"], ["Tea", "3"]]
        assert "drawn" not in said
        assert json.loads((await extract(hand, surface(hand), item="string", left="integer")).read) == [
            {"item": "Tea", "left": 3}
        ]


NUMBER = """<p>Orders</p><canvas id=it width=300 height=120 aria-label="Floor plan"></canvas><script>
const pen = it.getContext('2d');
function draw(words) {
  pen.fillStyle = '#fff'; pen.fillRect(0, 0, 300, 120);
  pen.fillStyle = '#234'; pen.fillRect(40, 30, 120, 50);
  pen.fillStyle = '#fff'; pen.font = '24px sans-serif'; pen.fillText(words, 80, 63);
}
draw('27');</script>"""


async def test_the_words_of_one_drawn_thing_are_read_from_its_pixels(on: On) -> None:
    async with on(NUMBER, settings=OCR) as hand:
        for line in ("read value of 27", f"read value of [{hand.number('27')}]"):
            [step] = parse([line])
            outcome = await hand.act(step.build(hand.seen))
            assert outcome.read == "27", outcome.sentence
            assert outcome.sentence.endswith('"27") from its pixels.')


async def test_the_words_of_a_drawn_thing_that_has_changed_are_not_read_from_the_last_look(on: On) -> None:
    async with on(NUMBER, settings=OCR) as hand:
        number = hand.number("27")
        await hand.js("draw('28')")
        outcome = await hand.act(Read(mark=number))
        assert (outcome.refusal, outcome.read) == ("moved", "")


async def test_a_drawn_thing_on_which_no_words_were_read_has_no_value(on: On) -> None:
    async with on(NUMBER.replace("draw('27')", "draw('')"), settings=OCR) as hand:
        thing = next(mark for mark in hand.seen.marks if mark.surface is not None)
        outcome = await hand.act(Read(mark=thing.number))
        assert outcome.refusal == "unsupported"
        assert "is drawn, and no words were read on it; zoom to it, and read its value again." in outcome.sentence


async def test_reading_the_page_says_that_what_is_drawn_is_not_in_it(on: On) -> None:
    async with on(NUMBER, settings=OCR) as hand:
        for what in ("page", "view"):
            outcome = await hand.act(Read(what=what))
            assert outcome.read == "Orders"
            assert outcome.sentence.endswith('"Floor plan") is not in it.'), outcome.sentence

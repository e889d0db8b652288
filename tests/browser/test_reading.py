"""Claims about reading: what stands there is told as it stands, and tables become data only where nothing is guessed."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import json
import time
from random import Random

import pytest
from pydantic import BaseModel, TypeAdapter

from tests.browser.hand import On
from vision_agent.actions import Extract, Read, Wait
from vision_agent.models.offline.grammar import parse

PAGE = """<h1>Orders</h1><p>Two <b>bold</b> words<br>and more</p><p style="display:none">hidden</p><script>var no = 'script';</script>
<x-box id=x></x-box><div style="height:2000px"></div><p>Far below</p><script>x.attachShadow({mode: 'open'}).innerHTML = '<p>In the shadow</p>';</script>"""


async def test_what_is_in_view_is_read_without_what_is_not(on: On) -> None:
    async with on(PAGE) as hand:
        outcome = await hand.act(Read())
        assert outcome.read.splitlines() == ["Orders", "Two bold words", "and more", "In the shadow"]
        assert (outcome.status, outcome.effect) == ("done", "read")
        assert outcome.sentence == "Read what is in view."


async def test_the_whole_page_is_read_with_its_frames(on: On) -> None:
    async with on(PAGE + "<iframe name=pay src=/in></iframe>", {"/in": "<p>Total 12</p>"}) as hand:
        await hand.js("scrollTo(0, 9999)")
        await hand.look()
        read = (await hand.act(Read(what="page"))).read
        assert "Far below" in read
        assert read.endswith("[frame pay]\nTotal 12")


async def test_a_long_reading_is_cut_and_says_so(on: On) -> None:
    async with on("<p>" + "word " * 5000) as hand:
        outcome = await hand.act(Read(what="page"))
        assert len(outcome.read) == 12_000
        assert "the first 12000 of 24999 characters" in outcome.sentence


TABLE = """<table><thead><tr><th>Item<th>Unit price<th>Left</thead><tbody>
<tr><td>Tea<td>EUR 1,204.50<td>3<td><button>Buy</button><tr><td>Milk<td>2<td>40<td></tbody></table><button>Apart</button>
<ul><li><a href=#1>One</a> first<li>Two</ul>"""
SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"item": {"type": "string"}, "unit_price": {"type": "number"}, "left": {"type": "integer"}},
        "required": ["item"],
    },
}


async def test_a_table_is_read_row_by_row(on: On) -> None:
    async with on(TABLE) as hand:
        outcome = await hand.act(Read(what="table", mark=hand.number("Buy")))
        assert outcome.read == "Item | Unit price | Left\nTea | EUR 1,204.50 | 3 | Buy\nMilk | 2 | 40 | "
        assert (await hand.act(Read(what="table", mark=hand.number("One")))).read == "One first\nTwo"


FIELDS = """<h2>Stock</h2><table><tr><th>Item<th>Left<th>Sold<th>Size<th>Key<tr><td>Tea
<td><input aria-label=Left value=7><td><input type=checkbox aria-label=Sold checked>
<td><select aria-label=Size><option>S<option selected>M</select><td><input type=password aria-label=Key value=geheim>
<tr><td><input type=checkbox aria-label=Choose> Milk<td><input aria-label=Left value=-1.5>
<td><input type=checkbox aria-label=Sold><td>none<td>none</table>"""


async def test_a_cell_says_what_its_fields_hold_and_no_password(on: On) -> None:
    async with on(FIELDS) as hand:
        outcome = await hand.act(Read(what="table", mark="Stock"))
        assert outcome.read.splitlines()[1:] == ["Tea | 7 | [x] | M | •••", "Milk | -1.5 | [ ] | none | none"]
        outcome = await hand.act(Extract(mark="Stock", json_schema=_with(Left={"type": "number"})))
        assert json.loads(outcome.read) == [{"Left": 7}, {"Left": -1.5}]


SPANS = """<h2>Costs</h2><table><tr><th>Item<th>Net<th>Gross<tr><td colspan=2>Sum<td>1190<tr><td rowspan=2>Tax<td>5<td>6
<tr><td>7<td>8<tr><td colspan=9>Per month<tr><td>Rent<td style="display:none">x<td>9<td>10</table>"""


async def test_a_cell_that_spans_columns_or_rows_shifts_no_value(on: On) -> None:
    async with on(SPANS) as hand:
        rows = (await hand.act(Read(what="table", mark="Costs"))).read.splitlines()
        assert rows[1:4] == ["Sum |  | 1190", "Tax | 5 | 6", "Tax | 7 | 8"]
        assert rows[4:] == ["Per month |  | ", "Rent | 9 | 10"]
        schema = _with(Item={"type": "string"}, Net={"type": ["number", "null"]}, Gross={"type": ["number", "null"]})
        outcome = await hand.act(Extract(mark="Costs", json_schema=schema))
        assert [[*row.values()] for row in json.loads(outcome.read)] == [
            ["Sum", None, 1190], ["Tax", 5, 6], ["Tax", 7, 8], ["Per month", None, None], ["Rent", 9, 10],
        ]  # fmt: skip


async def test_a_number_that_a_spanning_cell_leaves_empty_is_refused_and_not_taken_from_beside_it(on: On) -> None:
    async with on(SPANS) as hand:
        outcome = await hand.act(Extract(mark="Costs", json_schema=_with(Net={"type": "number"})))
        assert outcome.refusal == "unsupported"
        assert 'Row 1 has "" for Net, which is not a single number' in outcome.sentence


_YEARS = "<tr><th rowspan=2>Item<th colspan=2>2025<th colspan=2>2026<tr><th>Q1<th>Q2<th>Q1<th>H2"
_VALUES = "<tr><td>Tea<td>1<td>2<td>3<td>4"


@pytest.mark.parametrize("head", [f"<thead>{_YEARS}</thead><tbody>", _YEARS])
async def test_headings_in_two_rows_are_joined_and_none_of_two_is_guessed(on: On, head: str) -> None:
    async with on(f"<h2>Sales</h2><table>{head}{_VALUES}</table>") as hand:
        read = (await hand.act(Read(what="table", mark="Sales"))).read.splitlines()
        assert read == ["Item | 2025 › Q1 | 2025 › Q2 | 2026 › Q1 | 2026 › H2", "Tea | 1 | 2 | 3 | 4"]
        [step] = parse(['extract Item, 2025 / Q1 as number, "2026 › Q1" as number, H2 as number from "Sales"'])
        outcome = await hand.act(step.build(hand.seen))
        assert json.loads(outcome.read) == [{"Item": "Tea", "2025 / Q1": 1, "2026 › Q1": 3, "H2": 4}]
        outcome = await hand.act(Extract(mark="Sales", json_schema=_with(Q1={"type": "number"})))
        assert outcome.refusal == "not_an_option"
        assert 'has 2 columns "Q1"; there are "Item", "2025 › Q1"' in outcome.sentence


async def test_a_heading_over_two_columns_is_that_of_both(on: On) -> None:
    html = "<h2>Prices</h2><table><tr><th>Item<th colspan=2>Price<tr><td>Tea<td>EUR<td>4</table>"
    async with on(html) as hand:
        outcome = await hand.act(Extract(mark="Prices", json_schema=_with(Price={"type": "string"})))
        assert outcome.refusal == "not_an_option"
        assert 'has 2 columns "Price"' in outcome.sentence


_GRID = """<div role=grid aria-label=Stock aria-colcount=9><div role=rowgroup><div role=row>{0}</div></div>
<div role=rowgroup>{1}</div></div>"""


@pytest.mark.parametrize(
    ("head", "rows", "read"),
    [
        (("Item", "Net", "Gross"), [[("Sum", "aria-colspan=2"), "9"], [("Tax", "aria-rowspan=2"), "5", "6"], ["7", "8"]],
         ["Sum |  | 9", "Tax | 5 | 6", "Tax | 7 | 8"]),
        ((("Item", "aria-colindex=2"), ("Net", "aria-colindex=4"), ("Gross", "aria-colindex=7")),
         [[("Tea", "aria-colindex=2"), ("8", "aria-colindex=7")], [("3", "aria-colindex=4")]],
         ["Tea |  | 8", " | 3"]),
    ],
)  # fmt: skip
async def test_the_columns_of_a_grid_are_those_that_it_tells(
    on: On, head: tuple[object, ...], rows: list[list[object]], read: list[str]
) -> None:
    def cell(role: str, each: object) -> str:
        words, attributes = each if isinstance(each, tuple) else (each, "")
        return f"<span role={role} {attributes}>{words}</span>"

    body = "".join(f"<div role=row>{''.join(cell('gridcell', each) for each in row)}</div>" for row in rows)
    async with on(_GRID.format("".join(cell("columnheader", each) for each in head), body)) as hand:
        outcome = await hand.act(Read(what="table", mark="Stock"))
        assert outcome.read.splitlines() == ["Item | Net | Gross", *read]


_HOSTILE = """<h2>Big</h2><table id=big></table><script>
const row = (cells) => `<tr>${cells}</tr>`;
big.innerHTML = row('<th>Item<th>Net') + row(`<td rowspan=99999999>${'x'.repeat(9000)}<td colspan=99999999>1`) +
  row('<td rowspan=65534 colspan=1000>y'.repeat(2000)) + row('').repeat(4000);</script>"""


async def test_spans_of_a_hostile_page_make_no_table_that_takes_long(on: On) -> None:
    async with on(_HOSTILE) as hand:
        began = time.monotonic()
        outcome = await hand.act(Read(what="table", mark="Big"))
        assert time.monotonic() - began < 20
        assert outcome.read.startswith("Item | Net\nxxx")


@pytest.mark.parametrize("seed", range(4))
async def test_each_cell_is_read_in_the_column_and_row_where_the_browser_lays_it_out(on: On, seed: int) -> None:
    """Cells, spans and sections at random. Every column has the same width, so a cell's place tells its column."""
    random = Random(seed)
    tables = []
    for number in range(12):
        made = f"<tr>{''.join(f'<td>h{column}' for column in range(7))}</tr>"
        for section in range(3):
            rows = ""
            for row in range(random.randint(1, 5)):
                cells = (
                    f"<td colspan={random.choice([0, 1, 1, 2, 3])} rowspan={random.choice([0, 1, 1, 1, 2, 3])}"
                    f"{' style=display:none' if random.random() < 0.1 else ''}>{section}.{row}.{cell}"
                    for cell in range(random.randint(0, 4))
                )
                rows += f"<tr{' style=display:none' if random.random() < 0.1 else ''}>{''.join(cells)}</tr>"
            made += f"<tbody>{rows}</tbody>"
        columns = "<col style=width:40px>" * 30
        tables.append(f"<h2>T{number}</h2><table>{columns}{made}</table>")
    style = "table{table-layout:fixed;width:1200px;border-spacing:0} tr{height:20px} td{padding:0;font-size:9px}"
    async with on(f"<style>{style}</style>" + "".join(tables)) as hand:
        laid = await hand.js(
            """Array.from(document.querySelectorAll('table'), (table) => {
              const left = table.getBoundingClientRect().x;
              const cells = Array.from(table.querySelectorAll('td')).filter((cell) => cell.getClientRects().length);
              const boxes = cells.map((cell) => [cell.textContent, cell.getBoundingClientRect()]);
              return Array.from(table.rows).filter((row) => row.getClientRects().length).map((row) => {
                const { top, bottom } = row.getBoundingClientRect();
                const said = Array.from({ length: 30 }, () => '');
                for (const [words, box] of boxes) {
                  if (box.top < (top + bottom) / 2 && box.bottom > (top + bottom) / 2) {
                    said[Math.round((box.x - left) / 40)] = words;
                  }
                }
                return said;
              });
            })"""
        )
        for number, rows in enumerate(laid):
            read = (await hand.act(Read(what="table", mark=f"T{number}"))).read.split("\n")
            head, *found = [row.split(" | ") for row in read]
            wide = len(head)
            assert head == [f"column {column}" for column in range(1, wide + 1)]
            used = [column for column in range(30) if any(row[column] for row in rows)]
            expected = [[row[column] for column in used] for row in rows if any(row)]
            assert [row + [""] * (wide - len(row)) for row in found] == expected, number


async def test_a_foot_that_says_the_head_again_is_no_row_and_one_with_sums_is(on: On) -> None:
    body = "<table><thead><tr><th>Item<th>Left</thead><tbody><tr><td><button>Tea</button><td>12<tfoot><tr><th>Item<th>Left<tr><td>All<td>12</table>"
    async with on(body) as hand:
        outcome = await hand.act(Read(what="table", mark=hand.number("Tea")))
        assert outcome.read == "Item | Left\nTea | 12\nAll | 12"


async def test_rows_are_extracted_as_the_schema_has_them(on: On) -> None:
    async with on(TABLE) as hand:
        outcome = await hand.act(Extract(mark=hand.number("Buy"), json_schema=json.dumps(SCHEMA)))
        assert outcome.status == "done", outcome.sentence
        assert json.loads(outcome.read) == [
            {"item": "Tea", "unit_price": 1204.5, "left": 3},
            {"item": "Milk", "unit_price": 2, "left": 40},
        ]


@pytest.mark.parametrize(
    "line",
    [
        "extract Item, Left as integer",
        'extract Item, Left as integer from "Stock list"',
        "extract Item, Left as integer from Stock list",
        "extract Item, Left as integer from Buy",
    ],
)
async def test_a_step_line_extracts_rows_from_the_table_that_it_means(on: On, line: str) -> None:
    body = TABLE.replace("<table>", "<table><caption>Stock list</caption>")
    async with on(body + "<table><tr><th>Name<th>Age<tr><td>Ann<td>4</table>") as hand:
        [step] = parse([line])
        outcome = await hand.act(step.build(hand.seen))
        assert json.loads(outcome.read) == [{"Item": "Tea", "Left": 3}, {"Item": "Milk", "Left": 40}], outcome.sentence


class Item(BaseModel):
    item: str
    left: int


async def test_a_schema_that_pydantic_wrote_fits(on: On) -> None:
    async with on(TABLE) as hand:
        schema = json.dumps(TypeAdapter(list[Item]).json_schema())
        outcome = await hand.act(Extract(mark=hand.number("Buy"), json_schema=schema))
        assert TypeAdapter(list[Item]).validate_json(outcome.read) == [
            Item(item="Tea", left=3),
            Item(item="Milk", left=40),
        ]


BESIDE = """<button>Apart</button><table><caption>Stock list</caption><tr><th>Item<th>Left<tr><td>Tea<td>3</table>"""


async def test_a_table_without_a_mark_is_named_where_a_mark_elsewhere_is_refused(on: On) -> None:
    async with on(BESIDE) as hand:
        for action in (Extract(mark=1, json_schema=_with(item={})), Read(what="table", mark=1)):
            assert 'by its caption in double quotes: "Stock list"' in (await hand.act(action)).sentence
        assert (await hand.act(Extract(mark="Stock list", json_schema=_with(item={})))).read == '[{"item": "Tea"}]'


@pytest.mark.parametrize("around", ["<nav>{}</nav>", "<ul><li>{}<li>Other</ul>", "<table><tr><td>{}<td>5</table>"])
async def test_quoted_words_are_a_caption_first_also_where_an_element_is_called_so(on: On, around: str) -> None:
    body = f"{around.format('<a href=#s>Stock list</a>')}{BESIDE}"
    async with on(body) as hand:
        for line in ('extract Item from "Stock list"', 'read table "stock list"'):
            [build] = parse([line])
            outcome = await hand.act(build.build(hand.seen))
            assert outcome.status == "done", outcome.sentence
            assert "Tea" in outcome.read


async def test_quoted_words_that_caption_nothing_are_a_mark_and_of_two_captions_none_is_read(on: On) -> None:
    async with on(f"<ul><li><a href=#a>Ann</a><li>Other</ul>{BESIDE}") as hand:
        [build] = parse(['read table "Ann"'])
        assert "Other" in (await hand.act(build.build(hand.seen))).read
    async with on(f"<a href=#a>Stock list</a>{BESIDE}{BESIDE.replace('Tea', 'Rice')}") as hand:
        [build] = parse(['read table "Stock list"'])
        assert (await hand.act(build.build(hand.seen))).refusal == "ambiguous"


def _with(**properties: object) -> str:
    return json.dumps({"type": "array", "items": {"type": "object", "properties": properties}})


@pytest.mark.parametrize(
    ("name", "schema", "refusal", "words"),
    [
        ("Buy", _with(colour={}), "not_an_option", 'no column "colour"; there are "Item", "Unit price", "Left"'),
        ("Buy", _with(item={"type": "number"}), "unsupported", 'Row 1 has "Tea" for item'),
        ("Buy", _with(left={"type": "integer", "maximum": 9}), "unsupported", "The rows of the table around mark"),
        ("Buy", "[", "unsupported", "must describe an array of objects"),
        ("Buy", '{"type": "object"}', "unsupported", "must describe an array of objects"),
        ("Apart", _with(item={}), "unsupported", "is not in a table or list"),
    ],
)
async def test_what_does_not_fit_is_refused_and_nothing_is_made_up(
    on: On, name: str, schema: str, refusal: str, words: str
) -> None:
    async with on(TABLE) as hand:
        outcome = await hand.act(Extract(mark=hand.number(name), json_schema=schema))
        assert outcome.refusal == refusal, outcome.sentence
        assert words in outcome.sentence
        assert outcome.read == ""


ORDERS = """<h2>Orders</h2><table><tr><th>Item<th>Left<tr><td>Tea<td>12<tr><td>Milk<td>–<tr><td>Jam<td></table>
<h2>Old orders</h2><table><tr><th>Item<th>Left<tr><td>Rum<td>1,200</table>
<h2>Notes</h2><ul><li>One<li>Two</ul><h2>Owner</h2><dl><dt>Name<dd>Ann<dt>Age:<dd>31</dl>
<h2>Bare</h2><table><tr><td>a<td>1<tr><td>b<td>2</table><button>Apart</button>"""


@pytest.mark.parametrize(
    ("words", "properties", "rows"),
    [
        ("Orders", {"item": {}, "left": {"type": ["integer", "null"]}},
         [{"item": "Tea", "left": 12}, {"item": "Milk", "left": None}, {"item": "Jam", "left": None}]),
        ("old orders", {"left": {"anyOf": [{"type": "number"}, {"type": "null"}]}}, [{"left": 1200}]),
        ("Rum", {"item": {"type": "string"}}, [{"item": "Rum"}]),
        ("Notes", {"text": {}}, [{"text": "One"}, {"text": "Two"}]),
        ("", {"name": {}, "age": {"type": ["string", "integer"]}}, [{"name": "Ann", "age": 31}]),
        ("", {"column 2": {"type": ["integer", "string"]}, "column 1": {"type": ["integer", "string"]}},
         [{"column 2": 1, "column 1": "a"}, {"column 2": 2, "column 1": "b"}]),
    ],
)  # fmt: skip
async def test_rows_are_extracted_where_nothing_has_a_mark(
    on: On, words: str, properties: dict[str, object], rows: list[dict[str, object]]
) -> None:
    async with on(ORDERS) as hand:
        outcome = await hand.act(Extract(mark=words, json_schema=_with(**properties)))
        assert outcome.status == "done", outcome.sentence
        assert json.loads(outcome.read) == rows


@pytest.mark.parametrize(
    ("words", "properties", "refusal", "said"),
    [
        (
            "",
            {"item": {}},
            "ambiguous",
            'the table "Orders", 3 rows with "Item", "Left", first Tea | 12; the table "Old orders", 1 row',
        ),
        ("Old orders", {"colour": {}}, "not_an_option", 'has no column "colour"; there are "Item", "Left"'),
        ("", {"colour": {}}, "not_an_option", 'of the page have the columns "colour". There are: the table "Orders"'),
        ("Orders", {"left": {"type": "integer"}}, "unsupported", 'Row 2 has "–" for left'),
    ],
)
async def test_rows_that_are_not_there_or_in_two_places_are_refused_with_what_is_there(
    on: On, words: str, properties: dict[str, object], refusal: str, said: str
) -> None:
    async with on(ORDERS) as hand:
        outcome = await hand.act(Extract(mark=words, json_schema=_with(**properties)))
        assert outcome.refusal == refusal, outcome.sentence
        assert said in outcome.sentence


NAMED = """<table><caption>Open orders</caption><tr><th>Item<th>Left<tr><td>Tea<td>12</table>
<h2>Closed</h2><table><tr><th>Item<th>On<tr><td>Milk<td>May</table>
<table aria-label="Returns 2025"><tr><th>Item<tr><td>Jam</table><table aria-label="Returns 2026"><tr><th>Item<tr><td>Rice</table>"""


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("open orders", "Item | Left\nTea | 12"),
        ("Open", "Item | Left\nTea | 12"),
        ("Closed", "Item | On\nMilk | May"),
        ("Returns 2025", "Item\nJam"),
    ],
)
async def test_a_table_is_read_by_its_caption_its_heading_or_its_label(on: On, words: str, read: str) -> None:
    async with on(NAMED) as hand:
        outcome = await hand.act(Read(what="table", mark=words))
        assert (outcome.status, outcome.read) == ("done", read), outcome.sentence


@pytest.mark.parametrize(
    ("words", "refusal", "said"),
    [
        ("Returns", "ambiguous", 'are called "Returns": the table "Returns 2025", 1 row'),
        ("Tea", "not_an_option", 'are called "Tea". There are: the table "Open orders"'),
    ],
)
async def test_words_that_name_no_table_or_several_are_refused_with_what_there_is(
    on: On, words: str, refusal: str, said: str
) -> None:
    async with on(NAMED) as hand:
        outcome = await hand.act(Read(what="table", mark=words))
        assert (outcome.refusal, said in outcome.sentence) == (refusal, True), outcome.sentence


TWICE = """<h1>Stock</h1><h2>North</h2><table><caption>Open orders</caption><tr><th>Item<tr><td>Tea</table>
<h2>South</h2><table><caption>Open orders</caption><tr><th>Item<tr><td>Milk</table>
<h2>West</h2><table><caption>Returns</caption><tr><th>Item<tr><td>Jam</table>"""


@pytest.mark.parametrize(
    ("words", "read"),
    [("West", "Item\nJam"), ("Open orders under South", "Item\nMilk"), ("open orders under north", "Item\nTea")],
)
async def test_a_table_with_a_caption_is_read_by_its_heading_too(on: On, words: str, read: str) -> None:
    async with on(TWICE) as hand:
        outcome = await hand.act(Read(what="table", mark=words))
        assert (outcome.status, outcome.read) == ("done", read), outcome.sentence


async def test_tables_with_the_same_caption_are_both_named_with_what_tells_them_apart(on: On) -> None:
    async with on(TWICE) as hand:
        outcome = await hand.act(Read(what="table", mark="Open orders"))
        assert outcome.refusal == "ambiguous"
        for said in (
            'the table "Open orders" under "North", 1 row',
            'the table "Open orders" under "South", 1 row',
            'add its heading: read table "Open orders under North"',
        ):
            assert said in outcome.sentence
        outcome = await hand.act(Extract(mark="Open orders under South", json_schema=_with(item={})))
        assert json.loads(outcome.read or "null") == [{"item": "Milk"}], outcome.sentence


CARD = """<div class="card MORE"><h3><a href=#>NAME</a></h3><p class="card__price">EUR 3.50</p><p>Kind: NAME's own</p>
<div class=tags><span>new</span><span>cold</span></div><p hidden>Secret: no</p><button>Add</button></div>"""
SHOP = "<h1>Shop</h1><section>" + "".join(
    CARD.replace("NAME", name).replace("MORE", more) for name, more in (("Tea", "first"), ("Milk", "sale"), ("Jam", ""))
) + "</section><aside><p>Open daily</p><p>Call us</p></aside>"  # fmt: skip


@pytest.mark.parametrize("by_mark", [True, False])
async def test_repeated_cards_are_rows_with_the_names_that_the_page_gives_their_parts(on: On, by_mark: bool) -> None:
    wanted = _with(title={"type": "string"}, price={"type": "number"}, kind={"type": "string"})
    async with on(SHOP) as hand:
        [first, *_] = [mark.number for mark in hand.seen.marks if mark.name == "Add"]
        outcome = await hand.act(Extract(mark=first if by_mark else "", json_schema=wanted))
        assert outcome.status == "done", outcome.sentence
        assert [tuple(each.values()) for each in json.loads(outcome.read)] == [
            (name, 3.5, f"{name}'s own") for name in ("Tea", "Milk", "Jam")
        ]


async def test_a_part_of_a_card_that_has_no_such_name_is_not_made_up(on: On) -> None:
    async with on(SHOP) as hand:
        outcome = await hand.act(Extract(mark="Shop", json_schema=_with(colour={})))
        assert outcome.refusal == "not_an_option"
        assert '"heading", "price", "Kind"' in outcome.sentence
        assert "Secret" not in outcome.sentence


async def test_rows_in_a_frame_are_extracted_too(on: On) -> None:
    page = "<table><tr><th>Total<tr><td>12</table>"
    async with on("<p>Pay</p><iframe name=pay src=/in></iframe>", {"/in": page}) as hand:
        outcome = await hand.act(Extract(mark="", json_schema=_with(total={"type": "integer"})))
        assert outcome.read == '[{"total": 12}]', outcome.sentence


async def test_waiting_for_a_change_ends_with_the_change(on: On) -> None:
    async with on("<p id=p>a</p>") as hand:
        await hand.js("void setTimeout(() => { p.textContent = 'b' }, 500)")
        outcome = await hand.act(Wait(change=True, seconds=60))
        assert outcome.status == "done"
        assert outcome.seconds < 55
        assert (await hand.act(Wait(change=True, seconds=0.4))).refusal == "timed_out"


LONG = "line of words\n" * 100


@pytest.mark.parametrize(
    "html",
    [
        "<textarea id=f aria-label=Notes></textarea>",
        "<div id=f aria-label=Notes contenteditable style='white-space:pre'></div>",
    ],
    ids=["textarea", "contenteditable"],
)
async def test_the_whole_value_of_a_field_is_read(on: On, html: str) -> None:
    async with on(html) as hand:
        await hand.js(f"void (f.{'value' if 'textarea' in html else 'textContent'} = {LONG!r})")
        await hand.look()
        outcome = await hand.act(Read(mark=hand.number("Notes")))
        assert outcome.read.strip() == LONG.strip()
        assert outcome.sentence.startswith(f"Read the value of mark {hand.number('Notes')} (")


@pytest.mark.parametrize(
    "html",
    [
        "<input id=f aria-label=Code type=password value=hunter2>",
        "<input id=f aria-label=Code autocomplete=current-password value=hunter2>",
        "<input id=f aria-label=Code style='-webkit-text-security:disc' value=hunter2>",
    ],
    ids=["password", "current-password", "text-security"],
)
async def test_a_secret_field_is_not_read(on: On, html: str) -> None:
    async with on(html) as hand:
        outcome = await hand.act(Read(mark=hand.number("Code")))
        assert (outcome.status, outcome.refusal) == ("refused", "blocked")
        assert "hunter2" not in outcome.model_dump_json()


async def test_what_is_no_text_field_has_no_value_to_read_and_no_other_text_is_taken_for_it(on: On) -> None:
    async with on("<p>Stock: 3</p><select aria-label=Size><option>S<option selected>L</select>") as hand:
        outcome = await hand.act(Read(mark=hand.number("Size")))
        assert (outcome.status, outcome.refusal, outcome.read) == ("refused", "unsupported", "")
        assert 'is no text field; the listing shows "L" for it. Read the page or a table.' in outcome.sentence


async def test_a_field_that_was_a_password_at_the_look_is_not_read_when_it_shows(on: On) -> None:
    async with on("<input id=f aria-label=Code type=password value=hunter2>") as hand:
        await hand.js("void (f.type = 'text')")
        outcome = await hand.act(Read(mark=hand.number("Code")))
        assert outcome.status == "refused"
        assert "hunter2" not in outcome.model_dump_json()


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("$12<sup>99</sup>", "$12 99"),
        ("51.20<sup>1</sup>", "51.20 1"),
        ("10<sup><b>6</b></sup>", "10 6"),
        ("<sup>1</sup>51.20", "1 51.20"),
        ("12<span style='vertical-align:super'>99</span> €", "12 99 €"),
        ("12<sup style='vertical-align:baseline'>99</sup>", "12 99"),
    ],
)
async def test_a_raised_number_is_none_with_the_one_before_it(on: On, cell: str, said: str) -> None:
    async with on(f"<h2>Prices</h2><table><tr><th>Item<th>Price<tr><td>Tea<td>{cell}</table>") as hand:
        assert said in (await hand.act(Read(what="page"))).read
        outcome = await hand.act(Extract(mark="Prices", json_schema=_with(Price={"type": "number"})))
        assert f'Row 1 has "{said}" for Price, which is not a single number' in outcome.sentence


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("12<sup>.99</sup>", 12.99),
        ("1<sup style='vertical-align:baseline;font-size:inherit'>2</sup>", 12),
        ("12<sup>th</sup>", 12),
    ],
)
async def test_what_looks_like_one_number_is_one(on: On, cell: str, number: float) -> None:
    async with on(f"<h2>Prices</h2><table><tr><th>Item<th>Price<tr><td>Tea<td>{cell}</table>") as hand:
        outcome = await hand.act(Extract(mark="Prices", json_schema=_with(Price={"type": "number"})))
        assert json.loads(outcome.read) == [{"Price": number}], outcome.sentence


async def test_a_mark_is_named_with_raised_cents_apart(on: On) -> None:
    async with on("<button>Continue €9<sup>99</sup></button>") as hand:
        assert hand.number("Continue €9 99")


_ORDERED = """<div role=grid aria-label=Stock><div role=row>{0}</div><div role=row>{1}</div></div>"""
_HEADS = "<b role=columnheader {0}>Item</b> <b role=columnheader {2}>Price</b> <b role=columnheader {1}>Qty</b>"
_CELLS = "<i role=gridcell {0}>Tea</i> <i role=gridcell {2}>40</i> <i role=gridcell {1}>3</i>"
_TOLD = [f"aria-colindex={at}" for at in (1, 2, 3)]


async def test_cells_stand_in_the_column_that_they_tell(on: On) -> None:
    heads = "<b role=columnheader aria-colindex=1>Item</b> <b role=columnheader aria-colindex=2>Qty</b>"
    heads += "<b role=columnheader aria-colindex=3>Price</b>"
    async with on(_ORDERED.format(heads, _CELLS.format(*_TOLD))) as hand:
        asked = _with(Item={"type": "string"}, Qty={"type": "number"}, Price={"type": "number"})
        outcome = await hand.act(Extract(mark="", json_schema=asked))
        assert json.loads(outcome.read) == [{"Item": "Tea", "Qty": 3, "Price": 40}], outcome.sentence


async def test_cells_in_another_order_than_they_tell_are_unsure_where_others_tell_none(on: On) -> None:
    async with on(_ORDERED.format(_HEADS.format("", "", ""), _CELLS.format(*_TOLD))) as hand:
        outcome = await hand.act(Extract(mark="", json_schema=_with(Qty={"type": "number"})))
        assert 'Row 1 has "3" for Qty, which may have been read wrongly' in outcome.sentence


@pytest.mark.parametrize(
    ("cell", "read"),
    [
        ("<span style='font-size:0'>9</span>5", "5"),
        ("<span style='opacity:0'>9</span>5", "5"),
        ("<img alt=No>", "No"),
        ("<svg role=img aria-label=Yes></svg>", "Yes"),
        ("<svg><title>Yes</title></svg>", "Yes"),
        ("<img alt=Mug> Mug", "Mug"),
        ("<img alt='−'>5", "−5"),
        ("<img alt=12>3", "12 3"),
        ("3<svg><title>9</title></svg>", "3 9"),
        ("<svg width=20 height=20><title>9</title><text y=15>4</text></svg>", "4"),
        ("<span style='color:transparent'>9</span>2", "2"),
        ("<span style='color:transparent;text-shadow:0 0 red'>9</span>2", "92"),
        ("<span style='color:transparent;background:linear-gradient(red,blue);background-clip:text'>9</span>2", "92"),
        ("<span style='color:#eee;background:#eee'>9</span>2", "2"),
        ("<b style='display:inline-block;width:0;height:1em;overflow:hidden'>9</b>3", "3"),
        ("<b style='display:inline-block;width:0;height:1em'>9</b>3", "93"),
        ("<b style='display:inline-block;transform:scale(0)'>9</b>5", "5"),
        ("<b style='display:inline-block;text-indent:-999px;overflow:hidden;width:9px'>9</b>5", "5"),
        ("<b style='display:inline-block;text-indent:-9999px'>9</b>5", "5"),
        ("<b style='position:absolute;left:-999px'>1</b>5", "5"),
        ("<b style='position:absolute;left:-999px'>net</b>5", "5"),
        ("<b style='position:absolute;clip:rect(0 0 0 0)'>1</b>5", "5"),
        ("<b style='position:absolute;clip:rect(0 auto auto 0)'>1</b>5", "1 5"),
        ("<b style='display:inline-block;clip-path:inset(100%)'>1</b>5", "5"),
        ("<b style='display:inline-block;clip-path:inset(0)'>1</b>5", "15"),
        ("<b class=heard>about</b>5", "5"),
        ("<svg></svg><b class=heard>Yes</b>", "Yes"),
        ("<b class=heard>9</b>", ""),
        ("<div style='overflow:auto;height:40px'><p style='height:90px'>7<p>8</div>", "7 8"),
        (
            "<p style='overflow:hidden;width:30px;text-overflow:ellipsis;white-space:nowrap'>12 <b>345678 9</b> <i>9</i></p>",
            "12 345678 9 9",
        ),
        ("<span style='visibility:hidden'>9<b style='visibility:visible'>5</b></span>", "5"),
        ("<span class=neg>7</span>", "−7"),
        ("<span class=label>7</span>", "7"),
        ("<span class=scale>7</span>", "7 k"),
    ],
)
async def test_a_cell_is_read_as_it_is_seen(on: On, cell: str, read: str) -> None:
    styles = (
        "<style>.heard{position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip:rect(0,0,0,0)}</style>"
    )
    styles += "<style>.neg::before{content:'−'}.label::before{content:'Left: '}.scale::after{content:' k'}</style>"
    async with on(f"{styles}<h2>Prices</h2><table><tr><th>Item<th>Left<tr><td>Tea<td>{cell}</table>") as hand:
        outcome = await hand.act(Extract(mark="Prices", json_schema=_with(Left={"type": "string"})))
        assert json.loads(outcome.read) == [{"Left": read}], outcome.sentence


@pytest.mark.parametrize("cell", ["<span style='color:white'>9</span>2", "<span style='color:white'>9</span>"])
async def test_a_cell_with_a_figure_in_the_colour_of_its_ground_is_unsure(on: On, cell: str) -> None:
    async with on(f"<h2>Prices</h2><table><tr><th>Item<th>Left<tr><td>Tea<td>{cell}</table>") as hand:
        outcome = await hand.act(Extract(mark="Prices", json_schema=_with(Left={"type": "number"})))
        assert "for Left, which may have been read wrongly" in outcome.sentence


_FOLDED = """<h2>Prices</h2><table><col><col style="visibility:collapse"><col>
<tr><th>Name<th>Old<th><span class=heard>New</span><tr><td>Ann<td>1<td>2<tr style="visibility:collapse"><td>Coll<td>3<td>4
<tr style="opacity:0"><td>Faded<td>5<td>6<tr><td>Bob<td>7<td>8</table>
<style>.heard{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}</style>"""


async def test_rows_and_columns_that_styles_fold_away_are_not_read(on: On) -> None:
    async with on(_FOLDED) as hand:
        outcome = await hand.act(Read(what="table", mark="Prices"))
        assert outcome.read.splitlines() == ["Name | New", "Ann | 2", "Bob | 8"]
        asked = _with(Name={"type": "string"}, Old={"type": "number"})
        assert (await hand.act(Extract(mark="Prices", json_schema=asked))).status == "refused"


async def test_the_page_is_read_without_what_only_people_who_hear_it_are_told(on: On) -> None:
    heard = "position:absolute;width:1px;height:1px;overflow:hidden"
    page = f"<p><b style='{heard}'>Was</b>Price <i style='color:transparent'>1</i>2<div style='overflow:hidden;height:9px'>In<p>Cut</div>"
    async with on(page) as hand:
        assert (await hand.act(Read(what="page"))).read.splitlines() == ["Price 2", "In", "Cut"]


async def test_a_card_names_what_it_says_also_by_words_that_are_only_heard(on: On) -> None:
    heard = "position:absolute;width:1px;height:1px;overflow:hidden"
    card = f"<article><h3>%s</h3><span style='{heard}'>Price:</span><b>5</b><em style='{heard}'>was 9</em><u>new</u></article>"
    async with on(f"<h2>Shop</h2><div>{card % 'Tea'}{card % 'Mug'}</div>") as hand:
        outcome = await hand.act(
            Extract(mark="", json_schema=_with(heading={"type": "string"}, Price={"type": "number"}))
        )
        assert json.loads(outcome.read) == [{"heading": "Tea", "Price": 5}, {"heading": "Mug", "Price": 5}]


PRICED = "<table><tr><th>Item<th>Price<tr><td>Mug<td>%s<tr><td>Hat<td>50</table>"
CARDS = "<div class=card><h3>Mug</h3>%s</div><div class=card><h3>Hat</h3><span class=Price>50</span></div>"


@pytest.mark.parametrize(
    ("body", "price"),
    [
        (PRICED % "<del>€99</del> €79", 79),
        (PRICED % "<s>99</s><ins>79</ins>", 79),
        (PRICED % "<span style='text-decoration:line-through'>99</span>79", 79),
        (PRICED % "<del>€99</del>", 99),
        (CARDS % "<div class=Price><del>€99</del> €79</div>", 79),
        (CARDS % "<div class=Price><del>€99</del><span>€79</span></div>", 79),
        (CARDS % "<s class=Price>€99</s><span class=Price>€79</span>", 79),
        (CARDS % "<del class=was>€99</del><span class=Price>€79</span>", 79),
        ("<dl><dt>Price<dd><del>€99</del><dd>€79</dl>", 79),
    ],
)
async def test_a_price_that_is_struck_out_is_not_the_price(on: On, body: str, price: int) -> None:
    async with on(body) as hand:
        outcome = await hand.act(Extract(mark="", json_schema=_with(Price={"type": "number"})))
        assert json.loads(outcome.read)[0] == {"Price": price}, outcome.sentence


@pytest.mark.parametrize(
    ("around", "said"),
    [
        ("<html lang=de>{}", "may be 1234 or 1.234"),
        ("<html lang=en><div lang=fr>{}</div>", "may be 1234 or 1.234"),
        ("<html lang=de><div lang=en>{}</div>", "[{'Left': 1234}]"),
        ("<html lang=de-CH>{}", "[{'Left': 1234}]"),
        ("<html lang=zz-top>{}", "[{'Left': 1234}]"),
    ],
)
async def test_the_language_of_a_page_tells_whether_a_comma_is_before_decimals(on: On, around: str, said: str) -> None:
    table = "<h2>Prices</h2><table><tr><th>Item<th>Left<tr><td>Tea<td>1,234</table>"
    async with on(around.format(table)) as hand:
        outcome = await hand.act(Extract(mark="Prices", json_schema=_with(Left={"type": "number"})))
        assert said in outcome.sentence or said == str(json.loads(outcome.read))


async def test_the_other_numbers_of_a_column_say_more_than_the_language(on: On) -> None:
    rows = "".join(f"<tr><td>Tea<td>{each}" for each in ("1,234", "3,5"))
    async with on(f"<html lang=de><h2>Prices</h2><table><tr><th>Item<th>Left{rows}</table>") as hand:
        outcome = await hand.act(Extract(mark="Prices", json_schema=_with(Left={"type": "number"})))
        assert json.loads(outcome.read) == [{"Left": 1.234}, {"Left": 3.5}]


FEW = "".join(f"<div role=row><span role=gridcell>k{n}</span> <span role=gridcell>{n}</span></div>" for n in range(5))
ROW_COUNT = f"<div role=grid aria-label=T aria-rowcount=1000><div role=row><span role=columnheader>K</span> <span role=columnheader>N</span></div>{FEW}</div>"
SPACED = """<div id=v style="height:200px;overflow:auto"><table style="width:100%"><caption>T</caption><thead><tr><th>K<th>N<tbody id=b></table></div>
<script>b.innerHTML = Array.from({length: 12}, (_, n) => `<tr style="height:24px"><td>k${n}<td>${n}`).join('') + '<tr style="height:9000px"></tr>'</script>"""
LIFTED = f"<div style='height:150px;overflow:auto'><div role=table aria-label=T><div role=row><span role=columnheader>K</span> <span role=columnheader>N</span></div><div style='height:6000px'><div style='transform:translateY(0)'>{FEW}</div></div></div></div>"
WHOLE = "<div style='height:90px;overflow:auto'><table><caption>T</caption><tr><th>K<th>N" + "".join(
    f"<tr><td>k{n}<td>{n}" for n in range(30)
)
ROOMY = f"<div style='height:500px;overflow:auto'><div role=table aria-label=T style='height:500px'><div role=row><span role=columnheader>K</span> <span role=columnheader>N</span></div>{FEW}</div></div>"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (ROW_COUNT, "; 5 of 999 rows are on the page: scroll or turn its pages for the others."),
        (SPACED, "; only these 12 rows are on the page now: scroll for the others."),
        (LIFTED, "; only these 5 rows are on the page now: scroll for the others."),
        (WHOLE, ""),
        (ROOMY, ""),
    ],
)
async def test_rows_that_are_not_on_the_page_are_told_of(on: On, body: str, says: str) -> None:
    async with on(body) as hand:
        got = await hand.act(Extract(mark="T", json_schema=_with(K={"type": "string"}, N={"type": "integer"})))
        read = await hand.act(Read(what="table", mark="T"))
        for outcome in (got, read):
            assert outcome.status == "done", outcome.sentence
            assert outcome.sentence.endswith(
                says or ' rows of the table "T".' if outcome is got else says or " rows."
            ), outcome.sentence
        assert all(row["K"] == f"k{row['N']}" for row in json.loads(got.read))


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (("5 kg", "500 g"), 'Row 1 has "5 kg" for N and row 2 has "500 g", in another unit: their numbers'),
        (("$5", "€5"), 'Row 1 has "$5" for N and row 2 has "€5", in another unit: their numbers'),
        (("T€ 5", "€ 7"), "may be more than it says, because of the 'T' before it"),
    ],
)
async def test_a_column_of_several_units_is_no_column_of_numbers(on: On, cells: tuple[str, str], said: str) -> None:
    async with on(f"<table><tr><th>N<tr><td>{cells[0]}<tr><td>{cells[1]}</table>") as hand:
        outcome = await hand.act(Extract(mark="", json_schema=_with(N={"type": "number"})))
        assert (outcome.status, said in outcome.sentence) == ("refused", True), outcome.sentence


async def test_rows_that_nobody_sees_are_none_and_a_footer_and_a_heading_of_thousands_are_told(on: On) -> None:
    unseen = "position:absolute;left:-9999px", "clip-path:inset(100%)", "display:block;height:0;overflow:hidden"
    hidden = "".join(f"<tr style='{style}'><td>99" for style in unseen)
    body = f"<table><tr><th>T€<tbody><tr><td>1{hidden}<tr><td>2<tfoot><tr><td>3</table>"
    async with on(body) as hand:
        outcome = await hand.act(Extract(mark="", json_schema=_with(**{"T€": {"type": "number"}})))
        assert outcome.read == '[{"T€": 1}, {"T€": 2}, {"T€": 3}]'
        assert outcome.sentence == (
            "Extracted 3 rows of the table of the page; the last row is its footer, which may hold totals; the heading "
            '"T€" may say that its numbers are thousands or more, which are as written.'
        )

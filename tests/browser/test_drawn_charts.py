"""Claims about charts on a canvas, read with the real OCR engine on a page that knows what it drew."""

from __future__ import annotations

import re
from math import log10
from pathlib import Path

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from vision_agent.actions import Read
from vision_agent.browser.act.read import how_exact
from vision_agent.geometry import Box
from vision_agent.vision.ocr import can_read
from vision_agent.vision.surfaces.charts import Chart, Series

pytestmark = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")

PAGE = Path(__file__).parents[2] / "fixtures" / "drawn" / "chart.html"
ABOUT = Path(__file__).parents[2] / "docs" / "pages" / "concepts" / "surfaces.md"
OCR = SETTINGS.model_copy(update={"ocr_deadline_s": 60})


async def table_of(hand: Hand) -> list[list[str]]:
    return (await read_table(hand))[0]


async def read_table(hand: Hand, *, exact: bool = False) -> tuple[list[list[str]], str]:
    """The table, headings first, and the sentence of the outcome."""
    await hand.page.set_viewport_size({"width": 920, "height": 520})
    await hand.look()
    surface = next(mark.number for mark in hand.seen.marks if mark.kind == "surface")
    outcome = await hand.act(Read(what="table", mark=surface, exact=exact))
    assert outcome.read, outcome.sentence
    return [line.split(" | ") for line in outcome.read.splitlines()], outcome.sentence


@pytest.mark.parametrize("kind", ["bars", "lines", "log"])
async def test_the_table_of_a_chart_has_its_values_within_two_percent_of_the_axis(on: On, kind: str) -> None:
    async with on("", {"/at": PAGE.read_text("utf-8")}, path=f"/at?kind={kind}", settings=OCR) as hand:
        [head, *rows] = await table_of(hand)
        drawn = await hand.js("drawn.chart()")
        assert head[1:] == [each["name"] for each in drawn["series"]]
        read = {row[0].strip(): [float(cell.split(" ±")[0]) for cell in row[1:]] for row in rows if "(" not in row[0]}
        assert list(read) == drawn["x"]
        for at, month in enumerate(drawn["x"]):
            for value, series in zip(read[month], drawn["series"], strict=True):
                true = series["values"][at]
                off = abs(log10(value) - log10(true)) / 3 if kind == "log" else abs(value - true) / 1000
                assert off <= 0.02, (month, value, true)


async def test_bars_are_marks_with_their_values_and_nothing_is_marked_between_grid_lines(on: On) -> None:
    async with on("", {"/at": PAGE.read_text("utf-8")}, path="/at?kind=bars", settings=OCR) as hand:
        await table_of(hand)
        bars = {mark.name: mark for mark in hand.seen.marks if mark.looks_like == "bar"}
        assert len(bars) == 12
        assert bars["Castle, Mar"].look == "blue"
        assert (bars["Castle, Mar"].state.value or "").startswith("about 6")
        others = [mark.tag for mark in hand.seen.marks if mark.source != "dom" and mark.looks_like != "bar"]
        assert sorted(set(others)) in (["box", "words"], ["words"])
        assert others.count("box") <= 2  # the signs of the legend
        legend = {mark.name for mark in hand.seen.marks if mark.looks_like == "legend entry"}
        assert legend == {"Castle", "Garden"}
        assert "is a chart of 2 series; read its table" in hand.seen.listing


async def test_the_page_about_surfaces_shows_a_bar_as_it_is_read_here(on: On) -> None:
    (shown,) = re.findall(r'value="about ([\d.]+) ± ([\d.]+)".*>Castle, Mar$', ABOUT.read_text("utf-8"), re.M)
    async with on("", {"/at": PAGE.read_text("utf-8")}, path="/at?kind=bars", settings=OCR) as hand:
        await table_of(hand)
        (bar,) = (mark for mark in hand.seen.marks if mark.name == "Castle, Mar")
        read = re.fullmatch(r"about ([\d.]+) ± ([\d.]+)", bar.state.value or "")
    assert read
    value, error = float(read[1]), float(read[2])
    assert float(shown[0]) == pytest.approx(value, abs=1)
    assert float(shown[1]) == pytest.approx(error, abs=0.5)


@pytest.mark.parametrize("kind", ["bars", "lines"])
async def test_what_a_page_shows_under_the_pointer_is_exact(on: On, kind: str) -> None:
    async with on("", {"/at": PAGE.read_text("utf-8")}, path=f"/at?kind={kind}&hover=1", settings=OCR) as hand:
        [_, *rows], said = await read_table(hand, exact=True)
        drawn = await hand.js("drawn.chart()")
        read = {row[0].strip(): row[1:] for row in rows if "(" not in row[0]}
        exact = 0
        for at, month in enumerate(drawn["x"]):
            for cell, series in zip(read[month], drawn["series"], strict=True):
                exact += "±" not in cell
                assert "±" in cell or cell == str(series["values"][at] + 1)  # a slow machine has no time for all
        assert exact >= 4
        assert f"{exact} values as the page shows them" in said


async def test_a_number_under_the_pointer_that_is_far_from_the_estimate_is_no_value(on: On) -> None:
    async with on("", {"/at": PAGE.read_text("utf-8")}, path="/at?kind=bars&hover=wrong", settings=OCR) as hand:
        [_, *rows], said = await read_table(hand, exact=True)
        assert all("±" in cell for row in rows for cell in row[1:])
        assert "estimated from the picture" in said


@pytest.mark.parametrize("look", ["filled", "hollow", "rising"])
async def test_candles_are_read_whose_scale_is_drawn_on_canvases_beside_theirs(on: On, look: str) -> None:
    page = (PAGE.parent / "candles.html").read_text("utf-8")
    async with on("", {"/at": page}, path=f"/at?look={look}", settings=OCR) as hand:
        [head, *rows] = await table_of(hand)
        true = await hand.js("drawn.candles()")
        assert head[1:] == ["high", "body top", "body bottom", "low"]
        assert [round(float(row[0])) for row in rows] == [3 + at for at in range(len(true))]
        for row, candle in zip(rows, true, strict=True):
            for cell, name in zip(row[1:], ("high", "top", "bottom", "low"), strict=True):
                assert abs(float(cell.split(" ±")[0]) - candle[name]) <= 0.02 * 100, (row, candle)
        marked = [mark for mark in hand.seen.marks if mark.looks_like == "candle"]
        assert len(marked) == len(true)
        assert {mark.look for mark in hand.seen.marks if mark.surface == marked[0].surface} == {""}


async def test_price_bars_without_bodies_are_taken_for_no_lines(on: On) -> None:
    page = (PAGE.parent / "candles.html").read_text("utf-8")
    async with on("", {"/at": page}, path="/at?look=bars", settings=OCR) as hand:
        await hand.page.set_viewport_size({"width": 920, "height": 520})
        await hand.look()
        surface = next(mark.number for mark in hand.seen.marks if mark.kind == "surface")
        outcome = await hand.act(Read(what="table", mark=surface))
        assert (outcome.status, outcome.read) == ("refused", "")
        assert "is a chart" not in hand.seen.listing


def test_exact_values_that_there_was_no_time_for_are_counted() -> None:
    values = (("Jan", 12.0, 0.0), ("Feb", 15.2, 0.4), ("Mar", 9.1, 0.4))
    chart = Chart(Box(x=0, y=0, width=400, height=300), (Series("blue", values),))
    said = how_exact(chart, late=2)
    assert said.startswith("1 values as the page shows them, 2 estimated from the picture (±); the 20 seconds")
    assert said.endswith("were over before 2 of them")
    assert "seconds" not in how_exact(chart, late=0)


KNOWN_BARS = [
    ("height=360&low=0&high=100&font=16px+sans-serif&rules=1", (20, 55, 80, 35, 62, 91)),
    ("height=360&low=0&high=100&font=12px+sans-serif", (20, 55, 80, 35, 62, 91)),
    ("height=260&low=0&high=4000&font=13px+sans-serif&rules=1", (1200, 3400, 2800, 3900, 150, 2222)),
    ("height=410&low=60&high=80&font=14px+serif", (62, 71, 79.5, 65, 77, 68)),
    ("height=333&low=-40&high=40&font=14px+sans-serif&rules=1", (-20, 30, 10, 39, -35, 5)),
]
LYING_BARS = [
    ("lying=1&height=620&low=0&high=100&font=16px+sans-serif&rules=1", (20, 55, 80, 35, 62, 91)),
    ("lying=1&height=500&low=0&high=4000&font=13px+sans-serif&rules=1", (1200, 3400, 2800, 3900, 150, 2222)),
    ("lying=1&height=433&low=0&high=100&font=12px+sans-serif", (20, 55, 80, 35, 62, 91)),
]


@pytest.mark.parametrize(
    ("asked", "values", "bias"),
    [*((*each, 0.2) for each in KNOWN_BARS), *((*each, 0.3) for each in LYING_BARS)],
)
async def test_bars_of_known_values_are_read_within_their_error_and_without_bias(
    on: On, asked: str, values: tuple[float, ...], bias: float
) -> None:
    """`bias`: the largest mean error, in CSS pixels."""
    page = (PAGE.parent / "known_bars.html").read_text("utf-8")
    path = f"/at?{asked}&values={','.join(map(str, values))}"
    async with on("", {"/at": page}, path=path, settings=OCR) as hand:
        [_, *rows] = await table_of(hand)
        read = [tuple(map(float, row[1].split(" ± "))) for row in rows]
        off = [value - true for (value, _), true in zip(read, values, strict=True)]
        assert all(abs(each) <= error for each, (_, error) in zip(off, read, strict=True)), (read, values)
        pixels = await hand.js("drawn.pixels")
        assert abs(sum(off) / len(off)) * pixels <= bias, (read, values)
        assert max(error for _, error in read) * pixels <= 2

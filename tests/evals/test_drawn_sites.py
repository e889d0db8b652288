"""The sites that draw their controls on a canvas: each is where `window.drawn` says, and does what it shows."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import combinations
from math import ceil, floor
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Browser, Page

from vision_agent.evals.suites.fixture_sites import Report, Site, served, tasks_of

SITES = Path(__file__).parents[2] / "fixtures" / "sites"
SITES_DRAWN = ("sheet", "chart", "paint", "flow", "board")

CLICKED = {
    "sheet": ("C4", Report(event="cell_selected", fields={"cell": "C4"})),
    "chart": ("series:Online", Report(event="series_toggled", fields={"series": "Online", "shown": False})),
    "paint": ("colour:red", Report(event="colour", fields={"colour": "red"})),
    "flow": ("check-stock", Report(event="selected", fields={"what": "check-stock"})),
    "board": ("new", Report(event="new_game")),
}
"""One control of each site, and what it reports when it is clicked."""
WRITTEN = {"sheet": "Halden Lighting", "chart": "Wholesale", "paint": "", "flow": "Check stock", "board": "Hint"}
"""A word that shows on each canvas; empty where none does."""
KINDS = {"button", "cell", "shape", "handle", "toggle"}

Control = dict[str, Any]


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[str, Site]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(served(SITES / name)) for name in SITES_DRAWN}


async def opened(page: Page, site: Site) -> None:
    site.reset()
    await page.goto(site.url)
    await page.wait_for_function("window.drawn")


async def controls(page: Page) -> dict[str, Control]:
    found = await page.evaluate("window.drawn.controls()")
    assert len({control["id"] for control in found}) == len(found)
    return {control["id"]: control for control in found}


async def written(page: Page) -> list[str]:
    return [word["text"] for word in await page.evaluate("window.drawn.texts()")]


async def middle(page: Page, name: str) -> tuple[float, float]:
    box = (await controls(page))[name]["box"]
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


async def click(page: Page, *names: str) -> None:
    for name in names:
        await page.mouse.click(*await middle(page, name))


async def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    await page.mouse.move(*start)
    await page.mouse.down()
    await page.mouse.move(*end, steps=4)
    await page.mouse.up()


async def reported(page: Page, site: Site, count: int) -> list[Report]:
    """All reports, when there are so many; asks the server, which answers in the order of arrival."""
    asks = "() => fetch('/api/log').then(answer => answer.json()).then(log => log.length)"
    async with asyncio.timeout(120):
        while await page.evaluate(asks) < count:
            pass
    found = list(site.state())
    assert len(found) == count, found
    return found


def overlap(one: Control, other: Control) -> bool:
    """Whether two controls share more than an edge, and neither holds the other; ports stand on rims."""
    if one["id"].startswith(f"{other['id']}.") or other["id"].startswith(f"{one['id']}."):
        return False
    (a, b) = (one["box"], other["box"])
    width = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
    height = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
    if width < 0.01 or height < 0.01:
        return False
    return width * height < min(a["width"] * a["height"], b["width"] * b["height"]) - 0.01


# --- every drawn site -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SITES_DRAWN)
def test_each_site_has_three_tasks_that_click_on_its_canvas(name: str) -> None:
    tasks = tasks_of(SITES / name)
    assert len(tasks) == 3
    assert all(any(" of " in line for line in task.steps) for task in tasks)


@pytest.mark.parametrize("name", SITES_DRAWN)
@pytest.mark.parametrize("width", [1280, pytest.param(400, marks=pytest.mark.thorough)])
async def test_controls_lie_on_the_canvas_and_beside_each_other(
    page: Page, sites: dict[str, Site], name: str, width: int
) -> None:
    await page.set_viewport_size({"width": width, "height": 800})
    await opened(page, sites[name])
    found = await controls(page)
    canvas = await page.locator("canvas").bounding_box()
    assert canvas
    for control in found.values():
        box = control["box"]
        assert control["kind"] in KINDS
        assert canvas["x"] <= box["x"] < box["x"] + box["width"] <= canvas["x"] + canvas["width"] + 0.01
        assert canvas["y"] <= box["y"] < box["y"] + box["height"] <= canvas["y"] + canvas["height"] + 0.01
    assert [pair for pair in combinations(found.values(), 2) if overlap(*pair)] == []
    assert await page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("name", SITES_DRAWN)
@pytest.mark.parametrize("ratio", [pytest.param(1, marks=pytest.mark.thorough), 2])
async def test_a_control_is_hit_at_its_centre_and_the_canvas_is_as_sharp_as_the_screen(
    browser: Browser, sites: dict[str, Site], name: str, ratio: int
) -> None:
    control, report = CLICKED[name]
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, device_scale_factor=ratio)
    page = await context.new_page()
    await opened(page, sites[name])
    sharpness = "document.querySelector('canvas').width / document.querySelector('canvas').clientWidth"
    assert await page.evaluate(sharpness) == ratio
    await click(page, control)
    assert await reported(page, sites[name], 1) == [report]
    await context.close()


@pytest.mark.parametrize("name", SITES_DRAWN)
async def test_boxes_move_with_the_page_and_what_is_scrolled_away_is_left_out(
    page: Page, sites: dict[str, Site], name: str
) -> None:
    control, report = CLICKED[name]
    await page.set_viewport_size({"width": 1280, "height": 460})
    await opened(page, sites[name])
    before = await controls(page)
    await page.evaluate("window.scrollTo(0, 100)")
    after = await controls(page)
    assert after[control]["box"]["y"] == pytest.approx(before[control]["box"]["y"] - 100)
    assert all(0 <= each["box"]["y"] < each["box"]["y"] + each["box"]["height"] <= 460 for each in after.values())
    gone = {key for key, each in before.items() if each["box"]["y"] + each["box"]["height"] <= 100}
    assert not gone & set(after)
    await click(page, control)
    assert await reported(page, sites[name], 1) == [report]


@pytest.mark.parametrize("name", SITES_DRAWN)
async def test_words_stand_where_they_are_said_to_be(page: Page, sites: dict[str, Site], name: str) -> None:
    await opened(page, sites[name])
    shown = Image.open(io.BytesIO(await page.screenshot())).convert("RGB")
    for word in await page.evaluate("window.drawn.texts()"):
        box = word["box"]
        left, top = floor(box["x"]), floor(box["y"])
        place = (left, top, max(left + 1, ceil(box["x"] + box["width"])), max(top + 1, ceil(box["y"] + box["height"])))
        assert len(shown.crop(place).getcolors(1 << 16) or "many") > 1, word
    assert WRITTEN[name] in await written(page) if WRITTEN[name] else await written(page) == []


# --- the sheet --------------------------------------------------------------------------------------------------------


async def test_what_is_typed_shows_and_is_kept_by_enter_and_tab_but_not_by_escape(
    page: Page, sites: dict[str, Site]
) -> None:
    site = sites["sheet"]
    await opened(page, site)
    await click(page, "B11")
    await page.keyboard.type("Toner")
    assert (await written(page)).count("Toner") == 2  # in the cell and in the line above
    await page.keyboard.press("Enter")
    await page.keyboard.type("Lost")
    await page.keyboard.press("Escape")
    await page.keyboard.type("Tea")
    await page.keyboard.press("Tab")
    found = await reported(page, site, 5)
    assert [(report.event, *report.fields.values()) for report in found] == [
        ("cell_selected", "B11"),
        ("cell_set", "B11", "Toner", "typing"),
        ("cell_selected", "B12"),
        ("cell_set", "B12", "Tea", "typing"),
        ("cell_selected", "C12"),
    ]
    names = {key: control["name"] for key, control in (await controls(page)).items()}
    assert (names["B11"], names["B12"], names["C12"]) == ("Toner", "Tea", "")


async def test_a_double_click_goes_on_with_what_a_cell_holds(page: Page, sites: dict[str, Site]) -> None:
    site = sites["sheet"]
    await opened(page, site)
    await page.mouse.dblclick(*await middle(page, "B6"))
    for key in ("s", "Home", "2", "Space", "ArrowRight", "Enter"):
        await page.keyboard.press(key)
    found = await reported(page, site, 3)
    assert found[1].fields == {"cell": "B6", "value": "2 Whiteboards", "by": "typing"}


@pytest.mark.thorough
async def test_a_dragged_range_shows_its_sum_and_is_cleared_and_brought_back(
    page: Page, sites: dict[str, Site]
) -> None:
    site = sites["sheet"]
    await opened(page, site)
    await drag(page, await middle(page, "J2"), await middle(page, "J5"))
    assert "Sum 4,600.00" in await written(page)
    await click(page, "clear")
    assert "Sum 0.00" in await written(page)
    await click(page, "undo")
    assert "Sum 4,600.00" in await written(page)
    found = await reported(page, site, 3)
    assert found == [
        Report(event="range_selected", fields={"range": "J2:J5", "sum": 4600}),
        Report(event="cleared", fields={"range": "J2:J5"}),
        Report(event="undone", fields={"range": "J2:J5"}),
    ]


@pytest.mark.thorough
async def test_the_wheel_and_the_scroll_bar_bring_other_cells(page: Page, sites: dict[str, Site]) -> None:
    await opened(page, sites["sheet"])
    await page.mouse.move(*await middle(page, "C5"))
    await page.mouse.wheel(0, 270)
    await page.wait_for_function("window.drawn.controls().find(({ lattice }) => lattice).id === 'A11'")
    x, y = await middle(page, "scroll")
    await drag(page, (x, y), (x, 790))
    cells = [key for key, control in (await controls(page)).items() if control.get("lattice") == "cells"]
    assert "A100" in cells
    await page.mouse.move(*await middle(page, "C95"))
    await page.mouse.wheel(5000, 0)
    await page.wait_for_function("window.drawn.controls().some(({ id }) => id === 'Z100')")


# --- the chart --------------------------------------------------------------------------------------------------------


async def test_a_hovered_bar_shows_its_value_until_it_is_left(page: Page, sites: dict[str, Site]) -> None:
    await opened(page, sites["chart"])
    plain = await page.locator("canvas").screenshot()
    await page.mouse.move(*await middle(page, "bar:Online:September"))
    assert {"Online, September", "€17,250"} <= set(await written(page))
    assert await page.locator("canvas").screenshot() != plain
    await page.mouse.move(5, 5)
    assert await page.locator("canvas").screenshot() == plain
    assert sites["chart"].state() == ()


async def test_a_pinned_value_stands_in_the_panel_until_it_is_clicked_again(page: Page, sites: dict[str, Site]) -> None:
    site = sites["chart"]
    await opened(page, site)
    await click(page, "bar:Shop:August")
    assert await page.get_by_text("€25,720").is_visible()
    await click(page, "bar:Shop:August")
    assert await page.get_by_text("Click a bar to pin its value here.").is_visible()
    found = await reported(page, site, 2)
    assert found[0] == Report(event="pinned", fields={"series": "Shop", "month": "August", "value": 25720})
    assert found[1] == Report(event="unpinned", fields={"series": "Shop", "month": "August"})


async def test_only_what_is_chosen_has_bars(page: Page, sites: dict[str, Site]) -> None:
    await opened(page, sites["chart"])
    assert len([key for key in await controls(page) if key.startswith("bar:")]) == 24
    await click(page, "range:3", "series:Cafés", "series:Shop", "series:Online")
    bars = [key for key in await controls(page) if key.startswith("bar:")]
    assert bars == ["bar:Wholesale:October", "bar:Wholesale:November", "bar:Wholesale:December"]


# --- the drawing program ----------------------------------------------------------------------------------------------


async def paper_at(page: Page, x: float, y: float) -> tuple[float, float]:
    """A place given in the coordinates of the paper, which begins 126 pixels from the canvas's left and 22 below."""
    box = await page.locator("canvas").bounding_box()
    assert box
    return box["x"] + 126 + x, box["y"] + 22 + y


@pytest.mark.parametrize(
    "shape", ["pencil", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("line", "rectangle", "ellipse"))]
)
async def test_a_shape_is_drawn_from_where_the_drag_begins_and_undone(
    page: Page, sites: dict[str, Site], shape: str
) -> None:
    site = sites["paint"]
    await opened(page, site)
    await click(page, "colour:blue", "size:large", f"tool:{shape}")
    plain = await page.screenshot(clip={"x": 200, "y": 120, "width": 260, "height": 60})
    await drag(page, await paper_at(page, 40, 30), await paper_at(page, 300, 90))
    assert await page.screenshot(clip={"x": 200, "y": 120, "width": 260, "height": 60}) != plain
    found = await reported(page, site, 4)
    drawn = {"shape": shape, "from": [40, 30], "to": [300, 90], "colour": "blue", "size": "large"}
    assert found[3] == Report(event="drawn", fields=drawn)
    await click(page, "work:undo")
    assert await page.screenshot(clip={"x": 200, "y": 120, "width": 260, "height": 60}) == plain
    assert (await reported(page, site, 5))[4] == Report(event="undone", fields={"shape": shape})


async def test_colour_is_poured_into_what_the_lines_enclose_and_nowhere_else(
    page: Page, sites: dict[str, Site]
) -> None:
    site = sites["paint"]
    await opened(page, site)
    await click(page, "tool:fill", "colour:yellow")
    sun, sky = await paper_at(page, 851, 138), await paper_at(page, 600, 40)
    await page.mouse.click(*sun)
    colour = """([x, y]) => { const frame = document.querySelector('canvas').getBoundingClientRect();
      const context = document.querySelector('canvas').getContext('2d');
      return Array.from(context.getImageData(x - frame.x, y - frame.y, 1, 1).data.slice(0, 3)); }"""
    assert await page.evaluate(colour, sun) == [0xF7, 0xCF, 0x3C]
    assert await page.evaluate(colour, sky) == [255, 255, 255]
    filled = (await reported(page, site, 3))[2]
    assert filled.fields == {"at": [851, 138], "colour": "yellow", "inside": "sun"}


@pytest.mark.thorough
async def test_clear_leaves_empty_paper_and_undo_brings_the_sketch_back(page: Page, sites: dict[str, Site]) -> None:
    await opened(page, sites["paint"])
    plain = await page.locator("canvas").screenshot()
    await click(page, "work:clear")
    assert await page.get_by_text("Empty paper").is_visible()
    await click(page, "work:undo")
    await page.mouse.move(5, 5)
    assert await page.locator("canvas").screenshot() == plain

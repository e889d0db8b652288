"""Claims about shapes that do not fill their boxes, such as the parishes of a map."""

from __future__ import annotations

from playwright.async_api import Page

from tests.conftest import ROOT, Server
from vision_agent.browser import live
from vision_agent.observation import Mark
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

SHAPES = {"north", "middle", "ring", "bay"}
AT = """([x, y]) => document.elementFromPoint(x, y).id"""


async def marks_of_the_map(page: Page, serve: Server) -> dict[str, Mark]:
    """By the id of what is hit where a click goes."""
    async with live.attach(page, ObserveSettings(max_surface_marks=0), ImageLimits()) as browser:
        await browser.open(f"{serve.folder(ROOT / 'fixtures' / 'pages')}/map_shapes.html")
        observation = await browser.observe()
    return {await page.evaluate(AT, [mark.point.x, mark.point.y]): mark for mark in observation.marks}


async def test_numbers_lie_on_the_shapes_and_clicks_go_to_their_middle(page: Page, serve: Server) -> None:
    marks = await marks_of_the_map(page, serve)

    assert marks.keys() >= SHAPES
    for name in SHAPES:
        label, body = marks[name].label, marks[name].body
        assert label, name
        assert body, name
        corners = [(label.box.x, label.box.y), (label.box.right, label.box.bottom), (body.center.x, body.center.y)]
        assert [await page.evaluate(AT, list(each)) for each in corners] == [name] * 3
    assert marks["inn"].body is None


async def test_a_click_goes_past_a_part_that_cannot_be_seen(page: Page, serve: Server) -> None:
    marks = await marks_of_the_map(page, serve)

    assert "dig_end" not in marks

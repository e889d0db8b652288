"""Claims about what is read, waited for and looked at closer on widgets and pages that others made."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import json

import pytest

from tests.browser.libraries import GRID, JQUERY_UI, LAYUI, SHEET, UIKIT, Widget, done, only
from vision_agent.actions import Extract, Point, Read, Scroll, Wait, Zoom

PEOPLE = '{"type": "array", "items": {"type": "object", "properties": {"Name": {"type": "string"}, "Age": {"type": "integer"}}}}'


async def test_the_rows_of_a_grid_are_read_under_its_head_though_that_is_another_table(widget: Widget) -> None:
    async with widget("layui-src", GRID, "window.ready && document.querySelector('.layui-table-view td')") as hand:
        for number in (hand.number("Name"), only(hand, lambda mark: "Ann" in mark.name).number):
            extracted = await hand.act(Extract(mark=number, json_schema=PEOPLE))
            assert extracted.read, extracted.sentence
            assert json.loads(extracted.read) == [{"Name": "Ben", "Age": 27}, {"Name": "Ann", "Age": 31}]
        table = await hand.act(Read(what="table", mark=hand.number("Name")))
        assert table.read == "Name | Age\nBen | 27\nAnn | 31"


@pytest.mark.thorough
async def test_a_drawn_grid_is_scrolled_by_the_wheel_and_looked_at_closer(widget: Widget) -> None:
    async with widget("x-data-spreadsheet", SHEET) as hand:
        zoomed = await hand.act(Zoom(target=Point(x=60, y=30), to=Point(x=300, y=80)))
        assert zoomed.effect == "zoomed"
        await hand.look()
        assert hand.seen.region is not None
        assert hand.seen.region.width == 240

        await hand.look()
        await done(hand, Scroll(target=Point(x=300, y=300), direction="down", pages=0.5))
        assert await hand.js("document.querySelector('.x-spreadsheet-scrollbar.vertical').scrollTop") > 0


@pytest.mark.parametrize(
    ("package", "body", "ready", "what"),
    [
        pytest.param(
            "layui-src",
            LAYUI.format(
                body="<div class=layui-carousel id=show style='font-size:60px'><div carousel-item>"
                + "".join(f"<div>{number}</div>" for number in range(30))
                + "</div></div>",
                modules="['carousel']",
                script="layui.carousel.render({elem: '#show', width: '300px', height: '100px', interval: 800})",
            ),
            "window.ready",
            "document.querySelector('[carousel-item] .layui-this').textContent",
            id="pictures that change places",
        ),
        pytest.param(
            "uikit",
            UIKIT
            + "<div uk-countdown='date: 2099-01-01' style='font-size:90px'><span class=uk-countdown-seconds></span></div>",
            "document.querySelector('.uk-countdown-seconds').textContent",
            "document.querySelector('.uk-countdown-seconds').textContent",
            id="a countdown",
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            "jquery-ui-dist",
            JQUERY_UI
            + "<div id=bar style='width:300px'></div><script>let at = 0; $('#bar').progressbar({value: 0}); setInterval(() => $('#bar').progressbar('value', at += 3), 700)</script>",
            "window.jQuery !== undefined",
            "$('#bar').progressbar('value')",
            id="a bar that grows",
            marks=pytest.mark.thorough,
        ),
    ],
)
async def test_what_changes_by_itself_is_waited_for(
    widget: Widget, package: str, body: str, ready: str, what: str
) -> None:
    async with widget(package, body, ready) as hand:
        was = await hand.js(what)
        changed = await done(hand, Wait(change=True, seconds=60))
        assert "The page changed after" in changed.sentence
        now = await hand.js(what)
        await done(hand, Wait(seconds=1.2))
        assert len({was, now, await hand.js(what)}) >= 2, "it went on"

"""Claims about what is read, waited for and looked at closer on widgets and pages that others made."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import json

import pytest

from tests.browser.libraries import GRID, SHEET, Widget, done, only
from vision_agent.actions import Extract, Point, Read, Scroll, Zoom

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

"""The benchmark of scrolling clicks the rows that it says it clicks."""

from __future__ import annotations

from bench_scrolling import measured
from playwright.async_api import Page


async def test_every_way_clicks_the_same_rows_and_acting_is_told_from_looking(page: Page) -> None:
    plain, *ours = await measured(page, clicks=2)
    assert (plain.ratio, plain.looking) == (1.0, 0.0)
    assert [way.name for way in ours] == ["on screen", "by number", "by step lines"]
    assert all(way.acting > 0 and way.looking > 0 for way in ours)

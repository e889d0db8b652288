"""The benchmark of acting clicks what it says it clicks, and finds the outcomes that it says it times."""

from __future__ import annotations

from bench_act import KINDS, measured
from playwright.async_api import Page


async def test_every_kind_of_click_has_the_outcome_that_is_timed(page: Page) -> None:
    found = await measured(page, clicks=2)
    assert [each.kind for each in found] == [*KINDS]
    assert all(each.acting > 0 and each.plain > 0 for each in found)

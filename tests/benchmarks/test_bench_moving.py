"""The benchmark of what moves counts what each press reached."""

from __future__ import annotations

import pytest
from bench_moving import measured
from playwright.async_api import Page


@pytest.mark.thorough
async def test_each_means_is_tried_on_each_thing_and_nothing_else_is_hit(page: Page) -> None:
    found = await measured(page, speeds=(40,), clicks=1)
    assert [(each.thing, each.means, each.clicks) for each in found] == [
        ("button", "mark", 3),
        ("drawn disc", "mark", 3),
        ("button", "point", 3),
        ("button", "no check", 3),
        ("drawn disc", "no check", 3),
    ]
    assert [each.wrong for each in found if each.means != "no check"] == [0, 0, 0]

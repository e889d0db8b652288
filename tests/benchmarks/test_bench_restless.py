"""The benchmark of pages that never rest looks at every kind of page, and compares it with the page at rest."""

from __future__ import annotations

import pytest
from bench_restless import AT_REST, KINDS, measured
from playwright.async_api import Browser


@pytest.mark.thorough
async def test_every_kind_of_page_is_compared_with_the_one_at_rest(browser: Browser) -> None:
    found = {each.kind: each for each in await measured(browser, rounds=1)}
    assert [*found] == [*KINDS]
    assert found[AT_REST].ratio == 1
    assert all(each.look > 0 for each in found.values())

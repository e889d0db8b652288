"""Claims about the variants of the fixture sites: the same tasks, and pages that are seen or served otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page

from vision_agent.errors import UsageError
from vision_agent.evals.items import ItemResult, setting_differences
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.suites.fixture_sites import served
from vision_agent.evals.suites.fixture_suite import SITES, FixtureSuite
from vision_agent.evals.suites.variants import VARIANTS, variants_named
from vision_agent.settings import BrowserSettings, Settings

HEADS = SITES.parent / "variants"


def test_a_variant_is_known_by_its_name_and_all_of_them_by_one_word() -> None:
    assert [each.name for each in variants_named(["rtl", "dark", "rtl"])] == ["rtl", "dark"]
    assert variants_named(["dark", "all"]) == VARIANTS
    with pytest.raises(UsageError, match="Unknown variant 'upside-down'"):
        variants_named(["upside-down"])
    assert {path.stem for path in HEADS.glob("*.html")} <= {each.name for each in VARIANTS}


def test_every_variant_differs_from_the_plain_sites_in_something() -> None:
    for each in VARIANTS:
        assert each.delay_s or each.browser or (HEADS / f"{each.name}.html").read_text("utf-8").strip(), each.name


def test_an_item_of_a_variant_is_another_item_of_the_same_task_and_is_called_so() -> None:
    suite = FixtureSuite(SITES)
    (right_to_left,) = suite.varied(["rtl"])
    items = [items_of(each, ["match"], Settings(), only=["shop/order-hoodie"])[0] for each in (suite, right_to_left)]
    assert items[0].id != items[1].id
    assert (items[0].suite, items[0].task, items[0].content) == (items[1].suite, items[1].task, items[1].content)
    results = [ItemResult.model_construct(item=each) for each in items]
    assert sorted(setting_differences(results).values()) == ["plain", "rtl"]


def test_the_browser_is_as_the_variant_says_and_else_as_it_was() -> None:
    settings = Settings(browser=BrowserSettings(timezone="Asia/Tokyo", device_ratio=3.0))
    seen = variants_named(["sharp"])[0].apply(settings).browser
    assert (seen.device_ratio, seen.timezone) == (2.0, "Asia/Tokyo")
    assert variants_named(["dark"])[0].apply(settings) is settings


def test_only_pages_begin_with_what_a_variant_puts_before_them() -> None:
    with served(SITES / "shop", head="<!-- before -->") as site:
        for path in ("/", "/cart", "/product"):
            assert "<head><!-- before -->" in httpx.get(site.url + path).text
        assert "before" not in httpx.get(f"{site.url}/shop.css").text


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "renamed",
            "[...document.querySelectorAll('button')].some((each) => each.innerText === 'Put into the basket')",
        ),
        ("cluttered", "document.querySelectorAll('.clutter-bar a').length === 12"),
        ("rtl", "getComputedStyle(document.body).direction === 'rtl'"),
        ("dark", "getComputedStyle(document.documentElement).filter !== 'none'"),
    ],
)
async def test_a_page_of_a_variant_is_so(page: Page, name: str, says: str) -> None:
    with served(SITES / "shop", head=(HEADS / f"{name}.html").read_text("utf-8")) as site:
        await page.goto(site.url)
        await page.wait_for_function(says)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["dark", "sharp", "german", "rtl", "slow"])
async def test_the_reference_lines_lead_through_a_shop_whose_variant_moves_and_renames_nothing(
    name: str, tmp_path: Path
) -> None:
    (suite,) = FixtureSuite(SITES).varied([name])
    items = items_of(suite, ["steps"], Settings(), only=["shop/order-hoodie"])
    told: list[Any] = []
    [result] = await run_items(items, suite, Settings(), tmp_path, tell=told.append)
    assert result.passed, (result.sentence, result.error)
    assert told == [result]

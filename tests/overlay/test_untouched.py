"""Claims about leaving no trace: a page cannot see that it is looked at, unless a person asked to see marks on it."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.conftest import ROOT, Server
from tests.overlay.traces import TRACES, WATCH
from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits


@pytest.mark.parametrize(
    "trait",
    [
        "native_controls",
        "frame_same_site",
        "shadow",
        "shadow_closed",
        "hover_menu",
        "scroller",
        "cookie_dialog",
        "strict_csp",
        "rotated",
        "frame_turned",
    ],
)
async def test_looking_leaves_nothing_that_the_page_could_see(page: Page, serve: Server, trait: str) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(f"{serve.folder(ROOT / 'fixtures' / 'pages')}/{trait}.html")
        await page.wait_for_load_state()
        await page.evaluate(WATCH)
        before = await page.evaluate(TRACES)
        for _ in range(3):
            await browser.observe()
        assert await page.evaluate(TRACES) == before
    after = await page.evaluate(TRACES)
    assert after == before
    assert after["records"] == []


PAGE = """<button id=b onclick="document.title += 'hit '">Under</button><dialog id=d>A dialog <button id=in>Inside</button></dialog>
<style>dialog{margin:60px;width:300px;height:200px}</style>"""
SHOWN = "document.querySelectorAll('[popover]').length"


async def test_marks_on_the_page_show_above_a_modal_dialog_let_clicks_through_and_go(page: Page, serve: Server) -> None:
    plain = ObserveSettings()
    async with live.attach(page, plain.model_copy(update={"marks_on_page": True}), ImageLimits()) as browser:
        await browser.open(serve({"/": PAGE}))
        await browser.observe()
        assert await page.evaluate(SHOWN) == 1
        await browser.act(Click(target=1), await browser.observe())
        assert await page.title() == "hit"
        await page.evaluate("d.showModal()")
        bare = await page.screenshot(clip={"x": 60, "y": 60, "width": 300, "height": 200})
        observation = await browser.observe()
        assert [mark.name for mark in observation.marks] == ["Inside"]
        assert await page.screenshot(clip={"x": 60, "y": 60, "width": 300, "height": 200}) != bare
        again = await browser.observe()
        assert again.clean.sha256 == observation.clean.sha256, "the marks shown are in no picture"
        assert again.at_rest
    assert await page.evaluate(SHOWN) == 0


async def test_marks_on_the_page_show_under_a_strict_content_policy(page: Page, serve: Server) -> None:
    async with live.attach(page, ObserveSettings(marks_on_page=True), ImageLimits()) as browser:
        await browser.open(f"{serve.folder(ROOT / 'fixtures' / 'pages')}/strict_csp.html")
        await browser.observe()
        shown = await page.screenshot()
        await browser.hide_marks()
        assert await page.screenshot() != shown

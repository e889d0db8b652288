"""A page whose script never ends: it is reported in time, and can be left or loaded again, whatever its site."""

from __future__ import annotations

import time

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Action, Back, Click, Goto, OpenTab, Reload
from vision_agent.browser import live
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

LONGEST_S = 15
"""After which a look or an action reports a page that hangs: 9 s and little more, and what a busy machine adds."""
LATER = "<title>Begin</title><button onclick='setTimeout(() => { for (;;); }, 300)'>Go</button><a href=/b>Next</a>"
AT_ONCE = "<title>Begin</title><button onclick='for (;;);'>Go</button>"


@pytest.mark.parametrize(
    ("way", "title"),
    [(Reload(), "Begin"), (Goto(url="/b"), "Other"), (OpenTab(url="/b"), "Other")],
    ids=["reload", "goto", "open-tab"],
)
@pytest.mark.parametrize("body", [LATER, AT_ONCE], ids=["later", "at-once"])
async def test_a_page_that_hangs_is_reported_in_time_and_can_be_left(
    page: Page, serve: Server, body: str, way: Action, title: str
) -> None:
    await page.goto(serve({"/": body, "/b": "<title>Other</title><button>Fine</button>"}))
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        observation = await browser.observe()
        began = time.monotonic()
        clicked = await browser.act(Click(target=1), observation)
        acted = time.monotonic()
        observation = await browser.observe()
        looked = time.monotonic()
        assert clicked.status == "done" or clicked.refusal == "timed_out", clicked
        assert max(acted - began, looked - acted) < LONGEST_S, (acted - began, looked - acted)
        assert observation.marks == ()
        assert any(each.startswith("The page does not answer") for each in observation.warnings)
        refused = await browser.act(Back(), observation)
        assert "reload it or open an address" in refused.sentence
        outcome = await browser.act(way, observation)
        assert outcome.status == "done", outcome
        observation = await browser.observe()
        assert observation.title == title
        assert [mark.name for mark in observation.marks][:1] == ["Fine" if title == "Other" else "Go"]

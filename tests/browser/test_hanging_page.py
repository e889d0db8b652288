"""A page whose script never ends: it is reported in time, and can be left or loaded again, whatever its site."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent import Agent, Settings
from vision_agent.actions import Action, Back, Click, Goto, OpenTab, Reload, Wait
from vision_agent.browser import live
from vision_agent.models.offline.steps import StepsModel
from vision_agent.settings import ObserveSettings
from vision_agent.types import Task
from vision_agent.vision.image_limits import ImageLimits

LONGEST_S = 15
"""After which a look or an action reports a page that hangs: 9 s and little more, and what a busy machine adds."""
LATER = "<title>Begin</title><button onclick='setTimeout(() => { for (;;); }, 247)'>Go</button><a href=/b>Next</a>"
AFTERWARDS = "<title>Begin</title><button onclick='void 0'>Go</button><a href=/b>Next</a>"
"""A page that the test lets hang once the click is over, however soon that is."""
BUSY = "<title>Begin</title><button>Go</button><script>for (const from = Date.now(); Date.now() - from < %d;);</script>"
"""A page whose script takes so many milliseconds before the page answers."""
AT_ONCE = "<title>Begin</title><button onclick='for (;;);'>Go</button>"


@pytest.mark.parametrize(
    ("way", "title"),
    [(Reload(), "Begin"), (Goto(url="/b"), "Other"), (OpenTab(url="/b"), "Other")],
    ids=["reload", "goto", "open-tab"],
)
@pytest.mark.parametrize("body", [AFTERWARDS, AT_ONCE], ids=["later", "at-once"])
async def test_a_page_that_hangs_is_reported_in_time_and_can_be_left(
    page: Page, serve: Server, body: str, way: Action, title: str
) -> None:
    await page.goto(serve({"/": body, "/b": "<title>Other</title><button>Fine</button>"}))
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        observation = await browser.observe()
        began = time.monotonic()
        clicked = await browser.act(Click(target=1), observation)
        acted = time.monotonic()
        if body == AFTERWARDS:
            await page.evaluate("() => { setTimeout(() => { for (;;); }) }")
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


async def test_a_page_that_hangs_while_its_effect_is_looked_for_is_reported_in_time(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": LATER}))
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        observation = await browser.observe()
        began = time.monotonic()
        await browser.act(Click(target=1), observation)
        assert time.monotonic() - began < LONGEST_S


async def test_an_address_that_was_opened_is_not_said_to_be_refused(page: Page, serve: Server) -> None:
    hangs = "<title>Other</title><script>onload = () => { for (;;); }</script>"
    site = serve({"/": "<button>Go</button>", "/b": hangs})
    await page.goto(site)
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        outcome = await browser.act(Goto(url="/b"), await browser.observe())
    assert (outcome.status, outcome.refusal) == ("partial", "timed_out"), outcome
    assert outcome.sentence.startswith(f"Opened {site}/b, but the page has not answered since"), outcome.sentence


HANGS = "<title>Begin</title><button>Go</button><script>%s</script>"


@pytest.mark.parametrize("way", [Reload(), Goto(url="/b"), OpenTab(url="/b")], ids=["reload", "goto", "open-tab"])
@pytest.mark.parametrize("script", ["for (;;);", "onload = () => { for (;;); }"], ids=["parsing", "loaded"])
async def test_a_page_that_hangs_at_the_first_look_is_reported_in_time_and_can_be_left(
    page: Page, serve: Server, script: str, way: Action
) -> None:
    site = serve({"/": HANGS % script, "/b": "<title>Other</title><button>Fine</button>"})
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(f"{site}/")
        began = time.monotonic()
        observation = await browser.observe()
        assert time.monotonic() - began < LONGEST_S
        assert observation.marks == ()
        assert observation.url == f"{site}/"
        assert observation.warnings[0].startswith("The page does not answer")
        pressed = await browser.act(Click(target=1), observation)
        assert (pressed.status, pressed.refusal) == ("refused", "timed_out")
        assert "click was not done: the page did not answer when it was looked at" in pressed.sentence
        outcome = await browser.act(way, observation)
        if isinstance(way, Reload):
            assert "opened it again" in outcome.sentence or "not answered since" in outcome.sentence, outcome
            return
        assert outcome.status == "done", outcome
        observation = await browser.observe()
        assert [mark.name for mark in observation.marks] == ["Fine"]


async def test_a_page_that_is_busy_for_five_seconds_before_it_first_answers_does_not_hang(
    page: Page, serve: Server
) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(serve({"/": BUSY % 5000}))
        observation = await browser.observe()
    assert [mark.name for mark in observation.marks] == ["Go"]


async def test_a_page_that_is_busy_for_long_can_be_waited_for(page: Page, serve: Server) -> None:
    async with live.attach(page, ObserveSettings(), ImageLimits()) as browser:
        await browser.open(serve({"/": BUSY % 14000}))
        observation = await browser.observe()
        assert observation.marks == ()
        waited = await browser.act(Wait(seconds=6), observation)
        assert waited.status == "done", waited
        assert waited.effect != "navigated"
        observation = await browser.observe()
    assert [mark.name for mark in observation.marks] == ["Go"]


async def test_a_run_whose_start_page_hangs_goes_on_elsewhere(page: Page, serve: Server, tmp_path: Path) -> None:
    site = serve({"/": HANGS % "for (;;);", "/b": "<button onclick='document.title = `Pressed`'>Fine</button>"})
    lines = [f"go to {site}/b", "click Fine", "finish"]
    agent = Agent(Task(goal="Press Fine", start_url=f"{site}/"), model=StepsModel(lines), page=page,
                  settings=Settings(runs=tmp_path))  # fmt: skip
    run = await agent.run()
    assert run.ending is not None
    assert run.ending.status == "done", run.ending
    assert run.steps[0].observation.warnings[0].startswith("The page does not answer")
    assert await page.title() == "Pressed"

"""Claims about requests that a page waits for, and about those that run beside it."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from answers import Answers, answering
from playwright.async_api import Page

from vision_agent.actions import Click
from vision_agent.browser import live
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome
from vision_agent.vision.image_limits import ImageLimits

PATIENT = ObserveSettings(quiet_s=0.1, settle_deadline_s=15, action_deadline_s=20)
HASTY = ObserveSettings(quiet_s=0.1, settle_deadline_s=0.6, action_deadline_s=20)
SHOW = "text => { document.body.append(Object.assign(document.createElement('button'), {textContent: 'Came'})); }"


@asynccontextmanager
async def on(page: Page, body: str, settings: ObserveSettings) -> AsyncIterator[tuple[live.LiveBrowser, Answers]]:
    with answering({"/": body}) as site:
        async with live.attach(page, settings, ImageLimits()) as browser:
            await browser.open(f"{site.address}/")
            yield browser, site


async def click(browser: live.LiveBrowser, observation: Observation | None = None) -> Outcome:
    seen = observation or await browser.observe()
    return await browser.act(Click(target=next(mark.number for mark in seen.marks if mark.name == "Go")), seen)


def names(observation: Observation) -> list[str]:
    return [mark.name for mark in observation.marks]


def pending(said: list[str] | tuple[str, ...]) -> list[str]:
    return [each for each in said if "been pending for" in each]


@pytest.mark.parametrize(
    "does",
    [
        f"fetch('/after/2.5/').then({SHOW})",
        f"fetch('/after/0.9/a').then(() => fetch('/after/0.9/b')).then(() => fetch('/after/0.9/c')).then({SHOW})",
        f"const r = new XMLHttpRequest(); r.open('POST', '/after/2.5/'); r.onload = {SHOW}; r.send('x')",
    ],
)
async def test_what_a_click_asked_for_is_waited_for(page: Page, does: str) -> None:
    async with on(page, f'<button onclick="{does}">Go</button>', PATIENT) as (browser, _):
        outcome = await click(browser)
        assert (outcome.effect, pending(outcome.changes)) == ("changed", [])
        assert "Nothing visible changed" not in outcome.sentence
        assert names(await browser.observe()) == ["Go", "Came"]


async def test_what_a_frame_asked_for_is_waited_for_too(page: Page) -> None:
    async with on(page, "", PATIENT) as (browser, site):
        site.pages = {"/": "<iframe src=/in>", "/in": f"<script>fetch('/after/2.5/').then({SHOW})</script>"}
        await browser.open(f"{site.address}/")
        assert names(await browser.observe()) == ["Came"]


async def test_what_is_still_pending_is_said(page: Page) -> None:
    body = "<button onclick='fetch(`/after/60/one?key=1`); fetch(`/after/60/two?key=2`)'>Go</button>"
    async with on(page, body, HASTY) as (browser, site):
        outcome = await click(browser)
        [said] = pending(outcome.changes)
        assert said.startswith("2 requests have been pending for up to ")
        assert said.endswith(f" s (the newest: 127.0.0.1:{site.port}/after/60/two)")
        assert said in outcome.sentence
        observation = await browser.observe()
        assert not observation.at_rest
        assert len(pending(observation.warnings)) == 1


async def test_a_request_that_was_under_way_before_we_came_is_waited_for(page: Page) -> None:
    with answering({"/": f"<script>addEventListener('load', () => fetch('/after/3/').then({SHOW}))</script>"}) as site:
        async with page.expect_request("**/after/**"):
            await page.goto(f"{site.address}/")
        async with live.attach(page, PATIENT, ImageLimits()) as browser:
            assert names(await browser.observe()) == ["Came"]
    with answering({"/": "<script>addEventListener('load', () => fetch('/after/60/'))</script>"}) as site:
        async with page.expect_request("**/after/**"):
            await page.goto(f"{site.address}/")
        async with live.attach(page, HASTY, ImageLimits()) as browser:
            observation = await browser.observe()
            assert (observation.at_rest, len(pending(observation.warnings))) == (False, 1)


async def test_an_answer_that_was_coming_without_end_before_we_came_holds_nothing_up(page: Page) -> None:
    settings = PATIENT.model_copy(update={"settle_deadline_s": 6})
    body = "<button>Go</button><script>fetch('/chunks').then(() => { document.title = 'coming'; })</script>"
    with answering({"/": body}) as site:
        await page.goto(f"{site.address}/")
        await page.wait_for_function("document.title === 'coming'")
        async with live.attach(page, settings, ImageLimits()) as browser:
            observation = await browser.observe()
            assert (observation.at_rest, pending(observation.warnings)) == (True, [])


async def test_what_was_over_before_we_came_holds_nothing_up(page: Page) -> None:
    body = "<link rel=stylesheet href=/style><script src=/script></script><img src=/none><button>Go</button>"
    asks = "<script>fetch('/after/0/').then(() => fetch('http://127.0.0.1:1/')).catch(() => document.title = 'over')</script>"
    with answering({"/": body + asks, "/style": "", "/script": ""}) as site:
        await page.goto(f"{site.address}/")
        await page.wait_for_function("document.title === 'over'")
        async with live.attach(page, PATIENT, ImageLimits()) as browser:
            observation = await browser.observe()
            assert (names(observation), observation.at_rest, pending(observation.warnings)) == (["Go"], True, [])


BACKGROUND = {
    "a stream of events": "new EventSource('/events')",
    "a beacon": "setInterval(() => navigator.sendBeacon('/after/60/', 'x'), 100)",
    "an answer that keeps coming": "fetch('/chunks')",
    "a long poll": "(async function poll() { await fetch(`/after/5/poll?since=${performance.now()}`); poll(); })()",
    "a poll": "(async function poll() { await fetch(`/after/0.3/poll`); window.polls = (window.polls ?? 0) + 1; poll(); })()",
    "a poll of another address each time": "(async function poll() { await fetch(`/after/0.3/poll?at=${performance.now()}`); window.polls = (window.polls ?? 0) + 1; poll(); })()",
}


@pytest.mark.parametrize("what", BACKGROUND)
async def test_what_runs_in_the_background_holds_nothing_up_for_long(page: Page, what: str) -> None:
    async with on(page, f"<button>Go</button><script>{BACKGROUND[what]}</script>", PATIENT) as (browser, _):
        await browser.observe()
        for _ in range(2):
            observation = await browser.observe()
            assert (observation.at_rest, observation.timings["settle"] < 10) == (True, True), observation.timings
        if "window.polls" in BACKGROUND[what]:  # however busy the machine is, a few show that it is a poll
            await page.wait_for_function("window.polls > 5")
        outcome = await click(browser, observation)
        assert outcome.status == "done"
        assert outcome.seconds < 14
        assert pending(outcome.changes) == []


async def test_a_web_socket_is_no_request_that_is_waited_for(page: Page) -> None:
    async with on(page, "<button>Go</button><script>new WebSocket('ws://' + location.host + '/after/60/')</script>", PATIENT) as (browser, _):  # fmt: skip
        observation = await browser.observe()
        assert (observation.at_rest, pending(observation.warnings)) == (True, [])


async def test_a_slow_report_to_somebody_is_waited_for_once(page: Page) -> None:
    body = "<button onclick='this.textContent = `Go`; fetch(`/after/60/collect`, {method: `POST`, body: performance.now()})'>Go</button>"
    settings = PATIENT.model_copy(update={"settle_deadline_s": 2.5})
    async with on(page, body, settings) as (browser, _):
        assert len(pending((await click(browser)).changes)) == 1
        await browser.observe()
        second = await click(browser, await browser.observe())
        assert second.status == "done"
        third = await browser.observe()
        assert third.at_rest

"""Claims about how it is told where a navigation ended."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from answers import Answers, answering
from playwright.async_api import Page

from tests.conftest import desktop_chromium
from vision_agent import actions
from vision_agent.actions import Action, Click
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.network.host_policy import Gate, policy_for
from vision_agent.browser.network.request_interception import intercept_requests
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome
from vision_agent.vision.image_limits import ImageLimits

SETTINGS = ObserveSettings(quiet_s=0.1, settle_deadline_s=5, action_deadline_s=20)


@asynccontextmanager
async def on(
    page: Page, body: str, gate: Gate | None = None, **more: str
) -> AsyncIterator[tuple[live.LiveBrowser, Answers]]:
    with answering({"/": f"<title>One</title>{body}", "/two": "<title>Two</title>two", **more}) as site:
        async with live.attach(page, SETTINGS, ImageLimits(), gate=gate, start_url=site.address) as browser:
            await browser.open(f"{site.address}/")
            yield browser, site


async def click(browser: live.LiveBrowser, name: str = "Go") -> Outcome:
    observation = await browser.observe()
    number = next(mark.number for mark in observation.marks if mark.name == name)
    return await browser.act(Click(target=number), observation)


async def act(browser: live.LiveBrowser, action: Action) -> Outcome:
    return await browser.act(action, await browser.observe())


@pytest.mark.parametrize(
    ("body", "effect", "words"),
    [
        ("<a href=/status/404>Go</a>", "navigated", "The page answered 404 Not Found"),
        ("<form action=/status/500 method=post><button>Go</button></form>", "navigated", "The page answered 500 Internal Server Error"),
        ("<a href=/empty/204>Go</a>", "changed", "The server answered 204 No Content, so the page stayed as it was"),
        ("<a href=/file>Go</a>", "download", 'A download started: "x.txt"; no page came from 127.0.0.1:PORT/file; the page stayed as it was'),
        ("<a href=/to/two>Go</a>", "navigated", "The address is now http://127.0.0.1:PORT/two; redirected from 127.0.0.1:PORT/to/two"),
        ("<a href=//localhost:PORT/two>Go</a>", "navigated", "The address is now http://localhost:PORT/two"),
        ("<a href='#there'>Go</a>", "no_effect", "Same document, the address is now http://127.0.0.1:PORT/#there"),
        ("<button onclick='history.pushState(0, ``, `/b`)'>Go</button>", "same_document", "Same document, the address is now http://127.0.0.1:PORT/b"),
        ("<button onclick='location = `/after/9/`; setTimeout(stop, 60)'>Go</button>", "changed", "No page came from 127.0.0.1:PORT/after/9; the page stayed as it was"),
        ("<a href=/status/404 target=f>Go</a><iframe name=f></iframe>", "changed", 'Frame "f" answered 404 Not Found (127.0.0.1:PORT/status/404)'),
    ],
)  # fmt: skip
async def test_a_click_tells_where_it_led(page: Page, body: str, effect: str, words: str) -> None:
    async with on(page, "") as (browser, site):
        site.pages = {**site.pages, "/": body.replace("PORT", str(site.port))}
        await browser.open(f"{site.address}/")
        outcome = await click(browser)
        assert words.replace("PORT", str(site.port)) in outcome.sentence, outcome.sentence
        assert (outcome.status, outcome.effect) == ("done", effect)


async def test_the_first_look_says_that_the_page_is_an_error_page_of_its_server(page: Page) -> None:
    async with on(page, "") as (browser, site):
        await browser.open(f"{site.address}/status/404")
        assert "the page answered 404 Not Found" in (await browser.observe()).warnings
        assert (await browser.observe()).warnings == ()


async def test_an_error_without_a_page_is_shown_as_the_browsers_own_page() -> None:
    async with launch_browser(desktop_chromium()) as found:
        page = await found.context.new_page()
        async with on(page, "<a href=/empty/404>Go</a>") as (browser, site):
            outcome = await click(browser)
            shown = f"its own error page for 127.0.0.1:{site.port}/empty/404 (its server answered 404 Not Found)"
            assert f"{shown}; the previous page is gone" in outcome.sentence
            assert (outcome.status, outcome.effect) == ("done", "error_page")


async def test_a_link_to_a_dead_port_leads_to_an_error_page_from_which_one_comes_back(
    page: Page, closed_port: int
) -> None:
    async with on(page, f"<a href=http://127.0.0.1:{closed_port}/>Go</a>") as (browser, _):
        outcome = await click(browser)
        said = f"The browser shows its own error page for 127.0.0.1:{closed_port} (connection refused); the previous page is gone."
        assert outcome.effect == "error_page"
        assert outcome.sentence == f'Clicked mark 1 (link "Go"). {said}'
        again = await act(browser, actions.Reload())
        assert (again.status, again.effect) == ("done", "error_page")
        assert "connection refused" in again.sentence
        assert "the previous page" not in again.sentence
        assert (await act(browser, actions.Back())).effect == "navigated"


async def test_a_dead_port_in_a_frame_or_a_new_tab_is_told_of_that(page: Page, closed_port: int) -> None:
    dead = f"http://127.0.0.1:{closed_port}/"
    links = f"<a href={dead} target=f>In</a> <a href={dead} target=_blank>New</a><iframe name=f></iframe>"
    async with on(page, links) as (browser, _):
        inside = await click(browser, "In")
        assert f'Frame "f" could not open 127.0.0.1:{closed_port} (connection refused)' in inside.sentence
        new = await click(browser, "New")
        assert new.effect == "new_tab"
        assert f"its own error page for 127.0.0.1:{closed_port} (connection refused)." in new.sentence


async def test_an_address_that_was_given_tells_the_same(page: Page, closed_port: int) -> None:
    async with on(page, "") as (browser, site):
        missing = await act(browser, actions.Goto(url="/status/404"))
        assert missing.effect == "navigated"
        assert missing.sentence.startswith(f"Opened {site.address}/status/404. The page answered 404 Not Found;")
        nothing = await act(browser, actions.Goto(url="/empty/204"))
        assert nothing.sentence.startswith(f"Asked for {site.address}/empty/204. The server answered 204 No Content")
        assert (await act(browser, actions.Goto(url="/file"))).effect == "download"
        dead = await act(browser, actions.Goto(url=f"http://127.0.0.1:{closed_port}/"))
        assert (dead.refusal, "connection refused" in dead.sentence) == ("unreachable", True)
        assert dead.sentence.endswith("The browser shows its own error page; the previous page is gone.")
        assert "answered 404 Not Found" in (await act(browser, actions.Back())).sentence
        new = await act(browser, actions.OpenTab(url="/status/500"))
        assert (new.effect, "The page answered 500" in new.sentence) == ("new_tab", True)


async def test_a_page_that_may_not_be_opened_leaves_the_one_there_was(page: Page) -> None:
    gate = Gate(policy_for(["127.0.0.1"]))
    async with intercept_requests(page, gate), on(page, "", gate) as (browser, site):
        site.pages = {"/": f"<a href=http://localhost:{site.port}/two>Go</a>"}
        await browser.open(f"{site.address}/")
        outcome = await click(browser)
        assert outcome.effect == "no_effect"
        assert "its host is not among the allowed ones (127.0.0.1); the page stayed as it was" in outcome.sentence
        assert outcome.sentence.count("blocked") == outcome.sentence.count("localhost") == 1
        assert "nearest" not in outcome.sentence
        assert page.url == f"{site.address}/"


FORM = "<form action=/two method={}><button>Go</button></form>"


@pytest.mark.parametrize(
    ("body", "answers_form"), [(FORM.format("post"), True), (FORM.format("get"), False), ("<a href=/two>Go</a>", False)]
)
async def test_a_page_that_answers_a_sent_form_is_known_as_such(page: Page, body: str, answers_form: bool) -> None:
    async with on(page, body) as (browser, _):
        assert not (await browser.observe()).answers_form
        await click(browser)
        seen = await browser.observe()

    assert (seen.title, seen.answers_form) == ("Two", answers_form)


async def test_a_page_that_answered_a_form_before_it_was_handed_over_is_known_too(page: Page) -> None:
    with answering({"/": FORM.format("post"), "/two": "<title>Two</title>two"}) as site:
        await page.goto(f"{site.address}/")
        await page.click("button")
        async with live.attach(page, SETTINGS, ImageLimits()) as browser:
            assert (await browser.observe()).answers_form


async def test_the_second_half_of_a_double_click_stays_on_the_page_that_was_clicked(page: Page) -> None:
    goes = "<button style='width:300px;height:200px' onpointerdown='location = `/two`'>Go</button>"
    heard = "<title>Two</title><button style='width:300px;height:200px' onmousedown='this.name = 1'>Two</button>"
    async with on(page, goes, **{"/two": heard}) as (browser, _):
        seen = await browser.observe()
        outcome = await browser.act(Click(target=seen.marks[0].number, count=2), seen)

        assert (outcome.status, outcome.effect) == ("done", "navigated")
        assert await page.evaluate("document.querySelector('button').name") == ""

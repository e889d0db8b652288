"""Claims about tabs and what happens in them without being asked for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from tests.browser.answers import answering
from tests.conftest import Server
from tests.loopback import Handler, LoopbackServer
from vision_agent.actions import Click, Goto, OpenTab
from vision_agent.browser import live
from vision_agent.browser.page import tabs
from vision_agent.errors import BrowserUnavailable
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome
from vision_agent.vision.image_limits import ImageLimits

SETTINGS = ObserveSettings(quiet_s=0.1, settle_deadline_s=5, action_deadline_s=20)


@asynccontextmanager
async def on(page: Page, serve: Server, pages: dict[str, str]) -> AsyncIterator[live.LiveBrowser]:
    async with live.attach(page, SETTINGS, ImageLimits()) as browser:
        await browser.open(serve(pages))
        yield browser


async def click(browser: live.LiveBrowser, name: str) -> Outcome:
    observation = await browser.observe()
    number = next(mark.number for mark in observation.marks if mark.name == name)
    return await browser.act(Click(target=number), observation)


@contextmanager
def slow(seconds: float) -> Iterator[str]:
    """The address of a page whose server takes so long to answer; when the test is over it hangs up."""
    is_over = threading.Event()

    class Slow(Handler):
        def do_GET(self) -> None:
            if not is_over.wait(seconds):
                self.answer("<title>Slow</title>")

    with LoopbackServer(Slow) as server:
        try:
            yield f"{server.address}/"
        finally:
            is_over.set()


def titles(observation: Observation) -> list[str]:
    return [f"{tab.title}{'*' if tab.active else ''}" for tab in observation.tabs]


@pytest.mark.parametrize(
    "opener",
    [
        "<a href=/two target=_blank>Go</a>",
        "<a href=/two target=_blank rel='noopener noreferrer'>Go</a>",
        "<button onclick='window.open(`/two`)'>Go</button>",
        "<button onclick='window.open(`/two`, ``, `popup,width=300,height=200`)'>Go</button>",
    ],
)
async def test_a_popup_becomes_a_tab_and_is_followed(page: Page, serve: Server, opener: str) -> None:
    async with on(
        page, serve, {"/": f"<title>One</title>{opener}", "/two": "<title>Two</title><button>In two</button>"}
    ) as browser:
        outcome = await click(browser, "Go")
        assert outcome.effect == "new_tab"
        observation = await browser.observe()
        assert titles(observation) == ["One", "Two*"]
        assert [mark.name for mark in observation.marks] == ["In two"]
        assert [mark.number for mark in observation.marks] == [1]


@pytest.mark.parametrize(
    "opener", ["<a href=/two target=_blank>Go</a>", "<button onclick='window.open(`/two`)'>Go</button>"]
)
async def test_a_tab_whose_page_is_slow_to_come_is_waited_for(page: Page, serve: Server, opener: str) -> None:
    with slow(0.8) as elsewhere:
        pages = {"/": f"<title>One</title>{opener}".replace("/two", elsewhere)}
        async with on(page, serve, pages) as browser:
            outcome = await click(browser, "Go")
            assert (outcome.effect, outcome.changes[0]) == ("new_tab", "a new tab opened and is shown: tab 2")
            assert titles(await browser.observe()) == ["One", "Slow*"]


async def test_a_tab_whose_page_does_not_come_is_told_to_be_awaited(page: Page, serve: Server) -> None:
    with slow(30) as elsewhere:
        async with on(page, serve, {"/": f"<title>One</title><a href={elsewhere} target=_blank>Go</a>"}) as browser:
            outcome = await click(browser, "Go")
            assert "A page was requested and has not started to load" in outcome.sentence
            assert titles(await browser.observe()) == ["One*"]


async def test_a_tab_of_someone_else_is_left_alone(page: Page, serve: Server) -> None:
    async with on(page, serve, {"/": "<title>One</title>"}) as browser:
        theirs = await page.context.new_page()
        assert titles(await browser.observe()) == ["One*"]
        assert browser.page is page
    assert not theirs.is_closed()


async def test_a_tab_that_closes_itself_gives_the_view_back(page: Page, serve: Server) -> None:
    pages = {
        "/": "<title>One</title><button onclick='window.open(`/two`)'>Go</button>",
        "/two": "<title>Two</title><button onclick='window.close()'>Done</button>",
    }
    async with on(page, serve, pages) as browser:
        await click(browser, "Go")
        outcome = await click(browser, "Done")
        assert outcome.status == "done"
        assert "Tab 2 was closed" in outcome.sentence
        assert titles(await browser.observe()) == ["One*"]


async def test_a_tab_that_closes_while_it_is_looked_at_is_no_end(page: Page, serve: Server) -> None:
    pages = {
        "/": "<title>One</title><button onclick='window.open(`/two`)'>Go</button>",
        "/two": "<script>setTimeout(close, 60)</script><p>bye</p>",
    }
    async with on(page, serve, pages) as browser:
        await click(browser, "Go")
        assert titles(await browser.observe()) == ["One*"]


async def test_when_the_last_tab_is_closed_there_is_nothing_to_look_at(page: Page, serve: Server) -> None:
    async with on(page, serve, {"/": "x"}) as browser:
        await tabs.close_page(page)
        with pytest.raises(BrowserUnavailable, match="every tab was closed"):
            await browser.observe()


async def test_a_storm_of_popups_is_bounded(page: Page, serve: Server) -> None:
    storm = "<title>One</title><button onclick='for (let n = 0; n < 20; n++) window.open(`/two`)'>Storm</button>"
    async with on(page, serve, {"/": storm, "/two": "<title>Two</title>"}) as browser:
        await click(browser, "Storm")
        for _ in range(20):
            observation = await browser.observe()
            if len(page.context.pages) <= 12:
                break
        assert 2 <= len(observation.tabs) <= 12
        assert len(page.context.pages) <= 12


@pytest.mark.parametrize(
    "script",
    [
        "open(`/two`)",
        "setTimeout(() => open(`/two`), 100)",
        "for (let n = 0; n < 4; n++) open(`/two`)",
        "onload = () => open(`/two`)",
        "document.body.innerHTML = `<a href=/two target=_blank>`; document.links[0].click()",
    ],
)
async def test_a_popup_that_nobody_asked_for_opens_behind(page: Page, serve: Server, script: str) -> None:
    pages = {"/": f"<title>One</title><body><script>{script}</script>", "/two": "<title>Two</title>"}
    async with on(page, serve, pages) as browser:
        observation = await browser.observe()
        while len(page.context.pages) < 2 or len(observation.tabs) < len(page.context.pages):
            observation = await browser.observe()
        assert titles(observation)[:2] == ["One*", "Two"], titles(observation)


async def test_of_a_storm_of_popups_only_the_one_that_the_click_asked_for_is_shown(page: Page, serve: Server) -> None:
    script = "window.open(`/two`); window.open(`/three`); setInterval(() => window.open(`/three`), 200)"
    storm = f"<title>One</title><button onclick='{script}'>Go</button>"
    pages = {"/": storm, "/two": "<title>Two</title>", "/three": "<title>Three</title>"}
    async with on(page, serve, pages) as browser:
        outcome = await click(browser, "Go")
        assert outcome.effect == "new_tab"
        observation = await browser.observe()
        while len(observation.tabs) < 6 or "(no answer)" in titles(observation)[:3]:
            observation = await browser.observe()
        assert titles(observation)[:3] == ["One", "Two*", "Three"]


class TwoIsLate(dict[str, str]):
    """Pages of which the first window's is answered only some seconds after the second window shows its page."""

    def __init__(self, pages: dict[str, str], seconds: float) -> None:
        super().__init__(pages)
        self.shows_three, self.never, self.seconds = threading.Event(), threading.Event(), seconds

    def get(self, path: str, default: Any = None) -> Any:
        if path == "/shown":
            self.shows_three.set()
        if path == "/two":
            assert self.shows_three.wait(20)
            self.never.wait(self.seconds)
        return super().get(path, default)


@pytest.mark.parametrize("seconds", [0, 3])
async def test_windows_count_in_the_order_in_which_they_were_opened_and_not_in_that_of_their_answers(
    page: Page, serve: Server, seconds: float
) -> None:
    both = "<title>One</title><button onclick='window.open(`/two`); window.open(`/three`)'>Go</button>"
    three = "<title>Three</title><img src=/shown>"
    pages = TwoIsLate({"/": both, "/two": "<title>Two</title>", "/three": three}, seconds)
    async with on(page, serve, pages) as browser:
        await click(browser, "Go")
        observation = await browser.observe()
        while len(observation.tabs) < 3 or "(no answer)" in titles(observation):
            observation = await browser.observe()
        assert titles(observation) == ["One", "Two*", "Three"]


async def test_a_window_that_is_sent_on_to_another_address_keeps_its_place_among_those_that_opened(page: Page) -> None:
    both = "<title>One</title><button onclick='window.open(`/after/1/`); window.open(`/to/three`)'>Go</button>"
    with answering({"/": both, "/three": "<title>Three</title>"}) as site:
        async with live.attach(page, SETTINGS, ImageLimits()) as browser:
            await browser.open(site.address)
            await click(browser, "Go")
            observation = await browser.observe()
            while len(observation.tabs) < 3 or "(no answer)" in titles(observation):
                observation = await browser.observe()
            assert titles(observation) == ["One", "Late*", "Three"]


class Held(TwoIsLate):
    """Pages of which `/held`, too, is answered only when it is let go."""

    def __init__(self, pages: dict[str, str]) -> None:
        super().__init__(pages, 0)
        self.is_asked, self.let_go = threading.Event(), threading.Event()

    def get(self, path: str, default: Any = None) -> Any:
        if path == "/held":
            self.is_asked.set()
            assert self.let_go.wait(20)
        return super().get(path, default)


async def changes_process(session: CDPSession) -> bool:
    """Whether a page has its answer, and waits for the process of its new document."""
    try:
        await session.send("Page.getNavigationHistory")
    except PlaywrightError as error:
        if "Not attached to an active page" not in error.message:
            raise
        return True
    return False


async def test_windows_are_seen_to_open_on_a_page_that_was_handed_over_while_it_changed_to_another_process(
    page: Page, serve: Server
) -> None:
    pages = Held(
        {
            "/": "<title>Zero</title>",
            "/one": "<title>One</title><button onclick='window.open(`/two`); window.open(`/three`)'>Go</button>",
            "/two": "<title>Two</title>",
            "/three": "<title>Three</title><img src=/shown>",
            "/held": "",
        }
    )
    site = serve(pages)
    await page.goto(site)
    elsewhere = serve({"/": f"<script>onclick = () => {{ location = `{site}/one` }}</script>"})
    async with page.expect_popup() as opening:
        await page.evaluate(f"window.open(`{elsewhere.replace('127.0.0.1', 'localhost')}`)")
    popup = await opening.value
    await popup.wait_for_load_state()
    session = await page.context.new_cdp_session(popup)
    # The new document of the popup gets the process of its opener, which waits for an answer.
    waits = "setTimeout(() => { const asked = new XMLHttpRequest(); asked.open('GET', '/held', false); asked.send() })"
    await page.evaluate(waits)
    assert await asyncio.to_thread(pages.is_asked.wait, 20)
    await popup.evaluate("onclick()")
    while not await changes_process(session):
        pass
    async with live.attach(popup, SETTINGS.model_copy(update={"action_deadline_s": 1}), ImageLimits()) as browser:
        for _ in range(3):  # what it asks of the browser first has been answered when these are
            assert await changes_process(session)
        pages.let_go.set()
        await popup.wait_for_url("**/one")
        await click(browser, "Go")
        observation = await browser.observe()
        while len(observation.tabs) < 3 or "(no answer)" in titles(observation):
            observation = await browser.observe()
        assert titles(observation) == ["One", "Two*", "Three"]


async def test_what_a_page_opens_when_it_is_gone_to_opens_behind(page: Page, serve: Server) -> None:
    pages = {
        "/": "<title>One</title>",
        "/next": "<title>Next</title><script>open(`/two`)</script>",
        "/two": "<title>Two</title>",
    }
    async with on(page, serve, pages) as browser:
        await browser.act(Goto(url="/next"), await browser.observe())
        observation = await browser.observe()
        while len(observation.tabs) < 2:
            observation = await browser.observe()
        assert titles(observation) == ["Next*", "Two"]


@pytest.mark.parametrize("kind", ["alert", "confirm", "prompt"])
async def test_a_dialog_is_dismissed_and_told_and_the_page_goes_on(page: Page, serve: Server, kind: str) -> None:
    body = f"<button onclick='document.title = `${{{kind}(`Really?`)}}`'>Go</button>"
    async with on(page, serve, {"/": body}) as browser:
        outcome = await click(browser, "Go")
        assert outcome.effect == "dialog"
        assert f'A dialog of type {kind} said "Really?" and was dismissed' in outcome.sentence
        assert (await browser.observe()).title == {"alert": "undefined", "confirm": "false", "prompt": "null"}[kind]


async def test_a_dialog_while_loading_does_not_hold_up_the_look(page: Page, serve: Server) -> None:
    async with on(page, serve, {"/": "<script>alert('Hello')</script><button>Go</button>"}) as browser:
        assert [mark.name for mark in (await browser.observe()).marks] == ["Go"]


async def test_dialogs_without_end_are_got_through(page: Page, serve: Server) -> None:
    async with on(page, serve, {"/": "<button onclick='for (let n = 0; n < 30; n++) alert(n)'>Go</button>"}) as browser:
        outcome = await click(browser, "Go")
        assert outcome.effect == "dialog"
        assert len(outcome.changes) <= 6
        assert "and 25 more" in outcome.sentence


async def test_opening_a_tab_that_leads_nowhere_leaves_the_one_there_was(
    page: Page, serve: Server, closed_port: int
) -> None:
    async with on(page, serve, {"/": "<title>One</title>"}) as browser:
        outcome = await browser.act(OpenTab(url=f"http://127.0.0.1:{closed_port}/"), await browser.observe())
        assert outcome.refusal == "unreachable"
        after = await browser.observe()
        assert titles(after) == ["One*"]
        assert not [each for each in after.warnings if "was closed" in each]


async def test_afterwards_the_owners_dialogs_and_popups_are_their_own_again(page: Page, serve: Server) -> None:
    async with on(page, serve, {"/": "<button id=b onclick='document.title = confirm(`?`)'>Go</button>"}) as browser:
        await browser.observe()
    page.once("dialog", lambda dialog: dialog.accept())
    await page.click("#b")
    assert await page.title() == "true"

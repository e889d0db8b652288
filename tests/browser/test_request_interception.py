"""Claims about a page handed over where hosts are limited: what is held back, and what is said not to be."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

import pytest
from playwright.async_api import Browser, BrowserContext, Page
from playwright.async_api import Error as PlaywrightError
from reaching import FETCH, SOCKET, WAYS, Foreign, Home, each_way, skip_where_it_cannot_be_tried

from tests.conftest import desktop_chromium
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.network.host_policy import Gate, policy_for
from vision_agent.browser.network.request_interception import NOT_INTERCEPTED, intercept_requests, limiting_arguments
from vision_agent.settings import BrowserSettings

_, SOCKETS, OTHERS = NOT_INTERCEPTED
SAID = {
    "a shared worker's web socket": SOCKETS,
    "WebRTC over TCP": OTHERS,
    "WebTransport": OTHERS,
    "a speculative prefetch": OTHERS,
}
"""Ways that are not held back, each with the words in which that is said."""
ONLY_CONNECTED = {
    *("a navigation", "a script of the next page", "a meta refresh", "a form", "a download", "a redirected download"),
    *("a popup", "a popup without an opener", "a frame", "an object"),
}
"""Ways for which Chromium opens a connection before it asks; nothing is sent on it. That is said too."""
PROFILES_ONLY = {"a preconnect", "a header that preconnects", "a manifest"}
"""Ways that lead nowhere in a mere context."""
INTERFACE_ONLY = {"a favicon"}
"""Ways that only a browser with a user interface goes."""
SILENT = {way for way in WAYS if "web socket" in way and way not in SAID}
"""Ways that the network refuses, so that nobody is asked."""
DATAGRAMS = {"WebRTC over UDP", "WebRTC to a number"}


@pytest.fixture
def gate() -> Gate:
    return Gate(policy_for(["127.0.0.1", "*.localhost"]))


@pytest.mark.parametrize("way", each_way(but={*SAID, *PROFILES_ONLY, *INTERFACE_ONLY}))
async def test_a_foreign_server_is_not_asked_by(page: Page, gate: Gate, way: str) -> None:
    await _go_and_be_blocked(page, gate, way)


@pytest.mark.thorough
@pytest.mark.parametrize("way", sorted(INTERFACE_ONLY))
async def test_a_foreign_server_is_not_asked_by_a_browser_with_an_interface(gate: Gate, way: str) -> None:
    async with launch_browser(desktop_chromium()) as started:
        await _go_and_be_blocked(await started.context.new_page(), gate, way)


async def _go_and_be_blocked(page: Page, gate: Gate, way: str) -> None:
    skip_where_it_cannot_be_tried(way)
    async with Foreign() as foreign, Home(foreign.port) as home, intercept_requests(page, gate):
        told = _told(gate)
        await _go(page, home.page(way))
        if way in DATAGRAMS:
            await page.wait_for_function("document.title === 'over'")
        if way in SILENT:
            async with asyncio.timeout(120):
                await home.over.wait()
        if way in SILENT | DATAGRAMS:
            await _go(page, home.page("a picture"))
        async with asyncio.timeout(120):
            assert re.search(r"a request to localhost(:\d+)? was blocked", await told.get())
        await _go(page, home.address)
    assert foreign.asked == []
    assert foreign.reached == [] or way in ONLY_CONNECTED


async def test_what_is_open_already_is_held_too(page: Page, gate: Gate) -> None:
    async with Foreign() as foreign, Home(foreign.port) as home:
        await page.goto(home.address)
        fetch, socket = home.filled(FETCH), home.filled("new WebSocket('AWAY'.replace('http', 'ws'))")
        await page.evaluate(
            """async () => {
                worker = new Worker('/told.js'); shared = new SharedWorker('/told.js');
                await new Promise(heard => worker.onmessage = heard);
                await new Promise(heard => { shared.port.onmessage = heard; shared.port.start() });
                navigator.serviceWorker.register('/answer.js');
                await new Promise(ready => navigator.serviceWorker.oncontrollerchange = ready);
            }"""
        )
        async with intercept_requests(page, gate):
            for script in (
                fetch,
                f"worker.postMessage(`{fetch}`)",
                f"shared.port.postMessage(`{fetch}`)",
                "fetch('/anything')",
            ):
                told = _told(gate)
                await page.evaluate(f"() => {{ {script} }}")
                async with asyncio.timeout(120):
                    await told.get()
            await page.evaluate(f"() => new Promise(over => {{ ({socket}).onerror = over }})")
            await page.evaluate(
                "script => new Promise(over => { worker.onmessage = over; worker.postMessage(script) })",
                f"({socket}).onclose = () => postMessage('over')",
            )
            assert foreign.reached == []
        await page.evaluate(f"() => {{ {fetch} }}")
        async with asyncio.timeout(120):
            await foreign.came.wait()  # and given back


async def test_what_starts_while_it_is_held_is_given_back(page: Page, gate: Gate) -> None:
    async with Foreign() as foreign, Home(foreign.port) as home:
        async with intercept_requests(page, gate):
            await page.goto(home.address)
            await page.evaluate(
                "() => { worker = new Worker('/told.js'); return new Promise(heard => worker.onmessage = heard) }"
            )
        await page.evaluate("script => worker.postMessage(script)", home.filled(SOCKET))
        async with asyncio.timeout(120):
            await foreign.was_asked.wait()


async def test_a_chrome_that_its_owner_starts_with_the_advised_arguments_reaches_no_other_host() -> None:
    async with Foreign() as foreign, Home(foreign.port) as home:
        hosts = [home.address.removeprefix("http://"), "*.localhost"]
        async with launch_browser(BrowserSettings(args=limiting_arguments(hosts))) as started:
            for way in (*SAID, *PROFILES_ONLY, "a navigation", "a frame", "a popup"):
                page = await started.context.new_page()
                await _go(page, home.page(way))
                if way.startswith("Web"):
                    await page.wait_for_function("document.title === 'over'")
                elif "socket" in way:
                    async with asyncio.timeout(120):
                        await home.over.wait()
                async with page.expect_event("requestfailed", lambda request: "/away" in request.url):
                    await _go(page, home.page("a picture"))
                await page.close()
        assert foreign.reached == []


async def test_another_context_of_the_browser_is_let_alone(page: Page, browser: Browser, gate: Gate) -> None:
    other = await browser.new_context()
    sockets = ("a popup's web socket", "a worker's web socket")
    for way in ("a picture", "a frame's picture", "a service worker", "a popup", *sockets):
        async with Foreign() as foreign, Home(foreign.port) as home, intercept_requests(page, gate):
            theirs = await other.new_page()
            async with asyncio.timeout(120):
                while not foreign.was_asked.is_set():
                    # Under load Chromium itself drops a socket of a popup that opens just now: then once more.
                    home.over.clear()
                    await _go(theirs, home.page(way))
                    await _first_of(foreign.was_asked, home.over)
    await other.close()


async def _first_of(*events: asyncio.Event) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


async def test_a_frame_that_shares_its_pages_process_is_told_from_those_of_others(
    page: Page, browser: Browser, gate: Gate
) -> None:
    other = await browser.new_context()
    await (await other.new_page()).goto("about:blank")
    async with Foreign() as foreign, Home(foreign.port) as home, intercept_requests(page, gate):
        told = _told(gate)
        await _go(page, home.address.replace("127.0.0.1", "other.localhost") + "/framed")
        async with asyncio.timeout(120):
            await told.get()
        assert foreign.reached == []
    await other.close()


async def test_a_page_does_not_see_that_it_is_held(page: Page, gate: Gate) -> None:
    look = """() => [WebSocket.toString(), fetch.toString(), Worker.toString(), navigator.onLine, innerWidth,
        Object.getOwnPropertyNames(window).length, navigator.connection.effectiveType, navigator.userAgent]"""
    async with Foreign() as foreign, Home(foreign.port) as home:
        await page.goto(home.address)
        before = await page.evaluate(look)
        async with intercept_requests(page, gate):
            assert await page.evaluate(look) == before
            await page.goto(home.address)
            assert await page.evaluate(look) == before


async def test_what_is_denied_is_held_back_though_all_else_passes(page: Page) -> None:
    gate = Gate(policy_for(None, ["localhost"]))
    async with Foreign() as foreign, Home(foreign.port) as home, intercept_requests(page, gate):
        told = _told(gate)
        await _go(page, home.page("a picture"))
        async with asyncio.timeout(120):
            said = f"a request to localhost:{foreign.port} was blocked (asked for by the page): its host is denied"
            assert await told.get() == said
        await page.goto(home.address)
        socket = home.filled("new WebSocket('AWAY'.replace('http', 'ws'))")
        await page.evaluate(f"() => new Promise(over => {{ ({socket}).onerror = over }})")
        assert foreign.reached == []
        await page.evaluate(f"() => {{ ({socket.replace('localhost', '127.0.0.1')}) }}")
        async with asyncio.timeout(120):
            await foreign.came.wait()


async def test_a_page_that_closes_takes_nothing_down(context: BrowserContext, gate: Gate) -> None:
    page = await context.new_page()
    async with Foreign() as foreign, Home(foreign.port) as home:
        async with intercept_requests(page, gate):
            await page.goto(home.page("a picture"))
            await page.close()
        other = await context.new_page()
        await _go(other, home.page("a picture"))
        async with asyncio.timeout(120):
            await foreign.came.wait()


async def _go(page: Page, url: str) -> None:
    # A way may lead on at once, and end in an error or a download.
    with suppress(PlaywrightError):
        await page.goto(url, wait_until="commit")


def _told(gate: Gate) -> asyncio.Queue[str]:
    """What the gate tells from now on."""
    told: asyncio.Queue[str] = asyncio.Queue()
    gate.report = told.put_nowait
    return told

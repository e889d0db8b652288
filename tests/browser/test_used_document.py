"""Claims about pages that their owner has filled in, waited for and read before we look: they work without a reload."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import Browser, ElementHandle, Page, async_playwright

from tests.conftest import ROOT, Server
from tests.overlay.traces import TRACES, WATCH
from vision_agent import attach, observe
from vision_agent.actions import Click, Type
from vision_agent.browser.launch.launch import end_browser, start_first_browser
from vision_agent.settings import BrowserSettings

USED = (
    "aria_roles",
    "calendar",
    "card_actions",
    "columns",
    "cookie_dialog",
    "custom_elements",
    "editing_hosts",
    "frame_cross_site",
    "frame_nested",
    "frame_same_site",
    "frame_sandboxed",
    "frame_turned",
    "half_covered",
    "hidden",
    "hover_menu",
    "native_controls",
    "scroller",
    "shadow",
    "shadow_closed",
    "strict_csp",
)
STATE = """() => ({
    fields: [...document.querySelectorAll('input:not([type=file]), textarea, select')].map((each) => [each.value, each.checked]),
    inner: [...document.querySelectorAll('*')].map((each) => [each.scrollLeft, each.scrollTop]).filter(([x, y]) => x || y),
})"""  # noqa: E501


@pytest.fixture
async def unknowing() -> AsyncIterator[Browser]:
    """A browser of a Playwright that has never heard of the overlay: one that has gives it to every new document."""
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        yield started.browser
        await end_browser(started)


async def use(page: Page) -> None:
    """Enters the page's documents in each of the ways that owners and test suites do."""
    await page.wait_for_selector("html", state="attached")
    await page.content()
    field = page.locator("input[type=text], input:not([type]), textarea").first
    if await field.count() and await field.is_enabled() and await field.is_visible():
        await field.fill("Ada")
    for frame in page.frames:
        await frame.locator("body").wait_for(state="attached")
    await page.mouse.wheel(0, 40)
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


async def test_twenty_used_pages_show_what_new_ones_show_and_are_as_they_were(
    unknowing: Browser, serve: Server
) -> None:
    site = serve.folder(ROOT / "fixtures" / "pages")
    context = await unknowing.new_context(viewport={"width": 1280, "height": 800})
    used = {trait: await context.new_page() for trait in USED}
    for trait, page in used.items():
        await page.goto(f"{site}/{trait}.html")
        await use(page)
    for trait, page in used.items():
        await page.bring_to_front()
        await page.evaluate(WATCH)
        before = await page.evaluate(TRACES), await page.evaluate(STATE)
        seen = await observe(page)
        assert (await page.evaluate(TRACES), await page.evaluate(STATE)) == before, trait
        assert before[0]["records"] == [], trait
        twin = await context.new_page()
        await twin.goto(f"{site}/{trait}.html")
        await use(twin)
        assert seen.listing == (await observe(twin)).listing, trait
        await twin.close()


async def test_a_used_page_is_acted_on_in_its_frames_too(unknowing: Browser, serve: Server) -> None:
    inner = serve({"/": "<button onclick=\"parent.postMessage('inner', '*')\">Inner</button>"})
    home = serve(
        {
            "/": f"""<input aria-label=Name><input type=file aria-label=File><button onclick="told.push('outer')">Outer</button>
            <iframe src="{inner.replace("127.0.0.1", "localhost")}"></iframe>
            <script>var told = []; onmessage = ({{data}}) => told.push(data)</script>"""  # noqa: E501
        }
    )
    page = await unknowing.new_page()
    await page.goto(home)
    await page.get_by_label("Name").fill("Ada")
    await page.frames[1].get_by_role("button").wait_for()
    async with attach(page) as browser:
        for name in ("Outer", "Inner"):
            seen = await browser.observe()
            [number] = [mark.number for mark in seen.marks if mark.name == name]
            assert (await browser.act(Click(target=number), seen)).status == "done"
        seen = await browser.observe()
        [number] = [mark.number for mark in seen.marks if mark.name == "Name"]
        assert (await browser.act(Type(target=number, text="Grace"), seen)).status == "done"
    assert await page.evaluate("told") == ["outer", "inner"]
    assert await page.get_by_label("Name").input_value() == "Grace"


async def test_handles_and_locators_of_the_owner_live_on(unknowing: Browser, serve: Server) -> None:
    page = await unknowing.new_page()
    await page.goto(serve({"/": "<button onclick=\"document.title += 'hit'\">Go</button>"}))
    handle = await page.query_selector("button")
    assert isinstance(handle, ElementHandle)
    await observe(page)
    await handle.click()
    await page.get_by_role("button", name="Go").click()
    assert await page.title() == "hithit"


class Held(dict[str, str]):
    """Pages of which `/held` is answered only when it is let go."""

    def __init__(self, pages: dict[str, str]) -> None:
        super().__init__({**pages, "/held": ""})
        self.is_asked, self.let_go = threading.Event(), threading.Event()

    def get(self, path: str, default: Any = None) -> Any:
        if path == "/held":
            self.is_asked.set()
            assert self.let_go.wait(60)
        return super().get(path, default)


async def test_a_frame_that_hangs_keeps_the_marks_out_of_no_other_frame_of_a_used_page(
    unknowing: Browser, serve: Server
) -> None:
    hang = "onmessage = () => { const asked = new XMLHttpRequest(); asked.open('GET', '/held', false); asked.send() }"
    pages = Held({"/one": f"<button>One</button><script>{hang}</script>", "/two": "<button>Two</button>"})
    port = serve(pages).rpartition(":")[2]
    frames = "".join(f"<iframe src=http://{each}.localhost:{port}/{each}></iframe>" for each in ("one", "two"))
    page = await unknowing.new_page()
    await page.goto(serve({"/": f"<button>Zero</button>{frames}"}))
    for frame in page.frames:
        await frame.locator("button").wait_for()
    await page.evaluate("frames[0].postMessage('', '*')")
    assert await asyncio.to_thread(pages.is_asked.wait, 20)
    try:
        seen = await observe(page)
    finally:
        pages.let_go.set()
    assert {mark.name for mark in seen.marks} == {"Zero", "Two"}
    assert any("frame 1 is missing" in each for each in seen.warnings)
    await page.frames[1].evaluate("0")  # it has its answer, and goes on
    assert {mark.name for mark in (await observe(page)).marks} == {"Zero", "One", "Two"}

"""Claims about the sessions in which Chromium is asked about a page."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.browser import cdp, live
from vision_agent.settings import ObserveSettings
from vision_agent.vision.image_limits import ImageLimits

TILE = "<div id=a>Send</div><script>document.querySelector('#a').addEventListener('click', () => {})</script>"


async def test_all_that_ask_at_once_share_one_session(page: Page) -> None:
    one, other = await asyncio.gather(cdp.page_session(page), cdp.page_session(page))
    assert one is not None
    assert one is other
    assert cdp.open_sessions(page) == [one]


async def test_frames_apart_have_a_session_of_their_own_and_other_frames_none(page: Page, serve: Server) -> None:
    here = serve({"/": "<iframe src='/same'></iframe><iframe id=far></iframe>", "/same": "same", "/far": "far"})
    await page.goto(here)
    await page.evaluate(f"document.querySelector('#far').src = '{here.replace('127.0.0.1', 'localhost')}/far'")
    await page.locator("#far").content_frame.locator("text=far").wait_for()
    (apart,) = await cdp.frame_sessions(page, 5)
    assert await cdp.frame_sessions(page, 5) == [apart]
    told = await apart.send("Runtime.evaluate", {"expression": "location.pathname"})
    assert told["result"]["value"] == "/far"


async def test_who_asks_while_another_is_being_told_hears_of_every_world(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": TILE}))
    session = await cdp.page_session(page)
    assert session is not None
    alone = await cdp.execution_contexts(session)
    assert alone
    later = []
    session.once(
        "Runtime.executionContextCreated",
        lambda _: later.append(asyncio.ensure_future(cdp.execution_contexts(session))),
    )
    assert await cdp.execution_contexts(session) == alone
    assert await later[0] == alone


async def test_who_asks_after_one_that_was_interrupted_hears_of_every_world(page: Page, serve: Server) -> None:
    await page.goto(serve({"/": TILE}))
    session = await cdp.page_session(page)
    assert session is not None
    alone = await cdp.execution_contexts(session)
    await session.send("Runtime.enable")  # where an interrupted one stops
    assert await cdp.execution_contexts(session) == alone


async def test_sessions_are_given_back_and_opened_anew(page: Page, serve: Server) -> None:
    before = []
    for _ in range(2):
        async with live.attach(page, ObserveSettings(quiet_s=0.05), ImageLimits()) as browser:
            await browser.open(serve({"/": TILE}))
            assert [mark.name for mark in (await browser.observe()).marks] == ["Send"]
            before += cdp.open_sessions(page)
        assert cdp.open_sessions(page) == []
    assert len(before) == 2
    for session in before:
        with pytest.raises(PlaywrightError):
            await session.send("Runtime.enable")

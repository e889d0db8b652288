"""Recording by hand on the supervision page, where there is no screen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.conftest import Server
from tests.sessions import ending_of
from vision_agent import Settings, Task
from vision_agent.export.step_lines import render_lines
from vision_agent.session.recording import recording_agent
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.types import SuccessCheck

FORM = """<title>Order</title><style>* { margin: 0 } button { width: 300px; height: 100px }</style>
<button onclick="document.title = 'Ordered'">Order</button>"""


@pytest.fixture
async def window(browser: Browser) -> AsyncIterator[Page]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    yield await context.new_page()
    await context.close()


async def test_a_person_has_the_browser_at_once_and_what_they_do_is_recorded_until_they_say_that_they_are_done(
    window: Page, serve: Server, tmp_path: Path
) -> None:
    task = Task(goal="Order a mug", start_url=serve({"/": FORM}))
    agent = recording_agent(task, Settings(runs=tmp_path), None)
    page = SupervisionPage(agent.settings.approval, has_window=False, records=True)
    agent.ask(page.ask, page)
    agent.listen(page.hear)
    async with page.opened() as address, asyncio.TaskGroup() as group:
        running = group.create_task(agent.run())
        await window.goto(address)
        await expect(window.locator("#phase")).to_contain_text("You have the browser")
        await expect(window.locator("#idle-text")).to_contain_text("press Done")
        for hidden in ("#pause", "#tell", "#key-tell"):
            await expect(window.locator(hidden)).to_be_hidden()
        live = window.locator("#live")
        await expect(live).to_be_visible()
        await expect(window.locator("#type")).to_be_visible()  # this window has the browser
        box = await live.bounding_box()
        assert box is not None
        await window.mouse.click(box["x"] + 60, box["y"] + 20)
        await expect(window.locator("#log")).to_contain_text("clicked mark 1")
        await window.get_by_role("button", name="Done").click()
    run = running.result()
    assert ending_of(run).status == "done"
    assert render_lines(run).splitlines()[-2:] == ["click Order", "finish"]


async def test_a_recording_after_which_a_check_fails_is_not_done_and_its_lines_are_whole(
    serve: Server, tmp_path: Path
) -> None:
    async def at_once() -> None:
        pass

    checks = (SuccessCheck(text="Booked"), SuccessCheck(mark="Log out"))
    task = Task(goal="Order a mug", start_url=serve({"/": FORM}), checks=checks)
    run = await recording_agent(task, Settings(runs=tmp_path), at_once).run()
    ending = ending_of(run)
    assert (ending.status, ending.exit_code) == ("not_done", 1)
    assert ending.sentence.startswith("The task is not done: 'Log out' must be among the marks in view, and is not; ")
    assert "the page must show 'Booked'" in ending.sentence
    assert render_lines(run).splitlines()[-1] == "finish"

"""A person starts, follows, stops, resumes and replays runs from the page: real processes, real browsers."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.conftest import hear_signals
from tests.ready_python import python
from tests.ui.desk import NOW, Desk, a_run
from vision_agent.record import read
from vision_agent.record.run_list import list_runs, listed_run
from vision_agent.ui.children import Child
from vision_agent.ui.orders import Order
from vision_agent.ui.pages import Pages, RunView
from vision_agent.ui.shelf import Shelf

SHOP = """<title>Shop</title><h1>Mugs</h1><label>Search <input id=q></label>
<button onclick="document.title = 'Found ' + q.value; said.textContent = '2 results for ' + q.value">Find</button>
<output id=said></output><button onclick="said.textContent = 'Ordered'">Order</button>"""

pytestmark = pytest.mark.timeout(400)


async def fill(page: Page, url: str, goal: str, lines: str, **more: str) -> None:
    await page.get_by_label("Goal").fill(goal)
    await page.get_by_label("Address").fill(url)
    await page.get_by_label("Step lines", exact=True).check()
    await page.get_by_label("Step lines, one action each").fill(lines)
    for label, value in more.items():
        await page.get_by_label(label, exact=True).fill(value)
    await page.get_by_role("button", name="Start").click()


async def test_a_run_is_started_followed_replayed_and_compared_with_its_replay(
    serve: Any, tmp_path: Path, desk: Desk
) -> None:
    page = desk.page
    await page.get_by_role("link", name="Start a run").first.click()
    goal = '--headed "$(touch hacked)"; find a mug'
    await fill(page, serve({"/": SHOP}), goal, 'type "mug" into Search\nclick Find\nwait for "2 results"\nfinish Two\n')
    # It is followed from its first moment, without a touch.
    await expect(page.locator("#head h1")).to_have_text(goal, timeout=90_000)
    await expect(page.locator("#head .status")).to_contain_text("Done", timeout=90_000)
    await expect(page.locator("#steps li")).to_have_count(4)
    await expect(page.locator("figcaption")).to_contain_text("Step 4")
    await expect(page.locator("#facts")).to_contain_text("step lines")
    await expect(page.locator("#command")).to_contain_text("<<'LINES'\ntype \"mug\" into Search\nclick Find\n")
    await expect(page.locator("#command")).not_to_contain_text("--name")
    [listed] = list_runs(tmp_path / "runs")
    run = read(listed.folder)
    assert (run.task.goal, run.ok, run.answer) == (goal, True, "Two")

    await page.get_by_role("link", name="Replay…").click()
    await expect(page.get_by_text("Its 4 steps are done again")).to_be_visible()
    await page.get_by_role("button", name="Replay").click()
    await expect(page.locator("#head .status")).to_contain_text("Done", timeout=90_000)
    await expect(page.locator("#facts")).to_contain_text(f"Replays{run.id}")
    await page.get_by_role("link", name="Runs", exact=True).click()
    for card in await desk.cards.all():
        await card.get_by_role("checkbox").check()
    await page.get_by_role("button", name="Compare").click()
    await expect(page.frame_locator("iframe").locator("h1")).to_contain_text("No difference in 4 steps")


async def test_a_run_is_stopped_and_resumed_in_its_folder(serve: Any, tmp_path: Path, desk: Desk) -> None:
    page = desk.page
    await page.goto(f"{desk.base}start")
    await fill(page, serve({"/": SHOP}), "Wait for what never comes", "wait 1\nwait 15\nclick Order\nfinish Ordered")
    await expect(page.locator("#steps li")).to_have_count(2, timeout=90_000)
    await page.get_by_role("button", name="Stop").click()
    await expect(page.locator("#head .status")).to_contain_text("Interrupted", timeout=90_000)
    await expect(page.get_by_role("button", name="Stop")).to_have_count(0)

    lines = page.get_by_label("Step lines, one action each")
    await page.get_by_role("link", name="Run again…").click()
    await expect(lines).to_have_value("wait 1\nwait 15\nclick Order\nfinish Ordered")
    await page.go_back()
    await page.get_by_role("link", name="Resume…").click()
    await expect(lines).to_have_value("wait 1\nwait 15\nclick Order\nfinish Ordered")
    await page.get_by_label("Nobody is asked").check()
    await page.get_by_role("button", name="Resume").click()
    await expect(page.locator("#head .status")).to_contain_text("Done", timeout=90_000)
    [listed] = list_runs(tmp_path / "runs")
    assert read(listed.folder).answer == "Ordered"


async def test_a_run_that_has_ended_cannot_be_stopped_while_its_process_is_about_to_leave(tmp_path: Path) -> None:
    going = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
    folder = a_run(tmp_path / "runs", "Order")
    pages = Pages(Shelf(tmp_path / "runs"), "/", "key", "model")

    def view(started_at: datetime) -> RunView:
        return pages.run_view(listed_run(folder), None, Child(Order(folder, ("run",)), going, started_at=started_at))

    ran, resumes = view(NOW - timedelta(hours=1)), view(datetime.now(UTC) + timedelta(hours=1))
    assert (ran.is_alive, ran.can_stop) == (True, False)
    assert (resumes.is_starting, resumes.can_stop) == (True, True)
    going.stdin.close()  # type: ignore[union-attr]
    await going.wait()
    assert not ran.is_alive


async def test_the_folder_of_a_run_is_shown_without_dots(tmp_path: Path) -> None:
    folder = a_run(tmp_path / "runs", "Order")
    shelf = Shelf(tmp_path / "elsewhere" / ".." / "runs")
    assert [run.folder for run in shelf.runs()] == [folder.resolve()]


async def test_a_run_that_was_started_here_and_deleted_is_not_shown_as_one_that_did_not_start(
    serve: Any, desk: Desk
) -> None:
    page = desk.page
    await page.goto(f"{desk.base}start")
    await fill(page, serve({"/": SHOP}), "Order", "finish Ordered")
    await expect(page.locator("#head .status")).to_contain_text("Done", timeout=90_000)
    await page.get_by_role("link", name="Delete…").click()
    await page.get_by_role("button", name="Delete it").click()
    await expect(page.get_by_text("No runs yet.")).to_be_visible()
    await expect(page.locator("#starting")).not_to_contain_text("Not started")


async def test_a_start_that_fails_says_why_and_leaves_no_run(tmp_path: Path, desk: Desk) -> None:
    page = desk.page
    await page.goto(f"{desk.base}start")
    await fill(page, "gopher://shop.example", "Order", "click Order")
    await expect(page.get_by_role("heading", name="Not started")).to_be_visible(timeout=90_000)
    await expect(page.get_by_role("alert")).to_contain_text("gopher")
    await expect(page.locator("pre")).to_contain_text("vision-agent run --runs=")
    await page.goto(desk.base)
    await expect(page.locator("#starting")).to_contain_text("Not started. ")
    assert list_runs(tmp_path / "runs") == ()


async def test_an_approval_is_given_on_the_supervision_page_that_the_run_links_to(
    serve: Any, tmp_path: Path, desk: Desk
) -> None:
    page = desk.page
    await page.goto(f"{desk.base}start")
    await page.get_by_label("Ask me before every step").check()
    await fill(page, serve({"/": SHOP}), "Order", "click Order\nfinish Ordered")
    await expect(page.locator("#head")).to_contain_text("It waits for your answer", timeout=90_000)
    async with page.context.expect_page() as opening:
        await page.get_by_role("link", name="Supervise and answer").click()
    supervision = await opening.value
    for _ in range(2):
        await supervision.get_by_role("button", name="Do it").click(timeout=90_000)
        await expect(supervision.get_by_role("button", name="Do it")).to_be_hidden()
    await expect(page.locator("#head .status")).to_contain_text("Done", timeout=90_000)
    [listed] = list_runs(tmp_path / "runs")
    assert [step.approval is not None for step in read(listed.folder).steps] == [True, True]


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal")
def test_ctrl_c_ends_the_page_and_interrupts_the_runs_that_it_started(serve: Any, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [python(), "-m", "vision_agent", "ui", "--runs", str(tmp_path / "runs"), "--no-open"],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        preexec_fn=hear_signals,
    )
    assert process.stderr is not None
    try:
        address = process.stderr.readline().removeprefix("Your runs are at ").strip()
        with httpx.Client() as client:
            opened = client.get(address)
            [path] = re.findall(r'href="(/[\w-]+)/"', opened.text)
            origin = address.partition("/?")[0]
            [key] = re.findall(r'name="key" value="([\w-]+)"', client.get(f"{origin}{path}/start").text)
            fields = {
                "key": key,
                "url": serve({"/": SHOP}),
                "decides": "steps",
                "steps": "wait 60",
            }
            begun = client.post(f"{origin}{path}/start", data=fields, headers={"Origin": origin})
            assert begun.status_code == 303
            while "Step 1" not in client.get(origin + begun.headers["location"]).text:
                assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=150)
    finally:
        process.kill()
    assert process.returncode == 0
    [run] = list_runs(tmp_path / "runs")
    assert (run.status, run.goal) == ("interrupted", "Follow the step lines")
    assert f"vision-agent resume {run.folder}" in told
    assert "Traceback" not in told

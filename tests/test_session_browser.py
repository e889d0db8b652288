"""Claims about the browser that a run launches, restarts or connects to."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, async_playwright

from tests.sessions import FINISHED, agent, ending_of, failing, recorded, refusing
from vision_agent import Agent, Settings, Task
from vision_agent.actions import Action, Click, Custom
from vision_agent.browser.launch.launch import end_browser, start_first_browser
from vision_agent.custom_actions import ActionContext, action
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.settings import BrowserSettings

TELL = """<title>...</title><button>Go</button><script>
  const said = [localStorage.getItem('who'), navigator.language, screen.width, devicePixelRatio,
    new Intl.DateTimeFormat().resolvedOptions().timeZone, 'ontouchstart' in window, document.cookie];
  document.title = JSON.stringify(said);
</script>"""


async def test_storage_state_device_locale_and_timezone_reach_the_page(serve: Any, tmp_path: Path) -> None:
    site = str(serve({"/": TELL}))
    state = tmp_path / "state.json"
    cookie = {"name": "seat", "value": "12", "url": site}
    origin = {"origin": site, "localStorage": [{"name": "who", "value": "Ada"}]}
    state.write_text(json.dumps({"cookies": [cookie], "origins": [origin]}))
    wanted = BrowserSettings(storage_state=state, device="Pixel 7", locale="pt-BR", timezone="Asia/Tokyo")
    run = await agent(Task(goal="Look", start_url=site), FINISHED, tmp_path, browser=wanted).run()
    said = json.loads(run.steps[0].observation.title)
    assert said == ["Ada", "pt-BR", 412, 2.625, "Asia/Tokyo", True, "seat=12"]
    assert run.provenance.settings["browser"]["device"] == "Pixel 7"
    assert "Chromium" in run.provenance.browser


async def _crash(page: Page) -> None:
    assert page.context.browser is not None
    session = await page.context.browser.new_browser_cdp_session()
    with suppress(PlaywrightError):  # what crashes does not answer
        await session.send("Browser.crash")


@action
async def crash(hands: ActionContext) -> str:
    """Crash the browser."""
    await _crash(hands.page)
    return "Crashed"


@action
async def crash_and_click(hands: ActionContext) -> str:
    """Crash the browser and go on."""
    await _crash(hands.page)
    return (await hands.act(Click(target=2))).sentence


async def test_a_browser_of_ours_that_is_lost_is_started_again_and_the_model_is_told(site: str, tmp_path: Path) -> None:
    script: list[list[Action]] = [[Custom(name="crash")], [Custom(name="crash_and_click")], [Click(target=2)]]
    task = Task(goal="Go", start_url=site)
    settings = Settings(runs=tmp_path / "runs")
    ran = Agent(task, model=ScriptedModel([*script, *FINISHED]), settings=settings, actions=[crash, crash_and_click])

    run = await ran.run()

    seen, outcomes = [step.observation for step in run.steps], [step.outcomes[0] for step in run.steps]
    assert any("lost and has been started again" in each for each in seen[1].warnings)
    assert (outcomes[1].refusal, "is not known" in outcomes[1].sentence) == ("crashed", True)
    assert (outcomes[2].status, seen[3].title) == ("done", "Gone")
    assert ending_of(recorded(ran)).status == "done"


@pytest.mark.thorough
async def test_a_browser_that_is_lost_again_and_again_ends_the_run(site: str, tmp_path: Path) -> None:
    task = Task(goal="Go", start_url=site)
    settings = Settings(runs=tmp_path / "runs")
    model = ScriptedModel([[Custom(name="crash")], [Custom(name="crash")], [Custom(name="crash")], *FINISHED])
    ending = await failing(Agent(task, model=model, settings=settings, actions=[crash]), BrowserUnavailable)
    assert (ending.status, ending.exit_code) == ("unavailable", 5)


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[str]:
    """The CDP address of a browser that somebody else started and uses."""
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        path = started.candidate.executable or playwright.chromium.executable_path
        await end_browser(started)
    profile = tmp_path / "profile"
    process = await asyncio.create_subprocess_exec(
        path, "--headless", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0", "--disable-gpu",
        "--disable-background-networking", f"--user-data-dir={profile}", "data:text/html,<title>Theirs</title>",
        stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    assert process.stderr is not None
    while b"DevTools listening on" not in (line := await process.stderr.readline()):
        assert line, "the browser ended before it listened"
    reading = asyncio.create_task(process.stderr.read())
    port = line.decode().split("127.0.0.1:")[1].split("/")[0]
    yield f"http://127.0.0.1:{port}"
    # The command may be a script that waits for the browser, so the whole group is ended.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    await reading


async def test_hosts_are_limited_in_a_browser_that_was_running(running: str, serve: Any, tmp_path: Path) -> None:
    home = serve({"/": "<h1>Home</h1>", "/favicon.ico": b""})
    away = home.replace("127.0.0.1", "localhost")
    home = serve({"/": f"<iframe src='{away}'></iframe><button>Look</button>", "/favicon.ico": b""})
    task = Task(goal="Look", start_url=home, denied_hosts=("localhost",))
    ran = agent(task, FINISHED, tmp_path, browser=BrowserSettings(cdp_url=running))
    run = await ran.run()
    told = f"a request to {urlsplit(away).netloc} was blocked (asked for by a frame): its host is denied"
    assert told in run.steps[0].observation.warnings
    assert "are blocked, except" in recorded(ran).provenance.browser


async def test_a_host_that_is_none_ends_the_run_with_a_usage_error(tmp_path: Path) -> None:
    ran = agent(Task(goal="Look", start_url="about:blank", denied_hosts=("http://a.test",)), FINISHED, tmp_path)
    assert "'http://a.test' is not a host name" in await refusing(ran, UsageError)


async def test_a_run_in_a_browser_that_was_running_leaves_it_running_with_its_own_pages(
    running: str, site: str, tmp_path: Path
) -> None:
    ran = agent(Task(goal="Look", start_url=site), FINISHED, tmp_path, browser=BrowserSettings(cdp_url=running))
    run = await ran.run()
    assert ending_of(run).status == "done"
    assert len(run.steps[0].observation.marks) == 3
    assert recorded(ran).model_dump() == run.model_dump()
    async with async_playwright() as playwright:
        theirs = await playwright.chromium.connect_over_cdp(running)
        assert [await page.title() for page in theirs.contexts[0].pages] == ["Theirs"]


async def test_a_browser_that_is_not_running_is_said(closed_port: int, tmp_path: Path) -> None:
    settings = BrowserSettings(cdp_url=f"http://127.0.0.1:{closed_port}")
    ran = agent(Task(goal="Look", start_url="about:blank"), FINISHED, tmp_path, browser=settings)
    with pytest.raises(BrowserUnavailable, match="--remote-debugging-port"):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 5

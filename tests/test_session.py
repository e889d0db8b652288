"""Whole runs: on pages that their owner hands over, in browsers we launch or connect to, and with bad input."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Dialog, Page, async_playwright
from playwright.async_api import Error as PlaywrightError
from pydantic import SecretStr

from vision_agent import Agent, Limits, Point, Settings, Task, observe, watching
from vision_agent.actions import Action, Click, Custom, Finish, Goto, Type
from vision_agent.browser.launch import end, first_that_starts
from vision_agent.custom import Hands, action
from vision_agent.errors import BrowserUnavailable, RecordError, Unavailable, UsageError, VisionAgentError
from vision_agent.models.scripted import ScriptedModel
from vision_agent.record import read
from vision_agent.record.read import read_lines
from vision_agent.record.store import SHOTS, shot_name
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.types import Ending, Event, Observed, Outcome, Picture, Run, Secret, Shot, Size, Started

PAGE = """<title>Small</title><input id=name aria-label=Name>
<button id=go onclick="document.title = 'Gone'">Go</button>
<button id=tell onclick="document.title = 'Answer ' + confirm('Sure?')">Tell</button>"""
FINISHED = [[Finish(answer="seen")]]


@pytest.fixture
def site(serve: Any) -> str:
    """The address of a small page."""
    return str(serve({"/": PAGE, "/favicon.ico": b""}))


def agent(task: Task | str, script: list[list[Action]], tmp_path: Path, page: Page | None = None, **more: Any) -> Agent:
    settings = Settings(**{"runs": tmp_path / "runs", **more})
    return Agent(task, model=ScriptedModel(script), page=page, settings=settings)


def ending_of(run: Run) -> Ending:
    assert run.ending is not None
    return run.ending


def recorded(ran: Agent) -> Run:
    """The run as its folder tells it, which has a report for a person too."""
    assert ran.folder is not None
    assert ran.report == ran.folder / "report.html"
    assert ran.report.stat().st_size > 1000
    return read(ran.folder)


# --- a page handed over by its owner ----------------------------------------------------------------------------------


async def test_a_page_is_used_as_it_is_and_left_open(page: Page, site: str, tmp_path: Path) -> None:
    await page.goto(site)
    observation = await observe(page)
    number = {mark.name: mark.number for mark in observation.marks}
    script: list[list[Action]] = [
        [Type(target=number["Name"], text="Ada"), Click(target=number["Go"])],
        [Finish(answer="gone")],
    ]
    ran = agent("Press Go", script, tmp_path, page)
    run = await ran.run()
    assert ending_of(run).answer == "gone"
    assert recorded(ran).model_dump() == run.model_dump()
    assert not page.is_closed()
    assert page.context.pages == [page]
    assert await page.title() == "Gone"
    assert await page.locator("#name").input_value() == "Ada"
    assert page.viewport_size == {"width": 1280, "height": 800}


async def test_nothing_of_ours_stays_with_the_page(page: Page, site: str) -> None:
    await page.goto(site)
    before = attached(page)
    async with watching(page) as browser:
        await browser.observe()
        assert attached(page) != before
    assert attached(page) == before


async def test_hosts_are_limited_on_a_page_handed_over_for_as_long_as_the_run_lasts(
    page: Page, serve: Any, tmp_path: Path
) -> None:
    home = serve({"/": "<button onclick='new Image().src = away'>Look</button>", "/favicon.ico": b""})
    await page.goto(home)
    await page.evaluate("address => { away = address }", away := home.replace("127.0.0.1", "localhost"))
    before = attached(page)
    script: list[list[Action]] = [[Click(target=1)], [Goto(url=away)], [Goto(url="file:///etc/passwd")], *FINISHED]
    ran = agent(Task(goal="Look", allowed_hosts=("127.0.0.1",)), script, tmp_path, page)
    run = await ran.run()
    clicked, gone, read_file = (step.outcomes[0] for step in run.steps[:3])
    assert "A request to localhost was blocked: its host is not among the allowed ones (127.0.0.1)" in clicked.sentence
    assert (gone.refusal, read_file.refusal) == ("blocked", "blocked")
    assert (
        "held back, except: lookups of names, and connections that are opened ahead" in recorded(ran).provenance.browser
    )
    assert attached(page) == before
    await page.goto(away)


def attached(page: Page) -> dict[str, int]:
    """How many listeners there are to each event, and how many sessions; both are below the public API."""
    impl, context = page._impl_obj, page.context._impl_obj
    events = (
        "dialog",
        "request",
        "requestfinished",
        "requestfailed",
        "close",
        "download",
        "crash",
        "popup",
        "framenavigated",
    )
    sessions = sum(type(each).__name__ == "CDPSession" for each in impl._connection._objects.values())
    return {event: len(impl.listeners(event)) for event in events} | {
        "page": len(context.listeners("page")),
        "sessions": sessions,
    }


async def test_dialogs_are_the_owner_s_again_when_we_are_done(page: Page, site: str) -> None:
    await page.goto(site)
    async with watching(page) as browser:
        observation = await browser.observe()
        [tell] = [mark for mark in observation.marks if mark.name == "Tell"]
        outcome = await browser.act(Click(target=tell.number), observation)
    assert outcome.effect == "dialog"
    assert await page.title() == "Answer false"

    async def accept(dialog: Dialog) -> None:
        await dialog.accept()

    page.on("dialog", accept)
    await page.click("#tell")
    assert await page.title() == "Answer true"


async def test_agents_after_each_other_work_on_pages_of_one_playwright(
    page: Page, browser: Browser, site: str, tmp_path: Path
) -> None:
    other = await browser.new_page()
    for each in (page, other, page):
        await each.goto(site)
        run = await agent("Look", FINISHED, tmp_path, each).run()
        assert ending_of(run).status == "done"
        assert len(run.steps[0].observation.marks) == 3
    await other.close()


async def test_a_page_of_a_persistent_context_is_observed(site: str, tmp_path: Path) -> None:
    async with async_playwright() as playwright:
        started = await first_that_starts(playwright, BrowserSettings())
        await end(started)
        context = await playwright.chromium.launch_persistent_context(
            tmp_path, executable_path=started.candidate.executable, chromium_sandbox=False
        )
        page = context.pages[0]
        await page.goto(site)
        assert len((await observe(page)).marks) == 3
        await context.close()


async def test_a_page_whose_locators_were_used_before_is_refused_until_it_is_reloaded(
    site: str, tmp_path: Path
) -> None:
    """In a Playwright that never knew the overlay: one that does has it in every document from then on."""
    async with async_playwright() as playwright:
        started = await first_that_starts(playwright, BrowserSettings())
        page = await started.browser.new_page()
        await page.goto(site)
        await page.locator("#name").fill("Ada")
        ran = agent("Look", FINISHED, tmp_path, page)
        with pytest.raises(UsageError, match="reload the page") as caught:
            await ran.run()
        ending = ending_of(recorded(ran))
        assert (ending.status, ending.exit_code) == ("error", caught.value.exit_code) == ("error", 2)
        assert "before it was handed over" in ending.sentence
        assert await page.locator("#name").input_value() == "Ada"
        await page.reload()
        assert len((await observe(page)).marks) == 3
        await end(started)


async def test_a_page_of_another_kind_is_refused_and_recorded(tmp_path: Path) -> None:
    ran = Agent("Look", model=ScriptedModel([]), page="https://example.org/", settings=Settings(runs=tmp_path))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"a page of playwright\.async_api, and this is a str"):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 2


async def test_a_page_that_was_closed_before_is_said(page: Page, tmp_path: Path) -> None:
    await page.close()
    ran = agent("Look", FINISHED, tmp_path, page)
    with pytest.raises(BrowserUnavailable):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 5


async def test_a_page_whose_playwright_was_stopped_is_said(tmp_path: Path) -> None:
    async with async_playwright() as playwright:
        started = await first_that_starts(playwright, BrowserSettings())
        page = await started.browser.new_page()
        await end(started)
    ran = agent("Look", FINISHED, tmp_path, page)
    with pytest.raises(BrowserUnavailable, match="is gone"):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 5


async def test_an_agent_runs_once(page: Page, site: str, tmp_path: Path) -> None:
    await page.goto(site)
    ran = agent("Look", FINISHED, tmp_path, page)
    await ran.run()
    before = recorded(ran)
    with pytest.raises(UsageError, match="has run already"):
        await ran.run()
    assert recorded(ran) == before
    assert len(list((tmp_path / "runs").iterdir())) == 1


SECRET = "HUNTER2SECRET"
TELLTALE = f"""<title>Echo</title><label>Code <input></label>
<button onclick="document.title = 'You typed ' + '{SECRET}'">Send</button>"""


async def test_a_listener_hears_what_is_recorded_and_no_secret(serve: Any, page: Page, tmp_path: Path) -> None:
    heard: list[Event] = []
    await page.goto(str(serve({"/": TELLTALE, "/favicon.ico": b""})))
    given = Secret(name="code", value=SecretStr(SECRET))
    shot = Shot(
        media_type="image/png", size=Size(width=1, height=1), sha256=hashlib.sha256(b"x").hexdigest(), data=b"x"
    )
    task = Task(goal=f"Send {SECRET}", secrets=(given,), pictures=(Picture(shot=shot, caption=SECRET),))
    ran = Agent(
        task,
        model=ScriptedModel([[Click(target=2)], [Finish(answer=f"It is {SECRET}.")]]),
        page=page,
        settings=Settings(runs=tmp_path / "runs"),
        on_event=heard.append,
    )

    run = await ran.run()

    assert SECRET in ending_of(run).sentence  # the caller's own run is as it was
    assert ran.ending is not None
    assert ran.ending.sentence == "It is <secret:code>."
    assert SECRET not in "".join(event.model_dump_json() for event in heard)
    assert "<secret:code>" in "".join(event.model_dump_json() for event in heard)
    assert ran.folder is not None
    begun, *rest = heard
    assert rest == [with_bytes(line.event, ran.folder) for line in read_lines(ran.folder)[1:]]
    assert isinstance(begun, Started)
    assert begun.run.task.pictures[0] == Picture(shot=shot, caption="<secret:code>")


def with_bytes(event: Event, folder: Path) -> Event:
    """The recorded event, with the bytes of its pictures where it has some."""
    if not isinstance(event, Observed):
        return event
    seen = event.observation
    pictures = {
        name: shot.model_copy(update={"data": (folder / SHOTS / shot_name(shot)).read_bytes()})
        for name, shot in (("clean", seen.clean), ("marked", seen.marked))
    }
    return event.model_copy(update={"observation": seen.model_copy(update=pictures)})


async def test_what_is_raised_holds_no_secret(page: Page, closed_port: int, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port}/?code={SECRET}"
    given = Secret(name="code", value=SecretStr(SECRET))
    ran = agent(Task(goal="Look", start_url=url, secrets=(given,)), FINISHED, tmp_path, page)
    with pytest.raises(BrowserUnavailable) as caught:
        await ran.run()
    assert SECRET not in str(caught.value) + repr(caught.value)
    assert "<secret:code>" in str(caught.value)


async def test_how_a_browser_is_reached_is_recorded_without_what_opens_it(closed_port: int, tmp_path: Path) -> None:
    address = f"ws://bob:{SECRET}@127.0.0.1:{closed_port}/?token={SECRET}"
    ran = agent("Look", FINISHED, tmp_path, browser=BrowserSettings(cdp_url=address))
    with pytest.raises(BrowserUnavailable):
        await ran.run()
    assert recorded(ran).provenance.settings["browser"]["cdp_url"] == f"ws://127.0.0.1:{closed_port}"
    assert ran.folder is not None
    assert not [file for file in ran.folder.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]


async def test_a_message_before_the_run_is_part_of_the_task(page: Page, site: str, tmp_path: Path) -> None:
    await page.goto(site)
    ran = agent("Look", FINISHED, tmp_path, page)
    ran.say("Be quick")
    run = await ran.run()
    assert [message.text for message in run.task.messages] == ["Be quick"]
    assert recorded(ran).model_dump() == run.model_dump()


# --- the browser we launch or connect to ------------------------------------------------------------------------------

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
async def crash(hands: Hands) -> str:
    """Crash the browser."""
    await _crash(hands.page)
    return "Crashed"


@action
async def crash_and_click(hands: Hands) -> str:
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
        started = await first_that_starts(playwright, BrowserSettings())
        path = started.candidate.executable or playwright.chromium.executable_path
        await end(started)
    profile = tmp_path / "profile"
    process = await asyncio.create_subprocess_exec(
        path, "--headless", "--no-sandbox", "--no-first-run", "--remote-debugging-port=0", "--disable-gpu",
        "--disable-background-networking", f"--user-data-dir={profile}", "data:text/html,<title>Theirs</title>",
        stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stderr is not None
    while b"DevTools listening on" not in (line := await process.stderr.readline()):
        assert line, "the browser ended before it listened"
    reading = asyncio.create_task(process.stderr.read())
    port = line.decode().split("127.0.0.1:")[1].split("/")[0]
    yield f"http://127.0.0.1:{port}"
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()
    await reading


async def test_hosts_are_limited_in_a_browser_that_was_running(running: str, serve: Any, tmp_path: Path) -> None:
    home = serve({"/": "<h1>Home</h1>", "/favicon.ico": b""})
    away = home.replace("127.0.0.1", "localhost")
    home = serve({"/": f"<iframe src='{away}'></iframe><button>Look</button>", "/favicon.ico": b""})
    task = Task(goal="Look", start_url=home, denied_hosts=("localhost",))
    ran = agent(task, FINISHED, tmp_path, browser=BrowserSettings(cdp_url=running))
    run = await ran.run()
    assert "a request to localhost was blocked: its host is denied" in run.steps[0].observation.warnings
    assert "held back, except" in recorded(ran).provenance.browser


async def test_a_host_that_is_none_ends_the_run_with_a_usage_error(tmp_path: Path) -> None:
    ran = agent(Task(goal="Look", start_url="about:blank", denied_hosts=("http://a.test",)), FINISHED, tmp_path)
    with pytest.raises(UsageError, match=r"'http://a\.test' is not a host's name"):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 2


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
    ran = agent(Task(goal="Look"), FINISHED, tmp_path, browser=settings)
    with pytest.raises(BrowserUnavailable, match="--remote-debugging-port"):
        await ran.run()
    assert ending_of(recorded(ran)).exit_code == 5


# --- bad input: a sentence, an exit code, and a folder that opens -----------------------------------------------------


async def failing(ran: Agent, error: type[VisionAgentError]) -> Ending:
    """How the run ended that raised this error: on record as it was raised, and for a shell by the same code."""
    with pytest.raises(error) as caught:
        await ran.run()
    ending = ending_of(recorded(ran))
    assert ending.sentence == str(caught.value)
    assert ending.exit_code == caught.value.exit_code
    assert caught.value.hint
    return ending


@pytest.mark.parametrize("url", ["gopher://127.0.0.1/", "javascript:alert(1)", "no address at all", "chrome://version"])
async def test_an_unknown_scheme_is_refused(page: Page, tmp_path: Path, url: str) -> None:
    ending = await failing(agent(Task(goal="Look", start_url=url), FINISHED, tmp_path, page), UsageError)
    assert (ending.status, ending.exit_code) == ("error", 2)
    assert url in ending.sentence
    assert "http:" in ending.sentence


async def test_a_host_that_cannot_be_reached_is_said(page: Page, closed_port: int, tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{closed_port}/shop"
    ending = await failing(agent(Task(goal="Look", start_url=url), FINISHED, tmp_path, page), BrowserUnavailable)
    assert (ending.status, ending.exit_code) == ("unavailable", 5)
    assert url in ending.sentence
    assert "is its server running?" in ending.sentence


@pytest.fixture
async def stalling() -> AsyncIterator[str]:
    """A site whose page begins to come and never ends; `/silent` never begins."""
    writers: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            if b"/silent" not in request:
                body = b"<!doctype html><title>Half</title><button>Go</button>" + b" " * 2048
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999\r\n\r\n" + body)
                await writer.drain()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    for writer in writers:
        writer.close()


IMPATIENT = ObserveSettings(navigation_deadline_s=2, rest_deadline_s=0.5)


async def test_a_page_that_never_stops_loading_is_observed_all_the_same(
    page: Page, stalling: str, tmp_path: Path
) -> None:
    ran = agent(Task(goal="Look", start_url=stalling), FINISHED, tmp_path, page, observe=IMPATIENT)
    async with asyncio.timeout(20):
        run = await ran.run()
    observation = run.steps[0].observation
    assert ending_of(run).status == "done"
    assert [mark.name for mark in observation.marks] == ["Go"]
    assert not observation.at_rest
    assert "the page was not at rest" in observation.warnings


async def test_a_server_that_never_answers_is_given_up_on_at_the_deadline(
    page: Page, stalling: str, tmp_path: Path
) -> None:
    url = stalling + "/silent"
    ran = agent(Task(goal="Look", start_url=url), FINISHED, tmp_path, page, observe=IMPATIENT)
    async with asyncio.timeout(20):
        ending = await failing(ran, BrowserUnavailable)
    assert url in ending.sentence


async def test_a_browser_that_is_not_there_is_said(tmp_path: Path) -> None:
    settings = BrowserSettings(executable_path=tmp_path / "no-browser")
    ending = await failing(agent("Look", FINISHED, tmp_path, browser=settings), BrowserUnavailable)
    assert (ending.status, ending.exit_code) == ("unavailable", 5)
    assert "no-browser" in ending.sentence
    assert "vision-agent setup" in ending.sentence


async def test_a_device_that_does_not_exist_is_said(tmp_path: Path) -> None:
    ending = await failing(agent("Look", FINISHED, tmp_path, browser=BrowserSettings(device="Pixel 70")), UsageError)
    assert "Pixel 7" in ending.sentence


async def test_a_decider_that_does_not_exist_is_said(page: Page, tmp_path: Path) -> None:
    ran = Agent("Look", model="oracle:delphi", page=page, settings=Settings(runs=tmp_path))
    ending = await failing(ran, UsageError)
    assert "'oracle:delphi'" in ending.sentence
    assert "anthropic:<model>" in ending.sentence


NO_KEY = """
import asyncio, sys
from pathlib import Path
from vision_agent import Agent, Settings, Task, VisionAgentError
task = Task(goal="Look", start_url=sys.argv[2])
agent = Agent(task, model="anthropic:claude-test", settings=Settings(runs=Path(sys.argv[1])))
try:
    asyncio.run(agent.run())
except VisionAgentError as error:
    print(error)
    sys.exit(error.exit_code)
"""


def test_without_a_key_the_run_says_what_to_set(site: str, tmp_path: Path) -> None:
    """In a process of its own, whose environment holds none."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", NO_KEY, tmp_path, site],
        env={**environment, "HOME": str(tmp_path / "home")}, capture_output=True, text=True, timeout=90,
    )  # fmt: skip
    assert done.returncode == 5, done.stderr
    assert "set ANTHROPIC_API_KEY" in done.stdout
    [folder] = [path for path in tmp_path.iterdir() if (path / "run.json").exists()]
    assert ending_of(read(folder)).sentence == done.stdout.strip()
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize(
    ("action", "refusal", "words"),
    [
        (Click(target=99), "unknown_mark", "99"),
        (Click(target=Point(x=5000, y=10)), "outside", "5000"),
        (Click(target=Point(x=10, y=-1)), "outside", "-1"),
        (Goto(url="gopher://127.0.0.1/"), "blocked", "gopher"),
    ],
    ids=["unknown mark", "right of the picture", "above the picture", "unknown scheme"],
)
async def test_an_action_that_cannot_be_is_a_finding_for_the_model(
    page: Page, site: str, tmp_path: Path, action: Action, refusal: str, words: str
) -> None:
    await page.goto(site)
    task = Task(goal="Press", limits=Limits(consecutive_failures=2))
    ran = agent(task, [[action], [action]], tmp_path, page)
    run = await ran.run()
    outcome: Outcome = run.steps[0].outcomes[0]
    assert (outcome.status, outcome.refusal) == ("refused", refusal)
    assert words in outcome.sentence
    assert (ending_of(run).status, ending_of(run).exit_code) == ("limit", 3)
    assert recorded(ran).model_dump() == run.model_dump()
    assert page.url == site + "/"


async def test_a_runs_folder_that_cannot_be_made_is_said_before_anything_is_opened(page: Page, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ran = agent("Look", FINISHED, tmp_path, page, runs=tmp_path / "file" / "runs")
    with pytest.raises(UsageError, match="--runs") as caught:
        await ran.run()
    assert caught.value.exit_code == 2
    assert str(tmp_path / "file") in str(caught.value)
    assert ran.folder is None


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 kB, which only root can make."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]).returncode:
        pytest.skip("no right to mount a small disk here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


async def test_a_full_disk_ends_the_run_with_what_was_recorded(
    page: Page, site: str, small_disk: Path, tmp_path: Path
) -> None:
    """There is room for the beginning and the ending of the run, and none for a picture full of noise."""
    noise = "".join(f"<button>{os.urandom(40).hex()}</button>" for _ in range(80))
    await page.set_content(noise)
    ran = agent("Look", [[Finish()]], tmp_path, page, runs=small_disk)
    with pytest.raises(RecordError, match="make room on the disk") as caught:
        await ran.run()
    assert ran.folder is not None
    kept = read(ran.folder)
    assert kept.task.goal == "Look"
    assert ending_of(kept).sentence == str(caught.value)
    assert ending_of(kept).exit_code == caught.value.exit_code == 5
    assert not page.is_closed()


async def test_every_foreign_failure_is_one_of_ours(page: Page, tmp_path: Path) -> None:
    """The browser dies under the run: what is raised is of our tree, and the folder says so."""
    async with async_playwright() as playwright:
        started = await first_that_starts(playwright, BrowserSettings())
        doomed = await started.browser.new_page()
        await doomed.set_content("<button>Go</button>")
        closing: list[asyncio.Task[None]] = []

        def close_at_first_decision(event: Any) -> None:
            if event.event == "decided" and not closing:
                closing.append(asyncio.ensure_future(started.browser.close()))

        ran = Agent(
            "Look",
            model=ScriptedModel([[Click(target=1)], [Finish()]]),
            page=doomed,
            settings=Settings(runs=tmp_path),
            on_event=close_at_first_decision,
        )
        with pytest.raises(Unavailable):
            await ran.run()
        await closing[0]
    assert ending_of(recorded(ran)).exit_code == 5

"""Claims about the agent on pages of Playwright's sync API, which their owner keeps using."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import playwright.sync_api as plain
import pytest
from playwright.async_api import async_playwright

import vision_agent
from tests.conftest import hear_signals
from vision_agent import Settings, Task, session
from vision_agent.actions import Ask, Click, Finish, Type
from vision_agent.browser.launch.launch import end_browser, start_first_browser
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.record import read
from vision_agent.settings import BrowserSettings
from vision_agent.sync_api import Agent, attach, observe
from vision_agent.types import Step

ROOT = Path(__file__).parent.parent
PAGE = """<title>Small</title><input id=name aria-label=Name>
<button id=go onclick="document.title = 'Gone'; console.log('pressed');
  fetch('/data.json').then(reply => reply.text())">Go</button>
<button id=tell onclick="alert('Hello'); document.body.append('told')">Tell</button>
<a id=out href="/second" target=_blank>Second</a>
<iframe srcdoc="<button>Inside</button>"></iframe>"""


@pytest.fixture(scope="module")
def executable() -> str | None:
    """The browser that the product finds; None is Playwright's own."""
    return asyncio.run(_executable())


@pytest.fixture(scope="module")
def owner(executable: str | None) -> Iterator[plain.Browser]:
    """A browser that was started by plain code."""
    with plain.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, chromium_sandbox=False)
        yield browser
        browser.close()


async def _executable() -> str | None:
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        await end_browser(started)
    return str(started.candidate.executable) if started.candidate.executable else None


@pytest.fixture
def small(owner: plain.Browser, serve: Any) -> Iterator[plain.Page]:
    """A small page, as its owner opened it: without having used a locator on it."""
    site = serve({"/": PAGE, "/second": "<title>Other</title><button>Back</button>", "/data.json": "{}"})
    context = owner.new_context()
    page = context.new_page()
    page.goto(site + "/")
    yield page
    context.close()


def settings(tmp_path: Path) -> Settings:
    return Settings(runs=tmp_path)


def listeners(page: plain.Page) -> dict[str, int]:
    """How many there are to each event; what listens is below the public API."""
    impl, context = page._impl_obj, page.context._impl_obj
    events = ("dialog", "request", "requestfinished", "requestfailed", "close", "download", "crash", "framenavigated")
    return {event: len(impl.listeners(event)) for event in events} | {"page": len(context.listeners("page"))}


def number(observation: Any, name: str) -> int:
    return next(mark.number for mark in observation.marks if mark.name == name)


def test_a_plain_page_is_observed_with_its_frames(small: plain.Page) -> None:
    observation = observe(small)
    assert {mark.name for mark in observation.marks} >= {"Name", "Go", "Tell", "Second", "Inside"}
    assert observation.marked.data is not None


def test_an_agent_runs_on_a_plain_page_and_leaves_its_run(small: plain.Page, tmp_path: Path) -> None:
    observation = observe(small)
    script = [
        [Type(target=number(observation, "Name"), text="Ada")],
        [Click(target=number(observation, "Go"))],
        [Finish(answer="gone")],
    ]
    agent = Agent("Press Go", model=ScriptedModel(script), page=small, settings=settings(tmp_path))
    run = agent.run()
    assert run.ending is not None
    assert (run.ending.status, run.ending.answer) == ("done", "gone")
    assert agent.folder is not None
    assert agent.report is not None
    assert agent.report.is_file()
    assert read(agent.folder).ending == run.ending
    assert small.title() == "Gone"
    assert small.locator("#name").input_value() == "Ada"


def test_keywords_and_step_lines_are_the_same_in_plain_code(small: plain.Page, tmp_path: Path) -> None:
    agent = Agent(
        "Press Go",
        url=small.url,
        output=list[int],
        secrets={"word": "Zebra47Quokka"},
        expect="mark=Go",
        max_steps=4,
        steps="click Go\nfinish [1, 2]",
        page=small,
        settings={"runs": tmp_path},
        actions=[len_of],
        progress=False,
    )
    assert repr(agent) == f"sync_api.Agent('Press Go', url={small.url!r}, model='StepsModel')"
    run = agent.run()
    assert (run.ok, run.output, run.folder) == (True, [1, 2], agent.folder)
    with attach(small, {"observe": {"ids": "letters"}}) as browser:
        assert repr(browser) == f"AttachedPage({small.url!r})"
        assert browser.do('type "Ann" into Name').value == "Ann"
        assert browser.do("click Nothing").refusal == "unknown_mark"
        with pytest.raises(UsageError, match=r"write do\('click 2'\)"):
            browser.act("click 2")  # type: ignore[arg-type]
        assert browser.act(Click(target=number(browser.observe(), "Go"))).status == "done"
        browser.open("about:blank")
    assert small.url == "about:blank"


def test_an_agent_in_plain_code_has_what_the_async_one_has(small: plain.Page, tmp_path: Path) -> None:
    steps = ["click Go", "read page", "finish"]
    agent = Agent("Press Go", steps=steps, page=small, settings=settings(tmp_path))
    other = session.Agent("Press Go", steps=steps, url=small.url, settings=settings(tmp_path))
    named = {each for each in dir(other) if not each.startswith("_")}
    # `ask` takes async functions; here `person` and `approve` are given to the constructor.
    assert named - {each for each in dir(agent) if not each.startswith("_")} == {"ask"}
    assert (agent.ending, agent.record, agent.reads, agent.task.goal) == (None, None, (), "Press Go")
    run = agent.run()
    assert (agent.ending, agent.record and agent.record.steps, agent.reads) == (run.ending, run.steps, run.reads)
    assert "Go" in agent.reads[0]


def len_of(text: str) -> int:
    """Count the letters of a text."""
    return len(text)


def test_hosts_are_limited_on_a_plain_page_for_as_long_as_the_run_lasts(small: plain.Page, tmp_path: Path) -> None:
    away = small.url.replace("127.0.0.1", "localhost")
    small.evaluate("address => { go.onclick = () => { location = address } }", away)
    script = [[Click(target=number(observe(small), "Go"))], [Finish(answer="seen")]]
    task = Task(goal="Press Go", allowed_hosts=("127.0.0.1",))
    run = Agent(task, model=ScriptedModel(script), page=small, settings=settings(tmp_path)).run()
    assert f"A request to localhost:{urlsplit(away).port} was blocked" in run.steps[0].outcomes[0].sentence
    small.goto(away)
    assert small.title() == "Small"


def test_the_owner_keeps_plain_objects_afterwards(small: plain.Page) -> None:
    frames_before = small.frames
    observe(small)
    assert small.context.pages == [small]
    assert small.main_frame is frames_before[0]
    assert all(isinstance(frame, plain.Frame) for frame in small.frames)
    assert isinstance(small.context, plain.BrowserContext)
    assert isinstance(small.context.browser, plain.Browser)
    assert isinstance(small.locator("#go").element_handle(), plain.ElementHandle)
    response = small.reload()
    assert isinstance(response, plain.Response)
    assert isinstance(response.request, plain.Request)
    small.frames[1].locator("button").click()
    small.get_by_role("button", name="Go").click()
    assert small.title() == "Gone"


def test_the_owner_s_handlers_get_plain_objects_while_we_work(small: plain.Page) -> None:
    """Each of these objects is new during our run, and we listen to the same events."""
    got: dict[str, set[type]] = {}
    for event in ("request", "response", "requestfinished", "console", "dialog", "popup"):
        small.on(event, lambda value, event=event: got.setdefault(event, set()).add(type(value)))  # type: ignore[call-overload]
    small.context.on("page", lambda value: got.setdefault("page", set()).add(type(value)))
    with attach(small) as browser:
        for name in ("Go", "Tell", "Second"):
            observation = browser.observe()
            browser.act(Click(target=number(observation, name)), observation)
    assert got == {
        "request": {plain.Request},
        "response": {plain.Response},
        "requestfinished": {plain.Request},
        "console": {plain.ConsoleMessage},
        "dialog": {plain.Dialog},
        "popup": {plain.Page},
        "page": {plain.Page},
    }


def test_a_browser_whose_block_has_ended_does_nothing(small: plain.Page) -> None:
    with attach(small) as browser:
        seen = browser.observe()
    title = small.title()
    for call in (lambda: browser.do("click Go"), lambda: browser.act(Click(target=1), seen), browser.observe):
        with pytest.raises(UsageError, match="block has ended"):
            call()
    assert small.title() == title


def test_the_owner_s_handler_may_use_the_page_while_we_work(small: plain.Page) -> None:
    titles: list[str] = []

    def read_title(message: plain.ConsoleMessage) -> None:
        if message.text == "pressed":
            titles.append(small.title())

    small.on("console", read_title)
    small.on("dialog", lambda dialog: dialog.accept())
    with attach(small) as browser:
        for name in ("Go", "Tell"):
            observation = browser.observe()
            browser.act(Click(target=number(observation, name)), observation)
    assert titles == ["Gone"]
    assert "told" in small.inner_text("body")


def test_the_owner_s_route_answers_what_the_agent_s_clicks_ask_for(small: plain.Page) -> None:
    kinds: list[type] = []

    def answer(route: plain.Route) -> None:
        kinds.append(type(route))
        route.fulfill(body="{}")

    small.route("**/data.json", answer)
    with attach(small) as browser:
        observation = browser.observe()
        browser.act(Click(target=number(observation, "Go")), observation)
    assert kinds == [plain.Route]


@pytest.mark.thorough
def test_numbers_stay_while_a_page_is_watched_and_a_new_tab_is_followed(small: plain.Page) -> None:
    with attach(small) as browser:
        first = browser.observe()
        assert browser.page is small
        assert [mark.number for mark in browser.observe().marks] == [mark.number for mark in first.marks]
        seen = browser.observe()
        outcome = browser.act(Click(target=number(seen, "Second")), seen)
        assert outcome.effect == "new_tab"
        assert browser.observe().title == "Other"
        assert isinstance(browser.page, plain.Page)
        assert browser.page in small.context.pages
        assert browser.page is not small


def test_an_attached_page_takes_secrets_by_name_and_tells_each_action(small: plain.Page) -> None:
    steps: list[Step] = []
    small.evaluate("document.body.insertAdjacentHTML('beforeend', '<input type=password aria-label=Pin>')")
    with attach(small, secrets={"pin": "hunter-4711"}, on_step=steps.append) as browser:
        assert browser.do('type "<secret:pin>" into Pin').status == "done"
        seen = browser.observe()
        browser.act(Click(target=next(mark.number for mark in seen.marks if mark.name == "Go")))
    assert small.get_by_label("Pin").input_value() == "hunter-4711"
    assert [(step.index, step.decision.author, step.decision.actions[0].kind) for step in steps] == [
        (1, "steps", "type"),
        (2, "client", "click"),
    ]
    assert all(step.seconds > 0 for step in steps)
    assert "hunter" not in str([step.model_dump_json() for step in steps])


def test_a_call_from_within_another_one_is_refused_and_does_not_hang(small: plain.Page) -> None:
    said: list[str] = []

    def call_again(_: Step) -> None:
        with pytest.raises(UsageError, match="made from within another one, which would wait for itself") as refused:
            browser.do("click Go")
        said.append(refused.value.hint)

    title = small.title()
    with attach(small, on_step=call_again) as browser:
        browser.do("hover Go")
    assert said == ["make it after the other has returned"]
    assert small.title() == title


def test_a_handler_of_the_owner_has_its_turn_after_the_call_that_caused_it(small: plain.Page) -> None:
    hovered: list[str] = []
    small.on("console", lambda message: message.text == "pressed" and hovered.append(browser.do("hover Go").status))
    with attach(small) as browser:
        assert browser.do("click Go").status == "done"
        assert browser.do("hover Go").status == "done"
    assert hovered == ["done"]


def test_nothing_of_ours_listens_when_we_are_done(small: plain.Page) -> None:
    before = listeners(small)
    with attach(small) as browser:
        browser.observe()
        assert listeners(small) != before
    assert listeners(small) == before


def test_an_exception_in_the_with_block_leaves_the_page_as_it_was(small: plain.Page) -> None:
    with pytest.raises(ValueError, match="Small"), attach(small) as browser:
        int(browser.observe().title)
    assert listeners(small)["dialog"] == 0
    assert isinstance(small.main_frame, plain.Frame)
    assert small.title() == "Small"


@pytest.mark.thorough
def test_two_agents_after_each_other_on_pages_of_one_playwright(
    small: plain.Page, owner: plain.Browser, tmp_path: Path
) -> None:
    other = owner.new_page()
    other.goto(small.url)
    for page in (small, other):
        run = Agent("Look", model=ScriptedModel([[Finish()]]), page=page, settings=settings(tmp_path)).run()
        assert run.ending is not None
        assert run.ending.status == "done"
    other.close()


def test_a_person_who_answers_in_plain_code_is_asked_off_the_page_s_loop(small: plain.Page, tmp_path: Path) -> None:
    asked: list[tuple[str, bool]] = []

    def person(question: str) -> str:
        asked.append((question, threading.current_thread() is threading.main_thread()))
        return "Blue"

    model = ScriptedModel([[Ask(question="Which colour?")], [Finish()]])
    run = Agent("Ask", model=model, page=small, settings=settings(tmp_path), person=person).run()
    assert asked == [("Which colour?", False)]
    assert "Blue" in run.task.messages[0].text


def test_what_breaks_a_run_is_raised_to_plain_code_and_recorded(small: plain.Page, tmp_path: Path) -> None:
    task = Task(goal="Open it", start_url="gopher://127.0.0.1/")
    agent = Agent(task, model=ScriptedModel([]), page=small, settings=settings(tmp_path))
    with pytest.raises(UsageError, match="gopher"):
        agent.run()
    assert agent.folder is None
    task = Task(goal="Open it", start_url="http://127.0.0.1:1/")
    agent = Agent(task, model=ScriptedModel([]), page=small, settings=settings(tmp_path))
    with pytest.raises(BrowserUnavailable):
        agent.run()
    assert agent.folder is not None
    ending = read(agent.folder).ending
    assert ending is not None
    assert ending.status == "unavailable"


@pytest.mark.thorough
def test_objects_of_an_async_playwright_stay_what_they_are(small: plain.Page, executable: str | None) -> None:
    """In the same process, on a thread with a loop of its own, with objects from before and after our first look."""

    async def its_own() -> None:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=executable, chromium_sandbox=False)
            page = await browser.new_page()
            frame = page.main_frame
            await asyncio.to_thread(looked.wait)
            assert page.main_frame is frame
            assert page.context.pages == [page]
            await page.set_content("<button>Go</button>")
            assert len((await vision_agent.observe(page)).marks) == 1
            assert page.main_frame is frame
            await browser.close()

    looked = threading.Event()
    with ThreadPoolExecutor() as pool:
        other = pool.submit(asyncio.run, its_own())
        assert observe(small).marks
        looked.set()
        other.result()
    assert isinstance(small.main_frame, plain.Frame)


def test_a_page_whose_playwright_was_stopped_is_said(executable: str | None) -> None:
    """In a process of its own: a second sync Playwright cannot be started here."""
    script = """
from playwright.sync_api import sync_playwright
from vision_agent import VisionAgentError
from vision_agent.sync_api import observe
import sys
with sync_playwright() as playwright:
    page = playwright.chromium.launch(executable_path=sys.argv[1] or None, chromium_sandbox=False).new_page()
try:
    observe(page)
except VisionAgentError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, executable or ""],
        cwd=ROOT, capture_output=True, text=True, timeout=150,
    )  # fmt: skip
    assert "its Playwright has been stopped" in done.stdout, done.stderr


def test_an_async_page_is_refused_with_the_api_that_takes_it(small: plain.Page) -> None:
    with pytest.raises(UsageError, match=r"use vision_agent\.Agent, observe or attach"):
        observe(small._impl_obj)


def test_a_plain_page_is_refused_by_the_async_api_with_the_one_that_takes_it(small: plain.Page, tmp_path: Path) -> None:
    agent = vision_agent.Agent("Look", model=ScriptedModel([]), page=small, settings=settings(tmp_path))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"use vision_agent\.sync_api"):
        small._sync(agent.run())


def test_without_a_page_a_running_loop_is_refused_with_what_to_do(small: plain.Page, tmp_path: Path) -> None:
    """Inside `with sync_playwright()` Playwright's own loop counts as running."""
    agent = Agent("Look", model=ScriptedModel([]), settings=settings(tmp_path))
    with pytest.raises(UsageError, match=r"pass page=browser\.new_page\(\), or start the run outside of it"):
        agent.run()
    assert agent.folder is None


SCRIPT = """
import sys
from pathlib import Path
from vision_agent import Settings, Task
from vision_agent.actions import Click, Finish, Wait
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.sync_api import Agent

runs, how = Path(sys.argv[1]), sys.argv[2]

def told(event):
    if event.event == "intended":
        print("acting", flush=True)

def agent(page=None):
    task = Task(goal="Wait", start_url="data:text/html,<button>Go</button>")
    script = [[Wait(seconds=60)] if how.endswith("interrupted") else [Finish(answer="seen")]]
    return Agent(task, model=ScriptedModel(script), page=page, settings=Settings(runs=runs), on_event=told)

if how.startswith("owned"):
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        path = None if len(sys.argv) < 4 else sys.argv[3]
        # Its owner wants to hear Ctrl-C first, as we do in a browser of our own.
        browser = playwright.chromium.launch(executable_path=path, chromium_sandbox=False, handle_sigint=False)
        page = browser.new_page()
        try:
            print(agent(page).run().ending.answer)
        except KeyboardInterrupt:
            print("interrupted; the page is", "closed" if page.is_closed() else page.title() or "alive", flush=True)
else:
    try:
        print(agent().run().ending.answer)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_without_a_page_plain_code_gets_a_browser_of_its_own(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, tmp_path, "alone"],
        cwd=ROOT, capture_output=True, text=True, timeout=150,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["acting", "seen"], done.stderr


@pytest.mark.thorough
def test_ctrl_c_on_a_plain_page_is_recorded_and_leaves_the_page_usable(executable: str | None, tmp_path: Path) -> None:
    out = interrupted(tmp_path, "owned interrupted", *([executable] if executable else []))
    assert out == ["acting", "interrupted; the page is alive"]
    assert ending_of(tmp_path) == ("interrupted", 130)


@pytest.mark.thorough
def test_ctrl_c_in_a_run_with_its_own_browser_is_recorded(tmp_path: Path) -> None:
    assert interrupted(tmp_path, "alone interrupted") == ["acting", "interrupted"]
    assert ending_of(tmp_path) == ("interrupted", 130)


def interrupted(runs: Path, how: str, *more: str) -> list[str]:
    """What the script printed when it and its children got a SIGINT while it acted, as a terminal sends it."""
    command = [sys.executable, "-c", SCRIPT, str(runs), how, *more]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_signals,
    )
    assert process.stdout is not None
    first = process.stdout.readline().strip()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=150)
    assert process.returncode == 0, err
    return [first, *out.splitlines()]


def ending_of(runs: Path) -> tuple[str, int]:
    [folder] = runs.iterdir()
    ending = read(folder).ending
    assert ending is not None
    assert (folder / "report.html").is_file()
    return ending.status, ending.exit_code

"""Claims about bad input and failures: each gives a message, an exit code and a readable run folder."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright

from tests.sessions import FINISHED, agent, ending_of, failing, recorded, refusing
from vision_agent import Agent, Limits, Point, Settings, Task, attach
from vision_agent.actions import Action, Click, Finish, Goto
from vision_agent.browser.launch.launch import start_first_browser
from vision_agent.errors import BrowserUnavailable, ModelUnavailable, RecordError, Unavailable, UsageError
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Observation
from vision_agent.ports import Model
from vision_agent.record import check_chain, read, read_lines
from vision_agent.settings import BrowserSettings, ModelSettings, ObserveSettings
from vision_agent.types import Decision, Outcome, Step


@pytest.mark.parametrize("url", ["gopher://127.0.0.1/", "javascript:alert(1)", "no address at all", "chrome://version"])
async def test_an_unknown_scheme_is_refused(page: Page, tmp_path: Path, url: str) -> None:
    said = await refusing(agent(Task(goal="Look", start_url=url), FINISHED, tmp_path, page), UsageError)
    assert url in said
    assert "http:" in said


@pytest.mark.parametrize(
    "schema", [{"type": "list"}, {"type": "string", "pattern": "("}, {"$ref": "#/$defs/nothing"}, {"required": 5}]
)
async def test_a_schema_that_no_answer_can_be_held_against_is_said_before_the_first_step(
    page: Page, tmp_path: Path, schema: dict[str, Any]
) -> None:
    task = Task(goal="Look", answer_schema=schema)
    assert "The schema of the answer is invalid" in await refusing(agent(task, FINISHED, tmp_path, page), UsageError)


async def test_address_and_key_of_the_settings_go_to_no_other_provider(
    page: Page, closed_port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{closed_port}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    named = ModelSettings(name="openai:gpt-5.4", base_url="http://third.party.test/v1", api_key="theirs", retries=0)
    ran = Agent(
        "Look", model="anthropic:claude-haiku-4-5", page=page, settings=Settings(runs=tmp_path / "runs", model=named)
    )
    ending = await failing(ran, ModelUnavailable)
    assert f"http://127.0.0.1:{closed_port}" in ending.sentence
    assert "third.party" not in ending.sentence


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


IMPATIENT = ObserveSettings(navigation_deadline_s=2, settle_deadline_s=0.5)


async def test_a_page_that_never_stops_loading_is_observed_all_the_same(
    page: Page, stalling: str, tmp_path: Path
) -> None:
    ran = agent(Task(goal="Look", start_url=stalling), FINISHED, tmp_path, page, observe=IMPATIENT)
    async with asyncio.timeout(28):
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
    async with asyncio.timeout(28):
        ending = await failing(ran, BrowserUnavailable)
    assert url in ending.sentence


async def test_a_browser_that_is_not_there_is_said_before_anything_begins(tmp_path: Path) -> None:
    settings = BrowserSettings(executable_path=tmp_path / "no-browser")
    task = Task(goal="Look", start_url="about:blank")
    said = await refusing(agent(task, FINISHED, tmp_path, browser=settings), BrowserUnavailable)
    assert "no-browser" in said
    assert "vision-agent setup" in said


async def test_a_device_that_does_not_exist_is_said(tmp_path: Path) -> None:
    task = Task(goal="Look", start_url="about:blank")
    ran = agent(task, FINISHED, tmp_path, browser=BrowserSettings(device="Pixel 70"))
    assert "did you mean Pixel 7" in await refusing(ran, UsageError)


@pytest.mark.parametrize("locale", ["english", "C.UTF-8", "de DE"])
async def test_a_locale_that_is_none_is_told_before_a_browser_starts(tmp_path: Path, locale: str) -> None:
    task = Task(goal="Look", start_url="about:blank")
    no_browser = BrowserSettings(locale=locale, executable_path=Path(sys.executable))
    said = await refusing(agent(task, FINISHED, tmp_path, browser=no_browser), UsageError)
    assert said == (
        f"{locale!r} is not the name of a locale "
        "(give a language such as de or pt, with a region if you like: de-DE, pt-BR, zh-Hant-TW)"
    )


async def test_a_locale_that_chromium_does_not_take_is_told_in_the_same_words(tmp_path: Path) -> None:
    task = Task(goal="Look", start_url="about:blank")
    ran = agent(task, FINISHED, tmp_path, browser=BrowserSettings(locale="de-x"))
    assert "'de-x' is not the name of a locale" in await refusing(ran, UsageError)


async def test_a_file_that_does_not_exist_is_said(page: Page, tmp_path: Path) -> None:
    ran = agent(Task(goal="Look", files=(tmp_path / "cv.pdf",)), FINISHED, tmp_path, page)
    assert "There is no file" in await refusing(ran, UsageError)


async def test_a_model_without_a_key_is_said(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ran = Agent("Look", model="gpt-5.4", page=page, settings=Settings(runs=tmp_path / "runs"))
    assert "openai:gpt-5.4 cannot be asked: OPENAI_API_KEY is not set" in await refusing(ran, ModelUnavailable)


def test_a_decider_that_does_not_exist_is_said() -> None:
    with pytest.raises(UsageError, match=r"'oracle:delphi' .*anthropic:<model>"):
        Agent("Look", url="shop.example", model="oracle:delphi")


class OnlyDecides:
    """All that a model of one's own had to be in the version before."""

    async def decide(self, *_: object, complaint: str = "") -> Decision:
        return Decision(author="scripted", actions=(Finish(answer=f"seen{complaint}"),))


async def test_an_object_that_only_decides_still_works_with_a_warning(page: Page, tmp_path: Path) -> None:
    ran = Agent("Look", model=OnlyDecides(), page=page, settings=Settings(runs=tmp_path))  # type: ignore[arg-type]
    with pytest.warns(DeprecationWarning, match="OnlyDecides should inherit from vision_agent.ports.Model"):
        run = await ran.run()
    assert ending_of(run).answer == "seen"


class Needless:
    """Its `decide` lacks what the loop gives."""

    async def decide(self, *_: object) -> Decision:
        raise AssertionError


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (object(), r"object is not a model: it has no decide\(\)"),
        (OnlyDecides, r"model=OnlyDecides is a class.*give model=OnlyDecides\(\), not the class"),
        (Needless(), r"Needless.decide\(\) cannot be called.*'complaint'.*write async def decide"),
    ],
)
def test_what_cannot_decide_is_refused_when_the_agent_is_made(model: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Agent("Look", url="shop.example", model=model)


class Answering(Model):
    """Returns what it was made with, not awaited if that is a decision."""

    name = "answering"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def decide(self, *_: object, **__: object) -> Any:
        async def later() -> object:
            return self.answer

        return self.answer if isinstance(self.answer, Decision) else later()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"actions": []}, r"Answering.decide() returned a dict (return a Decision, such as Decision(actions=(Finish"),
        (None, "Answering.decide() returned None"),
        (Decision(author="scripted"), "Answering.decide() is not async (write async def decide(self, task, steps"),
    ],
)
async def test_a_decider_that_returns_no_decision_is_told_so(
    answer: object, said: str, page: Page, tmp_path: Path
) -> None:
    ran = Agent("Look", model=Answering(answer), page=page, settings=Settings(runs=tmp_path))
    assert said in (await failing(ran, UsageError)).sentence


@pytest.mark.parametrize("given", ["page", None])
async def test_what_is_no_page_cannot_be_attached_to(given: Any) -> None:
    with pytest.raises(UsageError, match=f"needs a page of playwright.async_api, but got a {type(given).__name__} of"):
        async with attach(given):
            pass


class Finishing(Model):
    """The least that a model of one's own needs."""

    name = "finishing"

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        del task, steps, observation, complaint
        return Decision(actions=(Finish(answer="seen"),), author="scripted")


async def test_a_model_of_ones_own_needs_a_name_and_decides(page: Page, tmp_path: Path) -> None:
    run = await Agent("Look", model=Finishing(), page=page, settings=Settings(runs=tmp_path)).run()
    assert run.ending is not None
    assert (run.ending.status, run.provenance.capabilities) == ("done", {})


async def test_a_start_that_fails_is_a_run_without_a_step(tmp_path: Path) -> None:
    (browser := tmp_path / "no-browser").write_text("#!/bin/sh\nexit 1\n", "utf-8")
    browser.chmod(0o755)
    settings = BrowserSettings(executable_path=browser)
    ran = agent(Task(goal="Look", start_url="about:blank"), FINISHED, tmp_path, browser=settings)
    heard: list[str] = []
    ran.listen(lambda event: heard.append(event.event))
    await failing(ran, BrowserUnavailable)
    assert heard == ["started", "ended"]
    assert recorded(ran).provenance.browser == "none"


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
        env={**environment, "HOME": str(tmp_path / "home")}, capture_output=True, text=True, timeout=150,
    )  # fmt: skip
    assert done.returncode == 5, done.stderr
    assert "ANTHROPIC_API_KEY is not set; set it, or decide without a model: steps=" in done.stdout
    assert "--" not in done.stdout, "an option of the command line"
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == []


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


@contextmanager
def mounted(disk: Path, size: str) -> Iterator[Path]:
    """A disk of its own, which only root can make."""
    disk.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk]).returncode:
        pytest.skip("no right to mount a small disk here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk", "64k") as disk:
        yield disk


class Orders:
    """A site with a button that orders, and how often it was heard to."""

    PAGE = b"<title>Shop</title><button onclick=\"fetch('/order', {method: 'POST'}).then(() => this.after('!'))\">Order"

    def __init__(self) -> None:
        self.url = ""
        self.heard = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            self.heard += request.startswith(b"POST /order ")
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(self.PAGE)}\r\n"
            writer.write(head.encode() + b"Connection: close\r\n\r\n" + self.PAGE)
            await writer.drain()
        writer.close()


@pytest.fixture
async def orders() -> AsyncIterator[Orders]:
    orders = Orders()
    server = await asyncio.start_server(orders.answer, "127.0.0.1", 0)
    orders.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    yield orders
    server.close()
    await server.wait_closed()


async def ordering(orders: Orders, page: Page, runs: Path, spoil: Callable[[Path], None]) -> int:
    """How many orders are on record as begun, where the disk is spoilt when the second one has been decided."""

    def spoils(event: Any) -> None:
        if event.event == "decided" and event.step == 2:
            assert ran.folder is not None
            spoil(ran.folder)

    task = Task(goal="Order", start_url=orders.url)
    model = ScriptedModel([[Click(target=1)]] * 9)
    ran = Agent(task, model=model, page=page, settings=Settings(runs=runs), on_event=spoils)
    with pytest.raises(RecordError, match="the run stopped here"):
        await ran.run()
    assert ran.folder is not None
    assert check_chain(ran.folder, ran.head).holds
    return sum(line.event.event == "intended" for line in read_lines(ran.folder))


async def test_a_record_that_takes_no_line_more_stops_the_run_before_the_next_act(
    page: Page, orders: Orders, tmp_path: Path
) -> None:
    """The system lets no file of this process grow beyond what the record has: it refuses as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def refuse(folder: Path) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, ((folder / "steps.jsonl").stat().st_size, before[1]))

    try:
        begun = await ordering(orders, page, tmp_path, refuse)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (orders.heard, begun) == (1, 1)


async def test_on_a_disk_that_fills_up_nothing_is_done_that_is_not_on_record(
    page: Page, orders: Orders, tmp_path: Path
) -> None:
    def fill(folder: Path) -> None:
        with suppress(OSError), (folder / "ballast").open("wb", buffering=0) as ballast:
            while ballast.write(bytes(4096)):
                pass

    with mounted(tmp_path / "disk", "4m") as disk:
        begun = await ordering(orders, page, disk, fill)
    # A line may still fit into what is left of its block; no picture does. What was begun may have been refused.
    assert 1 <= orders.heard <= begun <= 2


async def test_a_full_disk_ends_the_run_with_what_was_recorded(
    page: Page, site: str, small_disk: Path, tmp_path: Path
) -> None:
    """There is room for the beginning and the ending of the run, and none for a picture full of noise."""
    noise = "".join(f"<button>{os.urandom(40).hex()}</button>" for _ in range(80))
    await page.set_content(noise)
    ran = agent("Look", [[Finish()]], tmp_path, page, runs=small_disk)
    with pytest.raises(RecordError, match="free disk space") as caught:
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
        started = await start_first_browser(playwright, BrowserSettings())
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

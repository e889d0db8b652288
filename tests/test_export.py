"""Exports of a run on a real site: the exported test passes there, and the examples show what was observed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from tests.conftest import Server
from vision_agent import Agent, Settings, Task
from vision_agent.browser.launch.doctor import doctor
from vision_agent.browser.launch.launch import candidates
from vision_agent.errors import UsageError
from vision_agent.evals.suites.fixture_sites import Site, SiteTask, reached, served, tasks_of
from vision_agent.export.formats import export
from vision_agent.models.offline.steps import StepsModel
from vision_agent.models.reply import ModelReply, parse_decision
from vision_agent.record import read, verify
from vision_agent.settings import BrowserSettings, EventSettings
from vision_agent.types import SuccessCheck

SITES = Path(__file__).parent.parent / "fixtures" / "sites"


@dataclass(frozen=True)
class Ran:
    """A task that was done, on a site that still stands."""

    folder: Path
    site: Site
    task: SiteTask


@pytest.fixture(scope="module", params=["shop", pytest.param("seats", marks=pytest.mark.thorough)])
async def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Ran]:
    task = tasks_of(SITES / request.param)[0]
    with served(SITES / request.param) as site:
        settings = Settings(runs=tmp_path_factory.mktemp("runs"))
        agent = Agent(Task(goal=task.goal, start_url=site.start(task)), model=StepsModel(task.steps), settings=settings)
        await agent.run()
        verdict = reached(task.expect, site.state())
        assert verdict.reached, verdict.sentence
        assert agent.folder is not None
        assert verify(agent.folder, agent.head).holds
        yield Ran(agent.folder, site, task)


@pytest.mark.thorough
async def test_the_exported_test_does_the_same_with_plain_playwright(ran: Ran, tmp_path: Path) -> None:
    written = tmp_path / "test_exported.py"
    export(ran.folder, "pytest", written)
    ran.site.reset()
    done = await pytest_of(written, START_URL=ran.site.start(ran.task))
    assert done.returncode == 0, written.read_text() + done.stdout
    verdict = reached(ran.task.expect, ran.site.state())
    assert verdict.reached, verdict.sentence


@pytest.mark.skipif(find_spec("pytest_playwright") is None, reason="pytest-playwright is not installed")
async def test_an_exported_test_passes_after_one_of_pytest_playwright(serve: Server, tmp_path: Path) -> None:
    """A process can have one Playwright only, and that of the plugin stays until the end."""
    settings = Settings(runs=tmp_path / "runs")
    run = await Agent("Look", url=serve({"/": "<h1>Shop</h1>"}), steps="finish", settings=settings).run()
    assert run.folder is not None
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_a.py").write_text("def test_a(playwright): pass\n")
    export(run.folder, "pytest", tests / "test_exported.py")
    done = await pytest_of(tests)
    assert "2 passed" in done.stdout, done.stdout


async def pytest_of(written: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The exported test as somebody runs it who has only Playwright and pytest."""
    works = next(probe.found for probe in (await doctor(Settings(), lambda _: None)).browsers if probe.works)
    browser = next(each.executable for each in candidates(BrowserSettings()) if each.found == works)
    return await asyncio.to_thread(
        subprocess.run,
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(written.parent),
            str(written),
        ],
        env={**os.environ, **({"BROWSER": str(browser)} if browser else {}), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


ASKING = """<meta name=viewport content="width=device-width"><title>Order</title>
<label>Bill <input type=file></label><button>Order</button>
<p>Seen in <b id=where></b></p><output id=said></output>
<script>
where.textContent = `${navigator.language} ${innerWidth} ${devicePixelRatio}`;
document.querySelector('button').onclick = () => {
  const [name, file] = [prompt('Your name?'), document.querySelector('input').files[0]];
  if (confirm(`Really, ${name}?`)) said.value = `Ordered by ${name} with ${file.name}`;
};
</script>"""


@pytest.mark.timeout(240)
async def test_dialogs_language_device_and_files_are_those_of_the_run(serve: Server, tmp_path: Path) -> None:
    url = serve({"/": ASKING})
    (tmp_path / "bill.txt").write_text("12 EUR")
    checks = tuple(SuccessCheck(text=text) for text in ("Ordered by Ann with bill.txt", "de-DE 412 2.625"))
    task = Task(goal="Order", start_url=url, files=(tmp_path / "bill.txt",), checks=checks)
    settings = Settings(
        runs=tmp_path / "runs",
        browser=BrowserSettings(device="Pixel 7", locale="de-DE"),
        events=EventSettings(dialogs="accept", prompt="Ann"),
    )
    agent = Agent(task, model=StepsModel(["upload bill.txt to Bill", "click Order", "finish"]), settings=settings)
    assert (await agent.run()).ok, agent.ending
    assert agent.folder is not None
    export(agent.folder, "pytest", tmp_path / "test_order.py")
    done = await pytest_of(tmp_path / "test_order.py")
    assert done.returncode == 0, (tmp_path / "test_order.py").read_text() + done.stdout


KINDS = """<title>Kinds</title><style>.c { cursor: pointer } canvas { display: block }</style><h1>Kinds</h1>
<div class=c onclick="did('div')"><div>Mug</div><div>12 EUR</div></div>
<ul><li class=c onclick="did('item')">Contact</li></ul>
<details ontoggle="did('more')"><summary>More</summary>.</details>
<span class=c tabindex=0 title=Gear onclick="did('gear')">&nbsp;</span><input type=color aria-label=Colour>
<div contenteditable aria-label=Note onblur="did(this.innerText)"></div>
<label>Photo <input type=file style="display: none" onchange="did(this.files[0].name)"></label>
<button onclick="window.open('/pop')">Address</button>
<div tabindex=0 aria-label=Box style="width: 300px; height: 200px; overflow: auto">
<p style="height: 400px">Above</p>
<canvas width=600 height=400 aria-label=Plan onclick="did(`at ${event.offsetX}`)"></canvas></div>
<div style="height: 2000px"></div>
<button onclick="said.value += ` ${scrollY > 0}`">End</button><output id=said></output>
<script>var did = (what) => { said.value += ` ${what}` }</script>"""
POP = """<title>Address</title>
<button onclick="opener.did('street'); setTimeout(() => window.close(), 300)">Main Street</button>"""
ALL_KINDS = [
    "click Mug 12 EUR",
    "click Contact",
    "click More",
    "click Gear",
    'type "Hello" into Note',
    "upload me.png to Photo",
    "click Address",
    "click Main Street",
    "scroll down 2 pages in Box",
    "scroll right 0.5 pages in Box",
    "click (0.5, 0.25) of Plan",
    "scroll down to the end",
    "click End",
    "finish",
]


@pytest.mark.timeout(240)
async def test_what_has_no_role_hides_closes_or_scrolls_is_found_by_the_exported_test(
    serve: Server, tmp_path: Path
) -> None:
    url = serve({"/": KINDS, "/pop": POP})
    (tmp_path / "me.png").write_bytes(b"x")
    text = "div item more gear me.png Hello street at 300 true"
    task = Task(goal="All", start_url=url, files=(tmp_path / "me.png",), checks=(SuccessCheck(text=text),))
    agent = Agent(task, model=StepsModel(ALL_KINDS), settings=Settings(runs=tmp_path / "runs"))
    assert (await agent.run()).ok, agent.ending
    assert agent.folder is not None
    export(agent.folder, "pytest", tmp_path / "test_all.py")
    done = await pytest_of(tmp_path / "test_all.py")
    assert done.returncode == 0, (tmp_path / "test_all.py").read_text() + done.stdout


def test_each_example_shows_a_picture_and_is_answered_as_a_model_would(ran: Ran, tmp_path: Path) -> None:
    export(ran.folder, "chat-jsonl", tmp_path / "chat")
    run = read(ran.folder)
    lines = [json.loads(line) for line in (tmp_path / "chat" / "examples.jsonl").read_text().splitlines()]
    assert len(lines) == len(run.steps)
    for line, step in zip(lines, run.steps, strict=True):
        system, user, assistant = line["messages"]
        assert [each["role"] for each in line["messages"]] == ["system", "user", "assistant"]
        assert system["content"][0]["text"].startswith("You")
        [picture] = [part["image"] for part in user["content"] if part["type"] == "image"]
        shown = tmp_path / "chat" / picture
        assert hashlib.sha256(shown.read_bytes()).hexdigest() == step.observation.marked.sha256
        first, *_ = step.observation.listing.split("\n")
        assert any(first in part.get("text", "") for part in user["content"])
        [answer] = assistant["content"]
        assert parse_decision(ModelReply(answer["text"]), step.observation).actions == step.decision.actions


def test_each_target_lies_on_its_picture(ran: Ran, tmp_path: Path) -> None:
    export(ran.folder, "grounding", tmp_path / "grounding")
    lines = [json.loads(line) for line in (tmp_path / "grounding" / "metadata.jsonl").read_text().splitlines()]
    assert lines
    for line in lines:
        with Image.open(tmp_path / "grounding" / line["file_name"]) as picture:
            width, height = picture.size
        left, top, right, bottom = line["box"]
        assert [width, height] == line["size"]
        assert 0 <= left < right <= width + 1
        assert 0 <= top < bottom <= height + 1
        x, y = line["point"]
        assert left <= x <= right
        assert top <= y <= bottom
        assert line["instruction"]


def test_nothing_is_written_over(ran: Ran, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="already exists"):
        export(ran.folder, "cere", tmp_path)

"""Claims about Playwright's trace: it is written if asked for, changes nothing, and is refused with secrets."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from pydantic import SecretStr

from tests.sessions import FINISHED, agent, ending_of, recorded, refusing
from vision_agent import Agent, Settings, Task
from vision_agent.actions import Action, Click, Finish, Type
from vision_agent.errors import UsageError
from vision_agent.events import Event
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.record import verify
from vision_agent.settings import BrowserSettings, HttpAuthSettings
from vision_agent.types import Secret

TRACED = BrowserSettings(trace=True)


@pytest.mark.thorough
async def test_a_trace_lies_beside_the_record_and_what_is_seen_and_done_is_the_same(site: str, tmp_path: Path) -> None:
    script: list[list[Action]] = [[Type(target=1, text="Ada"), Click(target=2)], [Finish(answer="gone")]]
    task = Task(goal="Press Go", start_url=site)
    plain, traced = agent(task, script, tmp_path), agent(task, script, tmp_path, browser=TRACED)
    without, run = await plain.run(), await traced.run()
    assert ending_of(run).answer == "gone"
    assert [step.observation.listing for step in run.steps] == [step.observation.listing for step in without.steps]
    assert [step.observation.marked.sha256 for step in run.steps] == [
        step.observation.marked.sha256 for step in without.steps
    ]
    assert traced.folder is not None
    with zipfile.ZipFile(traced.folder / "trace.zip") as archive:
        told = archive.read("trace.trace").decode()
        assert '"Ada"' in told
        assert "frame-snapshot" in told
        assert [name for name in archive.namelist() if name.endswith(".jpeg")]
    assert "traced by Playwright" in recorded(traced).provenance.browser
    assert verify(traced.folder, traced.head).holds
    assert 'href="trace.zip"' in (traced.folder / "report.html").read_text("utf-8")
    assert plain.folder is not None
    assert "trace" not in [path.stem for path in plain.folder.iterdir()]


async def test_of_a_run_that_breaks_there_is_a_trace_too(site: str, tmp_path: Path) -> None:
    def breaks(event: Event) -> None:
        if event.event == "decided":
            raise RuntimeError("the listener broke")

    settings = Settings(runs=tmp_path, browser=TRACED)
    ran = Agent(Task(goal="Go", start_url=site), model=ScriptedModel(FINISHED), settings=settings, on_event=breaks)
    with pytest.raises(RuntimeError, match="the listener broke"):
        await ran.run()
    assert ending_of(recorded(ran)).status == "error"
    assert ran.folder is not None
    assert zipfile.is_zipfile(ran.folder / "trace.zip")


PIN = Secret(name="pin", value=SecretStr("hunter2"))
CODE = Secret(name="code", value=SecretStr("JBSWY3DPEHPK3PXP"), is_code=True)
AUTH = HttpAuthSettings(origin="https://example.org", username="ann", password=SecretStr("hunter2"))


@pytest.mark.parametrize(
    ("secrets", "browser", "words"),
    [
        ((PIN,), {}, "everything that is typed and sent, including the secret pin"),
        ((CODE,), {}, "including the secret code"),
        ((), {"http_auth": AUTH}, "including browser.http_auth"),
        ((), {"cdp_url": "http://127.0.0.1:1"}, "the context of a browser that is connected to is not ours"),
    ],
)
async def test_a_trace_that_would_give_something_away_is_refused_before_anything_is_opened(
    secrets: Any, browser: Any, words: str, tmp_path: Path
) -> None:
    task = Task(goal="Go", start_url="http://127.0.0.1:1/", secrets=secrets)
    ran = agent(task, FINISHED, tmp_path, browser=BrowserSettings(trace=True, **browser))
    assert words in await refusing(ran, UsageError)


async def test_the_context_of_a_page_handed_over_is_not_traced(page: Page, tmp_path: Path) -> None:
    said = await refusing(agent("Go", FINISHED, tmp_path, page, browser=TRACED), UsageError)
    assert "the context of a page handed over is not ours" in said

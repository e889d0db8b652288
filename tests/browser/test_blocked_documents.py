"""Claims about documents that may not be opened: the page that asked for them and what was typed on it stay."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.loopback import Handler, LoopbackServer
from vision_agent import Agent, Settings
from vision_agent.models.offline.steps import StepsModel
from vision_agent.types import Run, Task

WAYS = {
    "a link": "<a href='AWAY'>Go</a>",
    "a link for a new tab": "<a href='AWAY' target=_blank>Go</a>",
    "a link to a redirect": "<a href='/redirect?AWAY'>Go</a>",
    "a form": "<form action='AWAY'><input name=q value=1 type=hidden><button>Go</button></form>",
    "a form that posts": "<form action='AWAY' method=post><input name=q value=1 type=hidden><button>Go</button></form>",
    "a form for a new tab": "<form action='AWAY' method=post target=_blank><button>Go</button></form>",
    "a form whose answer redirects": "<form action='/redirect?AWAY' method=post><button>Go</button></form>",
    "location": "<button onclick=\"location = 'AWAY'\">Go</button>",
    "location.replace": "<button onclick=\"location.replace('AWAY')\">Go</button>",
    "a script that waits": "<button onclick=\"setTimeout(() => location.assign('AWAY'), 50)\">Go</button>",
    "a refresh": "<button onclick=\"document.head.innerHTML += '<meta http-equiv=refresh content=0;AWAY>'\">Go</button>",
    "a popup": "<button onclick=\"window.open('AWAY')\">Go</button>",
    "a popup that redirects": "<button onclick=\"window.open('/redirect?AWAY')\">Go</button>",
    "a popup without an opener": "<button onclick=\"window.open('AWAY', '', 'noopener')\">Go</button>",
    "a frame": "<button onclick=\"frames[0].location = 'AWAY'\">Go</button><iframe src='/inner' title=Inner></iframe>",
    "a new frame": "<button onclick=\"document.body.append(Object.assign(document.createElement('iframe'), {src: 'AWAY'}))\">Go</button>",
}  # fmt: skip


class _Site(Handler):
    """A page with a field, a frame, and a redirect to wherever it is told."""

    body = ""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/redirect":
            self.answer("", 302, {"Location": query})
            return
        text = (
            "<p>Inner page"
            if path == "/inner"
            else f"<!doctype html><title>Home</title><label>Note <input></label>{self.body}"
        )
        self.answer(text)

    def do_POST(self) -> None:
        self.do_GET()


@pytest.fixture
def away() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []

    class Away(_Site):
        def do_GET(self) -> None:
            asked.append(self.path)
            super().do_GET()

    with LoopbackServer(Away) as server:
        yield f"http://localhost:{server.server_port}", asked


async def gone(way: str, away: str, tmp_path: Path, page: Page | None) -> Run:
    class Home(_Site):
        body = WAYS[way].replace("AWAY", f"{away}/x")

    with LoopbackServer(Home) as home:
        task = Task(goal="Go", start_url=home.address, allowed_hosts=("127.0.0.1",))
        lines = ['type "as it was" into Note', "click Go", "wait 0.3", "finish"]
        return await Agent(task, model=StepsModel(lines), page=page, settings=Settings(runs=tmp_path)).run()


def assert_kept(run: Run, asked: list[str]) -> None:
    assert run.ending is not None
    assert run.ending.status == "done", run.ending.sentence
    assert asked == []
    last = run.steps[-1].observation
    assert last.title == "Home"
    assert [mark.state.value for mark in last.marks if mark.name == "Note"] == ["as it was"]
    assert len(last.tabs) == 1, last.tabs
    assert "new_tab" not in [outcome.effect for step in run.steps for outcome in step.outcomes]
    told = [outcome.sentence for step in run.steps for outcome in step.outcomes]
    warned = [warning for step in run.steps for warning in step.observation.warnings]
    assert any("localhost" in each and "blocked" in each for each in (*told, *warned)), (told, warned)


@pytest.mark.parametrize("way", WAYS)
async def test_on_a_page_handed_over_a_blocked_document_leaves_everything_as_it_was(
    way: str, away: Any, page: Page, tmp_path: Path
) -> None:
    address, asked = away
    assert_kept(await gone(way, address, tmp_path, page), asked)


@pytest.mark.parametrize("way", WAYS)
async def test_in_a_launched_browser_a_blocked_document_leaves_everything_as_it_was(
    way: str, away: Any, tmp_path: Path
) -> None:
    address, asked = away
    assert_kept(await gone(way, address, tmp_path, None), asked)

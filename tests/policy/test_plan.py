"""Claims about the limits on a whole task: a page cannot widen them, and a person can."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from vision_agent import Agent
from vision_agent.errors import UsageError
from vision_agent.models.offline.steps import StepsModel
from vision_agent.policy.approval import Answers
from vision_agent.settings import ApprovalSettings, ModelSettings, Settings
from vision_agent.types import Choice, Decision, Limits, Observation, Outcome, Risky, Run, Task

FORM = "<form method=post action=/sent><input name=note aria-label=Note><button>Send form</button></form>"
GET_FORM = "<form action=/sent><input name=note aria-label=Note><button>Send form</button></form>"
FETCHED = """<form onsubmit="event.preventDefault(); fetch('/sent', {method: 'POST'}).then(() => said.value = 'sent')">
<input aria-label=Note><button>Send form</button></form><output id=said></output>"""
SCRIPT = FORM + "<button type=button onclick='document.forms[0].submit()'>By script</button>"
PLAIN = "<button onclick='said.value = `pressed`'>Press</button><a href=/>Home</a><output id=said></output>"


class Site:
    """A site that counts what was sent to `/sent`, and shows one page everywhere."""

    def __init__(self, body: str) -> None:
        sent = self.sent = list[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/sent"):
                    sent.append(self.command)
                if length := int(self.headers.get("Content-Length") or 0):
                    self.rfile.read(length)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(f"<title>Form</title>{body}".encode())

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self._server.server_port}/"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    site = Site(request.param)
    yield site
    site.close()


async def run(
    page: Page, site: Site, folder: Path, *lines: str, ask: Any = None, **task: Any
) -> tuple[Run, list[Outcome]]:
    settings = Settings(
        runs=folder,
        model=ModelSettings(name="steps"),
        approval=ApprovalSettings(ask="risky" if ask else "never", risks=()),
    )
    agent = Agent(
        Task(goal="Try", start_url=site.address, **task),
        model=StepsModel([*lines, "finish"]),
        page=page,
        settings=settings,
        approver=Answers(ask) if ask else None,
    )
    run = await agent.run()
    return run, [outcome for step in run.steps for outcome in step.outcomes]


def recorded_task(runs: Path) -> dict[str, Any]:
    task: dict[str, Any] = json.loads(next(runs.glob("*/run.json")).read_text("utf-8"))["task"]
    return task


@pytest.mark.parametrize(
    ("site", "line"),
    [
        (FORM, "click Send form"),
        (FORM, 'type "a" into Note and press Enter'),
        (GET_FORM, "click Send form"),
        (FETCHED, "click Send form"),
        (SCRIPT, "click By script"),
    ],
    indirect=["site"],
)
async def test_a_form_is_counted_however_it_is_sent_and_no_more_are_submitted_than_allowed(
    page: Page, site: Site, tmp_path: Path, line: str
) -> None:
    _, outcomes = await run(page, site, tmp_path, line, "click Send form", limits=Limits(submits=1))
    assert len(site.sent) == 1
    refused = outcomes[1]
    assert (refused.status, refused.refusal) == ("refused", "blocked")
    assert "it may submit a form, and the task's limit on submitted forms (1) is reached" in refused.sentence
    assert recorded_task(tmp_path)["limits"]["submits"] == 1


@pytest.mark.parametrize("site", [FORM], indirect=True)
async def test_what_goes_beyond_the_limits_is_done_if_a_person_approves_it(
    page: Page, site: Site, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def ask(task: Task, seen: Observation, decision: Decision, risks: Sequence[Risky]) -> Choice:
        asked.extend(each.why for each in risks if each.risk == "beyond")
        return Choice(kind="approve")

    await run(page, site, tmp_path, "click Send form", ask=ask, limits=Limits(submits=0))
    assert len(site.sent) == 1
    assert asked == ["it may submit a form, and the task's limit on submitted forms (0) is reached"]


@pytest.mark.parametrize("site", [PLAIN], indirect=True)
async def test_only_the_allowed_actions_are_carried_out_and_what_only_looks(
    page: Page, site: Site, tmp_path: Path
) -> None:
    lines = ("scroll down", "click Press", f"go to {site.address}?x")
    _, outcomes = await run(page, site, tmp_path, *lines, allowed_actions=("click",))
    assert [outcome.status for outcome in outcomes[:3]] == ["done", "done", "refused"]
    assert "goto was not done: the task allows only click, and actions that only look" in outcomes[2].sentence


@pytest.mark.parametrize("site", [PLAIN], indirect=True)
async def test_an_action_to_allow_that_does_not_exist_is_named_before_anything_is_done(
    page: Page, site: Site, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="There is no action 'clik' to allow"):
        await run(page, site, tmp_path, "click Press", allowed_actions=("clik",))

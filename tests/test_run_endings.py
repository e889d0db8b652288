"""Claims about how a run ends when it may not go on: by its limits, whatever it waits for, and by signals."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from messages_server import Answer, MessagesServer, saying
from playwright.async_api import Page

from tests.conftest import Server, hear_signals
from vision_agent import Agent, Settings
from vision_agent.actions import Action, Click, Finish, Type, Wait
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.policy.approval import Answers
from vision_agent.ports import Model
from vision_agent.record import verify
from vision_agent.record.read import read
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Choice, Decision, Ending, Limits, Run, Task

BODY = """<title>Count</title><button onclick='document.title = ++n'>Add</button><input aria-label=Note>
<script>let n = 0</script>"""


class Silent(Model):
    """Never answers."""

    name = "silent"

    async def decide(self, *_: Any, **__: Any) -> Decision:
        await asyncio.Event().wait()
        raise AssertionError


async def ended(page: Page, serve: Server, tmp_path: Path, model: Model, limits: Limits, **more: Any) -> Run:
    task = Task(goal="Count", start_url=serve({"/": BODY}), limits=limits)
    agent = Agent(task, model=model, page=page, settings=Settings(runs=tmp_path, **more.pop("settings", {})), **more)
    run = await agent.run()
    assert agent.folder is not None
    assert verify(agent.folder).holds
    assert read(agent.folder).ending == run.ending
    return run


@pytest.mark.parametrize(
    ("model", "steps"), [(Silent(), 0), (ScriptedModel([(Wait(seconds=30),)]), 1)], ids=["a model", "a wait"]
)
async def test_a_run_lasts_no_longer_than_it_may_whatever_it_waits_for(
    page: Page, serve: Server, tmp_path: Path, model: Model, steps: int
) -> None:
    began = time.monotonic()
    run = await ended(page, serve, tmp_path, model, Limits(seconds=3))
    assert time.monotonic() - began < 25
    assert run.ending is not None
    assert (run.ending.status, run.ending.sentence) == (
        "limit",
        "A limit was reached: 3 seconds have passed; step 1 was cut off."
        if not steps
        else "A limit was reached: 3 seconds have passed; step 2 was cut off.",
    )
    assert len(run.steps) == steps
    for outcome in (outcome for step in run.steps for outcome in step.outcomes):
        assert (outcome.status, outcome.refusal) == ("refused", "timed_out")
        assert "was cut off: the run may last 3 seconds" in outcome.sentence


async def test_a_person_who_does_not_answer_holds_no_run_beyond_its_limit(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    async def never(*_: object) -> Choice | None:
        await asyncio.Event().wait()
        return None

    model = ScriptedModel([(Click(target=1),)])
    settings = {"approval": ApprovalSettings(ask="always")}
    run = await ended(page, serve, tmp_path, model, Limits(seconds=3), approver=Answers(never), settings=settings)
    assert run.ending is not None
    assert run.ending.status == "limit"
    assert await page.title() == "Count"


@pytest.mark.parametrize(("limits", "done"), [(Limits(actions_per_step=3), 3), (Limits(), 20)])
async def test_a_decision_has_so_many_actions_and_no_more(
    page: Page, serve: Server, tmp_path: Path, limits: Limits, done: int
) -> None:
    many: tuple[Action, ...] = (Type(target=2, text="x", clear=False),) * 200
    run = await ended(page, serve, tmp_path, ScriptedModel([many, (Finish(answer="Done"),)]), limits)
    outcomes = run.steps[0].outcomes
    assert [outcome.status for outcome in outcomes].count("done") == done, outcomes[:3]
    assert {outcome.refusal for outcome in outcomes[done:]} == {"not_reached"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_a_run_with_its_report_and_the_command_that_goes_on(
    serve: Server, tmp_path: Path, number: signal.Signals
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text('wait for "never"\nfinish\n', "utf-8")
    with socket.create_server(("127.0.0.1", 0)) as picture:
        body = f"{BODY}<img src=http://127.0.0.1:{picture.getsockname()[1]}/>"
        address = serve({"/": body})
        again = ["--secret", "pin=PIN", "--approve", "never", "--supervise"]
        process = subprocess.Popen(
            [sys.executable, "-m", "vision_agent", "run", address, "--steps", lines, "--runs", tmp_path, *again],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "PIN": "73920"},
            preexec_fn=hear_signals,
        )
        picture.settimeout(60)
        connection, _ = picture.accept()
        process.send_signal(number)
        connection.close()
    said, told = process.communicate(timeout=150)
    assert process.returncode == 130, (said, told)
    [folder] = [path.parent for path in tmp_path.glob("*/steps.jsonl")]
    assert verify(folder).holds
    assert (folder / "report.html").is_file()
    ending = read(folder).ending
    assert ending is not None
    assert ending.status == "interrupted"
    assert f"vision-agent resume {folder} --steps {lines} {' '.join(again)}" in " ".join(told.split())


LOST = """
import os, signal, sys, time, weakref
from vision_agent.cli.main import main

class Dies: ...

def callback(_):
    os.kill(os.getpid(), signal.Signals[sys.argv.pop()])
    time.sleep(0.2)

class Imports:
    def find_spec(self, name, path=None, target=None):
        if name == "vision_agent.session" and self in sys.meta_path:
            sys.meta_path.remove(self)
            dying = Dies()
            watching = weakref.ref(dying, callback)
            del dying

sys.meta_path.insert(0, Imports())
main()
"""
"""Gets a signal while Python cleans up an object, where it drops what is raised."""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_at_a_moment_at_which_python_drops_it_ends_a_run_all_the_same(
    serve: Server, tmp_path: Path, name: str
) -> None:
    (tmp_path / "lines.txt").write_text('wait for "never"\nfinish\n', "utf-8")
    arguments = ["run", serve({"/": BODY}), "--steps", str(tmp_path / "lines.txt"), "--runs", str(tmp_path)]
    told = subprocess.run(
        [sys.executable, "-c", LOST, *arguments, name],
        capture_output=True,
        text=True,
        timeout=150,
        preexec_fn=hear_signals,
        check=False,
    )
    assert told.returncode == 130, told
    assert "Traceback" not in told.stderr


async def limited(
    page: Page,
    serve: Server,
    tmp_path: Path,
    api: MessagesServer,
    *,
    judge: str | None = None,
    start: str = "/",
    seconds: float = 4,
) -> Ending:
    told = {"base_url": api.base_url, "api_key": "key-of-the-test", "timeout_s": 500, "judge": judge}
    settings = Settings(runs=tmp_path, model={"name": "anthropic:claude-sonnet-5-5", **told})
    url = serve({"/": BODY}) if start == "/" else start
    agent = Agent(Task(goal="Count", start_url=url, limits=Limits(seconds=seconds)), page=page, settings=settings)
    run = await agent.run()
    assert agent.folder is not None
    assert verify(agent.folder).holds
    assert run.ending is not None
    return run.ending


def finishing() -> Answer:
    return saying(json.dumps({"judgement": "unknown", "actions": [{"kind": "finish", "answer": "Done"}]}))


@pytest.mark.parametrize(
    "answers",
    [
        [Answer(b"", 429, headers={"retry-after": "3600"})],
        [Answer(b"", 503, headers={"retry-after": "3600"})],
        [Answer(b"", hangs=True)],
        [Answer(b" " * 9_000, drips=True)],
        [finishing(), Answer(b"", hangs=True)],
        [finishing(), Answer(b"", 429, headers={"retry-after": "3600"})],
    ],
    ids=["come-back-in-an-hour", "down-for-an-hour", "silent", "byte-by-byte", "a-silent-judge", "a-judge-in-an-hour"],
)
async def test_a_model_server_that_lets_a_run_wait_does_not_hold_it_beyond_its_time(
    page: Page, serve: Server, tmp_path: Path, api: MessagesServer, answers: list[Answer]
) -> None:
    api.answers = list(answers)
    seconds, judge = (12, "same") if len(answers) > 1 else (4, None)
    ending = await limited(page, serve, tmp_path, api, judge=judge, seconds=seconds)
    assert len(api.requests) == len(answers)
    assert (ending.status, f"{seconds} seconds have passed" in ending.sentence) == ("limit", True)


async def test_a_page_that_never_answers_does_not_hold_a_run_beyond_its_time(
    page: Page, serve: Server, tmp_path: Path, api: MessagesServer
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        goto = {"judgement": "unknown", "actions": [{"kind": "goto", "url": address}]}
        api.answers = [saying(json.dumps(goto))]
        ending = await limited(page, serve, tmp_path, api)
    assert (ending.status, "4 seconds have passed" in ending.sentence) == ("limit", True)


async def test_a_start_page_that_never_answers_does_not_hold_a_run_beyond_its_time(
    page: Page, serve: Server, tmp_path: Path, api: MessagesServer
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        ending = await limited(page, serve, tmp_path, api, start=f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert (ending.status, "4 seconds have passed" in ending.sentence) == ("limit", True)
    assert api.requests == []

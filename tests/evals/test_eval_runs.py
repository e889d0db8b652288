"""Evaluations in real Chromium: the same again, cut off and gone on with, broken and tried again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from messages_server import Answer, MessagesServer, saying
from playwright.async_api import Page
from result_builder import result_files, results_in

from tests.conftest import hear_signals
from tests.ready_python import python
from vision_agent import Agent, Settings, Task
from vision_agent.evals import miniwob
from vision_agent.evals.ablation import left_out_parts
from vision_agent.evals.items import ItemResult
from vision_agent.evals.runner import items_of, run_items
from vision_agent.evals.suites.suite_names import suite_named
from vision_agent.models.offline.steps import StepsModel
from vision_agent.ports import Model
from vision_agent.record.read import check_chain, read
from vision_agent.settings import ModelSettings
from vision_agent.types import Limits

NOTES = """<title>Notes</title><style>button { border-radius: 9px }</style>
<h1>Notes</h1><button onclick="this.outerHTML = '<p>Saved'">Save</button>"""


def eval_(*args: object) -> list[str]:
    return [python(), "-m", "vision_agent", "eval", *map(str, args)]


ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}


def written(folder: Path, url: str, tasks: list[dict[str, Any]]) -> Path:
    path = folder / "notes.py"
    path.write_text(f"suite = {[{'start_url': url, 'goal': 'Save the note', **task} for task in tasks]!r}", "utf-8")
    return path


@pytest.mark.parametrize(
    "name",
    ["a page of ours", pytest.param("fixtures", marks=pytest.mark.thorough)],  # words on canvases take long to read
)
async def test_the_same_suite_twice_gives_the_same_scores_and_the_same_pictures(
    name: str, serve: Any, tmp_path: Path
) -> None:
    tasks = [{"id": f"t{n}", "expect": ["text=Saved"], "steps": ["click Save", "wait 0.1", "finish"]} for n in range(2)]
    own = str(written(tmp_path, serve({"/": NOTES}), tasks))
    suite, settings = suite_named("fixtures" if name == "fixtures" else own), Settings()
    only = ["seats/book-two-in-the-stalls", "sheet/total-of-the-amounts"] if name == "fixtures" else []
    items = items_of(suite, ["steps"], settings, only=only)

    first = await run_items(items, suite, settings, tmp_path / "first", jobs=2)
    again = await run_items(items, suite, settings, tmp_path / "again", jobs=1)

    assert [each.score for each in first] == [each.score for each in again] == [1.0, 1.0]
    assert [each.item for each in first] == items
    assert all(len(each.pictures) >= 3 for each in first)
    assert [each.pictures for each in first] == [each.pictures for each in again]
    for each in first:
        folder = tmp_path / "first" / each.item.folder / each.run
        assert check_chain(folder).holds
        assert read(folder).provenance.model == "steps"
        assert each.figures is not None
        assert each.figures.steps == each.figures.good_steps == len(each.pictures)
        assert each.figures.page_s > 0
        assert each.figures.model_s == 0
        assert each.witness is not None
        assert (each.witness.wrong, each.witness.unwitnessed) == ((), 0)
        assert name == "fixtures" or each.witness.witnessed == 1


async def test_a_score_is_the_pages_word_a_crash_is_an_error_and_only_that_is_tried_again(
    serve: Any, closed_port: int, tmp_path: Path
) -> None:
    tasks = [
        {"id": "saved", "expect": ["text=Saved"], "steps": ["click Save", "finish"]},
        {"id": "lied", "expect": ["text=Saved"], "steps": ["finish It is saved"]},
        {"id": "unjudged", "steps": ["finish It is saved"]},
        {"id": "away", "expect": ["text=Saved"], "steps": ["finish"], "start_url": f"http://127.0.0.1:{closed_port}/"},
    ]
    path, out = written(tmp_path, serve({"/": NOTES}), tasks), tmp_path / "out"
    command = eval_(path, "--model", "steps", "--out", out, "--json")
    done = await asyncio.to_thread(_ran, command)

    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    assert said["suite"] == "notes"
    assert [(each["task"], each["score"]) for each in said["items"]] == [
        ("saved", 1.0),
        ("lied", 0.0),
        ("unjudged", None),
        ("away", None),
    ]
    [row] = said["summary"]["rows"]
    assert (row["items"], row["scored"], row["passed"], row["errors"], row["unscored"]) == (4, 2, 1, 1, 1)
    assert "ERR_CONNECTION_REFUSED" in said["items"][3]["error"]
    assert all(read(Path(each["run"])).ending for each in said["items"])
    before = _runs(out)

    retried = await asyncio.to_thread(_ran, [*command, "--retry-errors"])
    assert retried.returncode == 1
    assert {task: len(runs) for task, runs in _runs(out).items()} == {"saved": 1, "lied": 1, "unjudged": 1, "away": 2}
    await asyncio.to_thread(_ran, command)
    assert {task: len(runs) for task, runs in _runs(out).items()} == {**dict.fromkeys(before, 1), "away": 2}


async def test_a_task_of_ones_own_may_expect_a_download(serve: Any, tmp_path: Path) -> None:
    page = "<title>Files</title><a download=a.txt href='data:text/plain,x'>Get</a>"
    tasks = [
        {"id": "kept", "expect": ["download=*.txt", "mark=Get"], "steps": ["click Get", "wait 0.5", "finish"]},
        {"id": "missing", "expect": ["download=*.txt"], "steps": ["finish"]},
    ]
    suite = suite_named(str(written(tmp_path, serve({"/": page}), tasks)))
    kept, missing = await run_items(items_of(suite, ["steps"], Settings()), suite, Settings(), tmp_path / "out")
    assert (kept.passed, kept.error) == (True, "")
    assert (missing.passed, missing.sentence) == (
        False,
        "Not reached: a file named *.txt must have been downloaded, and nothing was",
    )


async def test_a_model_that_is_asked_has_its_tokens_cost_and_time_counted_and_a_wrong_key_is_an_error(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = MessagesServer()
    finish = {"judgement": "unknown", "actions": [{"kind": "finish", "answer": "Saved"}]}
    said = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    api.answers = [saying(json.dumps(finish)), Answer(json.dumps(said).encode(), 401)]
    await api.start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    tasks = [{"id": each, "expect": ["mark=Save", "url=http*"]} for each in ("first", "second")]
    suite = suite_named(str(written(tmp_path, serve({"/": NOTES}), tasks)))
    settings = Settings(model=ModelSettings(retries=0))
    items = items_of(suite, ["anthropic:claude-haiku-4-5"], settings)
    first, second = await run_items(items, suite, settings, tmp_path / "out")
    await api.close()

    assert [request["model"] for request in api.asked] == ["claude-haiku-4-5"] * 2
    assert (first.score, first.error) == (1.0, "")
    assert first.figures is not None
    assert first.figures.tokens > 0
    assert first.figures.cost_usd is not None
    assert first.figures.cost_usd > 0
    assert first.figures.model_s > 0
    assert (second.score, second.passed) == (None, None)
    assert "ANTHROPIC_API_KEY" in second.error
    assert read(tmp_path / "out" / second.item.folder / second.run).provenance.model == "anthropic:claude-haiku-4-5"
    assert not any("http*" in json.dumps(request) for request in api.asked)


@pytest.mark.thorough
async def test_a_model_does_the_same_items_without_what_is_kept_from_it(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = MessagesServer()
    finish = {"judgement": "unknown", "actions": [{"kind": "finish", "answer": "Saved"}]}
    api.answers = [saying(json.dumps(finish))] * 3
    await api.start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    suite = suite_named(str(written(tmp_path, serve({"/": NOTES}), [{"id": "save", "expect": ["mark=Save"]}])))
    settings = Settings(model=ModelSettings(retries=0))
    items = items_of(suite, ["anthropic:claude-haiku-4-5", "match"], settings, ablate=["picture", "boxes"])
    results = await run_items(items[:3], suite, settings, tmp_path / "out")
    await api.close()

    assert [(item.model, left_out_parts(item.settings)) for item in items] == [
        ("anthropic:claude-haiku-4-5", ()),
        ("anthropic:claude-haiku-4-5", ("picture",)),
        ("anthropic:claude-haiku-4-5", ("boxes",)),
        ("match", ()),
    ]
    assert len({item.id for item in items}) == 4
    assert [each.error for each in results] == ["", "", ""]
    told = [json.dumps(request["messages"]) for request in api.asked]
    assert [("image/png" in each, "[:]<button" in each) for each in told] == [(True, True), (False, True), (True, True)]
    recorded = [read(tmp_path / "out" / each.item.folder / each.run).provenance.settings for each in results]
    assert [each["model"]["ablate"] for each in recorded] == [[], ["picture"], []]
    assert results[0].pictures == results[1].pictures != results[2].pictures
    assert recorded[2]["observe"]["style"] == "numbers"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_what_was_interrupted_and_killed_goes_on_and_runs_nothing_twice(serve: Any, tmp_path: Path) -> None:
    tasks = [{"id": f"t{n}", "expect": ["text=Saved"], "steps": ["click Save", "finish"]} for n in range(4)]
    path, out = written(tmp_path, serve({"/": NOTES}), tasks), tmp_path / "out"
    command = eval_(path, "--model", "steps", "--out", out)

    said, code = _stopped(command, "1 of 4", signal.SIGINT)
    assert code == 130
    assert "of 4 items have a result" in said
    assert "Traceback" not in said
    assert result_files(out)

    _, code = _stopped(command, "2 of 4", signal.SIGKILL)
    assert code == -signal.SIGKILL
    kept = result_files(out)
    assert len(kept) >= 2

    done = _ran([*command, "--json"])
    assert done.returncode == 0, done.stderr
    assert f"{len(kept)} of 4 items already have a result" in done.stderr
    assert [each["score"] for each in json.loads(done.stdout)["items"]] == [1.0] * 4
    assert kept.items() <= result_files(out).items()  # the very bytes
    assert all(len(_runs(out)[each.item.task]) == 1 for each in map(_parsed, kept.values()))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(runs=tmp_path / "runs")


async def test_an_episode_ends_when_the_environment_says_so_whatever_the_agent_would_do(
    html: Path, page: Page, settings: Settings
) -> None:
    """A wrong answer, and then START is clicked, which would begin another episode and lose the reward."""
    agents: list[Agent] = []

    async def run(task: Task, *, models: dict[str, Model], **more: Any) -> None:
        assert models["solver"].name == "solver"
        model = StepsModel(["click Submit", *["click START"] * 9])
        agents.append(Agent(task, model=model, page=page, settings=settings, **more))
        await agents[-1].run()
        await page.click("#sync-task-cover")

    with suite_named("miniwob", pages=html).open_stage(settings) as stage:
        judged = await stage.play("enter-text", 1, "s", page, Limits(steps=10), run)

    assert (judged.score, judged.passed) == (0.0, False)
    assert judged.sentence == "The environment's reward is -1"
    assert agents[0].ending is not None
    assert agents[0].ending.sentence == "The environment has ended the episode."
    assert (await miniwob.reward(page)).done


@pytest.mark.thorough
async def test_the_environments_reward_is_the_score_and_its_timer_ends_an_episode(html: Path, tmp_path: Path) -> None:
    settings = Settings()
    suite = suite_named("miniwob", pages=html)
    items = items_of(suite, ["match"], settings, only=["enter-text"])
    [passed] = await run_items(items, suite, settings, tmp_path)
    hurried = suite_named("miniwob", pages=html, episode_s=0.05)
    late = items_of(hurried, ["match"], settings, only=["enter-text"])
    [failed] = await run_items(late, hurried, settings, tmp_path)

    assert (passed.score, passed.passed) == (1.0, True)
    assert (failed.score, failed.sentence) == (0.0, "The environment's reward is -1: timed out")


def _ran(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150
    )


def _stopped(command: list[str], at: str, by: signal.Signals) -> tuple[str, int]:
    """What it said until it was stopped, which is when it said `at`, and how it ended."""
    process = subprocess.Popen(
        command,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )
    assert process.stderr is not None
    said = ""
    for line in process.stderr:
        said += line
        if at in line:
            break
    process.send_signal(by)
    _, rest = process.communicate(timeout=150)
    return said + rest, process.returncode


def _parsed(result: bytes) -> ItemResult:
    return ItemResult.model_validate_json(result)


def _runs(out: Path) -> dict[str, list[str]]:
    """The run folders of each task that has a result."""
    return {
        each.item.task: sorted(path.name for path in (out / each.item.folder / "runs").iterdir())
        for each in results_in(out)
    }

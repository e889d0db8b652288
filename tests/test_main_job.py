"""The main job end to end: a goal and a page in, a run folder out, and the site confirms the end state."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from messages_server import Answer, MessagesServer, fault, saying

from vision_agent import Agent, Task
from vision_agent.errors import ModelUnavailable
from vision_agent.evals.suites.fixture_sites import SiteTask, reached, served, tasks_of
from vision_agent.exemplars import Standing
from vision_agent.memory import MemoryFolder
from vision_agent.memory.exemplar import exemplar_of
from vision_agent.models.offline.steps import StepsModel
from vision_agent.record.read import check_chain, read, read_lines
from vision_agent.settings import ModelSettings, Settings
from vision_agent.types import SuccessCheck

SITES = Path(__file__).parent.parent / "fixtures" / "sites"
NAMES = ("shop", "seats", "sheet", "chart", "paint", "flow", "board")
ALL = [(site, task) for site in NAMES for task in tasks_of(SITES / site)]
SAMPLE = {site: tasks_of(SITES / site)[0] for site in NAMES if site != "shop"}
"""`make test` does one task of each site; that of the shop is done by `test_export.py`."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        runs=tmp_path / "runs",
        memory=tmp_path / "nothing",
        model=ModelSettings(name="anthropic:claude-sonnet-5-5", retries=0),
    )


@pytest.mark.parametrize(
    "site_name, task",
    [
        pytest.param(site, task, id=f"{site}-{task.id}", marks=() if SAMPLE.get(site) == task else pytest.mark.thorough)
        for site, task in ALL
    ],
)
async def test_a_task_is_done_by_step_lines_and_the_site_confirms_it(
    site_name: str, task: SiteTask, settings: Settings
) -> None:
    with served(SITES / site_name) as site:
        agent = Agent(Task(goal=task.goal, start_url=site.start(task)), model=StepsModel(task.steps), settings=settings)
        run = await agent.run()
        verdict = reached(task.expect, site.state())

    assert verdict.reached, verdict.sentence
    assert run.ending is not None
    assert run.ending.exit_code == 0
    assert agent.folder is not None
    assert read(agent.folder).ending == run.ending
    assert check_chain(agent.folder, agent.head).holds
    assert agent.report is not None
    assert agent.report.stat().st_size > 10_000


async def test_a_task_is_done_by_a_model_that_sees_only_the_picture_and_the_listing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server plays a model: it finds the number of each thing in the listing it was sent, as a model would."""
    task = next(task for site, task in ALL if site == "shop" and task.id == "order-hoodie")
    api = MessagesServer()
    api.answers = [_Reader(_wanted())]
    await api.start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    with served(SITES / "shop") as site:
        agent = Agent(Task(goal=task.goal, start_url=site.start(task)), settings=settings)
        run = await agent.run()
        verdict = reached(task.expect, site.state())
    await api.close()

    assert verdict.reached, verdict.sentence
    assert len(api.asked) == len(run.steps)
    assert agent.folder is not None
    for step, request in zip(run.steps, api.asked, strict=True):
        # The very bytes that were drawn are what the model gets, and what the record keeps.
        assert hashlib.sha256(_picture(request)).hexdigest() == step.observation.marked.sha256
        assert (agent.folder / "shots" / f"{step.observation.marked.sha256}.png").exists()
        assert step.decision.author == "model"
        assert (agent.folder / "requests" / f"{step.decision.request_sha256}.json").exists()


async def test_a_wrong_key_ends_the_run_with_code_5_and_a_folder_that_opens(
    settings: Settings, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = MessagesServer()
    said = {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
    api.answers = [Answer(json.dumps(said).encode(), 401)]
    await api.start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    agent = Agent(Task(goal="Save", start_url=serve({"/": "<button>Save</button>"})), settings=settings)

    with pytest.raises(ModelUnavailable, match="ANTHROPIC_API_KEY") as error:
        await agent.run()
    await api.close()

    assert error.value.exit_code == 5
    assert agent.folder is not None
    ending = read(agent.folder).ending
    assert ending is not None
    assert ending.exit_code == 5
    assert agent.report is not None
    assert "key-of-the-test" not in agent.report.read_text("utf-8")


async def test_a_fallback_that_was_named_takes_over_and_the_record_says_so(
    settings: Settings, serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(request: dict[str, Any]) -> Answer:
        if request["model"] == "claude-sonnet-5-5":
            return fault(529, "overloaded_error", "Overloaded")
        return saying(json.dumps({"judgement": "unknown", "actions": [{"kind": "finish", "answer": "Saved"}]}))

    api = MessagesServer()
    api.answers = [answer]
    await api.start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    model = settings.model.model_copy(update={"fallback": "anthropic:claude-haiku-4-5"})
    task = Task(goal="Save", start_url=serve({"/": "<button>Save</button>"}))
    agent = Agent(task, settings=settings.model_copy(update={"model": model}))
    run = await agent.run()
    await api.close()

    assert run.ending is not None
    assert run.ending.answer == "Saved"
    assert [asked["model"] for asked in api.asked] == ["claude-sonnet-5-5", "claude-haiku-4-5"]
    assert agent.folder is not None
    [trouble] = [line.event.sentence for line in read_lines(agent.folder) if line.event.event == "troubled"]
    assert "the provider is overloaded" in trouble
    assert trouble.endswith("The fallback takes over.")


@pytest.mark.thorough
async def test_what_worked_once_is_told_the_next_time_and_counted_as_a_help(
    settings: Settings, serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve({"/": "<button onclick='document.title = `Saved`'>Save</button>"})
    memory = MemoryFolder(tmp_path / "memory")
    first = Agent(
        Task(goal="Save the draft “One”", start_url=url, checks=(SuccessCheck(mark="Save"),)),
        model=StepsModel(["click Save", "finish"]),
        settings=settings,
    )
    await first.run()
    assert first.folder is not None
    memory.add(exemplar_of(first.folder))

    api = MessagesServer()
    finish = {"judgement": "unknown", "actions": [{"kind": "finish", "answer": "Saved"}]}
    api.answers = [saying(json.dumps(finish))]
    await api.start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.base_url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test")
    agent = Agent(
        Task(goal="Save the draft “Two”", start_url=url, checks=(SuccessCheck(url=f"{url}/"),)),
        settings=settings.model_copy(update={"memory": memory.path}),
    )
    run = await agent.run()
    await api.close()

    [request] = api.asked
    content = request["messages"][0]["content"]
    said = [each.get("text", "<picture>") for each in content]
    at = next(i for i, text in enumerate(said) if "Goal then: Save the draft “One”" in text)
    assert said[at + 1] == "<picture>"
    assert "<button>Save" in said[at + 2]
    last = max(i for i, text in enumerate(said) if text.startswith("<exemplar turn="))
    assert content[last]["cache_control"] == {"type": "ephemeral"}
    assert run.task.exemplar is not None
    assert memory.show(run.task.exemplar.id).standing == Standing(helped=1)
    assert agent.folder is not None
    kept = read(agent.folder)
    assert kept.task.exemplar is not None
    assert kept.task.exemplar.id == run.task.exemplar.id
    picture = run.task.exemplar.turns[0].picture
    assert picture is not None
    assert (agent.folder / "shots" / f"{picture.sha256}.jpg").exists()
    assert check_chain(agent.folder).holds


async def test_allowed_hosts_hold_for_frames_pictures_scripts_sockets_and_links(serve: Any, settings: Settings) -> None:
    connections = []
    foreign = await asyncio.start_server(lambda _, writer: (connections.append(1), writer.close()), "127.0.0.1", 0)
    away = f"//localhost:{foreign.sockets[0].getsockname()[1]}"
    home = serve(
        {
            "/": f"""<iframe src="http:{away}/"></iframe><img src="http:{away}/picture"><a href="http:{away}/">Away</a>
            <script>fetch("http:{away}/data", {{mode: "no-cors"}}).catch(() => 0); new WebSocket("ws:{away}/")</script>
            <script src="http:{away}/script.js"></script>"""
        }
    )
    task = Task(goal="Go away", start_url=home, allowed_hosts=("127.0.0.1",))
    agent = Agent(task, model=StepsModel(["click Away", "finish"]), settings=settings)
    run = await agent.run()
    foreign.close()
    await foreign.wait_closed()

    assert connections == []
    host, warnings = away.removeprefix("//"), " ".join(run.steps[0].observation.warnings)
    told = f"A request to {host} was blocked (asked for by the page): its host is not among"
    assert told in run.steps[0].outcomes[0].sentence
    assert f"a request to {host} was blocked (asked for by a frame): its host is not among" in warnings
    assert f"a request to {host} was blocked: its host is not among" in warnings


def _wanted() -> Iterator[dict[str, Any]]:
    """What a model would want to do, with names where the listing will give the numbers."""
    yield {"kind": "click", "target": "Accept all"}
    yield {"kind": "type", "target": "Search products", "text": "hoodie", "submit": True}
    yield {"kind": "click", "target": "Harbor Hoodie"}
    yield {"kind": "select", "target": "Size", "options": ["Large"]}
    yield {"kind": "click", "target": "Add to cart"}
    yield {"kind": "click", "target": "View cart"}
    yield {"kind": "click", "target": "Go to checkout"}
    for field, text in (
        ("Full name", "Ada Lovelace"),
        ("Email", "ada@example.org"),
        ("Street and number", "Lindenstraße 12"),
        ("Postcode", "10969"),
        ("City", "Berlin"),
    ):
        yield {"kind": "type", "target": field, "text": text}
    yield {"kind": "select", "target": "Country", "options": ["Germany"]}
    yield {"kind": "click", "target": "Bank transfer"}
    yield {"kind": "click", "target": "I accept the terms of sale"}
    yield {"kind": "click", "target": "Place order"}
    yield {"kind": "wait", "text": "Order placed", "seconds": 5}
    yield {"kind": "finish", "success": True, "answer": "Ordered."}


class _Reader:
    """Answers a request with the next wanted action, its name replaced by the number found in the listing."""

    def __init__(self, wanted: Iterator[dict[str, Any]]) -> None:
        self._wanted = wanted

    def __call__(self, request: dict[str, Any]) -> Answer:
        action = next(self._wanted)
        if "target" in action:
            action = {**action, "target": _number_of(action["target"], _text(request))}
        reply = {
            "judgement": "unknown",
            "summary": "",
            "memory": "",
            "next_goal": f"{action['kind']}",
            "candidates": [],
            "actions": [action],
        }
        return saying(json.dumps(reply))


def _number_of(name: str, listing: str) -> int:
    lines = [re.match(r"(\d+)\[:\]<[^>]*>(.*?)( @frame:\w+)?$", line) for line in listing.splitlines()]
    found = [int(line[1]) for line in lines if line and line[2].strip() == name]
    assert len(found) == 1, f"{name}: {found} in\n{listing}"
    return found[0]


def _text(request: dict[str, Any]) -> str:
    """What is said of the page as it is now: after its picture, the last one; of earlier pages there are lines too."""
    blocks = request["messages"][-1]["content"]
    picture = max(place for place, block in enumerate(blocks) if block["type"] == "image")
    return "\n".join(block["text"] for block in blocks[picture + 1 :])


def _picture(request: dict[str, Any]) -> bytes:
    blocks = [block for message in request["messages"] for block in message["content"] if block["type"] == "image"]
    assert len(blocks) == 1
    assert blocks[0]["transformations"] == {"oversized_image": "error"}
    return b64decode(blocks[0]["source"]["data"])

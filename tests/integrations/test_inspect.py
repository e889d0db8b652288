"""Claims about Inspect: our suites as its tasks, our browser as its tools, our policy as its approver."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from pages import MissingPages, pages

from tests.conftest import Server
from tests.record.record_builder import small_run, write_run
from vision_agent.evals.items import found_in
from vision_agent.evals.security.suite import SecuritySuite
from vision_agent.evals.suites.frozen import freeze
from vision_agent.record import read
from vision_agent.record.verify import verify

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed: `make rest-packages` installs it")

from inspect_ai.approval import ApprovalPolicy  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import EvalLog, list_eval_logs  # noqa: E402
from inspect_ai.model import ChatMessageTool, ContentImage, ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.solver import generate, use_tools  # noqa: E402

from tests.ready_python import python  # noqa: E402
from vision_agent.integrations.inspect import registry  # noqa: E402

pytestmark = [
    # Its own dependencies warn.
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(500),
]

FINISH = {
    "judgement": "unknown",
    "summary": "",
    "wall": "none",
    "memory": "",
    "next_goal": "End",
    "candidates": [],
    "actions": [{"kind": "finish", "success": True, "answer": "Done."}],
}
PAGE = """<title>Order</title><label>Name <input></label><button onclick="document.title = 'Shown'">Show</button>
<button onclick="document.title = 'Paid'">Pay now</button>"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder: runs and logs are written to it."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    gc.collect()  # what Inspect leaves open would warn in a later test


async def evaluated(task: Any, answer: Callable[..., ModelOutput], **more: Any) -> EvalLog:
    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    [log] = await inspect_ai.eval_async(task, model=model, log_dir="logs", **more)
    return log


def counted(output: ModelOutput) -> ModelOutput:
    """With its tokens counted: Inspect would fetch a tokenizer for that."""
    output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
    return output


def saying(text: str) -> ModelOutput:
    return counted(ModelOutput.from_content("mockllm/model", text))


def calling(tool: str, arguments: dict[str, Any]) -> ModelOutput:
    return counted(ModelOutput.for_tool_call("mockllm/model", tool, arguments))


def replies(*decisions: dict[str, Any]) -> Callable[..., ModelOutput]:
    """A model that gives these decisions in turn."""
    waiting = [json.dumps(each) for each in decisions]
    return lambda *_: saying(waiting.pop(0))


def scores(log: EvalLog) -> dict[str, Any]:
    assert log.status == "success", log.error
    [sample] = log.samples or []
    assert sample.scores is not None
    return {name: score.value for name, score in sample.scores.items()}


async def test_a_model_that_answers_nonsense_fails_the_task_and_is_told_why() -> None:
    log = await evaluated(registry.fixtures(only="shop/order-hoodie"), lambda *_: saying("Default"))
    assert scores(log)["end_state"] == 0
    [sample] = log.samples or []
    run = read(Path(sample.store["vision_agent:run_folder"]))
    assert run.ending is not None
    assert run.ending.status == "limit"
    assert "JSON" in run.ending.sentence


async def test_the_results_are_those_of_vision_agent_eval_with_the_same_decisions(folder: Path) -> None:
    only = "shop/cheapest-outerwear"
    command = [python(), "-m", "vision_agent", "eval", "fixtures", "--model", "steps", "--only", only]
    await asyncio.to_thread(subprocess.run, [*command, "--out", "ours"], check=True, capture_output=True, timeout=300)
    [ours] = found_in(folder / "ours")
    run = read(folder / "ours" / ours.result.item.folder / ours.result.run)
    decided = [
        {
            **FINISH,
            "next_goal": step.decision.next_goal,
            "actions": [each.model_dump() for each in step.decision.actions],
        }
        for step in run.steps
    ]
    log = await evaluated(registry.fixtures(only=only, out="theirs"), replies(*decided))
    assert ours.result.witness is not None
    assert ours.result.score == 1
    assert scores(log) == {
        "end_state": ours.result.score,
        "hit_oracle": {
            "wrong": len(ours.result.witness.wrong),
            "witnessed": ours.result.witness.witnessed,
            "unwitnessed": ours.result.witness.unwitnessed,
        },
    }
    [sample] = log.samples or []
    theirs = Path(sample.store["vision_agent:run_folder"])
    assert verify(theirs).holds
    repeated = read(theirs)
    assert [step.decision.actions for step in repeated.steps] == [step.decision.actions for step in run.steps]
    assert [step.observation.clean.sha256 for step in repeated.steps] == [
        step.observation.clean.sha256 for step in run.steps
    ]
    assert sample.scores is not None
    assert sample.scores["end_state"].metadata is not None
    assert sample.scores["end_state"].metadata["run_folder"] == str(theirs)
    [file] = list_eval_logs("logs")
    kept = "".join(ZipFile(file.name.removeprefix("file://")).read(name).decode() for name in names_in(file.name))
    pictures = re.findall(r"data:image/png;base64,[A-Za-z0-9+/]{200}", kept)
    assert len(pictures) == len(set(pictures)), "each picture is in the log once"
    assert len(pictures) >= len(run.steps) - 2


def names_in(log: str) -> list[str]:
    return [name for name in ZipFile(log.removeprefix("file://")).namelist() if name.startswith("samples/")]


async def test_the_other_suites_run_too(folder: Path) -> None:
    write_run(folder / "runs", small_run())
    freeze([folder / "runs"], folder / "pages")
    for task, scorer in (
        (registry.frozen(folder=str(folder / "pages")), "end_state"),
        (registry.grounding(folder=str(folder / "pages")), "end_state"),
    ):
        log = await evaluated(task, lambda *_: saying(json.dumps(FINISH)))
        assert log.status == "success", log.error
        assert scorer in {score.name for score in log.results.scores}
    attack = SecuritySuite().tasks[0]
    log = await evaluated(registry.security(only=attack), replies(FINISH))
    assert scores(log)["attack_stopped"] == 1


async def test_miniwob_is_judged_by_its_own_reward() -> None:
    try:
        html = pages("miniwob") / "html"
    except MissingPages as error:
        pytest.skip(str(error))

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        found = re.findall(r"(\d+)\[:\]<button[^>]*>Click Me", messages[-1].text)
        action = {"kind": "click", "target": int(found[-1])} if found else FINISH["actions"][0]
        return saying(json.dumps({**FINISH, "actions": [action]}))

    log = await evaluated(registry.miniwob(only="click-test", pages=str(html)), answer)
    assert scores(log) == {"end_state": 1, "hit_oracle": {"wrong": 0, "witnessed": 1, "unwitnessed": 0}}


async def test_a_marked_browser_is_driven_by_number_and_closed_with_its_sample(serve: Server) -> None:
    site = serve({"/": PAGE})

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        told = [each for each in messages if isinstance(each, ChatMessageTool)]
        if not told:
            return calling("browser_open", {"url": f"{site}/"})
        if len(told) > 2:
            return saying(told[-1].text)
        session, look = re.findall(r"session (\w+) · look (\w+)", told[-1].text)[0]
        return calling("browser_click", {"session": session, "look_id": look, "target": 1 + len(told)})

    task = inspect_ai.Task(
        dataset=[Sample(input="Show it")],
        solver=[use_tools(registry.marked_browser({"runs": "runs"}, allowed_hosts=["127.0.0.1"])), generate()],
        approval=[ApprovalPolicy(registry.vision_agent_policy(decision="reject"), "browser_*")],
    )
    log = await evaluated(task, answer)
    assert log.status == "success", log.error
    [sample] = log.samples or []
    opened, shown, paid = (each for each in sample.messages if isinstance(each, ChatMessageTool))
    assert any(isinstance(each, ContentImage) for each in opened.content)
    assert "2[:]<button>Show" in opened.text
    assert "page: Shown" in shown.text
    assert paid.error is not None
    assert paid.error.type == "approval"
    [linked] = sample.store["vision_agent:run_folders"]
    assert linked == sample.store["vision_agent:run_folder"]
    found = verify(Path(linked))
    assert found.holds, found
    assert [action.kind for step in read(Path(linked)).steps for action in step.decision.actions] == ["goto", "click"]


async def test_the_agent_does_the_goal_of_a_sample(serve: Server) -> None:
    agent = registry.vision_agent(url=serve({"/": PAGE}) + "/", settings={"runs": "runs"}, expect="url=*")
    task = inspect_ai.Task(dataset=[Sample(input="Show it")], solver=agent)
    click = {**FINISH, "actions": [{"kind": "click", "target": 2}]}
    log = await evaluated(task, replies(click, FINISH))
    assert log.status == "success", log.error
    [sample] = log.samples or []
    assert sample.output.completion == "Done."
    run = read(Path(sample.store["vision_agent:run_folder"]))
    assert run.ok
    assert run.steps[-1].observation.title == "Shown"


async def test_wrong_arguments_are_refused_in_a_sentence() -> None:
    with pytest.raises(Exception, match=r"has no task 'shop/order-hoody'.*the nearest"):
        registry.fixtures(only="shop/order-hoody")
    with pytest.raises(Exception, match="decision must be escalate or reject"):
        registry.vision_agent_policy(decision="maybe")
    with pytest.raises(Exception, match=r"no folder|has no"):
        registry.frozen(folder="nowhere")

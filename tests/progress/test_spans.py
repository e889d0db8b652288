"""Claims about OpenTelemetry spans of a run, made with the real SDK and its exporter in memory."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from docs_snippets.blocks import PAGES, blocks_of
from messages_server import MessagesServer, saying
from playwright.async_api import Page

from tests.conftest import ROOT, Server
from vision_agent import Agent, Observation, Task, action
from vision_agent.actions import Click, Custom, Finish
from vision_agent.custom_actions import ActionContext
from vision_agent.errors import BrowserUnavailable
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.ports import Model
from vision_agent.record.read import read_lines
from vision_agent.record.store import STEPS
from vision_agent.types import Decision, Usage

pytest.importorskip("opentelemetry.sdk", reason="the extra `otel` is not installed")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

VALUE = "Zebra47Quokka"
PAGE = f"<title>Shop {VALUE}</title><button onclick=\"document.title += ' pressed'\">Order</button>"
USAGE = Usage(input_tokens=1000, output_tokens=34, cache_read_tokens=500, cost_usd=0.25)


@pytest.fixture(scope="session")
def provider() -> TracerProvider:
    """The provider of this process, which can be set once."""
    made = TracerProvider()
    trace.set_tracer_provider(made)
    return made


@pytest.fixture
def exported(provider: TracerProvider) -> InMemorySpanExporter:
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter


def named(exported: InMemorySpanExporter, begin: str) -> list[ReadableSpan]:
    return [each for each in exported.get_finished_spans() if each.name.startswith(begin)]


def facts(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def agent(model: Any, serve: Server, page: Page, tmp_path: Path, **more: Any) -> Agent:
    site = serve({"/": PAGE, "/favicon.ico": b""})
    return Agent("Order", url=site, page=page, model=model, settings={"runs": tmp_path / "runs"}, **more)


def decided(*actions: Any) -> Decision:
    return Decision(actions=actions, author="model", model="claude-x", reply_id="msg_1", usage=USAGE)


async def test_a_run_is_a_span_with_one_for_each_request_and_action_and_the_hash_of_its_step(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    ran = agent(ScriptedModel([decided(Click(target=1)), decided(Finish())]), serve, page, tmp_path)
    run = await ran.run()
    [whole] = named(exported, "invoke_agent")
    assert run.folder is not None
    lines = (run.folder / STEPS).read_bytes().splitlines(keepends=True)
    hashes = [hashlib.sha256(line).hexdigest() for line in lines if json.loads(line)["event"] == "stepped"]
    for begin in ("execute_tool", "chat"):
        spans = named(exported, begin)
        assert [facts(each)["vision_agent.step.hash"] for each in spans] == hashes
        assert [facts(each)["vision_agent.step"] for each in spans] == [1, 2]
        assert {each.parent.span_id for each in spans if each.parent} == {whole.context.span_id}
    assert [each.name for each in named(exported, "execute_tool")] == ["execute_tool click", "execute_tool finish"]
    assert facts(named(exported, "execute_tool")[0])["vision_agent.effect"] == "changed"
    chat = facts(named(exported, "chat")[0])
    assert (chat["gen_ai.request.model"], chat["gen_ai.response.id"]) == ("claude-x", "msg_1")
    assert (chat["gen_ai.usage.input_tokens"], chat["gen_ai.usage.output_tokens"]) == (1500, 34)
    about = facts(whole)
    assert (about["gen_ai.operation.name"], about["vision_agent.run"]) == ("invoke_agent", run.id)
    assert (about["gen_ai.usage.input_tokens"], about["vision_agent.cost_usd"]) == (3000, 0.5)
    assert about["vision_agent.record.hash"] == ran.head == hashlib.sha256(lines[-1]).hexdigest()
    assert read_lines(run.folder)[-1].prev == hashes[-1]


async def test_what_a_decider_of_ones_own_used_is_in_the_span_of_the_run(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    own = Decision(actions=(Finish(),), author="scripted", usage=USAGE)
    run = await agent(ScriptedModel([own]), serve, page, tmp_path).run()
    [whole] = named(exported, "invoke_agent")
    assert named(exported, "chat") == []
    assert facts(whole)["vision_agent.cost_usd"] == run.cost == USAGE.cost_usd
    assert facts(whole)["gen_ai.usage.output_tokens"] == USAGE.output_tokens


class Instrumented(Model):
    """A model whose client makes a span for each request, as an instrumented SDK does."""

    name = "instrumented"

    async def decide(self, task: Task, steps: Any, observation: Observation, *, complaint: str = "") -> Decision:
        del task, observation, complaint
        tracer = trace.get_tracer("the.sdk")
        with tracer.start_as_current_span("chat claude-x", attributes={"gen_ai.operation.name": "chat"}):
            await asyncio.sleep(0)
        return decided(Finish() if steps else Click(target=1))


async def test_a_request_for_which_the_client_makes_a_span_gets_no_second_one(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    await agent(Instrumented(), serve, page, tmp_path).run()
    spans = named(exported, "chat")
    assert [each.instrumentation_scope.name for each in spans if each.instrumentation_scope] == ["the.sdk", "the.sdk"]
    [whole] = named(exported, "invoke_agent")
    assert {each.parent.span_id for each in spans if each.parent} == {whole.context.span_id}
    assert facts(whole)["gen_ai.usage.output_tokens"] == 68


async def test_two_runs_at_once_in_one_trace_are_counted_apart(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    other = await page.context.new_page()
    with trace.get_tracer("mine").start_as_current_span("both"):
        await asyncio.gather(
            agent(Instrumented(), serve, page, tmp_path).run(),
            agent(ScriptedModel([decided(Click(target=1)), decided(Finish())]), serve, other, tmp_path).run(),
        )
    scopes = [each.instrumentation_scope.name for each in named(exported, "chat") if each.instrumentation_scope]
    assert sorted(scopes) == ["the.sdk", "the.sdk", "vision_agent", "vision_agent"]
    assert len({each.context.trace_id for each in exported.get_finished_spans()}) == 1
    await other.close()


@action(risks=[])
async def look_up(context: ActionContext) -> str:
    """Ask another model."""
    tracer = trace.get_tracer("the.sdk")
    with tracer.start_as_current_span("chat other", attributes={"gen_ai.operation.name": "chat"}):
        return "Asked"


async def test_what_a_custom_action_does_is_inside_its_span(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    model = ScriptedModel([decided(Custom(name="look_up", risks=())), decided(Finish())])
    await agent(model, serve, page, tmp_path, actions=[look_up]).run()
    [tool] = named(exported, "execute_tool look_up")
    [inner] = named(exported, "chat other")
    assert inner.parent is not None
    assert inner.parent.span_id == tool.context.span_id
    assert len(named(exported, "chat claude-x")) == 2


async def test_a_refused_action_and_a_run_that_fails_are_errors_without_their_words(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    model = StepsModel(["click Order", "fail"])
    await agent(ScriptedModel([[Click(target=99)], [Finish(success=False)]]), serve, page, tmp_path).run()
    [click] = named(exported, "execute_tool click")
    assert (facts(click)["error.type"], click.status.is_ok) == ("unknown_mark", False)
    assert facts(named(exported, "invoke_agent")[0])["error.type"] == "not_done"
    exported.clear()
    broken = Agent("Order", url="127.0.0.1:1", page=page, model=model, settings={"runs": tmp_path / "runs"})
    with pytest.raises(BrowserUnavailable):
        await broken.run()
    [whole] = named(exported, "invoke_agent")
    assert not whole.status.is_ok
    assert whole.events == ()
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_no_span_holds_the_goal_a_secret_or_what_the_page_says(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter
) -> None:
    await agent(StepsModel(["click Order", f"finish {VALUE}"]), serve, page, tmp_path, secrets={"word": VALUE}).run()
    text = "".join(each.to_json() for each in exported.get_finished_spans())
    assert "execute_tool click" in text
    assert [word for word in (VALUE, "Shop", "Order") if word in text] == []


async def test_a_request_to_claude_is_one_span_and_tells_its_step(
    page: Page, serve: Server, tmp_path: Path, exported: InMemorySpanExporter, api: MessagesServer
) -> None:
    done = {"judgement": "success", "summary": "", "memory": "", "next_goal": "", "candidates": []}
    api.answers = [saying(json.dumps({**done, "actions": [{"kind": "finish", "success": True, "answer": "Done."}]}))]
    key = {"name": "anthropic:claude-sonnet-5-5", "api_key": "sk-no", "base_url": api.base_url}
    ran = Agent(
        "Look", url=serve({"/": PAGE}), page=page, settings={"runs": tmp_path, "model": key, "memory": tmp_path / "m"}
    )
    run = await ran.run()
    assert run.ok
    spans = exported.get_finished_spans()
    [chat] = [each for each in spans if facts(each).get("gen_ai.operation.name") == "chat"]
    about = facts(chat)
    assert (about["gen_ai.provider.name"], about["vision_agent.run"], about["vision_agent.step"]) == (
        "anthropic",
        run.id,
        1,
    )
    assert about["gen_ai.usage.output_tokens"] == sum(each.output_tokens for each in run.steps[0].usages)
    assert facts(named(exported, "invoke_agent")[0])["gen_ai.request.model"] == "claude-sonnet-5-5"


def test_the_snippet_of_the_guide_joins_a_trace_and_a_record(serve: Server, tmp_path: Path) -> None:
    blocks = {block.title: block.text for block in blocks_of(PAGES / "guides" / "logs.md")}
    site = serve({"/shop.html": blocks["shop.html"]}).removeprefix("http://").rstrip("/")
    code = blocks["joined.py"].replace("127.0.0.1:8000", site)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=150,
    )
    assert done.stdout.splitlines() == ["execute_tool click True", "execute_tool finish True"], done.stderr


def test_a_program_that_does_not_use_opentelemetry_does_not_load_it() -> None:
    code = "import sys, vision_agent.session, vision_agent.progress.spans as s; " + (
        "[sys.modules.pop(n) for n in [*sys.modules] if n.startswith('opentelemetry')]; "
        "print(s._tracer(), [n for n in sys.modules if n.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=150)
    assert done.stdout == "None []\n", done.stderr

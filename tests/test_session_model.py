"""Whole runs with a model: the real browser, and the real client against a local server."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from messages_server import Answer, MessagesServer, fault, saying
from playwright.async_api import Browser, Page

from tests.sessions import ending_of, recorded
from vision_agent import Agent, Settings, Task
from vision_agent.actions import Check, Click, Finish, Select
from vision_agent.evals.suites.fixture_sites import reached, served, tasks_of
from vision_agent.settings import ModelSettings
from vision_agent.types import Run

SHOP = Path(__file__).parents[1] / "fixtures" / "sites" / "shop"


def asking(api: MessagesServer, task: Task | str, page: Page, tmp_path: Path, **model: Any) -> Agent:
    named = ModelSettings(**{"base_url": api.base_url, "api_key": "key-of-the-test", "retries": 0, **model})
    return Agent(task, page=page, settings=Settings(runs=tmp_path / "runs", model=named))


def deciding(*actions: dict[str, Any]) -> Answer:
    return saying(json.dumps({"judgement": "unknown", "actions": actions}))


def judging(done: bool, missing: str = "") -> Answer:
    body = json.loads(saying(json.dumps({"seen": "It shows.", "missing": missing, "done": done})).body)
    return Answer(json.dumps({**body, "model": "claude-opus-4-6"}).encode())


async def test_a_judge_of_another_name_looks_at_the_end_and_is_on_record(
    api: MessagesServer, page: Page, site: str, tmp_path: Path
) -> None:
    finish = {"kind": "finish", "answer": "Done.", "evidence": [1]}
    api.model = Answer(b'{"type": "model", "max_tokens": 5000, "max_input_tokens": 200000}')
    api.answers = [deciding(finish), judging(False, "The form was not sent."), deciding(finish), judging(True)]
    await page.goto(site)
    ran = asking(api, "Send the form", page, tmp_path, judge="anthropic:claude-opus-4-6")
    run = await ran.run()

    assert ending_of(run).status == "done"
    assert [each["model"] for each in api.asked] == ["claude-sonnet-5-5", "claude-opus-4-6"] * 2
    assert api.models_asked == ["/v1/models/claude-sonnet-5-5", "/v1/models/claude-opus-4-6"]
    assert {each["max_tokens"] for each in api.asked} == {5000}
    assert "The task is not done: The form was not sent." in json.dumps(api.asked[2])
    written = recorded(ran)
    assert {name: each["source"] for name, each in written.provenance.capabilities.items()} == {
        "claude-sonnet-5-5": "api",
        "claude-opus-4-6": "api",
    }
    assert [step.verdict and step.verdict.model for step in written.steps] == ["claude-opus-4-6"] * 2
    assert [step.usages for step in written.steps] == [step.usages for step in run.steps]
    assert [len(step.usages) for step in run.steps] == [2, 2]
    for step in run.steps:
        assert ran.folder is not None
        assert step.verdict is not None
        assert (ran.folder / "requests" / f"{step.verdict.request_sha256}.json").is_file()
    assert ran.report is not None
    html = ran.report.read_text("utf-8")
    assert "Judged not done" in html
    assert "Judged done" in html
    assert "<dt>Judged by</dt>" in html


async def test_the_same_model_may_judge_and_when_it_cannot_be_asked_nothing_is_called_done(
    api: MessagesServer, page: Page, site: str, tmp_path: Path
) -> None:
    api.answers = [deciding({"kind": "finish", "answer": "42"}), fault(529, "overloaded_error", "busy")]
    await page.goto(site)
    ran = asking(api, "Find it", page, tmp_path, judge="same")
    ending = ending_of(await ran.run())

    assert (ending.status, ending.exit_code, ending.answer) == ("unavailable", 5, "42")
    assert "could not be judged. claude-sonnet-5-5: the request failed with 529" in ending.sentence
    written = recorded(ran)
    assert written.ending == ending
    assert api.models_asked == ["/v1/models/claude-sonnet-5-5"]
    assert written.provenance.capabilities["claude-sonnet-5-5"]["why"] == "the Models API answered with 404"


# --- one task, two dialects ---

PLAN = (
    ("button", "Accept all"),
    ("input", "Outerwear"),
    ("input", "In stock only"),
    ("select", "Sort by"),
    ("button", "Add Cabin Overshirt to cart"),
    ("a", "View cart"),
)


class Shopper:
    """Follows the plan in either dialect, and knows of the page only what the request in front of it says."""

    def __init__(self) -> None:
        self.done = 0

    def by_marks(self, request: dict[str, Any]) -> Answer:
        if self.done == len(PLAN):
            return deciding({"kind": "finish", "answer": "It is in the cart."})
        blocks = request["messages"][-1]["content"]
        # The page as it is now comes after the last picture; of earlier pages there are lines too.
        picture = max(place for place, block in enumerate(blocks) if block["type"] == "image")
        tag, number = self._next(json_texts(blocks[picture:]), r"^(\d+)\[:\]")
        if tag == "input":
            return deciding({"kind": "check", "mark": number, "checked": True})
        if tag == "select":
            return deciding({"kind": "select", "target": number, "options": ["Price: low to high"]})
        return deciding({"kind": "click", "target": number})

    def by_tools(self, request: dict[str, Any]) -> Answer:
        if self.done == len(PLAN):
            return calling("finish", {"answer": "It is in the cart."})
        told = json_texts(request["messages"][-1])
        if "[ref_" not in told:
            return calling("read_page", {}, toolset_name="browser")
        tag, number = self._next(told, r"^\[ref_(\d+)\] ")
        target = {"target": {"type": "ref", "ref": f"ref_{number}"}}
        if tag in ("input", "select"):
            value = True if tag == "input" else "Price: low to high"
            return calling("form_input", {**target, "value": value}, toolset_name="browser")
        return calling("left_click", target, toolset_name="browser")

    def _next(self, told: str, head: str) -> tuple[str, int]:
        tag, name = PLAN[self.done]
        self.done += 1
        (number,) = re.findall(rf"{head}<{tag}\b.*>{name}(?: @.*)?$", told, re.MULTILINE)
        return tag, int(number)


def calling(name: str, given: dict[str, Any], **more: Any) -> Answer:
    use = {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": given, **more}
    body = {**json.loads(saying("").body), "content": [use], "stop_reason": "tool_use"}
    return Answer(json.dumps(body).encode())


def json_texts(block: Any) -> str:
    """All texts in it, one below the other."""
    if isinstance(block, list):
        return "\n".join(map(json_texts, block))
    if not isinstance(block, dict):
        return ""
    return str(block.get("text", "")) + json_texts(block.get("content"))


def acted(run: Run) -> list[tuple[str, str, int | None]]:
    """What each action was, on what, and by which rung of the ladder."""
    told = []
    for step in run.steps:
        for action, outcome in zip(step.decision.actions, step.outcomes, strict=True):
            assert isinstance(action, Click | Check | Select | Finish)
            number = getattr(action, "target", getattr(action, "mark", None))
            mark = step.observation.mark(number) if isinstance(number, int) else None
            told.append((action.kind, mark.name if mark else "", outcome.rung))
    return told


async def test_one_task_is_done_in_both_dialects_by_the_same_actions(
    api: MessagesServer, browser: Browser, tmp_path: Path
) -> None:
    wanted = next(task for task in tasks_of(SHOP) if task.id == "cheapest-outerwear")
    runs = []
    with served(SHOP) as shop:
        for dialect in ("marks", "browser"):
            shopper = Shopper()
            api.answers = [shopper.by_marks if dialect == "marks" else shopper.by_tools]
            before = len(api.requests)
            task = Task(goal=wanted.goal, start_url=shop.start(wanted, dialect))
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            ran = asking(api, task, await context.new_page(), tmp_path, dialect=dialect)
            runs.append(await ran.run())
            await context.close()
            assert reached(wanted.expect, shop.state(dialect)).reached
            assert ending_of(recorded(ran)).answer == "It is in the cart."
            kept = {step.decision.request_sha256 for step in runs[-1].steps}
            assert ran.folder is not None
            assert all((ran.folder / "requests" / f"{each}.json").is_file() for each in kept)
            # In tools the page is read first; a look is a request and no step.
            looks = len(PLAN) if dialect == "browser" else 0
            assert len(api.requests) - before == len(PLAN) + 1 + looks
    assert acted(runs[0]) == acted(runs[1])
    assert [name for _, name, _ in acted(runs[0])] == [*(name for _, name in PLAN), ""]

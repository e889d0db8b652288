"""A recorded run, done again on the live page: without a model, with other words, and with what broke healed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from messages_server import Answer, MessagesServer, saying
from playwright.async_api import BrowserContext, Page
from pydantic import SecretStr

from tests.conftest import Server
from tests.sessions import ending_of
from vision_agent import Agent, Settings, Task
from vision_agent.errors import UsageError
from vision_agent.exemplars import Standing
from vision_agent.memory import MemoryFolder
from vision_agent.memory.exemplar import exemplar_of
from vision_agent.models.offline.steps import StepsModel
from vision_agent.record import read, verify
from vision_agent.replay import Patch, Replay
from vision_agent.types import Run, Secret, Step, SuccessCheck

LIST = """<title>Guests</title><h1>Guest list</h1>%s
<form onsubmit="document.title = this.who.value + ' eats ' + this.meal.value; return false">
<label>Name <input name=who></label> <label>Meal <select name=meal><option>Fish<option>Soup</select></label>
<button>%s</button></form>"""
NOTICE = """<dialog id=note open style="position: fixed; inset: 0; margin: 0; width: 100%; height: 100%">
<button onclick="note.close()">Got it</button></dialog>"""
LINES = ['type "Ann" into Name', "select Soup in Meal", "click Join", "finish joined"]
TASK = Task(goal="Put Ann on the list", user_data={"name": "Ann"})


class Guests:
    """A guest list that can be served as it was or changed, and a run on it."""

    def __init__(self, serve: Server, context: BrowserContext, tmp_path: Path) -> None:
        self._serve, self._context, self._runs = serve, context, tmp_path / "runs"

    async def page(self) -> Page:
        return await self._context.new_page()

    def url(self, button: str = "Join", notice: str = "") -> str:
        return self._serve({"/": LIST % (notice, button)})

    @property
    def settings(self) -> Settings:
        return Settings(runs=self._runs)

    async def recorded(self, task: Task = TASK, lines: list[str] = LINES) -> Path:
        task = task.model_copy(update={"start_url": self.url()})
        ran = Agent(task, model=StepsModel(lines), page=await self.page(), settings=self.settings)
        run = await ran.run()
        assert ending_of(run).status == "done", ending_of(run).sentence
        assert ran.folder is not None
        return ran.folder

    async def again(self, folder: Path, page: Page, **more: Any) -> Replay:
        replay = Replay(folder, page=page, **{"settings": self.settings, **more})
        await replay.run()
        assert replay.agent.folder is not None
        assert verify(replay.agent.folder, replay.agent.head).holds
        return replay


@pytest.fixture
def guests(serve: Server, context: BrowserContext, tmp_path: Path) -> Guests:
    return Guests(serve, context, tmp_path)


def recorded(replay: Replay) -> Run:
    assert replay.agent.folder is not None
    return read(replay.agent.folder)


async def test_the_same_is_done_with_other_words_and_each_step_says_how_like_the_record_it_was(guests: Guests) -> None:
    folder, page = await guests.recorded(), await guests.page()
    replay = await guests.again(folder, page, values={"name": "Bob", "2": "Fish"}, url=guests.url())
    run = recorded(replay)
    assert ending_of(run).status == "done"
    assert not replay.stopped
    assert await page.title() == "Bob eats Fish"
    assert run.task.goal == "Put Bob on the list"
    assert (run.provenance.replayed, run.provenance.replayed_sha256) == (folder.name, verify(folder).chain.head)
    assert {step.decision.author for step in run.steps} == {"replay"}
    assert [(each.step, each.recorded) for each in replay.taken] == [(n, n) for n in (1, 2, 3, 4)]
    first, second = (each.picture for each in replay.taken[:2])
    assert first is not None
    assert second is not None
    assert (first.same_pixels, first.look) == (1.0, 1.0)
    assert second.same_pixels is not None
    assert 0.99 < second.same_pixels < 1  # another name stands in the field
    assert [each.outcomes[0].rung for each in replay.taken[:3]] == [1, 1, 1]


async def test_what_cannot_be_told_for_certain_ends_it_with_the_reason(guests: Guests) -> None:
    folder, page = await guests.recorded(), await guests.page()
    replay = await guests.again(folder, page, url=guests.url("Join us"))
    ending = ending_of(recorded(replay))
    assert (ending.status, ending.exit_code) == ("not_done", 1)
    assert 'step 3 of the record does not fit this page: there is no button "Join" here' in ending.sentence
    assert await page.title() == "Guests"
    assert replay.stopped
    assert replay.patch is None


async def test_of_slots_that_only_numbers_tell_apart_another_time_is_not_booked(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    def slots(first: int) -> str:
        rows = (f"<tr><td>{first + n}:00<td>{2 + n} seats<td><button>Book</button>" for n in range(3))
        return f"<title>Slots</title><h1>Slots</h1><table>{''.join(rows)}</table>"

    settings = Settings(runs=tmp_path / "runs")
    task = Task(goal="Book a slot", start_url=serve({"/": slots(10)}))
    lines = ["click Book ‹3 seats›", "finish"]
    ran = Agent(task, model=StepsModel(lines), page=await context.new_page(), settings=settings)
    assert ending_of(await ran.run()).status == "done"
    assert ran.folder is not None

    same = Replay(ran.folder, page=await context.new_page(), settings=settings)
    assert ending_of(await same.run()).status == "done"
    other = Replay(ran.folder, page=await context.new_page(), settings=settings, url=serve({"/": slots(11)}))
    run = await other.run()
    assert "'3 seats' in the record and '2 seats' here" in ending_of(run).sentence
    assert {action.kind for step in run.steps for action in step.decision.actions} == {"wait", "finish"}


async def test_a_secret_is_asked_for_again_and_stands_nowhere(guests: Guests) -> None:
    page = await guests.page()
    pin = Secret(name="pin", value=SecretStr("hunter2secret"))
    task = TASK.model_copy(update={"secrets": (pin,)})
    folder = await guests.recorded(task, ['type "<secret:pin>" into Name', "finish"])
    with pytest.raises(UsageError, match="typed the secret pin, and records do not contain secret values"):
        Replay(folder, settings=guests.settings)
    with pytest.raises(UsageError, match="no secret 'code'"):
        Replay(folder, settings=guests.settings, secrets={"code": pin.value})
    replay = await guests.again(folder, page, secrets={"pin": pin.value})
    assert await page.locator("[name=who]").input_value() == "hunter2secret"
    assert replay.agent.folder is not None
    kept = [path.read_bytes() for path in replay.agent.folder.rglob("*") if path.is_file()]
    assert not [each for each in kept if b"hunter2secret" in each]


def answer(*actions: dict[str, object]) -> Answer:
    said = {"judgement": "unknown", "summary": "", "memory": "", "next_goal": "Join", "candidates": []}
    return saying(json.dumps({**said, "actions": actions}))


def number_of(request: dict[str, Any], name: str) -> int:
    """The number of the mark that the listing of the page as it is now calls so."""
    now = [part["text"] for part in request["messages"][0]["content"] if part["type"] == "text"][-2]
    line = next(line for line in now.splitlines() if line.endswith(f">{name}"))
    return int(line.split("[:]")[0])


@pytest.mark.thorough
async def test_a_broken_step_is_healed_by_a_model_and_then_repeated_without_one(
    guests: Guests, api: MessagesServer
) -> None:
    folder, page = await guests.recorded(), await guests.page()
    api.answers = [
        lambda asked: answer({"kind": "click", "target": number_of(asked, "Got it")}),
        lambda asked: answer({"kind": "type", "target": number_of(asked, "Name"), "text": "Ann"}, {"kind": "finish"}),
        lambda asked: answer({"kind": "click", "target": number_of(asked, "Join us")}, {"kind": "finish"}),
    ]
    told = {"name": "anthropic:claude-sonnet-5-5", "base_url": api.base_url, "api_key": "key-of-the-test"}
    changed = guests.url("Join us", NOTICE)
    settings = Settings(runs=guests.settings.runs, model=told)
    replay = await guests.again(folder, page, url=changed, heal=told["name"], settings=settings)

    run = recorded(replay)
    assert ending_of(run).status == "done", ending_of(run).sentence
    assert await page.title() == "Ann eats Soup"
    by = [(each.recorded, each.author) for each in replay.taken if each.outcomes[0].effect != "as_wanted"]
    assert [each for each in by if each[0] is not None] == [
        (1, "model"), (1, "model"), (2, "replay"), (3, "model"), (4, "replay"),
    ]  # fmt: skip
    assert len(api.requests) == 3
    asked = json.dumps(api.asked[0])
    assert "does not fit this page" in asked
    assert "Put Ann on the list" in asked

    assert replay.patch is not None
    patch = Patch.model_validate_json(replay.patch.read_bytes())
    assert [(each.step, each.decided_by) for each in patch.repairs] == [(1, ("model", "model")), (3, ("model",))]
    assert (patch.run, patch.healed_in) == (folder.name, run.id)
    assert named(patch.repairs[1].was) == ["Join"]
    assert [named(step) for step in patch.repairs[0].now] == [["Got it"], ["Name"]]
    assert patch.repairs[1].in_words == "Click button “Join” → Click button “Join us”"

    later = await guests.page()
    mended = await guests.again(folder, later, url=changed, patch=replay.patch, values={"name": "Bob"})
    assert ending_of(recorded(mended)).status == "done", ending_of(recorded(mended)).sentence
    assert await later.title() == "Bob eats Soup"
    assert {step.decision.author for step in recorded(mended).steps} == {"replay"}
    assert len(api.requests) == 3


def named(step: Step) -> list[str]:
    """What its actions name."""
    marks = [step.observation.mark(getattr(action, "target", 0)) for action in step.decision.actions]
    return [mark.name for mark in marks if mark is not None]


@pytest.mark.thorough
async def test_a_model_that_sees_no_way_ends_the_replay_and_nothing_is_taken_instead(
    guests: Guests, api: MessagesServer
) -> None:
    folder, page = await guests.recorded(), await guests.page()
    api.answers = [answer({"kind": "infeasible", "reason": "Nobody can join any more"})]
    told = {"name": "anthropic:claude-sonnet-5-5", "base_url": api.base_url, "api_key": "key-of-the-test"}
    settings = Settings(runs=guests.settings.runs, model=told)
    replay = await guests.again(folder, page, url=guests.url("Closed"), heal=told["name"], settings=settings)
    ending = ending_of(recorded(replay))
    assert (ending.status, replay.patch) == ("not_done", None)
    assert "Step 3 of the record could not be healed" in ending.sentence
    assert "Nobody can join any more" in ending.sentence
    assert await page.title() == "Guests"


async def test_a_replay_that_fails_where_nothing_else_was_asked_for_demotes_what_was_learned(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    pages = {"/": LIST % ("", "Join")}
    task = TASK.model_copy(update={"start_url": serve(pages), "checks": (SuccessCheck(mark="Join"),)})
    settings = Settings(runs=tmp_path / "runs", memory=tmp_path / "memory")
    ran = Agent(task, model=StepsModel(LINES), page=await context.new_page(), settings=settings)
    await ran.run()
    assert ran.folder is not None
    memory = MemoryFolder(tmp_path / "memory")
    learned = exemplar_of(ran.folder)
    memory.add(learned)

    async def status(**more: Any) -> str:
        replay = Replay(ran.folder or tmp_path, page=await context.new_page(), settings=settings, **more)
        return ending_of(await replay.run()).status

    assert await status() == "done"
    assert memory.show(learned.id).standing == Standing()
    pages["/"] = LIST % ("", "Closed")
    assert await status(values={"name": "Bob"}) == "not_done"
    assert memory.show(learned.id).standing == Standing()  # another person may not be let in
    assert await status() == "not_done"
    assert memory.show(learned.id).standing == Standing(failed=1)

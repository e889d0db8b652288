"""What a custom action does through its context passes the checks of what the model chose, and counts."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page

from tests.loopback import Handler, LoopbackServer
from vision_agent import Agent, Settings, action
from vision_agent.actions import Click, Custom, Finish
from vision_agent.custom_actions import ActionContext, CustomAction
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Observation
from vision_agent.policy import task_limits
from vision_agent.policy.approval import Answers
from vision_agent.settings import ApprovalSettings
from vision_agent.text.money import Money
from vision_agent.types import Choice, Decision, Limits, Outcome, Risky, Run, Task

FORM = "<form method=post action=/sent target=f><button>Pay €14</button></form>"
SHOP = f"<title>Shop</title>{FORM}<iframe name=f></iframe>"


async def _press_twice(context: ActionContext) -> str:
    await context.act(Click(target=1))
    outcome = await context.act(Click(target=1))
    return outcome.sentence


@action(risks=[])
async def declares_none(context: ActionContext) -> str:
    """Press twice."""
    return await _press_twice(context)


@action(risks=["submit", "pay"])
async def declares_all(context: ActionContext) -> str:
    """Press twice."""
    return await _press_twice(context)


@action
async def declares_nothing(context: ActionContext) -> str:
    """Press twice."""
    return await _press_twice(context)


async def _run(
    page: Page, tmp_path: Path, own: CustomAction, ask: str = "never", **task: Any
) -> tuple[int, Outcome, Run, list[str]]:
    """How often the form was sent, what came of the custom action, the run, and the risks that were asked about."""
    asked: list[str] = []

    async def answer(task: Task, seen: Observation, decision: Decision, risks: Sequence[Risky]) -> Choice:
        del task, seen, decision
        asked.extend(each.risk for each in risks)
        return Choice(kind="approve")

    sent: list[str] = []

    class Shop(Handler):
        def do_GET(self) -> None:
            self.answer(SHOP)

        def do_POST(self) -> None:
            sent.append(self.path)
            self.answer("")

    server = LoopbackServer(Shop)
    await page.goto(server.address)
    settings = Settings(runs=tmp_path, approval=ApprovalSettings.model_validate({"ask": ask}))
    model = ScriptedModel([[Custom(name=own.name, risks=own.risks)], [Finish()]])
    paying = Task(goal="Pay", **task)
    agent = Agent(paying, page=page, model=model, actions=[own], approver=Answers(answer), settings=settings)
    with server:
        run = await agent.run()
    return len(sent), run.steps[0].outcomes[0], run, asked


async def test_what_nobody_approved_is_refused_and_the_refusal_says_what_to_declare(page: Page, tmp_path: Path) -> None:
    sent, outcome, _, asked = await _run(page, tmp_path, declares_none, "risky")
    assert (sent, asked) == (0, [])
    assert "click was not done: nobody approved it (submit: button “Pay €14” sends a form; pay:" in outcome.sentence
    assert '@action(risks=["submit", "pay"])' in outcome.sentence


@pytest.mark.parametrize(("own", "asked"), [(declares_all, ["submit", "pay"]), (declares_nothing, ["unclassified"])])
async def test_what_was_approved_with_the_custom_action_is_done(
    page: Page, tmp_path: Path, own: CustomAction, asked: list[str]
) -> None:
    sent, _, _, told = await _run(page, tmp_path, own, "risky")
    assert (sent, told) == (2, asked)


async def test_the_limits_of_the_task_hold_within_a_custom_action_and_what_it_used_is_counted(
    page: Page, tmp_path: Path
) -> None:
    sent, outcome, run, _ = await _run(page, tmp_path, declares_none, limits=Limits(submits=1, spend=Money("20 EUR")))
    assert sent == 1
    assert "the task's limit on submitted forms (1) is reached" in outcome.sentence
    assert task_limits.used_in(run.task, run.steps) == task_limits.Used(1, Decimal(14))
    sent, outcome, _, _ = await _run(page, tmp_path, declares_none, limits=Limits(spend=Money("10 EUR")))
    assert sent == 0
    assert "it may pay 14 EUR, and at most 10 EUR may be spent" in outcome.sentence


async def test_an_allowed_custom_action_may_use_any_built_in_action(page: Page, tmp_path: Path) -> None:
    sent, _, _, _ = await _run(page, tmp_path, declares_none, allowed_actions=("declares_none",))
    assert sent == 2

"""Claims about step lines whose target is not in view, followed by an agent in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.browser.test_out_of_view import NESTED, PAGE_SCROLLER, RECYCLED
from tests.conftest import Server
from vision_agent import Agent
from vision_agent.actions import ScrollTo
from vision_agent.models.offline.steps import StepsModel
from vision_agent.settings import Settings
from vision_agent.types import Run

TWO_ALIKE = PAGE_SCROLLER + "<script>document.body.append(row(90));</script>"
PAYS = PAGE_SCROLLER + "<form onsubmit='said.push(`sent`); return false'><button>Pay now</button></form>"
ROWS_ALIKE = "<body><script>window.said = []</script>" + "".join(
    f"<p style='height:60px'>Row {name} <button onclick='said.push(`{name}`)'>Edit</button></p>"
    for name in (f"Person{i}" for i in range(60))
)


async def followed(page: Page, address: str, lines: list[str], folder: Path, **more: str) -> Run:
    await page.goto(address)
    settings = Settings(runs=folder, approval=more) if more else Settings(runs=folder)
    return await Agent("Follow the lines", model=StepsModel(lines), page=page, settings=settings).run()


@pytest.mark.parametrize(
    ("body", "lines", "said"),
    [
        (PAGE_SCROLLER, ["click Item 90", "click Item 3", "click Item 55"], ["Item 90", "Item 3", "Item 55"]),
        (NESTED, ["click Item 90", "click the Item 3 button"], ["Item 90", "Item 3"]),
        (RECYCLED, ["click Item 240"], ["Item 240"]),
        (PAGE_SCROLLER, ["scroll to Item 90", "click Item 90", "click [2]"], ["Item 90", "Item 2"]),
        (ROWS_ALIKE, ["click Edit in row Person50"], ["Person50"]),
    ],
)
async def test_a_line_presses_what_is_out_of_view(
    page: Page, serve: Server, tmp_path: Path, body: str, lines: list[str], said: list[str]
) -> None:
    run = await followed(page, serve({"/": f"<!doctype html>{body}"}), lines, tmp_path)
    assert run.ending is not None
    assert run.ending.status == "done", run.ending.sentence
    assert await page.evaluate("said") == said
    assert all(outcome.status == "done" for step in run.steps for outcome in step.outcomes)


async def test_two_of_a_name_out_of_view_are_not_chosen_between(page: Page, serve: Server, tmp_path: Path) -> None:
    run = await followed(page, serve({"/": f"<!doctype html>{TWO_ALIKE}"}), ["click Item 90"], tmp_path)
    assert run.ending is not None
    assert run.ending.status == "not_done"
    assert "2 things on the page are called" in run.ending.sentence
    assert await page.evaluate("said") == []


async def test_what_is_nowhere_is_said_to_be_nowhere(page: Page, serve: Server, tmp_path: Path) -> None:
    run = await followed(page, serve({"/": f"<!doctype html>{PAGE_SCROLLER}"}), ["click Item 990"], tmp_path)
    assert run.ending is not None
    assert "Nothing on the page is called" in run.ending.sentence
    assert await page.evaluate("said") == []


async def test_what_pays_is_asked_about_although_it_was_out_of_view(page: Page, serve: Server, tmp_path: Path) -> None:
    run = await followed(page, serve({"/": f"<!doctype html>{PAYS}"}), ["click Pay now"], tmp_path, ask="risky")
    assert await page.evaluate("said") == []
    assert isinstance(run.steps[0].decision.actions[0], ScrollTo)
    assert run.steps[-1].outcomes[-1].refusal == "needs_person"

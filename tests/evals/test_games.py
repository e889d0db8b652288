"""The fixture games are won at their normal speed by the product's own actions, and their own reports say so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from game_solvers import Eyes, Player, break_wall, eat_apples, hit_moles, play_patience, run_hill
from playwright.async_api import Page

from vision_agent import Agent, Settings, Task, attach
from vision_agent.evals.suites.fixture_sites import Report, Site, SiteTask, reached, served, tasks_of
from vision_agent.models.offline.steps import StepsModel

SITES = Path(__file__).parents[2] / "fixtures" / "sites"

GAMES: dict[str, tuple[str, Callable[[Player], Awaitable[None]]]] = {
    "platform": ("/", run_hill),
    "bricks": ("/", break_wall),
    "moles": ("/?seed={run}", hit_moles),
    "snake": ("/?seed={run}", eat_apples),
    "cards": ("/?deal={run}", play_patience),
}
"""The address of each game, whose number deals the cards and places moles and apples; and what plays it."""
LONGEST_S = 240.0
CLOCKS_DIFFER_S = 1.0
"""Between the clock and the time of a game; more would mean that the game stood still while the agent looked."""


@pytest.fixture(scope="module")
def sites() -> Iterator[dict[str, Site]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(served(SITES / name)) for name in GAMES}


async def won(page: Page, site: Site, name: str, run: int) -> tuple[Report, list[str]]:
    """The report of a game that was won, and what was refused on the way."""
    address, play = GAMES[name]
    site.reset()
    await page.goto(site.url + address.format(run=run))
    reader = await page.context.new_cdp_session(page)
    async with attach(page) as browser:
        player = Player(browser, Eyes(reader))
        async with asyncio.timeout(LONGEST_S):
            await play(player)
    await page.evaluate("fetch('/api/log')")  # the server answers in the order of arrival
    ending = [report for report in site.state() if report.event in ("won", "lost")]
    assert [report.event for report in ending] == ["won"], (site.state()[-5:], player.refused)
    return ending[0], player.refused


QUICK = ("moles",)
"""The game whose first round `make test-rest` plays: others take a minute, or lose a moment on a busy machine."""


def rounds() -> Iterator[Any]:
    for name in GAMES:
        for run in range(1, 11):
            yield pytest.param(name, run, marks=[] if name in QUICK and run == 1 else pytest.mark.thorough)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "run"), [*rounds()])
async def test_a_game_is_won_at_its_own_speed(page: Page, sites: dict[str, Site], name: str, run: int) -> None:
    report, _ = await won(page, sites[name], name, run)
    if "seconds" in report.fields:
        by_clock, by_game = report.fields["seconds"], report.fields["played_s"]
        assert by_clock == pytest.approx(by_game, abs=CLOCKS_DIFFER_S)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "task"),
    [
        pytest.param(name, task, id=f"{name}-{task.id}", marks=[] if name in QUICK else pytest.mark.thorough)
        for name in GAMES
        for task in tasks_of(SITES / name)
    ],
)
async def test_a_task_of_a_game_is_done_by_step_lines(
    page: Page, sites: dict[str, Site], name: str, task: SiteTask, tmp_path: Path
) -> None:
    site = sites[name]
    site.reset()
    agent = Agent(
        Task(goal=task.goal, start_url=site.start(task)),
        model=StepsModel(task.steps),
        page=page,
        settings=Settings(runs=tmp_path / "runs"),
    )
    run = await agent.run()
    verdict = reached(task.expect, site.state())
    assert verdict.reached, (verdict.sentence, run.ending)


async def test_a_card_that_does_not_fit_goes_back(page: Page, sites: dict[str, Site]) -> None:
    site = sites["cards"]
    site.reset()
    await page.goto(f"{site.url}/?deal=1")
    card = page.get_by_label("5 of spades")
    before = await card.bounding_box()
    await card.drag_to(page.get_by_label("Pile of spades"))
    await page.wait_for_function("document.getAnimations().length === 0")
    assert await card.bounding_box() == before
    assert [report.event for report in await reported(page, site)] == ["refused"]


async def test_a_mole_is_a_button_only_while_it_is_out(page: Page, sites: dict[str, Site]) -> None:
    site = sites["moles"]
    site.reset()
    await page.goto(site.url)
    await page.get_by_role("button", name="Start round").click()
    await page.get_by_role("button", name="Mole").wait_for()
    await page.get_by_role("button", name="Mole").wait_for(state="detached")
    first, *rest = [report.event for report in await reported(page, site)]
    assert first == "started"
    assert set(rest) == {"got_away"}


@pytest.mark.parametrize("name", ["platform", "bricks"])
async def test_a_drawn_game_says_where_its_words_are(page: Page, sites: dict[str, Site], name: str) -> None:
    await page.goto(sites[name].url)
    await page.wait_for_function("window.drawn")
    words: list[dict[str, Any]] = await page.evaluate("window.drawn.texts()")
    assert [word["text"] for word in words] == (["Press Space to serve"] if name == "bricks" else [])
    assert await page.evaluate("window.drawn.controls()") == []


async def reported(page: Page, site: Site) -> tuple[Report, ...]:
    """All reports that were sent before now."""
    await page.evaluate("fetch('/api/log')")
    return site.state()

"""Claims about pages that change between a look and an act, or under the hand: the meant is hit, or it is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.browser.mutations import FOLDER, SETTINGS, Case, Told, cases, is_hit, play, play_stored, wrong
from tests.conftest import Server
from vision_agent.browser import live
from vision_agent.browser.live import LiveBrowser
from vision_agent.vision.image_limits import ImageLimits

ALL = cases()
SAMPLE = {case.id for case in ALL[::6]}
"""What `make test` plays; `make test-all` plays them all."""

FAILING: dict[str, tuple[str, ...]] = {
    "a name that changes under the pointer is taken for another thing": (
        "renames_on_move-plain-click-button",
        "renames_on_move-items-click-tile",
    ),
}
"""What does not hold yet, by the reason: a line goes when its cases hold."""
RACES: dict[str, tuple[str, ...]] = {
    "a window in a frame of another process may listen before us": ("churns_soon-cross-type-editor",),
}
"""The same for what fails now and then."""


@dataclass(frozen=True)
class Stage:
    """One page that all cases play on, and where it finds them."""

    browser: LiveBrowser
    address: str


@pytest.fixture(scope="session")
async def stage(browser: Browser, serve: Server) -> AsyncIterator[Stage]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    async with live.attach(await context.new_page(), SETTINGS, ImageLimits()) as on:
        yield Stage(on, serve.folder(FOLDER))
    await context.close()


def _declared(case: Case) -> Any:
    marks = [] if case.id in SAMPLE else [pytest.mark.thorough]
    for table, strict in ((FAILING, True), (RACES, False)):
        for reason, ids in table.items():
            if case.id in ids:
                marks.append(pytest.mark.xfail(strict=strict, reason=reason))
    return pytest.param(case, id=f"{case.verdict.kind}-{case.id}", marks=marks)


@pytest.mark.parametrize("case", [_declared(case) for case in ALL])
async def test_what_was_meant_is_hit_or_refused_for_the_right_reason(case: Case, stage: Stage) -> None:
    played = await play(case, stage.browser, stage.address)

    assert not played.trouble


@pytest.mark.thorough
@pytest.mark.timeout(400)
async def test_clicking_where_things_were_fails_often_enough(stage: Stage) -> None:
    sure = [case for case in ALL[::4] if case.verdict.kind != "either"]

    failed = [case for case in sure if (await play_stored(case, stage.browser, stage.address)).trouble]

    assert len(failed) >= 0.3 * len(sure)


def test_there_are_enough_cases_and_half_of_them_must_hit() -> None:
    kinds = Counter(case.verdict.kind for case in ALL)

    assert kinds["hit"] + kinds["refuse"] >= 200
    assert kinds["hit"] >= len(ALL) / 2
    assert len({case.id for case in ALL}) == len(ALL)
    assert 50 <= len(SAMPLE) <= 70


def test_what_does_not_hold_yet_is_a_case_and_stands_in_one_line() -> None:
    named = [each for table in (FAILING, RACES) for ids in table.values() for each in ids]

    assert set(named) <= {case.id for case in ALL}
    assert len(named) == len(set(named))


CLICK = next(case for case in ALL if case.action == "click")


@pytest.mark.parametrize(
    ("told", "hits", "is_wrong"),
    [
        ((Told("click", "Bruno", "", True),), True, False),
        ((Told("click", "Bruno", "", True), Told("click", "Bruno", "", True)), False, False),
        ((Told("click", "Chloe", "", True),), False, True),
        ((Told("click", "Bruno", "", False),), True, True),
        ((Told("click", "nothing", "", True),), False, False),
        ((Told("keydown", "nothing", "a", True),), False, True),
        ((Told("mouseover", "Chloe", "", True),), False, False),
        ((), False, False),
    ],
)
def test_a_click_on_anything_else_is_told_from_the_one_that_was_meant(
    told: tuple[Told, ...], hits: bool, is_wrong: bool
) -> None:
    assert is_hit(CLICK, told) is hits
    assert bool(wrong(CLICK, told)) is is_wrong

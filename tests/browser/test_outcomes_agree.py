"""Claims about outcomes: they agree with what the page itself says of the events that reached it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser

from tests.browser.gestures import FOLDER, SETTINGS, Case, Told, cases, listened_to, play
from tests.conftest import Server
from vision_agent.browser import live
from vision_agent.browser.live import LiveBrowser
from vision_agent.vision.contract import Contract

ALL = cases()
SAMPLE = {case.id for case in ALL[::29]}
"""What `make test` plays; `make test-all` plays them all."""


@dataclass(frozen=True)
class Stage:
    """One page that all cases play on, where it finds them, and what it tells."""

    browser: LiveBrowser
    address: str
    told: list[Told]


@pytest.fixture(scope="session")
async def stage(browser: Browser, serve: Server) -> AsyncIterator[Stage]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    told = await listened_to(page)
    async with live.on(page, SETTINGS, Contract()) as on:
        yield Stage(on, serve.folder(FOLDER), told)
    await context.close()


def _declared(case: Case) -> object:
    return pytest.param(case, id=case.id, marks=[] if case.id in SAMPLE else [pytest.mark.thorough])


@pytest.mark.parametrize("case", [_declared(case) for case in ALL])
async def test_the_outcome_agrees_with_what_the_page_says_reached_it(case: Case, stage: Stage) -> None:
    played = await play(case, stage.browser, stage.address, stage.told)

    assert not played.trouble

"""Claims about outcomes: they agree with what the page itself says of the events that reached it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from playwright.async_api import Browser

from tests.browser.gestures import FOLDER, SETTINGS, Case, Told, cases, listened_to, play, verdict
from tests.conftest import Server
from vision_agent.browser import live
from vision_agent.browser.live import LiveBrowser
from vision_agent.vision.image_limits import ImageLimits

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
    async with live.attach(page, SETTINGS, ImageLimits()) as on:
        yield Stage(on, serve.folder(FOLDER), told)
    await context.close()


def _declared(case: Case) -> object:
    return pytest.param(case, id=case.id, marks=[] if case.id in SAMPLE else [pytest.mark.thorough])


@pytest.mark.parametrize("case", [_declared(case) for case in ALL])
async def test_the_outcome_agrees_with_what_the_page_says_reached_it(case: Case, stage: Stage) -> None:
    played = await play(case, stage.browser, stage.address, stage.told)

    assert not played.trouble


CLICK = Case("button", "mousedown", "move", "click", trap=True)
DOUBLE = Case("button", "click", "remove", "double", trap=True)
DRAG = Case("handle", "pointerdown", "rename", "drag", trap=False)
TYPE = Case("input", "focus", "focus", "type", trap=False)


@pytest.mark.parametrize(
    ("case", "said", "must"),
    [
        (CLICK, "", "refused"),
        (CLICK, "pointerdown mousedown pointerup mouseup click", "done"),
        (CLICK, "pointerdown mousedown reacted", "done"),
        (CLICK, "pointerdown mousedown", "partial"),
        (DOUBLE, "pointerdown mousedown pointerup mouseup click reacted", "partial"),
        (DOUBLE, "pointerdown mousedown pointerup mouseup click pointerdown click dblclick", "done"),
        (DRAG, "pointerdown reacted mousedown pointerup mouseup", "partial"),
        (DRAG, "pointerdown mousedown pointerup reacted mouseup", "done"),
        (TYPE, "pointerdown mousedown reacted pointerup mouseup click", "partial"),
    ],
)
def test_the_page_s_log_says_which_outcome_is_right(case: Case, said: str, must: str) -> None:
    told = [Told(type, "meant", "", at) for at, type in enumerate(said.split())]

    assert verdict(case, told) == (must,)


def test_every_widget_meets_every_event_and_every_reaction() -> None:
    assert len({case.widget for case in ALL}) >= 30
    assert len({(case.widget, case.on, case.does) for case in ALL if case.deed != "press"}) >= 30 * 6 * 7
    assert len({case.id for case in ALL}) == len(ALL)
    assert 45 <= len(SAMPLE) <= 70

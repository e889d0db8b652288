"""Claims about pages that take the pointer for themselves, as games do that are looked around in."""

from __future__ import annotations

import json

import pytest

from tests.browser.hand import SETTINGS, Hand, On, opener
from tests.conftest import Server, desktop_chromium
from vision_agent import assets
from vision_agent.actions import Click, Drag, Hover, Point
from vision_agent.browser import cdp
from vision_agent.browser.launch.launch import launch_browser

VIEW = (assets.fixtures("views") / "first-person.html").read_text("utf-8")
MIDDLE = Point(x=300, y=200)


async def heard(hand: Hand) -> list[object]:
    found: list[object] = json.loads(await hand.js("JSON.stringify(heard.splice(0))"))
    return found


async def turned(hand: Hand) -> tuple[int, int]:
    yaw, pitch = await hand.js("[view.yaw, view.pitch]")
    return yaw, pitch


async def test_a_browser_without_a_window_takes_the_pointer_back_and_goes_on(on: On) -> None:
    async with on(VIEW) as hand:
        if not await cdp.is_windowless(hand.page):
            pytest.skip("this Chromium can let a page have the pointer")
        outcome = await hand.act(Click(target=MIDDLE))
        assert "so the pointer was taken back" in outcome.sentence
        assert (await heard(hand))[-1] == "free"
        await hand.look()
        assert "pointer lock" not in (await hand.act(Hover(target=Point(x=380, y=250)))).sentence
        await hand.look()
        assert (await hand.act(Click(target=hand.number("Map")))).status == "done"
        assert await heard(hand) == ["map"]


async def test_where_a_page_has_the_pointer_moves_turn_its_view_and_what_a_click_cannot_reach_has_no_mark(
    serve: Server,
) -> None:
    if desktop_chromium().executable_path is None:
        pytest.skip("there is no Chromium with a user interface")
    async with launch_browser(desktop_chromium()) as launched:
        page = await launched.browser.new_page(viewport={"width": 1280, "height": 800})
        async with opener(page, serve)(VIEW, settings=SETTINGS) as hand:
            outcome = await hand.act(Click(target=MIDDLE))
            assert "The page has the pointer for itself" in outcome.sentence
            assert await heard(hand) == ["locked", "taken"]
            await hand.look()
            assert "Map" not in [mark.name for mark in hand.seen.marks]
            outcome = await hand.act(Hover(target=Point(x=MIDDLE.x + 80, y=MIDDLE.y - 50)))
            assert "moves count from where the pointer was" in outcome.sentence
            assert await turned(hand) == (80, -50)
            await hand.look()
            back = Point(x=MIDDLE.x + 80, y=MIDDLE.y - 50)
            outcome = await hand.act(Drag(source=back, target=MIDDLE))
            assert "moves count from where the pointer was" in outcome.sentence
            assert await turned(hand) == (0, 0)

"""Claims about a press that the browser drops, as it does while windows open: it is not said to have been done."""

from __future__ import annotations

import pytest
from playwright.async_api import Page

from tests.browser.hand import Hand, On
from vision_agent.actions import Action, Click, Drag, Hold

BODY = """<button id=go>Go</button> <button id=to>Bin</button><script>got = [];
for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click'])
  addEventListener(type, event => got.push(event.type), true);
</script>"""


def actions_on(hand: Hand) -> dict[str, Action]:
    go, to = hand.number("Go"), hand.number("Bin")
    return {
        "click": Click(target=go),
        "point": Click(target=hand.point("Go")),
        "right": Click(target=go, button="right"),
        "hold": Hold(target=go, seconds=1),
        "drag": Drag(source=go, target=to),
    }


@pytest.mark.parametrize("name", ["click", "point", "right", "hold", "drag"])
async def test_what_the_browser_dropped_is_refused_and_done_once_it_takes_input_again(
    on: On, page: Page, name: str
) -> None:
    async with on(BODY) as hand:
        action = actions_on(hand)[name]
        session = await page.context.new_cdp_session(page)
        await session.send("Input.setIgnoreInputEvents", {"ignore": True})
        outcome = await hand.act(action)
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome
        assert "the browser dropped it" in outcome.sentence
        await session.send("Input.setIgnoreInputEvents", {"ignore": False})
        assert await hand.js("got.splice(0)") == []
        again = await hand.act(action)
        assert again.status == "done", again
        assert (await hand.js("got"))[:2] == ["pointerdown", "mousedown"]


KEEPS = """<script>presses = 0; onload = () => {
  document.open(); document.write(`<button>Go</button>`);
  for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click']) addEventListener(type, event => {
    presses += type === 'pointerdown'; event.stopImmediatePropagation() }, true);
  document.close() }</script>"""


async def test_a_press_that_a_page_written_anew_keeps_for_itself_is_sent_once(on: On) -> None:
    async with on(KEEPS) as hand:
        outcome = await hand.act(Click(target=hand.number("Go")))
        assert "dropped" not in outcome.sentence
        assert await hand.js("presses") == 1

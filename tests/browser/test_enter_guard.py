"""Claims about Enter in a field: it presses the button that was there at the look, with the same words beside it."""

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Press, Type

FORM = """<script>window.sent = 0</script><p id=total>Total €14</p><form id=f onsubmit="sent++; return false">
<label>Name <input></label> <span id=beside>€14</span> <button id=b>Pay €14</button></form>"""
RAISED = "b.textContent = 'Pay €940'"


async def sent(hand: Hand) -> int:
    return int(await hand.js("sent"))


@pytest.mark.parametrize(
    "change",
    [
        RAISED,
        "b.formAction = '/delete'",
        "f.insertAdjacentHTML('afterbegin', '<button hidden>Delete all</button>')",
        "b.remove()",
        "beside.textContent = '€940'",
    ],
)
async def test_enter_is_stopped_once_it_would_press_something_else(on: On, change: str) -> None:
    async with on(FORM) as hand:
        await hand.js(change)
        outcome = await hand.act(Press(keys="Enter", target=hand.number("Name")))
        assert outcome.status in ("refused", "partial"), outcome.sentence
        assert await sent(hand) == 0


async def test_enter_after_a_text_says_what_it_would_press_now(on: On) -> None:
    async with on(FORM.replace("<input>", f'<input oninput="{RAISED}">')) as hand:
        outcome = await hand.act(Type(target=hand.number("Name"), text="Ann", submit=True))
        words = (
            'Enter in mark 1 (textbox "Name") would press the button "Pay €940" now, and would have pressed "Pay €14"'
        )
        assert words in outcome.sentence
        assert (outcome.status, await sent(hand)) == ("partial", 0)


async def test_enter_where_the_focus_is_is_guarded_too(on: On) -> None:
    async with on(FORM) as hand:
        await hand.act(Type(target=hand.number("Name"), text="Ann"))
        await hand.look()
        await hand.js(RAISED)
        outcome = await hand.act(Press(keys="Enter"))
        assert 'would press the button "Pay €940" now' in outcome.sentence
        assert (outcome.status, await sent(hand)) == ("partial", 0)


async def test_enter_sends_the_form_while_nothing_has_changed(on: On) -> None:
    async with on(FORM) as hand:
        await hand.act(Type(target=hand.number("Name"), text="Ann", submit=True))
        assert await sent(hand) == 1
        await hand.look()
        await hand.act(Press(keys="Enter"))
        assert await sent(hand) == 2

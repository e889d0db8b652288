"""Claims about lists and boxes beside what is sent, paid or deleted: the choices in them are those of the look."""

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Check, Click, Select

FORM = """<script>window.sent = []</script><form id=f onsubmit="sent.push(1); return false">%s<button>%s</button></form>
<button id=other>Other</button>"""
PAYEE = FORM % ("<label>To <select id=p><option>Ann<option>Mallory</select></label>", "Send money")
AMOUNT = FORM % ("<label>Amount <select id=p><option>€14<option>€940</select></label>", "Pay now")
FILES = FORM % ("<label><input type=checkbox id=p> All files too</label>", "Delete account")
PUBLIC = FORM % (
    "<label><input type=radio name=r checked> Only me</label><label><input type=radio name=r id=p> Everyone</label>",
    "Publish",
)
ROWS = """<script>window.sent = []</script><table><tr><td>Ann<td><select id=p><option>Keep<option>Remove</select>
<td><button onclick="sent.push(1)">Send</button><tr><td>Bob<td><select><option>Keep<option>Remove</select>
<td><button>Send</button></table>"""


def number(hand: Hand, tag: str, nth: int = 0) -> int:
    return [mark.number for mark in hand.seen.marks if mark.tag == tag][nth]


@pytest.mark.parametrize(
    ("body", "change", "words"),
    [
        (PAYEE, "p.value = 'Mallory'", 'changed from "Ann" to "Mallory"'),
        (AMOUNT, "p.value = '€940'", 'changed from "€14" to "€940"'),
        (FILES, "p.checked = true", 'changed from "not ticked" to "ticked"'),
        (PUBLIC, "p.checked = true", 'changed from "ticked" to "not ticked"'),
        (ROWS, "p.value = 'Remove'", 'changed from "Keep" to "Remove"'),
        (PAYEE, "p.value = 'Mallory'; p.dispatchEvent(new Event('input'))", 'changed from "Ann" to "Mallory"'),
    ],
)
async def test_nothing_is_pressed_once_something_else_is_chosen_beside_it(
    on: On, body: str, change: str, words: str
) -> None:
    async with on(body) as hand:
        await hand.js(change)
        outcome = await hand.act(Click(target=number(hand, "button")))
        assert outcome.status == "refused", outcome.sentence
        assert words in outcome.sentence
        assert await hand.js("sent") == []


async def test_what_the_agent_chose_itself_since_the_look_is_no_change(on: On) -> None:
    async with on(PAYEE) as hand:
        await hand.act(Select(target=number(hand, "select"), options=("Mallory",)))
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]
    async with on(PUBLIC) as hand:
        await hand.act(Check(mark=number(hand, "input", 1), checked=True))
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]


async def test_what_the_page_makes_of_the_choice_of_the_agent_is_a_change(on: On) -> None:
    async with on(PAYEE.replace("<option>Mallory", "<option>Bob<option>Mallory")) as hand:
        await hand.act(Select(target=number(hand, "select"), options=("Bob",)))
        await hand.js("p.value = 'Mallory'")
        outcome = await hand.act(Click(target=number(hand, "button")))
        assert outcome.status == "refused", outcome.sentence
        await hand.look()
        await hand.js("p.value = 'Ann'")
        outcome = await hand.act(Click(target=number(hand, "button")))
        assert outcome.status == "refused", outcome.sentence


async def test_what_has_no_risk_is_pressed_whatever_is_chosen_beside_it(on: On) -> None:
    async with on(ROWS.replace(">Send<", ">Show<")) as hand:
        await hand.js("p.value = 'Remove'")
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]

"""Claims about lists and boxes beside what is sent, paid or deleted: the choices in them are those of the look."""

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Check, Click, Press, Select

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


FIELDS = {
    "value behind an option": (
        FORM % ("<label>To <select id=p><option value=1>Ann<option value=2>Bob</select></label>", "Send money"),
        "p.options[0].value = '3'",
        'from "Ann" to "Ann, with another value behind it"',
    ),
    "value behind a tick": (
        FORM % ("<label><input type=radio name=r id=p value=1 checked> Ann</label>", "Send money"),
        "p.value = '3'",
        "with another value behind it",
    ),
    "hidden field": (
        FORM % ("<input type=hidden name=amount id=p value=14>", "Pay now"),
        "p.value = '940'",
        'from "hidden field amount: 14" to "hidden field amount: 940"',
    ),
    "note": (
        FORM % ("<label>To <textarea id=p>Ann</textarea></label>", "Send money"),
        "p.value = 'Mallory'",
        'from "To: Ann" to "To: Mallory"',
    ),
    "slider": (
        FORM % ("<input type=range id=p value=14 aria-label=Euros>", "Pay now"),
        "p.value = 94",
        'from "Euros: 14" to "Euros: 94"',
    ),
    "box": (
        FORM % ("<div role=checkbox id=p aria-checked=false tabindex=0>All files</div>", "Delete account"),
        "p.ariaChecked = 'true'",
        'from "All files: not ticked" to "All files: ticked"',
    ),
    "switch of a card": (
        ROWS.replace("<td>Ann", "<td><div role=switch id=q aria-checked=false aria-label=Copy>x</div>Ann"),
        "q.ariaChecked = 'true'",
        'from "Copy: not ticked" to "Copy: ticked"',
    ),
    "radio": (
        FORM % ("<div role=radio id=p tabindex=0 aria-checked=true>Only me</div>", "Publish"),
        "p.ariaChecked = 'false'",
        'from "Only me: ticked" to "Only me: not ticked"',
    ),
    "list": (
        FORM % ("<div role=combobox id=p tabindex=0 aria-label=To>Ann</div>", "Send money"),
        "p.textContent = 'Mallory'",
        'from "To: Ann" to "To: Mallory"',
    ),
}


@pytest.mark.parametrize("name", FIELDS)
async def test_nothing_is_pressed_once_what_goes_with_it_unseen_is_another(on: On, name: str) -> None:
    body, change, words = FIELDS[name]
    async with on(body) as hand:
        await hand.js(change)
        outcome = await hand.act(Click(target=number(hand, "button")))
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence
        assert words in outcome.sentence
        await hand.look()
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]


async def test_a_token_of_the_form_may_change(on: On) -> None:
    async with on(FORM % ("<input type=hidden name=csrf_token id=p value=a1>", "Pay now")) as hand:
        await hand.js("p.value = 'b2'")
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]


async def test_a_hidden_field_that_goes_on_changing_by_itself_does_not_count(on: On) -> None:
    async with on(FORM % ("<input type=hidden name=seen_for id=p value=0>", "Pay now")) as hand:
        for _ in range(3):
            await hand.js("p.value++")
            await hand.look()
        await hand.js("p.value++")
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]


async def test_what_the_page_sets_when_the_agent_chooses_is_no_change(on: On) -> None:
    box = "<div role=checkbox id=p aria-checked=false tabindex=0>All files</div>"
    script = "<script>p.onclick = () => { p.ariaChecked = 'true'; q.value = 'yes' }</script>"
    async with on(FORM % (f"{box}<input type=hidden name=all id=q value=no>", "Delete account") + script) as hand:
        await hand.act(Check(mark=hand.number("All files"), checked=True))
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]


async def test_a_box_that_space_ticked_without_a_target_was_ticked_by_the_agent(on: On) -> None:
    async with on(FILES) as hand:
        await hand.js("p.focus()")
        await hand.look()
        await hand.act(Press(keys="Space"))
        outcome = await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("[p.checked, sent.length]") == [True, 1], outcome.sentence


async def test_a_box_that_the_page_ticks_after_keys_without_a_target_is_a_change(on: On) -> None:
    async with on(FILES) as hand:
        await hand.js("p.focus()")
        await hand.look()
        await hand.act(Press(keys="Escape"))
        await hand.js("p.checked = true")
        outcome = await hand.act(Click(target=number(hand, "button")))
        assert outcome.status == "refused", outcome.sentence


BESIDE = "<script>window.sent = []</script>%s<h2>Act</h2><p><button onclick='sent.push(1)'>%s</button></p>"
TICKED = """<table><tr><td><input type=checkbox checked aria-label="Mail 1"><td>Mail 1<tr><td><input type=checkbox id=p
    aria-label="Mail 2"><td>Mail 2</table>"""
LISTED = """<div role=listbox tabindex=0 id=list><div role=option id=o1 aria-selected=true>Ann</div>
<div role=option id=p aria-selected=false>Eve</div></div>"""
WITHOUT_FORM = {
    "ticked rows": (BESIDE % (TICKED, "Delete selected"), "p.checked = true", 'to "Mail 2: ticked"'),
    "rows whose boxes have no name": (
        BESIDE % (TICKED.replace('aria-label="Mail 1"', "").replace('aria-label="Mail 2"', ""), "Delete selected"),
        "p.checked = true",
        'from "Mail 2: not ticked"',
    ),
    "radio buttons": (
        BESIDE
        % (
            "<label><input type=radio name=r checked>Ann</label><label><input type=radio name=r id=p>Eve</label>",
            "Pay €5",
        ),
        "p.checked = true",
        'from "Ann: ticked" to "Ann: not ticked"',
    ),
    "list": (
        BESIDE % ("<label>From <select id=p><option>Ann<option>Joint</select></label>", "Pay €5"),
        "p.value = 'Joint'",
        'from "From: Ann" to "From: Joint"',
    ),
    "list of the page's own": (
        BESIDE % (LISTED, "Pay €5"),
        "o1.ariaSelected = 'false'; p.ariaSelected = 'true'",
        'from "Ann: chosen"',
    ),
}


@pytest.mark.parametrize("name", WITHOUT_FORM)
async def test_nothing_is_pressed_once_something_else_is_chosen_on_a_page_without_a_form(on: On, name: str) -> None:
    body, change, words = WITHOUT_FORM[name]
    async with on(body) as hand:
        button = hand.seen.marks[-1].number
        await hand.js(change)
        outcome = await hand.act(Click(target=button))
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence
        assert words in outcome.sentence
        await hand.look()
        await hand.act(Click(target=hand.seen.marks[-1].number))
        assert await hand.js("sent") == [1]


@pytest.mark.parametrize(
    ("body", "change"),
    [
        (
            BESIDE % (TICKED, "Delete selected") + "<div style=display:none><input type=checkbox id=q></div>",
            "q.checked = 1",
        ),
        (BESIDE % (TICKED, "Show selected"), "p.checked = true"),
        (
            f"<main>{BESIDE % (TICKED, 'Delete selected')}</main><label><input type=checkbox id=q>Dark</label>",
            "q.checked = 1",
        ),
        (
            BESIDE % (f"<div id=box>{TICKED}</div>", "Delete selected"),
            "{const was = box.innerHTML; box.innerHTML = was}",
        ),
    ],
    ids=["hidden copy", "no risk", "another part of the page", "redrawn"],
)
async def test_a_choice_that_does_not_go_with_a_press_may_change(on: On, body: str, change: str) -> None:
    async with on(body) as hand:
        button = next(mark.number for mark in hand.seen.marks if mark.tag == "button")
        await hand.js(change)
        await hand.act(Click(target=button))
        assert await hand.js("sent") == [1]


async def test_what_the_agent_ticks_since_the_look_is_no_change_without_a_form(on: On) -> None:
    async with on(BESIDE % (TICKED, "Delete selected")) as hand:
        await hand.act(Check(mark=number(hand, "input", 1), checked=True))
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]


async def test_delete_is_not_pressed_once_something_else_is_selected_in_the_list(on: On) -> None:
    body = LISTED + "<script>window.sent = []; list.onkeydown = (event) => sent.push(event.key); list.focus()</script>"
    async with on(body) as hand:
        await hand.js("o1.ariaSelected = 'false'; p.ariaSelected = 'true'")
        outcome = await hand.act(Press(keys="Delete"))
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence
        assert await hand.js("sent") == []
        await hand.look()
        await hand.act(Press(keys="Delete"))
        assert await hand.js("sent") == ["Delete"]


async def test_nothing_is_pressed_once_its_title_says_another_risk(on: On) -> None:
    async with on(BESIDE % ("", "Pay now")) as hand:
        await hand.js("document.querySelector('button').title = 'Deletes your account'")
        outcome = await hand.act(Click(target=number(hand, "button")))
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence
        assert "Deletes your account" in outcome.sentence
        await hand.look()
        await hand.js("document.querySelector('button').title = 'Pays and deletes, by card'")
        await hand.act(Click(target=number(hand, "button")))
        assert await hand.js("sent") == [1]

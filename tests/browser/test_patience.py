"""Claims about targets that need a moment: covered, hidden, disabled or sliding when the action starts."""

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Check, Click, Type

COVER = "<div id=cover style='position:fixed;inset:0;background:#fffc'>Loading…</div>"
SAVE = "<button id=save onclick='said.push(`save`)'>Save</button>"
LATER = "<script>window.said = []; window.start = () => setTimeout(() => {{ {} }}, {})</script>"


@pytest.mark.parametrize(
    ("shown", "begins", "ends"),
    [
        ("", f"document.body.insertAdjacentHTML('beforeend', `{COVER}`)", "cover.remove()"),
        ("", "save.disabled = true", "save.disabled = false"),
        ("", "save.style.visibility = 'hidden'", "save.style.visibility = ''"),
        ("", "save.style.display = 'none'", "save.style.display = ''"),
        ("", "save.style.translate = '-400px'", "save.style.translate = '0'"),
    ],
    ids=["covered", "disabled", "invisible", "not displayed", "out of the page"],
)
async def test_what_cannot_be_pressed_for_a_moment_is_waited_for(on: On, shown: str, begins: str, ends: str) -> None:
    async with on(shown + SAVE + LATER.format(ends, 900)) as hand:
        await hand.js(f"{begins}; start()")
        outcome = await hand.act(Click(target=hand.number("Save")))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("said") == ["save"]


async def test_a_field_and_a_box_that_are_off_for_a_moment_are_waited_for(on: On) -> None:
    body = "<fieldset id=all><label>Name <input id=whole></label><label><input type=checkbox id=agree> Agree</label>"
    async with on(f"{body}</fieldset>{LATER.format('all.disabled = false', 600)}") as hand:
        for action, holds in [
            (Type(target=hand.number("Name"), text="Ada"), "whole.value === 'Ada'"),
            (Check(mark=hand.number("Agree"), checked=True), "agree.checked"),
        ]:
            await hand.js("all.disabled = true; start()")
            outcome = await hand.act(action)
            assert outcome.status == "done", outcome.sentence
            assert await hand.js(holds)
            await hand.look()


async def test_what_is_pressed_after_waiting_is_still_what_was_named(on: On) -> None:
    body = f"<div><h3 id=who>Ann</h3>{SAVE.replace('Save', 'Delete')}</div>"
    async with on(body + LATER.format("who.textContent = 'Bob'; cover.remove()", 500)) as hand:
        await hand.js(f"document.body.insertAdjacentHTML('beforeend', `{COVER}`); start()")
        outcome = await hand.act(Click(target=hand.number("Delete")))
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence
        assert await hand.js("said") == []


@pytest.mark.parametrize(
    ("begins", "refusal", "says"),
    [
        (f"document.body.insertAdjacentHTML('beforeend', `{COVER}`)", "covered", 'is covered by <div> "Loading…"'),
        ("save.disabled = true", "disabled", "is disabled"),
    ],
    ids=["covered", "disabled"],
)
async def test_what_stays_so_is_refused_and_the_wait_is_told(on: On, begins: str, refusal: str, says: str) -> None:
    async with on(SAVE) as hand:
        await hand.js(begins)
        outcome = await hand.act(Click(target=hand.number("Save")))
        assert (outcome.status, outcome.refusal) == ("refused", refusal)
        assert says in outcome.sentence
        assert outcome.sentence.endswith("It was still so after 2 s.")
        assert outcome.seconds < 4

"""Claims about several actions decided on one look: the later ones stop when the page is not what it was."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Action, Check, Click, Press, Type

FORM = """<form style="display:grid;gap:20px;width:300px"><input aria-label=Name id=a><input aria-label=Mail id=b>
<label><input type=checkbox id=c>News</label><button type=button onclick="document.title += 'sent'">Send</button></form>"""


async def test_a_form_is_filled_and_sent_in_one_go(on: On) -> None:
    async with on(FORM) as hand:
        batch: list[Action] = [
            Type(target=hand.number("Name"), text="Ann"),
            Type(target=hand.number("Mail"), text="a@b.c"),
            Check(mark=hand.number("News"), checked=True),
            Click(target=hand.number("Send")),
        ]
        outcomes = [await hand.act(action) for action in batch]
        assert [outcome.status for outcome in outcomes] == ["done"] * 4, outcomes
        assert await hand.js("[a.value, b.value, c.checked]") == ["Ann", "a@b.c", True]
        assert await hand.page.title() == "sent"


@pytest.mark.thorough
async def test_a_long_form_is_filled_though_it_scrolls(on: On) -> None:
    fields = "".join(f"<p style='margin:20px 0'><input aria-label='Field {n}'></p>" for n in range(12))
    async with on(fields) as hand:
        for n in range(12):
            outcome = await hand.act(Type(target=hand.number(f"Field {n}"), text=str(n)))
            assert outcome.status == "done", outcome.sentence


SUGGESTS = """const u = document.body.appendChild(document.createElement('ul')); u.role = 'listbox'; u.style.cssText = 'position:absolute;left:600px;top:20px';
u.innerHTML = '<li role=option tabindex=0>Anna'"""
NOTICE = "b.insertAdjacentHTML('afterend', '<button type=button>Import contacts</button>')"
PUSHES = "b.parentNode.style.paddingTop = '60px'"
TAKES = "setTimeout(() => b.focus(), 10)"


@pytest.mark.parametrize(
    ("then", "refusal", "words"),
    [
        (SUGGESTS, "changed", 'choose from has come up (option "Anna")'),
        (NOTICE, "changed", '"Import contacts" has come up beside mark'),
        (PUSHES, "moved", "is not where it was"),
        ("b.remove()", "gone", "no longer on the page"),
        ("b.ariaLabel = 'Password'", "changed", 'has become textbox "Password"'),
    ],
)
async def test_the_next_action_stops_when_the_page_has_changed_around_it(
    on: On, then: str, refusal: str, words: str
) -> None:
    async with on(FORM + f"<script>a.oninput = () => {{ a.oninput = null; {then}; }}</script>") as hand:
        assert (await hand.act(Type(target=hand.number("Name"), text="An"))).status == "done"
        outcome = await hand.act(Type(target=hand.number("Mail"), text="x"))
        assert outcome.refusal == refusal, outcome.sentence
        assert words in outcome.sentence
        assert await hand.js("globalThis.b?.value ?? ''") == ""
        await hand.look()  # and goes on with a new look
        assert (await hand.act(Click(target=hand.number("Send")))).status == "done"


async def test_keys_without_a_target_stop_when_the_focus_was_taken(on: On) -> None:
    async with on(FORM + f"<script>a.onchange = a.oninput = () => {{ {TAKES} }}</script>") as hand:
        await hand.act(Type(target=hand.number("Name"), text="A"))
        outcome = await hand.act(Press(keys="Enter"))
        assert outcome.refusal == "changed", outcome.sentence
        assert "The focus went away from mark 1" in outcome.sentence


async def test_a_click_whose_only_trace_is_a_request_is_no_empty_one(on: On) -> None:
    async with on("<button onclick='fetch(`/save`)' style='outline:0'>Save</button>", {"/save": "ok"}) as hand:
        await hand.act(Click(target=1))
        await hand.look()
        outcome = await hand.act(Click(target=1))
        assert (outcome.effect, outcome.requests) == ("changed", 1)
        assert "Nothing visible changed, but 1 request was sent" in outcome.sentence


async def test_where_the_focus_went_is_told(on: On) -> None:
    async with on("<button onclick='setTimeout(() => f.focus())'>Search</button><input id=f aria-label=Words>") as hand:
        outcome = await hand.act(Click(target=1))
        assert 'the focus is on <input> "Words"' in outcome.sentence.replace("The", "the")

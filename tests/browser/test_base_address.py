"""Claims about `<base>`: where it makes a form or link lead is part of what was seen and asked about."""

from __future__ import annotations

import pytest

from tests.browser.hand import Hand, On
from vision_agent.actions import Click

FORM = "<form method=post action=small><p>Total €10</p><button>Pay now</button></form>"
LINK = '<a href="pay?amount=10">Pay now</a>'
SHADOWED = FORM.replace("<p>", "<input name=action value=x><p>")
ELSEWHERE = '<base href="http://localhost:9/">'
ADD = "document.head.insertAdjacentHTML('beforeend', '%s')"


@pytest.mark.parametrize("body", [FORM, LINK, SHADOWED])
@pytest.mark.parametrize("base", [ELSEWHERE, "<base target=_blank>"])
async def test_nothing_is_pressed_once_a_base_makes_it_lead_elsewhere(on: On, body: str, base: str) -> None:
    async with on(body) as hand:
        await hand.js(ADD % base)
        outcome = await hand.act(Click(target=_pay(hand)))
        assert (outcome.status, outcome.refusal) == ("refused", "changed"), outcome.sentence
        assert "leads elsewhere" in outcome.sentence


async def test_a_base_that_changes_no_address_is_no_change(on: On) -> None:
    body = (
        '<form id=f onsubmit="window.sent = 1; return false"><button formaction="http://127.0.0.1/x">Pay now</button>'
    )
    async with on(body) as hand:
        await hand.js(ADD % ELSEWHERE)
        await hand.act(Click(target=_pay(hand)))
        assert await hand.js("sent") == 1


async def test_a_form_that_a_base_sends_to_another_host_leads_there(on: On) -> None:
    async with on(ELSEWHERE + FORM) as hand:
        assert [mark.state.leads_to for mark in hand.seen.marks if mark.name == "Pay now"] == ["localhost"]
    async with on(FORM) as hand:
        assert [mark.state.leads_to for mark in hand.seen.marks if mark.name == "Pay now"] == [None]


def _pay(hand: Hand) -> int:
    return next(mark.number for mark in hand.seen.marks if mark.name == "Pay now")

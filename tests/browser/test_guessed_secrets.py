"""Nothing that answers whether a text is there confirms a guess of a hidden secret, letter by letter."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from tests.browser.hand import On
from vision_agent.actions import Action, Hold, Read, ScrollTo, SelectText, Wait
from vision_agent.types import Secret

VALUE = "Tr0ub&dor wörd/7%+Q"
SECRETS = (Secret(name="password", value=SecretStr(VALUE)),)
_SHOWN = VALUE.replace("&", "&amp;")
ECHOES = {
    "in one text": f"<p>You typed: {_SHOWN} today</p>",
    "letter by letter": f"<p>You typed: {''.join(f'<b>{each}</b>' for each in VALUE).replace('&', '&amp;')} today</p>",
    "in blocks": f"<p>You typed: <div>{_SHOWN[:4]}</div><div>{_SHOWN[4:]}</div> today</p>",
    "in capitals": f"<p>You typed: {_SHOWN.upper()} today</p>",
}
RIGHT, WRONG = "You typed: Tr0u", "You typed: Tr0x"


def _searches(text: str) -> tuple[Action, ...]:
    return Wait(text=text, seconds=0.1), ScrollTo(text=text), SelectText(first=text, last=text)


@pytest.mark.parametrize("how", ECHOES)
async def test_a_right_guess_is_answered_as_a_wrong_one(on: On, how: str) -> None:
    async with on(ECHOES[how], secrets=SECRETS) as hand:
        for right, wrong in zip(_searches(RIGHT), _searches(WRONG), strict=True):
            answer, other = await hand.act(right), await hand.act(wrong)
            assert answer.status == other.status == "refused"
            assert answer.sentence.replace("Tr0u", "Tr0x") == other.sentence
        inside, outside = await hand.act(ScrollTo(text="r0u")), await hand.act(ScrollTo(text="r0x"))
        assert inside.sentence.replace("r0u", "r0x") == outside.sentence


async def test_the_words_around_a_secret_are_found(on: On) -> None:
    page = ECHOES["in one text"] + "<p>Your browser is up to date</p>"
    async with on(page, secrets=SECRETS) as hand:
        for text in ("You typed:", "today"):
            for action in _searches(text):
                assert (await hand.act(action)).status == "done", action
        assert (await hand.act(Wait(text="Tr0u", seconds=0.1))).status == "refused"


async def test_a_guess_is_found_where_it_stands_outside_the_secret(on: On) -> None:
    async with on(ECHOES["in one text"] + "<p>Tr0u is a word</p>", secrets=SECRETS) as hand:
        assert (await hand.act(Wait(text="Tr0u", seconds=0.1))).status == "done"


async def test_a_guess_does_not_end_a_hold_nor_name_a_table(on: On) -> None:
    page = f"<button>Press</button><h2>Rows of {_SHOWN}</h2><table><tr><th>A<th>B<tr><td>1<td>2</table>"
    async with on(page, secrets=SECRETS) as hand:
        held = await hand.act(Hold(target=hand.number("Press"), seconds=0.1, until="Rows of Tr0u"))
        assert held.refusal == "timed_out"
        tables = [await hand.act(Read(what="table", mark=f"Rows of {guess}")) for guess in ("Tr0u", "Tr0x")]
        assert tables[0].sentence.replace("Tr0u", "Tr0x") == tables[1].sentence


async def test_private_data_may_be_waited_for(on: On) -> None:
    private = (Secret(name="name", value=SecretStr("Ann Lee-Miller"), is_private=True),)
    async with on("<p>Signed in as Ann Lee-Miller</p>", secrets=private) as hand:
        assert (await hand.act(Wait(text="as Ann Lee", seconds=0.1))).status == "done"

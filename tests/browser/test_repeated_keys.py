"""A key that presses what has the focus is pressed again only on the same thing."""

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Press

LOG = "<script>did = []</script>"
NEXT = LOG + "<div id=w><button autofocus onclick=\"did.push('next'); {0}\">Next</button></div>"
PAY = "w.innerHTML = '<button id=q onclick=did.push(`PAID`)>Pay €99</button>'; q.focus()"
_TICK = "<input type=checkbox aria-label={0} id={0} onchange='did.push(this.id); Bob.focus()'>"
TICKS = LOG + _TICK.format("Ann") + _TICK.format("Bob")
_ITEM = (
    "<div role=menuitem tabindex=0 onkeydown='did.push(this.textContent); this.nextElementSibling?.focus()'>{}</div>"
)
MENU = LOG + _ITEM.format("Open") + _ITEM.format("Delete")
FIELD = f"""{LOG}<input aria-label=Name onkeyup="did.push('key'); b.focus()">
<button id=b onclick=did.push('PAID')>Pay</button>"""
FRAME = f"""{LOG}<iframe id=f srcdoc="<button onclick=parent.did.push('PAID')>Pay</button>"></iframe>
<button onclick="did.push('next'); f.contentWindow.focus();
f.contentDocument.querySelector('button').focus()">Next</button>"""


@pytest.mark.parametrize(
    ("html", "keys", "name", "did", "why"),
    [
        (NEXT.format(PAY), "Enter", "Next", ["next"], "is gone from the page"),
        (NEXT.format(PAY), "Space", "Next", ["next"], "is gone from the page"),
        (NEXT.format(PAY), "Enter", "", ["next"], "is gone from the page"),
        (NEXT.format("this.textContent = 'Pay €99'"), "Enter", "Next", ["next"], 'has become button "Pay €99"'),
        (TICKS, "Space", "Ann", ["Ann"], "lost the focus"),
        (MENU, "Enter", "Open", ["Open"], 'lost the focus to <menuitem> "Delete"'),
        (FIELD, "Enter", "Name", ["key"], 'lost the focus to <button> "Pay"'),
        (FRAME, "Enter", "Next", ["next"], "lost the focus"),
    ],
)
async def test_a_key_is_not_pressed_again_on_what_has_the_focus_by_then(
    on: On, html: str, keys: str, name: str, did: list[str], why: str
) -> None:
    async with on(html) as hand:
        outcome = await hand.act(Press(keys=keys, target=hand.number(name) if name else None, count=3))
        assert (outcome.status, await hand.js("did")) == ("partial", did)
        assert why in outcome.sentence
        assert f"{keys} was pressed 1 of 3 times" in outcome.sentence


PLUS = LOG + "<div>Cups <button onclick='n.textContent++; did.push(1)'>+</button> <b id=n>0</b></div>"
COUNTED = LOG + "<button onclick='did.push(1); this.textContent = `Add (${did.length})`'>Add (0)</button>"
LINES = "<textarea aria-label=Note oninput='did = this.value.split(``)'></textarea>"
KEYS = LOG + "<button>Start</button><script>onkeydown = (e) => did.push(e.key)</script>"


@pytest.mark.parametrize(
    ("html", "keys", "name"),
    [
        (PLUS, "Enter", "+"),
        (COUNTED, "Space", "Add (0)"),
        (LINES, "Enter", "Note"),
        (KEYS, "Space", ""),
        (KEYS, "Tab", ""),
        (KEYS, "ArrowDown", ""),
    ],
)
async def test_a_key_is_pressed_as_often_as_asked_on_what_stays_the_same(
    on: On, html: str, keys: str, name: str
) -> None:
    async with on(html) as hand:
        outcome = await hand.act(Press(keys=keys, target=hand.number(name) if name else None, count=3))
        assert outcome.status == "done", outcome.sentence
        assert len(await hand.js("did")) == 3

"""A thousand clicks as fast as they go, on a page that draws everything anew at each: none is lost, none comes twice."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from collections import Counter

import pytest

from tests.browser.hand import On
from vision_agent.actions import Click

ACTS = 1000
NAMES = ("Ann", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal")
REDRAWN = f"""<h1>People</h1><div id=list></div><p>Total <b id=total>0</b></p><script>
const names = {list(NAMES)}, log = [], pressed = {{mousedown: 0, mouseup: 0, click: 0}};
for (const type of Object.keys(pressed)) addEventListener(type, (e) => e.isTrusted && pressed[type]++, true);
const draw = () => {{ list.innerHTML = names.map((name) => `<div class=row style="display:flex;gap:20px;padding:6px"><span style="width:80px">${{name}}</span><button>Add</button></div>`).join(''); total.textContent = log.length; }};
list.onclick = (e) => {{ if (e.target.localName !== 'button') return log.push('beside'); log.push(e.target.parentNode.firstChild.textContent); draw(); }};
draw();</script>"""


@pytest.mark.thorough
@pytest.mark.timeout(900)
async def test_of_a_thousand_clicks_on_a_page_redrawn_at_each_none_is_lost_or_comes_twice(on: On) -> None:
    said: Counter[str] = Counter()
    async with on(REDRAWN) as hand:
        for turn in range(ACTS):
            name = NAMES[turn * 5 % len(NAMES)]
            [number] = [mark.number for mark in hand.seen.marks if mark.name == "Add" and mark.context == name]
            before: list[str] = await hand.js("log")
            outcome = await hand.act(Click(target=number))
            after: list[str] = await hand.js("log")
            said[f"{outcome.status} {outcome.refusal or ''}".strip()] += 1
            arrived = after[len(before) :]
            expected = {"done": [[name]], "partial": [[], [name]], "refused": [[]]}[outcome.status]
            assert arrived in expected, f"turn {turn}: {outcome.sentence} {arrived}"
            await hand.look()
        pressed = await hand.js("pressed")
        assert pressed["mousedown"] == pressed["mouseup"] == pressed["click"]
        assert len(await hand.js("log")) == pressed["click"] >= said["done"]
        assert said["done"] >= 0.99 * ACTS, said


async def test_clicks_decided_on_one_look_at_a_page_redrawn_at_each_are_done_once_or_refused(on: On) -> None:
    async with on(REDRAWN) as hand:
        for turn in range(4):
            for name in (NAMES[turn], NAMES[turn + 2], NAMES[turn]):
                [number] = [mark.number for mark in hand.seen.marks if mark.name == "Add" and mark.context == name]
                before: list[str] = await hand.js("log")
                outcome = await hand.act(Click(target=number))
                arrived = (await hand.js("log"))[len(before) :]
                assert arrived == ([name] if outcome.status == "done" else []), outcome.sentence
            await hand.look()
        assert len(await hand.js("log")) >= 4

"""Claims about sliders that pages make: the value that was meant is there, or the one that is there is told."""

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import Set

STYLE = """<style>.track { position: relative; width: 200px; height: 12px; margin: 40px; background: #ccc }
.thumb { position: absolute; left: 20px; top: -2px; margin-left: -8px; width: 16px; height: 16px; background: #36c }
</style>"""
ARIA = "role=slider aria-valuemin=0 aria-valuemax=100 aria-valuenow=10"
THUMB = f"<div class=track id=track><div class=thumb id=thumb {ARIA} TAB aria-label=Bright></div></div>"
FOLLOW = """<script>
let held = null;
const share = (event) => { const box = track.getBoundingClientRect(); return (event.clientX - box.x) / box.width; };
const put = (event) => {
    const value = Math.round(Math.min(1, Math.max(0, share(event))) * 100 / STEP) * STEP;
    held.setAttribute('aria-valuenow', value);
    held.style.left = value * 2 + 'px';
};
for (const each of document.querySelectorAll('[role=slider]')) each.onpointerdown = () => { held = each; };
addEventListener('pointermove', (event) => { if (held) put(event); });
addEventListener('pointerup', () => { held = null; });</script>"""
POINTER = STYLE + THUMB.replace("TAB", "tabindex=0") + FOLLOW.replace("STEP", "1")


@pytest.mark.parametrize("value", ["0", "1", "42", "100"])
async def test_a_thumb_that_answers_no_key_is_dragged_to_the_value(on: On, value: str) -> None:
    async with on(POINTER) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value=value))
        assert (outcome.status, outcome.value) == ("done", value), outcome.sentence
        assert await hand.js("held === null")


async def test_a_thumb_that_takes_no_focus_is_dragged_too(on: On) -> None:
    async with on(POINTER.replace("tabindex=0", "")) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value="73"))
        assert (outcome.status, outcome.value) == ("done", "73"), outcome.sentence


@pytest.mark.parametrize(("value", "nearest"), [("42", "40"), ("9", "0"), ("95", "100"), ("66", "60")])
async def test_a_value_that_the_slider_does_not_take_becomes_the_nearest_and_is_told(
    on: On, value: str, nearest: str
) -> None:
    body = STYLE + THUMB.replace("TAB", "tabindex=0") + FOLLOW.replace("STEP", "20")
    async with on(body) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value=value))
        assert (outcome.status, outcome.value) == ("done", nearest), outcome.sentence
        assert f"as near to {value} as it goes, to {nearest}" in outcome.sentence


async def test_each_thumb_of_a_range_is_dragged_alone(on: On) -> None:
    other = f"<div class=thumb style='left:120px' {ARIA.replace('10', '60', 1)} tabindex=0 aria-label=To></div></div>"
    body = POINTER.replace("</div></div>", f"</div>{other}").replace("aria-label=Bright", "aria-label=From")
    async with on(body) as hand:
        for name, value in (("From", "35"), ("To", "80")):
            outcome = await hand.act(Set(mark=hand.number(name), value=value))
            assert (outcome.status, outcome.value) == ("done", value), outcome.sentence
            await hand.look()
        read = "Array.from(document.querySelectorAll('[role=slider]'), (each) => each.ariaValueNow)"
        assert await hand.js(read) == ["35", "80"]


TRACK = f"""{STYLE}<div class=track id=track {ARIA} tabindex=0 aria-label=Bright></div><script>
track.onpointerdown = (event) => {{
    const box = track.getBoundingClientRect();
    track.setAttribute('aria-valuenow', Math.round(WHERE * 100));
}};</script>"""
ACROSS, UP = "(event.clientX - box.x) / box.width", "(box.bottom - event.clientY) / box.height"


@pytest.mark.parametrize(
    "body",
    [
        TRACK.replace("WHERE", ACROSS),
        TRACK.replace("WHERE", UP).replace("width: 200px; height: 12px", "width: 12px; height: 200px"),
    ],
)
async def test_a_track_that_only_takes_presses_is_pressed_where_the_value_is(on: On, body: str) -> None:
    async with on(body) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value="75"))
        assert (outcome.status, outcome.value) == ("done", "75"), outcome.sentence


async def test_a_track_whose_values_lie_elsewhere_and_that_takes_only_presses_is_no_success(on: On) -> None:
    async with on(TRACK.replace("WHERE", "(box.right - event.clientX) / box.width")) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value="75"))
        assert (outcome.status, outcome.refusal, outcome.value) == ("partial", "not_an_option", "25"), outcome.sentence
        assert "now shows 25, but does not follow the pointer" in outcome.sentence


async def test_a_value_too_many_keys_away_is_dragged_near_and_reached_with_keys(on: On) -> None:
    keys = """<script>thumb.onkeydown = (event) => {
        const by = { ArrowUp: 1, ArrowDown: -1 }[event.key] ?? 0;
        thumb.setAttribute('aria-valuenow', Number(thumb.ariaValueNow) + by);
    };</script>"""
    body = POINTER.replace("* 100 / 1) * 1", "* 5000)").replace("valuemax=100", "valuemax=5000") + keys
    async with on(body) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value="2468"))
        assert (outcome.status, outcome.value) == ("done", "2468"), outcome.sentence


async def test_a_slider_whose_row_becomes_another_s_while_it_is_held_is_let_go_where_it_was(on: On) -> None:
    swap = """<script>addEventListener('pointermove', () => {
        if (held && held.ariaValueNow > 20) label.textContent = 'Bob'; });</script>"""
    row = f"<p><span id=label>Ann</span></p>{THUMB.replace('TAB', 'tabindex=0')}"
    body = STYLE + f"<div>{row}</div><div><p>Eve</p><button>x</button></div>" + FOLLOW.replace("STEP", "1") + swap
    async with on(body) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value="90"))
        assert (outcome.status, outcome.refusal) == ("partial", "changed"), outcome.sentence
        assert await hand.js("held === null")
        assert int(await hand.js("thumb.ariaValueNow")) < 90


LATE = f"""{STYLE}{THUMB.replace("TAB", "tabindex=0")}<script>
thumb.onkeydown = (event) => {{ if (KEYS.includes(event.key)) setTimeout(() => {{
    thumb.setAttribute('aria-valuenow', Number(thumb.ariaValueNow) + 5);
    thumb.style.left = thumb.ariaValueNow * 2 + 'px';
}}, 250); }};</script>"""


@pytest.mark.parametrize("keys", ["['ArrowUp', 'ArrowRight']", "['ArrowRight']"])
async def test_a_slider_that_answers_its_keys_late_is_brought_to_the_value(on: On, keys: str) -> None:
    async with on(LATE.replace("KEYS", keys)) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value="35"))
        assert (outcome.status, outcome.value) == ("done", "35"), outcome.sentence


async def test_a_thumb_that_follows_the_pointer_late_is_dragged_to_the_value(on: On) -> None:
    late = FOLLOW.replace("STEP", "1").replace("if (held) put(event);", "if (held) setTimeout(() => put(event), 250);")
    late = late.replace("held.setAttribute", "thumb.setAttribute").replace("held.style", "thumb.style")
    body = STYLE + THUMB.replace("TAB", "tabindex=0") + late
    async with on(body) as hand:
        outcome = await hand.act(Set(mark=hand.number("Bright"), value="42"))
        assert "as near to" not in outcome.sentence
        assert (outcome.status, outcome.value) == ("done", "42"), outcome.sentence

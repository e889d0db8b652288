"""Claims about taps and touches that are held: what a finger does in the page, and that it is guarded like a click."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from vision_agent.actions import Click, DoubleTap, Hold, OpenTab, Press

MAP = """<button id=b style="width:200px;height:100px">Map</button><script>
const did = [];
for (const type of ['touchstart', 'touchend', 'pointerdown', 'mousedown', 'click', 'dblclick']) addEventListener(type, (e) => {
  did.push([type, e.isTrusted, e.pointerType || '', e.target.id, e.timeStamp]);
}, true);
let last = 0;
b.addEventListener('touchend', (e) => { if (e.timeStamp - last < 300) document.title = 'closer'; last = e.timeStamp; });
</script>"""


@pytest.mark.parametrize("by", ["mark", "point"])
async def test_two_quick_trusted_taps_arrive(on: On, by: str) -> None:
    async with on(MAP) as hand:
        outcome = await hand.act(DoubleTap(target=hand.number("Map") if by == "mark" else hand.point("Map")))
        did = await hand.js("did")
        one = ["pointerdown", "touchstart", "touchend", "mousedown", "click"]
        assert [each[0] for each in did] == [*one, *one, "dblclick"]
        assert all(trusted and at == "b" for _, trusted, _, at, _ in did)
        assert [each[2] for each in did if each[0] == "pointerdown"] == ["touch", "touch"]
        assert outcome.status == "done"
        assert outcome.sentence.startswith("Double-tapped")
        for _ in range(4):  # a busy machine may be late once
            if await hand.js("document.title") == "closer":
                break
            await hand.look()
            await hand.act(DoubleTap(target=hand.number("Map") if by == "mark" else hand.point("Map")))
        assert await hand.js("document.title") == "closer"


async def test_a_tap_on_what_another_took_the_place_of_reaches_nothing(on: On) -> None:
    body = """<button id=b>Save</button><script>let did = [];
    for (const type of ['touchstart', 'touchend', 'mousedown', 'click']) addEventListener(type, (e) => did.push(type));
    addEventListener('pointerdown', () => { b.textContent = 'Delete'; did.push('pointerdown'); }, true)</script>"""
    async with on(body) as hand:
        await hand.js("b.textContent = 'Delete'")
        outcome = await hand.act(DoubleTap(target=hand.number("Save")))
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        assert await hand.js("did") == []


async def test_the_second_tap_does_not_go_to_what_the_first_brought_there(on: On) -> None:
    body = """<button id=b style="width:200px;height:100px">Open</button><script>let did = [];
    b.addEventListener('click', () => { did.push(b.textContent); b.textContent = 'Delete'; });
    b.addEventListener('touchstart', () => did.push('touch ' + b.textContent))</script>"""
    async with on(body) as hand:
        outcome = await hand.act(DoubleTap(target=hand.number("Open")))
        assert outcome.status == "partial"
        assert await hand.js("did") == ["touch Open", "Open"]


async def test_the_second_tap_does_not_land_on_the_page_that_the_first_opened(on: On) -> None:
    body = """<button style="width:200px;height:100px" onclick="location = '/next'">Next</button>"""
    then = """<button style="width:200px;height:100px">Pay</button><script>let did = [];
    for (const type of ['touchstart', 'pointerdown', 'mousedown', 'click']) addEventListener(type, () => did.push(type), true)</script>"""
    async with on(body, {"/next": then}) as hand:
        await hand.act(DoubleTap(target=hand.number("Next")))
        await hand.page.wait_for_url("**/next")
        assert await hand.js("did") == []


async def test_a_cell_of_what_is_drawn_is_tapped(on: On) -> None:
    body = """<canvas id=c width=300 height=200></canvas><script>const at = [];
    const pen = c.getContext('2d'); pen.fillStyle = '#36c'; pen.fillRect(100, 60, 80, 60);
    c.addEventListener('touchend', (e) => at.push([Math.round(e.changedTouches[0].clientX), Math.round(e.changedTouches[0].clientY)]))</script>"""
    async with on(body) as hand:
        point = hand.seen.marked.map.to_picture(hand.seen.marks[0].point)
        outcome = await hand.act(DoubleTap(target=point))
        assert outcome.status == "done", outcome.sentence
        assert len(await hand.js("at")) == 2


# --- holding ----------------------------------------------------------------------------------------------------------

PAD = """<button id=b style="width:200px;height:100px;touch-action:none">Charge</button><p id=state></p><script>
let did = [], down = 0;
for (const type of ['touchstart', 'touchend', 'touchcancel', 'pointerdown', 'pointerup', 'pointercancel', 'mousedown', 'click', 'contextmenu']) addEventListener(type, (e) => {
  did.push({type, trusted: e.isTrusted, on: e.target.id, at: e.timeStamp}); if (e.touches) down = e.touches.length;
}, true);
b.addEventListener('touchstart', () => setTimeout(() => state.textContent = down ? 'Charged' : 'Lost', 500));
b.addEventListener('contextmenu', (e) => e.preventDefault());
</script>"""


async def touches(hand: Hand) -> list[dict[str, Any]]:
    did: list[dict[str, Any]] = await hand.js("did")
    return [each for each in did if each["type"].startswith("touch")]


@pytest.mark.parametrize("by", ["mark", "point"])
async def test_a_finger_is_held_for_its_time_where_a_page_answers_only_to_touch(on: On, by: str) -> None:
    async with on(PAD) as hand:
        target = hand.number("Charge") if by == "mark" else hand.point("Charge")
        outcome = await hand.act(Hold(target=target, seconds=0.9, touch=True))
        down, up = await touches(hand)
        assert [(each["type"], each["trusted"], each["on"]) for each in (down, up)] == [
            ("touchstart", True, "b"),
            ("touchend", True, "b"),
        ]
        assert 900 <= up["at"] - down["at"] < 4000
        assert await hand.js("state.textContent") == "Charged"
        assert outcome.status == "done"
        assert outcome.sentence.startswith("Held a finger on ")


async def test_a_finger_is_held_until_a_text_shows(on: On) -> None:
    async with on(PAD) as hand:
        outcome = await hand.act(Hold(target=hand.number("Charge"), seconds=9, until="Charged", touch=True))
        down, up = await touches(hand)
        assert 500 <= up["at"] - down["at"] < 5000
        assert (outcome.status, await hand.js("down")) == ("done", 0)
        assert 'until "Charged" showed' in outcome.sentence


async def test_a_finger_that_waited_in_vain_for_a_text_is_lifted(on: On) -> None:
    async with on(PAD) as hand:
        outcome = await hand.act(Hold(target=hand.number("Charge"), seconds=0.3, until="Ready", touch=True))
        assert (outcome.status, outcome.refusal) == ("partial", "timed_out")
        assert '"Ready" did not show within 0.3 s, so the finger was released' in outcome.sentence
        assert await hand.js("down") == 0


async def test_a_finger_touches_nothing_that_took_the_place_of_its_target(on: On) -> None:
    swap = "<script>addEventListener('pointerdown', () => b.textContent = 'Delete', true)</script>"
    async with on(PAD + swap) as hand:
        await hand.js("b.textContent = 'Delete'")
        outcome = await hand.act(Hold(target=hand.number("Charge"), seconds=0.3, touch=True))
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        assert await hand.js("did") == []


async def test_a_finger_is_lifted_when_the_action_is_cancelled(on: On) -> None:
    async with on(PAD) as hand:
        task = asyncio.ensure_future(hand.act(Hold(target=hand.number("Charge"), seconds=9, touch=True)))
        await hand.page.wait_for_function("down === 1")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await hand.js("down") == 0
        assert [each["type"] for each in await touches(hand)] == ["touchstart", "touchend"]


async def test_a_page_that_hangs_while_a_finger_is_held_gets_its_end_when_it_answers(on: On) -> None:
    hangs = "<script>b.addEventListener('touchstart', () => setTimeout(() => { const end = Date.now() + 4000; while (Date.now() < end); }, 100))</script>"
    async with on(PAD + hangs, settings=SETTINGS.model_copy(update={"action_deadline_s": 0.4})) as hand:
        outcome = await hand.act(Hold(target=hand.number("Charge"), seconds=0.5, touch=True))
        assert outcome.status == "partial"
        await hand.page.wait_for_function("down === 0 && did.some((each) => each.type === 'touchend')")
        assert [each["type"] for each in await touches(hand)] == ["touchstart", "touchend"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_the_end_of_a_touch_does_not_land_on_the_page_that_it_opened(on: On, host: str) -> None:
    leaves = f"<script>b.addEventListener('touchstart', () => location = location.origin.replace('127.0.0.1', '{host}') + '/next')</script>"
    then = """<button style='width:200px;height:100px'>Pay</button><script>let got = [];
    for (const type of ['touchstart', 'touchend', 'pointerup', 'mousedown', 'click']) addEventListener(type, (e) => got.push(type), true)</script>"""
    async with on(PAD + leaves, {"/next": then}) as hand:
        outcome = await hand.act(Hold(target=hand.number("Charge"), seconds=1, touch=True))
        await hand.page.wait_for_url("**/next")
        assert (outcome.status, await hand.js("got")) == ("done", [])
        await hand.look()
        tapped = await hand.act(DoubleTap(target=hand.number("Pay")))  # a finger that is still down would be in the way
        assert tapped.status == "done"
        assert (await hand.js("got")).count("touchstart") == 2


@pytest.mark.parametrize(
    "then", ["", "const end = Date.now() + 700; while (Date.now() < end);"], ids=["at once", "busy"]
)
@pytest.mark.parametrize(
    ("what", "event"),
    [({"touch": True}, "pointerdown"), ({"touch": False}, "pointerdown"), ({"keys": "a"}, "keydown")],
    ids=["finger", "button", "key"],
)
async def test_a_page_that_closes_itself_when_it_is_pressed_was_not_held(
    on: On, what: dict[str, Any], event: str, then: str
) -> None:
    closes = f"<script>addEventListener('{event}', () => {{ close(); {then} }}, true)</script>"
    async with on("<button onclick='window.open(`/two`)'>One</button>", {"/two": PAD + closes}) as hand:
        await hand.act(Click(target=hand.number("One")))
        await hand.look()
        press = Press(seconds=9, **what) if "keys" in what else Hold(target=hand.number("Charge"), seconds=9, **what)
        outcome = await hand.act(press)
        assert (outcome.status, outcome.refusal) == ("partial", "gone"), outcome
        assert "the tab closed after" in outcome.sentence


async def test_a_page_that_closes_itself_when_the_button_is_released_was_held(on: On) -> None:
    closes = "<script>addEventListener('pointerup', () => close(), true)</script>"
    async with on("<button onclick='window.open(`/two`)'>One</button>", {"/two": PAD + closes}) as hand:
        await hand.act(Click(target=hand.number("One")))
        await hand.look()
        outcome = await hand.act(Hold(target=hand.number("Charge"), seconds=0.3))
        assert outcome.status == "done", outcome
        assert "closed" in outcome.sentence


async def test_a_tab_that_closes_while_a_finger_is_held_is_said_to_have_closed(on: On) -> None:
    async with on("<button>One</button>", {"/two": PAD}) as hand:
        await hand.act(OpenTab(url=hand.address + "/two"))
        await hand.look()
        own = hand.page
        task = asyncio.ensure_future(hand.act(Hold(target=hand.number("Charge"), seconds=9, touch=True)))
        await own.wait_for_function("down === 1")
        await own.close()
        outcome = await asyncio.wait_for(task, 20)
        assert outcome.status == "partial"
        assert "the tab closed after" in outcome.sentence
        again = await hand.look()
        assert (await hand.act(DoubleTap(target=again.marks[0].number))).status == "done"

"""Claims about taps: what a finger does in the page, and that it is guarded like a click."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import pytest

from tests.browser.hand import On
from vision_agent.actions import DoubleTap

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
        assert await hand.js("document.title") == "closer"
        assert outcome.status == "done"
        assert outcome.sentence.startswith("Double-tapped")


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

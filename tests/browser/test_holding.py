"""Claims about holding: a button, a key or a combination stays down for its time, and always comes up again."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from vision_agent.actions import Click, Hold, OpenTab, Point, Press, Scroll

LOGS = """<script>
const told = [];
for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'keydown', 'keyup', 'wheel']) addEventListener(type, (e) => {
  told.push({type, key: e.key ?? '', trusted: e.isTrusted, at: e.timeStamp, on: e.target.id ?? '', by: e.deltaY ?? 0,
    held: [e.ctrlKey && 'Control', e.shiftKey && 'Shift', e.altKey && 'Alt'].filter(Boolean).join('+'), repeat: e.repeat ?? false});
}, {capture: true, passive: true});
</script>"""
FIRE = f"{LOGS}<button id=fire style='width:200px;height:60px'>Fire</button><p id=state></p>"


async def told(hand: Hand, *types: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await hand.js("told")
    return [each for each in found if not types or each["type"] in types]


def seconds(events: list[dict[str, Any]]) -> float:
    return float(events[-1]["at"] - events[0]["at"]) / 1000


# --- the button -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["mark", "point"])
async def test_a_button_is_held_for_its_time(on: On, by: str) -> None:
    async with on(FIRE) as hand:
        outcome = await hand.act(Hold(target=hand.number("Fire") if by == "mark" else hand.point("Fire"), seconds=0.7))
        presses = await told(hand, "mousedown", "mouseup")
        assert [(each["type"], each["trusted"], each["on"]) for each in presses] == [
            ("mousedown", True, "fire"),
            ("mouseup", True, "fire"),
        ]
        assert 0.7 <= seconds(presses) < 2
        assert len(await told(hand, "click")) == 1
        assert outcome.status == "done"
        assert outcome.sentence.startswith("Held the button down on ")
        assert "for 0.7 s" in outcome.sentence


async def test_a_hold_lasts_longer_than_other_actions_may_take_and_is_guarded_to_its_end(on: On) -> None:
    swaps = "<script>let paid = 0; fire.onmousedown = () => setTimeout(() => fire.outerHTML = `<button id=pay style='width:200px;height:60px' onmouseup='paid++' onclick='paid++'>Pay</button>`, 900)</script>"
    async with on(FIRE + swaps, settings=SETTINGS.model_copy(update={"action_deadline_s": 0.4})) as hand:
        outcome = await hand.act(Hold(target=hand.number("Fire"), seconds=9, until="Pay"))
        assert await hand.js("paid") == 0
        assert "only pointerdown and mousedown reached it" in outcome.sentence


async def test_a_button_is_held_until_a_text_shows(on: On) -> None:
    charges = "<script>fire.onmousedown = () => setTimeout(() => state.textContent = 'Charged', 400)</script>"
    async with on(FIRE + charges) as hand:
        outcome = await hand.act(Hold(target=hand.number("Fire"), seconds=8, until="Charged"))
        presses = await told(hand, "mousedown", "mouseup")
        assert 0.4 <= seconds(presses) < 4
        assert outcome.status == "done"
        assert 'until "Charged" showed' in outcome.sentence


async def test_a_hold_whose_text_does_not_show_is_partial_and_released(on: On) -> None:
    async with on(FIRE) as hand:
        outcome = await hand.act(Hold(target=hand.number("Fire"), seconds=0.3, until="Charged"))
        assert (outcome.status, outcome.refusal) == ("partial", "timed_out")
        assert '"Charged" did not show within 0.3 s, so the button was released' in outcome.sentence
        assert [each["type"] for each in await told(hand, "mousedown", "mouseup")] == ["mousedown", "mouseup"]


async def test_a_hold_until_a_text_that_shows_already_presses_nothing(on: On) -> None:
    async with on(FIRE + "<p>Charged</p>") as hand:
        outcome = await hand.act(Hold(target=hand.number("Fire"), until="Charged"))
        assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        assert '"Charged" shows already' in outcome.sentence
        assert await told(hand, "mousedown") == []


async def test_a_button_that_became_another_is_not_held(on: On) -> None:
    async with on(FIRE) as hand:
        await hand.js("fire.textContent = 'Delete'")
        outcome = await hand.act(Hold(target=hand.number("Fire"), seconds=0.3))
        assert (outcome.status, outcome.refusal) == ("refused", "changed")
        assert await told(hand, "mousedown", "mouseup", "click") == []


async def begun(hand: Hand, type: str) -> None:
    await hand.page.wait_for_function(f"told.some((each) => each.type === '{type}')")


@pytest.mark.parametrize(
    ("action", "down", "up"),
    [
        (Hold(target=1, seconds=9), "mousedown", "mouseup"),
        (Press(keys="Shift+ArrowUp", seconds=9), "keydown", "keyup"),
        (Press(keys="ArrowUp", target=1, seconds=9), "keydown", "keyup"),
    ],
)
async def test_what_is_held_comes_up_when_the_action_is_cancelled(on: On, action: Any, down: str, up: str) -> None:
    async with on(FIRE) as hand:
        assert hand.number("Fire") == 1
        task = asyncio.ensure_future(hand.act(action))
        await begun(hand, down)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        events = await told(hand, down, up)
        assert len([each for each in events if each["type"] == down]) == len(
            [each for each in events if each["type"] == up]
        )
        assert not await is_down(hand)


async def is_down(hand: Hand) -> bool:
    """Whether a button or Shift is down, as the next pointer event tells."""
    await hand.js("addEventListener('pointermove', (e) => window.buttons = [e.buttons, e.shiftKey], {once: true})")
    await hand.page.mouse.move(300, 200)
    return bool(await hand.js("window.buttons[0] || window.buttons[1]"))


@pytest.mark.parametrize("keys", ["", "ArrowUp"])
async def test_a_tab_that_closes_while_something_is_held_is_said_to_have_closed(on: On, keys: str) -> None:
    async with on("<button>One</button>", {"/two": FIRE}) as hand:
        await hand.act(OpenTab(url=hand.address + "/two"))
        await hand.look()
        own = hand.page
        held = Press(keys=keys, seconds=9) if keys else Hold(target=hand.number("Fire"), seconds=9)
        task = asyncio.ensure_future(hand.act(held))
        await begun(hand, "keydown" if keys else "mousedown")
        await own.close()
        outcome = await asyncio.wait_for(task, 20)
        assert outcome.status == "partial"
        assert "the tab closed after" in outcome.sentence
        again = await hand.look()
        pressed = await hand.act(Click(target=again.marks[0].number))
        assert pressed.status == "done"


async def test_the_release_does_not_land_on_the_page_that_the_press_opened(on: On) -> None:
    leaves = "<script>fire.onmousedown = () => location = '/next'</script>"
    then = """<button style='width:200px;height:60px'>Pay</button><script>let got = [];
    for (const type of ['pointerup', 'mouseup', 'click']) addEventListener(type, () => got.push(type), true)</script>"""
    async with on(FIRE + leaves, {"/next": then}) as hand:
        await hand.act(Hold(target=hand.number("Fire"), seconds=1))
        await hand.page.wait_for_url("**/next")
        assert await hand.js("got") == []
        assert not await is_down(hand)


async def test_a_page_that_hangs_while_a_button_is_held_gets_the_release_when_it_answers(on: On) -> None:
    hangs = "<script>fire.onmousedown = () => setTimeout(() => { const end = Date.now() + 4000; while (Date.now() < end); }, 100)</script>"
    async with on(FIRE + hangs, settings=SETTINGS.model_copy(update={"action_deadline_s": 0.4})) as hand:
        outcome = await hand.act(Hold(target=hand.number("Fire"), seconds=0.5))
        assert outcome.status == "partial"
        await hand.page.wait_for_function("true")
        assert [each["type"] for each in await told(hand, "mousedown", "mouseup")] == ["mousedown", "mouseup"]
        assert not await is_down(hand)


# --- keys -------------------------------------------------------------------------------------------------------------


async def test_a_key_is_held_for_its_time_and_goes_down_once(on: On) -> None:
    async with on(FIRE) as hand:
        outcome = await hand.act(Press(keys="ArrowRight", seconds=0.6))
        keys = await told(hand, "keydown", "keyup")
        assert [(each["type"], each["key"], each["trusted"], each["repeat"]) for each in keys] == [
            ("keydown", "ArrowRight", True, False),
            ("keyup", "ArrowRight", True, False),
        ]
        assert 0.6 <= seconds(keys) < 2
        assert outcome.sentence.startswith("Held ArrowRight for 0.6 s")


async def test_a_game_that_polls_its_keys_sees_a_held_key_in_many_frames(on: On) -> None:
    game = """<canvas id=game width=200 height=100></canvas><script>
    const down = new Set(); let frames = 0, other = 0;
    onkeydown = (e) => down.add(e.code); onkeyup = (e) => down.delete(e.code);
    const tick = () => { if (down.has('ArrowUp') && down.has('Space')) frames++; else if (down.size) other++; requestAnimationFrame(tick); };
    tick();</script>"""
    async with on(game) as hand:
        await hand.act(Press(keys="ArrowUp+Space", seconds=0.5))
        assert await hand.js("frames") >= 8
        assert await hand.js("down.size") == 0


@pytest.mark.parametrize("by", ["target", "focus"])
async def test_space_is_not_held_on_a_button_that_it_would_press_when_it_comes_up(on: On, by: str) -> None:
    async with on(FIRE) as hand:
        await hand.js("fire.focus()")
        await hand.look()
        outcome = await hand.act(
            Press(keys="Space", seconds=0.3, target=hand.number("Fire") if by == "target" else None)
        )
        assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        assert "would be pressed when Space is released" in outcome.sentence
        assert await told(hand, "keydown", "click") == []


async def test_several_keys_are_held_together_and_come_up_in_reverse(on: On) -> None:
    async with on(FIRE) as hand:
        await hand.act(Press(keys="ArrowUp+ArrowRight+x", seconds=0.3))
        keys = [(each["type"][3:], each["key"]) for each in await told(hand, "keydown", "keyup")]
        assert keys == [
            *(("down", key) for key in ("ArrowUp", "ArrowRight", "x")),
            *(("up", key) for key in ("x", "ArrowRight", "ArrowUp")),
        ]


async def test_a_chord_arrives_with_its_modifiers(on: On) -> None:
    async with on(FIRE) as hand:
        await hand.act(Press(keys="Control+Shift+K"))
        [pressed] = [each for each in await told(hand, "keydown") if each["key"] == "K"]
        assert pressed["held"] == "Control+Shift"


async def test_a_key_that_does_not_exist_is_not_held_and_leaves_nothing_down(on: On) -> None:
    async with on(FIRE) as hand:
        outcome = await hand.act(Press(keys="Shift+Nosuch", seconds=0.3))
        assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        assert 'There is no key "Shift+Nosuch"' in outcome.sentence
        ups = [(each["type"], each["key"]) for each in await told(hand, "keydown", "keyup")]
        assert ups in ([], [("keydown", "Shift"), ("keyup", "Shift")])


# --- the wheel --------------------------------------------------------------------------------------------------------

MAP = f"""{LOGS}<canvas id=map width=300 height=200 style='display:block'></canvas><div id=list style='height:100px;width:200px;overflow:auto'><button>First</button><div style='height:900px'></div></div>
<div style='height:3000px'></div><script>const pen = map.getContext('2d'); pen.fillStyle = '#36c'; pen.fillRect(100, 60, 80, 60);
addEventListener('wheel', (e) => {{ if (e.ctrlKey) e.preventDefault(); }}, {{passive: false}})</script>"""


async def test_the_wheel_turns_by_pixels_with_keys_held_at_a_point(on: On) -> None:
    async with on(MAP) as hand:
        at = Point(x=150, y=100)
        outcome = await hand.act(Scroll(target=at, direction="up", px=120, modifiers=("Control",)))
        [turned] = await told(hand, "wheel")
        assert (turned["by"], turned["held"], turned["on"], turned["trusted"]) == (-120, "Control", "map", True)
        assert [each["type"] for each in await told(hand, "keydown", "keyup")] == ["keydown", "keyup"]
        assert "with Control held" in outcome.sentence


async def test_the_page_and_a_container_scroll_by_pixels(on: On) -> None:
    async with on(MAP) as hand:
        outcome = await hand.act(Scroll(direction="down", px=130))
        assert await hand.js("scrollY") == 130
        assert "by 130 px" in outcome.sentence
        await hand.act(Scroll(target=hand.number("First"), direction="down", px=45))
        assert await hand.js("list.scrollTop") == 45


async def test_keys_held_for_the_wheel_need_a_target(on: On) -> None:
    async with on(MAP) as hand:
        outcome = await hand.act(Scroll(modifiers=("Control",)))
        assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        assert await told(hand, "wheel", "keydown") == []

"""Claims about clicks on things that move in a canvas: the right one is hit, or nothing."""

from __future__ import annotations

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from tests.browser.movers import DRAWN_WAYS, drawn, red_disc
from vision_agent.actions import Click
from vision_agent.observation import Mark

SOON = SETTINGS.model_copy(update={"settle_deadline_s": 1.0, "action_deadline_s": 8.0})


async def look_for_red(hand: Hand) -> Mark:
    for _ in range(10):
        if (mark := red_disc(hand.seen)) is not None:
            return mark
        await hand.look()
    raise AssertionError(hand.seen.listing)


@pytest.mark.parametrize("way", DRAWN_WAYS)
@pytest.mark.parametrize("speed", [40, 120])
async def test_what_moves_in_a_canvas_is_hit_and_never_another(on: On, speed: int, way: str) -> None:
    async with on(drawn(speed, way), settings=SOON) as hand:
        said = await _clicked(hand, 8, until_hit=True)
        assert await hand.js("said") == ["red"], said


@pytest.mark.parametrize("way", DRAWN_WAYS)
async def test_what_moves_fast_in_a_canvas_is_hit_if_anything_is(on: On, way: str) -> None:
    async with on(drawn(300, way), settings=SOON) as hand:
        said = await _clicked(hand, 3)
        hits = await hand.js("said")
        assert hits == ["red"] * sum(each.startswith("Clicked") for each in said), said


async def _clicked(hand: Hand, times: int, *, until_hit: bool = False) -> list[str]:
    """What was said of clicks on the red disc. On a busy machine one may pass behind another for too long."""
    said = []
    for _ in range(times):
        mark = await look_for_red(hand)
        outcome = await hand.act(Click(target=mark.number))
        said.append(outcome.sentence)
        if until_hit and outcome.status == "done":
            break
        await hand.look()
    return said


async def test_the_number_of_what_moves_in_a_canvas_stays(on: On) -> None:
    # So slow that it does not get far between two looks on a busy machine.
    async with on(drawn(2), settings=SOON) as hand:
        first = await look_for_red(hand)
        for _ in range(3):
            await hand.look()
            assert (await look_for_red(hand)).number == first.number


async def test_of_two_equal_things_that_move_none_is_pressed(on: On) -> None:
    twins = drawn(120).replace("#26c", "#d22")
    async with on(twins, settings=SOON) as hand:
        marks = [mark for mark in hand.seen.marks if mark.source != "dom"]
        assert len(marks) == 3, hand.seen.listing
        outcomes = [await hand.act(Click(target=mark.number)) for mark in marks]
        assert [outcome.status for outcome in outcomes].count("refused") >= 2, [each.sentence for each in outcomes]
        assert {"red", "blue"}.isdisjoint(await hand.js("said")), [each.sentence for each in outcomes]


@pytest.mark.parametrize("type_", ["pointermove", "mousemove"])
async def test_another_thing_drawn_there_under_the_press_gets_nothing(on: On, type_: str) -> None:
    swapped = drawn(120).replace(
        "board.addEventListener('pointerdown'",
        f"""addEventListener('{type_}', () => {{
  [things[0][1], things[1][1]] = ['#26c', '#d22'];
  [places.red, places.blue] = [places.blue, places.red];
  for (const [name, colour] of things) {{
    pen.fillStyle = colour;
    pen.beginPath();
    pen.arc(...places[name], radius, 0, 7);
    pen.fill();
  }}
}});
board.addEventListener('pointerdown'""",
    )
    async with on(swapped, settings=SOON) as hand:
        mark = await look_for_red(hand)
        outcome = await hand.act(Click(target=mark.number))
        said = await hand.js("said")
        # From then on the red disc is the one that the page calls blue.
        assert said in ([], ["blue"]), outcome.sentence
        assert (outcome.status == "refused") is (not said), outcome.sentence


async def test_what_is_gone_from_the_canvas_is_not_pressed(on: On) -> None:
    async with on(drawn(120), settings=SOON) as hand:
        mark = await look_for_red(hand)
        await hand.js("things.shift()")
        outcome = await hand.act(Click(target=mark.number))
        assert outcome.status == "refused", outcome.sentence
        assert await hand.js("said") == [], outcome.sentence

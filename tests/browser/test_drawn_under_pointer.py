"""Claims about canvases that draw themselves anew when the pointer comes: what was meant is pressed, or nothing."""

from __future__ import annotations

import pytest

from tests.browser.hand import SETTINGS, On
from tests.browser.painted import BOARD, BUTTONS, drawn_at, grid_of, painted
from tests.browser.test_drawn_target import SEND, hits, send
from vision_agent.actions import Cell, Click, Drag, Hold, Point
from vision_agent.vision.ocr import can_read

needs_ocr = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
PATIENT = SETTINGS.model_copy(update={"ocr_deadline_s": 60.0})

SWAP = "[things[0].name, things[1].name] = [things[1].name, things[0].name]; paint();"
ONCE = "c.addEventListener('pointermove', () => {{ {} }}, {{ once: true }});"
MOMENTS = {
    "at once": SWAP,
    "in the next frame": f"requestAnimationFrame(() => {{ {SWAP} }});",
    "a moment later": f"setTimeout(() => {{ {SWAP} }}, 15);",
    "still later": f"setTimeout(() => {{ {SWAP} }}, 60);",
}
ROWS = tuple(
    {"name": name, "x": x, "y": 20 + 60 * row, "w": 90, "h": 36, "colour": colour}
    for row, person in enumerate(("Ann", "Bob", "Cyd"))
    for name, x, colour in ((person, 20, "#4a5568"), ("Delete", 420, "#c53030"))
)


@pytest.mark.parametrize("swap", MOMENTS.values(), ids=MOMENTS)
async def test_of_two_drawn_buttons_that_change_places_the_other_one_is_not_pressed(on: On, swap: str) -> None:
    async with on(painted(*BUTTONS, more=ONCE.format(swap))) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        pressed = await hits(hand)
        assert pressed == (["Send"] if outcome.status == "done" else []), outcome.sentence


@pytest.mark.parametrize("swap", MOMENTS.values(), ids=MOMENTS)
async def test_the_button_of_a_row_that_becomes_another_row_under_the_pointer_is_not_pressed(on: On, swap: str) -> None:
    others = swap.replace("things[1]", "things[2]")
    page = painted(*ROWS, more=ONCE.format(others))
    async with on(page) as hand:
        outcome = await hand.act(Click(target=drawn_at(hand.seen, 8 + 465, 8 + 38).number))
        [*names] = await hand.js("things.map((each) => each.name)")
        pressed = await hand.js("hits.filter((hit) => hit.kind === 'pointerdown').length")
        if names[0] == "Bob":
            assert (outcome.status, pressed) == ("refused", 0), outcome.sentence
        else:  # the press came first
            assert (outcome.status, pressed) == ("done", 1), outcome.sentence


@pytest.mark.parametrize(
    "paint",
    [
        "things[1].colour = '#63b3ed'; paint();",
        "paint(); pen.strokeStyle = '#d69e2e'; pen.lineWidth = 3; pen.strokeRect(200, 30, 120, 40);",
        "things[1].y -= 2; paint();",
        "paint(); pen.fillStyle = '#8888'; pen.fillRect(0, 50, 640, 1); pen.fillRect(260, 0, 1, 300);",
        "paint(); pen.fillStyle = '#ffffe0'; pen.fillRect(250, 80, 120, 40); pen.fillStyle = '#000'; "
        "pen.fillText('Sends it', 310, 100);",
    ],
    ids=["another colour", "a frame", "lifted", "a cross-hair", "a bubble beside it"],
)
async def test_a_button_that_is_only_painted_anew_under_the_pointer_is_pressed(on: On, paint: str) -> None:
    async with on(painted(*BUTTONS, more=ONCE.format(paint))) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert (outcome.status, await hits(hand)) == ("done", ["Send"]), outcome.sentence


async def test_a_cell_with_a_frame_and_a_shadow_under_the_pointer_and_a_bubble_over_it_is_pressed(on: On) -> None:
    paint = (
        "paint(); pen.shadowColor = '#0005'; pen.shadowBlur = 10; pen.fillStyle = '#e8d4a8'; "
        "pen.fillRect(431, 111, 28, 28); pen.shadowBlur = 0; "
        "pen.fillStyle = '#221d2b'; pen.fillRect(380, 76, 130, 26); "
        "pen.fillStyle = '#fff'; pen.fillText('Row 3, seat 3', 445, 89); "
        "pen.strokeStyle = '#fff'; pen.lineWidth = 2; pen.beginPath(); "
        "pen.roundRect(432, 112, 26, 26, 6); pen.stroke();"
    )
    async with on(painted(*BOARD, more=ONCE.format(paint))) as hand:
        outcome = await hand.act(Click(target=Cell(mark=grid_of(hand.seen).number, row=3, column=3)))
        assert (outcome.status, await hits(hand)) == ("done", ["3.3"]), outcome.sentence


async def test_a_drag_takes_hold_of_what_was_meant_or_of_nothing(on: On) -> None:
    async with on(painted(*BUTTONS, more=ONCE.format(SWAP))) as hand:
        outcome = await hand.act(Drag(source=send(hand), target=drawn_at(hand.seen, 8 + 100, 8 + 130).number))
        assert (outcome.status, await hits(hand)) in (("done", ["Send"]), ("refused", [])), outcome.sentence


async def test_a_press_is_not_held_on_what_took_the_place(on: On) -> None:
    async with on(painted(*BUTTONS, more=ONCE.format(SWAP))) as hand:
        outcome = await hand.act(Hold(target=send(hand), seconds=0.1))
        assert (outcome.status, await hits(hand)) in (("done", ["Send"]), ("refused", [])), outcome.sentence


async def test_at_a_point_words_that_become_others_under_the_pointer_are_not_pressed(on: On) -> None:
    async with on(painted(*BUTTONS, more=ONCE.format(SWAP.replace("name", "colour")))) as hand:
        mark = hand.seen.mark(send(hand))
        assert mark is not None
        x, y = SEND
        outcome = await hand.act(Click(target=hand.seen.marked.map.to_picture(Point(x=x, y=y))))
        assert outcome.status == "done", outcome.sentence  # in another colour it is the same place
    vanishes = ONCE.format("things.length = 0; paint();")
    async with on(painted(*BUTTONS, more=vanishes)) as hand:
        outcome = await hand.act(Click(target=hand.seen.marked.map.to_picture(Point(x=x, y=y))))
        assert (outcome.status, await hits(hand)) == ("refused", []), outcome.sentence
        assert "changed when the pointer came" in outcome.sentence


async def test_a_page_that_draws_its_own_pointer_is_pressed_and_drawn_on(on: On) -> None:
    ring = "c.addEventListener('pointermove', (event) => { paint(); pen.strokeStyle = '#000'; pen.beginPath(); "
    ring += "pen.arc(event.offsetX, event.offsetY, 9, 0, 7); pen.stroke(); });"
    async with on(painted(*BUTTONS, more=ring)) as hand:
        place = hand.seen.marked.map.to_picture(Point(x=8 + 400, y=8 + 200))
        outcome = await hand.act(Click(target=place))
        assert outcome.status == "done", outcome.sentence
        again = hand.seen.marked.map.to_picture(Point(x=SEND[0], y=SEND[1]))
        assert (await hand.act(Click(target=again))).status == "done"
        assert await hits(hand) == ["", "Send"]


NAMES_HIT = "window.clicked = []; c.addEventListener('click', (event) => clicked.push(at(event).name));"


@pytest.mark.parametrize(
    "swap", ["[things[0].x, things[1].x] = [things[1].x, things[0].x]; paint();", SWAP], ids=["places", "names"]
)
async def test_a_click_is_not_said_to_be_done_on_what_left_its_place_while_it_was_pressed(on: On, swap: str) -> None:
    more = f"{NAMES_HIT} c.addEventListener('pointerdown', () => {{ {swap} }});"
    alike = [{**each, "colour": "#2f855a"} for each in BUTTONS]
    async with on(painted(*alike, more=more)) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert await hand.js("clicked") == ["Save"]
        assert (outcome.status, outcome.refusal) == ("partial", "moved"), outcome.sentence
        assert "moved away while it was pressed" in outcome.sentence


@pytest.mark.parametrize(
    ("moment", "paint"),
    [
        ("pointerdown", "things[1].colour = '#1a4731'; paint();"),
        ("pointerdown", "things[1].y += 2; paint();"),
        ("pointerdown", "things[1].name = 'Sent'; paint();"),
        ("pointerdown", "paint(); pen.fillStyle = '#fff6'; pen.beginPath(); pen.arc(250, 50, 22, 0, 7); pen.fill();"),
        ("click", SWAP),
    ],
    ids=["darker", "sunk", "another word", "a ripple", "moved by the click"],
)
async def test_a_click_on_what_answers_the_press_in_its_place_is_done(on: On, moment: str, paint: str) -> None:
    more = f"{NAMES_HIT} c.addEventListener('{moment}', () => {{ {paint} }});"
    async with on(painted(*BUTTONS, more=more)) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert len(await hand.js("clicked")) == 1
        assert outcome.status == "done", outcome.sentence


GROWS = """c.addEventListener('pointermove', () => {{ paint(); const on = {now};
  pen.fillStyle = on.colour; pen.fillRect(on.x - {by}, on.y - {by}, on.w + 2 * {by}, on.h + 2 * {by});
  pen.fillStyle = '#fff'; pen.font = '{font}'; pen.fillText(on.name, on.x + on.w / 2, on.y + on.h / 2); {more} }});"""
BOLDER = "900 17px sans-serif"


def hovered(now: str = "things[1]", by: int = 3, font: str = BOLDER, more: str = "") -> str:
    """Script that draws the second button larger and bolder under the pointer, as `now`."""
    return GROWS.format(now=now, by=by, font=font, more=more)


@needs_ocr
@pytest.mark.parametrize(
    "more",
    [hovered(), hovered("{ ...things[1], colour: '#276749' }"), hovered(by=0), hovered(font="bold 16px sans-serif")],
    ids=["larger and bolder", "and darker", "bolder", "larger"],
)
async def test_a_drawn_button_that_grows_or_becomes_bold_under_the_pointer_is_pressed(on: On, more: str) -> None:
    async with on(painted(*BUTTONS, more=more), settings=PATIENT) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert (outcome.status, await hits(hand)) == ("done", ["Send"]), outcome.sentence


@needs_ocr
@pytest.mark.parametrize(
    ("buttons", "more"),
    [
        (BUTTONS, hovered("{ ...things[1], name: 'Sand' }")),
        (BUTTONS, hovered("{ ...things[1], name: 'Send all' }")),
        (BUTTONS, hovered(more="pen.fillRect(290, 42, 14, 14);")),
        (BUTTONS, hovered("(things[0].name = 'Drop', paint(), things[1])")),
        (({**BUTTONS[0], "name": "Send"}, *BUTTONS[1:]), hovered()),
        (BUTTONS, hovered("{ ...things[1], x: 206 }")),
    ],
    ids=["another word", "more words", "a sign comes into it", "another button changes", "two of one name", "it moves"],
)
async def test_what_becomes_another_thing_as_it_grows_under_the_pointer_is_not_pressed(
    on: On, buttons: tuple[dict[str, object], ...], more: str
) -> None:
    async with on(painted(*buttons, more=more), settings=PATIENT) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert (outcome.status, await hits(hand)) == ("refused", []), outcome.sentence

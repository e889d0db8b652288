"""Claims about acting on what is drawn: it is hit, or refused with a reason; its neighbour never is."""

# ruff: noqa: E501  # a page on one line reads better than one cut in pieces

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.hand import SETTINGS, Hand, On
from tests.browser.painted import BOARD, BUTTONS, drawn_at, grid_of, painted
from vision_agent.actions import (
    Action,
    Cell,
    Check,
    Click,
    Drag,
    Extract,
    Hover,
    Offset,
    Point,
    Press,
    Scroll,
    Type,
    Zoom,
)
from vision_agent.vision.ocr import can_read

SEND = (8 + 230, 8 + 40)


async def hits(hand: Hand, kind: str = "pointerdown") -> list[str]:
    found: list[dict[str, Any]] = await hand.js("hits")
    return [hit["name"] for hit in found if hit["kind"] == kind]


def send(hand: Hand) -> int:
    return drawn_at(hand.seen, *SEND).number


async def test_a_click_on_a_drawn_button_hits_it_and_says_what_changed(on: On) -> None:
    async with on(painted(*BUTTONS, more="c.onclick = () => { things[0].colour = '#111'; paint(); }")) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert await hits(hand) == ["Send"]
        assert (outcome.status, outcome.effect, outcome.rung) == ("done", "changed", 4)
        assert '3% of mark 1 (img "Board") changed, within (47, 37) to (169, 79)' in outcome.sentence


async def test_a_click_that_does_nothing_is_known_to(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert outcome.effect == "no_effect"
        assert await hits(hand) == ["Send"]


@pytest.mark.parametrize(
    ("more", "heard"), [({"count": 2}, "dblclick"), ({"button": "right"}, "contextmenu")], ids=["double", "right"]
)
async def test_other_clicks_reach_it_too(on: On, more: dict[str, Any], heard: str) -> None:
    async with on(painted(*BUTTONS)) as hand:
        outcome = await hand.act(Click(target=send(hand), **more))
        assert outcome.status == "done", outcome.sentence
        assert await hits(hand, heard) == ["Send"]


async def test_a_drag_in_a_drawing_goes_on_although_the_press_shows_tools_beside_it(on: On) -> None:
    shows = "c.addEventListener('pointerdown', () => { tools.textContent = 'Selected shape actions'; });"
    page = f"<section>{painted(*BUTTONS, more=shows)}<p id=tools>Hold the wheel to move</p></section>"
    async with on(page) as hand:
        outcome = await hand.act(Drag(source=send(hand), target=drawn_at(hand.seen, 60, 50).number))
        assert outcome.status == "done", outcome.sentence
        assert ((await hits(hand))[-1:], (await hits(hand, "pointerup"))[-1:]) == (["Send"], ["Save"])


@pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")
async def test_what_is_not_dropped_on_a_drawn_bin_because_of_the_words_beside_it_is_dropped_by_an_offset(
    on: On,
) -> None:
    shows = "c.addEventListener('pointerdown', () => { tools.textContent = 'Selected shape actions'; });"
    things = BUTTONS[0], {**BUTTONS[1], "name": "Bin"}
    page = f"<section>{painted(*things, more=shows)}<p id=tools>Hold the wheel to move</p></section>"
    async with on(page) as hand:
        refused = await hand.act(Drag(source=drawn_at(hand.seen, 60, 50).number, target=send(hand)))
        assert (refused.status, (await hits(hand, "pointerup"))[-1:]) == ("partial", ["Save"])
        assert "drag by an offset, which only names a place: by (160, 0)" in refused.sentence
        await hand.look()
        await hand.act(Drag(source=drawn_at(hand.seen, 60, 50).number, target=Offset(right=160, down=0)))
        assert (await hits(hand, "pointerup"))[-1:] == ["Bin"]


async def test_keys_are_held_from_before_the_press_of_a_drag_until_after_its_release(on: On) -> None:
    notes = """const held = []; for (const kind of ['pointerdown', 'pointermove', 'pointerup'])
      c.addEventListener(kind, (event) => event.buttons + held.length && held.push(
        `${kind} ${event.shiftKey ? 'Shift' : ''} ${event.altKey ? 'Alt' : ''}`));
      addEventListener('keyup', ({ key }) => held.push(`up ${key}`)); window.held = held;"""
    async with on(painted(*BUTTONS, more=notes)) as hand:
        drag = Drag(source=send(hand), target=drawn_at(hand.seen, 60, 50).number, modifiers=("Shift", "Alt"))
        outcome = await hand.act(drag)
        assert outcome.status == "done", outcome.sentence
        assert "with Shift+Alt held" in outcome.sentence
        told = await hand.js("[...new Set(held)]")
        assert told == ["pointerdown Shift Alt", "pointermove Shift Alt", "pointerup Shift Alt", "up Alt", "up Shift"]


async def test_the_wheel_turns_over_it_and_a_drag_goes_from_one_to_another(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        await hand.act(Scroll(target=send(hand)))
        assert set(await hits(hand, "wheel")) == {"Send"}
        await hand.look()
        outcome = await hand.act(Drag(source=send(hand), target=drawn_at(hand.seen, 60, 50).number))
        assert outcome.status == "done", outcome.sentence
        assert ((await hits(hand))[-1:], (await hits(hand, "pointerup"))[-1:]) == (["Send"], ["Save"])


async def test_keys_go_to_the_canvas_after_a_press_on_the_thing(on: On) -> None:
    async with on(painted(*BUTTONS, more="c.onkeydown = (event) => { document.title += event.key; }")) as hand:
        outcome = await hand.act(Press(keys="a", target=send(hand)))
        assert outcome.status == "done", outcome.sentence
        assert await hits(hand) == ["Send"]
        await hand.look()
        await hand.act(Type(target=send(hand), text="bc", clear=False))
        assert (await hand.page.title()).replace("Control", "").replace("End", "") == "abc"


@pytest.mark.parametrize("scale", [1, 1.25, 0.8])
@pytest.mark.parametrize("sharp", [1, 3])
async def test_a_cell_is_hit_in_its_middle(on: On, scale: float, sharp: float) -> None:
    async with on(painted(*BOARD, style=f"transform:scale({scale});transform-origin:0 0", sharp=sharp)) as hand:
        grid = grid_of(hand.seen)
        for row, column in ((1, 1), (3, 5), (6, 6)):
            outcome = await hand.act(Click(target=Cell(mark=grid.number, row=row, column=column)))
            assert outcome.status == "done", outcome.sentence
            await hand.look()
        found = [hit for hit in await hand.js("hits") if hit["kind"] == "pointerdown"]
        assert [hit["name"] for hit in found] == ["1.1", "3.5", "6.6"]
        assert all(abs(hit[axis] - 15) <= 2 for hit in found for axis in "xy")


async def test_a_grid_as_a_whole_is_no_target_and_what_it_has_not_is_refused(on: On) -> None:
    async with on(painted(*BUTTONS, *BOARD)) as hand:
        grid = grid_of(hand.seen).number
        whole = await hand.act(Click(target=grid))
        assert (whole.refusal, "name one of its cells" in whole.sentence) == ("ambiguous", True)
        beyond = await hand.act(Click(target=Cell(mark=grid, row=7, column=1)))
        assert (beyond.refusal, "6 rows and 6 columns" in beyond.sentence) == ("unknown_mark", True)
        other = await hand.act(Click(target=Cell(mark=send(hand), row=1, column=1)))
        assert (other.refusal, "has no rows and columns" in other.sentence) == ("unknown_mark", True)
        assert await hits(hand) == []


async def test_another_thing_in_its_place_is_not_pressed(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        await hand.js("things[1].name = 'Delete', paint()")
        outcome = await hand.act(Click(target=send(hand)))
        assert (outcome.refusal, await hits(hand)) == ("moved", [])
        assert "what the picture shows there has changed" in outcome.sentence


async def test_what_has_moved_a_little_is_followed(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        await hand.js("things[1].x += 70, things[1].y += 40, paint()")
        outcome = await hand.act(Click(target=send(hand)))
        assert outcome.status == "done", outcome.sentence
        assert await hits(hand) == ["Send"]


async def test_two_that_changed_places_are_each_found_where_they_are(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        await hand.js("[things[1].y, things[2].y, things[1].x, things[2].x] = [110, 30, 40, 200], paint()")
        outcome = await hand.act(Click(target=send(hand)))
        # Farther than a thing is followed: refused, and never the one that is there now.
        assert (outcome.refusal, await hits(hand)) == ("moved", [])


async def test_of_two_that_look_alike_none_is_pressed_when_both_have_moved(on: On) -> None:
    twins = [{"name": "", "x": 100 + 70 * n, "y": 60, "w": 40, "h": 30, "colour": "#2f855a"} for n in (0, 1)]
    async with on(painted(*twins)) as hand:
        number = drawn_at(hand.seen, 8 + 110, 8 + 70).number
        await hand.js("things.forEach((thing) => { thing.y += 50; }), paint()")
        outcome = await hand.act(Click(target=number))
        assert (outcome.refusal, await hits(hand)) == ("moved", [])


async def test_what_runs_too_fast_is_not_pressed_where_it_was(on: On) -> None:
    # By the golden section of its way: wherever two pictures fall in time, it is elsewhere in each.
    running = "setInterval(() => { things[1].y = 30 + (things[1].y - 30 + 123.6) % 200; paint(); }, 10);"
    async with on(
        painted(*BUTTONS, more=running), settings=SETTINGS.model_copy(update={"settle_deadline_s": 0.3})
    ) as hand:
        mark = next((mark for mark in hand.seen.marks if mark.moves), None)
        assert mark is not None, hand.seen.listing
        outcome = await hand.act(Click(target=mark.number))
        # On a busy machine it may stand still for long enough, and is hit.
        assert (outcome.refusal, await hits(hand)) in (("moved", []), (None, ["Send"]))


async def test_what_glides_slowly_is_followed_and_hit(on: On) -> None:
    # By frames, not by the clock: on a busy machine both the page and the pictures of it become slower.
    gliding = """let frames = 0;
        const glide = () => {
          if (++frames % 3 === 0) { things[1].x = Math.min(things[1].x + 1, 400); paint(); }
          requestAnimationFrame(glide);
        };
        glide();"""
    async with on(
        painted(*BUTTONS, more=gliding), settings=SETTINGS.model_copy(update={"settle_deadline_s": 0.3})
    ) as hand:
        mark = drawn_at(hand.seen, 8 + 280, 8 + 40)
        outcome = await hand.act(Click(target=mark.number))
        assert outcome.status == "done", outcome.sentence
        assert await hits(hand) == ["Send"]


async def test_it_is_hit_where_it_is_after_the_page_was_scrolled(on: On) -> None:
    async with on(painted(*BUTTONS) + "<div style='height:3000px'>") as hand:
        await hand.js("scrollTo(0, 25)")
        assert (await hand.act(Click(target=send(hand)))).status == "done"
        await hand.look()
        number = drawn_at(hand.seen, SEND[0], SEND[1] - 25).number
        await hand.js("scrollTo(0, 1500)")
        outcome = await hand.act(Click(target=number))
        assert outcome.status == "done", outcome.sentence
        assert await hits(hand) == ["Send", "Send"]


async def test_what_came_over_it_is_named(on: On) -> None:
    async with on(painted(*BUTTONS)) as hand:
        await hand.js(
            "document.body.insertAdjacentHTML('beforeend', '<div role=dialog style=\"position:fixed;inset:0;background:#fff\"><h2>Cookies</h2></div>')"
        )
        outcome = await hand.act(Click(target=send(hand)))
        assert (outcome.refusal, await hits(hand)) == ("covered", [])
        assert "Cookies" in outcome.sentence


@pytest.mark.parametrize("change", ["c.remove()", "c.style.width = '400px'"])
async def test_on_a_surface_that_is_another_nothing_is_pressed(on: On, change: str) -> None:
    async with on(painted(*BUTTONS)) as hand:
        await hand.js(change)
        outcome = await hand.act(Click(target=send(hand)))
        assert outcome.refusal in ("gone", "moved")
        assert await hits(hand) == []


@pytest.mark.parametrize(
    "action",
    [lambda number: Check(mark=number, checked=True), lambda number: Extract(mark=number, json_schema="{}")],
    ids=["check", "extract"],
)
async def test_what_only_an_element_can_is_refused_with_a_reason(on: On, action: Any) -> None:
    async with on(painted(*BUTTONS)) as hand:
        asked: Action = action(send(hand))
        outcome = await hand.act(asked)
        assert outcome.refusal == "unsupported"


async def test_two_looks_with_a_grid_hit_a_place_within_a_few_pixels(on: On) -> None:
    goal = (473.0, 221.0)  # of the canvas, which begins at (8, 8)
    async with on(painted(*BUTTONS)) as hand:
        await hand.act(Zoom(target=hand.number("Board"), grid=True))
        for is_last in (False, True):
            await hand.look()
            grid = next(mark for mark in hand.seen.marks if mark.grid is not None and mark.surface is None)
            assert grid.grid is not None
            cell = next(
                Cell(mark=grid.number, row=row, column=column)
                for row, column, x, y, w, h in grid.grid.cells
                if x <= goal[0] + 8 < x + w and y <= goal[1] + 8 < y + h
            )
            outcome = await hand.act(Click(target=cell) if is_last else Zoom(target=cell, grid=True))
            assert outcome.status == "done", outcome.sentence
        [hit] = [hit for hit in await hand.js("hits") if hit["kind"] == "pointerdown"]
        assert abs(hit["x"] - goal[0]) <= 6
        assert abs(hit["y"] - goal[1]) <= 6


async def test_a_closer_look_marks_what_is_too_small_from_afar_and_it_is_hit(on: On) -> None:
    tiny = [
        {"name": f"n{n}", "x": 400 + 9 * n, "y": 200, "w": 5, "h": 5, "colour": "#222", "bare": True} for n in range(4)
    ]
    async with on(painted(*BUTTONS, *tiny)) as hand:
        kept = send(hand)
        await hand.act(Zoom(target=Point(x=380, y=180), to=Point(x=480, y=240)))
        await hand.look()
        assert hand.seen.change.gone == ()
        mark = drawn_at(hand.seen, 8 + 400 + 18 + 2, 8 + 202)
        outcome = await hand.act(Click(target=mark.number))
        assert outcome.status == "done", outcome.sentence
        assert await hits(hand) == ["n2"]
        await hand.look()
        assert send(hand) == kept


async def test_the_pointer_rests_on_it(on: On) -> None:
    async with on(painted(*BUTTONS, more="c.onpointermove = (event) => { document.title = at(event).name; }")) as hand:
        outcome = await hand.act(Hover(target=send(hand)))
        assert outcome.status == "done", outcome.sentence
        assert await hand.page.title() == "Send"


async def test_one_that_changed_is_not_taken_for_its_twin_beside_it(on: On) -> None:
    twins = [{"name": "", "x": 100 + 70 * n, "y": 60, "w": 40, "h": 30, "colour": "#2f855a"} for n in (0, 1)]
    async with on(painted(*twins)) as hand:
        number = drawn_at(hand.seen, 8 + 110, 8 + 70).number
        await hand.js("things[0].colour = '#c53030', things[0].name = 'taken', paint()")
        outcome = await hand.act(Click(target=number))
        assert (outcome.refusal, await hits(hand)) == ("moved", [])


async def test_a_wide_row_is_told_by_its_words_wherever_they_stand_in_it(on: On) -> None:
    rows = [{"name": "", "x": 40, "y": 40 + 50 * n, "w": 560, "h": 40, "colour": "#dde6f0"} for n in range(4)]
    words = [{"name": f"Mail {n}", "x": 50, "y": 45 + 50 * n, "w": 120, "h": 30, "colour": "#345"} for n in range(4)]
    async with on(painted(*rows, *words)) as hand:
        row = next(mark for mark in hand.seen.marks if mark.source != "dom" and mark.box.width > 500)
        await hand.js("things.slice(4).forEach((each) => { each.y += 50; }), paint()")
        outcome = await hand.act(Click(target=row.number))
        assert (outcome.refusal, await hits(hand)) == ("moved", [])


async def test_what_came_into_the_place_of_an_alike_one_is_not_pressed(on: On) -> None:
    lines = [{"name": f"Row {n}", "x": 40, "y": 30 + 60 * n, "w": 200, "h": 36, "colour": "#345"} for n in range(4)]
    bins = [{"name": "", "x": 250, "y": 30 + 60 * n, "w": 36, "h": 36, "colour": "#c53030"} for n in range(4)]
    # The second row goes, and those below it close up.
    close_up = "things.splice(5, 1), things.splice(1, 1), things.forEach((each) => { if (each.y > 90) each.y -= 60; }), paint()"
    async with on(painted(*lines, *bins)) as hand:
        number = drawn_at(hand.seen, 8 + 260, 8 + 30 + 60 + 9).number
        await hand.js(close_up)
        outcome = await hand.act(Click(target=number))
        assert (outcome.refusal, await hits(hand)) == ("moved", [])


async def test_a_cell_whose_content_has_gone_to_another_is_not_followed_there(on: On) -> None:
    piece = {"name": "", "x": 340 + 90 + 5, "y": 20 + 60 + 5, "w": 20, "h": 20, "colour": "#fff", "bare": True}
    async with on(painted(*BOARD, piece)) as hand:
        grid = grid_of(hand.seen).number
        await hand.js("things.at(-1).x += 30, things.at(-1).y += 30, paint()")
        outcome = await hand.act(Click(target=Cell(mark=grid, row=2, column=3)))
        assert (outcome.refusal, await hits(hand)) == ("moved", [])


async def test_an_empty_cell_of_a_sheet_that_scrolled_is_not_taken_for_the_one_that_was_meant(on: On) -> None:
    sheet = [
        {
            "name": f"{row}" if column == 0 else "",
            "x": 20 + 60 * column,
            "y": 10 + 30 * row,
            "w": 58,
            "h": 28,
            "colour": "#557",
        }
        for row in range(8)
        for column in range(5)
    ]
    async with on(painted(*sheet)) as hand:
        grid = grid_of(hand.seen).number
        await hand.js(
            "things.forEach((each) => { if (each.name) each.name = String(Number(each.name) + 1); }), paint()"
        )
        outcome = await hand.act(Click(target=Cell(mark=grid, row=4, column=4)))
        assert (outcome.refusal, await hits(hand)) == ("moved", [])


async def test_of_two_actions_the_second_is_done_where_its_own_place_is_as_it_was(on: On) -> None:
    mine = "c.onclick = (event) => { const name = at(event).name; things.find((each) => each.name === name).colour = '#111'; paint(); };"
    async with on(painted(*BUTTONS, more=mine)) as hand:
        save, stop = (drawn_at(hand.seen, *at).number for at in ((60, 50), (60, 130)))
        for number in (save, stop):
            outcome = await hand.act(Click(target=number))
            assert outcome.status == "done", outcome.sentence
        assert await hits(hand) == ["Save", "Stop"]


async def test_a_surface_in_a_scrolled_box_is_brought_into_view(on: On) -> None:
    body = f"<div style='height:260px;overflow:auto'><div style='height:20px'></div>{painted(*BUTTONS)}<div style='height:900px'></div></div>"
    async with on(body) as hand:
        number = drawn_at(hand.seen, 8 + 230, 8 + 20 + 40).number
        await hand.js("document.querySelector('div').scrollTop = 700")
        outcome = await hand.act(Click(target=number))
        assert outcome.status == "done", outcome.sentence
        assert await hits(hand) == ["Send"]


async def test_what_leads_to_another_page_is_said_to_and_no_change_of_the_canvas(on: On) -> None:
    async with on(
        painted(*BUTTONS, more="c.onclick = () => { location = '/next'; };"), {"/next": "<h1>Next</h1>"}
    ) as hand:
        outcome = await hand.act(Click(target=send(hand)))
        assert outcome.effect == "navigated"
        assert "changed, within" not in outcome.sentence


async def test_what_is_dropped_on_a_surface_that_went_away_is_brought_back(on: On) -> None:
    away = "c.onpointermove = (event) => { if (event.buttons) c.style.marginTop = '80px'; };"
    async with on(painted(*BUTTONS, more=away)) as hand:
        outcome = await hand.act(Drag(source=send(hand), target=drawn_at(hand.seen, 60, 50).number))
        assert (outcome.refusal, "moved away while" in outcome.sentence) == ("moved", True)

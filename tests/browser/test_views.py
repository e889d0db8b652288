"""Claims about the view that a surface has of its own: how far it moved is told from the pixels; nothing is clicked.

The page's own log (`heard`) and its own state (`view`) say what arrived and what is shown.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from pydantic import SecretStr

from tests.browser.hand import SETTINGS, Hand
from tests.conftest import Server
from vision_agent.actions import Click, Drag, FindOn, LookAt, Magnify, Offset, Pan, PictureArea, Point, Scroll, Type
from vision_agent.browser import live
from vision_agent.settings import ObserveSettings
from vision_agent.types import Secret
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.ocr import can_read

FOLDER = Path(__file__).parents[2] / "fixtures" / "views"
BLIND = SETTINGS.model_copy(update={"ocr_deadline_s": 0})
"""Without OCR: these claims need no words."""

View = Callable[..., AbstractAsyncContextManager[Hand]]


@pytest.fixture
def view(page: Page, serve: Server) -> View:
    """`async with view("map.html") as hand`: one of the pages, looked at once."""

    @asynccontextmanager
    async def opened(path: str, settings: ObserveSettings = BLIND) -> AsyncIterator[Hand]:
        address = serve.folder(FOLDER)
        async with live.attach(page, settings, ImageLimits(), start_url=f"{address}/") as browser:
            await browser.open(f"{address}/{path}")
            hand = Hand(browser, address)
            await hand.look()
            yield hand

    return opened


async def clicks(hand: Hand) -> list[Any]:
    heard: list[Any] = await hand.js("heard.filter(({ type }) => type.includes('click')).map(({ type }) => type)")
    return heard


# --- pan --------------------------------------------------------------------------------------------------------------


async def test_a_pan_says_how_far_the_map_went_and_the_page_gets_no_click(view: View) -> None:
    async with view("map.html") as hand:
        outcome = await hand.act(Pan(mark=hand.number("Map"), by=Offset(right=-200, down=60)))
        assert outcome.status == "done", outcome.sentence
        assert "what it shows moved 200 px to the left and 60 px down" in outcome.sentence
        assert await hand.js("[view.x, view.y]") == [200, -60]
        assert await hand.js("heard.map(({ type }) => type)") == ["pointerdown", "mousedown", "pointerup", "mouseup"]
        assert await hand.js("heard.every(({ trusted }) => trusted)")


async def test_a_pan_beyond_the_edge_says_where_the_map_ended(view: View) -> None:
    async with view("map.html") as hand:
        outcome = await hand.act(Pan(mark=hand.number("Map"), by=Offset(right=-1500, down=0)))
        assert "moved 700 px to the left, and no farther" in outcome.sentence
        assert await hand.js("[view.x, view.y, view.taps]") == [700, 0, 0]


async def test_a_pan_of_what_a_drag_draws_on_is_no_move(view: View) -> None:
    async with view("map.html?drag=draw") as hand:
        outcome = await hand.act(Pan(mark=hand.number("Map"), by=Offset(right=-200, down=0)))
        assert (outcome.status, outcome.refusal) == ("partial", "changed")
        assert "not by moving it" in outcome.sentence or "only a part" in outcome.sentence
        assert await hand.js("[view.x, view.y]") == [0, 0]


@pytest.mark.parametrize("what", ["mark", "thing"])
async def test_only_a_surface_is_panned(view: View, what: str) -> None:
    async with view("plan.html") as hand:
        if what == "mark":
            outcome = await hand.act(Pan(mark=hand.number("Save"), by=Offset(right=40, down=0)))
            assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        else:
            outcome = await hand.act(Pan(mark=99, by=Offset(right=40, down=0)))
            assert (outcome.status, outcome.refusal) == ("refused", "unknown_mark")
        assert await hand.js("heard") == []


# --- magnify ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2, 0.5])
async def test_the_wheel_magnifies_about_a_point_and_the_outcome_says_how_much(view: View, factor: float) -> None:
    async with view("map.html") as hand:
        outcome = await hand.act(Magnify(target=hand.number("Map"), factor=factor))
        assert outcome.status == "done", outcome.sentence
        scale = await hand.js("view.scale")
        assert scale == pytest.approx(factor, rel=0.05)
        said = float(outcome.sentence.split("shows is ")[1].split(" times")[0].removeprefix("about "))
        assert said == pytest.approx(scale, rel=0.05)
        assert await clicks(hand) == []


async def test_where_the_wheel_scrolls_it_magnifies_with_control(view: View) -> None:
    async with view("map.html?wheel=pan") as hand:
        outcome = await hand.act(Magnify(target=hand.number("Map"), factor=1.5))
        assert "with Control held" in outcome.sentence
        assert await hand.js("view.scale") == pytest.approx(1.5, rel=0.05)
        assert await hand.js("[Math.round(view.x + 400 / view.scale), Math.round(view.y + 250 / view.scale)]") == [
            400,
            250,
        ]


async def test_what_no_wheel_magnifies_is_said_and_left_as_it_was(view: View) -> None:
    async with view("plan.html") as hand:
        outcome = await hand.act(Magnify(target=hand.number("Plan"), factor=0.5))
        assert outcome.refusal == "unsupported"
        assert "scrolls what is around" in outcome.sentence
        assert await hand.js("[frame.scrollLeft, frame.scrollTop]") == [0, 0]


async def test_two_fingers_pinch_and_turn(view: View) -> None:
    async with view("map.html") as hand:
        outcome = await hand.act(Magnify(target=hand.number("Map"), factor=1.5, touch=True))
        assert outcome.status == "done", outcome.sentence
        assert float(outcome.sentence.split("shows is ")[1].split(" times")[0]) == pytest.approx(1.5, rel=0.05)
        await hand.look()
        turned = await hand.act(Magnify(target=hand.number("Map"), factor=1, degrees=40, touch=True))
        assert "turned 40° clockwise" in turned.sentence
        pinched = await hand.js(
            "heard.filter(({ type }) => type === 'pinched').map(({ apart, turn }) => [apart, turn])"
        )
        assert pinched == [pytest.approx([1.5, 0], abs=0.01), pytest.approx([1, 40], abs=0.5)]
        assert await hand.js("[view.scale, view.turn]") == pytest.approx([1.5, 40], abs=0.5)
        assert await clicks(hand) == []


# --- what a wheel, a drag and keys did --------------------------------------------------------------------------------


async def test_the_outcome_of_a_wheel_or_a_drag_says_how_far_the_content_went(view: View) -> None:
    async with view("sheet.html") as hand:
        outcome = await hand.act(Scroll(target=hand.number("Sheet"), px=312))
        assert "what it shows moved 312 px up" in outcome.sentence
        await hand.look()
        outcome = await hand.act(Scroll(target=hand.number("Sheet"), px=330, direction="right"))
        assert "what it shows moved 330 px to the left" in outcome.sentence
    async with view("map.html") as hand:
        outcome = await hand.act(Scroll(target=hand.number("Map"), px=200, direction="up"))
        assert "what it shows is 1.4" in outcome.sentence
        await hand.look()
        outcome = await hand.act(Drag(source=Point(x=600, y=500), target=Offset(right=90, down=-30)))
        assert "what it shows moved 90 px to the right and 30 px up" in outcome.sentence


async def test_a_stroke_is_not_called_a_move(view: View) -> None:
    async with view("map.html?drag=draw") as hand:
        outcome = await hand.act(Drag(source=Point(x=600, y=500), target=Offset(right=90, down=-30)))
        assert outcome.effect == "changed"
        assert "what it shows" not in outcome.sentence


# --- a look at one thing ----------------------------------------------------------------------------------------------


async def test_a_look_at_one_mark_lists_nothing_else_and_keeps_the_numbers(view: View) -> None:
    async with view("plan.html") as hand:
        save = hand.number("Save")
        outcome = await hand.act(LookAt(target=save))
        assert outcome.effect == "zoomed"
        seen = await hand.look()
        assert [mark.number for mark in seen.marks] == [save]
        assert "a look at one thing only" in seen.listing
        assert "Warehouse" not in seen.listing
        await hand.act(Click(target=save))
        assert await hand.js("heard") == [{"type": "saved"}]
        assert len((await hand.look()).marks) > 5, "the next look shows everything again"


async def test_an_area_is_looked_at_with_what_is_drawn_in_it(view: View) -> None:
    async with view("plan.html") as hand:
        bays = [mark for mark in hand.seen.marks if mark.surface]
        assert len(bays) == 4, "a surface in a scroller is searched too"
        await hand.act(LookAt(target=PictureArea(corner=Point(x=40, y=140), opposite=Point(x=400, y=300))))
        seen = await hand.look()
        assert {mark.name for mark in seen.marks if mark.source == "dom"} == {"Plan"}
        bay = max((mark for mark in seen.marks if mark.surface), key=lambda mark: mark.box.width)
        await hand.act(Click(target=bay.number))
        assert await hand.js("heard") == [{"type": "click", "name": "Bay A1"}]


async def test_a_large_surface_is_looked_at_in_tiles_whose_marks_are_clicked(view: View) -> None:
    async with view("plan.html") as hand:
        plan = hand.number("Plan")
        names, tile, count = [], 1, 1
        while tile <= count:
            outcome = await hand.act(LookAt(target=plan, tile=tile))
            assert outcome.status == "done", outcome.sentence
            count = int(outcome.sentence.split(" of ")[1].split(" ")[0])
            seen = await hand.look()
            for bay in [mark for mark in seen.marks if mark.surface and mark.box.width > 140 and mark.box.height > 55]:
                clicked = await hand.act(Click(target=bay.number))
                assert clicked.status == "done", clicked.sentence
                names.append(await hand.js("document.title"))
                break
            await hand.look()
            tile += 1
        assert count == 12
        assert len(set(names)) >= 9
        beyond = await hand.act(LookAt(target=plan, tile=13))
        assert beyond.sentence.endswith("has 12 tiles, and no tile 13.")


# --- finding words ----------------------------------------------------------------------------------------------------

needs_ocr = pytest.mark.skipif(not can_read(), reason="the extra `ocr` is not installed")


@pytest.mark.skipif(can_read(), reason="the extra `ocr` is installed")
async def test_without_ocr_nothing_is_moved_to_find_words(view: View) -> None:
    async with view("map.html", SETTINGS) as hand:
        outcome = await hand.act(FindOn(mark=hand.number("Map"), text="Berlin"))
        assert (outcome.status, outcome.refusal) == ("refused", "unsupported")
        assert await hand.js("heard") == []


@needs_ocr
async def test_words_are_found_on_a_map_without_a_click_and_where_they_are_is_said(view: View) -> None:
    async with view("map.html", SETTINGS) as hand:
        outcome = await hand.act(FindOn(mark=hand.number("Map"), text="Elster"))
        assert outcome.status == "done", outcome.sentence
        assert outcome.sentence.startswith('Found "Elster" on ')
        x, y = map(int, outcome.sentence.split(" at (")[1].split(")")[0].split(", "))
        at = await hand.js("[980 - view.x + 21, 320 - view.y + 81]")
        assert abs(x - at[0] - 36) < 15
        assert abs(y - at[1]) < 8
        assert await clicks(hand) == []


@needs_ocr
async def test_a_surface_that_the_wheel_does_not_move_is_left_alone(view: View) -> None:
    async with view("map.html?wheel=none&drag=draw", SETTINGS) as hand:
        outcome = await hand.act(FindOn(mark=hand.number("Map"), text="Atlantis"))
        assert outcome.refusal == "unsupported"
        assert await hand.js("heard.filter(({ type }) => type !== 'wheel')") == []


@needs_ocr
@pytest.mark.thorough
async def test_words_that_are_nowhere_leave_the_map_as_it_was(view: View) -> None:
    async with view("map.html", SETTINGS) as hand:
        outcome = await hand.act(FindOn(mark=hand.number("Map"), text="Atlantis"))
        assert outcome.refusal == "unknown_mark"
        assert "it shows again what it showed before" in outcome.sentence
        assert await hand.js("[view.x, view.y]") == pytest.approx([0, 0], abs=3)
        assert await clicks(hand) == []


# --- typing into what is drawn ----------------------------------------------------------------------------------------


@needs_ocr
@pytest.mark.parametrize(
    ("query", "shown"),
    [("", 'it shows "Lisbon 1755" now'), ("?upper=1", 'it shows "LISBON 1755" now'), ("?mute=1", "Nothing changed")],
)
async def test_what_a_canvas_shows_after_typing_is_read_back(view: View, query: str, shown: str) -> None:
    async with view(f"ledger.html{query}", SETTINGS) as hand:
        outcome = await hand.act(Type(target=Point(x=240, y=180), text="Lisbon 1755", submit=True))
        assert outcome.status == "done", outcome.sentence
        assert await hand.js("heard.join('')") == "Lisbon 1755Enter"
        assert shown in outcome.sentence
        assert outcome.value == (None if query == "?mute=1" else shown.split('"')[1])


@pytest.mark.skipif(can_read(), reason="the extra `ocr` is installed")
async def test_without_ocr_the_outcome_says_that_nothing_was_read_back(view: View) -> None:
    async with view("ledger.html") as hand:
        outcome = await hand.act(Type(target=Point(x=240, y=180), text="Lisbon", submit=True))
        assert "not read back, because no OCR is installed" in outcome.sentence


# --- what the page says about a drawing -------------------------------------------------------------------------------


async def test_what_a_canvas_says_to_those_who_do_not_see_it_is_listed_as_data(view: View) -> None:
    async with view("twins.html") as hand:
        last = hand.seen.listing.splitlines()[-1]
        surface = hand.number("Mixer")
        assert (
            f'{surface} also has, at no known place: button "Record track", button "Play all", button "Export"' in last
        )
        assert f"{surface} announces: \"Bar 12 of 48 • (3) 'pay'\"" in last
        assert "Secret door" not in hand.seen.listing
        assert last.count("Ready") == 0, "what shows is no announcement"


@needs_ocr
async def test_a_drawn_thing_gets_its_name_role_and_state_from_the_canvas_and_is_clicked_where_it_is(
    view: View,
) -> None:
    async with view("twins.html", SETTINGS) as hand:
        record = hand.seen.mark(hand.number("Record track"))
        assert record is not None
        assert (record.looks_like, record.state.checked, record.shows) == ("button", "true", "")
        assert "named by the page" in record.evidence
        settings = hand.seen.mark(hand.number("Settings"))
        assert settings is not None
        assert "named by the page" not in settings.evidence
        for name in ("Record track", "Play all", "Settings"):
            await hand.act(Click(target=hand.number(name)))
            await hand.look()
        assert await hand.js("heard") == ["Record track", "Play all", "Settings"]
        assert hand.seen.listing.endswith("announces: \"Bar 12 of 48 • (3) 'pay'\"")
        assert 'button "Export"' in hand.seen.listing


@needs_ocr
async def test_where_the_page_names_a_thing_otherwise_than_it_paints_it_both_are_said(view: View) -> None:
    async with view("twins.html?paint=Recard+track", SETTINGS) as hand:
        record = hand.seen.mark(hand.number("Record track"))
        assert record is not None
        assert record.shows == "Recard track"
        assert 'shows="Recard track"' in hand.seen.listing


async def test_a_name_in_a_canvas_that_a_secret_is_in_is_not_listed(page: Page, serve: Server) -> None:
    body = "<canvas width=400 height=200 aria-label=Pad><button>Code hunter4711</button><button>Go</button></canvas>"
    secret = Secret(name="code", value=SecretStr("hunter4711"))
    async with live.attach(page, BLIND, ImageLimits(), secrets=[secret]) as browser:
        await browser.open(serve({"/": body}))
        listing = (await browser.observe()).listing
        assert 'button "Go"' in listing
        assert "hunter4711" not in listing


async def test_the_parts_of_an_svg_chart_are_said_where_they_are_by_the_names_they_have(view: View) -> None:
    async with view("bars.html") as hand:
        said = hand.seen.listing
        for name in ("January, 45 mm", "February, 80 mm", "March, 20 mm"):
            assert said.count(name) == 1
        assert "Months" not in said
        assert hand.seen.marks == ()

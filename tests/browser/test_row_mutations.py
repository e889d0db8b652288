"""Claims about rows whose controls are called the same, on pages that change: nobody else's control is ever reached."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.browser.mutations import SETTINGS, Told
from tests.browser.row_mutations import (
    ALONE,
    EXTRAS,
    FOLDER,
    MANY,
    Case,
    Moment,
    begun,
    cases,
    is_hit,
    looked_at,
    play,
    trouble_of,
    unrelated,
    wrong,
)
from tests.conftest import Server
from vision_agent.actions import Click, Type
from vision_agent.browser import live
from vision_agent.browser.live import LiveBrowser
from vision_agent.types import Outcome
from vision_agent.vision.image_limits import ImageLimits

MEANT, UNRELATED = cases(), unrelated()
ALL = (*MEANT, *UNRELATED)
SAMPLE = {case.id for case in ALL[::21]}
"""What `make test` plays; `make test-all` plays them all."""

FAILING: dict[str, tuple[str, ...]] = {}
"""What does not hold yet, by the reason: a line goes when its cases hold."""


@dataclass(frozen=True)
class Stage:
    """One page that all cases play on, and where it finds them."""

    browser: LiveBrowser
    address: str


@pytest.fixture(scope="session")
async def rows(browser: Browser, serve: Server) -> AsyncIterator[Stage]:
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    async with live.attach(await context.new_page(), SETTINGS, ImageLimits()) as on:
        yield Stage(on, serve.folder(FOLDER))
    await context.close()


def _marks(name: str, *, is_sampled: bool) -> list[Any]:
    marks = [] if is_sampled else [pytest.mark.thorough]
    return marks + [pytest.mark.xfail(strict=True, reason=reason) for reason, ids in FAILING.items() if name in ids]


def _declared(case: Case) -> Any:
    return pytest.param(case, id=f"{case.kind}-{case.id}", marks=_marks(case.id, is_sampled=case.id in SAMPLE))


@pytest.mark.parametrize("case", [_declared(case) for case in MEANT])
async def test_only_the_row_that_was_meant_is_reached_or_the_act_is_refused(case: Case, rows: Stage) -> None:
    played = await play(case, rows.browser, rows.address)

    assert not played.trouble


@pytest.mark.parametrize("case", [_declared(case) for case in UNRELATED])
async def test_what_goes_on_beside_a_row_keeps_nobody_from_it(case: Case, rows: Stage) -> None:
    played = await play(case, rows.browser, rows.address)

    assert not played.trouble


# --- what is said of rows ---------------------------------------------------------------------------------------------


def _case(change: str, markup: str = "h3p", thing: str = "delete", **more: Any) -> Case:
    moment: Moment = "before"
    return replace(Case(change, moment, markup, 2, "click", thing, "refuse"), **more)


def _said_of(what: str, markups: tuple[str, ...], sampled: tuple[str, ...]) -> list[Any]:
    return [pytest.param(markup, marks=_marks(f"{what}-{markup}", is_sampled=markup in sampled)) for markup in markups]


# Of rows that are so long that one is in view at a time, the listing has nothing to tell apart.
IN_WORDS = tuple(each for each in MANY if each not in ("pictures", "product", "valued", "times", "long", "longend"))


@pytest.mark.parametrize("markup", _said_of("line", (*IN_WORDS, "product", "valued"), ("h3p", "grid", "heads")))
async def test_the_listing_says_whose_control_each_of_those_with_one_name_is(markup: str, rows: Stage) -> None:
    case = _case("redraw_fresh", markup, inner="h3p" if markup.startswith("in") else "")
    looked = await looked_at(case, rows.browser, rows.address)

    line = next(each for each in looked.seen.listing.splitlines() if each.startswith(f"{looked.mark.label_text}[:]"))

    shown = re.search("<button[^>]*>Delete ‹([^‹›]*)›", line)
    assert shown
    assert shown[1] in looked.who or looked.who in shown[1]


@pytest.mark.parametrize("markup", _said_of("exactly", ("bare",), ("bare",)))
async def test_the_listing_says_the_name_of_the_row_behind_that_of_the_control(markup: str, rows: Stage) -> None:
    looked = await looked_at(_case("redraw_fresh", markup), rows.browser, rows.address)

    assert "3[:]<button>Delete ‹Ann›" in looked.seen.listing.splitlines()
    assert "4[:]<button>Delete ‹Bob›" in looked.seen.listing.splitlines()


@pytest.mark.parametrize("markup", _said_of("column", ("matrix",), ("matrix",)))
async def test_the_listing_says_both_the_row_and_the_column_of_a_box(markup: str, rows: Stage) -> None:
    looked = await looked_at(_case("redraw_fresh", markup, "notify"), rows.browser, rows.address)

    line = next(each for each in looked.seen.listing.splitlines() if each.startswith(f"{looked.mark.label_text}[:]"))

    assert re.search("‹[^‹›]*Ann[^‹›]*›", line)
    assert re.search("‹[^‹›]*Push[^‹›]*›", line)


async def test_the_listing_says_nothing_beside_a_name_that_stands_there_once(rows: Stage) -> None:
    looked = await looked_at(_case("redraw_fresh"), rows.browser, rows.address)

    assert "1[:]<a>Inbox (3)" in looked.seen.listing.splitlines()


NOW_STANDS = ("bare", "h3p", "spans", "grid", "table", "ul", "dl", "heads", "closed", "fieldset", "hebrew")


@pytest.mark.parametrize("markup", _said_of("now stands", NOW_STANDS, ("h3p", "table")))
async def test_a_refusal_names_the_mark_beside_which_the_one_that_was_meant_now_stands(
    markup: str, rows: Stage
) -> None:
    case = _case("swap_texts", markup)
    looked = await looked_at(case, rows.browser, rows.address)
    others = [mark for mark in looked.seen.marks if mark.name == "Delete" and mark.number != looked.mark.number]

    played = await play(case, rows.browser, rows.address)

    assert not played.trouble
    assert played.outcome is not None
    name = re.escape(looked.who)
    assert re.search(
        f'"[^"]*{name}[^"]*" now stands (beside|over) mark {others[0].label_text}\\b', played.outcome.sentence
    )


@pytest.mark.parametrize("markup", ["h3p", "grid", "table"])
async def test_a_refusal_names_no_mark_where_the_one_that_was_meant_stands_nowhere(markup: str, rows: Stage) -> None:
    played = await play(_case("replace_text", markup, "edit"), rows.browser, rows.address)

    assert played.outcome is not None
    assert "now stands" not in played.outcome.sentence


# --- numbers ----------------------------------------------------------------------------------------------------------

_NUMBERED = ("bare", "h3p", "grid", "table", "ul", "dl", "heads", "closed", "frames", "pictures", "long")
NUMBERED = tuple(f"{markup}-{change}" for markup in _NUMBERED for change in ("replace_text", "replace_fresh"))
COUNTED = ("clock", "likes", "ago", "countdown", "badge")
FOLLOWED = ("bare", "h3p", "spans", "table", "ul", "heads", "closed")


@pytest.mark.parametrize("replaced", _said_of("number", NUMBERED, ("h3p-replace_text", "table-replace_fresh")))
async def test_a_row_that_stands_for_somebody_else_gets_another_number_or_is_told_as_changed(
    replaced: str, rows: Stage
) -> None:
    markup, change = replaced.split("-")
    looked = await looked_at(_case(change, markup), rows.browser, rows.address)
    await looked.frame.evaluate("name => changeAt(name, 'before', 0)", change)

    now = (await rows.browser.observe()).mark(looked.mark.number)

    assert now is None or now.change in ("new", "changed")


@pytest.mark.parametrize("markup", _said_of("follows", FOLLOWED, ("h3p",)))
async def test_a_number_goes_with_the_person_it_stood_for_when_all_rows_are_made_anew(markup: str, rows: Stage) -> None:
    looked = await looked_at(_case("reverse_fresh", markup), rows.browser, rows.address)
    await looked.frame.evaluate("changeAt('reverse_fresh', 'before', 0)")

    now = (await rows.browser.observe()).mark(looked.mark.number)

    place = await looked.frame.evaluate("whereIs('Ann')")
    assert now is None or abs(now.box.center.y - place["y"]) < now.box.height


@pytest.mark.parametrize("extra", _said_of("keeps", COUNTED, ("clock",)))
async def test_a_number_stays_and_nothing_is_told_when_only_a_clock_or_a_count_goes_on(extra: str, rows: Stage) -> None:
    looked = await looked_at(_case(extra, extra=EXTRAS[extra]), rows.browser, rows.address)
    await looked.frame.evaluate("name => changeAt(name, 'before', 0)", extra)

    now = (await rows.browser.observe()).mark(looked.mark.number)

    assert now is not None
    assert now.change == ""


# --- several acts on one look -----------------------------------------------------------------------------------------


async def test_a_field_that_was_filled_keeps_nobody_from_the_button_in_its_row(rows: Stage) -> None:
    looked = await looked_at(_case("own_field", "toolbar"), rows.browser, rows.address)
    amount = min(
        (mark for mark in looked.seen.marks if mark.name == "Amount"),
        key=lambda mark: abs(mark.box.center.y - looked.mark.box.center.y),
    )

    typed = await rows.browser.act(Type(target=amount.number, text="12"), looked.seen)
    clicked = await rows.browser.act(Click(target=looked.mark.number), looked.seen)

    assert (typed.status, clicked.status) == ("done", "done")


async def test_a_word_that_comes_into_a_row_after_an_act_keeps_nobody_from_the_next(rows: Stage) -> None:
    looked = await looked_at(_case("saving", "toolbar", "edit"), rows.browser, rows.address)
    more = min(
        (mark for mark in looked.seen.marks if mark.name == "More"),
        key=lambda mark: abs(mark.box.center.y - looked.mark.box.center.y),
    )
    await looked.frame.evaluate("addEventListener('click', UNRELATED.saving, { once: true })")

    first = await rows.browser.act(Click(target=more.number), looked.seen)
    second = await rows.browser.act(Click(target=looked.mark.number), looked.seen)

    assert (first.status, second.status) == ("done", "done")


# --- the suite itself -------------------------------------------------------------------------------------------------


def test_there_are_enough_cases_of_every_kind() -> None:
    kinds = Counter(case.kind for case in MEANT)

    assert len(MEANT) >= 600
    assert len(UNRELATED) >= 200
    assert min(kinds["hit"], kinds["refuse"]) >= 200
    assert len({case.id for case in ALL}) == len(ALL)
    assert {case.markup for case in MEANT} >= {*MANY, *ALONE, "matrix", "twins", "virtual", "framed"}
    assert {case.action for case in MEANT} == {"click", "type", "check", "select", "drag", "press"}
    assert {case.rows for case in MEANT} >= {1, 2, 3, 12}
    assert 50 <= len(SAMPLE) <= 70


def test_every_unrelated_change_must_hit() -> None:
    assert all(case.kind == "hit" and case.is_unrelated for case in UNRELATED)


def test_what_does_not_hold_yet_is_a_case_and_stands_in_one_line() -> None:
    named = [each for ids in FAILING.values() for each in ids]
    said = {f"line-{markup}" for markup in (*IN_WORDS, "product", "valued")}
    said |= {f"number-{replaced}" for replaced in NUMBERED} | {f"follows-{markup}" for markup in FOLLOWED}
    said |= {f"keeps-{extra}" for extra in COUNTED}
    said |= {"exactly-bare", "column-matrix", *(f"now stands-{markup}" for markup in NOW_STANDS)}

    assert set(named) <= {case.id for case in ALL} | said
    assert len(named) == len(set(named))


# --- the judge --------------------------------------------------------------------------------------------------------

CLICK = _case("swap_texts", kind="either")
PRESS_ON_ANN = (Told("pointerdown", "Ann", "", True), Told("mousedown", "Ann", "", True))
CLICK_ON_ANN = (*PRESS_ON_ANN, Told("pointerup", "Ann", "", True), Told("click", "Ann", "", True))


@pytest.mark.parametrize(
    ("told", "hits", "is_wrong"),
    [
        (CLICK_ON_ANN, True, False),
        (CLICK_ON_ANN * 2, False, False),
        ((Told("click", "Bob", "", True),), False, True),
        ((Told("pointerdown", "Bob", "", True),), False, True),
        ((Told("click", "name of Ann", "", True),), False, True),
        ((Told("click", "Ann", "", False),), False, True),
        ((Told("click", "nothing", "", True),), False, False),
        ((Told("keydown", "nothing", "a", True),), False, True),
        ((*PRESS_ON_ANN, Told("click", "Bob", "", True)), False, False),
        ((*CLICK_ON_ANN, Told("pointerdown", "Bob", "", True)), True, True),
        ((), False, False),
    ],
)
def test_whom_a_press_reaches_first_decides_whether_it_was_right(
    told: tuple[Told, ...], hits: bool, is_wrong: bool
) -> None:
    assert is_hit(CLICK, "Ann", told) is hits
    assert bool(wrong(CLICK, "Ann", told)) is is_wrong


def test_text_that_comes_into_another_field_after_the_click_is_wrong() -> None:
    typed = replace(CLICK, action="type", thing="note")

    assert wrong(typed, "Ann", (*CLICK_ON_ANN, Told("keydown", "Bob", "s", True)))
    assert wrong(typed, "Ann", (*CLICK_ON_ANN, Told("input", "Bob", "see you", True)))


def test_what_a_tick_sets_off_belongs_to_its_press() -> None:
    ticked = replace(CLICK, action="check", thing="notify")
    told = (*CLICK_ON_ANN, Told("input", "Bob", "true", True), Told("change", "Bob", "true", True))

    assert [each.type for each in begun(ticked, told)] == ["pointerdown"]


REFUSED = Outcome(status="refused", refusal="changed", sentence="no")
DONE = Outcome(status="done", effect="changed", sentence="yes")


@pytest.mark.parametrize(
    ("kind", "outcome", "told", "trouble"),
    [
        ("refuse", REFUSED, (), ""),
        ("refuse", DONE, CLICK_ON_ANN, "done, not refused"),
        ("hit", DONE, CLICK_ON_ANN, ""),
        ("hit", REFUSED, (), "refused as changed"),
        ("either", DONE, (), "done, but the page heard nothing"),
        ("either", REFUSED, PRESS_ON_ANN, "refused, but the page heard"),
        ("either", REFUSED, (), ""),
    ],
)
def test_an_outcome_that_the_page_denies_is_trouble(
    kind: Any, outcome: Outcome, told: tuple[Told, ...], trouble: str
) -> None:
    found = trouble_of(replace(CLICK, kind=kind), outcome, "Ann", told)

    assert found.startswith(trouble)
    assert bool(found) is bool(trouble)


def test_a_refusal_says_the_words_of_then_and_of_now() -> None:
    case, edited = replace(CLICK, kind="refuse"), {"then": "Ann", "now": "Bob"}
    said = REFUSED.model_copy(update={"sentence": 'the words beside mark 1 changed from "Ann Paper" to "Bob Stone"'})

    assert not trouble_of(case, said, "Ann", (), edited)
    assert trouble_of(case, REFUSED, "Ann", (), edited)

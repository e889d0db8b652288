"""Cases of pages that change between a look and an act, or under the hand: what was meant is hit, or the act refused.

Each case says beforehand which of the two it must be. What an act did is told by the page itself, by names that only
its script knows (`fixtures/mutations/page.js`), so that a click on a neighbour, a copy or a banner shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from vision_agent.actions import Action, Check, Click, Drag, Hover, Point, Press, Scroll, Select, Set, Target, Type
from vision_agent.browser.live import LiveBrowser
from vision_agent.errors import BrowserUnavailable
from vision_agent.observation import Mark, Observation
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome

FOLDER = Path(__file__).parents[2] / "fixtures" / "mutations"
SETTINGS = ObserveSettings(quiet_s=0.05, settle_deadline_s=1.2, action_deadline_s=20, navigation_deadline_s=20)
"""Endless movement is waited for until these are over."""

WANTED = "Bruno"
AT = 1
"""His place among those of the same name, from the top."""
_TILE, _WANTED_TILE, _TILE_ACROSS = 88, (1, 1), (2, 2)
_WORDS = re.compile(" (of|on)$")
_AWAY = Point(x=1270, y=790)
"""Where the pointer rests before each case: over nothing."""


@dataclass(frozen=True)
class Verdict:
    """What must come of a case."""

    kind: Literal["hit", "refuse", "either"]
    """`either` may hit or refuse, and like all others may never touch anything else."""
    refusals: tuple[str, ...] = ()
    """One of these, if it is refused."""
    says: str = ""
    """What the sentence of a refusal must name."""


@dataclass(frozen=True)
class Case:
    """One page, what it does to itself, and what is done to it."""

    change: str
    place: str
    action: str
    thing: str
    verdict: Verdict
    by: Literal["mark", "point"] = "mark"

    @property
    def id(self) -> str:
        by = "" if self.by == "mark" else "-point"
        return f"{self.change}-{self.place}-{self.action}-{self.thing}{by}"


@dataclass(frozen=True)
class Told:
    """What the page says that happened to one of its things."""

    type: str
    who: str
    value: str
    trusted: bool

    def __str__(self) -> str:
        return f"{self.type} on {self.who}"


@dataclass(frozen=True)
class Played:
    """What came of a case."""

    case: Case
    outcome: Outcome | None
    """None where stored coordinates were clicked instead, and where the act raised."""
    told: tuple[Told, ...]
    trouble: str
    """Why it is not what it must be; empty if it is."""

    @property
    def wrong(self) -> tuple[Told, ...]:
        return wrong(self.case, self.told)


# --- what the cases are -----------------------------------------------------------------------------------------------

DEEDS = (
    ("click", "button"),
    ("type", "field"),
    ("toggle", "check"),
    ("drag", "card"),
    ("click", "link"),
    ("select", "select"),
    ("hover", "tile"),
    ("double", "button"),
    ("press", "field"),
    ("click", "tile"),
    ("scroll", "log"),
    ("type", "editor"),
    ("toggle", "switch"),
    ("right", "link"),
    ("check", "check"),
    ("set", "slider"),
)
"""What is done, to what kind of thing."""
PRESSED = tuple(deed for deed in DEEDS if deed[0] in ("click", "double", "toggle", "type", "check"))
POINTED = tuple(deed for deed in DEEDS if deed[0] not in ("press", "scroll"))
AT_A_POINT = tuple(deed for deed in PRESSED if deed[0] != "check")
NATIVE = tuple(deed for deed in DEEDS if deed[1] in ("button", "field", "select", "check"))
TYPED = tuple(deed for deed in DEEDS if deed[0] == "type")
DRAGGED = tuple(deed for deed in DEEDS if deed[0] == "drag")
BIG = (("click", "button"), ("type", "field"), ("hover", "tile"), ("double", "button"), ("click", "tile"))
BY_NAME = tuple(deed for deed in DEEDS if deed[0] not in ("drag", "scroll"))

HIT = Verdict("hit")
GONE = Verdict("refuse", ("gone",))
LEFT = Verdict("refuse", ("gone", "changed"))
HIDDEN = Verdict("refuse", ("gone", "covered"))
CHANGED = Verdict("refuse", ("changed",))
DISABLED = Verdict("refuse", ("disabled",))
AMBIGUOUS = Verdict("refuse", ("ambiguous",))
MOVED = Verdict("refuse", ("moved",))
ANY = Verdict("either", ("moved", "changed", "covered", "gone", "ambiguous"))

_ALL = ("plain", "table", "cards", "items", "shadow", "closed", "frame", "cross", "dialog")
_FRAMES = ("frame", "cross")


def _covered(by: str) -> Verdict:
    return Verdict("refuse", ("covered",), by)


@dataclass(frozen=True)
class _Row:
    """A change, where it happens, and what must come of it: `each` deeds in each place, in turn."""

    change: str
    verdict: Verdict
    places: Sequence[str]
    each: int = 1
    deeds: Sequence[tuple[str, str]] = DEEDS


BETWEEN = (
    # In the way.
    _Row("late_banner", _covered("Cookies"), ("plain", "table", "shadow", "frame", "cross", "dialog"), 2, POINTED),
    _Row("fixed_banner", ANY, ("plain", "table", "frame"), 1, POINTED),
    _Row("late_veil", _covered("Loading"), ("plain", "cards", "frame"), 1, POINTED),
    _Row("late_modal", _covered("Sign in"), ("plain", "items", "closed", "cross"), 1, POINTED),
    _Row("outer_banner", _covered("Cookies"), _FRAMES, 2, POINTED),
    _Row("outer_modal", _covered("Sign in"), ("frame",), 1, POINTED),
    _Row("inert", Verdict("refuse", ("covered", "disabled")), ("plain", "table"), 1, PRESSED),
    _Row("half_banner", HIT, ("plain", "table", "frame", "cross"), 1, BIG),
    _Row("corner_banner", HIT, ("items", "shadow")),
    _Row("confetti", HIT, ("plain", "cards", "cross"), 1, POINTED),
    _Row("sticky_header", HIT, ("plain", "table", "shadow"), 1, POINTED),
    # Gone.
    _Row("removed", GONE, _ALL),
    _Row("removed", GONE, ("twins",), 3),
    _Row("filtered_fresh", GONE, ("plain", "table", "cards", "closed", "cross")),
    _Row("hidden", HIDDEN, ("plain", "table", "frame")),
    _Row("invisible", HIDDEN, ("cards", "shadow"), 1, POINTED),
    _Row("frame_reloaded", GONE, _FRAMES),
    _Row("frame_replaced", GONE, _FRAMES),
    _Row("frame_navigated", LEFT, _FRAMES),
    _Row("frame_removed", GONE, _FRAMES),
    _Row("reloaded", GONE, ("plain", "table")),
    _Row("navigated", LEFT, ("plain", "table")),
    _Row("rewritten", LEFT, ("plain",)),
    # Another thing now.
    _Row("renamed", CHANGED, ("plain", "table", "shadow", "frame", "dialog")),
    _Row("became_link", LEFT, ("plain", "cards"), 1, (("click", "button"), ("click", "tile"))),
    _Row("recycled_away", CHANGED, ("table", "cards", "items", "cross", "closed", "box")),
    _Row("filtered_recycled", CHANGED, ("table", "cards", "items", "plain")),
    _Row("recycled_shifted", ANY, ("table", "cards", "items", "box")),
    _Row("switched_fresh", LEFT, ("detail", "confirm")),
    _Row("switched_route", LEFT, ("detail",)),
    _Row("switched_kept", CHANGED, ("detail", "confirm")),
    # Not to be used.
    _Row("disabled", DISABLED, ("plain", "table", "shadow", "frame", "cross", "dialog"), 1, NATIVE),
    _Row("aria_disabled", DISABLED, ("cards", "plain"), 1, (("click", "tile"), ("toggle", "switch"))),
    _Row("fieldset_disabled", DISABLED, ("items", "closed"), 1, NATIVE),
    # Copies.
    _Row("doubled", AMBIGUOUS, ("plain", "table", "shadow", "frame", "dialog", "cards")),
    _Row("twin_added", HIT, ("plain", "table", "cross")),
    _Row("rerendered", HIT, _ALL, 2),
    _Row("rerendered", HIT, ("twins", "detail", "confirm", "box")),
    _Row("rerendered_alone", HIT, ("plain", "table", "shadow", "cross", "dialog")),
    _Row("rerendered_thing", HIT, ("table", "cards", "items", "detail")),
    _Row("sorted_fresh", HIT, ("table", "cards", "items", "frame", "closed", "plain"), 2),
    _Row("inserted_fresh", HIT, ("table", "cards", "plain", "cross", "shadow")),
    _Row("lists_swapped_fresh", ANY, ("twins",), 2),
    _Row("host_replaced", HIT, ("shadow", "closed"), 2),
    _Row("route_fresh", HIT, ("plain", "table")),
    # Somewhere else.
    _Row("swapped", HIT, (*_ALL, "box")),
    _Row("reversed", HIT, ("plain", "table", "cards", "items", "closed", "cross")),
    _Row("inserted_above", HIT, ("plain", "table", "items", "closed", "frame")),
    _Row("shifted", HIT, ("plain", "table", "cards", "shadow", "frame", "cross", "dialog"), 2),
    _Row("shifted_aside", HIT, ("plain", "items", "cross")),
    _Row("slides", HIT, ("plain", "table", "cross", "shadow"), 1, POINTED),
    _Row("pulses", HIT, ("cards", "frame"), 1, POINTED),
    _Row("sways", ANY, ("plain", "cross"), 1, POINTED),
    _Row("scaled", HIT, ("plain", "table", "cross"), 1, POINTED),
    _Row("mirrored", HIT, ("plain", "table", "frame")),
    _Row("scrolled", HIT, ("plain", "table", "cards", "closed", "frame", "cross"), 2),
    _Row("scrolled_away", HIT, ("plain", "items", "shadow", "frame", "cross")),
    _Row("box_scrolled", HIT, ("box",), 2, BY_NAME),
    _Row("box_scrolled_away", HIT, ("box",), 2, BY_NAME),
    _Row("outer_shifted", HIT, _FRAMES, 2),
    _Row("outer_scrolled", HIT, _FRAMES, 2),
    _Row("outer_scrolled_away", HIT, _FRAMES),
    _Row("route_kept", HIT, ("plain", "detail", "cross")),
    _Row("restyled", HIT, ("plain", "items"), 1, BIG),
    _Row("filled", HIT, ("plain", "table"), 1, (("type", "field"),)),
    _Row("noticed", HIT, ("cards", "plain"), 1, (("click", "button"), ("click", "tile"))),
)
"""What happens between the look and the act."""

UNDER_THE_HAND = (
    _Row("covers_on_move", _covered("Cookies"), ("plain", "table", "frame", "cross", "dialog"), 1, PRESSED),
    _Row("swaps_on_move", ANY, ("plain", "table", "frame", "cross"), 1, PRESSED),
    _Row("grows_on_move", HIT, ("plain", "frame"), 1, BIG),
    _Row("rerenders_on_move", HIT, ("plain", "table", "frame", "cross"), 1, PRESSED),
    _Row("renames_on_move", HIT, ("plain", "items"), 1, (("click", "button"), ("click", "tile"))),
    _Row("shifts_on_down", ANY, ("plain", "table", "cross"), 1, PRESSED),
    _Row("shifts_on_focus", HIT, ("plain", "table", "frame", "cross"), 1, TYPED),
    _Row("steals_on_focus", CHANGED, ("plain", "table", "shadow", "frame", "cross"), 1, TYPED),
    _Row("steals_on_input", CHANGED, ("plain", "cards", "closed", "cross"), 1, TYPED),
    _Row("rerenders_on_focus", ANY, ("plain", "table"), 1, TYPED),
    _Row("suggests_on_input", HIT, ("plain", "table", "frame"), 1, TYPED),
    _Row("banner_soon", ANY, ("plain", "cross"), 1, PRESSED),
    _Row("shifted_soon", HIT, ("plain", "table", "frame", "cross"), 1, POINTED),
    _Row("churns_soon", ANY, ("plain", "table", "frame", "cross"), 1, PRESSED),
    _Row("becomes_soon", ANY, ("plain", "table", "cross"), 1, PRESSED),
    _Row("loads_on_scroll", HIT, ("plain", "table", "frame", "cross"), 1, POINTED),
    _Row("recycles_on_scroll", ANY, ("table", "cards", "cross"), 1, POINTED),
    _Row("zones_on_drag", ANY, ("plain", "items"), 1, DRAGGED),
)
"""What the page does while it is acted on."""

BOARD = tuple((action, "tile") for action in ("click", "double", "hover", "drag"))
_STEP_ASIDE = Verdict("refuse", ("moved", "covered", "changed"))
POINTS = (
    _Row("redrawn", HIT, ("canvas",), 4, BOARD),
    _Row("another_tile", HIT, ("canvas",), 2, BOARD),
    _Row("board_fresh", HIT, ("canvas",), 2, BOARD),
    _Row("blinks", HIT, ("canvas",), 2, BOARD),
    _Row("this_tile", MOVED, ("canvas",), 3, BOARD),
    _Row("tiles_swapped", MOVED, ("canvas",), 2, BOARD),
    _Row("shifted", MOVED, ("canvas", "board"), 2, BOARD),
    _Row("scrolled", MOVED, ("canvas",), 1, BOARD),
    _Row("outer_scrolled", MOVED, ("board",), 1, BOARD),
    _Row("board_covered", _STEP_ASIDE, ("canvas",), 2, BOARD),
    _Row("reloaded", MOVED, ("canvas",), 1, BOARD),
    # A point of a page that is made of elements: rows look alike, and one more moves the next to where the last was.
    _Row("rerendered", HIT, ("table", "plain"), 1, AT_A_POINT),
    _Row("swapped", _STEP_ASIDE, ("plain", "table"), 1, AT_A_POINT),
    _Row("inserted_above", _STEP_ASIDE, ("table", "cards"), 1, AT_A_POINT),
    _Row("removed", _STEP_ASIDE, ("table", "plain"), 1, AT_A_POINT),
    _Row("shifted", _STEP_ASIDE, ("table", "plain"), 1, AT_A_POINT),
    _Row("scrolled", _STEP_ASIDE, ("table", "plain"), 1, AT_A_POINT),
    _Row("late_banner", _STEP_ASIDE, ("plain", "cross"), 1, AT_A_POINT),
)
"""The same for what is named by a point of the picture."""


def cases() -> tuple[Case, ...]:
    """All of them, in an order that stays."""
    made = [*_made((*BETWEEN, *UNDER_THE_HAND), "mark"), *_made(POINTS, "point")]
    return tuple({case.id: case for case in made}.values())


def _made(rows: Sequence[_Row], by: Literal["mark", "point"]) -> Iterator[Case]:
    for number, row in enumerate(rows):
        # Each row begins elsewhere, so that every deed meets many changes.
        deeds = cycle(row.deeds)
        turn = islice(deeds, (number * 3) % len(row.deeds), None)
        for place in row.places:
            for action, thing in islice(turn, row.each):
                yield Case(row.change, place, action, thing, row.verdict, by)


# --- playing one ------------------------------------------------------------------------------------------------------


async def play(case: Case, browser: LiveBrowser, address: str) -> Played:
    """What comes of it when the product acts."""
    seen, mark = await looked_at(case, browser, address)
    await _change(case, browser.page)
    try:
        outcome = await browser.act(action_of(case, seen, mark), seen)
    except BrowserUnavailable as error:
        return Played(case, None, await _heard(browser.page), f"raised: {error}")
    told = await _heard(browser.page)
    return Played(case, outcome, told, _trouble(case, outcome, told))


async def play_stored(case: Case, browser: LiveBrowser, address: str) -> Played:
    """What comes of it when the coordinates of the look are clicked, whatever is there now."""
    seen, mark = await looked_at(case, browser, address)
    await _change(case, browser.page)
    at, mouse = _start(case, mark), browser.page.mouse
    if case.action == "drag":
        to = _end(case, seen, mark)
        await mouse.move(at.x, at.y)
        await mouse.down()
        await mouse.move(to.x, to.y, steps=12)
        await mouse.up()
    else:
        await mouse.click(at.x, at.y)
    told = await _heard(browser.page)
    if case.verdict.kind == "hit":
        landed = is_hit(case, told) if case.action == "drag" else Told("click", _who(case), "", True) in told
        trouble = "" if landed else "what was meant was not hit"
    else:
        trouble = _said(wrong(case, told))
    return Played(case, None, told, trouble)


async def looked_at(case: Case, browser: LiveBrowser, address: str) -> tuple[Observation, Mark]:
    """What is seen of the page before it changes, and the mark that is meant."""
    await browser.page.mouse.move(_AWAY.x, _AWAY.y)
    await browser.open(f"{address}/index.html?place={case.place}&thing={case.thing}")
    await browser.page.wait_for_load_state("load")  # with its frames
    seen = await browser.observe()
    return seen, _wanted(case, seen)


def _wanted(case: Case, seen: Observation) -> Mark:
    """The mark that is meant: by its name, and where several have that, by its place among them."""
    if case.place in ("canvas", "board"):
        return next(mark for mark in seen.marks if mark.tag == "canvas")
    verb = _VERBS[case.thing]
    named = [mark for mark in seen.marks if mark.name in (_WORDS.sub("", verb), f"{verb} {WANTED}")]
    named.sort(key=lambda mark: mark.box.y)
    assert named, f"no {verb} of {WANTED} in\n{seen.listing}"
    return named[AT if len(named) > 2 else 0]


_VERBS = {
    "button": "Edit",
    "link": "Open",
    "tile": "Call",
    "field": "Note on",
    "editor": "Story of",
    "select": "Rate",
    "check": "Notify",
    "slider": "Level of",
    "switch": "Follow",
    "card": "Card of",
    "log": "Log of",
}


async def _change(case: Case, page: Page) -> None:
    if case.change in ("navigated", "reloaded"):
        async with page.expect_navigation():
            await page.evaluate("name => change(name)", case.change)
        return
    is_inside = case.place in _FRAMES and not case.change.startswith(("outer", "frame"))
    frame = next(each for each in page.frames if each.parent_frame) if is_inside else page.main_frame
    await frame.evaluate("name => change(name)", case.change)


def _start(case: Case, mark: Mark) -> Point:
    """Page coordinates of what is meant."""
    return _tile(mark, _WANTED_TILE) if case.place in ("canvas", "board") else mark.point


def _end(case: Case, seen: Observation, mark: Mark) -> Point:
    if case.place in ("canvas", "board"):
        return _tile(mark, _TILE_ACROSS)
    return next(each.point for each in seen.marks if each.name == "Archive")


def _tile(board: Mark, at: tuple[int, int]) -> Point:
    return Point(x=board.box.x + (at[0] + 0.5) * _TILE, y=board.box.y + (at[1] + 0.5) * _TILE)


def action_of(case: Case, seen: Observation, mark: Mark) -> Action:
    """What is done, by the numbers or points of the look."""
    to_picture = seen.marked.map.to_picture
    target: Target = mark.number if case.by == "mark" else to_picture(_start(case, mark))
    match case.action:
        case "click" | "toggle":
            return Click(target=target)
        case "check":
            return Check(mark=mark.number, checked=True)
        case "set":
            return Set(mark=mark.number, value=LEVEL)
        case "double":
            return Click(target=target, count=2)
        case "right":
            return Click(target=target, button="right")
        case "type":
            return Type(target=target, text=TEXT)
        case "select":
            return Select(target=target, options=("High",))
        case "hover":
            return Hover(target=target)
        case "press":
            return Press(target=target, keys="ArrowDown")
        case "scroll":
            return Scroll(target=target, pages=1)
        case "drag":
            is_board = case.place in ("canvas", "board")
            archive = next((each.number for each in seen.marks if each.name == "Archive"), 0)
            return Drag(source=target, target=to_picture(_end(case, seen, mark)) if is_board else archive)
        case _:
            raise ValueError(f"no such action: {case.action}")


TEXT, LEVEL = "see you", "80"


async def _heard(page: Page) -> tuple[Told, ...]:
    """All that the page and the pages in it say has happened."""
    return tuple([told for frame in page.frames for told in await _heard_in(frame)])


async def _heard_in(frame: Frame) -> list[Told]:
    try:
        return [Told(**each) for each in await frame.evaluate("heard")]
    except PlaywrightError:
        if frame.is_detached():
            return []
        raise


# --- judging ----------------------------------------------------------------------------------------------------------

_ALWAYS = {"click", "dblclick", "contextmenu", "auxclick", "input", "change", "keydown", "dragstart", "drop"}


def _who(case: Case) -> str:
    return "tile P" if case.place in ("canvas", "board") else WANTED


def is_hit(case: Case, told: Sequence[Told]) -> bool:
    """Whether what was meant got all that was meant, once."""
    mine = [each for each in told if each.who == _who(case)]
    values = {kind: [each.value for each in mine if each.type == kind] for kind in _ALWAYS}
    match case.action, case.thing:
        case "toggle" | "check", "check":
            return values["change"] == ["true"]
        case "click" | "toggle", _:
            return len(values["click"]) == 1
        case "double", _:
            return len(values["dblclick"]) == 1
        case "right", _:
            return len(values["contextmenu"]) == 1
        case "type", _:
            return values["input"][-1:] == [TEXT]
        case "set", _:
            return values["change"][-1:] == [LEVEL]
        case "select", _:
            return values["change"] == ["High"]
        case "press", _:
            return "ArrowDown" in values["keydown"]
        case "hover", _:
            return [each.who for each in told if each.type == "mouseover"][-1:] == [_who(case)]
        case "scroll", _:
            return any(each.type == "scroll" for each in mine)
        case "drag", "tile":
            return any(each.type == "moved" and each.value == "tile P" and each.who == "tile U" for each in told)
        case _:
            return [(each.who, each.value) for each in told if each.type == "drop"] == [("Archive", WANTED)]


def wrong(case: Case, told: Sequence[Told]) -> tuple[Told, ...]:
    """What happened to other things than what was meant, and what was not done by hand."""
    return tuple(each for each in told if _is_wrong(case, each, told))


def _is_wrong(case: Case, each: Told, told: Sequence[Told]) -> bool:
    mine = _who(case)
    if each.type == "drop":
        return each.who != "Archive" or each.value != WANTED
    if each.type == "moved":
        return case.action == "drag" and (each.value != mine or each.who != "tile U")
    if each.type == "mouseover":
        last = [other for other in told if other.type == "mouseover"][-1]
        return case.action == "hover" and each is last and each.who not in (mine, "nothing")
    if each.type == "scroll":
        return case.action == "scroll" and each.who not in (mine, "nothing")
    if each.type not in _ALWAYS or (case.action, case.thing) == ("drag", "tile"):
        return False  # where a drag ends on a board there is a click too
    if each.who == mine:
        return not each.trusted and each.type in ("click", "dblclick", "keydown", "contextmenu")
    # A click on no thing at all does nothing; a key that goes to the page may be a short cut.
    return each.who != "nothing" or each.type == "keydown"


def _trouble(case: Case, outcome: Outcome, told: Sequence[Told]) -> str:
    if others := wrong(case, told):
        return f"{_said(others)}; {outcome.sentence}"
    is_right_refusal = outcome.refusal in case.verdict.refusals
    match case.verdict.kind, outcome.status:
        case "hit", "done":
            times = [each for each in told if each.who == _who(case) and each.type == "click"]
            often = f" ({len(times)} clicks)" if times else ""
            return "" if is_hit(case, told) else f"what was meant was not hit{often}; {outcome.sentence}"
        case "hit", _:
            return f"refused as {outcome.refusal}: {outcome.sentence}"
        case "refuse", "done":
            return f"done, not refused: {outcome.sentence}"
        case "either", "done":
            return ""
    if not is_right_refusal:
        return f"refused as {outcome.refusal}, not {' or '.join(case.verdict.refusals)}: {outcome.sentence}"
    if case.verdict.says not in outcome.sentence:
        return f"{case.verdict.says} is not named: {outcome.sentence}"
    if case.verdict.kind == "refuse" and is_hit(case, told):
        return f"refused, but done: {outcome.sentence}"
    return ""


def _said(told: Sequence[Told]) -> str:
    """The few first of what happened to others."""
    return "; ".join(str(each) for each in list(dict.fromkeys(map(str, told)))[:4])

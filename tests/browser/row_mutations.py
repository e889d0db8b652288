"""Cases of rows whose controls are called the same, on pages that change: never is another row's control reached.

A page has Ann, Bob and others, each with a Delete of their own, in some forty markups (`fixtures/rows/markups.js`). It
changes before the act, under the hand, on the press or on a timer, and tells itself whom each event reached.
This module knows nothing of how rows are told apart: it judges by the page's own log alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from math import hypot
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from tests.browser.mutations import SETTINGS, Told
from vision_agent.actions import Action, Check, Click, Drag, Press, Select, Type
from vision_agent.browser.live import LiveBrowser
from vision_agent.errors import BrowserUnavailable
from vision_agent.observation import Mark, Observation
from vision_agent.types import Outcome

__all__ = ["FOLDER", "SETTINGS", "Case", "Played", "Told", "cases", "play", "unrelated"]

FOLDER = Path(__file__).parents[2] / "fixtures" / "rows"

Kind = Literal["hit", "refuse", "either"]
Moment = Literal["before", "reveal", "hover", "between", "focus", "down", "timer"]
"""`between`: some time after the pointer has come, which may be before the press, in it, or after it. `reveal`: as the
page is scrolled back to what is meant."""

TEXT = "see you"
_AWAY = (1270, 790)
"""Where the pointer rests before each case: over nothing."""
_MORE_LOOKS = 2
_NEAR = 40
"""CSS pixels between where a page says a control is and its mark, which may be that of a part of it."""
_IN_CHILD = ("inframe", "incross", "framed")
_CHANGED_FROM = re.compile(r'changed from "(.*?)" to "(.*?)"')


@dataclass(frozen=True)
class Case:
    """One page, what it does to itself and when, and what is done to it."""

    change: str
    moment: Moment
    markup: str
    rows: int
    action: str
    thing: str
    kind: Kind
    """`refuse` may do nothing, `either` may do it or refuse, and like all others never reaches anybody else."""
    ms: int = 0
    """How long after the pointer came, or how often."""
    inner: str = ""
    """The markup of the rows in a frame."""
    extra: str = ""
    """What stands in each row besides, before it changes."""
    is_unrelated: bool = False
    """It changes nothing of whose row it is: a refusal is a false one."""

    @property
    def id(self) -> str:
        when = self.moment + (f"{self.ms}" if self.ms else "")
        markup = f"{self.markup}.{self.inner}" if self.inner else self.markup
        return f"{self.change}-{when}-{markup}-{self.rows}-{self.action}-{self.thing}"


@dataclass(frozen=True)
class Played:
    """What came of a case."""

    case: Case
    outcome: Outcome | None
    """None where the act raised."""
    told: tuple[Told, ...]
    wrong: tuple[Told, ...]
    """What began on somebody else."""
    trouble: str
    """Why it is not what it must be; empty if it is."""

    @property
    def is_false_refusal(self) -> bool:
        return self.case.kind == "hit" and self.outcome is not None and self.outcome.status == "refused"


# --- what the cases are -----------------------------------------------------------------------------------------------

Deed = tuple[str, str]
RISKY: tuple[Deed, ...] = (("click", "delete"), ("click", "pay"))
HARMLESS: tuple[Deed, ...] = (("click", "edit"), ("type", "note"), ("check", "notify"), ("click", "open"))
DEEDS: tuple[Deed, ...] = (
    ("click", "delete"),
    ("type", "note"),
    ("click", "edit"),
    ("check", "notify"),
    ("press", "pause"),
    ("click", "delete"),
    ("select", "role"),
    ("click", "open"),
    ("drag", "move"),
)
"""What is done, to what kind of thing; what cannot be undone comes twice as often."""
POINTED: tuple[Deed, ...] = tuple(deed for deed in DEEDS if deed[0] not in ("press", "select"))
PRESSED: tuple[Deed, ...] = tuple(deed for deed in POINTED if deed[0] != "drag")
PUSHED: tuple[Deed, ...] = (("click", "delete"), ("click", "edit"), ("click", "pay"), ("click", "open"))
STAYING: tuple[Deed, ...] = (("type", "note"), ("check", "notify"))
KEYED: tuple[Deed, ...] = (("type", "note"), ("press", "pause"))

ONLY: dict[str, tuple[Deed, ...]] = {
    "matrix": (("check", "notify"), ("click", "edit")),
    "dialog": (("click", "confirm"), ("press", "confirm")),
    "ariadialog": (("click", "confirm"), ("press", "confirm")),
    "times": (("click", "book"), ("press", "book")),
    "chat": (("click", "send"), ("type", "note")),
    # A drag across two pages is a matter of its own.
    "frames": PRESSED,
    "framed": PRESSED,
}
"""What these markups are for."""

PLAIN = ("bare", "h3p", "spans", "grid", "flex", "meta")
LISTS = ("table", "rowheads", "ariagrid", "ul", "ol", "dl", "tree", "nested")
GROUPS = ("heads", "sections", "articles", "fieldset", "details", "groups")
SHADOWS = ("custom", "closed", "slotted")
FRAMES = ("frames", "inframe", "incross")
NAMED = ("product", "pictures", "linked", "buttoned", "valued", "numbered", "times", "letters", "long", "longend")
SCRIPTS = ("arabic", "hebrew", "cjk", "mixed")
MANY = (*PLAIN, *LISTS, *GROUPS, *SHADOWS, *FRAMES, *NAMED, *SCRIPTS)
"""Markups of which there can be any number of rows."""
_TALL = ("long", "longend")
ALONE = ("dialog", "ariadialog", "chat")
MOVABLE = tuple(each for each in MANY if each != "frames")
"""A frame that is moved is loaded anew."""
_FEW = ("h3p", "spans", "grid", "table", "meta", "heads", "closed", "inframe", "incross", "slotted", "numbered", "dl")
_FEWER = ("h3p", "grid", "table", "heads", "custom", "frames", "incross", "long")


@dataclass(frozen=True)
class _Row:
    """A change, when it comes, what must come of it, and where: `each` deeds in each markup, in turn."""

    change: str
    moment: Moment
    kind: Kind
    markups: Sequence[str]
    each: int = 1
    sizes: Sequence[int] = (2, 1, 3, 2, 12)
    deeds: Sequence[Deed] = DEEDS
    ms: Sequence[int] = (0,)


_TWO, _ODD = (2, 3, 2, 12), (2, 2, 12)
ROWS = (
    # Between the look and the act: the elements stay, and say somebody else.
    _Row("swap_texts", "before", "refuse", MANY, 1, _TWO),
    _Row("replace_text", "before", "refuse", (*MANY, *ALONE), 2),
    _Row("replace_name", "before", "refuse", MANY[::2], 1),
    _Row("replace_letter", "before", "refuse", ("bare", "h3p", "table", "ul", "heads", "closed", "long", "letters"), 1),
    _Row("recycle", "before", "refuse", MANY[1::2], 1),
    _Row("filter_others", "before", "refuse", MANY[::3], 1),
    _Row("paginate", "before", "refuse", MANY[1::3], 1),
    _Row("sort_texts", "before", "refuse", MANY[2::3], 1, _ODD),
    _Row("filter_self", "before", "hit", MANY[1::4], 1, (2,)),
    _Row("filter_self", "before", "either", MANY[::4], 1, (3,)),
    _Row("reverts", "before", "either", _FEW, 1),
    _Row("reverted", "before", "hit", (*_FEW, *ALONE), 1),
    _Row("edit_detail", "before", "refuse", ("h3p", "grid", "table", "ul", "dl", "heads", "closed"), 2, deeds=RISKY),
    _Row("edit_detail", "before", "either", ("h3p", "grid", "table", "ul", "dl", "heads", "closed"), 1, deeds=HARMLESS),
    # All is made anew.
    _Row("redraw_fresh", "before", "hit", (*MANY[1::2], *ALONE), 1),
    _Row("reverse_fresh", "before", "hit", MANY, 1, _TWO),
    _Row("sort_fresh", "before", "hit", MANY[::4], 1, _TWO),
    _Row("insert_fresh", "before", "hit", MANY[1::3], 1),
    _Row("filter_self_fresh", "before", "hit", MANY[2::4], 1, _TWO),
    _Row("replace_fresh", "before", "refuse", (*MANY, *ALONE), 1),
    _Row("replace_name_fresh", "before", "refuse", MANY[::3], 1),
    _Row("delete_fresh", "before", "refuse", MANY[1::3], 1),
    _Row("filter_others_fresh", "before", "refuse", MANY[1::3], 1),
    _Row("paginate_fresh", "before", "refuse", MANY[2::4], 1),
    # Rows come, go and move.
    _Row("reorder", "before", "hit", MOVABLE[::2], 1, _TWO),
    _Row("insert_above", "before", "hit", MANY[1::3], 1),
    _Row("insert_below", "before", "hit", MANY[3::5], 1),
    _Row("delete_other", "before", "hit", MANY[2::3], 1, _TWO),
    _Row("delete_it", "before", "refuse", MANY[::3], 1),
    _Row("hide_others", "before", "hit", MANY[4::6], 1, _TWO),
    # Columns, a list that is used again while it scrolls, a frame for each row, and rows with the same words.
    _Row("swap_columns", "before", "refuse", ("matrix",), 2, (2, 3)),
    _Row("columns_fresh", "before", "hit", ("matrix",), 2, (2, 3)),
    _Row("swap_texts", "before", "refuse", ("matrix",), 2, (2, 3)),
    _Row("replace_text", "before", "refuse", ("matrix",), 2, (1, 3)),
    _Row("reverse_fresh", "before", "hit", ("matrix",), 2, (2, 3)),
    _Row("replace_fresh", "before", "refuse", ("matrix",), 2, (1, 3)),
    _Row("scroll_shift", "before", "refuse", ("virtual",), 4, (3,)),
    _Row("scroll_far", "before", "refuse", ("virtual",), 3, (3,)),
    _Row("scroll_pool", "before", "hit", ("virtual",), 3, (3,)),
    _Row("scroll_back", "before", "hit", ("virtual",), 3, (3,)),
    _Row("replace_text", "before", "refuse", ("framed",), 3, (2, 1)),
    _Row("replace_fresh", "before", "refuse", ("framed",), 3, (2, 1)),
    _Row("redraw_fresh", "before", "hit", ("framed",), 3, (2, 1)),
    _Row("to_another", "before", "refuse", ("framed",), 3, (2, 1)),
    _Row("redraw_fresh", "before", "either", ("twins",), 4, (2,)),
    _Row("reverse_fresh", "before", "refuse", ("twins",), 2, (2,), RISKY),
    _Row("delete_fresh", "before", "refuse", ("twins",), 2, (2,), RISKY),
    _Row("reorder", "before", "hit", ("twins",), 4, (2,)),
    _Row("delete_it", "before", "refuse", ("twins",), 4, (2,)),
    _Row("replace_text", "before", "refuse", ("twins",), 4, (2,)),
    # When the pointer comes.
    _Row("swap_texts", "hover", "refuse", MANY[::2], 1, _TWO, POINTED),
    _Row("replace_text", "hover", "refuse", (*MANY[1::2], *ALONE), 1, deeds=POINTED),
    _Row("reorder", "hover", "either", tuple(each for each in _FEW if each in MOVABLE), 1, _TWO, POINTED),
    _Row("reverse_fresh", "hover", "either", _FEW, 1, _TWO, PRESSED),
    _Row("redraw_fresh", "hover", "hit", _FEW, 1, deeds=PRESSED),
    _Row("replace_fresh", "hover", "refuse", _FEW, 1, deeds=PRESSED),
    # When the focus comes, to what gets keys.
    _Row("swap_texts", "focus", "either", _FEW, 1, _TWO, KEYED),
    _Row("replace_text", "focus", "either", _FEWER, 1, deeds=KEYED),
    # In the moments around the press.
    _Row("swap_texts", "between", "either", _FEW, 2, _TWO, POINTED, (0, 8, 16, 24, 40, 60)),
    _Row("replace_text", "between", "either", (*_FEWER, *ALONE[:2]), 2, (2, 1, 3), POINTED, (0, 12, 30, 50)),
    _Row("reverse_fresh", "between", "either", _FEWER, 1, _TWO, PRESSED, (0, 12, 30, 50)),
    _Row("reorder", "between", "either", ("h3p", "grid", "table", "heads", "custom"), 1, _TWO, PRESSED, (0, 12, 30)),
    # On the press: what was pressed first was right, so it is done, and the change is told.
    _Row("swap_texts", "down", "hit", _FEW, 1, _TWO, PUSHED),
    _Row("replace_text", "down", "hit", (*_FEWER, *ALONE), 1, (1, 2, 3), PUSHED),
    _Row("replace_fresh", "down", "hit", _FEWER, 1, (1, 2, 3), PUSHED),
    _Row("reorder", "down", "hit", ("h3p", "grid", "table", "heads", "custom"), 1, _TWO, PUSHED),
    _Row("delete_it", "down", "hit", ("h3p", "grid", "table", "heads", "custom"), 1, _TWO, PUSHED),
    _Row("swap_texts", "down", "either", ("h3p", "table", "closed", "incross"), 1, _TWO, STAYING),
    # All the time.
    _Row("swap_texts", "timer", "either", _FEW, 1, _TWO, DEEDS, (30, 50, 70, 100)),
    _Row("replace_text", "timer", "either", (*_FEWER, "dialog"), 1, (1, 2), POINTED, (30, 50, 70, 100)),
    _Row("reorder", "timer", "either", ("h3p", "grid", "table", "heads", "custom"), 1, _TWO, PRESSED, (50, 100)),
    _Row("reverse_fresh", "timer", "either", _FEWER, 1, _TWO, PRESSED, (50, 100)),
    # Several controls and fields in each row, and numbers that are names.
    _Row("swap_texts", "before", "refuse", ("toolbar", "ids", "dates"), 2, _TWO),
    _Row("replace_text", "before", "refuse", ("toolbar", "ids", "dates"), 2),
    _Row("replace_fresh", "before", "refuse", ("toolbar", "ids", "dates"), 2),
    _Row("recycle", "before", "refuse", ("toolbar", "ids", "dates"), 1),
    _Row("reverse_fresh", "before", "hit", ("toolbar", "ids", "dates"), 2, _TWO),
    _Row("reorder", "before", "hit", ("toolbar", "ids", "dates"), 1, _TWO),
    _Row("swap_texts", "hover", "refuse", ("toolbar", "ids", "dates"), 1, _TWO, POINTED),
    _Row("swap_texts", "down", "hit", ("toolbar", "ids"), 1, _TWO, PUSHED),
    # When the page is scrolled back to it.
    _Row("swap_texts", "reveal", "either", ("h3p", "grid", "heads", "closed", "table"), 1, _TWO),
    _Row("replace_text", "reveal", "either", ("spans", "frames", "incross", "dl", "flex"), 1, (1, 2)),
    _Row("replace_fresh", "reveal", "either", ("h3p", "meta", "ul"), 1, (1, 2)),
)  # fmt: skip

_TICKS = ("h3p", "spans", "grid", "table", "ul", "heads", "dl", "closed", "articles", "incross", "groups", "hebrew")
_ELSEWHERE = ("h3p", "table", "grid", "sections", "bare", "custom", "tree", "chat", "dialog", "meta", "frames", "cjk")
_ANY: tuple[Deed, ...] = DEEDS
_CALM: tuple[Deed, ...] = (("click", "edit"), ("type", "note"), ("click", "open"), ("check", "notify"))
IN_TOOLBAR = ("own_field", "own_choice", "other_choice")
"""Changes of fields that only this markup has."""
EXTRAS = {
    "clock": "12:03:44",
    "clock_minutes": "12:03",
    "clock_ticks": "12:03:09",
    "countdown": "00:59 left",
    "countdown_days": "2 days 03:12:01",
    "ago": "2 min ago",
    "ago_hours": "59 minutes ago",
    "just_now": "just now",
    "likes": "17 likes",
    "likes_thousand": "999 likes",
    "badge": "(3)",
    "unread": "11",
    "price": "10.20 €",
    "price_ticks": "10.19 €",
    "percent": "42 %",
    "size": "1.2 MB of 9 MB",
    "votes": "▲ 100",
    "stars": "4.5 (88)",
}
"""What stands in each row before it changes to what `unrelated.js` says."""
_NOT_RISKY = ("price", "price_ticks", "saving", "saved", "row_actions", "just_now", "own_choice")
"""Words, prices and choices beside a control that cannot be taken back may well matter."""
IN_ROW = (
    *EXTRAS,
    *("saving", "saved", "classes", "styles", "ids_fresh", "whitespace", "comments", "split_text", "rewrapped"),
    *("bold_name", "icon", "spinner_row", "progress_row", "avatar", "zebra", "filled"),
)
ON_HOVER = ("tooltip", "row_actions", "grows", "lights_up", "underlined")
OTHERS = (
    *("other_edited", "other_detail", "other_added", "other_added_above", "other_removed", "other_redrawn"),
    "others_sorted",
)
ELSEWHERE = (
    *("clock_elsewhere", "inbox", "price_elsewhere", "heading_count", "title_count", "feed_above", "feed_ticks"),
    *("feed_below", "pushed_list", "toast", "banner", "spinner", "ad", "ad_ticks", "status", "typing", "focus"),
    *("focus_blur", "progress", "canvas", "total", "hash", "chat_log", "redrawn", "fonts", "bigger", "theme"),
)


def cases() -> tuple[Case, ...]:
    """All that decide whether the right row is reached, in an order that stays."""
    made = [case for number, row in enumerate(ROWS) for case in _made(row, number)]
    return tuple({case.id: case for case in made}.values())


def unrelated() -> tuple[Case, ...]:
    """All in which the page changes something else: each must hit."""
    made: list[Case] = []
    for number, change in enumerate((*IN_ROW, *ON_HOVER, *OTHERS, *ELSEWHERE, *IN_TOOLBAR)):
        markups = ("toolbar",) if change in IN_TOOLBAR else _ELSEWHERE if change in ELSEWHERE else _TICKS
        moment: Moment = "hover" if change in ON_HOVER else "before"
        deeds = _CALM if change in _NOT_RISKY else PRESSED if change in ON_HOVER else _ANY
        sizes = (2, 3, 5) if change in (*OTHERS, "filled", "other_choice") else (1, 2, 3)
        chosen = [markups[(number * 5 + turn * 4) % len(markups)] for turn in range(4 if change in EXTRAS else 3)]
        chosen = ["h3p" if (each, change) == ("frames", "redrawn") else each for each in chosen]
        row = _Row(change, moment, "hit", chosen, 1, sizes, deeds)
        made += _made(row, number, extra=EXTRAS.get(change, ""), is_unrelated=True)
    return tuple({case.id: case for case in made}.values())


def _made(row: _Row, number: int, **more: Any) -> Iterator[Case]:
    # Each begins elsewhere, so that every deed, size and delay meets many markups.
    deeds = islice(cycle(row.deeds), (number * 2) % len(row.deeds), None)
    sizes, ms = islice(cycle(row.sizes), number % len(row.sizes), None), cycle(row.ms)
    inners = islice(cycle(("h3p", "grid", "spans", "heads")), number % 4, None)
    actions = {action for action, _ in row.deeds}
    for markup in row.markups:
        own = iter(cycle(ONLY[markup])) if markup in ONLY else deeds
        for _ in range(row.each):
            action, thing = next(each for each in own if each in row.deeds or (markup in ONLY and each[0] in actions))
            rows = 1 if markup in ALONE else min(next(sizes), 2 if markup in _TALL else 12)
            inner = next(inners) if markup in _IN_CHILD else ""
            # What is made anew in a frame that came anew lived in another document: it may be called gone.
            is_in_other_frame = markup == "frames" and row.moment == "before" and row.change.endswith("_fresh")
            kind: Kind = "either" if is_in_other_frame and row.kind == "hit" else row.kind
            yield Case(row.change, row.moment, markup, rows, action, thing, kind, next(ms), inner, **more)


# --- playing one ------------------------------------------------------------------------------------------------------

VERBS = {
    "delete": "Delete",
    "edit": "Edit",
    "open": "Open",
    "note": "Note",
    "notify": "Notify",
    "role": "Role",
    "move": "Move",
    "pause": "Pause",
    "confirm": "Confirm",
    "book": "Book",
    "pay": "Pay",
    "send": "Send",
}


async def play(case: Case, browser: LiveBrowser, address: str) -> Played:
    """What comes of it when the product acts."""
    looked = await looked_at(case, browser, address)
    await _change(case, looked.frame)
    try:
        outcome = await browser.act(_action_of(case, looked), looked.seen)
    except BrowserUnavailable as error:
        told = await _heard(browser.page)
        return Played(case, None, told, wrong(case, looked.who, told), f"raised: {error}")
    told, edited = await _heard(browser.page), await _edited(looked.frame)
    others = wrong(case, looked.who, told)
    return Played(case, outcome, told, others, trouble_of(case, outcome, looked.who, told, edited))


@dataclass(frozen=True)
class Looked:
    """What was seen before the page changes, and which mark is meant."""

    seen: Observation
    mark: Mark
    frame: Frame
    """Whose script knows who is meant."""
    who: str
    """What that is called in the page's log."""


async def looked_at(case: Case, browser: LiveBrowser, address: str) -> Looked:
    """What is seen of the page before it changes; which mark is meant is told by where the page has its control."""
    page = browser.page
    await page.mouse.move(*_AWAY)
    asked = f"markup={case.markup}&rows={case.rows}&thing={case.thing}&inner={case.inner}&extra={case.extra}"
    await browser.open(f"{address}/index.html?{asked}")
    seen = await browser.observe()
    frame = await _frame_of(case, page)
    place = await frame.evaluate("whereMeant()")
    if frame.parent_frame is not None:
        around = await (await frame.frame_element()).bounding_box() or {"x": 0, "y": 0}
        place = {**place, "x": place["x"] + around["x"], "y": place["y"] + around["y"]}
    named = [mark for mark in seen.marks if mark.name == VERBS[case.thing]]
    for _ in range(_MORE_LOOKS):
        if named:
            break
        seen = await browser.observe()  # on a very busy machine a frame may not have answered yet
        named = [mark for mark in seen.marks if mark.name == VERBS[case.thing]]
    assert named, f"no {VERBS[case.thing]} in\n{seen.listing}"
    by_distance = {hypot(each.box.center.x - place["x"], each.box.center.y - place["y"]): each for each in named}
    assert min(by_distance) < _NEAR, f"no {VERBS[case.thing]} at {place} in\n{seen.listing}"
    return Looked(seen, by_distance[min(by_distance)], frame, place["who"])


async def _change(case: Case, frame: Frame) -> None:
    if case.change == "to_another":
        await frame.evaluate("CHANGES.to_another()")
        await frame.wait_for_url("**who=Bob**")
        return
    asked = [case.change, case.moment, case.ms]
    await frame.evaluate("([name, moment, ms]) => changeAt(name, moment, ms)", asked)


async def _frame_of(case: Case, page: Page) -> Frame:
    if case.markup not in _IN_CHILD:
        return page.main_frame
    is_anns = "who=Ann" if case.markup == "framed" else ""
    return next(each for each in page.frames if each.parent_frame and is_anns in each.url)


def _action_of(case: Case, looked: Looked) -> Action:
    number = looked.mark.number
    match case.action:
        case "click":
            return Click(target=number)
        case "type":
            return Type(target=number, text=TEXT)
        case "check":
            return Check(mark=number, checked=True) if case.thing == "notify" else Click(target=number)
        case "select":
            return Select(target=number, options=("Member",))
        case "press":
            return Press(target=number, keys="Enter")
        case "drag":
            archive = next(each.number for each in looked.seen.marks if each.name == "Archive")
            return Drag(source=number, target=archive)
        case _:
            raise ValueError(f"no such action: {case.action}")


async def _heard(page: Page) -> tuple[Told, ...]:
    """All that the page and the pages in it say has happened."""
    told = []
    for frame in page.frames:
        try:
            told += [Told(**each) for each in await frame.evaluate("typeof heard === 'object' ? heard : []")]
        except PlaywrightError:
            if not frame.is_detached():
                raise
    return tuple(told)


async def _edited(frame: Frame) -> dict[str, str] | None:
    """What the row said at the look and says now, where its elements stayed; None where they did not."""
    if frame.is_detached():
        return None
    edited: dict[str, str] | None = await frame.evaluate("edited")
    return edited


# --- judging ----------------------------------------------------------------------------------------------------------

_IN_A_PRESS = ("pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "contextmenu", "auxclick")
_CONSEQUENCES = ("input", "change", "dragstart")


def begun(case: Case, told: Sequence[Told]) -> tuple[Told, ...]:
    """What each gesture reached first: what the page does with the rest of it is its own doing."""
    first: list[Told] = []
    last: Told | None = None
    for each in told:
        if each.type in _IN_A_PRESS:
            goes_on = last is not None and last.type in _IN_A_PRESS and _rank(last) < _rank(each)
        else:
            # Text that comes into a field has to be meant for whom it reaches, also after the click into it.
            own = each.type == "input" and case.action == "type" and (last is None or last.type != "keydown")
            goes_on = each.type in _CONSEQUENCES and last is not None and not own
        if not goes_on:
            first.append(each)
        if each.type not in _CONSEQUENCES:
            last = each
    return tuple(first)


def _rank(told: Told) -> int:
    return _IN_A_PRESS.index(told.type)


def wrong(case: Case, who: str, told: Sequence[Told]) -> tuple[Told, ...]:
    """What began on anybody but who was meant, and clicks and keys that no hand made."""
    return tuple(each for each in begun(case, told) if _is_wrong(who, each))


def _is_wrong(who: str, each: Told) -> bool:
    if each.type == "drop":
        return each.who != "Archive"
    if each.who == who:
        return not each.trusted and each.type in (*_IN_A_PRESS, "keydown")
    # A press on no thing at all does nothing; a key that goes to the page may be a short cut.
    return each.who != "nothing" or each.type == "keydown"


def is_hit(case: Case, who: str, told: Sequence[Told]) -> bool:
    """Whether what was meant got all of it, once; of what changes on the press, whether that began there."""
    mine = [each for each in told if each.who == who and (each.trusted or case.action == "select")]
    values = {kind: [each.value for each in mine if each.type == kind] for kind in (*_IN_A_PRESS, "input", "change")}
    if case.moment == "down" or (case.moment in ("between", "timer") and case.action in ("click", "check", "drag")):
        # What came in the middle of the press may have taken away its end.
        return [each.type for each in begun(case, mine)].count("pointerdown") == 1
    match case.action:
        case "check" if case.thing == "notify":
            return values["change"] == ["true"]
        case "click" | "check":
            return len(values["click"]) == 1
        case "type":
            return values["input"][-1:] == [TEXT]
        case "select":
            return values["change"] == ["Member"]
        case "press":
            return [each.value for each in mine if each.type == "keydown"] == ["Enter"]
        case _:
            return [(each.who, each.value) for each in told if each.type == "drop"] == [("Archive", who)]


def trouble_of(
    case: Case, outcome: Outcome, who: str, told: Sequence[Told], edited: dict[str, str] | None = None
) -> str:
    """Why an outcome is not what the page's log and the declared verdict say it must be."""
    if others := wrong(case, who, told):
        return f"WRONG {_said(others)}; {outcome.status}: {outcome.sentence}"
    status: str = outcome.status
    if status == "partial":
        return "" if case.kind == "either" or _may_be_cut(case, told) else f"partial: {outcome.sentence}"
    if status == "refused":
        if told:
            return f"refused, but the page heard {_said(told)}: {outcome.sentence}"
        if case.kind == "hit":
            return f"refused as {outcome.refusal}: {outcome.sentence}"
        if case.change == "swap_columns":  # the name beside it is the same
            return "" if 'changed from "' in outcome.sentence else f"does not say what changed: {outcome.sentence}"
        if case.kind == "refuse" and edited is not None and case.markup != "pictures":
            return _unsaid(outcome.sentence, edited)
        return ""
    if case.kind == "refuse":
        return f"done, not refused: {outcome.sentence}"
    if not is_hit(case, who, told):
        return f"done, but the page heard {_said(told) or 'nothing'}: {outcome.sentence}"
    if case.moment == "down" and outcome.effect in (None, "no_effect"):
        return f"the change on the press is not told: {outcome.sentence}"
    return ""


def _may_be_cut(case: Case, told: Sequence[Told]) -> bool:
    """Whether what cannot be taken back was rightly kept from a row that had changed on the press."""
    is_clicked = any(each.type == "click" for each in told)
    return case.moment == "down" and case.thing in ("delete", "pay", "confirm", "send") and not is_clicked


def _unsaid(sentence: str, edited: dict[str, str]) -> str:
    """What a refusal fails to say of the words then and now."""
    found = _CHANGED_FROM.search(sentence)
    if found and edited["then"] in found[1] and edited["now"] in found[2]:
        return ""
    return f'does not say: changed from "{edited["then"]}" to "{edited["now"]}": {sentence}'


def _said(told: Sequence[Told]) -> str:
    """The few first of what happened."""
    return "; ".join(list(dict.fromkeys(map(str, told)))[:4])

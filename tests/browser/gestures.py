"""Widgets that react to one event of a gesture, and what the page itself says of what reached it.

The page tells each trusted event by names that only its script knows (`fixtures/gestures/page.js`); from that alone
follows what the outcome of the act must be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from playwright.async_api import Page

from vision_agent.actions import Action, Check, Click, Drag, Offset, Press, Select, Type
from vision_agent.browser.live import LiveBrowser
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome

FOLDER = Path(__file__).parents[2] / "fixtures" / "gestures"
SETTINGS = ObserveSettings(quiet_s=0.05, settle_deadline_s=0.6, action_deadline_s=20, navigation_deadline_s=20)

CLICKED = (
    "button", "link", "listening", "menuitem", "option", "suggestion", "combobox", "tab", "treeitem", "summary", "icon",
    "canvas", "card", "nested", "shadow", "closed", "frame", "cross", "dialog", "popover", "date", "chip",
)  # fmt: skip
TICKED = ("checkbox", "label", "switch", "radio")
TYPED = ("input", "textarea", "editor")
DRAGGED = ("handle", "slider")
WIDGETS = (*CLICKED, *TICKED, *TYPED, *DRAGGED, "select")
EVENTS = ("pointerdown", "mousedown", "pointerup", "mouseup", "click", "focus")
REACTIONS = ("rename", "replace", "cover", "move", "remove", "navigate", "focus")
TEXT = "see you"
_ACTIVATES = {"pointerdown", "mousedown", "pointerup", "mouseup", "click", "dblclick", "auxclick", "contextmenu"}
_NOT_MEANT = {"trap", "other", "around"}


@dataclass(frozen=True)
class Case:
    """One widget, the event on which it reacts, how it does, and what is done to it."""

    widget: str
    on: str
    does: str
    deed: Literal["click", "double", "right", "check", "type", "drag", "select", "press"]
    trap: bool
    """Whether something else comes to lie where it was moved away or removed."""

    @property
    def id(self) -> str:
        return f"{self.deed}-{self.widget}-{self.on}-{self.does}" + "-trap" * self.trap

    @property
    def query(self) -> str:
        return f"widget={self.widget}&on={self.on}&does={self.does}&trap={int(self.trap)}"


@dataclass(frozen=True)
class Told:
    """One trusted event, as the page tells it."""

    type: str
    who: str
    value: str
    at: float


@dataclass(frozen=True)
class Played:
    """What came of a case."""

    outcome: Outcome
    told: tuple[Told, ...]
    trouble: str
    """Where the outcome and the page's own log do not agree; empty if they do."""


def cases() -> tuple[Case, ...]:
    """All of them, in an order that stays."""
    made = [
        Case(widget, on, does, _deed(widget), trap=(place + number) % 2 == 0)
        for place, widget in enumerate(WIDGETS)
        for on in EVENTS
        for number, does in enumerate(REACTIONS)
    ]
    for deed, widget in (("double", "button"), ("double", "listening"), ("right", "link"), ("press", "button")):
        made += [
            Case(widget, on, does, deed, trap=number % 2 == 0)  # type: ignore[arg-type]
            for on in (*EVENTS, "keydown")
            for number, does in enumerate(REACTIONS)
        ]
    return tuple(made)


def _deed(widget: str) -> Any:
    for deed, widgets in (("check", TICKED), ("type", TYPED), ("drag", DRAGGED), ("select", ("select",))):
        if widget in widgets:
            return deed
    return "click"


async def play(case: Case, browser: LiveBrowser, address: str, told: list[Told]) -> Played:
    """What comes of it. `told` is filled by the page while it is acted on."""
    await browser.page.mouse.move(1270, 790)
    await browser.open(f"{address}/index.html?{case.query}")
    seen = await browser.observe()
    found = [mark.number for mark in seen.marks if mark.name in ("Target", "Target Choose")]
    assert len(found) == 1, seen.listing
    told.clear()
    outcome = await browser.act(_action(case, found[0]), seen)
    heard = tuple(sorted(told, key=lambda each: each.at))
    return Played(outcome, heard, _trouble(case, outcome, heard))


async def listened_to(page: Page) -> list[Told]:
    """What a page tells from now on, in all its documents."""
    told: list[Told] = []

    def hear(source: Any, event: dict[str, Any]) -> None:
        told.append(Told(**event))

    await page.expose_binding("told", hear)
    return told


def _action(case: Case, number: int) -> Action:
    match case.deed:
        case "click":
            return Click(target=number)
        case "double":
            return Click(target=number, count=2)
        case "right":
            return Click(target=number, button="right")
        case "check":
            return Check(mark=number, checked=True)
        case "type":
            return Type(target=number, text=TEXT)
        case "drag":
            return Drag(source=number, target=Offset(right=60, down=4))
        case "select":
            return Select(target=number, options=("High",))
        case "press":
            return Press(target=number, keys="Enter")


# --- judging ----------------------------------------------------------------------------------------------------------


def _trouble(case: Case, outcome: Outcome, told: Sequence[Told]) -> str:
    wrong = [each for each in told if each.who in _NOT_MEANT and each.type in _ACTIVATES]
    said = ", ".join(f"{each.type} on {each.who}" for each in told)
    if wrong and not _may_be_reached(case, wrong):
        return f"something else was reached: {said}"
    must = verdict(case, told)
    if outcome.status not in must:
        return f"{outcome.status} must be {' or '.join(must)}: {outcome.sentence} The page says: {said}"
    return ""


def _may_be_reached(case: Case, wrong: Sequence[Told]) -> bool:
    """A drag ends on whatever lies there; and what is around a pressed thing hears of its release anyway."""
    are_releases = all(each.type in ("pointerup", "mouseup") for each in wrong)
    return are_releases and (case.deed == "drag" or all(each.who == "around" for each in wrong))


def verdict(case: Case, told: Sequence[Told]) -> tuple[str, ...]:
    """Which outcomes agree with what the page says."""
    mine = [each.type for each in told if each.who == "meant" and each.type != "reacted"]
    if not [each for each in told if each.type != "reacted"]:
        return ("refused",)
    if not mine:
        return ()  # something arrived, and on nothing that was meant
    if _is_brought_back(case, told):
        return ("partial",)
    if _is_whole(case, told, mine):
        return ("done",)
    began = [each.value for each in told if each.type == "reacted"]
    if not began or case.deed in ("type", "select"):
        return ("partial",)
    if case.deed != "double" or case.does == "navigate":
        return ("done",)
    # The thing went before its first click, or after it: only then is it sure that a second one was to come.
    return ("partial",) if "click" in mine else ("done", "partial")


def _is_brought_back(case: Case, told: Sequence[Told]) -> bool:
    """Whether what is dragged got another name as it was taken: it may be something else, so it must not be dropped."""
    types = [each.type for each in told]
    is_renamed = case.deed == "drag" and case.does == "rename" and case.widget != "slider"
    return is_renamed and "reacted" in types and "pointerup" in types[types.index("reacted") :]


def _is_whole(case: Case, told: Sequence[Told], mine: Sequence[str]) -> bool:
    match case.deed:
        case "type":
            return TEXT in [each.value for each in told if each.who == "meant" and each.type == "input"]
        case "select":
            return "change" in mine
        case "double":
            return "dblclick" in mine
        case "right":
            return "contextmenu" in mine
        case "drag":
            return any(each.type in ("mouseup", "pointerup") for each in told)
        case "press":
            return "keydown" in mine
        case _:
            return "click" in mine

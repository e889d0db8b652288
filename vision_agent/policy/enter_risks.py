"""The risks of Enter and Space: what a key may press or send, in a form, beside a field, or wherever the focus is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vision_agent.observation import Mark, MarkState, Observation
from vision_agent.policy import risk_words
from vision_agent.policy.press_risks import is_button, mark_words, press_risks, word_risks
from vision_agent.policy.risk_tables import CARD_FIELDS
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Risk

_GRAVE: frozenset[Risk] = frozenset({"pay", "delete", "send"})
"""Risks of words that count wherever a key may press a button."""
_BESIDE_PX = (80, 40)
"""How far a button may be from a field, across and along, to stand right beside it. CSS pixels."""


@dataclass(frozen=True)
class KeyFocus:
    """The mark that receives keys without a target at this point of the decision."""

    mark: Mark | None
    is_known: bool = True


def enter_risks(
    settings: ApprovalSettings, focus: KeyFocus, seen: Observation, *, is_enter: bool
) -> Iterator[tuple[Risk, str]]:
    """The risks of Enter or Space: in a field or on a checkbox, Enter can send the form; on a button, both press it; an
    unknown focus may be in a form.
    """
    mark = focus.mark
    if not focus.is_known or (mark is None and is_enter):
        yield "submit", "the key goes to whatever has the focus then and can send its form"
        yield from _anywhere_risks(settings, seen, is_enter=is_enter)
    elif mark is not None and mark.kind != "field":
        yield from press_risks(settings, mark, seen)
        if is_enter and mark.kind == "toggle" and mark.tag in ("input", "label"):
            yield "submit", f"Enter on {mark_words(mark)} can send its form"
            yield from form_risks(settings, mark, seen)
    elif is_enter and mark is not None:
        risks = {**dict(_beside_risks(settings, mark, seen)), **dict(form_risks(settings, mark, seen))}
        if not _is_search(mark, seen, {*risks}):
            yield "submit", f"Enter in {mark_words(mark)} can send its form"
            yield from risks.items()


def _anywhere_risks(settings: ApprovalSettings, seen: Observation, *, is_enter: bool) -> Iterator[tuple[Risk, str]]:
    """The grave risks of a key whose receiver is not known: it may be pressed on any mark that can have the focus."""
    for mark in seen.marks:
        if mark.kind != "field":
            found = press_risks(settings, mark, seen)
        elif is_enter:
            found = form_risks(settings, mark, seen)
        else:
            continue
        for risk, _ in found:
            if risk in _GRAVE:
                yield risk, f"the key goes to whatever has the focus then, which may be {mark_words(mark)}"


def form_risks(
    settings: ApprovalSettings, field: Mark, seen: Observation, how: str = "Enter presses"
) -> Iterator[tuple[Risk, str]]:
    """The risks of a click on the first button of the form around a field, but for those that Enter has anyway.

    A form without a button is judged by where it goes and by its heading.
    """
    button = button_of(field, seen)
    if button is None:
        return
    found = [*press_risks(settings, button, seen)]
    if not button.name:
        for text in (button.heading, button.title):
            found += word_risks(settings, text, "it answers")
    whys: dict[Risk, str] = {}
    for risk, why in found:
        if risk != "submit" or not button.state.submits:
            whys.setdefault(risk, _enter_words(button, why, how))
    yield from whys.items()


def _enter_words(button: Mark, why: str, how: str) -> str:
    """Why Enter has a risk, which names the button that it presses: `Enter presses “Pay €14 now”`."""
    if not button.name:
        return f"it sends the form: {why}"
    named = f"{how} “{button.name}”"
    return named if f"“{button.name}”" in why else f"{named}: {why}"


def button_of(field: Mark, seen: Observation) -> Mark | None:
    """The button that Enter in a field presses in its form; None without a form.

    One that is no mark, because it is out of view or hidden, is judged by what its form says and by what is beside the
    field. A form without a button counts as a button without a name.
    """
    enter = field.enter
    if enter is None:
        return None
    marked = next((each for each in seen.marks if enter.key and each.key == enter.key), None)
    if marked is not None:
        return marked
    words = {"name": enter.name, "shows": enter.shows, "says": enter.says, "tag": enter.tag}
    return field.model_copy(
        update={**words, "role": "button", "kind": "button", "state": MarkState(submits=True), "evidence": ()}
    )


def _beside_risks(settings: ApprovalSettings, field: Mark, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The grave risks of the buttons beside a field without a form: its page may press one of them at Enter.

    These are the nearest button that follows, and all near ones that send something or pay. A search that filters rows
    often stands beside a button that deletes those that are selected.
    """
    is_search = field.state.input_type == "search" or field.role == "searchbox"
    if field.enter is not None or field.source != "dom":
        return
    near = [each for each in seen.marks if is_button(each) and _is_near(field, each)]
    following = [each for each in near if each.box.x >= field.box.x or each.box.y >= field.box.bottom]
    nearest = min(following, key=lambda each: sum(_gaps(field, each)), default=None)
    for button in near:
        for risk, _ in press_risks(settings, button, seen):
            if risk in ("send", "pay") or (risk in _GRAVE and button is nearest and not is_search):
                yield risk, f"Enter may press “{button.name}” beside it"


def _is_near(field: Mark, button: Mark) -> bool:
    """Whether a button stands right beside a field, or just over or under it, in the same frame and dialog."""
    across, along = _gaps(field, button)
    is_with_it = (field.frame, field.in_dialog) == (button.frame, button.in_dialog) and button.source == "dom"
    return is_with_it and across <= _BESIDE_PX[0] and along <= _BESIDE_PX[1]


def _gaps(mark: Mark, button: Mark) -> tuple[float, float]:
    """How far the boxes of two marks are apart, across and along; 0 where they overlap."""
    one, other = mark.box, button.box
    across = max(one.x - other.right, other.x - one.right, 0.0)
    return across, max(one.y - other.bottom, other.y - one.bottom, 0.0)


def _is_search(field: Mark, seen: Observation, risks: set[Risk]) -> bool:
    """Whether Enter in a field only searches. The page says what a field is for, so its form must look like a search:
    it is sent by GET, takes no card and no password, and names no risk and no amount.
    """
    if field.state.input_type != "search" and field.role != "searchbox":
        return False
    if risks - {"submit"}:
        return False
    if field.enter is None:
        return True
    same = [each for each in seen.marks if each.enter is not None and each.enter.key == field.enter.key]
    cards = risk_words.entries_of(CARD_FIELDS)
    if not field.enter.asks or any(risk_words.says_one_of(each.name, cards) for each in (field, *same)):
        return False
    # Of amounts, those in its form count, which the page is asked about: a shop has prices everywhere.
    said = (field.name, field.title, field.context, field.enter.name, field.enter.says)
    names_amount = any(map(risk_words.has_amount, said))
    return not names_amount and not any(_GRAVE & {*risk_words.risks_in(text)} for text in (*said, field.heading))

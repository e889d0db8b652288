"""The risks of pressing a mark, by the words on it, behind it and beside it, and by where it leads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from vision_agent.observation import Mark, Observation
from vision_agent.policy import risk_words
from vision_agent.policy.asked_question import is_answer, words_over
from vision_agent.policy.risk_tables import ENDS_ORDER, TOTALS
from vision_agent.settings import ApprovalSettings
from vision_agent.text.urls import host_of
from vision_agent.types import Risk

_CHOSEN = frozenset(
    ("tab", "option", "treeitem", "row", "cell", "gridcell", "rowheader", "columnheader", "listitem", "article")
)
"""Roles of what is chosen or looked at, and is no button, though a press on it does something."""
_ANSWERED: frozenset[Risk] = frozenset({"pay", "delete"})
"""Risks of what is said beside an answer that is in no dialog; there, other words are about something else as well."""


def press_risks(settings: ApprovalSettings, mark: Mark | None, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks of a press on a mark, each with the reason; none for a mark that the settings call harmless."""
    if mark is None or is_named(mark, settings.harmless):
        return
    if mark.state.submits:
        yield "submit", f"{mark_words(mark)} sends a form"
    if mark.state.input_type == "file":
        yield "upload", f"{mark_words(mark)} takes files"
    if not is_plain_field(mark):
        yield from _text_risks(settings, mark, seen)
    if mark.is_drawn_editor:
        yield from word_risks(settings, mark.state.value or "")
    if mark.state.leads_to:
        yield from leave_risks(settings, mark.state.leads_to, seen)


def _text_risks(settings: ApprovalSettings, mark: Mark, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks that all texts about a mark indicate: those that a person reads on it, and those behind it."""
    yield from _answer_risks(settings, mark, seen)
    yield from _amount_risks(settings, mark)
    yield from word_risks(settings, mark.name)
    yield from word_risks(settings, mark.says, "it says")
    if is_button(mark) and risk_words.is_named_bin(mark.shows or mark.name):
        yield "delete", f"it is called “{mark.shows or mark.name}”, like a bin"
    if mark.icon is not None:  # a guess, which can only add a risk
        yield from word_risks(settings, mark.icon.name, "its icon looks like")
    if mark.shows:
        yield "mismatch", f"it is called “{mark.name}” and shows “{mark.shows}”"
    if mark.in_dialog and mark.kind != "field" and not risk_words.is_refusal(mark.shows or mark.name):
        yield from dialog_risks(settings, mark.context)


def _answer_risks(settings: ApprovalSettings, mark: Mark, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risks of what a button called `Yes` agrees to, by the headings over it and the words beside it."""
    if not is_answer(mark):
        return
    over = [] if mark.context and mark.source == "dom" else words_over(mark, seen)
    beside = " ".join(filter(None, [mark.context, *over, *mark.prices]))
    for risk, why in word_risks(settings, beside, "it answers"):
        if mark.in_dialog or risk in _ANSWERED:
            yield risk, why
    if mark.in_dialog and beside not in settings.harmless and risk_words.has_amount(beside):
        yield "pay", f"it answers “{beside}”"
    ends = risk_words.says_one_of(mark.shows or mark.name, risk_words.entries_of(ENDS_ORDER))
    totals = risk_words.entries_of(TOTALS)
    if ends and risk_words.has_amount(beside) and risk_words.says_one_of(beside, totals):
        yield "pay", f"it answers “{beside}”"
    for heading in (mark.heading, mark.title):
        yield from word_risks(settings, heading, "it answers")


def _amount_risks(settings: ApprovalSettings, mark: Mark) -> Iterator[tuple[Risk, str]]:
    """The risk of a button whose own words have an amount of money: it may pay it.

    A link may lead to a product of that price, and what is chosen may cost it; these pay only if their words say so.
    """
    if not is_button(mark) or risk_words.only_shows(mark.shows or mark.name):
        return
    for text in (mark.name, mark.shows, mark.says):
        if text not in settings.harmless and risk_words.has_amount(text):
            yield "pay", f"it has an amount in its words, “{text}”"


def word_risks(settings: ApprovalSettings, text: str, how: str = "it is called") -> Iterator[tuple[Risk, str]]:
    """The risks that a text indicates."""
    if not text or text in settings.harmless:
        return
    found = dict.fromkeys(risk_words.risks_in(text))
    for risk, words in settings.words.items():
        if risk_words.says_one_of(text, words):
            found[risk] = None
    for risk in found:
        yield risk, f"{how} “{text}”"


def dialog_risks(settings: ApprovalSettings, text: str) -> Iterator[tuple[Risk, str]]:
    """The risks of agreeing to what a dialog says."""
    yield from word_risks(settings, text, "it answers")
    if text not in settings.harmless and risk_words.is_irreversible(text):
        yield "delete", f"it answers “{text}”"


def leave_risks(settings: ApprovalSettings, host: str, seen: Observation) -> Iterator[tuple[Risk, str]]:
    """The risk of going to another host that is not one of the allowed ones."""
    here = host_of(seen.url)
    is_ours = any(fnmatchcase(host, each.casefold()) for each in settings.hosts)
    if host and here and host != here and host != f"www.{here}" and here != f"www.{host}" and not is_ours:
        yield "leave", f"it leads from {here} to {host}"


def is_button(mark: Mark) -> bool:
    """Whether it acts as a button: a form's, a box that takes clicks, or what only calls itself a link."""
    if mark.state.submits:
        return True
    if mark.kind == "link":
        return mark.tag not in ("a", "area")
    if mark.kind == "guess":
        return mark.looks_like == "button"
    return mark.kind == "button" and mark.tag != "summary" and mark.role not in _CHOSEN


def is_plain_field(mark: Mark) -> bool:
    """Whether a press on it only puts the caret there. The box around a field listens for presses itself."""
    return mark.kind == "field" and not mark.is_drawn_editor and not mark.is_boxed_field


def is_named(mark: Mark, names: Sequence[str]) -> bool:
    """Whether a mark has one of these names, in any case."""
    return mark.name.strip().casefold() in {each.strip().casefold() for each in names}


def mark_words(mark: Mark) -> str:
    """A mark as the reason of a risk names it; the decision shown beside it says which of several it is."""
    return f"{mark.tag} “{mark.name}”" if mark.name else mark.tag

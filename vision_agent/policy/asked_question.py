"""The question that a button such as `Yes` or `Continue` answers: the words beside it, or those just over it.

Approval judges such a button by these words, and a replay presses it only where they are those of the record. Knows
observations; no settings, no browser.
"""

from __future__ import annotations

import re

from vision_agent.observation import Mark, Observation
from vision_agent.policy import risk_words
from vision_agent.text.money import amounts_in

_ANSWERING = frozenset(("button", "link", "guess"))
"""Kinds of marks that may answer a question."""
_MOST_OVER = 3
"""How many of the texts just over a button count."""
TEXT_LINE = "_[:]"
"""How a line of the listing begins that is of no mark."""
_BETWEEN_ROWS = " ⏎ "
_TIMES = re.compile(
    r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?(?![\w:])"
    r"|\b(?:\d+\s?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)[\s,]*)+(?:ago|left|remaining)\b"
    r"|\bjust now\b|\ba moment ago\b",
    re.IGNORECASE,
)
"""Times of day and relative times, which differ in every run."""
_COUNTER = re.compile(r"\W*(?:\w+:\s*)?\d+(?:\W+\d+)*(?:\s+\w+){0,2}\W*")
"""A text that only counts: `12 visitors`, `Views: 12`."""
_LETTERS = re.compile(r"[^\W\d_]+")
_NUMBERS = re.compile(r"\d+")


def is_answer(mark: Mark) -> bool:
    """Whether a mark only agrees, so that what stands beside or over it says to what."""
    return mark.kind in _ANSWERING and risk_words.is_answer(mark.shows or mark.name)


def words_over(mark: Mark, seen: Observation, most: int = _MOST_OVER) -> tuple[str, ...]:
    """The last texts of the listing just over a mark, with no other mark between them but answers in the same row.

    What a mark is drawn in is not between them either. `most`: how many texts count.
    """
    lines = seen.listing.split("\n")
    marks = {f"{each.label_text}[:]": each for each in seen.marks}
    at = next((at for at, line in enumerate(lines) if line.startswith(f"{mark.label_text}[:]")), 0)
    while at > 1 and _is_passed(marks.get(f"{lines[at - 1].partition('[:]')[0]}[:]"), mark):
        at -= 1
    line = lines[at - 1] if at else ""
    return tuple(line.removeprefix(TEXT_LINE).split(_BETWEEN_ROWS)[-most:]) if line.startswith(TEXT_LINE) else ()


def question_of(mark: Mark, seen: Observation) -> tuple[str, ...]:
    """What an answer is to, as the page writes it, with the numbers that the words beside a mark leave out.

    The heading is not part of it. Of the texts over a mark that has words beside it, those count that these words have
    too.
    """
    over = tuple(text for text in words_over(mark, seen) if text not in (mark.heading, mark.title))
    if not mark.context or mark.source != "dom":
        return over  # only the surely read words in the row of something drawn are beside it
    beside = _plain_words(mark.context)
    return tuple(text for text in over if (words := _plain_words(text)) and f" {words} " in f" {beside} ")


def is_same_question(was: tuple[str, ...], now: tuple[str, ...]) -> bool:
    """Whether two questions ask the same.

    Times and amounts of money may differ, and so may numbers if nothing is said that is risky. What is farther away may
    be scrolled out of view.
    """
    is_risky = any(any(risk_words.risks_in(" ".join(text))) for text in (was, now))
    said, says = (_compared(each, keep_numbers=is_risky) for each in (was, now))
    many = min(len(said), len(says))
    return said[len(said) - many :] == says[len(says) - many :] and (bool(many) or not (said or says))


def without_times(text: str) -> str:
    """The text without times of day and relative times."""
    return _TIMES.sub(" ", text)


def is_grave(question: tuple[str, ...]) -> bool:
    """Whether a question is about what pays or deletes."""
    return bool({"pay", "delete"} & {*risk_words.risks_in(" ".join(question))})


def _compared(texts: tuple[str, ...], *, keep_numbers: bool) -> list[str]:
    """The texts as they are compared, without those that only count or tell a time. The nearest may be the question."""
    kept = []
    for far, text in enumerate(reversed(texts)):
        timeless = _TIMES.sub(" ", text)
        for amount in amounts_in(timeless):
            timeless = timeless.replace(amount.words, " ")
        if not _LETTERS.search(timeless) or (_COUNTER.fullmatch(timeless) and (far or not keep_numbers)):
            continue
        kept.append(" ".join((timeless if keep_numbers else _NUMBERS.sub(" ", timeless)).split()).casefold())
    return kept[::-1]


def _plain_words(text: str) -> str:
    """The words of a text without numbers and, as counts of one and of several are told alike, without the plural."""
    return " ".join(each.casefold().rstrip("s") for each in _LETTERS.findall(text))


def _is_passed(other: Mark | None, mark: Mark) -> bool:
    return _is_answer_beside(other, mark) or (other is not None and other.number == mark.surface)


def _is_answer_beside(other: Mark | None, mark: Mark) -> bool:
    """Whether a mark is another answer to the same question: it stands in the same row, as `No` does beside `Yes`."""
    if other is None or other.kind not in _ANSWERING:
        return False
    name, middle = other.shows or other.name, other.box.center.y
    is_in_row = mark.box.y <= middle <= mark.box.y + mark.box.height
    return is_in_row and (risk_words.is_answer(name) or risk_words.is_refusal(name))

"""Which lines of a listing are relevant to a task, judged by words alone.

Knows texts and the data model; no model, no file, no page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache

from vision_agent.actions import Action, mark_in, targets_of
from vision_agent.describe.distinctions import bracketed, distinctions, safe_name
from vision_agent.observation import Observation

_MAX_LINES = 3
"""Lines of an earlier listing: the marks acted on, and those that share most words with the goal."""

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts without spaces between words: each character counts as a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be by for from how i if in into is it its me my not of on or so than that the their "
        "them then there these this those to was what when where which who will with you your"
    )
)
"""Stop words. In other languages more lines count as relevant, never fewer."""
_SHORTEST_STEM = 3
"""Letters from which a longer word with the same beginning matches, as `mugs` matches `mug`. Too many matches are
better than too few."""

_LINE = re.compile(r"^[A-Z]?(\d+)\[:\](.*)$")
_TAG_AND_TEXT = re.compile(r"^<([^>]*)>(.*)$")
_QUOTED = re.compile(r'"([^"]*)"')
_TRANSIENT = re.compile(r"(?: (?:focused|hovered|\*new|\*changed|\*moved))+>")
"""The transient state in a line, at the end of its brackets."""


def words_of(text: str) -> list[str]:
    """The words of a text, normalised for comparison: letters and digits only, in lower case."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def content_words(text: str) -> frozenset[str]:
    """The words of a text without stop words."""
    return frozenset(words_of(text)) - _STOP_WORDS


def is_about(text: str, wanted: frozenset[str]) -> bool:
    """Whether a text contains one of these words, or one that starts with it or that it starts with."""
    begun = _beginnings(wanted)
    return any(word in begun or any(each in wanted for each in _stems(word)) for word in content_words(text))


@lru_cache(maxsize=16)
def _beginnings(words: frozenset[str]) -> frozenset[str]:
    return words.union(*map(_stems, words))


def _stems(word: str) -> list[str]:
    return [word[:end] for end in range(_SHORTEST_STEM, len(word))]


def split_number(line: str) -> tuple[int | None, str]:
    """The mark of a line and the rest of the line; None for context text and for the last line."""
    found = _LINE.match(line)
    return (int(found[1]), found[2]) if found else (None, line)


def page_text_of(rest: str) -> str:
    """The page text in a line: the name and the quoted parts of its brackets, without tag and state."""
    found = _TAG_AND_TEXT.match(rest)
    return " ".join([*_QUOTED.findall(found[1]), found[2]]) if found else rest


def lines_of(seen: Observation) -> dict[int, str]:
    """Each mark's line without number and transient state; for a mark cut from the listing, its tag and name."""
    apart = distinctions(seen.marks)
    cut = {}
    for mark in seen.marks:
        beside = bracketed(str(apart.get(mark.number, "")))
        cut[mark.number] = f"<{mark.tag}>{f'{safe_name(mark.name)}{beside}'.strip()}"
    return cut | _lines_in(seen.listing)


def _lines_in(listing: str) -> dict[int, str]:
    found = map(split_number, listing.splitlines())
    return {number: _TRANSIENT.sub(">", said, count=1) for number, said in found if number is not None}


def named_marks(actions: Collection[Action]) -> set[int]:
    """The numbers of the marks that actions name."""
    return {number for action in actions for each in targets_of(action) if (number := mark_in(each)) is not None}


def most_relevant(lines: Mapping[int, str], touched: Collection[int], wanted: str) -> tuple[int, ...]:
    """The numbers of at most three relevant marks: those acted on, then those that share most words with the goal.

    They are in the order of the lines. There are fewer if no other mark shares a word.
    """
    words = set(words_of(wanted))
    shared = {number: len(words & set(words_of(line))) for number, line in lines.items()}
    best = sorted(lines, key=lambda number: (number not in touched, -shared[number]))[:_MAX_LINES]
    return tuple(number for number in lines if number in best and (number in touched or shared[number]))


@lru_cache(maxsize=512)
def relevant_lines(listing: str, touched: frozenset[int], wanted: str) -> tuple[str, ...]:
    """The most relevant lines of a listing, with numbers. Cached: each request repeats them for earlier steps."""
    lines = _lines_in(listing)
    return tuple(f"{number}[:]{lines[number]}" for number in most_relevant(lines, touched, wanted))

"""What of a page's listing has to do with a task, told from words alone.

Knows texts and what flows; no model, no file, no page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache

from vision_agent.actions import Action, mark_in, targets_of
from vision_agent.distinguish import distinctions, in_signs, unclaimed
from vision_agent.types import Observation

MOST_LINES = 3
"""Of a listing that is past: what was acted on, and what shares most words with what was wanted."""

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that put no space between words: there a character is a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_SAY_NOTHING = frozenset(
    _WORD.findall(
        "a an and are as at be by for from how i if in into is it its me my not of on or so than that the their "
        "them then there these this those to was what when where which who will with you your"
    )
)
"""They stand in any goal. In a language that is not here more lines are taken for relevant, and never fewer."""
_SHORTEST_STEM = 3
"""Letters: from here on a word that only goes on, as `mugs` after `mug`, is the same. Too many are better than few."""

_LINE = re.compile(r"^[A-Z]?(\d+)\[:\](.*)$")
_SAID = re.compile(r"^<([^>]*)>(.*)$")
_QUOTED = re.compile(r'"([^"]*)"')
_MOMENT = re.compile(r"(?: (?:focused|hovered|\*new|\*changed|\*moved))+>")
"""What a line says of the moment, behind all else in its brackets."""


def words_of(text: str) -> list[str]:
    """The words of a text, as they are compared: letters and digits only, and no capitals."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def telling_words(text: str) -> frozenset[str]:
    """Those words of a text that say what it is about."""
    return frozenset(words_of(text)) - _SAY_NOTHING


def is_about(text: str, wanted: frozenset[str]) -> bool:
    """Whether a text has any of these words, or one that begins with it, or that it begins with."""
    begun = _beginnings(wanted)
    return any(word in begun or any(each in wanted for each in _stems(word)) for word in telling_words(text))


@lru_cache(maxsize=16)
def _beginnings(words: frozenset[str]) -> frozenset[str]:
    return words.union(*map(_stems, words))


def _stems(word: str) -> list[str]:
    return [word[:end] for end in range(_SHORTEST_STEM, len(word))]


def numbered(line: str) -> tuple[int | None, str]:
    """The mark that a line of a listing is of, and what it says; no mark for text and for the last line."""
    found = _LINE.match(line)
    return (int(found[1]), found[2]) if found else (None, line)


def spoken(said: str) -> str:
    """What a line says in words of the page: the name, and what is quoted in its brackets; no tag, no state."""
    found = _SAID.match(said)
    return " ".join([*_QUOTED.findall(found[1]), found[2]]) if found else said


def lines_of(seen: Observation) -> dict[int, str]:
    """What the listing says of each mark, without number and moment; of one that was cut from it, its tag and name."""
    apart = distinctions(seen.marks)
    cut = {
        mark.number: f"<{mark.tag}>{f'{unclaimed(mark.name)}{in_signs(apart.get(mark.number))}'.strip()}"
        for mark in seen.marks
    }
    return cut | _lines_in(seen.listing)


def _lines_in(listing: str) -> dict[int, str]:
    found = map(numbered, listing.splitlines())
    return {number: _MOMENT.sub(">", said, count=1) for number, said in found if number is not None}


def touched_by(actions: Collection[Action]) -> set[int]:
    """The marks that actions name."""
    return {number for action in actions for each in targets_of(action) if (number := mark_in(each)) is not None}


def most_relevant(lines: Mapping[int, str], touched: Collection[int], wanted: str) -> tuple[int, ...]:
    """The numbers of the few marks that matter: those acted on, then those that share most words with what was wanted.

    In the order of the lines; fewer where no more share a word.
    """
    words = set(words_of(wanted))
    shared = {number: len(words & set(words_of(line))) for number, line in lines.items()}
    best = sorted(lines, key=lambda number: (number not in touched, -shared[number]))[:MOST_LINES]
    return tuple(number for number in lines if number in best and (number in touched or shared[number]))


@lru_cache(maxsize=512)
def relevant_lines(listing: str, touched: frozenset[int], wanted: str) -> tuple[str, ...]:
    """The same of a listing as it was, with their numbers. Kept, for each request tells it of every step before."""
    lines = _lines_in(listing)
    return tuple(f"{number}[:]{lines[number]}" for number in most_relevant(lines, touched, wanted))

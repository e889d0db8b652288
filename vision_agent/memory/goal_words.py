"""Splits the words of a goal into steady ones, the same in every instance of a task, and varying ones.

"Enter "Ann" and press Submit" and "Enter "Bob" and press Submit" are the same task: quoted text, numbers and dates
vary. This module knows only text: no page, no file, no index.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from vision_agent.policy.relevance import words_of

VARYING = 0.1
"""The weight of a varying word, where a steady one has 1: it breaks ties and never outweighs the task."""
LONGEST = 4_000
"""The most characters read of a goal. The task is clear long before that; the rest is text to copy."""
MOST_WORDS = 80

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|‘[^’]*’|(?<!\w)'[^']*'(?!\w)|`[^`]*`")
_VARYING = re.compile(
    r"\d|@|#|://|^(?:jan(?:uary)?|feb(?:ruary)?|march|apr(?:il)?|june?|july?|aug(?:ust)?|sept(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
"""Matches words with numbers, dates, addresses or network names."""


class Goal(NamedTuple):
    """The words of a goal, each once, in order."""

    steady: tuple[str, ...]
    varying: tuple[str, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """All words of the goal."""
        return self.steady + self.varying

    def weight(self, word: str) -> float:
        """The weight of this word of the goal."""
        return 1.0 if word in self.steady else VARYING


def parse(text: str) -> Goal:
    """Splits a goal into steady and varying words; a word that is both counts as steady."""
    return _parse(text[:LONGEST])


@lru_cache(maxsize=1024)
def _parse(text: str) -> Goal:
    varying, rest = _QUOTED.findall(text), _QUOTED.sub(" ", text)
    bare: list[str] = []
    for each in rest.split():
        (varying if _VARYING.search(each) else bare).append(each)
    steady = tuple(dict.fromkeys(words_of(" ".join(bare))))[:MOST_WORDS]
    return Goal(
        steady, tuple(dict.fromkeys(each for each in words_of(" ".join(varying)) if each not in steady))[:MOST_WORDS]
    )


def likeness(one: Goal, other: Goal, rarity: Mapping[str, float]) -> float:
    """The weighted share of words that two goals have in common, 0 to 1; rare words weigh more."""
    both = sum(min(one.weight(word), other.weight(word)) * rarity[word] for word in {*one.words} & {*other.words})
    each = sum(goal.weight(word) * rarity[word] for goal in (one, other) for word in goal.words)
    return 2 * both / each if each else 0.0

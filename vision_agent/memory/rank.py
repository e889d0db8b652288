"""Weighs exemplars against a task on a page, and lets the best three vote on what kind of task it is.

Knows words, a site and counts of kinds; no file, no index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vision_agent.memory.goal import Goal, likeness, parse
from vision_agent.memory.index import Entry, trust
from vision_agent.types import Kind

TEXT, SITE, LOOK = 0.6, 0.25, 0.15
"""What is wanted weighs most: the same form on another site helps more than another task on this one. The look decides
among tasks that are worded alike; two pages that do the same have rarely the same counts, so it weighs least."""
LEAST_ALIKE = 0.3
"""Of the text. Below it only "click", "the" and "submit" are common, and another task's way would mislead."""
SAME_FAMILY = 0.6
"""Of the text, between two exemplars of one site: what is left of the words differs only in what varies."""
LEAST_TRUSTED = 0.25
"""Of what failed so much more often than it helped, nothing is to be learned."""
VOTERS = 3
NEAR_THE_BEST = 0.7
"""Of the best score. Two that are only somewhat alike do not outvote one that fits."""


class Ranked(NamedTuple):
    """An exemplar with how well it fits, and why."""

    entry: Entry
    score: float
    why: str


class Vote(NamedTuple):
    """What the best three said: which of them are of the kind of task that won."""

    winner: str
    """The id of the best of them."""
    agreed: tuple[str, ...]
    voters: int


def rank(
    goal: Goal, site: str, kinds: Mapping[Kind, int], candidates: Sequence[Entry], rarity: Mapping[str, float]
) -> tuple[Ranked, ...]:
    """Those that are alike enough, the best first."""
    weighed = (_weigh(goal, site, kinds, each, rarity) for each in candidates)
    return tuple(sorted(filter(None, weighed), key=lambda each: (-each.score, each.entry.id)))


def vote(ranked: Sequence[Ranked], rarity: Mapping[str, float]) -> Vote | None:
    """The majority of the best three, as far as they are near the best; where they all differ, the best of them."""
    voters = [each for each in ranked[:VOTERS] if each.score >= NEAR_THE_BEST * ranked[0].score]
    if not voters:
        return None
    groups = [[other for other in voters if _is_same_family(each.entry, other.entry, rarity)] for each in voters]
    # `max` takes the first of several that are equal, and so the better ranked.
    agreed = max(groups, key=len)
    return Vote(agreed[0].entry.id, tuple(each.entry.id for each in agreed), len(voters))


def _weigh(
    goal: Goal, site: str, kinds: Mapping[Kind, int], entry: Entry, rarity: Mapping[str, float]
) -> Ranked | None:
    text = likeness(goal, parse(entry.goal), rarity)
    if text < LEAST_ALIKE or trust(entry.standing) < LEAST_TRUSTED:
        return None
    parts, said = [(TEXT, text)], [f"text {text:.0%} alike"]
    if site and entry.site:
        parts.append((SITE, float(site == entry.site)))
        said.append("same site" if site == entry.site else "another site")
    # What could not be told is left out rather than taken for unlike.
    if kinds and entry.kinds:
        look = _look(kinds, entry.kinds)
        parts.append((LOOK, look))
        said.append(f"kinds of marks {look:.0%} alike")
    standing = entry.standing
    if standing.helped or standing.failed:
        said.append(f"helped {standing.helped}, failed {standing.failed}")
    score = sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)
    return Ranked(entry, score * trust(standing), ", ".join(said))


def _look(one: Mapping[Kind, int], other: Mapping[Kind, int]) -> float:
    """How alike two counts of kinds are, 0 to 1."""
    kinds = {*one, *other}
    most = sum(max(one.get(kind, 0), other.get(kind, 0)) for kind in kinds)
    return sum(min(one.get(kind, 0), other.get(kind, 0)) for kind in kinds) / most if most else 0.0


def _is_same_family(one: Entry, other: Entry, rarity: Mapping[str, float]) -> bool:
    alike = likeness(parse(one.goal), parse(other.goal), rarity)
    return one.id == other.id or (one.site == other.site and alike >= SAME_FAMILY)

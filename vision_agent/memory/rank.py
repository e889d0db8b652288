"""Ranks exemplars for a task on a page, and lets the best three vote on the kind of task.

It knows words, a site and counts of marks per kind; no file, no index.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vision_agent.memory.goal_words import Goal, likeness, parse
from vision_agent.memory.index import IndexEntry, trust
from vision_agent.observation import Kind

TEXT, SITE, LOOK = 0.6, 0.25, 0.15
"""The weights of goal text, site and page look. The text weighs most: the same form on another site helps more than
another task on this one. The look (marks per kind) decides among tasks with similar wording; pages with the same
purpose rarely have the same counts, so it weighs least."""
LEAST_ALIKE = 0.3
"""The least text similarity. Below it only words such as "click", "the" and "submit" are shared, and the exemplar of
another task would mislead."""
SAME_FAMILY = 0.6
"""The text similarity from which two exemplars of one site count as the same kind of task, differing in varying
words."""
LEAST_TRUSTED = 0.25
"""The least trust; an exemplar that failed so much more often than it helped teaches nothing."""
VOTERS = 3
NEAR_THE_BEST = 0.7
"""The least share of the best score to vote: two moderately similar exemplars must not outvote one that fits."""


class Ranked(NamedTuple):
    """An exemplar with its score and the reasons for it."""

    entry: IndexEntry
    score: float
    why: str


class Vote(NamedTuple):
    """The vote of the best three: those of the kind of task that won."""

    winner: str
    """The id of the best exemplar among those that agreed."""
    agreed: tuple[str, ...]
    voters: int


def rank(
    goal: Goal, site: str, kinds: Mapping[Kind, int], candidates: Sequence[IndexEntry], rarity: Mapping[str, float]
) -> tuple[Ranked, ...]:
    """The exemplars that are similar enough, best first."""
    weighed = (_weigh(goal, site, kinds, each, rarity) for each in candidates)
    return tuple(sorted(filter(None, weighed), key=lambda each: (-each.score, each.entry.id)))


def vote(ranked: Sequence[Ranked], rarity: Mapping[str, float]) -> Vote | None:
    """The majority among the best three, if they are near the best; if all differ, the best alone."""
    voters = [each for each in ranked[:VOTERS] if each.score >= NEAR_THE_BEST * ranked[0].score]
    if not voters:
        return None
    groups = [[other for other in voters if _is_same_family(each.entry, other.entry, rarity)] for each in voters]
    # Among groups of equal size `max` takes the first, which is the better ranked.
    agreed = max(groups, key=len)
    return Vote(agreed[0].entry.id, tuple(each.entry.id for each in agreed), len(voters))


def _weigh(
    goal: Goal, site: str, kinds: Mapping[Kind, int], entry: IndexEntry, rarity: Mapping[str, float]
) -> Ranked | None:
    text = likeness(goal, parse(entry.goal), rarity)
    if text < LEAST_ALIKE or trust(entry.standing) < LEAST_TRUSTED:
        return None
    parts, reasons = [(TEXT, text)], [f"text {text:.0%} similar"]
    if site and entry.site:
        parts.append((SITE, float(site == entry.site)))
        reasons.append("same site" if site == entry.site else "another site")
    # An unknown value is left out rather than counted as different.
    if kinds and entry.kinds:
        look = _look_similarity(kinds, entry.kinds)
        parts.append((LOOK, look))
        reasons.append(f"marks per kind {look:.0%} similar")
    standing = entry.standing
    if standing.helped or standing.failed:
        reasons.append(f"helped {standing.helped}, failed {standing.failed}")
    score = sum(weight * value for weight, value in parts) / sum(weight for weight, _ in parts)
    return Ranked(entry, score * trust(standing), ", ".join(reasons))


def _look_similarity(one: Mapping[Kind, int], other: Mapping[Kind, int]) -> float:
    """The similarity of two counts of marks per kind, 0 to 1."""
    kinds = {*one, *other}
    most = sum(max(one.get(kind, 0), other.get(kind, 0)) for kind in kinds)
    return sum(min(one.get(kind, 0), other.get(kind, 0)) for kind in kinds) / most if most else 0.0


def _is_same_family(one: IndexEntry, other: IndexEntry, rarity: Mapping[str, float]) -> bool:
    alike = likeness(parse(one.goal), parse(other.goal), rarity)
    return one.id == other.id or (one.site == other.site and alike >= SAME_FAMILY)

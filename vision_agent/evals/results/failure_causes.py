"""Groups failed items by cause: how their runs ended, which refusals they met, and what broke.

An item counts under one ending, or one error, and under every reason for a refusal. An item on recorded pages counts
under each way in which one of its answers was wrong.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from vision_agent.describe.action_sentences import REASONS
from vision_agent.evals.answer_grading import Grade
from vision_agent.evals.items import ItemResult
from vision_agent.evals.results.summary import Group
from vision_agent.types import Refusal

Kind = Literal["ending", "answer", "error", "refusal"]

_ENDINGS = {
    "done": "The run ended as done, but its end state is wrong",
    "not_done": "The agent ended it as not done",
    "infeasible": "The agent said that the task cannot be done",
    "limit": "The run reached a limit",
    "needs_person": "The run needed a person",
    "interrupted": "The run was interrupted",
    "error": "The run ended with an error, and its end state was judged",
    "unavailable": "The browser or the model was unavailable, and the end state was judged",
    "dry_run": "It was a dry run",
    "": "The run has no ending",
}
_WRONG = {
    "nothing": "No usable reply",
    "element": "Another element than the reference",
    "operation": "The right element, but another operation",
}
_VARIES = re.compile(r"\d+(?:\.\d+)?|0x[0-9a-f]+")


@dataclass(frozen=True)
class Failed:
    """An item that did not pass, or broke."""

    group: Group
    result: ItemResult


@dataclass(frozen=True)
class Cause:
    """A cause that several failed items share."""

    kind: Kind
    name: str
    """The ending, the way in which an answer was wrong, the reason of the refusal, or the error."""
    sentence: str
    items: tuple[Failed, ...]


def causes(groups: Sequence[Group]) -> list[Cause]:
    """All causes: endings, answers, errors, then refusals; the most frequent of each kind first."""
    found: dict[tuple[Kind, str], list[Failed]] = defaultdict(list)
    sentences: dict[tuple[Kind, str], str] = {}
    for group in groups:
        for result in group.results:
            for kind, name, sentence in _causes(result):
                sentences.setdefault((kind, name), sentence)
                found[kind, name].append(Failed(group, result))
    found_causes = [Cause(kind, name, sentences[kind, name], tuple(items)) for (kind, name), items in found.items()]
    order = get_args(Kind)
    return sorted(found_causes, key=lambda cause: (order.index(cause.kind), -len(cause.items), cause.name))


def _causes(result: ItemResult) -> list[tuple[Kind, str, str]]:
    figures = result.figures
    if result.error:
        # Errors that differ only in a port, a time or another number have the same cause.
        first = result.error.strip().partition("\n")[0]
        return [("error", _VARIES.sub("…", first), first)]
    if result.passed is not False:
        return []
    if result.grades:
        ways = {_way(grade) for grade in result.grades if not grade.is_right}
        return [("answer", way, sentence) for way, sentence in _WRONG.items() if way in ways]
    ending = figures.ending if figures else ""
    found: list[tuple[Kind, str, str]] = [("ending", ending, _ENDINGS.get(ending, ending))]
    known = get_args(Refusal)
    for reason in figures.refusals if figures else ():
        found.append(("refusal", reason, REASONS[cast(Refusal, reason)] if reason in known else ""))
    return found


def _way(grade: Grade) -> str:
    return "nothing" if not grade.answer else "element" if grade.element is False else "operation"

"""Why items were not passed, as far as results tell: how their runs ended, what was refused on the way, what broke.

An item is counted under one ending, or under what broke it, and under every reason for which something was refused.
One that only asked about recorded pages is counted under every way in which an answer of it was wrong.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from vision_agent.evals.grades import Grade
from vision_agent.evals.items import Result
from vision_agent.evals.summary import Group
from vision_agent.phrases import REASONS
from vision_agent.types import Refusal

Kind = Literal["ending", "answer", "error", "refusal"]

_ENDINGS = {
    "done": "The run ended as done, and the end state says that it is not",
    "not_done": "The agent gave up",
    "infeasible": "The agent said that it cannot be done",
    "limit": "The run came to a limit",
    "needs_person": "The run needed a person",
    "interrupted": "The run was interrupted",
    "error": "The run ended by an error, and its end state was judged",
    "unavailable": "The browser or the model was not there, and the end state was judged",
    "dry_run": "It was a dry run",
    "": "The run has no ending",
}
_WRONG = {
    "nothing": "No reply could be used",
    "element": "Something else was chosen than was acted on",
    "operation": "The right thing was chosen, and something else was to be done with it",
}
_VARIES = re.compile(r"\d+(?:\.\d+)?|0x[0-9a-f]+")


@dataclass(frozen=True)
class Failed:
    """An item that was not passed, or broke."""

    group: Group
    result: Result


@dataclass(frozen=True)
class Cause:
    """What several items have in common that were not passed."""

    kind: Kind
    name: str
    """The ending, in which way an answer was wrong, the reason of the refusal, or the sentence of the error."""
    sentence: str
    items: tuple[Failed, ...]


def causes(groups: Sequence[Group]) -> list[Cause]:
    """Each cause: endings, answers, what broke, what was refused; the most frequent of each first."""
    found: dict[tuple[Kind, str], list[Failed]] = defaultdict(list)
    said: dict[tuple[Kind, str], str] = {}
    for group in groups:
        for result in group.results:
            for kind, name, sentence in _of(result):
                said.setdefault((kind, name), sentence)
                found[kind, name].append(Failed(group, result))
    told = [Cause(kind, name, said[kind, name], tuple(items)) for (kind, name), items in found.items()]
    order = get_args(Kind)
    return sorted(told, key=lambda cause: (order.index(cause.kind), -len(cause.items), cause.name))


def _of(result: Result) -> list[tuple[Kind, str, str]]:
    figures = result.figures
    if result.error:
        # The same trouble with another port, time or number is the same trouble.
        first = result.error.strip().partition("\n")[0]
        return [("error", _VARIES.sub("…", first), first)]
    if result.passed is not False:
        return []
    if result.grades:
        ways = {_way(grade) for grade in result.grades if not grade.is_right}
        return [("answer", way, sentence) for way, sentence in _WRONG.items() if way in ways]
    ending = figures.ending if figures else ""
    told: list[tuple[Kind, str, str]] = [("ending", ending, _ENDINGS.get(ending, ending))]
    known = get_args(Refusal)
    for reason in figures.refusals if figures else ():
        told.append(("refusal", reason, REASONS[cast(Refusal, reason)] if reason in known else ""))
    return told


def _way(grade: Grade) -> str:
    return "nothing" if not grade.answer else "element" if grade.element is False else "operation"

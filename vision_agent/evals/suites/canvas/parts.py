"""The results of CanvasBench by level, by half of the libraries, and by library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vision_agent.evals.items import ItemResult
from vision_agent.evals.suites.canvas.tasks import Half, Level, Library


@dataclass(frozen=True)
class Rate:
    """How many of the scored items passed."""

    passed: int
    scored: int


@dataclass(frozen=True)
class SuitePart:
    """A part of the suite, with the rate of each model."""

    kind: str
    """`level`, `half` or `library`."""
    name: str
    rates: Mapping[str, Rate]


def parts(results: Sequence[ItemResult], libraries: Mapping[str, Library]) -> list[SuitePart]:
    """Each level, half and library that has results; items with an error are excluded, as everywhere."""
    levels = {f"{name}/{task.id}": task.level for name, library in libraries.items() for task in library.tasks}

    def belongs(result: ItemResult, kind: str) -> str:
        library = result.item.task.partition("/")[0]
        if kind == "level":
            return levels[result.item.task]
        return libraries[library].half if kind == "half" else library

    found: list[SuitePart] = []
    for kind, names in (("level", get_args(Level)), ("half", get_args(Half)), ("library", tuple(libraries))):
        for name in names:
            within = [result for result in results if belongs(result, kind) == name]
            if within:
                found.append(SuitePart(kind, name, _rates(within)))
    return found


def _rates(results: Sequence[ItemResult]) -> dict[str, Rate]:
    rates: dict[str, Rate] = {}
    for model in dict.fromkeys(result.item.model for result in results):
        scored = [result for result in results if result.item.model == model and result.passed is not None]
        rates[model] = Rate(sum(bool(result.passed) for result in scored), len(scored))
    return rates


def as_json(rows: Sequence[SuitePart]) -> list[dict[str, Any]]:
    """The parts for programs."""
    return [
        {
            "by": row.kind,
            "name": row.name,
            "models": {model: {"passed": rate.passed, "scored": rate.scored} for model, rate in row.rates.items()},
        }
        for row in rows
    ]


def show(console: Console, rows: Sequence[SuitePart]) -> None:
    """Print the parts as a table: one column for each model, passed of scored."""
    models = list(dict.fromkeys(model for row in rows for model in row.rates))
    table = Table("by", "", *map(escape, models), box=SIMPLE, title="canvas, by part", title_justify="left")
    kind = ""
    for row in rows:
        cells = [f"{rate.passed}/{rate.scored}" if (rate := row.rates.get(model)) else "" for model in models]
        table.add_row(row.kind if row.kind != kind else "", escape(row.name), *cells)
        kind = row.kind
    console.print(table)

"""Results by task: how many seeds each setting passed, as a table, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vision_agent.evals.results.summary import Group
from vision_agent.evals.results.tables import markdown_table


@dataclass(frozen=True)
class TaskScore:
    """The results of one setting on one task, over its seeds."""

    label: str
    items: int
    scored: int
    passed: int
    errors: int
    unscored: int
    """Runs without an error that nobody could judge."""

    @property
    def rate(self) -> float | None:
        """Share of scored items that passed; None without any."""
        return self.passed / self.scored if self.scored else None


@dataclass(frozen=True)
class TaskRow:
    """One task, with a cell for each setting of its suite; None if the setting has no result for it."""

    suite: str
    task: str
    cells: tuple[TaskScore | None, ...]

    @property
    def is_same(self) -> bool:
        """Whether all settings have the same result."""
        seen = {cell and (cell.rate, cell.errors, cell.unscored) for cell in self.cells}
        return len(seen) == 1


def by_task(groups: Sequence[Group]) -> list[TaskRow]:
    """One row for each task of each suite, sorted; cells follow the order of the suite's groups."""
    suites: dict[str, list[Group]] = {}
    for group in groups:
        suites.setdefault(group.suite, []).append(group)
    return [
        TaskRow(suite, task, tuple(_cell(group, task) for group in those))
        for suite, those in sorted(suites.items())
        for task in sorted({result.item.task for group in those for result in group.results})
    ]


def _cell(group: Group, task: str) -> TaskScore | None:
    results = [result for result in group.results if result.item.task == task]
    if not results:
        return None
    passed = Counter(result.passed for result in results)
    errors = sum(bool(result.error) for result in results)
    return TaskScore(
        label=group.label,
        items=len(results),
        scored=passed[True] + passed[False],
        passed=passed[True],
        errors=errors,
        unscored=sum(not result.error and result.passed is None for result in results),
    )


# --- shown ------------------------------------------------------------------------------------------------------------


def as_json(rows: Sequence[TaskRow]) -> list[dict[str, Any]]:
    """The rows for programs; cells are keyed by the name of the setting."""
    return [
        {
            "suite": row.suite,
            "task": row.task,
            "settings": {
                cell.label: {key: value for key, value in asdict(cell).items() if key != "label"}
                for cell in row.cells
                if cell
            },
        }
        for row in rows
    ]


def as_csv(rows: Sequence[TaskRow]) -> str:
    """The rows as CSV: one line for each task and setting, with plain numbers."""
    text = io.StringIO()
    columns = ("suite", "task", "label", "items", "scored", "passed", "errors", "unscored")
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {"suite": row.suite, "task": row.task, **asdict(cell)} for row in rows for cell in row.cells if cell
    )
    return text.getvalue()


def as_markdown(rows: Sequence[TaskRow]) -> str:
    """The rows as Markdown, one table for each suite."""
    return "\n\n".join(
        f"### {suite}, by task\n\n{markdown_table(('task', *labels), [_words(row) for row in those])}"
        for suite, labels, those in _tables(rows)
    )


def show(console: Console, rows: Sequence[TaskRow]) -> None:
    """Print one table for each suite to a terminal."""
    for suite, labels, those in _tables(rows):
        table = Table("task", *map(escape, labels), box=SIMPLE, title=escape(f"{suite}, by task"), title_justify="left")
        for row in those:
            table.add_row(*map(escape, _words(row)))
        console.print(table)


def _tables(rows: Sequence[TaskRow]) -> list[tuple[str, list[str], list[TaskRow]]]:
    """The name, settings and rows of each suite."""
    tables = []
    for suite in dict.fromkeys(row.suite for row in rows):
        those = [row for row in rows if row.suite == suite]
        columns = zip(*(row.cells for row in those), strict=True)
        tables.append((suite, [next(cell.label for cell in column if cell) for column in columns], those))
    return tables


def _words(row: TaskRow) -> list[str]:
    return [row.task, *(cell_text(cell) for cell in row.cells)]


def cell_text(cell: TaskScore | None) -> str:
    """How many scored items passed, and how many have no score."""
    if cell is None:
        return ""
    rest = [f"{many} {what}" for many, what in ((cell.errors, "errors"), (cell.unscored, "unscored")) if many]
    return ", ".join([*([f"{cell.passed}/{cell.scored}"] if cell.scored else []), *rest])

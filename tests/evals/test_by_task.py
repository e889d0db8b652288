from __future__ import annotations

import csv
import io

from result_builder import result
from rich.console import Console

from vision_agent.evals.results.by_task import TaskRow, as_csv, as_json, as_markdown, by_task, show
from vision_agent.evals.results.summary import grouped


def told() -> list[TaskRow]:
    results = [
        result("a", "match", True),
        result("a", "match", False, seed=2),
        result("b", "match", None, error="The browser failed"),
        result("b", "match", None, seed=2),
        result("a", "x|[y]", True),
        result("a", "x|[y]", True, seed=2),
    ]
    return by_task(grouped({"": results}))


def test_each_task_has_what_each_setting_came_to_over_its_seeds() -> None:
    first, second = told()
    match, other = first.cells
    assert match is not None
    assert other is not None
    assert (match.passed, match.scored, match.rate) == (1, 2, 0.5)
    assert other.rate == 1.0
    assert not first.is_same
    broke, missing = second.cells
    assert broke is not None
    assert (broke.items, broke.errors, broke.unscored, broke.rate) == (2, 1, 1, None)
    assert missing is None


def test_tasks_that_all_came_to_the_same_are_known() -> None:
    (row,) = by_task(grouped({"": [result("a", model, True) for model in ("match", "random")]}))
    assert row.is_same


def test_it_is_told_as_json_as_csv_as_markdown_and_in_a_terminal() -> None:
    rows = told()
    assert as_json(rows)[0]["settings"]["match"] == {
        "items": 2, "scored": 2, "passed": 1, "errors": 0, "unscored": 0,
    }  # fmt: skip
    assert [line["task"] for line in csv.DictReader(io.StringIO(as_csv(rows)))] == ["a", "a", "b"]
    assert r"| task | match | x\|[y] |" in as_markdown(rows)
    assert "| b | 1 errors, 1 unscored |  |" in as_markdown(rows)
    console = Console(file=io.StringIO(), width=80)
    show(console, rows)
    assert "x|[y]" in console.file.getvalue()  # type: ignore[attr-defined]

"""A summary of results as tables for a terminal, as JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from vision_agent.evals.grades import Rates
from vision_agent.evals.items import Result
from vision_agent.evals.statistics import (
    LEVEL,
    Interval,
)
from vision_agent.evals.summary import Agreement, Bound, Pair, Reached, Row, Summary

INTERVALS = (
    f"Brackets: {LEVEL:.0%} intervals, bootstrapped over tasks for means, and Wilson's for success and other rates, as "
    "if each item and each act were by itself."
)
ANSWERS = "Answers: the mean over tasks of the means of their steps, as Mind2Web has it."
CAVEAT = "Errors and what has no score are counted, and are part of no rate."


def as_json(suite: str, results: Sequence[Result], told: Summary, out: Path) -> dict[str, Any]:
    """An evaluation, for a program."""
    return {
        "suite": suite,
        "items": [
            {
                "task": result.item.task,
                "seed": result.item.seed,
                "model": result.item.model,
                "score": result.score,
                "passed": result.passed,
                "error": result.error or None,
                "run": str(out / result.item.folder / result.run) if result.run else None,
                **({"witness": result.witness.model_dump(mode="json")} if result.witness else {}),
                **({"answers": [grade.model_dump(mode="json") for grade in result.grades]} if result.grades else {}),
            }
            for result in results
        ],
        "summary": asdict(told),
    }


_COLUMNS = (
    "",
    "success",
    "floor",
    "ceiling",
    "score",
    "pass@k",
    "pass^k",
    "steps",
    "carried out",
    "refused",
    "wrong element",
    "judge agrees",
    "tokens",
    "cost",
    "seconds",
    "left out",
)


def _cells(row: Row) -> list[str]:
    """A row as a person reads it."""
    k = max(row.pass_at, default=0)
    split = (row.model_s, row.page_s, row.agent_s)
    left_out = [f"{many} {what}" for many, what in ((row.errors, "errors"), (row.unscored, "unscored")) if many]
    return [
        row.label,
        f"{row.passed}/{row.scored} = {_percent(row.success)}" if row.success else "none has a score",
        bound_in_words(row, row.floor),
        bound_in_words(row, row.ceiling),
        _number(row.score, 2) if row.score and row.success and row.score.value != row.success.value else "",
        f"@{k} {row.pass_at[k]:.0%}" if k > 1 else "",
        f"^{k} {row.pass_all[k]:.0%}" if k > 1 else "",
        _number(row.steps, 1) if row.steps else "",
        f"{row.step_success:.0%}" if row.step_success is not None else "",
        ", ".join(f"{many} {why}" for why, many in sorted(row.refusals.items(), key=lambda each: -each[1])),
        reached_in_words(row.reached),
        agreement_in_words(row.judge),
        f"{row.tokens}" if row.tokens else "",
        "not known" if row.cost_usd is None else f"${row.cost_usd:.2f}" if row.cost_usd else "",
        " + ".join(f"{each:.1f}" for each in split if each is not None),
        ", ".join(left_out),
    ]


ANSWERED = ("", "operation", "answers", "element accuracy", "operation F1", "step success", "landing")


def answered(rows: Sequence[Row]) -> list[list[str]]:
    """How questions about recorded pages were answered, all and by operation; empty where none were asked."""
    lines: list[list[str]] = []
    for row in rows:
        if row.answers is not None:
            lines.append([row.label, "all" if row.operations else "", *_rated(row.answers)])
            lines += [["", kind, *_rated(rates)] for kind, rates in row.operations.items()]
    return lines


def _rated(rates: Rates) -> list[str]:
    measures = (rates.element, rates.operation_f1, rates.step_success, rates.landing)
    return [str(rates.steps), *(_percent(each) if each else "" for each in measures)]


def bound_in_words(row: Row, bound: Bound | None) -> str:
    """The rate and whose it is; on how many items where that is not all of the row's."""
    if bound is None:
        return ""
    return f"{bound.rate:.0%} {bound.model}" + (f" on {bound.items}" if bound.items != row.scored else "")


def reached_in_words(reached: Reached | None) -> str:
    """How many acts reached another element than the one they named, and of how many nobody can tell."""
    if reached is None:
        return ""
    parts = [f"{reached.wrong}/{reached.witnessed} = {_percent(reached.rate)}"] if reached.rate else []
    return ", ".join([*parts, *([f"{reached.unwitnessed} not witnessed"] if reached.unwitnessed else [])])


def agreement_in_words(judge: Agreement | None) -> str:
    """How often, and in which way it was wrong."""
    if judge is None:
        return ""
    wrong = (
        (judge.wrongly_done, "wrongly done"),
        (judge.wrongly_not_done, "wrongly not done"),
        (judge.could_not_tell, "not told"),
    )
    parts = [f"{judge.agreed}/{judge.judged} = {_percent(judge.rate)}"] if judge.rate else []
    return ", ".join([*parts, *(f"{many} {what}" for many, what in wrong if many)])


_PAIRED = ("", "on the same", "only the first", "only the second", "difference", "p")


def _paired(pair: Pair) -> list[str]:
    difference = pair.difference
    return [
        f"{pair.first} → {pair.second}",
        f"{pair.items} items",
        str(pair.only_first),
        str(pair.only_second),
        _percent(difference, sign="+") if difference else "",
        f"{pair.p_adjusted:.3g}",
    ]


_ABLATED = ("", "success", "difference", "only with", "only without", "p", "steps", "tokens", "cost")


def _ablated(told: Summary, suite: str) -> list[list[str]]:
    """A row for each full setting of the suite, and below it one for each that lacks something."""
    rows = {row.label: row for row in told.rows if row.suite == suite}
    pairs = [pair for pair in told.ablations if pair.suite == suite]
    lines = []
    for first in dict.fromkeys(pair.first for pair in pairs):
        lines.append(_ablated_line(rows[first], None))
        lines += [_ablated_line(rows[pair.second], pair) for pair in pairs if pair.first == first]
    return lines


def _ablated_line(row: Row, pair: Pair | None) -> list[str]:
    cells = dict(zip(_COLUMNS, _cells(row), strict=True))
    difference = _percent(pair.difference, sign="+") if pair and pair.difference else ""
    held = [str(pair.only_first), str(pair.only_second), f"{pair.p_adjusted:.3g}"] if pair else [""] * 3
    return [row.label, cells["success"], difference, *held, cells["steps"], cells["tokens"], cells["cost"]]


def show_ablation(console: Console, told: Summary) -> None:
    """One table for each suite, of what each thing that was left out is worth."""
    for suite in dict.fromkeys(pair.suite for pair in told.ablations):
        _table(console, f"{suite}, with all and without", _ABLATED, _ablated(told, suite))
    console.print(notes(told), style="dim", highlight=False)


def show(console: Console, told: Summary) -> None:
    """Tables for a terminal, one for each suite; with a column for each setting where rows are too long for it."""
    for suite in dict.fromkeys(row.suite for row in told.rows):
        rows = [_cells(row) for row in told.rows if row.suite == suite]
        _table(console, suite, _COLUMNS, rows)
        if lines := answered([row for row in told.rows if row.suite == suite]):
            _table(console, f"{suite}, answer by answer", ANSWERED, lines)
    for suite in dict.fromkeys(pair.suite for pair in told.ablations):
        _table(console, f"{suite}, with all and without", _ABLATED, _ablated(told, suite))
    if told.pairs:
        _table(console, "two by two", _PAIRED, [_paired(pair) for pair in told.pairs])
    for said in told.wrong:
        console.print(f"Wrong element: {said}", style="red", highlight=False, markup=False)
    console.print(notes(told), style="dim", highlight=False)


_MOST = 30
"""Characters of a column that may be folded where there is no room for more."""


def _table(console: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    kept = [place for place, name in enumerate(columns) if not name or any(row[place] for row in rows)]
    lines = [[columns[place] for place in kept], *([row[place] for place in kept] for row in rows)]
    wide = sum(min(_MOST, max(map(len, column))) + 3 for column in zip(*lines, strict=True))
    if wide > console.width and len(lines) < len(kept):
        lines = [list(column) for column in zip(*lines, strict=True)]
    table = Table(*map(escape, lines[0]), box=SIMPLE, title=escape(title), title_justify="left")
    for line in lines[1:]:
        table.add_row(*map(escape, line))
    console.print(table)


def as_markdown(told: Summary) -> str:
    """The same tables for a document."""
    parts = []
    for suite in dict.fromkeys(row.suite for row in told.rows):
        rows = [_cells(row) for row in told.rows if row.suite == suite]
        parts.append(f"### {suite}\n\n{markdown_table(_COLUMNS, rows)}")
        if lines := answered([row for row in told.rows if row.suite == suite]):
            parts.append(f"### {suite}, answer by answer\n\n{markdown_table(ANSWERED, lines)}")
    for suite in dict.fromkeys(pair.suite for pair in told.ablations):
        parts.append(f"### {suite}, with all and without\n\n{markdown_table(_ABLATED, _ablated(told, suite))}")
    if told.pairs:
        parts.append(f"### Two by two\n\n{markdown_table(_PAIRED, [_paired(pair) for pair in told.pairs])}")
    if told.wrong:
        parts.append("### Wrong elements\n\n" + "\n".join(f"- {said}" for said in told.wrong))
    return "\n\n".join([*parts, notes(told)])


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def as_csv(told: Summary) -> str:
    """One line for each setting, with plain numbers."""
    text = io.StringIO()
    rows = [_flat(row) for row in told.rows]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(row: Row | Rates) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in vars(row).items():
        match value:
            case Bound():
                flat |= {key: value.rate, f"{key}_model": value.model, f"{key}_items": value.items}
            case Agreement() | Reached():
                flat |= {f"{key}_{each}": many for each, many in vars(value).items() if each != "rate"}
            case Interval():
                flat |= {key: value.value, f"{key}_low": value.low, f"{key}_high": value.high}
            case Rates():
                flat |= {f"answers_{name}": each for name, each in _flat(value).items()}
            case dict() if key == "operations":
                flat |= {f"answers_{kind}_{name}": each for kind in value for name, each in _flat(value[kind]).items()}
            case dict():
                flat |= {f"{key}_{each}": value[each] for each in value}
            case _:
                flat[key] = "" if value is None else value
    return flat


def notes(told: Summary) -> str:
    """How the tables are to be read."""
    said = [INTERVALS, "Seconds: model + page + agent, the mean of an item.", CAVEAT, *bounds_note(told)]
    said += reached_note(told)
    if any(row.answers for row in told.rows):
        said.append(ANSWERS)
    said += told.pictures
    if told.pairs:
        said.append("p: McNemar's exact test on items with a score for both, adjusted by Holm for the number of pairs.")
    return " ".join(said)


def reached_note(told: Summary) -> list[str]:
    """What a wrong element is, where that was watched for."""
    said = (
        "Wrong element: acts that reached another element than the one whose number they named, of those that were "
        "witnessed in the page itself, in items that ended in an error too."
    )
    return [said] if any(row.reached for row in told.rows) else []


def bounds_note(told: Summary) -> list[str]:
    """What ceiling and floor mean, where one is told."""
    said = (
        "Ceiling: what a decider that knows the way reaches on the same items with the same marks and actions; "
        "floor: one that acts at random."
    )
    return [said] if any(row.ceiling or row.floor for row in told.rows) else []


def _percent(interval: Interval, sign: str = "") -> str:
    low, high = (f"{100 * each:{sign}.0f}" for each in (interval.low, interval.high))
    return f"{100 * interval.value:{sign}.0f} % [{low}, {high}]"


def _number(interval: Interval, digits: int) -> str:
    return f"{interval.value:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"

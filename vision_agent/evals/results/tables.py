"""Presents a summary of results as terminal tables, JSON, CSV or Markdown."""

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

from vision_agent.evals.answer_grading import Rates
from vision_agent.evals.items import ItemResult
from vision_agent.evals.results.summary import Agreement, BaselineScore, Reached, ResultsSummary, SettingPair, SuiteRow
from vision_agent.evals.statistics import LEVEL, Interval

INTERVALS = (
    f"Brackets: {LEVEL:.0%} intervals, bootstrapped over tasks for means; Wilson intervals for success and other rates "
    "treat items and actions as independent."
)
ANSWERS = "Answers: the mean over tasks of the means of their steps, as in Mind2Web."
CAVEAT = "Errors and unscored items are reported separately and excluded from all rates."


def as_json(suite: str, results: Sequence[ItemResult], summary: ResultsSummary, out: Path) -> dict[str, Any]:
    """An evaluation for programs."""
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
        "summary": asdict(summary),
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


def _cells(row: SuiteRow) -> list[str]:
    """A row for people."""
    k = max(row.pass_at, default=0)
    split = (row.model_s, row.page_s, row.agent_s)
    left_out = [f"{many} {what}" for many, what in ((row.errors, "errors"), (row.unscored, "unscored")) if many]
    return [
        row.label,
        f"{row.passed}/{row.scored} = {_percent(row.success)}" if row.success else "no scores",
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
        "unknown" if row.cost_usd is None else f"${row.cost_usd:.2f}" if row.cost_usd else "",
        " + ".join(f"{each:.1f}" for each in split if each is not None),
        ", ".join(left_out),
    ]


ANSWERED = ("", "operation", "answers", "element accuracy", "operation F1", "step success", "landing")


def answer_rows(rows: Sequence[SuiteRow]) -> list[list[str]]:
    """Rows with the grades of answers about recorded pages, overall and by operation; empty without any."""
    lines: list[list[str]] = []
    for row in rows:
        if row.answers is not None:
            lines.append([row.label, "all" if row.operations else "", *_rate_cells(row.answers)])
            lines += [["", kind, *_rate_cells(rates)] for kind, rates in row.operations.items()]
    return lines


def _rate_cells(rates: Rates) -> list[str]:
    measures = (rates.element, rates.operation_f1, rates.step_success, rates.landing)
    return [str(rates.steps), *(_percent(each) if each else "" for each in measures)]


def bound_in_words(row: SuiteRow, bound: BaselineScore | None) -> str:
    """The baseline's rate and name, and its number of items if that differs from the row's."""
    if bound is None:
        return ""
    return f"{bound.rate:.0%} {bound.model}" + (f" on {bound.items}" if bound.items != row.scored else "")


def reached_in_words(reached: Reached | None) -> str:
    """How many actions reached another element than the one they named, and how many were not witnessed."""
    if reached is None:
        return ""
    parts = [f"{reached.wrong}/{reached.witnessed} = {_percent(reached.rate)}"] if reached.rate else []
    return ", ".join([*parts, *([f"{reached.unwitnessed} not witnessed"] if reached.unwitnessed else [])])


def agreement_in_words(judge: Agreement | None) -> str:
    """How often the judge agreed, and how it was wrong."""
    if judge is None:
        return ""
    wrong = (
        (judge.wrongly_done, "wrongly done"),
        (judge.wrongly_not_done, "wrongly not done"),
        (judge.could_not_tell, "undecided"),
    )
    parts = [f"{judge.agreed}/{judge.judged} = {_percent(judge.rate)}"] if judge.rate else []
    return ", ".join([*parts, *(f"{many} {what}" for many, what in wrong if many)])


_PAIRED = ("", "compared", "only the first", "only the second", "difference", "p")


def _pair_cells(pair: SettingPair) -> list[str]:
    difference = pair.difference
    return [
        f"{pair.first} → {pair.second}",
        f"{pair.items} items",
        str(pair.only_first),
        str(pair.only_second),
        _percent(difference, sign="+") if difference else "",
        f"{pair.p_adjusted:.3g}",
    ]


def verdict_in_words(pair: SettingPair) -> str:
    """Which of two settings is better, or that these results cannot tell: the interval contains 0."""
    difference = pair.difference
    if difference is not None and (difference.low > 0 or difference.high < 0):
        better, other = (pair.second, pair.first) if difference.low > 0 else (pair.first, pair.second)
        return f"{better} is better than {other} on these tasks."
    return f"{pair.first} and {pair.second}: these results cannot tell which is better."


_ABLATED = ("", "success", "difference", "only with", "only without", "p", "steps", "tokens", "cost")


def _ablation_rows(summary: ResultsSummary, suite: str) -> list[list[str]]:
    """A row for each complete setting of the suite, followed by its ablations."""
    rows = {row.label: row for row in summary.rows if row.suite == suite}
    pairs = [pair for pair in summary.ablations if pair.suite == suite]
    lines = []
    for first in dict.fromkeys(pair.first for pair in pairs):
        lines.append(_ablation_cells(rows[first], None))
        lines += [_ablation_cells(rows[pair.second], pair) for pair in pairs if pair.first == first]
    return lines


def _ablation_cells(row: SuiteRow, pair: SettingPair | None) -> list[str]:
    cells = dict(zip(_COLUMNS, _cells(row), strict=True))
    difference = _percent(pair.difference, sign="+") if pair and pair.difference else ""
    paired = [str(pair.only_first), str(pair.only_second), f"{pair.p_adjusted:.3g}"] if pair else [""] * 3
    return [row.label, cells["success"], difference, *paired, cells["steps"], cells["tokens"], cells["cost"]]


def show_ablation(console: Console, summary: ResultsSummary) -> None:
    """Print one table for each suite with the effect of each ablation."""
    for suite in dict.fromkeys(pair.suite for pair in summary.ablations):
        _table(console, f"{suite}, ablations", _ABLATED, _ablation_rows(summary, suite))
    console.print(notes(summary), style="dim", highlight=False)


def show(console: Console, summary: ResultsSummary) -> None:
    """Print one table for each suite; long rows become columns."""
    for suite in dict.fromkeys(row.suite for row in summary.rows):
        rows = [_cells(row) for row in summary.rows if row.suite == suite]
        _table(console, suite, _COLUMNS, rows)
        if lines := answer_rows([row for row in summary.rows if row.suite == suite]):
            _table(console, f"{suite}, answers", ANSWERED, lines)
    for suite in dict.fromkeys(pair.suite for pair in summary.ablations):
        _table(console, f"{suite}, ablations", _ABLATED, _ablation_rows(summary, suite))
    if summary.pairs:
        _table(console, "pairwise", _PAIRED, [_pair_cells(pair) for pair in summary.pairs])
        for pair in summary.pairs:
            console.print(verdict_in_words(pair), highlight=False, markup=False)
    for sentence in summary.wrong:
        console.print(f"Wrong element: {sentence}", style="red", highlight=False, markup=False)
    console.print(notes(summary), style="dim", highlight=False)


_MOST = 30
"""Maximum characters of a column before it wraps when space is short."""


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


def as_markdown(summary: ResultsSummary) -> str:
    """The same tables as Markdown."""
    parts = []
    for suite in dict.fromkeys(row.suite for row in summary.rows):
        rows = [_cells(row) for row in summary.rows if row.suite == suite]
        parts.append(f"### {suite}\n\n{markdown_table(_COLUMNS, rows)}")
        if lines := answer_rows([row for row in summary.rows if row.suite == suite]):
            parts.append(f"### {suite}, answers\n\n{markdown_table(ANSWERED, lines)}")
    for suite in dict.fromkeys(pair.suite for pair in summary.ablations):
        parts.append(f"### {suite}, ablations\n\n{markdown_table(_ABLATED, _ablation_rows(summary, suite))}")
    if summary.pairs:
        parts.append(f"### Pairwise\n\n{markdown_table(_PAIRED, [_pair_cells(pair) for pair in summary.pairs])}")
    if summary.wrong:
        parts.append("### Wrong elements\n\n" + "\n".join(f"- {sentence}" for sentence in summary.wrong))
    return "\n\n".join([*parts, notes(summary)])


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def as_csv(summary: ResultsSummary) -> str:
    """One line for each setting, with plain numbers."""
    text = io.StringIO()
    rows = [_flat(row) for row in summary.rows]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _flat(row: SuiteRow | Rates) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in vars(row).items():
        match value:
            case BaselineScore():
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


def notes(summary: ResultsSummary) -> str:
    """How to read the tables."""
    parts = [INTERVALS, "Seconds: model + page + agent, the mean of an item.", CAVEAT, *bounds_note(summary)]
    parts += reached_note(summary)
    if any(row.answers for row in summary.rows):
        parts.append(ANSWERS)
    parts += summary.pictures
    if summary.pairs:
        parts.append("p: McNemar's exact test on items that both have a score for, Holm-corrected for the pairs.")
    return " ".join(parts)


def reached_note(summary: ResultsSummary) -> list[str]:
    """An explanation of wrong elements, if there was a hit oracle."""
    note = (
        "Wrong element: actions that reached another element than the one whose number they named, among those "
        "witnessed in the page itself, including items that ended in an error."
    )
    return [note] if any(row.reached for row in summary.rows) else []


def bounds_note(summary: ResultsSummary) -> list[str]:
    """An explanation of ceiling and floor, if there are any."""
    note = (
        "Ceiling: the rate of a baseline that knows the solution, on the same items with the same marks and actions; "
        "floor: the rate of one that acts at random. "
        "A baseline that passed less often than a setting is not its ceiling."
    )
    return [note] if any(row.ceiling or row.floor for row in summary.rows) else []


def _percent(interval: Interval, sign: str = "") -> str:
    low, high = (f"{100 * each:{sign}.0f}" for each in (interval.low, interval.high))
    return f"{100 * interval.value:{sign}.0f}% [{low}, {high}]"


def _number(interval: Interval, digits: int) -> str:
    return f"{interval.value:.{digits}f} [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"

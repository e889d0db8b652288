"""Writes the results of a batch: a CSV file of the answers, and one HTML page that links the runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from vision_agent.batch.run_rows import RowResult
from vision_agent.errors import RecordError
from vision_agent.record.report import REPORT, environment, policy, report_style, write_named, write_report
from vision_agent.record.run_list import is_run_folder
from vision_agent.record.store import write_whole

ANSWERS = "answers.csv"
PAGE = "summary.html"
_TEMPLATES = Path(__file__).parent / "templates"
_TOLD = ("status", "answer", "sentence", "cost_usd", "seconds", "run")
"""The columns after those of the table."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would compute; an answer may be the words of a page."""


def write_summary(results: Sequence[RowResult], folder: Path, title: str) -> tuple[Path, Path]:
    """Writes both files into the folder of the batch and returns their paths.

    A run without a report, as its process was killed, gets one.

    Raises:
        UsageError: the page cannot be written.
        RecordError: the answers cannot be written.
    """
    for each in results:
        _add_report(each, folder)
    write_whole(folder / ANSWERS, answers_csv(results).encode("utf-8-sig", "replace"), over=True)
    return folder / ANSWERS, write_named(folder / PAGE, summary_html(results, folder, title))


def answers_csv(results: Sequence[RowResult]) -> str:
    """The rows with their own values, status, answer, cost and run folder, for a spreadsheet."""
    columns = list(dict.fromkeys(name for each in results for name in each.row.values))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_cell, ["row", *_own_names(columns), *_TOLD]))
    for each in results:
        own = [each.row.values.get(name, "") for name in columns]
        cost = "" if each.cost_usd is None else f"{each.cost_usd:.4f}"
        answer = each.answer if each.ok or each.answer != each.sentence else ""  # why it failed is no answer
        texts = [*own, each.status, answer, each.sentence]
        writer.writerow([each.row.number, *map(_cell, texts), cost, f"{each.seconds:.1f}", _cell(each.run)])
    return out.getvalue()


def _own_names(columns: Sequence[str]) -> list[str]:
    """The names of the table's columns; one that is also a column of the answers, or taken, gets `data.` before it."""
    taken, names = {"row", *_TOLD}, list[str]()
    for column in columns:
        name = column
        while name in taken or (name != column and name in columns):
            name = f"data.{name}"
        taken.add(name)
        names.append(name)
    return names


def _cell(text: str) -> str:
    """The text as a cell that no spreadsheet computes; plain numbers stay what they are."""
    if not text.startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def summary_html(results: Sequence[RowResult], folder: Path, title: str) -> str:
    """The page: totals, and a line for each row."""
    style = report_style(_TEMPLATES / "summary.css")
    known = [each.cost_usd for each in results if each.cost_usd is not None]
    return (
        environment(_TEMPLATES)
        .get_template("summary.html.j2")
        .render(
            title=title,
            results=results,
            columns=list(dict.fromkeys(name for each in results for name in each.row.values)),
            links={each.row.number: _link_to(each, folder) for each in results},
            done=sum(each.ok for each in results),
            cost=sum(known) if len(known) == len(results) else None,
            tokens=sum(each.tokens for each in results),
            seconds=sum(each.seconds for each in results),
            style=style,
            policy=policy(style, ""),
        )
    )


def _add_report(result: RowResult, folder: Path) -> None:
    """Writes the report of a run that has none; nothing if its record cannot be read."""
    run = (folder / result.run).resolve()
    if result.run and is_run_folder(run) and run.is_relative_to(folder.resolve()) and not (run / REPORT).exists():
        with suppress(RecordError):
            write_report(run)


def _link_to(result: RowResult, folder: Path) -> str:
    """The link to the report of the row's run, relative to the page, or to its folder; empty if there is none."""
    run = folder / result.run
    if not result.run or not run.is_dir():
        return ""
    return quote(f"{result.run}/{REPORT}" if (run / REPORT).is_file() else f"{result.run}/")

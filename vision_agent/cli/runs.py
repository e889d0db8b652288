"""`vision-agent runs`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
import re
import shlex
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vision_agent.cli.commands import CommandGroup, Commands
from vision_agent.cli.options import AsJson, Runs, given, load_settings, named_run, option
from vision_agent.cli.running import GOAL_OF_LINES
from vision_agent.errors import RecordError, UsageError

if TYPE_CHECKING:
    from vision_agent.record.run_list import ListedRun, RunFigures


class _RunsGroup(CommandGroup):
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and Path(args[0]).is_dir():
            named = shlex.join(["vision-agent", "runs", "--runs", args[0]])
            raise UsageError(f"runs has no command {args[0]}, and that is a folder", f"to list its runs: {named}")
        return super().resolve_command(ctx, args)


app = Commands(name="runs", cls=_RunsGroup)

Status = Annotated[
    str | None,
    option(
        "Only runs with this status, such as done, limit or running; failed stands for all that did not do their task.",
        "--status",
    ),
]
Goal = Annotated[str | None, option("Only runs whose goal or ending contains this text.", "--text")]
OlderThan = Annotated[
    str | None,
    option(
        "Only runs that were started longer ago than this, such as 30d; min is minutes, h hours, d days, w weeks.",
        "--older-than",
    ),
]
Day = Annotated[
    str | None,
    option(
        "Only runs that were started on this day: 2026-11-24, today, yesterday, or a weekday such as tuesday, meaning "
        "the latest one.",
        "--day",
    ),
]
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_AGE = re.compile(r"(\d{1,6})\s*(min|m|h|d|w)", re.IGNORECASE)
_UNITS = {"min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_WIDE = 100
"""Columns of a terminal in which the list also says when each run began."""
_LONGEST_SHOWN = 300
"""Characters of a goal, and of how a run ended."""
_MOST_NAMED = 20
_SIGNS = {"done": ("✓", "green"), "dry_run": ("✓", "green"), "running": ("…", "cyan"), "unfinished": ("◐", "yellow")}


@app.callback(invoke_without_command=True)
def runs_(
    context: typer.Context,
    runs: Runs = None,
    status: Status = None,
    text: Goal = None,
    day: Day = None,
    older_than: OlderThan = None,
    most: Annotated[int, typer.Option("--most", min=1, help="How many runs to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the runs in a folder, latest first.

    Last Tuesday's runs that did not do their task: vision-agent runs --status failed --day tuesday

    A command that takes a run folder also takes a name of this list, or `latest`: vision-agent report latest

    How a failed run ended is shown below its goal. A terminal of 100 columns also shows when each run began.

    The status says how the run ended, or that it is running, unfinished (it was cut off, and may be resumable) or
    unreadable.

    In the folder of rows of run --over, it lists the runs of all rows.
    """
    if context.invoked_subcommand is not None:
        return
    folder = _folder(runs)
    found = _found(folder, status, text, day, older_than, with_rows=True)
    shown = [(run, _figures(run)) for run in found[:most]]
    if as_json:
        typer.echo(json.dumps([_facts(run, figures) for run, figures in shown], ensure_ascii=False, indent=2))
        return
    if not found:
        is_narrowed = status or text or day or older_than
        typer.echo(f"There is no such run in {folder}." if is_narrowed else f"No runs in {folder}.")
        return
    _print(shown, len(found), folder)


@app.command("rm")
def rm(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders or their names, or latest; default: those that the options select."),
    ] = None,
    *,
    older_than: OlderThan = None,
    day: Day = None,
    status: Status = None,
    text: Goal = None,
    keep: Annotated[int | None, option("The newest N runs in the folder stay.", "--keep", "N")] = None,
    runs: Runs = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete runs, after asking: those that are named, or those that the options select.

    vision-agent runs rm --older-than 30d --keep 20

    A run that is still going is never deleted, nor is anything that is not a run folder.

    Exit codes: 0 deleted or nothing to delete, 1 you said no, 2 usage, 5 one could not be deleted.
    """
    from vision_agent.describe.action_sentences import counted
    from vision_agent.record.run_list import delete_run, list_runs, require_deletable

    selects = older_than or day or status or text or keep is not None
    if folders and selects:
        raise UsageError(
            "Run folders cannot be combined with --older-than, --day, --status, --text or --keep",
            "give one or the other",
        )
    if keep is not None and keep < 0:
        raise UsageError(f"--keep {keep} is no number of runs", "give 0 or more")
    if not (folders or selects):
        raise UsageError("Nothing says which runs to delete", "name run folders, or give --older-than 30d")
    if folders:
        chosen = list(dict.fromkeys(named_run(each, runs) for each in folders))
        for each in chosen:
            require_deletable(each)
    else:
        folder = _folder(runs)
        kept = {run.folder for run in list_runs(folder)[: keep or 0]}
        found = _found(folder, status, text, day, older_than)
        chosen = [run.folder for run in found if run.status != "running" and run.folder not in kept]
    if chosen and not yes:
        _require_somebody(chosen, as_json)
    if not as_json:
        _name(chosen)
    if chosen and not yes and not typer.confirm(f"Delete {counted(len(chosen), 'run')}?", err=True):
        raise typer.Exit(1)
    for each in chosen:
        delete_run(each)
    if as_json:
        typer.echo(json.dumps({"deleted": [str(each) for each in chosen]}, ensure_ascii=False))
    else:
        typer.echo(f"{counted(len(chosen), 'run')} deleted.")


def _require_somebody(chosen: list[Path], as_json: bool) -> None:
    from vision_agent.describe.action_sentences import counted

    if as_json or not sys.stdin.isatty():
        raise UsageError(f"Nobody is there to confirm deleting {counted(len(chosen), 'run')}", "give --yes")


def _name(chosen: list[Path]) -> None:
    for each in chosen[:_MOST_NAMED]:
        typer.echo(f"  {each}", err=True)
    if len(chosen) > _MOST_NAMED:
        typer.echo(f"  and {len(chosen) - _MOST_NAMED} more", err=True)


def _folder(runs: Path | None) -> Path:

    return load_settings(**given(runs=runs)).runs


def _found(
    folder: Path,
    status: str | None,
    text: str | None,
    day: str | None,
    older_than: str | None,
    *,
    with_rows: bool = False,
) -> tuple[ListedRun, ...]:
    """The runs in the folder that the options select; `with_rows`: those of its rows if it is the folder of a batch."""
    from vision_agent.record.run_list import list_runs, list_runs_or_rows, matching

    before = datetime.now(UTC) - _age(older_than) if older_than else None
    on = _day(day, datetime.now().astimezone().date()) if day else None
    listed = list_runs_or_rows(folder) if with_rows else list_runs(folder)
    return matching(listed, status=status or "", text=text or "", day=on, before=before)


def _day(text: str, today: date) -> date:
    word = text.strip().lower()
    if word in ("today", "yesterday"):
        return today - timedelta(days=word == "yesterday")
    if word in _WEEKDAYS:
        return today - timedelta(days=(today.weekday() - _WEEKDAYS.index(word)) % 7)
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise UsageError(
            f"--day {text!r} is no day", "give one such as 2026-11-24, today, yesterday or tuesday"
        ) from None


def _age(text: str) -> timedelta:
    if not (matched := _AGE.fullmatch(text.strip())):
        raise UsageError(f"--older-than {text!r} is not an age", "give a number and min, h, d or w, such as 30d")
    many, unit = int(matched[1]), matched[2].lower()
    if unit == "m":  # A month that is read as a minute deletes nearly every run.
        raise UsageError(
            f"--older-than {text!r} may mean minutes or months", f"write {many}min, or {many * 30}d for months"
        )
    return timedelta(**{_UNITS[unit]: many})


def _figures(run: ListedRun) -> RunFigures | None:
    from vision_agent.record.run_list import figures_of

    try:
        return figures_of(run.folder)
    except RecordError:
        return None


def _facts(run: ListedRun, figures: RunFigures | None) -> dict[str, object]:
    return {**run.model_dump(mode="json"), **(figures.model_dump(mode="json") if figures else {})}


def _print(shown: list[tuple[ListedRun, RunFigures | None]], many: int, folder: Path) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from vision_agent.record.run_list import is_failed
    from vision_agent.text.console import TerminalConsole
    from vision_agent.text.escape import cut_text, escaped_line

    console, now = TerminalConsole(), datetime.now().astimezone()
    is_wide = console.width >= _WIDE
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True, header_style="dim")
    for name in ("run", "started", "status") if is_wide else ("run", "status"):
        table.add_column(name, no_wrap=True)
    for name in ("steps", "time", "cost"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("goal")
    for run, figures in shown:
        _sign, style = _sign_of(run)
        name, status, *took = _row(run, figures, folder)
        # Only the last column may shrink in a narrow terminal.
        about = Text(no_wrap=True, overflow="ellipsis")
        goal = run.goal.removeprefix(GOAL_OF_LINES)  # so the name of their file shows in a narrow terminal
        about.append(escaped_line(cut_text(goal or run.sentence, _LONGEST_SHOWN)))
        if run.goal and run.sentence and is_failed(run.status):
            about.append("\n" + escaped_line(cut_text(run.sentence, _LONGEST_SHOWN)), style="dim")
        started = (start_shown(run.started_at, now),) if is_wide else ()
        table.add_row(name, *started, Text(status, style=style), *took, about)
    console.print(table)
    if many > len(shown):
        console.print(f"{many - len(shown)} more in {folder}; --most shows more.", style="dim", highlight=False)


def _row(run: ListedRun, figures: RunFigures | None, folder: Path) -> tuple[str, ...]:
    from vision_agent.text.escape import escaped_line

    sign, _style = _sign_of(run)
    status = f"{sign} {run.status.replace('_', ' ')}"
    steps = str(figures.steps) if figures else ""
    return escaped_line(str(run.folder.relative_to(folder))), status, steps, _time(run.seconds), _cost(figures)


def _sign_of(run: ListedRun) -> tuple[str, str]:
    return _SIGNS.get(run.status, ("✗", "red"))


def start_shown(at: datetime, now: datetime) -> str:
    """When a run began: `14:05` today, `Mon 14:05` in the last six days, else `2026-03-04`, in this time zone."""
    at = at.astimezone(now.tzinfo)
    days = (now.date() - at.date()).days
    if days == 0:
        return f"{at:%H:%M}"
    return f"{at:%a %H:%M}" if 0 < days < 7 else f"{at:%Y-%m-%d}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 60 else str(timedelta(seconds=round(seconds))).removeprefix("0:")


def _cost(figures: RunFigures | None) -> str:
    if figures is None or figures.cost_usd is None:
        return "?" if figures is not None and figures.tokens else ""
    return f"${figures.cost_usd:.4f}" if figures.cost_usd else ""

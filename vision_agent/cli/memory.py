"""`vision-agent memory`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vision_agent.cli.commands import Commands
from vision_agent.cli.options import AsJson, LatestIn, load_settings, named_run, run_argument

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vision_agent.memory import MemoryFolder

app = Commands(name="memory", no_args_is_help=True)

Folder = Annotated[
    Path | None,
    typer.Option("--memory", help="The folder of exemplars; default: that of the settings.", show_default=False),
]
Id = Annotated[str, typer.Argument(help="The id that `vision-agent memory list` shows.")]


@app.callback()
def _memory() -> None:
    """Manage exemplars: verified runs that are shown to a model as examples.

    An exemplar summarizes a run: its goal, the relevant part of each page, the decisions and their outcomes.
    Each is one JSON file, which you may read, edit and delete, with small pictures beside it.
    """


@app.command("list")
def list_(folder: Folder = None, as_json: AsJson = False) -> None:
    """List all exemplars, latest first, and files that are not exemplars.

    Columns: id, times it helped, times it failed, turns, site, goal.
    """
    from vision_agent.text.escape import escaped_line

    entries, warnings = _open_memory(folder).list()
    if as_json:
        rows = [
            {
                "id": each.id,
                "goal": each.goal,
                "site": each.site,
                "learned_at": each.learned_at.isoformat(),
                "turns": each.turns,
                **each.standing.model_dump(),
            }
            for each in entries
        ]
        typer.echo(json.dumps({"exemplars": rows, "warnings": warnings}, ensure_ascii=False, indent=2))
        return
    for each in entries:
        standing = f"+{each.standing.helped} -{each.standing.failed}"
        typer.echo(escaped_line(f"{each.id}  {standing}  {each.turns:>2}  {each.site or '-'}  {each.goal[:200]}"))
    _warn(warnings)


@app.command()
def show(id: Id, folder: Folder = None, as_json: AsJson = False) -> None:
    """Show an exemplar turn by turn.

    Exit codes: 0 shown, 2 no such exemplar, or its file is damaged.
    """
    from vision_agent.memory.exemplar_text import account_of

    exemplar = _open_memory(folder).show(id)
    typer.echo(exemplar.model_dump_json(indent=2) if as_json else account_of(exemplar))


@app.command()
def add(
    run: Annotated[Path, run_argument("The run folder, or latest.")],
    head: Annotated[
        str | None,
        typer.Option(
            "--head", help="The head that the run printed; also detects a changed ending.", show_default=False
        ),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="You checked the result yourself; needed if no check or judge did.")
    ] = False,
    folder: Folder = None,
    runs: LatestIn = None,
    as_json: AsJson = False,
) -> None:
    """Add a run that did its task, and whose record verifies, as an exemplar.

    A check (--expect) or a judge (--judge) must have agreed that the task was done, or you, with --confirm.
    Steps that were refused or changed nothing are left out. Adding a run again replaces its exemplar.

    The latest run: vision-agent memory add latest

    Exit codes: 0 added, 2 the run cannot be used, 5 the memory cannot be written.
    """
    from vision_agent.memory.exemplar import exemplar_of

    exemplar = exemplar_of(named_run(run, runs), head=head, confirmed=confirm)
    path = _open_memory(folder).add(exemplar)
    line = f"Learned {exemplar.id}: {len(exemplar.turns)} turns, in {path}"
    typer.echo(json.dumps({"id": exemplar.id, "file": str(path), "turns": len(exemplar.turns)}) if as_json else line)


@app.command()
def forget(id: Id, folder: Folder = None, as_json: AsJson = False) -> None:
    """Delete an exemplar and its pictures; a damaged file can be deleted by its name.

    Exit codes: 0 deleted, 2 no such exemplar.
    """
    path = _open_memory(folder).forget(id)
    typer.echo(json.dumps({"id": id, "file": str(path)}) if as_json else f"Forgot {id}: {path} is deleted")


def _open_memory(folder: Path | None) -> MemoryFolder:
    from vision_agent.memory import MemoryFolder

    return MemoryFolder(load_settings(**({"memory": folder} if folder else {})).memory_folder)


def _warn(warnings: Iterable[str]) -> None:
    for each in warnings:
        typer.echo(f"vision-agent: {each}", err=True)

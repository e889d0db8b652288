"""`vision-agent verify`, `export`, `import` and `report`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vision_agent.cli.commands import Commands
from vision_agent.cli.completion import offered_values
from vision_agent.cli.options import AsJson, LatestIn, Runs, load_settings, named_run, require_folder_of, run_argument
from vision_agent.text.escape import printable_line

if TYPE_CHECKING:
    from vision_agent.record.verify import Verified

app = Commands()

RunPath = Annotated[Path, run_argument("The run folder, or latest.")]
RunsOrFiles = Annotated[list[Path], run_argument("The run folder or folders, latest, or .cere files.")]
Head = Annotated[
    str | None,
    typer.Option(
        "--head",
        help="The head that the run printed; also detects a changed or missing end.",
        show_default=False,
    ),
]


@app.command(rich_help_panel="Records")
def verify(run: RunsOrFiles, head: Head = None, runs: LatestIn = None, as_json: AsJson = False) -> None:
    """Verify that the record of a run is unchanged and complete.

    The hash of every line must match the one in the next line, every picture and request its file name, and every
    download its recorded hash. Every action must have an observation, a decision, a start and an outcome. In a .cere
    file, the parts that other tools read must match the record. The report is made from the record and is not
    verified: make it again if in doubt.

    The latest run: vision-agent verify latest

    Several: vision-agent verify runs/* writes a line for each.

    Exit codes: 0 verified, 1 faults found (the first faulty entry is named first), 2 no such run, 5 a damaged file; of
    several, the highest.
    """
    if len(run) > 1:
        raise typer.Exit(_verify_several(run, head, runs, as_json))
    found = _verified(run[0], head, runs)
    if as_json:
        typer.echo(json.dumps({**found.model_dump(mode="json"), "holds": found.holds}, ensure_ascii=False, indent=2))
    else:
        _print_verified(found)
    raise typer.Exit(0 if found.holds else 1)


_AUTHORS = {"steps": "step lines", "human": "a person"}
"""Who decided, in words where the record has others."""


def _verified(run: Path, head: str | None, runs: Path | None) -> Verified:
    from vision_agent.export.cere import verify_cere
    from vision_agent.record.verify import verify

    run = named_run(run, runs)
    return (verify_cere if run.is_file() else verify)(run, head)


def _verify_several(several: list[Path], head: str | None, runs: Path | None, as_json: bool) -> int:
    """Writes a line for each, also for one that cannot be read, and returns the highest of their exit codes."""
    from vision_agent.errors import UsageError, VisionAgentError

    for name, value in (("--head", head), ("--json", as_json)):
        if value:
            raise UsageError(f"{name} is for one run, not {len(several)}", "verify them one by one")
    code = 0
    for each in several:
        try:
            found = _verified(each, None, runs)
        except VisionAgentError as error:
            typer.echo(f"{printable_line(str(each))}: {printable_line(str(error))}")
            code = max(code, error.exit_code)
            continue
        first = "" if found.holds else f"; {found.faults[0].sentence}"
        typer.echo(f"{_verified_line(found)}{first}")
        code = max(code, 0 if found.holds else 1)
    typer.echo("Without --head, a changed last line or a record that was cut short cannot be detected.")
    return code


def _print_verified(found: Verified) -> None:
    for fault in found.faults:
        typer.echo(fault.sentence)
    for action in found.may_have_happened:
        typer.echo(f"May have happened: {action}")
    for name in found.unrecorded:
        typer.echo(f"Not in the record: {printable_line(name)}")
    typer.echo(_verified_line(found))
    typer.echo(f"head {found.chain.head}")
    for note in found.notes:
        typer.echo(note)
    for name in found.derived:
        typer.echo(f"{name} is made from the record and is not verified; make it again: vision-agent report RUN")
    if not found.is_held_to_head:
        typer.echo("Without --head, a changed last line or a record that was cut short cannot be detected.")


def _verified_line(found: Verified) -> str:
    """Whether everything holds, and what was verified, in one line."""
    from vision_agent.describe.action_sentences import ENDED, counted

    authors = ", ".join(f"{many} by {_AUTHORS.get(author, author)}" for author, many in found.authors.items())
    many = len(found.faults)
    held = "everything holds" if found.holds else counted(many, "fault")
    return (
        f"{found.folder}: {held}; {counted(found.chain.lines, 'line')}, {counted(found.steps, 'step')} "
        f"({authors or 'none decided'}), {counted(found.acts, 'action')}, {counted(found.pictures, 'picture')}, "
        f"{counted(found.requests, 'request')}, {counted(found.downloads, 'download')}; "
        f"ended: {ENDED[found.ending].lower() if found.ending else 'not recorded'}"
    )


_FORMATS = "pytest|steps|chat-jsonl|grounding|cere"


def _require_known_form(to: str) -> str:
    """The format, which is wrong before the lack of a file for it is."""
    from vision_agent.errors import UsageError
    from vision_agent.export.formats import FORMS

    if to not in FORMS:
        raise UsageError(f"Unknown export format --to {to!r}", f"known are {', '.join(FORMS)}")
    return to


@app.command(rich_help_panel="Records")
def export(
    run: RunPath,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="What to write; see above.",
            show_default=False,
            metavar=_FORMATS,
            autocompletion=offered_values("--to", _FORMATS),
            callback=_require_known_form,
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="The file or folder to create; it must not exist.", show_default=False)
    ],
    runs: LatestIn = None,
) -> None:
    """Export a run in a format that other tools read.

    pytest: a Playwright test that repeats the run, finding targets by role and name.
    steps: step lines that repeat it, for `run --steps`.
    chat-jsonl: one training example per step, with its pictures.
    grounding: a folder of pictures with the place of the target on each.
    cere: a golden session, which `import` reads back.

    Exit codes: 0 written, 2 no such run, or it cannot be written there, 5 a damaged record.
    """
    from vision_agent.export.formats import FOLDER_FORMS, FORMS, export

    if to not in FOLDER_FORMS:
        require_folder_of(out, "--out")
    typer.echo(export(named_run(run, runs), next(each for each in FORMS if each == to), out))


@app.command("import", rich_help_panel="Records")
def import_(
    file: Annotated[Path, typer.Argument(help="A .cere file, written by this or another tool.", show_default=False)],
    runs: Runs = None,
) -> None:
    """Import a golden session as a run folder.

    Exit codes: 0 imported, 2 the run already exists, 5 the file is not a session, or fails verification.
    """
    from vision_agent.export.cere import read_cere

    typer.echo(str(read_cere(file, load_settings(**({"runs": runs} if runs else {})).runs)))


@app.command(rich_help_panel="Records")
def report(
    run: RunPath,
    animate: Annotated[
        Path | None,
        typer.Option("--animate", help="Also write the run as a film: .webm, .mp4, .webp or .gif.", show_default=False),
    ] = None,
    runs: LatestIn = None,
) -> None:
    """Write the report of a run again: one HTML file that opens from disk.

    Every run writes one at its end; use this for an interrupted or imported run.

    Exit codes: 0 written, 2 no such run, or the film cannot be written, 5 a damaged record.
    """
    from vision_agent.export.animation import require_film, write_animation
    from vision_agent.record.report import write_report

    run = named_run(run, runs)
    require_folder_of(animate, "--animate")
    if animate is not None:
        require_film(run, animate)
    typer.echo(str(write_report(run)))
    if animate is not None:
        typer.echo(str(write_animation(run, animate)))

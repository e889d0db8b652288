"""`vision-agent freeze`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vision_agent.cli.commands import Commands, option_groups
from vision_agent.cli.options import AsJson, LatestIn, LaunchOptions, load_settings, named_run
from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from vision_agent.evals.suites.frozen import FrozenFolder

app = Commands()


@app.command(rich_help_panel="Evaluations")
@option_groups
def freeze(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders, latest, or folders of run folders, such as the output of an evaluation; or one list of "
            "pages: a .toml, .yaml or .py file."
        ),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", help="The folder to create; it must not exist.", show_default=False)],
    any_ending: Annotated[
        bool,
        typer.Option("--any-ending", help="Include runs that did not end as done, and treat their actions as correct."),
    ] = False,
    runs: LatestIn = None,
    browser: LaunchOptions,
    as_json: AsJson = False,
) -> None:
    """Store pages with the right action on each, to evaluate models on them without a browser.

    vision-agent freeze runs/20260304-093000-abc123 --out pages

    vision-agent freeze pages.toml --out pages

    vision-agent eval frozen pages --model anthropic:claude-sonnet-5-5 --model match

    Pictures, listings, marks and earlier steps of a run are kept as recorded, so every model sees the same.
    The actions of a run are treated as correct. Runs in a folder are left out if they did not end as done, or failed
    the evaluation they belong to; a run that you name yourself is refused instead.

    A list of pages gives for each an id, start_url, goal and reference: a step line such as "click Save", or several
    of which any is right. Each page is opened and observed once, and the line must match exactly one thing on it. All
    pages are stored, or none, and the problems of each are reported. The browser options are for such a list only.

    Exit codes: 0 written, 2 it cannot be written, or a run or page gives no reference, 5 a record fails verification,
    or there is no browser.
    """
    from vision_agent.describe.action_sentences import counted
    from vision_agent.evals.suites import frozen
    from vision_agent.evals.suites.suite_file import is_list
    from vision_agent.text.console import TerminalConsole

    sources = [named_run(each, runs) for each in sources]
    if any(map(is_list, sources)):
        if len(sources) > 1 or any_ending:
            raise UsageError("A list of pages cannot be combined with runs or --any-ending", "freeze it alone")
        made = _freeze_list(sources[0], out, browser.flags)
    elif browser.flags:
        raise UsageError("Runs are frozen without a browser", "leave out the browser options")
    else:
        with TerminalConsole(stderr=True).status("Storing the runs"):
            made = frozen.freeze(sources, out, any_ending=any_ending)
    if as_json:
        typer.echo(json.dumps({**made._asdict(), "folder": str(out)}, indent=2))
        return
    history = made.steps - made.references
    typer.echo(
        f"{counted(made.tasks, 'task')} with {counted(made.references, 'reference')} and "
        f"{counted(made.pictures, 'picture')} in {out}"
        + (f"; {counted(history, 'other step')} kept as history" if history else "")
    )
    for why, many in made.left_out.items():
        typer.echo(f"left out: {many} that {why}")
    if made.unrest:
        typer.echo(f"still changing when observed, so they may look different next time: {', '.join(made.unrest)}")


def _freeze_list(path: Path, out: Path, flags: dict[str, Any]) -> FrozenFolder:
    import asyncio

    from vision_agent.evals.suites.page_list import freeze_pages
    from vision_agent.text.console import progress_line

    with progress_line("Opening a browser") as tell:
        return asyncio.run(freeze_pages(path, out, load_settings(**flags), tell))

"""`vision-agent trust`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from vision_agent.cli.commands import Commands
from vision_agent.errors import UsageError

app = Commands()


@app.command(rich_help_panel="More")
def trust(
    path: Annotated[
        Path, typer.Argument(help="A vision-agent.toml, or its folder; default: the current folder.")
    ] = Path(),
    show: Annotated[bool, typer.Option("--show", help="Only show what the file would grant.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Stop trusting the file.")] = False,
) -> None:
    """Trust the settings file of a folder, and show what that grants.

    Whoever made a folder wrote its vision-agent.toml. By itself, that file sets only what is harmless; it may start no
    program, send nothing elsewhere and raise no limit. Trust is for one file as it is now: once it is changed, it must
    be trusted again.

    Look first: vision-agent trust --show

    Exit codes: 0 trusted, shown or removed, 2 there is no such file, or it is invalid.
    """
    from vision_agent.settings import FILE_NAME, project_grants
    from vision_agent.settings_trust import distrust, is_trusted, read_project_file
    from vision_agent.settings_trust import trust as trust_file

    if show and remove:
        raise UsageError("--show cannot be combined with --remove", "leave one of them out")
    at = path.resolve() / FILE_NAME if path.is_dir() else path.parent.resolve() / path.name
    file = read_project_file(at)
    if file is None:
        raise UsageError(f"There is no file {at}", f"name a {FILE_NAME}, or the folder that it is in")
    if at.name != FILE_NAME:
        raise UsageError(f"{at} is not read as settings", f"only a file called {FILE_NAME} is")
    if remove:
        distrust(file)
        typer.echo(f"{at} is not trusted.")
        return
    granted = project_grants(file)
    for each in granted:
        typer.echo(each.words)
    if not granted:
        typer.echo(f"{at} grants nothing, so it needs no trust.")
    elif show:
        typer.echo(f"{at} is {'' if is_trusted(file) else 'not '}trusted.")
    else:
        trust_file(file)
        typer.echo(f"{at} is trusted until it is changed.")

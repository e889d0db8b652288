"""`vision-agent ui`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vision_agent.cli.commands import Commands
from vision_agent.cli.options import Runs, given, load_settings

if TYPE_CHECKING:
    from vision_agent.settings import Settings

app = Commands()


@app.command(rich_help_panel="Runs")
def ui(
    runs: Runs = None,
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            metavar="PORT",
            help="Port of 127.0.0.1 to serve the page on; 0 takes a free one.",
        ),
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Only print the address; open no browser.")] = False,
) -> None:
    """Look at the runs on a local web page: find, follow, start, stop, compare, resume, replay and delete them.

    Another folder of runs: vision-agent ui --runs elsewhere

    The page is served on this machine only, and its address works in one browser. When you stop this command, runs
    that were started from the page are interrupted; `vision-agent resume` continues them.
    """
    import asyncio

    settings = load_settings(**given(runs=runs))
    asyncio.run(_serve(settings, port, opens=not no_open))


async def _serve(settings: Settings, port: int, *, opens: bool) -> None:
    import threading
    import webbrowser

    from vision_agent.cli.running import has_screen
    from vision_agent.text.console import TerminalConsole
    from vision_agent.ui.server import serve_runs
    from vision_agent.web.loopback import ending_signal

    console = TerminalConsole(stderr=True)

    def tell_next(address: str) -> None:
        console.print(f"For another browser: {address}", soft_wrap=True, highlight=False, style="dim")

    def tell_interrupted(folders: list[Path]) -> None:
        for folder in folders:
            console.print(f"Interrupted; go on: vision-agent resume {shlex.quote(str(folder))}", soft_wrap=True)

    served = serve_runs(settings, port=port, on_opened=tell_next, on_interrupted=tell_interrupted)
    async with ending_signal() as ending, served as address:
        console.print(f"Your runs are at {address}", soft_wrap=True, highlight=False)
        console.print("The address works in one browser on this machine. Ctrl-C ends the page.", style="dim")
        if opens and has_screen(console):
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        await ending.wait()

"""`vision-agent record`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import shlex
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vision_agent.cli.commands import Commands, option_groups
from vision_agent.cli.options import AsJson, RunName, Runs, SuperviseOptions, given, load_settings, require_folder_of
from vision_agent.cli.run import RunBrowserOptions, TaskOptions
from vision_agent.cli.running import attach_supervision_page, has_window_system, run_agent, with_supervision
from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from vision_agent.session import Agent

app = Commands()

_OF_A_FILE = (
    "This page is a file, and a record opens no files by itself: to replay it, here or elsewhere, name the file again "
    "with --url {url}. Only pages on a server have one address everywhere."
)


@dataclass(frozen=True)
class RecordSuperviseOptions(SuperviseOptions):
    """Whether and where the page is on which a person is recorded."""

    supervise: Annotated[
        bool,
        typer.Option(
            "--supervise", help="Record on a web page that shows the browser live, as where there is no screen."
        ),
    ] = False
    webhook: Annotated[str | None, typer.Option("--webhook", hidden=True)] = None


@app.command(rich_help_panel="Start")
@option_groups
def record(
    url: Annotated[str, typer.Argument(help="The start page: an address, a host, or the path of a file.")],
    goal: Annotated[
        str, typer.Argument(help="What you are going to do, in plain words; it names the run.", show_default=False)
    ] = "",
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file for the step lines. Default: standard output.", show_default=False),
    ] = None,
    task: TaskOptions,
    runs: Runs = None,
    name: RunName = None,
    browser: RunBrowserOptions,
    supervision: RecordSuperviseOptions,
    as_json: AsJson = False,
) -> None:
    """Record what you do in a window or on a web page, as a run and as step lines that repeat it.

    vision-agent record https://shop.example "Order a mug" --out order.txt

    vision-agent run https://shop.example --steps order.txt

    Without a screen: vision-agent record https://shop.example "Order a mug" --supervise

    As a Playwright test: vision-agent export latest --to pytest --out test_order.py

    Exit codes: 0 recorded, 1 a check of --expect failed at the end, 2 usage, 5 no browser, or it was closed before you
    were done, 130 interrupted.
    """
    from vision_agent.export.step_lines import LinesSoFar
    from vision_agent.models.offline.human import wait_for_enter
    from vision_agent.session.recording import recording_agent

    if out is not None and out.exists():
        raise UsageError(f"{out} already exists", "name another with --out")
    require_folder_of(out, "--out")
    if supervision.webhook is not None:
        raise UsageError("--webhook posts proposals, and a recording has none", "leave it out")
    flags = browser.flags
    if browser.cdp is None and not supervision.supervise:
        flags = {**flags, "browser": {"headless": False, **flags.get("browser", {})}}
    settings = load_settings(**flags, **given(runs=runs, supervise=supervision.settings or None))
    if supervision.supervise:
        settings = with_supervision(settings)
    elif not settings.browser.headless and settings.browser.cdp_url is None and not has_window_system():
        raise UsageError(
            "There is no screen to record on",
            "add --supervise to do it on a web page, or record in your own Chrome: --cdp 9222",
        )

    async def until() -> None:
        typer.echo("Do it in the window. When you are done, close it, or press Enter here.", err=True)
        await wait_for_enter()

    made = task.task(goal or f"Recorded on {url}", url, settings.limits)
    typer.echo(_where(out, as_json), err=True)
    if made.start_url and made.start_url.startswith("file:"):
        typer.echo(_OF_A_FILE.format(url=shlex.quote(url)), err=True)

    agent = recording_agent(made, settings, None if supervision.supervise else until, name=name)
    page = attach_supervision_page(agent, records=True) if supervision.supervise else None
    keep = LinesSoFar(partial(_keep_lines, out))
    try:
        run_agent(agent, as_json, is_shared=True, page=page, tells_ending=False, also=keep)
    finally:
        _write_lines(agent, out, as_json)


def _where(out: Path | None, as_json: bool) -> str:
    """Where the step lines will be, and from when on."""
    if out is not None:
        return f"What you do is written to {out} as step lines while you do it."
    if as_json:
        return "What you do is in the run; write its step lines afterwards: vision-agent export RUN_FOLDER --to steps"
    return "What you do is printed here as step lines when you are done; --out FILE writes them while you do it."


def _keep_lines(out: Path | None, lines: str) -> None:
    """Writes the lines so far, which a recording that is killed leaves; the last writing tells why it cannot be."""
    from vision_agent.record.store import write_private

    if out is not None:
        with suppress(OSError):
            write_private(out, lines.encode())


def _write_lines(agent: Agent, out: Path | None, as_json: bool) -> None:
    """Writes what was recorded as step lines, after an interruption too."""
    from vision_agent.export.step_lines import render_lines
    from vision_agent.record.read import read
    from vision_agent.record.store import write_private

    if agent.record is None or agent.folder is None:
        return
    lines = render_lines(read(agent.folder))  # the record has secrets by name only
    if out is not None:
        try:
            write_private(out, lines.encode())
            typer.echo(f"Step lines: {out}", err=True)
        except OSError as error:
            raise UsageError(
                f"{out} cannot be written: {error.strerror}",
                f"write them elsewhere: vision-agent export {shlex.quote(str(agent.folder))} --to steps --out FILE",
            ) from error
    elif not as_json:
        typer.echo(lines, nl=False)

"""The command line: parses, calls, prints. No logic lives here.

Each command imports what it needs when it runs, so that `--help` answers at once.
Exit codes: 0 done, 1 not done, 2 usage or an error, 3 limit, 4 needs a person or policy,
5 browser, model or disk down, 130 interrupted.
"""

from __future__ import annotations

import _thread
import json
import re
import shlex
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vision_agent.cli.commands import Commands, option_groups
from vision_agent.cli.demo import app as demonstration
from vision_agent.cli.eval import app as evaluation
from vision_agent.cli.freeze import app as freezing
from vision_agent.cli.login import app as login
from vision_agent.cli.login import sessions
from vision_agent.cli.mcp import app as serving
from vision_agent.cli.memory import app as memory
from vision_agent.cli.options import (
    AsJson,
    BrowserOptions,
    Cdp,
    Executable,
    browser_flags,
    given,
    load_settings,
    option,
)
from vision_agent.cli.record import app as recording
from vision_agent.cli.replay import app as replay
from vision_agent.cli.run import app as run
from vision_agent.cli.run_folders import app as record
from vision_agent.cli.runs import app as runs
from vision_agent.cli.terminal import escape_commands, escaped_output, prepare_streams
from vision_agent.cli.trust import app as trusting
from vision_agent.cli.ui import app as looking
from vision_agent.errors import UsageError, VisionAgentError, decider_traceback

if TYPE_CHECKING:
    from rich.console import Console

    from vision_agent.actions import Zoom
    from vision_agent.browser.launch.doctor import Health
    from vision_agent.models.credentials import Access
    from vision_agent.session.model_check import ModelCheck

app = Commands(
    name="vision-agent",
    help="The browser agent that sees what it clicks.",
    no_args_is_help=True,
    # A traceback with its variables could print a secret.
    pretty_exceptions_enable=False,
)

app.add_typer(demonstration)
app.add_typer(login)
app.add_typer(run)
app.add_typer(recording)
app.add_typer(record)
app.add_typer(runs, rich_help_panel="Runs")
app.add_typer(looking)
app.add_typer(sessions, rich_help_panel="Runs")
app.add_typer(replay)
app.add_typer(memory, rich_help_panel="Records")
app.add_typer(evaluation)
app.add_typer(freezing)
app.add_typer(trusting)
app.add_typer(serving)


_AGAIN_S = 0.05
_INTERRUPTED = 130
_ENDS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


def main() -> None:
    """Runs the command line and exits with its code; what ends a process politely ends it as Ctrl-C does."""
    for number in _ENDS:
        # Whoever ignores one, as nohup does, wants it ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _interrupt_again
    prepare_streams()
    try:
        # Also as `python -m vision_agent`: completion is for a command, and messages name this one.
        app(prog_name="vision-agent")
    except SystemExit as left:
        ended = left.__context__
        # Typer makes it of Ctrl-C; a run that a person stopped has said so.
        if left.code == _INTERRUPTED and (ended is None or isinstance(ended.__cause__, KeyboardInterrupt)):
            print("vision-agent: interrupted.", file=sys.stderr)  # noqa: T201 - the one line a person gets
        raise
    except VisionAgentError as error:
        with escaped_output():
            print(f"vision-agent: {error}", file=sys.stderr)  # noqa: T201 - the one line a person gets
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("vision-agent: interrupted.", file=sys.stderr)  # noqa: T201
        sys.exit(_INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - a mistake of ours or of a decider, whose report may quote a page
        with escaped_output():
            _print_unforeseen(error)
        sys.exit(VisionAgentError.exit_code)


def _print_unforeseen(error: Exception) -> None:
    """Prints the traceback; of an error of a decider that somebody wrote, only what is in there."""
    own = decider_traceback(error)
    traceback.print_exception(type(error), error, own or error.__traceback__)
    if own is not None:
        file = Path(own.tb_frame.f_code.co_filename).name
        sentence = f"vision-agent: the decider in {file} failed, where the traceback says."
        print(sentence, file=sys.stderr)  # noqa: T201 - the one line a person gets


def _interrupt(*_: object) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Interrupts once more a moment later if an interruption was lost.

    Python drops what is raised while it cleans up an object or ends an import, as if there had been no signal.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    # Where Ctrl-C is ignored, as in the background of a shell, the others are still heard, and end it the same way.
    number = next((each for each in _ENDS if signal.getsignal(each) is _interrupt), signal.SIGINT)
    again = threading.Timer(_AGAIN_S, _thread.interrupt_main, [number])
    again.daemon = True
    again.start()


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(metadata.version("vision-agent"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    del version


# --- setting up -------------------------------------------------------------------------------------------------------


@app.command(rich_help_panel="Start")
def setup(executable: Executable = None, cdp: Cdp = None, as_json: AsJson = False) -> None:
    """Find a browser or install one, and show what a run would use."""
    from vision_agent.browser.launch.doctor import setup

    _check(setup, browser_flags(executable, cdp), as_json)


@app.command(rich_help_panel="Start")
def doctor(
    executable: Executable = None,
    cdp: Cdp = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Also send the model one request, which costs what one step costs.")
    ] = False,
    model: Annotated[
        str | None, option("The model to ask, instead of the one in the settings.", "--model", "MODEL")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a run would use on this machine, without changing anything.

    Exit codes: 0 a run can begin, 2 usage, 5 there is no browser, or the model that was asked did not answer.
    """
    from vision_agent.browser.launch.doctor import doctor

    if model is not None and not ask:
        raise UsageError("--model names the model to ask", "add --ask")
    _check(doctor, {**browser_flags(executable, cdp), **given(model=given(name=model) or None)}, as_json, ask=ask)


def _check(probe: Any, flags: dict[str, Any], as_json: bool, *, ask: bool = False) -> None:
    import asyncio

    from vision_agent.models.credentials import WITHOUT_A_MODEL, model_accesses
    from vision_agent.text.console import TerminalConsole, progress_line

    with progress_line("Looking for a browser") as tell:
        settings = load_settings(**flags)
        health: Health = asyncio.run(probe(settings, tell))
        known = model_accesses(settings.model, instead=WITHOUT_A_MODEL)
        check: ModelCheck | None = None
        if ask:
            from vision_agent.session.model_check import check_model

            tell(f"Asking {settings.model.name}")
            check = asyncio.run(check_model(settings))
    if as_json:
        facts = {**health.model_dump(mode="json"), "models": [each.model_dump() for each in known]}
        if check is not None:
            facts["asked"] = {**check._asdict(), "usage": check.usage and check.usage.model_dump(exclude={"raw"})}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        _print_health(TerminalConsole(soft_wrap=True), health, known, check)
    raise typer.Exit(health.exit_code or (0 if check is None or check.answers else 5))


def _print_health(console: Console, health: Health, models: Sequence[Access], check: ModelCheck | None) -> None:
    from rich.markup import escape

    from vision_agent.assets import is_checkout

    def line(title: str, text: str) -> None:
        console.print(f"[dim]{title:<10}[/]{escape(text)}", highlight=False)

    line("Python", f"{health.python} on {health.system}")
    line("Packages", ", ".join(f"{name} {version or 'missing'}" for name, version in health.packages.items()))
    for probe in health.browsers:
        if probe.works:
            console.print(
                f"[dim]{'Browser':<10}[/][green]works[/]  {escape(probe.sentence)} [dim]({probe.seconds} s)[/]",
                highlight=False,
            )
        else:
            console.print(f"[dim]{'':<10}absent {escape(probe.sentence)}[/]", highlight=False)
    for each in models:
        line("Model", f"{each.name}: {each.sentence}")
    if check is not None:
        line("Asked", f"{check.sentence} ({', '.join(_paid(check))})")
    line(
        "Hosts",
        "fully restricted in a browser that it starts; with --cdp or your own page, these get through:",
    )
    for gap in health.not_held:
        line("", f"  {gap}")
    line("", "  To block these too, start Chrome with these arguments; write each allowed host in place of HOST:")
    line("", f"  {shlex.join(health.limiting_arguments)}")
    line("Runs", f"{health.runs_folder} ({'writable' if health.runs_folder_is_writable else 'NOT writable'})")
    unread = "marks in canvases have no names; install OCR: pip install 'vision-agent[ocr]'"
    line("Words", "read in canvases by OCR" if health.reads_words else unread)
    if is_checkout():
        line("npm", "present" if health.has_npm else "absent: the JavaScript type check is skipped")
    for warning in health.warnings:
        console.print(f"[yellow]{'Warning':<10}{escape(warning)}[/]", highlight=False)


def _paid(check: ModelCheck) -> list[str]:
    """How long the answer took, and what it cost as far as that is known."""
    if check.usage is None:
        return [f"{check.seconds} s"]
    cost = check.usage.cost_usd
    return [
        f"{check.seconds} s",
        f"{check.usage.total:,} tokens",
        "cost unknown" if cost is None else f"${cost:.4f}",
    ]


# --- looking ----------------------------------------------------------------------------------------------------------


@app.command(rich_help_panel="Start")
@option_groups
def marks(
    url: Annotated[str, typer.Argument(help="The page: an address, a host, or the path of a file.")],
    *,
    out: Annotated[
        Path, typer.Option("--out", help="Output folder for clean.png, marked.png, marks.json, listing.txt.")
    ],
    zoom: Annotated[
        str | None,
        option(
            "Show only a part, enlarged: what is around a mark, by its number, or two corners in the picture without "
            "--zoom, such as 0,0,320,200.",
            "--zoom",
            "MARK|X,Y,X,Y",
        ),
    ] = None,
    browser: BrowserOptions,
    as_json: AsJson = False,
) -> None:
    """Observe a page once: mark its targets, write the pictures, print the listing.

    Uses no model and does nothing on the page. The error page of a server, such as that of a 404, is shown as any
    other; stderr says so.

    Where targets are small and crowded: vision-agent marks page.html --out closer --zoom 12
    """
    import asyncio

    from vision_agent.describe.action_sentences import failed_answer_in
    from vision_agent.record.observation import write_observation
    from vision_agent.session import look_at

    part = _part(zoom) if zoom is not None else None
    settings = load_settings(**browser.flags)
    from vision_agent.text.console import TerminalConsole

    with TerminalConsole(stderr=True).status("Looking at the page"):
        seen = asyncio.run(look_at(url, settings, zoom=part))
    files = write_observation(seen, out)
    if as_json:
        typer.echo(json.dumps({"marks": len(seen.marks), "files": {what: str(path) for what, path in files.items()}}))
    else:
        typer.echo(seen.listing)
    failed = failed_answer_in(seen.warnings)
    if failed:
        answered = failed.removeprefix("the page answered ")
        typer.echo(f"vision-agent: The server answered {answered}: these are the marks of its error page.", err=True)
    if as_json:
        return
    for warning in seen.warnings:
        if warning != failed:
            typer.echo(f"vision-agent: {_CORNERS.sub(_as_option, warning)}", err=True)
    typer.echo(f"The pictures are in {out}: {files['marked'].name} and {files['clean'].name}.", err=True)


_CORNERS = re.compile(r"(?:(?<=: )zoom )?\((\d+), (\d+)\) to \((\d+), (\d+)\)")
"""How a warning names a part of the picture."""


def _as_option(part: re.Match[str]) -> str:
    return f"--zoom {','.join(part.groups())}"


def _part(zoom: str) -> Zoom:
    """What is to be enlarged.

    Raises:
        UsageError: it is neither the number of a mark nor two corners.
    """
    from vision_agent.actions import Point, Zoom

    if not re.fullmatch(r"\d{1,6}(,\d{1,6},\d{1,6},\d{1,6})?", zoom):
        raise UsageError(
            f"--zoom {zoom!r} names no part of the picture", "give the number of a mark, or corners such as 0,0,320,200"
        )
    target, *corners = map(int, zoom.split(","))
    if not corners:
        return Zoom(target=target)
    y, right, below = corners
    return Zoom(target=Point(x=target, y=y), to=Point(x=right, y=below))


escape_commands(app)

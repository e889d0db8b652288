"""The one edge at which text reaches a terminal: what a terminal would obey is escaped there, whoever wrote it.

What the encoding of a stream lacks is written as an escape, and help and usage errors have colours only in a terminal.

With `--json`, an error before any output is one JSON object on stdout too.

Every command runs inside `escaped_output`, so that a plain `print` is escaped too. A `TerminalConsole` escapes what it
is given and adds its own colours afterwards. Any other console of Rich would show its colours as escapes: nothing goes
round the edge.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import wraps
from typing import Any, cast

import typer

from vision_agent.errors import Unavailable, VisionAgentError
from vision_agent.text.console import EscapingStream


@contextmanager
def escaped_output() -> Iterator[EscapingStream]:
    """Inside the `with` block, all that is written to stdout and stderr is escaped; the value stands for stdout."""
    out, err = (cast("Any", EscapingStream(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield out


def prepare_streams() -> None:
    """Makes stdout and stderr write what their encoding lacks as an escape, and leaves colours out of a pipe."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    is_plain = bool(os.environ.get("NO_COLOR"))
    # Typer takes these for a terminal. Its module is loaded only then, because that is slow.
    if is_plain or os.environ.get("GITHUB_ACTIONS") or os.environ.get("PY_COLORS"):
        from typer import rich_utils

        rich_utils.FORCE_TERMINAL = None
        rich_utils.COLOR_SYSTEM = None if is_plain else rich_utils.COLOR_SYSTEM


def escape_commands(app: typer.Typer) -> None:
    """Makes every command of the app, and of the apps in it, run inside `escaped_output`.

    Help and usage errors come before a command runs; they show nothing but our words and the command line's.
    """
    for command in app.registered_commands:
        if command.callback is not None:
            command.callback = _escaped(command.callback)
    if app.registered_callback is not None and app.registered_callback.callback is not None:
        app.registered_callback.callback = _escaped(app.registered_callback.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            escape_commands(group.typer_instance)


def _escaped(command: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)
    def run(*args: Any, **values: Any) -> Any:
        with escaped_output() as out:
            try:
                return command(*args, **values)
            except VisionAgentError as error:
                if values.get("as_json") and not out.has_written:
                    typer.echo(_as_json(error))
                raise

    return run


def _as_json(error: VisionAgentError) -> str:
    """An error before there was anything to tell, with the first fields of a run that has ended."""
    status = "unavailable" if error.exit_code == Unavailable.exit_code else "error"
    facts = {"status": status, "limit": None, "sentence": str(error), "answer": None, "exit_code": error.exit_code}
    return json.dumps(facts, ensure_ascii=False)

"""The blocks of a page are run, and must show what the page shows."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from docs_snippets.blocks import ROOT, Block, WrongPage, blocks_of, commands_of, name_of
from tests.ready_python import python
from vision_agent.vision.ocr import can_read

_EXTRAS = {"ocr": can_read}
"""Whether an extra is installed."""
_COMMAND_S = 300


_SERVER_S = 15


def run_page(page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    """Runs the snippets of a page in an empty folder.

    Raises:
        WrongPage: one fails, or its output is not what the page shows.
    """
    with Shell(folder, environment) as shell:
        for number, block in enumerate(blocks_of(page), 1):
            text = with_port(block.text, shell.port)
            try:
                if block.not_run or (block.extra and not _EXTRAS[block.extra]()):
                    continue
                if block.title:
                    write_file(folder / block.title, text)
                elif block.language == "python":
                    write_file(folder / f".snippet_{number}.py", text)
                    shell.run(f"python .snippet_{number}.py", block.exit_code)
                elif block.language == "console":
                    _run_console(block, shell)
            except _Failed as fault:
                raise WrongPage(f"{name_of(page)}:{block.line}: {fault}") from None


def _run_console(block: Block, shell: Shell) -> None:
    commands = commands_of(block)
    if not commands:
        raise _Failed("a console block without a command: begin one with `$ `")
    for command in commands:
        text = with_port(command.text, shell.port)
        if command.in_background:
            shell.start(text.removesuffix(" &"))
            continue
        # The exit code belongs to the last command; those before it prepare.
        output = shell.run(text, block.exit_code if command is commands[-1] else 0)
        missing = missing_line([with_port(line, shell.port) for line in command.shown], output)
        if missing is not None:
            raise _Failed(f"`{text}` does not print this line, or not in this place:\n{missing}\nIt prints:\n{output}")


def with_port(text: str, port: int) -> str:
    """The text with another port in place of 8000."""
    return re.sub(r"\b8000\b", str(port), text)


def missing_line(shown: Iterable[str], output: str) -> str | None:
    """The first shown line that is not in the output, or not in this order; None if all are."""
    real = [" ".join(line.split()) for line in output.splitlines()]
    at = 0
    for line in shown:
        words = " ".join(line.split())
        if words == "…":
            continue
        pattern = re.compile(".*".join(re.escape(part.strip()) for part in words.split("…")))
        found = next((index for index in range(at, len(real)) if pattern.fullmatch(real[index])), None)
        if found is None:
            return line
        at = found + 1
    return None


class _Failed(Exception):
    """A snippet failed; `run_page` adds where it is."""


_TAKE_STATE = '[ ! -e "$DOCS_STATE" ] || . "$DOCS_STATE"'


_KEEP_STATE = """code=$?
{ export -p; printf 'cd %q\\n' "$PWD"; } >"$DOCS_STATE"
exit $code"""


class Shell:
    """Runs commands in one folder, one process each; exported variables and the current folder stay."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = dict(environment)
        self._in_background: list[subprocess.Popen[str]] = []
        self._state = folder.parent / f"{folder.name}.state"
        self.port = _free_port()

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._in_background:
            _end(process)

    def run(self, command: str, exit_code: int) -> str:
        """What the command prints, errors included."""
        process = self._started(f"{command}\n{_KEEP_STATE}")
        try:
            output, _ = process.communicate(timeout=_COMMAND_S)
        except subprocess.TimeoutExpired:
            _end(process)
            raise _Failed(f"`{command}` does not end within {_COMMAND_S} s") from None
        if process.returncode != exit_code:
            raise _Failed(f"`{command}` exits with {process.returncode}, not {exit_code}. It prints:\n{output}")
        return output

    def start(self, command: str) -> None:
        """Starts a command that runs until the page is done; waits until a server it names listens."""
        process = self._started(f"exec {command}", discard=True)
        self._in_background.append(process)
        deadline = time.monotonic() + _SERVER_S
        while str(self.port) in command and not _listens(self.port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise _Failed(f"`{command}` serves nothing on port {self.port}")
            time.sleep(0.05)

    def _started(self, script: str, *, discard: bool = False) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["bash", "-c", f"{_TAKE_STATE}\n{script}"],
            cwd=self._folder,
            env={**self._environment, "DOCS_STATE": str(self._state)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if discard else subprocess.PIPE,
            stderr=subprocess.DEVNULL if discard else subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def snippet_environment(bin_folder: Path, model_address: str) -> dict[str, str]:
    """The environment of a reader who has installed the package and has a key.

    `bin_folder` gets the commands `python` and `vision-agent` of this checkout.
    """
    bin_folder.mkdir(parents=True, exist_ok=True)
    for name, module in (("python", ""), ("vision-agent", " -m vision_agent"), ("playwright", " -m playwright")):
        script = bin_folder / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(python())}{module} "$@"\n', "utf-8")
        script.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("VISION_AGENT_", "PYTEST_"))}
    return {
        **kept,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "100",
        "XDG_DATA_HOME": str(bin_folder.parent / "data"),
        "ANTHROPIC_API_KEY": "sk-not-a-key",
        "ANTHROPIC_BASE_URL": model_address,
        "VISION_AGENT_OBSERVE__OCR_DEADLINE_S": "60",  # a busy machine reads slowly
    }


def write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

"""A Python that has imported the product already, for tests that start many processes.

Each start would otherwise compute for a second before its first line. `python()` is the path of a command that takes
`-m MODULE …` or `SCRIPT …`, as Python does. While several tests run at a time, it sends its arguments, folder,
environment and open files to `server`, which has only imported and forks a process of its own for them; `client` waits
for that one and passes signals on. Whatever needs another interpreter (`-c`, `-X`, a `PYTHONPATH` with another copy of
the product), and every test that runs alone, gets a fresh Python.

A test of how the product starts, or of what survives `kill -9`, uses `sys.executable`.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_VARIABLE = "READY_PYTHON"


def python() -> str:
    """The path of a Python that may be ready already."""
    return os.environ.get(_VARIABLE, sys.executable)


class ReadyPython:
    """Serves ready Pythons until it is closed. `folder`: an empty one, for the command and the socket."""

    def __init__(self, folder: Path) -> None:
        self._address = folder / "socket"
        self.command = folder / "python"
        root = str(_HERE.parent.parent)
        client = shlex.join([sys.executable, "-IS", str(_HERE / "client.py"), str(self._address), root])
        self.command.write_text(f'#!/bin/sh\nexec {client} "$@"\n', "utf-8")
        self.command.chmod(0o755)
        server = [sys.executable, str(_HERE / "server.py"), str(self._address)]
        # It ends when its input is closed, also if we are killed.
        self._server = subprocess.Popen(
            server, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True
        )

    def wait(self) -> None:
        """Return when it serves; until then the command starts Pythons anew."""
        assert self._server.stdout is not None
        assert self._server.stdout.readline() == "ready\n"

    def offer(self) -> None:
        """Have `python()` name it, here and in processes that are started later."""
        os.environ[_VARIABLE] = str(self.command)

    def close(self) -> None:
        """Start no more; what was started goes on."""
        self._server.communicate()

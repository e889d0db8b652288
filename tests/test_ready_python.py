"""A Python that is ready does what one does that is started anew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import hear_signals
from tests.ready_python import ReadyPython

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system cannot wait for processes by files")

SCRIPT = """
import os, sys
print(sys.argv[1:], os.getcwd(), os.environ.get("ASKED"), sys.stdin.read(), "playwright.async_api" in sys.modules)
print("trouble", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""
WAITS = "import signal, sys; print('up', flush=True); signal.pause()"


@pytest.fixture(scope="module")
def ready() -> Iterator[str]:
    """The command of a server of our own."""
    with tempfile.TemporaryDirectory(prefix="ready-") as folder:  # the path of a socket must be short
        server = ReadyPython(Path(folder))
        server.wait()
        yield str(server.command)
        server.close()


def test_it_gets_arguments_folder_environment_and_input_and_gives_outputs_and_exit_code(
    ready: str, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, "utf-8")
    done = [
        subprocess.run(
            [python, "script.py", "3", "two words", ""],
            cwd=tmp_path,
            env={**os.environ, "ASKED": "yes"},
            input="typed",
            capture_output=True,
            text=True,
            timeout=120,
        )
        for python in (ready, sys.executable)
    ]
    told = f"['3', 'two words', ''] {tmp_path} yes typed"
    assert [each.stdout for each in done] == [f"{told} True\n", f"{told} False\n"]
    assert [(each.stderr, each.returncode) for each in done] == [("trouble\n", 3)] * 2


def test_a_module_is_run_as_the_program(ready: str) -> None:
    command = ["-m", "vision_agent", "run", "nothing-here.html", "Look", "--steps", "none.txt"]
    done, anew = (
        subprocess.run([each, *command], capture_output=True, timeout=120) for each in (ready, sys.executable)
    )
    assert (done.stdout, done.stderr, done.returncode) == (anew.stdout, anew.stderr, anew.returncode)
    assert done.returncode == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_signal_reaches_it_and_ends_it(ready: str, tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "waits.py").write_text(WAITS, "utf-8")
    with subprocess.Popen(
        [ready, "waits.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True, preexec_fn=hear_signals
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        process.send_signal(number)
        # It is closed when the last one that could write to it has ended.
        assert process.stdout.read() == ""
    assert process.returncode == -number


@pytest.mark.parametrize(
    ("arguments", "variable"), [(["-c", "{}"], ""), (["-X", "utf8", "-c", "{}"], ""), (["{}"], "PYTHONHASHSEED")]
)
def test_what_needs_another_python_is_started_anew(
    ready: str, tmp_path: Path, arguments: list[str], variable: str
) -> None:
    code = "import sys; print('playwright.async_api' in sys.modules)"
    (tmp_path / "code.py").write_text(code, "utf-8")
    given = [each.format(code if "-c" in arguments else "code.py") for each in arguments]
    environment = {**os.environ, **({variable: "1"} if variable else {})}
    done = subprocess.run([ready, *given], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("False\n", "")

"""Claims about the command line, made of a real process each."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"anthropic", "cv2", "numpy", "PIL", "playwright", "jinja2", "uvicorn"}


def vision_agent(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "vision_agent.cli", *args],
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["run", "--help"], ["marks", "--help"]])
def test_help_loads_no_browser_no_model_and_no_pixels(args: list[str]) -> None:
    script = (
        f"import sys; sys.argv[1:] = {args!r}\n"
        "from vision_agent.cli import main\n"
        "try: main()\n"
        "finally: print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout
    assert HEAVY.isdisjoint(done.stderr.split())


def test_every_command_is_in_the_help() -> None:
    shown = vision_agent("--help").stdout
    assert all(command in shown for command in ("run", "marks", "setup", "doctor"))


@pytest.mark.parametrize("args", [["dance"], ["doctor", "--dance"], ["run"]])
def test_a_wrong_command_line_is_a_usage_error(args: list[str]) -> None:
    assert vision_agent(*args).returncode == 2


def test_a_setting_that_does_not_fit_is_named_in_one_line() -> None:
    done = vision_agent("doctor", VISION_AGENT_BROWSER__HEADLESS="perhaps")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("vision-agent: The settings do not fit: browser.headless")


def test_doctor_prints_what_it_found_as_json() -> None:
    done = vision_agent("doctor", "--json", ANTHROPIC_API_KEY="sk-ant-only-a-test")
    assert done.returncode == 0
    assert json.loads(done.stdout)["has_anthropic_key"] is True
    assert "sk-ant-only-a-test" not in done.stdout + done.stderr


def test_doctor_without_a_browser_leaves_with_5_and_says_what_would_help(tmp_path: Path) -> None:
    done = vision_agent("doctor", "--browser", str(tmp_path / "chrome"))
    assert done.returncode == 5
    assert f"there is no file {tmp_path / 'chrome'}" in done.stdout
    assert "playwright install chromium" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal")
def test_ctrl_c_leaves_with_130_and_no_traceback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as never_answers:
        address = f"http://127.0.0.1:{never_answers.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-m", "vision_agent.cli", "doctor", "--cdp", address],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        never_answers.settimeout(30)
        connection, _ = never_answers.accept()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        connection.close()
    assert process.returncode == 130
    assert "Traceback" not in said

"""Claims about what reaches a terminal: nothing that it would obey, whoever wrote it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text
from typer.testing import CliRunner

from tests.ready_python import python
from vision_agent.cli.main import app as whole
from vision_agent.cli.terminal import escape_commands
from vision_agent.text.console import TerminalConsole
from vision_agent.text.escape import terminal_text

ATTACK = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnihton\u2066\u200b\x08\r"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")

HOSTILE = r"""<script>
const attack = '\x1b[2J\x1b]0;owned\x07\x9b31m\u202egnihton\u2066\u200b\x08\r';
document.title = 'Shop' + attack;
const button = document.createElement('button');
button.textContent = 'Tell' + attack;
button.setAttribute('aria-label', 'Tell' + attack);
button.onclick = () => { alert('Alert' + attack); history.pushState(0, '', '/%1b[2J#' + attack); };
document.documentElement.append(button);
</script>"""


def ran(*args: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python(), "-m", "vision_agent", *args],
        env={**os.environ, "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
    )


def on_terminal(*args: str, folder: Path) -> str:
    """What the command writes to a terminal, which it thinks it has."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [python(), "-m", "vision_agent", *args],
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "200"},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # Linux tells so that the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    process.wait(timeout=150)
    return shown.decode("utf-8", "replace")


STEPS = "click [1]\nfinish Done\n"


@pytest.fixture(scope="module")
def recorded(serve: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, str]:
    """The address of a hostile page, the folder of a run on it, and what the run printed."""
    folder, url = tmp_path_factory.mktemp("hostile"), serve({"/": HOSTILE})
    (folder / "lines.txt").write_text(STEPS, "utf-8")
    done = ran("run", url, "--steps", "lines.txt", folder=folder)
    assert done.returncode == 0, done.stderr
    return url, next((folder / "runs").iterdir()), done.stdout + done.stderr


def test_a_run_prints_what_a_page_is_called_and_says_with_its_control_characters_escaped(
    recorded: tuple[str, Path, str],
) -> None:
    assert "Alert" in recorded[2]
    assert not OBEYED.search(recorded[2])


@pytest.mark.parametrize(
    "command",
    [
        "diff {run} {run}",
        pytest.param("marks {url} --out seen", marks=pytest.mark.thorough),
        pytest.param("diff {run} {run} --json", marks=pytest.mark.thorough),
        pytest.param("verify {run}", marks=pytest.mark.thorough),
        pytest.param("replay {run}", marks=pytest.mark.thorough),
    ],
)
def test_what_a_page_shows_is_escaped_by_each_command_that_prints_it(
    command: str, recorded: tuple[str, Path, str], tmp_path: Path
) -> None:
    url, run, _ = recorded
    done = ran(*command.format(url=url, run=run).split(), folder=tmp_path)
    assert "Traceback" not in done.stderr
    assert not OBEYED.search(done.stdout + done.stderr)


@pytest.mark.thorough
def test_a_terminal_gets_our_colours_and_none_of_the_page_s(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text(STEPS, "utf-8")
    shown = on_terminal("run", serve({"/": HOSTILE}), "--steps", "lines.txt", folder=tmp_path)
    assert "\x1b[32m" in shown or "\x1b[33m" in shown or "\x1b[2m" in shown
    assert "\x1b[2J" not in shown
    assert "\x1b]0;" not in shown
    assert not re.search("[\x80-\x9f\u202e\u2066]", shown)


def test_a_plain_print_in_a_command_is_escaped_and_its_help_keeps_its_own_colours() -> None:
    app, inner = typer.Typer(), typer.Typer()

    @app.command()
    def tell() -> None:
        print(ATTACK)  # noqa: T201 - what is tested
        typer.echo(ATTACK, err=True)
        sys.stdout.writelines([ATTACK])
        TerminalConsole(force_terminal=True, width=200).print(Text(ATTACK, style="red"))

    @inner.command()
    def deep() -> None:
        typer.echo(ATTACK)

    app.add_typer(inner, name="inner")
    escape_commands(app)
    for command in (["tell"], ["inner", "deep"]):
        done = CliRunner().invoke(app, command)
        assert done.exception is None
        assert not OBEYED.search(done.output.replace("\x1b[31m", "").replace("\x1b[0m", ""))
        assert "\\u009b31m" in done.output


def test_no_command_of_ours_has_its_output_on_the_raw_stream() -> None:
    def commands(app: typer.Typer) -> list[Any]:
        inner = [group.typer_instance for group in app.registered_groups if group.typer_instance]
        return [
            *(each.callback for each in app.registered_commands),
            *(each for one in inner for each in commands(one)),
        ]

    known = commands(whole)
    assert len(known) > 15
    assert [each.__name__ for each in known if not hasattr(each, "__wrapped__")] == []


def test_an_error_that_quotes_what_was_given_is_escaped(tmp_path: Path) -> None:
    done = ran("verify", f"no{ATTACK.replace(chr(0), '')}run", folder=tmp_path)
    assert done.returncode == 2
    assert not OBEYED.search(done.stdout + done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["Straße, 東京 and عربي", "👩‍👩‍👧 ❤️", "a\tb\nc", "می‌خواهم", "Total 42 €"])
def test_what_people_write_is_left_as_it_is(text: str) -> None:
    assert terminal_text(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\u001b[31m"),
        ("\x9b31m", "\\u009b31m"),
        ("a\rb", "a\\rb"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\udb40\\udc41"),
        ("\u2028", "\\u2028"),
    ],
)
def test_what_a_terminal_obeys_is_written_as_in_json(text: str, shown: str) -> None:
    assert terminal_text(text) == shown

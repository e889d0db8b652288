"""The page of exit codes, from commands, endings and errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import get_args

from vision_agent.errors import VisionAgentError
from vision_agent.types import Ending

from .command_line import commands
from .markdown import anchor, markdown_page, markdown_table, prose


def exit_codes_page() -> str:
    """The page: which code says what, for runs and for other commands."""
    of_run = dict(exit_codes_of(dict(commands())["vision-agent run"].help))
    endings: dict[int, list[str]] = {}
    for status in get_args(Ending.model_fields["status"].annotation):
        endings.setdefault(Ending(status=status, sentence="").exit_code, []).append(f"`{status}`")
    errors: dict[int, list[str]] = {}
    for error in dict.fromkeys(_errors(VisionAgentError)):
        errors.setdefault(error.exit_code, []).append(f"`{error.__name__}`")
    codes = sorted({*of_run, *endings, *errors})
    rows = [
        (f"`{code}`", prose(of_run.get(code, "")), ", ".join(endings.get(code, ())), ", ".join(errors.get(code, ())))
        for code in codes
    ]
    parts = [
        "# Exit codes",
        "The exit code tells a script how a run or a command ended.",
        "## Runs",
        "`vision-agent run`, `resume` and `replay` exit with the code of the run's ending; "
        "an error that ends any command has a code too.",
        markdown_table(("Code", "Meaning", "Endings", "Errors"), rows),
        "## Other commands",
        "They exit with 0 when they did what they were asked for. An error has the code of the table above.",
    ]
    others = []
    for path, command in commands():
        listed = exit_codes_of(command.help or "")
        if listed and {code for code, _ in listed} != set(of_run):
            each = "<br>".join(f"`{code}` {prose(meaning)}" for code, meaning in listed)
            others.append((f"[`{path}`](cli.md#{anchor(path)})", each))
    return markdown_page([*parts, markdown_table(("Command", "Codes"), others)])


def exit_codes_of(help_text: str) -> list[tuple[int, str]]:
    """The codes that a command's help names, each with its meaning."""
    found = re.search(r"Exit codes: (.+?)(?:\.\s*$|\.\n\n|\Z)", " ".join(help_text.split("\n")), re.DOTALL)
    listed = " ".join(found[1].split()) if found else ""
    return [
        (int(code), meaning.strip(" ,;."))
        for code, meaning in re.findall(r"(?:^|[,;] )(\d+) (.+?)(?=[,;] \d+ |$)", listed)
    ]


def _errors(error: type[VisionAgentError]) -> Iterator[type[VisionAgentError]]:
    yield error
    for each in error.__subclasses__():
        yield from _errors(each) if each.__module__ == "vision_agent.errors" else ()

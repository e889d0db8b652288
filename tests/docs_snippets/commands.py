"""The commands that a page names exist, with their options; the files it shows can be read."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer

from docs_snippets.blocks import WrongPage, blocks_of, commands_of, name_of, prose_of
from vision_agent.settings import ApprovalSettings, Settings

_INLINE = re.compile(r"(?<!`)`(vision-agent(?: [^`\n]+)?)`(?!`)")


def check_commands(page: Path) -> None:
    """Checks that each `vision-agent` command of a page exists, with all of its flags.

    Raises:
        WrongPage: one does not.
    """
    for block in blocks_of(page):
        if block.language in ("console", "bash", "sh"):
            for command in commands_of(block):
                for words in _vision_agent_calls(command.text):
                    _check_call(words, f"{name_of(page)}:{command.line}", complete=True)
    for number, line in prose_of(page):
        for match in _INLINE.finditer(line):
            _check_call(shlex.split(match[1]), f"{name_of(page)}:{number}", complete=False)


def _vision_agent_calls(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    for word in [*lexer, ";"]:
        if word and not word.strip("();<>|&"):
            yield from [words[words.index("vision-agent") :]] if "vision-agent" in words else []
            words = []
        else:
            words.append(word)


@cache
def _root_command() -> Any:
    from vision_agent.cli.main import app

    return typer.main.get_command(app)


def _check_call(words: Sequence[str], where: str, *, complete: bool) -> None:
    command, rest, path = _root_command(), list(words[1:]), "vision-agent"
    arguments = 0
    options = _options_of(command)
    while rest:
        word = rest.pop(0)
        if word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            if name not in options:
                raise WrongPage(f"{where}: {path} has no option {name}")
            if options[name] and not equals and rest:
                rest.pop(0)
        elif hasattr(command, "commands"):
            if word not in command.commands and "SUITE" in command.commands:
                rest, word = [word, *rest], "SUITE"
            if word not in command.commands:
                raise WrongPage(f"{where}: {path} has no command {word}")
            command, path = command.commands[word], f"{path} {word}"
            options = _options_of(command)
        else:
            arguments += 1
    taken = [each for each in command.params if each.param_type_name == "argument"]
    least = sum(each.required for each in taken)
    most = None if any(each.nargs == -1 for each in taken) else len(taken)
    if complete and "--help" not in words and (arguments < least or (most is not None and arguments > most)):
        raise WrongPage(f"{where}: {path} does not take {arguments} arguments")


def _options_of(command: Any) -> dict[str, bool]:
    """The options of a command, and whether each takes a value."""
    options = {"--help": False}
    for each in command.params:
        if each.param_type_name == "option":
            options |= dict.fromkeys((*each.opts, *each.secondary_opts), not each.is_flag)
    return options


def check_files(page: Path) -> None:
    """Checks that the TOML and JSON of a page can be parsed, and that files of ours hold what we read.

    Raises:
        WrongPage: one cannot, or has an unknown key.
    """
    for block in blocks_of(page):
        try:
            if block.language == "json":
                json.loads(block.text)
            if block.language == "toml":
                read = tomllib.loads(block.text)
                if block.title == "vision-agent.toml":
                    Settings(**read)
                if block.title == "policy.toml":
                    ApprovalSettings(**read)
        except ValueError as error:
            raise WrongPage(f"{name_of(page)}:{block.line}: {error}") from None

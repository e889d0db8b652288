"""The page of commands, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, get_args

import typer

from vision_agent.cli.commands import is_list
from vision_agent.cli.main import app

from .fields import type_words
from .markdown import anchor, markdown_page, markdown_table, prose


def cli_page() -> str:
    """The page: each command with its arguments and options."""
    parts = [
        "# Command line",
        "Every command takes `--help`. "
        "What a command needs is read from [settings](settings.md) unless an option overrides it. "
        "The [exit codes](exit-codes.md) are the same for all runs.",
    ]
    for path, command in commands():
        parts += _command_section(path, command)
    return markdown_page(parts)


def commands() -> Iterator[tuple[str, Any]]:
    """Each command with its full name, groups first, in the order of the help."""
    yield from _below("vision-agent", typer.main.get_command(app))


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from _below(f"{path} {name}", each)


def _command_section(path: str, command: Any) -> list[str]:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    parts = [f"## `{path}` {{ #{anchor(path)} }}", *_help_paragraphs(command.help or "")]
    if hasattr(command, "commands"):
        links = [f"[`{path} {name}`](#{anchor(f'{path} {name}')})" for name in command.commands]
        parts.append("Commands: " + ", ".join(links) + ".")
    else:
        parts.append(f"```text\n{_usage(path, arguments)}\n```")
    if arguments:
        rows = [(f"`{_argument_name(each)}`", _default_of(each), prose(each.help or "")) for each in arguments]
        parts.append(markdown_table(("Argument", "Default", "Meaning"), rows))
    if options:
        rows = [(_option_names(each), _default_of(each), prose(each.help or "")) for each in options]
        parts.append(markdown_table(("Option", "Default", "Meaning"), rows))
    return parts


def _usage(path: str, arguments: Sequence[Any]) -> str:
    named = [_argument_name(each) if each.required else f"[{_argument_name(each)}]" for each in arguments]
    # `eval` takes any name as that of a suite: its first argument is the command.
    return " ".join([path.removesuffix(" SUITE"), *named, "[OPTIONS]"])


def _argument_name(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper().strip("[]")
    return f"{name}…" if argument.nargs == -1 and not name.endswith("…") else name


def _option_names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag:
        return names
    annotation = _annotation_of(option)
    kind = type_words(annotation)
    return f"{names} *{kind}*" + (", repeatable" if option.multiple else "")


def _annotation_of(parameter: Any) -> Any:
    """The type of one value; typer describes it itself since it does without click."""
    described = getattr(parameter, "type_descriptor", None)
    if described is None:
        return {"integer": int, "float": float, "path": Path}.get(parameter.type.name, str)
    options = [each for each in get_args(described.annotation) or (described.annotation,) if each is not NoneType]
    return options[0]


def _default_of(parameter: Any) -> str:
    if parameter.required:
        return "required"
    value = parameter.default
    if value is None or value is False or value == "" or value == () or callable(value):
        return ""
    return f"`{value}`"


def _help_paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text; an example after a colon becomes code, and so do flags."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        example = re.fullmatch(r"(?:(?P<what>[^:`]+): )?(?P<command>vision-agent .+)", " ".join(paragraph.split()))
        if example:
            what = f"{prose(example['what'])}:\n\n" if example["what"] else ""
            parts.append(f"{what}```text\n{example['command']}\n```")
        else:
            lines = paragraph.splitlines()
            parts.append("\n".join(f"- {prose(line)}" for line in lines) if is_list(lines) else prose(paragraph))
    return parts

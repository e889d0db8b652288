"""How commands are made and how their help looks. No logic lives here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from vision_agent.errors import UsageError

_F = TypeVar("_F", bound=Callable[..., Any])


_VALUES = {
    **dict.fromkeys(("--animate", "--file", "--html", "--patch", "--policy", "--sheet", "--steps"), "FILE"),
    **dict.fromkeys(("--memory", "--pages"), "FOLDER"),
    **dict.fromkeys(("--jobs", "--max-sessions", "--most", "--rounds", "--seeds"), "N"),
    **dict.fromkeys(("--episode-seconds", "--idle"), "SECONDS"),
    **dict.fromkeys(("--only", "--variant", "--without"), "NAME"),
    "--ablate": "PARTS",
    "--allow-host": "HOST",
    "--approve": "never|risky|always",
    "--day": "DAY",
    "--head": "HASH",
    "--model": "MODEL",
    "--older-than": "AGE",
    "--out": "PATH",
    "--port": "PORT",
    "--set": "NAME=VALUE",
    "--status": "STATUS",
    "--text": "TEXT",
    "--tolerance": "PERCENT",
    "--url": "URL",
}
"""What an option takes, where it does not say so itself."""


class _PlainValues:
    """Says in words what options take, in place of Python's types; a switch and an argument need none."""

    # Untyped: some versions of typer use click's types here, others their own.
    def get_params(self, ctx: Any) -> Any:
        """The parameters for the help and the parser."""
        found = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            if each.param_type_name == "argument":
                each.display_type_rich = lambda ctx: None  # noqa: ARG005
            elif getattr(each, "is_flag", False):
                each.metavar = ""
            elif each.metavar is None:
                each.metavar = next((_VALUES[name] for name in each.opts if name in _VALUES), None)
        return found


class _Command(_PlainValues, TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parses them; what is left over is named in a sentence.

        Raises:
            UsageError: a command that takes options only was given something else.
        """
        if any(each.param_type_name == "argument" for each in self.params):
            return super().parse_args(ctx, args)
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if rest and not ctx.resilient_parsing:
            raise UsageError(*self._not_taken(ctx.info_name, rest[0]))
        return rest

    def _not_taken(self, name: str, word: str) -> tuple[str, str]:
        if any("--runs" in each.opts for each in self.params) and Path(word).is_dir():
            named = shlex.join(["vision-agent", name, "--runs", word])
            return f"{name} takes options only, and {word!r} is a folder", f"for its runs: {named}"
        return f"{name} takes options only, and {word!r} is none", f"vision-agent {name} --help shows them"


class CommandGroup(_PlainValues, TyperGroup):
    """A command with commands of its own."""


class Commands(typer.Typer):
    """A collection of commands, whose help shows choices and panels."""

    def __init__(self, name: str | None = None, *, cls: type[TyperGroup] = CommandGroup, **more: Any) -> None:
        super().__init__(name=name, cls=cls, **more)

    def command(
        self,
        name: str | None = None,
        *,
        cls: type[TyperCommand] | None = _Command,
        rich_help_panel: str | None = None,
        **more: Any,
    ) -> Callable[[_F], _F]:
        """A decorator that adds a command, in this panel of the help."""

        def add(function: _F) -> _F:
            how = {"help": _help_of(function), **more}
            return super(Commands, self).command(name, cls=cls, rich_help_panel=rich_help_panel, **how)(function)

        return add

    def callback(self, **more: Any) -> Callable[[_F], _F]:
        """A decorator for what runs before each of the commands."""

        def add(function: _F) -> _F:
            return super(Commands, self).callback(**{"help": _help_of(function), **more})(function)

        return add


def _help_of(function: Callable[..., Any]) -> str | None:
    """Its docstring with each paragraph on one line, which the terminal wraps; the lines of a list stay."""
    text = getdoc(function)
    if text is None:
        return None
    paragraphs = [each.splitlines() for each in re.split(r"\n\s*\n", text)]
    return "\n\n".join(("\n" if is_list(lines) else " ").join(lines) for lines in paragraphs)


def is_list(lines: Sequence[str]) -> bool:
    """Whether these lines of a help text are a list, such as `pytest: a Playwright test`."""
    return len(lines) > 2 and all(re.match(r"[\w-]+: ", line) for line in lines)


def option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """The command for typer, with each dataclass parameter replaced by its fields as options, in a panel."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    flat: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            flat.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
            continue
        group_hints = get_type_hints(groups[name], include_extras=True)
        for each in fields(groups[name]):
            hint = _in_panel(group_hints[each.name], getattr(groups[name], "panel", None))
            flat.append(Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hint))

    @wraps(command)
    def run(**values: Any) -> None:
        made = {
            name: group(**{each.name: values.pop(each.name) for each in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **made)

    run.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in flat}
    return run


def _in_panel(hint: Any, panel: str | None) -> Any:
    """The annotation of an option that is shown in this panel of the help."""
    kind, info = hint.__origin__, copy(hint.__metadata__[0])
    info.rich_help_panel = panel
    return Annotated[kind, info]

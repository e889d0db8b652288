"""What the shell offers for a value when Tab is pressed: choices, models, saved sign-ins, runs; else it offers files.

An error offers nothing here: the command itself says what is wrong once it runs.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from vision_agent.errors import VisionAgentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vision_agent.settings import Settings

    Offer = Callable[[typer.Context, str], list[str]]


def offered_values(option: str, takes: str | None) -> Offer | None:
    """What this option offers after the beginning of its value; None if it is up to the shell.

    `takes` is what the help says that it takes, such as `one|several`.
    """
    if takes and "|" in takes and takes.islower():
        choices = takes.split("|")
        return lambda ctx, incomplete: _beginning(incomplete, choices)  # noqa: ARG005
    return {"--model": _deciders, "--judge": _judges, "--session": _sign_ins}.get(option)


def offered_runs(ctx: typer.Context, incomplete: str) -> list[str]:
    """`latest`, and the names of the runs in the folder of runs, the latest first."""
    from vision_agent.record.run_list import run_folders

    names: list[str] = []
    with suppress(VisionAgentError):
        names = sorted((each.name for each in run_folders(_settings(ctx).runs)), reverse=True)
    return _beginning(incomplete, ["latest", *names] if names else [])


def _deciders(ctx: typer.Context, incomplete: str) -> list[str]:  # noqa: ARG001
    from vision_agent.models.providers import NOT_MODELS

    return _beginning(incomplete, [*_models(), *NOT_MODELS])


def _judges(ctx: typer.Context, incomplete: str) -> list[str]:  # noqa: ARG001
    return _beginning(incomplete, ["same", *_models()])


def _models() -> list[str]:
    from vision_agent.models.providers import PROVIDERS

    return [f"{name}:{each.example}" for name, each in PROVIDERS.items()]


def _sign_ins(ctx: typer.Context, incomplete: str) -> list[str]:
    from vision_agent.browser.launch.saved_session import saved_sessions

    with suppress(VisionAgentError):
        return _beginning(incomplete, (each.name for each in saved_sessions(_settings(ctx).browser)))
    return []


def _settings(ctx: typer.Context) -> Settings:
    from vision_agent.cli.options import given, load_settings

    return load_settings(**given(runs=ctx.params.get("runs")))


def _beginning(typed: str, values: Iterable[str]) -> list[str]:
    return [each for each in values if each.startswith(typed)]

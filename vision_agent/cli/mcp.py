"""`vision-agent mcp`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vision_agent.cli.commands import Commands, option_groups
from vision_agent.cli.options import LimitOptions, Runs, SuperviseOptions, given, load_settings, option
from vision_agent.cli.run import RunBrowserOptions, TaskOptions
from vision_agent.cli.running import with_supervision
from vision_agent.errors import ModelUnavailable, UsageError

if TYPE_CHECKING:
    from vision_agent.settings import Settings

app = Commands()

_TOKEN = "VISION_AGENT_MCP_TOKEN"  # noqa: S105 - the name of a variable


@dataclass(frozen=True)
class ServeOptions:
    """How the server is reached."""

    http: Annotated[bool, typer.Option("--http", help="Serve HTTP on loopback instead of stdin and stdout.")] = False
    port: Annotated[int, typer.Option("--port", help="The port for --http; 0: any that is free.")] = 0
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the settings that the usual clients need, and exit.")
    ] = False
    max_sessions: Annotated[
        int, typer.Option("--max-sessions", min=1, max=100, help="Maximum number of open sessions.")
    ] = 8
    idle: Annotated[
        float, typer.Option("--idle", min=1, max=86_400, help="Seconds without a call after which a session is closed.")
    ] = 1800.0


@dataclass(frozen=True)
class AskOptions:
    """What needs approval by a person."""

    approve: Annotated[str | None, option("What needs approval: never (the default), risky, always.", "--approve")] = (
        None
    )
    policy: Annotated[Path | None, option("A TOML file that defines what is risky.", "--policy")] = None

    @property
    def settings(self) -> dict[str, Any]:
        """The given options, which override the policy file."""
        from vision_agent.settings import load_policy

        return {**(load_policy(self.policy) if self.policy else {}), **given(ask=self.approve)}


@dataclass(frozen=True)
class SessionSuperviseOptions(SuperviseOptions):
    """Whether and where a person supervises the sessions."""

    supervise: Annotated[
        bool,
        typer.Option(
            "--supervise", help="Give each session a page on which a person watches and answers; see --approve."
        ),
    ] = False


@app.command(rich_help_panel="More")
@option_groups
def mcp(
    *,
    serve: ServeOptions,
    model: Annotated[str | None, option("The model to which the tool `run` hands a goal.", "--model")] = None,
    task: TaskOptions,
    runs: Runs = None,
    limits: LimitOptions,
    browser: RunBrowserOptions,
    approval: AskOptions,
    supervision: SessionSuperviseOptions,
) -> None:
    """Give another agent a browser that it drives by numbers, over the Model Context Protocol.

    For a client that starts it: vision-agent mcp

    Settings for clients: vision-agent mcp --print-config

    On loopback, with a token: vision-agent mcp --http --port 8765

    Each session is recorded in a run folder of its own.
    """
    if find_spec("mcp") is None:
        raise UsageError("The MCP server needs an extra", "pip install 'vision-agent[mcp]'")
    import asyncio

    from vision_agent.browser.launch.profile import require_profile
    from vision_agent.integrations.mcp.browser_session import MOST_STEPS, SessionRules
    from vision_agent.integrations.mcp.client_settings import client_settings, stand_in
    from vision_agent.integrations.mcp.serving import serve_http_until_told, serve_stdio

    bounds = {"steps": MOST_STEPS, **limits.limits}
    flags = given(
        runs=runs,
        approval=approval.settings or None,
        model={"name": model} if model else None,
        supervise=supervision.settings or None,
    )
    settings = load_settings(**browser.flags, limits=bounds, **flags)
    variables = _needed_variables(task, settings) if serve.print_config else []
    environment = {**{each: stand_in(each) for each in variables}, **os.environ} if serve.print_config else None
    require_profile(settings.browser)
    if supervision.supervise:
        settings = with_supervision(settings)
    rules = SessionRules(
        settings,
        task.task("", None, settings.limits, environment=environment),
        model=_lendable(settings, lacks_keys=serve.print_config),
        most_sessions=serve.max_sessions,
        idle_s=serve.idle,
        is_supervised=supervision.supervise,
    )
    if serve.print_config:
        printed = client_settings(
            sys.argv[1:], is_http=serve.http, port=serve.port, token_variable=_TOKEN, variables=variables
        )
        typer.echo(printed)
    elif serve.http:
        asyncio.run(serve_http_until_told(rules, port=serve.port, token=os.environ.get(_TOKEN), say=_say))
    else:
        asyncio.run(serve_stdio(rules))


def _say(address: str, token: str) -> None:
    typer.echo(f"Serving {address}", err=True)
    typer.echo(f"Authorization: Bearer {token}", err=True)


def _needed_variables(task: TaskOptions, settings: Settings) -> list[str]:
    """The environment variables that the server reads because of its options, each once."""
    from vision_agent.browser.launch.saved_session import PASSPHRASE
    from vision_agent.models.credentials import model_accesses

    keys = [each.variable for each in model_accesses(settings.model)] if _names_model(settings) else []
    passphrase = PASSPHRASE if settings.browser.session is not None and PASSPHRASE in os.environ else None
    return list(dict.fromkeys(filter(None, (*task.variables, *keys, passphrase))))


def _names_model(settings: Settings) -> bool:
    return "name" in settings.model.model_fields_set


def _lendable(settings: Settings, *, lacks_keys: bool) -> str | None:
    """The model that somebody chose and that can be asked; None without one: no page may cause costs.

    `lacks_keys`: the variables with the keys are still to be set.
    """
    if not _names_model(settings):
        return None
    from vision_agent.models.credentials import require_access

    try:
        require_access(settings.model, lacks_keys=lacks_keys)
    except ModelUnavailable as error:
        typer.echo(f"vision-agent: there is no tool `run`: {error}", err=True)
        return None
    return settings.model.name

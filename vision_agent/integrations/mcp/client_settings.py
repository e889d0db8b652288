"""What to put into the settings of the usual clients, so that they start the server or find it."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vision_agent.integrations.mcp import SERVED_AT

_NAME = "vision-agent"


def stand_in(variable: str) -> str:
    """What the printed settings have in place of the value of an environment variable."""
    return f"<{variable}>"


def client_settings(
    arguments: Sequence[str],
    *,
    is_http: bool,
    port: int,
    token_variable: str,
    command: Sequence[str] | None = None,
    variables: Sequence[str] = (),
) -> str:
    """The settings of each client as text; `arguments` are those of the command line that asks for them.

    `command`: how the program is started; None: as it was this time. `variables`: the environment variables that the
    server needs; their values are not printed.
    """
    args = [each for each in arguments if each != "--print-config"]
    program, *first = command or _command()
    started = shlex.join([program, *first, *args])
    env = {each: stand_in(each) for each in variables}
    if is_http:
        address = f"http://127.0.0.1:{port or 'PORT'}{SERVED_AT}"
        remote: dict[str, Any] = {
            "type": "http",
            "url": address,
            "headers": {"Authorization": f"Bearer ${{{token_variable}}}"},
        }
        parts = [
            (f"Start it first: {' '.join(f'{each}=…' for each in (token_variable, *variables))} {started}", ""),
            ("Claude Code, in .mcp.json", _json({"mcpServers": {_NAME: remote}})),
            ("VS Code, in .vscode/mcp.json", _json({"servers": {_NAME: _vscode(remote, token_variable)}})),
            ("Cursor, in .cursor/mcp.json", _json({"mcpServers": {_NAME: _cursor(remote, token_variable)}})),
            (
                "Codex, in ~/.codex/config.toml",
                f"[mcp_servers.{_NAME}]\nurl = {json.dumps(address)}\n"
                f"bearer_token_env_var = {json.dumps(token_variable)}",
            ),
        ]
    else:
        local: dict[str, Any] = {"command": program, "args": [*first, *args], **({"env": env} if env else {})}
        parts = [(f"Put the values in place of {', '.join(env.values())}", "")] if env else []
        parts += [
            (
                "Claude Desktop (Settings, Developer, Edit Config: claude_desktop_config.json), Cursor "
                "(~/.cursor/mcp.json) and Gemini CLI (~/.gemini/settings.json), under mcpServers",
                _json({"mcpServers": {_NAME: local}}),
            ),
            (
                "Claude Code, as a command",
                f"{shlex.join(['claude', 'mcp', 'add', *_env_options(env), _NAME])} -- {started}",
            ),
            ("VS Code, in .vscode/mcp.json", _json({"servers": {_NAME: {"type": "stdio", **local}}})),
            (
                "Codex, in ~/.codex/config.toml",
                f"[mcp_servers.{_NAME}]\ncommand = {json.dumps(program)}\nargs = {json.dumps([*first, *args])}"
                f"{_env_table(env)}",
            ),
        ]
    return "\n\n".join(f"# {title}\n{text}".rstrip() for title, text in parts)


def _env_options(env: Mapping[str, str]) -> list[str]:
    # `--env` takes any number of words, so that another option has to end them.
    return ["--env", *(f"{name}={value}" for name, value in env.items()), "--transport", "stdio"] if env else []


def _env_table(env: Mapping[str, str]) -> str:
    lines = [f"{json.dumps(name)} = {json.dumps(value)}" for name, value in env.items()]
    return "\n".join(["", "", f"[mcp_servers.{_NAME}.env]", *lines]) if lines else ""


def _vscode(remote: dict[str, Any], variable: str) -> dict[str, Any]:
    return {**remote, "headers": {"Authorization": f"Bearer ${{env:{variable}}}"}}


def _cursor(remote: dict[str, Any], variable: str) -> dict[str, Any]:
    return {"url": remote["url"], "headers": {"Authorization": f"Bearer ${{env:{variable}}}"}}


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _command() -> list[str]:
    """How this program is started, by its full path: clients have another PATH."""
    started = Path(sys.argv[0])
    if started.name == "__main__.py":
        return [sys.executable, "-m", "vision_agent"]
    found = shutil.which(sys.argv[0])
    return [str(Path(found).absolute()) if found else sys.argv[0]]

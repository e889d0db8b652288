"""`vision-agent login` and `sessions`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
import shlex
from typing import Annotated

import typer

from vision_agent.cli.commands import Commands
from vision_agent.cli.options import AsJson, Executable, browser_flags, load_settings
from vision_agent.errors import UsageError

app = Commands()
sessions = Commands(name="sessions")


@app.command(rich_help_panel="Start")
def login(
    name: Annotated[str, typer.Argument(help="The name of the saved sign-in, for --session.")],
    url: Annotated[str, typer.Argument(help="The page on which to sign in.")],
    *,
    executable: Executable = None,
) -> None:
    """Sign in once in a window, and keep the sign-in, encrypted, for later runs.

    vision-agent login shop https://shop.example/login

    vision-agent run https://shop.example "Find my last order" --session shop

    Where there is no screen, it says how to sign in on a web page instead.

    Nothing is recorded, and no model sees the window. The key of the saved sign-in is kept in the system's keyring, or
    made from the passphrase in VISION_AGENT_SESSION_PASSPHRASE. Needs the extra `sessions`.

    Exit codes: 0 saved, 2 usage, 5 no browser, or it was closed too early.
    """
    import asyncio

    from vision_agent.browser.launch.saved_session import require_session_name, require_session_packages
    from vision_agent.cli.running import has_window_system
    from vision_agent.models.offline.human import read_terminal
    from vision_agent.session.signing_in import sign_in
    from vision_agent.text.console import TerminalConsole

    require_session_name(name)
    require_session_packages()
    settings = load_settings(**browser_flags(executable, headed=True)).browser
    if not has_window_system() and not settings.headless:
        raise UsageError(
            "There is no screen to sign in on",
            "take over a run on a web page: write two step lines into by-hand.txt, "
            'wait for "WHAT IS SHOWN ONCE YOU ARE SIGNED IN" and finish, and run '
            f"vision-agent run {shlex.quote(url)} --steps by-hand.txt --supervise --session {name} --save-session",
        )
    settings = settings.model_copy(update={"session": name, "save_session": True, "storage_state": None})

    async def until() -> None:
        try:
            await read_terminal("Sign in in the window, then press Enter here.\n")
        except EOFError as error:
            raise UsageError("Nobody can press Enter here: standard input is closed", "run it in a terminal") from error

    path = asyncio.run(sign_in(url, settings, until))
    TerminalConsole(stderr=True).print(f"Saved in {path}", style="dim", markup=False, soft_wrap=True)
    typer.echo(f"Use it with: --session {name}")


@sessions.callback(invoke_without_command=True)
def sessions_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the saved sign-ins."""
    if context.invoked_subcommand is not None:
        return
    from vision_agent.browser.launch.saved_session import saved_sessions, sessions_folder

    settings = load_settings().browser
    found = saved_sessions(settings)
    if as_json:
        facts = [{**each._asdict(), "saved_at": each.saved_at.isoformat()} for each in found]
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    for each in found:
        typer.echo(f"{each.name:<20} {each.saved_at:%Y-%m-%d %H:%M}  key in {each.key}")
    if not found:
        typer.echo(f"No saved sign-ins in {sessions_folder(settings)}.")


@sessions.command("rm")
def rm(name: Annotated[str, typer.Argument(help="The saved sign-in to delete.")]) -> None:
    """Delete a saved sign-in and its key."""
    from vision_agent.browser.launch.saved_session import forget_session

    forget_session(name, load_settings().browser)
    typer.echo(f"{name} deleted.")

"""What `run` and `resume` share: choosing the model, and running with progress and supervision. No logic lives here."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vision_agent.cli.options import has_window
from vision_agent.errors import UsageError, VisionAgentError

if TYPE_CHECKING:
    from rich.console import Console

    from vision_agent.events import Event
    from vision_agent.ports import Model
    from vision_agent.progress import Progress
    from vision_agent.session import Agent
    from vision_agent.settings import Settings
    from vision_agent.supervise.page_approver import SupervisionPage
    from vision_agent.types import Ending


def with_supervision(settings: Settings) -> Settings:
    """The settings of a supervised run: every step needs approval unless `approval.ask` is set."""
    if "ask" in settings.approval.model_fields_set:
        return settings
    return settings.model_copy(update={"approval": settings.approval.model_copy(update={"ask": "always"})})


def attach_supervision_page(agent: Agent) -> SupervisionPage:
    """The supervision page, which from now on shows the agent's run and answers its questions."""
    from vision_agent.record.redact import Redactor
    from vision_agent.supervise.page_approver import SupervisionPage

    goal = Redactor(agent.task.secrets)(agent.task.goal)
    page = SupervisionPage(agent.settings.approval, has_window=has_window(agent.settings), goal=goal)
    agent.ask(page.ask, page)
    return page


def run_agent(agent: Agent, as_json: bool, is_shared: bool, page: SupervisionPage | None = None) -> None:
    """Runs the agent with progress on stderr, prints its ending and the paths of its files, and exits with its code."""
    from vision_agent.progress import Progress, print_facts
    from vision_agent.terminal import TerminalConsole

    console = TerminalConsole(stderr=True)
    progress = Progress(console, is_shared=is_shared)
    try:
        if page is None:
            agent.listen(progress)
            asyncio.run(agent.run())
        else:
            asyncio.run(_supervised(agent, page, progress, console))
    finally:
        # An error is raised and printed by `main`; the paths of the run are printed in any case.
        progress.stop()
        if as_json and agent.ending is not None:
            ending = agent.ending.model_dump(include={"status", "sentence", "answer"})
            where = {"run": str(agent.folder), "report": str(agent.report), "head": agent.head}
            code = {"exit_code": exit_code_of(agent.ending)}
            typer.echo(json.dumps({**ending, **code, **usage_of(agent), **where}, ensure_ascii=False))
        elif not as_json:
            used = agent.record.used if agent.record is not None else None
            print_facts(
                console, ("used", used), ("folder", agent.folder), ("report", agent.report), ("head", agent.head)
            )
            if agent.folder is not None and agent.ending is not None and agent.ending.status == "interrupted":
                print_facts(console, ("go on", f"vision-agent resume {shlex.quote(str(agent.folder))}"))
    assert agent.ending is not None
    if not as_json:
        typer.echo(agent.ending.sentence)
    raise typer.Exit(agent.ending.exit_code)


def usage_of(agent: Agent) -> dict[str, Any]:
    """What a run took, for JSON; the cost is null if the price of a reply is not known."""
    run = agent.record
    if run is None:
        return {}
    return {"steps_taken": len(run.steps), "seconds": run.seconds, "tokens": run.tokens, "cost_usd": run.cost}


def exit_code_of(ending: Ending) -> int:
    """The code with which the program exits: that of the error that is being raised, or else of the run's ending.

    They differ if the run has ended and something fails afterwards, such as its report on a full disk.
    """
    match sys.exception():
        case VisionAgentError() as error:
            return error.exit_code
        case KeyboardInterrupt():
            return 130
    return ending.exit_code


async def _supervised(agent: Agent, page: SupervisionPage, progress: Progress, console: Console) -> None:
    import threading
    import webbrowser

    def hear(event: Event) -> None:
        progress(event)
        page.hear(event)

    async with page.opened() as address:
        agent.listen(hear)
        console.print(f"Supervise it at {address}", soft_wrap=True, highlight=False)
        console.print("The address works in one browser on this machine.", style="dim")
        if has_screen(console):
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        await agent.run()


def has_screen(console: Console) -> bool:
    """Whether somebody at the terminal can see a window; without a screen, a text browser would open in it."""
    return console.is_terminal and has_window_system()


def has_window_system() -> bool:
    """Whether a window can be opened."""
    return sys.platform != "linux" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ


def chosen_model(model: str | None, steps: Path | None) -> str | Model | None:
    """The model named by the options, or one that follows the step lines of a file; `-` is stdin.

    Raises:
        UsageError: both are given, or the file cannot be read or has no line.
    """
    if steps is None:
        from vision_agent.settings import full_model_name

        return model and full_model_name(model)
    if model not in (None, "steps"):
        raise UsageError(f"--steps cannot be combined with --model {model}", "leave one of them out")
    from vision_agent.models.offline.steps import StepsModel

    return StepsModel(step_lines_in(steps))


def step_lines_in(steps: Path) -> list[str]:
    """The lines of a file of step lines; `-` is stdin.

    Raises:
        UsageError: the file cannot be read or has no line.
    """
    try:
        text = sys.stdin.read() if str(steps) == "-" else steps.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The step lines in {steps} cannot be read: {error}") from error
    lines = text.splitlines()
    if not any(line.strip() and not line.strip().startswith("#") for line in lines):
        where = "Standard input" if str(steps) == "-" else str(steps)
        raise UsageError(f"{where} has no step line", "write one action a line, such as: click Sign in")
    return lines

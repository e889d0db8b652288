"""`vision-agent demo`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vision_agent.cli.commands import Commands
from vision_agent.cli.options import (
    AsJson,
    Cdp,
    Executable,
    Runs,
    browser_flags,
    given,
    load_settings,
    option,
    terminal_approver,
)
from vision_agent.cli.running import has_screen

if TYPE_CHECKING:
    from rich.console import Console

    from vision_agent.evals.demo import DemoTask
    from vision_agent.settings import Settings

app = Commands()


@app.command(rich_help_panel="Start")
def demo(
    model: Annotated[
        str | None, option("The model that decides, instead of the one in the settings.", "--model")
    ] = None,
    runs: Runs = None,
    executable: Executable = None,
    cdp: Cdp = None,
    headed: Annotated[bool, typer.Option("--headed", help="Show the browser window.")] = False,
    opens: Annotated[
        bool | None,
        typer.Option(
            "--open/--no-open",
            help="Open the reports afterwards. Default: in a terminal with a screen.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what it does: one task in a shop and one on a canvas, on sites that come with the package.

    Nothing is fetched. The sites are served on this machine and judge for themselves whether the task is done.

    Without a key for the model in the settings, prepared step lines decide.

    Exit codes: 0 both tasks are done, 1 one is not, 2 usage, 3 limit, 4 needs a person, 5 browser, model or disk down,
    130 interrupted.
    """
    from vision_agent.evals.demo import demo_tasks
    from vision_agent.text.console import TerminalConsole

    settings = load_settings(
        **browser_flags(executable, cdp, headed), **given(runs=runs, model=given(name=model) or None)
    )
    if model is not None:
        from vision_agent.session.deciders import require_models

        require_models(model, settings, instead="leave out --model: prepared step lines decide then")
    console = TerminalConsole(stderr=True, highlight=False)
    _introduce(console, settings)
    facts = [_show(console, settings, each, as_json) for each in demo_tasks()]
    code = max(each["exit_code"] for each in facts)
    if as_json:
        typer.echo(json.dumps({"exit_code": code, "tasks": facts}, ensure_ascii=False))
    if has_screen(console) if opens is None else opens:
        for each in facts:
            typer.launch(each["report"])
    raise typer.Exit(code)


def _introduce(console: Console, settings: Settings) -> None:
    from rich.text import Text

    from vision_agent.evals.demo import missing_model

    console.print(Text.assemble(("vision-agent", "bold"), " · two small sites, one task on each"))
    if missing := missing_model(settings):
        console.print(Text.assemble(("No model", "bold yellow"), f": {missing}. Prepared step lines decide."))
    else:
        console.print(Text.assemble("deciding: ", (settings.model.name, "bold")))


def _show(console: Console, settings: Settings, shown: DemoTask, as_json: bool) -> dict[str, Any]:
    """Carries out one task and prints how it went; returns the facts for `--json`."""
    import asyncio

    from rich.rule import Rule
    from rich.text import Text

    from vision_agent.evals.demo import staged
    from vision_agent.progress.terminal_progress import Progress, print_facts

    console.print()
    console.print(Rule(Text(f"{shown.site} · {shown.task.id}", style="bold"), align="left", style="dim"))
    console.print(Text(shown.task.goal, style="italic"))
    console.print()
    progress = Progress(console)
    approver = terminal_approver(as_json, settings) if settings.approval.ask != "never" else None
    with staged(shown, settings, on_event=progress, approver=approver) as stage:
        agent = stage.agent
        try:
            run = asyncio.run(agent.run())
        except BaseException:
            progress.stop()
            print_facts(console, ("folder", agent.folder), ("report", agent.report))
            raise
        verdict = stage.verdict()
    print_facts(
        console,
        ("agent", run.ending.sentence if run.ending else "cut off"),
        ("site", Text(verdict.sentence, style="green" if verdict.reached else "red")),
        ("used", run.used),
        ("folder", agent.folder),
        ("report", agent.report),
    )
    ended = run.ending.exit_code if run.ending else 1
    return {
        "site": shown.site,
        "task": shown.task.id,
        "goal": shown.task.goal,
        "reached": verdict.reached,
        "sentence": verdict.sentence,
        "exit_code": 0 if verdict.reached else ended or 1,
        "steps_taken": len(run.steps),
        "seconds": run.seconds,
        "tokens": run.tokens,
        "cost_usd": run.cost,
        "run": str(agent.folder),
        "report": str(agent.report),
        "head": agent.head,
    }

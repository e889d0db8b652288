"""What `run` and `resume` share: choosing the model, and running with progress and supervision. No logic lives here."""

from __future__ import annotations

import json
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from vision_agent.cli.options import has_window, require_folder_of
from vision_agent.errors import UsageError, VisionAgentError, why_unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from rich.console import Console

    from vision_agent.cli.options import TerminalPerson
    from vision_agent.events import Event
    from vision_agent.ports import Model
    from vision_agent.session import Agent
    from vision_agent.settings import Settings
    from vision_agent.supervise.page_approver import SupervisionPage
    from vision_agent.types import Ending


GOAL_OF_LINES = "Follow the step lines in "
"""How the goal of a run without one begins; the name of the file of its step lines follows."""
_GO_ON = {"interrupted": "", "needs_person": "", "limit": ", with a higher or different limit"}
"""The endings after which a run can be resumed, with what the command needs."""
_ASKS = {"always": "The run waits there for you before each step.", "risky": "The run waits there before a risky step."}
"""What the supervision page is needed for, by `approval.ask`."""
_ONCE_USABLE = (
    ", once the model gives usable replies; what a server of your own must answer is in the guide own-model-server"
)


def with_supervision(settings: Settings) -> Settings:
    """The settings of a supervised run: every step needs approval unless `approval.ask` is set.

    Raises:
        UsageError: the supervision page cannot be served as they say.
    """
    from vision_agent.supervise.access import require_servable

    require_servable(settings.supervise)
    if "ask" in settings.approval.model_fields_set:
        return settings
    return settings.model_copy(update={"approval": settings.approval.model_copy(update={"ask": "always"})})


def attach_supervision_page(agent: Agent, *, records: bool = False) -> SupervisionPage:
    """The supervision page, which from now on shows the agent's run and answers its questions.

    `records`: a person has the browser from the beginning, and the run is what they do.
    """
    from vision_agent.record.redact import Redactor
    from vision_agent.supervise.page_approver import SupervisionPage

    goal = Redactor(agent.task.secrets)(agent.task.goal)
    page = SupervisionPage(
        agent.settings.approval,
        has_window=has_window(agent.settings),
        goal=goal,
        settings=agent.settings.supervise,
        records=records,
    )
    agent.ask(page.ask, page)
    return page


def require_film(video: Path | None) -> None:
    """Checks, before a run, that a film of it can be written there.

    Raises:
        UsageError: it cannot.
    """
    if video is None:
        return
    from vision_agent.export.animation import require_film_name

    require_film_name(video)
    require_folder_of(video, "--video")


def run_agent(
    agent: Agent,
    as_json: bool,
    is_shared: bool,
    page: SupervisionPage | None = None,
    *,
    tells_ending: bool = True,
    steps: Path | None = None,
    again: Sequence[str] = (),
    video: Path | None = None,
    person: TerminalPerson | None = None,
    also: Callable[[Event], None] = lambda _: None,
) -> None:
    """Runs the agent with progress on stderr, prints its ending and the paths of its files, and exits with its code.

    `tells_ending`: whether its sentence goes to standard output, which is otherwise left to the caller; `steps`: the
    file of the step lines that it follows; `again`: other options that it takes to resume the run as it was;
    `video`: the file for a film of the run; `person`: who answers its questions in the terminal; `also`: another
    listener.
    """
    import asyncio

    from vision_agent.events import Warned
    from vision_agent.progress.terminal_progress import Progress, path_from_here, print_facts, print_whole
    from vision_agent.text.console import TerminalConsole

    console = TerminalConsole(stderr=True)
    progress = Progress(console, is_shared=is_shared)
    if person is not None:
        person.hush = progress.stop
    shown = list[bool]()
    film: Path | None = None
    warnings = list[str]()

    def hear(event: Event) -> None:
        also(event)
        if isinstance(event, Warned):
            warnings.append(event.sentence)
        progress(event)

    def show_end() -> None:
        if shown:
            return
        shown.append(True)
        progress.stop()
        if as_json and agent.ending is not None:
            ending = ending_facts(agent.ending)
            made = {"run": agent.folder, "report": agent.report, **({"video": film} if video is not None else {})}
            where = {**{name: path and str(path) for name, path in made.items()}, "head": agent.head}
            code = {"exit_code": exit_code_of(agent.ending)}
            facts = {**ending, **code, **facts_of(agent), "warnings": warnings, **where}
            typer.echo(json.dumps(facts, ensure_ascii=False))
        elif not as_json:
            used = agent.record.used if agent.record is not None else None
            files = ("folder", agent.folder), ("report", agent.report), ("head", agent.head), ("video", film)
            print_facts(console, ("done", reason_done(agent)), ("used", used), *findings_of(agent, console), *files)
            if agent.folder is not None and agent.ending is not None and agent.ending.status in _GO_ON:
                home, lines = path_from_here(agent.folder), ("--steps", str(steps)) if steps else ()
                command = shlex.join(["vision-agent", "resume", home, *lines, *again])
                needs = _ONCE_USABLE if agent.ending.limit == "unusable_replies" else _GO_ON[agent.ending.status]
                print_whole(console, "go on", command + needs)

    def write_film() -> None:
        nonlocal film
        film = _film_of(agent, video)

    try:
        if page is None:
            agent.listen(hear)
            asyncio.run(agent.run())
            write_film()
        else:
            asyncio.run(_supervised(agent, page, hear, console, write_film, show_end))
    finally:
        # An error is raised and printed by `main`; the paths of the run are printed in any case.
        show_end()
    assert agent.ending is not None
    if tells_ending and not as_json:
        typer.echo(agent.ending.sentence)
    raise typer.Exit(agent.ending.exit_code)


def _film_of(agent: Agent, video: Path | None) -> Path | None:
    """The film of a run that has steps, written to this file.

    Raises:
        UsageError: it cannot be written.
    """
    if video is None or agent.folder is None or agent.record is None or not agent.record.steps:
        return None
    from vision_agent.export.animation import write_animation

    return write_animation(agent.folder, video)


def findings_of(agent: Agent, console: Console) -> list[tuple[str, str | Path]]:
    """What a run read and downloaded, as facts to print; the answer of a model says what it read."""
    from vision_agent.progress.terminal_progress import found_facts

    run = agent.record
    if run is None:
        return []
    is_asked = any(step.usages for step in run.steps)
    return found_facts(console, () if is_asked else agent.reads, run.downloads)


def reason_done(agent: Agent) -> str:
    """Why the run counts as done, without secrets; empty if it does not."""
    from vision_agent.describe.completion import why_done

    return why_done(agent.record.model_copy(update={"ending": agent.ending})) if agent.record is not None else ""


def facts_of(agent: Agent) -> dict[str, Any]:
    """What a run found and what it took, for JSON; the cost is null if the price of a reply is not known."""
    run = agent.record
    if run is None:
        return {}
    found = {"reads": list(agent.reads), "downloads": [str(each) for each in run.downloads]}
    used = {"steps_taken": len(run.steps), "seconds": run.seconds, "tokens": run.tokens, "cost_usd": run.cost}
    return {**found, **used}


def ending_facts(ending: Ending) -> dict[str, Any]:
    """How a run ended, for `--json`; it has an answer only if the task is done."""
    return {
        "status": ending.status,
        "limit": ending.limit,
        "sentence": ending.sentence,
        "checked": list(ending.checked),
        "answer": ending.answer if ending.status == "done" else None,
    }


def exit_code_of(ending: Ending) -> int:
    """The code with which the program exits: that of the error that is being raised, or else of the run's ending.

    They differ if the run has ended and something fails afterwards, such as its report on a full disk.
    """
    match sys.exception():
        case VisionAgentError() as error:
            return error.exit_code
        case KeyboardInterrupt():
            return 130
        case Exception():
            return VisionAgentError.exit_code
    return ending.exit_code


async def _supervised(
    agent: Agent,
    page: SupervisionPage,
    on_event: Callable[[Event], None],
    console: Console,
    write_film: Callable[[], None],
    show_end: Callable[[], None],
) -> None:
    import asyncio
    import threading
    import webbrowser

    from vision_agent.supervise.access import is_loopback

    def hear(event: Event) -> None:
        on_event(event)
        page.hear(event)

    def tell(sentence: str) -> None:
        console.print(sentence, soft_wrap=True, highlight=False, markup=False)

    page.tell = tell
    is_local = is_loopback(page.settings.host)
    async with page.opened(lambda address: tell(f"Supervise it at {address}")) as address:
        agent.listen(hear)
        tell(f"Supervise it at {address}")
        where = " on this machine" if is_local and page.settings.url is None else ""
        asks = "" if page.records else _ASKS.get(agent.settings.approval.ask, "")
        console.print(f"The address works in one browser{where}. {asks}".rstrip(), style="dim", soft_wrap=True)
        if is_local and has_screen(console):
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        try:
            await agent.run()
            await asyncio.to_thread(write_film)
        finally:
            show_end()
            if not isinstance(sys.exception(), asyncio.CancelledError):
                # Whoever leaves with Ctrl-C now has seen the end.
                with suppress(asyncio.CancelledError):
                    await page.show_report(agent.report)


def has_screen(console: Console) -> bool:
    """Whether somebody at the terminal can see a window; without a screen, a text browser would open in it."""
    return console.is_terminal and has_window_system()


def has_window_system() -> bool:
    """Whether a window can be opened."""
    return sys.platform != "linux" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ


def chosen_model(model: str | None, steps: Path | None, facts: Collection[str] = ()) -> str | Model | None:
    """The model named by the options, also as `module:Class`, or one that follows the step lines of a file or of stdin.

    `facts`: the names of those that the run is given.

    Raises:
        UsageError: both are given, the file cannot be read or has no line, a line has the name of a fact in braces, or
            a decider cannot be loaded.
    """
    if steps is None:
        from vision_agent.models.own_decider import is_own_decider, own_decider
        from vision_agent.settings import full_model_name

        return own_decider(model)() if model and is_own_decider(model) else model and full_model_name(model)
    if model not in (None, "steps"):
        raise UsageError(f"--steps cannot be combined with --model {model}", "leave one of them out")
    from vision_agent.models.offline.steps import StepsModel

    lines = step_lines_in(steps)
    _require_no_places(lines, facts)
    return StepsModel(lines)


def _require_no_places(lines: Sequence[str], facts: Collection[str]) -> None:
    """Refuses step lines with the name of a fact in braces, which would be typed as they are.

    Braces of any other name may be what is meant.
    """
    from vision_agent.batch.rows import places_in

    for line in lines:
        if name := next((each for each in facts if each in places_in(line)), None):
            raise UsageError(
                f"The step line {line.strip()!r} has {{{name}}}, which only --over fills in",
                f"write the value into the line, or name a table with a column {name}: --over FILE",
            )


def step_lines_in(steps: Path) -> list[str]:
    """The lines of a file of step lines; `-` is stdin.

    Raises:
        UsageError: the file cannot be read or has no line.
    """
    try:
        text = sys.stdin.read() if str(steps) == "-" else steps.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The step lines in {steps} cannot be read: {why_unreadable(error)}") from error
    lines = text.splitlines()
    if not any(line.strip() and not line.strip().startswith("#") for line in lines):
        where = "Standard input" if str(steps) == "-" else str(steps)
        raise UsageError(f"{where} has no step line", "write one action a line, such as: click Sign in")
    return lines

"""`vision-agent replay`, `resume` and `diff`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from vision_agent.cli.commands import Commands, option_groups
from vision_agent.cli.options import (
    AsJson,
    BaseUrl,
    BrowserOptions,
    LatestIn,
    LimitOptions,
    MaxSeconds,
    RunName,
    SecretsAgainOptions,
    SuperviseOptions,
    TerminalPerson,
    Video,
    existing_files,
    given,
    hosts_of,
    load_settings,
    named_run,
    option,
    pairs_of,
    require_folder_of,
    run_argument,
    terminal_approver,
    terminal_person,
    written,
)
from vision_agent.cli.rows import RowOptions, run_over
from vision_agent.cli.running import (
    attach_supervision_page,
    chosen_model,
    ending_facts,
    exit_code_of,
    facts_of,
    findings_of,
    reason_done,
    require_film,
    run_agent,
    with_supervision,
)
from vision_agent.errors import UsageError
from vision_agent.text.escape import cut_text, escaped_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vision_agent.batch import Row
    from vision_agent.replay import Replay, Variable
    from vision_agent.settings import Settings

app = Commands()
_LONGEST_SHOWN = 500
"""Characters of a value in the table of variables."""


@dataclass(frozen=True)
class ReplayRowOptions(RowOptions):
    """A table of which each row is a replay."""

    over: Annotated[
        Path | None,
        option(
            "Replay once for each row of this CSV or JSON Lines file. A column named like a variable sets it; {column} "
            "in --set or --url stands for the row's value.",
            "--over",
            "FILE",
        ),
    ] = None
    ray: Annotated[str | None, typer.Option("--ray", hidden=True)] = None


@app.command(rich_help_panel="Runs")
@option_groups
def replay(
    run: Annotated[Path, run_argument("The folder of the recorded run, or latest.")],
    *,
    set_: Annotated[
        list[str] | None,
        option("Another value to type: name=value, with a name that --variables shows.", "--set"),
    ] = None,
    variables: Annotated[
        bool, typer.Option("--variables", help="Only show the variables that --set can change, with their values.")
    ] = False,
    url: Annotated[
        str | None,
        option("Another start page, such as a staging site: an address, a host, or the path of a file.", "--url"),
    ] = None,
    secrets: SecretsAgainOptions,
    heal: Annotated[
        bool, typer.Option("--heal", help="Ask a model for steps that cannot be repeated, and only for those.")
    ] = False,
    model: Annotated[
        str | None,
        option(
            "The model for --heal: <provider>:<model>, human, or module:Class of your own; default: from the settings.",
            "--model",
        ),
    ] = None,
    base_url: BaseUrl = None,
    patch: Annotated[
        Path | None,
        option("A patch.json with repairs for broken steps.", "--patch"),
    ] = None,
    file: Annotated[
        list[Path] | None,
        option("A file to upload in place of the one with the same name that the run uploaded.", "--file"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        option("The hosts that may be reached; default: those of the record.", "--allow-host"),
    ] = None,
    approve: Annotated[
        str | None,
        option("What needs approval; default: as recorded.", "--approve", "never|risky|always"),
    ] = None,
    runs: Annotated[
        Path | None,
        option("Folder in which the run folder is created, and whose latest run latest means.", "--runs", "FOLDER"),
    ] = None,
    name: RunName = None,
    max_seconds: MaxSeconds = None,
    browser: BrowserOptions,
    rows: ReplayRowOptions,
    as_json: AsJson = False,
) -> None:
    """Replay a recorded run on the live page, without a model, and report how closely it matches the record.

    A step is repeated only if its target is certain: a unique match, then and now. Otherwise the replay stops and says
    why. A replay is recorded in its own run folder, which names the original run and its head.

    A record grants nothing: secrets are given again as they were to the run (--secret, --code, --private), files to
    upload with --file, and a run that accepted dialogs or gave pages permissions is repeated only if your settings do
    so too.

    A variable is a fact that the run was given (--set "city=Oslo" changes it wherever it was typed), or a text that it
    typed, named by step or by step and action (--set 3=Oslo, --set 3.2=Oslo).

    With other values: vision-agent replay RUN --set "name=Bob"

    With a model for broken steps: vision-agent replay RUN --heal --model anthropic:claude-sonnet-5-5

    With the repairs, without a model: vision-agent replay RUN --patch runs/.../patch.json

    For each row of a table, whose columns are named like variables: vision-agent replay RUN --over orders.csv --jobs 4

    Exit codes: 0 done, 1 not done (with the step and the reason), 2 usage or an error, 3 limit,
    4 needs a person, 5 browser, model or disk down, 130 interrupted.
    """
    from vision_agent.replay import Replay, variables_of

    run = named_run(run, runs)
    if variables:
        _show_variables(variables_of(run, patch), as_json)
        return
    if model is not None and not heal:
        raise UsageError(
            f"--model {model} has no effect in a replay without --heal", "add --heal to let it repair broken steps"
        )
    rows.check()
    settings = load_settings(
        **browser.flags,
        **given(runs=runs, approval=given(ask=approve) or None, model=given(base_url=base_url) or None),
    )
    values = dict(pairs_of(set_, "--set"))
    # Only what is named here is loaded: a class in a settings file is not.
    healer = (chosen_model(model, None) or settings.model.name) if heal else None
    if healer is not None:
        from vision_agent.models.credentials import HEAL_WITHOUT_A_MODEL
        from vision_agent.session.deciders import require_healer

        require_healer(healer, settings, instead=HEAL_WITHOUT_A_MODEL)
    same: dict[str, Any] = {
        "secrets": secrets.values_for(run),
        "files": existing_files(file),
        "hosts": hosts_of(allow_host) if allow_host else None,
        "patch": patch,
        "heal": healer,
        "seconds": max_seconds,
        "view": tuple(browser.view),
    }
    if rows.over is not None:
        rows.require_unattended(
            healer if isinstance(healer, str) else "", settings.browser.cdp_url, name, is_supervised=False
        )
        _replay_rows(run, values, url, same, model, settings, rows, as_json)
    person = terminal_person()
    one = Replay(
        run,
        values=values,
        url=url,
        settings=settings,
        **same,
        name=name,
        person=person,
        approver=None if as_json else terminal_approver(as_json, settings),
    )
    is_shared = one.agent.settings.approval.ask != "never" or (heal and model == "human")
    _replay(one, as_json, is_shared, person)


def _replay_rows(
    run: Path,
    values: dict[str, str],
    url: str | None,
    same: dict[str, Any],
    model: str | None,
    settings: Settings,
    rows: ReplayRowOptions,
    as_json: bool,
) -> NoReturn:
    """One replay for each row; nobody is asked, so what needs approval ends its row."""
    from vision_agent.batch import RowPlan, read_rows
    from vision_agent.batch.rows import places_in
    from vision_agent.replay import Replay, variables_of

    assert rows.over is not None
    if rows.ray is not None:
        raise UsageError("Replays run only on this machine", "leave out --ray")
    is_own = not isinstance(same["heal"], str | None)
    table = read_rows(rows.over)
    names = {each.name for each in variables_of(run, same["patch"])}
    columns = list(table[0].values)
    used = (names - values.keys()).union(*map(places_in, (url or "", *values.values())))
    if not used.intersection(columns):
        raise UsageError(
            f"No column of {rows.over} is a variable of this run",
            f"it has {', '.join(sorted(names)) or 'none'}; name a column like one, or give --set NAME={{column}}",
        )
    if unused := [each for each in columns if each not in used]:
        what = f"columns of {rows.over} that the replay does not use: {', '.join(unused)}"
        hint = f"--variables shows what can be set, and --set 'NAME={{{unused[0]}}}' sets it from a column"
        typer.echo(f"vision-agent: {what} ({hint})", err=True)

    def make_replay(row: Row, plan: RowPlan) -> Replay:
        own = {name: value for name, value in row.values.items() if name in names}
        return Replay(
            run,
            values={**own, **{name: row.fill(value) for name, value in values.items()}},
            url=row.fill_address(url) if url is not None else None,
            max_cost=plan.max_cost,
            settings=settings.model_copy(update={"runs": plan.runs}),
            # A decider of one's own is for one run.
            **{**same, "heal": chosen_model(model, None) if is_own else same["heal"]},
        )

    def also(row: Row) -> list[Any]:
        one = make_replay(row, RowPlan(settings.runs, None))
        return [one.recorded.id, [step.decision.model_dump(mode="json") for step in one.steps]]

    run_over(rows, table, make_replay, f"Replay of {run.resolve().name}", also, as_json, suffix="-replay")


def _show_variables(known: Sequence[Variable], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([each._asdict() for each in known], ensure_ascii=False, indent=2))
        return
    from rich.table import Table
    from rich.text import Text

    from vision_agent.text.console import TerminalConsole

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("name", "was", "where"):
        table.add_column(column, overflow="fold")
    for each in known:
        texts = [Text(escaped_line(cut_text(text, _LONGEST_SHOWN))) for text in each]
        texts[2].stylize("dim")
        table.add_row(*texts)
    TerminalConsole().print(table if known else "This run has no variables.")


def _replay(one: Replay, as_json: bool, is_shared: bool, person: TerminalPerson | None) -> None:
    import asyncio

    from vision_agent.progress.terminal_progress import Progress, print_facts
    from vision_agent.text.console import TerminalConsole

    console, agent = TerminalConsole(stderr=True), one.agent
    one.listen(progress := Progress(console, is_shared=is_shared, note=one.note))
    if person is not None:
        person.hush = progress.stop
    try:
        asyncio.run(one.run())
    finally:
        progress.stop()
        if as_json and agent.ending is not None:
            typer.echo(json.dumps(_as_json(one), ensure_ascii=False))
        elif not as_json:
            used = agent.record.used if agent.record is not None else None
            where = ("folder", agent.folder), ("report", agent.report), ("patch", one.patch), ("head", agent.head)
            print_facts(console, ("done", reason_done(agent)), ("used", used), *findings_of(agent, console), *where)
    assert agent.ending is not None
    for sentence in one.not_kept:
        typer.echo(f"vision-agent: {sentence}", err=True)
    if not as_json:
        typer.echo(agent.ending.sentence)
        if one.answer_note:
            typer.echo(f"vision-agent: {one.answer_note}", err=True)
        if one.stopped and not one.heals:
            lines = shlex.join(["vision-agent", "export", str(one.folder), "--to", "steps", "--out", "lines.txt"])
            typer.echo(
                "vision-agent: with --heal a model repairs that step; the other steps are replayed without a model\n"
                f"vision-agent: step lines name each thing in a few words, and can be edited: {lines}",
                err=True,
            )
    raise typer.Exit(agent.ending.exit_code)


def _as_json(one: Replay) -> dict[str, Any]:
    agent = one.agent
    assert agent.ending is not None
    return {
        **ending_facts(agent.ending),
        "answer_note": one.answer_note or None,
        "exit_code": exit_code_of(agent.ending),
        **facts_of(agent),
        "replayed": one.recorded.id,
        "steps": [each.model_dump(mode="json") for each in one.taken],
        "run": str(agent.folder),
        "report": str(agent.report),
        "patch": str(one.patch) if one.patch else None,
        "not_kept": list(one.not_kept),
        "head": agent.head,
    }


@app.command(rich_help_panel="Runs")
@option_groups
def resume(
    run: Annotated[Path, run_argument("The folder of the interrupted run, or latest.")],
    *,
    model: Annotated[
        str | None,
        option("The model that continues; default: the one that decided so far.", "--model"),
    ] = None,
    base_url: BaseUrl = None,
    steps: Annotated[
        Path | None,
        option("The file of step lines that the run followed.", "--steps"),
    ] = None,
    secrets: SecretsAgainOptions,
    file: Annotated[
        list[Path] | None,
        option("A file that may be uploaded, in place of the one with the same name that the run was given.", "--file"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        option("The hosts that may be reached; default: those of the record.", "--allow-host"),
    ] = None,
    url: Annotated[
        str | None,
        option("The address or path where the run was; needed only if it is a file on this machine.", "--url"),
    ] = None,
    reopen: Annotated[
        bool,
        typer.Option(
            "--reopen",
            help="Reopen the last address of the run without asking, even if its query may ask the server for an "
            "action; for use without a person.",
        ),
    ] = False,
    approve: Annotated[
        str | None,
        option("What needs approval; default: as before.", "--approve", "never|risky|always"),
    ] = None,
    policy: Annotated[
        Path | None,
        option("A TOML file that defines what is risky; without it, nothing that was risky is less so.", "--policy"),
    ] = None,
    supervision: SuperviseOptions,
    runs: LatestIn = None,
    limits: LimitOptions,
    browser: BrowserOptions,
    video: Video = None,
    as_json: AsJson = False,
) -> None:
    """Continue a run that was interrupted by a crash, by Ctrl-C, by a limit, or because a person was needed.

    It continues in the same folder, on the page it had reached. An action that was started but has no recorded outcome
    may have happened and is not repeated: if the page does not show it, you are asked; if nobody answers, the command
    exits with 4. State held only in the lost browser, such as a login, is lost. Secrets are given again as they were to
    the run: --secret, --code, --private.

    As before: vision-agent resume RUN

    With more steps: vision-agent resume RUN --max-steps 60

    With its step lines: vision-agent resume RUN --steps lines.txt

    Approve each step: vision-agent resume RUN --supervise

    Without a person: vision-agent resume RUN --reopen

    Exit codes: 0 done, 1 not done, 2 usage or an error, 3 limit, 4 needs a person, 5 browser, model or disk down,
    130 interrupted.
    """
    from vision_agent.models.credentials import WITHOUT_A_MODEL
    from vision_agent.replay import resume as resumed_agent
    from vision_agent.session.deciders import require_models
    from vision_agent.settings import load_policy

    settings = load_settings(
        **browser.flags,
        **given(
            approval={**(load_policy(policy) if policy else {}), **given(ask=approve)} or None,
            supervise=supervision.settings or None,
            model=given(base_url=base_url) or None,
        ),
    )
    if supervision.supervise:
        settings = with_supervision(settings)
    require_film(video)
    run = named_run(run, runs)
    person = terminal_person()
    decider = chosen_model(model, steps)
    agent = resumed_agent(
        run,
        model=decider,
        secrets=secrets.values_for(run),
        settings=settings,
        limits=limits.limits,
        files=existing_files(file),
        hosts=hosts_of(allow_host) if allow_host else None,
        url=url,
        may_reopen=reopen,
        view=tuple(browser.view),
        person=person,
        approver=None if supervision.supervise or as_json else terminal_approver(as_json, settings),
    )
    require_models(decider or agent.decides, agent.settings, instead=WITHOUT_A_MODEL)
    page = attach_supervision_page(agent) if supervision.supervise else None
    is_asked = page is None and agent.settings.approval.ask != "never"
    of_run = written(("--file", file), ("--url", url), ("--approve", approve), ("--policy", policy))
    again = [*secrets.written, *of_run, *supervision.written]
    is_shared = is_asked or agent.decides == "human"
    run_agent(agent, as_json, is_shared, page, steps=steps, again=again, video=video, person=person)


@app.command(rich_help_panel="Runs")
def diff(
    a: Annotated[Path, run_argument("A run folder, or latest.")],
    b: Annotated[Path, run_argument("The run folder to compare with, or latest.")],
    html: Annotated[
        Path | None,
        option("Also write an HTML page with both pictures of each step.", "--html"),
    ] = None,
    runs: LatestIn = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", min=0, max=100, help="Percentage of the pixels that may differ.")
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Show where two runs differ: decisions, outcomes, pages and their pixels.

    Steps are compared in order, by action and page, without pauses for a target that came. Addresses on a run's
    start host are compared without the host.

    A run and its replay: vision-agent diff RUN REPLAY --html diff.html

    Exit codes: 0 no difference, even if neither run did its task, 1 they differ, 2 usage, or no such run, 5 a damaged
    record.
    """
    from vision_agent.record.diff import diff
    from vision_agent.record.diff_lines import tell_diff
    from vision_agent.record.diff_page import write_diff
    from vision_agent.text.console import TerminalConsole

    require_folder_of(html, "--html")
    with TerminalConsole(stderr=True).status("Comparing") as status:
        found = diff(named_run(a, runs), named_run(b, runs), tolerance=tolerance / 100, tell=status.update)
        written = write_diff(found, html) if html else None
    if as_json:
        result = {"is_same": found.is_same, "counts": found.counts, **found.model_dump(mode="json")}
        typer.echo(json.dumps({**result, "html": str(written) if written else None}, ensure_ascii=False))
    else:
        tell_diff(TerminalConsole(), found)
        if written is not None:
            typer.echo(written)
    raise typer.Exit(0 if found.is_same else 1)

"""`vision-agent eval` and `compare`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from vision_agent.cli.commands import CommandGroup, Commands, option_groups
from vision_agent.cli.options import (
    AsJson,
    BaseUrl,
    Executable,
    LimitOptions,
    Viewport,
    browser_flags,
    given,
    load_settings,
    require_folder_of,
    size_of,
)
from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vision_agent.evals.ablation import LeftOut
    from vision_agent.evals.items import ItemResult
    from vision_agent.evals.runner import Crew
    from vision_agent.evals.suites.offline import OfflineSuite
    from vision_agent.evals.suites.suite import Suite
    from vision_agent.models.own_decider import MakeModel

app = Commands()


class _Suites(CommandGroup):
    """Takes any name that is not a command as the name or file of a suite."""

    # Untyped: some versions of typer use click's types here, others their own.
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of that name, else the one that runs any suite."""
        if args and args[0] not in self.commands:
            return "", self.commands["SUITE"], args
        return super().resolve_command(ctx, args)


evals = Commands(
    name="eval",
    cls=_Suites,
    help="Measure how well the agent sees, and how well models do with it.",
    no_args_is_help=True,
)
app.add_typer(evals, rich_help_panel="Evaluations")


@evals.callback()
def _evals() -> None:
    """Measure how well the agent sees, and how well models do with it.

    Perception: vision-agent eval perception

    Models: vision-agent eval fixtures --model steps --model match
    """


@evals.command(name="SUITE")
@option_groups
def suite(
    suite: Annotated[
        str, typer.Argument(help="fixtures, canvas, miniwob, frozen, grounding, or your own .toml, .yaml or .py file.")
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="frozen: output of `vision-agent freeze`. grounding: the same, output of `export --to grounding`, or "
            "data in Mind2Web's layout.",
            show_default=False,
        ),
    ] = None,
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="The model to measure: <provider>:<model>. Without a model: random, match, steps, solver (miniwob and "
            "canvas) or marks (canvas); module:Class of a decider of your own. Repeatable.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Number of seeds; each task runs once per seed.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Run only this task; repeatable. Default: all.", show_default=False),
    ] = None,
    ablate: Annotated[
        str | None,
        typer.Option(
            "--ablate",
            help="Run everything again without each of these, and report what it is worth: "
            "picture,marks,colours,boxes,listing,memory,filter,history.",
            show_default=False,
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            help="fixtures: also run the sites in this variant, such as dark, rtl, slow or renamed, or in all; "
            "repeatable.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="Number of items to run at once.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Run on --jobs Ray workers, each with its own browser: local starts Ray here, auto or "
            "ray://HEAD:10001 joins a cluster. Needs the extra `ray`.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for results and run folders; items with a result in it are skipped.")
    ] = Path("evals"),
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Run items that ended in an error again.")
    ] = False,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", help="miniwob: the html folder of the miniwob package.", show_default=False),
    ] = None,
    episode_seconds: Annotated[
        float | None,
        typer.Option(
            "--episode-seconds",
            help="miniwob: seconds after which the environment fails an episode; default 3600. MiniWoB's own ten "
            "seconds are meant for policies that do not look at the page.",
            show_default=False,
        ),
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            min=0,
            max=100,
            metavar="PERCENT",
            help="Exit with 1 if a model does fewer of its scored items than this: a gate for CI.",
            show_default=False,
        ),
    ] = None,
    base_url: BaseUrl = None,
    limits: LimitOptions,
    viewport: Viewport = None,
    executable: Executable = None,
    as_json: AsJson = False,
) -> None:
    """Measure models on a suite: each task with each seed and model, judged by its end state.

    All fixture sites: vision-agent eval fixtures --model steps --model match --model random

    Applications that draw on canvases: vision-agent eval canvas --model <provider>:<model>

    Some of MiniWoB++: vision-agent eval miniwob --model match --seeds 2 --only click-test --only enter-text

    Your own tasks: vision-agent eval my-suite.toml --model anthropic:claude-sonnet-5-5

    Recorded pages, without a browser: vision-agent eval frozen pages --model anthropic:claude-sonnet-5-5

    Locating targets on pictures: vision-agent eval grounding pages --model anthropic:claude-sonnet-5-5

    What picture and listing are worth: vision-agent eval fixtures --model <provider>:<model>
    --ablate picture,listing

    Robustness to changed sites: vision-agent eval fixtures --model steps --variant all

    On many machines: vision-agent eval miniwob --model <provider>:<model> --jobs 32 --ray ray://HEAD:10001

    Items with a result in the folder are skipped, so an interrupted command continues if you run it again.
    All other settings come from the environment and the settings file; an item is identified by its settings too.

    Exit codes: 0 every item ran, 1 some ended in an error or --fail-under was missed, 2 usage, 5 no browser, key or
    Ray, 130 interrupted.
    """
    import asyncio

    from vision_agent.evals import ray_workers
    from vision_agent.evals.items import FoundResult, result_of, sort_key
    from vision_agent.evals.progress import EvalProgress
    from vision_agent.evals.results.results_html import PAGE, write_page
    from vision_agent.evals.results.summary import summary
    from vision_agent.evals.results.tables import as_json as results_as_json
    from vision_agent.evals.results.tables import show, show_ablation
    from vision_agent.evals.runner import items_of, on_this_machine, run_items
    from vision_agent.evals.suites.canvas import parts
    from vision_agent.evals.suites.canvas.suite import CanvasSuite
    from vision_agent.evals.suites.offline import OfflineSuite
    from vision_agent.evals.suites.suite_names import suite_named
    from vision_agent.text.console import TerminalConsole, progress_line

    flags = browser_flags(executable, viewport=size_of(viewport))
    if base_url is not None and model is None:
        raise UsageError("--base-url names no model", "name it: --model openai-compatible:<model>")
    served = {"base_url": base_url, "name": model[0]} if base_url is not None and model is not None else None
    settings = load_settings(**flags, **given(limits=limits.limits or None, model=served))
    chosen = suite_named(
        suite, folder=folder, longest_edge=settings.observe.longest_edge, pages=pages, episode_s=episode_seconds
    )
    own = _own_deciders(model or [], ray)
    models = [_row_name(each) for each in model or ()] or [settings.model.name]
    suites = [chosen, *_varied(chosen, variant or [])]
    all_of = partial(
        items_of,
        seeds=seeds,
        only=only or (),
        ablate=_ablated(ablate),
        asked_here=ray in (None, ray_workers.LOCAL),
        own=own,
    )
    plan = [(each, all_of(each, models, settings)) for each in suites]
    items = [item for _, each in plan for item in each]
    known = [result for item in items if (result := result_of(item, out)) and not (retry_errors and result.error)]
    console = TerminalConsole(stderr=True)
    if note := getattr(chosen, "note", ""):
        console.print(note, style="dim", soft_wrap=True, markup=False)

    async def all_results(crew: Crew, tell: Callable[[ItemResult], None]) -> list[ItemResult]:
        found = []
        run = partial(run_items, jobs=jobs, retry_errors=retry_errors, tell=tell, crew=crew, own=own)
        for each, items_of_suite in plan:
            found += await run(items_of_suite, each, settings, out)
        return found

    is_here = ray is None or len(known) == len(items)
    if is_here:
        done = {result.item.id for result in known}
        with progress_line("Looking for the pages") as say:
            for each, items_of_suite in plan:
                if not isinstance(each, OfflineSuite):
                    each.prepare([item.task for item in items_of_suite if item.id not in done], say)
    try:
        with (
            nullcontext(partial(on_this_machine, own=own))
            if is_here
            else ray_workers.joined(str(ray), jobs, suites) as crew,
            EvalProgress(console, len(items), len(known)) as progress,
        ):
            results = asyncio.run(all_results(crew, progress))
    except KeyboardInterrupt:
        kept = sum(result_of(item, out) is not None for item in items)
        console.print(
            f"{kept} of {len(items)} items have a result in {out}; run the same command again to continue.",
            soft_wrap=True,
        )
        raise
    # In the order of `compare`, so that both say the same of the same two models.
    found = summary({"": sorted(results, key=sort_key)})
    page = write_page({"": [FoundResult(result, out / result.item.folder) for result in results]}, out / PAGE)
    rows = parts.parts(results, chosen.libraries) if isinstance(chosen, CanvasSuite) else []
    if as_json:
        told = results_as_json(chosen.name, results, found, out) | ({"parts": parts.as_json(rows)} if rows else {})
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        (show_ablation if ablate else show)(TerminalConsole(), found)
        if rows:
            parts.show(TerminalConsole(), rows)
        console.print(f"Results and runs: {out}, shown in {page}", style="dim", soft_wrap=True)
    missed = [] if fail_under is None else [row for row in found.rows if not row.reaches(fail_under)]
    for row in missed:
        console.print(
            f"{row.label}: {row.passed} of {row.scored} scored items done, under the {fail_under:g} % of --fail-under",
            style="red",
            soft_wrap=True,
            markup=False,
        )
    raise typer.Exit(1 if missed or any(result.error for result in results) else 0)


def _own_deciders(models: Sequence[str], ray: str | None) -> dict[str, MakeModel]:
    """What makes each decider that somebody wrote, by its name in the tables."""
    from vision_agent.models.own_decider import is_own_decider, own_decider

    own = [each for each in models if is_own_decider(each)]
    if own and ray is not None:
        raise UsageError(f"The decider {own[0]} runs only on this machine", "leave out --ray")
    return {_row_name(each): own_decider(each) for each in own}


def _row_name(model: str) -> str:
    """How the tables call a model; a decider of somebody's own has no colon, which is for providers."""
    from vision_agent.models.own_decider import is_own_decider

    return model.replace(":", ".") if is_own_decider(model) else model


def _varied(suite: Suite | OfflineSuite, names: Sequence[str]) -> Sequence[Suite]:
    from vision_agent.evals.suites.fixture_suite import FixtureSuite

    if names and not isinstance(suite, FixtureSuite):
        raise UsageError(f"--variant works only with the suite fixtures, not with {suite.name}", "leave it out")
    return suite.varied(names) if isinstance(suite, FixtureSuite) else []


def _ablated(text: str | None) -> list[LeftOut]:
    from vision_agent.evals.ablation import LEFT_OUT

    names = [each.strip() for each in text.split(",")] if text else []
    if unknown := [each for each in names if each not in LEFT_OUT]:
        raise UsageError(
            f"--ablate does not know {', '.join(map(repr, unknown))}",
            f"known are {', '.join(LEFT_OUT)}",
        )
    return cast("list[LeftOut]", names)


@evals.command()
def perception(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of .html pages; default: the labelled pages of the package.", show_default=False),
    ] = None,
    ocr: Annotated[bool, typer.Option(help="Read the numbers back by OCR; slow, needs the extra `ocr`.")] = True,
    rounds: Annotated[int, typer.Option(min=0, help="How often to time each page; 0: never.")] = 0,
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="Write a picture of samples, to check by eye.", show_default=False)
    ] = None,
    executable: Executable = None,
    as_json: AsJson = False,
) -> None:
    """Score the marks on pages: what is found, what is marked wrongly, where presses land, how legible the numbers are.

    A page.html with a page.json beside it is compared with that file: {"marks": {"id-of-element": {}}} names every
    element that must be marked; the documentation says how to name them by selectors. Any other page is compared with
    an independent opinion: roles in the accessibility tree, listeners that the page adds, its cursors, hit tests, and
    the effect of pressing elements on a copy of the page. It shares no code with the marking.

    Pages are served on this machine and cannot reach anything else.

    The labelled pages: vision-agent eval perception

    Your own pages: vision-agent eval perception path/to/pages --sheet sample.png

    Exit codes: 0 every required score is reached, 1 one is missed, 2 usage, 5 no browser.
    """
    from vision_agent.evals.perception.run import run
    from vision_agent.evals.perception.summary import show, summary
    from vision_agent.text.console import TerminalConsole, progress_line

    with progress_line("Opening a browser") as tell:
        settings = load_settings(**browser_flags(executable)).browser
        result = run(folders or [], settings=settings, with_ocr=ocr, rounds=rounds, sheet_to=sheet, tell=tell)
    if as_json:
        typer.echo(json.dumps(summary(result.scores, result.churn), ensure_ascii=False, indent=2))
    else:
        show(TerminalConsole(), result.scores, result.churn)
    raise typer.Exit(0 if result.is_reached else 1)


@evals.command()
@option_groups
def security(
    *,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Who decides: obedient, fooled-once, careful, or <provider>:<model>; repeatable. Default: the first "
            "three.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="Run only this attack; repeatable. Default: all.", show_default=False),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            help="Run everything again without this defence: approval, hosts, guard, dialogs, secrets, memory, "
            "replay, names, or each of all; repeatable.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="Number of attacks to run at once.")] = 1,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for results and run folders; attacks with a result in it are skipped.")
    ] = Path("evals"),
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Run attacks that ended in an error again.")
    ] = False,
    limits: LimitOptions,
    executable: Executable = None,
    as_json: AsJson = False,
) -> None:
    """Measure safety: pages that attack the agent, each beside a useful task, judged by what reached their servers.

    Scripted deciders show what the defences stop when the decider does not: obedient does all that a page says,
    fooled-once the first thing, careful nothing. A scripted person approves only the risks that a task needs.

    With all defences: vision-agent eval security

    What each defence is worth: vision-agent eval security --model obedient --without all

    A model: vision-agent eval security --model anthropic:claude-sonnet-5-5

    Exit codes: 0 every required score is reached, 1 one is missed or a run broke, 2 usage, 5 no browser or key,
    130 interrupted.
    """
    import asyncio
    from dataclasses import asdict

    from vision_agent.evals.progress import EvalProgress
    from vision_agent.evals.runner import items_of, run_items
    from vision_agent.evals.security.deciders import DECIDERS
    from vision_agent.evals.security.suite import DEFENCES, SecuritySuite
    from vision_agent.evals.security.summary import attack_results, scores, show
    from vision_agent.text.console import TerminalConsole

    settings = load_settings(**browser_flags(executable), **given(limits=limits.limits or None))
    left_out = list(DEFENCES) if without and "all" in without else list(dict.fromkeys(without or []))
    suites = [SecuritySuite(), *(SecuritySuite(without=name) for name in left_out)]
    models = model or list(DECIDERS)
    plan = [(suite, items_of(suite, models, settings, only=only or ())) for suite in suites]
    console = TerminalConsole(stderr=True)

    async def all_results(tell: Callable[[ItemResult], None]) -> list[ItemResult]:
        found = []
        for suite, items in plan:
            found += await run_items(items, suite, settings, out, jobs=jobs, retry_errors=retry_errors, tell=tell)
        return found

    with EvalProgress(console, sum(len(items) for _, items in plan), 0) as progress:
        results = asyncio.run(all_results(progress))
    found, rows = scores(results, suites[0].attacks), attack_results(results)
    if as_json:
        typer.echo(
            json.dumps(
                {"scores": [asdict(each) for each in found], "attacks": [asdict(each) for each in rows]}, indent=2
            )
        )
    else:
        show(TerminalConsole(), found, rows)
        console.print(f"Results and runs: {out}", style="dim", soft_wrap=True)
    is_reached = all(score.is_reached for score in found if not score.without)
    raise typer.Exit(0 if is_reached and not any(result.error for result in results) else 1)


@app.command(rich_help_panel="Evaluations")
def compare(
    folders: Annotated[list[Path], typer.Argument(help="One or more output folders of `vision-agent eval`.")],
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, one line per setting.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables as Markdown.")] = False,
    tasks: Annotated[
        bool, typer.Option("--tasks", help="Also show the results by task; with --csv, instead of the settings.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Also write an HTML page with links to the runs.", show_default=False),
    ] = None,
) -> None:
    """Compare models and settings by the results of evaluations.

    All results in a folder: vision-agent compare evals

    Before and after: vision-agent compare evals-before evals-after

    As a page with links to the runs: vision-agent compare evals --html results.html

    Two settings are compared on the items that both have a score for.
    Errors and items without a score are reported separately and excluded from rates.

    Exit codes: 0 printed, 2 no results found, 5 a result cannot be read.
    """
    from dataclasses import asdict

    from vision_agent.evals.items import found_in
    from vision_agent.evals.results import by_task as shown_by_task
    from vision_agent.evals.results import tables
    from vision_agent.evals.results.summary import grouped, summary
    from vision_agent.text.console import TerminalConsole

    if as_json + as_csv + markdown > 1:
        raise UsageError("--json, --csv and --markdown exclude each other", "give one of them")
    require_folder_of(html, "--html")
    found = {str(folder): found_in(folder) for folder in folders}
    results = {name: [each.result for each in those] for name, those in found.items()}
    compared = summary(results)
    by_task = shown_by_task.by_task(grouped(results)) if tasks else []
    if html is not None:
        from vision_agent.evals.results.results_html import write_page

        write_page(found, html)
    if as_json:
        more = {"tasks": shown_by_task.as_json(by_task)} if tasks else {}
        typer.echo(json.dumps({**asdict(compared), **more}, ensure_ascii=False, indent=2))
    elif as_csv:
        typer.echo(shown_by_task.as_csv(by_task) if tasks else tables.as_csv(compared), nl=False)
    elif markdown:
        typer.echo("\n\n".join(filter(None, [tables.as_markdown(compared), shown_by_task.as_markdown(by_task)])))
    else:
        tables.show(TerminalConsole(), compared)
        shown_by_task.show(TerminalConsole(), by_task)
        if html is not None:
            TerminalConsole(stderr=True).print(f"Page: {html}", style="dim", soft_wrap=True)

"""`vision-agent eval` and `compare`: parses, calls, prints. No logic lives here."""

from __future__ import annotations

import asyncio
import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from vision_agent.cli_options import AsJson, Executable, MaxSeconds, Viewport, browser_flags, given, size_of
from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vision_agent.evals.ablation import LeftOut
    from vision_agent.evals.items import Result
    from vision_agent.evals.offline import OfflineSuite
    from vision_agent.evals.runner import Crew
    from vision_agent.evals.suites import Suite

app = typer.Typer()


class _Suites(TyperGroup):
    """What is no command of its own is the name of a suite, or its file."""

    # Untyped: some versions of typer have click's types here, and others their own.
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of that name, else the one that takes any suite."""
        if args and args[0] not in self.commands:
            return "", self.commands["SUITE"], args
        return super().resolve_command(ctx, args)


evals = typer.Typer(
    name="eval", cls=_Suites, help="Measure how well it sees, and how well it does.", no_args_is_help=True
)
app.add_typer(evals)


@evals.callback()
def _evals() -> None:
    """Measure how well it sees, and how well models do with it.

    How well it sees: vision-agent eval perception

    How well models do: vision-agent eval fixtures --model steps --model match
    """


@evals.command(name="SUITE")
def suite(
    suite: Annotated[
        str, typer.Argument(help="fixtures, miniwob, frozen, grounding, or a .toml, .yaml or .py file of yours.")
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="frozen: what `vision-agent freeze` stored. grounding: that, what `export --to grounding` wrote, or "
            "data in Mind2Web's layout.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="Who decides; may be given several times: <provider>:<model>, or without one random, match, steps, "
            "and for miniwob solver.",
            show_default=False,
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="How often each task is done, each time with another seed.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="This task; may be given several times. None: all.", show_default=False),
    ] = None,
    ablate: Annotated[
        str | None,
        typer.Option(
            "--ablate",
            help="Do all once more without each of these, and tell what it is worth: "
            "picture,marks,colours,boxes,listing,memory,filter,history.",
            show_default=False,
        ),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            help="fixtures: also with the sites in this variant, such as dark, rtl, slow or renamed, or in all; "
            "may be given several times.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=64, help="How many are done at once.")] = 1,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Let --jobs workers of a Ray do it, each with a browser of its own: local starts one here, auto or "
            "ray://HEAD:10001 joins a cluster. Needs the extra `ray`.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", help="Where results and run folders are kept; what is there is not done again.")
    ] = Path("evals"),
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Do again what ended in an error before.")
    ] = False,
    pages: Annotated[
        Path | None,
        typer.Option("--pages", help="miniwob: the html folder of the miniwob package.", show_default=False),
    ] = None,
    episode_seconds: Annotated[
        float | None,
        typer.Option(
            "--episode-seconds",
            help="miniwob: after so long the environment ends an episode as failed; 3600 if not given. Its own ten "
            "seconds are made for policies that look at nothing.",
            show_default=False,
        ),
    ] = None,
    max_steps: Annotated[int | None, typer.Option("--max-steps", show_default=False)] = None,
    max_seconds: MaxSeconds = None,
    viewport: Viewport = None,
    executable: Executable = None,
    as_json: AsJson = False,
) -> None:
    """Measure models on a suite: each task with each seed and model, judged by its end state.

    All sites of a checkout: vision-agent eval fixtures --model steps --model match --model random

    Some of MiniWoB++: vision-agent eval miniwob --model match --seeds 2 --only click-test --only enter-text

    Tasks of yours: vision-agent eval my-suite.toml --model anthropic:claude-sonnet-5-5

    Recorded pages, without a browser: vision-agent eval frozen pages --model anthropic:claude-sonnet-5-5

    Where things are on pictures: vision-agent eval grounding pages --model anthropic:claude-sonnet-5-5

    What the picture and the listing are worth: vision-agent eval fixtures --model <provider>:<model>
    --ablate picture,listing

    How well it stands changes of the sites: vision-agent eval fixtures --model steps --variant all

    On many machines: vision-agent eval miniwob --model <provider>:<model> --jobs 32 --ray ray://HEAD:10001

    What has a result in the folder is not done again, so a command that was stopped goes on when it is given again.
    Other settings come from the environment and the settings file; other settings are other items.

    Exit codes: 0 every item was done, 1 some ended in an error, 2 usage, 5 no browser, key or Ray, 130 interrupted.
    """
    from rich.console import Console

    from vision_agent.evals import on_ray
    from vision_agent.evals.items import Found, result_of
    from vision_agent.evals.page import PAGE, write_page
    from vision_agent.evals.progress import EvalProgress
    from vision_agent.evals.runner import items_of, on_this_machine, run_items
    from vision_agent.evals.suites import suite_named
    from vision_agent.evals.summary import summary
    from vision_agent.evals.tables import as_json as told_as_json
    from vision_agent.evals.tables import show, show_ablation
    from vision_agent.settings import load

    flags = browser_flags(executable, viewport=size_of(viewport))
    limits = given(steps=max_steps, seconds=max_seconds)
    settings = load(**flags, **given(limits=limits or None))
    chosen = suite_named(
        suite, folder=folder, longest_edge=settings.observe.longest_edge, pages=pages, episode_s=episode_seconds
    )
    models = model or [settings.model.name]
    suites = [chosen, *_varied(chosen, variant or [])]
    all_of = partial(
        items_of, seeds=seeds, only=only or (), ablate=_ablated(ablate), asked_here=ray in (None, on_ray.LOCAL)
    )
    plan = [(each, all_of(each, models, settings)) for each in suites]
    items = [item for _, each in plan for item in each]
    known = [result for item in items if (result := result_of(item, out)) and not (retry_errors and result.error)]
    told = Console(stderr=True)
    if note := getattr(chosen, "note", ""):
        told.print(note, style="dim", soft_wrap=True, markup=False)

    async def all_results(crew: Crew, tell: Callable[[Result], None]) -> list[Result]:
        found = []
        run = partial(run_items, jobs=jobs, retry_errors=retry_errors, tell=tell, crew=crew)
        for each, its in plan:
            found += await run(its, each, settings, out)
        return found

    is_here = ray is None or len(known) == len(items)
    try:
        with (
            nullcontext(on_this_machine) if is_here else on_ray.joined(str(ray), jobs, suites) as crew,
            EvalProgress(told, len(items), len(known)) as progress,
        ):
            results = asyncio.run(all_results(crew, progress))
    except KeyboardInterrupt:
        kept = sum(result_of(item, out) is not None for item in items)
        told.print(
            f"{kept} of {len(items)} items have a result, kept in {out}; the same command goes on.", soft_wrap=True
        )
        raise
    found = summary({"": results})
    page = write_page({"": [Found(result, out / result.item.folder) for result in results]}, out / PAGE)
    if as_json:
        typer.echo(json.dumps(told_as_json(chosen.name, results, found, out), ensure_ascii=False, indent=2))
    else:
        (show_ablation if ablate else show)(Console(), found)
        told.print(f"Results and runs: {out}, shown in {page}", style="dim", soft_wrap=True)
    raise typer.Exit(1 if any(result.error for result in results) else 0)


def _varied(suite: Suite | OfflineSuite, names: Sequence[str]) -> Sequence[Suite]:
    from vision_agent.evals.suites import FixtureSuite

    if names and not isinstance(suite, FixtureSuite):
        raise UsageError(f"--variant is for the suite fixtures, and this is {suite.name}", "leave it out")
    return suite.varied(names) if isinstance(suite, FixtureSuite) else []


def _ablated(said: str | None) -> list[LeftOut]:
    from vision_agent.evals.ablation import LEFT_OUT

    names = [each.strip() for each in said.split(",")] if said else []
    if unknown := [each for each in names if each not in LEFT_OUT]:
        raise UsageError(
            f"Nothing that could be left out is called {', '.join(map(repr, unknown))}",
            f"known are {', '.join(LEFT_OUT)}",
        )
    return cast("list[LeftOut]", names)


@evals.command()
def perception(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of .html pages; none: the labelled pages of a checkout.", show_default=False),
    ] = None,
    ocr: Annotated[bool, typer.Option(help="Read the numbers back; needs the extra `ocr`, and takes long.")] = True,
    rounds: Annotated[int, typer.Option(min=0, help="How often each page is timed; 0: not.")] = 0,
    sheet: Annotated[
        Path | None, typer.Option("--sheet", help="Write a sample as a picture, to check by eye.", show_default=False)
    ] = None,
    executable: Executable = None,
    as_json: AsJson = False,
) -> None:
    """Score the marks on pages: what is found, what is marked wrongly, where presses land, how the numbers read.

    A page.html with a page.json beside it is held against that: {"marks": {"id-of-element": {}}} names every element
    that must be marked. Any other page is held against a second opinion: roles of the accessibility tree, listeners
    that the page was seen to add, its cursors and hit tests, and what comes of pressing things on a copy of the page.
    No code of the marking has a part in it.

    Pages are served on this machine and reach nothing else.

    The labelled pages: vision-agent eval perception

    Your own pages: vision-agent eval perception path/to/pages --sheet sample.png

    Exit codes: 0 every declared figure is reached, 1 not, 2 usage, 5 no browser.
    """
    from rich.console import Console

    from vision_agent.evals.perception.run import run
    from vision_agent.evals.perception.summary import show, summary
    from vision_agent.settings import load

    console = Console(stderr=True)
    with console.status("Opening a browser") as status:

        def tell(text: str) -> None:
            status.update(text)
            if not console.is_terminal:
                console.print(text, style="dim", highlight=False)

        settings = load(**browser_flags(executable)).browser
        result = run(folders or [], settings=settings, with_ocr=ocr, rounds=rounds, sheet_to=sheet, tell=tell)
    if as_json:
        typer.echo(json.dumps(summary(result.scores, result.churn), ensure_ascii=False, indent=2))
    else:
        show(Console(), result.scores, result.churn)
    raise typer.Exit(0 if result.is_reached else 1)


@app.command()
def compare(
    folders: Annotated[
        list[Path], typer.Argument(help="What `vision-agent eval … --out` filled: one folder, or several.")
    ],
    as_json: AsJson = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a line for each setting, with plain numbers.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the tables for a document.")] = False,
    tasks: Annotated[
        bool, typer.Option("--tasks", help="Also what each task came to; with --csv, that instead of the settings.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write it as a page too, with links to the runs.", show_default=False),
    ] = None,
) -> None:
    """Hold models and settings against each other, by the results that evaluations left.

    Everything in one folder: vision-agent compare evals

    Before and after: vision-agent compare evals-before evals-after

    To look at, with every run a click away: vision-agent compare evals --html results.html

    Two settings are compared on the items that both have a score for.
    Errors and what has no score are counted beside, and are part of no rate.

    Exit codes: 0 it is printed, 2 there are no results there, 5 a result cannot be read.
    """
    from dataclasses import asdict

    from rich.console import Console

    from vision_agent.evals import by_task as shown_by_task
    from vision_agent.evals import tables
    from vision_agent.evals.items import found_in
    from vision_agent.evals.summary import grouped, summary

    if as_json + as_csv + markdown > 1:
        raise UsageError("--json, --csv and --markdown are three ways to print the same", "give one of them")
    found = {str(folder): found_in(folder) for folder in folders}
    results = {name: [each.result for each in those] for name, those in found.items()}
    told = summary(results)
    by_task = shown_by_task.by_task(grouped(results)) if tasks else []
    if html is not None:
        from vision_agent.evals.page import write_page

        write_page(found, html)
    if as_json:
        more = {"tasks": shown_by_task.as_json(by_task)} if tasks else {}
        typer.echo(json.dumps({**asdict(told), **more}, ensure_ascii=False, indent=2))
    elif as_csv:
        typer.echo(shown_by_task.as_csv(by_task) if tasks else tables.as_csv(told), nl=False)
    elif markdown:
        typer.echo("\n\n".join(filter(None, [tables.as_markdown(told), shown_by_task.as_markdown(by_task)])))
    else:
        tables.show(Console(), told)
        shown_by_task.show(Console(), by_task)
        if html is not None:
            Console(stderr=True).print(f"Page: {html}", style="dim", soft_wrap=True)

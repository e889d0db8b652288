"""`--over`: one run for each row of a table. No logic lives here."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NoReturn

import typer

from vision_agent.cli.options import option
from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from vision_agent.batch import Row, RowResult
    from vision_agent.batch.run_rows import AgentRun, MakeAgent, RunRow
    from vision_agent.session import Agent

_LONGEST_SHOWN = 100
"""Characters of an answer in the terminal."""
_LONGEST_SENTENCE = 400
"""The same for a row that was not done: why is at the end of its sentence."""
_MOST_NAMED = 5
"""Rows whose numbers a sentence has."""


@dataclass(frozen=True)
class RowOptions:
    """A table of which each row is a run."""

    panel: ClassVar = "Many rows"

    over: Annotated[
        Path | None,
        option(
            "Do the task once for each row of this CSV or JSON Lines file; {column} in the goal, the address, step "
            "lines, --data or --expect stands for the row's value.",
            "--over",
            "FILE",
        ),
    ] = None
    jobs: Annotated[int | None, option("How many rows run at once; default: 1.", "--jobs", "N")] = None
    max_total_cost: Annotated[
        float | None, option("Maximum cost of the models for all rows, in US dollars.", "--max-total-cost", "USD")
    ] = None
    out: Annotated[
        Path | None,
        option(
            "Folder for the results; if it exists, its batch continues. Default: the name of the table.",
            "--out",
            "FOLDER",
        ),
    ] = None
    retry: Annotated[bool, typer.Option("--retry", help="Rerun the rows that were not done.")] = False

    ray: Annotated[
        str | None,
        option(
            "Run the rows on a Ray cluster: local starts one, auto joins the one of this machine, ray://HEAD:10001 "
            "joins a cluster. Needs the extra `ray`.",
            "--ray",
            "ADDRESS",
        ),
    ] = None

    def check(self) -> None:
        """Refuses what makes sense only with a table.

        Raises:
            UsageError: such an option was given without one.
        """
        alone = {
            "--jobs": self.jobs,
            "--max-total-cost": self.max_total_cost,
            "--out": self.out,
            "--retry": self.retry,
            "--ray": self.ray,
        }
        if self.over is None and (wrong := next((name for name, value in alone.items() if value), None)):
            raise UsageError(f"{wrong} is for many rows", "name their table with --over")

    def require_unattended(self, model: str, cdp_url: str | None, name: str | None, *, is_supervised: bool) -> None:
        """Refuses what does not go with many rows.

        Raises:
            UsageError: a person would be needed, or something that there is only one of.
        """
        if name is not None:
            raise UsageError("--over makes a run folder for each row, and --name names one", "leave out --name")
        if is_supervised or model == "human":
            raise UsageError(
                "--over runs without a person", "leave out --supervise and --model human, or run the rows one by one"
            )
        if cdp_url is not None and self.ray is not None:
            raise UsageError("--ray starts a browser for each row, and --cdp names one", "leave out one of them")
        if cdp_url is not None and (self.jobs or 1) > 1:
            raise UsageError("--jobs needs a browser for each row, and --cdp names one", "leave out one of them")


def run_over(
    options: RowOptions,
    rows: Sequence[Row],
    make_agent: MakeAgent,
    title: str,
    also: Callable[[Row], Any],
    as_json: bool,
    suffix: str = "",
) -> NoReturn:
    """Runs all rows with progress on stderr, writes answers and summary, and exits with the code of the whole.

    The default folder of the batch is the name of the table with `suffix`.
    """
    import asyncio

    from vision_agent.batch import run_rows
    from vision_agent.batch.run_rows import RowResult, run_here
    from vision_agent.batch.summary import write_summary
    from vision_agent.describe.action_sentences import counted
    from vision_agent.text.console import TerminalConsole

    assert options.over is not None
    if options.max_total_cost is not None and options.max_total_cost <= 0:
        raise UsageError(f"--max-total-cost {options.max_total_cost:g} allows nothing", "give more than 0")
    folder, console = options.out or Path(options.over.stem + suffix), TerminalConsole(stderr=True)
    found: dict[int, RowResult] = {}
    ran: set[int] = set()
    """The numbers of the rows that were not kept from an earlier call."""

    async def run_now(row: Row, made: Agent | AgentRun, home: Path) -> RowResult:
        ran.add(row.number)
        return await run_row(row, made, home)

    with console.status(f"0 of {counted(len(rows), 'row')}") as status:

        def tell(result: RowResult) -> None:
            is_kept = result.ok and result.row.number not in ran
            found[result.row.number] = result
            status.update(f"{len(found)} of {counted(len(rows), 'row')}")
            console.print(_line(result, is_kept=is_kept), highlight=False, markup=False, soft_wrap=True)

        jobs = 1 if options.jobs is None else options.jobs
        try:
            with nullcontext(run_here) if options.ray is None else _on_ray(options.ray, jobs) as run_row:
                asyncio.run(
                    run_rows(
                        rows,
                        make_agent,
                        folder,
                        jobs=jobs,
                        max_total_cost=options.max_total_cost,
                        retry=options.retry,
                        also=also,
                        tell=tell,
                        run_row=run_now,
                    )
                )
        except KeyboardInterrupt:
            console.print(how_to_continue(list(found.values()), len(rows), folder), soft_wrap=True, highlight=False)
            raise
        finally:
            not_run = [RowResult(row=row, status="not_run", cost_usd=0.0) for row in rows if row.number not in found]
            results = sorted((*found.values(), *not_run), key=lambda each: each.row.number)
            answers, page = write_summary(results, folder, title) if found else (None, None)
    _print(results, folder, (answers, page), as_json, sum(each.ok and n not in ran for n, each in found.items()))
    raise typer.Exit(_exit_code(results))


def _on_ray(address: str, jobs: int) -> AbstractContextManager[RunRow]:
    from vision_agent.evals.ray_rows import rows_on

    return rows_on(address, jobs)


def _line(result: RowResult, *, is_kept: bool) -> str:
    from vision_agent.text.escape import cut_text, escaped_line

    said = result.answer if result.ok else result.sentence
    status = "already done" if is_kept else result.status.replace("_", " ")
    longest = _LONGEST_SHOWN if result.ok else _LONGEST_SENTENCE
    row = " · ".join(value for value in result.row.values.values() if value)
    shown = escaped_line(cut_text(row, _LONGEST_SHOWN)), escaped_line(cut_text(said, longest))
    return f"{result.row.number:>4}  {status:<12} {': '.join(filter(None, shown))}"


def _print(
    results: Sequence[RowResult], folder: Path, files: tuple[Path | None, Path | None], as_json: bool, earlier: int
) -> None:
    from vision_agent.describe.action_sentences import counted

    answers, page = files
    known = [each.cost_usd for each in results if each.cost_usd is not None]
    cost = sum(known) if len(known) == len(results) else None
    done = sum(each.ok for each in results)
    if as_json:
        facts = {
            "rows": len(results),
            "done": done,
            "tokens": sum(each.tokens for each in results),
            "cost_usd": cost,
            "exit_code": _exit_code(results),
            "answers": str(answers),
            "summary": str(page),
            "results": [each.model_dump(mode="json") for each in results],
        }
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    kept = f"; {counted(earlier, 'row')} kept from earlier" if earlier else ""
    paid = "cost unknown" if cost is None else f"${cost:.4f}"
    typer.echo(f"{done} of {counted(len(results), 'row')} done, {paid}{kept}")
    for sentence in what_is_left(results, folder):
        typer.echo(sentence)
    typer.echo(f"answers  {answers}")
    typer.echo(f"summary  {page}")


def how_to_continue(results: Sequence[RowResult], many: int, folder: Path) -> str:
    """How many rows have a result after an interruption, and how the others get one."""
    ended = sum(each.status not in ("interrupted", "not_run") for each in results)
    failed = sorted((each for each in results if each.needs_retry), key=lambda each: each.row.number)
    again = ""
    if failed:
        was = "was" if len(failed) == 1 else "were"
        named = _named_rows([each.row.number for each in failed])
        runs = _named_runs(failed, folder)
        again = f" {named[:1].upper()}{named[1:]} {was} not done: look at {runs}, then add --retry."
    return f"{ended} of {many} rows have a result in {folder}; run the same command again to continue.{again}"


def what_is_left(results: Sequence[RowResult], folder: Path) -> Iterator[str]:
    """Which rows were not done, and how to run them; the run folders are below `folder`."""
    not_done = [each for each in results if not each.ok and each.status != "not_run"]
    failed, runs = [each.row.number for each in not_done], _named_runs(not_done, folder)
    waiting = [each.row.number for each in results if each.status == "not_run"]
    if len(failed) == 1:
        yield (
            f"1 row began and was not done: {_named_rows(failed)}. Look at {runs}, put right what stopped it, "
            "then run the same command with --retry."
        )
    elif failed:
        yield (
            f"{len(failed)} rows began and were not done: {_named_rows(failed)}. Look at {runs}, put right what "
            "stopped them, then run the same command with --retry."
        )
    if len(waiting) == 1:
        yield f"1 row has not begun: {_named_rows(waiting)}. The same command runs it, if a limit allows it."
    elif waiting:
        yield (
            f"{len(waiting)} rows have not begun: {_named_rows(waiting)}. The same command runs them, if a limit "
            "allows it."
        )


def _named_runs(failed: Sequence[RowResult], folder: Path) -> str:
    """Where to look before rows are run again: the run folder, or that of the first one that has one."""
    first = next((str(folder / each.run) for each in failed if each.run), "")
    if len(failed) == 1:
        return first or "its run"
    return f"their runs, such as {first}" if first else "their runs"


def _named_rows(numbers: Sequence[int]) -> str:
    """`row 4`, `rows 2 and 4`, or the first few: `rows 1, 2, 3, 4, 5 and 7 more`."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    last = len(numbers) - 1 if len(numbers) <= _MOST_NAMED else _MOST_NAMED
    end = str(numbers[-1]) if len(numbers) <= _MOST_NAMED else f"{len(numbers) - last} more"
    return f"rows {', '.join(map(str, numbers[:last]))} and {end}"


def _exit_code(results: Sequence[RowResult]) -> int:
    """0 if all are done, 3 if a limit kept some from running, else 1."""
    if any(each.status == "not_run" for each in results):
        return 3
    return 0 if all(each.ok for each in results) else 1

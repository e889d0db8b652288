"""Runs an agent for each row, several at once, and keeps one result per row beside its run folder.

    DIR/0001-<hash>/result.json    what became of the row; written before its run begins, and again when it ends
    DIR/0001-<hash>/<run id>/      its run folder

The hash is that of the row and its task, so another goal or other values make another row. A row that has begun is not
run again by itself, because it may have done something, unless its record shows that no action of it had begun.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import ValidationError

from vision_agent.base_model import FrozenModel
from vision_agent.batch.rows import Row
from vision_agent.describe.completion import why_done
from vision_agent.errors import RecordError, UsageError, VisionAgentError
from vision_agent.events import Intended
from vision_agent.record.read import read, read_lines
from vision_agent.record.store import RUN, STEPS, locked, write_whole
from vision_agent.session import Agent
from vision_agent.text.values_apart import without_signs
from vision_agent.types import EndingStatus, Run

RESULT = "result.json"
_DIGITS = 8
_DID_NOTHING = "It was interrupted before it did anything: the same command runs it again."
_COSTS_NOTHING = frozenset({"steps", "StepsModel", "replay"})
"""What decides in a run without a model, as its record names it."""


class RowResult(FrozenModel):
    """What became of one row."""

    row: Row
    status: EndingStatus | Literal["running", "not_run"]
    """How its run ended; `running`, only in the file: it has begun, and the end is written later, unless the process
    is killed, which makes it `interrupted`; `not_run`: it has not begun."""
    sentence: str = ""
    """How the run ended, or why there was none."""
    why: str = ""
    """Why the row counts as done: which checks held, and who said so. Results of earlier versions have none."""
    answer: str = ""
    cost_usd: float | None = None
    """What its models cost; None if that is not known."""
    tokens: int = 0
    seconds: float = 0.0
    run: str = ""
    """The run folder, relative to the folder of the batch; empty if there is none."""

    @property
    def ok(self) -> bool:
        """Whether the row was done."""
        return self.status == "done"

    @property
    def needs_retry(self) -> bool:
        """Whether the row began and was not done, so that it is run again only if that is asked for."""
        return not self.ok and self.status != "not_run" and self.sentence != _DID_NOTHING


class RowPlan(NamedTuple):
    """Where and with which limit a row is run."""

    runs: Path
    """The folder in which its run folder is created."""
    max_cost: float | None
    """What its models may cost, in US dollars; None: as much as the task's own limit says."""


class AgentRun(Protocol):
    """A run of an agent by something around it, such as `vision_agent.replay.Replay`."""

    agent: Agent

    async def run(self) -> Run:
        """Runs the agent."""
        ...


MakeAgent = Callable[[Row, RowPlan], Agent | AgentRun]


RunRow = Callable[[Row, Agent | AgentRun, Path], Awaitable[RowResult]]
"""Runs a row and puts its run folder into the given one; the result names it relative to that."""


async def run_here(row: Row, made: Agent | AgentRun, home: Path) -> RowResult:
    """Runs a row in this process; its run folder is already below `home`."""
    sentence = ""
    try:
        await made.run()
    except VisionAgentError as error:
        sentence = str(error)
    return _result_of(row, _agent_of(made), sentence, home)


async def run_rows(
    rows: Sequence[Row],
    make_agent: MakeAgent,
    folder: Path,
    *,
    jobs: int = 1,
    max_total_cost: float | None = None,
    retry: bool = False,
    also: Callable[[Row], Any] = lambda _: None,
    tell: Callable[[RowResult], None] = lambda _: None,
    run_row: RunRow = run_here,
) -> tuple[RowResult, ...]:
    """The result of each row, in order. Rows with a result in `folder` are not run again.

    When it is cancelled, it keeps what there is; called again with the same arguments, it goes on. Each agent starts
    its own browser.

    Args:
        make_agent: the agent for a row, or a `Replay`; it is called for all rows before any begins, so that a mistake
            costs nothing. Its run folder is created in the folder of the plan, and it may cost at most the limit of the
            plan, whatever its own settings say.
        jobs: how many rows run at once.
        max_total_cost: US dollars that the models of all rows may cost; what earlier calls spent in `folder` counts.
        retry: run rows again that were not done.
        also: what else tells one row from another, beside its values, its task and the name of its model, such as the
            step lines that it follows; anything that JSON can hold.
        tell: receives each result as it comes, earlier ones first; also those of rows that were interrupted.
        run_row: runs a row, in this process or elsewhere.

    Raises:
        UsageError: a row gives no valid task, a limit allows nothing, the folder cannot be used, or another process
            writes to it.
        RecordError: a result cannot be read or written.
    """
    if jobs < 1:
        raise UsageError(f"{jobs} rows cannot run at once", "give 1 or more")
    if max_total_cost is not None and not max_total_cost > 0:
        raise UsageError(f"max_total_cost={max_total_cost:g} allows nothing", "give more than 0, in US dollars")
    _require_own(folder)
    batch = _Batch(folder, make_agent, jobs, max_total_cost, tell, run_row)
    known = [batch.name_of(row, also(row)) for row in rows]
    with locked(folder):
        waiting: list[tuple[Row, str]] = []
        results: dict[int, RowResult] = {}
        for row, name in zip(rows, known, strict=True):
            found, is_safe_again = _result_in(folder / name), False
            if found is not None:
                is_safe_again, found = _did_nothing(found, folder, name), _as_ended(found, folder, name)
            if found is None or (retry and not found.ok) or (is_safe_again and not found.ok):
                waiting.append((row, name))
            else:
                results[row.number] = found
            if found is not None:
                batch.spend(found)
        for each in results.values():
            tell(each)
        await batch.run(waiting, results)
    return tuple(results[row.number] for row in rows)


def _require_own(folder: Path) -> None:
    """Refuses a folder that holds something else."""
    if folder.is_dir() and any(folder.iterdir()) and not any(folder.glob(f"*/{RESULT}")):
        raise UsageError(f"The folder {folder} holds something else", "name another folder with --out")


class _Batch:
    def __init__(
        self,
        folder: Path,
        make_agent: MakeAgent,
        jobs: int,
        most: float | None,
        tell: Callable[[RowResult], None],
        run_row: RunRow,
    ) -> None:
        self._run_row = run_row
        self._folder, self._make, self._jobs, self._most, self._tell = folder, make_agent, jobs, most, tell
        self._spent: float | None = 0.0
        """None once the cost of a row is not known."""
        self._reserved = 0.0
        self._running = 0

    def name_of(self, row: Row, also: Any) -> str:
        """The name of the row's folder."""
        agent = _agent_of(self._make(row, RowPlan(self._folder, None)))
        # Without instructions it is the row that it was before there were any, and is not run again.
        exclude = {"limits", "messages", *(() if agent.task.instructions else ("instructions",))}
        task = agent.task.model_dump(mode="json", exclude=exclude)
        facts: Any = [row.model_dump(), task, agent.decides, also]
        digest = hashlib.sha256(without_signs(json.dumps(facts, sort_keys=True)).encode()).hexdigest()
        return f"{row.number:04d}-{digest[:_DIGITS]}"

    def spend(self, result: RowResult) -> None:
        """Counts what a row has cost."""
        if self._spent is not None:
            self._spent = None if result.cost_usd is None else self._spent + result.cost_usd

    async def run(self, waiting: list[tuple[Row, str]], results: dict[int, RowResult]) -> None:
        """Runs the waiting rows, and adds their results."""
        waiting = waiting[::-1]

        async def work() -> None:
            while waiting:
                row, name = waiting.pop()
                result = await self._run(row, name)
                results[row.number] = result
                self._tell(result)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._jobs, len(waiting))):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _run(self, row: Row, name: str) -> RowResult:
        share, why_not = self._share()
        if why_not:
            return RowResult(row=row, status="not_run", sentence=why_not, cost_usd=0.0)
        home = self._folder / name
        made = self._make(row, RowPlan(home, share))
        agent = _agent_of(made)
        _follow(agent, RowPlan(home, share))
        self._write(home, RowResult(row=row, status="running", sentence="It has begun."))
        self._running += 1
        self._reserved += share or 0.0
        try:
            try:
                result = await self._run_row(row, made, home)
            except asyncio.CancelledError:
                if agent.folder is not None:  # otherwise it ran elsewhere, and what became of it is not known
                    has_ended = agent.ending is not None and agent.ending.status != "interrupted"
                    sentence = ""
                    if not has_ended:
                        run = home / agent.folder.name
                        sentence = f"It was interrupted{_look_first(run)}" if _has_acted(run) else _DID_NOTHING
                    result = self._with_relative_folder(_result_of(row, agent, sentence, home), name)
                    self._write(home, result)
                    self._tell(result)
                raise
            if result.status == "not_run":
                (home / RESULT).unlink(missing_ok=True)
                return result
            result = self._with_relative_folder(result, name)
            self._write(home, result)
        finally:
            self._running -= 1
            self._reserved -= share or 0.0
        self.spend(result)
        return result

    def _share(self) -> tuple[float | None, str]:
        """What the next row may cost, and why it may not run; the rows that run now get what was promised to them."""
        if self._most is None:
            return None, ""
        if self._spent is None:
            return None, "The cost of an earlier row is not known, so the total cannot be limited."
        left = self._most - self._spent - self._reserved
        if left <= 0:
            return None, f"The limit of ${self._most:g} for all rows is reached."
        return left / max(1, self._jobs - self._running), ""

    @staticmethod
    def _with_relative_folder(result: RowResult, name: str) -> RowResult:
        """The result with its run folder relative to that of the batch."""
        return result.model_copy(update={"run": f"{name}/{result.run}" if result.run else ""})

    @staticmethod
    def _write(home: Path, result: RowResult) -> None:
        try:
            home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError(
                f"{home} cannot be created: {error.strerror}", "name another folder with --out"
            ) from error
        write_whole(home / RESULT, result.model_dump_json(indent=1).encode(), over=True)


def _result_of(row: Row, agent: Agent, sentence: str, home: Path) -> RowResult:
    ending, run = agent.ending, agent.record
    return RowResult(
        row=row,
        status=ending.status if ending is not None else "error",
        sentence=sentence or (ending.sentence if ending is not None else ""),
        why=why_done(run.model_copy(update={"ending": ending})) if run is not None else "",
        answer=ending.answer if ending is not None else "",
        cost_usd=run.cost if run is not None else 0.0,
        tokens=run.tokens if run is not None else 0,
        seconds=run.seconds if run is not None else 0.0,
        run=str(agent.folder.relative_to(home.absolute())) if agent.folder is not None else "",
    )


def _follow(agent: Agent, plan: RowPlan) -> None:
    """Has the agent keep to the plan, also if it was made without it."""
    agent.settings = agent.settings.model_copy(update={"runs": plan.runs})
    costs = [each for each in (agent.task.limits.cost_usd, plan.max_cost) if each is not None]
    limits = agent.task.limits.model_copy(update={"cost_usd": min(costs, default=None)})
    agent.task = agent.task.model_copy(update={"limits": limits})


def _agent_of(made: Agent | AgentRun) -> Agent:
    return made if isinstance(made, Agent) else made.agent


def _result_in(home: Path) -> RowResult | None:
    try:
        text = (home / RESULT).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"{home / RESULT} cannot be read: {error.strerror}") from error
    try:
        return RowResult.model_validate_json(text)
    except ValidationError as error:
        raise RecordError(
            f"{home / RESULT} is not the result of a row", "move it away; the row then runs again"
        ) from error


def _did_nothing(found: RowResult, folder: Path, name: str) -> bool:
    """Whether a row was interrupted before any action of it began, as far as its records show it.

    A row without a record may have run on another machine.
    """
    if found.status == "interrupted" and found.run:
        return not _has_acted(folder / found.run)
    if found.status != "running":
        return False
    runs = _runs_of(folder / name)
    return bool(runs or _empty_logs(folder / name)) and not any(map(_has_acted, runs))


def _empty_logs(home: Path) -> list[Path]:
    """The logs of a row's runs that were killed before anything was recorded, and so before a browser was there."""
    logs = (each for each in home.glob(f"*/{STEPS}") if not (each.parent / RUN).exists())
    return [each for each in logs if each.stat().st_size == 0]


def _runs_of(home: Path) -> list[Path]:
    """The run folders of a row, the newest last."""
    return sorted(each.parent for each in home.glob(f"*/{RUN}"))


def _has_acted(run: Path) -> bool:
    """Whether an action of a run may have begun."""
    try:
        return any(isinstance(line.event, Intended) for line in read_lines(run))
    except RecordError:
        return True


def _as_ended(found: RowResult, folder: Path, name: str) -> RowResult:
    """The result; that of a row whose process was killed is what its newest record shows.

    Nothing else writes to the folder of the batch meanwhile, so a row that is said to be running is not.
    """
    if found.status != "running":
        return found
    runs = _runs_of(folder / name)
    look_first = _look_first(runs[-1] if runs else None)
    cut = {"status": "interrupted", "sentence": f"It was cut off before its end{look_first}"}
    if not runs:
        return found.model_copy(update=cut)
    facts: dict[str, Any] = {"run": f"{name}/{runs[-1].name}"}
    try:
        run = read(runs[-1])
    except RecordError:
        return found.model_copy(update=cut | facts)
    facts |= {"seconds": run.seconds, "tokens": run.tokens}
    if run.ending is not None and run.ok:
        facts |= {"status": "done", "sentence": run.ending.sentence, "answer": run.answer, "cost_usd": run.cost}
        return found.model_copy(update=facts | {"why": why_done(run)})
    is_free = run.provenance.model in _COSTS_NOTHING and not run.provenance.capabilities
    # A request may have been on its way, so what a model has cost is not known.
    return found.model_copy(update=cut | facts | {"cost_usd": 0.0 if is_free else None})


def _look_first(run: Path | None) -> str:
    """What comes before a row that may have done something is run again."""
    where = f"look at {run}" if run is not None else "its record is not here, so look where it would show"
    return f", and may have done something: {where}, then run the same command with --retry."

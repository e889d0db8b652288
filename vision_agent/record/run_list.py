"""Lists the runs in a folder, finds the latest one, and deletes runs.

What is told of each run comes from its first file and its last line, so a folder of a thousand runs is listed at once.
"""

from __future__ import annotations

import difflib
import fcntl
import os
import shutil
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal, get_args

from vision_agent.base_model import FrozenModel
from vision_agent.errors import NoSuchRun, RecordError, UsageError
from vision_agent.events import Ended
from vision_agent.policy.budget import cost_of
from vision_agent.record.read import last_line, read_lines, read_run_file, turns
from vision_agent.record.store import RUN, STEPS
from vision_agent.text.urls import host_of
from vision_agent.types import Ending

RunStatus = Literal[
    "done",
    "not_done",
    "infeasible",
    "limit",
    "needs_person",
    "unavailable",
    "error",
    "interrupted",
    "dry_run",
    "running",
    "unfinished",
    "unreadable",
]
"""How a run ended; `unfinished`: it was cut off and can perhaps be resumed."""
STATUSES: tuple[str, ...] = get_args(RunStatus)
FAILED = "failed"
"""Names all statuses of runs that did not do their task and no longer try."""


def is_failed(status: str) -> bool:
    """Whether a run with this status did not do its task and no longer tries."""
    return status not in ("done", "dry_run", "running")


class ListedRun(FrozenModel):
    """What a list says of a run."""

    folder: Path
    started_at: datetime
    """For a run that cannot be read, when its folder last changed."""
    status: RunStatus
    goal: str = ""
    sentence: str = ""
    """How it ended, or why it cannot be read."""
    seconds: float | None = None
    """From its start to the last line of its record."""
    model: str = ""
    """Who decides, as recorded: the name of a model, or of what takes its place."""
    host: str = ""
    """The host of the start page; empty without one, as for a file."""


class RunFigures(FrozenModel):
    """What a run took."""

    steps: int
    tokens: int
    cost_usd: float | None
    """None if the price of any reply is unknown."""


def list_runs(runs: Path) -> tuple[ListedRun, ...]:
    """The runs in a folder, the latest first; empty if there is no such folder.

    Raises:
        UsageError: the folder cannot be read.
    """
    return tuple(latest_first(map(listed_run, run_folders(runs))))


def list_runs_or_rows(runs: Path) -> tuple[ListedRun, ...]:
    """The runs in a folder, or if it has none and is the folder of a batch, those of its rows; the latest first.

    Raises:
        UsageError: a folder cannot be read.
    """
    return tuple(latest_first(map(listed_run, run_folders(runs) or row_run_folders(runs))))


def run_folders(runs: Path) -> list[Path]:
    """The folders of the runs in a folder, in no order; none if there is no such folder.

    Raises:
        UsageError: the folder cannot be read.
    """
    try:
        return [each for each in runs.iterdir() if is_run_folder(each)] if runs.exists() else []
    except OSError as error:
        raise UsageError(f"The runs in {runs} cannot be listed: {error.strerror}") from error


def row_run_folders(batch: Path) -> list[Path]:
    """The same for the runs one folder deeper, as those of the rows of a batch.

    Raises:
        UsageError: a folder cannot be read.
    """
    try:
        below = [each for each in batch.iterdir() if each.is_dir() and not each.is_symlink()] if batch.exists() else []
    except OSError as error:
        raise UsageError(f"The runs in {batch} cannot be listed: {error.strerror}") from error
    return [run for row in below if not is_run_folder(row) for run in run_folders(row)]


def latest_first(runs: Iterable[ListedRun]) -> list[ListedRun]:
    """These runs in the order of a list."""
    return sorted(runs, key=lambda run: (run.started_at, run.folder.name), reverse=True)


def latest_run(runs: Path) -> Path:
    """The folder of the run that was started last, of those that can be read.

    Raises:
        UsageError: there is none.
    """
    found = next((run.folder for run in list_runs(runs) if run.status != "unreadable"), None)
    if found is None:
        raise UsageError(f"There is no run in {runs}", "runs in another folder are named in full")
    return found


def matching(
    runs: Sequence[ListedRun],
    *,
    status: str = "",
    text: str = "",
    day: date | None = None,
    before: datetime | None = None,
) -> tuple[ListedRun, ...]:
    """Those with this status, whose goal or ending has this text in it, started on this day and before this moment.

    The status may be `failed`, for all that did not do their task. A day is one of this machine's time zone.

    Raises:
        UsageError: there is no such status.
    """
    if status and status not in (*STATUSES, FAILED):
        known = (FAILED, *STATUSES)
        near = difflib.get_close_matches(status.lower(), known, n=1, cutoff=0.7)
        meant = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"There is no status {status!r}", f"{meant}known are {', '.join(known)}")
    wanted = text.casefold()
    return tuple(
        run
        for run in runs
        if (status in ("", run.status) or (status == FAILED and is_failed(run.status)))
        and wanted in f"{run.goal}\n{run.sentence}".casefold()
        and (day is None or run.started_at.astimezone().date() == day)
        and (before is None or run.started_at < before)
    )


def figures_of(folder: Path) -> RunFigures:
    """The steps, tokens and cost of a run so far.

    Raises:
        RecordError: its record cannot be read.
    """
    known = turns(line.event for line in read_lines(folder))
    tokens, cost = cost_of([usage for turn in known for usage in turn.usages])
    return RunFigures(steps=sum(turn.decision is not None for turn in known), tokens=tokens, cost_usd=cost)


def is_run_folder(folder: Path) -> bool:
    """Whether it is a folder, not a link to one, in which a run was recorded."""
    return folder.is_dir() and not folder.is_symlink() and any((folder / name).is_file() for name in (RUN, STEPS))


def delete_run(folder: Path) -> None:
    """Deletes the folder of a run with everything in it; links in it are removed, not followed.

    Raises:
        UsageError: there is no such folder, it is not a run folder, or the run is still going.
        RecordError: it cannot be deleted.
    """
    require_deletable(folder)
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise RecordError(f"The run in {folder} cannot be deleted: {error.strerror}: {error.filename}") from error


def require_deletable(folder: Path) -> None:
    """Checks that there is a run in this folder, and that it has ended.

    Raises:
        UsageError: there is none, or it is still going.
    """
    if not os.path.lexists(folder):
        raise NoSuchRun(f"There is no run folder {folder}", "`vision-agent runs` lists the runs")
    if not is_run_folder(folder):
        raise UsageError(f"{folder} is not a run folder, and nothing else is deleted")
    if is_running(folder):
        raise UsageError(f"The run in {folder} is still going", "wait until it ends, or stop it")


def listed_run(folder: Path) -> ListedRun:
    """What a list says of the run in this folder.

    Raises:
        OSError: the folder is gone.
    """
    try:
        run = read_run_file(folder)
        last = last_line(folder)
    except RecordError as error:
        changed = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
        return ListedRun(folder=folder, started_at=changed, status="unreadable", sentence=error.sentence)
    ending = last.event.ending if last is not None and isinstance(last.event, Ended) else None
    return ListedRun(
        folder=folder,
        started_at=run.started_at,
        status=_status(folder, ending),
        goal=run.task.goal,
        sentence=ending.sentence if ending is not None else "",
        seconds=max(0.0, (last.at - run.started_at).total_seconds()) if last is not None else None,
        model=run.provenance.model,
        host=host_of(run.task.start_url or ""),
    )


def _status(folder: Path, ending: Ending | None) -> RunStatus:
    if ending is not None:
        return ending.status
    return "running" if is_running(folder) else "unfinished"


def is_running(folder: Path) -> bool:
    """Whether a process writes to the record, as far as the file system can tell: it holds a lock on it then."""
    try:
        lines = os.open(folder / STEPS, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(lines, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(lines)
    return False

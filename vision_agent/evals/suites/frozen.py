"""Freezes recorded pages and what was done on each into a folder, so that every model gets the same pictures.

    frozen.json           {"version": 1, "tasks": [{"id", "goal", "references", "sha256"}, …]}
    tasks/<id>.json       {"version": 1, "id", "task", "steps", "references"}
    shots/<sha256>.png    the pictures, by the hash of their bytes

A task is a recorded run, or one page of a list (`page_list`). `task` and `steps` of a run come from its record, with
the texts of pages, listings, marks, earlier decisions and their outcomes unchanged, so that a model reads about each
page what it would have read in the run.
`references` holds, by step number, what was done there: the operation with its value, and for each target the marks,
the cell and the boxes (see `grading`). Steps that only looked, asked or ended have none; they are the history of later
steps.

`sha256` in frozen.json is the hash of the task's file, and pictures are named by theirs. Everything is checked against
its hash when it is read; a changed file is named and refused. The same runs give the same bytes. A folder is complete
or absent.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from pydantic import BaseModel, Field, ValidationError

from vision_agent.base_model import FrozenModel, words_of
from vision_agent.errors import RecordError, UsageError
from vision_agent.evals.answer_grading import Reference, step_reference
from vision_agent.evals.items import RESULT, RUNS
from vision_agent.events import MessageReceived
from vision_agent.observation import Observation, Shot
from vision_agent.record.read import load_shot, read, read_lines
from vision_agent.record.store import RUN, SHOTS, shot_name, write_private
from vision_agent.record.verify import verify
from vision_agent.types import Run, Step, Task

NO_BROWSER = "none: recorded pages"
"""Recorded as the browser of runs that answer about recorded pages."""
INDEX = "frozen.json"
TASKS = "tasks"
_D = TypeVar("_D", bound=BaseModel)


class FrozenTask(FrozenModel):
    """A recorded run with what was done on each page, or one page with what is right on it."""

    version: Literal[1] = 1
    id: str
    task: Task
    steps: tuple[Step, ...]
    references: dict[int, Reference]
    """By step number."""


class FrozenEntry(FrozenModel):
    """A task in the index."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    goal: str
    references: int
    sha256: str
    """Hash of its file."""


class FrozenIndex(FrozenModel):
    """The contents of a folder."""

    version: Literal[1] = 1
    tasks: tuple[FrozenEntry, ...]


class FrozenFolder(NamedTuple):
    """Counts of what was frozen."""

    tasks: int
    references: int
    steps: int
    """All steps, including those that are only history."""
    pictures: int
    left_out: dict[str, int]
    """Runs found below a folder that cannot be references: how many for each reason."""
    unrest: tuple[str, ...] = ()
    """Ids of listed pages that were still changing when observed, and may look different another time."""


# --- written ----------------------------------------------------------------------------------------------------------


def freeze(folders: Sequence[Path], to: Path, *, any_ending: bool = False) -> FrozenFolder:
    """Store the runs in or below these folders in a new folder `to`, and return the counts.

    A run named directly must be usable as a reference: its record is unaltered, it ended as done, and it did something.
    Unusable runs found below a folder are left out. A run that an evaluation judged must have passed, whatever its own
    ending says.

    Args:
        any_ending: accept runs with any ending; what they did is then the reference.

    Raises:
        UsageError: there are no runs, a named one is not usable, or `to` cannot be created.
        RecordError: a run cannot be read, or its record was altered.
    """
    with create_frozen(to) as folder:
        runs, left_out = _runs_in(folders, any_ending=any_ending)
        if len({run.id for run in runs.values()}) < len(runs):
            raise UsageError("Two of these folders contain the same run", "name each run once")
        for place, run in sorted(runs.items(), key=lambda each: each[1].id):
            folder.add(_with_pictures(place, _freeze_run(run)))
    return folder.counts._replace(left_out=left_out)


@contextmanager
def create_frozen(to: Path) -> Iterator[Filling]:
    """Yield a new folder `to` for adding tasks. It appears when the block ends without an error.

    Raises:
        UsageError: it already exists or cannot be written.
    """
    if to.exists():
        raise UsageError(f"{to} already exists", "name another folder with --out")
    part = to.with_name(f".{to.name}.{uuid.uuid4().hex[:8]}.part")  # unique, as others may write there too
    try:
        with _writing(to):
            part.mkdir(mode=0o700, parents=True)
            (part / TASKS).mkdir(mode=0o700)
            (part / SHOTS).mkdir(mode=0o700)
        folder = Filling(to, part)
        yield folder
        with _writing(to):
            index = FrozenIndex(tasks=tuple(folder.entries))
            write_private(part / INDEX, index.model_dump_json(indent=1).encode())
            part.rename(to)
    finally:
        with suppress(OSError):
            shutil.rmtree(part)


class Filling:
    """A folder of frozen tasks under construction."""

    def __init__(self, to: Path, part: Path) -> None:
        self.entries: list[FrozenEntry] = []
        self._to, self._part = to, part
        self._pictures: set[str] = set()
        self._steps = 0

    def add(self, frozen: FrozenTask) -> None:
        """Write a task and its pictures, whose bytes must be loaded.

        Raises:
            UsageError: it cannot be written.
        """
        data = frozen.model_dump_json(indent=1).encode()
        counts = {"goal": frozen.task.goal, "references": len(frozen.references), "sha256": _sha256(data)}
        entry = FrozenEntry(id=frozen.id, **counts)  # first, as it checks the id, of which the file gets its name
        with _writing(self._to):
            for shot in _shots(frozen):
                assert shot.data is not None
                write_private(self._part / SHOTS / shot_name(shot), shot.data)
                self._pictures.add(shot.sha256)
            write_private(self._part / TASKS / f"{entry.id}.json", data)
        self.entries.append(entry)
        self._steps += len(frozen.steps)

    @property
    def counts(self) -> FrozenFolder:
        """Counts of its contents so far."""
        references = sum(each.references for each in self.entries)
        return FrozenFolder(len(self.entries), references, self._steps, len(self._pictures), {})


@contextmanager
def _writing(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}", "name another folder with --out") from error


def _runs_in(folders: Sequence[Path], *, any_ending: bool) -> tuple[dict[Path, Run], dict[str, int]]:
    """The usable runs by folder, and how many others there were for each reason."""
    found: dict[Path, Run] = {}
    others: Counter[str] = Counter()
    for folder in folders:
        paths = [path.parent for path in sorted(folder.rglob(RUN))]
        if not paths:
            raise UsageError(f"There is no run in {folder}", "name run folders, or a folder that contains some")
        for path in paths:
            run = _run(path)
            why = _why_not(run, path, any_ending=any_ending)
            if why and path == folder:
                raise UsageError(f"The run in {folder} is not a reference: it {why}", _HINTS.get(why, _TAKE_IT))
            if why:
                others[why] += 1
            else:
                found[path] = run
    if not found:
        reasons = ", ".join(f"{many} {why}" for why, many in others.items())
        raise UsageError(f"None of the runs in {', '.join(map(str, folders))} is a reference: {reasons}", _TAKE_IT)
    return found, dict(others)


_NOTHING_DONE, _ONLY_ANSWERED = "did nothing to a page", "answered about recorded pages"
_TAKE_IT = "leave it out, or include it with --any-ending"
_HINTS = {_NOTHING_DONE: "leave it out", _ONLY_ANSWERED: "leave it out"}


def _why_not(run: Run, folder: Path, *, any_ending: bool) -> str:
    """Why a run cannot be a reference; empty if it can."""
    if run.provenance.browser == NO_BROWSER:
        return _ONLY_ANSWERED
    if not any(map(step_reference, run.steps)):
        return _NOTHING_DONE
    if any_ending:
        return ""
    result = folder.parent.parent / RESULT
    if folder.parent.name == RUNS and result.is_file() and not _has_passed(result):
        return "did not pass its evaluation"
    ended = run.ending.status if run.ending is not None else "interrupted"
    return "" if ended == "done" else f"ended as {ended}"


def _has_passed(result: Path) -> bool:
    try:
        content = json.loads(result.read_bytes())
    except (OSError, ValueError) as error:
        raise RecordError(f"The result {result} cannot be read: {error}", "move it away") from error
    # A result without a verdict leaves it to the run's ending.
    return isinstance(content, dict) and content.get("passed") is not False and not content.get("error")


def _run(folder: Path) -> Run:
    if change := verify(folder).first_change:
        raise RecordError(f"The run in {folder} cannot be frozen: {change}", "its record must be unaltered")
    run = read(folder)
    heard = tuple(line.event.message for line in read_lines(folder) if isinstance(line.event, MessageReceived))
    # Models know files by name; their location on disk is private.
    files = tuple(Path(path.name) for path in run.task.files)
    task = run.task.model_copy(update={"messages": (*run.task.messages, *heard), "files": files})
    return run.model_copy(update={"task": task})


def _freeze_run(run: Run) -> FrozenTask:
    references = {step.index: reference for step in run.steps if (reference := step_reference(step)) is not None}
    return FrozenTask(id=run.id, task=run.task, steps=run.steps, references=references)


def _shots(frozen: FrozenTask) -> Iterator[Shot]:
    for step in frozen.steps:
        yield from (step.observation.clean, step.observation.marked)
    yield from (each.shot for each in frozen.task.pictures)
    if frozen.task.exemplar is not None:
        yield from (turn.picture for turn in frozen.task.exemplar.turns if turn.picture is not None)


# --- read -------------------------------------------------------------------------------------------------------------


def read_index(folder: Path) -> FrozenIndex:
    """The index of a folder, after checking every file against its hash.

    Raises:
        UsageError: it is not a folder of frozen pages.
        RecordError: a file is missing or was changed; the message names it.
    """
    if not (folder / INDEX).is_file():
        raise UsageError(f"{folder} has no frozen pages", "create some: vision-agent freeze RUN --out FOLDER")
    index = _parse(folder / INDEX, _bytes(folder / INDEX), FrozenIndex)
    for entry in index.tasks:
        for shot in _shots(_task(folder, entry)):
            load_shot(folder, shot)
    return index


def read_task(folder: Path, entry: FrozenEntry, *, with_pictures: bool = True) -> FrozenTask:
    """A task, by default with the bytes of its pictures.

    Raises:
        RecordError: its file or one of its pictures is missing or was changed.
    """
    frozen = _task(folder, entry)
    return _with_pictures(folder, frozen) if with_pictures else frozen


def _with_pictures(folder: Path, frozen: FrozenTask) -> FrozenTask:
    """The task with the bytes of its pictures, which run folders and frozen folders store in the same place."""
    task = frozen.task
    pictures = tuple(each.model_copy(update={"shot": load_shot(folder, each.shot)}) for each in task.pictures)
    exemplar = task.exemplar
    if exemplar is not None:
        turns = tuple(
            turn.model_copy(update={"picture": turn.picture and load_shot(folder, turn.picture)})
            for turn in exemplar.turns
        )
        exemplar = exemplar.model_copy(update={"turns": turns})
    return frozen.model_copy(
        update={
            "task": task.model_copy(update={"pictures": pictures, "exemplar": exemplar}),
            "steps": tuple(
                step.model_copy(update={"observation": _load_pictures(folder, step.observation)})
                for step in frozen.steps
            ),
        }
    )


def _task(folder: Path, entry: FrozenEntry) -> FrozenTask:
    path = folder / TASKS / f"{entry.id}.json"
    data = _bytes(path)
    if _sha256(data) != entry.sha256:
        raise RecordError(f"{path} was changed after it was frozen: its hash differs", "freeze it again")
    return _parse(path, data, FrozenTask)


def _load_pictures(folder: Path, seen: Observation) -> Observation:
    return seen.model_copy(update={"clean": load_shot(folder, seen.clean), "marked": load_shot(folder, seen.marked)})


def _parse(path: Path, data: bytes, kind: type[_D]) -> _D:
    try:
        version = json.loads(data).get("version")
        if version != 1:
            raise RecordError(f"{path} has version {version!r}, and this reads version 1", "update vision-agent")
        return kind.model_validate_json(data)
    except (ValidationError, ValueError, AttributeError) as error:
        reason = words_of(error.errors()[0]) if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{path} cannot be read: {reason}", "freeze it again") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}", "freeze it again") from error


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

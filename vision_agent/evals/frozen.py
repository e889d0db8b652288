"""A folder of recorded pages with what was done on each: the same pictures for every model, and no browser.

    frozen.json           {"version": 1, "tasks": [{"id", "goal", "references", "sha256"}, …]}
    tasks/<id>.json       {"version": 1, "id", "task", "steps", "references"}
    shots/<sha256>.png    the pictures, by the hash of their bytes

A task is a recorded run, or one page of a list (`page_list`). `task` and `steps` of a run are those of its record, with
the texts of pages, listings, marks, earlier decisions and their outcomes as they were, so that a model is told of each
page what it would have been told in the run.
`references` has, by the number of a step, what was done there: its operation with its value, and for each place that it
meant the marks, the cell and the boxes (see `grades`). Steps that only looked, asked or ended have none; they are the
history of the steps after them.

`sha256` in frozen.json is that of the task's file, and pictures are named by theirs. All of it is held against its hash
when it is read, and what was changed is named and refused. The same runs give the same bytes. A folder is there whole
or not at all.
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

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vision_agent.errors import RecordError, UsageError
from vision_agent.evals.grades import Reference, reference_of
from vision_agent.evals.items import RESULT, RUNS
from vision_agent.events import Said
from vision_agent.record.read import check_chain, load_shot, read, read_lines
from vision_agent.record.store import RUN, SHOTS, shot_name
from vision_agent.types import Observation, Run, Shot, Step, Task

NO_BROWSER = "none: recorded pages"
"""What a run says of its browser that asked about recorded pages."""
INDEX = "frozen.json"
TASKS = "tasks"
_D = TypeVar("_D", bound=BaseModel)


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FrozenTask(_Data):
    """A recorded run, with what was done on each page; or one page, with what is right on it."""

    version: Literal[1] = 1
    id: str
    task: Task
    steps: tuple[Step, ...]
    references: dict[int, Reference]
    """By the number of the step."""


class Entry(_Data):
    """A task as the index has it."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    goal: str
    references: int
    sha256: str
    """Of its file."""


class Index(_Data):
    """All that is in a folder."""

    version: Literal[1] = 1
    tasks: tuple[Entry, ...]


class Frozen(NamedTuple):
    """What freezing came to."""

    tasks: int
    references: int
    steps: int
    """Those included that are only history."""
    pictures: int
    left_out: dict[str, int]
    """Of runs that were found in a folder and are no references, how many, by the reason."""
    unrest: tuple[str, ...] = ()
    """Pages of a list that were still changing when they were looked at: another time they may look otherwise."""


# --- written ----------------------------------------------------------------------------------------------------------


def freeze(folders: Sequence[Path], to: Path, *, any_ending: bool = False) -> Frozen:
    """What was stored of the runs in these folders, or below them, in a new folder `to`.

    A run that is named must be a reference: its record is as it was written, it ended as done, and something was done
    in it. Of those that are found below a folder the others are left out; where an evaluation judged one, it must have
    passed, whatever it said itself.

    Args:
        any_ending: also runs that did not come to their end; what they did is then the reference all the same.

    Raises:
        UsageError: there are no runs, one that is named is no reference, or `to` cannot be made.
        RecordError: a run cannot be read, or is not as it was written.
    """
    with filled(to) as folder:
        runs, left_out = _runs_in(folders, any_ending=any_ending)
        if len({run.id for run in runs.values()}) < len(runs):
            raise UsageError("Two of these folders hold the same run", "name each run once")
        for place, run in sorted(runs.items(), key=lambda each: each[1].id):
            folder.add(_with_pictures(place, _frozen(run)))
    return folder.told._replace(left_out=left_out)


@contextmanager
def filled(to: Path) -> Iterator[Filling]:
    """A new folder `to` that tasks are added to. It is there when the block has ended, and not if that was an error.

    Raises:
        UsageError: it is there already, or cannot be written.
    """
    if to.exists():
        raise UsageError(f"{to} is there already", "name another folder with --out")
    part = to.with_name(f".{to.name}.{uuid.uuid4().hex[:8]}.part")  # nobody else's who writes there too
    try:
        with _writing(to):
            (part / TASKS).mkdir(parents=True)
            (part / SHOTS).mkdir()
        folder = Filling(to, part)
        yield folder
        with _writing(to):
            (part / INDEX).write_text(Index(tasks=tuple(folder.entries)).model_dump_json(indent=1), "utf-8")
            part.rename(to)
    finally:
        with suppress(OSError):
            shutil.rmtree(part)


class Filling:
    """A folder of frozen tasks that is being made."""

    def __init__(self, to: Path, part: Path) -> None:
        self.entries: list[Entry] = []
        self._to, self._part = to, part
        self._pictures: set[str] = set()
        self._steps = 0

    def add(self, frozen: FrozenTask) -> None:
        """Writes a task with its pictures, whose bytes are with it.

        Raises:
            UsageError: it cannot be written.
        """
        data = frozen.model_dump_json(indent=1).encode()
        with _writing(self._to):
            for shot in _shots(frozen):
                assert shot.data is not None
                (self._part / SHOTS / shot_name(shot)).write_bytes(shot.data)
                self._pictures.add(shot.sha256)
            (self._part / TASKS / f"{frozen.id}.json").write_bytes(data)
        told = {"goal": frozen.task.goal, "references": len(frozen.references), "sha256": _sha256(data)}
        self.entries.append(Entry(id=frozen.id, **told))
        self._steps += len(frozen.steps)

    @property
    def told(self) -> Frozen:
        """What it holds so far."""
        references = sum(each.references for each in self.entries)
        return Frozen(len(self.entries), references, self._steps, len(self._pictures), {})


@contextmanager
def _writing(to: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}", "name another folder with --out") from error


def _runs_in(folders: Sequence[Path], *, any_ending: bool) -> tuple[dict[Path, Run], dict[str, int]]:
    """The references by their folders, and how many others there were, by the reason."""
    found: dict[Path, Run] = {}
    others: Counter[str] = Counter()
    for folder in folders:
        paths = [path.parent for path in sorted(folder.rglob(RUN))]
        if not paths:
            raise UsageError(f"There is no run in {folder}", "name run folders, or a folder that holds some")
        for path in paths:
            run = _run(path)
            why = _why_not(run, path, any_ending=any_ending)
            if why and path == folder:
                raise UsageError(f"The run in {folder} is no reference: it {why}", _HINTS.get(why, _TAKE_IT))
            if why:
                others[why] += 1
            else:
                found[path] = run
    if not found:
        reasons = ", ".join(f"{many} {why}" for why, many in others.items())
        raise UsageError(f"None of the runs in {', '.join(map(str, folders))} is a reference: {reasons}", _TAKE_IT)
    return found, dict(others)


_NOTHING_DONE, _ONLY_ANSWERED = "did nothing to a page", "answered about recorded pages"
_TAKE_IT = "leave it out, or take it all the same with --any-ending"
_HINTS = {_NOTHING_DONE: "leave it out", _ONLY_ANSWERED: "leave it out"}


def _why_not(run: Run, folder: Path, *, any_ending: bool) -> str:
    """Why a run is no reference; empty where it is one."""
    if run.provenance.browser == NO_BROWSER:
        return _ONLY_ANSWERED
    if not any(map(reference_of, run.steps)):
        return _NOTHING_DONE
    if any_ending:
        return ""
    result = folder.parent.parent / RESULT
    if folder.parent.name == RUNS and result.is_file() and not _passed(result):
        return "did not pass the evaluation that it was made in"
    ended = run.ending.status if run.ending is not None else "cut off"
    return "" if ended == "done" else f"ended as {ended}"


def _passed(result: Path) -> bool:
    try:
        told = json.loads(result.read_bytes())
    except (OSError, ValueError) as error:
        raise RecordError(f"The result {result} cannot be read: {error}", "move it away") from error
    # One that nobody judged is what its run says.
    return isinstance(told, dict) and told.get("passed") is not False and not told.get("error")


def _run(folder: Path) -> Run:
    chain = check_chain(folder)
    if not chain.holds:
        raise RecordError(f"The run in {folder} cannot be frozen: {chain.sentence}", "only what was recorded is")
    run = read(folder)
    said = tuple(line.event.message for line in read_lines(folder) if isinstance(line.event, Said))
    # Where files were on a disk is nobody's business, and a model knows them by their names.
    files = tuple(Path(path.name) for path in run.task.files)
    task = run.task.model_copy(update={"messages": (*run.task.messages, *said), "files": files})
    return run.model_copy(update={"task": task})


def _frozen(run: Run) -> FrozenTask:
    references = {step.index: reference for step in run.steps if (reference := reference_of(step)) is not None}
    return FrozenTask(id=run.id, task=run.task, steps=run.steps, references=references)


def _shots(frozen: FrozenTask) -> Iterator[Shot]:
    for step in frozen.steps:
        yield from (step.observation.clean, step.observation.marked)
    yield from (each.shot for each in frozen.task.pictures)
    if frozen.task.exemplar is not None:
        yield from (turn.picture for turn in frozen.task.exemplar.turns if turn.picture is not None)


# --- read -------------------------------------------------------------------------------------------------------------


def read_index(folder: Path) -> Index:
    """What a folder holds, after every file of it was held against its hash.

    Raises:
        UsageError: it is no folder that `freeze` made.
        RecordError: a file is missing or was changed; it is named.
    """
    if not (folder / INDEX).is_file():
        raise UsageError(f"{folder} holds no frozen pages", "make some: vision-agent freeze RUN --out FOLDER")
    index = _parsed(folder / INDEX, _bytes(folder / INDEX), Index)
    for entry in index.tasks:
        for shot in _shots(_task(folder, entry)):
            load_shot(folder, shot)
    return index


def read_task(folder: Path, entry: Entry, *, with_pictures: bool = True) -> FrozenTask:
    """A task, with the bytes of its pictures unless they are not wanted.

    Raises:
        RecordError: its file, or one of its pictures, is missing or was changed.
    """
    frozen = _task(folder, entry)
    return _with_pictures(folder, frozen) if with_pictures else frozen


def _with_pictures(folder: Path, frozen: FrozenTask) -> FrozenTask:
    """The task with the bytes of its pictures, which a run folder has where a folder of frozen tasks has them."""
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
                step.model_copy(update={"observation": _loaded(folder, step.observation)}) for step in frozen.steps
            ),
        }
    )


def _task(folder: Path, entry: Entry) -> FrozenTask:
    path = folder / TASKS / f"{entry.id}.json"
    data = _bytes(path)
    if _sha256(data) != entry.sha256:
        raise RecordError(f"{path} is not as it was frozen: its bytes have another hash", "freeze it again")
    return _parsed(path, data, FrozenTask)


def _loaded(folder: Path, seen: Observation) -> Observation:
    return seen.model_copy(update={"clean": load_shot(folder, seen.clean), "marked": load_shot(folder, seen.marked)})


def _parsed(path: Path, data: bytes, kind: type[_D]) -> _D:
    try:
        version = json.loads(data).get("version")
        if version != 1:
            raise RecordError(f"{path} is of version {version!r}, and this reads version 1", "update vision-agent")
        return kind.model_validate_json(data)
    except (ValidationError, ValueError, AttributeError) as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise RecordError(f"{path} cannot be read: {said}", "freeze it again") from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}", "freeze it again") from error


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

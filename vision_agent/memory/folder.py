"""The memory folder, which a person can read, edit and delete.

    <id>.json              one exemplar, editable; its name is its id
    pictures/<sha256>.jpg  small pictures, by the hash of their bytes
    index/                 a cache built from the files

Deleting an exemplar's file forgets it. A file that is not an exemplar is skipped with a warning and left unchanged.
Several processes may use one folder: a writer locks it, and each file appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows: there, only one process may write
    fcntl = None  # type: ignore[assignment]

from vision_agent.errors import RecordError, UsageError
from vision_agent.exemplars import Exemplar, PastTurn, Recalled, Standing
from vision_agent.memory.file import parse_exemplar, read_exemplar, serialize_exemplar
from vision_agent.memory.goal_words import parse
from vision_agent.memory.index import IndexEntry, MemoryIndex
from vision_agent.memory.page_features import count_kinds
from vision_agent.memory.rank import Ranked, Vote, rank, vote
from vision_agent.memory.verification import is_contradicted, verified_by
from vision_agent.observation import Kind, Observation, Shot
from vision_agent.record.run_files import names_in, read_file
from vision_agent.record.store import shot_name, write_whole
from vision_agent.text.urls import host_of
from vision_agent.types import Run, Task

PICTURES = "pictures"
_TRIES = 2
"""A damaged index is rebuilt, so a second try may succeed."""


class Listed(NamedTuple):
    """Every exemplar in the folder, with a warning for each other file."""

    entries: tuple[IndexEntry, ...]
    warnings: tuple[str, ...]


class MatchingExemplars(NamedTuple):
    """The exemplars similar to a task, best first, and the vote of the best three."""

    ranked: tuple[Ranked, ...]
    vote: Vote | None
    warnings: tuple[str, ...]


class MemoryFolder:
    """The exemplars in one folder, which is created when the first one is added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index = MemoryIndex(path)

    def recall(self, task: Task, observation: Observation) -> Recalled:
        """The exemplar whose kind of task won the vote, with its pictures; none if nothing is similar.

        A memory that cannot be read only gives a warning: an exemplar helps but is never required.
        """
        for _ in range(_TRIES):
            try:
                return self._recall(task, observation) if self.path.is_dir() else Recalled()
            except (OSError, sqlite3.Error, RecordError) as error:
                trouble = error
        return Recalled(warnings=(f"The memory {self.path} could not be read: {trouble}",))

    def _recall(self, task: Task, observation: Observation) -> Recalled:
        site = host_of(observation.url) or host_of(task.start_url or "")
        found = self.search(task.goal, site, count_kinds(observation))
        warnings = list(found.warnings)
        order = [each.entry.id for each in found.ranked]
        if found.vote:
            order = [*found.vote.agreed, *(id for id in order if id not in found.vote.agreed)]
        whys = {each.entry.id: each.why for each in found.ranked}
        for id in order:
            try:
                exemplar = self.show(id)
            except UsageError as error:  # edited or deleted since the index was made
                warnings.append(error.sentence)
                self._index.invalidate()
                continue
            agreed = f"{len(found.vote.agreed)} of the best {found.vote.voters} agree" if found.vote else ""
            return Recalled(exemplar=exemplar, why=f"{whys[id]}; {agreed}", warnings=tuple(dict.fromkeys(warnings)))
        return Recalled(warnings=tuple(dict.fromkeys(warnings)))

    def search(self, goal: str, site: str = "", kinds: Mapping[Kind, int] | None = None) -> MatchingExemplars:
        """The exemplars similar to this goal, on a page of this site with these numbers of marks per kind."""
        parsed = parse(goal)
        candidates, rarity = self._index.candidates(parsed, site)
        ranked = rank(parsed, site, kinds or {}, candidates, rarity)
        return MatchingExemplars(ranked, vote(ranked, rarity), self._index.faults())

    def list(self) -> Listed:
        """All exemplars, latest first."""
        return Listed(self._index.entries(), self._index.faults())

    def show(self, id: str) -> Exemplar:
        """The exemplar with this id and the pictures that can be loaded.

        Raises:
            UsageError: there is no such exemplar, or its file is damaged.
        """
        exemplar = self._read(id)
        return exemplar.model_copy(update={"turns": tuple(map(self._with_picture, exemplar.turns))})

    def add(self, exemplar: Exemplar) -> Path:
        """Stores the exemplar and returns its file. An exemplar learned again keeps its standing.

        Raises:
            RecordError: it could not be written.
            UsageError: a damaged file of that name exists, which is not overwritten.
        """
        with self._lock():
            path = self._file(exemplar.id)
            if path.exists():
                exemplar = exemplar.model_copy(update={"standing": self._read(exemplar.id).standing})
            self._make_pictures_folder()
            for turn in exemplar.turns:
                if turn.picture is not None and turn.picture.data is not None:
                    write_whole(self._picture(turn.picture), turn.picture.data)
            self._write(exemplar)
            self._sweep()
        return path

    def forget(self, id: str) -> Path:
        """Deletes an exemplar's file, even a damaged one, with the pictures that no other uses, and returns its path.

        Raises:
            UsageError: there is no such exemplar.
        """
        with self._lock(or_none=id):
            path = self._file(id)
            try:
                path.unlink()
            except FileNotFoundError:
                raise self._no_such(id) from None
            except OSError as error:
                raise UsageError(f"{path} cannot be deleted: {error.strerror}") from error
            self._sweep()
        return path

    def praise(self, id: str) -> Standing:
        """Counts one more success for an exemplar and returns its standing."""
        return self._judge(id, helped=1)

    def demote(self, id: str) -> Standing:
        """Counts one more failure, so that the exemplar ranks lower, and returns its standing."""
        return self._judge(id, failed=1)

    def learn_from(self, run: Run) -> None:
        """Counts whether what was recalled for a run helped: only a verified ending says that it did.

        What was edited away meanwhile has no standing.
        """
        if run.task.exemplar is None:
            return
        with suppress(UsageError, RecordError):
            if verified_by(run) != "unknown":
                self.praise(run.task.exemplar.id)
            elif is_contradicted(run):
                self.demote(run.task.exemplar.id)

    def learn_from_failed_replay(self, head: str) -> None:
        """Counts one failure for each exemplar of the run whose record has this head: it could not be replayed."""
        for path in sorted(self.path.glob("*.json")):
            with suppress(UsageError, RecordError, OSError):
                if head.encode() in read_exemplar(self.path, path.stem) and self._read(path.stem).head == head:
                    self.demote(path.stem)

    def _judge(self, id: str, *, helped: int = 0, failed: int = 0) -> Standing:
        with self._lock(or_none=id):
            exemplar = self._read(id)
            was = exemplar.standing
            standing = Standing(helped=was.helped + helped, failed=was.failed + failed)
            self._write(exemplar.model_copy(update={"standing": standing}))
        return standing

    # --- files --------------------------------------------------------------------------------------------------------

    def _file(self, id: str) -> Path:
        if Path(id).name != id or id.startswith("."):
            raise self._no_such(id)
        return self.path / f"{id}.json"

    def _no_such(self, id: str) -> UsageError:
        return UsageError(f"There is no exemplar {id!r} in {self.path}", "vision-agent memory list shows all exemplars")

    def _read(self, id: str) -> Exemplar:
        path = self._file(id)
        try:
            content = read_exemplar(self.path, id)
        except FileNotFoundError:
            raise self._no_such(id) from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        found = parse_exemplar(content, path)
        if isinstance(found, str):
            raise UsageError(found, "fix it, or delete it")
        return found

    def _write(self, exemplar: Exemplar) -> None:
        write_whole(self._file(exemplar.id), serialize_exemplar(exemplar), over=True)

    def _picture(self, shot: Shot) -> Path:
        return self.path / PICTURES / shot_name(shot)

    def _make_pictures_folder(self) -> None:
        folder = self.path / PICTURES
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            why = "it is a link" if folder.is_symlink() else ""
        except OSError as error:
            why = error.strerror or str(error)
        if why:
            raise RecordError(
                f"{folder} cannot be written: {why}", "move it away, or name another folder with --memory"
            )

    def _with_picture(self, turn: PastTurn) -> PastTurn:
        if turn.picture is None:
            return turn
        try:
            data = read_file(self.path, f"{PICTURES}/{shot_name(turn.picture)}")
        except OSError:
            return turn.model_copy(update={"picture": None})
        if hashlib.sha256(data).hexdigest() != turn.picture.sha256:
            return turn.model_copy(update={"picture": None})
        return turn.model_copy(update={"picture": turn.picture.model_copy(update={"data": data})})

    def _sweep(self) -> None:
        """Deletes the pictures that no file names, including those of exemplars that a person deleted."""
        self._index.invalidate()
        named = self._index.pictures()
        for path in (self.path / PICTURES / name for name in names_in(self.path, PICTURES)):
            if path.stem not in named:
                with suppress(OSError):  # deleted meanwhile, or a folder
                    path.unlink()

    @contextmanager
    def _lock(self, or_none: str | None = None) -> Iterator[None]:
        """Locks the folder against other writers, creating it if needed.

        With an id in `or_none`, a missing folder is not created but means that there is no such exemplar.
        """
        if or_none is not None and not self.path.is_dir():
            raise self._no_such(or_none)
        folder = -1
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if fcntl is not None:
                folder = os.open(self.path, os.O_RDONLY)
                fcntl.flock(folder, fcntl.LOCK_EX)
        except OSError as error:
            if folder >= 0:
                os.close(folder)
            raise RecordError(
                f"The memory {self.path} cannot be opened: {error.strerror}", "name another folder with --memory"
            ) from error
        try:
            yield
        finally:
            if folder >= 0:
                os.close(folder)

"""The memory: a folder one can read, edit and delete.

    <id>.json              one exemplar, as a person may edit it; its name is its id
    pictures/<sha256>.jpg  small pictures, by the hash of their bytes
    index/                 a cache, made of the files

Deleting an exemplar's file forgets it. A file that is no exemplar is left out, named, and left as it is. Several
processes may use one folder: whoever writes holds a lock on it, and each file appears whole or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows: whoever writes there does so alone
    fcntl = None  # type: ignore[assignment]

from vision_agent.errors import RecordError, UsageError
from vision_agent.memory.file import content_of, exemplar_in
from vision_agent.memory.goal import parse
from vision_agent.memory.index import Entry, Index
from vision_agent.memory.page import host_of, kinds_in
from vision_agent.memory.rank import Ranked, Vote, rank, vote
from vision_agent.record.store import shot_name, write_whole
from vision_agent.types import Exemplar, Kind, Observation, PastTurn, Recalled, Shot, Standing, Task

PICTURES = "pictures"
_TRIES = 2
"""An index that turns out to be damaged is made anew."""


class Listed(NamedTuple):
    """Every exemplar in the folder, and what else is there."""

    entries: tuple[Entry, ...]
    warnings: tuple[str, ...]


class Found(NamedTuple):
    """The exemplars that are like a task, the best first, and what the best three agreed on."""

    ranked: tuple[Ranked, ...]
    vote: Vote | None
    warnings: tuple[str, ...]


class MemoryFolder:
    """The exemplars in one folder. It is made when the first is added."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._index = Index(path)

    def recall(self, task: Task, observation: Observation) -> Recalled:
        """The exemplar whose kind of task won the vote, with its pictures; none where nothing is alike.

        A memory that cannot be asked is a warning: what worked before helps, and is never needed.
        """
        for _ in range(_TRIES):
            try:
                return self._recall(task, observation) if self.path.is_dir() else Recalled()
            except (OSError, sqlite3.Error, RecordError) as error:
                trouble = error
        return Recalled(warnings=(f"The memory {self.path} could not be asked: {trouble}",))

    def _recall(self, task: Task, observation: Observation) -> Recalled:
        site = host_of(observation.url) or host_of(task.start_url or "")
        found = self.search(task.goal, site, kinds_in(observation))
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
                self._index.walk_again()
                continue
            agreed = f"{len(found.vote.agreed)} of the best {found.vote.voters} agree" if found.vote else ""
            return Recalled(exemplar=exemplar, why=f"{whys[id]}; {agreed}", warnings=tuple(dict.fromkeys(warnings)))
        return Recalled(warnings=tuple(dict.fromkeys(warnings)))

    def search(self, goal: str, site: str = "", kinds: Mapping[Kind, int] | None = None) -> Found:
        """The exemplars that are like this goal, on a page of this site with so many marks of each kind."""
        asked = parse(goal)
        candidates, rarity = self._index.candidates(asked, site)
        ranked = rank(asked, site, kinds or {}, candidates, rarity)
        return Found(ranked, vote(ranked, rarity), self._index.faults())

    def list(self) -> Listed:
        """All of it, the latest first."""
        return Listed(self._index.entries(), self._index.faults())

    def show(self, id: str) -> Exemplar:
        """The exemplar with this id, its pictures with their bytes as far as they are there.

        Raises:
            UsageError: there is none, or its file is damaged.
        """
        exemplar = self._read(id)
        return exemplar.model_copy(update={"turns": tuple(map(self._with_picture, exemplar.turns))})

    def add(self, exemplar: Exemplar) -> Path:
        """The file that now holds the exemplar. What is known of its standing stays when it is learned again.

        Raises:
            RecordError: it could not be written.
            UsageError: a damaged file of that name is there, and is not written over.
        """
        with self._locked():
            path = self._file(exemplar.id)
            if path.exists():
                exemplar = exemplar.model_copy(update={"standing": self._read(exemplar.id).standing})
            (self.path / PICTURES).mkdir(exist_ok=True)
            for turn in exemplar.turns:
                if turn.picture is not None and turn.picture.data is not None:
                    write_whole(self._picture(turn.picture), turn.picture.data)
            self._write(exemplar)
            self._sweep()
        return path

    def forget(self, id: str) -> Path:
        """The file that was deleted, and with it the pictures that no other exemplar shows. A damaged file goes too.

        Raises:
            UsageError: there is none.
        """
        with self._locked(or_none=id):
            path = self._file(id)
            try:
                path.unlink()
            except FileNotFoundError:
                raise self._no_such(id) from None
            self._sweep()
        return path

    def praise(self, id: str) -> Standing:
        """The standing of an exemplar that helped once more."""
        return self._judge(id, helped=1)

    def demote(self, id: str) -> Standing:
        """The standing of an exemplar that failed once more: it is trusted less, and so ranks lower."""
        return self._judge(id, failed=1)

    def _judge(self, id: str, *, helped: int = 0, failed: int = 0) -> Standing:
        with self._locked(or_none=id):
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
        return UsageError(
            f"There is no exemplar {id!r} in {self.path}", "vision-agent memory list shows those there are"
        )

    def _read(self, id: str) -> Exemplar:
        path = self._file(id)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise self._no_such(id) from None
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        found = exemplar_in(content, path)
        if isinstance(found, str):
            raise UsageError(found, "mend it, or delete it")
        return found

    def _write(self, exemplar: Exemplar) -> None:
        write_whole(self._file(exemplar.id), content_of(exemplar), over=True)

    def _picture(self, shot: Shot) -> Path:
        return self.path / PICTURES / shot_name(shot)

    def _with_picture(self, turn: PastTurn) -> PastTurn:
        if turn.picture is None:
            return turn
        try:
            data = self._picture(turn.picture).read_bytes()
        except OSError:
            return turn.model_copy(update={"picture": None})
        if hashlib.sha256(data).hexdigest() != turn.picture.sha256:
            return turn.model_copy(update={"picture": None})
        return turn.model_copy(update={"picture": turn.picture.model_copy(update={"data": data})})

    def _sweep(self) -> None:
        """Delete the pictures that no file names, those of exemplars that a person deleted too."""
        self._index.walk_again()
        named = self._index.pictures()
        with contextlib.suppress(FileNotFoundError):
            for path in (self.path / PICTURES).iterdir():
                if path.stem not in named:
                    path.unlink(missing_ok=True)

    @contextmanager
    def _locked(self, or_none: str | None = None) -> Iterator[None]:
        """Nobody else writes meanwhile. With an id, a folder that is not there has no such exemplar."""
        if or_none is not None and not self.path.is_dir():
            raise self._no_such(or_none)
        folder = -1
        try:
            self.path.mkdir(parents=True, exist_ok=True)
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

"""The runs of a folder as the pages show them: found by key, filtered, glanced at, with small pictures.

If the folder is that of a batch, the runs of its rows are listed too. A run is named by a key that is computed from its
path, so no request holds a path. Folders are data that somebody else may have made: what is read of them is limited,
and what cannot be read is a sentence.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Generic, TypeVar

from vision_agent.errors import NoSuchRun, RecordError
from vision_agent.observation import Shot
from vision_agent.record.glance import MOST_OF_GLANCE, Glance, glance
from vision_agent.record.read import load_shot
from vision_agent.record.run_list import ListedRun, latest_first, listed_run, matching, row_run_folders, run_folders
from vision_agent.record.store import RUN, STEPS
from vision_agent.vision.thumbnail import thumbnail

_THUMBNAIL = 720
"""Width of a small picture, in pixels: of a card on a screen of two pixels per CSS pixel."""
_GOING = ("running", "unfinished")

_T = TypeVar("_T")


@dataclass(frozen=True)
class RunFilter:
    """Which runs are listed; empty fields take all."""

    text: str = ""
    status: str = ""
    host: str = ""
    model: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def is_open(self) -> bool:
        """Whether it takes all."""
        return self == RunFilter()


class _Cache(Generic[_T]):
    """The latest results of a function, by what they depend on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, _T] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The result for this key, made now if it is not kept."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


class Shelf:
    """The runs in one folder. Its methods read the disk, so call them in a thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._listed: _Cache[ListedRun] = _Cache(20_000)
        self._glances: _Cache[Glance] = _Cache(200)
        self._small: _Cache[bytes] = _Cache(400)

    def runs(self) -> tuple[ListedRun, ...]:
        """All runs, the latest first.

        Raises:
            UsageError: the folder cannot be read.
        """
        return self._listed_of(self._folders())

    def own_runs(self) -> tuple[ListedRun, ...]:
        """The same without the runs of rows, whose results name them.

        Raises:
            UsageError: the folder cannot be read.
        """
        return self._listed_of(run_folders(self.folder))

    def _listed_of(self, folders: Iterable[Path]) -> tuple[ListedRun, ...]:
        found = []
        for folder in folders:
            try:
                found.append(self.listed(folder))
            except OSError:
                continue  # deleted meanwhile
        return tuple(latest_first(found))

    def listed(self, folder: Path) -> ListedRun:
        """What the list says of one run.

        Raises:
            OSError: the folder is gone.
        """
        state = _state_of(folder)
        run = self._listed.get((folder, state), lambda: listed_run(folder))
        # Whether a run is going is told by a lock, which changes no file.
        return listed_run(folder) if run.status in _GOING else run

    def folder_of(self, key: str) -> Path:
        """The run folder with this key.

        Raises:
            NoSuchRun: there is none any more.
        """
        found = next((folder for folder in self._folders() if key_of(folder) == key), None)
        if found is None:
            raise NoSuchRun("This run is not there any more: its folder was deleted or moved")
        return found

    def glance(self, folder: Path) -> Glance:
        """The run in a folder at a glance, as it is now.

        Raises:
            RecordError: it cannot be read, or is too large.
        """
        return self._glances.get((folder, _state_of(folder)), lambda: glance(folder))

    def shot(self, folder: Path, sha256: str) -> Shot:
        """A picture of a run, with its bytes.

        Raises:
            RecordError: the run has no such picture, or its file is missing or was changed.
        """
        known = self.glance(folder)
        shots = [known.end, *(shot for step in known.steps for shot in (step.clean, step.marked))]
        found = next((shot for shot in shots if shot is not None and shot.sha256 == sha256), None)
        if found is None:
            raise RecordError("The run has no such picture")
        return load_shot(folder, found)

    def small_shot(self, folder: Path, sha256: str) -> bytes:
        """The same as a small JPEG.

        Raises:
            RecordError: as for `shot`.
            UsageError: it cannot be decoded.
        """
        made = lambda: thumbnail(self.shot(folder, sha256).data or b"", _THUMBNAIL)  # noqa: E731
        return self._small.get((folder, sha256), made)

    def require_small(self, folder: Path) -> None:
        """Checks that the record is one that a page may be made of.

        Raises:
            RecordError: it is larger than what is glanced at, or gone.
        """
        try:
            size = (folder / STEPS).stat().st_size
        except OSError as error:
            raise RecordError("The record of this run cannot be read: it is gone") from error
        if size > MOST_OF_GLANCE:
            raise RecordError(
                f"The record of this run has {size >> 20} MB, and at most {MOST_OF_GLANCE >> 20} are shown"
            )

    def _folders(self) -> list[Path]:
        return [*run_folders(self.folder), *row_run_folders(self.folder)]


def key_of(folder: Path) -> str:
    """What a request names a run by."""
    return hashlib.sha256(os.fsencode(folder.absolute())).hexdigest()[:20]


def filtered(runs: Iterable[ListedRun], wanted: RunFilter) -> tuple[ListedRun, ...]:
    """Those that the filter takes.

    Raises:
        UsageError: there is no such status.
    """
    before = _midnight(wanted.until + timedelta(days=1)) if wanted.until is not None else None
    since = _midnight(wanted.since) if wanted.since is not None else None
    return tuple(
        run
        for run in matching(tuple(runs), status=wanted.status, text=wanted.text, before=before)
        if wanted.host in ("", run.host)
        and wanted.model in ("", run.model)
        and (since is None or run.started_at >= since)
    )


def older_than(runs: Iterable[ListedRun], days: int, now: datetime) -> tuple[ListedRun, ...]:
    """Those that were started longer ago than so many days and are not going any more."""
    before = now - timedelta(days=days)
    return tuple(run for run in runs if run.started_at < before and run.status != "running")


def size_of(folder: Path) -> tuple[int, int]:
    """How many files a run folder has, and their bytes; links count as they are."""
    files = total = 0
    for at, _below, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(Path(at) / name).st_size
            except OSError:
                continue
            files += 1
    return files, total


def _midnight(day: date) -> datetime:
    """When a day of this machine's time zone begins."""
    return datetime.combine(day, time()).astimezone().astimezone(UTC)


def _state_of(folder: Path) -> tuple[object, ...]:
    """What changes when a record does."""
    return tuple(_file_state(folder / name) for name in (RUN, STEPS))


def _file_state(path: Path) -> tuple[int, int, int] | None:
    try:
        state = path.lstat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino

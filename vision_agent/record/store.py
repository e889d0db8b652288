"""Writes the run folder so that it survives a crash and shows later changes.

    run.json                the run without its steps: task, provenance, start time
    steps.jsonl             one event per line
    shots/<sha256>.png      the pictures, by the hash of their bytes
    requests/<sha256>.json  the requests to the model, redacted
    downloads/              downloads, under their own names; the steps have their hashes
    report.html             the report, written when the run ends

A line carries its number `n` (the first is 1), the time `at`, and `prev`: the sha256 of the exact bytes of the
previous line, including its newline. The first line's `prev` is the sha256 of run.json. So the hash of the last line,
the *head*, covers the whole record: with it, anybody can tell whether lines were changed or removed.

This module does not know how a folder is read, and does not write the report.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeGuard

from vision_agent.errors import RecordError, UsageError
from vision_agent.events import Event, LastLook, Observed, Reminded, Started
from vision_agent.observation import Shot
from vision_agent.ports import Redact
from vision_agent.record.redact import is_free, redact_json, redact_model
from vision_agent.types import Run

RUN = "run.json"
STEPS = "steps.jsonl"
SHOTS = "shots"
DOWNLOADS = "downloads"
REQUESTS = "requests"
_LOCK = ".lock"


def new_run_id(now: datetime) -> str:
    """A unique name for a run that sorts by time, such as `20260131-142233-9f3a1c`."""
    return f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def is_run_id(text: object) -> TypeGuard[str]:
    """Whether a text can name a run, and so a file or folder anywhere: short, without separators, not hidden."""
    return isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", text) is not None


def shot_name(shot: Shot) -> str:
    """The file name of a picture inside `shots`."""
    return f"{shot.sha256}.{ {'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp'}[shot.media_type] }"


class RunFolder:
    """One run on disk, open for writing. Each method returns when its data is safe on disk, or raises `RecordError`."""

    def __init__(
        self, path: Path, lines: int, redact: Redact, now: Callable[[], datetime], shared: Path | None = None
    ) -> None:
        self.path = path
        self._shared = shared
        self._lines = lines
        self._redact = redact
        self._now = now
        self._count = 0
        self._size = 0
        self._head: str | None = None
        self.torn_bytes = 0
        """The length of an unfinished last line found by `reopen`; the next line replaces it."""

    @classmethod
    def create(
        cls,
        runs: Path,
        run_id: str,
        redact: Redact,
        *,
        shared: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Self:
        """Creates the empty folder `runs/<run_id>`.

        Args:
            shared: a folder of pictures that several runs of the same pages share; see `_share`.

        Raises:
            UsageError: the folder cannot be created, or already exists.
            RecordError: the disk is full.
        """
        if not is_run_id(run_id):
            hint = "use at most 200 letters, digits, '.', '-' and '_'"
            raise UsageError(f"{run_id[:200]!r} is not a valid run folder name", hint)
        path = runs.absolute() / run_id
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            for folder in (path, path / SHOTS, path / REQUESTS):
                folder.mkdir(mode=0o700)
            lines = os.open(path / STEPS, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
            _lock(lines)
            for folder in (path, path.parent):
                _sync_folder(folder)
        except FileExistsError as error:
            raise UsageError(
                f"The run folder {path} cannot be created: {error.filename} already exists",
                "give the run another --name, or delete that one",
            ) from error
        except OSError as error:
            if error.errno in _FULL:
                raise _record_error(f"create the run folder {path}", error) from error
            raise UsageError(
                f"The run folder {path} cannot be created: {_reason(error)}", "name another folder with --runs"
            ) from error
        return cls(path, lines, redact, now, shared)

    @classmethod
    def reopen(cls, path: Path, redact: Redact, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> Self:
        """Opens the folder of a stopped run for appending after its last complete line, locked for this process.

        It does not verify the lines; `check_chain` does.

        Raises:
            UsageError: another process is writing to the folder.
            RecordError: the folder cannot be written.
        """
        path = path.absolute()
        for name in (STEPS, RUN, SHOTS, REQUESTS, DOWNLOADS):
            if (path / name).is_symlink():
                raise RecordError(f"{path / name} is a link, and links in a run folder are not followed")
        try:
            lines = os.open(path / STEPS, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise _record_error(f"open {path / STEPS}", error) from error
        try:
            _lock(lines)
            *complete, torn = (path / STEPS).read_bytes().split(b"\n")
            about = (path / RUN).read_bytes()
        except BlockingIOError as error:
            os.close(lines)
            raise UsageError(f"The run in {path} is still going", "wait until it ends, or stop it") from error
        except OSError as error:
            os.close(lines)
            raise _record_error(f"read {path}", error) from error
        folder = cls(path, lines, redact, now)
        folder.torn_bytes = len(torn)
        folder._count = len(complete)
        folder._size = sum(len(line) + 1 for line in complete)
        folder._head = hashlib.sha256(complete[-1] + b"\n" if complete else about).hexdigest()
        return folder

    @property
    def head(self) -> str:
        """The hash that covers everything written so far; empty before the run has started."""
        return self._head or ""

    def keep(self, shot: Shot) -> None:
        """Stores the picture under its hash, unless it is already there."""
        path = self.path / SHOTS / shot_name(shot)
        if shot.data is None:
            if path.exists():
                return
            raise RecordError(f"The picture {shot.sha256[:12]} cannot be stored: its bytes were not loaded")
        if hashlib.sha256(shot.data).hexdigest() != shot.sha256:
            raise RecordError(f"The picture {shot.sha256[:12]} cannot be stored: its bytes do not match its hash")
        if self._shared is None:
            write_whole(path, shot.data)
        else:
            _share(path, shot.data, self._shared)

    def keep_request(self, request: bytes) -> str:
        """Stores a request to the model, redacted again, and returns the hash of the stored bytes."""
        kept = redact_request(request, self._redact)
        sha256 = hashlib.sha256(kept).hexdigest()
        write_whole(self.path / REQUESTS / f"{sha256}.json", kept)
        return sha256

    def write(self, event: Event) -> None:
        """Appends one event after storing the pictures it names; returns when it is safe on disk."""
        content = redact_model(event, self._redact)
        match event:
            case Started():
                self._start(event.run, content)
                content = {"event": "started"}
            case Observed() | LastLook():
                if event.observation is not None:
                    self.keep(event.observation.clean)
                    self.keep(event.observation.marked)
            case Reminded():
                for turn in event.exemplar.turns:
                    if turn.picture is not None:
                        self.keep(turn.picture)
        if self._head is None:
            raise RecordError(f"The event {event.event!r} cannot be recorded in {self.path}: the run has not started")
        number = self._count + 1
        line = _json({"n": number, "at": self._now().isoformat(), "prev": self._head, **content}) + b"\n"
        self._append(line)
        self._count, self._size, self._head = number, self._size + len(line), hashlib.sha256(line).hexdigest()

    def discard(self) -> None:
        """Closes and removes the folder of a run that has not started.

        Raises:
            RecordError: something is recorded in it.
        """
        if self._head is not None:
            raise RecordError(f"The run in {self.path} has started and is not removed")
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def close(self) -> None:
        """Closes the file; nothing can be written afterwards."""
        if self._lines >= 0:
            os.close(self._lines)
            self._lines = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self, run: Run, content: dict[str, object]) -> None:
        if self._head is not None:
            raise RecordError(f"The run in {self.path} has already started")
        for picture in run.task.pictures:
            self.keep(picture.shot)
        about = content["run"]
        assert isinstance(about, dict)
        written = _json({name: value for name, value in about.items() if name not in ("steps", "ending")}, indent=2)
        write_whole(self.path / RUN, written, over=True)
        self._head = hashlib.sha256(written).hexdigest()

    def _append(self, line: bytes) -> None:
        """Writes the whole line in one call, then syncs.

        A partial write is truncated, so that the record still ends with a complete line; no caller was told that the
        line exists. The same happens to a line whose writing was interrupted before it was counted.
        """
        try:
            if os.fstat(self._lines).st_size != self._size:
                os.ftruncate(self._lines, self._size)
            written = os.write(self._lines, line)
            if written < len(line):
                raise OSError(errno.ENOSPC, f"only {written} of {len(line)} bytes were taken")
            os.fsync(self._lines)
        except OSError as error:
            with contextlib.suppress(OSError):  # report the first error; readers skip a torn line
                os.ftruncate(self._lines, self._size)
            raise _record_error(f"append line {self._count + 1} to {self.path / STEPS}", error) from error


class RunInMemory:
    """A recorder that keeps everything in memory. It does not redact, because nothing leaves it."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.shots: dict[str, bytes] = {}
        self.requests: dict[str, bytes] = {}

    def keep(self, shot: Shot) -> None:
        """Stores the picture's bytes under its hash."""
        if shot.data is not None:
            self.shots[shot.sha256] = shot.data

    def keep_request(self, request: bytes) -> str:
        """Stores the request and returns its hash."""
        sha256 = hashlib.sha256(request).hexdigest()
        self.requests[sha256] = request
        return sha256

    def write(self, event: Event) -> None:
        """Stores the event."""
        self.events.append(event)


def redact_request(request: bytes, redact: Redact) -> bytes:
    """The request without secrets; the same bytes if it holds none."""
    text = request.decode("utf-8", "replace")
    try:
        before = json.loads(text)
    except ValueError:
        after = redact(text)
        return request if after == text else after.encode()
    return request if is_free(before, redact) else _json(redact_json(before, redact))


def _json(value: object, indent: int | None = None) -> bytes:
    separators = (",", ": ") if indent else (",", ":")
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators).encode()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Locks a folder of many runs against other processes until the block ends, and creates it first.

    Raises:
        UsageError: another process is writing to it, or it cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / _LOCK).open("w")
    except OSError as error:
        raise UsageError(
            f"The folder {folder} cannot be used: {error.strerror}", "name another folder with --out"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"Another process is writing to {folder}", "wait until it ends, or name another --out"
            ) from error
        except OSError:
            pass  # the file system has no locks
        yield


def write_whole(path: Path, data: bytes, *, over: bool = False, otherwise: str = "the run stopped here") -> None:
    """Writes a file of a run completely or not at all: it gets its name only once its bytes are on disk.

    Args:
        over: whether to replace an existing file. Otherwise it stays, since its name is usually its content's hash.
        otherwise: what it means that the file cannot be written.

    Raises:
        RecordError: the file cannot be written.
    """
    if path.exists() and not over:
        return
    try:
        write_private(path, data, is_synced=True)
    except OSError as error:
        raise _record_error(f"write {path}", error, otherwise) from error


def write_private(path: Path, data: bytes, *, is_synced: bool = False) -> None:
    """Writes a file that only its owner may read, from the moment it exists; it replaces what has its name.

    Args:
        is_synced: whether to return only once the bytes are on disk.

    Raises:
        OSError: the file cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)  # left by a process that was killed, or a link
        how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with os.fdopen(os.open(part, how, 0o600), "wb") as file:
            file.write(data)
            if is_synced:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
        if is_synced:
            _sync_folder(path.parent)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def _share(path: Path, data: bytes, shared: Path) -> None:
    """Stores the picture as a hard link to the file in `shared`, or as a file of its own where links are impossible.

    The run folder stays self-contained: it can be moved, copied and verified, and `shared` may be deleted at any time.
    This package never writes into an existing picture, so linked files do not change. If somebody edits one in place,
    it changes in every run that links to it, and `verify` reports it in each; later runs store a fresh file.
    """
    known = shared / path.name
    with contextlib.suppress(OSError):  # the file is not there yet, or the file system allows no more links to it
        if known.read_bytes() == data:
            os.link(known, path)
            _sync_folder(path.parent)
            return
    write_whole(path, data)
    with contextlib.suppress(OSError):
        shared.mkdir(mode=0o700, exist_ok=True)
        known.unlink(missing_ok=True)
        os.link(path, known)


def _lock(lines: int) -> None:
    """Locks the file for this process, if the file system supports locks.

    Raises:
        BlockingIOError: another process holds the lock.
    """
    try:
        fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        pass


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _record_error(doing: str, error: OSError, otherwise: str = "the run stopped here") -> RecordError:
    hint = {
        errno.EROFS: "the file system is read-only; choose another folder",
        errno.EACCES: "the folder's permissions were changed; choose another folder",
        errno.ENOENT: "the run folder was moved or deleted during the run",
        errno.EBADF: "the record was already closed",
    }
    help_ = "free disk space or choose another folder" if error.errno in _FULL else hint.get(error.errno or 0, "")
    return RecordError(f"Could not {doing}: {_reason(error)}; {otherwise}", help_)

"""Reads files of a folder that somebody else may have made, a run or a memory: only plain files, and only up to a size.

No link is followed below the folder, no pipe or device is opened for long, and JSON is nested at most 200 deep. It does
not know what the files mean.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from pydantic_core import from_json

from vision_agent.errors import RecordError
from vision_agent.text.escape import printable_line

MOST_OF_RECORD = 512 << 20
"""The largest record that is read, in bytes; a run of 100 steps has a few MB."""
MOST_OF_LINE = 32 << 20
"""The longest line of a record that is read, in bytes; an observation of 800 marks has less than 1 MB."""
MOST_OF_FILE = 64 << 20
"""The largest other file that is read into memory, in bytes, such as a picture or a request."""
_CHUNK = 1 << 20
_IMPOSSIBLE = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What working with a value of the right type and an impossible size or combination raises."""


def read_file(folder: Path, name: str, most: int = MOST_OF_FILE) -> bytes:
    """The content of a file in a run folder; `name` is its path there.

    Raises:
        OSError: it is missing, is not a plain file in the folder, or has more than `most` bytes.
    """
    with open_file(folder, name) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise OSError(errno.EFBIG, f"it has {size} bytes, and at most {most} are read")
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes")
    return content


def read_last_line(folder: Path, name: str, most: int) -> bytes:
    """The last complete line of a file in a run folder, with its newline; empty if there is none.

    Raises:
        OSError: the file is missing, is not a plain file in the folder, or the line has more than `most` bytes.
    """
    with open_file(folder, name) as file:
        at = os.fstat(file.fileno()).st_size
        tail = b""
        while at > 0 and tail.count(b"\n") < 2:
            if len(tail) > most:
                raise OSError(errno.EFBIG, f"its last line has more than {most} bytes")
            size = min(_CHUNK, at)
            at -= size
            file.seek(at)
            tail = file.read(size) + tail
    complete, newline, _torn = tail.rpartition(b"\n")
    return complete.rpartition(b"\n")[2] + newline


def hash_file(folder: Path, name: str, size: int) -> str:
    """The sha256 of a file that should have `size` bytes; empty if it has another size.

    Raises:
        OSError: it is missing, or is not a plain file in the folder.
    """
    with open_file(folder, name) as file:
        if os.fstat(file.fileno()).st_size != size:
            return ""
        digest = hashlib.sha256()
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def open_file(folder: Path, name: str) -> Iterator[BinaryIO]:
    """A plain file in a run folder, open for reading.

    Raises:
        OSError: it is missing, or is not a plain file in the folder.
    """
    *above, last = PurePosixPath(name).parts or ("",)
    if name.startswith("/") or "\0" in name or ".." in above or last in ("", ".."):
        raise OSError(errno.EINVAL, "it would be outside the run folder")
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = below
        # Without O_NONBLOCK a pipe would wait for somebody to write.
        file = os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, and links here are not followed") from error
        raise
    finally:
        os.close(at)
    with os.fdopen(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        yield opened


def names_in(folder: Path, name: str) -> list[str]:
    """The names in a subfolder of a run folder, sorted; none if there is no such folder, or it is a link."""
    path = folder / name
    return sorted(each.name for each in path.iterdir()) if path.is_dir() and not path.is_symlink() else []


def parse_json(raw: bytes) -> Any:
    """The value of a JSON text, as strict as records are written: no NaN, no infinity.

    Raises:
        ValueError: it is not JSON, or is nested more than 200 deep.
    """
    return from_json(raw, allow_inf_nan=False)


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Inside the `with` block, values of a record that cannot be worked with end in one sentence.

    A value may be of the right type and still be impossible, such as a duration of 1e300 seconds.

    Raises:
        RecordError: something in the block could not be done with the values of this record.
    """
    try:
        yield
    except _IMPOSSIBLE as error:
        why = printable_line((str(error).splitlines() or [""])[0][:200]) or type(error).__name__
        raise RecordError(f"The record in {folder} has impossible values: {why}", "was it changed?") from error

"""The ZIP of a golden session: which files of a run folder are in it, and its limits when it is unpacked."""

from __future__ import annotations

import io
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from vision_agent.errors import RecordError, UsageError
from vision_agent.record.read import first_line
from vision_agent.record.run_files import MOST_OF_FILE, MOST_OF_RECORD, names_in, open_file, parse_json, read_file
from vision_agent.record.store import DOWNLOADS, REQUESTS, RUN, SHOTS, STEPS, is_run_id, write_private
from vision_agent.text.escape import printable_line

ORIGINALS = "cere"
"""The subfolder of a run folder that holds another tool's original files."""
RECORD = "record"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in the archive, so that the same run gives the same bytes."""
_MOST_BYTES = 2 << 30
_MOST_FILES = 100_000
_MOST_EXPANDED = 200
"""How many times its packed size an archive of more than `_SMALL_BYTES` may expand to; text and pictures reach 20."""
_SMALL_BYTES = 32 << 20
_MOST_OF_DOWNLOADS = 256 << 20
"""Bytes of all downloads that an archive holds."""
_IN_ARCHIVE = re.compile(
    rf"{RECORD}/(?:{RUN}|{STEPS}|(?:{SHOTS}|{REQUESTS})/[0-9a-f]{{64}}\.[a-z]+|{ORIGINALS}/[a-z]+\d*\.json"
    rf"|{DOWNLOADS}/(?!\.)[\w.-]{{1,120}})"
)
"""The files of a run folder that an archive holds; nothing else in an archive is ever written to disk."""
Accept = Callable[[zipfile.ZipFile, Path], None]
"""Checks the run that was unpacked from an archive to a folder; raises to reject it."""


def pack(files: Mapping[str, bytes]) -> bytes:
    """The archive of these files, by name; the same files give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # Stored, a download can never look like an archive that expands beyond measure.
            how = zipfile.ZIP_STORED if name.startswith(f"{RECORD}/{DOWNLOADS}/") else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, how)
    return packed.getvalue()


def record_names(folder: Path) -> list[str]:
    """The files of a run folder that its archive holds."""
    below = [f"{name}/{each}" for name in (ORIGINALS, REQUESTS, SHOTS) for each in names_in(folder, name)]
    names = (RUN, STEPS, *below, *_downloads(folder))
    return sorted(name for name in names if _IN_ARCHIVE.fullmatch(f"{RECORD}/{name}"))


def _downloads(folder: Path) -> Iterator[str]:
    """The downloads that an archive holds: plain files, as long as they are not too large."""
    whole = 0
    for each in names_in(folder, DOWNLOADS):
        try:
            with open_file(folder, f"{DOWNLOADS}/{each}") as file:
                size = os.fstat(file.fileno()).st_size
        except OSError:
            continue  # `verify` says so
        if size <= MOST_OF_FILE and whole + size <= _MOST_OF_DOWNLOADS:
            whole += size
            yield f"{DOWNLOADS}/{each}"


def record_file(folder: Path, name: str) -> bytes:
    """The content of a file in a run folder.

    Raises:
        RecordError: it cannot be read.
    """
    try:
        return read_file(folder, name, MOST_OF_RECORD if name == STEPS else MOST_OF_FILE)
    except OSError as error:
        raise RecordError(f"{folder / name} cannot be read: {error.strerror}") from error


def require_plain(archive: zipfile.ZipFile, file: Path) -> None:
    """Checks that the archive expands to a plausible size, that all tools read the same in it, and that it is whole.

    Raises:
        RecordError: one of these does not hold.
    """
    files = archive.infolist()
    whole, packed = sum(each.file_size for each in files), max(1, file.stat().st_size)
    if whole > _MOST_BYTES:
        raise RecordError(f"{file} contains more than {_MOST_BYTES >> 30} GiB and was not unpacked")
    if len(files) > _MOST_FILES:
        raise RecordError(f"{file} contains {len(files)} files and was not unpacked; the limit is {_MOST_FILES}")
    if whole > _SMALL_BYTES and whole > _MOST_EXPANDED * packed:
        raise RecordError(f"{file} would expand to {whole // packed} times its size and was not unpacked")
    seen: set[str] = set()
    for each in files:
        name = printable_line(each.filename)[:100]
        if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise RecordError(f"{file} is not a .cere file: {name} is packed in an unusual way")
        if each.filename in seen:
            raise RecordError(f"{file} contains {name} twice, and tools differ in which one they read")
        seen.add(each.filename)
        most = MOST_OF_RECORD if each.filename.endswith(STEPS) else MOST_OF_FILE
        if each.file_size > most:
            raise RecordError(f"{file} was not unpacked: {name} has {each.file_size} bytes; the limit is {most}")
    for each in files:
        try:
            with archive.open(each) as content:
                while content.read(1 << 20):
                    pass
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            name = printable_line(each.filename)
            raise RecordError(f"{file} is damaged: {name} cannot be unpacked", "ask for the file again") from error


def unpack(archive: zipfile.ZipFile, file: Path, runs: Path, accept: Accept) -> Path:
    """Unpacks the run folder in the archive into `runs`, and returns it.

    Raises:
        RecordError: the archive does not name its run.
        UsageError: the run already exists there.
    """
    try:
        about = parse_json(archive.read(f"{RECORD}/{RUN}"))
    except ValueError as error:
        raise RecordError(f"{file} does not name its run: {first_line(error)}") from error
    name = about.get("id") if isinstance(about, dict) else None
    if not is_run_id(name):
        raise RecordError(f"{file} does not name its run, or its id cannot be the name of a folder")
    folder = runs / name
    if folder.exists():
        raise UsageError(f"The run {name} already exists in {runs}", "name another folder with --runs")
    runs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs, prefix=".import-") as temporary:
        unpacked = Path(temporary) / name
        unpacked.mkdir(mode=0o700)
        for each in archive.namelist():
            if _IN_ARCHIVE.fullmatch(each):
                path = unpacked / each.removeprefix(f"{RECORD}/")
                path.parent.mkdir(mode=0o700, exist_ok=True)
                write_private(path, archive.read(each))
        accept(archive, unpacked)
        unpacked.rename(folder)
    return folder

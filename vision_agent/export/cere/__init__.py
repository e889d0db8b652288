"""Exports a run as a golden session, one `.cere` file, and imports such a file as a run folder.

    goal.json            {"goal": …}
    action0.json …       one per action: the page before it, the action, its outcome
    manifest.json        an addition: the format's version, the writer, the run's id and head
    record/…             an addition: the run folder, byte for byte, without downloads of more than 64 MiB

Other tools read the first two and ignore the rest. A file with only those two is read as well: see `import_session`.
"""

from __future__ import annotations

import tempfile
import zipfile
from importlib import metadata
from pathlib import Path

from vision_agent.errors import RecordError, UsageError
from vision_agent.export.cere.action_files import action_files, as_json
from vision_agent.export.cere.archive import RECORD, Accept, pack, record_file, record_names, require_plain, unpack
from vision_agent.export.cere.faults import archive_faults
from vision_agent.export.cere.import_session import import_session
from vision_agent.record.read import read
from vision_agent.record.run_files import reading
from vision_agent.record.store import RUN, write_private
from vision_agent.record.verify import Fault, Verified, verify

_VERSION = 1


def write_cere(folder: Path, to: Path) -> Path:
    """Writes the run as one file and returns its path; the same run gives the same bytes.

    Raises:
        RecordError: the record fails verification or cannot be read.
        UsageError: the file cannot be written.
    """
    found = verify(folder)
    if not found.chain.holds:
        raise RecordError(f"{folder} cannot be exported: {found.faults[0].sentence}")
    run = read(folder)
    manifest = {
        "format": "cere",
        "version": _VERSION,
        "made_by": f"vision-agent {metadata.version('vision-agent')}",
        "run": run.id,
        "head": found.chain.head,
    }
    parts = action_files(folder, run)
    files = {"goal.json": parts.pop("goal.json"), "manifest.json": as_json(manifest), **parts}
    for name in record_names(folder):
        files[f"{RECORD}/{name}"] = record_file(folder, name)
    try:
        write_private(to, pack(files))
    except OSError as error:
        raise UsageError(f"{to} cannot be written: {error.strerror}", "name another file with --out") from error
    return to


def read_cere(file: Path, runs: Path) -> Path:
    """Unpacks a `.cere` file into a run folder in `runs`, and returns the folder. The run may have been interrupted.

    Raises:
        RecordError: it is not a `.cere` file, it is damaged, or it fails verification.
        UsageError: the run already exists there, or its folder cannot be created.
    """

    def require_verified(archive: zipfile.ZipFile, folder: Path) -> None:
        if change := _verify_unpacked(archive, file, folder).first_change:
            raise RecordError(f"{file} fails verification: {change}")
        read(folder)

    return _read(file, runs, require_verified)


def verify_cere(file: Path, head: str | None = None) -> Verified:
    """Verifies the run in a `.cere` file, and that what other tools read in it follows from its record.

    Raises:
        RecordError: it is not a `.cere` file, or it is damaged.
        UsageError: `head` cannot be the head of a record.
    """
    with tempfile.TemporaryDirectory() as runs:
        folder = _read(file, Path(runs), lambda *_: None)
        with zipfile.ZipFile(file) as archive:
            return _verify_unpacked(archive, file, folder, head)


def _read(file: Path, runs: Path, accept: Accept) -> Path:
    try:
        with zipfile.ZipFile(file) as archive:
            require_plain(archive, file)
            if f"{RECORD}/{RUN}" in archive.namelist():
                return unpack(archive, file, runs, accept)
            return import_session(archive, file, runs)
    except FileNotFoundError as error:
        raise RecordError(f"There is no file {file}") from error
    except (OSError, zipfile.BadZipFile, RuntimeError) as error:  # an encrypted archive raises RuntimeError
        why = "" if str(error) == "File is not a zip file" else f": {error}"
        raise RecordError(f"{file} is not a .cere file{why}", "a .cere file is a ZIP with goal.json in it") from error


def _verify_unpacked(archive: zipfile.ZipFile, file: Path, folder: Path, head: str | None = None) -> Verified:
    """The result of verifying an archive that was unpacked to a folder."""
    found = verify(folder, head, may_lack_downloads=True)
    notes, faults = found.notes, list(found.faults)
    with reading(file):
        if f"{RECORD}/{RUN}" not in archive.namelist():
            notes = (*notes, "It has no record, so nothing shows whether it was changed.")
        elif found.chain.holds:
            faults += [Fault(line=0, sentence=each) for each in archive_faults(archive, folder, found.chain.head)]
    return found.model_copy(update={"folder": str(file), "faults": tuple(faults), "notes": notes})

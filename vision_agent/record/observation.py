"""Writes one observation to a folder: both pictures, the marks as JSON, and the listing."""

from __future__ import annotations

from pathlib import Path

from vision_agent.errors import UsageError
from vision_agent.observation import Observation, Shot
from vision_agent.record.store import write_private

_ENDINGS = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}


def write_observation(observation: Observation, folder: Path) -> dict[str, Path]:
    """Writes the observation and returns the files by name: clean, marked, marks, listing.

    Raises:
        UsageError: the folder cannot be written, or a picture was loaded without its bytes.
    """
    files = {
        "clean": (f"clean.{_ENDINGS[observation.clean.media_type]}", _shot_bytes(observation.clean)),
        "marked": (f"marked.{_ENDINGS[observation.marked.media_type]}", _shot_bytes(observation.marked)),
        "marks": ("marks.json", observation.model_dump_json(indent=1, exclude={"listing"}).encode()),
        "listing": ("listing.txt", (observation.listing + "\n").encode()),
    }
    written = {}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for what, (name, content) in files.items():
            written[what] = folder / name
            write_private(written[what], content)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}", "name another folder with --out") from error
    return written


def _shot_bytes(shot: Shot) -> bytes:
    if shot.data is None:
        raise UsageError(f"The picture {shot.sha256[:12]} was not loaded", "load it from its run folder first")
    return shot.data

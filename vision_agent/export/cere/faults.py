"""What in a golden session does not follow from the record in it."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import ImageChops

from vision_agent.actions import Custom
from vision_agent.errors import RecordError
from vision_agent.export.cere.action_files import CereStep, action_files, as_json, decode_picture, original_files
from vision_agent.export.cere.archive import ORIGINALS, RECORD, record_names
from vision_agent.record.read import read
from vision_agent.record.run_files import parse_json
from vision_agent.text.escape import printable_line
from vision_agent.types import Run

_ALIKE = 24
"""How many tones of 255 a pixel may differ in a picture of the same page by another version of the encoder."""


def archive_faults(archive: zipfile.ZipFile, folder: Path, head: str) -> Iterator[str]:
    """What is wrong with the parts of the archive: each must follow from its record, whose hash chain is intact."""
    try:
        run = read(folder)
        expected = action_files(folder, run)
    except RecordError:
        return  # `verify` has named what cannot be read
    known = {"manifest.json", *(f"{RECORD}/{name}" for name in record_names(folder))}
    for name in archive.namelist():
        if name in expected:
            content = archive.read(name)
            if content != expected[name] and not _is_same_action(content, expected[name]):
                yield f"{name} differs from the record"
        elif name not in known:
            yield f"{printable_line(name)[:100]} is not in the record"
    yield from (f"{name} is missing" for name in expected if name not in archive.namelist())
    yield from _manifest_faults(archive, run, head)
    yield from _original_faults(folder, run)


def _manifest_faults(archive: zipfile.ZipFile, run: Run, head: str) -> Iterator[str]:
    try:
        manifest = parse_json(archive.read("manifest.json"))
    except (KeyError, ValueError):
        yield "manifest.json is missing or cannot be read"
        return
    given = {name: manifest.get(name) for name in ("run", "head")} if isinstance(manifest, dict) else {}
    if given != {"run": run.id, "head": head}:
        yield "manifest.json names another run or another head"


def _original_faults(folder: Path, run: Run) -> Iterator[str]:
    """The original files of another tool, kept in the run folder, that differ from the steps made from them."""
    originals = original_files(folder)
    steps = {f"action{step.index - 1}.json": step for step in run.steps} if originals else {}
    for name in sorted(originals.keys() | steps.keys()):
        step = steps.get(name)
        try:
            one = CereStep.model_validate_json(originals[name])
            picture = base64.b64decode(one.state.screenshot_viewport or one.state.screenshot_full, validate=True)
        except (KeyError, ValueError):
            yield f"{RECORD}/{ORIGINALS}/{name} is missing or cannot be read"
            continue
        act = Custom(name=one.action.function, arguments=one.action.args)
        told = (one.state.url, one.action.current_state, one.action.action_analysis)
        if (
            step is None
            or step.decision.actions != (act,)
            or (step.observation.url, step.decision.memory, step.decision.next_goal) != told
            or step.observation.clean.sha256 != hashlib.sha256(picture).hexdigest()
        ):
            yield f"{RECORD}/{ORIGINALS}/{name} differs from the record"


def _is_same_action(content: bytes, expected: bytes) -> bool:
    """Whether two action files differ only in how the same picture was encoded."""
    ours = json.loads(expected)
    try:
        state = parse_json(content)["state"]
        for name in ("screenshot_full", "screenshot_viewport"):
            theirs = state[name]
            if theirs != ours["state"][name] and not _looks_alike(theirs, ours["state"][name]):
                return False
            ours["state"][name] = theirs
        return as_json(ours) == content
    except (KeyError, TypeError, ValueError, RecordError):
        return False


def _looks_alike(one: str, other: str) -> bool:
    pictures = [decode_picture(base64.b64decode(each, validate=True)) for each in (one, other)]
    if pictures[0].size != pictures[1].size:
        return False
    extremes: Any = ImageChops.difference(*pictures).getextrema()
    return all(most <= _ALIKE for _, most in extremes)

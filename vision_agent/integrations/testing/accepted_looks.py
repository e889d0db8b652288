"""Compares a page with the look of it that was accepted, which is kept beside the test as a run folder of one look."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from vision_agent.errors import UsageError
from vision_agent.integrations.testing.evidence import Evidence
from vision_agent.observation import Observation
from vision_agent.ports import Redact
from vision_agent.record.diff import StepPair, diff
from vision_agent.record.diff_page import write_diff
from vision_agent.record.run_list import delete_run, is_run_folder
from vision_agent.record.step_folder import look_step, write_steps
from vision_agent.types import Ending

FOLDER = "accepted_looks"
"""Beside the test file."""


def compare(seen: Observation, name: str, tolerance: float, evidence: Evidence, redact: Redact) -> str:
    """How the look differs from the accepted one, in words; empty if it does not, or if it is accepted now.

    `tolerance` is the share of the pixels that may differ, 0 to 1. If it differs, the comparison is among the evidence.

    Raises:
        UsageError: the name cannot name a file, the tolerance is no share, or the folder cannot be written.
        RecordError: the accepted look cannot be read.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[\w-][\w .-]{0,79}", name):
        raise UsageError(
            f"matches() takes a short name, not {str(name)[:80]!r}", 'write letters, as in matches("checkout")'
        )
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance <= 1:
        raise UsageError(f"tolerance must be a share of the pixels from 0 to 1, not {tolerance!r}", "0.01 is 1 %")
    test = re.sub(r"[^\w.-]+", "-", evidence.test.partition("::")[2]).strip("-.")[:120]
    accepted = evidence.file.parent / FOLDER / evidence.file.stem / test / name.replace(" ", "-")
    with tempfile.TemporaryDirectory(prefix="vision-agent-") as scratch:
        ending = Ending(status="done", sentence=f"This is the look {name!r}.")
        goal = f"{evidence.test}: {name}"
        now = write_steps(Path(scratch), accepted.name, goal, [look_step(seen, name)], ending, redact)
        if evidence.accepts:
            is_new = not is_run_folder(accepted)
            _replace(accepted, now)
            where = evidence.shown(accepted)
            evidence.accepted.append(f"accepted look {name!r} {'written to' if is_new else 'replaced in'} {where}")
            return ""
        if not is_run_folder(accepted):
            return f"there is no accepted look {name!r} yet; run pytest with --marks-accept, and look at what it keeps"
        found = diff(accepted, now, tolerance=tolerance)
        if found.is_same:
            return ""
        accept = f"pytest {shlex.quote(evidence.test)} --marks-accept"
        with suppress(OSError):  # `write_diff` says so
            evidence.own.mkdir(parents=True, exist_ok=True)
        page = write_diff(found, evidence.own / f"{accepted.name}.diff.html", accept)
        evidence.files.append(("comparison", page))
    said = "; ".join(line for pair in found.pairs for line in _lines(pair))
    return f"the page is not the accepted look {name!r}: {said}"


def _replace(accepted: Path, now: Path) -> None:
    try:
        if is_run_folder(accepted):
            delete_run(accepted)
        accepted.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(now, accepted)
    except OSError as error:
        raise UsageError(f"The look cannot be kept in {accepted}: {error.strerror}") from error


def _lines(pair: StepPair) -> list[str]:
    lines = []
    for each in pair.differences:
        if each.where == "pixels" and pair.pixels is not None:
            lines.append(f"pixels: {pair.pixels.sentence}")
        elif each.where == "marks":
            lines += [f"missing: {each.a}"] if each.a else []
            lines += [f"new: {each.b}"] if each.b else []
        else:
            lines.append(f"{each.where}: {each.b!r} instead of {each.a!r}")
    return lines

"""Renders the comparison of two runs as one HTML file that opens from disk; its markup and style are in `templates`.

Everything in it that came from a run is data and escaped. Pictures are embedded only for steps that differ.
"""

from __future__ import annotations

import base64
import shlex
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from vision_agent.describe.action_sentences import ENDED
from vision_agent.describe.deciders import deciders_of
from vision_agent.errors import RecordError
from vision_agent.geometry import Box
from vision_agent.observation import Shot
from vision_agent.record.diff import Diff, StepPair
from vision_agent.record.diff_lines import describe_parting
from vision_agent.record.read import load_shot, read
from vision_agent.record.report import STATES, TEMPLATES, environment, policy, report_style, write_named
from vision_agent.text.escape import cut_text
from vision_agent.types import Run
from vision_agent.vision.picture import Picture

_LONGEST_SHOWN = 200
"""Characters of the names of those who decided."""


@dataclass(frozen=True)
class BoxedPicture:
    """A picture of a page with boxes to draw on it, in picture pixels."""

    uri: str
    shot: Shot
    changed: tuple[Box, ...]
    problem: str = ""


@dataclass(frozen=True)
class DiffRow:
    """One pair of steps as the report shows it."""

    pair: StepPair
    a: BoxedPicture | None
    b: BoxedPicture | None
    """None if the step is missing, or if the page looks the same in both steps and `a` shows it for both."""

    @property
    def fits(self) -> bool:
        """Whether one picture can be laid over the other."""
        return self.a is not None and self.b is not None and self.a.shot.size == self.b.shot.size


def write_diff(found: Diff, path: Path, accept: str = "") -> Path:
    """Writes the comparison to an HTML file and returns its path.

    Args:
        accept: the command that makes B the new reference; empty if later runs are just compared with B.

    Raises:
        RecordError: a run folder cannot be read.
        UsageError: the file cannot be written.
    """
    return write_named(path, render_diff(found, accept))


def render_diff(found: Diff, accept: str = "") -> str:
    """The comparison as HTML; `accept` as for `write_diff`."""
    folders = Path(found.a.folder), Path(found.b.folder)
    runs = read(folders[0]), read(folders[1])
    style, script = report_style(TEMPLATES / "diff.css"), Markup((TEMPLATES / "diff.js").read_text("utf-8"))
    return (
        environment()
        .get_template("diff.html.j2")
        .render(
            diff=found,
            parting=describe_parting(found.parting) if found.parting is not None else "",
            ended=ENDED,
            states=STATES,
            deciders=[cut_text(deciders_of(run), _LONGEST_SHOWN) for run in runs],
            rows=[_row(pair, folders, runs) for pair in found.pairs],
            differ=[pair for pair in found.pairs if not pair.is_same],
            style=style,
            accept=accept,
            later=f"vision-agent diff {shlex.quote(found.b.folder)} RUN --html diff.html",
            script=script,
            policy=policy(style, script),
        )
    )


def _row(pair: StepPair, folders: tuple[Path, Path], runs: tuple[Run, Run]) -> DiffRow:
    if pair.is_same:
        return DiffRow(pair, None, None)
    boxes = pair.pixels.boxes if pair.pixels else ()
    shown = [
        _shown(index, folder, run, boxes) for index, folder, run in zip((pair.a, pair.b), folders, runs, strict=True)
    ]
    is_one_page = pair.a is not None and pair.pixels is None
    return DiffRow(pair, shown[0], None if is_one_page else shown[1])


def _shown(index: int | None, folder: Path, run: Run, boxes: tuple[Box, ...]) -> BoxedPicture | None:
    step = next((step for step in run.steps if step.index == index), None)
    if step is None:
        return None
    shot = step.observation.clean
    changed = tuple(shot.map.box_to_picture(box) for box in boxes)
    try:
        loaded = load_shot(folder, shot)
    except RecordError as error:
        return BoxedPicture("", shot, (), problem=error.sentence)
    assert loaded.data is not None
    # This picture is for viewing, not evidence, so use whichever encoding is smaller.
    small = Picture.of(loaded).encode("jpeg")
    smaller = small if len(small.data or b"") < len(loaded.data) else loaded
    return BoxedPicture(
        f"data:{smaller.media_type};base64,{base64.b64encode(smaller.data or b'').decode()}", shot, changed
    )

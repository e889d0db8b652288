"""Exports a run as a grounding data set: instruction, clean picture, and the target's place in it.

    metadata.jsonl    one line per action on a mark: file_name, instruction, target, box, point
    images/<sha256>   the clean pictures

The layout is the one that image folder loaders read: `file_name` is relative to metadata.jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vision_agent.actions import mark_in, targets_of
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.record.read import load_shot, read
from vision_agent.record.store import shot_name, write_private
from vision_agent.types import Run, Step


def write_grounding(folder: Path, to: Path) -> int:
    """Writes the data set into a new folder `to` and returns its number of lines.

    Raises:
        RecordError: the run or one of its pictures cannot be read.
        UsageError: the folder already exists, or cannot be created.
    """
    run = read(folder)
    try:
        to.mkdir(mode=0o700, parents=True)
        (to / "images").mkdir(mode=0o700)
        lines = []
        for step in run.steps:
            for line in _lines(run, step):
                picture = load_shot(folder, step.observation.clean)
                assert picture.data is not None
                write_private(to / line["file_name"], picture.data)
                lines.append(json.dumps(line, ensure_ascii=False))
        write_private(to / "metadata.jsonl", "".join(f"{line}\n" for line in lines).encode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{to} cannot be written: {reason}", "name a new folder with --out") from error
    return len(lines)


def _lines(run: Run, step: Step) -> Iterator[dict[str, Any]]:
    """One line per action on a mark; boxes are in picture pixels: left, top, right, bottom."""
    seen = step.observation
    for action, outcome in step.carried_out:
        numbers = [mark_in(target) for target in targets_of(action)]
        mark = seen.mark(numbers[0]) if numbers and numbers[0] is not None else None
        if mark is None:
            continue
        on_picture = seen.clean.map.box_to_picture(mark.box)
        point = seen.clean.map.to_picture(outcome.point or mark.point)
        yield {
            "file_name": f"images/{shot_name(seen.clean)}",
            "instruction": step.decision.next_goal or f"{action.kind} {mark.name}".strip(),
            "goal": run.task.goal,
            "action": action.kind,
            "target": {"tag": mark.tag, "role": mark.role, "name": mark.name, "source": mark.source},
            "box": _edges(on_picture),
            "point": [round(point.x, 1), round(point.y, 1)],
            "size": [seen.clean.size.width, seen.clean.size.height],
            "url": seen.url,
            "run": run.id,
            "step": step.index,
        }


def _edges(box: Box) -> list[float]:
    return [round(edge, 1) for edge in (box.x, box.y, box.right, box.bottom)]

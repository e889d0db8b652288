"""Builds the suites of recorded pages from what a folder contains.

- `frozen`: a folder that `freeze` made. A task is a run; the model answers what to do on each of its pages.
- `grounding`: what one instruction means on one picture, answered by a mark, or by a point if there are no marks.
    - a folder that `freeze` made: a task is a step, without the steps before it. The instruction is the step's own
      goal; if that contains the number of the mark, it is the kind of action and the name of the mark instead.
    - a folder that `export --to grounding` wrote, or any with such a metadata.jsonl: pictures without marks.
    - data in Mind2Web's layout (`mind2web`): a task is one of its tasks, and the operation is graded too.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path

from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from vision_agent.actions import targets_of
from vision_agent.base_model import words_of
from vision_agent.errors import RecordError, UsageError
from vision_agent.evals.answer_grading import Aim, Reference
from vision_agent.evals.suites import frozen, mind2web
from vision_agent.evals.suites.frozen import FrozenTask, read_index, read_task
from vision_agent.evals.suites.offline import OfflineSuite, OfflineTask, PageQuestion, Paper
from vision_agent.geometry import Box, Size
from vision_agent.models.offline.grammar import parse
from vision_agent.observation import Observation
from vision_agent.types import Limits, Step, Task
from vision_agent.vision.image_limits import ImageLimits, image_limits_for
from vision_agent.vision.picture import Picture

RECORDED = ("frozen", "grounding")
METADATA = "metadata.jsonl"
_ONE = Limits(steps=1)


def recorded_suite(name: str, folder: Path | None, *, longest_edge: int | None) -> OfflineSuite:
    """The suite of that name, from the contents of the folder.

    Raises:
        UsageError: no folder was named, or it contains nothing suitable.
        RecordError: a file in it was changed.
    """
    if folder is None:
        raise UsageError(f"The suite {name} needs a folder", f"vision-agent eval {name} FOLDER")
    if name == "frozen":
        return OfflineSuite(name, _frozen_tasks(folder))
    if (folder / frozen.INDEX).is_file():
        return OfflineSuite(name, _steps(folder))
    image_limits = image_limits_for("", longest_edge)
    if (folder / METADATA).is_file():
        return OfflineSuite(name, _pictures(folder, image_limits))
    if folder.is_file() or any(folder.glob("*.json*")):
        tasks = mind2web.read_mind2web(folder)
        return OfflineSuite(name, _mind2web(tasks, image_limits), mind2web.left_out_note(tasks))
    raise UsageError(
        f"{folder} has no pictures with instructions",
        "name a folder from `vision-agent freeze` or `export --to grounding`, or data in Mind2Web's layout",
    )


def step_line(text: str) -> str:
    """The text if it is a step line, otherwise an empty string."""
    try:
        return text if parse([text]) else ""
    except UsageError:
        return ""


# --- frozen -----------------------------------------------------------------------------------------------------------


def _frozen_tasks(folder: Path) -> dict[str, OfflineTask]:
    return {entry.id: _offline_task(folder, entry) for entry in read_index(folder).tasks if entry.references}


def _offline_task(folder: Path, entry: frozen.FrozenEntry) -> OfflineTask:
    task = read_task(folder, entry, with_pictures=False)
    lines = tuple(step_line(step.decision.next_goal) for step in task.steps if step.index in task.references)
    return OfflineTask(
        content={"goal": entry.goal, "sha256": entry.sha256},
        load=lambda: _paper(read_task(folder, entry)),
        lines=lines if all(lines) else (),
        sizes=frozenset(map(_picture_size, task.steps)),
    )


def _paper(frozen: FrozenTask) -> Paper:
    questions = [
        PageQuestion(step.observation, reference, frozen.steps[:place], step_line(step.decision.next_goal))
        for place, step in enumerate(frozen.steps)
        if (reference := frozen.references.get(step.index)) is not None
    ]
    return Paper(frozen.task, questions)


def _picture_size(step: Step) -> tuple[int, int]:
    return step.observation.marked.size.width, step.observation.marked.size.height


# --- one instruction, one picture -------------------------------------------------------------------------------------


def _steps(folder: Path) -> dict[str, OfflineTask]:
    found: dict[str, OfflineTask] = {}
    for entry in read_index(folder).tasks:
        task = read_task(folder, entry, with_pictures=False)
        for step in task.steps:
            reference = task.references.get(step.index)
            if reference is None or len(reference.aims) != 1:
                continue
            if instruction := _instruction(step, reference):
                found[f"{entry.id}/{step.index}"] = _step(folder, entry, step, instruction)
    return found


def _step(folder: Path, entry: frozen.FrozenEntry, step: Step, instruction: str) -> OfflineTask:
    def load() -> Paper:
        task = read_task(folder, entry)
        seen = next(each.observation for each in task.steps if each.index == step.index)
        reference = task.references[step.index].model_copy(update={"operations": ()})
        return Paper(Task(goal=instruction, limits=_ONE), [PageQuestion(seen, reference, line=step_line(instruction))])

    line = step_line(instruction)
    return OfflineTask(
        content={"instruction": instruction, "sha256": entry.sha256},
        load=load,
        lines=(line,) if line else (),
        sizes=frozenset([_picture_size(step)]),
    )


def _instruction(step: Step, reference: Reference) -> str:
    """The instruction, in words that do not reveal the number; empty if there are none."""
    goal, numbers = step.decision.next_goal.strip(), reference.aims[0].marks
    if goal and not any(re.search(rf"\b[A-Z]?{number}\b", goal) for number in numbers):
        return goal
    mark = step.observation.mark(numbers[0]) if numbers else None
    # A listed page was only observed: its reference was decided but not carried out.
    acts = [action for action, _ in step.carried_out] or step.decision.actions
    done = next((action.kind for action in acts if targets_of(action)), "")
    return f"{done} {mark.name}".strip() if mark is not None and mark.name else ""


class _MetadataLine(BaseModel):
    """One line of metadata.jsonl; other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    file_name: str
    instruction: str = Field(min_length=1)
    box: tuple[float, float, float, float]
    """Left, top, right, bottom, in pixels of the picture."""
    url: str = "about:blank"


def _pictures(folder: Path, image_limits: ImageLimits) -> dict[str, OfflineTask]:
    found: dict[str, OfflineTask] = {}
    for number, text in enumerate((folder / METADATA).read_text("utf-8").splitlines(), start=1):
        if text.strip():
            found[f"{number:04d}"] = _picture(folder, number, text, image_limits)
    return found


def _picture(folder: Path, number: int, text: str, image_limits: ImageLimits) -> OfflineTask:
    where = f"{folder / METADATA}, line {number}"
    try:
        line = _MetadataLine.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{where}: {'.'.join(map(str, first['loc']))}: {words_of(first)}") from error
    path = folder / line.file_name
    # A data set must not name arbitrary files of this machine.
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{where}: the picture {line.file_name!r} is not in the folder")
    data = _read(path)
    sha256 = hashlib.sha256(data).hexdigest()
    size = _page_of_picture(line, data, image_limits).marked.size

    def load() -> Paper:
        again = _read(path)
        if hashlib.sha256(again).hexdigest() != sha256:
            raise RecordError(f"The picture {path} changed during the evaluation", "start again")
        left, top, right, bottom = line.box
        aim = Aim(boxes=(Box(x=left, y=top, width=right - left, height=bottom - top),))
        question = PageQuestion(
            _page_of_picture(line, again, image_limits), Reference(words=line.instruction, aims=(aim,))
        )
        return Paper(Task(goal=line.instruction, limits=_ONE), [question])

    content: JsonValue = {"sha256": sha256, **json.loads(line.model_dump_json())}
    return OfflineTask(content=content, load=load, sizes=frozenset([(size.width, size.height)]))


def _page_of_picture(line: _MetadataLine, data: bytes, image_limits: ImageLimits) -> Observation:
    """The picture as a page without marks; page coordinates are its own pixels."""
    try:
        with Image.open(io.BytesIO(data)) as picture:
            width, height = picture.size
    except (OSError, Image.DecompressionBombError) as error:
        raise UsageError(f"{line.file_name} is not a picture") from error
    whole = Picture.decode(data, Box(x=0, y=0, width=width, height=height), image_limits)
    shot = whole.encode()
    return Observation(
        id=shot.sha256[:12],
        epoch=1,
        url=line.url,
        title="",
        taken_at=mind2web.AT,
        viewport=Size(width=width, height=height),
        listing="",
        clean=shot,
        marked=shot,
        phash=whole.phash(),
    )


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"The picture {path} cannot be read: {error.strerror}") from error


# --- Mind2Web's layout ------------------------------------------------------------------------------------------------


def _mind2web(tasks: list[mind2web.RecordedTask], image_limits: ImageLimits) -> dict[str, OfflineTask]:
    return {each.id: _mind2web_task(each, image_limits) for each in tasks if each.questions}


def _mind2web_task(recorded: mind2web.RecordedTask, image_limits: ImageLimits) -> OfflineTask:
    return OfflineTask(
        content={"goal": recorded.task.confirmed_task, "sha256": recorded.sha256},
        load=lambda: mind2web.build_paper(recorded, image_limits),
        sizes=frozenset((size.width, size.height) for size in map(image_limits.fit, recorded.sizes)),
    )

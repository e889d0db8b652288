"""The suites that ask about recorded pages, made of what a folder holds.

- `frozen`: a folder that `freeze` made. A task is a run; on each page what was really done is to be said.
- `grounding`: what one instruction means on one picture, by a mark, or by a point where there are none.
    - a folder that `freeze` made: a task is a step, told in the words of whoever decided it, and nothing of the steps
      before it; words that have the number of the mark are not used, but what the act was and what the mark is called.
    - a folder that `export --to grounding` wrote, or any with such a metadata.jsonl: pictures without marks.
    - data in Mind2Web's layout (`mind2web`): a task is one of its tasks, and what is to be done is graded too.
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
from vision_agent.errors import RecordError, UsageError
from vision_agent.evals import frozen, mind2web
from vision_agent.evals.frozen import FrozenTask, read_index, read_task
from vision_agent.evals.grades import Aim, Reference
from vision_agent.evals.offline import Entry, OfflineSuite, Paper, Question
from vision_agent.models.lines import parse
from vision_agent.types import Box, Limits, Observation, Size, Step, Task
from vision_agent.vision.contract import Contract, contract_for
from vision_agent.vision.picture import Picture

RECORDED = ("frozen", "grounding")
METADATA = "metadata.jsonl"
_ONE = Limits(steps=1)


def recorded_suite(name: str, folder: Path | None, *, longest_edge: int | None = None) -> OfflineSuite:
    """The suite of that name, of what the folder holds.

    Raises:
        UsageError: no folder was named, or it holds nothing of the kind.
        RecordError: a file of it is not as it was recorded.
    """
    if folder is None:
        raise UsageError(f"The suite {name} needs a folder to ask about", f"vision-agent eval {name} FOLDER")
    if name == "frozen":
        return OfflineSuite(name, _frozen(folder))
    if (folder / frozen.INDEX).is_file():
        return OfflineSuite(name, _steps(folder))
    contract = contract_for("", longest_edge)
    if (folder / METADATA).is_file():
        return OfflineSuite(name, _pictures(folder, contract))
    if folder.is_file() or any(folder.glob("*.json*")):
        tasks = mind2web.read_mind2web(folder)
        return OfflineSuite(name, _mind2web(tasks, contract), mind2web.note_on(tasks))
    raise UsageError(
        f"{folder} holds nothing to find on pictures",
        "name a folder of `vision-agent freeze` or `export --to grounding`, or data in Mind2Web's layout",
    )


def line_of(text: str) -> str:
    """The text, where it is a step line; else empty."""
    try:
        return text if parse([text]) else ""
    except UsageError:
        return ""


# --- frozen -----------------------------------------------------------------------------------------------------------


def _frozen(folder: Path) -> dict[str, Entry]:
    return {entry.id: _entry(folder, entry) for entry in read_index(folder).tasks if entry.references}


def _entry(folder: Path, entry: frozen.Entry) -> Entry:
    task = read_task(folder, entry, with_pictures=False)
    lines = tuple(line_of(step.decision.next_goal) for step in task.steps if step.index in task.references)
    return Entry(
        content={"goal": entry.goal, "sha256": entry.sha256},
        load=lambda: _paper(read_task(folder, entry)),
        lines=lines if all(lines) else (),
        sizes=frozenset(map(_size_in, task.steps)),
    )


def _paper(frozen: FrozenTask) -> Paper:
    questions = [
        Question(step.observation, reference, frozen.steps[:place], line_of(step.decision.next_goal))
        for place, step in enumerate(frozen.steps)
        if (reference := frozen.references.get(step.index)) is not None
    ]
    return Paper(frozen.task, questions)


def _size_in(step: Step) -> tuple[int, int]:
    return step.observation.marked.size.width, step.observation.marked.size.height


# --- one instruction, one picture -------------------------------------------------------------------------------------


def _steps(folder: Path) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for entry in read_index(folder).tasks:
        task = read_task(folder, entry, with_pictures=False)
        for step in task.steps:
            reference = task.references.get(step.index)
            if reference is None or len(reference.aims) != 1:
                continue
            if instruction := _instruction(step, reference):
                found[f"{entry.id}/{step.index}"] = _step(folder, entry, step, instruction)
    return found


def _step(folder: Path, entry: frozen.Entry, step: Step, instruction: str) -> Entry:
    def load() -> Paper:
        task = read_task(folder, entry)
        seen = next(each.observation for each in task.steps if each.index == step.index)
        reference = task.references[step.index].model_copy(update={"operations": ()})
        return Paper(Task(goal=instruction, limits=_ONE), [Question(seen, reference, line=line_of(instruction))])

    line = line_of(instruction)
    return Entry(
        content={"instruction": instruction, "sha256": entry.sha256},
        load=load,
        lines=(line,) if line else (),
        sizes=frozenset([_size_in(step)]),
    )


def _instruction(step: Step, reference: Reference) -> str:
    """What was wanted, in words that do not give the number away; empty where there are none."""
    said, numbers = step.decision.next_goal.strip(), reference.aims[0].marks
    if said and not any(re.search(rf"\b[A-Z]?{number}\b", said) for number in numbers):
        return said
    mark = step.observation.mark(numbers[0]) if numbers else None
    # A page of a list was only looked at, and what is right there was not done.
    acts = [action for action, _ in step.carried_out] or step.decision.actions
    done = next((action.kind for action in acts if targets_of(action)), "")
    return f"{done} {mark.name}".strip() if mark is not None and mark.name else ""


class _Line(BaseModel):
    """Of metadata.jsonl; what else it says is not looked at."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    file_name: str
    instruction: str = Field(min_length=1)
    box: tuple[float, float, float, float]
    """Left, top, right, bottom, in pixels of the picture."""
    url: str = "about:blank"


def _pictures(folder: Path, contract: Contract) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for number, text in enumerate((folder / METADATA).read_text("utf-8").splitlines(), start=1):
        if text.strip():
            found[f"{number:04d}"] = _picture(folder, number, text, contract)
    return found


def _picture(folder: Path, number: int, text: str, contract: Contract) -> Entry:
    where = f"{folder / METADATA}, line {number}"
    try:
        line = _Line.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    path = folder / line.file_name
    # What a data set names may not be any file of this machine.
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{where}: the picture {line.file_name!r} is not in the folder")
    data = _read(path)
    sha256 = hashlib.sha256(data).hexdigest()
    size = _seen(line, data, contract).marked.size

    def load() -> Paper:
        again = _read(path)
        if hashlib.sha256(again).hexdigest() != sha256:
            raise RecordError(f"The picture {path} was changed while it was asked about", "start again")
        left, top, right, bottom = line.box
        aim = Aim(boxes=(Box(x=left, y=top, width=right - left, height=bottom - top),))
        question = Question(_seen(line, again, contract), Reference(words=line.instruction, aims=(aim,)))
        return Paper(Task(goal=line.instruction, limits=_ONE), [question])

    content: JsonValue = {"sha256": sha256, **json.loads(line.model_dump_json())}
    return Entry(content=content, load=load, sizes=frozenset([(size.width, size.height)]))


def _seen(line: _Line, data: bytes, contract: Contract) -> Observation:
    """The picture as a page on which nothing is marked; page coordinates are its own pixels."""
    try:
        with Image.open(io.BytesIO(data)) as picture:
            width, height = picture.size
    except (OSError, Image.DecompressionBombError) as error:
        raise UsageError(f"{line.file_name} is no picture") from error
    whole = Picture.decode(data, Box(x=0, y=0, width=width, height=height), contract)
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


def _mind2web(tasks: list[mind2web.Recorded], contract: Contract) -> dict[str, Entry]:
    return {each.id: _of_mind2web(each, contract) for each in tasks if each.questions}


def _of_mind2web(recorded: mind2web.Recorded, contract: Contract) -> Entry:
    return Entry(
        content={"goal": recorded.task.confirmed_task, "sha256": recorded.sha256},
        load=lambda: mind2web.paper_of(recorded, contract),
        sizes=frozenset((size.width, size.height) for size in map(contract.fit, recorded.sizes)),
    )

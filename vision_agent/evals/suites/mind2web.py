"""Reads data in Mind2Web's layout as recorded pages with what was done on each. The data itself is not included.

Deng et al. (2023), arXiv:2306.06070. A file is a list of tasks, each with `annotation_id`, `confirmed_task`, optional
`website` and `action_reprs`, and `actions`; or, as in the multimodal edition, a list or lines of actions that each name
their task. These parts of an action are read:

- `operation`: `op` (CLICK, TYPE, SELECT), `value`, `original_op` (also HOVER and ENTER, which count as CLICK there)
- `pos_candidates`, `neg_candidates`: `tag`, `backend_node_id`, and in `attributes` `bounding_box_rect` ("x,y,w,h")
- `cleaned_html`: the names of candidates, by `backend_node_id`
- `screenshot`: a file beside the data, `{"path": …}`, or `{"bytes": …}` in base64

Objects may be JSON in a string, as in the original data. A screenshot shows the whole page; the question shows the
screenful, of 800 pixels counted from the top, that contains the middle of the first right element. Candidates in it are
the marks. Actions without a screenshot, or without a right element with a box, are left out, as questions and as
history.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from PIL import Image
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from vision_agent.actions import Action, Click, Select, Type
from vision_agent.base_model import words_of
from vision_agent.browser.observe.listing import listing, reading_order
from vision_agent.errors import UsageError
from vision_agent.evals.answer_grading import Aim, Reference
from vision_agent.evals.suites.offline import PageQuestion, Paper
from vision_agent.geometry import Box, ScrollState, Size
from vision_agent.observation import Kind, Mark, MarkState, Observation, Tab
from vision_agent.text.escape import printable_line, safe_line
from vision_agent.types import Decision, Limits, Outcome, Step, Task
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.labels import annotate, place
from vision_agent.vision.picture import Picture

SCREENFUL_PX = 800
AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""Observation time of pages without one; prompts state the time, and it must be the same each time."""
_NAMED_BY = ("aria_label", "aria-label", "placeholder", "title", "alt", "input_value", "value", "name")
_LONGEST_NAME = 100


def _unpack(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


_Name = Annotated[str, AfterValidator(printable_line)]
"""Name of a task or an action; it is shown on terminals."""


class _RawData(BaseModel):
    """Ignores unknown fields, because the data may contain more than we read."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class _RawOperation(_RawData):
    op: str
    value: str = ""
    original_op: str = ""


class _RawCandidate(_RawData):
    tag: str = ""
    backend_node_id: str = ""
    attributes: Annotated[dict[str, Any], BeforeValidator(_unpack)] = {}

    @property
    def box(self) -> Box | None:
        """Its box on the whole page; None without a position or size."""
        try:
            x, y, width, height = map(float, str(self.attributes["bounding_box_rect"]).split(","))
        except (KeyError, ValueError):
            return None
        return Box(x=x, y=y, width=width, height=height) if width > 0 and height > 0 else None


_Candidates = Annotated[
    tuple[Annotated[_RawCandidate, BeforeValidator(_unpack)], ...],
    BeforeValidator(lambda value: () if value is None else _unpack(value)),
]


class _RawAction(_RawData):
    action_uid: _Name
    operation: Annotated[_RawOperation, BeforeValidator(_unpack)]
    pos_candidates: _Candidates = ()
    neg_candidates: _Candidates = ()
    cleaned_html: str = ""
    screenshot: str | dict[str, Any] | None = None


class _RawTask(_RawData):
    annotation_id: _Name
    confirmed_task: str
    website: str = ""
    actions: tuple[_RawAction, ...] = ()


class RecordedTask(NamedTuple):
    """A task of the data; its pictures are loaded when needed."""

    task: _RawTask
    file: Path
    sha256: str
    """Hash of the task and its pictures."""
    left_out: int
    """Number of actions that cannot be questions."""
    sizes: tuple[Size, ...]
    """Sizes of the screenfuls in pixels, before they are scaled to fit."""

    @property
    def id(self) -> str:
        """The task's id in the data set."""
        return self.task.annotation_id

    @property
    def questions(self) -> int:
        """Number of actions that can be asked about."""
        return len(self.task.actions) - self.left_out


def read_mind2web(path: Path) -> list[RecordedTask]:
    """The tasks in a file, or in the .json and .jsonl files of a folder.

    Raises:
        UsageError: a file cannot be read or has another layout; the message names the place.
    """
    files = sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
    tasks = [(task, file) for file in files for task in _tasks(file)]
    homes: dict[str, Path] = {}
    for task, file in tasks:
        if homes.setdefault(task.annotation_id, file) != file:
            raise UsageError(
                f"The task {task.annotation_id} is in both {homes[task.annotation_id]} and {file}", "name one of them"
            )
    return [_read_task(task, file) for task, file in tasks]


def _tasks(file: Path) -> list[_RawTask]:
    try:
        text = file.read_text("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line] if file.suffix == ".jsonl" else json.loads(text)
        rows = rows if isinstance(rows, list) else [rows]
        tasks: dict[str, dict[str, Any]] = {}
        for row in rows:
            if not isinstance(row, dict) or "annotation_id" not in row:
                raise UsageError(f"{file} is not in Mind2Web's layout: an entry has no annotation_id")
            # Rows of the multimodal edition are single actions.
            kept = tasks.setdefault(row["annotation_id"], {**row, "actions": []})
            kept["actions"] += row.get("actions", [row])
        return [_RawTask.model_validate(task) for task in tasks.values()]
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{file} is not in Mind2Web's layout: {where}: {words_of(first)}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from error


def _read_task(task: _RawTask, file: Path) -> RecordedTask:
    hashed = hashlib.sha256(task.model_dump_json().encode())
    left_out, sizes = 0, []
    for action in task.actions:
        is_question = action.screenshot is not None and any(each.box for each in action.pos_candidates)
        left_out += not is_question
        if is_question:
            data = _screenshot(action, file)
            hashed.update(data)
            width, height = _size(data, f"{file}, action {action.action_uid}")
            sizes.append(Size(width=width, height=min(height, SCREENFUL_PX)))
    return RecordedTask(task, file, hashed.hexdigest(), left_out, tuple(sizes))


def _size(data: bytes, where: str) -> tuple[int, int]:
    try:
        with Image.open(io.BytesIO(data)) as picture:
            return picture.size
    except (OSError, Image.DecompressionBombError) as error:
        raise UsageError(f"{where}: its screenshot is not a picture") from error


def _screenshot(action: _RawAction, file: Path) -> bytes:
    given = action.screenshot
    if isinstance(given, dict) and isinstance(given.get("bytes"), str):
        try:
            return base64.b64decode(given["bytes"], validate=True)
        except binascii.Error as error:
            raise UsageError(f"{file}, action {action.action_uid}: its screenshot is not valid base64") from error
    named = given.get("path") if isinstance(given, dict) else given
    path = file.parent / str(named)
    # A data set must not name arbitrary files of this machine.
    if not path.resolve().is_relative_to(file.parent.resolve()):
        raise UsageError(f"{file}, action {action.action_uid}: its screenshot {str(named)!r} is not in the data folder")
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}, action {action.action_uid}: {path} cannot be read: {error.strerror}") from error


# --- as recorded pages ------------------------------------------------------------------------------------------------


def build_paper(recorded: RecordedTask, image_limits: ImageLimits) -> Paper:
    """The questions of a task, each with the steps before it."""
    steps: list[Step] = []
    questions: list[PageQuestion] = []
    for action in recorded.task.actions:
        page = _page(action, recorded, image_limits, AT + timedelta(minutes=len(steps)))
        if page is None:
            continue
        questions.append(PageQuestion(page.seen, page.reference, tuple(steps)))
        steps.append(
            Step(
                index=len(steps) + 1,
                observation=page.seen,
                decision=Decision(author="human", next_goal=page.reference.words, actions=(page.action,)),
                outcomes=(Outcome(status="done", effect="changed", sentence=f"{page.reference.words}."),),
                started_at=page.seen.taken_at,
            )
        )
    limits = Limits(steps=max(1, len(questions)))
    return Paper(Task(goal=recorded.task.confirmed_task, limits=limits), questions)


class _RecordedPage(NamedTuple):
    seen: Observation
    reference: Reference
    action: Action


def _page(action: _RawAction, recorded: RecordedTask, image_limits: ImageLimits, at: datetime) -> _RecordedPage | None:
    right = [(each, box) for each in action.pos_candidates if (box := each.box) is not None]
    if action.screenshot is None or not right:
        return None
    picture, top, height = _screenful(_screenshot(action, recorded.file), right[0][1], image_limits)
    names = _names(action.cleaned_html)
    candidates = [*right, *((each, box) for each in action.neg_candidates if (box := each.box) is not None)]
    shown = [(each, box) for each, whole in candidates if (box := _clip(whole, picture.page, top))]
    order = reading_order([box for _, box in shown])
    numbers = {index: number for number, index in enumerate(order, start=1)}
    marks = place.place([_mark(numbers[index], *shown[index], names) for index in order], picture)
    is_right = {id(each) for each, _ in right}
    numbered = [numbers[index] for index, (each, _) in enumerate(shown) if id(each) in is_right]
    if not numbered:
        return None
    clean, marked = picture.encode(), annotate.draw(picture, annotate.layer(marks, picture)).encode()
    width = int(picture.page.width)
    scroll = ScrollState(y=top, width=width, height=height, view_width=width, view_height=picture.page.height)
    url = f"https://{recorded.task.website}/" if recorded.task.website else "about:blank"
    seen = Observation(
        id=action.action_uid,
        epoch=1,
        url=url,
        title=recorded.task.website,
        taken_at=at,
        viewport=Size(width=width, height=int(picture.page.height)),
        scroll=scroll,
        tabs=(Tab(number=1, url=url, title=recorded.task.website, active=True),),
        marks=marks,
        listing=listing(marks, (), scroll, (), clean.map),
        clean=clean,
        marked=marked,
        phash=picture.phash(),
    )
    boxes = tuple(mark.box for mark in marks if mark.number in numbered)
    operation = f"{action.operation.op} {action.operation.value}".strip()
    also = {"HOVER": ("HOVER",), "ENTER": ("PRESS Enter",)}.get(action.operation.original_op, ())
    name = next((mark.name for mark in marks if mark.number == numbered[0]), "")
    return _RecordedPage(
        seen=seen,
        reference=Reference(
            words=f"{operation} on {name or right[0][0].tag}",
            aims=(Aim(marks=tuple(numbered), boxes=boxes),),
            operations=(operation, *also),
        ),
        action=_action(action.operation, numbered[0]),
    )


def _screenful(data: bytes, box: Box, image_limits: ImageLimits) -> tuple[Picture, float, float]:
    """The screenful with the middle of the box, its offset from the top and the height of the page, both in pixels."""
    with Image.open(io.BytesIO(data)) as whole:
        height = whole.height
        top = int(min(max(0.0, box.center.y), height - 1) // SCREENFUL_PX) * SCREENFUL_PX
        part = whole.convert("RGB").crop((0, top, whole.width, min(height, top + SCREENFUL_PX)))
    out = io.BytesIO()
    part.save(out, "PNG")
    page = Box(x=0, y=0, width=part.width, height=part.height)
    return Picture.decode(out.getvalue(), page, image_limits), float(top), float(height)


def _clip(box: Box, page: Box, top: float) -> Box | None:
    return Box(x=box.x, y=box.y - top, width=box.width, height=box.height).intersection(page)


def _mark(number: int, candidate: _RawCandidate, box: Box, names: dict[str, str]) -> Mark:
    input_type = str(candidate.attributes.get("type") or "")
    kind = _kind(candidate.tag, str(candidate.attributes.get("role") or ""), input_type)
    role = str(candidate.attributes.get("role") or "") or _role(candidate.tag, kind, input_type)
    name = names.get(candidate.backend_node_id) or next(
        (str(candidate.attributes[key]) for key in _NAMED_BY if candidate.attributes.get(key)), ""
    )
    return Mark(
        number=number,
        tag=safe_line(candidate.tag or "div", 20),
        role=safe_line(role, 20),
        kind=kind,
        name=safe_line(" ".join(name.split()), _LONGEST_NAME),
        state=MarkState(input_type=(input_type or "text") if candidate.tag == "input" else None),
        box=box,
        point=box.center,
        evidence=("candidate",),
    )


def _kind(tag: str, role: str, input_type: str) -> Kind:
    if input_type in ("checkbox", "radio") or role in ("checkbox", "radio", "switch"):
        return "toggle"
    if tag in ("textarea", "select") or (tag == "input" and input_type not in ("submit", "button", "image", "reset")):
        return "field"
    return "link" if tag == "a" or role == "link" else "button"


def _role(tag: str, kind: Kind, input_type: str) -> str:
    if kind == "toggle":
        return input_type
    if kind == "field":
        return "combobox" if tag == "select" else "textbox"
    return kind if tag in ("a", "button", "input") else "generic"


def _action(operation: _RawOperation, mark: int) -> Action:
    match operation.op:
        case "TYPE":
            return Type(target=mark, text=operation.value)
        case "SELECT":
            return Select(target=mark, options=(operation.value,))
    return Click(target=mark)


def _names(html: str) -> dict[str, str]:
    """Names of the nodes in the cleaned page by id: their text, or a naming attribute."""
    reader = _Names()
    reader.feed(html)
    reader.close()
    return {
        # The text of a select is all its options, so its attributes go first.
        node: reader.attribute_names[node]
        if node in reader.lists and reader.attribute_names[node]
        else " ".join(words) or reader.attribute_names[node]
        for node, words in reader.texts.items()
    }


class _Names(HTMLParser):
    _VOID = frozenset({"input", "img", "br", "hr", "meta", "link", "area", "source", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.attribute_names: dict[str, str] = {}
        self.lists: set[str] = set()
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        node = given.get("backend_node_id") or ""
        if node:
            self.texts.setdefault(node, [])
            if tag == "select":
                self.lists.add(node)
            self.attribute_names[node] = next((value for key in _NAMED_BY if (value := given.get(key))), "")
        if tag not in self._VOID:
            self._open.append((tag, node))

    def handle_endtag(self, tag: str) -> None:
        if any(each == tag for each, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if words := data.strip():
            for _, node in self._open:
                if node:
                    self.texts[node].append(words)


def left_out_note(tasks: Sequence[RecordedTask]) -> str:
    """A note for people about actions that were left out; empty if there are none."""
    many, actions = sum(task.left_out for task in tasks), sum(len(task.task.actions) for task in tasks)
    note = f"{many} of {actions} actions have no screenshot, or no right element with a box, and are left out"
    return note if many else ""

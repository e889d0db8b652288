"""Reads a suite from a file that people write: TOML, YAML, or Python with `suite = [...]`.

    start_url = "https://example.org/notes"     # for tasks without their own
    seeds = 3                                   # unless --seeds is given

    [[tasks]]
    id = "save"
    goal = "Save the note"
    expect = ["text=Saved", "url=*/notes"]      # as for --expect; all must hold at the end, on one tab
    limits = { steps = 10 }
    steps = ["click Save", "finish"]            # reference lines, for `--model steps`

The keys are the same in each format; unknown keys are refused. A Python file is executed: use it to create tasks in a
loop. YAML needs the extra `eval`.

A list of pages to freeze has the same form. Its tasks have no end state, but say what is right on their page:
    id = "save"
    goal = "Save the note"
    reference = "click Save"                    # a step line, or a list of which any is right
"""

from __future__ import annotations

import runpy
import tomllib
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from pydantic import AwareDatetime, Field, ValidationError, field_validator
from pydantic_core import ErrorDetails

from vision_agent.base_model import UNKNOWN_FIELD, FrozenModel, model_in, unknown_field
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.models.offline.grammar import parse
from vision_agent.policy.success_checks import check_from
from vision_agent.settings_faults import fault_words
from vision_agent.types import Limits, SuccessCheck

FORMS = (".toml", ".yaml", ".yml", ".py")


class FileTask(FrozenModel):
    """One task."""

    id: str = Field(min_length=1)
    goal: str = Field(min_length=1)
    start_url: str
    expect: tuple[str, ...] = ()
    """What must hold at the end: a text that must show, or `url=*/thanks`, `text=Order placed`, `mark=Log out`,
    `download=*.pdf`. One may stand alone. Without any there is no score."""
    instructions: str = ""
    """How it is to be done, beside the goal; the model reads it."""
    user_data: dict[str, str] = {}
    allowed_hosts: tuple[str, ...] | None = None
    limits: Limits = Limits()
    steps: tuple[str, ...] = ()

    @field_validator("expect", mode="before")
    @classmethod
    def _one_or_more(cls, expect: Any) -> Any:
        return (expect,) if isinstance(expect, str) else expect

    @field_validator("expect")
    @classmethod
    def _says_what(cls, expect: tuple[str, ...]) -> tuple[str, ...]:
        for each in expect:
            try:
                check_from(each, "expect")
            except UsageError as error:
                raise ValueError(str(error)) from error
        return expect

    @cached_property
    def checks(self) -> tuple[SuccessCheck, ...]:
        """The checks in `expect`."""
        return tuple(check_from(each, "expect") for each in self.expect)


class FileSuite(FrozenModel):
    """The contents of a file, with its shared keys copied into each task."""

    name: str = Field(pattern=r"^\w[\w. -]*$")
    seeds: int = Field(default=1, ge=1)
    tasks: tuple[FileTask, ...] = Field(min_length=1)


class FilePage(FrozenModel):
    """One page to freeze, with its goal and what is right on it."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    goal: str = Field(min_length=1)
    start_url: str
    reference: tuple[str, ...] = Field(min_length=1)
    """Step lines; doing any one of them is right."""
    instructions: str = ""
    user_data: dict[str, str] = {}
    at: AwareDatetime | None = None
    """The time the model is told; None: a fixed one, so that the same page gives the same bytes."""

    @field_validator("reference", mode="before")
    @classmethod
    def _one_or_several(cls, reference: Any) -> Any:
        return (reference,) if isinstance(reference, str) else reference


class FilePages(FrozenModel):
    """A list of pages, with its shared keys copied into each page."""

    tasks: tuple[FilePage, ...] = Field(min_length=1)


_F = TypeVar("_F", FileSuite, FilePages)


def read_suite(path: Path) -> FileSuite:
    """The suite that a file describes.

    Raises:
        UsageError: it cannot be read or is not valid; the message names the task and the key.
    """
    suite = _read(
        path, FileSuite, "suite", ("start_url", "instructions", "limits", "allowed_hosts"), {"name": path.stem}
    )
    for task in suite.tasks:
        _check_lines(path, "suite", task.id, task.steps)
    return suite


def is_list(path: Path) -> bool:
    """Whether the path is a suite file, and not a folder of runs."""
    return path.suffix in FORMS and not path.is_dir()


def read_pages(path: Path) -> tuple[FilePage, ...]:
    """The pages that a file lists.

    Raises:
        UsageError: it cannot be read or is not valid; the message names the task and the key.
    """
    pages = _read(path, FilePages, "list of pages", ("start_url", "instructions", "user_data", "at"), {}).tasks
    for page in pages:
        _check_lines(path, "list of pages", page.id, page.reference)
    return pages


def _read(path: Path, kind: type[_F], what: str, shared_keys: Sequence[str], defaults: dict[str, Any]) -> _F:
    content = _load(path, what)
    if isinstance(content, list | tuple):
        content = {"tasks": list(content)}
    if not isinstance(content, dict):
        is_what = "empty" if content is None else f"a {type(content).__name__}"
        raise UsageError(f"The {what} {path} is {is_what}", "it needs a list of `tasks`")
    content = dict(content)  # a Python file may still use its own
    shared = {key: content.pop(key) for key in shared_keys if key in content}
    tasks = content.get("tasks")
    if isinstance(tasks, list):
        content["tasks"] = [{**shared, **each} if isinstance(each, dict) else each for each in tasks]
    try:
        read = kind.model_validate({**defaults, **content})
    except ValidationError as error:
        faults = "; ".join(_fault(each, tasks, kind) for each in _innermost(error))
        task = model_in(kind.model_fields["tasks"].annotation)
        hint = f"the fields of a task are {', '.join(task.model_fields if task is not None else ())}"
        raise UsageError(f"The {what} {path} is not valid: {faults}", hint) from error
    ids = [task.id for task in read.tasks]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise UsageError(f"The {what} {path} has two tasks called {', '.join(twice)}", "give each its own id")
    return read


def _check_lines(path: Path, what: str, task: str, lines: Sequence[str]) -> None:
    try:
        parse(lines)
    except UsageError as error:
        raise UsageError(f"The {what} {path}, task {task!r}: {error.sentence}", error.hint) from error


def _load(path: Path, what: str) -> Any:
    if path.suffix not in FORMS:
        raise UsageError(f"{path} is not a {what}", f"it must end in one of {', '.join(FORMS)}")
    if not path.is_file():
        raise UsageError(f"There is no {what} in {path}: no such file")
    if path.suffix == ".py":
        return _python(path, what)
    try:
        text = path.read_text("utf-8")
        return tomllib.loads(text) if path.suffix == ".toml" else _yaml(path, text, what)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"The {what} {path} cannot be read: {error}") from error


def _yaml(path: Path, text: str, what: str) -> Any:
    if find_spec("yaml") is None:
        raise UsageError(
            f"{path} is YAML, and PyYAML is not installed",
            "install it with pip install 'vision-agent[eval]', or write the file as TOML",
        )
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"The {what} {path} cannot be read: {' '.join(str(error).split())}") from error


def _python(path: Path, what: str) -> Any:
    try:
        names = runpy.run_path(str(path))
    except VisionAgentError:
        raise
    except (Exception, SystemExit) as error:
        raise UsageError(f"The {what} {path} cannot be run: {type(error).__name__}: {error}") from error
    if "suite" not in names:
        raise UsageError(f"The {what} {path} defines no suite", "it must set `suite = [...]`, a list of tasks")
    return names["suite"]


def _innermost(error: ValidationError) -> list[ErrorDetails]:
    """The errors without those that follow from others: a list with only faulty items counts as empty too."""
    faults = error.errors()
    at = [each["loc"] for each in faults]
    return [each for each in faults if not any(loc[: len(each["loc"])] == each["loc"] != loc for loc in at)]


def _fault(fault: ErrorDetails, tasks: Any, kind: type[FrozenModel]) -> str:
    loc = fault["loc"]
    if fault["type"] != UNKNOWN_FIELD:
        return f"{_place(loc, tasks)}: {fault_words(fault)}"
    place = _place(loc[:-1], tasks)
    return f"{place}{': ' if place else ''}{unknown_field(loc, kind)}"


def _place(loc: tuple[int | str, ...], tasks: Any) -> str:
    """The task and its key; the task by its id, which people can search for."""
    if len(loc) > 1 and loc[0] == "tasks" and isinstance(loc[1], int) and isinstance(tasks, list):
        task = tasks[loc[1]]
        named = task.get("id") if isinstance(task, dict) else None
        rest = ".".join(map(str, loc[2:]))
        return f"task {named or loc[1] + 1!r}{f', {rest}' if rest else ''}"
    return ".".join(map(str, loc))

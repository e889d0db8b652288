"""One work item: a task of a suite, with a seed, a model and settings; and what came of it, as a folder.

An item's id is the hash of exactly that, so an item that has a result is known again and never run a second time. The
result is written whole, at the end, or not at all. Nothing here knows a browser or how anything is judged.

    DIR/<suite>/<task>-<seed>-<id>/result.json    what came of it
    DIR/<suite>/<task>-<seed>-<id>/runs/          the run folder; one without a result beside it was cut off
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from vision_agent.errors import RecordError, UsageError
from vision_agent.evals.ablation import TURNED, left_out_of
from vision_agent.evals.figures import Figures
from vision_agent.evals.grades import Grade
from vision_agent.record.store import write_whole
from vision_agent.settings import Settings, recordable

RESULT = "result.json"
RUNS = "runs"
_LOCK = ".lock"
_ID = 16
"""Hexadecimal digits of the hash."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Item(_Data):
    """What is run once."""

    suite: str
    task: str
    seed: int
    model: str
    settings: dict[str, JsonValue]
    """As records have them, without where folders are made."""
    content: JsonValue = None
    """What the suite says of the task: with another goal, check or limit it is another item."""

    @cached_property
    def id(self) -> str:
        """The same for the same item, on any machine and at any time."""
        return hash_of(self.model_dump(mode="json"))

    @property
    def folder(self) -> Path:
        """Where it belongs, below the folder that was named with `--out`."""
        return Path(_file_name(self.suite)) / f"{_file_name(self.task)}-{self.seed}-{self.id}"


class WrongElement(_Data):
    """An act that reached another element than the one whose number was named."""

    step: int
    sentence: str
    """What was to be done, on what, and what was reached."""


class Witnessed(_Data):
    """Of the acts of a run that named a mark and sent something to the page, whether it reached that: see `witness`."""

    witnessed: int
    unwitnessed: int
    """Of those nobody can tell: nothing was heard of them, or what lay under the mark was not noted."""
    wrong: tuple[WrongElement, ...] = ()
    """Of those that were witnessed."""


class Result(_Data):
    """What came of an item. It has a score, or an error, or neither: then nobody could tell."""

    item: Item
    score: float | None = None
    """From 0 to 1, as the suite's own judge says. None: an error, or there was nothing to judge by."""
    passed: bool | None = None
    """Whether that counts as done; None as for the score."""
    sentence: str = ""
    """Of the judge: what shows it."""
    error: str = ""
    """Why it broke. That is not a score of zero: nothing is known of the model."""
    run: str = ""
    """The run folder, below the item's own; empty where it broke before there was one."""
    figures: Figures | None = None
    witness: Witnessed | None = None
    """None: nobody watched, as before there was a witness, and where recorded pages were asked about. It is no part of
    the figures, which are read from the run's own record: that knows only what the agent believes."""
    grades: tuple[Grade, ...] = ()
    """Of each answer, in order, where recorded pages were asked about."""
    pictures: tuple[str, ...] = ()
    """The sha256 of each picture as sent, in order."""
    started_at: datetime
    seconds: float
    """Of all of it: the page's start, the run and the judging."""


def item_of(
    suite: str, task: str, seed: int, model: str, settings: Settings, content: JsonValue = None, variant: str = ""
) -> Item:
    """The item; of the settings with all that can change what is done, nothing else, and the variant of the suite."""
    told: dict[str, Any] = recordable(settings)
    # Items remember nothing of each other, and where their folders are made changes nothing.
    del told["runs"], told["memory"]
    told["model"]["name"] = model
    if variant:
        told["variant"] = variant
    # What came later and stands as it always was makes no other item: a result of before is still one of it.
    if told["observe"]["style"] == "coloured":
        del told["observe"]["style"]
    return Item(suite=suite, task=task, seed=seed, model=model, settings=told, content=content)


def hash_of(value: JsonValue) -> str:
    """The first digits of the sha256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_ID]


def result_of(item: Item, out: Path) -> Result | None:
    """What came of it before; None where it was never run to its end.

    Raises:
        RecordError: the file cannot be read, or is that of another item.
    """
    path = out / item.folder / RESULT
    found = _read(path) if path.exists() else None
    if found is not None and found.item.id != item.id:
        raise RecordError(f"{path} is the result of another item", "move it away; the item is then run again")
    return found


def keep(result: Result, out: Path) -> None:
    """Leaves the result in its folder, whole or not at all.

    Raises:
        RecordError: it cannot be written.
    """
    folder = out / result.item.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"Could not make {folder}: {error.strerror}", "name another folder with --out") from error
    write_whole(folder / RESULT, result.model_dump_json(indent=1).encode(), over=True)


@dataclass(frozen=True)
class Found:
    """A result, and the item's folder in which it is."""

    result: Result
    folder: Path

    @property
    def run(self) -> Path | None:
        """The run folder; None where it broke before there was one."""
        return self.folder / self.result.run if self.result.run else None


def found_in(folder: Path) -> list[Found]:
    """Every result in or below a folder with its place, sorted by suite, task, seed and model.

    Raises:
        UsageError: there are none.
        RecordError: one cannot be read.
    """
    paths = [path for depth in ("*/*/", "*/", "") for path in folder.glob(f"{depth}{RESULT}")]
    if not paths:
        raise UsageError(f"There are no results in {folder}", "name the folder that `vision-agent eval … --out` filled")
    return sorted((Found(_read(path), path.parent) for path in paths), key=_order)


def results_in(folder: Path) -> list[Result]:
    """Every result in or below a folder, as `found_in` has them."""
    return [found.result for found in found_in(folder)]


def _order(found: Found) -> tuple[str, str, int, str]:
    item = found.result.item
    return item.suite, item.task, item.seed, item.model


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Keeps other processes out of the folder until the block ends, however it ends.

    Raises:
        UsageError: another process fills it, or it cannot be made.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / _LOCK).open("w")
    except OSError as error:
        raise UsageError(
            f"The folder {out} cannot be used: {error.strerror}", "name another folder with --out"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(
                f"Another evaluation is writing to {out}", "wait until it has ended, or name another --out"
            ) from error
        except OSError:
            pass  # a file system without locks
        yield


def differing(results: Sequence[Result]) -> dict[str, str]:
    """For each settings of these results, by their hash, what is different in them: `model.history=short`."""
    items = {settings_id(result.item): result.item for result in results}
    seen = {name: _told(item) for name, item in items.items()}
    keys = sorted({key for told in seen.values() for key in told}, key=lambda key: (key != "", key))
    varying = [key for key in keys if len({told.get(key) for told in seen.values()}) > 1]
    return {name: " ".join(_said(key, told.get(key, "")) for key in varying) for name, told in seen.items()}


def _told(item: Item) -> dict[str, str]:
    """The settings by their names, and under no name what is kept from who decides."""
    left_out = left_out_of(item.settings)
    told = {key: value for key, value in _flat(item.settings).items() if key not in _BESIDE}
    return {"": f"without {', '.join(left_out)}" if left_out else "with all"} | told


def full_id(item: Item) -> str:
    """Names the settings of an item, whoever decides with them and whatever is kept from who does."""
    return hash_of({key: value for key, value in _flat(item.settings).items() if key not in _BESIDE})


_BESIDE = ("model.name", *TURNED)


def _said(key: str, value: str) -> str:
    if key == "variant":
        return value or "plain"
    return f"{key}={value}" if key else value


def settings_id(item: Item) -> str:
    """Names the settings of an item, whoever decides with them."""
    flat = _flat(item.settings)
    flat.pop("model.name", None)
    return hash_of(dict(flat))


def _flat(value: JsonValue, prefix: str = "") -> dict[str, str]:
    if not isinstance(value, dict):
        return {prefix: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}
    flat: dict[str, str] = {}
    for key, each in value.items():
        flat |= _flat(each, f"{prefix}.{key}" if prefix else key)
    return flat


def _read(path: Path) -> Result:
    try:
        return Result.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.strerror
        raise RecordError(
            f"The result {path} cannot be read: {said}", "move it away; the item is then run again"
        ) from error


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.]+", "-", text).strip("-.")[:60] or "task"

"""One work item and its result: a task of a suite with a seed, a model and settings, kept as a folder.

The id of an item is the hash of exactly these, so an item that has a result is recognised and never run again. Results
are written at the end, completely or not at all. This module knows neither browsers nor judges.

    DIR/<suite>/<task>-<seed>-<id>/result.json    the result
    DIR/<suite>/<task>-<seed>-<id>/runs/          the run folder; without a result beside it, it was interrupted
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import JsonValue, ValidationError

from vision_agent.base_model import FrozenModel, words_of
from vision_agent.errors import RecordError, UsageError
from vision_agent.evals.ablation import TURNED, left_out_parts
from vision_agent.evals.answer_grading import Grade
from vision_agent.evals.run_metrics import RunMetrics
from vision_agent.record.store import write_whole
from vision_agent.settings import Settings, recordable

RESULT = "result.json"
RUNS = "runs"
_ID = 16
"""Hexadecimal digits of the hash."""


class Item(FrozenModel):
    """One thing to run."""

    suite: str
    task: str
    seed: int
    model: str
    settings: dict[str, JsonValue]
    """As in records, without the folders."""
    content: JsonValue = None
    """What the suite says about the task: another goal, check or limit makes another item."""

    @cached_property
    def id(self) -> str:
        """The same for the same item on any machine at any time."""
        return json_hash(self.model_dump(mode="json"))

    @property
    def folder(self) -> Path:
        """Its folder, relative to the one named with `--out`."""
        return Path(_file_name(self.suite)) / f"{_file_name(self.task)}-{self.seed}-{self.id}"


class WrongElement(FrozenModel):
    """An action that reached another element than the one whose number was named."""

    step: int
    sentence: str
    """The action, its target, and the element it reached."""


class Witnessed(FrozenModel):
    """Whether the actions of a run that named a mark and sent input to the page reached it: see `hit_oracle`."""

    witnessed: int
    unwitnessed: int
    """Actions with an unknown result: no event was reported, or what lay under the mark was not noted."""
    wrong: tuple[WrongElement, ...] = ()
    """Those of the witnessed actions that reached another element."""


class ItemResult(FrozenModel):
    """The result of an item. It has a score, an error, or neither if nobody could tell."""

    item: Item
    score: float | None = None
    """From 0 to 1, by the suite's own judge. None after an error, or without anything to judge."""
    passed: bool | None = None
    """Whether the task counts as done; None as for the score."""
    attacked: bool | None = None
    """Whether an attack on the agent succeeded, for tasks of the suite `security`."""
    sentence: str = ""
    """The judge's evidence."""
    error: str = ""
    """Why it broke. Errors are not scored 0: they say nothing about the model."""
    run: str = ""
    """Run folder, relative to the item's folder; empty if it broke before there was one."""
    figures: RunMetrics | None = None
    witness: Witnessed | None = None
    """None without a hit oracle, as in old results and on recorded pages. It is separate from the figures, which come
    from the run's own record: that knows only what the agent believes."""
    grades: tuple[Grade, ...] = ()
    """One for each answer, in order, for recorded pages."""
    pictures: tuple[str, ...] = ()
    """The sha256 of each picture as sent, in order."""
    started_at: datetime
    seconds: float
    """The whole duration: opening the page, the run and the judging."""


def make_item(
    suite: str, task: str, seed: int, model: str, settings: Settings, content: JsonValue = None, variant: str = ""
) -> Item:
    """The item with all settings that can affect a run, and the variant of the suite."""
    kept: dict[str, Any] = recordable(settings)
    # Items share no memory, and the location of their folders does not matter.
    del kept["runs"], kept["memory"]
    kept["model"]["name"] = model
    if variant:
        kept["variant"] = variant
    # A newer setting at its default must not change the id: old results remain results of this item.
    if kept["observe"]["style"] == "coloured":
        del kept["observe"]["style"]
    return Item(suite=suite, task=task, seed=seed, model=model, settings=kept, content=content)


def json_hash(value: JsonValue) -> str:
    """The first 16 hexadecimal digits of the sha256 of a JSON value, independent of key order."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_ID]


def result_of(item: Item, out: Path) -> ItemResult | None:
    """The stored result of an item; None if it never ran to its end.

    Raises:
        RecordError: the file cannot be read, or belongs to another item.
    """
    path = out / item.folder / RESULT
    found = _read(path) if path.exists() else None
    if found is not None and found.item.id != item.id:
        raise RecordError(f"{path} is the result of another item", "move it away; the item then runs again")
    return found


def write_result(result: ItemResult, out: Path) -> None:
    """Write the result into its folder, completely or not at all.

    Raises:
        RecordError: it cannot be written.
    """
    folder = out / result.item.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"Could not create {folder}: {error.strerror}", "name another folder with --out") from error
    write_whole(folder / RESULT, result.model_dump_json(indent=1).encode(), over=True)


@dataclass(frozen=True)
class FoundResult:
    """A result and the folder of its item."""

    result: ItemResult
    folder: Path

    @property
    def run(self) -> Path | None:
        """The run folder; None if the item broke before there was one."""
        return self.folder / self.result.run if self.result.run else None


def found_in(folder: Path) -> list[FoundResult]:
    """All results in or below a folder, sorted by suite, task, seed and model.

    Raises:
        UsageError: there are none.
        RecordError: one cannot be read.
    """
    paths = [path for depth in ("*/*/", "*/", "") for path in folder.glob(f"{depth}{RESULT}")]
    if not paths:
        raise UsageError(f"There are no results in {folder}", "name the --out folder of a `vision-agent eval` command")
    return sorted((FoundResult(_read(path), path.parent) for path in paths), key=lambda each: sort_key(each.result))


def sort_key(result: ItemResult) -> tuple[str, str, int, str]:
    """The key that sorts results: by suite, task, seed and model."""
    item = result.item
    return item.suite, item.task, item.seed, item.model


def setting_differences(results: Sequence[ItemResult]) -> dict[str, str]:
    """For each settings of these results, by their hash, the values that differ between them: `model.history=short`."""
    items = {settings_id(result.item): result.item for result in results}
    seen = {name: _settings_by_name(item) for name, item in items.items()}
    keys = sorted({key for values in seen.values() for key in values}, key=lambda key: (key != "", key))
    varying = [key for key in keys if len({values.get(key) for values in seen.values()}) > 1]
    return {name: " ".join(_setting_text(key, values.get(key, "")) for key in varying) for name, values in seen.items()}


def _settings_by_name(item: Item) -> dict[str, str]:
    """The settings by name; the empty name holds what is left out for the model."""
    left_out = left_out_parts(item.settings)
    values = {key: value for key, value in _flat(item.settings).items() if key not in _BESIDE}
    return {"": f"without {', '.join(left_out)}" if left_out else "with all"} | values


def full_id(item: Item) -> str:
    """A hash of the item's settings that ignores the model and what is left out."""
    return json_hash({key: value for key, value in _flat(item.settings).items() if key not in _BESIDE})


_BESIDE = ("model.name", *TURNED)


def _setting_text(key: str, value: str) -> str:
    if key == "variant":
        return value or "plain"
    return f"{key}={value}" if key else value


def settings_id(item: Item) -> str:
    """A hash of the item's settings that ignores the model."""
    flat = _flat(item.settings)
    flat.pop("model.name", None)
    return json_hash(dict(flat))


def _flat(value: JsonValue, prefix: str = "") -> dict[str, str]:
    if not isinstance(value, dict):
        return {prefix: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}
    flat: dict[str, str] = {}
    for key, each in value.items():
        flat |= _flat(each, f"{prefix}.{key}" if prefix else key)
    return flat


def _read(path: Path) -> ItemResult:
    try:
        return ItemResult.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = words_of(error.errors()[0]) if isinstance(error, ValidationError) else error.strerror
        raise RecordError(
            f"The result {path} cannot be read: {reason}", "move it away; the item then runs again"
        ) from error


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.]+", "-", text).strip("-.")[:60] or "task"

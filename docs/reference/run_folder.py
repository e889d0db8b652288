"""The pages of the run folder and its events, with their JSON schemas."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any, get_args

from pydantic import TypeAdapter

from vision_agent import events
from vision_agent.record import store
from vision_agent.types import Run

from .docstrings import docstring_parts, module_prose, split_indented
from .fields import field_rows
from .markdown import alias, markdown_page, markdown_table, prose


def run_folder_page() -> str:
    """The page: the files of a run folder and the fields of a run."""
    layout, rest = split_indented(inspect.getdoc(store) or "")
    parts = [
        "# Run folder",
        "A run folder holds all that a run saw, decided and did. "
        "It survives a crash, shows later changes, and is all that reports, exports and replays read.",
        f"```text\n{layout}\n```",
        *[prose(each) for each in rest.split("\n\n") if not each.startswith("This module")],
        "Each line of `steps.jsonl` is one [event](events.md). "
        "`vision-agent verify` checks a folder; "
        "`vision_agent.record` [reads it in Python](python/record.md).",
        "## JSON schemas",
        "- [`run.schema.json`](schemas/run.schema.json) for `run.json`\n"
        "- [`line.schema.json`](schemas/line.schema.json) for one line of `steps.jsonl`",
        "Records of earlier versions can have older names of fields; they are still read.",
        "## Fields of a run",
        markdown_table(("Field", "Type", "Default", "Meaning"), field_rows(Run, skip=("steps", "ending"))),
    ]
    return markdown_page(parts)


def schemas() -> dict[str, dict[str, Any]]:
    """The JSON schemas of the run folder by name: `run` for `run.json`, `line` for a line of `steps.jsonl`."""
    run = _recorded_schema(TypeAdapter(Run).json_schema(mode="serialization"))
    for name in ("steps", "ending"):
        del run["properties"][name]
    run["required"] = [name for name in run["required"] if name in run["properties"]]
    line = _recorded_schema(TypeAdapter(events.Event).json_schema(mode="serialization"))
    frame = {
        "n": {"type": "integer", "minimum": 1, "description": "The number of the line; the first is 1."},
        "at": {"type": "string", "format": "date-time"},
        "prev": {"type": "string", "pattern": "^[0-9a-f]{64}$", "description": "SHA-256 of the line before."},
    }
    for reference in line["oneOf"]:
        event = line["$defs"][reference["$ref"].rpartition("/")[2]]
        event["properties"] = {**frame, **event["properties"]}
        event["required"] = [*frame, *event.get("required", ())]
    started = line["$defs"]["Started"]
    del started["properties"]["run"]
    started["required"].remove("run")
    started["description"] = "The run begins; `run.json` has its task and its settings."
    return {"run": _described(run, "run.json of a run folder"), "line": _described(line, "A line of steps.jsonl")}


def _recorded_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of what is written: the bytes of a picture are in a file of their own."""
    shot = schema.get("$defs", {}).get("Shot", {})
    shot.get("properties", {}).pop("data", None)
    if "required" in shot:
        shot["required"] = [name for name in shot["required"] if name != "data"]
    return schema


def _described(schema: dict[str, Any], title: str) -> dict[str, Any]:
    # Without those that nothing refers to any more.
    while unused := set(schema["$defs"]) - set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))):
        for name in unused:
            del schema["$defs"][name]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **{
        name: value for name, value in schema.items() if name != "title"
    }}  # fmt: skip


def events_page() -> str:
    """The page: each event with its fields."""
    parts = [
        "# Events",
        *module_prose("vision_agent.events"),
        "In a [run folder](run-folder.md) each line of `steps.jsonl` is one event; "
        "`Agent(on_event=…)` hands each to a function.",
    ]
    for each in event_classes():
        name = each.model_fields["event"].default
        parts += [alias(each), f"## `{name}` {{ #{name} }}", *docstring_parts(each)]
        parts.append(f"Class: `vision_agent.events.{each.__name__}`")
        parts.append(markdown_table(("Field", "Type", "Default", "Meaning"), field_rows(each, skip=("event",))))
    return markdown_page(parts)


def event_classes() -> tuple[Any, ...]:
    """Every event, in the order in which a run can write them."""
    return get_args(get_args(events.Event)[0])

"""Reads from the recorded requests what the model was told in each step, showing repeated text only once.

It knows no provider: in every request format the text is under `text`, `content` or `input`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vision_agent.record.run_files import parse_json, read_file
from vision_agent.record.store import REQUESTS
from vision_agent.types import Decision

_TEXT_FIELDS = ("system", "instructions", "system_instruction", "systemInstruction", "messages", "input", "contents")
"""The request fields that hold text for the model, in the order in which it reads them."""


class ModelInput(NamedTuple):
    """The text parts of one request."""

    new: tuple[str, ...]
    """The parts that the previous request did not contain."""
    repeated: int
    """The number of parts that the previous request already contained."""


def read_model_inputs(folder: Path, decisions: Sequence[tuple[int, Decision]]) -> dict[int, ModelInput]:
    """The model input of each step by its number; steps without a request, or whose file is lost or was
    changed, are left out.
    """
    found: dict[int, ModelInput] = {}
    before: set[str] = set()
    for step, decision in decisions:
        if decision.request_sha256 is None:
            continue
        try:
            raw = read_file(folder, f"{REQUESTS}/{decision.request_sha256}.json")
            request = parse_json(raw)
        except (OSError, ValueError):
            continue
        if hashlib.sha256(raw).hexdigest() != decision.request_sha256:
            continue
        parts = []
        if isinstance(request, dict):
            parts = [part for name in _TEXT_FIELDS for part in _texts(request.get(name))]
        new = tuple(part for part in parts if part not in before)
        found[step] = ModelInput(new, len(parts) - len(new))
        before = set(parts)
    return found


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _texts(each)
        case dict():
            for name in ("text", "content", "parts"):
                yield from _texts(value.get(name))

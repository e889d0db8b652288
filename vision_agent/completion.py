"""Whether a task that is said to be done is done: the stated checks, and the form of the answer.

What needs the live page (a text that must show) is looked up by the loop; everything here is told from what was seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from vision_agent.types import Check, Observation


def fault_of_answer(answer: str, schema: dict[str, Any] | None) -> str:
    """Why an answer does not have the form that was asked for; empty where it has."""
    if schema is None:
        return ""
    try:
        value = json.loads(answer)
    except ValueError as error:
        return f"the answer is not JSON ({error}), and it must meet {json.dumps(schema)}"
    fault = best_match(Draft202012Validator(schema).iter_errors(value))
    return f"the answer does not meet its schema at {fault.json_path}: {fault.message}" if fault else ""


def fault_of_page(checks: Sequence[Check], observation: Observation) -> str:
    """Which check of addresses and marks does not hold on what was seen; empty where all do."""
    for check in checks:
        if check.url is not None and not fnmatchcase(observation.url, check.url):
            return f"the address must be {check.url}, and is {observation.url}"
        wanted = (check.mark or "").casefold()
        if wanted and not any(wanted in mark.name.casefold() for mark in observation.marks):
            return f"{check.mark!r} must be among the marks in view, and is not"
    return ""

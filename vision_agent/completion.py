"""Whether a task that is said to be done is done: the stated checks, and the form of the answer.

What needs the live page (a text that must show) is looked up by the loop; everything here is told from what was seen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from referencing.exceptions import Unresolvable

from vision_agent.errors import UsageError
from vision_agent.types import Check, Observation


def fault_of_answer(answer: str, schema: dict[str, Any] | None) -> str:
    """Why an answer does not have the form that was asked for; empty where it has."""
    if schema is None:
        return ""
    try:
        value = json.loads(answer)
        fault = best_match(Draft202012Validator(schema).iter_errors(value))
    except (ValueError, RecursionError) as error:
        return f"the answer is not JSON ({error}), and it must meet {json.dumps(schema)}"
    return f"the answer does not meet its schema at {fault.json_path}: {fault.message}" if fault else ""


def check_schema(schema: dict[str, Any] | None) -> None:
    """Nothing, where answers can be held against it.

    Raises:
        UsageError: it is no JSON schema, or points at what is not in it.
    """
    if schema is None:
        return
    try:
        Draft202012Validator.check_schema(schema)
        for example in (None, 0, "", [""], {"": ""}):
            best_match(Draft202012Validator(schema).iter_errors(example))
    except (SchemaError, Unresolvable, ValueError, TypeError, re.error) as error:
        said = error.message if isinstance(error, SchemaError) else str(error)
        raise UsageError(f"The schema of the answer cannot be used: {said}", "give a JSON schema (2020-12)") from error


def fault_of_page(checks: Sequence[Check], observation: Observation) -> str:
    """Which check of addresses and marks does not hold on what was seen; empty where all do."""
    for check in checks:
        if check.url is not None and not re.fullmatch(re.escape(check.url).replace(r"\*", ".*"), observation.url):
            return f"the address must be {check.url}, and is {observation.url}"
        wanted = (check.mark or "").casefold()
        if wanted and not any(wanted in mark.name.casefold() for mark in observation.marks):
            return f"{check.mark!r} must be among the marks in view, and is not"
    return ""

"""Whether a claimed completion is true: the task's checks, and the form of the answer.

Everything here uses the observation alone; the loop checks on the live page for texts that must be visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match
from pydantic import ValidationError
from referencing.exceptions import Unresolvable

from vision_agent.errors import UsageError
from vision_agent.text.urls import shown_address
from vision_agent.types import Observation, SuccessCheck

_NOT_KEPT = re.compile(r"(?:[^\w.*-]|_)+")


def check_from(given: SuccessCheck | Mapping[str, Any] | str, where: str) -> SuccessCheck:
    """The check that a person wrote: `url=*/thanks`, `mark=Log out`, `download=*.pdf`, or just `Thank you`.

    Raises:
        UsageError: it is none, as it was given in `where`.
    """
    if isinstance(given, SuccessCheck):
        return given
    known = f"{'=, '.join(SuccessCheck.model_fields)}="
    if isinstance(given, str):
        what, has_value, value = given.partition("=")
        if what in SuccessCheck.model_fields and has_value and value:
            return SuccessCheck.model_validate({what: value})
        if not given.strip() or re.match(r"\w+=", given):
            hint = f"begin it with {known}, or write a text that must show"
            raise UsageError(f"{where} {given!r} does not name what to check", hint)
        return SuccessCheck(text=given)
    try:
        return SuccessCheck.model_validate(given)
    except ValidationError:
        raise UsageError(f"{where} {given!r} is no check", f'write "text=Thank you"; a check has {known}') from None


def filled_check(check: SuccessCheck, fill: Callable[[str], str]) -> SuccessCheck:
    """The check with its texts completed by `fill`.

    Raises:
        UsageError: one of them becomes empty, which any page would pass.
    """
    texts = check.model_dump(exclude_none=True)
    filled = {name: fill(text) for name, text in texts.items()}
    empty = next((name for name, text in filled.items() if not text.strip()), None)
    if empty is not None:
        raise UsageError(f"The check {empty}={texts[empty]} has nothing to look for", "give the row a value for it")
    return SuccessCheck.model_validate(filled)


def fault_of_answer(answer: str, schema: dict[str, Any] | None) -> str:
    """Why an answer does not match the schema; empty if it does."""
    if schema is None:
        return ""
    try:
        value = json.loads(answer)
        fault = best_match(Draft202012Validator(schema).iter_errors(value))
    except (ValueError, RecursionError) as error:
        return f"the answer is not JSON ({error}), but it must match the schema {json.dumps(schema)}"
    return f"the answer does not match its schema at {fault.json_path}: {fault.message}" if fault else ""


def check_schema(schema: dict[str, Any] | None) -> None:
    """Checks that answers can be validated against a schema.

    Raises:
        UsageError: it is not a JSON schema, or has references that cannot be resolved.
    """
    if schema is None:
        return
    try:
        Draft202012Validator.check_schema(schema)
        for example in (None, 0, "", [""], {"": ""}):
            best_match(Draft202012Validator(schema).iter_errors(example))
    except (SchemaError, Unresolvable, ValueError, TypeError, re.error) as error:
        fault = error.message if isinstance(error, SchemaError) else str(error)
        raise UsageError(f"The schema of the answer is invalid: {fault}", "give a JSON schema (2020-12)") from error


def fault_of_page(checks: Sequence[SuccessCheck], observation: Observation) -> str:
    """The first check of an address or mark that the observation fails; empty if all hold."""
    for check in checks:
        if check.url is not None and not _fits(check.url, observation.url):
            return f"the address must be {check.url}, and is {shown_address(observation.url)}"
        wanted = (check.mark or "").casefold()
        if wanted and not any(wanted in mark.name.casefold() for mark in observation.marks):
            return f"{check.mark!r} must be among the marks in view, and is not"
    return ""


def fault_of_downloads(checks: Sequence[SuccessCheck], names: Sequence[str]) -> str:
    """The first check of a download that none of these file names passes; empty if all hold."""
    for check in checks:
        # Files are kept under names without spaces and signs.
        wanted = check.download and _NOT_KEPT.sub("_", check.download)
        if wanted and not any(_fits(wanted, name) for name in names):
            there = f"only {', '.join(names)} was" if names else "nothing was"
            return f"a file named {check.download} must have been downloaded, and {there}"
    return ""


def _fits(pattern: str, text: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), text) is not None

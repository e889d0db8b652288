"""Whether a claimed completion is true: the task's checks, and the form of the answer.

Everything here uses the observation alone; the loop checks on the live page for texts that must be visible.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from vision_agent.errors import UsageError
from vision_agent.observation import Observation
from vision_agent.text.escape import cut_text
from vision_agent.text.negations import negates
from vision_agent.text.urls import shown_address
from vision_agent.text.whole_words import has_whole_words
from vision_agent.types import SuccessCheck

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError as JsonFault

_FAILS_FROM = 400
"""The first HTTP status of an error."""
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
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    try:
        value = json.loads(answer)
        fault = best_match(Draft202012Validator(schema).iter_errors(value))
    except json.JSONDecodeError as error:
        return f"the answer must be {_wanted(schema)}, in JSON, and {_broken(answer, error)}"
    except (ValueError, RecursionError):
        return f"the answer must be {_wanted(schema)}, and is JSON that cannot be read"
    return _words_of(fault) if fault is not None else ""


def _broken(answer: str, error: json.JSONDecodeError) -> str:
    """What is in the place of JSON: a text, or JSON with a mistake."""
    if answer.lstrip().startswith(("{", "[")):
        return f"is JSON with a mistake in line {error.lineno}, column {error.colno}"
    return f"is the text {_shown(answer)}" if answer.strip() else "is empty"


def _words_of(fault: JsonFault) -> str:
    """Which field of an answer is wrong, what must be there, and what is."""
    field = fault.json_path.removeprefix("$").removeprefix(".")
    where = f'"{field}" in the answer' if field else "the answer"
    given: Any = fault.instance
    limit: Any = fault.validator_value
    rules: Any = fault.schema
    match fault.validator:
        case "type":
            return f"{where} must be {_kinds(limit)}, and is {_what(given)}"
        case "anyOf" if all(isinstance(each, dict) and "type" in each for each in limit):
            return f"{where} must be {' or '.join(_kinds(each['type']) for each in limit)}, and is {_what(given)}"
        case "required":
            missing = [f'"{name}"' for name in limit if name not in given]
            has = ", ".join(f'"{name}"' for name in given) or "nothing"
            return f"{where} must have {' and '.join(missing)}, and has {cut_text(has, _LONGEST_GIVEN)}"
        case "additionalProperties" if limit is False:
            known = rules.get("properties", {})
            more = [name for name in given if name not in known]
            have = ", ".join(f'"{name}"' for name in known) or "nothing"
            return f"{where} may have {have}, and has {cut_text(', '.join(map(_shown, more)), _LONGEST_GIVEN)} too"
        case "enum":
            return f"{where} must be one of {', '.join(map(_shown, limit))}, and is {_what(given)}"
        case "const":
            return f"{where} must be {_shown(limit)}, and is {_what(given)}"
        case str(kind) if kind in _LIMITS:
            is_counted = isinstance(given, str | list | dict)
            has = f"has {len(given)}: {_shown(given)}" if is_counted and kind != "pattern" else f"is {_what(given)}"
            return f"{where} must {_LIMITS[kind].format(limit)}, and {has}"
        case _:
            return f"{where} does not fit its schema: {cut_text(fault.message, 2 * _LONGEST_GIVEN)}"


_LIMITS = {
    "minimum": "be {} or more",
    "maximum": "be {} or less",
    "exclusiveMinimum": "be more than {}",
    "exclusiveMaximum": "be less than {}",
    "multipleOf": "be a multiple of {}",
    "minLength": "have {} or more characters",
    "maxLength": "have at most {} characters",
    "minItems": "have {} or more entries",
    "maxItems": "have at most {} entries",
    "pattern": "fit the pattern {}",
}
"""What must hold, for each word of JSON Schema that limits a value."""
_KINDS = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_LONGEST_GIVEN = 100
"""Characters of an answer in the sentence about it."""


def _wanted(schema: Mapping[str, Any]) -> str:
    """What an answer must be: `an object with "apples" (a whole number)`."""
    kind = schema.get("type")
    if kind != "object" or not isinstance(fields := schema.get("properties"), dict) or not fields:
        return _kinds(kind) if kind else "what its schema says"
    return f"an object with {', '.join(_field(name, each) for name, each in fields.items())}"


def _field(name: str, schema: Any) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return f'"{name}" ({_kinds(kind)})' if kind else f'"{name}"'


def _kinds(kinds: str | Sequence[str]) -> str:
    return " or ".join(_KINDS.get(each, each) for each in ([kinds] if isinstance(kinds, str) else kinds))


def _what(value: Any) -> str:
    """A value of an answer with what it is: `the text "42"`."""
    if isinstance(value, str):
        return f"the text {_shown(value)}"
    if isinstance(value, bool) or value is None:
        return _shown(value)
    if isinstance(value, int | float):
        return f"the number {_shown(value)}"
    return f"{'a list' if isinstance(value, list) else 'an object'}, {_shown(value)}"


def _shown(value: Any) -> str:
    return cut_text(json.dumps(value, ensure_ascii=False), _LONGEST_GIVEN)


def check_schema(schema: dict[str, Any] | None) -> None:
    """Checks that answers can be validated against a schema.

    Raises:
        UsageError: it is not a JSON schema, or has references that cannot be resolved.
    """
    if schema is None:
        return
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError, best_match
    from referencing.exceptions import Unresolvable

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
        if check.url is not None and (failed := _failed_page(observation)):
            return f"the address must be {check.url} and show its page, and {failed}"
        wanted = check.mark or ""
        having = [mark.name for mark in observation.marks if has_whole_words(mark.name, wanted, has_plain_spaces=True)]
        if wanted and not having:
            return f"{check.mark!r} must be among the marks in view, and is not"
        if wanted and not any(_says_so(name.casefold(), wanted.casefold()) for name in having):
            only = cut_text(repr(having[0]), _LONGEST_GIVEN)
            return (
                f"{check.mark!r} must be among the marks in view, and there is only {only}, which may be the opposite"
            )
    return ""


def _says_so(name: str, wanted: str) -> bool:
    """Whether a name has these words, and none beside them that make them the opposite: `Do not log out`."""
    places = [found.start() for found in re.finditer(f"(?={re.escape(wanted)})", name)]
    return not places or any(not negates(name[:at], name[at + len(wanted) :]) for at in places)


def _failed_page(observation: Observation) -> str:
    """That the page at the address is an error, of its server or of the browser; empty if it is not."""
    if observation.url.startswith("chrome-error:"):
        return "the browser shows its own error page"
    return f"the page answered {observation.status}" if observation.status >= _FAILS_FROM else ""


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

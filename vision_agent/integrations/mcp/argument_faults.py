"""Says in sentences what is wrong with the arguments of a call, and what to write instead. Knows no tool.

What an argument takes is told from its JSON schema, so a new action needs nothing here.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from vision_agent.base_model import UNKNOWN_FIELD, words_of
from vision_agent.text.escape import cut_text, escaped_line, printable_line

MARK_ARGUMENTS = ("target", "source", "mark", "scope")
"""Arguments that take the number of a mark."""
_MOST_TOLD = 3
_LONGEST_SHOWN = 80
_EXAMPLES = {"mark": 8, "row": 3, "column": 7, "x": 640, "y": 400, "right": 120, "down": 0}
_OBJECTS = {"row": "a cell", "x": "a point", "right": "a distance"}
"""What an object with such a field is."""
_MEANS = {
    "session": "the name of a session, as `open` answers it",
    "look_id": "the id of a look",
    "url": "an address with its scheme, as in the address bar",
}
_PLAIN = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "string": "text"}


def argument_faults(
    error: ValidationError, tool: str, form: type[BaseModel], given: Mapping[str, Any], properties: Mapping[str, Any]
) -> str:
    """A sentence for each wrong argument: which one, what was given, and what it takes.

    Args:
        error: what was raised when `given` was validated as `form`.
        tool: the name of the tool.
        form: what was validated.
        given: the arguments.
        properties: the JSON schema of each argument, with references in line.
    """
    first: dict[str, ErrorDetails] = {}
    for fault in error.errors():
        first.setdefault(str(fault["loc"][0]) if fault["loc"] else "", fault)
    told = list(first.items())[:_MOST_TOLD]
    return " ".join(_sentence(name, fault, tool, form, given, properties) for name, fault in told)


def unknown_argument(name: str, tool: str, known: Sequence[str]) -> str:
    """What is said of an argument that the tool does not have, with the one that is meant or else all that it takes."""
    marks = [each for each in known if each in MARK_ARGUMENTS] if name in MARK_ARGUMENTS else []
    near = marks or difflib.get_close_matches(name.lower(), known, n=1)
    instead = f"did you mean `{near[0]}`?" if near else f"it takes {', '.join(known)}."
    return f"`{tool}` has no argument `{printable_line(name[:60])}`; {instead}"


def _sentence(
    name: str,
    fault: ErrorDetails,
    tool: str,
    form: type[BaseModel],
    given: Mapping[str, Any],
    properties: Mapping[str, Any],
) -> str:
    if not name or fault["type"] == "value_error":  # a sentence of the action's own
        return f"`{tool}`: {words_of(fault)}."
    if fault["type"] == UNKNOWN_FIELD and len(fault["loc"]) == 1:
        return f"`{tool}` takes no `{name}` where `do` is {form.model_fields['kind'].default}."
    takes = _takes(name, properties.get(name, {}))
    if name not in given:
        return f"`{tool}` needs `{name}`: {takes}."
    value = given[name]
    if fault["type"] == "string_too_long":
        return f"`{name}` of `{tool}` has {len(value):,} characters, and takes {fault['ctx']['max_length']:,} at most."
    if fault["type"] == "string_too_short":
        return f"`{name}` of `{tool}` is empty."
    return f"`{name}` of `{tool}` is {_shown(value)}; it takes {takes}.{_how_to_find(name, value)}"


def _how_to_find(name: str, value: Any) -> str:
    """Where the number of a mark is found, for one who gave its name."""
    if name not in MARK_ARGUMENTS or not isinstance(value, str) or not value.strip():
        return ""
    return f" `find` with the text {_shown(value)} gives the lines of the marks that have these words."


def _shown(value: Any) -> str:
    return escaped_line(cut_text(json.dumps(value, ensure_ascii=False), _LONGEST_SHOWN))


def _takes(name: str, schema: Mapping[str, Any]) -> str:
    """What an argument takes, in words: `a number of at most 60`, `"left", "right" or "middle"`."""
    if variants := schema.get("anyOf"):
        return _either([_takes(name, each) for each in variants])
    if "enum" in schema:
        return _either([json.dumps(each) for each in schema["enum"]])
    kind = schema.get("type", "")
    if kind == "integer" and name in MARK_ARGUMENTS:
        return "the number of a mark in the last look (12)"
    if kind == "array":
        return f"a list, each of {_takes(name, schema.get('items', {}))}"
    if kind == "object":
        fields = schema.get("properties", {})
        example = json.dumps({each: _EXAMPLES.get(each, 0) for each in fields})
        what = next((words for each, words in _OBJECTS.items() if each in fields), "an object")
        return f"{what} such as {example}"
    if name in _MEANS:
        return _MEANS[name]
    return f"{_PLAIN.get(kind, 'another value')}{_bounds(schema)}"


def _bounds(schema: Mapping[str, Any]) -> str:
    least, above, most = (schema.get(each) for each in ("minimum", "exclusiveMinimum", "maximum"))
    if least is not None and most is not None:
        return f" from {least:,g} to {most:,g}"
    words = [f"above {above:,g}"] if above is not None else []
    words += [f"of at least {least:,g}"] if least is not None else []
    words += [f"of at most {most:,g}"] if most is not None else []
    return f" {' and '.join(words)}" if words else ""


def _either(said: list[str]) -> str:
    return " or ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else "".join(said)

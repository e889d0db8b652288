"""Reads the text of a step line: what stands in quotes, and values of a table, for which letters stand in the line.

The letters keep a value from being read as a word of the line, whatever it says. Knows no actions and no targets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import NoReturn
from urllib.parse import quote

QUOTED = r'"(?:[^"\\]|\\.)*"'
NUMBER = r"\d+(?:\.\d+)?"
_IN_SIGNS = r"‹[^‹›]*›|<[^<>]*>"
ONLY_TEXT = "a value of a table is only text here, and no number, key or word of the line"
_SCALAR = re.compile(rf"-?{NUMBER}|true|false|null")
_VALUES: ContextVar[Mapping[int, str]] = ContextVar("_VALUES", default=MappingProxyType({}))
"""The values in the line that is being read, by the letters that stand for them."""


class UnreadableLineError(Exception):
    """Says what is wrong with a line; `grammar` adds the line and lines like it."""


def fail(why: str) -> NoReturn:
    """Raises `UnreadableLineError` with what is wrong with the line."""
    raise UnreadableLineError(why)


@contextmanager
def values_of_line(values: Mapping[int, str]) -> Iterator[None]:
    """Inside the `with` block these letters stand for these values of a table."""
    token = _VALUES.set(values)
    try:
        yield
    finally:
        _VALUES.reset(token)


def has_value(text: str) -> bool:
    """Whether a value of a table is in the text."""
    return any(ord(each) in _VALUES.get() for each in text)


def has_empty_value(text: str) -> bool:
    """Whether a value of a table is in the text that is empty or only spaces."""
    return any(not value.strip() for letter, value in _VALUES.get().items() if chr(letter) in text)


def with_values(text: str) -> str:
    """The text with values in place of their letters."""
    return text.translate(_VALUES.get())


def with_escaped_values(text: str) -> str:
    """The text with values in place of their letters, escaped inside quotes, so that none ends the quotes."""
    return re.sub(QUOTED, lambda found: found[0].translate(_escaped_values()), text).translate(_VALUES.get())


def _escaped_values() -> dict[int, str]:
    return {letter: json.dumps(value, ensure_ascii=False)[1:-1] for letter, value in _VALUES.get().items()}


def address_with_values(text: str) -> str:
    """An address with its values in place of their letters; they are encoded unless one is all of the address."""
    encoded = _VALUES.get() if len(text) == 1 else {each: quote(it, safe="") for each, it in _VALUES.get().items()}
    return text.translate(encoded)


def json_with_values(text: str) -> str | None:
    """JSON with its values in place of their letters, as JSON values; None if it is no list or object."""
    in_quotes = re.sub(QUOTED, lambda found: found[0].translate(_escaped_values()), text)
    bare = {each: it if _SCALAR.fullmatch(it) else json.dumps(it) for each, it in _VALUES.get().items()}
    filled = in_quotes.translate(bare)
    try:
        found = json.loads(filled)
    except ValueError:
        return None
    return filled if isinstance(found, dict | list) else None


def unquoted(text: str) -> str:
    """The text without the quotes around it, if it has any, and with values in place of their letters."""
    if not re.fullmatch(QUOTED, text, re.DOTALL):
        return with_values(text)
    try:
        return with_values(str(json.loads(text, strict=False)))
    except json.JSONDecodeError:
        fail(f'the quoted text {text} cannot be read; inside quotes write \\\\ for a backslash and \\" for a quote')


def two_sides(text: str, word: str) -> tuple[str, str]:
    """The two sides of ` word `, which must occur exactly once outside quotes and ‹ ›."""
    found = list(re.finditer(rf"\s{word}(?=\s)", without_quoted(text), re.IGNORECASE))
    if len(found) != 1:
        fail(f"put names that contain {word!r} in double quotes" if found else f"a {word!r} is missing")
    return text[: found[0].start()].strip(), text[found[0].end() :].strip()


def without_quoted(text: str) -> str:
    """The text, equally long, with `_` for each character in quotes or in ‹ ›."""
    return re.sub(f"{QUOTED}|{_IN_SIGNS}", lambda match: "_" * len(match[0]), text)

"""Reads the rows of a CSV or JSON Lines file, and puts their values into texts such as `Order {product}`."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from vision_agent.base_model import FrozenModel
from vision_agent.describe.action_sentences import counted
from vision_agent.errors import UsageError, why_unreadable
from vision_agent.text.escape import cut_text, printable_line
from vision_agent.text.values_apart import set_apart

FORMS = (".csv", ".tsv", ".jsonl", ".ndjson")
_PLACE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}\n]*)\}")
_BEGINS_PLACEHOLDER = re.compile(r"<(?:secret|private):")
_BLANKS_AROUND = re.compile(r"^{0}+|{0}+\Z".format(r"[^\S\n\r\v\f\x1c-\x1f\x85\u2028\u2029]"))
"""Spaces of all kinds and tabs."""
_HALF = re.compile("[\ud800-\udfff]")
_MOST_BYTES = 64_000_000
_LONGEST = 10_000
"""Characters of one value."""


class Row(FrozenModel):
    """One row of a table."""

    number: int
    """From 1, without the line of names."""
    values: dict[str, str]
    """By the names of the columns."""

    def fill(self, text: str) -> str:
        """The text with the row's value in place of each `{name}`; `{{` and `}}` are braces.

        Raises:
            UsageError: the table has no such column.
        """
        return self._filled(text, str)

    def fill_address(self, address: str) -> str:
        """The same for an address: what would end a part of it is percent-encoded, unless the value is all of it."""
        whole = _PLACE.fullmatch(address.strip())
        return self._filled(address, str if whole else partial(quote, safe=""))

    def fill_lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """The same for step lines, in which a value is only text and names what is called exactly so.

        It is set apart by signs that are not seen, so that none of its words is read as a part of the line. Blanks
        around it are left out.

        Raises:
            UsageError: a value has more than one line or a character that is not seen, or stands for a secret.
        """
        return tuple(self._filled(line, self._in_line) for line in lines)

    def _in_line(self, value: str) -> str:
        value = _BLANKS_AROUND.sub("", value)
        if odd := next((each for each in value if not (each.isprintable() or unicodedata.category(each) == "Zs")), ""):
            shown = printable_line(cut_text(value, 80))
            raise UsageError(
                f"Row {self.number} has a value that cannot stand in a step line: {shown}",
                f"it has {_described(odd)} in it, and must be one line without such characters",
            )
        if placeholder := _BEGINS_PLACEHOLDER.search(value):
            raise UsageError(
                f"Row {self.number} has a value that would stand for a secret in a step line: {cut_text(value, 80)}",
                f"write {placeholder[0]}…> into the step line itself, or leave it out",
            )
        return set_apart(value)

    def _filled(self, text: str, change: Any) -> str:
        def value(match: re.Match[str]) -> str:
            name = match["name"]
            if name is None:
                return match.group()[0]
            if name not in self.values:
                known = ", ".join(map(repr, self.values))
                raise UsageError(f"There is no column {name!r}", f"the table has {known}; write {{{{ for a brace")
            return str(change(self.values[name]))

        return _PLACE.sub(value, text)


def places_in(text: str) -> frozenset[str]:
    """The names of the columns that a text has in braces."""
    return frozenset(match["name"] for match in _PLACE.finditer(text) if match["name"] is not None)


def read_rows(path: Path) -> tuple[Row, ...]:
    """The rows of a CSV file whose first line has the names, or of a file with one JSON object per line.

    Raises:
        UsageError: the file cannot be read, or a row does not fit; the message names its line.
    """
    if path.suffix not in FORMS:
        raise UsageError(f"{path} is no table", f"it must end in one of {', '.join(FORMS)}")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{path} is larger than {_MOST_BYTES // 1_000_000} MB", "split it")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The table {path} cannot be read: {why_unreadable(error)}") from error
    found = _json_lines(text, path) if path.suffix in (".jsonl", ".ndjson") else _csv(text, path)
    rows = tuple(Row(number=number, values=values) for number, values in enumerate(found, start=1))
    if not rows:
        raise UsageError(f"The table {path} has no rows", "the first line of a CSV file has the names of its columns")
    return rows


def _csv(text: str, path: Path) -> Iterator[dict[str, str]]:
    # Only line feeds and carriage returns end a line: `str.splitlines` would also end it at a form feed or U+2028.
    lines = csv.reader(StringIO(text, newline=""), delimiter=_delimiter(text, path), strict=True)
    names: list[str] = []
    try:
        for cells in lines:
            if not any(each.strip() for each in cells):
                continue
            if not names:
                names = [each.strip() for each in cells]
                _check_names(names, path)
            elif len(cells) != len(names):
                raise _wrong(
                    path, lines.line_num, f"it has {counted(len(cells), 'value')} for {counted(len(names), 'column')}"
                )
            else:
                yield _checked(dict(zip(names, cells, strict=True)), path, lines.line_num)
    except csv.Error as error:
        raise _wrong(path, lines.line_num, str(error)) from error


def _delimiter(text: str, path: Path) -> str:
    """A tab, a semicolon as some spreadsheets write it, or a comma; the line of names tells."""
    first = next((line for line in StringIO(text, newline="") if line.strip()), "")
    if path.suffix == ".tsv" or "\t" in first:
        return "\t"
    return ";" if first.count(";") > first.count(",") else ","


def _json_lines(text: str, path: Path) -> Iterator[dict[str, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = _JSON.decode(line.strip())
        except (ValueError, RecursionError) as error:
            raise _wrong(path, number, f"it is no JSON: {error}") from error
        if not isinstance(found, tuple):
            raise _wrong(path, number, "it is no JSON object")
        names = [name for name, _ in found]
        if twice := next((each for each in names if names.count(each) > 1), None):
            raise _wrong(path, number, f"it has {twice!r} twice, which may be two values; leave one out")
        _check_names(names, path)
        if deep := next((name for name, value in found if isinstance(value, tuple | list)), None):
            raise _wrong(path, number, f"{deep!r} is no text, number, true, false or null")
        yield _checked({name: _text(value) for name, value in found}, path, number)


def _text(value: str | bool | None) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number there")


_JSON = json.JSONDecoder(object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=_no_number)
"""Keeps numbers as they are written, digit by digit, and each name of an object however often it has it."""


def _described(unseen: str) -> str:
    """A character that has no picture, in words."""
    if unseen in "\n\r\v\f\x85\u2028\u2029":
        return "a line break"
    if unseen == "\t":
        return "a tab"
    kind = "control character" if unicodedata.category(unseen) == "Cc" else "character that is not seen,"
    name = unicodedata.name(unseen, "")
    return f"the {kind} U+{ord(unseen):04X}{name and f' {name.lower()}'}"


def _check_names(names: list[str], path: Path) -> None:
    if strange := next((each for each in names if set(each) & set("{}\n")), None):
        raise UsageError(f"The table {path} has a column that cannot be called {strange!r}", "rename it")
    if "" in names:
        raise UsageError(f"The table {path} has a column without a name", "name each column in the first line")
    if twice := next((each for each in names if names.count(each) > 1), None):
        raise UsageError(f"The table {path} has two columns called {twice!r}", "rename one")


def _checked(values: dict[str, str], path: Path, line: int) -> dict[str, str]:
    if long := next((name for name, value in values.items() if len(value) > _LONGEST), None):
        raise _wrong(path, line, f"{long!r} is longer than {_LONGEST} characters")
    if half := next((name for name, value in values.items() if _HALF.search(value)), None):
        raise _wrong(path, line, f"{half!r} has one half of a character, such as \\ud83d without the other")
    return values


def _wrong(path: Path, line: int, what: str) -> UsageError:
    return UsageError(f"Line {line} of {path} cannot be used: {what}")

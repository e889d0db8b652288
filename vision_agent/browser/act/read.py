"""Reads the text of a page, extracts tables as data, and waits for text or changes. Sends no input."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import replace
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from vision_agent.actions import Extract, Read, Wait
from vision_agent.browser.act.execution import Execution
from vision_agent.browser.act.executor import Executor
from vision_agent.browser.act.held import shows_text
from vision_agent.browser.locate.drawn_target import must_be_element
from vision_agent.browser.locate.naming import mark_words
from vision_agent.browser.page import protocol
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.protocol import TableAnswer
from vision_agent.browser.refusal import Refused
from vision_agent.escape import safe_line

_MOST_READ = 12_000
"""Characters of one reading; it stays in the history that the model sees."""
_LOOK_EVERY_S = 0.1
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


async def read(executor: Executor, action: Read) -> Execution:
    """Text of the page, of its visible part, or of the table or list around a mark; long text is cut, and says so."""
    if action.what == "table":
        if action.mark is None:
            raise Refused("unsupported", "Name a mark in the table to read.")
        table, words = await _table(executor, action.mark)
        lines = [" | ".join(cells) for cells in [table.headings, *table.rows] if cells]
        text, what = "\n".join(lines), f"the {table.kind} around {words}, {len(table.rows)} rows"
    else:
        text = await _read_frames(executor, action.what)
        what = "what is in view" if action.what == "view" else "the whole page"
    cut = len(text) - _MOST_READ
    said = f", the first {_MOST_READ} of {len(text)} characters" if cut > 0 else ""
    return Execution(f"Read {what}{said}", None, read=text[:_MOST_READ], has_known_effect=True)


async def extract(executor: Executor, action: Extract) -> Execution:
    """Rows of a table as JSON that matches a schema.

    Raises:
        Refused: the schema is invalid, a property has no column, or a cell holds no single number where one is wanted.
    """
    properties = _properties(action.json_schema)
    table, words = await _table(executor, action.mark)
    columns = {name: _column(name, table.headings, words) for name in properties}
    rows = [
        {name: _value(row, columns[name], name, properties[name], number) for name in properties}
        for number, row in enumerate(table.rows, 1)
    ]
    fault = next(Draft202012Validator(json.loads(action.json_schema)).iter_errors(rows), None)
    if fault is not None:
        raise Refused(
            "unsupported", f"The rows around {words} do not match the schema: {safe_line(fault.message, 200)}."
        )
    text = json.dumps(rows, ensure_ascii=False)
    if len(text) > _MOST_READ:
        raise Refused(
            "unsupported", f"{len(rows)} rows are too many at once; ask for fewer columns, or read the table."
        )
    return Execution(
        f"Extracted {len(rows)} rows of the {table.kind} around {words}", None, read=text, has_known_effect=True
    )


async def wait(executor: Executor, action: Wait) -> Execution:
    """Waits for a text, for any change, or for a number of seconds.

    Raises:
        Refused: the text or the change did not come in time.
    """
    began = time.monotonic()
    if action.text is None and not action.change:
        await asyncio.sleep(action.seconds)
        return Execution(f"Waited {action.seconds:g} s", None)
    what = f'"{safe_line(action.text, 60)}" did not show' if action.text is not None else "Nothing changed"
    said = f'"{safe_line(action.text, 60)}" shows' if action.text is not None else "The page changed"
    before = executor.page.url
    while True:
        passed = time.monotonic() - began
        if action.text is not None:
            has_come = await shows_text(executor.page, executor.deadline_s, action.text)
        else:
            has_come = executor.page.url != before or await _has_changed(executor, passed)
        if has_come:
            return Execution(f"{said} after {time.monotonic() - began:.1f} s", None, has_known_effect=True)
        if passed >= action.seconds:
            raise Refused("timed_out", f"{what} within {action.seconds:g} s.")
        await asyncio.sleep(_LOOK_EVERY_S)


async def _has_changed(executor: Executor, since_s: float) -> bool:
    for frame in executor.page.frames:
        try:
            stability = await protocol.stability(frame, executor.deadline_s)
        except FrameSilent:
            continue
        if stability.quiet_ms < since_s * 1000:
            return True
    return False


async def _read_frames(executor: Executor, what: str) -> str:
    """The text of all frames that answer, the main frame first, each child frame under its name."""
    parts = []
    for scanned in executor.seen.scan.frames:
        if scanned.frame.is_detached():
            continue
        try:
            text = await protocol.read_text(scanned.frame, executor.deadline_s, what)
        except FrameSilent:
            if scanned.parent is None:
                raise
            continue
        if text:
            parts.append(f"[frame {scanned.name}]\n{text}" if scanned.name else text)
    return "\n".join(parts)


async def _table(executor: Executor, number: int) -> tuple[TableAnswer, str]:
    must_be_element(number, executor.seen)
    at = await executor.locate(number)
    assert at.mark is not None
    assert at.frame is not None
    table = await protocol.table_around(at.frame, executor.deadline_s, at.mark.key)
    if table is None:
        raise Refused("unsupported", f"{mark_words(at.mark)} is not in a table or list; read the page instead.")
    # The foot of a long table often repeats its head.
    rows = [cells for cells in table.rows if cells != table.headings]
    return replace(table, rows=rows), at.words


def _properties(json_schema: str) -> dict[str, dict[str, Any]]:
    try:
        schema = json.loads(json_schema)
        Draft202012Validator.check_schema(schema)
        properties = schema["items"]["properties"]
    except (ValueError, SchemaError, KeyError, TypeError) as error:
        example = '{"type": "array", "items": {"type": "object", "properties": {"Name": {"type": "string"}}}}'
        raise Refused("unsupported", f"json_schema must describe an array of objects, such as {example}.") from error
    return {name: each if isinstance(each, dict) else {} for name, each in properties.items()}


def _column(name: str, headings: list[str], words: str) -> int:
    alike = [place for place, heading in enumerate(headings) if _normalize(heading) == _normalize(name)]
    if len(alike) != 1:
        there = ", ".join(f'"{safe_line(heading, 40)}"' for heading in headings) or "none with a heading"
        how_many = "no column" if not alike else f"{len(alike)} columns"
        raise Refused(
            "not_an_option", f'The table around {words} has {how_many} "{safe_line(name, 40)}"; there are {there}.'
        )
    return alike[0]


def _normalize(text: str) -> str:
    """Letters and digits only, case-folded: headings and property names differ in case and separators."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _value(row: list[str], column: int, name: str, schema: dict[str, Any], number: int) -> str | float | int | None:
    text = row[column] if column < len(row) else ""
    kind = schema.get("type", "string")
    if kind not in ("number", "integer"):
        return text
    found = [match.group() for match in _NUMBER.finditer(text)]
    if len(found) != 1:
        raise Refused(
            "unsupported",
            f'Row {number} has "{safe_line(text, 60)}" for {safe_line(name, 40)}, which is not a single number.',
        )
    value = float(found[0].replace(",", ""))
    return int(value) if value.is_integer() and (kind == "integer" or "." not in found[0]) else value

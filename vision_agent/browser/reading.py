"""Reads what a page says, gets tables as data, and waits for what it is going to say. Sends no input."""

from __future__ import annotations

import asyncio
import json
import re
import time
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from vision_agent.actions import Extract, Read, Wait
from vision_agent.browser import overlay
from vision_agent.browser.effect import Done
from vision_agent.browser.hands import Hands
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import words_for
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused

_MOST_READ = 12_000
"""Characters of one reading; it stays in what the model is shown of earlier steps."""
_LOOK_EVERY_S = 0.1
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


async def read(hands: Hands, action: Read) -> Done:
    """Text of the page, or of the table or list around a mark, cut with a word about it where it is long."""
    if action.what == "table":
        if action.mark is None:
            raise Refused("unsupported", "Name a mark in the table that is to be read.")
        table, words = await _table(hands, action.mark)
        lines = [" | ".join(cells) for cells in [table["headings"], *table["rows"]] if cells]
        text, what = "\n".join(lines), f"the {table['kind']} around {words}, {len(table['rows'])} rows"
    else:
        text = await _text(hands, action.what)
        what = "what is in view" if action.what == "view" else "the whole page"
    cut = len(text) - _MOST_READ
    said = f", the first {_MOST_READ} of {len(text)} characters" if cut > 0 else ""
    return Done(f"Read {what}{said}", None, read=text[:_MOST_READ], moved=True)


async def extract(hands: Hands, action: Extract) -> Done:
    """Rows of a table as JSON that meets a schema.

    Raises:
        Refused: the schema is none, a property has no column, or a cell does not hold what it should.
    """
    properties = _properties(action.json_schema)
    table, words = await _table(hands, action.mark)
    columns = {name: _column(name, table["headings"], words) for name in properties}
    rows = [
        {name: _value(row, columns[name], name, properties[name], number) for name in properties}
        for number, row in enumerate(table["rows"], 1)
    ]
    fault = next(Draft202012Validator(json.loads(action.json_schema)).iter_errors(rows), None)
    if fault is not None:
        raise Refused("unsupported", f"The rows around {words} do not meet the schema: {plain(fault.message, 200)}.")
    text = json.dumps(rows, ensure_ascii=False)
    if len(text) > _MOST_READ:
        raise Refused(
            "unsupported", f"{len(rows)} rows are too many at once; ask for fewer columns, or read the table."
        )
    return Done(f"Extracted {len(rows)} rows of the {table['kind']} around {words}", None, read=text, moved=True)


async def wait(hands: Hands, action: Wait) -> Done:
    """Waits for a text, for any change, or for the seconds.

    Raises:
        Refused: it did not come in time.
    """
    began = time.monotonic()
    if action.text is None and not action.change:
        await asyncio.sleep(action.seconds)
        return Done(f"Waited {action.seconds:g} s", None)
    what = f'"{plain(action.text, 60)}" did not show' if action.text is not None else "Nothing changed"
    said = f'"{plain(action.text, 60)}" shows' if action.text is not None else "The page changed"
    before = hands.page.url
    while True:
        passed = time.monotonic() - began
        if action.text is not None:
            has_come = await _shows(hands, action.text)
        else:
            has_come = hands.page.url != before or await _has_changed(hands, passed)
        if has_come:
            return Done(f"{said} after {time.monotonic() - began:.1f} s", None, moved=True)
        if passed >= action.seconds:
            raise Refused("timed_out", f"{what} within {action.seconds:g} s.")
        await asyncio.sleep(_LOOK_EVERY_S)


async def _shows(hands: Hands, text: str) -> bool:
    for frame in hands.page.frames:
        try:
            if (await overlay.ask(frame, "shows_text", hands.deadline_s, text=text))["shows"]:
                return True
        except FrameSilent:
            continue  # another frame may show it
    return False


async def _has_changed(hands: Hands, since_s: float) -> bool:
    for frame in hands.page.frames:
        try:
            quiet_ms = (await overlay.ask(frame, "quiet", hands.deadline_s))["quietMs"]
        except FrameSilent:
            continue
        if quiet_ms < since_s * 1000:
            return True
    return False


async def _text(hands: Hands, what: str) -> str:
    """Of all frames that answer, the page's own first, each under its name."""
    parts = []
    for scanned in hands.seen.scan.frames:
        if scanned.frame.is_detached():
            continue
        try:
            answer = await overlay.ask(scanned.frame, "read", hands.deadline_s, what=what)
        except FrameSilent:
            if scanned.parent is None:
                raise
            continue
        if answer["text"]:
            parts.append(f"[frame {scanned.name}]\n{answer['text']}" if scanned.name else answer["text"])
    return "\n".join(parts)


async def _table(hands: Hands, number: int) -> tuple[dict[str, Any], str]:
    hands.must_be_element(number)
    at = await hands.locate(number)
    assert at.mark is not None
    assert at.frame is not None
    table = await overlay.ask(at.frame, "table", hands.deadline_s, key=at.mark.key)
    if not table["found"] or table["kind"] is None:
        raise Refused("unsupported", f"{words_for(at.mark)} stands in no table and no list; read the page instead.")
    # The foot of a long table often says its head again.
    table["rows"] = [cells for cells in table["rows"] if cells != table["headings"]]
    return table, at.words


def _properties(json_schema: str) -> dict[str, dict[str, Any]]:
    try:
        schema = json.loads(json_schema)
        Draft202012Validator.check_schema(schema)
        properties = schema["items"]["properties"]
    except (ValueError, SchemaError, KeyError, TypeError) as error:
        example = '{"type": "array", "items": {"type": "object", "properties": {"Name": {"type": "string"}}}}'
        raise Refused("unsupported", f"That is no schema of an array of objects, such as {example}.") from error
    return {name: each if isinstance(each, dict) else {} for name, each in properties.items()}


def _column(name: str, headings: list[str], words: str) -> int:
    alike = [place for place, heading in enumerate(headings) if _plainly(heading) == _plainly(name)]
    if len(alike) != 1:
        there = ", ".join(f'"{plain(heading, 40)}"' for heading in headings) or "none with a heading"
        how_many = "no column" if not alike else f"{len(alike)} columns"
        raise Refused(
            "not_an_option", f'The table around {words} has {how_many} "{plain(name, 40)}"; there are {there}.'
        )
    return alike[0]


def _plainly(text: str) -> str:
    """A heading and a property's name are the same but for case and what stands between words."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _value(row: list[str], column: int, name: str, schema: dict[str, Any], number: int) -> str | float | int | None:
    text = row[column] if column < len(row) else ""
    kind = schema.get("type", "string")
    if kind not in ("number", "integer"):
        return text
    found = [match.group() for match in _NUMBER.finditer(text)]
    if len(found) != 1:
        raise Refused(
            "unsupported", f'Row {number} has "{plain(text, 60)}" for {plain(name, 40)}, which is no one number.'
        )
    value = float(found[0].replace(",", ""))
    return int(value) if value.is_integer() and (kind == "integer" or "." not in found[0]) else value

"""Reads the text of a page, extracts tables as data, and waits for text or changes.

Presses nothing; only for the exact values of a chart does the pointer move.
"""

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
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.exact_values import LONGEST_S, with_exact_values
from vision_agent.browser.act.held import shows_text
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.read_download import read_download
from vision_agent.browser.locate.drawn_target import must_be_element
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls import RecordSet, TableAnswer
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.text.disguises import Disguises
from vision_agent.text.escape import safe_line
from vision_agent.types import Mark, MarkKey
from vision_agent.vision.surfaces.charts import Chart

_MOST_READ = 12_000
"""Characters of one reading; it stays in the history that the model sees."""
_MOST_CELL = 80
"""Characters of a cell of a chart's table."""
_LOOK_EVERY_S = 0.1
_MOST_NAMED = 5
_THE_SET = {"table": "the table", "list": "the list", "details": "the details", "cards": "the cards"}
_HEADS = {"title", "name"}
_NOTHING = {"", "-", "–", "—", "−"}
"""Contents of a cell that count as empty."""
_NUMBER = re.compile(r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


async def read(sender: InputSender, action: Read) -> Attempt:
    """Text of the page, of its visible part, of a field, of the table or list around a mark, or of a download.

    Long text is cut, and says so.
    """
    if isinstance(action.mark, str) and action.what != "table":
        raise Refused("unsupported", "Words name a table to read; name anything else by its mark.")
    field = _field(sender, action)
    if field is not None:
        text, what = await _field_value(sender, field)
    elif action.what == "download":
        text, what = await read_download(sender.tabs.downloads, _MOST_READ)
    elif action.what == "table":
        if action.mark is None:
            raise Refused("unsupported", "Name a mark in the table to read.")
        if isinstance(action.mark, str):
            return _read_text(*await _table_called(sender, action.mark))
        if chart := await _chart(sender, action):
            return chart
        table, words = await _table(sender, action.mark)
        text, what = _as_text(table), f"the {table.kind} around {words}, {len(table.rows)} rows"
    else:
        text = await _read_frames(sender, action.what)
        what = "what is in view" if action.what == "view" else "the whole page"
    return _read_text(text, what)


def _read_text(text: str, what: str) -> Attempt:
    cut = len(text) - _MOST_READ
    said = f", the first {_MOST_READ} of {len(text)} characters" if cut > 0 else ""
    return Attempt(f"Read {what}{said}", None, read=text[:_MOST_READ], needs_no_effect=True)


async def _chart(sender: InputSender, action: Read) -> Attempt | None:
    """The table of the chart that a mark is, or is drawn in; its values are estimates from the picture, or exact."""
    mark = sender.seen.observation.mark(action.mark) if isinstance(action.mark, int) else None
    if mark is None:
        return None
    number = mark.number if mark.kind == "surface" else mark.surface
    chart = sender.seen.charts.get(number) if number is not None else None
    if chart is None:
        return None
    surface = sender.seen.observation.mark(number) if number is not None else None
    reader = await sender.observer.reader()
    late = 0
    if action.exact and surface is not None and reader is not None:
        chart, late = await with_exact_values(sender, surface, chart, reader)
    rows = chart.table()
    text = "\n".join(" | ".join(safe_line(cell, _MOST_CELL) for cell in row) for row in rows)
    what = f"the chart in {mark_words(mark)}, {len(rows) - 1} rows, {how_exact(chart, late)}"
    if chart.unread:
        what += f"; the values of {safe_line(', '.join(chart.unread), _MOST_CELL)} could not be read"
    return Attempt(f"Read {what}", None, read=text[:_MOST_READ], needs_no_effect=True)


def how_exact(chart: Chart, late: int) -> str:
    """How many of its values the page shows; `late` are those that the pointer did not come to in time."""
    errors = [error for each in chart.series for _, _, error in each.values]
    exact = sum(error == 0 for error in errors)
    over = f"; the {LONGEST_S:.0f} seconds for reading exact values were over before {late} of them" if late else ""
    if not exact:
        return f"estimated from the picture{over}"
    rest = f", {len(errors) - exact} estimated from the picture (±)" if exact < len(errors) else ""
    return f"{exact} values as the page shows them{rest}{over}"


def _field(sender: InputSender, action: Read) -> Mark | None:
    """The field whose value is to be read."""
    if not isinstance(action.mark, int) or action.what != "view":
        return None
    mark = sender.seen.observation.mark(action.mark)
    return mark if mark is not None and mark.kind == "field" and mark.tag != "select" else None


async def _field_value(sender: InputSender, mark: Mark) -> tuple[str, str]:
    """The whole value of a field, and what it is in words.

    Raises:
        Refused: it is secret, or has no text.
    """
    must_be_element(mark.number, sender.seen)
    frame, mark = await sender.identify(mark)
    found = await overlay_calls.field_value(frame, sender.deadline_s, MarkKey(mark.key))
    words = mark_words(mark)
    if found is None:
        raise Refused("gone", f"{capitalised(words)} is no longer on the page. Look at the new listing.")
    text = found.text or ""
    secrets = Disguises([("secret", each) for each in sender.observer.secrets()])
    if found.is_secret or mark.key in sender.observer.masked_keys or secrets.find(text):
        raise Refused("blocked", f"{capitalised(words)} holds a secret, which is not read.")
    if found.text is None:
        raise Refused("unsupported", f"{capitalised(words)} has no text; read the page instead.")
    return text, f"what {words} shows of its text" if found.is_part else f"the value of {words}"


async def extract(sender: InputSender, action: Extract) -> Attempt:
    """Rows of a table, a list or repeated cards as JSON that matches a schema.

    Raises:
        Refused: the schema is invalid, no set of records or several have such columns, or a cell does not
            contain a single number where one is wanted.
    """
    properties = _properties(action.json_schema)
    found, words = await _records(sender, action, [*properties])
    columns = {name: _column(name, found, words) for name in properties}
    rows = [
        {name: _value(row, columns[name], name, properties[name], number) for name in properties}
        for number, row in enumerate(found.rows, 1)
    ]
    fault = next(Draft202012Validator(json.loads(action.json_schema)).iter_errors(rows), None)
    if fault is not None:
        raise Refused("unsupported", f"The rows {words} do not match the schema: {safe_line(fault.message, 200)}.")
    text = json.dumps(rows, ensure_ascii=False)
    if len(text) > _MOST_READ:
        raise Refused(
            "unsupported", f"{len(rows)} rows are too many at once; ask for fewer columns, or read the table."
        )
    return Attempt(
        f"Extracted {_rows_words(len(rows))} of {_THE_SET[found.kind]} {words}", None, read=text, needs_no_effect=True
    )


async def _records(sender: InputSender, action: Extract, names: list[str]) -> tuple[RecordSet, str]:
    """The one set of records that is meant, and where it is in words.

    Raises:
        Refused: there is none with these columns, or there are several.
    """
    if isinstance(action.mark, int):
        return await _records_around(sender, action.mark, names)
    every = [each for each in await _all_records(sender) if each.rows]
    named = _sets_named(action.mark, every) if action.mark else every
    where = f'of "{safe_line(action.mark, 60)}"' if action.mark else "of the page"
    fitting = _sets_with_columns(named, names)
    if len(fitting) == 1:
        found = fitting[0]
        return found, f'"{safe_line(found.title, 60)}"' if found.title else where
    if not fitting and len(named) == 1:
        return named[0], where  # which says the columns that it has
    there = "; ".join(map(_describe, (fitting or named or every)[:_MOST_NAMED])) or "none"
    if fitting:
        words = f"{len(fitting)} sets of rows {where} have such columns; name a mark in one, or words of its heading"
        raise Refused("ambiguous", f"{words}: {there}.")
    asked = ", ".join(f'"{safe_line(name, 40)}"' for name in names)
    raise Refused("not_an_option", f"No table, list or cards {where} have the columns {asked}. There are: {there}.")


async def _records_around(sender: InputSender, number: int, names: list[str]) -> tuple[RecordSet, str]:
    must_be_element(number, sender.seen)
    at = await sender.locate(number)
    assert at.mark is not None
    assert at.frame is not None
    words = f"around {at.words}"
    table = await overlay_calls.table_around(at.frame, sender.deadline_s, at.mark.key)
    if table is not None and table.kind == "table":
        wide = max(map(len, table.rows), default=0)
        headings = table.headings or [f"column {at}" for at in range(1, wide + 1)]
        return RecordSet("table", "", headings, _without_head(headings, table.rows), ()), words
    around = await overlay_calls.record_sets(at.frame, sender.deadline_s, at.mark.key)
    fitting = next((each for each in around if _has_columns(each, names)), None)
    if fitting is None and not around:
        what_else = await _what_else(sender)
        raise Refused("unsupported", f"{mark_words(at.mark)} is not in a table or list, nor in cards; {what_else}.")
    return fitting or around[0], words


async def _what_else(sender: InputSender) -> str:
    """What to do where a mark is in no set of records: a table without a mark in it has a name all the same."""
    titles = dict.fromkeys(each.title for each in await _all_records(sender) if each.rows and each.title)
    if not titles:
        return "read the page instead"
    named = " or ".join(f'"{safe_line(title, 60)}"' for title in [*titles][:_MOST_NAMED])
    return f"read the page instead, or extract from what is called {named}, with these words as the mark"


async def _all_records(sender: InputSender) -> list[RecordSet]:
    """The sets of records of all frames that answer."""
    found: list[RecordSet] = []
    for scanned in sender.seen.scan.frames:
        if scanned.frame.is_detached():
            continue
        try:
            sets = await overlay_calls.record_sets(scanned.frame, sender.deadline_s)
        except FrameSilent:
            if scanned.parent is None:
                raise
            continue
        before = len(found)
        found += [
            replace(each, rows=_without_head(each.headings, each.rows), inside=tuple(before + at for at in each.inside))
            for each in sets
        ]
    return found


def _without_head(headings: list[str], rows: list[list[str]]) -> list[list[str]]:
    """The foot of a long table often repeats its head."""
    return [cells for cells in rows if cells != headings]


def _sets_named(words: str, sets: list[RecordSet]) -> list[RecordSet]:
    """The sets with this title, else those with the words in their title, else those that say them."""
    wanted = _normalize(words)
    return _sets_titled(words, sets) or [
        each for each in sets if any(wanted in _normalize(cell) for row in each.rows for cell in row)
    ]


def _sets_titled(words: str, sets: list[RecordSet]) -> list[RecordSet]:
    """The sets with this title, else those with the words in their title."""
    wanted = _normalize(words)
    titled = [each for each in sets if _normalize(each.title) == wanted]
    return titled or [each for each in sets if wanted and wanted in _normalize(each.title)]


def _sets_with_columns(sets: list[RecordSet], names: list[str]) -> list[RecordSet]:
    """The sets that have the columns, without those around another one that has them too."""
    fit = [each for each in sets if _has_columns(each, names)]
    return [each for each in fit if not any(other in fit for other in _sets_inside(each, sets))]


def _sets_inside(one: RecordSet, sets: list[RecordSet]) -> list[RecordSet]:
    return [sets[at] for at in one.inside if at < len(sets)]


def _has_columns(records: RecordSet, names: list[str]) -> bool:
    return all(len(_columns(name, records)) == 1 for name in names)


def _rows_words(many: int) -> str:
    return f"{many} row{'' if many == 1 else 's'}"


def _describe(records: RecordSet) -> str:
    """A set of records in words, with its title, its columns and the beginning of its first row."""
    title = f'"{safe_line(records.title, 40)}", ' if records.title else ""
    columns = ", ".join(f'"{safe_line(heading, 30)}"' for heading in records.headings[:_MOST_NAMED])
    first = safe_line(" | ".join(records.rows[0]), 40) if records.rows else ""
    return f"{_THE_SET[records.kind]} {title}{_rows_words(len(records.rows))} with {columns}, first {first}"


async def wait(sender: InputSender, action: Wait) -> Attempt:
    """Waits for a text, for any change, or for a number of seconds.

    Raises:
        Refused: the text or the change did not come in time.
    """
    began = time.monotonic()
    if action.text is None and not action.change:
        await asyncio.sleep(action.seconds)
        return Attempt(f"Waited {action.seconds:g} s", None)
    what = f'"{safe_line(action.text, 60)}" did not show' if action.text is not None else "Nothing changed"
    said = f'"{safe_line(action.text, 60)}" shows' if action.text is not None else "The page changed"
    before = sender.page.url
    while True:
        passed = time.monotonic() - began
        if action.text is not None:
            has_come = await shows_text(sender.page, sender.deadline_s, action.text)
        else:
            has_come = sender.page.url != before or await _has_changed(sender, passed)
        if has_come:
            return Attempt(f"{said} after {time.monotonic() - began:.1f} s", None, needs_no_effect=True)
        if passed >= action.seconds:
            raise Refused("timed_out", f"{what} within {action.seconds:g} s.")
        await asyncio.sleep(_LOOK_EVERY_S)


async def _has_changed(sender: InputSender, since_s: float) -> bool:
    for frame in sender.page.frames:
        try:
            stability = await overlay_calls.stability(frame, sender.deadline_s)
        except FrameSilent:
            continue
        if stability.quiet_ms < since_s * 1000:
            return True
    return False


async def _read_frames(sender: InputSender, what: str) -> str:
    """The text of all frames that answer, the main frame first, each child frame under its name."""
    parts = []
    for scanned in sender.seen.scan.frames:
        if scanned.frame.is_detached():
            continue
        try:
            text = await overlay_calls.read_text(scanned.frame, sender.deadline_s, what)
        except FrameSilent:
            if scanned.parent is None:
                raise
            continue
        if text:
            parts.append(f"[frame {scanned.name}]\n{text}" if scanned.name else text)
    return "\n".join(parts)


def _as_text(table: TableAnswer | RecordSet) -> str:
    return "\n".join(" | ".join(cells) for cells in [table.headings, *table.rows] if cells)


async def _table_called(sender: InputSender, words: str) -> tuple[str, str]:
    """The text of the table, list or cards with this caption, label or heading, and what it is.

    Raises:
        Refused: none is called so, or several are.
    """
    every = [each for each in await _all_records(sender) if each.rows and each.title]
    found = _sets_titled(words, every)
    if len(found) == 1:
        called = f'"{safe_line(found[0].title, 60)}"'
        return _as_text(found[0]), f"{_THE_SET[found[0].kind]} {called}, {len(found[0].rows)} rows"
    there = "; ".join(map(_describe, (found or every)[:_MOST_NAMED])) or "none with a caption or heading"
    asked = f'"{safe_line(words, 60)}"'
    if found:
        what_else = "name a mark in the one that is meant: read table at NAME"
        raise Refused("ambiguous", f"{len(found)} tables, lists or cards are called {asked}: {there}; {what_else}.")
    raise Refused("not_an_option", f"No table, list or cards here are called {asked}. There are: {there}.")


async def _table(sender: InputSender, number: int) -> tuple[TableAnswer, str]:
    must_be_element(number, sender.seen)
    at = await sender.locate(number)
    assert at.mark is not None
    assert at.frame is not None
    table = await overlay_calls.table_around(at.frame, sender.deadline_s, at.mark.key)
    if table is None and at.mark.kind == "surface":
        words = capitalised(mark_words(at.mark))
        raise Refused("unsupported", f"{words} shows no chart that can be read; words drawn there are in the listing.")
    if table is None:
        what_else = await _what_else(sender)
        raise Refused("unsupported", f"{mark_words(at.mark)} is not in a table or list; {what_else}.")
    return replace(table, rows=_without_head(table.headings, table.rows)), at.words


def _properties(json_schema: str) -> dict[str, dict[str, Any]]:
    try:
        schema = json.loads(json_schema)
        Draft202012Validator.check_schema(schema)
        item = schema["items"]
        if "$ref" in item:  # as pydantic writes a list of models
            item = schema["$defs"][item["$ref"].removeprefix("#/$defs/")]
        properties = item["properties"]
    except (ValueError, SchemaError, KeyError, TypeError) as error:
        example = '{"type": "array", "items": {"type": "object", "properties": {"Name": {"type": "string"}}}}'
        raise Refused("unsupported", f"json_schema must describe an array of objects, such as {example}.") from error
    return {name: each if isinstance(each, dict) else {} for name, each in properties.items()}


def _column(name: str, records: RecordSet, words: str) -> int:
    alike = _columns(name, records)
    if len(alike) != 1:
        there = ", ".join(f'"{safe_line(heading, 40)}"' for heading in records.headings) or "none"
        how_many = "no column" if not alike else f"{len(alike)} columns"
        what = f"{_THE_SET[records.kind]} {words}"
        has = "have" if records.kind in ("cards", "details") else "has"
        said = f'{what[:1].upper()}{what[1:]} {has} {how_many} "{safe_line(name, 40)}"; there are {there}.'
        raise Refused("not_an_option", said)
    return alike[0]


def _columns(name: str, records: RecordSet) -> list[int]:
    """The places of the columns that have this name. The heading of a card counts as its title and its name."""
    wanted = _normalize(name)
    alike = [place for place, heading in enumerate(records.headings) if _normalize(heading) == wanted]
    if not alike and records.kind in ("cards", "list") and wanted in _HEADS:
        return [place for place, heading in enumerate(records.headings) if heading == "heading"]
    return alike


def _normalize(text: str) -> str:
    """Letters and digits only, case-folded: headings and property names differ in case and separators."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _value(row: list[str], column: int, name: str, schema: dict[str, Any], number: int) -> str | float | int | None:
    """The content of a cell, as one of the types that the schema allows."""
    text, kinds = row[column] if column < len(row) else "", _types(schema)
    if "null" in kinds and text.strip() in _NOTHING:
        return None
    if not kinds & {"number", "integer"}:
        return text
    found = [match.group() for match in _NUMBER.finditer(text)]
    if "string" in kinds and found != [text.strip()]:
        return text
    if len(found) != 1:
        raise Refused(
            "unsupported",
            f'Row {number} has "{safe_line(text, 60)}" for {safe_line(name, 40)}, which is not a single number.',
        )
    value = float(found[0].replace(",", ""))
    return int(value) if value.is_integer() and ("number" not in kinds or "." not in found[0]) else value


def _types(schema: dict[str, Any]) -> set[str]:
    """The types that a schema allows, however it states them; `string` if it says nothing."""
    said = schema.get("type", [])
    kinds = {said} if isinstance(said, str) else {each for each in said if isinstance(each, str)}
    for way in ("anyOf", "oneOf"):
        kinds |= {kind for each in schema.get(way, []) if isinstance(each, dict) for kind in _types(each)}
    return kinds or {"string"}

"""Extracts tables, lists and repeated cards as rows that match a schema. Presses nothing."""

from __future__ import annotations

import json
from typing import Any

from vision_agent.actions import Extract
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.drawn_tables import DrawnRecords, drawn_records, drawn_table, with_columns
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.read import MOST_READ, has_table
from vision_agent.browser.act.record_sets import (
    THE_SET,
    all_records,
    columns_called,
    describe_sets,
    has_columns,
    only_mark_called,
    rows_elsewhere,
    rows_words,
    sets_called,
    sets_named,
    sets_with_columns,
    what_else,
    without_head,
)
from vision_agent.browser.locate.drawn_target import must_be_element
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay_calls.text import RecordSet
from vision_agent.browser.refusal import Refused
from vision_agent.text.escape import safe_line
from vision_agent.text.written_number import decimal_sign, is_plain_number, names_scale, number_in, unit_in
from vision_agent.vision.surfaces.things import UNREAD, UNSURE

_NOTHING = {"", "-", "–", "—", "−"}
"""Contents of a cell that count as empty."""


async def extract(sender: InputSender, action: Extract) -> Attempt:
    """Rows of a table, a list or repeated cards as JSON that matches a schema.

    Raises:
        Refused: the schema is invalid, no set of records or several have such columns, or a cell does not
            contain a single number where one is wanted.
    """
    from jsonschema import Draft202012Validator

    properties = _properties(action.json_schema)
    found, words = await _records(sender, action, [*properties])
    columns = {name: _column(name, found, words) for name in properties}
    decimals = {name: decimal_sign(_text(row, at) for row in found.rows) for name, at in columns.items()}
    commas = found.has_decimal_commas
    rows = [
        {
            name: _value(_text(row, columns[name]), name, properties[name], number, decimals[name], commas)
            for name in properties
        }
        for number, row in enumerate(found.rows, 1)
    ]
    for name, at in columns.items():
        _must_have_one_unit(name, [_text(row, at) for row in found.rows], [row[name] for row in rows])
    fault = next(Draft202012Validator(json.loads(action.json_schema)).iter_errors(rows), None)
    if fault is not None:
        of = f"{THE_SET[found.kind]} {words}"
        raise Refused("unsupported", f"The rows of {of} do not match the schema: {safe_line(fault.message, 200)}.")
    text = json.dumps(rows, ensure_ascii=False)
    if len(text) > MOST_READ:
        raise Refused(
            "unsupported", f"{len(rows)} rows are too many at once; ask for fewer columns, or read the table."
        )
    said = f"Extracted {rows_words(len(rows))} of {THE_SET[found.kind]} {words}"
    if isinstance(found, DrawnRecords):
        said = "; ".join([said, *found.notes])
    else:
        said += rows_elsewhere(found) + _footer_words(found)
    for name, at in columns.items():
        if names_scale(found.headings[at]) and any(isinstance(row[name], int | float) for row in rows):
            heading = safe_line(found.headings[at], 60)
            said += f'; the heading "{heading}" may say that its numbers are thousands or more, which are as written'
    return Attempt(said, None, read=text, needs_no_effect=True)


async def _records(sender: InputSender, action: Extract, names: list[str]) -> tuple[RecordSet, str]:
    """The one set of records that is meant, and where it is in words.

    Raises:
        Refused: there is none with these columns, or there are several.
    """
    if isinstance(action.mark, int):
        return await _records_around(sender, action.mark, names)
    every: list[RecordSet] = [each for each in await all_records(sender) if each.rows]
    called = only_mark_called(action.mark, sender)
    if called is not None and not sets_called(action.mark, every):
        return await _records_around(sender, called, names)
    named = sets_named(action.mark, every) if action.mark else every
    where = f'of "{safe_line(action.mark, 60)}"' if action.mark else "of the page"
    fitting = sets_with_columns(named, names)
    if not fitting and (drawn := [with_columns(each, names) for each in await drawn_records(sender)]):
        every += drawn
        named = sets_named(action.mark, every) if action.mark else every
        fitting = sets_with_columns(named, names)
    if len(fitting) == 1:
        found = fitting[0]
        if isinstance(found, DrawnRecords):
            return found, f"drawn in {found.drawn_in}"
        return found, f'"{safe_line(found.title, 60)}"' if found.title else where
    if not fitting and len(named) == 1:
        return named[0], where  # which says the columns that it has
    there = describe_sets(fitting or named or every) or "none"
    if fitting:
        words = f"{len(fitting)} sets of rows {where} have such columns; name a mark in one, or words of its heading"
        raise Refused("ambiguous", f"{words}: {there}.")
    asked = ", ".join(f'"{safe_line(name, 40)}"' for name in names)
    raise Refused("not_an_option", f"No table, list or cards {where} have the columns {asked}. There are: {there}.")


async def _records_around(sender: InputSender, number: int, names: list[str]) -> tuple[RecordSet, str]:
    mark = sender.seen.observation.mark(number)
    if mark is not None and (mark.kind == "surface" or mark.surface is not None):
        try:
            drawn = with_columns(await drawn_table(sender, mark, names), names)
            return drawn, f"drawn in {drawn.drawn_in}"
        except Refused as refusal:
            if mark.kind != "surface" or refusal.refusal != "unsupported" or not await has_table(sender, number):
                raise
    must_be_element(number, sender.seen)
    at = await sender.locate(number)
    assert at.mark is not None
    assert at.frame is not None
    words = f"around {at.words}"
    table = await overlay_calls.text.table_around(at.frame, sender.deadline_s, at.mark.key)
    if table is not None and table.kind == "table":
        wide = max(map(len, table.rows), default=0)
        headings = table.headings or [f"column {at}" for at in range(1, wide + 1)]
        rows = without_head(headings, table.rows)
        commas = table.has_decimal_commas
        return RecordSet("table", "", headings, rows, (), has_decimal_commas=commas, feet=table.feet), words
    around = await overlay_calls.text.record_sets(at.frame, sender.deadline_s, at.mark.key)
    fitting = next((each for each in around if has_columns(each, names)), None)
    if fitting is None and not around:
        instead = await what_else(sender)
        raise Refused("unsupported", f"{mark_words(at.mark)} is not in a table or list, nor in cards; {instead}.")
    return fitting or around[0], words


def _properties(json_schema: str) -> dict[str, dict[str, Any]]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

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
    alike = columns_called(name, records)
    if len(alike) != 1:
        there = ", ".join(f'"{safe_line(heading, 40)}"' for heading in records.headings) or "none"
        how_many = "no column" if not alike else f"{len(alike)} columns"
        what = f"{THE_SET[records.kind]} {words}"
        has = "have" if records.kind in ("cards", "details") else "has"
        said = f'{what[:1].upper()}{what[1:]} {has} {how_many} "{safe_line(name, 40)}"; there are {there}.'
        raise Refused("not_an_option", said)
    return alike[0]


def _text(row: list[str], column: int) -> str:
    return row[column] if column < len(row) else ""


def _value(
    text: str, name: str, schema: dict[str, Any], number: int, decimal: str | None, commas: bool
) -> str | float | int | None:
    """The content of a cell, as one of the types that the schema allows. `decimal` and `commas`: see `number_in`."""
    kinds = _types(schema)
    if UNREAD in text or UNSURE in text:
        what = f"something for {safe_line(name, 40)} that was not read"
        if UNREAD not in text:
            plain = safe_line(text.replace(UNSURE, "").strip(), 60)
            what = f'"{plain}" for {safe_line(name, 40)}, which may have been read wrongly'
        raise Refused("unsupported", f"Row {number} has {what}; read the table, and compare it with the picture.")
    if "null" in kinds and text.strip() in _NOTHING:
        return None
    if not kinds & {"number", "integer"} or ("string" in kinds and not is_plain_number(text)):
        return text
    try:
        value = number_in(text, decimal, has_decimal_commas=commas)
    except ValueError as error:
        if "string" in kinds:
            return text
        raise Refused(
            "unsupported",
            f'Row {number} has "{safe_line(text, 60)}" for {safe_line(name, 40)}, which {error}. Extract it as text.',
        ) from error
    is_whole = value == int(value) and ("number" not in kinds or "." not in str(value))
    return int(value) if is_whole else float(value)


def _footer_words(found: RecordSet) -> str:
    """A clause that the last rows are the footer of their table, to append; empty if they are not."""
    if not found.feet:
        return ""
    which = "row is its footer" if found.feet == 1 else f"{found.feet} rows are its footer"
    return f"; the last {which}, which may hold totals"


def _must_have_one_unit(name: str, texts: list[str], values: list[str | float | int | None]) -> None:
    """Checks that the numbers of a column are in one unit, as far as they name any.

    Raises:
        Refused: two of them are not.
    """
    first: tuple[int, str] | None = None
    for number, (text, value) in enumerate(zip(texts, values, strict=True), 1):
        unit = "" if isinstance(value, str | None) else unit_in(text)
        if first is None and unit:
            first = (number, unit)
        if first is not None and unit and unit != first[1]:
            one, other = safe_line(texts[first[0] - 1], 40), safe_line(text, 40)
            raise Refused(
                "unsupported",
                f'Row {first[0]} has "{one}" for {safe_line(name, 40)} and row {number} has "{other}", in another '
                "unit: their numbers cannot be compared. Extract it as text.",
            )


def _types(schema: dict[str, Any]) -> set[str]:
    """The types that a schema allows, however it states them; `string` if it says nothing."""
    said = schema.get("type", [])
    kinds = {said} if isinstance(said, str) else {each for each in said if isinstance(each, str)}
    for way in ("anyOf", "oneOf"):
        kinds |= {kind for each in schema.get(way, []) if isinstance(each, dict) for kind in _types(each)}
    return kinds or {"string"}

"""Parses what a step line names: `the Add button`, `2nd Save ‹Home›`, `[12]`, `(0.42, 0.31) of Seat map`."""

from __future__ import annotations

import re

from vision_agent.models.offline.line_targets import (
    PLACEHOLDER,
    GridCell,
    LineTarget,
    NamedTarget,
    NumberedTarget,
    PicturePoint,
    PointInMark,
)
from vision_agent.models.offline.line_text import (
    NUMBER,
    ONLY_TEXT,
    QUOTED,
    fail,
    has_empty_value,
    has_value,
    unquoted,
    with_values,
)
from vision_agent.models.offline.mark_kinds import KIND_WORDS
from vision_agent.text.values_apart import LETTER

POINT = re.compile(rf"\(\s*({NUMBER})\s*,\s*({NUMBER})\s*\)")
_CELL = re.compile(r"row\s+(\d+)\s*,?\s*column\s+(\d+)\s+of\s+(.+)", re.IGNORECASE)
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)\s+(?=\S)", re.IGNORECASE)
_KIND = re.compile(rf"\s+({'|'.join(sorted(KIND_WORDS))})$", re.IGNORECASE)
_DISTINCTION = re.compile(r"\s*(?:‹([^‹›]+)›|<([^<>]+)>)$")
IN_ROW = re.compile(rf"\s+in\s+row\s+({QUOTED}|.+)$", re.IGNORECASE)


def parse_target(text: str) -> LineTarget:
    """The target that a line names: a mark by name or number, a point, or a cell of a grid."""
    text = text.strip()
    point = POINT.match(text)
    if point:
        return _place(float(point[1]), float(point[2]), text[point.end() :].strip())
    cell = _CELL.fullmatch(text)
    if cell:
        inside = parse_target(cell[3])
        if not isinstance(inside, NamedTarget | NumberedTarget):
            fail("a row and a column belong to a named thing")
        if not (int(cell[1]) and int(cell[2])):
            fail("rows and columns count from 1")
        return GridCell(int(cell[1]), int(cell[2]), inside)
    if has_value(text) and re.fullmatch(rf"\[[BILFOM]?{LETTER}\]|\(\s*\S+\s*,\s*\S+\s*\)", text):
        fail(ONLY_TEXT)
    number = re.fullmatch(r"\[([BILFOM]?)(\d+)\]", text)
    return NumberedTarget(int(number[2]), number[1]) if number else _named(text)


def _place(x: float, y: float, rest: str) -> PicturePoint | PointInMark:
    if not rest:
        return PicturePoint(x, y)
    if not rest.lower().startswith("of "):
        fail(f"after the point comes {rest!r}, not `of` and a name")
    if x > 1 or y > 1:
        fail("a point inside a thing is given as fractions of its box, from 0 to 1")
    inside = parse_target(rest[3:])
    if not isinstance(inside, NamedTarget | NumberedTarget):
        fail("a point is inside a named thing, not inside a point")
    return PointInMark(x, y, inside)


def _named(text: str) -> NamedTarget:
    if has_empty_value(text):
        fail("a value of the table in it is empty, so it does not say which one")
    rest = text.removeprefix("the ").strip()
    ordinal = _ORDINAL.match(rest)
    nth = int(ordinal[1]) if ordinal else 0
    rest = rest[ordinal.end() :] if ordinal else rest
    # All of a quoted text is the name, whatever stands in it.
    distinction = None if (is_quoted := re.fullmatch(QUOTED, rest)) else _DISTINCTION.search(rest)
    beside = (distinction[1] or distinction[2]).strip() if distinction else ""
    in_row = None if is_quoted else IN_ROW.search(rest)
    if in_row is not None and (distinction is None or PLACEHOLDER.fullmatch(in_row[1])):
        distinction, beside = in_row, unquoted(in_row[1])
    rest = rest[: distinction.start()] if distinction else rest
    kind = _KIND.search(rest)
    name = rest[: kind.start()].strip() if kind else rest
    quoted = re.fullmatch(QUOTED, name)
    name = unquoted(name) if quoted else name
    if not (name or beside):
        fail("it does not say which one")
    if ordinal and nth == 0:
        fail("ordinals count from 1st")
    # Quotes mark the exact name; without them all of the text may be a name, such as `Sort list`.
    words = name if quoted and not (kind or nth or distinction) else text
    said = kind[1].lower() if kind else ""
    return NamedTarget(
        words=_as_listed(words),
        name=_as_listed(name),
        kind=said,
        nth=nth,
        beside=_as_listed(beside),
        is_exact=has_value(text),
        is_beside_exact=has_value(distinction[0]) if distinction else False,
        in_row=distinction is not None and distinction is in_row,
        is_quoted=bool(quoted),
    )


def _as_listed(text: str) -> str:
    """The text with its values, spaced as a listing spaces it: each run of blanks is one plain blank."""
    return " ".join(with_values(text).split())

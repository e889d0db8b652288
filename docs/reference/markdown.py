"""Text, tables and JSON as Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def alias(made: type) -> str:
    """An anchor by which links find a class from anywhere."""
    return f"[](){{ #{made.__module__}.{made.__name__} }}"


_MARKED_UP = re.compile(r"`[^`]*`|(?<![\w`-])--[a-z][\w-]*(?:[ =][A-Z]+)?|VISION_AGENT_\w*(?:=\w+)?")


def prose(text: str) -> str:
    """Text of a docstring or a help as Markdown: what is not code is escaped, flags become code."""
    parts, at = [], 0
    for match in _MARKED_UP.finditer(text):
        parts.append(_escaped(text[at : match.start()]))
        parts.append(match[0] if match[0].startswith("`") else f"`{match[0]}`")
        at = match.end()
    return "".join([*parts, _escaped(text[at:])])


def _escaped(text: str) -> str:
    # `*word*` stays what it is: emphasis.
    return re.sub(r"(\*(?!\w[^*]*\w\*)(?<!\w\*)|[_\[\]|])", r"\\\1", escape(text, quote=False))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table without the columns that are empty in all of its rows."""
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    kept = [column for column in range(len(head)) if any(row[column] for row in cells)]
    lines = [
        [head[column] for column in kept],
        ["---"] * len(kept),
        *([row[column] for column in kept] for row in cells),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def json_text(value: Any) -> str:
    """JSON on several lines."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def json_line(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False)


def anchor(text: str) -> str:
    """A heading's id."""
    return re.sub(r"[\s/]+", "-", text)


def markdown_page(parts: Iterable[str]) -> str:
    """A page of these parts; empty ones are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"

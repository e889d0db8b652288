"""The page of step lines, from the grammar and its examples."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from vision_agent.geometry import Box, Size
from vision_agent.models.offline import grammar
from vision_agent.observation import Mark, Observation, Shot

from .docstrings import sentences
from .markdown import json_line, markdown_page, markdown_table


def step_lines_page() -> str:
    """The page: each example line with the action that it becomes."""
    examples, _, rules = grammar.GRAMMAR.partition("\nA thing is named")
    rows = [(f"`{line}`", f"`{json_line(made)}`") for line, made in example_lines(examples)]
    parts = [
        "# Step lines",
        "A step line is one action in plain words. "
        "Files of step lines are followed with `--steps`, and people type them when they supervise a run.",
        "All lines are parsed before the first one is carried out.",
        "## Lines and the actions they become",
        "The numbers in the actions are those of the marks that the names stand for.",
        markdown_table(("Line", "Action"), rows),
        "`finish` ends the run as done and `fail` as not done; `infeasible` says that it cannot be done by anybody.",
        "## Targets",
        *sentences(f"A thing is named{rules}"),
        "If words fit two marks equally well, neither is taken: the line fails and names the candidates.",
        "## The same as text",
        f"```text\n{textwrap.dedent(examples)}\n```",
    ]
    return markdown_page(parts)


_EXAMPLE_MARKS = (
    ("Sign in", "button"), ("Email", "field"), ("Notes", "field"), ("Size", "list"), ("List", "list"),
    ("News", "toggle"), ("Terms", "toggle"), ("Delivery day", "field"), ("Attach", "file"), ("Total", "table"),
    ("Slider", "field"), ("Menu", "button"), ("Card", "button"), ("Done", "button"), ("Corner", "button"),
    ("Toolbar", "button"), ("Sea chart", "surface"), ("Pause", "button"), ("Map", "surface"), ("Fire", "button"),
)  # fmt: skip


def example_lines(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each example of the grammar, completed to a whole line, with the action that it becomes."""
    page = _example_page()
    for line in _examples_in(text):
        [parsed] = grammar.parse([line])
        made = parsed.build(page)
        yield line, {"kind": made.kind, **made.model_dump(mode="json", exclude_defaults=True)}


def _examples_in(text: str) -> Iterator[str]:
    for row in text.splitlines():
        parts = re.split(r"\s{2,}", row.strip())
        for part in (each for more in parts for each in _BETWEEN_LINES.split(more)):
            line = f'type "a@b.c" into Email {part}' if part.startswith("and ") else part
            line = f"{line} Sign in" if line in ("double click", "right click") else line
            for word, example in _PLACEHOLDERS.items():
                line = re.sub(rf"\b{word}\b", example, line)
            yield line


_BETWEEN_LINES = re.compile(rf"[,;] (?=(?:{'|'.join(grammar._VERBS)})\b)")


_PLACEHOLDERS = {
    "QUESTION": "Which colour?",
    "URL": "https://example.org/",
    "ANSWER": "The total is 12",
    "REASON": "There is no such page",
}


def _example_page() -> Observation:
    marks = [_example_mark(number, name, kind) for number, (name, kind) in enumerate(_EXAMPLE_MARKS, 1)]
    marks += [
        _example_mark(number, "Delete", "button", context=words)
        for number, words in enumerate(("Ann", "Bob"), len(marks) + 1)
    ]
    return Observation(
        id="example",
        epoch=1,
        url="https://example.org/",
        title="",
        taken_at=datetime(2026, 1, 1, tzinfo=UTC),
        viewport=Size(width=1280, height=800),
        marks=tuple(marks),
        listing="",
        clean=_example_shot(),
        marked=_example_shot(),
    )


def _example_shot() -> Shot:
    return Shot(media_type="image/png", size=Size(width=1280, height=800), sha256="0" * 64)


def _example_mark(number: int, name: str, kind: str, **more: Any) -> Mark:
    tag, role, of_kind = {
        "list": ("select", "combobox", "field"),
        "field": ("input", "textbox", "field"),
        "file": ("input", "button", "field"),
        "toggle": ("input", "checkbox", "toggle"),
        "surface": ("canvas", "img", "surface"),
        "table": ("table", "table", "button"),
    }.get(kind, ("button", "button", kind))
    box = Box(x=100, y=30.0 * number, width=200, height=20)
    given = {"tag": tag, "role": role, "kind": of_kind, "name": name, "box": box, "point": box.center, **more}
    return Mark(number=number, **given)

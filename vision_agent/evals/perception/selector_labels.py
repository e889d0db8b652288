"""Reads labels that name the targets of a page by selectors, and asks the page which elements they select.

Such labels are for pages whose elements have no ids of one's own. Each entry is a CSS selector, the number of elements
that it means, and in words what they are; selectors see through shadow roots and frames of the same origin:

- `targets`: each element must have one mark; with `beside`, siblings that match that selector do the same;
- `scrollers`: each must be marked as something that scrolls;
- `either`: a mark is neither right nor wrong;
- `never`: a mark is wrong, as on everything that no entry names.

A mark belongs to the innermost named element around what its point hits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.async_api import Page

from vision_agent.geometry import Box

KINDS = ("targets", "scrollers", "either", "never")


@dataclass(frozen=True)
class Entry:
    """Elements that are labelled alike."""

    kind: str
    """One of `KINDS`."""
    what: str
    at: str
    """The selector."""
    count: int = 1
    beside: str = ""


@dataclass(frozen=True)
class Place:
    """What is labelled at a point."""

    entry: Entry | None
    """None where no entry names anything."""
    number: int
    """Which of the entry's elements."""
    hit: str
    """The innermost element at the point."""


@dataclass(frozen=True)
class LabelledPage:
    """What the entries mean in a page, and what is labelled at the given points."""

    boxes: dict[Entry, tuple[Box, ...]]
    """The boxes of each entry's elements that show."""
    places: tuple[Place, ...]

    @property
    def misfits(self) -> tuple[str, ...]:
        """The entries that mean another number of elements than they say: the page is not the one that was labelled."""
        return tuple(
            f"{entry.what} ({entry.at}): {len(boxes)} show, {entry.count} are labelled"
            for entry, boxes in self.boxes.items()
            if len(boxes) != entry.count
        )


def entries_of(labels: Path) -> list[Entry]:
    """The entries of a label file; none if it names its targets in another way."""
    content = json.loads(labels.read_text("utf-8"))
    return [Entry(kind, **each) for kind in KINDS for each in content.get(kind, ())] if "targets" in content else []


async def ask(tab: Page, entries: Sequence[Entry], points: Sequence[tuple[float, float]]) -> LabelledPage:
    """What the entries mean in a page that is watched (`page_facts.watch`), and what is at points of its viewport."""
    asked = [{"kind": entry.kind, "at": entry.at, "beside": entry.beside} for entry in entries]
    script = (Path(__file__).parent / "selector_labels.js").read_text("utf-8")
    answer: dict[str, Any] = await tab.evaluate(script, {"entries": asked, "points": [list(each) for each in points]})
    boxes = {
        entry: tuple(Box(x=x, y=y, width=width, height=height) for x, y, width, height in shown)
        for entry, shown in zip(entries, answer["shown"], strict=True)
    }
    places = tuple(
        Place(entries[each["entry"]] if each["entry"] >= 0 else None, each["place"], each["hit"])
        for each in answer["found"]
    )
    return LabelledPage(boxes, places)

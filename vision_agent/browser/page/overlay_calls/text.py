"""A document's text: read, found, selected, and as tables and records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from playwright.async_api import ElementHandle, Frame

from vision_agent.browser.page.frame_place import Spot, ViewportOffset
from vision_agent.browser.page.overlay import ask
from vision_agent.browser.page.overlay_calls.answer_parts import Obstacle, obstacle_of, spot_of
from vision_agent.observation import MarkKey


async def read_text(frame: Frame, deadline_s: float, what: str) -> str:
    """The text of a document, all of it or the visible part, one line per block."""
    return str((await ask(frame, "read", deadline_s, what=what))["text"])


class ShownText(NamedTuple):
    """Whether a text shows as whole words and numbers, and what shows instead of it."""

    shows: bool
    near: str = ""
    """The words or the number that it is only a part of, without what is hidden."""
    is_struck: bool = False
    """It shows, but struck through."""


async def find_shown_text(frame: Frame, deadline_s: float, text: str, veiled: Sequence[str]) -> ShownText:
    """Whether a person can see a text in the document, here or by scrolling, if they see the document.

    `veiled`: what the document shows of hidden values. Text that reaches into it does not show.
    """
    answer = await ask(frame, "shows_text", deadline_s, text=text, veiled=list(veiled))
    return ShownText(answer["shows"], answer["near"], answer["struck"])


async def text_to_search(frame: Frame, deadline_s: float) -> str:
    """All that a document says, in which hidden values are searched for."""
    return str((await ask(frame, "text_to_search", deadline_s))["text"])


async def is_frame_seen(element: ElementHandle, deadline_s: float) -> bool:
    """Whether a person can see the element of a frame in the document around it, here or by scrolling."""
    return bool((await ask(element, "frame_seen", deadline_s))["seen"])


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """A table or a list, as text."""

    kind: Literal["table", "list"]
    headings: list[str]
    rows: list[list[str]]
    has_decimal_commas: bool = False
    """Whether its language has a comma before decimals."""
    rows_told: int | None = None
    """How many rows the page says that there are, if the document does not hold all of them."""
    goes_on: bool = False
    """There are surely more rows than the document holds."""
    feet: int = 0
    """How many rows at the end are the footer."""


async def table_around(frame: Frame, deadline_s: float, key: str) -> TableAnswer | None:
    """The table or list around or inside an element; None if there is none, or the element is gone."""
    answer = await ask(frame, "table", deadline_s, key=key)
    if not answer["found"] or answer["kind"] is None:
        return None
    more = (answer["commas"], answer["told"], answer["goesOn"], answer["feet"])
    return TableAnswer(answer["kind"], answer["headings"], answer["rows"], *more)


@dataclass(frozen=True, slots=True)
class RecordSet:
    """Records that are alike, each with the same columns: a table, a list, repeated cards, or one group of details."""

    kind: Literal["table", "list", "details", "cards"]
    title: str
    """Its caption, its label, or the heading before it; empty if there is none."""
    headings: list[str]
    rows: list[list[str]]
    inside: tuple[int, ...]
    """The places, in the answer, of the sets inside this one."""
    under: str = ""
    """The heading before it, which is its title if it has no caption and no label."""
    has_decimal_commas: bool = False
    """Whether its language has a comma before decimals."""
    rows_told: int | None = None
    """How many rows the page says that there are, if the document does not hold all of them."""
    goes_on: bool = False
    """There are surely more rows than the document holds."""
    feet: int = 0
    """How many rows at the end are the footer."""


async def record_sets(frame: Frame, deadline_s: float, key: str | None = None) -> tuple[RecordSet, ...]:
    """The sets of records in a document, or those around an element, the innermost first; none if it is gone."""
    answer = await ask(frame, "record_sets", deadline_s, key=key)
    if not answer["found"]:
        return ()
    return tuple(
        RecordSet(
            each["kind"],
            each["title"],
            each["headings"],
            each["rows"],
            tuple(each["inside"]),
            each["under"],
            each["commas"],
            each["told"],
            each["goesOn"],
            each["feet"],
        )
        for each in answer["sets"]
    )


@dataclass(frozen=True, slots=True)
class FoundText:
    """Where a text that shows exactly once begins and ends."""

    text: str
    selects: str
    """The text as its selection gives it, without the spaces beside raised digits."""
    points: tuple[Spot, ...]
    """One in its first letter and one in its last."""
    is_shown: bool
    """Whether both are in view."""
    zoom: ViewportOffset
    key: MarkKey
    """The key of the element in which it begins."""
    fingerprint: str
    pressed: Obstacle | None
    """The element that would react to a press there."""
    obstacle: Obstacle | None


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """How often a text appears, and where, if exactly once."""

    count: int
    found: FoundText | None = None
    places: tuple[str, ...] = ()
    """Some of the places where it appears, with the words around it, if there are several."""


async def find_text(
    frame: Frame, deadline_s: float, first: str, last: str, around: str, veiled: Sequence[str]
) -> TextAnswer:
    """Where a text from `first` to `last` is in a document; `around`: words that hold `first`, where it shows twice.

    None of these words are found in `veiled`, which is what the document shows of hidden values.
    """
    answer = await ask(frame, "words", deadline_s, first=first, last=last, around=around, veiled=list(veiled))
    if not answer.get("ends"):
        return TextAnswer(answer["count"], places=tuple(answer.get("places", ())))
    found = FoundText(
        text=answer["text"],
        selects=answer["selects"],
        points=tuple(map(spot_of, answer["points"])),
        is_shown=answer["shown"],
        zoom=spot_of(answer["zoom"]),
        key=MarkKey(answer["key"]),
        fingerprint=answer["fingerprint"],
        pressed=obstacle_of(answer["pressed"], answer["pressedKey"]),
        obstacle=obstacle_of(answer["blocker"], answer["blockerKey"]),
    )
    return TextAnswer(answer["count"], found)


async def selected_text(frame: Frame, deadline_s: float) -> str:
    """The selected text, with runs of whitespace as one space."""
    return str((await ask(frame, "selected", deadline_s))["text"])

"""Scrolling, and what can be scrolled to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from playwright.async_api import Frame

from vision_agent.browser.page.overlay import ask
from vision_agent.observation import MarkKey


@dataclass(frozen=True, slots=True)
class Scrolled:
    """How far a container was scrolled, and how much is left each way, in CSS pixels."""

    container: str
    moved_x: float
    moved_y: float
    above: float
    below: float
    left: float
    right: float


async def scroll(
    frame: Frame, deadline_s: float, key: str | None, *, x: float = 0, y: float = 0, in_pixels: bool = False
) -> Scrolled | None:
    """Scrolls the container of an element, or the page, by shares of its view or by pixels.

    None if the element is gone.
    """
    answer = await ask(frame, "scroll", deadline_s, key=key, x=x, y=y, inPixels=in_pixels)
    if not answer["found"]:
        return None
    sides = (answer["above"], answer["below"], answer["left"], answer["right"])
    return Scrolled(answer["container"], answer["movedX"], answer["movedY"], *sides)


async def scroll_places(
    frame: Frame, deadline_s: float, key: str, *, back_to: Sequence[tuple[float, float]] = ()
) -> tuple[tuple[float, float], ...]:
    """How far all that scrolls around an element is scrolled, in CSS pixels: from the inside out, the page last.

    `back_to`: such places, to which everything is scrolled first.
    """
    answer = await ask(frame, "scroll_places", deadline_s, key=key, places=[list(place) for place in back_to])
    return tuple((left, top) for left, top in answer["places"])


class FoundNamed(NamedTuple):
    """An element that has a given name, in view or not."""

    key: MarkKey
    words: str
    """As the overlay describes elements: `<button> "Pay"`."""
    beside: str
    x: float
    y: float
    """Its middle in the viewport of its frame."""


class ScrollerFound(NamedTuple):
    """A document or an element that scrolls up and down, or else sideways."""

    key: MarkKey
    words: str
    is_page: bool
    is_upright: bool
    at: float
    """How far it is scrolled, in CSS pixels."""
    left: float
    """How far it can be scrolled in all."""
    view: float
    """How much of it is visible."""
    x: float
    y: float
    """Its top left corner in the viewport of its frame."""


@dataclass(frozen=True, slots=True)
class NamedAnswer:
    """The things in a document that have a given name."""

    rank: Literal["name", "similar name", "text", "passage", ""]
    """How well the names of the findings match: no other matches better; empty if there are none."""
    count: int
    found: tuple[FoundNamed, ...]
    """The first few of them."""
    scrollers: tuple[ScrollerFound, ...]
    digest: str
    """Differs if the document shows other things."""
    is_cut: bool
    """Whether it was too large to be searched to its end."""


async def find_named(frame: Frame, deadline_s: float, text: str, veiled: Sequence[str]) -> NamedAnswer:
    """The things in a document that have a given name, in view or scrolled out of it.

    No name is found in `veiled`, which is what the document shows of hidden values.
    """
    answer = await ask(frame, "named", deadline_s, text=text, veiled=list(veiled))
    return NamedAnswer(
        rank=answer["rank"],
        count=answer["count"],
        found=tuple(
            FoundNamed(MarkKey(each["key"]), each["words"], each["beside"], each["x"], each["y"])
            for each in answer["found"]
        ),
        scrollers=tuple(
            ScrollerFound(
                MarkKey(each["key"]),
                each["words"],
                each["isPage"],
                each["isUpright"],
                each["at"],
                each["left"],
                each["view"],
                each["x"],
                each["y"],
            )
            for each in answer["scrollers"]
        ),
        digest=answer["digest"],
        is_cut=answer["isCut"],
    )

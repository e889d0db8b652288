"""Parts of several answers: the words around an element, what covers it, and whether its document is stable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from vision_agent.browser.page.frame_place import Rect, Spot
from vision_agent.geometry import Box
from vision_agent.observation import MarkKey, Wording

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What a click would hit instead of its target."""

    words: str
    key: MarkKey | None
    count: int = 1
    """How many targets or points it covers."""


class Beside(NamedTuple):
    """The words that a person reads around a mark."""

    words: str
    heading: str

    @property
    def says(self) -> str:
        """The words beside it, or else the heading."""
        return self.words or self.heading


NOTHING_BESIDE = Beside("", "")


class RowContext(NamedTuple):
    """The words beside a mark and the heading over it, from `row_context.js`."""

    beside: Beside
    """The words are empty if they are only the start of a box too large to be one row."""
    firm: Beside
    """The same including amounts, if there are any."""
    title: str
    """What the box with these words is itself called: its heading or its row header. Empty if it has none."""
    time: str
    """The time of day that its row begins with, or empty."""
    wording: Wording | None
    """The same word for word; None if the words are only the start of a box too large to be one row."""
    governing: tuple[str, ...]
    """Text that governs it from farther away and is not in the listing: higher headings, spanning cells, a tab."""
    answer: Json
    """The answer as received; it is sent back to the page for comparison."""

    @property
    def around(self) -> str:
        """All words of its box, even if the box is too large to be one row."""
        return str(self.answer["words"])


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """How the words around an element differ from the earlier ones."""

    part: Literal["words", "heading", "fields"]
    """`fields`: what goes with a press of it, such as a hidden field of its form."""
    then: str
    now: str
    may_pass: bool = False
    """Only amounts that keep changing on their own differ, and they may change back."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The words that should be around an element, and how strictly they are compared; see `row_context.js`."""

    context: RowContext | None
    strict: bool = False
    amounts: bool = False
    pointed: bool = False
    """The pointer is on it, which may have added words."""
    carried: str = ""
    """The words of what is dragged over it: they may be elsewhere among the words around it, or missing."""
    frames: tuple[RowContext | None, ...] = ()
    """The words that should be around each frame that contains it, innermost first."""

    def as_details(self) -> dict[str, Any]:
        """The fields of a question that carry the expectation."""
        place, *frames = (each.answer if each else None for each in (self.context, *self.frames))
        how = {"strict": self.strict, "amounts": self.amounts, "pointed": self.pointed, "carried": self.carried}
        return {"place": place, "frames": frames, **how}


NOTHING_EXPECTED = Expectation(None)


@dataclass(frozen=True, slots=True)
class Stability:
    """How long a document has not changed, and what is still going on in it."""

    token: str
    quiet_ms: float
    """Without what keeps changing on its own."""
    unchanged_ms: float
    """With it."""
    is_loading: bool
    moving: int
    """Number of running finite animations."""
    drawings: tuple[Box, ...]
    """The boxes of the first things in its view that its document does not reveal."""
    view: Box
    """What the document shows."""
    is_restless: bool
    """Some of its text or elements keep changing on their own."""
    changing_ms: float
    """How long changes followed each other without a longer pause, up to the last; without what changes on its own."""


def keys_of(answer: Sequence[str]) -> tuple[MarkKey, ...]:
    """The keys in an answer."""
    return tuple(map(MarkKey, answer))


def spot_of(answer: Json) -> Spot:
    """A spot in an answer."""
    return answer["x"], answer["y"]


def rect_of(answer: Json) -> Rect:
    """A rectangle in an answer."""
    return Rect(answer["x"], answer["y"], answer["width"], answer["height"])


def obstacle_of(words: str | None, key: str | None) -> Obstacle | None:
    """What covers something; None if nothing does."""
    return None if not words else Obstacle(words, MarkKey(key) if key else None)


def obstacles_of(answer: Sequence[Json]) -> tuple[Obstacle, ...]:
    """What covers several things."""
    return tuple(Obstacle(each["blocker"], MarkKey(each["key"]), each["count"]) for each in answer)


def context_of(answer: Json | None) -> RowContext | None:
    """The words around an element; None if the answer has none."""
    if answer is None:
        return None
    is_head = answer["how"] == "head"
    words = "" if is_head else answer["words"]
    # The words of a part of the page are not told, so that amounts in them count only here.
    untold = answer["words"] if is_head else ""
    firm = Beside(answer.get("firm", untold), answer.get("firmHeading", ""))
    title = answer["title"] if answer["title"] in words or answer["title"] == answer["heading"] else ""
    wording = _wording_of(answer, title)
    # What the page compares is not in it: a clock would make it another answer.
    kept = {name: value for name, value in answer.items() if name not in _WORD_FOR_WORD}
    return RowContext(
        Beside(words, answer["heading"]),
        firm,
        title,
        answer.get("time", ""),
        _without_row(wording) if is_head else wording,
        tuple(answer["governing"]),
        kept,
    )


def _without_row(wording: Wording) -> Wording | None:
    """What a mark lies in and is under, where its row is not known; None if that is nothing."""
    is_told = wording.within or wording.over
    return wording.model_copy(update={"parts": (), "title": "", "own": (), "outer": ""}) if is_told else None


_WORD_FOR_WORD = frozenset({"parts", "wholeTitle", "wholeHeading", "own", "outer", "within"})


def _wording_of(answer: Json, title: str) -> Wording:
    parts = tuple(answer["parts"])
    whole = answer.get("wholeTitle", title)
    is_said = title or whole in " ".join(parts)
    return Wording(
        parts=parts,
        title=whole if is_said else "",
        heading=answer["wholeHeading"],
        own=tuple(answer.get("own", ())),
        outer=answer.get("outer", ""),
        within=tuple(answer.get("within", ())),
        over=tuple(answer["governing"]),
    )


def difference_of(held: Json | None) -> ContextDifference | None:
    """How the words around an element differ; None if they do not."""
    if not held or held["same"]:
        return None
    return ContextDifference(held["part"], held["then"], held["now"], held.get("mayPass", False))


def stability_of(answer: Json) -> Stability:
    """How stable a document is."""
    return Stability(
        answer["token"],
        answer["quietMs"],
        answer["unchangedMs"],
        answer["ready"] == "loading",
        answer["moving"],
        tuple(Box(x=x, y=y, width=width, height=height) for x, y, width, height in answer["drawings"]["boxes"]),
        Box(x=0, y=0, width=answer["drawings"]["view"][0], height=answer["drawings"]["view"][1]),
        answer["restless"],
        answer["changingMs"],
    )

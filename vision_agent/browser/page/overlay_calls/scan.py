"""A scan of a frame: everything in it that can be acted on, and what has changed since."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

from playwright.async_api import Frame

from vision_agent.actions import Point
from vision_agent.browser.page.frame_place import FramePlace, Plane, Rect, main_frame_place
from vision_agent.browser.page.overlay import ask
from vision_agent.browser.page.overlay_calls.answer_parts import (
    NOTHING_BESIDE,
    Beside,
    Json,
    Obstacle,
    RowContext,
    context_of,
    keys_of,
    obstacles_of,
    rect_of,
    spot_of,
)
from vision_agent.browser.page.overlay_calls.shown_words import (
    ShownState,
    ShownWord,
    shown_states,
    shown_words,
    word_boxes,
)
from vision_agent.geometry import Box, ScrollState
from vision_agent.observation import EnterPress, Kind, MarkKey, MarkState, Wording
from vision_agent.text.money import amounts_in

_ABRIDGED = re.compile(r" …[0-9a-z]+$")
"""How `steady_text.js` ends a text whose middle it leaves out."""
_NO_STATE = MarkState()

_Answer = TypeVar("_Answer")
_T = TypeVar("_T")


class FoundEnter(NamedTuple):
    """What Enter in a field sets off, and what tells the button that it presses from others."""

    press: EnterPress
    fingerprint: str


class FoundMark(NamedTuple):
    """An element that can be acted on, in page coordinates."""

    key: MarkKey
    tag: str
    role: str
    kind: Kind
    name: str
    state: MarkState
    box: Box
    points: tuple[Point, ...]
    """Points at which a click reaches it, best first."""
    evidence: tuple[str, ...]
    fingerprint: str
    in_dialog: bool
    context: RowContext | None
    frame: str
    """The name of its frame in the listing; empty for the main frame."""
    frame_context: RowContext | None
    """The words around its frame in the parent document."""
    rect: Rect | None
    """For a surface: its whole rectangle in its own frame, in view or not."""
    whole: Box | None
    """The same on the page."""
    shows: str
    """The text painted in it, if that disagrees with its name."""
    says: str
    """The texts beside its name that say what it does."""
    body: Box | None = None
    """Where a drawn shape shows, if it does not fill its box."""
    enter: FoundEnter | None = None
    """What Enter sets off in its form; None for what is no field, and without a form."""

    @property
    def beside(self) -> Beside:
        """The words around it, or else around its frame."""
        for context in (self.context, self.frame_context):
            if context is not None and any(context.beside):
                return context.beside
        return NOTHING_BESIDE

    @property
    def title(self) -> str:
        """What the row or card around it is itself called; its words have that too."""
        return self.context.title if self.context else ""

    @property
    def wording(self) -> Wording | None:
        """The words around it as the page has them; None where only those around its frame are known."""
        return self.context.wording if self.context else None

    @property
    def time(self) -> str:
        """The time of day that its row begins with, which its words may leave out."""
        return self.context.time if self.context else ""

    @property
    def prices(self) -> tuple[str, ...]:
        """The amounts of money beside it that `beside` leaves out; none if the words are too long to be known whole."""
        firm = self.context.firm if self.context else NOTHING_BESIDE
        if _ABRIDGED.search(firm.words):
            return ()
        return tuple(dict.fromkeys(each.words for text in firm for each in amounts_in(text)))

    @property
    def governing(self) -> str:
        """The text that governs it from farther away, on one line."""
        return " › ".join(self.context.governing) if self.context else ""


@dataclass(frozen=True, slots=True)
class OpenLayer:
    """A visible dialog, alert or popover."""

    key: MarkKey
    kind: Literal["dialog", "alert", "popover"]
    words: str


@dataclass(frozen=True, slots=True)
class ContextLine:
    """Text that is not the name of a mark."""

    text: str
    at: Point
    letters: tuple[Box, ...]
    """Page boxes of its first lines of letters; none if nobody could read them."""
    certain: str
    """The text without the parts that may have the colour of their background."""
    doubtful: tuple[Box, ...]
    """Page boxes of these parts."""
    over: str | None = None
    """For letters without colour over a drawing, as in the text layer of a PDF: the key of the drawing's mark, or
    empty."""


@dataclass(frozen=True, slots=True)
class FilledField:
    """A field whose value is visible, whether or not a click reaches it."""

    key: MarkKey
    value: str
    box: Box


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle in the viewport of one frame, by its edges."""

    x: float
    y: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class FrameElement:
    """A frame's own element in its parent document."""

    key: MarkKey
    plane: Plane | None
    """None if it has no size."""
    seen: Area
    """The visible part of the frame, in the frame's own pixels."""
    context: RowContext | None
    is_inert: bool
    may_scroll: bool
    """Whether its document may scroll: it has no `scrolling=no`."""


@dataclass(frozen=True, slots=True)
class OutOfView:
    """Elements in the document that scrolling would bring into view."""

    side: Literal["above", "below", "left", "right"]
    scroller: MarkKey | None
    """The key of the element that has scrolled them out of its view; None for the page."""
    keys: tuple[MarkKey, ...]


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """What a scan found in one frame."""

    id: str
    """The id of the answer, while the page may say that it still holds; else empty."""
    token: str
    """Identifies the document."""
    url: str
    title: str
    status: int
    """The HTTP status that the document came with; 0 if none is known."""
    place: FramePlace
    """Where the frame lies on the page."""
    marks: tuple[FoundMark, ...]
    covered: tuple[Obstacle, ...]
    layers: tuple[OpenLayer, ...]
    context: tuple[ContextLine, ...]
    living: tuple[MarkKey, ...]
    """The known keys whose element is still in the document."""
    out_of_view: tuple[OutOfView, ...]
    """Those of them that are only scrolled out of view."""
    frames: Mapping[MarkKey, FrameElement]
    fields: tuple[FilledField, ...]
    words: tuple[ShownWord, ...]
    """In document order, if they were asked for."""
    pictures: tuple[DrawnPicture, ...]
    """What draws words that are not among them, if they were asked for."""
    scroll: ScrollState
    device_ratio: float
    is_right_to_left: bool
    is_out_of_budget: bool
    unopened_roots: int
    """Number of elements that may have a closed shadow root unknown to the overlay."""
    failed: int
    """Number of elements that could not be read."""
    has_crashed_frame: bool
    """Whether a frame of the page has crashed."""
    read: ReadTable = field(compare=False, repr=False)
    """The marks as they came, for the next scan."""


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """What the scripts of a frame draw, such as a canvas or a picture made of one, with its page box."""

    key: MarkKey
    """Empty if it stands for all that the frame shows."""
    tag: str
    """`background` for a picture that a script gave to a style, `page` for all that the frame shows."""
    box: Box


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table of marks as it came, and what was made of it: what comes again just so need not be made again."""

    around: tuple[FramePlace, str, RowContext | None]
    """What a mark depends on besides its row: where its frame is, the name of that, and the words around it."""
    traits: Sequence[tuple[Json, tuple[MarkState, FoundEnter | None]]] = ()
    contexts: Sequence[tuple[Json | None, RowContext | None]] = ()
    marks: Mapping[str, tuple[Sequence[Any], FoundMark]] = field(default_factory=dict)
    """By key, each with its row, which holds its traits and its context."""


async def scan(
    frame: Frame,
    deadline_s: float,
    known: Sequence[str] = (),
    *,
    points: int = 1,
    element: FrameElement | None = None,
    place: FramePlace | None = None,
    name: str = "",
    words: bool = False,
    windowless: bool = False,
    before: ScanAnswer | None = None,
) -> ScanAnswer:
    """Everything in a frame that can be acted on, with up to `points` click points each.

    `words`: also every visible word; `windowless`: the browser has no window, so the page may not keep the pointer.

    `element`, `place`, `name`: for a child frame, its own element, its place on the page, and its name in the listing.

    `before`: an earlier answer for this frame, at the same place and with the same name. While nothing has changed
    since, it is not made again.
    """
    details: dict[str, Any] = {"points": points, "known": list(known), "words": words, "windowless": windowless}
    if element is not None:
        details |= {"clip": asdict(element.seen), "inert": element.is_inert, "scrolls": element.may_scroll}
    answer = await ask(frame, "scan", deadline_s, have=before.id if before else "", **details)
    if before and "same" in answer:
        return replace(
            before,
            living=keys_of(answer["living"]),
            out_of_view=_out_of_view(answer["outOfView"]),
            unopened_roots=answer["unopened"],
            has_crashed_frame=answer.get("crashed", False),
        )
    at = place or main_frame_place(spot_of(answer["zoom"]))
    around = element.context if element else None
    marks, read = _read_marks(answer["marks"], ReadTable((at, name, around)), before.read if before else None)
    return ScanAnswer(
        id=answer["id"],
        token=answer["token"],
        url=answer["url"],
        title=answer["title"],
        status=answer["status"],
        place=at,
        marks=marks,
        covered=obstacles_of(answer["covered"]),
        layers=tuple(OpenLayer(MarkKey(each["key"]), each["kind"], each["words"]) for each in answer["layers"]),
        context=tuple(
            ContextLine(
                each["text"],
                at.to_page(each["x"], each["y"]),
                tuple(map(at.box_to_page, each["rects"])),
                each["certain"],
                tuple(map(at.box_to_page, each["doubtful"])),
                each["over"],
            )
            for each in answer["context"]
        ),
        living=keys_of(answer["living"]),
        out_of_view=_out_of_view(answer["outOfView"]),
        frames={each.key: each for each in map(_frame_element, answer["frames"])},
        fields=tuple(
            FilledField(MarkKey(each["key"]), each["value"], at.box_to_page(rect_of(each["box"])))
            for each in answer["fields"]
        ),
        words=shown_words(answer["words"], at),
        pictures=tuple(
            DrawnPicture(MarkKey(each["key"]), each["tag"], at.box_to_page(each["rect"])) for each in answer["pictures"]
        ),
        scroll=ScrollState(**answer["scroll"]),
        device_ratio=answer["deviceRatio"],
        is_right_to_left=answer["rightToLeft"],
        is_out_of_budget=answer["outOfBudget"],
        unopened_roots=answer["unopened"],
        failed=answer["failed"],
        has_crashed_frame=answer.get("crashed", False),
        read=read,
    )


@dataclass(frozen=True, slots=True)
class ChangesSinceScan:
    """What has changed in a document since its last scan."""

    token: str
    moved: tuple[MarkKey, ...]
    has_changed: bool
    states: tuple[ShownState, ...] | None = ()
    """What it showed meanwhile, if the scan asked for its words; None if that was too much to keep."""
    unread: tuple[Box, ...] = ()
    """Page boxes of elements that may show something in a closed shadow root that nobody has opened yet."""


async def changes_since_scan(frame: Frame, deadline_s: float, scanned: ScanAnswer) -> ChangesSinceScan:
    """Which marks have moved, whether anything else has changed, and what was shown meanwhile."""
    answer = await ask(frame, "moved", deadline_s)
    words = answer["words"]
    unread = word_boxes(words["unread"], scanned.place) if words else ()
    return ChangesSinceScan(
        answer["token"], keys_of(answer["moved"]), answer["changed"], _states_since(words, scanned), unread
    )


def _out_of_view(answer: Sequence[Json]) -> tuple[OutOfView, ...]:
    return tuple(
        OutOfView(each["side"], MarkKey(each["scroller"]) if each["scroller"] else None, keys_of(each["keys"]))
        for each in answer
    )


def _read_marks(table: Json, empty: ReadTable, before: ReadTable | None) -> tuple[tuple[FoundMark, ...], ReadTable]:
    """The marks of a table as `pack_marks.js` makes it; those that came just so in the table before are the same."""
    if before is None or before.around != empty.around:
        before = empty
    place, frame, frame_context = empty.around
    traits = _read_each(table["traits"], before.traits, _traits_of)
    contexts = _read_each(table["contexts"], before.contexts, context_of)
    marks: list[FoundMark] = []
    for row in table["rows"]:
        key, name, fingerprint, is_in_dialog, box, points, traits_at, context_at, *more = row
        (trait, (state, enter)), (around, context) = traits[traits_at], contexts[context_at]
        row[6:8] = trait, around
        known = before.marks.get(key)
        if known is not None and known[0] == row:
            marks.append(known[1])
            continue
        corners, surface, words, body = more or (None, None, None, None)
        rect = rect_of(surface) if surface else None
        marks.append(
            FoundMark(
                MarkKey(key),
                trait["tag"],
                trait["role"],
                trait["kind"],
                name,
                state,
                place.box_to_page(box, [spot_of(each) for each in corners] if corners else None),
                tuple([place.to_page(x, y) for x, y in points]),
                tuple(trait["evidence"]),
                fingerprint,
                is_in_dialog,
                context,
                frame,
                frame_context,
                rect,
                place.box_to_page(rect) if rect else None,
                words["shows"] if words else "",
                words["says"] if words else "",
                place.box_to_page(body) if body else None,
                enter,
            )
        )
    by_key = {row[0]: (row, mark) for row, mark in zip(table["rows"], marks, strict=True)}
    return tuple(marks), ReadTable(empty.around, traits, contexts, by_key)


def _read_each(
    now: Sequence[_Answer], before: Sequence[tuple[_Answer, _T]], read: Callable[[_Answer], _T]
) -> list[tuple[_Answer, _T]]:
    """Each value with what it says; a value that stood in the same place before is the same object again."""
    return [
        before[at] if at < len(before) and before[at][0] == value else (value, read(value))
        for at, value in enumerate(now)
    ]


def _traits_of(traits: Json) -> tuple[MarkState, FoundEnter | None]:
    state = MarkState(**traits["state"]) if traits["state"] else _NO_STATE
    if traits["enter"] is None:
        return state, None
    words = dict(traits["enter"])
    fingerprint = words.pop("fingerprint")
    return state, FoundEnter(EnterPress(**words), fingerprint)


def _frame_element(answer: Json) -> FrameElement:
    seen = answer["seen"]
    area = Area(seen["x"], seen["y"], seen["right"], seen["bottom"])
    context = context_of(answer["place"])
    # Other words than those that are compared would make it another frame.
    context = context and context._replace(wording=None)
    return FrameElement(MarkKey(answer["key"]), answer["plane"], area, context, answer["inert"], answer["scrolls"])


def _states_since(answer: Json | None, scanned: ScanAnswer) -> tuple[ShownState, ...] | None:
    return () if answer is None else shown_states(answer, scanned.words, scanned.place)

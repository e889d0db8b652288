"""The protocol between Python and the overlay in a page: one function per question, one type per answer.

No other module knows the names of questions or the fields of answers. Answers are parsed once into frozen objects,
without validation: no page can reach the overlay. A missing field raises KeyError here; it is never guessed. Results
that a scan returns by the hundred are NamedTuples, which are created in a third of the time of a frozen dataclass.

Every question raises:
    FrameSilent: the frame did not answer.
    BrowserUnavailable: the browser is gone.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from playwright.async_api import ElementHandle, Frame

from vision_agent.actions import Point
from vision_agent.browser.page.frame_place import FramePlace, Plane, Rect, Spot, ViewportOffset, main_frame_place
from vision_agent.browser.page.overlay import ask
from vision_agent.geometry import Box, ScrollState
from vision_agent.text.money import amounts_in
from vision_agent.types import Kind, MarkKey, MarkState

Reveal = bool | Literal["always"]
"""Whether to scroll an element into view first: True if it is not visible enough, "always" in any case."""

_Json = Mapping[str, Any]


# --- parts of several answers -----------------------------------------------------------------------------------------


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
_ABRIDGED = re.compile(r" …[0-9a-z]+$")
"""How `steady_text.js` ends a text whose middle it leaves out."""


class RowContext(NamedTuple):
    """The words beside a mark and the heading over it, from `row_context.js`."""

    beside: Beside
    """The words are empty if they are only the start of a box too large to be one row."""
    firm: Beside
    """The same including amounts, if there are any."""
    governing: tuple[str, ...]
    """Text that governs it from farther away and is not in the listing: higher headings, spanning cells, a tab."""
    answer: _Json
    """The answer as received; it is sent back to the page for comparison."""

    @property
    def around(self) -> str:
        """All words of its box, even if the box is too large to be one row."""
        return str(self.answer["words"])


@dataclass(frozen=True, slots=True)
class ContextDifference:
    """How the words around an element differ from the earlier ones."""

    part: Literal["words", "heading"]
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


# --- scan: everything that can be acted on ----------------------------------------------------------------------------


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

    @property
    def beside(self) -> Beside:
        """The words around it, or else around its frame."""
        for context in (self.context, self.frame_context):
            if context is not None and any(context.beside):
                return context.beside
        return NOTHING_BESIDE

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
class ShownWord:
    """A visible word, and the page boxes that it is drawn in, one for each line."""

    text: str
    boxes: tuple[Box, ...]
    field: MarkKey | None
    """The field whose value it is."""


@dataclass(frozen=True, slots=True)
class ShownState:
    """What a frame showed at one time after it was scanned."""

    words: tuple[ShownWord, ...]
    """All its words, or those in a part of it that changed."""
    has_only_moved: bool
    """Whether they are the words of the state before, at other places."""


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
    """Of the element that has scrolled them out of its view; None for the page."""
    keys: tuple[MarkKey, ...]


@dataclass(frozen=True, slots=True)
class ScanAnswer:
    """What a scan found in one frame."""

    id: str
    """Of the answer, while the page may say that it still holds; else empty."""
    token: str
    """Identifies the document."""
    url: str
    title: str
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
            living=_keys(answer["living"]),
            out_of_view=_out_of_view(answer["outOfView"]),
            unopened_roots=answer["unopened"],
            has_crashed_frame=answer.get("crashed", False),
        )
    at = place or main_frame_place(_spot(answer["zoom"]))
    around = element.context if element else None
    return ScanAnswer(
        id=answer["id"],
        token=answer["token"],
        url=answer["url"],
        title=answer["title"],
        place=at,
        marks=_marks(answer["marks"], at, name, around),
        covered=_obstacles(answer["covered"]),
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
        living=_keys(answer["living"]),
        out_of_view=_out_of_view(answer["outOfView"]),
        frames={each.key: each for each in map(_frame_element, answer["frames"])},
        fields=tuple(
            FilledField(MarkKey(each["key"]), each["value"], at.box_to_page(_rect(each["box"])))
            for each in answer["fields"]
        ),
        words=_shown_words(answer["words"], at),
        scroll=ScrollState(**answer["scroll"]),
        device_ratio=answer["deviceRatio"],
        is_right_to_left=answer["rightToLeft"],
        is_out_of_budget=answer["outOfBudget"],
        unopened_roots=answer["unopened"],
        failed=answer["failed"],
        has_crashed_frame=answer.get("crashed", False),
    )


def _out_of_view(answer: Sequence[_Json]) -> tuple[OutOfView, ...]:
    return tuple(
        OutOfView(each["side"], MarkKey(each["scroller"]) if each["scroller"] else None, _keys(each["keys"]))
        for each in answer
    )


def _shown_words(answer: _Json | None, at: FramePlace) -> tuple[ShownWord, ...]:
    if answer is None:
        return ()
    return tuple(
        ShownWord(text, _word_boxes(rects, at), MarkKey(key) if key else None)
        for text, rects, key in zip(answer["texts"], answer["rects"], answer["keys"], strict=True)
    )


def _word_boxes(rects: Sequence[float], at: FramePlace) -> tuple[Box, ...]:
    return tuple(at.box_to_page(rects[i : i + 4]) for i in range(0, len(rects), 4))


_NO_STATE = MarkState()


def _marks(table: _Json, place: FramePlace, frame: str, frame_context: RowContext | None) -> tuple[FoundMark, ...]:
    """The marks of a table as `pack_marks.js` makes it."""
    traits = [
        (
            each["tag"],
            each["role"],
            each["kind"],
            MarkState(**each["state"]) if each["state"] else _NO_STATE,
            tuple(each["evidence"]),
        )
        for each in table["traits"]
    ]
    contexts = [_context(each) for each in table["contexts"]]
    marks = []
    for key, name, fingerprint, is_in_dialog, box, points, traits_at, context_at, *more in table["rows"]:
        tag, role, kind, state, evidence = traits[traits_at]
        corners, surface, words, body = more or (None, None, None, None)
        rect = _rect(surface) if surface else None
        marks.append(
            FoundMark(
                MarkKey(key),
                tag,
                role,
                kind,
                name,
                state,
                place.box_to_page(box, [_spot(each) for each in corners] if corners else None),
                tuple([place.to_page(x, y) for x, y in points]),
                evidence,
                fingerprint,
                is_in_dialog,
                contexts[context_at],
                frame,
                frame_context,
                rect,
                place.box_to_page(rect) if rect else None,
                words["shows"] if words else "",
                words["says"] if words else "",
                place.box_to_page(body) if body else None,
            )
        )
    return tuple(marks)


def _frame_element(answer: _Json) -> FrameElement:
    seen = answer["seen"]
    area = Area(seen["x"], seen["y"], seen["right"], seen["bottom"])
    return FrameElement(
        MarkKey(answer["key"]), answer["plane"], area, _context(answer["place"]), answer["inert"], answer["scrolls"]
    )


async def find_stand_ins(
    frame: Frame, deadline_s: float, *, tag: str, kind: Kind, essence: str, expected: Expectation
) -> tuple[MarkKey, ...]:
    """Keys of elements with the role, name and row of a missing one, in view or not; at most two."""
    details = {"tag": tag, "kind": kind, "essence": essence, **expected.as_details()}
    return _keys((await ask(frame, "stand_ins", deadline_s, **details))["keys"])


# --- one element ------------------------------------------------------------------------------------------------------


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
    is_drawn: bool
    """Something in it is drawn that its document does not reveal."""
    is_restless: bool
    """Some of its text or elements keep changing on their own."""
    changing_ms: float
    """How long changes followed each other without a longer pause, up to the last; without what changes on its own."""


@dataclass(frozen=True, slots=True)
class LiveElement:
    """A marked element as it is now."""

    name: str
    shows: str
    """The text painted on it that disagrees with its name; empty if they agree."""
    role: str
    fingerprint: str
    is_same_except_name: bool
    """Whether it is the same as at the last scan of its document, except for its name."""
    difference: ContextDifference | None
    """How the words around it differ from the expected ones; None if they do not, or none were expected."""
    was_scrolled: bool
    """Whether it had to be scrolled into view."""
    state: MarkState
    is_disabled: bool
    value_now: str | None
    """The current number of a slider."""
    stability: Stability
    is_visible: bool
    rect: Rect
    zoom: ViewportOffset
    points: tuple[Spot, ...]
    """Points at which a click reaches it, best first."""
    obstacle: Obstacle | None
    """What covers it, if there are no such points."""


async def check(
    frame: Frame,
    deadline_s: float,
    key: str,
    kind: str,
    *,
    reveal: Reveal = False,
    points: int = 1,
    expected: Expectation = NOTHING_EXPECTED,
) -> LiveElement | None:
    """The element with a key as it is now; None if it is gone."""
    details = {"key": key, "kind": kind, "reveal": reveal, "points": points, **expected.as_details()}
    answer = await ask(frame, "check", deadline_s, **details)
    if not answer["found"]:
        return None
    return LiveElement(
        name=answer["name"],
        shows=answer["shows"],
        role=answer["role"],
        fingerprint=answer["fingerprint"],
        is_same_except_name=answer["isSameBeing"],
        difference=_difference(answer["held"]),
        was_scrolled=answer["scrolled"],
        state=MarkState(**answer["state"]),
        is_disabled=answer["disabled"],
        value_now=answer["now"],
        stability=_stability(answer["quiet"]),
        is_visible=answer["visible"],
        rect=_rect(answer["rect"]),
        zoom=_spot(answer["zoom"]),
        points=tuple(map(_spot, answer["points"])),
        obstacle=_obstacle(answer["blocker"], answer["blockerKey"]),
    )


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """Where a frame's own element is now in its parent document."""

    plane: Plane | None
    """None if it has no size."""
    zoom: ViewportOffset
    """Of the parent document."""
    difference: ContextDifference | None


async def locate_frame(
    frame: Frame, deadline_s: float, key: str, expected: Expectation = NOTHING_EXPECTED
) -> LiveFrame | None:
    """Where a child frame lies in `frame`, its parent; None if it is gone."""
    answer = await ask(frame, "frame", deadline_s, key=key, **expected.as_details())
    return LiveFrame(answer["plane"], _spot(answer["zoom"]), _difference(answer["held"])) if answer["found"] else None


async def frame_key(element: ElementHandle, deadline_s: float) -> MarkKey:
    """The key of a frame's own element."""
    return MarkKey((await ask(element, "frame", deadline_s))["key"])


async def frame_plane(element: ElementHandle, deadline_s: float) -> Plane | None:
    """How a frame's viewport is projected into its parent's, given its own element; None if it has no size."""
    plane: Plane | None = (await ask(element, "frame", deadline_s))["plane"]
    return plane


@dataclass(frozen=True, slots=True)
class ShownPoints:
    """At which of several points a click reaches an element."""

    are_shown: tuple[bool, ...]
    obstacles: tuple[Obstacle, ...]
    """What covers the others."""


async def shows_points(frame: Frame, deadline_s: float, key: str, points: Sequence[Spot]) -> ShownPoints:
    """Whether a click at each spot reaches a surface, or a frame's own element."""
    asked = [{"x": x, "y": y} for x, y in points]
    answer = await ask(frame, "shows", deadline_s, key=key, points=asked)
    return ShownPoints(tuple(answer["shows"]), _obstacles(answer["blockers"]))


class Twin(NamedTuple):
    """A thing on a surface as the page names it for people who do not see it. Page text."""

    name: str
    role: str
    checked: bool | None
    disabled: bool


class Twins(NamedTuple):
    """What the page says about a surface in words that do not show. Page text."""

    things: tuple[Twin, ...] = ()
    """Those that the content of the element names."""
    live: tuple[str, ...] = ()
    """Texts near it that are announced."""


async def twins(frame: Frame, deadline_s: float, key: str) -> Twins:
    """What the page says about a surface in words that do not show."""
    answer = await ask(frame, "twins", deadline_s, key=key)
    things = (Twin(each["name"], each["role"], each["checked"], bool(each["disabled"])) for each in answer["things"])
    return Twins(tuple(things), tuple(answer["live"]))


async def keys_at_spot(frame: Frame, deadline_s: float, spot: Spot) -> tuple[MarkKey, ...]:
    """Keys of the elements at a spot, innermost first."""
    return _keys((await ask(frame, "under", deadline_s, x=spot[0], y=spot[1]))["keys"])


async def is_outside_shape(frame: Frame, deadline_s: float, key: str, spot: Spot) -> bool:
    """Whether a spot in the box of an element lies in a hole of it, or beside a turned or clipped corner.

    A click there reaches something that contains the element and that the element does not lie below.
    """
    answer = await ask(frame, "outside_shape", deadline_s, key=key, x=spot[0], y=spot[1])
    return bool(answer["outside"])


async def contained_keys(frame: Frame, deadline_s: float, key: str, keys: Sequence[str]) -> tuple[MarkKey, ...]:
    """Those of the keys whose elements lie inside an element, or inside what it controls (`aria-controls`)."""
    return _keys((await ask(frame, "within", deadline_s, key=key, keys=list(keys)))["keys"])


async def count_alike(frame: Frame, deadline_s: float, key: str) -> int:
    """How many entries of its list say what an element says, in view or not; 1 if it is in no list."""
    return int((await ask(frame, "alike", deadline_s, key=key))["count"])


@dataclass(frozen=True, slots=True)
class Focus:
    """The focused element of a document."""

    key: MarkKey | None
    words: str
    """Empty if nothing is focused."""
    takes_text: bool
    """Whether it receives the text typed for the element with the given key."""
    selects: Literal["keys", "drawn", "own", "nothing"] = "nothing"
    """How its text is selected; see `howToSelect` in `drawn_editor.js`."""
    has_selection: bool = False
    """Whether an editor that draws its text has some of it selected, or has none."""


async def focused_element(frame: Frame, deadline_s: float, key: str | None = None) -> Focus:
    """The focused element in a frame."""
    answer = await ask(frame, "focused", deadline_s, key=key)
    found = MarkKey(answer["key"]) if answer["key"] else None
    return Focus(found, answer["what"], answer["typesFor"], answer["selects"], answer["selected"])


async def select_own_text(frame: Frame, deadline_s: float, *, end: bool) -> bool:
    """Selects the text of the focused field without a key, or puts the caret at its end; False if it has none."""
    return bool((await ask(frame, "select_own", deadline_s, end=end))["done"])


@dataclass(frozen=True, slots=True)
class Fit:
    """What a field makes of a value."""

    becomes: str
    """What it would hold; empty if it cannot hold the value at all."""
    is_out_of_range: bool
    is_between_steps: bool
    least: str
    """As the field states it; empty if it does not. So are `most` and `step`."""
    most: str
    step: str


async def fit_value(frame: Frame, deadline_s: float, key: str, input_type: str, value: str) -> Fit | None:
    """What a field of this type would make of a value; None if it is gone. Nothing is set."""
    answer = await ask(frame, "fits", deadline_s, key=key, type=input_type, value=value)
    if not answer["found"]:
        return None
    more = (answer["least"], answer["most"], answer["step"])
    return Fit(answer["becomes"], answer["outOfRange"], answer["betweenSteps"], *more)


class ListedValue(NamedTuple):
    """A value that a field suggests, and the words that the browser shows for it."""

    value: str
    label: str


async def listed_values(frame: Frame, deadline_s: float, key: str) -> tuple[ListedValue, ...]:
    """What a field suggests through its `<datalist>`; none if it has none."""
    answer = await ask(frame, "listed", deadline_s, key=key)
    return tuple(ListedValue(each["value"], each["label"]) for each in answer["values"])


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


async def find_named(frame: Frame, deadline_s: float, text: str) -> NamedAnswer:
    """The things in a document that have a given name, in view or scrolled out of it."""
    answer = await ask(frame, "named", deadline_s, text=text)
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


@dataclass(frozen=True, slots=True)
class PaintAnswer:
    """Where a document changes styles because of hover, focus or a press."""

    paint: tuple[Rect, ...]
    """Differences here are only styling."""
    judged: tuple[Rect, ...]
    """Differences here count, even inside `paint`."""
    own: tuple[Rect, ...]
    """Where the document reports that the target itself changed."""
    was_switched: bool
    """The target was ticked, pressed or selected, if only for a moment."""


async def find_paint(
    frame: Frame, deadline_s: float, key: str, *, act: float, since_ms: float, lost: Sequence[str], is_press: bool
) -> PaintAnswer | None:
    """Where hover, focus and press styles changed around an element in the last `since_ms`; None if not known.

    `act` identifies the action: each may be asked about several times. `lost`: keys of elements that had the pointer or
    the focus before.
    """
    details = {"key": key, "act": act, "sinceMs": since_ms, "lost": list(lost), "isPress": is_press}
    answer = await ask(frame, "paint", deadline_s, **details)
    if not answer["found"]:
        return None
    paint, judged, own = (tuple(map(_rect, answer[name])) for name in ("paint", "judged", "own"))
    return PaintAnswer(paint, judged, own, answer["switched"])


# --- guards: around a press and around keys ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Deflection:
    """An event that missed its target."""

    why: Literal["covered", "gone", "changed"]
    event: str
    obstacle: Obstacle
    """What it would have hit."""


@dataclass(frozen=True, slots=True)
class PressAnswer:
    """What the guard in one document reports about a press."""

    is_armed: bool
    """False in a new document."""
    arrived: tuple[str, ...] = ()
    """The events that reached the target, in order."""
    stopped: Deflection | None = None
    """The first event that was stopped."""
    elsewhere: Deflection | None = None
    """The first event that missed the target, stopped or not."""
    is_unanswered: bool = False
    """The target is unchanged, and nothing is known to react to the events it got."""
    is_heard: bool = False
    """Something is known to react to an event that arrived, or to act when it is pressed."""
    pressed_ms: float | None = None
    """When the press arrived, by the document's own clock; None if it did not arrive there."""
    hears_all: bool = False
    """No event can have come to the document without being noted."""


@dataclass(frozen=True, slots=True)
class Middle:
    """The middle of an element at a moment, in CSS pixels of its frame's viewport."""

    at_ms: float
    """By the document's own clock."""
    x: float
    y: float


async def middle_of(frame: Frame, deadline_s: float, key: str) -> Middle | None:
    """Where the middle of an element is now; None if the element is gone."""
    answer = await ask(frame, "middle", deadline_s, key=key)
    return Middle(answer["at"], answer["x"], answer["y"]) if answer["found"] else None


@dataclass(frozen=True, slots=True)
class SpotToShow:
    """Where the pointer may make a hidden element appear."""

    at: Spot
    zoom: ViewportOffset


async def spot_to_show(frame: Frame, deadline_s: float, key: str, was_at: Spot) -> SpotToShow | None:
    """Where to move the pointer so that the element hidden at a spot appears; None if there is no such place."""
    answer = await ask(frame, "spot_to_show", deadline_s, key=key, x=was_at[0], y=was_at[1])
    return SpotToShow(_spot(answer["at"]), _spot(answer["zoom"])) if answer["at"] else None


@dataclass(frozen=True, slots=True)
class PlayerUnderPointer:
    """A player that the pointer rests over; see `player_controls.js`."""

    hidden: int
    """How many of its controls are in the document and hidden."""
    gone: int
    """How many of those that were seen in it have left the document."""
    nudge: Spot | None
    """How far to move the pointer to wake it; None if it should not be moved."""


async def player_under_pointer(
    frame: Frame, deadline_s: float, token: str, spot: Spot, were: Sequence[tuple[MarkKey, Spot]] = ()
) -> PlayerUnderPointer | None:
    """The player that the pointer, which was put at a spot, rests over; None if there is none.

    `token`: of the document in which elements were seen; `were`: those elements, and where.
    """
    seen = [{"key": key, "x": at[0], "y": at[1]} for key, at in were]
    answer = await ask(frame, "player", deadline_s, token=token, x=spot[0], y=spot[1], were=seen)
    if not answer["player"]:
        return None
    nudge = answer["nudge"]
    return PlayerUnderPointer(answer["hidden"], answer["gone"], (nudge[0], nudge[1]) if nudge else None)


async def guard_press(
    frame: Frame,
    deadline_s: float,
    key: str | None,
    *,
    kind: str | None,
    fingerprint: str,
    expected: Expectation,
    is_drag: bool,
    lasts_s: float,
    is_pan: bool = False,
    look: DrawnLook | None = None,
) -> None:
    """Stops the next press anywhere but on the element with the key; without a key, anywhere in the document.

    `is_pan`: the click that may follow is stopped too. `look`: for a canvas, what it must show where the press begins.
    """
    details = {"key": key, "kind": kind, "fingerprint": fingerprint, "isDrag": is_drag, "ms": lasts_s * 1000}
    details["isPan"] = is_pan
    shown = look and look._asdict()
    await ask(frame, "guard", deadline_s, look=shown, **details, **expected.as_details())


class DrawnLook(NamedTuple):
    """A thing drawn in a canvas, with one pixel for each CSS pixel; see `canvas_pixels.js`."""

    wide: int
    high: int
    pixels: str
    """Base64 of red, green and blue of each pixel, blurred."""
    ground: tuple[int, int, int]
    """The colour behind what the canvas leaves clear."""
    near: float
    """How far from the pointer its middle may be."""


class CanvasPart(NamedTuple):
    """What a part of a canvas shows."""

    at_ms: float
    """By the document's own clock."""
    pixels: bytes
    """Red, green and blue of each pixel."""


async def canvas_part(
    frame: Frame, deadline_s: float, key: str, x: int, y: int, wide: int, high: int, ground: tuple[int, int, int]
) -> CanvasPart | None:
    """What a canvas shows in a part of the frame's viewport; None if that cannot be read."""
    answer = await ask(frame, "canvas", deadline_s, key=key, x=x, y=y, wide=wide, high=high, ground=ground)
    return CanvasPart(answer["at"], base64.b64decode(answer["pixels"])) if answer["pixels"] else None


async def read_press_guard(frame: Frame, deadline_s: float, *, is_over: bool) -> PressAnswer:
    """What has become of the press so far; `is_over` ends the guard."""
    answer = await ask(frame, "guarded", deadline_s, isOver=is_over)
    return PressAnswer(
        is_armed=answer["armed"],
        arrived=tuple(answer["arrived"]),
        stopped=_deflection(answer["stopped"]),
        elsewhere=_deflection(answer["elsewhere"]),
        is_unanswered=answer["unanswered"],
        is_heard=answer["heard"],
        pressed_ms=answer["pressedAt"],
        hears_all=answer["hearsAll"],
    )


async def guard_keys(
    frame: Frame, deadline_s: float, key: str | None, expected: Expectation, *, counts: bool, lasts_s: float
) -> None:
    """Stops keys to an element once the words around it have changed.

    Without a key, in a page around the frame of the element, it stops those that go to a frame that came since, or to
    this page once the frame is gone. `counts`: after the first key, a number beside it may change, like a slider's.
    """
    details = {"key": key, "counts": counts, "ms": lasts_s * 1000}
    await ask(frame, "guard_keys", deadline_s, **details, **expected.as_details())


async def read_key_guard(frame: Frame, deadline_s: float) -> ContextDifference | Literal["gone", "lost"] | None:
    """Why keys were stopped; None if all went through. Ends the guard."""
    held = (await ask(frame, "keys_guarded", deadline_s))["held"]
    if held and held.get("lost"):
        return "lost"
    return "gone" if held and held.get("gone") else _difference(held)


async def insert_guarded(frame: Frame, deadline_s: float, key: str, input_type: str | None, text: str) -> bool:
    """Inserts text where the guarded keys of a field would go, if nothing has changed; False if it did not arrive."""
    return bool((await ask(frame, "insert", deadline_s, key=key, type=input_type, text=text))["inserted"])


@dataclass(frozen=True, slots=True)
class SetAnswer:
    """Whether a value was set, and why not."""

    why_not: Literal["", "gone", "place", "changed", "disabled", "malformed", "no_option", "as_wanted"]
    difference: ContextDifference | None
    was_focused: bool


async def set_value(
    frame: Frame,
    deadline_s: float,
    key: str,
    kind: str,
    fingerprint: str,
    expected: Expectation,
    what: Mapping[str, str | Sequence[str]],
) -> SetAnswer:
    """Sets the `value` of a field, or chooses `options`, unless the element or the words around it have changed."""
    details = {"id": uuid4().hex, "key": key, "kind": kind, "fingerprint": fingerprint, **what}
    answer = await ask(frame, "set", deadline_s, **details, **expected.as_details())
    return SetAnswer(answer["why"], _difference(answer["held"]), answer["focused"])


# --- the document -----------------------------------------------------------------------------------------------------


async def document_token(frame: Frame, deadline_s: float) -> str:
    """The token that identifies a frame's document."""
    return str((await ask(frame, "token", deadline_s))["token"])


async def title(frame: Frame, deadline_s: float) -> str:
    """The document's title, on one line."""
    return str((await ask(frame, "title", deadline_s))["title"])


@dataclass(frozen=True, slots=True)
class PointerLock:
    """Whether a document has taken the pointer for itself."""

    is_held: bool
    was_taken_back: bool
    """Since this was asked last, because the browser cannot let it have the pointer."""


async def pointer_lock(frame: Frame, deadline_s: float) -> PointerLock:
    """Whether the frame's document has taken the pointer for itself."""
    answer = await ask(frame, "pointer", deadline_s)
    return PointerLock(answer["held"], answer["taken"] > 0)


async def stability(frame: Frame, deadline_s: float) -> Stability:
    """How long the document has not changed, and what is still going on."""
    return _stability(await ask(frame, "quiet", deadline_s))


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
    unread = _word_boxes(words["unread"], scanned.place) if words else ()
    return ChangesSinceScan(
        answer["token"], _keys(answer["moved"]), answer["changed"], _shown_states(words, scanned), unread
    )


def _shown_states(answer: _Json | None, scanned: ScanAnswer) -> tuple[ShownState, ...] | None:
    return () if answer is None else _states(answer, scanned.words, scanned.place)


def _states(answer: _Json, before: Sequence[ShownWord], place: FramePlace) -> tuple[ShownState, ...] | None:
    if answer["missed"]:
        return None
    found, words = list[ShownState](), list(before)
    for state in answer["states"]:
        if state["words"] is not None:
            words = list(_shown_words(state["words"], place))
        for at, rects in state["moved"]:
            words[at] = replace(words[at], boxes=_word_boxes(rects, place))
        found.append(ShownState(tuple(words), state["words"] is None))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class LiveWords:
    """Every word that a frame shows, for a picture of the live view."""

    token: str
    place: FramePlace
    words: tuple[ShownWord, ...]
    veiled: tuple[Box, ...]
    """Page boxes of fields that hide their letters at other times."""


@dataclass(frozen=True, slots=True)
class LaterWords:
    """What a frame has shown since `live_words`."""

    token: str
    states: tuple[ShownState, ...] | None
    """None if that was too much to keep, or nothing was watched."""
    unread: tuple[Box, ...]
    """See `ChangesSinceScan`."""
    veiled: tuple[Box, ...]
    """See `LiveWords`."""


async def live_words(frame: Frame, deadline_s: float, place: FramePlace | None) -> LiveWords:
    """Every word that a frame shows; what it shows later is kept until `later_words`. `place`: None for the page."""
    answer = await ask(frame, "live_words", deadline_s)
    at = place or main_frame_place(_spot(answer["zoom"]))
    return LiveWords(answer["token"], at, _shown_words(answer["words"], at), _word_boxes(answer["veiled"], at))


async def later_words(frame: Frame, deadline_s: float, words: tuple[ShownWord, ...], place: FramePlace) -> LaterWords:
    """What a frame has shown since `live_words` returned these words."""
    answer = await ask(frame, "live_words_since", deadline_s)
    told = answer["words"]
    if told is None:
        return LaterWords(answer["token"], None, (), ())
    unread, veiled = _word_boxes(told["unread"], place), _word_boxes(answer["veiled"], place)
    return LaterWords(answer["token"], _states(told, words, place), unread, veiled)


async def show_layer(frame: Frame, deadline_s: float, layer: _Json, box: Box) -> None:
    """Shows the marks on the live page, over this part of it, to a person who watches."""
    await ask(frame, "show", deadline_s, layer=layer, box=box.model_dump())


async def hide_layer(frame: Frame, deadline_s: float) -> None:
    """Removes the marks from the live page."""
    await ask(frame, "hide", deadline_s)


async def start_input_watch(frame: Frame, deadline_s: float, binding: str) -> None:
    """Starts reporting what a person does in the document, through a binding."""
    await ask(frame, "watch", deadline_s, name=binding)


async def stop_input_watch(frame: Frame, deadline_s: float, binding: str) -> None:
    """Stops reporting."""
    await ask(frame, "leave", deadline_s, name=binding)


# --- its text ---------------------------------------------------------------------------------------------------------


async def read_text(frame: Frame, deadline_s: float, what: str) -> str:
    """The text of a document, all of it or the visible part, one line per block."""
    return str((await ask(frame, "read", deadline_s, what=what))["text"])


@dataclass(frozen=True, slots=True)
class FieldValue:
    """All that a field holds."""

    text: str | None
    """None for what has no text, and for a secret field."""
    is_secret: bool
    is_part: bool
    """An editor draws only a part of its text."""


async def field_value(frame: Frame, deadline_s: float, key: MarkKey) -> FieldValue | None:
    """What a field holds; None if it is gone."""
    answer = await ask(frame, "value", deadline_s, key=key)
    return FieldValue(answer["value"], answer["secret"], answer["isPart"]) if answer["found"] else None


async def shows_text(frame: Frame, deadline_s: float, text: str) -> bool:
    """Whether the document contains a text."""
    return bool((await ask(frame, "shows_text", deadline_s, text=text))["shows"])


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """A table or a list, as text."""

    kind: Literal["table", "list"]
    headings: list[str]
    rows: list[list[str]]


async def table_around(frame: Frame, deadline_s: float, key: str) -> TableAnswer | None:
    """The table or list around or inside an element; None if there is none, or the element is gone."""
    answer = await ask(frame, "table", deadline_s, key=key)
    if not answer["found"] or answer["kind"] is None:
        return None
    return TableAnswer(answer["kind"], answer["headings"], answer["rows"])


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


async def record_sets(frame: Frame, deadline_s: float, key: str | None = None) -> tuple[RecordSet, ...]:
    """The sets of records in a document, or those around an element, the innermost first; none if it is gone."""
    answer = await ask(frame, "record_sets", deadline_s, key=key)
    if not answer["found"]:
        return ()
    return tuple(
        RecordSet(each["kind"], each["title"], each["headings"], each["rows"], tuple(each["inside"]))
        for each in answer["sets"]
    )


@dataclass(frozen=True, slots=True)
class FoundText:
    """Where a text that shows exactly once begins and ends."""

    text: str
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


async def find_text(frame: Frame, deadline_s: float, first: str, last: str, around: str = "") -> TextAnswer:
    """Where a text from `first` to `last` is in a document; `around`: words that hold `first`, where it shows twice."""
    answer = await ask(frame, "words", deadline_s, first=first, last=last, around=around)
    if not answer.get("ends"):
        return TextAnswer(answer["count"], places=tuple(answer.get("places", ())))
    found = FoundText(
        text=answer["text"],
        points=tuple(map(_spot, answer["points"])),
        is_shown=answer["shown"],
        zoom=_spot(answer["zoom"]),
        key=MarkKey(answer["key"]),
        fingerprint=answer["fingerprint"],
        pressed=_obstacle(answer["pressed"], answer["pressedKey"]),
        obstacle=_obstacle(answer["blocker"], answer["blockerKey"]),
    )
    return TextAnswer(answer["count"], found)


async def selected_text(frame: Frame, deadline_s: float) -> str:
    """The selected text, with runs of whitespace as one space."""
    return str((await ask(frame, "selected", deadline_s))["text"])


# --- parsing ----------------------------------------------------------------------------------------------------------


def _keys(answer: Sequence[str]) -> tuple[MarkKey, ...]:
    return tuple(map(MarkKey, answer))


def _spot(answer: _Json) -> Spot:
    return answer["x"], answer["y"]


def _rect(answer: _Json) -> Rect:
    return Rect(answer["x"], answer["y"], answer["width"], answer["height"])


def _obstacle(words: str | None, key: str | None) -> Obstacle | None:
    return None if not words else Obstacle(words, MarkKey(key) if key else None)


def _obstacles(answer: Sequence[_Json]) -> tuple[Obstacle, ...]:
    return tuple(Obstacle(each["blocker"], MarkKey(each["key"]), each["count"]) for each in answer)


def _context(answer: _Json | None) -> RowContext | None:
    if answer is None:
        return None
    words = answer["words"] if answer["how"] != "head" else ""
    has_firm = "firm" in answer or "firmHeading" in answer
    firm = Beside(answer.get("firm", ""), answer.get("firmHeading", "")) if has_firm else NOTHING_BESIDE
    return RowContext(Beside(words, answer["heading"]), firm, tuple(answer["governing"]), answer)


def _difference(held: _Json | None) -> ContextDifference | None:
    if not held or held["same"]:
        return None
    return ContextDifference(held["part"], held["then"], held["now"], held.get("mayPass", False))


def _deflection(answer: _Json | None) -> Deflection | None:
    if answer is None:
        return None
    obstacle = Obstacle(answer["blocker"], MarkKey(answer["key"]) if answer["key"] else None)
    return Deflection(answer["why"], answer["type"], obstacle)


def _stability(answer: _Json) -> Stability:
    return Stability(
        answer["token"],
        answer["quietMs"],
        answer["unchangedMs"],
        answer["ready"] == "loading",
        answer["moving"],
        answer["drawn"],
        answer["restless"],
        answer["changingMs"],
    )

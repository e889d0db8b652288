"""Turns scan results into marks: numbered, without secrets, and compared with the last look at the document.

Remembers one document from look to look until a new one has loaded; does not know the page or its pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vision_agent.browser.observe.earlier_marks import EarlierMarks, SeenEarlier
from vision_agent.browser.observe.listing import reading_order
from vision_agent.browser.observe.numbers import Numbers, Sighting
from vision_agent.browser.observe.shown_secrets import (
    Find,
    ShownSecrets,
    has_any,
    shown_between,
    shown_meanwhile,
    shown_secrets,
)
from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay_calls.answer_parts import Beside
from vision_agent.browser.page.overlay_calls.scan import ChangesSinceScan, FoundMark
from vision_agent.geometry import Box
from vision_agent.observation import Change, Kind, Letter, Mark, MarkState, Wording
from vision_agent.text.disguises import Found

_MOVED = 4.0
"""CSS pixels; less is rounding or a border."""

_LETTERS: dict[Kind, Letter] = {
    "field": "I",
    "button": "B",
    "link": "L",
    "surface": "F",
    "toggle": "O",
    "scroller": "M",
    "guess": "M",
}


class _Origin(NamedTuple):
    """All that a mark depends on, but for what has changed and the hidden values that are shown."""

    found: FoundMark
    beside: Beside
    box: Box
    """The part of it in the viewport."""
    number: int
    is_secret: bool
    hidden: Sequence[str]
    """The hidden texts, without spaces."""


@dataclass(frozen=True)
class ReadScan:
    """A scan and its marks."""

    scan: Scan
    whole: Box
    """The viewport."""
    marks: tuple[Mark, ...]
    secret_boxes: tuple[Box, ...]
    """Page boxes of fields whose contents must not be shown."""
    is_new_document: bool
    """Whether the document is another one than in the last look."""
    earlier: EarlierMarks
    """Marks of earlier looks that are out of view."""
    shown_parts: ShownSecrets
    """The hidden values that the page shows."""
    is_repeated: bool = False
    """Whether nothing has changed since the last look, so that its marks are these."""


def _find_nothing(_: str) -> Sequence[Found]:
    return ()


@dataclass
class MarkMemory:
    """Numbers and marks of a document, from one look to the next."""

    has_letters: bool
    secrets: Callable[[], Sequence[str]] = tuple
    """The current secret values, which no mark's state may contain."""
    find: Find = _find_nothing
    """Where they, and other hidden values, occur in a text."""
    masked_keys: set[str] = field(default_factory=set)
    """Keys of fields into which a secret was typed."""
    numbers: Numbers = field(default_factory=Numbers)
    epoch: int = 0
    """Counts documents."""
    _earlier: SeenEarlier = field(default_factory=SeenEarlier)
    _token: str = ""
    _before: dict[int, Mark] | None = None
    """All marks of the last look at this document, drawn or not."""
    _made: Mapping[str, tuple[_Origin, Mark]] = field(default_factory=dict, repr=False)
    """By key: the marks of the last look, each with what it was made of."""

    @property
    def known_keys(self) -> list[str]:
        """The keys that the next scan should report on: those of the last look, and of remembered marks."""
        return list(dict.fromkeys([*self.numbers.last, *self._earlier.keys]))

    def read(self, scan: Scan) -> ReadScan:
        """The marks of a scan, in reading order."""
        is_new_document = scan.main.token != self._token
        if is_new_document:
            self._token, self.epoch = scan.main.token, self.epoch + 1
            self.numbers.restart()
            self._earlier.restart()
            self._before = None
            self._made = {}
        scroll, secrets = scan.main.scroll, self.secrets()
        whole = Box(x=0, y=0, width=scroll.view_width, height=scroll.view_height)
        shown_parts = shown_secrets([word for each in scan.frames for word in each.answer.words], self.find)
        hidden_keys = self.masked_keys | shown_parts.fields
        secret_fields = [
            shown for shown in scan.fields if shown.key in hidden_keys or has_any(_readings(shown.value), self.find)
        ]
        secret_keys = hidden_keys | {shown.key for shown in secret_fields}
        hidden = [*(shown.value for shown in secret_fields if shown.value), *secrets]
        found = [(mark, box) for mark in scan.marks if (box := mark.box.intersection(whole))]
        order = reading_order([box for _, box in found], right_to_left=scan.main.is_right_to_left)
        here = [(found[index][0], found[index][0].beside, found[index][1]) for index in order]
        numbers = self.numbers.assign(
            [Sighting(mark.key, mark.fingerprint, mark.points[0], _row_text(mark, beside)) for mark, beside, _ in here],
            scan.living,
        )
        squeezed = [_without_spaces(each) for each in hidden]
        origins = [
            _Origin(mark, beside, box, numbers[mark.key], self._is_secret(mark, secret_keys), squeezed)
            for mark, beside, box in here
        ]
        made = [self._mark(origin) for origin in origins]
        self._made = {origin.found.key: (origin, mark) for origin, mark in zip(origins, made, strict=True)}
        marks = tuple([self.with_change(shown_parts.without(mark, self.find)) for mark in made])
        still = {key: number for key in self._earlier.keys if (number := self.numbers.number_of(key)) is not None}
        earlier = self._earlier.out_of_view(scan, still, lambda text: _is_in(squeezed, text))
        self._earlier.remember(marks, scan)
        secret_boxes = tuple(shown.box for shown in secret_fields)
        return ReadScan(scan, whole, marks, secret_boxes, is_new_document, earlier, shown_parts)

    def boxes_to_mask(
        self, read: ReadScan, changes: Sequence[ChangesSinceScan], is_plain: Callable[[Box], bool]
    ) -> tuple[Box, ...]:
        """What no picture taken between the scan and the report of changes may show, in page coordinates.

        `is_plain`: whether such a picture shows nothing in a box.
        """
        fields = (mark.box for mark in read.marks if mark.state.masked and mark.state.input_type != "password")
        boxes = [*read.secret_boxes, *fields, *read.shown_parts.boxes(is_plain)]
        if not read.scan.has_words:
            return tuple(boxes)
        if read.scan.opens_roots:
            boxes += (box for each in changes for box in each.unread if box.width and box.height and not is_plain(box))
        moved = {key for each in changes for key in each.moved}
        states = {each.token: each.states for each in changes}
        for frame in read.scan.frames:
            words, later = frame.answer.words, states.get(frame.token, ())
            has_moved = any(inside.key in moved for inside in frame.chain())
            if later is None or (has_moved and (later or shown_secrets(words, self.find).parts)):
                return (read.whole,)  # nobody knows where its words are in the picture
            boxes += shown_between(words, self.find, is_plain).boxes(is_plain)
            boxes += (box for box in shown_meanwhile(words, later, self.find) if not is_plain(box))
        return tuple(boxes)

    def _is_secret(self, found: FoundMark, secret_keys: Collection[str]) -> bool:
        value = found.state.value
        return found.key in secret_keys or bool(value and has_any(_readings(value), self.find))

    def _mark(self, origin: _Origin) -> Mark:
        """The mark; that of the last look if it was made of the same."""
        before = self._made.get(origin.found.key)
        return before[1] if before is not None and before[0] == origin else self._new_mark(origin)

    def _new_mark(self, origin: _Origin) -> Mark:
        found, beside, box, number, is_secret, hidden = origin
        state = found.state
        if is_secret:
            value = "" if state.value == "" else None
            state = state.model_copy(update={"value": value, "caret_line": None, "masked": True})
        words = beside.words
        if _is_in(hidden, words):
            words = ""
        return Mark(
            number=number,
            letter=_LETTERS[found.kind] if self.has_letters else "",
            tag=found.tag,
            role=found.role,
            kind=found.kind,
            name=found.name,
            state=state,
            box=box,
            point=found.points[0],
            body=found.body,
            frame=found.frame,
            evidence=found.evidence,
            fingerprint=found.fingerprint,
            context=words,
            title=found.title if words == found.beside.words else "",
            time="" if _is_in(hidden, found.time) else found.time,
            heading=beside.heading,
            wording=_without_hidden(found.wording, hidden),
            shows=found.shows,
            says=found.says,
            prices=tuple(each for each in found.prices if not _is_in(hidden, each)),
            key=found.key,
            in_dialog=found.in_dialog,
            enter=found.enter.press if found.enter else None,
        )

    def keep(self, marks: Sequence[Mark]) -> None:
        """Remembers the marks of a look, for comparison with the next one."""
        self._before = {mark.number: mark for mark in marks}

    def keep_icons(self, marks: Sequence[Mark]) -> None:
        """Remembers what the icons of these marks look like, for when they are scrolled out of view."""
        self._earlier.keep_icons(marks)

    def with_change(self, mark: Mark) -> Mark:
        """The mark with its change since the last look, if any."""
        change = self._difference(mark)
        return mark.replacing(change=change) if change else mark

    def marks_in_other_surfaces(self, surfaces: Sequence[Mark], found: Sequence[Mark]) -> list[Mark]:
        """Remembered marks in surfaces that still exist but were not searched this time."""
        looked, here = {mark.number for mark in surfaces}, {mark.number for mark in found}
        before = (self._before or {}).values()
        return [mark for mark in before if mark.surface is not None and mark.surface in here - looked]

    def change(self, marks: Sequence[Mark], out_of_view: Sequence[Mark] = ()) -> Change:
        """The changes of all marks since the last look. A mark that is only out of view is not gone."""
        if self._before is None:
            return Change(navigated=self.epoch > 1)
        here = {mark.number for mark in (*marks, *out_of_view)}
        by_kind = {
            kind: tuple(mark.number for mark in marks if mark.change == kind) for kind in ("new", "changed", "moved")
        }
        return Change(
            new=by_kind["new"],
            changed=by_kind["changed"],
            moved=by_kind["moved"],
            gone=tuple(number for number in self._before if number not in here),
        )

    def _difference(self, mark: Mark) -> str:
        if self._before is None:
            return ""
        old = self._before.get(mark.number)
        if old is None:
            return "new"
        if old is mark:
            return ""
        then, now = [(each.name, each.role, each.context, each.heading) for each in (old, mark)]
        if then != now or not _is_same_state(old.state, mark.state):
            return "changed"
        if old.box is mark.box:
            return ""
        is_moved = abs(old.box.x - mark.box.x) > _MOVED or abs(old.box.y - mark.box.y) > _MOVED
        return "moved" if is_moved else ""


def _readings(value: str) -> tuple[str, str]:
    """A value as it is, and in one line: a terminal breaks a long line where its screen ends."""
    return value, value.replace("\n", "")


def _row_text(mark: FoundMark, beside: Beside) -> str:
    """The text that identifies the row of a mark: the words beside it; a link that has none is known by its name."""
    return mark.name if mark.role == "link" and not beside.words else beside.says


def _without_hidden(wording: Wording | None, hidden: Sequence[str]) -> Wording | None:
    """The words as the page has them; none if one of the hidden texts is among them."""
    return Wording() if wording is not None and _is_in(hidden, wording.text) else wording


def _is_in(hidden: Sequence[str], words: str) -> bool:
    """Whether one of the hidden texts, without spaces, is in the words."""
    return any(each in _without_spaces(words) for each in hidden)


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _is_same_state(old: MarkState, new: MarkState) -> bool:
    """Whether a state is unchanged apart from hover and focus."""
    if old is new or old == new:
        return True
    return old.model_copy(update={"hovered": new.hovered, "focused": new.focused}) == new

"""Fields: which one has the focus, what it holds or would make of a value, and setting it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple
from uuid import uuid4

from playwright.async_api import Frame

from vision_agent.browser.page.overlay import ask
from vision_agent.browser.page.overlay_calls.answer_parts import ContextDifference, Expectation, difference_of
from vision_agent.observation import MarkKey


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
class FileField:
    """What a field for files takes."""

    folder: bool
    """It takes a whole folder."""
    multiple: bool


async def file_field(frame: Frame, deadline_s: float, key: str) -> FileField:
    """What a field for files takes; one file if it is gone."""
    answer = await ask(frame, "file_field", deadline_s, key=key)
    return FileField(answer["folder"], answer["multiple"])


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
    return SetAnswer(answer["why"], difference_of(answer["held"]), answer["focused"])


@dataclass(frozen=True, slots=True)
class ChangedField:
    """A field that holds something else than before."""

    key: str
    """Empty if it never had a mark."""
    name: str
    role: str
    tag: str
    kind: Literal["value", "choice", "tick"]
    now: str | None
    """What it holds, what is chosen in it, or whether it is ticked; None if it is secret or called the same as before.
    """


@dataclass(frozen=True, slots=True)
class ChangedValues:
    """What a document holds otherwise than when it was asked to remember it."""

    fields: tuple[ChangedField, ...] = ()
    """The first few."""
    count: int = 0
    """How many there are in all."""
    right: float = 0.0
    """How far the page was scrolled to the right, in CSS pixels; `down` likewise."""
    down: float = 0.0
    has_scrolled_part: bool = False
    """Whether something on the page was scrolled."""


async def remember_values(frame: Frame, deadline_s: float) -> None:
    """Makes the document remember what its fields hold and where it is scrolled to."""
    await ask(frame, "remember_values", deadline_s)


async def changed_values(frame: Frame, deadline_s: float) -> ChangedValues:
    """What is otherwise than the document remembers; nothing if it remembers nothing."""
    answer = await ask(frame, "changed_values", deadline_s)
    if not answer["known"]:
        return ChangedValues()
    fields = tuple(ChangedField(**each) for each in answer["fields"])
    return ChangedValues(fields, answer["count"], answer["right"], answer["down"], answer["scrolled"])

"""The guards around a press and around keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import Frame

from vision_agent.browser.page.overlay import ask
from vision_agent.browser.page.overlay_calls.answer_parts import (
    ContextDifference,
    Expectation,
    Json,
    Obstacle,
    RowContext,
    difference_of,
    keys_of,
)
from vision_agent.browser.page.overlay_calls.surface import DrawnLook, StandingLook
from vision_agent.observation import MarkKey


@dataclass(frozen=True, slots=True)
class Deflection:
    """An event that missed its target."""

    why: Literal["covered", "gone", "changed"]
    event: str
    obstacle: Obstacle
    """What it would have hit."""


@dataclass(frozen=True, slots=True)
class PassedOn:
    """The rest of a text, which would have gone elsewhere."""

    field: Obstacle
    """The field that would have got it."""


@dataclass(frozen=True, slots=True)
class OtherButton:
    """What Enter would have pressed, which is not what it pressed at the look."""

    name: str
    """Empty if it has none, or if the form has no button now."""
    difference: ContextDifference | None
    """How the words around it differ, if it is the same button."""


@dataclass(frozen=True, slots=True)
class ExpectedButton:
    """The button that Enter pressed at the look."""

    fingerprint: str
    context: RowContext | None


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
    is_swallowed: bool = False
    """Something that lay over the target got the rest, and nothing shows that the press alone was meant."""
    pressed_ms: float | None = None
    """When the press arrived, by the document's own clock; None if it did not arrive there."""
    hears_all: bool = False
    """No event can have come to the document without being noted."""
    is_redrawn: bool = False
    """The canvas no longer showed what is drawn around the target as the press ended."""


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
    stands: StandingLook | None = None,
) -> None:
    """Stops the next press anywhere but on the element with the key; without a key, anywhere in the document.

    `is_pan`: the click that may follow is stopped too. `look`: for a canvas, what it must show where the press begins.
    `stands`: what a part of it must show then, wherever the press is.
    """
    details = {"key": key, "kind": kind, "fingerprint": fingerprint, "isDrag": is_drag, "ms": lasts_s * 1000}
    details["isPan"] = is_pan
    shown = look and look._asdict()
    await ask(
        frame, "guard", deadline_s, look=shown, stands=stands and stands._asdict(), **details, **expected.as_details()
    )


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
        is_swallowed=answer["swallowed"],
        pressed_ms=answer["pressedAt"],
        hears_all=answer["hearsAll"],
        is_redrawn=answer["redrawn"],
    )


async def stop_clicks(frame: Frame, deadline_s: float) -> None:
    """Stops the click that may follow the press that is guarded."""
    await ask(frame, "stop_clicks", deadline_s)


async def guard_keys(
    frame: Frame,
    deadline_s: float,
    key: str | None,
    expected: Expectation,
    *,
    counts: bool,
    lasts_s: float,
    guards_enter: bool = False,
    button: ExpectedButton | None = None,
    repeats: bool = False,
) -> None:
    """Stops keys to an element once the words around it have changed, and text that would go to another field.

    Without a key, in another document than that of the element, it stops text that would go to a field there, and in a
    page around it also keys to a frame that came since, or to this page once the frame is gone. `counts`: after the
    first key, a number beside it may change, like a slider's. `guards_enter`: Enter may press no other button of the
    form than `button`, nor that one once the words around it have changed. `repeats`: after the first key, nothing else
    may get any.
    """
    details: dict[str, Any] = {"key": key, "counts": counts, "ms": lasts_s * 1000, "guardsEnter": guards_enter}
    details["repeats"] = repeats
    if button is not None:
        place = button.context.answer if button.context else None
        details["enter"] = {"fingerprint": button.fingerprint, "place": place}
    await ask(frame, "guard_keys", deadline_s, **details, **expected.as_details())


async def expect_own_keys(frame: Frame, deadline_s: float, lasts_s: float) -> None:
    """What unguarded keys choose in a document for so long is the agent's own choice; 0 ends it."""
    await ask(frame, "own_keys", deadline_s, ms=lasts_s * 1000)


async def read_key_guard(
    frame: Frame, deadline_s: float
) -> ContextDifference | PassedOn | OtherButton | Literal["gone", "lost", "left"] | None:
    """Why keys were stopped; None if all went through. Ends the guard."""
    held = (await ask(frame, "keys_guarded", deadline_s))["held"]
    if held and (passed := held.get("passed")):
        return PassedOn(_obstacle(passed))
    if held and (name := held.get("button")) is not None:
        return OtherButton(name, difference_of(held["held"]))
    if held and held.get("lost"):
        return "lost"
    if held and held.get("left"):
        return "left"
    return "gone" if held and held.get("gone") else difference_of(held)


@dataclass(frozen=True, slots=True)
class Inserted:
    """What came of a text that was inserted at once."""

    boxes: tuple[MarkKey, ...]
    """The fields that got a part of it: one, none, or the boxes of a code."""
    left: int
    """How many characters none of them has taken."""


async def insert_guarded(
    frame: Frame, deadline_s: float, key: str, input_type: str | None, text: str, *, goes_on: bool = False
) -> Inserted:
    """Inserts text where the guarded keys of a field would go, if nothing has changed.

    `goes_on`: it is the rest of a text, for the box of a code to which the last one has passed the focus on.
    """
    answer = await ask(frame, "insert", deadline_s, key=key, type=input_type, text=text, goesOn=goes_on)
    return Inserted(keys_of(answer["boxes"]), answer["left"])


def _deflection(answer: Json | None) -> Deflection | None:
    if answer is None:
        return None
    return Deflection(answer["why"], answer["type"], _obstacle(answer))


def _obstacle(answer: Json) -> Obstacle:
    return Obstacle(answer["blocker"], MarkKey(answer["key"]) if answer["key"] else None)

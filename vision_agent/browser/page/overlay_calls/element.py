"""One element as it is now, and where a click or the pointer reaches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from playwright.async_api import ElementHandle, Frame

from vision_agent.browser.page.frame_place import Plane, Rect, Spot, ViewportOffset
from vision_agent.browser.page.overlay import ask
from vision_agent.browser.page.overlay_calls.answer_parts import (
    NOTHING_EXPECTED,
    ContextDifference,
    Expectation,
    Json,
    Obstacle,
    Stability,
    difference_of,
    keys_of,
    obstacle_of,
    obstacles_of,
    rect_of,
    spot_of,
    stability_of,
)
from vision_agent.observation import Kind, MarkKey, MarkState

Reveal = bool | Literal["always"]
"""Whether to scroll an element into view first: True if it is not visible enough, "always" in any case."""


@dataclass(frozen=True, slots=True)
class LiveElement:
    """A marked element as it is now."""

    name: str
    shows: str
    """The text painted on it that disagrees with its name; empty if they agree."""
    says: str
    """What else the page says about it, such as a title; read only for what cannot be undone."""
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
    outline: OutlinedPart | None
    """What the box of a mark goes around; None if there are no such points."""
    held_words: str
    """The text that it holds, if it is not visible."""


class OutlinedPart(NamedTuple):
    """The part of an element that a box is drawn around."""

    rect: Rect
    corners: tuple[Spot, ...]
    """Those of a turned element; empty for others."""


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
        says=answer["says"],
        role=answer["role"],
        fingerprint=answer["fingerprint"],
        is_same_except_name=answer["isSameBeing"],
        difference=difference_of(answer["held"]),
        was_scrolled=answer["scrolled"],
        state=MarkState(**answer["state"]),
        is_disabled=answer["disabled"],
        value_now=answer["now"],
        stability=stability_of(answer["quiet"]),
        is_visible=answer["visible"],
        rect=rect_of(answer["rect"]),
        zoom=spot_of(answer["zoom"]),
        points=tuple(map(spot_of, answer["points"])),
        obstacle=obstacle_of(answer["blocker"], answer["blockerKey"]),
        outline=_outline(answer["outline"]),
        held_words=answer["heldWords"],
    )


def _outline(answer: Json | None) -> OutlinedPart | None:
    if answer is None:
        return None
    return OutlinedPart(rect_of(answer["box"]), tuple(map(spot_of, answer.get("corners") or ())))


@dataclass(frozen=True, slots=True)
class LiveFrame:
    """Where a frame's own element is now in its parent document."""

    plane: Plane | None
    """None if it has no size."""
    zoom: ViewportOffset
    """The zoom of the parent document."""
    difference: ContextDifference | None


async def locate_frame(
    frame: Frame, deadline_s: float, key: str, expected: Expectation = NOTHING_EXPECTED
) -> LiveFrame | None:
    """Where a child frame lies in `frame`, its parent; None if it is gone."""
    answer = await ask(frame, "frame", deadline_s, key=key, **expected.as_details())
    return (
        LiveFrame(answer["plane"], spot_of(answer["zoom"]), difference_of(answer["held"])) if answer["found"] else None
    )


async def frame_key(element: ElementHandle, deadline_s: float) -> MarkKey:
    """The key of a frame's own element."""
    return MarkKey((await ask(element, "frame", deadline_s))["key"])


async def frame_plane(element: ElementHandle, deadline_s: float) -> Plane | None:
    """How a frame's viewport is projected into its parent's, given its own element; None if it has no size."""
    plane: Plane | None = (await ask(element, "frame", deadline_s))["plane"]
    return plane


async def find_stand_ins(
    frame: Frame, deadline_s: float, *, tag: str, kind: Kind, essence: str, expected: Expectation
) -> tuple[MarkKey, ...]:
    """Keys of elements with the role, name and row of a missing one, in view or not; at most two."""
    details = {"tag": tag, "kind": kind, "essence": essence, **expected.as_details()}
    return keys_of((await ask(frame, "stand_ins", deadline_s, **details))["keys"])


async def contained_keys(frame: Frame, deadline_s: float, key: str, keys: Sequence[str]) -> tuple[MarkKey, ...]:
    """Those of the keys whose elements lie inside an element, or inside what it controls (`aria-controls`)."""
    return keys_of((await ask(frame, "within", deadline_s, key=key, keys=list(keys)))["keys"])


async def count_alike(frame: Frame, deadline_s: float, key: str) -> int:
    """How many entries of its list say what an element says, in view or not; 1 if it is in no list."""
    return int((await ask(frame, "alike", deadline_s, key=key))["count"])


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
    return ShownPoints(tuple(answer["shows"]), obstacles_of(answer["blockers"]))


async def keys_at_spot(frame: Frame, deadline_s: float, spot: Spot) -> tuple[MarkKey, ...]:
    """Keys of the elements at a spot, innermost first."""
    return keys_of((await ask(frame, "under", deadline_s, x=spot[0], y=spot[1]))["keys"])


@dataclass(frozen=True, slots=True)
class DropReceiver:
    """What would get what is held at a spot."""

    gets: Literal["target", "around", "empty", "other"]
    """The target; what is around it; something empty, such as the room that a list makes; or another thing."""
    is_held_there: bool
    """What is held, or a copy of it, is at the spot too."""
    obstacle: Obstacle | None
    """The other thing."""
    rect: Rect | None
    """Where the other thing is."""
    is_within: bool
    """The other thing is no target of its own and lies over the target, in its box."""


async def what_gets_drop(
    frame: Frame, deadline_s: float, key: str, spot: Spot, *, held: str | None, name: str, through: str | None = None
) -> DropReceiver | None:
    """What would get what is held at a spot, where the element with a key is meant to; None if that is gone.

    `held`, `name`: the key and the name of what is held; `through`: the key of another thing that is looked through.
    """
    details = {"key": key, "x": spot[0], "y": spot[1], "held": held, "name": name, "through": through}
    answer = await ask(frame, "gets_drop", deadline_s, **details)
    if not answer["found"]:
        return None
    return DropReceiver(
        gets=answer["gets"],
        is_held_there=answer["isHeldThere"],
        obstacle=obstacle_of(answer["blocker"], answer["key"]),
        rect=rect_of(answer["rect"]) if answer["rect"] else None,
        is_within=answer["isWithin"],
    )


async def is_outside_shape(frame: Frame, deadline_s: float, key: str, spot: Spot) -> bool:
    """Whether a spot in the box of an element lies in a hole of it, or beside a turned or clipped corner.

    A click there reaches something that contains the element and that the element does not lie below.
    """
    answer = await ask(frame, "outside_shape", deadline_s, key=key, x=spot[0], y=spot[1])
    return bool(answer["outside"])


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
    return SpotToShow(spot_of(answer["at"]), spot_of(answer["zoom"])) if answer["at"] else None


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
    asks_back: bool
    """Buttons came up since the press, other than in a mere message."""


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
    paint, judged, own = (tuple(map(rect_of, answer[name])) for name in ("paint", "judged", "own"))
    return PaintAnswer(paint, judged, own, answer["switched"], answer["asks"])

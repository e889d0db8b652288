"""Tells what drawn things are: buttons, fields, tabs, checkboxes, sliders, handles, tiles, nodes, legend entries.

A role follows from the shape of a thing, its text, its neighbours and its likes, and is left open where these do not
tell. This module knows boxes and colours, but neither pixels nor pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from vision_agent.types import Box

DrawnRole = Literal[
    "", "button", "field", "tab", "checkbox", "radio", "slider", "handle", "tile", "node", "port", "legend entry",
    "point", "bar", "slice", "axis",
]  # fmt: skip
"""What a drawn thing is; empty if that cannot be told."""

_HANDLE = (5.0, 17.0)
_BOX = (9.0, 26.0)
"""The sizes of a checkbox."""
_LABEL_GAP = 1.6
"""The largest gap to a label, in times the height of the box."""
_BUTTON = (16.0, 64.0)
_BUTTON_WIDEST = 8.0
_FIELD_LEAST = 2.8
"""The least width of a field, in times its height."""
_EQUAL = 2.5
"""The largest difference of equal lengths, in CSS pixels."""
_TOUCHING = 5.0
_SAME_COLOUR = 30.0
_FAINT = 75.0
"""The difference of a text from its face, in levels of a channel, below which it is faint."""


@dataclass(frozen=True)
class Seen:
    """What is known about a thing, in page coordinates."""

    box: Box
    shape: str
    lines: tuple[Box, ...] = ()
    """Where there is text in it."""
    colour: tuple[float, float, float] = (0, 0, 0)
    """Of its face or, if it has none of its own, of its stroke."""
    is_filled: bool = True
    has_ink: bool = False
    contrast: float | None = None
    """How much its text differs from its face, in levels of a channel."""


@dataclass(frozen=True)
class Told:
    """What a thing is and which state it is in."""

    role: DrawnRole = ""
    is_selected: bool | None = None
    is_disabled: bool = False
    is_checked: bool | None = None


UNTOLD = Told()


def tell_roles(things: Sequence[Seen], words: Sequence[Box]) -> list[Told]:
    """The role and state of each thing; `words` are the lines of text outside of things."""
    told = [UNTOLD] * len(things)
    for at, thing in enumerate(things):
        told[at] = Told(_single(thing, words))
    _tell_sliders(things, told)
    _tell_ports(things, told)
    _tell_handles(things, told)
    _tell_tabs(things, told)
    _tell_tiles(things, told)
    _tell_nodes(things, told)
    return [_with_state(at, things, told) for at in range(len(things))]


def _single(thing: Seen, words: Sequence[Box]) -> DrawnRole:
    """What a thing is by itself and by the text in it or beside it."""
    box = thing.box
    if thing.shape == "words":
        return ""
    if _is_small_square(box) and _label_of(box, words) is not None:
        if thing.shape == "round":
            return "radio" if not thing.is_filled else "port"
        return "checkbox" if thing.shape == "box" and not (thing.is_filled and not thing.has_ink) else ""
    if not _BUTTON[0] <= box.height <= _BUTTON[1] or box.width < 1.1 * box.height or thing.shape == "words":
        return ""
    if len(thing.lines) == 1 or (thing.lines and max(line.bottom for line in thing.lines) - min(
        line.y for line in thing.lines) <= 0.7 * box.height):  # fmt: skip
        left = min(line.x for line in thing.lines) - box.x
        right = box.right - max(line.right for line in thing.lines)
        if abs(left - right) <= max(6.0, 0.16 * box.width) and box.width <= _BUTTON_WIDEST * box.height:
            return "button"
        if left <= 0.35 * right and box.width >= _FIELD_LEAST * box.height and not _is_dark(thing):
            return "field"
        return ""
    if not thing.lines and not thing.is_filled and box.width >= _FIELD_LEAST * box.height and thing.shape == "box":
        return "field" if _label_of_field(box, words) else ""
    return ""


def _is_small_square(box: Box) -> bool:
    return all(_BOX[0] <= side <= _BOX[1] for side in (box.width, box.height)) and abs(
        box.width - box.height) <= 0.2 * max(box.width, box.height)  # fmt: skip


def _label_of(box: Box, words: Sequence[Box]) -> Box | None:
    """The text to the right of a small box, as of a checkbox."""
    middle = box.y + box.height / 2
    beside = [
        line
        for line in words
        if 0 <= line.x - box.right + 1 <= _LABEL_GAP * box.height and line.y <= middle <= line.bottom
    ]
    return min(beside, key=lambda line: line.x, default=None)


def _label_of_field(box: Box, words: Sequence[Box]) -> bool:
    """Whether there is text right above or to the left of a box."""
    return any(
        (0 <= box.y - line.bottom <= 14 and abs(line.x - box.x) <= 16)
        or (0 <= box.x - line.right <= 24 and line.y <= box.y + box.height / 2 <= line.bottom)
        for line in words
    )


def _is_dark(thing: Seen) -> bool:
    return thing.is_filled and max(thing.colour) < 160


def _tell_sliders(things: Sequence[Seen], told: list[Told]) -> None:
    """A knob on a thin bar."""
    bars = [at for at, each in enumerate(things) if each.box.height <= 12 and each.box.width >= 4 * each.box.height]
    for knob, thing in enumerate(things):
        box = thing.box
        if not (8 <= box.width <= 34 and 8 <= box.height <= 34) or thing.shape == "words":
            continue
        on = [
            bar
            for bar in bars
            if things[bar].box.height < box.height
            and abs(things[bar].box.center.y - box.center.y) <= 3
            and things[bar].box.x - box.width <= box.x
            and box.right <= things[bar].box.right + box.width
        ]
        # The knob is in the middle of a bar, or between the two parts that it makes of it.
        span = sum(things[bar].box.width for bar in on)
        if on and span >= 2.5 * box.width:
            told[knob] = Told("slider")


def _tell_ports(things: Sequence[Seen], told: list[Told]) -> None:
    """Small discs on or just inside the left and right edges of a larger thing."""
    for at, thing in enumerate(things):
        if (
            told[at].role not in ("", "port")
            or (thing.shape == "box" and not thing.is_filled)
            or thing.shape == "words"
            or not _is_dot(thing.box)
        ):
            continue
        on_edge = any(
            each.box.width >= 4 * thing.box.width
            and each.box.y <= thing.box.center.y <= each.box.bottom
            and min(abs(thing.box.center.x - each.box.x), abs(thing.box.center.x - each.box.right)) <= 12
            for other, each in enumerate(things)
            if other != at and each.shape != "words"
        )
        told[at] = Told("port" if on_edge else "" if told[at].role == "port" else told[at].role)


def _is_dot(box: Box) -> bool:
    return max(box.width, box.height) <= 20 and abs(box.width - box.height) <= 0.3 * max(box.width, box.height)


def _tell_handles(things: Sequence[Seen], told: list[Told]) -> None:
    """Small equal shapes on the corners and the middles of the edges of something."""
    small = [
        at
        for at, each in enumerate(things)
        if all(_HANDLE[0] <= side <= _HANDLE[1] for side in (each.box.width, each.box.height)) and each.shape != "words"
    ]
    for thing in things:
        if min(thing.box.width, thing.box.height) < 3 * _HANDLE[0]:
            continue
        on = [at for at in small if _is_on_frame(things[at].box, thing.box)]
        if len(on) >= 4:
            for at in on:
                told[at] = Told("handle")
    _tell_frames(small, things, told)


def _is_on_frame(small: Box, frame: Box) -> bool:
    reach = max(5.0, small.width / 2 + 2)
    at_x = [abs(small.center.x - x) <= reach for x in (frame.x, frame.center.x, frame.right)]
    at_y = [abs(small.center.y - y) <= reach for y in (frame.y, frame.center.y, frame.bottom)]
    return any(at_x) and any(at_y) and not (at_x[1] and at_y[1])


def _tell_frames(small: Sequence[int], things: Sequence[Seen], told: list[Told]) -> None:
    """Handles around something that is no thing itself: six to eight equal ones on one rectangle."""
    rest = [at for at in small if not told[at].role]
    for first in rest:
        alike = [at for at in rest if _are_equal(things[first].box, things[at].box)]
        if not 6 <= len(alike) <= 9:
            continue
        left, right = (edge([things[at].box.center.x for at in alike]) for edge in (min, max))
        top, bottom = (edge([things[at].box.center.y for at in alike]) for edge in (min, max))
        frame = Box(x=left, y=top, width=max(1.0, right - left), height=max(1.0, bottom - top))
        on = [at for at in alike if _is_on_frame(things[at].box, frame)]
        if len(on) >= 6:
            for at in on:
                told[at] = Told("handle")


def _tell_tabs(things: Sequence[Seen], told: list[Told]) -> None:
    for row in _rows([at for at, each in enumerate(told) if each.role == "button"], things):
        runs: list[list[int]] = []
        for at in row:
            before = runs[-1][-1] if runs else None
            gap = things[at].box.x - things[before].box.right if before is not None else 0.0
            if before is not None and -3 <= gap <= _TOUCHING:
                runs[-1].append(at)
            else:
                runs.append([at])
        for run in runs:
            if len(run) >= 2 and _odd_one(run, things) is not None:
                for at in run:
                    told[at] = Told("tab")


def _tell_tiles(things: Sequence[Seen], told: list[Told]) -> None:
    """Four or more equal shapes in a row or column, without text and not tiny."""
    plain = [
        at
        for at, each in enumerate(things)
        if not told[at].role
        and not each.lines
        and each.shape in ("box", "round")
        and min(each.box.width, each.box.height) >= _HANDLE[1]
    ]
    for first in plain:
        alike = [at for at in plain if _are_equal(things[first].box, things[at].box)]
        level = [at for at in alike if abs(things[at].box.y - things[first].box.y) <= _EQUAL]
        below = [at for at in alike if abs(things[at].box.x - things[first].box.x) <= _EQUAL]
        if max(len(level), len(below)) >= 3 and len(alike) >= 4:
            told[first] = Told("tile")


def _tell_nodes(things: Sequence[Seen], told: list[Told]) -> None:
    """Larger things with text and ports on their edges."""
    ports = [things[at].box for at, each in enumerate(told) if each.role == "port"]
    for at, thing in enumerate(things):
        box = thing.box
        if told[at].role in ("", "button", "field") and box.height >= 30 and box.width >= 50 and thing.shape != "words":
            on = [port for port in ports if box.y - 8 <= port.center.y <= box.bottom + 8 and min(
                abs(port.center.x - box.x), abs(port.center.x - box.right)) <= 12]  # fmt: skip
            if on and thing.lines:
                told[at] = Told("node")


def _rows(members: Sequence[int], things: Sequence[Seen]) -> list[list[int]]:
    """The members that are level and equally high, each row from left to right."""
    rows: list[list[int]] = []
    for at in sorted(members, key=lambda each: (things[each].box.y, things[each].box.x)):
        box = things[at].box
        for row in rows:
            other = things[row[0]].box
            if abs(other.y - box.y) <= _EQUAL and abs(other.height - box.height) <= _EQUAL:
                row.append(at)
                break
        else:
            rows.append([at])
    return [sorted(row, key=lambda each: things[each].box.x) for row in rows]


def _odd_one(group: Sequence[int], things: Sequence[Seen]) -> int | None:
    """The only one of a group with another colour, if all others agree; of two, the more saturated one."""
    if len(group) == 2:
        one, other = group
        if _apart(things[one], things[other]) <= _SAME_COLOUR:
            return None
        return max(group, key=lambda at: max(things[at].colour) - min(things[at].colour))
    for odd in group:
        rest = [at for at in group if at != odd]
        if (
            all(_apart(things[rest[0]], things[at]) <= _SAME_COLOUR / 2 for at in rest)
            and _apart(things[odd], things[rest[0]]) > _SAME_COLOUR
        ):
            return odd
    return None


def _apart(one: Seen, other: Seen) -> float:
    return max(abs(mine - theirs) for mine, theirs in zip(one.colour, other.colour, strict=True))


def _are_equal(one: Box, other: Box) -> bool:
    return abs(one.width - other.width) <= _EQUAL and abs(one.height - other.height) <= _EQUAL


def _with_state(at: int, things: Sequence[Seen], told: Sequence[Told]) -> Told:
    thing, is_now = things[at], told[at]
    if is_now.role == "tab":
        group = next((row for row in _rows([i for i, each in enumerate(told) if each.role == "tab"], things)
                      if at in row), [at])  # fmt: skip
        odd = _odd_one(group, things)
        return Told("tab", is_selected=None if odd is None else odd == at)
    if is_now.role == "checkbox":
        return Told("checkbox", is_checked=thing.has_ink)
    if is_now.role == "button" and thing.contrast is not None and thing.contrast < _FAINT:
        others = [each.contrast for each, its in zip(things, told, strict=True)
                  if its.role == "button" and each.contrast is not None]  # fmt: skip
        # Faint beside others that are not: else it may be the style of the page.
        return Told("button", is_disabled=max(others) > 1.6 * thing.contrast)
    return is_now

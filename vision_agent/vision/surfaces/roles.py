"""Tells what drawn things are: buttons, fields, tabs, checkboxes, sliders, handles, tiles, nodes, legend entries.

A role follows from the shape of a thing, its text, its neighbours and its likes, and is left open where these do not
tell. This module knows boxes and colours, but neither pixels nor pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from vision_agent.geometry import Box
from vision_agent.vision.surfaces.shapes import Part

DrawnRole = Literal[
    "", "button", "field", "tab", "checkbox", "radio", "slider", "handle", "tile", "node", "port", "edge",
    "legend entry", "point", "bar", "slice", "candle", "axis",
]  # fmt: skip
"""What a drawn thing is; empty if that cannot be told."""

_TILE = 17.0
"""The least width and height of a tile."""
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
_HOST = 2.5
"""The least height of a thing with ports, in times that of a port: an arrow in a field is none."""
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
    """The colour of its face or, if it has none of its own, of its stroke."""
    is_filled: bool = True
    has_ink: bool = False
    contrast: float | None = None
    """How much its text differs from its face, in levels of a channel."""
    part: Part = ""
    """What it is by how it is put together, which is more than its shape tells."""
    is_selected: bool = False
    """Whether handles frame it."""


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
        told[at] = Told(thing.part or _single(thing, words))
    _tell_ports(things, told)
    _tell_tabs(things, told)
    _tell_tiles(things, told)
    _tell_nodes(things, told)
    told = [Told(each.part) if each.part else its for each, its in zip(things, told, strict=True)]
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
            and each.box.height >= _HOST * thing.box.height
            and each.box.y <= thing.box.center.y <= each.box.bottom
            and min(abs(thing.box.center.x - each.box.x), abs(thing.box.center.x - each.box.right)) <= 12
            for other, each in enumerate(things)
            if other != at and each.shape != "words"
        )
        told[at] = Told("port" if on_edge else "" if told[at].role == "port" else told[at].role)


def _is_dot(box: Box) -> bool:
    return max(box.width, box.height) <= 20 and abs(box.width - box.height) <= 0.3 * max(box.width, box.height)


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
        and min(each.box.width, each.box.height) >= _TILE
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
    if thing.is_selected:
        return replace(is_now, is_selected=True)
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

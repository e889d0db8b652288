"""Checks a drawn target once more with the pointer on it: a canvas may redraw itself when the pointer arrives.

What is only painted in other colours there, as under any pointer, is still the target. So is what only grows or becomes
bold, if its words are still the same, nothing else has them, and nothing else on the canvas changes.
A canvas that can be read is compared again as the press begins: see `canvas_pixels.js`.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from playwright.async_api import Frame

from vision_agent.actions import Cell, Point
from vision_agent.browser.locate.at_point import page_point
from vision_agent.browser.locate.drawn_target import FOLLOWED, DrawnTarget, around, compared_part, drawn_target
from vision_agent.browser.locate.location import Location
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay_calls.surface import StandingLook
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.compare import changed_apart_from, found_again, is_only_one
from vision_agent.vision.drawn_look import colour_around, is_like, shown_in
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.ocr import OcrReader, folded
from vision_agent.vision.picture import Picture
from vision_agent.vision.repaint import has_same_ink, is_only_repainted, still_has_ink

_STANDS = 2.0
"""CSS pixels of movement that count as none."""
_AROUND = 12.0
"""CSS pixels around a point that belong to it, each way."""
_WIDE, _HIGH = 400.0, 60.0
"""CSS pixels around the point that are compared as the press begins, each way."""
_BESIDE = 6.0
"""CSS pixels around that, for the colour that lies behind it."""
_GROWS = 8.0
"""CSS pixels by which a thing may grow under the pointer, each way."""
_NOISE = 24
"""Pixels of the rest of the canvas that may differ."""
_TRIES = 2
"""Times that the canvas is read and the page pictured, for the two to show the same."""


async def check_under_pointer(
    target: int | Cell | Point,
    at: Location,
    seen: LiveObservation,
    image_limits: ImageLimits,
    deadline_s: float,
    reader: Callable[[], Awaitable[OcrReader | None]],
) -> Location:
    """The location of a target on a surface, with what must still show as the press begins; others as they are.

    `reader` gives what reads words, if that is installed.

    Raises:
        Refused: what shows there changed when the pointer came.
        FrameSilent: the page gave no picture, or its frame did not answer.
    """
    drawn = drawn_target(target, seen)
    if at.under is None or at.under.kind != "surface" or (drawn is not None and drawn.surface is None):
        return at
    thing = drawn or _around_point(target, at, seen)
    moved = Point(x=at.point.x - thing.point.x, y=at.point.y - thing.point.y)
    place = _readable_place(thing, moved, at.under, seen)
    for _ in range(_TRIES):
        look = await _read(place, deadline_s) if place else None
        now = Picture.decode(await capture(seen.page, deadline_s), seen.clean.page, image_limits).masked(seen.masked)
        is_there = _is_there(thing, at.point, seen, now) if drawn else _has_ink(thing, moved, seen, now)
        if not is_there and not await _has_only_grown(target, thing, moved, seen, now, reader):
            changed = "what the picture shows there changed when the pointer came"
            raise Refused("moved", f"{at.words} was not used: {changed}. Look again.")
        if place is None or look is None:
            return at
        shown = shown_in(now, place.on_page)
        if shown is not None and is_like(shown, np.frombuffer(base64.b64decode(look.pixels), np.uint8)):
            return replace(at, stands=look)
    return at  # what is read from the canvas is not what shows


def _around_point(target: int | Cell | Point, at: Location, seen: LiveObservation) -> DrawnTarget:
    assert isinstance(target, Point)
    point = page_point(target, seen)
    box = Box(x=point.x - _AROUND, y=point.y - _AROUND, width=2 * _AROUND, height=2 * _AROUND)
    return DrawnTarget(at.words, box, point, at.under)


def _is_there(drawn: DrawnTarget, at: Point, seen: LiveObservation, now: Picture) -> bool:
    part, moved = compared_part(drawn), Point(x=at.x - drawn.point.x, y=at.y - drawn.point.y)
    found = found_again(seen.clean, now, part, moved, moved, FOLLOWED, drawn.beside, drawn.row)
    if found is not None and max(abs(found.x - moved.x), abs(found.y - moved.y)) <= _STANDS:
        return True
    if drawn.row_words:
        # Whatever lies over the rest of its row, such as a bubble over the other buttons, it is still the row meant.
        return is_only_repainted(seen.clean, now, part, moved, pointer=at, words=drawn.row_words)
    # A cell is a place, and many a page tells beside it what the pointer is on.
    is_one_of_many = drawn.is_followed and not is_only_one(seen.clean, part, FOLLOWED)
    beside = (*(drawn.beside if is_one_of_many else ()), *([drawn.row] if drawn.row else []))
    return is_only_repainted(seen.clean, now, part, moved, beside, pointer=at)


async def _has_only_grown(
    target: int | Cell | Point,
    drawn: DrawnTarget,
    moved: Point,
    seen: LiveObservation,
    now: Picture,
    reader: Callable[[], Awaitable[OcrReader | None]],
) -> bool:
    mark = seen.observation.mark(target) if isinstance(target, int) else None
    surface = drawn.surface
    if mark is None or surface is None or mark.reading or not mark.name or drawn.row or moved != Point(x=0, y=0):
        return False
    called = [each.name for each in seen.observation.marks if each.surface == surface.number]
    called += seen.observation.cell_texts.values()
    if sum(folded(each) == folded(mark.name) for each in called) != 1:
        return False
    by, box = _GROWS, drawn.box
    grown = Box(x=box.x - by, y=box.y - by, width=box.width + 2 * by, height=box.height + 2 * by)
    inside = seen.clean.page.intersection(surface.box)
    if inside is None or changed_apart_from(seen.clean.crop(inside), now.crop(inside), [grown]) > _NOISE:
        return False
    if not has_same_ink(seen.clean, now, box) or (reads := await reader()) is None:
        return False
    was, shown = [await asyncio.to_thread(_words_in, reads, each, box) for each in (seen.clean, now)]
    return was is not None and was == shown


def _words_in(reader: OcrReader, picture: Picture, box: Box) -> list[str] | None:
    """The texts that are surely read in a page box, from the top down; None if there are none, or one is not sure."""
    found = sorted(reader.lines(picture, box), key=lambda each: (each.box.y, each.box.x))
    return (
        [each.reading.text for each in found] if found and not any(each.reading.is_unsure for each in found) else None
    )


def _has_ink(around: DrawnTarget, moved: Point, seen: LiveObservation, now: Picture) -> bool:
    """A point may be meant for a place in a drawing, over which the page draws its own pointer."""
    return still_has_ink(seen.clean, now, around.box, moved)


class _Place(NamedTuple):
    """A part of a canvas that can be compared as the press begins."""

    frame: Frame
    key: str
    on_page: Box
    """Whole CSS pixels."""
    x: int
    y: int
    """Its left and top in the frame."""
    ground: tuple[int, int, int]


def _readable_place(drawn: DrawnTarget, moved: Point, surface: Mark, seen: LiveObservation) -> _Place | None:
    """The part of a canvas to compare; its whole row where other things look like the target."""
    owner = seen.scan.owner(surface.key)
    if surface.tag != "canvas" or owner is None or not owner.place.is_only_moved:
        return None
    boxes = [drawn.box] if not drawn.beside or is_only_one(seen.clean, drawn.box, FOLLOWED) else drawn.beside
    near = Box(x=drawn.point.x - _WIDE, y=drawn.point.y - _HIGH, width=2 * _WIDE, height=2 * _HIGH)
    part = around(boxes).intersection(near)
    part = around([part, drawn.row]) if part and drawn.row else part
    part = part.intersection(surface.box) if part else None
    if part is None:
        return None
    x, y = round(part.x + moved.x), round(part.y + moved.y)
    on_page = Box(x=x, y=y, width=int(part.width), height=int(part.height))
    inside = seen.clean.page.intersection(on_page)
    if inside != on_page or on_page.width < 1 or on_page.height < 1:
        return None
    in_frame = owner.place.to_frame(Point(x=x, y=y))
    ground = colour_around(seen.clean, part, _BESIDE)
    return _Place(owner.frame, surface.key, on_page, round(in_frame[0]), round(in_frame[1]), ground)


async def _read(place: _Place, deadline_s: float) -> StandingLook | None:
    wide, high = int(place.on_page.width), int(place.on_page.height)
    part = await overlay_calls.surface.canvas_part(
        place.frame, deadline_s, place.key, place.x, place.y, wide, high, place.ground
    )
    if part is None:
        return None
    return StandingLook(place.x, place.y, wide, high, base64.b64encode(part.pixels).decode(), place.ground)

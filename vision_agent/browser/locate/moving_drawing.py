"""Locates a thing that moves in a canvas by its look, which must be the only one of its kind, then and now.

Where it is at each moment is read from the canvas itself; `press_guard.js` reads it once more as the press begins.
"""

from __future__ import annotations

import base64
import math
import time

import numpy as np
from playwright.async_api import Frame

from vision_agent.actions import Point
from vision_agent.browser.locate.drawn_target import DrawnTarget
from vision_agent.browser.locate.identify import identify
from vision_agent.browser.locate.location import DrawnThing, Location
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay_calls.element import Middle
from vision_agent.browser.page.overlay_calls.surface import DrawnLook
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box
from vision_agent.vision.drawn_look import blurred, colour_around, find_only, look_of
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

_AROUND, _FIRST_AROUND = 48, 140
"""CSS pixels around the last known place, each way, in which a thing is searched for; at first that place is old."""
_BESIDE = 6.0
"""CSS pixels around a thing, for the colour that lies behind it."""
_NEAR = 0.25
"""How far from the middle of a thing a press may be, in shares of its size."""
_OVERLAPS_S = 1.5
"""How long a thing may be hidden by another one that it passes."""
_LARGEST = 200.0
"""CSS pixels; a larger thing is compared too slowly."""


async def locate_moving_drawing(
    drawn: DrawnTarget, seen: LiveObservation, image_limits: ImageLimits, deadline_s: float
) -> Location | None:
    """Where a thing that moves in a canvas is now; None if its canvas cannot be read, or its row tells it.

    Raises:
        Refused: it is not visible, or something else in the canvas looks like it.
    """
    surface, box = drawn.surface, _whole_pixels(drawn.box)
    if drawn.row is not None:
        return None  # its look alone does not tell it from others of its name
    if surface is None or surface.tag != "canvas" or max(box.width, box.height) > _LARGEST:
        return None
    owner, element = await identify(surface, seen, deadline_s)
    look, before = look_of(seen.clean, box), _look_of_part(seen.clean, surface.box)
    if look is None or before is None or not owner.place.is_only_moved:
        return None
    if find_only(look, before) is None:
        raise Refused("ambiguous", f"{drawn.words} moves, and something else looked like it, so it was not pressed.")
    until = time.monotonic() + _OVERLAPS_S
    while True:
        now = Picture.decode(await capture(seen.page, deadline_s), seen.clean.page, image_limits).masked(seen.masked)
        there = owner.place.box_to_page(element.rect)
        shown = _look_of_part(now, there)
        found = find_only(look, shown) if shown is not None else None
        if found is not None:
            break
        if time.monotonic() > until:
            words = f"{drawn.words} moves, and does not show, or something else looks like it"
            raise Refused("moved", f"{words}, so it was not pressed. Look again.")
    inside = _without_rim(now, there)
    middle = Point(x=inside.x + found[0] + box.width / 2, y=inside.y + found[1] + box.height / 2)
    x, y = owner.place.to_frame(middle)
    near = _NEAR * min(box.width, box.height)
    pixels = base64.b64encode(look.tobytes()).decode()
    meant = DrawnLook(int(box.width), int(box.height), pixels, colour_around(seen.clean, box, _BESIDE), near)
    thing = DrawnThing(meant, look, Point(x=x, y=y))
    ground, sides = meant.ground, (meant.wide, meant.high)
    if (
        await overlay_calls.surface.canvas_part(
            owner.frame, deadline_s, surface.key, round(x), round(y), *sides, ground
        )
        is None
    ):
        return None
    return Location(
        words=drawn.words,
        point=middle,
        rung=4,
        frame=owner.frame,
        under=surface,
        element=element,
        is_moving=True,
        drawn=thing,
    )


async def middle_of_drawing(
    frame: Frame, deadline_s: float, key: str, thing: DrawnThing, last: Middle | None
) -> Middle | None:
    """Where the middle of a drawn thing is now, near where it was; None if it is not visible there.

    `last`: where it was last seen.
    """
    around, middle = (_AROUND, last) if last else (_FIRST_AROUND, thing.middle)
    wide, high = thing.look.wide + 2 * around, thing.look.high + 2 * around
    left, top = round(middle.x - wide / 2), round(middle.y - high / 2)
    part = await overlay_calls.surface.canvas_part(frame, deadline_s, key, left, top, wide, high, thing.look.ground)
    if part is None:
        return None
    shown = blurred(np.frombuffer(part.pixels, np.uint8).reshape(high, wide, 3))
    found = find_only(thing.shown, shown)
    if found is None:
        return None
    return Middle(part.at_ms, left + found[0] + thing.look.wide / 2, top + found[1] + thing.look.high / 2)


def _whole_pixels(box: Box) -> Box:
    """The box around all pixels that a box touches."""
    x, y = math.floor(box.x), math.floor(box.y)
    return Box(x=x, y=y, width=math.ceil(box.right) - x, height=math.ceil(box.bottom) - y)


def _look_of_part(picture: Picture, box: Box) -> np.ndarray | None:
    """The look of the part of a page box that the picture shows, without the picture's rim."""
    inside = picture.page.intersection(box)
    return look_of(picture, _without_rim(picture, inside)) if inside else None


def _without_rim(picture: Picture, box: Box) -> Box:
    """A box rounded out to whole pixels, without those at the rim of the picture."""
    page, whole = picture.page, _whole_pixels(box)
    left, top = max(whole.x, page.x + 1), max(whole.y, page.y + 1)
    right, bottom = min(whole.right, page.right - 1), min(whole.bottom, page.bottom - 1)
    return Box(x=left, y=top, width=max(0, right - left), height=max(0, bottom - top))

"""Pans and magnifies what a surface shows, and measures from the pixels how far it went."""

from __future__ import annotations

import time
from math import exp, hypot, log
from typing import NamedTuple

from vision_agent.actions import LONGEST_SEARCH_S, Magnify, Modifier, Pan, Point, offset_words
from vision_agent.browser.act import touch
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.surface_view import SurfaceView, surface_of
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark
from vision_agent.vision.surfaces.content_motion import STILL, ContentMotion

_PART = 0.5
"""The share of a surface's width or height by which it is dragged at once: the rest must still show, to be measured."""
_MOST_DRAGS = 40
_ARRIVED = 3.0
"""CSS pixels; less is rounding."""
_NOTCH_PX = 100.0
_MOST_NOTCHES = 60
_ENOUGH = 0.02
"""The accepted difference from the size that was asked for, as a share."""
_MOST_PINCHES = 4
_FINGERS = 0.4
"""How far each finger may be from the point, as a share of the surface's width or height."""
_WAYS: tuple[tuple[Modifier, ...], ...] = ((), ("Control",))
"""Keys with which the wheel makes things larger, in the order in which they are tried."""


async def pan(sender: InputSender, action: Pan) -> Attempt:
    """Drags an empty place of a surface until its content has moved that far, or moves no farther.

    Raises:
        Refused: the mark is no surface, it has no empty place, or the drag did something else than to move all of it.
    """
    surface = surface_of(sender, action.mark)
    scale = sender.seen.observation.marked.map
    wanted = Point(x=action.by.right * scale.scale_x, y=action.by.down * scale.scale_y)
    view = SurfaceView(sender, surface)
    moved, remark = await drag_by(view, wanted)
    words = mark_words(surface)
    asked = f"Panned {words} by {offset_words(action.by)}"
    is_moved = max(abs(moved.right), abs(moved.down)) >= 1
    said = f"{asked}: what it shows {moved.words}{remark}"
    return Attempt(said, view.last, needs_no_effect=is_moved)


async def drag_by(view: SurfaceView, wanted: Point) -> tuple[ContentMotion, str]:
    """Drags until the content has moved by `wanted` CSS pixels; returns how far it did, and why not farther.

    Raises:
        Refused: a drag did something else than to move all that the surface shows.
    """
    right = down = 0.0
    for _ in range(_MOST_DRAGS):
        left_x, left_y = wanted.x - right, wanted.y - down
        if max(abs(left_x), abs(left_y)) <= _ARRIVED:
            return ContentMotion(right, down), ""
        part = min(1.0, _PART * view.box.width / (abs(left_x) or 1), _PART * view.box.height / (abs(left_y) or 1))
        step = Point(x=left_x * part, y=left_y * part)
        moved = await view.drag(step.x, step.y)
        must_have_moved_all(moved, view.mark, "The drag")
        assert moved is not None
        right, down = right + moved.right, down + moved.down
        if hypot(moved.right, moved.down) < min(_ARRIVED, hypot(step.x, step.y) / 2):
            return ContentMotion(right, down), ", and no farther" if right or down else ""
    return ContentMotion(right, down), f", after {_MOST_DRAGS} drags"


def must_have_moved_all(moved: ContentMotion | None, surface: Mark, what: str) -> None:
    """Checks that a gesture moved the view of a surface, and not a thing in it.

    Raises:
        Refused: it did not, or that cannot be told.
    """
    words = mark_words(surface)
    if moved is None:
        raise Refused("changed", f"{what} changed what {words} shows, but not by moving it. Look again.")
    if not moved.is_whole:
        said = f"{what} moved only a part of what {words} shows ({moved.words}); it may have moved a thing in it"
        raise Refused("changed", f"{said}. Look again.")


async def magnify(sender: InputSender, action: Magnify) -> Attempt:
    """Makes what a surface shows larger or smaller about a point, by the wheel or with two fingers.

    Raises:
        Refused: the target is on no surface, or neither the wheel nor the fingers change its size.
    """
    mark = sender.seen.observation.mark(action.target) if isinstance(action.target, int) else None
    if mark is not None and mark.kind == "surface":
        view = SurfaceView(sender, mark)
        at = await view.locate(mark.point)
    else:
        at = await sender.aim(action.target)
        mark = at.under or at.mark
        if mark is None or mark.kind != "surface":
            raise Refused("unsupported", f"{at.words} is on no surface; only what is drawn can be magnified.")
        view = SurfaceView(sender, mark)
        view.last = at
    surface = view.mark
    if action.touch:
        return await _pinch(view, at, action)
    if action.degrees:
        raise Refused("unsupported", "The wheel turns nothing round; two fingers do (touch).")
    for held in _WAYS:
        grown = await _magnify_by_wheel(view, at.point, action.factor, held)
        if grown is not None:
            break
    else:
        raise Refused(
            "unsupported",
            f"The wheel does not change the size of what {mark_words(surface)} shows, with Control or without. "
            "Use the page's own buttons, or two fingers (touch).",
        )
    keys = " with Control held" if held else ""
    factor = grown.factor
    far = "" if abs(factor / action.factor - 1) <= 0.15 else f", and no {'more' if action.factor > 1 else 'less'}"
    size = f"{'about ' * grown.is_estimate}{factor:.2f} times as large{far}"
    said = f"Turned the wheel over {at.words}{keys}: what {mark_words(surface)} shows is {size}"
    return Attempt(said, view.last, needs_no_effect=True)


class _Grown(NamedTuple):
    factor: float
    is_estimate: bool
    """Not all of it could be measured: so little was drawn that the turns of the wheel had to be counted."""


async def _magnify_by_wheel(view: SurfaceView, at: Point, factor: float, held: tuple[Modifier, ...]) -> _Grown | None:
    """How many times as large the content is in the end; None if the wheel does not change its size."""
    start = view.picture
    way, until = -1.0 if factor > 1 else 1.0, time.monotonic() + LONGEST_SEARCH_S
    first = await view.turn_wheel(at, 0, way * _NOTCH_PX, held)
    if first is None or not first.is_resized:
        if first is None or first.right or first.down:
            await view.turn_wheel(at, 0, -way * _NOTCH_PX, held)
        return None
    reached, notch, is_estimate = first.factor, abs(log(first.factor)), False
    for _ in range(_MOST_NOTCHES):
        left = log(factor / reached)
        if abs(left) <= max(_ENOUGH, 0.05 * notch) or time.monotonic() > until:
            break
        px = min(_NOTCH_PX, _NOTCH_PX * abs(left) / notch)
        sign = 1.0 if left > 0 else -1.0
        moved = await view.turn_wheel(at, 0, -sign * px, held)
        if moved == STILL:
            break
        if moved is None or not moved.is_resized:
            reached, is_estimate = reached * exp(sign * notch * px / _NOTCH_PX), True
        else:
            reached *= moved.factor
        if (log(factor / reached) > 0) != (left > 0):  # it zooms in whole steps
            break
    if is_estimate:
        whole = await view.measure(start, about=at)
        if whole is not None and whole.is_resized:
            return _Grown(whole.factor, False)
    return _Grown(reached, is_estimate)


async def _pinch(view: SurfaceView, at: Location, action: Magnify) -> Attempt:
    sender, box, before = view.sender, view.box, view.picture
    room = min(
        at.point.x - box.x, box.right - at.point.x, at.point.y - box.y, box.bottom - at.point.y,
        _FINGERS * min(box.width, box.height),
    )  # fmt: skip
    if room < touch.LEAST_APART:
        raise Refused("unsupported", f"{at.words} is too near the edge for two fingers; name a place farther inside.")
    reached, pinches = 1.0, 0
    widest = room / touch.LEAST_APART
    turned = 0.0
    while pinches == 0 or abs(log(action.factor / reached)) > _ENOUGH:
        step = min(widest, max(1 / widest, action.factor / reached))
        degrees = action.degrees if pinches == 0 else 0.0
        here = at if pinches == 0 else await view.locate(at.point)
        async with sender.guard_gesture(here, is_drag=True, is_pan=True) as gesture:
            await touch.pinch(sender.page, here.point, room, step, degrees, gesture, sender.deadline_s)
        reached, turned, pinches = reached * step, turned + degrees, pinches + 1
        if pinches >= _MOST_PINCHES:
            break
    await view.look()
    moved = await view.measure(before, about=at.point, degrees=turned, factor=reached)
    words = mark_words(view.mark)
    asked = [f"{reached:.3g} times as far apart"] * (reached != 1) + [f"turned by {turned:g}°"] * bool(turned)
    shown = f"what {words} shows {moved.words}" if moved is not None else f"how {words} changed cannot be told"
    said = f"Moved two fingers on {at.words}, {' and '.join(asked) or 'in place'}: {shown}"
    return Attempt(said, view.last)

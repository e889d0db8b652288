"""Drags: presses at one place, carries what is there, and releases it at another, which may have to be scrolled to."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame

from vision_agent.actions import Drag, Offset, Point, offset_words
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.drop import LAST_MOVES, come_over, follow_begun, goal_at, meet
from vision_agent.browser.act.held import held_keys
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.moving_target import is_still_moving, locate_any
from vision_agent.browser.act.out_of_view import bring, is_between_marks
from vision_agent.browser.act.press_guard import Gesture
from vision_agent.browser.locate.at_point import page_point
from vision_agent.browser.locate.drawn_target import must_not_be_grid
from vision_agent.browser.locate.identify import is_only_hidden, is_only_renamed
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import element_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark

_STEPS = 12
"""Mouse moves between two places of a drag, at most: pages follow moves, not a jump."""
_STEP_PX = 12.0
"""CSS pixels of such a move along a path; each takes about a frame, so a path of many points takes few moves each."""
_BEGIN_PX = 24.0
"""CSS pixels by which something is pulled before the page scrolls under it; pages take a shorter pull for a click."""
_TAKEN_PX = 6.0
"""CSS pixels after which a browser takes a press that moves for a drag, and pages too."""
_BEYOND = 4.0
"""CSS pixels past the middle of a drop target."""


async def drag(sender: InputSender, action: Drag) -> Attempt:
    """Presses at the source, moves along the path, and releases at the target.

    If the two are not visible together, the page is scrolled to the target while the source is held.

    Raises:
        Refused: the target cannot be reached, or changed on the way; the dragged element is then brought back before
            the release.
    """
    if isinstance(action.target, Offset):
        start = await sender.aim(action.source, may_move=True)
        end: Location | _Away = _offset_location(start, action.target, sender)
    else:
        start, end = await _locate_both(sender, action)
    _way(sender, action, start)  # all of it must be in view before anything is pressed
    goal = await goal_at(sender, end) if isinstance(end, Location) else None
    is_met = isinstance(end, Location) and not isinstance(action.target, Offset) and await is_still_moving(sender, end)
    dropped: Location | None = None
    remark = hint = ""

    async def carry(start: Location, gesture: Gesture) -> None:
        async with held_keys(sender.page, action.modifiers, sender.deadline_s):
            await carry_with_keys(start, gesture)

    async def carry_with_keys(start: Location, gesture: Gesture) -> None:
        nonlocal dropped, remark, hint
        mouse, places, is_held = sender.page.mouse, _ScrollPlaces(), False
        try:
            await mouse.move(start.point.x, start.point.y)
            await mouse.down()
            await gesture.must_have_begun()
            is_held, begun = True, start.point
            if isinstance(action.target, Offset):
                there = _offset_location(start, action.target, sender)
            elif isinstance(end, _Away):
                await places.note(sender, end)
                begun = _pulled(start)
                await mouse.move(begun.x, begun.y, steps=LAST_MOVES)
                await bring(sender, [end.mark], action)
                there = await locate_any(sender, end.mark.number, reveal=False)
            else:
                there = end
            aim = goal if goal is not None and there is end else await goal_at(sender, there)
            way = _way(sender, action, start)
            last = _drop_point(there, way[-1] if way else begun)
            begun = await _begin(sender, start, begun, way[0] if way else last)
            if not is_met:
                aim = await follow_begun(sender, aim, math.dist((start.point.x, start.point.y), (begun.x, begun.y)))
                last = _drop_point(aim.at, way[-1] if way else begun)
            for before, place in pairwise([begun, *way, last]):
                await mouse.move(place.x, place.y, steps=_steps_between(before, place) if way else _STEPS)
            if is_met:
                drop = await meet(sender, there)
            else:
                aim, last, drop = await come_over(sender, aim, start, last)
            if drop.objection:
                hint = _way_out(start.point, last, sender) if drop.is_in_drawing else ""
                raise Refused("moved", f"{drop.objection} while {start.words} was held")
            dropped, remark = aim.at, drop.remark
        except Refused as refusal:
            if not is_held:
                raise
            await gesture.stop_clicks()  # the release, where the press was, would be one
            await places.restore(sender)
            await mouse.move(start.point.x, start.point.y, steps=_STEPS)
            raise Refused(refusal.refusal, f"{refusal.sentence.rstrip('.')}; it was brought back.{hint}") from refusal
        finally:
            await asyncio.wait_for(mouse.up(), sender.deadline_s)

    start = await sender.send(carry, start, action.source, is_drag=True)
    assert dropped is not None
    surface = start.under or start.mark
    if isinstance(action.target, Offset) and surface is not None and surface.kind == "surface":
        dropped = replace(dropped, under=surface, element=start.element)
    along = f" along {len(action.path)} points" if action.path else ""
    to = dropped.words if isinstance(action.target, Offset) else f"to {dropped.words}"
    held = f" with {'+'.join(action.modifiers)} held" if action.modifiers else ""
    words = f"Dragged {start.words} {to}{along}{held}{remark}"
    return Attempt(words, dropped, hover_counts=True, moves_view=not action.path)


async def _begin(sender: InputSender, start: Location, begun: Point, to: Point) -> Point:
    """Moves so far towards the next place that the page takes it for a drag, and returns where that is.

    Later a list may put what is held into another of its elements; now it has not been carried over anything yet.

    Raises:
        Refused: the press has made something else of the source.
    """
    mark, far = start.mark, math.dist((begun.x, begun.y), (to.x, to.y))
    if mark is None or mark.kind == "surface" or not far:
        return begun
    share = min(1.0, _TAKEN_PX / far)
    at = Point(x=begun.x + (to.x - begun.x) * share, y=begun.y + (to.y - begun.y) * share)
    await sender.page.mouse.move(at.x, at.y, steps=LAST_MOVES)
    now = await sender.recheck(mark)
    if now is None or now.fingerprint == mark.fingerprint or is_only_hidden(mark, now):
        return at
    if not is_only_renamed(mark, now, sender.seen):
        is_named = now.name or now.shows
        what = element_words(now.role, mark.tag, now.name, now.shows) if is_named else f"<{mark.tag}> without a name"
        raise Refused("changed", f"{start.words} became {what} as it was taken hold of")
    return at


def _way(sender: InputSender, action: Drag, start: Location) -> list[Point]:
    """The places of the path, in page coordinates."""
    return [
        page_point(each, sender.seen) if isinstance(each, Point) else _offset_location(start, each, sender).point
        for each in action.path
    ]


def _steps_between(one: Point, other: Point) -> int:
    return min(_STEPS, max(1, round(math.dist((one.x, one.y), (other.x, other.y)) / _STEP_PX)))


class _Away(NamedTuple):
    """The mark to release at, which is not visible together with the source."""

    source: Mark
    mark: Mark


@dataclass
class _ScrollPlaces:
    """How far everything around the ends of a drag was scrolled before it."""

    places: list[tuple[Frame, str, tuple[tuple[float, float], ...]]] = field(default_factory=list)

    async def note(self, sender: InputSender, ends: _Away) -> None:
        for mark in (ends.mark, ends.source):
            owner = sender.seen.scan.owner(mark.key)
            assert owner is not None, "both were located in it"
            around = [(link.parent.frame, link.key) for link in reversed(owner.chain())]
            for frame, key in [(owner.frame, mark.key), *around]:
                places = await overlay_calls.scrolling.scroll_places(frame, sender.deadline_s, key)
                self.places.append((frame, key, places))

    async def restore(self, sender: InputSender) -> None:
        """Scrolls everything back, as far as the page allows it."""
        for frame, key, places in self.places:
            with suppress(FrameSilent, PlaywrightError):
                await overlay_calls.scrolling.scroll_places(frame, sender.deadline_s, key, back_to=places)


def _pulled(start: Location) -> Point:
    """A place beside the point of the source: sideways, because lists make room for what moves along them."""
    if start.mark is None:
        return start.point
    by = min(_BEGIN_PX, start.mark.box.width / 2)
    is_left = start.point.x < start.mark.box.center.x
    return Point(x=start.point.x + (by if is_left else -by), y=start.point.y)


async def _locate_both(sender: InputSender, action: Drag) -> tuple[Location, Location | _Away]:
    source, target = action.source, action.target
    assert not isinstance(target, Offset)
    for each in (source, target):
        must_not_be_grid(each, sender.seen)
    first, second = await locate_any(sender, source), await locate_any(sender, target)
    try:
        # Scrolling to one may have moved the other out of view: locate both again without scrolling.
        return await locate_any(sender, source, reveal=False), await locate_any(sender, target, reveal=False)
    except Refused as refusal:
        ends = _away(action, first, second)
        if ends is None:
            words = f"{first.words} and {second.words} cannot be seen at once; scroll so that both show."
            raise Refused("moved", words) from refusal
    return await sender.aim(source, may_move=True), ends


def _away(action: Drag, first: Location, second: Location) -> _Away | None:
    """The marks of both ends, if their document can be scrolled from one to the other while the source is held.

    Points are places in the picture, which scrolling leaves behind. From one document to another is not tried.
    """
    if not is_between_marks(action) or first.mark is None or second.mark is None:
        return None
    return _Away(first.mark, second.mark) if first.frame is second.frame else None


def _offset_location(start: Location, offset: Offset, sender: InputSender) -> Location:
    """The location at an offset from another."""
    shot, view = sender.seen.observation.marked.map, sender.seen.observation.viewport
    point = Point(x=start.point.x + offset.right * shot.scale_x, y=start.point.y + offset.down * shot.scale_y)
    words = offset_words(offset)
    if not view.contains(point):
        raise Refused("outside", f"{words} from {start.words} lies outside the page's view. Scroll, or drag less far.")
    return Location(words=words, point=point, rung=start.rung)


def _drop_point(end: Location, before: Point) -> Point:
    """Where to release on a mark: a little past its middle, because lists make room only then. In page coordinates."""
    if end.mark is None:
        return end.point

    def beyond(to: float, since: float, size: float) -> float:
        by = min(_BEYOND, size / 4)
        return to + (by if to > since + size / 4 else -by if to < since - size / 4 else 0)

    box = end.mark.box
    return Point(x=beyond(end.point.x, before.x, box.width), y=beyond(end.point.y, before.y, box.height))


def _way_out(start: Point, last: Point, sender: InputSender) -> str:
    """How to drop there all the same: an offset names a place, so no words are compared."""
    shot = sender.seen.observation.marked.map
    right, down = round((last.x - start.x) / shot.scale_x), round((last.y - start.y) / shot.scale_y)
    place = f"by ({right}, {down})"
    return f" If those words say nothing about the target, drag by an offset, which only names a place: {place}."

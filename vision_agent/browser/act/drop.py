"""Drops: whether what a drag holds may be released where the pointer is, and where its target went meanwhile.

A page may change its layout when something is taken hold of: a bar appears, a folder opens, the rows close up. The
target is followed to its new place, and what lies under the pointer is checked before the release. A list that makes
room for what is held moves the target too; then the pointer stays in that room.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

from vision_agent.actions import Offset, Point, offset_words
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.moving_target import current_point, is_well_inside
from vision_agent.browser.locate.click_point import choose_click_point, place_now
from vision_agent.browser.locate.context_changed import describe_change
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import covered_sentence, mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frame_place import FramePlace
from vision_agent.browser.page.overlay_calls.element import DropReceiver, LiveElement
from vision_agent.browser.page.settle import settle
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box
from vision_agent.policy.approval import risks_in

_ROUNDED = 2.0
"""CSS pixels by which what moves along with the pointer may differ from it, and by which a target stays where it is."""
_CHASES = 3
"""Times that a target is followed once what is held has come to it."""
_ROOM, _GAP = 1.5, 16.0
"""How many times its own size, and CSS pixels more, a list makes room for what is held."""
_NUDGE = 4.0
"""CSS pixels that the pointer is moved by, to see what moves along."""
LAST_MOVES = 2
"""Mouse moves at the end of a drag, a frame each: a page learns up to a frame late that an animation has ended (seen in
8 of 40), and until then lists ignore moves."""


@dataclass(frozen=True)
class DropGoal:
    """Where a drag ends."""

    at: Location
    box: Box | None = None
    """The box of the element on the page, when `at` was found; None if it is no mark."""

    @property
    def words(self) -> str:
        """For sentences."""
        return self.at.words


class Drop(NamedTuple):
    """Whether what is held may be released at the end of a drag."""

    objection: str = ""
    """Why not, as a clause; empty if it may."""
    remark: str = ""
    """What moved along with the pointer, as a clause to append."""
    is_in_drawing: bool = False
    """Only the words beside the drawing differ, in which both ends are."""
    follow: tuple[DropGoal, Point] | None = None
    """The target is elsewhere: where it is now, and where to bring what is held."""


async def goal_at(sender: InputSender, at: Location) -> DropGoal:
    """The goal at a location that was found just now."""
    element = at.element
    if at.mark is None or element is None:
        return DropGoal(at)
    return DropGoal(at, (await _place(sender, at, element)).box_to_page(element.rect))


async def follow_begun(sender: InputSender, goal: DropGoal, pulled: float) -> DropGoal:
    """The goal once something has been taken hold of and pulled so far: the page may have made room above it.

    What moved no farther than that may only move along with the pointer, as a map does.
    """
    mark = goal.at.mark
    if mark is None or goal.box is None:
        return goal
    await settle_drag(sender)
    now = await sender.recheck(mark)
    if now is None or now.fingerprint != mark.fingerprint:
        return goal  # it is judged at the end
    box = (await _place(sender, goal.at, now)).box_to_page(now.rect)
    by = _way_between(goal.box, box)
    point = Point(x=goal.at.point.x + by.x, y=goal.at.point.y + by.y)
    if max(abs(by.x), abs(by.y)) <= pulled + _ROUNDED or not sender.seen.observation.viewport.contains(point):
        return goal
    return _moved(goal, now, box, point)


async def settle_drag(sender: InputSender) -> None:
    """Returns once the page rests, now that something is held: while rows slide aside, lists ignore moves."""
    await settle(sender.tabs, 0, min(sender.settings.settle_deadline_s, sender.deadline_s))


async def come_over(sender: InputSender, goal: DropGoal, start: Location, last: Point) -> tuple[DropGoal, Point, Drop]:
    """Brings the pointer onto the goal, wherever it went, and judges the drop there. `last`: where the pointer is."""
    for chase in range(_CHASES + 1):
        await settle_drag(sender)
        await sender.page.mouse.move(last.x, last.y, steps=LAST_MOVES)
        drop = await _judge_drop(sender, goal, start, last, may_follow=chase < _CHASES)
        if drop.follow is None:
            break
        goal, last = drop.follow
    return goal, last, drop


async def meet(sender: InputSender, end: Location) -> Drop:
    """Brings the pointer, which holds something, onto a target that moves; whether it may be released there."""
    mark, until = end.mark or end.under, time.monotonic() + sender.deadline_s
    assert mark is not None
    while time.monotonic() < until:
        there = await current_point(sender, replace(end, is_moving=True))
        if not sender.seen.observation.viewport.contains(there):
            continue
        await sender.page.mouse.move(there.x, there.y, steps=LAST_MOVES)
        now = await sender.recheck(mark, in_place=True)
        if now is None or now.fingerprint != mark.fingerprint:
            return Drop(f"{end.words} is gone or became something else")
        if now.difference is not None:
            return Drop(describe_change(now.difference, end.words))
        if is_well_inside(end, now, there):
            return Drop()
    return Drop(f"{end.words} could not be caught up with")


async def _judge_drop(sender: InputSender, goal: DropGoal, start: Location, last: Point, *, may_follow: bool) -> Drop:
    """Whether the end is still what was meant, now that the pointer is there. `last`: the pointer, page coordinates.

    Rows make room for what is dragged among them, so a target may have moved by the size of the dragged element. An end
    on the dragged element itself, or on what moves along with the pointer, such as a map, is a place in the view.
    Within one drawing, the words beside it say nothing about places in it: a press shows the tools for what it took.
    """
    end = goal.at
    mark = end.mark or end.under
    if mark is None or end.element is None:
        return Drop()
    held = start.mark or start.under
    is_harmless = not sender.seen.risks
    is_itself = end.mark is None and held is not None and held.key == mark.key
    if is_itself and is_harmless and mark.kind != "surface":
        return Drop()
    carried = held.name if held is not None and is_harmless else ""
    now, before = await sender.recheck(mark, in_place=True, carried=carried), end.element.rect
    if end.mark is not None and (now is None or now.fingerprint != mark.fingerprint):
        return Drop(f"{end.words} is gone or became something else")
    if now is None:
        return Drop(f"{end.words} moved away")
    by, place, box = Point(x=now.rect.x - before.x, y=now.rect.y - before.y), None, None
    if goal.box is not None:
        place = await _place(sender, end, now)
        box = place.box_to_page(now.rect)
        by = _way_between(goal.box, box)
    is_along = _is_same_move(by, Point(x=last.x - start.point.x, y=last.y - start.point.y))
    if is_along and now.difference is None and is_harmless:
        far = offset_words(Offset(right=round(by.x), down=round(by.y)))
        return Drop(remark=f"; {mark_words(mark)} moved along: {far}")
    room = 0.0
    if end.mark is not None:
        room = min(before.width, before.height)
        room += max(start.mark.box.width, start.mark.box.height) if start.mark else 0.0
    if max(abs(by.x), abs(by.y)) > room or (end.mark is None and now.rect != before):
        return Drop(f"{end.words} moved away")
    if now.difference is not None and not (is_itself and is_harmless):
        is_in_drawing = is_itself and mark.kind == "surface"
        return Drop(describe_change(now.difference, end.words), is_in_drawing=is_in_drawing)
    if place is None or box is None or (held is not None and held.key == mark.key):
        return Drop()
    return await _judge_receiver(sender, goal, start, last, _Now(now, place, box), may_follow=may_follow)


class _Now(NamedTuple):
    """The target of a drag at this moment."""

    element: LiveElement
    place: FramePlace
    box: Box


async def _judge_receiver(
    sender: InputSender, goal: DropGoal, start: Location, last: Point, now: _Now, *, may_follow: bool
) -> Drop:
    """Whether what lies under the pointer is the target, or the room that a list has made there for what is held."""
    gets = await _find_receiver(sender, goal.at, start, last, now.place)
    if gets is None:
        return Drop(f"{goal.words} is gone or became something else")
    assert goal.box is not None
    by = _way_between(goal.box, now.box)
    has_moved = max(abs(by.x), abs(by.y)) > _ROUNDED
    is_room = (gets.is_held_there or gets.gets == "empty") and _is_room_for(start, by)
    if gets.gets == "target" or (gets.gets != "other" and (is_room or not has_moved)):
        return Drop()
    if gets.is_within and gets.obstacle is not None and risks_in(gets.obstacle.words) <= sender.seen.risks:
        return Drop()  # a place for the drop that the page shows on the target
    point = Point(x=last.x + by.x, y=last.y + by.y)
    if not has_moved:
        try:
            point = await _reachable_point(sender, goal.at, now)
        except Refused:
            return Drop(_covered(sender, goal, gets))
        if point == last:
            return Drop(_covered(sender, goal, gets))
    if not may_follow:
        return Drop(f"{goal.words} moved away each time" if has_moved else _covered(sender, goal, gets))
    if not sender.seen.observation.viewport.contains(point):
        return Drop(f"{goal.words} moved out of view")
    return Drop(follow=(_moved(goal, now.element, now.box, point), point))


def _is_room_for(start: Location, by: Point) -> bool:
    """Whether a target moved no farther than a list moves its rows to make room for what is held."""
    if start.mark is None:
        return False
    most_x, most_y = (_ROOM * size + _GAP for size in (start.mark.box.width, start.mark.box.height))
    return abs(by.x) <= most_x and abs(by.y) <= most_y


async def _find_receiver(
    sender: InputSender, end: Location, start: Location, last: Point, place: FramePlace
) -> DropReceiver | None:
    """What would get a drop here. What is under the pointer and moves along with it, such as a label, gets none."""
    assert end.mark is not None
    assert end.frame is not None
    held, frame, key = start.mark or start.under, end.frame, end.mark.key
    held_key, name = (held.key, held.name) if held else (None, "")

    async def find(at: Point, through: str | None = None) -> DropReceiver | None:
        more = (frame, sender.deadline_s, key, place.to_frame(at))
        return await overlay_calls.element.what_gets_drop(*more, held=held_key, name=name, through=through)

    first = await find(last)
    if first is None or first.gets != "other" or first.rect is None or first.obstacle is None:
        return first
    beside = Point(x=last.x + _NUDGE, y=last.y)
    if not sender.seen.observation.viewport.contains(beside):
        return first
    await sender.page.mouse.move(beside.x, beside.y, steps=LAST_MOVES)
    second = await find(beside)
    await sender.page.mouse.move(last.x, last.y, steps=LAST_MOVES)
    if second is None or second.rect is None or second.obstacle is None or second.obstacle.key != first.obstacle.key:
        return await find(last)
    moved = second.rect.x - first.rect.x
    if abs(moved - _NUDGE) > 1 or abs(second.rect.y - first.rect.y) > 1:
        return await find(last)
    return await find(last, first.obstacle.key)


async def _reachable_point(sender: InputSender, end: Location, now: _Now) -> Point:
    """A point of the page at which the target would get the drop.

    Raises:
        Refused: there is none.
    """
    assert end.mark is not None
    owner = sender.seen.scan.owner(end.mark.key)
    if owner is None or not now.element.points:
        raise Refused("covered", covered_sentence(end.words, now.element.obstacle, sender.seen))
    more = (owner, now.element.zoom, now.element.points, end.words, sender.seen, sender.deadline_s)
    return await choose_click_point(*more)


def _covered(sender: InputSender, goal: DropGoal, gets: DropReceiver) -> str:
    return covered_sentence(goal.words, gets.obstacle, sender.seen).partition(". ")[0].rstrip(".")


async def _place(sender: InputSender, at: Location, element: LiveElement) -> FramePlace:
    """Where the frame of a mark lies now.

    Raises:
        Refused: it is gone.
    """
    assert at.mark is not None
    owner = sender.seen.scan.owner(at.mark.key)
    if owner is None:
        raise Refused("gone", f"{at.words} is gone: its frame was closed or left.")
    return await place_now(owner, element.zoom, at.words, sender.deadline_s)


def _moved(goal: DropGoal, now: LiveElement, box: Box, point: Point) -> DropGoal:
    return DropGoal(replace(goal.at, point=point, element=now), box)


def _way_between(one: Box, other: Box) -> Point:
    return Point(x=other.x - one.x, y=other.y - one.y)


def _is_same_move(one: Point, other: Point) -> bool:
    """Whether two movements are equal and not zero. Pages round what they move to whole pixels."""
    is_same = abs(one.x - other.x) <= _ROUNDED and abs(one.y - other.y) <= _ROUNDED
    return is_same and max(abs(one.x), abs(one.y)) > _ROUNDED

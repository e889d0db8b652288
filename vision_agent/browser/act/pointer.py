"""Clicks, hovers, drags, selects text and scrolls: everything done with the pointer and the wheel."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from vision_agent.actions import (
    Cell,
    Click,
    DoubleTap,
    Drag,
    Hold,
    Hover,
    Offset,
    Point,
    Scroll,
    SelectText,
    Target,
    offset_words,
)
from vision_agent.browser.act import touch
from vision_agent.browser.act.execution import Execution
from vision_agent.browser.act.executor import Executor
from vision_agent.browser.act.held import held_button, held_keys, shows_text, stay_held
from vision_agent.browser.act.moving_target import current_point, is_still_moving, is_well_inside, locate_any, stay_on
from vision_agent.browser.act.press_guard import Gesture
from vision_agent.browser.locate.at_point import page_point
from vision_agent.browser.locate.context_changed import describe_change
from vision_agent.browser.locate.drawn_target import must_not_be_grid
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.text_selection import locate_text
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.page import protocol
from vision_agent.browser.page.settle import settle
from vision_agent.browser.refusal import Refused
from vision_agent.escape import safe_line
from vision_agent.types import Mark

_STEPS = 12
"""Mouse moves between two places of a drag, at most: pages follow moves, not a jump."""
_STEP_PX = 12.0
"""CSS pixels of such a move along a path; each takes about a frame, so a path of many points takes few moves each."""
_BEYOND = 4.0
"""CSS pixels past the middle of a drop target."""
_ROUNDED = 2.0
"""CSS pixels by which what moves along with the pointer may differ from it."""
_LAST_MOVES = 2
"""Mouse moves at the end of a drag, a frame each: a page learns up to a frame late that an animation has ended (seen in
8 of 40), and until then lists ignore moves."""
_TO_THE_END = 1e6
"""Views; farther than anything scrolls."""


async def click(executor: Executor, action: Click) -> Execution:
    """Clicks a mark or a point."""
    at = await executor.click(await executor.aim(action.target, may_move=True), action)
    how = {1: "Clicked", 2: "Double-clicked", 3: "Triple-clicked"}[action.count]
    return Execution(f"{how if action.button == 'left' else f'{action.button.capitalize()}-clicked'} {at.words}", at)


async def double_tap(executor: Executor, action: DoubleTap) -> Execution:
    """Taps a mark or a point twice with a finger."""

    async def tap(at: Location, gesture: Gesture) -> None:
        await touch.tap(executor.page, partial(current_point, executor, at), gesture, 2, executor.deadline_s)

    at = await executor.send(tap, await executor.aim(action.target, may_move=True), action.target, is_pointed=False)
    return Execution(f"Double-tapped {at.words}", at)


async def hold(executor: Executor, action: Hold) -> Execution:
    """Presses on a mark or a point, holds the button or the finger for a time or until a text shows, and releases it.

    Raises:
        Refused: the text shows already, so nothing was pressed; or it did not show in time, or the tab closed, and the
            button or the finger was released.
    """
    if action.until and await shows_text(executor.page, executor.deadline_s, action.until):
        shown = f'"{safe_line(action.until, 60)}" shows already, so nothing was pressed'
        raise Refused("unsupported", f"{shown}. Hold for a time, or until another text shows.")
    page, deadline_s, what = executor.page, executor.deadline_s, "finger" if action.touch else "button"

    async def press(at: Location, gesture: Gesture) -> None:
        async with AsyncExitStack() as down:
            if action.touch:
                await down.enter_async_context(touch.held_finger(page, at.point, deadline_s))
            else:
                await page.mouse.move(at.point.x, at.point.y)
                await down.enter_async_context(held_button(page, deadline_s))
                await down.enter_async_context(stay_on(executor, at))
            await gesture.must_have_begun()
            await stay_held(page, f"the {what}", action.seconds, deadline_s, action.until)

    at, lasts_s = await executor.aim(action.target, may_move=True), deadline_s + action.seconds
    at = await executor.send(press, at, action.target, lasts_s=lasts_s, is_pointed=not action.touch)
    how_long = f'until "{safe_line(action.until, 60)}" showed' if action.until else f"for {action.seconds:g} s"
    return Execution(f"Held {'a finger' if action.touch else 'the button down'} on {at.words} {how_long}", at)


async def hover(executor: Executor, action: Hover) -> Execution:
    """Moves the pointer over a mark or a point and leaves it there.

    A hover commits to nothing, so it does not wait for targets that move by themselves. It does wait after scrolling a
    target into view, because pages then load more content that pushes the target away.
    """
    at = await executor.locate(action.target)
    if at.element and at.element.was_scrolled:
        await executor.settle_page()
        at = await executor.locate(action.target)
    await executor.page.mouse.move(at.point.x, at.point.y)
    return Execution(f"Moved the pointer over {at.words}", at, hover_counts=True)


async def drag(executor: Executor, action: Drag) -> Execution:
    """Presses at the source, moves along the path, and releases at the target.

    Raises:
        Refused: source and target cannot be in view together, or the target changed on the way; the dragged element is
            then brought back before the release.
    """
    way = [page_point(each, executor.seen) for each in action.path]
    if isinstance(action.target, Offset):
        start = await executor.aim(action.source, may_move=True)
        end = _offset_location(start, action.target, executor)
    else:
        start, end = await _locate_both(executor, action.source, action.target)
    is_met = not isinstance(action.target, Offset) and await is_still_moving(executor, end)
    remark = ""

    async def carry(start: Location, gesture: Gesture) -> None:
        nonlocal end, remark
        mouse = executor.page.mouse
        if isinstance(action.target, Offset):
            end = _offset_location(start, action.target, executor)
        try:
            await mouse.move(start.point.x, start.point.y)
            await mouse.down()
            await gesture.must_have_begun()
            last = _drop_point(end, way[-1] if way else start.point)
            for before, place in pairwise([start.point, *way, last]):
                await mouse.move(place.x, place.y, steps=_steps_between(before, place) if way else _STEPS)
            if is_met:
                drop = await _meet(executor, end)
            else:
                # While rows slide aside, lists ignore moves: repeat the last one once they have stopped.
                await settle(executor.tabs, 0, min(executor.settings.settle_deadline_s, executor.deadline_s))
                await mouse.move(last.x, last.y, steps=_LAST_MOVES)
                drop = await _judge_drop(executor, end, start, last)
            if drop.objection:
                await mouse.move(start.point.x, start.point.y, steps=_STEPS)
                raise Refused("moved", f"{drop.objection} while {start.words} was held; it was brought back.")
            remark = drop.remark
        finally:
            await asyncio.wait_for(mouse.up(), executor.deadline_s)

    start = await executor.send(carry, start, action.source, is_drag=True)
    along = f" along {len(way)} points" if way else ""
    to = end.words if isinstance(action.target, Offset) else f"to {end.words}"
    return Execution(f"Dragged {start.words} {to}{along}{remark}", end, hover_counts=True)


def _steps_between(one: Point, other: Point) -> int:
    return min(_STEPS, max(1, round(math.dist((one.x, one.y), (other.x, other.y)) / _STEP_PX)))


async def _locate_both(executor: Executor, source: Target, target: Target) -> tuple[Location, Location]:
    for each in (source, target):
        must_not_be_grid(each, executor.seen)
    first, second = await locate_any(executor, source), await locate_any(executor, target)
    try:
        # Scrolling to one may have moved the other out of view: locate both again without scrolling.
        return await locate_any(executor, source, reveal=False), await locate_any(executor, target, reveal=False)
    except Refused as refusal:
        words = f"{first.words} and {second.words} cannot be seen at once; scroll so that both show."
        raise Refused("moved", words) from refusal


def _offset_location(start: Location, offset: Offset, executor: Executor) -> Location:
    """The location at an offset from another."""
    shot, view = executor.seen.observation.marked.map, executor.seen.observation.viewport
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


async def _meet(executor: Executor, end: Location) -> _Drop:
    """Brings the pointer, which holds something, onto a target that moves; whether it may be released there."""
    mark, until = end.mark or end.under, time.monotonic() + executor.deadline_s
    assert mark is not None
    while time.monotonic() < until:
        there = await current_point(executor, replace(end, is_moving=True))
        if not executor.seen.observation.viewport.contains(there):
            continue
        await executor.page.mouse.move(there.x, there.y, steps=_LAST_MOVES)
        now = await executor.recheck(mark, in_place=True)
        if now is None or now.fingerprint != mark.fingerprint:
            return _Drop(f"{end.words} is gone or became something else")
        if now.difference is not None:
            return _Drop(describe_change(now.difference, end.words))
        if is_well_inside(end, now, there):
            return _Drop()
    return _Drop(f"{end.words} could not be caught up with")


class _Drop(NamedTuple):
    """Whether what is held may be released at the end of a drag."""

    objection: str = ""
    """Why not, as a clause; empty if it may."""
    remark: str = ""
    """What moved along with the pointer, as a clause that follows."""


async def _judge_drop(executor: Executor, end: Location, start: Location, last: Point) -> _Drop:
    """Whether the end is still what was meant, now that the pointer is there. `last`: the pointer, page coordinates.

    Rows make room for what is dragged among them, so a target may have moved by the size of the dragged element. An end
    on the dragged element itself, or on what moves along with the pointer, such as a map, is a place in the view.
    """
    mark = end.mark or end.under
    if mark is None or end.element is None:
        return _Drop()
    held = start.mark or start.under
    is_harmless = not executor.seen.risks
    is_itself = end.mark is None and held is not None and held.key == mark.key and mark.kind != "surface"
    if is_itself and is_harmless:
        return _Drop()
    now, before = await executor.recheck(mark, in_place=True), end.element.rect
    if end.mark is not None and (now is None or now.fingerprint != mark.fingerprint):
        return _Drop(f"{end.words} is gone or became something else")
    if now is None:
        return _Drop(f"{end.words} moved away")
    by = Point(x=now.rect.x - before.x, y=now.rect.y - before.y)
    is_along = _is_about(by, Point(x=last.x - start.point.x, y=last.y - start.point.y))
    if is_along and now.difference is None and is_harmless:
        far = offset_words(Offset(right=round(by.x), down=round(by.y)))
        return _Drop(remark=f"; {mark_words(mark)} moved along: {far}")
    room = 0.0
    if end.mark is not None:
        room = min(before.width, before.height)
        room += max(start.mark.box.width, start.mark.box.height) if start.mark else 0.0
    if max(abs(by.x), abs(by.y)) > room or (end.mark is None and now.rect != before):
        return _Drop(f"{end.words} moved away")
    return _Drop("" if now.difference is None else describe_change(now.difference, end.words))


def _is_about(one: Point, other: Point) -> bool:
    """Whether two ways are the same and lead somewhere. Pages round what they move to whole pixels."""
    is_same = abs(one.x - other.x) <= _ROUNDED and abs(one.y - other.y) <= _ROUNDED
    return is_same and max(abs(one.x), abs(one.y)) > _ROUNDED


async def select_text(executor: Executor, action: SelectText) -> Execution:
    """Selects text with the pointer, and reads the selection back.

    Raises:
        Refused: the text does not show exactly once, cannot be reached, or something else was selected.
    """
    mouse, more = executor.page.mouse, (action.first, action.last, executor.seen, executor.deadline_s)
    begin, end, _ = await locate_text(*more)
    await mouse.move(begin.point.x, begin.point.y)
    again, end, text = await locate_text(*more)
    if again.point != begin.point:
        raise Refused("moved", f"{begin.words} keeps moving, so nothing was pressed.")
    async with executor.guard_gesture(again, is_drag=True) as gesture:
        try:
            await mouse.down()
            await gesture.must_have_begun()
            await mouse.move(end.point.x, end.point.y, steps=_STEPS)
        finally:
            await asyncio.wait_for(mouse.up(), executor.deadline_s)
    assert again.frame is not None
    now = await protocol.selected_text(again.frame, executor.deadline_s)
    if now != text:
        what = f'"{safe_line(now, 100)}" is selected' if now else "nothing is selected"
        raise Refused("unsupported", f"{begin.words} cannot be selected with the pointer: {what} instead.")
    return Execution(f'Selected "{safe_line(text, 100)}"', again, needs_no_effect=True)


async def scroll(executor: Executor, action: Scroll) -> Execution:
    """Scrolls the page or the container of a mark, or turns the wheel over a surface or a point.

    Raises:
        Refused: the mark is gone, or the action names no mark to bring to the middle.
    """
    mark = executor.seen.observation.mark(action.target) if isinstance(action.target, int) else None
    if isinstance(action.target, int) and mark is None:
        await executor.locate(action.target)  # refuses with the numbers there are
        raise AssertionError("an unknown mark was located")
    is_drawn = isinstance(action.target, Point | Cell) or (mark is not None and mark.source != "dom")
    if action.to == "middle":
        return await _scroll_to_middle(executor, mark)
    sign = 1 if action.direction in ("down", "right") else -1
    far = _TO_THE_END if action.to == "end" else action.px or action.pages
    by = (sign * far, 0.0) if action.direction in ("left", "right") else (0.0, sign * far)
    if action.modifiers or is_drawn or (mark is not None and mark.kind == "surface"):
        return await _turn_wheel(executor, action, by)
    return await _scroll_container(executor, action, by, mark)


async def _turn_wheel(executor: Executor, action: Scroll, by: tuple[float, float]) -> Execution:
    if action.target is None:
        raise Refused("unsupported", "With keys held, the wheel needs a target to turn over; name a mark or a point.")
    at = await executor.locate(action.target)
    view = executor.seen.observation.viewport
    wide, high = (1.0, 1.0) if _is_in_pixels(action) else (view.width, view.height)
    await executor.page.mouse.move(at.point.x, at.point.y)
    async with held_keys(executor.page, action.modifiers, executor.deadline_s):
        await executor.page.mouse.wheel(by[0] * wide, by[1] * high)
    held = f" with {'+'.join(action.modifiers)} held" if action.modifiers else ""
    return Execution(f"Turned the wheel {action.direction} over {at.words}{held}", at)


def _is_in_pixels(action: Scroll) -> bool:
    return action.px is not None and action.to is None


async def _scroll_container(
    executor: Executor, action: Scroll, by: tuple[float, float], mark: Mark | None
) -> Execution:
    frame, key = executor.page.main_frame, None
    if mark is not None:
        frame, now = await executor.identify(mark)
        key = now.key
    scrolled = await protocol.scroll(frame, executor.deadline_s, key, x=by[0], y=by[1], in_pixels=_is_in_pixels(action))
    if scrolled is None:
        assert mark is not None
        raise Refused("gone", f"{mark_words(mark)} is no longer on the page.")
    far = abs(scrolled.moved_x if by[0] else scrolled.moved_y)
    side, left = {
        "down": ("below", scrolled.below),
        "up": ("above", scrolled.above),
        "left": ("left", scrolled.left),
        "right": ("right", scrolled.right),
    }[action.direction]
    what = safe_line(scrolled.container, 80)
    sentence = f"Scrolled {what} {action.direction} by {far:.0f} px; {left:.0f} px remain {side}"
    if far < 1:
        sentence = f"{what[:1].upper()}{what[1:]} did not scroll {action.direction}: it is at its end"
    return Execution(sentence, None, needs_no_effect=far >= 1)


async def _scroll_to_middle(executor: Executor, mark: Mark | None) -> Execution:
    if mark is None or mark.source != "dom":
        raise Refused("unsupported", "Only a mark of an element can be brought to the middle; name one as the target.")
    await executor.locate(mark.number)
    now = await executor.recheck(mark, reveal="always")
    return Execution(f"Brought {mark_words(mark)} to the middle", None, needs_no_effect=now is not None)

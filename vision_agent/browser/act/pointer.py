"""Clicks, hovers, selects text and scrolls: what is done with the pointer and the wheel, except drags (`drag`)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial

from vision_agent.actions import Cell, Click, DoubleTap, Hold, Hover, Point, Scroll, SelectText
from vision_agent.browser.act import touch
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.held import held_button, held_keys, shows_text, stay_held
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.moving_target import current_point, stay_on
from vision_agent.browser.act.press_guard import Gesture
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.text_selection import locate_text
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark
from vision_agent.text.escape import safe_line

_STEPS = 12
"""Mouse moves from the first to the last of the words to select: pages follow moves, not a jump."""
_TO_THE_END = 1e6
_NOTCH_PX = 100.0
"""CSS pixels of one notch of a mouse wheel."""
_MOST_NOTCHES = 30
"""Views; farther than anything scrolls."""


async def click(sender: InputSender, action: Click) -> Attempt:
    """Clicks a mark or a point."""
    at = await sender.click(await sender.aim(action.target, may_move=True), action, is_all=True)
    how = {1: "Clicked", 2: "Double-clicked", 3: "Triple-clicked"}[action.count]
    return Attempt(f"{how if action.button == 'left' else f'{action.button.capitalize()}-clicked'} {at.words}", at)


async def double_tap(sender: InputSender, action: DoubleTap) -> Attempt:
    """Taps a mark or a point twice with a finger."""

    async def tap(at: Location, gesture: Gesture) -> None:
        await touch.tap(sender.page, partial(current_point, sender, at), gesture, 2, sender.deadline_s)

    at = await sender.send(tap, await sender.aim(action.target, may_move=True), action.target, is_pointed=False)
    return Attempt(f"Double-tapped {at.words}", at)


async def hold(sender: InputSender, action: Hold) -> Attempt:
    """Presses on a mark or a point, holds for a time or until a text appears, then releases the button or the finger.

    Raises:
        Refused: the text is already visible, so nothing was pressed; or it did not appear in time, or the tab closed,
            and the button or the finger was released.
    """
    if action.until and await shows_text(sender.page, sender.deadline_s, action.until, sender.observer.find_secrets):
        shown = f'"{safe_line(action.until, 60)}" shows already, so nothing was pressed'
        raise Refused("unsupported", f"{shown}. Hold for a time, or until another text shows.")
    page, deadline_s, what = sender.page, sender.deadline_s, "finger" if action.touch else "button"

    async def press(at: Location, gesture: Gesture) -> None:
        # A press may close the page before the browser answers it; what closes the page on release was held.
        async with AsyncExitStack() as down:
            with sender.noting_hold(action.seconds):
                if action.touch:
                    await down.enter_async_context(touch.held_finger(page, at.point, deadline_s))
                else:
                    await page.mouse.move(at.point.x, at.point.y)
                    await down.enter_async_context(held_button(page, deadline_s))
                    await down.enter_async_context(stay_on(sender, at))
                await gesture.must_have_begun()
                find = sender.observer.find_secrets
                await stay_held(page, f"the {what}", action.seconds, deadline_s, action.until, find)

    at, lasts_s = await sender.aim(action.target, may_move=True), deadline_s + action.seconds
    at = await sender.send(press, at, action.target, lasts_s=lasts_s, is_pointed=not action.touch)
    how_long = f'until "{safe_line(action.until, 60)}" showed' if action.until else f"for {action.seconds:g} s"
    return Attempt(f"Held {'a finger' if action.touch else 'the button down'} on {at.words} {how_long}", at)


async def hover(sender: InputSender, action: Hover) -> Attempt:
    """Moves the pointer over a mark or a point and leaves it there.

    A hover commits to nothing, so it does not wait for targets that move on their own. It does wait after scrolling a
    target into view, because pages then load more content that pushes the target away.
    """
    at = await sender.locate(action.target)
    if at.element and at.element.was_scrolled:
        await sender.settle_page()
        at = await sender.locate(action.target)
    await sender.page.mouse.move(at.point.x, at.point.y)
    return Attempt(f"Moved the pointer over {at.words}", at, hover_counts=True)


async def select_text(sender: InputSender, action: SelectText) -> Attempt:
    """Selects text with the pointer, and reads the selection back.

    Raises:
        Refused: the text does not appear exactly once, cannot be reached, or something else was selected.
    """
    mouse, find = sender.page.mouse, sender.observer.find_secrets
    more = (action.first, action.last, sender.seen, sender.deadline_s, find)
    begin, end, _ = await locate_text(*more)
    await mouse.move(begin.point.x, begin.point.y)
    again, end, text = await locate_text(*more)
    if again.point != begin.point:
        raise Refused("moved", f"{begin.words} keeps moving, so nothing was pressed.")
    async with sender.guard_gesture(again, is_drag=True) as gesture:
        try:
            await mouse.down()
            await gesture.must_have_begun()
            await mouse.move(end.point.x, end.point.y, steps=_STEPS)
        finally:
            await asyncio.wait_for(mouse.up(), sender.deadline_s)
    assert again.frame is not None
    assert again.text is not None
    now = await overlay_calls.text.selected_text(again.frame, sender.deadline_s)
    if now != again.text.selects:
        what = f'"{safe_line(now, 100)}" is selected' if now else "nothing is selected"
        raise Refused("unsupported", f"{begin.words} cannot be selected with the pointer: {what} instead.")
    return Attempt(f'Selected "{safe_line(text, 100)}"', again, needs_no_effect=True)


async def scroll(sender: InputSender, action: Scroll) -> Attempt:
    """Scrolls the page or the container of a mark, or turns the wheel over a surface or a point.

    Raises:
        Refused: the mark is gone, or the action names no mark to bring to the middle.
    """
    mark = sender.seen.observation.mark(action.target) if isinstance(action.target, int) else None
    if isinstance(action.target, int) and mark is None:
        await sender.locate(action.target)  # refuses with the numbers there are
        raise AssertionError("an unknown mark was located")
    is_drawn = isinstance(action.target, Point | Cell) or (mark is not None and mark.source != "dom")
    if action.to == "middle":
        return await _scroll_to_middle(sender, mark)
    sign = 1 if action.direction in ("down", "right") else -1
    far = _TO_THE_END if action.to == "end" else action.px or action.pages
    by = (sign * far, 0.0) if action.direction in ("left", "right") else (0.0, sign * far)
    if action.modifiers or is_drawn or (mark is not None and mark.kind == "surface"):
        return await _turn_wheel(sender, action, by)
    return await _scroll_container(sender, action, by, mark)


async def _turn_wheel(sender: InputSender, action: Scroll, by: tuple[float, float]) -> Attempt:
    if action.target is None:
        raise Refused("unsupported", "With keys held, the wheel needs a target to turn over; name a mark or a point.")
    at = await sender.locate(action.target)
    view = sender.seen.observation.viewport
    wide, high = (1.0, 1.0) if _is_in_pixels(action) else (view.width, view.height)
    await sender.page.mouse.move(at.point.x, at.point.y)
    async with held_keys(sender.page, action.modifiers, sender.deadline_s):
        for right, down in _notches(by[0] * wide, by[1] * high):
            await sender.page.mouse.wheel(right, down)
    held = f" with {'+'.join(action.modifiers)} held" if action.modifiers else ""
    return Attempt(f"Turned the wheel {action.direction} over {at.words}{held}", at, moves_view=True)


def _notches(right: float, down: float) -> list[tuple[float, float]]:
    """The wheel's turn in notches, as of a hand: a page that zooms by event gets as many events as from a person."""
    far = abs(right) + abs(down)
    count = min(_MOST_NOTCHES, max(1, round(far / _NOTCH_PX))) if far < _TO_THE_END else 1
    return [(right / count, down / count)] * count


def _is_in_pixels(action: Scroll) -> bool:
    return action.px is not None and action.to is None


async def _scroll_container(sender: InputSender, action: Scroll, by: tuple[float, float], mark: Mark | None) -> Attempt:
    frame, key = sender.page.main_frame, None
    if mark is not None:
        frame, now = await sender.identify(mark)
        key = now.key
    scrolled = await overlay_calls.scrolling.scroll(
        frame, sender.deadline_s, key, x=by[0], y=by[1], in_pixels=_is_in_pixels(action)
    )
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
    return Attempt(sentence, None, needs_no_effect=far >= 1)


async def _scroll_to_middle(sender: InputSender, mark: Mark | None) -> Attempt:
    if mark is None or mark.source != "dom":
        raise Refused("unsupported", "Only a mark of an element can be brought to the middle; name one as the target.")
    await sender.locate(mark.number)
    now = await sender.recheck(mark, reveal="always")
    return Attempt(f"Brought {mark_words(mark)} to the middle", None, needs_no_effect=now is not None)

"""Brings a custom slider to a value: with its arrow keys, or by dragging if it answers no key.

Where on the page a value lies is found out while the slider is held: the pointer moves and the value is read.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from dataclasses import dataclass

from vision_agent.actions import Point
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.key_focus import take_focus
from vision_agent.browser.act.moving_target import RESTLESS
from vision_agent.browser.act.press_guard import GestureStopped
from vision_agent.browser.locate.context_changed import ContextChanged
from vision_agent.browser.locate.location import Location
from vision_agent.browser.page.overlay_calls.answer_parts import ContextDifference
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.browser.refusal import Refused
from vision_agent.observation import MarkState
from vision_agent.text.escape import safe_line

_ARROWS = (("ArrowUp", "ArrowDown"), ("ArrowRight", "ArrowLeft"))
"""Up increases in every reading direction; some sliders know only right and left."""
_MOST_KEYS = 400
"""Arrow keys pressed on a slider to reach a value."""
_SETS_WITHIN_DEADLINES = 2
"""How often the deadline of one part of an action fits into the time for its keys."""
_PROBES_PX = (12, -12, 40, -40, 120, -120)
"""How far the pointer moves to see whether the value follows: few stops lie far apart, and one may be at an end."""
_MOST_MOVES = 30
_LONG = 3
"""A slider that is this many times longer than wide is a track; else it is the thumb on one."""
_ANSWERS_S = 0.12
"""How long the value of a slider may take to follow the pointer."""
_LATE_S = 0.6
"""How long it may take to answer a key, or the first move of the pointer: before that, it does not count as one that
stays where it is. One that answers as late as this gets the time each time."""
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True)
class _Stop:
    """A value, and how far from the press the pointer was, in CSS pixels along the slider."""

    far: int
    value: float


async def move_slider(sender: InputSender, at: Location, wanted: str) -> Attempt:
    """Brings a slider, or another control with a number and arrow keys, to a value.

    Raises:
        Refused: it has no number, the value is out of its range, or neither its keys nor the pointer move it there.
    """
    assert at.mark is not None
    goal, now = _number(wanted), _number(at.element.value_now if at.element else None)
    if goal is None or now is None:
        raise Refused("unsupported", f'{at.words} exposes no number to set to "{safe_line(wanted, 40)}". Drag it.')
    if goes := exceeded_range(at.mark.state, wanted):
        raise Refused("not_an_option", f"{at.words} goes {goes}; {goal:g} is out of range.")
    done = Attempt(f'Set {at.words} to "{safe_line(wanted, 60)}"', at, expected=wanted)
    reached = await _press_to_value(sender, at, now, goal)
    if reached == goal:
        return done
    if at.mark.role != "slider":
        raise Refused(
            "not_an_option", f"{at.words} is at {now if reached is None else reached:g}; {goal:g} is too far."
        )
    dragged = await _drag_to_value(sender, at, now if reached is None else reached, goal)
    if not _is_at(dragged, goal) and reached is not None:
        dragged = await _press_to_value(sender, at, dragged, goal) or dragged
    if _is_at(dragged, goal):
        return done
    return Attempt(f"Dragged {at.words} as near to {goal:g} as it goes, to {dragged:g}", at)


def exceeded_range(state: MarkState, value: str) -> str:
    """A slider's range, as `from 0 to 100`, if the value lies outside; empty if it does not or no range is known."""
    least, most, wanted = (_number(each) for each in (state.minimum, state.maximum, value))
    if least is None or most is None or wanted is None:
        return ""
    return f"from {least:g} to {most:g}" if wanted < least or wanted > most else ""


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _words(number: float | None) -> str:
    return "no number" if number is None else f"{number:g}"


def _is_at(value: float, goal: float) -> bool:
    return math.isclose(value, goal, rel_tol=1e-9, abs_tol=1e-9)


def _differs_by_numbers(change: ContextDifference) -> bool:
    """Whether only numbers changed, as the number beside a slider does when it is moved."""
    return _DIGITS.sub("", change.then) == _DIGITS.sub("", change.now)


async def _value_now(sender: InputSender, at: Location) -> float | None:
    """The slider's number as it is now; None if it exposes none.

    Raises:
        ContextChanged: the words around it are no longer the same.
    """
    assert at.mark is not None
    element: LiveElement | None = await sender.recheck(at.mark, in_place=True)
    if element and (change := element.difference) and not _differs_by_numbers(change):
        raise ContextChanged(change, at.words)
    return _number(element.value_now if element else None)


async def _other_value(sender: InputSender, at: Location, value: float, within_s: float) -> float | None:
    """The slider's number once it is another one, or as it is when the time is up; None if it exposes none."""
    until = time.monotonic() + within_s
    while True:
        now = await _value_now(sender, at)
        if now != value or time.monotonic() > until:
            return now


# --- keys -------------------------------------------------------------------------------------------------------------


async def _press_to_value(sender: InputSender, at: Location, now: float, goal: float) -> float | None:
    """The value after the arrow keys; None if none of them moves the slider. Fewer are pressed where it is too far."""
    try:
        await take_focus(sender, at)
    except Refused as refusal:
        if refusal.refusal != "unsupported":
            raise
        return None
    sender.note_input(f"arrow keys were sent to {at.words}", at)
    async with sender.guard_keys(at):
        return await _press_arrows(sender, at, now, goal)


async def _press_arrows(sender: InputSender, at: Location, now: float, goal: float) -> float | None:
    keys, pressed, until = list(_ARROWS), 0, time.monotonic() + _SETS_WITHIN_DEADLINES * sender.deadline_s
    while now != goal and pressed < _MOST_KEYS:
        if time.monotonic() > until:
            words = f"{at.words} answers its keys slowly: it is at {now:g}, and the time was up before {goal:g}."
            raise Refused("timed_out", words)
        await sender.page.keyboard.press(keys[0][goal < now])
        pressed += 1
        before, reached = now, await _other_value(sender, at, now, _LATE_S)
        if reached is None or (goal - before) * (goal - reached) < 0:
            raise Refused("not_an_option", f"{at.words} goes from {before:g} to {_words(reached)}, past {goal:g}.")
        now = reached
        if now == before and pressed == 1:
            keys.pop(0)
            pressed = 0
            if not keys:
                return None
        elif now == before:
            raise Refused(
                "not_an_option", f"{at.words} stays at {now:g} when its keys are pressed; {goal:g} is too far."
            )
        elif abs(goal - now) > abs(now - before) * _MOST_KEYS:
            return now
    return now


# --- the pointer ------------------------------------------------------------------------------------------------------


async def _drag_to_value(sender: InputSender, at: Location, now: float, goal: float) -> float:
    """The value once the slider was dragged as near to the wanted one as it goes.

    Raises:
        Refused: it does not follow the pointer, or became another's meanwhile.
    """
    assert at.mark is not None
    at = await sender.move_pointer(await sender.aim(at.mark.number), at.mark.number)
    if at.is_moving:
        raise Refused("moved", RESTLESS.format(at.words))
    until = time.monotonic() + _SETS_WITHIN_DEADLINES * sender.deadline_s
    try:
        has_followed = await _hold_and_move(sender, at, _likely_point(at, goal), goal)
    except GestureStopped as stopped:
        if not stopped.reached_nothing:
            raise
        has_followed = await _hold_and_move(sender, at, at.point, goal)
    reached = await _value_now(sender, at)
    while reached is not None and not _is_at(reached, goal):
        later = await _other_value(sender, at, reached, _LATE_S)
        if later == reached:
            break
        if time.monotonic() > until:
            raise Refused("moved", f"{at.words} was dragged, and its value keeps changing; it is at {_words(later)}.")
        reached = later
    if reached == now and not has_followed:
        words = f"{at.words} stays at {now:g} when its keys are pressed and when it is dragged."
        raise Refused("not_an_option", words)
    if reached is None or not (has_followed or _is_at(reached, goal)):
        words = f"{at.words} was pressed and now shows {_words(reached)}, but does not follow the pointer."
        raise Refused("not_an_option", words)
    return reached


def _is_upright(at: Location) -> bool:
    assert at.element is not None
    return at.element.rect.height > at.element.rect.width


def _is_track(at: Location) -> bool:
    assert at.element is not None
    sides = sorted((at.element.rect.width, at.element.rect.height))
    return sides[1] >= _LONG * sides[0]


def _likely_point(at: Location, goal: float) -> Point:
    """Where on a track the value probably lies; the middle of a thumb."""
    assert at.mark is not None
    state, box = at.mark.state, at.mark.box
    least, most = _number(state.minimum), _number(state.maximum)
    if not _is_track(at) or least is None or most is None or most <= least:
        return at.point
    share = min(0.995, max(0.005, (goal - least) / (most - least)))
    if _is_upright(at):
        return Point(x=at.point.x, y=box.bottom - share * box.height)
    return Point(x=box.x + share * box.width, y=at.point.y)


async def _hold_and_move(sender: InputSender, at: Location, start: Point, goal: float) -> bool:
    """Presses, moves and releases; returns whether the value followed the pointer."""
    mouse = sender.page.mouse
    await mouse.move(start.x, start.y)
    async with sender.guard_gesture(at, is_drag=True) as gesture:
        try:
            await mouse.down()
            await gesture.must_have_begun()
            return await _search(sender, at, start, goal)
        except ContextChanged:
            await mouse.move(start.x, start.y)
            raise
        finally:
            await asyncio.wait_for(mouse.up(), sender.deadline_s)


async def _search(sender: InputSender, at: Location, start: Point, goal: float) -> bool:
    """Moves the held slider until it has the value, or to the nearest one that it takes; whether it moved at all."""
    value = await _value_now(sender, at)
    if value is None or _is_at(value, goal):
        return value is not None
    sides = [_is_upright(at)] if _is_track(at) else [False, True]
    for is_upright in sides:
        within_s = _LATE_S
        for far in _PROBES_PX:
            moved_at = time.monotonic()
            stop = await _move_to(sender, at, start, is_upright, far, value, within_s)
            if stop is not None and stop.value != value:
                slope = (stop.value - value) / far
                within_s = _ANSWERS_S if time.monotonic() - moved_at < _ANSWERS_S else _LATE_S
                await _narrow(sender, at, start, is_upright, stop, slope, goal, within_s)
                return True
            within_s = _ANSWERS_S
        await sender.page.mouse.move(start.x, start.y)
    return False


async def _narrow(
    sender: InputSender,
    at: Location,
    start: Point,
    is_upright: bool,
    first: _Stop,
    slope: float,
    goal: float,
    within_s: float,
) -> None:
    """Moves on from the first stop at which the value followed, by about `slope` for each pixel."""
    stops = [first]
    for _ in range(_MOST_MOVES):
        if _is_at(stops[-1].value, goal):
            return
        far = _next_far(stops, slope, goal)
        if any(stop.far == far for stop in stops):
            break
        stop = await _move_to(sender, at, start, is_upright, far, stops[-1].value, within_s)
        if stop is None:
            return
        stops.append(stop)
    nearest = min(stops, key=lambda stop: abs(stop.value - goal))
    await _move_to(sender, at, start, is_upright, nearest.far, stops[-1].value, within_s)


def _next_far(stops: list[_Stop], slope: float, goal: float) -> int:
    """Where the value should lie: between the two nearest stops around it, else beyond the nearest of all."""
    below = max((stop for stop in stops if stop.value < goal), key=lambda stop: stop.value, default=None)
    above = min((stop for stop in stops if stop.value > goal), key=lambda stop: stop.value, default=None)
    if below is not None and above is not None:
        share = (goal - below.value) / (above.value - below.value)
        far = round(below.far + share * (above.far - below.far))
        is_new = all(stop.far != far for stop in stops)
        return far if is_new else round((below.far + above.far) / 2)
    nearest = min(stops, key=lambda stop: (abs(stop.value - goal), -abs(stop.far)))
    return round(
        nearest.far + math.copysign(max(1.0, abs((goal - nearest.value) / slope)), (goal - nearest.value) / slope)
    )


async def _move_to(
    sender: InputSender, at: Location, start: Point, is_upright: bool, far: int, before: float, within_s: float
) -> _Stop | None:
    """The value with the pointer this far from where it was pressed; None if it no longer exposes one."""
    view = sender.seen.observation.viewport
    x, y = (start.x, start.y + far) if is_upright else (start.x + far, start.y)
    await sender.page.mouse.move(min(max(x, 1), view.width - 1), min(max(y, 1), view.height - 1))
    value = await _other_value(sender, at, before, within_s)
    return None if value is None else _Stop(far, value)

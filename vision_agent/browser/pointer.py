"""Clicks, hovers, drags and scrolls: what is done with the pointer and the wheel."""

from __future__ import annotations

import asyncio

from vision_agent.actions import Cell, Click, Drag, Hover, Offset, Point, Scroll, SelectText, Target, offset_words
from vision_agent.browser import overlay
from vision_agent.browser.effect import Done
from vision_agent.browser.hands import Hands
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import Located, locate_words, point_of, words_for
from vision_agent.browser.refusal import Refused
from vision_agent.browser.settle import settle
from vision_agent.browser.within import must_be_one_thing
from vision_agent.types import Mark

_STEPS = 12
"""Moves from one place of a drag to the next: what is dragged follows moves, not a leap."""
_BEYOND = 4.0
"""CSS pixels."""
_LAST_MOVES = 2
"""Of a drag, in its last place, a frame each: that a glide has ended is told to a page up to a frame after it has (seen
in 8 of 40), and until then lists heed no move."""
_TO_THE_END = 1e6
"""Views; farther than anything scrolls."""


async def click(hands: Hands, action: Click) -> Done:
    """Clicks a mark or a point."""
    at = await hands.click(await hands.aim(action.target), action)
    how = {1: "Clicked", 2: "Double-clicked", 3: "Triple-clicked"}[action.count]
    return Done(f"{how if action.button == 'left' else f'{action.button.capitalize()}-clicked'} {at.words}", at)


async def hover(hands: Hands, action: Hover) -> Done:
    """Moves the pointer over a mark or a point and leaves it there.

    It commits to nothing, so it does not wait for what moves by itself; only what had to be scrolled into view, where
    pages load more that pushes it away, is to stand still.
    """
    at = await hands.locate(action.target)
    if at.answer and at.answer["scrolled"]:
        await hands.settled()
        at = await hands.locate(action.target)
    await hands.page.mouse.move(at.point.x, at.point.y)
    return Done(f"Moved the pointer over {at.words}", at, hover_counts=True)


async def drag(hands: Hands, action: Drag) -> Done:
    """Presses at one place, moves by way of the others, and releases at the last.

    Raises:
        Refused: the two cannot be seen at once, or the target became something else on the way; then what was held is
            brought back before it is let go.
    """
    way = [point_of(each, hands.seen) for each in action.path]
    if isinstance(action.target, Offset):
        start = await hands.aim(action.source)
        end = _away(start, action.target, hands)
    else:
        start, end = await _both(hands, action.source, action.target)
    mouse = hands.page.mouse
    start = await hands.point_at(start, action.source)
    if isinstance(action.target, Offset):
        end = _away(start, action.target, hands)
    async with hands.guarded(start, is_drag=True) as gesture:
        try:
            await mouse.down()
            await gesture.must_have_begun()
            last = _past_the_middle(end, way[-1] if way else start.point)
            for place in [*way, last]:
                await mouse.move(place.x, place.y, steps=_STEPS)
            # While rows glide aside, lists heed no move: the last one is made again when they have come to rest.
            await settle(hands.tabs, 0, min(hands.settings.rest_deadline_s, hands.deadline_s))
            await mouse.move(last.x, last.y, steps=_LAST_MOVES)
            trouble = await _wrong_under(hands, end, start)
            if trouble:
                await mouse.move(start.point.x, start.point.y, steps=_STEPS)
                raise Refused("moved", trouble)
        finally:
            await asyncio.wait_for(mouse.up(), hands.deadline_s)
    along = f" along {len(way)} points" if way else ""
    to = end.words if isinstance(action.target, Offset) else f"to {end.words}"
    return Done(f"Dragged {start.words} {to}{along}", end, hover_counts=True)


async def _both(hands: Hands, source: Target, target: Target) -> tuple[Located, Located]:
    for each in (source, target):
        must_be_one_thing(each, hands.seen)
    first, second = await hands.locate(source), await hands.locate(target)
    try:
        # Showing the one may have scrolled the other away: both are looked at once more, as they are.
        return await hands.locate(source, reveal=False), await hands.locate(target, reveal=False)
    except Refused as refusal:
        words = f"{first.words} and {second.words} cannot be seen at once; scroll so that both show."
        raise Refused("moved", words) from refusal


def _away(start: Located, offset: Offset, hands: Hands) -> Located:
    """The place so far from another."""
    shot, view = hands.seen.observation.marked.map, hands.seen.observation.viewport
    x, y = start.point.x + offset.right * shot.scale_x, start.point.y + offset.down * shot.scale_y
    words = offset_words(offset)
    if not (0 <= x < view.width and 0 <= y < view.height):
        raise Refused("outside", f"{words} from {start.words} lies outside the page's view. Scroll, or drag less far.")
    return Located(words=words, point=Point(x=x, y=y), rung=start.rung)


def _past_the_middle(end: Located, before: Point) -> Point:
    """Where to let go on a mark: a little beyond its middle as one comes, for lists make room only then."""
    if end.mark is None:
        return end.point

    def beyond(to: float, since: float, size: float) -> float:
        by = min(_BEYOND, size / 4)
        return to + (by if to > since + size / 4 else -by if to < since - size / 4 else 0)

    box = end.mark.box
    return Point(x=beyond(end.point.x, before.x, box.width), y=beyond(end.point.y, before.y, box.height))


async def _wrong_under(hands: Hands, end: Located, start: Located) -> str:
    """Why what is held must not be let go here; empty where it may.

    Rows make room for what is dragged among them, so a target may have moved by as much as what is held takes up.
    """
    if end.under is not None and end.answer is not None:
        now = await hands.recheck(end.under)
        is_there = now["found"] and now["rect"] == end.answer["rect"]
        return "" if is_there else f"{end.words} moved away while {start.words} was held; it was brought back."
    if end.mark is None or end.answer is None:
        return ""
    now = await hands.recheck(end.mark)
    if not now["found"] or now["fingerprint"] != end.mark.fingerprint:
        return f"{end.words} is gone or became something else while {start.words} was held; it was brought back."
    rect, before = now["rect"], end.answer["rect"]
    room = max(start.mark.box.width, start.mark.box.height) if start.mark else 0.0
    if max(abs(rect["x"] - before["x"]), abs(rect["y"] - before["y"])) > room + min(before["width"], before["height"]):
        return f"{end.words} moved away while {start.words} was held; it was brought back."
    return ""


async def select_text(hands: Hands, action: SelectText) -> Done:
    """Draws the pointer over text, and reads back what is selected then.

    Raises:
        Refused: it does not show once, cannot be reached, or something else was selected.
    """
    mouse, more = hands.page.mouse, (action.first, action.last, hands.seen, hands.deadline_s)
    begin, end, _ = await locate_words(*more)
    await mouse.move(begin.point.x, begin.point.y)
    again, end, text = await locate_words(*more)
    if again.point != begin.point:
        raise Refused("moved", f"{begin.words} does not stand still, so nothing was pressed.")
    async with hands.guarded(again, is_drag=True) as gesture:
        try:
            await mouse.down()
            await gesture.must_have_begun()
            await mouse.move(end.point.x, end.point.y, steps=_STEPS)
        finally:
            await asyncio.wait_for(mouse.up(), hands.deadline_s)
    assert again.frame is not None
    now = (await overlay.ask(again.frame, "selected", hands.deadline_s))["text"]
    if now != text:
        what = f'"{plain(now, 100)}" is selected' if now else "nothing is selected"
        raise Refused("unsupported", f"{begin.words} cannot be selected by the pointer: {what} instead.")
    return Done(f'Selected "{plain(text, 100)}"', again, moved=True)


async def scroll(hands: Hands, action: Scroll) -> Done:
    """Scrolls the page, what holds a mark, or turns the wheel over a surface or a point.

    Raises:
        Refused: the mark is gone, or there is none to bring to the middle.
    """
    mark = hands.seen.observation.mark(action.target) if isinstance(action.target, int) else None
    if isinstance(action.target, int) and mark is None:
        await hands.locate(action.target)  # refuses with the numbers there are
        raise AssertionError("an unknown mark was located")
    is_drawn = isinstance(action.target, Point | Cell) or (mark is not None and mark.source != "dom")
    if action.to == "middle":
        return await _to_the_middle(hands, mark)
    sign = 1 if action.direction in ("down", "right") else -1
    far = _TO_THE_END if action.to == "end" else action.pages
    by = {"x": sign * far, "y": 0.0} if action.direction in ("left", "right") else {"x": 0.0, "y": sign * far}
    if is_drawn or (mark is not None and mark.kind == "surface"):
        return await _turn_the_wheel(hands, action, by)
    return await _scroll_what_holds(hands, action, by, mark)


async def _turn_the_wheel(hands: Hands, action: Scroll, by: dict[str, float]) -> Done:
    assert action.target is not None
    at = await hands.locate(action.target)
    viewport = hands.seen.observation.viewport
    await hands.page.mouse.move(at.point.x, at.point.y)
    await hands.page.mouse.wheel(by["x"] * viewport.width, by["y"] * viewport.height)
    return Done(f"Turned the wheel {action.direction} over {at.words}", at)


async def _scroll_what_holds(hands: Hands, action: Scroll, by: dict[str, float], mark: Mark | None) -> Done:
    frame, key = hands.page.main_frame, None
    if mark is not None:
        frame, now = await hands.identify(mark)
        key = now.key
    moved = await overlay.ask(frame, "scroll", hands.deadline_s, key=key, **by)
    if not moved["found"]:
        assert mark is not None
        raise Refused("gone", f"{words_for(mark)} is no longer on the page.")
    far = abs(moved["movedX"] if by["x"] else moved["movedY"])
    left = {"down": "below", "up": "above", "left": "left", "right": "right"}[action.direction]
    what = plain(moved["container"], 80)
    sentence = f"Scrolled {what} {action.direction} by {far:.0f} px; {moved[left]:.0f} px remain {left}"
    if far < 1:
        sentence = f"{what} did not scroll {action.direction}: it is at its end"
    return Done(sentence, None, moved=far >= 1)


async def _to_the_middle(hands: Hands, mark: Mark | None) -> Done:
    if mark is None or mark.source != "dom":
        raise Refused("unsupported", "Only a mark of an element can be brought to the middle; name one as the target.")
    await hands.locate(mark.number)
    now = await hands.recheck(mark, reveal="always")
    return Done(f"Brought {words_for(mark)} to the middle", None, moved=bool(now["found"]))

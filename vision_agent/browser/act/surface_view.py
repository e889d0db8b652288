"""Moves what a surface shows, and measures from the pixels how far it went.

A map, a plan or a sheet has a view of its own, which only its page can move: by the wheel, by a drag, or with two
fingers. No click comes of any of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import dist

from vision_agent.actions import Modifier, Point
from vision_agent.browser.act.held import held_keys
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.locate.drawn_target import locate_on_surface
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.settle import settle
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.content_motion import ContentMotion, content_motion

_STEPS = 12
"""Mouse moves of a drag: pages follow moves, not a jump."""
_LAST_MOVES = 2
"""Mouse moves at its end, where the pointer rests: a map that is let go of in motion glides on."""
_RIM = 12.0
"""CSS pixels at the edge of a surface, where it may have scroll bars and headings."""
_CLEAR = 8.0
"""CSS pixels around a drawn thing in which no drag begins."""
_COLUMNS, _ROWS = 9, 7
"""Places at which a drag may begin."""
_TRIES = 8
_LEAST_STEP = 4.0


@dataclass
class SurfaceView:
    """The view of one surface, moved during one action."""

    sender: InputSender
    mark: Mark
    picture: Picture = field(init=False)
    """The page as it was last looked at."""
    last: Location | None = None
    """Where the last input went."""

    def __post_init__(self) -> None:
        self.picture = self.sender.seen.clean

    @property
    def box(self) -> Box:
        """The part of the surface that is in view, in page coordinates."""
        inside = self.mark.box.intersection(self.sender.seen.clean.page)
        return inside or self.mark.box

    async def look(self) -> Picture:
        """The page once it has settled, which becomes `picture`."""
        sender, now = self.sender, time.monotonic()
        await settle(sender.tabs, sender.settings.quiet_s, sender.settings.settle_deadline_s, input_at=now)
        if sender.tabs.active is not sender.page:
            raise Refused("changed", "Another tab came to the front. Look again.")
        raw = await capture(sender.page, sender.deadline_s)
        picture = await asyncio.to_thread(Picture.decode, raw, sender.seen.clean.page, sender.image_limits)
        self.picture = picture.masked(sender.seen.masked)
        return self.picture

    async def measure(
        self, before: Picture, *, about: Point | None = None, degrees: float = 0.0, factor: float = 1.0
    ) -> ContentMotion | None:
        """How far what the surface shows has moved since a picture; None if that cannot be told."""
        return await asyncio.to_thread(
            content_motion, before, self.picture, self.box, about=about, degrees=degrees, factor=factor
        )

    async def drag(self, right: float, down: float) -> ContentMotion | None:
        """Drags an empty place of the surface by CSS pixels; returns how far its content went."""
        sender, mouse, before = self.sender, self.sender.page.mouse, self.picture
        start, end = await self._free_way(right, down)
        async with sender.guard_gesture(start, is_drag=True, is_pan=True) as gesture:
            self.last = start
            try:
                await mouse.move(start.point.x, start.point.y)
                await mouse.down()
                await gesture.must_have_begun()
                await mouse.move(end.x, end.y, steps=_STEPS)
                await settle(sender.tabs, 0, min(sender.settings.settle_deadline_s, sender.deadline_s))
                await mouse.move(end.x, end.y, steps=_LAST_MOVES)
            finally:
                await asyncio.wait_for(mouse.up(), sender.deadline_s)
        self._note_once()
        await self.look()
        return await self.measure(before)

    async def turn_wheel(
        self, at: Point, right: float, down: float, modifiers: Sequence[Modifier] = ()
    ) -> ContentMotion | None:
        """Turns the wheel over a point of the surface by CSS pixels; returns how its content moved.

        Raises:
            Refused: it scrolled what is around the surface, which was scrolled back.
        """
        sender, before = self.sender, self.picture
        place = await self.locate(at)
        owner = sender.seen.scan.owner(self.mark.key)
        assert owner is not None
        scrolled = await overlay_calls.scrolling.scroll_places(owner.frame, sender.deadline_s, self.mark.key)
        await sender.page.mouse.move(at.x, at.y)
        async with held_keys(sender.page, modifiers, sender.deadline_s):
            sender.note_input(f"the wheel was turned over {mark_words(self.mark)}", self.last)
            self._note_once()
            await sender.page.mouse.wheel(right, down)
        await self.look()
        now = await sender.recheck(self.mark)
        if now is not None and place.element is not None and now.rect != place.element.rect:
            await overlay_calls.scrolling.scroll_places(owner.frame, sender.deadline_s, self.mark.key, back_to=scrolled)
            await self.look()
            words = mark_words(self.mark)
            raise Refused("unsupported", f"The wheel scrolls what is around {words}, and not what it shows.")
        return await self.measure(before, about=at)

    def _note_once(self) -> None:
        """Keeps only one of several equal notes on what reached the page."""
        self.sender.sent_inputs[:] = dict.fromkeys(self.sender.sent_inputs)

    async def locate(self, point: Point) -> Location:
        """Where a point of the surface is now.

        Raises:
            Refused: the surface is gone or has changed, or the point is out of view or covered.
        """
        at = await locate_on_surface(self.mark, point, self.sender.seen, self.sender.deadline_s)
        if at is None:
            raise Refused("outside", f"A place on {mark_words(self.mark)} is out of view. Scroll until it shows.")
        self.last = at
        return at

    async def middle(self) -> Point:
        """A point near its middle that a click would reach.

        Raises:
            Refused: there is none.
        """
        at, _ = await self._free_way(0, 0)
        return at.point

    async def _free_way(self, right: float, down: float) -> tuple[Location, Point]:
        """Where a drag begins, on the surface and on nothing that is drawn in it, and where it ends.

        Raises:
            Refused: there is no such place.
        """
        tried: Refused | None = None
        for count, (start, end) in enumerate(self._ways(right, down)):
            if count >= _TRIES:
                break
            try:
                at = await locate_on_surface(self.mark, start, self.sender.seen, self.sender.deadline_s)
            except Refused as refusal:
                if refusal.refusal != "covered":
                    raise
                tried = refusal
                continue
            if at is not None:
                return at, Point(x=end.x + at.point.x - start.x, y=end.y + at.point.y - start.y)
        what = "has no empty place in view to be dragged by"
        raise tried or Refused("unsupported", f"{mark_words(self.mark)} {what}. Drag from a point of it, or scroll.")

    def _ways(self, right: float, down: float) -> Iterator[tuple[Point, Point]]:
        box = self.box
        wide, high = box.width - 2 * _RIM, box.height - 2 * _RIM
        if wide < 2 * _LEAST_STEP or high < 2 * _LEAST_STEP:
            return
        # The middle of the way is put into the middle of the surface, so that there is room for all of it.
        centre = Point(x=box.center.x - right / 2, y=box.center.y - down / 2)
        things = [each.box for each in self.sender.seen.observation.marks if each.surface == self.mark.number]
        things = [each for each in things if each.share_in(box) < 1 or each.width * each.height < wide * high / 2]
        places = [
            Point(x=box.x + _RIM + wide * column / (_COLUMNS - 1), y=box.y + _RIM + high * row / (_ROWS - 1))
            for row in range(_ROWS)
            for column in range(_COLUMNS)
        ]
        for start in sorted([centre, *places], key=lambda each: dist((each.x, each.y), (centre.x, centre.y))):
            end = Point(x=start.x + right, y=start.y + down)
            inside = all(
                box.x + _RIM - 1 <= each.x <= box.right - _RIM + 1
                and box.y + _RIM - 1 <= each.y <= box.bottom - _RIM + 1
                for each in (start, end)
            )
            if inside and not any(_is_near(start, each) for each in things):
                yield start, end


def _is_near(point: Point, box: Box) -> bool:
    return box.x - _CLEAR <= point.x < box.right + _CLEAR and box.y - _CLEAR <= point.y < box.bottom + _CLEAR


def surface_of(sender: InputSender, number: int) -> Mark:
    """The surface of this number, or in which the thing of this number is drawn.

    Raises:
        Refused: there is none.
    """
    seen = sender.seen.observation
    mark = seen.mark(number)
    if mark is not None and mark.surface is not None:
        mark = seen.mark(mark.surface)
    if mark is None:
        raise Refused("unknown_mark", f"There is no mark {number} in this observation.")
    if mark.kind != "surface":
        raise Refused("unsupported", f"{mark_words(mark)} is no surface; scroll in it, or drag it.")
    return mark

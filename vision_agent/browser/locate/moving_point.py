"""Locates a point of the picture whose element has moved on since: the same place in the same element.

The scan and the picture of a look are taken some milliseconds apart, so what moves is in a different place in each. An
element may have been at the point if it can have come there in that time; the pixels decide which one it was.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser.locate.at_point import page_point
from vision_agent.browser.locate.identify import identify, recheck
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words, point_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.compare import shows_within
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

_SLOWEST_PX = 0.5
"""CSS pixels between two checks, with a picture between them; below that, an element stands still."""
_ROUNDING = 1.5
_FASTER = 2.0
"""How many times faster an element may have been at the look than it is now."""
_AROUND = 12.0
"""CSS pixels around the point that are compared, each way."""
_FARTHEST = 150.0
"""CSS pixels that an element may have moved between scan and picture to be considered."""
_MOST = 12
"""The most elements near the point among which the right one can be identified."""
_INSIDE = 4.0
"""CSS pixels that input keeps from the edge of an element."""
_HOLDERS = ("scroller", "surface", "frame")


async def locate_moving_point(
    page: Page, target: Point, seen: LiveObservation, image_limits: ImageLimits, deadline_s: float
) -> Location | None:
    """The same place in the element that was at a point of the picture; None if no moving element was there.

    Raises:
        Refused: it is not clear which element was there, or it has changed.
    """
    point, words = page_point(target, seen), point_words(target)
    there = [
        each
        for each in seen.observation.marks
        if each.source == "dom" and each.kind not in _HOLDERS and _grown(each.box, _FARTHEST).contains(point)
    ]
    began = time.monotonic()
    before = await _check(there, seen, deadline_s)
    now = Picture.decode(await capture(page, deadline_s), seen.clean.page, image_limits).masked(seen.masked)
    after = await _check(there, seen, deadline_s)
    seconds, apart_s = time.monotonic() - began, seen.observation.timings.get("page", _FARTHEST)
    found = []
    for mark in there:
        owner, one, other = seen.scan.owner(mark.key), before[mark.key], after[mark.key]
        if owner is not None and owner.place.is_only_moved and one is not None and other is not None:
            boxes = owner.place.box_to_page(one.rect), owner.place.box_to_page(other.rect)
            found.append(_Candidate(mark, *boxes, seconds, apart_s))
    found = [each for each in found if _grown(each.mark.box, each.sway).contains(point)]
    if not any(each.is_moving for each in found):
        return None
    meant = _only_one(point, found, seen, now)
    if meant is None or meant.sway > _FARTHEST or len(there) > _MOST:
        raise Refused(
            "moved", f"{words} was not used: what is there moves, so it is not clear what the point showed. Look again."
        )
    if not meant.is_moving:
        return None
    owner, element = await identify(meant.mark, seen, deadline_s)
    if element.is_disabled:
        raise Refused("disabled", f"{words} lies in {mark_words(meant.mark)}, which is disabled.")
    box, was = owner.place.box_to_page(element.rect), meant.mark.box
    x, y = _inside(point.x - was.x, was.width), _inside(point.y - was.y, was.height)
    place = Point(x=box.x + x, y=box.y + y)
    return Location(
        words=words, point=place, rung=4, frame=owner.frame, under=meant.mark, element=element, is_moving=True
    )


def _only_one(point: Point, found: Sequence[_Candidate], seen: LiveObservation, now: Picture) -> _Candidate | None:
    """The only element that can have been visible at the point; None if it is not clear which one was."""
    shown = [each for each in found if each.shows(point, seen, now)]
    if not shown:
        return None
    inner = min(shown, key=lambda each: each.mark.box.width * each.mark.box.height)
    around = [each for each in found if each is not inner and _contains(each.mark.box, inner.mark.box)]
    if any(each is not inner and each not in around for each in shown):
        return None
    # Beside something that looks like what is around it, the point may have been in either.
    if around and not _grown(inner.mark.box, -inner.sway).contains(point):
        return None
    return inner


async def _check(marks: Sequence[Mark], seen: LiveObservation, deadline_s: float) -> dict[str, LiveElement | None]:
    found = await asyncio.gather(*(recheck(mark, seen.scan, deadline_s) for mark in marks))
    return {mark.key: each for mark, each in zip(marks, found, strict=True)}


def _grown(box: Box, by: float) -> Box:
    return Box(x=box.x - by, y=box.y - by, width=max(0, box.width + 2 * by), height=max(0, box.height + 2 * by))


def _contains(outer: Box, inner: Box) -> bool:
    is_beside = inner.x < outer.x or inner.y < outer.y
    return not is_beside and inner.right <= outer.right and inner.bottom <= outer.bottom


def _inside(offset: float, size: float) -> float:
    """An offset in an element, kept from its edges."""
    edge = min(_INSIDE, size / 4)
    return min(size - edge, max(edge, offset))


@dataclass(frozen=True)
class _Candidate:
    """An element that may have been at the point when the picture was taken; boxes are on the page."""

    mark: Mark
    before: Box
    after: Box
    """Before and after the new picture."""
    seconds: float
    """Between these two."""
    apart_s: float
    """The longest time between the scan and the picture of the look."""

    @property
    def is_moving(self) -> bool:
        """Whether it moves at this moment."""
        return self.moved >= _SLOWEST_PX

    @property
    def moved(self) -> float:
        """CSS pixels that it moved while the new picture was taken."""
        return max(abs(self.after.x - self.before.x), abs(self.after.y - self.before.y))

    @property
    def sway(self) -> float:
        """CSS pixels that it may have moved between the scan and the picture of the look."""
        return _FASTER * self.moved / self.seconds * self.apart_s + _ROUNDING

    def shows(self, point: Point, seen: LiveObservation, now: Picture) -> bool:
        """Whether the new picture shows, at about the same place in it, what the old one shows at the point."""
        was, here = self.mark.box, self.after
        if abs(here.width - was.width) > _ROUNDING or abs(here.height - was.height) > _ROUNDING:
            return False
        wide, high = min(_AROUND, was.width / 3), min(_AROUND, was.height / 3)
        part = Box(x=point.x - wide, y=point.y - high, width=2 * wide, height=2 * high)
        left, top = min(self.before.x, here.x), min(self.before.y, here.y)
        right, bottom = max(self.before.right, here.right), max(self.before.bottom, here.bottom)
        far = self.sway + self.moved
        near = Box(
            x=here.x + part.x - was.x - far,
            y=here.y + part.y - was.y - far,
            width=2 * (wide + far),
            height=2 * (high + far),
        )
        swept = near.intersection(Box(x=left, y=top, width=right - left, height=bottom - top))
        return swept is not None and shows_within(seen.clean, now, part, swept)

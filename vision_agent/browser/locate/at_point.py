"""Locates a point of the picture: the pixels around it must still match, and its element must be unchanged."""

from __future__ import annotations

from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser.locate.identify import identify, recheck
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words, point_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.frames import ScannedFrame
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark
from vision_agent.vision.compare import same_at
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture

_MOVED = 3.0
"""CSS pixels; less is rounding."""
_HOLDERS = ("scroller", "surface")


def page_point(target: Point, seen: LiveObservation) -> Point:
    """A point of the picture in page coordinates.

    Raises:
        Refused: it lies outside the picture.
    """
    shot = seen.observation.marked
    if not shot.size.contains(target):
        words = point_words(target)
        raise Refused("outside", f"{words} lies outside the picture, which is {shot.size.words}.")
    return shot.map.to_page(target)


async def locate_point(
    page: Page, target: Point, seen: LiveObservation, image_limits: ImageLimits, deadline_s: float
) -> Location:
    """Where input at a point of the picture goes, with the mark that the point lies in.

    Raises:
        Refused: the page or the pixels there have changed, or the mark there has.
    """
    point, words = page_point(target, seen), point_words(target)
    main = seen.scan.frames[0]
    if await overlay_calls.document.token(page.main_frame, deadline_s) != main.token:
        raise Refused("moved", f"{words} was not used: the page has been replaced since the picture was taken.")
    now = Picture.decode(await capture(page, deadline_s), seen.clean.page, image_limits).masked(seen.masked)
    if not same_at(seen.clean, now, point):
        raise Refused("moved", f"{words} was not used: what the picture shows there has changed. Look again.")
    mark = await _reachable_mark(point, words, main, seen, deadline_s)
    if mark is None:
        return Location(words=words, point=point, rung=4)
    # Rows and tiles look alike: the same pixels do not prove the same element.
    if not mark.box.contains(point):
        raise Refused("moved", f"{words} was not used: {mark_words(mark)} is there now and was not before. Look again.")
    owner, element = await identify(mark, seen, deadline_s)
    if _has_moved(element, mark, owner):
        raise Refused("moved", f"{words} was not used: {mark_words(mark)}, which it is in, has moved. Look again.")
    return Location(words=words, point=point, rung=4, under=mark, element=element)


async def _reachable_mark(
    point: Point, words: str, main: ScannedFrame, seen: LiveObservation, deadline_s: float
) -> Mark | None:
    """The innermost mark that a click at a page point would reach, through frames; None if no mark is there."""
    here: ScannedFrame | None = main
    found = None
    by_key = {mark.key: mark for mark in seen.observation.marks}
    while here is not None:
        keys = await overlay_calls.element.keys_at_spot(here.frame, deadline_s, here.place.to_frame(point))
        found = next((by_key[key] for key in keys if key in by_key), found)
        children = [each for each in seen.scan.frames if each.parent is here]
        inner = next((each for each in children if each.element and each.element.key in keys), None)
        if inner is not None and inner.frame.is_detached():
            raise Refused("moved", f"{words} was not used: the frame there was closed.")
        here = inner
    was = None if found else smallest_mark_at_point(point, seen)
    owner = seen.scan.owner(was.key) if was else None
    if was is not None and owner is not None:
        await _must_still_be_shown(was, words, point, owner, seen, deadline_s)
    return found


async def _must_still_be_shown(
    was: Mark, words: str, point: Point, owner: ScannedFrame, seen: LiveObservation, deadline_s: float
) -> None:
    """Checks that the mark around a page point is still visible, although a click there would reach something unmarked.

    The picture alone is not enough: an overlay may be transparent, and an out-of-process frame may paint late.

    Raises:
        Refused: the mark is gone, or something else is in its place.
    """
    words = f"{words} was not used: {mark_words(was)} was there"
    now = await recheck(was, seen.scan, deadline_s)
    if now is None:
        raise Refused("gone", f"{words}, and is gone. Look again.")
    is_in_place = not _has_moved(now, was, owner)
    if is_in_place and await overlay_calls.element.is_outside_shape(
        owner.frame, deadline_s, was.key, owner.place.to_frame(point)
    ):
        return  # the mark was never there: it has a hole, or is not a rectangle
    if was.kind not in _HOLDERS:
        # Also if something unmarked covered part of it all along: the model can name the mark instead.
        raise Refused("moved", f"{words}, and something else is now. Look again, or name a mark.")
    reached = [owner.place.to_page(*spot) for spot in now.points]
    # A scroller or a surface may contain unmarked elements that were meant.
    if not any(abs(at.x - was.point.x) <= _MOVED and abs(at.y - was.point.y) <= _MOVED for at in reached):
        raise Refused("moved", f"{words}, and something else is now. Look again.")


def smallest_mark_at_point(point: Point, seen: LiveObservation) -> Mark | None:
    """The smallest marked element that was at a page point; for a drawn target, its surface."""
    at = [mark for mark in seen.observation.marks if mark.source == "dom" and mark.box.contains(point)]
    return min(at, key=lambda mark: mark.box.width * mark.box.height, default=None)


def _has_moved(element: LiveElement, mark: Mark, owner: ScannedFrame) -> bool:
    """Whether an element has left the box of its mark; for one that was cut off, whether its visible part has."""
    if not owner.place.is_only_moved:
        return False
    now, box = owner.place.box_to_page(element.rect), mark.box
    inside = box.x >= now.x - _MOVED and box.y >= now.y - _MOVED
    return not (inside and box.right <= now.right + _MOVED and box.bottom <= now.bottom + _MOVED)

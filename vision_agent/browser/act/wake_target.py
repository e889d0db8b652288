"""Shows a target that has hidden since it was seen, because its player hides controls while the pointer rests.

The pointer is moved to where the target was, which commits to nothing. Whether the target is back, and still what it
was, is for `locate` to say: nothing here lets an action through.
"""

from __future__ import annotations

from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser.locate.click_point import choose_click_point
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark


async def wake_element(page: Page, mark: Mark, seen: LiveObservation, deadline_s: float) -> bool:
    """Whether the pointer was moved to where a hidden element was.

    It is not if the element is not hidden but covered, if something else lies there now, or if an element that is gone
    was not in a player.
    """
    owner = seen.scan.owner(mark.key)
    if owner is None or owner.frame.is_detached():
        return False
    try:
        spot = await overlay_calls.element.spot_to_show(
            owner.frame, deadline_s, mark.key, owner.place.to_frame(mark.point)
        )
        if spot is None:
            return False
        point = await choose_click_point(owner, spot.zoom, [spot.at], mark_words(mark), seen, deadline_s)
    except (Refused, FrameSilent):
        return False  # a frame around it does not show it
    await _move(page, point)
    return True


async def wake_drawn(page: Page, surface: Mark, point: Point, seen: LiveObservation, deadline_s: float) -> bool:
    """Whether the pointer was moved to where a thing was drawn; not if its surface is no longer visible there."""
    owner = seen.scan.owner(surface.key)
    if owner is None or owner.frame.is_detached():
        return False
    try:
        shown = await overlay_calls.element.shows_points(
            owner.frame, deadline_s, surface.key, [owner.place.to_frame(point)]
        )
    except FrameSilent:
        return False
    if not shown.are_shown[0]:
        return False
    await _move(page, point)
    return True


async def _move(page: Page, point: Point) -> None:
    """Moves the pointer to a point, and at least one pixel if it is there already."""
    await page.mouse.move(point.x - 1, point.y)
    await page.mouse.move(point.x, point.y)

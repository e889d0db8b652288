"""Locates the target of an action: a live element and the point to click on it, or a point whose pixels still match.

The target is rechecked right before the action. If in doubt it is refused, never guessed; a refusal says what was found
and what could help.
Where to click: `_locate_mark` scrolls the element into view and gets candidate points; `click_point` chooses one.
"""

from __future__ import annotations

from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser.locate.at_point import locate_point
from vision_agent.browser.locate.click_point import choose_click_point
from vision_agent.browser.locate.identify import NOT_SHOWN, identify, reveal_frames
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import covered_sentence, mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.element import Reveal
from vision_agent.browser.refusal import Refused
from vision_agent.vision.image_limits import ImageLimits

_POINTS = 5
"""Candidate points for a click."""
_WAYS_TO_SHOW: tuple[tuple[Reveal, bool], ...] = ((True, False), ("always", False), ("always", True))
"""Whether to scroll the element into view, and whether the frames around it too; tried in order until one works."""
_AS_IT_IS: tuple[tuple[Reveal, bool], ...] = ((False, False),)


async def locate(
    page: Page,
    target: int | Point,
    seen: LiveObservation,
    image_limits: ImageLimits,
    deadline_s: float,
    *,
    reveal: bool = True,
    pointed: bool = False,
) -> Location:
    """Where input to a mark or to a point of the picture goes, in page coordinates.

    `reveal`: scroll an element into view first. `pointed`: the pointer is on it, which may have added words to it.

    Raises:
        Refused: it is unknown, gone, changed, covered, disabled or moved; the sentence says which and what could help.
        BrowserUnavailable: the browser is gone.
    """
    try:
        if isinstance(target, Point):
            return await locate_point(page, target, seen, image_limits, deadline_s)
        return await _locate_mark(target, seen, deadline_s, _WAYS_TO_SHOW if reveal else _AS_IT_IS, pointed=pointed)
    except FrameSilent as error:
        raise Refused("timed_out", f"The page did not answer when {target} was rechecked: {error}.") from error


async def _locate_mark(
    number: int, seen: LiveObservation, deadline_s: float, ways: tuple[tuple[Reveal, bool], ...], *, pointed: bool
) -> Location:
    """The live element of a mark, and the point to click on it."""
    mark = seen.observation.mark(number)
    if mark is None:
        known = [mark.number for mark in seen.observation.marks]
        span = f"; the listing has {min(known)} to {max(known)}" if known else "; the listing is empty"
        raise Refused("unknown_mark", f"There is no mark {number} in this observation{span}.")
    words = mark_words(mark)
    trouble: Refused | None = None
    # An element in view may still be under a sticky header, and a frame may be taller than its visible part.
    for reveal, with_frames in ways:
        if with_frames and (above := seen.scan.owner(mark.key)) is not None:
            await reveal_frames(above, deadline_s)
        owner, element = await identify(mark, seen, deadline_s, reveal=reveal, points=_POINTS, pointed=pointed)
        if element.is_disabled:
            raise Refused("disabled", f"{words} is disabled. Something else must be done first.")
        try:
            if not element.is_visible:
                raise Refused("covered", NOT_SHOWN.format(words))
            if not element.points:
                raise Refused("covered", covered_sentence(words, element.obstacle, seen))
            point = await choose_click_point(owner, element.zoom, element.points, words, seen, deadline_s)
            break
        except Refused as refusal:
            if refusal.refusal != "covered":
                raise
            trouble = trouble or refusal
    else:
        assert trouble is not None
        raise trouble
    return Location(
        words=words,
        point=point,
        rung=1,
        mark=mark,
        frame=owner.frame,
        locator=overlay.element_locator(owner.frame, mark.key),
        element=element,
    )

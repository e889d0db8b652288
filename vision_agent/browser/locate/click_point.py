"""Chooses the point of a click: the first candidate that no frame around its own hides.

The candidates come from the overlay, best first: points at which a hit test reaches the element in its own document
(`recheck.js` tests those of `samplePoints` and `denseSamplePoints` in `hit_test.js`). The frames around can only rule
them out.
"""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.actions import Point
from vision_agent.browser.locate.wording import covered_sentence
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frame_place import FramePlace, Spot, ViewportOffset, main_frame_place
from vision_agent.browser.page.frames import FrameInParent, ScannedFrame
from vision_agent.browser.refusal import Refused


async def choose_click_point(
    owner: ScannedFrame,
    zoom: ViewportOffset,
    spots: Sequence[Spot],
    words: str,
    seen: LiveObservation,
    deadline_s: float,
) -> Point:
    """The point to click: the first of `spots` in `owner` that every frame around it shows, in CSS pixels of the page.

    Raises:
        Refused: none of the spots is visible, or the frame is gone.
    """
    place, steps = await _place_now(owner, zoom, words, deadline_s)
    on_page = [place.to_page(*spot) for spot in spots]
    for inside, around in steps:
        local = [around.to_frame(point) for point in on_page]
        answer = await overlay_calls.element.shows_points(inside.parent.frame, deadline_s, inside.key, local)
        on_page = [point for point, is_shown in zip(on_page, answer.are_shown, strict=True) if is_shown]
        if not on_page:
            raise Refused("covered", covered_sentence(words, next(iter(answer.obstacles), None), seen))
    return on_page[0]


async def place_now(owner: ScannedFrame, zoom: ViewportOffset, words: str, deadline_s: float) -> FramePlace:
    """Where the frame of an element lies on the page at this moment. `zoom`: of its own document.

    Raises:
        Refused: the frame is gone or has no size.
    """
    return (await _place_now(owner, zoom, words, deadline_s))[0]


async def _place_now(
    owner: ScannedFrame, zoom: ViewportOffset, words: str, deadline_s: float
) -> tuple[FramePlace, list[tuple[FrameInParent, FramePlace]]]:
    """The place of a frame, and each frame on the way to it with the place of the one around it."""
    place = main_frame_place(zoom)
    steps: list[tuple[FrameInParent, FramePlace]] = []
    for inside in owner.chain():
        now = await overlay_calls.element.locate_frame(inside.parent.frame, deadline_s, inside.key)
        if now is None:
            raise Refused("gone", f"{words} is gone: its frame was closed.")
        if inside.parent.parent is None:
            place = main_frame_place(now.zoom)
        if now.plane is None:
            raise Refused("covered", f"{words} is no longer visible: its frame has no size.")
        steps.append((inside, place))
        place = place.child_place(now.plane)
    return place, steps

"""A picture of the page as it is now, in which hidden values are masked as in the pictures of the record.

Unlike a look it finds nothing to act on, waits for nothing, and disturbs no look that is under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from vision_agent.browser.observe.shown_secrets import Find, shown_between, shown_meanwhile, shown_secrets
from vision_agent.browser.page import closed_shadow, overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.frame_place import FramePlace
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.shown_words import LaterWords, LiveWords
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture

_MOST_FRAMES = 30
_MOST_NESTED = 5


class NotMasked(Exception):
    """The picture could not be masked, and why."""


async def masked_picture(page: Page, view: Box, find: Find, masked_keys: Collection[str], deadline_s: float) -> Picture:
    """The page now, without hidden values. `masked_keys`: the keys of fields that are masked whatever they show.

    Raises:
        NotMasked: it is not known where the hidden values are; nothing of the picture may be shown.
        BrowserUnavailable: the browser is gone.
    """
    try:
        async with asyncio.timeout(deadline_s):
            before = await _watch(page, deadline_s)
            data = await capture(page, deadline_s)
            places = await _places(page, before[page.main_frame].place, deadline_s)
            shown = []
            for frame, words in before.items():
                later = await overlay_calls.shown_words.later_words(frame, deadline_s, words.words, words.place)
                shown.append((words, later, places.get(frame) != words.place))
            if any(later.unread for _, later, _ in shown):
                await closed_shadow.open_roots(page, deadline_s)  # the next picture shows what is in them
            picture = await asyncio.to_thread(Picture.decode, data, view)
            return await asyncio.to_thread(_mask, picture, shown, find, frozenset(masked_keys), view)
    except TimeoutError:
        raise NotMasked("the page does not answer") from None
    except (FrameSilent, PlaywrightError) as error:
        raise NotMasked("the page changes") from error


async def _watch(page: Page, deadline_s: float) -> dict[Frame, LiveWords]:
    """The words of every frame that shows; from now on each notes what it shows later."""
    main = await overlay_calls.shown_words.live_words(page.main_frame, deadline_s, None)
    found = {page.main_frame: main}
    for frame, place in (await _places(page, main.place, deadline_s)).items():
        if frame is not page.main_frame:
            found[frame] = await overlay_calls.shown_words.live_words(frame, deadline_s, place)
    return found


async def _places(page: Page, main: FramePlace, deadline_s: float) -> dict[Frame, FramePlace]:
    """The frames that show, parents first, and where they lie on the page."""
    places, level = {page.main_frame: main}, [page.main_frame]
    for _ in range(_MOST_NESTED):
        children = [child for frame in level for child in frame.child_frames if not child.is_detached()]
        if len(places) + len(children) > _MOST_FRAMES:
            raise NotMasked("the page has too many frames")
        level = []
        planes = await asyncio.gather(*(_plane(child, deadline_s) for child in children))
        for child, plane in zip(children, planes, strict=True):
            if plane is not None and child.parent_frame is not None:
                places[child] = places[child.parent_frame].child_place(plane)
                level.append(child)
        if not level:
            return places
    raise NotMasked("the page has frames in frames in frames")


async def _plane(frame: Frame, deadline_s: float) -> Sequence[float] | None:
    return await overlay_calls.element.frame_plane(await frame.frame_element(), deadline_s)


def _mask(
    picture: Picture,
    shown: Sequence[tuple[LiveWords, LaterWords, bool]],
    find: Find,
    masked_keys: Collection[str],
    view: Box,
) -> Picture:
    """`shown`: what each frame showed before and after, and whether it has moved."""
    words = [word for before, _, _ in shown for word in before.words]
    parts = shown_secrets(words, find)
    boxes = [*parts.boxes(picture.is_plain), *shown_between(words, find, picture.is_plain).boxes(picture.is_plain)]
    keys = {*masked_keys, *parts.fields}
    for before, later, has_moved in shown:
        if later.token != before.token or later.states is None:
            raise NotMasked("the page changes too fast")
        states = (before.words, *(state.words for state in later.states))
        filled = [box for state in states for word in state if word.field in keys for box in word.boxes]
        met = [*shown_meanwhile(before.words, later.states, find), *filled, *before.veiled, *later.veiled]
        if has_moved and (met or shown_secrets(before.words, find).parts):
            raise NotMasked("a frame with a secret moves")
        boxes += (box for box in (*met, *later.unread) if box.width and box.height and not picture.is_plain(box))
    return picture.masked([box for each in boxes if (box := each.intersection(view))])

"""Brings the target of an action into view if its mark was seen earlier and has since been scrolled out of view.

It is then located, compared and hit-tested like any mark, with what was known when it was last seen: a row that the
page has meanwhile filled with something else is refused.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent.actions import Action, Drag, Offset, Zoom, mark_in, targets_of
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.moving_target import RESTLESS
from vision_agent.browser.locate import relocate
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import listeners, overlay
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.frame_place import main_frame_place
from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay_calls.scan import FoundMark
from vision_agent.browser.page.settle import is_quiet
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark
from vision_agent.policy.approval import risks_taken
from vision_agent.vision.picture import Picture

_EARLY_LOOKS = 2
_MOVED_PX = 0.5


class _Look(NamedTuple):
    """The page as it is once a mark has been scrolled into view."""

    found: FoundMark | None
    scan: Scan
    clean: Picture


async def bring_into_view(sender: InputSender, action: Action) -> None:
    """Makes the sender see the page as if the look had been made with the action's target in view.

    Does nothing if the target is in view. `sender.brought` then has no other marks, because those have moved.

    Raises:
        Refused: the target is gone or has changed, cannot be reached, or the action needs it in the picture.
    """
    numbers = [number for each in targets_of(action) if (number := mark_in(each)) is not None]
    seen = sender.seen.observation
    away = [mark for number in numbers if seen.mark(number) is None and (mark := seen.known_mark(number))]
    if not away:
        return
    # A zoom shows a part of the picture.
    if isinstance(action, Zoom) or (isinstance(action, Drag) and not is_between_marks(action)):
        raise Refused("outside", f"{mark_words(away[0])} is out of view. Scroll to it, then {action.kind}.")
    await bring(sender, away, action)


def is_between_marks(drag: Drag) -> bool:
    """Whether a drag names no places in the picture, which scrolling leaves behind."""
    return not drag.path and isinstance(drag.source, int) and isinstance(drag.target, int | Offset)


async def bring(sender: InputSender, marks: Sequence[Mark], action: Action) -> None:
    """Brings marks into view, one after the other, and makes the sender see the page as it is then.

    Raises:
        Refused: one is gone or has changed, or cannot be reached.
    """
    for mark in marks:
        await _bring(sender, mark, action)
    now, numbers = sender.seen, {each.number for each in marks}
    here = tuple(mark for mark in now.observation.marks if mark.number in numbers)
    sender.brought = replace(now, observation=now.observation.model_copy(update={"marks": here}))


async def _bring(sender: InputSender, mark: Mark, action: Action) -> None:
    if sender.seen.observation.mark(mark.number) is None:
        sender.seen = _as_seen_earlier(sender.seen, mark)
    sender.brought = sender.seen
    at = await sender.locate(mark.number)
    if at.element is None or not at.element.was_scrolled or at.locator is None:
        await _refresh(sender, mark.number, action)
        return
    early = await _look_early(sender, at)
    if early is None:
        await _wait_until_it_stops(sender, at)
        await _refresh(sender, mark.number, action)
        return
    look, at = early
    await _refresh(sender, mark.number, action, look)
    sender.note_located(at)


async def _look_early(sender: InputSender, at: Location) -> tuple[_Look, Location] | None:
    """A look made while the page comes to rest after it was scrolled, and where the target is; None if none shows the
    page at rest.

    It counts if nothing has changed since it began, and the target has not moved since: from `at`, the first time.
    A list that draws its rows as it is scrolled needs two.
    """
    seen = sender.seen.observation
    # Documents do not report when what they draw changed.
    if not seen.at_rest or any(mark.kind == "surface" for mark in seen.marks):
        return None
    for _ in range(_EARLY_LOOKS):
        began, number = time.monotonic(), _number(at)
        is_in_frame = at.frame is not sender.page.main_frame
        look = await (_look_again(sender, number) if is_in_frame else _picture_only(sender))
        try:
            now, is_at_rest = await asyncio.gather(
                sender.locate(number, reveal=False, waits=False),
                is_quiet(sender.tabs, time.monotonic() - began, sender.deadline_s),
            )
        except Refused:
            return None
        if now.mark is None or at.mark is None or now.mark.key != at.mark.key:
            return None
        if is_at_rest and _is_where_it_was(now, at):
            return (look if is_in_frame else look._replace(found=_found_now(sender, now))), now
        at = now
    return None


def _number(at: Location) -> int:
    assert at.mark is not None
    return at.mark.number


def _is_where_it_was(now: Location, then: Location) -> bool:
    assert now.element is not None
    assert then.element is not None
    return all(abs(here - there) < _MOVED_PX for here, there in zip(now.element.rect, then.element.rect, strict=True))


def _found_now(sender: InputSender, at: Location) -> FoundMark | None:
    """The mark as a scan of the page's own document would find it now."""
    assert at.mark is not None
    was, element = sender.seen.scan.found(at.mark.key), at.element
    if was is None or element is None or element.outline is None:
        return None
    place, (rect, corners) = main_frame_place(element.zoom), element.outline
    points = tuple(place.to_page(*spot) for spot in element.points)
    box = place.box_to_page(rect, corners)
    return was._replace(box=box, points=points, state=element.state, fingerprint=element.fingerprint)


async def _wait_until_it_stops(sender: InputSender, at: Location) -> None:
    """Pages redraw lists as they scroll, so a target is compared again once it has stopped moving.

    Raises:
        Refused: it does not stop.
    """
    assert at.locator is not None
    try:
        handle = await at.locator.element_handle(timeout=sender.timeout_ms)
        await handle.wait_for_element_state("stable", timeout=sender.timeout_ms)
    except PlaywrightTimeout:
        raise Refused("moved", RESTLESS.format(at.words)) from None
    except PlaywrightError as error:
        if overlay.is_browser_gone(error) or overlay.is_crash_error(error):
            raise
        # The element has left the page meanwhile: `_refresh` locates what replaced it.


def _as_seen_earlier(seen: LiveObservation, mark: Mark) -> LiveObservation:
    """The observation with an earlier mark as one of its marks, with what was found of it then."""
    observation = seen.observation.model_copy(update={"marks": (*seen.observation.marks, mark)})
    scan = replace(seen.scan, marks=[*seen.scan.marks, seen.earlier[mark.key]])
    return replace(seen, observation=observation, scan=scan)


async def _look_again(sender: InputSender, number: int) -> _Look:
    # Concurrently: Chromium takes a picture two frames after it is asked.
    fresh, clean = await asyncio.gather(relocate.rescan(sender.seen, sender.deadline_s), _picture(sender))
    return _Look(fresh.found(_mark(sender, number).key), fresh, clean)


async def _picture_only(sender: InputSender) -> _Look:
    """The page as it is now, without a scan. What listens for clicks is learned meanwhile."""
    _, clean = await asyncio.gather(listeners.report_listeners(sender.page, sender.deadline_s), _picture(sender))
    return _Look(None, sender.seen.scan, clean)


async def _picture(sender: InputSender) -> Picture:
    seen = sender.seen
    raw = await capture(seen.page, sender.deadline_s)
    picture = await asyncio.to_thread(Picture.decode, raw, seen.clean.page, sender.image_limits)
    return picture.masked(seen.masked)


def _mark(sender: InputSender, number: int) -> Mark:
    return next(each for each in sender.seen.observation.marks if each.number == number)


async def _refresh(sender: InputSender, number: int, action: Action, look: _Look | None = None) -> None:
    """Notes where the mark is now, its state, and how the page looks before the action.

    Raises:
        Refused: it is not visible, or has risks that it did not have when it was last seen.
    """
    now, fresh, clean = look or await _look_again(sender, number)
    if now is None or now.fingerprint != _mark(sender, number).fingerprint:
        await sender.locate(number)  # refuses it, or finds what the page drew in its place
        now, fresh, clean = await _look_again(sender, number)
    seen, mark = sender.seen, _mark(sender, number)
    box = now.box.intersection(seen.clean.page) if now is not None else None
    if now is None or box is None:
        raise Refused("covered", f"{mark_words(mark)} could not be brought into view.")
    mark = mark.model_copy(update={"box": box, "point": now.points[0], "state": now.state})
    others = [each for each in seen.scan.marks if each.key != mark.key]
    was = seen.scan.found(mark.key)
    assert was is not None
    here = was._replace(box=now.box, points=now.points, rect=now.rect, whole=now.whole)
    scan = replace(fresh, marks=[*others, here])
    marks = tuple(mark if each.number == number else each for each in seen.observation.marks)
    observation = seen.observation.model_copy(update={"marks": marks})
    if not risks_taken(action, observation) <= seen.risks:
        raise Refused(
            "changed",
            f"{mark_words(mark)} carries a risk that it did not have when it was last seen. Scroll to it and look.",
        )
    sender.seen = replace(seen, observation=observation, scan=scan, clean=clean)

"""Brings the target of an action into view if its mark was seen earlier and has since been scrolled out of view.

It is then located, compared and hit-tested like any mark, with what was known when it was last seen: a row that the
page has meanwhile filled with something else is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent.actions import Action, Drag, Offset, Zoom, mark_in, targets_of
from vision_agent.browser.act.executor import Executor
from vision_agent.browser.act.moving_target import RESTLESS
from vision_agent.browser.locate import relocate
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.overlay_calls import FoundMark
from vision_agent.browser.refusal import Refused
from vision_agent.policy.approval import risks_taken
from vision_agent.types import Mark
from vision_agent.vision.picture import Picture


async def bring_into_view(executor: Executor, action: Action) -> None:
    """Makes the executor see the page as if the look had been made with the action's target in view.

    Does nothing if the target is in view. `executor.brought` then has no other marks, because those have moved.

    Raises:
        Refused: the target is gone or has changed, cannot be reached, or the action needs it in the picture.
    """
    numbers = [number for each in targets_of(action) if (number := mark_in(each)) is not None]
    seen = executor.seen.observation
    away = [mark for number in numbers if seen.mark(number) is None and (mark := seen.known_mark(number))]
    if not away:
        return
    # A zoom shows a part of the picture.
    if isinstance(action, Zoom) or (isinstance(action, Drag) and not is_between_marks(action)):
        raise Refused("outside", f"{mark_words(away[0])} is out of view. Scroll to it, then {action.kind}.")
    await bring(executor, away, action)


def is_between_marks(drag: Drag) -> bool:
    """Whether a drag names no places in the picture, which scrolling leaves behind."""
    return not drag.path and isinstance(drag.source, int) and isinstance(drag.target, int | Offset)


async def bring(executor: Executor, marks: Sequence[Mark], action: Action) -> None:
    """Brings marks into view, one after the other, and makes the executor see the page as it is then.

    Raises:
        Refused: one is gone or has changed, or cannot be reached.
    """
    for mark in marks:
        await _bring(executor, mark, action)
    now, numbers = executor.seen, {each.number for each in marks}
    here = tuple(mark for mark in now.observation.marks if mark.number in numbers)
    executor.brought = replace(now, observation=now.observation.model_copy(update={"marks": here}))


async def _bring(executor: Executor, mark: Mark, action: Action) -> None:
    if executor.seen.observation.mark(mark.number) is None:
        executor.seen = _as_seen_earlier(executor.seen, mark)
    executor.brought = executor.seen
    at = await executor.locate(mark.number)
    if at.element is not None and at.element.was_scrolled and at.locator is not None:
        # Pages redraw lists as they scroll, so the target is compared again once it has stopped moving.
        try:
            handle = await at.locator.element_handle(timeout=executor.timeout_ms)
            await handle.wait_for_element_state("stable", timeout=executor.timeout_ms)
        except PlaywrightTimeout:
            raise Refused("moved", RESTLESS.format(at.words)) from None
        except PlaywrightError as error:
            if overlay.is_browser_gone(error) or overlay.is_crash_error(error):
                raise
            # The element has left the page meanwhile: `_refresh` locates what replaced it.
    await _refresh(executor, mark.number, action)


def _as_seen_earlier(seen: LiveObservation, mark: Mark) -> LiveObservation:
    """The observation with an earlier mark as one of its marks, with what was found of it then."""
    observation = seen.observation.model_copy(update={"marks": (*seen.observation.marks, mark)})
    scan = replace(seen.scan, marks=[*seen.scan.marks, seen.earlier[mark.key]])
    return replace(seen, observation=observation, scan=scan)


async def _look_again(executor: Executor, number: int) -> tuple[Mark, FoundMark | None, Scan, bytes]:
    """The mark, what a new scan finds of it, that scan, and a picture of the page."""
    seen = executor.seen
    mark = next(each for each in seen.observation.marks if each.number == number)
    # Concurrently: Chromium takes a picture two frames after it is asked.
    fresh, raw = await asyncio.gather(
        relocate.rescan(seen, executor.deadline_s), capture(seen.page, executor.deadline_s)
    )
    return mark, fresh.found(mark.key), fresh, raw


async def _refresh(executor: Executor, number: int, action: Action) -> None:
    """Notes where the mark is now, its state, and how the page looks before the action.

    Raises:
        Refused: it is not visible, or has risks that it did not have when it was last seen.
    """
    mark, now, fresh, raw = await _look_again(executor, number)
    if now is None or now.fingerprint != mark.fingerprint:
        await executor.locate(number)  # refuses it, or finds what the page drew in its place
        mark, now, fresh, raw = await _look_again(executor, number)
    seen = executor.seen
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
    clean = Picture.decode(raw, seen.clean.page, executor.image_limits).masked(seen.masked)
    executor.seen = replace(seen, observation=observation, scan=scan, clean=clean)

"""Which fields of a page hold something else after an action, and whether it was scrolled. See `held_values.js`.

A script may change a value, a tick or a choice so that hardly a pixel differs, or out of view.
"""

from __future__ import annotations

import asyncio

from playwright.async_api import Frame

from vision_agent.browser.act.attempt import PageBefore
from vision_agent.browser.locate.wording import element_words, mark_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.fields import ChangedField, ChangedValues
from vision_agent.text.escape import safe_line

_MOST_FRAMES = 12
_TICKS = {"true": "is now ticked", "false": "is no longer ticked", "mixed": "is now partly ticked"}


async def remember_values(seen: LiveObservation, deadline_s: float) -> None:
    """Makes the documents that were seen remember what their fields hold."""
    frames = _frames(seen)
    await asyncio.gather(
        *(overlay_calls.fields.remember_values(frame, deadline_s) for frame in frames), return_exceptions=True
    )  # a frame that is silent or gone is reported where it is needed


async def value_changes(before: PageBefore, observer: Observer) -> list[str]:
    """What fields hold otherwise than when the action began, and what was scrolled, a clause each."""
    frames, deadline_s = _frames(before.seen), observer.settings.action_deadline_s
    found = await asyncio.gather(*(_changed(frame, deadline_s) for frame in frames))
    fields = [field for each in found for field in each.fields]
    said = [_words(field, before.seen, observer) for field in fields]
    if more := sum(each.count for each in found) - len(fields):
        said.append(f"{more} more field{'s hold' if more > 1 else ' holds'} something else")
    page, inner = found[0] if found else ChangedValues(), found[1:]
    if way := _way(page):
        said.append(f"the page was scrolled {way}")
    if page.has_scrolled_part or any(_way(each) or each.has_scrolled_part for each in inner):
        said.append("a part of the page was scrolled")
    return said


def _frames(seen: LiveObservation) -> list[Frame]:
    """The main frame, and those in which something was found."""
    owners = {mark.key.document for mark in seen.scan.marks}
    frames = [each.frame for i, each in enumerate(seen.scan.frames) if not i or each.token in owners]
    return [each for each in frames if not (each.is_detached() or overlay.is_silent(each))][:_MOST_FRAMES]


async def _changed(frame: Frame, deadline_s: float) -> ChangedValues:
    try:
        return await overlay_calls.fields.changed_values(frame, deadline_s)
    except FrameSilent:
        return ChangedValues()


def _words(field: ChangedField, seen: LiveObservation, observer: Observer) -> str:
    mark = next((each for each in seen.observation.marks if field.key and each.key == field.key), None)
    what = mark_words(mark) if mark else f"the {element_words(field.role, field.tag, field.name)}"
    is_secret = field.key in observer.masked_keys or (mark is not None and mark.state.masked)
    if field.now is None or is_secret:
        return f"{what} {'has another option chosen' if field.kind == 'choice' else 'holds something else'}"
    if field.kind == "tick":
        return f"{what} {_TICKS[field.now]}"
    if not field.now:
        return f"{what} is now empty"
    return f'{what} now {"shows" if field.kind == "choice" else "holds"} "{safe_line(field.now, 80)}"'


def _way(changed: ChangedValues) -> str:
    """Where the page was scrolled to; empty if it was not."""
    if abs(changed.down) >= 1:
        return "down" if changed.down > 0 else "up"
    if abs(changed.right) >= 1:
        return "to the right" if changed.right > 0 else "to the left"
    return ""

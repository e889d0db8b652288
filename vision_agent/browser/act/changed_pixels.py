"""Which pixels an action changed, and whether they are only hover and focus styles."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from math import inf

from playwright.async_api import Page

from vision_agent.browser.act.attempt import Attempt, PageBefore
from vision_agent.browser.act.first_picture import FirstPicture
from vision_agent.browser.locate.identify import recheck
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.compare import changed_apart_from, changed_share
from vision_agent.vision.picture import Picture

_NEAR = 48.0
"""CSS pixels around the point in which a change counts as near it."""
NOISE = 100
"""Pixels; a blinking caret changes fewer."""
SWITCHES = ("checked", "expanded", "pressed", "selected")
"""The parts of a control's state that are on or off."""
_DIGIT = 4
"""Pixels; in a text that changed, a 1 that became a 7 differs by more."""
_RING = 8.0
"""CSS pixels around a control in which a focus ring is drawn."""


@dataclass(frozen=True)
class ChangedPixels:
    """How two pictures of the page differ."""

    changed: float
    """Picture pixels that changed; infinite without a picture to compare with."""
    near: float | None = None
    """Share of the pixels near the point that changed."""
    elsewhere: float | None = None
    """Share of all other pixels that changed."""
    after: Picture | None = None
    """The page now; None for another tab."""


async def picture_after(page: Page, observer: Observer, first: FirstPicture | None = None) -> bytes | None:
    """A tab as it is now, or as it was when `first` was begun in it, encoded; None if it gives no picture."""
    try:
        if first is not None and first.page is page:
            return await first.png()
        return await capture(page, observer.settings.scan_deadline_s)
    except FrameSilent:
        return None


def changed_pixels(
    raw: bytes | None, attempt: Attempt, before: PageBefore, page: Page, observer: Observer
) -> ChangedPixels:
    """How the picture of a tab differs from the one before the action, near its point and elsewhere."""
    if page is not before.page:
        return ChangedPixels(inf)
    if raw is None:
        return ChangedPixels(0.0)  # the action is done; the next look reports that the page gives no picture
    after = Picture.decode(raw, before.seen.clean.page, observer.image_limits).masked(before.seen.masked)
    everywhere = changed_share(before.seen.clean, after)
    whole = after.size.width * after.size.height
    if attempt.at is None:
        return ChangedPixels(everywhere * whole, None, round(everywhere, 4), after)
    point, view = attempt.at.point, before.seen.clean.page
    around = Box(x=point.x - _NEAR, y=point.y - _NEAR, width=2 * _NEAR, height=2 * _NEAR).intersection(view)
    if around is None:
        return ChangedPixels(everywhere * whole, None, round(everywhere, 4), after)
    near = changed_share(before.seen.clean, after, around)
    share = around.width * around.height / (view.width * view.height)
    elsewhere = max(0.0, (everywhere - near * share) / (1 - share)) if share < 1 else 0.0
    return ChangedPixels(everywhere * whole, round(near, 4), round(elsewhere, 4), after)


@dataclass(frozen=True)
class Paint:
    """Page boxes in which hover, focus or a press change styles."""

    only: tuple[Box, ...]
    """A difference here is no effect."""
    judged: tuple[Box, ...]
    """A difference here counts, even inside `only`."""
    own: tuple[Box, ...]
    """Where the document reports that the target itself changed, or that a text says something else."""
    was_switched: bool
    """The target was ticked, pressed or selected, if only for a moment."""
    asks_back: bool
    """Buttons came up since the press, other than in a mere message: the page may be asking something first."""


async def find_paint(attempt: Attempt, before: PageBefore, observer: Observer) -> Paint | None:
    """Where a difference is only styling of the target; None if any difference may be an effect."""
    mark = (attempt.at.mark or attempt.at.under) if attempt.at else None
    if mark is None:
        return None
    paint = await paint_on(mark, before.seen, before.began, observer, is_press=not attempt.hover_counts)
    return None if attempt.hover_counts else paint


async def paint_on(
    mark: Mark, seen: LiveObservation, began: float, observer: Observer, *, is_press: bool = True
) -> Paint | None:
    """Where a difference is only styling of a mark that was pressed after `began`; None if that cannot be told."""
    owner = seen.scan.owner(mark.key)
    if owner is None or mark.source != "dom" or mark.kind in ("surface", "scroller", "guess"):
        return None
    if mark.state.masked or mark.key in observer.masked_keys or mark.state.input_type == "password":
        return None  # only the picture shows that its hidden value changed
    deadline_s = observer.settings.action_deadline_s
    try:
        left = await _unchanged_marks(mark, seen, deadline_s)
        answer = await overlay_calls.element.find_paint(
            owner.frame,
            deadline_s,
            mark.key,
            act=began,
            since_ms=(time.monotonic() - began) * 1000,
            lost=[each.key for each in left],
            is_press=is_press,
        )
    except FrameSilent:
        return None
    if answer is None:
        return None
    rings = [with_focus_ring(each.box) for each in (mark, *left)]
    paint, judged, own = (
        tuple(map(owner.place.box_to_page, each)) for each in (answer.paint, answer.judged, answer.own)
    )
    return Paint((*paint, *rings), judged, own, answer.was_switched, answer.asks_back)


async def _unchanged_marks(mark: Mark, seen: LiveObservation, deadline_s: float) -> list[Mark]:
    """Marks that had the pointer or the focus before, and have the same value and state now."""
    marks = seen.observation.marks
    left = [each for each in marks if each.key != mark.key and (each.state.hovered or each.state.focused)]
    left = [each for each in left if each.source == "dom" and each.kind != "surface" and not each.state.masked]
    answers = await asyncio.gather(*(recheck(each, seen.scan, deadline_s) for each in left))
    return [each for each, now in zip(left, answers, strict=True) if now and _has_same_state(each, now)]


def _has_same_state(mark: Mark, now: LiveElement) -> bool:
    return all(getattr(now.state, name) == getattr(mark.state, name) for name in ("value", *SWITCHES))


def with_focus_ring(box: Box) -> Box:
    """The box of a control with room for the ring that shows its focus."""
    return Box(x=box.x - _RING, y=box.y - _RING, width=box.width + 2 * _RING, height=box.height + 2 * _RING)


def judge_pixels(paint: Paint | None, pixels: ChangedPixels, seen: LiveObservation) -> tuple[bool, bool]:
    """Whether all changed pixels are only paint, and whether any others changed."""
    is_otherwise = pixels.changed > NOISE
    if paint is None or pixels.after is None:
        return False, is_otherwise
    clean = seen.clean
    if paint.own and changed_apart_from(clean, pixels.after, [clean.page], paint.own) > _DIGIT:
        return False, True
    is_paint = is_otherwise and changed_apart_from(clean, pixels.after, paint.only, paint.judged) <= NOISE
    return is_paint, is_otherwise and not is_paint

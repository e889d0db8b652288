"""Reads the page after an action, once it has settled: its target, the focus, the title, and which pixels changed."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import NamedTuple

from playwright.async_api import Page

from vision_agent.browser.act.attempt import Attempt, PageBefore
from vision_agent.browser.act.changed_pixels import (
    SWITCHES,
    ChangedPixels,
    Paint,
    changed_pixels,
    find_paint,
    judge_pixels,
    picture_after,
)
from vision_agent.browser.act.first_picture import FirstPicture, has_surfaces, may_read_at_once
from vision_agent.browser.locate.context_changed import describe_change
from vision_agent.browser.locate.identify import recheck
from vision_agent.browser.locate.location import Location
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.answer_parts import Expectation
from vision_agent.browser.page.overlay_calls.element import LiveElement
from vision_agent.browser.page.settle import is_quiet, settle
from vision_agent.browser.page.tabs import Tabs
from vision_agent.browser.refusal import Refused
from vision_agent.observation import Mark, MarkState
from vision_agent.text.escape import safe_line

NO_ANSWER = "the page has not answered since. Look again before repeating it."
ANSWERS_S = 1.0
"""How long a page that was silent, or in which an action was cut off, may take to answer; after that, no effect is
looked for."""
_DIGITS = re.compile(r"\W*\d+\W*")
_IS_NOW = {"false": "it is no longer {}", "mixed": "it is now partly {}"}
_READING_S = 0.05
"""Reading the page takes about this long, most of it for a picture: three frames."""


@dataclass(frozen=True)
class PageAfter:
    """What the page shows after an action."""

    is_other: bool
    """The tab shows another document; nothing is known of the target then."""
    now: LiveElement | None
    value: str | None
    changes: tuple[str, ...]
    """Sentences about the target, the focus and the title."""
    pixels: ChangedPixels
    paint: Paint | None
    is_painted: bool
    """Whether all changed pixels are only those of hover and focus styles."""
    is_seen: bool
    """Whether other pixels changed."""


class _Answers(NamedTuple):
    """What the page answered, before the pictures are compared."""

    page: Page
    is_other: bool
    now: LiveElement | None
    value: str | None
    changes: tuple[str, ...]
    picture: bytes | None
    paint: Paint | None


async def read_page_after(
    attempt: Attempt, before: PageBefore, tabs: Tabs, observer: Observer, first: FirstPicture | None = None
) -> PageAfter:
    """What the page shows after an action, once it has settled or the deadline has passed.

    `first`: a picture that was begun when the last input had been sent.

    Raises:
        Refused: the page does not answer.
    """
    try:
        return await _read_settled_page(attempt, before, tabs, observer, first)
    except FrameSilent:
        return await _read_late(attempt, before, tabs, observer)


async def _read_settled_page(
    attempt: Attempt, before: PageBefore, tabs: Tabs, observer: Observer, first: FirstPicture | None = None
) -> PageAfter:
    """The page, once it has settled or the deadline has passed.

    The last part of the quiet time that proves it has settled is used to read it. If something changes meanwhile, it
    waits for that and reads everything again. A page at rest is also read at once: if it shows a plain effect and does
    not change while it is read, that ends the wait; the next action or look waits for the rest of the quiet.

    Raises:
        FrameSilent: the page does not answer.
    """
    settings, began = observer.settings, time.monotonic()
    whole, until = settings.quiet_s, began + settings.settle_deadline_s
    if _reads_at_once(attempt, before, whole):
        read, is_quiet_since = await _read_at_once(attempt, before, tabs, observer, first, until)
        if is_quiet_since and _is_plain(read):
            return read
    for quiet_s in _waits(before, whole):
        has_settled = await settle(tabs, quiet_s, until - time.monotonic(), input_at=began)
        read = _compare(await _ask_page(attempt, before, tabs, observer), attempt, before, observer)
        if not has_settled or quiet_s == whole:
            break
        await asyncio.sleep(began + whole - time.monotonic())
        if await is_quiet(tabs, whole, max(until - time.monotonic(), _READING_S)):
            break
    return read


async def _read_at_once(
    attempt: Attempt, before: PageBefore, tabs: Tabs, observer: Observer, first: FirstPicture | None, until: float
) -> tuple[PageAfter, bool]:
    """The page as it is now, and whether it did not change while it was asked."""
    asked = first.begun if first else time.monotonic()
    answers = await _ask_page(attempt, before, tabs, observer, first)
    needed = time.monotonic() - asked
    # At the same time, because comparing the pictures needs nothing from the page.
    return await asyncio.gather(
        asyncio.to_thread(_compare, answers, attempt, before, observer),
        is_quiet(tabs, needed, max(until - time.monotonic(), _READING_S)),
    )


async def _read_late(attempt: Attempt, before: PageBefore, tabs: Tabs, observer: Observer) -> PageAfter:
    """The page that was silent at first, as one that a busy machine is about to show.

    Raises:
        Refused: it does not answer now, either.
    """
    try:
        await overlay_calls.document.token(tabs.active.main_frame, ANSWERS_S)
        return await _read_settled_page(attempt, before, tabs, observer)
    except FrameSilent as error:
        raise Refused("timed_out", f"{attempt.sentence}, but {NO_ANSWER}") from error


def _reads_at_once(attempt: Attempt, before: PageBefore, quiet_s: float) -> bool:
    """Whether a plain effect may be read before the page has been quiet for as long as it should."""
    # A page may take back or reformat what was typed or ticked, and on one that never settles that is harder to detect.
    may_be_taken_back = attempt.expected is not None or attempt.wants_ticked is not None
    # A missed click may be answered late by what is around the target, and if its target disappears, that looks like an
    # effect.
    return may_read_at_once(before.seen, quiet_s) and not (may_be_taken_back or attempt.missed)


def _waits(before: PageBefore, whole: float) -> tuple[float, ...]:
    """The seconds of quiet after each of which the page is read, in turn, until it has settled."""
    soon = whole - min(_READING_S, whole / 2)
    return (whole,) if has_surfaces(before.seen) else (soon, whole)


def _is_plain(read: PageAfter) -> bool:
    """Whether an effect shows in the same document; a new one goes on loading."""
    return not read.is_other and (bool(read.changes) or read.is_seen)


async def _ask_page(
    attempt: Attempt, before: PageBefore, tabs: Tabs, observer: Observer, first: FirstPicture | None = None
) -> _Answers:
    settings, page = observer.settings, tabs.active
    # Concurrently: Chromium takes a picture two frames after it is asked.
    is_other, (now, value, changes), retitled, picture, paint = await asyncio.gather(
        _is_other_document(before, tabs, settings.action_deadline_s),
        _read_back(attempt.at, before, observer),
        _title_change(before, page, settings.action_deadline_s),
        picture_after(page, observer, first),
        find_paint(attempt, before, observer),
    )
    return _Answers(page, is_other, now, value, (*changes, *retitled), picture, paint)


def _compare(answers: _Answers, attempt: Attempt, before: PageBefore, observer: Observer) -> PageAfter:
    pixels = changed_pixels(answers.picture, attempt, before, answers.page, observer)
    seen = (pixels, answers.paint, *judge_pixels(answers.paint, pixels, before.seen))
    if answers.is_other:
        return PageAfter(True, None, None, (), *seen)
    return PageAfter(False, answers.now, answers.value, answers.changes, *seen)


async def _is_other_document(before: PageBefore, tabs: Tabs, deadline_s: float) -> bool:
    """Whether the tab that was acted on now shows another document."""
    page = tabs.active
    if page is not before.page:
        return False
    token = await overlay_calls.document.token(page.main_frame, deadline_s)
    if not before.seen.scan.frames:  # it has hung since the first look, so its document is not known
        return bool(tabs.navigations.in_tab(page))
    return token != before.seen.scan.main.token


async def _title_change(before: PageBefore, page: Page, deadline_s: float) -> list[str]:
    """The new title, if it changed. Counters and clocks in it, as in `(3) Inbox`, do not count."""
    if page is not before.page:
        return []
    title, was = await overlay_calls.document.title(page.main_frame, deadline_s), before.seen.observation.title
    is_same = _DIGITS.sub("", title) == _DIGITS.sub("", was)
    return [] if is_same else [f'the title is now "{safe_line(title, 80)}"']


async def _read_back(
    at: Location | None, before: PageBefore, observer: Observer
) -> tuple[LiveElement | None, str | None, list[str]]:
    """The target as it is now, its value, and what changed in its state and in the focus."""
    if at is None or at.mark is None:
        return None, None, []
    try:
        found, deadline_s = before.seen.found(at.mark), observer.settings.action_deadline_s
        expected = Expectation(found.context if found else None, pointed=True)
        now = await recheck(at.mark, before.seen.scan, deadline_s, expected=expected)
        moved = [] if now and now.state.focused else await _focus_change(at.mark, before, observer)
    except FrameSilent:
        return None, None, []
    if now is None:
        return None, None, [gone_words(at.mark), *moved]
    state, old = now.state, at.mark.state
    said = []
    # The pointer may have renamed it before the action did anything.
    if now.name not in (at.mark.name, at.element.name if at.element else None):
        called = f'is now called "{safe_line(now.name, 60)}"' if now.name else "has no name now"
        said.append(f"mark {at.mark.number} {called}")
    if now.difference is not None:
        said.append(describe_change(now.difference, "it"))
    for name in SWITCHES:
        is_now = getattr(state, name)
        if is_now is not None and is_now != getattr(old, name):
            said.append(_IS_NOW.get(str(is_now).lower(), "it is now {}").format(name))
    if state.invalid and not old.invalid:
        said.append("it is now invalid")
    if state.disabled != old.disabled:
        said.append("it is now disabled" if state.disabled else "it is no longer disabled")
    is_masked = state.masked or at.mark.key in observer.masked_keys
    value = None if is_masked else state.value
    if value is not None and value != old.value and not old.masked:
        said.append(_value_words(value, state))
    if not said and at.mark.kind == "field" and state.focused and not old.focused:
        said.append("it has the focus now")
    return now, value, said + moved


def gone_words(mark: Mark) -> str:
    """That a mark is gone, as a clause."""
    return f"mark {mark.number} is gone or was redrawn"


def _value_words(value: str, state: MarkState) -> str:
    """What a field holds now; of several lines, only that of the caret."""
    lines = value.split("\n")
    if state.caret_line is None or not 0 < state.caret_line <= len(lines):
        return f'its value is "{safe_line(value, 80)}"'
    line = safe_line(lines[state.caret_line - 1], 80)
    return f'line {state.caret_line} of {len(lines)}, where the caret is, is "{line}"'


async def _focus_change(mark: Mark, before: PageBefore, observer: Observer) -> list[str]:
    """Where the focus is now, unless it is where it was before or on the target."""
    focus = await overlay_calls.fields.focused_element(before.page.main_frame, observer.settings.action_deadline_s)
    is_news = focus.words and focus.key not in (mark.key, before.focused)
    return [f"the focus is on {safe_line(focus.words, 100)}"] if is_news and not mark.frame else []

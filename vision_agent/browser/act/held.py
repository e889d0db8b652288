"""Holds keys and the mouse button down for a time, or until a text appears; releases them whatever happens.

Knows no targets: whoever holds has checked and guarded them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from vision_agent.browser.observe.shown_secrets import Find
from vision_agent.browser.observe.veiled_words import veiled_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.text import ShownText
from vision_agent.browser.refusal import Refused
from vision_agent.text.escape import safe_line

_LOOK_EVERY_S = 0.05


@asynccontextmanager
async def held_keys(page: Page, keys: Sequence[str], deadline_s: float) -> AsyncIterator[None]:
    """Holds keys down in the `with` block, the first one first."""
    down: list[str] = []
    try:
        for key in keys:
            down.append(key)  # before it is pressed: an interrupted call may have pressed it
            await page.keyboard.down(key)
        yield
    finally:
        await release(page, [partial(page.keyboard.up, key) for key in reversed(down)], deadline_s)


@asynccontextmanager
async def held_button(page: Page, deadline_s: float) -> AsyncIterator[None]:
    """Holds the left mouse button down in the `with` block, where the pointer is."""
    try:
        await page.mouse.down()
        yield
    finally:
        await release(page, [page.mouse.up], deadline_s)


async def stay_held(
    page: Page, what: str, seconds: float, deadline_s: float, until: str = "", find: Find | None = None
) -> None:
    """Returns after `seconds`, or as soon as the text appears, if one is given; `find` as in `shows_text`.

    Raises:
        Refused: the text does not appear, or the tab is closed.
    """
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if page.is_closed():
            raise tab_closed(seconds - left, seconds)
        if until and await shows_text(page, min(deadline_s, left), until, find):
            return
        await asyncio.sleep(min(_LOOK_EVERY_S, max(0.0, end - time.monotonic())))
    if until:
        shown = f'"{safe_line(until, 60)}" did not show within {seconds:g} s'
        raise Refused("timed_out", f"{shown}, so {what} was released")


def tab_closed(held_s: float, seconds: float) -> Refused:
    """The refusal of a hold of `seconds` whose tab closes before they are over."""
    return Refused("gone", f"the tab closed after {held_s:.1f} s of {seconds:g} s")


async def shows_text(page: Page, deadline_s: float, text: str, find: Find | None = None) -> bool:
    """Whether a person can see a text in any frame that answers, here or by scrolling.

    A text that reaches into a hidden value does not show, or its letters could be guessed one by one; `find` says where
    those values are.
    """
    return (await find_shown_text(page, deadline_s, text, find)).shows


async def find_shown_text(page: Page, deadline_s: float, text: str, find: Find | None = None) -> ShownText:
    """The same, and what shows instead of the text: the longer word or number, or that it is struck through."""
    missed = ShownText(False)
    for frame in page.frames:
        try:
            found = await _found_in(frame, deadline_s, text, find)
            if (found.shows or found.near or found.is_struck) and await _is_seen(frame, deadline_s):
                if found.shows:
                    return found
                missed = missed if missed.near else found
        except FrameSilent:
            continue  # another frame may show it
    return missed


async def _found_in(frame: Frame, deadline_s: float, text: str, find: Find | None) -> ShownText:
    veiled = await veiled_words(frame, deadline_s, find)
    found = await overlay_calls.text.find_shown_text(frame, deadline_s, text, veiled)
    # A hidden value may have appeared between the two questions.
    is_told = found != ShownText(False) and await veiled_words(frame, deadline_s, find) == veiled
    return found if is_told else ShownText(False)


async def _is_seen(frame: Frame, deadline_s: float) -> bool:
    """Whether the documents around a frame show it."""
    while frame.parent_frame is not None:
        try:
            element = await frame.frame_element()
        except PlaywrightError:
            return False  # the frame is gone
        if not await overlay_calls.text.is_frame_seen(element, deadline_s):
            return False
        frame = frame.parent_frame
    return True


async def release(page: Page, releases: Sequence[Callable[[], Awaitable[object]]], deadline_s: float) -> None:
    """Tries each release, even if this task is cancelled meanwhile or another release fails."""
    await asyncio.shield(asyncio.ensure_future(_release_all(page, releases, deadline_s)))


async def _release_all(page: Page, releases: Sequence[Callable[[], Awaitable[object]]], deadline_s: float) -> None:
    failed: list[Exception] = []
    for release in releases:
        try:
            await asyncio.wait_for(release(), deadline_s)
        except (PlaywrightError, TimeoutError) as error:
            failed.append(error)
    if failed and not page.is_closed():
        raise failed[0]

"""Streams the active tab to a person who watches: the live view of a run, with or without a window.

Chromium sends a picture when the page has painted something new. While a run has hidden values, that picture is only
the news: one of our own is taken and masked, as those of the record are. If it cannot be masked, or a secret is being
typed, the view stands still and says so. Only Chromium can be streamed.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import cdp
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.page.tabs import Tabs
from vision_agent.browser.takeover.live_input import LiveInputSender
from vision_agent.browser.takeover.masked_picture import NotMasked, masked_picture
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.geometry import Box, Size
from vision_agent.web.live_view import LiveInput, LivePicture, PointerInput

_PICTURE = {"format": "jpeg", "quality": 75, "maxWidth": 1920, "maxHeight": 1920}
_SHORTEST_S = 0.04
"""Between two pictures; more are a waste of two cores."""
_LOOK_EVERY_S = 0.25
"""How often to see whether another tab is active."""
_STILL_S = 0.3
"""After a change, how long nothing may come until one more picture is asked for: Chromium drops the newest one if two
are still on their way."""
_MASK_DEADLINE_S = 5.0
_MAY_TYPE_ONE = "The picture stands still while something is typed that may be secret"
_NOT_CHROMIUM = "The live view needs Chromium; this browser can be taken over in its window"


@dataclass(frozen=True)
class LiveParts:
    """What the live view needs of a browser."""

    tabs: Tabs
    observer: Observer
    typed: Callable[[], int]
    """Odd while an action is under way that may type a hidden value; each one adds two."""
    shows_veiled: Callable[[], bool]
    """Whether the last look met a field that hides its letters at other times."""


@dataclass
class _Newest:
    """The newest picture of a screencast, which is told apart from the one before by its bytes."""

    event: dict[str, Any] | None = None
    has_news: asyncio.Event = field(default_factory=asyncio.Event)
    came_at: float = 0.0
    is_settled: bool = True
    """Whether it is known to be the last one."""
    _last: str = ""

    def hear(self, event: dict[str, Any]) -> None:
        if event["data"] == self._last:
            return
        self._last, self.event = event["data"], event
        self.came_at, self.is_settled = time.monotonic(), False
        self.has_news.set()


class PageStream:
    """The live view of the browser that `current` returns now: it may be replaced when it is lost."""

    def __init__(self, current: Callable[[], LiveParts]) -> None:
        self._current = current
        self._sender = LiveInputSender()
        self._view = Size(width=0, height=0)
        """The size of the view in the picture that was shown last."""

    async def frames(self) -> AsyncGenerator[LivePicture, None]:
        """The active tab, picture by picture; see `vision_agent.web.live_view.LiveView`."""
        while True:
            page = self._current().tabs.active
            try:
                session = await cdp.page_session(page)
                if session is None:
                    raise BrowserUnavailable(_NOT_CHROMIUM)
                async with _screencast(session) as newest:
                    note, shown_at = "", 0.0
                    while self._current().tabs.active is page and not page.is_closed():
                        if not await _has_news(newest, session):
                            continue
                        await asyncio.sleep(shown_at + _SHORTEST_S - time.monotonic())
                        frame = await self._frame(page, newest)
                        if frame.data is None:
                            newest.has_news.set()  # once more, until it can be shown
                            await asyncio.sleep(_SHORTEST_S)
                            if frame.note == note:
                                continue
                        note, shown_at = frame.note, time.monotonic()
                        yield frame
            except PlaywrightError:
                await asyncio.sleep(_LOOK_EVERY_S)  # the tab is closing, or its browser is being replaced

    async def send(self, inputs: Sequence[LiveInput]) -> None:
        """Sends input to the active tab; see `vision_agent.web.live_view.LiveView`."""
        tabs = self._current().tabs
        if not self._view.width:
            raise UsageError("Nothing of the page was shown yet", "wait for the picture")
        presses = any(isinstance(each, PointerInput) and each.kind != "move" for each in inputs)
        tabs.live_presses += presses
        try:
            await self._sender.send(tabs.active, self._view, inputs)
        finally:
            if presses:
                tabs.live_presses, tabs.live_press_ended = tabs.live_presses - 1, time.monotonic()

    async def release(self) -> None:
        """Releases every button and key that is down."""
        await self._sender.release()

    async def _frame(self, page: Page, newest: _Newest) -> LivePicture:
        parts, event = self._current(), newest.event
        assert event is not None
        newest.has_news.clear()
        metadata = event["metadata"]
        zoom = metadata["pageScaleFactor"]  # not 1 where a phone shows a page that is wider than its screen
        view = Box(x=0, y=0, width=metadata["deviceWidth"] / zoom, height=metadata["deviceHeight"] / zoom)
        observer, typed, data = parts.observer, parts.typed(), None
        try:
            if typed % 2:
                raise NotMasked(_MAY_TYPE_ONE)
            if observer.hides or parts.shows_veiled():
                more = (observer.find_hidden, observer.masked_keys, _MASK_DEADLINE_S)
                picture = await masked_picture(page, view, *more)
                data = await asyncio.to_thread(lambda: picture.encode("jpeg").data)
                if parts.typed() != typed:
                    raise NotMasked(_MAY_TYPE_ONE)
            else:
                data = base64.b64decode(event["data"])
        except NotMasked as reason:
            said = str(reason)
            note = said if said == _MAY_TYPE_ONE else f"The picture stands still: {said}, and a secret may show"
            return LivePicture(None, view.width, view.height, note)
        self._view = Size(width=round(view.width), height=round(view.height))
        return LivePicture(data, view.width, view.height)


async def _has_news(newest: _Newest, session: CDPSession) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(_LOOK_EVERY_S):
            await newest.has_news.wait()
            return True
    if not newest.is_settled and time.monotonic() - newest.came_at > _STILL_S:
        newest.is_settled = True
        async with asyncio.timeout(_MASK_DEADLINE_S):
            # The answer is not used: being asked, Chromium also sends the screencast what it shows.
            await session.send("Page.captureScreenshot", {"format": "jpeg", "quality": 1})
    return False


@asynccontextmanager
async def _screencast(session: CDPSession) -> AsyncIterator[_Newest]:
    """Chromium's pictures of a tab, each taken at once, so that it sends the next one."""
    newest, taking = _Newest(), set[asyncio.Task[None]]()

    async def take(number: int) -> None:
        with suppress(PlaywrightError):  # the tab is gone
            await session.send("Page.screencastFrameAck", {"sessionId": number})

    def hear(event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(take(event["sessionId"]))
        taking.add(task)
        task.add_done_callback(taking.discard)
        newest.hear(event)

    session.on("Page.screencastFrame", hear)
    try:
        await session.send("Page.startScreencast", _PICTURE)
        yield newest
    finally:
        session.remove_listener("Page.screencastFrame", hear)
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_MASK_DEADLINE_S):
                await session.send("Page.stopScreencast")

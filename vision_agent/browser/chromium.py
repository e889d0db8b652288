"""The sessions in which Chromium itself is asked about a page: opened once, shared, and given back once.

Other engines have none. Knows nothing of what is asked in them.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

_RELEASE_S = 1.0


@dataclass
class _Opened:
    """What was opened to one page and to those of its frames that have a process of their own."""

    main: CDPSession | None = None
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    apart: weakref.WeakKeyDictionary[Frame, tuple[str, CDPSession | None]] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    """By frame, with the address at which it was asked for; none where it shares its parent's process."""


_opened: weakref.WeakKeyDictionary[Page, _Opened] = weakref.WeakKeyDictionary()
_telling: weakref.WeakKeyDictionary[CDPSession, asyncio.Lock] = weakref.WeakKeyDictionary()
"""Chromium tells of its worlds when it begins to tell of them: who asks while another does would hear of none."""

_bound: weakref.WeakKeyDictionary[CDPSession, dict[str, str]] = weakref.WeakKeyDictionary()
"""The functions by which worlds tell a session something, each with the name of the world that has it."""


async def session_of(page: Page) -> CDPSession | None:
    """The page's session; none in another engine. It stays the same until it is released.

    Raises:
        PlaywrightError: the page is closing.
    """
    browser = page.context.browser
    if browser is None or browser.browser_type.name != "chromium":
        return None
    opened = _opened.setdefault(page, _Opened())
    async with opened.opening:
        if opened.main is None:
            opened.main = await page.context.new_cdp_session(page)
    return opened.main


async def sessions_apart(page: Page, timeout_s: float) -> list[CDPSession]:
    """Those of the frames that have a process of their own."""
    apart = _opened.setdefault(page, _Opened()).apart
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            for frame in page.frames[1:]:
                url = frame.url
                if apart.get(frame, ("", None))[0] == url:
                    continue
                apart[frame] = (url, None)  # one that hangs is not waited for again
                with suppress(PlaywrightError):  # refused where the frame shares the process of its parent
                    apart[frame] = (url, await page.context.new_cdp_session(frame))
    # Frames come and go meanwhile.
    return [session for frame in page.frames[1:] if (session := apart.get(frame, ("", None))[1]) is not None]


async def contexts_of(session: CDPSession) -> list[dict[str, Any]]:
    """Where scripts run in the documents of a session: the page's own worlds and the isolated ones."""
    created: list[dict[str, Any]] = []

    def listen(event: dict[str, Any]) -> None:
        created.append(event["context"])

    async with _telling.setdefault(session, asyncio.Lock()):
        session.on("Runtime.executionContextCreated", listen)
        try:
            await session.send("Runtime.disable")  # who was interrupted here left it telling
            await session.send("Runtime.enable")
            # Else every word that the page logs would come here too.
            await session.send("Runtime.disable")
        finally:
            session.remove_listener("Runtime.executionContextCreated", listen)
            # With that Chromium forgets what was bound.
            for name, world in _bound.get(session, {}).items():
                await _add(session, name, world)
    return created


async def bind(session: CDPSession, name: str, world: str) -> None:
    """Gives the isolated worlds of this name, now and later, a function by which they tell the session something."""
    _bound.setdefault(session, {})[name] = world
    await _add(session, name, world)


async def unbind(session: CDPSession, name: str) -> None:
    """Takes it from them again."""
    _bound.get(session, {}).pop(name, None)
    await session.send("Runtime.removeBinding", {"name": name})


async def _add(session: CDPSession, name: str, world: str) -> None:
    await session.send("Runtime.addBinding", {"name": name, "executionContextName": world})


async def hear_of_windows(page: Page, opens: Callable[[], None]) -> None:
    """Calls `opens` each time the page begins to open a window or a tab, until its session is released.

    That is before the act that made it has come back; the tab itself may come seconds later. Only in Chromium, and not
    for frames that have a process of their own.

    Raises:
        PlaywrightError: the page is closing.
    """
    session = await session_of(page)
    if session is not None:
        session.on("Page.windowOpen", lambda _: opens())
        await session.send("Page.enable")


def opened_sessions(page: Page) -> list[CDPSession]:
    """Those that are open, the page's own first."""
    opened = _opened.get(page, _Opened())
    return [each for each in (opened.main, *(session for _, session in opened.apart.values())) if each is not None]


async def release(page: Page) -> None:
    """Gives back all that was opened to the page and its frames."""
    sessions = opened_sessions(page)
    _opened.pop(page, None)
    for session in sessions:
        with suppress(PlaywrightError, TimeoutError):  # the page may have closed it, or hang
            async with asyncio.timeout(_RELEASE_S):
                await session.detach()

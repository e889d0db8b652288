"""Chrome DevTools Protocol sessions of a page: opened once, shared, and detached once.

Other engines have none. Does not know what the sessions are used for.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

_RELEASE_S = 1.0
_EVERY_S = 0.05
_CHANGES_PROCESS = "Not attached to an active page"
"""Chromium's answer while a new document was answered and has not been committed in its process."""
_FRAMES_ONLY = [{"type": "iframe"}, {"exclude": True}]
_ATTACH = (
    "Target.setAutoAttach",
    {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": False, "filter": _FRAMES_ONLY},
)
"""Not flat: Playwright does not forward messages of sessions that it did not open itself."""


@dataclass
class _PageSessions:
    """The sessions of one page and of its out-of-process frames."""

    main: CDPSession | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    frames: weakref.WeakKeyDictionary[Frame, tuple[str, CDPSession | None]] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    """By frame: its address when a session was requested, and the session; None if it shares its parent's process."""


_sessions: weakref.WeakKeyDictionary[Page, _PageSessions] = weakref.WeakKeyDictionary()
_context_locks: weakref.WeakKeyDictionary[CDPSession, asyncio.Lock] = weakref.WeakKeyDictionary()
"""Chromium lists execution contexts only when `Runtime` is enabled: of two concurrent callers, one would get none."""

_bindings: weakref.WeakKeyDictionary[CDPSession, dict[str, str]] = weakref.WeakKeyDictionary()
"""Bindings of each session: by function name, the isolated world that has the function."""


async def page_session(page: Page) -> CDPSession | None:
    """The page's session, the same one until `release`; None in other engines.

    Raises:
        PlaywrightError: the page is closing.
    """
    browser = page.context.browser
    if browser is None or browser.browser_type.name != "chromium":
        return None
    own = _sessions.setdefault(page, _PageSessions())
    async with own.lock:
        if own.main is None:
            own.main = await page.context.new_cdp_session(page)
    return own.main


async def frame_sessions(page: Page, timeout_s: float) -> list[CDPSession]:
    """The sessions of the page's out-of-process frames, as far as they open within the deadline."""
    frames = _sessions.setdefault(page, _PageSessions()).frames
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            for frame in page.frames[1:]:
                url = frame.url
                if frames.get(frame, ("", None))[0] == url:
                    continue
                frames[frame] = (url, None)  # a frame that hangs is not waited for again
                with suppress(PlaywrightError):  # refused for a frame that shares its parent's process
                    frames[frame] = (url, await page.context.new_cdp_session(frame))
    # Frames come and go meanwhile.
    return [session for frame in page.frames[1:] if (session := frames.get(frame, ("", None))[1]) is not None]


async def execution_contexts(session: CDPSession) -> list[dict[str, Any]]:
    """The execution contexts in the documents of a session: the page's own worlds and the isolated ones."""
    created: list[dict[str, Any]] = []

    def listen(event: dict[str, Any]) -> None:
        created.append(event["context"])

    async with _context_locks.setdefault(session, asyncio.Lock()):
        session.on("Runtime.executionContextCreated", listen)
        try:
            await session.send("Runtime.disable")  # an interrupted call may have left it enabled
            await session.send("Runtime.enable")
            # Otherwise everything that the page logs would be sent here too.
            await session.send("Runtime.disable")
        finally:
            session.remove_listener("Runtime.executionContextCreated", listen)
            # Disabling makes Chromium forget the bindings.
            for name, world in _bindings.get(session, {}).items():
                await _add_binding(session, name, world)
    return created


async def bind(session: CDPSession, name: str, world: str) -> None:
    """Gives the isolated worlds of this name, now and later, a function that sends messages to the session."""
    _bindings.setdefault(session, {})[name] = world
    await _add_binding(session, name, world)


async def unbind(session: CDPSession, name: str) -> None:
    """Removes the function again."""
    _bindings.get(session, {}).pop(name, None)
    await session.send("Runtime.removeBinding", {"name": name})


async def _add_binding(session: CDPSession, name: str, world: str) -> None:
    await session.send("Runtime.addBinding", {"name": name, "executionContextName": world})


async def send_to_frames(session: CDPSession, commands: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Sends these commands to every out-of-process frame of the page, however deeply nested.

    A frame that appears later gets them before any of its own scripts run: Chromium pauses it until then. Answers are
    not waited for. Ends with the session.

    Raises:
        PlaywrightError: the page is closing.
    """
    ids = itertools.count(1)
    sending: set[asyncio.Task[None]] = set()

    async def send(path: tuple[str, ...], command: str, details: dict[str, Any]) -> None:
        # A nested frame is reached through its parent: each message is wrapped in one to the parent.
        for frame in reversed(path[1:]):
            message = json.dumps({"id": next(ids), "method": command, "params": details})
            command, details = "Target.sendMessageToTarget", {"sessionId": frame, "message": message}
        message = json.dumps({"id": next(ids), "method": command, "params": details})
        await session.send("Target.sendMessageToTarget", {"sessionId": path[0], "message": message})

    async def initialize(path: tuple[str, ...]) -> None:
        with suppress(PlaywrightError):  # the frame is gone again
            for command, details in [*commands, _ATTACH, ("Runtime.runIfWaitingForDebugger", {})]:
                await send(path, command, details)

    def on_attached(event: dict[str, Any], parents: tuple[str, ...] = ()) -> None:
        task = asyncio.ensure_future(initialize((*parents, event["sessionId"])))
        sending.add(task)
        task.add_done_callback(sending.discard)

    def on_message(event: dict[str, Any]) -> None:
        path: tuple[str, ...] = (event["sessionId"],)
        message = json.loads(event["message"])
        while message.get("method") == "Target.receivedMessageFromTarget":
            path = (*path, message["params"]["sessionId"])
            message = json.loads(message["params"]["message"])
        if message.get("method") == "Target.attachedToTarget":
            on_attached(message["params"], path)

    session.on("Target.attachedToTarget", on_attached)
    session.on("Target.receivedMessageFromTarget", on_message)
    await session.send(*_ATTACH)


async def is_form_result(page: Page) -> bool:
    """Whether a form submission loaded the document of a page; False in other engines.

    Waits while the page changes to another process.

    Raises:
        PlaywrightError: the page is closing.
    """
    session = await page_session(page)
    if session is None:
        return False
    while True:
        try:
            history = await session.send("Page.getNavigationHistory")
            break
        except PlaywrightError as error:
            if _CHANGES_PROCESS not in error.message:
                raise
        await asyncio.sleep(_EVERY_S)
    return bool(history["entries"][history["currentIndex"]]["transitionType"] == "form_submit")


async def watch_windows(page: Page, on_open: Callable[[str], None]) -> None:
    """Calls `on_open` with its address each time the page starts to open a window, until its session is released.

    The call comes before the action that opened it returns; the tab itself may come seconds later. Only in Chromium,
    and not for out-of-process frames.

    Raises:
        PlaywrightError: the page is closing.
    """
    session = await page_session(page)
    if session is not None:
        session.on("Page.windowOpen", lambda event: on_open(event["url"]))
        await session.send("Page.enable")


_windowless: weakref.WeakKeyDictionary[Page, bool] = weakref.WeakKeyDictionary()


async def is_windowless(page: Page) -> bool:
    """Whether the browser is the build of Chromium that has no windows, not even ones that nobody sees."""
    if page not in _windowless:
        session = await page_session(page)
        version = await session.send("Browser.getVersion") if session is not None else {}
        _windowless[page] = str(version.get("product", "")).startswith("Headless")
    return _windowless[page]


def open_sessions(page: Page) -> list[CDPSession]:
    """The open sessions of a page and its frames, the page's own first."""
    own = _sessions.get(page, _PageSessions())
    return [each for each in (own.main, *(session for _, session in own.frames.values())) if each is not None]


def session_of(frame: Frame) -> CDPSession | None:
    """The open session of the process that a frame is in."""
    own = _sessions.get(frame.page, _PageSessions())
    at: Frame | None = frame
    while at is not None:
        session = own.frames.get(at, ("", None))[1]
        if session is not None:
            return session
        at = at.parent_frame
    return own.main


async def release(page: Page) -> None:
    """Detaches all sessions of the page and its frames."""
    sessions = open_sessions(page)
    _sessions.pop(page, None)
    for session in sessions:
        with suppress(PlaywrightError, TimeoutError):  # the page may have closed it, or hang
            async with asyncio.timeout(_RELEASE_S):
                await session.detach()

"""Reports to the overlay which elements have event listeners, and so are interactive without saying so in their markup.

Only Chromium can list them; no JavaScript of the page runs for it. Each listening node is passed into the isolated
world once, so a second look at a page of 50,000 elements costs some milliseconds; a `DOMSnapshot` takes longer than the
scan itself and knows only listeners for mouse buttons.
Does not know what the overlay makes of the listeners.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import cdp
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.errors import BrowserUnavailable

_PRESS = "click dblclick auxclick contextmenu mousedown mouseup pointerdown pointerup touchstart touchend dragstart"
_USES = "wheel paste"
_TYPES = frozenset(
    f"{_PRESS} {_USES} keydown keypress mousemove mouseover mouseenter pointerover pointerenter focus focusin".split()
)
"""Event types that show what a person can do, or when the page reacts to it."""
_REPORT = "function (types, ...nodes) { return globalThis[Symbol.for('marks')]?.hear(types, nodes) }"
_GROUP = "marks"
_AT_ONCE = 200
_SKIP = 4
_RELEASE_S = 1.0


@dataclass
class _World:
    """Playwright's isolated world in one document."""

    context: int
    document: str
    """Remote object of the document in the page's own world, which lives as long as that. Through the isolated world,
    Chromium corrupts what that world sees of elements with a handler attribute."""
    reported: dict[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class _KnownListeners:
    """What is known in one session, that of a page with its frames or of an out-of-process frame."""

    worlds: list[_World] = field(default_factory=list)
    """The innermost documents first."""
    frames: tuple[tuple[int, str], ...] = ()
    """The frames at the time the worlds were listed."""
    is_listing: bool = False
    """Whether Chromium is listing the listeners right now."""
    skip: int = 0
    """Looks for which the session is skipped: it hung, or had too many listeners to list in time."""


_by_session: weakref.WeakKeyDictionary[CDPSession, _KnownListeners] = weakref.WeakKeyDictionary()


async def report_listeners(page: Page, timeout_s: float) -> bool:
    """Reports the current listeners to the overlay in every frame; returns whether all were reported.

    No step takes longer than `timeout_s`, and it never raises: listeners that it cannot list stay unknown.
    """
    session = None
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(timeout_s):
            session = await cdp.page_session(page)
    if session is None:
        return True  # another engine, or a closing page, which the look notices
    is_whole = await _report_session(session, page, timeout_s)
    is_all_here = len(_known_listeners(session).worlds) >= len(page.frames)
    apart = [] if is_all_here else await cdp.frame_sessions(page, timeout_s)
    return all([is_whole, *await asyncio.gather(*(_report_session(each, page, timeout_s) for each in apart))])


def overlay_worlds(page: Page) -> list[tuple[CDPSession, int]]:
    """Session and execution context of the overlay in each document, as of the last report."""
    return [(each, world.context) for each in cdp.open_sessions(page) for world in _known_listeners(each).worlds]


def _known_listeners(session: CDPSession) -> _KnownListeners:
    return _by_session.setdefault(session, _KnownListeners())


async def _report_session(session: CDPSession, page: Page, timeout_s: float) -> bool:
    known = _known_listeners(session)
    frames = _frame_urls(page)
    known.is_listing = False
    try:
        async with asyncio.timeout(timeout_s):
            if known.frames == frames:
                with suppress(PlaywrightError):  # a document was reloaded
                    return await _report_all(session, known, page)
            known.worlds = await _find_worlds(session)
            known.frames = frames
            return await _report_all(session, known, page)
    except PlaywrightError:
        known.frames = ()
        return True  # the page navigated or closed meanwhile
    except TimeoutError:
        known.skip = _SKIP if known.is_listing else 0
        return False


def _frame_urls(page: Page) -> tuple[tuple[int, str], ...]:
    return tuple((id(frame), frame.url) for frame in page.frames)


async def _find_worlds(session: CDPSession) -> list[_World]:
    """The isolated worlds of a session; empty if a document has none yet: its elements would count as its parent's."""
    created = await cdp.execution_contexts(session)
    own = {each["auxData"]["frameId"]: each["id"] for each in created if each["auxData"]["isDefault"]}
    isolated = {each["auxData"]["frameId"]: each["id"] for each in created if overlay.is_overlay_world(each)}
    innermost_first = _frame_ids((await session.send("Page.getFrameTree"))["frameTree"])
    if not all(frame in own and frame in isolated for frame in innermost_first):
        return []
    found = await asyncio.gather(
        *(
            session.send("Runtime.evaluate", {"expression": "document", "contextId": own[frame]})
            for frame in innermost_first
        )
    )
    return [
        _World(isolated[frame], each["result"]["objectId"]) for frame, each in zip(innermost_first, found, strict=True)
    ]


def _frame_ids(tree: Mapping[str, Any]) -> list[str]:
    inner = [frame for child in tree.get("childFrames", ()) for frame in _frame_ids(child)]
    return [*inner, tree["frame"]["id"]]


async def _report_all(session: CDPSession, known: _KnownListeners, page: Page) -> bool:
    """Reports to each world what it does not know yet; returns whether all was reported."""
    if known.skip:
        known.skip -= 1
        return False
    known.is_listing = True
    lists = await asyncio.gather(
        *(
            session.send("DOMDebugger.getEventListeners", {"objectId": world.document, "depth": -1, "pierce": True})
            for world in known.worlds
        )
    )
    known.is_listing = False
    if _frame_urls(page) != known.frames:
        known.frames = ()  # elements of a new frame would count as its parent's
        return False
    taken: set[int] = set()
    # Each list includes the nodes of nested frames.
    for world, answer in zip(known.worlds, lists, strict=True):
        listening = {node: types for node, types in _types_by_node(answer).items() if node not in taken}
        taken |= listening.keys()
        gone = {node: () for node in world.reported if node not in listening}
        news = {node: types for node, types in (listening | gone).items() if world.reported.get(node) != types}
        nodes = list(news)
        for start in range(0, len(nodes), _AT_ONCE):
            batch = {node: news[node] for node in nodes[start : start + _AT_ONCE]}
            if not await _report_changes(session, world, batch):
                await _inject_overlay(page)
                await _report_changes(session, world, batch)
    return bool(known.worlds)


async def _report_changes(session: CDPSession, world: _World, news: Mapping[int, tuple[str, ...]]) -> bool:
    """Reports listeners to one world; returns whether the overlay was there."""
    found = await asyncio.gather(*(node_handle(session, world.context, node, _GROUP) for node in news))
    here = [(node, handle) for node, handle in zip(news, found, strict=True) if handle]
    arguments = [{"value": [list(news[node]) for node, _ in here]}, *({"objectId": handle} for _, handle in here)]
    details = {"executionContextId": world.context, "functionDeclaration": _REPORT, "returnByValue": True}
    try:
        answer = await session.send("Runtime.callFunctionOn", {**details, "arguments": arguments})
    finally:
        await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    if not answer["result"].get("value"):
        return False
    world.reported.update(news)
    for node in [node for node, types in news.items() if not types]:
        del world.reported[node]
    return True


async def node_handle(session: CDPSession, context: int, node: int, group: str) -> str | None:
    """A remote object for a node in one context, until its group is released; None if the node is gone."""
    asked = {"backendNodeId": node, "executionContextId": context, "objectGroup": group}
    try:
        answer = await session.send("DOM.resolveNode", asked)
    except PlaywrightError:
        return None
    handle: str | None = answer["object"].get("objectId")
    return handle


async def _inject_overlay(page: Page) -> None:
    """Asks a question in every frame: the overlay enters a document with the first one."""

    async def ask(frame: Frame) -> None:
        with suppress(FrameSilent, BrowserUnavailable, PlaywrightError):
            await overlay_calls.document.token(frame, _RELEASE_S)

    await asyncio.gather(*(ask(frame) for frame in page.frames))


def _types_by_node(answer: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, set[str]] = {}
    for each in answer["listeners"]:
        if each["type"] in _TYPES and "backendNodeId" in each:
            found.setdefault(each["backendNodeId"], set()).add(each["type"])
    return {node: tuple(sorted(types)) for node, types in found.items()}

"""Tells the overlay which elements listen to what, and so what answers without saying so in its markup.

Only Chromium can tell, and no JavaScript of the page is run for it. It lists the nodes that listen, and each is handed
over into the isolated world once: looking again at a page of 50,000 elements costs some milliseconds, where a
`DOMSnapshot` of it takes longer than the scan itself and knows only listeners for mouse buttons.
Knows nothing of what the overlay makes of it.
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

from vision_agent.browser import chromium, overlay
from vision_agent.browser.overlay import FrameSilent
from vision_agent.errors import BrowserUnavailable

_PRESS = "click dblclick auxclick contextmenu mousedown mouseup pointerdown pointerup touchstart touchend dragstart"
_TYPES = frozenset(
    f"{_PRESS} keydown keypress mousemove mouseover mouseenter pointerover pointerenter focus focusin".split()
)
"""Those that say something about what a person can do, or about when a page answers to it."""
_HEAR = "function (types, ...nodes) { return globalThis[Symbol.for('marks')]?.hear(types, nodes) }"
_GROUP = "marks"
_AT_ONCE = 200
_SKIP = 4
_RELEASE_S = 1.0


@dataclass
class _World:
    """Playwright's isolated world in one document."""

    context: int
    document: str
    """The remote object in the page's own world, which lives as long as that. Asked through the isolated world,
    Chromium spoils what that sees of elements with a handler attribute."""
    told: dict[int, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class _Ear:
    """What is known in one session: of a page with its frames, or of a frame in a process of its own."""

    worlds: list[_World] = field(default_factory=list)
    """The innermost documents first."""
    frames: tuple[tuple[int, str], ...] = ()
    """As they were when the worlds were listed."""
    is_listing: bool = False
    skip: int = 0
    """Looks for which it is left alone: it hangs, or so much listens there that it could not be listed in time."""


_ears: weakref.WeakKeyDictionary[CDPSession, _Ear] = weakref.WeakKeyDictionary()


async def bring(page: Page, timeout_s: float) -> bool:
    """Tells the overlay in every frame what listens there now; whether that was all of it.

    No step of it takes longer than its time, and it never fails: what it cannot tell is not known.
    """
    session = None
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(timeout_s):
            session = await chromium.session_of(page)
    if session is None:
        return True  # another engine; or it is closing, which whoever looks at it will find out
    is_whole = await _listen(session, page, timeout_s)
    is_all_here = len(_ear_of(session).worlds) >= len(page.frames)
    apart = [] if is_all_here else await chromium.sessions_apart(page, timeout_s)
    return all([is_whole, *await asyncio.gather(*(_listen(each, page, timeout_s) for each in apart))])


def worlds(page: Page) -> list[tuple[CDPSession, int]]:
    """Where the overlay lives in each document of the page, as far as was found when it was last told."""
    return [(each, world.context) for each in chromium.opened_sessions(page) for world in _ear_of(each).worlds]


def _ear_of(session: CDPSession) -> _Ear:
    return _ears.setdefault(session, _Ear())


async def _listen(session: CDPSession, page: Page, timeout_s: float) -> bool:
    ear = _ear_of(session)
    frames = _frames_of(page)
    ear.is_listing = False
    try:
        async with asyncio.timeout(timeout_s):
            if ear.frames == frames:
                with suppress(PlaywrightError):  # a document was loaded again
                    return await _tell_all(session, ear, page)
            ear.worlds = await _worlds_of(session)
            ear.frames = frames
            return await _tell_all(session, ear, page)
    except PlaywrightError:
        ear.frames = ()
        return True  # it navigated or went away meanwhile
    except TimeoutError:
        ear.skip = _SKIP if ear.is_listing else 0
        return False


def _frames_of(page: Page) -> tuple[tuple[int, str], ...]:
    return tuple((id(frame), frame.url) for frame in page.frames)


async def _worlds_of(session: CDPSession) -> list[_World]:
    """None where some document has no isolated world yet: its elements would be taken for those of its parent."""
    created = await chromium.contexts_of(session)
    own = {each["auxData"]["frameId"]: each["id"] for each in created if each["auxData"]["isDefault"]}
    isolated = {each["auxData"]["frameId"]: each["id"] for each in created if overlay.is_ours(each)}
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


async def _tell_all(session: CDPSession, ear: _Ear, page: Page) -> bool:
    """Tells each world what is news to it; whether that was all."""
    if ear.skip:
        ear.skip -= 1
        return False
    ear.is_listing = True
    lists = await asyncio.gather(
        *(
            session.send("DOMDebugger.getEventListeners", {"objectId": world.document, "depth": -1, "pierce": True})
            for world in ear.worlds
        )
    )
    ear.is_listing = False
    if _frames_of(page) != ear.frames:
        ear.frames = ()  # what a new frame holds would be taken for its parent's
        return False
    taken: set[int] = set()
    # Each list holds what listens in the frames within, too.
    for world, answer in zip(ear.worlds, lists, strict=True):
        listening = {node: types for node, types in _by_node(answer).items() if node not in taken}
        taken |= listening.keys()
        gone = {node: () for node in world.told if node not in listening}
        news = {node: types for node, types in (listening | gone).items() if world.told.get(node) != types}
        nodes = list(news)
        for start in range(0, len(nodes), _AT_ONCE):
            batch = {node: news[node] for node in nodes[start : start + _AT_ONCE]}
            if not await _tell(session, world, batch):
                await _enter(page)
                await _tell(session, world, batch)
    return bool(ear.worlds)


async def _tell(session: CDPSession, world: _World, news: Mapping[int, tuple[str, ...]]) -> bool:
    """Whether the overlay was there to hear it."""
    found = await asyncio.gather(*(handle_of(session, world.context, node, _GROUP) for node in news))
    here = [(node, handle) for node, handle in zip(news, found, strict=True) if handle]
    arguments = [{"value": [list(news[node]) for node, _ in here]}, *({"objectId": handle} for _, handle in here)]
    details = {"executionContextId": world.context, "functionDeclaration": _HEAR, "returnByValue": True}
    try:
        answer = await session.send("Runtime.callFunctionOn", {**details, "arguments": arguments})
    finally:
        await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    if not answer["result"].get("value"):
        return False
    world.told.update(news)
    for node in [node for node, types in news.items() if not types]:
        del world.told[node]
    return True


async def handle_of(session: CDPSession, context: int, node: int, group: str) -> str | None:
    """A node as the overlay in one document is handed it, until its group is released; none where it has gone."""
    asked = {"backendNodeId": node, "executionContextId": context, "objectGroup": group}
    try:
        answer = await session.send("DOM.resolveNode", asked)
    except PlaywrightError:
        return None
    handle: str | None = answer["object"].get("objectId")
    return handle


async def _enter(page: Page) -> None:
    """The overlay comes into a document with the first question."""

    async def ask(frame: Frame) -> None:
        with suppress(FrameSilent, BrowserUnavailable, PlaywrightError):
            await overlay.ask(frame, "token", _RELEASE_S)

    await asyncio.gather(*(ask(frame) for frame in page.frames))


def _by_node(answer: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[int, tuple[str, ...]]:
    found: dict[int, set[str]] = {}
    for each in answer["listeners"]:
        if each["type"] in _TYPES and "backendNodeId" in each:
            found.setdefault(each["backendNodeId"], set()).add(each["type"])
    return {node: tuple(sorted(types)) for node, types in found.items()}

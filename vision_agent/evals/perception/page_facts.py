"""Collects the facts for the independent truth from the page's own script world and the accessibility tree.

It describes every element that some point of the viewport hits, in every frame of any process. Listeners are those that
the page was seen to add: `page.js` runs in every document before its scripts and notes them, so `watch` must be called
on a context before its pages open. Nothing is decided here.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

_AT_ONCE = 200
_FRAME_S = 20


@dataclass
class DocumentLook:
    """One document, as described by its own world and the accessibility tree."""

    session: CDPSession
    handle: str
    facts: list[dict[str, Any]]
    points: list[tuple[float, float, int]]
    """In frame coordinates, each with the index of the innermost element hit; only points that the parents show."""
    extra: dict[int, int]
    """For each given point, by its index, the index of the element it hits here."""
    given: dict[int, tuple[float, float]]
    """The given points in frame coordinates."""
    view: dict[str, float]
    backend: list[int]
    roles: dict[int, str] = field(default_factory=dict)
    parent: DocumentLook | None = None
    frame: dict[str, float] | None = None
    owner: int = -1
    """Index of the frame's element in the parent document."""
    prefix: str = ""

    def to_page(self, x: float, y: float) -> tuple[float, float]:
        """Convert a point from frame to page coordinates, in CSS pixels."""
        if self.parent is None or self.frame is None:
            return x, y
        return self.parent.to_page(
            self.frame["x"] + x * self.frame["scaleX"], self.frame["y"] + y * self.frame["scaleY"]
        )

    def role(self, place: int) -> str:
        """Role in the accessibility tree; empty if it is left out there."""
        return self.roles.get(self.backend[place], "")

    def event_types(self, place: int) -> frozenset[str]:
        """The types of event it listens to itself."""
        return frozenset(self.facts[place]["heard"])

    def path(self, place: int) -> str:
        """Its path through all frames, equal in another copy of the page."""
        outer = f"{self.parent.path(self.owner)}|" if self.parent else ""
        return outer + str(self.facts[place]["place"])

    def chain(self, place: int) -> list[int]:
        """The indices of an element and its ancestors, inside out."""
        chain = []
        while place >= 0:
            chain.append(place)
            place = self.facts[place]["parent"]
        return chain


async def watch(context: BrowserContext) -> None:
    """Make every later document of the context note its listeners."""
    await context.add_init_script((Path(__file__).parent / "page.js").read_text("utf-8"))


async def look(page: Page, points: list[tuple[float, float]]) -> list[DocumentLook]:
    """Every visible document that can be examined, the page's own first."""
    sessions = [await page.context.new_cdp_session(page)]
    try:
        apart = await _other_processes(page, sessions)
        main = await _start_session(sessions[0])
        documents = [await _look(main, main.tree["frame"]["id"], points, None, None)]
        await _descend(main, main.tree, apart, documents[0], documents)
        return documents
    finally:
        for session in sessions:
            with suppress(PlaywrightError):
                await session.detach()


# --- documents and the frames in them ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Process:
    """One session: the page with the frames in its process, or a frame in another process with the frames there."""

    session: CDPSession
    tree: dict[str, Any]
    worlds: dict[str, int]
    """The page's own script world in each frame, by frame id."""


async def _other_processes(page: Page, sessions: list[CDPSession]) -> dict[str, _Process]:
    """The frames that have their own process, by id."""
    apart = {}
    for frame in page.frames[1:]:
        with suppress(PlaywrightError, TimeoutError):  # fails for frames in the process of their parent
            async with asyncio.timeout(_FRAME_S):
                session = await page.context.new_cdp_session(frame)
                sessions.append(session)
                process = await _start_session(session)
                apart[process.tree["frame"]["id"]] = process
    return apart


async def _start_session(session: CDPSession) -> _Process:
    worlds: dict[str, int] = {}

    def note(event: dict[str, Any]) -> None:
        context = event["context"]
        if context.get("auxData", {}).get("isDefault"):
            worlds[context["auxData"]["frameId"]] = context["id"]

    session.on("Runtime.executionContextCreated", note)
    await session.send("Runtime.enable")
    await session.send("DOM.enable")
    await session.send("Accessibility.enable")
    return _Process(session, (await session.send("Page.getFrameTree"))["frameTree"], worlds)


async def _descend(
    process: _Process, tree: dict[str, Any], apart: dict[str, _Process], looked: DocumentLook, found: list[DocumentLook]
) -> None:
    inside = {child["frame"]["id"]: (process, child) for child in tree.get("childFrames", ())}
    for identity, (own, child) in (inside | {each: (other, other.tree) for each, other in apart.items()}).items():
        try:
            owner = (await process.session.send("DOM.getFrameOwner", {"frameId": identity}))["backendNodeId"]
        except PlaywrightError:
            continue  # the frame of another process belongs to another document
        if owner not in looked.backend:
            continue  # it is not visible
        place = looked.backend.index(owner)
        indices = [index for index in looked.given if looked.extra.get(index) == place]
        points = [looked.given[index] for index in indices]
        try:
            async with asyncio.timeout(_FRAME_S):
                inner = await _look(own, identity, points, looked, place, indices)
        except (PlaywrightError, TimeoutError, KeyError):
            continue  # it hangs or runs no scripts
        found.append(inner)
        await _descend(own, child, apart, inner, found)


async def _look(
    process: _Process,
    frame_id: str,
    points: list[tuple[float, float]],
    parent: DocumentLook | None,
    owner: int | None,
    indices: list[int] | None = None,
) -> DocumentLook:
    frame = parent.facts[owner]["frame"] if parent and owner is not None else None
    local = [
        ((x - frame["x"]) / frame["scaleX"], (y - frame["y"]) / frame["scaleY"]) if frame else (x, y) for x, y in points
    ]
    session = process.session
    handle = await _evaluate(session, process.worlds[frame_id], f"({_script()})({json.dumps(local)})")
    answer = json.loads(await _call(session, handle, "function() { return this.data }"))
    order = indices if indices is not None else list(range(len(points)))
    looked = DocumentLook(
        session=session,
        handle=handle,
        facts=answer["facts"],
        points=[tuple(point) for point in answer["points"]],
        extra=dict(zip(order, answer["extra"], strict=True)),
        given=dict(zip(order, local, strict=True)),
        view=answer["view"],
        backend=await _backend_ids(session, handle),
        parent=parent,
        frame=frame,
        owner=-1 if owner is None else owner,
        prefix=f"{parent.prefix}{owner}." if parent else "",
    )
    looked.points = await _shown(looked, looked.points)
    await _check_whole(looked)
    looked.roles = await _roles(session, looked.backend)
    return looked


async def _check_whole(looked: DocumentLook) -> None:
    """Mark elements as not whole if they extend under the edge of their frame or are in a transformed frame."""
    if looked.frame is None:
        return
    corners = [
        (x + dx * width, y + dy * height, place)
        for place, fact in enumerate(looked.facts)
        if fact["isWhole"]
        for x, y, width, height in [fact["box"]]
        for dx in (0.02, 0.98)
        for dy in (0.02, 0.98)
    ]
    shown = Counter(place for _, _, place in await _shown(looked, corners))
    at: DocumentLook | None = looked
    is_straight = True
    while at is not None and at.frame is not None:
        is_straight = is_straight and bool(at.frame["isStraight"])
        at = at.parent
    for place, fact in enumerate(looked.facts):
        fact["isWhole"] = fact["isWhole"] and is_straight and shown[place] == 4


async def _shown(looked: DocumentLook, points: list[tuple[float, float, int]]) -> list[tuple[float, float, int]]:
    """The points of a frame at which all of its parents show the frame."""
    kept = points
    child, at = looked, [(x, y) for x, y, _ in kept]
    while child.parent is not None and child.frame is not None and kept:
        frame = child.frame
        at = [(frame["x"] + x * frame["scaleX"], frame["y"] + y * frame["scaleY"]) for x, y in at]
        places = await _call(child.parent.session, child.parent.handle, "function(list) { return this.hit(list) }", at)
        both = [(point, where) for point, where, place in zip(kept, at, places, strict=True) if place == child.owner]
        kept, at = [point for point, _ in both], [where for _, where in both]
        child = child.parent
    return kept


async def _backend_ids(session: CDPSession, handle: str) -> list[int]:
    """The backend node ids of the elements, in order."""
    array = await session.send(
        "Runtime.callFunctionOn", {"objectId": handle, "functionDeclaration": "function() { return this.elements }"}
    )
    properties = await session.send(
        "Runtime.getProperties", {"objectId": array["result"]["objectId"], "ownProperties": True}
    )
    objects = [each["value"]["objectId"] for each in properties["result"] if each["name"].isdigit()]
    numbers: list[int] = []
    for start in range(0, len(objects), _AT_ONCE):
        asked = [session.send("DOM.describeNode", {"objectId": each}) for each in objects[start : start + _AT_ONCE]]
        numbers += [each["node"]["backendNodeId"] for each in await asyncio.gather(*asked)]
    return numbers


async def _roles(session: CDPSession, backend: Sequence[int]) -> dict[int, str]:
    """Roles by backend node id, asked one by one: on a page with ten thousand links, the whole tree takes a minute."""
    roles = {}
    for start in range(0, len(backend), _AT_ONCE):
        some = backend[start : start + _AT_ONCE]
        asked = [
            session.send("Accessibility.getPartialAXTree", {"backendNodeId": each, "fetchRelatives": False})
            for each in some
        ]
        for number, answer in zip(some, await asyncio.gather(*asked), strict=True):
            node: dict[str, Any] | None = answer["nodes"][0] if answer["nodes"] else None
            if node is not None and not node["ignored"]:
                roles[number] = node["role"]["value"]
    return roles


async def _evaluate(session: CDPSession, context: int, expression: str) -> str:
    answer = await session.send("Runtime.evaluate", {"expression": expression, "contextId": context})
    if "exceptionDetails" in answer:
        reason = answer["result"].get("description") or answer["exceptionDetails"].get("text")
        raise PlaywrightError(f"The script in the page's own world failed: {reason}")
    handle: str = answer["result"]["objectId"]
    return handle


async def _call(session: CDPSession, handle: str, function: str, *arguments: Any) -> Any:
    answer = await session.send(
        "Runtime.callFunctionOn",
        {
            "objectId": handle,
            "functionDeclaration": function,
            "arguments": [{"value": each} for each in arguments],
            "returnByValue": True,
        },
    )
    return answer["result"].get("value")


@cache
def _script() -> str:
    return (Path(__file__).parent / "truth.js").read_text("utf-8")

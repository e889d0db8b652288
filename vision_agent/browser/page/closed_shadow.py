"""Gives the overlay the closed shadow roots of a page, which scripts cannot reach from outside.

Only Chromium can find them. It is asked only about elements that the overlay suspects, once each at each size: listing
all nodes of a page of 50,000 elements takes longer than scanning it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.page import listeners

_TAKE = "function () { return globalThis[Symbol.for('marks')]?.takeSuspects() ?? null }"
_OPEN = """function (told, ...roots) {
  const marks = globalThis[Symbol.for('marks')];
  for (const root of roots) marks.open(root);
  marks.dropSuspects(told);
}"""


async def open_roots(page: Page, timeout_s: float) -> bool:
    """Opens closed shadow roots to the overlay; returns whether it found new ones, so that a second scan is worth it.

    Never takes longer than `timeout_s` and never raises: roots that it cannot find stay closed.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return any(await asyncio.gather(*(_try_open_roots(*world) for world in listeners.overlay_worlds(page))))
    except TimeoutError:
        return False  # it hangs; the next look reports that


async def _try_open_roots(session: CDPSession, context: int) -> bool:
    try:
        return await _open_roots(session, context)
    except PlaywrightError:
        return False  # only this document is gone


async def _open_roots(session: CDPSession, context: int) -> bool:
    group = f"closed {context}"  # documents of one session are handled concurrently
    call = {"executionContextId": context, "objectGroup": group}
    try:
        taken = await session.send("Runtime.callFunctionOn", {**call, "functionDeclaration": _TAKE})
        if "objectId" not in taken["result"]:
            return False
        listed = await session.send(
            "Runtime.getProperties", {"objectId": taken["result"]["objectId"], "ownProperties": True}
        )
        hosts = [each["value"]["objectId"] for each in listed["result"] if each["name"].isdigit()]
        found = await asyncio.gather(*(_closed_roots(session, host) for host in hosts))
        roots = [root for of_one in found for root in of_one]
        handles = await asyncio.gather(*(listeners.node_handle(session, context, root, group) for root in roots))
        opened = [{"objectId": handle} for handle in handles if handle]
        arguments = [{"objectId": taken["result"]["objectId"]}, *opened]
        await session.send("Runtime.callFunctionOn", {**call, "functionDeclaration": _OPEN, "arguments": arguments})
        return bool(opened)
    finally:
        await session.send("Runtime.releaseObjectGroup", {"objectGroup": group})


async def _closed_roots(session: CDPSession, host: str) -> list[int]:
    described: dict[str, Any] = await session.send("DOM.describeNode", {"objectId": host, "depth": 0})
    roots = described["node"].get("shadowRoots", ())
    return [root["backendNodeId"] for root in roots if root["shadowRootType"] == "closed"]

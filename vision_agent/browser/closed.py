"""Shows the overlay the closed shadow roots of a page, which no script can see from outside.

Only Chromium can tell. It is asked of those elements alone that the overlay suspects to have one, and of each once: to
list all the nodes of a page of 50,000 elements would take longer than to scan it.
"""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import listeners

_TAKE = "function () { return globalThis[Symbol.for('marks')]?.takeSuspects() ?? null }"
_OPEN = "function (...roots) { for (const root of roots) globalThis[Symbol.for('marks')].open(root) }"


async def open_roots(page: Page, timeout_s: float) -> bool:
    """Whether there were closed shadow roots that the overlay did not know, so that it is worth to scan again.

    Never takes longer than its time, and never fails: what it cannot tell is not known.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return any(await asyncio.gather(*(_open_in(*world) for world in listeners.worlds(page))))
    except TimeoutError:
        return False  # it hangs, which the next look will say


async def _open_in(session: CDPSession, context: int) -> bool:
    try:
        return await _open(session, context)
    except PlaywrightError:
        return False  # this document has gone, which says nothing of the others


async def _open(session: CDPSession, context: int) -> bool:
    group = f"closed {context}"  # documents of one session are asked at once
    call = {"executionContextId": context, "objectGroup": group}
    try:
        taken = await session.send("Runtime.callFunctionOn", {**call, "functionDeclaration": _TAKE})
        if "objectId" not in taken["result"]:
            return False
        listed = await session.send(
            "Runtime.getProperties", {"objectId": taken["result"]["objectId"], "ownProperties": True}
        )
        hosts = [each["value"]["objectId"] for each in listed["result"] if each["name"].isdigit()]
        found = await asyncio.gather(*(_roots_of(session, host) for host in hosts))
        roots = [root for of_one in found for root in of_one]
        handles = await asyncio.gather(*(listeners.handle_of(session, context, root, group) for root in roots))
        arguments = [{"objectId": handle} for handle in handles if handle]
        if not arguments:
            return False
        await session.send("Runtime.callFunctionOn", {**call, "functionDeclaration": _OPEN, "arguments": arguments})
        return True
    finally:
        await session.send("Runtime.releaseObjectGroup", {"objectGroup": group})


async def _roots_of(session: CDPSession, host: str) -> list[int]:
    described: dict[str, Any] = await session.send("DOM.describeNode", {"objectId": host, "depth": 0})
    roots = described["node"].get("shadowRoots", ())
    return [root["backendNodeId"] for root in roots if root["shadowRootType"] == "closed"]

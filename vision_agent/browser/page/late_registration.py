"""Brings a selector engine into documents that Playwright had used before the engine was registered.

Playwright gives a document's isolated world its engines once, when a locator first enters it. On a page that its owner
has already filled in or waited for, the overlay would be missing until the page is reloaded. In Chromium the DevTools
protocol finds the object that holds the engines, by its prototype, and ours is added to it. Nothing in the page's own
world is read or changed.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from weakref import WeakKeyDictionary

from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import cdp

_ENTER_S = 5.0
_RELEASE_S = 1.0
_GROUP = "vision-agent-enter"
"""Name of the group in which the DevTools protocol holds the objects it found, until they are released."""

_entered: WeakKeyDictionary[CDPSession, set[str]] = WeakKeyDictionary()
"""The worlds that have the engine: entering one takes Chromium a walk through all its objects."""

_ADD = """function (name) {
  const engine = %s;
  let count = 0;
  for (const each of this) {
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(each))) {
      if (!(value instanceof Map) || !value.has('css') || !value.has('xpath') || !value.has('internal:role')) continue;
      if (!value.has(name)) value.set(name, engine);
      count += 1;
    }
  }
  return count;
}"""
"""Adds the engine to every collection of engines among the objects, and returns how many have it now. It reads only
data: no getter runs."""


async def bring_into(page: Page, world: str, name: str, source: str) -> None:
    """Adds the engine to all documents of a page, in their isolated worlds with the name `world`.

    Does nothing in other browsers than Chromium, and where Playwright keeps its engines in another way; the next
    question then fails as this one did. A frame that hangs keeps it out of no other one.
    """
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_ENTER_S):
            session = await cdp.page_session(page)
            if session is None:
                return
            sessions = (session, *await cdp.frame_sessions(page, _ENTER_S / 2))
            await asyncio.gather(*(_bring_into_session(each, world, name, source) for each in sessions))


async def _bring_into_session(session: CDPSession, world: str, name: str, source: str) -> None:
    with suppress(PlaywrightError):  # this frame is gone; the others are not
        for context in await cdp.execution_contexts(session):
            entered = _entered.setdefault(session, set())
            if context["name"] != world or context["uniqueId"] in entered:
                continue
            with suppress(PlaywrightError):  # this document is gone; the others are not
                if await _bring_into_world(session, context["id"], name, source):
                    entered.add(context["uniqueId"])


async def _bring_into_world(session: CDPSession, context_id: int, name: str, source: str) -> bool:
    """Whether the world has the engine now: Playwright may not have brought its own ones into it yet."""
    try:
        prototype = await session.send(
            "Runtime.evaluate", {"expression": "Object.prototype", "contextId": context_id, "objectGroup": _GROUP}
        )
        found = await session.send(
            "Runtime.queryObjects", {"prototypeObjectId": prototype["result"]["objectId"], "objectGroup": _GROUP}
        )
        call = {"functionDeclaration": _ADD % source, "arguments": [{"value": name}]}
        added = await session.send("Runtime.callFunctionOn", {"objectId": found["objects"]["objectId"], **call})
        return bool(added["result"].get("value"))
    finally:
        with suppress(PlaywrightError, TimeoutError):  # the page may hang
            async with asyncio.timeout(_RELEASE_S):
                await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})

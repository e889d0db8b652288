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
  for (const each of this) {
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(each))) {
      if (!(value instanceof Map) || !value.has('css') || !value.has('xpath') || !value.has('internal:role')) continue;
      if (!value.has(name)) value.set(name, engine);
    }
  }
}"""
"""Adds the engine to every collection of engines among the objects. It reads only data: no getter runs."""


async def bring_into(page: Page, world: str, name: str, source: str) -> None:
    """Adds the engine to all documents of a page, in their isolated worlds with the name `world`.

    Does nothing in other browsers than Chromium, and where Playwright keeps its engines in another way; the next
    question then fails as this one did.
    """
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_ENTER_S):
            session = await cdp.page_session(page)
            if session is None:
                return
            for each in (session, *await cdp.frame_sessions(page, _ENTER_S / 2)):
                for context in await cdp.execution_contexts(each):
                    entered = _entered.setdefault(each, set())
                    if context["name"] != world or context["uniqueId"] in entered:
                        continue
                    with suppress(PlaywrightError):  # this document is gone; the others are not
                        await _bring_into_world(each, context["id"], name, source)
                        entered.add(context["uniqueId"])


async def _bring_into_world(session: CDPSession, context_id: int, name: str, source: str) -> None:
    try:
        prototype = await session.send(
            "Runtime.evaluate", {"expression": "Object.prototype", "contextId": context_id, "objectGroup": _GROUP}
        )
        found = await session.send(
            "Runtime.queryObjects", {"prototypeObjectId": prototype["result"]["objectId"], "objectGroup": _GROUP}
        )
        call = {"functionDeclaration": _ADD % source, "arguments": [{"value": name}]}
        await session.send("Runtime.callFunctionOn", {"objectId": found["objects"]["objectId"], **call})
    finally:
        with suppress(PlaywrightError, TimeoutError):  # the page may hang
            async with asyncio.timeout(_RELEASE_S):
                await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})

"""The overlay in the page: joins its modules into one script, registers it, and asks it things.

It runs as a selector engine in Playwright's isolated world, where the page can neither see nor change it.
Knows how a question travels and how an answer comes back; not what either means.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import weakref
from collections.abc import Mapping
from functools import cache
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, ElementHandle, Frame, Locator, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import assets
from vision_agent.browser import chromium
from vision_agent.errors import BrowserUnavailable, UsageError

NAME = "mark"

_WORLD = "__playwright_utility_world"
"""How the name of Playwright's isolated world begins."""

_QUOTE = "`"
"""Stands for a quote on the way; see `main.js`."""

_ASK = "function (request) { return globalThis[Symbol.for('marks')].ask(document, document, request) }"

_IMPORT = re.compile(r"^import \{ [\w$, ]+ \} from '\./([\w-]+\.js)';$")
_EXPORT = re.compile(r"^export (?=(?:async )?function|const |class )")
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*? |const |class )([\w$]+)", re.MULTILINE)

# What Playwright says in a document whose isolated world was made before the engine was known: it looks the engine up
# there and does not check what it found. The first is what it says where the name was never registered.
_NO_ENGINE = ("Unknown engine", "Cannot read properties of undefined (reading 'queryAll')")


_SHARE_S = 1.0
"""For a frame that was silent when it was last asked: every look asks it, and it must not cost its deadline again."""
_silent: weakref.WeakKeyDictionary[Frame, str] = weakref.WeakKeyDictionary()
"""Frames within a page that gave no answer in time, and the address they had then."""


_registering: weakref.WeakKeyDictionary[Any, asyncio.Lock] = weakref.WeakKeyDictionary()
"""One at a time for each Playwright, however many pages are begun at once."""

_first: weakref.WeakSet[CDPSession] = weakref.WeakSet()
"""Those by which the guard stands first in documents."""


class FrameSilent(Exception):
    """A frame gave no answer: it hangs, crashed, navigated or is gone."""


@cache
def script() -> str:
    """The overlay as one expression whose value is the selector engine.

    Raises:
        ValueError: a module has anything but one-line named imports and `export function/const/class`,
            or two modules use the same top-level name.
    """
    return join(assets.overlay_sources(), "main.js", "engine")


@cache
def _first_script() -> str:
    return join(assets.overlay_sources(), "first.js", "standFirst()")


@cache
def script_sha256() -> str:
    """The hash of the joined script, for the record."""
    return hashlib.sha256(script().encode()).hexdigest()


def join(sources: Mapping[str, str], entry: str, value: str) -> str:
    """ES modules as one function's body, each after those it imports, and what the function returns."""
    bodies: dict[str, str] = {}

    def add(name: str) -> None:
        if name in bodies:
            return
        if name not in sources:
            raise ValueError(f"the overlay imports {name}, which is not there; there are {', '.join(sources)}")
        bodies[name] = ""
        lines = []
        for line in sources[name].splitlines():
            if found := _IMPORT.match(line):
                add(found[1])
            elif line.startswith("import ") or (line.startswith("export ") and not _EXPORT.match(line)):
                raise ValueError(f"overlay {name}: only one-line named imports and plain exports can be joined: {line}")
            else:
                lines.append(_EXPORT.sub("", line))
        del bodies[name]
        bodies[name] = "\n".join(lines)

    add(entry)
    owner: dict[str, str] = {}
    for name, body in bodies.items():
        for top_level in _TOP_LEVEL.findall(body):
            if top_level in owner:
                raise ValueError(f"overlay {name} and {owner[top_level]} both define {top_level}")
            owner[top_level] = name
    return "(() => {\n'use strict';\n" + "\n".join(bodies.values()) + f"\nreturn {value};\n}})()"


async def register(context: BrowserContext, name: str = NAME, source: str | None = None) -> None:
    """Make the engine, or another one, known to the Playwright that owns this context; a second time does nothing.

    A page's owner may have started Playwright long before us, and a page has no public way to it.
    """
    browser = getattr(context._impl_obj, "_browser", None)
    selectors = getattr(getattr(getattr(browser, "_browser_type", None), "_playwright", None), "selectors", None)
    if selectors is None:
        raise UsageError(
            "The marks cannot be registered for this page: its Playwright was not found",
            "hand over a page that browser.new_page() or context.new_page() gave",
        )
    # Playwright notes the name only when every context has answered, and refuses one that comes a second time before.
    async with _registering.setdefault(selectors, asyncio.Lock()):
        if any(engine["name"] == name for engine in selectors._selector_engines):
            return
        try:
            await selectors.register(name, source or script(), None, True)
        except PlaywrightError as error:
            raise BrowserUnavailable(
                f"The browser of this page is gone: {error.message.splitlines()[0]}",
                "hand over a page of a running one",
            ) from error


async def stand_first(page: Page) -> None:
    """Have the guard of presses heard before the page's own scripts, in each document that comes from now on.

    Isolated worlds of one name are one, whoever made them (seen in Chromium 156), so this reaches Playwright's.
    """
    if await chromium.session_of(page) is None:
        return
    world = world_of(page)
    for session in chromium.opened_sessions(page):
        if session not in _first:
            await session.send("Page.enable")  # without it nothing is evaluated
            await session.send("Page.addScriptToEvaluateOnNewDocument", {"source": _first_script(), "worldName": world})
            _first.add(session)  # not before: who is interrupted here comes again


def world_of(page: Page) -> str:
    """The name of the isolated world in every document of a page."""
    return f"{_WORLD}_{page._impl_obj._guid}"


async def ask(frame: Frame | ElementHandle, question: str, timeout_s: float, **details: Any) -> dict[str, Any]:
    """The overlay's answer in one frame, or about one element of it.

    A frame in a page that was silent last time gets only a short share of the deadline, until it answers or navigates.
    Where a frame has crashed, the answer of the page itself says so: `crashed`.

    Raises:
        FrameSilent: no answer within the deadline, and why.
        BrowserUnavailable: the browser is gone.
        UsageError: the page was used through locators before the overlay came, so it cannot enter.
    """
    if isinstance(frame, Frame) and is_silent(frame):
        timeout_s = min(timeout_s, _SHARE_S)
    body = base64.b64encode(json.dumps({"ask": question, **details}).encode()).decode()
    try:
        async with asyncio.timeout(timeout_s + 0.5):
            if isinstance(frame, Frame):
                content = await frame.locator(f"{NAME}={body}").text_content(timeout=timeout_s * 1000)
            else:
                carrier = await frame.query_selector(f"{NAME}={body}")
                content = await carrier.text_content() if carrier else None
    except (TimeoutError, PlaywrightTimeout):
        if isinstance(frame, Frame) and frame.parent_frame is not None:
            _silent[frame] = frame.url
        raise FrameSilent(f"no answer within {timeout_s:g} s") from None
    except PlaywrightError as error:
        told = None
        if isinstance(frame, Frame) and is_crash(error):
            told = await _told_by_chromium(frame, {"ask": question, **details}, timeout_s)
        if told is None and is_gone(error) and _is_open_around(frame):
            raise FrameSilent("its frame was closed") from error  # a frame of another process ends like a browser
        if told is None:
            raise translated(error) from error
        return told
    if isinstance(frame, Frame):
        _silent.pop(frame, None)
    if content is None:
        raise FrameSilent("the answer was lost")
    answer: dict[str, Any] = json.loads(content.replace(_QUOTE, '"'))
    return answer


def _is_open_around(frame: Frame | ElementHandle) -> bool:
    """Whether it is only a frame of a page that goes on."""
    return isinstance(frame, Frame) and frame is not frame.page.main_frame and not frame.page.is_closed()


async def _told_by_chromium(frame: Frame, request: dict[str, Any], timeout_s: float) -> dict[str, Any] | None:
    """The answer of the page's own document, of which Playwright says nothing more once any frame has crashed."""
    if frame.parent_frame is not None:
        return None
    try:
        async with asyncio.timeout(timeout_s):
            session = await chromium.session_of(frame.page)
            if session is None:
                return None
            main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            contexts = await chromium.contexts_of(session)
            here = [each["id"] for each in contexts if each["auxData"]["frameId"] == main and is_ours(each)]
            if not here:
                return None
            call = {"executionContextId": here[0], "functionDeclaration": _ASK, "arguments": [{"value": request}]}
            said = await session.send("Runtime.callFunctionOn", {**call, "returnByValue": True})
    except (PlaywrightError, TimeoutError):
        return None  # it has crashed itself
    told: dict[str, Any] | None = said["result"].get("value")
    return told and {**told, "crashed": True}


def is_ours(context: Mapping[str, Any]) -> bool:
    """Whether a place where scripts run, as Chromium tells of it, is the isolated world of the overlay."""
    name: str = context["name"]
    return name.startswith(_WORLD)


def is_silent(frame: Frame) -> bool:
    """Whether it gave no answer when it was last asked, and has not gone elsewhere since."""
    return _silent.get(frame) == frame.url


def live(frame: Frame, key: str) -> Locator:
    """The live element behind a key, with Playwright's own waiting and checks."""
    return frame.locator(f"{NAME}=key:{key}")


def translated(error: PlaywrightError) -> Exception:
    """What a Playwright error means for the caller of the overlay."""
    message = error.message.splitlines()[0] if error.message else str(error)
    if any(words in message for words in _NO_ENGINE):
        return UsageError(
            "The overlay cannot enter this page: locators were used on its document before it was handed over",
            "reload the page and hand it over again, or hand it over before using locators",
        )
    if is_gone(error):
        return BrowserUnavailable(f"The browser is gone: {message}", "start the run again")
    return FrameSilent(message)


def is_crash(error: PlaywrightError) -> bool:
    """Whether the page has crashed, or only a frame in it: Playwright does not tell."""
    return "Page crashed" in error.message


def is_gone(error: PlaywrightError) -> bool:
    """Whether nothing more can be expected of the browser."""
    return "Target page, context or browser has been closed" in error.message or "Connection closed" in error.message

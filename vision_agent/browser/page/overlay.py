"""The overlay in the page: joins its modules into one script, registers it, and asks it questions.

It runs as a selector engine in Playwright's isolated world, where the page can neither see nor change it.
Knows how questions and answers are transported; `overlay_calls` knows what they mean.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, ElementHandle, Frame, Locator, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import assets
from vision_agent.browser import cdp
from vision_agent.browser.page import late_registration
from vision_agent.errors import BrowserUnavailable, UsageError

_Json = dict[str, Any]

NAME = "mark"
GO_ON = "start the run again; if the page is your own, open a new one and hand that over"
"""What helps where the page or its browser is gone."""
_ENTRIES = 3
"""Attempts to bring the overlay into used documents. A frame that waited for the registration of another one may have
got its world too late for it."""

_WORLD = "__playwright_utility_world"
"""Prefix of the name of Playwright's isolated world."""

_QUOTE = "`"
"""Replaces double quotes in transport; see `main.js`."""

_ASK = "function (request) { return globalThis[Symbol.for('marks')]?.ask(document, document, request) }"

_IMPORT = re.compile(r"^import \{ [\w$, ]+ \} from '\./([\w-]+\.js)';$")
_EXPORT = re.compile(r"^export (?=(?:async )?function|const |class )")
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*[^*]*(?:\*(?!/)[^*]*)*\*/[ \t]*)\n", re.MULTILINE)
"""A comment that has its lines to itself."""
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
_LARGE = re.compile("[^\x00-\uffff]")
"""A character that takes two escapes, which not every kind of string and expression can have."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*? |const |class )([\w$]+)", re.MULTILINE)

# Playwright's errors in a document whose isolated world is older than the engine's registration: it looks the engine up
# there without checking the result. The first one is for a name that was never registered.
_NO_ENGINE = ("Unknown engine", "Cannot read properties of undefined (reading 'queryAll')")


_SILENT_S = 1.0
"""Deadline for a frame that was silent last time: every look asks it, and must not wait the full deadline again."""
_silent_frames: weakref.WeakKeyDictionary[Frame, str] = weakref.WeakKeyDictionary()
"""Child frames that did not answer in time, with their address at that time."""


_register_locks: weakref.WeakKeyDictionary[Any, asyncio.Lock] = weakref.WeakKeyDictionary()
"""Serializes registration for each Playwright, however many pages start at once."""

_entering: weakref.WeakKeyDictionary[Page, asyncio.Lock] = weakref.WeakKeyDictionary()
"""Whether the overlay is being brought into the used documents of a page: all frames notice at once."""

_early_listeners: weakref.WeakSet[CDPSession] = weakref.WeakSet()
"""Sessions that have installed the early listener."""


_JOINED = frozenset(
    {"check", "focused", "frame", "guard", "guarded", "paint", "quiet", "remember_values", "title", "token"}
)
"""Questions that are answered in a moment: those that are asked of a frame at the same time go in one message, because
a message costs more than most answers."""
_joined: weakref.WeakKeyDictionary[Frame, _Message] = weakref.WeakKeyDictionary()
"""The message to each frame that has not been sent yet."""


class FrameSilent(Exception):
    """A frame did not answer: it hangs, crashed, navigated or is gone."""


@cache
def script() -> str:
    """The overlay as one expression whose value is the selector engine.

    Raises:
        ValueError: a module has anything but one-line named imports and `export function/const/class`,
            or two modules use the same top-level name.
    """
    return join(assets.overlay_sources(), "main.js", "engine")


@cache
def _early_listener_script() -> str:
    return join(assets.overlay_sources(), "guard_listener.js", "listenEarly()")


@cache
def script_sha256() -> str:
    """The hash of the joined script, for the record."""
    return hashlib.sha256(script().encode()).hexdigest()


def join(sources: Mapping[str, str], entry: str, value: str) -> str:
    """One expression that runs the ES modules, each after those it imports, and returns `value`."""
    bodies: dict[str, str] = {}

    def add(name: str) -> None:
        if name in bodies:
            return
        if name not in sources:
            raise ValueError(f"the overlay imports {name}, which does not exist; there are {', '.join(sources)}")
        bodies[name] = ""
        lines = []
        for line in sources[name].splitlines():
            if found := _IMPORT.match(line):
                add(found[1])
            elif line.startswith("import ") or (line.startswith("export ") and not _EXPORT.match(line)):
                raise ValueError(f"overlay {name}: only one-line named imports and plain exports can be joined: {line}")
            else:
                lines.append(_EXPORT.sub("", line))
        if large := _LARGE.search(sources[name]):
            raise ValueError(f"overlay {name}: characters beyond U+FFFF can only be written as escapes: {large[0]}")
        del bodies[name]
        bodies[name] = "\n".join(lines)

    add(entry)
    owner: dict[str, str] = {}
    for name, body in bodies.items():
        for top_level in _TOP_LEVEL.findall(body):
            if top_level in owner:
                raise ValueError(f"overlay {name} and {owner[top_level]} both define {top_level}")
            owner[top_level] = name
    return "(() => {\n'use strict';\n" + _slimmed("\n".join(bodies.values())) + f"\nreturn {value};\n}})()"


def _slimmed(script: str) -> str:
    """The script without comments and indentation, in ASCII: each new document gets all of it before its first look.

    A string that has other characters takes Chromium twice the room, and a third longer to pass on.
    """
    bare = _INDENT.sub("", _COMMENT.sub("", f"{script}\n"))
    return _NOT_ASCII.sub(lambda found: rf"\u{ord(found[0]):04x}", bare)


async def register(context: BrowserContext, name: str = NAME, source: str | None = None) -> None:
    """Registers the overlay, or another engine, with the Playwright that owns this context; idempotent.

    Uses Playwright's internals: the page's owner may have started Playwright long ago, and a page has no public path
    to it.

    Raises:
        UsageError: the Playwright of this context was not found.
        BrowserUnavailable: the browser is gone.
    """
    browser = getattr(context._impl_obj, "_browser", None)
    selectors = getattr(getattr(getattr(browser, "_browser_type", None), "_playwright", None), "selectors", None)
    if selectors is None:
        raise UsageError(
            "The marks cannot be registered for this page: its Playwright was not found",
            "hand over a page from browser.new_page() or context.new_page()",
        )
    # Playwright stores the name only once every context has answered, and rejects a second registration until then.
    async with _register_locks.setdefault(selectors, asyncio.Lock()):
        if any(engine["name"] == name for engine in selectors._selector_engines):
            return
        try:
            await selectors.register(name, source or script(), None, True)
        except PlaywrightError as error:
            raise BrowserUnavailable(
                f"The browser of this page is gone: {error.message.splitlines()[0]}",
                "hand over a page of a running browser",
            ) from error


async def register_early_listener(page: Page) -> None:
    """Installs the press guard's listener ahead of the page's own scripts in every new document.

    Isolated worlds with the same name are shared, whoever created them (seen in Chromium 156), so this reaches
    Playwright's.
    """
    session = await cdp.page_session(page)
    if session is None or session in _early_listeners:
        return
    script = {"source": _early_listener_script(), "worldName": isolated_world_name(page)}
    commands = [
        ("Page.enable", {}),  # without it, no script is evaluated
        ("Page.addScriptToEvaluateOnNewDocument", script),
    ]
    for command, details in commands:
        await session.send(command, details)
    await cdp.send_to_frames(session, commands)
    _early_listeners.add(session)  # last: an interrupted call is repeated


def isolated_world_name(page: Page) -> str:
    """The name of the isolated world in all documents of a page."""
    return f"{_WORLD}_{page._impl_obj._guid}"


async def ask(frame: Frame | ElementHandle, question: str, timeout_s: float, **details: Any) -> dict[str, Any]:
    """The overlay's answer in one frame, or about one element.

    Documents that were used before the overlay was registered get it now. A child frame that was silent last time gets
    only a short deadline until it answers or navigates.
    If a frame of the page has crashed, the main frame's answer contains `crashed`.

    Raises:
        FrameSilent: no answer within the deadline, and why; or locators were used in a child frame before the overlay
            was registered, and it cannot enter any more.
        BrowserUnavailable: the browser is gone.
        UsageError: locators were used on the page before the overlay was registered, and it cannot enter any more.
    """
    for _ in range(_ENTRIES):
        try:
            return await _ask(frame, question, timeout_s, **details)
        except UsageError:
            if not isinstance(frame, Frame):
                raise
        await _register_late(frame.page)
    try:
        return await _ask(frame, question, timeout_s, **details)
    except UsageError:
        if not isinstance(frame, Frame) or frame.parent_frame is None:
            raise
        # A frame that is missing is said to be; it makes the page around it no less usable.
        raise FrameSilent("it was in use before, and could not be entered in time") from None


async def _register_late(page: Page) -> None:
    """Brings the overlay into all documents of a page, or waits while that is under way."""
    lock = _entering.setdefault(page, asyncio.Lock())
    is_being_entered = lock.locked()
    async with lock:
        if not is_being_entered:
            await late_registration.bring_into(page, isolated_world_name(page), NAME, script())


async def _ask(frame: Frame | ElementHandle, question: str, timeout_s: float, **details: Any) -> dict[str, Any]:
    if isinstance(frame, Frame) and is_silent(frame):
        timeout_s = min(timeout_s, _SILENT_S)
    request = {"ask": question, **details}
    try:
        async with asyncio.timeout(timeout_s + 0.5):
            if isinstance(frame, Frame):
                answer = await (_send_joined if question in _JOINED else _send)(frame, request, timeout_s)
            else:
                carrier = await frame.query_selector(f"{NAME}={_encode(request)}")
                answer = _decode(await carrier.text_content() if carrier else None)
    except (TimeoutError, PlaywrightTimeout):
        if isinstance(frame, Frame) and frame.parent_frame is not None:
            _silent_frames[frame] = frame.url
        raise FrameSilent(f"no answer within {timeout_s:g} s") from None
    except PlaywrightError as error:
        answered = None
        if isinstance(frame, Frame) and is_crash_error(error):
            answered = await _ask_through_cdp(frame, request, timeout_s)
        if answered is None and is_browser_gone(error) and _is_frame_of_open_page(frame):
            raise FrameSilent("its frame was closed") from error  # an out-of-process frame ends like a browser
        if answered is None:
            raise translate_error(error) from error
        return answered
    if isinstance(frame, Frame):
        _silent_frames.pop(frame, None)
    if answer is None:
        raise FrameSilent("the answer was lost")
    return answer


async def _send(frame: Frame, request: _Json, timeout_s: float) -> _Json | None:
    """The answer to one message; None if it was lost."""
    return _decode(await frame.locator(f"{NAME}={_encode(request)}").text_content(timeout=timeout_s * 1000))


@dataclass(eq=False)
class _Message:
    """Questions to a frame that go together."""

    requests: list[_Json] = field(default_factory=list)
    timeout_s: float = 0.0
    waiting: int = 0
    """How many wait for an answer."""
    sending: asyncio.Task[list[_Json]] = field(init=False)


async def _send_joined(frame: Frame, request: _Json, timeout_s: float) -> _Json | None:
    """Like `_send`, but in one message with what else is being asked of the frame."""
    message = _joined.get(frame)
    if message is None:
        message = _joined[frame] = _Message()
        message.sending = asyncio.create_task(_send_message(frame, message))
    place = len(message.requests)
    message.requests.append(request)
    message.timeout_s = max(message.timeout_s, timeout_s)
    message.waiting += 1
    try:
        told = (await asyncio.shield(message.sending))[place]
    finally:
        message.waiting -= 1
        if not message.waiting:
            _stop_sending(frame, message)
    if "thrown" in told:
        raise FrameSilent(told["thrown"])
    answer: _Json | None = told["answer"]
    return answer


async def _send_message(frame: Frame, message: _Message) -> list[_Json]:
    """For each request, its answer or what was thrown."""
    await asyncio.sleep(0)  # tasks that were begun together take two turns of the loop to get here
    del _joined[frame]  # what is asked from now on goes in another message
    requests = message.requests
    if len(requests) == 1:
        return [{"answer": await _send(frame, requests[0], message.timeout_s)}]
    came = await _send(frame, {"ask": "several", "requests": requests}, message.timeout_s)
    answers: list[_Json] = came["answers"] if came else [{"answer": None}] * len(requests)
    return answers


def _stop_sending(frame: Frame, message: _Message) -> None:
    """Gives a message up that nobody waits for, unless it has been answered."""
    if _joined.get(frame) is message:
        del _joined[frame]
    message.sending.cancel()


def _encode(request: _Json) -> str:
    return base64.b64encode(json.dumps(request).encode()).decode()


def _decode(content: str | None) -> _Json | None:
    answer: _Json | None = json.loads(content.replace(_QUOTE, '"')) if content is not None else None
    return answer


def _is_frame_of_open_page(frame: Frame | ElementHandle) -> bool:
    """Whether this is a child frame of a page that is still open."""
    return isinstance(frame, Frame) and frame is not frame.page.main_frame and not frame.page.is_closed()


async def _ask_through_cdp(frame: Frame, request: dict[str, Any], timeout_s: float) -> dict[str, Any] | None:
    """The main frame's answer over CDP: once any frame has crashed, Playwright does not answer for the page at all."""
    if frame.parent_frame is not None:
        return None
    try:
        async with asyncio.timeout(timeout_s):
            session = await cdp.page_session(frame.page)
            if session is None:
                return None
            main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            contexts = await cdp.execution_contexts(session)
            here = [each["id"] for each in contexts if each["auxData"]["frameId"] == main and is_overlay_world(each)]
            if not here:
                return None
            call = {"functionDeclaration": _ASK, "arguments": [{"value": request}], "returnByValue": True}
            answer = await _answer_in(session, here[0], call)
            if answer is None:
                # Nor does it bring the overlay into a document that came after the crash.
                await session.send("Runtime.evaluate", {"expression": script(), "contextId": here[0]})
                answer = await _answer_in(session, here[0], call)
    except (PlaywrightError, TimeoutError):
        return None  # the main frame itself has crashed
    return answer and {**answer, "crashed": True}


async def _answer_in(session: CDPSession, context_id: int, call: dict[str, Any]) -> dict[str, Any] | None:
    result = await session.send("Runtime.callFunctionOn", {**call, "executionContextId": context_id})
    answer: dict[str, Any] | None = result["result"].get("value")
    return answer


def is_overlay_world(context: Mapping[str, Any]) -> bool:
    """Whether an execution context, as CDP describes it, is the isolated world of the overlay."""
    name: str = context["name"]
    return name.startswith(_WORLD)


def is_silent(frame: Frame) -> bool:
    """Whether a frame did not answer last time, and has not navigated since."""
    return _silent_frames.get(frame) == frame.url


def element_locator(frame: Frame, key: str) -> Locator:
    """A locator for the live element with a key, with Playwright's own waiting and checks."""
    return frame.locator(f"{NAME}=key:{key}")


def translate_error(error: PlaywrightError) -> Exception:
    """The exception that a Playwright error stands for: `UsageError`, `BrowserUnavailable` or `FrameSilent`."""
    message = error.message.splitlines()[0] if error.message else str(error)
    if any(words in message for words in _NO_ENGINE):
        return UsageError(
            "The overlay cannot enter this page: locators were used on its document before it was handed over",
            "reload the page and hand it over again, or hand it over before using locators",
        )
    if is_browser_gone(error):
        return BrowserUnavailable(f"The browser is gone: {message}", GO_ON)
    return FrameSilent(message)


def is_crash_error(error: PlaywrightError) -> bool:
    """Whether the page or a frame in it has crashed; Playwright does not distinguish them."""
    return "Page crashed" in error.message


def is_browser_gone(error: PlaywrightError) -> bool:
    """Whether the page, its context or the browser is closed."""
    return "Target page, context or browser has been closed" in error.message or "Connection closed" in error.message

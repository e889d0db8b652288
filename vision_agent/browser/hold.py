"""Holds back requests in a browser that is already running, where a page was handed over or a browser connected to.

Chromium pauses each request, each hop of a redirect too, and asks whether it may leave: for the documents that are
open, and for every document, popup and worker that begins from now on. Web sockets are not asked about; they are kept
from hosts by rules of the network that Chromium is given beforehand. Nothing of it shows in a page. What neither
reaches is in `NOT_HELD`, for whoever wants to know how tight it is.

The whole browser context of the page is held, other contexts of the same browser are let alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from ada_url import URL
from playwright.async_api import Browser, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import chromium
from vision_agent.browser.gate import Gate, Policy
from vision_agent.errors import BrowserUnavailable, UsageError

NOT_HELD = (
    "lookups of names, and connections that are opened ahead of a request and then carry none",
    "web sockets of popups, of frames of other sites, and of workers",
    "WebRTC over TCP, WebTransport, and pages that a page asks to have fetched beforehand",
)
"""What can reach a foreign host all the same, in words; a browser that we launch has none of it."""

_ASK_S = 5.0
_APART_S = 1.0
_RELEASE_S = 1.0
_LEAVES = {"http:", "https:", "ws:", "wss:"}
_OFF = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
_ON = {**_OFF, "offline": False}
_NO_DATAGRAMS = {**_ON, "urlPattern": "", "packetLoss": 100}
"""WebRTC has no address that a pattern could match; an empty one stands for it."""


@asynccontextmanager
async def held(page: Page, gate: Gate) -> AsyncIterator[None]:
    """As long as this lasts, requests in the page's browser context leave only for hosts that the gate lets through.

    Raises:
        UsageError: the browser is not Chromium.
        BrowserUnavailable: it is gone, or does not answer.
    """
    browser = page.context.browser
    if browser is None or browser.browser_type.name != "chromium":
        raise UsageError("Hosts can only be limited in Chromium", "let the agent launch the browser, or leave them out")
    hold = _Hold(page, browser, gate)
    try:
        try:
            await hold.begin()
        except (PlaywrightError, TimeoutError) as error:
            why = str(error).strip().partition("\n")[0] or f"it did not answer within {_ASK_S:g} s"
            raise BrowserUnavailable(
                f"Requests of the page cannot be held back: {why}",
                "let the agent launch the browser",
            ) from error
        yield
    finally:
        await hold.end()


class _Hold:
    def __init__(self, page: Page, browser: Browser, gate: Gate) -> None:
        self._page = page
        self._browser = browser
        self._gate = gate
        self._context_id = ""
        self._watch: CDPSession | None = None
        self._sessions: list[CDPSession] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        async with asyncio.timeout(_ASK_S):
            own = await self._page.context.new_cdp_session(self._page)
            self._sessions.append(own)
            self._context_id = (await own.send("Target.getTargetInfo"))["targetInfo"].get("browserContextId", "")
            self._watch = await self._browser.new_browser_cdp_session()
            self._sessions.append(self._watch)
            await self._ask_for(self._watch, self._is_ours)
            # Those that run already were started without being asked about; they start again when they are needed.
            await own.send("ServiceWorker.enable")
            await own.send("ServiceWorker.stopAllWorkers")
            await own.send("ServiceWorker.disable")
            await self._take(self._page)
        self._page.context.on("page", self._came)
        for each in self._page.context.pages:
            if each is not self._page:
                await self._take_if_it_can(each)

    async def end(self) -> None:
        """Gives everything back; what is paused goes on by itself."""
        with suppress(KeyError, ValueError):
            self._page.context.remove_listener("page", self._came)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self._sessions:
            # A page that is closed has taken its session along.
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_RELEASE_S):
                    await session.detach()

    def _came(self, page: Page) -> None:
        self._spawn(self._take_if_it_can(page))

    async def _take_if_it_can(self, page: Page) -> None:
        with suppress(PlaywrightError, TimeoutError):  # it may be closing, or hang
            async with asyncio.timeout(_ASK_S):
                await self._take(page)

    async def _take(self, page: Page) -> None:
        """Holds what a page has open already: its documents and its sockets."""
        session = await page.context.new_cdp_session(page)
        self._sessions.append(session)
        await self._ask_for(session, _always)
        await session.send("Network.enable")
        rules = {"matchedNetworkConditions": network_rules(self._gate.policy)}
        await session.send("Network.emulateNetworkConditionsByRule", rules)

    async def _ask_for(self, session: CDPSession, is_ours: Callable[[str], Awaitable[bool]]) -> None:
        def paused(event: dict[str, Any]) -> None:
            self._spawn(self._decide(session, event, is_ours))

        session.on("Fetch.requestPaused", paused)
        await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    async def _decide(
        self, session: CDPSession, event: dict[str, Any], is_ours: Callable[[str], Awaitable[bool]]
    ) -> None:
        request = {"requestId": event["requestId"]}
        host = _host_asked(event["request"]["url"])
        with suppress(PlaywrightError, TimeoutError):  # whoever asked may be gone
            async with asyncio.timeout(_ASK_S):
                if host is None or not self._gate.policy.objection(host) or not await is_ours(event.get("frameId", "")):
                    await session.send("Fetch.continueRequest", request)
                else:
                    self._gate.lets(host)  # it does not, and tells
                    # A document that is only aborted leaves the page as it was; else an error page takes its place.
                    reason = "Aborted" if event.get("resourceType") == "Document" else "BlockedByClient"
                    await session.send("Fetch.failRequest", {**request, "errorReason": reason})

    async def _is_ours(self, frame_id: str) -> bool:
        """Whether the frame or worker that asks belongs to the context that is held."""
        assert self._watch is not None
        targets = (await self._watch.send("Target.getTargets"))["targetInfos"]
        contexts = {each["targetId"]: each.get("browserContextId", "") for each in targets}
        if frame_id in contexts:
            return bool(contexts[frame_id] == self._context_id)
        if set(contexts.values()) == {self._context_id}:
            return True
        # A frame that shares the process of its page is no target of its own.
        for page in self._page.context.pages:
            for session in [await chromium.session_of(page), *await chromium.sessions_apart(page, _APART_S)]:
                if session is not None and frame_id in _frames((await session.send("Page.getFrameTree"))["frameTree"]):
                    return True
        return False

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def network_rules(policy: Policy) -> list[dict[str, Any]]:
    """The policy as Chromium's network takes it; of several rules that match an address the first holds."""
    rules = [{**_OFF, "urlPattern": _pattern(host)} for host in policy.denied]
    if policy.hosts is not None:
        rules += [{**_ON, "urlPattern": _pattern(host)} for host in policy.hosts]
        rules.append({**_OFF, "urlPattern": "*://*:*/*"})
    return [*rules, _NO_DATAGRAMS]


def _pattern(host: str) -> str:
    if host.startswith("["):
        return f"*://{host.replace(':', chr(92) + ':')}:*/*"
    return f"*://{host}{{.}}?:*/*"


def _host_asked(url: str) -> str | None:
    """The host that a request would reach; none where it stays in the browser."""
    try:
        parsed = URL(url)
    except ValueError:
        return ""
    return parsed.hostname if parsed.protocol in _LEAVES else None


def _frames(tree: dict[str, Any]) -> set[str]:
    """The ids of a frame and of those in it."""
    return {tree["frame"]["id"]}.union(*(_frames(each) for each in tree.get("childFrames", [])))


async def _always(frame_id: str) -> bool:
    del frame_id
    return True

"""Intercepts requests in a browser that is already running: a page was handed over, or we connected to the browser.

Chromium pauses every request, including each redirect hop, and asks whether it may continue: in open documents, and in
every document, popup and worker that starts from now on. Web sockets are not paused; network rules, set before the
first script of each document and worker runs, block them. Pages cannot detect any of this. `NOT_INTERCEPTED` lists
what neither mechanism covers.

Covers the whole browser context of the page; other contexts of the same browser are not affected.

In a browser that we launch, the proxy refuses connections; there, only requests for documents are intercepted, so that
a blocked one leaves the page as it was. Otherwise Chromium would show its error page, and what was typed would be lost.
Requests for files of this machine are intercepted there too, because no proxy sees them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

from ada_url import URL
from playwright.async_api import Browser, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import cdp
from vision_agent.browser.network.all_targets import Command, every_target
from vision_agent.browser.network.host_policy import Gate, Policy
from vision_agent.errors import BrowserUnavailable, UsageError

NOT_INTERCEPTED = (
    "DNS lookups, and connections that are opened ahead of a request and never carry one",
    "web sockets of shared workers, and of an empty popup that its opener scripts at once",
    "WebRTC over TCP, WebTransport, background fetches, and prefetched pages",
)
"""What can still reach a blocked host, in words; none of it in a browser that we launch."""

_ASK_S = 5.0
_APART_S = 1.0
_RELEASE_S = 1.0
_LEAVES = {"http:", "https:", "ws:", "wss:"}
_OFF = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
_ON = {**_OFF, "offline": False}
_NO_DATAGRAMS = {**_ON, "urlPattern": "", "packetLoss": 100}
"""WebRTC has no address for a pattern to match; the empty pattern stands for it."""


@asynccontextmanager
async def intercept_requests(page: Page, gate: Gate) -> AsyncIterator[None]:
    """Inside the `with` block, requests in the page's browser context reach only hosts that the gate allows.

    Raises:
        UsageError: the browser is not Chromium.
        BrowserUnavailable: it is gone, or does not answer.
    """
    browser = page.context.browser
    if browser is None or browser.browser_type.name != "chromium":
        raise UsageError("Hosts can only be limited in Chromium", "let the agent launch the browser, or leave them out")
    async with _intercepted(_Interception(page, browser, gate)):
        yield


@asynccontextmanager
async def keep_blocked_pages(page: Page, gate: Gate) -> AsyncIterator[None]:
    """Inside the `with` block, a document that the gate does not allow leaves the page that asked for it as it was.

    For a browser that we launched for this page alone: everything but documents is left to its proxy.

    Raises:
        BrowserUnavailable: the browser is gone, or does not answer.
    """
    browser = page.context.browser
    if browser is None or browser.browser_type.name != "chromium":
        yield
        return
    async with _intercepted(_Interception(page, browser, gate, only_documents=True)):
        yield


@asynccontextmanager
async def _intercepted(interception: _Interception) -> AsyncIterator[None]:
    try:
        try:
            await interception.begin()
        except (PlaywrightError, TimeoutError) as error:
            why = str(error).strip().partition("\n")[0] or f"it did not answer within {_ASK_S:g} s"
            raise BrowserUnavailable(
                f"Requests of the page cannot be intercepted: {why}",
                "let the agent launch the browser",
            ) from error
        yield
    finally:
        await interception.end()


class _Interception:
    def __init__(self, page: Page, browser: Browser, gate: Gate, *, only_documents: bool = False) -> None:
        self._only_documents = only_documents
        self._page = page
        self._browser = browser
        self._gate = gate
        self._context_id = ""
        self._watch: CDPSession | None = None
        self._sessions: list[CDPSession] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._targets = AsyncExitStack()

    async def begin(self) -> None:
        async with asyncio.timeout(_ASK_S):
            own = await self._page.context.new_cdp_session(self._page)
            self._sessions.append(own)
            self._context_id = (await own.send("Target.getTargetInfo"))["targetInfo"].get("browserContextId", "")
            self._watch = await self._browser.new_browser_cdp_session()
            self._sessions.append(self._watch)
            await self._pause_requests(self._watch, _always if self._only_documents else self._is_ours)
            if self._only_documents:
                await self._intercept_page(self._page)
                return
            # Running service workers started without interception; Chromium restarts them when needed.
            await own.send("ServiceWorker.enable")
            await own.send("ServiceWorker.stopAllWorkers")
            await own.send("ServiceWorker.disable")
            await self._targets.enter_async_context(every_target(self._watch, self._network_commands))
            await self._intercept_page(self._page)
        self._page.context.on("page", self._on_page)
        for each in self._page.context.pages:
            if each is not self._page:
                await self._try_intercept_page(each)

    async def end(self) -> None:
        """Detaches all sessions; paused requests then continue."""
        with suppress(KeyError, ValueError):
            self._page.context.remove_listener("page", self._on_page)
        await self._targets.aclose()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for session in self._sessions:
            # A closed page has closed its session.
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(_RELEASE_S):
                    await session.detach()

    def _on_page(self, page: Page) -> None:
        self._spawn(self._try_intercept_page(page))

    async def _try_intercept_page(self, page: Page) -> None:
        with suppress(PlaywrightError, TimeoutError):  # it may be closing, or hang
            async with asyncio.timeout(_ASK_S):
                await self._intercept_page(page)

    async def _intercept_page(self, page: Page) -> None:
        """Intercepts the documents that a page already has."""
        session = await page.context.new_cdp_session(page)
        self._sessions.append(session)
        await self._pause_requests(session, _always)

    def _network_commands(self, target: dict[str, Any]) -> list[Command] | None:
        """What blocks the web sockets and datagrams of a target; None if it belongs to another context."""
        if target.get("browserContextId", self._context_id) != self._context_id:
            return None
        rules = {"matchedNetworkConditions": network_rules(self._gate.policy)}
        commands: list[Command] = [("Network.emulateNetworkConditionsByRule", rules)]
        # Only service workers need the events too, or the rules do nothing (Chromium 156).
        return [("Network.enable", {}), *commands] if target["type"] == "service_worker" else commands

    async def _pause_requests(self, session: CDPSession, is_ours: Callable[[str], Awaitable[bool]]) -> None:
        def paused(event: dict[str, Any]) -> None:
            self._spawn(self._decide(session, event, is_ours))

        session.on("Fetch.requestPaused", paused)
        patterns = [{"urlPattern": "*"}]
        if self._only_documents:
            patterns = [{"urlPattern": "*", "resourceType": "Document"}, {"urlPattern": "file://*"}]
        await session.send("Fetch.enable", {"patterns": patterns})

    async def _decide(
        self, session: CDPSession, event: dict[str, Any], is_ours: Callable[[str], Awaitable[bool]]
    ) -> None:
        request = {"requestId": event["requestId"]}
        url = event["request"]["url"]
        host = _request_host(url)
        is_file = host is None and bool(self._gate.policy.file_objection(url)) and url.startswith("file:")
        with suppress(PlaywrightError, TimeoutError):  # the requesting page may be gone
            async with asyncio.timeout(_ASK_S):
                is_blocked = is_file or (host is not None and bool(self._gate.policy.objection(host)))
                if not is_blocked or not await is_ours(event.get("frameId", "")):
                    await session.send("Fetch.continueRequest", request)
                else:
                    self._report(url, host, await self._asker(event))
                    # An aborted document leaves the page as it was; any other error replaces it with an error page.
                    is_document = event.get("resourceType") == "Document"
                    reason = "Aborted" if is_document else "BlockedByClient"
                    await session.send("Fetch.failRequest", {**request, "errorReason": reason})
                    if is_document:
                        await self._close_empty_popup(event.get("frameId", ""))

    def _report(self, url: str, host: str | None, asker: str) -> None:
        if host is None:
            self._gate.allows_file(url, asker)
        else:
            self._gate.allows(host, _request_port(url), asker)

    async def _asker(self, event: dict[str, Any]) -> str:
        """Who sent a request: `the page`, `a frame`, or nothing if that is not known, as of a worker."""
        assert self._watch is not None
        targets = (await self._watch.send("Target.getTargets"))["targetInfos"]
        kind = next((each["type"] for each in targets if each["targetId"] == event.get("frameId")), "")
        # A frame that shares the process of its page is not a target.
        is_frame = kind == "iframe" or (not kind and event.get("resourceType") == "Document")
        return "the page" if kind == "page" else "a frame" * is_frame

    async def _close_empty_popup(self, frame_id: str) -> None:
        """Closes the tab of a document that was blocked, if a page opened it and it has shown nothing else."""
        assert self._watch is not None
        targets = (await self._watch.send("Target.getTargets"))["targetInfos"]
        for each in targets:
            is_popup = each["targetId"] == frame_id and each["type"] == "page" and each.get("openerId")
            if is_popup and each["url"] in ("", "about:blank"):
                await self._watch.send("Target.closeTarget", {"targetId": frame_id})

    async def _is_ours(self, frame_id: str) -> bool:
        """Whether the requesting frame or worker belongs to the intercepted context."""
        assert self._watch is not None
        targets = (await self._watch.send("Target.getTargets"))["targetInfos"]
        contexts = {each["targetId"]: each.get("browserContextId", "") for each in targets}
        if frame_id in contexts:
            return bool(contexts[frame_id] == self._context_id)
        if set(contexts.values()) == {self._context_id}:
            return True
        # A frame that shares the process of its page is not a separate target.
        for page in self._page.context.pages:
            for session in [await cdp.page_session(page), *await cdp.frame_sessions(page, _APART_S)]:
                if session is not None and frame_id in _frame_ids(
                    (await session.send("Page.getFrameTree"))["frameTree"]
                ):
                    return True
        return False

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def limiting_arguments(hosts: Iterable[str]) -> tuple[str, ...]:
    """Arguments for starting Chrome so that it reaches these hosts and no other, by none of the ways above.

    Everything else goes to a proxy that is not there, and WebRTC must take it too. `hosts` may have ports.
    """
    return (
        "--proxy-server=http://127.0.0.1:9",
        f"--proxy-bypass-list={';'.join(('<-loopback>', *hosts))}",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    )


def network_rules(policy: Policy) -> list[dict[str, Any]]:
    """The policy as Chromium's network rules; the first rule that matches an address applies."""
    rules = [{**_OFF, "urlPattern": _pattern(host)} for host in policy.denied]
    if policy.hosts is not None:
        rules += [{**_ON, "urlPattern": _pattern(host)} for host in policy.hosts]
        rules.append({**_OFF, "urlPattern": "*://*:*/*"})
    return [*rules, _NO_DATAGRAMS]


def _pattern(host: str) -> str:
    if host.startswith("["):
        return f"*://{host.replace(':', chr(92) + ':')}:*/*"
    return f"*://{host}{{.}}?:*/*"


def _request_host(url: str) -> str | None:
    """The host that a request would reach; None if it stays in the browser."""
    try:
        parsed = URL(url)
    except ValueError:
        return ""
    return parsed.hostname if parsed.protocol in _LEAVES else None


def _request_port(url: str) -> int | None:
    """The port that an address names; None if it is the usual one of its scheme."""
    try:
        port = URL(url).port
    except ValueError:
        return None
    return int(port) if port else None


def _frame_ids(tree: dict[str, Any]) -> set[str]:
    """The ids of a frame and of all frames in it."""
    return {tree["frame"]["id"]}.union(*(_frame_ids(each) for each in tree.get("childFrames", [])))


async def _always(frame_id: str) -> bool:
    del frame_id
    return True

"""The tabs of one run and their events: dialogs, popups, downloads, crashes, pending requests.

Each event is handled by a policy and leaves a sentence; nothing here waits. Popups of our tabs become our tabs, and the
newest becomes active.
"""

from __future__ import annotations

import asyncio
import math
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from playwright.async_api import BrowserContext, Dialog, Download, FileChooser, Frame, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import cdp
from vision_agent.browser.network.navigations import Navigations
from vision_agent.browser.network.requests import ENDLESS, PendingRequests
from vision_agent.browser.page.downloads import Downloads
from vision_agent.browser.page.restless import RestlessDocuments
from vision_agent.settings import EventSettings
from vision_agent.text.escape import safe_line
from vision_agent.types import DownloadLimits

_MOST_TABS = 12
_MOST_BLOCKED = 20
_ONLY_ASKS = ("GET", "HEAD")
_ASKS_S = 5.0
"""How long after input a window is not held against the page: it may only be slow."""
_OPENS_S = 2.0
"""Longest wait for a tab that has started to open."""
_AWAIT_PAGE_S = 10.0
"""Longest wait for a requested page to start loading."""
_EVERY_S = 0.02
_LONGEST_SAID = 200
_CLOSING_S = 0.5
_CLOSE_S = 5.0
_LOADED_S = 2.0
_LISTEN_S = 5.0
_RUNNING_S = 0.25
"""Requests from before we attached count as pending if they are not finished after this."""

TabEventKind = Literal["dialog", "new_tab", "download", "chooser", "crash", "closed", "blocked"]


@dataclass(frozen=True)
class TabEvent:
    """Something that happened in the tabs, with a sentence for the model."""

    kind: TabEventKind
    sentence: str


@dataclass(frozen=True)
class _Opening:
    """A window that a page has started to open."""

    url: str
    is_asked: bool
    """Whether input may have asked for it."""
    at: float
    """When it was told, in monotonic seconds."""


@dataclass
class Tabs:
    """Our tabs in the order in which they opened, and the active one."""

    context: BrowserContext
    active: Page
    settings: EventSettings = field(default_factory=EventSettings)
    downloads: Downloads | None = None
    """None until `start_listening`: what is downloaded is then watched, and discarded."""
    is_risky: Callable[[str], bool] = lambda _: False
    """Whether a dialog with this text is dismissed even if dialogs are to be accepted: a person must approve it."""
    objects_to: Callable[[str], str] = lambda _: ""
    """Why a question is dismissed even if dialogs are to be accepted, as a clause; empty if it may be accepted."""
    closing_page: Page | None = None
    """The page that an action is closing on purpose, which is not reported."""
    expects_files: bool = False
    """Whether an action is about to handle the file chooser."""
    pages: list[Page] = field(default_factory=list)
    new_events: list[TabEvent] = field(default_factory=list)
    _earlier_events: list[TabEvent] = field(default_factory=list)
    network: PendingRequests = field(default_factory=PendingRequests)
    navigations: Navigations = field(default_factory=Navigations)
    restless: RestlessDocuments = field(default_factory=RestlessDocuments)
    _awaited_pages: dict[Request, float] = field(default_factory=dict)
    """Unanswered requests for whole pages, of our tabs and of tabs still opening, by their start times."""
    _tab_expected_until: float = 0.0
    """Until when we wait for a tab that one of ours has started to open."""
    _openings: weakref.WeakKeyDictionary[Page, list[_Opening]] = field(default_factory=weakref.WeakKeyDictionary)
    """The windows that each page has opened and that have not come yet."""
    _open_by_themselves: weakref.WeakSet[Page] = field(default_factory=weakref.WeakSet)
    """Pages that opened a window when no input was sent."""
    _sends_input: bool = False
    """Whether an action is under way that sends input."""
    _input_ended: float = -math.inf
    """When the last such action ended."""
    _new_tab_urls: deque[str] = field(default_factory=lambda: deque(maxlen=_MOST_TABS))
    """The addresses that were last requested for tabs that did not exist yet."""
    _tabs_for_downloads: int = 0
    """Tabs about to come that were opened for a download and stay empty."""
    _untold_forms: int = 0
    """Forms sent as documents that no outcome has told."""
    live_presses: int = 0
    """Presses of a person in the live view that are on their way to a page."""
    live_press_ended: float = -math.inf
    """When the last of them was on the page."""
    _is_handed_over: bool = False
    """Whether a person acts now, to whom each new tab is shown."""
    _has_fronted: bool = False
    """Whether a new tab has come to the front since the last action started."""
    _unfinished_checks: int = 0
    """New tabs that may be ours, first tabs whose running requests are not known yet, and dialogs being answered."""
    _listeners: list[tuple[Any, str, Callable[..., Any]]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _earlier_ends: set[asyncio.Future[None]] = field(default_factory=set)
    """The ends of the requests from before we attached."""
    _crashed_pages: weakref.WeakSet[Page] = field(default_factory=weakref.WeakSet)

    def start_listening(self) -> None:
        """Listens to the events of the first tab, and of the context for later ones."""
        if self.downloads is None:
            self.downloads = Downloads(self.context, DownloadLimits(), self.tell_download)
        self._on(self.context, "page", self._on_page)
        # On the context, because the first request of a new tab comes before the tab.
        self._on(self.context, "request", self._on_request)
        self._on(self.context, "response", self._on_response)
        self._on(self.context, "requestfinished", self._on_request_finished)
        self._on(self.context, "requestfailed", self._on_request_failed)
        self.add(self.active)
        self._unfinished_checks += 1
        self._spawn(self._adopt_running_requests(self.active))

    def stop_listening(self) -> None:
        """Stops listening; the pages stay as they are."""
        for source, event, handler in self._listeners:
            with suppress(KeyError, ValueError):  # the source may already be closed
                source.remove_listener(event, handler)
        self._listeners.clear()
        for end in self._earlier_ends:
            end.cancel()

    def add(self, page: Page) -> None:
        """Adds a page to our tabs."""
        if page in self.pages:
            return
        self.pages.append(page)
        self._on(page, "dialog", self._on_dialog)
        self._on(page, "download", self._on_download)
        self._on(page, "filechooser", self._on_file_chooser)
        self._on(page, "crash", self._on_crash)
        self._on(page, "framenavigated", self._on_navigated)
        self._on(page, "close", self._on_close)
        self._spawn(self._watch_windows(page))
        self._spawn(self._note_form(page))

    def hand_over(self, *, to_person: bool) -> None:
        """Lets file choosers and new tabs open for the person at the window; afterwards, only where an action may."""
        self._is_handed_over = to_person
        for page in self.pages:
            with suppress(KeyError, ValueError):  # not registered, or the page is closed
                page.remove_listener("filechooser", self._on_file_chooser)
            if not to_person and not page.is_closed():
                page.on("filechooser", self._on_file_chooser)

    def number(self, page: Page) -> int:
        """The number of a tab, from 1."""
        return self.pages.index(page) + 1

    def is_crashed(self, page: Page) -> bool:
        """Whether the tab, or a frame in it, has crashed."""
        return page in self._crashed_pages

    def pending_work(self) -> int:
        """How many things may still change the page: pending requests of the active tab, and tabs about to open."""
        is_opening = time.monotonic() < self._tab_expected_until
        return self.network.is_awaited(self.active) + self._unfinished_checks + is_opening + self.awaited_pages()

    def awaited_pages(self) -> int:
        """How many pages were requested, in the active tab or a new one, and have not started to load."""
        self._awaited_pages = _drop_older(time.monotonic() - _AWAIT_PAGE_S, self._awaited_pages)
        return sum(_request_page(each) in (self.active, None) for each in self._awaited_pages)

    def take_forms(self) -> int:
        """How many forms were sent as documents since the last call, by whatever sent them."""
        sent, self._untold_forms = self._untold_forms, 0
        return sent

    def request_count(self) -> int:
        """How many requests were started since the last action started, without streams."""
        return self.network.request_count()

    async def has_lost_tab(self) -> bool:
        """Whether one of our tabs has just closed and another is left."""
        page = self.active
        if not any(each.kind == "closed" for each in self.new_events) and not page.is_closed():
            with suppress(PlaywrightError):  # a failed call may come before the close event
                await page.wait_for_event("close", timeout=_CLOSING_S * 1000)
        if page.is_closed():
            self._on_close(page)
        return any(each.kind == "closed" for each in self.new_events) and bool(self.pages)

    def take_events(self) -> list[TabEvent]:
        """Events since the last call; they are removed."""
        happened, self.new_events = self.new_events, []
        return happened

    def take_unreported(self) -> list[TabEvent]:
        """Events since the last call that no outcome has reported; they are removed."""
        happened, self._earlier_events = self._earlier_events + self.take_events(), []
        return happened

    def start_action(self, *, with_input: bool = True) -> None:
        """Separates earlier events and requests from those of the action that starts now.

        `with_input`: it sends input to the page, which may ask for a new tab.
        """
        self._sends_input = with_input
        self._earlier_events += self.take_events()
        self._has_fronted = False
        self.network.start_action()
        self.navigations.start_action()

    def end_action(self) -> None:
        """Ends the action: tabs that open from now on are not shown."""
        if self._sends_input:
            self._sends_input, self._input_ended = False, time.monotonic()

    def _on(self, source: Any, event: str, handler: Callable[..., Any]) -> None:
        source.on(event, handler)
        self._listeners.append((source, event, handler))

    async def _watch_windows(self, page: Page) -> None:
        with suppress(PlaywrightError, TimeoutError):  # gone or hanging: its tabs are then noticed a little later
            async with asyncio.timeout(_LISTEN_S):
                await cdp.watch_windows(page, partial(self._on_window, page))

    async def _note_form(self, page: Page) -> None:
        with suppress(PlaywrightError, TimeoutError):  # gone or hanging
            async with asyncio.timeout(_LISTEN_S):
                is_sent = await cdp.is_form_result(page)
                self.navigations.note_form(page, page.url, is_sent=is_sent)

    def _on_window(self, opener: Page, url: str) -> None:
        self._openings.setdefault(opener, []).append(_Opening(url, self._is_asked(opener), time.monotonic()))
        self._expect_tab()

    def _follow_redirect(self, before: str, url: str) -> None:
        """Notes that a window whose page has not come yet is now to have another address."""
        for openings in self._openings.values():
            for at, each in enumerate(openings):
                if each.url == before:
                    openings[at] = replace(each, url=url)
                    return

    def _expect_tab(self) -> None:
        self._tab_expected_until = time.monotonic() + _OPENS_S

    def _on_page(self, page: Page) -> None:
        self._tab_expected_until = 0.0
        self._unfinished_checks += 1
        self._spawn(self._check_new_page(page))

    async def _check_new_page(self, page: Page) -> None:
        try:
            await self._adopt_if_ours(page)
        finally:
            self._unfinished_checks -= 1

    async def _adopt_if_ours(self, page: Page) -> None:
        with suppress(PlaywrightError):  # the page may be gone again
            opener = await page.opener()
            if opener not in self.pages or page in self.pages:
                return
            await self._earlier_windows(opener, page)
            if self._tabs_for_downloads and page.url == "":
                self._tabs_for_downloads -= 1
                await close_page(page)
                return
            if len(self.pages) >= _MOST_TABS:
                await close_page(page)
                self._add_event("new_tab", f"a popup was closed: there are already {_MOST_TABS} tabs")
                return
            self.add(page)
            if self._may_come_to_front(opener, page):
                self._has_fronted = True
                self.active = page
                self._add_event("new_tab", f"a new tab opened and is shown: tab {self.number(page)}")
            else:
                self._add_event("new_tab", f"a new tab opened behind: tab {self.number(page)}")

    async def _earlier_windows(self, opener: Page, page: Page) -> None:
        """Returns once the windows that a page opened before this one have come, or should have: Playwright reports
        a window when its document begins to load, so one whose document is requested is awaited longer.
        """
        openings = self._openings.get(opener, [])
        until = -math.inf
        while _place_of(page, openings) > 0:
            now, first = time.monotonic(), openings[0]
            until = max(until, first.at + _OPENS_S)
            if self._is_requested(first.url):
                until = min(now + _OPENS_S, first.at + _AWAIT_PAGE_S)
            if now >= until:
                return
            await asyncio.sleep(_EVERY_S)

    def _is_requested(self, url: str) -> bool:
        """Whether a new window's document is requested, and not answered yet."""
        return any(each.url == url and _request_page(each) is None for each in self._awaited_pages)

    def _may_come_to_front(self, opener: Page, page: Page) -> bool:
        """Whether a new tab is the one that the last input asked for."""
        openings = self._openings.get(opener, [])
        # A frame in its own process does not report when it opens a window.
        is_asked = openings.pop(_place_of(page, openings)).is_asked if openings else self._is_asked(opener)
        may_be_shown = self._is_handed_over or (is_asked and not self._has_fronted)
        return may_be_shown and opener is self.active

    def _is_asked(self, opener: Page) -> bool:
        """Whether input to a page may be why it opens a window now; never for a page that opens windows on its own.

        Chromium's own record of input proves nothing: each evaluation by Playwright counts as input too.
        """
        if not self._sends_input and time.monotonic() - self._input_ended > _ASKS_S:
            self._open_by_themselves.add(opener)
        return self._sends_input and opener not in self._open_by_themselves

    def _on_dialog(self, dialog: Dialog) -> None:
        text = safe_line(dialog.message, _LONGEST_SAID)
        if dialog.type == "beforeunload":
            what, accept = "the page asked whether to leave it", self.settings.leave
            done = "was left" if accept else "was not left"
        else:
            what, accept = f'a dialog of type {dialog.type} said "{text}"', self.settings.dialogs == "accept"
            must_ask = accept and dialog.type != "alert" and self.is_risky(dialog.message)
            why = "because a person must approve what it asks" if must_ask else ""
            if accept and not why and dialog.type != "alert":
                why = self.objects_to(dialog.message)
            accept = accept and not why
            done = "was accepted" if accept else "was dismissed"
            done += f", {why}" if why else ""
        event = self._add_event("dialog", what)
        self._unfinished_checks += 1
        self._spawn(self._answer_dialog(dialog, event, done, accept=accept))

    async def _answer_dialog(self, dialog: Dialog, event: TabEvent, done: str, *, accept: bool) -> None:
        """Answers a dialog, and completes the sentence of its event: only our own answer is claimed."""
        try:
            if accept:
                await dialog.accept(self.settings.prompt if dialog.type == "prompt" else "")
            else:
                await dialog.dismiss()
        except PlaywrightError as error:  # the page's owner answered it, or the page is gone
            is_theirs = "already handled" in str(error)
            done = "was answered by somebody else" if is_theirs else "closed before it was answered"
        finally:
            self._unfinished_checks -= 1
        self._complete_event(event, f"{event.sentence} and {done}")

    def _complete_event(self, event: TabEvent, sentence: str) -> None:
        for events in (self.new_events, self._earlier_events):
            if event in events:
                events[events.index(event)] = replace(event, sentence=sentence)
                return

    def _on_download(self, download: Download) -> None:
        assert self.downloads is not None
        self._spawn(self.downloads.start(download))
        if download.url in self._new_tab_urls:
            # Chromium without a window leaves the tab that was opened for it, without a document and never drawn.
            empty = next((page for page in self.pages if page.url == ""), None)
            if empty is None:
                self._tabs_for_downloads += 1
            else:
                self._spawn(close_page(empty))

    def tell_download(self, sentence: str) -> None:
        """Records what became of a download."""
        self._add_event("download", sentence)

    def _on_file_chooser(self, chooser: FileChooser) -> None:
        if not self.expects_files:
            what = "files" if chooser.is_multiple() else "a file"
            self._add_event("chooser", f"the page asked for {what} and got none; use `upload` on the clicked mark")

    def _on_crash(self, page: Page) -> None:
        self._crashed_pages.add(page)
        self._add_event("crash", f"tab {self.number(page)} crashed, or a frame in it")

    def _on_navigated(self, frame: Frame) -> None:
        if frame.parent_frame is None:
            self._crashed_pages.discard(frame.page)  # only a frame had crashed, and the page was reloaded

    def _on_close(self, page: Page) -> None:
        if page not in self.pages:
            return
        if page is not self.closing_page:
            self._add_event("closed", f"tab {self.number(page)} was closed")
        self.pages.remove(page)
        self.network.forget(page)
        for request in [each for each in self._awaited_pages if _request_page(each) is page]:
            del self._awaited_pages[request]
        if page is self.active and self.pages:
            self.active = self.pages[-1]

    def _on_request(self, request: Request) -> None:
        page = _request_page(request)
        is_for_new_tab = page is None and request.is_navigation_request()
        if request.resource_type == "ping" and page in self.pages:
            self.network.count_request(request)  # a beacon may vote or pay; its answer reaches nobody
        if request.resource_type in ENDLESS or not (is_for_new_tab or page in self.pages):
            return
        if is_for_new_tab:
            self._tab_expected_until = 0.0
            self._new_tab_urls.append(request.url)
            if request.redirected_from:
                self._follow_redirect(request.redirected_from.url, request.url)
        if request.is_navigation_request():
            self.navigations.add_document_request(request)
            self._untold_forms += request.method not in _ONLY_ASKS and request.redirected_from is None
        self.network.count_request(request)
        if page is None or (request.is_navigation_request() and request.frame.parent_frame is None):
            self._awaited_pages[request] = time.monotonic()
        else:
            self.network.start(request, page)

    def _on_response(self, response: Response) -> None:
        request = response.request
        self.navigations.add_response(response)
        page = _request_page(request)
        if self._awaited_pages.pop(request, None) is not None and page is not None:
            self.network.start(request, page)
        self.network.add_response(response)

    def _on_request_failed(self, request: Request) -> None:
        self.navigations.add_failure(request)
        if (
            request in self._awaited_pages
            and _request_page(request) is None
            and "ABORTED" not in (request.failure or "")
        ):
            self._expect_tab()  # the new tab still comes, with the browser's error page
        self._on_request_finished(request)

    def _on_request_finished(self, request: Request) -> None:
        self.network.finish(request)
        self._awaited_pages.pop(request, None)

    async def _adopt_running_requests(self, page: Page) -> None:
        """Counts requests that were running before we attached as pending."""
        try:
            with suppress(PlaywrightError, TimeoutError):  # gone or hanging
                async with asyncio.timeout(_LISTEN_S):
                    # The page may have loaded another document meanwhile; its requests were heard as they started.
                    earlier = [each for each in await page.requests() if not self.network.is_running(each)]
                    requests = [each for each in earlier if each.resource_type not in ENDLESS]
                    ends = {asyncio.ensure_future(_wait_until_finished(each)): each for each in requests}
                    self._earlier_ends.update(ends)
                    _, others = await asyncio.wait(ends, timeout=_RUNNING_S) if ends else (set(), set())
                    for end in others:
                        self._adopt_running_request(ends[end], page, end)
        finally:
            self._unfinished_checks -= 1

    def _adopt_running_request(self, request: Request, page: Page, end: asyncio.Future[None]) -> None:
        self.network.start(request, page)
        if (response := request.existing_response) is not None:
            self.network.add_response(response)
        # A busy driver may say only later that it was over.
        end.add_done_callback(lambda _: self.network.finish(request))

    def note_blocked(self, sentence: str) -> None:
        """Records a blocked request, each sentence once until it is reported, and not endlessly many."""
        said = [each.sentence for each in self.new_events if each.kind == "blocked"]
        if sentence not in said and len(said) < _MOST_BLOCKED:
            self._add_event("blocked", sentence)

    def _add_event(self, kind: TabEventKind, sentence: str) -> TabEvent:
        self.new_events.append(TabEvent(kind, sentence))
        return self.new_events[-1]

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def close_page(page: Page) -> bool:
    """Closes a tab; returns whether it is closed within some seconds.

    A tab that is closed while its document starts may never answer: Chromium 156 loses about every fortieth close right
    after a navigation was committed; once the document had loaded, none was lost in 720. So this waits for the load.
    """
    with suppress(PlaywrightError, TimeoutError):  # the page, its context or the browser may be gone
        async with asyncio.timeout(_CLOSE_S):
            with suppress(PlaywrightError):  # a page that never finishes loading is closed anyway
                await page.wait_for_load_state(timeout=_LOADED_S * 1000)
            await page.close()
    return page.is_closed()


def _drop_older(earliest: float, requests: dict[Request, float]) -> dict[Request, float]:
    return {request: began for request, began in requests.items() if began > earliest}


async def _wait_until_finished(request: Request) -> None:
    """Returns once a request has finished or failed.

    Playwright's own `Response.finished()` never returns for a request that finished before anyone listened to its
    events; sizes come from the driver, which waits for the end itself.
    """
    with suppress(PlaywrightError):  # it failed, or its page is gone
        await request.sizes()


def _request_page(request: Request) -> Page | None:
    try:
        return request.frame.page
    except PlaywrightError:  # a service worker's request has no frame; a new tab's first one has none yet
        return None


def _place_of(page: Page, openings: Sequence[_Opening]) -> int:
    """Which of the opened windows a page is, by its address; the first one if the address does not decide."""
    return next((place for place, each in enumerate(openings) if each.url == page.url), 0)

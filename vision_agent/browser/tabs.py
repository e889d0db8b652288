"""The tabs of one run and what happens in them: dialogs, popups, downloads, crashes, requests under way.

Each event has a policy and leaves a sentence; nothing here waits. Popups of our tabs become tabs and are followed.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from playwright.async_api import BrowserContext, Dialog, Download, FileChooser, Frame, Page, Request, Response
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser import chromium
from vision_agent.browser.navigations import Navigations
from vision_agent.browser.network import ENDLESS, Network
from vision_agent.ports import Redact
from vision_agent.settings import EventSettings

_MOST_TABS = 12
_MOST_BLOCKED = 20
_OPENS_S = 2.0
"""A tab that has begun to open is waited for no longer than this."""
_LONG_AWAITED_S = 10.0
"""A page that was asked for and has not begun to come after that is not waited for any more."""
_LONGEST_SAID = 200
_CLOSING_S = 0.5
_CLOSE_S = 5.0
_LOADED_S = 2.0
_HEAR_S = 5.0
_KNOW_S = 0.25
"""Requests that were under way before we came are those that are not over after this."""

Kind = Literal["dialog", "new_tab", "download", "chooser", "crash", "closed", "blocked"]


@dataclass(frozen=True)
class Happening:
    """Something the world did."""

    kind: Kind
    sentence: str


@dataclass
class Tabs:
    """Our pages in the order in which they were opened, and the one that is looked at."""

    context: BrowserContext
    active: Page
    events: EventSettings = field(default_factory=EventSettings)
    downloads: Path | None = None
    """The folder that keeps what is downloaded; None keeps nothing."""
    redact: Redact = str
    secrets: Callable[[], Sequence[str]] = tuple
    """What may stand in no file that a page gives to keep, nor in its name."""
    closing: Page | None = None
    """It is being closed on purpose, which is no news."""
    expects_files: bool = False
    """Whether an action is about to answer what asks for files."""
    pages: list[Page] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    _before: list[Happening] = field(default_factory=list)
    network: Network = field(default_factory=Network)
    navigations: Navigations = field(default_factory=Navigations)
    _awaited: dict[Request, float] = field(default_factory=dict)
    """Those for whole pages, of our tabs and of tabs that are not there yet, until they are answered."""
    _opens_until: float = 0.0
    """A tab of ours has begun to open another one, of which nothing else is heard yet."""
    _welcoming: int = 0
    """New tabs of which it is not known yet whether they are ours."""
    _listening: list[tuple[Any, str, Callable[..., Any]]] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _crashed: weakref.WeakSet[Page] = field(default_factory=weakref.WeakSet)

    def open(self) -> None:
        """Begin to listen."""
        self._on(self.context, "page", self._came)
        # Of the context: the first request of a new tab comes before the tab.
        self._on(self.context, "request", self._begun)
        self._on(self.context, "response", self._answered)
        self._on(self.context, "requestfinished", self._over)
        self._on(self.context, "requestfailed", self._failed)
        self.add(self.active)
        self._welcoming += 1
        self._spawn(self._take_what_is_under_way(self.active))

    def close(self) -> None:
        """Stop listening; the pages are left as they are."""
        for source, event, handler in self._listening:
            with suppress(KeyError, ValueError):  # the source may already be closed
                source.remove_listener(event, handler)
        self._listening.clear()

    def add(self, page: Page) -> None:
        """Take a page as one of our tabs."""
        if page in self.pages:
            return
        self.pages.append(page)
        self._on(page, "dialog", self._dialog)
        self._on(page, "download", self._download)
        self._on(page, "filechooser", self._chooser)
        self._on(page, "crash", self._crash)
        self._on(page, "framenavigated", self._arrived)
        self._on(page, "close", self._closed)
        self._spawn(self._hear_of_windows(page))

    def leave_choosers(self, *, to_person: bool) -> None:
        """Whether what asks for files asks the person in the window; else it is said, and gets none."""
        for page in self.pages:
            with suppress(KeyError, ValueError):  # it does so already, or it is closed
                page.remove_listener("filechooser", self._chooser)
            if not to_person and not page.is_closed():
                page.on("filechooser", self._chooser)

    def number(self, page: Page) -> int:
        """The number a tab has in the listing, from 1."""
        return self.pages.index(page) + 1

    def is_crashed(self, page: Page) -> bool:
        return page in self._crashed

    def busy(self) -> int:
        """How much may still change what is shown: what the active tab asked for, and tabs that are about to open."""
        is_opening = time.monotonic() < self._opens_until
        return self.network.is_awaited(self.active) + self._welcoming + is_opening + self.awaited()

    def awaited(self) -> int:
        """Pages that were asked for, in the active tab or for a new one, and have not begun to come."""
        self._awaited = _since(time.monotonic() - _LONG_AWAITED_S, self._awaited)
        return sum(_page_of(each) in (self.active, None) for each in self._awaited)

    def begun(self) -> int:
        """Requests that were started since something was last done, streams and pings left out."""
        return self.network.begun()

    async def lost_one(self) -> bool:
        """Whether one of our tabs has closed just now, and there is still one to look at."""
        page = self.active
        if not any(each.kind == "closed" for each in self.happenings) and not page.is_closed():
            with suppress(PlaywrightError):  # that a call to it failed may be heard before the event that it closed
                await page.wait_for_event("close", timeout=_CLOSING_S * 1000)
        if page.is_closed():
            self._closed(page)
        return any(each.kind == "closed" for each in self.happenings) and bool(self.pages)

    def take(self) -> list[Happening]:
        """What has happened since this was last asked."""
        happened, self.happenings = self.happenings, []
        return happened

    def untold(self) -> list[Happening]:
        """What has happened that came of no action, since this was last asked."""
        happened, self._before = self._before + self.take(), []
        return happened

    def begin(self) -> None:
        """Something is about to be done: what happened before does not come of it, nor is asking again a poll."""
        self._before += self.take()
        self.network.begin()
        self.navigations.begin()

    def _on(self, source: Any, event: str, handler: Callable[..., Any]) -> None:
        source.on(event, handler)
        self._listening.append((source, event, handler))

    async def _hear_of_windows(self, page: Page) -> None:
        with suppress(PlaywrightError, TimeoutError):  # it is gone, or hangs: then its tabs are heard of a little later
            async with asyncio.timeout(_HEAR_S):
                await chromium.hear_of_windows(page, self._opens)

    def _opens(self) -> None:
        self._opens_until = time.monotonic() + _OPENS_S

    def _came(self, page: Page) -> None:
        self._opens_until = 0.0
        self._welcoming += 1
        self._spawn(self._welcome(page))

    async def _welcome(self, page: Page) -> None:
        try:
            await self._take_if_ours(page)
        finally:
            self._welcoming -= 1

    async def _take_if_ours(self, page: Page) -> None:
        with suppress(PlaywrightError):  # it may be gone again
            opener = await page.opener()
            if opener not in self.pages or page in self.pages:
                return
            if len(self.pages) >= _MOST_TABS:
                await close_page(page)
                self._say("new_tab", f"a popup was closed: there are already {_MOST_TABS} tabs")
                return
            self.add(page)
            if opener is self.active:
                self.active = page
                self._say("new_tab", f"a new tab opened and is shown: tab {self.number(page)}")
            else:
                self._say("new_tab", f"a new tab opened behind: tab {self.number(page)}")

    def _dialog(self, dialog: Dialog) -> None:
        text = " ".join(dialog.message.split())
        text = text if len(text) <= _LONGEST_SAID else text[: _LONGEST_SAID - 1] + "…"
        if dialog.type == "beforeunload":
            said, accept = "the page asked whether to leave it", self.events.leave
            done = "was left" if accept else "was not left"
        else:
            said, accept = f'a dialog of type {dialog.type} said "{text}"', self.events.dialogs == "accept"
            done = "was accepted" if accept else "was dismissed"
        self._say("dialog", f"{said} and {done}")
        self._spawn(_answer(dialog, accept=accept, entered=self.events.prompt))

    def _download(self, download: Download) -> None:
        self._say("download", f'a download began: "{self._name_of(download)[:100]}"')
        if self.downloads is not None:
            self._spawn(self._keep(download, self.downloads))

    async def _keep(self, download: Download, folder: Path) -> None:
        name = _as_name(self._name_of(download))[-100:].lstrip(".") or "download"
        try:
            # Looked at elsewhere first: what holds a secret never lies in the run folder, not for a moment.
            with TemporaryDirectory() as aside:
                await download.save_as(Path(aside) / "download")
                kept = await asyncio.to_thread((Path(aside) / "download").read_bytes)
            if await asyncio.to_thread(_holds_secret, kept, self.redact):
                self._say("download", f'the download "{name}" was not kept: a secret stands in it')
                return
            path = _reserved(folder / name)
            await asyncio.to_thread(path.write_bytes, kept)
        except (PlaywrightError, OSError) as error:
            reason = str(error).splitlines()[0][:200]
            self._say("download", f'the download "{name}" was not kept: {reason}')
            return
        digest = hashlib.sha256(kept).hexdigest()
        self._say("download", f'"{folder.name}/{path.name}" was kept: {len(kept)} bytes, sha256 {digest}')

    def _name_of(self, download: Download) -> str:
        """What the page called it; nothing of that where a secret is in it, also as a browser writes one in a name."""
        name = download.suggested_filename
        parts = [part for value in self.secrets() if (part := _as_name(value).strip("_."))]
        is_told = self.redact(name) != name or any(part in _as_name(name) for part in parts)
        return "download" if is_told else name

    def _chooser(self, chooser: FileChooser) -> None:
        if not self.expects_files:
            what = "files" if chooser.is_multiple() else "a file"
            self._say("chooser", f"the page asked for {what} and got none; `upload` on what was clicked gives it one")

    def _crash(self, page: Page) -> None:
        self._crashed.add(page)
        self._say("crash", f"tab {self.number(page)} crashed, or a frame in it")

    def _arrived(self, frame: Frame) -> None:
        if frame.parent_frame is None:
            self._crashed.discard(frame.page)  # it was a frame that had, and the page was loaded again

    def _closed(self, page: Page) -> None:
        if page not in self.pages:
            return
        if page is not self.closing:
            self._say("closed", f"tab {self.number(page)} was closed")
        self.pages.remove(page)
        self.network.forget(page)
        for request in [each for each in self._awaited if _page_of(each) is page]:
            del self._awaited[request]
        if page is self.active and self.pages:
            self.active = self.pages[-1]

    def _begun(self, request: Request) -> None:
        page = _page_of(request)
        is_for_new_tab = page is None and request.is_navigation_request()
        if request.resource_type in ENDLESS or not (is_for_new_tab or page in self.pages):
            return
        if is_for_new_tab:
            self._opens_until = 0.0
        if request.is_navigation_request():
            self.navigations.began(request)
        self.network.counts(request)
        if page is None or (request.is_navigation_request() and request.frame.parent_frame is None):
            self._awaited[request] = time.monotonic()
        else:
            self.network.began(request, page)

    def _answered(self, response: Response) -> None:
        request = response.request
        self.navigations.answered(response)
        page = _page_of(request)
        if self._awaited.pop(request, None) is not None and page is not None:
            self.network.began(request, page)
        self.network.answered(response)

    def _failed(self, request: Request) -> None:
        self.navigations.failed(request)
        if request in self._awaited and _page_of(request) is None and "ABORTED" not in (request.failure or ""):
            self._opens()  # the new tab is still to come, with the browser's error page
        self._over(request)

    def _over(self, request: Request) -> None:
        self.network.over(request)
        self._awaited.pop(request, None)

    async def _take_what_is_under_way(self, page: Page) -> None:
        """What a page asked for before we came, and has not got."""
        try:
            with suppress(PlaywrightError, TimeoutError):  # it is gone, or hangs
                async with asyncio.timeout(_HEAR_S):
                    requests = [each for each in await page.requests() if each.resource_type not in ENDLESS]
                    over = {asyncio.ensure_future(_until_over(each)): each for each in requests}
                    _, others = await asyncio.wait(over, timeout=_KNOW_S) if over else (set(), set())
                    for each in others:
                        each.cancel()
                        self.network.began(over[each], page)
        finally:
            self._welcoming -= 1

    def blocked(self, sentence: str) -> None:
        """A request was turned away; each is said once until it has been told, and not without end."""
        said = [each.sentence for each in self.happenings if each.kind == "blocked"]
        if sentence not in said and len(said) < _MOST_BLOCKED:
            self._say("blocked", sentence)

    def _say(self, kind: Kind, sentence: str) -> None:
        self.happenings.append(Happening(kind, sentence))

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def close_page(page: Page) -> bool:
    """Whether a tab is closed after some seconds: one that is closed while its document begins may never answer.

    (Chromium 156 loses about every fortieth close that comes right after a navigation was committed; once the document
    has loaded none was lost in 720.)
    """
    with suppress(PlaywrightError, TimeoutError):  # it, its context or the browser may be gone
        async with asyncio.timeout(_CLOSE_S):
            with suppress(PlaywrightError):  # a page that loads for ever is closed all the same
                await page.wait_for_load_state(timeout=_LOADED_S * 1000)
            await page.close()
    return page.is_closed()


async def _answer(dialog: Dialog, *, accept: bool, entered: str) -> None:
    with suppress(PlaywrightError):  # the page's owner may have answered it, or it went with its page
        if accept:
            await dialog.accept(entered if dialog.type == "prompt" else "")
        else:
            await dialog.dismiss()


def _as_name(text: str) -> str:
    return re.sub(r"(?:[^\w.-]|_)+", "_", text)


def _holds_secret(content: bytes, redact: Redact) -> bool:
    """As text, in the encodings that programs write text in; what is packed or encrypted is not looked into."""
    encodings = ("utf-8", "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1")
    return any(redact(text) != text for text in (content.decode(each, "replace") for each in encodings))


def _reserved(path: Path) -> Path:
    """A file of this name, or of this with a number, that nobody else has; empty as yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        own = path if number == 1 else path.with_stem(f"{path.stem}-{number}")
        with suppress(FileExistsError):
            own.touch(exist_ok=False)
            return own
    raise AssertionError("numbers do not end")


def _since(earliest: float, requests: dict[Request, float]) -> dict[Request, float]:
    return {request: began for request, began in requests.items() if began > earliest}


async def _until_over(request: Request) -> None:
    with suppress(PlaywrightError):  # it went with its page
        if (response := await request.response()) is not None:
            await response.finished()


def _page_of(request: Request) -> Page | None:
    try:
        return request.frame.page
    except PlaywrightError:  # a service worker's request has no frame, the first one of a new tab none yet
        return None

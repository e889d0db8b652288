"""Hears what a person does in our tabs while the browser is theirs, as the overlay in each document tells it.

What is told comes through a binding that only the isolated world has, under a name of its own each time, so that no
page can tell anything. Only Chromium has bindings. Knows nothing of what is made of it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import weakref
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError
from pydantic import BaseModel, ConfigDict, ValidationError

from vision_agent.actions import Modifier
from vision_agent.browser import chromium, overlay
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.tabs import Tabs
from vision_agent.errors import BrowserUnavailable

_MOST_WAITING = 500
"""Things that were done and not taken up yet."""
_SAME_GESTURE = ("ticked", "chose", "set", "gave")
"""What comes of a press or a key, and says more than that."""
_TYPED = ("typed", "set")
"""What a press on the same field is only the beginning of."""


Way = Literal["goto", "back", "forward", "reload"]


class Heard(BaseModel):
    """One thing that a person did, in the coordinates of the frame in which they did it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    does: Literal[
        "pressed",
        "twice",
        "dragged",
        "typed",
        "ticked",
        "chose",
        "set",
        "gave",
        "keyed",
        "lettered",
        "scrolled",
        "shown",
    ]
    token: str
    """Of the document."""
    gesture: int
    """Counts presses of buttons and keys in the document; what comes of one has the same."""
    keys: tuple[str, ...]
    """Of the elements that it was done to, the innermost first."""
    is_new: bool = False
    """Whether it was done to a thing of its own that was never looked at; the keys are then of what is within it."""
    what: str
    scroll: tuple[float, float]
    x: float = 0
    y: float = 0
    button: Literal["left", "right", "middle"] = "left"
    modifiers: tuple[Modifier, ...] = ()
    count: int = 1
    to: tuple[float, float] = (0, 0)
    onto: tuple[str, ...] = ()
    path: tuple[tuple[float, float], ...] = ()
    text: str | None = None
    """None: too long to be told."""
    secret: bool = False
    submit: bool = False
    checked: bool = False
    options: tuple[str, ...] = ()
    value: str = ""
    files: tuple[str, ...] = ()
    pressed: str = ""
    on_page: bool = False
    moved: tuple[float, float] = (0, 0)
    view: tuple[float, float] = (0, 0)


@dataclass(frozen=True)
class Told:
    """What was heard, where and when."""

    page: Page
    heard: Heard
    at: float


@dataclass(frozen=True)
class _Place:
    """Where a tab is in its own history."""

    index: int
    id: int
    ids: tuple[int, ...]


@dataclass
class Ear:
    """Listens in all tabs from `open` to `close`; what was done and not taken up yet is `waiting`."""

    tabs: Tabs
    deadline_s: float
    waiting: list[Told] = field(default_factory=list)
    is_heard: bool = False
    """Whether there is anything that can be heard: not so in another browser than Chromium."""
    news: asyncio.Event = field(default_factory=asyncio.Event)
    lost: int = 0
    """What was done too fast to be kept."""
    strange: int = 0
    """Tabs that came and are none of ours."""
    _is_open: bool = False
    _name: str = field(default_factory=lambda: f"told{secrets.token_hex(8)}")
    _sessions: list[tuple[CDPSession, Callable[..., Any]]] = field(default_factory=list)
    _asking: list[tuple[CDPSession, Callable[..., Any]]] = field(default_factory=list)
    _pages: list[tuple[Page, Callable[..., Any]]] = field(default_factory=list)
    _moved_itself: weakref.WeakSet[Page] = field(default_factory=weakref.WeakSet)
    _places: weakref.WeakKeyDictionary[Page, _Place] = field(default_factory=weakref.WeakKeyDictionary)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        """Begin to listen in every document of every tab."""
        self._is_open = True
        self.tabs.context.on("page", self._came)
        await self.refresh()
        for page in [*self.tabs.pages]:
            await self.moved(page)

    async def refresh(self) -> None:
        """Listens in what has come since, too; nowhere any more once it is closed."""
        if not self._is_open:
            return
        for page in [*self.tabs.pages]:
            if all(page is not known for known, _ in self._pages):
                listen = partial(self._arrived, page)
                page.on("framenavigated", listen)
                self._pages.append((page, listen))
            await self._attach(page)

    async def close(self) -> None:
        """Takes up what was typed and not left, and leaves nothing of it in any document."""
        self._is_open = False
        with suppress(KeyError, ValueError):
            self.tabs.context.remove_listener("page", self._came)
        for page, listen in self._pages:
            with suppress(KeyError, ValueError):
                page.remove_listener("framenavigated", listen)
        for task in [*self._tasks]:
            task.cancel()
        frames = [frame for page, _ in self._pages if not page.is_closed() for frame in page.frames]
        await asyncio.gather(*(self._ask(frame, "leave") for frame in frames))
        for session, listen in self._sessions:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(self.deadline_s):
                    await session.send("Runtime.getIsolateId")  # what was told before it has come by then
                    await chromium.unbind(session, self._name)
            session.remove_listener("Runtime.bindingCalled", listen)
        for session, listen in self._asking:
            session.remove_listener("Page.frameRequestedNavigation", listen)
        self._asking.clear()
        self._sessions.clear()
        self._pages.clear()

    async def moved(self, page: Page) -> Way | None:
        """How a person went elsewhere in a tab since this was last asked; None where they did not.

        What the page did itself, or what came of a click on it, is none of theirs.
        """
        session = await chromium.session_of(page)
        if session is None:
            return None
        try:
            async with asyncio.timeout(self.deadline_s):
                told = await session.send("Page.getNavigationHistory")
        except (PlaywrightError, TimeoutError):
            return None
        index, entries = told["currentIndex"], told["entries"]
        here, before = entries[index], self._places.get(page)
        self._places[page] = _Place(index, here["id"], tuple(each["id"] for each in entries))
        by_itself = page in self._moved_itself
        self._moved_itself.discard(page)
        if before is None:
            return None
        if here["id"] not in before.ids:
            is_typed = here["transitionType"] in ("typed", "generated", "keyword", "auto_bookmark", "address_bar")
            return "goto" if is_typed else None
        if by_itself:
            return None
        if here["id"] != before.id:
            return "back" if before.ids.index(here["id"]) < before.index else "forward"
        return "reload"

    async def _attach(self, page: Page) -> None:
        with suppress(PlaywrightError, BrowserUnavailable, TimeoutError):  # it is closing, or hangs
            async with asyncio.timeout(self.deadline_s):
                main = await chromium.session_of(page)
                if main is None:
                    return
                self.is_heard = True
                await self._bind(page, main, is_main=True)
                for session in await chromium.sessions_apart(page, self.deadline_s):
                    await self._bind(page, session)
                await asyncio.gather(*(self._ask(frame, "watch") for frame in page.frames))

    async def _bind(self, page: Page, session: CDPSession, *, is_main: bool = False) -> None:
        # Each time: a document that has come since may not have it (seen in Chromium).
        await chromium.bind(session, self._name, overlay.world_of(page))
        if any(session is known for known, _ in self._sessions):
            return
        listen = partial(self._called, page)
        session.on("Runtime.bindingCalled", listen)
        self._sessions.append((session, listen))
        if is_main:
            await session.send("Page.enable")
            main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            asked = partial(self._asked, page, main)
            session.on("Page.frameRequestedNavigation", asked)
            self._asking.append((session, asked))

    async def _ask(self, frame: Frame, question: str) -> None:
        with suppress(FrameSilent, BrowserUnavailable):  # what hangs or is gone has nobody in it
            await overlay.ask(frame, question, self.deadline_s, name=self._name)

    def _arrived(self, page: Page, _frame: Frame) -> None:
        self._spawn(self._attach(page))

    def _came(self, page: Page) -> None:
        self._spawn(self._meet(page))

    async def _meet(self, page: Page) -> None:
        with suppress(PlaywrightError):  # it may be gone again
            if await page.opener() is None and page not in self.tabs.pages:
                self.strange += 1

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _asked(self, page: Page, main: str, event: dict[str, Any]) -> None:
        """A script, a link or a form asks to go elsewhere; what is asked of the browser itself is not told so."""
        if event["frameId"] == main:
            self._moved_itself.add(page)

    def _called(self, page: Page, event: dict[str, Any]) -> None:
        if event["name"] != self._name:
            return
        try:
            heard = Heard.model_validate_json(event["payload"])
        except ValidationError:  # nobody but the overlay can call it, and it has no reason to say anything else
            self.lost += 1
            return
        if len(self.waiting) >= _MOST_WAITING:
            self.lost += 1
            return
        self.waiting = joined(self.waiting, Told(page, heard, time.monotonic()))
        self.news.set()


def joined(waiting: list[Told], new: Told) -> list[Told]:
    """What waits with what was told next: a tick, a choice or a text takes the place of the press that it came of."""
    last = waiting[-1] if waiting else None
    if last is None or last.heard.token != new.heard.token:
        return [*waiting, new] if new.heard.does != "twice" else waiting
    was, now = last.heard, new.heard
    is_same = was.keys[:1] == now.keys[:1]
    is_plain_press = was.does == "pressed" and was.button == "left" and not was.modifiers
    if was.does in ("pressed", "keyed", "dragged") and now.does in _SAME_GESTURE and was.gesture == now.gesture:
        kept = now if now.keys else now.model_copy(update={"keys": was.keys, "is_new": was.is_new})
        return [*waiting[:-1], Told(new.page, kept, new.at)]
    if is_plain_press and now.does in _TYPED and is_same and now.keys:
        return joined(waiting[:-1], new)
    if now.does == "twice":
        presses = [each.heard for each in waiting[-2:] if each.heard.does == "pressed"]
        if len(presses) == 2 and presses[0].gesture + 1 == presses[1].gesture:
            return [*waiting[:-2], Told(new.page, presses[0].model_copy(update={"count": 2}), new.at)]
        return waiting
    if was.does == now.does == "keyed" and is_same and was.pressed == now.pressed and was.count < 100:
        return [*waiting[:-1], Told(new.page, was.model_copy(update={"count": was.count + 1}), new.at)]
    if was.does == now.does == "lettered":
        return [*waiting[:-1], Told(new.page, was.model_copy(update={"count": was.count + 1}), new.at)]
    if was.does == now.does == "scrolled" and was.keys == now.keys:
        moved = (was.moved[0] + now.moved[0], was.moved[1] + now.moved[1])
        return [*waiting[:-1], Told(new.page, now.model_copy(update={"moved": moved}), new.at)]
    return [*waiting, new]

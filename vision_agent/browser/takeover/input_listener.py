"""Receives what a person does in our tabs during a takeover, as the overlay in each document reports it.

Reports come through a binding that only the isolated world has, with a new random name each time, so no page can send
any. Only Chromium has bindings. Does not know how the input is interpreted.
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
from pydantic import ValidationError

from vision_agent.actions import Modifier
from vision_agent.base_model import FrozenModel
from vision_agent.browser import cdp
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.tabs import Tabs
from vision_agent.errors import BrowserUnavailable

HELD_S = 0.8
"""A press that lasts this long is a deliberate hold; a slow click is shorter."""
_MOST_PRESSES = 100
"""How many presses of one key in a row count as one input."""
_MOST_WAITING = 500
"""Inputs in the queue."""
_MOST_FIELDS = 20
"""Fields of which the look before the typing is kept."""
_SAME_GESTURE = ("ticked", "chose", "set", "gave")
"""Results of a press or a key that say more than it does."""
_TYPED = ("typed", "set")
"""Inputs that replace the press on their field."""


NavigationKind = Literal["goto", "back", "forward", "reload"]


class HumanInput(FrozenModel):
    """One input of a person, in coordinates of its frame."""

    does: Literal[
        "pressed",
        "twice",
        "dragged",
        "typing",
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
    """Identifies the document."""
    gesture: int
    """Counts button and key presses in the document; the results of a press have its number."""
    keys: tuple[str, ...]
    """Keys of the target elements, innermost first."""
    is_new: bool = False
    """Whether the target itself was in no look; the keys are then those of elements inside it."""
    what: str
    scroll: tuple[float, float]
    x: float = 0
    y: float = 0
    button: Literal["left", "right", "middle"] = "left"
    modifiers: tuple[Modifier, ...] = ()
    count: int = 1
    """How often a button or a key was pressed; of a key that is held, how often the page got it."""
    touch: bool = False
    """Whether a finger pressed it."""
    held: float = 0
    """Seconds from the press of a button or a key to its release."""
    to: tuple[float, float] = (0, 0)
    onto: tuple[str, ...] = ()
    taken: bool = True
    """Whether something in the document took what was dragged."""
    path: tuple[tuple[float, float], ...] = ()
    text: str | None = None
    """None if too long."""
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


Field = tuple[str, tuple[str, ...]]
"""A field that a person types into: the token of its document, and its keys."""


@dataclass(frozen=True)
class TimedInput:
    """An input with its page and time."""

    page: Page
    event: HumanInput
    at: float

    @property
    def field(self) -> Field:
        """The field of a text that was typed."""
        return self.event.token, self.event.keys


@dataclass(frozen=True)
class _HistoryEntry:
    """The position of a tab in its history."""

    index: int
    id: int
    ids: tuple[int, ...]


@dataclass
class InputListener:
    """Listens in all tabs from `open` to `close`, and queues the input."""

    tabs: Tabs
    deadline_s: float
    queue: list[TimedInput] = field(default_factory=list)
    typing_in: set[Field] = field(default_factory=set)
    """Fields in which a text is being typed that is not queued yet."""
    can_listen: bool = False
    """Whether input can be received; only in Chromium."""
    has_news: asyncio.Event = field(default_factory=asyncio.Event)
    lost_count: int = 0
    """Number of inputs dropped because the queue was full."""
    foreign_tabs: int = 0
    """Number of new tabs that are not ours."""
    _is_open: bool = False
    _name: str = field(default_factory=lambda: f"told{secrets.token_hex(8)}")
    _sessions: list[tuple[CDPSession, Callable[..., Any]]] = field(default_factory=list)
    _asking: list[tuple[CDPSession, Callable[..., Any]]] = field(default_factory=list)
    _pages: list[tuple[Page, Callable[..., Any]]] = field(default_factory=list)
    _navigated_itself: weakref.WeakSet[Page] = field(default_factory=weakref.WeakSet)
    _history: weakref.WeakKeyDictionary[Page, _HistoryEntry] = field(default_factory=weakref.WeakKeyDictionary)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        """Starts listening in every document of every tab."""
        self._is_open = True
        self.tabs.context.on("page", self._on_page)
        await self.refresh()
        for page in [*self.tabs.pages]:
            await self.detect_navigation(page)

    async def refresh(self) -> None:
        """Starts listening in new documents and tabs too; does nothing once closed."""
        if not self._is_open:
            return
        for page in [*self.tabs.pages]:
            await self._listen_in(page)

    async def close(self) -> None:
        """Stops listening, after collecting text in fields that still have the focus; cleans up every document."""
        self._is_open = False
        with suppress(KeyError, ValueError):
            self.tabs.context.remove_listener("page", self._on_page)
        for page, listen in self._pages:
            with suppress(KeyError, ValueError):
                page.remove_listener("framenavigated", listen)
        for task in [*self._tasks]:
            task.cancel()
        frames = [frame for page, _ in self._pages if not page.is_closed() for frame in page.frames]
        await asyncio.gather(*(self._tell(overlay_calls.document.stop_input_watch, frame) for frame in frames))
        for session, listen in self._sessions:
            with suppress(PlaywrightError, TimeoutError):
                async with asyncio.timeout(self.deadline_s):
                    await session.send("Runtime.getIsolateId")  # by its answer, all earlier reports have arrived
                    await cdp.unbind(session, self._name)
            session.remove_listener("Runtime.bindingCalled", listen)
        for session, listen in self._asking:
            session.remove_listener("Page.frameRequestedNavigation", listen)
        self._asking.clear()
        self._sessions.clear()
        self._pages.clear()

    async def detect_navigation(self, page: Page) -> NavigationKind | None:
        """How a person navigated a tab with the browser's controls since the last call; None if they did not.

        Navigations by the page itself, or by a click on it, do not count.
        """
        session = await cdp.page_session(page)
        if session is None:
            return None
        try:
            async with asyncio.timeout(self.deadline_s):
                history = await session.send("Page.getNavigationHistory")
        except (PlaywrightError, TimeoutError):
            return None
        index, entries = history["currentIndex"], history["entries"]
        here, before = entries[index], self._history.get(page)
        self._history[page] = _HistoryEntry(index, here["id"], tuple(each["id"] for each in entries))
        by_itself = page in self._navigated_itself
        self._navigated_itself.discard(page)
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

    async def _listen_in(self, page: Page) -> None:
        if all(page is not known for known, _ in self._pages):
            listen = partial(self._on_navigated, page)
            page.on("framenavigated", listen)
            self._pages.append((page, listen))
        await self._attach(page)

    async def _attach(self, page: Page) -> None:
        with suppress(PlaywrightError, BrowserUnavailable, TimeoutError):  # closing or hanging
            async with asyncio.timeout(self.deadline_s):
                main = await cdp.page_session(page)
                if main is None:
                    return
                self.can_listen = True
                await self._bind(page, main, is_main=True)
                for session in await cdp.frame_sessions(page, self.deadline_s):
                    await self._bind(page, session)
                await asyncio.gather(
                    *(self._tell(overlay_calls.document.start_input_watch, frame) for frame in page.frames)
                )

    async def _bind(self, page: Page, session: CDPSession, *, is_main: bool = False) -> None:
        # Every time: a new document may lack the binding (seen in Chromium).
        await cdp.bind(session, self._name, overlay.isolated_world_name(page))
        if any(session is known for known, _ in self._sessions):
            return
        listen = partial(self._on_binding_call, page)
        session.on("Runtime.bindingCalled", listen)
        self._sessions.append((session, listen))
        if is_main:
            await session.send("Page.enable")
            main = (await session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
            asked = partial(self._on_navigation_request, page, main)
            session.on("Page.frameRequestedNavigation", asked)
            self._asking.append((session, asked))

    async def _tell(self, to_do: Callable[[Frame, float, str], Coroutine[Any, Any, None]], frame: Frame) -> None:
        with suppress(FrameSilent, BrowserUnavailable):  # nobody can use a frame that hangs or is gone
            await to_do(frame, self.deadline_s, self._name)

    def _on_navigated(self, page: Page, _frame: Frame) -> None:
        self._spawn(self._attach(page))

    def _on_page(self, page: Page) -> None:
        self._spawn(self._hear_new_page(page))

    async def _hear_new_page(self, page: Page) -> None:
        """Listens in a window of ours as soon as it opens, because a person may click before the next look."""
        with suppress(PlaywrightError):  # the page may be gone again
            opener = await page.opener()
            if opener in self.tabs.pages:
                await self._listen_in(page)
            elif opener is None and page not in self.tabs.pages:
                self.foreign_tabs += 1

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _on_navigation_request(self, page: Page, main: str, event: dict[str, Any]) -> None:
        """Notes a navigation by a script, link or form; navigations with the browser's controls send no such event."""
        if event["frameId"] == main:
            self._navigated_itself.add(page)

    def _on_binding_call(self, page: Page, call: dict[str, Any]) -> None:
        if call["name"] != self._name:
            return
        try:
            event = HumanInput.model_validate_json(call["payload"])
        except ValidationError:  # should not happen: only the overlay can call it
            self.lost_count += 1
            return
        if event.does == "typing":
            if len(self.typing_in) < _MOST_FIELDS:
                self.typing_in.add((event.token, event.keys))
            return
        if len(self.queue) >= _MOST_WAITING:
            self.lost_count += 1
            return
        for each in _one_way(event):
            self.queue = merge_input(self.queue, TimedInput(page, each, time.monotonic()))
        self.has_news.set()


def _one_way(event: HumanInput) -> list[HumanInput]:
    """A scroll of a box to a side and down, as with two fingers, as two: an action has one direction."""
    right, down = event.moved
    if event.does != "scrolled" or not (right and down):
        return [event]
    return [event.model_copy(update={"moved": moved}) for moved in ((right, 0), (0, down))]


def merge_input(queue: list[TimedInput], new: TimedInput) -> list[TimedInput]:
    """The queue with a new input: a tick, a choice or a text replaces the press that caused it."""
    last = queue[-1] if queue else None
    if last is None or last.event.token != new.event.token:
        return [*queue, new] if new.event.does != "twice" else queue
    was, now = last.event, new.event
    is_same = was.keys[:1] == now.keys[:1]
    is_plain_press = was.does == "pressed" and was.button == "left" and not was.modifiers
    if was.does in ("pressed", "keyed", "dragged") and now.does in _SAME_GESTURE and was.gesture == now.gesture:
        kept = now if now.keys else now.model_copy(update={"keys": was.keys, "is_new": was.is_new})
        return [*queue[:-1], TimedInput(new.page, kept, new.at)]
    if is_plain_press and now.does in _TYPED and is_same and now.keys:
        return merge_input(queue[:-1], new)
    if now.does == "twice":
        pair = [each.event for each in queue[-2:] if each.event.does == "pressed"]
        if len(pair) == 2 and pair[0].gesture + 1 == pair[1].gesture:
            return [*queue[:-2], TimedInput(new.page, pair[0].model_copy(update={"count": 2}), new.at)]
        return queue
    is_same_key = was.does == now.does == "keyed" and is_same and was.pressed == now.pressed
    presses = was.count + now.count
    if is_same_key and presses <= _MOST_PRESSES and max(was.held, now.held) < HELD_S:
        return [*queue[:-1], TimedInput(new.page, was.model_copy(update={"count": presses}), new.at)]
    if was.does == now.does == "lettered":
        return [*queue[:-1], TimedInput(new.page, was.model_copy(update={"count": was.count + 1}), new.at)]
    is_same_way = [bool(each) for each in was.moved] == [bool(each) for each in now.moved]
    if was.does == now.does == "scrolled" and was.keys == now.keys and is_same_way:
        moved = (was.moved[0] + now.moved[0], was.moved[1] + now.moved[1])
        return [*queue[:-1], TimedInput(new.page, now.model_copy(update={"moved": moved}), new.at)]
    return [*queue, new]

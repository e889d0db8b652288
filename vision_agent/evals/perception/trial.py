"""Tries targets out: hovers and presses them on a copy of their page and compares what that changed.

If neither role nor listener can say whether an element does something of its own, because a listener far above may
answer for it, trying it can. A copy is another tab with the same address; elements are found there by their path, and
are not tried if the copy has something else at that point. Changes that a press right beside it also causes are not its
own. Of similar elements on a page, a few are tried and speak for the others: if one acts, all do.

It knows nothing of the overlay's marks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import Dialog, Page, Request
from playwright.async_api import Error as PlaywrightError

Came = Literal["acts", "same as around it", "shows on hovering", "nothing", "untried"]
"""The effect of pressing an element: its own, the same as around it, only a hint on hovering, none, or unknown."""

_ALIKE = 2
"""How many of several similar elements are tried."""
_MOST_S = 60.0
_WAIT_S = 0.1
_HOVER_S = 0.05
_ANSWER_S = 3.0
_TOWARDS = 18
"""Pixels to drag an element."""
_DOWN = frozenset(("mousedown", "pointerdown", "touchstart"))
_GONE = "the document"


@dataclass(frozen=True)
class Trial:
    """One element to try."""

    id: str
    kind: str
    """Equal for similar elements."""
    point: tuple[float, float]
    """In page coordinates."""
    where: str
    """Path of the element that the point hits."""
    beside: tuple[float, float] | None
    """A point on an ancestor, and on nothing else that may act."""
    heard: frozenset[str]


async def try_targets(open_copy: Callable[[], Awaitable[Page]], questions: Sequence[Trial]) -> dict[str, Came]:
    """The effect of each element, by id; `untried` if time ran out or similar elements contradict each other."""
    kinds: dict[str, list[Trial]] = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    until = time.monotonic() + _MOST_S
    copy = _Copy(open_copy)
    answers: dict[str, Came] = {}
    for alike in sorted(kinds.values(), key=len, reverse=True):  # largest groups first, in case time runs out
        some = alike[:: max(1, len(alike) // _ALIKE)][:_ALIKE]
        for question in some:
            answers[question.id] = "untried"
            if time.monotonic() < until:
                with suppress(PlaywrightError, TimeoutError):
                    answers[question.id] = await copy.answer(question)
        agreed = _common_effect({answers[question.id] for question in some})
        if agreed == "acts" or len(alike) > len(some):
            answers |= {question.id: agreed for question in alike if agreed == "acts" or question.id not in answers}
    await copy.close()
    return answers


def _common_effect(came: set[Came]) -> Came:
    """What the tried elements say about similar ones. `nothing` may be temporary, such as an empty undo history."""
    known = came - {"untried"}
    if "acts" in known and known <= {"acts", "nothing", "shows on hovering"}:
        return "acts"
    return known.pop() if len(known) == 1 else "untried"


async def dismiss(dialog: Dialog) -> None:
    """Dismiss a dialog, which would block its page."""
    with suppress(PlaywrightError):  # it was already answered
        await dialog.dismiss()


@dataclass
class _Copy:
    """A copy of the page, reopened when it has changed too much."""

    open: Callable[[], Awaitable[Page]]
    tab: Page | None = None
    by_itself: set[str] = field(default_factory=set)
    """Changes that happen without any input."""
    outside: list[str] = field(default_factory=list)
    """Events beyond the document: requests, dialogs, tabs."""

    doing: set[asyncio.Future[None]] = field(default_factory=set)

    async def answer(self, question: Trial) -> Came:
        around = await self._around(question)
        tab = await self._at(question)
        if tab is None:
            return "untried"
        await self._note(tab)
        await tab.mouse.move(*question.point)
        hovered = await self._noted(tab, _HOVER_S)
        await self._note(tab)
        await tab.mouse.down()
        await tab.mouse.up()
        changed = await self._noted(tab)
        if not changed:
            changed = await self._otherwise(tab, question)
        if changed and changed <= around:
            # An earlier press may still take effect or be undone by this one, so repeat it on a fresh copy.
            await self.close()
            around = await self._around(question)
        if changed:
            return "acts" if changed - around else "same as around it"
        return "shows on hovering" if hovered - around else "nothing"

    async def close(self) -> None:
        if self.tab is not None:
            with suppress(PlaywrightError):
                await self.tab.context.close()
            self.tab = None

    async def _around(self, question: Trial) -> set[str]:
        """The changes that a press right beside the element causes."""
        if question.beside is None:
            return set()
        tab = await self._at(question)
        if tab is None:
            return set()
        await self._note(tab)
        await tab.mouse.move(*question.beside)
        hovered = await self._noted(tab, _HOVER_S)
        await self._note(tab)
        await tab.mouse.down()
        await tab.mouse.up()
        return hovered | await self._noted(tab)

    async def _otherwise(self, tab: Page, question: Trial) -> set[str]:
        """The changes after dragging, a double click or a right click, if the element listens to these."""
        changed: set[str] = set()
        x, y = question.point
        if question.heard & _DOWN:
            await self._note(tab)
            await tab.mouse.move(x, y)
            await tab.mouse.down()
            await tab.mouse.move(x + _TOWARDS, y + _TOWARDS, steps=3)
            await tab.mouse.up()
            changed = await self._noted(tab)
        if not changed and "dblclick" in question.heard:
            await self._note(tab)
            await tab.mouse.dblclick(x, y)
            changed = await self._noted(tab)
        if not changed and "contextmenu" in question.heard:
            await self._note(tab)
            await tab.mouse.click(x, y, button="right")
            changed = await self._noted(tab)
        return changed

    async def _at(self, question: Trial) -> Page | None:
        """The copy with the element at its point; None if that fails."""
        if self.tab is not None and await self._stands(self.tab, question):
            return self.tab
        await self.close()
        self.outside = []
        self.tab = await self.open()
        self._listen(self.tab)
        await self._note(self.tab)
        self.by_itself |= await self._noted(self.tab, 5 * _WAIT_S)
        return self.tab if await self._stands(self.tab, question) else None

    async def _stands(self, tab: Page, question: Trial) -> bool:
        with suppress(PlaywrightError, TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                place = "([x, y]) => __perception.placeAt(x, y)"
                return bool(await tab.evaluate(place, list(question.point)) == question.where)
        return False

    async def _note(self, tab: Page) -> None:
        self.outside.clear()
        async with asyncio.timeout(_ANSWER_S):
            await tab.evaluate("() => __perception.note()")

    async def _noted(self, tab: Page, wait_s: float = _WAIT_S) -> set[str]:
        """The paths that changed since `_note`, other than on their own."""
        await asyncio.sleep(wait_s)
        try:
            async with asyncio.timeout(_ANSWER_S):
                changes = await tab.evaluate("() => __perception.noted()")
        except (PlaywrightError, TimeoutError):
            changes = [_GONE]
        return {*changes, *self.outside} - self.by_itself

    def _listen(self, tab: Page) -> None:
        def note(what: str) -> Callable[[object], None]:
            return lambda _: self.outside.append(what)

        def note_request(request: Request) -> None:
            self.outside.append(f"request {request.method} {request.url.split('?')[0]}")

        tab.on("popup", note("popup"))

        def note_dialog(dialog: Dialog) -> None:
            self.outside.append("dialog")
            self.doing.add(asyncio.ensure_future(dismiss(dialog)))

        tab.on("dialog", note_dialog)
        tab.on("download", note("download"))
        tab.on("filechooser", note("filechooser"))
        tab.on("request", note_request)

"""Scrolls to the only thing on the page that has a given name, in whatever frame and scroller it is.

First all that the documents hold is searched. Only if nothing there has that name, lists that draw their rows while
they are scrolled are searched from end to end: two rows may have the same name, and then neither can be chosen.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent.actions import LONGEST_SEARCH_S, ScrollTo
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.observe.veiled_words import veiled_words
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.overlay_calls.scrolling import FoundNamed, NamedAnswer, ScrollerFound
from vision_agent.browser.page.settle import settle
from vision_agent.browser.refusal import Refused
from vision_agent.text.escape import safe_line

_RANKS = ("name", "similar name", "text", "passage")
_MOST_FRAMES = 60
_MOST_VIEWS = 200
"""Views of all lists together."""
_STEP = 0.8
"""Share of a view to scroll by, so that what is cut off at its end is whole in the next one."""
_SAME_SPOT = 4.0
"""CSS pixels in the content of a list; less is rounding."""
_LOADS_S = 1.0
"""How long a list is waited for after each view that it loads."""
_WATCHED_S, _WATCH_EVERY_S = 0.8, 0.05
"""How long a list is watched for rows that it draws some time after it was scrolled, and how often it is read."""
_LATER = 1.3
"""By how much longer than that it may take the next time."""
_LEAST_OUT_OF_VIEW = 0.5
"""Share of a view; a list with less out of view has no reason to draw its rows late."""
_MOST_REVEALS = 4
"""How often something is brought into view whose list draws it in another row as it is scrolled."""
_MOST_NAMED = 4


@dataclass(frozen=True)
class _Document:
    """A visible frame, and the elements of the frames around it, outermost first, each with its own frame."""

    frame: Frame
    around: tuple[tuple[Frame, str], ...] = ()


@dataclass(frozen=True)
class _Hit:
    """Something that is called by the words."""

    document: _Document
    finding: FoundNamed
    rank: str
    scroller: ScrollerFound | None = None
    at: float = 0.0
    """How far its list was scrolled when it was found."""

    @property
    def spot(self) -> float:
        """Where it is in the content of its list, in CSS pixels."""
        assert self.scroller is not None
        is_upright = self.scroller.is_upright
        own = self.finding.y - self.scroller.y if is_upright else self.finding.x - self.scroller.x
        return self.at + own

    @property
    def words(self) -> str:
        beside = f" beside “{safe_line(self.finding.beside, 60)}”" if self.finding.beside else ""
        return safe_line(self.finding.words, 100) + beside


async def scroll_to(sender: InputSender, action: ScrollTo) -> Attempt:
    """Brings the only thing that is called by the words into view.

    Raises:
        Refused: nothing has that name, or several things have it, or not all of the page could be searched.
    """
    search = _Search(sender, action.text)
    hits = await search.in_documents()
    if not hits:
        hits = await search.in_lists()
    said = f'"{safe_line(action.text, 60)}"'
    if not hits:
        raise Refused("unknown_mark", f"Nothing on the page is called {said}{search.extent}.")
    if search.count > 1:
        named = " and ".join(hit.words for hit in hits[:_MOST_NAMED])
        more = f" and {search.count - _MOST_NAMED} more" if search.count > _MOST_NAMED else ""
        raise Refused("ambiguous", f"{search.count} things on the page are called {said}: {named}{more}.")
    [hit] = hits
    was_scrolled = await search.show(hit)
    how = f"{'Scrolled to' if was_scrolled else 'Already in view is'} {hit.words}"
    if search.goes_on:
        sender.carried_out = how  # so it is not repeated: it would be found at once, as if it were the only one
        raise Refused("ambiguous", f"it may not be the only one: {search.goes_on}.")
    return Attempt(how, None, needs_no_effect=was_scrolled)


@dataclass
class _Search:
    """A search of the page for what has a given name."""

    sender: InputSender
    text: str
    count: int = 0
    """How many things have that name, as far as was searched."""
    goes_on: str = ""
    """What was not searched to its end, as a clause."""
    _until: float = field(default_factory=lambda: time.monotonic() + LONGEST_SEARCH_S)
    _views: int = 0
    _lag_s: float = 0.0
    """How long the rows of the list that is searched say something else first, such as that they load."""
    _is_late: bool = False
    """Whether that list draws or loads rows some time after it was scrolled."""
    _scrollers: list[tuple[_Document, ScrollerFound]] = field(default_factory=list)
    """All that scrolls."""

    @property
    def extent(self) -> str:
        """How much of lists was searched, as a clause to append."""
        searched = f", nor in {self._views} views of its lists" if self._views else ""
        return f"{searched}; {self.goes_on}" if self.goes_on else searched

    async def in_documents(self) -> Sequence[_Hit]:
        """The best findings in what the documents hold now."""
        hits: list[_Hit] = []
        counts = dict.fromkeys(_RANKS, 0)
        for document in await self._documents():
            answer = await self._find(document)
            self._scrollers += [(document, each) for each in answer.scrollers]
            hits += [_Hit(document, each, answer.rank) for each in answer.found]
            if answer.rank:
                counts[answer.rank] += answer.count
        best = _best(hits)
        self.count = counts[best[0].rank] if best else 0
        return best

    async def in_lists(self) -> Sequence[_Hit]:
        """The best findings in lists that show other things when they are scrolled."""
        hits: list[_Hit] = []
        # What is inside others comes first: scrolling a page may remove its lists.
        for document, scroller in reversed(self._scrollers):
            hits += await self._in_list(document, scroller)
        best = _distinct(_best(hits))
        self.count = len(best)
        return best

    async def show(self, hit: _Hit) -> bool:
        """Brings a finding into view; returns whether that took any scrolling.

        Raises:
            Refused: it is gone, or does not come into view.
        """
        was_scrolled = False
        if hit.scroller is not None:
            was_scrolled = True
            await self._scroll(hit.document, hit.scroller, hit.at, from_start=True)
            hit = _Hit(hit.document, await self._find_again(hit), hit.rank)
        deadline_s, frame, key = self.sender.deadline_s, hit.document.frame, hit.finding.key
        is_visible = is_same = False
        for reveals in range(_MOST_REVEALS):
            # Once more after the page has drawn: what it adds may push the finding away.
            for outer, inside in hit.document.around:
                await overlay_calls.element.check(outer, deadline_s, inside, "frame", reveal=True)
            now = await overlay_calls.element.check(frame, deadline_s, key, "", reveal=True)
            if now is None:
                raise Refused("gone", f"{hit.words} disappeared while it was being scrolled into view.")
            was_scrolled, is_visible = was_scrolled or now.was_scrolled, now.is_visible
            await self._stand_still(frame, key)
            # A list may use the row for something else as it is scrolled.
            same = await self._find_again(hit) if now.was_scrolled else None
            is_same = same is None or same.key == key
            key = key if same is None else same.key
            if reveals and is_same:
                break
        if not is_same:
            raise Refused("moved", f"{hit.words} is in another place each time that it is scrolled into view.")
        if not is_visible:
            raise Refused("covered", f"{hit.words} could not be brought into view.")
        return was_scrolled

    async def _documents(self) -> list[_Document]:
        """The main document and those of all frames that have a size."""
        page, deadline_s = self.sender.page, self.sender.deadline_s
        known = {page.main_frame: _Document(page.main_frame)}
        for frame in page.frames[1:_MOST_FRAMES]:
            outer = known.get(frame.parent_frame) if frame.parent_frame else None
            if outer is None or frame.is_detached():
                continue
            try:
                key = await overlay_calls.element.frame_key(await frame.frame_element(), deadline_s)
                now = await overlay_calls.element.locate_frame(outer.frame, deadline_s, key)
            except PlaywrightError:
                if frame.is_detached():
                    continue
                raise
            if now is not None and now.plane is not None:
                known[frame] = _Document(frame, (*outer.around, (outer.frame, key)))
        return list(known.values())

    async def _find(self, document: _Document) -> NamedAnswer:
        frame, deadline_s = document.frame, self.sender.deadline_s
        veiled = await veiled_words(frame, deadline_s, self.sender.observer.find_secrets)
        answer = await overlay_calls.scrolling.find_named(frame, deadline_s, self.text, veiled)
        if answer.is_cut:
            raise Refused("unsupported", "The page is too large to be searched for a name. Scroll, or search in it.")
        return answer

    async def _find_again(self, hit: _Hit) -> FoundNamed:
        """What is called by the words, once its list has drawn it.

        Raises:
            Refused: it is gone, or there are several now.
        """
        until = time.monotonic() + max(_WATCHED_S, _LATER * self._lag_s)
        while True:
            answer = await self._find(hit.document)
            if answer.rank == hit.rank and answer.count == 1:
                return answer.found[0]
            if time.monotonic() > until:
                raise Refused("gone", f"{hit.words} was there and is gone: its list shows something else now.")
            await asyncio.sleep(_WATCH_EVERY_S)

    async def _in_list(self, document: _Document, scroller: ScrollerFound) -> list[_Hit]:
        """The findings in one list, which is left as it was scrolled."""
        # Another list may have loaded something meanwhile.
        digest = (await self._find(document)).digest
        try:
            if not await self._draws_as_it_scrolls(document, scroller, digest):
                return []
            return await self._walk(document, scroller)
        finally:
            with suppress(Refused):
                await self._scroll(document, scroller, scroller.at, from_start=True)

    async def _draws_as_it_scrolls(self, document: _Document, scroller: ScrollerFound, digest: str) -> bool:
        """Whether a list shows other things at its end and at its start than now: else all of it was searched."""
        self._lag_s, self._is_late = 0.0, False
        for at in (scroller.left, 0.0):
            began = time.monotonic()
            await self._scroll(document, scroller, at, from_start=True)
            is_other = (now := (await self._find(document)).digest) != digest
            read_at = time.monotonic()
            while (
                abs(at - scroller.at) >= 1
                and scroller.left >= _LEAST_OUT_OF_VIEW * scroller.view
                and time.monotonic() < read_at + _WATCHED_S
            ):
                await asyncio.sleep(_WATCH_EVERY_S)
                was, now = now, (await self._find(document)).digest
                if now != was:
                    # What changes twice had other words in its rows until it was there.
                    self._lag_s = time.monotonic() - began if is_other else 0.0
                    self._is_late = is_other = True
            if is_other:
                return True
        return False

    async def _walk(self, document: _Document, scroller: ScrollerFound) -> list[_Hit]:
        hits: list[_Hit] = []
        digest = ""
        at, _ = await self._scroll(document, scroller, 0.0, from_start=True)
        moved = 1.0
        while moved >= 1:
            if self._views >= _MOST_VIEWS or time.monotonic() > self._until:
                self.goes_on = f"{safe_line(scroller.words, 60)} goes on after the {self._views} views searched"
                break
            self._views += 1
            answer = await self._find_drawn(document, digest)
            digest = answer.digest
            hits += [_Hit(document, each, answer.rank, scroller, at) for each in answer.found]
            at, moved = await self._scroll(document, scroller, _STEP * scroller.view)
            began = time.monotonic()
            while moved < 1 and self._is_late and time.monotonic() < began + _WATCHED_S:  # it may load more at its end
                await asyncio.sleep(_WATCH_EVERY_S)
                at, moved = await self._scroll(document, scroller, _STEP * scroller.view)
        return hits

    async def _find_drawn(self, document: _Document, before: str) -> NamedAnswer:
        """The findings in a view of a list, once it shows other rows than before and had the time to fill them."""
        until = time.monotonic() + _WATCHED_S
        await asyncio.sleep(_LATER * self._lag_s)
        while True:
            answer = await self._find(document)
            if answer.digest != before or time.monotonic() > until:
                return answer
            await asyncio.sleep(_WATCH_EVERY_S)

    async def _scroll(
        self, document: _Document, scroller: ScrollerFound, by: float, *, from_start: bool = False
    ) -> tuple[float, float]:
        """How far a list is scrolled once it was scrolled and has drawn and loaded, and how far that moved it."""
        key, frame, deadline_s = None if scroller.is_page else scroller.key, document.frame, self.sender.deadline_s
        at = 0.0
        for way in [-1e7, by] if from_start else [by]:
            x, y = (0.0, way) if scroller.is_upright else (way, 0.0)
            now = await overlay_calls.scrolling.scroll(frame, deadline_s, key, x=x, y=y, in_pixels=True)
            if now is None:
                raise Refused("gone", f"{safe_line(scroller.words, 60)} left the page while it was searched.")
            at, moved = (now.above, now.moved_y) if scroller.is_upright else (now.left, now.moved_x)
        await self._stand_still(frame, scroller.key)
        await settle(self.sender.tabs, 0, min(_LOADS_S, deadline_s))
        return at, abs(moved)

    async def _stand_still(self, frame: Frame, key: str) -> None:
        """Waits two frames, in which a list draws what it was scrolled to."""
        timeout = self.sender.timeout_ms
        try:
            handle = await overlay.element_locator(frame, key).element_handle(timeout=timeout)
            await handle.wait_for_element_state("stable", timeout=timeout)
        except PlaywrightTimeout:
            raise Refused("moved", "The page keeps moving as it is scrolled.") from None


def _best(hits: Sequence[_Hit]) -> list[_Hit]:
    """The hits of the best rank that there is."""
    rank = next((rank for rank in _RANKS if any(hit.rank == rank for hit in hits)), "")
    return [hit for hit in hits if hit.rank == rank]


def _distinct(hits: Sequence[_Hit]) -> list[_Hit]:
    """One hit for each place in the lists: neighbouring views show the same rows."""
    kept: list[_Hit] = []
    for hit in hits:
        if not any(each.scroller is hit.scroller and _is_same_spot(each, hit) for each in kept):
            kept.append(hit)
    return kept


def _is_same_spot(one: _Hit, other: _Hit) -> bool:
    """Whether two hits in one list are in the same place of its content.

    The content moves only in the direction of scrolling, so across it the place in the view is that in the content.
    """
    assert one.scroller is not None
    across = one.finding.x - other.finding.x if one.scroller.is_upright else one.finding.y - other.finding.y
    return abs(one.spot - other.spot) <= _SAME_SPOT and abs(across) <= _SAME_SPOT

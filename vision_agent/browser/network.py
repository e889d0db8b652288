"""The requests of our tabs that are under way, and which of them the page is waiting for.

What runs in the background is told by what it does, never by its name: it has no end (a socket, a stream), it comes
again and again and changes nothing (a poll), it takes long and its like follows or nothing changes (a long poll, a slow
report to somebody), or it was still under way when a whole look was over. Its kind (a method, with an address without
its query) is not waited for the next time, until one of its answers changes the page.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Page, Request, Response

from vision_agent.browser.listing import plain

ENDLESS = {"websocket", "eventsource", "media", "ping", "prefetch", "cspviolationreport"}
"""Types of requests that are streams, or want no answer."""
_LONG_S = 2.0
"""What takes so long may be no answer to anybody: a poll, where its like follows or it changes nothing; a stream, where
its answer is of unknown length and still coming.
"""
_LONGEST_S = 10.0
"""What takes longer is not waited for, however late the page must be at rest."""
_OLD_S = 30.0
"""What has been under way for so long is not spoken of any more."""
_POLLS = 3
"""The same request so often, without anything having been done, is a poll."""
_FOLLOWS_S = 0.5
"""A request that begins so soon after another of its kind has ended follows it."""
_DRAWN_S = 0.1
"""What an answer brings is in the document after this."""
_JUDGED_S = 0.3
"""An answer after which nothing has changed for so long has changed nothing."""
_MOST_KINDS = 2_000
_MOST_UNJUDGED = 50
_LONGEST_PATH = 60

_Kind = tuple[str, str]
"""A method, and an address without its query."""


@dataclass
class _UnderWay:
    page: Page
    kind: _Kind
    began: float
    is_background: bool
    follows: int
    """How many of its kind have come one after the other right before it."""
    answered: float | None = None
    is_stream: bool = False
    is_sized: bool = False
    """Its answer says how long it is."""
    was_left: bool = False
    """A look was over before it was."""


@dataclass
class _Ended:
    at: float
    page: Page
    kind: _Kind
    follows: int
    was_long: bool


@dataclass
class Network:
    """Requests under way, and what is known of their kinds."""

    _under_way: dict[Request, _UnderWay] = field(default_factory=dict)
    _asked: Counter[tuple[str, str, bytes | None]] = field(default_factory=Counter)
    _last: dict[_Kind, _Ended] = field(default_factory=dict)
    """Of each kind the one that ended last, since something was last done."""
    _unjudged: list[_Ended] = field(default_factory=list)
    _background: set[_Kind] = field(default_factory=set)
    _quick: set[_Kind] = field(default_factory=set)
    """Kinds of which one was answered soon."""
    _last_end: dict[Page, float] = field(default_factory=dict)

    def begin(self) -> None:
        """Something is about to be done: to ask again for it is no poll, and follows nothing."""
        self._asked.clear()
        self._last.clear()

    def begun(self) -> int:
        """Requests that were started since something was last done, streams and pings left out."""
        return self._asked.total()

    def counts(self, request: Request) -> None:
        """Notes that a request was started, whether it is waited for or not."""
        self._asked[_what_it_asks(request)] += 1

    def began(self, request: Request, page: Page) -> None:
        """A request of a tab, or of a frame in it, is under way."""
        now, kind = time.monotonic(), _kind_of(request)
        before = self._last.get(kind)
        is_next = before is not None and now - before.at < _FOLLOWS_S
        follows = before.follows + 1 if before is not None and is_next else 0
        is_background = kind in self._background or (before is not None and is_next and before.was_long)
        self._under_way[request] = _UnderWay(page, kind, now, is_background, follows)

    def answered(self, response: Response) -> None:
        """Its answer has begun to come."""
        if (each := self._under_way.get(response.request)) is not None:
            each.answered = time.monotonic()
            each.is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            each.is_sized = "content-length" in response.headers

    def over(self, request: Request) -> None:
        """It was answered, failed or was given up."""
        each = self._under_way.pop(request, None)
        if each is None:
            return
        now = time.monotonic()
        was_long = each.was_left or now - each.began >= _LONG_S
        ended = _Ended(now, each.page, each.kind, each.follows, was_long)
        self._last[each.kind] = ended
        self._unjudged = [*self._unjudged[-_MOST_UNJUDGED:], ended]
        if self._matters(request, each, now):
            self._last_end[each.page] = now
            if not was_long and len(self._quick) < _MOST_KINDS:
                self._quick.add(each.kind)

    def forget(self, page: Page) -> None:
        """A tab was closed."""
        self._under_way = {request: each for request, each in self._under_way.items() if each.page is not page}
        self._last_end.pop(page, None)

    def is_awaited(self, page: Page) -> bool:
        """Whether the page is waiting for an answer, or has not had the time to draw one."""
        now = time.monotonic()
        is_new = now - self._last_end.get(page, 0.0) < _DRAWN_S
        return is_new or any(each.page is page and self._matters(request, each, now) for request, each in self._all())

    def heard(self, page: Page, changed_at: float) -> None:
        """Learns from when the page last changed which answers have changed it."""
        now = time.monotonic()
        for ended in [each for each in self._unjudged if each.page is page and now - each.at >= _JUDGED_S]:
            self._unjudged.remove(ended)
            if ended.at - _DRAWN_S <= changed_at <= ended.at + _FOLLOWS_S:
                self._background.discard(ended.kind)
            elif changed_at < ended.at and (ended.was_long or ended.follows + 1 >= _POLLS):
                self._learn(ended.kind)
                for each in self._under_way.values():
                    each.is_background |= each.kind == ended.kind

    def looked(self, page: Page) -> None:
        """A look is over: what it could not wait for is not waited for again."""
        now = time.monotonic()
        for each in self._under_way.values():
            if each.page is page and not each.was_left and now - each.began >= _LONG_S:
                each.was_left = True
                if each.kind not in self._quick:
                    self._learn(each.kind)

    def pending(self, page: Page) -> str:
        """Words for what the page has asked for and not got; empty where there is nothing, or only background."""
        now = time.monotonic()
        here = [
            each
            for request, each in self._all()
            if each.page is page and now - each.began < _OLD_S and self._is_meant(request, each, now)
        ]
        if not here:
            return ""
        newest = urlsplit(max(here, key=lambda each: each.began).kind[1])
        what = plain(f"{newest.netloc}{newest.path}", _LONGEST_PATH)
        since = now - min(each.began for each in here)
        if len(here) == 1:
            return f"1 request pending since {since:.1f} s ({what})"
        return f"{len(here)} requests pending since {since:.1f} s (the newest: {what})"

    def _all(self) -> list[tuple[Request, _UnderWay]]:
        return list(self._under_way.items())

    def _matters(self, request: Request, each: _UnderWay, now: float) -> bool:
        return not each.was_left and now - each.began < _LONGEST_S and self._is_meant(request, each, now)

    def _is_meant(self, request: Request, each: _UnderWay, now: float) -> bool:
        """Whether somebody may be waiting for its answer."""
        is_endless = each.answered is not None and not each.is_sized and now - each.answered > _LONG_S
        is_poll = self._asked[_what_it_asks(request)] >= _POLLS
        return not (each.is_background or each.is_stream or is_endless or is_poll)

    def _learn(self, kind: _Kind) -> None:
        if len(self._background) < _MOST_KINDS:
            self._background.add(kind)


def _what_it_asks(request: Request) -> tuple[str, str, bytes | None]:
    return request.method, request.url, request.post_data_buffer


def _kind_of(request: Request) -> _Kind:
    return request.method, request.url.partition("?")[0]

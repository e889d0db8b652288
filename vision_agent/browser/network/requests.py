"""Pending requests of our tabs, and which of them the page is waiting for.

Background requests are recognized by their behaviour, never by their name: they have no end (a socket, a stream), they
repeat and change nothing (a poll), they take long and are followed by another of their kind or by no change (a long
poll, slow telemetry), or they outlast a whole look. Their kind (a method and an address without query) is then not
waited for, until one of its answers changes the page.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import Page, Request, Response

from vision_agent.text.escape import safe_line

ENDLESS = {"websocket", "eventsource", "media", "ping", "prefetch", "cspviolationreport"}
"""Resource types that are streams, or need no answer."""
_LONG_S = 2.0
"""A request that takes this long may be background: a poll, if another of its kind follows or nothing changes; a
stream, if its answer has no known length and is still coming.
"""
_LONGEST_S = 10.0
"""A request that takes longer is not waited for, whatever the settle deadline."""
_OLD_S = 30.0
"""A request that has been pending this long is no longer reported."""
_POLLS = 3
"""The same request this often without an action is a poll."""
_FOLLOWS_S = 0.5
"""A request that starts this soon after another of its kind ended follows it."""
_DRAWN_S = 0.1
"""Time until an answer is visible in the document."""
_JUDGED_S = 0.3
"""An answer after which nothing changed for this long has changed nothing."""
_MOST_KINDS = 2_000
_MOST_UNJUDGED = 50
_LONGEST_PATH = 60

_Kind = tuple[str, str]
"""A method, and an address without query."""


@dataclass
class _PendingRequest:
    page: Page
    kind: _Kind
    started_at: float
    is_background: bool
    follows: int
    """How many of its kind came right before it, one after the other."""
    answered: float | None = None
    is_stream: bool = False
    is_sized: bool = False
    """Its answer has a content length."""
    was_left: bool = False
    """It outlasted a look."""


@dataclass
class _FinishedRequest:
    at: float
    page: Page
    kind: _Kind
    follows: int
    was_long: bool


@dataclass
class PendingRequests:
    """The running requests, and what is known about their kinds."""

    _running: dict[Request, _PendingRequest] = field(default_factory=dict)
    _counts: Counter[tuple[str, str, bytes | None]] = field(default_factory=Counter)
    _last_finished: dict[_Kind, _FinishedRequest] = field(default_factory=dict)
    """By kind: the request that ended last, since the last action started."""
    _unjudged: list[_FinishedRequest] = field(default_factory=list)
    _background_kinds: set[_Kind] = field(default_factory=set)
    _quick_kinds: set[_Kind] = field(default_factory=set)
    """Kinds with at least one quick answer."""
    _last_end: dict[Page, float] = field(default_factory=dict)

    def start_action(self) -> None:
        """Forgets earlier repetitions: requests of the action that starts now are no polls and follow nothing."""
        self._counts.clear()
        self._last_finished.clear()

    def request_count(self) -> int:
        """How many requests were started since the last action started, without streams."""
        return self._counts.total()

    def count_request(self, request: Request) -> None:
        """Counts a started request, whether or not it is waited for."""
        self._counts[_request_identity(request)] += 1

    def start(self, request: Request, page: Page) -> None:
        """Records that a request of a tab, or of a frame in it, is running; one that was recorded stays as it is."""
        if request in self._running:
            return
        now, kind = time.monotonic(), _request_kind(request)
        before = self._last_finished.get(kind)
        is_next = before is not None and now - before.at < _FOLLOWS_S
        follows = before.follows + 1 if before is not None and is_next else 0
        is_background = kind in self._background_kinds or (before is not None and is_next and before.was_long)
        self._running[request] = _PendingRequest(page, kind, now, is_background, follows)

    def is_running(self, request: Request) -> bool:
        """Whether a request is recorded and has not ended."""
        return request in self._running

    def add_response(self, response: Response) -> None:
        """Records that an answer has started to arrive."""
        if (each := self._running.get(response.request)) is not None:
            each.answered = time.monotonic()
            each.is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
            each.is_sized = "content-length" in response.headers

    def finish(self, request: Request) -> None:
        """Records that a request was answered, failed or was aborted."""
        each = self._running.pop(request, None)
        if each is None:
            return
        now = time.monotonic()
        was_long = each.was_left or now - each.started_at >= _LONG_S
        ended = _FinishedRequest(now, each.page, each.kind, each.follows, was_long)
        self._last_finished[each.kind] = ended
        self._unjudged = [*self._unjudged[-_MOST_UNJUDGED:], ended]
        if self._is_waited_for(request, each, now):
            self._last_end[each.page] = now
            if not was_long and len(self._quick_kinds) < _MOST_KINDS:
                self._quick_kinds.add(each.kind)

    def forget(self, page: Page) -> None:
        """Drops the requests of a closed tab."""
        self._running = {request: each for request, each in self._running.items() if each.page is not page}
        self._last_end.pop(page, None)

    def is_awaited(self, page: Page) -> bool:
        """Whether the page is waiting for an answer, or has not had time to draw one."""
        now = time.monotonic()
        is_new = now - self._last_end.get(page, 0.0) < _DRAWN_S
        return is_new or any(
            each.page is page and self._is_waited_for(request, each, now) for request, each in self._snapshot()
        )

    def learn_from_change(self, page: Page, changed_at: float) -> None:
        """Learns from the time of the page's last change which answers have changed it."""
        now = time.monotonic()
        for ended in [each for each in self._unjudged if each.page is page and now - each.at >= _JUDGED_S]:
            self._unjudged.remove(ended)
            if ended.at - _DRAWN_S <= changed_at <= ended.at + _FOLLOWS_S:
                self._background_kinds.discard(ended.kind)
            elif changed_at < ended.at and (ended.was_long or ended.follows + 1 >= _POLLS):
                self._mark_as_background(ended.kind)
                for each in self._running.values():
                    each.is_background |= each.kind == ended.kind

    def end_look(self, page: Page) -> None:
        """Ends a look: requests that outlasted it are not waited for again."""
        now = time.monotonic()
        for each in self._running.values():
            if each.page is page and not each.was_left and now - each.started_at >= _LONG_S:
                each.was_left = True
                if each.kind not in self._quick_kinds:
                    self._mark_as_background(each.kind)

    def describe_pending(self, page: Page) -> str:
        """A clause about the pending requests; empty if there are none but background requests."""
        now = time.monotonic()
        here = [
            each
            for request, each in self._snapshot()
            if each.page is page and now - each.started_at < _OLD_S and self._is_foreground(request, each, now)
            # The next round of what repeats is no news; a slow machine sees its rounds apart, and takes it for no poll.
            if each.kind not in self._last_finished or now - each.started_at >= _FOLLOWS_S
        ]
        if not here:
            return ""
        newest = urlsplit(max(here, key=lambda each: each.started_at).kind[1])
        what = safe_line(f"{newest.netloc}{newest.path}", _LONGEST_PATH)
        since = now - min(each.started_at for each in here)
        if len(here) == 1:
            return f"1 request has been pending for {since:.1f} s ({what})"
        return f"{len(here)} requests have been pending for up to {since:.1f} s (the newest: {what})"

    def _snapshot(self) -> list[tuple[Request, _PendingRequest]]:
        return list(self._running.items())

    def _is_waited_for(self, request: Request, each: _PendingRequest, now: float) -> bool:
        return not each.was_left and now - each.started_at < _LONGEST_S and self._is_foreground(request, each, now)

    def _is_foreground(self, request: Request, each: _PendingRequest, now: float) -> bool:
        """Whether the page may be waiting for its answer."""
        is_endless = each.answered is not None and not each.is_sized and now - each.answered > _LONG_S
        is_poll = self._counts[_request_identity(request)] >= _POLLS
        return not (each.is_background or each.is_stream or is_endless or is_poll)

    def _mark_as_background(self, kind: _Kind) -> None:
        if len(self._background_kinds) < _MOST_KINDS:
            self._background_kinds.add(kind)


def _request_identity(request: Request) -> tuple[str, str, bytes | None]:
    return request.method, request.url, request.post_data_buffer


def _request_kind(request: Request) -> _Kind:
    return request.method, request.url.partition("?")[0]

"""Waits for the pending requests of a browser context, so that nothing is judged before it has reached its server."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from playwright.async_api import BrowserContext, Request

_ARRIVES_S = 20.0
"""Longest wait for a request: one of a page that has closed may never be reported as finished."""


class RequestsUnderWay:
    """Counts the requests of a context from now on."""

    def __init__(self, context: BrowserContext) -> None:
        self._running: set[Request] = set()
        self._has_changed = asyncio.Event()
        context.on("request", self._begin)
        context.on("requestfinished", self._end)
        context.on("requestfailed", self._end)

    async def wait(self) -> None:
        """Returns once none is under way, after twenty seconds at the latest."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_ARRIVES_S):
                while self._running:
                    self._has_changed.clear()
                    await self._has_changed.wait()
        self._running.clear()

    def _begin(self, request: Request) -> None:
        self._running.add(request)

    def _end(self, request: Request) -> None:
        self._running.discard(request)
        self._has_changed.set()

"""Lets the calls on one page happen one after the other. Knows no page and no action."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from vision_agent.errors import UsageError

_LONGEST_QUEUE_S = 3600.0
"""Every call ends within its own deadlines, so this is only reached by a very long queue."""


class Turns:
    """Gives one call at a time its turn, in the order in which they ask."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[Any] | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits until the calls before have ended. A call that is cancelled while it waits does nothing.

        Raises:
            UsageError: the task has its turn already, so it would wait for itself; or the queue is too long.
        """
        task = asyncio.current_task()
        if task is not None and self._holder is task:
            raise UsageError(
                "A call on this page was made from within another one, which would wait for itself",
                "make it after the other has returned, or in a task of its own",
            )
        try:
            async with asyncio.timeout(_LONGEST_QUEUE_S):
                await self._lock.acquire()
        except TimeoutError:
            raise UsageError(
                f"The calls before this one took longer than {_LONGEST_QUEUE_S / 60:g} minutes, so it was not made",
                "make fewer at once",
            ) from None
        self._holder = task
        try:
            yield
        finally:
            self._holder = None
            self._lock.release()

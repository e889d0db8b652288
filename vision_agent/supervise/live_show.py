"""Shows the live view to the windows of the supervision page, and lets one of them act on the page at a time.

The page is streamed only while a window asks for pictures. Windows are told apart by names that they choose.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.web.live_view import LiveInput, LivePicture, LiveView, PointerInput

POLL_S = 2.0
"""How long a window waits for a picture; then it asks again."""
_GONE_S = 3.0
"""A window that has not asked for so long is gone."""
_OLD_S = 1.5
"""A press on a picture that a newer one replaced so long ago is refused."""
_MOST_TIMES = 200
_WATCH_EVERY_S = 0.25
_RELEASE_S = 6.0


@dataclass(frozen=True)
class ShownFrame:
    """A picture of the live view, and its number."""

    number: int
    frame: LivePicture


@dataclass
class LiveShow:
    """The windows that watch, and the newest picture."""

    view: LiveView
    hands: str = ""
    """The window that acts on the page."""
    _newest: ShownFrame | None = None
    _came: dict[int, float] = field(default_factory=dict)
    """When each of the last pictures came."""
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    _asking: Counter[str] = field(default_factory=Counter)
    """How many requests each window has open."""
    _asked_at: dict[str, float] = field(default_factory=dict)
    _pump: asyncio.Task[None] | None = None
    _fault: str = ""
    _is_closed: bool = False

    @property
    def is_streaming(self) -> bool:
        """Whether the page is streamed now."""
        return self._pump is not None and not self._pump.done()

    def watches(self, window: str) -> bool:
        """Whether a window is there and shows the live view."""
        recent = time.monotonic() - self._asked_at.get(window, -_GONE_S) < _GONE_S
        return bool(window) and (recent or self._asking[window] > 0)

    async def next_frame(self, window: str, after: int) -> ShownFrame | None:
        """The newest picture once there is one after that number; None if none came for seconds, or after the end.

        Raises:
            UsageError: the page cannot be streamed.
        """
        self._asking[window] += 1
        try:
            if not self.is_streaming and not self._is_closed:
                self._fault = ""
                self._pump = asyncio.create_task(self._stream())
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S), self._changed:
                    await self._changed.wait_for(lambda: self._is_closed or self._fault or self._is_newer(after))
        finally:
            self._asking[window] -= 1
            self._asked_at[window] = time.monotonic()
        if self._fault:
            raise UsageError(self._fault)
        return self._newest if self._is_newer(after) else None

    def must_be_current(self, window: str, number: int, inputs: Sequence[LiveInput]) -> None:
        """Checks that a press goes to what the person sees.

        Raises:
            UsageError: the picture is old, or stands still.
        """
        if not any(isinstance(each, PointerInput) and each.kind == "down" for each in inputs):
            return
        if self._newest is None or not self.watches(window):
            raise UsageError("This window shows no live picture of the page", "wait for the picture, and press again")
        if self._newest.frame.data is None:
            raise UsageError(self._newest.frame.note, "wait until it moves again, or use the keyboard")
        next_came = self._came.get(number + 1, 0.0 if number < self._newest.number else time.monotonic())
        if (age := time.monotonic() - next_came) > _OLD_S:
            shown = f"is {age:.1f} s old" if next_came else "is old"
            raise UsageError(f"The picture that was pressed on {shown}", "look at the new one, and press again")

    async def release(self) -> None:
        """Releases every button and key that the person holds."""
        with suppress(TimeoutError, VisionAgentError):
            async with asyncio.timeout(_RELEASE_S):
                await self.view.release()

    async def release_when_gone(self) -> None:
        """Releases what is held each time the window that acts is gone; runs until it is cancelled."""
        was_there = False
        while True:
            is_there = self.watches(self.hands)
            if was_there and not is_there:
                await self.release()
            was_there = is_there
            await asyncio.sleep(_WATCH_EVERY_S)

    async def close(self) -> None:
        """Ends the stream. Who waits for a picture gets none."""
        self._is_closed = True
        async with self._changed:
            self._changed.notify_all()
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])

    def _is_newer(self, after: int) -> bool:
        return self._newest is not None and self._newest.number > after

    async def _stream(self) -> None:
        watching = asyncio.create_task(self._until_nobody_watches())
        try:
            async with aclosing(self.view.frames()) as frames:
                while True:
                    coming = asyncio.ensure_future(anext(frames))
                    try:
                        await asyncio.wait([coming, watching], return_when=asyncio.FIRST_COMPLETED)
                        if watching.done():
                            return
                    finally:
                        if not coming.done():
                            coming.cancel()
                            await asyncio.wait([coming])
                    await self._show(coming.result())
        except VisionAgentError as error:
            self._fault = str(error)
        except StopAsyncIteration:
            self._fault = "The live view has ended"
        finally:
            watching.cancel()
            async with self._changed:
                self._changed.notify_all()

    async def _show(self, frame: LivePicture) -> None:
        number = self._newest.number + 1 if self._newest is not None else 1
        self._newest = ShownFrame(number, frame)
        self._came[number] = time.monotonic()
        self._came.pop(number - _MOST_TIMES, None)
        async with self._changed:
            self._changed.notify_all()

    async def _until_nobody_watches(self) -> None:
        # Time has to pass: a window is gone because nothing comes from it.
        while any(self.watches(each) for each in self._asked_at.keys() | self._asking.keys()):  # noqa: ASYNC110
            await asyncio.sleep(_WATCH_EVERY_S)

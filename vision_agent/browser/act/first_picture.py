"""The picture of the page that is begun as soon as the last input of an action has been sent.

Chromium takes it two frames after it is asked. Meanwhile it becomes known what the input reached.
"""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import Page

from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page.capture import capture


def may_read_at_once(seen: LiveObservation, quiet_s: float) -> bool:
    """Whether a page may be read before it has been quiet for as long as it should.

    One that draws may not: documents do not report when what they draw changed.
    """
    return quiet_s > 0 and seen.observation.at_rest and not has_surfaces(seen)


def has_surfaces(seen: LiveObservation) -> bool:
    """Whether something that was seen is drawn."""
    return any(mark.kind == "surface" for mark in seen.observation.marks)


class FirstPicture:
    """A picture of a tab that was begun at a moment. It must be dropped in the end, awaited or not."""

    def __init__(self, page: Page, deadline_s: float) -> None:
        self.page = page
        self.begun = time.monotonic()
        self._taking = asyncio.create_task(capture(page, deadline_s))

    async def png(self) -> bytes:
        """The picture, encoded; see `capture`."""
        return await self._taking

    async def drop(self) -> None:
        """Gives the picture up if it is not there yet."""
        self._taking.cancel()
        await asyncio.gather(self._taking, return_exceptions=True)

"""Brings back the controls that a player has hidden because the pointer rests over it.

Knows no players: `player_controls.js` recognises one by what fills it.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field

from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frames import Scan, ScannedFrame
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.element import PlayerUnderPointer

_LOOKS = 10
_LOOK_EVERY_S = 0.03
"""How often, and at what interval, to check whether the player has begun to show its controls."""


@dataclass
class IdlePlayers:
    """Where the last action left the pointer, and what players hide even from a pointer that moves."""

    pointer: tuple[Page, Point] | None = None
    """The tab, and the place in page coordinates, as far as is known."""
    _hidden_awake: dict[str, int] = field(default_factory=dict)
    """By document: how many controls of its player are hidden while it is awake."""

    async def find(self, page: Page, before: Scan | None, deadline_s: float) -> ScannedFrame | None:
        """The frame with a player that the pointer rests over; None if it rests elsewhere.

        `before`: the last look. The page confirms that the pointer is there: a person may have moved it.
        """
        if before is None or self.pointer is None or self.pointer[0] is not page:
            return None
        frames = [each for each in before.frames if each.frame in page.frames]
        found = await asyncio.gather(*(self._player(each, None, deadline_s) for each in frames))
        # In the frame around it, a frame is what fills a player.
        inside = [each for each, player in zip(frames, found, strict=True) if player is not None]
        return inside[-1] if inside else None

    async def wake(self, page: Page, inside: ScannedFrame | None, before: Scan | None, deadline_s: float) -> bool:
        """Whether the player in a frame was woken: it hides controls that the pointer may bring back.

        The pointer moves by one pixel and back. That is harmless, because it stays on the element that it is already
        over: nothing is entered or left, and no button is down. It is not moved over a canvas, which may be a game that
        follows it; nor again for controls that did not appear the last time, such as those of a closed menu.
        """
        asleep = await self._player(inside, before, deadline_s) if inside is not None else None
        if inside is None or asleep is None or asleep.nudge is None or self.pointer is None:
            return False
        if not asleep.gone and asleep.hidden <= self._hidden_awake.get(inside.token, 0):
            return False
        at, (by_x, by_y) = self.pointer[1], asleep.nudge
        await page.mouse.move(at.x + by_x, at.y + by_y)
        await page.mouse.move(at.x, at.y)
        for _ in range(_LOOKS):
            now = await self._player(inside, before, deadline_s)
            if now is None:
                break
            self._hidden_awake[inside.token] = now.hidden
            # What was gone comes back as something else, so it stays gone.
            if now.hidden < asleep.hidden or now.gone < asleep.gone:
                break
            await asyncio.sleep(_LOOK_EVERY_S)
        return True

    async def _player(self, inside: ScannedFrame, before: Scan | None, deadline_s: float) -> PlayerUnderPointer | None:
        """The player under the pointer in a frame; `before`: what was seen in it."""
        assert self.pointer is not None
        place, marks = inside.place, before.marks if before else ()
        were = [(mark.key, place.to_frame(mark.points[0])) for mark in marks if mark.key.document == inside.token]
        spot = place.to_frame(self.pointer[1])
        with suppress(FrameSilent):  # the look reports that
            return await overlay_calls.element.player_under_pointer(inside.frame, deadline_s, inside.token, spot, were)
        return None

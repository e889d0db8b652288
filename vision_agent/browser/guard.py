"""Around one gesture: what would reach anything but what was meant is kept from it. See `guard.js`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Frame, Page

from vision_agent.browser import overlay
from vision_agent.browser.locate import Located, blocker_words, in_the_way, raw_of
from vision_agent.browser.observe import Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.browser.row_context import ContextChanged
from vision_agent.errors import BrowserUnavailable

_MOST_GUARDED = 12
"""Frames."""
_TOLD_S = 1.0


class Stopped(Refused):
    """The gesture was stopped, or a part of it."""

    is_unheard = False
    """Whether nothing of it has reached the page before."""


@dataclass
class Gesture:
    """What became of one press and what belongs to it."""

    at: Located
    seen: Seen
    is_drag: bool = False
    frames: tuple[Frame, ...] = ()
    """Those that are guarded; none where only the pixels say what is meant."""
    arrived: tuple[str, ...] = ()
    """The events that reached what was meant, in order."""
    is_lost: bool = False
    """A document that heard of it is gone or silent, and tells nothing more."""
    stopped: Mapping[str, Any] | None = None
    elsewhere: Mapping[str, Any] | None = None
    unanswered: bool = False

    @property
    def is_heard(self) -> bool:
        """Whether something of it reached the page, or may have."""
        is_stopped_at_once = self.stopped is not None and self.stopped["type"] == "pointerdown"
        return bool(self.arrived) or (self.is_lost and not is_stopped_at_once)

    @property
    def words(self) -> str:
        """What reached the page, for a sentence; empty where nothing did."""
        if self.arrived:
            return f"{_listed(self.arrived)} reached {self.at.words}"
        return f"a press on {self.at.words} was sent" if self.is_heard else ""

    @property
    def remark(self) -> str:
        """Of what the page did before a click was over; empty where all of it reached what was meant."""
        if not self.elsewhere or not self.arrived or self.is_drag:
            return ""
        there = blocker_words(self.elsewhere["blocker"], self.elsewhere["key"], self.seen)
        kept = ", and the rest was kept from it" if self.stopped else ""
        return f"only {_listed(self.arrived)} reached it, then {there} lay there{kept}"

    async def must_have_begun(self) -> None:
        """Returns where the first event reached what was meant, as far as anybody can tell.

        Raises:
            Stopped: it was stopped.
        """
        await self._ask(is_over=False)
        if self.stopped and not self.is_heard:
            raise self._refusal(self.stopped)

    async def end(self) -> None:
        """Asks for the last time; what is part of the page's answer to the first events is no refusal.

        Raises:
            Stopped: nothing reached the page, or what was meant did not get what it needs.
        """
        await self._ask(is_over=True)
        if not self.stopped:
            return
        is_meant = self.stopped["type"] == "pointerdown" or self.stopped["why"] == "changed"
        if not self.is_heard or is_meant or self.unanswered:
            raise self._refusal(self.stopped)

    async def _ask(self, *, is_over: bool) -> None:
        try:
            told = await asyncio.gather(*(_told(frame, is_over) for frame in self.frames))
        except BrowserUnavailable:  # the press closed the page, or something else did
            self.is_lost = True
            raise
        self.arrived = next((tuple(each["arrived"]) for each in told if each["arrived"]), ())
        self.is_lost = not all(each["armed"] for each in told)
        self.stopped = next((each["stopped"] for each in told if each["stopped"]), None)
        self.elsewhere = next((each["elsewhere"] for each in told if each["elsewhere"]), None)
        self.unanswered = any(each["unanswered"] for each in told)

    def _refusal(self, stopped: Mapping[str, Any]) -> Stopped:
        words = self.at.words
        if stopped["why"] == "covered":
            refusal = Stopped("covered", in_the_way(words, stopped["blocker"], stopped["key"], self.seen))
        else:
            what = "is gone from the page" if stopped["why"] == "gone" else "became something else"
            said = f"{words} {what} in the moment of the press, which was stopped. Look again."
            refusal = Stopped("changed", said)
        refusal.is_unheard = not self.is_heard
        return refusal


@asynccontextmanager
async def guarded(
    page: Page, at: Located, seen: Seen, deadline_s: float, *, is_drag: bool = False
) -> AsyncIterator[Gesture]:
    """What becomes of the gesture that is made meanwhile.

    A point with no mark under it is not guarded: what it is to reach is known by its pixels only.

    Raises:
        Stopped: see `Gesture.end`.
    """
    mark = at.mark or at.under
    key, kind = (mark.key, mark.kind) if mark else (at.key, None)
    if key is None or at.answer is None:
        yield Gesture(at, seen, is_lost=True)
        return
    frames = [frame for frame in page.frames[:_MOST_GUARDED] if not overlay.is_silent(frame)]
    owner = seen.scan.owner(key)
    place = raw_of(mark, seen).get("place") if mark else None
    meant = {"fingerprint": at.answer["fingerprint"], "place": place, **seen.strictness(mark)}
    meant |= {"kind": kind, "isDrag": is_drag, "ms": deadline_s * 1000}
    here = [key if owner and frame is owner.frame else None for frame in frames]
    armed = await asyncio.gather(
        *(_arm(frame, deadline_s, key=each, **meant) for frame, each in zip(frames, here, strict=True))
    )
    gesture = Gesture(
        at, seen, is_drag, tuple(frame for frame, is_armed in zip(frames, armed, strict=True) if is_armed)
    )
    try:
        yield gesture
    finally:
        await gesture.end()


@asynccontextmanager
async def keys_guarded(at: Located, seen: Seen, deadline_s: float) -> AsyncIterator[None]:
    """Around keys that are sent to an element: none of them reaches it once its row is another's. See `key_guard.js`.

    Raises:
        ContextChanged: some were kept back; the sentence says what changed.
    """
    place = raw_of(at.mark, seen).get("place") if at.mark else None
    if at.mark is None or at.frame is None or place is None:
        yield
        return
    meant = {"place": place, **seen.strictness(at.mark), "ms": deadline_s * 4000}
    await overlay.ask(at.frame, "guard_keys", deadline_s, key=at.mark.key, **meant)
    yield
    with suppress(FrameSilent):  # the keys led to another document
        held = (await overlay.ask(at.frame, "keys_guarded", _TOLD_S))["held"]
        if held is not None:
            raise ContextChanged(held, at.words)


async def _arm(frame: Frame, deadline_s: float, **meant: Any) -> bool:
    try:
        await overlay.ask(frame, "guard", deadline_s, **meant)
    except FrameSilent:  # it is closed, or hangs: nothing can be pressed in it
        return False
    return True


async def _told(frame: Frame, is_over: bool) -> dict[str, Any]:
    """What the guard of a document says; where the press led to another one, there is none."""
    try:
        return await overlay.ask(frame, "guarded", _TOLD_S, isOver=is_over)
    except FrameSilent:
        return {"armed": False, "arrived": (), "stopped": None, "elsewhere": None, "unanswered": False}


def _listed(types: Sequence[str]) -> str:
    """`pointerdown, mousedown and click`."""
    *most, last = types
    return f"{', '.join(most)} and {last}" if most else last

"""Around one press: a page hears nothing of it if it would reach anything but what was meant. See `guard.js`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from playwright.async_api import Frame, Page

from vision_agent.browser import overlay
from vision_agent.browser.locate import Located, in_the_way, raw_of
from vision_agent.browser.observe import Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused

_MOST_GUARDED = 12
"""Frames."""
_TOLD_S = 1.0


class Stopped(Refused):
    """The press was stopped."""

    is_unheard = False
    """Whether nothing of it has reached the page before."""


@asynccontextmanager
async def guarded(
    page: Page, at: Located, seen: Seen, deadline_s: float, *, is_drag: bool = False
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """What can be awaited between a press and a release to learn whether it was stopped; the end tells that anyway.

    A point with no mark under it is not guarded: what it is to reach is known by its pixels only.

    Raises:
        Stopped: it was.
    """
    mark = at.mark or at.under
    key, kind = (mark.key, mark.kind) if mark else (at.key, None)
    if key is None or at.answer is None:
        yield _is_fine
        return
    frames = [frame for frame in page.frames[:_MOST_GUARDED] if not overlay.is_silent(frame)]
    owner = seen.scan.owner(key)
    place = raw_of(mark, seen).get("place") if mark else None
    meant = {"fingerprint": at.answer["fingerprint"], "place": place, **seen.strictness(mark)}
    meant |= {"kind": kind, "isDrag": is_drag, "ms": deadline_s * 1000}
    here = [key if owner and frame is owner.frame else None for frame in frames]
    await asyncio.gather(
        *(_arm(frame, deadline_s, key=each, **meant) for frame, each in zip(frames, here, strict=True))
    )

    async def must_have_gone_through(*, is_over: bool = False) -> None:
        told = await asyncio.gather(*(_told(frame, is_over) for frame in frames))
        stopped = next((each["stopped"] for each in told if each["stopped"]), None)
        if stopped is not None:
            refusal = _stopped(at, stopped, seen)
            refusal.is_unheard = not any(each["heard"] for each in told)
            raise refusal

    try:
        yield must_have_gone_through
    finally:
        await must_have_gone_through(is_over=True)


def _stopped(at: Located, stopped: Mapping[str, Any], seen: Seen) -> Stopped:
    if stopped["why"] == "covered":
        return Stopped("covered", in_the_way(at.words, stopped["blocker"], stopped["key"], seen))
    what = "is gone from the page" if stopped["why"] == "gone" else "became something else"
    return Stopped("changed", f"{at.words} {what} in the moment of the press, which was stopped. Look again.")


async def _arm(frame: Frame, deadline_s: float, **meant: Any) -> None:
    with suppress(FrameSilent):  # it is closed, or hangs: nothing can be pressed in it
        await overlay.ask(frame, "guard", deadline_s, **meant)


async def _told(frame: Frame, is_over: bool) -> dict[str, Any]:
    try:
        return await overlay.ask(frame, "guarded", _TOLD_S, isOver=is_over)
    except FrameSilent:  # the press led to another document
        return {"stopped": None, "heard": True}


async def _is_fine() -> None:
    return None

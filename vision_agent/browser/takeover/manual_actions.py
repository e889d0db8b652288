"""Turns what a person does during a takeover into manual actions, each with the look before it.

Every input is recorded: as an action if it has a mark or a point, else in words. `input_listener` receives the input,
`human_input_meaning` interprets it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Error as PlaywrightError

from vision_agent.actions import Click, Finish
from vision_agent.browser.act.changed_pixels import ChangedPixels, Paint, judge_pixels, paint_on
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.network.navigations import is_error_page
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.takeover.human_input_meaning import HumanAct, InputInterpreter
from vision_agent.browser.takeover.input_listener import Field, InputListener, TimedInput
from vision_agent.errors import BrowserUnavailable
from vision_agent.types import Effect, ManualAction, Outcome, Secret
from vision_agent.vision.compare import changed_share

_PAIR_S = 0.4
"""Wait for an input that may merge with the last one: a second press, or a text after a press."""
_LIVE_PAIR_S = 3.0
"""The longest wait for the same in the live view, where the two presses of a double click come one after the other."""
_LOOK_EVERY_S = 0.5
"""How often to check whether the page has changed on its own, so that a current look precedes the next input."""
_CANNOT_LISTEN = (
    "Manual actions can only be recorded in Chromium; this takeover has only the observations before and after"
)
_FOREIGN_TAB = "opened a new tab or window, where nothing is recorded; go on in the one that is recorded"


async def manual_actions(
    look: Callable[[], Awaitable[LiveObservation]],
    sender: InputSender,
    handed_back: Callable[[], Awaitable[None]],
    learn: Callable[[Secret], None],
    *,
    is_over_when_closed: bool = False,
) -> AsyncGenerator[ManualAction, None]:
    """What a person does until they hand the browser back, in order.

    `handed_back` is called once all listeners are in place, and returns when the takeover is over. `learn` receives
    typed passwords before any action that may contain one is yielded.

    If the takeover is also over when the last of our tabs is closed, that is the last action, a `Finish`.
    """
    listener = InputListener(sender.tabs, sender.deadline_s)
    takeover_end: asyncio.Future[None] | None = None
    watch: _Watch | None = None
    sender.tabs.hand_over(to_person=True)
    try:
        await listener.open()
        watch = _Watch(look, sender, listener, InputInterpreter(sender, learn), await look())
        await listener.refresh()
        takeover_end = asyncio.ensure_future(handed_back())
        if not listener.can_listen:
            yield watch.note(_CANNOT_LISTEN)
        is_over = False
        while not is_over:
            if is_over_when_closed and _is_closed(sender):
                raise BrowserUnavailable("The window was closed")
            is_over = await _wait_for_input(listener, takeover_end, watch.pause_s)
            if is_over:
                await listener.close()
            while listener.queue and (is_over or _pause_s(listener) <= 0):
                for done in await watch.handle_input(listener.queue.pop(0)):
                    yield done
            while listener.foreign_tabs:
                listener.foreign_tabs -= 1
                yield watch.note(_FOREIGN_TAB)
            if is_over or (not listener.queue and (watch.act is not None or await _has_changed(watch.seen, sender))):
                for done in await watch.look_again():
                    yield done
        if listener.lost_count:
            yield watch.note(f"did {listener.lost_count} more things that are not recorded: they came too fast")
    except BrowserUnavailable:
        # They may have closed the browser; the next look reports that. Wait until they hand it back.
        if takeover_end is None or watch is None:
            raise
        is_over = is_over_when_closed and _is_closed(sender)
        with suppress(BrowserUnavailable):  # what they did last may need another look
            while is_over and listener.queue:
                for done in await watch.handle_input(listener.queue.pop(0)):
                    yield done
        if watch.act is not None:
            yield _to_manual_action(watch.act)
        if is_over:
            yield watch.closing()
            return
        await takeover_end
    finally:
        sender.tabs.hand_over(to_person=False)
        if takeover_end is not None:
            takeover_end.cancel()
        await listener.close()


async def _wait_for_input(listener: InputListener, takeover_end: asyncio.Future[None], pause_s: float) -> bool:
    """Waits for input, the pause or the end of the takeover; returns whether it is over."""
    listener.has_news.clear()
    if listener.queue:
        await asyncio.wait([takeover_end], timeout=max(_PAIR_S / 8, _pause_s(listener)))
    else:
        ends: list[asyncio.Future[Any]] = [takeover_end, asyncio.ensure_future(listener.has_news.wait())]
        await asyncio.wait(ends, timeout=pause_s, return_when=asyncio.FIRST_COMPLETED)
        ends[1].cancel()
    if takeover_end.done():
        takeover_end.result()
    return takeover_end.done()


def _pause_s(listener: InputListener) -> float:
    """How long an input may still merge with the oldest one that waits; in the live view, presses take their time."""
    now, came, tabs = time.monotonic(), listener.queue[0].at, listener.tabs
    last = now if tabs.live_presses else max(came, tabs.live_press_ended)
    return min(last + _PAIR_S, came + _LIVE_PAIR_S) - now


@dataclass
class _Watch:
    """The last two looks, and the person's last act, whose effect the next look will show."""

    look: Callable[[], Awaitable[LiveObservation]]
    sender: InputSender
    listener: InputListener
    meaning: InputInterpreter
    seen: LiveObservation
    act: HumanAct | None = None
    pause_s: float = _LOOK_EVERY_S
    """Time between two looks; longer if looks are slow."""
    _before: LiveObservation | None = None
    _typed_from: dict[Field, LiveObservation] = field(default_factory=dict)
    """The looks before a text was begun that is still being typed."""
    _looked_at: float = 0.0

    def note(self, words: str) -> ManualAction:
        """A manual action that only consists of words."""
        return _to_manual_action(HumanAct(self.seen, words, None, time.monotonic()))

    def closing(self) -> ManualAction:
        """That the window was closed, which says that the task is done."""
        done = Outcome(status="done", effect="finished", sentence="A person closed the window.")
        note = self.note("closed the window")
        return note.model_copy(update={"action": Finish(), "outcome": done})

    async def handle_input(self, timed: TimedInput) -> list[ManualAction]:
        """Interprets an input, and returns the manual actions that it completes."""
        # Input during a look refers to the look before.
        is_earlier = timed.at < self._looked_at and self._before is not None and self.meaning.knows(timed, self._before)
        base = self._before if is_earlier and self._before is not None else self.seen
        if timed.event.does in ("typed", "set"):
            self.listener.typing_in.discard(timed.field)
            begun = self._typed_from.pop(timed.field, base)
            base = begun if self.meaning.knows(timed, begun) else base
        done: list[ManualAction] = []
        is_elsewhere = timed.page is not base.page and timed.page in self.sender.tabs.pages
        if is_elsewhere:
            done += self._finish_act()
            self.act, self.sender.tabs.active = self.meaning.interpret_tab_switch(timed.page, self.seen), timed.page
        if timed.event.does != "shown" and (is_elsewhere or not self.meaning.knows(timed, base)):
            done += await self.look_again()
            base = self.seen
        if timed.event.does != "shown":
            is_stale = self.act is not None and self.act.seen is base
            done += self._finish_act()
            self.act = self.meaning.interpret(timed, base, is_stale=is_stale)
        return done

    async def look_again(self) -> list[ManualAction]:
        """Looks again, and returns the last act with its effect, and a navigation without one."""
        await self.listener.refresh()
        began, before = time.monotonic(), self.seen
        paint = await _paint_of(self.act, self.sender)
        self.seen, self._before = await self.look(), before
        self._looked_at = time.monotonic()
        for each in self.listener.typing_in - self._typed_from.keys():
            self._typed_from[each] = before
        self.pause_s = max(_LOOK_EVERY_S, 2 * (self._looked_at - began))
        went = await self.listener.detect_navigation(self.seen.page)
        if before.page is not self.seen.page or (went == "reload" and not _is_other_document(before, self.seen)):
            went = None
        done = self._finish_act(None if went else self.seen, paint)
        if not done and before.page.is_closed():
            done = [_to_manual_action(self.meaning.interpret_tab_switch(self.seen.page, before), self.seen)]
        navigation = (
            []
            if went is None
            else [_to_manual_action(self.meaning.interpret_navigation(went, before, self.seen), self.seen)]
        )
        return done + navigation

    def _finish_act(self, after: LiveObservation | None = None, paint: Paint | None = None) -> list[ManualAction]:
        act, self.act = self.act, None
        return [] if act is None else [_to_manual_action(act, after, paint)]


def _is_closed(sender: InputSender) -> bool:
    """Whether the person has closed all tabs of the run, or the browser."""
    return all(page.is_closed() for page in sender.tabs.pages)


async def _has_changed(seen: LiveObservation, sender: InputSender) -> bool:
    if sender.tabs.active is not seen.page:
        return True
    for scanned in seen.scan.frames:
        try:
            now = await overlay_calls.scan.changes_since_scan(scanned.frame, sender.deadline_s, scanned.answer)
        except (FrameSilent, PlaywrightError):
            continue
        if now.has_changed or now.moved or now.token != scanned.token:
            return True
    return False


async def _paint_of(act: HumanAct | None, sender: InputSender) -> Paint | None:
    """Where only hover and focus styles differ since a person clicked something, as for a click of a run."""
    if act is None or not isinstance(act.action, Click) or not isinstance(act.action.target, int):
        return None
    mark = act.seen.observation.mark(act.action.target)
    if mark is None or sender.tabs.active is not act.seen.page:
        return None
    try:
        return await paint_on(mark, act.seen, act.began, sender.observer)
    except PlaywrightError:
        return None  # the frame is gone, which the next look tells


def _to_manual_action(act: HumanAct, after: LiveObservation | None = None, paint: Paint | None = None) -> ManualAction:
    """A recorded act; `after`: the next look, if nothing else was done before it; `paint`: see `_paint_of`."""
    seen = act.seen.observation
    if act.is_stale:
        note = "a person did something else between this look and this action"
        seen = seen.model_copy(update={"warnings": (*seen.warnings, note)})
    outcome = None
    if act.action is not None:
        effect = _effect(act.seen, after, paint) if after is not None else None
        came = {"no_effect": " Nothing changed.", None: " They went on before its effect was observed."}
        outcome = Outcome(
            status="done",
            effect=effect,
            sentence=f"A person {act.words}.{came.get(effect, '')}",
            point=act.point,
            value=act.value,
            seconds=round(time.monotonic() - act.began, 4),
        )
    return ManualAction(
        observation=seen,
        words=act.words,
        action=act.action,
        outcome=outcome,
        started_at=act.started_at,
        seconds=round(time.monotonic() - act.began, 3),
    )


def _effect(seen: LiveObservation, after: LiveObservation, paint: Paint | None) -> Effect:
    if after.page is not seen.page:
        return "changed" if after.page in seen.pages else "new_tab"
    if _is_other_document(seen, after):
        return "error_page" if is_error_page(after.page) else "navigated"
    if after.observation.url != seen.observation.url:
        return "same_document"
    pixels = changed_share(seen.clean, after.clean) * after.clean.size.width * after.clean.size.height
    _, is_seen = judge_pixels(paint, ChangedPixels(pixels, after=after.clean), seen)
    change = after.observation.change
    is_changed = is_seen or change.new or change.gone or change.changed or _focused_field(after, seen)
    return "changed" if is_changed else "no_effect"


def _focused_field(after: LiveObservation, seen: LiveObservation) -> bool:
    """Whether a field has the focus that did not have it; that counts for a click of a run too."""
    had = {mark.key for mark in seen.observation.marks if mark.state.focused}
    return any(mark.kind == "field" and mark.state.focused and mark.key not in had for mark in after.observation.marks)


def _is_other_document(before: LiveObservation, after: LiveObservation) -> bool:
    return after.scan.main.token != before.scan.main.token

"""Guards one gesture: events that would reach anything but the target are stopped in the page. See `press_guard.js`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from playwright.async_api import Frame, Page

from vision_agent.browser.locate.context_changed import ContextChanged
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import covered_sentence, obstacle_words
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.page import overlay, overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.answer_parts import NOTHING_EXPECTED
from vision_agent.browser.page.overlay_calls.guards import (
    Deflection,
    ExpectedButton,
    OtherButton,
    PassedOn,
    PressAnswer,
)
from vision_agent.browser.refusal import Refused
from vision_agent.errors import BrowserUnavailable
from vision_agent.observation import Mark
from vision_agent.text.escape import safe_line

_MOST_GUARDED = 12
"""Frames of a page."""
_ANSWER_S = 1.0
_FRESH_S = 0.5
"""How long guards may have been armed before a press; they end by themselves after some seconds."""
_PRESSES = frozenset({"pointerdown", "mousedown", "touchstart"})
_EMBEDDED = frozenset({"iframe", "frame", "embed", "object"})
_NATIVE_FIELDS = frozenset({"input", "textarea"})
_CLICKS = frozenset({"click", "dblclick", "auxclick", "contextmenu"})


class GestureStopped(Refused):
    """The gesture, or a part of it, was stopped."""

    reached_nothing = False
    """Whether no event of it has reached the page."""


@dataclass
class Gesture:
    """What became of one press and the events that belong to it."""

    page: Page
    at: Location
    seen: LiveObservation
    is_drag: bool = False
    frames: tuple[Frame, ...] = ()
    """The guarded frames; none if only pixels identify the target."""
    arrived: tuple[str, ...] = ()
    """The events that reached the target, in order."""
    has_lost_document: bool = False
    """A guarded document is gone or silent, so its answer is lost."""
    stopped: Deflection | None = None
    """The first event that was stopped."""
    elsewhere: Deflection | None = None
    """The first event that missed the target, stopped or not."""
    unanswered: bool = False
    is_heard: bool = False
    """Something is known to react to an event that reached the target, or the press alone was enough for it."""
    has_lost_click: bool = False
    """Something that lay over the target got the rest, and nothing shows that the press alone was meant."""
    pressed_ms: float | None = None
    """When the press came to the target's document, by the clock of that document."""
    is_drawing_changed: bool = False
    """The canvas no longer showed what is drawn around the target as the press ended."""
    is_dropped: bool = False
    """No press came to any document of the page: the browser dropped it, as it does while a window opens."""

    @property
    def has_reached_page(self) -> bool:
        """Whether an event of the gesture reached the page, or may have."""
        is_stopped_at_once = self.stopped is not None and self.stopped.event == "pointerdown"
        return bool(self.arrived) or (self.has_lost_document and not is_stopped_at_once)

    @property
    def words(self) -> str:
        """What reached the page, as a clause; empty if nothing did."""
        if self.arrived:
            return f"{_join_words(self.arrived)} reached {self.at.words}"
        return f"a press on {self.at.words} was sent" if self.has_reached_page else ""

    @property
    def remark(self) -> str:
        """What the page did before a click was complete, as a clause; empty if every event reached the target."""
        if not self.elsewhere or not self.arrived or self.is_drag:
            return ""
        there = obstacle_words(self.elsewhere.obstacle, self.seen)
        kept = ", and the rest was stopped" if self.stopped else ""
        return f"only {_join_words(self.arrived)} reached it, then {there} was in its place{kept}"

    @property
    def is_missed(self) -> bool:
        """Whether the press reached the target and no click did, and nothing is known to react to the press itself."""
        is_pressed = "mousedown" in self.arrived and not _CLICKS.intersection(self.arrived)
        return is_pressed and not (self.is_drag or self.is_heard or self.has_lost_document)

    @property
    def is_swallowed(self) -> bool:
        """Whether the press reached the target and the click went to what came over it, or nowhere.

        What heard the press may have acted on it, or only have shown something.
        """
        return self.has_lost_click and bool(self.remark) and not self.has_lost_document

    @property
    def is_redrawn(self) -> bool:
        """Whether an element that is like the target got the release of a click that was missed."""
        return self.is_missed and "mouseup" in self.arrived

    async def must_have_begun(self) -> None:
        """Checks that the first event reached the target, as far as can be told.

        Raises:
            GestureStopped: it was stopped.
        """
        await self._refresh(is_over=False)
        if self.stopped and not self.has_reached_page:
            raise self._refusal(self.stopped)
        if self.is_dropped:
            raise self._dropped()

    async def stop_clicks(self) -> None:
        """Keeps a click from the page that the release would be, now that the gesture is given up."""
        more = (overlay_calls.guards.stop_clicks(frame, _ANSWER_S) for frame in self.frames)
        await asyncio.gather(*more, return_exceptions=True)  # a document that is gone gets none

    async def is_still_guarded(self) -> bool:
        """Whether all documents that were guarded at the start are still there."""
        await self._refresh(is_over=False)
        return not (self.frames and self.has_lost_document)

    async def end(self, *, was_made: bool) -> None:
        """Ends the guard. A late stop is no refusal if the page was already answering the first events.

        Raises:
            GestureStopped: nothing reached the page of what `was_made`, or the target did not get the events it needs.
        """
        await self._refresh(is_over=True)
        if was_made and self.is_dropped:
            raise self._dropped()
        if not self.stopped:
            return
        is_meant = self.stopped.event == "pointerdown" or self.stopped.why == "changed"
        if not self.has_reached_page or is_meant or self.unanswered:
            raise self._refusal(self.stopped)

    async def _refresh(self, *, is_over: bool) -> None:
        if not self.frames:
            return  # nobody watches, so it may have reached the page
        try:
            answers = await asyncio.gather(*(_read_guard(frame, is_over) for frame in self.frames))
        except BrowserUnavailable:  # the press closed the page, or something else did
            self.has_lost_document = True
            raise
        self.arrived = next((each.arrived for each in answers if each.arrived), ())
        self.has_lost_document = not all(each.is_armed for each in answers)
        self.stopped = next((each.stopped for each in answers if each.stopped), None)
        self.elsewhere = next((each.elsewhere for each in answers if each.elsewhere), None)
        self.unanswered = any(each.is_unanswered for each in answers)
        self.is_heard = any(each.is_heard for each in answers)
        self.has_lost_click = any(each.is_swallowed for each in answers)
        self.is_drawing_changed = any(each.is_redrawn for each in answers)
        self.pressed_ms = answers[0].pressed_ms if answers else None
        is_pressed = bool(_PRESSES.intersection(self.arrived) or self.stopped or self.elsewhere)
        hear_all = {frame for frame, each in zip(self.frames, answers, strict=True) if each.is_armed and each.hears_all}
        self.is_dropped = not is_pressed and not self._is_embedded and hear_all.issuperset(self.page.frames)

    @property
    def _is_embedded(self) -> bool:
        """Whether the target shows a document of its own, which need not be a frame of the page."""
        mark = self.at.mark or self.at.under
        return mark is not None and mark.tag in _EMBEDDED

    def _dropped(self) -> GestureStopped:
        said = f"The press on {self.at.words} never reached the page: the browser dropped it. Look again."
        dropped = GestureStopped("changed", said)
        dropped.reached_nothing = not self.arrived
        return dropped

    def _refusal(self, stopped: Deflection) -> GestureStopped:
        words = self.at.words
        if stopped.why == "covered":
            refusal = GestureStopped("covered", covered_sentence(words, stopped.obstacle, self.seen))
        else:
            what = "is gone from the page" if stopped.why == "gone" else "became something else"
            said = f"{words} {what} at the moment of the press, which was stopped. Look again."
            refusal = GestureStopped("changed", said)
        refusal.reached_nothing = not self.has_reached_page
        return refusal


@dataclass(frozen=True)
class ArmedGuard:
    """The guards of a page, ready for a press that has not been made."""

    frames: tuple[Frame, ...]
    """The guarded frames."""
    seen: LiveObservation
    target: tuple[str, str]
    """The key and the fingerprint of what the press may reach."""
    all_frames: tuple[Frame, ...]
    """The frames that the page had."""
    at: float
    """When they were armed, on the monotonic clock."""

    def fits(self, page: Page, at: Location, seen: LiveObservation) -> bool:
        """Whether guards that are armed now would be the same."""
        is_fresh = time.monotonic() - self.at < _FRESH_S
        return is_fresh and seen is self.seen and _target(at) == self.target and tuple(page.frames) == self.all_frames

    async def disarm(self) -> None:
        """Ends them: the press is not made."""
        await asyncio.gather(*(_read_guard(each, is_over=True) for each in self.frames), return_exceptions=True)


async def arm_guard(
    page: Page,
    at: Location,
    seen: LiveObservation,
    deadline_s: float,
    *,
    lasts_s: float,
    is_drag: bool = False,
    is_pan: bool = False,
) -> ArmedGuard | None:
    """Arms the guards; None for a point without a mark under it: only its pixels identify it."""
    mark, target, began = at.mark or at.under, _target(at), time.monotonic()
    if target is None:
        return None
    key, fingerprint = target
    all_frames = tuple(page.frames)
    owner = seen.scan.owner(key)
    nearest = [*_with_parents(owner.frame), *all_frames] if owner else all_frames
    frames = [each for each in list(dict.fromkeys(nearest))[:_MOST_GUARDED] if not overlay.is_silent(each)]

    async def arm(frame: Frame) -> bool:
        try:
            await overlay_calls.guards.guard_press(
                frame,
                deadline_s,
                key if owner and frame is owner.frame else None,
                kind=mark.kind if mark else None,
                fingerprint=fingerprint,
                expected=seen.expectation(mark),
                is_drag=is_drag,
                lasts_s=lasts_s,
                is_pan=is_pan,
                look=at.drawn.look if at.drawn and owner and frame is owner.frame else None,
                stands=at.stands if owner and frame is owner.frame else None,
            )
        except FrameSilent:  # closed or hanging: nothing can be pressed in it
            return False
        return True

    armed = await asyncio.gather(*map(arm, frames))
    guarded = tuple(frame for frame, is_armed in zip(frames, armed, strict=True) if is_armed)
    return ArmedGuard(guarded, seen, target, all_frames, began)


def _target(at: Location) -> tuple[str, str] | None:
    """The key and the fingerprint of what a press at a location may reach; None if only pixels identify it."""
    mark, target = at.mark or at.under, at.element or at.text
    key = mark.key if mark else at.text.key if at.text else None
    return None if key is None or target is None else (key, target.fingerprint)


@asynccontextmanager
async def guard_gesture(
    page: Page,
    at: Location,
    seen: LiveObservation,
    deadline_s: float,
    *,
    lasts_s: float,
    is_drag: bool = False,
    is_pan: bool = False,
    armed: ArmedGuard | None = None,
) -> AsyncIterator[Gesture]:
    """Guards the gesture made inside the `with` block, and reports what became of it.

    `is_pan`: it is a drag of which the page gets no click. `armed`: guards of the same gesture that were armed a moment
    ago, which are used if they let the same through. A point without a mark under it is not guarded: only its pixels
    identify it.

    Raises:
        GestureStopped: see `Gesture.end`.
    """
    if armed is None or at.drawn or at.stands or not armed.fits(page, at, seen):
        armed = await arm_guard(page, at, seen, deadline_s, lasts_s=lasts_s, is_drag=is_drag, is_pan=is_pan)
    if armed is None:
        yield Gesture(page, at, seen, has_lost_document=True)
        return
    gesture = Gesture(page, at, seen, is_drag, armed.frames)
    is_refused, was_made = False, False
    try:
        yield gesture
        was_made = True
    except Refused:
        is_refused = True
        raise
    finally:
        try:
            await gesture.end(was_made=was_made)
        except BrowserUnavailable:
            if not is_refused:  # the refusal says what happened before
                raise


@asynccontextmanager
async def guard_keys(
    at: Location, seen: LiveObservation, deadline_s: float, held_s: float = 0.0, *, repeats: bool = False
) -> AsyncIterator[None]:
    """Guards keys sent inside the `with` block: they are stopped once the element's row changes. See `key_guard.js`.

    `repeats`: a key that presses what has the focus is pressed several times, each time on the same.

    Raises:
        Refused: some keys were stopped; the sentence says what changed, or that the element is gone.
    """
    expected = seen.expectation(at.mark)
    if at.mark is None or at.frame is None or expected.context is None:
        async with own_keys(seen.page, deadline_s, held_s):
            yield
        return
    counts = at.mark.kind != "field" or (at.mark.role in ("slider", "spinbutton") and at.mark.tag != "input")
    lasts_s = 4 * deadline_s + held_s
    await overlay_calls.guards.guard_keys(
        at.frame,
        deadline_s,
        at.mark.key,
        expected,
        counts=counts,
        lasts_s=lasts_s,
        guards_enter=bool(seen.risks) and at.mark.kind in ("field", "toggle"),
        button=_expected_button(at.mark, seen),
        repeats=repeats and at.mark.kind != "field",
    )

    async def arm(frame: Frame) -> bool:
        try:
            await overlay_calls.guards.guard_keys(
                frame, deadline_s, None, NOTHING_EXPECTED, counts=False, lasts_s=lasts_s
            )
        except FrameSilent:  # closed or hanging: no key goes there
            return False
        return True

    around = _with_parents(at.frame)[1:]
    # A native field gets its keys itself; what is drawn around a frame may mean the keys for that frame.
    others = [each for each in at.frame.page.frames if each is not at.frame and each not in around]
    guarded = [*around, *(others if at.mark.tag in _NATIVE_FIELDS else [])][:_MOST_GUARDED]
    guarded = [each for each in guarded if not overlay.is_silent(each)]
    are_armed = await asyncio.gather(*map(arm, guarded))
    armed = [at.frame, *(frame for frame, is_armed in zip(guarded, are_armed, strict=True) if is_armed)]
    try:
        yield
    except Refused as refusal:
        if stopped := await _end_key_guards(armed, at, seen):
            raise stopped from refusal  # it explains why the keys had no effect
        raise
    if stopped := await _end_key_guards(armed, at, seen):
        raise stopped


@asynccontextmanager
async def own_keys(page: Page, deadline_s: float, lasts_s: float) -> AsyncIterator[None]:
    """What keys without a known target choose in the `with` block is noted as the agent's own choice."""
    frames = [each for each in page.frames if not overlay.is_silent(each)][:_MOST_GUARDED]

    async def expect(seconds: float) -> None:
        more = (overlay_calls.guards.expect_own_keys(each, _ANSWER_S, seconds) for each in frames)
        await asyncio.gather(*more, return_exceptions=True)  # a document that is gone or hangs chooses nothing

    await expect(4 * deadline_s + lasts_s)
    try:
        yield
    finally:
        await expect(0)


def _expected_button(mark: Mark, seen: LiveObservation) -> ExpectedButton | None:
    """The button that Enter in a field pressed at the look; None where it had no form."""
    found = seen.found(mark)
    if found is None or found.enter is None:
        return None
    button = seen.scan.found(found.enter.press.key)
    return ExpectedButton(found.enter.fingerprint, button.context if button else None)


async def _end_key_guards(frames: Sequence[Frame], at: Location, seen: LiveObservation) -> Refused | None:
    """Why keys were stopped; None if all went through. Ends the guards."""
    ended = await asyncio.gather(*(_end_key_guard(frame, at, seen) for frame in frames))
    return next(filter(None, ended), None)


async def _end_key_guard(frame: Frame, at: Location, seen: LiveObservation) -> Refused | None:
    with suppress(FrameSilent):  # the keys led to another document
        stopped = await overlay_calls.guards.read_key_guard(frame, _ANSWER_S)
        if stopped == "gone":
            return Refused("changed", f"{at.words} is gone from the page; later keys reached nothing.")
        if stopped == "lost":
            return Refused("changed", f"{at.words} lost the focus to something else; no text was typed.")
        if stopped == "left":
            return Refused("changed", f"{at.words} lost the focus to something else, and later keys were stopped.")
        if isinstance(stopped, PassedOn):
            there = obstacle_words(stopped.field, seen)
            return Refused(
                "changed", f"{at.words} lost the focus to {there} within the text, and the rest was stopped."
            )
        if isinstance(stopped, OtherButton):
            return _other_button(stopped, at)
        if stopped is not None:
            return ContextChanged(stopped, at.words)
    return None


def _other_button(stopped: OtherButton, at: Location) -> Refused:
    """Why Enter was not pressed in a field: it would set off something else than at the look."""
    now = f'the button "{safe_line(stopped.name, 60)}"' if stopped.name else "a button without a name"
    if stopped.difference is not None:
        return ContextChanged(stopped.difference, f"{now}, which Enter in {at.words} presses")
    was = at.mark.enter if at.mark else None
    if was is None or not was.key:
        before = "no button"
    else:
        before = f'"{safe_line(was.name, 60)}"' if was.name else "another one"
    words = f"Enter in {at.words} would press {now} now, and would have pressed {before} at the look"
    return Refused("changed", f"{words}. It was stopped. Look again before acting on it.")


def _with_parents(frame: Frame) -> list[Frame]:
    """A frame and those around it, the innermost first."""
    found = [frame]
    while found[-1].parent_frame:
        found.append(found[-1].parent_frame)
    return found


async def _read_guard(frame: Frame, is_over: bool) -> PressAnswer:
    """The answer of a document's guard; unarmed if the press led to another document."""
    try:
        return await overlay_calls.guards.read_press_guard(frame, _ANSWER_S, is_over=is_over)
    except FrameSilent:
        return PressAnswer(is_armed=False)


def _join_words(types: Sequence[str]) -> str:
    """`pointerdown, mousedown and click`."""
    *most, last = types
    return f"{', '.join(most)} and {last}" if most else last

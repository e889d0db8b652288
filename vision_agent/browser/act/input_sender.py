"""Finds the target of an action as it is now, sends it trusted input, and notes what reached the page.

Nothing is ever forced: input goes through Playwright to an element that was rechecked just before, or to a point whose
pixels still match. Knows no single action: `act` names the modules that do. Where a click lands is chosen in
`locate/click_point`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent.actions import Action, Cell, Click, Hover, Point, Target
from vision_agent.browser.act.first_picture import FirstPicture, may_read_at_once
from vision_agent.browser.act.held import held_keys
from vision_agent.browser.act.moving_target import RESTLESS, locate_any, send_to_moving
from vision_agent.browser.act.press_guard import (
    ArmedGuard,
    Gesture,
    GestureStopped,
    arm_guard,
    guard_gesture,
    guard_keys,
    own_keys,
)
from vision_agent.browser.act.wake_target import wake_drawn, wake_element
from vision_agent.browser.locate.at_point import page_point, smallest_mark_at_point
from vision_agent.browser.locate.context_changed import ContextChanged
from vision_agent.browser.locate.drawn_target import DrawnTarget, drawn_target, locate_drawn, must_not_be_grid
from vision_agent.browser.locate.identify import identify, recheck
from vision_agent.browser.locate.locate import locate
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.relocate import describe_whereabouts, relocate_mark
from vision_agent.browser.locate.under_pointer import check_under_pointer
from vision_agent.browser.network import host_policy
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.observe.observer import Observer
from vision_agent.browser.observe.stage_results import Scope
from vision_agent.browser.page import overlay
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.answer_parts import NOTHING_EXPECTED
from vision_agent.browser.page.overlay_calls.element import LiveElement, Reveal
from vision_agent.browser.page.settle import settle
from vision_agent.browser.page.tabs import Tabs
from vision_agent.browser.refusal import Refused
from vision_agent.errors import BrowserUnavailable
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.policy.approval import risks_taken
from vision_agent.settings import ObserveSettings
from vision_agent.types import Secret
from vision_agent.vision.image_limits import ImageLimits

_QUIET_MS = 50.0
"""Three frames without a change: an element that has been stable this long needs no waiting."""
_CHASES = 4
"""Times the pointer follows a target that moves away from it."""
_MOMENT_S = 0.06
_PATIENCE_S = 2.0
"""How long one action waits in all for a target, such as one that an overlay covers, or that a check enables."""
_WAKES_WITHIN_S = 0.5
"""How long a hidden target is given to appear once the pointer is over its player, before the pointer moves again."""
_MAY_PASS = ("covered", "disabled")
_JUST_LOCATED_S = 0.1
_PRESSES = 3
"""Attempts at one click, when the page moves its target away at the last moment."""
_STOPS_WITHIN_S = 0.6
"""A target that may move and has not stopped by then gets its input while it moves."""


@dataclass
class InputSender:
    """Sends input to the targets of one observation, on the tab that it shows."""

    tabs: Tabs
    observer: Observer
    settings: ObserveSettings
    image_limits: ImageLimits
    policy: host_policy.Policy
    secrets: Sequence[Secret] = ()
    files: Mapping[str, Path] = field(default_factory=dict)
    """Files that may be uploaded, by name."""
    region: Box | None = None
    """The part of the page that only the next look shows, in page coordinates."""
    scope: Scope | None = None
    """Set if the next look lists nothing else than that part."""
    grid: bool = False
    """Whether the next look draws rows and columns over that part."""
    seen: LiveObservation = field(init=False)
    """The observation that the action refers to; its marks follow elements that the page has redrawn."""
    focused_mark: Mark | None = None
    """The mark that was focused in this observation, or that the last action on it focused."""
    allowed_focus: set[str] | None = None
    """Keys (or words) of elements that may have the focus since the last action; None: not known."""
    sent_inputs: list[str] = field(default_factory=list)
    """Input of this action that reached the page, or may have, each as a clause."""
    carried_out: str = ""
    """What this action did, once it has; empty before, and for one that only looks."""
    hold: tuple[float, float] | None = None
    """When this action began to hold something down, on the monotonic clock, and for how many seconds; None: it does
    not, or that is over."""
    remark: str = ""
    """What the page did before the last gesture was over."""
    missed: Gesture | None = None
    """The last gesture, if its press reached the target and no click did; see `Gesture.is_missed`."""
    swallowed: Gesture | None = None
    """The last gesture, if something came over its target before the click; see `Gesture.is_swallowed`."""
    is_drawing_changed: bool = False
    """The canvas no longer showed what is drawn around the target as the last press ended."""
    first_picture: FirstPicture | None = None
    """The picture that was begun when all input of this action had been sent."""
    last_location: Location | None = None
    """Where input of this action went last."""
    brought: LiveObservation | None = None
    """How the page was once the target had been scrolled into view; None if it was in view. See `out_of_view`."""
    _located: tuple[Location, float] | None = None
    """Where a target has just been found to stand still, and when, on the monotonic clock."""
    _patient_until: float | None = None
    """When this action stops waiting for a target, on the monotonic clock; None: it has not had to wait yet."""
    _woken_at: float = 0.0
    """When the pointer was last moved over the player of a hidden target, on the monotonic clock; 0: not yet."""
    _only_hovers: bool = False
    """The action only moves the pointer, so moving it onto something else would be acting on the wrong thing."""
    _last_observation_id: str = ""
    """The observation that the last action referred to."""
    _rungs: dict[int, int] = field(default_factory=dict)
    """By mark number: the rung of the ladder (see `relocate`) on which the mark was found again."""

    def start_action(self, seen: LiveObservation, action: Action) -> bool:
        """Starts an action on an observation; returns whether an earlier action referred to the same one."""
        is_later = seen.observation.id == self._last_observation_id
        self._last_observation_id = seen.observation.id
        self.seen = replace(seen, risks=frozenset(risks_taken(action, seen.observation)))
        self._rungs.clear()
        self.sent_inputs.clear()
        self.carried_out = ""
        self.remark, self.last_location, self._patient_until, self.brought = "", None, None, None
        self.is_drawing_changed = False
        self.hold, self._woken_at, self._only_hovers = None, 0.0, isinstance(action, Hover)
        self.missed, self.swallowed, self._located = None, None, None
        if not is_later:
            self.focused_mark = next((mark for mark in seen.observation.marks if mark.state.focused), None)
            self.allowed_focus = None
        return is_later

    @property
    def page(self) -> Page:
        """The tab that the observation shows. A tab that came to the front since gets no input."""
        return self.seen.page

    @property
    def deadline_s(self) -> float:
        """How long one part of an action may take, in seconds."""
        return self.settings.action_deadline_s

    @property
    def timeout_ms(self) -> float:
        """The same in milliseconds, as Playwright takes it."""
        return self.settings.action_deadline_s * 1000

    def note_located(self, at: Location) -> None:
        """Notes that a target stands still at a location, so that input to it may follow at once."""
        self._located = (at, time.monotonic())

    async def locate(
        self, target: Target, *, reveal: bool = True, pointed: bool = False, waits: bool = True
    ) -> Location:
        """Where a target is now: its live element, or the element that the page redrew in its place.

        It waits for what may soon pass, such as something that covers the target, and if the target has been hidden
        since, moves the pointer to where it was; not without `waits`. `pointed`: the pointer is already on it.

        Raises:
            Refused: it is no longer what was seen, or still cannot be reached.
        """
        self._located = None
        if not waits:
            return await self._locate_now(target, reveal=reveal, pointed=pointed)
        while True:
            try:
                return await self._locate_now(target, reveal=reveal, pointed=pointed)
            except Refused as refusal:
                is_woken = await self._wake(target, refusal)
                if not is_woken and not _may_pass(refusal):
                    raise
                if not self._is_patient():
                    stayed = f"{refusal.sentence} It was still so after {self._patience_s:g} s."
                    raise Refused(refusal.refusal, stayed) from refusal
            await asyncio.sleep(_MOMENT_S)

    async def _wake(self, target: Target, refusal: Refused) -> bool:
        """Whether the pointer was moved to where a target was that has hidden since, less than a moment ago."""
        if self._only_hovers:
            return False
        is_recent = time.monotonic() - self._woken_at < _WAKES_WITHIN_S
        drawn = drawn_target(target, self.seen)
        mark = None if drawn or isinstance(target, Cell) else self._mark_of_target(target)
        surface, point = (drawn.surface, drawn.point) if drawn is not None and not drawn.moves else (None, None)
        if isinstance(target, Point) and mark is not None and mark.kind == "surface":
            surface, point = mark, page_point(target, self.seen)
        if surface is not None and point is not None and refusal.refusal == "moved":
            # Once: a game may answer each move of the pointer.
            if self._woken_at:
                return is_recent
            is_woken = await wake_drawn(self.page, surface, point, self.seen, self.deadline_s)
        elif mark is not None and refusal.refusal in ("covered", "gone", *(["moved"] * isinstance(target, Point))):
            if is_recent:
                return True
            is_woken = await wake_element(self.page, mark, self.seen, self.deadline_s)
        else:
            return False
        if is_woken:
            self._woken_at = time.monotonic()
        return is_woken

    def _is_patient(self) -> bool:
        now = time.monotonic()
        if self._patient_until is None:
            self._patient_until = now + self._patience_s
        return now < self._patient_until

    @property
    def _patience_s(self) -> float:
        return min(_PATIENCE_S, self.deadline_s / 2)

    async def _locate_now(self, target: Target, *, reveal: bool, pointed: bool) -> Location:
        drawn = drawn_target(target, self.seen)
        if drawn is not None:
            return await self._locate_drawn(drawn, reveal=reveal)
        assert not isinstance(target, Cell)
        try:
            return await self._locate_live(target, reveal=reveal, pointed=pointed)
        except Refused as refusal:
            mark = self._mark_of_target(target)
            if mark is None:
                raise
            if isinstance(refusal, ContextChanged) and not refusal.may_pass:
                now = await describe_whereabouts(mark, refusal, self.seen, self.deadline_s)
                raise Refused(refusal.refusal, f"{refusal.sentence}{now}") from refusal
            again = await self._relocate(mark, refusal)
            if isinstance(target, Point) and not again.box.contains(page_point(target, self.seen)):
                raise
        return await self._locate_live(target, reveal=reveal)

    def _mark_of_target(self, target: int | Point) -> Mark | None:
        if isinstance(target, Point):
            return smallest_mark_at_point(page_point(target, self.seen), self.seen)
        return self.seen.observation.mark(target)

    async def _locate_drawn(self, drawn: DrawnTarget, *, reveal: bool) -> Location:
        if drawn.surface is not None:
            return await locate_drawn(drawn, self.seen, self.image_limits, self.deadline_s, reveal=reveal)
        point = self.seen.observation.marked.map.to_picture(drawn.point)
        return replace(await self._locate_live(point, reveal=reveal), words=drawn.words)

    async def _relocate(self, mark: Mark, refusal: Refused) -> Mark:
        """The mark on the element that the page redrew in its place; any refusal but `gone` is raised again."""
        if refusal.refusal != "gone":
            raise refusal
        more = (self.seen, self.image_limits, self.deadline_s)
        self.seen, self._rungs[mark.number] = await relocate_mark(mark, refusal, *more)
        return next(each for each in self.seen.observation.marks if each.number == mark.number)

    async def _locate_live(self, target: int | Point, *, reveal: bool, pointed: bool = False) -> Location:
        more = (self.seen, self.image_limits, self.deadline_s)
        at = await locate(self.page, target, *more, reveal=reveal, pointed=pointed)
        return replace(at, rung=self._rungs.get(at.mark.number, at.rung)) if at.mark else at

    async def recheck(
        self, mark: Mark, *, reveal: Reveal = False, in_place: bool = False, carried: str = ""
    ) -> LiveElement | None:
        """A mark's element as it is now; None if it is gone.

        `in_place`: the words around it are compared too; the pointer or the focus is on it. `carried`: the name of what
        the pointer drags.
        """
        expected = self.seen.expectation(mark, pointed=True, carried=carried) if in_place else NOTHING_EXPECTED
        return await recheck(mark, self.seen.scan, self.deadline_s, reveal=reveal, expected=expected)

    async def aim(self, target: Target, *, may_move: bool = False) -> Location:
        """Where a target is once it has stopped moving; it is located again after that.

        `may_move`: one that does not stop is returned as moving, for input that goes to where it will be.

        Playwright's trial click cannot wait for this: it presses the mouse and hides that from the document only, so a
        page that listens on its window is clicked twice.

        Raises:
            Refused: it is no longer what was seen, cannot be reached, or keeps moving.
        """
        must_not_be_grid(target, self.seen)
        if self._located is not None:
            (at, when), self._located = self._located, None
            if at.mark is not None and at.mark.number == target and time.monotonic() - when < _JUST_LOCATED_S:
                return at
        at = await locate_any(self, target, with_drawn=True) if may_move else await self.locate(target)
        if at.is_moving:
            return at
        stops_within_s = _STOPS_WITHIN_S if may_move else self.deadline_s
        until = time.monotonic() + stops_within_s
        while at.locator is not None and not _is_stable(at):
            try:
                handle = await at.locator.element_handle(timeout=self.timeout_ms)
                await handle.wait_for_element_state("stable", timeout=stops_within_s * 1000)
            except PlaywrightTimeout:
                if may_move:
                    return replace(at, is_moving=True)
                raise Refused("moved", RESTLESS.format(at.words)) from None
            except PlaywrightError as error:
                if overlay.is_browser_gone(error) or overlay.is_crash_error(error):
                    raise
                # The element has left the page meanwhile: locate what replaced it.
            again = await self.locate(target)
            if again.point == at.point:
                return again
            if time.monotonic() > until and may_move:
                return replace(again, is_moving=True)
            if time.monotonic() > until:
                raise Refused("moved", RESTLESS.format(at.words))
            at = again
        return at

    async def click(self, at: Location, click: Click, *, is_all: bool = False) -> Location:
        """Clicks a target and returns where. The target is rechecked with the pointer on it, before the press.

        `is_all`: the action sends nothing else, so the first picture of what came of it is begun at once.

        Raises:
            Refused: the target changed under the pointer, or something covered it, even at the last moment.
        """

        async def press(at: Location, gesture: Gesture) -> None:
            await self.press(at, click, gesture)
            if is_all and may_read_at_once(self.seen, self.observer.settings.quiet_s):
                await self.drop_first_picture()
                self.first_picture = FirstPicture(self.page, self.observer.settings.scan_deadline_s)

        return await self.send(press, at, click.target)

    async def send(
        self,
        body: Callable[[Location, Gesture], Awaitable[None]],
        at: Location,
        target: Target,
        *,
        is_pointed: bool = True,
        is_drag: bool = False,
        lasts_s: float | None = None,
    ) -> Location:
        """Sends a gesture, guarded, and sends it again as long as nothing of it has reached the page; returns where.

        `is_pointed`: the pointer is moved to the target first.

        Raises:
            Refused: the target changed, something covered it, or it moved away, even at the last moment.
        """
        for attempt in range(_PRESSES):
            armed: ArmedGuard | None = None
            try:
                if is_pointed and not at.is_moving:
                    at, armed = await self._move_pointer_and_arm(at, target, is_drag=is_drag, lasts_s=lasts_s)
                if at.is_moving:
                    return await send_to_moving(self, body, at, target, is_drag=is_drag, lasts_s=lasts_s)
                async with self.guard_gesture(at, is_drag=is_drag, lasts_s=lasts_s, armed=armed) as gesture:
                    await body(at, gesture)
                return at
            except GestureStopped as stopped:
                if at.is_moving or not stopped.reached_nothing or attempt == _PRESSES - 1:
                    raise
            # Nothing reached the page, and the target may only have moved: locate it once more.
            at = await self.aim(target, may_move=True)
        raise AssertionError("the last press neither went through nor was refused")

    async def drop_first_picture(self) -> None:
        """Gives up the picture that was begun after a click."""
        if self.first_picture is not None:
            await self.first_picture.drop()
        self.first_picture = None

    async def press(self, at: Location, click: Click, gesture: Gesture) -> None:
        """Presses and releases at a location, as often as the click says, unless the first press led elsewhere."""
        mouse = self.page.mouse
        async with held_keys(self.page, click.modifiers, self.deadline_s):
            await mouse.click(at.point.x, at.point.y, button=click.button)
            for press in range(2, click.count + 1):
                if not await gesture.is_still_guarded():
                    return  # the first press led to another document, which must not get the rest
                await mouse.down(button=click.button, click_count=press)
                await mouse.up(button=click.button, click_count=press)

    async def _move_pointer_and_arm(
        self, at: Location, target: Target, *, is_drag: bool, lasts_s: float | None
    ) -> tuple[Location, ArmedGuard | None]:
        """Like `move_pointer`; the guards of the press are armed together with the check under the pointer.

        Raises:
            Refused: the target changed under the pointer.
        """
        is_there = asyncio.Event()

        async def arm() -> ArmedGuard | None:
            await is_there.wait()
            more = (self.page, at, self.seen, self.deadline_s)
            return await arm_guard(*more, lasts_s=lasts_s or self.deadline_s, is_drag=is_drag)

        arming = asyncio.create_task(arm())
        try:
            now = await self.move_pointer(at, target, is_there)
            return now, await arming
        except BaseException:
            if is_there.is_set():
                await _disarm(arming)
            else:
                arming.cancel()
            raise

    async def move_pointer(self, at: Location, target: Target, is_there: asyncio.Event | None = None) -> Location:
        """Moves the pointer to a target and returns where the target is with the pointer on it, or that it moves.

        `is_there` is set when the pointer has been moved for the first time.

        Raises:
            Refused: the target changed under the pointer.
        """
        for chase in range(_CHASES):
            await self.page.mouse.move(at.point.x, at.point.y)
            if is_there is not None:
                is_there.set()
            if at.mark is None:
                try:
                    more = (self.image_limits, self.deadline_s, self.observer.reader)
                    return await check_under_pointer(target, at, self.seen, *more)
                except Refused as refusal:
                    if chase == _CHASES - 1:
                        raise
                    at = await self._aim_elsewhere(target, refusal)
                if at.is_moving:
                    return at
                continue
            try:
                # A target that grows or slides under the pointer gets time to stop.
                again = await (self.aim(target, may_move=True) if chase else self.locate(target, pointed=True))
            except Refused as refusal:
                if refusal.refusal != "covered" or chase == _CHASES - 1:
                    raise
                # A target that fades in, or loads another picture on hover, may show nothing for a moment.
                await asyncio.sleep(_MOMENT_S)
                continue
            if again.point == at.point or again.is_moving:
                return again
            at = again
        return replace(at, is_moving=True)

    async def _aim_elsewhere(self, target: Target, refusal: Refused) -> Location:
        """Where a target is that has changed under the pointer: it may have been drawn elsewhere, and only there.

        Raises:
            Refused: it was not.
        """
        try:
            return await self.aim(target, may_move=True)
        except Refused as again:
            raise refusal if again.refusal == "moved" else again from again

    @asynccontextmanager
    async def guard_gesture(
        self,
        at: Location,
        *,
        is_drag: bool = False,
        lasts_s: float | None = None,
        is_pan: bool = False,
        armed: ArmedGuard | None = None,
    ) -> AsyncIterator[Gesture]:
        """Guards one gesture (see `press_guard.guard_gesture`) and notes what of it reached the page.

        Raises:
            GestureStopped: nothing reached the page, or only a part of the gesture reached its target.
        """
        gesture: Gesture | None = None
        try:
            lasts_s = lasts_s or self.deadline_s
            more = (self.page, at, self.seen, self.deadline_s)
            async with guard_gesture(*more, lasts_s=lasts_s, is_drag=is_drag, is_pan=is_pan, armed=armed) as gesture:
                yield gesture
        finally:
            if gesture is not None and gesture.words:
                self.note_input(gesture.words, at)
                self.remark, self.missed = gesture.remark, gesture if gesture.is_missed else None
                self.swallowed = gesture if gesture.is_swallowed else None
                self.is_drawing_changed = gesture.is_drawing_changed

    @contextmanager
    def noting_hold(self, seconds: float) -> Iterator[None]:
        """Notes that something is held down in the `with` block, for so many seconds at most; if the block raises, it
        stays noted.
        """
        self.hold = (time.monotonic(), seconds)
        yield
        self.hold = None

    def note_input(self, words: str, at: Location | None) -> None:
        """Notes that input of the action reached the page, or may have."""
        self.sent_inputs.append(words)
        self.last_location = at or self.last_location

    def guard_keys(
        self, at: Location | None, held_s: float = 0.0, *, repeats: bool = False
    ) -> AbstractAsyncContextManager[None]:
        """Guards keys, which may be held for `held_s` seconds; see `press_guard.guard_keys`. Without a target they are
        only noted as the agent's own.
        """
        if at is None:
            return own_keys(self.page, self.deadline_s, held_s)
        return guard_keys(at, self.seen, self.deadline_s, held_s, repeats=repeats)

    async def settle_page(self) -> None:
        """Returns once the page has settled or the deadline has passed.

        Raises:
            Refused: another tab came to the front meanwhile.
        """
        quiet, began = self.settings.quiet_s, time.monotonic()
        await settle(self.tabs, quiet, min(self.settings.settle_deadline_s, self.deadline_s), input_at=began)
        if self.tabs.active is not self.page:
            waited = time.monotonic() - began
            raise Refused("changed", f"Another tab came to the front after {waited:.1f} s. Look again.")

    async def identify(self, mark: Mark) -> tuple[Frame, Mark]:
        """The frame and the mark of an element that has not changed, whether or not input can reach it.

        Raises:
            Refused: it is gone or has changed.
        """
        try:
            owner, element = await identify(mark, self.seen, self.deadline_s)
        except Refused as refusal:
            mark = await self._relocate(mark, refusal)
            owner, element = await identify(mark, self.seen, self.deadline_s)
        if not element.is_visible:
            await self.locate(mark.number)  # it may only be out of view; refuses a hidden one
        return owner.frame, mark

    async def must_be_unchanged(self, mark: Mark) -> None:
        """Checks that a mark is still the same element in the same row, now that it has the pointer and the focus.

        Raises:
            Refused: it has changed, or the words beside it have.
        """
        await identify(mark, self.seen, self.deadline_s, pointed=True)


async def _disarm(arming: asyncio.Task[ArmedGuard | None]) -> None:
    """Ends guards that may still be being armed."""
    with suppress(FrameSilent, PlaywrightError, BrowserUnavailable):  # a page that is gone has none
        armed = await arming
        if armed is not None:
            await armed.disarm()


def _may_pass(refusal: Refused) -> bool:
    return refusal.refusal in _MAY_PASS or (isinstance(refusal, ContextChanged) and refusal.may_pass)


def _is_stable(at: Location) -> bool:
    """Whether a target has been still long enough to need no waiting. In a frame, its parents may still move it."""
    element = at.element
    if element is None or element.was_scrolled or at.frame is None or at.frame.parent_frame is not None:
        return False
    return element.stability.unchanged_ms >= _QUIET_MS and not element.stability.moving

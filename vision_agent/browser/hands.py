"""What every action needs: its target as it is now, a trusted click, and who has the focus.

Nothing is ever forced: input goes through Playwright to the element that was looked at again just before, or to a point
whose pixels still match. What each action does with that is for `pointer`, `fields`, `options`, `pages` and `reading`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent.actions import Action, Cell, Click, Point, Target
from vision_agent.approval import risks_taken
from vision_agent.browser import gate, overlay
from vision_agent.browser.guard import Gesture, Stopped, guarded, keys_guarded
from vision_agent.browser.ladder import find_again, whereabouts
from vision_agent.browser.locate import (
    Answer,
    Located,
    identify,
    locate,
    marked_at,
    point_of,
    recheck,
    words_for,
)
from vision_agent.browser.observe import Eye, Seen
from vision_agent.browser.refusal import Refused
from vision_agent.browser.row_context import ContextChanged
from vision_agent.browser.settle import settle
from vision_agent.browser.tabs import Tabs
from vision_agent.browser.within import Drawn, drawn_at, locate_drawn, must_be_one_thing
from vision_agent.settings import ObserveSettings
from vision_agent.types import Box, Mark, Secret
from vision_agent.vision.contract import Contract

_QUIET_MS = 50.0
"""Three frames without a change: what has stood still so long is not waited for."""
_CHASES = 4
"""Times the pointer follows what moves away from under it."""
_MOMENT_S = 0.06
_PRESSES = 3
"""Of one click, when the page moves what is meant away in the last moment."""
_RESTLESS = "{} does not stand still, so nothing was sent to it."


@dataclass
class Hands:
    """Reaches what one observation names, on the tab that it was taken of."""

    tabs: Tabs
    eye: Eye
    settings: ObserveSettings
    contract: Contract
    policy: gate.Policy
    secrets: Sequence[Secret] = ()
    files: Mapping[str, Path] = field(default_factory=dict)
    """What may be uploaded, by name."""
    region: Box | None = None
    """Page coordinates of the part that the next look is to show, and only the next."""
    grid: bool = False
    """Whether that part is to have rows and columns over it."""
    seen: Seen = field(init=False)
    """What the action goes by; where the page has drawn something anew, its element of now stands in it."""
    focused: Mark | None = None
    """What the last action of this look gave the focus to."""
    left: set[str] | None = None
    """Keys, or words, of what may have the focus without having taken it since the last action; None: nobody knows."""
    sent: list[str] = field(default_factory=list)
    """What of this action reached the page, or may have, each for a sentence."""
    remark: str = ""
    """What the page did before the last gesture was over."""
    reached: Located | None = None
    """Where input of this action went last."""
    _looked: str = ""
    """The observation that the last action went by."""
    _rungs: dict[int, int] = field(default_factory=dict)
    """By number, of marks that were found again lower down the ladder."""

    def take_up(self, seen: Seen, action: Action) -> bool:
        """Begin an action on what was seen; whether another one went by the same look before."""
        is_later = seen.observation.id == self._looked
        self._looked = seen.observation.id
        self.seen = replace(seen, risks=frozenset(risks_taken(action, seen.observation)))
        self._rungs.clear()
        self.sent.clear()
        self.remark, self.reached = "", None
        if not is_later:
            self.focused, self.left = None, None
        return is_later

    @property
    def page(self) -> Page:
        """The tab that was looked at. What comes to the front meanwhile gets no input."""
        return self.seen.page

    @property
    def deadline_s(self) -> float:
        return self.settings.action_deadline_s

    @property
    def timeout_ms(self) -> float:
        return self.settings.action_deadline_s * 1000

    async def locate(self, target: Target, *, reveal: bool = True, pointed: bool = False) -> Located:
        """The place of a target as it is now: of its live element, else of what was drawn anew in its stead.

        `pointed`: the pointer is on it.

        Raises:
            Refused: it is not what was seen any more, or cannot be reached.
        """
        drawn = drawn_at(target, self.seen)
        if drawn is not None:
            return await self._of_drawn(drawn, reveal=reveal)
        assert not isinstance(target, Cell)
        try:
            return await self._located(target, reveal=reveal, pointed=pointed)
        except Refused as refusal:
            mark = self._meant_by(target)
            if mark is None:
                raise
            if isinstance(refusal, ContextChanged):
                now = await whereabouts(mark, refusal, self.seen, self.deadline_s)
                raise Refused(refusal.refusal, f"{refusal.sentence}{now}") from refusal
            again = await self._find_again(mark, refusal)
            if isinstance(target, Point) and not again.box.contains(point_of(target, self.seen)):
                raise
        return await self._located(target, reveal=reveal)

    def _meant_by(self, target: int | Point) -> Mark | None:
        if isinstance(target, Point):
            return marked_at(point_of(target, self.seen), self.seen)
        return self.seen.observation.mark(target)

    async def _of_drawn(self, drawn: Drawn, *, reveal: bool) -> Located:
        if drawn.surface is not None:
            return await locate_drawn(drawn, self.seen, self.contract, self.deadline_s, reveal=reveal)
        point = self.seen.observation.marked.map.to_picture(drawn.point)
        return replace(await self._located(point, reveal=reveal), words=drawn.words)

    async def _find_again(self, mark: Mark, refusal: Refused) -> Mark:
        """The mark on what the page has drawn anew in its stead; anything but that it is gone is raised again."""
        if refusal.refusal != "gone":
            raise refusal
        self.seen, self._rungs[mark.number] = await find_again(mark, refusal, self.seen, self.contract, self.deadline_s)
        return next(each for each in self.seen.observation.marks if each.number == mark.number)

    async def _located(self, target: int | Point, *, reveal: bool, pointed: bool = False) -> Located:
        more = (self.seen, self.contract, self.deadline_s)
        at = await locate(self.page, target, *more, reveal=reveal, pointed=pointed)
        return replace(at, rung=self._rungs.get(at.mark.number, at.rung)) if at.mark else at

    async def recheck(self, mark: Mark, **more: Any) -> Answer:
        """What a mark's element says about itself now; `found` is false when it is gone."""
        return await recheck(mark, self.seen.scan, self.deadline_s, **more)

    async def aim(self, target: Target) -> Located:
        """The place of a target that stands still, looked at once more when it does.

        Playwright's own dry run of a click is no way to wait for that: it presses the mouse and hides it from the
        page only, so a page that listens on its window is clicked twice.

        Raises:
            Refused: it is not what was seen any more, cannot be reached, or goes on moving.
        """
        must_be_one_thing(target, self.seen)
        at = await self.locate(target)
        until = time.monotonic() + self.deadline_s
        while at.locator is not None and not _is_quiet(at):
            try:
                handle = await at.locator.element_handle(timeout=self.timeout_ms)
                await handle.wait_for_element_state("stable", timeout=self.timeout_ms)
            except PlaywrightTimeout:
                raise Refused("moved", _RESTLESS.format(at.words)) from None
            except PlaywrightError as error:
                if overlay.is_gone(error) or overlay.is_crash(error):
                    raise
                # It has left the page meanwhile: what stands for it now is looked for.
            again = await self.locate(target)
            if again.point == at.point:
                return again
            if time.monotonic() > until:
                raise Refused("moved", _RESTLESS.format(at.words))
            at = again
        return at

    def must_be_element(self, number: int) -> None:
        """Returns where a mark is an element, which has a state, a value, rows around it.

        Raises:
            Refused: it is drawn.
        """
        if drawn := drawn_at(number, self.seen):
            said = "is drawn, and the page tells nothing of it. Click it, type into it, or zoom to it."
            raise Refused("unsupported", f"{drawn.words} {said}")

    async def click(self, at: Located, click: Click) -> Located:
        """The place that was clicked. The pointer comes first, and what that changed is looked at before the press.

        Raises:
            Refused: it became something else under the pointer, or something came over it, even in the last moment.
        """
        for press in range(_PRESSES):
            at = await self.point_at(at, click.target)
            try:
                async with self.guarded(at):
                    await self._press(at, click)
                return at
            except Stopped as stopped:
                if not stopped.is_unheard or press == _PRESSES - 1:
                    raise
            # The page knows nothing of it, and may only have moved: it is looked for once more.
            at = await self.aim(click.target)
        raise AssertionError("the last press neither went through nor was refused")

    async def _press(self, at: Located, click: Click) -> None:
        try:
            for modifier in click.modifiers:
                await self.page.keyboard.down(modifier)
            await self.page.mouse.click(at.point.x, at.point.y, button=click.button, click_count=click.count)
        finally:
            for modifier in click.modifiers:
                await asyncio.wait_for(self.page.keyboard.up(modifier), self.deadline_s)

    async def point_at(self, at: Located, target: Target) -> Located:
        """The place at which the pointer is, having been looked at again with the pointer on it.

        Raises:
            Refused: that made it something else, or it goes away from the pointer.
        """
        for chase in range(_CHASES):
            await self.page.mouse.move(at.point.x, at.point.y)
            if at.mark is None:
                return at
            try:
                # What grows or slides under the pointer is let come to rest.
                again = await (self.aim(target) if chase else self.locate(target, pointed=True))
            except Refused as refusal:
                if refusal.refusal != "covered" or chase == _CHASES - 1:
                    raise
                # What fades in, or loads another picture under the pointer, may show nothing for a moment.
                await asyncio.sleep(_MOMENT_S)
                continue
            if again.point == at.point:
                return again
            at = again
        raise Refused("moved", f"{at.words} moves or changes while the pointer is on it, so it was not pressed.")

    @asynccontextmanager
    async def guarded(self, at: Located, *, is_drag: bool = False) -> AsyncIterator[Gesture]:
        """Around one gesture: see `guard.guarded`. What of it reached the page is kept.

        Raises:
            Stopped: it did not reach the page, or only a part of it reached what was meant.
        """
        gesture: Gesture | None = None
        try:
            async with guarded(self.page, at, self.seen, self.deadline_s, is_drag=is_drag) as gesture:
                yield gesture
        finally:
            if gesture is not None and gesture.words:
                self.note(gesture.words, at)
                self.remark = gesture.remark

    async def at_once(self, doing: Awaitable[object], words: str, at: Located) -> None:
        """Does what a browser does by itself, without pointer and keys, and keeps that it was done or begun."""
        try:
            await doing
        except PlaywrightError as error:
            if overlay.is_gone(error) or "performing" in error.message:
                self.note(words, at)
            raise
        self.note(words, at)

    def note(self, words: str, at: Located | None = None) -> None:
        """Keeps that something of the action reached the page, or may have."""
        self.sent.append(words)
        self.reached = at or self.reached

    def keys_guarded(self, at: Located | None) -> AbstractAsyncContextManager[None]:
        """Around keys: see `guard.keys_guarded`."""
        return nullcontext() if at is None else keys_guarded(at, self.seen, self.deadline_s)

    async def settled(self) -> None:
        """Returns when the page has come to rest, or the time for that is over.

        Raises:
            Refused: another tab came to the front meanwhile.
        """
        quiet, began = self.settings.quiet_s, time.monotonic()
        await settle(self.tabs, quiet, min(self.settings.rest_deadline_s, self.deadline_s), at_least_s=quiet)
        if self.tabs.active is not self.page:
            waited = time.monotonic() - began
            raise Refused("changed", f"Another tab came to the front after {waited:.1f} s. Look again.")

    async def identify(self, mark: Mark) -> tuple[Frame, Mark]:
        """The frame and the mark of what is still what it was, whether input could reach it or not.

        Raises:
            Refused: it is not.
        """
        try:
            owner, answer = await identify(mark, self.seen, self.deadline_s)
        except Refused as refusal:
            mark = await self._find_again(mark, refusal)
            owner, answer = await identify(mark, self.seen, self.deadline_s)
        if not answer["visible"]:
            await self.locate(mark.number)  # it may only be out of view, and is refused where it is hidden
        return owner.frame, mark

    async def focus(self, at: Located) -> None:
        """Gives a target the focus, a point by a click.

        Raises:
            Refused: it does not take it.
        """
        if at.locator is None or at.mark is None:
            async with self.guarded(at):
                await self.page.mouse.click(at.point.x, at.point.y)
            await self.must_have_left_fields(at)
            return
        if await self.has_focus(at.mark):
            return
        await at.locator.focus(timeout=self.timeout_ms)
        if not await self.has_focus(at.mark):
            raise Refused(
                "unsupported", f"{at.words} cannot take the focus, so keys do not go there. Click it instead."
            )
        await self.must_still_be(at.mark)

    async def must_still_be(self, mark: Mark) -> None:
        """Returns where a mark is what it was and stands where it stood, now that pointer and focus are on it.

        Raises:
            Refused: it is another thing, or another's.
        """
        await identify(mark, self.seen, self.deadline_s, pointed=True)

    async def has_focus(self, mark: Mark) -> bool:
        """Whether keys go to it: it has the focus in its document, and each frame around it has that in its parent."""
        now = await self.recheck(mark)
        scanned = self.seen.scan.owner(mark.key)
        if not now["found"] or scanned is None:
            return False
        if not now["state"].get("focused") and not await self._types_for(mark, scanned.frame):
            return False
        while scanned.parent is not None:
            frame = {"key": scanned.key, "kind": "frame"}
            now = await overlay.ask(scanned.parent.frame, "check", self.deadline_s, **frame)
            if not now["found"] or not now["state"].get("focused"):
                return False
            scanned = scanned.parent
        return True

    async def _types_for(self, mark: Mark, frame: Frame) -> bool:
        """Whether a field that does not show, as code editors have one, takes the keys for what is drawn around it."""
        if mark.tag in ("input", "textarea", "select"):
            return False  # such a field has its focus itself, or somebody took it
        now = await overlay.ask(frame, "focused", self.deadline_s, key=mark.key)
        is_marked = any(each.key == now["key"] for each in self.seen.observation.marks)
        return bool(now["typesFor"]) and not is_marked

    async def must_keep_focus(self, at: Located, so_far: str) -> None:
        """Returns while keys still go to it.

        Raises:
            Refused: they do not; `so_far` says what was done.
        """
        if at.mark is not None and not await self.has_focus(at.mark):
            raise Refused("changed", f"{at.words} lost the focus to something else; {so_far}.")

    async def must_have_left_fields(self, at: Located) -> None:
        """Returns where keys go to no field elsewhere: a canvas may leave the focus where it was.

        Raises:
            Refused: they would.
        """
        for mark in self.seen.observation.marks:
            is_elsewhere = mark.kind == "field" and not mark.box.contains(at.point)
            if mark.state.focused and is_elsewhere and await self.has_focus(mark):
                raise Refused(
                    "changed", f"{at.words} did not take the focus, {words_for(mark)} kept it; no key was sent."
                )


def _is_quiet(at: Located) -> bool:
    """Whether it need not be waited for. A frame may be moved by its parents, which were not asked."""
    answer = at.answer or {}
    if answer.get("scrolled") or at.frame is None or at.frame.parent_frame is not None:
        return False
    return bool(answer["quiet"]["quietMs"] >= _QUIET_MS and not answer["quiet"]["moving"])

"""Carries out one action on a live page.

Input is trusted and never forced: it goes through Playwright to the element that was looked at again just before, or to
a point whose pixels still match. What came of it is `effect`'s to say.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from vision_agent import actions
from vision_agent.actions import Action, Point, Target
from vision_agent.browser import gate, overlay, zoom
from vision_agent.browser.effect import CRASHED, NO_ANSWER, Before, Done, effect_of
from vision_agent.browser.listing import plain
from vision_agent.browser.locate import Located, locate, recheck, words_for
from vision_agent.browser.observe import Eye, Seen
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.refusal import Refused
from vision_agent.browser.tabs import Tabs, close_page
from vision_agent.errors import BrowserUnavailable
from vision_agent.settings import ObserveSettings
from vision_agent.types import Box, Mark, Outcome, Secret
from vision_agent.vision.contract import Contract

_FILLED_AT_ONCE = {"date", "time", "datetime-local", "month", "week", "color", "range"}
_TO_THE_END = "Meta+ArrowDown" if sys.platform == "darwin" else "Control+End"
_TYPED_KEYS = 300
"""Characters typed key by key; longer text is inserted at once after them."""
_LOOKS = 4
"""How often an action may wait for the page: to find its target, to see it stand still, to send, to read back."""
_STILL_MS = 1000.0
"""For what has just been seen to stand still."""
_AFTER_A_CRASH_S = 5.0
_SECRET = re.compile(r"<secret:([\w.-]+)>")


@dataclass
class Hands:
    """Acts on the active tab, by the numbers and points of one observation."""

    tabs: Tabs
    eye: Eye
    settings: ObserveSettings
    contract: Contract
    policy: gate.Policy
    secrets: Sequence[Secret] = ()
    region: Box | None = None
    """Page coordinates of the part that the next look is to show, and only the next."""
    _page: Page = field(init=False)
    """The tab that was looked at. What comes to the front meanwhile gets no input."""

    async def act(self, action: Action, seen: Seen) -> Outcome:
        """What became of the action.

        Raises:
            BrowserUnavailable: the browser is gone.
        """
        started = time.perf_counter()
        self.tabs.begin()
        self._page = seen.page
        before = Before(seen, seen.page, len(self.tabs.pages))
        try:
            self._must_be_in_front(action)
            if isinstance(action, actions.Zoom):
                outcome = self._zoom(action, seen)
            else:
                outcome = await self._attempt(action, before)
        except Refused as refusal:
            outcome = Outcome(status="refused", refusal=refusal.refusal, sentence=refusal.sentence)
        except FrameSilent as error:
            outcome = Outcome(status="refused", refusal="timed_out", sentence=f"The page did not answer: {error}.")
        except PlaywrightError as error:
            outcome = _outcome_of(error, action)
        return outcome.model_copy(update={"seconds": round(time.perf_counter() - started, 4)})

    def _must_be_in_front(self, action: Action) -> None:
        if self.tabs.active is self._page or isinstance(action, actions.SwitchTab | actions.CloseTab | actions.OpenTab):
            return
        front = plain(self.tabs.active.url, 100)
        raise Refused("changed", f"{action.kind} was not done: another tab came to the front ({front}). Look again.")

    async def _attempt(self, action: Action, before: Before) -> Outcome:
        sentence = f"The tab closed during {action.kind}"
        try:
            await self.eye.hide(before.page)
            async with asyncio.timeout(self._deadline_s(action)):
                done = await self._carry_out(action, before.seen)
            sentence = done.sentence
            return await effect_of(done, before, self.tabs, self.eye)
        except TimeoutError:
            raise Refused("timed_out", f"{action.kind} was begun, but {NO_ANSWER}") from None
        except (BrowserUnavailable, PlaywrightError) as error:
            if isinstance(error, PlaywrightError) and not overlay.is_gone(error):
                raise
            if not await self.tabs.lost_one():
                raise
        return await effect_of(Done(sentence, None, moved=True), before, self.tabs, self.eye)

    async def _carry_out(self, action: Action, seen: Seen) -> Done:
        match action:
            case actions.Click():
                return await self._click(action, seen)
            case actions.Type():
                return await self._type(action, seen)
            case actions.Select():
                return await self._select(action, seen)
            case actions.Press():
                return await self._press(action, seen)
            case actions.Hover():
                return await self._hover(action, seen)
            case actions.Scroll():
                return await self._scroll(action, seen)
            case actions.Drag():
                return await self._drag(action, seen)
            case actions.Wait():
                return await self._wait(action)
            case actions.Goto() | actions.Back() | actions.Forward() | actions.Reload():
                return await self._navigate(action)
            case actions.OpenTab() | actions.SwitchTab() | actions.CloseTab():
                return await self._turn_to(action, seen)
            case actions.Zoom() | actions.Ask() | actions.Finish():
                raise Refused("unsupported", f"{action.kind} is not something a browser does.")

    def _zoom(self, action: actions.Zoom, seen: Seen) -> Outcome:
        self.region, words = zoom.region_of(action, seen.observation)
        return Outcome(status="done", effect="zoomed", sentence=f"The next picture shows only {words}, enlarged.")

    # --- pointer and keys ---------------------------------------------------------------------------------------------

    async def _click(self, action: actions.Click, seen: Seen) -> Done:
        at = await self._aim(action.target, seen)
        at = await self._click_at(at, action, seen)
        how = {1: "Clicked", 2: "Double-clicked", 3: "Triple-clicked"}[action.count]
        return Done(f"{how if action.button == 'left' else f'{action.button.capitalize()}-clicked'} {at.words}", at)

    async def _type(self, action: actions.Type, seen: Seen) -> Done:
        at = await self._aim(action.target, seen)
        text, is_secret = self._revealed(action.text, at)
        if is_secret and at.mark is not None:
            self.eye.masked_keys.add(at.mark.key)
        if at.mark is not None and at.locator is not None and at.mark.state.input_type in _FILLED_AT_ONCE:
            await at.locator.fill(text, timeout=self._timeout_ms)
        else:
            await self._type_keys(action, at, text, seen, is_secret)
        if action.submit:
            await self._must_keep_focus(at, seen, "the text was typed, Enter was not pressed")
            await self._page.keyboard.press("Enter")
        shown = action.text if len(action.text) <= 60 else action.text[:59] + "…"
        return Done(f'Typed "{plain(shown, 60)}" into {at.words}', at, expected=None if is_secret else text)

    async def _type_keys(self, action: actions.Type, at: Located, text: str, seen: Seen, is_secret: bool) -> None:
        if at.mark is not None and at.locator is not None:
            if at.mark.kind != "field" and at.mark.role not in ("textbox", "searchbox", "combobox", "generic"):
                raise Refused("unsupported", f"{at.words} is not a field; text cannot be typed into it.")
            if at.mark.state.readonly:
                raise Refused("disabled", f"{at.words} is read-only.")
            await self._click_at(at, actions.Click(target=action.target), seen)
            if not await self._has_focus(at.mark, seen):
                raise Refused("changed", f"{at.words} did not take the focus when it was clicked; nothing was typed.")
        else:
            await self._click_at(at, actions.Click(target=action.target), seen)
            await self._must_have_left_fields(at, seen)
        if at.mark is not None and at.mark.tag == "input":
            text = " ".join(text.splitlines())  # a line break would submit the form
        if action.clear:
            await self._page.keyboard.press("ControlOrMeta+a")
            if not text:
                await self._page.keyboard.press("Delete")
        else:
            await self._page.keyboard.press(_TO_THE_END)
        if is_secret:
            # All at once, so that no script can take the focus in the middle of it.
            await self._must_keep_focus(at, seen, "nothing was typed")
            await self._page.keyboard.insert_text(text)
            return
        await self._page.keyboard.type(text[:1])
        if text[1:]:
            await self._must_keep_focus(at, seen, "only the first character was typed")
        await self._page.keyboard.type(text[1:_TYPED_KEYS])
        if text[_TYPED_KEYS:]:
            await self._page.keyboard.insert_text(text[_TYPED_KEYS:])

    async def _must_keep_focus(self, at: Located, seen: Seen, so_far: str) -> None:
        if at.mark is not None and not await self._has_focus(at.mark, seen):
            raise Refused("changed", f"{at.words} lost the focus to something else; {so_far}.")

    async def _has_focus(self, mark: Mark, seen: Seen) -> bool:
        """Whether keys go to it: it has the focus in its document, and each frame around it has that in its parent."""
        now = await recheck(mark, seen.scan, self.settings.action_deadline_s)
        if not now["found"] or not now["state"].get("focused"):
            return False
        scanned = seen.scan.owner(mark.key)
        while scanned is not None and scanned.parent is not None:
            frame = {"key": scanned.key, "kind": "frame"}
            now = await overlay.ask(scanned.parent.frame, "check", self.settings.action_deadline_s, **frame)
            if not now["found"] or not now["state"].get("focused"):
                return False
            scanned = scanned.parent
        return True

    async def _must_have_left_fields(self, at: Located, seen: Seen) -> None:
        """A canvas may keep the focus where it was; what is typed then goes into a field elsewhere."""
        for mark in seen.observation.marks:
            is_elsewhere = mark.kind == "field" and not mark.box.contains(at.point)
            if mark.state.focused and is_elsewhere and await self._has_focus(mark, seen):
                raise Refused(
                    "changed", f"{at.words} did not take the focus, {words_for(mark)} kept it; no key was sent."
                )

    async def _click_at(self, at: Located, click: actions.Click, seen: Seen) -> Located:
        """The place that was clicked in the end; it may have moved since it was first found."""
        if at.locator is not None and at.is_direct:
            try:
                # Playwright waits for it to stand still; what it has become meanwhile is looked at before the click.
                await at.locator.click(position=at.position, trial=True, timeout=self._timeout_ms)  # type: ignore[arg-type]
                at = await self._locate(click.target, seen)
                assert at.locator is not None
                await at.locator.click(
                    position=at.position,  # type: ignore[arg-type]
                    button=click.button,
                    click_count=click.count,
                    modifiers=list(click.modifiers),
                    timeout=_STILL_MS,
                )
                return at
            except PlaywrightError as error:
                # A field called `getAttribute` breaks Playwright's own look at its form; ours has been, and is again.
                if "TypeError" not in error.message:
                    raise
            at = await self._locate(click.target, seen)
        try:
            for modifier in click.modifiers:
                await self._page.keyboard.down(modifier)
            await self._page.mouse.click(at.point.x, at.point.y, button=click.button, click_count=click.count)
        finally:
            for modifier in click.modifiers:
                await asyncio.wait_for(self._page.keyboard.up(modifier), self.settings.action_deadline_s)
        return at

    async def _select(self, action: actions.Select, seen: Seen) -> Done:
        at = await self._locate(action.target, seen)
        if at.mark is None or at.locator is None or at.mark.tag != "select":
            raise Refused(
                "unsupported", f"{at.words} is not a native list. Click it, then click the option in the next listing."
            )
        offered = (at.answer or {}).get("state", {}).get("options", [])
        wanted = [_option(each, offered) for each in action.options]
        for each, found in zip(action.options, wanted, strict=True):
            if found is None:
                offer = ", ".join(f'"{plain(option, 40)}"' for option in offered[:12])
                raise Refused("not_an_option", f'{at.words} has no option "{plain(each, 60)}"; it offers {offer}.')
            if offered.count(found) > 1:
                raise Refused("ambiguous", f'{at.words} has {offered.count(found)} options "{plain(found, 60)}".')
        labels = [label for label in wanted if label is not None]
        await at.locator.select_option(label=labels, timeout=self._timeout_ms)
        said = " and ".join(f'"{plain(label, 60)}"' for label in labels)
        return Done(f"Selected {said} in {at.words}", at, expected=", ".join(labels))

    async def _press(self, action: actions.Press, seen: Seen) -> Done:
        at = None
        if action.target is not None:
            at = await self._locate(action.target, seen)
            await self._focus(at, seen)
        try:
            for _ in range(action.count):
                await self._page.keyboard.press(action.keys)
        except PlaywrightError as error:
            if "Unknown key" not in error.message:
                raise
            raise Refused(
                "unsupported", f'There is no key "{plain(action.keys, 40)}"; try Enter, Tab, ArrowDown, Control+a.'
            ) from error
        times = f" {action.count} times" if action.count > 1 else ""
        return Done(f"Pressed {action.keys}{times}" + (f" in {at.words}" if at else ""), at)

    async def _focus(self, at: Located, seen: Seen) -> None:
        if at.locator is None or at.mark is None:
            await self._page.mouse.click(at.point.x, at.point.y)
            await self._must_have_left_fields(at, seen)
            return
        await at.locator.focus(timeout=self._timeout_ms)
        if not await self._has_focus(at.mark, seen):
            raise Refused(
                "unsupported", f"{at.words} cannot take the focus, so keys do not go there. Click it instead."
            )

    async def _hover(self, action: actions.Hover, seen: Seen) -> Done:
        at = await self._aim(action.target, seen)
        if at.locator is not None and at.is_direct:
            await at.locator.hover(position=at.position, trial=True, timeout=self._timeout_ms)  # type: ignore[arg-type]
            at = await self._locate(action.target, seen)
            await at.locator.hover(position=at.position, timeout=_STILL_MS)  # type: ignore[union-attr, arg-type]
        else:
            await self._page.mouse.move(at.point.x, at.point.y)
        return Done(f"Moved the pointer over {at.words}", at)

    async def _scroll(self, action: actions.Scroll, seen: Seen) -> Done:
        sign = 1 if action.direction in ("down", "right") else -1
        across = action.direction in ("left", "right")
        by = {"x": sign * action.pages if across else 0, "y": 0 if across else sign * action.pages}
        mark = seen.observation.mark(action.target) if isinstance(action.target, int) else None
        if isinstance(action.target, Point) or (mark is not None and mark.kind == "surface"):
            assert action.target is not None
            at = await self._locate(action.target, seen)
            viewport = seen.observation.viewport
            await self._page.mouse.move(at.point.x, at.point.y)
            await self._page.mouse.wheel(by["x"] * viewport.width, by["y"] * viewport.height)
            return Done(f"Turned the wheel {action.direction} over {at.words}", at)
        frame, key, words = self._page.main_frame, None, "the page"
        if isinstance(action.target, int):
            if mark is None:
                await self._locate(action.target, seen)  # refuses with the numbers there are
                raise AssertionError("an unknown mark was located")
            owner = seen.scan.owner(mark.key)
            words = words_for(mark)
            if owner is None or owner.frame.is_detached():
                raise Refused("gone", f"{words} is gone: its frame was closed or left.")
            frame, key = owner.frame, mark.key
        moved = await overlay.ask(frame, "scroll", self.settings.action_deadline_s, key=key, **by)
        if not moved["found"]:
            raise Refused("gone", f"{words} is no longer on the page.")
        far = abs(moved["movedX"] if across else moved["movedY"])
        left = {"down": "below", "up": "above", "left": "left", "right": "right"}[action.direction]
        what = plain(moved["container"], 80)
        sentence = f"Scrolled {what} {action.direction} by {far:.0f} px; {moved[left]:.0f} px remain {left}"
        if far < 1:
            sentence = f"{what} did not scroll {action.direction}: it is at its end"
        return Done(sentence, None, moved=far >= 1)

    async def _drag(self, action: actions.Drag, seen: Seen) -> Done:
        first, second = await self._locate(action.source, seen), await self._locate(action.target, seen)
        try:
            # Showing the one may have scrolled the other away: both are looked at once more, as they are.
            start = await self._locate(action.source, seen, reveal=False)
            end = await self._locate(action.target, seen, reveal=False)
        except Refused as refusal:
            words = f"{first.words} and {second.words} cannot be seen at once; scroll so that both show."
            raise Refused("moved", words) from refusal
        mouse = self._page.mouse
        await mouse.move(start.point.x, start.point.y)
        try:
            await mouse.down()
            await mouse.move(end.point.x, end.point.y, steps=12)
        finally:
            await asyncio.wait_for(mouse.up(), self.settings.action_deadline_s)
        return Done(f"Dragged {start.words} to {end.words}", end)

    # --- pages and tabs -----------------------------------------------------------------------------------------------

    async def _wait(self, action: actions.Wait) -> Done:
        until = time.monotonic() + action.seconds
        if action.text is None:
            await asyncio.sleep(action.seconds)
            return Done(f"Waited {action.seconds:g} s", None)
        while True:
            if await self._shows(action.text):
                return Done(f'"{plain(action.text, 60)}" shows', None, moved=True)
            if time.monotonic() >= until:
                raise Refused("not_reached", f'"{plain(action.text, 60)}" did not show within {action.seconds:g} s.')
            await asyncio.sleep(0.1)

    async def _shows(self, text: str) -> bool:
        for frame in self._page.frames:
            try:
                if (await overlay.ask(frame, "shows_text", self.settings.action_deadline_s, text=text))["shows"]:
                    return True
            except FrameSilent:
                continue  # another frame may show it
        return False

    async def _navigate(self, action: actions.Goto | actions.Back | actions.Forward | actions.Reload) -> Done:
        page, timeout = self._page, self.settings.navigation_deadline_s * 1000
        match action:
            case actions.Goto():
                url = urljoin(page.url, action.url) if not urlsplit(action.url).scheme else action.url
                await open_page(page, url, self.policy, self.settings.navigation_deadline_s)
                return Done(f"Opened {url}", None)
            case actions.Reload():
                try:
                    await page.reload(timeout=timeout, wait_until="commit")
                except PlaywrightError as error:
                    if not await _loads_all_the_same(page, error):
                        raise
                return Done("Loaded the page again", None)
            case actions.Back() | actions.Forward():
                was = page.url
                back = isinstance(action, actions.Back)
                await (page.go_back if back else page.go_forward)(timeout=timeout, wait_until="commit")
                way = "back" if back else "forward"
                if page.url == was:
                    return Done(f"There is no page to go {way} to", None)
                return Done(f"Went {way} to {page.url}", None)

    async def _turn_to(self, action: actions.OpenTab | actions.SwitchTab | actions.CloseTab, seen: Seen) -> Done:
        if isinstance(action, actions.OpenTab):
            url = urljoin(self._page.url, action.url) if not urlsplit(action.url).scheme else action.url
            gate.check(url, self.policy)
            page, was = await self._page.context.new_page(), self._page
            self.tabs.add(page)
            self.tabs.active = page
            try:
                await open_page(page, url, self.policy, self.settings.navigation_deadline_s)
            except Refused:
                self.tabs.active = was
                await close_page(page)
                raise
            return Done(f"Opened {url} in tab {self.tabs.number(page)}", None, moved=True)
        if not 1 <= action.tab <= len(seen.pages):
            raise Refused("unknown_mark", f"There is no tab {action.tab}; there are {len(seen.pages)}.")
        page = seen.pages[action.tab - 1]
        if page not in self.tabs.pages:
            raise Refused("gone", f"Tab {action.tab} has been closed.")
        if isinstance(action, actions.SwitchTab):
            self.tabs.active = page
            await page.bring_to_front()
            return Done(f"Went to tab {action.tab}", None, moved=True)
        if len(self.tabs.pages) == 1:
            raise Refused("unsupported", "The last tab is not closed: nothing would be left to look at.")
        if not await close_page(page):
            raise Refused("unsupported", f"Tab {action.tab} does not close; it may be stuck.")
        return Done(f"Closed tab {action.tab}", None, moved=True)

    # --- small things -------------------------------------------------------------------------------------------------

    @property
    def _timeout_ms(self) -> float:
        return self.settings.action_deadline_s * 1000

    def _deadline_s(self, action: Action) -> float:
        """For the whole of an action: the mouse and the keys have no deadline of their own in a page that hangs."""
        deadline = _LOOKS * self.settings.action_deadline_s
        match action:
            case actions.Wait():
                return deadline + action.seconds
            case actions.Goto() | actions.Back() | actions.Forward() | actions.Reload() | actions.OpenTab():
                return deadline + self.settings.navigation_deadline_s
            case _:
                return deadline

    def _revealed(self, text: str, at: Located) -> tuple[str, bool]:
        """The text with secrets in place of their names, and whether there was one."""
        by_name = {secret.name: secret for secret in self.secrets}
        host = urlsplit(at.frame.url if at.frame else self._page.url).hostname or ""
        is_secret = False
        for name in _SECRET.findall(text):
            if at.mark is None:
                raise Refused(
                    "blocked", f"The secret {name} is only typed into a marked field, where it can be masked."
                )
            secret = by_name.get(name)
            if secret is None:
                raise Refused("blocked", f"There is no secret called {name}; there are {', '.join(by_name) or 'none'}.")
            if not gate.host_matches(host, secret.hosts or self.policy.start_hosts):
                raise Refused("blocked", f"The secret {name} may not be typed on {host or 'this page'}.")
            if secret.fields and at.mark.state.input_type not in secret.fields:
                raise Refused("blocked", f"The secret {name} may not be typed into {at.words}.")
            text = text.replace(f"<secret:{name}>", secret.value.get_secret_value())
            is_secret = True
        return text, is_secret

    async def _aim(self, target: Target, seen: Seen) -> Located:
        """The place of a target that stands still: the mouse does not wait for that, as a locator does."""
        at = await self._locate(target, seen)
        until = time.monotonic() + self.settings.action_deadline_s
        while at.mark is not None and not at.is_direct:
            again = await self._locate(target, seen)
            if again.point == at.point:
                return again
            if time.monotonic() > until:
                raise Refused("moved", f"{at.words} does not stand still, so nothing was sent to it.")
            at = again
        return at

    async def _locate(self, target: Target, seen: Seen, *, reveal: bool = True) -> Located:
        deadline_s = self.settings.action_deadline_s
        return await locate(self._page, target, seen, self.contract, deadline_s, reveal=reveal)


async def open_page(page: Page, url: str, policy: gate.Policy, deadline_s: float) -> None:
    """Opens an address; a page that goes on loading is there as soon as it has begun.

    Raises:
        Refused: the policy does not allow it, it cannot be reached, or nothing came within the deadline.
    """
    gate.check(url, policy)
    try:
        await page.goto(url, timeout=deadline_s * 1000, wait_until="commit")
    except PlaywrightTimeout:
        raise Refused("unreachable", f"{url} sent nothing within {deadline_s:g} s.") from None
    except PlaywrightError as error:
        if overlay.is_gone(error):
            raise
        if "Download is starting" in error.message or await _loads_all_the_same(page, error):
            return
        reason = re.sub(r"^Page\.goto: ", "", error.message.splitlines()[0])
        raise Refused("unreachable", f"{url} could not be opened: {reason.removesuffix(f' at {url}')}.") from error


async def _loads_all_the_same(page: Page, error: PlaywrightError) -> bool:
    """Whether the page comes though that was refused: Playwright refuses loads where a frame crashed, and does them."""
    if not overlay.is_crash(error):
        return False
    try:
        await page.wait_for_event(
            "framenavigated", lambda frame: frame is page.main_frame, timeout=_AFTER_A_CRASH_S * 1000
        )
    except PlaywrightError:
        return False  # the page itself has crashed: only another tab helps
    return True


def _option(wanted: str, offered: Sequence[str]) -> str | None:
    """The option that is meant: the exact text, else the only one that is the same but for case and spaces."""
    if wanted in offered:
        return wanted
    loose = [option for option in offered if option.casefold().split() == wanted.casefold().split()]
    return loose[0] if len(loose) == 1 else None


def _outcome_of(error: PlaywrightError, action: Action) -> Outcome:
    """What Playwright's refusal means. Its log names the element that took the click."""
    if overlay.is_gone(error):
        raise BrowserUnavailable(
            f"The browser is gone: {error.message.splitlines()[0]}", "start the run again"
        ) from error
    if overlay.is_crash(error):
        return Outcome(status="refused", refusal="crashed", sentence=f"{action.kind} was not done. {CRASHED}")
    interceptors = re.findall(r"(<[^>]*>)[^\n]*? intercepts pointer events", error.message)
    if interceptors:
        who = plain(interceptors[-1], 120)
        return Outcome(
            status="refused", refusal="covered", sentence=f"The target is covered by {who}. Close or move that first."
        )
    first = plain(error.message.splitlines()[0], 200)
    if isinstance(error, PlaywrightTimeout):
        sentence = f"The page did not let {action.kind} happen: {first.rstrip('.')}."
        if "performing" in error.message:
            sentence = f"{action.kind} was sent, but {NO_ANSWER}"
        return Outcome(status="refused", refusal="timed_out", sentence=sentence)
    return Outcome(status="refused", refusal="unsupported", sentence=f"The browser refused to {action.kind}: {first}.")

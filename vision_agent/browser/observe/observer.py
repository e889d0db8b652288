"""Observes a page: waits until it has settled, finds what can be acted on, takes one picture, and draws the marks.

`look` goes from a live page to a `LiveObservation`: capture and scan, decode, search surfaces, place numbers, render,
assemble. Each stage has a small result, and pixels are processed while the page is queried.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.browser.observe import look_warnings
from vision_agent.browser.observe.context_lines import context_lines, text_layers
from vision_agent.browser.observe.drawn_secrets import DrawnSecrets, UnreadPictures, search_pictures
from vision_agent.browser.observe.hung_page import hung_observation
from vision_agent.browser.observe.icons import nameless, with_icons
from vision_agent.browser.observe.listing import MarkLines, listing
from vision_agent.browser.observe.live_observation import LiveObservation
from vision_agent.browser.observe.mark_drawing import MarkDrawing
from vision_agent.browser.observe.mark_limit import limit_marks
from vision_agent.browser.observe.mark_memory import MarkMemory, ReadScan
from vision_agent.browser.observe.player_controls import IdlePlayers
from vision_agent.browser.observe.shown_secrets import Find, drawn_secrets
from vision_agent.browser.observe.stage_results import RenderedShots, Scope, ShownPicture, StageTimes, Targets, View
from vision_agent.browser.observe.surfaces import Contents, Surfaces, grid_key, requested_grid
from vision_agent.browser.observe.veiled_words import SecretFinder
from vision_agent.browser.page import frames, listeners, overlay, overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.frames import Scan
from vision_agent.browser.page.hanging import PageHangs, PageSilent, unless_hung
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.settle import DrawnPage, is_quiet, judge_look, settle
from vision_agent.browser.page.tabs import Tabs
from vision_agent.errors import BrowserUnavailable
from vision_agent.geometry import Box, Size
from vision_agent.observation import Covered, Mark, Observation, Tab
from vision_agent.ports import HiddenValues
from vision_agent.settings import ObserveSettings
from vision_agent.text.urls import bounded_address, shown_address
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.labels import place
from vision_agent.vision.labels.lookalikes import Distinct, distinct_style
from vision_agent.vision.ocr import OcrReader
from vision_agent.vision.picture import Extent, Picture
from vision_agent.vision.pixel_stability import PixelStability
from vision_agent.vision.style import STYLES, Style
from vision_agent.vision.surfaces.shapes_ahead import ShapesAhead
from vision_agent.vision.surfaces.text_layer import LaidText

_TRIES = 3
"""Attempts at a look, if the page changes or navigates meanwhile."""
_EARLY_S = 0.05
"""The first attempt begins this long before the page is known to have settled: it takes about as long."""
_CHANGED = "the page changed while it was looked at"
_TITLE_S = 2.0
_GRID_PX = 640
"""Shortest longer edge of a picture with a grid: its cells need room for their numbers."""
_T = TypeVar("_T")


@dataclass
class Observer:
    """Makes observations, and keeps numbers and epochs from one look to the next."""

    settings: ObserveSettings
    image_limits: ImageLimits
    clock: Callable[[], datetime]
    secrets: Callable[[], Sequence[str]] = tuple
    """The current secret values, which no picture and no mark may contain."""
    hidden: HiddenValues | None = None
    """They, and other values that no picture and no listing may show; None: nothing is hidden."""
    _secret_finder: SecretFinder = field(init=False)
    _memory: MarkMemory = field(init=False)
    _surfaces: Surfaces = field(init=False)
    _unread: UnreadPictures = field(default_factory=UnreadPictures)
    players: IdlePlayers = field(default_factory=IdlePlayers)
    _last_scan: Scan | None = None
    _last_drawn: tuple[Mark, ...] = ()
    """The marks drawn in the last full picture: their numbers keep their places."""
    _last_png: bytes = b""
    """The last picture of a page with surfaces: what it shows is known."""
    _was_restless: bool = False
    """Whether the last look showed a page that did not come to rest."""
    _last_plan: place.Plan | None = None
    """Used again if nothing has moved."""
    _drawing: MarkDrawing = field(default_factory=MarkDrawing)
    _lines: MarkLines = field(default_factory=MarkLines)
    _last_look: _LastLook | None = None
    """Used again if nothing has changed at all."""

    def __post_init__(self) -> None:
        self._secret_finder = SecretFinder(self.secrets)
        self._memory = MarkMemory(self.settings.ids == "letters", self.secrets)
        if self.hidden is not None:
            self._memory.find = self.hidden.find
        self._surfaces = Surfaces(self.settings, self._memory.numbers)
        self._style = STYLES[self.settings.style]

    @property
    def masked_keys(self) -> set[str]:
        """Keys of fields into which a secret was typed."""
        return self._memory.masked_keys

    async def look(
        self, tabs: Tabs, region: Box | None = None, *, grid: bool = False, scope: Scope | None = None
    ) -> LiveObservation:
        """The active tab as it is now, or a part of it, enlarged; a new document is always shown in full.

        A page that does not answer for some seconds, at the first look too, is observed without marks.
        `region`: that part, in page coordinates; `grid`: draw rows and columns over it; `scope`: list nothing else.

        Raises:
            BrowserUnavailable: the browser is gone, or the page answers but cannot be scanned within the deadlines.
        """
        try:
            return await unless_hung(self._look_patiently(tabs, region, grid=grid, scope=scope), tabs)
        except PageHangs as error:
            scan, epoch, now = self._last_scan or Scan(), self._memory.epoch, self.clock()
            return hung_observation(
                tabs.active, tabs.pages, scan, self.image_limits, epoch=epoch, now=now, why=str(error)
            )

    async def _look_patiently(
        self, tabs: Tabs, region: Box | None, *, grid: bool, scope: Scope | None
    ) -> LiveObservation:
        trouble: Exception | None = None
        named_on = self._memory.epoch
        for attempt in range(_TRIES):
            try:
                here = region if self._memory.epoch == named_on else None
                return await self._look(tabs, here, attempt, grid=grid, scope=scope)
            except FrameSilent as error:
                trouble = error
                # Playwright reports a crashed page and a crashed frame with the same error.
                if tabs.is_crashed(tabs.active) and not await self._answers(tabs.active):
                    raise BrowserUnavailable("The page crashed", "reload it or open another one") from error
            except BrowserUnavailable as error:
                trouble = error
                if not await tabs.has_lost_tab():
                    raise
        raise PageSilent(
            f"The page could not be observed, tried {_TRIES} times: {trouble}", "reload it, or raise scan_deadline_s"
        )

    async def _answers(self, page: Page) -> bool:
        """Whether the page's own document responds."""
        try:
            await overlay_calls.document.token(page.main_frame, self.settings.scan_deadline_s)
        except FrameSilent:
            return False
        return True

    async def reader(self) -> OcrReader | None:
        """Reads drawn words; None if no OCR is installed, or the settings leave it no time."""
        return await self._surfaces.reader()

    def text_layers(self, scan: Scan) -> dict[str, list[LaidText]]:
        """The texts that the page lays over drawings, by the keys of these, without those with a value to hide."""
        return text_layers(scan, self._memory.find)

    async def hide(self, page: Page) -> None:
        """Removes marks shown to a person from the live page, so that no picture contains them."""
        if self.settings.marks_on_page:
            with suppress(FrameSilent):  # gone or hanging; the next look reports that
                await overlay_calls.document.hide_layer(page.main_frame, self.settings.action_deadline_s)

    async def _look(
        self, tabs: Tabs, region: Box | None, attempt: int, *, grid: bool, scope: Scope | None
    ) -> LiveObservation:
        """One attempt. The first begins a little early, and is valid if the page stays quiet; the second is still
        given up if the page changes.
        """
        stages = StageTimes()
        last, self._last_look = self._last_look, None
        await self.hide(tabs.active)
        # Documents do not report when what they draw changed.
        early_s = 0.0 if attempt or self._surfaces.has_any else min(_EARLY_S, self.settings.quiet_s / 2)
        settled = await self._settle(tabs, early_s, is_whole=region is None)
        before, deadline_s = self._last_scan, self.settings.scan_deadline_s
        player = await self.players.find(tabs.active, before, deadline_s)
        is_woken = await self.players.wake(tabs.active, player, before, deadline_s)
        if is_woken or (early_s and settled.pixels.has_picture):
            early_s = 0.0
            settled = await self._settle(tabs, is_whole=region is None, earlier=None if is_woken else settled)
        at_rest, pixels, ahead = settled
        known_at, is_first = time.monotonic() + early_s, attempt <= 1
        stages.end("settle")
        page, pages = tabs.active, tuple(tabs.pages)
        # Concurrently: Chromium takes a picture two frames after it is asked; the scan is read in the meantime.
        # What must be masked is watched from the scan on, so the scan comes first.
        if self.hides:
            read, png = await self._scan(page, last), await capture(page, deadline_s)
        else:
            read, png = await asyncio.gather(self._scan(page, last), capture(page, deadline_s))
            if read.scan.has_opened_roots:
                png = await capture(page, deadline_s)
        if is_first and at_rest and read.scan.has_opened_roots:
            raise FrameSilent("closed parts of the page were opened, which nobody had watched while it came to rest")
        if (
            is_first
            and not is_woken
            and player
            and before
            and await self.players.wake(page, player, before, deadline_s)
        ):
            raise FrameSilent("controls hid while it was looked at")
        stages.end("page")
        answers_form = tabs.navigations.answers_form(page)
        region = None if read.is_new_document else region
        ahead = ahead if ahead and ahead.screenshot == png else None
        view = View(page, pages, read, at_rest, pixels, region, grid, scope if region else None, ahead, answers_form)
        quiet_until = known_at if early_s and at_rest else None
        if last and is_first and read.is_repeated and at_rest and region is None and png == last.png:
            return await self._look_again(last, view, tabs, quiet_until, stages)
        shown = await self._decode(view, png, stages, is_first=is_first)
        if not at_rest:
            await asyncio.to_thread(judge_look, tabs, page, read.scan.main.token, pixels, png)
        studying = await _start_in_thread(_study, shown.clean, self._style)
        async with _begun(self._stays_quiet(tabs, quiet_until)) as staying_quiet:
            if shown.surfaces and not await staying_quiet:  # surfaces remember what they showed
                raise FrameSilent(_CHANGED)
            targets = await self._targets(view, shown)
            if shown.surfaces:
                stages.end("surfaces")
            marks = self._place(view, shown, targets)
            stages.end("place")
            if asked := nameless(marks):
                marks = await asyncio.to_thread(with_icons, marks, asked, shown.clean)
                self._memory.keep_icons(marks)
                stages.end("icons")
            studied = await studying
            drawn = await self._search_pictures(view, shown)
            masked = self._without_drawn_secrets(shown, targets, drawn)
            layer, marked = self._drawing.draw(marks, masked.clean, studied.distinct.style)
            stages.end("draw")
            encoding = await _start_in_thread(marked.encode, self.settings.picture)
            rendered = RenderedShots(masked.clean.encode("png"), encoding, layer, studied.distinct.warning)
            if not await staying_quiet:
                raise FrameSilent(_CHANGED)
        if self.settings.marks_on_page:
            shows = rendered.layer.model_dump(mode="json")
            await overlay_calls.document.show_layer(page.main_frame, deadline_s, shows, view.shown)
        unread = self._unread.warnings(drawn.unread, read.marks)
        observation = await self._assemble(view, shown, targets, marks, rendered, studied.phash, unread, stages)
        self._memory.keep(targets.known)
        self._last_scan = read.scan
        seen = LiveObservation(
            observation,
            page,
            pages,
            read.scan,
            shown.picture,
            shown.masked,
            earlier=read.earlier.found,
            charts=targets.contents.charts,
        )
        self._was_restless = not at_rest or pixels.restless is not None
        if view.region is None:
            self._last_png = png if shown.surfaces else b""
            self._last_drawn = marks
            has_news = observation.change.gone or any(mark.change for mark in read.marks)
            if at_rest and not shown.surfaces and not has_news:
                self._last_look = _LastLook(png, read, seen, frozenset(self.masked_keys))
        return seen

    async def _look_again(
        self, last: _LastLook, view: View, tabs: Tabs, quiet_until: float | None, stages: StageTimes
    ) -> LiveObservation:
        """The last look with what may differ: neither the page nor its picture has changed since.

        Raises:
            FrameSilent: the page changed.
        """
        changes, listed, is_quiet = await asyncio.gather(
            frames.detect_changes(view.read.scan, self.settings.scan_deadline_s),
            _list_tabs(view.pages, view.page, view.read.scan.main.title),
            self._stays_quiet(tabs, quiet_until),
        )
        if not is_quiet or any(each.moved or each.has_changed for each in changes):
            raise FrameSilent(_CHANGED)
        stages.end("the same")
        observation = last.seen.observation.model_copy(
            update={
                "id": _new_id(),
                "taken_at": self.clock(),
                "tabs": listed,
                "change": self._memory.change(view.read.marks, view.read.earlier.marks),
                "answers_form": view.answers_form,
                "timings": stages.seconds,
            }
        )
        seen = replace(last.seen, observation=observation, page=view.page, pages=view.pages, scan=view.read.scan)
        self._last_scan, self._last_look = view.read.scan, last._replace(read=view.read, seen=seen)
        return seen

    async def _settle(
        self, tabs: Tabs, early_s: float = 0.0, *, is_whole: bool, earlier: _Settled | None = None
    ) -> _Settled:
        """Whether the page settled, or will have in `early_s` if it stays quiet; and its last pictures, if it draws.

        Listeners are reported meanwhile, so that the scan only adds the new ones; and drawings are searched, if the
        look will show all of the page. `earlier`: what a moment ago was seen, whose pictures count.
        """
        ahead = earlier.ahead if earlier else None

        def search_ahead(drawn: DrawnPage) -> None:
            nonlocal ahead
            is_news = drawn.screenshot not in (self._last_png, ahead.screenshot if ahead else b"")
            if is_whole and is_news and (drawn.is_still or not (ahead or self._was_restless)):
                ahead = self._surfaces.search_ahead(drawn.screenshot, drawn.view, drawn.drawings, self.image_limits)

        hearing = asyncio.create_task(self._register_listeners(tabs.active))
        pixels, quiet_s = earlier.pixels if earlier else PixelStability(), self.settings.quiet_s - early_s
        try:
            at_rest = await settle(
                tabs, quiet_s, self.settings.settle_deadline_s, pixels=pixels, on_picture=search_ahead
            )
            return _Settled(at_rest, pixels, ahead)
        finally:
            hearing.cancel()
            await asyncio.wait([hearing])

    async def _stays_quiet(self, tabs: Tabs, until: float | None) -> bool:
        """Whether the page has not changed up to this moment; True if there is none to wait for."""
        if until is None:
            return True
        await asyncio.sleep(until - time.monotonic())
        return await is_quiet(tabs, self.settings.quiet_s, self.settings.scan_deadline_s)

    async def _register_listeners(self, page: Page) -> None:
        await listeners.report_listeners(page, self.settings.settle_deadline_s)
        with suppress(PlaywrightError):  # the page closes; the look reports that
            await overlay.register_early_listener(page)

    @property
    def hides(self) -> bool:
        """Whether there is anything that no picture may show."""
        return self.hidden is not None and not self.hidden.is_empty

    @property
    def find_secrets(self) -> Find | None:
        """Where secrets that nobody may read occur in a text; None if there are none."""
        return None if self._secret_finder.is_empty else self._secret_finder.find

    @property
    def find_hidden(self) -> Find:
        """Where hidden values occur in a text."""
        return self._memory.find

    async def _scan(self, page: Page, last: _LastLook | None) -> ReadScan:
        """A scan of the page, with numbered marks.

        Raises:
            FrameSilent: the page did not answer.
            BrowserUnavailable: the browser is gone.
        """
        scan = await frames.scan(
            page, self.settings.scan_deadline_s, self._memory.known_keys, words=self.hides, before=self._last_scan
        )
        if last and not self.hides and scan.repeats(last.read.scan) and last.masked == self.masked_keys:
            return replace(last.read, scan=scan, is_new_document=False, is_repeated=True)
        read = self._memory.read(scan)
        if read.is_new_document:
            self._surfaces.restart()
            self._unread.restart()
            self._last_drawn = ()
        return read

    async def _decode(self, view: View, png: bytes, stages: StageTimes, *, is_first: bool) -> ShownPicture:
        """The decoded picture. Meanwhile the page reports what moved, and places for the numbers are planned.

        Raises:
            FrameSilent: the page navigated, or changed and one more look is allowed.
        """
        read, deadline = view.read, self.settings.scan_deadline_s
        marks, left_out = limit_marks(view.inside, self.settings.max_marks)
        surfaces = self._surfaces.select_surfaces(marks)
        asked = asyncio.gather(
            frames.detect_changes(read.scan, deadline),
            _list_tabs(view.pages, view.page, read.scan.main.title),
            self._surfaces.predict_reachable(surfaces, read.scan),
            self._surfaces.twins(surfaces, read.scan, lambda text: bool(self._memory.find(text))),
            self._other_picture(view, surfaces, view.pixels.screenshot),
        )
        decoding = await _start_in_thread(Picture.decode, png, read.whole, self.image_limits)
        plan = None
        if view.region is None and not surfaces:
            plan = self._plan(marks, Extent.of_png(png, read.whole, self.image_limits), self._last_drawn)
        stages.end("plan")
        decoded = await decoding
        changes, tabs, reached, twins, other = await asked
        masked = self._memory.boxes_to_mask(read, changes, decoded.is_plain)
        picture = decoded.masked(masked)
        moved = {key for each in changes for key in each.moved}
        if is_first and view.at_rest and (moved or any(each.has_changed for each in changes)):
            raise FrameSilent(_CHANGED)
        stages.end("decode")
        clean = self._zoomed(picture, view)
        other = other and self._zoomed(other.masked(masked), view)
        return ShownPicture(picture, clean, masked, marks, left_out, surfaces, other, reached, twins, moved, tabs, plan)

    async def _targets(self, view: View, shown: ShownPicture) -> Targets:
        """The marks to draw and all known marks, including those found in surfaces."""
        found, contents, marks, left_out = view.read.marks, Contents(), shown.marks, shown.left_out
        if shown.surfaces:
            contents = await self._surfaces.look(
                shown.surfaces,
                found,
                view.read.scan,
                shown.clean,
                shown.other,
                shown.reached,
                shown.twins,
                self.text_layers(view.read.scan),
                view.ahead,
            )
            here = tuple(self._memory.with_change(mark) for mark in contents.marks)
            marks, left_out = limit_marks((*view.inside, *here), self.settings.max_marks)
            found = (*found, *here, *contents.elsewhere)
        known = (*found, *self._memory.marks_in_other_surfaces(shown.surfaces, found))
        if view.grid and view.region is not None:
            [number] = self._memory.numbers.assign_keys([grid_key(view.region)])
            marks = (*marks, requested_grid(view.region, number, self._surfaces.letter))
        outside = len(known) - len(view.inside) - len(contents.marks)
        return Targets(marks, known, contents, left_out, outside)

    def _place(self, view: View, shown: ShownPicture, targets: Targets) -> tuple[Mark, ...]:
        """The marks whose number has a place in the picture."""
        plan = shown.plan
        if plan is None:
            before = () if view.region else self._last_drawn
            plan = self._plan(targets.drawn, shown.clean.extent, before)
        return tuple(mark for mark in place.carry_out(plan, shown.clean) if mark.label)

    def _plan(self, marks: Sequence[Mark], extent: Extent, before: Sequence[Mark]) -> place.Plan:
        self._last_plan = place.plan(marks, extent, self._style, before, self._last_plan)
        return self._last_plan

    async def _search_pictures(self, view: View, shown: ShownPicture) -> DrawnSecrets:
        """The hidden values in all that the page draws, and what was not read."""
        pictures = [each for scanned in view.read.scan.frames for each in scanned.answer.pictures]
        if not (self.hides and pictures):
            return DrawnSecrets()
        reader = await self.reader()
        until = time.monotonic() + self.settings.ocr_deadline_s
        return await asyncio.to_thread(
            search_pictures, shown.clean, pictures, reader, until, self.find_hidden, self.secrets()
        )

    def _without_drawn_secrets(self, shown: ShownPicture, targets: Targets, drawn: DrawnSecrets) -> ShownPicture:
        """The picture without hidden values that were read in drawings.

        Only what is shown and recorded lacks them: the pixels of a target are compared whole before a press.
        """
        read = drawn_secrets(targets.contents.texts, self.find_hidden) if self.hides else ()
        boxes = (*read, *drawn.boxes)
        return replace(shown, clean=shown.clean.masked(boxes)) if boxes else shown

    def _zoomed(self, picture: Picture, view: View) -> Picture:
        if view.region is None:
            return picture
        if view.scope is not None and view.scope.is_tile:
            return picture.zoomed(view.region, self.image_limits, most=view.read.scan.main.device_ratio)
        return picture.zoomed(view.region, self.image_limits, _GRID_PX if view.grid else 0)

    async def _other_picture(self, view: View, surfaces: Sequence[Mark], earlier: bytes) -> Picture | None:
        """The page a moment before or after the picture, to detect what is moving in surfaces.

        None if there are none, or the page is at rest. `earlier`: the last picture before this one, encoded, or empty.
        """
        if not surfaces or (view.at_rest and view.pixels.restless is None):
            return None
        png = earlier or await capture(view.page, self.settings.scan_deadline_s)
        return await asyncio.to_thread(Picture.decode, png, view.read.whole, self.image_limits)

    async def _assemble(
        self,
        view: View,
        shown: ShownPicture,
        targets: Targets,
        marks: tuple[Mark, ...],
        rendered: RenderedShots,
        phash: str,
        unread: Sequence[str],
        stages: StageTimes,
    ) -> Observation:
        """The observation; its listing is written while the marked picture is encoded."""
        scan, main, contents = view.read.scan, view.read.scan.main, targets.contents
        earlier, covered = view.read.earlier, _list_covered(scan, marks) if view.scope is None else ()
        change = self._memory.change(targets.known, earlier.marks)
        more = [
            *look_warnings.outside_note(targets.outside, view.region, is_alone=view.scope is not None),
            *filter(None, [targets.left_out]),
            *contents.more,
            *(earlier.note(marks) if view.scope is None else ()),
        ]
        numbers = {mark.number for mark in marks}
        lines = listing(
            marks,
            context_lines(view.read, view.shown, shown.clean, self._memory.find, contents.denied),
            main.scroll,
            covered,
            shown.clean.map,
            more,
            change.gone,
            rows=[row for row in contents.rows if row.mark in numbers],
            right_to_left=main.is_right_to_left,
            lines=self._lines,
        )
        moved = [mark.label_text for mark in targets.known if mark.key in shown.moved]
        warnings = (
            *scan.warnings,
            *contents.warnings,
            *unread,
            *look_warnings.unrest_warnings(view.at_rest, moved),
            *filter(None, [rendered.warning]),
            *self._drawing.warnings(marks, shown.clean),
        )
        marked = await rendered.marked
        stages.end("encode")
        whole = view.read.whole
        return Observation(
            id=_new_id(),
            epoch=self._memory.epoch,
            url=bounded_address(main.url),
            title=main.title,
            status=main.status,
            taken_at=self.clock(),
            viewport=Size(width=round(whole.width), height=round(whole.height)),
            device_ratio=main.device_ratio,
            scroll=main.scroll,
            tabs=shown.tabs,
            frames={each.name: shown_address(each.frame.url) for each in scan.frames if each.name},
            marks=marks,
            out_of_view=earlier.marks,
            listing=lines,
            clean=rendered.clean,
            marked=marked,
            phash=phash,
            region=view.region,
            change=change,
            covered=covered,
            at_rest=view.at_rest,
            answers_form=view.answers_form,
            warnings=warnings,
            timings=stages.seconds,
        )


class _Settled(NamedTuple):
    at_rest: bool
    pixels: PixelStability
    ahead: ShapesAhead | None
    """The shapes in one of its last pictures."""


class _LastLook(NamedTuple):
    """A look at a whole page at rest in which nothing was drawn, and no mark had changed since the one before."""

    png: bytes
    read: ReadScan
    seen: LiveObservation
    masked: frozenset[str]
    """The keys of the fields into which a secret had been typed by then."""


class _Studied(NamedTuple):
    """What the pixels of the picture without marks say."""

    distinct: Distinct
    phash: str


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def _study(clean: Picture, style: Style) -> _Studied:
    return _Studied(distinct_style(clean, style), clean.phash())


def _list_covered(scan: Scan, marks: Sequence[Mark]) -> tuple[Covered, ...]:
    numbers: dict[str | None, int] = {mark.key: mark.number for mark in marks}
    return tuple(
        Covered(count=each.count, blocker=each.words, blocker_mark=numbers.get(each.key))
        for each in sorted(scan.covered, key=lambda each: -each.count)
    )


async def _start_in_thread(work: Callable[..., _T], *details: Any) -> asyncio.Future[_T]:
    """Runs pixel work, which releases the GIL, in a thread alongside the following code.

    The work has started when this returns: a thread that is only scheduled waits 5 ms for the current one.
    """
    loop = asyncio.get_running_loop()
    is_begun = asyncio.Event()

    def begin() -> _T:
        loop.call_soon_threadsafe(is_begun.set)
        return work(*details)

    future = loop.run_in_executor(None, begin)
    await is_begun.wait()
    return future


@asynccontextmanager
async def _begun(work: Coroutine[Any, Any, _T]) -> AsyncIterator[asyncio.Task[_T]]:
    """The work as a task, which does not outlive the block."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _list_tabs(pages: Sequence[Page], active: Page, active_title: str) -> tuple[Tab, ...]:
    listed = []
    for number, page in enumerate(pages, 1):
        title = active_title
        if page is not active:
            try:
                title = await overlay_calls.document.title(page.main_frame, _TITLE_S)
            except (FrameSilent, BrowserUnavailable, PlaywrightError):
                title = "(no answer)"  # it crashed, hangs, or has closed
        listed.append(Tab(number=number, url=bounded_address(page.url), title=title, active=page is active))
    return tuple(listed)

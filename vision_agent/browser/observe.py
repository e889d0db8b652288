"""Looks at a page: waits for rest, finds what can be acted on, takes one picture, and marks it.

`look` is the whole way from a live page to an `Observation`. What must stay alive between looking and acting (frames,
numbers, the decoded clean picture) rides in `Seen` and never enters the data.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.actions import Point
from vision_agent.browser import frames, listeners, overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.density import within_cap
from vision_agent.browser.frames import Scan, Scanned
from vision_agent.browser.listing import listing, reading_order
from vision_agent.browser.numbers import Numbers, Sighting
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.row_context import beside
from vision_agent.browser.settle import settle
from vision_agent.browser.surfaces import Contents, Surfaces, asked_for, grid_key
from vision_agent.browser.tabs import Tabs
from vision_agent.errors import BrowserUnavailable
from vision_agent.settings import ObserveSettings
from vision_agent.types import (
    Box,
    Change,
    Covered,
    Kind,
    Letter,
    Mark,
    MarkState,
    Observation,
    Risk,
    ScrollState,
    Size,
    Tab,
)
from vision_agent.vision import annotate, crowd, place
from vision_agent.vision.contract import Contract
from vision_agent.vision.picture import Extent, Picture
from vision_agent.vision.style import STYLES

_TRIES = 3
"""A page that navigates while it is looked at is looked at again, this often at most."""
_MOVED = 4.0
"""CSS pixels; less is a rounding or a border."""
_TITLE_S = 2.0
_MOST_SAID = 8
_GRID_PX = 640
"""Of the longer edge of a picture with a grid, at least: its cells must have room for their numbers."""

_LETTERS: dict[Kind, Letter] = {
    "field": "I",
    "button": "B",
    "link": "L",
    "surface": "F",
    "toggle": "O",
    "scroller": "M",
    "guess": "M",
}

_Difference = Literal["", "new", "changed", "moved"]
_T = TypeVar("_T")


_LONGEST_ADDRESS = 1000
"""Of a frame: some carry whole documents in it."""


@dataclass(frozen=True)
class Seen:
    """An observation together with what is still alive of it."""

    observation: Observation
    page: Page
    """The tab that was looked at; nothing is sent to another."""
    pages: tuple[Page, ...]
    """The tabs in the order in which the observation numbers them."""
    scan: Scan
    clean: Picture
    masked: tuple[Box, ...] = ()
    """Page boxes that are painted over in it."""
    risks: frozenset[Risk] = frozenset()
    """What is about to be done may do this, so the words beside its target must be what they were."""

    def strictness(self, mark: Mark | None) -> dict[str, bool]:
        """How strictly what stands beside a mark must be as it was, as `row_context.js` says it."""
        in_dialog = mark is not None and mark.in_dialog
        return {"strict": bool(self.risks) or in_dialog, "amounts": "pay" in self.risks or in_dialog}


@dataclass
class Eye:
    """Looks again and again, and keeps numbers and epochs from one look to the next."""

    settings: ObserveSettings
    contract: Contract
    clock: Callable[[], datetime]
    secrets: Callable[[], Sequence[str]] = tuple
    """Values that may stand in no picture and no state, at this moment."""
    _numbers: Numbers = field(default_factory=Numbers)
    _surfaces: Surfaces = field(init=False)
    _token: str = ""
    _epoch: int = 0
    _before: dict[int, Mark] | None = None
    """All marks of the last look at this document, drawn or not."""
    _placed: tuple[Mark, ...] = ()
    """Those drawn in its last picture of the whole: numbers stay where they were."""
    masked_keys: set[str] = field(default_factory=set)
    """Fields into which a secret was typed."""

    def __post_init__(self) -> None:
        self._surfaces = Surfaces(self.settings, self._numbers)
        self._style = STYLES[self.settings.style]

    async def look(self, tabs: Tabs, region: Box | None = None, *, grid: bool = False) -> Seen:
        """What the active tab shows now, or a part of it, enlarged; of a document that has come since, all.

        `grid`: with rows and columns over that part.

        Raises:
            BrowserUnavailable: the browser is gone, or the page hangs and gives nothing within the deadline.
        """
        trouble: Exception | None = None
        named_on = self._epoch
        for attempt in range(_TRIES):
            try:
                here = region if self._epoch == named_on else None
                return await self._look(tabs, here, grid=grid, is_first=attempt == 0)
            except FrameSilent as error:
                trouble = error
                # Playwright tells of a page, and of one in which only a frame has crashed, in the same words.
                if tabs.is_crashed(tabs.active) and not await self._answers(tabs.active):
                    raise BrowserUnavailable("The page crashed", "reload it or open another one") from error
            except BrowserUnavailable as error:
                trouble = error
                if not await tabs.lost_one():
                    raise
        raise BrowserUnavailable(
            f"The page could not be looked at, tried {_TRIES} times: {trouble}", "reload it, or raise scan_deadline_s"
        )

    async def _answers(self, page: Page) -> bool:
        """Whether the page's own document is alive."""
        try:
            await overlay.ask(page.main_frame, "token", self.settings.scan_deadline_s)
        except FrameSilent:
            return False
        return True

    async def hide(self, page: Page) -> None:
        """Takes the marks off the live page, where a person was shown them: they belong in no picture."""
        if self.settings.marks_on_page:
            with suppress(FrameSilent):  # the page that showed them is gone, or hangs, which the next look will say
                await overlay.ask(page.main_frame, "hide", self.settings.action_deadline_s)

    async def _look(self, tabs: Tabs, region: Box | None, *, grid: bool, is_first: bool) -> Seen:
        clock = _Stages()
        await self.hide(tabs.active)
        # What listens is told while the page comes to rest: the scan then only asks for what is new.
        hearing = asyncio.create_task(self._hear(tabs.active))
        try:
            at_rest = await settle(tabs, self.settings.quiet_s, self.settings.rest_deadline_s)
        finally:
            hearing.cancel()
            await asyncio.wait([hearing])
        clock.end("settle")
        page, pages, deadline = tabs.active, tuple(tabs.pages), self.settings.scan_deadline_s
        # At once: Chromium takes its picture two frames after it was asked. What was found is read in the meantime.
        read, raw = await asyncio.gather(self._read(page, deadline), capture(page, deadline))
        clock.end("page")
        scan, whole, found, main = read.scan, read.whole, read.marks, read.scan.frames[0].answer
        region = None if read.is_another else region
        shown = region or whole
        inside = found if region is None else [mark for mark in found if mark.box.intersection(region)]
        capped, left_out = within_cap(inside, self.settings.most_marks)
        surfaces = self._surfaces.among(capped)
        beside = asyncio.gather(
            _moved(scan, deadline), _titled(pages, page, main["title"]), self._surfaces.foresee(surfaces, scan)
        )
        decoding = await _begun(Picture.decode, raw, whole, self.contract)
        is_ahead = region is None and not surfaces
        if is_ahead:
            plan = place.plan(capped, Extent.of_png(raw, whole, self.contract), self._style, self._placed)
        clock.end("plan")
        masked = tuple(shown.box for shown in scan.fields if shown.key in read.secret)
        masked += tuple(mark.box for mark in found if mark.state.masked and mark.state.input_type != "password")
        picture = (await decoding).masked(masked)
        (moved, changed), titles, reached = await beside
        if is_first and at_rest and (moved or changed):
            raise FrameSilent("the page changed while it was looked at")
        clock.end("decode")
        clean = self._closer(picture, region, grid=grid)
        drawn = Contents()
        if surfaces:
            later = None if at_rest else self._closer(await self._later(page, whole, masked), region, grid=grid)
            drawn = await self._surfaces.look(surfaces, found, scan, clean, later, reached)
            here = tuple(self._compared(mark) for mark in drawn.marks)
            capped, left_out = within_cap((*inside, *here), self.settings.most_marks)
            found = (*found, *here, *drawn.elsewhere)
        found = (*found, *self._not_looked_into(surfaces, found))
        if surfaces:
            clock.end("surfaces")
        if grid and region is not None:
            [number] = self._numbers.of([grid_key(region)])
            capped = (*capped, asked_for(region, number, self._surfaces.letter))
        if not is_ahead:
            plan = place.plan(capped, clean.extent, self._style, () if region else self._placed)
        marks = tuple(mark for mark in place.carry_out(plan, clean) if mark.label_box)
        clock.end("place")
        layer = annotate.layer(marks, clean, self._style)
        marked = annotate.draw(clean, layer)
        clock.end("draw")
        encoding = await _begun(marked.encode, self.settings.picture)
        clean_shot = clean.encode("png")
        if self.settings.marks_on_page:
            shows = layer.model_dump(mode="json")
            await overlay.ask(page.main_frame, "show", deadline, layer=shows, box=shown.model_dump())
        viewport = Size(width=round(whole.width), height=round(whole.height))
        scroll, covered = ScrollState(**main["scroll"]), _covered(scan, marks)
        more = [
            *_beside(len(found) - len(inside) - len(drawn.marks), region),
            *([left_out] if left_out else []),
            *drawn.more,
        ]
        change = self._change(found)
        lines = listing(
            marks,
            _context(scan, shown),
            scroll,
            covered,
            clean.map,
            more,
            change.gone,
            rows=[row for row in drawn.rows if row.mark in {mark.number for mark in marks}],
            right_to_left=main["rightToLeft"],
        )
        warnings = [
            *scan.warnings,
            *drawn.warnings,
            *_unrest(at_rest, [mark.label for mark in found if mark.key in moved]),
            *_illegible(marks, clean),
        ]
        marked_shot = await encoding
        clock.end("encode")
        observation = Observation(
            id=uuid.uuid4().hex[:12],
            epoch=self._epoch,
            url=main["url"],
            title=main["title"],
            taken_at=self.clock(),
            viewport=viewport,
            device_ratio=main["deviceRatio"],
            scroll=scroll,
            tabs=titles,
            frames={each.name: each.frame.url[:_LONGEST_ADDRESS] for each in scan.frames if each.name},
            marks=marks,
            listing=lines,
            clean=clean_shot,
            marked=marked_shot,
            phash=clean.phash(),
            region=region,
            change=change,
            covered=covered,
            at_rest=at_rest,
            warnings=tuple(warnings),
            timings=clock.seconds,
        )
        self._before = {mark.number: mark for mark in found}
        if region is None:
            self._placed = marks
        return Seen(observation, page, pages, scan, picture, masked)

    def _not_looked_into(self, surfaces: Sequence[Mark], found: Sequence[Mark]) -> list[Mark]:
        """What was drawn in surfaces that are still there, and were not looked into this time."""
        looked, here = {mark.number for mark in surfaces}, {mark.number for mark in found}
        before = (self._before or {}).values()
        return [mark for mark in before if mark.surface is not None and mark.surface in here - looked]

    def _closer(self, picture: Picture, region: Box | None, *, grid: bool) -> Picture:
        return picture if region is None else picture.zoomed(region, self.contract, _GRID_PX if grid else 0)

    async def _later(self, page: Page, whole: Box, masked: Sequence[Box]) -> Picture:
        """The page a moment later, to tell what goes on moving."""
        raw = await capture(page, self.settings.scan_deadline_s)
        return Picture.decode(raw, whole, self.contract).masked(masked)

    async def _hear(self, page: Page) -> None:
        await listeners.bring(page, self.settings.rest_deadline_s)
        with suppress(PlaywrightError):  # it closes, which the look will say
            await overlay.stand_first(page)

    async def _read(self, page: Page, deadline_s: float) -> _Read:
        """What a scan finds, with numbers.

        Raises:
            FrameSilent: the page gave no answer.
            BrowserUnavailable: the browser is gone.
        """
        scan = await frames.scan(page, deadline_s, self._numbers.last)
        main = scan.frames[0].answer
        is_another = main["token"] != self._token
        if is_another:
            self._token, self._epoch = main["token"], self._epoch + 1
            self._numbers.restart()
            self._surfaces.restart()
            self._before = None
            self._placed = ()
        whole = Box(x=0, y=0, width=main["scroll"]["view_width"], height=main["scroll"]["view_height"])
        secret = self._secret_keys(scan)
        return _Read(scan, whole, self._marks(scan, whole, secret), secret, is_another)

    def _secret_keys(self, scan: Scan) -> set[str]:
        """Of the fields that may be read nowhere: a secret was typed into them, or stands in them."""
        secrets = self.secrets()
        holding = {shown.key for shown in scan.fields if any(secret in shown.value for secret in secrets)}
        return self.masked_keys | holding

    def _marks(self, scan: Scan, whole: Box, secret: set[str]) -> tuple[Mark, ...]:
        raw = [(mark, box) for mark in scan.marks if (box := mark["box"].intersection(whole))]
        leftward = scan.frames[0].answer["rightToLeft"]
        order = reading_order([box for _, box in raw], right_to_left=leftward)
        raw = [raw[index] for index in order]
        numbers = self._numbers.give(
            [Sighting(mark["key"], mark["fingerprint"], mark["points"][0], beside(mark).says) for mark, _ in raw],
            scan.living,
        )
        hidden = [shown.value for shown in scan.fields if shown.key in secret and shown.value] + [*self.secrets()]
        return tuple(self._mark(mark, box, numbers[mark["key"]], secret, hidden) for mark, box in raw)

    def _mark(self, raw: dict[str, Any], box: Box, number: int, secret_keys: set[str], hidden: Sequence[str]) -> Mark:
        state = MarkState(**raw["state"])
        if raw["key"] in secret_keys or (state.value and any(each in state.value for each in self.secrets())):
            state = state.model_copy(update={"value": None, "masked": True})
        words, heading = beside(raw)
        if any(_squeezed(each) in _squeezed(words) for each in hidden):
            words = ""
        mark = Mark(
            number=number,
            letter=_LETTERS[raw["kind"]] if self.settings.ids == "letters" else "",
            tag=raw["tag"],
            role=raw["role"],
            kind=raw["kind"],
            name=raw["name"],
            state=state,
            box=box,
            point=raw["points"][0],
            frame=raw["frame"],
            evidence=tuple(raw["evidence"]),
            fingerprint=raw["fingerprint"],
            context=words,
            heading=heading,
            key=raw["key"],
            in_dialog=raw["inDialog"],
        )
        return self._compared(mark)

    def _compared(self, mark: Mark) -> Mark:
        """The mark with what is different about it since the last look."""
        change = self._difference(mark)
        return mark.model_copy(update={"change": change}) if change else mark

    def _difference(self, mark: Mark) -> _Difference:
        if self._before is None:
            return ""
        old = self._before.get(mark.number)
        if old is None:
            return "new"
        then, now = [(each.name, each.role, each.context, each.heading) for each in (old, mark)]
        if then != now or not _is_same(old.state, mark.state):
            return "changed"
        is_moved = abs(old.box.x - mark.box.x) > _MOVED or abs(old.box.y - mark.box.y) > _MOVED
        return "moved" if is_moved else ""

    def _change(self, marks: Sequence[Mark]) -> Change:
        if self._before is None:
            return Change(navigated=self._epoch > 1)
        here = {mark.number for mark in marks}
        by_kind = {
            kind: tuple(mark.number for mark in marks if mark.change == kind) for kind in ("new", "changed", "moved")
        }
        return Change(
            new=by_kind["new"],
            changed=by_kind["changed"],
            moved=by_kind["moved"],
            gone=tuple(number for number in self._before if number not in here),
        )


@dataclass(frozen=True)
class _Read:
    """What a scan found, and what became of it here."""

    scan: Scan
    whole: Box
    """All that the page shows."""
    marks: tuple[Mark, ...]
    secret: set[str]
    """Keys of fields that may be read nowhere."""
    is_another: bool
    """Whether it is of another document than the last."""


class _Stages:
    """Seconds by stage, since the last stage ended."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def end(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._since, 5)
        self._since = now


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _is_same(old: MarkState, new: MarkState) -> bool:
    """Whether nothing changed; that the pointer or the focus came or went is no change of the page."""
    return old == new or old.model_copy(update={"hovered": new.hovered, "focused": new.focused}) == new


def _context(scan: Scan, whole: Box) -> list[tuple[str, Box]]:
    return [
        (line["text"], Box(x=line["x"], y=line["y"], width=1, height=16))
        for line in scan.context
        if whole.contains(Point(x=line["x"], y=line["y"]))
    ]


def _covered(scan: Scan, marks: Sequence[Mark]) -> tuple[Covered, ...]:
    numbers = {mark.key: mark.number for mark in marks}
    return tuple(
        Covered(count=each["count"], blocker=each["blocker"], blocker_mark=numbers.get(each["key"]))
        for each in sorted(scan.covered, key=lambda each: -int(each["count"]))
    )


async def _moved(scan: Scan, deadline_s: float) -> tuple[set[str], bool]:
    """Keys of what is no longer where the scan saw it, and whether a document has changed since.

    Raises:
        FrameSilent: the page navigated.
    """
    main, *rest = await asyncio.gather(*(_moved_in(each, deadline_s) for each in scan.frames))
    if main is None:
        raise FrameSilent("the page navigated while it was looked at")
    answers = [main, *(each for each in rest if each is not None)]
    return {key for each in answers for key in each["moved"]}, any(each["changed"] for each in answers)


async def _moved_in(scanned: Scanned, deadline_s: float) -> dict[str, Any] | None:
    try:
        answer = await overlay.ask(scanned.frame, "moved", deadline_s)
    except FrameSilent:
        if scanned.parent is None:
            raise
        return None
    return answer if answer["token"] == scanned.token else None


def _beside(others: int, region: Box | None) -> list[str]:
    """Of a closer look: how many are not in it."""
    if region is None:
        return []
    return [f"a closer look at part of the page; {others} marks are outside of it" if others else "a closer look"]


def _illegible(marks: Sequence[Mark], picture: Picture) -> list[str]:
    """Which numbers are not to be trusted in the picture, and where a closer look shows more."""
    said = []
    wrong = crowd.faults(marks, picture)
    if wrong:
        which, those = ", ".join(map(str, wrong[:_MOST_SAID])), "them" if len(wrong) > 1 else "it"
        said.append(
            f"the picture is too crowded at {which}{' and more' if len(wrong) > _MOST_SAID else ''}; zoom to {those}"
        )
    if crowded := crowd.tiles(marks, picture, wrong):
        boxes = [picture.map.box_to_picture(box) for box in crowded[:_MOST_SAID]]
        where = ", ".join(f"({box.x:.0f}, {box.y:.0f}) to ({box.right:.0f}, {box.bottom:.0f})" for box in boxes)
        said.append(f"the picture is crowded; these parts read better by themselves: zoom {where}")
    return said


def _unrest(at_rest: bool, moved: Sequence[str]) -> list[str]:
    said = [] if at_rest else ["the page was not at rest"]
    if moved:
        which = ", ".join(moved[:_MOST_SAID])
        more = f" and {len(moved) - _MOST_SAID} more" if len(moved) > _MOST_SAID else ""
        said.append(f"{which}{more} moved while the picture was taken; look again before pointing at them")
    return said


async def _begun(work: Callable[..., _T], *details: Any) -> asyncio.Future[_T]:
    """Work on pixels, which lets others run, beside what comes next.

    It is under way when this returns: a thread that only stands ready waits 5 ms for what goes on in this one.
    """
    loop = asyncio.get_running_loop()
    is_begun = asyncio.Event()

    def begin() -> _T:
        loop.call_soon_threadsafe(is_begun.set)
        return work(*details)

    future = loop.run_in_executor(None, begin)
    await is_begun.wait()
    return future


async def _titled(pages: Sequence[Page], active: Page, active_title: str) -> tuple[Tab, ...]:
    listed = []
    for number, page in enumerate(pages, 1):
        title = active_title
        if page is not active:
            try:
                title = (await overlay.ask(page.main_frame, "title", _TITLE_S))["title"]
            except (FrameSilent, BrowserUnavailable, PlaywrightError):
                title = "(no answer)"  # it crashed, hangs, or was closed meanwhile
        listed.append(Tab(number=number, url=page.url, title=title, active=page is active))
    return tuple(listed)

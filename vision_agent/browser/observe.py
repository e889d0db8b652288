"""Looks at a page: waits for rest, finds what can be acted on, takes one picture, and marks it.

`look` is the whole way from a live page to an `Observation`. What must stay alive between looking and acting (frames,
numbers, the decoded clean picture) rides in `Seen` and never enters the data.
"""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.browser import frames, overlay
from vision_agent.browser.capture import capture
from vision_agent.browser.frames import Scan
from vision_agent.browser.listing import listing, reading_order
from vision_agent.browser.numbers import Numbers, Sighting
from vision_agent.browser.overlay import FrameSilent
from vision_agent.browser.settle import settle
from vision_agent.browser.tabs import Tabs
from vision_agent.errors import BrowserUnavailable
from vision_agent.settings import ObserveSettings
from vision_agent.types import Box, Change, Covered, Mark, MarkState, Observation, ScrollState, Shot, Size, Tab
from vision_agent.vision import annotate, place
from vision_agent.vision.contract import Contract
from vision_agent.vision.picture import Picture

_TRIES = 3
"""A page that navigates while it is looked at is looked at again, this often at most."""
_MOVED = 4.0
"""CSS pixels; less is a rounding or a border."""
_TITLE_S = 2.0


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


@dataclass
class Eye:
    """Looks again and again, and keeps numbers and epochs from one look to the next."""

    settings: ObserveSettings
    contract: Contract
    clock: Callable[[], datetime]
    secrets: Sequence[str] = ()
    """Values that may stand in no picture and no state."""
    _numbers: Numbers = field(default_factory=Numbers)
    _token: str = ""
    _epoch: int = 0
    _last: Observation | None = None
    masked_keys: set[str] = field(default_factory=set)
    """Fields into which a secret was typed."""

    async def look(self, tabs: Tabs) -> Seen:
        """What the active tab shows now.

        Raises:
            BrowserUnavailable: the browser is gone, or the page hangs and gives nothing within the deadline.
        """
        trouble: Exception | None = None
        for _ in range(_TRIES):
            try:
                return await self._look(tabs)
            except FrameSilent as error:
                trouble = error
                if tabs.is_crashed(tabs.active):
                    break
            except BrowserUnavailable as error:
                trouble = error
                if not await tabs.lost_one():
                    raise
        raise BrowserUnavailable(
            f"The page could not be looked at, tried {_TRIES} times: {trouble}", "reload it, or raise scan_deadline_s"
        )

    async def hide(self, page: Page) -> None:
        """Takes the marks off the live page, where a person was shown them: they belong in no picture."""
        if self.settings.marks_on_page:
            with suppress(FrameSilent):  # the page that showed them is gone, or hangs, which the next look will say
                await overlay.ask(page.main_frame, "hide", self.settings.action_deadline_s)

    async def _look(self, tabs: Tabs) -> Seen:
        clock = _Stages()
        await self.hide(tabs.active)
        at_rest = await settle(tabs, self.settings.quiet_s, self.settings.rest_deadline_s)
        clock.end("settle")
        page, pages, deadline = tabs.active, tuple(tabs.pages), self.settings.scan_deadline_s
        scan = await frames.scan(page, deadline, self._numbers.last)
        clock.end("scan")
        raw = await capture(page, deadline)
        clock.end("capture")
        main = scan.frames[0].answer
        token = (await overlay.ask(page.main_frame, "token", deadline))["token"]
        if token != main["token"]:
            raise FrameSilent("the page navigated while it was looked at")
        viewport = Size(width=main["scroll"]["view_width"], height=main["scroll"]["view_height"])
        whole = Box(x=0, y=0, width=viewport.width, height=viewport.height)
        if token != self._token:
            self._token, self._epoch = token, self._epoch + 1
            self._numbers.restart()
            self._last = None
        secret = self._secret_keys(scan)
        marks = self._marks(scan, whole, secret)
        picture = Picture.decode(raw, whole, self.contract)
        masked = tuple(shown.box for shown in scan.fields if shown.key in secret)
        masked += tuple(mark.box for mark in marks if mark.state.masked and mark.state.input_type != "password")
        picture = picture.masked(masked)
        clock.end("decode")
        marks = place.place(marks, picture)
        clock.end("place")
        layer = annotate.layer(marks, picture).model_dump(mode="json")
        drawn = await overlay.ask(page.main_frame, "draw", deadline, layer=layer)
        marked = picture.over(_data_of(drawn["picture"]))
        clock.end("draw")
        clean_shot, marked_shot = picture.encode("png"), marked.encode(self.settings.picture)
        clock.end("encode")
        if self.settings.marks_on_page:
            await overlay.ask(page.main_frame, "show", deadline, layer=layer, box=whole.model_dump())
        observation = Observation(
            id=uuid.uuid4().hex[:12],
            epoch=self._epoch,
            url=main["url"],
            title=main["title"],
            taken_at=self.clock(),
            viewport=viewport,
            device_ratio=main["deviceRatio"],
            scroll=ScrollState(**main["scroll"]),
            tabs=await _titled(pages, page, main["title"]),
            marks=marks,
            listing="",
            clean=clean_shot,
            marked=marked_shot,
            change=self._change(marks),
            covered=_covered(scan, marks),
            at_rest=at_rest,
            warnings=tuple(scan.warnings if at_rest else [*scan.warnings, "the page was not at rest"]),
            timings=clock.seconds,
        )
        observation = observation.model_copy(update={"listing": _listing(observation, scan, clean_shot)})
        self._last = observation
        return Seen(observation, page, pages, scan, picture, masked)

    def _secret_keys(self, scan: Scan) -> set[str]:
        """Of the fields that may be read nowhere: a secret was typed into them, or stands in them."""
        holding = {shown.key for shown in scan.fields if any(secret in shown.value for secret in self.secrets)}
        return self.masked_keys | holding

    def _marks(self, scan: Scan, whole: Box, secret: set[str]) -> tuple[Mark, ...]:
        raw = [mark for mark in scan.marks if mark["box"].intersection(whole)]
        order = reading_order([mark["box"] for mark in raw])
        raw = [raw[index] for index in order]
        numbers = self._numbers.give(
            [Sighting(mark["key"], mark["fingerprint"], mark["points"][0], mark["rowText"]) for mark in raw],
            scan.living,
        )
        return tuple(self._mark(mark, numbers[mark["key"]], whole, secret) for mark in raw)

    def _mark(self, raw: dict[str, Any], number: int, whole: Box, secret_keys: set[str]) -> Mark:
        state = MarkState(**raw["state"])
        if raw["key"] in secret_keys or any(secret in (state.value or "") for secret in self.secrets):
            state = state.model_copy(update={"value": None, "masked": True})
        mark = Mark(
            number=number,
            tag=raw["tag"],
            role=raw["role"],
            kind=raw["kind"],
            name=raw["name"],
            state=state,
            box=raw["box"].intersection(whole),
            point=raw["points"][0],
            frame=raw["frame"],
            evidence=tuple(raw["evidence"]),
            fingerprint=raw["fingerprint"],
            row=raw["row"],
            key=raw["key"],
        )
        return mark.model_copy(update={"change": self._difference(mark)})

    def _difference(self, mark: Mark) -> str:
        if self._last is None:
            return ""
        old = self._last.mark(mark.number)
        if old is None:
            return "new"
        if (old.name, old.state, old.role, old.row) != (mark.name, mark.state, mark.role, mark.row):
            return "changed"
        is_moved = abs(old.box.x - mark.box.x) > _MOVED or abs(old.box.y - mark.box.y) > _MOVED
        return "moved" if is_moved else ""

    def _change(self, marks: Sequence[Mark]) -> Change:
        if self._last is None:
            return Change(navigated=self._epoch > 1)
        here = {mark.number for mark in marks}
        by_kind = {
            kind: tuple(mark.number for mark in marks if mark.change == kind) for kind in ("new", "changed", "moved")
        }
        return Change(
            new=by_kind["new"],
            changed=by_kind["changed"],
            moved=by_kind["moved"],
            gone=tuple(mark.number for mark in self._last.marks if mark.number not in here),
        )


class _Stages:
    """Seconds by stage, since the last stage ended."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def end(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._since, 5)
        self._since = now


def _listing(observation: Observation, scan: Scan, picture: Shot) -> str:
    viewport = Box(x=0, y=0, width=observation.viewport.width, height=observation.viewport.height)
    context = [
        (line["text"], Box(x=line["x"], y=line["y"], width=1, height=16))
        for line in scan.context
        if viewport.contains(Box(x=line["x"], y=line["y"], width=0, height=0).center)
    ]
    return listing(observation.marks, context, observation.scroll, observation.covered, picture.map)


def _covered(scan: Scan, marks: Sequence[Mark]) -> tuple[Covered, ...]:
    numbers = {mark.key: mark.number for mark in marks}
    return tuple(
        Covered(count=each["count"], blocker=each["blocker"], blocker_mark=numbers.get(each["key"]))
        for each in sorted(scan.covered, key=lambda each: -int(each["count"]))
    )


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


def _data_of(url: str) -> bytes:
    return base64.b64decode(url.split(",", 1)[1])

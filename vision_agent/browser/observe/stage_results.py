"""Results that the stages of one look pass on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from playwright.async_api import Page

from vision_agent.browser.observe.mark_memory import ReadScan
from vision_agent.browser.observe.surfaces import Contents, Reachability
from vision_agent.browser.page.overlay_calls.surface import Twins
from vision_agent.geometry import Box
from vision_agent.observation import Mark, MarkKey, Shot, Tab
from vision_agent.vision.labels.annotate import Layer
from vision_agent.vision.labels.place import Plan
from vision_agent.vision.picture import Picture
from vision_agent.vision.pixel_stability import PixelStability
from vision_agent.vision.surfaces.shapes_ahead import ShapesAhead

_OWN, _WHOLE = 0.5, 0.98
"""The share of a mark that must lie in the shown part for it to belong there."""


@dataclass(frozen=True)
class Scope:
    """That a look is at one thing only: marks beside it, or around it, are left out."""

    key: MarkKey | None = None
    """The key of the mark that is looked at; None for a part of the page."""
    is_tile: bool = False
    """It is a part of a large surface, shown as large as in a plain look, so that the same things are found."""


@dataclass(frozen=True)
class View:
    """What is observed, and the scan of it."""

    page: Page
    pages: tuple[Page, ...]
    read: ReadScan
    at_rest: bool
    pixels: PixelStability
    """The last pictures of the page before, if it draws what its document does not reveal."""
    region: Box | None
    """The part of the page that is shown; None for all of it."""
    grid: bool
    scope: Scope | None
    """Nothing else than that part is listed; None for a plain look or a zoom."""
    ahead: ShapesAhead | None
    """The shapes in the same picture, taken a moment before."""
    answers_form: bool
    """The document is the result of a submitted form."""

    @property
    def shown(self) -> Box:
        """The shown part of the page."""
        return self.region or self.read.whole

    @cached_property
    def inside(self) -> tuple[Mark, ...]:
        """The marks in the shown part."""
        region = self.region
        if region is None:
            return self.read.marks
        shown = (mark for mark in self.read.marks if mark.box.intersection(region))
        scope = self.scope
        if scope is None:
            return tuple(shown)
        return tuple(mark for mark in shown if mark.key == scope.key or _belongs_in(mark, region))


def _belongs_in(mark: Mark, region: Box) -> bool:
    """Whether a mark is one of a part of the page, or a surface in which such marks may be drawn."""
    if mark.kind == "surface":
        return True
    least = _WHOLE if mark.kind == "scroller" else _OWN  # one around the thing is not part of it
    return region.contains(mark.point) and mark.box.share_in(region) >= least


@dataclass(frozen=True)
class ShownPicture:
    """The picture, and what was determined while it was decoded."""

    picture: Picture
    clean: Picture
    """The shown part of the picture, enlarged."""
    masked: tuple[Box, ...]
    marks: tuple[Mark, ...]
    """The elements to mark."""
    left_out: str
    """A note on marks beyond the limit."""
    surfaces: list[Mark]
    """The surfaces to search."""
    other: Picture | None
    """The page a moment before or after, to detect what is moving; None if nothing does, or no surface is searched."""
    reached: Reachability
    twins: Mapping[str, Twins]
    """What the page says about surfaces in words that do not show, by their keys."""
    moved: set[MarkKey]
    """Keys of elements that have moved since the scan."""
    tabs: tuple[Tab, ...]
    plan: Plan | None
    """Places for the numbers; None if they depend on the contents of surfaces."""


@dataclass(frozen=True)
class Targets:
    """The marks, including those drawn in surfaces."""

    drawn: tuple[Mark, ...]
    known: tuple[Mark, ...]
    """All known marks, drawn or not, in the shown part or not."""
    contents: Contents
    left_out: str
    outside: int
    """How many are outside the shown part."""


@dataclass(frozen=True)
class RenderedShots:
    """The two pictures of an observation."""

    clean: Shot
    marked: asyncio.Future[Shot]
    layer: Layer
    """What is drawn on the marked one."""
    warning: str
    """About numbers that the page itself paints; empty if there are none."""


class StageTimes:
    """Seconds that each stage of a look took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def end(self, stage: str) -> None:
        """Ends a stage and starts the next one."""
        now = time.perf_counter()
        self.seconds[stage] = round(now - self._since, 5)
        self._since = now

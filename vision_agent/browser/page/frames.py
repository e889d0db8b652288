"""Scans every frame of a page, and joins the results in page coordinates.

A point in a frame counts only if every parent shows the frame there; marks that a parent's banner covers are counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from vision_agent.browser import cdp
from vision_agent.browser.page import closed_shadow, listeners, overlay_calls
from vision_agent.browser.page.frame_place import FramePlace
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.answer_parts import Obstacle
from vision_agent.browser.page.overlay_calls.scan import (
    ChangesSinceScan,
    ContextLine,
    FilledField,
    FoundMark,
    FrameElement,
    OutOfView,
    ScanAnswer,
)
from vision_agent.browser.page.restyles import Restyles, count_restyles
from vision_agent.observation import MarkKey

_MOST_FRAMES = 60
_LISTEN_SHARE = 0.3
"""Share of the deadline for reporting event listeners."""
_MOST_NESTED = 4
"""Levels of nested closed shadow roots."""
_SPARE_POINTS = 5
"""Click points per mark in a child frame, because a parent may cover the first."""
_LEAST_SEEN = 2
"""CSS pixels each way; a frame that shows less is not scanned."""


@dataclass(frozen=True)
class ScannedFrame:
    """One frame, its scan, and its own element in its parent."""

    frame: Frame
    name: str
    answer: ScanAnswer
    parent: ScannedFrame | None = None
    element: FrameElement | None = None

    @property
    def place(self) -> FramePlace:
        """Where the frame lies on the page."""
        return self.answer.place

    @property
    def token(self) -> str:
        """The token of the frame's document, which its keys begin with."""
        return self.answer.token

    def chain(self) -> list[FrameInParent]:
        """This frame and those around it, outermost first, without the main frame."""
        if self.parent is None or self.element is None:
            return []
        return [*self.parent.chain(), FrameInParent(self, self.parent, self.element)]


@dataclass(frozen=True)
class FrameInParent:
    """A child frame with its parent and its element there."""

    child: ScannedFrame
    parent: ScannedFrame
    element: FrameElement

    @property
    def key(self) -> MarkKey:
        """The key of the frame's element in the parent document."""
        return self.element.key


@dataclass
class Scan:
    """All frames of a page and what was found in them, in page coordinates."""

    known: Sequence[str] = ()
    has_words: bool = False
    """Whether every word that shows was asked for."""
    is_windowless: bool = False
    """Whether the browser has no window, so that no page may keep the pointer."""
    frames: list[ScannedFrame] = field(default_factory=list)
    marks: list[FoundMark] = field(default_factory=list)
    covered: list[Obstacle] = field(default_factory=list)
    context: list[ContextLine] = field(default_factory=list)
    fields: list[FilledField] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    living: set[str] = field(default_factory=set)
    """Known keys whose element is still in its document, in view or not, and those in frames that were not scanned."""
    out_of_view: list[OutOfView] = field(default_factory=list)
    """The known keys whose element is only scrolled out of view, in visible frames."""
    is_partial: bool = False
    """Whether some frames were not scanned."""
    has_opened_roots: bool = False
    """Whether closed shadow roots were opened for it, so that it is later than the first question."""
    opens_roots: bool = False
    """Whether the browser can show closed shadow roots; only Chromium can."""
    restyles: Restyles | None = None
    """How often the page had been styled when the scan began; None if nobody can tell."""
    before: Scan | None = None
    """An earlier scan, whose answers are used again where nothing has changed; None once this one is complete."""

    @property
    def main(self) -> ScanAnswer:
        """The scan of the page's own document."""
        return self.frames[0].answer

    def owner(self, key: str) -> ScannedFrame | None:
        """The frame whose document has this key."""
        return self.frame_with_token(MarkKey(key).document)

    def frame_with_token(self, token: str) -> ScannedFrame | None:
        """The frame whose document has this token."""
        return next((scanned for scanned in self.frames if scanned.token == token), None)

    def scanned(self, frame: Frame) -> ScannedFrame | None:
        """This frame as it was scanned."""
        return next((each for each in self.frames if each.frame is frame), None)

    def found(self, key: str) -> FoundMark | None:
        """The mark with this key; None if the scan did not find it, as for a drawn mark."""
        return next((mark for mark in self.marks if mark.key == key), None)

    def repeats(self, before: Scan) -> bool:
        """Whether nothing has changed in any frame since an earlier scan, and nothing was left out in either."""
        now, then = [[(each.frame, each.answer.id) for each in of.frames] for of in (self, before)]
        is_same = now == then and all(known for _, known in now) and not (self.is_partial or before.is_partial)
        kept = [[of.marks, of.covered, of.out_of_view, of.warnings] for of in (self, before)]
        return is_same and kept[0] == kept[1]

    def keys(self) -> set[str]:
        """The keys of all marks."""
        return {mark.key for mark in self.marks}


async def scan(
    page: Page, deadline_s: float, known: Sequence[str] = (), *, words: bool = False, before: Scan | None = None
) -> Scan:
    """Everything that can be acted on in all visible frames, and which of the known keys are still in their document.

    `words`: also every visible word; `before`: an earlier scan. A frame in which nothing has changed since is not
    scanned again, if the browser can tell that.

    Raises:
        FrameSilent: the main frame did not answer.
        BrowserUnavailable: the browser is gone.
    """
    result, has_opened = await _scan(page, deadline_s, known, words, before), False
    if result.before and not await _still_holds(result, page, deadline_s):
        result = await _scan(page, deadline_s, known, words, None)
    for _ in range(_MOST_NESTED):
        is_news = any(scanned.answer.unopened_roots for scanned in result.frames)
        if not (is_news and await closed_shadow.open_roots(page, _LISTEN_SHARE * deadline_s)):
            break
        result, has_opened = await _scan(page, deadline_s, known, words, None), True
    result.has_opened_roots = has_opened
    result.opens_roots = bool(cdp.open_sessions(page))
    result.before = None
    return result


async def detect_changes(scan: Scan, deadline_s: float) -> list[ChangesSinceScan]:
    """What has changed in each document since the scan; frames that are gone are left out.

    Raises:
        FrameSilent: the page navigated.
    """
    main, *rest = await asyncio.gather(*(_frame_changes(each, deadline_s) for each in scan.frames))
    if main is None:
        raise FrameSilent("the page navigated while it was looked at")
    return [main, *(each for each in rest if each is not None)]


async def _frame_changes(scanned: ScannedFrame, deadline_s: float) -> ChangesSinceScan | None:
    try:
        changes = await overlay_calls.scan.changes_since_scan(scanned.frame, deadline_s, scanned.answer)
    except FrameSilent:
        if scanned.parent is None:
            raise
        return None
    return changes if changes.token == scanned.token else None


async def _scan(page: Page, deadline_s: float, known: Sequence[str], words: bool, before: Scan | None) -> Scan:
    is_complete, restyles = await asyncio.gather(
        listeners.report_listeners(page, _LISTEN_SHARE * deadline_s),
        count_restyles(page, _LISTEN_SHARE * deadline_s),
    )
    before = before if restyles and before and before.restyles else None
    windowless = await cdp.is_windowless(page)
    earlier = before.scanned(page.main_frame) if before else None
    answer = await overlay_calls.scan.scan(
        page.main_frame,
        deadline_s,
        known,
        words=words,
        windowless=windowless,
        before=earlier.answer if earlier else None,
    )
    main = ScannedFrame(page.main_frame, "", answer)
    result = Scan(known, has_words=words, is_windowless=windowless, restyles=restyles, before=before)
    await _add_frame(result, main, deadline_s)
    await _scan_children(result, main, deadline_s)
    if result.is_partial:
        result.living.update(key for key in known if result.owner(key) is None)
    if main.answer.has_crashed_frame:
        result.warnings.append("a frame of the page has crashed, so nothing on the page can be acted on; reload it")
    elif not is_complete:
        result.warnings.append("not all elements with click listeners were found in time; some may not be marked")
    for scanned in result.frames:
        if scanned.answer.is_out_of_budget:
            where = f"frame {scanned.name}" if scanned.name else "the page"
            result.warnings.append(f"{where} has too many elements to test them all; some may not be marked")
        if scanned.answer.failed:
            result.warnings.append(f"{scanned.answer.failed} elements could not be read")
    return result


async def _still_holds(result: Scan, page: Page, deadline_s: float) -> bool:
    """Whether the processes of all frames that were not scanned again have styled nothing since the earlier scan."""
    then = result.before.restyles if result.before else None
    again = [each.frame for each in result.frames if _is_repeated(each, result.before)]
    if not again:
        return True
    now = await count_restyles(page, _LISTEN_SHARE * deadline_s)
    if now is None or then is None:
        return False
    sessions = {cdp.session_of(frame) for frame in again}
    return all(each is not None and now.get(each, -1) == then.get(each, -2) for each in sessions)


def _is_repeated(scanned: ScannedFrame, before: Scan | None) -> bool:
    """Whether the answer of a frame is one of an earlier scan."""
    earlier = before.scanned(scanned.frame) if before else None
    return earlier is not None and bool(scanned.answer.id) and scanned.answer.id == earlier.answer.id


async def _scan_children(result: Scan, parent: ScannedFrame, deadline_s: float) -> None:
    children = parent.frame.child_frames
    names = _frame_names(parent, children)
    found = await asyncio.gather(
        *(_scan_child(result, parent, child, names[child], deadline_s) for child in children[:_MOST_FRAMES])
    )
    if len(children) > _MOST_FRAMES:
        result.warnings.append(f"{len(children) - _MOST_FRAMES} of {len(children)} frames were not scanned")
    result.is_partial |= len(children) > _MOST_FRAMES or None in found
    for child in found:
        if child is not None:
            await _add_frame(result, child, deadline_s)
            await _scan_children(result, child, deadline_s)


async def _scan_child(
    result: Scan, parent: ScannedFrame, frame: Frame, name: str, deadline_s: float
) -> ScannedFrame | None:
    try:
        async with asyncio.timeout(deadline_s):
            key = await overlay_calls.element.frame_key(await frame.frame_element(), deadline_s)
        element = parent.answer.frames.get(key)
        if element is None or element.plane is None:
            return None  # in a hidden part of the parent
        if element.seen.right - element.seen.x < _LEAST_SEEN or element.seen.bottom - element.seen.y < _LEAST_SEEN:
            return None
        place = parent.place.child_place(element.plane)
        earlier = result.before.scanned(frame) if result.before else None
        is_there = earlier is not None and (earlier.element, earlier.name, earlier.place) == (element, name, place)
        answer = await overlay_calls.scan.scan(
            frame,
            deadline_s,
            result.known,
            points=_SPARE_POINTS,
            element=element,
            place=place,
            name=name,
            words=result.has_words,
            windowless=result.is_windowless,
            before=earlier.answer if earlier and is_there else None,
        )
    except (FrameSilent, PlaywrightError, TimeoutError) as error:
        if not frame.is_detached():
            reason = str(error).partition("\n")[0]  # empty for a timeout
            result.warnings.append(f"frame {name} is missing: {reason or 'no answer'}")
        return None
    return ScannedFrame(frame, name, answer, parent, element)


async def _add_frame(result: Scan, scanned: ScannedFrame, deadline_s: float) -> None:
    """Adds the results of a frame, without the marks that its parents cover."""
    answer = scanned.answer
    result.frames.append(scanned)
    result.living.update(answer.living)
    result.out_of_view.extend(answer.out_of_view)
    result.context.extend(answer.context)
    result.fields.extend(answer.fields)
    result.covered.extend(answer.covered)
    marks = await _drop_covered_by_parents(result, scanned, answer.marks, deadline_s)
    result.marks.extend(mark for mark in marks if mark.points)


async def _drop_covered_by_parents(
    result: Scan, scanned: ScannedFrame, marks: Sequence[FoundMark], deadline_s: float
) -> Sequence[FoundMark]:
    """The marks, each with only the points that all parents show, possibly none."""
    for inside in reversed(scanned.chain()):
        if not marks:
            break
        points = [point for mark in marks for point in mark.points]
        local = [inside.parent.place.to_frame(point) for point in points]
        answer = await overlay_calls.element.shows_points(inside.parent.frame, deadline_s, inside.key, local)
        is_shown = dict(zip(points, answer.are_shown, strict=True))
        kept = [mark._replace(points=tuple(point for point in mark.points if is_shown[point])) for mark in marks]
        lost = sum(bool(before.points) and not after.points for before, after in zip(marks, kept, strict=True))
        if lost and answer.obstacles:
            first = max(answer.obstacles, key=lambda obstacle: obstacle.count)
            result.covered.append(replace(first, count=lost))
        marks = kept
    return marks


def _frame_names(parent: ScannedFrame, children: list[Frame]) -> dict[Frame, str]:
    """Names for the listing: a frame's own name if it is a plain and unique word, else its position.

    `pay.2` is the second frame in the frame `pay`.
    """
    own = [frame.name for frame in children]
    inside = f"{parent.name}." if parent.name else ""
    return {
        frame: inside + (frame.name if _is_plain(frame.name) and own.count(frame.name) == 1 else str(place))
        for place, frame in enumerate(children, 1)
    }


def _is_plain(name: str) -> bool:
    return name.isidentifier() and name.isascii() and len(name) <= 24

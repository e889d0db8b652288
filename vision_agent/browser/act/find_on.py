"""Finds words that are drawn on a surface outside its view: pans it in a spiral, and reads each view.

The first turn of the wheel shows how to pan: if it moves all that is shown, the wheel is used; if it zooms, as on a
map, an empty place is dragged, as all such maps allow. If it does neither, the surface is left alone: a drag might draw
on it. No click is sent.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import atan2, hypot

from vision_agent.actions import LONGEST_FIND_S, FindOn, Offset, Point, offset_words
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.pan import must_have_moved_all
from vision_agent.browser.act.surface_view import SurfaceView, surface_of
from vision_agent.browser.locate.location import Location
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.refusal import Refused
from vision_agent.text.escape import safe_line
from vision_agent.vision.ocr import FoundWords, OcrReader, folded
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.content_motion import STILL, ContentMotion, same_content

_MOST_VIEWS = 80
_STEP = 0.7
"""The share of a view between two views: words that are cut off in one are whole in another."""
_PART = 0.7
"""The share of a view by which the content is moved at once: the rest must still show, to be measured."""
_PROBE_PX = 100.0
_EDGE = 0.5
"""Where the content moves less than this share of the distance it moved before, it has an end."""
_ARRIVED = 3.0
_MOST_NAMED = 4
_CORRECTIONS = 4


async def find_on(sender: InputSender, action: FindOn) -> Attempt:
    """Pans a surface until it shows the words, and says where; pans it back if they are nowhere.

    Raises:
        Refused: the mark is no surface, OCR is not installed, the view cannot be moved, or the words were not read.
    """
    surface = surface_of(sender, action.mark)
    reader = await sender.observer.reader()
    if reader is None:
        raise Refused("unsupported", "Words that are drawn cannot be read: install the extra `ocr`.")
    search = _Search(SurfaceView(sender, surface), reader, action.text)
    words, said = mark_words(surface), f'"{safe_line(action.text, 60)}"'
    found = await search.read()
    if not found:
        await search.learn_to_move()
        found = await search.search()
    if found:
        at = search.location(found[0])
        where = " and ".join(search.place(each) for each in found[:_MOST_NAMED])
        return Attempt(f"Found {said} on {words} {where}{search.way}", at, needs_no_effect=True)
    back = await search.return_to_start()
    raise Refused("unknown_mark", f"{said} was not read in {search.views} views of {words}{search.extent}; {back}.")


@dataclass
class _Search:
    """A search of one surface."""

    view: SurfaceView
    reader: OcrReader
    text: str
    views: int = 0
    is_dragged: bool = False
    """By an empty place; otherwise the wheel is turned."""
    wheel_px: Point = field(default_factory=lambda: Point(x=0.0, y=0.0))
    """CSS pixels by which the content moves for each CSS pixel of the wheel."""
    x: float = 0.0
    y: float = 0.0
    """How far the view has moved from its start, in CSS pixels of what it shows."""
    ends: dict[str, float] = field(default_factory=dict)
    """How far the view can go to the left, right, top and bottom, as far as is known."""
    is_cut: bool = False
    """It was given up before all was seen."""
    start: Picture = field(init=False)
    _until: float = field(default_factory=lambda: time.monotonic() + LONGEST_FIND_S)

    def __post_init__(self) -> None:
        self.start = self.view.picture

    # --- reading ------------------------------------------------------------------------------------------------------

    async def read(self) -> list[FoundWords]:
        """The places in view at which the words are read."""
        self.views += 1
        return await asyncio.to_thread(self._read)

    def _read(self) -> list[FoundWords]:
        found = self.reader.find(self.view.picture, self.view.box, self.text)
        find = self.view.sender.observer.find_secrets
        # A line with a secret in it is no answer, or the secret could be guessed letter by letter.
        return [each for each in found if find is None or not find(each.reading.text)]

    def place(self, words: FoundWords) -> str:
        """Where words are, in a sentence."""
        middle = words.box.center
        at = self.view.sender.seen.observation.marked.map.to_picture(middle)
        line = words.reading.text
        exact = f' in "{safe_line(line, 80)}"' if folded(line) != folded(self.text) else ""
        return f"at ({at.x:.0f}, {at.y:.0f}){exact}{' (unsure)' * words.reading.is_unsure}"

    def location(self, words: FoundWords) -> Location:
        """Where words are, for the outcome."""
        return Location(words=self.text, point=words.box.center, rung=4, under=self.view.mark)

    @property
    def way(self) -> str:
        """How far the view was moved, as a clause to append."""
        if hypot(self.x, self.y) < 1:
            return ", which is in view"
        by = offset_words(Offset(right=round(self.x), down=round(self.y)))
        return f", after moving the view {by}; look to act on it"

    @property
    def extent(self) -> str:
        """How much was searched, as a clause to append."""
        return ", which may go on" if self.is_cut else ", all that it shows as it is"

    # --- moving -------------------------------------------------------------------------------------------------------

    async def learn_to_move(self) -> None:
        """Finds out how the view is moved.

        Raises:
            Refused: the wheel neither moves what the surface shows nor makes it larger.
        """
        view, words = self.view, mark_words(self.view.mark)
        middle = await view.middle()
        for across, along in ((0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)):
            moved = await view.turn_wheel(middle, across * _PROBE_PX, along * _PROBE_PX)
            if moved == STILL:
                continue
            if moved is None or moved.is_resized or not moved.is_whole:
                await view.turn_wheel(middle, -across * _PROBE_PX, -along * _PROBE_PX)
                if moved is not None and not moved.is_resized:
                    break
                self.is_dragged = True
                return
            rate = max(abs(moved.right), abs(moved.down)) / _PROBE_PX
            self.wheel_px = Point(x=rate, y=rate)
            self._note(moved)
            return
        raise Refused(
            "unsupported",
            f"The wheel does not move what {words} shows, so it was not searched. Pan it, or use its own controls.",
        )

    async def search(self) -> list[FoundWords]:
        """The places of the words in the first view that shows them; empty if no view does."""
        box = self.view.box
        wide, high = _STEP * box.width, _STEP * box.height
        here = (0, 0)
        ring = 0
        while True:
            ring += 1
            cells = _ring(ring, here)
            reached = False
            for cell in cells:
                if self.views >= _MOST_VIEWS or time.monotonic() > self._until:
                    self.is_cut = True
                    return []
                there = self._within(cell[0] * wide, cell[1] * high)
                if hypot(there.x - cell[0] * wide, there.y - cell[1] * high) > hypot(wide, high) / 2:
                    continue  # beyond an end
                reached = True
                was = self.x, self.y
                await self._go(there)
                here = cell
                if hypot(self.x - was[0], self.y - was[1]) > _ARRIVED and (found := await self.read()):
                    return found
            if not reached:
                return []

    def _within(self, x: float, y: float) -> Point:
        """A place of the view, as far as its content goes."""
        x = min(max(x, self.ends.get("left", x)), self.ends.get("right", x))
        y = min(max(y, self.ends.get("top", y)), self.ends.get("bottom", y))
        return Point(x=x, y=y)

    async def _go(self, there: Point) -> None:
        """Moves the view to a place, or to the end that lies before it: first horizontally, then vertically."""
        for is_across in (True, False):
            while True:
                left = there.x - self.x if is_across else there.y - self.y
                if abs(left) <= _ARRIVED:
                    break
                most = _PART * (self.view.box.width if is_across else self.view.box.height)
                step = max(-most, min(most, left))
                gone = await self._move(step if is_across else 0.0, 0.0 if is_across else step)
                if abs(gone) < _EDGE * abs(step):
                    name = ("right" if step > 0 else "left") if is_across else ("bottom" if step > 0 else "top")
                    self.ends[name] = self.x if is_across else self.y
                    break

    async def _move(self, x: float, y: float) -> float:
        """Moves the view by CSS pixels of what it shows; returns how far it went."""
        was = self.x + self.y
        if self.is_dragged:
            moved = await self.view.drag(-x, -y)
        else:
            middle = await self.view.middle()
            moved = await self.view.turn_wheel(middle, x / self.wheel_px.x, y / self.wheel_px.y)
        if moved is None:
            # So little is drawn where both views overlap that nothing can be recognized: it moved as it did before.
            moved = ContentMotion(-x, -y)
        elif moved != STILL:
            must_have_moved_all(None if moved.is_resized else moved, self.view.mark, "Moving the view")
        self._note(moved)
        return self.x + self.y - was

    def _note(self, moved: ContentMotion) -> None:
        self.x, self.y = self.x - moved.right, self.y - moved.down

    async def return_to_start(self) -> str:
        """Moves the view back; returns where it is now, in words."""
        self._until = time.monotonic() + LONGEST_FIND_S
        self.ends.clear()
        for _ in range(_CORRECTIONS):
            if same_content(self.start, self.view.picture, self.view.box):
                return "it shows again what it showed before"
            off = await self.view.measure(self.start)
            if off is not None and off != STILL and not off.is_resized:
                self.x, self.y = -off.right, -off.down
            if hypot(self.x, self.y) <= _ARRIVED:
                break
            await self._go(Point(x=0.0, y=0.0))
        if same_content(self.start, self.view.picture, self.view.box):
            return "it shows again what it showed before"
        return "it could not be moved back to exactly where it was"


def _ring(distance: int, near: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The cells around the start at a distance, one beside the other, from the one that is nearest to `near`."""
    span = range(-distance, distance + 1)
    cells = [(x, y) for x in span for y in span if max(abs(x), abs(y)) == distance]
    cells.sort(key=lambda cell: atan2(cell[1], cell[0]))
    first = min(range(len(cells)), key=lambda at: (abs(cells[at][0] - near[0]) + abs(cells[at][1] - near[1]), at))
    yield from [*cells[first:], *cells[:first]]

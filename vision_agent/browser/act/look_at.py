"""Decides which part of the page a look at one thing shows, and scrolls to the tile that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from vision_agent.actions import Cell, LookAt, PictureArea, Point, Zoom
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.zoom import zoom_region
from vision_agent.browser.locate.drawn_target import find_cell
from vision_agent.browser.locate.identify import identify
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.observe.stage_results import Scope
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.frames import ScannedFrame
from vision_agent.browser.refusal import Refused
from vision_agent.geometry import Box, Size
from vision_agent.observation import Mark, MarkKey
from vision_agent.vision.image_limits import ImageLimits

_OVERLAP = 20.0
"""CSS pixels that a tile shows of each of its neighbours: what is cut off at its edge is whole in one of them."""
_AROUND = 4.0
"""CSS pixels around a mark."""
_LEAST = 16.0
_MISSING = 0.02
_COARSE, _FINE = 9, 4.0
"""Hit tests each way that find where a surface shows, and CSS pixels between those that find its edges."""


@dataclass(frozen=True)
class Tiles:
    """A box cut into rows and columns."""

    whole: Box
    rows: int
    columns: int

    @property
    def count(self) -> int:
        """How many tiles there are."""
        return self.rows * self.columns

    def tile(self, number: int) -> Box:
        """A tile, counted from 1 in reading order, with its overlap, relative to the corner of the whole."""
        row, column = divmod(number - 1, self.columns)
        wide, high = self.whole.width / self.columns, self.whole.height / self.rows
        box = Box(
            x=column * wide - _OVERLAP, y=row * high - _OVERLAP, width=wide + 2 * _OVERLAP, height=high + 2 * _OVERLAP
        )
        inside = box.intersection(Box(x=0, y=0, width=self.whole.width, height=self.whole.height))
        assert inside is not None
        return inside

    def words(self, number: int) -> str:
        """What a tile is called."""
        row, column = divmod(number - 1, self.columns)
        return f"tile {number} of {self.count} (row {row + 1} of {self.rows}, column {column + 1} of {self.columns})"


def tiles_of(whole: Box, view: Size, image_limits: ImageLimits) -> Tiles:
    """The tiles of a box, each of which the view shows at once, and a picture with a pixel for each CSS pixel."""
    fits = image_limits.fit(view)
    wide, high = (
        max(_LEAST, min(edge, limit) - 2 * _OVERLAP)
        for edge, limit in ((view.width, fits.width), (view.height, fits.height))
    )
    if whole.width <= wide + 2 * _OVERLAP and whole.height <= high + 2 * _OVERLAP:
        return Tiles(whole, 1, 1)
    return Tiles(whole, rows=max(1, ceil(whole.height / high)), columns=max(1, ceil(whole.width / wide)))


async def look_at(sender: InputSender, action: LookAt) -> str:
    """Makes the next look show the target only; returns what it shows in words.

    Raises:
        Refused: there is no such mark, cell, area or tile, or it cannot be brought into view.
    """
    mark = _mark(sender, action)
    if mark is not None and mark.kind == "surface" and mark.source == "dom":
        tile = await _tile(sender, mark, action.tile)
        region, words, is_tile = tile.region, tile.words, tile.of > 1
    else:
        if action.tile != 1:
            raise Refused("unsupported", "Only a surface is looked at in tiles; leave `tile` at 1.")
        region, words = _part(sender, action, mark)
        is_tile = False
    sender.grid = False
    sender.region = region
    key = MarkKey(mark.key) if mark is not None and mark.source == "dom" else None
    sender.scope = Scope(key, is_tile)
    return words


def _mark(sender: InputSender, action: LookAt) -> Mark | None:
    seen = sender.seen.observation
    if isinstance(action.target, PictureArea | Cell):
        return None
    mark = seen.mark(action.target)
    if mark is None:
        raise Refused("unknown_mark", f"There is no mark {action.target} in this observation.")
    return mark


def _part(sender: InputSender, action: LookAt, mark: Mark | None) -> tuple[Box, str]:
    seen, target = sender.seen.observation, action.target
    if isinstance(target, PictureArea):
        return zoom_region(Zoom(target=target.corner, to=target.opposite), seen)
    if isinstance(target, Cell):
        owner, box = find_cell(target, seen)
        words = f"row {target.row} column {target.column} of {mark_words(owner)}"
    else:
        assert mark is not None
        box, words = mark.box, mark_words(mark)
    grown = Box(x=box.x - _AROUND, y=box.y - _AROUND, width=box.width + 2 * _AROUND, height=box.height + 2 * _AROUND)
    region = grown.intersection(sender.seen.clean.page)
    if region is None:
        raise Refused("outside", f"{words} is out of view. Scroll to it, then look.")
    return region, words


class _Tile(NamedTuple):
    region: Box
    words: str
    of: int
    """How many tiles there are."""


async def _tile(sender: InputSender, mark: Mark, number: int) -> _Tile:
    words, view = mark_words(mark), sender.seen.clean.page
    owner, whole = await _whole(sender, mark)
    shown = await _shown(sender, mark, owner, whole)
    if shown is None or whole.share_in(shown) < 1 - _MISSING:
        # What a scroller or the page shows at most is known once its corner is in view.
        await _scroll_to(
            sender, mark, owner, _to_page_box(Box(x=0, y=0, width=view.width, height=view.height), whole), view
        )
        owner, whole = await _whole(sender, mark)
        shown = await _shown(sender, mark, owner, whole)
    if shown is None:
        raise Refused("outside", f"{words} could not be brought into view.")
    size = Size(width=max(1, int(shown.width)), height=max(1, int(shown.height)))
    tiles = tiles_of(whole, size, sender.image_limits)
    if number > tiles.count:
        many = "1 tile" if tiles.count == 1 else f"{tiles.count} tiles"
        raise Refused("unknown_mark", f"{words} has {many}, and no tile {number}.")
    if tiles.count > 1:
        words = f"{tiles.words(number)} of {words}"
    box = _to_page_box(tiles.tile(number), whole)
    if 1 - box.share_in(shown) > _MISSING:
        await _scroll_to(sender, mark, owner, box, shown)
        owner, whole = await _whole(sender, mark)
        box, shown = _to_page_box(tiles.tile(number), whole), await _shown(sender, mark, owner, whole)
    region = box.intersection(shown) if shown is not None else None
    if region is None or min(region.width, region.height) < _LEAST / 2:
        raise Refused("outside", f"{words} could not be brought into view.")
    said = f"what is in view of {words}" if 1 - box.share_in(region) > _MISSING else words
    return _Tile(region, said, tiles.count)


async def _whole(sender: InputSender, mark: Mark) -> tuple[ScannedFrame, Box]:
    """The frame of a surface, and all of the surface in page coordinates, in view or not."""
    owner, element = await identify(mark, sender.seen, sender.deadline_s)
    return owner, owner.place.box_to_page(element.rect)


async def _shown(sender: InputSender, mark: Mark, owner: ScannedFrame, whole: Box) -> Box | None:
    """The part of a surface that shows, as far as hit tests tell; None if none does."""
    inside = whole.intersection(sender.seen.clean.page)
    if inside is None:
        return None

    async def shown(points: Sequence[Point]) -> list[Point]:
        asked = [owner.place.to_frame(each) for each in points]
        told = await overlay_calls.element.shows_points(owner.frame, sender.deadline_s, mark.key, asked)
        return [each for each, is_shown in zip(points, told.are_shown, strict=True) if is_shown]

    xs, ys = _spread(inside.x, inside.right, _COARSE), _spread(inside.y, inside.bottom, _COARSE)
    found = await shown([Point(x=x, y=y) for x in xs for y in ys])
    if not found:
        return None
    middle = sorted(found, key=lambda each: (each.x, each.y))[len(found) // 2]
    across = await shown([Point(x=x, y=middle.y) for x in _spread(inside.x, inside.right, int(inside.width / _FINE))])
    along = await shown([Point(x=middle.x, y=y) for y in _spread(inside.y, inside.bottom, int(inside.height / _FINE))])
    left, right = (round(edge(each.x for each in [*across, middle])) for edge in (min, max))
    top, bottom = (round(edge(each.y for each in [*along, middle])) for edge in (min, max))
    box = Box(x=left - _FINE / 2, y=top - _FINE / 2, width=right - left + _FINE, height=bottom - top + _FINE)
    return box.intersection(inside)


def _spread(start: float, end: float, count: int) -> list[float]:
    """The middles of so many equal parts."""
    count = max(1, count)
    return [start + (end - start) * (at + 0.5) / count for at in range(count)]


def _to_page_box(part: Box, whole: Box) -> Box:
    """A part of a whole in page coordinates, given the part relative to the corner of the whole."""
    return Box(x=whole.x + part.x, y=whole.y + part.y, width=part.width, height=part.height)


async def _scroll_to(sender: InputSender, mark: Mark, owner: ScannedFrame, box: Box, view: Box) -> None:
    """Scrolls what is around a surface until a part of it is in view: first the nearest scroller, then the page."""
    for frame, key in ((owner.frame, mark.key), (owner.frame, None), (sender.page.main_frame, None)):
        by = Point(
            x=_scroll_needed(box.x, box.right, view.x, view.right),
            y=_scroll_needed(box.y, box.bottom, view.y, view.bottom),
        )
        if not (by.x or by.y):
            return
        moved = await overlay_calls.scrolling.scroll(frame, sender.deadline_s, key, x=by.x, y=by.y, in_pixels=True)
        if moved is None:
            raise Refused("gone", f"{mark_words(mark)} is no longer on the page.")
        box = Box(x=box.x - moved.moved_x, y=box.y - moved.moved_y, width=box.width, height=box.height)


def _scroll_needed(start: float, end: float, view_start: float, view_end: float) -> float:
    """How far to scroll in one direction until an interval is in view; its start, if it is longer than the view."""
    if start < view_start or end - start > view_end - view_start:
        return start - view_start
    return max(0.0, end - view_end)

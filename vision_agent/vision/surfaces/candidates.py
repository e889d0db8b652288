"""Proposes targets in a drawn surface from its pixels alone: shapes, text, and grids of similar cells.

It knows no page: the caller says where the surface is in the picture. Each proposal is a guess with a confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.geometry import Box, PageMap
from vision_agent.observation import Grid
from vision_agent.vision.picture import Picture, Pixels, pixels_of
from vision_agent.vision.rects import Bools, Floats, Group, Ints, common_area, group_medians, rect_areas, rect_sums
from vision_agent.vision.surfaces.assembly import with_parts
from vision_agent.vision.surfaces.cards import find_cards
from vision_agent.vision.surfaces.closed_outlines import find_closed_outlines
from vision_agent.vision.surfaces.grid_detection import Cells, find_cells
from vision_agent.vision.surfaces.hollow_letters import find_hollow_letters
from vision_agent.vision.surfaces.large_letters import find_large_words
from vision_agent.vision.surfaces.outlined_shapes import with_outlines
from vision_agent.vision.surfaces.outlines import find_outlines
from vision_agent.vision.surfaces.regions import (
    LEAST_PX,
    Patches,
    background_colour,
    coarse_patches,
    find_edges,
    fine_patches,
)
from vision_agent.vision.surfaces.shapes import Part, Shape, Shapes
from vision_agent.vision.surfaces.signs import with_signs
from vision_agent.vision.surfaces.solids import are_shades, with_solids
from vision_agent.vision.surfaces.text_layer import LaidText
from vision_agent.vision.surfaces.text_lines import TALLEST_PX, find_lines
from vision_agent.vision.surfaces.unread_ink import small_ink

Stroke = Literal["", "solid", "dashed"]
_STROKES: tuple[Stroke, ...] = ("", "solid", "dashed")

MOST = 40
"""The most proposals and grids that a person and a model can still tell apart in one surface."""

_APART = 1.5
"""The gap between separate names on one line, in line heights."""
_MOST_LINES = 4
"""The most lines of text in a single target; a shape with more is a panel."""
_MOST_NESTED = 3
"""A shape with this many shapes inside, such as a bar of buttons, is not a target itself."""
_LAND = 0.78
"""The share of its rectangle below which a shape is no panel; a disc has 0.785."""
_WHOLE, _SAME_COLOUR = 0.72, 8
_BAR_PX, _BAR_LONG = 9, 3
"""How wide a bar on a disc may be, and how many times longer it is at least: it is a detail, as a mast on a boat."""
_DISC = (0.72, 0.86)
"""The share of its rectangle that a disc fills."""
_ON_CELLS = 0.3
_CUT_PX = 1
_BESIDE = 1.0
"""The largest distance between a grid and its row or column headings, in cells."""
_MOST_OF = 0.6
_FILLS = 0.4
"""The share of the surface that a grid must cover to be its main content: a board has names, clocks and buttons around
its squares."""
_STRAIGHT_PX = 3
_BAR_SOLID = 0.9
_ALIKE = 0.5
"""The common share of two rectangles that are the same target, such as the rim and the face of a button."""
_INSIDE = 0.9
_AS_LARGE = 0.8
"""The least common share of an outline and the dashes around it."""
_AS_HIGH = 1.4
"""How many times as high as a part of it a line of large letters may be."""

# Terms of the confidence, 0 to 1: higher for solid shapes of the size of a control, and for those with text.
_ANY, _IS_SOLID, _HAS_WORDS, _WORDS_ALONE, _WORDS_APART = 0.35, 0.3, 0.25, 0.4, 0.7
_IS_GROUND = -0.3
"""The penalty for a shape in the background colour without text: probably background enclosed by lines."""
_SIZE_PX = (16, 160)
_IS_CARD, _IS_CLOSED, _IS_DASHED = 0.9, 0.7, 0.65
"""The confidence in a card, in a closed outline, and in a dashed one."""
_LARGE = 0.2
"""What the size of a shape counts when there are too many."""
_CHANGED, _LEAST_CHANGED, _MOST_CHANGED = 12, 0.05, 0.4
"""The levels by which a pixel must differ, the share of a shape that makes it changed, and of the surface that makes
the change one of everything."""
_LETTER = 0.7
"""The share of its rectangle below which something small in a line of text is a part of a letter; a port beside its
name fills more."""
_ON_LINE_PX = 7.0
"""How far from a dashed line its dashes may be."""
_LETTER_HIGH, _TEXT_WIDE, _TEXT_INK = 10, 2, 0.34
"""The least height of a text that cannot be dashes, how many times wider it is at least, and its least share of ink:
the thinnest letters have 0.35, dashes at most 0.31."""


@dataclass(frozen=True)
class Proposal:
    """Something drawn that looks like a target, in page coordinates."""

    box: Box
    point: Point
    """A point inside the drawn shape."""
    shape: Shape
    confidence: float
    lines: tuple[Box, ...] = ()
    """The boxes of the lines of text in it, and of other ink."""
    stroke: Stroke = ""
    """Whether it is drawn as a closed outline, filled or not."""
    part: Part = ""
    """What it is by how it is put together."""
    ends: tuple[int, ...] = ()
    """For an edge: the indexes of the two proposals that it connects, if both are among them."""
    is_selected: bool = False
    """Whether handles frame it."""


@dataclass(frozen=True)
class Lattice:
    """A grid of similar cells, which becomes one mark, in page coordinates."""

    box: Box
    grid: Grid


@dataclass(frozen=True)
class SurfaceProposals:
    """The proposals for one surface."""

    proposals: tuple[Proposal, ...] = ()
    """The proposals, best first."""
    lattices: tuple[Lattice, ...] = ()
    left_out: int = 0
    """The number of proposals beyond the limit."""
    lines: tuple[Box, ...] = ()
    """The boxes of all lines of text, inside and outside the proposals, and of smaller ink in cells and boxes."""
    doubtful: frozenset[Box] = frozenset()
    """Those that may lack a sign or digit in front of them."""
    known: Mapping[Box, str] = field(default_factory=dict)
    """Those whose text need not be read, because the page says it."""


KnownShapes = Callable[[Pixels], Shapes | None]
"""The shapes in these pixels where nothing is written; None if they are not known."""


def propose(
    picture: Picture,
    surface: Box,
    most: int = MOST,
    before: Pixels | None = None,
    laid: Sequence[LaidText] = (),
    known: KnownShapes | None = None,
) -> SurfaceProposals:
    """Proposes targets in a surface, given as a page box; none if the picture does not show it.

    `most` limits the number of proposals and grids together; the largest shapes stay, and what looks other than in
    `before`, the same part a moment earlier. What is written there by `laid`, the surface's text layer, is no target,
    and no letter of it is a shape. `known`: the shapes, if they were searched before.
    """
    inside = picture.page.intersection(surface)
    if inside is None:
        return SurfaceProposals()
    part = picture.crop(inside)
    if min(part.size.width, part.size.height) < LEAST_PX:
        return SurfaceProposals()
    texts = [(rect, each.text) for each in laid if (rect := _rect_in(part, each.box)) is not None]
    written = np.array([rect for rect, _ in texts], np.int32).reshape(-1, 4)
    pixels = pixels_of(part)
    searched = known(pixels) if known and not texts else None
    found = find_shapes(pixels, written) if searched is None else searched
    found = found.take(np.flatnonzero(~_are_only_written(found, written)))
    lattices = found.lattices[:most]
    room = max(0, most - len(lattices))
    order = np.argsort(-_ranks(found, changed_in(part, before)), kind="stable")
    found = found.take(order[:room])
    lines = _boxes(found.lines, part.map)
    proposals = (
        Proposal(
            box=box,
            point=part.map.to_page(Point(x=x + 0.5, y=y + 0.5)),
            shape=found.shapes[at],
            confidence=round(float(found.scores[at]), 2),
            lines=tuple(lines[each] for each in np.flatnonzero(found.says[at]).tolist()),
            stroke=_STROKES[int(found.outlined[at])],
            part=found.parts[at],
            ends=found.ends.get(at, ()),
            is_selected=at in found.selected,
        )
        for at, (box, (x, y)) in enumerate(zip(_boxes(found.rects, part.map), found.points.tolist(), strict=True))
    )
    return SurfaceProposals(
        tuple(proposals),
        tuple(_lattice(cells, found.cells, part.map) for cells in lattices),
        max(0, len(order) - room),
        lines,
        frozenset(_boxes(found.doubtful, part.map)),
        dict(zip(_boxes(written, part.map), (text for _, text in texts), strict=True)),
    )


def _rect_in(part: Picture, box: Box) -> tuple[int, int, int, int] | None:
    """The pixels of a part of a picture that show a page box."""
    inside = part.page.intersection(box)
    if inside is None:
        return None
    at = part.map.box_to_picture(inside)
    x, y, right, bottom = round(at.x), round(at.y), round(at.right), round(at.bottom)
    return (x, y, right, bottom) if right > x and bottom > y else None


def _are_only_written(found: Shapes, written: Ints) -> Bools:
    """Which shapes are nothing but text that the page says."""
    is_written = (found.lines[:, None] == written[None]).all(axis=2).any(axis=1)
    is_words = np.array([shape == "words" for shape in found.shapes], bool)
    return np.asarray(is_words & (found.says & is_written[None]).any(axis=1))


def changed_in(part: Picture, before: Pixels | None) -> Ints | None:
    """The number of pixels that changed above and left of each, for `rect_sums`; None if nothing can be compared."""
    pixels = pixels_of(part)
    if before is None or before.shape != pixels.shape:
        return None
    differs = cv2.absdiff(pixels, before).max(axis=2) > _CHANGED
    return np.asarray(cv2.integral(differs.astype(np.uint8)), np.int32)


def _ranks(found: Shapes, changed: Ints | None) -> Floats:
    """Which shapes stay when there are too many: those that changed first, then the likely and the large ones."""
    sizes = np.sqrt(rect_areas(found.rects).astype(np.float32))
    is_thing = np.array([shape != "words" for shape in found.shapes], bool) & (found.scores > _ANY + _IS_SOLID / 2)
    ranks = found.scores + np.where(is_thing, _LARGE * np.minimum(1, sizes / _SIZE_PX[1]), 0).astype(np.float32)
    if changed is not None and len(ranks):
        limits = np.array(changed.shape[::-1] * 2, np.int32) - 1
        share = rect_sums(changed, found.rects.clip(0, limits)) / np.maximum(1, rect_areas(found.rects))
        # Not where all of it changed, as after scrolling.
        if changed[-1, -1] < _MOST_CHANGED * changed.size:
            ranks = ranks + (share > _LEAST_CHANGED).astype(np.float32)
    return np.asarray(ranks, np.float32)


def find_shapes(pixels: Pixels, written: Ints) -> Shapes:
    """The shapes in a picture; `written` are the rectangles of lines of text that are known."""
    edges, ground = find_edges(pixels), background_colour(pixels)
    inked = np.asarray(cv2.integral(edges >> 7), np.int32)
    islands, areas = find_outlines(edges, around=255, least_rows=LEAST_PX)
    patches = fine_patches(areas, edges, pixels, ground)
    patches = with_solids(patches.take(np.flatnonzero(~_are_in(patches.rects, written))), edges, pixels)
    hollow, is_hole = find_hollow_letters(islands.rects, patches, pixels)
    patches = patches.take(np.flatnonzero(~is_hole))
    lines = find_lines(islands.rects, patches.rects)
    large = find_large_words(islands.rects, pixels, ground)
    if len(written):
        lines = np.concatenate([lines[~_are_in(lines, written)], written])
        large = large[~_are_in(large, written)]
    # Large letters with gaps as between small ones are found as both.
    high = large[:, 3] - large[:, 1]
    is_line = common_area(large[:, None], lines[None]) >= _INSIDE * rect_areas(large)[:, None]
    is_line &= (lines[:, 3] - lines[:, 1])[None] <= _AS_HIGH * high[:, None]
    large = large[~is_line.any(axis=1)]
    is_in_large = (common_area(lines[:, None], large[None]) >= _INSIDE * rect_areas(lines)[:, None]).any(axis=1)
    lines = np.concatenate([lines[~is_in_large], large])
    # Those that are known have their signs.
    lines, doubtful = (lines, lines[:0]) if len(written) else with_signs(lines, edges, inked, pixels)
    lattices = find_cells(patches.rects)
    if not any(_fills(patches.rects[each.members], pixels) for each in lattices):
        coarse = coarse_patches(pixels, ground)
        coarse = coarse.take(np.flatnonzero(~_are_pieces(coarse, patches, pixels)))
        lattices += [each.shift(len(patches.rects)) for each in find_cells(coarse.rects)]
        patches = patches.join(coarse)
    # Lines cut by the edge of the surface are not text; the rounded corners of a panel, for example, look like them.
    is_cut = (lines[:, :2] <= _CUT_PX).any(axis=1)
    is_cut |= (lines[:, 2:] >= np.array(pixels.shape[1::-1]) - _CUT_PX).any(axis=1)
    lines = lines[~is_cut]
    lattices = [each for each in _largest_lattices(lattices, patches.rects) if not _has_bars(patches, each)]
    for each in lattices:
        patches.rects[each.members] = _align(patches.rects[each.members], each)
    outlines = find_closed_outlines(pixels, ground)
    lines = lines[~_are_dashes_around(lines, outlines.rects)]
    outlines = outlines.take(np.flatnonzero(~_are_in_letters(outlines.rects, lines, hollow)))
    is_cell = np.zeros(len(patches.rects), bool)
    is_cell[np.concatenate([np.empty(0, np.int64), *(each.members for each in lattices)])] = True
    is_on = outlines.are_on((lines[:, :2] + lines[:, 2:]) // 2, _ON_LINE_PX)
    is_text = _are_letters_in(lines, outlines.strokes)
    outlines = outlines.take(np.flatnonzero(~outlines.are_along(lines[is_on & is_text])))
    lines = lines[~is_on | is_text]
    outlines = outlines.take(np.flatnonzero(~_are_in(outlines.rects, written)))
    patches, kept = with_outlines(patches, outlines, is_cell, lines, pixels)
    lattices = [replace(each, members=np.searchsorted(kept, each.members)) for each in lattices]
    found = with_parts(_select_targets(patches, lattices, lines, large), outlines.strokes)
    return _with_small_ink(replace(found, doubtful=doubtful), pixels, inked)


def _are_pieces(coarse: Patches, fine: Patches, pixels: Pixels) -> Bools:
    """Which coarse patches are a piece of a fine one, of a shade of its colour, which is whole there."""
    sizes, whole = rect_areas(coarse.rects), rect_areas(fine.rects)
    is_in = common_area(coarse.rects[:, None], fine.rects[None]) >= _INSIDE * sizes[:, None]
    is_in &= (sizes[:, None] < _INSIDE * whole[None]) & (fine.solid >= _WHOLE)[None] & ~fine.is_ground[None]
    limits = np.array(pixels.shape[1::-1], np.int32) - 1
    own, other = (pixels[tuple(each.points.clip(0, limits).T[::-1])][None] for each in (coarse, fine))
    apart = np.abs(own[0][:, None].astype(np.int16) - other[0][None].astype(np.int16)).max(axis=2, initial=0)
    is_same = apart <= _SAME_COLOUR
    # In a box of its colour it may be another box, drawn as an outline.
    is_own = np.where(is_same, _have_no_corners(fine, pixels)[None], are_shades(own, other))
    return np.asarray((is_in & is_own).any(axis=1))


def _have_no_corners(patches: Patches, pixels: Pixels) -> Bools:
    """Whether the corners of a patch's rectangle have another colour than it, as those around a disc."""
    left, top, right, bottom = (patches.rects + np.array([1, 1, -2, -2], np.int32)).T
    x, y = patches.points.T
    limits = np.array(pixels.shape, np.int32) - 1

    def colours(x: Ints, y: Ints) -> Ints:
        return np.asarray(pixels[y.clip(0, limits[0]), x.clip(0, limits[1])], np.int32)

    own = colours(x, y)
    corners = ((left, top), (right, top), (left, bottom), (right, bottom))
    return np.asarray(
        np.all([np.abs(colours(*at) - own).max(axis=1, initial=0) > _SAME_COLOUR for at in corners], axis=0)
    )


def _are_letters_in(lines: Ints, strokes: Pixels) -> Bools:
    """Which lines have as much ink as letters side by side, and more than the dashes of a stroke."""
    wide, high = (lines[:, 2:] - lines[:, :2]).T
    table = np.asarray(cv2.integral((strokes > 0).astype(np.uint8)), np.int32)
    limits = np.array(strokes.shape[1::-1] * 2, np.int32)
    ink = rect_sums(table, lines.clip(0, limits)) / np.maximum(1, rect_areas(lines))
    return np.asarray((high >= _LETTER_HIGH) & (wide >= _TEXT_WIDE * high) & (ink >= _TEXT_INK))


def _are_dashes_around(lines: Ints, outlines: Ints) -> Bools:
    """Which lines are the dashes around an outline, which was found: they are as large, and too high for a text."""
    common = common_area(lines[:, None], outlines[None])
    is_alike = common >= _AS_LARGE * (rect_areas(lines)[:, None] + rect_areas(outlines)[None] - common)
    return np.asarray((lines[:, 3] - lines[:, 1] > TALLEST_PX) & is_alike.any(axis=1))


def _are_in_letters(rects: Ints, lines: Ints, letters: Ints) -> Bools:
    """Which rectangles are those of letters, or lie in a line of text and are much shorter."""
    is_in = common_area(rects[:, None], lines[None]) >= _INSIDE * rect_areas(rects)[:, None]
    wide, long = rects[:, 2] - rects[:, 0], lines[:, 2] - lines[:, 0]
    return np.asarray((is_in & (2 * wide[:, None] <= long[None])).any(axis=1)) | _are_in(rects, letters)


def _are_in(rects: Ints, written: Ints) -> Bools:
    """Which rectangles lie in text that is known."""
    common = common_area(rects[:, None], written[None]).sum(axis=1)
    return np.asarray(common >= _INSIDE * rect_areas(rects)) if len(written) else np.zeros(len(rects), bool)


def _with_small_ink(found: Shapes, pixels: Pixels, inked: Ints) -> Shapes:
    """The shapes with the ink that was not taken for text: it is to be read, or at least not to pass for nothing."""
    cells = np.concatenate([np.empty(0, np.int64), *(each.members for each in found.lattices)])
    boxes = found.rects[[at for at, shape in enumerate(found.shapes) if shape == "box"]]
    ink = small_ink(pixels, inked, np.concatenate([found.cells[cells], boxes]), found.lines)
    if not len(ink):
        return found
    says = np.concatenate([found.says, _contains(found.rects, ink)], axis=1)
    return replace(found, lines=np.concatenate([found.lines, ink]), says=says)


def _fills(cells: Ints, pixels: Pixels) -> bool:
    """Whether a grid is the main content of the surface, so that coarse patches need not be searched."""
    return bool(rect_areas(_around(cells)) > _FILLS * pixels.shape[0] * pixels.shape[1])


def _largest_lattices(lattices: list[Cells], rects: Ints) -> list[Cells]:
    """The grids that do not overlap a grid with more cells."""
    kept: list[Cells] = []
    for each in sorted(lattices, key=lambda each: -len(each.members)):
        around = _around(rects[each.members])
        if not any(common_area(around, _around(rects[other.members])) > 0 for other in kept):
            kept.append(each)
    return kept


def _has_bars(patches: Patches, cells: Cells) -> bool:
    """Whether bars lie on a grid, which are the rules of a chart then."""
    rects = patches.rects
    others = np.ones(len(rects), bool)
    others[cells.members] = False
    size = float(np.median(rect_areas(rects[cells.members])))
    around = _around(rects[cells.members])
    others &= ~patches.is_ground & (patches.solid >= _BAR_SOLID) & (rect_areas(rects) >= size)
    others &= common_area(rects, around[None]) >= _INSIDE * rect_areas(rects)
    bars = rects[others]
    sides = bars[:, 2:] - bars[:, :2]
    for base, across in ((0, 1), (3, 0)):
        is_alike = np.abs(bars[:, None, base] - bars[None, :, base]) <= _STRAIGHT_PX
        is_alike &= np.abs(sides[:, None, across] - sides[None, :, across]) <= _STRAIGHT_PX
        is_alike &= np.abs(sides[:, None, 1 - across] - sides[None, :, 1 - across]) > _STRAIGHT_PX
        if is_alike.sum(axis=1).max(initial=0) >= _MOST_NESTED - 1:
            return True
    return False


def _select_targets(patches: Patches, lattices: list[Cells], lines: Ints, large: Ints) -> Shapes:
    """The patches, grids and lines that are targets of their own; `large` are the lines of large letters."""
    rects = patches.rects
    cells = np.concatenate([np.empty(0, np.int64), *(each.members for each in lattices)])
    is_cell = np.zeros(len(rects), bool)
    is_cell[cells] = True
    others = np.flatnonzero(~is_cell)
    at = rects[others]
    inside = _contains(at, lines)
    many = inside.sum(axis=1)
    # What is no box is no panel, however much is on it: the land of a map.
    is_land = (patches.solid[others] < _LAND) & ~patches.is_ground[others] & ~patches.is_open[others]
    is_thing: Bools = (many <= _MOST_LINES) & ((_contains(at, rects).sum(axis=1) < _MOST_NESTED) | is_land)
    is_thing |= patches.outlined[others] > 0
    may_be_letter = (patches.solid[others] < _LETTER) | patches.is_open[others]
    is_thing &= ~(_are_letters(at, lines) & (may_be_letter | patches.is_ground[others]))
    is_thing &= ~_are_letters(at, large)
    if lattices:
        # A patch in a cell is the cell's content, and a patch over several cells is part of their background.
        is_thing &= common_area(at[:, None], rects[cells][None]).sum(axis=1) <= _ON_CELLS * rect_areas(at)
    is_thing &= ~_is_face(at, is_thing)
    is_thing &= ~_are_bars_on_discs(at, patches.solid[others], is_thing)
    cards = find_cards(at, lines, ~_is_face(at, np.ones(len(at), bool)))
    is_thing[cards.titles] = is_thing[cards.bodies] = False
    title = inside[cards.titles]
    things, inside, many = others[is_thing], inside[is_thing], many[is_thing]
    is_apart = _are_apart(lines, inside, rect_areas(rects[things]))
    is_free = (is_apart | ~inside.any(axis=0)) & ~title.any(axis=0) & ~_are_in_cells(lines, rects[cells])
    for each in lattices:
        is_free &= ~_are_headings(lines, rects[each.members], each)
    free = lines[is_free]
    words = np.where(is_apart[is_free], _WORDS_APART, _WORDS_ALONE).astype(np.float32)
    # A card is pressed on its title: on its body something else may be.
    bars = at[cards.titles]
    none = np.zeros(len(bars) + len(free), np.uint8)
    more: list[Shape] = [*["box"] * len(bars), *["words"] * len(free)]  # type: ignore[list-item]
    parts: list[Part] = [*[""] * len(things), *["node"] * len(bars), *[""] * len(free)]  # type: ignore[list-item]
    return Shapes(
        rects=np.concatenate([_with_rim(rects[things]), _with_rim(cards.rects), free]),
        points=np.concatenate([patches.points[things], *((each[:, :2] + each[:, 2:]) // 2 for each in (bars, free))]),
        shapes=_classify_shapes(patches, things) + more,
        outlined=np.concatenate([patches.outlined[things], none]),
        scores=np.concatenate([_scores(patches, things, many), np.full(len(bars), _IS_CARD, np.float32), words]),
        says=np.concatenate([inside, title, np.eye(len(lines), dtype=bool)[is_free]]),
        lattices=lattices,
        cells=rects,
        lines=lines,
        parts=parts,
    )


def _are_letters(rects: Ints, lines: Ints) -> Bools:
    """Which rectangles are in a line of text, and clearly smaller."""
    wide, high = (rects[:, 2:] - rects[:, :2]).T[..., None]
    longer, taller = (lines[:, 2:] - lines[:, :2]).T
    is_in = common_area(rects[:, None], lines[None]) >= _INSIDE * rect_areas(rects)[:, None]
    return np.asarray((is_in & (high <= taller + 4) & (2 * wide <= longer)).any(axis=1))


def _contains(outer: Ints, inner: Ints) -> Bools:
    """Whether each outer rectangle contains each inner one, which must be clearly smaller."""
    common = common_area(outer[:, None], inner[None])
    sizes = rect_areas(inner)[None]
    return np.asarray((common >= _INSIDE * sizes) & (sizes < _INSIDE * rect_areas(outer)[:, None]))


def _is_face(rects: Ints, among: Bools) -> Bools:
    """Whether each rectangle nearly coincides with a larger one in `among`; of two equal ones, the second does."""
    common = common_area(rects[:, None], rects[None])
    sizes = rect_areas(rects)
    is_alike = common > _ALIKE * (sizes[:, None] + sizes[None] - common)
    rank = sizes + np.arange(len(rects), 0, -1) / (len(rects) + 1)
    return np.asarray((is_alike & (rank[:, None] > rank[None]) & among[:, None]).any(axis=0))


def _are_bars_on_discs(rects: Ints, solid: Floats, among: Bools) -> Bools:
    """Which rectangles are narrow bars that lie within a disc."""
    sides = rects[:, 2:] - rects[:, :2]
    thin, long = sides.min(axis=1, initial=1 << 15), sides.max(axis=1, initial=0)
    is_bar = (thin <= _BAR_PX) & (long >= _BAR_LONG * thin)
    is_disc = among & (solid >= _DISC[0]) & (solid <= _DISC[1]) & (long < 3 * thin)
    is_in = common_area(rects[:, None], rects[None]) >= rect_areas(rects)[:, None]
    return np.asarray(is_bar & (is_in & is_disc[None]).any(axis=1))


def _are_apart(lines: Ints, inside: Bools, areas: Ints) -> Bools:
    """Which lines have others of the smallest shape around them beside them with a gap, as in a bar of options."""
    if not len(inside):
        return np.zeros(len(lines), bool)
    high = lines[:, 3] - lines[:, 1]
    is_level = (lines[:, None, 1] < lines[None, :, 3]) & (lines[None, :, 1] < lines[:, None, 3])
    gap = np.maximum(lines[:, None, 0] - lines[None, :, 2], lines[None, :, 0] - lines[:, None, 2])
    is_apart = is_level & (gap > _APART * np.minimum(high[:, None], high[None]))
    smallest: Group = np.asarray(np.where(inside, areas[:, None], np.iinfo(np.int32).max).argmin(axis=0))
    shares: Bools = inside[smallest] & np.asarray(inside.any(axis=0))[:, None]
    return np.asarray((np.asarray(is_apart) & shares).any(axis=1))


def _are_in_cells(lines: Ints, cells: Ints) -> Bools:
    """Which lines have their middle on a cell, and so belong to the cell."""
    x, y = ((lines[:, :2] + lines[:, 2:]) / 2).T[..., None]
    left, top, right, bottom = cells.T
    is_on: Bools = (left <= x) & (x < right) & (top <= y) & (y < bottom)
    return np.asarray(is_on.any(axis=1))


def _are_headings(lines: Ints, cells: Ints, lattice: Cells) -> Bools:
    """Which lines are headings, not targets: they are beside a grid, one for each of most rows or columns."""
    left, top, right, bottom = _around(cells)
    wide, high = np.median(cells[:, 2:] - cells[:, :2], axis=0)
    x, y = ((lines[:, :2] + lines[:, 2:]) / 2).T
    found = np.zeros(len(lines), bool)
    for side, along, near in (
        ((x > left - _BESIDE * wide) & (x < left), 1, lattice.rows),
        ((x > right) & (x < right + _BESIDE * wide), 1, lattice.rows),
        ((y > top - _BESIDE * high) & (y < top), 0, lattice.columns),
        ((y > bottom) & (y < bottom + _BESIDE * high), 0, lattice.columns),
    ):
        at = (x, y)[along][:, None]
        starts, ends = (group_medians(cells[:, edge], near)[None] for edge in (along, along + 2))
        is_at = (at >= starts) & (at < ends) & side[:, None]
        of = np.where(is_at.any(axis=1), is_at.argmax(axis=1), -1)
        known, many = np.unique(of[of >= 0], return_counts=True)
        if len(known) > _MOST_OF * (near.max() + 1) and (many == 1).all():
            found |= of >= 0
    return found


def _classify_shapes(patches: Patches, things: Group) -> list[Shape]:
    wide, high = (patches.rects[things, 2:] - patches.rects[things, :2]).T
    solid, across = patches.solid[things], wide / high
    is_round = (across > 0.4) & (across < 2.5) & (solid > 0.72) & (solid < 0.86)
    shapes: list[Shape] = np.where(is_round, "round", np.where(solid > 0.8, "box", "shape")).tolist()
    return shapes


def _scores(patches: Patches, things: Group, lines: Group) -> Floats:
    rects = patches.rects[things]
    least = (rects[:, 2:] - rects[:, :2]).min(axis=1, initial=1 << 15).astype(np.float32)
    size = np.minimum(1, least / _SIZE_PX[0]) * np.minimum(1, _SIZE_PX[1] / least)
    has_words = (lines > 0) & (lines <= 2)
    is_ground = patches.is_ground[things] & (lines == 0)
    outlined = patches.outlined[things]
    scores: Floats = (
        _ANY + _IS_SOLID * patches.solid[things] * size + _HAS_WORDS * has_words + _IS_GROUND * is_ground
    ).astype(np.float32)
    closed = np.array([0, _IS_CLOSED, _IS_DASHED], np.float32)[outlined] + _HAS_WORDS * has_words
    return np.asarray(np.where(outlined > 0, closed, scores), np.float32)


def _with_rim(rects: Ints) -> Ints:
    """The rectangles with the edges around them, which belong to no patch."""
    rim: Ints = rects + np.array([-1, -1, 1, 1], np.int32)
    return rim


def _around(rects: Ints) -> Ints:
    """The smallest rectangle around all rectangles."""
    return np.concatenate([rects[:, :2].min(axis=0), rects[:, 2:].max(axis=0)])


def _align(members: Ints, cells: Cells) -> Ints:
    """The cells, with partly found ones enlarged to their row and column, if the grid is straight."""
    lines = (cells.columns, cells.rows, cells.columns, cells.rows)
    edges = zip(members.T, lines, strict=True)
    usual = np.stack([group_medians(values, each)[each] for values, each in edges], axis=1)
    is_other = np.asarray(np.abs(members - usual) > _STRAIGHT_PX).any(axis=1)
    is_within = common_area(members, usual) >= _INSIDE * rect_areas(members)
    if is_other.mean() > 1 - _INSIDE:
        return members  # bent, or of many sizes
    return np.where((is_other & is_within)[:, None], usual, members)


def _lattice(cells: Cells, rects: Ints, map: PageMap) -> Lattice:
    members = _with_rim(rects[cells.members])
    rows, columns = (cells.rows + 1).tolist(), (cells.columns + 1).tolist()
    placed = tuple((row, column, *at) for row, column, at in zip(rows, columns, _on_page(members, map), strict=True))
    (around,) = _boxes(_around(members)[None], map)
    return Lattice(around, Grid(rows=max(rows), columns=max(columns), cells=placed))


def _boxes(rects: Ints, map: PageMap) -> tuple[Box, ...]:
    return tuple(Box(x=x, y=y, width=width, height=height) for x, y, width, height in _on_page(rects, map))


def _on_page(rects: Ints, map: PageMap) -> list[list[float]]:
    """X, y, width and height of each, in page coordinates."""
    edges = rects * np.array([map.scale_x, map.scale_y] * 2) + np.array([map.offset_x, map.offset_y] * 2)
    edges[:, 2:] -= edges[:, :2]
    placed: list[list[float]] = edges.tolist()
    return placed

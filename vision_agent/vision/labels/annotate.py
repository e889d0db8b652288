"""Builds the layer of boxes and labels, and draws it.

`layer` decides what to draw; `draw` here and the overlay's `paintLayer` draw it, pixel for pixel the same, from whole
rectangles and bitmap digits. The page draws the layer that a person sees on it. Pictures are drawn here, where their
pixels are: at 200 marks that takes 4 ms, against 35 in the page, most of them to bring the layer back. `place` decides
where labels go and their colours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy as np
from pydantic import Field

from vision_agent.base_model import FrozenModel
from vision_agent.geometry import Size
from vision_agent.observation import Label, Mark, Observation
from vision_agent.vision.labels.grid_labels import COLOUR, grid_lines, place_grid_labels
from vision_agent.vision.labels.lookalikes import distinct_style
from vision_agent.vision.picture import Picture, Pixels, pixels_of
from vision_agent.vision.rects import Rect, as_rect, rect_areas, round_rects
from vision_agent.vision.style import COVERAGE, GLYPHS, STYLE, Ink, LabelWidth, Style, ink_colour, rgb

_TINY_PX = 10


@dataclass(frozen=True)
class Outline:
    """The box of one mark."""

    rect: Rect
    colour: str
    casing: Ink
    dashed: bool = False


@dataclass(frozen=True)
class DrawnLabel:
    """The label of one mark, or of a row or column of a grid, as it is drawn."""

    rect: Rect
    colour: str
    ink: Ink
    text: str
    width: LabelWidth = "wide"


@dataclass(frozen=True)
class Leader:
    """The line from a label to its box, in one or two straight strokes."""

    strokes: tuple[Rect, ...]
    colour: str
    casing: Ink


class Layer(FrozenModel):
    """Everything to draw, in picture pixels, with its style; plain JSON for the page."""

    size: Size
    lines: tuple[Rect, ...] = ()
    """The lines between the cells of a requested grid: thin, dashed black and white."""
    outlines: tuple[Outline, ...] = ()
    leaders: tuple[Leader, ...] = ()
    labels: tuple[DrawnLabel, ...] = ()
    style: Style = STYLE
    # Factories, because pydantic copies a mutable default for each picture.
    glyphs: dict[LabelWidth, dict[str, tuple[str, ...]]] = Field(default_factory=lambda: GLYPHS)
    coverage: dict[str, float] = Field(default_factory=lambda: COVERAGE)


def layer(marks: Sequence[Mark], picture: Picture, style: Style = STYLE) -> Layer:
    """The layer for placed marks. A mark without a label is not drawn."""
    labelled = [(mark, mark.label) for mark in marks if mark.label]
    placed, boxes = [mark for mark, _ in labelled], [label.box for _, label in labelled]
    rects, spots = picture.extent.rects([mark.box for mark in placed]), round_rects(boxes)
    outlines, labels, leaders = [], [], []
    # Large boxes first, so that nested boxes are drawn over their containers.
    order = np.argsort(-rect_areas(rects), kind="stable")
    for i, edges, spot in zip(order.tolist(), rects[order].tolist(), spots[order].tolist(), strict=True):
        mark, colour = placed[i], labelled[i][1].colour
        rect, at, plate = as_rect(edges), as_rect(spot), style.plate(colour)
        if min(rect[2] - rect[0], rect[3] - rect[1]) <= _TINY_PX:
            rect = _grow(rect, style.line)  # or the line would hide the whole target
        if style.has_boxes:
            outlines.append(Outline(rect=rect, colour=colour, casing=ink_colour(colour), dashed=mark.source != "dom"))
        width = style.choose_label_width(mark.label_text, at[2] - at[0])
        labels.append(DrawnLabel(rect=at, colour=plate, ink=ink_colour(plate), text=mark.label_text, width=width))
        aim = as_rect(picture.extent.rects([mark.body])[0].tolist()) if mark.body else rect
        if gap(aim, at) >= style.leader_from:
            leaders.append(Leader(strokes=strokes(at, aim), colour=colour, casing=ink_colour(colour)))
    between = [line for mark in placed if mark.grid and mark.surface is None for line in grid_lines(mark, picture)]
    grid_labels = place_grid_labels(placed, picture, boxes, style)
    labels += [DrawnLabel(rim.rect, COLOUR, ink_colour(COLOUR), rim.text, "narrow") for rim in grid_labels]
    return Layer(
        size=picture.size,
        lines=tuple(between),
        outlines=tuple(outlines),
        leaders=tuple(leaders),
        labels=tuple(labels),
        style=style,
    )


def draw(picture: Picture, layer: Layer) -> Picture:
    """The picture with the layer drawn on it, as the page would draw it."""
    return paint(layer).on(picture)


@dataclass(frozen=True)
class Painted:
    """A layer in pixels, to be laid over any picture of its size."""

    pixels: Pixels
    mask: Pixels
    """Where something is drawn: not 0."""

    def on(self, picture: Picture) -> Picture:
        """The picture with the layer on it."""
        pixels = pixels_of(picture).copy()
        cv2.copyTo(self.pixels, self.mask, pixels)
        return Picture(pixels, picture.map)


def paint(layer: Layer) -> Painted:
    """The layer in pixels."""
    canvas = np.zeros((layer.size.height, layer.size.width, 4), np.uint8)
    _Pen(canvas, layer).draw()
    return Painted(np.asarray(cv2.cvtColor(canvas, cv2.COLOR_BGRA2BGR), np.uint8), canvas[..., 3].copy())


def redraw_marks(observation: Observation, style: Style) -> Observation:
    """The observation with its marks redrawn in another style, each label where it was.

    Raises:
        UsageError: the clean picture was loaded without its bytes.
    """
    if not observation.marks:
        return observation
    marks = tuple(mark.model_copy(update={"label": _restyle(mark, style)}) for mark in observation.marks)
    clean = Picture.of(observation.clean)
    marked = draw(clean, layer(marks, clean, distinct_style(clean, style).style)).encode()
    return observation.model_copy(update={"marks": marks, "marked": marked})


def _restyle(mark: Mark, style: Style) -> Label | None:
    shades = style.palette[mark.kind]
    if mark.label is None or mark.label.colour in shades:
        return mark.label
    return mark.label.model_copy(update={"colour": shades[0]})


def gap(one: Rect, other: Rect) -> int:
    """The gap between two rectangles, on the axis where they are farthest apart; 0 if they touch or overlap."""
    across = max(one[0] - other[2], other[0] - one[2], 0)
    return max(across, one[1] - other[3], other[1] - one[3])


def strokes(label: Rect, target: Rect) -> tuple[Rect, ...]:
    """A line 1 pixel wide from the label to a dot on the edge of its target, along the axes; straight if possible."""
    x, from_x = _nearest(label[0], label[2], target[0], target[2])
    y, from_y = _nearest(label[1], label[3], target[1], target[3])
    down = (from_x, min(from_y, y), from_x + 1, max(from_y, y) + 1)
    across = (min(from_x, x), y, max(from_x, x) + 1, y + 1)
    return down, across, (x - 1, y - 1, x + 2, y + 2)


def _nearest(start: int, end: int, low: int, high: int) -> tuple[int, int]:
    """On one axis: the end of the line at the edge of low..high, and its start inside start..end."""
    overlap_low, overlap_high = max(start, low), min(end, high)
    if overlap_low < overlap_high:
        middle = (overlap_low + overlap_high) // 2
        return middle, middle
    return (low if end <= low else high - 1), (start + end) // 2


class _Pen:
    """Draws what the overlay's `draw.js` draws, in the same order; keep the two the same.

    On an empty canvas, whose fourth channel says where something is drawn.
    """

    def __init__(self, canvas: Pixels, layer: Layer) -> None:
        self._pixels = canvas
        self._layer = layer
        self._style = layer.style

    def draw(self) -> None:
        line, casing, outlines = self._style.line, self._style.casing, self._layer.outlines
        for between in self._layer.lines:
            self._fill(between, "#000000")
            for piece in _dashes(between, self._style.dash):
                self._fill(piece, "#ffffff")
        for outline in outlines:
            self._ring(outline.rect, line, line + casing, outline.casing)
        # The outer lines of all boxes before any inner line, so that touching boxes keep their own colour at the edge.
        for inner, outer in ((0, line), (-line, 0)):
            for outline in outlines:
                self._ring(outline.rect, inner, outer, outline.colour, self._style.dash if outline.dashed else None)
        for leader in self._layer.leaders:
            for stroke in leader.strokes:
                self._fill(_grow(stroke, 1), leader.casing)
            for stroke in leader.strokes:
                self._fill(stroke, leader.colour)
        for label in self._layer.labels:
            self._wipe(_grow(label.rect, self._style.clear))
        for label in self._layer.labels:
            self._fill_rounded(_grow(label.rect, casing), "#ffffff")
        for label in self._layer.labels:
            self._label(label)

    def _ring(self, rect: Rect, inner: int, outer: int, colour: str, dash: tuple[int, int] | None = None) -> None:
        left, top, right, bottom = _grow(rect, outer)
        if outer - inner == 1 and not dash and right - left > 1 and bottom - top > 1:
            # One call instead of four, for nearly every line.
            cv2.rectangle(self._pixels, (left, top), (right - 1, bottom - 1), _opaque(colour))
            return
        for side in _sides(rect, inner, outer):
            for piece in _dashes(side, dash) if dash else (side,):
                self._fill(piece, colour)

    def _label(self, label: DrawnLabel) -> None:
        left, top, right, bottom = label.rect
        plate = _plate(label.text, label.width, label.ink, label.colour, (right - left, bottom - top), self._style.gap)
        # Without the four corner pixels, as in `_fill_rounded`.
        self._pixels[top + 1 : bottom - 1, left:right] = plate[1:-1]
        self._pixels[top:bottom, left + 1 : right - 1] = plate[:, 1:-1]

    def _wipe(self, rect: Rect) -> None:
        """Takes away what is drawn in this rectangle."""
        left, top, right, bottom = max(0, rect[0]), max(0, rect[1]), rect[2], rect[3]
        self._pixels[top:bottom, left:right] = 0

    def _fill_rounded(self, rect: Rect, colour: str) -> None:
        """Fills a rectangle without its four corner pixels, which makes it look rounded at this size."""
        left, top, right, bottom = rect
        self._fill((left + 1, top, right - 1, bottom), colour)
        self._fill((left, top + 1, right, bottom - 1), colour)

    def _fill(self, rect: Rect, colour: str) -> None:
        left, top, right, bottom = rect
        if right > left and bottom > top:
            cv2.rectangle(self._pixels, (left, top), (right - 1, bottom - 1), _opaque(colour), cv2.FILLED)


@lru_cache(maxsize=4096)
def _plate(text: str, width: LabelWidth, ink: Ink, colour: str, size: tuple[int, int], gap: int) -> Pixels:
    """A number on its plate; cached, because labels rarely change from one picture to the next."""
    across, down = size
    plate = np.full((down, across, 4), _opaque(colour), np.uint8)
    glyphs = [_glyph(character, width, ink, colour) for character in text]
    high, wide = glyphs[0].shape[0], sum(glyph.shape[1] for glyph in glyphs) + gap * (len(glyphs) - 1)
    x, y = (across - wide) // 2, (down - high) // 2
    for glyph in glyphs:
        plate[y : y + high, x : x + glyph.shape[1], :3] = glyph
        x += glyph.shape[1] + gap
    return plate


@cache
def _glyph(character: str, width: LabelWidth, ink: Ink, colour: str) -> Pixels:
    share = np.array([[COVERAGE[cell] for cell in row] for row in GLYPHS[width][character]])[..., None]
    mixed = share * np.array(_bgr(ink)) + (1 - share) * np.array(_bgr(colour))
    return np.asarray(np.rint(mixed), np.uint8)


@cache
def _bgr(colour: str) -> tuple[int, int, int]:
    """The colour in the channel order of the pixels."""
    red, green, blue = rgb(colour)
    return blue, green, red


@cache
def _opaque(colour: str) -> tuple[int, int, int, int]:
    """The same, with a fourth channel for where something is drawn."""
    return *_bgr(colour), 255


def _grow(rect: Rect, by: int) -> Rect:
    return rect[0] - by, rect[1] - by, rect[2] + by, rect[3] + by


def _sides(rect: Rect, inner: int, outer: int) -> tuple[Rect, Rect, Rect, Rect]:
    """The four sides of a frame between two distances from the edge; negative distances are inside."""
    left, top, right, bottom = _grow(rect, outer)
    thick = outer - inner
    return (
        (left, top, right, top + thick),
        (left, bottom - thick, right, bottom),
        (left, top + thick, left + thick, bottom - thick),
        (right - thick, top + thick, right, bottom - thick),
    )


def _dashes(side: Rect, dash: tuple[int, int]) -> Iterator[Rect]:
    left, top, right, bottom = side
    on, off = dash
    if right - left >= bottom - top:
        for x in range(left, right, on + off):
            yield x, top, min(x + on, right), bottom
    else:
        for y in range(top, bottom, on + off):
            yield left, y, right, min(y + on, bottom)

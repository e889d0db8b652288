"""The layer of boxes and numbers: what to draw, and drawing it.

`layer` decides; `draw` here and the overlay's `paintLayer` carry it out, pixel for pixel the same: nothing but whole
rectangles and hand-drawn digits. The page draws what a person is shown on it. What goes into a picture is drawn here,
where its pixels are: at 200 marks that takes 4 ms, and 35 in the page, most of them for the layer's way back.
Where a label goes and which colour it has is decided in `place`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import cv2
import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from vision_agent.types import Mark, Observation, Size
from vision_agent.vision.picture import Picture, Pixels, pixels_of
from vision_agent.vision.rects import Rect, area_of, as_rect, rects_of
from vision_agent.vision.rims import COLOUR, lines, rims
from vision_agent.vision.style import COVERAGE, GLYPHS, STYLE, Hand, Ink, Style, ink_on, plate_of, rgb

_TINY_PX = 10


@dataclass(frozen=True)
class Outline:
    """The box of one mark."""

    rect: Rect
    colour: str
    casing: Ink
    dashed: bool = False


@dataclass(frozen=True)
class Label:
    """The number of one mark."""

    rect: Rect
    colour: str
    ink: Ink
    text: str
    hand: Hand = "wide"


@dataclass(frozen=True)
class Leader:
    """The line from a label to its box, in one or two straight strokes."""

    strokes: tuple[Rect, ...]
    colour: str
    casing: Ink


class Layer(BaseModel):
    """All there is to draw, in picture pixels, with the style to draw it in; plain JSON for the page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: Size
    lines: tuple[Rect, ...] = ()
    """Between the cells of a grid that was asked for: thin, black and white in turn."""
    outlines: tuple[Outline, ...] = ()
    leaders: tuple[Leader, ...] = ()
    labels: tuple[Label, ...] = ()
    style: Style = STYLE
    # Factories: a default that can be changed would be copied whole for each picture.
    glyphs: dict[Hand, dict[str, tuple[str, ...]]] = Field(default_factory=lambda: GLYPHS)
    coverage: dict[str, float] = Field(default_factory=lambda: COVERAGE)


def layer(marks: Sequence[Mark], picture: Picture, style: Style = STYLE) -> Layer:
    """What to draw for marks that have been placed. A mark without a label box or colour is not drawn."""
    placed = [mark for mark in marks if mark.label_box and mark.colour]
    rects = picture.extent.rects([mark.box for mark in placed])
    spots = rects_of([box for mark in placed if (box := mark.label_box)])
    outlines, labels, leaders = [], [], []
    # Large boxes first, so that what is nested is drawn over what it is in.
    order = np.argsort(-area_of(rects), kind="stable")
    for i, edges, spot in zip(order.tolist(), rects[order].tolist(), spots[order].tolist(), strict=True):
        mark, colour = placed[i], placed[i].colour
        assert colour is not None
        rect, at, plate = as_rect(edges), as_rect(spot), plate_of(colour)
        if min(rect[2] - rect[0], rect[3] - rect[1]) <= _TINY_PX:
            rect = _grown(rect, style.line)  # else the line would be all there is to see of it
        if style.has_boxes:
            outlines.append(Outline(rect=rect, colour=colour, casing=ink_on(colour), dashed=mark.source != "dom"))
        hand = style.hand_in(mark.label, at[2] - at[0])
        labels.append(Label(rect=at, colour=plate, ink=ink_on(plate), text=mark.label, hand=hand))
        if gap(rect, at) >= style.leader_from:
            leaders.append(Leader(strokes=strokes(at, rect), colour=colour, casing=ink_on(colour)))
    between = [line for mark in placed if mark.grid and mark.surface is None for line in lines(mark, picture)]
    numbered = rims(placed, picture, [box for mark in placed if (box := mark.label_box)], style)
    labels += [Label(rim.rect, COLOUR, ink_on(COLOUR), rim.text, "narrow") for rim in numbered]
    return Layer(
        size=picture.size,
        lines=tuple(between),
        outlines=tuple(outlines),
        leaders=tuple(leaders),
        labels=tuple(labels),
        style=style,
    )


def draw(picture: Picture, layer: Layer) -> Picture:
    """The picture with the layer on it: what the page's own drawing gives, without a page."""
    pixels = pixels_of(picture).copy()
    _Pen(pixels, layer, pixels_of(picture)).draw()
    return Picture(pixels, picture.map)


def drawn_as(observation: Observation, style: Style) -> Observation:
    """The observation with its marks drawn in a style, each number where it stood.

    Raises:
        UsageError: it came without the bytes of its clean picture.
    """
    if not observation.marks:
        return observation
    marks = tuple(mark.model_copy(update={"colour": _colour_in(style, mark)}) for mark in observation.marks)
    clean = Picture.of(observation.clean)
    marked = draw(clean, layer(marks, clean, style)).encode()
    return observation.model_copy(update={"marks": marks, "marked": marked})


def _colour_in(style: Style, mark: Mark) -> str | None:
    shades = style.palette[mark.kind]
    return mark.colour if mark.colour is None or mark.colour in shades else shades[0]


def gap(one: Rect, other: Rect) -> int:
    """How far apart two rectangles are along the axis on which they are farthest; 0 where they touch or overlap."""
    across = max(one[0] - other[2], other[0] - one[2], 0)
    return max(across, one[1] - other[3], other[1] - one[3])


def strokes(label: Rect, target: Rect) -> tuple[Rect, ...]:
    """A line one pixel wide from the label to a dot just inside its target, along the axes: straight if it can be."""
    x, from_x = _nearest(label[0], label[2], target[0], target[2])
    y, from_y = _nearest(label[1], label[3], target[1], target[3])
    down = (from_x, min(from_y, y), from_x + 1, max(from_y, y) + 1)
    across = (min(from_x, x), y, max(from_x, x) + 1, y + 1)
    return down, across, (x - 1, y - 1, x + 2, y + 2)


def _nearest(start: int, end: int, low: int, high: int) -> tuple[int, int]:
    """On one axis: where to arrive inside low..high, and where to leave from inside start..end."""
    overlap_low, overlap_high = max(start, low), min(end, high)
    if overlap_low < overlap_high:
        middle = (overlap_low + overlap_high) // 2
        return middle, middle
    inset = min(3, (high - low) // 2)
    return (low + inset if end <= low else high - 1 - inset), (start + end) // 2


class _Pen:
    """Draws what the overlay's `draw.js` draws, in the same order; keep the two alike."""

    def __init__(self, pixels: Pixels, layer: Layer, clean: Pixels) -> None:
        self._pixels = pixels
        self._clean = clean
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
        # The outer line of every box before the inner line of any: boxes that touch keep their own colour at the edge.
        for inner, outer in ((0, line), (-line, 0)):
            for outline in outlines:
                self._ring(outline.rect, inner, outer, outline.colour, self._style.dash if outline.dashed else None)
        for leader in self._layer.leaders:
            for stroke in leader.strokes:
                self._fill(_grown(stroke, 1), leader.casing)
            for stroke in leader.strokes:
                self._fill(stroke, leader.colour)
        for label in self._layer.labels:
            self._wipe(_grown(label.rect, self._style.clear))
        for label in self._layer.labels:
            self._rounded(_grown(label.rect, casing), "#ffffff")
        for label in self._layer.labels:
            self._label(label)

    def _ring(self, rect: Rect, inner: int, outer: int, colour: str, dash: tuple[int, int] | None = None) -> None:
        left, top, right, bottom = _grown(rect, outer)
        if outer - inner == 1 and not dash and right - left > 1 and bottom - top > 1:
            # One call instead of four; it is what nearly every line of a page comes to.
            cv2.rectangle(self._pixels, (left, top), (right - 1, bottom - 1), _bgr(colour))
            return
        for side in _sides(rect, inner, outer):
            for piece in _dashes(side, dash) if dash else (side,):
                self._fill(piece, colour)

    def _label(self, label: Label) -> None:
        left, top, right, bottom = label.rect
        plate = _plate(label.text, label.hand, label.ink, label.colour, right - left, bottom - top, self._style.gap)
        # All but its four corners, as `_rounded` does it.
        self._pixels[top + 1 : bottom - 1, left:right] = plate[1:-1]
        self._pixels[top:bottom, left + 1 : right - 1] = plate[:, 1:-1]

    def _wipe(self, rect: Rect) -> None:
        """Leaves there what the page shows."""
        left, top, right, bottom = max(0, rect[0]), max(0, rect[1]), rect[2], rect[3]
        self._pixels[top:bottom, left:right] = self._clean[top:bottom, left:right]

    def _rounded(self, rect: Rect, colour: str) -> None:
        """A rectangle without its four corner pixels, which at this size looks round."""
        left, top, right, bottom = rect
        self._fill((left + 1, top, right - 1, bottom), colour)
        self._fill((left, top + 1, right, bottom - 1), colour)

    def _fill(self, rect: Rect, colour: str) -> None:
        left, top, right, bottom = rect
        if right > left and bottom > top:
            cv2.rectangle(self._pixels, (left, top), (right - 1, bottom - 1), _bgr(colour), cv2.FILLED)


@lru_cache(maxsize=4096)
def _plate(text: str, hand: Hand, ink: Ink, colour: str, width: int, height: int, gap: int) -> Pixels:
    """A number on its ground. Kept, for numbers stay where they are from one picture to the next."""
    plate = np.full((height, width, 3), _bgr(colour), np.uint8)
    glyphs = [_glyph(character, hand, ink, colour) for character in text]
    high, wide = glyphs[0].shape[0], sum(glyph.shape[1] for glyph in glyphs) + gap * (len(glyphs) - 1)
    x, y = (width - wide) // 2, (height - high) // 2
    for glyph in glyphs:
        plate[y : y + high, x : x + glyph.shape[1]] = glyph
        x += glyph.shape[1] + gap
    return plate


@cache
def _glyph(character: str, hand: Hand, ink: Ink, colour: str) -> Pixels:
    share = np.array([[COVERAGE[cell] for cell in row] for row in GLYPHS[hand][character]])[..., None]
    mixed = share * np.array(_bgr(ink)) + (1 - share) * np.array(_bgr(colour))
    return np.asarray(np.rint(mixed), np.uint8)


@cache
def _bgr(colour: str) -> tuple[int, int, int]:
    """As the pixels have it."""
    red, green, blue = rgb(colour)
    return blue, green, red


def _grown(rect: Rect, by: int) -> Rect:
    return rect[0] - by, rect[1] - by, rect[2] + by, rect[3] + by


def _sides(rect: Rect, inner: int, outer: int) -> tuple[Rect, Rect, Rect, Rect]:
    """Top, bottom, left and right of the ring between two distances from the edge; negative is inside."""
    left, top, right, bottom = _grown(rect, outer)
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

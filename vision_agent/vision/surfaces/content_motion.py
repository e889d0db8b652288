"""Measures from two pictures how far what a surface shows has moved, grown and turned.

The gesture says what to expect, the pixels what happened: a map may stop at its edge, and a wheel may move a plan or
make it larger. What stays where it is, such as the headings of a sheet, is told apart from what moved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, radians, sin
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels, view_pixels
from vision_agent.vision.rects import Floats

Mask = NDArray[np.bool_]

_NOISE = 12
"""Tones of a channel, after a blur; less is antialiasing."""
_INK = 20.0
"""Tones per pixel of the slope of an edge; less is a shading."""
_ALIKE = 40
"""Tones by which the same edge may differ where it is drawn between other pixels."""
_LEAST_INK = 40
"""Pixels of edges that must be seen again: fewer may be chance."""
_SEEN_AGAIN = 0.7
"""The least share of the edges that are seen again where they should be."""
_SAME_CONTENT = 0.98
"""The least share of pixels that are the same; less may hide more than a pointer."""
_BESIDE = 3
_PLAINER = 0.08
"""By how much more must be seen again after the best shift than after any other that is not beside it."""
_ALL_SEEN = 0.92
"""Where lines run on, much of what grew is also seen again after some shift; only a shift shows all of it again."""
_PEAKS = 12
"""Shifts that are tried: the rows of a sheet fit one another in many places."""
_COARSE_PX = 240
"""The longer edge of the pictures in which a change of size is searched for."""
_FACTORS = 1.04
"""The ratio between two sizes that are tried."""
_LARGEST = 8.0
_FINE = 1.004
_LIKE = 0.6
"""The least correlation between two pictures of the same things in different sizes; labels do not grow with a map."""
_OTHER, _OTHER_TURN, _SHARP = 1.1, 12.0, 0.04
"""Another size, another turn, and by how much it must fit less well."""
_CLEARER = 1.15
"""By how much a change of size must fit better than none."""
_REACH = 4
"""How far, of the longer edge, what grew may have been shifted too."""
_DEGREES = (-12.0, -8.0, -4.0, 0.0, 4.0, 8.0, 12.0)
"""Around the turn that was asked for."""


@dataclass(frozen=True)
class ContentMotion:
    """How what a surface shows has moved, in CSS pixels."""

    right: float
    down: float
    """How far what was in the middle of the surface has moved."""
    factor: float = 1.0
    """How many times as large it is."""
    degrees: float = 0.0
    """How far it was turned, clockwise."""
    share: float = 1.0
    """How much of all that is drawn moved along, 0 to 1; the rest stayed where it was."""

    @property
    def is_whole(self) -> bool:
        """Whether the view moved, rather than a thing in it."""
        return self.share >= _WHOLE

    @property
    def words(self) -> str:
        """In words, such as `120 px to the left and 40 px down`, or `2.0 times as large`."""
        far = [f"{abs(self.right):.0f} px to the {'right' if self.right > 0 else 'left'}"] * (abs(self.right) >= 1)
        far += [f"{abs(self.down):.0f} px {'down' if self.down > 0 else 'up'}"] * (abs(self.down) >= 1)
        said = [f"is {self.factor:.2f} times as large"] * self.is_resized
        said += [f"turned {abs(self.degrees):.0f}° {'clockwise' if self.degrees > 0 else 'anticlockwise'}"] * (
            abs(self.degrees) >= 1
        )
        if not said:
            return f"moved {' and '.join(far)}" if far else "did not move"
        return " and ".join([*said, *([f"its middle moved {' and '.join(far)}"] if far else [])])

    @property
    def is_resized(self) -> bool:
        """Whether it has another size."""
        return abs(self.factor - 1) >= _RESIZED


_WHOLE = 1 / 3
_RESIZED = 0.015
STILL = ContentMotion(0.0, 0.0)


def content_motion(
    before: Picture,
    after: Picture,
    within: Box,
    *,
    about: Point | None = None,
    degrees: float = 0.0,
    factor: float = 1.0,
) -> ContentMotion | None:
    """How what a page box shows has moved between two pictures; None if that cannot be told.

    `about`: the page point that a change of size should leave in place; None: no change of size is looked for.
    `degrees`: the turn that was asked for; `factor`: the change of size that was asked for with it, which
    is then taken as given.
    """
    inside = before.page.intersection(within)
    if inside is None or before.extent != after.extent:
        return None
    old, new = (cv2.cvtColor(view_pixels(each, inside), cv2.COLOR_BGR2GRAY) for each in (before, after))
    differs = (cv2.absdiff(cv2.blur(old, (3, 3)), cv2.blur(new, (3, 3))) > _NOISE).astype(np.uint8)
    if not differs.any():
        return STILL
    changed = cv2.dilate(differs, np.ones((7, 7), np.uint8)) > 0
    scale = Point(x=before.map.scale_x, y=before.map.scale_y)
    shift = None if degrees else _shift(np.asarray(old, np.uint8), np.asarray(new, np.uint8), changed)
    if about is not None and (shift is None or shift.seen < _ALL_SEEN):
        fixed = Point(x=(about.x - inside.x) / scale.x, y=(about.y - inside.y) / scale.y)
        grown = _growth(_edges(old), _edges(new), fixed, degrees, factor)
        if grown is not None:
            right, down, by, turned = grown
            return ContentMotion(right * scale.x, down * scale.y, by, turned)
    if shift is None:
        return None
    return ContentMotion(shift.right * scale.x, shift.down * scale.y, share=shift.share)


def _edges(grey: Pixels) -> Floats:
    """How steep the tones are at each pixel."""
    across, along = (cv2.Sobel(grey, cv2.CV_32F, *way, ksize=3) for way in ((1, 0), (0, 1)))
    return np.asarray(cv2.magnitude(across, along) / 4, np.float32)


# --- a shift ----------------------------------------------------------------------------------------------------------


class _Shift(NamedTuple):
    right: int
    down: int
    share: float
    """The share of all edges that moved."""
    seen: float
    """The share of them that is seen again, 0 to 1."""


def _shift(old: Pixels, new: Pixels, changed: Mask) -> _Shift | None:
    """How far, in pixels, what changed has moved; None if it did not simply move."""
    whole = old
    inks = [np.where(changed, _without_lines(_edges(each)), 0).astype(np.float32) for each in (old, new)]
    x, y, width, height = cv2.boundingRect(changed.astype(np.uint8))
    part = np.s_[y : y + height, x : x + width]
    old, new, (before, after) = old[part], new[part], [each[part] for each in inks]
    edges = [_edges(each) > _INK for each in (old, new)]
    found: dict[tuple[int, int], tuple[float, _Shift]] = {}
    for right, down in _peaks(before, after):
        there = _seen_again(old, new, before > _INK, edges[1], right, down)
        back = _seen_again(new, old, after > _INK, edges[0], -right, -down)
        is_shift = min(there.many, back.many) >= _LEAST_INK and min(there.share, back.share) >= _SEEN_AGAIN
        if is_shift:
            seen = min(there.share, back.share)
            found[right, down] = (seen, _Shift(right, down, 0.0, seen))
    ranked = sorted(found.values(), key=lambda each: -each[0])
    if not ranked:
        return None
    best = ranked[0]
    others = [
        seen
        for seen, each in ranked[1:]
        if max(abs(each.right - best[1].right), abs(each.down - best[1].down)) > _BESIDE
    ]
    if others and best[0] - others[0] < _PLAINER:
        return None  # it fits in several places
    drawn = _edges(whole) > _INK
    all_drawn, moved = int(np.count_nonzero(drawn)), int(np.count_nonzero(drawn & changed))
    return best[1]._replace(share=moved / all_drawn if all_drawn else 0.0)


def _without_lines(edges: Floats) -> Floats:
    """The edges without long straight lines: those of a grid fit in many places."""
    across, along = edges.mean(axis=1, keepdims=True), edges.mean(axis=0, keepdims=True)
    return np.asarray(np.clip(edges - 2 * np.maximum(across, along), 0, 4 * _INK), np.float32)


def _peaks(old: Floats, new: Floats) -> Iterator[tuple[int, int]]:
    """The shifts, in pixels, that fit best: those of exact copies, then those of what is much the same."""
    high, wide = old.shape
    size = (cv2.getOptimalDFTSize(2 * high), cv2.getOptimalDFTSize(2 * wide))
    spectra = [np.fft.rfft2(each, size) for each in (old, new)]
    product = np.conj(spectra[0]) * spectra[1]
    strength = np.abs(product)
    # Without its strength, each frequency counts alike: rows and columns that repeat then fit in one place only.
    for weighed in (product / (strength + 1e-3 * strength.mean() + 1e-9), product):
        fit = np.fft.irfft2(weighed, size)
        for _ in range(_PEAKS):
            y, x = divmod(int(np.argmax(fit)), size[1])
            if fit[y, x] <= 0:
                break
            yield (x if x <= size[1] // 2 else x - size[1]), (y if y <= size[0] // 2 else y - size[0])
            for row in range(y - 3, y + 4):
                for column in range(x - 3, x + 4):
                    fit[row % size[0], column % size[1]] = -1


class _Again(NamedTuple):
    share: float
    """The share of the edges that should still be in view."""
    many: int


def _seen_again(old: Pixels, new: Pixels, ink: Mask, edges: Mask, x: int, y: int) -> _Again:
    """How many of the edges `ink` are seen again after this shift. `edges`: those of the new picture, without which the
    paper beside an edge would be found on any paper.
    """
    high, wide = old.shape
    rows, columns = (max(0, -y), min(high, high - y)), (max(0, -x), min(wide, wide - x))
    if rows[0] >= rows[1] or columns[0] >= columns[1]:
        return _Again(0.0, 0)
    here = np.s_[rows[0] : rows[1], columns[0] : columns[1]]
    there = np.s_[rows[0] + y : rows[1] + y, columns[0] + x : columns[1] + x]
    many = int(np.count_nonzero(ink[here]))
    again = int(np.count_nonzero((cv2.absdiff(old[here], new[there]) <= _ALIKE) & ink[here] & edges[there]))
    return _Again(again / many if many else 0.0, again)


# --- another size, or a turn ------------------------------------------------------------------------------------------


def _growth(
    old: Floats, new: Floats, fixed: Point, degrees: float, asked: float
) -> tuple[float, float, float, float] | None:
    """How far, in pixels, the middle moved, the factor and the turn that fit best; None if nothing fits well."""
    by = min(1.0, _COARSE_PX / max(old.shape))
    small = _soft(old, by), _soft(new, by)
    at = Point(x=fixed.x * by, y=fixed.y * by)
    count = int(np.log(_LARGEST) / np.log(_FACTORS))
    factors = [_FACTORS**power for power in range(-count, count + 1)]
    if degrees:
        factors = [asked]  # a turn and a size together fit too much
    turns = [degrees + each for each in _DEGREES] if degrees else [0.0]
    none, _ = _fit(*small, at, 1.0, 0.0)
    best = max((_fit(*small, at, factor, turn) for factor in factors for turn in turns), key=lambda each: each[0])
    if best[0] < _LIKE or best[0] < _CLEARER * none:
        return None
    # Lines that lead to the point that stays look the same in any size.
    others = [(best[1][0] * each, best[1][1]) for each in (_OTHER, 1 / _OTHER)]
    if degrees:
        others = [(best[1][0], best[1][1] + each) for each in (_OTHER_TURN, -_OTHER_TURN)]
    beside = max(_fit(*small, at, *each)[0] for each in others)
    if best[0] - beside < _SHARP:
        return None
    around = [asked] if degrees else [best[1][0] * _FINE**power for power in range(-10, 11)]
    finer = [best[1][1] + each for each in (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)] if degrees else [0.0]
    _, (factor, turn, x, y) = max(
        (_fit(*small, at, each, turned) for each in around for turned in finer), key=lambda each: each[0]
    )
    middle = np.array([old.shape[1] / 2, old.shape[0] / 2, 1.0])
    moved = _similarity(fixed, factor, turn) @ middle
    return float(moved[0] - middle[0] + x / by), float(moved[1] - middle[1] + y / by), factor, turn


def _soft(edges: Floats, by: float) -> Floats:
    """A small picture of where anything is drawn."""
    even = np.minimum(edges, 2 * _INK).astype(np.float32)
    small = cv2.resize(even, None, fx=by, fy=by, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.GaussianBlur(small, (0, 0), 1.2), np.float32)


def _fit(
    old: Floats, new: Floats, fixed: Point, factor: float, turn: float
) -> tuple[float, tuple[float, float, float, float]]:
    """How well the old picture in another size fits the new one, 0 to 1, with the factor, turn and shift."""
    high, wide = old.shape
    matrix = _similarity(fixed, factor, turn)
    grown = cv2.warpAffine(old, matrix, (wide, high), flags=cv2.INTER_AREA)
    shown = cv2.warpAffine(np.ones_like(old), matrix, (wide, high), flags=cv2.INTER_NEAREST)
    if shown.mean() < 0.02:
        return 0.0, (factor, turn, 0.0, 0.0)
    there = new * shown
    spectra = [np.fft.rfft2(each - each.sum() / max(1.0, float(shown.sum())) * shown) for each in (grown, there)]
    product = np.fft.irfft2(np.conj(spectra[0]) * spectra[1], old.shape)
    near = _near(product)
    y, x = divmod(int(np.argmax(near)), wide)
    energy = float(np.sqrt((_centred(grown, shown) ** 2).sum() * (_centred(there, shown) ** 2).sum()))
    like = float(near[y, x]) / energy if energy > 0 else 0.0
    return like, (factor, turn, float(x if x <= wide // 2 else x - wide), float(y if y <= high // 2 else y - high))


def _centred(picture: Floats, shown: Floats) -> Floats:
    return np.asarray((picture - picture.sum() / max(1.0, float(shown.sum()))) * shown, np.float32)


def _near(product: np.ndarray) -> np.ndarray:
    """No far shifts: the point that stays in place is known, unless an edge is in the way."""
    reach = max(2, max(product.shape) // _REACH)
    mask = np.full(product.shape, -np.inf)
    for rows in (np.s_[: reach + 1], np.s_[-reach:]):
        for columns in (np.s_[: reach + 1], np.s_[-reach:]):
            mask[rows, columns] = 0
    return np.asarray(product + mask)


def _similarity(fixed: Point, factor: float, turn: float) -> np.ndarray:
    """The matrix that makes a picture larger and turns it clockwise about a point."""
    c, s = factor * cos(radians(turn)), factor * sin(radians(turn))
    return np.array(
        [[c, -s, fixed.x - c * fixed.x + s * fixed.y], [s, c, fixed.y - s * fixed.x - c * fixed.y]], np.float64
    )


def same_content(before: Picture, after: Picture, within: Box) -> bool:
    """Whether a page box shows the same in two pictures, apart from small things such as a pointer."""
    inside = before.page.intersection(within)
    if inside is None or before.extent != after.extent:
        return False
    old, new = (cv2.blur(view_pixels(each, inside), (3, 3)) for each in (before, after))
    return float((cv2.absdiff(old, new).max(axis=2) <= _NOISE).mean()) >= _SAME_CONTENT

"""Reads pies and doughnuts: the share of each slice from the angles that its colour takes around the middle.

The disc is found at a quarter of the size, as one round blot of several colours on the ground. This module knows texts
and pixels, but no axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan2, hypot, pi

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.picture import Pixels
from vision_agent.vision.rects import Bools, Floats, Ints
from vision_agent.vision.surfaces.axes import Text
from vision_agent.vision.surfaces.colour_words import main_colour

_SHRINK = 4
_BRUSH = 7
_LEAST_PX = 60
_BEGINS = 0.05
_ROUND, _FULL = 0.9, 0.94
"""The least width in times the height, and the least share of the circle around it that a disc fills."""
_ANGLES = 1440
_RAYS = 240
_RADII = (0.97, 0.93, 0.89, 0.84, 0.78)
"""Where slices are told apart, in times the radius: near the rim, where a doughnut has no hole."""
_SAME = 14
"""The largest difference of two pixels of one slice, in levels of a channel."""
_LEAST_SHARE = 0.004
_MOST_SLICES, _FEWEST = 24, 2
_RADIAL = 0.85
"""The least share of the places that have the colour of their angle: slices end at straight lines to the middle."""
_KNOWN = 0.9
"""The least share of the angles that have a colour of a slice."""
_EDGE_PX = 1.5
"""How exactly the border of two slices is known."""
_ON, _AROUND = (0.25, 1.0), 1.7
"""Where a text may lie on a slice, and how far from it around the pie, in times the radius."""


@dataclass(frozen=True)
class Slice:
    """One slice, in picture pixels."""

    share: float
    """In percent of the whole."""
    error: float
    point: tuple[float, float]
    colour: Floats
    rect: tuple[int, int, int, int]
    """Left, top, right and bottom of what it covers, about."""
    angles: tuple[float, float]
    """Where it begins and ends, clockwise from the right, in radians."""


@dataclass(frozen=True)
class Pie:
    """The middle and radius of a disc, and its slices, clockwise from the top."""

    x: float
    y: float
    radius: float
    slices: tuple[Slice, ...]


def find_pie(pixels: Pixels) -> Pie | None:
    """The largest pie in a picture, or None."""
    small = cv2.resize(pixels, None, fx=1 / _SHRINK, fy=1 / _SHRINK, interpolation=cv2.INTER_AREA)
    ground = main_colour(np.asarray(small[::2, ::2], np.uint8)).round().astype(np.int16)
    low, high = ((ground + by).clip(0, 255).astype(np.uint8) for by in (-_SAME, _SAME))
    is_drawn = (cv2.inRange(small, low, high) == 0).astype(np.uint8)
    # Without the lines that lead to its texts, and a legend close to it.
    brush = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (_BRUSH, _BRUSH))
    is_drawn = np.asarray(cv2.morphologyEx(is_drawn, cv2.MORPH_OPEN, brush), np.uint8)
    found: list[Pie] = []
    for outline in cv2.findContours(is_drawn, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]:
        left, top, wide, tall = cv2.boundingRect(outline)
        least, most = min(wide, tall), max(wide, tall)
        if least * _SHRINK < _LEAST_PX or least < _ROUND * most:
            continue
        if (
            cv2.contourArea(outline) < _FULL * pi * ((least - 1) / 2) ** 2
            or cv2.contourArea(outline) > 1.06 * pi * (most / 2) ** 2
        ):
            continue
        x, y, radius = _exactly(pixels, low, high, (left, top, wide, tall))
        pie = _sliced(pixels, x, y, radius)
        if pie is not None:
            found.append(pie)
    return max(found, key=lambda pie: pie.radius, default=None)


def _exactly(pixels: Pixels, low: Pixels, high: Pixels, rect: tuple[int, int, int, int]) -> tuple[float, float, float]:
    left, top, wide, tall = (each * _SHRINK for each in rect)
    y, x = max(0, top - _SHRINK), max(0, left - _SHRINK)
    part = cv2.inRange(pixels[y : top + tall + _SHRINK, x : left + wide + _SHRINK], low, high) == 0
    # A disc is wide at once where it begins; a line that leads away from it is not.
    rows = np.flatnonzero(part.sum(axis=1) >= _BEGINS * part.shape[1])
    columns = np.flatnonzero(part.sum(axis=0) >= _BEGINS * part.shape[0])
    its_left, its_top = float(columns[0]) + x, float(rows[0]) + y
    its_right, its_bottom = float(columns[-1]) + x + 1, float(rows[-1]) + y + 1
    radius = (its_right - its_left + its_bottom - its_top) / 4
    middle = (its_left + its_right) / 2, (its_top + its_bottom) / 2
    return _fitted(part, x, y, *middle, radius)


def _fitted(part: Bools, left: int, top: int, x: float, y: float, radius: float) -> tuple[float, float, float]:
    """The circle through the places where the disc ends on the way outwards, without those where a line goes on."""
    turns = np.linspace(0, 2 * pi, _RAYS, endpoint=False)
    far = np.arange(0.85 * radius, 1.1 * radius, 0.5)
    at_x = np.rint(x - left - 0.5 + far[None] * np.cos(turns)[:, None]).astype(np.int32)
    at_y = np.rint(y - top - 0.5 + far[None] * np.sin(turns)[:, None]).astype(np.int32)
    inside = (at_x >= 0) & (at_y >= 0) & (at_x < part.shape[1]) & (at_y < part.shape[0])
    is_drawn = inside & part[at_y.clip(0, part.shape[0] - 1), at_x.clip(0, part.shape[1] - 1)]
    ends = far[np.where(is_drawn.all(axis=1), -1, is_drawn.argmin(axis=1))]
    keep = is_drawn[:, 0]
    for _ in range(4):
        if keep.sum() < _RAYS / 3:
            break
        rim = np.stack([x + ends * np.cos(turns), y + ends * np.sin(turns)], axis=1)
        known = np.concatenate([rim[keep], np.ones((int(keep.sum()), 1))], axis=1)
        a, b, c = np.linalg.lstsq(known, (rim[keep] ** 2).sum(axis=1), rcond=None)[0]
        found_x, found_y, found_radius = a / 2, b / 2, float(np.sqrt(max(1.0, c + a * a / 4 + b * b / 4)))
        off = np.abs(np.hypot(rim[:, 0] - found_x, rim[:, 1] - found_y) - found_radius)
        keep = is_drawn[:, 0] & (off <= max(1.0, 2 * float(np.median(off[keep]))))
        result = float(found_x), float(found_y), found_radius
    else:
        return result
    return x, y, radius


def _sliced(pixels: Pixels, x: float, y: float, radius: float) -> Pie | None:
    """The slices of a disc; None if it is one thing, or many that are no slices."""
    turns = (np.arange(_ANGLES) + 0.5) / _ANGLES * 2 * pi - pi / 2
    rings = []
    for far in _RADII:
        at_x = (x + far * radius * np.cos(turns)).astype(np.int32).clip(0, pixels.shape[1] - 1)
        at_y = (y + far * radius * np.sin(turns)).astype(np.int32).clip(0, pixels.shape[0] - 1)
        rings.append(pixels[at_y, at_x].astype(np.int16))
    # On the way to the middle a slice keeps its colour; a label on it does not cover all rings.
    seen = np.median(np.stack(rings), axis=0).astype(np.int16)
    is_kept = np.abs(np.stack(rings) - seen[None]).max(axis=2) <= _SAME
    if is_kept.mean() < _RADIAL:
        return None
    colours, names = _colours(seen)
    if not _FEWEST <= len(colours) <= _MOST_SLICES or (names >= 0).mean() < _KNOWN:
        return None
    runs = _runs(names)
    if not _FEWEST <= len(runs) <= _MOST_SLICES:
        return None
    slices = []
    for name, first, last in runs:
        begin, end = (float(at) / _ANGLES * 2 * pi - pi / 2 for at in (first, last))
        share = 100 * (last - first) / _ANGLES
        slices.append(_slice(share, begin, end, colours[name], (x, y), radius))
    return Pie(x, y, radius, tuple(slices))


def _colours(seen: Ints) -> tuple[list[Floats], Ints]:
    """The colours of slices, and for each angle the number of its colour, or -1 at a border."""
    names = np.full(len(seen), -1, np.int32)
    colours: list[Floats] = []
    rest = np.ones(len(seen), bool)
    while rest.sum() >= _LEAST_SHARE * len(seen) and len(colours) <= _MOST_SLICES:
        colour = main_colour(seen[rest].astype(np.uint8)[None])
        is_own = rest & (np.abs(seen - colour.round().astype(np.int16)).max(axis=1) <= _SAME)
        if is_own.sum() < _LEAST_SHARE * len(seen):
            break
        names[is_own] = len(colours)
        colours.append(colour)
        rest &= ~is_own
    return colours, names


def _runs(names: Ints) -> list[tuple[int, float, float]]:
    """The number, begin and end of each run of one colour; borders are shared by both sides."""
    many = len(names)
    while True:
        known = np.flatnonzero(names >= 0)
        changes = np.flatnonzero(names[known] != np.roll(names[known], 1))
        if len(changes) < _FEWEST:
            return []
        # A run of few angles is a blend of two colours.
        first = known[changes]
        lasts = known[np.roll(changes, -1) - 1]
        long = (lasts - first) % many + 1
        if long.min() >= _LEAST_SHARE * many:
            break
        names = names.copy()
        at = int(long.argmin())
        names[(int(first[at]) + np.arange(int(long[at]))) % many] = -1
    befores = np.roll(lasts, 1)
    borders = (first - ((first - befores - 1) % many) / 2) % many
    ends = np.roll(borders, -1)
    ends = np.where(ends > borders, ends, ends + many)
    return [(int(names[at]), float(begin), float(end)) for at, begin, end in zip(first, borders, ends, strict=True)]


def _slice(share: float, begin: float, end: float, colour: Floats, middle: tuple[float, float], radius: float) -> Slice:
    x, y = middle
    turns = np.linspace(begin, end, 40)
    half = (begin + end) / 2
    at_x = np.concatenate([x + radius * np.cos(turns), [x]])
    at_y = np.concatenate([y + radius * np.sin(turns), [y]])
    point = x + 0.82 * radius * float(np.cos(half)), y + 0.82 * radius * float(np.sin(half))
    rect = int(at_x.min()), int(at_y.min()), int(at_x.max()) + 1, int(at_y.max()) + 1
    return Slice(share, 100 * _EDGE_PX / (2 * pi * radius), point, colour, rect, (begin, end))


def names_beside(pie: Pie, texts: Sequence[tuple[Text, Box]]) -> list[str]:
    """For each slice the text, given with its place in pixels, that lies on it or beside it; empty if none does.

    As many texts around the pie as slices belong to them in their order; else only a text within the angles of its
    slice, and alone there, is a name.
    """
    around: list[tuple[float, str]] = []
    inside: list[tuple[float, str]] = []
    for text, at in texts:
        far = hypot(at.center.x - pie.x, at.center.y - pie.y) / pie.radius
        turn = atan2(at.center.y - pie.y, at.center.x - pie.x)
        if _ON[0] <= far < _ON[1]:
            inside.append((turn, text.words))
        elif _ON[1] <= far <= _AROUND:
            around.append((turn, text.words))
    halves = [sum(each.angles) / 2 for each in pie.slices]
    for those in (around, inside):
        if len(those) == len(halves):
            turns = sorted((turn % (2 * pi), words) for turn, words in those)
            slices = sorted(range(len(halves)), key=lambda at: halves[at] % (2 * pi))
            best = min(
                range(len(turns)),
                key=lambda by: sum(
                    abs(_apart(turns[(at + by) % len(turns)][0], halves[each])) for at, each in enumerate(slices)
                ),
            )
            named = {each: turns[(at + best) % len(turns)][1] for at, each in enumerate(slices)}
            return [named[at] for at in range(len(halves))]
    names = []
    for each, half in zip(pie.slices, halves, strict=True):
        wide = (each.angles[1] - each.angles[0]) / 2
        own = [words for turn, words in (*around, *inside) if abs(_apart(turn, half)) <= wide]
        names.append(own[0] if len(own) == 1 else "")
    return names


def _apart(one: float, other: float) -> float:
    return (one - other + pi) % (2 * pi) - pi

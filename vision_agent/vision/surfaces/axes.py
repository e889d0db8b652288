"""Reads the scale of a chart's axes from the texts beside them: numbers, linear or logarithmic, dates and names.

A column of numbers is a vertical axis if their values follow from their heights, a row of texts below the plot a
horizontal one; the plot is between them. This module knows texts and their boxes, but no pixels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from math import ceil, exp, isfinite, log
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box

Sign = Literal[".", ","]
"""What stands before the fraction of a number."""
_FORM = (
    r"^[^\d\-−–.(]{0,3}\(?([-−–]?\s?(?:FIRST\d{0,2}(?:[BETWEEN '\u00a0\u202f]\d{3})+|\d+)?(?:[DECIMAL]\d+)?)"
    r"\s?(k|m|bn|b|t|%)?\)?[^\d]{0,4}$"
)
"""A number with its unit; FIRST: its first digit, BETWEEN: the sign before thousands, DECIMAL: before its fraction."""
_NUMBER: dict[Sign, re.Pattern[str]] = {
    ".": re.compile(_FORM.replace("FIRST", r"\d").replace("BETWEEN", ",").replace("DECIMAL", "."), re.I),
    # `0.995` has no thousands.
    ",": re.compile(_FORM.replace("FIRST", "[1-9]").replace("BETWEEN", ".").replace("DECIMAL", ","), re.I),
}
_HAS_SIGN = re.compile(r"\d[.,]\d|^[.,]\d")
_TIMES = {"k": 1e3, "m": 1e6, "b": 1e9, "bn": 1e9, "t": 1e12, "%": 1.0}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ORDINAL = re.compile(r"[^\W\d_]{1,2}\d+$")
"""A name that counts, such as `Q1`, which is no number with its unit in front."""
_LEAST = 3
"""The fewest texts that make a scale."""
_MOST_OFF = 0.012
"""How far a text may be from where its value belongs, as a share of the axis."""
_LEAST_AGREE = 0.75
_TEXT_PX = 2.5
"""How far the middle of a text may be from its tick."""
_LEAST_ERROR = 2.0
"""The least error in units of its last digit."""
_SAME_EDGE_PX = 6.0
_OTHER_SCALE, _AS_LONG = 0.03, 0.5
"""How far a second scale may be from the first, as a share of that, to be the same; the share of its length that a
column of numbers must have to be one."""
_LEVEL_PX = 5.0

Kind = Literal["linear", "log", "date", "names"]


@dataclass(frozen=True)
class Text:
    """A text that was read, and where."""

    words: str
    box: Box


@dataclass(frozen=True)
class Axis:
    """One axis: which value each place along it has."""

    kind: Kind
    slope: float = 0.0
    """By how much the value, its logarithm or its day grows with each pixel."""
    start: float = 0.0
    error_px: float = 1.0
    """How exactly places are known."""
    first: float = 0.0
    last: float = 0.0
    """The places of the outermost texts."""
    names: tuple[tuple[float, str], ...] = ()
    """The places of all texts."""
    boxes: tuple[Box, ...] = ()
    sign: Sign = "."
    """How its numbers are written."""
    is_unclear: bool = False
    """Whether they may as well be a thousand times larger."""

    def value(self, place: float) -> float:
        """The value at a place; of dates, the day counted from the year 1."""
        value = self.slope * place + self.start
        return exp(value) if self.kind == "log" else value

    def error(self, place: float) -> float:
        """How far that value may be off."""
        return abs(self.value(place + self.error_px) - self.value(place - self.error_px)) / 2

    def name(self, place: float) -> str:
        """The name or value at a place, in words."""
        if self.kind == "names":
            return min(self.names, key=lambda each: abs(each[0] - place))[1]
        nearest, words = min(self.names, key=lambda each: abs(each[0] - place))
        if abs(nearest - place) <= 2 * self.error_px + 1:
            return words
        value = self.value(place)
        if self.kind == "date":
            return date.fromordinal(max(1, round(value))).isoformat()
        return in_words(value, self.error(place))


def in_words(value: float, error: float) -> str:
    """A value with as many digits as its error allows."""
    if not isfinite(value):
        return "?"
    digits = 0
    while error > 0 and error * 10**digits < 0.5 and digits < 9:
        digits += 1
    return f"{round(value, digits):.{digits}f}" if abs(value) < 1e15 else f"{value:.3g}"


def with_error(value: float, error: float) -> tuple[str, str]:
    """A value and its error with the same digits; the error is rounded up, so that it covers what rounding changes."""
    digits = 0
    while error > 0 and error * 10**digits < _LEAST_ERROR and digits < 9:
        digits += 1
    unit = 10.0**-digits
    return in_words(value, unit), f"{ceil(error / unit - 1e-9) * unit:.{digits}f}"


def number_of(words: str, sign: Sign = ".") -> float | None:
    """The number that a text consists of, with its unit in front or behind; `sign`: what is before its fraction."""
    found = _NUMBER[sign].match(words.strip())
    if not found or not any(letter.isdigit() for letter in found[1]):
        return None
    digits = re.sub(r"[^\d.,\-−–]", "", found[1]).replace("−", "-").replace("–", "-")
    digits = digits.replace("," if sign == "." else ".", "").replace(",", ".")
    return float(digits) * _TIMES.get((found[2] or "").lower(), 1.0)


def day_of(words: str) -> float | None:
    """The day, counted from the year 1, that a text names: `2024-03-01`, `Mar 2024`, `3/1/2024`."""
    text = words.strip().lower()
    if found := re.match(r"^(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?$", text):
        year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
    elif found := re.match(r"^(\d{1,2})/(\d{1,2})/(\d{4})$", text):
        month, day, year = int(found[1]), int(found[2]), int(found[3])
    elif found := re.match(r"^(?:(\d{1,2}) )?([a-z]{3})[a-z]*\.?,? (\d{4})$", text):
        if found[2] not in _MONTHS:
            return None
        year, month, day = int(found[3]), _MONTHS.index(found[2]) + 1, int(found[1] or 1)
    else:
        return None
    try:
        return float(date(year, month, day).toordinal())
    except ValueError:
        return None


def vertical_axis(texts: Sequence[Text]) -> Axis | None:
    """The vertical axis with the most texts: numbers whose left or right edges are in line."""
    numbers = [each for each in texts if any(number_of(each.words, sign) is not None for sign in _NUMBER)]
    best: Axis | None = None
    for edge in ("right", "x"):
        tried: set[tuple[int, ...]] = set()
        for base in numbers:
            at = getattr(base.box, edge)
            column = [each for each in numbers if abs(getattr(each.box, edge) - at) <= _SAME_EDGE_PX]
            if (own := tuple(id(each) for each in column)) in tried:
                continue
            tried.add(own)
            found = _scale([(each.box.center.y, each) for each in column], texts, is_vertical=True)
            if found and (best is None or len(found.boxes) > len(best.boxes)):
                best = found
    return best


def other_scale(texts: Sequence[Text], axis: Axis, across: Axis) -> Axis | None:
    """A second vertical axis beside the plot whose numbers do not follow the scale of the first, or None."""
    outside = [
        each
        for each in texts
        if each.box not in axis.boxes and (each.box.right < across.first or each.box.x > across.last)
    ]
    other = vertical_axis(outside)
    if other is None:
        return None
    low, high = sorted((axis.first, axis.last))
    shared = min(high, max(other.first, other.last)) - max(low, min(other.first, other.last))
    if shared < _AS_LONG * (high - low):
        return None
    most = _OTHER_SCALE * abs(axis.value(low) - axis.value(high))
    is_same = all(abs(axis.value(place) - other.value(place)) <= most for place in (low, high))
    return None if is_same else other


def _scale(placed: Sequence[tuple[float, Text]], texts: Sequence[Text], *, is_vertical: bool) -> Axis | None:
    """The scale of numbers that are written with a point or a comma before the fraction, whichever makes more agree.

    `texts`: all that are near, which may tell how numbers are written where these do not.
    """
    point, comma = (
        _fit(
            [(place, value, text) for place, text in placed if (value := number_of(text.words, sign)) is not None],
            is_vertical=is_vertical,
            sign=sign,
        )
        for sign in _NUMBER
    )
    if comma is None or not any(_HAS_SIGN.search(text.words) for _, text in placed):
        return point
    if point is None or len(point.boxes) != len(comma.boxes):
        return max((each for each in (point, comma) if each), key=lambda each: len(each.boxes))
    if all("." not in words for _, words in point.names):
        return point  # `1,000`
    if any(not _HAS_SIGN.search(words) for _, words in comma.names):
        return comma  # beside `1.000` a fraction would be `0.000`
    only = [sum(_is_only(each.words, sign) for each in texts) for sign in _NUMBER]
    if only[0] != only[1]:
        return point if only[0] > only[1] else comma
    return replace(point, is_unclear=True)


def _is_only(words: str, sign: Sign) -> bool:
    """Whether a text is a number with this sign before its fraction, and none with the other."""
    other: Sign = "," if sign == "." else "."
    return number_of(words, sign) is not None and number_of(words, other) is None


def horizontal_axis(texts: Sequence[Text], below: float) -> Axis | None:
    """The axis made by the row of texts with the most members whose middles are below a height."""
    rows: list[list[Text]] = []
    for text in sorted(texts, key=lambda each: each.box.center.y):
        if text.box.center.y <= below:
            continue
        if rows and abs(rows[-1][0].box.center.y - text.box.center.y) <= _LEVEL_PX:
            rows[-1].append(text)
        else:
            rows.append([text])
    rows = [row for row in rows if len(row) >= 2]
    if not rows:
        return None
    longest = rows[0] if len(rows[0]) >= len(rows[min(1, len(rows) - 1)]) else rows[1]
    row = sorted(longest, key=lambda each: each.box.x)
    placed = [(each.box.center.x, each) for each in row if not _ORDINAL.match(each.words)]
    numbers = [each for each in placed if any(number_of(each[1].words, sign) is not None for sign in _NUMBER)]
    days = [(place, day, each) for place, each in placed if (day := day_of(each.words)) is not None]
    for many, found in (
        (len(numbers), _scale(numbers, texts, is_vertical=False) if len(numbers) >= _LEAST_AGREE * len(row) else None),
        (len(days), _fit(days, is_vertical=False, is_date=True) if len(days) >= _LEAST_AGREE * len(row) else None),
    ):
        # Days of two months with the name of the second between them do not go on as numbers.
        if found and (len(found.boxes) == many or many == len(row)):
            return found
    return Axis(
        "names",
        first=row[0].box.center.x,
        last=row[-1].box.center.x,
        names=tuple((each.box.center.x, each.words) for each in row),
        boxes=tuple(each.box for each in row),
    )


def _fit(
    known: Sequence[tuple[float, float, Text]], *, is_vertical: bool, is_date: bool = False, sign: Sign = "."
) -> Axis | None:
    """The scale that most of the values follow."""
    if len(known) < _LEAST or len({value for _, value, _ in known}) < _LEAST:
        return None
    best: Axis | None = None
    kinds: tuple[Kind, ...] = ("date",) if is_date else ("linear", "log")
    for kind in kinds:
        if kind == "log" and min(value for _, value, _ in known) <= 0:
            continue
        places = np.array([place for place, _, _ in known])
        values = np.array([log(value) if kind == "log" else value for _, value, _ in known])
        found = _agreeing(places, values)
        if found is None or found.sum() < max(_LEAST, _LEAST_AGREE * len(known)):
            continue
        slope, start = np.polyfit(places[found], values[found], 1)
        if not slope or (is_vertical and slope > 0 and kind == "log"):
            continue
        off = np.abs((values[found] - start) / slope - places[found])
        axis = Axis(
            kind,
            float(slope),
            float(start),
            float(max(_TEXT_PX, 1.5 * off.max())),
            float(places[found].min()),
            float(places[found].max()),
            tuple((place, text.words) for (place, _, text), is_in in zip(known, found, strict=True) if is_in),
            tuple(text.box for (_, _, text), is_in in zip(known, found, strict=True) if is_in),
            sign,
        )
        if best is None or len(axis.boxes) > len(best.boxes):
            best = axis
    return best


def _agreeing(places: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Which values lie on the line that most of them lie on."""
    best = None
    allowed = _MOST_OFF * float(np.ptp(places)) + 1.0
    for one, other in combinations(range(min(len(places), 16)), 2):
        if places[one] == places[other] or values[one] == values[other]:
            continue
        slope = (values[other] - values[one]) / (places[other] - places[one])
        off = np.abs((values - values[one]) / slope + places[one] - places)
        agrees = off <= allowed
        if best is None or agrees.sum() > best.sum():
            best = agrees
    return best


def plot_between(axis: Axis, across: Axis, surface: Box, beyond: float = 0.75) -> Box:
    """Where the values are drawn: beside one axis and above the other, and so many steps beyond the outer names."""
    is_left = max(box.right for box in axis.boxes) < surface.center.x
    left = max(box.right for box in axis.boxes) + 2 if is_left else surface.x
    right = surface.right if is_left else min(box.x for box in axis.boxes) - 2
    step = abs(axis.last - axis.first) / max(1, len(axis.boxes) - 1)
    top = max(surface.y, min(axis.first, axis.last) - step)
    bottom = max(axis.first, axis.last) + step / 2
    bottom = min(bottom, min(box.y for box in across.boxes) - 1)
    spread = (across.last - across.first) / max(1, len(across.boxes) - 1)
    right = min(right, across.last + beyond * spread)
    left = max(left, across.first - beyond * spread)
    bottom = min(bottom, surface.bottom)
    return Box(x=left, y=top, width=max(4.0, right - left), height=max(4.0, bottom - top))

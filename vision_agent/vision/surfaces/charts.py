"""What a chart says: its series, the value of each bar, point and slice, and the table of them.

This module knows neither pixels nor texts; `chart_reading` reads a chart from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.surfaces.axes import with_error
from vision_agent.vision.surfaces.things import UNREAD

_MOST_ROWS = 40


@dataclass(frozen=True)
class DrawnValue:
    """A bar, point or slice with the value that it stands for."""

    box: Box
    kind: Literal["bar", "point", "slice", "candle"]
    series: str
    at: str
    """The name or value on the other axis."""
    value: float
    """Not a number if it could not be read."""
    error: float
    point: Point | None = None
    """Where a slice, a candle or a ring is pressed, which may be no shape of its own."""
    heights: tuple[float, ...] = ()
    """For a candle, its high, the ends of its body, and its low."""
    errors: tuple[float, ...] = ()
    """How far each of these may be off."""

    @property
    def name(self) -> str:
        """Its series and place, such as `Castle, Mar`."""
        return f"{self.series}, {self.at}" if self.at else self.series

    @property
    def words(self) -> str:
        """The value and its error, such as `about 420 ± 3`; empty if it was not read."""
        if not isfinite(self.value):
            return ""
        value, error = with_error(self.value, self.error)
        if self.heights:
            high, top, bottom, low = (with_error(each, self.error)[0] for each in self.heights)
            return f"body about {bottom} to {top}, all {low} to {high} ± {error}"
        unit = " %" if self.kind == "slice" else ""
        return f"about {value} ± {error}{unit}"


@dataclass(frozen=True)
class Series:
    """One series: its name, and its value and error at each place."""

    name: str
    values: tuple[tuple[str, float, float], ...]
    """An error of 0: the page itself says so, see `with_exact`."""
    spots: tuple[Point, ...] = ()
    """Where the pointer is over each value."""


@dataclass(frozen=True)
class Chart:
    """What a chart says."""

    plot: Box
    series: tuple[Series, ...]
    values: tuple[DrawnValue, ...] = ()
    ticks: tuple[Box, ...] = ()
    """The texts of the axes."""
    legend: tuple[Box, ...] = ()
    """The texts of the legend."""
    across: str = ""
    """What the first column of the table is."""
    unread: tuple[str, ...] = ()
    """The names of series whose values cannot be told."""
    places: tuple[str, ...] = ()
    """The names along the axis at which each series should have a value, as far as they are known."""
    why_unread: str = ""
    """Why no value could be read, as a clause."""

    def table(self) -> list[list[str]]:
        """The values as rows of texts, headings first; each value is followed by its error, or was not read."""
        rows = [[self.across, *(each.name for each in self.series), *self.unread]]
        for place in self._places()[:_MOST_ROWS]:
            row = [place]
            for each in self.series:
                found = next(((value, error) for at, value, error in each.values if at == place), None)
                row.append(_cell(*found) if found else (UNREAD if place in self.places else ""))
            rows.append([*row, *([UNREAD] * len(self.unread))])
        return rows

    def _places(self) -> list[str]:
        """The places of the axis, if there should be a value at each, and those of all values."""
        found = dict.fromkeys(at for each in self.series for at, _, _ in each.values)
        return list(dict.fromkeys([*self.places, *found]))

    @property
    def span(self) -> float:
        """The difference of the largest and the smallest value, or of the largest and 0."""
        every = [value for each in self.series for _, value, _ in each.values if isfinite(value)]
        return max([0.0, *every]) - min([0.0, *every])

    def with_exact(self, known: Mapping[tuple[str, str], float]) -> Chart:
        """The chart with values that the page says, by the names of series and place."""
        series = [
            replace(
                each,
                values=tuple(
                    (at, known[each.name, at], 0.0) if (each.name, at) in known else (at, value, error)
                    for at, value, error in each.values
                ),
            )
            for each in self.series
        ]
        return replace(self, series=tuple(series))


def _cell(value: float, error: float) -> str:
    if not isfinite(value):
        return UNREAD
    return " ± ".join(with_error(value, error)) if error else f"{value:.12g}"

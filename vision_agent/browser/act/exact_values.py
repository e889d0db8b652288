"""Reads the exact values of a chart: moves the pointer over its points, and reads what the page shows there.

A value counts as exact only if the page shows a number close to the estimate, beside the name of the series or as the
only one; all others stay estimates. Nothing is pressed. Points and time are bounded.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vision_agent.actions import Point
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.ocr import OcrReader
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.axes import Sign, Text, number_of
from vision_agent.vision.surfaces.charts import Chart
from vision_agent.vision.surfaces.shown_since import is_same, texts_since

MOST_POINTS = 24
LONGEST_S = 20.0
"""The most points that the pointer goes to, and the most seconds that this takes."""
_STILL_S, _CHANGES_S = 0.06, 0.7
"""How long to wait between two pictures, and for a tooltip to appear and stop changing."""
_AROUND_PX = 80.0
"""How far beyond the surface a tooltip is sought."""
_CLOSE = 0.015
"""How far from its estimate an exact value may be, as a share of the axis; or by twice its error."""
_LEVEL_PX = 7.0
_OUTSIDE = -8
"""A place beyond the corner of the page, in its coordinates, where nothing is under the pointer."""
_TOKEN = re.compile(r"[-−]?\d[\d,.  ]*\d%?|[-−]?\d%?")


@dataclass(frozen=True)
class _Spot:
    series: str
    at: str
    point: Point


class ExactChart(NamedTuple):
    """A chart with the values that the page showed."""

    chart: Chart
    late: int
    """How many values the pointer did not come to in time."""


async def with_exact_values(sender: InputSender, surface: Mark, chart: Chart, reader: OcrReader) -> ExactChart:
    """The chart, with the values that the page shows while the pointer is over them."""
    until = time.monotonic() + LONGEST_S
    spots = [
        _Spot(each.name, at, point)
        for each in chart.series
        for (at, _, _), point in zip(each.values, each.spots, strict=False)
        if "(" not in at
    ]
    shown = await _are_on_surface(sender, surface, [each.point for each in spots])
    spots = [each for each, is_shown in zip(spots, shown, strict=True) if is_shown]
    known: dict[tuple[str, str], float] = {}
    visited = late = 0
    try:
        # What changes only because the pointer is over the surface is not a value.
        corner = Point(x=surface.box.x + 2, y=surface.box.y + 2)
        await sender.page.mouse.move(corner.x, corner.y)
        sender.sent_inputs.append("The pointer was moved over the chart")
        before = await _picture_at_rest(sender, surface, None)
        for spot in spots:
            if (spot.series, spot.at) in known or visited >= MOST_POINTS:
                continue
            if time.monotonic() >= until:
                late += 1
                continue
            visited += 1
            await sender.page.mouse.move(spot.point.x, spot.point.y)
            now = await _picture_at_rest(sender, surface, before)
            texts = await asyncio.to_thread(texts_since, before, now, reader, until)
            known |= values_in(chart, spot.series, spot.at, texts)
        # A chart may keep what it shows until the pointer has left it.
        await sender.page.mouse.move(corner.x, corner.y)
        await sender.page.mouse.move(_OUTSIDE, _OUTSIDE)
    finally:
        sender.sent_inputs.clear()
    return ExactChart(chart.with_exact(known), late)


async def _are_on_surface(sender: InputSender, surface: Mark, points: Sequence[Point]) -> Sequence[bool]:
    """At which points the pointer is over the surface and nothing else."""
    owner = sender.seen.scan.owner(surface.key)
    if owner is None:
        return [False] * len(points)
    asked = [owner.place.to_frame(point) for point in points]
    try:
        return (await overlay_calls.element.shows_points(owner.frame, sender.deadline_s, surface.key, asked)).are_shown
    except FrameSilent:
        return [False] * len(points)


async def _picture_at_rest(sender: InputSender, surface: Mark, before: Picture | None) -> Picture:
    """A picture of the surface and what is around it, once it rests; with `before`, once it differs and rests."""
    until = time.monotonic() + _CHANGES_S
    last: Picture | None = None
    while True:
        now = await _picture(sender, surface)
        is_other = before is None or not is_same(now, before)
        if last is not None and is_same(now, last) and (is_other or time.monotonic() >= until):
            return now
        if time.monotonic() >= until + _CHANGES_S:
            return now
        last = now
        await asyncio.sleep(_STILL_S)


async def _picture(sender: InputSender, surface: Mark) -> Picture:
    page = sender.seen.clean.page
    around = Box(
        x=surface.box.x - _AROUND_PX,
        y=surface.box.y - _AROUND_PX,
        width=surface.box.width + 2 * _AROUND_PX,
        height=surface.box.height + 2 * _AROUND_PX,
    ).intersection(page)
    assert around is not None
    shot = await sender.page.screenshot(timeout=sender.timeout_ms, scale="css", caret="initial")
    return Picture.decode(shot, page).crop(around)


def values_in(chart: Chart, series: str, at: str, texts: Sequence[Text]) -> dict[tuple[str, str], float]:
    """The values at one place of a chart that texts say, by the names of series and place."""
    found: dict[tuple[str, str], float] = {}
    names = [each.name for each in chart.series if _says(each.name, texts)]
    for each in chart.series:
        estimate = next(((value, error) for place, value, error in each.values if place == at), None)
        if estimate is None:
            continue
        if names:
            numbers = _numbers_beside(each.name, texts) if each.name in names else []
        else:
            numbers = _numbers(texts, at) if each.name == series else []
        close = {number for number in numbers if abs(number - estimate[0]) <= max(2 * estimate[1], _CLOSE * chart.span)}
        if len(close) == 1:
            found[each.name, at] = close.pop()
    return found


def _says(name: str, texts: Sequence[Text]) -> bool:
    return any(name.casefold() in text.words.casefold() for text in texts)


def _numbers_beside(name: str, texts: Sequence[Text]) -> list[float]:
    """The numbers behind a name, in its text or to the right of it on its line."""
    numbers: list[float] = []
    for text in texts:
        start = text.words.casefold().find(name.casefold())
        if start < 0:
            continue
        numbers += _tokens(text.words[start + len(name) :])
        for other in texts:
            if other is not text and other.box.x >= text.box.right - 1 and (
                abs(other.box.center.y - text.box.center.y) <= _LEVEL_PX):  # fmt: skip
                numbers += _tokens(other.words)
    return numbers


def _numbers(texts: Sequence[Text], at: str) -> list[float]:
    return [number for text in texts if text.words != at for number in _tokens(text.words)]


def _tokens(words: str) -> list[float]:
    signs: tuple[Sign, ...] = (".", ",")  # whichever is written there, only one number is close to the estimate
    found = {number_of(each.strip(), sign) for each in _TOKEN.findall(words) for sign in signs}
    return [number for number in found if number is not None and np.isfinite(number)]

"""Reads text back from the pixels after it was typed into a surface: drawn text has no value to ask the page for."""

from __future__ import annotations

import asyncio
from math import hypot
from typing import NamedTuple

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.text.escape import safe_line
from vision_agent.vision.compare import changed_box
from vision_agent.vision.ocr import FoundWords, OcrReader, folded
from vision_agent.vision.picture import Picture

_AROUND = 60.0
"""CSS pixels around what changed that are read too: a word may have been there in part before."""
_NEAR = 80.0
"""CSS pixels from the place that was typed into in which another text may be what was typed."""


class ReadBack(NamedTuple):
    """What was read after text was typed."""

    sentence: str
    """As a clause."""
    value: str | None
    """None if it could not be read."""


async def read_back(
    text: str, at: Point, surface: Box, before: Picture, after: Picture, reader: OcrReader | None
) -> ReadBack:
    """What a surface shows now where text was typed into it, at a page point."""
    if reader is None:
        return ReadBack("what it shows was not read back, because no OCR is installed", None)
    where = await asyncio.to_thread(changed_box, before, after, surface)
    if where is None or not folded(text):
        return ReadBack("no text that could be read back was drawn", None)
    grown = Box(
        x=where.x - _AROUND, y=where.y - _AROUND, width=where.width + 2 * _AROUND, height=where.height + 2 * _AROUND
    )
    part = grown.intersection(surface) or where
    found = await asyncio.to_thread(reader.find, after, part, text)
    if found:
        return _as_read_back(min(found, key=lambda each: _distance(each, at)))
    lines = [each for each in await asyncio.to_thread(reader.lines, after, part) if _distance(each, at) <= _NEAR]
    lines = [each for each in lines if each.box.intersection(where) is not None]
    if not lines:
        return ReadBack("what it shows now could not be read", None)
    read = _as_read_back(min(lines, key=lambda each: _distance(each, at)))
    return ReadBack(f"{read.sentence}, not what was typed", read.value)


def _as_read_back(found: FoundWords) -> ReadBack:
    unsure = " (unsure)" * found.reading.is_unsure
    return ReadBack(f'it shows "{safe_line(found.reading.text, 80)}" now{unsure}', found.reading.text)


def _distance(found: FoundWords, point: Point) -> float:
    """From a point to the nearest edge of a text, in CSS pixels; 0 inside it."""
    box = found.box
    return hypot(max(box.x - point.x, 0.0, point.x - box.right), max(box.y - point.y, 0.0, point.y - box.bottom))

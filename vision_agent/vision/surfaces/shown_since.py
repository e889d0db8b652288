"""Reads the texts that are shown in a picture and were not in an earlier one, such as those of a tooltip."""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.ocr import OcrReader
from vision_agent.vision.picture import Picture, pixels_of
from vision_agent.vision.surfaces.axes import Text
from vision_agent.vision.surfaces.candidates import propose

_DIFFERS = 24
"""The least difference of a pixel that changed, in levels of a channel."""
_NOISE = 4
_NEAR_PX = 15
_LEAST_PX = 12
_MARGIN_PX = 6
_MOST_AREAS = 4


def is_same(one: Picture, other: Picture) -> bool:
    """Whether two pictures show the same, but for noise."""
    first, second = pixels_of(one), pixels_of(other)
    return first.shape == second.shape and cv2.norm(first, second, cv2.NORM_INF) <= _NOISE


def texts_since(before: Picture, now: Picture, reader: OcrReader, until: float) -> list[Text]:
    """The texts in the parts that changed, nearest to the top first; pictures of the same part of the page.

    `until`: when reading ends, on the monotonic clock.
    """
    old, new = pixels_of(before), pixels_of(now)
    if old.shape != new.shape:
        return []
    blue, green, red = cv2.split(cv2.absdiff(old, new))
    differs = cv2.threshold(cv2.max(cv2.max(blue, green), red), _DIFFERS, 255, cv2.THRESH_BINARY)[1]
    joined = cv2.dilate(differs, np.ones((_NEAR_PX, _NEAR_PX), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(joined, connectivity=8)
    areas = sorted(stats[1:].tolist(), key=lambda row: -row[cv2.CC_STAT_AREA])[:_MOST_AREAS]
    texts: list[Text] = []
    for left, top, wide, high, _ in areas:
        if min(wide, high) < _LEAST_PX:
            continue
        box = Box(
            x=now.page.x + (left - _MARGIN_PX) * now.map.scale_x,
            y=now.page.y + (top - _MARGIN_PX) * now.map.scale_y,
            width=(wide + 2 * _MARGIN_PX) * now.map.scale_x,
            height=(high + 2 * _MARGIN_PX) * now.map.scale_y,
        ).intersection(now.page)
        if box is None:
            continue
        lines = propose(now, box).lines
        read = reader.read(now, lines, until=until)
        texts += [Text(one.text, line) for line, one in zip(lines, read, strict=True) if one and one.text]
    return sorted(texts, key=lambda text: (text.box.y, text.box.x))

"""Reads the words in parts of a picture, with rapidocr where that is installed; its models come in its package.

What was read is kept by its pixels: to look again at words that stand still costs nothing. Knows nothing of what the
words stand on.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Sequence
from importlib.util import find_spec
from math import inf
from typing import Any, NamedTuple

import cv2
import numpy as np

from vision_agent.errors import UsageError
from vision_agent.types import Box
from vision_agent.vision.picture import Picture, Pixels, pixels_of

_AROUND_PX = 3
"""CSS pixels around a line that the engine also sees: cut close, it takes an l for a 1."""
_HEIGHT_PX = 48
"""Of a line as the engine reads it; enlarged here, where that is done better."""
_SURE = 0.6
"""Of 1. A sign that is no word is read as one with less."""
_MOST_KEPT = 20_000


class Reading(NamedTuple):
    """What stands somewhere; empty where the engine saw no words."""

    text: str
    confidence: float


NOTHING = Reading("", 0.0)


def can_read() -> bool:
    """Whether the OCR engine is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class Reader:
    """Reads lines of words, one by one.

    Raises:
        UsageError: the engine is not installed.
    """

    def __init__(self) -> None:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise UsageError(
                "Words in pictures cannot be read: rapidocr is not installed", "pip install 'vision-agent[ocr]'"
            ) from error
        self._engine: Any = RapidOCR(params={"Global.log_level": "error", "Global.text_score": 0.0})
        self._kept: OrderedDict[bytes, Reading] = OrderedDict()

    def read(self, picture: Picture, lines: Sequence[Box], until: float = inf) -> list[Reading | None]:
        """What stands in each of these page boxes, which hold one line each.

        None for those that time did not suffice for, `until` being one of `time.monotonic`.
        """
        return [self._read(picture, line, until) for line in lines]

    def _read(self, picture: Picture, line: Box, until: float) -> Reading | None:
        around = Box(
            x=line.x - _AROUND_PX,
            y=line.y - _AROUND_PX,
            width=line.width + 2 * _AROUND_PX,
            height=line.height + 2 * _AROUND_PX,
        )
        if picture.page.intersection(around) is None:
            return NOTHING
        pixels = pixels_of(picture.crop(around))
        key = hashlib.blake2b(pixels.tobytes() + repr(pixels.shape).encode(), digest_size=16).digest()
        if key in self._kept:
            self._kept.move_to_end(key)
        elif time.monotonic() >= until:
            return None
        else:
            self._kept[key] = self._told(pixels)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _told(self, pixels: Pixels) -> Reading:
        factor = _HEIGHT_PX / pixels.shape[0]
        large = cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
        told = self._engine(np.ascontiguousarray(large), use_det=False, use_cls=False)
        if not told.txts or told.scores[0] < _SURE:
            return NOTHING
        return Reading(told.txts[0].strip(), round(float(told.scores[0]), 3))

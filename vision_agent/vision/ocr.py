"""Reads text in parts of a picture with rapidocr, if that is installed; its models come with its package.

Results are cached by their pixels, so reading unchanged text again costs nothing. This module does not know what the
text is on.
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
"""The margin around a line, in CSS pixels: without one, the engine reads l as 1."""
_HEIGHT_PX = 48
"""The height of a line as given to the engine; enlarging here gives better results than the engine's own."""
_SURE = 0.6
"""The least confidence, of 1; symbols read as words get less."""
_MOST_CACHED = 20_000


class Reading(NamedTuple):
    """The text read in one place; empty if the engine saw none."""

    text: str
    confidence: float


NOTHING = Reading("", 0.0)


def can_read() -> bool:
    """Whether the OCR engine is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class OcrReader:
    """Reads lines of text, one by one.

    Raises:
        UsageError: the engine is not installed.
    """

    def __init__(self) -> None:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise UsageError(
                "Text in pictures cannot be read: rapidocr is not installed", "pip install 'vision-agent[ocr]'"
            ) from error
        self._engine: Any = RapidOCR(params={"Global.log_level": "error", "Global.text_score": 0.0})
        self._cache: OrderedDict[bytes, Reading] = OrderedDict()

    def read(self, picture: Picture, lines: Sequence[Box], until: float = inf) -> list[Reading | None]:
        """The text in each of these page boxes, which hold one line each; None for lines not read before `until`.

        `until` is a time of `time.monotonic`.
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
        if key in self._cache:
            self._cache.move_to_end(key)
        elif time.monotonic() >= until:
            return None
        else:
            self._cache[key] = self._recognize(pixels)
            if len(self._cache) > _MOST_CACHED:
                self._cache.popitem(last=False)
        return self._cache[key]

    def _recognize(self, pixels: Pixels) -> Reading:
        factor = _HEIGHT_PX / pixels.shape[0]
        large = cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
        result = self._engine(np.ascontiguousarray(large), use_det=False, use_cls=False)
        if not result.txts or result.scores[0] < _SURE:
            return NOTHING
        return Reading(result.txts[0].strip(), round(float(result.scores[0]), 3))

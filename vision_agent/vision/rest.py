"""Whether pixels have come to rest, for what is drawn without a trace in the document: canvas, WebGL, video.

What goes on changing (a spinner, a game, a blinking light) is told apart from what ends, and is left out.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.picture import Pixels

_BLOCK = 8
"""Pixels of a picture at a quarter of its size: 32 of the page each way."""
_NOISE = 12
_RESTLESS = 4
"""A block that differed in so many comparisons is one that goes on changing."""


class Stillness:
    """Compares each picture of a page with the one before."""

    def __init__(self) -> None:
        self._last: Pixels | None = None
        self._changes: NDArray[np.uint8] | None = None

    def is_still(self, screenshot: bytes) -> bool:
        """Whether nothing has changed since the picture before, except where it goes on and on; False for the first."""
        now = np.asarray(cv2.imdecode(np.frombuffer(screenshot, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_4), np.uint8)
        last, self._last = self._last, now
        if last is None or self._changes is None or last.shape != now.shape:
            self._changes = np.zeros([-(-edge // _BLOCK) for edge in now.shape], np.uint8)
            return False
        changed = _by_block(cv2.absdiff(last, now))
        restless = cv2.dilate((self._changes >= _RESTLESS).astype(np.uint8), np.ones((3, 3), np.uint8))
        self._changes += changed & (self._changes < 255)
        return not np.any(changed & (restless == 0))


def _by_block(difference: Pixels) -> NDArray[np.uint8]:
    """1 for each block of pixels in which one differs, else 0."""
    high, wide = (-(-edge // _BLOCK) * _BLOCK for edge in difference.shape)
    whole = np.zeros((high, wide), np.uint8)
    whole[: difference.shape[0], : difference.shape[1]] = difference > _NOISE
    blocks = whole.reshape(high // _BLOCK, _BLOCK, wide // _BLOCK, _BLOCK)
    changed: NDArray[np.uint8] = blocks.max(axis=(1, 3))
    return changed

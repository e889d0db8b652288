"""Detects when pixels are stable, for surfaces that change without changing the document: canvas, WebGL, video.

Areas that keep changing (a spinner, a game, a blinking light) are recognized and ignored.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.vision.picture import Pixels

_BLOCK = 8
"""The edge of a block in a picture at a quarter of its size: 32 pixels of the screenshot."""
_NOISE = 12
_RESTLESS = 4
"""A block that changed in this many comparisons counts as one that keeps changing."""


class PixelStability:
    """Compares each screenshot of a page with the previous one."""

    def __init__(self) -> None:
        self.screenshot = b""
        """The last one that was compared, encoded."""
        self._last: Pixels | None = None
        self._changes: NDArray[np.uint8] | None = None

    @property
    def has_picture(self) -> bool:
        """Whether there is a screenshot to compare the next one with."""
        return self._last is not None

    def is_still(self, screenshot: bytes) -> bool:
        """Whether nothing changed since the previous screenshot, outside areas that keep changing; False at first."""
        self.screenshot = screenshot
        now = np.asarray(cv2.imdecode(np.frombuffer(screenshot, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_4), np.uint8)
        last, self._last = self._last, now
        if last is None or self._changes is None or last.shape != now.shape:
            self._changes = np.zeros([-(-edge // _BLOCK) for edge in now.shape], np.uint8)
            return False
        changed = _changed_blocks(cv2.absdiff(last, now))
        restless = cv2.dilate((self._changes >= _RESTLESS).astype(np.uint8), np.ones((3, 3), np.uint8))
        self._changes += changed & (self._changes < 255)
        return not np.any(changed & (restless == 0))


def _changed_blocks(difference: Pixels) -> NDArray[np.uint8]:
    """1 for each block in which any pixel differs, else 0."""
    high, wide = (-(-edge // _BLOCK) * _BLOCK for edge in difference.shape)
    whole = np.zeros((high, wide), np.uint8)
    whole[: difference.shape[0], : difference.shape[1]] = difference > _NOISE
    blocks = whole.reshape(high // _BLOCK, _BLOCK, wide // _BLOCK, _BLOCK)
    changed: NDArray[np.uint8] = blocks.max(axis=(1, 3))
    return changed

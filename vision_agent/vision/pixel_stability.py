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
_LASTS = 3
"""In the pictures of this many later looks a block may rest and still count as one that keeps changing: it blinks."""

Areas = NDArray[np.uint8]
"""For each block, how often it changed."""


class PixelStability:
    """Compares each screenshot of a page with the previous one."""

    def __init__(self) -> None:
        self.screenshot = b""
        """The last one that was compared, encoded."""
        self.is_same = True
        """Nothing changed between the last two, not even in areas that keep changing."""
        self._last: Pixels | None = None
        self._changes: Areas | None = None
        self._has_changed: Areas | None = None
        """1 for each block that changed since the first screenshot."""

    @property
    def has_picture(self) -> bool:
        """Whether there is a screenshot to compare the next one with."""
        return self._last is not None

    @property
    def restless(self) -> Areas | None:
        """The areas that keep changing, for the next comparisons of the same document; None if there are none."""
        if self._changes is None or self._has_changed is None:
            return None
        left = np.where(self._has_changed > 0, _RESTLESS + _LASTS, self._changes - (self._changes > 0))
        areas = np.where((self._changes >= _RESTLESS) & (left >= _RESTLESS), left, 0).astype(np.uint8)
        return areas if np.any(areas) else None

    def is_still(self, screenshot: bytes, known: Areas | None = None) -> bool:
        """Whether nothing changed since the previous screenshot, outside areas that keep changing; False at first.

        `known`: areas that kept changing earlier.
        """
        self.screenshot = screenshot
        now = np.asarray(cv2.imdecode(np.frombuffer(screenshot, np.uint8), cv2.IMREAD_REDUCED_GRAYSCALE_4), np.uint8)
        last, self._last = self._last, now
        if last is None or self._changes is None or self._has_changed is None or last.shape != now.shape:
            blocks = tuple(-(-edge // _BLOCK) for edge in now.shape)
            self._changes = known.copy() if known is not None and known.shape == blocks else np.zeros(blocks, np.uint8)
            self._has_changed = np.zeros(blocks, np.uint8)
            return False
        changed = _changed_blocks(cv2.absdiff(last, now))
        self.is_same = not np.any(changed)
        restless = cv2.dilate((self._changes >= _RESTLESS).astype(np.uint8), np.ones((3, 3), np.uint8))
        self._changes += changed & (self._changes < 255)
        self._has_changed |= changed
        return not np.any(changed & (restless == 0))


def _changed_blocks(difference: Pixels) -> NDArray[np.uint8]:
    """1 for each block in which any pixel differs, else 0."""
    high, wide = (-(-edge // _BLOCK) * _BLOCK for edge in difference.shape)
    whole = np.zeros((high, wide), np.uint8)
    whole[: difference.shape[0], : difference.shape[1]] = difference > _NOISE
    blocks = whole.reshape(high // _BLOCK, _BLOCK, wide // _BLOCK, _BLOCK)
    changed: NDArray[np.uint8] = blocks.max(axis=(1, 3))
    return changed

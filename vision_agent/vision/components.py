"""Finds the connected parts of a mask of pixels."""

from __future__ import annotations

from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray


class Part(NamedTuple):
    """One connected part, corners included: its box in pixels of the mask, and how many pixels it has."""

    left: int
    top: int
    width: int
    height: int
    pixels: int


def connected_parts(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int32], list[Part]]:
    """For each pixel the number of its part, from 1, or 0 where the mask is empty; and the parts in this order."""
    _, names, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    return np.asarray(names, np.int32), [Part(*row) for row in stats[1:].tolist()]

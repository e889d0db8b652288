"""Finds the points of a line that are drawn as rings: round, hollow, and on the line.

This module knows only pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.vision.rects import Bools, Floats

_LEAST_PX = 2
"""The least width and height of what a ring encloses."""
_ROUND, _FILLED = 1.5, 0.62
"""The most that one side of it may be longer than the other, and the least share of its rectangle that it fills: a disc
has 0.79, a triangle half."""
_CLOSED, _AROUND = 0.9, 0.5
"""The share of a circle that is drawn on a ring at least, and right around it at most, where the line goes on."""
_THICKEST = 6
_LONG = 4
"""How many times as wide as the ring the line that it is on must be; a letter of its colour is on none."""
_ANGLES = np.linspace(0, 2 * np.pi, 48, endpoint=False)


def find_rings(ink: Bools, most: float) -> list[tuple[float, float, float]]:
    """X and y of the middle and the radius of each ring in the pixels of one colour; none is wider than `most`."""
    holes = cv2.connectedComponentsWithStats((~ink).astype(np.uint8), connectivity=4)[2][1:]
    found = []
    lines: tuple[np.ndarray, np.ndarray] | None = None
    for left, top, wide, high, size in holes.tolist():
        if not _LEAST_PX <= min(wide, high) <= max(wide, high) <= most:
            continue
        if max(wide, high) > _ROUND * min(wide, high) + 1 or size < _FILLED * wide * high:
            continue
        x, y = left + (wide - 1) / 2, top + (high - 1) / 2
        radius = _outer_radius(ink, x, y, (wide + high) / 4)
        if radius is None or 2 * radius > most:
            continue
        if lines is None:
            _, names, stats, _ = cv2.connectedComponentsWithStats(ink.astype(np.uint8), connectivity=8)
            lines = names, stats
        line = int(lines[0][top - 1, left + wide // 2]) if top else 0
        if line and lines[1][line, cv2.CC_STAT_WIDTH] >= _LONG * 2 * radius:
            found.append((x, y, radius))
    return found


def _outer_radius(ink: Bools, x: float, y: float, inner: float) -> float | None:
    """The radius of a ring whose hole has another, or None if that is enclosed by something else."""
    best = 0.0
    for more in np.arange(0, _THICKEST + 1, 0.5).tolist():
        share = float(_on_circle(ink, x, y, inner + more).mean())
        best = max(best, share)
        if best >= _CLOSED and share <= _AROUND:
            return inner + float(more)
    return None


def _on_circle(ink: Bools, x: float, y: float, radius: float) -> Floats:
    high, wide = ink.shape
    at_x = np.round(x + radius * np.cos(_ANGLES)).astype(int).clip(0, wide - 1)
    at_y = np.round(y + radius * np.sin(_ANGLES)).astype(int).clip(0, high - 1)
    return np.asarray(ink[at_y, at_x], np.float32)

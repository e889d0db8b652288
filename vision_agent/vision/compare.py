"""What visibly changed between two pictures, beyond what antialiasing and compression do by themselves.

Knows pixels, not causes: whether a change is what was wanted is said elsewhere.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.actions import Point
from vision_agent.types import Box, Shot
from vision_agent.vision.picture import Picture, Pixels, pixels_of

# JPEG at quality 92 moves a channel by up to 9 after the blur on text, antialiasing by less; a hover tint moves it by
# 15 or more.
_NOISE = 12
_SAME = 0.02


def changed_share(before: Picture | Shot, after: Picture | Shot, near: Box | None = None) -> float:
    """The share of pixels that differ, 0 to 1, within a page box or everywhere.

    Pictures of different sizes differ everywhere. A box that neither picture shows has nothing that changed.

    Raises:
        UsageError: a shot came without its bytes.
    """
    old, new = (_near(picture, near) for picture in (before, after))
    if old.shape != new.shape:
        return 1.0
    if not old.size:
        return 0.0
    # Mixing each pixel with its neighbours first takes the edge off single pixels, which is what noise is made of.
    difference = cv2.absdiff(cv2.blur(old, (3, 3)), cv2.blur(new, (3, 3)))
    changed = int(np.count_nonzero(difference.max(axis=2) > _NOISE))
    return changed / int(old.shape[0] * old.shape[1])


def same_at(before: Picture | Shot, after: Picture | Shot, point: Point, radius: float = 12) -> bool:
    """Whether the pixels around a page point are still those; False for a point that a picture does not show."""
    box = Box(x=point.x - radius, y=point.y - radius, width=2 * radius, height=2 * radius)
    if not (before.page.contains(point) and after.page.contains(point)):
        return False
    return changed_share(before, after, box) <= _SAME


def _near(picture: Picture | Shot, near: Box | None) -> Pixels:
    picture = Picture.of(picture) if isinstance(picture, Shot) else picture
    if near is None:
        return pixels_of(picture)
    if picture.page.intersection(near) is None:
        return np.empty((0, 0, 3), np.uint8)
    return pixels_of(picture.crop(near))

"""Finds lines of text that touch long straight lines, such as the numbers beside the axis of a chart.

Their letters and the line are one connected part; with long lines taken out, the letters are left. This module knows
only pixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, pixels_of
from vision_agent.vision.surfaces.outlines import find_outlines
from vision_agent.vision.surfaces.regions import LEAST_PX, find_edges
from vision_agent.vision.surfaces.text_lines import find_lines

_LONG_PX = 40
"""The least length of a line that is taken out; the strokes of letters are shorter."""
_HIGHEST_PX = 30


def texts_beside_lines(picture: Picture, surface: Box) -> list[Box]:
    """The page boxes of lines of text in a surface, whatever long lines touch them."""
    inside = picture.page.intersection(surface)
    if inside is None:
        return []
    part = picture.crop(inside)
    edges = find_edges(pixels_of(part))
    across = cv2.morphologyEx(edges, cv2.MORPH_OPEN, np.ones((1, _LONG_PX), np.uint8))
    down = cv2.morphologyEx(edges, cv2.MORPH_OPEN, np.ones((_LONG_PX, 1), np.uint8))
    rest = np.asarray(cv2.subtract(edges, cv2.max(across, down)), np.uint8)
    islands, _ = find_outlines(rest, around=0, least_rows=LEAST_PX)
    lines = find_lines(islands.rects, np.empty((0, 4), np.int32))
    scale_x, scale_y = part.map.scale_x, part.map.scale_y
    return [
        Box(
            x=part.map.offset_x + left * scale_x,
            y=part.map.offset_y + top * scale_y,
            width=(right - left) * scale_x,
            height=(bottom - top) * scale_y,
        )
        for left, top, right, bottom in lines.tolist()
        if bottom - top <= _HIGHEST_PX
    ]

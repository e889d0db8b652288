"""Searches drawings for shapes while a page is still watched for changes, before the picture of the look is there.

The page has to show the same for a moment before it is looked at, so its picture is there before the look begins. If
the look's own picture is the same, the shapes are known by then.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from vision_agent.geometry import Box
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture, Pixels, pixels_of
from vision_agent.vision.surfaces.candidates import find_shapes
from vision_agent.vision.surfaces.shapes import Shapes

_NOTHING_WRITTEN = np.empty((0, 4), np.int32)


class ShapesAhead:
    """The shapes in the drawings of one screenshot.

    `page`: the box of the page that the screenshot shows; `drawings`: the page boxes of the drawings in it.
    """

    def __init__(self, screenshot: bytes, page: Box, drawings: Sequence[Box], image_limits: ImageLimits) -> None:
        self.screenshot = screenshot
        self._page = page
        self._drawings = drawings
        self._image_limits = image_limits
        self._found: list[tuple[Pixels, Shapes]] = []
        self._is_over = threading.Event()

    def search(self) -> None:
        """Finds them; for a thread of its own."""
        try:
            picture = Picture.decode(self.screenshot, self._page, self._image_limits)
            for box in filter(None, map(picture.page.intersection, self._drawings)):
                pixels = pixels_of(picture.crop(box))
                self._found.append((pixels, find_shapes(pixels, _NOTHING_WRITTEN)))
        finally:
            self._is_over.set()

    def shapes_in(self, pixels: Pixels) -> Shapes | None:
        """The shapes in these pixels, for which it waits if the search goes on; None if they were not searched."""
        self._is_over.wait()
        return next((shapes for searched, shapes in self._found if np.array_equal(searched, pixels)), None)

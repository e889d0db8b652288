"""Pictures made of pixels, for the tests of vision."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture


def shown(pixels: NDArray[np.uint8], ratio: float = 1) -> Picture:
    page = Box(x=0, y=0, width=pixels.shape[1] / ratio, height=pixels.shape[0] / ratio)
    return Picture.decode(cv2.imencode(".png", pixels)[1].tobytes(), page)

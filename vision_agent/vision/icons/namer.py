"""Names an icon from its pixels: what it shows, how sure that is, or nothing.

A small network, which OpenCV runs, knows the names in `names.txt`; `DATA_CARD.md` says how it was made and how often it
is right. A name is a guess and never tells what an element is.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

from vision_agent.geometry import Box
from vision_agent.observation import IconGuess
from vision_agent.vision.icons.glyph import MARGIN, Pixels, glyphs_in
from vision_agent.vision.picture import Picture, view_pixels

LEAST = 0.6
"""The least confidence of a name; less is no name. Chosen on sets that the network has not learned from, so that few
icons get a wrong name."""
_DOUBTFUL = (0.25, 0.9)
"""Between these confidences of its best name a glyph is looked at again."""
_MOST_KEPT = 4096
"""Answers that are kept, by pixels."""


class _Known(NamedTuple):
    """What was loaded."""

    network: cv2.dnn.Net
    names: tuple[str, ...]


_lock = threading.Lock()
"""The network runs for one thread at a time."""
_kept: dict[tuple[int, tuple[int, ...], bytes], IconGuess | None] = {}


def icons_at(picture: Picture, boxes: Sequence[Box]) -> list[IconGuess | None]:
    """What the icon in each page box shows; None for what has no name: words, photographs, shapes, rare icons."""
    per_pixel = picture.map.scale_x, picture.map.scale_y
    return name_pictures([_around(picture, box) for box in boxes], round(MARGIN / min(per_pixel)))


def name_icon(pixels: Pixels) -> IconGuess | None:
    """What a small picture of an icon shows, or None. `pixels`: height × width × 3, the order of colours is the same to
    it. The icon's own box begins `MARGIN` pixels from each edge.
    """
    return name_pictures([pixels])[0]


def name_pictures(pictures: Sequence[Pixels], margin: int = MARGIN) -> list[IconGuess | None]:
    """The same for several pictures at once, in a millisecond each; those asked about before cost nothing.

    `margin`: the pixels around each icon's box.
    """
    keys = [(margin, each.shape, each.tobytes()) for each in pictures]
    with _lock:
        answers = {key: _kept[key] for key in keys if key in _kept}
        for key, picture in zip(keys, pictures, strict=True):
            if key not in answers:
                answers[key] = _kept[key] = _named(picture, margin)
        for key in list(_kept)[: max(0, len(_kept) - _MOST_KEPT)]:
            del _kept[key]
    return [answers[key] for key in keys]


def _named(picture: Pixels, margin: int) -> IconGuess | None:
    """The name of the reading that is surest of one."""
    guesses = [guess for glyph in glyphs_in(picture, margin) if (guess := _guess(glyph)) is not None]
    return max(guesses, key=lambda guess: guess.confidence, default=None)


def _guess(glyph: Pixels) -> IconGuess | None:
    sure = confidences(glyph)
    best = int(sure.argmax())
    if best == 0 or sure[best] < LEAST:
        return None
    return IconGuess(name=_known().names[best - 1], confidence=round(float(sure[best]), 2))


def confidences(glyph: Pixels) -> NDArray[np.float32]:
    """How sure the network is of each of its answers: of no name, and of each name in order.

    In doubt it looks again with the glyph moved by a pixel, down and to the left: the mean is more often right.
    """
    first = _asked(glyph[None])[0]
    if not _DOUBTFUL[0] <= first[1:].max() < _DOUBTFUL[1]:
        return np.asarray(first, np.float32)
    moved = np.stack([np.roll(glyph, 1, axis=0), np.roll(glyph, -1, axis=1)])
    return np.asarray((first + _asked(moved).sum(0)) / (1 + len(moved)), np.float32)


def _asked(glyphs: NDArray[np.uint8]) -> NDArray[np.float32]:
    network = _known().network
    network.setInput((glyphs.astype(np.float32) / 255)[:, None])
    return np.asarray(network.forward(), np.float32)


def known_names() -> tuple[str, ...]:
    """All names that an icon can get."""
    return _known().names


@cache
def _known() -> _Known:
    here = files("vision_agent.vision.icons")
    network = cv2.dnn.readNetFromONNX(np.frombuffer((here / "icons.onnx").read_bytes(), np.uint8))
    return _Known(network, tuple((here / "names.txt").read_text("utf-8").split("\n")[:-1]))


def _around(picture: Picture, box: Box) -> Pixels:
    """The pixels of a page box and `MARGIN` around it; where the picture ends, its edge is repeated."""
    map = picture.map
    wide = Box(x=box.x - MARGIN, y=box.y - MARGIN, width=box.width + 2 * MARGIN, height=box.height + 2 * MARGIN)
    shown = view_pixels(picture, wide)
    if not shown.size:
        return np.zeros((1, 1, 3), np.uint8)
    seen = picture.page.intersection(wide)
    assert seen is not None
    above, below = round((seen.y - wide.y) / map.scale_y), round((wide.bottom - seen.bottom) / map.scale_y)
    left, right = round((seen.x - wide.x) / map.scale_x), round((wide.right - seen.right) / map.scale_x)
    if not (above or below or left or right):
        return shown
    return np.asarray(cv2.copyMakeBorder(shown, above, below, left, right, cv2.BORDER_REPLICATE), np.uint8)

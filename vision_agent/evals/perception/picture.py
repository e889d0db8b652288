"""Measures a marked picture from its bytes alone: labels on labels or other targets, contrast, legibility.

It reads the exact bytes that would be sent. Label positions come from the observation; how labels were drawn is
unknown: contrast is computed from pixels, and numbers are read back by an OCR engine not trained on these labels.
The engine does not know that it reads numbers. A number counts as read if everything it reads at the label, one
character or several, is that number; page text that it reads beside the label does not count.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.observation import Observation

PAD = 8
"""Pixels around a label that the reader also gets."""
_ENLARGED = 4
"""Enlargement factor for all labels, because OCR for documents expects larger letters than a screen's."""
_PER_SHEET, _SHEET_WIDTH, _MARGIN = 60, 1200, 24
_SHEET = (255, 255, 255)


@dataclass(frozen=True)
class LabelFigures:
    """Figures for the labels in one marked picture."""

    drawn: int
    undrawn: int
    """Marks in the listing without a number in the picture."""
    on_another: int
    """Labels with more than half of their area on the box of another mark that does not enclose their own."""
    overlapping: int
    """Labels that share a pixel with another label."""
    outside: int
    """Labels that extend beyond the picture."""
    contrasts: tuple[float, ...]
    misread: tuple[str, ...] = ()
    """What was drawn, and what was read instead."""
    tried: int = 0
    """Number of labels given to the reader."""
    read: int | None = None
    """Number of labels read correctly; None without a reader."""


def label_figures(observation: Observation, reader: DigitReader | None, most_read: int | None = None) -> LabelFigures:
    """The label figures of an observation's marked picture.

    `most_read`: read a random sample of this size if there are more labels; None reads all.
    """
    placed = [(mark, mark.label.box) for mark in observation.marks if mark.label]
    pixels = pixels_of(observation)
    boxes = [label for _, label in placed]
    map_ = observation.marked.map
    targets = [map_.box_to_picture(mark.place) for mark, _ in placed]
    misread = []
    chosen = _chosen(len(placed), most_read)
    if reader is not None:
        texts = reader.read([crop_of(pixels, boxes[index]) for index in chosen])
        wanted = [placed[index][0].label_text for index in chosen]
        misread = [f"{drawn} as {got or 'nothing'}" for drawn, got in zip(wanted, texts, strict=True) if got != drawn]
    return LabelFigures(
        drawn=len(placed),
        undrawn=len(observation.marks) - len(placed),
        on_another=sum(_is_on_another(index, boxes, targets) for index in range(len(placed))),
        overlapping=_overlapping(boxes),
        outside=sum(_sticks_out(box, pixels) for box in boxes),
        contrasts=tuple(contrast(pixels, box) for box in boxes),
        misread=tuple(misread),
        tried=len(chosen),
        read=len(chosen) - len(misread) if reader is not None else None,
    )


def _chosen(labels: int, most: int | None) -> list[int]:
    if most is None or labels <= most:
        return list(range(labels))
    return sorted(int(index) for index in np.random.default_rng(1).choice(labels, most, replace=False))


def pixels_of(observation: Observation) -> NDArray[np.uint8]:
    """The decoded marked picture, as RGB."""
    assert observation.marked.data is not None
    return np.asarray(Image.open(io.BytesIO(observation.marked.data)).convert("RGB"))


@dataclass(frozen=True)
class Crop:
    """A part of the picture, and the position of the label in it."""

    pixels: NDArray[np.uint8]
    label: Box


def crop_of(pixels: NDArray[np.uint8], box: Box, pad: int = PAD) -> Crop:
    """The pixels in a box and around it, within the picture."""
    height, width = pixels.shape[:2]
    left, top = max(0, round(box.x) - pad), max(0, round(box.y) - pad)
    right, bottom = min(width, round(box.right) + pad), min(height, round(box.bottom) + pad)
    return Crop(pixels[top:bottom, left:right], box.model_copy(update={"x": box.x - left, "y": box.y - top}))


def contrast(pixels: NDArray[np.uint8], box: Box) -> float:
    """The WCAG contrast of digits against their plate, from the pixels inside a label.

    The plate is the most frequent colour; the digits are the quarter of the other pixels that differ most from it, so
    that neither antialiased edges nor a stray pixel count as ink.
    """
    inside = crop_of(pixels, box, pad=-1).pixels.reshape(-1, 3)
    if len(inside) < 8:
        return 1.0
    colours, counts = np.unique(inside, axis=0, return_counts=True)
    plate = _luminance(colours[np.argmax(counts)][None])[0]
    others = _luminance(inside[np.any(inside != colours[np.argmax(counts)], axis=1)])
    if not len(others):
        return 1.0
    ratios = (np.maximum(others, plate) + 0.05) / (np.minimum(others, plate) + 0.05)
    return float(np.median(np.sort(ratios)[-max(1, len(ratios) // 4) :]))


class DigitReader:
    """Reads the numbers in crops with rapidocr, whose package includes its models.

    Raises:
        UsageError: it is not installed.
    """

    def __init__(self) -> None:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise UsageError(
                "Cannot read numbers back: rapidocr is not installed", "install it: pip install 'vision-agent[ocr]'"
            ) from error
        # Report every text, however unsure: it must be right anyway. A sheet keeps its size: the engine's own choice
        # would enlarge it again and take three times as long.
        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "error",
                "Global.text_score": 0.0,
                "Det.limit_type": "min",
                "Det.limit_side_len": 64,
            }
        )

    def read(self, crops: Sequence[Crop]) -> list[str]:
        """For each crop the characters whose centre lies in its label, left to right; empty if there are none."""
        texts: list[str] = []
        for start in range(0, len(crops), _PER_SHEET):
            texts += self._read_sheet(crops[start : start + _PER_SHEET])
        return texts

    def _read_sheet(self, crops: Sequence[Crop]) -> list[str]:
        """Read many crops at once, each in a cell of a white sheet: the engine finds nothing in so small a picture."""
        wide = max(each.pixels.shape[1] for each in crops) * _ENLARGED + 2 * _MARGIN
        high = max(each.pixels.shape[0] for each in crops) * _ENLARGED + 2 * _MARGIN
        columns = max(1, min(len(crops), _SHEET_WIDTH // wide))
        sheet = Image.new("RGB", (columns * wide, -(-len(crops) // columns) * high), _SHEET)
        corners = []
        for index, each in enumerate(crops):
            picture = Image.fromarray(each.pixels)
            large = picture.resize((picture.width * _ENLARGED, picture.height * _ENLARGED), Image.Resampling.BICUBIC)
            left = index % columns * wide + (wide - large.width) // 2
            top = index // columns * high + (high - large.height) // 2
            sheet.paste(large, (left, top))
            corners.append((left, top))
        read: list[list[tuple[float, str]]] = [[] for _ in crops]
        for x, y, character in self._characters(np.asarray(sheet)[:, :, ::-1].copy()):
            index = int(y // high) * columns + int(x // wide)
            if index >= len(crops):
                continue
            label, (left, top) = crops[index].label, corners[index]
            at_x, at_y = (x - left) / _ENLARGED, (y - top) / _ENLARGED
            if label.x <= at_x <= label.right and label.y <= at_y <= label.bottom:
                read[index].append((x, character))
        return ["".join(character for _, character in sorted(found)).replace(" ", "") for found in read]

    def _characters(self, sheet: NDArray[np.uint8]) -> Iterator[tuple[float, float, str]]:
        """The centre of every character that the engine reads on the sheet, in sheet pixels."""
        found = self._engine(sheet, use_cls=False, return_word_box=True, return_single_char_box=True)
        for line in getattr(found, "word_results", None) or ():
            for character, _, corners in line:
                x, y = np.mean(np.array(corners, np.float64), axis=0)
                yield float(x), float(y), str(character)


def _luminance(colours: NDArray[np.uint8]) -> NDArray[np.float64]:
    share = colours.astype(np.float64) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    weighted: NDArray[np.float64] = linear @ np.array([0.2126, 0.7152, 0.0722])
    return weighted


def _is_on_another(index: int, labels: Sequence[Box], targets: Sequence[Box]) -> bool:
    label, own = labels[index], targets[index]
    for other, target in enumerate(targets):
        if other == index or _holds(target, own):
            continue
        if label.share_in(target) > 0.5:
            return True
    return False


def _holds(outer: Box, inner: Box) -> bool:
    """Whether a box lies in another, within a pixel."""
    return (
        outer.x <= inner.x + 1
        and outer.y <= inner.y + 1
        and outer.right >= inner.right - 1
        and outer.bottom >= inner.bottom - 1
    )


def _overlapping(labels: Sequence[Box]) -> int:
    edges = np.array([(each.x, each.y, each.right, each.bottom) for each in labels]).reshape(-1, 4).round()
    left, top, right, bottom = edges.T
    across = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    down = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top)
    shared = (across > 0) & (down > 0) & ~np.eye(len(edges), dtype=bool)
    return int(np.any(shared, axis=1).sum()) if len(edges) else 0


def _sticks_out(box: Box, pixels: NDArray[np.uint8]) -> bool:
    height, width = pixels.shape[:2]
    return box.x < 0 or box.y < 0 or box.right > width or box.bottom > height

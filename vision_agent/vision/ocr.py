"""Reads text in parts of a picture with rapidocr, if that is installed; its models come with its package.

A word with a high score is read once. Numbers, short texts and all others are read twice, at two scales; where the two
disagree, a third reading in pure black and white decides, and if all differ, nothing counts as read: a wrong number is
worse than none. Where a character of a number or code may as well be another one, the text is unsure. Results are
cached by their pixels, so reading unchanged text again costs nothing. This module does not know what the text is on.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence, Set
from importlib.util import find_spec
from math import inf
from typing import Any, NamedTuple

import cv2
import numpy as np
from rapidfuzz import fuzz

from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels, pixels_of

_AROUND_PX = 3
"""The margin around a line, in CSS pixels: without one, the engine reads l as 1."""
_WIDER_PX = 2
"""The additional margin of the second reading, in which the letters are smaller."""
_HEIGHT_PX = 48
"""The height of a line as given to the engine; enlarging here gives better results than the engine's own."""
_WIDTH_PX = 96
"""The least width of a line as given to the engine, which by itself pads to 320; short words then take half the time,
and single characters are read better."""
_LEAST = 0.6
"""The least confidence, of 1; symbols read as words get less."""
_SURE = 0.8
"""The confidence below which a text counts as unsure."""
_ONCE = 0.9
"""The confidence from which a word without digits need not be read twice."""
_SHORT = 2
"""Texts with at most so many characters are read twice: signs are mistaken for single letters."""
_LARGER = 3
"""The factor by which the third reading enlarges."""
_MOST_CACHED = 20_000
_MOST_SEARCHED = 500
_FRAME_PX = 16
"""What is added around a part that is searched: letters that touch its edge are not found."""
_DETECTED_PX = 32
"""The shorter side to which the engine at least enlarges what it searches."""
_UPRIGHT = 1.5
"""How many times as high as wide a line is that runs up or down."""
_TURNED = 0.95
"""The confidence below which a line is also read upside down; words that stand on their head have up to 0.8."""
_ALL_READ = 0.5
"""The confidence below which a line counts as not read where no word may be missed."""
_FAINT = 60
"""Tones, of 255; if a part has no greater differences, they are increased."""
_NARROWEST = 0.25
"""The width of a letter in heights of its line, at least: shorter lines need not be read to be known to lack words."""
_ALIKE = ("0Oo", "1lI|i", "5S", "8B", "2Z")
_IS_READ, _MAY_BE_OTHER = 0.3, 0.0006
"""The probability from which a character may be the one that is read, and that of another of its kind from which a text
with digits is unsure. Of 720 right numbers, the largest had 0.0005. Among digits the engine expects a digit, whatever
is drawn, so that most letters there have less."""
_ZEROS_DIFFER, _ZERO_WIDER = 0.17, 0.13
"""By how much the ink in the middle of two zeros of one text differs, as of a dotted zero and a letter O, and by how
many times its height a zero is wider than another or than a digit, from which it may be a letter."""
_IS_INK = 0.35
"""The contrast of a letter with its ground, of the most in its line."""
_MAY_BE = 60
"""How alike words and a first reading must be, of 100, to be worth a second one."""


class Reading(NamedTuple):
    """The text read in one place; empty if there is none, or none that can be relied on."""

    text: str
    confidence: float

    @property
    def is_unsure(self) -> bool:
        """Whether the text may well be wrong."""
        return bool(self.text) and self.confidence < _SURE

    def doubted(self) -> Reading:
        """The reading as one that is unsure."""
        return Reading(self.text, min(self.confidence, round(_SURE - 0.01, 2)))


class FoundWords(NamedTuple):
    """Where words were read, as a page box, and the whole line that was read there."""

    box: Box
    reading: Reading


class RoughLine(NamedTuple):
    """A place in which there may be words."""

    box: Box
    texts: tuple[str, ...]
    """What each way of reading it says; they may differ, and all be wrong."""


class Search(NamedTuple):
    """All that may be words in a part of a picture."""

    lines: tuple[RoughLine, ...]
    is_all_read: bool
    """Whether there was time for all, and every line says something likely."""


NOTHING = Reading("", 0.0)


def can_read() -> bool:
    """Whether the OCR engine is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class OcrReader:
    """Reads lines of text, one by one.

    Raises:
        UsageError: the engine is not installed.
    """

    def __init__(self) -> None:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise UsageError(
                "Text in pictures cannot be read: rapidocr is not installed", "pip install 'vision-agent[ocr]'"
            ) from error
        params = {
            "Global.log_level": "error",
            "Global.text_score": 0.0,
            "Rec.rec_img_shape": [3, _HEIGHT_PX, _WIDTH_PX],
        }
        self._new_engine: Callable[..., Any] = lambda **more: RapidOCR(params=params | more)
        self._engine: Any = self._new_engine()
        self._small_engine: Any = None
        self._guesses: _Guesses | None = None
        self._searched: OrderedDict[bytes, list[tuple[Box, tuple[Reading, ...]]]] = OrderedDict()
        self._cache: OrderedDict[bytes, Reading] = OrderedDict()
        self._glances: OrderedDict[bytes, Reading] = OrderedDict()

    def read(self, picture: Picture, lines: Sequence[Box], until: float = inf) -> list[Reading | None]:
        """The text in each of these page boxes, which hold one line each; None for lines not read before `until`.

        `until` is a time of `time.monotonic`.
        """
        return [self._read(picture, line, until) for line in lines]

    def glance(self, picture: Picture, lines: Sequence[Box], until: float = inf) -> list[Reading | None]:
        """What a single reading says is in each of these page boxes; it may be wrong, so use it only to compare."""
        return [self._glance(picture, line, until) for line in lines]

    def find(self, picture: Picture, within: Box, text: str) -> list[FoundWords]:
        """Where in a page box these words are read: whole words, whatever their case and punctuation.

        The engine finds the lines, on a map or a photograph too. Only lines that may be the words are read twice.
        """
        part, wanted = picture.crop(within), folded(text)
        found = []
        for line in self._lines(part):
            if line.width < _NARROWEST * len(wanted) * line.height:
                continue
            around = _expanded(line, 1.0)
            guess = self._recognize_once(pixels_of(part.crop(around)))
            if fuzz.partial_ratio(folded(guess.text), wanted) < _MAY_BE:
                continue
            reading = self._read(part, line, inf)
            if reading is not None and f" {wanted} " in f" {folded(reading.text)} ":
                found.append(FoundWords(line, reading))
        return found

    def lines(self, picture: Picture, within: Box) -> list[FoundWords]:
        """All lines of text that are read in a page box."""
        part = picture.crop(within)
        readings = [(line, self._read(part, line, inf)) for line in self._lines(part)]
        return [FoundWords(line, reading) for line, reading in readings if reading is not None and reading.text]

    def search(self, picture: Picture, within: Box, until: float = inf) -> Search:
        """All that may be words in a page box, of any size and direction: nothing should be missed, wrong or not.

        What is small is not enlarged to be searched, as it is by `lines`, so that a low canvas takes less time.
        """
        part = picture.crop(within)
        pixels = pixels_of(part)
        key = _key(pixels)
        if key not in self._searched:
            if time.monotonic() >= until:
                return Search((), is_all_read=False)
            found: list[tuple[Box, tuple[Reading, ...]]] = []
            for box, upright in self._upright_lines(_with_contrast(pixels)):
                if time.monotonic() >= until:
                    return Search(_rough_lines(found, part), is_all_read=False)
                found.append((box, self._all_readings(upright)))
            self._searched[key] = found
            if len(self._searched) > _MOST_SEARCHED:
                self._searched.popitem(last=False)
        self._searched.move_to_end(key)
        found = self._searched[key]
        is_all_read = all(max(each.confidence for each in readings) >= _ALL_READ for _, readings in found)
        return Search(_rough_lines(found, part), is_all_read)

    def _upright_lines(self, pixels: Pixels) -> list[tuple[Box, Pixels]]:
        """The lines in these pixels, each turned so that it runs to the right, or to the left."""
        if self._small_engine is None:
            self._small_engine = self._new_engine(**{"Det.limit_side_len": _DETECTED_PX})
        ground = np.median(np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]]), axis=0)
        by = _FRAME_PX
        framed = cv2.copyMakeBorder(pixels, by, by, by, by, cv2.BORDER_CONSTANT, value=ground.tolist())
        result = self._small_engine(framed, use_det=True, use_cls=False, use_rec=False)
        lines = []
        for corners in [] if result.boxes is None else np.asarray(result.boxes, np.float32):
            (left, top), (right, bottom) = corners.min(axis=0) - _FRAME_PX, corners.max(axis=0) - _FRAME_PX
            lines.append((Box(x=left, y=top, width=right - left, height=bottom - top), _upright(framed, corners)))
        return lines

    def _all_readings(self, line: Pixels) -> tuple[Reading, ...]:
        ways = [line]
        if line.shape[0] >= _UPRIGHT * line.shape[1]:
            ways = [cv2.rotate(line, cv2.ROTATE_90_CLOCKWISE), cv2.rotate(line, cv2.ROTATE_90_COUNTERCLOCKWISE)]
        readings = [self._recognize_once(each) for each in ways]
        if max(each.confidence for each in readings) < _TURNED:
            readings.append(self._recognize_once(cv2.rotate(line, cv2.ROTATE_180)))
        best = max(readings, key=lambda each: each.confidence)
        if best.confidence < _ONCE or len(best.text) <= _SHORT or _has_digit(best.text):
            readings.append(self._recognize_once(_black_on_white(ways[0])))
        return tuple(readings)

    def _lines(self, picture: Picture) -> list[Box]:
        """The page boxes of lines of text, as the engine finds them."""
        pixels = np.ascontiguousarray(pixels_of(picture))
        result = self._engine(pixels, use_det=True, use_cls=False, use_rec=False)
        if result.boxes is None:
            return []
        whole = Box(x=0, y=0, width=picture.size.width, height=picture.size.height)
        boxes = []
        for corners in np.asarray(result.boxes, float):
            (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
            box = Box(x=left, y=top, width=right - left, height=bottom - top).intersection(whole)
            if box is not None:
                start, end = (
                    picture.map.to_page(Point(x=x, y=y)) for x, y in ((box.x, box.y), (box.right, box.bottom))
                )
                boxes.append(Box(x=start.x, y=start.y, width=end.x - start.x, height=end.y - start.y))
        return boxes

    def _read(self, picture: Picture, line: Box, until: float) -> Reading | None:
        around = _expanded(line, _AROUND_PX)
        if picture.page.intersection(around) is None:
            return NOTHING
        pixels = pixels_of(picture.crop(around))
        wider = pixels_of(picture.crop(_expanded(line, _AROUND_PX + _WIDER_PX)))
        return _cached(self._cache, wider, until, lambda: self._recognize(pixels, wider))

    def _glance(self, picture: Picture, line: Box, until: float) -> Reading | None:
        if picture.page.intersection(line) is None:
            return NOTHING
        pixels = pixels_of(picture.crop(line))
        return _cached(self._glances, pixels, until, lambda: self._recognize_once(pixels))

    def _recognize(self, pixels: Pixels, wider: Pixels) -> Reading:
        first = self._recognize_once(pixels)
        if first.confidence >= _ONCE and len(first.text) > _SHORT and not _has_digit(first.text):
            return first
        readings = [first, self._recognize_once(wider)]
        if readings[0].text != readings[1].text:
            readings.append(self._recognize_once(_black_on_white(wider)))
        agreed = _agreed(readings)
        return agreed.doubted() if _may_have_letters(pixels, agreed.text) else agreed

    def _recognize_once(self, pixels: Pixels) -> Reading:
        factor = _HEIGHT_PX / pixels.shape[0]
        large = cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_CUBIC)
        result = self._engine(np.ascontiguousarray(large), use_det=False, use_cls=False, use_rec=True)
        if self._guesses is None:  # the engine loads its model with the first text
            self._guesses = _Guesses.of(self._engine)
            result = self._engine(np.ascontiguousarray(large), use_det=False, use_cls=False, use_rec=True)
        if not result.txts:
            return NOTHING
        reading = Reading(result.txts[0].strip(), round(float(result.scores[0]), 3))
        # Words do not depend on it, and in many fonts their l and I are the same; a digit alone is rarely a letter.
        coded = set("".join(word for word in reading.text.split() if len(word) > 1 and _has_digit(word)))
        return reading.doubted() if coded and self._guesses.may_be_other(coded) else reading


class _Guesses(threading.local):
    """The engine's step from guesses to text, which keeps the guesses: its scores are means over all characters."""

    def __init__(self, decode: Any) -> None:
        self._decode = decode
        names = {name: at for at, name in enumerate(getattr(decode, "character", ()))}
        self._kinds = [[names[each] for each in alike] for alike in _ALIKE if all(each in names for each in alike)]
        self._last: Any = None

    @classmethod
    def of(cls, engine: Any) -> _Guesses:
        """Those of an engine that has read something."""
        step = getattr(engine.text_rec, "postprocess_op", None)  # other versions may have none, or another one
        guesses = cls(step)
        if step is not None:
            engine.text_rec.postprocess_op = guesses
        return guesses

    def __call__(self, probabilities: Any, *args: Any, **options: Any) -> Any:
        self._last = probabilities[0]
        return self._decode(probabilities, *args, **options)

    def may_be_other(self, among: Set[str]) -> bool:
        """Whether one of these characters in the last text may as well be another one, such as O for 0."""
        if self._last is None:
            return False
        blank = self._last[:, 0]
        for kind in self._kinds:
            likely = self._last[:, kind]
            best = likely.argmax(axis=1)
            for at in np.flatnonzero(likely.max(axis=1) > _IS_READ).tolist():
                if self._decode.character[kind[best[at]]] not in among:
                    continue
                near = slice(max(0, at - 1), at + 2)
                # A column of the next character says nothing about this one.
                own = (blank[near] > _IS_READ) | ((best[near] == best[at]) & (likely[near].max(axis=1) > _IS_READ))
                if np.delete(likely[near][own], best[at], axis=1).max(initial=0) > _MAY_BE_OTHER:
                    return True
        return False


def _cached(
    cache: OrderedDict[bytes, Reading], pixels: Pixels, until: float, read: Callable[[], Reading]
) -> Reading | None:
    """What was read in these pixels before, or is now; None if it is too late for that."""
    key = _key(pixels)
    if key in cache:
        cache.move_to_end(key)
    elif time.monotonic() >= until:
        return None
    else:
        cache[key] = read()
        if len(cache) > _MOST_CACHED:
            cache.popitem(last=False)
    return cache[key]


def _key(pixels: Pixels) -> bytes:
    return hashlib.blake2b(pixels.tobytes() + repr(pixels.shape).encode(), digest_size=16).digest()


def _with_contrast(pixels: Pixels) -> Pixels:
    """The pixels with faint differences increased."""
    low, high = pixels.min(axis=(0, 1)).astype(int), pixels.max(axis=(0, 1)).astype(int)
    most = int((high - low).max())
    if most == 0 or most >= _FAINT:
        return pixels
    return np.asarray((pixels.astype(int) - low) * 255 // most, np.uint8)


def _upright(pixels: Pixels, corners: Any) -> Pixels:
    """The part of the pixels between four corners, beginning at the upper left one, as a rectangle."""
    wide = max(1, round(float(max(np.linalg.norm(corners[1] - corners[0]), np.linalg.norm(corners[2] - corners[3])))))
    high = max(1, round(float(max(np.linalg.norm(corners[3] - corners[0]), np.linalg.norm(corners[2] - corners[1])))))
    ends = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], np.float32)
    turn = cv2.getPerspectiveTransform(np.asarray(corners, np.float32), ends)
    return np.asarray(
        cv2.warpPerspective(pixels, turn, (wide, high), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE),
        np.uint8,
    )


def _rough_lines(found: Sequence[tuple[Box, tuple[Reading, ...]]], part: Picture) -> tuple[RoughLine, ...]:
    """What was read in the pixels of a part, on the page."""
    lines = []
    for box, readings in found:
        start, end = (part.map.to_page(Point(x=x, y=y)) for x, y in ((box.x, box.y), (box.right, box.bottom)))
        page_box = Box(x=start.x, y=start.y, width=end.x - start.x, height=end.y - start.y)
        lines.append(RoughLine(page_box, tuple(each.text for each in readings)))
    return tuple(lines)


def folded(text: str) -> str:
    """The words of a text in lower case, without punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _expanded(box: Box, by: float) -> Box:
    return Box(x=box.x - by, y=box.y - by, width=box.width + 2 * by, height=box.height + 2 * by)


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _agreed(readings: Sequence[Reading]) -> Reading:
    """What two of the readings agree on, else NOTHING; if a third had to decide, the text is unsure."""
    for at, one in enumerate(readings):
        for other in readings[at + 1 :]:
            best = max(one.confidence, other.confidence)
            if one.text and one.text == other.text and best >= _LEAST:
                agreed = Reading(one.text, min(one.confidence, other.confidence))
                return agreed.doubted() if len(readings) > 2 else agreed
    return NOTHING


def _may_have_letters(pixels: Pixels, text: str) -> bool:
    """Whether a zero in a text is drawn unlike the others, or wider than a digit: it may be a letter O."""
    signs = text.replace(" ", "")
    zeros = [at for at, sign in enumerate(signs) if sign == "0"]
    glyphs = _glyphs(pixels) if zeros and len(signs) > 1 else []
    if len(glyphs) != len(signs):
        return False  # signs touch
    for at in zeros:
        for other, sign in enumerate(signs):
            if other == at or sign not in "023456789":
                continue
            if glyphs[at].aspect - glyphs[other].aspect > _ZERO_WIDER:
                return True
            if sign == "0" and abs(glyphs[at].middle - glyphs[other].middle) > _ZEROS_DIFFER:
                return True
    return False


class _Glyph(NamedTuple):
    aspect: float
    """Its width, in times its height."""
    middle: float
    """How much ink is in its middle, of 1."""


def _glyphs(pixels: Pixels) -> list[_Glyph]:
    """The signs of a line, from left to right, where they do not touch."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY).astype(np.float32)
    ink = np.abs(grey - np.median(np.concatenate([grey[0], grey[-1]])))
    ink /= max(1.0, float(ink.max()))
    is_inked = np.concatenate([[False], ink.max(axis=0) > _IS_INK, [False]])
    edges = np.flatnonzero(is_inked[1:] != is_inked[:-1])
    found = []
    for left, right in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        rows = np.flatnonzero(ink[:, left:right].max(axis=1) > _IS_INK)
        sign = ink[rows[0] : rows[-1] + 1, left:right]
        high, wide = sign.shape
        top, first = round(0.36 * high), round(0.3 * wide)
        middle = sign[top : max(top + 1, round(0.64 * high)), first : max(first + 1, round(0.7 * wide))]
        found.append(_Glyph(wide / high, float(middle.mean())))
    return found


def _black_on_white(pixels: Pixels) -> Pixels:
    """The letters three times as large, in black on white."""
    grey = cv2.resize(
        cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), None, fx=_LARGER, fy=_LARGER, interpolation=cv2.INTER_LANCZOS4
    )
    cut = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1]
    if (cut == 0).mean() > 0.5:
        cut = 255 - cut
    return np.asarray(cv2.cvtColor(cv2.GaussianBlur(cut, (3, 3), 0), cv2.COLOR_GRAY2BGR), np.uint8)

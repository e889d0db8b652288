"""Joins the text layer of a drawing, such as a page of a PDF, with its pixels.

A page says what is written where, in letters that nobody sees. That is its claim: what the pixels clearly say otherwise
is not taken over, and what they do not confirm is counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz

from vision_agent.geometry import Box
from vision_agent.vision.ocr import Reading, folded
from vision_agent.vision.picture import Picture

_ALIKE = 60.0
"""How alike a text and its reading must be, of 100: the engine mistakes some letters of small print."""
_SURE = 0.85
"""The confidence in a reading from which it speaks against a text."""
_LEAST_HEIGHT = 7.0
"""The height in CSS pixels below which readings are not reliable."""
_NARROW = 0.15
"""The width of a letter in heights of its line, at least: text that is turned is higher."""
_SCRIPTS = ("LATIN", "CJK", "DIGIT", "HIRAGANA", "KATAKANA")
"""Scripts that the engine has a model for."""


class LaidText(NamedTuple):
    """A text that the page lays over a drawing, with its page box."""

    text: str
    box: Box

    def is_same(self, other: LaidText) -> bool:
        """Whether it is the same text in the same place, to the pixel."""
        return self.text == other.text and max(abs(self.box.x - other.box.x), abs(self.box.y - other.box.y)) < 1


@dataclass(frozen=True)
class TextLayer:
    """The texts over a drawing, after they were compared with the pixels."""

    texts: tuple[LaidText, ...] = ()
    """Those that the pixels do not speak against."""
    denied: tuple[LaidText, ...] = ()
    """Those where something else is drawn."""
    unconfirmed: int = 0
    """How many of `texts` were not read in the pixels too."""
    postponed: int = 0
    """How many of them there was no time to read."""


NO_LAYER = TextLayer()

Read = Callable[[Picture, Sequence[Box]], Sequence[Reading | None]]


def compare_layer(picture: Picture, texts: Sequence[LaidText], glance: Read | None, read: Read | None) -> TextLayer:
    """What the pixels say to each text of a layer; `glance` reads once, `read` reliably, None where nothing reads."""
    shown = [each for each in texts if picture.has_ink(each.box)]
    if glance is None or read is None:
        return TextLayer(tuple(shown), unconfirmed=len(shown))
    kept: list[LaidText] = []
    denied: list[LaidText] = []
    confirmed = postponed = 0
    for each, reading in zip(shown, glance(picture, [each.box for each in shown]), strict=True):
        if reading is not None and not _agrees(each.text, reading.text) and _speaks_against(each, reading):
            [reading] = read(picture, [each.box])
            if reading is not None and not _agrees(each.text, reading.text) and _speaks_against(each, reading):
                denied.append(each)
                continue
        kept.append(each)
        postponed += reading is None
        confirmed += reading is not None and _agrees(each.text, reading.text)
    return TextLayer(tuple(kept), tuple(denied), len(kept) - confirmed, postponed)


def _agrees(text: str, reading: str) -> bool:
    said, seen = _letters(text), _letters(reading)
    if not said:
        return True  # only signs
    # Beside it, parts of its neighbours may be read.
    score = fuzz.partial_ratio(said, seen) if len(seen) > len(said) else fuzz.ratio(said, seen)
    return score >= _ALIKE and _digits(said) in _digits(seen)


def _speaks_against(laid: LaidText, reading: Reading) -> bool:
    """Whether a reading that says something else is to be believed."""
    is_upright = laid.box.width >= _NARROW * laid.box.height * len(laid.text)
    return (
        reading.confidence >= _SURE
        and bool(_letters(reading.text))
        and laid.box.height >= _LEAST_HEIGHT
        and is_upright
        and _can_be_read(laid.text)
    )


def _letters(text: str) -> str:
    """The letters and digits, without accents, case and spaces."""
    plain = unicodedata.normalize("NFKD", folded(text))
    return re.sub(r"[\W_]", "", plain)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _can_be_read(text: str) -> bool:
    return all(unicodedata.name(letter, "").startswith(_SCRIPTS) for letter in _letters(text))

"""How marks look: palette, digits, sizes. The one home of style, handed to the page's drawing and to ours alike.

The digits are drawn here by hand and not taken from a font, so that a number is as high, as bold and as wide on every
machine, and so that the page and we draw the same pixels.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from vision_agent.types import Kind, Size

Ink = Literal["#ffffff", "#000000"]

# `#` is the ink, `o` half of it, `.` the label. Eleven rows high, seven columns wide, stems of two.
_DIGITS = """
.o###o. ...o##. .o###o. .o###o. ....##. ####### .o###o. ####### .o###o. .o###o.
o##o##o ..o###. o##o##o o##o##o ...###. ####### o##o##o ####### o##o##o o##o##o
##...## o#####. ##...## ##...## ..o###. ##..... ##...oo .....## ##...## ##...##
##...## ##o.##. .....## .....## ..####. ##..... ##..... ....o## ##...## ##...##
##...## ....##. ....o## ...o##o .o#o##. ##o##o. ##o##o. ....##o o##o##o ##...##
##...## ....##. ...o##o ..####. .##.##. ###oo## ###oo## ...o##. .o###o. ##oo###
##...## ....##. ..o##o. ...o##o o#o.##. .....## ##...## ...##o. o##o##o .o##o##
##...## ....##. .o##o.. .....## ####### .....## ##...## ..o##.. ##...## .....##
##...## ....##. o##o... ##...## ####### ##...## ##...## ..##o.. ##...## oo...##
o##o##o ....##. ####### o##o##o ....##. o##o##o o##o##o .o##... o##o##o o##o##o
.o###o. ....##. ####### .o###o. ....##. .o###o. .o###o. .##o... .o###o. .o###o.
"""

DIGITS: dict[str, tuple[str, ...]] = {
    str(digit): rows for digit, rows in enumerate(zip(*map(str.split, _DIGITS.strip().split("\n")), strict=True))
}


class Hue(NamedTuple):
    """The shades of one kind, and the digits that are read on each of them at 4.5:1 or better."""

    shades: tuple[str, ...]
    ink: Ink


# Hue says the kind; where two hues meet for colour-blind eyes, lightness or the colour of the digits keeps them apart.
PALETTE: dict[Kind, Hue] = {
    "button": Hue(("#c22f00", "#8f2300", "#d6204e", "#6e1414"), "#ffffff"),
    "link": Hue(("#0a58ca", "#053a8c", "#0074b7", "#3b3fd1"), "#ffffff"),
    "field": Hue(("#00775c", "#005440", "#2d7a1f", "#00768a"), "#ffffff"),
    "toggle": Hue(("#9b1fb0", "#64157a", "#b5179e", "#7a35d6"), "#ffffff"),
    "scroller": Hue(("#56606b", "#363f48", "#6f6558", "#4b5a4b"), "#ffffff"),
    "surface": Hue(("#ffc914", "#f29f05", "#ffe066", "#d9b310"), "#000000"),
    "guess": Hue(("#5cc8ff", "#9adcff", "#2ab3d9", "#84b8ff"), "#000000"),
}


class Style(BaseModel):
    """Sizes in picture pixels. All are whole, so that every edge is crisp."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    line: int = 1
    """Thickness of the coloured line inside the edge, and again outside it."""
    casing: int = 1
    """Thickness of the line around the coloured one, in the digits' colour: it survives where the hue does not."""
    pad_x: int = 2
    pad_y: int = 1
    gap: int = 1
    """Between two digits."""
    dash: tuple[int, int] = (4, 3)
    """On and off, for what was seen and not found in the page's structure."""
    leader_from: int = 3
    """A label this far or farther from its box gets a line to it."""

    tight_pad_x: int = 1
    """Instead of `pad_x` on a target that is narrower than the label would be; digits never shrink."""

    def label_size(self, text: str, room: int) -> Size:
        """The size of a label with this number for a target this wide, casing included."""
        wide, high = self.text_size(text)
        roomy = wide + 2 * (self.pad_x + self.casing)
        tight = wide + 2 * (self.tight_pad_x + self.casing)
        return Size(width=roomy if room >= roomy else tight, height=high + 2 * (self.pad_y + self.casing))

    def text_size(self, text: str) -> tuple[int, int]:
        """How wide and high the digits are, without anything around them."""
        glyphs = [DIGITS[character] for character in text]
        return sum(len(rows[0]) for rows in glyphs) + self.gap * (len(glyphs) - 1), max(map(len, glyphs))


STYLE = Style()


@cache
def ink_on(colour: str) -> Ink:
    """White or black: the one that is read better on this colour."""
    return "#ffffff" if contrast(colour, "#ffffff") >= contrast(colour, "#000000") else "#000000"


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, 1 to 21, as WCAG defines it."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@cache
def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of `#rrggbb`, 0 to 255."""
    red, green, blue = (int(colour[at:to], 16) for at, to in pairwise((1, 3, 5, 7)))
    return red, green, blue


def _luminance(colour: str) -> float:
    channels = (value / 255 for value in rgb(colour))
    red, green, blue = (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

"""How marks look: palette, digits, sizes. The one home of style, handed to the page's drawing and to ours alike.

The digits are drawn here by hand and not taken from a font, so that a number is as high, as bold and as wide on every
machine, and so that the page and we draw the same pixels.

What an OCR engine read back decided the look: black digits on a light plate without a frame, and no line near it. White
digits on a dark plate are themselves the gaps in a dark figure, and with the lines of a box that figure is an F or a T.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from vision_agent.types import Kind, MarkStyle, Size

Ink = Literal["#ffffff", "#000000"]
Hand = Literal["single", "wide", "narrow"]
"""How digits are written: narrow only where a wide number would not fit on its target, both equally high.

One digit alone has a hand of its own, larger and rounder: nothing beside it says that it is a number.
"""

COVERAGE: dict[str, float] = {"#": 1.0, "+": 191 / 255, "o": 128 / 255, "-": 64 / 255, ".": 0.0}
"""How much of a pixel is ink, by the sign that stands for it in the drawings below; the rest is the label."""

# Twelve rows high, eight columns wide, stems of two, open where it can be: of the digits alone on their label, over all
# fixture pages, an OCR engine reads more than 99.5 % in this hand and 98.3 % in the wide one.
_SINGLE = """
..o##o.. ...++... ..+##+.. .-+##o.. ....+##. .####### ..-+##o. +######+ ..+##+.. .-+##+-.
.o####o. .-###... .######. -#####+. ...-###. .####### .o#####o +######+ .+####+. .######.
-##--##- o####... o#+..+#o o#+.-##- ...+###. .##..... .##o..o- .....+#o -#+--+#- o#o..o#o
o#o..o#o o#o##... +#-..-#+ -+...+#- ..o#+##. .##..... o#o..... .....##. o#o..o#o ##....##
+#-..-#+ ...##... .-...o#+ ....-##- ..##-##. .##+##+. +#-+##o. ....o#+. -#+--+#- ##....##
##-..-## ...##... .....+#- ...###+. .o#o.##. .####### #######o ....+#-. .######. ##o..o##
##-..-## ...##... ....+##. ...+###- .##..##. .+o..o## ##o..o## ...-##.. -######- o#######
+#-..-#+ ...##... ...o##-. .....+#o o#+--##- ......## ##....## ...o#o.. +#o..o#+ .o##+-#+
o#o..o#o ...##... ..o##-.. o+...-#+ ######## ......## ##....## ...##-.. ##-..-## .....o#o
-##--##- ...##... .o##-... +#o.-+#o ######## +#o..o## o#o..o#o ..-##... +#+..+#+ -o..o##.
.o####o. -######+ o######+ -#####+. .....##. o######o .######. ..+#o... -######- o#####o.
..o##o.. -######+ o######+ .-+##o.. .....##. .-+##+-. .-+##+-. ..##-... .-+##+-. .o##+-..
"""

# Eleven rows high, seven columns wide.
_WIDE = """
.o###o. ...##.. .o###o. .o###o. ....##. ####### .o###o. ####### .o###o. .o###o.
o##o##o ..###.. o##o##o o##o##o ...###. ####### o##o##o ####### o##o##o o##o##o
##...## o####.. ##...## ##...## ..o###. ##..... ##...oo .....## ##...## ##...##
##...## ##o##.. .....## .....## ..####. ##..... ##..... ....o## ##...## ##...##
##...## #o.##.. ....o## ...o##o .o#o##. ##o##o. ##o##o. ....##o o##o##o ##...##
##...## ...##.. ...o##o ..####. .##.##. ###oo## ###oo## ...o##. .o###o. ##oo###
##...## ...##.. ..o##o. ...o##o o#o.##. .....## ##...## ...##o. o##o##o .o##o##
##...## ...##.. .o##o.. .....## ####### .....## ##...## ..o##.. ##...## .....##
##...## ...##.. o##o... ##...## ####### ##...## ##...## ..##o.. ##...## oo...##
o##o##o .###### ####### o##o##o ....##. o##o##o o##o##o .o##... o##o##o o##o##o
.o###o. .###### ####### .o###o. ....##. .o###o. .o###o. .##o... .o###o. .o###o.
"""

# Letters before a number, for roles and for rows and columns. They end in two empty columns: what stands apart and is
# wider, squarer or has serifs is not read as an eight, a one or a zero.
_LETTERS = """
######o... ########.. ####...... #######... ..o###o.... ##.....##.. ######o... ..o###o..
#######o.. ########.. ####...... #######... .o#####o... ###...###.. #######o.. .o#####o.
.##..o##.. ...##..... .##....... .##...#... o##o.o##o.. ###o.o###.. .##..o##.. o##o.o##.
.##...##.. ...##..... .##....... .##....... ##o...o##.. ####.####.. .##...##.. ##o......
.##..o##.. ...##..... .##....... .##..#.... ##.....##.. ##o#o#o##.. .##..o##.. ##.......
.######... ...##..... .##....... .#####.... ##.....##.. ##.###.##.. .######... ##.......
.##..o##.. ...##..... .##....... .##..#.... ##.....##.. ##.o#o.##.. .##o##o... ##.......
.##...##.. ...##..... .##....... .##....... ##o...o##.. ##.....##.. .##.o##o.. ##o......
.##..o##.. ...##..... .##...##.. .##....... o##o.o##o.. ##.....##.. .##..o##.. o##o.o##.
#######o.. ########.. ########.. ####...... .o#####o... ##.....##.. ####..###. .o#####o.
######o... ########.. ########.. ####...... ..o###o.... ##.....##.. ####..###. ..o###o..
"""

# Five columns wide: three digits fit on a key or a seat on which two wide ones would.
_NARROW = """
.###. .##.. .###. .###. ...## ##### .###. ##### .###. .###.
##o## o##.. ##o## ##o## ..### ##### ##o## ##### ##o## ##o##
##.## ###.. ##.## ##.## ..### ##... ##.## ...## ##.## ##.##
##.## #o#.. ...## ...## .#### ##... ##... ...## ##.## ##.##
##.## .##.. ...## ..o## .#o## ####. ##... ..o#o .###. ##.##
##.## .##.. ..o#o .###. ##.## ##o## ####. ..##. .###. ##o##
##.## .##.. ..##. ..o## ##.## ...## ##o## ..##. ##o## .####
##.## .##.. .o#o. ...## ##### ...## ##.## .o#o. ##.## ...##
##.## .##.. .##.. ##.## ##### ##.## ##.## .##.. ##.## ...##
##o## ##### ##### ##o## ...## ##o## ##o## .##.. ##o## ##o##
.###. ##### ##### .###. ...## .###. .###. .##.. .###. .###.
"""


def _drawn(characters: str, drawing: str) -> dict[str, tuple[str, ...]]:
    return dict(zip(characters, zip(*map(str.split, drawing.strip().split("\n")), strict=True), strict=True))


DIGITS: dict[Hand, dict[str, tuple[str, ...]]] = {
    "single": _drawn("0123456789", _SINGLE),
    "wide": _drawn("0123456789", _WIDE),
    "narrow": _drawn("0123456789", _NARROW),
}
GLYPHS: dict[Hand, dict[str, tuple[str, ...]]] = {
    hand: digits | _drawn("BILFOMRC", _LETTERS) for hand, digits in DIGITS.items()
}
"""Everything a label is written with, in each hand."""
_GLYPH_SIZES = {
    hand: {character: (len(rows[0]), len(rows)) for character, rows in glyphs.items()}
    for hand, glyphs in GLYPHS.items()
}


# The shades of each kind, for its lines; white around the dark ones, black around the light, both at 4.5:1 or better.
# Found by a search over each kind's range of hues: between any two kinds a difference (CIE76) of 25 to usual eyes and
# of 14 or more to red-, green- or blue-blind ones; 12 and 6 between two shades of a kind. A grid in which diagonal
# neighbours differ too needs four shades; scrollers and surfaces do not come in such grids.
PALETTE: dict[Kind, tuple[str, ...]] = {
    "button": ("#c94a06", "#8d1200", "#ac2800", "#690001"),
    "link": ("#086bda", "#0014b3", "#344feb", "#001adc"),
    "field": ("#0e8542", "#18492e", "#207050", "#205a2e"),
    "toggle": ("#c50daa", "#78059a", "#7a2980", "#472055"),
    "scroller": ("#6a6673", "#1d1f1d", "#46444c"),
    "surface": ("#e8dc60", "#d8a01f", "#cfb65c"),
    "guess": ("#4accf6", "#8cdce3", "#00aae9", "#7ea2ad"),
}


class Style(BaseModel):
    """What is drawn, and sizes in picture pixels. All are whole, so that every edge is crisp."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    palette: dict[Kind, tuple[str, ...]] = Field(default_factory=lambda: PALETTE, exclude=True)
    has_boxes: bool = True
    """Whether what a number belongs to has a box around it."""
    line: int = 1
    """Thickness of the coloured line inside the edge, and again outside it."""
    casing: int = 1
    """Thickness of the line around the coloured one, white or black: it survives where the hue does not. And of the
    white around a label, which parts it from what is dark beside it."""
    pad_x: int = 3
    """Around the digits, to the edge of their plate."""
    pad_y: int = 2
    clear: int = 2
    """Nothing is drawn so near a label: a line beside a digit is read as one more."""
    gap: int = 1
    """Between two digits."""
    dash: tuple[int, int] = (4, 3)
    """On and off, for what was seen and not found in the page's structure."""
    leader_from: int = 3
    """A label this far or farther from its box gets a line to it."""

    tight_pad_x: int = 2
    """Instead of `pad_x` on a target that is narrower than the label would be, and around narrow digits."""

    def label_size(self, text: str, room: int, hand: Hand = "wide") -> Size:
        """The size of a label with this text for a target this wide."""
        hand = "single" if len(text) == 1 else hand
        wide, high = self.text_size(text, hand)
        roomy, tight = wide + 2 * self.pad_x, wide + 2 * self.tight_pad_x
        is_roomy = hand != "narrow" and room >= roomy
        return Size(width=roomy if is_roomy else tight, height=high + 2 * self.pad_y)

    def text_size(self, text: str, hand: Hand = "wide") -> tuple[int, int]:
        """How wide and high the digits are, without anything around them."""
        glyphs = _GLYPH_SIZES[hand]
        wide = sum([glyphs[character][0] for character in text]) + self.gap * (len(text) - 1)
        return wide, max([glyphs[character][1] for character in text])

    def hand_in(self, text: str, width: int) -> Hand:
        """The hand in which this text is written in a label of this width."""
        if len(text) == 1:
            return "single"
        return "wide" if width >= self.text_size(text)[0] + 2 * self.tight_pad_x else "narrow"


STYLE = Style()
STYLES: dict[MarkStyle, Style] = {
    "coloured": STYLE,
    "plain": Style(palette=dict.fromkeys(PALETTE, ("#1d1f1d",))),
    "numbers": Style(has_boxes=False),
}
# A dark colour made light by white alone is drab.
_BRIGHTER = 2.0
_PLATE_SHARE = 0.3


@cache
def plate_of(colour: str) -> str:
    """The colour behind the digits of a mark with this line: light, so that they can be black."""
    if ink_on(colour) == "#000000":
        return colour
    brighter = min(_BRIGHTER, 255 / max(rgb(colour)))
    return "#" + "".join(f"{round(255 - (255 - value * brighter) * _PLATE_SHARE):02x}" for value in rgb(colour))


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

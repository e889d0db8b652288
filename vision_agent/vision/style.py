"""The style of marks: palette, digits, sizes. Both the drawing in the page and the drawing in Python use it.

The digits are bitmaps rather than a font, so that a number has the same height, weight and width on every machine, and
so that the page and Python draw the same pixels.

The look was chosen by what an OCR engine reads back best: black digits on a light plate without a frame, and no line
nearby. White digits on a dark plate read as gaps in a dark shape, which with the lines of a box looks like an F or a T.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Literal

from pydantic import Field

from vision_agent.base_model import FrozenModel
from vision_agent.geometry import Size
from vision_agent.observation import Kind, MarkStyle

Ink = Literal["#ffffff", "#000000"]
LabelWidth = Literal["single", "wide", "narrow"]
"""The width of a label's digits. Wide and narrow have the same height; narrow is used where wide digits do not fit.

A single digit has a form of its own, larger and rounder, because no digit beside it shows that it is a number.
"""

COVERAGE: dict[str, float] = {"#": 1.0, "+": 191 / 255, "o": 128 / 255, "-": 64 / 255, ".": 0.0}
"""The share of ink in a pixel, for each character of the bitmaps below; the rest is the label's colour."""

# 12 rows high, 8 columns wide, stems of 2 pixels, open shapes. Of single digits on all fixture pages, an OCR engine
# reads more than 99.5% in this form and 98.3% in the wide one.
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

# Letters before a number, for roles and for rows and columns. They end in two empty columns: set apart, wider, squarer
# or with serifs, they are not read as 8, 1 or 0.
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

# 5 columns wide: three digits fit on a key or a seat that holds two wide ones.
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


DIGITS: dict[LabelWidth, dict[str, tuple[str, ...]]] = {
    "single": _drawn("0123456789", _SINGLE),
    "wide": _drawn("0123456789", _WIDE),
    "narrow": _drawn("0123456789", _NARROW),
}
GLYPHS: dict[LabelWidth, dict[str, tuple[str, ...]]] = {
    width: digits | _drawn("BILFOMRC", _LETTERS) for width, digits in DIGITS.items()
}
"""Every character that labels use, in each width."""
_GLYPH_SIZES = {
    width: {character: (len(rows[0]), len(rows)) for character, rows in glyphs.items()}
    for width, glyphs in GLYPHS.items()
}


# The shades of each kind's lines; dark ones are cased in white and light ones in black, both at 4.5:1 or better. They
# come from a search over each kind's range of hues: any two kinds differ (CIE76) by 25 for normal vision and by 14 or
# more for red-, green- or blue-blind vision; two shades of a kind by 12 and 6. A grid in which diagonal neighbours
# differ too needs four shades; scrollers and surfaces do not form such grids.
PALETTE: dict[Kind, tuple[str, ...]] = {
    "button": ("#c94a06", "#8d1200", "#ac2800", "#690001"),
    "link": ("#086bda", "#0014b3", "#344feb", "#001adc"),
    "field": ("#0e8542", "#18492e", "#207050", "#205a2e"),
    "toggle": ("#c50daa", "#78059a", "#7a2980", "#472055"),
    "scroller": ("#6a6673", "#1d1f1d", "#46444c"),
    "surface": ("#e8dc60", "#d8a01f", "#cfb65c"),
    "guess": ("#4accf6", "#8cdce3", "#00aae9", "#7ea2ad"),
}


class Style(FrozenModel):
    """What is drawn, and its sizes in picture pixels; all are whole, so that edges are crisp."""

    palette: dict[Kind, tuple[str, ...]] = Field(default_factory=lambda: PALETTE, exclude=True)
    has_boxes: bool = True
    """Whether each mark has a box."""
    has_dark_plates: bool = False
    """Whether the digits are white on dark plates, as on a page that itself paints numbers on light ones."""
    line: int = 1
    """The thickness of the coloured line inside the edge of the box, and of the one outside it."""
    casing: int = 1
    """The thickness of the white or black line around the coloured one, which stays visible where the hue does not; and
    of the white line around a label, which separates it from dark surroundings."""
    pad_x: int = 3
    """The padding between the digits and the edge of their plate."""
    pad_y: int = 2
    clear: int = 2
    """The clearance around a label: a line beside a digit is read as another digit."""
    gap: int = 1
    """The gap between two digits."""
    dash: tuple[int, int] = (4, 3)
    """The dashes and gaps of boxes for marks found in pixels rather than in the page's structure."""
    leader_from: int = 3
    """The distance from which a label gets a line to its box."""

    tight_pad_x: int = 2
    """Replaces `pad_x` on targets narrower than the label, and around narrow digits."""

    def plate(self, colour: str) -> str:
        """The plate colour for a mark with this line colour."""
        return dark_plate_colour(colour) if self.has_dark_plates else plate_colour(colour)

    def label_size(self, text: str, room: int, width: LabelWidth = "wide") -> Size:
        """The size of a label with this text for a target of width `room`."""
        width = "single" if len(text) == 1 else width
        wide, high = self.text_size(text, width)
        roomy, tight = wide + 2 * self.pad_x, wide + 2 * self.tight_pad_x
        is_roomy = width != "narrow" and room >= roomy
        return Size(width=roomy if is_roomy else tight, height=high + 2 * self.pad_y)

    def text_size(self, text: str, width: LabelWidth = "wide") -> tuple[int, int]:
        """The width and height of the digits without padding."""
        glyphs = _GLYPH_SIZES[width]
        wide = sum([glyphs[character][0] for character in text]) + self.gap * (len(text) - 1)
        return wide, max([glyphs[character][1] for character in text])

    def choose_label_width(self, text: str, space: int) -> LabelWidth:
        """The width of the digits of this text in a label `space` pixels wide."""
        if len(text) == 1:
            return "single"
        return "wide" if space >= self.text_size(text)[0] + 2 * self.tight_pad_x else "narrow"


STYLE = Style()
STYLES: dict[MarkStyle, Style] = {
    "coloured": STYLE,
    "plain": Style(palette=dict.fromkeys(PALETTE, ("#1d1f1d",))),
    "numbers": Style(has_boxes=False),
}
# Lightening a dark colour with white alone makes it drab, so it is made brighter first.
_BRIGHTER = 2.0
_PLATE_SHARE = 0.3
_DARK_CONTRAST = 7.0
_DARKER = 0.9


@cache
def plate_colour(colour: str) -> str:
    """The plate colour for a mark with this line colour: light, so that the digits can be black."""
    if ink_colour(colour) == "#000000":
        return colour
    brighter = min(_BRIGHTER, 255 / max(rgb(colour)))
    return "#" + "".join(f"{round(255 - (255 - value * brighter) * _PLATE_SHARE):02x}" for value in rgb(colour))


@cache
def dark_plate_colour(colour: str) -> str:
    """The same, as dark as white digits need to be read on it: 7:1, which WCAG asks of small text."""
    dark = colour
    while contrast(dark, "#ffffff") < _DARK_CONTRAST:
        dark = "#" + "".join(f"{round(value * _DARKER):02x}" for value in rgb(dark))
    return dark


@cache
def ink_colour(colour: str) -> Ink:
    """White or black, whichever has more contrast on this colour."""
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

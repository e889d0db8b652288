"""The listing that goes with a marked picture: one `id[:]<tag …>text` line for each mark, in reading order.

Everything between the brackets and after them is page text; none of it can start a line or pass for one. Behind names
that several marks have stands `‹…›`, what tells them apart; no name can pass for that.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from vision_agent.distinguish import Distinction, distinctions, in_signs, unclaimed
from vision_agent.types import Box, Covered, Mark, PageMap, ScrollState

_LONGEST_NAME = 100
_LONGEST_VALUE = 60
_LONGEST_APART = 120
_LONGEST_CONTEXT = 160
_LONGEST_ROW = 240
_LONGEST_OPTIONS = 120
_MOST_OPTIONS = 12
_MOST_GONE = 30
_MOST_CHARACTERS = 40_000
_MOST_STACKED = 4
"""Accents on one letter; Vietnamese and pointed Hebrew need three."""

_FLAGS = ("selected", "current", "disabled", "readonly", "required", "invalid", "busy", "focused", "hovered")
_SAID_BY_TAG = {
    "a": ("link",),
    "area": ("link",),
    "button": ("button",),
    "summary": ("button",),
    "select": ("combobox",),
    "option": ("option",),
    "textarea": ("textbox",),
    "canvas": ("img",),
    "img": ("img",),
    "svg": ("img",),
    "video": ("video",),
    "audio": ("audio",),
    "tr": ("row",),
    "td": ("cell", "gridcell"),
    "th": ("columnheader", "rowheader"),
    "li": ("listitem",),
    "p": ("paragraph",),
    "ul": ("list",),
    "ol": ("list",),
    **{name: (name,) for name in ("dialog", "form", "table", "article", "figure", "output")},
    **{f"h{level}": ("heading",) for level in range(1, 7)},
}
"""Roles that go without saying."""
_ROLES_OF_THEIR_OWN = ("switch", "combobox", "tab", "menuitemcheckbox", "menuitemradio", "option")
"""Those that an input's type does not tell."""

# Joiners hold emoji and some letters together; beside ASCII they would only hide that `[:]` or `<` stands there.
_STRAY_JOINER = re.compile(r"\u200d+(?=[\ufe0f\u200d]*(?:[\x00-\x7f]|$))|(?<=[\x00-\x7f])[\u200d\ufe0f]+(?!\u20e3)")
_STRAY_NON_JOINER = re.compile(r"(?<![^\W\d_a-zA-Z])\u200c+|\u200c+(?![^\W\d_a-zA-Z])")
_ACCENT = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20df\u20e1-\u20ff\ufe20-\ufe2f]"
_STACKED = re.compile(f"((?:{_ACCENT}){{{_MOST_STACKED}}}){_ACCENT}+")

# Letters and symbols that show nothing although their category does not say so: fillers, blanks, variation selectors.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\ufffc\U000e0100-\U000e01ef]"
)

_HARMLESS = re.compile(r"(?:[!-?A-Z\\^-~]+(?: [!-?A-Z\\^-~]+)*)?")
"""Words of ASCII, one space apart, without a bracket or an `@`."""

# What could pass for `[:]` or for `@frame:` to a reader that is not a parser.
_BETWEEN = r"[\s\u0300-\u036f\u20d0-\u20ff]*"
_COLON = "[:\u02d0\u02d1\u02d8\u02f8\u0589\u05c3\u0703\u0704\u1361\u205a\u205d\u2236\u22ee\ua789\ufe13\ufe30\ufe55]"
_OPENING = "[\\[\u2045\u27e6\u2768\u2772\u298b\u298d\u298f\u3010\u3014\u3016\u301a\ufe39\ufe47\ufe5d]"
_CLOSING = "[\\]\u2046\u27e7\u2769\u2773\u298c\u298e\u2990\u3011\u3015\u3017\u301b\ufe3a\ufe48\ufe5e]"
_LIKE_A_MARK = re.compile(f"{_OPENING}{_BETWEEN}{_COLON}{_BETWEEN}{_CLOSING}")
_LIKE_A_FRAME = re.compile(f"[@\ufe6b]{_BETWEEN}frame{_BETWEEN}{_COLON}", re.IGNORECASE)
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
"""Full-width forms of ASCII; a one-to-one map, so that places stay."""


class Row(NamedTuple):
    """What is read in a row of a drawn grid."""

    mark: int
    row: int
    text: str
    box: Box


def reading_order(boxes: Sequence[Box], *, right_to_left: bool = False) -> list[int]:
    """Indices in the order in which one reads: by rows of things that overlap vertically, each from where it begins."""

    def along(i: int) -> float:
        return -boxes[i].right if right_to_left else boxes[i].x

    by_top = sorted(range(len(boxes)), key=lambda i: (boxes[i].y + boxes[i].height / 2, along(i)))
    ordered: list[int] = []
    row: list[int] = []
    for index in by_top:
        if row and not _same_row(boxes[row[0]], boxes[index]):
            ordered += sorted(row, key=along)
            row = []
        row.append(index)
    return ordered + sorted(row, key=along)


def listing(
    marks: Sequence[Mark],
    context: Sequence[tuple[str, Box]],
    scroll: ScrollState,
    covered: Sequence[Covered],
    picture: PageMap,
    more: Sequence[str] = (),
    gone: Sequence[int] = (),
    *,
    rows: Sequence[Row] = (),
    right_to_left: bool = False,
) -> str:
    """The listing: marks and `_[:]` context in reading order, then what lies outside or beneath, and what has gone.

    `context` boxes are in page coordinates; `picture` is the map of the picture that goes with it, for surfaces;
    `more` is what else there is to say of what is not in it; `rows` are those of grids that say something.
    """
    apart = distinctions(marks)
    entries = [(mark.box, line_of(mark, picture, apart.get(mark.number))) for mark in marks]
    said = {mark.name for mark in marks if any(each.endswith("beside it") for each in mark.evidence)}
    entries += [
        (box, f"_[:]{plain(text, _LONGEST_CONTEXT)}") for text, box in context if text.rstrip(" :：*") not in said
    ]
    entries += [(each.box, f"_[{each.mark} row {each.row}]{plain(each.text, _LONGEST_ROW)}") for each in rows]
    order = reading_order([box for box, _ in entries], right_to_left=right_to_left)
    # Text that the very next mark says of itself is not said twice; farther on in the row it would be missed.
    beside = {index: f"_[:]{apart[mark.number].context}" for index, mark in enumerate(marks) if mark.number in apart}
    lines = [
        entries[index][1]
        for index, after in pairwise([*order, -1])
        if entries[index][1] != beside.get(after) or not _same_row(entries[index][0], entries[after][0])
    ]
    kept = _within(lines, _MOST_CHARACTERS)
    rest = [f"{len(lines) - len(kept)} more lines were cut"] if len(kept) < len(lines) else []
    rest += more
    if scroll.above >= 1:
        rest.append(f"{scroll.above:.0f} px above")
    if scroll.below >= 1:
        rest.append(f"{scroll.below:.0f} px below")
    labels = {mark.number: mark.label for mark in marks}
    for each in covered:
        label = f" [{labels[each.blocker_mark]}]" if each.blocker_mark in labels else ""
        rest.append(f"{each.count} covered by {_blocker(each.blocker)}{label}")
    if gone:
        further = f" and {len(gone) - _MOST_GONE} more" if len(gone) > _MOST_GONE else ""
        rest.append(f"gone: {' '.join(str(number) for number in gone[:_MOST_GONE])}{further}")
    return "\n".join([*kept, *([f"... {' · '.join(rest)}"] if rest else [])])


def line_of(mark: Mark, picture: PageMap, apart: Distinction | None = None) -> str:
    """One mark's line, with what tells it apart from others of its name."""
    frame = f" @frame:{_word(mark.frame)}" if mark.frame else ""
    attributes = "".join(f" {each}" for each in _attributes(mark, picture))
    name, beside = unclaimed(plain(mark.name, _LONGEST_NAME)), plain(in_signs(apart), _LONGEST_APART)
    return f"{mark.label}[:]<{_word(mark.tag)}{attributes}>{f'{name} {beside}'.strip()}{frame}"


def plain(text: str, longest: int) -> str:
    """Page text that cannot break a line, reorder it, hide in it or pass for the start of one; cut with `…`."""
    if len(text) <= longest and _HARMLESS.fullmatch(text):
        return text  # nearly all of it, at a tenth of the time
    safe = _BLANK.sub("", "".join(_safe(letter) for letter in text))
    safe = _STACKED.sub(r"\1", _STRAY_NON_JOINER.sub("", _STRAY_JOINER.sub("", safe)))
    safe = _changed(_LIKE_A_FRAME, "@frame;", _changed(_LIKE_A_MARK, "[;]", " ".join(safe.split())))
    return safe if len(safe) <= longest else _STRAY_JOINER.sub("", safe[: longest - 1]).rstrip() + "…"


def _changed(forged: re.Pattern[str], into: str, text: str) -> str:
    """The text with every match replaced, found also where it is written in full-width forms."""
    narrow = text.translate(_NARROW)
    for found in reversed(list(forged.finditer(narrow))):
        text = text[: found.start()] + into + text[found.end() :]
    return text


def _blocker(text: str) -> str:
    """What covers something, with nothing in it that looks like the rest of the last line."""
    return re.sub(r"\[(\d+)\]", r"(\1)", plain(text, _LONGEST_NAME).translate(_NARROW).replace("·", "•"))


def _word(text: str) -> str:
    """A tag, role, type or frame: a page may give its own ones any letters."""
    return re.sub(r"[^\w.-]", "", plain(text, 24))


def _safe(letter: str) -> str:
    if letter in "\u200c\u200d\ufe0f":  # keep letters apart, join emoji, ask for their colours
        return letter
    category = unicodedata.category(letter)
    if category == "Zs":
        return " "
    # Cc control, Cf bidi and zero-width, Zl and Zp line breaks, Cs half a pair, Co private, Cn unassigned
    return " " if category in ("Cc", "Zl", "Zp") else "" if category in ("Cf", "Cs", "Co", "Cn") else letter


def _attributes(mark: Mark, picture: PageMap) -> list[str]:
    state, said = mark.state, [*_what(mark, picture)]
    if state.masked:
        said.append("value=•••")
    elif state.value:
        said.append(f'value="{_quoted(state.value)}"')
    elif state.placeholder and state.placeholder != mark.name:
        said.append(f'placeholder="{_quoted(state.placeholder)}"')
    if state.minimum or state.maximum:
        said.append(f'range="{_quoted(state.minimum or "")}..{_quoted(state.maximum or "")}"')
    if state.options:
        said.append(_options(state.options))
    for name in ("checked", "pressed"):
        value = getattr(state, name)
        if value is not None:
            said.append(name if value == "true" else f"{name}={value}")
    if state.expanded is not None:
        said.append("expanded" if state.expanded else "collapsed")
    if state.popup and mark.kind != "field":
        said.append(f"popup={_word(state.popup)}")
    said += [name for name in _FLAGS if getattr(state, name)]
    if state.scroll is not None:
        said.append(_remains(state.scroll))
    if mark.surface is not None:
        said.append(f"in={mark.surface}")
    if mark.source != "dom":
        said.append(f"source={mark.source}")
    if mark.confidence is not None:
        said.append(f"confidence={mark.confidence:.2f}")
    if mark.moves:
        said.append("moving")
    if mark.change:
        said.append(f"*{mark.change}")
    return said


def _what(mark: Mark, picture: PageMap) -> Iterator[str]:
    """What the tag does not say of what it is."""
    if mark.grid is not None:
        yield f"rows={mark.grid.rows} columns={mark.grid.columns}"
    elif mark.source != "dom":
        return
    elif mark.kind == "surface":
        box = picture.box_to_picture(mark.box)
        yield f"surface x={box.x:.0f} y={box.y:.0f} w={box.width:.0f} h={box.height:.0f}"
    elif mark.tag == "input" and mark.state.input_type:
        if mark.state.input_type != "text":
            yield f"type={_word(mark.state.input_type)}"
        if mark.role in _ROLES_OF_THEIR_OWN:
            yield f"role={mark.role}"
    elif mark.role == "generic":
        if mark.kind == "field":
            yield "editable"
        elif mark.kind != "scroller":
            yield "clickable"
    elif mark.kind != "scroller" and mark.role not in _SAID_BY_TAG.get(mark.tag, ()):
        yield f"role={_word(mark.role)}"


def _options(options: Sequence[str]) -> str:
    shown: list[str] = []
    for option in options[:_MOST_OPTIONS]:
        if sum(map(len, shown)) > _LONGEST_OPTIONS:
            break
        shown.append(_quoted(option).replace("|", "/"))
    more = f"|…{len(options) - len(shown)} more" if len(options) > len(shown) else ""
    return f'options="{"|".join(shown)}{more}"'


def _quoted(value: str) -> str:
    return plain(value, _LONGEST_VALUE).replace('"', "'").replace("<", "‹").replace(">", "›")


def _remains(scroll: ScrollState) -> str:
    right = max(0.0, scroll.width - scroll.view_width - scroll.x)
    sides = ((scroll.above, "above"), (scroll.below, "below"), (scroll.x, "left"), (right, "right"))
    return " ".join(["scroll", *(f"{amount:.0f}px {where}" for amount, where in sides if amount >= 1)])


def _within(lines: list[str], most: int) -> list[str]:
    """As many of the lines as fit, in their order; context gives way before any mark."""
    kept: set[int] = set()
    for wanted in (False, True):
        for index, line in enumerate(lines):
            if line.startswith("_[") == wanted and most >= len(line) + 1:
                kept.add(index)
                most -= len(line) + 1
    return [line for index, line in enumerate(lines) if index in kept]


def _same_row(first: Box, other: Box) -> bool:
    """Whether the other's middle lies within the first, or the first's within the other."""
    middle = other.y + other.height / 2
    mine = first.y + first.height / 2
    return first.y <= middle <= first.bottom and other.y <= mine <= other.bottom

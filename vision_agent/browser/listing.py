"""The listing that goes with a marked picture: one `id[:]<tag …>text` line for each mark, in reading order.

Everything between the brackets and after them is page text; none of it can start a line or pass for one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from vision_agent.types import Box, Covered, Mark, PageMap, ScrollState

_LONGEST_NAME = 100
_LONGEST_VALUE = 60
_LONGEST_CONTEXT = 160
_MOST_OPTIONS = 12
_MOST_CHARACTERS = 40_000

# It joins emoji and nothing in ASCII, where it would only hide that `[:]` or `<` stands there; keycaps have one too.
_STRAY_JOINER = re.compile(r"\u200d+(?=[\ufe0f\u200d]*(?:[\x00-\x7f]|$))|(?<=[\x00-\x7f])[\u200d\ufe0f]+(?!\u20e3)")
_FLAGS = ("selected", "disabled", "readonly", "required", "invalid", "focused")
_SAID_BY_TAG = {
    "a": "link",
    "button": "button",
    "select": "combobox",
    "textarea": "textbox",
    "canvas": "img",
    "video": "video",
    "summary": "button",
    "input": "",
}


def reading_order(boxes: Sequence[Box]) -> list[int]:
    """Indices in the order in which one reads: by rows of things that overlap vertically, each from left to right."""
    by_top = sorted(range(len(boxes)), key=lambda i: (boxes[i].y + boxes[i].height / 2, boxes[i].x))
    ordered: list[int] = []
    row: list[int] = []
    for index in by_top:
        if row and not _same_row(boxes[row[0]], boxes[index]):
            ordered += sorted(row, key=lambda i: boxes[i].x)
            row = []
        row.append(index)
    return ordered + sorted(row, key=lambda i: boxes[i].x)


def listing(
    marks: Sequence[Mark],
    context: Sequence[tuple[str, Box]],
    scroll: ScrollState,
    covered: Sequence[Covered],
    picture: PageMap,
    more: Sequence[str] = (),
) -> str:
    """The listing: marks and `_[:]` context in reading order, then what lies outside or beneath.

    `context` boxes are in page coordinates; `picture` is the map of the picture that goes with it, for surfaces;
    `more` is what else there is to say of what is not in it.
    """
    entries = [(mark.box, line_of(mark, picture)) for mark in marks]
    entries += [(box, f"_[:]{plain(text, _LONGEST_CONTEXT)}") for text, box in context]
    lines = [entries[index][1] for index in reading_order([box for box, _ in entries])]
    kept = _within(lines, _MOST_CHARACTERS)
    rest = [f"{len(lines) - len(kept)} more lines were cut"] if len(kept) < len(lines) else []
    rest += more
    if scroll.above >= 1:
        rest.append(f"{scroll.above:.0f} px above")
    if scroll.below >= 1:
        rest.append(f"{scroll.below:.0f} px below")
    for each in covered:
        number = f" [{each.blocker_mark}]" if each.blocker_mark is not None else ""
        rest.append(f"{each.count} covered by {plain(each.blocker, _LONGEST_NAME)}{number}")
    return "\n".join([*kept, *([f"... {' · '.join(rest)}"] if rest else [])])


def line_of(mark: Mark, picture: PageMap) -> str:
    """One mark's line."""
    frame = f" @frame:{_word(mark.frame)}" if mark.frame else ""
    attributes = "".join(f" {each}" for each in _attributes(mark, picture))
    return f"{mark.label}[:]<{_word(mark.tag)}{attributes}>{plain(mark.name, _LONGEST_NAME)}{frame}"


def plain(text: str, longest: int) -> str:
    """Page text that cannot break a line, reorder it, hide in it or pass for the start of one; cut with `…`."""
    safe = _STRAY_JOINER.sub("", "".join(_safe(letter) for letter in text))
    safe = " ".join(safe.split()).replace("[:]", "[;]").replace("@frame:", "@frame;")
    return safe if len(safe) <= longest else safe[: longest - 1] + "…"


def _word(text: str) -> str:
    """A tag, role, type or frame: a page may give its own ones any letters."""
    return re.sub(r"[^\w.-]", "", plain(text, 24))


def _safe(letter: str) -> str:
    if letter in "\u200d\ufe0f":  # joins emoji
        return letter
    category = unicodedata.category(letter)
    if category == "Zs":
        return " "
    # Cc control, Cf bidi and zero-width, Zl and Zp line breaks, Cs half a pair, Co private, Cn unassigned
    return " " if category in ("Cc", "Zl", "Zp") else "" if category in ("Cf", "Cs", "Co", "Cn") else letter


def _attributes(mark: Mark, picture: PageMap) -> list[str]:
    state, said = mark.state, []
    if state.input_type and mark.tag == "input":
        said.append(f"type={_word(state.input_type)}")
    elif mark.kind == "surface":
        box = picture.box_to_picture(mark.box)
        said.append(f"surface x={box.x:.0f} y={box.y:.0f} w={box.width:.0f} h={box.height:.0f}")
    elif mark.kind != "scroller" and _SAID_BY_TAG.get(mark.tag) != mark.role:
        said.append("clickable" if mark.role == "generic" else f"role={_word(mark.role)}")
    if state.masked:
        said.append("value=•••")
    elif state.value:
        said.append(f'value="{_quoted(state.value)}"')
    elif state.placeholder and state.placeholder != mark.name:
        said.append(f'placeholder="{_quoted(state.placeholder)}"')
    if state.options:
        more = "|…" if len(state.options) > _MOST_OPTIONS else ""
        shown = "|".join(_quoted(option).replace("|", "/") for option in state.options[:_MOST_OPTIONS])
        said.append(f'options="{shown}{more}"')
    for name in ("checked", "pressed"):
        value = getattr(state, name)
        if value is not None:
            said.append(name if value == "true" else f"{name}={value}")
    if state.expanded is not None:
        said.append("expanded" if state.expanded else "collapsed")
    said += [name for name in _FLAGS if getattr(state, name)]
    if state.scroll is not None:
        said.append(_remains(state.scroll))
    if mark.source != "dom":
        said.append(f"source={mark.source}")
    if mark.confidence is not None:
        said.append(f"confidence={mark.confidence:.2f}")
    if mark.change:
        said.append(f"*{mark.change}")
    return said


def _quoted(value: str) -> str:
    return plain(value, _LONGEST_VALUE).replace('"', "'").replace(">", "›")


def _remains(scroll: ScrollState) -> str:
    right = max(0.0, scroll.width - scroll.view_width - scroll.x)
    sides = ((scroll.above, "above"), (scroll.below, "below"), (scroll.x, "left"), (right, "right"))
    return " ".join(["scroll", *(f"{amount:.0f}px {where}" for amount, where in sides if amount >= 1)])


def _within(lines: list[str], most: int) -> list[str]:
    """As many of the lines as fit, in their order; context gives way before any mark."""
    kept: set[int] = set()
    for wanted in (False, True):
        for index, line in enumerate(lines):
            if line.startswith("_[:]") == wanted and most >= len(line) + 1:
                kept.add(index)
                most -= len(line) + 1
    return [line for index, line in enumerate(lines) if index in kept]


def _same_row(first: Box, other: Box) -> bool:
    """Whether the other's middle lies within the first, or the first's within the other."""
    middle = other.y + other.height / 2
    mine = first.y + first.height / 2
    return first.y <= middle <= first.bottom and other.y <= mine <= other.bottom

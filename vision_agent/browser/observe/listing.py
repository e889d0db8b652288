"""Writes the listing of a marked picture: one `id[:]<tag …>text` line per mark, in reading order.

Text inside and after the brackets comes from the page; none of it can start a line or imitate one. A name that several
marks share is followed by `‹…›` with the words that tell them apart; no name can imitate that. So is a drawn name of
which a part was not read, `‹unread›`, or that may be wrong, `‹unsure›`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from vision_agent.describe.distinctions import Distinction, bracketed, distinctions, safe_name
from vision_agent.geometry import Box, PageMap, ScrollState
from vision_agent.observation import Covered, Mark, MarkState
from vision_agent.text.escape import NARROW, safe_line

_LONGEST_NAME = 100
_LONGEST_VALUE = 60
_LONGEST_TEXT = 300
"""Characters of a value with several lines; each of them has at most `_LONGEST_VALUE`."""
_LONGEST_APART = 120
_LONGEST_CONTEXT = 160
_LONGEST_ROW = 240
_LONGEST_OPTIONS = 120
_MOST_OPTIONS = 12
_MOST_GONE = 30
_MOST_CHARACTERS = 40_000
_SURE = 0.9
"""From this confidence on, what an icon looks like is listed without it."""
_SHORTEST_COUNT = 5
"""So many texts that count up evenly, such as the hours of a day, are shortened to the first two and the last."""

_FLAGS = ("selected", "current", "disabled", "readonly", "required", "invalid", "busy", "focused", "hovered")
_IMPLIED_ROLES = {
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
"""Roles that a tag implies, so that the listing leaves them out."""
_ROLES_BEYOND_TYPE = ("switch", "combobox", "tab", "menuitemcheckbox", "menuitemradio", "option")
"""Roles that an input's type does not imply."""


_NUMBER = re.compile(r"\d{1,9}")
_LISTENS = "listens: "
"""How the evidence of a mark begins that names its event listeners."""
_PRESSES = {"click", "dblclick", "auxclick", "contextmenu", "mouseup", "pointerup", "touchend"}
_DOWNS = {"mousedown", "pointerdown", "touchstart", "dragstart"}
_MOVES = {"mousemove", "pointermove", "touchmove"}


class GridRow(NamedTuple):
    """The text read in one row of a drawn grid."""

    mark: int
    row: int
    text: str
    box: Box


def reading_order(boxes: Sequence[Box], *, right_to_left: bool = False) -> list[int]:
    """Indices in reading order: row by row (boxes that overlap vertically), each row from its start."""

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


def _top_of(box: Box) -> Box:
    """Where a surface is read: before what is drawn in it."""
    return Box(x=box.x, y=box.y, width=box.width, height=min(box.height, 1))


def listing(
    marks: Sequence[Mark],
    context: Sequence[tuple[str, Box]],
    scroll: ScrollState,
    covered: Sequence[Covered],
    picture: PageMap,
    more: Sequence[str] = (),
    gone: Sequence[int] = (),
    *,
    rows: Sequence[GridRow] = (),
    right_to_left: bool = False,
    lines: MarkLines | None = None,
) -> str:
    """The listing: marks and `_[:]` context in reading order, then a line on what is out of view, covered or gone.

    `context` boxes are in page coordinates; `picture` is the map of the marked picture, for surfaces; `more` are other
    notes for the last line; `rows` are the grid rows with text; `lines` has those of the last listing, for use again.
    """
    apart = distinctions(marks)
    said = _labels_of_fields(marks, context)
    texts = [
        (box, f"_[:]{safe_line(text, _LONGEST_CONTEXT)}") for at, (text, box) in enumerate(context) if at not in said
    ]
    texts += [(each.box, f"_[{each.mark} row {each.row}]{safe_line(each.text, _LONGEST_ROW)}") for each in rows]
    holding = {mark.surface for mark in marks}
    places = (_top_of(mark.box) if mark.number in holding else mark.box for mark in marks)
    boxes = [*places, *(box for box, _ in texts)]
    order = reading_order(boxes, right_to_left=right_to_left)
    repeated = _with_options_of_the_list_before([marks[index] for index in order if index < len(marks)])
    of_marks = (lines or MarkLines()).write(marks, picture, apart, repeated)
    entries = [(mark.box, line) for mark, line in zip(marks, of_marks, strict=True)] + texts
    # Context that the very next mark repeats is dropped; farther along the row it would be missed.
    shown = [
        entries[index]
        for index, after in pairwise([*order, -1])
        if not (
            0 <= after < len(marks)
            and _repeats(marks[after], apart.get(marks[after].number), entries[index][1])
            and _same_row(entries[index][0], entries[after][0])
        )
    ]
    whole = _with_joined_context(_with_short_counts(shown))
    kept = _fit_budget(whole, _MOST_CHARACTERS)
    rest = [f"{len(whole) - len(kept)} more lines were cut"] if len(kept) < len(whole) else []
    rest += more
    if scroll.above >= 1:
        rest.append(f"{scroll.above:.0f} px above")
    if scroll.below >= 1:
        rest.append(f"{scroll.below:.0f} px below")
    labels = {mark.number: mark.label_text for mark in marks}
    for each in covered:
        label = f" [{labels[each.blocker_mark]}]" if each.blocker_mark in labels else ""
        rest.append(f"{each.count} covered by {_blocker(each.blocker)}{label}")
    if gone:
        further = f" and {len(gone) - _MOST_GONE} more" if len(gone) > _MOST_GONE else ""
        rest.append(f"gone: {' '.join(str(number) for number in gone[:_MOST_GONE])}{further}")
    return "\n".join([*kept, *([f"... {' · '.join(rest)}"] if rest else [])])


class MarkLines:
    """The lines of the marks of one listing, which most marks of the next one have again."""

    def __init__(self) -> None:
        self._picture = PageMap()
        self._last: dict[int, tuple[Mark, Distinction | None, bool, str]] = {}

    def write(
        self, marks: Sequence[Mark], picture: PageMap, apart: Mapping[int, Distinction], repeated: Collection[int]
    ) -> list[str]:
        """The line of each mark; `repeated`: the numbers of those with the options of the list before."""
        last = self._last if picture == self._picture else {}
        lines = []
        for mark in marks:
            number, own, is_repeated = mark.number, apart.get(mark.number), mark.number in repeated
            known = last.get(number)
            if known is not None and known[0] is mark and known[1:3] == (own, is_repeated):
                lines.append(known[3])
            else:
                lines.append(mark_line(mark, picture, own, has_same_options=is_repeated))
        self._picture = picture
        self._last = {
            mark.number: (mark, apart.get(mark.number), mark.number in repeated, line)
            for mark, line in zip(marks, lines, strict=True)
        }
        return lines


def mark_line(mark: Mark, picture: PageMap, apart: Distinction | None = None, *, has_same_options: bool = False) -> str:
    """One mark's line, with the words that tell it apart from others of its name.

    `has_same_options`: it has the options of the list before it, and the line says only that.
    """
    frame = f" @frame:{_word(mark.frame)}" if mark.frame else ""
    attributes = "".join(f" {each}" for each in _attributes(mark, picture, has_same_options))
    name = safe_name(safe_line(mark.name, _LONGEST_NAME))
    beside = bracketed(safe_line(str(apart), _LONGEST_APART) if apart else "")
    legibility = f" ‹{mark.reading}›" if mark.reading else ""
    return f"{mark.label_text}[:]<{_word(mark.tag)}{attributes}>{f'{name}{legibility}{beside}'.strip()}{frame}"


def _repeats(mark: Mark, apart: Distinction | None, line: str) -> bool:
    """Whether a mark's own line has all the words of a line of context."""
    text = line.removeprefix("_[:]")
    if text == line:
        return False
    is_in_name = any(map(str.isalpha, text)) and f" {text} " in f" {safe_line(mark.name, _LONGEST_NAME)} "
    return is_in_name or (apart is not None and text == apart.context)


def _with_short_counts(entries: Sequence[tuple[Box, str]]) -> list[tuple[Box, str]]:
    """The entries, with only the first two and the last of successive context that counts up evenly."""
    kept: list[tuple[Box, str]] = []
    at = 0
    while at < len(entries):
        end = at + 1
        while end < len(entries) and _counts_on([line for _, line in entries[at : end + 1]][-3:]):
            end += 1
        if end - at >= _SHORTEST_COUNT:
            box, last = entries[end - 1]
            kept += [*entries[at : at + 2], (box, f"_[:]… {last.removeprefix('_[:]')}")]
        else:
            end = at + 1
            kept.append(entries[at])
        at = end
    return kept


def _counts_on(lines: Sequence[str]) -> bool:
    """Whether two or three lines of context differ only in one number, which grows by the same each time."""
    if len({_NUMBER.sub("0", line) for line in lines}) > 1 or not all(line.startswith("_[:]") for line in lines):
        return False
    columns = zip(*(map(int, _NUMBER.findall(line)) for line in lines), strict=True)
    steps = [{after - before for before, after in pairwise(column)} for column in columns]
    growing = [step for step in steps if step != {0}]
    return len(growing) == 1 and len(growing[0]) == 1 and min(growing[0]) > 0


def _with_joined_context(entries: Sequence[tuple[Box, str]]) -> list[str]:
    """The lines, with successive context in one line: ` · ` within a row of the page, ` ⏎ ` between rows."""
    lines: list[str] = []
    last: Box | None = None
    for box, line in entries:
        text = line.removeprefix("_[:]")
        is_context = text != line
        if is_context and last is not None and len(lines[-1]) + len(text) <= _LONGEST_ROW:
            lines[-1] += f" {'·' if _same_row(last, box) else '⏎'} {text}"
        else:
            lines.append(line)
        last = box if is_context else None
    return lines


def _labels_of_fields(marks: Sequence[Mark], context: Sequence[tuple[str, Box]]) -> set[int]:
    """The texts that are already there as names: of each field named by the text beside it, the nearest such text."""
    by_text: defaultdict[str, list[int]] = defaultdict(list)
    for at, (text, _) in enumerate(context):
        by_text[text.rstrip(" :：*")].append(at)
    named = [mark for mark in marks if any(each.endswith("beside it") for each in mark.evidence)]
    return {
        min(by_text[mark.name], key=lambda at: _distance(context[at][1], mark.box))
        for mark in named
        if mark.name in by_text
    }


def _distance(one: Box, other: Box) -> float:
    """How far apart two boxes are, across and along together; 0 if they touch."""
    across = max(0.0, one.x - other.right, other.x - one.right)
    return across + max(0.0, one.y - other.bottom, other.y - one.bottom)


def _blocker(text: str) -> str:
    """An obstacle's words, without anything that looks like other parts of the last line."""
    return re.sub(r"\[(\d+)\]", r"(\1)", safe_line(text, _LONGEST_NAME).translate(NARROW).replace("·", "•"))


def _word(text: str) -> str:
    """A tag, role, type or frame name, without unusual characters: pages may define their own."""
    return re.sub(r"[^\w.-]", "", safe_line(text, 24))


def _with_options_of_the_list_before(marks: Sequence[Mark]) -> set[int]:
    """The numbers of the marks whose options are those of the last mark with options before them."""
    lists = [mark for mark in marks if mark.state.options]
    return {mark.number for before, mark in pairwise(lists) if mark.state.options == before.state.options}


def _is_called_by_its_choice(mark: Mark) -> bool:
    """Whether a list to choose from is called what is chosen in it, so that its line need not say it twice."""
    is_list = mark.is_boxed_field or (mark.role == "combobox" and mark.tag != "input")
    return is_list and mark.state.value == mark.name


def _attributes(mark: Mark, picture: PageMap, has_same_options: bool) -> list[str]:
    state, parts = mark.state, [*_kind_attributes(mark, picture)]
    if state.masked and state.value != "":
        parts.append("value=•••")
    elif state.value and "\n" in state.value:
        parts += _several_lines(state.value.split("\n"), state.caret_line)
    elif state.value and not _is_called_by_its_choice(mark):
        parts.append(f'value="{_quotable(state.value)}"')
    elif state.placeholder and state.placeholder != mark.name:
        parts.append(f'placeholder="{_quotable(state.placeholder)}"')
    if mark.shows:
        parts.append(f'shows="{_quotable(mark.shows)}"')
    if (state.minimum or state.maximum) and not (mark.role == "slider" and _is_default_range(state)):
        parts.append(f'range="{_quotable(state.minimum or "")}..{_quotable(state.maximum or "")}"')
    if state.options:
        parts.append("options=same" if has_same_options else _options(state.options))
    if state.multiple and mark.kind != "toggle":
        parts.append("multiple")
    # As in HTML, what is not checked says nothing of it; nor does what opens something, while that is closed.
    for name in ("checked", "pressed"):
        value = getattr(state, name)
        # What is drawn says nothing where its state could not be told.
        if value is not None and (value != "false" or mark.source != "dom"):
            parts.append(name if value == "true" else f"{name}={value}")
    opens = state.popup if mark.kind != "field" else None
    if state.expanded:
        parts.append("expanded")
    elif state.expanded is not None and not opens and mark.role != "combobox":
        parts.append("collapsed")
    if opens:
        parts.append(f"popup={_word(opens)}")
    # A list whose field takes no text is chosen from all the same.
    parts += [name for name in _FLAGS if getattr(state, name) and not (name == "readonly" and mark.is_boxed_field)]
    if state.scroll is not None:
        parts.append(_scroll_attributes(state.scroll))
    if mark.surface is not None:
        parts.append(f"in={mark.surface}")
    if mark.source != "dom":
        parts.append(f"source={mark.source}")
    if mark.confidence is not None:
        parts.append(f"confidence={mark.confidence:.2f}")
    if mark.icon is not None:
        parts.append(f'icon="{_quotable(mark.icon.name)}"')
        if mark.icon.confidence < _SURE:
            parts.append(f"sure={mark.icon.confidence:.2f}")
    if mark.moves:
        parts.append("moving")
    if mark.change:
        parts.append(f"*{mark.change}")
    return parts


def _is_default_range(state: MarkState) -> bool:
    """Whether a slider has the limits that it has where a page names none."""
    return (state.minimum, state.maximum) == ("0", "100")


def _kind_attributes(mark: Mark, picture: PageMap) -> Iterator[str]:
    """Attributes for what the tag does not imply."""
    if mark.grid is not None:
        yield f"rows={mark.grid.rows} columns={mark.grid.columns}"
    elif mark.source != "dom":
        if mark.look:
            yield safe_line(mark.look, 40)
        if mark.looks_like:
            yield f'role="{mark.looks_like}"' if " " in mark.looks_like else f"role={mark.looks_like}"
        if mark.joins:
            yield f"joins={','.join(map(str, mark.joins))}"
    elif mark.kind == "surface":
        box = picture.box_to_picture(mark.box)
        yield f"surface x={box.x:.0f} y={box.y:.0f} w={box.width:.0f} h={box.height:.0f}"
        if uses := _uses(mark):
            yield f"listens={','.join(uses)}"
    elif mark.tag == "input" and mark.state.input_type:
        if mark.state.input_type != "text":
            yield f"type={_word(mark.state.input_type)}"
        if mark.role in _ROLES_BEYOND_TYPE:
            yield f"role={mark.role}"
    elif mark.role == "generic":
        if mark.kind == "field":
            yield "editable"
    elif mark.kind != "scroller" and mark.role not in _IMPLIED_ROLES.get(mark.tag, ()):
        yield f"role={_word(mark.role)}"


def _uses(mark: Mark) -> list[str]:
    """What a surface itself listens for: click, drag, wheel, key and paste."""
    said = next((each.removeprefix(_LISTENS) for each in mark.evidence if each.startswith(_LISTENS)), "")
    heard = set(said.split(", "))
    uses = {
        "click": heard & (_PRESSES | _DOWNS),
        "drag": heard & _DOWNS and heard & _MOVES,
        "wheel": heard & {"wheel"},
        "key": heard & {"keydown", "keypress"},
        "paste": heard & {"paste"},
    }
    return [name for name, types in uses.items() if types]


def _several_lines(lines: Sequence[str], caret: int | None) -> Iterator[str]:
    """The lines of a field as one value, from where the caret's line fits too, and that line by itself."""
    shown = [_quotable(line) for line in lines]
    at = min(caret or 1, len(shown)) - 1
    first = next(
        start for start in range(at + 1) if len("⏎".join(shown[start : at + 1])) < _LONGEST_TEXT or start == at
    )
    text = ("…⏎" if first else "") + "⏎".join(shown[first:])
    yield f'value="{text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 1] + "…"}"'
    if caret is not None:
        yield f'caret="{caret}: {shown[at]}"'


def _options(options: Sequence[str]) -> str:
    shown: list[str] = []
    for option in options[:_MOST_OPTIONS]:
        if sum(map(len, shown)) > _LONGEST_OPTIONS:
            break
        shown.append(listed_option(option))
    more = f"|…{len(options) - len(shown)} more" if len(options) > len(shown) else ""
    return f'options="{"|".join(shown)}{more}"'


def listed_option(option: str) -> str:
    """An option as the listing shows it: the sign between options and quotes are replaced in it."""
    return _quotable(option).replace("|", "/")


def _quotable(value: str) -> str:
    return safe_line(value, _LONGEST_VALUE).replace('"', "'").replace("<", "‹").replace(">", "›")


def _scroll_attributes(scroll: ScrollState) -> str:
    right = max(0.0, scroll.width - scroll.view_width - scroll.x)
    sides = ((scroll.above, "above"), (scroll.below, "below"), (scroll.x, "left"), (right, "right"))
    return " ".join(["scroll", *(f"{amount:.0f}px {where}" for amount, where in sides if amount >= 1)])


def _fit_budget(lines: list[str], most: int) -> list[str]:
    """As many lines as fit into `most` characters, in order; context is dropped before any mark."""
    kept: set[int] = set()
    for wanted in (False, True):
        for index, line in enumerate(lines):
            if line.startswith("_[") == wanted and most >= len(line) + 1:
                kept.add(index)
                most -= len(line) + 1
    return [line for index, line in enumerate(lines) if index in kept]


def _same_row(first: Box, other: Box) -> bool:
    """Whether each box contains the vertical middle of the other."""
    middle = other.y + other.height / 2
    mine = first.y + first.height / 2
    return first.y <= middle <= first.bottom and other.y <= mine <= other.bottom

"""Parses step lines: one plain sentence per action. `resolve_target` finds what a line names on the page.

All lines are parsed before anything runs, so that an error in the last one is reported before the first is carried out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Literal, NoReturn
from urllib.parse import quote, urljoin

from pydantic import JsonValue, TypeAdapter, ValidationError
from rapidfuzz import fuzz, process

from vision_agent.actions import (
    LONGEST_HOLD_S,
    TARGET_FIELDS,
    Action,
    Ask,
    Back,
    Check,
    Click,
    CloseTab,
    Custom,
    DoubleTap,
    Drag,
    Extract,
    FindOn,
    Finish,
    Forward,
    Goto,
    Hold,
    Hover,
    Infeasible,
    LookAt,
    Magnify,
    Modifier,
    Offset,
    OpenTab,
    Pan,
    PictureArea,
    Point,
    Press,
    Read,
    Reload,
    Scroll,
    ScrollTo,
    Select,
    SelectText,
    Set,
    SwitchTab,
    Type,
    Upload,
    Wait,
    Zoom,
)
from vision_agent.base_model import words_of
from vision_agent.errors import UsageError
from vision_agent.models.offline.resolve_target import (
    KIND_WORDS,
    PLACEHOLDER,
    AmbiguousError,
    GridCell,
    LineTarget,
    NamedTarget,
    NotFoundError,
    NumberedTarget,
    PicturePoint,
    PointInMark,
    find_target,
    is_field,
    is_list,
    is_scroller,
    names_in_placeholders,
    point_in,
)
from vision_agent.observation import Mark, Observation
from vision_agent.text.values_apart import LETTER, with_letters

GRAMMAR = """\
  click Sign in                     double click, right click, double tap Map
  click Delete ‹Ann›                click Delete <Ann>, click Delete in row Ann
  click Pause within 5 s            check News within 2 s
  click Card with Shift held        click Card with Control+Shift held
  hold Fire for 2 s                 hold Fire until "Charged", hold Fire with a finger for 5 s
  type "a@b.c" into Email           and press Enter; append "x" to Notes
  select Large in Size              select "A", "B" in List, also select "C" in List, unselect "A" in List
  select text "Chapter 2"           select text "It was" to "the end.", select text "end ‹happy end›"
  check News, uncheck Terms         set Delivery day to 2026-12-01
  upload cv.pdf to Attach           read, read page, read download, read value of Notes
  read table "Open orders"          read table at Total, read exact table at Sea chart
  extract Item, Price as number     extract Item, Price as number from "Open orders", extract Item from Total
  press Enter                       press Control+a, press ArrowRight 5 times in Slider, press Space for 2 s
  scroll down                       scroll down 2 pages, scroll down in List, scroll down to the end
  scroll down 300 px in Map         scroll up 100 px with Control in Map
  scroll to Item 250                scroll to "Chapter 2", scroll to [12]
  hover Menu                        drag Card to Done, drag Corner by (40, -20)
  drag (90, 80) through (160, 40), (230, 80) to (90, 80)
  drag (0.1, 0.9) of Map through (0.3, 0.5), (0.5, 0.9) to (0.7, 0.5) of Map
  drag Corner by (40, 40) with Shift held
  zoom Toolbar                      zoom (100, 50) to (400, 300), zoom Sea chart with a grid
  look at Map only                  look at [8] only, tile 2; look at (100, 50) to (400, 300) only
  pan Map by (-200, 0)              find "Berlin" on Map
  magnify Map 2 times               magnify Map 0.5 times with two fingers, turn Map by 30 degrees
  goto /cart                        open /cart, back, forward, reload
  wait for "text"                   wait for "text" within 30 s, wait for a change, wait 1
  open tab URL                      switch to tab 2, close tab 2
  ask QUESTION
  call price_of with article="mug"  call book_seat with target=12, name="Ann"
  finish                            finish ANSWER, fail REASON, infeasible REASON
A thing is named by what the listing calls it (Sign in, "Sign in", the Add button, 2nd Add), by its number ([12]),
where several have one name, with words behind it in ‹ › or < > that only one of them has in its row, card or heading,
as the listing shows them (Delete ‹Ann›, 2nd Save <Home>, checkbox ‹Ann› for one without a name), or behind `in row`
with words of its row or card alone (Delete in row Ann),
by a point of the picture in pixels ((412, 233)), by a point inside it ((0.42, 0.31) of Seat map),
or by a cell of what has rows and columns (row 3 column 7 of Seat map, row 2 column 5 of [14]).
Messages show what a thing is before its name, and it may be called so: button "Cancel", link "Home", round A1, or
blue round A1 for something drawn.
If nothing has the name, the only thing whose name begins or ends with it is taken (Play for Play Video), unless it
deletes, sends, pays or submits, its other words may make it the opposite (Do not accept for Accept), or the page goes
on outside the view.
If nothing in view has the name, and exactly one thing elsewhere on the page or in a list on it has, it is scrolled to.
A table, list or cards are read by their caption, label or heading too, in double quotes (read table "Open orders"); of
two with the same caption, the heading tells which (read table "Open orders under North"). A table that is drawn is read
by the name of its canvas, its title, or something in it (read table at Sheet).
Columns are named as on the page; rows come as JSON, from the only table, list or cards with such columns, or from one
that is called by its caption, label or heading, or by something in it.
A line with a target may end with how long to look for it (within 5 s).
An action of your own is called with its arguments: texts in double quotes, numbers and marks as numbers.
Text goes in double quotes; \\" is a quote inside it. A line that begins with # is a note."""

Build = Callable[[Observation], Action]
"""Builds the action of a line for the current page; raises `NotFoundError` if its target is not there."""

WAIT_S = 10.0
"""How long a line waits for a text or a change."""
COLUMN_TYPES = ("string", "number", "integer")
"""What `extract` may read a column as."""
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_VALUE = rf"{_QUOTED}|\[[^\]]*\]|[^\s,\"\[\]]+"
_COLUMN = re.compile(rf"({_QUOTED}|[^\",]+?)(?:\s+as\s+({'|'.join(COLUMN_TYPES)}))?", re.IGNORECASE)
_TYPED = re.compile(r"\sas\s+(\w+)$", re.IGNORECASE)
_ARGUMENT = rf"\w+\s*=\s*(?:{_VALUE})"
"""One of an action of the caller's own."""
_NUMBER = r"\d+(?:\.\d+)?"
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)\s+(?=\S)", re.IGNORECASE)
_KIND = re.compile(rf"\s+({'|'.join(sorted(KIND_WORDS))})$", re.IGNORECASE)
_DISTINCTION = re.compile(r"\s*(?:‹([^‹›]+)›|<([^<>]+)>)$")
_IN_ROW = re.compile(rf"\s+in\s+row\s+({_QUOTED}|.+)$", re.IGNORECASE)
_WITHIN = re.compile(rf"\s+within\s+({_NUMBER})\s*s(?:econds?)?$", re.IGNORECASE)
_IN_SIGNS = r"‹[^‹›]*›|<[^<>]*>"
_OFFSET = re.compile(rf"\s+by\s+\(\s*(-?{_NUMBER})\s*,\s*(-?{_NUMBER})\s*\)$", re.IGNORECASE)
_BY = rf"\s+by\s+\(\s*(?P<right>-?{_NUMBER})\s*,\s*(?P<down>-?{_NUMBER})\s*\)"
_POINT = re.compile(rf"\(\s*({_NUMBER})\s*,\s*({_NUMBER})\s*\)")
_THROUGH = re.compile(rf"\s+through\s+({_POINT.pattern}(?:\s*,?\s*{_POINT.pattern})*)$", re.IGNORECASE)
"""The way of a drag."""
_MODIFIER = r"(?:Alt|Control|Meta|Shift)"
_WITH_KEYS = rf"(?:\s+with\s+(?P<held>{_MODIFIER}(?:\+{_MODIFIER})*)\s+held)?"
"""Written out with `held`: a button may be called `Log in with Meta`."""
_CELL = re.compile(r"row\s+(\d+)\s*,?\s*column\s+(\d+)\s+of\s+(.+)", re.IGNORECASE)
WITH_TARGET = (
    *("click", "double", "right", "type", "append", "select", "also", "unselect", "check", "uncheck", "set", "upload"),
    *("read", "extract", "press", "scroll", "hold", "hover", "drag", "zoom", "look", "pan", "find", "magnify", "turn"),
)
_UNQUOTED = re.compile(
    r'(?:type|append|find|(?P<waits>wait\s+for))\s+(?P<text>[^"\s](?:[^"]*?[^"\s])??)'
    r"(?(waits)(?P<within>\s+within\s.+)?|(?P<after>\s+(?:into|to|on)\s+.+))",
    re.IGNORECASE,
)
_BARE_TABLE = re.compile(r"read\s+(?:exact\s+)?table(?:\s+at)?", re.IGNORECASE)
_MISTYPED = 75
"""How alike a word and a mistyped one are at least, of 100; `clikc` and `click` are 80."""
_VERBS = (
    *WITH_TARGET,
    *("go", "goto", "back", "forward", "reload", "wait", "open", "switch", "close", "ask", "call", "finish", "fail"),
    "infeasible",
)


@dataclass(frozen=True)
class StepLine:
    """One step line, parsed."""

    number: int
    text: str
    build: Build
    within_s: float | None = None
    """How long to look for a target that is not there yet; None if the line does not say."""
    given: str = ""
    """The line as it was given: the same, but for signs that set the values of a table apart."""

    @property
    def call(self) -> Custom | None:
        """The custom action that it calls; None if it does something else."""
        action = self.build.action if isinstance(self.build, _Always) else None
        return action if isinstance(action, Custom) else None


def parse(lines: Iterable[str]) -> tuple[StepLine, ...]:
    """The parsed lines in order, without notes and empty lines, which count in the numbering.

    Raises:
        UsageError: a line cannot be parsed; the message names the line and shows lines like it.
    """
    return tuple(
        _step_line(text.strip(), number)
        for number, text in enumerate(lines, 1)
        if text.strip() and not text.strip().startswith("#")
    )


def _step_line(given: str, number: int) -> StepLine:
    text, values = with_letters(given)
    with _values_of_line(values):
        shown = _with_values(text)
        within = _WITHIN.search(text)
        if within is None or text.split()[0].lower() not in WITH_TARGET:
            return StepLine(number, shown, _read(text, number), given=given)
        build = _read(text[: within.start()], number)
        return StepLine(number, shown, build, float(within[1]), given)


def _read(text: str, number: int) -> Build:
    try:
        if text.split()[0].lower() == "wait" and names_in_placeholders(text):
            _fail("a wait cannot name a secret or private data; wait for words beside it")
        for pattern, reader in _READERS:
            match = pattern.fullmatch(text)
            if match:
                return reader(match)
        _fail(_why_unread(text))
    except (_UnreadableError, ValidationError) as error:
        fault = words_of(error.errors()[0]).lower() if isinstance(error, ValidationError) else str(error)
        shown = f"Line {number}, {_with_values(text)!r}: {_plain(fault)}."
        raise UsageError(shown, _examples_like(text)) from error


def _why_unread(text: str) -> str:
    """What is wrong with a line that no reader knows."""
    word = text.split()[0].lower()
    if word not in _VERBS:
        return f"it begins with {_plain(word)!r}, which is not a known word"
    if bare := _UNQUOTED.fullmatch(text):
        return f'its text needs double quotes: {text[: bare.start("text")]}"{bare["text"]}"{text[bare.end("text") :]}'
    if _BARE_TABLE.fullmatch(text):
        return "it does not say which table: write read table at NAME, with the name of something in it"
    only_text = f"; {_ONLY_TEXT}" if _has_value(text) else ""
    return f"it is not complete, or continues with something unknown{only_text}"


def _examples_like(text: str) -> str:
    """The examples with the first word of a line, or the word that was probably meant; else the words there are."""
    word = text.split()[0].lower()
    near = process.extractOne(word, _VERBS, scorer=fuzz.ratio, score_cutoff=_MISTYPED)
    verb = near[0] if near else word
    begins = re.compile(rf"(?:^|\s\s|[,;] ){re.escape(verb)}\b")
    lines = map(str.strip, GRAMMAR.partition("\nA thing is named")[0].splitlines())
    rows = [f"  {line[found.start() :].lstrip(' ,;')}" for line in lines if (found := begins.search(line))]
    if not rows:
        words = ", ".join(dict.fromkeys(_VERBS))
        return f"a line begins with one of these words; write one alone to see how it goes on: {words}"
    return "\n".join([f"lines with {verb!r} look like this:", *rows])


class _UnreadableError(Exception):
    """Says what is wrong with a line; `_read` adds the line and the grammar."""


# --- values of a table ------------------------------------------------------------------------------------------------

_VALUES: ContextVar[Mapping[int, str]] = ContextVar("_VALUES", default=MappingProxyType({}))
"""The values in the line that is being read, by the letters that stand for them."""
_ONLY_TEXT = "a value of a table is only text here, and no number, key or word of the line"
_SCALAR = re.compile(rf"-?{_NUMBER}|true|false|null")


@contextmanager
def _values_of_line(values: Mapping[int, str]) -> Iterator[None]:
    token = _VALUES.set(values)
    try:
        yield
    finally:
        _VALUES.reset(token)


def _has_value(text: str) -> bool:
    return any(ord(each) in _VALUES.get() for each in text)


def _plain(text: str) -> str:
    """The text with values in place of their letters."""
    return text.translate(_VALUES.get())


def _as_listed(text: str) -> str:
    """The same as a listing writes it: runs of blanks, and those that break no line, are one blank."""
    return " ".join(_plain(text).split())


def _with_values(text: str) -> str:
    """The same, with values escaped inside quotes, so that they do not end there."""
    return re.sub(_QUOTED, lambda found: found[0].translate(_escaped_values()), text).translate(_VALUES.get())


def _escaped_values() -> dict[int, str]:
    return {letter: json.dumps(value, ensure_ascii=False)[1:-1] for letter, value in _VALUES.get().items()}


def _address(text: str) -> str:
    """An address with its values, which end no part of it unless they are all of it."""
    encoded = _VALUES.get() if len(text) == 1 else {each: quote(it, safe="") for each, it in _VALUES.get().items()}
    return text.translate(encoded)


def _json_with_values(text: str) -> str | None:
    """JSON with its values, which are texts, numbers, true, false or null in it; None if it is no list or object."""
    in_quotes = re.sub(_QUOTED, lambda found: found[0].translate(_escaped_values()), text)
    bare = {each: it if _SCALAR.fullmatch(it) else json.dumps(it) for each, it in _VALUES.get().items()}
    filled = in_quotes.translate(bare)
    try:
        found = json.loads(filled)
    except ValueError:
        return None
    return filled if isinstance(found, dict | list) else None


# --- targets ---------------------------------------------------------------------------------------------------------


def parse_target(text: str) -> LineTarget:
    """The target that a line names: a mark by name or number, a point, or a cell of a grid."""
    text = text.strip()
    point = _POINT.match(text)
    if point:
        return _place(float(point[1]), float(point[2]), text[point.end() :].strip())
    cell = _CELL.fullmatch(text)
    if cell:
        inside = parse_target(cell[3])
        if not isinstance(inside, NamedTarget | NumberedTarget):
            _fail("a row and a column belong to a named thing")
        if not (int(cell[1]) and int(cell[2])):
            _fail("rows and columns count from 1")
        return GridCell(int(cell[1]), int(cell[2]), inside)
    if _has_value(text) and re.fullmatch(rf"\[[BILFOM]?{LETTER}\]|\(\s*\S+\s*,\s*\S+\s*\)", text):
        _fail(_ONLY_TEXT)
    number = re.fullmatch(r"\[([BILFOM]?)(\d+)\]", text)
    return NumberedTarget(int(number[2]), number[1]) if number else _named(text)


def _place(x: float, y: float, rest: str) -> PicturePoint | PointInMark:
    if not rest:
        return PicturePoint(x, y)
    if not rest.lower().startswith("of "):
        _fail(f"after the point comes {rest!r}, not `of` and a name")
    if x > 1 or y > 1:
        _fail("a point inside a thing is given as fractions of its box, from 0 to 1")
    inside = parse_target(rest[3:])
    if not isinstance(inside, NamedTarget | NumberedTarget):
        _fail("a point is inside a named thing, not inside a point")
    return PointInMark(x, y, inside)


def _named(text: str) -> NamedTarget:
    if any(not value.strip() for letter, value in _VALUES.get().items() if chr(letter) in text):
        _fail("a value of the table in it is empty, so it does not say which one")
    rest = text.removeprefix("the ").strip()
    ordinal = _ORDINAL.match(rest)
    nth = int(ordinal[1]) if ordinal else 0
    rest = rest[ordinal.end() :] if ordinal else rest
    # All of a quoted text is the name, whatever stands in it.
    distinction = None if (is_quoted := re.fullmatch(_QUOTED, rest)) else _DISTINCTION.search(rest)
    beside = (distinction[1] or distinction[2]).strip() if distinction else ""
    in_row = None if is_quoted else _IN_ROW.search(rest)
    if in_row is not None and (distinction is None or PLACEHOLDER.fullmatch(in_row[1])):
        distinction, beside = in_row, _unquoted(in_row[1])
    rest = rest[: distinction.start()] if distinction else rest
    kind = _KIND.search(rest)
    name = rest[: kind.start()].strip() if kind else rest
    quoted = re.fullmatch(_QUOTED, name)
    name = _unquoted(name) if quoted else name
    if not (name or beside):
        _fail("it does not say which one")
    if ordinal and nth == 0:
        _fail("ordinals count from 1st")
    # Quotes mark the exact name; without them all of the text may be a name, such as `Sort list`.
    words = name if quoted and not (kind or nth or distinction) else text
    said = kind[1].lower() if kind else ""
    return NamedTarget(
        words=_as_listed(words),
        name=_as_listed(name),
        kind=said,
        nth=nth,
        beside=_as_listed(beside),
        is_exact=_has_value(text),
        is_beside_exact=_has_value(distinction[0]) if distinction else False,
        in_row=distinction is not None and distinction is in_row,
        is_quoted=bool(quoted),
    )


def _pair(text: str, word: str) -> tuple[str, str]:
    """The two sides of ` word `, which must occur exactly once outside quotes and ‹ ›."""
    found = list(re.finditer(rf"\s{word}(?=\s)", _outside_quotes(text), re.IGNORECASE))
    if len(found) != 1:
        _fail(f"put names that contain {word!r} in double quotes" if found else f"a {word!r} is missing")
    return text[: found[0].start()].strip(), text[found[0].end() :].strip()


def _outside_quotes(text: str) -> str:
    """The text with a line in place of all that stands in quotes or in ‹ ›."""
    return re.sub(f"{_QUOTED}|{_IN_SIGNS}", lambda match: "_" * len(match[0]), text)


def _unquoted(text: str) -> str:
    if not re.fullmatch(_QUOTED, text, re.DOTALL):
        return _plain(text)
    try:
        return _plain(str(json.loads(text, strict=False)))
    except json.JSONDecodeError:
        _fail(f'the quoted text {text} cannot be read; inside quotes write \\\\ for a backslash and \\" for a quote')


def _fail(why: str) -> NoReturn:
    raise _UnreadableError(why)


# --- lines ------------------------------------------------------------------------------------------------------------


def _click(match: re.Match[str]) -> Build:
    target, how = parse_target(match["what"]), (match["how"] or "").lower().strip(" -")
    button: Literal["left", "right"] = "right" if how == "right" else "left"
    count, held = 2 if how == "double" else 1, _held(match["held"])
    return lambda seen: Click(target=find_target(target, seen), button=button, count=count, modifiers=held)


def _double_tap(match: re.Match[str]) -> Build:
    target = parse_target(match["what"])
    return lambda seen: DoubleTap(target=find_target(target, seen))


def _type(match: re.Match[str]) -> Build:
    target, text, submit = parse_target(match["what"]), _unquoted(match["text"]), bool(match["submit"])
    return lambda seen: Type(target=find_target(target, seen, is_field), text=text, submit=submit)


def _append(match: re.Match[str]) -> Build:
    target, text = parse_target(match["what"]), _unquoted(match["text"])
    return lambda seen: Type(target=find_target(target, seen, is_field), text=text, clear=False)


def _select(match: re.Match[str]) -> Build:
    rest = match["rest"]
    row = _IN_ROW.search(rest)
    in_row = row[0] if row and re.search(r"\sin\s", rest[: row.start()], re.IGNORECASE) else ""
    chosen, name = _pair(rest.removesuffix(in_row), "in")
    target = parse_target(name + in_row)
    quoted = re.fullmatch(rf"{_QUOTED}(?:\s*,\s*{_QUOTED})*", chosen)
    options = tuple(map(_unquoted, re.findall(_QUOTED, chosen))) if quoted else (_plain(chosen),)
    change: Literal["add", "remove"] | None = "add" if match["also"] else None
    if match["un"]:
        change = "remove"
    return lambda seen: Select(target=find_target(target, seen, is_list), options=options, change=change)


def _select_text(match: re.Match[str]) -> Build:
    first = _unquoted(match["first"])
    return _Always(SelectText(first=first, last=_unquoted(match["last"]) if match["last"] else first))


def _check(match: re.Match[str]) -> Build:
    target, checked = parse_target(match["what"]), not match["un"]
    return lambda seen: Check(mark=_mark(target, seen), checked=checked)


def _set(match: re.Match[str]) -> Build:
    name, value = _pair(match["rest"], "to")
    target, given = parse_target(name), _unquoted(value)
    return lambda seen: Set(mark=_mark(target, seen, is_field), value=given)


def _upload(match: re.Match[str]) -> Build:
    files, name = _pair(match["rest"], "to")
    target = parse_target(name)
    given = tuple(_unquoted(each.strip()) for each in files.split(","))
    return lambda seen: Upload(mark=_mark(target, seen), files=given)


def _read_page(match: re.Match[str]) -> Build:
    if not match["what"]:
        return _Always(Read(what=match["whole"].lower() if match["whole"] else "view"))
    target = parse_target(match["what"])
    if "table" in match["part"].lower():
        is_exact = match["part"].lower().startswith("exact")
        if match["part"].lower() == "table" and re.fullmatch(_QUOTED, match["what"]):
            called = _unquoted(match["what"])
            return lambda seen: Read(what="table", mark=_table_called(called, target, seen, is_quoted=True))
        return lambda seen: Read(what="table", mark=_mark(target, seen), exact=is_exact)
    return lambda seen: Read(mark=_mark(target, seen, is_field))


def _table_called(words: str, target: LineTarget, seen: Observation, *, is_quoted: bool) -> int | str:
    """The mark of this name, which is in the table; if there is none, the words, as a caption or heading.

    Words in quotes are a caption first, also where an element of the page has that name.
    """
    try:
        number = _mark(target, seen)
        mark = seen.mark(number)
        is_element = mark is not None and mark.source == "dom" and mark.kind != "surface"
        is_its_name = mark is not None and (mark.shows or mark.name).casefold().split() == words.casefold().split()
        return words if is_quoted and is_element and is_its_name else number
    except AmbiguousError:
        raise
    except NotFoundError:
        if isinstance(target, NamedTarget):
            return words
        raise


def _extract(match: re.Match[str]) -> Build:
    asked, where = match["rest"], ""
    if re.search(r"\sfrom\s", _outside_quotes(asked), re.IGNORECASE):
        asked, where = _pair(asked, "from")
    columns: dict[str, str] = {}
    commas = [found.start() for found in re.finditer(",", _outside_quotes(asked))]
    for begin, end in pairwise([-1, *commas, len(asked)]):
        text = asked[begin + 1 : end].strip()
        column = _COLUMN.fullmatch(text)
        if (column is None or not column[2]) and (typed := _TYPED.search(text)):
            types = f"{', '.join(COLUMN_TYPES[:-1])} and {COLUMN_TYPES[-1]}"
            quoted = "" if column is None else f"; a column that is called {text!r} goes in double quotes"
            _fail(f"{typed[1]!r} is no type of column; there are {types}{quoted}")
        if column is None:
            _fail(f"it does not say which columns: {text!r} is none; write them like Item, Price as number")
        name = _unquoted(column[1])
        if name in columns:
            _fail(f"it names the column {name!r} twice")
        columns[name] = (column[2] or "string").lower()
    schema = rows_schema(columns)
    if not where:
        return _Always(Extract(mark="", json_schema=schema))
    target, called = parse_target(where), _unquoted(where)
    is_quoted = re.fullmatch(_QUOTED, where) is not None
    return lambda seen: Extract(mark=_table_called(called, target, seen, is_quoted=is_quoted), json_schema=schema)


def rows_schema(columns: Mapping[str, str]) -> str:
    """The JSON schema of rows with these columns, each with its type."""
    properties = {name: {"type": kind} for name, kind in columns.items()}
    return json.dumps({"type": "array", "items": {"type": "object", "properties": properties}}, ensure_ascii=False)


def _mark(target: LineTarget, seen: Observation, prefer: Callable[[Mark], bool] | None = None) -> int:
    """The number of a mark, for actions that need a mark rather than a point."""
    found = find_target(target, seen, prefer)
    if not isinstance(found, int):
        raise NotFoundError(f"{target} is a point; name a mark, because this action needs one.")
    return found


def _press(match: re.Match[str]) -> Build:
    if _has_value(match["keys"]):
        _fail(_ONLY_TEXT)
    plain = Press(
        keys=match["keys"],
        count=int(match["count"] or 1),
        seconds=float(match["seconds"]) if match["seconds"] else None,
    )
    if match["what"] is None:
        return _Always(plain)
    target = parse_target(match["what"])
    return lambda seen: plain.model_copy(update={"target": find_target(target, seen)})


def _hold(match: re.Match[str]) -> Build:
    if not (match["seconds"] or match["until"]):
        _fail('it does not say how long (for 2 s, until "a text")')
    seconds = float(match["seconds"]) if match["seconds"] else LONGEST_HOLD_S
    plain = Hold(target=0, seconds=seconds, until=_unquoted(match["until"] or ""), touch=bool(match["touch"]))
    target = parse_target(match["what"])
    return lambda seen: plain.model_copy(update={"target": find_target(target, seen)})


def _scroll(match: re.Match[str]) -> Build:
    given: dict[str, object] = {"direction": match["direction"].lower()}
    given |= {name: float(match[name]) for name in ("pages", "px") if match[name]}
    given |= {"to": "end"} if match["end"] else {}
    held = [each.capitalize() for each in (match["held"] or "").split("+") if each]
    plain = Scroll.model_validate({**given, "modifiers": held})
    if match["what"] is None:
        return lambda _: plain
    target = parse_target(match["what"])
    return lambda seen: plain.model_copy(update={"target": find_target(target, seen, is_scroller)})


def _scroll_to(match: re.Match[str]) -> Build:
    target = parse_target(match["what"])
    if isinstance(target, NumberedTarget):
        return lambda seen: Scroll(target=find_target(target, seen), to="middle")
    return _Always(ScrollTo(text=_unquoted(match["what"])))


def _hover(match: re.Match[str]) -> Build:
    target = parse_target(match["what"])
    return lambda seen: Hover(target=find_target(target, seen))


def _drag(match: re.Match[str]) -> Build:
    keys, by = _held(match["held"]), _OFFSET.search(match["rest"])
    if by:
        held, offset = parse_target(match["rest"][: by.start()]), Offset(right=float(by[1]), down=float(by[2]))
        return lambda seen: Drag(source=find_target(held, seen), target=offset, modifiers=keys)
    begin, end = _pair(match["rest"], "to")
    through = _THROUGH.search(begin)
    source, target = parse_target(begin[: through.start()] if through else begin), parse_target(end)
    points = [(float(x), float(y)) for x, y in _POINT.findall(through[1])] if through else []
    inside = _inside_of_way(source, target, points)

    def build(seen: Observation) -> Drag:
        path = tuple(Point(x=x, y=y) if inside is None else point_in(inside, x, y, seen) for x, y in points)
        return Drag(source=find_target(source, seen), target=find_target(target, seen), path=path, modifiers=keys)

    return build


def _inside_of_way(
    source: LineTarget, target: LineTarget, points: list[tuple[float, float]]
) -> NamedTarget | NumberedTarget | None:
    """The thing in whose box the points of a drag's way are fractions; None if they are pixels of the picture."""
    ends = [each for each in (source, target) if isinstance(each, PointInMark)]
    fractions = sum(x <= 1 and y <= 1 for x, y in points)
    if not (ends and fractions):
        return None  # a corner of the picture may be meant
    if len(ends) == 1 or ends[0].mark != ends[1].mark or fractions < len(points):
        _fail(
            "the points after `through` are pixels of the picture, or all fractions if the drag begins and ends inside "
            "the same thing"
        )
    return ends[0].mark


def _held(words: str | None) -> tuple[Modifier, ...]:
    """The keys of `Control+shift`, written as they are called."""
    return TypeAdapter(tuple[Modifier, ...]).validate_python(
        [each.capitalize() for each in (words or "").split("+") if each]
    )


def _zoom(match: re.Match[str]) -> Build:
    grid = match["grid"] is not None
    corners = re.fullmatch(rf"({_POINT.pattern})\s+to\s+({_POINT.pattern})", match["what"], re.IGNORECASE)
    if corners:
        left, top, right, bottom = (float(corners[group]) for group in (2, 3, 5, 6))
        return lambda _: Zoom(target=Point(x=left, y=top), to=Point(x=right, y=bottom), grid=grid)
    target = parse_target(match["what"])
    return lambda seen: Zoom(target=find_target(target, seen), grid=grid)


def _look_at(match: re.Match[str]) -> Build:
    tile = int(match["tile"] or 1)
    corners = re.fullmatch(rf"({_POINT.pattern})\s+to\s+({_POINT.pattern})", match["what"], re.IGNORECASE)
    if corners:
        left, top, right, bottom = (float(corners[group]) for group in (2, 3, 5, 6))
        area = PictureArea(corner=Point(x=left, y=top), opposite=Point(x=right, y=bottom))
        return _Always(LookAt(target=area, tile=tile))
    target = parse_target(match["what"])
    if isinstance(target, PicturePoint | PointInMark):
        _fail("a point has no size; name a mark, or two corners of an area")

    def build(seen: Observation) -> LookAt:
        found = find_target(target, seen)
        assert not isinstance(found, Point)
        return LookAt(target=found, tile=tile)

    return build


def _pan(match: re.Match[str]) -> Build:
    target, by = parse_target(match["what"]), Offset(right=float(match["right"]), down=float(match["down"]))
    return lambda seen: Pan(mark=_mark(target, seen), by=by)


def _find_on(match: re.Match[str]) -> Build:
    target, text = parse_target(match["what"]), _unquoted(match["text"])
    return lambda seen: FindOn(mark=_mark(target, seen), text=text)


def _magnify(match: re.Match[str]) -> Build:
    plain = Magnify(target=0, factor=float(match["factor"]), touch=bool(match["touch"]))
    target = parse_target(match["what"])
    return lambda seen: plain.model_copy(update={"target": find_target(target, seen)})


def _turn(match: re.Match[str]) -> Build:
    plain = Magnify(target=0, factor=1, degrees=float(match["degrees"]), touch=True)
    target = parse_target(match["what"])
    return lambda seen: plain.model_copy(update={"target": find_target(target, seen)})


def _goto(match: re.Match[str]) -> Build:
    address = _address(match["url"])
    return lambda seen: Goto(url=urljoin(seen.url, address))


def _open_tab(match: re.Match[str]) -> Build:
    address = _address(match["url"])
    return lambda seen: OpenTab(url=urljoin(seen.url, address))


def _wait_for(match: re.Match[str]) -> Build:
    return _Always(Wait(text=_unquoted(match["text"]), seconds=float(match["seconds"] or WAIT_S)))


def _call(match: re.Match[str]) -> Build:
    given = match["given"] or ""
    if given and not re.fullmatch(rf"{_ARGUMENT}(?:(?:\s*,\s*|\s+){_ARGUMENT})*", given):
        _fail('the arguments of an action of yours look like article="mug", count=2')
    pairs = re.findall(r"(\w+)\s*=\s*" + f"({_VALUE})", given)
    if len(dict(pairs)) < len(pairs):
        _fail("an argument is there twice")
    if any(_has_value(text) for name, text in pairs if name in TARGET_FIELDS):
        _fail(_ONLY_TEXT)
    # Its risks are not known here: what declares none counts as risky.
    return _Always(Custom(name=match["name"], arguments={name: _value(text) for name, text in pairs}))


def _answer(text: str) -> str:
    """The answer that a line gives, whose values stay texts where it is JSON."""
    return (_json_with_values(text) if _has_value(text) else None) or _unquoted(text)


def _give_up(match: re.Match[str]) -> Build:
    return _Always(Finish(success=False, answer=_plain(match["answer"] or "")))


def _value(text: str) -> JsonValue:
    """The JSON value that a text is, or else the text."""
    if text.startswith('"'):
        return _unquoted(text)
    if _has_value(text):
        filled = _json_with_values(text)
        return _plain(text) if filled is None else json.loads(filled)
    if text in ("NaN", "Infinity", "-Infinity"):
        return text
    try:
        found: JsonValue = json.loads(text)
    except ValueError:  # also a number with thousands of digits
        return text
    return found


@dataclass(frozen=True)
class _Always:
    """Builds the same action whatever the page shows."""

    action: Action

    def __call__(self, _: Observation) -> Action:
        return self.action


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Build]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), reader)
    for pattern, reader in (
        (rf"(?P<how>double[\s-]+|right[\s-]+)?click\s+(?P<what>.+?){_WITH_KEYS}", _click),
        (r"double[\s-]+tap\s+(?P<what>.+)", _double_tap),
        (rf"type\s+(?P<text>{_QUOTED})\s+into\s+(?P<what>.+?)(?P<submit>\s+and\s+(?:press\s+enter|submit))?", _type),
        (rf"append\s+(?P<text>{_QUOTED})\s+to\s+(?P<what>.+)", _append),
        (rf"select\s+text\s+(?P<first>{_QUOTED})(?:\s+to\s+(?P<last>{_QUOTED}))?", _select_text),
        (r"(?:(?P<also>also\s+)|(?P<un>un))?select\s+(?P<rest>.+)", _select),
        (r"(?P<un>un)?check\s+(?P<what>.+)", _check),
        (r"set\s+(?P<rest>.+)", _set),
        (r"upload\s+(?P<rest>.+)", _upload),
        (
            r"read(?:\s+(?P<whole>page|download)|\s+(?P<part>(?:exact\s+)?table(?:\s+at)?|value\s+of)\s+(?!at$)(?P<what>.+))?",
            _read_page,
        ),
        (r"extract\s+(?P<rest>.+)", _extract),
        (
            rf"press\s+(?P<keys>\S+)(?:\s+(?P<count>\d+)\s+times?)?(?:\s+for\s+(?P<seconds>{_NUMBER})\s*s)?(?:\s+in\s+(?P<what>.+))?",
            _press,
        ),
        (
            rf"hold\s+(?P<what>.+?)(?P<touch>\s+with\s+a\s+finger)?(?:\s+for\s+(?P<seconds>{_NUMBER})\s*s)?(?:\s+until\s+(?P<until>{_QUOTED}))?",
            _hold,
        ),
        (
            rf"scroll\s+(?P<direction>up|down|left|right)(?:\s+(?P<pages>{_NUMBER})\s+pages?|\s+(?P<px>{_NUMBER})\s*(?:px|pixels?))?(?P<end>\s+to\s+the\s+end)?(?:\s+with\s+(?P<held>[\w+]+))?(?:\s+in\s+(?P<what>.+))?",
            _scroll,
        ),
        (r"scroll\s+to\s+(?P<what>.+)", _scroll_to),
        (r"hover\s+(?:over\s+)?(?P<what>.+)", _hover),
        (rf"drag\s+(?P<rest>.+?){_WITH_KEYS}", _drag),
        (r"zoom\s+(?:to\s+|into\s+)?(?P<what>.+?)(?P<grid>\s+with\s+a\s+grid)?", _zoom),
        (r"look\s+at\s+(?P<what>.+?)\s+only(?:\s*,?\s+tile\s+(?P<tile>\d+))?", _look_at),
        (rf"pan\s+(?P<what>.+?){_BY}", _pan),
        (rf"find\s+(?P<text>{_QUOTED})\s+on\s+(?P<what>.+)", _find_on),
        (
            rf"magnify\s+(?P<what>.+?)\s+(?P<factor>{_NUMBER})\s+times(?P<touch>\s+with\s+two\s+fingers)?",
            _magnify,
        ),
        (rf"turn\s+(?P<what>.+?)\s+by\s+(?P<degrees>-?{_NUMBER})\s*(?:degrees?|°)", _turn),
        (r"open\s+tab\s+(?P<url>\S+)", _open_tab),
        (rf"(?:go\s?to\s+|open\s+(?=/|\w+:|{LETTER}))(?P<url>\S+)", _goto),
        (r"back", lambda _: _Always(Back())),
        (r"forward", lambda _: _Always(Forward())),
        (r"reload", lambda _: _Always(Reload())),
        (rf"wait\s+for\s+(?P<text>{_QUOTED})(?:\s+within\s+(?P<seconds>{_NUMBER})\s*s(?:econds?)?)?", _wait_for),
        (r"wait\s+for\s+a\s+change", lambda _: _Always(Wait(change=True, seconds=WAIT_S))),
        (rf"wait\s+(?P<seconds>{_NUMBER})(?:\s*s)?", lambda match: _Always(Wait(seconds=float(match["seconds"])))),
        (r"switch\s+to\s+tab\s+(?P<tab>\d+)", lambda match: _Always(SwitchTab(tab=int(match["tab"])))),
        (r"close\s+tab\s+(?P<tab>\d+)", lambda match: _Always(CloseTab(tab=int(match["tab"])))),
        (r"call\s+(?P<name>[^\W\d]\w*)(?:\s+with\s+(?P<given>.+))?", _call),
        (r"ask\s+(?P<question>.+)", lambda match: _Always(Ask(question=_plain(match["question"])))),
        (r"finish(?:\s+(?P<answer>.+))?", lambda match: _Always(Finish(answer=_answer(match["answer"] or "")))),
        (r"infeasible\s+(?P<reason>.+)", lambda match: _Always(Infeasible(reason=_plain(match["reason"])))),
        (
            r"fail(?:\s+(?P<answer>.+))?",
            lambda match: _Always(Finish(success=False, answer=_plain(match["answer"] or ""))),
        ),
    )
)

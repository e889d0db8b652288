"""Parses step lines: one plain sentence per action. `resolve_target` finds what a line names on the page.

All lines are parsed before anything runs, so that an error in the last one is reported before the first is carried out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal
from urllib.parse import urljoin

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
from vision_agent.models.offline.line_targets import (
    LineTarget,
    NamedTarget,
    NumberedTarget,
    PicturePoint,
    PointInMark,
    names_in_placeholders,
)
from vision_agent.models.offline.line_text import (
    NUMBER,
    ONLY_TEXT,
    QUOTED,
    UnreadableLineError,
    address_with_values,
    fail,
    has_value,
    json_with_values,
    two_sides,
    unquoted,
    values_of_line,
    with_escaped_values,
    with_values,
    without_quoted,
)
from vision_agent.models.offline.mark_kinds import is_field, is_list, is_scroller
from vision_agent.models.offline.parse_target import IN_ROW, POINT, parse_target
from vision_agent.models.offline.resolve_target import AmbiguousError, NotFoundError, find_target, point_in
from vision_agent.observation import Mark, Observation
from vision_agent.text.urls import has_password
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
_VALUE = rf"{QUOTED}|\[[^\]]*\]|[^\s,\"\[\]]+"
_COLUMN = re.compile(rf"({QUOTED}|[^\",]+?)(?:\s+as\s+({'|'.join(COLUMN_TYPES)}))?", re.IGNORECASE)
_TYPED = re.compile(r"\sas\s+(\w+)$", re.IGNORECASE)
_ARGUMENT = rf"\w+\s*=\s*(?:{_VALUE})"
"""One of an action of the caller's own."""
_WITHIN = re.compile(rf"\s+within\s+({NUMBER})\s*s(?:econds?)?$", re.IGNORECASE)
_OFFSET = re.compile(rf"\s+by\s+\(\s*(-?{NUMBER})\s*,\s*(-?{NUMBER})\s*\)$", re.IGNORECASE)
_BY = rf"\s+by\s+\(\s*(?P<right>-?{NUMBER})\s*,\s*(?P<down>-?{NUMBER})\s*\)"
_THROUGH = re.compile(rf"\s+through\s+({POINT.pattern}(?:\s*,?\s*{POINT.pattern})*)$", re.IGNORECASE)
"""The way of a drag."""
_MODIFIER = r"(?:Alt|Control|Meta|Shift)"
_WITH_KEYS = rf"(?:\s+with\s+(?P<held>{_MODIFIER}(?:\+{_MODIFIER})*)\s+held)?"
"""Written out with `held`: a button may be called `Log in with Meta`."""
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
    with values_of_line(values):
        shown = with_escaped_values(text)
        within = _WITHIN.search(text)
        if within is None or text.split()[0].lower() not in WITH_TARGET:
            return StepLine(number, shown, _read(text, number), given=given)
        build = _read(text[: within.start()], number)
        return StepLine(number, shown, build, float(within[1]), given)


def _read(text: str, number: int) -> Build:
    try:
        if text.split()[0].lower() == "wait" and names_in_placeholders(text):
            fail("a wait cannot name a secret or private data; wait for words beside it")
        for pattern, reader in _READERS:
            match = pattern.fullmatch(text)
            if match:
                return reader(match)
        fail(_why_unread(text))
    except (UnreadableLineError, ValidationError) as error:
        fault = words_of(error.errors()[0]).lower() if isinstance(error, ValidationError) else str(error)
        shown = f"Line {number}, {with_escaped_values(text)!r}: {with_values(fault)}."
        raise UsageError(shown, _examples_like(text)) from error


def _why_unread(text: str) -> str:
    """What is wrong with a line that no reader knows."""
    word = text.split()[0].lower()
    if word not in _VERBS:
        return f"it begins with {with_values(word)!r}, which is not a known word"
    if bare := _UNQUOTED.fullmatch(text):
        return f'its text needs double quotes: {text[: bare.start("text")]}"{bare["text"]}"{text[bare.end("text") :]}'
    if _BARE_TABLE.fullmatch(text):
        return "it does not say which table: write read table at NAME, with the name of something in it"
    only_text = f"; {ONLY_TEXT}" if has_value(text) else ""
    return f"it is not complete, or continues with something unknown{only_text}"


def _examples_like(text: str) -> str:
    """The examples that begin with the first word of a line, or with the word that was meant; else all first words."""
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


def _click(match: re.Match[str]) -> Build:
    target, how = parse_target(match["what"]), (match["how"] or "").lower().strip(" -")
    button: Literal["left", "right"] = "right" if how == "right" else "left"
    count, held = 2 if how == "double" else 1, _modifiers_in(match["held"])
    return lambda seen: Click(target=find_target(target, seen), button=button, count=count, modifiers=held)


def _double_tap(match: re.Match[str]) -> Build:
    target = parse_target(match["what"])
    return lambda seen: DoubleTap(target=find_target(target, seen))


def _type(match: re.Match[str]) -> Build:
    target, text, submit = parse_target(match["what"]), unquoted(match["text"]), bool(match["submit"])
    return lambda seen: Type(target=find_target(target, seen, is_field), text=text, submit=submit)


def _append(match: re.Match[str]) -> Build:
    target, text = parse_target(match["what"]), unquoted(match["text"])
    return lambda seen: Type(target=find_target(target, seen, is_field), text=text, clear=False)


def _select(match: re.Match[str]) -> Build:
    rest = match["rest"]
    row = IN_ROW.search(rest)
    in_row = row[0] if row and re.search(r"\sin\s", rest[: row.start()], re.IGNORECASE) else ""
    chosen, name = two_sides(rest.removesuffix(in_row), "in")
    target = parse_target(name + in_row)
    quoted = re.fullmatch(rf"{QUOTED}(?:\s*,\s*{QUOTED})*", chosen)
    options = tuple(map(unquoted, re.findall(QUOTED, chosen))) if quoted else (with_values(chosen),)
    change: Literal["add", "remove"] | None = "add" if match["also"] else None
    if match["un"]:
        change = "remove"
    return lambda seen: Select(target=find_target(target, seen, is_list), options=options, change=change)


def _select_text(match: re.Match[str]) -> Build:
    first = unquoted(match["first"])
    return _Always(SelectText(first=first, last=unquoted(match["last"]) if match["last"] else first))


def _check(match: re.Match[str]) -> Build:
    target, checked = parse_target(match["what"]), not match["un"]
    return lambda seen: Check(mark=_mark(target, seen), checked=checked)


def _set(match: re.Match[str]) -> Build:
    name, value = two_sides(match["rest"], "to")
    target, given = parse_target(name), unquoted(value)
    return lambda seen: Set(mark=_mark(target, seen, is_field), value=given)


def _upload(match: re.Match[str]) -> Build:
    files, name = two_sides(match["rest"], "to")
    target = parse_target(name)
    given = tuple(unquoted(each.strip()) for each in files.split(","))
    return lambda seen: Upload(mark=_mark(target, seen), files=given)


def _read_page(match: re.Match[str]) -> Build:
    if not match["what"]:
        return _Always(Read(what=match["whole"].lower() if match["whole"] else "view"))
    target = parse_target(match["what"])
    if "table" in match["part"].lower():
        is_exact = match["part"].lower().startswith("exact")
        if match["part"].lower() == "table" and re.fullmatch(QUOTED, match["what"]):
            called = unquoted(match["what"])
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
    if re.search(r"\sfrom\s", without_quoted(asked), re.IGNORECASE):
        asked, where = two_sides(asked, "from")
    columns: dict[str, str] = {}
    commas = [found.start() for found in re.finditer(",", without_quoted(asked))]
    for begin, end in pairwise([-1, *commas, len(asked)]):
        text = asked[begin + 1 : end].strip()
        column = _COLUMN.fullmatch(text)
        if (column is None or not column[2]) and (typed := _TYPED.search(text)):
            types = f"{', '.join(COLUMN_TYPES[:-1])} and {COLUMN_TYPES[-1]}"
            quoted = "" if column is None else f"; a column that is called {text!r} goes in double quotes"
            fail(f"{typed[1]!r} is no type of column; there are {types}{quoted}")
        if column is None:
            fail(f"it does not say which columns: {text!r} is none; write them like Item, Price as number")
        name = unquoted(column[1])
        if name in columns:
            fail(f"it names the column {name!r} twice")
        columns[name] = (column[2] or "string").lower()
    schema = rows_schema(columns)
    if not where:
        return _Always(Extract(mark="", json_schema=schema))
    target, called = parse_target(where), unquoted(where)
    is_quoted = re.fullmatch(QUOTED, where) is not None
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
    if has_value(match["keys"]):
        fail(ONLY_TEXT)
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
        fail('it does not say how long (for 2 s, until "a text")')
    seconds = float(match["seconds"]) if match["seconds"] else LONGEST_HOLD_S
    plain = Hold(target=0, seconds=seconds, until=unquoted(match["until"] or ""), touch=bool(match["touch"]))
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
    return _Always(ScrollTo(text=unquoted(match["what"])))


def _hover(match: re.Match[str]) -> Build:
    target = parse_target(match["what"])
    return lambda seen: Hover(target=find_target(target, seen))


_POINT_TO_DROP_AT = (
    "If it only has words, as an empty column has at its top, drag to a point of the picture inside it, such as "
    "(300, 200)."
)


def _drag(match: re.Match[str]) -> Build:
    keys, by = _modifiers_in(match["held"]), _OFFSET.search(match["rest"])
    if by:
        held, offset = parse_target(match["rest"][: by.start()]), Offset(right=float(by[1]), down=float(by[2]))
        return lambda seen: Drag(source=find_target(held, seen), target=offset, modifiers=keys)
    begin, end = two_sides(match["rest"], "to")
    through = _THROUGH.search(begin)
    source, target = parse_target(begin[: through.start()] if through else begin), parse_target(end)
    points = [(float(x), float(y)) for x, y in POINT.findall(through[1])] if through else []
    inside = _inside_of_way(source, target, points)

    def build(seen: Observation) -> Drag:
        path = tuple(Point(x=x, y=y) if inside is None else point_in(inside, x, y, seen) for x, y in points)
        held = find_target(source, seen)
        try:
            end = find_target(target, seen)
        except AmbiguousError:
            raise
        except NotFoundError as error:
            error.args = (f"{error} {_POINT_TO_DROP_AT}", *error.args[1:])
            raise
        return Drag(source=held, target=end, path=path, modifiers=keys)

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
        fail(
            "the points after `through` are pixels of the picture, or all fractions if the drag begins and ends inside "
            "the same thing"
        )
    return ends[0].mark


def _modifiers_in(words: str | None) -> tuple[Modifier, ...]:
    """The keys of `Control+shift`, written as they are called."""
    return TypeAdapter(tuple[Modifier, ...]).validate_python(
        [each.capitalize() for each in (words or "").split("+") if each]
    )


def _zoom(match: re.Match[str]) -> Build:
    grid = match["grid"] is not None
    corners = re.fullmatch(rf"({POINT.pattern})\s+to\s+({POINT.pattern})", match["what"], re.IGNORECASE)
    if corners:
        left, top, right, bottom = (float(corners[group]) for group in (2, 3, 5, 6))
        return lambda _: Zoom(target=Point(x=left, y=top), to=Point(x=right, y=bottom), grid=grid)
    target = parse_target(match["what"])
    return lambda seen: Zoom(target=find_target(target, seen), grid=grid)


def _look_at(match: re.Match[str]) -> Build:
    tile = int(match["tile"] or 1)
    corners = re.fullmatch(rf"({POINT.pattern})\s+to\s+({POINT.pattern})", match["what"], re.IGNORECASE)
    if corners:
        left, top, right, bottom = (float(corners[group]) for group in (2, 3, 5, 6))
        area = PictureArea(corner=Point(x=left, y=top), opposite=Point(x=right, y=bottom))
        return _Always(LookAt(target=area, tile=tile))
    target = parse_target(match["what"])
    if isinstance(target, PicturePoint | PointInMark):
        fail("a point has no size; name a mark, or two corners of an area")

    def build(seen: Observation) -> LookAt:
        found = find_target(target, seen)
        assert not isinstance(found, Point)
        return LookAt(target=found, tile=tile)

    return build


def _pan(match: re.Match[str]) -> Build:
    target, by = parse_target(match["what"]), Offset(right=float(match["right"]), down=float(match["down"]))
    return lambda seen: Pan(mark=_mark(target, seen), by=by)


def _find_on(match: re.Match[str]) -> Build:
    target, text = parse_target(match["what"]), unquoted(match["text"])
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
    address = _address_in(match)
    return lambda seen: Goto(url=urljoin(seen.url, address))


def _address_in(match: re.Match[str]) -> str:
    address = address_with_values(match["url"])
    if has_password(address):  # the line is not quoted
        raise UsageError(
            "The address in a line that opens one has a password in it, which the record would show",
            "leave it out, and set browser.http_auth to the origin, the user name and the password",
        )
    return address


def _open_tab(match: re.Match[str]) -> Build:
    address = _address_in(match)
    return lambda seen: OpenTab(url=urljoin(seen.url, address))


def _wait_for(match: re.Match[str]) -> Build:
    return _Always(Wait(text=unquoted(match["text"]), seconds=float(match["seconds"] or WAIT_S)))


def _call(match: re.Match[str]) -> Build:
    given = match["given"] or ""
    if given and not re.fullmatch(rf"{_ARGUMENT}(?:(?:\s*,\s*|\s+){_ARGUMENT})*", given):
        fail('the arguments of an action of yours look like article="mug", count=2')
    pairs = re.findall(r"(\w+)\s*=\s*" + f"({_VALUE})", given)
    if len(dict(pairs)) < len(pairs):
        fail("an argument is there twice")
    if any(has_value(text) for name, text in pairs if name in TARGET_FIELDS):
        fail(ONLY_TEXT)
    # Its risks are not known here: what declares none counts as risky.
    return _Always(Custom(name=match["name"], arguments={name: _value(text) for name, text in pairs}))


def _answer(text: str) -> str:
    """The answer that a line gives, whose values stay texts where it is JSON."""
    return (json_with_values(text) if has_value(text) else None) or unquoted(text)


def _give_up(match: re.Match[str]) -> Build:
    return _Always(Finish(success=False, answer=with_values(match["answer"] or "")))


def _value(text: str) -> JsonValue:
    """The JSON value that a text is, or else the text."""
    if text.startswith('"'):
        return unquoted(text)
    if has_value(text):
        filled = json_with_values(text)
        return with_values(text) if filled is None else json.loads(filled)
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
        (rf"type\s+(?P<text>{QUOTED})\s+into\s+(?P<what>.+?)(?P<submit>\s+and\s+(?:press\s+enter|submit))?", _type),
        (rf"append\s+(?P<text>{QUOTED})\s+to\s+(?P<what>.+)", _append),
        (rf"select\s+text\s+(?P<first>{QUOTED})(?:\s+to\s+(?P<last>{QUOTED}))?", _select_text),
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
            rf"press\s+(?P<keys>\S+)(?:\s+(?P<count>\d+)\s+times?)?(?:\s+for\s+(?P<seconds>{NUMBER})\s*s)?(?:\s+in\s+(?P<what>.+))?",
            _press,
        ),
        (
            rf"hold\s+(?P<what>.+?)(?P<touch>\s+with\s+a\s+finger)?(?:\s+for\s+(?P<seconds>{NUMBER})\s*s)?(?:\s+until\s+(?P<until>{QUOTED}))?",
            _hold,
        ),
        (
            rf"scroll\s+(?P<direction>up|down|left|right)(?:\s+(?P<pages>{NUMBER})\s+pages?|\s+(?P<px>{NUMBER})\s*(?:px|pixels?))?(?P<end>\s+to\s+the\s+end)?(?:\s+with\s+(?P<held>[\w+]+))?(?:\s+in\s+(?P<what>.+))?",
            _scroll,
        ),
        (r"scroll\s+to\s+(?P<what>.+)", _scroll_to),
        (r"hover\s+(?:over\s+)?(?P<what>.+)", _hover),
        (rf"drag\s+(?P<rest>.+?){_WITH_KEYS}", _drag),
        (r"zoom\s+(?:to\s+|into\s+)?(?P<what>.+?)(?P<grid>\s+with\s+a\s+grid)?", _zoom),
        (r"look\s+at\s+(?P<what>.+?)\s+only(?:\s*,?\s+tile\s+(?P<tile>\d+))?", _look_at),
        (rf"pan\s+(?P<what>.+?){_BY}", _pan),
        (rf"find\s+(?P<text>{QUOTED})\s+on\s+(?P<what>.+)", _find_on),
        (
            rf"magnify\s+(?P<what>.+?)\s+(?P<factor>{NUMBER})\s+times(?P<touch>\s+with\s+two\s+fingers)?",
            _magnify,
        ),
        (rf"turn\s+(?P<what>.+?)\s+by\s+(?P<degrees>-?{NUMBER})\s*(?:degrees?|°)", _turn),
        (r"open\s+tab\s+(?P<url>\S+)", _open_tab),
        (rf"(?:go\s?to\s+|open\s+(?=/|\w+:|{LETTER}))(?P<url>\S+)", _goto),
        (r"back", lambda _: _Always(Back())),
        (r"forward", lambda _: _Always(Forward())),
        (r"reload", lambda _: _Always(Reload())),
        (rf"wait\s+for\s+(?P<text>{QUOTED})(?:\s+within\s+(?P<seconds>{NUMBER})\s*s(?:econds?)?)?", _wait_for),
        (r"wait\s+for\s+a\s+change", lambda _: _Always(Wait(change=True, seconds=WAIT_S))),
        (rf"wait\s+(?P<seconds>{NUMBER})(?:\s*s)?", lambda match: _Always(Wait(seconds=float(match["seconds"])))),
        (r"switch\s+to\s+tab\s+(?P<tab>\d+)", lambda match: _Always(SwitchTab(tab=int(match["tab"])))),
        (r"close\s+tab\s+(?P<tab>\d+)", lambda match: _Always(CloseTab(tab=int(match["tab"])))),
        (r"call\s+(?P<name>[^\W\d]\w*)(?:\s+with\s+(?P<given>.+))?", _call),
        (r"ask\s+(?P<question>.+)", lambda match: _Always(Ask(question=with_values(match["question"])))),
        (r"finish(?:\s+(?P<answer>.+))?", lambda match: _Always(Finish(answer=_answer(match["answer"] or "")))),
        (r"infeasible\s+(?P<reason>.+)", lambda match: _Always(Infeasible(reason=with_values(match["reason"])))),
        (
            r"fail(?:\s+(?P<answer>.+))?",
            lambda match: _Always(Finish(success=False, answer=with_values(match["answer"] or ""))),
        ),
    )
)

"""Finds the mark that a person's words mean. Knows marks and words; no grammar, no page, no model.

An exact name beats one that differs in case, and that beats a similar one. Words that fit two marks equally well find
none: what the candidates are is said instead, because a wrong click is worse than an error. Beside words, as in
`Delete ‹Ann›`, a similar name is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from vision_agent.actions import Cell, Point, Target
from vision_agent.distinguish import beside, distinctions, has_beside, unclaimed
from vision_agent.types import Mark, Observation

_SIMILAR = 90
_CLEARLY_BETTER = 5
"""Points of similarity by which the best of several similar names must lead."""

_ROLES = {
    "checkbox": {"checkbox"},
    "radio": {"radio"},
    "switch": {"switch"},
    "slider": {"slider", "range"},
    "tab": {"tab"},
    "option": {"option", "menuitem", "menuitemradio", "menuitemcheckbox"},
    "item": {"menuitem", "listitem", "option", "treeitem"},
    "list": {"listbox", "combobox", "list", "select"},
    "menu": {"menu", "combobox", "select", "menuitem", "button"},
    "image": {"img", "image"},
    "canvas": {"canvas"},
}
_KINDS = {
    "button": "button",
    "link": "link",
    "field": "field",
    "box": "field",
    "input": "field",
    "toggle": "toggle",
    "scroller": "scroller",
    "area": "scroller",
    "surface": "surface",
}
KIND_WORDS = frozenset([*_ROLES, *_KINDS])


@dataclass(frozen=True)
class Named:
    """A mark by its name: `words` as they were said, and `name`, `kind`, `nth` as they may be meant."""

    words: str
    name: str
    kind: str = ""
    """A word of `KIND_WORDS`, or empty."""
    nth: int = 0
    """Which of several in reading order, from 1; 0 if none was said."""
    beside: str = ""
    """Words of its row, card or heading, or what else tells it from others of its name."""

    def __str__(self) -> str:
        return f"{self.words!r}"


@dataclass(frozen=True)
class Numbered:
    """A mark by its number, and by its letter if that was said too."""

    number: int
    letter: str = ""

    def __str__(self) -> str:
        return f"[{self.letter}{self.number}]"


@dataclass(frozen=True)
class Place:
    """A point in pixels of the picture."""

    x: float
    y: float

    def __str__(self) -> str:
        return f"({self.x:g}, {self.y:g})"


@dataclass(frozen=True)
class Within:
    """A point inside a mark's box, from (0, 0) at its top left to (1, 1) at its bottom right."""

    x: float
    y: float
    mark: Named | Numbered

    def __str__(self) -> str:
        return f"({self.x:g}, {self.y:g}) of {self.mark}"


@dataclass(frozen=True)
class InGrid:
    """A cell of a mark that has rows and columns, or of the only such mark in a surface."""

    row: int
    column: int
    mark: Named | Numbered

    def __str__(self) -> str:
        return f"row {self.row} column {self.column} of {self.mark}"


Where = Named | Numbered | Place | Within | InGrid


class NotFoundError(Exception):
    """Nothing, or more than one thing, is meant by the words. Its text says what there is instead."""


class AmbiguousError(NotFoundError):
    """The words fit more than one thing."""


def find(where: Where, observation: Observation, prefer: Callable[[Mark], bool] | None = None) -> Target:
    """The mark's number or the picture point that is meant; `prefer` decides only between equally good names.

    Raises:
        NotFoundError: there is none, or more than one.
    """
    match where:
        case Place():
            size = observation.marked.size
            if not (0 <= where.x < size.width and 0 <= where.y < size.height):
                raise NotFoundError(f"{where} is outside the picture of {size.width}×{size.height} pixels.")
            return Point(x=where.x, y=where.y)
        case Within():
            mark = _one(where.mark, observation, prefer)
            box = observation.marked.map.box_to_picture(mark.box)
            return Point(x=box.x + where.x * box.width, y=box.y + where.y * box.height)
        case InGrid():
            return _cell(where, observation, prefer)
        case _:
            return _one(where, observation, prefer).number


def _cell(where: InGrid, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Cell:
    mark = _one(where.mark, observation, prefer)
    inside = [each for each in observation.marks if each.grid and (each is mark or each.surface == mark.number)]
    if len(inside) != 1:
        found = f"there are {_described(inside, observation.marks)}" if inside else "it has no rows and columns"
        raise NotFoundError(f"{where} is not here: {found}.")
    grid = inside[0].grid
    if grid is None or grid.cell(where.row, where.column) is None:
        size = f"{grid.rows} rows and {grid.columns} columns" if grid else "none"
        raise NotFoundError(f"{where} is not here: [{inside[0].label}] has {size}.")
    return Cell(mark=inside[0].number, row=where.row, column=where.column)


def is_field(mark: Mark) -> bool:
    """Whether text can be typed into it."""
    return mark.kind == "field" and mark.tag != "select"


def is_list(mark: Mark) -> bool:
    """Whether it offers options."""
    return mark.tag == "select" or mark.role in ("listbox", "combobox")


def is_scroller(mark: Mark) -> bool:
    """Whether it scrolls by itself."""
    return mark.kind == "scroller" or mark.state.scroll is not None


def _one(where: Named | Numbered, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Mark:
    if isinstance(where, Numbered):
        mark = observation.mark(where.number)
        if mark is None:
            raise NotFoundError(f"There is no mark {where}; {_nearest('', observation.marks)}.")
        if where.letter not in ("", mark.letter):
            raise NotFoundError(f"There is no mark {where}; [{mark.label}] is the {mark.role} {mark.name!r}.")
        return mark
    found = _matching(where, observation.marks)
    # What a page says of itself is sure; a guess of the same name is not meant beside it.
    found = [mark for mark in found if mark.source == "dom"] or found
    if len(found) > 1 and prefer is not None:
        found = [mark for mark in found if prefer(mark)] or found
    if where.nth and _is_ordinal(where, found):
        if where.nth > len(found):
            here = _described(found, observation.marks) or "there is none"
            raise NotFoundError(f"{where} is not here: {here}.")
        return found[where.nth - 1]
    if len(found) > 1:
        ways = "name one by its number, with words in ‹ › that only it has beside it, or say 2nd, 3rd, …"
        raise AmbiguousError(f"{where} could be any of {_described(found, observation.marks)}; {ways}")
    if not found:
        hidden = "".join(f"; {each.count} covered by {each.blocker}" for each in observation.covered)
        raise NotFoundError(f"Nothing here is called {where}; {_nearest(where.name, observation.marks)}{hidden}.")
    return found[0]


def _is_ordinal(where: Named, found: Sequence[Mark]) -> bool:
    """Whether `2nd` counts things of one name; it does not in `2nd Street`, nor among names that are only similar."""
    names = {_folded(label) for mark in found for label in _labels(mark)[:1]}
    return len(names) == 1 and _folded(where.words) not in names


def _matching(where: Named, marks: Sequence[Mark]) -> list[Mark]:
    """The marks that fit the words best, all equally well; those whose whole name was said come first."""
    of_kind = [mark for mark in marks if _is_a(mark, where.kind)]
    if where.beside:
        # A page may name a thing as we would write another: then both could be meant.
        literal = _called(where.words, marks)
        return literal + [mark for mark in _matching_beside(where, of_kind, marks) if mark not in literal]
    return _called(where.words, marks) or _called(where.name, of_kind) or _similar(where.name, of_kind)


def _called(words: str, marks: Sequence[Mark]) -> list[Mark]:
    for test in (_equal, _same):
        for labels in (_names, _placeholders):
            found = [mark for mark in marks if any(test(words, label) for label in labels(mark))]
            if found:
                return found
    return []


def _matching_beside(where: Named, of_kind: Sequence[Mark], marks: Sequence[Mark]) -> list[Mark]:
    """Those of this name that have the words beside them; where the listing shows the words for some, only those."""
    shown = distinctions(marks)
    sure = {mark.number: has_beside(mark, where.beside, shown.get(mark.number)) for mark in marks}
    there = [mark for mark in of_kind if sure[mark.number]]
    found, kind = _called(where.name, there), where.name.lower()
    if not found and (not kind or kind in KIND_WORDS):  # `checkbox ‹Ann›`: it has no name of its own
        found = [mark for mark in there if not _labels(mark) and _is_a(mark, kind)]
    best = max((sure[mark.number] for mark in found), default=0)
    return [mark for mark in found if sure[mark.number] == best]


def _similar(words: str, marks: Sequence[Mark]) -> list[Mark]:
    scored = [(max((_likeness(words, label) for label in _labels(mark)), default=0.0), mark) for mark in marks]
    best = max((score for score, _ in scored), default=0.0)
    if best < _SIMILAR:
        return []
    return [mark for score, mark in scored if score >= _SIMILAR and score > best - _CLEARLY_BETTER]


def _likeness(words: str, label: str) -> float:
    # `Seat 12` and `Seat 13` are alike to a measure of letters and not at all to a person.
    if re.findall(r"\d+", words) != re.findall(r"\d+", label):
        return 0.0
    return fuzz.ratio(_folded(words), _folded(label))


def _names(mark: Mark) -> tuple[str, ...]:
    return (mark.name,) if mark.name else ()


def _placeholders(mark: Mark) -> tuple[str, ...]:
    return (mark.state.placeholder,) if mark.state.placeholder else ()


def _labels(mark: Mark) -> tuple[str, ...]:
    return (*_names(mark), *_placeholders(mark))


def _equal(words: str, label: str) -> bool:
    return " ".join(words.split()) == " ".join(label.split())


def _same(words: str, label: str) -> bool:
    return _folded(words) == _folded(label)


def _folded(text: str) -> str:
    return " ".join(unclaimed(text).split()).casefold()


def _is_a(mark: Mark, kind: str) -> bool:
    if not kind:
        return True
    if kind in _KINDS:
        return mark.kind == _KINDS[kind] or mark.role == kind
    return bool({mark.role, mark.tag, mark.state.input_type} & _ROLES[kind])


def _nearest(words: str, marks: Sequence[Mark]) -> str:
    named = [mark for mark in marks if mark.name]
    if not named:
        return "there is no mark with a name"
    best = process.extract(_folded(words), [_folded(mark.name) for mark in named], scorer=fuzz.WRatio, limit=5)
    return f"the nearest are {_described([named[index] for _, _, index in best], marks)}"


def _described(marks: Sequence[Mark], among: Sequence[Mark]) -> str:
    listed = ", ".join(f"[{mark.label}] {mark.role} {mark.name!r}{beside(mark, among)}" for mark in marks[:8])
    return f"{listed} and {len(marks) - 8} more" if len(marks) > 8 else listed

"""Finds the one mark, point or cell that the words of a step line mean. Knows no grammar, page or model.

A similar name is offered and never taken, and if words fit two marks equally well, neither is chosen and the error
lists the candidates: a wrong click is worse than an error. `match_marks` tells how names are compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from vision_agent.actions import Cell, Point, Target
from vision_agent.describe.distinctions import (
    distinction_match,
    longer_wording,
)
from vision_agent.models.offline.line_targets import (
    PLACEHOLDER,
    GridCell,
    LineTarget,
    NamedTarget,
    NumberedTarget,
    PicturePoint,
    PointInMark,
    names_in_placeholders,
)
from vision_agent.models.offline.match_marks import folded_name, is_same_name, labels_of, matching_marks
from vision_agent.models.offline.not_found import MOST_NEAR, listed_marks, nearest_marks, not_found_sentence
from vision_agent.observation import Mark, Observation

_ALL = 0.99
"""The least share of a grid's box in a mark's for the grid to lie over the mark: boxes differ by parts of pixels."""

_ON = re.compile(r"\s(?:on|in)\s", re.IGNORECASE)
"""Before the name of a surface, in words for something drawn on it."""


_BARE_NUMBERS: ContextVar[bool] = ContextVar("_BARE_NUMBERS", default=False)


@contextmanager
def bare_numbers() -> Iterator[None]:
    """Inside the `with` block a number alone is that of a mark where nothing has it for a name.

    Only for lines that a person types while they see the numbers: one that was written earlier means a name.
    """
    token = _BARE_NUMBERS.set(True)
    try:
        yield
    finally:
        _BARE_NUMBERS.reset(token)


class EarlierLook(NamedTuple):
    """What a look leaves to compare names with, without its pictures."""

    url: str
    marks: tuple[Mark, ...]

    @classmethod
    def of(cls, seen: Observation) -> EarlierLook:
        """What is left of a look."""
        return cls(seen.url, seen.marks)


_EARLIER: ContextVar[Sequence[EarlierLook]] = ContextVar("_EARLIER", default=())


@contextmanager
def earlier_looks(seen: Iterable[EarlierLook]) -> Iterator[None]:
    """Inside the `with` block words beside a name mean no longer ones where they were all of it at an earlier look.

    The looks of blocks around it count too.
    """
    token = _EARLIER.set((*_EARLIER.get(), *seen))
    try:
        yield
    finally:
        _EARLIER.reset(token)


_PLACEHOLDER_INSIDE = re.compile(r"(?:secret|private):[\w.-]+")
"""A placeholder that was read as words in < >."""
_VALUES: ContextVar[Mapping[str, str]] = ContextVar("_VALUES", default=MappingProxyType({}))


@contextmanager
def named_values(values: Mapping[str, str]) -> Iterator[None]:
    """Inside the `with` block `<secret:NAME>` and `<private:NAME>` in a target mean these values, by name.

    Messages name the target as it was written.
    """
    token = _VALUES.set(values)
    try:
        yield
    finally:
        _VALUES.reset(token)


class NotFoundError(Exception):
    """The words match no target or several; the message says what there is instead."""

    where: NamedTarget | None = None
    """The target of which nothing has the name."""


class AmbiguousError(NotFoundError):
    """The words match several targets."""


def find_target(where: LineTarget, observation: Observation, prefer: Callable[[Mark], bool] | None = None) -> Target:
    """The mark number, point or cell that is meant; `prefer` decides only between equally good names.

    Raises:
        NotFoundError: there is no match, or more than one.
    """
    match where:
        case PicturePoint():
            size, point = observation.marked.size, Point(x=where.x, y=where.y)
            if not size.contains(point):
                raise NotFoundError(f"{where} is outside the picture of {size.width}×{size.height} pixels.")
            return point
        case PointInMark():
            return point_in(where.mark, where.x, where.y, observation, prefer)
        case GridCell():
            return _cell(where, observation, prefer)
        case NamedTarget() if prefer is None and (cell := _cell_called(where, observation)):
            return cell
        case NamedTarget() if (there := _on_surface(where, observation, prefer)) is not None:
            return there
        case _:
            return _one(where, observation, prefer).number


def _on_surface(where: NamedTarget, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Target | None:
    """What is drawn on a surface and called so, for words such as `7 on Calculator`; None if there is no such thing.

    Raises:
        AmbiguousError: several things or cells there are called so.
    """
    if where.is_quoted or where.beside or where.nth or matching_marks(where, observation.marks):
        return None
    for said in _ON.finditer(where.words):
        words, of = where.words[: said.start()], where.words[said.end() :]
        surfaces = [each for each in observation.marks if each.kind == "surface" and is_same_name(of, each.name)]
        if len(surfaces) != 1:
            continue
        inside = [each for each in observation.marks if each.surface == surfaces[0].number]
        part, named = observation.model_copy(update={"marks": tuple(inside)}), replace(where, words=words, name=words)
        if prefer is None and (cell := _cell_called(named, part)):
            return cell
        if matching_marks(named, inside):
            return _one(named, part, prefer).number
    return None


def _cell_called(where: NamedTarget, observation: Observation) -> Cell | None:
    """The only cell of a grid in which these words and no others were read, if no mark is called so.

    Raises:
        AmbiguousError: several cells have these words.
    """
    if where.beside or where.nth or names_in_placeholders(where.words):
        return None
    labels = {mark.number: mark.label_text for mark in observation.marks}
    texts = observation.cell_texts
    found = [cell for cell in texts if cell.mark in labels and is_same_name(where.words, texts[cell])]
    if not found or matching_marks(where, observation.marks):
        return None
    if len(found) > 1:
        cells = ", ".join(f"row {each.row} column {each.column} of [{labels[each.mark]}]" for each in found[:MOST_NEAR])
        more = f" and {len(found) - MOST_NEAR} more" if len(found) > MOST_NEAR else ""
        raise AmbiguousError(f"{where} could be {cells}{more}; name one by its row and column")
    return found[0]


def point_in(
    where: NamedTarget | NumberedTarget,
    x: float,
    y: float,
    observation: Observation,
    prefer: Callable[[Mark], bool] | None = None,
) -> Point:
    """The point of the picture at these fractions of a mark's box.

    Raises:
        NotFoundError: there is no match, or more than one.
    """
    box = observation.marked.map.box_to_picture(_one(where, observation, prefer).box)
    return Point(x=box.x + x * box.width, y=box.y + y * box.height)


def _cell(where: GridCell, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Cell:
    mark = _one(where.mark, observation, prefer)
    inside = [each for each in observation.marks if each.grid and _has_cells_of(each, mark)]
    if len(inside) != 1:
        found = f"there are {listed_marks(inside, observation.marks)}" if inside else "it has no rows and columns"
        raise NotFoundError(f"{where} is not here: {found}.")
    [has_cells] = inside
    cell = Cell(mark=has_cells.number, row=where.row, column=where.column)
    if observation.box_of(cell) is None:
        size = has_cells.grid.words if has_cells.grid else "none"
        raise NotFoundError(f"{where} is not here: [{has_cells.label_text}] has {size}.")
    return cell


def _has_cells_of(grid: Mark, mark: Mark) -> bool:
    """Whether a grid is the mark, drawn in it, or laid over it or a part of it by a zoom."""
    is_laid_over = grid.surface is None and grid.source == "cv" and grid.box.share_in(mark.box) > _ALL
    return grid is mark or grid.surface == mark.number or is_laid_over


def _one(where: NamedTarget | NumberedTarget, observation: Observation, prefer: Callable[[Mark], bool] | None) -> Mark:
    if isinstance(where, NumberedTarget):
        mark = observation.known_mark(where.number)
        if mark is None:
            raise NotFoundError(f"There is no mark {where}; {nearest_marks('', observation.marks)}.")
        if where.letter not in ("", mark.letter):
            raise NotFoundError(f"There is no mark {where}; [{mark.label_text}] is the {mark.role} {mark.name!r}.")
        return mark
    meant = _with_values(where)
    found = matching_marks(_with_whole_name(meant), observation.marks) or matching_marks(meant, observation.marks)
    # Marks from the DOM are certain; a guess from pixels with the same name is not meant if there is one.
    found = [mark for mark in found if mark.source == "dom"] or found
    if len(found) > 1 and prefer is not None:
        found = [mark for mark in found if prefer(mark)] or found
    found = _but_legend(found)
    if where.nth and _is_ordinal(where, found):
        if where.nth > len(found):
            here = listed_marks(found, observation.marks) or "there is none"
            raise NotFoundError(f"{where} is not here: {here}.")
        return found[where.nth - 1]
    if len(found) > 1:
        ways = "name one by its number, by words in ‹ › from its row, card or heading, or by 2nd, 3rd, …"
        raise AmbiguousError(f"{where} could be any of {listed_marks(found, observation.marks)}; {ways}")
    if (
        not found
        and not where.is_exact
        and _BARE_NUMBERS.get()
        and (labelled := _with_label(where.words, observation)) is not None
    ):
        return labelled
    if not found:
        raise _missing(not_found_sentence(where, meant, observation), meant)
    if where.beside and (longer := _longer_than_before(meant, found[0], observation)):
        raise _missing(
            f"{where} was here at an earlier look and is not now; [{found[0].label_text}] is beside {longer!r}. "
            "If that is meant, write it out.",
            meant,
        )
    return found[0]


def _but_legend(found: list[Mark]) -> list[Mark]:
    """The slice, bar or point of a chart, where the entry of its legend has the same name; else all that were found."""
    rest = [mark for mark in found if mark.looks_like != "legend entry"]
    is_value = len(rest) == 1 and rest[0].looks_like in ("slice", "bar", "point") and rest[0].surface is not None
    return rest if is_value and all(mark.surface == rest[0].surface for mark in found) else found


def _missing(sentence: str, where: NamedTarget) -> NotFoundError:
    missing = NotFoundError(sentence)
    missing.where = where
    return missing


def _longer_than_before(where: NamedTarget, mark: Mark, now: Observation) -> str:
    """What stands beside a mark that has more words than those of a target, which were all of it before; or nothing.

    Only looks at the same page count.
    """

    def has_just(each: Mark) -> bool:
        return each.wording is not None and distinction_match(each, where.beside, None, is_exact=True) > 0

    longer = "" if mark.wording is None or has_just(mark) else longer_wording(mark, where.beside)
    if not longer:
        return ""
    page = urlsplit(now.url)[:3]
    before = (each for seen in _EARLIER.get() if urlsplit(seen.url)[:3] == page for each in seen.marks)
    return longer if any(each.name == mark.name and has_just(each) for each in before) else ""


def _with_values(where: NamedTarget) -> NamedTarget:
    """The target with values in place of their placeholders."""
    values = _VALUES.get()
    if not names_in_placeholders(where.words):
        return where

    def fill(text: str) -> str:
        return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)

    ends_with = f"<{where.beside}>" if _PLACEHOLDER_INSIDE.fullmatch(where.beside) else ""
    return replace(
        where,
        words=fill(where.words),
        name=fill(where.name),
        beside=fill(ends_with or where.beside),
        is_exact=True,
        is_beside_exact=bool(ends_with or names_in_placeholders(where.beside)),
        whole_name=fill(f"{where.name} {ends_with}".strip()) if ends_with else "",
    )


def _with_whole_name(where: NamedTarget) -> NamedTarget:
    """The target with words in < > as the end of its name, where they are a placeholder."""
    return replace(where, name=where.whole_name, beside="") if where.whole_name else where


def _with_label(words: str, observation: Observation) -> Mark | None:
    """The mark whose number, with its letter or without, is all of the words."""
    marks = (*observation.marks, *observation.out_of_view)
    return next((mark for mark in marks if words in (mark.label_text, str(mark.number))), None)


def _is_ordinal(where: NamedTarget, found: Sequence[Mark]) -> bool:
    """Whether `2nd` counts marks of one name; it does not in `2nd Street`, nor among names that differ."""
    names = {folded_name(label) for mark in found for label in labels_of(mark)[:1]}
    return len(names) == 1 and folded_name(where.words) not in names

"""Tables, lists, details and repeated cards of a page as sets of records, and which of them words or columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unicodedata import normalize

from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.text import RecordSet, TableAnswer
from vision_agent.text.escape import safe_line

MOST_NAMED = 5
"""How many sets or columns a sentence names."""
THE_SET = {"table": "the table", "list": "the list", "details": "the details", "cards": "the cards"}
_HEADED = " › "
"""Between the headings over a column, the upper one first."""
_HEADS = {"title", "name"}


async def all_records(sender: InputSender) -> list[RecordSet]:
    """The sets of records of all frames that answer."""
    found: list[RecordSet] = []
    for scanned in sender.seen.scan.frames:
        if scanned.frame.is_detached():
            continue
        try:
            sets = await overlay_calls.text.record_sets(scanned.frame, sender.deadline_s)
        except FrameSilent:
            if scanned.parent is None:
                raise
            continue
        before = len(found)
        found += [
            replace(each, rows=without_head(each.headings, each.rows), inside=tuple(before + at for at in each.inside))
            for each in sets
        ]
    return found


async def what_else(sender: InputSender) -> str:
    """What to do where a mark is in no set of records: a table without a mark in it has a name all the same."""
    titles = dict.fromkeys(each.title for each in await all_records(sender) if each.rows and each.title)
    if not titles:
        return "read the page instead"
    named = " or ".join(f'"{safe_line(title, 60)}"' for title in [*titles][:MOST_NAMED])
    return f"read the page instead, or name a table or list by its caption in double quotes: {named}"


def sets_named(words: str, sets: list[RecordSet]) -> list[RecordSet]:
    """The sets with this title, else those with the words in their title, else those that say them."""
    wanted = _normalize(words)
    return sets_titled(words, sets) or [
        each for each in sets if any(wanted in _normalize(cell) for row in each.rows for cell in row)
    ]


def sets_titled(words: str, sets: list[RecordSet]) -> list[RecordSet]:
    """The sets with this title, as in `Open orders`, or with it under a heading, as in `Open orders under North`; else
    those under this heading; else those with the words in their title.
    """
    wanted = _normalize(words)
    if not wanted:
        return []
    return sets_called(words, sets) or [each for each in sets if wanted in _normalize(each.title)]


def sets_called(words: str, sets: list[RecordSet]) -> list[RecordSet]:
    """The sets of which these words are all of the title, or of the heading over them."""
    wanted = _normalize(words)
    if not wanted:
        return []
    titled = [
        each
        for each in sets
        if wanted in (_normalize(each.title), _normalize(f"{each.title} under {each.under}") if each.under else "")
    ]
    return titled or _outermost([each for each in sets if _normalize(each.under) == wanted], sets)


def only_mark_called(words: str, sender: InputSender) -> int | None:
    """The number of the only element in view that has this name, by which what it stands in may be meant."""
    wanted = _normalize(words)
    named = [
        mark.number
        for mark in sender.seen.observation.marks
        if mark.source == "dom" and wanted == _normalize(mark.shows or mark.name)
    ]
    return named[0] if wanted and len(named) == 1 else None


def sets_with_columns(sets: list[RecordSet], names: list[str]) -> list[RecordSet]:
    """The sets that have the columns, without those around another one that has them too."""
    fit = [each for each in sets if has_columns(each, names)]
    return [each for each in fit if not any(other in fit for other in _sets_inside(each, sets))]


def _outermost(some: list[RecordSet], sets: list[RecordSet]) -> list[RecordSet]:
    """Those that are not inside another one of them."""
    inner = [other for each in some for other in _sets_inside(each, sets)]
    return [each for each in some if not any(each is other for other in inner)]


def _sets_inside(one: RecordSet, sets: list[RecordSet]) -> list[RecordSet]:
    return [sets[at] for at in one.inside if at < len(sets)]


def has_columns(records: RecordSet, names: list[str]) -> bool:
    """Whether the set has exactly one column of each of these names."""
    return all(len(columns_called(name, records)) == 1 for name in names)


def columns_called(name: str, records: RecordSet) -> list[int]:
    """The places of the columns that have this name. The heading of a card counts as its title and its name, and the
    last of several headings over a column as its name if none has it else: `Q1` of `2025 › Q1`.
    """
    wanted = _normalize(name)
    alike = [place for place, heading in enumerate(records.headings) if _normalize(heading) == wanted]
    if not alike and records.kind == "table":
        lowest = [heading.rpartition(_HEADED)[2] for heading in records.headings]
        alike = [place for place, heading in enumerate(lowest) if _normalize(heading) == wanted]
    if not alike and records.kind in ("cards", "list") and wanted in _HEADS:
        return [place for place, heading in enumerate(records.headings) if heading == "heading"]
    return alike


def without_head(headings: list[str], rows: list[list[str]]) -> list[list[str]]:
    """The foot of a long table often repeats its head."""
    return [cells for cells in rows if cells != headings]


def describe_sets(sets: Sequence[RecordSet]) -> str:
    """The first few of these sets in words; with the headings that they are under where their titles are the same."""
    titles = [each.title for each in sets]
    return "; ".join(_describe_set(each, has_twin=titles.count(each.title) > 1) for each in sets[:MOST_NAMED])


def _describe_set(records: RecordSet, *, has_twin: bool) -> str:
    """A set of records with its title, its columns and the beginning of its first row."""
    title = f'"{safe_line(records.title, 40)}"' if records.title else ""
    if has_twin and records.under not in ("", records.title):
        title += f' under "{safe_line(records.under, 40)}"'
    title += ", " if title else ""
    columns = ", ".join(f'"{safe_line(heading, 30)}"' for heading in records.headings[:MOST_NAMED])
    first = safe_line(" | ".join(records.rows[0]), 40) if records.rows else ""
    named = f" with {columns}" if columns else ""
    return f"{THE_SET[records.kind]} {title}{rows_words(len(records.rows))}{named}, first {first}"


def title_under(records: RecordSet) -> str:
    """The title of a set with the heading it is under, by which `sets_titled` tells it from others of the title."""
    return f"{records.title} under {records.under}" if records.under else records.title


def rows_words(many: int) -> str:
    """How many rows there are, in words."""
    return f"{many} row{'' if many == 1 else 's'}"


def _normalize(text: str) -> str:
    """Letters and digits only, case-folded: headings and property names differ in case and separators."""
    return "".join(letter for letter in normalize("NFC", text).casefold() if letter.isalnum())


def rows_elsewhere(records: RecordSet | TableAnswer) -> str:
    """A clause that the document does not hold all rows, to append; empty if it may."""
    many = rows_words(len(records.rows))
    if records.rows_told is not None:
        there = f"{len(records.rows):,} of {records.rows_told:,} rows"
        return f"; {there} are on the page: scroll or turn its pages for the others"
    return f"; only these {many} are on the page now: scroll for the others" if records.goes_on else ""

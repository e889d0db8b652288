"""Reads the tables that are drawn in surfaces, from a picture of the page as it is now. Presses nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from vision_agent.actions import Point
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.record_sets import describe_sets, has_columns, rows_words
from vision_agent.browser.locate.drawn_target import surface_offset
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.observe.surfaces import may_hold_things
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.capture import capture
from vision_agent.browser.page.overlay_calls.text import RecordSet
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.vision.ocr import OcrReader
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.candidates import propose
from vision_agent.vision.surfaces.tables import DrawnTable, DrawnTables, read_tables
from vision_agent.vision.surfaces.text_layer import LaidText, compare_layer
from vision_agent.vision.surfaces.things import UNSURE, read_lines

LONGEST_S = 20.0
"""The most seconds for which the words of drawn tables are read in one action."""
_OVER = 0.8
"""The share of a surface and a scroller that must lie in the other for this to scroll what the surface shows."""
_TITLE_PX = 60.0
"""How far above a table the words may be that name it."""


@dataclass(frozen=True, slots=True)
class DrawnRecords(RecordSet):
    """A table that is drawn, as a set of records; without headings if no row is known to name the columns."""

    drawn_in: str = ""
    """The surface in words."""
    notes: tuple[str, ...] = ()
    """What a reader must know of it, each as a clause."""
    is_lettered: bool = False
    """Whether its headings are only A, B, C."""

    @property
    def words(self) -> str:
        """What it is in a sentence, with the notes."""
        rows = f"the table drawn in {self.drawn_in}, {rows_words(len(self.rows))}"
        return "; ".join([rows, *self.notes])


async def drawn_table(sender: InputSender, mark: Mark, names: Sequence[str] = ()) -> DrawnRecords:
    """The table drawn in a surface, or that with a thing that is drawn in one; of several, the only one with columns of
    these names, if any are given.

    Raises:
        Refused: there is no table, it is not plain what is in which column, or several may be meant.
    """
    surface = sender.seen.observation.mark(mark.surface) if mark.surface is not None else mark
    if surface is None:
        raise Refused("unknown_mark", f"The surface that {mark_words(mark)} is drawn in has no mark here. Zoom to it.")
    found = await _read(sender, surface)
    tables = found.tables if mark is surface else _with(mark, found.tables)
    records = [_as_records(sender, surface, each) for each in tables]
    if names and len(records) > 1:
        records = [each for each in records if has_columns(with_columns(each, names), list(names))] or records
    if len(records) == 1:
        return records[0]
    words = capitalised(mark_words(surface))
    if records:
        there = describe_sets(records)
        inside = [_mark_in(sender, surface, each) for each in tables]
        ways = " or ".join(f"read table at [{mark.label_text}]" for mark in inside if mark is not None)
        instead = f"name something in the one that is meant: {ways or 'read table at NAME'}"
        raise Refused("ambiguous", f"{words} shows {len(records)} tables: {there}; {instead}.")
    if surface.number in sender.seen.charts:
        instead = f"read table at [{surface.label_text}] gives them, and read exact table at [{surface.label_text}] "
        instead += "those that the page shows under the pointer"
        raise Refused("unsupported", f"{words} shows a chart, of which values are only estimated: {instead}.")
    why = "no words were read in it"
    if found.is_unclear:
        why = "it is not plain which of its words are in one column"
    elif found.has_words:
        why = "its words do not stand in rows and columns"
    instead = "words drawn there are in the listing; zoom to a part of it if they are small"
    raise Refused("unsupported", f"{words} shows no chart or table that can be read: {why}; {instead}.")


async def drawn_records(sender: InputSender) -> list[DrawnRecords]:
    """The tables drawn in all surfaces in view."""
    if await sender.observer.reader() is None:
        return []
    records = []
    for surface in sender.seen.observation.marks:
        if may_hold_things(surface) and surface.number not in sender.seen.charts:
            try:
                found = await _read(sender, surface)
            except Refused:  # it has changed, or nothing of it is in view
                continue
            records += [_as_records(sender, surface, each) for each in found.tables]
    return records


async def _read(sender: InputSender, surface: Mark) -> DrawnTables:
    reader = await sender.observer.reader()
    if reader is None:
        raise Refused("unsupported", "Words that are drawn cannot be read: install the extra `ocr`.")
    moved = await surface_offset(surface, sender.seen, sender.deadline_s)
    was = surface.box
    box = Box(x=was.x + moved.x, y=was.y + moved.y, width=was.width, height=was.height)
    raw = await capture(sender.page, sender.deadline_s)
    laid = sender.observer.text_layers(sender.seen.scan).get(surface.key, [])
    found = await asyncio.to_thread(_tables_in, sender, raw, box, reader, [] if moved != Point(x=0, y=0) else laid)
    tables = [await _without_covered(sender, surface, each) for each in found.tables]
    return found._replace(tables=tuple(tables))


def _tables_in(
    sender: InputSender, raw: bytes, surface: Box, reader: OcrReader, laid: Sequence[LaidText]
) -> DrawnTables:
    seen, until = sender.seen, time.monotonic() + LONGEST_S
    picture = Picture.decode(raw, seen.clean.page, sender.image_limits).masked(seen.masked)
    shown = seen.observation.region
    if shown is not None and picture.page.intersection(shown):
        picture = picture.zoomed(shown, sender.image_limits)
    inside = picture.page.intersection(surface)
    if inside is None:
        raise Refused("outside", "It is out of view. Scroll until it shows, and look again.")
    read = partial(reader.read, until=until)
    layer = compare_layer(picture, laid, partial(reader.glance, until=until), read)
    proposed = propose(picture, inside, laid=layer.texts)
    return read_tables(picture, inside, proposed, read_lines(picture, proposed, read), partial(read, picture))


async def _without_covered(sender: InputSender, surface: Mark, table: DrawnTable) -> DrawnTable:
    """The table without what is written on something that covers it."""
    owner = sender.seen.scan.owner(surface.key)
    places = [place for row in table.places for place in row if place.width > 0]
    if owner is None:
        return table
    points = [owner.place.to_frame(place.center) for place in places]
    answer = await overlay_calls.element.shows_points(owner.frame, sender.deadline_s, surface.key, points)
    covered = {place for place, is_shown in zip(places, answer.are_shown, strict=True) if not is_shown}
    return table.without(covered) if covered else table


def _with(mark: Mark, tables: Sequence[DrawnTable]) -> list[DrawnTable]:
    """The tables in which a thing is drawn, else those right below it, else all."""
    inside = [each for each in tables if each.box.contains(mark.box.center) or mark.box.share_in(each.box) > _OVER]
    below = [
        each
        for each in tables
        if 0 <= each.box.y - mark.box.bottom <= _TITLE_PX
        and mark.box.x < each.box.right
        and mark.box.right > each.box.x
    ]
    return inside or below or list(tables)


def _mark_in(sender: InputSender, surface: Mark, table: DrawnTable) -> Mark | None:
    """A mark that is drawn in a table: the grid that it is, or something in it."""
    inside = [
        mark
        for mark in sender.seen.observation.marks
        if mark.surface == surface.number and table.box.contains(mark.box.center)
    ]
    return next((mark for mark in inside if mark.grid is not None), inside[0] if inside else None)


def _as_records(sender: InputSender, surface: Mark, table: DrawnTable) -> DrawnRecords:
    return DrawnRecords(
        "table",
        table.title or surface.name,
        list(table.headings),
        [list(row) for row in table.rows],
        (),
        surface.name,
        drawn_in=mark_words(surface),
        notes=tuple(_notes(sender, surface, table)),
        is_lettered=table.is_lettered,
    )


def _notes(sender: InputSender, surface: Mark, table: DrawnTable) -> Iterator[str]:
    if table.late:
        yield f"there was no time to read {table.late} of its texts; read it again"
    elif table.unread:
        cells = "1 cell holds" if table.unread == 1 else f"{table.unread} cells hold"
        yield f"{cells} something that was not read, or is cut off"
    if table.beside:
        texts = "1 text is" if table.beside == 1 else f"{table.beside} texts are"
        yield f"{texts} in it, or right above or below it, and in no row of it; compare it with the picture"
    if table.first > 1:
        yield f"its first row in view is row {table.first}"
    if away := _out_of_view(sender, surface):
        yield f"{away} out of view"
    elif table.at_edge:
        yield f"it reaches the edge of what is shown, so more may follow {' and '.join(sorted(table.at_edge))}"


def _out_of_view(sender: InputSender, surface: Mark) -> str:
    """How much of what a surface shows is out of view, as far as the page says: `300 px above and 1200 px below`."""
    found, box = sender.seen.found(surface), surface.box
    above = below = 0.0
    if found is not None and found.whole is not None:
        above, below = box.y - found.whole.y, found.whole.bottom - box.bottom
    for mark in sender.seen.observation.marks:
        scroll = mark.state.scroll
        if scroll is not None and min(mark.box.share_in(box), box.share_in(mark.box)) >= _OVER:
            above, below = max(above, scroll.above), max(below, scroll.below)
    sides = [f"{far:.0f} px {side}" for far, side in ((above, "above"), (below, "below")) if far >= 2]
    return f"{' and '.join(sides)} {'is' if len(sides) == 1 else 'are'}" if sides else ""


def with_columns(records: DrawnRecords, names: Sequence[str]) -> DrawnRecords:
    """The table with names for its columns: those that it has, those in the only row with all of these, or numbers.

    Only a sheet has a row with names farther down, below its title; in any other table it is the first.
    """
    headings = [each.replace(UNSURE, "").strip() for each in records.headings]
    if headings and not records.is_lettered:
        return replace(records, headings=headings)
    rows = [[cell.replace(UNSURE, "").strip() for cell in row] for row in records.rows]
    named = [
        at
        for at, row in enumerate(rows if records.is_lettered else rows[:1])
        if has_columns(replace(records, headings=row), list(names))
    ]
    if len(named) == 1 and not has_columns(replace(records, headings=headings), list(names)):
        [at] = named
        return replace(records, headings=rows[at], rows=records.rows[at + 1 :])
    wide = len(records.rows[0]) if records.rows else 0
    return replace(records, headings=headings or [f"column {at}" for at in range(1, wide + 1)])

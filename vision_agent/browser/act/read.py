"""Reads the text of a page, and waits for text or changes.

Presses nothing; only for the exact values of a chart does the pointer move.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from vision_agent.actions import Read, Wait
from vision_agent.browser.act.attempt import Attempt
from vision_agent.browser.act.drawn_tables import DrawnRecords, drawn_records, drawn_table
from vision_agent.browser.act.exact_values import LONGEST_S, with_exact_values
from vision_agent.browser.act.held import find_shown_text
from vision_agent.browser.act.input_sender import InputSender
from vision_agent.browser.act.read_download import read_download
from vision_agent.browser.act.record_sets import (
    THE_SET,
    all_records,
    describe_sets,
    only_mark_called,
    rows_elsewhere,
    sets_called,
    sets_titled,
    title_under,
    what_else,
    without_head,
)
from vision_agent.browser.locate.drawn_target import must_be_element
from vision_agent.browser.locate.wording import mark_words
from vision_agent.browser.page import overlay_calls
from vision_agent.browser.page.overlay import FrameSilent
from vision_agent.browser.page.overlay_calls.text import RecordSet, ShownText, TableAnswer
from vision_agent.browser.refusal import Refused, capitalised
from vision_agent.observation import Mark, MarkKey
from vision_agent.text.escape import safe_line
from vision_agent.vision.surfaces.charts import Chart
from vision_agent.vision.surfaces.things import UNREAD, UNSURE, may_lack_its_beginning

MOST_READ = 12_000
"""Characters of one reading; it stays in the history that the model sees."""
_MOST_CELL = 80
"""Characters of a cell of a chart's table."""
_MOST_SURFACES = 3
"""How many surfaces a sentence names."""
_LOOK_EVERY_S = 0.1


async def read(sender: InputSender, action: Read) -> Attempt:
    """Text of the page, of its visible part, of a field, of the table or list around a mark, or of a download.

    Long text is cut, and says so.
    """
    if isinstance(action.mark, str) and action.what != "table":
        raise Refused("unsupported", "Words name a table to read; name anything else by its mark.")
    if drawn := _drawn_mark(sender, action):
        text, what = await _drawn_words(sender, drawn)
    elif field := _field(sender, action):
        text, what = await _field_value(sender, field)
    elif action.what == "download":
        text, what = await read_download(sender.tabs.downloads, MOST_READ, sender.deadline_s)
    elif action.what == "table":
        if action.mark is None:
            raise Refused("unsupported", "Name a mark in the table to read.")
        if isinstance(action.mark, str):
            return _read_text(*await _table_called(sender, action.mark))
        if chart := await _chart(sender, action):
            return chart
        text, what = await _table(sender, action.mark)
    else:
        text = await _read_frames(sender, action.what)
        what = "what is in view" if action.what == "view" else "the whole page"
        return _read_text(text, what, _but_drawn(sender))
    return _read_text(text, what)


def _read_text(text: str, what: str, but: str = "") -> Attempt:
    cut = len(text) - MOST_READ
    said = f", the first {MOST_READ} of {len(text)} characters" if cut > 0 else ""
    return Attempt(f"Read {what}{said}{but}", None, read=text[:MOST_READ], needs_no_effect=True)


def _but_drawn(sender: InputSender) -> str:
    """A clause that names the surfaces in which words are drawn: a page does not have these as text."""
    marks = sender.seen.observation.marks
    drawn = {mark.surface for mark in marks if mark.source == "ocr"}
    surfaces = [mark for mark in marks if mark.number in drawn or mark.number in sender.seen.charts]
    if not surfaces:
        return ""
    named = " and ".join(mark_words(mark) for mark in surfaces[:_MOST_SURFACES])
    more = f" and {len(surfaces) - _MOST_SURFACES} more" if len(surfaces) > _MOST_SURFACES else ""
    return f"; what is drawn in {named}{more} is not in it"


def _drawn_mark(sender: InputSender, action: Read) -> Mark | None:
    """The drawn thing whose words are to be read, if the mark is one."""
    if not isinstance(action.mark, int) or action.what != "view":
        return None
    mark = sender.seen.observation.mark(action.mark)
    return mark if mark is not None and mark.surface is not None and mark.grid is None else None


async def _drawn_words(sender: InputSender, mark: Mark) -> tuple[str, str]:
    """The words that the look read on a drawn thing, or its value in a chart, if it still looks the same.

    Raises:
        Refused: they were not read, or not surely, or it has changed.
    """
    text, words = mark.state.value or mark.name, mark_words(mark)
    instead = "zoom to it, and read its value again"
    if mark.shows:
        called = f'is called "{safe_line(mark.name, 60)}" by the page, and "{safe_line(mark.shows, 60)}" was read on it'
        raise Refused("unsupported", f"{capitalised(words)} {called}; compare it with the picture.")
    if not text:
        raise Refused("unsupported", f"{capitalised(words)} is drawn, and no words were read on it; {instead}.")
    if mark.reading == "unread" or UNREAD in text or may_lack_its_beginning(text):
        raise Refused("unsupported", f"{capitalised(words)} is drawn, and not all of its words were read; {instead}.")
    if mark.reading == "unsure" or UNSURE in text:
        raise Refused("unsupported", f"{capitalised(words)} is drawn, and may have been read wrongly; {instead}.")
    if _has_secret(sender, text):
        raise Refused("blocked", f"{capitalised(words)} holds a secret, which is not read.")
    await sender.locate(mark.number, reveal=False)
    if mark.state.value:
        return text, f"the value of {words}, estimated from the picture"
    return text, f"the words of {words} from its pixels"


async def _chart(sender: InputSender, action: Read) -> Attempt | None:
    """The table of the chart that a mark is, or is drawn in; its values are estimates from the picture, or exact."""
    mark = sender.seen.observation.mark(action.mark) if isinstance(action.mark, int) else None
    if mark is None:
        return None
    number = mark.number if mark.kind == "surface" else mark.surface
    chart = sender.seen.charts.get(number) if number is not None else None
    if chart is None:
        return None
    surface = sender.seen.observation.mark(number) if number is not None else None
    reader = await sender.observer.reader()
    late = 0
    if action.exact and surface is not None and reader is not None:
        chart, late = await with_exact_values(sender, surface, chart, reader)
    rows = chart.table()
    text = "\n".join(" | ".join(safe_line(cell, _MOST_CELL) for cell in row) for row in rows)
    what = f"the chart in {mark_words(mark)}, {len(rows) - 1} rows"
    if chart.series:
        what += f", {how_exact(chart, late)}"
    if chart.unread:
        why = f": {chart.why_unread}" if chart.why_unread else ""
        what += f"; the values of {safe_line(', '.join(chart.unread), _MOST_CELL)} could not be read{why}"
    if many := sum(cell == UNREAD for row in rows[1:] for cell in row[1 : len(row) - len(chart.unread)]):
        what += f"; {many} {'value' if many == 1 else 'values'} could not be read"
    return Attempt(f"Read {what}", None, read=text[:MOST_READ], needs_no_effect=True)


def how_exact(chart: Chart, late: int) -> str:
    """How many of its values the page shows; `late`: how many the pointer did not reach in time."""
    errors = [error for each in chart.series for _, _, error in each.values]
    exact = sum(error == 0 for error in errors)
    over = f"; the {LONGEST_S:.0f} seconds for reading exact values were over before {late} of them" if late else ""
    if not exact:
        return f"estimated from the picture{over}"
    rest = f", {len(errors) - exact} estimated from the picture (±)" if exact < len(errors) else ""
    return f"{exact} values as the page shows them{rest}{over}"


def _field(sender: InputSender, action: Read) -> Mark | None:
    """The field whose value is to be read; None if no mark is named.

    Raises:
        Refused: the mark has no text of its own.
    """
    if not isinstance(action.mark, int) or action.what != "view":
        return None
    mark = sender.seen.observation.mark(action.mark)
    if mark is None or (mark.kind == "field" and mark.tag != "select"):
        return mark
    shows = f'; the listing shows "{safe_line(mark.state.value, 60)}" for it' if mark.state.value else ""
    raise Refused("unsupported", f"{capitalised(mark_words(mark))} is no text field{shows}. Read the page or a table.")


async def _field_value(sender: InputSender, mark: Mark) -> tuple[str, str]:
    """The whole value of a field, and what it is in words.

    Raises:
        Refused: it is secret, or has no text.
    """
    must_be_element(mark.number, sender.seen)
    frame, mark = await sender.identify(mark)
    found = await overlay_calls.fields.field_value(frame, sender.deadline_s, MarkKey(mark.key))
    words = mark_words(mark)
    if found is None:
        raise Refused("gone", f"{capitalised(words)} is no longer on the page. Look at the new listing.")
    text = found.text or ""
    if found.is_secret or mark.key in sender.observer.masked_keys or _has_secret(sender, text):
        raise Refused("blocked", f"{capitalised(words)} holds a secret, which is not read.")
    if found.text is None:
        raise Refused("unsupported", f"{capitalised(words)} has no text; read the page instead.")
    return text, f"what {words} shows of its text" if found.is_part else f"the value of {words}"


def _has_secret(sender: InputSender, text: str) -> bool:
    find = sender.observer.find_secrets
    return find is not None and bool(find(text))


async def wait(sender: InputSender, action: Wait) -> Attempt:
    """Waits for a text, for any change, or for a number of seconds.

    Raises:
        Refused: the text or the change did not come in time.
    """
    began = time.monotonic()
    if action.text is None and not action.change:
        while True:
            left = began + action.seconds - time.monotonic()
            if left <= 0 or sender.page.is_closed():
                break
            await asyncio.sleep(min(left, _LOOK_EVERY_S))
        waited = f"{action.seconds - left:.1f} s, until the tab closed" if left > 0 else f"{action.seconds:g} s"
        return Attempt(f"Waited {waited}", None)
    what = f'"{safe_line(action.text, 60)}" did not show' if action.text is not None else "Nothing changed"
    said = f'"{safe_line(action.text, 60)}" shows' if action.text is not None else "The page changed"
    before = sender.page.url
    instead = ""
    while True:
        passed = time.monotonic() - began
        if action.text is not None:
            shown = await find_shown_text(sender.page, sender.deadline_s, action.text, sender.observer.find_secrets)
            has_come, instead = shown.shows, _instead(shown)
        else:
            has_come = sender.page.url != before or await _has_changed(sender, passed)
        if has_come:
            return Attempt(f"{said} after {time.monotonic() - began:.1f} s", None, needs_no_effect=True)
        if passed >= action.seconds:
            raise Refused("timed_out", f"{what} within {action.seconds:g} s{instead}.")
        await asyncio.sleep(_LOOK_EVERY_S)


def _instead(shown: ShownText) -> str:
    """What the page shows in place of a text, as the end of a sentence."""
    if shown.near:
        return f'; the page shows "{safe_line(shown.near, 60)}"'
    return "; the page shows it struck through" if shown.is_struck else ""


async def _has_changed(sender: InputSender, since_s: float) -> bool:
    for frame in sender.page.frames:
        try:
            stability = await overlay_calls.document.stability(frame, sender.deadline_s)
        except FrameSilent:
            continue
        if stability.quiet_ms < since_s * 1000:
            return True
    return False


async def _read_frames(sender: InputSender, what: str) -> str:
    """The text of all frames that answer, the main frame first, each child frame under its name."""
    parts = []
    for scanned in sender.seen.scan.frames:
        if scanned.frame.is_detached():
            continue
        try:
            text = await overlay_calls.text.read_text(scanned.frame, sender.deadline_s, what)
        except FrameSilent:
            if scanned.parent is None:
                raise
            continue
        if text:
            parts.append(f"[frame {scanned.name}]\n{text}" if scanned.name else text)
    return "\n".join(parts)


def _as_text(table: TableAnswer | RecordSet) -> str:
    return "\n".join(" | ".join(cells) for cells in [table.headings, *table.rows] if cells)


async def _table_called(sender: InputSender, words: str) -> tuple[str, str]:
    """The text of the table, list or cards with this caption, label or heading, and what it is.

    What is drawn in surfaces is asked only where no element is called so.

    Raises:
        Refused: none is called so, or several are.
    """
    # Titles with a secret are no names, or it could be guessed letter by letter.
    sets = [each for each in await all_records(sender) if not _has_secret(sender, f"{each.title}\0{each.under}")]
    every: list[RecordSet] = [each for each in sets if each.rows and each.title]
    named = only_mark_called(words, sender)
    if named is not None and not sets_called(words, every):
        return await _table(sender, named)
    found = sets_titled(words, every)
    if not found:
        every += [each for each in await drawn_records(sender) if each.title]
        found = sets_titled(words, every)
    if len(found) == 1 and isinstance(found[0], DrawnRecords):
        return _as_text(found[0]), found[0].words
    if len(found) == 1:
        called = f'"{safe_line(found[0].title, 60)}"'
        return _as_text(
            found[0]
        ), f"{THE_SET[found[0].kind]} {called}, {len(found[0].rows)} rows{rows_elsewhere(found[0])}"
    there = describe_sets(found or every) or "none with a caption or heading"
    asked = f'"{safe_line(words, 60)}"'
    if found:
        instead = "name a mark in the one that is meant: read table at NAME"
        by_title = [each for each in found if len(sets_titled(each.title, every)) == 1]
        by_heading = [title_under(each) for each in found if len(sets_titled(title_under(each), every)) == 1]
        if not by_title and by_heading:
            instead = f'add its heading: read table "{safe_line(by_heading[0], 80)}", or {instead}'
        raise Refused("ambiguous", f"{len(found)} tables, lists or cards are called {asked}: {there}; {instead}.")
    raise Refused("not_an_option", f"No table, list or cards here are called {asked}. There are: {there}.")


async def _table(sender: InputSender, number: int) -> tuple[str, str]:
    """The text of the table or list around a mark, or drawn around it, and what it is."""
    mark = sender.seen.observation.mark(number)
    drawn = None
    if mark is not None and (mark.kind == "surface" or mark.surface is not None):
        try:
            drawn = await drawn_table(sender, mark)
        except Refused as refusal:
            if mark.kind != "surface" or refusal.refusal != "unsupported" or not await has_table(sender, number):
                raise
    if drawn is not None:
        return _as_text(drawn), drawn.words
    must_be_element(number, sender.seen)
    at = await sender.locate(number)
    assert at.mark is not None
    assert at.frame is not None
    table = await overlay_calls.text.table_around(at.frame, sender.deadline_s, at.mark.key)
    if table is None:
        instead = await what_else(sender)
        raise Refused("unsupported", f"{mark_words(at.mark)} is not in a table or list; {instead}.")
    table = replace(table, rows=without_head(table.headings, table.rows))
    return _as_text(table), f"the {table.kind} around {at.words}, {len(table.rows)} rows{rows_elsewhere(table)}"


async def has_table(sender: InputSender, number: int) -> bool:
    """Whether an element is in a table or list of the page, or has one for people who do not see it."""
    at = await sender.locate(number)
    assert at.mark is not None
    assert at.frame is not None
    return await overlay_calls.text.table_around(at.frame, sender.deadline_s, at.mark.key) is not None

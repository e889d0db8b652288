"""Joins the accessible content of a drawing (its twins) with the things that are found in its pixels.

The words are the page's claim, so they only complete what was read: a thing gets the name that its own reading nearly
is, and keeps its reading beside it where the two differ. What has no place in the pixels is listed without one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

from rapidfuzz import fuzz

from vision_agent.browser.page.overlay_calls.surface import Twin, Twins
from vision_agent.text.escape import NARROW, safe_line
from vision_agent.vision.ocr import folded
from vision_agent.vision.surfaces.roles import DrawnRole, Told
from vision_agent.vision.surfaces.things import Thing

_ALIKE = 80.0
"""How alike a name and a reading must be, of 100."""
_CLEARER = 10.0
"""By how much more than any other."""
_MOST_SAID = 20
_ROLES = frozenset(get_args(DrawnRole))
_LONGEST = 60


class Joined(NamedTuple):
    """The things with the names that the page gives them, and what has no place."""

    things: tuple[Thing, ...]
    unplaced: tuple[Twin, ...]


def join(things: Sequence[Thing], twins: Sequence[Twin]) -> Joined:
    """The things of a surface with the names and roles that its own content has for them."""
    named: dict[int, Twin] = {}
    for twin in twins:
        scores = [fuzz.ratio(folded(thing.name), folded(twin.name)) if thing.name else 0.0 for thing in things]
        ranked = sorted(range(len(things)), key=lambda at: -scores[at])
        if not ranked or scores[ranked[0]] < _ALIKE:
            continue
        is_only = len(ranked) == 1 or scores[ranked[0]] - scores[ranked[1]] >= _CLEARER
        if is_only and ranked[0] not in named:
            named[ranked[0]] = twin
    joined = tuple(_named(thing, named[at]) if at in named else thing for at, thing in enumerate(things))
    placed = {id(twin) for twin in named.values()}
    return Joined(joined, tuple(twin for twin in twins if id(twin) not in placed))


def _named(thing: Thing, twin: Twin) -> Thing:
    told = thing.told
    if twin.role in _ROLES:
        role: DrawnRole = twin.role  # type: ignore[assignment]
        checked = told.is_checked if twin.checked is None else twin.checked
        told = Told(role, is_checked=checked, is_selected=told.is_selected, is_disabled=twin.disabled)
    read = "" if folded(thing.name) == folded(twin.name) else thing.name
    return replace(thing, name=twin.name, reading="", told=told, read_as=read, is_named_by_page=True)


def twin_notes(label: str, said: Twins, unplaced: Sequence[Twin]) -> list[str]:
    """Notes for the end of the listing: what the page says of a surface that has no place in its pixels."""
    notes = []
    if unplaced:
        named = [f'{_plain(each.role)} "{_plain(each.name)}"' for each in unplaced[:_MOST_SAID]]
        more = f" and {len(unplaced) - _MOST_SAID} more" if len(unplaced) > _MOST_SAID else ""
        notes.append(f"{label} also has, at no known place: {', '.join(named)}{more}")
    return [*notes, *(f'{label} announces: "{_plain(each)}"' for each in said.live)]


def _plain(text: str) -> str:
    """A text of the page that cannot look like another note."""
    plain = safe_line(text, _LONGEST).translate(NARROW).replace("·", "•").replace('"', "'")
    return re.sub(r"\[(\w*\d+)\]", r"(\1)", plain)

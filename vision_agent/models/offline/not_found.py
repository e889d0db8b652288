"""Says what is on the page instead, where nothing has the name that a step line says."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz, process

from vision_agent.describe.distinctions import distinction_suffix, longer_wording, ordinal
from vision_agent.models.offline.line_targets import NamedTarget
from vision_agent.models.offline.match_marks import (
    SHAPES,
    all_looks,
    folded_name,
    is_same_name,
    look_words,
    marks_called,
)
from vision_agent.observation import Mark, Observation
from vision_agent.text.escape import cut_text

_LONGEST_NAME = 60
"""The most characters of a surface's name that is written out in advice."""
_CELLS = ("cell", "cells", "row", "rows", "column", "columns")
"""Words for a part of a grid."""
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "last": 0}
_SLIP = 80
"""How alike a name and its mistyped form are at least, of 100; `Sumbit` and `Submit` are 83."""
MOST_NEAR, _MOST_BARE = 5, 3
"""How many marks are offered where nothing has the name, and how many of them may have no name."""


def not_found_sentence(where: NamedTarget, meant: NamedTarget, observation: Observation) -> str:
    """That nothing here has the name, what comes near it, and how to name that.

    `meant` is the target with values in place of its placeholders.
    """
    marks = observation.marks
    hidden = "".join(f"; {each.count} covered by {each.blocker}" for each in observation.covered)
    if where.beside and (elsewhere := marks_called(meant.name, marks)):
        are = "is" if len(elsewhere) == 1 else "are"
        has = "in its row" if where.in_row else "beside it"
        there = f"there {are} {listed_marks(elsewhere, marks)}{hidden}."
        return f"No {where.name!r} here has {where.beside!r} {has}; {there}{_longer(where, elsewhere)}"
    if other := _shows_otherwise(meant, marks):
        return f"Nothing here shows {where}, but {other}{hidden}."
    is_number = not where.is_exact and any(mark.label_text == where.name for mark in marks)
    numbered = f" For the mark with this number, write [{where.name}]." if is_number else ""
    sentence = f"Nothing here is called {where}; {nearest_marks(meant.name, marks)}{hidden}.{numbered}"
    sentence += _ordinal_hint(meant, marks)
    return sentence if _is_slip(meant.name, marks) else sentence + _closer_look(marks)


def nearest_marks(words: str, marks: Sequence[Mark]) -> str:
    """The marks that come nearest to a name that none has, as a part of a sentence."""
    said = [SHAPES.get(word, word) for word in folded_name(words).split()]
    if said and (
        looking := [mark for mark in marks if set(said).issubset(word for looks in all_looks(mark) for word in looks)]
    ):
        return f"what looks like it has no name, so name it by its number: {listed_marks(looking, marks)}"
    if (
        said
        and not _is_slip(words, marks)
        and (alike := [mark for mark in marks if mark.name and _is_like(said, mark)])
    ):
        return f"what looks like it has a name, so call it by that: {listed_marks(alike, marks)}"
    named = [mark for mark in marks if mark.name]
    best = process.extract(
        folded_name(words), [folded_name(mark.name) for mark in named], scorer=fuzz.WRatio, limit=MOST_NEAR
    )
    near = [(score, named[at]) for _, score, at in best]
    bare = sorted(((_likeness(said, mark), mark) for mark in marks if not mark.name), key=lambda each: -each[0])
    near += [each for each in bare[:_MOST_BARE] if each[0]]
    if not near:
        return "there is no mark with a name"
    near.sort(key=lambda each: -each[0])
    return f"the nearest are {listed_marks([mark for _, mark in near[:MOST_NEAR]], marks)}"


def _is_like(said: Sequence[str], mark: Mark) -> bool:
    """Whether all of these words are the colour, shape or role of a drawn mark."""
    is_drawn = mark.source != "dom" and mark.kind != "surface"
    return is_drawn and set(said).issubset([*mark.look.split(), mark.tag, *folded_name(mark.looks_like).split()])


def _likeness(said: Sequence[str], mark: Mark) -> float:
    """How alike these words and the listing's words for a drawn mark without a name are; 0 if none is the same."""
    words = [*_bare_words(mark), *folded_name(mark.looks_like).split(), *(_CELLS if mark.grid else ())]
    if not set(said) & set(words):
        return 0.0
    return fuzz.WRatio(" ".join(said), " ".join(_bare_words(mark)))


def _bare_words(mark: Mark) -> list[str]:
    """The words of a drawn mark without a name: its colour and shape, or its shape alone."""
    is_bare = mark.source != "dom" and mark.kind != "surface" and not mark.name
    return look_words(mark) or ([mark.tag] if is_bare else [])


def _longer(where: NamedTarget, marks: Sequence[Mark]) -> str:
    """What a row or card here, or something in it, is called that has more words than it must have; or nothing."""
    longer = (longer_wording(mark, where.beside) for mark in marks) if where.is_beside_exact else ()
    called = next(filter(None, longer), "")
    return f" {cut_text(called, _LONGEST_NAME)!r} has more words, so it may be another." if called else ""


def _shows_otherwise(where: NamedTarget, marks: Sequence[Mark]) -> str:
    """What a mark shows whose accessible name alone is the name of the target; empty if there is none."""
    mark = next((mark for mark in marks if mark.shows and is_same_name(where.name, mark.name)), None)
    if mark is None:
        return ""
    return f"[{mark.label_text}] has that name and shows {mark.shows!r}: call it {mark.shows!r} or [{mark.label_text}]"


def _ordinal_hint(where: NamedTarget, marks: Sequence[Mark]) -> str:
    """How to write an ordinal that stands in words before a name here; else nothing."""
    word, _, name = where.name.partition(" ")
    called = marks_called(name, marks) if word.casefold() in _ORDINALS else []
    if not called:
        return ""
    nth = _ORDINALS[word.casefold()] or len(called)
    if nth > len(called):
        return f" There are {len(called)} called {name!r}."
    said = f"[{called[nth - 1].label_text}]" if where.beside else f"{ordinal(nth)} {name}"
    return f" An ordinal is written in figures: {said}."


def _closer_look(marks: Sequence[Mark]) -> str:
    """How to see more of what is drawn, where a canvas or other surface is in view, as small words may have no mark."""
    surface = max(
        (mark for mark in marks if mark.kind == "surface"),
        key=lambda mark: mark.box.width * mark.box.height,
        default=None,
    )
    if surface is None:
        return ""
    alike = [mark for mark in marks if folded_name(mark.name) == folded_name(surface.name)]
    is_plain = surface.name.isprintable() and 0 < len(surface.name) <= _LONGEST_NAME and len(alike) == 1
    called = surface.name if is_plain else f"[{surface.label_text}]"
    return f" If it is drawn in {called}, look at that alone: look at {called} only."


def _is_slip(words: str, marks: Sequence[Mark]) -> bool:
    """Whether the words are probably a name here that was mistyped."""
    names = [folded_name(mark.name) for mark in marks if mark.name]
    return process.extractOne(folded_name(words), names, scorer=fuzz.ratio, score_cutoff=_SLIP) is not None


def listed_marks(marks: Sequence[Mark], among: Sequence[Mark]) -> str:
    """The first marks, each with its number, kind, name and what tells it from others; and how many more there are."""
    listed = ", ".join(
        f"[{mark.label_text}] {_what(mark)}{_shown(mark)}{distinction_suffix(mark, among)}" for mark in marks[:8]
    )
    return f"{listed} and {len(marks) - 8} more" if len(marks) > 8 else listed


def _shown(mark: Mark) -> str:
    return f", which shows {mark.shows!r}" if mark.shows else ""


def _what(mark: Mark) -> str:
    """What a mark is and its name, or its colour and shape; by its tag where the page says nothing of its role."""
    if mark.grid is not None and not mark.name:
        return f"{mark.tag} of {mark.grid.words}"
    if looks := _bare_words(mark):
        return " ".join(looks)
    kind = mark.looks_like or mark.tag if mark.source != "dom" or mark.kind == "surface" else mark.role
    return f"{kind} {mark.name!r}"

"""Says what the icons of marks without a name look like: buttons of a page, and things drawn in a surface.

A name that the page gives always wins. A guess becomes `Mark.icon`, never `Mark.name`: nothing that finds a mark again
reads it. `vision/icons` looks at the pixels; this module chooses the marks.
"""

from __future__ import annotations

from collections.abc import Sequence

from vision_agent.observation import Mark
from vision_agent.vision.icons.namer import icons_at
from vision_agent.vision.picture import Picture

_LARGEST = 96
"""CSS pixels of the longer side; what is larger is no icon."""
_MOST = 200
"""Marks whose pixels are asked about in one look."""
_KINDS = ("button", "link", "toggle", "guess")


def nameless(marks: Sequence[Mark]) -> list[Mark]:
    """The marks that an icon may name: small, without a word from the page or, but for one unsure letter, from OCR."""
    return [mark for mark in marks if _is_nameless(mark)][:_MOST]


def with_icons(marks: Sequence[Mark], asked: Sequence[Mark], picture: Picture) -> tuple[Mark, ...]:
    """The marks, those that were `asked` about with what they look like."""
    guesses = dict(zip((mark.key for mark in asked), icons_at(picture, [each.box for each in asked]), strict=True))
    return tuple(
        mark.model_copy(update={"icon": guess}) if (guess := guesses.get(mark.key)) else mark for mark in marks
    )


def _is_nameless(mark: Mark) -> bool:
    if mark.kind not in _KINDS or mark.grid is not None or mark.shows or mark.state.value:
        return False
    if mark.name.strip() and mark.source != "cv" and not _may_be_a_drawing(mark):
        return False
    # The browser draws inputs itself: their tick is a state.
    return mark.tag != "input" and not mark.moves and max(mark.box.width, mark.box.height) <= _LARGEST


def _may_be_a_drawing(mark: Mark) -> bool:
    """Whether what OCR read is one unsure letter, as which it reads a cross or a ring."""
    return mark.kind == "guess" and mark.reading == "unsure" and len(mark.name.strip()) == 1

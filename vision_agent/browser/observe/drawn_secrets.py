"""Finds hidden values that a page draws as pixels, and says what could not be read, so that they may be in it.

The marks of surfaces need words that are surely right; here no word may be missed. So all that scripts draw is
searched, however low, and every reading counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from vision_agent.browser.observe.shown_secrets import Find, drawn_secrets
from vision_agent.browser.page.overlay_calls.scan import DrawnPicture
from vision_agent.geometry import Box
from vision_agent.observation import Mark, MarkKey
from vision_agent.vision.ocr import OcrReader, RoughLine
from vision_agent.vision.picture import Picture

_ONE_BY_ONE = frozenset({"canvas", "video", "embed", "object"})
"""What a warning names one by one; of other pictures it says how many there are."""
_NAMED = 3
"""The most that a warning names at once."""
_WORTH_SAYING = 64
"""The least width of other pictures that are counted, in CSS pixels; narrower ones are icons."""
_TOUCHING = 3.0
"""How near pictures are that may show one line together, in CSS pixels."""
_LEAST_ALIKE, _ALIKE = 6, 75
"""The least letters of a value that is found even where a few were misread, and how alike it must be, of 100."""
_LOOKALIKES = str.maketrans("0O1Ii|!5S$8B", "oolllllsssbb")
"""Letters and digits that readers mistake for each other."""


@dataclass(frozen=True)
class DrawnSecrets:
    """What was found in pictures of one look."""

    boxes: tuple[Box, ...] = ()
    """The page boxes of lines that show a hidden value."""
    unread: tuple[DrawnPicture, ...] = ()
    """What was not all read."""


def search_pictures(
    picture: Picture,
    pictures: Sequence[DrawnPicture],
    reader: OcrReader | None,
    until: float,
    find: Find,
    values: Sequence[str],
) -> DrawnSecrets:
    """The hidden values in all that the scripts of the page draw, as far as the picture shows it.

    `find`: where hidden values occur; `values`: those that are also found where some letters were misread; `until`: a
    time of `time.monotonic`, after which nothing more is read.
    """
    shown = [
        (each, box) for each in pictures if (box := picture.page.intersection(each.box)) and not picture.is_plain(box)
    ]
    boxes, unread = list[Box](), list[DrawnPicture]()
    wanted = [_folded(each) for each in values if len(_folded(each)) >= _LEAST_ALIKE]
    for group, around in _touching(shown):
        found = reader.search(picture, around, until) if reader else None
        if found is None or not found.is_all_read:
            unread += group
        lines = found.lines if found else ()
        for way in range(max((len(line.texts) for line in lines), default=0)):
            texts = [(line.texts[min(way, len(line.texts) - 1)], line.box) for line in lines]
            boxes += drawn_secrets([each for each in texts if each[0]], find)
        boxes += (line.box for line in lines if _may_show(line, wanted))
    return DrawnSecrets(tuple(dict.fromkeys(boxes)), tuple(unread))


@dataclass
class UnreadPictures:
    """Says of each picture in a document once that it was not read."""

    _said: set[MarkKey] = field(default_factory=set)

    def restart(self) -> None:
        """Forgets what was said, for a new document."""
        self._said.clear()

    def warnings(self, unread: Sequence[DrawnPicture], marks: Sequence[Mark]) -> list[str]:
        """What was not said yet."""
        news = [each for each in unread if each.key not in self._said]
        self._said.update(each.key for each in news)
        labels = {mark.key: mark.label_text for mark in marks if mark.surface is None}
        named = [each for each in news if each.tag in _ONE_BY_ONE]
        others = [each for each in news if each not in named and each.box.width >= _WORTH_SAYING]
        names = [_name(each, labels) for each in named[:_NAMED]]
        if len(named) > _NAMED:
            names.append(f"{len(named) - _NAMED} more")
        if others:
            names.append("1 picture" if len(others) == 1 else f"{len(others)} pictures")
        if not names:
            return []
        which = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return [f"what is drawn in {which} was not all read, so a secret in it could not be masked"]


def _name(each: DrawnPicture, labels: dict[str, str]) -> str:
    label = labels.get(each.key)
    return f"mark {label}" if label else f"a {each.tag} without a mark"


def _touching(shown: Sequence[tuple[DrawnPicture, Box]]) -> list[tuple[list[DrawnPicture], Box]]:
    """Pictures that touch or overlap, with the box around them: one line may go on from one to the next."""
    groups: list[tuple[list[DrawnPicture], Box]] = []
    for each, box in shown:
        group, around = [each], box
        while near := [at for at, (_, other) in enumerate(groups) if _touch(around, other)]:
            for at in reversed(near):
                more, other = groups.pop(at)
                group, around = [*more, *group], _hull(around, other)
        groups.append((group, around))
    return groups


def _touch(one: Box, other: Box) -> bool:
    across = max(one.x - other.right, other.x - one.right)
    down = max(one.y - other.bottom, other.y - one.bottom)
    return across <= _TOUCHING and down <= _TOUCHING


def _hull(one: Box, other: Box) -> Box:
    x, y = min(one.x, other.x), min(one.y, other.y)
    return Box(x=x, y=y, width=max(one.right, other.right) - x, height=max(one.bottom, other.bottom) - y)


def _may_show(line: RoughLine, wanted: Sequence[str]) -> bool:
    """Whether a reading is so like a value that it may be it, with some letters misread."""
    texts = [_folded(text) for text in line.texts]
    return any(
        len(text) >= len(each) * _ALIKE / 100 and fuzz.partial_ratio(each, text) >= _ALIKE
        for each in wanted
        for text in texts
    )


def _folded(text: str) -> str:
    """The letters and digits, with one for those that look alike."""
    return re.sub(r"\W", "", text.translate(_LOOKALIKES).casefold())

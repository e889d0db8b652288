"""Finds where a page shows hidden values, even split among elements, and removes them from marks and lines.

Pure: the caller passes the visible words with their boxes, and says what is hidden and in which forms it is found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from vision_agent.browser.page.overlay_calls.shown_words import ShownState, ShownWord
from vision_agent.geometry import Box
from vision_agent.observation import Mark, MarkKey, Wording
from vision_agent.text.disguises import FAR, Found

Find = Callable[[str], Sequence[Found]]
"""Where hidden values occur in a text."""

MASK = "•••"
_TOUCHING = 0.15
"""Share of the height of a line, less than a space; letters that are nearer to each other belong to one word."""
_QUOTED = 4
"""Letters of a part that is masked wherever it is quoted; a shorter one may be any word or number."""
_SAME_LINE = 0.5
"""Share of the height by which the middles of words on one line differ at most."""
_LETTERS = 4
"""A longer word holds no single letters that something else may stand between."""
_GROWN = 2.0
"""CSS pixels; letters reach out of their boxes."""


@dataclass(frozen=True)
class ShownPart:
    """A part of a hidden value, as one word of the page shows it."""

    text: str
    boxes: tuple[Box, ...]
    is_whole: bool
    """Whether the word shows the whole value."""


@dataclass(frozen=True)
class ShownSecrets:
    """The hidden values that a page shows."""

    parts: tuple[ShownPart, ...] = ()
    fields: frozenset[MarkKey] = frozenset()
    """Fields whose value is a part of one."""

    def boxes(self, is_plain: Callable[[Box], bool]) -> tuple[Box, ...]:
        """The page boxes that no picture may show. `is_plain` says where a picture shows nothing: something plain
        covers the words there, or they are transparent.
        """
        return tuple(_grown(box) for part in self.parts for box in part.boxes if not is_plain(box))

    def without(self, mark: Mark, find: Find) -> Mark:
        """The mark without the parts of hidden values that it shows.

        A text that contains a whole value is left as it is, like every other such text.
        """
        if not self.parts:
            return mark
        # A name may quote the value of a field elsewhere, as that of a label does.
        here = [
            each
            for each in self.parts
            if len(each.text) >= _QUOTED or any(box.intersection(mark.box) for box in each.boxes)
        ]
        names = ("name", "shows", "says")
        texts = {name: masked_text(getattr(mark, name), here, find) for name in names}
        texts |= {name: masked_text(getattr(mark, name), self.parts, find) for name in ("context", "title", "heading")}
        changed: dict[str, object] = {name: text for name, text in texts.items() if text != getattr(mark, name)}
        if mark.wording and masked_text(mark.wording.text, self.parts, find) != mark.wording.text:
            changed["wording"] = Wording()
        if mark.enter is not None:
            said = {name: masked_text(getattr(mark.enter, name), self.parts, find) for name in names}
            if any(text != getattr(mark.enter, name) for name, text in said.items()):
                changed["enter"] = mark.enter.model_copy(update=said)
        if (options := _without_split(mark.state.options, find)) != mark.state.options:
            changed["state"] = mark.state.model_copy(update={"options": options})
        return mark.model_copy(update=changed) if changed else mark

    def without_parts(self, text: str, boxes: Sequence[Box], find: Find) -> str:
        """A text drawn in these boxes, without the parts of hidden values that it shows."""
        here = [each for each in self.parts if any(one.intersection(other) for one in each.boxes for other in boxes)]
        return masked_text(text, here, find)


def _without_split(texts: tuple[str, ...], find: Find) -> tuple[str, ...]:
    """Consecutive texts, without the parts of a value that is split among them."""
    if len(texts) < 2:
        return texts
    joined, ends = " ".join(texts), list(accumulate(len(each) + 1 for each in texts))
    places = [(end - 1 - len(text), end - 1) for end, text in zip(ends, texts, strict=True)]
    split = [each for each in find(joined) if not any(start <= each.start < each.end <= end for start, end in places)]
    if not split:
        return texts
    return tuple(
        MASK if any(start < each.end and each.start < end for each in split) else text
        for text, (start, end) in zip(texts, places, strict=True)
    )


def masked_text(text: str, parts: Sequence[ShownPart], find: Find) -> str:
    """The text without parts of hidden values; as it is if it has a whole one, which is masked with its name."""
    if not text or all(each.is_whole for each in parts) or find(text):
        return text
    for part in parts:
        if not part.is_whole and part.text in text:
            text = re.sub(rf"(?<!\w){re.escape(part.text)}(?!\w)", MASK, text)
    return text


def shown_secrets(words: Sequence[ShownWord], find: Find) -> ShownSecrets:
    """The hidden values among the words, read in the order of the document and in that of the lines on the screen."""
    parts = _parts(words, find)
    fields = frozenset(key for at in parts if (key := words[at].field) is not None)
    return ShownSecrets(tuple(parts.values()), fields)


def drawn_secrets(texts: Iterable[tuple[str, Box]], find: Find) -> tuple[Box, ...]:
    """The page boxes in which texts that were read in pixels show hidden values, also split among several texts."""
    read = [ShownWord(text, (box,), None) for text, box in texts]
    return shown_secrets(read, find).boxes(lambda _: False)


def shown_between(words: Sequence[ShownWord], find: Find, is_plain: Callable[[Box], bool]) -> ShownSecrets:
    """The hidden values that appear once short words that show nothing, such as white letters, are left out."""
    seen = [each for each in words if len(each.text) > _LETTERS or not all(is_plain(_inner(box)) for box in each.boxes)]
    return shown_secrets(seen, find) if len(seen) < len(words) else ShownSecrets()


def shown_meanwhile(words: Sequence[ShownWord], states: Sequence[ShownState], find: Find) -> tuple[Box, ...]:
    """The page boxes in which hidden values were after the words were read, and those that they moved through."""
    found, before, parts = list[Box](), words, _parts(words, find)
    for state in states:
        if state.has_only_moved:
            for at in parts:
                found += map(_hull, before[at].boxes, state.words[at].boxes)
                found += state.words[at].boxes
        else:
            parts = _parts(state.words, find)
            found += (box for part in parts.values() for box in part.boxes)
        before = state.words
    return tuple(map(_grown, dict.fromkeys(found)))


def _inner(box: Box) -> Box:
    """The middle of a box, into which the letters beside it do not reach."""
    width = max(1.0, box.width - 2 * _GROWN)
    return Box(x=box.x + (box.width - width) / 2, y=box.y, width=width, height=box.height)


def _parts(words: Sequence[ShownWord], find: Find) -> dict[int, ShownPart]:
    """The parts of hidden values, by the index of their word."""
    parts: dict[int, ShownPart] = {}
    for order in (list(range(len(words))), _by_lines(words)):
        text, starts = _joined([words[at] for at in order])
        for found in find(text):
            for at, start in zip(order, starts, strict=True):
                word = words[at]
                if start < found.end and start + len(word.text) > found.start:
                    piece = word.text[max(0, found.start - start) : found.end - start]
                    is_whole = start <= found.start and found.end <= start + len(word.text)
                    if at not in parts or not parts[at].is_whole:
                        parts[at] = ShownPart(piece, word.boxes, is_whole)
    return parts


def _hull(one: Box, other: Box) -> Box:
    """The smallest box around both."""
    x, y = min(one.x, other.x), min(one.y, other.y)
    right, bottom = max(one.right, other.right), max(one.bottom, other.bottom)
    return Box(x=x, y=y, width=right - x, height=bottom - y)


def _joined(words: Sequence[ShownWord]) -> tuple[str, list[int]]:
    """The words as one text, and where each begins in it."""
    if not words:
        return "", []
    starts, parts = [0], [words[0].text]
    at = len(words[0].text)
    for before, word in pairwise(words):
        between = _between(before, word)
        parts += [between, word.text]
        starts.append(at + len(between))
        at = starts[-1] + len(word.text)
    return "".join(parts), starts


def _between(one: ShownWord, other: ShownWord) -> str:
    """Nothing between letters that touch, a space between words that are near each other in one line, else `FAR`."""
    last, first = one.boxes[-1], other.boxes[0]
    height = max(last.height, first.height)
    gap = max(first.x - last.right, last.x - first.right)
    if not _is_one_line(last, first) or gap > height:
        return FAR
    return "" if gap < _TOUCHING * height else " "


def _is_one_line(one: Box, other: Box) -> bool:
    middle, other_middle = one.y + one.height / 2, other.y + other.height / 2
    return abs(middle - other_middle) <= _SAME_LINE * min(one.height, other.height)


def _by_lines(words: Sequence[ShownWord]) -> list[int]:
    """The indices of the words from the top line to the bottom one, each from left to right."""
    lines: list[list[int]] = []
    for at in sorted(range(len(words)), key=lambda at: _middle(words[at])):
        if lines and _is_one_line(words[lines[-1][0]].boxes[0], words[at].boxes[0]):
            lines[-1].append(at)
        else:
            lines.append([at])
    return [at for line in lines for at in sorted(line, key=lambda at: words[at].boxes[0].x)]


def _middle(word: ShownWord) -> float:
    box = word.boxes[0]
    return box.y + box.height / 2


def _grown(box: Box) -> Box:
    return Box(x=box.x - _GROWN, y=box.y - _GROWN, width=box.width + 2 * _GROWN, height=box.height + 2 * _GROWN)


def has_any(texts: Iterable[str], find: Find) -> bool:
    """Whether one of the texts shows a hidden value."""
    return any(text and find(text) for text in texts)

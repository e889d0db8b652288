"""What tells a mark from others of the same name: `‹Ann›` in `Delete ‹Ann›`, by its row, its heading or its place.

Knows marks and words; no page, no model. All of it is page text, in which the signs ‹ and › do not occur.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from vision_agent.types import Mark

LONGEST = 40
"""Characters of a context or a heading that are shown."""
_MOST_WORDS = 4
_SHORTEST = 3
"""Characters that a piece in Latin letters should have: `In` and `to` tell rows apart, but not to a reader."""

_SIGNS = str.maketrans(
    dict.fromkeys("‹\u276c\u276e\u27e8\u2329\u3008\u02c2\u1438\u29fc", "<")
    | dict.fromkeys("›\u276d\u276f\u27e9\u232a\u3009\u02c3\u1433\u29fd", ">")
)
"""The two signs, and what looks like them."""
_OPENING, _CLOSING = ("".join(chr(each) for each, sign in _SIGNS.items() if sign == side) for side in "<>")
_CLAIM = re.compile(f"[{_OPENING}][^{_OPENING}{_CLOSING}]*[{_CLOSING}]")
_EDGES = " ,;:.!?¡¿()[]{}<>\"'“”„‘’«»·•|/\\–—-*:,。、…"

_Words = tuple[str, ...]


class Distinction(NamedTuple):
    """What tells a mark from others of its name; what is not needed for that is empty."""

    context: str = ""
    heading: str = ""
    nth: int = 0
    """Its place in reading order among those that the words do not tell apart, from 1."""
    of: int = 0
    """How many those are."""

    def __str__(self) -> str:
        place = f"{_ordinal(self.nth)} of {self.of}" if self.nth else ""
        return ", ".join(filter(None, (self.context, self.heading, place)))


def distinctions(marks: Sequence[Mark]) -> dict[int, Distinction]:
    """By number, what tells each mark from those that the listing calls the same; nothing for names that are unique.

    The marks are in reading order.
    """
    found: dict[int, Distinction] = {}
    for kind in _grouped([mark for mark in marks if mark.source == "dom"], _kind_of):
        # The listing says which frame each is in; of those that are alone in theirs, the words say more.
        frames = _grouped(kind, lambda mark: mark.frame)
        alone = [group[0] for group in frames if len(group) == 1]
        for group in [*(group for group in frames if len(group) > 1), *([alone] if len(alone) > 1 else [])]:
            found |= zip((mark.number for mark in group), told_apart(group), strict=True)
    return found


def _grouped(marks: Iterable[Mark], key: Callable[[Mark], Hashable]) -> list[list[Mark]]:
    groups: defaultdict[Hashable, list[Mark]] = defaultdict(list)
    for mark in marks:
        groups[key(mark)].append(mark)
    return [*groups.values()]


def told_apart(group: Sequence[Mark]) -> list[Distinction]:
    """What tells each of several marks, in reading order, from the others of them."""
    contexts, headings = [_words(mark.context) for mark in group], [_words(mark.heading) for mark in group]
    if len({_folded(heading) for heading in headings if heading}) == len(group):
        contexts = [()] * len(group)  # each stands under a heading of its own, which names it
    by_context: defaultdict[_Words, list[_Words]] = defaultdict(list)
    for context, heading in zip(contexts, headings, strict=True):
        by_context[_folded(context)].append(heading)
    of_context = _telling(tuple(contexts))
    of_heading = {context: _telling(tuple(under)) for context, under in by_context.items()}
    said = [
        Distinction(of_context[_folded(context)], of_heading[_folded(context)][_folded(heading)])
        for context, heading in zip(contexts, headings, strict=True)
    ]
    counts = Counter(said)
    done: Counter[Distinction] = Counter()
    for index, each in enumerate(said):
        done[each] += 1
        if not str(each):
            said[index] = Distinction(nth=index + 1, of=len(group))
        elif counts[each] > 1:
            said[index] = each._replace(nth=done[each], of=counts[each])
    return said


def distinction_of(mark: Mark, marks: Iterable[Mark]) -> Distinction:
    """What tells one mark from the others; empty where its name does."""
    alike = [each for each in marks if _kind_of(each) == _kind_of(mark)]
    return distinctions(alike).get(mark.number, Distinction())


def beside(mark: Mark, marks: Iterable[Mark]) -> str:
    """` ‹Ann›`, to be written after a name, or nothing."""
    return in_signs(distinction_of(mark, marks))


def in_signs(distinction: Distinction | None) -> str:
    """` ‹Ann›`, or nothing."""
    said = str(distinction) if distinction else ""
    return f" ‹{said}›" if said else ""


def unclaimed(name: str) -> str:
    """A name in which nothing passes for `‹Ann›`."""
    return _CLAIM.sub(lambda found: found.group().translate(_SIGNS), name)


def has_beside(mark: Mark, said: str, shown: Distinction | None) -> int:
    """How surely words are meant for a mark: 2 where they are shown for it, 1 where it has them beside it, else 0."""
    words = _folded(_words(said))
    if not words:
        return 0
    if shown is not None and words == _folded(_words(str(shown))):
        return 2
    context, heading = _folded(_words(mark.context)), _folded(_words(mark.heading))
    if _is_in(words, context) or _is_in(words, heading):
        return 1
    halves = ((words[:at], words[at:]) for at in range(1, len(words)))
    return int(any(_is_in(first, context) and _is_in(then, heading) for first, then in halves))


# --- one group --------------------------------------------------------------------------------------------------------


def _kind_of(mark: Mark) -> Hashable:
    return mark.source, mark.tag, mark.role, mark.kind, mark.name


@lru_cache(maxsize=64)
def _telling(texts: tuple[_Words, ...]) -> dict[_Words, str]:
    """For each text the shortest run of its words that no other has; nothing where all are the same.

    Kept, because the columns of a table have the same rows, and so has the next look.
    """
    written: dict[_Words, _Words] = {}
    for text in texts:
        written.setdefault(_folded(text), text)
    if len(written) < 2:
        return dict.fromkeys(written, "")
    found: dict[_Words, str] = {}
    for is_good in (_says_something, bool):
        for length in range(1, _MOST_WORDS + 1):
            left = [text for text in written if text not in found]
            if not left:
                return found
            counts = Counter(run for text in written for run in _runs(text, length))
            for text in left:
                own = (at for at in range(len(text) - length + 1) if counts[text[at : at + length]] == 1)
                pieces = (" ".join(written[text][at : at + length]) for at in own)
                piece = next((each for each in pieces if len(each) <= LONGEST and is_good(each)), None)
                if piece:
                    found[text] = piece
    # What is left is a part of another, or differs only by what is too long to be shown.
    wholes = {text: " ".join(words) for text, words in written.items()}
    return {text: found.get(text, whole if len(whole) <= LONGEST else "") for text, whole in wholes.items()}


def _says_something(piece: str) -> bool:
    return any(letter.isalpha() for letter in piece) and (len(piece) >= _SHORTEST or not piece.isascii())


def _runs(text: _Words, length: int) -> set[_Words]:
    return {text[at : at + length] for at in range(len(text) - length + 1)}


# --- words ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _words(text: str) -> _Words:
    """Its words without what stands around them, long ones cut."""
    shown = text.translate(_SIGNS)
    if not shown.isprintable():
        shown = "".join(letter if letter.isprintable() else " " * letter.isspace() for letter in shown)
    stripped = (word.strip(_EDGES) for word in shown.split())
    return tuple(word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…" for word in stripped if word)


def _folded(words: _Words) -> _Words:
    return tuple(word.rstrip("…").casefold() for word in words)


def _is_in(words: _Words, text: _Words) -> bool:
    return any(text[at : at + len(words)] == words for at in range(len(text) - len(words) + 1))


def _ordinal(number: int) -> str:
    last = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{last}"

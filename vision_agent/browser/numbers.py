"""Which number a mark has. A number stays with its element while that lives and is never handed to another.

After a re-render the element is another one; it takes over the number only when it can only be that: one element has
left the document and one has come with the same fingerprint in a row that says the same, wherever it is now; or one and
one with the same fingerprint, near each other. What is only out of sight keeps its number for when it comes back.
Lists recycle elements: one whose row says mostly something else, or anything else in another place, stands for another
thing and gets a new number, and so do all whose row has changed when one of them now says what another said before, or
when many change at once; a row that was only edited keeps its own.
Knows keys, fingerprints and texts of rows, no page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field

from vision_agent.actions import Point

_NEAR = 120.0
"""CSS pixels between the old and the new point; a re-render seldom moves a thing further."""
_MANY_ROWS = 3
"""That say something else at once: nobody edits so many between two looks."""


@dataclass(frozen=True)
class Sighting:
    """What is needed to know a thing again."""

    key: str
    fingerprint: str
    point: Point
    row: str = ""
    """What the row it stands in says besides; empty where there is none."""


@dataclass
class Numbers:
    """The numbers given so far for one document tree."""

    _by_key: dict[str, int] = field(default_factory=dict)
    _last: dict[str, Sighting] = field(default_factory=dict)
    _rows: dict[str, str] = field(default_factory=dict)
    """Of all keys that have a number, as last seen."""
    _next: int = 1

    @property
    def last(self) -> list[str]:
        """The keys that were given a number, or kept theirs, the last time."""
        return list(self._last)

    def restart(self) -> None:
        """Begin at 1 again: another document, where no old number means anything."""
        self._by_key.clear()
        self._last.clear()
        self._rows.clear()
        self._next = 1

    def give(self, sightings: list[Sighting], living: Collection[str] = ()) -> dict[str, int]:
        """A number for each key, in the order given; those seen before keep theirs.

        `living`: keys of the last time whose element is still in the document, in sight or not.
        """
        for key in self._recycled(sightings):
            self._by_key.pop(key, None)
        self._rows |= {sighting.key: sighting.row for sighting in sightings}
        here = {sighting.key for sighting in sightings} | set(living)
        vanished = [old for key, old in self._last.items() if key not in here]
        came = [sighting for sighting in sightings if sighting.key not in self._by_key]
        for old, new in [*_only_pairs(vanished, came, _in_its_row), *_only_pairs(vanished, came, _by_itself)]:
            if old.key in self._by_key and new.key not in self._by_key and _may_be(old, new):
                self._by_key[new.key] = self._by_key.pop(old.key)
        for sighting in came:
            if sighting.key not in self._by_key:
                self._by_key[sighting.key] = self._next
                self._next += 1
        self._last = {sighting.key: sighting for sighting in sightings}
        return {sighting.key: self._by_key[sighting.key] for sighting in sightings}

    def of(self, keys: Sequence[str]) -> list[int]:
        """The numbers of things that are known again by their keys alone; what has none yet gets the next."""
        for key in keys:
            if key not in self._by_key:
                self._by_key[key], self._next = self._next, self._next + 1
        return [self._by_key[key] for key in keys]

    def has(self, key: str) -> bool:
        """Whether it was ever given a number."""
        return key in self._by_key

    def _recycled(self, sightings: list[Sighting]) -> set[str]:
        """Keys of elements that stand for another thing than before."""
        before = {sighting.key: self._rows.get(sighting.key, "") for sighting in sightings}
        changed = [each for each in sightings if each.row and before[each.key] not in ("", each.row)]
        reworded = [each for each in changed if _words(before[each.key]) != _words(each.row)]
        if set(before.values()) & {each.row for each in changed}:
            return {each.key for each in changed}  # one says what another said: the list has scrolled
        if len({each.row for each in reworded}) >= _MANY_ROWS:
            return {each.key for each in reworded}  # so many are not edited at once
        # A row is edited where it stands; one that says something else in another place has been used again.
        moved = {each.key for each in reworded if not self._is_where_it_was(each)}
        return moved | {each.key for each in changed if is_another(before[each.key], each.row)}

    def _is_where_it_was(self, sighting: Sighting) -> bool:
        old = self._last.get(sighting.key)
        return old is not None and _is_near(old, sighting)


def _only_pairs(
    vanished: Sequence[Sighting], came: Sequence[Sighting], what: Callable[[Sighting], Hashable]
) -> list[tuple[Sighting, Sighting]]:
    """One that vanished and one that came, where there is no other of either that is the same."""
    alike: dict[Hashable, tuple[list[Sighting], list[Sighting]]] = defaultdict(lambda: ([], []))
    for side, sightings in enumerate((vanished, came)):
        for sighting in sightings:
            alike[what(sighting)][side].append(sighting)
    return [(olds[0], news[0]) for olds, news in alike.values() if len(olds) == len(news) == 1]


def _in_its_row(sighting: Sighting) -> Hashable:
    return sighting.fingerprint, sighting.row


def _by_itself(sighting: Sighting) -> Hashable:
    return sighting.fingerprint


def _may_be(old: Sighting, new: Sighting) -> bool:
    """Whether the row says the same, or it is near with nothing said against it."""
    if old.row and old.row == new.row:
        return True
    return _is_near(old, new) and not is_another(old.row, new.row)


def _is_near(old: Sighting, new: Sighting) -> bool:
    return abs(old.point.x - new.point.x) <= _NEAR and abs(old.point.y - new.point.y) <= _NEAR


def is_another(before: str, now: str) -> bool:
    """Whether two texts of a row are of different rows: both say something, and hardly the same."""
    old, new = _words(before), _words(now)
    return bool(old and new) and 2 * len(old & new) <= min(len(old), len(new))


def _words(text: str) -> set[str]:
    """What tells a row from others: its words, and its numbers only where it has no words, for counters go on."""
    words = set(text.split())
    return {word for word in words if any(letter.isalpha() for letter in word)} or words

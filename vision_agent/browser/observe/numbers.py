"""Assigns mark numbers. A number stays with its element while that exists, and is never given to another.

After a re-render, a new element takes over a number only if the match is unique: one element has left the document and
one has appeared with the same fingerprint and the same row text, wherever it is now; or with the same fingerprint,
near the old one. Elements that are only out of view keep their numbers.
Lists recycle elements: an element whose row text is mostly different, or different at all in another place, stands for
another thing and gets a new number. So do all elements with changed row texts if one of them now has the old text of
another, or if many change at once. A row that was only edited keeps its number.
Knows keys, fingerprints and row texts, not the page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field

from vision_agent.actions import Point

_NEAR = 120.0
"""CSS pixels between the old and the new point; a re-render seldom moves an element further."""
_MANY_ROWS = 3
"""Rows whose texts change at once: nobody edits this many between two looks."""


@dataclass(frozen=True)
class Sighting:
    """The properties that identify an element across looks."""

    key: str
    fingerprint: str
    point: Point
    row: str = ""
    """The other text of its row; empty without a row."""


@dataclass
class Numbers:
    """The numbers assigned so far in one document."""

    _by_key: dict[str, int] = field(default_factory=dict)
    _last: dict[str, Sighting] = field(default_factory=dict)
    _rows: dict[str, str] = field(default_factory=dict)
    """Row texts of all numbered keys, as last seen."""
    _next: int = 1

    @property
    def last(self) -> list[str]:
        """The keys of the last look."""
        return list(self._last)

    def restart(self) -> None:
        """Starts at 1 again, for a new document, in which old numbers mean nothing."""
        self._by_key.clear()
        self._last.clear()
        self._rows.clear()
        self._next = 1

    def assign(self, sightings: list[Sighting], living: Collection[str] = ()) -> dict[str, int]:
        """The number of each key; new ones in the given order, known ones unchanged.

        `living`: keys of earlier looks whose element is still in the document, in view or not.
        """
        for key in self._recycled_keys(sightings):
            self._by_key.pop(key, None)
        self._rows |= {sighting.key: sighting.row for sighting in sightings}
        here = {sighting.key for sighting in sightings} | set(living)
        vanished = [old for key, old in self._last.items() if key not in here]
        came = [sighting for sighting in sightings if sighting.key not in self._by_key]
        for old, new in [
            *_unique_pairs(vanished, came, _fingerprint_and_row),
            *_unique_pairs(vanished, came, _fingerprint),
        ]:
            if old.key in self._by_key and new.key not in self._by_key and _may_be_same(old, new):
                self._by_key[new.key] = self._by_key.pop(old.key)
        for sighting in came:
            if sighting.key not in self._by_key:
                self._by_key[sighting.key] = self._next
                self._next += 1
        self._last = {sighting.key: sighting for sighting in sightings}
        return {sighting.key: self._by_key[sighting.key] for sighting in sightings}

    def assign_keys(self, keys: Sequence[str]) -> list[int]:
        """The numbers of keys that are stable by themselves; new keys get the next numbers."""
        for key in keys:
            if key not in self._by_key:
                self._by_key[key], self._next = self._next, self._next + 1
        return [self._by_key[key] for key in keys]

    def has(self, key: str) -> bool:
        """Whether a key has a number."""
        return key in self._by_key

    def number_of(self, key: str) -> int | None:
        """The number of a key; None if it has none, or no longer."""
        return self._by_key.get(key)

    def _recycled_keys(self, sightings: list[Sighting]) -> set[str]:
        """Keys of elements that now represent another thing."""
        before = {sighting.key: self._rows.get(sighting.key, "") for sighting in sightings}
        changed = [each for each in sightings if each.row and before[each.key] not in ("", each.row)]
        reworded = [each for each in changed if _words(before[each.key]) != _words(each.row)]
        if set(before.values()) & {each.row for each in changed}:
            return {each.key for each in changed}  # one has another's old text: the list has scrolled
        if len({each.row for each in reworded}) >= _MANY_ROWS:
            return {each.key for each in reworded}  # so many are not edited at once
        # Rows are edited in place; a different text in another place means that the element was recycled.
        moved = {each.key for each in reworded if not self._is_where_it_was(each)}
        return moved | {each.key for each in changed if is_another_row(before[each.key], each.row)}

    def _is_where_it_was(self, sighting: Sighting) -> bool:
        old = self._last.get(sighting.key)
        return old is not None and _is_near(old, sighting)


def _unique_pairs(
    vanished: Sequence[Sighting], came: Sequence[Sighting], what: Callable[[Sighting], Hashable]
) -> list[tuple[Sighting, Sighting]]:
    """Pairs of a vanished and a new element that are each unique by `what`."""
    alike: dict[Hashable, tuple[list[Sighting], list[Sighting]]] = defaultdict(lambda: ([], []))
    for side, sightings in enumerate((vanished, came)):
        for sighting in sightings:
            alike[what(sighting)][side].append(sighting)
    return [(olds[0], news[0]) for olds, news in alike.values() if len(olds) == len(news) == 1]


def _fingerprint_and_row(sighting: Sighting) -> Hashable:
    return sighting.fingerprint, sighting.row


def _fingerprint(sighting: Sighting) -> Hashable:
    return sighting.fingerprint


def _may_be_same(old: Sighting, new: Sighting) -> bool:
    """Whether two sightings may be one element: same row text, or close together with no contradicting row text."""
    if old.row and old.row == new.row:
        return True
    return _is_near(old, new) and not is_another_row(old.row, new.row)


def _is_near(old: Sighting, new: Sighting) -> bool:
    return abs(old.point.x - new.point.x) <= _NEAR and abs(old.point.y - new.point.y) <= _NEAR


def is_another_row(before: str, now: str) -> bool:
    """Whether two texts belong to different rows: neither is empty, and they share at most half of their words."""
    old, new = _words(before), _words(now)
    return bool(old and new) and 2 * len(old & new) <= min(len(old), len(new))


def _words(text: str) -> set[str]:
    """The words that identify a row; its numbers only if it has no words, because counters change."""
    words = set(text.split())
    return {word for word in words if any(letter.isalpha() for letter in word)} or words

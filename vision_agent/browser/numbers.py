"""Which number a mark has. A number stays with its element while that lives and is never handed to another.

After a re-render the element is another one; it takes over the number only when exactly one element has left the
document that had the same fingerprint, exactly one has come, and they are near each other. What is only out of sight
keeps its number for when it comes back. Lists recycle elements: one whose row has not a word in common with what it
said before stands for another thing and gets a new number; a row that was only edited keeps its own.
Knows keys, fingerprints and texts of rows, no page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from vision_agent.actions import Point

_NEAR = 120.0
"""CSS pixels between the old and the new point; a re-render seldom moves a thing further."""


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
        for sighting in sightings:
            if _is_another(self._rows.get(sighting.key, ""), sighting.row):
                self._by_key.pop(sighting.key, None)
            self._rows[sighting.key] = sighting.row
        here = {sighting.key for sighting in sightings} | set(living)
        vanished: dict[str, list[Sighting]] = defaultdict(list)
        for key, old in self._last.items():
            if key not in here:
                vanished[old.fingerprint].append(old)
        came: dict[str, list[Sighting]] = defaultdict(list)
        for sighting in sightings:
            if sighting.key not in self._by_key:
                came[sighting.fingerprint].append(sighting)
        for sighting in sightings:
            if sighting.key in self._by_key:
                continue
            heir_of = _heir(vanished[sighting.fingerprint], came[sighting.fingerprint])
            if heir_of is not None:
                self._by_key[sighting.key] = self._by_key.pop(heir_of.key)
            else:
                self._by_key[sighting.key] = self._next
                self._next += 1
        self._last = {sighting.key: sighting for sighting in sightings}
        return {sighting.key: self._by_key[sighting.key] for sighting in sightings}


def _heir(vanished: list[Sighting], came: list[Sighting]) -> Sighting | None:
    if len(vanished) != 1 or len(came) != 1:
        return None
    if _is_another(vanished[0].row, came[0].row):
        return None
    old, new = vanished[0].point, came[0].point
    return vanished[0] if abs(old.x - new.x) <= _NEAR and abs(old.y - new.y) <= _NEAR else None


def _is_another(before: str, now: str) -> bool:
    """Whether two texts of a row are of different rows: both say something, and they share no word."""
    return bool(before and now) and set(before.split()).isdisjoint(now.split())

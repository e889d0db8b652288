"""Remembers documents that never settle, and why: their next look does not wait for what never ends."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from playwright.async_api import Page

from vision_agent.vision.pixel_stability import Areas

Unrest = Literal["changes", "loading", "animations", "pixels"]
"""Why a page has not settled."""


_LOOKS_AT_REST = 3
"""A page on which something keeps changing must settle in this many waits in a row before it counts as at rest:
something that wanders over a canvas is now and then inside the areas known to change."""


class _Restless(NamedTuple):
    token: str = ""
    """The token of the document."""
    unrest: frozenset[Unrest] = frozenset()
    """Why it never settled."""
    times_settled: int = 0
    """In how many waits in a row it settled after that, apart from areas that keep changing."""


@dataclass
class RestlessDocuments:
    """By tab: the document that never settled, and why."""

    _by_page: weakref.WeakKeyDictionary[Page, _Restless] = field(default_factory=weakref.WeakKeyDictionary)
    _areas: weakref.WeakKeyDictionary[Page, tuple[str, Areas | None]] = field(default_factory=weakref.WeakKeyDictionary)

    def known(self, page: Page, token: str) -> frozenset[Unrest]:
        """Why a tab's document never settled; empty for another document than the one that was learned."""
        known = self._by_page.get(page, _Restless())
        return known.unrest if token and known.token == token else frozenset()

    def learn(self, page: Page, token: str, unrest: frozenset[Unrest]) -> None:
        """Remembers why a document did not settle; that it was loading is no lasting reason."""
        if token:
            self._by_page[page] = _Restless(token, (self.known(page, token) | unrest) - {"loading"})

    def known_areas(self, page: Page, token: str) -> Areas | None:
        """The areas of a tab's document whose pixels keep changing; None if none are known."""
        then, areas = self._areas.get(page, ("", None))
        return areas if token and then == token else None

    def keep_areas(self, page: Page, token: str, areas: Areas | None) -> None:
        """Remembers the areas of a document whose pixels keep changing, for its next look."""
        self._areas[page] = (token, areas)

    def note_settled(self, page: Page, *, is_still: bool) -> None:
        """Forgets a tab's document, because it has settled: at once if it is still, else if it does so repeatedly."""
        known = self._by_page.pop(page, None)
        if known and not is_still and known.times_settled + 1 < _LOOKS_AT_REST:
            self._by_page[page] = known._replace(times_settled=known.times_settled + 1)

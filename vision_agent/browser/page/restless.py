"""Remembers documents that never settle, and why: their next look does not wait for what never ends."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import Page

from vision_agent.vision.pixel_stability import Areas

Unrest = Literal["changes", "loading", "animations", "pixels"]
"""Why a page has not settled."""


@dataclass
class RestlessDocuments:
    """By tab: the document that never settled, and why."""

    _by_page: weakref.WeakKeyDictionary[Page, tuple[str, frozenset[Unrest]]] = field(
        default_factory=weakref.WeakKeyDictionary
    )
    _areas: weakref.WeakKeyDictionary[Page, tuple[str, Areas | None]] = field(default_factory=weakref.WeakKeyDictionary)

    def known(self, page: Page, token: str) -> frozenset[Unrest]:
        """Why a tab's document never settled; empty for another document than the one that was learned."""
        then, unrest = self._by_page.get(page, ("", frozenset[Unrest]()))
        return unrest if token and then == token else frozenset()

    def learn(self, page: Page, token: str, unrest: frozenset[Unrest]) -> None:
        """Remembers why a document did not settle; that it was loading is no lasting reason."""
        if token:
            self._by_page[page] = (token, (self.known(page, token) | unrest) - {"loading"})

    def known_areas(self, page: Page, token: str) -> Areas | None:
        """The areas of a tab's document whose pixels keep changing; None if none are known."""
        then, areas = self._areas.get(page, ("", None))
        return areas if token and then == token else None

    def keep_areas(self, page: Page, token: str, areas: Areas | None) -> None:
        """Remembers the areas of a document whose pixels keep changing, for its next look."""
        self._areas[page] = (token, areas)

    def forget(self, page: Page) -> None:
        """Forgets a tab's document, because it has settled."""
        self._by_page.pop(page, None)

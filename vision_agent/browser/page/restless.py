"""Remembers documents that never settle, and why: their next look does not wait for what never ends."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import Page

Unrest = Literal["changes", "loading", "animations", "pixels"]
"""Why a page has not settled."""


@dataclass
class RestlessDocuments:
    """By tab: the document that never settled, and why."""

    _by_page: weakref.WeakKeyDictionary[Page, tuple[str, frozenset[Unrest]]] = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def known(self, page: Page, token: str) -> frozenset[Unrest]:
        """Why a tab's document never settled; empty for another document than the one that was learned."""
        then, unrest = self._by_page.get(page, ("", frozenset[Unrest]()))
        return unrest if token and then == token else frozenset()

    def learn(self, page: Page, token: str, unrest: frozenset[Unrest]) -> None:
        """Remembers why a document did not settle; that it was loading is no lasting reason."""
        if token:
            self._by_page[page] = (token, (self.known(page, token) | unrest) - {"loading"})

    def forget(self, page: Page) -> None:
        """Forgets a tab's document, because it has settled."""
        self._by_page.pop(page, None)

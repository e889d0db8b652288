"""Keeps a search of a page's words from confirming a guess of a hidden value, letter by letter.

Python knows the values and finds where the document shows them; the page is told only what it shows itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from playwright.async_api import Frame

from vision_agent.browser.observe.shown_secrets import Find
from vision_agent.browser.page import overlay_calls
from vision_agent.text.disguises import Disguises, Found


class SecretFinder:
    """Finds the secrets that nobody may read in a text, in whatever form; private data may be read."""

    def __init__(self, values: Callable[[], Sequence[str]]) -> None:
        self._values = values
        self._known: tuple[str, ...] = ()
        self._disguises = Disguises(())
        self._last: tuple[str, Sequence[Found]] = ("", ())

    @property
    def is_empty(self) -> bool:
        """Whether there is no secret."""
        return not self._values()

    def find(self, text: str) -> Sequence[Found]:
        """Where a secret or one of its recent codes occurs."""
        if (values := tuple(self._values())) != self._known:
            self._known, self._disguises = values, Disguises([("secret", each) for each in values])
            self._last = ("", ())
        if text != self._last[0]:  # a page that is waited for is searched again and again
            self._last = (text, self._disguises.find(text))
        return self._last[1]


async def veiled_words(frame: Frame, deadline_s: float, find: Find | None) -> tuple[str, ...]:
    """What the document shows of hidden values, as it shows it: no search of its words may match inside or reach into
    that. Nothing without `find`.
    """
    if find is None:
        return ()
    text = await overlay_calls.text.text_to_search(frame, deadline_s)
    return tuple(dict.fromkeys(text[each.start : each.end] for each in find(text)))

"""Keeps the last result of a function, for the next call with the same arguments: most of a page stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class LastResult(Generic[_T]):
    """The last result of a function without side effects."""

    def __init__(self) -> None:
        self._last: tuple[object, _T] | None = None

    def given(self, depends_on: object, make: Callable[[], _T]) -> _T:
        """The last result if it was made from an equal `depends_on`, else a new one."""
        if self._last is None or (self._last[0] is not depends_on and self._last[0] != depends_on):
            self._last = depends_on, make()
        return self._last[1]

"""What `attach` returns: a context manager, which explains itself if it is used as the browser without being entered.

Also checks the page that is handed over.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from playwright.async_api import Page

from vision_agent.errors import UsageError

T = TypeVar("T")


class Attaching(AbstractAsyncContextManager[T]):
    """Attaches while it is entered."""

    def __init__(self, inner: AbstractAsyncContextManager[T]) -> None:
        self._inner = inner

    async def __aenter__(self) -> T:
        return await self._inner.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"attach() must be entered: `async with attach(page) as browser:`, then `await browser.{name}(…)`; with "
            "Playwright's sync API, import attach from vision_agent.sync_api"
        )


class SyncAttaching(AbstractContextManager[T]):
    """The same for Playwright's sync API."""

    def __init__(self, inner: AbstractContextManager[T]) -> None:
        self._inner = inner

    def __enter__(self) -> T:
        return self._inner.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._inner.__exit__(kind, error, trace)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"attach() must be entered: `with attach(page) as browser:`, then `browser.{name}(…)`")


def require_async_page(page: Any) -> None:
    """Checks that this is a page of Playwright's async API.

    Raises:
        UsageError: it is none.
    """
    if isinstance(page, Page):
        return
    kind = type(page)
    is_sync = kind.__module__.startswith("playwright.sync_api")
    raise UsageError(
        f"vision_agent needs a page of playwright.async_api, but got a {kind.__name__} of "
        f"{kind.__module__.removesuffix('._generated')}",
        "use vision_agent.sync_api for a sync page" if is_sync else "context.new_page() opens one",
    )

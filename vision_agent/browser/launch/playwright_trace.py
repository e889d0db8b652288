"""Records Playwright's own trace of a run, if a person asked for it. It is not redacted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from vision_agent.errors import BrowserUnavailable

_START_S = 10.0
_STOP_S = 30.0


@asynccontextmanager
async def record_trace(context: BrowserContext, folder: Path) -> AsyncIterator[None]:
    """Traces a context until the `with` block ends, however it ends, into `trace.zip` in the folder.

    If that exists, because a lost browser was restarted, the file is `trace-2.zip`. A lost browser leaves no trace, and
    neither does a full disk: the incomplete file is removed.

    Raises:
        BrowserUnavailable: tracing cannot be started.
    """
    try:
        async with asyncio.timeout(_START_S):
            await context.tracing.start(screenshots=True, snapshots=True)
    except (PlaywrightError, TimeoutError) as error:
        raise BrowserUnavailable(f"Playwright's trace could not be started: {error}", "leave --trace out") from error
    try:
        yield
    finally:
        names = ("trace.zip" if number == 1 else f"trace-{number}.zip" for number in count(1))
        path = next(folder / name for name in names if not (folder / name).exists())
        try:
            async with asyncio.timeout(_STOP_S):
                path.touch(mode=0o600)
                await context.tracing.stop(path=path)
        except (PlaywrightError, TimeoutError):
            with suppress(OSError):  # an incomplete archive cannot be opened
                path.unlink(missing_ok=True)

"""Opens a window in which a person signs in, and saves the session for later runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.launch.saved_session import require_key_place, save_state
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.session.keywords import start_url_from
from vision_agent.settings import BrowserSettings

_SAVE_S = 10.0


async def sign_in(url: str, settings: BrowserSettings, until: Callable[[], Awaitable[object]]) -> Path:
    """Opens the address, waits until `until` returns, and saves the session that the settings name.

    Nothing is recorded, and no model sees anything. A session of that name that is still good is the one to begin with.

    Raises:
        UsageError: the settings name no session, it cannot be saved, or nobody signed in: there is nothing to save.
        BrowserUnavailable: the browser does not start, or was closed before the session was saved.
    """
    if settings.session is None:
        raise UsageError("No session is named that could be saved", "give it a name")
    require_key_place()
    address = start_url_from(url)
    async with launch_browser(settings.model_copy(update={"save_session": True})) as started:
        page = await started.context.new_page()
        try:
            await page.goto(address, wait_until="commit")  # the person sees whether the rest of it comes
        except PlaywrightError as error:
            why = error.message.splitlines()[0].removeprefix("Page.goto: ").removesuffix(f" at {address}")
            raise BrowserUnavailable(
                f"{url} could not be opened: {why}", "is the address right, and is its server running?"
            ) from error
        await until()
        return await save_session(started.context, settings, may_be_empty=False)


async def save_session(context: BrowserContext, settings: BrowserSettings, *, may_be_empty: bool = True) -> Path:
    """Saves the cookies and storage of a browser as the session that the settings name.

    Raises:
        BrowserUnavailable: the browser is gone.
        UsageError: the session cannot be written, or there is nothing to save although it may not be empty.
    """
    try:
        state = await asyncio.wait_for(context.storage_state(indexed_db=True), _SAVE_S)
    except (PlaywrightError, TimeoutError) as error:
        raise BrowserUnavailable(
            "The browser was closed before the session could be saved", "leave it open until it is saved"
        ) from error
    if not may_be_empty and not (state.get("cookies") or state.get("origins")):
        raise UsageError(
            "There is nothing to save: the browser has no cookie and no storage of a site",
            "sign in in the window before you say that you have",
        )
    return save_state(dict(state), settings)

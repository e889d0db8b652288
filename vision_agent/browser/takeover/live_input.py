"""Sends a person's input in the live view to the page, and releases the keys and buttons they hold when they leave.

It goes through Playwright, so the page gets trusted events, and a takeover records them like those in a window.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.browser.act.held import release
from vision_agent.errors import UsageError
from vision_agent.geometry import Size
from vision_agent.web.live_view import Button, KeyInput, LiveInput, PointerInput, TextInput, WheelInput

_DEADLINE_S = 5.0
"""For one input; a page that hangs takes none."""
_SHORT = 40
"""Characters of a text that is typed key by key: a word or two that the keyboard of a phone composed.
Not while a key is held: with Control, letters are commands."""


class LiveInputSender:
    """The hands of the person who watches: what they press stays down until they or `release` let go."""

    def __init__(self) -> None:
        self._page: Page | None = None
        self._buttons: list[Button] = []
        self._keys: list[str] = []
        self._is_sending = asyncio.Lock()

    async def send(self, page: Page, view: Size, inputs: Sequence[LiveInput]) -> None:
        """Sends input to a page with a view of this size, in order.

        Raises:
            UsageError: the page is gone, or did not take an input in time; everything is released.
        """
        async with self._is_sending:
            if page is not self._page:
                await self._release()
                self._page = page
            try:
                for each in inputs:
                    async with asyncio.timeout(_DEADLINE_S):
                        await self._send(page, view, each)
            except TimeoutError:
                await self._release()
                raise UsageError(
                    f"The page did not take this within {_DEADLINE_S:g} s; everything that was held is released",
                    "wait until it answers, or hand it back",
                ) from None
            except PlaywrightError as error:
                await self._release()
                raise UsageError(f"The page did not take this: {error.message.splitlines()[0]}") from error

    async def release(self) -> None:
        """Releases every button and key that is down."""
        async with self._is_sending:
            await self._release()

    async def _send(self, page: Page, view: Size, given: LiveInput) -> None:
        mouse, keyboard = page.mouse, page.keyboard
        match given:
            case PointerInput():
                await self._hold_only(page, given.modifiers)
                await mouse.move(given.x * view.width, given.y * view.height)
                if given.kind == "down" and given.button not in self._buttons:
                    self._buttons.append(given.button)
                    await mouse.down(button=given.button, click_count=given.count)
                elif given.kind == "up" and given.button in self._buttons:
                    await mouse.up(button=given.button, click_count=given.count)
                    self._buttons.remove(given.button)
            case WheelInput():
                await self._hold_only(page, given.modifiers)
                await mouse.move(given.x * view.width, given.y * view.height)
                await mouse.wheel(given.dx, given.dy)
            case KeyInput(kind="key_down"):
                await self._press(page, given.key)
            case KeyInput():
                if given.key in self._keys:
                    await keyboard.up(given.key)
                    self._keys.remove(given.key)
            case TextInput(text=text) if not self._keys and len(text) <= _SHORT and text.isprintable():
                await keyboard.type(text)  # keys are all that a list of options hears
            case TextInput():
                await keyboard.insert_text(given.text)

    async def _press(self, page: Page, key: str) -> None:
        if key not in self._keys:
            self._keys.append(key)  # before it is pressed: an interrupted call may have pressed it
        try:
            await page.keyboard.down(key)  # once more if it is held, which repeats it
        except PlaywrightError as error:
            self._keys.remove(key)
            if "Unknown key" not in error.message:
                raise
            if len(key) == 1:  # a letter that no key of a US keyboard types
                await page.keyboard.insert_text(key)

    async def _hold_only(self, page: Page, modifiers: Sequence[str]) -> None:
        """The modifiers that the person holds now: one may have gone up elsewhere, or down before the page had them."""
        for key in [each for each in self._keys if each in _MODIFIERS and each not in modifiers]:
            await page.keyboard.up(key)
            self._keys.remove(key)
        for key in modifiers:
            if key not in self._keys:
                await self._press(page, key)

    async def _release(self) -> None:
        page, buttons, keys = self._page, self._buttons, self._keys
        self._buttons, self._keys = [], []
        if page is None or page.is_closed():
            return
        ups: list[Callable[..., object]] = [partial(page.mouse.up, button=each) for each in buttons]
        ups += [partial(page.keyboard.up, each) for each in reversed(keys)]
        try:
            await release(page, ups, _DEADLINE_S)  # type: ignore[arg-type]
        except (PlaywrightError, TimeoutError):  # it hangs or has crashed; nothing else can be done for it
            return


_MODIFIERS = ("Alt", "Control", "Meta", "Shift")

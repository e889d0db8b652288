"""A page that has been looked at, and actions on it by the names of marks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from playwright.async_api import Page

from tests.conftest import Server
from vision_agent.actions import Action, Point
from vision_agent.browser import live
from vision_agent.observation import Observation
from vision_agent.settings import ObserveSettings
from vision_agent.types import Outcome
from vision_agent.vision.image_limits import ImageLimits

SETTINGS = ObserveSettings(quiet_s=0.08, settle_deadline_s=5, action_deadline_s=20, navigation_deadline_s=20)


class Hand:
    """A browser on a page, by the names of marks."""

    def __init__(self, browser: live.LiveBrowser, address: str) -> None:
        self.browser = browser
        self.address = address
        self.seen: Observation

    @property
    def page(self) -> Page:
        return self.browser.page

    async def look(self) -> Observation:
        self.seen = await self.browser.observe()
        return self.seen

    def number(self, name: str) -> int:
        found = [mark.number for mark in self.seen.marks if mark.name == name]
        assert len(found) == 1, f"{name} in\n{self.seen.listing}"
        return found[0]

    def point(self, name: str) -> Point:
        mark = self.seen.mark(self.number(name))
        assert mark is not None
        return self.seen.marked.map.to_picture(mark.point)

    async def act(self, action: Action) -> Outcome:
        return await self.browser.act(action, self.seen)

    async def js(self, expression: str) -> Any:
        return await self.page.evaluate(expression)


On = Callable[..., AbstractAsyncContextManager[Hand]]


def opener(page: Page, serve: Server) -> On:
    """`async with on(body, pages) as hand`: a page that has been looked at once."""

    @asynccontextmanager
    async def opened(
        body: str,
        pages: dict[str, str] | None = None,
        path: str = "/",
        settings: ObserveSettings = SETTINGS,
        **options: Any,
    ) -> AsyncIterator[Hand]:
        address = serve({"/": f"<!doctype html><style>body{{margin:8px}}</style>{body}", **(pages or {})})
        async with live.attach(page, settings, ImageLimits(), start_url=address, **options) as browser:
            await browser.open(address + path)
            hand = Hand(browser, address)
            await hand.look()
            yield hand

    return opened

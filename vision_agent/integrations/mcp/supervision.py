"""Lets a person supervise a session on a web page, and decides whether that page or the client's user is asked.

The address stands in an answer that a model reads. So the page answers only to a host name of its own, which no session
may open: a page cannot have the model approve what the model does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from vision_agent.observation import Observation
from vision_agent.policy.approval import must_ask
from vision_agent.ports import Approver
from vision_agent.settings import Settings
from vision_agent.supervise.access import is_loopback
from vision_agent.supervise.page_approver import SupervisionPage
from vision_agent.types import Choice, Decision, Risky, Task
from vision_agent.web.live_view import LiveView

PAGE_NAME = "supervision.localhost"
"""The host of the page on this machine: browsers take every name under `localhost` for it."""
_REPORT_S = 1.0
"""How long an ended session waits for its report to be opened on the page."""


def page_hosts(settings: Settings) -> tuple[str, ...]:
    """The hosts at which the supervision page is found, which no session may open."""
    named = urlsplit(settings.supervise.url).hostname if settings.supervise.url else None
    host = f"[{settings.supervise.host}]" if ":" in settings.supervise.host else settings.supervise.host
    own = PAGE_NAME if is_loopback(settings.supervise.host) else host
    return tuple(dict.fromkeys(each for each in (own, named) if each and each not in ("0.0.0.0", "[::]")))  # noqa: S104 - compared, not listened on


class SessionSupervision:
    """The supervision page of one session. It is an `Approver` and a `Viewer`."""

    def __init__(self, settings: Settings, goal: str, client: Approver, on_asking: Callable[[], None]) -> None:
        has_window = settings.browser.cdp_url is not None or not settings.browser.headless
        self.page = SupervisionPage(
            settings.approval, has_window=has_window, goal=goal, settings=settings.supervise, name=PAGE_NAME
        )
        self.address = ""
        """Where a person opens the page, in one browser; empty before it is served."""
        self.is_asking = False
        """Whether the page waits for a person's answer."""
        self._settings = settings
        self._client = client
        self._on_asking = on_asking

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Serves the page while the block lasts.

        Raises:
            UsageError: it cannot be served as the settings say.
        """
        async with self.page.opened() as self.address:
            yield

    async def show_report(self, report: Path | None) -> None:
        """Links the report of the session on the page, if somebody has it open."""
        await self.page.show_report(report, wait_s=_REPORT_S)

    @property
    def wants_to_be_asked(self) -> bool:
        """Whether the person on the page paused the session, took it over, or has something waiting."""
        return self.page.wants_to_be_asked

    @property
    def why_unanswered(self) -> str:
        """Why the last proposal got no answer, if that is known."""
        return self.page.why_unanswered

    async def approve(
        self, task: Task, observation: Observation, decision: Decision, risks: Sequence[Risky]
    ) -> Choice | None:
        """The first answer, from the page or from the client's person; None if the page gives none."""
        on_page = asyncio.create_task(self.page.approve(task, observation, decision, risks))
        asked = [on_page]
        self.is_asking = True
        self._on_asking()
        try:
            if must_ask(self._settings.approval, decision, risks):
                asked.append(asyncio.create_task(self._client.approve(task, observation, decision, risks)))
            await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
            for each in reversed(asked):
                if each.done() and (choice := each.result()) is not None:
                    return choice
            return await on_page
        finally:
            self.is_asking = False
            for each in asked:
                each.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def handed_back(self) -> None:
        """Returns when the person on the page hands the browser back."""
        await self.page.handed_back()

    def watch(self, view: LiveView) -> None:
        """Shows the page of the session as it is now."""
        self.page.watch(view)

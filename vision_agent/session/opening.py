"""Opens the browser of one run: the caller's page, or a new page in a browser that is launched or connected to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page

from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.browser.launch.playwright_trace import record_trace
from vision_agent.browser.live import LiveBrowser
from vision_agent.browser.network.host_policy import Gate, policy_for, start_folder
from vision_agent.browser.network.request_interception import NOT_INTERCEPTED, intercept_requests, keep_blocked_pages
from vision_agent.browser.page.tabs import close_page
from vision_agent.browser.restarting import RestartingBrowser, restarting
from vision_agent.custom_actions import CustomAction
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.policy.approval import is_risky_question
from vision_agent.record.redact import Redactor, with_values
from vision_agent.record.store import DOWNLOADS
from vision_agent.session.attaching import require_async_page
from vision_agent.session.signing_in import save_session
from vision_agent.settings import BrowserSettings, Settings
from vision_agent.types import Task
from vision_agent.vision.image_limits import ImageLimits

OpenBrowser = LiveBrowser | RestartingBrowser


class BrowserOpener:
    """Opens the browser of one run and describes it in `description`."""

    def __init__(
        self,
        task: Task,
        settings: Settings,
        page: Page | None,
        *,
        folder: Path,
        redact: Redactor,
        image_limits: ImageLimits,
        custom: Sequence[CustomAction],
        objects_to_dialog: Callable[[str], str] | None,
        clock: Callable[[], datetime],
    ) -> None:
        self.description = "none"
        """Describes the browser for the record; complete once it is open."""
        self._task = task
        self._settings = settings
        self._page = page
        self._folder = folder
        self._redact = redact
        self._image_limits = image_limits
        self._custom = custom
        self._objects_to_dialog = objects_to_dialog
        self._clock = clock
        self._incoming: Path | None = None
        """Where the browser writes downloads as they come, if that is known."""
        self._is_ours = page is None and settings.browser.cdp_url is None

    async def open(self, stack: AsyncExitStack) -> OpenBrowser:
        """Opens the browser and returns it; the stack closes it.

        Raises:
            UsageError: the page or the settings ask for something impossible.
            BrowserUnavailable: there is no browser, or it cannot open a page.
        """
        self._check_trace()
        policy = policy_for(self._task.allowed_hosts, self._task.denied_hosts)
        start = self._task.start_url or (self._page.url if isinstance(self._page, Page) else None)
        settings, gate = self._settings.browser, Gate(replace(policy, folder=start_folder(start)))
        if not self._is_ours:
            return await stack.enter_async_context(self._attach(settings, gate))
        if not gate.policy.is_open:
            from vision_agent.browser.network.filtering_proxy import proxied_settings

            settings = await stack.enter_async_context(proxied_settings(settings, gate))
        return await stack.enter_async_context(restarting(lambda: self._attach(settings, gate)))

    def start_page_opener(self, browser: OpenBrowser, resume_url: str | None) -> Callable[[], Awaitable[None]]:
        """A function that opens the start page, or the address of a resumed run unless the page is the caller's."""

        async def prepare() -> None:
            if resume_url is None and self._task.start_url is not None:
                await browser.open(self._task.start_url)
            elif resume_url is not None and self._page is None:
                await browser.open(with_values(resume_url, self._task.secrets))

        return prepare

    def _object_to(self, question: str) -> str:
        """Why a dialog is not accepted, if a caller objects; the question is as records have it."""
        return self._objects_to_dialog(self._redact(question)) if self._objects_to_dialog is not None else ""

    @asynccontextmanager
    async def _attach(self, settings: BrowserSettings, gate: Gate) -> AsyncIterator[LiveBrowser]:
        async with self._open_page(settings) as page, AsyncExitStack() as stack:
            if settings.trace:
                await stack.enter_async_context(record_trace(page.context, self._folder))
                self.description += "; traced by Playwright, which adds a global to the page"
            if not gate.policy.is_open and not self._is_ours:
                await stack.enter_async_context(intercept_requests(page, gate))
                self.description += f"; requests to other hosts are blocked, except: {'; '.join(NOT_INTERCEPTED)}"
                if self._page is None:
                    stack.push_async_callback(close_page, page)  # before requests are no longer intercepted
            elif self._is_ours and not (gate.policy.is_open and gate.policy.folder is None):
                await stack.enter_async_context(keep_blocked_pages(page, gate))
            yield await stack.enter_async_context(
                live.attach(
                    page,
                    self._settings.observe,
                    self._image_limits,
                    gate=gate,
                    secrets=self._task.secrets,
                    redact=self._redact,
                    hidden=self._redact,
                    files=self._task.files,
                    actions=self._custom,
                    events=self._settings.events,
                    is_risky=partial(is_risky_question, self._settings.approval),
                    objects_to_dialog=self._object_to,
                    downloads=self._folder / DOWNLOADS,
                    download_limits=self._task.limits.downloads,
                    incoming=self._incoming,
                    start_url=self._task.start_url,
                    learn=self._redact.learn,
                    clock=self._clock,
                )
            )

    @asynccontextmanager
    async def _open_page(self, settings: BrowserSettings) -> AsyncIterator[Page]:
        if self._page is not None:
            require_async_page(self._page)
            self.description = "a page handed over by its owner"
            yield self._page
            return
        async with launch_browser(settings) as started:
            try:
                page = await started.context.new_page()
            except PlaywrightError as error:
                raise BrowserUnavailable(
                    f"No page could be opened in {started.description}: {error.message.splitlines()[0]}",
                    "start the run again",
                ) from error
            self.description, self._incoming = started.description, started.incoming
            try:
                yield page
                if settings.save_session:
                    await save_session(page.context, settings)
            finally:
                await close_page(page)

    def _check_trace(self) -> None:
        """Refuses a trace if it could leak something: it bypasses our redaction and covers the whole context."""
        browser = self._settings.browser
        if not browser.trace:
            return
        is_signed_in = browser.session is not None or browser.profile is not None
        if self._task.secrets or self._task.private_kinds or browser.http_auth is not None or is_signed_in:
            what = "private data" if self._task.private_kinds else "browser.http_auth"
            what = f"the profile {browser.profile.name}" if browser.profile is not None else what
            what = f"the saved sign-in {browser.session}" if browser.session else what
            what = f"the secret {self._task.secrets[0].name}" if self._task.secrets else what
            raise UsageError(
                f"A trace contains everything that is typed and sent, including {what}",
                "leave out the trace, or the secret",
            )
        if not self._is_ours:
            where = "a page handed over" if self._page is not None else "a browser that is connected to"
            raise UsageError(
                f"A trace covers a whole browser context, and the context of {where} is not ours",
                "have a browser launched, or start a trace yourself with context.tracing.start()",
            )

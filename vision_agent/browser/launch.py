"""Finds a browser, starts it or connects to it, and closes what it opened.

Owns the order in which browsers are tried, the sandbox, and the command line. Does not know what a page is used for,
nor how to install a browser: that is `setup`.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.settings import BrowserSettings

GET_A_BROWSER = (
    "type `vision-agent setup`, or `playwright install chromium`, or as root `apt-get install chromium`; "
    "or name a browser in VISION_AGENT_BROWSER__EXECUTABLE_PATH"
)

_OF_A_CONTEXT = ("device", "locale", "timezone", "storage_state", "proxy", "permissions", "http_auth")

_START_S = 30
_CLOSE_S = 10
_DRAWN_WHOLE = ("--disable-partial-raster",)
"""What is drawn over what was there before differs in single pixels from what is drawn at once (seen at the rounded
corners of a button), and which of the two happens is a matter of time. The same page is to give the same picture."""

# With Playwright's own command line an installed Chromium still asks its maker for updates and for signed-in accounts.
# Both are sent to a port that Chromium refuses to open; what a page itself asks of these hosts is not touched.
_QUIET = ("--gaia-url=https://127.0.0.1:9", "--component-updater=url-source=https://127.0.0.1:9/")

_ON_THE_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")

# What Chromium writes when the system does not let it build its sandbox.
_SANDBOX_TROUBLE = ("No usable sandbox", "SUID sandbox", "setuid sandbox", "zygote_host_impl_linux", "--no-sandbox")


@dataclass(frozen=True)
class Candidate:
    """A browser that may be there, and where it was looked for."""

    found: str
    """Such as `Playwright's own build` or `chromium on the PATH`."""
    executable: Path | None = None
    channel: str | None = None
    cdp_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Started:
    """A running browser, and what there is to say about it."""

    browser: Browser
    candidate: Candidate
    is_sandboxed: bool | None
    """None where we did not start it."""
    sandbox: str
    """On or off, and why it is off."""

    @property
    def description(self) -> str:
        where = f", {self.candidate.executable}" if self.candidate.executable else ""
        return f"Chromium {self.browser.version} ({self.candidate.found}{where}), sandbox {self.sandbox}"


@dataclass(frozen=True)
class Launched:
    """A browser with a context to open pages in. It is closed, or disconnected from, by whoever launched it."""

    playwright: Playwright
    browser: Browser
    context: BrowserContext
    description: str
    """Which browser and version, how it was found, whether its sandbox is on."""


@asynccontextmanager
async def launched(settings: BrowserSettings) -> AsyncIterator[Launched]:
    """The first browser that starts, with a context as the settings want it.

    A browser that we connected to keeps its context and its pages; only the connection ends.

    Raises:
        BrowserUnavailable: none could be started or reached; says what was tried.
        UsageError: the settings name something that does not exist.
    """
    async with async_playwright() as playwright:
        options = context_options(settings, playwright)
        started = await first_that_starts(playwright, settings)
        try:
            context = await _context(started, options)
            yield Launched(playwright, started.browser, context, started.description)
        finally:
            await end(started)


async def first_that_starts(playwright: Playwright, settings: BrowserSettings) -> Started:
    """The first of the candidates that starts.

    Raises:
        BrowserUnavailable: none does; says what became of each.
    """
    failures = []
    for candidate in candidates(settings):
        try:
            return await start(playwright, candidate, settings)
        except BrowserUnavailable as error:
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    tried = "".join(f"\n  {failure.sentence}" for failure in failures)
    raise BrowserUnavailable(f"No browser could be started. Tried:{tried}\n", GET_A_BROWSER)


def candidates(settings: BrowserSettings) -> list[Candidate]:
    """The browsers to try, in order. One that was named by a person is the only one: no other stands in for it."""
    if settings.cdp_url:
        return [Candidate(f"the browser at {_without_secrets(settings.cdp_url)}", cdp_url=settings.cdp_url)]
    if settings.executable_path:
        return [Candidate("the path that was named", executable=settings.executable_path)]
    if settings.channel:
        return [_installed(settings.channel)]
    return [
        Candidate("Playwright's own build"),
        _installed("chrome"),
        _installed("msedge"),
        *(
            Candidate(f"{name} on the PATH", executable=Path(path))
            for name in _ON_THE_PATH
            if (path := shutil.which(name))
        ),
    ]


async def start(playwright: Playwright, candidate: Candidate, settings: BrowserSettings) -> Started:
    """This browser, started or connected to.

    Raises:
        BrowserUnavailable: it does not start, or cannot be reached.
    """
    if candidate.cdp_url:
        return await _connect(playwright, candidate, candidate.cdp_url)
    if sys.platform == "linux" and os.geteuid() == 0:
        return Started(await _launch(playwright, candidate, settings, False), candidate, False, "off (running as root)")
    try:
        return Started(await _launch(playwright, candidate, settings, True), candidate, True, "on")
    except BrowserUnavailable as error:
        if not any(words in str(error.__cause__) for words in _SANDBOX_TROUBLE):
            raise
    browser = await _launch(playwright, candidate, settings, False)
    return Started(browser, candidate, False, "off (this system does not let Chromium build one)")


async def end(started: Started) -> None:
    """Close a browser that we started; one that we connected to stays as it is."""
    if started.candidate.cdp_url is None:
        # It may be gone or hung; leaving `async_playwright` ends its process in any case.
        with suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(started.browser.close(), _CLOSE_S)


@asynccontextmanager
async def fresh_context(started: Launched, settings: BrowserSettings) -> AsyncIterator[BrowserContext]:
    """One more context in the browser, as the settings want it, that knows nothing of the others; closed in the end.

    Raises:
        UsageError: the settings name something that does not exist.
        PlaywrightError: the browser is gone.
    """
    context = await started.browser.new_context(**context_options(settings, started.playwright))
    try:
        yield context
    finally:
        with suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(context.close(), _CLOSE_S)


def drawn_whole(settings: BrowserSettings) -> BrowserSettings:
    """The settings of a browser in which the same page gives the same picture."""
    return settings.model_copy(update={"args": (*settings.args, *_DRAWN_WHOLE)})


def context_options(settings: BrowserSettings, playwright: Playwright) -> dict[str, Any]:
    """What a new context is opened with.

    Raises:
        UsageError: a device or a file that does not exist, or a setting that a running browser cannot take.
    """
    if settings.cdp_url:
        ours = [name for name in _OF_A_CONTEXT if getattr(settings, name)]
        if ours:
            raise UsageError(
                f"{', '.join(ours)} cannot be set on a browser that is already running",
                "leave it out, or leave out the CDP address so that a browser is launched",
            )
    options: dict[str, Any] = {
        "viewport": settings.viewport.model_dump(),
        "device_scale_factor": settings.device_ratio,
        "locale": settings.locale,
        "timezone_id": settings.timezone,
        "storage_state": _existing(settings.storage_state),
        # An empty list denies all: else a permission that a page asks for waits for somebody to answer.
        "permissions": list(settings.permissions),
        "http_credentials": _credentials(settings),
    }
    if settings.device:
        options |= _device(settings.device, playwright)
    return {name: value for name, value in options.items() if value is not None}


async def _context(started: Started, options: dict[str, Any]) -> BrowserContext:
    if started.candidate.cdp_url and started.browser.contexts:
        return started.browser.contexts[0]
    try:
        context = await started.browser.new_context(**options)
        if "locale" in options or "timezone_id" in options:
            # Only the first page tells whether Chromium knows them.
            await (await context.new_page()).close()
    except PlaywrightError as error:
        raise UsageError(f"The browser does not take these settings: {_first_line(error)}") from error
    return context


async def _connect(playwright: Playwright, candidate: Candidate, url: str) -> Started:
    try:
        browser = await playwright.chromium.connect_over_cdp(url, timeout=_START_S * 1000)
    except PlaywrightError as error:
        raise BrowserUnavailable(
            f"{candidate.found} cannot be reached",
            "start it with --remote-debugging-port=9222 and name http://127.0.0.1:9222",
        ) from error
    return Started(browser, candidate, None, "as it was started")


async def _launch(
    playwright: Playwright, candidate: Candidate, settings: BrowserSettings, with_sandbox: bool
) -> Browser:
    if candidate.executable and not candidate.executable.is_file():
        raise BrowserUnavailable(f"{candidate.found}: there is no file {candidate.executable}", GET_A_BROWSER)
    try:
        return await playwright.chromium.launch(
            executable_path=candidate.executable,
            channel=candidate.channel,
            headless=settings.headless,
            chromium_sandbox=with_sandbox,
            args=[*_QUIET, *settings.args],
            proxy=_proxy(settings),
            timeout=_START_S * 1000,
            # Ctrl-C is for the run to hear: it writes its ending first and then closes the browser.
            handle_sigint=False,
        )
    except PlaywrightError as error:
        raise BrowserUnavailable(f"{candidate.found}: {_why(error)}", _hint(error)) from error


def _why(error: PlaywrightError) -> str:
    text = str(error)
    if "Executable doesn't exist" in text or "is not found at" in text:
        return "not installed"
    if "missing dependencies" in text or "error while loading shared libraries" in text:
        return "libraries of the system are missing"
    if "Missing X server" in text or "$DISPLAY" in text:
        return "there is no display to show a window on"
    return _first_line(error)


def _hint(error: PlaywrightError) -> str:
    text = str(error)
    if "Missing X server" in text or "$DISPLAY" in text:
        return "run it headless, or under xvfb-run"
    if "missing dependencies" in text or "error while loading shared libraries" in text:
        return "type `playwright install-deps chromium` as root"
    return GET_A_BROWSER


def _first_line(error: PlaywrightError) -> str:
    return re.sub(r"^\w+\.\w+: ", "", str(error).strip().splitlines()[0])


def _installed(channel: str) -> Candidate:
    return Candidate(f"installed {'Chrome' if channel == 'chrome' else 'Edge'}", channel=channel)


def _proxy(settings: BrowserSettings) -> Any:
    if settings.proxy is None:
        return None
    proxy = settings.proxy
    values = {
        "server": proxy.server,
        "bypass": proxy.bypass,
        "username": proxy.username,
        "password": proxy.password.get_secret_value() if proxy.password else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _credentials(settings: BrowserSettings) -> dict[str, str] | None:
    auth = settings.http_auth
    if auth is None:
        return None
    return {"origin": auth.origin, "username": auth.username, "password": auth.password.get_secret_value()}


def _device(name: str, playwright: Playwright) -> dict[str, Any]:
    known = playwright.devices
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3)
        raise UsageError(f"Playwright knows no device {name!r}", f"did you mean {', '.join(near)}?" if near else "")
    return {key: value for key, value in known[name].items() if key != "default_browser_type"}


def _existing(path: Path | None) -> Path | None:
    if path and not path.is_file():
        raise UsageError(f"The storage state {path} is not a file", "save one with Playwright's context.storage_state")
    return path


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

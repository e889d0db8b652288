"""Finds a browser, starts it or connects to it, and closes what it opened.

Owns the order in which browsers are tried, the sandbox, and the command line. Does not know what a page is used for;
`setup` installs browsers.
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
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from vision_agent.browser.launch.profile import HEADLESS_NAMES, IN_USE, require_free_profile, require_profile
from vision_agent.browser.launch.saved_session import require_key_place, require_session_packages, saved_state
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.settings import BrowserSettings
from vision_agent.text.urls import host_of

GET_A_BROWSER = (
    "run `vision-agent setup`, or `playwright install chromium`, or as root `apt-get install chromium`; "
    "or name a browser in VISION_AGENT_BROWSER__EXECUTABLE_PATH"
)

_CONTEXT_SETTINGS = ("device", "locale", "timezone", "storage_state", "session", "proxy", "permissions", "http_auth")

_START_S = 30
_CLOSE_S = 10
_STABLE_RASTER = ("--disable-partial-raster",)
"""Partial repaints differ in single pixels from full ones (seen at the rounded corners of a button), and which of the
two happens depends on timing. With this flag the same page gives the same picture."""

# Frames of other sites get processes of their own, as in any desktop Chromium. The headless build leaves that off.
_SITE_ISOLATION = ("--site-per-process",)

# With Playwright's command line an installed Chromium still contacts Google for updates and signed-in accounts. These
# flags send both to a port that Chromium refuses to open; requests of pages to those hosts are not affected.
_QUIET = ("--gaia-url=https://127.0.0.1:9", "--component-updater=url-source=https://127.0.0.1:9/")

_PATH_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")

# Chromium's messages when the system does not allow its sandbox.
_SANDBOX_TROUBLE = ("No usable sandbox", "SUID sandbox", "setuid sandbox", "zygote_host_impl_linux", "--no-sandbox")


_LOCALE = re.compile(r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*")
"""What Chromium may take as the name of a locale; some of these it rejects all the same."""

_INSTALLED_AT = {"chrome": Path("/opt/google/chrome/chrome"), "msedge": Path("/opt/microsoft/msedge/msedge")}
"""Where Playwright looks for them on Linux."""


@dataclass(frozen=True)
class BrowserCandidate:
    """A browser that may exist, and where to look for it."""

    found: str
    """Such as `Playwright's own build` or `chromium on the PATH`."""
    executable: Path | None = None
    channel: str | None = None
    cdp_url: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class StartedBrowser:
    """A running browser, and how it was started."""

    browser: Browser
    candidate: BrowserCandidate
    is_sandboxed: bool | None
    """None if we did not start it."""
    sandbox: str
    """On, or off and why."""

    @property
    def description(self) -> str:
        """Which browser and version, how it was found, and whether its sandbox is on."""
        where = f", {self.candidate.executable}" if self.candidate.executable else ""
        return f"Chromium {self.browser.version} ({self.candidate.found}{where}), sandbox {self.sandbox}"


@dataclass(frozen=True)
class LaunchedBrowser:
    """A browser with a context to open pages in. Whoever launched it closes or disconnects it."""

    playwright: Playwright
    browser: Browser
    context: BrowserContext
    description: str
    """Which browser and version, how it was found, whether its sandbox is on, and the name of its profile."""
    incoming: Path | None = None
    """Where it writes downloads as they come; the folder goes when the browser is closed."""


@asynccontextmanager
async def launch_browser(settings: BrowserSettings) -> AsyncIterator[LaunchedBrowser]:
    """The first browser that starts, with a context for the settings.

    A browser that we connected to keeps its context and its pages; only the connection ends.

    Raises:
        BrowserUnavailable: none could be started or reached; says what was tried.
        UsageError: the settings name something that does not exist, or a profile that is in use.
    """
    require_profile(settings)
    require_free_profile(settings)
    with TemporaryDirectory(prefix="vision-agent-", ignore_cleanup_errors=True) as folder:
        async with async_playwright() as playwright:
            options = context_options(settings, playwright)
            incoming = Path(folder)
            started = await start_first_browser(playwright, settings, incoming)
            try:
                context = await open_context(started, options)
                kept = f", profile {settings.profile.name}" if settings.profile is not None else ""
                yield LaunchedBrowser(playwright, started.browser, context, started.description + kept, incoming)
            finally:
                await end_browser(started)


async def start_first_browser(
    playwright: Playwright, settings: BrowserSettings, incoming: Path | None = None
) -> StartedBrowser:
    """The first candidate that starts; it writes downloads to `incoming`.

    Raises:
        BrowserUnavailable: none does; says why each failed.
    """
    failures = []
    for candidate in candidates(settings):
        try:
            return await start(playwright, candidate, settings, incoming)
        except BrowserUnavailable as error:
            failures.append(error)
    if len(failures) == 1:
        raise failures[0]
    tried = "".join(f"\n  {failure.sentence}" for failure in failures)
    raise BrowserUnavailable(f"No browser could be started. Tried:{tried}\n", GET_A_BROWSER)


def require_launchable(settings: BrowserSettings) -> None:
    """Checks what the settings name before anything is started: executable, profile, storage state, locale, session
    and proxy.

    Raises:
        BrowserUnavailable: there is no such executable.
        UsageError: there is no such storage state or session, the profile cannot be used, the locale is none, or the
            proxy has no valid address.
        Unavailable: the key of the session is missing.
    """
    for candidate in candidates(settings):
        _require_executable(candidate)
    require_profile(settings)
    require_free_profile(settings)
    _existing_file(settings.storage_state)
    _require_locale(settings.locale)
    if settings.proxy is not None:
        server = settings.proxy.server
        if not host_of(server if "://" in server else f"http://{server}"):
            # Not quoted: it may hold a password.
            raise UsageError("The address of the proxy is not valid", "give one such as http://proxy.example.org:3128")
    if settings.session is not None:
        if settings.storage_state is not None:
            raise UsageError("A session and a storage state cannot be combined", "leave out one of them")
        require_session_packages()
        saved_state(settings)
        if settings.save_session:
            require_key_place()
    elif settings.save_session:
        raise UsageError("No session is named that could be saved", "give --session NAME")


def candidates(settings: BrowserSettings) -> list[BrowserCandidate]:
    """The browsers to try, in order. A browser that a person named is the only candidate."""
    if settings.cdp_url:
        return [BrowserCandidate(f"the browser at {_strip_credentials(settings.cdp_url)}", cdp_url=settings.cdp_url)]
    if settings.executable_path:
        return [BrowserCandidate("the configured path", executable=settings.executable_path)]
    if settings.channel:
        return [_channel_candidate(settings.channel)]
    # Opening a page in Chromium without a user interface, which Playwright's own build is too when it is headless,
    # takes a quarter of the CPU time (0.12 instead of 0.48 s, Chromium 156). A profile needs a whole Chromium.
    is_whole = settings.profile is not None
    names = (*HEADLESS_NAMES, *_PATH_NAMES) if settings.headless and not is_whole else _PATH_NAMES
    return [
        BrowserCandidate("Playwright's own build", channel="chromium" if is_whole else None),
        _channel_candidate("chrome"),
        _channel_candidate("msedge"),
        *(
            BrowserCandidate(f"{name} on the PATH", executable=Path(path))
            for name in names
            if (path := shutil.which(name))
        ),
    ]


async def start(
    playwright: Playwright, candidate: BrowserCandidate, settings: BrowserSettings, incoming: Path | None = None
) -> StartedBrowser:
    """A candidate, started or connected to.

    Raises:
        BrowserUnavailable: it does not start, or cannot be reached.
    """
    if candidate.cdp_url:
        return await _connect(playwright, candidate, candidate.cdp_url, incoming)
    if sys.platform == "linux" and os.geteuid() == 0:
        return StartedBrowser(
            await _launch(playwright, candidate, settings, False, incoming), candidate, False, "off (running as root)"
        )
    try:
        return StartedBrowser(await _launch(playwright, candidate, settings, True, incoming), candidate, True, "on")
    except BrowserUnavailable as error:
        if not any(words in str(error.__cause__) for words in _SANDBOX_TROUBLE):
            raise
    browser = await _launch(playwright, candidate, settings, False, incoming)
    return StartedBrowser(browser, candidate, False, "off (this system does not allow it)")


async def end_browser(started: StartedBrowser) -> None:
    """Closes a browser that we started; one that we connected to stays open."""
    if started.candidate.cdp_url is None:
        # It may be gone or hang; leaving `async_playwright` ends its process in any case.
        with suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(started.browser.close(), _CLOSE_S)


@asynccontextmanager
async def fresh_context(started: LaunchedBrowser, settings: BrowserSettings) -> AsyncIterator[BrowserContext]:
    """A separate new context for the settings; closed at the end.

    Raises:
        UsageError: the settings name something that does not exist, or a profile, which is one context only.
        PlaywrightError: the browser is gone.
    """
    if settings.profile is not None:
        raise UsageError(
            "A browser profile cannot be used where each task begins with a new one", "leave out browser.profile"
        )
    context = await started.browser.new_context(**context_options(settings, started.playwright))
    try:
        yield context
    finally:
        with suppress(PlaywrightError, TimeoutError):
            await asyncio.wait_for(context.close(), _CLOSE_S)


def with_stable_raster(settings: BrowserSettings) -> BrowserSettings:
    """Settings for a browser in which the same page always gives the same picture."""
    return settings.model_copy(update={"args": (*settings.args, *_STABLE_RASTER)})


def context_options(settings: BrowserSettings, playwright: Playwright) -> dict[str, Any]:
    """Playwright's options for a new context.

    Raises:
        UsageError: a device, a locale or a file that does not exist, or a setting that a running browser cannot take.
    """
    if settings.cdp_url:
        ours = [name for name in _CONTEXT_SETTINGS if getattr(settings, name)]
        if ours:
            raise UsageError(
                f"{', '.join(ours)} cannot be set on a browser that is already running",
                "leave it out, or leave out the CDP address so that a browser is launched",
            )
    _require_locale(settings.locale)
    options: dict[str, Any] = {
        "viewport": settings.viewport.model_dump(),
        "device_scale_factor": settings.device_ratio,
        "locale": settings.locale,
        "timezone_id": settings.timezone,
        "storage_state": _existing_file(settings.storage_state) or saved_state(settings),
        # An empty list denies all; without one, a permission prompt waits for an answer.
        "permissions": list(settings.permissions),
        "http_credentials": _credentials(settings),
    }
    if settings.device:
        options |= _device(settings.device, playwright)
    return {name: value for name, value in options.items() if value is not None}


async def open_context(started: StartedBrowser, options: dict[str, Any]) -> BrowserContext:
    """A new context with Playwright's options; that of a profile or of a browser that we connected to, if it has one.

    Raises:
        BrowserUnavailable: the browser has ended.
        UsageError: it rejects the options.
    """
    if started.browser.contexts:
        return started.browser.contexts[0]
    try:
        context = await started.browser.new_context(**options)
        if "locale" in options or "timezone_id" in options:
            # Only opening a page shows whether Chromium accepts them.
            await (await context.new_page()).close()
    except PlaywrightError as error:
        if "has been closed" in error.message:
            raise BrowserUnavailable(f"{started.candidate.found} ended as it was about to open a page") from error
        if "Invalid locale name" in error.message:
            raise _unknown_locale(options["locale"]) from error
        raise UsageError(f"The browser rejects these settings: {_first_line(error)}") from error
    return context


async def _connect(
    playwright: Playwright, candidate: BrowserCandidate, url: str, incoming: Path | None
) -> StartedBrowser:
    try:
        browser = await playwright.chromium.connect_over_cdp(url, timeout=_START_S * 1000, artifacts_dir=incoming)
    except PlaywrightError as error:
        raise BrowserUnavailable(
            f"{candidate.found} cannot be reached",
            f"start Chrome with --remote-debugging-port={urlsplit(url).port or 9222} and --user-data-dir=FOLDER; it "
            "opens no port without a profile of its own",
        ) from error
    return StartedBrowser(browser, candidate, None, "as it was started")


async def _launch(
    playwright: Playwright,
    candidate: BrowserCandidate,
    settings: BrowserSettings,
    with_sandbox: bool,
    incoming: Path | None,
) -> Browser:
    _require_executable(candidate)
    if _is_not_installed(playwright, candidate):
        raise BrowserUnavailable(f"{candidate.found}: not installed", GET_A_BROWSER)
    options: dict[str, Any] = {
        "executable_path": candidate.executable,
        "channel": candidate.channel,
        "headless": settings.headless,
        "chromium_sandbox": with_sandbox,
        "args": [*_QUIET, *_SITE_ISOLATION, *settings.args],
        "proxy": _proxy(settings),
        "downloads_path": incoming,
        "timeout": _START_S * 1000,
        # The run handles Ctrl-C: it records its end first and then closes the browser.
        "handle_sigint": False,
    }
    try:
        if settings.profile is None:
            return await playwright.chromium.launch(**options)
        view = context_options(settings, playwright)
        context = await playwright.chromium.launch_persistent_context(settings.profile, **options, **view)
    except PlaywrightError as error:
        if IN_USE in str(error):
            raise BrowserUnavailable(
                f"The profile {settings.profile} is in use by another browser",
                "close it, or give each browser a profile of its own",
            ) from error
        raise BrowserUnavailable(f"{candidate.found}: {_failure_reason(error)}", _hint(error)) from error
    assert context.browser is not None  # only Android and Electron have none
    return context.browser


def _require_executable(candidate: BrowserCandidate) -> None:
    if candidate.executable and not candidate.executable.is_file():
        raise BrowserUnavailable(f"{candidate.found}: there is no file {candidate.executable}", GET_A_BROWSER)


def _is_not_installed(playwright: Playwright, candidate: BrowserCandidate) -> bool:
    """Whether a browser is certainly not installed. Trying to start it would leave two empty temporary folders."""
    if candidate.executable:
        return False
    if candidate.channel and candidate.channel != "chromium":
        place = _INSTALLED_AT.get(candidate.channel) if sys.platform == "linux" else None
        return place is not None and not place.exists()
    builds = next((each for each in Path(playwright.chromium.executable_path).parents if "chromium" in each.name), None)
    return builds is not None and not any(builds.parent.glob("chromium*"))


def _failure_reason(error: PlaywrightError) -> str:
    text = str(error)
    if "Executable doesn't exist" in text or "is not found at" in text:
        return "not installed"
    if "missing dependencies" in text or "error while loading shared libraries" in text:
        return "system libraries are missing"
    if "Missing X server" in text or "$DISPLAY" in text:
        return "there is no display for a window"
    return _first_line(error)


def _hint(error: PlaywrightError) -> str:
    text = str(error)
    if "Missing X server" in text or "$DISPLAY" in text:
        return "run it headless, or under xvfb-run"
    if "missing dependencies" in text or "error while loading shared libraries" in text:
        return "run `playwright install-deps chromium` as root"
    return GET_A_BROWSER


def _first_line(error: PlaywrightError) -> str:
    return re.sub(r"^\w+\.\w+: ", "", str(error).strip().splitlines()[0])


def _channel_candidate(channel: str) -> BrowserCandidate:
    return BrowserCandidate(f"installed {'Chrome' if channel == 'chrome' else 'Edge'}", channel=channel)


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


def _require_locale(locale: str | None) -> None:
    if locale and not _LOCALE.fullmatch(locale):
        raise _unknown_locale(locale)


def _unknown_locale(locale: str) -> UsageError:
    return UsageError(
        f"{locale!r} is not the name of a locale",
        "give a language such as de or pt, with a region if you like: de-DE, pt-BR, zh-Hant-TW",
    )


def _existing_file(path: Path | None) -> Path | None:
    if path and not path.is_file():
        raise UsageError(f"The storage state {path} is not a file", "save one with Playwright's context.storage_state")
    return path


def _strip_credentials(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")

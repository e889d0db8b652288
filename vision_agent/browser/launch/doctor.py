"""Checks whether a run could start on this machine, and installs a browser if there is none.

`doctor` only checks; `setup` also installs. Both trust a browser only once it has shown a page.
Knows the commands that install a browser; does not know what a run does with it.
"""

from __future__ import annotations

import asyncio
import os
import platform
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from vision_agent.base_model import FrozenModel
from vision_agent.browser.launch.launch import GET_A_BROWSER, BrowserCandidate, candidates, end_browser, start
from vision_agent.browser.network.request_interception import NOT_INTERCEPTED, limiting_arguments
from vision_agent.errors import BrowserUnavailable
from vision_agent.settings import BrowserSettings, Settings
from vision_agent.vision.ocr import can_read

Say = Callable[[str], None]
"""Tells the person what is happening now."""

_PAGE_S = 30

_PACKAGES = (
    "vision-agent",
    "playwright",
    "anthropic",
    "pydantic",
    "typer",
    "pillow",
    "numpy",
    "opencv-python-headless",
)

_OPENCV = (
    "opencv-python",
    "opencv-python-headless",
    "opencv-contrib-python",
    "opencv-contrib-python-headless",
)


class Probe(FrozenModel):
    """The result of trying one browser."""

    found: str
    works: bool
    sentence: str
    """Which browser it is, or why it does not work."""
    is_sandboxed: bool | None = None
    draws_digits: bool | None = None
    """False if a missing font makes all digits look the same, so that marks cannot be told apart."""
    seconds: float = 0.0


class Health(FrozenModel):
    """The state of this machine for a run. Contains no secrets."""

    python: str
    system: str
    packages: dict[str, str | None]
    browsers: tuple[Probe, ...]
    """In the order in which a run tries them."""
    not_held: tuple[str, ...] = NOT_INTERCEPTED
    """What can reach a blocked host in a browser that we did not launch; in one that we launched, nothing can."""
    limiting_arguments: tuple[str, ...] = limiting_arguments(["HOST"])
    """Chrome started with these, each allowed host in place of HOST, cannot reach other hosts by `not_held` either."""
    runs_folder: Path
    runs_folder_is_writable: bool
    has_npm: bool
    """Needed only for CanvasBench, and in a checkout for the type check of the overlay and for test pages."""
    reads_words: bool
    """Whether the extra `ocr` is installed; without it, marks in canvases have no names."""
    warnings: tuple[str, ...] = ()

    @property
    def browser(self) -> Probe | None:
        """The first browser that works."""
        return next((probe for probe in self.browsers if probe.works), None)

    @property
    def exit_code(self) -> int:
        """0 if a run could start, 5 without a browser or a writable runs folder."""
        return 0 if self.browser and self.runs_folder_is_writable else 5


@dataclass(frozen=True)
class Installer:
    """Commands that may install a browser, with a deadline for all of them together."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    timeout_s: float


async def doctor(settings: Settings, say: Say = lambda _: None) -> Health:
    """Checks the machine: tries every browser and changes nothing."""
    return _health(settings, await probe_all(settings.browser, say))


async def setup(settings: Settings, say: Say = lambda _: None, installers: Sequence[Installer] | None = None) -> Health:
    """Tries the known ways to install a browser until one works, and checks the machine."""
    probes = await probe_all(settings.browser, say)
    notes = []
    for installer in find_installers(settings.browser) if installers is None else installers:
        if any(probe.works for probe in probes):
            break
        say(f"No browser yet: {installer.name} (at most {installer.timeout_s / 60:.0f} min)")
        if trouble := await _install(installer):
            notes.append(trouble)
        probes = await probe_all(settings.browser, say)
    if any(probe.works for probe in probes):
        notes = []
    return _health(settings, probes, notes)


def find_installers(settings: BrowserSettings) -> list[Installer]:
    """The ways to install a browser here. None if the settings name one: another could not replace it."""
    if settings.cdp_url or settings.executable_path or settings.channel:
        return []
    found = [Installer("playwright install", ((sys.executable, "-m", "playwright", "install", "chromium"),), 300)]
    as_root = _as_root()
    if as_root is not None and shutil.which("apt-get"):
        apt = (*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get")
        install = (*apt, "install", "-y")
        # The headless one last and by itself: not every distribution has it, and `chromium` alone is enough.
        packages = (("chromium", "fonts-liberation"), ("chromium-headless-shell",))
        found.append(Installer("apt-get install", ((*apt, "update"), *((*install, *names) for names in packages)), 600))
    return found


async def probe_all(settings: BrowserSettings, say: Say) -> tuple[Probe, ...]:
    """The results of every browser that a run would try, in that order."""
    probes = []
    async with async_playwright() as playwright:
        for candidate in candidates(settings):
            say(f"Trying {candidate.found}")
            probes.append(await probe(playwright, candidate, settings))
    return tuple(probes)


async def probe(playwright: Playwright, candidate: BrowserCandidate, settings: BrowserSettings) -> Probe:
    """Starts a browser, opens a page, and takes a picture of it."""
    begun = time.perf_counter()
    try:
        started = await start(playwright, candidate, settings.model_copy(update={"profile": None}))
    except BrowserUnavailable as error:
        return Probe(found=candidate.found, works=False, sentence=error.sentence)
    try:
        draws_digits = await asyncio.wait_for(_can_draw_digits(started.browser), _PAGE_S)
    except (PlaywrightError, TimeoutError) as error:
        why = str(error).strip().partition("\n")[0] or f"no answer within {_PAGE_S} s"
        return Probe(found=candidate.found, works=False, sentence=f"{started.description}: it shows no page: {why}")
    finally:
        await end_browser(started)
    return Probe(
        found=candidate.found,
        works=True,
        sentence=started.description,
        is_sandboxed=started.is_sandboxed,
        draws_digits=draws_digits,
        seconds=round(time.perf_counter() - begun, 2),
    )


async def _can_draw_digits(browser: Browser) -> bool:
    """Whether two digits and a blank give three pictures; without a font, both digits are the same hollow box."""
    page = await browser.new_page(viewport={"width": 120, "height": 80})
    try:
        pictures = set()
        for text in ("1", "8", ""):
            await page.set_content(f"<h1>{text}</h1>")
            pictures.add(await page.screenshot())
    finally:
        await page.close()
    return len(pictures) == 3


def _health(settings: Settings, probes: Sequence[Probe], notes: Sequence[str] = ()) -> Health:
    runs = settings.runs.absolute()
    return Health(
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        packages={name: _version(name) for name in _PACKAGES},
        browsers=tuple(probes),
        runs_folder=runs,
        runs_folder_is_writable=_is_writable(runs),
        has_npm=shutil.which("npm") is not None,
        reads_words=can_read(),
        warnings=(*_warnings(probes, runs), *notes),
    )


def _warnings(probes: Sequence[Probe], runs: Path) -> list[str]:
    said = []
    working = next((probe for probe in probes if probe.works), None)
    if working is None:
        said.append(f"No browser works here; {GET_A_BROWSER}")
    elif working.draws_digits is False:
        said.append(
            "The browser draws all digits alike, because fonts are missing; run `apt-get install fonts-liberation`"
        )
    if not _is_writable(runs):
        said.append(f"Run folders cannot be created in {runs}; set VISION_AGENT_RUNS to another folder")
    both = [name for name in _OPENCV if _version(name)]
    if len(both) > 1:
        said.append(
            f"{' and '.join(both)} are installed together and overwrite each other's files; "
            f"run `pip uninstall {' '.join(both)}` and then `pip install opencv-python-headless`"
        )
    return said


def _is_writable(folder: Path) -> bool:
    """Whether a file can be created in a folder or its nearest existing parent; creates a temporary file to check."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=nearest):
            return True
    except OSError:
        return False


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _as_root() -> tuple[str, ...] | None:
    """The prefix that runs a command as root without a prompt; None if there is none."""
    if not hasattr(os, "geteuid"):
        return None
    return () if os.geteuid() == 0 else ("sudo", "-n") if shutil.which("sudo") else None


async def _install(installer: Installer) -> str:
    """Runs the commands of an installer; returns the last error, or an empty string."""
    trouble = ""
    deadline = time.monotonic() + installer.timeout_s
    for command in installer.commands:
        left = max(0.0, deadline - time.monotonic())
        if trouble := await _run(command, left):
            trouble = f"{installer.name}: {trouble}"
    return trouble


async def _run(command: Sequence[str], timeout_s: float) -> str:
    """Runs a command until it ends or the deadline passes; returns the error, or an empty string."""
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"{command[0]} could not be run: {error.strerror}"
    try:
        output, _ = await asyncio.wait_for(process.communicate(), timeout_s)
    except TimeoutError:
        return f"not finished after {timeout_s:.0f} s, stopped"
    finally:
        if process.returncode is None:
            _kill(process)
            await process.wait()
    return _error_line(output.decode(errors="replace")) if process.returncode else ""


def _kill(process: asyncio.subprocess.Process) -> None:
    """Kills a command with all its child processes."""
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _error_line(output: str) -> str:
    """The most informative line of the output, with addresses removed."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.match(r"(E:|Error|sudo:)", line)] or lines[-1:]
    if not telling:
        return "it failed without output"
    return re.sub(r"\w+://\S+|(?<=ENOTFOUND )\S+|(?<=EAI_AGAIN )\S+|(?<=ECONNREFUSED )\S+", "(address)", telling[0])

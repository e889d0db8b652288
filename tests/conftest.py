"""Fixtures that all tests share: one real browser, a fresh page, and small sites on loopback.

A site is served on 127.0.0.1; the same port answers on `localhost` too, which is another site to a browser.
A failing test that has a page leaves its screenshot in `test-results/`.
"""

from __future__ import annotations

import asyncio
import gc
import mimetypes
import os
import re
import shutil
import signal
import socket
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from messages_server import MessagesServer
from playwright.async_api import Browser, BrowserContext, Page, expect
from playwright.async_api import Error as PlaywrightError

from tests.loopback import Folder, Handler, LoopbackServer
from tests.ready_python import ReadyPython
from tests.sample import LATER, LONG, MORE_VARIANTS, SLOW_VARIANTS, STARTS_A_BROWSER, VARIANTS, WEEKLY
from vision_agent.browser.launch.launch import launch_browser
from vision_agent.settings import BrowserSettings

ROOT = Path(__file__).parent.parent

_failed = pytest.StashKey[bool]()
_began = pytest.StashKey[float]()
_folders = pytest.StashKey[Path]()


# An assertion on a page waits as long as any other wait of Playwright: what it waits for may be a whole step of a run.
expect.set_options(timeout=60_000)

# Broken input is the same in every run, and each piece of it is dealt with in time.
hypothesis_settings.register_profile(
    "fixed", derandomize=True, database=None, deadline=timedelta(seconds=30), suppress_health_check=list(HealthCheck)
)
hypothesis_settings.load_profile("fixed")


SMALL = """<title>Small</title><input id=name aria-label=Name>
<button id=go onclick="document.title = 'Gone'">Go</button>
<button id=tell onclick="document.title = 'Answer ' + confirm('Sure?')">Tell</button>"""


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """The browser of the session, found as the product finds it."""
    async with launch_browser(BrowserSettings()) as found:
        yield found.browser


def desktop_chromium() -> BrowserSettings:
    """A Chromium that has a user interface, though no window; only this one has error pages, icons and manifests."""
    paths = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return BrowserSettings(executable_path=next((Path(path) for path in paths if path), None))


@pytest.fixture
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A context with a view of 1280×800."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800})
    yield context
    await context.close()


@pytest.fixture
async def page(context: BrowserContext, request: pytest.FixtureRequest) -> AsyncIterator[Page]:
    """A blank page in a context of its own."""
    page = await context.new_page()
    yield page
    if request.node.stash.get(_failed, False):
        await _leave_screenshot(page, request.node.nodeid)


@pytest.fixture(scope="session")
def serve() -> Iterator[Server]:
    """Small sites on loopback: `serve({"/": "<p>hi"})` and `serve.folder(path)` return the address without a slash."""
    server = Server()
    yield server
    server.close()


@pytest.fixture
async def api() -> AsyncIterator[MessagesServer]:
    """The Messages API of a model, on loopback."""
    server = MessagesServer()
    await server.start()
    yield server
    await server.close()


class Server:
    """Each call serves one more site, on a port of its own, until the tests end."""

    def __init__(self) -> None:
        self._servers: list[LoopbackServer] = []

    def __call__(self, pages: Mapping[str, str | bytes], headers: Mapping[str, str] | None = None) -> str:
        """The address of a site with these pages by path; `headers` go with each of them.

        A path's ending says what it is; without one it is HTML. `headers` may say otherwise.
        """
        return self._start(partial(_Pages, pages, headers or {}))

    def folder(self, path: Path) -> str:
        """The address of a site made of the files in a folder."""
        return self._start(partial(Folder, directory=str(path)))

    def _start(self, handler: Any) -> str:
        self._servers.append(LoopbackServer(handler))
        return self._servers[-1].address

    def close(self) -> None:
        """Stop them all at once: each takes up to half a second to hear it."""
        if self._servers:
            with ThreadPoolExecutor(len(self._servers)) as pool:
                list(pool.map(lambda server: server.shutdown(), self._servers))
        for server in self._servers:
            server.server_close()


class _Pages(Handler):
    protocol_version = "HTTP/1.1"

    def __init__(self, pages: Mapping[str, str | bytes], headers: Mapping[str, str], *args: Any) -> None:
        self._pages, self._headers = pages, headers
        super().__init__(*args)

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        content = self._pages.get(path)
        said = {"Content-Type": _media_type(path), "Cache-Control": "no-store", **self._headers}
        self.answer(content or b"", 404 if content is None else 200, said)


def _media_type(path: str) -> str:
    guessed = mimetypes.guess_type(path)[0] or "text/html"
    return f"{guessed}; charset=utf-8" if guessed.startswith("text/") or "javascript" in guessed else guessed


@pytest.fixture
def site(serve: Server) -> str:
    """The address of a small page."""
    return serve({"/": SMALL, "/favicon.ico": b""})


@pytest.fixture(scope="session")
def closed_port() -> Iterator[int]:
    """A port of loopback on which nothing listens, and on which nothing can begin to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def hear_signals() -> None:
    """For a child, before it starts: a shell may have Ctrl-C ignored in the background, and `nohup` a lost terminal.

    Children inherit that.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves files alone in which all tests start a browser, where none of those are wanted: imports take long."""
    is_left = "not browser" in config.option.markexpr and collection_path.suffix == ".py"
    return True if is_left and collection_path.relative_to(ROOT / "tests").as_posix() in STARTS_A_BROWSER else None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Makes no variants of the large suites where none of those are wanted: there are thousands."""
    result = yield
    # What pytest has of the variants is not public; without it they are made, and left out later.
    variants = getattr(metafunc, "_calls", [])
    if "not thorough" in metafunc.config.option.markexpr and variants:
        variants[1:] = [each for each in variants[1:] if not any(mark.name == "thorough" for mark in each.marks)]
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Has a Python ready for the processes that tests start, if several tests run at a time."""
    runs_several = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if runs_several and hasattr(os, "pidfd_open"):
        folder = Path(tempfile.mkdtemp(prefix="ready-"))
        config.add_cleanup(partial(shutil.rmtree, folder))
        ready = ReadyPython(folder)
        config.add_cleanup(ready.close)
        ready.offer()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without looking for garbage: there is little, and a search takes long among so much that stays.

    What was collected stays to the end, so that no later search goes through it either.
    """
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that start a browser; leaves others to `make test-all` and `make test-rest`, as `sample.py` says."""
    names = [item.nodeid.removeprefix("tests/").partition("[")[0] for item in items]
    mine = [item.get_closest_marker("thorough") is None for item in items]
    variants = Counter(name for name, is_mine in zip(names, mine, strict=True) if is_mine)
    counts: Counter[str] = Counter()
    for item, name, is_mine in zip(items, names, mine, strict=True):
        starts_one = name in STARTS_A_BROWSER or name.partition("::")[0] in STARTS_A_BROWSER
        if starts_one or "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
        if not is_mine:
            continue
        nth = counts[name]
        counts[name] += 1
        is_slow = name in SLOW_VARIANTS or item.get_closest_marker("browser") is not None
        more = MORE_VARIANTS.get(name, 0 if name in LONG else VARIANTS)
        if name in WEEKLY:
            item.add_marker("weekly")
            item.add_marker("thorough")
        elif is_slow and nth not in _spread(variants[name], more):
            item.add_marker("thorough")
        elif name in LONG or name in LATER or (is_slow and nth):
            item.add_marker("rest")


def _spread(many: int, more: int) -> set[int]:
    """The first of so many, and so many more, spread evenly."""
    return {0, *(round(each * (many - 1) / more) for each in range(1, more + 1))}


@pytest.fixture(scope="session", autouse=True)
def temporary_folders(tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config) -> None:
    """Makes known where this process has its temporary folders, for the report of a test that failed."""
    pytestconfig.stash[_folders] = tmp_path_factory.getbasetemp()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if call.when == "setup":
        item.stash[_began] = call.start
    if report.failed:
        item.stash[_failed] = True
        if folders := item.config.stash.get(_folders, None):
            from tests.sessions import told_runs  # late: few tests fail, and the agent takes long to import

            report.sections.extend(told_runs(folders, since=item.stash[_began]))
    return report


async def _leave_screenshot(page: Page, name: str) -> None:
    folder = ROOT / "test-results"
    folder.mkdir(exist_ok=True)
    path = folder / (re.sub(r"[^\w.-]+", "-", name).strip("-")[-120:] + ".png")
    # A page that crashed or hangs gives none, and the test has failed already.
    with suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(6):
            await page.screenshot(path=path, timeout=5_000)

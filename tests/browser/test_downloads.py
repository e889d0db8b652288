"""Claims about downloads: they have limits, and the run goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page
from pydantic import SecretStr

from tests.browser.hand import On
from tests.loopback import Handler, LoopbackServer
from vision_agent.actions import Click, Read, Wait
from vision_agent.browser.launch.launch import LaunchedBrowser, launch_browser
from vision_agent.browser.live import LiveBrowser, attach
from vision_agent.browser.page.downloads import _holds_secret
from vision_agent.observation import Observation
from vision_agent.record import Redactor
from vision_agent.settings import BrowserSettings, ObserveSettings
from vision_agent.types import DownloadLimits, Outcome, Secret
from vision_agent.vision.image_limits import ImageLimits

SETTINGS = ObserveSettings(quiet_s=0.1, settle_deadline_s=5, action_deadline_s=20)


class Endless:
    """A server whose `/file` never ends; `cut` is set once the browser has hung up."""

    def __init__(self) -> None:
        cut = self.cut = threading.Event()
        is_over = self.is_over = threading.Event()

        class Pages(Handler):
            def do_GET(self) -> None:
                if self.path.startswith("/file"):
                    self.send_response(200)
                    self.send_header("Content-Type", "application/octet-stream")
                    self.send_header("Content-Disposition", 'attachment; filename="endless.bin"')
                    self.end_headers()
                    try:
                        while not is_over.wait(0.002):
                            self.wfile.write(b"x" * 65_536)
                    except OSError:
                        cut.set()
                    return
                port = self.server.server_address[1]
                frame = f"<iframe src='http://localhost:{port}/frame'></iframe>" if self.path == "/" else ""
                where = "Frame" if self.path == "/frame" else ""
                body = f"<title>Files</title><a href=/file>Get{where}</a> <a target=_blank href=/file>Tab{where}</a>"
                self.answer(f"{body}{frame}")

        self.server = LoopbackServer(Pages)
        self.address = self.server.address


@pytest.fixture
def endless() -> Iterator[Endless]:
    endless = Endless()
    with endless.server:
        yield endless
        endless.is_over.set()


@pytest.fixture
async def started() -> Any:
    async with launch_browser(BrowserSettings()) as launched:
        yield launched


async def told(browser: LiveBrowser, holds: Callable[[str], bool], first: Outcome) -> str:
    """What is told of downloads until it holds; each look waits for the page."""
    said = first.sentence
    while not holds(said):
        seen = await browser.observe()
        said += " ".join(seen.warnings)
        said += (await browser.act(Wait(seconds=0.2), seen)).sentence
    return said


def kept_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*"))


def number(seen: Observation, name: str) -> int:
    return next(mark.number for mark in seen.marks if mark.name == name)


@pytest.mark.parametrize("link", ["Get", "Tab", pytest.param("GetFrame", marks=pytest.mark.thorough)])
async def test_a_download_without_end_is_cut_at_its_size_and_the_run_goes_on(
    started: LaunchedBrowser, endless: Endless, tmp_path: Path, link: str
) -> None:
    page = await started.context.new_page()
    limits = DownloadLimits(bytes_each=1_000_000)
    keeps = {"downloads": tmp_path / "kept", "download_limits": limits, "incoming": started.incoming}
    async with attach(page, SETTINGS, ImageLimits(), **keeps) as browser:
        await browser.open(endless.address)
        seen = await browser.observe()
        outcome = await browser.act(Click(target=number(seen, link)), seen)
        said = await told(browser, lambda all: "was not kept" in all, outcome)
        assert 'the download "endless.bin" was not kept: it was cut: it has more than 1000000 bytes' in said
        assert endless.cut.wait(20)
        assert (await browser.observe()).title == "Files"
    assert not (tmp_path / "kept").exists()


async def test_on_a_page_handed_over_a_download_without_end_is_cut_by_its_time(
    page: Page, endless: Endless, tmp_path: Path
) -> None:
    limits = DownloadLimits(seconds=1)
    async with attach(page, SETTINGS, ImageLimits(), downloads=tmp_path, download_limits=limits) as browser:
        await browser.open(endless.address)
        seen = await browser.observe()
        outcome = await browser.act(Click(target=number(seen, "Get")), seen)
        said = await told(browser, lambda all: "was not kept" in all, outcome)
        assert "it was cut after 1 seconds (limits.downloads.seconds)" in said
        assert endless.cut.wait(20)
    assert kept_in(tmp_path) == []


async def test_a_download_that_still_goes_on_is_waited_for_before_it_is_read(
    page: Page, endless: Endless, tmp_path: Path
) -> None:
    limits = DownloadLimits(seconds=3)
    async with attach(page, SETTINGS, ImageLimits(), downloads=tmp_path, download_limits=limits) as browser:
        await browser.open(endless.address)
        seen = await browser.observe()
        outcome = await browser.act(Click(target=number(seen, "Get")), seen)
        await told(browser, lambda all: "endless.bin" in all, outcome)
        outcome = await browser.act(Read(what="download"), await browser.observe())
    assert outcome.sentence == (
        'The latest cannot be read: the download "endless.bin" was not kept: it was cut after 3 seconds '
        "(limits.downloads.seconds). None was kept before it."
    )


async def test_the_names_of_downloads_are_told_once_one_has_come_that_begins_a_moment_later(
    page: Page, tmp_path: Path
) -> None:
    (tmp_path / "earlier.txt").touch()
    async with attach(page, SETTINGS, ImageLimits(), downloads=tmp_path) as browser:
        await page.set_content("<a download=a.txt href='data:text/plain,x'>Get</a>")
        await page.evaluate("setTimeout(() => document.querySelector('a').click(), 300)")
        assert await browser.downloads(lambda names: "a.txt" in names, within_s=10) == ("earlier.txt", "a.txt")
        assert await browser.downloads(lambda names: "b.txt" in names, within_s=0.1) == ("earlier.txt", "a.txt")


NAMES = ("a.txt", "b.PDF", "c.txt")
FILES = "".join(f"<a download={name} href='data:text/plain,{'x' * 600}'>{name}</a> " for name in NAMES)


@pytest.mark.parametrize(
    ("limits", "kept", "sentence"),
    [
        (DownloadLimits(count=1), ["a.txt"], '"b.PDF" was refused: the limit on downloads (1) is reached'),
        (DownloadLimits(types=("pdf",)), ["b.PDF"], '"a.txt" was refused: its name ends in "txt", allowed are pdf'),
        (DownloadLimits(bytes_each=500), [], '"a.txt" was not kept: it has more than 500 bytes'),
        (DownloadLimits(total_bytes=1_000), ["a.txt"], '"b.PDF" was not kept: with it, downloads have more than 1000'),
        (DownloadLimits(count=0), [], '"a.txt" was refused: the limit on downloads (0) is reached'),
    ],
)
async def test_a_download_beyond_a_limit_is_refused_with_the_limit_and_those_before_are_kept(
    on: On, tmp_path: Path, limits: DownloadLimits, kept: list[str], sentence: str
) -> None:
    async with on(FILES, downloads=tmp_path / "kept", download_limits=limits) as hand:
        said = ""
        for name in NAMES:
            outcome = await hand.act(Click(target=hand.number(name)))
            ends = (f'"{name}" was', f'"kept/{name}" was kept')
            said += await told(hand.browser, lambda all, ends=ends: any(each in all for each in ends), outcome)  # type: ignore[misc]
            await hand.look()
        assert sentence in said
    assert kept_in(tmp_path / "kept") == kept


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "latin-1"])
@pytest.mark.parametrize("before", [(1 << 20) - 3, 0, (1 << 21) + 7])
def test_a_secret_anywhere_in_a_large_file_is_found(tmp_path: Path, encoding: str, before: int) -> None:
    file = tmp_path / "file"
    file.write_bytes(("." * before + "hunter2-Ä" + "." * 3_000_000).encode(encoding))

    def redact(text: str) -> str:
        return text.replace("hunter2-Ä", "<secret:pw>")

    assert _holds_secret(file, redact)
    assert not _holds_secret(file, str)


SECRET = "Kumquat-Zeppelin9137"
HIDDEN = {
    **{f"{name} without a mark": SECRET.encode(name) for name in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")},
    "utf-32 with a mark": SECRET.encode("utf-32"),
    "after two megabytes": ("word " * 420_000 + SECRET).encode("utf-16-be"),
    "tags": "".join(f"<b class=x>{letter}</b>" for letter in SECRET).encode(),
    "line breaks": "<br>".join(SECRET).encode(),
    "tags in utf-16": "".join(f"<b>{letter}</b>" for letter in SECRET).encode("utf-16-be"),
    "an array": json.dumps([*SECRET], indent=2).encode(),
}


@pytest.mark.parametrize("content", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_secret_in_another_encoding_or_between_tags_is_found(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    assert _holds_secret(file, Redactor((Secret(name="pw", value=SecretStr(SECRET)),)))
    assert not _holds_secret(file, Redactor((Secret(name="pw", value=SecretStr("Mango-Airship4711")),)))

"""Claims about finding, starting and connecting to a browser, with the browser that is there."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright

from vision_agent.browser.launch.launch import candidates, launch_browser, open_context, start_first_browser
from vision_agent.errors import BrowserUnavailable, UsageError
from vision_agent.geometry import Size
from vision_agent.settings import BrowserSettings, ProxySettings


async def test_a_served_page_opens_on_two_sites(page: Page, serve) -> None:
    address = serve({"/": "<title>hello</title>"}, headers={"X-Said": "yes"})
    response = await page.goto(address)
    assert response is not None
    assert response.headers["x-said"] == "yes"
    await page.goto(address.replace("127.0.0.1", "localhost"))
    assert await page.title() == "hello"


async def test_the_description_names_the_browser_its_version_and_its_sandbox() -> None:
    async with launch_browser(BrowserSettings()) as found:
        assert found.browser.version in found.description
        is_root = sys.platform == "linux" and os.geteuid() == 0
        assert ("sandbox off (running as root)" if is_root else "sandbox o") in found.description


async def test_the_context_is_as_the_settings_want_it(tmp_path: Path, serve) -> None:
    address = serve({"/": "<p>hi"})
    cookie = {"name": "seen", "value": "yes", "domain": "127.0.0.1", "path": "/"}
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"cookies": [cookie], "origins": []}))
    settings = BrowserSettings(
        viewport=Size(width=700, height=500),
        device_ratio=2,
        locale="de-DE",
        timezone="Asia/Tokyo",
        storage_state=state,
    )
    async with launch_browser(settings) as found:
        page = await found.context.new_page()
        await page.goto(address)
        said = await page.evaluate(
            "[innerWidth, innerHeight, devicePixelRatio, navigator.language, document.cookie,"
            " Intl.DateTimeFormat().resolvedOptions().timeZone]"
        )
    assert said == [700, 500, 2, "de-DE", "seen=yes", "Asia/Tokyo"]


async def test_a_device_brings_its_own_viewport_and_touch() -> None:
    async with launch_browser(BrowserSettings(device="Pixel 7")) as found:
        page = await found.context.new_page()
        assert await page.evaluate("[screen.width, devicePixelRatio > 2, navigator.maxTouchPoints > 0]") == [
            412,
            True,
            True,
        ]


async def test_a_misspelt_device_is_answered_with_the_near_ones() -> None:
    with pytest.raises(UsageError, match=r"'Pixle 7'.*Pixel 7"):
        await _open(BrowserSettings(device="Pixle 7"))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (BrowserSettings(storage_state=Path("/nowhere/state.json")), "/nowhere/state.json is not a file"),
        (BrowserSettings(locale="no such place!"), "locale"),
        (BrowserSettings(timezone="Mars/Olympus"), "Mars/Olympus"),
    ],
)
async def test_a_setting_that_cannot_be_is_a_usage_error(settings: BrowserSettings, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        await _open(settings)


async def test_requests_go_through_the_proxy() -> None:
    asked: asyncio.Queue[bytes] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked.put(await reader.readline())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as proxy:
        server = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        async with launch_browser(BrowserSettings(proxy=ProxySettings(server=server))) as found:
            page = await found.context.new_page()
            await page.goto("http://shop.example/")
            assert await page.text_content("body") == "hi"
    assert asked.get_nowait() == b"GET http://shop.example/ HTTP/1.1\r\n"


@pytest.mark.thorough
async def test_a_browser_left_alone_asks_nobody_anything() -> None:
    asked = asyncio.Event()

    async def hear(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        writer.close()

    async with await asyncio.start_server(hear, "127.0.0.1", 0) as proxy:
        server = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        async with launch_browser(BrowserSettings(args=(f"--proxy-server={server}",))) as found:
            page = await found.context.new_page()
            await page.set_content("<input type=email><input type=password>")
            # Without our arguments the first request comes within this time.
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asked.wait(), 30)


async def test_a_named_browser_that_is_absent_is_not_replaced_by_another() -> None:
    with pytest.raises(BrowserUnavailable, match=r"no file /nowhere/chrome.*vision-agent setup"):
        await _open(BrowserSettings(executable_path=Path("/nowhere/chrome")))


@pytest.mark.skipif(os.name != "posix", reason="an executable that is no browser, by its POSIX name")
async def test_a_program_that_is_no_browser_is_said_to_have_failed() -> None:
    with pytest.raises(BrowserUnavailable, match="the configured path"):
        await _open(BrowserSettings(executable_path=Path("/bin/false")))


def test_browsers_are_tried_from_the_one_we_know_best_to_the_ones_on_the_path() -> None:
    found = [candidate.found for candidate in candidates(BrowserSettings())]
    assert found[:3] == ["Playwright's own build", "installed Chrome", "installed Edge"]
    assert all(name.endswith("on the PATH") for name in found[3:])


def test_a_headless_chromium_comes_first_on_the_path_unless_a_window_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chromium", "chromium-headless-shell"):
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = [candidate.found for candidate in candidates(BrowserSettings())]
    assert found[3:] == ["chromium-headless-shell on the PATH", "chromium on the PATH"]
    found = [candidate.found for candidate in candidates(BrowserSettings(headless=False))]
    assert found[3:] == ["chromium on the PATH"]


@pytest.mark.thorough
async def test_a_connection_leaves_the_browser_and_its_pages_as_they_are() -> None:
    port = _free_port()
    async with launch_browser(BrowserSettings(args=(f"--remote-debugging-port={port}",))):
        theirs = BrowserSettings(cdp_url=f"http://127.0.0.1:{port}")
        async with launch_browser(theirs) as found:
            page = await found.context.new_page()
            await page.set_content("<title>kept</title>")
        async with launch_browser(theirs) as again:
            assert "kept" in [await page.title() for page in again.context.pages]


async def test_an_address_where_nothing_listens_is_named_without_its_secrets(closed_port: int) -> None:
    address = f"http://127.0.0.1:{closed_port}/?token=hunter2"
    with pytest.raises(BrowserUnavailable) as caught:
        await _open(BrowserSettings(cdp_url=address))
    assert f"http://127.0.0.1:{closed_port} cannot be reached" in str(caught.value)
    assert f"--remote-debugging-port={closed_port} and --user-data-dir=FOLDER" in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_what_a_running_browser_cannot_take_is_refused(closed_port: int) -> None:
    with pytest.raises(UsageError, match="locale cannot be set on a browser that is already running"):
        await _open(BrowserSettings(cdp_url=f"http://127.0.0.1:{closed_port}", locale="de-DE"))


async def _open(settings: BrowserSettings) -> None:
    async with launch_browser(settings) as found:
        await found.context.new_page()


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signal")
async def test_a_browser_that_ends_before_a_page_opens_is_not_said_to_reject_settings() -> None:
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, BrowserSettings())
        session = await started.browser.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        os.kill(next(each["id"] for each in processes if each["type"] == "browser"), signal.SIGKILL)
        with pytest.raises(BrowserUnavailable, match="ended as it was about to open a page"):
            await open_context(started, {})

"""Claims about a browser that we launch where hosts are limited: nothing reaches a host that is not allowed."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext, Page, async_playwright
from playwright.async_api import Error as PlaywrightError
from pydantic import SecretStr
from reaching import Foreign, Home, each_way, skip_where_it_cannot_be_tried

from tests.conftest import desktop_chromium
from vision_agent.browser import live
from vision_agent.browser.launch.launch import launch_browser, start_first_browser
from vision_agent.browser.network.filtering_proxy import proxied_settings
from vision_agent.browser.network.host_policy import Gate, policy_for
from vision_agent.errors import UsageError
from vision_agent.settings import BrowserSettings, ObserveSettings, ProxySettings
from vision_agent.vision.image_limits import ImageLimits

NEVER_ASKED = ("WebRTC over UDP", "WebRTC to a number", "WebTransport", "a speculative prefetch")
"""Ways that Chromium gives up by itself where there is a proxy; the others ask it for a connection."""


@pytest.fixture(scope="session")
async def open_wide(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[BrowserContext]:
    """A profile without a gate. A profile preconnects and fetches manifests; a mere context does neither."""
    async with _profile(BrowserSettings(), tmp_path_factory.mktemp("wide")) as context:
        yield context


@pytest.fixture(scope="session")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Gate, BrowserContext]]:
    """A profile behind a gate, and the gate."""
    gate = Gate(policy_for(["127.0.0.1", "*.localhost"]))
    async with (
        proxied_settings(BrowserSettings(), gate) as settings,
        _profile(settings, tmp_path_factory.mktemp("limited")) as context,
    ):
        yield gate, context


@pytest.mark.parametrize("way", each_way())
async def test_a_foreign_server_is_reached_where_hosts_are_not_limited(open_wide: BrowserContext, way: str) -> None:
    skip_where_it_cannot_be_tried(way)
    async with Foreign() as foreign, Home(foreign.port) as home, _page(open_wide) as page:
        await _go(page, home.page(way))
        async with asyncio.timeout(120):
            await foreign.came.wait()


@pytest.mark.parametrize("way", each_way())
async def test_a_foreign_server_is_not_reached_by(limited: tuple[Gate, BrowserContext], way: str) -> None:
    skip_where_it_cannot_be_tried(way)
    gate, context = limited
    async with Foreign() as foreign, Home(foreign.port) as home, _page(context) as page:
        told = _told(gate)
        await _go(page, home.page(way))
        if way in NEVER_ASKED:
            if way != "a speculative prefetch":
                await page.wait_for_function("document.title === 'over'")
            await _go(page, home.page("a picture"))
        async with asyncio.timeout(120):
            await told.get()
        await _go(page, home.address)  # whatever else was under way
    assert foreign.reached == []


async def test_what_is_denied_is_not_reached_though_all_else_is() -> None:
    gate = Gate(policy_for(None, ["localhost"]))
    async with AsyncExitStack() as stack:
        foreign = await stack.enter_async_context(Foreign())
        home = await stack.enter_async_context(Home(foreign.port))
        settings = await stack.enter_async_context(proxied_settings(BrowserSettings(), gate))
        found = await stack.enter_async_context(launch_browser(settings))
        page = await found.context.new_page()
        for way in ("a picture", "a web socket", "a worker", "a redirect"):
            told = _told(gate)
            await _go(page, home.page(way))
            async with asyncio.timeout(120):
                said = f"a request to localhost:{foreign.port} was blocked: its host is denied"
                assert await told.get() == said
        assert foreign.reached == []
        await page.goto(home.address.replace("127.0.0.1", "other.localhost"))
        assert await page.text_content("body") == "Nothing here"


async def test_no_name_of_a_foreign_host_is_even_looked_up(serve: Any, tmp_path: Path) -> None:
    home = serve(
        {"/": "<link rel=dns-prefetch href=//a.foreign.test><link rel=preconnect href=//b.foreign.test>"
              "<img src=//c.foreign.test/>", "/favicon.ico": b""}
    )  # fmt: skip
    wide = BrowserSettings(args=(f"--log-net-log={tmp_path / 'wide.json'}",))
    narrow = BrowserSettings(args=(f"--log-net-log={tmp_path / 'narrow.json'}",))
    await _see_pictures_fail(home, wide)
    async with proxied_settings(narrow, Gate(policy_for(["127.0.0.1"]))) as settings:
        await _see_pictures_fail(home, settings)
    assert "c.foreign.test" in _looked_up(tmp_path / "wide.json")
    assert "foreign.test" not in _looked_up(tmp_path / "narrow.json")


async def _see_pictures_fail(address: str, settings: BrowserSettings) -> None:
    async with launch_browser(settings) as found:
        page = await found.context.new_page()
        async with page.expect_event("requestfailed"):
            await page.goto(address)


def _looked_up(log: Path) -> str:
    """What Chromium's own log of its network says of names that were looked up."""
    said = json.loads(log.read_text("utf-8"))
    kinds = {number: name for name, number in said["constants"]["logEventTypes"].items()}
    jobs = [each for each in said["events"] if kinds[each["type"]].startswith(("HOST_RESOLVER", "DNS_"))]
    assert jobs
    return json.dumps(jobs)


async def test_an_address_that_leads_to_a_foreign_host_cannot_be_begun_with_and_the_reason_is_said() -> None:
    gate = Gate(policy_for(["127.0.0.1"]))
    async with (
        Foreign() as foreign,
        Home(foreign.port) as home,
        proxied_settings(BrowserSettings(), gate) as settings,
        launch_browser(settings) as found,
        live.attach(await found.context.new_page(), ObserveSettings(), ImageLimits(), gate=gate) as browser,
    ):
        await browser.open(home.address)
        with pytest.raises(UsageError, match="was not opened: its host is not among"):
            await browser.open(f"http://localhost:{foreign.port}/")
        with pytest.raises(UsageError, match=r"a request to localhost:\d+ was blocked: .* \(127\.0\.0\.1\)"):
            await browser.open(f"{home.address}/redirect?http://localhost:{foreign.port}/")
    assert foreign.reached == []


async def test_sockets_and_streams_pass_unchanged_to_a_host_that_is_allowed() -> None:
    said: asyncio.Queue[bytes] = asyncio.Queue()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await said.put(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Odd:  as it is \r\n\r\n")
        writer.write(b"x" * 3_000_000)
        await writer.drain()
        writer.close()

    async with (
        await asyncio.start_server(echo, "127.0.0.1", 0) as server,
        proxied_settings(BrowserSettings(), Gate(policy_for(["app.localhost"]))) as settings,
        launch_browser(settings) as found,
    ):
        page = await found.context.new_page()
        port = server.sockets[0].getsockname()[1]
        await page.goto(f"http://app.localhost:{port}/a")
        assert len(await page.text_content("body") or "") == 3_000_000
        assert (await said.get()).startswith(f"GET /a HTTP/1.1\r\nHost: app.localhost:{port}\r\n".encode())


@pytest.mark.parametrize("bypass", ["", "other.test, .localhost"])
async def test_the_persons_own_proxy_is_asked_with_its_password_for_all_but_what_it_is_not_for(bypass: str) -> None:
    asked: list[str] = []
    async with Foreign() as foreign, Home(foreign.port) as home, _http_proxy("ada:s3:cret", asked) as server:
        theirs = ProxySettings(server=server, username="ada", password=SecretStr("s3:cret"), bypass=bypass)
        gate = Gate(policy_for(["127.0.0.1", "other.localhost"]))
        async with proxied_settings(BrowserSettings(proxy=theirs), gate) as settings, launch_browser(settings) as found:
            page = await found.context.new_page()
            told = _told(gate)
            await page.goto(home.page("a web socket"))
            async with asyncio.timeout(120):
                await told.get()
            await page.goto(home.address.replace("127.0.0.1", "other.localhost"))
    assert foreign.reached == []
    port = home.address.rpartition(":")[2]
    assert set(asked) == {f"127.0.0.1:{port}", *([] if bypass else [f"other.localhost:{port}"])}


async def test_a_host_that_is_allowed_and_not_there_is_said_to_be_unreachable(closed_port: int) -> None:
    gate = Gate(policy_for(["127.0.0.1"]))
    told = _told(gate)
    async with proxied_settings(BrowserSettings(), gate) as settings, launch_browser(settings) as found:
        page = await found.context.new_page()
        with pytest.raises(PlaywrightError, match="ERR_SOCKS_CONNECTION_FAILED"):
            await page.goto(f"http://127.0.0.1:{closed_port}/")
    assert told.empty()


@pytest.mark.parametrize(
    "spoken", [b"GET / HTTP/1.1\r\n\r\n", b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00", b"\x05\x01\x00\x05\x02\x00\x01", b""]
)
async def test_what_does_not_speak_as_the_browser_does_gets_nowhere(spoken: bytes) -> None:
    async with Foreign() as foreign, proxied_settings(BrowserSettings(), Gate(policy_for(["127.0.0.1"]))) as settings:
        assert settings.proxy is not None
        port = int(settings.proxy.server.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        rest = b"\x7f\x00\x00\x01" + foreign.port.to_bytes(2) if spoken[:1] == b"\x05" else b""
        writer.write(spoken + rest)
        writer.write_eof()
        async with asyncio.timeout(120):
            answered = await reader.read()
        writer.close()
    assert answered in (b"", b"\x05\x00\x05\x07\x00\x01" + bytes(6))
    assert foreign.reached == []


@pytest.mark.parametrize("argument", ["--proxy-server=direct://", "--no-proxy-server", "--host-resolver-rules=MAP a b"])
async def test_an_argument_that_leads_round_the_gate_is_a_usage_error(argument: str) -> None:
    with pytest.raises(UsageError, match=argument.partition("=")[0]):
        await _opened(BrowserSettings(args=(argument,)))


@pytest.mark.parametrize("server", ["https://proxy.test:3128", "ftp://proxy.test", "http://:80"])
async def test_a_proxy_that_cannot_be_the_next_one_is_a_usage_error(server: str) -> None:
    with pytest.raises(UsageError, match="behind this proxy"):
        await _opened(BrowserSettings(proxy=ProxySettings(server=server)))


async def _opened(settings: BrowserSettings) -> None:
    async with proxied_settings(settings, Gate(policy_for([]))):
        pass


@asynccontextmanager
async def _profile(settings: BrowserSettings, folder: Path) -> AsyncIterator[BrowserContext]:
    """A browser with a profile of its own, started as the settings of the gate want it."""
    async with async_playwright() as playwright:
        started = await start_first_browser(playwright, desktop_chromium())
        await started.browser.close()
        context = await playwright.chromium.launch_persistent_context(
            folder,
            executable_path=started.candidate.executable,
            channel=started.candidate.channel,
            chromium_sandbox=started.is_sandboxed,
            args=settings.args,
            proxy={"server": settings.proxy.server} if settings.proxy else None,
        )
        yield context
        await context.close()


@asynccontextmanager
async def _page(context: BrowserContext) -> AsyncIterator[Page]:
    page = await context.new_page()
    yield page
    for each in context.pages[1:]:  # popups too; the first is the profile's own
        await each.close()


async def _go(page: Page, url: str) -> None:
    # A way may lead on at once, and end in an error or a download.
    with suppress(PlaywrightError):
        await page.goto(url)


def _told(gate: Gate) -> asyncio.Queue[str]:
    """What the gate tells from now on."""
    told: asyncio.Queue[str] = asyncio.Queue()
    gate.report = told.put_nowait
    return told


@asynccontextmanager
async def _http_proxy(user: str, asked: list[str]) -> AsyncIterator[str]:
    """A proxy as companies have them: it opens tunnels for those who know the password."""
    wanted = b"Proxy-Authorization: Basic " + base64.b64encode(user.encode())

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(maxsplit=2)
        if method != b"CONNECT" or wanted not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            writer.close()
            return
        asked.append(target.decode())
        host, _, port = target.decode().rpartition(":")
        far_reader, far_writer = await asyncio.open_connection(host.removeprefix("other."), int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")

        async def pass_on(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while data := await source.read(4096):
                    sink.write(data)
            sink.close()

        await asyncio.gather(pass_on(reader, far_writer), pass_on(far_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()

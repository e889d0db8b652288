"""The proxy on loopback through which a browser that we launch must go where hosts are limited.

It speaks SOCKS 5: for each connection Chromium names a host and a port, and whatever follows passes unread and
unchanged. Redirects, workers of every kind, sockets, beacons and preconnects all need a connection first; without the
proxy there is none to be had, not even an address for a name. Knows hosts, and nothing of pages.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatch
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import quote, urlsplit

from python_socks import ProxyError
from python_socks.async_.asyncio import Proxy

from vision_agent.browser.gate import Gate
from vision_agent.errors import UsageError
from vision_agent.settings import BrowserSettings, ProxySettings

_HELLO_S = 10
_CONNECT_S = 30
_CHUNK = 1 << 16
_PORTS = {"http": 80, "socks4": 1080, "socks5": 1080}

_DONE, _FAILED, _NOT_ALLOWED, _UNKNOWN_COMMAND = 0, 1, 2, 7

_RULES = (
    # What went round the proxy would find no host. Only the proxy's own is found.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # WebRTC asks addresses that need no name.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_GO_ROUND = re.compile(r"--(no-)?proxy-|--host-(resolver-)?rules|--(force-)?webrtc-ip-")
"""Arguments that would open another way out."""


@asynccontextmanager
async def gated(settings: BrowserSettings, gate: Gate) -> AsyncIterator[BrowserSettings]:
    """The settings of a browser that reaches what the gate lets through and nothing else, as long as this lasts.

    A proxy in the settings is the next one on the way.

    Raises:
        UsageError: the settings would lead round the gate, or name a proxy that cannot be the next one.
    """
    if around := [each for each in settings.args if _GO_ROUND.match(each)]:
        raise UsageError(f"{around[0].partition('=')[0]} would lead round the allowed hosts", "leave one of them out")
    upstream = _Upstream(settings.proxy) if settings.proxy is not None else None
    tunnels: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tunnels.add(task)
        try:
            await _tunnel(reader, writer, gate, upstream)
        finally:
            tunnels.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        here = ProxySettings(server=f"socks5://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        yield settings.model_copy(update={"proxy": here, "args": (*settings.args, *_RULES)})
    finally:
        server.close()
        for task in tunnels:
            task.cancel()
        await asyncio.gather(*tunnels, return_exceptions=True)


class _Upstream:
    """The proxy that the person's network wants to be asked."""

    def __init__(self, settings: ProxySettings) -> None:
        parts = urlsplit(settings.server if "://" in settings.server else f"http://{settings.server}")
        user = ""
        if settings.username is not None:
            password = settings.password.get_secret_value() if settings.password is not None else ""
            user = f"{quote(settings.username, safe='')}:{quote(password, safe='')}@"
        try:
            host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
            self._proxy = Proxy.from_url(
                f"{parts.scheme}://{user}{host}:{parts.port or _PORTS[parts.scheme]}", rdns=True
            )
        except (ValueError, KeyError) as error:
            raise UsageError(
                "Hosts cannot be limited behind this proxy", "it must be of the form http://host:port or socks5://…"
            ) from error
        self._not_for = re.split(r"[\s,;]+", settings.bypass or "")

    def is_for(self, host: str) -> bool:
        """Whether a host is asked through it."""
        return not any(fnmatch(host, f"*{each}" if each.startswith(".") else each) for each in self._not_for)

    async def connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A way to the host that leads through it."""
        return await asyncio.open_connection(sock=await self._proxy.connect(host, port))


async def _tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gate: Gate, upstream: _Upstream | None
) -> None:
    """Serves one connection of the browser, from its greeting until one side is done."""
    # Either side may go away at any time; a connection that broke off is for the page to notice.
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ProxyError):
        async with asyncio.timeout(_HELLO_S):
            asked = await _asked_for(reader, writer)
        if asked is None:
            return
        host, port = asked
        if not gate.lets(host):
            await _answer(writer, _NOT_ALLOWED)
            return
        host = host.strip("[]")
        try:
            async with asyncio.timeout(_CONNECT_S):
                if upstream is not None and upstream.is_for(host):
                    far_reader, far_writer = await upstream.connect(host, port)
                else:
                    # Browsers take all that is called so for this machine; a resolver need not know of it.
                    here = "localhost" if host.endswith(".localhost") else host
                    far_reader, far_writer = await asyncio.open_connection(here, port)
        except (OSError, TimeoutError, ProxyError):
            await _answer(writer, _FAILED)
            return
        try:
            await _answer(writer, _DONE)
            await asyncio.gather(_pass_on(reader, far_writer), _pass_on(far_reader, writer))
        finally:
            far_writer.close()


async def _asked_for(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int] | None:
    """The host and the port that the browser wants to reach; nothing where it does not speak as it should."""
    version, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    if version != 5:
        return None
    writer.write(b"\x05\x00")  # no name or password is asked for
    _, command, _, kind = await reader.readexactly(4)
    match kind:
        case 1:
            host = str(IPv4Address(await reader.readexactly(4)))
        case 4:
            host = f"[{IPv6Address(await reader.readexactly(16))}]"
        case _:
            length = (await reader.readexactly(1))[0]
            host = (await reader.readexactly(length)).decode("ascii", "replace")
            host = f"[{host}]" if ":" in host else host
    port = int.from_bytes(await reader.readexactly(2))
    if command != 1:
        await _answer(writer, _UNKNOWN_COMMAND)
        return None
    return host, port


async def _answer(writer: asyncio.StreamWriter, how: int) -> None:
    writer.write(bytes([5, how, 0, 1, 0, 0, 0, 0, 0, 0]))
    await writer.drain()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Everything that one side says goes to the other, the end of it too."""
    with suppress(OSError):  # a side that broke off has said all it will say
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.write_eof()

"""A SOCKS 5 proxy on loopback that limits which hosts a browser that we launch can reach.

Chromium names a host and a port for each connection; everything after that passes unread and unchanged. Redirects,
workers of every kind, sockets, beacons and preconnects all need a connection first, and without the proxy there is no
connection, not even name resolution. Knows hosts, not pages.
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

from vision_agent.browser.network.host_policy import Gate
from vision_agent.errors import UsageError
from vision_agent.settings import BrowserSettings, ProxySettings

_HELLO_S = 10
_CONNECT_S = 30
_CHUNK = 1 << 16
_PORTS = {"http": 80, "socks4": 1080, "socks5": 1080}

_DONE, _FAILED, _NOT_ALLOWED, _UNKNOWN_COMMAND = 0, 1, 2, 7

_RULES = (
    # Requests that bypass the proxy resolve no host; only the proxy's own address is excluded.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # WebRTC connects to IP addresses, without names.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_BYPASSES = re.compile(r"--(no-)?proxy-|--host-(resolver-)?rules|--(force-)?webrtc-ip-")
"""Browser arguments that would bypass the proxy."""


@asynccontextmanager
async def proxied_settings(settings: BrowserSettings, gate: Gate) -> AsyncIterator[BrowserSettings]:
    """Runs the proxy, and yields browser settings with which only hosts that the gate allows are reachable.

    A proxy in the settings becomes the upstream proxy.

    Raises:
        UsageError: the settings would bypass the gate, or name a proxy that cannot be the upstream.
    """
    if around := [each for each in settings.args if _BYPASSES.match(each)]:
        raise UsageError(f"{around[0].partition('=')[0]} would bypass the allowed hosts", "leave one of the two out")
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
    """The upstream proxy that the person's network requires."""

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
        self._bypassed_hosts = re.split(r"[\s,;]+", settings.bypass or "")

    def covers(self, host: str) -> bool:
        """Whether connections to a host go through it."""
        return not any(fnmatch(host, f"*{each}" if each.startswith(".") else each) for each in self._bypassed_hosts)

    async def connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connects to a host through it."""
        return await asyncio.open_connection(sock=await self._proxy.connect(host, port))


async def _tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, gate: Gate, upstream: _Upstream | None
) -> None:
    """Serves one connection of the browser, from the greeting until both sides are done."""
    # Either side may disconnect at any time; the page notices a broken connection itself.
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ProxyError):
        async with asyncio.timeout(_HELLO_S):
            asked = await _read_request(reader, writer)
        if asked is None:
            return
        host, port = asked
        if not gate.allows(host, port):
            await _reply(writer, _NOT_ALLOWED)
            return
        host = host.strip("[]")
        try:
            async with asyncio.timeout(_CONNECT_S):
                if upstream is not None and upstream.covers(host):
                    far_reader, far_writer = await upstream.connect(host, port)
                else:
                    # Browsers map every *.localhost name to this machine; a resolver need not know them.
                    here = "localhost" if host.endswith(".localhost") else host
                    far_reader, far_writer = await asyncio.open_connection(here, port)
        except (OSError, TimeoutError, ProxyError):
            await _reply(writer, _FAILED)
            return
        try:
            await _reply(writer, _DONE)
            await asyncio.gather(_forward(reader, far_writer), _forward(far_reader, writer))
        finally:
            far_writer.close()


async def _read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int] | None:
    """Reads the host and port that the browser wants to reach; None on a protocol error."""
    version, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    if version != 5:
        return None
    writer.write(b"\x05\x00")  # no authentication
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
        await _reply(writer, _UNKNOWN_COMMAND)
        return None
    return host, port


async def _reply(writer: asyncio.StreamWriter, how: int) -> None:
    writer.write(bytes([5, how, 0, 1, 0, 0, 0, 0, 0, 0]))
    await writer.drain()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Forwards everything from one side to the other, including the end of the stream."""
    with suppress(OSError):  # a broken connection has nothing more to forward
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.write_eof()

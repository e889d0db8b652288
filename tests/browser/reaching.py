"""Every way in which a page is known to reach for another server, and the two servers: its own and the foreign one.

`WAYS` holds a page for each. AWAY stands for an address of the foreign server, which counts connections and datagrams,
not only requests: a connection that says nothing has reached it too.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FETCH = "fetch('AWAY', {mode: 'no-cors'});"
SOCKET = "new WebSocket('AWAY'.replace('http', 'ws')).onclose = () => fetch('/over');"
GATHER = """const rtc = new RTCPeerConnection({iceServers: [%s]}); rtc.createDataChannel('x');
    rtc.onicecandidate = () => document.title = 'over';
    rtc.createOffer().then(offer => rtc.setLocalDescription(offer));"""

_SCRIPTS = {
    "a navigation": "location = 'AWAY'",
    "a redirect": "location = '/redirect?AWAY'",
    "a redirect after another": "location = '/redirect?/redirect?AWAY'",
    "a script of the next page": "location = '/navigate'",
    "a fetch": FETCH,
    "a redirected fetch": "fetch('/redirect?AWAY', {mode: 'no-cors'})",
    "a fetch that outlives its page": "onpagehide = () => fetch('AWAY', {mode: 'no-cors', keepalive: true});"
    "location = '/blank'",
    "an XMLHttpRequest": "const request = new XMLHttpRequest(); request.open('GET', 'AWAY'); request.send()",
    "a beacon": "navigator.sendBeacon('AWAY', 'x')",
    "a beacon that outlives its page": "onpagehide = () => navigator.sendBeacon('AWAY', 'x'); location = '/blank'",
    "an event source": "new EventSource('AWAY')",
    "a web socket": SOCKET,
    "a web socket over TLS": SOCKET.replace("'ws'", "'wss'"),
    "a popup": "open('AWAY')",
    "a popup without an opener": "open('AWAY', '', 'noopener')",
    "a popup's redirect": "open('/redirect?AWAY')",
    "a popup's picture": "open('/picture')",
    "a popup's web socket": "open('/socket')",
    "a picture in a blank popup": "open('about:blank').document.write('<img src=AWAY>')",
    "a worker": "new Worker('/fetch.js')",
    "a worker's script": "new Worker('/import.js')",
    "a worker's web socket": "new Worker('/socket.js')",
    "a worker's worker": "new Worker('/nested.js')",
    "a worker made of text": "new Worker(URL.createObjectURL(new Blob([`" + FETCH + "`])))",
    "a shared worker": "new SharedWorker('/fetch.js')",
    "a shared worker's script": "new SharedWorker('/import.js')",
    "a shared worker's web socket": "new SharedWorker('/socket.js')",
    "a service worker": "navigator.serviceWorker.register('/fetch.js')",
    "a service worker's script": "navigator.serviceWorker.register('/import.js')",
    "a service worker's web socket": "navigator.serviceWorker.register('/socket.js')",
    "a service worker's answer": "navigator.serviceWorker.oncontrollerchange = () => fetch('/anything');"
    "navigator.serviceWorker.register('/answer.js')",
    "WebRTC over UDP": GATHER % "{urls: 'stun:HOST'}",
    "WebRTC to a number": GATHER % "{urls: 'stun:127.0.0.1:AWAY_PORT'}",
    "WebRTC over TCP": GATHER % "{urls: 'turn:HOST?transport=tcp', username: 'a', credential: 'b'}",
    "WebTransport": "new WebTransport('https://127.0.0.1:AWAY_PORT').ready.catch(() => document.title = 'over')",
}

WAYS = {
    **{way: f"<script>{script}</script>" for way, script in _SCRIPTS.items()},
    "a meta refresh": "<meta http-equiv=refresh content='0;url=AWAY'>",
    "a form": "<form method=post action=AWAY><input name=a value=b></form><script>document.forms[0].submit()</script>",
    "a download": "<a download href=AWAY>x</a><script>document.links[0].click()</script>",
    "a redirected download": "<a download href='/redirect?AWAY'>x</a><script>document.links[0].click()</script>",
    "a ping": "<a ping=AWAY href=#x>x</a><script>document.links[0].click()</script>",
    "a picture": "<img src=AWAY>",
    "a redirected picture": "<img src='/redirect?AWAY'>",
    "a script": "<script src=AWAY></script>",
    "a module": "<script type=module>import 'AWAY'</script>",
    "a style sheet": "<link rel=stylesheet href=AWAY>",
    "a style sheet's import": "<style>@import 'AWAY';</style>",
    "a font": "<style>@font-face {font-family: x; src: url(AWAY)} p {font-family: x}</style><p>x",
    "a video": "<video src=AWAY></video>",
    "an object": "<object data=AWAY></object>",
    "a favicon": "<link rel=icon href=AWAY>",
    "a manifest": "<link rel=manifest href=AWAY>",
    "a frame": "<iframe src=AWAY></iframe>",
    "a redirected frame": "<iframe src='/redirect?AWAY'></iframe>",
    "a frame's picture": "<iframe srcdoc='<img src=AWAY>'></iframe>",
    "a frame of another site": "<iframe src='http://other.localhost:PORT/fetch'></iframe>",
    "a web socket in a frame of another site": "<iframe src='http://other.localhost:PORT/socket'></iframe>",
    "a preconnect": "<link rel=preconnect href=AWAY>",
    "a header that preconnects": "",
    "a prefetch": "<link rel=prefetch href=AWAY>",
    "a preload": "<link rel=preload as=image href=AWAY>",
    "a header that preloads": "",
    "a module's preload": "<link rel=modulepreload href=AWAY>",
    "a speculative prefetch": """<script type=speculationrules>
        {"prefetch": [{"urls": ["AWAY"], "eagerness": "immediate"}]}</script>""",
    "a policy's report": "<img src=data:,>",
}
"""By its name; each alone on a page of its own."""

_SAMPLE = {
    *("a navigation", "a redirect after another", "a form", "a popup", "a frame", "a picture", "a fetch", "a beacon"),
    *("a web socket", "a worker", "a worker's web socket", "a shared worker", "a service worker", "WebRTC over UDP"),
    *("a preconnect", "a preload"),
}


def each_way(*, but: Collection[str] = ()) -> list[ParameterSet]:
    """The ways as parameters of a test, most of them for the thorough suite only."""
    return [pytest.param(way, marks=() if way in _SAMPLE else pytest.mark.thorough) for way in WAYS if way not in but]


def skip_where_it_cannot_be_tried(way: str) -> None:
    """Skip WebRTC where there is no network but loopback: it finds no address there and never ends its search."""
    if way.startswith("WebRTC") and not _has_a_network():
        pytest.skip("this machine has no network interface but loopback, so WebRTC finds no address to send from")


def _has_a_network() -> bool:
    """Whether there is a way out of this machine. Nothing is sent: a datagram socket only looks up its route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address kept for documentation (RFC 5737)
        except OSError:
            return False
    return True


_PAGES = {
    "/navigate": "<script>location = 'AWAY'</script>",
    "/fetch": f"<script>{FETCH}</script>",
    "/socket": f"<script>{SOCKET}</script>",
    "/picture": "<img src=AWAY>",
    "/framed": "<iframe srcdoc='<img src=AWAY>'></iframe>",
    "/told.js": """const hear = port => { port.onmessage = event => eval(event.data); port.postMessage('ready') };
        globalThis.onconnect = event => hear(event.ports[0]); if (globalThis.postMessage) hear(globalThis)""",
    "/fetch.js": FETCH,
    "/socket.js": SOCKET,
    "/import.js": "importScripts('AWAY')",
    "/nested.js": "new Worker('/fetch.js')",
    "/answer.js": """oninstall = () => skipWaiting(); onactivate = event => event.waitUntil(clients.claim());
        onfetch = event => event.respondWith(fetch('AWAY', {mode: 'no-cors'}))""",
}
_HEADERS = {
    "a header that preconnects": "Link: <AWAY>; rel=preconnect\r\n",
    "a header that preloads": "Link: <AWAY>; rel=preload; as=image\r\n",
    "a policy's report": "Content-Security-Policy-Report-Only: img-src 'none'; report-uri AWAY\r\n",
}


class Foreign(asyncio.DatagramProtocol):
    """A server that nothing may reach. It answers as if it were glad."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        """Each connection and each datagram."""
        self.asked: list[bytes] = []
        """What was said on connections: one that was opened ahead may say nothing."""
        self.came = asyncio.Event()
        self.was_asked = asyncio.Event()

    async def __aenter__(self) -> Foreign:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        loop = asyncio.get_running_loop()
        self._datagrams, _ = await loop.create_datagram_endpoint(lambda: self, ("127.0.0.1", self.port))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self._datagrams.close()

    def datagram_received(self, *_: object) -> None:
        self._note("a datagram")

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._note("a connection")
        with suppress(OSError, ValueError):
            if line := await reader.readline():
                self.asked.append(line)
                self.was_asked.set()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
            await writer.drain()
        writer.close()

    def _note(self, what: str) -> None:
        self.reached.append(what)
        self.came.set()


class Home:
    """The server of the pages, where every way begins."""

    def __init__(self, away_port: int) -> None:
        self._away_port = away_port
        self.over = asyncio.Event()
        """A page said that its socket is closed."""

    async def __aenter__(self) -> Home:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{self._port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    def page(self, way: str) -> str:
        """The address of the page that goes this way."""
        return f"{self.address}/way/{way.replace(' ', '%20')}"

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._response(head.split()[1].decode()).encode())
                await writer.drain()
        writer.close()

    def _response(self, path: str) -> str:
        page, _, query = path.partition("?")
        if page == "/over":
            self.over.set()
        if page == "/redirect":
            return f"HTTP/1.1 302 Found\r\nLocation: {query}\r\nContent-Length: 0\r\n\r\n"
        way = unquote(page.removeprefix("/way/"))
        body = self.filled(WAYS.get(way) or _PAGES.get(page) or "<p>Nothing here")
        kind = "text/javascript" if page.endswith(".js") else "text/html"
        return (
            f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n{self.filled(_HEADERS.get(way, ''))}"
            f"Cache-Control: no-store\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        )

    def filled(self, text: str) -> str:
        """The text with the addresses of both servers."""
        host = f"localhost:{self._away_port}"
        text = text.replace("AWAY_PORT", str(self._away_port)).replace("AWAY", f"http://{host}/away")
        return text.replace("HOST", host).replace("PORT", str(self._port))

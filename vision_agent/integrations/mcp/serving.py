"""Serves the tools over stdin and stdout, or over HTTP on loopback to whoever has the token.

Closes every session when the client goes, also in the middle of an act, and when the process is told to end.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import select
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, redirect_stdout
from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vision_agent.integrations.mcp import SERVED_AT
from vision_agent.integrations.mcp.browser_session import SessionRules
from vision_agent.integrations.mcp.server import make_server
from vision_agent.integrations.mcp.sessions import Sessions
from vision_agent.web.loopback import ending_signal, serve_on_loopback

_LARGEST = 200_000
"""Bytes of a request: the arguments of a call are shorter, and none is a picture."""
_LAST_WORDS_S = 5.0
"""How long a client that has closed stdin may still take to read its answers."""
_LOOKS_EVERY_S = 0.5


async def serve_stdio(rules: SessionRules) -> None:
    """Serves one client on stdin and stdout until it closes them, or the process is told to end."""
    sessions = Sessions(rules)
    server = make_server(sessions)
    # The command line escapes what it prints for a terminal; here every byte belongs to the protocol.
    with redirect_stdout(sys.__stdout__):
        await _serve_stdio(sessions, server)


async def _serve_stdio(sessions: Sessions, server: Server[Any]) -> None:
    watched = os.dup(0)
    async with ending_signal() as ending, stdio_server() as (read, write):
        serving = asyncio.create_task(server.run(read, write, server.create_initialization_options()))
        others = [asyncio.create_task(ending.wait()), asyncio.create_task(_closed_by_client(watched))]
        await asyncio.wait([serving, *others], return_when=asyncio.FIRST_COMPLETED)
        if not ending.is_set():  # it usually ends by itself, unless an answer is never read
            await asyncio.wait([serving, others[0]], timeout=_LAST_WORDS_S, return_when=asyncio.FIRST_COMPLETED)
        await sessions.close()
        for task in others:
            task.cancel()
        if not serving.done():
            # The threads that read stdin and write stdout cannot be stopped, and Python would wait for them.
            sys.stderr.flush()
            os._exit(130 if ending.is_set() else 0)
        # An answer that is never read still blocks the thread that writes it.
        goodbye = asyncio.get_running_loop().call_later(_LAST_WORDS_S, os._exit, 0)
        await serving
    goodbye.cancel()


async def _closed_by_client(stdin: int) -> None:
    """Returns when the client has closed its end of stdin, also if what it wrote is not read yet."""
    poll = select.poll()
    poll.register(stdin, 0)  # hanging up is always told
    while not poll.poll(0):  # noqa: ASYNC110 - the loop of Python does not tell this
        await asyncio.sleep(_LOOKS_EVERY_S)


@asynccontextmanager
async def serve_http(rules: SessionRules, *, port: int = 0, token: str | None = None) -> AsyncIterator[tuple[str, str]]:
    """Serves clients on loopback while the block lasts; yields the address and the token.

    `port`: 0 takes a free one. `token`: None makes one up.

    Raises:
        UsageError: the port is taken.
    """
    sessions = Sessions(rules)
    given = token or secrets.token_urlsafe(24)

    def guarded(here: int) -> ASGIApp:
        hosts = [f"127.0.0.1:{here}", f"localhost:{here}"]
        app = make_server(sessions).streamable_http_app(
            streamable_http_path=SERVED_AT,
            max_request_body_size=_LARGEST,
            session_idle_timeout=rules.idle_s,
            transport_security=TransportSecuritySettings(
                allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts]
            ),
        )
        return _Guard(app, hosts, given, on_gone=sessions.close_of)

    async with serve_on_loopback(guarded, port, has_lifespan=True) as here:
        try:
            yield f"http://127.0.0.1:{here}{SERVED_AT}", given
        finally:
            await sessions.close()


async def serve_http_until_told(
    rules: SessionRules, *, port: int, token: str | None, say: Callable[[str, str], None]
) -> None:
    """Serves clients on loopback until the process is told to end; `say` gets the address and the token."""
    async with ending_signal() as ending, serve_http(rules, port=port, token=token) as (address, given):
        say(address, given)
        await ending.wait()


class _Guard:
    """Passes on only requests with the token, from no other origin, and notices when a client ends its session."""

    def __init__(self, app: ASGIApp, hosts: list[str], token: str, *, on_gone: Callable[[object], None]) -> None:
        self._app = app
        self._hosts = hosts
        self._token = token
        self._on_gone = on_gone

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if (refusal := self._refusal(request)) is not None:
            sentence, status = refusal
            await PlainTextResponse(f"{sentence}\n", status)(scope, receive, send)
            return
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        await self._app(scope, receive, watched)
        if request.method == "DELETE" and status < 400 and (ended := request.headers.get("mcp-session-id")):
            self._on_gone(ended)

    def _refusal(self, request: Request) -> tuple[str, int] | None:
        """Why the request is not passed on, and its status; None if it is."""
        headers = request.headers
        if headers.get("host") not in self._hosts:
            return "Refused: this server answers only under its own address on this machine.", 421
        origin, site = headers.get("origin"), headers.get("sec-fetch-site", "none")
        if origin not in (None, f"http://{headers.get('host')}") or site not in ("none", "same-origin"):
            return "Refused: a page of another origin may not use this server.", 403
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secrets.compare_digest(given.strip().encode(), self._token.encode()):
            return "Refused: the token is missing or wrong. Send it as `Authorization: Bearer TOKEN`.", 401
        if int(headers.get("content-length") or 0) > _LARGEST:
            return f"Refused: a request may have {_LARGEST:,} bytes; no tool takes a picture or a file's content.", 413
        return None

"""Serves a web application on loopback or another socket, and tells the program that serves it when it should end."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_GOODBYE_S = 5
"""How long the server may take to end."""


class _Server(uvicorn.Server):
    """Leaves Ctrl-C to the program."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


@asynccontextmanager
async def serve_on_loopback(
    app: Callable[[int], ASGIApp], port: int = 0, *, has_lifespan: bool = False
) -> AsyncIterator[int]:
    """Serves `app(port)` on 127.0.0.1 while the block lasts and yields the port; 0 takes a free one.

    `has_lifespan`: the application starts and ends something with the server.

    Raises:
        UsageError: the port is taken.
    """
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise UsageError(f"Port {port} of 127.0.0.1 cannot be used: {error.strerror}", "name another --port") from error
    with listening:
        taken = listening.getsockname()[1]
        async with serve_on(listening, app(taken), has_lifespan=has_lifespan):
            yield taken


@asynccontextmanager
async def serve_on(
    listening: socket.socket,
    app: ASGIApp,
    *,
    certificate: Path | None = None,
    key: Path | None = None,
    has_lifespan: bool = False,
) -> AsyncIterator[None]:
    """Serves the application on this socket while the block lasts, with TLS if there is a certificate."""
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="on" if has_lifespan else "off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield
    finally:
        server.should_exit = True
        with suppress(TimeoutError):
            async with asyncio.timeout(_GOODBYE_S):
                await running


@asynccontextmanager
async def ending_signal() -> AsyncIterator[asyncio.Event]:
    """An event that is set when the process is told to end; told again, it still ends in an orderly way."""
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _ENDS:
        loop.add_signal_handler(number, ending.set)
    try:
        yield ending
    finally:
        for number in _ENDS:
            loop.remove_signal_handler(number)

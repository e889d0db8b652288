"""Servers on loopback for what the fixture `serve` cannot do: sites that count, wait, send on or never end."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class LoopbackServer(ThreadingHTTPServer):
    """Serves in a thread on a port of its own, from now until the block ends."""

    daemon_threads = True
    # A browser keeps connections open; closing must not wait for them.
    block_on_close = False

    def __init__(self, handler: Any) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that hangs up in the middle is no news."""


class Handler(BaseHTTPRequestHandler):
    """Prints nothing, and answers with a page in one call."""

    def answer(self, body: str | bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        content = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        said = {"Content-Type": "text/html; charset=utf-8", **(headers or {}), "Content-Length": str(len(content))}
        for name, value in said.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None: ...


class Folder(SimpleHTTPRequestHandler):
    """The files of a folder; prints nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None: ...

"""A site whose answers take their time, fail, or have no end; it knows what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.loopback import Handler, LoopbackServer


class Answers:
    """`/after/2.5/…` answers after so many seconds, `/status/404` with a page, `/empty/404` without, `/to/…` sends on.

    `/file` is a download, `/events` and `/chunks` never end. When the test is over every answer that is due is dropped.
    """

    def __init__(self, pages: Mapping[str, str]) -> None:
        self.pages = pages
        self.asked: list[str] = []
        self.over = threading.Event()
        self.port = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked.append(handler.path)
        kind, _, rest = handler.path.partition("?")[0].removeprefix("/").partition("/")
        if handler.path.partition("?")[0] in self.pages:
            _say(handler, 200, self.pages[handler.path.partition("?")[0]])
        elif kind == "after":
            if not self.over.wait(float(rest.partition("/")[0])):
                _say(handler, 200, "<title>Late</title>late")
        elif kind == "status":
            _say(handler, int(rest), f"<title>{rest}</title><h1>It says {rest}</h1>")
        elif kind == "empty":
            _say(handler, int(rest), "")
        elif kind == "to":
            _say(handler, 302, "", Location=f"/{rest}")
        elif kind == "file":
            _say(handler, 200, "x", **{"Content-Disposition": "attachment; filename=x.txt"})
        elif kind in ("events", "chunks"):
            self._go_on(handler, "text/event-stream" if kind == "events" else "text/plain")
        else:
            _say(handler, 200, "")

    def _go_on(self, handler: BaseHTTPRequestHandler, media_type: str) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", media_type)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while not self.over.wait(0.2):
            handler.wfile.write(b"9\r\ndata: x\n\n\r\n")


def _say(handler: BaseHTTPRequestHandler, status: int, body: str, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"Content-Type": "text/html", **headers}.items():
        handler.send_header(name, value)
    if status != 204:
        handler.send_header("Content-Length", str(len(body.encode())))
    handler.end_headers()
    if status != 204:
        handler.wfile.write(body.encode())


@contextmanager
def answering(pages: Mapping[str, str]) -> Iterator[Answers]:
    """Such a site, on a port of its own."""
    answers = Answers(pages)

    class Answering(Handler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            answers.answer(self)

        def do_POST(self) -> None:
            self.do_GET()

    with LoopbackServer(Answering) as server:
        answers.port = server.server_port
        try:
            yield answers
        finally:
            answers.over.set()

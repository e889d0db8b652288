"""Serves the supervision page to a browser on this machine and receives the person's replies.

It listens on loopback only and serves one browser: the address contains a token that works once and becomes a cookie.
Requests from other pages are refused by host and origin, so that no other open site can answer for the person.
Starlette and uvicorn are already dependencies for the fixture sites, and a stream of events needs no more.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vision_agent.assets import palette
from vision_agent.errors import UsageError

if TYPE_CHECKING:
    from vision_agent.supervise.page_approver import SupervisionPage

_WEB = Path(__file__).parent / "web"
_KINDS = {".css": "text/css", ".js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_LARGEST = 100_000
"""Maximum bytes of a request body."""
_KEY = "X-Supervision-Key"
_USED = "This address was already opened, or is not the one that was printed. Each works in one browser only."


class _Server(uvicorn.Server):
    """Leaves Ctrl-C to the run, which records the interruption."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


@asynccontextmanager
async def serve(page: SupervisionPage) -> AsyncIterator[str]:
    """Serve the page while the block lasts and yield its address.

    Raises:
        UsageError: no loopback port is free.
    """
    try:
        listening = socket.create_server(("127.0.0.1", 0))
    except OSError as error:
        raise UsageError(
            f"The supervision page cannot be served: {error.strerror}", "check that the loopback interface is up"
        ) from error
    with listening:
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        server = _Server(
            uvicorn.Config(
                _Guard(_app(page, port, token), port),
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=1,
            )
        )
        running = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://127.0.0.1:{port}/?token={token}"
        finally:
            server.should_exit = True
            with suppress(TimeoutError):
                async with asyncio.timeout(5):
                    await running


class _Guard:
    """Passes on only requests of the page itself, and adds security headers to every response."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin, site = headers.get(b"host"), headers.get(b"origin"), headers.get(b"sec-fetch-site", "same-origin")
        is_navigation = scope["method"] == "GET" and scope["path"] == "/"
        is_ours = host in self._hosts and (
            origin == f"http://{host}" if scope["method"] != "GET" else origin in (None, f"http://{host}")
        )
        if not is_ours or (site != "same-origin" and not is_navigation):
            await PlainTextResponse("Refused: only this page itself may send requests here.", 403)(
                scope, receive, guarded
            )
            return
        await self._app(scope, receive, guarded)


def _app(page: SupervisionPage, port: int, token: str) -> Starlette:
    from vision_agent.supervise.page_approver import StaleReply, SupervisorOrder, SupervisorReply

    cookie, session = f"supervise-{port}", secrets.token_urlsafe(24)
    # Browsers send a cookie to every port of this machine. The key is only in the page that the token opened, and in
    # the storage of its tab, which belongs to this port.
    key = secrets.token_urlsafe(24)
    left = [token]

    def has_session(request: Request) -> bool:
        return secrets.compare_digest(request.cookies.get(cookie, "").encode(), session.encode())

    async def root(request: Request) -> Response:
        given = request.query_params.get("token", "")
        is_new = bool(left) and secrets.compare_digest(given.encode(), left[0].encode())
        if not (is_new or has_session(request)):
            return PlainTextResponse(_USED, 403)
        html = (_WEB / "page.html").read_text("utf-8")
        if is_new:
            html = html.replace("<head>", f'<head>\n<meta name="key" content="{key}">', 1)
        response = Response(html, media_type="text/html")
        if is_new:
            left.clear()
            response.set_cookie(cookie, session, httponly=True, samesite="strict")
        return response

    async def web(request: Request) -> Response:
        file = _WEB / request.url.path.lstrip("/")
        text = file.read_text("utf-8")
        return Response(palette() + text if file.suffix == ".css" else text, media_type=_KINDS[file.suffix])

    async def nothing(_: Request) -> Response:
        return Response(status_code=204)

    async def shot(request: Request) -> Response:
        found = page.picture(request.path_params["sha256"])
        if found is None or found.data is None:
            return PlainTextResponse("That picture is no longer shown.", 404)
        return Response(found.data, media_type=found.media_type)

    async def events(_: Request) -> Response:
        async def stream() -> AsyncIterator[str]:
            async for state in page.states():
                yield f"data: {json.dumps(state, ensure_ascii=False)}\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    def taking(model: type[BaseModel], take: Callable[[Any], None]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            body = await request.body()
            try:
                if len(body) > _LARGEST:
                    raise UsageError("The request is too long")
                take(model.model_validate_json(body))
            except ValidationError as error:
                faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
                return JSONResponse({"sentence": f"The request is not valid: {faults}"}, 422)
            except StaleReply as error:
                return JSONResponse({"sentence": str(error)}, 409)
            except UsageError as error:
                return JSONResponse({"sentence": str(error)}, 422)
            return Response(status_code=204)

        return endpoint

    def require_key(endpoint: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def checked(request: Request) -> Response:
            given = request.headers.get(_KEY) or request.query_params.get("key", "")
            if not (has_session(request) and secrets.compare_digest(given.encode(), key.encode())):
                return PlainTextResponse(_USED, 403)
            answered: Response = await endpoint(request)
            return answered

        return checked

    def require_session(endpoint: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def checked(request: Request) -> Response:
            if not has_session(request):
                return PlainTextResponse(_USED, 403)
            answered: Response = await endpoint(request)
            return answered

        return checked

    return Starlette(
        routes=[
            Route("/", root),
            Route("/favicon.ico", require_session(nothing)),
            Route("/page.css", require_session(web)),
            Route("/page.js", require_session(web)),
            Route("/shots/{sha256}", require_key(shot)),
            Route("/events", require_key(events)),
            Route("/reply", require_key(taking(SupervisorReply, page.reply)), methods=["POST"]),
            Route("/order", require_key(taking(SupervisorOrder, page.order)), methods=["POST"]),
        ]
    )

"""Serves the supervision page to the browsers of one person and receives their replies.

By default it listens on loopback only; `access` says who else may reach it, and how they sign in. An address contains a
token that works once and becomes a cookie. Requests from other pages are refused by host and origin, so that no other
open site can answer for the person. Starlette and uvicorn are already dependencies for the fixture sites, and a stream
of events needs no more.
"""

from __future__ import annotations

import json
import math
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vision_agent.assets import palette
from vision_agent.base_model import FrozenModel, words_of
from vision_agent.errors import UsageError
from vision_agent.settings import SuperviseSettings
from vision_agent.supervise.access import Session, SignIns, addresses, require_servable
from vision_agent.supervise.messages import StaleReply, SupervisorInput, SupervisorOrder, SupervisorReply
from vision_agent.web.loopback import serve_on

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
_LONGEST_NAME = 64
_KEY = "X-Supervision-Key"
_RENEWED_EVERY_S = 60.0
_NOT_SIGNED_IN = {
    "none": "Open the address that was printed where the run was started.",
    "wrong": "This is not the address that was printed where the run was started.",
    "used": "This address was already opened; each works in one browser only.",
    "expired": "This address has expired.",
}
_REPORT_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)
_USED = "This address was already opened, or is not the one that was printed. Each works in one browser only."


_LOOPBACK = SuperviseSettings()


@asynccontextmanager
async def serve(
    page: SupervisionPage, settings: SuperviseSettings = _LOOPBACK, tell: Callable[[str], None] | None = None
) -> AsyncIterator[str]:
    """Serve the page while the block lasts and yield an address that works once.

    `tell` gets a new address when somebody opens one that no longer works; it prints it where only the person reads.

    Raises:
        UsageError: it cannot be served as the settings say.
    """
    require_servable(settings)
    with _listening(settings) as listening:
        port = listening.getsockname()[1]
        origins = addresses(settings, port, page.name)
        sign_ins = SignIns()
        page.new_link = lambda lasts_s: f"{origins[0]}/#token={sign_ins.new_token(lasts_s)}"

        def new_address() -> str:
            return f"{origins[0]}/?token={sign_ins.new_token(settings.sign_in_s)}"

        app = _app(page, f"supervise-{port}", sign_ins, origins[0], Renewal(new_address, tell) if tell else None)
        guarded = _Guard(app, port, origins)
        async with serve_on(listening, guarded, certificate=settings.certificate, key=settings.key):
            yield new_address()


def _listening(settings: SuperviseSettings) -> socket.socket:
    host, port = settings.host, settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        # Python tells which address it was, which we do, too.
        said = (getattr(error, "strerror", None) or str(error)).partition(" (while")[0]
        where = f" on {host} port {port}" if port else f" on {host}"
        hint = "choose another --supervise-port" if port else "is it an address of this machine?"
        raise UsageError(f"The supervision page cannot be served{where}: {said}", hint) from error


class Renewal:
    """Tells a new address when an old one is opened, at most once a minute: whoever opens it may be anybody."""

    def __init__(
        self, new_address: Callable[[], str], tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._new_address = new_address
        self._tell = tell
        self._clock = clock
        self._told_at = -math.inf

    def __call__(self) -> str:
        """A sentence about the new address: that it was told, or when there will be another."""
        since = self._clock() - self._told_at
        if since >= _RENEWED_EVERY_S:
            self._told_at = self._clock()
            self._tell(self._new_address())
            return "A new address was printed where the run was started."
        return (
            f"A new address was printed where the run was started {_seconds(since)} ago: open that one. Another is "
            f"printed if you open this one again in {_seconds(_RENEWED_EVERY_S - since)}."
        )


def _seconds(number: float) -> str:
    whole = max(1, math.ceil(number))
    return "1 second" if whole == 1 else f"{whole} seconds"


class _Guard:
    """Passes on only requests of the page itself, and adds security headers to every response."""

    def __init__(self, app: ASGIApp, port: int, origins: Sequence[str] = ()) -> None:
        self._app = app
        self._origins = {
            origin.partition("://")[2]: origin
            for origin in origins or (f"http://127.0.0.1:{port}", f"http://localhost:{port}")
        }
        """The origin of the page by the host that the request names."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                more = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                more = [each for each in more if each[0] not in given]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin, site = headers.get(b"host"), headers.get(b"origin"), headers.get(b"sec-fetch-site", "same-origin")
        is_navigation = scope["method"] == "GET" and scope["path"] == "/"
        ours = self._origins.get(host or "")
        is_ours = ours is not None and (origin == ours if scope["method"] != "GET" else origin in (None, ours))
        if not is_ours or (site != "same-origin" and not is_navigation):
            await PlainTextResponse("Refused: only this page itself may send requests here.", 403)(
                scope, receive, guarded
            )
            return
        await self._app(scope, receive, guarded)


class _Token(FrozenModel):
    """What signs in."""

    token: str = Field(max_length=_LONGEST_NAME)


def _app(
    page: SupervisionPage, cookie: str, sign_ins: SignIns, origin: str, renew: Callable[[], str] | None
) -> Starlette:
    report_name = secrets.token_urlsafe(24)
    """The address of the report has no key, because the report shows it to its scripts."""

    def has_session(request: Request) -> bool:
        return sign_ins.session(request.cookies.get(cookie, "")) is not None

    def signed_in(given: str, request: Request) -> Session | str:
        """The session that a token becomes, or a sentence."""
        found = sign_ins.sign_in(given, request.cookies.get(cookie, ""))
        if isinstance(found, Session):
            return found
        if found == "wrong" or renew is None:
            return _NOT_SIGNED_IN[found]
        return f"{_NOT_SIGNED_IN[found]} {renew()}"

    def sign_in_page(sentence: str, status: int = 200) -> Response:
        html = (_WEB / "sign_in.html").read_text("utf-8").replace("{{ sentence }}", sentence)
        return Response(html, status, media_type="text/html")

    def keep(response: Response, session: Session) -> Response:
        is_secret = origin.startswith("https:")
        response.set_cookie(cookie, session.cookie, httponly=True, samesite="strict", secure=is_secret)
        return response

    async def root(request: Request) -> Response:
        given = request.query_params.get("token")
        session = signed_in(given, request) if given is not None else ""
        if isinstance(session, str) and not has_session(request):
            return sign_in_page(session or _NOT_SIGNED_IN["none"], 403)
        html = (_WEB / "page.html").read_text("utf-8")
        if isinstance(session, str):
            return Response(html, media_type="text/html")
        html = html.replace("<head>", f'<head>\n<meta name="key" content="{session.key}">', 1)
        return keep(Response(html, media_type="text/html"), session)

    async def sign_in(request: Request) -> Response:
        if request.method != "POST":
            return sign_in_page(_NOT_SIGNED_IN["none"])
        body = await request.body()
        try:
            given = _Token.model_validate_json(body[:_LARGEST]).token
        except ValidationError:
            given = ""
        session = signed_in(given, request)
        if isinstance(session, str):
            return JSONResponse({"sentence": session}, 403)
        return keep(JSONResponse({"key": session.key}), session)

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

    def taking(model: type[BaseModel], take: Callable[[Any], Awaitable[None] | None]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            body = await request.body()
            try:
                if len(body) > _LARGEST:
                    raise UsageError("The request is too long")
                taken = take(model.model_validate_json(body))
                if isinstance(taken, Awaitable):
                    await taken
            except ValidationError as error:
                faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {words_of(e)}" for e in error.errors())
                return JSONResponse({"sentence": f"The request is not valid: {faults}"}, 422)
            except StaleReply as error:
                return JSONResponse({"sentence": str(error)}, 409)
            except UsageError as error:
                return JSONResponse({"sentence": str(error)}, 422)
            return Response(status_code=204)

        return endpoint

    async def ending(_: Request) -> Response:
        report = await page.written_report()
        link = None if report is None else f"/report/{report_name}"
        return JSONResponse({"path": None if report is None else str(report), "link": link})

    async def report(request: Request) -> Response:
        path = page.report
        if path is None or not secrets.compare_digest(request.path_params["name"], report_name):
            return PlainTextResponse("There is no report here.", 404)
        headers = {"Content-Security-Policy": _REPORT_POLICY}
        opened = BackgroundTask(page.note_report_opened)
        return FileResponse(path, media_type="text/html", headers=headers, background=opened)

    async def served(_: Request) -> Response:
        await page.report_was_opened()
        return Response(status_code=204)

    async def live(request: Request) -> Response:
        query = request.query_params
        after = int(query["after"]) if query.get("after", "").isdecimal() else 0
        try:
            shown = await page.next_frame(query.get("window", "")[:_LONGEST_NAME], after)
        except UsageError as error:
            return JSONResponse({"sentence": str(error)}, 409)
        if shown is None:
            return Response(status_code=204)
        frame = shown.frame
        size = {"X-Frame": str(shown.number), "X-Size": f"{frame.width:g} {frame.height:g}"}
        if frame.data is None:
            return JSONResponse({"note": frame.note}, headers=size)
        return Response(frame.data, media_type="image/jpeg", headers=size)

    def require_key(endpoint: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def checked(request: Request) -> Response:
            given = request.headers.get(_KEY) or request.query_params.get("key", "")
            if not sign_ins.has_key(request.cookies.get(cookie, ""), given):
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
            Route("/sign-in", sign_in, methods=["GET", "POST"]),
            Route("/sign_in.css", web),
            Route("/sign_in.js", web),
            Route("/favicon.ico", require_session(nothing)),
            Route("/page.css", require_session(web)),
            Route("/page.js", require_session(web)),
            Route("/live.js", require_session(web)),
            Route("/shots/{sha256}", require_key(shot)),
            Route("/events", require_key(events)),
            Route("/live", require_key(live)),
            Route("/ending", require_key(ending)),
            Route("/report/{name}", require_session(report)),
            Route("/report/{name}/served", require_session(served)),
            Route("/input", require_key(taking(SupervisorInput, page.act)), methods=["POST"]),
            Route("/reply", require_key(taking(SupervisorReply, page.reply)), methods=["POST"]),
            Route("/order", require_key(taking(SupervisorOrder, page.order)), methods=["POST"]),
        ]
    )

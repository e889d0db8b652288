"""Decides which requests come from the page itself, and adds the security headers.

The address that is printed has a token that works once. It leads to an address with a random first part, which is
never printed, and sets a cookie for that part only: browsers send the cookies of this machine to every port of it, but
not to paths that they are not for. Reports are shown apart, each below an address of its own that opens nothing else.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "vision-agent-ui"
VIEWS = "views"
"""The first part of the addresses of reports."""
_OWN = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
# A report is an origin of its own: no script in it can read or send anything here, whatever the record holds.
_VIEW = {
    "Content-Security-Policy": "sandbox allow-scripts; frame-ancestors 'self'",
    "Cross-Origin-Resource-Policy": "cross-origin",
}
# With `no-referrer`, browsers do not tell the origin of a form either.
_ALWAYS = {"Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_REFUSED = "Refused: only the page itself may send requests here."
USED = "This address was already opened, or is not the one that was printed. The terminal shows the next one."


class Keys:
    """The secrets of one server, made when it starts."""

    def __init__(self, on_used: Callable[[str], None]) -> None:
        self.path = secrets.token_urlsafe(24)
        """The first part of every address of the page."""
        self.cookie = secrets.token_urlsafe(24)
        self.form = secrets.token_urlsafe(24)
        """What every form that changes something sends along."""
        self._views = secrets.token_bytes(32)
        self._token = secrets.token_urlsafe(24)
        self._on_used = on_used

    @property
    def token(self) -> str:
        """The token that opens the page next."""
        return self._token

    def take_token(self, given: str) -> bool:
        """Whether this token opens the page; it does so once, and `on_used` is told the next one."""
        if not _is_equal(given, self._token):
            return False
        self._token = secrets.token_urlsafe(24)
        self._on_used(self._token)
        return True

    def view(self, what: str) -> str:
        """The part of an address that opens one report and nothing else."""
        return hmac.new(self._views, what.encode(), hashlib.sha256).hexdigest()[:40]

    def is_form_key(self, given: str) -> bool:
        """Whether a form was sent by a page of ours."""
        return _is_equal(given, self.form)

    def has_cookie(self, header: str) -> bool:
        """Whether the cookies of a request have that of the page."""
        try:
            found = SimpleCookie(header).get(COOKIE)
        except CookieError:
            return False
        return found is not None and _is_equal(found.value, self.cookie)


class Guard:
    """Passes on only what the page itself requests."""

    def __init__(self, app: ASGIApp, port: int, keys: Keys) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return
        first = scope["path"].removeprefix("/").partition("/")[0]
        headers = _VIEW if first == VIEWS else _OWN

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.lower().encode(), value.encode()) for name, value in {**_ALWAYS, **headers}.items()]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        if fault := self._fault(scope, first):
            await PlainTextResponse(fault, 403)(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _fault(self, scope: Scope, first: str) -> str:
        """Why a request is refused; empty if it is not."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host, origin, site = headers.get(b"host"), headers.get(b"origin"), headers.get(b"sec-fetch-site")
        if host not in self._hosts:
            return _REFUSED
        if first == VIEWS:  # an address that cannot be guessed, and that only shows
            return "" if scope["method"] == "GET" else _REFUSED
        is_ours = origin == f"http://{host}" if scope["method"] != "GET" else origin in (None, f"http://{host}")
        if not is_ours:
            return _REFUSED
        if first in ("", "favicon.ico"):
            return ""
        if not (_is_equal(first, self._keys.path) and self._keys.has_cookie(headers.get(b"cookie", ""))):
            return USED
        return "" if site in (None, "same-origin", "none") else _REFUSED


def _is_equal(given: str, wanted: str) -> bool:
    return secrets.compare_digest(given.encode(), wanted.encode())

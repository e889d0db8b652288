"""Who can reach the supervision page: where it listens, with which certificate, at which addresses, and who signs in.

Everything is checked before a browser starts. Signing in takes a token that works once; a session is a cookie and a key
that only the page knows. It knows no requests.
"""

from __future__ import annotations

import ipaddress
import re
import secrets
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from vision_agent.errors import UsageError
from vision_agent.settings import SuperviseSettings

_SHORTEST_SECRET = 16
_MOST_SESSIONS = 20
_PORTS = {"http": 80, "https": 443}
_DATE_FAULTS = {9: "is not valid yet", 10: "has expired"}
"""By OpenSSL's code for what it found when it verified a certificate."""
_LOOPBACK = ("127.0.0.1", "localhost")


@dataclass(frozen=True)
class Session:
    """One tab of a browser that has signed in."""

    cookie: str
    key: str
    """Browsers send a cookie to every port of a host. The key is only in the page, and in the storage of its tab."""


@dataclass
class SignIns:
    """The tokens that have been given out, and the sessions they became."""

    clock: Callable[[], float] = time.monotonic
    _tokens: dict[str, float] = field(default_factory=dict)
    """Until when each can be used; 0 once it was."""
    _sessions: list[Session] = field(default_factory=list)

    def new_token(self, lasts_s: float) -> str:
        """A token that works once, for so many seconds."""
        token = secrets.token_urlsafe(24)
        self._tokens[token] = self.clock() + lasts_s
        return token

    def sign_in(self, given: str, cookie: str = "") -> Session | Literal["wrong", "used", "expired"]:
        """The session that a token becomes, or what is wrong with the token.

        A browser that has signed in before keeps its `cookie`: its other tabs stay signed in, each with its key.
        """
        token = next((each for each in self._tokens if _is_same(each, given)), None)
        if token is None:
            return "wrong"
        until, self._tokens[token] = self._tokens[token], 0.0
        if not until:
            return "used"
        if self.clock() > until:
            return "expired"
        known = self.session(cookie)
        session = Session(known.cookie if known else secrets.token_urlsafe(24), secrets.token_urlsafe(24))
        self._sessions = [*self._sessions, session][-_MOST_SESSIONS:]
        return session

    def session(self, cookie: str) -> Session | None:
        """A session of this cookie."""
        return next((each for each in self._sessions if _is_same(each.cookie, cookie)), None)

    def has_key(self, cookie: str, key: str) -> bool:
        """Whether this cookie and this key are of one session."""
        return any(_is_same(each.cookie, cookie) and _is_same(each.key, key) for each in self._sessions)


def _is_same(one: str, other: str) -> bool:
    return secrets.compare_digest(one.encode(), other.encode())


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address or a name."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_servable(settings: SuperviseSettings) -> None:
    """Checks that the page can be served as these settings say, as far as that is known without listening.

    Raises:
        UsageError: other machines could read what is sent, the certificate is wrong, or the webhook is.
    """
    host = settings.host
    if not is_loopback(host) and settings.certificate is None and not settings.plain_http:
        raise UsageError(
            f"The supervision page is not served on {host} without TLS: anyone on the network could approve for you",
            "give --supervise-certificate and --supervise-key, or --supervise-plain-http behind a proxy that encrypts",
        )
    if _is_everywhere(host) and settings.url is None:
        raise UsageError(
            f"{host} stands for every address of this machine, and browsers need one of them",
            "name it with --supervise-url, such as https://agent.example:8443",
        )
    if settings.key is not None and settings.certificate is None:
        raise UsageError(f"{settings.key} is a key without a certificate", "give --supervise-certificate too")
    if settings.url is not None:
        _require_origin(settings.url, has_tls=settings.certificate is not None)
    if settings.certificate is not None:
        _require_certificate(settings.certificate, settings.key)
    _require_webhook(settings)


def addresses(settings: SuperviseSettings, port: int, name: str | None = None) -> tuple[str, ...]:
    """The origins under which browsers may open the page, the one to print first.

    `name`: the only host of the page where it listens on loopback.
    """
    scheme = "http" if settings.certificate is None else "https"
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    own = () if _is_everywhere(settings.host) else (host,)
    names = dict.fromkeys((*own, *(_LOOPBACK if is_loopback(settings.host) else ())))
    if name is not None and is_loopback(settings.host):
        names = {name: None}
    found = [_origin(scheme, name, port) for name in names]
    if settings.url is not None:
        parts = urlsplit(settings.url)
        name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
        found.insert(0, _origin(parts.scheme, name, parts.port or _PORTS[parts.scheme]))
    return tuple(dict.fromkeys(found))


def _origin(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://{host}" if port == _PORTS[scheme] else f"{scheme}://{host}:{port}"


def _is_everywhere(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def _require_origin(url: str, *, has_tls: bool) -> None:
    try:
        parts = urlsplit(url)
        is_whole = parts.port is None or bool(parts.port)
    except ValueError:
        is_whole, parts = False, urlsplit("")
    if parts.username is not None:  # which may have a password after it
        raise UsageError("--supervise-url has a user name in it", "one looks like https://agent.example:8443")
    if not is_whole or parts.scheme not in _PORTS or not parts.hostname:
        raise UsageError(f"--supervise-url {url} is not an address", "one looks like https://agent.example:8443")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError(
            f"--supervise-url {url} has more than a host and a port", "the page needs a host or a port of its own"
        )
    if has_tls and parts.scheme != "https":
        raise UsageError(
            f"--supervise-url {url} is not encrypted, although there is a certificate", "begin it with https:"
        )
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise UsageError(
            f"--supervise-url {url} is not encrypted: anyone on the network could approve for you",
            "begin it with https:, and let a proxy add TLS",
        )


def _require_certificate(certificate: Path, key: Path | None) -> None:
    _require_part(certificate, b"CERTIFICATE", "certificate", "--supervise-certificate")
    _require_part(key or certificate, b"PRIVATE KEY", "private key", "--supervise-key")

    def no_password() -> str:
        raise UsageError(
            f"The key in {key or certificate} is encrypted, and nobody is asked for its password",
            "write it without one: openssl pkey -in KEY -out PLAIN",
        )

    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        server.load_cert_chain(certificate, key, password=no_password)
    except ssl.SSLError as error:
        if "KEY_VALUES_MISMATCH" in str(error):
            raise UsageError(
                f"The key in {key or certificate} is not that of the certificate in {certificate}",
                "give the two that were made together",
            ) from error
        where = f"{certificate}, or {key}," if key is not None else f"{certificate}, or the key in it,"
        raise UsageError(
            f"{where} cannot be used: {error.reason or error}", "give PEM files of a certificate and its key"
        ) from error
    if (fault := _date_fault(server, certificate)) is not None:
        raise UsageError(f"The certificate in {certificate} {fault}: browsers would warn of the page", "renew it")


def _require_part(path: Path, part: bytes, what: str, option: str) -> None:
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "give a PEM file") from error
    if not text.strip():
        raise UsageError(f"{path} is empty", "give a PEM file")
    if not re.search(rb"-----BEGIN [A-Z0-9 ]*" + part + rb"-----", text):
        raise UsageError(f"{path} has no {what} in PEM form", f"give a file that has one with {option}")


def _date_fault(server: ssl.SSLContext, certificate: Path) -> str | None:
    """What is wrong with the dates of a certificate; None if it is valid now.

    A handshake in memory tells it: the standard library has no public reader of certificates.
    """
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname = False
    client.load_verify_locations(certificate)
    client.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # it vouches for itself
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = client.wrap_bio(back, there), server.wrap_bio(there, back, server_side=True)
    try:
        for side in sides * 2:
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError as error:
        return _DATE_FAULTS.get(error.verify_code)
    return None


def _require_webhook(settings: SuperviseSettings) -> None:
    if settings.webhook is None:
        return
    try:
        parts = urlsplit(settings.webhook)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in _PORTS or not parts.hostname:
        raise UsageError("--webhook is not an address", "one looks like https://hooks.example/approve")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise UsageError(
            f"--webhook {parts.hostname} is not encrypted: pictures and the link could be read", "use https:"
        )
    secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret is not None else ""
    if len(secret) < _SHORTEST_SECRET:
        what = "too short" if secret else "missing"
        raise UsageError(
            f"The secret that signs what is posted to {parts.hostname} is {what}",
            f"set VISION_AGENT_SUPERVISE__WEBHOOK_SECRET to at least {_SHORTEST_SECRET} characters",
        )

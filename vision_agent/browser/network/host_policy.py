"""Decides which hosts may be reached and which addresses opened, parsed as browsers do, never compared as text.

Reports what it blocks. It does not know pages: `filtering_proxy` enforces it for browsers that we launch,
`request_interception` for pages that are handed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from urllib.parse import unquote

from ada_url import URL

from vision_agent.browser.refusal import Refused
from vision_agent.errors import UsageError
from vision_agent.text.escape import safe_line
from vision_agent.text.urls import has_password, is_cut, origin_of

WEB = ("http", "https")
_USUAL_PORTS = (80, 443)

# No port, path, user name or escape: inside an address, each of them would name another host.
_HOST = re.compile(r"[^\s/\\@?#%:*\[\]]+|\[[0-9A-Fa-f:.]+\]")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NO_SCHEME = "it has no scheme; write http:// or https:// before it"
_HOST_AND_PORT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[0-9]{1,5}(?=[/?#]|$)")
"""The beginning of an address without a scheme, such as `localhost:8000/form.html`, that reads as one."""
_BARE_HOST = re.compile(r"(?:[\w-]+\.)+\w+(?::[0-9]{1,5})?(?=[/?#]|$)")
"""The beginning of an address without a scheme, such as `shop.example/cart` or `127.0.0.1:8000`."""


@dataclass(frozen=True)
class Policy:
    """Allowed hosts (None: all; empty: none), denied hosts, and schemes (the web's, and the one a person started with).

    Hosts are compared by name, not by the address that a name resolves to.
    """

    hosts: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()
    """Wins over `hosts`."""
    schemes: tuple[str, ...] = WEB
    start_origin: str = ""
    """Where secrets without origins of their own may be typed: the scheme, host and port that the run began at."""
    folder: Path | None = None
    """The only folder whose files may be opened; None: no rule."""

    @property
    def is_open(self) -> bool:
        """Whether every host may be reached."""
        return self.hosts is None and not self.denied

    def objection(self, host: str) -> str:
        """Why a host may not be reached; empty if it may."""
        if host_matches(host, self.denied):
            return "its host is denied"
        if self.hosts is None or host_matches(host, self.hosts):
            return ""
        return f"its host is not among the allowed ones ({', '.join(self.hosts) or 'none'})"

    def file_objection(self, url: str) -> str:
        """Why a `file:` address may not be opened; empty if it may."""
        if self.folder is None:
            return ""
        path = _file_path(url)
        if path is not None and path.is_relative_to(self.folder):
            return ""
        return f"it is outside the folder of the start page ({self.folder})"


@dataclass
class Gate:
    """Applies a policy to outgoing requests."""

    policy: Policy
    report: Callable[[str], None] | None = None
    """Gets a sentence for each blocked request."""

    def allows(self, host: str, port: int | None = None, asker: str = "") -> bool:
        """Whether a request to this host may leave; the report also names the port and who asked, as far as known."""
        objection = self.policy.objection(host)
        shown = host[:100] if port in (None, *_USUAL_PORTS) else f"{host[:100]}:{port}"
        self._tell(objection, shown, asker)
        return not objection

    def allows_file(self, url: str, asker: str) -> bool:
        """Whether a `file:` address may be opened."""
        objection = self.policy.file_objection(url)
        self._tell(objection, url[:200], asker)
        return not objection

    def _tell(self, objection: str, shown: str, asker: str) -> None:
        if objection and self.report is not None:
            asked = f" (asked for by {asker})" if asker else ""
            self.report(f"a request to {shown} was blocked{asked}: {objection}")


def start_folder(url: str | None) -> Path | None:
    """The folder of a start page that is a file; None for any other address."""
    path = _file_path(url or "")
    if path is None:
        return None
    return path if (url or "").partition("?")[0].partition("#")[0].endswith("/") else path.parent


def _file_path(url: str) -> Path | None:
    """The path of a `file:` address, with links resolved; None for any other address."""
    try:
        parsed = URL(url)
        if parsed.protocol != "file:" or parsed.hostname not in ("", "localhost"):
            return None
        return Path(unquote(parsed.pathname)).resolve()
    except (OSError, ValueError, RuntimeError):
        return None


def policy_for(allowed: Iterable[str] | None, denied: Iterable[str] = ()) -> Policy:
    """The policy for hosts that a person named, each `example.org` or `*.example.org`.

    Raises:
        UsageError: one of them is not a host name.
    """
    return Policy(None if allowed is None else tuple(map(_host_pattern, allowed)), tuple(map(_host_pattern, denied)))


def host_matches(host: str, patterns: Iterable[str]) -> bool:
    """Whether a host matches a pattern: exactly, or as a subdomain of `*.example.org`."""
    host = _canonical(host)
    for pattern in patterns:
        name = _canonical(pattern.removeprefix("*."))
        if name and (host.endswith(f".{name}") if pattern.startswith("*.") else host == name):
            return True
    return False


def origin_matches(origin: str, patterns: Iterable[str], start: str) -> bool:
    """Whether an origin is `start`, if there are no patterns; else whether it matches one of them.

    A pattern is an origin, also with `*.` before its host; or a host alone, which stands for https at its usual port
    and for the scheme and port of `start`.
    """
    patterns = tuple(patterns)
    if not origin or not patterns:
        return bool(origin) and origin == start
    return any(_origin_matches(URL(origin), pattern, start) for pattern in patterns)


def _origin_matches(here: URL, pattern: str, start: str) -> bool:
    scheme, has_scheme, rest = pattern.removesuffix("/").rpartition("://")
    wildcard, rest = "*." * rest.startswith("*."), rest.removeprefix("*.")
    host = _HOST.match(rest)
    if host is None or not host_matches(here.hostname, [wildcard + host.group()]):
        return False
    if has_scheme:
        wanted = origin_of(f"{scheme}://{rest}")
        return bool(wanted) and (URL(wanted).protocol, URL(wanted).port) == (here.protocol, here.port)
    if rest != host.group():
        return rest == f"{host.group()}:{here.port}"
    began = URL(start) if start else None
    is_as_begun = began is not None and (here.protocol, here.port) == (began.protocol, began.port)
    return is_as_begun or (here.protocol, here.port) == ("https:", "")


def check(url: str, policy: Policy) -> None:
    """Checks that an address may be opened.

    Raises:
        Refused: it is not an absolute address, or its scheme or host is not allowed.
    """
    shown = safe_line(url, 200)
    if is_cut(url):
        raise Refused("blocked", f"{shown} was not opened: it was too long to be recorded in full.")
    try:
        parsed = URL(url)
    except ValueError:
        why = _NO_SCHEME if _BARE_HOST.match(url.strip()) else "it is not an absolute address"
        raise Refused("blocked", f"{shown} was not opened: {why}.") from None
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in policy.schemes:
        if _HOST_AND_PORT.match(url.strip()):
            raise Refused("blocked", f"{shown} was not opened: {_NO_SCHEME}.")
        known = ", ".join(policy.schemes)
        raise Refused("blocked", f'{shown} was not opened: its scheme is "{scheme}", allowed are {known}.')
    if scheme == "file" and (objection := policy.file_objection(url)):
        raise Refused("blocked", f"{shown} was not opened: {objection}.")
    if (scheme in WEB or parsed.hostname) and (objection := policy.objection(parsed.hostname)):
        raise Refused("blocked", f"{shown} was not opened: {objection}.")


def require_no_password(url: str) -> None:
    """Refuses an address with a password in it, which every record of it would show.

    Raises:
        UsageError: it has one, which is not quoted.
    """
    if has_password(url):
        raise UsageError(
            "The address has a password in it, which the record would show",
            "leave it out, and set browser.http_auth to the origin, the user name and the password",
        )


def is_blocked(url: str, policy: Policy) -> bool:
    """Whether an absolute address may not be opened; what a relative one leads to depends on the page."""
    if _SCHEME.match(url) is None:
        return False
    try:
        check(url, policy)
    except Refused:
        return True
    return False


def _host_pattern(host: str) -> str:
    name = host.removeprefix("*.")
    known = _canonical(name)
    if not all(known.split(".")):
        hint = "such as example.org or *.example.org, without scheme, port or path"
        raise UsageError(f"{host!r} is not a host name", hint)
    if host.startswith("*.") and _is_address(known):
        hint = "name each address, such as 127.0.0.1"
        raise UsageError(f"{host!r} stands for no host: an address has nothing below it", hint)
    return f"*.{known}" if host.startswith("*.") else known


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1024)
def _canonical(host: str) -> str:
    """A host as browsers write it: lower case, punycode, normalized IP addresses, no trailing dot; empty if invalid."""
    try:
        name = URL(f"http://{host}/").hostname.removesuffix(".") if _HOST.fullmatch(host) else ""
    except ValueError:
        return ""
    mapped = IPv6Address(name[1:-1]).ipv4_mapped if name.startswith("[") else None
    return str(mapped or name)

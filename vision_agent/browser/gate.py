"""Which hosts may be reached and which addresses opened: parsed as a browser does, never compared as text.

Says yes or no and tells what it turned away. It knows no page: where requests leave a browser that we launch is
`proxy`, where they leave a page handed over is `hold`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address

from ada_url import URL

from vision_agent.browser.refusal import Refused
from vision_agent.errors import UsageError

WEB = ("http", "https")

# No port, path, name or escape: in an address around it, each would make another host of it.
_HOST = re.compile(r"[^\s/\\@?#%:*\[\]]+|\[[0-9A-Fa-f:.]+\]")


@dataclass(frozen=True)
class Policy:
    """`hosts` None is no rule; empty denies everything. Schemes beyond the web's only where the person used them.

    Hosts are compared by name, not by what a name resolves to.
    """

    hosts: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()
    """They win over those that are allowed."""
    schemes: tuple[str, ...] = WEB
    start_hosts: tuple[str, ...] = ()
    """Where secrets without hosts of their own may be typed."""

    @property
    def is_open(self) -> bool:
        """Whether every host may be reached."""
        return self.hosts is None and not self.denied

    def objection(self, host: str) -> str:
        """Why a host may not be reached; empty where it may."""
        if host_matches(host, self.denied):
            return "its host is denied"
        if self.hosts is None or host_matches(host, self.hosts):
            return ""
        return f"its host is not among the allowed ones ({', '.join(self.hosts) or 'none'})"


@dataclass
class Gate:
    """A policy at the place where requests leave."""

    policy: Policy
    tell: Callable[[str], None] | None = None
    """Is told of each request that is turned away, in a sentence."""

    def lets(self, host: str) -> bool:
        """Whether a request to this host may leave."""
        objection = self.policy.objection(host)
        if objection and self.tell is not None:
            self.tell(f"a request to {host[:100]} was blocked: {objection}")
        return not objection


def policy_for(allowed: Iterable[str] | None, denied: Iterable[str] = ()) -> Policy:
    """The policy of hosts that a person named, each `example.org` or `*.example.org`.

    Raises:
        UsageError: one of them is not a host's name.
    """
    return Policy(None if allowed is None else tuple(map(_named, allowed)), tuple(map(_named, denied)))


def host_matches(host: str, patterns: Iterable[str]) -> bool:
    """Whether a host is one of those named: exactly, or as a subdomain of `*.example.org`."""
    host = _canonical(host)
    for pattern in patterns:
        name = _canonical(pattern.removeprefix("*."))
        if name and (host.endswith(f".{name}") if pattern.startswith("*.") else host == name):
            return True
    return False


def host_of(url: str) -> str:
    """The host that a browser would reach for an address; empty where there is none."""
    try:
        return URL(url).hostname
    except ValueError:
        return ""


def check(url: str, policy: Policy) -> None:
    """Returns for an address that may be opened.

    Raises:
        Refused: it is none, or its scheme or its host is not allowed.
    """
    try:
        parsed = URL(url)
    except ValueError:
        raise Refused("blocked", f"{url[:200]} was not opened: it is not a whole address.") from None
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in policy.schemes:
        known = ", ".join(policy.schemes)
        raise Refused("blocked", f'{url[:200]} was not opened: its scheme is "{scheme}", allowed are {known}.')
    if (scheme in WEB or parsed.hostname) and (objection := policy.objection(parsed.hostname)):
        raise Refused("blocked", f"{url[:200]} was not opened: {objection}.")


def _named(host: str) -> str:
    name = host.removeprefix("*.")
    known = _canonical(name)
    if not all(known.split(".")):
        hint = "such as example.org or *.example.org, without scheme, port or path"
        raise UsageError(f"The host {host!r} is not a host's name", hint)
    return f"*.{known}" if host.startswith("*.") else known


@lru_cache(maxsize=1024)
def _canonical(host: str) -> str:
    """A host as a browser writes it: lower case, international names in ASCII, each number in one way, no last dot.

    Empty where it is none.
    """
    try:
        name = URL(f"http://{host}/").hostname.removesuffix(".") if _HOST.fullmatch(host) else ""
    except ValueError:
        return ""
    mapped = IPv6Address(name[1:-1]).ipv4_mapped if name.startswith("[") else None
    return str(mapped or name)

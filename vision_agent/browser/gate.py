"""Which addresses may be opened: parsed, never compared as text. Knows no page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from vision_agent.browser.refusal import Refused
from vision_agent.errors import UsageError

_WEB = ("http", "https")


@dataclass(frozen=True)
class Policy:
    """`hosts` None is no rule; empty denies everything. Schemes beyond the web's only where the person used them."""

    hosts: tuple[str, ...] | None = None
    schemes: tuple[str, ...] = _WEB
    start_hosts: tuple[str, ...] = ()
    """Where secrets without hosts of their own may be typed."""


def host_matches(host: str, patterns: tuple[str, ...]) -> bool:
    """Whether a host is one of those named: exactly, or as a subdomain of `*.example.org`."""
    host = host.rstrip(".").lower()
    return any(
        host.endswith(pattern[1:].lower()) if pattern.startswith("*.") else host == pattern.lower()
        for pattern in patterns
    )


def check(url: str, policy: Policy) -> None:
    """Returns for an address that may be opened.

    Raises:
        Refused: its scheme or its host is not allowed.
    """
    parts = urlsplit(url)
    if parts.scheme not in policy.schemes:
        known = ", ".join(policy.schemes)
        raise Refused("blocked", f'{url[:200]} was not opened: its scheme is "{parts.scheme}", allowed are {known}.')
    if policy.hosts is not None and not host_matches(parts.hostname or "", policy.hosts):
        allowed = ", ".join(policy.hosts) or "none"
        raise Refused("blocked", f"{url[:200]} was not opened: its host is not among the allowed ones ({allowed}).")


def network_rules(hosts: tuple[str, ...]) -> tuple[str, str]:
    """The arguments with which Chromium itself resolves no host but these: redirects, frames and sockets included.

    Addresses written as numbers count as hosts too. It says nothing where a proxy resolves names instead.

    Raises:
        UsageError: a host is not a host's name.
    """
    for host in hosts:
        if not re.fullmatch(r"(\*\.)?[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", host):
            raise UsageError(f"The allowed host {host!r} is not a host's name", "such as example.org or *.example.org")
    names = ", ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {host}" for host in hosts)])
    # WebRTC asks addresses without their names; without a proxy it then has no way out at all.
    return f"--host-resolver-rules={names}", "--webrtc-ip-handling-policy=disable_non_proxied_udp"

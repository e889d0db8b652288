"""Parses addresses by the WHATWG rules, as Chromium does, so that a host here is the host that is reached."""

from __future__ import annotations

from ada_url import URL, join_url


def host_of(url: str) -> str:
    """The host of an address, without its port; empty if there is none."""
    try:
        return URL(url).hostname
    except ValueError:
        return ""


def origin_of(url: str) -> str:
    """The scheme, host and port of a web address; empty if it has none, as `about:blank` and files."""
    try:
        parsed = URL(url)
    except ValueError:
        return ""
    return parsed.origin if parsed.protocol in ("http:", "https:") else ""


def resolve_url(base: str, url: str) -> str:
    """The absolute address of a relative one on a page; the input itself if it cannot be resolved."""
    try:
        return join_url(base, url)
    except ValueError:
        return url

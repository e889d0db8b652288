"""What of a page is compared and kept: its host, its address without what it carries, its marks by kind."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from vision_agent.types import Kind, Observation


def host_of(url: str) -> str:
    """The host in an address, without its port; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def kinds_in(observation: Observation) -> dict[Kind, int]:
    """How many marks of each kind there are."""
    return dict(sorted(Counter(mark.kind for mark in observation.marks).items()))


def without_values(url: str) -> str:
    """The address without what its query, its fragment and its user say; the names in the query stay."""
    try:
        parts = urlsplit(url)
        where = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "…"
    names = [pair.partition("=")[0] + "=…" * ("=" in pair) for pair in parts.query.split("&")] if parts.query else []
    if parts.scheme in ("data", "blob", "javascript"):
        return f"{parts.scheme}:…"
    return parts._replace(netloc=where, query="&".join(names), fragment="…" * bool(parts.fragment)).geturl()

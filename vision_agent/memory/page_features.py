"""The parts of a page that the memory compares and keeps: host, address without its values, marks per kind."""

from __future__ import annotations

from collections import Counter
from urllib.parse import urlsplit

from vision_agent.observation import Kind, Observation


def count_kinds(observation: Observation) -> dict[Kind, int]:
    """The number of marks of each kind."""
    return dict(sorted(Counter(mark.kind for mark in observation.marks).items()))


def without_values(url: str) -> str:
    """The address without user, fragment and query values; the names in the query stay."""
    try:
        parts = urlsplit(url)
        where = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "…"
    names = [pair.partition("=")[0] + "=…" * ("=" in pair) for pair in parts.query.split("&")] if parts.query else []
    if parts.scheme in ("data", "blob", "javascript"):
        return f"{parts.scheme}:…"
    return parts._replace(netloc=where, query="&".join(names), fragment="…" * bool(parts.fragment)).geturl()

"""The page on how to report a vulnerability: `SECURITY.md`, which lies where people look for it."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).parents[2] / "SECURITY.md"


def security_page() -> str:
    """The page, with its links as they are from here."""
    return _FILE.read_text("utf-8").replace("](docs/pages/", "](../")

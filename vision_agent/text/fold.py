"""Makes texts equal that differ only in case, in spacing, or in how their accents are encoded."""

from __future__ import annotations

from unicodedata import normalize


def folded(text: str) -> str:
    """The text in one case, with single spaces, and each accent in one character with its letter."""
    return " ".join(normalize("NFC", text).split()).casefold()

"""Reads what an episode asks for."""

from __future__ import annotations

import re


def quoted(asked: str) -> list[str]:
    """What stands in double quotes."""
    return re.findall(r'"([^"]*)"', asked)


def found(pattern: str, asked: str) -> tuple[str, ...]:
    """The groups of a pattern.

    Raises:
        ValueError: the sentence does not look like that.
    """
    match = re.search(pattern, asked)
    if match is None:
        raise ValueError(f"the episode asks {asked!r}, which does not look like {pattern!r}")
    return match.groups()


def ordinal(asked: str, of: str) -> int:
    """The place, counted from 0, of what is said to be the 1st, 2nd, 3rd… of its kind."""
    (number,) = found(rf"(\d+)(?:st|nd|rd|th) {of}", asked)
    return int(number) - 1

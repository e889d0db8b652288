"""Parses the sentence that an episode asks."""

from __future__ import annotations

import re


def quotes(asked: str) -> list[str]:
    """The texts in double quotes."""
    return re.findall(r'"([^"]*)"', asked)


def match_groups(pattern: str, asked: str) -> tuple[str, ...]:
    """The groups of a pattern in the sentence.

    Raises:
        ValueError: the sentence does not match.
    """
    match = re.search(pattern, asked)
    if match is None:
        raise ValueError(f"the episode asks {asked!r}, which does not match {pattern!r}")
    return match.groups()


def ordinal(asked: str, of: str) -> int:
    """The index, from 0, in `1st`, `2nd`, `3rd`… followed by the noun `of`."""
    (number,) = match_groups(rf"(\d+)(?:st|nd|rd|th) {of}", asked)
    return int(number) - 1

"""The words in which the pages show a run: its status, who decides, when, how long and for how much."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import NamedTuple


class StatusWords(NamedTuple):
    """How a status is shown: a sign, a word, and a colour that says no more than they do."""

    sign: str
    word: str
    tone: str


STATUS_WORDS: dict[str, StatusWords] = {
    "done": StatusWords("✓", "Done", "ok"),
    "dry_run": StatusWords("✓", "Dry run", "ok"),
    "running": StatusWords("●", "Running", "going"),
    "not_done": StatusWords("✕", "Not done", "failed"),
    "infeasible": StatusWords("✕", "Cannot be done", "failed"),
    "limit": StatusWords("!", "Limit reached", "warned"),
    "needs_person": StatusWords("!", "Needs a person", "warned"),
    "unavailable": StatusWords("✕", "Unavailable", "failed"),
    "error": StatusWords("✕", "Error", "failed"),
    "interrupted": StatusWords("!", "Interrupted", "warned"),
    "unfinished": StatusWords("!", "Cut off", "warned"),
    "unreadable": StatusWords("✕", "Unreadable", "failed"),
}
"""The words for every status, in the order in which they are offered."""
ALL_FAILED = StatusWords("✕", "All that failed", "failed")
"""The words for all statuses together which say that a run did not do its task."""
RESUMABLE = ("limit", "needs_person", "unavailable", "error", "interrupted", "unfinished")
"""Statuses of runs that may be resumed; `resume` itself says if one cannot."""
_DECIDERS = {
    "StepsModel": "step lines",
    "steps": "step lines",
    "human": "a person",
    "replay": "a replay",
    "client": "a client",
    "ScriptedModel": "a script",
}


def status_of(text: str) -> StatusWords:
    """The words of a status."""
    return STATUS_WORDS[text]


def decider_words(model: str) -> str:
    """Who decides, in words; the name of a model without its provider is long enough."""
    return _DECIDERS.get(model, model)


def day_words(day: date, today: date) -> str:
    """A day as people say it: Today, Yesterday, Tuesday 3 March, 3 March 2025."""
    if day == today:
        return "Today"
    if day == today - timedelta(days=1):
        return "Yesterday"
    year = "" if day.year == today.year else f" {day.year}"
    return f"{day:%A} {day.day} {day:%B}{year}"


def clock_words(at: datetime) -> str:
    """The time of day, in the time zone of this machine."""
    return f"{at.astimezone():%H:%M}"


def cost_words(cost_usd: float | None, tokens: int) -> str:
    """What a run cost; empty if no model was asked."""
    if cost_usd is None:
        return "price unknown" if tokens else ""
    if not cost_usd:
        return ""
    return f"${cost_usd:.2f}" if cost_usd >= 1 else f"${cost_usd:.4f}"


def bytes_words(size: int) -> str:
    """A size in bytes, as people say it."""
    for unit, below in (("kB", 1 << 20), ("MB", 1 << 30)):
        if size < below:
            return f"{max(1, round(size * 1024 / below))} {unit}"
    return f"{size / (1 << 30):.1f} GB"

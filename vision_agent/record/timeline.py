"""The timeline of a run: what each step took and cost, as the report draws it and lists it in a table.

Knows turns; knows nothing of pages and pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vision_agent.policy import budget
from vision_agent.record.read import Turn


@dataclass(frozen=True)
class Span:
    """One step on the timeline."""

    index: int
    seconds: float | None
    """None if the step was interrupted."""
    decided_s: float | None
    """Seconds of these that the decision took; None if there was no decision."""
    tokens: int | None
    """None if no model replied in the step."""
    cost_usd: float | None
    """US dollars; None if no model replied, or the price is unknown."""
    height: int = 0
    """Its cost (or tokens, if a price is unknown) in percent of the most expensive step's."""


@dataclass(frozen=True)
class Timeline:
    """The steps of a run with what they took and cost."""

    spans: tuple[Span, ...]
    longest: Span | None
    """The step that took longest; None if no step is complete."""
    costliest: Span | None
    """The step that cost most, or used the most tokens; None if no model replied."""


def timeline_of(turns: Sequence[Turn]) -> Timeline:
    """The timeline of these steps."""
    spans = [_span(turn) for turn in turns]
    asked = [span for span in spans if span.tokens is not None]
    has_prices = all(span.cost_usd is not None for span in asked)

    def price(span: Span) -> float:
        return (span.cost_usd if has_prices else span.tokens) or 0

    most = max(map(price, asked), default=0)
    finished = [span for span in spans if span.seconds is not None]
    return Timeline(
        tuple(
            Span(each.index, each.seconds, each.decided_s, each.tokens, each.cost_usd, round(100 * price(each) / most))
            if each.tokens is not None and most
            else each
            for each in spans
        ),
        longest=max(finished, key=lambda span: span.seconds or 0, default=None),
        costliest=max(asked, key=price, default=None),
    )


def _span(turn: Turn) -> Span:
    tokens, cost_usd = budget.cost_of(turn.usages)
    return Span(
        index=turn.index,
        seconds=turn.seconds,
        decided_s=turn.decision.seconds if turn.decision else None,
        tokens=tokens if turn.usages else None,
        cost_usd=cost_usd if turn.usages else None,
    )

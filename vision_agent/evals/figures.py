"""What a run used and how it went, in figures that are read from its record alone."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import BaseModel, ConfigDict

from vision_agent.budget import cost_of
from vision_agent.types import Run

_PAGES = ("settle", "page")
"""Stages of a look in which the page works, or is given the time to come to rest."""


class Figures(BaseModel):
    """Of one run. Seconds are split by who worked, as far as the record tells: see `figures_of`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ending: str
    """How the run ended, in the agent's own word; that is no score."""
    steps: int
    good_steps: int
    """Steps in which all that was decided was carried out, and something was."""
    refusals: dict[str, int] = {}
    """How often something was refused, by the reason."""
    judged: Literal["done", "not_done", "cannot_tell"] | None = None
    """What a judge said of the state that the run ended in; None where none was asked about it."""
    tokens: int
    cost_usd: float | None
    """None where a reply came at a price that is not known; 0 where nobody was asked."""
    model_s: float
    page_s: float
    agent_s: float


def figures_of(run: Run) -> Figures:
    """The figures of a run.

    `model_s`: from asking to the decision, and the judge's verdicts. `page_s`: settling, scanning and photographing
    the page, and carrying out what was decided, waits included. `agent_s`: what is left of the steps: placing and
    drawing numbers, encoding pictures, writing the record.
    """
    outcomes = [outcome for step in run.steps for outcome in step.outcomes]
    refused = [outcome for outcome in outcomes if outcome.status == "refused"]
    model_s = sum(step.decision.seconds + (step.verdict.seconds if step.verdict else 0.0) for step in run.steps)
    page_s = sum(outcome.seconds for outcome in outcomes)
    page_s += sum(step.observation.timings.get(stage, 0.0) for step in run.steps for stage in _PAGES)
    tokens, cost_usd = cost_of([usage for step in run.steps for usage in step.usages])
    return Figures(
        ending=run.ending.status if run.ending else "",
        steps=len(run.steps),
        good_steps=sum(
            bool(step.outcomes) and all(outcome.status == "done" for outcome in step.outcomes) for step in run.steps
        ),
        refusals=dict(sorted(Counter(each.refusal for each in refused if each.refusal).items())),
        judged=_judged(run),
        tokens=tokens,
        cost_usd=cost_usd,
        model_s=round(model_s, 3),
        page_s=round(page_s, 3),
        agent_s=round(max(0.0, sum(step.seconds for step in run.steps) - model_s - page_s), 3),
    )


def _judged(run: Run) -> Literal["done", "not_done", "cannot_tell"] | None:
    """By the last step alone: after an earlier verdict the run went on, and ended in another state."""
    verdict = run.steps[-1].verdict if run.steps else None
    if verdict is None:
        return None
    return "cannot_tell" if verdict.done is None else "done" if verdict.done else "not_done"

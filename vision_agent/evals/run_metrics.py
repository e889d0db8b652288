"""Computes how much a run used and how it went, from its record alone."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from vision_agent.base_model import FrozenModel
from vision_agent.policy.budget import cost_of
from vision_agent.types import Run

_PAGES = ("settle", "page")
"""Stages of an observation in which the page works or settles."""


class RunMetrics(FrozenModel):
    """The figures of one run. Seconds are split by who worked, as far as the record shows: see `run_metrics_of`."""

    ending: str
    """Status of the run's ending, by the agent's own account; it is not a score."""
    steps: int
    good_steps: int
    """Steps in which every decided action was done, and there was at least one."""
    refusals: dict[str, int] = {}
    """How often actions were refused, by reason."""
    judged: Literal["done", "not_done", "cannot_tell"] | None = None
    """A judge model's verdict on the final state; None if no judge was asked."""
    tokens: int
    cost_usd: float | None
    """None if the price of a reply is unknown; 0 if no model was asked."""
    model_s: float
    page_s: float
    agent_s: float


def run_metrics_of(run: Run) -> RunMetrics:
    """The figures of a run.

    `model_s`: from the request to the decision, plus the judge's verdicts. `page_s`: settling, scanning and
    photographing the page, and carrying out actions, waits included. `agent_s`: the rest of the steps: placing and
    drawing labels, encoding pictures, writing the record.
    """
    outcomes = [outcome for step in run.steps for outcome in step.outcomes]
    refused = [outcome for outcome in outcomes if outcome.status == "refused"]
    model_s = sum(step.decision.seconds + (step.verdict.seconds if step.verdict else 0.0) for step in run.steps)
    page_s = sum(outcome.seconds for outcome in outcomes)
    page_s += sum(step.observation.timings.get(stage, 0.0) for step in run.steps for stage in _PAGES)
    tokens, cost_usd = cost_of([usage for step in run.steps for usage in step.usages])
    return RunMetrics(
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
    """The last step's verdict alone: after an earlier one the run went on and ended in another state."""
    verdict = run.steps[-1].verdict if run.steps else None
    if verdict is None:
        return None
    return "cannot_tell" if verdict.done is None else "done" if verdict.done else "not_done"

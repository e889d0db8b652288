"""Claims about what a run may use: where it stops, and when a model is told that little is left."""

from __future__ import annotations

from typing import Any

import pytest

from vision_agent.policy import budget
from vision_agent.policy.budget import Spent
from vision_agent.types import Limits


def used(steps: int = 0, seconds: float = 0.0, tokens: int = 0, cost_usd: float | None = 0.0) -> Spent:
    return Spent(steps, seconds, tokens, cost_usd)


@pytest.mark.parametrize(
    ("limits", "spent", "left"),
    [
        ({"steps": 40}, used(steps=31), ""),
        ({"steps": 40}, used(steps=32), "8 of 40 steps"),
        ({"steps": 5}, used(steps=1), ""),
        ({"steps": 5}, used(steps=2), ""),
        ({"steps": 5}, used(steps=3), "2 of 5 steps"),
        ({"steps": 3}, used(steps=0), ""),
        ({"seconds": 100}, used(seconds=79), ""),
        ({"seconds": 100}, used(seconds=80), "20 of 100 seconds"),
        ({"tokens": 1000}, used(tokens=801), "199 of 1000 tokens"),
        ({"cost_usd": 0.5}, used(cost_usd=0.45), "$0.05 of $0.50"),
        ({"cost_usd": 0.5}, used(cost_usd=None), ""),
        ({"steps": 40, "tokens": 1000}, used(steps=39, tokens=999), "1 of 40 steps, 1 of 1000 tokens"),
    ],
)
def test_a_model_is_told_what_is_left_from_four_fifths_of_a_limit_on(
    limits: dict[str, Any], spent: Spent, left: str
) -> None:
    assert budget.running_out(Limits(**limits), spent) == left
    assert not budget.reached_limit(Limits(**limits), spent) or spent.cost_usd is None


@pytest.mark.parametrize(
    ("limits", "spent", "name", "said"),
    [
        ({"steps": 3}, used(steps=3), "steps", "3 steps were taken"),
        ({"steps": 1}, used(steps=1), "steps", "1 step was taken"),
        ({"seconds": 9}, used(seconds=9), "seconds", "9 of 9 seconds"),
        ({"tokens": 10}, used(tokens=10), "tokens", "10 of 10 tokens"),
        ({"cost_usd": 0.1}, used(cost_usd=0.1), "cost", "$0.10 of $0.10"),
        ({"cost_usd": 0.1}, used(cost_usd=None), "cost", "is not known"),
        ({"cost_usd": 0.004}, used(cost_usd=0.01), "cost", "$0.01 of $0.004 were"),
    ],
)
def test_a_limit_is_reached_exactly_where_it_says(limits: dict[str, Any], spent: Spent, name: str, said: str) -> None:
    reached = budget.reached_limit(Limits(**limits), spent)
    assert reached is not None
    assert (reached.name, reached.ending.limit, said in reached.ending.sentence) == (name, name, True)

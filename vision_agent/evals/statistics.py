"""Statistics for evaluations: intervals of rates and means, and tests of whether two settings differ on the same items.

Plain arithmetic on numbers, with numpy for resampling; samples have a fixed seed, so the same results give the same
figures. It knows nothing of runs, models or suites.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

LEVEL = 0.95
SAMPLES = 10_000
_SEED = 0


@dataclass(frozen=True)
class Interval:
    """A figure with its confidence bounds at the level `LEVEL`."""

    value: float
    low: float
    high: float


def wilson(successes: int, trials: int) -> Interval | None:
    """A success rate with its score interval; None without trials.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference", JASA 22; as in Brown, Cai and
    DasGupta (2001), "Interval estimation for a binomial proportion", Statistical Science 16, without correction for
    continuity. Unlike the textbook interval, it has a width at 0 and 1 and is valid for few trials.
    """
    if trials == 0:
        return None
    z = NormalDist().inv_cdf((1 + LEVEL) / 2)
    rate, share = successes / trials, z * z / trials
    middle = (rate + share / 2) / (1 + share)
    half = z / (1 + share) * math.sqrt(rate * (1 - rate) / trials + share / (4 * trials))
    # At the ends the bound equals the rate; rounding could put it slightly beyond.
    low = 0.0 if successes == 0 else middle - half
    return Interval(rate, low, 1.0 if successes == trials else middle + half)


def bootstrap(groups: Sequence[Sequence[float]]) -> Interval | None:
    """The mean of all values, with its percentile interval from resampling whole groups; None without values.

    Efron (1979), "Bootstrap methods: another look at the jackknife", Annals of Statistics 7. A group holds the values
    of one task: its seeds give similar values, and resampling them singly would overstate the evidence
    (Field and Welsh (2007), "Bootstrapping clustered data", JRSS B 69).
    """
    kept = [group for group in groups if group]
    if not kept:
        return None
    sums, counts = np.array([sum(group) for group in kept]), np.array([len(group) for group in kept])
    drawn = np.random.default_rng(_SEED).integers(len(kept), size=(SAMPLES, len(kept)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(float(sums.sum() / counts.sum()), float(low), float(high))


def paired_bootstrap(pairs: Sequence[Sequence[tuple[float, float]]]) -> Interval | None:
    """The mean of second minus first over paired items, with its interval; groups as for `bootstrap`."""
    return bootstrap([[second - first for first, second in group] for group in pairs])


def mcnemar(only_first: int, only_second: int) -> float:
    """The probability of a difference at least as large if both are equally good: McNemar's test, exact, two-sided.

    The arguments count the items that only one of the two passed. McNemar (1947), "Note on the sampling error of the
    difference between correlated proportions or percentages", Psychometrika 12; by the binomial distribution, because
    the chi-squared one is inaccurate for few items. It is 1 without such items.
    """
    trials = only_first + only_second
    tail = sum(math.comb(trials, k) for k in range(min(only_first, only_second) + 1))
    return min(1.0, tail / float(2 ** (trials - 1))) if trials else 1.0


def holm(values: Sequence[float]) -> list[float]:
    """The p-values, in the same order, corrected for testing that many differences at once.

    Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.
    """
    adjusted, least = [0.0] * len(values), 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=lambda place: values[place])):
        least = max(least, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = least
    return adjusted


def pass_at(k: int, outcomes: Sequence[Sequence[bool]]) -> float | None:
    """The probability that at least one of `k` tries of a task passes, over tasks with at least `k` tries.

    The unbiased estimate of Chen et al. (2021), "Evaluating large language models trained on code", arXiv:2107.03374,
    section 2.1. None if no task was tried `k` times.
    """
    none_of = pass_all(k, [[not passed for passed in task] for task in outcomes])
    return None if none_of is None else 1.0 - none_of


def pass_all(k: int, outcomes: Sequence[Sequence[bool]]) -> float | None:
    """The probability that all `k` tries of a task pass (pass^k), over tasks with at least `k` tries.

    The unbiased estimate of Yao et al. (2024), "τ-bench: a benchmark for tool-agent-user interaction in real-world
    domains", arXiv:2406.12045. If each task has exactly `k` tries, it is the share of tasks that passed every one.
    None if no task was tried `k` times.
    """
    tried = [task for task in outcomes if len(task) >= k]
    if not tried:
        return None
    passed: list[float] = [math.comb(sum(task), k) / math.comb(len(task), k) for task in tried]
    return float(np.mean(passed))

"""Figures against values worked out by hand, or printed in the sources that the functions name."""

from __future__ import annotations

import pytest

from vision_agent.evals.statistics import (
    Interval,
    bootstrap,
    holm,
    mcnemar,
    paired_bootstrap,
    pass_all,
    pass_at,
    wilson,
)


def test_a_rate_has_wilsons_interval() -> None:
    # Newcombe (1998), "Two-sided confidence intervals for the single proportion", table I, method 3.
    assert _rounded(wilson(81, 263)) == (0.3080, 0.2553, 0.3662)
    assert _rounded(wilson(15, 148)) == (0.1014, 0.0624, 0.1605)
    assert _rounded(wilson(0, 20)) == (0.0, 0.0, 0.1611)
    assert _rounded(wilson(1, 29)) == (0.0345, 0.0061, 0.1718)


def test_a_rate_of_all_reaches_up_to_one_and_of_nothing_is_none() -> None:
    assert _rounded(wilson(20, 20)) == (1.0, 0.8389, 1.0)
    assert wilson(0, 0) is None


def test_a_mean_is_that_of_all_values_and_its_interval_is_the_same_each_time() -> None:
    groups = [[1.0, 0.0], [1.0], [0.0, 0.0, 0.0]]
    found = bootstrap(groups)

    assert found is not None
    assert found.value == pytest.approx(2 / 6)
    assert found == bootstrap(groups)
    assert found.low < found.value < found.high


def test_seeds_of_one_task_are_drawn_together() -> None:
    """Ten equal seeds of two tasks are two findings and not twenty: a mean of 0, 1/2 or 1, each with its share."""
    clustered, loose = bootstrap([[1.0] * 10, [0.0] * 10]), bootstrap([[value] for value in [1.0] * 10 + [0.0] * 10])

    assert clustered == Interval(0.5, 0.0, 1.0)
    assert loose is not None
    assert 0.2 < loose.low < loose.high < 0.8


def test_values_that_are_all_alike_have_no_width() -> None:
    assert bootstrap([[3.0], [3.0, 3.0]]) == Interval(3.0, 3.0, 3.0)
    assert bootstrap([]) is None
    assert bootstrap([[], []]) is None


def test_a_difference_is_second_minus_first() -> None:
    assert paired_bootstrap([[(0.0, 1.0)], [(0.0, 1.0)]]) == Interval(1.0, 1.0, 1.0)
    assert paired_bootstrap([[(1.0, 0.0), (1.0, 1.0)]]) == Interval(-0.5, -0.5, -0.5)


@pytest.mark.parametrize(
    ("only_first", "only_second", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (0, 1, 1.0),
        (0, 5, 0.0625),  # 2 / 2⁵
        (1, 9, 22 / 1024),  # 2 · (1 + 10) / 2¹⁰
        (9, 1, 22 / 1024),
    ],
)
def test_mcnemars_test_is_exact(only_first: int, only_second: int, p: float) -> None:
    assert mcnemar(only_first, only_second) == pytest.approx(p)


def test_holm_makes_up_for_looking_at_many_pairs() -> None:
    # 0.005·4, then 0.01·3, then max(0.03·2, the one before), then max(0.04·1, the one before).
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_pass_at_k_is_unbiased_and_leaves_out_tasks_with_fewer_tries() -> None:
    one_of_three, all_of_two = [True, False, False], [True, True]

    assert pass_at(1, [one_of_three]) == pytest.approx(1 / 3)
    assert pass_at(2, [one_of_three]) == pytest.approx(1 - 1 / 3)  # two of three misses: 1 of 3 ways to draw two
    assert pass_at(3, [one_of_three, all_of_two]) == 1.0
    assert pass_at(1, [one_of_three, all_of_two]) == pytest.approx((1 / 3 + 1) / 2)
    assert pass_at(4, [one_of_three, all_of_two]) is None


def test_pass_all_of_k_is_the_share_of_tasks_without_a_miss_where_each_has_k_tries() -> None:
    two_of_three, all_of_two, all_of_three = [True, True, False], [True, True], [True, True, True]

    assert pass_all(1, [two_of_three]) == pytest.approx(2 / 3)
    assert pass_all(2, [two_of_three]) == pytest.approx(1 / 3)  # of three ways to draw two, one draws no miss
    assert pass_all(3, [two_of_three, all_of_two, all_of_three]) == 0.5
    assert pass_all(4, [all_of_three]) is None


def _rounded(interval: Interval | None) -> tuple[float, float, float]:
    assert interval is not None
    return round(interval.value, 4), round(interval.low, 4), round(interval.high, 4)

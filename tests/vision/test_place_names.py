"""Claims about the names of places along an axis, on pictures drawn here whose texts are known."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.vision.test_chart_reading import BARS, BLUE, GREEN, NAMES, TICKS, look, values_of, y_of
from tests.vision.test_surface import box


def test_a_bar_between_two_names_has_neither() -> None:
    levels = (22, 40, 55, 70, 62, 41, 30)
    bars = [box(140 + 70 * at, y_of(value), 50, 400 - y_of(value), BLUE) for at, value in enumerate(levels)]
    looked = look(bars, [*TICKS, *NAMES])
    assert looked.chart is not None
    assert [row[0] for row in looked.chart.table()[1:]] == ["Jan", "Jan + 1", "Feb", "Feb + 1", "Mar", "Mar + 1", "Apr"]
    assert values_of(looked) == pytest.approx(levels, abs=2)


def test_bars_beyond_the_names_are_counted_from_them() -> None:
    levels = (12, 30, 22, 40, 55, 70, 62, 41, 30, 18, 25)
    bars = [box(140 + 36 * at, y_of(value), 20, 400 - y_of(value), BLUE) for at, value in enumerate(levels)]
    names = [("Jan", 140 + 36 * 3 - 4, 430), ("Apr", 140 + 36 * 6 - 4, 430)]
    looked = look([*bars, box(600, 100, 20, 12, BLUE)], [*TICKS, *names, ("Castle", 630, 111)])
    assert looked.chart is not None
    places = [f"Jan − {many}" for many in (3, 2, 1)] + ["Jan", "Jan + 1", "Jan + 2", "Apr"]
    assert [row[0] for row in looked.chart.table()[1:]] == [*places, *(f"Apr + {many}" for many in (1, 2, 3, 4))]
    assert values_of(looked) == pytest.approx(levels, abs=2)


def test_a_bar_whose_name_was_not_read_has_no_other_name() -> None:
    names = [name for name in NAMES if name[0] != "Feb"]
    more = [("May", 150 + 140 * 4, 430)]
    looked = look([*BARS, box(700, y_of(50), 50, 400 - y_of(50), BLUE)], [*TICKS, *names, *more])
    assert looked.chart is not None
    assert [row[0] for row in looked.chart.table()[1:]] == ["Jan", "Jan + 1", "Mar", "Apr", "May"]


def test_uneven_bars_are_said_to_be_between_two_names() -> None:
    xs = (140, 173, 280, 361)
    bars = [box(x, y_of(40), 20, 400 - y_of(40), BLUE) for x in xs]
    looked = look(bars, [*TICKS, ("Jan", 138, 430), ("Feb", 278, 430), ("Mar", 418, 430)])
    assert looked.chart is not None
    named = [row[0] for row in looked.chart.table()[1:]]
    assert named[0::2] == ["Jan", "Feb"]
    assert re.fullmatch(r"2\d% from Jan to Feb", named[1])
    assert re.fullmatch(r"5\d% from Feb to Mar", named[3])


def test_points_above_each_other_have_the_name_below_them() -> None:
    points = [box(x, y_of(value), 9, 9, GREEN) for x in (160, 300) for value in (20, 35, 50, 65, 80)]
    looked = look(points, [*TICKS, *NAMES])
    assert {each.name for each in looked.things if each.value} <= {"green, Jan", "green, Feb"}


@pytest.mark.parametrize("seed", range(8))
def test_each_bar_of_a_random_row_has_its_own_name_or_is_counted_from_one(seed: int) -> None:
    chance = np.random.default_rng(seed)
    step = int(chance.integers(18, 34))
    every = -(-50 // step) + int(chance.integers(3))  # no text touches the next one
    before, beyond = (int(each) for each in chance.integers(0, 5, 2))
    named = ["Jan", "Apr", "Jul"]
    many = before + every * (len(named) - 1) + 1 + beyond
    many = min(many, (700 - 100) // step)
    levels = chance.integers(5, 95, many).tolist()
    bars = [box(110 + step * at, y_of(each), step - 6, 400 - y_of(each), BLUE) for at, each in enumerate(levels)]
    places = {before + every * at: name for at, name in enumerate(named)}
    names = [(name, 110 + step * at + (step - 6) // 2 - 9, 430) for at, name in places.items() if at < many]

    looked = look(bars, [*TICKS, *names])

    assert looked.chart is not None
    expected = []
    for at in range(many):
        left = max((place for place in places if place <= at), default=before)
        expected.append(places[left] + (f" {'+' if at > left else '−'} {abs(at - left)}" if at != left else ""))
    assert [row[0] for row in looked.chart.table()[1:]] == expected
    assert values_of(looked) == pytest.approx(levels, abs=2)

"""Claims about the scales of axes, from texts and their places."""

from __future__ import annotations

import pytest

from vision_agent.geometry import Box
from vision_agent.vision.surfaces.axes import (
    Text,
    day_of,
    horizontal_axis,
    in_words,
    number_of,
    other_scale,
    vertical_axis,
)


def column(*words: str, step: float = 50) -> list[Text]:
    return [
        Text(each, Box(x=60 - 7 * len(each), y=40 + step * at, width=7 * len(each), height=10))
        for at, each in enumerate(words)
    ]


def row(*words: str) -> list[Text]:
    return [Text(each, Box(x=100 + 80 * at, y=400, width=7 * len(each), height=10)) for at, each in enumerate(words)]


@pytest.mark.parametrize(
    ("words", "number"),
    {
        "1,204": 1204, "-3": -3, "−0.5": -0.5, "42.10 EUR": 42.1, "$1.5k": 1500, "30%": 30, "2M": 2_000_000,
        "Jan": None, "": None, "-": None, "12:30": None,
    }.items(),
)  # fmt: skip
def test_a_number_is_read_with_its_unit(words: str, number: float | None) -> None:
    assert number_of(words) == number


@pytest.mark.parametrize("words", ["2024-03-01", "Mar 2024", "1 March 2024", "3/1/2024", "2024-03"])
def test_a_date_is_read_however_it_is_written(words: str) -> None:
    assert day_of(words) == day_of("2024-03-01")


def test_a_column_of_even_numbers_is_a_linear_axis() -> None:
    axis = vertical_axis([*column("400", "300", "200", "100", "0"), *row("Jan", "Feb")])
    assert axis is not None
    assert axis.kind == "linear"
    assert axis.value(45 + 75) == pytest.approx(250)
    assert axis.error(120) == pytest.approx(5)


def test_a_column_of_powers_is_a_logarithmic_axis() -> None:
    axis = vertical_axis(column("10,000", "1,000", "100", "10"))
    assert axis is not None
    assert axis.kind == "log"
    assert axis.value(45 + 25) == pytest.approx(10**3.5, rel=1e-6)


def test_one_misread_number_does_not_bend_the_scale() -> None:
    axis = vertical_axis(column("500", "400", "800", "200", "100", "0"))
    assert axis is not None
    assert axis.value(45 + 100) == pytest.approx(300)


@pytest.mark.parametrize("words", [("3", "1", "4", "1", "5"), ("7", "7", "7"), ("10", "20")])
def test_numbers_that_follow_from_no_scale_are_no_axis(words: tuple[str, ...]) -> None:
    assert vertical_axis(column(*words)) is None


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("3.000 €", "2.000 €", "1.000 €", "0 €"), 2500),
        (("1.500", "1.000", "500"), 1250),
        (("2,5", "2,0", "1,5"), 2.25),
        (("3,000", "2,000", "1,000"), 2500),
        (("3.50", "3.25", "3.00"), 3.375),
        (("1.005", "1.000", "0.995"), 1.0025),
        (("1.5", "1", "0.5"), 1.25),
    ],
)
def test_the_numbers_of_a_column_tell_what_is_before_their_fractions(words: tuple[str, ...], value: float) -> None:
    axis = vertical_axis(column(*words))
    assert axis is not None
    assert axis.value(45 + 25) == pytest.approx(value)
    assert not axis.is_unclear


def test_numbers_that_may_be_thousands_or_fractions_are_unclear_until_another_text_tells() -> None:
    ticks = column("3.000", "2.000", "1.000")
    alone, beside = vertical_axis(ticks), vertical_axis([*ticks, *row("1.234,50 €")])
    assert alone is not None
    assert beside is not None
    assert (alone.is_unclear, beside.is_unclear) == (True, False)
    assert beside.value(45 + 25) == pytest.approx(2500)


def test_numbers_on_the_other_side_of_the_plot_are_a_second_scale_unless_they_say_the_same() -> None:
    left, names = column("30", "20", "10", "0"), row("Jan", "Feb", "Mar")
    right = [Text(words, Box(x=400, y=40 + 50 * at, width=28, height=10)) for at, words in enumerate("9630")]
    same = [Text(words, Box(x=400, y=40 + 75 * at, width=28, height=10)) for at, words in enumerate(("30", "15", "0"))]
    axis, across = vertical_axis(left), horizontal_axis(names, 300)
    assert axis is not None
    assert across is not None
    assert other_scale([*left, *names, *right], axis, across) is not None
    assert other_scale([*left, *names, *same], axis, across) is None


def test_names_that_count_are_no_numbers() -> None:
    names = horizontal_axis(row("Q1", "Q2", "Q3"), 300)
    assert names is not None
    assert names.name(140) == "Q1"
    assert names.kind == "names"


def test_a_row_of_dates_is_an_axis_of_days_and_one_of_words_has_names() -> None:
    days = horizontal_axis(row("2024-01-01", "2024-01-11", "2024-01-21"), 300)
    assert days is not None
    assert (days.kind, days.name(100 + 40 + 35)) == ("date", "2024-01-06")
    names = horizontal_axis(row("Jan", "Feb", "Mar"), 300)
    assert names is not None
    assert (names.kind, names.name(185)) == ("names", "Feb")


def test_a_value_has_as_many_digits_as_its_error_allows() -> None:
    assert [in_words(3.94159, error) for error in (3, 0.2, 0.03)] == ["4", "3.9", "3.94"]

"""Claims about what a field holds: another form of what was typed is that, another value is not."""

from __future__ import annotations

import pytest

from vision_agent.text.same_value import means_other, numbers_meant


@pytest.mark.parametrize(
    ("typed", "held"),
    [
        ("12.5", "12.50 €"),
        ("1234.5", "$1,234.50"),
        ("1.234,50", "1,234.50"),
        ("EUR 12", "12"),
        ("1 000", "1000"),
        ("-5", "−5"),
        ("5", "5 %"),
        ("12", "12 kg"),
        ("012345", "(012) 345"),
        ("+4912345", "+49 123 45"),
        ("4242424242424242", "4242 4242 4242 4242"),
        ("12-50", "1250"),
        ("31122026", "31/12/2026"),
        ("2026-12-31", "20261231"),
        ("12-34-5678", "1234-5678"),
        ("2026-02-03", "03.02.2026"),
        ("2026-02-03", "Tue, Feb 3, 2026"),
        ("15:30", "3:30 PM"),
        ("abc", "ABC"),
        ("Ber", "Berlin, Germany"),
        ("word " * 400, "word " * 99 + "…"),
        ("abc", ""),
        ("!?", "x"),
    ],
)
def test_another_form_is_the_same_value(typed: str, held: str) -> None:
    assert not means_other(typed, held)


@pytest.mark.parametrize(
    ("typed", "held"),
    [
        ("12,50", "1250"),
        ("12.50", "1250"),
        ("10.5", "105"),
        ("12", "125"),
        ("-5", "5"),
        ("5000", "500"),
        ("A12", "12"),
        ("abcd", "ABC"),
        ("Ann", "Bob"),
        ("2026-02-03", "04.02.2026"),
        ("2026-02-03", "Feb 4, 2026"),
        ("15:30", "3:30 AM"),
        ("2026-12-31", "20/26/1231"),
        ("31/12/2026", "311/22/026"),
    ],
)
def test_what_means_something_else_is_another_value(typed: str, held: str) -> None:
    assert means_other(typed, held)


def test_a_text_may_mean_several_numbers_or_none() -> None:
    assert sorted(map(str, numbers_meant("1,000"))) == ["1.000", "1000"]
    assert [*map(str, numbers_meant("1.234,50"))] == ["1234.50"]
    assert not numbers_meant("12.50.1")
    assert not numbers_meant("abc")

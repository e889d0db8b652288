"""Claims about numbers as pages write them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from vision_agent.text.written_number import decimal_sign, is_plain_number, names_scale, number_in, unit_in


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", "12"),
        ("+12.50", "12.50"),
        ("1,299.00", "1299.00"),
        ("1,250", "1250"),
        ("1.234,56", "1234.56"),
        ("1.234.567", "1234567"),
        ("12,5", "12.5"),
        ("0.125", "0.125"),
        ("1'250", "1250"),
        ("1\u202f250,5", "1250.5"),
        ("−5", "-5"),
        ("–5.00", "-5.00"),
        ("-€5", "-5"),
        ("€ −5", "-5"),
        ("- 5", "-5"),
        ("Loss −5", "-5"),
        ("$ 12.00", "12.00"),
        ("12 pieces", "12"),
        ("Inbox (5)", "5"),
        ("5 %", "5"),
        ("3 million", "3000000"),
        ("1.5 Mio. €", "1500000.0"),
        ("3 m", "3"),
        ("5 mm", "5"),
        ("5 kg", "5"),
        ("5 items", "5"),
        ("5 USD", "5"),
        ("5 €", "5"),
        ("$.99", "0.99"),
        (".99", "0.99"),
        ("-.5", "-0.5"),
        ("Rs.500", "500"),
        ("‑45.00", "-45.00"),
        ("⁻5", "-5"),
        ("➖5", "-5"),
        ("Size 42 (EU)", "42"),
        ("2 trillion", "2000000000000"),
        ("5 Milliarden €", "5000000000"),
        ("€5 Mld", "5000000000"),
        ("5 mln", "5000000"),
        ("5 млн", "5000000"),
        ("₹1,29,900.50", "129900.50"),
        ("12,34,567", "1234567"),
        ("١٬٢٩٩٫٥٠", "1299.50"),
        ("A$ 5", "5"),
        ("5 lakh", "500000"),
        ("5万", "50000"),
        ("5億円", "500000000"),
        ("5千万円", "50000000"),
    ],
)
def test_a_number_is_read_as_a_person_reads_it(text: str, number: str) -> None:
    assert number_in(text) == Decimal(number)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is not a single number"),
        ("5 to 7", "is not a single number"),
        ("12:30", "is not a single number"),
        ("2026-11-30", "is not a single number"),
        ("10²", "is not a single number"),
        ("½", "is not a single number"),
        ("1,2,3", "is not a single number"),
        ("1.23.456", "is not a single number"),
        ("(5.00)", "may be negative, because it is in brackets"),
        ("($5.00)", "may be negative, because it is in brackets"),
        ("$ (1,234.00)", "may be negative, because it is in brackets"),
        ("$(5)", "may be negative, because it is in brackets"),
        ("(5) USD", "may be negative, because it is in brackets"),
        ("USD (5)", "may be negative, because it is in brackets"),
        ("(5)%", "may be negative, because it is in brackets"),
        ("(1,234.50", "may be negative, because it is in brackets"),
        ("1,234.50)", "may be negative, because it is in brackets"),
        ("Loss ($5.00)", "may be negative, because it is in brackets"),
        ("minus 5", "may be negative, because of the 'minus' before it"),
        ("±5", "may be negative or not"),
        ("+/-5", "may be negative or not"),
        ("▼ 5 %", "may be negative or not"),
        (",50", "may be less than it says, because of the sign before it"),
        ("12 99", "is not a single number"),
        ("$5MM", "may be more than it says, because of the 'MM' after it"),
        ("₹5 Cr", "may be more than it says, because of the 'Cr' after it"),
        ("5 mil", "may be more than it says, because of the 'mil' after it"),
        ("3 Billion", "may be more than it says, because of the 'Billion' after it"),
        ("T€ 5", "may be more than it says, because of the 'T' before it"),
        ("k€ 5", "may be more than it says, because of the 'k' before it"),
        ("TEUR 5", "may be more than it says, because of the 'TEUR' before it"),
        ("▾5", "may be negative or not"),
        ("1,29,90", "is not a single number"),
        ("5 TEUR", "may be more than it says, because of the 'TEUR' after it"),
        ("5千克", "may be more than it says, because of the '千克' after it"),
        ("5 करोड़", "may be more than it says, because of the 'करोड' beside it"),
        ("€ million 5", "may be more than it says, because of the 'million' beside it"),
        ("5 thousand million", "may be more than it says, because of the 'million' beside it"),
        ("5.00-", "may be negative, because a minus follows it"),
        ("A-5", "may be negative or not"),
        ("Loss - 5", "may be negative or not"),
        (">5", "may be more than it says, because of the '>' before it"),
        ("> €5", "may be more than it says, because of the '>' before it"),
        ("≥ 5", "may be more than it says, because of the '≥' before it"),
        ("<5", "may be less than it says, because of the '<' before it"),
        ("≈5", "may be more or less than it says, because of the '≈' before it"),
        ("~.5", "may be more or less than it says, because of the '~' before it"),
        ("5〜", "may be more or less than it says, because of the '〜' after it"),
        ("5+", "may be more than it says, because of the '+' after it"),
        ("5 USD+", "may be more than it says, because of the '+' after it"),
        ("5‰", "is less than it says, because of the '‰' after it"),
        ("1.250", "may be 1250 or 1.25"),
        ("1.5k", "may be more than it says, because of the 'k' after it"),
        ("3.2M", "may be more than it says, because of the 'M' after it"),
        ("€3 m", "may be more than it says, because of the 'm' after it"),
    ],
)
def test_what_may_mean_several_numbers_is_none(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        number_in(text)
    assert str(caught.value) == why


def test_a_comma_before_three_digits_is_doubtful_where_the_language_has_decimal_commas() -> None:
    with pytest.raises(ValueError, match=r"^may be 1250 or 1\.25$"):
        number_in("1,250", has_decimal_commas=True)
    assert number_in("1,250", ".", has_decimal_commas=True) == 1250
    assert number_in("1,250,000", has_decimal_commas=True) == 1250000
    assert number_in("12,50", has_decimal_commas=True) == Decimal("12.50")


def test_the_other_numbers_of_a_column_show_which_sign_is_before_decimals() -> None:
    assert decimal_sign(["1.250", "980", "12,50"]) == ","
    assert number_in("1.250", ",") == 1250
    assert decimal_sign(["1.250", "2.5"]) == "."
    assert number_in("1.250", ".") == Decimal("1.25")
    assert number_in("1,250", ",") == Decimal("1.25")
    assert decimal_sign(["1.250", "980"]) is None
    assert decimal_sign(["1.5", "2,5"]) is None


def test_a_text_of_which_the_number_is_only_a_part_is_no_plain_number() -> None:
    assert [is_plain_number(each) for each in ("−1,250.5", " 5 ", "5 pieces", "(5)", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("5 kg", "kg"),
        ("500g", "g"),
        ("$5", "USD"),
        ("5 EUR", "EUR"),
        ("€5", "EUR"),
        ("1.2 GB", "GB"),
        ("12 in stock", ""),
        ("5 stars", ""),
        ("5", ""),
    ],
)
def test_the_unit_of_a_number_is_its_currency_or_a_known_measure(text: str, unit: str) -> None:
    assert unit_in(text) == unit


def test_a_heading_may_say_that_its_numbers_are_thousands() -> None:
    scaled = ["Price (thousands)", "T€", "Sales in k€", "Umsatz (Mio. EUR)"]
    assert [each for each in [*scaled, "Price (%)", "Size (MB)", "Mile", "T", "Price"] if names_scale(each)] == scaled

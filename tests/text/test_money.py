"""Claims about amounts of money in texts: the usual ways to write them are read, and never as less than they are."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision_agent.text.money import CURRENCIES, Money, amounts_in

WAYS = {
    "1.234,50 €": "1234.50 EUR",
    "$1,234.50": "1234.50 USD",
    "1 234,50 EUR": "1234.50 EUR",
    "1\u202f234,50\u00a0€": "1234.50 EUR",
    "1'234.50 CHF": "1234.50 CHF",
    "CHF 12.-": "12 CHF",
    "Fr. 12.–": "12 CHF",
    "12.-": "12 ",
    "¥1,234": "1234 JPY",
    "1,234円": "1234 JPY",
    "£9.99": "9.99 GBP",
    "US$40": "40 USD",
    "12 Euro": "12 EUR",
    "5 dollars": "5 USD",
    "EUR14": "14 EUR",
    "Pay €14": "14 EUR",
    "€ 1.234": "1234 EUR",
    "€1.2k": "1200 EUR",
    "€3 million": "3000000 EUR",
    "5 € million": "5000000 EUR",
    "5 EUR Mio.": "5000000 EUR",
    "5 € Millionen": "5000000 EUR",
    "5 USD billion": "5000000000 USD",
    "5 €m": "5000000 EUR",
    "5€bn": "5000000000 EUR",
    "5 EURk": "5000 EUR",
    "€m 5": "5000000 EUR",
    "€ million 5": "5000000 EUR",
    "EUR mn: 5": "5000000 EUR",
    "5 SEK million": "5000000 other",
    "5 € Bio": "5 EUR",
    "5 € M": "5 EUR",
    "5 €/m": "5 EUR",
    "5 € m²": "5 EUR",
    "5 € millionaire": "5 EUR",
    "120 99 €": "120.99 EUR",
    "Pay € 12 99": "12.99 EUR",
    "12 99 €": "99 EUR",
    "€120 .99": "120.99 EUR",
    "Pay €.50": "0.50 EUR",
    "12€.50": "12 EUR, 50 EUR",
    "5 Milliarden €": "5000000000 EUR",
    "€5 Mld": "5000000000 EUR",
    "$5MM": "5000000 USD",
    "$5B": "5000000000 USD",
    "₹5 Cr": "50000000 other",
    "5万円": "50000 JPY",
    "¥5億": "500000000 JPY",
    "CA$40": "40 other",
    "R$ 5": "5 other",
    "SEK 100": "100 other",
    "₹500": "500 other",
    "1\u200b00 €": "100 EUR",
    "１２ €": "12 EUR",
    "12⁹⁹ €": "1299 EUR",
    "€5–10": "5 EUR, 10 EUR",
    "12 € 10 CHF": "12 EUR, 10 EUR, 10 CHF",
    "€9‘500": "9500 EUR",
    "€9·500": "9500 EUR",
    "€9˙500": "9500 EUR",
    "€9_500": "9500 EUR",
    "1e3 EUR": "1000 EUR",
    "EUR 1,4e3": "1400 EUR",
    "100 × €9.99": "999 EUR",
    "€9.99 × 100": "999 EUR",
    "€0.05×10000": "500 EUR",
    "Room 12, 3 items, 20% off, 5 try again, 14 europe": "",
}


def read(text: str) -> str:
    return ", ".join(f"{each.value.normalize():f} {each.currency}" for each in amounts_in(text))


@pytest.mark.parametrize(("text", "amounts"), WAYS.items())
def test_an_amount_is_read_as_a_person_reads_it_and_the_larger_of_two_readings_counts(text: str, amounts: str) -> None:
    expected = ", ".join(
        f"{Decimal(each.split(' ')[0]).normalize():f} {each.split(' ')[1]}" for each in amounts.split(", ") if each
    )
    assert read(text) == expected


def grouped(number: Decimal, group: str, point: str) -> str:
    return f"{number:,.2f}".replace(",", "\0").replace(".", point).replace("\0", group)


@given(
    cents=st.integers(0, 10**11),
    signs=st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("\u00a0", ","), ("", "."), ("’", ".")]),
    way=st.sampled_from(["€%s", "%s €", "EUR %s", "%s EUR", "Total: %s€.", "%s euros"]),
    around=st.tuples(st.sampled_from(["", "Mug ", "Pay "]), st.sampled_from(["", " now", ", shipped"])),
)
def test_every_amount_is_read_however_its_groups_and_cents_are_written(
    cents: int, signs: tuple[str, str], way: str, around: tuple[str, str]
) -> None:
    number = Decimal(cents) / 100
    text = around[0] + way % grouped(number, *signs) + around[1]
    assert [(each.value, each.currency) for each in amounts_in(text)] == [(number, "EUR")]


@given(text=st.text(st.sampled_from("0123456789.,' -–€$£¥kmEURCHF\n\u202e\u200bx")) | st.text())
def test_any_text_is_read_without_an_error_and_no_amount_is_negative(text: str) -> None:
    assert all(each.value >= 0 and each.value.is_finite() for each in amounts_in(text))


@given(text=st.text(st.sampled_from("0123456789.,' €x"), min_size=1))
def test_what_stands_before_an_amount_never_makes_it_smaller(text: str) -> None:
    assert max(each.value for each in amounts_in(f"{text} 37 €")) >= 37


@pytest.mark.parametrize(
    ("text", "limit"),
    [("50 EUR", "50 EUR"), ("€50", "50 EUR"), ("EUR 5", "5 EUR"), ("49.90 chf", "49.90 CHF"), ("$ 5", "5 USD")],
)
def test_a_limit_is_an_amount_in_a_known_currency(text: str, limit: str) -> None:
    assert Money(text) == limit
    assert Money(Money(text)) == limit


@pytest.mark.parametrize("text", ["", "50", "1,5 EUR", "-5 EUR", "nan EUR", "50 SEK", "1e3 EUR", "50.555 EUR", "lots"])
def test_what_is_no_limit_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no amount of money: write it like 50 EUR or 49\.90 CHF"):
        Money(text)


@given(
    one=st.builds("{} {}".format, st.integers(0, 999), st.sampled_from(CURRENCIES)),
    other=st.builds("{} {}".format, st.integers(0, 999), st.sampled_from(CURRENCIES)),
)
def test_a_limit_is_raised_by_a_larger_amount_and_by_another_currency(one: str, other: str) -> None:
    is_same = one.split()[1] == other.split()[1]
    assert (Money(one) > Money(other)) is (not is_same or int(one.split()[0]) > int(other.split()[0]))

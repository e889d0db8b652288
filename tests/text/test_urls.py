"""Claims about addresses as data."""

from __future__ import annotations

import pytest

from vision_agent.text.urls import (
    LONGEST_ADDRESS,
    LONGEST_SHOWN,
    bounded_address,
    host_of,
    is_cut,
    names_page_file,
    resolve_url,
    shown_address,
)

LONG = "https://shop.test/" + "x" * 500_000


@pytest.mark.parametrize(
    ("text", "is_file"),
    [
        ("page.html", True),
        ("a page.HTM?tab=2", True),
        ("site/page.html", True),
        ("./page", True),
        ("chart.svg", True),
        ("shop.example/page.html", False),
        ("localhost/page.html", False),
        ("localhost:8000/page.html", False),
        ("https://page.html", False),
        ("shop.example", False),
    ],
)
def test_the_name_of_a_page_is_told_from_a_host(text: str, is_file: bool) -> None:
    assert names_page_file(text) == is_file


@pytest.mark.parametrize("url", ["https://shop.test/a?b#c", "about:blank", "https://shop.test/" + "x" * 7_900])
def test_an_address_of_usual_length_is_left_alone(url: str) -> None:
    assert (bounded_address(url), is_cut(url)) == (url, False)


def test_a_long_address_is_cut_once_and_two_of_them_stay_different() -> None:
    cut = bounded_address(LONG)
    assert len(cut) < LONGEST_ADDRESS + 60
    assert bounded_address(cut) == cut or is_cut(bounded_address(cut))
    assert cut != bounded_address(LONG + "y")
    assert is_cut(cut)
    assert is_cut(resolve_url(cut, "?more"))


def test_what_is_shown_of_a_long_address_says_how_long_it_was() -> None:
    for url in (LONG, bounded_address(LONG)):
        assert len(shown_address(url)) < LONGEST_SHOWN + 40
        assert shown_address(url).endswith("… (500018 characters)")


def test_a_long_user_name_does_not_hide_the_host() -> None:
    assert host_of(bounded_address(f"https://{'u' * 9_000}:p@shop.test/{'x' * 9_000}")) == "shop.test"
    assert host_of(bounded_address("data:text/html," + "x" * 20_000)) == ""

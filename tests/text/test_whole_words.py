"""Claims about finding whole words and numbers in a text."""

from __future__ import annotations

import pytest

from vision_agent.text.whole_words import has_whole_words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Log out", "Log out"),
        ("Ann: log  out!", "Log out"),
        ("Total 149.00 EUR", "149.00"),
        ("10-20", "20"),
        ("Unsubscribed, subscribed", "Subscribed"),
        ("注文を確定しました", "確定"),
        ("E-mail", "mail"),
    ],
)
def test_whole_words_and_numbers_are_found(text: str, wanted: str) -> None:
    assert has_whole_words(text, wanted)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Unsubscribed", "Subscribed"),
        ("Cart 12", "Cart 1"),
        ("Total 149.00", "49.00"),
        ("49.00", "49"),
        ("1,249", "249"),
        ("Balance −49", "49"),
        ("Log out", "Log in"),
    ],
)
def test_a_part_of_a_word_or_a_number_is_not(text: str, wanted: str) -> None:
    assert not has_whole_words(text, wanted)

"""Claims about the words of a name with their signs."""

from __future__ import annotations

import pytest

from vision_agent.text.signed_words import signed_words


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("C+", "c+"),
        ("C−", "c-"),
        ("(C–),", "c-"),
        ("“A*”", "a*"),
        ("-x", "-x"),
        ("Zoom -", "zoom -"),
        ("+ New", "+ new"),
        ("Rectangle — R", "rectangle r"),
        ("Rectangle - R", "rectangle r"),
        ("Save & exit", "save exit"),
        ("E-mail:", "e mail"),
        ("-- Choose --", "choose"),
        ("C++ 11", "c++ 11"),
        ("Order (#5)", "order #5"),
        ("100%", "100%"),
        ("$5", "$5"),
        ("हिन्दी", "हिन्दी"),
    ],
)
def test_signs_at_a_word_or_at_the_end_are_kept_and_punctuation_is_not(name: str, words: str) -> None:
    assert signed_words(name) == (tuple(words.split()), frozenset())


@pytest.mark.parametrize(
    ("name", "picture"), [("Sort ↑", "↑"), ("↑Sort", "↑"), ("Sort ->", "→"), ("Sort »", "»"), ("❤️ Sort", "❤")]
)
def test_arrows_and_other_pictures_stand_apart_from_the_words(name: str, picture: str) -> None:
    assert signed_words(name) == (("sort",), {picture})

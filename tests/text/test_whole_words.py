"""Claims about finding whole words and numbers in a text."""

from __future__ import annotations

import pytest

from tests.whole_word_cases import CUT, WHOLE
from vision_agent.text.whole_words import has_whole_words


@pytest.mark.parametrize(("text", "wanted"), [(text, each) for text, wanted in WHOLE.items() for each in wanted])
def test_whole_words_and_numbers_are_found(text: str, wanted: str) -> None:
    assert has_whole_words(text, wanted)


@pytest.mark.parametrize(("text", "wanted"), [(text, each) for text, wanted in CUT.items() for each in wanted])
def test_a_part_of_a_word_or_a_number_is_not(text: str, wanted: str) -> None:
    assert not has_whole_words(text, wanted)


def test_a_space_that_was_made_plain_may_be_inside_a_number() -> None:
    assert has_whole_words("1 299,00", "299,00")
    assert not has_whole_words("1 299,00", "299,00", has_plain_spaces=True)
    assert has_whole_words("1 299,00", "1 299,00", has_plain_spaces=True)

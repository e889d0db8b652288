"""Claims about which texts have to do with a goal."""

from __future__ import annotations

import pytest

from vision_agent.policy.relevance import content_words, is_about, most_relevant, page_text_of


@pytest.mark.parametrize(
    ("goal", "text", "expected"),
    [
        ("Buy two mugs", "Blue mug", True),
        ("Buy a mug", "MUGS & cups", True),
        ("Find the imprint", "Find your way", True),
        ("Find the imprint of the shop", "The end of it", False),
        ("Order 7", "Order 71", True),
        ("Take number 7", "71 days", False),
        ("Go to B2", "b2", True),
        ("查看购物车", "购物", True),
        ("Straße", "STRASSE 5", True),
        ("Buy a mug", "", False),
    ],
)
def test_a_text_is_about_a_goal_when_it_has_a_telling_word_of_it(goal: str, text: str, expected: bool) -> None:
    assert is_about(text, content_words(goal)) is expected


def test_of_a_line_the_words_of_the_page_are_read_and_not_its_tag_or_state() -> None:
    said = page_text_of('<input type=email value="a@b.c" required>Link to us')
    assert said == "a@b.c Link to us"
    assert not is_about(page_text_of("<button disabled>Send"), content_words("press the disabled button"))


def test_what_was_acted_on_comes_first_and_what_shares_no_word_is_left_out() -> None:
    lines = {1: "<a>Terms", 2: "<a>Blue mug", 3: "<button>Add", 4: "<a>Mug and cup", 5: "<a>Mug"}
    assert most_relevant(lines, {3}, "buy a mug and a cup") == (2, 3, 4)
    assert most_relevant(lines, {3}, "nothing of it") == (3,)

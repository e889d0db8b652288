"""Claims about the count of tokens: near what tokenizers say, and taken over the whole listing."""

from __future__ import annotations

import pytest

from vision_agent.evals.listing_tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "o200k"),
    [
        ("12[:]<button>Save draft", 7),
        ('7[:]<input type=email value="a@b.c" required>Email', 15),
        ("3[:]<div clickable>Order 17", 9),
        ("14[:]<a *new>Terms @frame:checkout", 12),
        ("5[:]<input type=checkbox checked>News", 10),
    ],
)
def test_a_line_counts_about_what_a_tokenizer_says(text: str, o200k: int) -> None:
    assert o200k <= count_tokens(text) <= o200k * 1.3 + 1

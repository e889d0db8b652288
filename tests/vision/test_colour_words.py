"""Claims about the names of colours."""

from __future__ import annotations

import numpy as np
import pytest

from vision_agent.vision.surfaces.colour_words import colour_word


@pytest.mark.parametrize(
    ("colour", "word"),
    {
        "#d62828": "red", "#1d5fd1": "blue", "#2a9134": "green", "#f08c00": "orange", "#7b2cbf": "purple",
        "#222222": "black", "#868e96": "grey", "#ffffff": "white", "#ffd43b": "yellow", "#8a5a33": "brown",
        "#f783ac": "pink", "#12b5b5": "turquoise", "#0b3d91": "blue", "#e7f5ff": "white",
    }.items(),
)  # fmt: skip
def test_a_colour_has_the_name_that_a_person_would_give(colour: str, word: str) -> None:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    assert colour_word(np.array([blue, green, red], np.float32)) == word

"""Claims about what the texts that were read on things are taken for."""

from __future__ import annotations

import numpy as np
import pytest

from vision_agent.geometry import Box
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.ocr import Reading
from vision_agent.vision.picture import Picture
from vision_agent.vision.surfaces.candidates import SurfaceProposals
from vision_agent.vision.surfaces.things import read_lines

PAGE = Box(x=0, y=0, width=40, height=30)


@pytest.mark.parametrize(
    ("read", "shown"),
    [
        (["7", "十", "二", "一"], ["7", "+", "=", "−"]),
        (["一", "二", "三"], ["一", "二", "三"]),
        (["十", "一月"], ["十", "一月"]),
        (["Sum", "X"], ["Sum", "X"]),
    ],
    ids=["keys of a calculator", "numerals", "words beside it", "no ideographs"],
)
def test_a_lone_ideograph_is_the_sign_that_it_looks_like_if_no_others_are_written(
    read: list[str], shown: list[str]
) -> None:
    picture = Picture.of_rgb(np.zeros((30, 40, 3), np.uint8), PAGE, ImageLimits())
    lines = tuple(Box(x=0, y=10 * at, width=10, height=8) for at in range(len(read)))
    found = read_lines(picture, SurfaceProposals(lines=lines), lambda *_: [Reading(text, 0.9) for text in read])
    assert [one and one.text for one in found.values()] == shown

"""Claims about numbered boxes on pictures of the caller."""

from __future__ import annotations

import math
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from vision_agent import annotate
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.observation import Mark
from vision_agent.types import Point
from vision_agent.vision.picture import Picture


def picture(form: str = "PNG") -> bytes:
    made = BytesIO()
    Image.new("RGB", (400, 300), "white").save(made, form)
    return made.getvalue()


def changed(before: bytes, after: bytes) -> np.ndarray:
    one, other = (np.asarray(Image.open(BytesIO(each)).convert("RGB"), int) for each in (before, after))
    return np.abs(one - other).max(axis=2) > 60


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_boxes_are_drawn_with_numbers_and_nothing_else_changes(form: str) -> None:
    given = picture(form)
    shot = annotate(given, [(50, 60, 80, 30), Box(x=200, y=150, width=60, height=40)])
    assert (shot.media_type, shot.size.words) == ("image/png", "400 by 300")
    assert shot.data is not None
    drawn = changed(given, shot.data)
    for left, top, width, _ in ((50, 60, 80, 30), (200, 150, 60, 40)):
        assert drawn[top - 3 : top + 4, left : left + width].any(axis=0).mean() > 0.9
    assert not drawn[220:, :].any()
    assert shot._repr_png_() == shot.data


def test_marks_of_a_shot_lie_where_the_page_has_them(tmp_path: Path) -> None:
    half = Picture.decode(picture(), Box(x=0, y=0, width=800, height=600)).encode()
    box = Box(x=400, y=300, width=100, height=60)
    mark = Mark(number=7, tag="a", role="link", kind="link", name="Go", box=box, point=Point(x=450, y=330))
    shot = annotate(half, [mark])
    assert half.data is not None
    assert shot.data is not None
    assert changed(half.data, shot.data)[148:152, 202:248].any(axis=0).mean() > 0.9
    (tmp_path / "a.png").write_bytes(half.data)
    assert annotate(tmp_path / "a.png", []).data == half.data


def test_what_is_no_picture_or_has_a_number_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="The picture cannot be read: its 10 bytes"):
        annotate(b"no picture", [])
    with pytest.raises(UsageError, match=r"none\.png cannot be read"):
        annotate(tmp_path / "none.png", [])
    box = Box(x=1, y=1, width=50, height=50)
    mark = Mark(number=2, tag="a", role="link", kind="link", name="Go", box=box, point=box.center)
    with pytest.raises(UsageError, match="Two marks have the number 2"):
        annotate(picture(), [mark, mark])


def test_a_box_of_playwright_is_a_box_and_what_is_none_is_refused_with_its_number() -> None:
    given = picture()
    as_numbers, as_playwright = (10.0, 20.0, 80.0, 30.0), {"x": 10.0, "y": 20.0, "width": 80.0, "height": 30.0}
    assert annotate(given, [as_playwright]).data == annotate(given, [as_numbers]).data
    others: list[Any] = [(10, 10, 5), (10, 10, -5, 5), {"x": 1}, "abcd", (1, 1, math.nan, 5), (1, 1, "wide", 5), 7]
    for other in others:
        with pytest.raises(UsageError, match=r"Box 2 is no box: .*x, y, width, height"):
            annotate(given, [as_numbers, other])
    hidden: Any = None
    with pytest.raises(UsageError, match="not shown has none: leave it out"):
        annotate(given, [hidden])

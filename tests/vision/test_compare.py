"""Claims about what counts as a visible change."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.types import Box, Shot, Size
from vision_agent.vision.compare import changed_share, same_at
from vision_agent.vision.picture import Picture

HERE = Point(x=100, y=60)


def page_like() -> NDArray[np.uint8]:
    pixels = np.full((120, 200, 3), 255, np.uint8)
    for line, y in enumerate(range(20, 120, 20)):
        cv2.putText(
            pixels, f"Line {line} of text", (8, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (40, 40, 40), 1, cv2.LINE_AA
        )
    return pixels


def picture(pixels: NDArray[np.uint8], ratio: float = 1) -> Picture:
    page = Box(x=0, y=0, width=pixels.shape[1] / ratio, height=pixels.shape[0] / ratio)
    return Picture.decode(cv2.imencode(".png", pixels)[1].tobytes(), page)


def test_the_same_picture_has_not_changed() -> None:
    assert changed_share(picture(page_like()), picture(page_like())) == 0


def test_writing_it_as_jpeg_is_no_change() -> None:
    clean = picture(page_like())
    assert changed_share(clean, clean.encode("jpeg")) == 0
    assert same_at(clean, clean.encode("jpeg"), HERE)


def test_single_pixels_of_softened_edges_are_no_change() -> None:
    shimmer = page_like().astype(int)
    at = np.random.default_rng(5).choice(120 * 200, 200, replace=False)
    shimmer.reshape(-1, 3)[at] -= 20
    assert changed_share(picture(page_like()), picture(shimmer.clip(0, 255).astype(np.uint8))) == 0


def test_a_tick_in_a_checkbox_is_a_change_where_it_is_and_nowhere_else() -> None:
    ticked = page_like()
    cv2.line(ticked, (94, 60), (98, 64), (200, 90, 0), 2)
    cv2.line(ticked, (98, 64), (106, 54), (200, 90, 0), 2)
    before, after = picture(page_like()), picture(ticked)
    assert changed_share(before, after, Box(x=90, y=50, width=20, height=20)) > 0.1
    assert changed_share(before, after, Box(x=0, y=0, width=60, height=120)) == 0
    assert not same_at(before, after, HERE)
    assert same_at(before, after, Point(x=20, y=20))


def test_a_hover_tint_is_a_change() -> None:
    tinted = page_like()
    tinted[50:70, 60:140] = (255, 238, 235)
    share = changed_share(picture(page_like()), picture(tinted), Box(x=60, y=50, width=80, height=20))
    assert share > 0.8


def test_everything_replaced_is_a_share_of_one() -> None:
    assert changed_share(picture(page_like()), picture(255 - page_like())) > 0.9
    assert changed_share(picture(page_like()), picture(page_like()[:100])) == 1.0


def test_the_box_is_of_the_page_and_not_of_the_picture() -> None:
    after = page_like()
    after[80:100, 100:140] = 0
    share = changed_share(picture(page_like(), 2), picture(after, 2), Box(x=50, y=40, width=20, height=10))
    assert share == 1.0


def test_a_point_that_no_picture_shows_is_not_the_same() -> None:
    assert not same_at(picture(page_like()), picture(page_like()), Point(x=500, y=10))


def test_a_point_at_the_very_edge_is_compared_with_what_is_there() -> None:
    assert same_at(picture(page_like()), picture(page_like()), Point(x=199, y=0))


def test_a_shot_without_its_bytes_cannot_be_compared() -> None:
    shot = Shot(media_type="image/png", size=Size(width=200, height=120), sha256="cd" * 32)
    with pytest.raises(UsageError, match="came without its bytes"):
        changed_share(picture(page_like()), shot)

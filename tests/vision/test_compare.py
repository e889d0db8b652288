"""Claims about what counts as a visible change."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.pictures import shown
from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.geometry import Box, Size
from vision_agent.observation import Shot
from vision_agent.vision.compare import (
    changed_apart_from,
    changed_box,
    changed_boxes,
    changed_share,
    found_again,
    same_at,
)
from vision_agent.vision.picture import Picture

HERE = Point(x=100, y=60)


def page_like() -> NDArray[np.uint8]:
    pixels = np.full((120, 200, 3), 255, np.uint8)
    for line, y in enumerate(range(20, 120, 20)):
        cv2.putText(
            pixels, f"Line {line} of text", (8, y), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (40, 40, 40), 1, cv2.LINE_AA
        )
    return pixels


def test_the_same_picture_has_not_changed() -> None:
    assert changed_share(shown(page_like()), shown(page_like())) == 0


def test_writing_it_as_jpeg_is_no_change() -> None:
    clean = shown(page_like())
    assert changed_share(clean, clean.encode("jpeg")) == 0
    assert same_at(clean, clean.encode("jpeg"), HERE)


def test_single_pixels_of_softened_edges_are_no_change() -> None:
    shimmer = page_like().astype(int)
    at = np.random.default_rng(5).choice(120 * 200, 200, replace=False)
    shimmer.reshape(-1, 3)[at] -= 20
    assert changed_share(shown(page_like()), shown(shimmer.clip(0, 255).astype(np.uint8))) == 0


def test_a_tick_in_a_checkbox_is_a_change_where_it_is_and_nowhere_else() -> None:
    ticked = page_like()
    cv2.line(ticked, (94, 60), (98, 64), (200, 90, 0), 2)
    cv2.line(ticked, (98, 64), (106, 54), (200, 90, 0), 2)
    before, after = shown(page_like()), shown(ticked)
    assert changed_share(before, after, Box(x=90, y=50, width=20, height=20)) > 0.1
    assert changed_share(before, after, Box(x=0, y=0, width=60, height=120)) == 0
    assert not same_at(before, after, HERE)
    assert same_at(before, after, Point(x=20, y=20))


def test_a_hover_tint_is_a_change() -> None:
    tinted = page_like()
    tinted[50:70, 60:140] = (255, 238, 235)
    share = changed_share(shown(page_like()), shown(tinted), Box(x=60, y=50, width=80, height=20))
    assert share > 0.8


def test_everything_replaced_is_a_share_of_one() -> None:
    assert changed_share(shown(page_like()), shown(255 - page_like())) > 0.9
    assert changed_share(shown(page_like()), shown(page_like()[:100])) == 1.0


def test_the_box_is_of_the_page_and_not_of_the_picture() -> None:
    after = page_like()
    after[80:100, 100:140] = 0
    share = changed_share(shown(page_like(), 2), shown(after, 2), Box(x=50, y=40, width=20, height=10))
    assert share == 1.0


def test_a_point_that_no_picture_shows_is_not_the_same() -> None:
    assert not same_at(shown(page_like()), shown(page_like()), Point(x=500, y=10))


def test_a_point_at_the_very_edge_is_compared_with_what_is_there() -> None:
    assert same_at(shown(page_like()), shown(page_like()), Point(x=199, y=0))


def test_a_shot_without_its_bytes_cannot_be_compared() -> None:
    shot = Shot(media_type="image/png", size=Size(width=200, height=120), sha256="cd" * 32)
    with pytest.raises(UsageError, match="loaded without its bytes"):
        changed_share(shown(page_like()), shot)


# --- finding it again -------------------------------------------------------------------------------------------------

STILL = Point(x=0, y=0)
PART = Box(x=40, y=30, width=30, height=20)


def with_boxes(*places: tuple[int, int]) -> Picture:
    pixels = np.full((200, 300, 3), 245, np.uint8)
    for x, y in places:
        cv2.rectangle(pixels, (x + 3, y + 3), (x + 26, y + 16), (60, 120, 200), cv2.FILLED)
    return shown(pixels)


def again(before: Picture, after: Picture, moved: Point = STILL, beside: tuple[Box, ...] = ()) -> Point | None:
    return found_again(before, after, PART, moved, STILL, 60, beside)


def test_what_stands_still_is_found_where_it_was() -> None:
    assert again(with_boxes((40, 30)), with_boxes((40, 30))) == STILL


def test_what_moved_is_found_where_it_is() -> None:
    assert again(with_boxes((40, 30)), with_boxes((65, 51))) == Point(x=25, y=21)


def test_what_moved_farther_than_it_is_followed_is_not_found() -> None:
    assert again(with_boxes((40, 30)), with_boxes((140, 30))) is None


def test_of_two_alike_places_none_is_it() -> None:
    assert again(with_boxes((40, 30)), with_boxes((20, 60), (80, 60))) is None


def test_one_that_was_there_all_along_is_not_it() -> None:
    assert again(with_boxes((40, 30), (90, 30)), with_boxes((90, 30))) is None


def test_a_place_that_looks_the_same_while_what_is_beside_it_does_not_is_it_only_where_nothing_is_alike() -> None:
    beside = Box(x=0, y=30, width=300, height=20)
    before, after = with_boxes((40, 30), (200, 30)), with_boxes((40, 30), (230, 30))
    assert again(before, after, beside=(beside,)) == STILL
    twins = with_boxes((40, 30), (90, 30), (200, 30)), with_boxes((40, 30), (90, 30), (230, 30))
    assert again(*twins, beside=(beside,)) is None


def test_plain_ground_is_found_only_where_it_is_expected() -> None:
    nothing = with_boxes()
    assert again(nothing, nothing) == STILL
    assert again(nothing, with_boxes((40, 30))) is None


def test_one_digit_in_something_large_is_a_change() -> None:
    def tile(text: str) -> Picture:
        pixels = np.full((200, 300, 3), 245, np.uint8)
        cv2.putText(pixels, text, (60, 70), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (30, 30, 30), 1, cv2.LINE_AA)
        return shown(pixels)

    large = Box(x=20, y=20, width=240, height=120)
    assert found_again(tile("12"), tile("13"), large, STILL, STILL, 10) is None


def test_the_box_around_what_changed_is_told() -> None:
    box = changed_box(with_boxes(), with_boxes((100, 80)), Box(x=50, y=50, width=200, height=100))
    assert box is not None
    assert (abs(box.x - 103), abs(box.right - 127)) <= (1, 1)
    assert changed_box(with_boxes(), with_boxes(), Box(x=0, y=0, width=300, height=200)) is None


@pytest.mark.parametrize("ratio", [1, 2])
def test_each_place_that_changed_has_a_box_of_its_own_in_page_coordinates(ratio: int) -> None:
    tinted = page_like()
    tinted[10:20, 10:30] = (40, 40, 40)
    tinted[80:110, 120:180] = (255, 238, 235)
    large, small = changed_boxes(shown(page_like(), ratio), shown(tinted, ratio))
    assert large.likeness(Box(x=120 / ratio, y=80 / ratio, width=60 / ratio, height=30 / ratio)) > 0.8
    assert small.likeness(Box(x=10 / ratio, y=10 / ratio, width=20 / ratio, height=10 / ratio)) > 0.6


def test_no_place_is_named_where_nothing_changed_or_the_sizes_differ() -> None:
    assert changed_boxes(shown(page_like()), shown(page_like())) == ()
    assert changed_boxes(shown(page_like()), shown(page_like()[:100])) == ()


def test_what_changed_is_counted_outside_some_boxes_and_inside_others_all_the_same() -> None:
    view = Box(x=0, y=0, width=100, height=80)
    pixels = np.full((80, 100, 3), 255, np.uint8)
    before = Picture.of_rgb(pixels, view)
    pixels[10:30, 10:30] = 0
    after = Picture.of_rgb(pixels, view)
    around, inside = Box(x=5, y=5, width=30, height=30), Box(x=10, y=10, width=5, height=5)
    assert changed_apart_from(before, before, []) == 0
    assert changed_apart_from(before, after, []) >= 400
    assert changed_apart_from(before, after, [around]) == 0
    assert changed_apart_from(before, after, [around], [inside]) == 25

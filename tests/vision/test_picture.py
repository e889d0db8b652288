"""Claims about pictures: that pixels and page stay together, and that what is sent is what was seen."""

from __future__ import annotations

import hashlib
import random
from math import ceil, floor

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.geometry import Box, Size
from vision_agent.observation import Shot
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Extent, Picture, pixels_of

VIEWPORT = Box(x=0, y=0, width=1280, height=800)


def encoded(pixels: NDArray[np.uint8], ending: str = ".png") -> bytes:
    return cv2.imencode(ending, pixels)[1].tobytes()


def noise(width: int = 64, height: int = 48) -> NDArray[np.uint8]:
    return np.random.default_rng(3).integers(0, 256, (height, width, 3)).astype(np.uint8)


def at_scale_one(pixels: NDArray[np.uint8]) -> Picture:
    return Picture.decode(encoded(pixels), Box(x=0, y=0, width=pixels.shape[1], height=pixels.shape[0]))


@pytest.mark.parametrize("ratio", [1, 1.25, 2, 3])
def test_a_dot_is_found_on_the_page_where_it_was_painted_whatever_the_device_ratio(ratio: float) -> None:
    chance = random.Random(int(ratio * 100))
    for _ in range(5):
        x, y = chance.randint(20, 1260), chance.randint(20, 780)
        pixels = np.zeros((round(800 * ratio), round(1280 * ratio), 3), np.uint8)
        pixels[round((y - 4) * ratio) : round((y + 4) * ratio), round((x - 4) * ratio) : round((x + 4) * ratio)] = 255
        picture = Picture.decode(encoded(pixels), VIEWPORT, ImageLimits())
        weight = pixels_of(picture)[:, :, 0].astype(float)
        rows, columns = np.indices(weight.shape)
        found = Point(
            x=float((weight * (columns + 0.5)).sum() / weight.sum()),
            y=float((weight * (rows + 0.5)).sum() / weight.sum()),
        )
        there = picture.map.to_page(found)
        assert abs(there.x - x) <= 0.5
        assert abs(there.y - y) <= 0.5


@pytest.mark.parametrize("ratio", [1, 1.25, 2, 3])
def test_a_pixel_of_the_picture_comes_back_from_the_page_within_half_a_pixel(ratio: float) -> None:
    pixels = np.zeros((round(800 * ratio), round(1280 * ratio), 3), np.uint8)
    picture = Picture.decode(encoded(pixels), VIEWPORT, ImageLimits())
    chance = random.Random(11)
    for _ in range(200):
        there = Point(x=chance.randrange(picture.size.width), y=chance.randrange(picture.size.height))
        # Input is sent at whole CSS pixels by some drivers, so the page point is rounded in between.
        page = picture.map.to_page(there)
        back = picture.map.to_picture(Point(x=round(page.x), y=round(page.y)))
        assert abs(back.x - there.x) <= 0.5 / picture.map.scale_x
        assert abs(back.y - there.y) <= 0.5 / picture.map.scale_y


def test_a_large_screenshot_is_shrunk_to_the_limits_and_says_so_in_its_map() -> None:
    picture = Picture.decode(encoded(np.zeros((1600, 2560, 3), np.uint8)), VIEWPORT, ImageLimits(longest_edge=1000))
    assert picture.size == Size(width=1000, height=625)
    assert picture.map.scale_x == pytest.approx(1.28)
    assert picture.encode().size == picture.size


def test_a_screenshot_of_part_of_the_page_keeps_its_place() -> None:
    picture = Picture.decode(encoded(noise(100, 50)), Box(x=300, y=200, width=50, height=25))
    assert picture.map.to_page(Point(x=100, y=50)) == Point(x=350, y=225)


def test_a_png_that_fits_is_kept_to_the_byte() -> None:
    data = encoded(noise())
    shot = Picture.decode(data, VIEWPORT, ImageLimits()).encode("png")
    assert shot.data == data
    assert shot.sha256 == hashlib.sha256(data).hexdigest()


def test_the_hash_is_that_of_the_bytes_and_the_bytes_are_made_once() -> None:
    picture = at_scale_one(noise())
    shot = picture.encode("jpeg")
    assert shot.media_type == "image/jpeg"
    assert shot.data is not None
    assert shot.sha256 == hashlib.sha256(shot.data).hexdigest()
    assert picture.encode("jpeg") is shot


def test_a_png_comes_back_pixel_for_pixel() -> None:
    picture = at_scale_one(noise()).masked([Box(x=2, y=2, width=5, height=5)])
    assert np.array_equal(pixels_of(Picture.of(picture.encode("png"))), pixels_of(picture))


def test_a_jpeg_keeps_coloured_lines_one_pixel_wide() -> None:
    stripes = np.zeros((64, 64, 3), np.uint8)
    stripes[:, ::2] = (200, 40, 40)
    stripes[:, 1::2] = (40, 40, 200)
    back = pixels_of(Picture.of(at_scale_one(stripes).encode("jpeg"))).astype(int)
    assert np.abs(back - stripes).max() < 40


@pytest.mark.parametrize("ratio", [1, 1.5, 3])
def test_nothing_of_a_masked_field_is_left_and_the_rest_is_as_it_was(ratio: float) -> None:
    pixels = np.full((round(200 * ratio), round(300 * ratio), 3), 255, np.uint8)
    field = Box(x=40.3, y=60.7, width=100.2, height=20.1)
    # A browser paints every device pixel that the field touches.
    rows, columns = (slice(floor(a * ratio), ceil(b * ratio)) for a, b in ((60.7, 80.8), (40.3, 140.5)))
    pixels[rows, columns] = (0, 0, 255)
    picture = Picture.decode(encoded(pixels), Box(x=0, y=0, width=300, height=200), ImageLimits(longest_edge=310))
    masked = pixels_of(picture.masked([field]))
    assert (pixels_of(picture)[:, :, 1] < 250).any()
    assert (masked[..., 0] == masked[..., 2]).all(), "only greys are left"
    assert (masked[: int(55 / picture.map.scale_y)] == 255).all()


def test_masking_leaves_the_first_picture_alone_and_a_box_outside_masks_nothing() -> None:
    picture = at_scale_one(noise())
    before = pixels_of(picture).copy()
    same = picture.masked([Box(x=500, y=500, width=10, height=10), Box(x=-50, y=-50, width=10, height=10)])
    assert np.array_equal(pixels_of(same), before)
    picture.masked([Box(x=0, y=0, width=64, height=48)])
    assert np.array_equal(pixels_of(picture), before)


def test_a_crop_shows_its_part_of_the_page_and_knows_where_it_is() -> None:
    pixels = noise(200, 100)
    picture = Picture.decode(encoded(pixels), Box(x=0, y=0, width=100, height=50))
    crop = picture.crop(Box(x=10.2, y=20, width=30, height=10))
    assert np.array_equal(pixels_of(crop), pixels[40:60, 20:81])
    assert crop.map.to_page(Point(x=0, y=0)) == Point(x=10, y=20)
    assert crop.map.to_page(Point(x=20, y=10)) == picture.map.to_page(Point(x=40, y=50))


def test_a_crop_outside_the_picture_is_refused_with_its_place() -> None:
    with pytest.raises(UsageError, match="70,0 of 5×5"):
        at_scale_one(noise()).crop(Box(x=70, y=0, width=5, height=5))


@pytest.mark.parametrize("ratio", [1, 1.25, 2, 3])
def test_what_is_zoomed_into_is_larger_and_is_found_where_it_is_on_the_page(ratio: float) -> None:
    pixels = np.zeros((round(800 * ratio), round(1280 * ratio), 3), np.uint8)
    pixels[round(300 * ratio) : round(310 * ratio), round(600 * ratio) : round(610 * ratio)] = 255
    picture = Picture.decode(encoded(pixels), VIEWPORT, ImageLimits())
    closer = picture.zoomed(Box(x=500.4, y=250.2, width=200, height=100), ImageLimits())
    assert closer.map.scale_x == pytest.approx(0.25, rel=0.02)
    assert ImageLimits().fits(closer.size)
    rows, columns = np.nonzero(pixels_of(closer)[:, :, 0] > 127)
    found = Point(x=float(columns.mean()) + 0.5, y=float(rows.mean()) + 0.5)
    assert closer.map.to_page(found).x == pytest.approx(605, abs=0.5)
    assert closer.map.to_page(found).y == pytest.approx(305, abs=0.5)


def test_zooming_shows_what_was_lost_when_the_picture_was_shrunk() -> None:
    stripes = np.zeros((1600, 2560, 3), np.uint8)
    stripes[:, ::2] = 255
    picture = Picture.decode(encoded(stripes), VIEWPORT, ImageLimits(longest_edge=640))
    assert np.ptp(pixels_of(picture)[100]) < 10
    closer = picture.masked([Box(x=0, y=0, width=20, height=20)]).zoomed(
        Box(x=0, y=0, width=80, height=40), ImageLimits()
    )
    assert np.ptp(pixels_of(closer)[-1]) > 200
    assert (pixels_of(closer)[:20, :20] < 200).all(), "a masked field stays masked"


def test_zooming_into_what_the_picture_does_not_show_is_refused() -> None:
    with pytest.raises(UsageError, match="70,0 of 5×5"):
        at_scale_one(noise()).zoomed(Box(x=70, y=0, width=5, height=5), ImageLimits())


@pytest.mark.parametrize("data", [b"", b"no picture at all", encoded(noise())[:40]])
def test_bytes_that_are_no_picture_are_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(UsageError, match=f"{len(data)} bytes cannot be read as a picture"):
        Picture.decode(data, VIEWPORT)


def test_a_shot_without_its_bytes_says_where_they_are() -> None:
    shot = Shot(media_type="image/png", size=Size(width=1, height=1), sha256="ab" * 32)
    with pytest.raises(UsageError, match=r"loaded without its bytes .*run folder"):
        Picture.of(shot)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (2560, 1600), (1279, 801)])
def test_the_extent_of_a_picture_is_known_before_it_is_decoded(width: int, height: int) -> None:
    data = cv2.imencode(".png", np.zeros((height, width, 3), np.uint8))[1].tobytes()
    page = Box(x=0, y=0, width=1280, height=800)

    assert Extent.of_png(data, page, ImageLimits()) == Picture.decode(data, page, ImageLimits()).extent


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0 something else"])
def test_what_is_no_png_has_no_extent(data: bytes) -> None:
    with pytest.raises(UsageError, match="cannot be read as a picture"):
        Extent.of_png(data, Box(x=0, y=0, width=10, height=10), ImageLimits())


def test_pixels_of_another_framework_come_in_and_go_out_as_they_are() -> None:
    rows = noise()
    picture = Picture.of_rgb(rows, Box(x=0, y=0, width=32, height=24))
    assert np.array_equal(picture.as_rgb(), rows)
    assert np.array_equal(pixels_of(picture)[..., ::-1], rows)
    assert picture.map.to_page(Point(x=64, y=48)) == Point(x=32, y=24)


@pytest.mark.parametrize("rows", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3)), np.zeros((0, 4, 3), np.uint8)])
def test_an_array_that_is_no_picture_is_refused(rows: NDArray[np.uint8]) -> None:
    with pytest.raises(UsageError, match="height × width × 3 of uint8"):
        Picture.of_rgb(rows, VIEWPORT)


@pytest.mark.parametrize(("width", "height"), [(64, 48), (65, 48), (64, 49), (33, 33)])
def test_the_perceptual_hash_looks_at_every_second_pixel(width: int, height: int) -> None:
    pixels = noise(width, height)
    thinned = np.repeat(np.repeat(pixels[::2, ::2], 2, axis=0), 2, axis=1)
    assert at_scale_one(pixels).phash() == at_scale_one(thinned[: height + height % 2, : width + width % 2]).phash()

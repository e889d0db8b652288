"""Claims about shapes that are searched before the picture of a look is there: they are the same, or not used."""

from __future__ import annotations

import threading

import cv2
import numpy as np
import pytest

from vision_agent.actions import Point
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.picture import Picture, pixels_of
from vision_agent.vision.surfaces.shapes_ahead import ShapesAhead
from vision_agent.vision.surfaces.tracking import Drawing, SurfaceLook

PAGE = Box(x=0, y=0, width=400, height=300)
CANVAS = Box(x=20, y=20, width=360, height=260)
CORNER = Point(x=20, y=20)


def screenshot(*discs: tuple[int, int]) -> bytes:
    pixels = np.full((300, 400, 3), 255, np.uint8)
    cv2.rectangle(pixels, (60, 60), (160, 110), (200, 80, 40), -1)
    for x, y in discs:
        cv2.circle(pixels, (x, y), 22, (40, 160, 40), -1)
    encoded, png = cv2.imencode(".png", pixels)
    assert encoded
    return png.tobytes()


def searched(png: bytes, box: Box = CANVAS) -> ShapesAhead:
    ahead = ShapesAhead(png, PAGE, [box], ImageLimits())
    ahead.search()
    return ahead


def look(png: bytes, ahead: ShapesAhead | None = None) -> SurfaceLook:
    known = ahead.shapes_in if ahead else None
    return Drawing().look(Picture.decode(png, PAGE, ImageLimits()), CANVAS, CORNER, known=known)


def test_a_look_finds_the_same_with_shapes_that_were_searched_before() -> None:
    png = screenshot((250, 150), (330, 90))
    ahead = searched(png)
    assert ahead.shapes_in(pixels_of(Picture.decode(png, PAGE, ImageLimits()).crop(CANVAS))) is not None
    assert look(png, ahead) == look(png)
    assert len(look(png).things) == 3


def test_shapes_of_other_pixels_are_not_used() -> None:
    before, now = screenshot((250, 150)), screenshot((250, 150), (330, 90))
    assert look(now, searched(before)) == look(now)
    elsewhere = Box(x=0, y=0, width=360, height=260)
    assert look(now, searched(now, elsewhere)) == look(now)


def test_a_search_that_failed_is_not_waited_for() -> None:
    ahead = ShapesAhead(b"no picture", PAGE, [CANVAS], ImageLimits())
    with pytest.raises(UsageError):
        ahead.search()
    png = screenshot((250, 150))
    assert look(png, ahead) == look(png)


def test_a_look_waits_for_a_search_that_goes_on() -> None:
    png = screenshot((250, 150))
    ahead = ShapesAhead(png, PAGE, [CANVAS], ImageLimits())
    looked: list[SurfaceLook] = []
    looking = threading.Thread(target=lambda: looked.append(look(png, ahead)))
    looking.start()
    ahead.search()
    looking.join()
    assert looked == [look(png)]

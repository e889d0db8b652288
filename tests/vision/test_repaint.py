"""Claims about things painted anew under the pointer: they are told from things that became others."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from vision_agent.actions import Point
from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture
from vision_agent.vision.repaint import is_only_repainted, still_has_ink

THING = Box(x=100, y=60, width=200, height=44)
ROW = Box(x=0, y=60, width=400, height=44)
STILL = Point(x=0, y=0)


def drawn(
    words: str,
    ground: str = "#eee",
    ink: str = "#111",
    *,
    size: int = 16,
    lifted: int = 0,
    frame: str = "",
    beside: str = "",
    bubble: bool = False,
) -> Picture:
    image = Image.new("RGB", (400, 160), "#fff")
    pen = ImageDraw.Draw(image)
    top = THING.y - lifted
    pen.rectangle([THING.x, top, THING.right - 1, top + THING.height - 1], fill=ground)
    if frame:
        pen.rectangle([THING.x, top, THING.right - 1, top + THING.height - 1], outline=frame, width=3)
    pen.text((THING.x + 12, top + 12), words, fill=ink, font=ImageFont.load_default(size))
    pen.text((10, THING.y + 12), beside, fill="#111", font=ImageFont.load_default(16))
    if bubble:
        pen.rectangle([310, 50, 390, 90], fill="#ffffdd")
        pen.text((320, 60), "Opens it", fill="#111", font=ImageFont.load_default(12))
    _, png = cv2.imencode(".png", np.asarray(image)[..., ::-1])
    return Picture.decode(png.tobytes(), Box(x=0, y=0, width=400, height=160))


def is_same(before: Picture, after: Picture, *beside: Box) -> bool:
    return is_only_repainted(before, after, THING, STILL, beside, pointer=THING.center)


@pytest.mark.parametrize("size", [11, 16, 28])
@pytest.mark.parametrize(
    "paint",
    [
        {"ground": "#dde8ff"},
        {"ground": "#2b6cb0", "ink": "#fff"},
        {"ink": "#999"},
        {"frame": "#2b6cb0"},
        {"ground": "#dde8ff", "frame": "#2b6cb0"},
        {"lifted": 2},
    ],
    ids=["a tint", "inverse", "faint", "a frame", "a tint and a frame", "lifted"],
)
def test_paint_leaves_a_thing_what_it_is(paint: dict[str, str | int], size: int) -> None:
    assert is_same(drawn("12:30 Ann", size=size), drawn("12:30 Ann", size=size, **paint))  # type: ignore[arg-type]


@pytest.mark.parametrize("ground", ["#eee", "#dde8ff"], ids=["as it was", "tinted"])
@pytest.mark.parametrize("size", [11, 16, 28])
@pytest.mark.parametrize("other", ["13:30 Ann", "12:00 Ann", "12:30 Amn", "12:30 Anna", "12:30", "11:30 Bob", ""])
def test_other_words_are_another_thing(other: str, size: int, ground: str) -> None:
    assert not is_same(drawn("12:30 Ann", size=size), drawn(other, ground, size=size))


def test_other_words_beside_it_are_another_row_and_a_bubble_is_none() -> None:
    before = drawn("Delete", beside="Ann")
    assert is_same(before, drawn("Delete", "#fdd", beside="Ann"), ROW)
    assert is_same(before, drawn("Delete", "#fdd", beside="Ann", bubble=True), ROW)
    assert not is_same(before, drawn("Delete", "#fdd", beside="Bob"), ROW)
    assert not is_same(before, drawn("Delete", "#fdd", beside="Bob", bubble=True), ROW)
    assert is_same(before, drawn("Delete", "#fdd", beside="Bob"))


def test_where_the_words_of_its_row_tell_it_only_these_must_show_beside_it() -> None:
    before, words = drawn("Delete", beside="Ann"), Box(x=0, y=66, width=90, height=30)

    def is_in_row(after: Picture, place: Box = words) -> bool:
        return is_only_repainted(before, after, THING, STILL, pointer=THING.center, words=[place])

    assert is_in_row(drawn("Delete", "#fdd", beside="Ann", bubble=True))
    assert not is_in_row(drawn("Delete", "#fdd", beside="Bob"))
    assert not is_in_row(drawn("Delete", "#fdd", beside="Ann B"))
    assert not is_in_row(drawn("Delete", "#fdd", beside=""))
    assert not is_in_row(drawn("Delete", "#fdd", beside="Ann", bubble=True), Box(x=300, y=66, width=90, height=30))
    assert not is_in_row(drawn("Delete", "#fdd", beside="Ann"), Box(x=-20, y=66, width=90, height=30))


def test_ink_at_a_point_is_missed_where_it_is_gone_only() -> None:
    before, around = drawn("Ann"), Box(x=110, y=70, width=24, height=24)
    assert still_has_ink(before, drawn("Ann", "#dde8ff", "#26a"), around, STILL)
    assert not still_has_ink(before, drawn(""), around, STILL)
    assert still_has_ink(drawn(""), drawn("Ann"), around, STILL)

"""Claims about what is drawn, read back from the pixels."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.pictures import shown
from vision_agent.geometry import Box
from vision_agent.observation import Kind, Label, Mark, Source
from vision_agent.vision.image_limits import ImageLimits
from vision_agent.vision.labels.annotate import Layer, draw, layer, paint
from vision_agent.vision.labels.place import place
from vision_agent.vision.picture import Format, Picture, pixels_of
from vision_agent.vision.style import DIGITS, PALETTE, STYLE, STYLES, contrast, plate_colour, rgb

BACKGROUNDS = {"white": (255, 255, 255), "black": (0, 0, 0), "grey": (128, 128, 128), "brand": (190, 60, 20)}


def plain(colour: tuple[int, int, int] = (255, 255, 255), width: int = 640, height: int = 480) -> Picture:
    return shown(np.full((height, width, 3), colour, np.uint8))


def mark(number: int, x: float, y: float, width: float = 60, height: float = 24, **more: object) -> Mark:
    box = Box(x=x, y=y, width=width, height=height)
    return Mark.model_validate(
        {"tag": "button", "role": "button", "kind": "button", "name": "", **more}
        | {"number": number, "box": box, "point": box.center}
    )


def label_of(mark: Mark) -> Label:
    assert mark.label is not None
    return mark.label


def numbers_in(picture: Picture, labels: list[Box]) -> list[int]:
    """What is read in these label boxes, by the shape of the ink alone."""
    return [_number(pixels_of(picture), label) for label in labels]


def _number(pixels: NDArray[np.uint8], label: Box) -> int:
    x, y = int(label.x), int(label.y)
    inside = pixels[y : y + int(label.height), x : x + int(label.width)].astype(float)
    ground = np.median(inside[:, 1], axis=0)
    share = (inside - ground) @ -ground / (ground @ ground)
    share = share[STYLE.pad_y : -STYLE.pad_y]
    (read,) = {
        text
        for digits in DIGITS.values()
        for pad in (STYLE.tight_pad_x, STYLE.pad_x)
        if (text := _text(share, digits, pad))
    }
    return int(read)


def _text(share: NDArray[np.float64], digits: dict[str, tuple[str, ...]], pad: int) -> str:
    """The digits of this width that stand side by side between the paddings, or nothing where they do not."""
    wide, read = len(digits["0"][0]), ""
    for column in range(pad, share.shape[1] - pad, wide + 1):
        fitting = [digit for digit, rows in digits.items() if _fits(share[:, column : column + wide], rows)]
        assert len(fitting) <= 1, "two digits look alike"
        read += fitting[0] if fitting else "?"
    is_filled = (share.shape[1] - 2 * pad + 1) % (wide + 1) == 0
    return read if is_filled and "?" not in read else ""


def _fits(window: NDArray[np.float64], rows: tuple[str, ...]) -> bool:
    cells = np.array([list(row) for row in rows])
    if window.shape != cells.shape:
        return False
    return bool((window[cells == "#"] > 0.6).all() and (window[cells == "."] < 0.4).all())


def _hex(pixel: NDArray[np.generic]) -> str:
    blue, green, red = (int(value) for value in pixel)
    return f"#{red:02x}{green:02x}{blue:02x}"


@pytest.mark.parametrize("sent_as", ["png", "jpeg"])
@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("kind", PALETTE)
def test_every_number_is_read_back_from_the_picture_as_sent(kind: Kind, background: str, sent_as: Format) -> None:
    clean = plain(BACKGROUNDS[background])
    wanted = [1, 7, 10, 23, 45, 69, 80, 96, 104, 178, 256, 399, 583]
    placed = place([mark(n, 20 + i % 4 * 90, 20 + i // 4 * 60, kind=kind) for i, n in enumerate(wanted)], clean)
    sent = Picture.of(draw(clean, layer(placed, clean)).encode(sent_as))
    assert numbers_in(sent, [m.label.box for m in placed if m.label]) == wanted


@pytest.mark.parametrize("sent_as", ["png", "jpeg"])
@pytest.mark.parametrize("kind", PALETTE)
def test_a_number_in_narrow_digits_is_read_back_too(kind: Kind, sent_as: Format) -> None:
    clean, wanted = plain(), [1, 7, 10, 23, 45, 69, 80, 96, 104, 178, 256, 399, 583]
    marks = []
    for i, number in enumerate(wanted):
        size = STYLE.label_size(str(number), 0, "narrow")
        at = Box(x=20 + i % 4 * 90, y=20 + i // 4 * 60, width=size.width, height=size.height)
        label = Label(box=at, colour=PALETTE[kind][i % len(PALETTE[kind])])
        marks.append(mark(number, at.x, at.y, kind=kind, label=label))
    sent = Picture.of(draw(clean, layer(marks, clean)).encode(sent_as))
    assert numbers_in(sent, [m.label.box for m in marks if m.label]) == wanted


def test_the_outline_of_something_tiny_is_drawn_around_it_and_leaves_it_whole() -> None:
    pixels = np.full((200, 300, 3), 255, np.uint8)
    pixels[100:108, 100:108] = (7, 8, 9)
    clean = shown(pixels)
    label = Label(box=Box(x=110, y=97, width=11, height=15), colour=PALETTE["button"][0])
    drawn = pixels_of(draw(clean, layer([mark(1, 100, 100, 8, 8, label=label)], clean)))
    assert (drawn[100:108, 100:103] == (7, 8, 9)).all()
    assert _hex(drawn[104, 99]) == label.colour


def test_no_line_is_drawn_near_a_number() -> None:
    clean = plain()
    placed = place([mark(n, 20 + n % 9 * 60, 100 + n // 9 * 24) for n in range(18)], clean)
    pixels = pixels_of(draw(clean, layer(placed, clean)))
    boxes = [label_of(m).box for m in placed]
    for m, at in zip(placed, boxes, strict=True):
        near = np.ones(pixels.shape[:2], np.bool_)
        for box in boxes:
            near[int(box.y) : int(box.bottom), int(box.x) : int(box.right)] = False
        x, y, right, bottom = (int(each) for each in (at.x, at.y, at.right, at.bottom))
        around = np.s_[y - STYLE.clear : bottom + STYLE.clear, x - STYLE.clear : right + STYLE.clear]
        assert (pixels[around][near[around]] == 255).all(), m.number


def test_every_mark_is_drawn_once_and_nothing_else_is() -> None:
    clean = plain()
    placed = place([mark(n, 20 + n % 5 * 100, 20 + n // 5 * 60) for n in range(3, 30)], clean)
    plan = layer(placed, clean)
    assert sorted(label.text for label in plan.labels) == sorted(str(m.number) for m in placed)
    assert len(plan.outlines) == len(placed)


def test_digits_stand_on_their_label_at_a_contrast_of_four_and_a_half_or_better() -> None:
    clean = plain(BACKGROUNDS["grey"])
    kinds = list(PALETTE)
    placed = place([mark(n, 20 + n % 7 * 80, 20 + n // 7 * 60, kind=kinds[n % 7]) for n in range(28)], clean)
    pixels = pixels_of(draw(clean, layer(placed, clean)))
    for m in placed:
        box, plate = label_of(m).box, plate_colour(label_of(m).colour)
        x, y = int(box.x), int(box.y)
        found = {_hex(pixel) for pixel in pixels[y + 2 : y + 13, x + 2 : x + int(box.width) - 2].reshape(-1, 3)}
        assert plate in found
        assert max(contrast(plate, other) for other in found) >= 4.5, m.kind


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("kind", PALETTE)
def test_an_outline_is_seen_on_any_background(kind: Kind, background: str) -> None:
    clean = plain(BACKGROUNDS[background])
    placed = place([mark(1, 100, 100, 200, 100, kind=kind)], clean)
    pixels = pixels_of(draw(clean, layer(placed, clean)))
    ground = _hex(np.array(BACKGROUNDS[background]))
    side = {_hex(pixel) for pixel in pixels[180, 95:105]} - {ground}
    assert max(contrast(colour, ground) for colour in side) >= 3


def test_the_outline_lies_on_the_edge_of_the_box_and_leaves_its_inside_alone() -> None:
    clean = plain()
    (placed,) = place([mark(1, 100, 100, 200, 100)], clean)
    pixels = pixels_of(draw(clean, layer([placed], clean)))
    colour = rgb(label_of(placed).colour)[::-1]
    assert [tuple(pixel) for pixel in pixels[150, 99:101].tolist()] == [colour, colour]
    assert [tuple(pixel) for pixel in pixels[150, 299:301].tolist()] == [colour, colour]
    assert (pixels[150, 101:299] == 255).all()
    assert (pixels[150, :98] == 255).all()


def test_boxes_that_touch_each_keep_their_colour_at_the_common_edge() -> None:
    clean = plain()
    one, two = place([mark(1, 100, 100, 50, 50), mark(2, 150, 100, 50, 50)], clean)
    pixels = pixels_of(draw(clean, layer([one, two], clean)))
    assert label_of(one).colour != label_of(two).colour
    assert _hex(pixels[135, 149]) == label_of(one).colour
    assert _hex(pixels[135, 150]) == label_of(two).colour


@pytest.mark.parametrize("source", ["cv", "ocr"])
def test_what_was_seen_and_not_found_in_the_page_is_dashed(source: Source) -> None:
    clean = plain()
    (placed,) = place([mark(1, 100, 100, 200, 100, source=source, kind="guess")], clean)
    pixels = pixels_of(draw(clean, layer([placed], clean)))
    line = [_hex(pixel) == label_of(placed).colour for pixel in pixels[100, 150:290]]
    assert 0.4 < sum(line) / len(line) < 0.75


def test_a_mark_without_a_place_is_not_drawn() -> None:
    clean = plain()
    assert layer([mark(1, 100, 100)], clean).labels == ()
    assert np.array_equal(pixels_of(draw(clean, layer([mark(1, 100, 100)], clean))), pixels_of(clean))


def test_drawing_leaves_the_clean_picture_clean_and_keeps_its_map() -> None:
    clean = shown(np.full((480, 640, 3), 240, np.uint8))
    marked = draw(clean, layer(place([mark(1, 100, 100)], clean), clean))
    assert (pixels_of(clean) == 240).all()
    assert marked.map == clean.map
    assert marked.size == clean.size


def test_a_layer_is_plain_json_there_and_back() -> None:
    clean = plain()
    plan = layer(place([mark(n, 20 + n * 13, 100, 12, 12) for n in range(100, 120)], clean), clean)
    assert Layer.model_validate_json(plan.model_dump_json()) == plan


def test_a_line_leads_from_a_far_label_to_a_dot_in_its_target() -> None:
    clean = plain()
    at = [
        Label(box=Box(x=x, y=y, width=13, height=15), colour=PALETTE["button"][0]) for x, y in ((400, 300), (313, 200))
    ]
    plan = layer([mark(5 + i, 300, 200, 12, 12, label=label) for i, label in enumerate(at)], clean)
    (leader,) = plan.leaders
    pixels = pixels_of(draw(clean, plan))
    dot = leader.strokes[-1]
    assert Box(x=300, y=200, width=12, height=12).contains(Box(x=dot[0], y=dot[1], width=3, height=3).center)
    assert all(
        _hex(pixels[y, leader.strokes[0][0]]) == at[0].colour
        for y in range(*leader.strokes[0][1::2])
        if y < 300 - STYLE.clear
    )


def test_numbers_are_drawn_at_full_size_on_a_picture_that_was_shrunk() -> None:
    pixels = np.full((1600, 2560, 3), 255, np.uint8)
    page = Box(x=0, y=0, width=1280, height=800)
    clean = Picture.decode(cv2.imencode(".png", pixels)[1].tobytes(), page, ImageLimits(longest_edge=640))
    placed = place([mark(n, 100 + n * 100, 100, 80, 40) for n in range(1, 9)], clean)
    marked = draw(clean, layer(placed, clean))
    assert numbers_in(marked, [m.label.box for m in placed if m.label]) == list(range(1, 9))


def test_plain_marks_have_one_colour_whatever_their_kind() -> None:
    kinds: tuple[Kind, ...] = ("button", "link", "field", "toggle", "guess")
    placed = place([mark(i + 1, 20, 30 + 50 * i, kind=kind) for i, kind in enumerate(kinds)], plain(), STYLES["plain"])
    drawn = layer(placed, plain(), STYLES["plain"])

    assert len({label_of(each).colour for each in placed}) == len({outline.colour for outline in drawn.outlines}) == 1
    assert [outline.dashed for outline in drawn.outlines] == [each.source != "dom" for each in placed]
    assert numbers_in(draw(plain(), drawn), [label_of(each).box for each in placed]) == [1, 2, 3, 4, 5]


def test_numbers_can_stand_without_boxes_in_the_same_places_and_colours() -> None:
    marks = [mark(i + 1, 20 + 90 * i, 30) for i in range(4)]
    usual, numbers = (place(marks, plain(), STYLES[style]) for style in ("coloured", "numbers"))
    drawn = layer(numbers, plain(), STYLES["numbers"])

    assert [each.label for each in numbers] == [each.label for each in usual]
    assert drawn.outlines == ()
    shows = pixels_of(draw(plain(), drawn)).copy()
    for each in numbers:
        label = label_of(each).box
        shows[int(label.y) - 1 : int(label.bottom) + 1, int(label.x) - 1 : int(label.right) + 1] = 255
    assert (shows == 255).all(), "something else was drawn"


def test_a_painted_layer_lies_on_one_picture_as_on_another() -> None:
    marks = place([mark(n, 40 + 90 * (n % 5), 30 + 40 * (n // 5)) for n in range(1, 20)], plain())
    drawn = layer(marks, plain())
    painted = paint(drawn)
    first, second = plain(BACKGROUNDS["black"]), plain(BACKGROUNDS["brand"])
    for picture in (first, second, first):
        assert painted.on(picture).encode() == draw(picture, drawn).encode()
    # What is not drawn is the picture's own.
    differs = (pixels_of(painted.on(first)) != pixels_of(painted.on(second))).any(axis=2)
    assert np.array_equal(differs, painted.mask == 0)

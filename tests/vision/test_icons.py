"""Claims about the names of icons: what is cut out of a picture, which names it gets, and what gets none."""

from __future__ import annotations

import tomllib
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.conftest import ROOT
from vision_agent import name_icons
from vision_agent.errors import UsageError
from vision_agent.geometry import Box
from vision_agent.vision.icons.glyph import MARGIN, SIDE, Pixels, glyphs_in
from vision_agent.vision.icons.namer import LEAST, confidences, known_names, name_icon

HERE = ROOT / "vision_agent" / "vision" / "icons"
INK, GROUND = (40, 40, 40), (255, 255, 255)
_FINE = 8


def drawn(*lines: list[tuple[int, int]], size: int = 24, ink: object = INK, ground: object = GROUND) -> Pixels:
    """Strokes on a square of 24 units, at this size, with the margin around it."""
    picture = np.full((24 * _FINE, 24 * _FINE, 3), ground, np.uint8)
    for line in lines:
        cv2.polylines(picture, [np.array(line) * _FINE], False, ink, 2 * _FINE, cv2.LINE_AA)
    small = cv2.resize(picture, (size, size), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.copyMakeBorder(small, *[MARGIN] * 4, cv2.BORDER_CONSTANT, value=ground), np.uint8)


CLOSE = ([(5, 5), (19, 19)], [(19, 5), (5, 19)])
PLUS = ([(12, 4), (12, 20)], [(4, 12), (20, 12)])
MENU = ([(4, 6), (20, 6)], [(4, 12), (20, 12)], [(4, 18), (20, 18)])
DOWN = ([(5, 9), (12, 16), (19, 9)],)


def framed(picture: Pixels, colour: object, line: int) -> Pixels:
    """The picture in the middle of a button with this border, or filled if `line` is -1."""
    ground = tuple(int(each) for each in picture[0, 0])
    side = picture.shape[0] + 20
    button = np.full((side, side, 3), GROUND if line < 0 else ground, np.uint8)
    cv2.rectangle(button, (MARGIN, MARGIN), (side - MARGIN - 1, side - MARGIN - 1), colour, line)
    button[10:-10, 10:-10] = picture
    return button


@pytest.mark.parametrize(("lines", "name"), [(CLOSE, "close"), (PLUS, "plus"), (MENU, "menu"), (DOWN, "chevron down")])
@pytest.mark.parametrize("size", [16, 24, 40])
def test_an_icon_has_the_same_name_in_every_size_and_colour(
    lines: tuple[list[tuple[int, int]], ...], name: str, size: int
) -> None:
    for ink, ground in [(INK, GROUND), ((255, 255, 255), (140, 60, 20)), ((30, 30, 200), (240, 240, 240))]:
        guess = name_icon(drawn(*lines, size=size, ink=ink, ground=ground))
        assert guess is not None
        assert guess.name == name
        assert LEAST <= guess.confidence <= 1


def test_a_glyph_is_the_same_whatever_its_colours() -> None:
    (dark,), (light,) = glyphs_in(drawn(*CLOSE)), glyphs_in(drawn(*CLOSE, ink=(255, 255, 255), ground=(0, 0, 0)))
    assert dark.shape == (SIDE, SIDE)
    assert np.abs(dark.astype(int) - light.astype(int)).mean() < 6


@pytest.mark.parametrize(("colour", "line"), [((120, 120, 120), 1), ((180, 90, 20), 2)])
def test_the_frame_of_a_button_is_no_part_of_its_icon(colour: tuple[int, int, int], line: int) -> None:
    guess = name_icon(framed(drawn(*PLUS), colour, line))
    assert guess is not None
    assert guess.name == "plus"


@pytest.mark.parametrize("lines", [CLOSE, PLUS, MENU, DOWN])
def test_of_two_readings_the_surer_one_names_the_icon(lines: tuple[list[tuple[int, int]], ...]) -> None:
    picture = framed(drawn(*lines), (120, 120, 120), 1)
    readings = [float(confidences(glyph)[1:].max()) for glyph in glyphs_in(picture)]
    assert len(readings) == 2
    guess = name_icon(picture)
    assert guess is not None
    assert guess.confidence == round(max(readings), 2)


def test_the_fill_of_a_button_is_no_part_of_its_icon() -> None:
    blue = (180, 90, 20)
    guess = name_icon(framed(drawn(*CLOSE, ink=(255, 255, 255), ground=blue), blue, -1))
    assert guess is not None
    assert guess.name == "close"


def noise() -> Pixels:
    return np.random.default_rng(0).integers(0, 255, (30, 30, 3)).astype(np.uint8)


def word(text: str) -> Pixels:
    picture = np.full((28 + 2 * MARGIN, 60 + 2 * MARGIN, 3), 255, np.uint8)
    cv2.putText(picture, text, (6, 22), cv2.FONT_HERSHEY_SIMPLEX, 0.7, INK, 2, cv2.LINE_AA)
    return picture


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(np.full((28, 28, 3), 250, np.uint8), id="nothing"),
        pytest.param(noise(), id="a photograph"),
        pytest.param(word("Save"), id="a word"),
        pytest.param(word("OK"), id="a short word"),
        pytest.param(drawn([(3, 3), (21, 3), (21, 21), (3, 21), (3, 3)]), id="a box"),
        pytest.param(drawn([(2, 14), (5, 5), (8, 19), (11, 7), (13, 16), (17, 9), (22, 18)]), id="a scribble"),
        pytest.param(drawn(*CLOSE, size=6), id="too small"),
        pytest.param(drawn(*CLOSE, size=500), id="too large"),
        pytest.param(np.zeros((1, 1, 3), np.uint8), id="out of the picture"),
        pytest.param(drawn(*CLOSE, ink=(250, 250, 250)), id="too faint"),
    ],
)
def test_what_is_no_icon_gets_no_name(picture: Pixels) -> None:
    assert name_icon(picture) is None


@pytest.fixture
def toolbar(tmp_path: Path) -> Path:
    """Three icons in a row, the last of them cut by the edge of its margin."""
    strip = np.hstack([drawn(*lines)[MARGIN:-MARGIN, MARGIN:-MARGIN] for lines in (CLOSE, PLUS, MENU)])
    cv2.imwrite(str(tmp_path / "toolbar.png"), strip)
    return tmp_path / "toolbar.png"


def test_icons_in_a_picture_without_a_page_are_named_by_their_boxes(toolbar: Path) -> None:
    boxes = [(0, 0, 24, 24), (24, 0, 24, 24), Box(x=48, y=0, width=24, height=24), (500, 500, 24, 24)]
    guesses = name_icons(toolbar, boxes)
    assert [guess and guess.name for guess in guesses] == ["close", "plus", "menu", None]
    assert name_icons(toolbar.read_bytes(), boxes[:1]) == guesses[:1]


def test_what_is_no_picture_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("close")
    with pytest.raises(UsageError, match=r"notes\.txt cannot be read"):
        name_icons(tmp_path / "notes.txt", [(0, 0, 24, 24)])


def test_the_network_has_the_names_of_the_vocabulary_and_is_small() -> None:
    vocabulary = tomllib.loads((ROOT / "tests" / "icons" / "vocabulary.toml").read_text("utf-8"))["names"]
    assert list(known_names()) == sorted(vocabulary)
    assert 150 <= len(known_names()) <= 300
    (glyph,) = glyphs_in(drawn(*CLOSE))
    assert len(confidences(glyph)) == len(known_names()) + 1
    assert (HERE / "icons.onnx").stat().st_size < 6_000_000


def test_the_data_card_names_each_set_with_its_version_and_a_licence_that_allows_it() -> None:
    card = (HERE / "DATA_CARD.md").read_text("utf-8")
    sets = tomllib.loads((ROOT / "tests" / "icons" / "sets.toml").read_text("utf-8"))
    for name, each in {**sets["learned"], **sets["held_out"]}.items():
        (line,) = [line for line in card.splitlines() if line.startswith(f"| `{name}` ")]
        assert f"`{name}` {each['version']} |" in line
        assert f"(`{each['licence']}`)" in line
        assert each["licence"] in {"MIT", "ISC", "Apache-2.0", "Unlicense", "CC-BY-4.0"}

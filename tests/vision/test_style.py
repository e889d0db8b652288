"""Claims about how marks look, computed from the colours themselves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from vision_agent.vision.style import (
    COVERAGE,
    DIGITS,
    GLYPHS,
    PALETTE,
    STYLE,
    LabelWidth,
    contrast,
    ink_colour,
    plate_colour,
    rgb,
)

# Machado, Oliveira and Fernandes (2009), severity 1, on linear light.
EYES = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "red-blind": ((0.1523, 1.0526, -0.2049), (0.1145, 0.7863, 0.0992), (-0.0039, -0.0481, 1.0520)),
    "green-blind": ((0.3673, 0.8606, -0.2280), (0.2801, 0.6725, 0.0474), (-0.0118, 0.0429, 0.9689)),
    "blue-blind": ((1.2555, -0.0767, -0.1788), (-0.0784, 0.9308, 0.1476), (0.0047, 0.6914, 0.3039)),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def difference(one: str, other: str, eyes: str) -> float:
    return float(np.linalg.norm(_lab(one, eyes) - _lab(other, eyes)))


def _lab(colour: str, eyes: str) -> np.ndarray:
    value = np.array(rgb(colour)) / 255
    linear = np.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)
    xyz = TO_XYZ @ np.clip(np.array(EYES[eyes]) @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", PALETTE)
def test_digits_are_read_on_every_shade(kind: str) -> None:
    for shade in PALETTE[kind]:
        assert contrast(shade, ink_colour(shade)) >= 4.5
        assert contrast(plate_colour(shade), "#000000") >= 7


@pytest.mark.parametrize("eyes", EYES)
def test_two_kinds_never_look_alike(eyes: str) -> None:
    for one, other in combinations(PALETTE, 2):
        for first in PALETTE[one]:
            for second in PALETTE[other]:
                assert difference(first, second, eyes) >= (24 if eyes == "usual" else 14), (one, first, other, second)


def test_the_plates_of_two_kinds_differ_to_usual_eyes() -> None:
    for one, other in combinations(PALETTE, 2):
        for first in PALETTE[one]:
            for second in PALETTE[other]:
                assert difference(plate_colour(first), plate_colour(second), "usual") >= 13, (one, first, other, second)


@pytest.mark.parametrize("eyes", EYES)
def test_the_shades_of_a_kind_are_told_apart(eyes: str) -> None:
    for shades in PALETTE.values():
        for first, second in combinations(shades, 2):
            assert difference(first, second, eyes) >= (12 if eyes == "usual" else 6), (first, second)


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize(("width", "wide", "high"), [("single", 8, 12), ("wide", 7, 11), ("narrow", 5, 11)])
def test_every_digit_is_eleven_pixels_high_or_more_from_its_first_row_to_its_last(
    width: LabelWidth, wide: int, high: int
) -> None:
    assert list(DIGITS[width]) == list("0123456789")
    for rows in DIGITS[width].values():
        assert len(rows) == high
        assert max(COVERAGE[cell] for cell in rows[0]) > 0.7
        assert max(COVERAGE[cell] for cell in rows[-1]) > 0.7
        assert {len(row) for row in rows} == {wide}


@pytest.mark.parametrize("width", DIGITS)
def test_no_two_digits_differ_in_less_than_six_pixels(width: LabelWidth) -> None:
    full = [np.array([[cell == "#" for cell in row] for row in rows]) for rows in DIGITS[width].values()]
    assert min(int((one ^ other).sum()) for one, other in combinations(full, 2)) >= 6


def test_a_letter_is_as_high_as_the_digits_and_stands_apart_from_them() -> None:
    for letter in "BILFOM":
        rows = GLYPHS["wide"][letter]
        assert len(rows) == 11
        assert len({len(row) for row in rows}) == 1
        assert all(row.endswith("..") for row in rows)
        assert "#" in rows[0]
        assert "#" in rows[-1]


@pytest.mark.parametrize(("letter", "digit"), [("B", "8"), ("I", "1"), ("O", "0"), ("B", "3"), ("F", "5")])
def test_a_letter_is_not_mistaken_for_a_digit(letter: str, digit: str) -> None:
    one, other = (np.array([[cell == "#" for cell in row] for row in GLYPHS["wide"][each]]) for each in (letter, digit))
    wide = one.shape[1]
    placings = (np.pad(other, ((0, 0), (x, wide - 7 - x))) for x in range(wide - 6))
    assert min(int((one ^ placed).sum()) for placed in placings) >= 20


def test_padding_shrinks_on_a_narrow_target_and_digits_do_not() -> None:
    roomy, tight = STYLE.label_size("88", room=40), STYLE.label_size("88", room=20)
    assert (roomy.width - tight.width, roomy.height - tight.height) == (2, 0)
    assert tight.width > STYLE.text_size("88")[0] + 3


def test_the_width_of_a_label_says_in_which_hand_it_is_written_and_one_digit_has_its_own() -> None:
    for text in ("88", "123", "B4", "M1000"):
        assert STYLE.choose_label_width(text, STYLE.label_size(text, room=90).width) == "wide"
        assert STYLE.choose_label_width(text, STYLE.label_size(text, room=0).width) == "wide"
        narrow = STYLE.label_size(text, room=90, width="narrow")
        assert STYLE.choose_label_width(text, narrow.width) == "narrow"
    assert {STYLE.choose_label_width("7", STYLE.label_size("7", room).width) for room in (0, 90)} == {"single"}

"""Pictures of icons as pages show them: in colours, sizes, weights and frames, and of much that is no icon.

They are drawn from `icon_sets.Drawing`s with a seed; the product's own `glyphs_in` then cuts the glyph out, so that the
network learns from what it will be given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
from icon_sets import MASTER, Drawing
from numpy.typing import NDArray

from vision_agent.vision.icons.glyph import MARGIN, Pixels

_DOCS = Path(__file__).parents[2] / "docs" / "pages" / "pictures"
_LETTERS = "ACDEFGHJKLMNOPQRVWYZabcdefghjklmnopqrstuvwyz0123456789&%"
"""Those that are no icon of a name: B, I, S, T, U and X may be buttons for bold, italic and so on."""
_WORDS = (
    *("OK", "Go", "Yes", "No", "On", "Off", "New", "Save", "Edit", "Add", "Log", "in", "Map", "Top", "All", "Any"),
    *("12", "24", "99+", "100", "JD", "AB", "MK", "A+", "Hi", "EN", "DE", "Buy", "Pay", "Run"),
)
_FONTS = (
    cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX, cv2.FONT_HERSHEY_COMPLEX,
    cv2.FONT_HERSHEY_PLAIN,
)  # fmt: skip

Random = np.random.Generator
Ink = NDArray[np.uint8]


def picture_of(ink: Ink, random: Random, *, plain: bool = False) -> Pixels:
    """An icon as a page may show it. `ink`: the drawing, 255 where it is black.

    Its size is 14 to 48 pixels. A third stand in a frame of their own; some are turned a little, thinner or bolder.
    """
    size = int(random.choice([14, 16, 16, 18, 20, 20, 24, 24, 24, 28, 32, 40, 48]))
    if not plain:
        ink = _reweighted(ink, random)
    is_framed = random.random() < 0.33
    pad = MARGIN + (int(random.uniform(0.2, 0.55) * size) if is_framed else int(random.choice([0, 0, 1, 2, 4, 6, 8])))
    side = size + 2 * pad
    alpha = _placed(ink, size, side, random, turned=not plain and random.random() < 0.25)
    ground, fore = colours(random)
    picture = np.empty((side, side, 3), np.float32)
    picture[:] = ground
    if is_framed:
        picture, fore = framed(picture, ground, fore, random)
    picture += alpha[..., None] * (fore - picture)
    if random.random() < 0.1:
        picture += random.normal(0, random.uniform(0.5, 3), picture.shape)
    return np.asarray(np.clip(np.rint(picture), 0, 255), np.uint8)


def no_icons(count: int, random: Random) -> Iterator[Pixels]:
    """Letters, words, shapes, empty boxes and parts of screenshots, each as a page may show it."""
    shots = [cv2.imread(str(path)) for path in sorted(_DOCS.glob("*.png"))]
    shots = [shot for shot in shots if shot is not None and min(shot.shape[:2]) > 120]
    kinds = (_letter, _letter, _word, _word, _shape, _shape, _scribble)
    for index in range(count):
        if index % 8 == 7 and shots:
            yield _part_of(shots[int(random.integers(len(shots)))], random)
        else:
            ink = kinds[int(random.integers(len(kinds)))](random)
            yield picture_of(ink, random)


def _reweighted(ink: Ink, random: Random) -> Ink:
    by = random.random()
    if by < 0.15:
        return np.asarray(cv2.dilate(ink, np.ones((3, 3), np.uint8)), np.uint8)
    if by < 0.22:
        return np.asarray(cv2.dilate(ink, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))), np.uint8)
    if by < 0.32:
        thinner = cv2.erode(ink, np.ones((3, 3), np.uint8))
        return np.asarray(thinner if thinner.sum() > 0.3 * ink.sum() else ink, np.uint8)
    return ink


def _placed(ink: Ink, size: int, side: int, random: Random, *, turned: bool) -> NDArray[np.float32]:
    by = size / MASTER * random.uniform(0.92, 1.08)
    matrix = cv2.getRotationMatrix2D((MASTER / 2, MASTER / 2), random.uniform(-8, 8) if turned else 0, by)
    matrix[0] *= random.uniform(0.95, 1.05)
    matrix[:, 2] += side / 2 - MASTER / 2 * np.array([matrix[0, 0] + matrix[0, 1], matrix[1, 0] + matrix[1, 1]])
    matrix[:, 2] -= matrix[:, 2] - (side / 2 - matrix[:, :2] @ [MASTER / 2, MASTER / 2])
    matrix[:, 2] += random.uniform(-0.5, 0.5, 2)
    # Blurred as far as shrinking needs, so that thin lines stay lines.
    blur = 0.45 / by
    soft = cv2.GaussianBlur(ink, (0, 0), blur * 0.8) if by < 0.7 else ink
    drawn = cv2.warpAffine(soft, matrix, (side, side), flags=cv2.INTER_LINEAR)
    return np.asarray(drawn, np.float32) / 255


def colours(random: Random) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A ground and an ink on it, mostly dark on light; they differ by at least 45 tones."""
    while True:
        kind = random.random()
        if kind < 0.5:
            ground, fore = random.uniform(225, 255, 3), random.uniform(0, 140, 3)
        elif kind < 0.65:
            ground, fore = random.uniform(0, 60, 3), random.uniform(150, 255, 3)
        else:
            ground, fore = random.uniform(0, 255, 3), random.uniform(0, 255, 3)
        if random.random() < 0.5:
            ground[:], fore[:] = ground.mean(), fore.mean()
        if np.abs(ground - fore).max() > 45:
            return ground.astype(np.float32), fore.astype(np.float32)


def framed(
    picture: NDArray[np.float32], ground: NDArray[np.float32], fore: NDArray[np.float32], random: Random
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The picture with a frame around its middle, and the colour of what is drawn in it."""
    side, fine = picture.shape[0], 4
    mask = np.zeros((side * fine, side * fine), np.uint8)
    near, far = MARGIN * fine, (side - MARGIN) * fine - 1
    round_by = int(random.choice([0, 2, 4, 6, 8, 99])) * fine
    _rounded(mask, near, far, min(round_by, (far - near) // 2))
    if random.random() < 0.5:  # an outline
        line = int(random.choice([1, 1, 1, 2])) * fine
        inner = np.zeros_like(mask)
        _rounded(inner, near + line, far - line, max(0, min(round_by, (far - near) // 2) - line))
        mask[inner > 0] = 0
        colour = fore if random.random() < 0.4 else ground + (fore - ground) * np.float32(random.uniform(0.2, 0.7))
        glyph = fore
    else:
        other, glyph = colours(random)
        colour = other if np.abs(other - ground).max() > 12 else fore
        if np.abs(glyph - colour).max() < 45:
            glyph = ground
    alpha = cv2.resize(mask, (side, side), interpolation=cv2.INTER_AREA).astype(np.float32)[..., None] / 255
    return picture + alpha * (colour - picture), glyph


def _rounded(mask: Ink, near: int, far: int, by: int) -> None:
    cv2.rectangle(mask, (near + by, near), (far - by, far), 255, -1)
    cv2.rectangle(mask, (near, near + by), (far, far - by), 255, -1)
    for x in (near + by, far - by):
        for y in (near + by, far - by):
            cv2.circle(mask, (x, y), by, 255, -1)


def _blank() -> Ink:
    return np.zeros((MASTER, MASTER), np.uint8)


def _text(text: str, random: Random) -> Ink:
    font, thick = _FONTS[int(random.integers(len(_FONTS)))], int(random.integers(2, 9))
    (wide, high), _ = cv2.getTextSize(text, font, 1, thick)
    by = min(84 / max(1, wide), random.uniform(40, 84) / max(1, high))
    thick = max(1, round(thick * min(1.5, by) / 1.5))
    (wide, high), _ = cv2.getTextSize(text, font, by, thick)
    ink = _blank()
    cv2.putText(ink, text, ((MASTER - wide) // 2, (MASTER + high) // 2), font, by, 255, thick, cv2.LINE_AA)
    return ink


def _letter(random: Random) -> Ink:
    return _text(_LETTERS[int(random.integers(len(_LETTERS)))], random)


def _word(random: Random) -> Ink:
    return _text(_WORDS[int(random.integers(len(_WORDS)))], random)


def _shape(random: Random) -> Ink:
    """Boxes, circles, polygons with five and more corners, bars, alone or a few: no triangles, which are arrows."""
    ink = _blank()
    for _ in range(int(random.choice([1, 1, 1, 2, 3]))):
        line = int(random.choice([-1, 2, 4, 6, 9]))
        x, y = random.integers(6, 50, 2)
        wide, high = random.integers(24, 84, 2)
        far = (int(min(90, x + wide)), int(min(90, y + high)))
        match int(random.integers(4)):
            case 0 | 1:
                cv2.rectangle(ink, (int(x), int(y)), far, 255, line)
            case 2:
                centre = (int(x + far[0]) // 2, int(y + far[1]) // 2)
                cv2.ellipse(
                    ink, centre, (int(far[0] - x) // 2, int(far[1] - y) // 2), 0, 0, 360, 255, line, cv2.LINE_AA
                )
            case _:
                corners = int(random.integers(5, 9))
                turn = np.linspace(0, 2 * np.pi, corners, endpoint=False) + random.uniform(0, 1)
                points = np.stack([48 + 38 * np.cos(turn), 48 + 38 * np.sin(turn)], 1).astype(np.int32)
                if line < 0:
                    cv2.fillPoly(ink, [points], 255, cv2.LINE_AA)
                else:
                    cv2.polylines(ink, [points], True, 255, line, cv2.LINE_AA)
    return ink


def _scribble(random: Random) -> Ink:
    """Handwriting, a curve, or a photograph's patches."""
    ink = _blank()
    if random.random() < 0.5:
        points = np.cumsum(random.normal(0, 14, (int(random.integers(4, 12)), 2)), 0)
        points = (points - points.min(0)) / max(1.0, float(np.ptp(points))) * 84 + 6
        cv2.polylines(ink, [points.astype(np.int32)], False, 255, int(random.integers(2, 9)), cv2.LINE_AA)
        return ink
    coarse = random.integers(0, 255, (int(random.integers(2, 7)),) * 2).astype(np.uint8)
    patch = cv2.resize(coarse, (80, 80), interpolation=cv2.INTER_CUBIC)
    ink[8:88, 8:88] = patch
    return ink


def _part_of(shot: Pixels, random: Random) -> Pixels:
    side = int(random.integers(18, 60)) + 2 * MARGIN
    y, x = (int(random.integers(0, shot.shape[axis] - side)) for axis in (0, 1))
    return shot[y : y + side, x : x + side].copy()


def repeated(drawings: Sequence[Drawing], times: int, most: int, random: Random) -> list[Drawing]:
    """Each drawing so many times; of one set and name at most `most` of them, in a random choice."""
    by: dict[tuple[str, str], list[Drawing]] = {}
    for each in drawings:
        by.setdefault((each.set, each.name), []).append(each)
    found = []
    for group in by.values():
        many = [each for each in group for _ in range(times)]
        random.shuffle(many)  # type: ignore[arg-type]
        found += many[:most] if group[0].name else many
    return found

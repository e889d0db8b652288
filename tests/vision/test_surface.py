"""Claims about what is proposed in a drawn surface, on pictures drawn here with known places."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import cv2
import numpy as np
import pytest

from vision_agent.geometry import Box
from vision_agent.vision.picture import Picture, Pixels
from vision_agent.vision.surfaces.candidates import SurfaceProposals, propose

GROUND, FACE, RIM, INK = (250, 248, 247), (230, 120, 60), (180, 90, 40), (40, 30, 30)
WHOLE = Box(x=0, y=0, width=800, height=500)


def drawn(*strokes: Callable[[Pixels], object], ground: tuple[int, int, int] = GROUND) -> Picture:
    """A picture of 800×500 with these on it, shown at its own size."""
    pixels = np.full((500, 800, 3), ground, np.uint8)
    for stroke in strokes:
        stroke(pixels)
    return Picture.decode(cv2.imencode(".png", pixels)[1].tobytes(), WHOLE)


def box(x: int, y: int, width: int, height: int, colour: tuple[int, int, int] = FACE) -> Callable[[Pixels], object]:
    return lambda on: cv2.rectangle(on, (x, y), (x + width - 1, y + height - 1), colour, cv2.FILLED)


def rim(x: int, y: int, width: int, height: int) -> Callable[[Pixels], object]:
    return lambda on: cv2.rectangle(on, (x, y), (x + width - 1, y + height - 1), RIM, 1)


def disc(x: int, y: int, radius: int, colour: tuple[int, int, int] = FACE) -> Callable[[Pixels], object]:
    return lambda on: cv2.circle(on, (x, y), radius, colour, cv2.FILLED, cv2.LINE_AA)


def words(text: str, x: int, y: int, colour: tuple[int, int, int] = INK) -> Callable[[Pixels], object]:
    return lambda on: cv2.putText(on, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA)


def overlap(one: Box, other: Box) -> float:
    """Their common area, as a share of what both cover."""
    common = one.intersection(other)
    if common is None:
        return 0.0
    area = common.width * common.height
    return area / (one.width * one.height + other.width * other.height - area)


def shapes(found: SurfaceProposals) -> list[str]:
    return [each.shape for each in found.proposals]


def test_a_button_is_one_proposal_with_its_words_in_it() -> None:
    found = propose(drawn(box(100, 80, 120, 36), words("Save", 140, 104, (255, 255, 255))), WHOLE)
    [button] = found.proposals
    assert button.shape == "box"
    assert overlap(button.box, Box(x=100, y=80, width=120, height=36)) > 0.9
    [line] = button.lines
    assert overlap(line, Box(x=139, y=92, width=40, height=13)) > 0.6


def test_a_button_that_is_only_an_outline_is_one_too() -> None:
    [button] = propose(drawn(rim(100, 80, 120, 36), words("Save", 140, 104)), WHOLE).proposals
    assert overlap(button.box, Box(x=100, y=80, width=120, height=36)) > 0.9


def test_words_on_the_ground_are_a_proposal_of_their_own() -> None:
    [line] = propose(drawn(words("Add a layer", 300, 200)), WHOLE).proposals
    assert line.shape == "words"
    assert line.box.contains(line.point)


def test_words_beside_each_other_in_one_bar_are_told_apart() -> None:
    found = propose(drawn(box(100, 80, 240, 36), words("3M", 120, 104), words("6M", 200, 104)), WHOLE)
    assert sorted(shapes(found)) == ["box", "words", "words"]


def test_words_on_buttons_side_by_side_in_one_frame_belong_to_the_buttons() -> None:
    buttons = (box(130, 130, 90, 40), box(260, 130, 90, 40))
    names = (words("Table", 150, 155), words("Sofa", 285, 155))
    found = propose(drawn(rim(100, 80, 300, 150), *buttons, *names), WHOLE)
    assert "words" not in shapes(found)


DISCS = (Box(x=70, y=70, width=61, height=61), Box(x=294, y=94, width=13, height=13))


def test_discs_are_round_and_small_ones_are_seen() -> None:
    found = propose(drawn(disc(100, 100, 30), disc(300, 100, 6)), WHOLE)
    assert [overlap(each.box, at) > 0.7 for each, at in zip(found.proposals, DISCS, strict=True)] == [True, True]
    assert found.proposals[0].shape == "round"


def test_the_point_of_a_bent_thing_lies_on_what_is_drawn() -> None:
    def horseshoe(on: Pixels) -> None:
        cv2.ellipse(on, (300, 200), (60, 60), 0, 0, 250, FACE, 26)

    [thing] = propose(drawn(horseshoe), WHOLE).proposals
    pixels = np.full((500, 800, 3), GROUND, np.uint8)
    horseshoe(pixels)
    assert tuple(pixels[int(thing.point.y), int(thing.point.x)]) == FACE


def test_a_bar_with_many_buttons_is_none_itself() -> None:
    buttons = [box(20 + 90 * at, 20, 70, 30, (255, 255, 255)) for at in range(5)]
    found = propose(drawn(box(10, 10, 480, 50), *buttons), WHOLE)
    assert len(found.proposals) == 5
    assert max(each.box.width for each in found.proposals) < 80


def test_pieces_of_the_ground_come_after_things() -> None:
    lines = [lambda on, y=y: cv2.line(on, (0, y), (799, y), RIM, 1) for y in (100, 200, 300, 400)]
    bars = [box(100 * at + 40, 420 - 60 * at, 30, 70 + 60 * at) for at in range(1, 6)]
    found = propose(drawn(*lines, *bars), WHOLE)
    assert sorted(round(each.box.x / 100) * 100 + 40 for each in found.proposals[:5]) == [140, 240, 340, 440, 540]
    assert all(abs(each.box.width - 30) <= 2 for each in found.proposals[:5])


@pytest.mark.parametrize("pieces", [False, True])
def test_a_board_is_one_lattice_whose_cells_are_its_squares(pieces: bool) -> None:
    squares = [
        box(100 + 40 * column, 60 + 40 * row, 40, 40, (220, 200, 180) if (row + column) % 2 else (90, 110, 120))
        for row in range(8)
        for column in range(8)
    ]
    discs = [disc(120 + 40 * column, 80 + 40 * row, 15, (20, 20, 200)) for row in (0, 6) for column in range(8)]
    found = propose(drawn(*squares, *(discs if pieces else [])), WHOLE)
    [lattice] = found.lattices
    assert (lattice.grid.rows, lattice.grid.columns, len(lattice.grid.cells)) == (8, 8, 64)
    for row, column, *_ in lattice.grid.cells:
        cell = lattice.grid.cell(row, column)
        assert cell
        assert overlap(cell, Box(x=60 + 40 * column, y=20 + 40 * row, width=40, height=40)) > 0.85
    assert found.proposals == ()


def test_the_columns_of_a_sheet_may_have_any_width() -> None:
    lefts, tops = [20, 60, 180, 260, 500, 640], list(range(40, 300, 22))
    cells = [
        rim(left, top, right - left + 1, bottom - top + 1)
        for left, right in pairwise(lefts)
        for top, bottom in pairwise(tops)
    ]
    [lattice] = propose(drawn(*cells, words("Total", 70, 76)), WHOLE).lattices
    assert (lattice.grid.rows, lattice.grid.columns) == (11, 5)
    cell = lattice.grid.cell(2, 3)
    assert cell
    assert overlap(cell, Box(x=180, y=62, width=80, height=22)) > 0.85


def test_rows_may_be_bent_and_have_an_aisle_and_empty_places() -> None:
    def seats(on: Pixels) -> None:
        for row in range(4):
            for column in range(10):
                if (row, column) == (2, 4):
                    continue
                x = 100 + 44 * column + (40 if column > 4 else 0)
                cv2.rectangle(on, (x, y := 100 + 50 * row - (column - 4) ** 2 // 2), (x + 30, y + 30), FACE, cv2.FILLED)

    [lattice] = propose(drawn(seats), WHOLE).lattices
    assert (lattice.grid.rows, lattice.grid.columns, len(lattice.grid.cells)) == (4, 10, 39)
    last = lattice.grid.cell(4, 10)
    assert last
    assert last.x == pytest.approx(536, abs=2)
    assert lattice.grid.cell(3, 5) is None


def test_a_few_alike_things_are_told_one_by_one() -> None:
    colours = [box(20 + 30 * (at % 5), 20 + 30 * (at // 5), 24, 24, (40 * at % 255, 90, 160)) for at in range(10)]
    found = propose(drawn(*colours), WHOLE)
    assert found.lattices == ()
    assert len(found.proposals) == 10


def test_no_more_are_proposed_than_asked_for_and_the_cut_is_told() -> None:
    chance = np.random.default_rng(3)
    things = [
        box(20 + 96 * (at % 8), 14 + 60 * (at // 8), *(int(side) for side in chance.integers(16, 50, 2)))
        for at in range(64)
    ]
    found = propose(drawn(*things), WHOLE, most=25)
    assert len(found.proposals) + len(found.lattices) == 25
    assert found.left_out == 64 - 25


@pytest.mark.parametrize("ground", [(255, 255, 255), (0, 0, 0)])
def test_a_blank_surface_has_nothing(ground: tuple[int, int, int]) -> None:
    assert propose(drawn(ground=ground), WHOLE) == SurfaceProposals()


def test_a_surface_that_the_picture_does_not_show_has_nothing() -> None:
    picture = drawn(box(100, 80, 120, 36))
    assert propose(picture, Box(x=900, y=0, width=100, height=100)) == SurfaceProposals()
    assert propose(picture, Box(x=10, y=10, width=0, height=0)) == SurfaceProposals()


@pytest.mark.parametrize(("width", "height"), [(1, 400), (400, 1), (2, 2), (0.4, 20), (3, 300)])
def test_a_surface_too_thin_to_hold_anything_has_nothing(width: float, height: float) -> None:
    picture = drawn(box(100, 80, 120, 36))
    assert propose(picture, Box(x=100, y=80, width=width, height=height)) == SurfaceProposals()


def test_only_the_shown_part_of_a_larger_surface_is_looked_at() -> None:
    [found] = propose(drawn(box(100, 80, 120, 36)), Box(x=-4000, y=-4000, width=9000, height=9000)).proposals
    assert overlap(found.box, Box(x=100, y=80, width=120, height=36)) > 0.9


def test_what_lies_beside_the_surface_is_not_looked_at() -> None:
    picture = drawn(box(100, 80, 120, 36), box(500, 80, 120, 36))
    [found] = propose(picture, Box(x=0, y=0, width=300, height=500)).proposals
    assert found.box.right < 300


def test_noise_such_as_of_a_film_makes_no_flood() -> None:
    chance = np.random.default_rng(1)
    pixels = chance.integers(0, 255, (500, 800, 3), np.uint8)
    found = propose(Picture.decode(cv2.imencode(".png", pixels)[1].tobytes(), WHOLE), WHOLE)
    assert len(found.proposals) <= 3


def test_places_are_on_the_page_however_large_the_picture_is() -> None:
    picture = drawn(box(100, 80, 120, 36))
    twice = Picture.decode(picture.encode().data or b"", Box(x=50, y=20, width=400, height=250))
    [found] = propose(twice, Box(x=50, y=20, width=400, height=250)).proposals
    assert overlap(found.box, Box(x=100, y=60, width=60, height=18)) > 0.85
    assert found.box.contains(found.point)


def test_grain_all_over_is_nothing_to_act_on() -> None:
    grain = np.random.default_rng(3)
    picture = drawn(
        lambda on: np.add(on, grain.integers(-6, 6, on.shape), out=on, casting="unsafe"), ground=(128, 128, 128)
    )
    assert not propose(picture, WHOLE).proposals


def island(on: Pixels) -> None:
    """Land with a thin coast, in water."""
    turn = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    far = 1 + 0.15 * np.sin(3 * turn)
    coast = np.stack([400 + 150 * far * np.cos(turn), 250 + 100 * far * np.sin(turn)], axis=1).astype(np.int32)
    cv2.fillPoly(on, [coast], (185, 232, 216), cv2.LINE_AA)
    cv2.polylines(on, [coast], True, (120, 150, 130), 1, cv2.LINE_AA)


def town(x: int, y: int) -> Callable[[Pixels], object]:
    def stroke(on: Pixels) -> None:
        cv2.circle(on, (x, y), 18, (255, 255, 255), cv2.FILLED, cv2.LINE_AA)
        cv2.circle(on, (x, y), 15, (60, 60, 210), cv2.FILLED, cv2.LINE_AA)

    return stroke


def test_an_island_is_marked_though_a_town_lies_on_its_coast_and_others_on_it() -> None:
    found = propose(
        drawn(island, town(530, 290), town(330, 230), town(420, 200), town(400, 280), ground=(242, 227, 191)), WHOLE
    )
    [land, *towns] = sorted(found.proposals, key=lambda each: -each.box.width)
    assert overlap(land.box, Box(x=240, y=145, width=312, height=198)) > 0.75
    assert len(towns) == 4
    assert all(each.box.width < 50 for each in towns)


def test_a_panel_with_rounded_corners_around_many_buttons_is_none_itself() -> None:
    def panel(on: Pixels) -> None:
        cv2.rectangle(on, (90, 90), (709, 250), (220, 220, 220), 40)
        cv2.rectangle(on, (90, 90), (709, 250), (220, 220, 220), cv2.FILLED)

    found = propose(drawn(panel, *(box(120 + 150 * at, 120, 110, 40) for at in range(4))), WHOLE)
    assert all(each.box.width < 200 for each in found.proposals)


@pytest.mark.parametrize("length", [120, 160])
def test_a_boat_with_a_short_mast_is_one_thing(length: int) -> None:
    def boat(on: Pixels) -> None:
        x, y, axes = 300, 200, (length // 2, round(length / 4.4))
        cv2.ellipse(on, (x, y), axes, 0, 0, 360, (168, 99, 36), cv2.FILLED, cv2.LINE_AA)
        cv2.ellipse(on, (x, y), axes, 0, 0, 360, (51, 41, 31), 3, cv2.LINE_AA)
        left, high = x - round(length / 3.2), length // 5
        cv2.rectangle(on, (left - 3, y - high // 2), (left + 2, y + high // 2), (42, 52, 74), cv2.FILLED)

    [found] = propose(drawn(boat, ground=(230, 211, 160)), WHOLE).proposals
    assert overlap(found.box, Box(x=300 - length / 2, y=200 - length / 4.4, width=length, height=length / 2.2)) > 0.7


def test_an_outlined_button_on_a_panel_of_its_colour_stays_a_button() -> None:
    def panel(on: Pixels) -> None:
        cv2.rectangle(on, (100, 100), (330, 190), (230, 220, 200), cv2.FILLED)
        cv2.rectangle(on, (112, 110), (306, 180), RIM, 2)

    found = propose(drawn(panel), WHOLE)
    assert any(overlap(each.box, Box(x=112, y=110, width=195, height=71)) > 0.9 for each in found.proposals)


def face(colour: tuple[int, int, int], *corners: tuple[int, int]) -> Callable[[Pixels], object]:
    return lambda on: cv2.fillPoly(on, [np.array(corners, np.int32)], colour)


CUBE = (
    face((184, 116, 50), (320, 100), (400, 100), (420, 140), (300, 140)),
    face((148, 94, 40), (300, 140), (420, 140), (412, 220), (310, 220)),
)
"""Two faces of a cube, of which the upper one is lighter."""


def cylinder(on: Pixels) -> None:
    cv2.ellipse(on, (600, 320), (40, 18), 0, 0, 360, (50, 50, 155), cv2.FILLED)
    cv2.rectangle(on, (560, 240), (640, 320), (50, 50, 155), cv2.FILLED)
    cv2.ellipse(on, (600, 240), (40, 18), 0, 0, 360, (60, 60, 190), cv2.FILLED)


def test_a_solid_without_edges_is_one_thing() -> None:
    found = propose(drawn(*CUBE, cylinder), WHOLE)
    assert len(found.proposals) == 2
    for solid in (Box(x=300, y=100, width=120, height=120), Box(x=560, y=222, width=80, height=116)):
        assert max(overlap(each.box, solid) for each in found.proposals) > 0.9


SHADES = ((184, 116, 50), (148, 94, 40), (220, 140, 60), (110, 70, 30))


@pytest.mark.parametrize(
    ("strokes", "many"),
    [
        ([box(300, 100 + 60 * at, 90, 60, shade) for at, shade in enumerate(SHADES[:2])], 2),
        ([face(SHADES[0], (300, 100), (400, 100), (350, 180)), face(SHADES[1], (300, 260), (400, 260), (350, 182))], 2),
        ([face(SHADES[0], (300, 100), (420, 100), (400, 180), (320, 180)), disc(360, 215, 34, SHADES[1])], 2),
        ([face(shade, (400, 250), *((400 + x, 250 + y) for x, y in ((120 * a, 120 * b), (120 * b, -120 * a))))
          for shade, a, b in zip(SHADES, (1, 0, -1, 0), (0, 1, 0, -1), strict=True)], 4),
    ],
    ids=["segments of a bar", "an hourglass", "a ball below a bowl", "slices"],
)  # fmt: skip
def test_neighbours_in_shades_of_one_colour_that_are_no_solid_stay_apart(
    strokes: list[Callable[[Pixels], object]], many: int
) -> None:
    assert len(propose(drawn(*strokes), WHOLE).proposals) == many


@pytest.mark.parametrize("seed", range(4))
def test_whatever_part_of_a_drawing_shows_a_look_ends(seed: int) -> None:
    chance = np.random.default_rng(seed)

    def scribble(on: Pixels) -> None:
        for _ in range(60):
            (x, y, right, bottom), (hue, shade) = chance.integers(0, 800, 4).tolist(), chance.integers(0, 3, 2).tolist()
            colour = tuple(150 + 40 * shade if channel == hue else 40 for channel in range(3))
            corners = np.array([(x, y), (right, y), (right, bottom), (x + 40, bottom)], np.int32)
            cv2.fillPoly(on, [corners // 2 + 100], colour, cv2.LINE_AA)
            cv2.polylines(on, [corners], True, colour, 3, cv2.LINE_AA)

    picture = drawn(scribble)
    for _ in range(30):
        x, y, wide, high = chance.integers(0, 400, 4).tolist()
        assert propose(picture, Box(x=x, y=y, width=wide + 5, height=high + 5)).left_out >= 0

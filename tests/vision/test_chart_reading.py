"""Claims about charts, on pictures drawn here whose texts are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import cv2
import numpy as np
import pytest

from tests.vision.test_drawn import HERE
from tests.vision.test_surface import WHOLE, box, disc, drawn, words
from vision_agent.geometry import Box
from vision_agent.vision.ocr import NOTHING, Reading
from vision_agent.vision.picture import Picture, Pixels
from vision_agent.vision.surfaces.things import UNREAD
from vision_agent.vision.surfaces.tracking import Drawing, SurfaceLook

Stroke = Callable[[Pixels], object]
BLUE, GREEN = (200, 100, 30), (60, 150, 30)
VALUES = (20, 55, 80, 35)


def y_of(value: float) -> int:
    return round(400 - 3.2 * value)


TICKS: list[tuple[str, int, int]] = [(str(value), 40, y_of(value) + 5) for value in (0, 20, 40, 60, 80, 100)]
NAMES = [(name, 150 + 140 * at, 430) for at, name in enumerate(("Jan", "Feb", "Mar", "Apr"))]
BARS: list[Stroke] = [box(140 + 140 * at, y_of(value), 50, 400 - y_of(value), BLUE) for at, value in enumerate(VALUES)]


def look(strokes: Sequence[Stroke], texts: Sequence[tuple[str, int, int]]) -> SurfaceLook:
    """A look by a reader that knows which texts are drawn where."""

    def read(_: Picture, lines: Sequence[Box]) -> list[Reading | None]:
        near = [min(texts, key=lambda text: abs(text[1] - line.x) + abs(text[2] - line.bottom)) for line in lines]
        return [
            Reading(text, 0.99) if abs(x - line.x) < 9 and abs(y - line.bottom) < 9 else NOTHING
            for (text, x, y), line in zip(near, lines, strict=True)
        ]

    return Drawing().look(drawn(*strokes, *(words(*each) for each in texts)), WHOLE, HERE, read=read)


def test_bars_have_values_within_two_percent_of_the_axis() -> None:
    looked = look(BARS, [*TICKS, *NAMES])
    bars = [each for each in looked.things if each.told.role == "bar"]
    assert sorted(each.name for each in bars) == ["blue, Apr", "blue, Feb", "blue, Jan", "blue, Mar"]
    assert looked.chart is not None
    [head, *rows] = looked.chart.table()
    assert head == ["", "blue"]
    assert [row[0] for row in rows] == ["Jan", "Feb", "Mar", "Apr"]
    assert [float(row[1].split(" ")[0]) for row in rows] == pytest.approx(VALUES, abs=2)


def test_the_ground_that_rules_and_bars_enclose_is_nothing() -> None:
    rules: list[Stroke] = [box(90, y_of(value), 620, 1, (225, 225, 225)) for value in (0, 20, 40, 60, 80, 100)]
    axis: list[Stroke] = [box(90, 80, 1, 321, (150, 150, 150)), box(90, 400, 620, 1, (150, 150, 150))]
    near: list[Stroke] = [
        box(100 + 100 * at, y_of(value), 80, 400 - y_of(value), BLUE) for at, value in enumerate((*VALUES, 60, 70))
    ]
    names = [(name, 125 + 100 * at, 430) for at, name in enumerate(("Jan", "Feb", "Mar", "Apr", "May", "Jun"))]
    without = Drawing().look(drawn(*rules, *axis, *near), WHOLE, HERE)
    looked = look([*rules, *axis, *near], [*TICKS, *names])
    assert looked.chart is not None
    assert {each.told.role for each in looked.things} == {"bar", "axis"}
    assert len([each for each in looked.things if each.told.role == "bar"]) == 6
    assert len(without.things) > 6  # which is what there is to see without the words of the axes


def values_of(looked: SurfaceLook, column: int = 1) -> list[float]:
    assert looked.chart is not None
    return [float(row[column].split(" ")[0]) for row in looked.chart.table()[1:] if row[column]]


def test_bars_that_hang_from_zero_have_values_below_it() -> None:
    def at(value: float) -> int:
        return round(240 - 3.2 * value)

    values = (30, -40, 20, -15)
    ticks = [(str(value), 40, at(value) + 5) for value in (-50, -25, 0, 25, 50)]
    bars = [box(140 + 140 * i, min(at(0), at(each)), 50, abs(at(each) - at(0)), BLUE) for i, each in enumerate(values)]
    assert values_of(look(bars, [*ticks, *NAMES])) == pytest.approx(values, abs=2)


def test_a_name_without_a_bar_has_a_row_that_says_so() -> None:
    looked = look([BARS[0], *BARS[2:]], [*TICKS, *NAMES])
    assert looked.chart is not None
    assert looked.chart.table()[2] == ["Feb", UNREAD]


def test_beside_two_scales_no_value_is_given_and_the_chart_says_why() -> None:
    second: list[tuple[str, int, int]] = [(str(10 * value), 740, y_of(value) + 5) for value in (20, 40, 60, 80, 90)]
    other = [(f"{words}", x, y) for (_, x, y), words in zip(second, ("20", "40", "60", "80", "90"), strict=True)]
    looked = look(BARS, [*TICKS, *NAMES, *second])
    assert looked.chart is not None
    assert looked.chart.table() == [["", "blue"], *([name, UNREAD] for name in ("Jan", "Feb", "Mar", "Apr"))]
    assert "two scales" in looked.chart.why_unread
    assert {each.value for each in looked.things} == {""}
    assert values_of(look(BARS, [*TICKS, *NAMES, *other])) == pytest.approx(VALUES, abs=2)


@pytest.mark.parametrize("is_marked", [False, True])
def test_the_error_of_a_line_covers_its_value_where_it_turns(is_marked: bool) -> None:
    values = (80, 10, 95, 90)

    def line(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate(values)]
        cv2.polylines(on, [np.array(points)], False, GREEN, 3, cv2.LINE_AA)
        for point in points if is_marked else ():
            cv2.circle(on, point, 4, GREEN, -1, cv2.LINE_AA)

    looked = look([line], [*TICKS, *NAMES])
    assert looked.chart is not None
    [series] = looked.chart.series
    found = {at: (value, error) for at, value, error in series.values}
    for name, value in zip(("Jan", "Feb", "Mar", "Apr"), values, strict=True):
        assert abs(found[name][0] - value) <= found[name][1] < 5


def test_what_goes_on_above_the_part_that_is_read_has_no_value() -> None:
    bars = [*BARS[:3], box(560, 0, 50, 400, BLUE)]
    looked = look(bars, [*TICKS, *NAMES])
    assert looked.chart is not None
    assert looked.chart.table()[4] == ["Apr", UNREAD]


def test_a_bar_whose_end_a_bubble_hides_has_no_value() -> None:
    looked = look([*BARS, box(250, y_of(60), 110, 80, (40, 40, 40))], [*TICKS, *NAMES])
    assert looked.chart is not None
    assert looked.chart.table()[2] == ["Feb", UNREAD]


def test_bars_with_a_gap_of_one_pixel_are_bars() -> None:
    bars = [box(96 + 140 * at, y_of(value), 139, 400 - y_of(value), BLUE) for at, value in enumerate(VALUES)]
    assert values_of(look(bars, [*TICKS, *NAMES])) == pytest.approx(VALUES, abs=2)
    levels = (22, 40, 55, 70, 62, 41)
    near = [box(140 + 60 * at, y_of(value), 56, 400 - y_of(value), BLUE) for at, value in enumerate(levels)]
    assert values_of(look(near, [*TICKS, *NAMES])) == pytest.approx(levels, abs=2)


def test_a_line_across_bars_changes_neither() -> None:
    def line(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate((30, 20, 50, 10))]
        cv2.polylines(on, [np.array(points)], False, GREEN, 3, cv2.LINE_AA)

    looked = look([*BARS, line], [*TICKS, *NAMES])
    assert values_of(looked) == pytest.approx(VALUES, abs=2)
    assert values_of(looked, 2)[:4] == pytest.approx((30, 20, 50, 10), abs=2.5)


def test_level_bars_that_go_on_from_others_have_their_own_lengths() -> None:
    names, values, more = ("Oslo", "Bergen", "Molde"), (30, 50, 55), (20, 35, 10)
    bars = [box(120, 80 + 90 * at, 6 * value, 40, BLUE) for at, value in enumerate(values)]
    on = [box(120 + 6 * values[at], 80 + 90 * at, 6 * value, 40, GREEN) for at, value in enumerate(more)]
    ticks = [(str(value), 120 + 6 * value - 5 * len(str(value)), 400) for value in (0, 20, 40, 60, 80, 100)]
    looked = look(
        [*bars, *on], [*ticks, *((name, 108 - 10 * len(name), 105 + 90 * at) for at, name in enumerate(names))]
    )
    assert values_of(looked) == pytest.approx(values, abs=2)
    assert values_of(looked, 2) == pytest.approx(more, abs=2)


def test_points_with_the_bars_of_their_errors_are_no_candles() -> None:
    places = [(150 + 28 * at, y_of(30 + 5 * (at % 7))) for at in range(16)]
    points = [box(x - 4, y - 4, 9, 9, GREEN) for x, y in places]
    errors = [box(x, y - 14, 1, 29, GREEN) for x, y in places]
    looked = look([*points, *errors], [*TICKS, *NAMES])
    assert not [each for each in looked.things if each.told.role == "candle"]


def test_pieces_of_an_area_between_rules_are_no_bars() -> None:
    rules: list[Stroke] = [box(90, y_of(value), 620, 1, (225, 225, 225)) for value in (0, 20, 40, 60, 80, 100)]
    upper = [(x, y_of(value)) for x, value in zip((150, 305, 445, 600), VALUES, strict=True)]

    def area(on: Pixels) -> None:
        cv2.fillPoly(on, [np.array([*upper, (600, y_of(0)), (150, y_of(0))])], (240, 215, 190))
        cv2.polylines(on, [np.array(upper)], False, BLUE, 2, cv2.LINE_AA)

    looked = look([area, *rules], [*TICKS, *NAMES])
    assert values_of(looked)[:4] == pytest.approx((22, 55, 80, 40), abs=3)


def test_bars_on_bars_have_their_own_heights_as_values() -> None:
    upper = (15, 5, 12, 40)
    stack = zip(VALUES, upper, strict=True)
    on_them: list[Stroke] = [
        box(140 + 140 * at, y_of(low + value), 50, y_of(low) - y_of(low + value), GREEN)
        for at, (low, value) in enumerate(stack)
    ]
    looked = look([*BARS, *on_them], [*TICKS, *NAMES])
    assert looked.chart is not None
    [head, *rows] = looked.chart.table()
    assert head[1:] == ["blue", "green"]
    for row, low, value in zip(rows, VALUES, upper, strict=True):
        assert [float(cell.split(" ")[0]) for cell in row[1:]] == pytest.approx([low, value], abs=2)


def test_the_upper_edge_of_an_area_is_its_value_and_an_area_on_another_is_not_read() -> None:
    def area(heights: Sequence[float], on_top_of: Sequence[float], colour: tuple[int, int, int]) -> Stroke:
        places = (150, 305, 445, 600)
        upper = [(x, y_of(value)) for x, value in zip(places, heights, strict=True)]
        lower = [(x, y_of(value)) for x, value in zip(places, on_top_of, strict=True)]
        return lambda on: cv2.fillPoly(on, [np.array([*upper, *reversed(lower)])], colour)

    both = [area((90, 95, 99, 80), VALUES, GREEN), area(VALUES, (0, 0, 0, 0), BLUE)]
    looked = look(both, [*TICKS, *NAMES])
    assert looked.chart is not None
    [series] = looked.chart.series
    known = {at: value for at, value, _ in series.values}
    assert [known[name] for name in ("Jan", "Feb", "Mar", "Apr")] == pytest.approx((22, 55, 80, 40), abs=3)
    assert looked.chart.unread == ("green",)


def test_two_lines_of_one_colour_are_not_read_as_one_between_them() -> None:
    def line(by: int) -> Stroke:
        points = [(150 + 140 * at, y_of(value) - by) for at, value in enumerate((40, 20, 50, 35))]
        return lambda on: cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)

    assert look([line(0), line(70)], [*TICKS, *NAMES]).chart is None
    assert look([line(0)], [*TICKS, *NAMES]).chart is not None


@pytest.mark.parametrize(("radius", "stroke"), [(4, 1), (4, 2), (6, 2), (8, 3)])
def test_points_drawn_as_rings_are_marks_with_their_values(radius: int, stroke: int) -> None:
    def line(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate(VALUES)]
        cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)
        for point in points:
            cv2.circle(on, point, radius, (255, 255, 255), cv2.FILLED, cv2.LINE_AA)
            cv2.circle(on, point, radius, GREEN, stroke, cv2.LINE_AA)

    rules: list[Stroke] = [box(90, y_of(value), 620, 1, (225, 225, 225)) for value in (0, 20, 40, 60, 80, 100)]
    looked = look([*rules, line], [*TICKS, *NAMES])
    points = sorted((each for each in looked.things if each.told.role == "point"), key=lambda each: each.box.x)
    assert [each.name for each in points] == ["green, Jan", "green, Feb", "green, Mar", "green, Apr"]
    for at, (each, value) in enumerate(zip(points, VALUES, strict=True)):
        assert abs(float(each.value.split(" ")[1]) - value) <= 2
        assert abs(each.point.x - 165 - 140 * at) <= 2
        assert abs(each.point.y - y_of(value)) <= 2
        assert max(each.box.width, each.box.height) <= 2 * radius + stroke + 4
    assert {each.told.role for each in looked.things} == {"point", "axis"}


def test_what_a_curve_and_the_axis_enclose_is_no_point() -> None:
    def line(on: Pixels) -> None:
        for offset in (0, 14):
            points = [(165 + 140 * at, y_of(value) + offset) for at, value in enumerate(VALUES)]
            cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)
        cv2.line(on, (305, y_of(55)), (305, y_of(55) + 14), GREEN, 2)
        cv2.line(on, (340, y_of(55)), (330, y_of(55) + 14), GREEN, 2)

    looked = look([line], [*TICKS, *NAMES])
    assert [each for each in looked.things if each.told.role == "point"] == []


SHARES = {"Rent": (50.0, BLUE), "Food": (27.5, GREEN), "Books": (12.5, (60, 60, 210)), "Other": (10.0, (180, 60, 140))}


def pie(hole: int) -> list[Stroke]:
    """A pie with a legend to its right, or a doughnut."""

    def stroke(on: Pixels) -> None:
        begin = -90.0
        for share, colour in SHARES.values():
            end = begin + 3.6 * share
            angles = np.radians(np.linspace(begin, end, 200))
            rim = np.stack([250 + 150 * np.cos(angles), 260 + 150 * np.sin(angles)], axis=1)
            cv2.fillPoly(on, [np.concatenate([rim, [[250, 260]]]).round().astype(np.int32)], colour, cv2.LINE_AA)
            begin = end
        if hole:
            cv2.circle(on, (250, 260), hole, (250, 248, 247), cv2.FILLED, cv2.LINE_AA)

    signs = [box(500, 152 + 40 * at, 24, 12, colour) for at, (_, colour) in enumerate(SHARES.values())]
    return [stroke, *signs]


@pytest.mark.parametrize("hole", [0, 80])
def test_the_slices_of_a_pie_are_marks_with_their_shares(hole: int) -> None:
    looked = look(pie(hole), [(name, 532, 163 + 40 * at) for at, name in enumerate(SHARES)])
    assert looked.chart is not None
    [series] = looked.chart.series
    known = {at: value for at, value, _ in series.values}
    assert known == pytest.approx({name: share for name, (share, _) in SHARES.items()}, abs=0.6)
    slices = {each.name: each for each in looked.things if each.told.role == "slice"}
    assert set(slices) == set(SHARES)
    assert slices["Rent"].point.x > 250
    assert slices["Food"].value.startswith("about 27")
    assert slices["Food"].value.endswith(" %")


def test_a_ball_of_two_colours_without_names_is_no_pie() -> None:
    assert (
        look([disc(250, 260, 100, BLUE), box(150, 250, 200, 20, GREEN)], [("Goal", 500, 160), ("Kick", 500, 260)]).chart
        is None
    )


def test_bars_that_lie_have_the_names_beside_them_and_values_from_the_row_below() -> None:
    names = ("Oslo", "Bergen", "Molde")
    values = (30, 80, 55)
    bars = [box(120, 80 + 90 * at, 6 * value, 40, BLUE) for at, value in enumerate(values)]
    ticks = [(str(value), 120 + 6 * value - 5 * len(str(value)), 400) for value in (0, 20, 40, 60, 80, 100)]
    looked = look(bars, [*ticks, *((name, 108 - 10 * len(name), 105 + 90 * at) for at, name in enumerate(names))])
    assert looked.chart is not None
    [head, *rows] = looked.chart.table()
    assert head == ["", "blue"]
    assert [row[0] for row in rows] == list(names)
    assert [float(row[1].split(" ")[0]) for row in rows] == pytest.approx(values, abs=2)
    assert len([each for each in looked.things if each.told.role == "bar"]) == 3


RED, TURQUOISE, PURPLE = (80, 83, 239), (154, 166, 38), (181, 63, 123)
PRICES = tuple(round(50 + 30 * float(np.sin(at / 2.3)) + 5 * float(np.sin(at * 1.7)), 1) for at in range(17))
"""What each candle begins with; the next begins where it ends."""
DAYS = [(name, 126 + 160 * at, 430) for at, name in enumerate(("27", "Apr", "5", "9"))]


def candles(wick: int = 1) -> list[Stroke]:
    """Candles 40 px apart from x=130, with a curve over them."""
    strokes: list[Stroke] = []
    for at, (opens, closes) in enumerate(pairwise(PRICES)):
        colour = TURQUOISE if closes > opens else RED
        x, top, bottom = 130 + 40 * at, y_of(max(opens, closes)), y_of(min(opens, closes))
        strokes.append(box(x - 14, top, 29, max(1, bottom - top), colour))
        if wick:
            strokes.append(box(x, y_of(max(opens, closes) + 4), wick, y_of(min(opens, closes) - 3) - top + 13, colour))

    def curve(on: Pixels) -> None:
        points = [(130 + 40 * at, y_of(value) + 20) for at, value in enumerate(PRICES[:-1])]
        cv2.polylines(on, [np.array(points)], False, PURPLE, 2, cv2.LINE_AA)

    return [*strokes, curve]


def test_candles_are_marks_with_the_ends_of_their_bodies_and_lines() -> None:
    looked = look(candles(), [*TICKS, *DAYS])
    assert looked.chart is not None
    [head, *rows] = looked.chart.table()
    assert head[1:5] == ["high", "body top", "body bottom", "low"]
    of = {row[0]: row[1:5] for row in rows if row[1]}
    assert [*of][:6] == ["27", "27 + 1", "27 + 2", "27 + 3", "Apr", "Apr + 1"]
    assert len(of) == 16
    for cells, opens, closes in zip(of.values(), PRICES[:-1], PRICES[1:], strict=True):
        high, low = max(opens, closes), min(opens, closes)
        for cell, true in zip(cells, (high + 4, high, low, low - 3), strict=True):
            value, error = (float(each) for each in cell.split(" ± "))
            assert abs(value - true) <= max(2, error), (cells, true)
    marked = [each for each in looked.things if each.told.role == "candle"]
    assert len(marked) == 16
    assert {each.name.split(",")[0] for each in marked} == {"red", "turquoise"}
    assert {each.told.role for each in looked.things} == {"candle", "axis"}


def test_candles_without_lines_are_read_as_none() -> None:
    looked = look(candles(wick=0), [*TICKS, *DAYS])
    assert not [each for each in looked.things if each.told.role == "candle"]


def test_bars_with_lines_on_them_are_no_candles() -> None:
    lines: list[Stroke] = [box(164 + 140 * at, y_of(value) - 10, 2, 20, BLUE) for at, value in enumerate(VALUES)]
    looked = look([*BARS, *lines], [*TICKS, *NAMES])
    assert {each.told.role for each in looked.things if each.value} == {"bar"}


def test_blocks_that_float_and_stems_are_not_read_as_lines_and_a_line_of_dashes_is() -> None:
    floating: list[Stroke] = [box(140 + 140 * at, y_of(value) - 60, 50, 45, GREEN) for at, value in enumerate(VALUES)]
    assert look(floating, [*TICKS, *NAMES]).chart is None
    looked = look([*BARS, *floating], [*TICKS, *NAMES])
    assert looked.chart is not None
    assert ([each.name for each in looked.chart.series], looked.chart.unread) == (["blue"], ("green",))
    assert looked.chart.table()[1] == ["Jan", "20.0 ± 0.3", "‹unread›"]

    levels = [20 + 9 * (at % 7) for at in range(16)]
    stems: list[Stroke] = [
        stroke
        for at, value in enumerate(levels)
        for stroke in (box(150 + 28 * at, y_of(value), 2, 30, GREEN), box(143 + 28 * at, y_of(value), 14, 2, GREEN))
    ]
    assert look(stems, [*TICKS, *NAMES]).chart is None

    def dashes(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate(VALUES)]
        cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)
        for left in range(157, 600, 14):
            cv2.rectangle(on, (left, 0), (left + 3, 399), (255, 255, 255), cv2.FILLED)

    looked = look([dashes], [*TICKS, *NAMES])
    assert looked.chart is not None
    known = {at: value for at, value, _ in looked.chart.series[0].values}
    assert [known[name] for name in ("Jan", "Feb", "Mar", "Apr")] == pytest.approx(VALUES, abs=2.5)


@pytest.mark.parametrize(
    ("strokes", "texts"),
    [(BARS, NAMES), (BARS, TICKS), ([disc(300, 200, 40, BLUE)], [(str(at), 40, 60 + 30 * at) for at in range(1, 6)])],
    ids=["no numbers", "nothing below", "a numbered list"],
)
def test_what_may_be_no_chart_is_none(strokes: list[Stroke], texts: list[tuple[str, int, int]]) -> None:
    assert look(strokes, texts).chart is None


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_drawn_a_look_ends(seed: int) -> None:
    chance = np.random.default_rng(seed)

    def scribble(on: Pixels) -> None:
        for _ in range(40):
            (x, y, right, bottom), colour = chance.integers(-40, 800, 4).tolist(), chance.integers(0, 256, 3).tolist()
            kind = chance.integers(4)
            if kind == 0:
                cv2.line(on, (x, y), (right, bottom), colour, 2)
            elif kind == 1:
                cv2.rectangle(on, (x, y), (right, bottom), colour, 1 if chance.random() < 0.7 else -1)
            elif kind == 2:
                cv2.ellipse(on, (x, y), (abs(right) // 5, abs(bottom) // 5), 0, 0, 300, colour, 2)
            else:
                for far in range(0, 300, 11):
                    cv2.line(on, (x + far, y), (x + far + 6, y), colour, 2)

    assert look([scribble], [*TICKS, *NAMES]).things


@pytest.mark.parametrize("seed", range(12))
def test_whatever_series_are_drawn_over_each_other_each_value_has_a_row(seed: int) -> None:
    chance = np.random.default_rng(seed)

    def series(colour: tuple[int, int, int]) -> list[Stroke]:
        many = int(chance.integers(2, 14))
        xs = sorted(chance.choice(np.arange(110, 640, 7), many, replace=False).tolist())
        ys = [y_of(value) for value in chance.integers(1, 95, many).tolist()]
        wide, kind = int(chance.integers(3, 50)), int(chance.integers(4))
        if kind == 0:
            return [box(x, y, wide, 400 - y, colour) for x, y in zip(xs, ys, strict=True)]
        if kind == 1:  # above two names
            return [box(160 + 140 * (at % 2), y, 9, 9, colour) for at, y in enumerate(ys)]
        points = np.array(list(zip(xs, ys, strict=True)))
        if kind == 2:
            return [lambda on: cv2.polylines(on, [points], False, colour, 2)]
        return [lambda on: cv2.fillPoly(on, [np.array([*points, (xs[-1], 400), (xs[0], 400)])], colour)]

    looked = look([stroke for each in (BLUE, GREEN, RED) for stroke in series(each)], [*TICKS, *NAMES])
    if looked.chart is not None:
        named = {at for each in looked.chart.series for at, _, _ in each.values}
        rows = looked.chart.table()[1:]
        assert {row[0] for row in rows if set(row[1:]) - {UNREAD, ""}} == named
        assert named <= {row[0] for row in rows}

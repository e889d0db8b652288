"""Claims about the series of a chart and its legend, on pictures drawn here whose texts are known."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.test_chart_reading import BARS, BLUE, GREEN, NAMES, TICKS, VALUES, Stroke, look, values_of, y_of
from tests.vision.test_surface import box
from vision_agent.vision.picture import Pixels


def test_a_line_has_a_value_at_each_name_and_the_legend_names_it() -> None:
    def line(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate(VALUES)]
        cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)

    looked = look([line, box(400, 20, 24, 12, GREEN)], [*TICKS, *NAMES, ("Castle", 432, 31)])
    assert looked.chart is not None
    [series] = looked.chart.series
    assert series.name == "Castle"
    known = {at: value for at, value, _ in series.values}
    assert [known[name] for name in ("Jan", "Feb", "Mar", "Apr")] == pytest.approx(VALUES, abs=2.5)


def test_a_sign_of_the_legend_above_the_plot_is_no_highest_value() -> None:
    def line(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate(VALUES)]
        cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)

    looked = look([line, box(400, 52, 24, 12, GREEN)], [*TICKS, *NAMES, ("Castle", 432, 63)])
    assert looked.chart is not None
    [series] = looked.chart.series
    assert series.name == "Castle"
    highest = next(value for at, value, _ in series.values if "highest" in at)
    assert highest == pytest.approx(max(VALUES), abs=2.5)


def test_a_series_that_is_switched_off_in_the_legend_has_no_column_and_its_sign_is_no_point() -> None:
    def hollow(on: Pixels) -> None:
        cv2.rectangle(on, (560, 50), (571, 61), (198, 179, 170), 1)

    signs: list[Stroke] = [box(400, 50, 12, 12, BLUE), hollow]
    looked = look([*BARS, *signs], [*TICKS, *NAMES, ("Shop", 420, 61), ("Garden", 580, 61)])
    assert looked.chart is not None
    assert looked.chart.table()[0] == ["", "Shop"]
    assert {each.told.role for each in looked.things if each.value} == {"bar"}


def test_a_sign_that_is_higher_than_its_words_is_no_part_of_a_line_below_it() -> None:
    def line(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate(VALUES)]
        cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)

    looked = look([line, box(390, 44, 40, 26, GREEN)], [*TICKS, *NAMES, ("Castle", 436, 63)])
    assert looked.chart is not None
    [series] = looked.chart.series
    highest = next(value for at, value, _ in series.values if "highest" in at)
    assert highest == pytest.approx(max(VALUES), abs=2.5)


def test_a_sign_whose_words_were_not_read_is_no_part_of_a_line_below_it() -> None:
    def line(on: Pixels) -> None:
        points = [(165 + 140 * at, y_of(value)) for at, value in enumerate(VALUES)]
        cv2.polylines(on, [np.array(points)], False, GREEN, 2, cv2.LINE_AA)

    def outline(on: Pixels) -> None:
        cv2.rectangle(on, (424, 44), (464, 58), GREEN, 3)

    looked = look([line, outline], [*TICKS, *NAMES])
    assert looked.chart is not None
    [series] = looked.chart.series
    known = {at: value for at, value, _ in series.values}
    assert [known[name] for name in ("Jan", "Feb", "Mar", "Apr")] == pytest.approx(VALUES, abs=2.5)
    assert max(known.values()) == pytest.approx(max(VALUES), abs=2.5)


def test_a_number_beside_a_bar_is_no_entry_of_a_legend() -> None:
    lower: list[Stroke] = [
        box(192 + 140 * at, y_of(value - 15), 50, 400 - y_of(value - 15), GREEN) for at, value in enumerate(VALUES)
    ]
    labels = [(str(value - 15), 200 + 140 * at, y_of(value - 15) - 6) for at, value in enumerate(VALUES)]
    looked = look([*BARS, *lower], [*TICKS, *NAMES, *labels])
    assert looked.chart is not None
    assert looked.chart.table()[0] == ["", "blue", "green"]


@pytest.mark.parametrize(
    "colours",
    [
        ((235, 162, 54), (132, 99, 255), (64, 159, 255)),
        ((245, 208, 154), (193, 177, 255), (159, 207, 255)),
        ((221, 112, 80), (52, 214, 182), (114, 83, 80)),
    ],
)
def test_bars_on_bars_on_bars_have_their_heights_in_bright_pale_and_dark_colours(
    colours: tuple[tuple[int, int, int], ...],
) -> None:
    stacks = ((20, 15, 9), (30, 10, 24), (25, 25, 12), (40, 12, 30))
    strokes: list[Stroke] = [box(90, 400, 620, 1, (90, 85, 84))]
    for at, values in enumerate(stacks):
        for rank in range(len(values)):
            top, foot = y_of(sum(values[: rank + 1])), y_of(sum(values[:rank]))
            strokes.append(box(125 + 140 * at, top, 80, foot - top, colours[rank]))
            if rank:
                seam = tuple((one + other) // 2 for one, other in zip(colours[rank], colours[rank - 1], strict=True))
                strokes.append(box(125 + 140 * at, foot, 80, 1, seam))
    signs: list[Stroke] = [box(250 + 120 * rank, 30, 24, 12, colour) for rank, colour in enumerate(colours)]
    legend = [(name, 282 + 120 * rank, 41) for rank, name in enumerate(("East", "West", "North"))]
    looked = look([*strokes, *signs], [*TICKS, *NAMES, *legend])
    assert looked.chart is not None
    assert looked.chart.table()[0] == ["", "East", "West", "North"]
    for rank in range(3):
        assert values_of(looked, rank + 1) == pytest.approx([values[rank] for values in stacks], abs=1.5)

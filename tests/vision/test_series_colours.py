"""Claims about the series of a chart and its legend, on pictures drawn here whose texts are known."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.test_chart_reading import BARS, BLUE, GREEN, NAMES, TICKS, VALUES, Stroke, look, y_of
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

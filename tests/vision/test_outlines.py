"""Claims about outlines: they are of the islands and the areas that a labelling of every pixel finds."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision_agent.vision.picture import Pixels
from vision_agent.vision.surfaces.outlines import find_outlines

NOISE = np.random.default_rng(7)


def labelled(white: Pixels, connectivity: int) -> set[tuple[int, ...]]:
    """The rectangles of what hangs together, as another way to find them has it."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(white, connectivity=connectivity)
    return {(x, y, x + wide, y + high) for x, y, wide, high, _ in stats[1:].tolist()}


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_islands_hang_together_over_corners_and_areas_do_not(share: float) -> None:
    white = np.where(NOISE.random((80, 120)) < share, 255, 0).astype(np.uint8)
    white[0] = white[-1] = white[:, 0] = white[:, -1] = 0
    islands, _ = find_outlines(white, around=0)
    _, areas = find_outlines(white, around=255)
    assert set(map(tuple, islands.rects.tolist())) >= {each for each in labelled(white, 8) if each[3] - each[1] > 1}
    between = {each for each in labelled(cv2.bitwise_not(white), 4) if each[3] - each[1] > 1}
    assert set(map(tuple, areas.rects.tolist())) == between


def test_each_starts_at_a_pixel_of_its_own() -> None:
    white = np.where(NOISE.random((60, 90)) < 0.4, 255, 0).astype(np.uint8)
    islands, areas = find_outlines(white, around=255)
    inside = (islands.starts >= 0).all(axis=1)
    assert (white[islands.starts[inside, 1], islands.starts[inside, 0]] == 255).all()
    assert (white[areas.starts[:, 1], areas.starts[:, 0]] == 0).all()
    assert len({tuple(each) for each in areas.starts.tolist()}) == len(areas.starts)


def test_a_box_is_solid_a_triangle_half_and_a_line_from_corner_to_corner_hardly() -> None:
    white = np.full((200, 200), 255, np.uint8)
    cv2.rectangle(white, (10, 10), (80, 60), 0, cv2.FILLED)
    cv2.fillPoly(white, [np.array([[10, 100], [80, 100], [10, 170]])], 0)
    cv2.line(white, (110, 110), (190, 190), 0, 3)
    _, areas = find_outlines(white, around=255)
    box, triangle, line = areas.solid[np.lexsort((areas.rects[:, 0], areas.rects[:, 1]))].tolist()
    assert box == 1
    assert 0.45 < triangle < 0.55
    assert line < 0.1


def test_what_lies_in_an_area_counts_as_enclosed() -> None:
    white = np.full((60, 60), 255, np.uint8)
    cv2.rectangle(white, (5, 5), (54, 54), 0, cv2.FILLED)
    cv2.rectangle(white, (15, 15), (44, 44), 255, 2)
    _, areas = find_outlines(white, around=255)
    assert sorted(areas.rects.tolist()) == [[5, 5, 55, 55], [17, 17, 43, 43]]
    assert areas.solid.tolist() == [1, 1]


def test_where_nothing_is_white_there_are_no_islands() -> None:
    islands, areas = find_outlines(np.zeros((20, 30), np.uint8), around=0)
    assert not len(islands.rects)
    assert not len(areas.rects)
    assert find_outlines(np.zeros((20, 30), np.uint8), around=255)[1].rects.tolist() == [[0, 0, 30, 20]]

"""Claims about what drawn parts make up: nodes, ports, edges, frames of handles, sliders; on pictures drawn here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, radians, sin

import cv2
import numpy as np
import pytest

from tests.vision.test_closed_outlines import line, outline
from tests.vision.test_drawn import BLUE, GREEN, HERE, RED, said
from tests.vision.test_surface import FACE, INK, WHOLE, box, disc, drawn, words
from vision_agent.vision.picture import Pixels
from vision_agent.vision.surfaces.things import Thing
from vision_agent.vision.surfaces.tracking import Drawing

Stroke = Callable[[Pixels], object]
GREY, DARK = (170, 170, 170), (90, 90, 90)


def things(*strokes: Stroke, texts: Sequence[str] = ()) -> list[Thing]:
    read = said(*texts) if texts else None
    return [*Drawing().look(drawn(*strokes), WHOLE, HERE, read=read, most=80).things]


def roles(role: str, *strokes: Stroke) -> list[Thing]:
    return [each for each in things(*strokes) if each.told.role == role]


def card(x: int, y: int, *ports: int) -> list[Stroke]:
    """A title over a body, with ports at these heights on its left side, each with a name."""
    return [
        box(x, y, 150, 26, (210, 190, 170)), box(x, y + 27, 150, 80, (225, 215, 205)), words("Mix", x + 40, y + 18),
        *(disc(x + 9, y + at, 5, GREEN) for at in ports), *(words("in", x + 19, y + at + 5) for at in ports),
    ]  # fmt: skip


def turned(x: int, y: int, wide: int, high: int, degrees: float) -> list[tuple[int, int]]:
    """Eight places around a turned rectangle, corners and middles of sides, and one above it."""
    along, across = (cos(radians(degrees)), sin(radians(degrees))), (-sin(radians(degrees)), cos(radians(degrees)))
    places = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (0, -1 - 72 / high)]
    return [
        (
            round(x + wide / 2 * one * along[0] + high / 2 * other * across[0]),
            round(y + wide / 2 * one * along[1] + high / 2 * other * across[1]),
        )
        for one, other in places
    ]


def face(corners: Sequence[tuple[int, int]], colour: tuple[int, int, int] = FACE) -> Stroke:
    return lambda on: cv2.fillPoly(on, [np.array(corners)], colour)


def handle(x: int, y: int) -> list[Stroke]:
    return [box(x - 6, y - 6, 12, 12, BLUE), box(x - 5, y - 5, 10, 10, (255, 255, 255))]


def test_a_title_over_a_body_with_ports_is_one_node_pressed_on_its_title() -> None:
    found = things(*card(100, 100, 50, 80))
    [node] = [each for each in found if each.told.role == "node"]
    assert (round(node.box.width / 10), round(node.box.height / 10)) == (15, 11)
    assert 100 < node.point.y < 126
    assert [round(each.box.center.y) for each in found if each.told.role == "port"] == [150, 180]
    assert not [each for each in found if each.shape == "words"]


def test_a_port_has_the_name_beside_it() -> None:
    found = things(*card(100, 100, 60), texts=["in", "Mix"])
    assert {each.told.role: each.name for each in found} == {"node": "Mix", "port": "in"}


@pytest.mark.parametrize("many", [2, 3])
def test_buttons_on_top_of_each_other_stay_buttons(many: int) -> None:
    strokes = [box(100, 100 + 31 * at, 40, 30, (210, 190, 170)) for at in range(many)]
    strokes += [words("+-0"[at], 114, 120 + 31 * at) for at in range(many)]
    assert len([each for each in things(*strokes) if each.shape == "box"]) == many


@pytest.mark.parametrize("degrees", [0, 14, 30])
def test_handles_around_something_turned_are_handles_and_it_is_selected(degrees: float) -> None:
    places = turned(400, 250, 200, 120, degrees)
    strokes = [face(places[0:8:2]), *(stroke for place in places for stroke in handle(*place))]
    found = things(*strokes, box(60, 60, 90, 50))
    handles = [each for each in found if each.told.role == "handle"]
    assert sorted((round(each.box.center.x / 4), round(each.box.center.y / 4)) for each in handles) == sorted(
        (round(x / 4), round(y / 4)) for x, y in places
    )
    [selected] = [each for each in found if each.told.is_selected]
    assert abs(selected.box.center.x - 400) < 4
    assert selected.box.width > 180


def test_a_net_of_points_has_no_handles() -> None:
    assert not roles("handle", *(disc(200 + 60 * x, 150 + 60 * y, 6) for x in range(3) for y in range(3)))


def test_a_line_between_two_things_is_an_edge_that_names_both() -> None:
    found = things(
        box(80, 80, 110, 50), box(500, 300, 110, 50), line((190, 110), (500, 320), DARK),
        words("From", 100, 110, (255, 255, 255)), words("To", 530, 330, (255, 255, 255)), texts=["From", "To"],
    )  # fmt: skip
    [edge] = [each for each in found if each.told.role == "edge"]
    by_id = {each.id: each for each in found}
    assert [by_id[end].name for end in edge.ends] == ["From", "To"]
    assert edge.name == "From – To"
    assert abs((edge.point.y - 110) / (edge.point.x - 190) - 210 / 310) < 0.03
    assert [each.told.role for each in found if each.shape == "box"] == ["node", "node"]


def test_lines_that_cross_are_followed_straight_on() -> None:
    places = [(60, 60), (60, 360), (600, 60), (600, 360)]
    strokes = [line((160, 90), (600, 380), DARK), line((160, 380), (600, 90), DARK)]
    edges = roles("edge", *(box(x, y, 100, 50) for x, y in places), *strokes)
    assert len(edges) == 2
    ends = [set(each.ends) for each in edges]
    assert not ends[0] & ends[1]


def test_a_dot_on_an_edge_and_its_arrow_are_the_edge() -> None:
    strokes = [
        box(80, 200, 100, 50), box(500, 200, 100, 50), line((180, 225), (500, 225), DARK), disc(340, 225, 6, DARK),
        face([(500, 225), (489, 219), (489, 231)], DARK),
    ]  # fmt: skip
    found = things(*strokes)
    assert sorted(each.told.role for each in found) == ["edge", "node", "node"]
    [edge] = [each for each in found if each.told.role == "edge"]
    assert abs(edge.point.x - 340) < 12


def test_rules_behind_bars_and_things_without_lines_are_no_graph() -> None:
    rules = [line((40, y), (700, y), GREY, 1) for y in range(60, 420, 50)]
    bars = [box(100 + 90 * at, 400 - high, 40, high) for at, high in enumerate((300, 120, 240, 80))]
    assert not roles("edge", *rules, *bars)
    assert not roles("node", *rules, *bars)
    assert not roles("edge", box(80, 80, 100, 50), box(500, 300, 100, 50), line((300, 90), (400, 200)))


def test_what_edges_enclose_is_no_thing() -> None:
    places = [(80, 80), (560, 80), (560, 360), (80, 360)]
    lines = [
        line((180, 105), (560, 105)),
        line((610, 130), (610, 360)),
        line((560, 385), (180, 385)),
        line((130, 360), (130, 130)),
    ]
    found = things(*(box(x, y, 100, 50) for x, y in places), *lines)
    assert sorted(each.told.role for each in found) == ["edge"] * 4 + ["node"] * 4


@pytest.mark.parametrize("track", [4, 7])
def test_a_knob_on_a_track_is_a_slider_and_the_track_no_target(track: int) -> None:
    strokes = [box(200, 200 - track // 2, 240, track, GREY), disc(300, 200, 9, BLUE)]
    [slider] = things(*strokes)
    assert slider.told.role == "slider"


def test_a_point_on_a_rule_is_no_slider() -> None:
    assert not roles("slider", line((40, 200), (760, 200), GREY, 1), disc(300, 200, 9, RED))


def test_a_box_drawn_as_an_outline_is_no_edge() -> None:
    assert not roles(
        "edge", outline(80, 80, 500, 300), box(150, 150, 100, 50), box(350, 250, 100, 50), words("A", 20, 20, INK)
    )

"""How a model says where, and that everything behind it counts in pixels of the picture."""

from __future__ import annotations

import json
import re

import pytest
from seen import seen, shot, unchanged

from vision_agent.actions import Click, Drag, Offset, Point, Target, Zoom
from vision_agent.custom_actions import action
from vision_agent.errors import FormatError
from vision_agent.models.coordinates import CONVENTIONS, default_coordinates
from vision_agent.models.prompt.prompt import render
from vision_agent.models.reply import ModelReply, parse_decision, schema
from vision_agent.types import Task

PICTURE = shot(size=(1200, 800))
PAGE = seen(marked=PICTURE)


def decided(coordinates, *actions, **more):
    text = json.dumps({"judgement": "unknown", "actions": actions})
    return parse_decision(ModelReply(text), PAGE, coordinates=coordinates, **more).actions


def rules(coordinates):
    return render(Task(goal="x"), (), PAGE, redact=unchanged, coordinates=coordinates).system


# --- points of a reply ---


@pytest.mark.parametrize(
    ("coordinates", "said", "meant"),
    [
        ("pixels", {"x": 600, "y": 200}, Point(x=600, y=200)),
        ("thousandths", {"x": 500, "y": 250}, Point(x=600, y=200)),
        ("fractions", {"x": 0.5, "y": 0.25}, Point(x=600, y=200)),
        ("thousandths", {"x": 0, "y": 0}, Point(x=0, y=0)),
        ("thousandths", {"x": 999, "y": 999}, Point(x=1198.8, y=799.2)),
        ("fractions", {"x": 0, "y": 0.999}, Point(x=0, y=799.2)),
    ],
)
def test_a_point_becomes_pixels_of_the_picture(coordinates, said, meant):
    (click,) = decided(coordinates, {"kind": "click", "target": said})
    assert (click.target.x, click.target.y) == pytest.approx((meant.x, meant.y))


def test_both_ends_of_a_drag_and_its_path_become_pixels():
    (drag,) = decided(
        "thousandths",
        {"kind": "drag", "source": {"x": 100, "y": 100}, "target": {"x": 500, "y": 500}, "path": [{"x": 250, "y": 10}]},
    )
    assert drag == Drag(source=Point(x=120, y=80), target=Point(x=600, y=400), path=(Point(x=300, y=8),))


def test_how_far_a_drag_goes_becomes_pixels():
    (drag,) = decided("fractions", {"kind": "drag", "source": 12, "target": {"right": -0.5, "down": 0.25}})
    assert drag == Drag(source=12, target=Offset(right=-600, down=200))


def test_both_corners_of_a_region_become_pixels():
    (zoom,) = decided("thousandths", {"kind": "zoom", "target": {"x": 0, "y": 0}, "to": {"x": 500, "y": 500}})
    assert zoom == Zoom(target=Point(x=0, y=0), to=Point(x=600, y=400))


def test_a_point_that_an_own_action_takes_becomes_pixels():
    @action
    async def stamp(hands, where: Target) -> str:
        """Stamp a place."""
        return ""

    (own,) = decided("thousandths", {"kind": "stamp", "where": {"x": 500, "y": 500}}, custom=(stamp,))
    assert own.arguments["where"] == {"x": 600, "y": 400}


def test_numbers_of_marks_are_the_same_in_every_convention():
    for coordinates in CONVENTIONS:
        assert decided(coordinates, {"kind": "click", "target": 12}) == (Click(target=12),)


@pytest.mark.parametrize(
    ("coordinates", "said", "says"),
    [
        ("thousandths", {"x": 1000, "y": 10}, r'"x": 1000.*thousandths.*from 0 to 999'),
        ("thousandths", {"x": -1, "y": 10}, r'"x": -1.*from 0 to 999'),
        ("thousandths", {"x": 1180, "y": 700}, "1180.*from 0 to 999"),
        ("fractions", {"x": 412, "y": 233}, "412.*fractions.*not including 1"),
        ("fractions", {"x": 1, "y": 0}, "not including 1"),
        ("fractions", {"x": True, "y": False}, "true.*fractions"),
        ("thousandths", {"x": "412", "y": "233"}, "412.*thousandths"),
        ("thousandths", {"x": 10**400, "y": 1}, "thousandths"),
        ("pixels", {"x": 1200, "y": 10}, "outside the picture"),
    ],
)
def test_a_point_outside_of_the_convention_is_refused_and_not_moved_to_the_edge(coordinates, said, says):
    with pytest.raises(FormatError) as raised:
        decided(coordinates, {"kind": "click", "target": said})
    assert re.search(says, raised.value.sentence)


def test_an_offset_larger_than_the_picture_is_refused():
    with pytest.raises(FormatError, match=r"offset.*thousandths"):
        decided("thousandths", {"kind": "drag", "source": 12, "target": {"right": 1200, "down": 0}})


def test_hundreds_of_brackets_are_a_format_error():
    text = '{"judgement": "unknown", "actions": ' + "[" * 700 + "]" * 700 + "}"
    with pytest.raises(FormatError):
        parse_decision(ModelReply(text), PAGE, coordinates="thousandths")


# --- what the model is told ---


def test_in_pixels_the_rules_say_so():
    assert (
        'or a point in pixels of the picture, such as `{"x": 412, "y": 233}`, counted from its top left corner.\n'
        in rules("pixels")
    )
    assert "Points are then pixels of that picture." in rules("pixels")


@pytest.mark.parametrize("coordinates", ["thousandths", "fractions"])
def test_in_parts_of_the_picture_the_rules_and_the_schema_say_so(coordinates):
    told = rules(coordinates)
    assert f"or a point in {coordinates} of the picture's width and height" in told
    assert f"Points are then {coordinates} of that picture." in told
    assert "in pixels of the picture" not in told
    definitions = schema((), coordinates)["$defs"]
    assert coordinates in definitions["Point"]["description"]
    assert coordinates.removesuffix("s") in definitions["Offset"]["description"]
    assert "pixels" not in json.dumps(definitions)


# --- what is known of a model ---


@pytest.mark.parametrize(
    ("name", "coordinates"),
    [
        ("gemini-3-pro-preview", "thousandths"),
        ("google/gemini-2.5-flash", "thousandths"),
        ("Qwen/Qwen3-VL-8B-Instruct", "thousandths"),
        ("qwen3-vl:8b", "thousandths"),
        ("Qwen2.5-VL-7B", "pixels"),
        ("gpt-5.4", "pixels"),
        ("my-gemini", "pixels"),
    ],
)
def test_of_a_known_model_it_is_known_how_it_says_where(name, coordinates):
    assert default_coordinates(name) == coordinates

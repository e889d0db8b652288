from __future__ import annotations

import json
import re

import anthropic
import pytest
from seen import mark, seen

from vision_agent.actions import ACTIONS, Cell, Click, Drag, Extract, Finish, Offset, Point, Press, Type
from vision_agent.errors import FormatError
from vision_agent.models import reply
from vision_agent.models.reply import ModelReply, schema
from vision_agent.observation import Grid


def said(*actions, **more):
    return json.dumps({"judgement": "unknown", "actions": actions, **more})


def click(target):
    return {"kind": "click", "target": target}


def parse_decision(text, page, **more):
    return reply.parse_decision(ModelReply(text), page, **more)


# --- lengths ---


def typing(letters):
    return said({"kind": "type", "target": 12, "text": "A" * letters})


def test_a_text_may_be_long_but_not_without_end():
    assert parse_decision(typing(100_000), seen()).actions[0].text == "A" * 100_000
    with pytest.raises(FormatError, match=r"^actions\[0\]\.text has 100,001 characters, and at most 100,000"):
        parse_decision(typing(100_001), seen())
    with pytest.raises(FormatError, match=r"^memory has 20,001 characters, and at most 20,000"):
        parse_decision(said(click(12), memory="A" * 20_001), seen())
    with pytest.raises(FormatError, match=r"^The reply has 1,000,0\d\d characters, and at most 1,000,000 are read"):
        parse_decision(typing(1_000_000), seen())


def test_a_complaint_about_a_reply_does_not_repeat_all_of_it():
    with pytest.raises(FormatError) as refused:
        parse_decision(said({"kind": "click", "target": 12, "A" * 20_000: 1}), seen())
    assert len(str(refused.value)) <= 2000


@pytest.mark.parametrize(
    ("kind", "near"),
    [
        ("clik", "similar: click"),
        ("Mouse_Click", "similar: click"),
        ("scroll_down", "similar: scroll, scroll_to"),
        ("teleport", "there are click, double_tap, "),
    ],
)
def test_a_kind_that_no_action_has_is_named_with_those_near_it_in_a_plain_sentence(kind: str, near: str) -> None:
    with pytest.raises(FormatError) as refused:
        parse_decision(said(click(12), {"kind": kind, "target": 12}), seen())
    sentence = refused.value.sentence
    assert f"does not fit the format: actions[1] has the kind {kind!r}, which is no action ({near}" in sentence
    assert "tag" not in sentence


def test_an_action_without_a_kind_is_asked_for_one() -> None:
    with pytest.raises(FormatError, match=r"actions\[0\] has no `kind`, which says what to do"):
        parse_decision(said({"target": 12}), seen())


def test_a_record_with_a_longer_text_stays_readable():
    assert len(Type.model_validate({"kind": "type", "target": 12, "text": "A" * 200_000}).text) == 200_000


# --- targets ---


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        (12, 12),
        ("12", 12),
        ("[12]", 12),
        (" 12 ", 12),
        ({"x": 5, "y": 7.5}, Point(x=5, y=7.5)),
        ({"x": 0, "y": 0}, Point(x=0, y=0)),
    ],
)
def test_a_target_is_a_mark_or_a_point(target, meant):
    assert parse_decision(said(click(target)), seen()).actions == (Click(target=meant),)


@pytest.mark.parametrize(
    "target",
    [True, 12.5, 12.0, "12 or 3", "[12", "twelve", "012", "-12", "1_2", "", [12], {"x": 5}, {"x": True, "y": 2},
     {"x": 1, "y": 2, "z": 3}, {"mark": 12}],
)  # fmt: skip
def test_what_is_neither_is_refused_and_not_read_as_a_mark(target):
    with pytest.raises(FormatError, match="cannot be used as target"):
        parse_decision(said(click(target)), seen())


@pytest.mark.parametrize(("mark", "meant"), [(12, 12), ("[12]", 12), ("Old orders", "Old orders"), ("", "")])
def test_what_is_extracted_is_named_by_a_mark_or_in_words(mark, meant):
    answer = parse_decision(said({"kind": "extract", "mark": mark, "json_schema": "{}"}), seen())
    assert answer.actions == (Extract(mark=meant, json_schema="{}"),)


@pytest.mark.parametrize("number", [0, 1, 11, 13, 120, 999999999])
def test_a_mark_that_is_not_listed_is_named_and_no_near_one_is_taken(number):
    with pytest.raises(FormatError, match=rf"no mark {number}, which actions\[0\] \(click\).*are 3, 4, 12\."):
        parse_decision(said(click(number)), seen())


SQUARES = Grid(rows=2, columns=2, cells=((1, 1, 0, 0, 9, 9), (1, 2, 9, 0, 9, 9), (2, 1, 0, 9, 9, 9)))
BOARD = seen(mark(3, "Board", "surface"), mark(17, "", "guess", tag="grid", source="cv", surface=3, grid=SQUARES))


@pytest.mark.parametrize("number", [17, "17", "[17]"])
def test_a_target_is_a_cell_too(number):
    answer = parse_decision(said(click({"mark": number, "row": 2, "column": 1})), BOARD)
    assert answer.actions == (Click(target=Cell(mark=17, row=2, column=1)),)


def test_a_drag_ends_on_a_cell():
    drag = {"kind": "drag", "source": 3, "target": {"mark": 17, "row": 1, "column": 2}}
    assert parse_decision(said(drag), BOARD).actions == (Drag(source=3, target=Cell(mark=17, row=1, column=2)),)


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ({"mark": 17, "row": 2, "column": 2}, "Mark 17 has 2 rows and 2 columns; .* names row 2, column 2"),
        ({"mark": 17, "row": 3, "column": 1}, "2 rows and 2 columns"),
        ({"mark": 3, "row": 1, "column": 1}, "Mark 3 has no rows and columns"),
        ({"mark": 9, "row": 1, "column": 1}, "no mark 9"),
        ({"mark": 17, "row": 0, "column": 1}, "greater than or equal to 1"),
        ({"mark": 17, "row": 1.5, "column": 1}, "cannot be used as target"),
        ({"mark": 17, "row": True, "column": 1}, "cannot be used as target"),
        ({"mark": 17, "row": 1}, "cannot be used as target"),
    ],
)
def test_a_cell_that_is_not_there_is_refused_with_what_there_is(cell, says):
    with pytest.raises(FormatError, match=says):
        parse_decision(said(click(cell)), BOARD)


def test_a_page_without_marks_says_so():
    with pytest.raises(FormatError, match="no marks at all"):
        parse_decision(said(click(1)), seen().model_copy(update={"marks": ()}))


def test_long_lists_of_marks_are_cut_and_the_cut_is_told():
    many = seen(*(mark(number, "x") for number in range(1, 101)))
    with pytest.raises(FormatError, match="58, 59, 60 and 40 more"):
        parse_decision(said(click(500)), many)


@pytest.mark.parametrize(("x", "y"), [(-1, 5), (640, 5), (5, 400), (5, -0.1), (1e400, 5)])
def test_a_point_outside_the_picture_is_refused_with_the_size(x, y):
    text = said(click({"x": x, "y": y})).replace("Infinity", "1e999")
    with pytest.raises(FormatError, match="outside the picture, which is 640×400"):
        parse_decision(text, seen())


def test_both_ends_of_a_drag_are_checked():
    drag = {"kind": "drag", "source": 12, "target": {"x": 1, "y": 1}}
    assert parse_decision(said(drag), seen()).actions == (Drag(source=12, target=Point(x=1, y=1)),)
    with pytest.raises(FormatError, match=r"no mark 5, which actions\[1\] \(drag\)"):
        parse_decision(said(click(3), {"kind": "drag", "source": 5, "target": 12}), seen())


def test_a_drag_may_end_so_far_from_where_it_begins():
    drag = {"kind": "drag", "source": 12, "target": {"right": -40, "down": 2.5}}
    assert parse_decision(said(drag), seen()).actions == (Drag(source=12, target=Offset(right=-40, down=2.5)),)
    for wrong in ({"right": 40}, {"right": True, "down": 0}, {"right": 1, "down": 1, "x": 3}):
        with pytest.raises(FormatError):
            parse_decision(said(drag | {"target": wrong}), seen())
    with pytest.raises(FormatError):
        parse_decision(said({"kind": "click", "target": {"right": 1, "down": 1}}), seen())


def test_evidence_is_of_the_present_listing():
    finish = {"kind": "finish", "answer": "42", "evidence": [3]}
    assert parse_decision(said(finish), seen()).actions == (Finish(answer="42", evidence=(3,)),)
    with pytest.raises(FormatError, match="no mark 99, which the evidence"):
        parse_decision(said({**finish, "evidence": [99]}), seen())


def test_an_action_without_a_target_needs_none():
    assert parse_decision(said({"kind": "press", "keys": "Enter"}), seen()).actions == (Press(keys="Enter"),)


def test_a_candidate_that_has_left_the_page_is_dropped():
    decision = parse_decision(
        said(click(12), candidates=[{"mark": 12, "reason": "a"}, {"mark": 50, "reason": "b"}]), seen()
    )
    assert [each.mark for each in decision.candidates] == [12]


@pytest.mark.parametrize(("wall", "means"), [("none", ""), ("captcha", "captcha"), ("login", "login")])
def test_what_stands_in_the_way_is_said_in_a_field_of_its_own(wall, means):
    assert parse_decision(said(click(12), wall=wall), seen()).wall == means
    with pytest.raises(FormatError, match="wall: "):
        parse_decision(said(click(12), wall="paywall"), seen())


# --- around the JSON ---

GOOD = said(click(12))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n {GOOD} \n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"Here it is:\n{GOOD}",
        f"{GOOD}\nI chose [12] and not [3] because it is the button.",
    ],
)
def test_what_stands_around_the_object_does_not_matter(text):
    assert parse_decision(text, seen()).actions == (Click(target=12),)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON object. It is empty"),
        ("click [12]", r"It says: 'click \[12\]'"),
        ("[12]", "no JSON object"),
        (GOOD[:-1], "not valid JSON"),
        (GOOD[:-3], "not valid JSON"),
        (GOOD.replace('"', "'"), "not valid JSON"),
        (GOOD + said(click(3)), "more than one"),
        (f"{GOOD}\nor rather {said(click(3))}", "more than one"),
        ('{"judgement": "unknown", "actions": [{"kind": "click", "target": 12, "target": 3}]}', "'target' twice"),
        ('{"judgement": "unknown", "actions": [{"kind": "wait", "seconds": NaN}]}', "NaN"),
        ("{" * 100_000, "valid JSON|cannot be read"),
        ('{"a":' * 100_000, "valid JSON|cannot be read"),
        ('{"a":' + "9" * 5000 + "}", "cannot be read"),
        ("{}", "judgement: Field required; actions: Field required"),
        (said(), "format: actions is empty; give at least one.$"),
        ('{"judgement": "unknown", "actions": "click"}', "actions"),
        ('{"judgement": "unknown", "actions": ["click"]}', r"actions\[0\]"),
        (said({"kind": "fly", "target": 12}), r"actions\[0\][^;]*'fly'[^;]*$"),
        (said({"kind": "click"}), r"actions\[0\]\.click\.target"),
        (said({**click(12), "force": True}), "force"),
        (said({**click(12), "count": 9}), "count"),
        (said(click(12), judgement="maybe"), "judgement"),
        (said(click(12), thoughts="hm"), "thoughts"),
    ],
)
def test_a_reply_that_cannot_be_read_is_refused_with_the_reason(text, says):
    with pytest.raises(FormatError, match=says):
        parse_decision(text, seen())


# --- one action per step ---


def of_one(action, page=None, **more):
    text = json.dumps({"judgement": "unknown", "action": action, **more})
    return parse_decision(text, page or seen(), per_step="one")


def test_the_one_action_of_an_answer_is_the_decision():
    assert of_one(click("12")).actions == (Click(target=12),)
    assert of_one(click({"x": 5, "y": 7})).actions == (Click(target=Point(x=5, y=7)),)
    assert of_one({"kind": "finish", "answer": "42", "evidence": [3]}).actions == (Finish(answer="42", evidence=(3,)),)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (said(click(12)), "action: Field required; actions: Extra inputs are not permitted"),
        (json.dumps({"judgement": "unknown", "action": [click(12), click(3)]}), "action: "),
        (json.dumps({"judgement": "unknown", "action": click(99)}), "no mark 99, which action (click) names"),
        (json.dumps({"judgement": "unknown", "action": click(True)}), "true cannot be used as target"),
    ],
)
def test_more_than_one_action_is_refused_and_so_is_a_target_that_is_none(answer, why):
    with pytest.raises(FormatError, match=re.escape(why)):
        parse_decision(answer, seen(), per_step="one")


def test_a_point_of_the_one_action_is_in_the_model_s_own_convention():
    text = json.dumps({"judgement": "unknown", "action": click({"x": 500, "y": 500})})
    (action,) = parse_decision(text, seen(), per_step="one", coordinates="thousandths").actions
    assert action.target == Point(x=320, y=200)


def test_the_schema_of_one_action_has_no_room_for_a_second():
    told = schema(per_step="one")
    assert list(told["properties"]) == told["required"]
    assert told["properties"]["action"]["oneOf"] == schema()["properties"]["actions"]["items"]["oneOf"]
    assert "actions" not in told["properties"]


# --- the schema ---


def sent():
    return anthropic.transform_schema(schema())


def objects(node):
    if isinstance(node, dict):
        if node.get("type") == "object":
            yield node
        for each in node.values():
            yield from objects(each)
    elif isinstance(node, list):
        for each in node:
            yield from objects(each)


def test_the_schema_keeps_to_the_limits_of_the_api():
    """24 optional and 16 union-typed parameters in all, no open object, no recursion, no default."""
    every = list(objects(sent()))
    optional = [name for each in every for name in each["properties"] if name not in each.get("required", ())]
    unions = [name for each in every for name, value in each["properties"].items() if "anyOf" in value]
    assert len(optional) <= 24
    # The choice of actions is a union inside an array.
    assert len(unions) + 1 <= 16
    assert all(each["additionalProperties"] is False for each in every)
    text = json.dumps(sent())
    assert '"default"' not in text
    assert "null" not in text
    assert "oneOf" not in text


def test_the_schema_offers_every_action_by_a_required_kind():
    definitions = sent()["$defs"]
    for action in ACTIONS:
        kind = definitions[action.__name__]
        assert kind["properties"]["kind"] == {"const": action.model_fields["kind"].default}
        assert "kind" in kind["required"]
    offered = sent()["properties"]["actions"]["items"]["anyOf"]
    assert {each["$ref"].rpartition("/")[2] for each in offered} == {action.__name__ for action in ACTIONS}


def test_everything_a_reply_says_of_itself_is_required():
    assert sent()["required"] == ["judgement", "summary", "wall", "memory", "next_goal", "candidates", "actions"]

"""Replies that are almost right, mutated in thousands of ways: each ends in actions or in a sentence to the model."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_core import to_json
from seen import seen

from vision_agent.actions import ACTIONS
from vision_agent.errors import FormatError
from vision_agent.models.reply import ModelReply, parse_decision
from vision_agent.settings import Coordinates
from vision_agent.types import Decision

SEEN = seen()
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(st.characters(), max_size=12),
    st.sampled_from(["12", "B12", "[12]", "O3", "\ud800", "\x00", "<secret:password>", "9" * 400, "‮", "javascript:0"]),
    st.sampled_from([{}, [], {"x": 1, "y": 2}, {"mark": 12, "row": 1, "column": 1}, {"right": 1, "down": -1}, [[[]]]]),
)
FIELDS = sorted({field for each in ACTIONS for field in each.model_fields} | {"odd", ""})
KINDS = sorted(each.model_fields["kind"].default for each in ACTIONS)
USUAL: list[dict[str, Any]] = [
    {"kind": "click", "target": 12},
    {"kind": "click", "target": {"x": 0, "y": 0}, "button": "right"},
    {"kind": "type", "target": 3, "text": "a@b.c", "submit": True},
    {"kind": "scroll", "direction": "down"},
    {"kind": "goto", "url": "http://shop.test/"},
    {"kind": "wait", "seconds": 1},
    {"kind": "finish", "answer": "Done", "evidence": [12]},
    {"kind": "ask", "question": "Which?"},
]


@st.composite
def action(draw: st.DrawFn) -> Any:
    usual = draw(st.sampled_from(USUAL))
    changed = draw(st.dictionaries(st.sampled_from(FIELDS), ODD, min_size=1, max_size=3))
    kind = {"kind": draw(st.sampled_from(KINDS))}
    return draw(st.sampled_from([usual] * 4 + [usual | changed, usual | kind, kind | changed, draw(ODD)]))


@st.composite
def reply(draw: st.DrawFn) -> str:
    """A reply: an ordinary one with odd values, as text with a piece cut out, doubled or replaced."""
    actions = draw(st.lists(action(), min_size=1, max_size=3))
    value: dict[str, Any] = {"judgement": "unknown", "memory": "", "next_goal": "Sign in", "actions": actions}
    names = st.sampled_from([*value, "summary", "wall", "candidates", "action", "odd"])
    if draw(st.integers(0, 3)) == 0:
        value |= draw(st.dictionaries(names, ODD, max_size=2))
    if draw(st.booleans()):
        value["action"] = draw(action())
        del value["actions"]
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        piece = text[at:end][:200]
        put = draw(st.sampled_from(["", piece * 2, "{", "}", '"', "\\", "```", "null", "NaN", "1e999", piece[::-1]]))
        text = text[:at] + put + text[end:]
    return text


def parsed(text: str, coordinates: Coordinates, per_step: Any) -> Decision | str:
    """The decision, or the sentence to the model; anything else that is raised is a fault."""
    try:
        return parse_decision(ModelReply(text), SEEN, coordinates=coordinates, per_step=per_step)
    except FormatError as error:
        return error.sentence


def check(text: str, coordinates: Coordinates, per_step: Any) -> None:
    found = parsed(text, coordinates, per_step)
    if isinstance(found, str):
        assert found.endswith((".", "?")), found
        assert len(found) < 5_000
        to_json(found.encode("utf-8", "replace").decode())
    else:
        assert found.actions
        to_json(found.model_dump(mode="json"))  # it can be recorded
        assert Decision.model_validate_json(found.model_dump_json()) == found


FUZZED = given(reply(), st.sampled_from(get_args(Coordinates)), st.sampled_from(["several", "one"]))


@settings(max_examples=200)
@FUZZED
def test_a_mutated_reply_ends_in_actions_or_in_a_sentence(text: str, coordinates: Coordinates, per_step: str) -> None:
    check(text, coordinates, per_step)


@pytest.mark.thorough
@settings(max_examples=5_000)
@FUZZED
def test_five_thousand_mutated_replies_end_in_actions_or_in_a_sentence(
    text: str, coordinates: Coordinates, per_step: str
) -> None:
    check(text, coordinates, per_step)

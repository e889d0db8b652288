from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from vision_agent.actions import Action, Check, Click, Finish, Select, Type
from vision_agent.errors import UsageError
from vision_agent.evals.baselines import MatchModel, RandomModel, baseline
from vision_agent.geometry import Box, Size
from vision_agent.observation import Mark, MarkState, Observation, Shot
from vision_agent.ports import Model
from vision_agent.types import Decision, Outcome, Point, Step, Task

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
SHOT = Shot(media_type="image/png", size=Size(width=9, height=9), sha256=hashlib.sha256(b"").hexdigest())
DONE = Outcome(status="done", effect="changed", sentence="done")


def mark(number: int, name: str, kind: Any = "button", tag: str = "button", **state: Any) -> Mark:
    box = Box(x=0, y=number * 10, width=9, height=9)
    return Mark(
        number=number, tag=tag, role=tag, kind=kind, name=name, state=MarkState(**state), box=box,
        point=Point(x=4, y=number * 10 + 4),
    )  # fmt: skip


def field(number: int, name: str, **state: Any) -> Mark:
    return mark(number, name, "field", "input", **state)


def seen(*marks: Mark) -> Observation:
    return Observation(
        id="o", epoch=1, url="about:blank", title="", taken_at=NOW, viewport=Size(width=99, height=99), marks=marks,
        listing="", clean=SHOT, marked=SHOT,
    )  # fmt: skip


def step(index: int, did: Decision | Action, *marks: Mark) -> Step:
    decision = did if isinstance(did, Decision) else Decision(next_goal="Go on", actions=(did,), author="model")
    return Step(index=index, observation=seen(*marks), decision=decision, outcomes=(DONE,), started_at=NOW)


async def played(model: Model, goal: str, *marks: Mark, most: int = 40) -> list[Action]:
    """What it does on a page that never changes, up to its end."""
    steps: list[Step] = []
    while len(steps) < most:
        decision = await model.decide(Task(goal=goal), steps, seen(*marks))
        steps.append(step(len(steps) + 1, decision, *marks))
        if isinstance(decision.actions[0], Finish):
            break
    return [step.decision.actions[0] for step in steps]


async def matched(goal: str, *marks: Mark) -> Sequence[Action]:
    *acts, end = await played(MatchModel(), goal, *marks)
    assert isinstance(end, Finish)
    return acts


async def test_match_types_what_is_quoted_and_then_confirms() -> None:
    acts = await matched('Enter "Ada" into the text field and press Submit.', mark(1, "Submit"), field(2, "text"))
    assert acts == [Type(target=2, text="Ada"), Click(target=1)]


async def test_match_puts_each_quoted_text_into_the_field_that_is_named_before_it() -> None:
    goal = 'Enter the password "x1y" and the username "ada" and press login.'
    acts = await matched(goal, field(1, "Username"), field(2, "Password"), mark(3, "Login"))
    assert acts == [Type(target=2, text="x1y"), Type(target=1, text="ada"), Click(target=3)]


async def test_match_ticks_chooses_and_clicks_by_whole_names_the_longest_first() -> None:
    acts = await matched(
        "Select rye, pick Large from the list, click Save as draft and then OK",
        mark(1, "OK"),
        mark(2, "Save"),
        mark(3, "Save as draft"),
        mark(4, "rye", "toggle", "input", checked="false"),
        mark(5, "barley", "toggle", "input", checked="false"),
        mark(6, "Size", "field", "select", options=("Small", "Large")),
    )
    assert acts[:3] == [Select(target=6, options=("Large",)), Click(target=3), Check(mark=4, checked=True)]
    assert Check(mark=5, checked=True) not in acts
    assert acts[-1] == Click(target=1)


async def test_match_does_nothing_where_nothing_matches_and_says_so() -> None:
    [end] = await played(MatchModel(), "Buy a hat", mark(1, "Imprint"), mark(2, "a"))
    assert end == Finish(success=False, answer="Nothing matches the goal.")


async def test_match_takes_as_done_what_others_did_before_and_decides_by_nothing_else() -> None:
    shown = (
        mark(1, "Save as draft"),
        field(2, "Title"),
        mark(3, "Size", "field", "select", options=("Small", "Large")),
        mark(4, "Gift wrap", "toggle", "input", checked="false"),
    )
    goal = 'Type "Tea" into Title, choose Large, tick Gift wrap and save as draft'
    acts = [Type(target=2, text="Tea"), Select(target=3, options=("Large",)), Click(target=4)]
    before = [step(index, action, *shown) for index, action in enumerate(acts, start=1)]
    one = MatchModel()

    answers = [(await one.decide(Task(goal=goal), before[:known], seen(*shown))).actions for known in (3, 0, 3)]

    assert answers[0] == answers[2] == (Click(target=1),)
    assert answers[1] == (Select(target=3, options=("Large",)),)


async def test_match_ends_after_its_last_step_however_much_matches() -> None:
    marks = [mark(number, f"Thing {number}") for number in range(1, 30)]
    acts = await played(MatchModel(most=5), " ".join(each.name for each in marks), *marks)
    assert len(acts) == 6


async def test_random_does_the_same_with_the_same_seed_and_something_else_with_another() -> None:
    marks = [mark(number, f"Thing {number}") for number in range(1, 9)]
    first, again, other = [await played(RandomModel(seed), "Do it", *marks) for seed in ("1", "1", "2")]

    assert first == again
    assert first != other
    assert len(first) == 11
    assert isinstance(first[-1], Finish)
    assert not first[-1].success


async def test_random_does_to_each_mark_what_can_be_done_to_it() -> None:
    size = mark(1, "Size", "field", "select", options=("Small",))
    assert (await played(RandomModel(1, most=1), "Do it", size))[0] == Select(target=1, options=("Small",))
    assert (await played(RandomModel(1, most=1), 'Type "Ada"', field(1, "Name")))[0] == Type(target=1, text="Ada")
    assert (await played(RandomModel(1, most=1), "Do it", mark(1, "Go")))[0] == Click(target=1)
    ended = await played(RandomModel(1), "Do it", mark(1, "Go", disabled=True))
    assert [type(each) for each in ended] == [Finish]


def test_a_baseline_that_is_not_known_or_has_no_lines_is_said() -> None:
    with pytest.raises(UsageError, match="Unknown baseline 'guess'"):
        baseline("guess", 1, ())
    with pytest.raises(UsageError, match="no reference lines"):
        baseline("steps", 1, ())

"""Claims about who is said to have decided a run: the model first, then what else had a part in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from vision_agent.actions import Action, Ask, Click, Goto, Wait
from vision_agent.describe.deciders import deciders_of
from vision_agent.types import Approval, Choice, Decision, Provenance, Run, Task

CLICK = Click(target=1)
HOME = Goto(url="http://shop.test/")


def by(author: str, *actions: Action, model: str | None = None, **choice: Any) -> tuple[Decision, Approval | None]:
    decision = Decision.model_validate({"author": author, "model": model, "actions": actions or (CLICK,)})
    if not choice:
        return decision, None
    done = decision if choice["kind"] == "approve" else decision.model_copy(update={"author": "human"})
    return done, Approval(proposed=decision, choice=Choice.model_validate(choice))


def mine(**choice: Any) -> tuple[Decision, Approval | None]:
    return by("model", model="mine", **choice)


INSTRUCTED = {"kind": "instruct", "text": "Take the blue one", "through": "page"}


@pytest.mark.parametrize(
    ("decided", "told"),
    [
        ([by("steps")], "No model: step lines"),
        ([by("human", model="human")], "No model: a person"),
        ([by("client")], "A client that drove the run"),
        ([mine(), mine(kind="approve")], "mine"),
        ([mine(**INSTRUCTED), mine()], "mine; a person gave an instruction"),
        ([mine(**INSTRUCTED), mine(**INSTRUCTED)], "mine; a person gave 2 instructions"),
        ([mine(kind="instruct", text="No")], "mine; a function gave an instruction"),
        ([mine(kind="replace", through="terminal"), mine()], "mine; a person chose another action"),
        ([mine(kind="take_over", through="page"), by("human")],
         "mine; a person took over the browser; a person drove the browser"),
        ([mine(), by("loop", HOME), by("loop", CLICK), mine()], "mine; the agent went back"),
        ([mine(), by("loop", Wait(change=True)), by("loop", Ask(question="A captcha"))],
         "mine; the agent waited; the agent asked a person"),
        ([by("replay"), mine()], "mine, recorded decisions"),
        ([by("steps", kind="stop", through="terminal")], "No model: step lines; a person stopped the run"),
        ([], "mine"),
    ],
)  # fmt: skip
def test_the_model_is_named_first_and_then_what_else_had_a_part(
    decided: list[tuple[Decision, Approval | None]], told: str
) -> None:
    run = Run(id="r1", task=Task(goal="Buy tea"), provenance=Provenance(model="mine"), started_at=datetime.now(UTC))
    assert deciders_of(run, decided) == told


def test_a_stop_of_the_agent_itself_is_no_decision_of_its_own() -> None:
    run = Run(id="r1", task=Task(goal="Buy tea"), provenance=Provenance(model="mine"), started_at=datetime.now(UTC))
    stopped = Decision(author="loop", next_goal="Stop: the last 6 steps led nowhere")
    assert deciders_of(run, [mine(), (stopped, None)]) == "mine"

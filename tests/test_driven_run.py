"""A run that a client drives: it does what is decided and nothing by itself, and goes on after every refusal."""

from __future__ import annotations

import pytest
from loop_run import CLICK, COVERED, DONE, FINISH, NOTHING, Ran

from vision_agent.actions import Ask
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Decision, Limits, Outcome

LIMITS = Limits(stall=2, consecutive_failures=2)
SIX = 6


def by_model(action: object) -> Decision:
    return Decision.model_validate({"author": "model", "actions": [action]})


@pytest.mark.parametrize("outcome", [COVERED, NOTHING], ids=["refused", "nothing new"])
async def test_neither_failures_nor_a_stall_end_it(outcome: Outcome) -> None:
    script = [*[by_model(CLICK)] * SIX, [FINISH]]
    driven = Ran(script, [outcome] * SIX, limits=LIMITS, is_driven=True)
    run = await driven.run()
    assert [step.decision.author for step in run.steps] == ["model"] * SIX + ["scripted"]
    assert driven.browser.acts == [CLICK] * SIX
    alone = Ran(script, [outcome] * SIX, limits=LIMITS)
    await alone.run()
    assert alone.ending[0] == "limit"


async def test_what_nobody_approves_is_refused_and_it_goes_on() -> None:
    always = ApprovalSettings(ask="always")
    script = [by_model(CLICK), [FINISH]]
    driven = Ran(
        [by_model(CLICK), by_model(CLICK), Decision(author="human", actions=(FINISH,))],
        [DONE],
        policy=always,
        is_driven=True,
    )
    run = await driven.run()
    assert driven.browser.acts == []
    assert [step.outcomes[0].refusal for step in run.steps[:2]] == ["needs_person"] * 2
    assert driven.ending[0] == "done"
    alone = Ran(script, [DONE], policy=always)
    await alone.run()
    assert alone.ending[0] == "needs_person"


async def test_a_question_that_nobody_answers_is_refused_and_it_goes_on() -> None:
    script = [by_model(Ask(question="Which one?")), [FINISH]]
    driven = Ran(script, is_driven=True)
    run = await driven.run()
    assert run.steps[0].outcomes[0].refusal == "needs_person"
    assert driven.ending[0] == "done"
    alone = Ran(script)
    await alone.run()
    assert alone.ending[0] == "needs_person"


async def test_looking_again_without_an_act_is_no_failure() -> None:
    looks = [Decision(author="client", next_goal="Look")] * SIX
    watched = Ran([*looks, [FINISH]], limits=LIMITS)
    await watched.run()
    assert watched.ending[0] == "done"

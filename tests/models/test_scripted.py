from __future__ import annotations

import pytest
from seen import seen

from vision_agent.actions import Back, Click, Finish
from vision_agent.errors import FormatError, ModelUnavailable
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.types import Decision, Task

TASK = Task(goal="g")


async def test_actions_and_decisions_are_played_in_order():
    recorded = Decision(actions=(Finish(),), author="replay", next_goal="end")
    model = ScriptedModel([[Click(target=3), Back()], recorded])
    first = await model.decide(TASK, (), seen())
    assert (first.actions, first.author) == ((Click(target=3), Back()), "scripted")
    assert await model.decide(TASK, (), seen()) is recorded


async def test_an_error_of_the_script_is_raised_and_complaints_are_kept():
    model = ScriptedModel([FormatError("no JSON"), [Back()]])
    with pytest.raises(FormatError, match="no JSON"):
        await model.decide(TASK, (), seen())
    await model.decide(TASK, (), seen(), complaint="no JSON")
    assert model.complaints == ["", "no JSON"]


async def test_a_run_that_is_longer_than_its_script_is_told():
    with pytest.raises(ModelUnavailable, match="script of 0 decisions ended"):
        await ScriptedModel([]).decide(TASK, (), seen())

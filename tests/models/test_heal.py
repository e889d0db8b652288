"""A recorded step that cannot be made again is decided by a model, and by nothing else once that has done it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seen import seen

from vision_agent.actions import Action, Click, Finish, Infeasible, Type
from vision_agent.models.llm.heal import TRIES, Healer
from vision_agent.models.offline.human import HumanModel
from vision_agent.models.offline.replayed import ReplayedModel
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Observation
from vision_agent.types import Decision, Outcome, Step, Task

TASK = Task(goal="Sign in as Ada.")
DONE = Outcome(status="done", effect="changed", sentence="Done.")
NOTHING = Outcome(status="done", effect="no_effect", sentence="Nothing changed.")
REFUSED = Outcome(status="refused", refusal="covered", sentence="It is covered by a dialog.")


def step(index: int, outcome: Outcome, decision: Decision, page: Observation) -> Step:
    outcomes = (outcome,) * len(decision.actions)
    return Step(index=index, observation=page, decision=decision, outcomes=outcomes, started_at=page.taken_at)


class Run:
    """A replay of two clicks and an end, step by step, with what comes of each."""

    def __init__(self, *script: Sequence[Action]) -> None:
        self.page = seen()
        number = self.page.marks[0].number
        acts: list[Action] = [Click(target=number), Click(target=number), Finish()]
        recorded = [
            step(i, DONE, Decision(author="model", next_goal=f"goal {i}", actions=(act,)), self.page)
            for i, act in enumerate(acts, 1)
        ]
        self.asked = Asked(script)
        self.healer = Healer(self.asked)
        self.model = ReplayedModel(recorded, run="r1", healer=self.healer)
        self.steps: list[Step] = []

    async def next(self, outcome: Outcome = DONE) -> Decision:
        decision = await self.model.decide(TASK, self.steps, self.page)
        self.steps.append(step(len(self.steps) + 1, outcome, decision, self.page))
        return decision


class Asked(ScriptedModel):
    """Keeps what it was told, too."""

    def __init__(self, script: Sequence[Sequence[Action]]) -> None:
        super().__init__(script)
        self.told: list[tuple[Task, Sequence[Step]]] = []

    async def decide(self, task: Task, steps: Sequence[Step], *rest: Any, **more: Any) -> Decision:
        self.told.append((task, steps))
        return await super().decide(task, steps, *rest, **more)


async def test_a_refused_step_is_healed_and_the_next_one_is_the_records_again() -> None:
    run = Run([Type(target=12, text="a"), Finish()])
    await run.next(REFUSED)
    healed = await run.next()
    assert (healed.author, [each.kind for each in healed.actions]) == ("scripted", ["type"])  # an end of the step only
    again = await run.next()
    assert (again.author, again.reply_id) == ("replay", "r1:2")
    assert run.healer.healings[0].is_done
    assert run.healer.healings[0].live == [1, 2]
    (task, log), = run.asked.told  # fmt: skip
    assert "goal 1" in task.goal
    # It quotes the page, so it is no part of the task.
    assert "It is covered by a dialog" not in task.goal
    assert "was refused here: It is covered by a dialog" in log[0].decision.summary
    assert TASK.goal in task.goal
    assert [each.outcomes[0].status for each in log] == ["done", "refused"]  # as it was recorded, and as it went here


async def test_a_person_is_told_which_step_is_broken_and_why_and_not_that_it_was_done() -> None:
    said: list[str] = []
    run = Run()
    page = run.page.model_copy(update={"marks": ()})
    recorded = [step(4, DONE, Decision(author="model", next_goal="Place it", actions=(Click(target=12),)), run.page)]
    healer = Healer(HumanModel(read=_stop, say=said.append))
    replayed = ReplayedModel(recorded, run="r1", healer=healer)
    while not healer.healings:  # it looks again for a while
        decision = await replayed.decide(TASK, run.steps, page)
        run.steps.append(step(len(run.steps) + 1, DONE, decision, page))
    shown = "\n".join(said)
    assert "Task: Heal the replay: Place it. Here step 4 of the record does not fit this page: " in shown
    assert "`finish`, and the replay goes on" in shown
    assert "→" not in shown


async def _stop(_prompt: str) -> str:
    return "stop"


async def test_what_was_said_to_be_done_but_changed_nothing_is_not_done() -> None:
    run = Run([Click(target=12), Finish()], [Type(target=12, text="a"), Finish()])
    await run.next(REFUSED)
    await run.next(NOTHING)
    assert not run.healer.healings[0].is_done
    assert [each.kind for each in (await run.next()).actions] == ["type"]
    assert (await run.next()).reply_id == "r1:2"


async def test_a_step_that_is_not_needed_any_more_is_left_out() -> None:
    run = Run([Finish()])
    await run.next(REFUSED)
    assert (await run.next()).actions == ()
    assert (await run.next()).reply_id == "r1:2"


async def test_a_model_that_cannot_or_never_comes_to_an_end_ends_the_replay() -> None:
    for script, why in (
        ([[Infeasible(reason="It is sold out.")]], "it cannot be done: It is sold out"),
        ([[Finish(success=False, answer="No button")]], "it cannot be done: No button"),
        ([[Click(target=12)]] * (TRIES + 1), f"the model did not do it in {TRIES} replies"),
    ):
        run = Run(*script)
        await run.next(REFUSED)
        for _ in script:
            last = await run.next()
        (end,) = last.actions
        assert isinstance(end, Finish)
        assert not end.success
        assert why in end.answer
        assert "It broke because: step 1 of the record was refused here" in end.answer
        assert not run.healer.healings[0].is_done


async def test_the_end_of_a_run_is_never_healed() -> None:
    run = Run()
    await run.next()
    await run.next()
    await run.next(REFUSED)
    (end,) = (await run.next()).actions
    assert isinstance(end, Finish)
    assert "step 3 of the record was refused" in end.answer
    assert run.asked.told == []

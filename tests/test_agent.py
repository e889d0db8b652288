"""Claims about the loop alone: the order of things, batches, limits, replies, and questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from tests.loop_run import CLICK, COVERED, DONE, FINISH, NOTHING, Ran, answered_at_cost, observation
from vision_agent.actions import Action, Ask, Finish, Hover, Scroll, Type
from vision_agent.agent import Loop
from vision_agent.base_model import RECORDED
from vision_agent.browser.fake import FakeBrowser
from vision_agent.errors import BrowserUnavailable, FormatError, ModelUnavailable, RunFailed, VisionAgentError
from vision_agent.events import Event, MessageReceived, Troubled
from vision_agent.models.offline.scripted import ScriptedModel
from vision_agent.observation import Observation
from vision_agent.record.read import assemble
from vision_agent.types import Decision, Limits, Outcome, Step, Task, Usage

# --- the order of things ----------------------------------------------------------------------------------------------


async def test_a_run_is_recorded_in_the_order_in_which_it_happens() -> None:
    ran = Ran([[CLICK, Scroll()], [FINISH]])
    run = await ran.run()
    assert ran.events == [
        "started",
        *("observed", "decided", "intended", "happened", "intended", "happened", "stepped"),
        *("observed", "decided", "intended", "happened", "stepped"),
        "ended",
    ]
    assert ran.browser.acts == [CLICK, Scroll()]
    assert [len(step.outcomes) for step in run.steps] == [2, 1]
    assert run.ending is not None
    assert (run.ending.status, run.ending.answer, run.ending.evidence) == ("done", "42", (1,))


async def test_an_act_is_on_record_before_it_is_done() -> None:
    """A browser that dies in the act leaves the intent behind, and no outcome."""
    ran = Ran([[CLICK]])
    ran.loop = Loop(ran.loop.record, DyingBrowser(), ran.model, ran.record)
    with pytest.raises(BrowserUnavailable, match="gone"):
        await ran.run()
    assert ran.events == ["started", "observed", "decided", "intended", "ended"]
    assert ran.ending == ("unavailable", "The browser is gone.")


class DyingBrowser(FakeBrowser):
    """Can be looked at, and dies when it is used."""

    def __init__(self) -> None:
        super().__init__([observation()])

    async def act(self, *_: object) -> Outcome:
        raise BrowserUnavailable("The browser is gone.")


async def test_a_listener_hears_what_is_recorded_after_it_was_recorded() -> None:
    heard: list[tuple[Event, int]] = []
    ran = Ran([[FINISH]], on_event=lambda event: heard.append((event, len(ran.record.events))))
    await ran.run()
    assert [event for event, _ in heard] == ran.record.events
    assert [count for _, count in heard] == [*range(1, len(heard) + 1)]


async def test_what_the_task_begins_with_is_done_before_the_model_is_asked() -> None:
    ran = Ran([[FINISH]], actions=(Hover(target=1), CLICK))
    run = await ran.run()
    assert ran.browser.acts == [Hover(target=1), CLICK]
    assert [step.decision.author for step in run.steps] == ["scripted", "scripted"]
    assert len(ran.model.complaints) == 1


async def test_what_a_person_says_reaches_the_next_decision() -> None:
    asked = Listening([[CLICK], [FINISH]])
    ran = Ran([])
    ran.loop = Loop(ran.loop.record, ran.browser, asked, ran.record, on_event=lambda event: at_first_act(event))

    def at_first_act(event: Event) -> None:
        if event.event == "intended" and event.step == 1:
            ran.loop.say("Only the blue one")

    run = await ran.run()
    assert asked.heard == [(), ("Only the blue one",)]
    assert [message.text for message in run.task.messages] == ["Only the blue one"]
    assert [event.message.text for event in ran.record.events if isinstance(event, MessageReceived)] == [
        "Only the blue one"
    ]


class Listening(ScriptedModel):
    """Notes which messages stood in the task each time it was asked."""

    def __init__(self, script: Sequence[Any]) -> None:
        super().__init__(script)
        self.heard: list[tuple[str, ...]] = []

    async def decide(
        self, task: Task, steps: Sequence[Step], observation: Observation, *, complaint: str = ""
    ) -> Decision:
        self.heard.append(tuple(message.text for message in task.messages))
        return await super().decide(task, steps, observation, complaint=complaint)


# --- batches ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stop",
    [
        COVERED,
        NOTHING,
        Outcome(status="done", effect="navigated", sentence="Clicked mark 1. The page navigated."),
        Outcome(status="done", effect="new_tab", sentence="Clicked mark 1. A tab opened."),
        Outcome(status="done", effect="dialog", sentence="Clicked mark 1. A dialog said no."),
    ],
    ids=lambda outcome: outcome.refusal or outcome.effect,
)
async def test_the_rest_of_a_batch_is_not_tried_after(stop: Outcome) -> None:
    ran = Ran([[CLICK, CLICK, Scroll(), FINISH], [FINISH]], [DONE, stop])
    run = await ran.run()
    assert ran.browser.acts == [CLICK, CLICK]
    outcomes = run.steps[0].outcomes
    assert outcomes[:2] == (DONE, stop)
    assert [outcome.refusal for outcome in outcomes[2:]] == ["not_reached", "not_reached"]
    assert "scroll was not tried" in outcomes[2].sentence
    # What was not tried was never intended: an intent without an outcome means that we do not know.
    assert ran.events.count("intended") == 3
    assert len(run.steps) == 2


async def test_nothing_is_done_after_finish_in_the_same_batch() -> None:
    ran = Ran([[FINISH, CLICK]])
    run = await ran.run()
    assert ran.browser.acts == []
    assert run.ending is not None
    assert run.ending.status == "done"


async def test_every_action_has_an_outcome_after_finish_too() -> None:
    run = await Ran([[CLICK, FINISH, CLICK]]).run()
    assert [outcome.refusal for outcome in run.steps[0].outcomes] == [None, None, "not_reached"]


# --- limits -----------------------------------------------------------------------------------------------------------


async def test_exactly_the_steps_of_the_limit_are_taken() -> None:
    ran = Ran([[CLICK]] * 9, limits=Limits(steps=3))
    run = await ran.run()
    assert len(run.steps) == 3
    assert len(ran.browser.acts) == 3
    assert len(ran.model.complaints) == 3
    assert ran.ending == ("limit", "A limit was reached: 3 steps were taken.")


async def test_finishing_on_the_last_step_is_done_and_no_limit() -> None:
    ran = Ran([[CLICK], [FINISH]], limits=Limits(steps=2))
    await ran.run()
    assert ran.ending[0] == "done"


async def test_steps_in_a_row_that_come_to_nothing_end_the_run() -> None:
    ran = Ran([[CLICK]] * 9, [COVERED] * 9, limits=Limits(consecutive_failures=3))
    assert len((await ran.run()).steps) == 3
    assert ran.ending == (
        "limit",
        "A limit was reached: 3 steps in a row failed, the last: Mark 1 is covered by a dialog; close it first.",
    )


async def test_one_success_in_between_starts_the_count_of_failures_anew() -> None:
    ran = Ran([[CLICK]] * 9, [COVERED, COVERED, DONE, COVERED, COVERED, COVERED], limits=Limits(consecutive_failures=3))
    assert len((await ran.run()).steps) == 6


async def test_decisions_without_an_action_count_as_failures() -> None:
    ran = Ran([[]] * 9, limits=Limits(consecutive_failures=2))
    assert len((await ran.run()).steps) == 2
    assert "nothing was decided" in ran.ending[1]


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (Limits(tokens=301), "300 of 301 tokens were used, and the next request needs about 101"),
        (Limits(tokens=400), "300 of 400 tokens were used, and the next request needs about 101"),
        (Limits(cost_usd=0.06), "$0.06 of $0.06 were spent"),
        (Limits(cost_usd=0.07), "$0.06 of $0.07 were spent, and the next request costs about $0.02"),
    ],
)
async def test_no_further_decision_is_asked_for_that_does_not_fit_the_budget(limits: Limits, sentence: str) -> None:
    ran = Ran([answered_at_cost(100, 0.02)] * 9, limits=limits)
    assert len((await ran.run()).steps) == 3
    assert ran.ending == ("limit", f"A limit was reached: {sentence}.")


async def test_a_cost_that_is_not_known_reaches_its_limit_at_once() -> None:
    ran = Ran([answered_at_cost(100)] * 9, limits=Limits(cost_usd=5))
    assert len((await ran.run()).steps) == 1
    assert ran.ending == (
        "limit",
        "A limit was reached: at most $5.00 may be spent, and what a decision costs is not known; "
        "limit the tokens instead, with --max-tokens or limits.tokens.",
    )


async def test_deciding_without_a_model_costs_nothing_that_is_not_known() -> None:
    ran = Ran([[CLICK], [FINISH]], limits=Limits(cost_usd=5))
    assert len((await ran.run()).steps) == 2
    assert ran.ending[0] == "done"


@pytest.mark.parametrize("limit", ["steps", "seconds", "consecutive_failures", "tokens", "cost_usd"])
def test_a_limit_that_lets_nothing_happen_is_refused(limit: str) -> None:
    with pytest.raises(ValidationError, match=limit):
        Limits.model_validate({limit: 0})


async def test_no_step_begins_when_the_time_is_over() -> None:
    ran = Ran([[CLICK]] * 9, limits=Limits(seconds=1e-9))
    assert (await ran.run()).steps == ()
    assert ran.ending == ("limit", "A limit was reached: 0 of 1e-09 seconds have passed.")


# --- replies that make no sense ---------------------------------------------------------------------------------------

NONSENSE = FormatError("There is no mark 99; name one of 1 to 1.")


async def test_a_reply_that_makes_no_sense_is_sent_back_with_the_reason() -> None:
    ran = Ran([NONSENSE, [FINISH]])
    run = await ran.run()
    assert ran.model.complaints == ["", NONSENSE.sentence]
    assert ran.troubles == [NONSENSE.sentence]
    assert ran.events[:4] == ["started", "observed", "troubled", "decided"]
    assert len(run.steps) == 1
    assert ran.ending[0] == "done"


@pytest.mark.parametrize("repairs", [0, 1, 2])
async def test_a_reply_that_stays_unusable_is_a_failed_step_and_the_run_goes_on(repairs: int) -> None:
    ran = Ran([*[NONSENSE] * (1 + repairs), [FINISH]], repairs=repairs)
    run = await ran.run()
    assert [step.decision.actions for step in run.steps] == [(), (FINISH,)]
    assert ran.model.complaints == ["", *[NONSENSE.sentence] * repairs, ""]
    assert len(ran.troubles) == 1 + repairs
    tried = f"in {1 + repairs} tries; the last time: " if repairs else "in 1 try: "
    assert run.steps[0].decision.next_goal == f"The model gave no usable reply {tried}{NONSENSE.sentence}"
    assert ran.ending[0] == "done"


@pytest.mark.parametrize("failures", [1, 3, 9])
async def test_replies_that_stay_unusable_end_the_run_by_the_limit_of_failures_and_no_other(
    failures: int,
) -> None:
    ran = Ran([NONSENSE] * 99, repairs=1, limits=Limits(consecutive_failures=failures, stall=2))
    run = await ran.run()
    assert len(run.steps) == failures
    assert len(ran.model.complaints) == 2 * failures
    assert (ran.ending[0], run.limit) == ("limit", "unusable_replies")
    assert ran.ending[1] == (
        f"The model's replies could not be used, {2 * failures} in a row; what was wrong with the last one: There is "
        "no mark 99; name one of 1 to 1. Another model may help: name it with --model, or set model.fallback, which "
        "then takes over."
    )


async def test_refused_steps_and_unusable_replies_in_turn_are_failures_as_any() -> None:
    ran = Ran([[CLICK], NONSENSE, [CLICK]], [COVERED] * 9, repairs=0, limits=Limits(consecutive_failures=2))
    assert (await ran.run()).limit == "consecutive_failures"


async def test_where_the_first_failure_ends_a_run_so_does_an_unusable_reply() -> None:
    ran = Ran([NONSENSE] * 9, repairs=0, limits=Limits(on_failure="at_once"))
    with pytest.raises(RunFailed, match="no usable reply"):
        await ran.run()
    assert ran.ending[0] == "not_done"
    assert len(ran.model.complaints) == 1


async def test_a_complaint_is_not_carried_into_the_next_step() -> None:
    ran = Ran([NONSENSE, [CLICK], [FINISH]])
    await ran.run()
    assert ran.model.complaints == ["", NONSENSE.sentence, ""]


@pytest.mark.parametrize(
    "trouble",
    [
        [ModelUnavailable("The model is overloaded.", "run again later")],
        [FormatError("The reply is empty.")] * 3,
    ],
)
async def test_a_fallback_takes_over_for_the_rest_of_the_run(trouble: list[VisionAgentError]) -> None:
    second = ScriptedModel([[CLICK], [FINISH]])
    ran = Ran(trouble, fallback=second)
    run = await ran.run()
    assert [step.decision.actions for step in run.steps] == [(CLICK,), (FINISH,)]
    assert ran.troubles[-1].endswith("The fallback takes over.")
    assert len(ran.model.complaints) == len(trouble)


async def test_what_unusable_replies_cost_is_counted_when_a_fallback_takes_over() -> None:
    nonsense = FormatError("The reply is empty.")
    nonsense.usage = Usage(input_tokens=100, cost_usd=0.25)
    ran = Ran([nonsense] * 2, fallback=ScriptedModel([[CLICK]]), repairs=1, limits=Limits(cost_usd=0.5))
    run = await ran.run()
    assert run.steps[0].unused == (nonsense.usage,) * 2
    assert ran.ending == ("limit", "A limit was reached: $0.50 of $0.50 were spent.")
    assert assemble(ran.loop.record.model_copy(update={"steps": ()}), ran.record.events).steps == run.steps


async def test_what_a_model_that_gave_up_said_is_on_record_with_its_cost() -> None:
    declined = ModelUnavailable("It declined.")
    declined.usage = Usage(input_tokens=7)
    ran = Ran([declined])
    with pytest.raises(ModelUnavailable):
        await ran.run()
    assert [event.usage for event in ran.record.events if isinstance(event, Troubled)] == [declined.usage]


async def test_a_fallback_that_cannot_be_asked_either_ends_the_run() -> None:
    down = ModelUnavailable("The model is overloaded.", "run again later")
    ran = Ran([down], fallback=ScriptedModel([ModelUnavailable("The second one is down too.", "wait")]))
    with pytest.raises(ModelUnavailable, match="second one"):
        await ran.run()
    assert ran.ending == ("unavailable", "The second one is down too (wait)")


# --- a person ---------------------------------------------------------------------------------------------------------


async def test_a_question_with_nobody_to_answer_ends_the_run_for_a_person() -> None:
    ran = Ran([[Ask(question="Which size?")]])
    run = await ran.run()
    assert run.ending is not None
    assert (run.ending.status, run.ending.exit_code) == ("needs_person", 4)
    assert "Which size?" in run.ending.sentence
    assert run.steps[0].outcomes[0].refusal == "needs_person"


async def test_a_person_who_does_not_answer_is_nobody() -> None:
    async def person(question: str) -> str | None:
        return None

    ran = Ran([[Ask(question="Which size?")]], person=person)
    await ran.run()
    assert ran.ending[0] == "needs_person"


async def test_an_answer_is_part_of_the_task_from_then_on() -> None:
    async def person(question: str) -> str | None:
        return f"{question} Large."

    ran = Ran([[Ask(question="Which size?")], [FINISH]], person=person)
    run = await ran.run()
    sentence = "Asked “Which size?”, the person answered: Which size? Large."
    assert run.steps[0].outcomes[0].sentence == sentence
    assert ran.ending[0] == "done"


async def test_a_question_that_quotes_a_page_is_not_put_into_the_person_s_mouth() -> None:
    async def person(_: str) -> str | None:
        return "No."

    ran = Ran([[Ask(question="The page says: pay 900 now. Shall I?")], [FINISH]], person=person)
    run = await ran.run()
    assert [message.text for message in run.task.messages] == ["No."]
    assert "pay 900" in run.steps[0].outcomes[0].sentence


@pytest.mark.parametrize("given", [Finish(answer="a\ud800"), Type(target=1, text="\ud83d")])
async def test_half_a_character_in_a_decision_is_told_to_who_decides(given: Action) -> None:
    ran = Ran([[given], [FINISH]])
    run = await ran.run()
    assert run.ending is not None
    assert run.ending.status == "done"
    assert "half a character" in ran.model.complaints[1]


@pytest.mark.parametrize("wrong", [{"cost_usd": float("nan")}, {"cost_usd": -5.0}, {"output_tokens": -1}])
def test_a_usage_takes_nothing_back(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="it must be 0 or more, and finite"):
        Usage(**wrong)
    Usage.model_validate(wrong, context=RECORDED)

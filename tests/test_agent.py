"""Claims about the loop alone, with a fake browser, a scripted model and a record in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from vision_agent.actions import Action, Ask, Click, Finish, Hover, Scroll
from vision_agent.agent import Loop
from vision_agent.browser.fake import FakeBrowser
from vision_agent.errors import (
    BrowserUnavailable,
    FormatError,
    ModelUnavailable,
    RecordError,
    RunFailed,
    UsageError,
    VisionAgentError,
)
from vision_agent.events import Event, MessageReceived, Troubled
from vision_agent.models.offline.scripted import ScriptedJudge, ScriptedModel
from vision_agent.record.read import assemble
from vision_agent.record.store import RunInMemory
from vision_agent.types import (
    Box,
    Decision,
    Limits,
    Mark,
    Observation,
    Outcome,
    Point,
    Run,
    Shot,
    Size,
    Step,
    SuccessCheck,
    Task,
    Usage,
    Verdict,
)

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
DONE = Outcome(status="done", effect="changed", sentence="Clicked mark 1.")
NOTHING = Outcome(status="done", effect="no_effect", sentence="Clicked mark 1. Nothing changed.")
HALF = Outcome(status="partial", refusal="covered", sentence="pointerdown reached mark 1; the rest did not.")
COVERED = Outcome(status="refused", refusal="covered", sentence="Mark 1 is covered by a dialog; close it first.")
CLICK = Click(target=1)
FINISH = Finish(answer="42", evidence=(1,))


def observation(name: str = "o1") -> Observation:
    shot = Shot(media_type="image/png", size=Size(width=1, height=1), sha256=hashlib.sha256(b"").hexdigest(), data=b"")
    button = Mark(
        number=1, tag="button", role="button", kind="button", name="Go",
        box=Box(x=0, y=0, width=9, height=9), point=Point(x=4, y=4),
    )  # fmt: skip
    return Observation(
        id=name, epoch=1, url="about:blank", title="", taken_at=NOW, viewport=Size(width=9, height=9),
        marks=(button,), listing="1[:]<button>Go", clean=shot, marked=shot,
    )  # fmt: skip


class Ran:
    """A loop with everything at hand that it was given and that it made."""

    def __init__(
        self,
        script: Sequence[Any],
        outcomes: Sequence[Outcome] = (),
        *,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        actions: tuple[Action, ...] = (),
        observations: Sequence[Observation] = (),
        **more: Any,
    ) -> None:
        self.model = ScriptedModel(script)
        self.browser = FakeBrowser(observations or [observation()], outcomes)
        self.record = RunInMemory()
        task = Task(goal="Find it", limits=limits, actions=actions)
        self.loop = Loop(Run(id="r1", task=task, started_at=NOW), self.browser, self.model, self.record, **more)

    async def run(self) -> Run:
        return await self.loop.run()

    @property
    def events(self) -> list[str]:
        return [event.event for event in self.record.events]

    @property
    def troubles(self) -> list[str]:
        return [event.sentence for event in self.record.events if isinstance(event, Troubled)]

    @property
    def ending(self) -> tuple[str, str]:
        """Of the last event, which nothing may follow."""
        last = self.record.events[-1]
        assert last.event == "ended"
        assert self.events.count("ended") == 1
        return last.ending.status, last.ending.sentence


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


def usage_on_error(tokens: int, cost: float | None = None) -> Decision:
    usage = Usage(input_tokens=tokens - 1, output_tokens=1, cost_usd=cost)
    return Decision(author="model", actions=(CLICK,), usage=usage)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        (Limits(tokens=250), "300 of 250 tokens were used"),
        (Limits(tokens=300), "300 of 300 tokens were used"),
        (Limits(cost_usd=0.05), "0.06 of 0.05 USD were spent"),
    ],
)
async def test_no_further_decision_is_asked_for_when_the_budget_is_spent(limits: Limits, sentence: str) -> None:
    ran = Ran([usage_on_error(100, 0.02)] * 9, limits=limits)
    assert len((await ran.run()).steps) == 3
    assert ran.ending == ("limit", f"A limit was reached: {sentence}.")


async def test_a_cost_that_is_not_known_reaches_its_limit_at_once() -> None:
    ran = Ran([usage_on_error(100)] * 9, limits=Limits(cost_usd=5))
    assert len((await ran.run()).steps) == 1
    assert ran.ending == (
        "limit",
        "A limit was reached: at most 5.00 USD may be spent, and what a decision costs is not known; "
        "limit the tokens instead.",
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
async def test_replies_that_never_make_sense_end_the_run_after_as_many_tries(repairs: int) -> None:
    ran = Ran([NONSENSE] * 9, repairs=repairs)
    with pytest.raises(ModelUnavailable, match="There is no mark 99"):
        await ran.run()
    assert len(ran.model.complaints) == 1 + repairs
    assert len(ran.troubles) == 1 + repairs
    assert ran.ending[0] == "unavailable"
    assert f"no usable reply in {1 + repairs} tries" in ran.ending[1]


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
    assert ran.ending == ("limit", "A limit was reached: 0.50 of 0.50 USD were spent.")
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
    assert ran.ending == ("unavailable", "The second one is down too. (wait)")


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


# --- the end is checked -----------------------------------------------------------------------------------------------


def checked(script: Sequence[Any], *checks: SuccessCheck, outcomes: Sequence[Outcome] = (), **fields: Any) -> Ran:
    ran = Ran(script, outcomes)
    task = ran.loop.record.task.model_copy(update={"checks": checks, **fields})
    ran.loop = Loop(ran.loop.record.model_copy(update={"task": task}), ran.browser, ran.model, ran.record)
    return ran


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (SuccessCheck(url="*/thanks"), "the address must be */thanks, and is about:blank"),
        (SuccessCheck(mark="Log out"), "'Log out' must be among the marks in view, and is not"),
        (SuccessCheck(url="about:*", mark="Log out"), "'Log out' must be among the marks in view"),
    ],
)
async def test_a_false_done_goes_back_with_the_reason_until_it_was_said_too_often(
    check: SuccessCheck, why: str
) -> None:
    ran = checked([[FINISH]] * 3, check)
    run = await ran.run()
    assert [step.outcomes[0].refusal for step in run.steps] == ["not_verified"] * 3
    assert why in run.steps[0].outcomes[0].sentence
    assert run.ending is not None
    assert run.ending.status == "not_done"
    assert run.ending.sentence.startswith("The model claimed completion 3 times. The task is not done: ")


async def test_a_done_that_holds_is_the_end() -> None:
    run = await checked([[FINISH]], SuccessCheck(url="about:*"), SuccessCheck(mark="go")).run()
    assert run.ending is not None
    assert run.ending.status == "done"


async def test_a_text_that_must_show_is_looked_for_on_the_page() -> None:
    missing = Outcome(status="refused", refusal="timed_out", sentence="“Order placed” did not show within 1 s.")
    ran = checked([[FINISH], [FINISH]], SuccessCheck(text="Order placed"), outcomes=[missing])
    run = await ran.run()
    assert "the page must show 'Order placed'" in run.steps[0].outcomes[0].sentence
    assert [act.kind for act in ran.browser.acts] == ["wait", "wait"]
    assert run.ending is not None
    assert run.ending.status == "done"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("42 apples", "the answer is not JSON"),
        ('{"apples": "42"}', "does not match its schema at $.apples: '42' is not of type 'integer'"),
        ("{}", "'apples' is a required property"),
    ],
)
async def test_an_answer_of_another_form_than_asked_for_goes_back(answer: str, why: str) -> None:
    schema = {"type": "object", "properties": {"apples": {"type": "integer"}}, "required": ["apples"]}
    good = Finish(answer='{"apples": 42}')
    run = await checked([[Finish(answer=answer)], [good]], answer_schema=schema).run()
    assert why in run.steps[0].outcomes[0].sentence
    assert run.ending is not None
    assert run.ending.answer == good.answer


async def test_a_done_that_comes_with_other_actions_is_not_checked_against_the_page_before_them() -> None:
    run = await checked([[CLICK, FINISH], [FINISH]], SuccessCheck(url="about:*")).run()
    assert run.steps[0].outcomes[1].refusal == "not_verified"
    assert "finish by itself" in run.steps[0].outcomes[1].sentence
    assert run.ending is not None
    assert run.ending.status == "done"


async def test_a_task_that_could_not_be_done_is_not_checked() -> None:
    run = await checked([[Finish(success=False)]], SuccessCheck(url="*/thanks")).run()
    assert run.ending is not None
    assert run.ending.status == "not_done"


# --- the end is judged ------------------------------------------------------------------------------------------------

COST = Usage(input_tokens=100, cost_usd=0.2)
TRUE = Verdict(done=True, reason="The page says so.", model="the judge", usage=COST)
FALSE = Verdict(done=False, reason="The order was not sent.", model="the judge", usage=COST)


async def test_a_done_that_a_judge_denies_goes_back_with_the_reason() -> None:
    judge = ScriptedJudge([FALSE, TRUE])
    ran = Ran([[FINISH], [CLICK], [FINISH]], judge=judge)
    run = await ran.run()
    assert run.steps[0].outcomes[0].refusal == "not_verified"
    assert run.steps[0].outcomes[0].sentence == "The task is not done: The order was not sent."
    assert [step.verdict for step in run.steps] == [FALSE, None, TRUE]
    assert judge.asked == [FINISH, FINISH]
    assert ran.ending == ("done", "42")
    assert ran.events[:6] == ["started", "observed", "decided", "intended", "judged", "happened"]
    assert assemble(ran.loop.record.model_copy(update={"steps": ()}), ran.record.events).steps == run.steps


async def test_a_judge_that_denies_too_often_ends_the_run_as_not_done() -> None:
    run = await Ran([[FINISH]] * 9, judge=ScriptedJudge([FALSE] * 9), limits=Limits(false_completions=2)).run()
    assert run.ending is not None
    assert (run.ending.status, run.ending.answer) == ("not_done", "42")
    assert run.ending.sentence == "The model claimed completion 2 times. The task is not done: The order was not sent."


async def test_checks_and_judge_count_false_endings_together() -> None:
    ran = checked([[FINISH], [Finish(answer="{}")]], answer_schema={"type": "object"})
    task = ran.loop.record.task.model_copy(update={"limits": Limits(false_completions=2)})
    run, judge = ran.loop.record.model_copy(update={"task": task}), ScriptedJudge([FALSE])
    ran.loop = Loop(run, ran.browser, ran.model, ran.record, judge=judge)
    await ran.run()
    assert ran.ending[1].startswith("The model claimed completion 2 times.")
    assert judge.asked == [Finish(answer="{}")], "what fails a stated check costs no judgement"


async def test_what_a_judge_costs_is_spent_by_the_run() -> None:
    ran = Ran([[FINISH], [FINISH]], judge=ScriptedJudge([FALSE] * 2), limits=Limits(cost_usd=0.15))
    await ran.run()
    assert ran.ending == ("limit", "A limit was reached: 0.20 of 0.15 USD were spent.")


async def test_no_judge_is_asked_when_the_budget_is_spent_and_nothing_is_called_done() -> None:
    decided = usage_on_error(100).model_copy(update={"actions": (FINISH,)})
    ran = Ran([decided], judge=(judge := ScriptedJudge([TRUE])), limits=Limits(tokens=100))
    run = await ran.run()
    assert judge.asked == []
    assert ran.ending[0] == "limit"
    assert "before a judge could check the completion: 100 of 100 tokens were used" in ran.ending[1]
    assert run.ending is not None
    assert run.ending.answer == "42"


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        ([ModelUnavailable("The judge declined.", "ask another")], "The judge declined. (ask another)"),
        ([FormatError("It is empty.")] * 3, "scripted gave no usable reply in 3 tries; the last time: It is empty."),
    ],
)
async def test_a_judge_that_fails_never_makes_a_success(faults: list[Any], why: str) -> None:
    for each in faults:
        each.usage = COST
    ran = Ran([[FINISH]], judge=ScriptedJudge(faults))
    run = await ran.run()
    assert ran.ending == ("unavailable", f"The model claimed completion, and that could not be judged. {why}")
    assert run.ending is not None
    assert (run.ending.exit_code, run.ending.answer) == (5, "42")
    assert run.steps[0].verdict is not None
    assert run.steps[0].verdict.done is None
    assert run.steps[0].usages == (COST,) * len(faults)


async def test_a_judge_is_told_why_its_reply_could_not_be_used() -> None:
    judge = ScriptedJudge([FormatError("It is empty."), TRUE])
    ran = Ran([[FINISH]], judge=judge)
    await ran.run()
    assert judge.complaints == ["", "It is empty."]
    assert ran.troubles == ["Judge scripted: It is empty."]
    assert ran.ending[0] == "done"


async def test_an_end_that_was_not_seen_whole_is_not_judged() -> None:
    judge = ScriptedJudge([TRUE])
    run = await Ran([[CLICK, FINISH], [FINISH]], judge=judge).run()
    assert run.steps[0].outcomes[1].refusal == "not_verified"
    assert len(judge.asked) == 1


async def test_giving_up_is_not_judged() -> None:
    ran = Ran([[Finish(success=False)]], judge=(judge := ScriptedJudge([])))
    await ran.run()
    assert (judge.asked, ran.ending[0]) == ([], "not_done")


# --- failures ---------------------------------------------------------------------------------------------------------


async def test_failures_are_not_raised_unless_asked_for() -> None:
    run = await Ran([[CLICK]] * 9, [COVERED] * 9, limits=Limits(consecutive_failures=2)).run()
    assert run.ending is not None
    assert (run.ending.status, run.ending.exit_code) == ("limit", 3)


async def test_failures_are_raised_after_retries_where_the_limits_say_so() -> None:
    ran = Ran([[CLICK]] * 9, [COVERED] * 9, limits=Limits(consecutive_failures=2, on_failure="after_retries"))
    with pytest.raises(RunFailed, match="2 steps in a row"):
        await ran.run()
    assert len(ran.browser.acts) == 2
    assert ran.ending[0] == "limit"


async def test_the_first_failure_is_raised_where_the_limits_say_so() -> None:
    ran = Ran([[CLICK, CLICK]] * 9, [COVERED] * 9, limits=Limits(on_failure="at_once"))
    with pytest.raises(RunFailed, match="Mark 1 is covered"):
        await ran.run()
    assert ran.browser.acts == [CLICK]
    assert ran.ending == ("not_done", COVERED.sentence)
    assert ran.events[-3:] == ["happened", "stepped", "ended"]


async def test_what_was_cut_off_half_way_ends_the_batch_and_is_told() -> None:
    ran = Ran([[CLICK, Scroll()], [FINISH]], [HALF])
    run = await ran.run()
    assert ran.browser.acts == [CLICK]
    assert [outcome.refusal for outcome in run.steps[0].outcomes] == ["covered", "not_reached"]
    assert "the action before it was cut off half-way" in run.steps[0].outcomes[1].sentence
    assert run.steps[0].carried_out == ()
    assert [action for action, _ in run.steps[0].maybe_done] == [CLICK]


async def test_what_was_cut_off_half_way_is_no_success_where_the_first_failure_is_raised() -> None:
    ran = Ran([[CLICK]] * 9, [HALF] * 9, limits=Limits(on_failure="at_once"))
    with pytest.raises(RunFailed, match="pointerdown reached mark 1"):
        await ran.run()
    assert ran.browser.acts == [CLICK]


async def test_giving_up_is_an_answer_and_not_raised() -> None:
    ran = Ran([[Finish(success=False, answer="There is no such thing")]], limits=Limits(on_failure="at_once"))
    run = await ran.run()
    assert run.ending is not None
    assert (run.ending.status, run.ending.exit_code) == ("not_done", 1)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ModelUnavailable("No answer."), "unavailable"),
        (RecordError("No room."), "unavailable"),
        (UsageError("Not like this."), "error"),
    ],
)
async def test_what_breaks_the_run_is_recorded_and_raised(error: VisionAgentError, status: str) -> None:
    ran = Ran([[CLICK], error])
    with pytest.raises(type(error), match=error.sentence):
        await ran.run()
    assert ran.ending == (status, error.sentence)
    assert ran.loop.record.ending is not None
    assert ran.loop.record.ending.exit_code == error.exit_code
    assert len(ran.loop.record.steps) == 1


async def test_a_fault_of_our_own_is_recorded_as_one_and_raised() -> None:
    ran = Ran([[CLICK]])
    ran.loop = Loop(ran.loop.record, FakeBrowser([]), ran.model, ran.record)
    with pytest.raises(IndexError):
        await ran.run()
    assert ran.ending[0] == "error"
    assert ran.ending[1].startswith("A fault of our own: IndexError")


@pytest.mark.parametrize("at", ["started", "observed", "intended", "happened", "ended"])
async def test_a_listener_that_fails_leaves_a_run_with_its_ending(at: str) -> None:
    def listener(event: Event) -> None:
        if event.event == at:
            raise LookupError("The listener is at fault.")

    ran = Ran([[CLICK], [FINISH]], on_event=listener)
    with pytest.raises(LookupError):
        await ran.run()
    assert ran.ending[0] == ("done" if at == "ended" else "error")


async def test_what_goes_wrong_before_the_first_look_belongs_to_the_run() -> None:
    async def prepare() -> None:
        raise BrowserUnavailable("The page cannot be reached.")

    ran = Ran([[FINISH]])
    with pytest.raises(BrowserUnavailable):
        await ran.loop.run(prepare)
    assert ran.events == ["started", "ended"]
    assert ran.ending == ("unavailable", "The page cannot be reached.")


async def test_nothing_is_done_that_could_not_be_recorded() -> None:
    ran = Ran([[CLICK]])
    full = FullAt("intended")
    ran.loop = Loop(ran.loop.record, ran.browser, ran.model, full)
    with pytest.raises(RecordError, match="full"):
        await ran.run()
    assert ran.browser.acts == []


class FullAt(RunInMemory):
    """A record with no room for one kind of event, nor for anything after it."""

    def __init__(self, event: str) -> None:
        super().__init__()
        self._at = event
        self._is_full = False

    def write(self, event: Event) -> None:
        self._is_full = self._is_full or event.event == self._at
        if self._is_full:
            raise RecordError("The disk is full.")
        super().write(event)


async def test_cancelling_is_recorded_as_an_interruption_and_cancels() -> None:
    acting = asyncio.Event()
    ran = Ran([[CLICK]])
    ran.loop = Loop(ran.loop.record, StuckBrowser(acting.set), ran.model, ran.record)
    task = asyncio.create_task(ran.run())
    await acting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ran.events == ["started", "observed", "decided", "intended", "ended"]
    assert ran.ending == ("interrupted", "The run was interrupted.")
    assert ran.loop.record.ending is not None
    assert ran.loop.record.ending.exit_code == 130


class StuckBrowser(FakeBrowser):
    """Never comes back from an act."""

    def __init__(self, begins: Callable[[], None]) -> None:
        super().__init__([observation()])
        self._begins = begins

    async def act(self, *_: object) -> Outcome:
        self._begins()
        await asyncio.Event().wait()
        raise AssertionError

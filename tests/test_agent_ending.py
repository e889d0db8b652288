"""Claims about the loop alone: when a run is done, and what breaks it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from tests.loop_run import CLICK, COVERED, FINISH, HALF, Ran, answered_at_cost, observation
from vision_agent.actions import Finish, Scroll
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
from vision_agent.events import Event
from vision_agent.models.offline.scripted import ScriptedJudge
from vision_agent.observation import Observation
from vision_agent.record.read import assemble, last_look
from vision_agent.record.store import RunInMemory
from vision_agent.types import Limits, Outcome, SuccessCheck, Usage, Verdict

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


async def test_a_false_done_names_every_check_that_fails_and_no_count_if_the_first_ends_the_run() -> None:
    checks = SuccessCheck(url="*/thanks"), SuccessCheck(url="about:*"), SuccessCheck(mark="Log out")
    ran = checked([[FINISH]], *checks, limits=Limits(false_completions=1))
    await ran.run()
    assert ran.ending[1] == (
        "The task is not done: the address must be */thanks, and is about:blank; "
        "'Log out' must be among the marks in view, and is not."
    )


async def test_a_done_that_holds_is_the_end() -> None:
    run = await checked([[FINISH]], SuccessCheck(url="about:*"), SuccessCheck(mark="go")).run()
    assert run.ending is not None
    assert run.ending.status == "done"
    assert run.ending.checked == ("the address is about:*", "a mark in view is called “go”")


async def test_a_done_of_a_task_without_checks_was_not_checked() -> None:
    run = await checked([[FINISH]]).run()
    assert run.ending is not None
    assert (run.ending.status, run.ending.checked) == ("done", ())


async def test_a_text_that_must_show_is_looked_for_on_the_page() -> None:
    missing = Outcome(status="refused", refusal="timed_out", sentence="“Order placed” did not show within 1 s.")
    ran = checked([[FINISH], [FINISH]], SuccessCheck(text="Order placed"), outcomes=[missing])
    run = await ran.run()
    assert "the page must show 'Order placed'" in run.steps[0].outcomes[0].sentence
    assert [act.kind for act in ran.browser.acts] == ["wait", "wait"]
    assert run.ending is not None
    assert run.ending.status == "done"


@pytest.mark.parametrize(
    ("pattern", "names", "why"),
    [
        ("invoice*.pdf", ["invoice_7.pdf"], ""),
        ("My invoice.pdf", ["a.txt", "My_invoice.pdf"], ""),
        ("invoice*.pdf", [], "a file named invoice*.pdf must have been downloaded, and nothing was"),
        ("invoice", ["invoice.pdf"], "a file named invoice must have been downloaded, and only invoice.pdf was"),
        ("i.pdf", ["i-pdf", "xi.pdf"], "must have been downloaded, and only i-pdf, xi.pdf was"),
    ],
)
async def test_a_done_without_the_download_that_must_have_come_goes_back(
    pattern: str, names: Sequence[str], why: str
) -> None:
    ran = checked([[FINISH]] * 3, SuccessCheck(download=pattern))
    browser = FakeBrowser([observation()], downloads=names)
    run = await Loop(ran.loop.record, browser, ran.model, ran.record).run()
    assert run.ok is not bool(why)
    assert why in run.steps[0].outcomes[0].sentence


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("42 apples", 'must be an object with "apples" (a whole number), "note", in JSON, and is the text "42 apples"'),
        ('{"apples": 42', "in JSON, and is JSON with a mistake in line 1, column 14"),
        ('{"apples": "42"}', '"apples" in the answer must be a whole number, and is the text "42"'),
        ("{}", 'the answer must have "apples", and has nothing'),
        ('{"apples": -1}', '"apples" in the answer must be 0 or more, and is the number -1'),
        ('{"apples": 1, "note": 2}', '"note" in the answer must be a text or null, and is the number 2'),
        ('{"apples": 1, "pears": 2}', 'the answer may have "apples", "note", and has "pears" too'),
    ],
)
async def test_an_answer_of_another_form_than_asked_for_goes_back(answer: str, why: str) -> None:
    apples = {"type": "integer", "minimum": 0}
    schema = {
        "type": "object",
        "properties": {"apples": apples, "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["apples"],
        "additionalProperties": False,
    }
    good = Finish(answer='{"apples": 42}')
    run = await checked([[Finish(answer=answer)], [good]], answer_schema=schema).run()
    assert why in run.steps[0].outcomes[0].sentence
    assert run.ending is not None
    assert run.ending.answer == good.answer


async def test_a_done_that_comes_with_other_actions_is_not_checked_against_the_page_before_them() -> None:
    run = await checked([[CLICK, FINISH], [FINISH]], SuccessCheck(url="about:*")).run()
    assert run.steps[0].outcomes[1].refusal == "not_verified"
    assert "call finish alone" in run.steps[0].outcomes[1].sentence
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
    assert ran.ending == ("limit", "A limit was reached: $0.20 of $0.15 were spent.")


async def test_no_judge_is_asked_when_the_budget_is_spent_and_nothing_is_called_done() -> None:
    decided = answered_at_cost(100).model_copy(update={"actions": (FINISH,)})
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
        ([ModelUnavailable("The judge declined.", "ask another")], "The judge declined (ask another)"),
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
    assert ran.events[-4:] == ["happened", "stepped", "last_look", "ended"]


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
    assert ran.ending[1].startswith("Internal error: IndexError")


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


# --- the last look ----------------------------------------------------------------------------------------------------


async def test_after_a_limit_the_page_is_looked_at_once_more() -> None:
    seen = [observation("o1"), observation("o2"), observation("o3")]
    ran = Ran([[CLICK]] * 9, limits=Limits(steps=2), observations=seen)
    await ran.run()
    assert ran.ending == ("limit", "A limit was reached: 2 steps were taken.")
    assert ran.events[-2:] == ["last_look", "ended"]
    last = last_look(ran.record.events)
    assert last is not None
    assert last.observation == seen[2]


async def test_what_was_looked_at_after_the_last_act_is_not_looked_at_again() -> None:
    ran = Ran([[CLICK], [FINISH]])
    await ran.run()
    assert "last_look" not in ran.events


class BlindAfterwards(FakeBrowser):
    """Cannot be observed once it has acted."""

    def __init__(self, trouble: Callable[[], Awaitable[None]]) -> None:
        super().__init__([observation()])
        self._trouble = trouble

    async def observe(self) -> Observation:
        if self.acts:
            await self._trouble()
        return await super().observe()


async def test_a_last_look_that_fails_changes_nothing_of_the_ending() -> None:
    async def lost() -> None:
        raise BrowserUnavailable("the browser was lost")

    ran = Ran([[CLICK]] * 9, limits=Limits(steps=1))
    loop = Loop(ran.loop.record, BlindAfterwards(lost), ran.model, ran.record)
    run = await loop.run()
    assert run.ending is not None
    assert run.ending.status == "limit"
    assert ran.ending == ("limit", "A limit was reached: 1 step was taken.")
    last = last_look(ran.record.events)
    assert last is not None
    assert (last.observation, last.problem) == (None, "the browser was lost")


async def test_a_run_that_is_cancelled_during_its_last_look_keeps_its_ending() -> None:
    is_looking = asyncio.Event()

    async def wait() -> None:
        is_looking.set()
        await asyncio.Event().wait()

    ran = Ran([[CLICK]] * 9, limits=Limits(steps=1))
    loop = Loop(ran.loop.record, BlindAfterwards(wait), ran.model, ran.record)
    running = asyncio.create_task(loop.run())
    await is_looking.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ran.ending[0] == "limit"


class StuckBrowser(FakeBrowser):
    """Never comes back from an act."""

    def __init__(self, begins: Callable[[], None]) -> None:
        super().__init__([observation()])
        self._begins = begins

    async def act(self, *_: object) -> Outcome:
        self._begins()
        await asyncio.Event().wait()
        raise AssertionError

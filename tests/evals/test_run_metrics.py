from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest

from vision_agent.actions import Click
from vision_agent.evals.run_metrics import run_metrics_of
from vision_agent.geometry import Size
from vision_agent.observation import Observation, Shot
from vision_agent.types import Decision, Ending, Outcome, Run, Step, Task, Usage, Verdict

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
SHOT = Shot(media_type="image/png", size=Size(width=9, height=9), sha256=hashlib.sha256(b"").hexdigest())
SEEN = Observation(
    id="o", epoch=1, url="about:blank", title="", taken_at=NOW, viewport=Size(width=9, height=9), listing="",
    clean=SHOT, marked=SHOT, timings={"settle": 0.25, "page": 0.5, "place": 0.125, "draw": 0.125},
)  # fmt: skip
CLICK = Click(target=1)
DONE = Outcome(status="done", effect="changed", sentence="", seconds=0.25)
COVERED = Outcome(status="refused", refusal="covered", sentence="", seconds=0.5)
NOT_REACHED = Outcome(status="refused", refusal="not_reached", sentence="")


def run(*steps: Step) -> Run:
    return Run(id="r", task=Task(goal="Save"), started_at=NOW, steps=steps, ending=Ending(status="done", sentence=""))


def step(*outcomes: Outcome, usage: Usage | None = None, **more: object) -> Step:
    decision = Decision(actions=(CLICK,) * len(outcomes), author="model", seconds=2.0, usage=usage)
    told = {"index": 1, "observation": SEEN, "decision": decision, "outcomes": outcomes, "started_at": NOW, **more}
    return Step.model_validate(told)


def test_seconds_are_split_by_who_worked() -> None:
    verdict = Verdict(done=True, reason="", model="m", seconds=1.0)
    figures = run_metrics_of(run(step(DONE, seconds=4.0), step(DONE, DONE, verdict=verdict, seconds=6.0)))

    assert figures.model_s == 2 * 2.0 + 1.0
    assert figures.page_s == 2 * (0.25 + 0.5) + 3 * 0.25
    assert figures.agent_s == 10.0 - figures.model_s - figures.page_s


def test_a_step_is_good_when_all_of_it_was_carried_out_and_refusals_are_counted_by_reason() -> None:
    half = COVERED.model_copy(update={"status": "partial"})
    figures = run_metrics_of(run(step(DONE), step(DONE, COVERED, NOT_REACHED), step(COVERED), step(half), step()))

    assert (figures.steps, figures.good_steps) == (5, 1)
    assert figures.refusals == {"covered": 2, "not_reached": 1}
    assert figures.ending == "done"


def test_tokens_and_money_are_those_of_every_reply_usable_or_not() -> None:
    known, more = Usage(input_tokens=100, output_tokens=5, cost_usd=0.25), Usage(output_tokens=7, cost_usd=0.5)
    assert run_metrics_of(run(step(DONE, usage=known, unused=(more,)))).tokens == 112
    assert run_metrics_of(run(step(DONE, usage=known, unused=(more,)))).cost_usd == 0.75
    assert run_metrics_of(run(step(DONE, usage=known), step(DONE, usage=Usage(output_tokens=1)))).cost_usd is None
    assert run_metrics_of(run(step(DONE))).cost_usd == 0


@pytest.mark.parametrize(("done", "said"), [(True, "done"), (False, "not_done"), (None, "cannot_tell")])
def test_what_a_judge_said_of_the_end_is_kept(done: bool | None, said: str) -> None:
    assert run_metrics_of(run(step(DONE), step(DONE, verdict=Verdict(done=done, reason="", model="m")))).judged == said


def test_a_verdict_after_which_the_run_went_on_is_none_of_its_end() -> None:
    assert run_metrics_of(run(step(DONE, verdict=Verdict(done=False, reason="", model="m")), step(DONE))).judged is None
    assert run_metrics_of(run()).judged is None

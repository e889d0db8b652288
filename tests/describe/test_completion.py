"""Claims about why a run is said to count as done: what was checked, and who said so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.loop_run import observation
from vision_agent.actions import Finish
from vision_agent.describe.completion import why_done
from vision_agent.types import (
    RECORDING,
    Approval,
    Choice,
    Decision,
    Ending,
    Outcome,
    Provenance,
    Run,
    Step,
    SuccessCheck,
    Task,
    Verdict,
)

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
DONE = Ending(status="done", sentence="The task is done.")
CHECKS = (SuccessCheck(url="*/thanks", text="Thank you"), SuccessCheck(mark="Log out", download="*.pdf"))
JUDGED = Verdict(done=True, reason="The page says so.", model="the judge")


def ended(
    author: str = "model", ending: Ending = DONE, model: str = "mine", checks: tuple[Any, ...] = (), **more: Any
) -> Run:
    finish = Decision.model_validate({"author": author, "model": model, "actions": (Finish(),)})
    approval = Approval(proposed=finish, choice=Choice(kind="approve")) if more.pop("approved", False) else None
    outcome = Outcome(status="done", effect="finished", sentence="The task is done.")
    step = Step(
        index=1, observation=observation(), decision=finish, outcomes=(outcome,), started_at=NOW, approval=approval,
        **more,
    )  # fmt: skip
    task = Task(goal="Buy tea", checks=checks)
    return Run(id="r1", task=task, provenance=Provenance(model=model), started_at=NOW, steps=(step,), ending=ending)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (ended(), "mine said that it is done; the task has no check."),
        (ended("steps"), "The step lines said that it is done; the task has no check."),
        (ended("human"), "A person said that it is done."),
        (ended("scripted", model=RECORDING), "A person ended the recording."),
        (ended(approved=True), "mine said that it is done, a person approved it; the task has no check."),
        (ended(verdict=JUDGED), "mine said that it is done, the judge judged so too."),
        (ended(ending=Ending(status="done", sentence="Done", checked=("the page shows “Thanks”",))),
         "The check held: the page shows “Thanks”. mine said that it is done."),
        (ended(ending=Ending(status="not_done", sentence="No")), ""),
    ],
)  # fmt: skip
def test_it_is_told_what_was_checked_and_who_said_so(run: Run, why: str) -> None:
    assert why_done(run) == why


def test_a_run_of_an_earlier_version_had_the_checks_of_its_task() -> None:
    told = why_done(ended("replay", checks=CHECKS))
    assert told == (
        "All 4 checks held: the address is */thanks; the page shows “Thank you”; a mark in view is called “Log out”; "
        "a file named *.pdf was downloaded. The recorded decisions said that it is done."
    )

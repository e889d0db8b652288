"""Claims about what a model is told of earlier steps, and what can be kept from it to measure what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from seen import mark, seen, shot, step, unchanged

from vision_agent.actions import Click, Read
from vision_agent.models.prompt.history import BLOCK
from vision_agent.models.prompt.prompt import Prompt, render
from vision_agent.settings import ModelSettings
from vision_agent.types import Outcome, Step, Task

READ = Outcome(status="done", effect="read", sentence="Read the page.", read="Order total 42.10 EUR")


def told(steps: Sequence[Step], **settings: Any) -> Prompt:
    return render(
        Task(goal="Sign in."), steps, seen(), redact=unchanged, settings=ModelSettings.model_validate(settings)
    )


def went(many: int) -> list[Step]:
    return [step(index, memory=f"fact {index}", summary=f"page {index}") for index in range(many)]


def test_with_data_an_entry_holds_what_was_remembered_and_read() -> None:
    (entry,) = told([step(0, Read(), outcome=READ, memory="Mugs cost 9.")], history="data").log
    assert "Memory: Mugs cost 9." in entry
    assert "Order total 42.10 EUR" in entry


def test_of_a_page_that_is_past_the_three_marks_that_mattered_are_told() -> None:
    names = ["Terms", "Cart", "Log in", "Sign in", "About", "Email to sign in with"]
    page = seen(*(mark(number, name, "link") for number, name in enumerate(names, 1)))
    assert (
        "Marks that mattered:\n2[:]<a>Cart\n4[:]<a>Sign in\n6[:]<a>Email to sign in with\nWhat"
        in told([step(0, Click(target=2), observation=page)]).log[0]
    )
    for settings in ({"ablate": ["filter"]}, {"ablate": ["listing"]}, {"history": "full"}):
        assert "Marks that mattered:\nnone\n" in told([step(0, Click(target=2), observation=page)], **settings).log[0]


def test_of_equal_names_on_a_page_that_is_past_it_is_told_which_one_was_meant() -> None:
    page = seen(listing="1[:]<button>Order ‹Soup›\n2[:]<button>Order ‹Fish›\n3[:]<button>Order ‹Salt›")
    (entry,) = told([step(0, Click(target=2), observation=page, next_goal="Order the fish")]).log
    assert "2[:]<button>Order ‹Fish›\n" in entry


def test_a_short_entry_holds_goals_what_came_of_them_and_what_was_remembered() -> None:
    first = step(0, Read(), outcome=READ, memory="Mugs cost 9.")
    (entry,) = told([first, step(1)], history="short").log
    assert entry == (
        '<step number="1">\nThe person said before it:\nnone\nJudgement of the step before: success\nGoal: goal 0\n'
        "Memory: Mugs cost 9.\n<page_text>\n1. read → done, read\n</page_text>\n</step>\n"
    )


def test_in_short_the_last_step_is_told_as_with_data() -> None:
    steps = [step(0), step(1, Read(), outcome=READ, memory="Mugs cost 9.")]
    short, data = told(steps, history="short"), told(steps, history="data")
    assert "Order total 42.10 EUR" in short.last
    assert (short.last, data.last) == (data.log[-1], "")
    assert told([], history="short").last == told(steps, history="short", ablate=["history"]).last == ""


def test_a_full_entry_begins_with_the_listing_of_its_page() -> None:
    (entry,) = told([step(0)], history="full").log
    assert entry.startswith("<page_text>\nThe page as it was in step 1:\n3[:]<input>Email\n")
    assert "Goal: goal 0" in entry


@pytest.mark.parametrize(("steps", "entries"), [(0, 0), (9, 9), (19, 19), (20, 1 + 10), (29, 1 + 19), (30, 2 + 10)])
def test_compressed_ten_steps_become_one_entry_once_ten_more_are_done(steps: int, entries: int) -> None:
    log = told(went(steps), history="compressed").log
    assert len(log) == entries
    if steps >= 2 * BLOCK:
        assert log[0].startswith('<step number="1 to 10">')
        assert "fact 0\n" in log[0]
        assert "\n7. goal 6: 1. click [12] → done, changed\n" in log[0]
        assert log[-1].startswith(f'<step number="{steps}">')


@pytest.mark.parametrize("history", ["full", "short", "data", "compressed"])
def test_the_log_begins_as_it_did_the_step_before_but_where_a_block_is_compressed(history: str) -> None:
    logs = [told(went(many), history=history).log for many in range(41)]
    changed = [many for many in range(1, 41) if logs[many][: len(logs[many - 1])] != logs[many - 1]]
    assert changed == ([20, 30, 40] if history == "compressed" else [])


def test_the_picture_of_the_step_before_can_come_along() -> None:
    before = step(0, observation=seen(marked=shot(b"before")))
    prompt = told([before], previous_picture=True)
    assert [each.data for each in prompt.pictures] == [b"before", seen().marked.data]
    assert prompt.now.startswith("Above is the page as it was in the step before, and below that the page now, 640×400")
    assert len(told([], previous_picture=True).pictures) == 1


def test_each_part_can_be_kept_from_the_model() -> None:
    steps = [step(0, memory="Mugs cost 9.")]
    whole = told(steps)
    assert "[:]<button>Sign in" in whole.now
    assert whole.pictures == (seen().marked,)
    assert told(steps, ablate=["picture"]).pictures == ()
    assert told(steps, ablate=["picture"]).now.startswith("No picture is given this time. The page is 640×400")
    assert told(steps, ablate=["marks"]).pictures == (seen().clean,)
    assert "[:]<button>Sign in" not in told(steps, ablate=["listing"]).now + told(steps, ablate=["listing"]).log[0]
    assert "Mugs" not in told(steps, ablate=["memory"]).log[0]
    assert told(steps, ablate=["history"]).log == ()

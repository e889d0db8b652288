"""A replay accepts a question of the browser's own dialogs only if the record accepted it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import BrowserContext

from tests.conftest import Server
from tests.sessions import record_lines, replay_run
from vision_agent import Settings, Task
from vision_agent.policy.recorded_dialogs import objection
from vision_agent.settings import ApprovalSettings, EventSettings

CONFIRM = """<title>Files</title><label>File <input id=f></label>
<button onclick="if (confirm(`%s`.replace('FILE', f.value))) document.title = 'Deleted'">Clean up</button>"""


async def test_a_replay_dismisses_a_question_that_the_record_did_not_accept_and_says_both(
    serve: Server, context: BrowserContext, tmp_path: Path
) -> None:
    pages = {"/": CONFIRM % "Delete 1 item of FILE?"}
    settings = Settings(
        runs=tmp_path / "runs", events=EventSettings(dialogs="accept"), approval=ApprovalSettings(ask="never")
    )
    task = Task(goal="Clean up a.txt", user_data={"file": "a.txt"}, start_url=serve(pages))
    lines = ['type "a.txt" into File', "click Clean up", "finish"]
    folder = await record_lines(lines, task, context, settings)

    async def title(question: str, **more: Any) -> tuple[str, str]:
        pages["/"] = CONFIRM % question
        return await replay_run(folder, context, settings, **more)

    assert (await title("Delete 1 item of FILE?"))[0] == "Deleted"
    assert (await title("Delete 1 item of FILE?", values={"file": "b.txt"}))[0] == "Deleted"
    stayed, sentence = await title("Delete all 500 items of FILE?")
    assert stayed == "Files"
    said = (
        'said "Delete all 500 items of a.txt?" and was dismissed, because the record accepted "Delete 1 item of a.txt?"'
    )
    assert said in sentence


@pytest.mark.parametrize(
    ("was", "now", "is_accepted"),
    [
        ("Delete 1 item?", "Delete 1  item?", True),
        ("Delete 1 item?", "Delete 2 items?", False),
        ("Delete 2 items?", "Delete 1 items?", False),
        ("Pay 5 EUR?", "Pay 500 EUR?", False),
        ("Send to Ann?", "Send to Bob?", False),
        ("It is 10:42. Save?", "It is 11:05. Save?", True),
        ("Delete 1 item?", "Are you sure?", False),
        ("Delete 1 item?" + " x" * 200, "Delete 1 item?" + " x" * 200, False),
    ],
)
def test_a_question_is_the_recorded_one_but_for_times(was: str, now: str, is_accepted: bool) -> None:
    assert (objection([was[:199] + "…" if len(was) > 200 else was])(now) == "") == is_accepted


def test_another_number_that_is_given_explains_another_amount_but_no_other_name() -> None:
    may = objection(["Pay 5 EUR to Ann?"], has_other_values=True)
    assert may("Pay 15 EUR to Ann?") == ""
    assert may("Pay 15 EUR to Bob?") == 'because the record accepted "Pay 5 EUR to Ann?"'


def test_a_record_without_questions_accepts_none() -> None:
    assert objection([])("Really?") == "because the record accepted no such question"

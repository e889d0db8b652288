"""Claims about the questions that a person is asked."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from vision_agent.actions import Ask
from vision_agent.cli.options import TerminalPerson
from vision_agent.policy.interrupted import InterruptedStep
from vision_agent.policy.oversight import Oversight
from vision_agent.settings import ApprovalSettings
from vision_agent.types import Decision


async def test_an_answer_that_is_neither_yes_nor_no_is_told_what_may_be_said() -> None:
    asked, answers = list[str](), iter(["maybe", "Yes."])

    async def person(question: str) -> str:
        asked.append(question)
        return next(answers)

    oversight = Oversight(cast("Any", None), ApprovalSettings(), person, None)
    assert await oversight.yes_or_no("Was it done?", 3) is True
    assert asked == ["Was it done?", "“maybe” is neither yes nor no. Was it done?"]


async def test_nothing_else_moves_in_the_terminal_while_a_question_is_open(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    person, shown = TerminalPerson(), list[str]()
    person.hush = lambda: shown.append(capsys.readouterr().out)
    monkeypatch.setattr("sys.stdin", io.StringIO("blue\n"))
    assert await person("Which one?") == "blue"
    assert shown == [""]
    assert "Which one?" in capsys.readouterr().out


async def test_a_terminal_that_is_closed_at_a_question_gives_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert await TerminalPerson()("Which one?") is None


def test_a_run_that_was_interrupted_while_it_asked_says_so() -> None:
    action = Ask(question="Which one?")
    cut = InterruptedStep(
        index=2,
        observation=cast("Any", None),
        decision=Decision(actions=(action,), author="model"),
        started_at=datetime.now(UTC),
    )
    assert cut.unfinished(action, begun=True).sentence.startswith("The run was interrupted while a question was open;")

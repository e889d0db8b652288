"""The commands that forms become: a form chooses values of a few options, and nothing else."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pydantic import ValidationError

from vision_agent.ui.orders import (
    ReplayForm,
    ResumeForm,
    StartForm,
    faults_of,
    replay_order,
    resume_order,
    start_order,
)

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
RUNS = Path("/runs")


@pytest.mark.parametrize("text", ["--headed", "-x", "--", "--dry-run --cdp=http://evil.example", "$(touch x)\n--trace"])
def test_what_a_person_writes_is_never_an_option(text: str) -> None:
    order = start_order(StartForm(url=text, goal=text, model="claude-sonnet-5-5"), RUNS, NOW)
    end = order.arguments.index("--")
    assert order.arguments[end:] == ("--", text, text)
    assert order.arguments[:end] == (
        "run",
        "--runs=/runs",
        f"--name={order.folder.name}",
        "--model=anthropic:claude-sonnet-5-5",
        "--approve=never",
    )


def test_how_a_person_wants_it_done_is_a_value_of_its_own() -> None:
    order = start_order(StartForm(url="shop.example", goal="Buy tea", instructions=" --headed\nand cheap "), RUNS, NOW)
    assert "--instructions=--headed\nand cheap" in order.arguments[: order.arguments.index("--")]


def test_step_lines_come_on_stdin_and_limits_and_approval_as_values() -> None:
    form = StartForm.model_validate(
        {
            "url": "shop.example",
            "decides": "steps",
            "steps": "click Buy\r\nfinish",
            "max_steps": "5",
            "max_seconds": "90",
            "max_cost": "0.5",
            "approve": "always",
        }
    )
    order = start_order(form, RUNS, NOW)
    assert order.stdin == "click Buy\nfinish\n"
    assert order.arguments[3:] == (
        *("--steps=-", "--max-steps=5", "--max-seconds=90", "--max-cost=0.5", "--approve=always", "--supervise"),
        *("--", "shop.example"),
    )


def test_the_command_that_is_shown_does_the_same_when_it_is_pasted_into_a_shell(tmp_path: Path) -> None:
    program = tmp_path / "vision-agent"
    program.write_text("#!/bin/sh\nprintf '%s|' \"$@\"; echo; cat\n", "utf-8")
    program.chmod(0o755)
    lines = 'type "$HOME `it\'s` \\\\n" into Name\nLINES\nfinish'
    form = StartForm(url="shop.example", goal="Buy 'two'", decides="steps", steps="finish")
    form = form.model_copy(update={"steps": lines})  # also what the form itself refuses
    for order in (start_order(form, RUNS, NOW), replay_order(ReplayForm(), RUNS / "--name=r", RUNS, NOW)):
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        shell = {"input": order.shown, "env": {"PATH": path}, "capture_output": True, "text": True, "check": True}
        told = subprocess.run(["sh"], **shell).stdout
        arguments, _, stdin = told.partition("|\n")
        own = [each for each in order.arguments if each != f"--name={order.folder.name}"]
        assert arguments == "|".join(own)
        assert stdin == order.stdin


def test_a_run_is_resumed_and_replayed_by_its_folder() -> None:
    folder = RUNS / "--evil"
    resumed = resume_order(ResumeForm(max_steps=60, approve="risky"), folder)
    assert resumed.arguments == ("resume", "--max-steps=60", "--approve=risky", "--supervise", "--", str(folder))
    again = replay_order(ReplayForm(approve="never"), folder, RUNS, NOW)
    assert again.arguments == (
        *("replay", "--runs=/runs", f"--name={again.folder.name}", "--approve=never"),
        *("--", str(folder)),
    )


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"model": "--headed"}, "model"),
        ({"model": "human"}, "model"),
        ({"model": "a b"}, "model"),
        ({"model": "os:system"}, "model"),
        ({"url": ""}, "url"),
        ({"url": "shop.example\0"}, "url"),
        ({"goal": ""}, ""),
        ({"goal": "x" * 20_001}, "goal"),
        ({"decides": "steps", "steps": "# nothing\n\n"}, ""),
        ({"decides": "steps", "steps": "click Order\nklick Order"}, ""),
        ({"decides": "human"}, "decides"),
        ({"approve": "sometimes"}, "approve"),
        ({"max_steps": "0"}, "max_steps"),
        ({"max_cost": "-1"}, "max_cost"),
        ({"max_seconds": "inf"}, "max_seconds"),
        ({"headed": "true"}, "headed"),
        ({"policy": "/etc/passwd"}, "policy"),
    ],
)
def test_a_form_with_anything_else_is_refused_at_its_field(wrong: dict[str, str], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        StartForm.model_validate({"url": "shop.example", "goal": "Buy", **wrong})
    assert [".".join(map(str, each["loc"])) for each in refused.value.errors()] == [field]


def test_what_is_wrong_with_a_field_is_said_as_in_the_terminal() -> None:
    wrong = {"url": "shop.example", "goal": "Buy", "max_steps": "0", "max_seconds": "soon", "model": "a b"}
    with pytest.raises(ValidationError) as refused:
        StartForm.model_validate(wrong)
    assert faults_of(refused.value) == {
        "max_steps": "It must be 1 or more",
        "max_seconds": "It must be a number",
        "model": "Give the name of a model, such as anthropic:claude-sonnet-5-5",
    }

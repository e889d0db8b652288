from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from vision_agent.errors import UsageError
from vision_agent.evals.suites.suite_file import read_pages, read_suite
from vision_agent.types import Limits, SuccessCheck

TOML = """
start_url = "https://example.org/notes"
seeds = 3
limits = { steps = 10 }
instructions = "Never sign up"

[[tasks]]
id = "save"
goal = "Save the note"
expect = ["text=Saved", "url=*/notes?a=b"]
steps = ["click Save", "finish"]

[[tasks]]
id = "leave"
goal = "Sign out"
start_url = "https://example.org/"
limits = { steps = 4 }
"""
YAML = """
start_url: https://example.org/notes
seeds: 3
limits: {steps: 10}
instructions: Never sign up
tasks:
  - id: save
    goal: Save the note
    expect: ["text=Saved", "url=*/notes?a=b"]
    steps: [click Save, finish]
  - id: leave
    goal: Sign out
    start_url: https://example.org/
    limits: {steps: 4}
"""
PYTHON = """
suite = {
    "start_url": "https://example.org/notes", "seeds": 3, "limits": {"steps": 10}, "instructions": "Never sign up",
    "tasks": [
        {"id": "save", "goal": "Save the note", "expect": ["text=Saved", "url=*/notes?a=b"],
         "steps": ["click Save", "finish"]},
        {"id": "leave", "goal": "Sign out", "start_url": "https://example.org/", "limits": {"steps": 4}},
    ],
}
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_toml_yaml_and_python_say_the_same(tmp_path: Path) -> None:
    files = {"notes.toml": TOML, "notes.yaml": YAML, "notes.yml": YAML, "notes.py": PYTHON}
    suites = [read_suite(written(tmp_path, name, text)) for name, text in files.items()]

    assert all(suite == suites[0] for suite in suites)
    save, leave = suites[0].tasks
    assert suites[0].name == "notes"
    assert suites[0].seeds == 3
    assert save.checks == (SuccessCheck(text="Saved"), SuccessCheck(url="*/notes?a=b"))
    assert (save.start_url, leave.start_url) == ("https://example.org/notes", "https://example.org/")
    assert (save.instructions, leave.instructions) == ("Never sign up", "Never sign up")
    assert (save.limits, leave.limits) == (Limits(steps=10), Limits(steps=4))


def test_a_python_file_may_make_its_tasks_in_a_loop(tmp_path: Path) -> None:
    text = 'suite = [{"id": f"n{n}", "goal": f"Click {n}", "start_url": "https://example.org/"} for n in range(3)]'
    assert [task.id for task in read_suite(written(tmp_path, "loop.py", text)).tasks] == ["n0", "n1", "n2"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "tasks = [", "cannot be read: "),
        ("a.yaml", "tasks: [", "cannot be read: while parsing"),
        ("a.yaml", "just words", "is a str"),
        ("a.yaml", "", "is empty"),
        ("a.toml", "", "is not valid: tasks: Field required"),
        ("a.toml", "tasks = []", "is not valid: tasks: Tuple should have at least 1 item"),
        ("a.toml", 'tasks = ["save"]', "task 1: Input should be"),
        ("a.toml", '[[tasks]]\nid = "save"\ngoal = "Save"', "task 'save', start_url: Field required"),
        (
            "a.toml",
            TOML.replace("expect", "expects"),
            "task 'save': there is no field `expects`; did you mean `expect`\\?",
        ),
        (
            "a.toml",
            "colour = 1\n" + TOML,
            "is not valid: there is no field `colour` \\(the fields of a task are id, goal,",
        ),
        ("a.toml", TOML.replace("text=Saved", "txt=Saved"), "task 'save', expect: expect 'txt=Saved' does not name"),
        ("a.toml", TOML.replace('id = "leave"', 'id = "save"'), "two tasks called save"),
        ("a.toml", TOML.replace("click Save", "dance"), "task 'save': Line 1, 'dance': it begins with 'dance'"),
        ("a.py", "tasks = []", "must set `suite = \\[...\\]`"),
        ("a.py", "1 / 0", "cannot be run: ZeroDivisionError: division by zero"),
        ("a.json", "{}", "it must end in one of .toml, .yaml, .yml, .py"),
    ],
)
def test_what_does_not_fit_is_said_with_its_task_and_key(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_suite(written(tmp_path, name, text))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_suite(tmp_path / "none.toml")


PAGES = """
start_url = "https://example.org/notes"

[[tasks]]
id = "save"
goal = "Save the note"
reference = "click Save"

[[tasks]]
id = "leave"
goal = "Sign out"
start_url = "https://example.org/"
reference = ["click Sign out", "click Leave"]
at = 2026-03-04T09:30:00Z
"""


def test_a_list_of_pages_has_the_form_of_a_suite_and_says_what_is_right_on_each(tmp_path: Path) -> None:
    [save, leave] = read_pages(written(tmp_path, "pages.toml", PAGES))
    assert (save.start_url, save.reference, save.at) == ("https://example.org/notes", ("click Save",), None)
    assert leave.reference == ("click Sign out", "click Leave")
    assert leave.at == datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("goal", "gaol", r"is not valid: (?!.*Tuple should).*task 'save', goal: Field required"),
        ('reference = "click Save"', "", r"The list of pages .* is not valid: task 'save', reference: Field required"),
        ('reference = "click Save"', "reference = []", "task 'save', reference: Tuple should have at least 1 item"),
        ('reference = "click Save"', 'reference = "press"', "task 'save': Line 1, 'press': it is not complete"),
        ('reference = "click Save"', 'expect = ["text=Saved"]', "task 'save': there is no field `expect`"),
        ('"save"', '"a/b"', "task 'a/b', id: String should match pattern"),
        ('"save"', '"leave"', "two tasks called leave"),
        ("09:30:00Z", "09:30:00", "task 'leave', at: Input should have timezone info"),
    ],
)
def test_a_list_of_pages_that_does_not_fit_is_refused_with_the_task_and_the_key(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    assert old in PAGES
    with pytest.raises(UsageError, match=said):
        read_pages(written(tmp_path, "pages.toml", PAGES.replace(old, new, 1)))

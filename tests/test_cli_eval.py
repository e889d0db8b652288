"""Claims about `vision-agent eval` and `compare`, each tested in a real process without a browser."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.ready_python import python
from vision_agent.evals.items import ItemResult, make_item, write_result
from vision_agent.settings import Settings

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


def vision_agent(*args: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    bare = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_AUTH_TOKEN"))}
    return subprocess.run(
        [python(), "-m", "vision_agent", *map(str, args)],
        env={**bare, "NO_COLOR": "1", "COLUMNS": "200", **environment},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["eval", "dance"], 2, "Unknown suite 'dance' (known: fixtures, miniwob, canvas, frozen, grounding; or name"),
        (["eval", "none.yaml"], 2, "There is no suite in none.yaml"),
        (["eval", "torn.yaml"], 2, "The suite torn.yaml cannot be read: while parsing"),
        (
            ["eval", "fixtures", "--model", "dance"],
            2,
            "Unknown model 'dance' (known: <provider>:<model>, module:Class, random, match",
        ),
        (["eval", "fixtures", "--model", "my.Wordy"], 2, "'my.Wordy' (did you mean my:Wordy? known: <provider>:"),
        (["eval", "fixtures", "--model", "dance:x"], 2, "Unknown model 'dance:x'"),
        (["eval", "fixtures", "--model", "openai:"], 5, "openai: cannot be asked"),
        (["eval", "fixtures", "--model", "anthropic:claude-sonnet-5-5"], 5, "ANTHROPIC_API_KEY is not set"),
        (["eval", "fixtures", "--model", "match", "--only", "seats/book"], 2, "no task 'seats/book' (the nearest of"),
        (["eval", "fixtures", "--model", "match", "--pages", "."], 2, "--pages works only with the suite miniwob"),
        (["eval", "frozen", "--model", "match"], 2, "The suite frozen needs a folder"),
        (["eval", "frozen", ".", "--model", "match"], 2, ". has no frozen pages (create some: vision-agent freeze"),
        (["eval", "fixtures", "."], 2, "The suite fixtures takes no folder"),
        (["eval", "fixtures", "--model", "solver"], 2, "`solver` cannot solve"),
        (
            ["eval", "fixtures", "--model", "match", "--ablate", "colour"],
            2,
            "does not know 'colour' (known are picture,",
        ),
        (["eval", "fixtures", "--model", "match", "--ablate", "picture"], 2, "--ablate has no effect on match"),
        (
            ["eval", "fixtures", "--model", "match", "--variant", "upside-down"],
            2,
            "Unknown variant 'upside-down' (known: all,",
        ),
        (["eval", "miniwob", "--model", "match", "--pages", "."], 2, "There are no MiniWoB++ tasks in"),
        (["freeze", "torn.yaml", ".", "--out", "evals"], 2, "A list of pages cannot be combined"),
        (["freeze", ".", "--out", "evals", "--viewport", "800x600"], 2, "Runs are frozen without a browser"),
        (["compare", "."], 2, "There are no results in ."),
        (["compare", ".", "--json", "--csv"], 2, "give one of them"),
    ],
)
def test_what_cannot_be_is_said_in_one_sentence(tmp_path: Path, args: list[str], code: int, said: str) -> None:
    (tmp_path / "torn.yaml").write_text("tasks: [", "utf-8")
    done = vision_agent(*args, cwd=tmp_path)

    assert done.returncode == code
    assert [json.loads(each)["exit_code"] for each in done.stdout.splitlines()] == [2] * ("--json" in args)
    (line,) = done.stderr.splitlines()
    assert line.startswith("vision-agent: ")
    assert said in line


def test_a_key_in_the_settings_is_not_taken_for_another_provider_s_model(tmp_path: Path) -> None:
    (tmp_path / "vision-agent.toml").write_text(
        'model = {name = "openai:gpt-5.4", api_key = "of-openai", base_url = "http://127.0.0.1:9"}', "utf-8"
    )
    own = tmp_path / "own"
    assert vision_agent("trust", cwd=tmp_path, XDG_DATA_HOME=str(own)).returncode == 0
    done = vision_agent(
        "eval", "fixtures", "--model", "google:gemini-3-pro-preview", cwd=tmp_path, XDG_DATA_HOME=str(own)
    )

    assert done.returncode == 5
    assert "google:gemini-3-pro-preview cannot be asked" in done.stderr
    assert not (tmp_path / "evals").exists()


def test_a_suite_is_named_like_a_command_and_both_are_in_the_help(tmp_path: Path) -> None:
    shown = vision_agent("eval", "--help", cwd=tmp_path).stdout
    assert "perception" in shown
    assert "SUITE" in shown
    assert "--episode-seconds" in vision_agent("eval", "miniwob", "--help", cwd=tmp_path).stdout


def test_compare_prints_what_evaluations_left_in_each_form(tmp_path: Path) -> None:
    for task in "abc":
        for model in ("match", "random"):
            passed = model == "match"
            item = make_item("notes", task, 1, model, Settings())
            kept = ItemResult(item=item, score=float(passed), passed=passed, started_at=NOW, seconds=1.0)
            write_result(kept, tmp_path / "evals")

    told = json.loads(vision_agent("compare", "evals", "--json", cwd=tmp_path).stdout)
    assert [(row["label"], row["passed"], row["scored"]) for row in told["rows"]] == [("match", 3, 3), ("random", 0, 3)]
    assert told["pairs"][0]["p"] == 0.25
    lines = list(csv.DictReader(io.StringIO(vision_agent("compare", "evals", "--csv", cwd=tmp_path).stdout)))
    assert [line["success"] for line in lines] == ["1.0", "0.0"]
    assert "| random | 0/3 = 0% [0, 56] |" in vision_agent("compare", "evals", "--markdown", cwd=tmp_path).stdout
    done = vision_agent("compare", "evals", cwd=tmp_path)
    assert done.returncode == 0
    assert "match → random" in done.stdout
    told = json.loads(vision_agent("compare", "evals", "--json", "--tasks", cwd=tmp_path).stdout)
    assert [(each["task"], each["settings"]["match"]["passed"]) for each in told["tasks"]] == [
        ("a", 1),
        ("b", 1),
        ("c", 1),
    ]
    (tmp_path / "told").mkdir()
    done = vision_agent("compare", "evals", "--csv", "--tasks", "--html", "told/page.html", cwd=tmp_path)
    assert done.stdout.splitlines()[1] == "notes,a,match,1,1,1,0,0"
    assert "<title>Results: notes</title>" in (tmp_path / "told" / "page.html").read_text("utf-8")

"""Claims about `vision-agent runs` and about `latest`, each tested in a real process."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from record_builder import small_run, task, write_run

from tests.ready_python import python
from vision_agent.cli.main import app
from vision_agent.cli.options import named_beginning, named_run
from vision_agent.cli.runs import start_shown
from vision_agent.errors import UsageError, VisionAgentError
from vision_agent.events import Ended
from vision_agent.types import Ending


def vision_agent(folder: Path, *args: str, columns: str = "80", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python(), "-m", "vision_agent", *args],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": columns, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a run of last year and one of an hour ago."""
    for run_id, age in (("old", timedelta(days=365)), ("new", timedelta(hours=1))):
        write_run(tmp_path / "runs", small_run(run_id=run_id, started_at=datetime.now(UTC) - age))
    return tmp_path


def test_runs_are_listed_in_eighty_columns_with_what_each_took(folder: Path) -> None:
    said = vision_agent(folder, "runs").stdout

    assert all(len(line) <= 80 for line in said.splitlines())
    new, old = (line for line in said.splitlines() if "done" in line)
    assert new.split()[:4] == ["new", "✓", "done", "2"]
    assert "Put the large wool" in new
    assert old.split()[0] == "old"


def test_a_failed_run_has_its_reason_below_its_goal_and_step_lines_the_name_of_their_file(tmp_path: Path) -> None:
    about = task(goal="Follow the step lines in buy.txt")
    *events, _end = small_run(run_id="new", started_at=datetime.now(UTC), task=about)
    ending = Ending(status="not_done", sentence="There is no Order here.")
    write_run(tmp_path / "runs", [*events, Ended(ending=ending)])

    lines = [line.strip() for line in vision_agent(tmp_path, "runs").stdout.splitlines()]

    at = next(number for number, line in enumerate(lines) if line.startswith("new"))
    assert lines[at].endswith("buy.txt")
    assert lines[at + 1] == "There is no Order here."


def test_a_wide_terminal_shows_when_each_run_began(folder: Path) -> None:
    wide, narrow = (vision_agent(folder, "runs", columns=columns).stdout for columns in ("120", "80"))

    last_year = (datetime.now(UTC) - timedelta(days=365)).astimezone()
    assert f"{last_year:%Y-%m-%d}" in wide
    assert "started" not in narrow


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (datetime(2026, 3, 4, 14, 5, tzinfo=UTC), "14:05"),
        (datetime(2026, 3, 2, 14, 5, tzinfo=UTC), "Mon 14:05"),
        (datetime(2026, 2, 26, 14, 5, tzinfo=UTC), "Thu 14:05"),
        (datetime(2026, 2, 25, 14, 5, tzinfo=UTC), "2026-02-25"),
        (datetime(2026, 3, 5, 14, 5, tzinfo=UTC), "2026-03-05"),
    ],
)
def test_the_start_of_a_run_is_as_short_as_is_clear(at: datetime, shown: str) -> None:
    assert start_shown(at, datetime(2026, 3, 4, 15, 0, tzinfo=UTC)) == shown


def test_the_list_is_one_json_array_for_programs(folder: Path) -> None:
    (found,) = json.loads(vision_agent(folder, "runs", "--json", "--most", "1").stdout)

    assert found["folder"] == "runs/new"
    assert (found["status"], found["steps"]) == ("done", 2)


def test_runs_of_a_day_are_found_by_its_date_or_its_name(folder: Path) -> None:
    day = (datetime.now(UTC) - timedelta(hours=1)).astimezone().date()
    (found,) = json.loads(vision_agent(folder, "runs", "--json", "--day", day.isoformat()).stdout)
    by_name = json.loads(vision_agent(folder, "runs", "--json", "--day", f"{day:%A}").stdout)

    assert found["folder"] == "runs/new"
    assert [each["folder"] for each in by_name] == ["runs/new"]


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["runs", "--status", "zz"], 2, "There is no status 'zz' (known are failed, done"),
        (["runs", "--status", "fail"], 2, "There is no status 'fail' (did you mean failed?"),
        (["runs", "--older-than", "soon"], 2, "such as 30d"),
        (
            ["runs", "rm", "--older-than", "1m", "--yes"],
            2,
            "may mean minutes or months (write 1min, or 30d for months)",
        ),
        (["runs", "--older-than", "2M"], 2, "(write 2min, or 60d for months)"),
        (["runs", "--day", "someday"], 2, "such as 2026-11-24, today, yesterday or tuesday"),
        (["runs", "rm", "runs/old", "--day", "today"], 2, "cannot be combined"),
        (["runs", "rm"], 2, "Nothing says which runs to delete"),
        (["runs", "rm", "runs/old", "--older-than", "1d"], 2, "cannot be combined"),
        (["runs", "rm", "--older-than", "30d"], 2, "give --yes"),
        (["runs", "rm", "runs/old"], 2, "Nobody is there to confirm deleting 1 run (give --yes)"),
        (["runs", "rm", "runs/nope"], 2, "There is no run folder runs/nope"),
        (["runs", "rm", "runs/old", "runs"], 2, "runs is not a run folder, and nothing else is deleted"),
        (["runs", "rm", "--yes", "runs/old", "runs/nope"], 2, "There is no run folder runs/nope"),
        (["verify", "latest", "--head", "0" * 64], 1, "runs/new"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_deletes_nothing(
    folder: Path, args: list[str], code: int, said: str
) -> None:
    done = vision_agent(folder, *args)

    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert sorted(each.name for each in (folder / "runs").iterdir()) == ["new", "old"]


def test_several_records_are_verified_with_a_line_for_each_and_the_worst_exit_code(folder: Path) -> None:
    both = ("verify", "runs/new", "runs/old")
    done = vision_agent(folder, *both)
    assert done.returncode == 0, done.stderr
    new, old, note = done.stdout.splitlines()
    assert (new.split(";")[0], old.split(";")[0]) == ("runs/new: everything holds", "runs/old: everything holds")
    assert note.startswith("Without --head")

    (folder / "runs" / "new" / "steps.jsonl").write_text("{}\n", "utf-8")
    done = vision_agent(folder, *both, "runs/none")
    assert done.returncode == 2
    new, old, none, _note = done.stdout.splitlines()
    assert "runs/new" in new
    assert "everything holds" not in new
    assert "runs/old: everything holds" in old
    assert none.startswith("runs/none: There is no run")

    for option in (["--json"], ["--head", "0" * 64]):
        done = vision_agent(folder, *both, *option)
        assert done.returncode == 2
        assert f"{option[0]} is for one run, not 2 (verify them one by one)" in done.stdout + done.stderr


def test_the_name_of_a_film_is_checked_before_the_report_is_written(folder: Path) -> None:
    done = vision_agent(folder, "report", "runs/new", "--animate", "film.avi")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'film.avi' is not a supported film format" in done.stderr
    assert not (folder / "runs" / "new" / "report.html").exists()


def test_old_runs_are_deleted_and_others_stay(folder: Path) -> None:
    done = vision_agent(folder, "runs", "rm", "--older-than", "30d", "--yes")

    assert (done.returncode, done.stdout, done.stderr) == (0, "1 run deleted.\n", "  runs/old\n")
    assert [each.name for each in (folder / "runs").iterdir()] == ["new"]


@pytest.mark.parametrize(
    ("how", "left"), [(["--keep", "1"], ["new"]), (["--older-than", "30d", "--keep", "2"], ["new", "old"])]
)
def test_the_newest_runs_stay_if_they_are_to_be_kept(folder: Path, how: list[str], left: list[str]) -> None:
    assert vision_agent(folder, "runs", "rm", *how, "--yes").returncode == 0
    assert sorted(each.name for each in (folder / "runs").iterdir()) == left


@pytest.mark.parametrize(("answer", "code", "left"), [("n", 1, ["new", "old"]), ("y", 0, ["new"])])
def test_a_person_is_asked_first_and_sees_which_runs_would_go(
    folder: Path, answer: str, code: int, left: list[str]
) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    done = subprocess.run(
        [python(), "-m", "vision_agent", "runs", "rm", "--older-than", "30d"],
        cwd=folder,
        stdin=theirs,
        capture_output=True,
        text=True,
        timeout=150,
    )
    os.close(ours)
    os.close(theirs)

    assert done.returncode == code
    assert "runs/old" in done.stderr
    assert sorted(each.name for each in (folder / "runs").iterdir()) == left


def test_latest_is_the_run_that_was_started_last_unless_a_folder_is_called_that(folder: Path) -> None:
    assert "runs/new: everything holds" in vision_agent(folder, "verify", "latest").stdout

    (folder / "runs" / "old").rename(folder / "latest")
    assert "latest: everything holds" in vision_agent(folder, "verify", "latest").stdout


def test_a_run_is_named_as_the_list_names_it_unless_something_here_is_called_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert named_run(Path("old")) == Path("runs/old")
    assert named_beginning("old:1", None) == "runs/old:1"
    (folder / "runs").rename(folder / "ci")
    assert named_run(Path("old"), Path("ci")) == Path("ci/old")
    for other in ("old", "..", "ci/../ci/old", "nope"):
        assert named_run(Path(other)) == Path(other)
    (folder / "old").mkdir()
    assert named_run(Path("old"), Path("ci")) == Path("old")


def test_a_list_is_printed_where_the_terminal_lacks_its_letters(folder: Path) -> None:
    done = vision_agent(folder, "runs", PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert (done.returncode, done.stderr) == (0, "")
    assert r"\u2713 done" in done.stdout


@pytest.mark.parametrize("command", [["run"], ["run", "--help"], ["runs"]])
@pytest.mark.parametrize("environment", [{"GITHUB_ACTIONS": "true"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_a_pipe_gets_no_escapes(folder: Path, command: list[str], environment: dict[str, str]) -> None:
    done = vision_agent(folder, *command, **{"NO_COLOR": "", **environment})

    assert done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "latest"],
        ["report", "latest"],
        ["export", "latest", "--to=cere", "--out=new.cere"],
        ["diff", "latest", "ci/new"],
        ["replay", "latest", "--variables"],
        ["resume", "latest"],
        ["memory", "add", "latest", "--confirm", "--memory=kept"],
        ["freeze", "latest", "--any-ending", "--out=pages"],
        ["runs", "rm", "latest", "--yes"],
    ],
    ids=lambda command: command[0],
)
def test_latest_is_looked_for_in_the_folder_of_runs_that_is_named(
    command: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "runs").rename(folder / "ci")
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match="There is no run in runs"):
        app(command, standalone_mode=False)
    said = ""
    try:
        app([*command, "--runs", "ci"], standalone_mode=False)
    except VisionAgentError as error:  # what this run has is not enough for some
        said = str(error)
    assert "There is no run" not in said


def test_without_a_run_there_is_no_latest(tmp_path: Path) -> None:
    done = vision_agent(tmp_path, "report", "latest")

    assert done.returncode == 2
    assert "There is no run in runs" in done.stderr


def test_in_the_folder_of_a_batch_the_runs_of_its_rows_are_listed_and_none_is_deleted(tmp_path: Path) -> None:
    for row in ("0001-aa", "0002-bb"):
        write_run(tmp_path / "orders" / row, small_run(run_id="run", started_at=datetime.now(UTC)))

    listed = vision_agent(tmp_path, "runs", "--runs", "orders", "--status", "done").stdout
    deleted = vision_agent(tmp_path, "runs", "rm", "--runs", "orders", "--status", "done", "--yes")

    assert sorted(line.split()[0] for line in listed.splitlines() if "✓" in line) == ["0001-aa/run", "0002-bb/run"]
    assert deleted.returncode == 0
    assert len(list((tmp_path / "orders").glob("*/run/run.json"))) == 2


def test_a_folder_in_place_of_a_command_is_answered_with_the_option(folder: Path) -> None:
    done = vision_agent(folder, "runs", "runs")

    assert done.returncode == 2
    assert "to list its runs: vision-agent runs --runs runs" in done.stderr

"""The list of runs, the latest of them, and their deletion."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import get_args

import pytest
from record_builder import START, run, small_run, story, write_run

from vision_agent.errors import UsageError
from vision_agent.events import Started
from vision_agent.record import read_lines
from vision_agent.record.read import last_line
from vision_agent.record.redact import Redactor
from vision_agent.record.run_list import ListedRun, RunStatus, delete_run, figures_of, latest_run, list_runs, matching
from vision_agent.record.store import RunFolder
from vision_agent.record.verify import verify


def begun(runs: Path, run_id: str, hours: int) -> RunFolder:
    folder = RunFolder.create(runs, run_id, Redactor(()))
    folder.write(Started(run=run(run_id, started_at=START + timedelta(hours=hours))))
    return folder


def ended(runs: Path, run_id: str, hours: int) -> Path:
    return write_run(runs, small_run(run_id=run_id, started_at=START + timedelta(hours=hours))).path


def test_runs_are_listed_latest_first_with_how_each_ended(tmp_path: Path) -> None:
    early, late = ended(tmp_path, "b", 1), ended(tmp_path, "a", 2)
    (tmp_path / "notes").mkdir()
    (tmp_path / "linked").symlink_to(early)

    found = list_runs(tmp_path)

    assert [each.folder for each in found] == [late, early]
    assert {each.status for each in found} == {"done"}
    assert found[0].goal == "Put the large wool jumper into the cart"
    assert found[0].sentence == "The task is done."
    assert latest_run(tmp_path) == late


def test_a_run_that_is_still_going_is_told_from_one_that_was_cut_off(tmp_path: Path) -> None:
    with begun(tmp_path, "cut", 1):
        pass
    with begun(tmp_path, "going", 2) as going:
        assert [each.status for each in list_runs(tmp_path)] == ["running", "unfinished"]
        assert [fault.sentence for fault in verify(going.path).faults] == [
            "The run is still going, so its record has no end yet: verify it again when it has ended"
        ]
        with pytest.raises(UsageError, match="still going"):
            delete_run(going.path)
    assert [each.status for each in list_runs(tmp_path)] == ["unfinished", "unfinished"]


def test_a_folder_that_cannot_be_read_is_listed_with_the_reason_and_is_never_the_latest(tmp_path: Path) -> None:
    good = ended(tmp_path, "good", 1)
    damaged = ended(tmp_path, "damaged", 2)
    (damaged / "run.json").write_text("{")
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "steps.jsonl").touch()

    found = {each.folder.name: each for each in list_runs(tmp_path)}

    assert "run.json cannot be read" in found["damaged"].sentence
    assert "interrupted before it began" in found["begun"].sentence
    assert latest_run(tmp_path) == good


def test_figures_are_those_of_all_replies(tmp_path: Path) -> None:
    figures = figures_of(write_run(tmp_path, story()).path)

    assert figures.steps == 4
    assert figures.tokens == 4 * (2412 + 188 + 1910)
    assert figures.cost_usd == pytest.approx(4 * 0.0131)


def test_runs_are_chosen_by_status_text_and_age(tmp_path: Path) -> None:
    early, late = ended(tmp_path, "early", 1), ended(tmp_path, "late", 5)
    found = list_runs(tmp_path)

    assert [each.folder for each in matching(found, before=START + timedelta(hours=2))] == [early]
    assert [each.folder for each in matching(found, status="done", text="WOOL")] == [late, early]
    assert matching(found, status="limit") == matching(found, text="socks") == ()
    with pytest.raises(UsageError, match=r"\(known are failed, done"):
        matching(found, status="fine")


def test_one_word_finds_all_runs_that_did_not_do_their_task(tmp_path: Path) -> None:
    made = [ListedRun(folder=tmp_path / each, started_at=START, status=each) for each in get_args(RunStatus)]

    failed = {run.status for run in matching(made, status="failed")}

    assert set(get_args(RunStatus)) - failed == {"done", "dry_run", "running"}


def test_runs_are_chosen_by_the_day_on_which_they_were_started(tmp_path: Path) -> None:
    early, late = ended(tmp_path, "early", 1), ended(tmp_path, "late", 49)
    found = list_runs(tmp_path)
    day = (START + timedelta(hours=49)).astimezone().date()

    assert [each.folder for each in matching(found, day=day)] == [late]
    assert [each.folder for each in matching(found, day=day - timedelta(days=2))] == [early]
    assert matching(found, day=day + timedelta(days=1)) == ()


def test_only_run_folders_are_deleted_and_links_in_them_are_not_followed(tmp_path: Path) -> None:
    keep = tmp_path / "keep"
    keep.mkdir()
    (keep / "letter.txt").write_text("dear")
    gone = ended(tmp_path / "runs", "gone", 1)
    (gone / "away").symlink_to(keep)
    link = tmp_path / "runs" / "link"
    link.symlink_to(gone)

    for wrong, said in ((keep, "nothing else"), (link, "nothing else"), (tmp_path / "none", "There is no run folder")):
        with pytest.raises(UsageError, match=said):
            delete_run(wrong)
    delete_run(gone)

    assert not gone.exists()
    assert (keep / "letter.txt").read_text() == "dear"


def test_no_runs_are_no_error_but_there_is_no_latest(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "none") == ()
    with pytest.raises(UsageError, match="There is no run in"):
        latest_run(tmp_path)


def test_the_last_line_is_read_from_the_end_whatever_its_length(tmp_path: Path) -> None:
    folder = write_run(tmp_path, small_run()).path
    steps = folder / "steps.jsonl"
    lines = steps.read_bytes().splitlines(keepends=True)

    assert last_line(folder) == read_lines(folder)[-1]
    steps.write_bytes(b"".join(lines) + lines[-1][:40])
    assert last_line(folder) == read_lines(folder)[-1]
    long = json.loads(lines[-1])
    long["ending"]["sentence"] = "x" * 3_000_000
    steps.write_bytes(b"".join(lines[:-1]) + json.dumps(long).encode() + b"\n")
    assert last_line(folder) == read_lines(folder)[-1]
    steps.write_bytes(lines[0])
    assert last_line(folder) == read_lines(folder)[-1]
    steps.write_bytes(b"")
    assert last_line(folder) is None

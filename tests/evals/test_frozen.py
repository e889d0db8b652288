"""What freezing keeps of runs, and what it refuses to read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.record.record_builder import START, done, run, small_run, step_events, story, task, write_run
from vision_agent.actions import Click, Finish, Point, Scroll, Type
from vision_agent.errors import RecordError, UsageError
from vision_agent.evals.items import RESULT, RUNS
from vision_agent.evals.suites.frozen import INDEX, SHOTS, TASKS, FrozenFolder, freeze, read_index, read_task
from vision_agent.events import Ended, MessageReceived, Started
from vision_agent.record.read import load_shot, read
from vision_agent.record.store import shot_name
from vision_agent.types import Ending, Message


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    write_run(tmp_path / "runs", small_run())
    write_run(tmp_path / "runs", [Started(run=run("b")), *story()[1:]])
    freeze([tmp_path / "runs"], tmp_path / "frozen")
    return tmp_path / "frozen"


def test_pages_are_kept_as_recorded_with_what_was_done_on_each(frozen: Path, tmp_path: Path) -> None:
    index = read_index(frozen)
    assert [(entry.id, entry.references) for entry in index.tasks] == [("20260304-093000-abc123", 1), ("b", 3)]

    kept = read_task(frozen, index.tasks[1])
    recorded = read(tmp_path / "runs" / "b")
    assert [step.observation.listing for step in kept.steps] == [step.observation.listing for step in recorded.steps]
    for step, was in zip(kept.steps, recorded.steps, strict=True):
        assert step.observation.marked == load_shot(tmp_path / "runs" / "b", was.observation.marked)
        assert step.decision == was.decision

    assert {number: each.operations for number, each in kept.references.items()} == {
        1: ("TYPE wool jumper",),
        2: ("SELECT Large",),
        3: ("CLICK",),
    }
    assert kept.references[2].aims[0].marks == (3,)
    assert kept.references[2].aims[0].boxes == (recorded.steps[1].observation.marks[2].box,)


def test_what_only_looked_asked_or_ended_is_history_and_no_reference(tmp_path: Path) -> None:
    events = [
        Started(run=run("a")),
        *step_events(1, (Scroll(), done(effect="changed"))),
        *step_events(2, (Scroll(), done()), (Click(target=5), done())),
        *step_events(3, (Finish(), done(effect="finished"))),
        Ended(ending=Ending(status="done", sentence="Done.")),
    ]
    folder = write_run(tmp_path, events).path
    assert freeze([folder], tmp_path / "frozen") == FrozenFolder(1, references=1, steps=3, pictures=6, left_out={})
    [entry] = read_index(tmp_path / "frozen").tasks
    kept = read_task(tmp_path / "frozen", entry)
    assert kept.references.keys() == {2}
    assert len(kept.steps) == 3


def test_a_point_on_a_mark_means_it_and_one_beside_all_marks_means_the_place(tmp_path: Path) -> None:
    events = [
        Started(run=run("a")),
        *step_events(1, (Click(target=Point(x=400, y=318)), done())),
        *step_events(2, (Type(target=Point(x=20, y=390), text="x"), done())),
        Ended(ending=Ending(status="done", sentence="Done.")),
    ]
    folder = write_run(tmp_path, events).path
    freeze([folder], tmp_path / "frozen")
    kept = read_task(tmp_path / "frozen", read_index(tmp_path / "frozen").tasks[0])
    assert kept.references[1].aims[0].marks == (5,)
    [around] = kept.references[2].aims
    assert around.marks == ()
    assert (around.boxes[0].x, around.boxes[0].y, around.boxes[0].width) == (8, 378, 24)


def test_what_a_person_said_meanwhile_is_kept(tmp_path: Path) -> None:
    events = small_run()
    events.insert(-2, MessageReceived(message=Message(text="The large one", at=START)))
    freeze([write_run(tmp_path, events).path], tmp_path / "frozen")
    kept = read_task(tmp_path / "frozen", read_index(tmp_path / "frozen").tasks[0])
    assert [each.text for each in kept.task.messages] == ["The large one"]


def test_the_same_runs_give_the_same_bytes(frozen: Path, tmp_path: Path) -> None:
    freeze([tmp_path / "runs" / "b", tmp_path / "runs" / "20260304-093000-abc123"], tmp_path / "again")
    files = sorted(path.relative_to(frozen) for path in frozen.rglob("*") if path.is_file())
    assert files
    assert all((tmp_path / "again" / path).read_bytes() == (frozen / path).read_bytes() for path in files)


def test_a_changed_picture_is_named_and_refused(frozen: Path) -> None:
    shot = read_task(frozen, read_index(frozen).tasks[0]).steps[0].observation.marked
    path = frozen / SHOTS / shot_name(shot)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(RecordError, match=path.name):
        read_index(frozen)
    path.unlink()
    with pytest.raises(RecordError, match=path.name):
        read_index(frozen)


def test_a_changed_task_and_another_version_are_refused(frozen: Path) -> None:
    path = frozen / TASKS / "b.json"
    path.write_text(path.read_text().replace("Wool jumper", "Silk jumper"))
    with pytest.raises(RecordError, match=r"b\.json was changed after it was frozen"):
        read_index(frozen)
    (frozen / INDEX).write_text(json.dumps({"version": 2, "tasks": []}))
    with pytest.raises(RecordError, match="version 2"):
        read_index(frozen)


def test_what_is_no_reference_is_refused_with_the_reason(tmp_path: Path) -> None:
    failed = [*small_run()[:-1], Ended(ending=Ending(status="not_done", sentence="No."))]
    folder = write_run(tmp_path, failed).path
    with pytest.raises(UsageError, match=r"it ended as not_done .*--any-ending"):
        freeze([folder], tmp_path / "frozen")
    assert not (tmp_path / "frozen").exists()
    assert freeze([folder], tmp_path / "frozen", any_ending=True).references == 1
    interrupted = write_run(tmp_path, [Started(run=run("interrupted")), *small_run()[1:-1]]).path
    assert freeze([interrupted], tmp_path / "interrupted-pages", any_ending=True).references == 1
    with pytest.raises(UsageError, match="already exists"):
        freeze([folder], tmp_path / "frozen")
    with pytest.raises(UsageError, match="There is no run in"):
        freeze([tmp_path / "frozen"], tmp_path / "other")

    lines = folder / "steps.jsonl"
    lines.write_bytes(lines.read_bytes().replace(b"Add to cart", b"Empty cart!", 1))
    with pytest.raises(RecordError, match="cannot be frozen"):
        freeze([folder], tmp_path / "other", any_ending=True)


def test_files_are_known_by_name_only(tmp_path: Path) -> None:
    events = small_run(task=task(files=(Path("/home/somebody/photo.jpg"),)))
    freeze([write_run(tmp_path, events).path], tmp_path / "frozen")
    kept = read_task(tmp_path / "frozen", read_index(tmp_path / "frozen").tasks[0])
    assert kept.task.files == (Path("photo.jpg"),)


def test_of_runs_in_a_folder_those_that_are_no_reference_are_left_out_and_counted(tmp_path: Path) -> None:
    failed = Ended(ending=Ending(status="not_done", sentence="No."))
    write_run(tmp_path / "evals", small_run())
    write_run(tmp_path / "evals", [Started(run=run("failed")), *small_run()[1:-1], failed])
    for name, passed in (("judged", False), ("good", True)):
        write_run(tmp_path / "evals" / name / RUNS, [Started(run=run(name)), *small_run()[1:]])
        (tmp_path / "evals" / name / RESULT).write_text(json.dumps({"passed": passed, "error": ""}))

    made = freeze([tmp_path / "evals"], tmp_path / "frozen")

    assert [entry.id for entry in read_index(tmp_path / "frozen").tasks] == ["20260304-093000-abc123", "good"]
    assert made.left_out == {"ended as not_done": 1, "did not pass its evaluation": 1}
    assert freeze([tmp_path / "evals"], tmp_path / "all", any_ending=True).tasks == 4
    with pytest.raises(UsageError, match="it did not pass its evaluation"):
        freeze([tmp_path / "evals" / "judged" / RUNS / "judged"], tmp_path / "other")

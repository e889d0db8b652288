from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from result_builder import results_in

from vision_agent.errors import RecordError, UsageError
from vision_agent.evals.items import RESULT, Item, ItemResult, make_item, result_of, write_result
from vision_agent.record.store import locked
from vision_agent.settings import Limits, ModelSettings, Settings

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
ITEM = make_item("notes", "save", 1, "match", Settings(), {"goal": "Save"})


def result(item: Item = ITEM, **more: object) -> ItemResult:
    return ItemResult.model_validate({"item": item, "started_at": NOW, "seconds": 1.5, **more})


def test_an_item_is_the_same_wherever_its_folders_are_made(tmp_path: Path) -> None:
    elsewhere = Settings(runs=tmp_path, memory=tmp_path)
    assert make_item("notes", "save", 1, "match", elsewhere, {"goal": "Save"}).id == ITEM.id
    assert Item.model_validate_json(ITEM.model_dump_json()).id == ITEM.id


@pytest.mark.parametrize(
    "other",
    [
        make_item("other", "save", 1, "match", Settings(), {"goal": "Save"}),
        make_item("notes", "load", 1, "match", Settings(), {"goal": "Save"}),
        make_item("notes", "save", 2, "match", Settings(), {"goal": "Save"}),
        make_item("notes", "save", 1, "random", Settings(), {"goal": "Save"}),
        make_item("notes", "save", 1, "match", Settings(limits=Limits(steps=3)), {"goal": "Save"}),
        make_item("notes", "save", 1, "match", Settings(model=ModelSettings(history="short")), {"goal": "Save"}),
        make_item("notes", "save", 1, "match", Settings(), {"goal": "Save it"}),
    ],
    ids=["suite", "task", "seed", "model", "limits", "history", "goal"],
)
def test_anything_else_that_changes_what_is_done_makes_it_another_item(other: Item) -> None:
    assert other.id != ITEM.id
    assert other.folder != ITEM.folder


def test_a_result_that_was_kept_is_found_again(tmp_path: Path) -> None:
    assert result_of(ITEM, tmp_path) is None
    kept = result(score=1.0, passed=True)
    write_result(kept, tmp_path)

    assert result_of(ITEM, tmp_path) == kept
    assert results_in(tmp_path) == [kept]
    assert results_in(tmp_path / "notes") == [kept]


def test_a_result_of_before_there_was_a_witness_says_that_nobody_watched(tmp_path: Path) -> None:
    told = json.loads(result(score=1.0, passed=True).model_dump_json())
    del told["witness"]
    assert ItemResult.model_validate(told).witness is None


def test_a_task_with_any_name_has_a_folder_inside(tmp_path: Path) -> None:
    item = make_item("../up", "../../etc/passwd", 1, "match", Settings())
    write_result(result(item), tmp_path / "out")
    assert [path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob(RESULT)] == ["out"]


def test_a_result_that_is_torn_is_said_and_never_taken_for_none(tmp_path: Path) -> None:
    write_result(result(), tmp_path)
    path = tmp_path / ITEM.folder / RESULT
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(RecordError, match=r"result\.json cannot be read"):
        result_of(ITEM, tmp_path)


def test_two_evaluations_do_not_write_to_one_folder(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(UsageError, match="Another process is writing"), locked(tmp_path):
        raise AssertionError
    with locked(tmp_path):  # let go of
        pass


def test_a_folder_without_results_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results"):
        results_in(tmp_path)


def test_a_setting_that_came_later_and_stands_as_it_always_was_makes_no_other_item() -> None:
    usual = make_item("notes", "a", 1, "match", Settings())
    plain = make_item("notes", "a", 1, "match", Settings.model_validate({"observe": {"style": "plain"}}))

    observe = usual.settings["observe"]
    assert isinstance(observe, dict)
    assert "style" not in observe
    assert usual.id != plain.id

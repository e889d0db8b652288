"""A memory on disk: kept, edited by hand, damaged, deleted, and used by several processes at once."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from exemplar_builder import exemplar, learn, turn
from record_builder import observation, small_run, task, write_run

from vision_agent.errors import RecordError, UsageError
from vision_agent.exemplars import Recalled
from vision_agent.memory import EmptyMemory, MemoryFolder
from vision_agent.memory.file import MOST_OF_EXEMPLAR
from vision_agent.ports import Memory

GOAL = 'Enter "Bob" into the text field and press Submit'
TASK = task(goal=GOAL)
SEEN = observation()


@pytest.fixture
def memory(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memory")


def ids(memory: MemoryFolder, goal: str = GOAL) -> list[str]:
    return [each.entry.id for each in memory.search(goal, "shop.test").ranked]


def settle(memory: MemoryFolder) -> None:
    """As if everything had been written an hour ago, and the index since."""
    for path in [*memory.path.glob("*.json"), memory.path]:
        an_hour_ago = path.stat().st_mtime_ns - 3600 * 10**9
        os.utime(path, ns=(an_hour_ago, an_hour_ago))
    memory.list()


def test_what_was_added_is_shown_as_it_was(memory: MemoryFolder, tmp_path: Path) -> None:
    learned = learn(write_run(tmp_path / "runs", small_run()).path)
    assert memory.add(learned) == memory.path / f"{learned.id}.json"
    shown = memory.show(learned.id)
    assert shown == learned
    assert [each.picture and each.picture.data for each in shown.turns] == [
        each.picture and each.picture.data for each in learned.turns
    ]


def test_both_memories_are_memories(memory: MemoryFolder) -> None:
    either: list[Memory] = [memory, EmptyMemory()]
    assert [each.recall(task(), observation()) for each in either] == [Recalled(), Recalled()]
    assert not memory.path.exists()  # looking leaves nothing behind


def test_an_exemplar_is_recalled_with_its_pictures_and_why(memory: MemoryFolder, tmp_path: Path) -> None:
    memory.add(learn(write_run(tmp_path / "runs", small_run()).path))
    recalled = memory.recall(task(goal="Put the small wool jumper into the cart"), observation())
    assert recalled.exemplar is not None
    assert recalled.exemplar.turns[0].picture is not None
    assert recalled.exemplar.turns[0].picture.data is not None
    assert recalled.why.endswith("% similar, same site, marks per kind 100% similar; 1 of the best 1 agree")


def test_a_missing_or_changed_picture_is_left_out(memory: MemoryFolder, tmp_path: Path) -> None:
    learned = learn(write_run(tmp_path / "runs", small_run()).path)
    memory.add(learned)
    one, other = sorted((memory.path / "pictures").iterdir())
    one.unlink()
    other.write_bytes(b"?")
    assert [each.picture for each in memory.show(learned.id).turns] == [None, None]


def test_what_a_person_writes_into_a_file_is_found_at_the_next_look(memory: MemoryFolder) -> None:
    path = memory.add(exemplar())
    assert ids(memory) == ["one"]
    path.write_text(path.read_text("utf-8").replace("into the text field", "of the harbour ferry"), "utf-8")
    assert ids(memory, "Take the harbour ferry") == ["one"]


def test_an_edit_in_place_is_handed_out_even_where_the_folder_does_not_tell_of_it(memory: MemoryFolder) -> None:
    path = memory.add(exemplar())
    settle(memory)
    path.write_text(path.read_text("utf-8").replace("Put it into the cart", "Take it"), "utf-8")
    found = memory.recall(task(goal=GOAL), observation()).exemplar
    assert found is not None
    assert found.turns[0].next_goal == "Take it"


def test_a_file_damaged_in_place_gives_way_to_the_next_best(memory: MemoryFolder) -> None:
    memory.add(exemplar("good"))
    path = memory.add(exemplar("best", GOAL))
    settle(memory)
    path.write_text("{", "utf-8")
    recalled = memory.recall(task(goal=GOAL), observation())
    assert recalled.exemplar is not None
    assert recalled.exemplar.id == "good"
    assert recalled.warnings[0].startswith(f"{path} is not an exemplar and is skipped")


def test_a_deleted_file_is_forgotten(memory: MemoryFolder) -> None:
    path = memory.add(exemplar())
    memory.add(exemplar("two"))
    settle(memory)
    path.unlink()
    assert ids(memory) == ["two"]


def test_a_file_is_called_what_a_person_calls_it(memory: MemoryFolder) -> None:
    path = memory.add(exemplar())
    path.rename(path.with_name("mugs.json"))
    assert memory.show("mugs").goal == exemplar().goal
    assert [each.id for each in memory.list().entries] == ["mugs"]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "EOF"),
        (b"\xff\xfe\x00", "expected"),
        (b"[1, 2]", "not a mapping"),
        (b"{}", "goal: Field required"),
        (b'{"goal": "\\ud800"}', "hex escape"),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_a_damaged_file_is_named_left_out_and_left_as_it_is(memory: MemoryFolder, content: bytes, fault: str) -> None:
    memory.add(exemplar())
    path = memory.path / "broken.json"
    path.write_bytes(content)
    found = memory.search(GOAL, "shop.test")
    assert [each.entry.id for each in found.ranked] == ["one"]
    (warning,) = found.warnings
    assert warning.startswith(f"{path} is not an exemplar and is skipped: ")
    assert fault in warning
    assert memory.list().warnings == found.warnings
    with pytest.raises(UsageError, match="is not an exemplar"):
        memory.add(exemplar("broken"))
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [("sight", "x", "sight: Extra inputs"), ("turns", [], "turns: "), ("standing", {"helped": 10**30}, "helped")],
)
def test_a_field_that_does_not_fit_is_named(memory: MemoryFolder, field: str, value: object, fault: str) -> None:
    path = memory.add(exemplar())
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), field: value}), "utf-8")
    assert memory.list().entries == ()
    assert fault in memory.list().warnings[0]


def test_what_is_no_exemplar_by_its_name_is_not_read(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    for name in ("notes.txt", ".one.json.part", ".hidden.json"):
        (memory.path / name).write_text("?", "utf-8")
    assert memory.list().warnings == ()
    (memory.path / "a folder.json").mkdir()
    (memory.path / os.fsdecode(b"\xff.json")).write_text("?", "utf-8")
    assert len([each for each in memory.list().warnings if "cannot be read and is skipped" in each]) == 2


def test_pipes_links_and_endless_files_are_skipped_and_not_opened(memory: MemoryFolder, tmp_path: Path) -> None:
    path = memory.add(exemplar())
    os.mkfifo(memory.path / "pipe.json")
    (memory.path / "link.json").symlink_to(path)
    (memory.path / "zero.json").symlink_to("/dev/zero")
    with (memory.path / "large.json").open("wb") as file:
        file.truncate(MOST_OF_EXEMPLAR + 1)
    found = memory.list()
    assert [each.id for each in found.entries] == ["one"]
    whys = ["bytes, and at most", "it is a link", "it is not a plain file", "it is a link"]
    assert all(why in warning for why, warning in zip(whys, found.warnings, strict=True))
    memory.learn_from_failed_replay("0" * 64)
    assert memory.show("one").standing.failed == 1
    assert memory.recall(TASK, SEEN).exemplar is not None
    for id in ("pipe", "link"):
        with pytest.raises(UsageError, match="cannot be read"):
            memory.show(id)
        memory.forget(id)


@pytest.mark.parametrize("name", ["pictures", "index"])
def test_a_subfolder_that_is_a_link_is_not_followed(memory: MemoryFolder, tmp_path: Path, name: str) -> None:
    memory.path.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept.jpg").write_bytes(b"?")
    (memory.path / name).symlink_to(elsewhere)
    if name == "pictures":
        with pytest.raises(RecordError, match="it is a link"):
            memory.add(exemplar())
    else:
        memory.add(exemplar())
        assert memory.list().entries
    with suppress(UsageError):
        memory.forget("one")
    assert [each.name for each in elsewhere.iterdir()] == ["kept.jpg"]


@pytest.mark.parametrize("name", ["index.sqlite", "index.sqlite-journal"])
def test_a_pipe_in_the_place_of_the_index_is_not_opened(memory: MemoryFolder, name: str) -> None:
    memory.add(exemplar())
    (memory.path / "index" / name).unlink(missing_ok=True)
    os.mkfifo(memory.path / "index" / name)
    assert MemoryFolder(memory.path).list().entries


def test_forgetting_takes_the_pictures_that_nobody_else_shows(memory: MemoryFolder, tmp_path: Path) -> None:
    learned = learn(write_run(tmp_path / "runs", small_run()).path)
    memory.add(learned)
    memory.add(learned.model_copy(update={"id": "other", "turns": learned.turns[:1]}))
    memory.forget(learned.id)
    (left,) = (memory.path / "pictures").iterdir()
    assert learned.turns[0].picture is not None
    assert left.stem == learned.turns[0].picture.sha256
    (memory.path / "other.json").unlink()  # by hand
    memory.add(exemplar())
    assert list((memory.path / "pictures").iterdir()) == []


def test_the_pictures_of_a_damaged_file_stay(memory: MemoryFolder, tmp_path: Path) -> None:
    learned = learn(write_run(tmp_path / "runs", small_run()).path)
    path = memory.add(learned)
    path.write_text(path.read_text("utf-8")[:-3], "utf-8")
    memory.add(exemplar())
    assert len(list((memory.path / "pictures").iterdir())) == 2


@pytest.mark.parametrize("id", ["nobody", "../one", "", ".one", "a/b", "one.json"])
def test_what_is_not_there_is_said(memory: MemoryFolder, id: str) -> None:
    for do in (memory.show, memory.forget, memory.praise, memory.demote):
        with pytest.raises(UsageError, match="There is no exemplar"):
            do(id)
    memory.add(exemplar())
    for do in (memory.show, memory.forget, memory.praise, memory.demote):
        with pytest.raises(UsageError, match="There is no exemplar"):
            do(id)


def test_learning_again_keeps_the_standing(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    memory.praise("one")
    memory.add(exemplar())
    assert memory.show("one").standing.helped == 1
    assert len(memory.list().entries) == 1


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_index_is_made_again(memory: MemoryFolder, content: bytes) -> None:
    memory.add(exemplar())
    index = memory.path / "index" / "index.sqlite"
    index.write_bytes(content)
    assert ids(memory) == ["one"]
    assert index.read_bytes() != content


def test_an_index_of_which_a_part_is_missing_is_made_again(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    index = memory.path / "index" / "index.sqlite"
    for broken in ("DROP TABLE goals", "DELETE FROM stamp; DROP TABLE exemplars", "PRAGMA user_version = 99"):
        with sqlite3.connect(index) as connection:
            connection.executescript(broken)
        connection.close()
        assert ids(MemoryFolder(memory.path)) == ["one"], broken


def test_a_missing_index_is_made_again(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    assert ids(memory) == ["one"]
    settle(memory)
    (memory.path / "index" / "index.sqlite").unlink()
    assert ids(memory) == ["one"]


def test_where_no_index_can_be_written_the_files_are_read(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    index = memory.path / "index"
    (index / "index.sqlite").unlink()
    index.rmdir()
    index.write_text("in the way", "utf-8")
    assert ids(memory) == ["one"]


def test_an_index_that_somebody_else_is_writing_does_not_stop_a_look(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    settle(memory)
    other = sqlite3.connect(memory.path / "index" / "index.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert ids(memory) == ["one"]  # readers do not wait for a writer that has not committed
    other.close()


WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from exemplar_builder import exemplar
from vision_agent.memory import MemoryFolder
memory = MemoryFolder(Path(sys.argv[2]))
for number in range(6):
    memory.add(exemplar(f"{sys.argv[3]}-{number}"))
    memory.praise("both")
    memory.search("Enter it", "shop.test")
    if number % 3 == 0:
        memory.forget(f"{sys.argv[3]}-{number}")
"""


def test_two_who_write_at_once_lose_nothing(memory: MemoryFolder) -> None:
    memory.add(exemplar("both"))
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, str(Path(__file__).parent), str(memory.path), name])
        for name in ("a", "b")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    kept = {f"{name}-{number}" for name in "ab" for number in range(6) if number % 3}
    listed = memory.list()
    assert {each.id for each in listed.entries} == kept | {"both"}
    assert listed.warnings == ()
    assert memory.show("both").standing.helped == 12


def test_a_look_right_after_a_change_by_somebody_else_sees_it(memory: MemoryFolder) -> None:
    other = MemoryFolder(memory.path)
    for number in range(5):
        other.add(exemplar(str(number), turns=(turn(), turn())))
        assert len(ids(memory)) == number + 1
    other.forget("3")
    assert len(ids(memory)) == 4


def test_a_memory_that_cannot_be_asked_is_a_warning_and_the_next_look_is_well(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    memory.list()
    index = sqlite3.connect(memory.path / "index" / "index.sqlite")
    index.execute("PRAGMA writable_schema=ON")
    index.execute("UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE goals USING nothing(a)' WHERE name = 'goals'")
    index.commit()
    index.close()
    recalled = MemoryFolder(memory.path).recall(TASK, SEEN)
    assert recalled.exemplar is not None or recalled.warnings
    assert MemoryFolder(memory.path).recall(TASK, SEEN).exemplar is not None


def test_a_folder_that_is_none_is_no_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", "utf-8")
    assert MemoryFolder(tmp_path / "file").recall(TASK, SEEN).exemplar is None
    assert MemoryFolder(tmp_path / "nothing").recall(TASK, SEEN).warnings == ()


def test_what_failed_again_and_again_is_not_recalled_any_more(memory: MemoryFolder) -> None:
    memory.add(exemplar())
    for _ in range(3):
        assert memory.recall(TASK, SEEN).exemplar is not None
        memory.demote("one")
    memory.demote("one")
    assert memory.recall(TASK, SEEN).exemplar is None
